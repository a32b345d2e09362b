#pragma once
#include "machine.h"

/* ==========================================================================
 * >>lenient: arguments as a model meant them
 *
 * A text is read strictly, up to what is no JSON: what has only one meaning is
 * rewritten on its way into the machine. Tolerance is lexical, never
 * structural: nothing is closed, added or left out, and a text that ends too
 * early is TCALL_E_TRUNCATED.
 */

/* What is rewritten. X(name, text): */
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
    X(PUNCTUATION, "trailing-punct")    /* a comma after everything */        \
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

/* Returns the name of fix i, "code-fence", or NULL from TCALL_FIX_COUNT on. */
TCALL_API const char *tcall_fix_name(int i);

/* Reads the arguments of a call, with a machine as desc says, as a model meant
 * them. *fixes: TCALL_FIX_... that were needed, also before memory ran out; 0:
 * strictly valid. strict: what needs a fix is refused, with the error of the
 * whole text where it has one, else that of its first fix. Returns what
 * tcall_machine_end does; machine->at is the offset in text of the error, else
 * of the first fix. A fix may write six bytes to the checked text for one that
 * came. */
TCALL_API int tcall_read_arguments(tcall_machine *machine,
                                   const tcall_machine_desc *desc,
                                   tcall_str text, bool strict,
                                   uint32_t *fixes);
