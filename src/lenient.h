#pragma once
#include "json.h"

/* ==========================================================================
 * >>lenient: what a model meant
 */

/* Tolerant reading of arguments. Strict first; what fails is read once more
 * from left to right, and what has only one meaning is rewritten as JSON.
 * Tolerance is lexical, never structural: nothing is closed, added or left
 * out; a text that ends too early is TCALL_E_TRUNCATED. What is written goes
 * through the scanner as it is written, so it is JSON or it is an error.
 * X(name, text): */
#define TCALL_FIXES(X)                                                        \
    X(EMPTY, "empty-args")              /* nothing at all: {} */              \
    X(NULL, "null-args")                /* null instead of {} */              \
    X(PYTHON, "python-literal")         /* True, False, None */               \
    X(SINGLE_QUOTE, "single-quote")     /* 'text' */                          \
    X(SMART_QUOTE, "smart-quote")       /* typographic quotes around text */  \
    X(APOSTROPHE, "escaped-apostrophe") /* \' */                              \
    X(CONTROL, "raw-control")           /* a line break or tab in a string */ \
    X(SPACE, "unicode-space")           /* BOM, no-break space and so on */   \
    X(COMMENT, "comment")               /* // or # or as this one */          \
    X(TRAILING_COMMA, "trailing-comma") /* [1,] */                            \
    X(UNQUOTED_KEY, "unquoted-key")     /* {a: 1} */                          \
    X(NUMBER, "number-form")            /* +5, .5, 5. */                      \
    X(FENCE, "code-fence")              /* Markdown around it */              \
    X(TAG, "tag")                       /* <tool_call>, <|im_end|> */         \
    X(EXTRA_CLOSER, "extra-closer")     /* {}} */                             \
    X(PUNCTUATION, "trailing-punct")    /* a comma behind everything */       \
    X(DOUBLE_ENCODED, "double-encoded") /* "{\"a\":1}" */                     \
    X(ESCAPED_OBJECT, "escaped-object") /* {\"a\":1} */                       \
    X(REPEATED, "repeated")             /* {"a":1}{"a":1} */

enum {
#define TCALL_X_(name, text) TCALL_FIX_I_##name##_,
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
        TCALL_FIX_COUNT
};

/* A set of fixes has bit i for fix i: TCALL_FIX_COMMENT is a bit. */
enum {
#define TCALL_X_(name, text) TCALL_FIX_##name = 1L << TCALL_FIX_I_##name##_,
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
        TCALL_FIX_NONE = 0
};

/* Name of fix i, "code-fence"; NULL from TCALL_FIX_COUNT on. */
TCALL_API const char *tcall_fix_name(int i);

typedef struct tcall_mend {
    uint32_t fixes; /* TCALL_FIX_... that were applied */
    size_t at;      /* offset in the text: of the error, or of the first fix */
    size_t need;    /* length of the JSON text */
    size_t tokens;  /* that it makes */
} tcall_mend;

/* Writes the JSON object that text means to out, not terminated. Returns its
 * length, or TCALL_E_MEMORY when it is more than cap (report->need; what was
 * written is useless), or what is wrong with the text. out NULL with cap 0
 * measures only. Whoever wants to know whether a text is strictly valid asks
 * the scanner first. */
TCALL_API int tcall_args_mend(tcall_str text, char *out, size_t cap,
                              tcall_mend *report);

typedef struct tcall_args {
    tcall_json root; /* the object; lives as long as the memory */
    uint32_t fixes;  /* TCALL_FIX_... that were needed; 0: strictly valid */
    size_t at;       /* where the error, or the first fix, stands in the text;
                      * DUPLICATE, RANGE and escaped NUL: in the mended text */
    size_t used;     /* bytes of mem that are in use; TCALL_E_MEMORY: needed */
} tcall_args;

/* Reads the arguments of a call into mem: tokens and a decoded copy of the
 * text, nothing else. text is not changed. With strict set nothing is mended;
 * the error is then still that of the tolerant reading where it has one, since
 * it knows better what is wrong. Returns the number of tokens, or an error:
 * what mem holds is then of no use. NUL is refused, escaped or not: for C it
 * would end the string before its checked end. */
TCALL_API int tcall_args_read(tcall_args *out, tcall_str text, bool strict,
                              void *mem, size_t size);
