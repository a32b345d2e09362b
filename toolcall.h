/*
 * toolcall.h - let a language model call C functions
 *
 * One header, no heap, nothing unchecked ever runs. In ONE source file:
 *
 *     #define TOOLCALL_IMPLEMENTATION
 *     #include "toolcall.h"
 *
 * and in every other just #include "toolcall.h". C99 or C++11. MIT licence.
 *
 *     static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
 *     {
 *         board_led(tcall_json_bool(tcall_json_get(args, "on"), false));
 *         return tcall_write_text(out, "done");
 *     }
 *
 *     static const tcall_tool tools[] = {{
 *         .name        = "set_led",
 *         .description = "Switch the board's LED on or off.",
 *         .parameters  = TCALL_JSON({
 *             "type": "object", "required": ["on"],
 *             "properties": {"on": {"type": "boolean"}}}),
 *         .run         = set_led,
 *         .permissions = TCALL_WRITE,
 *     }};
 *
 *     tcall_init(&tc, &(tcall_desc){
 *         .block = block, .block_size = sizeof block, .tools = tools,
 *         .tool_count = TCALL_COUNT(tools), .allow = TCALL_WRITE});
 *     tcall_agent_init(&agent, &(tcall_agent_desc){
 *         .tc = &tc, .provider = &tcall_openai, .model = "...", .key = key,
 *         .transport = transport});
 *     tcall_agent_run(&agent, tcall_str_of("turn the light on"));
 *
 * Each layer can be used alone. From the bottom: tcall_scan recognises JSON in
 * pieces, tcall_json_parse makes values of it, tcall_writer writes it,
 * tcall_schema_check holds values against a JSON Schema, tcall_hydrate takes
 * what a model sent to a call that may run, tcall_invoke runs it, tcall_reader
 * reads a provider's answer as it arrives, tcall_agent is the loop around all.
 *
 * Results are ints: >= 0 fine, < 0 one of TCALL_E_... Zero in a struct is the
 * default, and the careful choice. Words: a tool has parameters (its schema); a
 * call has arguments and gets a result; a provider is a wire format; a
 * transport is the door to the network; the block is the memory.
 *
 * Define before the implementation to leave parts out: TOOLCALL_NO_MEND (the
 * tolerant reading of arguments), TOOLCALL_NO_PATTERN, TOOLCALL_NO_RARE (of
 * schemas); schemas that need what is left out are refused.
 *
 * grep -n '>>' is the table of contents.
 */
#ifndef TOOLCALL_H
#define TOOLCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOLCALL_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Nesting of JSON values that is accepted; deeper input is TCALL_E_DEPTH. */
#ifndef TOOLCALL_MAX_DEPTH
#define TOOLCALL_MAX_DEPTH 64
#endif

/* ==========================================================================
 * >>base: errors, slices, the block
 *
 * Everything that can fail returns an int: >= 0 is a count or an index, < 0
 * one of the errors below. Bytes from outside travel as slices: a pointer and
 * a length, not terminated, may hold NUL. Memory is one block that the caller
 * gives.
 */

/* X(name, code, text): code is for machines and stable, text is for the model
 * or the developer; where it is empty the code says it all. */
#define TCALL_ERRORS(X)                                              \
    X(AGAIN, "again", "")                                            \
    X(MEMORY, "memory", "the block is too small")                    \
    X(USAGE, "usage", "wrong use of the function")                   \
    X(TRUNCATED, "truncated", "the text ends before it is complete") \
    X(BARE_WORD, "bare-word", "")                                    \
    X(BAD_VALUE, "bad-value", "")                                    \
    X(MISSING_COMMA, "missing-comma", "")                            \
    X(MISSING_COLON, "missing-colon", "")                            \
    X(UNESCAPED_QUOTE, "unescaped-quote-or-missing-comma", "")       \
    X(BAD_ESCAPE, "bad-escape", "")                                  \
    X(BAD_KEY, "bad-key", "a key must be a string")                  \
    X(BRACKETS, "bracket-mismatch", "")                              \
    X(TRAILING, "trailing-data", "")                                 \
    X(MULTIPLE, "multiple-values", "")                               \
    X(NOT_OBJECT, "root-not-object", "must be one JSON object")      \
    X(NUL, "nul", "")                                                \
    X(UTF8, "utf-8", "")                                             \
    X(DUPLICATE, "duplicate-key", "")                                \
    X(DEPTH, "depth", "")                                            \
    X(RANGE, "range", "")                                            \
    X(BUDGET, "budget", "checking takes too many steps")             \
    X(SCHEMA, "schema", "the schema cannot be used")                 \
    X(INVALID, "invalid", "the arguments do not fit the schema")     \
    X(TOOL, "tool", "wrong tool definition")                         \
    X(UNKNOWN, "unknown-tool", "")                                   \
    X(DENIED, "denied", "")                                          \
    X(APPROVAL, "approval", "waits for approval")                    \
    X(FAILED, "failed", "the tool failed")                           \
    X(CUT, "cut", "the call was cut off: send it again")             \
    X(PROVIDER, "provider", "the provider reports an error")         \
    X(REQUEST, "request", "the provider refused the request")        \
    X(NOT_FOUND, "not-found", "no such model or address")            \
    X(CONTEXT, "context", "the conversation is too long")            \
    X(REFUSED, "refused", "the provider refused the content")        \
    X(OVERLOAD, "overload", "the provider is overloaded: wait")      \
    X(AUTH, "auth", "the provider refused the key")                  \
    X(RATE, "rate", "too many requests: wait")                       \
    X(RESOLVE, "resolve", "unknown host")                            \
    X(CONNECT, "connect", "host not reached")                        \
    X(TLS, "tls", "TLS failed")                                      \
    X(CERTIFICATE, "certificate", "certificate not trusted")         \
    X(WRONG_HOST, "certificate-of-another-host", "")                 \
    X(EXPIRED, "certificate-expired", "")                            \
    X(NOT_YET, "certificate-not-yet-valid", "")                      \
    X(CLOCK, "clock-not-set", "")                                    \
    X(ENTROPY, "no-entropy", "")                                     \
    X(TIMEOUT, "timeout", "")                                        \
    X(CLOSED, "closed", "the connection ended too early")            \
    X(PROTOCOL, "protocol", "not what the protocol allows")          \
    X(LIMIT, "limit", "a limit was reached")                         \
    X(CANCELLED, "cancelled", "")

enum {
#define TCALL_X_(name, code, text) TCALL_I_##name,
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
        TCALL_I_COUNT
};

enum {
#define TCALL_X_(name, code, text) TCALL_E_##name = -1 - TCALL_I_##name,
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
        TCALL_OK = 0
};

/* Bytes from outside; ptr may be NULL when len is 0. */
typedef struct tcall_str {
    const char *ptr;
    size_t len;
} tcall_str;

/* Text of C as a slice; NULL gives the empty one. */
tcall_str tcall_str_of(const char *text);
bool tcall_str_eq(tcall_str a, tcall_str b);

/* The code ("truncated") and the text of an error; anything >= 0 is "ok". */
const char *tcall_error_code(int error);
const char *tcall_error_text(int error);

/* ==========================================================================
 * >>scan: push recogniser of JSON
 *
 * A state machine that is fed bytes in any pieces and keeps nothing of them:
 * one bit per open level, no recursion. It accepts exactly RFC 8259 (UTF-8
 * checked, surrogates paired, depth capped). Where an outline of wanted paths
 * is given it reports their values as they pass, strings decoded.
 */

/* One row of an outline: a tree written in preorder, each row with its depth,
 * the root being depth 0 and not written. key "*" is any element of an array,
 * "0" the first. The table ends with a row whose depth is 0. */
typedef struct tcall_path {
    uint8_t depth;
    uint8_t field; /* reported to the callback; 0: only leads to others */
    uint8_t how;   /* TCALL_PATH_... */
    char key[21];  /* no pointer: what is not used is then not linked */
} tcall_path;

enum {
    TCALL_PATH_SAME = 1, /* its inside is that of the next row, of the same
                            depth, and is not written twice */
    TCALL_PATH_RAW = 2,  /* an object or array is reported as its JSON text,
                            also when there are rows for its inside */
    TCALL_PATH_LAST = 4  /* no other row of this depth follows: saves time */
};

typedef enum tcall_scan_event {
    TCALL_SCAN_BEGIN, /* a value starts; bytes: its first character */
    TCALL_SCAN_DATA,  /* decoded bytes of a string, text of anything else */
    TCALL_SCAN_END    /* the value is complete */
} tcall_scan_event;

/* Reports one event of a wanted value; < 0 stops the scan with that error. */
typedef int (*tcall_scan_fn)(void *user, int field, tcall_scan_event event,
                             tcall_str bytes);

/* Levels of an outline, and the longest key that one may name. */
#define TCALL_SCAN_LEVELS_ 16
#define TCALL_SCAN_KEY_    32

typedef enum tcall_type {
    TCALL_MISSING,
    TCALL_NULL,
    TCALL_BOOL,
    TCALL_NUMBER,
    TCALL_STRING,
    TCALL_ARRAY,
    TCALL_OBJECT
} tcall_type;

/* A value or key in an array of them; see >>json. The order and the extent of
 * tokens are those of jsmn. */
typedef struct tcall_tok {
    int type;  /* tcall_type and private flags */
    int start; /* in the text; of a string: its content */
    int end;   /* one past it */
    int span;  /* tokens of the whole value, itself included; of a key 1 */
    int mark;  /* private */
} tcall_tok;

typedef struct tcall_scan {
    const tcall_path *paths;
    tcall_scan_fn on;
    void *user;
    size_t pos;     /* bytes consumed; after an error, where it stands */
    size_t tokens;  /* values and keys seen so far */
    tcall_tok *tok; /* where they go, as many as fit */
    size_t tok_cap;
    const char *text; /* that they refer to */
    int super;        /* token of the open container */
    int last;         /* token of the value that was completed last */
    const char *lit;  /* what is left of true, false, null */
    int error;
    uint16_t depth;
    uint16_t raw_depth; /* depth + 1 of the value that is reported raw */
    uint16_t hex;       /* \u escape so far */
    uint16_t high;      /* high surrogate that waits for its low one */
    uint8_t state, number, hex_left, utf_left, utf_low, utf_high, in_key;
    uint8_t take; /* what to do with string bytes: 0 skip, 1 key, 2 report */
    uint8_t row;  /* of the value at hand; TCALL_SCAN_NONE_: none */
    uint8_t at;   /* of the container that is open */
    bool object;  /* it is one */
    uint8_t key_len;
    uint8_t open[(TOOLCALL_MAX_DEPTH + 7) / 8]; /* 1: object, 0: array */
    uint8_t node[TCALL_SCAN_LEVELS_];           /* row of each open level */
    uint8_t index[TCALL_SCAN_LEVELS_];          /* element, 255 and more: 255 */
    char key[TCALL_SCAN_KEY_];
} tcall_scan;

/* Start over. paths and on may be NULL: then it only recognises. */
void tcall_scan_init(tcall_scan *s, const tcall_path *paths, tcall_scan_fn on,
                     void *user);
/* Also make a token of each value and key; the text must be fed in one piece.
 * s->tokens counts those too that do not fit. */
void tcall_scan_tokens(tcall_scan *s, const char *text, tcall_tok *tok,
                       size_t cap);
/* Feed bytes. TCALL_OK, or the error, which stays. Bytes behind the one value
 * that are not white space are TCALL_E_TRAILING. */
int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len);
/* No more bytes: TCALL_OK only when exactly one whole value was seen. */
int tcall_scan_end(tcall_scan *s);
/* True when the value is complete (a number at the root needs the end). */
bool tcall_scan_done(const tcall_scan *s);

/* ==========================================================================
 * >>json: values
 *
 * JSON text in the caller's memory becomes an array of tokens: recognised by
 * and split by the scanner, decoded in place. A value is a small cursor
 * passed by copy. Getters are total: what is absent or of another type gives
 * the fallback, so a chain of them needs one check or none.
 */

typedef struct tcall_json {
    const char *text;
    const tcall_tok *tok; /* NULL: no value */
} tcall_json;

/* Parse one JSON text strictly. text must have room for len + 1 bytes and is
 * decoded in place; it and tok must live as long as the value. Returns the
 * number of tokens; TCALL_E_MEMORY when there are more than cap (*need, where
 * need is not NULL, is then the number), or what is wrong with the text
 * (*need: the offset). Duplicate keys, after decoding, are refused. */
int tcall_json_parse(tcall_json *out, char *text, size_t len, tcall_tok *tok,
                     size_t cap, size_t *need);

tcall_type tcall_json_type(tcall_json v);
/* Member of an object, element of an array, else a missing value. */
tcall_json tcall_json_get(tcall_json object, const char *key);
tcall_json tcall_json_at(tcall_json array, int index);
/* Number of members or elements, else 0. */
int tcall_json_count(tcall_json v);
/* for (v = tcall_json_first(all); v.tok; v = tcall_json_next(v)) visits the
 * elements of an array or the values of an object; key names the latter. */
tcall_json tcall_json_first(tcall_json v);
tcall_json tcall_json_next(tcall_json v);
tcall_str tcall_json_key(tcall_json v);
/* Decoded string, terminated by NUL; fallback for every other type. */
const char *tcall_json_string(tcall_json v, const char *fallback);
/* The same as a slice; of a number, true, false or null its text. */
tcall_str tcall_json_str(tcall_json v);
bool tcall_json_bool(tcall_json v, bool fallback);
/* Integer values (also 5.0 and 5e2); fallback for fractions and beyond range.
 */
int tcall_json_int(tcall_json v, int fallback);
int64_t tcall_json_int64(tcall_json v, int64_t fallback);
/* Fixed point without floating point: 21.5 with decimals 2 is 2150; surplus
 * digits are cut off. */
long tcall_json_fixed(tcall_json v, int decimals, long fallback);
/* Needs floating point, which nothing else here does. */
double tcall_json_double(tcall_json v, double fallback);

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
const char *tcall_fix_name(int i);

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
int tcall_args_mend(tcall_str text, char *out, size_t cap, tcall_mend *report);

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
int tcall_args_read(tcall_args *out, tcall_str text, bool strict, void *mem,
                    size_t size);

/* Arguments as a C struct. One definition gives the struct, the text of its
 * JSON Schema and the table that fills it:
 *
 *     TCALL_ARGS(weather,
 *         (required, string, city, "The city to look at"),
 *         (required, choice("celsius", "kelvin"), unit, "Unit of the answer"),
 *         (defaults, integer, days, "3", "Days ahead"),
 *         (optional, array(fixed(2), 4), limits, "Temperatures to watch"));
 *
 *     struct weather { const char *city; int unit; int days;
 *                      struct { long items[4]; int count; } limits; };
 *     static const char weather_schema[];         .parameters
 *     static const tcall_field weather_fields[];  .fields
 *
 * Rows are (role, kind, name, [default as text,] description), 32 at most.
 * Roles: required; optional, zero when absent; defaults, with the text of the
 * default. Descriptions and texts go into JSON as they stand: without quotes
 * and backslashes, but of several literals if need be. Kinds:
 *
 *     string           const char * into the arguments
 *     integer, int64   int, int64_t
 *     fixed(2)         long: 21.5 is 2150, surplus digits are cut off
 *     number           double, the only one that needs floating point
 *     boolean          bool
 *     choice("a","b")  int: the index of the text
 *     json             tcall_json, any value
 *     array(kind, 8)   up to 8 of another kind, with their count
 *     object(point, (required, ...), ...)
 *                      struct point, which has these (8 at most) rows
 */
typedef struct tcall_field tcall_field;

/* Stores the value, whose type was compared. TCALL_OK or an error. */
typedef int (*tcall_field_fn)(void *out, tcall_json v, const tcall_field *f);

struct tcall_field {
    const char *name; /* NULL ends the table */
    const char *text; /* default as text; NULL: zero */
    bool required;
    uint16_t offset;     /* of the member, or of the first item of an array */
    uint16_t size;       /* of the member or of one item */
    uint16_t count_at;   /* offset of the count of an array */
    uint16_t capacity;   /* items of an array; 0: it is none */
    tcall_field_fn read; /* one of those below; NULL: an object */
    const void *more;    /* fields of the object; choice: "\"a\",\"b\"" */
    uint8_t type;        /* tcall_type wanted; TCALL_MISSING: any */
    uint8_t decimals;    /* fixed */
};

int tcall_field_string(void *out, tcall_json v, const tcall_field *f);
int tcall_field_integer(void *out, tcall_json v, const tcall_field *f);
int tcall_field_int64(void *out, tcall_json v, const tcall_field *f);
int tcall_field_fixed(void *out, tcall_json v, const tcall_field *f);
int tcall_field_number(void *out, tcall_json v, const tcall_field *f);
int tcall_field_boolean(void *out, tcall_json v, const tcall_field *f);
int tcall_field_choice(void *out, tcall_json v, const tcall_field *f);
int tcall_field_json(void *out, tcall_json v, const tcall_field *f);

/* Objects within objects that a table may describe. */
#define TCALL_BIND_DEPTH 4

/* Fills every member that fields names; strings point into the arguments and
 * live as long. Members that are not in the table are ignored. An error is
 * TCALL_E_RANGE (does not fit the C type, or too many items), TCALL_E_NUL (a
 * string holds U+0000), TCALL_E_INVALID (absent or of another type: the schema
 * was not checked) or TCALL_E_DEPTH; path (cap bytes, may be NULL) then is
 * the JSON Pointer of the value, cut where it does not fit. */
int tcall_bind(void *out, tcall_json args, const tcall_field *fields,
               char *path, size_t cap);
/* Tools name it, so that it is linked only where it is used. */
typedef int (*tcall_bind_fn)(void *out, tcall_json args,
                             const tcall_field *fields, char *path, size_t cap);

#define TCALL_ARGS(owner, ...)                                  \
    struct owner {                                              \
        TCALL_A_EACH_(TCALL_A_MEMBER_, owner, __VA_ARGS__)      \
    };                                                          \
    TCALL_UNUSED_ static const char owner##_schema[] =          \
        "{" TCALL_A_OBJECT_(__VA_ARGS__, TCALL_A_END_) "}";     \
    TCALL_UNUSED_ static const tcall_field owner##_fields[] = { \
        TCALL_A_EACH_(TCALL_A_FIELD_, owner, __VA_ARGS__){      \
            NULL, NULL, false, 0, 0, 0, 0, NULL, NULL, 0, 0}}

/* clang-format off */

/* How TCALL_ARGS does it. TCALL_A_EACH_ makes m(s, row) of every row, four at a
 * time; what is missing at 32 are end rows, of which m makes nothing. */
#define TCALL_A_END_  (end, , , )
#define TCALL_A_END4_ TCALL_A_END_, TCALL_A_END_, TCALL_A_END_, TCALL_A_END_
#define TCALL_A_END16_                                                         \
    TCALL_A_END4_, TCALL_A_END4_, TCALL_A_END4_, TCALL_A_END4_
#define TCALL_A_EACH_(m, s, ...) TCALL_A_EACH0_(m, s, __VA_ARGS__,             \
    TCALL_A_END16_, TCALL_A_END16_, TCALL_A_END_)
#define TCALL_A_EACH0_(m, ...) TCALL_A_EACH1_(m, __VA_ARGS__)
#define TCALL_A_EACH1_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH2_(m, s, __VA_ARGS__)
#define TCALL_A_EACH2_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH3_(m, s, __VA_ARGS__)
#define TCALL_A_EACH3_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH4_(m, s, __VA_ARGS__)
#define TCALL_A_EACH4_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH5_(m, s, __VA_ARGS__)
#define TCALL_A_EACH5_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH6_(m, s, __VA_ARGS__)
#define TCALL_A_EACH6_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH7_(m, s, __VA_ARGS__)
#define TCALL_A_EACH7_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH8_(m, s, __VA_ARGS__)
#define TCALL_A_EACH8_(m, s, a, b, c, d, e, ...)                               \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_FULL_ e
/* The row behind the last must be an end: a 33rd one does not compile. */
#define TCALL_A_FULL_(role, ...) TCALL_A_FULL_##role
#define TCALL_A_FULL_end

#define TCALL_A_IF_end(...)
#define TCALL_A_IF_required(...) __VA_ARGS__
#define TCALL_A_IF_optional(...) __VA_ARGS__
#define TCALL_A_IF_defaults(...) __VA_ARGS__

/* Members. */
#define TCALL_A_MEMBER_(s, row) TCALL_A_MEMBER_ROW_ row
#define TCALL_A_MEMBER_ROW_(role, kind, name, ...)                             \
    TCALL_A_IF_##role(TCALL_A_T_##kind name;)
#define TCALL_A_T_string         const char *
#define TCALL_A_T_integer        int
#define TCALL_A_T_int64          int64_t
#define TCALL_A_T_fixed(d)       long
#define TCALL_A_T_number         double
#define TCALL_A_T_boolean        bool
#define TCALL_A_T_choice(...)    int
#define TCALL_A_T_json           tcall_json
#define TCALL_A_T_array(kind, n)                                               \
    struct { TCALL_A_T_##kind items[n]; int count; }
#define TCALL_A_T_object(s, ...) struct s

/* The table. */
#define TCALL_A_FIELD_(s, row)                                                 \
    TCALL_A_CALL_(TCALL_A_FIELD_ROW_, s, TCALL_A_BARE_ row)
#define TCALL_A_CALL_(m, ...)  m(__VA_ARGS__)
#define TCALL_A_BARE_(...)     __VA_ARGS__
#define TCALL_A_FIELD_ROW_(s, role, kind, name, ...)                           \
    TCALL_A_IF_##role({#name, TCALL_A_TEXT_##role(__VA_ARGS__, ),              \
                     TCALL_A_MUST_##role, TCALL_A_AT_##kind(s, name),          \
                     TCALL_A_READ_##kind},)
#define TCALL_A_TEXT_required(...)       NULL
#define TCALL_A_TEXT_optional(...)       NULL
#define TCALL_A_TEXT_defaults(text, ...) text
#define TCALL_A_MUST_required            true
#define TCALL_A_MUST_optional            false
#define TCALL_A_MUST_defaults            false
#define TCALL_A_ONE_(s, name)                                                  \
    offsetof(struct s, name), sizeof(((struct s *)NULL)->name), 0, 0
#define TCALL_A_MANY_(s, name)                                                 \
    offsetof(struct s, name.items), sizeof(((struct s *)NULL)->name.items[0]), \
        offsetof(struct s, name.count),                                        \
        sizeof(((struct s *)NULL)->name.items) /                               \
            sizeof(((struct s *)NULL)->name.items[0])
#define TCALL_A_AT_string           TCALL_A_ONE_
#define TCALL_A_AT_integer          TCALL_A_ONE_
#define TCALL_A_AT_int64            TCALL_A_ONE_
#define TCALL_A_AT_fixed(d)         TCALL_A_ONE_
#define TCALL_A_AT_number           TCALL_A_ONE_
#define TCALL_A_AT_boolean          TCALL_A_ONE_
#define TCALL_A_AT_choice(...)      TCALL_A_ONE_
#define TCALL_A_AT_json             TCALL_A_ONE_
#define TCALL_A_AT_array(kind, n)   TCALL_A_MANY_
#define TCALL_A_AT_object(s, ...)   TCALL_A_ONE_
#define TCALL_A_READ_string         tcall_field_string, NULL, TCALL_STRING, 0
#define TCALL_A_READ_integer        tcall_field_integer, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_int64          tcall_field_int64, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_fixed(d)       tcall_field_fixed, NULL, TCALL_NUMBER, d
#define TCALL_A_READ_number         tcall_field_number, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_boolean        tcall_field_boolean, NULL, TCALL_BOOL, 0
#define TCALL_A_READ_choice(...)                                               \
    tcall_field_choice, #__VA_ARGS__, TCALL_STRING, 0
#define TCALL_A_READ_json           tcall_field_json, NULL, TCALL_MISSING, 0
#define TCALL_A_READ_array(kind, n) TCALL_A_READ_##kind
#define TCALL_A_READ_object(s, ...) NULL, s##_fields, TCALL_OBJECT, 0

/* The schema. All properties but the first have a comma before them; the names
 * that are required become a sequence (a)(b), which is then quoted. An object
 * within needs macros of its own, since none can be used inside itself. */
#define TCALL_A_OBJECT_(row, ...)                                              \
    "\"type\":\"object\",\"properties\":{" TCALL_A_FIRST_ row TCALL_A_EACH_(   \
        TCALL_A_NEXT_, 0, __VA_ARGS__) "},\"required\":[" TCALL_A_LAST_(       \
        TCALL_A_Q0_ TCALL_A_EACH_(TCALL_A_NAME_, 0, row, __VA_ARGS__)) "],"    \
        "\"additionalProperties\":false"
#define TCALL_A_FIRST_(role, kind, name, ...)                                  \
    "\"" #name "\":{" TCALL_A_S_##kind ",\"description\":\""                   \
    TCALL_A_WORDS_##role(__VA_ARGS__) "\""                                     \
    TCALL_A_DEFAULT_##role(TCALL_A_Q_##kind, __VA_ARGS__) "}"
#define TCALL_A_NEXT_(s, row) TCALL_A_NEXT_ROW_ row
#define TCALL_A_NEXT_ROW_(role, kind, name, ...)                               \
    TCALL_A_IF_##role("," TCALL_A_FIRST_(role, kind, name, __VA_ARGS__))

#define TCALL_A_WITHIN_(row, ...)                                              \
    "\"type\":\"object\",\"properties\":{" TCALL_A_FIRST2_ row TCALL_A_FEW_(   \
        TCALL_A_NEXT2_, 0, __VA_ARGS__) "},\"required\":[" TCALL_A_LAST_(      \
        TCALL_A_Q0_ TCALL_A_FEW_(TCALL_A_NAME_, 0, row, __VA_ARGS__)) "],"     \
        "\"additionalProperties\":false"
#define TCALL_A_FIRST2_(role, kind, name, ...)                                 \
    "\"" #name "\":{" TCALL_A_S_##kind ",\"description\":\""                   \
    TCALL_A_WORDS_##role(__VA_ARGS__) "\""                                     \
    TCALL_A_DEFAULT_##role(TCALL_A_Q_##kind, __VA_ARGS__) "}"
#define TCALL_A_NEXT2_(s, row) TCALL_A_NEXT2_ROW_ row
#define TCALL_A_NEXT2_ROW_(role, kind, name, ...)                              \
    TCALL_A_IF_##role("," TCALL_A_FIRST2_(role, kind, name, __VA_ARGS__))
#define TCALL_A_FEW_(m, s, ...)                                                \
    TCALL_A_FEW0_(m, s, __VA_ARGS__, TCALL_A_END4_, TCALL_A_END4_, TCALL_A_END_)
#define TCALL_A_FEW0_(m, ...) TCALL_A_FEW1_(m, __VA_ARGS__)
#define TCALL_A_FEW1_(m, s, a, b, c, d, ...)                                   \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_FEW2_(m, s, __VA_ARGS__)
#define TCALL_A_FEW2_(m, s, a, b, c, d, e, ...)                                \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_FULL_ e

#define TCALL_A_NAME_(s, row)           TCALL_A_NAME_ROW_ row
#define TCALL_A_NAME_ROW_(role, kind, name, ...) TCALL_A_NAME_##role(name)
#define TCALL_A_NAME_end(name)
#define TCALL_A_NAME_required(name)     (name)
#define TCALL_A_NAME_optional(name)
#define TCALL_A_NAME_defaults(name)
#define TCALL_A_Q0_(name)               "\"" #name "\"" TCALL_A_Q1_
#define TCALL_A_Q1_(name)               ",\"" #name "\"" TCALL_A_Q2_
#define TCALL_A_Q2_(name)               ",\"" #name "\"" TCALL_A_Q1_
#define TCALL_A_LAST_(...)              TCALL_A_LAST1_(__VA_ARGS__)
#define TCALL_A_LAST1_(...)             TCALL_A_LAST2_(__VA_ARGS__)
#define TCALL_A_LAST2_(...)             __VA_ARGS__##_END
#define TCALL_A_Q0__END
#define TCALL_A_Q1__END
#define TCALL_A_Q2__END
#define TCALL_A_WORDS_required(...)     __VA_ARGS__
#define TCALL_A_WORDS_optional(...)     __VA_ARGS__
#define TCALL_A_WORDS_defaults(d, ...)  __VA_ARGS__
#define TCALL_A_DEFAULT_required(...)
#define TCALL_A_DEFAULT_optional(...)
#define TCALL_A_DEFAULT_defaults(q, d, ...) ",\"default\":" q d q
#define TCALL_A_Q_string         "\""
#define TCALL_A_Q_integer        ""
#define TCALL_A_Q_int64          ""
#define TCALL_A_Q_fixed(d)       ""
#define TCALL_A_Q_number         ""
#define TCALL_A_Q_boolean        ""
#define TCALL_A_Q_choice(...)    "\""
#define TCALL_A_S_string         "\"type\":\"string\""
#define TCALL_A_S_integer        "\"type\":\"integer\""
#define TCALL_A_S_int64          "\"type\":\"integer\""
#define TCALL_A_S_fixed(d)       "\"type\":\"number\""
#define TCALL_A_S_number         "\"type\":\"number\""
#define TCALL_A_S_boolean        "\"type\":\"boolean\""
#define TCALL_A_S_choice(...)                                                  \
    "\"type\":\"string\",\"enum\":[" #__VA_ARGS__ "]"
#define TCALL_A_S_json                                                         \
    "\"type\":[\"object\",\"array\",\"string\",\"number\",\"boolean\",\"null\"]"
#define TCALL_A_S_array(kind, n)                                               \
    "\"type\":\"array\",\"maxItems\":" #n ",\"items\":{" TCALL_A_S_##kind "}"
#define TCALL_A_S_object(s, ...) TCALL_A_WITHIN_(__VA_ARGS__, TCALL_A_END_)

#ifdef __GNUC__
#define TCALL_UNUSED_ __attribute__((unused))
#else
#define TCALL_UNUSED_
#endif

/* clang-format on */
/* ==========================================================================
 * >>write: JSON writer
 *
 * Write on, check once: the first error sticks and the length goes on being
 * counted. The same calls go to a buffer, to a counter or through a small
 * buffer to a sink. Commas come by themselves.
 */

/* Takes bytes: > 0 how many, TCALL_E_AGAIN none now, < 0 error. */
typedef int (*tcall_sink)(void *user, const char *bytes, size_t len);

typedef struct tcall_writer {
    char *buf;
    size_t cap;
    size_t fill; /* bytes in buf */
    size_t len;  /* bytes written in all, those that did not fit included */
    size_t skip; /* bytes that are counted but not stored */
    tcall_sink sink;
    void *user;
    int error;
    uint8_t quoted; /* inside tcall_write_quote: bytes are escaped */
    char last;      /* tells whether a comma is due */
    uint16_t depth; /* brackets open: outside of them no commas are */
} tcall_writer;

/* To a buffer: without a sink what does not fit is TCALL_E_MEMORY and len
 * says what was needed. buf NULL and cap 0 only count. With a sink buf only
 * collects small pieces. */
void tcall_writer_init(tcall_writer *w, char *buf, size_t cap);
void tcall_writer_sink(tcall_writer *w, tcall_sink sink, void *user);
/* Send what is collected; the first error of all, or TCALL_OK. */
int tcall_writer_flush(tcall_writer *w);

/* As it is, no quotes, no commas. */
int tcall_write_text(tcall_writer *w, const char *text);
int tcall_write_bytes(tcall_writer *w, const char *bytes, size_t len);
/* JSON. Each returns the first error so far, or TCALL_OK. */
int tcall_write_open(tcall_writer *w, char bracket);  /* '{' or '[' */
int tcall_write_close(tcall_writer *w, char bracket); /* '}' or ']' */
int tcall_write_key(tcall_writer *w, const char *key);
int tcall_write_string(tcall_writer *w, const char *text);
int tcall_write_str(tcall_writer *w, tcall_str text);
int tcall_write_int(tcall_writer *w, long value);
/* value / 10^decimals: (2150, 2) is 21.50 */
int tcall_write_fixed(tcall_writer *w, long value, int decimals);
int tcall_write_bool(tcall_writer *w, bool value);
int tcall_write_null(tcall_writer *w);
/* A parsed value again as JSON text, compact, in its own order. */
int tcall_write_json(tcall_writer *w, tcall_json value);
/* JSON text as it stands, as a value. */
int tcall_write_verbatim(tcall_writer *w, tcall_str json);
/* All that is written in between becomes the content of one JSON string. */
int tcall_write_quote(tcall_writer *w);
int tcall_write_unquote(tcall_writer *w);

/* The one block of memory. What lasts grows from its start, what is needed
 * only for a while from its end; the ends may meet, never cross. */
typedef struct tcall_block {
    char *base;
    size_t size;
    size_t low;  /* bytes used from the start */
    size_t high; /* bytes used from the end */
    size_t peak; /* most ever used of both together */
    size_t need; /* after TCALL_E_MEMORY: the size that would have done */
} tcall_block;

void tcall_block_init(tcall_block *b, void *base, size_t size);

/* ==========================================================================
 * >>schema: JSON Schema
 *
 * A schema is compiled to a small program that points back into the schema's
 * own text (which may lie in flash and must stay where it is), and a parsed
 * value is checked against that program: no heap, no recursion, a bounded
 * number of steps. An assertion that is not supported, or malformed, refuses
 * the whole schema; nothing is ever silently dropped.
 *
 *   eager  tcall_schema_compile once, program in the block:
 *            n = tcall_schema_compile(&s, text, mem, size, TCALL_DRAFT_2020);
 *            n >= 0: keep n bytes of mem and s; n < 0: s.reason, s.need
 *   lazy   the same call into scratch memory, forgotten after the check
 *   check  check.memory = scratch; check.faults = room for a few;
 *          check.coerce = true;
 *          r = tcall_schema_check(&s, value, &check);
 *          TCALL_E_INVALID: tcall_write_faults(&w, &s, value, &check)
 *          r == 0 and check.coerced: log tcall_write_coercions(&w, value), get
 *          the text that was meant with tcall_write_json(&w, value), parse it
 *          and check it once more with coerce = false: only that result counts
 */

/* The draft where the schema has no $schema: 2020-12 unless told. */
typedef enum tcall_draft {
    TCALL_DRAFT_2020,
    TCALL_DRAFT_2019,
    TCALL_DRAFT_7,
    TCALL_DRAFT_6,
    TCALL_DRAFT_4
} tcall_draft;

/* Nodes, comparisons and characters that one check may cost. */
#ifndef TOOLCALL_MAX_STEPS
#define TOOLCALL_MAX_STEPS 1000000
#endif

/* Schemas that are at work inside each other; 24 bytes of scratch each. */
#ifndef TOOLCALL_MAX_FRAMES
#define TOOLCALL_MAX_FRAMES 512
#endif

/* Size of a pattern: its characters, counted repetitions written out. */
#ifndef TOOLCALL_MAX_PATTERN
#define TOOLCALL_MAX_PATTERN 1024
#endif

/* TOOLCALL_NO_PATTERN leaves out `pattern`; TOOLCALL_NO_RARE leaves out what
 * none of 8,071 real tool definitions uses: if, then, else, contains,
 * prefixItems, additionalItems, uniqueItems, multipleOf, patternProperties and
 * dependencies of all kinds. Schemas that have them are then refused. */

/* One step of the program: 8 bytes, no pointers, free to be moved. */
typedef struct tcall_node_ {
    uint32_t word; /* what, and where in the text */
    uint32_t arg;
} tcall_node_;

typedef struct tcall_schema {
    const char *text;
    const tcall_node_ *program;
    uint32_t nodes;
    uint32_t cells;     /* scratch that its largest pattern takes */
    size_t need;        /* bytes of program; also when they did not fit */
    const char *reason; /* why it was refused, or NULL */
    size_t at;          /* where in the text that stands */
} tcall_schema;

/* Compile. text must be one JSON value (an object, true or false) and outlive
 * the schema. Bytes of mem used (a multiple of 8; mem is aligned up to 4 at
 * its cost), TCALL_E_MEMORY (out->need bytes do; mem may be NULL, size 0, to
 * ask), or TCALL_E_SCHEMA: out->reason says what the author has to change. */
int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft);
/* The refusal in one line of plain text, with the value and its JSON Pointer:
 * unknown type at /properties/a/type: "dict" */
int tcall_write_refusal(tcall_writer *w, const tcall_schema *s);

/* One thing that is wrong with a value. */
typedef struct tcall_fault {
    uint32_t node; /* of the program */
    uint32_t at;   /* where in the schema the violated text stands */
    uint32_t tok;  /* the token concerned, counted from the value */
} tcall_fault;

typedef struct tcall_check {
    void *memory; /* scratch: a few frames; 1 KB is plenty for most */
    size_t size;
    tcall_fault *faults; /* may be NULL */
    size_t fault_cap;
    bool coerce;        /* accept "5" for 5 and the like, see below */
    size_t fault_count; /* out: how many there were, stored or not */
    size_t coerced;     /* out: how many values were marked */
    size_t need;        /* out: scratch used; too little: that much at least */
} tcall_check;

/* Check a value. TCALL_OK, TCALL_E_INVALID with faults, or TCALL_E_MEMORY,
 * TCALL_E_DEPTH, TCALL_E_BUDGET, which all mean: not accepted.
 *
 * With coerce a value whose type is wrong, and whose declared types do not
 * include string, may be the string that holds it: a number, true, false,
 * True, False, or the JSON text of an array or object; and null for an
 * optional property means that it is absent. Of several alternatives exactly
 * one must accept it. Such values are only marked; see above what to do. */
int tcall_schema_check(const tcall_schema *s, tcall_json value,
                       tcall_check *check);

/* {"path":"/unit","keyword":"enum","message":"not satisfied",
 *  "expected":["celsius","fahrenheit"],"found":"kelvin"}, for the model to
 * read: long values are cut, a missing or surplus property is named. */
int tcall_write_fault(tcall_writer *w, const tcall_schema *s, tcall_json value,
                      const tcall_fault *fault);
/* All that were stored, as an array. */
int tcall_write_faults(tcall_writer *w, const tcall_schema *s, tcall_json value,
                       const tcall_check *check);
/* [{"path":"/n","from":"5","to":5}]; dropped members have no "to". */
int tcall_write_coercions(tcall_writer *w, tcall_json value);

/* ==========================================================================
 * >>tools: definitions and the registry
 *
 * A tool is a row of a const table: it can stay in flash. What is missing in
 * the row is zero, and zero is always the careful choice.
 */

typedef struct tcall_ctx tcall_ctx;
typedef struct tcall_call tcall_call;

/* What a tool does to the world. Declare what applies; a tool that declares
 * nothing counts as doing everything. */
enum {
    TCALL_READ = 1,     /* looks at things: files, sensors, state */
    TCALL_WRITE = 2,    /* changes them */
    TCALL_EXECUTE = 4,  /* runs programs */
    TCALL_NETWORK = 8,  /* reaches other machines */
    TCALL_ACTUATE = 16, /* moves or switches something physical */
    TCALL_EVERYTHING = 31
};

/* A call of a tool that has no schema is checked by nobody. */
typedef enum tcall_no_schema {
    TCALL_NO_SCHEMA_READ_ONLY, /* runs if the tool only reads, else asks */
    TCALL_NO_SCHEMA_APPROVAL,  /* always asks */
    TCALL_NO_SCHEMA_FULL       /* runs like any other */
} tcall_no_schema;

typedef enum tcall_safety {
    TCALL_SAFETY_DERIVED, /* safe when it only reads */
    TCALL_SAFE,
    TCALL_UNSAFE
} tcall_safety;

/* The work. args has been checked against the schema. Write the answer for
 * the model to out: text (tcall_write_text) or JSON. Return TCALL_OK, or an
 * error: then out holds the reason in words. TCALL_E_AGAIN: not finished, call
 * again. */
typedef int (*tcall_run)(tcall_ctx *cx, tcall_json args, tcall_writer *out);

typedef struct tcall_tool {
    const char *name;        /* A-Z a-z 0-9 _ -, begins with no digit, <= 64 */
    const char *title;       /* for people; default: the name */
    const char *description; /* for the model: what it does and when */
    const char *tags;        /* words for choosing it, separated by spaces */
    const char *parameters;  /* JSON Schema text of the arguments, an object */
    const char *output;      /* JSON Schema text of the result; default: any */
    const char *provider_schema; /* sent in place of parameters; the check
                                    stays with parameters */
    tcall_run run;
    const tcall_field *fields;    /* arguments as a C struct: tcall_bound */
    size_t args_size;             /* sizeof that struct */
    tcall_bind_fn bind;           /* tcall_bind, where fields are given */
    void *user;                   /* for run: tcall_user */
    uint8_t permissions;          /* needed, TCALL_READ | ... */
    uint8_t optional_permissions; /* used if allowed */
    uint8_t safe;                 /* tcall_safety */
    uint8_t no_schema_mode;       /* tcall_no_schema */
    bool allow_no_schema; /* parameters may be NULL: nothing is checked */
    bool strict;          /* ask the provider to hold the model to the schema */
    bool confirm;         /* ask for approval before each run */
    bool streaming;       /* gives output as it goes */
} tcall_tool;

/* Number of rows of a table. */
#define TCALL_COUNT(table) (sizeof(table) / sizeof((table)[0]))
/* Raw JSON in C source, without backslashes. */
#define TCALL_JSON(...) #__VA_ARGS__

/* A validator other than the built-in one. check looks at the arguments and
 * returns TCALL_OK or TCALL_E_INVALID after writing what is wrong, for the
 * model, to why. */
typedef struct tcall_validator {
    const char *name;
    const char *version;
    int (*check)(void *user, const tcall_tool *tool, tcall_json args,
                 tcall_writer *why);
    void *user;
} tcall_validator;

typedef enum tcall_verdict {
    TCALL_DENY,
    TCALL_ALLOW,
    TCALL_LATER /* the call waits: TCALL_E_APPROVAL */
} tcall_verdict;

typedef enum tcall_event_kind {
    TCALL_EVENT_HYDRATED, /* checked: call->error says how it went */
    TCALL_EVENT_REPAIR,   /* the one repair was tried */
    TCALL_EVENT_APPROVAL, /* asked; verdict */
    TCALL_EVENT_START,    /* the tool is about to run */
    TCALL_EVENT_OUTPUT,   /* text: a piece of output */
    TCALL_EVENT_END,      /* the call has its result: text, error */
    TCALL_EVENT_TEXT,     /* text: a piece of the model's answer */
    TCALL_EVENT_REQUEST,  /* bytes: length of its body; tools: sent */
    TCALL_EVENT_ANSWER,   /* status, bytes, error; text: the provider's */
    TCALL_EVENT_RETRY     /* the request is sent again in ms: error, status */
} tcall_event_kind;

typedef struct tcall_event {
    tcall_event_kind kind;
    const tcall_call *call; /* NULL where it concerns none */
    tcall_str text;
    int error;
    int verdict;
    int status; /* HTTP */
    size_t bytes;
    size_t tools;
    uint32_t ms; /* time taken, where there is a clock */
} tcall_event;

/* Everything a registry needs, in one place. Zero is the default. */
typedef struct tcall_desc {
    void *block; /* memory for everything; must outlive the tcall */
    size_t block_size;
    const tcall_tool *tools;
    size_t tool_count;
    uint8_t allow; /* permissions given: TCALL_READ | ...; default none */
    bool lazy;     /* compile a schema only while a call is checked */
    bool strict_arguments; /* refuse arguments that are not strict JSON */
    bool no_coercion;      /* refuse "5" for an integer and the like */
    const tcall_validator *validator; /* default: the built-in one */
    /* Asked for tools that need it. NULL: such calls are denied. */
    tcall_verdict (*approve)(void *user, const tcall_call *call);
    /* One try to mend arguments that were refused: write JSON text to out,
     * return TCALL_OK. Its outcome is untrusted. NULL: no repair. */
    int (*repair)(void *user, const tcall_call *call, tcall_writer *out);
    void (*on_event)(void *user, const tcall_event *event);
    uint32_t (*now_ms)(void *user); /* monotonic, wraps; NULL: no times */
    tcall_writer *report; /* tcall_init: one line for each fault of a table */
    void *user;           /* for all of the above */
} tcall_desc;

typedef struct tcall {
    tcall_desc desc;
    tcall_block block;
    tcall_schema *schemas; /* compiled, one for each tool; NULL when lazy */
    uint16_t repairs;      /* how many were tried */
} tcall;

/* Check every tool and set the block up. TCALL_OK; TCALL_E_TOOL when a
 * definition is wrong (all faults of all tools are in desc->report, each as
 * "name: what is wrong and what to do"); TCALL_E_MEMORY (tc->block.need). On
 * any error no tool can be called. */
int tcall_init(tcall *tc, const tcall_desc *desc);
/* Most bytes of the block that were ever in use. */
size_t tcall_peak(const tcall *tc);
const tcall_tool *tcall_find(const tcall *tc, tcall_str name);
/* What the tool needs, everything when it declares nothing. */
unsigned tcall_needs(const tcall_tool *tool);

/* ==========================================================================
 * >>hydrate: from what the model sent to a call that may run
 *
 * parse -> validate -> bind. Whatever goes wrong stays in the call: error,
 * stage, what was expected where. Nothing here runs a tool.
 */

typedef enum tcall_stage {
    TCALL_STAGE_FIND,
    TCALL_STAGE_PARSE,
    TCALL_STAGE_VALIDATE,
    TCALL_STAGE_BIND,
    TCALL_STAGE_PERMIT,
    TCALL_STAGE_APPROVE,
    TCALL_STAGE_RUN,
    TCALL_STAGE_RESULT
} tcall_stage;

/* Faults of one call that are kept; more are counted by nobody, the model
 * mends these first. */
#ifndef TOOLCALL_MAX_FAULTS
#define TOOLCALL_MAX_FAULTS 4
#endif

struct tcall_call {
    /* What the model asked, as it came. The caller sets these. */
    tcall_str id;
    tcall_str name;
    tcall_str arguments;
    const char *provider; /* name of the wire format, may be NULL */
    int cut;              /* < 0: why the call is not whole; it will not run */
    /* What became of it. */
    bool validated; /* the schema holds */
    bool repaired;  /* by the repair callback: untrusted */
    bool approved;
    uint8_t stage;  /* tcall_stage reached, or failed in */
    uint8_t faults; /* number of */
    uint16_t coercions;
    int error;       /* TCALL_OK or what went wrong */
    uint32_t fixes;  /* of the text, TCALL_FIX_... bits */
    size_t error_at; /* parse errors: offset in arguments */
    uint32_t hydrate_ms, run_ms;
    const tcall_tool *tool;
    tcall_json args; /* checked arguments; valid until tcall_release */
    void *bound;     /* the struct of tool->fields */
    tcall_schema schema;
    tcall_fault fault[TOOLCALL_MAX_FAULTS];
    tcall_str why;      /* words of a foreign validator or of binding */
    tcall_str coerced;  /* JSON text of the coercions, an array */
    tcall_str original; /* arguments before they were repaired */
    size_t mark;        /* private: what tcall_release frees */
};

/* Takes a call (the first members set, the rest zero) through parse, validate
 * and bind. Returns call->error. Memory comes from the block's end and is held
 * until tcall_release; release in the opposite order. */
int tcall_hydrate(tcall *tc, tcall_call *call);
void tcall_release(tcall *tc, tcall_call *call);

/* One JSON line about where the arguments came from and what was done to
 * them, for logs: provider, ids, raw arguments, fixes, coercions, validator
 * and its mode, times, validated, repaired, no_schema_mode, errors. */
int tcall_write_provenance(const tcall *tc, const tcall_call *call,
                           tcall_writer *w);
/* What is wrong, as the members of a JSON object that is open. */
int tcall_write_errors(const tcall_call *call, tcall_writer *w);

/* ==========================================================================
 * >>invoke: from a checked call to a result
 *
 * The straight path: permit, approve, run, result. It takes a call that
 * tcall_hydrate has seen, good or bad, and always yields a result that the
 * model can read.
 */

struct tcall_ctx {
    tcall *tc;
    tcall_call *call;
    uint16_t attempt; /* how often run was called for this call before */
};

/* For tools: the struct that tool->fields describe, what tool->user points
 * to, and a piece of output while the work goes on. */
const void *tcall_bound(const tcall_ctx *cx);
void *tcall_user(const tcall_ctx *cx);
void tcall_progress(tcall_ctx *cx, tcall_str text);

/* Runs a call if it may run and writes what the model shall read to out: the
 * tool's output, or {"success":false,"error":...}. Returns TCALL_OK, or why
 * it did not run or failed; out is complete in both cases, but for
 * TCALL_E_AGAIN (the tool wants to be called again; out is untouched) and
 * TCALL_E_APPROVAL (a verdict comes later; invoke again with call->approved
 * set to run it). */
int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out);

/* "validation", "permission", "user", "system", "security", "cancelled" or
 * "timeout": the kind of an error. */
const char *tcall_error_type(int error);

/* ==========================================================================
 * >>provider: what all wire formats share
 *
 * A provider is data: an outline of the paths that matter in its answers, the
 * words it uses, and a function that writes its requests. One reader serves
 * all of them: it takes bytes as they arrive, in any pieces, whole answers or
 * streams, and keeps the text and the calls only.
 */

/* One thing said in a conversation, whoever the provider is. */
typedef enum tcall_kind {
    TCALL_ITEM_USER,   /* text */
    TCALL_ITEM_TEXT,   /* text of the model */
    TCALL_ITEM_CALL,   /* id, name, text: the arguments as they came */
    TCALL_ITEM_RESULT, /* id, name, text; error */
    TCALL_ITEM_OPAQUE  /* reasoning; name: the provider that gets it back */
} tcall_kind;

typedef struct tcall_item {
    uint8_t kind;
    /* Result: the tool failed. Call: it must not run, TCALL_E_CUT or
     * TCALL_E_MEMORY (arguments too large to keep). Arguments that end too
     * early without a word of the provider are found by tcall_hydrate. */
    int error;
    bool made;    /* the provider gave no id, this one was made up; of
                     opaque: the provider's second form */
    bool lost;    /* what is opaque of it did not fit the block */
    tcall_str id; /* of a call and of its result */
    tcall_str name;
    tcall_str sign; /* opaque, goes back to its provider with the item */
    tcall_str text;
} tcall_item;

/* The conversation lies at the end of the lower part of a block. */
typedef struct tcall_chat {
    tcall_block *block;
    size_t start;
    uint32_t made; /* ids made up so far */
} tcall_chat;

/* Nothing else may be taken from the lower part of the block afterwards. */
void tcall_chat_init(tcall_chat *chat, tcall_block *block);
/* TCALL_OK or TCALL_E_MEMORY; then nothing was added. */
int tcall_chat_add(tcall_chat *chat, const tcall_item *item);
/* for (at = 0; tcall_chat_next(chat, &at, &item);) visits all of them. The
 * slices stay valid until the conversation changes. */
bool tcall_chat_next(const tcall_chat *chat, size_t *at, tcall_item *item);

typedef enum tcall_stop {
    TCALL_STOP_UNKNOWN,
    TCALL_STOP_END,     /* the model is done */
    TCALL_STOP_CALLS,   /* it wants results */
    TCALL_STOP_LENGTH,  /* cut off: the last call must not run */
    TCALL_STOP_REFUSED, /* content was refused or filtered */
    TCALL_STOP_OTHER,
    /* Private, what else a word of a provider can mean: */
    TCALL_STOP_FINAL_, /* the answer is complete */
    TCALL_STOP_NOT_YET_,
    TCALL_STOP_FAULT_,  /* no answer came of it, unless there are calls */
    TCALL_WORD_CALL_,   /* element: a call */
    TCALL_WORD_OPAQUE_, /* element: returned as it is */
    TCALL_WORD_TEXT_,   /* element, or piece: text */
    TCALL_WORD_PIECE_,  /* piece: of arguments */
    TCALL_WORD_ALL_,    /* piece: all the arguments */
    TCALL_WORD_NEW_,    /* event: an element that is not complete yet */
    TCALL_WORD_DONE_,   /* event: an element that is */
    TCALL_WORD_OPEN_    /* event: an answer begins that will say its end */
} tcall_stop;

typedef enum tcall_choice {
    TCALL_CHOICE_AUTO,
    TCALL_CHOICE_NONE,
    TCALL_CHOICE_REQUIRED,
    TCALL_CHOICE_ONE /* the tool that choice_name names */
} tcall_choice;

/* Which strict mode, and how much of it one request may still use. */
typedef struct tcall_strict {
    uint8_t profile; /* TCALL_STRICT_... */
    uint16_t tools, optional, unions;
    bool say; /* that a tool is not strict has to be said */
} tcall_strict;

enum {
    TCALL_STRICT_OPENAI = 1,
    TCALL_STRICT_ANTHROPIC = 2,
    TCALL_STRICT_OLLAMA = 4 /* not strict: what its templates know */
};

/* Writes the schema of a tool as a provider's strict mode wants it. False,
 * and nothing written, where that cannot say what the schema says, or its
 * limits are reached. The schema itself is untouched: what had to be left out
 * is still checked when a call comes. */
bool tcall_view(tcall_writer *w, const tcall_tool *tool, tcall_strict *left);

/* All that a request is made of. */
typedef struct tcall_ask {
    const char *model;
    const char *system; /* instructions; may be NULL */
    const tcall_chat *chat;
    const tcall_tool *tools;
    size_t tool_count;
    /* Tools to send, by index; NULL: all of them. */
    const uint16_t *picks;
    size_t pick_count;
    unsigned allow; /* tools that need more are not sent */
    tcall_choice choice;
    const char *choice_name;
    int max_tokens; /* of the answer; default 1024 where one must be given */
    bool stream;
    bool no_parallel; /* at most one call in an answer */
    /* tcall_view: tools that ask for it are sent as strict, and Ollama gets
     * what it knows of a schema. NULL: schemas are sent as they are. */
    bool (*view)(tcall_writer *w, const tcall_tool *tool, tcall_strict *left);
} tcall_ask;

/* What an outline row of a provider leads to (tcall_path.field). A call is
 * read as an element that has some of id, name, arguments and index, whole or
 * as a piece of one that came before. */
enum {
    TCALL_AT_CALL = 1, /* the object that is a call or a piece of one */
    TCALL_AT_ID,       /* the first that is not empty counts */
    TCALL_AT_NAME,     /* likewise */
    TCALL_AT_SIGN,     /* likewise, what is opaque of an element */
    TCALL_AT_ARGS,     /* string: a piece; object (raw): whole */
    TCALL_AT_ALL,      /* all the arguments, which may come repeatedly */
    TCALL_AT_KEEP,     /* a piece of what is opaque */
    TCALL_AT_KEEP_2,   /* the same in the provider's second form */
    TCALL_AT_SAID,     /* text, unless its element is void */
    TCALL_AT_PIECE,    /* what it is, the event's word tells */
    TCALL_AT_VOID,     /* true, or an object: the element does not count */
    TCALL_AT_TEXT,     /* a piece of the model's text */
    TCALL_AT_CHOICE,   /* the object that is one of several answers */
    TCALL_AT_WHOLE,    /* something only whole answers have */
    TCALL_AT_RESTART,  /* an object: everything before is void */
    TCALL_AT_ERROR,    /* an object, or the words, of an error */
    TCALL_AT_MESSAGE,  /* its words */
    /* From here on short values: */
    TCALL_AT_INDEX,      /* number of the call */
    TCALL_AT_TYPE,       /* of the element, by the table */
    TCALL_AT_NUMBER,     /* of the choice */
    TCALL_AT_STOP,       /* why it stopped; not empty: it is complete */
    TCALL_AT_HINT,       /* the same, only to be believed if it says cut */
    TCALL_AT_EVENT,      /* what this document is, by the table */
    TCALL_AT_WAIT,       /* how long to wait: "1.5s" */
    TCALL_AT_INPUT,      /* tokens read */
    TCALL_AT_OUTPUT,     /* tokens written */
    TCALL_AT_ERROR_TYPE, /* type of the error */
    TCALL_AT_ERROR_CODE  /* its code, which tells more unless it is a number */
};

/* What a provider's word means, a tcall_stop. The table ends with "". */
typedef struct tcall_word {
    char text[40];
    uint8_t means;
} tcall_word;

typedef struct tcall_provider {
    const char *name;
    /* Of the request, below the base URL; "{model}" stands for its name. */
    const char *path;
    const char *stream_path; /* NULL: the same */
    const char *key_header;  /* carries the key */
    const char *key_prefix;  /* before the key: "Bearer " */
    const char *version[2];  /* a further header: name, value */
    const tcall_path *paths; /* where things stand in an answer */
    const tcall_word *words; /* reasons to stop, types, and the like */
    bool keep;               /* what is opaque must go back */
    int (*write)(tcall_writer *w, const tcall_ask *ask);
} tcall_provider;

extern const tcall_provider tcall_openai;    /* and compatible servers */
extern const tcall_provider tcall_anthropic; /* Messages */
extern const tcall_provider tcall_ollama;    /* its own /api/chat */
extern const tcall_provider tcall_responses; /* of OpenAI */
extern const tcall_provider tcall_gemini;    /* generateContent */
/* Like tcall_openai, with reasoning that has to be returned. */
extern const tcall_provider tcall_deepseek, tcall_openrouter;

/* What is known of an answer besides its items. */
typedef struct tcall_answer {
    tcall_stop stop;
    char stop_text[32]; /* the provider's own word, cut if longer; of an error
                           its code or type */
    long input_tokens;  /* -1: unknown */
    long output_tokens;
    int calls;
    int error;         /* TCALL_OK; TCALL_E_PROVIDER: it holds an error;
                          TCALL_E_TRUNCATED, TCALL_E_PROTOCOL, TCALL_E_MEMORY
                          (then block->need tells), or what scanning found */
    char message[160]; /* the provider's words about its error, cut */
    bool text_cut;     /* the text did not fit and was cut */
    /* Bytes of opaque reasoning that did not fit. The calls are there, but
     * their results cannot be sent back: block->need tells more. */
    size_t unkept;
    long wait_ms; /* how long to wait, -1: unknown */
} tcall_answer;

/* Reads one answer. Only answer is for others to look at. */
typedef struct tcall_reader {
    tcall_answer answer;
    const tcall_provider *provider;
    tcall_chat *chat;
    void (*text)(void *user, tcall_str piece);
    void *user;
    size_t start;    /* where the items of this answer begin */
    size_t pending;  /* elements from here on are not settled yet */
    size_t slot;     /* the element that is being read, if open */
    size_t raw;      /* its text as it came, if keeping */
    size_t text_max; /* bytes of text that are kept */
    size_t lost;     /* bytes that did not fit */
    uint8_t index;   /* of the element; 255: none */
    uint8_t choice, began, finished; /* number and sets of choices */
    uint8_t state, match;            /* of the framing */
    bool sse, inside, some;
    bool broken, complete, whole, cut;
    bool open, skip, object, ignored, stopped, has_text;
    bool element, keeping, all, fault, announced;
    uint8_t kind, type, event; /* of the element, of the document */
    size_t raw_lost;
    char word[40]; /* the short value that is being read */
    tcall_scan scan;
} tcall_reader;

/* text(user, piece) gets the model's text as it comes, also what does not fit
 * the block; may be NULL. The block may not be used otherwise until the end of
 * the answer; its upper part may. */
void tcall_reader_init(tcall_reader *r, const tcall_provider *provider,
                       tcall_chat *chat,
                       void (*text)(void *user, tcall_str piece), void *user);
/* < 0: the answer is not what the provider's format allows; more is ignored. */
int tcall_reader_feed(tcall_reader *r, const char *bytes, size_t len);
/* The answer is over. TCALL_OK and the items are in the chat, or an error
 * (r->answer tells more) and the chat is as it was before. Calls that were
 * cut or did not fit have item.error set, they must get an error result. */
int tcall_reader_end(tcall_reader *r);
/* What is wrong with an answer, by its HTTP status (0: unknown) and by what
 * the provider says, also within a status of 200: TCALL_E_AUTH, _NOT_FOUND,
 * _REQUEST, _CONTEXT, _REFUSED, _RATE, _OVERLOAD (wait_ms tells how long), or
 * _PROVIDER for its own faults; else the answer's error. */
int tcall_answer_error(const tcall_answer *a, int status);
/* ==========================================================================
 * >>chat: the conversation
 *
 * A turn is what the user said and all that follows, up to the next time the
 * user speaks. History is shortened by whole turns from the oldest on, so a
 * call and its result are never parted.
 */

/* Drops the oldest turn; false when there is but one. */
bool tcall_chat_drop(tcall_chat *chat);
/* Drops oldest turns until so many bytes of the block are free. */
bool tcall_chat_make_room(tcall_chat *chat, size_t bytes);

/* ==========================================================================
 * >>agent: ask, call, answer, over a transport
 *
 * The library never opens a socket: tcall_transport is the door, the port
 * directory has one that fits. A request is written twice by the same
 * function, once to count, once to send. Planning and acting are apart:
 * tcall_agent_ask returns checked calls, tcall_agent_step and _run run them.
 */

/* One header line. The value is sent as value followed by secret; the secret
 * must never reach a log, an error or an event. Both may be NULL. */
typedef struct tcall_header {
    const char *name;
    const char *value;
    const char *secret;
} tcall_header;

/* What the transport has to send before the body. Host, port and TLS belong
 * to the transport, which was set up for one server. */
typedef struct tcall_request {
    const char *method;          /* "POST" */
    const char *path;            /* "/v1/chat/completions" */
    const tcall_header *headers; /* beside Host and Content-Length */
    size_t header_count;
    size_t body_len; /* exact number of bytes of the body */
} tcall_request;

/* What is known of the answer besides its body. */
typedef struct tcall_response {
    int status;          /* HTTP status, 0 as long as it is unknown */
    long retry_after_ms; /* from retry-after(-ms), -1 when absent */
    int should_retry;    /* x-should-retry: 1 true, -1 false, 0 absent */
} tcall_response;

/* The one door to the network: an exchange of one request and one answer.
 * Order: open, write until body_len bytes were accepted, read until 0, close.
 * Each may answer TCALL_E_AGAIN (nothing was done, call again later) or
 * another error, after which only close is called. A transport that blocks
 * simply never answers TCALL_E_AGAIN. */
typedef struct tcall_transport {
    /* Connect (or reuse) and send the request head. req and res stay valid
     * until close; res is filled before read gives its first byte. */
    int (*open)(void *user, const tcall_request *req, tcall_response *res);
    /* > 0: so many of the len bytes were accepted. */
    int (*write)(void *user, const char *bytes, size_t len);
    /* > 0: bytes stored; 0: the body is complete. A body that ends early is
     * TCALL_E_CLOSED, never 0. */
    int (*read)(void *user, char *bytes, size_t cap);
    /* End the exchange, whatever its state; always called once per open. */
    void (*close)(void *user);
    /* Monotonic clock in milliseconds; wraps. May be NULL: no time limits. */
    uint32_t (*now_ms)(void *user);
    /* Sleep so long or less. May be NULL: then tcall_agent_run spins. */
    void (*wait)(void *user, uint32_t ms);
    void *user;
} tcall_transport;

typedef struct tcall_agent_desc {
    tcall *tc;
    const tcall_provider *provider;
    tcall_transport transport;
    const char *model;
    const char *key;    /* secret; NULL when the server wants none */
    const char *path;   /* default: the provider's; "{model}" is filled in */
    const char *system; /* instructions for the model */
    int max_tokens;     /* of one answer; default: the provider's */
    int max_rounds;     /* requests in one turn; default 8 */
    int max_calls;      /* calls run in one turn; default 32 */
    uint32_t max_ms;    /* time for one turn; default: no limit */
    /* A request is sent again, never a tool run again, where nothing of an
     * answer came (the connection failed), and after HTTP status 408, 409,
     * 429 and 500 to 599, or as x-should-retry says. The wait before it is
     * the server's (Retry-After), else 0.5 s, 1 s, 2 s and so on to 8 s, of
     * which up to a half is left out at random. Where max_ms would pass, or
     * the transport has no clock, the error is the end. */
    int max_tries;        /* of one request; default 3 */
    uint32_t max_wait_ms; /* the longest wait, longer ones are cut; default
                             60000 */
    uint32_t seed;        /* of what is left out; default: the clock */
    size_t io_size;       /* bytes for reading and writing; default 512 */
    bool stream;
    /* tcall_view: send tools that are strict as the provider's strict mode
     * wants them. NULL: schemas are sent as they are. */
    bool (*view)(tcall_writer *w, const tcall_tool *tool, tcall_strict *left);
} tcall_agent_desc;

typedef struct tcall_agent {
    tcall_agent_desc desc;
    tcall_chat chat;
    tcall_answer answer; /* the last one */
    tcall_response response;
    uint32_t wait_ms; /* tcall_agent_step has nothing to do for so long */
    /* private */
    tcall_reader *reader;
    tcall_request request;
    tcall_header headers[3];
    char *io;
    size_t sent, received, mark, call_at;
    uint32_t started, paused, pause, random;
    uint16_t rounds, calls, tries;
    uint8_t state;
    bool run; /* calls are run, not only checked */
    bool cancelled;
    bool opened; /* the transport has to be closed */
    bool again;  /* a dead connection was replaced */
    tcall_call call;
} tcall_agent;

int tcall_agent_init(tcall_agent *a, const tcall_agent_desc *desc);
/* Begins a turn with what the user says. Old turns are dropped, whole, when
 * the block is too small for all of them. */
int tcall_agent_say(tcall_agent *a, tcall_str text);
/* One bounded piece of work. TCALL_E_AGAIN: go on, after a->wait_ms
 * milliseconds at the latest, sooner does no harm; TCALL_OK: the turn is over
 * and tcall_agent_text is the answer; else an error ended it. */
int tcall_agent_step(tcall_agent *a);
/* say and step until the turn is over. */
int tcall_agent_run(tcall_agent *a, tcall_str text);
/* One exchange without running anything: the number of calls in the answer.
 * Each can then be looked at with tcall_agent_call. */
int tcall_agent_ask(tcall_agent *a, tcall_str text);
/* The call at index of the last answer, hydrated; release it when done. Its
 * result goes back with tcall_agent_result, each call needs one. */
int tcall_agent_call(tcall_agent *a, int index, tcall_call *call);
int tcall_agent_result(tcall_agent *a, const tcall_call *call, tcall_str text,
                       bool error);
/* The model's last text. */
tcall_str tcall_agent_text(const tcall_agent *a);
/* Ends the turn at the next step. */
void tcall_agent_cancel(tcall_agent *a);

#ifdef __cplusplus
}
#endif
#endif /* TOOLCALL_H */

/* ======================================================================== */
#if defined TOOLCALL_IMPLEMENTATION && !defined TOOLCALL_IMPLEMENTED_
#define TOOLCALL_IMPLEMENTED_

#include <limits.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==========================================================================
 * >>base
 */

tcall_str tcall_str_of(const char *text)
{
    tcall_str s;
    s.ptr = text;
    s.len = text ? strlen(text) : 0;
    return s;
}

static inline tcall_str tcall_slice_(const char *ptr, size_t len)
{
    tcall_str s;
    s.ptr = ptr;
    s.len = len;
    return s;
}

bool tcall_str_eq(tcall_str a, tcall_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* All in one string: a table of pointers would double its size. */
static const char tcall_errors_[] =
#define TCALL_X_(name, code, text) code "\0" text "\0"
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
    ;

static const char *tcall_error_part_(int error, int part)
{
    const char *p = tcall_errors_;
    int n = 2 * (-1 - error) + part;
    if (error >= 0 || error < -TCALL_I_COUNT)
        return error < 0 ? "?" : "ok";
    while (n-- > 0)
        p += strlen(p) + 1;
    return p;
}

const char *tcall_error_code(int error)
{
    return tcall_error_part_(error, 0);
}

const char *tcall_error_text(int error)
{
    const char *text = tcall_error_part_(error, 1);
    return *text ? text : tcall_error_part_(error, 0);
}

static inline bool tcall_is_digit_(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool tcall_is_space_(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Value of a hex digit, -1 when it is none. */
static int tcall_hex_(char c)
{
    if (tcall_is_digit_(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Writes a code point as UTF-8, 1 to 4 bytes. */
static size_t tcall_utf8_(char *out, uint32_t cp)
{
    size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4, i;
    if (n == 1) {
        out[0] = (char)cp;
        return 1;
    }
    for (i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3F));
    out[0] = (char)((0xF00 >> n & 0xF0) | cp);
    return n;
}

/* n or a little less: so that p is not cut inside a character. p[n] is there.
 */
static size_t tcall_utf8_cut_(const char *p, size_t n)
{
    while (n && ((unsigned char)p[n] & 0xC0) == 0x80)
        n--;
    return n;
}

/* The control character or quote that an escape stands for, 0: no escape. */
static char tcall_unescape_(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* Decimal text, compared exactly: no floating point, nothing rounded. The
 * significant digits are those from first to last, a point between them does
 * not count; the first of them stands for digit * 10^top. */
typedef struct tcall_num_ {
    const char *first, *last;
    int top;
    bool negative, zero;
} tcall_num_;

/* Exponents beyond this are no different from it; ten times it fits an int
 * of 16 bits too. */
#define TCALL_EXPONENT_MAX_ (INT_MAX < 32768 ? 1638 : 1000000)

static tcall_num_ tcall_num_read_(tcall_str text)
{
    const char *p = text.ptr, *end = p + text.len, *point = NULL;
    tcall_num_ n;
    int exponent = 0;
    bool minus = false;
    n.negative = p < end && *p == '-';
    p += n.negative;
    n.first = n.last = NULL;
    for (; p < end && (tcall_is_digit_(*p) || *p == '.'); p++) {
        if (*p == '.')
            point = p;
        else if (*p != '0') {
            n.first = n.first ? n.first : p;
            n.last = p;
        }
    }
    if (!point)
        point = p;
    if (p < end) {
        p++;
        minus = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        for (; p < end; p++)
            if (exponent < TCALL_EXPONENT_MAX_)
                exponent = exponent * 10 + (*p - '0');
    }
    n.zero = !n.first;
    n.top = minus ? -exponent : exponent;
    if (n.first)
        n.top += (int)(point - n.first) - (n.first < point);
    return n;
}

/* The next significant digit from *p on, 0 behind the last. */
static inline int tcall_num_digit_(const tcall_num_ *n, const char **p)
{
    if (**p == '.' && *p <= n->last)
        ++*p;
    if (*p > n->last)
        return 0;
    return *(*p)++ - '0';
}

/* Number of significant digits. */
static int tcall_num_digits_(const tcall_num_ *n)
{
    const char *p;
    int count = 0;
    if (n->zero)
        return 0;
    for (p = n->first; p <= n->last; p++)
        count += *p != '.';
    return count;
}

/* True for 5, 5.0 and 5e3, false for 5.5. */
static bool tcall_num_integral_(const tcall_num_ *n)
{
    return n->zero || n->top - tcall_num_digits_(n) + 1 >= 0;
}

static int tcall_num_compare_(const tcall_num_ *a, const tcall_num_ *b)
{
    const char *p = a->first, *q = b->first;
    int less = a->negative ? 1 : -1;
    if (a->zero || b->zero) {
        if (a->zero && b->zero)
            return 0;
        return a->zero ? (b->negative ? 1 : -1) : -less;
    }
    if (a->negative != b->negative)
        return less == 1 ? -1 : 1;
    if (a->top != b->top)
        return a->top < b->top ? less : -less;
    while (p <= a->last || q <= b->last) {
        int x = tcall_num_digit_(a, &p), y = tcall_num_digit_(b, &q);
        if (x != y)
            return x < y ? less : -less;
    }
    return 0;
}

/* value * 10^decimals as an integer; surplus digits are cut off. False when
 * it does not fit. */
static bool tcall_num_int64_(const tcall_num_ *n, int decimals, int64_t *out)
{
    const char *p = n->first;
    int left = n->top + decimals;
    uint64_t v = 0, limit = (uint64_t)INT64_MAX + n->negative;
    *out = 0;
    if (n->zero || left < 0)
        return true;
    if (left > 18)
        return false;
    for (; left >= 0; left--) {
        v = (v << 3) + (v << 1) + (uint64_t)tcall_num_digit_(n, &p);
        if (v > limit)
            return false;
    }
    *out = n->negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* ==========================================================================
 * >>scan
 *
 * Three loops in one: runs of plain string bytes, numbers by a table, and one
 * switch for everything else. What is wanted of the outline is tracked per
 * open level as the row that matched, so a key is compared with the few rows
 * below that one only.
 */

#define TCALL_SCAN_NONE_ 0xFF /* no row */
#define TCALL_SCAN_ROOT_ 0xFE /* above the first row */

enum {
    TCALL_S_VALUE_,     /* a value must come */
    TCALL_S_FIRST_,     /* behind '[': a value or ']' */
    TCALL_S_FIRST_KEY_, /* behind '{': a key or '}' */
    TCALL_S_KEY_,       /* behind ',' in an object */
    TCALL_S_COLON_,     /* behind a key */
    TCALL_S_NEXT_,      /* behind a value: ',' or a closing bracket */
    TCALL_S_DONE_,      /* behind the root */
    TCALL_S_LITERAL_,   /* inside true, false, null */
    TCALL_S_NUMBER_,    /* inside a number */
    TCALL_S_STRING_,    /* inside a string */
    TCALL_S_ESCAPE_,    /* behind '\' */
    TCALL_S_HEX_,       /* inside \uXXXX */
    TCALL_S_LOW_,       /* behind a high surrogate: '\' */
    TCALL_S_LOW_U_      /* and then: 'u' */
};

/* The grammar of numbers: state by class of the next character; 0 ends the
 * number. States 3, 4, 6 and 9 may end. Classes: 0, 1-9, '.', 'e', '+', '-' */
static const uint8_t tcall_number_grammar_[10][6] = {
    {0, 0, 0, 0, 0, 0}, {3, 4, 0, 0, 0, 2}, /* start */
    {3, 4, 0, 0, 0, 0},                     /* - */
    {0, 0, 5, 7, 0, 0},                     /* 0 */
    {4, 4, 5, 7, 0, 0},                     /* digits */
    {6, 6, 0, 0, 0, 0},                     /* . */
    {6, 6, 0, 7, 0, 0},                     /* digits of the fraction */
    {9, 9, 0, 0, 8, 8},                     /* e */
    {9, 9, 0, 0, 0, 0},                     /* + or - */
    {9, 9, 0, 0, 0, 0},                     /* digits of the exponent */
};

static inline uint8_t tcall_number_next_(uint8_t state, char c)
{
    const uint8_t *next = tcall_number_grammar_[state];
    switch (c) {
    case '.': return next[2];
    case 'e':
    case 'E': return next[3];
    case '+': return next[4];
    case '-': return next[5];
    default: return tcall_is_digit_(c) ? next[c != '0'] : (uint8_t)0;
    }
}

static bool tcall_number_ends_(uint8_t state)
{
    return 0x258 >> state & 1;
}

void tcall_scan_init(tcall_scan *s, const tcall_path *paths, tcall_scan_fn on,
                     void *user)
{
    memset(s, 0, sizeof *s);
    s->paths = paths;
    s->on = on;
    s->user = user;
    s->row = paths ? TCALL_SCAN_ROOT_ : TCALL_SCAN_NONE_;
    s->at = TCALL_SCAN_NONE_;
}

bool tcall_scan_done(const tcall_scan *s)
{
    return s->state == TCALL_S_DONE_;
}

static int tcall_scan_fail_(tcall_scan *s, int error)
{
    s->error = error;
    return error;
}

void tcall_scan_tokens(tcall_scan *s, const char *text, tcall_tok *tok,
                       size_t cap)
{
    s->text = text;
    s->tok = tok;
    s->tok_cap = cap < INT_MAX ? cap : INT_MAX;
}

/* Flags of a token, beside its type. */
#define TCALL_TYPE_   7
#define TCALL_LAST_   8  /* last of its container */
#define TCALL_MEMBER_ 16 /* value of a member: its key stands before it */
#define TCALL_KEY_    32
#define TCALL_ODD_    64 /* string with escapes, long number or exponent */

static inline void tcall_scan_make_(tcall_scan *s, const char *p, bool key)
{
    tcall_tok *t = s->tok + s->tokens - 1;
    t->type = *p == '"'   ? TCALL_STRING
              : *p < 'A'  ? TCALL_NUMBER
              : *p == '{' ? TCALL_OBJECT
              : *p == '[' ? TCALL_ARRAY
              : *p == 'n' ? TCALL_NULL
                          : TCALL_BOOL;
    t->type |= key ? TCALL_KEY_ : s->object ? TCALL_MEMBER_ : 0;
    t->start = (int)(p - s->text) + (*p == '"');
    t->span = 1;
    t->mark = 0;
}

/* A token for the value or key that starts at p. */
static inline void tcall_scan_token_(tcall_scan *s, const char *p, bool key)
{
    if (++s->tokens <= s->tok_cap)
        tcall_scan_make_(s, p, key);
}

/* The token made last, of a string or word, ends at p. */
static inline void tcall_scan_token_end_(tcall_scan *s, const char *p,
                                         int flags)
{
    if (s->tokens > s->tok_cap)
        return;
    s->last = (int)s->tokens - 1;
    s->tok[s->last].end = (int)(p - s->text);
    s->tok[s->last].type |= flags;
}

/* The container that is open begins, or ends, at p. While it is open its mark
 * is the one around it. */
static void tcall_scan_token_open_(tcall_scan *s)
{
    if (s->tokens > s->tok_cap)
        return;
    s->tok[s->tokens - 1].mark = s->super;
    s->super = (int)s->tokens - 1;
}

static void tcall_scan_token_close_(tcall_scan *s, const char *p)
{
    tcall_tok *t;
    if (s->tokens > s->tok_cap)
        return;
    t = s->tok + s->super;
    t->end = (int)(p - s->text) + 1;
    t->span = (int)s->tokens - s->super;
    if (t->span > 1)
        s->tok[s->last].type |= TCALL_LAST_;
    s->last = s->super;
    s->super = t->mark;
    t->mark = 0;
}

/* Report to the callback when the value at hand is wanted. */
static void tcall_scan_tell_(tcall_scan *s, uint8_t row, tcall_scan_event event,
                             const char *p, size_t n)
{
    int r;
    if (row >= TCALL_SCAN_ROOT_ || !s->paths[row].field || s->error)
        return;
    r = s->on(s->user, s->paths[row].field, event, tcall_slice_(p, n));
    if (r < 0)
        s->error = r;
}

/* The row below parent that the key or element matches. */
static inline uint8_t tcall_scan_match_(const tcall_scan *s, uint8_t parent,
                                        const char *key, size_t len)
{
    const tcall_path *row = s->paths;
    uint8_t below = 1;
    if (parent == TCALL_SCAN_NONE_)
        return TCALL_SCAN_NONE_;
    if (parent != TCALL_SCAN_ROOT_) {
        row += parent;
        below = (uint8_t)(row->depth + 1);
        row++;
    }
    for (; row->depth >= below; row++) {
        if (row->depth != below)
            continue;
        if (row->key[0] == key[0] && strncmp(row->key, key, len) == 0 &&
            row->key[len] == 0)
            return (uint8_t)(row - s->paths);
        if (row->how & TCALL_PATH_LAST)
            break;
    }
    return TCALL_SCAN_NONE_;
}

static inline void tcall_scan_value_end_(tcall_scan *s)
{
    s->state = s->depth ? TCALL_S_NEXT_ : TCALL_S_DONE_;
}

/* The row of the next element of the array that is open. */
static uint8_t tcall_scan_element_(tcall_scan *s)
{
    uint8_t row = TCALL_SCAN_NONE_, *index;
    if (s->at == TCALL_SCAN_NONE_)
        return row;
    index = &s->index[s->depth - 1];
    if (*index == 0)
        row = tcall_scan_match_(s, s->at, "0", 1);
    if (row == TCALL_SCAN_NONE_)
        row = tcall_scan_match_(s, s->at, "*", 1);
    *index = (uint8_t)(*index + (*index < 255));
    return row;
}

/* A value begins with c: find out whether it is wanted. */
static inline void tcall_scan_begin_(tcall_scan *s, const char *c)
{
    tcall_scan_token_(s, c, false);
    if (s->depth && !s->object)
        s->row = tcall_scan_element_(s);
    if (s->row != TCALL_SCAN_NONE_)
        tcall_scan_tell_(s, s->row, TCALL_SCAN_BEGIN, c, 1);
}

static int tcall_scan_open_(tcall_scan *s, const char *c, const char **raw)
{
    uint8_t row, bit = (uint8_t)(1u << (s->depth & 7));
    tcall_scan_begin_(s, c);
    tcall_scan_token_open_(s);
    s->object = *c == '{';
    row = s->row;
    if (s->depth >= TOOLCALL_MAX_DEPTH)
        return tcall_scan_fail_(s, TCALL_E_DEPTH);
    if (row < TCALL_SCAN_ROOT_) {
        if (s->paths[row].how & TCALL_PATH_RAW && !s->raw_depth) {
            s->raw_depth = (uint16_t)(s->depth + 1);
            *raw = c;
        }
        row = (uint8_t)(row + (s->paths[row].how & TCALL_PATH_SAME));
    }
    s->open[s->depth >> 3] &= (uint8_t)~bit;
    if (s->object)
        s->open[s->depth >> 3] |= bit;
    s->at = TCALL_SCAN_NONE_;
    if (s->depth < TCALL_SCAN_LEVELS_) {
        s->at = s->node[s->depth] = row;
        s->index[s->depth] = 0;
    }
    s->depth++;
    s->row = TCALL_SCAN_NONE_;
    s->state = s->object ? TCALL_S_FIRST_KEY_ : TCALL_S_FIRST_;
    return s->error;
}

static int tcall_scan_close_(tcall_scan *s, const char *c, const char **raw)
{
    uint8_t row = s->at;
    unsigned up;
    if (s->object != (*c == '}'))
        return tcall_scan_fail_(s, TCALL_E_BRACKETS);
    tcall_scan_token_close_(s, c);
    s->depth--;
    if (s->raw_depth == s->depth + 1) {
        tcall_scan_tell_(s, row, TCALL_SCAN_DATA, *raw, (size_t)(c + 1 - *raw));
        s->raw_depth = 0;
    }
    tcall_scan_tell_(s, row, TCALL_SCAN_END, c, 0);
    s->at = TCALL_SCAN_NONE_;
    s->state = TCALL_S_DONE_;
    if (s->depth) {
        up = s->depth - 1u;
        s->object = s->open[up >> 3] >> (up & 7) & 1;
        if (up < TCALL_SCAN_LEVELS_)
            s->at = s->node[up];
        s->state = TCALL_S_NEXT_;
    }
    return s->error;
}

static void tcall_scan_string_begin_(tcall_scan *s, const char *p, bool key)
{
    s->in_key = key;
    s->state = TCALL_S_STRING_;
    s->take = 0;
    if (key) {
        tcall_scan_token_(s, p, true);
        s->key_len = 0;
        if (s->at != TCALL_SCAN_NONE_)
            s->take = 1;
    } else if (s->row < TCALL_SCAN_ROOT_ && s->paths[s->row].field) {
        s->take = 2;
    }
}

/* The string ends; of a key that is wanted, its text. */
static void tcall_scan_string_end_(tcall_scan *s, const char *key, size_t len)
{
    if (!s->in_key) {
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, s->key, 0);
        tcall_scan_value_end_(s);
        return;
    }
    s->row = s->take == 1 && len ? tcall_scan_match_(s, s->at, key, len)
                                 : (uint8_t)TCALL_SCAN_NONE_;
    s->state = TCALL_S_COLON_;
}

/* Decoded bytes of a string. A key that is too long matches nothing. */
static void tcall_scan_bytes_(tcall_scan *s, const char *p, size_t n)
{
    if (n == 0)
        return;
    if (s->take == 2)
        tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, p, n);
    else if (s->take == 1 && n > (size_t)(TCALL_SCAN_KEY_ - s->key_len))
        s->take = 0;
    else if (s->take == 1) {
        memcpy(s->key + s->key_len, p, n);
        s->key_len = (uint8_t)(s->key_len + n);
    }
}

/* First or following byte of a multi-byte character. */
static bool tcall_scan_utf8_(tcall_scan *s, unsigned char c)
{
    if (s->utf_left) {
        if (c < s->utf_low || c > s->utf_high)
            return false;
        s->utf_left--;
        s->utf_low = 0x80;
        s->utf_high = 0xBF;
        return true;
    }
    if (c < 0xC2 || c > 0xF4)
        return false;
    s->utf_left = (uint8_t)(c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3);
    s->utf_low = (uint8_t)(c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80);
    s->utf_high = (uint8_t)(c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF);
    return true;
}

/* How many bytes from p on are plain ASCII string content: a word at a time,
 * no byte of which is a quote, a backslash, below 0x20 or above 0x7F. */
static inline const char *tcall_plain_(const char *p, const char *end)
{
    const size_t ones = (size_t)-1 / 255;
    while ((size_t)(end - p) >= sizeof(size_t)) {
        size_t w, q, b;
        memcpy(&w, p, sizeof w);
        q = w ^ ones * '"';
        b = w ^ ones * '\\';
        w = ((w - ones * 0x20) | (q - ones) | (b - ones) | w) & ones * 0x80;
#if defined(__LP64__) && defined(__BYTE_ORDER__) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        /* The lowest mark is exact, a borrow only marks bytes above it. */
        if (w)
            return p + (__builtin_ctzl(w) >> 3);
#else
        if (w)
            break;
#endif
        p += sizeof w;
    }
    while (p < end && (unsigned char)(*p - 0x20) < 0x60 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

/* The same, non-ASCII characters included; stops with an error at a byte that
 * may not stand in a string. */
static inline const char *tcall_scan_plain_(tcall_scan *s, const char *p,
                                            const char *end)
{
    for (;; p++) {
        unsigned char c;
        if (!s->utf_left)
            p = tcall_plain_(p, end);
        if (p == end || (*p == '"' && !s->utf_left))
            return p;
        c = (unsigned char)*p;
        if (c >= 0x80 ? !tcall_scan_utf8_(s, c) : s->utf_left != 0)
            s->error = TCALL_E_UTF8;
        else if (c < 0x20)
            s->error = c ? TCALL_E_BAD_VALUE : TCALL_E_NUL;
        if (c < 0x80 || s->error)
            return p;
    }
}

/* Runs through a string up to its end, a long escape or the end of the piece.
 * What has short escapes is collected: few events are cheaper than many. */
static const char *tcall_scan_string_(tcall_scan *s, const char *p,
                                      const char *end)
{
    char out[192], c;
    const char *from = p;
    size_t n = 0, run;
    for (;; p += 2, from = p) {
        p = s->utf_left ? p : tcall_plain_(p, end);
        if (p < end && (*p != '\\' || s->utf_left)) /* mostly an escape */
            p = tcall_scan_plain_(s, p, end);
        if (s->error)
            return p;
        if (end - p < 2 || *p != '\\')
            break;
        c = p[1] == '"' ? '"' : tcall_unescape_(p[1]);
        if (!c)
            break;
        run = (size_t)(p - from);
        if (n + run >= sizeof out) {
            tcall_scan_bytes_(s, out, n);
            n = 0;
        }
        if (run >= sizeof out) {
            tcall_scan_bytes_(s, from, run);
            run = 0;
        }
        if (run <= 8 && end - from >= 8 && n + 8 < sizeof out)
            memcpy(out + n, from, 8); /* of which run bytes count */
        else
            memcpy(out + n, from, run);
        n += run;
        out[n++] = c;
    }
    run = (size_t)(p - from);
    if (n && n + run <= sizeof out) {
        memcpy(out + n, from, run);
        n += run;
        run = 0;
    }
    tcall_scan_bytes_(s, out, n);
    if (p < end && *p == '"' && s->take == 1 && s->key_len == 0) {
        tcall_scan_token_end_(s, p, TCALL_ODD_);
        tcall_scan_string_end_(s, from, run); /* a key in one piece */
        return p + 1;
    }
    tcall_scan_bytes_(s, from, run);
    if (p == end)
        return p;
    if (*p == '"') {
        tcall_scan_token_end_(s, p, TCALL_ODD_);
        tcall_scan_string_end_(s, s->key, s->key_len);
    } else
        s->state = TCALL_S_ESCAPE_;
    return p + 1;
}

/* \uXXXX is complete: a character, or half of one. */
static int tcall_scan_unit_(tcall_scan *s)
{
    char out[4];
    uint32_t cp = s->hex;
    if (s->high) {
        if (cp < 0xDC00 || cp > 0xDFFF)
            return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
        cp = 0x10000 + ((uint32_t)(s->high - 0xD800) << 10) + (cp - 0xDC00);
        s->high = 0;
    } else if (cp >= 0xD800 && cp <= 0xDBFF) {
        s->high = s->hex;
        s->state = TCALL_S_LOW_;
        return TCALL_OK;
    } else if (cp >= 0xDC00 && cp <= 0xDFFF) {
        return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    }
    tcall_scan_bytes_(s, out, tcall_utf8_(out, cp));
    s->state = TCALL_S_STRING_;
    return s->error;
}

static int tcall_scan_escape_(tcall_scan *s, char c)
{
    char plain;
    int digit;
    if (s->state == TCALL_S_HEX_) {
        digit = tcall_hex_(c);
        if (digit < 0)
            return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
        s->hex = (uint16_t)(s->hex << 4 | digit);
        return --s->hex_left ? TCALL_OK : tcall_scan_unit_(s);
    }
    if (s->state == TCALL_S_LOW_) {
        s->state = TCALL_S_LOW_U_;
        return c == '\\' ? TCALL_OK : tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    }
    if (c == 'u') {
        s->state = TCALL_S_HEX_;
        s->hex = 0;
        s->hex_left = 4;
        return TCALL_OK;
    }
    plain = s->state == TCALL_S_ESCAPE_ ? tcall_unescape_(c) : (char)0;
    if (!plain)
        return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    s->state = TCALL_S_STRING_;
    tcall_scan_bytes_(s, &plain, 1);
    return s->error;
}

/* A value ends before p. A comma is taken along if it is there already. */
static inline const char *tcall_scan_next_(tcall_scan *s, const char *p,
                                           const char *end)
{
    tcall_scan_value_end_(s);
    if (p == end || *p != ',' || !s->depth || s->error)
        return p;
    s->state = s->object ? TCALL_S_KEY_ : TCALL_S_VALUE_;
    return p + 1;
}

/* Numbers and literals: as far as they go; from is where this piece begins. */
static inline const char *tcall_scan_word_(tcall_scan *s, const char *from,
                                           const char *p, const char *end)
{
    bool ends = false;
    if (s->state == TCALL_S_NUMBER_) {
        uint8_t state = s->number, next = state;
        while (p < end) {
            if (0x250 >> state & 1) /* digits go on with digits */
                while (p < end && tcall_is_digit_(*p))
                    p++;
            next = p < end ? tcall_number_next_(state, *p) : state;
            if (!next || p == end)
                break;
            state = next;
            p++;
        }
        s->number = state;
        ends = !next;
        if (ends && !tcall_number_ends_(state))
            s->error = TCALL_E_BAD_VALUE;
    } else {
        while (p < end && *s->lit && *p == *s->lit)
            p++, s->lit++;
        ends = !*s->lit;
        if (p < end && !ends)
            s->error = TCALL_E_BAD_VALUE;
    }
    if (s->error)
        return p;
    tcall_scan_token_end_(s, p,
                          s->number > 6 || p - from > 300 ? TCALL_ODD_ : 0);
    if (s->row != TCALL_SCAN_NONE_) {
        if (p > from)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, from,
                             (size_t)(p - from));
        if (ends)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_END, p, 0);
    }
    return ends ? tcall_scan_next_(s, p, end) : p;
}

/* A string in one piece without anything odd: the usual case, with no need to
 * remember anything. NULL: it is another. */
static inline const char *tcall_scan_short_(tcall_scan *s, const char *p,
                                            const char *end, bool key)
{
    const char *q = tcall_plain_(p + 1, end);
    size_t n = (size_t)(q - p) - 1;
    if (q == end || *q != '"')
        return NULL;
    if (key) {
        tcall_scan_token_(s, p, true);
        tcall_scan_token_end_(s, q, 0);
        s->state = TCALL_S_COLON_;
        s->row = s->at != TCALL_SCAN_NONE_ && n
                     ? tcall_scan_match_(s, s->at, p + 1, n)
                     : (uint8_t)TCALL_SCAN_NONE_;
        if (++q == end || *q != ':')
            return q;
        s->state = TCALL_S_VALUE_;
        return q + 1;
    }
    tcall_scan_begin_(s, p);
    tcall_scan_token_end_(s, q, 0);
    if (s->row != TCALL_SCAN_NONE_) {
        if (n)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, p + 1, n);
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, q, 0);
    }
    return tcall_scan_next_(s, q + 1, end);
}

/* A value begins at p, or a key; returns what is not consumed. */
static inline const char *tcall_scan_value_(tcall_scan *s, const char *p,
                                            const char *end, bool key)
{
    static const char literals[] = "true\0false\0null";
    const char *q = *p == '"' ? tcall_scan_short_(s, p, end, key) : NULL;
    if (q)
        return q;
    if (key) {
        tcall_scan_string_begin_(s, p, true);
        return p + 1;
    }
    tcall_scan_begin_(s, p);
    if (*p == '"') {
        tcall_scan_string_begin_(s, p, false);
        return p + 1;
    }
    s->state = TCALL_S_NUMBER_;
    s->number = *p == '-' ? 2 : *p == '0' ? 3 : 4;
    if (!tcall_is_digit_(*p) && *p != '-') {
        s->state = TCALL_S_LITERAL_;
        s->number = 0;
        s->lit = literals + (*p == 't' ? 0 : *p == 'f' ? 5 : 11);
        if (*p != *s->lit)
            s->error = *p ? TCALL_E_BAD_VALUE : TCALL_E_NUL;
    }
    return s->error ? p : tcall_scan_word_(s, p, p + (s->number != 0), end);
}

/* What stands outside of strings, numbers and literals. *raw: start of what
 * is still to be reported of a raw value. */
static inline const char *tcall_scan_marks_(tcall_scan *s, const char *p,
                                            const char *end, const char **raw)
{
    while (p < end && s->state < TCALL_S_LITERAL_ && !s->error) {
        char c = *p;
        bool scalar = false;
        int error = TCALL_OK;
        if ((unsigned char)c <= ' ' && tcall_is_space_(c)) {
            p++;
            continue;
        }
        switch (s->state) {
        case TCALL_S_FIRST_:
        case TCALL_S_VALUE_:
            if (c == '{' || c == '[')
                error = tcall_scan_open_(s, p, raw);
            else if (c == ']' && s->state == TCALL_S_FIRST_)
                error = tcall_scan_close_(s, p, raw);
            else
                scalar = true;
            break;
        case TCALL_S_FIRST_KEY_:
        case TCALL_S_KEY_:
            if (c == '"')
                scalar = true;
            else if (c == '}' && s->state == TCALL_S_FIRST_KEY_)
                error = tcall_scan_close_(s, p, raw);
            else
                error = TCALL_E_BAD_KEY;
            break;
        case TCALL_S_COLON_:
            s->state = TCALL_S_VALUE_;
            error = c == ':' ? TCALL_OK : TCALL_E_MISSING_COLON;
            break;
        case TCALL_S_NEXT_:
            if (c == ',')
                s->state = s->object ? TCALL_S_KEY_ : TCALL_S_VALUE_;
            else if (c == '}' || c == ']')
                error = tcall_scan_close_(s, p, raw);
            else
                error = TCALL_E_MISSING_COMMA;
            break;
        default: error = TCALL_E_TRAILING; break;
        }
        if (scalar) {
            p = tcall_scan_value_(s, p, end,
                                  s->state == TCALL_S_KEY_ ||
                                      s->state == TCALL_S_FIRST_KEY_);
        } else if (error) {
            s->error = error;
        } else {
            p++;
        }
    }
    return p;
}

int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len)
{
    const char *p = bytes, *end = len ? bytes + len : bytes, *raw = bytes;
    while (p < end && !s->error) {
        if (s->state < TCALL_S_LITERAL_)
            p = tcall_scan_marks_(s, p, end, &raw);
        else if (s->state == TCALL_S_STRING_)
            p = tcall_scan_string_(s, p, end);
        else if (s->state < TCALL_S_STRING_)
            p = tcall_scan_word_(s, p, p, end);
        else if (tcall_scan_escape_(s, *p) == TCALL_OK)
            p++;
    }
    s->pos += (size_t)(p - bytes);
    if (s->raw_depth && !s->error)
        tcall_scan_tell_(s, s->node[s->raw_depth - 1], TCALL_SCAN_DATA, raw,
                         (size_t)(end - raw));
    return s->error;
}

int tcall_scan_end(tcall_scan *s)
{
    if (s->error)
        return s->error;
    if (s->state == TCALL_S_NUMBER_ && s->depth == 0 &&
        tcall_number_ends_(s->number)) {
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, s->key, 0);
        s->state = TCALL_S_DONE_;
    }
    if (s->state != TCALL_S_DONE_)
        tcall_scan_fail_(s, TCALL_E_TRUNCATED);
    return s->error;
}

/* ==========================================================================
 * >>json
 *
 * The scanner makes the tokens while it recognises the text. What is left to
 * do goes over the tokens once: strings are decoded where they lie, scalars
 * get a NUL behind them, keys that stand twice are found.
 */

static tcall_json tcall_json_none_(void)
{
    tcall_json v;
    v.text = NULL;
    v.tok = NULL;
    return v;
}

static inline tcall_json tcall_json_cursor_(const char *text,
                                            const tcall_tok *tok)
{
    tcall_json v;
    v.text = text;
    v.tok = tok;
    return v;
}

tcall_type tcall_json_type(tcall_json v)
{
    return v.tok ? (tcall_type)(v.tok->type & TCALL_TYPE_) : TCALL_MISSING;
}

static inline tcall_str tcall_tok_str_(const char *text, const tcall_tok *tok)
{
    return tcall_slice_(text + tok->start, (size_t)(tok->end - tok->start));
}

/* Decodes the escapes of a string that the scanner accepted; new length. */
static size_t tcall_decode_(char *out, const char *p, const char *end)
{
    char *to = out;
    while (p < end) {
        uint32_t cp = 0;
        int units, i;
        if (*p != '\\') {
            const char *run = p;
            while (p < end && *p != '\\')
                p++;
            memmove(to, run, (size_t)(p - run));
            to += p - run;
            continue;
        }
        p += 2;
        if (p[-1] != 'u') {
            *to++ = tcall_unescape_(p[-1]);
            continue;
        }
        for (units = 0; units < 2; units++, p += 2) {
            uint32_t unit = 0;
            for (i = 0; i < 4; i++)
                unit = unit << 4 | (uint32_t)tcall_hex_(*p++);
            if (units == 1) {
                cp = 0x10000 + ((cp - 0xD800) << 10) + (unit - 0xDC00);
                break;
            }
            cp = unit;
            if (cp < 0xD800 || cp > 0xDBFF)
                break;
        }
        to += tcall_utf8_(to, cp);
    }
    return (size_t)(to - out);
}

/* Larger or smaller numbers would be infinity or 0 to most readers. */
static bool tcall_num_in_range_(tcall_str text)
{
    tcall_num_ n = tcall_num_read_(text);
    return n.zero || (n.top <= 308 && n.top >= -308);
}

static uint32_t tcall_hash_(tcall_str s)
{
    uint32_t h = 2166136261u;
    size_t i;
    for (i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.ptr[i]) * 16777619u;
    return h;
}

/* The marks of the object's own tokens serve as the hash table: there are at
 * least twice as many of them as keys. Too many collisions count as a
 * duplicate: they do not come by chance. */
static const tcall_tok *tcall_json_twice_(const char *text, tcall_tok *object)
{
    tcall_tok *slots = object + 1, *key, *twice = NULL;
    int room = object->span - 1, i, probes = 32;
    for (key = slots; key < slots + room && !twice; key += 1 + key[1].span) {
        tcall_str name = tcall_tok_str_(text, key);
        uint32_t at = tcall_hash_(name) % (uint32_t)room;
        probes += 8;
        while (slots[at].mark && !twice) {
            tcall_tok *other = &slots[slots[at].mark - 1];
            if (--probes < 0 || tcall_str_eq(name, tcall_tok_str_(text, other)))
                twice = key;
            at = at + 1 == (uint32_t)room ? 0 : at + 1;
        }
        slots[at].mark = (int)(key - slots) + 1;
    }
    for (i = 0; i < room; i++)
        slots[i].mark = 0;
    return twice;
}

/* The same for few keys: each is held against those before it, unless none of
 * them is alike at first sight. */
static const tcall_tok *tcall_json_twin_(const char *text,
                                         const tcall_tok *object)
{
    const tcall_tok *end = object + object->span, *key, *other;
    uint32_t seen = 0;
    for (key = object + 1; key < end; key += 1 + key[1].span) {
        int len = key->end - key->start;
        const char *name = text + key->start;
        unsigned look = (unsigned)(len + name[0] + (len ? name[len - 1] : 0));
        for (other = object + 1; seen >> (look & 31) & 1 && other < key;
             other += 1 + other[1].span)
            if (len == other->end - other->start &&
                memcmp(name, text + other->start, (size_t)len) == 0)
                return key;
        seen |= (uint32_t)1 << (look & 31);
    }
    return NULL;
}

/* A scalar or a key that is not as plain as most. */
static int tcall_json_odd_(char *text, tcall_tok *t, bool refuse_nul)
{
    char *p = text + t->start;
    size_t len = (size_t)(t->end - t->start);
    if ((t->type & TCALL_TYPE_) == TCALL_NUMBER)
        return tcall_num_in_range_(tcall_slice_(p, len)) ? TCALL_OK
                                                         : TCALL_E_RANGE;
    if (memchr(p, '\\', len))
        t->end = t->start + (int)tcall_decode_(p, p, p + len);
    len = (size_t)(t->end - t->start);
    return refuse_nul && memchr(p, 0, len) ? TCALL_E_NUL : TCALL_OK;
}

/* The second half of parsing, when the scanner has made the tokens; from the
 * end, so that what is within an object comes first. *at: where an error
 * stands. */
static int tcall_json_finish_(char *text, tcall_tok *tok, int count,
                              bool refuse_nul, size_t *at)
{
    const tcall_tok *twice = NULL;
    tcall_tok *t = tok + count;
    int r = TCALL_OK;
    while (t-- > tok) {
        int type = t->type & TCALL_TYPE_;
        if (type == TCALL_OBJECT && t->span > 3)
            twice = t->span > 32 ? tcall_json_twice_(text, t)
                                 : tcall_json_twin_(text, t);
        if (t->type & TCALL_ODD_)
            r = tcall_json_odd_(text, t, refuse_nul);
        if (twice || r < 0) {
            *at = (size_t)(twice ? twice : t)->start;
            return twice ? TCALL_E_DUPLICATE : r;
        }
        if (type < TCALL_ARRAY)
            text[t->end] = 0;
    }
    return TCALL_OK;
}

int tcall_json_parse(tcall_json *out, char *text, size_t len, tcall_tok *tok,
                     size_t cap, size_t *need)
{
    tcall_scan scan;
    size_t at;
    int r;
    *out = tcall_json_none_();
    tcall_scan_init(&scan, NULL, NULL, NULL);
    tcall_scan_tokens(&scan, text, tok, cap);
    tcall_scan_feed(&scan, text, len);
    r = tcall_scan_end(&scan);
    at = scan.pos;
    if (r == TCALL_OK && (scan.tokens > cap || len >= INT_MAX)) {
        r = TCALL_E_MEMORY;
        at = scan.tokens;
    }
    if (r == TCALL_OK)
        r = tcall_json_finish_(text, tok, (int)scan.tokens, false, &at);
    if (need)
        *need = at;
    if (r < 0)
        return r;
    *out = tcall_json_cursor_(text, tok);
    return (int)scan.tokens;
}

tcall_json tcall_json_first(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type < TCALL_ARRAY || v.tok->span == 1)
        return tcall_json_none_();
    return tcall_json_cursor_(v.text, v.tok + (type == TCALL_OBJECT ? 2 : 1));
}

tcall_json tcall_json_next(tcall_json v)
{
    if (!v.tok || v.tok->type & TCALL_LAST_)
        return tcall_json_none_();
    return tcall_json_cursor_(
        v.text, v.tok + v.tok->span + (v.tok->type & TCALL_MEMBER_ ? 1 : 0));
}

tcall_str tcall_json_key(tcall_json v)
{
    if (!v.tok || !(v.tok->type & TCALL_MEMBER_))
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok - 1);
}

static tcall_json tcall_json_find_(tcall_json object, tcall_str key)
{
    tcall_json v = tcall_json_first(object);
    if (tcall_json_type(object) != TCALL_OBJECT)
        return tcall_json_none_();
    while (v.tok && !tcall_str_eq(tcall_json_key(v), key))
        v = tcall_json_next(v);
    return v;
}

tcall_json tcall_json_get(tcall_json object, const char *key)
{
    return tcall_json_find_(object, tcall_str_of(key));
}

tcall_json tcall_json_at(tcall_json array, int index)
{
    tcall_json v = tcall_json_first(array);
    if (tcall_json_type(array) != TCALL_ARRAY || index < 0)
        return tcall_json_none_();
    while (v.tok && index-- > 0)
        v = tcall_json_next(v);
    return v;
}

int tcall_json_count(tcall_json v)
{
    tcall_json i;
    int n = 0;
    for (i = tcall_json_first(v); i.tok; i = tcall_json_next(i))
        n++;
    return n;
}

tcall_str tcall_json_str(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type == TCALL_MISSING || type > TCALL_STRING)
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok);
}

const char *tcall_json_string(tcall_json v, const char *fallback)
{
    return tcall_json_type(v) == TCALL_STRING ? v.text + v.tok->start
                                              : fallback;
}

bool tcall_json_bool(tcall_json v, bool fallback)
{
    if (tcall_json_type(v) != TCALL_BOOL)
        return fallback;
    return v.text[v.tok->start] == 't';
}

int64_t tcall_json_int64(tcall_json v, int64_t fallback)
{
    tcall_num_ n;
    int64_t out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!tcall_num_integral_(&n) || !tcall_num_int64_(&n, 0, &out))
        return fallback;
    return out;
}

int tcall_json_int(tcall_json v, int fallback)
{
    int64_t n = tcall_json_int64(v, fallback);
    return n < INT_MIN || n > INT_MAX ? fallback : (int)n;
}

long tcall_json_fixed(tcall_json v, int decimals, long fallback)
{
    tcall_num_ n;
    int64_t out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!tcall_num_int64_(&n, decimals, &out) || out < LONG_MIN ||
        out > LONG_MAX)
        return fallback;
    return (long)out;
}

/* The first 19 digits, scaled. Off by a few units in the last place. */
double tcall_json_double(tcall_json v, double fallback)
{
    tcall_num_ n;
    const char *p;
    double out = 0;
    int digits, scale;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (n.zero)
        return 0;
    p = n.first;
    for (digits = 0; digits < 19 && p <= n.last; digits++)
        out = out * 10 + tcall_num_digit_(&n, &p);
    for (scale = n.top - digits + 1; scale > 0; scale--)
        out *= 10;
    for (; scale < 0; scale++)
        out /= 10;
    return n.negative ? -out : out;
}

/* Tolerant reading. It has no grammar of its own: what it writes is fed to a
 * scanner, whose state says what must come next and which refuses what would
 * not be JSON. */

/* All in one string, as the errors are. */
static const char tcall_fixes_[] =
#define TCALL_X_(name, text) text "\0"
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
    ;

const char *tcall_fix_name(int i)
{
    const char *p = tcall_fixes_;
    if (i < 0 || i >= TCALL_FIX_COUNT)
        return NULL;
    while (i-- > 0)
        p += strlen(p) + 1;
    return p;
}

typedef struct tcall_mend_ {
    const char *start, *p, *end; /* the text, and how far it is read */
    int c;                       /* the byte at p, -1 at the end */
    bool inner; /* the content of a valid string is written, decoded */
    char *out;
    size_t cap, len;
    size_t at; /* of the error, else of the first fix */
    uint32_t fixes;
    int error;
    tcall_scan scan; /* of what is written */
} tcall_mend_;

/* Whether the scanner saw one whole object: the bit of the outermost level
 * stays when it is closed. */
static bool tcall_scan_is_object_(tcall_scan *s)
{
    return tcall_scan_end(s) == TCALL_OK && s->open[0] & 1;
}

#ifdef TOOLCALL_NO_MEND

/* What is wrong stays wrong. */
static void tcall_mend_run_(tcall_mend_ *m)
{
    (void)m;
}

#else

/* Errors and fixes stand where m->p is. */
static void tcall_mend_fail_(tcall_mend_ *m, int error)
{
    if (!m->error)
        m->at = (size_t)(m->p - m->start);
    if (!m->error)
        m->error = error;
}

static void tcall_mend_fix_(tcall_mend_ *m, uint32_t fix)
{
    if (!m->fixes && !m->error)
        m->at = (size_t)(m->p - m->start);
    m->fixes |= fix;
}

/* A piece of JSON text goes out, and through the scanner. Of the content of a
 * string it is not known beforehand that it is JSON: that is no error here. */
static void tcall_mend_put_(tcall_mend_ *m, const char *p, size_t n)
{
    size_t from = m->scan.pos;
    if (tcall_scan_feed(&m->scan, p, n) < 0 && !m->inner) {
        tcall_mend_fail_(m, m->scan.error);
        if (n > 1)
            m->at += m->scan.pos - from;
    }
    if (m->len + n <= m->cap)
        memcpy(m->out + m->len, p, n);
    m->len += n;
}

/* The next n bytes as they are. */
static void tcall_mend_copy_(tcall_mend_ *m, size_t n)
{
    tcall_mend_put_(m, m->p, n);
    m->p += n;
}

static bool tcall_mend_at_(const tcall_mend_ *m, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(m->end - m->p) >= n && memcmp(m->p, text, n) == 0;
}

/* Steps over the first word of list that stands here, which is the fix named;
 * its index, or -1. Every word of the list ends with NUL, the list with one
 * more. */
static int tcall_mend_skip_(tcall_mend_ *m, const char *list, uint32_t fix)
{
    int i;
    for (i = 0; *list; i++, list += strlen(list) + 1) {
        if (tcall_mend_at_(m, list)) {
            tcall_mend_fix_(m, fix);
            m->p += strlen(list);
            return i;
        }
    }
    return -1;
}

/* Behind the start of a comment: up to its end. */
static void tcall_mend_comment_(tcall_mend_ *m, const char *end)
{
    while (m->p < m->end && !tcall_mend_at_(m, end))
        m->p++;
    if (*end == '*' && tcall_mend_skip_(m, end, 0) < 0)
        tcall_mend_fail_(m, TCALL_E_TRUNCATED);
}

/* Skips white space and comments. m->c becomes the byte that follows, or -1 at
 * the end. */
static void tcall_mend_blank_(tcall_mend_ *m)
{
    /* byte order mark, no-break, quads to hair space, line and paragraph
     * separator, narrow no-break, mathematical, ideographic */
    static const char spaces[] =
        "\xEF\xBB\xBF\0\xC2\xA0\0\xE2\x80\x80\0\xE2\x80\x81\0\xE2\x80\x82\0"
        "\xE2\x80\x83\0\xE2\x80\x84\0\xE2\x80\x85\0\xE2\x80\x86\0\xE2\x80\x87\0"
        "\xE2\x80\x88\0\xE2\x80\x89\0\xE2\x80\x8A\0\xE2\x80\xA8\0\xE2\x80\xA9\0"
        "\xE2\x80\xAF\0\xE2\x81\x9F\0\xE3\x80\x80\0";
    for (;;) {
        m->c = m->p == m->end ? -1 : (unsigned char)*m->p;
        if (m->c >= 0 && tcall_is_space_((char)m->c))
            m->p++;
        else if (tcall_mend_skip_(m, "#\0//\0", TCALL_FIX_COMMENT) >= 0)
            tcall_mend_comment_(m, "\n\0");
        else if (tcall_mend_skip_(m, "/*\0", TCALL_FIX_COMMENT) >= 0)
            tcall_mend_comment_(m, "*/\0");
        else if (m->c < 0x80 ||
                 tcall_mend_skip_(m, spaces, TCALL_FIX_SPACE) < 0)
            return;
    }
}

/* Whether one of the characters in set follows, or the end. */
static bool tcall_mend_ends_(const tcall_mend_ *m, const char *set)
{
    return m->c < 0 || (m->c && strchr(set, m->c));
}

/* The quote that closes the one that follows; NULL: there is none. */
static const char *tcall_mend_quote_(const tcall_mend_ *m)
{
    if (m->c == '"')
        return "\"\0";
    if (m->c == '\'')
        return "'\0";
    if (tcall_mend_at_(m, "\xE2\x80\x9C"))
        return "\xE2\x80\x9D\0";
    return tcall_mend_at_(m, "\xE2\x80\x98") ? "\xE2\x80\x99\0" : NULL;
}

/* A byte that JSON wants escaped and that came without. */
static void tcall_mend_escape_(tcall_mend_ *m)
{
    char out[6] = {'\\', 'u', '0', '0', '0', '0'}, c = *m->p;
    if (c != '"')
        tcall_mend_fix_(m, TCALL_FIX_CONTROL);
    if (!c)
        tcall_mend_fail_(m, TCALL_E_NUL);
    out[4] = (char)('0' + (c >> 4));
    out[5] = "0123456789ABCDEF"[c & 15];
    if (m->inner)
        tcall_mend_put_(m, &c, 1);
    else
        tcall_mend_put_(m, out, 6);
    m->p++;
}

/* A valid escape, decoded; two of them where they are surrogates. */
static void tcall_mend_decode_(tcall_mend_ *m)
{
    const char *p = m->p;
    char out[4];
    m->p += p[1] == 'u' ? 6 : 2;
    if (p[1] == 'u' && (p[2] | 0x20) == 'd' && tcall_hex_(p[3]) >= 8)
        m->p += 6;
    tcall_mend_put_(m, out, tcall_decode_(out, p, m->p));
}

/* The content of a string up to its closing quote or the end. */
static void tcall_mend_content_(tcall_mend_ *m, const char *quote)
{
    while (m->p < m->end && !m->error && !tcall_mend_at_(m, quote)) {
        if (tcall_mend_at_(m, "\\'")) {
            tcall_mend_fix_(m, TCALL_FIX_APOSTROPHE);
            m->p++;
            tcall_mend_copy_(m, 1);
        } else if (*m->p == '"' || (unsigned char)*m->p < 0x20) {
            tcall_mend_escape_(m);
        } else if (m->inner && *m->p == '\\') {
            tcall_mend_decode_(m);
        } else {
            /* one byte or an escape, then all that is plain */
            const char *run = m->p;
            run += *run == '\\' && run + 1 < m->end ? 2 : 1;
            while (run < m->end && *run != *quote && *run != '"' &&
                   *run != '\\' && (unsigned char)*run >= 0x20)
                run++;
            tcall_mend_copy_(m, (size_t)(run - m->p));
        }
    }
}

/* A whole string, and what follows it: only a comma, a colon, a bracket or the
 * end can. Anything else means that the quote did not close it. */
static void tcall_mend_string_(tcall_mend_ *m, const char *quote)
{
    const char *closed;
    if (*quote == '\'')
        tcall_mend_fix_(m, TCALL_FIX_SINGLE_QUOTE);
    else if (*quote != '"')
        tcall_mend_fix_(m, TCALL_FIX_SMART_QUOTE);
    if (!m->inner)
        tcall_mend_put_(m, "\"", 1);
    m->p += strlen(quote);
    tcall_mend_content_(m, quote);
    closed = m->p;
    if (tcall_mend_skip_(m, quote, 0) < 0)
        tcall_mend_fail_(m, TCALL_E_TRUNCATED);
    if (!m->inner)
        tcall_mend_put_(m, "\"", 1);
    tcall_mend_blank_(m);
    if (!tcall_mend_ends_(m, ",:]}") &&
        !(m->scan.depth == 0 && tcall_mend_at_(m, "```"))) {
        m->p = closed;
        tcall_mend_fail_(m, TCALL_E_UNESCAPED_QUOTE);
    }
}

/* The byte n behind, 0 beyond the end. */
static char tcall_mend_ahead_(const tcall_mend_ *m, size_t n)
{
    return (size_t)(m->end - m->p) > n ? m->p[n] : (char)0;
}

/* A number, in JSON's form or as +5, .5 or 5. would have it. */
static void tcall_mend_number_(tcall_mend_ *m)
{
    const char *from = m->p, *to;
    uint8_t state = 1, next;
    if (tcall_mend_skip_(m, "+\0", TCALL_FIX_NUMBER) == 0)
        state = 2;
    for (;;) {
        char c = tcall_mend_ahead_(m, 0);
        /* digits are missing before the point or behind it */
        bool before = c == '.' && state < 3;
        if (before ? tcall_is_digit_(tcall_mend_ahead_(m, 1))
                   : state == 5 && !tcall_is_digit_(c)) {
            tcall_mend_fix_(m, TCALL_FIX_NUMBER);
            tcall_mend_put_(m, "0", 1);
            state = before ? 3 : 6;
        }
        next = tcall_number_next_(state, c);
        if (!next)
            break;
        tcall_mend_copy_(m, 1);
        state = next;
    }
    to = m->p;
    if (tcall_number_ends_(state)) {
        tcall_scan_feed(&m->scan, " ", 1);
        tcall_mend_blank_(m);
        if (m->p > to || tcall_mend_ends_(m, ",:]}/"))
            return;
    }
    m->p = from;
    tcall_mend_fail_(m, TCALL_E_BAD_VALUE);
}

static bool tcall_mend_alpha_(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Whether a word can begin or go on here. Beyond ASCII most characters are
 * letters; those below are signs, by their first bytes. */
static bool tcall_mend_letter_(const tcall_mend_ *m)
{
    char c = tcall_mend_ahead_(m, 0), d = tcall_mend_ahead_(m, 1);
    unsigned lead = (unsigned)(unsigned char)c << 8 | (unsigned char)d;
    if (lead < 0x8000)
        return tcall_mend_alpha_(c) || tcall_is_digit_(c);
    return lead >= 0xC300 && lead < 0xEF00 && lead >> 8 != 0xE2 &&
           lead != 0xE380 && lead != 0xE1A0;
}

/* true, false, null and what Python makes of them. null for all arguments
 * means that there are none. */
static void tcall_mend_literal_(tcall_mend_ *m)
{
    static const char words[3][6] = {"true", "false", "null"};
    const char *from = m->p, *word = "{}";
    int i = tcall_mend_skip_(m, "true\0false\0null\0", 0);
    if (i < 0)
        i = tcall_mend_skip_(m, "True\0False\0None\0", TCALL_FIX_PYTHON);
    if (i < 0 || tcall_mend_letter_(m)) {
        m->p = from;
        tcall_mend_fail_(m, TCALL_E_BARE_WORD);
        return;
    }
    if (i == 2 && m->scan.depth == 0)
        tcall_mend_fix_(m, TCALL_FIX_NULL);
    else
        word = words[i];
    tcall_mend_put_(m, word, strlen(word));
    tcall_scan_feed(&m->scan, " ", 1);
}

/* A key without quotes. */
static void tcall_mend_key_(tcall_mend_ *m)
{
    size_t n = 1;
    char c;
    while (c = tcall_mend_ahead_(m, n),
           tcall_mend_alpha_(c) || tcall_is_digit_(c) || c == '$')
        n++;
    tcall_mend_fix_(m, TCALL_FIX_UNQUOTED_KEY);
    tcall_mend_put_(m, "\"", 1);
    tcall_mend_copy_(m, n);
    tcall_mend_put_(m, "\"", 1);
}

/* A comma is written only when it is known that no bracket follows it. */
static void tcall_mend_comma_(tcall_mend_ *m)
{
    m->p++;
    tcall_mend_blank_(m);
    if (m->c == (m->scan.object ? '}' : ']'))
        tcall_mend_fix_(m, TCALL_FIX_TRAILING_COMMA);
    else
        tcall_mend_put_(m, ",", 1);
}

/* One piece. What needs no mending is left to the scanner, right or wrong. */
static void tcall_mend_step_(tcall_mend_ *m)
{
    uint8_t state = m->scan.state;
    bool value = state == TCALL_S_VALUE_ || state == TCALL_S_FIRST_;
    bool key = state == TCALL_S_KEY_ || state == TCALL_S_FIRST_KEY_;
    const char *quote = tcall_mend_quote_(m);
    if (m->c < 0)
        tcall_mend_fail_(m, TCALL_E_TRUNCATED);
    else if (quote)
        tcall_mend_string_(m, quote);
    else if (value && !m->c)
        tcall_mend_fail_(m, TCALL_E_BAD_VALUE);
    else if (value && strchr("+-.0123456789", m->c))
        tcall_mend_number_(m);
    else if (value && tcall_mend_letter_(m))
        tcall_mend_literal_(m);
    else if (key && (m->c == '$' || tcall_mend_alpha_((char)m->c)))
        tcall_mend_key_(m);
    else if (state == TCALL_S_NEXT_ && m->c == ',')
        tcall_mend_comma_(m);
    else
        tcall_mend_copy_(m, 1);
}

/* Steps over a tag that a chat template put around the call. */
static bool tcall_mend_tag_(tcall_mend_ *m)
{
    static const char tags[] = "<tool_call>\0</tool_call>\0<function_call>\0"
                               "</function_call>\0<s>\0</s>\0";
    size_t n = 2;
    if (tcall_mend_at_(m, "<|")) {
        while (tcall_mend_alpha_(tcall_mend_ahead_(m, n)))
            n++;
        if (n > 2 && tcall_mend_ahead_(m, n) == '|' &&
            tcall_mend_ahead_(m, n + 1) == '>') {
            tcall_mend_fix_(m, TCALL_FIX_TAG);
            m->p += n + 2;
            return true;
        }
    }
    return tcall_mend_skip_(m, tags, TCALL_FIX_TAG) >= 0;
}

static bool tcall_mend_fence_(tcall_mend_ *m)
{
    return tcall_mend_skip_(m, "```\0", TCALL_FIX_FENCE) == 0;
}

/* What may stand before the root: tags, and one fence with its language. */
static void tcall_mend_lead_(tcall_mend_ *m)
{
    do {
        tcall_mend_blank_(m);
        if (!(m->fixes & TCALL_FIX_FENCE) && tcall_mend_fence_(m)) {
            while (tcall_mend_letter_(m))
                m->p++;
            tcall_mend_blank_(m);
        }
    } while (tcall_mend_tag_(m));
}

/* What may stand behind the root: the root itself, once more and the same,
 * and what closes nothing. */
static void tcall_mend_tail_(tcall_mend_ *m, tcall_str root)
{
    bool apart = false;
    for (;;) {
        tcall_mend_blank_(m);
        if (m->c < 0)
            return;
        if (!apart && m->c == '{' && (size_t)(m->end - m->p) >= root.len &&
            memcmp(m->p, root.ptr, root.len) == 0) {
            tcall_mend_fix_(m, TCALL_FIX_REPEATED);
            m->p += root.len;
        } else if (tcall_mend_ends_(m, "]},")) {
            tcall_mend_fix_(m, m->c == ',' ? TCALL_FIX_PUNCTUATION
                                           : TCALL_FIX_EXTRA_CLOSER);
            m->p++;
            apart = true;
        } else if (tcall_mend_tag_(m)) {
            apart = true;
        } else if (!tcall_mend_fence_(m)) {
            break;
        }
    }
    tcall_mend_fail_(m, !apart && (tcall_mend_ends_(m, "{[-0123456789") ||
                                   tcall_mend_quote_(m))
                            ? TCALL_E_MULTIPLE
                            : TCALL_E_TRAILING);
}

/* Begins to write once more, from a place in the text on. */
static void tcall_mend_again_(tcall_mend_ *m, const char *from)
{
    m->p = from;
    m->len = 0;
    m->error = TCALL_OK;
    tcall_scan_init(&m->scan, NULL, NULL, NULL);
}

/* {\"a\":1}, an object with every quote escaped, as if it stood inside a
 * string: taken only if it is one as a whole, else the error stays. */
static void tcall_mend_escaped_(tcall_mend_ *m, const char *from)
{
    int error = m->error;
    size_t at = m->at;
    tcall_mend_again_(m, from);
    tcall_mend_put_(m, "\"", 1);
    tcall_mend_content_(m, "\"");
    tcall_mend_put_(m, "\"", 1);
    if (!m->error && m->p == m->end && tcall_scan_done(&m->scan)) {
        m->inner = true;
        tcall_mend_again_(m, from);
        tcall_mend_content_(m, "\"");
        m->p = from;
        if (tcall_scan_is_object_(&m->scan)) {
            tcall_mend_fix_(m, TCALL_FIX_ESCAPED_OBJECT);
            return;
        }
    }
    m->error = error;
    m->at = at;
}

/* Reads one value between what may stand around it. */
static void tcall_mend_root_(tcall_mend_ *m)
{
    const char *from = m->p, *to, *quote = tcall_mend_quote_(m);
    do {
        tcall_mend_blank_(m);
        tcall_mend_step_(m);
        to = m->p;
    } while (!m->error && !tcall_scan_done(&m->scan));
    if (m->error == TCALL_E_BAD_KEY && m->scan.tokens == 1 &&
        m->start[m->at] == '\\') {
        tcall_mend_escaped_(m, from);
        return;
    }
    if (!m->error)
        tcall_mend_tail_(m, tcall_slice_(from, (size_t)(to - from)));
    if (!m->error && quote) {
        m->inner = true;
        tcall_mend_again_(m, from);
        tcall_mend_string_(m, quote);
    }
    m->p = from;
    if (!m->error && !tcall_scan_is_object_(&m->scan))
        tcall_mend_fail_(m, TCALL_E_NOT_OBJECT);
    else if (m->inner)
        tcall_mend_fix_(m, TCALL_FIX_DOUBLE_ENCODED);
}

/* Reads the text: m->error, or an object of m->len bytes is written. */
static void tcall_mend_run_(tcall_mend_ *m)
{
    m->at = 0;
    m->fixes = 0;
    m->inner = false;
    tcall_mend_again_(m, m->start);
    tcall_mend_lead_(m);
    if (m->c >= 0 || m->fixes & (TCALL_FIX_TAG | TCALL_FIX_FENCE)) {
        tcall_mend_root_(m);
    } else {
        tcall_mend_fix_(m, TCALL_FIX_EMPTY);
        tcall_mend_put_(m, "{}", 2);
    }
}

#endif /* TOOLCALL_NO_MEND */

static void tcall_mend_open_(tcall_mend_ *m, tcall_str text)
{
    m->start = text.ptr ? text.ptr : "";
    m->end = m->start + text.len;
    m->out = NULL;
    m->cap = 0;
}

#ifndef TOOLCALL_NO_MEND
int tcall_args_mend(tcall_str text, char *out, size_t cap, tcall_mend *report)
{
    tcall_mend_ m;
    tcall_mend_open_(&m, text);
    m.out = out;
    m.cap = cap;
    tcall_mend_run_(&m);
    report->fixes = m.fixes;
    report->at = m.at;
    report->need = m.len;
    report->tokens = m.scan.tokens;
    if (m.error)
        return m.error;
    if (m.len > INT_MAX)
        return TCALL_E_LIMIT;
    return out && m.len > cap ? TCALL_E_MEMORY : (int)m.len;
}
#endif

/* Strictly first: m->len bytes of JSON, m->scan.tokens tokens, of which those
 * that fit are made if the text needs no mending. */
static int tcall_args_measure_(tcall_mend_ *m, bool strict, tcall_tok *tok,
                               size_t cap)
{
    int error;
    size_t at;
    m->len = (size_t)(m->end - m->start);
    m->fixes = 0;
    m->at = 0;
    tcall_scan_init(&m->scan, NULL, NULL, NULL);
    tcall_scan_tokens(&m->scan, m->start, tok, cap);
    tcall_scan_feed(&m->scan, m->start, m->len);
    if (tcall_scan_is_object_(&m->scan))
        return TCALL_OK;
    error = m->scan.error ? m->scan.error : TCALL_E_NOT_OBJECT;
    at = m->scan.error ? m->scan.pos : 0;
    m->error = error;
    m->at = at;
    tcall_mend_run_(m);
    if (!strict || m->error)
        return m->error;
    m->at = at;
    return error;
}

int tcall_args_read(tcall_args *out, tcall_str text, bool strict, void *mem,
                    size_t size)
{
    tcall_mend_ m;
    size_t pad = (size_t)(0 - (uintptr_t)mem) % sizeof(int);
    size_t cap = mem && size > pad ? (size - pad) / sizeof(tcall_tok) : 0;
    size_t count;
    tcall_tok *tok = mem ? (tcall_tok *)(void *)((char *)mem + pad) : NULL;
    int r;
    memset(out, 0, sizeof *out);
    tcall_mend_open_(&m, text);
    r = tcall_args_measure_(&m, strict, tok, cap);
    count = m.scan.tokens;
    if (r == TCALL_OK && (m.len >= INT_MAX || count > INT_MAX / sizeof *tok))
        r = TCALL_E_LIMIT;
    if (r == TCALL_OK) {
        out->fixes = m.fixes;
        out->used = pad + count * sizeof *tok + m.len + 1;
        r = out->used > size ? TCALL_E_MEMORY : TCALL_OK;
    }
    if (r == TCALL_OK) {
        m.out = (char *)(tok + count);
        m.cap = m.len;
        if (m.fixes) {
            tcall_mend_run_(&m);
            tcall_scan_init(&m.scan, NULL, NULL, NULL);
            tcall_scan_tokens(&m.scan, m.out, tok, count);
            tcall_scan_feed(&m.scan, m.out, m.len);
        } else {
            memcpy(m.out, m.start, m.len);
        }
        r = tcall_json_finish_(m.out, tok, (int)count, true, &m.at);
        out->root = tcall_json_cursor_(m.out, tok);
    }
    out->at = m.at;
    if (r < 0)
        out->root = tcall_json_none_();
    return r < 0 ? r : (int)count;
}

/* Arguments as a C struct. The functions that store a value are named by the
 * table only, so what no table uses is not linked. */

int tcall_field_string(void *out, tcall_json v, const tcall_field *f)
{
    tcall_str s = tcall_json_str(v);
    (void)f;
    if (s.len && memchr(s.ptr, 0, s.len))
        return TCALL_E_NUL;
    *(const char **)out = s.ptr;
    return TCALL_OK;
}

/* min <= value * 10^decimals <= max. whole: no fraction, 5.0 has none. */
static int tcall_field_long_(int64_t *out, tcall_json v, int decimals,
                             bool whole)
{
    tcall_num_ n = tcall_num_read_(tcall_json_str(v));
    if (whole && !tcall_num_integral_(&n))
        return TCALL_E_INVALID;
    return tcall_num_int64_(&n, decimals, out) ? TCALL_OK : TCALL_E_RANGE;
}

int tcall_field_int64(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    return tcall_field_long_((int64_t *)out, v, 0, true);
}

int tcall_field_integer(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, 0, true);
    (void)f;
    if (n < INT_MIN || n > INT_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(int *)out = (int)n;
    return r;
}

int tcall_field_fixed(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, f->decimals, false);
    if (n < LONG_MIN || n > LONG_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(long *)out = (long)n;
    return r;
}

int tcall_field_number(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(double *)out = tcall_json_double(v, 0);
    return TCALL_OK;
}

int tcall_field_boolean(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(bool *)out = tcall_json_bool(v, false);
    return TCALL_OK;
}

int tcall_field_choice(void *out, tcall_json v, const tcall_field *f)
{
    const char *p = (const char *)f->more;
    tcall_str s = tcall_json_str(v);
    int i;
    for (i = 0; (p = strchr(p, '"')) != NULL; i++) {
        const char *name = p + 1;
        p = strchr(name, '"');
        if (!p)
            break;
        if (tcall_str_eq(s, tcall_slice_(name, (size_t)(p - name)))) {
            *(int *)out = i;
            return TCALL_OK;
        }
        p++;
    }
    return TCALL_E_INVALID;
}

int tcall_field_json(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(tcall_json *)out = v;
    return TCALL_OK;
}

typedef struct tcall_bind_ {
    char *path; /* grows at its front, from the value up to the root */
    size_t cap, len;
} tcall_bind_;

static void tcall_bind_put_(tcall_bind_ *b, char c)
{
    if (b->len + 1 >= b->cap) {
        if (b->len == 0)
            return;
        b->len--; /* the tail goes, the root stays */
    }
    memmove(b->path + 1, b->path, b->len);
    b->path[0] = c;
    b->path[++b->len] = 0;
}

/* One step of the path, from its last character to its first. */
static void tcall_bind_name_(tcall_bind_ *b, const char *name)
{
    size_t i = strlen(name);
    while (i-- > 0) {
        char c = name[i];
        if (c == '~' || c == '/') {
            tcall_bind_put_(b, c == '~' ? '0' : '1');
            c = '~';
        }
        tcall_bind_put_(b, c);
    }
    tcall_bind_put_(b, '/');
}

static void tcall_bind_index_(tcall_bind_ *b, int i)
{
    do {
        tcall_bind_put_(b, (char)('0' + i % 10));
        i /= 10;
    } while (i);
    tcall_bind_put_(b, '/');
}

/* The default: text as if the model had sent it. */
static int tcall_bind_text_(char *at, const tcall_field *f)
{
    tcall_tok tok;
    memset(&tok, 0, sizeof tok);
    tok.type = f->type;
    tok.end = (int)strlen(f->text);
    tok.span = 1;
    return f->read(at, tcall_json_cursor_(f->text, &tok), f);
}

/* Objects within objects recurse, TCALL_BIND_DEPTH times at most. */
static int tcall_bind_object_(tcall_bind_ *b, char *out, tcall_json object,
                              const tcall_field *f, int depth)
{
    int r = TCALL_OK;
    for (; f->name && r == TCALL_OK; f++) {
        tcall_json v = tcall_json_get(object, f->name), item = v;
        tcall_type type = tcall_json_type(v);
        char *at = out + f->offset;
        int i = 0, end = f->capacity ? f->capacity : 1;
        memset(at, 0, (size_t)f->size * (size_t)end);
        if (f->capacity) {
            item = tcall_json_first(v);
            memset(out + f->count_at, 0, sizeof(int));
        }
        if (type == TCALL_MISSING || (type == TCALL_NULL && f->type)) {
            if (f->required)
                r = TCALL_E_INVALID;
            else if (f->text)
                r = tcall_bind_text_(at, f);
            item.tok = NULL;
        } else if (f->capacity && type != TCALL_ARRAY) {
            r = TCALL_E_INVALID;
        }
        for (; item.tok && r == TCALL_OK; i++, at += f->size) {
            if (i == end)
                r = TCALL_E_RANGE;
            else if (f->type && tcall_json_type(item) != (tcall_type)f->type)
                r = TCALL_E_INVALID;
            else if (f->read)
                r = f->read(at, item, f);
            else if (depth == TCALL_BIND_DEPTH)
                r = TCALL_E_DEPTH;
            else
                r = tcall_bind_object_(b, at, item,
                                       (const tcall_field *)f->more, depth + 1);
            if (r < 0 && f->capacity)
                tcall_bind_index_(b, i);
            item = f->capacity ? tcall_json_next(item) : tcall_json_none_();
        }
        if (f->capacity && r == TCALL_OK)
            memcpy(out + f->count_at, &i, sizeof i);
        if (r < 0)
            tcall_bind_name_(b, f->name);
    }
    return r;
}

int tcall_bind(void *out, tcall_json args, const tcall_field *fields,
               char *path, size_t cap)
{
    tcall_bind_ b;
    b.path = path;
    b.cap = path ? cap : 0;
    b.len = 0;
    if (b.cap)
        *path = 0;
    if (tcall_json_type(args) != TCALL_OBJECT)
        return TCALL_E_INVALID;
    return tcall_bind_object_(&b, (char *)out, args, fields, 1);
}
/* ==========================================================================
 * >>write
 */

void tcall_writer_init(tcall_writer *w, char *buf, size_t cap)
{
    memset(w, 0, sizeof *w);
    w->buf = buf;
    w->cap = cap;
}

void tcall_writer_sink(tcall_writer *w, tcall_sink sink, void *user)
{
    w->sink = sink;
    w->user = user;
}

static void tcall_writer_fail_(tcall_writer *w, int error)
{
    if (!w->error)
        w->error = error;
}

int tcall_writer_flush(tcall_writer *w)
{
    size_t sent = 0;
    while (w->sink && sent < w->fill && !w->error) {
        int n = w->sink(w->user, w->buf + sent, w->fill - sent);
        if (n > 0)
            sent += (size_t)n;
        else
            tcall_writer_fail_(w, n < 0 ? n : TCALL_E_AGAIN);
    }
    if (sent)
        memmove(w->buf, w->buf + sent, w->fill -= sent);
    return w->error;
}

/* The one place where bytes leave. */
static void tcall_write_out_(tcall_writer *w, const char *p, size_t n)
{
    size_t skip = w->skip > w->len ? w->skip - w->len : 0;
    w->len += n;
    if (skip >= n)
        return;
    p += skip;
    n -= skip;
    while (n && !w->error) {
        size_t room = w->cap - w->fill;
        room = room < n ? room : n;
        if (room)
            memcpy(w->buf + w->fill, p, room);
        w->fill += room;
        p += room;
        n -= room;
        if (n && !w->sink && w->buf)
            tcall_writer_fail_(w, TCALL_E_MEMORY);
        else if (n && w->sink)
            tcall_writer_flush(w);
        else
            break;
    }
}

/* Bytes of the UTF-8 character at p, 0 when it is none. */
static size_t tcall_utf8_len_(const char *p, const char *end)
{
    tcall_scan s;
    size_t n = 0;
    s.utf_left = 0;
    do {
        if (p + n == end || !tcall_scan_utf8_(&s, (unsigned char)p[n]))
            return 0;
        n++;
    } while (s.utf_left);
    return n;
}

/* As the content of a JSON string; what is not UTF-8 becomes U+FFFD. */
static void tcall_write_escaped_(tcall_writer *w, const char *p, size_t n)
{
    const char *end = n ? p + n : p;
    while (p < end) {
        static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
        const char *run = p, *at;
        char out[6] = {'\\', 'u', '0', '0', '0', '0'};
        for (;;) {
            size_t wide;
            p = tcall_plain_(p, end);
            wide = p < end && *p & 0x80 ? tcall_utf8_len_(p, end) : 0;
            if (!wide)
                break;
            p += wide;
        }
        tcall_write_out_(w, run, (size_t)(p - run));
        if (p == end)
            break;
        at = *p ? strchr(from, *p) : NULL;
        if (*p & 0x80) {
            memcpy(out + 2, "fffd", 4);
        } else if (at) {
            out[1] = to[at - from];
        } else {
            out[4] = (char)('0' + (*p >> 4));
            out[5] = "0123456789abcdef"[*p & 15];
        }
        tcall_write_out_(w, out, at ? 2 : 6);
        p++;
    }
}

int tcall_write_bytes(tcall_writer *w, const char *bytes, size_t len)
{
    if (len) {
        w->last = bytes[len - 1];
        if (w->quoted)
            tcall_write_escaped_(w, bytes, len);
        else
            tcall_write_out_(w, bytes, len);
    }
    return w->error;
}

int tcall_write_text(tcall_writer *w, const char *text)
{
    return tcall_write_bytes(w, text, strlen(text));
}

/* A value begins: a comma stands before it unless it is the first. */
static void tcall_write_comma_(tcall_writer *w)
{
    if (w->depth && w->last && w->last != '{' && w->last != '[' &&
        w->last != ':')
        tcall_write_bytes(w, ",", 1);
}

int tcall_write_open(tcall_writer *w, char bracket)
{
    tcall_write_comma_(w);
    w->depth++;
    return tcall_write_bytes(w, &bracket, 1);
}

int tcall_write_close(tcall_writer *w, char bracket)
{
    w->depth--;
    return tcall_write_bytes(w, &bracket, 1);
}

/* Inside quoted output the string's own escapes are escaped once more. */
static void tcall_write_content_(tcall_writer *w, tcall_str text)
{
    char piece[32];
    size_t i;
    if (!w->quoted) {
        tcall_write_escaped_(w, text.ptr, text.len);
        return;
    }
    for (i = 0; i < text.len; i++) {
        tcall_writer inner;
        tcall_writer_init(&inner, piece, sizeof piece);
        tcall_write_escaped_(&inner, text.ptr + i, 1);
        tcall_write_bytes(w, piece, inner.fill);
    }
}

int tcall_write_str(tcall_writer *w, tcall_str text)
{
    tcall_write_comma_(w);
    tcall_write_bytes(w, "\"", 1);
    tcall_write_content_(w, text);
    return tcall_write_bytes(w, "\"", 1);
}

int tcall_write_string(tcall_writer *w, const char *text)
{
    return tcall_write_str(w, tcall_str_of(text));
}

int tcall_write_key(tcall_writer *w, const char *key)
{
    tcall_write_string(w, key);
    return tcall_write_bytes(w, ":", 1);
}

int tcall_write_verbatim(tcall_writer *w, tcall_str json)
{
    tcall_write_comma_(w);
    return tcall_write_bytes(w, json.ptr, json.len);
}

int tcall_write_fixed(tcall_writer *w, long value, int decimals)
{
    char out[32], *p = out + sizeof out;
    unsigned long v =
        value < 0 ? 0UL - (unsigned long)value : (unsigned long)value;
    int digits = 0;
    do {
        if (digits && digits == decimals)
            *--p = '.';
        *--p = (char)('0' + v % 10);
        v /= 10;
        digits++;
    } while ((v || digits <= decimals) && p > out + 2);
    if (value < 0)
        *--p = '-';
    return tcall_write_verbatim(
        w, tcall_slice_(p, (size_t)(out + sizeof out - p)));
}

int tcall_write_int(tcall_writer *w, long value)
{
    return tcall_write_fixed(w, value, 0);
}

int tcall_write_bool(tcall_writer *w, bool value)
{
    return tcall_write_verbatim(w, tcall_str_of(value ? "true" : "false"));
}

int tcall_write_null(tcall_writer *w)
{
    return tcall_write_verbatim(w, tcall_str_of("null"));
}

int tcall_write_quote(tcall_writer *w)
{
    tcall_write_comma_(w);
    tcall_write_bytes(w, "\"", 1);
    w->quoted = 1;
    w->last = 0;
    return w->error;
}

int tcall_write_unquote(tcall_writer *w)
{
    w->quoted = 0;
    return tcall_write_bytes(w, "\"", 1);
}

/* What checking with coercion decided about a value (tcall_tok.mark). */
enum {
    TCALL_MARK_NONE_,
    TCALL_MARK_DROP_,   /* null for an optional member: leave it out */
    TCALL_MARK_JSON_,   /* a string whose content is the JSON that was meant */
    TCALL_MARK_LITERAL_ /* the string "True" or "False": a boolean */
};

/* A scalar or a key as JSON text. */
static void tcall_write_scalar_(tcall_writer *w, const char *text,
                                const tcall_tok *t)
{
    tcall_str s = tcall_tok_str_(text, t);
    if (t->mark == TCALL_MARK_LITERAL_)
        tcall_write_bool(w, *s.ptr == 'T');
    else if ((t->type & TCALL_TYPE_) == TCALL_STRING &&
             t->mark != TCALL_MARK_JSON_)
        tcall_write_str(w, s);
    else
        tcall_write_verbatim(w, s);
}

/* No recursion: the last value of a container closes it, and then perhaps the
 * one around it; flags remembers that of each open one. */
int tcall_write_json(tcall_writer *w, tcall_json value)
{
    uint8_t flags[TOOLCALL_MAX_DEPTH];
    const tcall_tok *t = value.tok;
    int depth = 0;
    if (!t)
        return tcall_write_null(w);
    for (;; t++) {
        int type = t->type & TCALL_TYPE_, f = t->type;
        if (type >= TCALL_ARRAY) {
            tcall_write_open(w, type == TCALL_OBJECT ? '{' : '[');
            if (t->span > 1 && depth < TOOLCALL_MAX_DEPTH) {
                flags[depth++] = (uint8_t)f;
                continue;
            }
            tcall_write_close(w, type == TCALL_OBJECT ? '}' : ']');
        } else if (f & TCALL_KEY_ && t[1].mark == TCALL_MARK_DROP_) {
            f = (++t)->type;
        } else {
            tcall_write_scalar_(w, value.text, t);
            if (f & TCALL_KEY_) {
                tcall_write_bytes(w, ":", 1);
                continue;
            }
        }
        for (; depth && f & TCALL_LAST_; f = flags[depth]) {
            depth--;
            tcall_write_close(w, f & TCALL_MEMBER_ ? '}' : ']');
        }
        if (!depth)
            return w->error;
    }
}

void tcall_block_init(tcall_block *b, void *base, size_t size)
{
    size_t skew = (size_t)(-(uintptr_t)base & 7);
    memset(b, 0, sizeof *b);
    if (!base || size < skew)
        return;
    b->base = (char *)base + skew;
    b->size = (size - skew) & ~(size_t)7;
}

static size_t tcall_block_free_(const tcall_block *b)
{
    return b->size - b->low - b->high;
}

/* True when n more bytes are free; else need says how large to make it. */
static bool tcall_block_room_(tcall_block *b, size_t n)
{
    if (n > tcall_block_free_(b)) {
        b->need = b->low + b->high + n;
        return false;
    }
    if (b->low + b->high + n > b->peak)
        b->peak = b->low + b->high + n;
    return true;
}

/* Moves the end of the lower part up by n. */
static bool tcall_block_grow_(tcall_block *b, size_t n)
{
    if (!tcall_block_room_(b, n))
        return false;
    b->low += n;
    return true;
}

/* n bytes from the end, for a while: give back by restoring b->high. */
static void *tcall_block_take_(tcall_block *b, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if (!tcall_block_room_(b, n))
        return NULL;
    b->high += n;
    return b->base + b->size - b->high;
}

/* The free bytes between both parts. */
static char *tcall_block_gap_(const tcall_block *b)
{
    return b->base + b->low;
}

/* ==========================================================================
 * >>schema
 *
 * The program is the schema's outline in preorder: one node for each schema,
 * keyword and list, with its span, so that stepping over what is not wanted
 * is one addition. A schema's node carries its `type` as a bit mask, which
 * makes most properties a single node. A node holds the offset of its text;
 * names, bounds and enums are compared there, where they stand.
 *
 * Checking walks the outline with a stack of small frames, one per schema
 * that is at work on a value. A keyword that applies schemas pushes a frame
 * and is asked again when the answer is there. Quiet frames (in anyOf, not,
 * if ...) stop at the first fault and report none.
 */

/* Keywords that no tool definition was seen to use can be left out; schemas
 * that have them are then refused. */
#ifdef TOOLCALL_NO_RARE
#define TCALL_RARE_ 0
#else
#define TCALL_RARE_ 1
#endif

/* X(op, keyword, kind of value, drafts that know it; 32: rare). The order is
 * relied upon: first what is a schema itself, applied to the same value, then
 * to another; lists and maps of schemas for other values, then for the same;
 * then the rest, lengths in pairs. */
#define TCALL_KEYWORDS_(X)                               \
    X(SCHEMA, "false", REFUSED, 0)                       \
    X(NOT, "not", SCHEMA, 31)                            \
    X(IF, "if", SCHEMA, 7 | 32)                          \
    X(THEN, "then", SCHEMA, 7 | 32)                      \
    X(ELSE, "else", SCHEMA, 7 | 32)                      \
    X(REST, "items", SCHEMA, 31)                         \
    X(EXTRA, "additionalItems", SCHEMA, 30 | 32)         \
    X(ADDITIONAL, "additionalProperties", SCHEMA, 31)    \
    X(NAMES, "propertyNames", SCHEMA, 15)                \
    X(CONTAINS, "contains", SCHEMA, 15 | 32)             \
    X(PREFIX, "prefixItems", LIST, 1 | 32)               \
    X(PROPERTIES, "properties", MAP, 31)                 \
    X(PATTERNS, "patternProperties", MAP, 31 | 32)       \
    X(DEFS, "$defs", MAP, 31)                            \
    X(DEFINITIONS, "definitions", MAP, 31)               \
    X(DEPENDENCIES, "dependencies", MAP, 31 | 32)        \
    X(DEPSCHEMAS, "dependentSchemas", MAP, 3 | 32)       \
    X(DEPREQUIRED, "dependentRequired", MAP, 3 | 32)     \
    X(ALLOF, "allOf", LIST, 31)                          \
    X(ANYOF, "anyOf", LIST, 31)                          \
    X(ONEOF, "oneOf", LIST, 31)                          \
    X(PATTERN, "pattern", PATTERN, 31)                   \
    X(REF, "$ref", REF, 31)                              \
    X(CONST, "const", ANY, 15)                           \
    X(ENUM, "enum", ARRAY, 31)                           \
    X(MULTIPLE, "multipleOf", NUMBER, 31 | 32)           \
    X(MINIMUM, "minimum", NUMBER, 31)                    \
    X(MAXIMUM, "maximum", NUMBER, 31)                    \
    X(ABOVE, "exclusiveMinimum", NUMBER, 31)             \
    X(BELOW, "exclusiveMaximum", NUMBER, 31)             \
    X(MINLENGTH, "minLength", COUNT, 31)                 \
    X(MAXLENGTH, "maxLength", COUNT, 31)                 \
    X(MINITEMS, "minItems", COUNT, 31)                   \
    X(MAXITEMS, "maxItems", COUNT, 31)                   \
    X(MINPROPS, "minProperties", COUNT, 31)              \
    X(MAXPROPS, "maxProperties", COUNT, 31)              \
    X(MINCONTAINS, "minContains", COUNT, 3 | 32)         \
    X(MAXCONTAINS, "maxContains", COUNT, 3 | 32)         \
    X(UNIQUE, "uniqueItems", BOOL, 31 | 32)              \
    X(REQUIRED, "required", NAMES, 31)                   \
    X(TYPE, "type", TYPE, 31)                            \
    X(DRAFT, "$schema", DRAFT, 31)                       \
    X(ID, "$id", ID, 31)                                 \
    X(ID4, "id", ID, 31)                                 \
    X(DYNAMIC, "$dynamicRef", REFUSED, 31)               \
    X(RECURSIVE, "$recursiveRef", REFUSED, 31)           \
    X(UNEVALUATED, "unevaluatedProperties", REFUSED, 31) \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", REFUSED, 31)

enum {
#define TCALL_X_(op, name, kind, drafts) TCALL_K_##op##_,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        TCALL_K_COUNT_,
    TCALL_K_LISTED_ = TCALL_K_COUNT_, /* names that another name requires */
    TCALL_K_ATOM_,                    /* the steps of a pattern */
    TCALL_K_SPLIT_,
    TCALL_K_JUMP_,
    TCALL_K_ASSERT_,
    TCALL_K_MATCH_
};

/* What a keyword's value has to be. */
enum {
    TCALL_V_ANY_,
    TCALL_V_SCHEMA_,
    TCALL_V_NAMES_,
    TCALL_V_TYPE_,
    TCALL_V_DRAFT_,
    TCALL_V_ID_,
    TCALL_V_REFUSED_,
    TCALL_V_LIST_, /* from here on: what starts with the same character */
    TCALL_V_ARRAY_,
    TCALL_V_MAP_,
    TCALL_V_PATTERN_,
    TCALL_V_REF_,
    TCALL_V_NUMBER_,
    TCALL_V_COUNT_,
    TCALL_V_BOOL_
};

/* Its columns: all names in one string; kind and drafts. */
static const char tcall_keyword_names_[] =
#define TCALL_X_(op, name, kind, drafts) name "\0"
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
    ;
static const uint8_t tcall_keywords_[][2] = {
#define TCALL_X_(op, name, kind, drafts) {TCALL_V_##kind##_, drafts},
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

static const char tcall_type_names_[] =
    "null\0boolean\0number\0string\0array\0object\0integer\0";

/* In arg of a node that has a span: the span; of a property whether it is
 * required, and the length of its name when that is short and plain; of a
 * schema its types, one bit each in the order of tcall_type, integer last.
 * Bit 31 is for finding circles. */
#define TCALL_SPAN_     0x7FFFFu
#define TCALL_REQUIRED_ 0x80000u
#define TCALL_LENGTH_   20
#define TCALL_TYPES_    0x7F000000u
#define TCALL_ANY_      0x3F000000u
#define TCALL_INTEGER_  0x40u
#define TCALL_NEVER_    0xFFFFFFFFu

/* Instead of a bound: it stands in the text; it is the sibling's. */
#define TCALL_FAR_     0x7FFFFFFF
#define TCALL_SIBLING_ 0x7FFFFFFE

static int tcall_node_op_(const tcall_node_ *node)
{
    return (int)(node->word & 0xFF);
}

/* What it stands for in the schema's text. */
static const char *tcall_node_at_(const tcall_schema *s, uint32_t node)
{
    return s->text + (s->program[node].word >> 8);
}

static bool tcall_node_is_schema_(int op)
{
    return op <= TCALL_K_CONTAINS_;
}

static bool tcall_node_is_list_(int op)
{
    return op == TCALL_K_PREFIX_ ||
           (op >= TCALL_K_ALLOF_ && op <= TCALL_K_ONEOF_);
}

/* The node behind this one and all that belongs to it. */
static uint32_t tcall_node_after_(const tcall_node_ *program, uint32_t i)
{
    bool spans = tcall_node_op_(&program[i]) <= TCALL_K_PATTERN_;
    return i + (spans ? program[i].arg & TCALL_SPAN_ : 1);
}

/* The child with this op, 0: none. (No child can be node 0.) */
static uint32_t tcall_node_child_(const tcall_node_ *program, uint32_t i,
                                  int op)
{
    uint32_t end = tcall_node_after_(program, i);
    for (i++; i < end; i = tcall_node_after_(program, i))
        if (tcall_node_op_(&program[i]) == op)
            return i;
    return 0;
}

/* The n-th of strings that stand in a row, each ended by NUL. */
static const char *tcall_word_(const char *p, int n)
{
    while (n-- > 0)
        p += strlen(p) + 1;
    return p;
}

/* Its position, -1 when it is not among them: p ends with an empty one. */
static int tcall_word_index_(const char *p, tcall_str word)
{
    int i;
    size_t len;
    for (i = 0; len = strlen(p), len; i++, p += len + 1)
        if (len == word.len && memcmp(p, word.ptr, len) == 0)
            return i;
    return -1;
}

/* -- Walking over text that the scanner has accepted ---------------------- */

static const char *tcall_text_space_(const char *p)
{
    while (tcall_is_space_(*p))
        p++;
    return p;
}

/* To the next member or element, or to the bracket that closes. */
static const char *tcall_text_next_(const char *p)
{
    p = tcall_text_space_(p);
    return *p == ',' ? tcall_text_space_(p + 1) : p;
}

static bool tcall_text_closes_(const char *p)
{
    return *p == ']' || *p == '}';
}

static const char *tcall_text_skip_string_(const char *p)
{
    for (p++; *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p + 1;
}

/* Behind the value that starts at p. */
static const char *tcall_text_skip_(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"') {
            p = tcall_text_skip_string_(p);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (tcall_text_closes_(p)) {
            depth--;
            p++;
        } else if (depth) {
            p++;
        } else {
            while (*p != ',' && !tcall_text_closes_(p) && !tcall_is_space_(*p))
                p++;
        }
    } while (depth > 0);
    return p;
}

/* From a member's key to its value. */
static const char *tcall_text_value_(const char *key)
{
    return tcall_text_space_(tcall_text_space_(tcall_text_skip_string_(key)) +
                             1);
}

static tcall_str tcall_text_verbatim_(const char *p)
{
    return tcall_slice_(p, (size_t)(tcall_text_skip_(p) - p));
}

static int32_t tcall_utf8_next_(const char **at)
{
    unsigned char c = (unsigned char)*(*at)++;
    int more = c < 0xC0 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    int32_t cp = more ? c & (0x3F >> more) : c;
    for (; more; more--)
        cp = cp << 6 | (*(*at)++ & 0x3F);
    return cp;
}

/* The next character of a string in JSON text, -1 at its closing quote. */
static int32_t tcall_text_char_(const char **at)
{
    const char *p = *at, *q;
    char out[4];
    int len = 2;
    if (*p == '"')
        return -1;
    if (*p != '\\')
        return tcall_utf8_next_(at);
    if (p[1] == 'u') {
        int high = tcall_hex_(p[3]);
        bool pair = tcall_hex_(p[2]) == 13 && high >= 8 && high < 12;
        len = pair ? 12 : 6;
    }
    tcall_decode_(out, p, p + len);
    *at = p + len;
    q = out;
    return tcall_utf8_next_(&q);
}

/* Is the string that starts at the quote p equal to s? */
static bool tcall_text_same_(const char *p, tcall_str s)
{
    const char *q = s.ptr, *end = q + s.len;
    int32_t c;
    for (p++; q < end && *p == *q; p++, q++)
        if (*p == '"' || *p == '\\')
            break;
    if (*p != '\\')
        return *p == '"' && q == end;
    while (c = tcall_text_char_(&p), c >= 0)
        if (q >= end || tcall_utf8_next_(&q) != c)
            return false;
    return q == end;
}

/* The member of a map whose key is name, 0: none. The search begins behind
 * hint (a member, or the map itself): names tend to come in order. */
static uint32_t tcall_node_member_(const tcall_schema *s, uint32_t map,
                                   uint32_t hint, tcall_str name,
                                   int32_t *steps)
{
    const tcall_node_ *program = s->program;
    uint32_t end = tcall_node_after_(program, map), first = map + 1, i, stop;
    i = hint == map ? first : tcall_node_after_(program, hint);
    if (i >= end)
        i = first;
    if (i >= end)
        return 0;
    stop = i;
    do {
        const char *p = tcall_node_at_(s, i);
        uint32_t len = program[i].arg >> TCALL_LENGTH_ & 15;
        if (tcall_node_op_(&program[i]) == TCALL_K_SCHEMA_ &&
            (len ? len == name.len && memcmp(p + 1, name.ptr, len) == 0
                 : tcall_text_same_(p, name)))
            return i;
        *steps -= 1;
        i = tcall_node_after_(program, i);
        if (i >= end)
            i = first;
    } while (i != stop);
    return 0;
}

/* -- Patterns ------------------------------------------------------------- */

/* One node for an atom with its quantifier, one for a fork, a jump and an
 * assertion. While matching, each has a byte that says whether it is active;
 * an atom that repeats has one for each count, and a match shifts them. So a
 * character costs time proportional to the size of the pattern, whatever the
 * pattern is, and nothing ever backs up. */
#ifndef TOOLCALL_NO_PATTERN

#define TCALL_COUNT_MAX_ 1000
#define TCALL_UNBOUNDED_ 0x7FFF

/* What an escape was, when it was not one character. */
enum { TCALL_C_BAD_ = -1, TCALL_C_OUT_ = -2, TCALL_C_IN_ = -3 };

static bool tcall_re_word_(int32_t c)
{
    return c == '_' || (c >= '0' && c <= '9') ||
           ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool tcall_re_line_(int32_t c)
{
    return c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029;
}

static bool tcall_re_space_(int32_t c)
{
    return (c >= 9 && c <= 13) || c == ' ' || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || tcall_re_line_(c) || c == 0x202F ||
           c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

static int32_t tcall_re_hex_(const char **at, int digits)
{
    int32_t v = 0;
    for (; digits; digits--) {
        int32_t c = tcall_text_char_(at);
        int h = c > 0 && c < 0x80 ? tcall_hex_((char)c) : -1;
        if (h < 0)
            return TCALL_C_BAD_;
        v = v << 4 | h;
    }
    return v;
}

/* Behind the backslash: the character it means, or for a class whether ch is
 * in it, or TCALL_C_BAD_. */
static int32_t tcall_re_escape_(const char **at, int32_t ch)
{
    static const char controls[] = "tnvfr";
    int32_t c = tcall_text_char_(at);
    const char *p;
    bool in;
    if (c < 0 || c >= 0x80 || (c != '_' && !tcall_re_word_(c)))
        return c;
    switch (c | 0x20) {
    case 'd': in = ch >= '0' && ch <= '9'; break;
    case 'w': in = tcall_re_word_(ch); break;
    case 's': in = tcall_re_space_(ch); break;
    default:
        p = strchr(controls, (char)c);
        if (p)
            return (int32_t)(9 + (p - controls));
        if (c == 'x')
            return tcall_re_hex_(at, 2);
        if (c == 'u') {
            c = tcall_re_hex_(at, 4);
            return c >= 0xD800 && c <= 0xDFFF ? (int32_t)TCALL_C_BAD_ : c;
        }
        p = *at;
        c = c == '0' ? tcall_text_char_(&p) : '0';
        return c >= '0' && c <= '9' ? TCALL_C_BAD_ : 0;
    }
    return in == (c >= 'a') ? TCALL_C_IN_ : TCALL_C_OUT_;
}

/* A member of a [...]: as tcall_re_escape_. */
static int32_t tcall_re_member_(const char **at, int32_t ch)
{
    int32_t c = tcall_text_char_(at);
    const char *p = *at;
    if (c != '\\')
        return c;
    if (tcall_text_char_(&p) != 'b')
        return tcall_re_escape_(at, ch);
    *at = p;
    return '\b';
}

/* Behind '[': 1 when ch is in, 0 when not, -1 when it is malformed. */
static int tcall_re_class_(const char **at, int32_t ch)
{
    const char *p = *at;
    bool negated = tcall_text_char_(&p) == '^', in = false;
    int32_t low, high;
    if (negated)
        *at = p;
    for (;;) {
        p = *at;
        if (tcall_text_char_(&p) == ']')
            break;
        low = high = tcall_re_member_(at, ch);
        p = *at;
        if (low >= 0 && tcall_text_char_(&p) == '-') {
            const char *q = p;
            if (tcall_text_char_(&q) != ']') {
                *at = p;
                high = tcall_re_member_(at, ch);
                if (high < TCALL_C_BAD_ || high < low)
                    return -1; /* [a-\d] or [z-a] */
            }
        }
        if (low == TCALL_C_BAD_)
            return -1;
        in |= low == TCALL_C_IN_ || (low <= ch && ch <= high);
    }
    *at = p;
    return in != negated;
}

/* Steps over an atom: 1 when ch matches it, 0 when not, -1: malformed. */
static int tcall_re_atom_(const char **at, int32_t ch)
{
    int32_t c = tcall_text_char_(at);
    if (c == '.')
        return !tcall_re_line_(ch);
    if (c == '[')
        return tcall_re_class_(at, ch);
    if (c == '\\') {
        c = tcall_re_escape_(at, ch);
        if (c == TCALL_C_BAD_)
            return -1;
        if (c < 0)
            return c == TCALL_C_IN_;
    }
    return c == ch;
}

/* A count in braces, at most TCALL_COUNT_MAX_ + 1; -1: none there. */
static int tcall_re_number_(const char **at)
{
    int n = -1;
    for (; tcall_is_digit_(**at); ++*at) {
        n = (n < 0 ? 0 : n * 10) + (**at - '0');
        if (n > TCALL_COUNT_MAX_)
            n = TCALL_COUNT_MAX_ + 1;
    }
    return n;
}

/* Steps over a quantifier, if one is there. False when it is malformed. */
static bool tcall_re_quantifier_(const char **at, int *min, int *max)
{
    const char *p = *at;
    int32_t c = tcall_text_char_(&p);
    *min = *max = 1;
    if (c == '{') {
        *min = *max = tcall_re_number_(&p);
        if (*p == ',') {
            p++;
            *max = *p == '}' ? TCALL_UNBOUNDED_ : tcall_re_number_(&p);
        }
        if (*p != '}' || *min < 0 || *max < *min || *min > TCALL_COUNT_MAX_ ||
            (*max > TCALL_COUNT_MAX_ && *max != TCALL_UNBOUNDED_))
            return false;
        p++;
    } else if (c == '*' || c == '+' || c == '?') {
        *min = c == '+';
        *max = c == '?' ? 1 : TCALL_UNBOUNDED_;
    } else {
        return true;
    }
    *at = p + (*p == '?');
    return true;
}

/* From inside a group to the ')' or quote that ends it, or with bar to the
 * '|' before that. */
static const char *tcall_re_end_(const char *p, bool bar)
{
    int depth = 0;
    for (;;) {
        const char *at = p;
        int32_t c = tcall_text_char_(&p);
        if (c < 0 || (depth == 0 && (c == ')' || (bar && c == '|'))))
            return at;
        depth += (c == '(') - (c == ')');
        if (c == '\\')
            tcall_text_char_(&p);
        for (; c == '[' || c == -2;) {
            int32_t in = tcall_text_char_(&p);
            if (in == '\\')
                tcall_text_char_(&p);
            if (in < 0 || in == ']')
                break;
        }
    }
}

/* The cells of an atom: one for each count below its maximum, and no more
 * than one when that is open above its minimum. */
static uint32_t tcall_re_width_(const tcall_node_ *n)
{
    uint32_t min = n->arg >> 16, max = n->arg & 0xFFFF;
    if (tcall_node_op_(n) != TCALL_K_ATOM_)
        return 1;
    if (max == TCALL_UNBOUNDED_)
        return min ? min : 1;
    return max;
}

typedef struct tcall_re_ {
    const char *text;
    const tcall_node_ *first, *last; /* last is the match */
    uint8_t *cells;
    int32_t before, next; /* characters around the position, -1: none */
} tcall_re_;

/* Follows all that takes no character. True when the end was reached. */
static bool tcall_re_spread_(const tcall_re_ *re)
{
    bool again = true, word;
    while (again) {
        const tcall_node_ *n;
        uint8_t *c = re->cells, *to;
        again = false;
        for (n = re->first; n < re->last; c += tcall_re_width_(n), n++) {
            if (!*c)
                continue;
            switch (tcall_node_op_(n)) {
            case TCALL_K_ATOM_:
                if (n->arg >> 16 == 0)
                    c[tcall_re_width_(n)] = 1;
                break;
            case TCALL_K_ASSERT_:
                word = tcall_re_word_(re->before) != tcall_re_word_(re->next);
                if (n->arg == '^'   ? re->before < 0
                    : n->arg == '$' ? re->next < 0
                                    : word == (n->arg == 'b'))
                    c[1] = 1;
                break;
            case TCALL_K_SPLIT_: c[1] = 1; /* fall through */
            default:
                to = &re->cells[n->arg];
                if (!*to && to < c)
                    again = true;
                *to = 1;
            }
        }
        if (*c)
            return true;
    }
    return false;
}

/* Takes one character. False when nothing is active any more. */
static bool tcall_re_step_(const tcall_re_ *re)
{
    const tcall_node_ *n;
    uint8_t *c = re->cells, carry = 0;
    bool alive = false;
    for (n = re->first; n < re->last; n++) {
        uint32_t width = tcall_re_width_(n), min = n->arg >> 16;
        const char *at = re->text + (n->word >> 8);
        uint8_t out = 0, stay = 0;
        if (tcall_node_op_(n) == TCALL_K_ATOM_ && memchr(c, 1, width) &&
            tcall_re_atom_(&at, re->next) > 0) {
            uint32_t from = min ? min - 1 : 0;
            out = memchr(c + from, 1, width - from) != NULL;
            stay = c[width - 1] && (n->arg & 0xFFFF) == TCALL_UNBOUNDED_;
            memmove(c + 1, c, width - 1);
            c[0] = 0;
            c[width - 1] |= stay;
            alive = true;
        } else {
            memset(c, 0, width);
        }
        c[0] |= carry;
        carry = out;
        c += width;
    }
    *c = carry;
    return alive;
}

/* Does the pattern occur in str? cells: scratch. */
static bool tcall_re_search_(const tcall_schema *s, uint32_t pattern,
                             tcall_str str, uint8_t *cells, int32_t *steps)
{
    const char *p = str.ptr, *end = p + str.len;
    uint32_t size;
    tcall_re_ re;
    bool anchored;
    re.text = s->text;
    re.first = s->program + pattern + 1;
    re.last = s->program + tcall_node_after_(s->program, pattern) - 1;
    re.cells = cells;
    re.before = -1;
    size = re.last->arg + 1;
    anchored =
        tcall_node_op_(re.first) == TCALL_K_ASSERT_ && re.first->arg == '^';
    memset(cells, 0, size);
    for (;; re.before = re.next) {
        re.next = p < end ? tcall_utf8_next_(&p) : -1;
        *steps -= 1 + (int32_t)size / 16;
        cells[0] = 1;
        if (tcall_re_spread_(&re))
            return true;
        if (re.next < 0 || *steps < 0)
            return false;
        if (!tcall_re_step_(&re) && anchored)
            return false;
    }
}

#endif /* TOOLCALL_NO_PATTERN */

/* -- Compiling ------------------------------------------------------------ */

typedef struct tcall_sc_ {
    tcall_schema *out;
    const char *text;
    tcall_node_ *node;
    uint32_t cap, n;
    int32_t steps;
    tcall_draft draft;
    const char *embedded; /* a subschema's own $id */
    const char *ref;      /* some $ref */
    uint32_t open; /* node being built; its span is the one around it yet */
    int depth;
    uint8_t kind[TOOLCALL_MAX_DEPTH + 1]; /* ops of all that are open */
    char name[128];
} tcall_sc_;

/* The string at p, decoded; what is long is left as it is. */
static tcall_str tcall_sc_name_(tcall_sc_ *c, const char *p)
{
    size_t len = tcall_text_verbatim_(p).len - 2;
    if (len > sizeof c->name)
        return tcall_slice_(p + 1, len);
    return tcall_slice_(c->name, tcall_decode_(c->name, p + 1, p + 1 + len));
}

/* The first refusal stays. Gives p, so that it can be returned. */
static const char *tcall_sc_refuse_(tcall_sc_ *c, const char *p,
                                    const char *reason)
{
    if (!c->out->reason) {
        c->out->reason = reason;
        c->out->at = (size_t)(p - c->text);
    }
    return p;
}

static const char *tcall_sc_malformed_(tcall_sc_ *c, const char *p)
{
    return tcall_sc_refuse_(c, p, "a value of the wrong kind");
}

/* Nodes that do not fit are counted only. */
static uint32_t tcall_sc_emit_(tcall_sc_ *c, int op, const char *at,
                               uint32_t arg)
{
    if (c->n < c->cap) {
        c->node[c->n].word = (uint32_t)(at - c->text) << 8 | (uint32_t)op;
        c->node[c->n].arg = arg;
    }
    return c->n++;
}

/* A node whose children follow. (When it does not fit, neither will they, and
 * open is not used any more.) */
static void tcall_sc_open_(tcall_sc_ *c, int kind, int op, const char *at)
{
    c->kind[c->depth++] = (uint8_t)kind;
    c->open = tcall_sc_emit_(c, op, at, TCALL_ANY_ | c->open);
}

/* Up to draft 7 a $ref hides its siblings, but other $refs may still lead
 * into the definitions beside it. */
static void tcall_sc_hide_siblings_(tcall_sc_ *c, uint32_t i, uint32_t end)
{
    if (!tcall_node_child_(c->node, i, TCALL_K_REF_))
        return;
    c->node[i].arg |= TCALL_ANY_;
    for (i++; i < end; i = tcall_node_after_(c->node, i)) {
        int op = tcall_node_op_(&c->node[i]);
        if (op != TCALL_K_REF_ && op != TCALL_K_DEFINITIONS_)
            c->node[i].word +=
                (uint32_t)((op <= TCALL_K_PATTERN_ ? TCALL_K_DEFS_
                                                   : TCALL_K_MINCONTAINS_) -
                           op);
    }
}

/* Marks the properties that are required: when all that are required are
 * among them, counting tells whether an object has them. */
static void tcall_sc_mark_required_(tcall_sc_ *c, uint32_t schema)
{
    tcall_node_ *program = c->node;
    uint32_t required = tcall_node_child_(program, schema, TCALL_K_REQUIRED_);
    uint32_t map = tcall_node_child_(program, schema, TCALL_K_PROPERTIES_);
    uint32_t hint = map, count = 0, i;
    const char *p;
    if (!required || !map)
        return;
    p = tcall_text_next_(tcall_node_at_(c->out, required) + 1);
    for (; *p == '"'; p = tcall_text_next_(tcall_text_skip_string_(p))) {
        i = c->steps < 0 ? 0
                         : tcall_node_member_(c->out, map, hint,
                                              tcall_sc_name_(c, p), &c->steps);
        if (i)
            program[hint = i].arg |= TCALL_REQUIRED_;
        count = i && count != TCALL_NEVER_ ? count + 1 : TCALL_NEVER_;
    }
    program[required].arg = count;
}

static void tcall_sc_close_(tcall_sc_ *c)
{
    uint32_t i = c->open;
    int kind = c->kind[--c->depth];
    if (c->n > c->cap)
        return;
    c->open = c->node[i].arg & TCALL_SPAN_;
    c->node[i].arg += c->n - i - c->open;
    if (kind == TCALL_K_SCHEMA_)
        tcall_sc_mark_required_(c, i);
    if (kind == TCALL_K_SCHEMA_ && c->draft >= TCALL_DRAFT_7)
        tcall_sc_hide_siblings_(c, i, c->n);
}

/* A schema is about to start at p. */
static const char *tcall_sc_schema_(tcall_sc_ *c, int op, const char *at,
                                    const char *p)
{
    if (*p == 't' || *p == 'f') {
        tcall_sc_emit_(c, op, at, 1 | (*p == 't' ? TCALL_ANY_ : 0));
        return p + (*p == 't' ? 4 : 5); /* perhaps nothing is behind it */
    }
    if (*p != '{')
        return tcall_sc_malformed_(c, p);
    tcall_sc_open_(c, TCALL_K_SCHEMA_, op, at);
    return p + 1;
}

#ifndef TOOLCALL_NO_PATTERN

/* Nesting of groups in a pattern. */
#define TCALL_GROUPS_ 8

/* A group that is open; its text is read once for each copy that its
 * quantifier asks for. */
typedef struct tcall_re_open_ {
    const char *body;
    int min, max;     /* copies: needed, possible */
    int copy;         /* made so far */
    uint32_t start;   /* cell where this copy starts */
    uint32_t forward; /* nodes that lead to its end, chained by arg */
    uint32_t branch;  /* the fork to the next alternative */
} tcall_re_open_;

typedef struct tcall_re_build_ {
    tcall_sc_ *c;
    uint32_t cells;
    int depth;
    tcall_re_open_ group[TCALL_GROUPS_];
} tcall_re_build_;

#define TCALL_NOWHERE_ 0xFFFFFFFFu

static const char *tcall_re_refuse_(const tcall_re_build_ *b)
{
    return tcall_sc_refuse_(b->c, b->group[0].body - 1,
                            "not supported in a pattern");
}

static uint32_t tcall_re_emit_(tcall_re_build_ *b, int op, const char *at,
                               uint32_t arg, uint32_t cells)
{
    b->cells += cells;
    b->c->steps--;
    if (b->cells > TOOLCALL_MAX_PATTERN || b->c->steps < 0)
        tcall_sc_refuse_(b->c, b->group[0].body - 1, "too large a pattern");
    return tcall_sc_emit_(b->c, op, at, arg);
}

/* A node that will lead to the end of the group's copy. */
static void tcall_re_forward_(tcall_re_build_ *b, tcall_re_open_ *g, int op,
                              const char *at)
{
    g->forward = tcall_re_emit_(b, op, at, g->forward, 1);
}

static void tcall_re_patch_(const tcall_re_build_ *b, uint32_t i)
{
    while (i < b->c->cap && b->c->n <= b->c->cap) {
        uint32_t next = b->c->node[i].arg;
        b->c->node[i].arg = b->cells;
        i = next;
    }
}

/* An alternative starts at p: fork when another one follows it. */
static void tcall_re_alternative_(tcall_re_build_ *b, tcall_re_open_ *g,
                                  const char *p)
{
    const char *end = tcall_re_end_(p, true);
    g->branch = TCALL_NOWHERE_;
    if (tcall_text_char_(&end) == '|')
        g->branch = tcall_re_emit_(b, TCALL_K_SPLIT_, p, TCALL_NOWHERE_, 1);
}

/* The next copy of the innermost group: gives the text to go on with. */
static const char *tcall_re_copy_(tcall_re_build_ *b)
{
    tcall_re_open_ *g = &b->group[b->depth - 1];
    g->start = b->cells;
    g->forward = TCALL_NOWHERE_;
    b->c->steps--;
    if (g->copy >= g->min)
        tcall_re_forward_(b, g, TCALL_K_SPLIT_, g->body);
    g->copy++;
    tcall_re_alternative_(b, g, g->body);
    return g->body;
}

/* Behind '(': enters the group, or refuses it. */
static const char *tcall_re_group_(tcall_re_build_ *b, const char *p)
{
    tcall_re_open_ *g = &b->group[b->depth];
    const char *end;
    if (*p == '?') {
        if (p[1] != ':')
            return tcall_re_refuse_(b);
        p += 2;
    }
    if (b->depth >= TCALL_GROUPS_)
        return tcall_re_refuse_(b);
    end = tcall_re_end_(p, false);
    if (*end == '"')
        return tcall_re_refuse_(b);
    tcall_text_char_(&end);
    if (!tcall_re_quantifier_(&end, &g->min, &g->max) || g->max == 0)
        return tcall_re_refuse_(b);
    g->body = p;
    g->copy = 0;
    b->depth++;
    return tcall_re_copy_(b);
}

/* At the end of a copy of a group; p is behind its ')'. */
static const char *tcall_re_leave_(tcall_re_build_ *b, const char *p)
{
    tcall_re_open_ *g = &b->group[b->depth - 1];
    bool open = g->max == TCALL_UNBOUNDED_;
    int copies = !open ? g->max : g->min ? g->min : 1;
    int min, max;
    tcall_re_patch_(b, g->forward);
    if (open && g->copy == copies)
        tcall_re_emit_(b, TCALL_K_SPLIT_, p, g->start, 1);
    if (g->copy < copies && !b->c->out->reason)
        return tcall_re_copy_(b);
    b->depth--;
    tcall_re_quantifier_(&p, &min, &max);
    return p;
}

/* A character, class or escape with its quantifier; or \b, \B. */
static const char *tcall_re_single_(tcall_re_build_ *b, const char *p)
{
    const char *at = p;
    int min, max;
    tcall_node_ atom;
    if (tcall_text_char_(&p) == '\\') {
        int32_t c = tcall_text_char_(&p);
        if (c == 'b' || c == 'B') {
            tcall_re_emit_(b, TCALL_K_ASSERT_, at, (uint32_t)c, 1);
            return p;
        }
    }
    p = at;
    if (tcall_re_atom_(&p, 0) < 0)
        return tcall_re_refuse_(b);
    if (!tcall_re_quantifier_(&p, &min, &max))
        return tcall_re_refuse_(b);
    if (max == 0)
        return p;
    atom.word = TCALL_K_ATOM_;
    atom.arg = (uint32_t)min << 16 | (uint32_t)max;
    tcall_re_emit_(b, TCALL_K_ATOM_, at, atom.arg, tcall_re_width_(&atom));
    return p;
}

/* One piece of the pattern. */
static const char *tcall_re_piece_(tcall_re_build_ *b, const char *p)
{
    tcall_re_open_ *g = &b->group[b->depth - 1];
    const char *at = p;
    int32_t c = tcall_text_char_(&p);
    switch (c) {
    case '(': return tcall_re_group_(b, p);
    case ')':
        if (b->depth == 1)
            return tcall_re_refuse_(b);
        return tcall_re_leave_(b, p);
    case '|':
        tcall_re_forward_(b, g, TCALL_K_JUMP_, at);
        tcall_re_patch_(b, g->branch);
        tcall_re_alternative_(b, g, p);
        return p;
    case '^':
    case '$': tcall_re_emit_(b, TCALL_K_ASSERT_, at, (uint32_t)c, 1); return p;
    case '*':
    case '+':
    case '?':
    case '{': return tcall_re_refuse_(b);
    default: return tcall_re_single_(b, at);
    }
}

/* Compiles the pattern in the string at p; gives the text behind it. */
static const char *tcall_sc_pattern_(tcall_sc_ *c, const char *p)
{
    tcall_re_build_ b;
    tcall_sc_open_(c, TCALL_K_PATTERN_, TCALL_K_PATTERN_, p);
    b.c = c;
    b.cells = 0;
    b.depth = 1;
    b.group[0].body = p + 1;
    b.group[0].min = b.group[0].max = 1;
    b.group[0].copy = 0;
    p = tcall_re_copy_(&b);
    while (*p != '"' && !c->out->reason)
        p = tcall_re_piece_(&b, p);
    tcall_re_patch_(&b, b.group[0].forward);
    tcall_re_emit_(&b, TCALL_K_MATCH_, p, b.cells, 1);
    if (c->out->cells < b.cells)
        c->out->cells = b.cells;
    tcall_sc_close_(c);
    return p + 1;
}

#else

static const char *tcall_sc_pattern_(tcall_sc_ *c, const char *p)
{
    return tcall_sc_refuse_(c, p, "patterns were left out of this build");
}

#endif /* TOOLCALL_NO_PATTERN */

/* An array of strings, which stays in the text. */
static const char *tcall_sc_names_(tcall_sc_ *c, int op, const char *at,
                                   const char *p)
{
    const char *q = p;
    if (*q == '[')
        for (q = tcall_text_next_(q + 1); *q == '"';)
            q = tcall_text_next_(tcall_text_skip_string_(q));
    if (*q != ']')
        return tcall_sc_malformed_(c, q);
    tcall_sc_emit_(c, op, at, TCALL_NEVER_);
    return q + 1;
}

/* One type or an array of them, into the schema's own node. */
static void tcall_sc_type_(tcall_sc_ *c, const char *p)
{
    const char *at = p;
    bool several = *p == '[';
    uint32_t types = 0;
    if (several)
        p = tcall_text_next_(p + 1);
    do {
        tcall_str s = tcall_text_verbatim_(p);
        int type = -1;
        if (*p == '"')
            type = tcall_word_index_(tcall_type_names_,
                                     tcall_slice_(p + 1, s.len - 2));
        if (type < 0) {
            tcall_sc_refuse_(c, *p == ']' ? at : p, "unknown type");
            return;
        }
        types |= (uint32_t)1 << (24 + type);
        p = tcall_text_next_(p + s.len);
    } while (several && !tcall_text_closes_(p));
    if (c->n <= c->cap)
        c->node[c->open].arg = (c->node[c->open].arg & ~TCALL_TYPES_) | types;
}

/* A divisor fits 31 bits, so that remainders can be doubled in 32. */
static bool tcall_sc_divisor_(const tcall_num_ *n, uint32_t *out)
{
    const char *p = n->first;
    uint32_t v = 0;
    if (n->zero || n->negative || n->top > 308 || n->top < -308)
        return false;
    while (p <= n->last) {
        if (v > 214748363)
            return false;
        v = v * 10 + (uint32_t)tcall_num_digit_(n, &p);
    }
    *out = v;
    return true;
}

/* minimum and its like, which stay in the text, and counts, which do not. */
static void tcall_sc_number_(tcall_sc_ *c, int op, const char *p)
{
    tcall_num_ n = tcall_num_read_(tcall_text_verbatim_(p));
    uint32_t arg = TCALL_FAR_;
    int64_t v;
    bool ok = true, whole = tcall_num_integral_(&n);
    bool fits = tcall_num_int64_(&n, 0, &v);
    if (TCALL_RARE_ && op == TCALL_K_MULTIPLE_)
        ok = tcall_sc_divisor_(&n, &arg);
    else if (whole && fits && v > -TCALL_SIBLING_ && v < TCALL_SIBLING_)
        arg = (uint32_t)v;
    if (tcall_keywords_[op][0] == TCALL_V_COUNT_)
        ok = whole && (n.zero || !n.negative);
    if (!ok)
        tcall_sc_refuse_(c, p, "a number that is not supported here");
    tcall_sc_emit_(c, op, p, arg);
}

/* Known dialects by the hash of what follows http(s); -1: unknown. */
static int tcall_sc_draft_of_(const char *p)
{
    static const uint32_t known[] = {0x7DE77C1Au, 0xBD0613CEu, 0xCE4A9B5Fu,
                                     0x6DF99BFEu, 0xBDC6F40Cu};
    const char *end = tcall_text_skip_(p) - 1;
    uint32_t hash;
    int i;
    if (*p != '"' || end - p < 8)
        return -1;
    p += p[5] == 's' ? 6 : 5;
    end -= end[-1] == '#';
    hash = tcall_hash_(tcall_slice_(p, (size_t)(end - p)));
    for (i = TCALL_DRAFT_4; i >= 0 && known[i] != hash;)
        i--;
    return i;
}

/* Keywords with one value that is checked here and stays in the text. */
static void tcall_sc_leaf_(tcall_sc_ *c, int op, int kind, const char *key,
                           const char *p)
{
    switch (kind) {
    case TCALL_V_NAMES_: tcall_sc_names_(c, op, p, p); break;
    case TCALL_V_TYPE_: tcall_sc_type_(c, p); break;
    case TCALL_V_NUMBER_:
    case TCALL_V_COUNT_: tcall_sc_number_(c, op, p); break;
    case TCALL_V_BOOL_:
        if (*p == 't')
            tcall_sc_emit_(c, op, p, TCALL_SIBLING_);
        break;
    case TCALL_V_DRAFT_:
        if (tcall_sc_draft_of_(p) != (int)c->draft)
            tcall_sc_refuse_(c, p, "not the root's $schema");
        break;
    case TCALL_V_ID_:
        if (c->depth > 1 && *p == '"' && p[1] != '#' &&
            (op == TCALL_K_ID_ || c->draft == TCALL_DRAFT_4))
            c->embedded = key;
        break;
    case TCALL_V_REFUSED_:
        if (*p != 't')
            tcall_sc_refuse_(c, key, "not supported");
        break;
    case TCALL_V_REF_: c->ref = key; /* fall through */
    default: tcall_sc_emit_(c, op, p, 0);
    }
}

/* One keyword of the schema that is open; p: its value. */
static const char *tcall_sc_take_(tcall_sc_ *c, const char *key, const char *p)
{
    static const char firsts[] = "[[{\"\"00t"; /* by kind, from LIST on */
    char first = *p;
    int op = tcall_word_index_(tcall_keyword_names_, tcall_sc_name_(c, key));
    int kind;
    if (op <= 0)
        return tcall_text_skip_(p);
    kind = tcall_keywords_[op][0];
    if (!(tcall_keywords_[op][1] >> c->draft & 1))
        return tcall_sc_refuse_(c, key, "not a keyword of this draft");
    if (!TCALL_RARE_ && tcall_keywords_[op][1] & 32)
        return tcall_sc_refuse_(c, key, "left out of this build");
    if (first == '-' || tcall_is_digit_(first))
        first = '0';
    if (first == 'f')
        first = 't';
    if (TCALL_RARE_ && op == TCALL_K_REST_ && first == '[' && c->draft) {
        kind = TCALL_V_LIST_;
        op = TCALL_K_PREFIX_;
    } else if ((op == TCALL_K_ABOVE_ || op == TCALL_K_BELOW_) && first == 't') {
        kind = TCALL_V_BOOL_; /* draft 4: minimum or maximum is meant */
    }
    if (kind >= TCALL_V_LIST_ && firsts[kind - TCALL_V_LIST_] != first)
        return tcall_sc_malformed_(c, p);
    switch (kind) {
    case TCALL_V_SCHEMA_: return tcall_sc_schema_(c, op, p, p);
    case TCALL_V_LIST_:
        if (*tcall_text_space_(p + 1) == ']')
            return tcall_sc_malformed_(c, p);
        /* fall through */
    case TCALL_V_MAP_: tcall_sc_open_(c, op, op, p); return p + 1;
    case TCALL_V_PATTERN_: return tcall_sc_pattern_(c, p);
    default: tcall_sc_leaf_(c, op, kind, key, p); return tcall_text_skip_(p);
    }
}

/* One member of a map that is open; p: its value. */
static const char *tcall_sc_entry_(tcall_sc_ *c, int map, const char *key,
                                   const char *p)
{
    const char *q;
    uint32_t i;
    if (TCALL_RARE_ && (map == TCALL_K_DEPREQUIRED_ ||
                        (map == TCALL_K_DEPENDENCIES_ && *p == '[')))
        return tcall_sc_names_(c, TCALL_K_LISTED_, key, p);
    if (TCALL_RARE_ && map == TCALL_K_PATTERNS_)
        tcall_sc_pattern_(c, key);
    i = c->n;
    for (q = key + 1; *q != '"' && *q != '\\'; q++)
        ;
    p = tcall_sc_schema_(c, TCALL_K_SCHEMA_, key, p);
    if (i < c->cap && *q == '"' && q - key <= 16)
        c->node[i].arg |= (uint32_t)(q - key - 1) << TCALL_LENGTH_;
    return p;
}

/* From one bracket or comma to the next, all the way through. */
static void tcall_sc_outline_(tcall_sc_ *c, const char *p)
{
    p = tcall_sc_schema_(c, TCALL_K_SCHEMA_, p, p);
    while (c->depth && !c->out->reason) {
        int kind = c->kind[c->depth - 1];
        const char *key = p = tcall_text_next_(p);
        if (tcall_text_closes_(p)) {
            tcall_sc_close_(c);
            p++;
        } else if (tcall_node_is_list_(kind)) {
            p = tcall_sc_schema_(c, TCALL_K_SCHEMA_, p, p);
        } else {
            p = tcall_text_value_(key);
            p = kind == TCALL_K_SCHEMA_ ? tcall_sc_take_(c, key, p)
                                        : tcall_sc_entry_(c, kind, key, p);
        }
    }
}

/* The next name of a JSON Pointer, %XX and then ~0 and ~1 decoded, from
 * behind its '/' on. -1 when it is malformed or longer than buf. */
static int tcall_sc_step_(const char **at, char *buf, int cap)
{
    const char *p = *at;
    bool tilde = false;
    int32_t c;
    int n = 0;
    while (c = tcall_text_char_(&p), c >= 0 && c != '/') {
        if (n + 4 > cap)
            return -1;
        if (c == '%') {
            int high = tcall_hex_(*p), low = high < 0 ? -1 : tcall_hex_(p[1]);
            if (low < 0)
                return -1;
            c = high << 4 | low;
            p += 2;
            buf[n++] = (char)c;
        } else {
            n += (int)tcall_utf8_(buf + n, (uint32_t)c);
        }
        if (tilde)
            buf[--n - 1] = c == '1' ? '/' : '~';
        tilde = !tilde && c == '~';
        *at = p;
    }
    return n;
}

/* The child of node i that the pointer's next name means, 0: none. */
static uint32_t tcall_sc_follow_(tcall_sc_ *c, uint32_t i, tcall_str name)
{
    const tcall_node_ *program = c->node;
    int op = tcall_node_op_(&program[i]);
    uint32_t end = tcall_node_after_(program, i), n = 0;
    size_t k;
    if (tcall_node_is_schema_(op)) {
        op = tcall_word_index_(tcall_keyword_names_, name);
        if (op <= 0 || op > TCALL_K_PATTERN_)
            return 0;
        end = tcall_node_child_(program, i, op);
        if (!end && op == TCALL_K_REST_)
            end = tcall_node_child_(program, i, TCALL_K_PREFIX_);
        return end;
    }
    if (!tcall_node_is_list_(op))
        return tcall_node_member_(c->out, i, i, name, &c->steps);
    for (k = 0; k < name.len; k++) {
        if (!tcall_is_digit_(name.ptr[k]) || n > 99999)
            return 0;
        n = n * 10 + (uint32_t)(name.ptr[k] - '0');
    }
    for (i++; i < end && n; n--)
        i = tcall_node_after_(program, i);
    return i < end ? i : 0;
}

/* Finds what a $ref means. */
static void tcall_sc_resolve_(tcall_sc_ *c, tcall_node_ *ref)
{
    const char *at = c->text + (ref->word >> 8), *p = at + 1;
    char name[128];
    uint32_t i = 0;
    int32_t ch = tcall_text_char_(&p);
    if (ch != '#' || (*p != '"' && *p != '/')) {
        tcall_sc_refuse_(c, at, "only $refs like #/... are supported");
        return;
    }
    for (ch = tcall_text_char_(&p); ch == '/'; ch = tcall_text_char_(&p)) {
        int len = tcall_sc_step_(&p, name, sizeof name);
        if (len < 0)
            break;
        i = tcall_sc_follow_(c, i, tcall_slice_(name, (size_t)len));
        if (!i)
            break;
    }
    if (ch >= 0 || !tcall_node_is_schema_(tcall_node_op_(&c->node[i])) ||
        c->steps < 0)
        tcall_sc_refuse_(c, at, "leads to no schema");
    ref->arg = i;
}

/* Every schema must come to keywords that look at the value, without going
 * in circles. A node is grounded when all that apply to the same value are;
 * what is never grounded is part of a circle. */
static void tcall_sc_ground_(tcall_sc_ *c)
{
    tcall_node_ *program = c->node;
    uint32_t i, k, left = c->n, before;
    int rounds = 64; /* more than one only where a $ref leads back */
    do {
        before = left;
        left = 0;
        for (i = c->n; i-- > 0;) {
            int op = tcall_node_op_(&program[i]);
            uint32_t end = tcall_node_after_(program, i), all = 1;
            if (op > TCALL_K_ONEOF_ || program[i].arg >> 31)
                continue;
            for (k = i + 1; k < end; k = tcall_node_after_(program, k)) {
                int child = tcall_node_op_(&program[k]);
                if (child == TCALL_K_REF_)
                    all &= program[program[k].arg].arg >> 31;
                else if (child < TCALL_K_REST_ ||
                         (child > TCALL_K_DEFINITIONS_ &&
                          child < TCALL_K_PATTERN_))
                    all &= program[k].arg >> 31;
            }
            if (op >= TCALL_K_PREFIX_ && op <= TCALL_K_DEFINITIONS_)
                all = 1; /* the value is another one there */
            program[i].arg |= all << 31;
            left += !all;
        }
    } while (left && left < before && --rounds);
    for (i = 0; left && i < c->n; i++)
        if (tcall_node_op_(&program[i]) == TCALL_K_REF_ &&
            !(program[program[i].arg].arg >> 31)) {
            tcall_sc_refuse_(c, c->text + (program[i].word >> 8),
                             "leads back to itself");
            return;
        }
}

/* The root's $schema, before anything depends on it. */
static void tcall_sc_root_draft_(tcall_sc_ *c, const char *p)
{
    int draft = (int)c->draft;
    if (*p != '{')
        return;
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);) {
        const char *value = tcall_text_value_(p);
        if (tcall_text_same_(p, tcall_str_of("$schema"))) {
            draft = tcall_sc_draft_of_(value);
            if (draft < 0)
                tcall_sc_refuse_(c, value, "unknown $schema");
            c->draft = (tcall_draft)draft;
        }
        p = tcall_text_next_(tcall_text_skip_(value));
    }
}

/* Strict JSON, and no larger than offsets reach. */
static int tcall_sc_scan_(tcall_schema *out, tcall_str text)
{
    tcall_scan scan;
    tcall_scan_init(&scan, NULL, NULL, NULL);
    tcall_scan_feed(&scan, text.ptr, text.len);
    if (tcall_scan_end(&scan) == TCALL_OK && text.len < 0xFFFFFF)
        return TCALL_OK;
    out->reason = scan.error ? tcall_error_text(scan.error) : "too large";
    out->at = scan.pos;
    return TCALL_E_SCHEMA;
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    tcall_sc_ c;
    const char *root;
    size_t pad = mem ? (0 - (size_t)(uintptr_t)mem) & 3 : 0;
    uint32_t i;
    memset(out, 0, sizeof *out);
    if (tcall_sc_scan_(out, text) != TCALL_OK)
        return TCALL_E_SCHEMA;
    memset(&c, 0, sizeof c);
    c.out = out;
    c.text = out->text = text.ptr;
    if (mem && size > pad) {
        c.node = (tcall_node_ *)(void *)((char *)mem + pad);
        c.cap = (uint32_t)((size - pad) / sizeof *c.node);
        if (c.cap > TCALL_SPAN_)
            c.cap = TCALL_SPAN_;
    }
    c.steps = TOOLCALL_MAX_STEPS;
    c.draft = draft;
    out->program = c.node;
    root = tcall_text_space_(text.ptr);
    if (*root != '{' && *root != 't' && *root != 'f') {
        out->text = NULL;
        out->reason = "not a schema";
        return TCALL_E_SCHEMA;
    }
    tcall_sc_root_draft_(&c, root);
    if (!out->reason)
        tcall_sc_outline_(&c, root);
    if (c.embedded && c.ref)
        tcall_sc_refuse_(&c, c.embedded, "an inner $id beside $refs");
    out->need = c.n * sizeof *c.node + pad;
    if (c.n > TCALL_SPAN_)
        tcall_sc_refuse_(&c, root, "too large");
    if (out->reason)
        return TCALL_E_SCHEMA;
    if (c.n > c.cap)
        return TCALL_E_MEMORY;
    out->nodes = c.n;
    for (i = 0; i < c.n; i++)
        if (tcall_node_op_(&c.node[i]) == TCALL_K_REF_)
            tcall_sc_resolve_(&c, &c.node[i]);
    if (c.ref && !out->reason)
        tcall_sc_ground_(&c);
    return out->reason ? TCALL_E_SCHEMA : (int)out->need;
}

/* -- Checking ------------------------------------------------------------- */

/* A schema at work on a value. */
typedef struct tcall_ev_frame_ {
    uint32_t schema; /* its node */
    uint32_t pc;     /* the keyword that is at work */
    uint32_t tok;    /* the value */
    uint32_t cur;    /* of this keyword: the member, element or choice ... */
    uint32_t edge;   /* ... and the schema that is applied to it */
    uint8_t n;       /* of choices: how many hold, and 16 for each meant */
    uint8_t have;    /* required properties that were met, 255 and more: 255 */
    uint8_t type;    /* of the value, as the schema sees it */
    uint8_t flags;
} tcall_ev_frame_;

enum {
    TCALL_F_BAD_ = 1,
    TCALL_F_QUIET_ = 2,   /* stop at the first fault, report none */
    TCALL_F_STRICT_ = 4,  /* no coercion */
    TCALL_F_DRY_ = 8,     /* coerce, but mark nothing */
    TCALL_F_ALIKE_ = 14,  /* what a schema hands down */
    TCALL_F_TEST_ = 6,    /* what it hands down to ask a question */
    TCALL_F_RETRY_ = 16,  /* choices: once more, with coercion */
    TCALL_F_LAST_ = 32,   /* choices: the one that decides is at work */
    TCALL_F_KNOWN_ = 64,  /* all members are among the properties */
    TCALL_F_BRANCH_ = 128 /* then or else is at work */
};

/* No answer yet: a frame is at work on it. */
#define TCALL_PUSHED_ (-1)

typedef struct tcall_ev_ {
    const tcall_schema *s;
    const tcall_node_ *program;
    tcall_check *check;
    const char *text; /* of the value */
    tcall_tok *tok;   /* the value's own is the first */
    tcall_ev_frame_ *frame;
    size_t pad, size;              /* of the scratch memory */
    uint32_t depth, deepest, most; /* frames: now, at most, that fit */
    int32_t steps;
    int error;
    uint32_t fault_node, fault_tok; /* the last fault, reported or not */
    uint32_t num_tok;               /* the token that num was read from */
    tcall_num_ num;
} tcall_ev_;

static tcall_str tcall_ev_of_(const tcall_ev_ *e, uint32_t tok)
{
    return tcall_tok_str_(e->text, &e->tok[tok]);
}

static unsigned tcall_ev_kind_(const tcall_ev_ *e, uint32_t tok)
{
    return (unsigned)e->tok[tok].type & TCALL_TYPE_;
}

static uint32_t tcall_ev_tok_after_(const tcall_ev_ *e, uint32_t tok)
{
    return tok + (uint32_t)e->tok[tok].span;
}

/* The number at hand, read once for all keywords that look at it. */
static const tcall_num_ *tcall_ev_num_(tcall_ev_ *e, uint32_t tok)
{
    if (e->num_tok != tok)
        e->num = tcall_num_read_(tcall_ev_of_(e, tok));
    e->num_tok = tok;
    return &e->num;
}

/* Always 0, so that it can be returned. at: in the schema's text. */
static int tcall_ev_fault_(tcall_ev_ *e, unsigned flags, uint32_t node,
                           uint32_t tok, const char *at)
{
    tcall_check *c = e->check;
    e->fault_node = node;
    e->fault_tok = tok;
    if (!(flags & TCALL_F_QUIET_) && c->fault_count++ < c->fault_cap &&
        c->faults) {
        tcall_fault *f = &c->faults[c->fault_count - 1];
        f->node = node;
        f->at = (uint32_t)(at - e->s->text);
        f->tok = tok;
    }
    return 0;
}

/* A keyword is not satisfied by the frame's value. */
static int tcall_ev_fails_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           uint32_t node)
{
    return tcall_ev_fault_(e, f->flags, node, f->tok,
                           tcall_node_at_(e->s, node));
}

/* Scratch above the frames. NULL, with the error, when there is too little. */
static void *tcall_ev_scratch_(tcall_ev_ *e, size_t size)
{
    size_t frames = e->pad + e->depth * sizeof *e->frame;
    if (e->check->need < frames + size)
        e->check->need = frames + size;
    if (frames + size <= e->size)
        return (char *)e->check->memory + frames;
    if (!e->error)
        e->error = TCALL_E_MEMORY;
    return NULL;
}

static bool tcall_ev_pattern_in_(tcall_ev_ *e, uint32_t pattern, tcall_str str)
{
#ifndef TOOLCALL_NO_PATTERN
    uint8_t *cells = (uint8_t *)tcall_ev_scratch_(e, e->s->cells);
    if (cells)
        return tcall_re_search_(e->s, pattern, str, cells, &e->steps);
#else
    (void)e, (void)pattern, (void)str;
#endif
    return false;
}

/* An open container on the way through two values. */
typedef struct tcall_ev_level_ {
    uint32_t tok;  /* of the second value */
    uint32_t cur;  /* its next element; or the key that is likely next */
    uint32_t left; /* its children that were not met yet */
} tcall_ev_level_;

/* Is the scalar in the schema's text equal to the token? type: what the token
 * counts as. */
static bool tcall_ev_equal_scalar_(tcall_ev_ *e, const char *p, uint32_t b,
                                   unsigned type)
{
    tcall_num_ n;
    if (type == TCALL_STRING)
        return *p == '"' && tcall_text_same_(p, tcall_ev_of_(e, b));
    if (type != TCALL_NUMBER)
        return type < TCALL_ARRAY && *p == (e->text[e->tok[b].start] | 0x20);
    if (*p != '-' && !tcall_is_digit_(*p))
        return false;
    n = tcall_num_read_(tcall_text_verbatim_(p));
    return tcall_num_compare_(&n, tcall_ev_num_(e, b)) == 0;
}

static uint32_t tcall_ev_size_(const tcall_ev_ *e, uint32_t tok)
{
    return (uint32_t)tcall_json_count(
        tcall_json_cursor_(e->text, &e->tok[tok]));
}

/* The value of the member that the string at p names, 0: none. The search
 * begins at the key *hint, which moves on behind it. */
static uint32_t tcall_ev_find_(tcall_ev_ *e, uint32_t object, uint32_t *hint,
                               const char *p)
{
    uint32_t end = tcall_ev_tok_after_(e, object), key = *hint, stop = key;
    if (object + 1 == end)
        return 0;
    do {
        uint32_t value = key + 1;
        bool found = tcall_text_same_(p, tcall_ev_of_(e, key));
        e->steps--;
        key = tcall_ev_tok_after_(e, value);
        if (key == end)
            key = object + 1;
        *hint = key;
        if (found)
            return value;
    } while (key != stop);
    return 0;
}

/* Is the JSON text at p equal to the token b, which counts as type? The text
 * is walked in its order; objects of the token are searched. */
static bool tcall_ev_equal_(tcall_ev_ *e, const char *p, uint32_t b,
                            unsigned type)
{
    tcall_ev_level_ *level = NULL;
    uint32_t depth = 0;
    for (;;) {
        if (--e->steps < 0)
            return false;
        if (*p == '{' || *p == '[') {
            if (type != (*p == '{' ? TCALL_OBJECT : TCALL_ARRAY))
                return false;
            level = (tcall_ev_level_ *)tcall_ev_scratch_(e, (depth + 1) *
                                                                sizeof *level);
            if (!level)
                return false;
            level += depth++;
            level->tok = b;
            level->cur = b + 1;
            level->left = tcall_ev_size_(e, b);
            p++;
        } else {
            if (!tcall_ev_equal_scalar_(e, p, b, type))
                return false;
            if (!depth)
                return true;
            p = tcall_text_skip_(p);
        }
        for (; depth; depth--, level--, p++) {
            p = tcall_text_next_(p);
            if (!tcall_text_closes_(p))
                break;
            if (level->left)
                return false;
        }
        if (!depth)
            return true;
        if (!level->left--)
            return false;
        if (*p == '"' && tcall_ev_kind_(e, level->tok) == TCALL_OBJECT) {
            b = tcall_ev_find_(e, level->tok, &level->cur, p);
            p = tcall_text_value_(p);
        } else {
            b = level->cur;
            level->cur = tcall_ev_tok_after_(e, b);
        }
        if (!b)
            return false;
        type = tcall_ev_kind_(e, b);
    }
}

/* Are all the listed names members of the object? */
static int tcall_ev_required_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                              uint32_t node, const char *p)
{
    uint32_t hint = f->tok + 1;
    int ok = 1;
    for (p = tcall_text_next_(p + 1); *p == '"' && e->steps >= 0;
         p = tcall_text_next_(tcall_text_skip_string_(p)), e->steps--)
        if (!tcall_ev_find_(e, f->tok, &hint, p))
            ok = tcall_ev_fault_(e, f->flags, node, f->tok, p);
    return ok;
}

/* Both are scaled so that the divisor m is an integer; then the remainder is
 * carried through the digits. */
static bool tcall_ev_multiple_(const tcall_num_ *n, const tcall_num_ *by,
                               uint32_t m)
{
    const char *p = n->first;
    uint32_t rest = 0;
    int left = n->top - (by->top - tcall_num_digits_(by)), i;
    if (n->zero)
        return true;
    if (left < tcall_num_digits_(n))
        return false;
    for (; left > 0; left--) {
        /* the digit as 10 bits of rest * 10 + digit, without a division */
        uint32_t sum = rest, digit = (uint32_t)tcall_num_digit_(n, &p);
        for (i = 0; i < 9; i++)
            sum = sum >= m - rest ? sum - (m - rest) : sum + rest;
        for (; digit; digit--)
            sum = sum + 1 == m ? 0 : sum + 1;
        rest = sum;
    }
    return rest == 0;
}

/* The sign of the number minus a bound. */
static int tcall_ev_order_(const tcall_num_ *n, int32_t bound)
{
    int64_t v;
    int sign = n->negative ? -1 : 1;
    if (bound == 0)
        return n->zero ? 0 : sign;
    if (!tcall_num_int64_(n, 0, &v))
        return sign;
    if (v != bound)
        return v < bound ? -1 : 1;
    return tcall_num_integral_(n) ? 0 : sign;
}

static bool tcall_ev_bound_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    const tcall_num_ *n = tcall_ev_num_(e, f->tok);
    uint32_t node = f->pc, arg = e->program[node].arg;
    bool multiple = TCALL_RARE_ && op == TCALL_K_MULTIPLE_;
    int order;
    if (arg == TCALL_SIBLING_ && !multiple) {
        node = tcall_node_child_(e->program, f->schema, op - 2);
        if (!node)
            return true;
        arg = e->program[node].arg;
    }
    if (multiple || arg == TCALL_FAR_) {
        tcall_num_ bound =
            tcall_num_read_(tcall_text_verbatim_(tcall_node_at_(e->s, node)));
        if (multiple)
            return tcall_ev_multiple_(n, &bound, arg);
        order = tcall_num_compare_(n, &bound);
    } else {
        order = tcall_ev_order_(n, (int32_t)arg);
    }
    if ((op - TCALL_K_MINIMUM_) & 1)
        order = -order;
    return order > (op >= TCALL_K_ABOVE_ ? 0 : -1);
}

/* Length in characters, elements or members. */
static bool tcall_ev_within_(const tcall_ev_ *e, const tcall_ev_frame_ *f,
                             int op)
{
    uint32_t n, limit = e->program[f->pc].arg;
    bool most = (op - TCALL_K_MINLENGTH_) & 1;
    if (f->type == TCALL_STRING) {
        tcall_str s = tcall_ev_of_(e, f->tok);
        n = (uint32_t)s.len;
        if (n >= limit + most &&
            n / 4 <= limit) /* characters have up to 4 bytes */
            for (n = 0; s.len--;)
                n += ((unsigned char)s.ptr[s.len] & 0xC0) != 0x80;
    } else {
        n = tcall_ev_size_(e, f->tok);
    }
    return most ? n <= limit : n >= limit;
}

/* Each element is written as JSON text into scratch memory, to be compared
 * with those before it. */
static bool tcall_ev_unique_(tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    uint32_t i, k, end = tcall_ev_tok_after_(e, f->tok);
    size_t pad = e->pad;
    bool twice = false;
    for (i = f->tok + 1; i < end && !twice; i = tcall_ev_tok_after_(e, i)) {
        char *text = (char *)tcall_ev_scratch_(e, 0);
        tcall_writer w;
        tcall_writer_init(&w, text,
                          text ? e->size - e->pad - e->depth * sizeof *f : 0);
        tcall_write_json(&w, tcall_json_cursor_(e->text, &e->tok[i]));
        if (!tcall_ev_scratch_(e, w.len + 1))
            break;
        text[w.len] = ']'; /* something has to end a number */
        e->pad = pad + ((w.len + 4) & ~(size_t)3);
        for (k = f->tok + 1; k < i && !twice && !e->error && e->steps >= 0;
             k = tcall_ev_tok_after_(e, k))
            twice = tcall_ev_equal_(e, text, k, tcall_ev_kind_(e, k));
        e->pad = pad;
    }
    return !twice;
}

static bool tcall_ev_enum_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           const char *p)
{
    tcall_str s = tcall_ev_of_(e, f->tok);
    for (p = tcall_text_next_(p + 1);
         !tcall_text_closes_(p) && !e->error && e->steps >= 0;) {
        const char *at = p;
        if (*p == '"' ? f->type == TCALL_STRING && tcall_text_same_(p, s)
                      : tcall_ev_equal_(e, p, f->tok, f->type))
            return true;
        p = tcall_text_skip_(p);
        e->steps -= 1 + (int32_t)(p - at) / 64;
        p = tcall_text_next_(p);
    }
    return false;
}

/* A keyword that applies no schema. */
static int tcall_ev_assert_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    const tcall_node_ *node = &e->program[f->pc];
    const char *at = e->s->text + (node->word >> 8);
    bool ok = true;
    switch (op) {
    case TCALL_K_PATTERN_:
        if (f->type == TCALL_STRING)
            ok = tcall_ev_pattern_in_(e, f->pc, tcall_ev_of_(e, f->tok));
        break;
    case TCALL_K_CONST_: ok = tcall_ev_equal_(e, at, f->tok, f->type); break;
    case TCALL_K_ENUM_: ok = tcall_ev_enum_(e, f, at); break;
    case TCALL_K_MULTIPLE_:
    case TCALL_K_MINIMUM_:
    case TCALL_K_MAXIMUM_:
    case TCALL_K_ABOVE_:
    case TCALL_K_BELOW_:
        if (f->type == TCALL_NUMBER)
            ok = tcall_ev_bound_(e, f, op);
        break;
    case TCALL_K_UNIQUE_:
        if (TCALL_RARE_ && f->type == TCALL_ARRAY)
            ok = tcall_ev_unique_(e, f);
        break;
    case TCALL_K_REQUIRED_:
        if (f->type == TCALL_OBJECT && f->have != node->arg)
            return tcall_ev_required_(e, f, f->pc, at);
        break;
    default: /* lengths: pairs for strings, arrays and objects */
        if (op >= TCALL_K_MINLENGTH_ && op <= TCALL_K_MAXPROPS_ &&
            f->type == TCALL_STRING + ((unsigned)op - TCALL_K_MINLENGTH_) / 2)
            ok = tcall_ev_within_(e, f, op);
    }
    return ok ? 1 : tcall_ev_fails_(e, f, f->pc);
}

static void tcall_ev_mark_(tcall_ev_ *e, uint32_t tok, int mark, unsigned flags)
{
    if (flags & TCALL_F_DRY_)
        return;
    e->check->coerced += e->tok[tok].mark == TCALL_MARK_NONE_;
    e->tok[tok].mark = mark;
}

/* The string may stand for a value of another type: that type, or 0. What is
 * inside a container is checked when it was parsed. */
static unsigned tcall_ev_coerced_(tcall_ev_ *e, uint32_t types, uint32_t tok,
                                  unsigned flags)
{
    tcall_str s = tcall_ev_of_(e, tok);
    unsigned type = TCALL_BOOL;
    int mark = TCALL_MARK_LITERAL_;
    if (!tcall_str_eq(s, tcall_str_of("True")) &&
        !tcall_str_eq(s, tcall_str_of("False"))) {
        tcall_scan scan;
        tcall_tok t;
        tcall_scan_init(&scan, NULL, NULL, NULL);
        tcall_scan_tokens(&scan, s.ptr, &t, 1);
        tcall_scan_feed(&scan, s.ptr, s.len);
        if (tcall_scan_end(&scan) != TCALL_OK || t.start)
            return 0;
        type = (unsigned)t.type & TCALL_TYPE_;
        mark = TCALL_MARK_JSON_;
        if (type < TCALL_BOOL ||
            (type < TCALL_ARRAY && tcall_is_space_(s.ptr[s.len - 1])))
            return 0;
        if (type == TCALL_NUMBER) {
            if (!tcall_num_in_range_(s))
                return 0;
            if (types & TCALL_INTEGER_ &&
                tcall_num_integral_(tcall_ev_num_(e, tok)) &&
                !memchr(s.ptr, 'e', s.len) && !memchr(s.ptr, 'E', s.len))
                types |= 1u << (TCALL_NUMBER - 1);
        }
    }
    if (!(types >> (type - 1) & 1))
        return 0;
    tcall_ev_mark_(e, tok, mark, flags);
    return type;
}

/* The type that a value counts as which is not of the types wanted, 0: that
 * is a fault. */
static unsigned tcall_ev_retype_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                                 unsigned flags)
{
    uint32_t types = e->program[schema].arg >> 24 & 0x7F;
    unsigned type = tcall_ev_kind_(e, tok), as = 0;
    if (type == TCALL_NUMBER && types & TCALL_INTEGER_)
        as = tcall_num_integral_(tcall_ev_num_(e, tok)) ? type : 0;
    else if (type == TCALL_STRING && types && !(flags & TCALL_F_STRICT_))
        as = tcall_ev_coerced_(e, types, tok, flags);
    if (!as)
        tcall_ev_fault_(e, flags, schema, tok, tcall_node_at_(e->s, schema));
    return as;
}

/* Applies a schema to a value: 1 it holds, 0 it does not, TCALL_PUSHED_. With
 * TCALL_NEVER_ as schema the one on top goes on. Assertions are checked up to
 * the next keyword that applies schemas; when there is none, the frame goes,
 * with the answer. */
static int tcall_ev_enter_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                           unsigned flags)
{
    const tcall_node_ *node, *end;
    tcall_ev_frame_ *f;
    int32_t cost;
    if (schema == TCALL_NEVER_) {
        f = &e->frame[e->depth - 1];
    } else {
        uint32_t arg = e->program[schema].arg;
        unsigned type = tcall_ev_kind_(e, tok);
        if (!(arg >> (type + 23) & 1)) {
            type = tcall_ev_retype_(e, schema, tok, flags);
            if (!type || type >= TCALL_ARRAY)
                return type != 0;
        }
        if ((arg & TCALL_SPAN_) == 1)
            return 1;
        if (e->depth >= TOOLCALL_MAX_FRAMES)
            e->error = TCALL_E_DEPTH;
        else if (e->depth >= e->most)
            tcall_ev_scratch_(e, sizeof *f);
        if (e->error)
            return 0;
        f = &e->frame[e->depth++];
        if (e->deepest < e->depth)
            e->deepest = e->depth;
        f->schema = schema;
        f->pc = schema + 1;
        f->tok = tok;
        f->have = 0;
        f->type = (uint8_t)type;
        f->flags = (uint8_t)flags;
    }
    node = &e->program[f->pc];
    end = &e->program[f->schema];
    end += end->arg & TCALL_SPAN_;
    cost = 1 + ((e->tok[f->tok].end - e->tok[f->tok].start) >> 6);
    for (; node < end && (f->flags & 3) != 3; node++, f->pc++) {
        int op = tcall_node_op_(node);
        if (op < TCALL_K_PATTERN_ || op == TCALL_K_REF_)
            return TCALL_PUSHED_;
        e->steps -= cost;
        if (!tcall_ev_assert_(e, f, op))
            f->flags |= TCALL_F_BAD_;
        if (op == TCALL_K_PATTERN_) {
            uint32_t more = (node->arg & TCALL_SPAN_) - 1;
            node += more;
            f->pc += more;
        }
    }
    e->depth--;
    return !(f->flags & TCALL_F_BAD_);
}

/* A null that may count as absent: where coercion is allowed and the property
 * is not required. */
static bool tcall_ev_optional_null_(const tcall_ev_ *e,
                                    const tcall_ev_frame_ *f)
{
    return tcall_ev_kind_(e, f->cur + 1) == TCALL_NULL &&
           !(f->flags & TCALL_F_STRICT_) &&
           !(e->program[f->edge].arg & TCALL_REQUIRED_);
}

/* properties, the keyword that most of the time is spent in. r: what the
 * schema said that was applied last. */
static int tcall_ev_members_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    uint32_t end = tcall_ev_tok_after_(e, f->tok), schema;
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    if (f->type != TCALL_OBJECT)
        return 1;
    if (r < 0) {
        f->flags |= TCALL_F_KNOWN_;
        f->cur = f->tok + 1;
        f->edge = f->pc;
    }
    for (;; f->cur = tcall_ev_tok_after_(e, f->cur + 1), r = TCALL_PUSHED_) {
        if (r < 0) {
            if (f->cur >= end || e->error || --e->steps < 0)
                return 1;
            schema = tcall_node_member_(e->s, f->pc, f->edge,
                                        tcall_ev_of_(e, f->cur), &e->steps);
            if (!schema) {
                f->flags &= (uint8_t)~TCALL_F_KNOWN_;
                continue;
            }
            f->edge = schema;
            if (e->program[schema].arg & TCALL_REQUIRED_ && f->have < 255)
                f->have++;
            r = tcall_ev_enter_(
                e, schema, f->cur + 1,
                tcall_ev_optional_null_(e, f) ? flags | TCALL_F_TEST_ : flags);
            if (r < 0)
                return r;
        }
        if (!r && tcall_ev_optional_null_(e, f)) {
            tcall_ev_mark_(e, f->cur + 1, TCALL_MARK_DROP_, flags);
        } else if (!r) {
            f->flags |= TCALL_F_BAD_;
            if (flags & TCALL_F_QUIET_)
                return 0;
        }
    }
}

/* Is the key matched by a sibling properties or patternProperties? */
static bool tcall_ev_known_(tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    tcall_str key = tcall_ev_of_(e, f->cur);
    uint32_t map = tcall_node_child_(program, f->schema, TCALL_K_PROPERTIES_);
    uint32_t i;
    if (map && tcall_node_member_(e->s, map, map, key, &e->steps))
        return true;
    map = TCALL_RARE_ ? tcall_node_child_(program, f->schema, TCALL_K_PATTERNS_)
                      : 0;
    if (map)
        for (i = map + 1; i < tcall_node_after_(program, map);
             i = tcall_node_after_(program, i))
            if (tcall_node_op_(&program[i]) == TCALL_K_PATTERN_ &&
                tcall_ev_pattern_in_(e, i, key))
                return true;
    return false;
}

/* -- Keywords that go through elements, members or a list of schemas. cur is
 * the element, key or value at hand, edge the schema in the list. ---------- */

/* Where it starts; false: there is nothing to do. */
static bool tcall_ev_walk_begin_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const tcall_node_ *program = e->program;
    uint32_t prefix, i;
    unsigned type = TCALL_OBJECT;
    if (op == TCALL_K_REST_ || op == TCALL_K_EXTRA_ ||
        op == TCALL_K_CONTAINS_ || op == TCALL_K_PREFIX_)
        type = TCALL_ARRAY;
    if (f->type != type && op != TCALL_K_ALLOF_)
        return false;
    f->cur = f->tok + (op <= TCALL_K_PATTERNS_);
    f->edge = f->pc + (op >= TCALL_K_PREFIX_);
    if (op == TCALL_K_ADDITIONAL_)
        return !(f->flags & TCALL_F_KNOWN_);
    if (TCALL_RARE_ && op == TCALL_K_CONTAINS_)
        f->edge = 0; /* counts those that match */
    if (TCALL_RARE_ && op <= TCALL_K_EXTRA_) {
        prefix = tcall_node_child_(program, f->schema, TCALL_K_PREFIX_);
        if (!prefix)
            return op == TCALL_K_REST_;
        for (i = prefix + 1; i < tcall_node_after_(program, prefix) &&
                             f->cur < tcall_ev_tok_after_(e, f->tok);
             i = tcall_node_after_(program, i))
            f->cur = tcall_ev_tok_after_(e, f->cur);
    }
    return true;
}

/* Applies the schema for what is at hand, if there is one. */
static int tcall_ev_walk_apply_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const tcall_node_ *program = e->program;
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    uint32_t schema = f->edge, tok = f->cur;
    if (op == TCALL_K_ADDITIONAL_) {
        if (tcall_ev_known_(e, f))
            return 1;
    } else if (!TCALL_RARE_) {
        ; /* none of those below */
    } else if (op == TCALL_K_PATTERNS_) {
        if (!tcall_ev_pattern_in_(e, f->edge, tcall_ev_of_(e, tok)))
            return 1;
        schema = tcall_node_after_(program, f->edge);
    } else if (op == TCALL_K_CONTAINS_) {
        flags |= TCALL_F_TEST_;
        schema = f->pc;
    } else if (op >= TCALL_K_DEPENDENCIES_ && op <= TCALL_K_DEPREQUIRED_) {
        const char *at = tcall_node_at_(e->s, f->edge);
        uint32_t hint = tok + 1;
        if (!tcall_ev_find_(e, tok, &hint, at))
            return 1;
        if (tcall_node_op_(&program[f->edge]) == TCALL_K_LISTED_)
            return tcall_ev_required_(e, f, f->edge, tcall_text_value_(at));
    }
    if (op != TCALL_K_NAMES_ && e->tok[tok].type & TCALL_KEY_)
        tok++;
    return tcall_ev_enter_(e, schema, tok, flags);
}

static void tcall_ev_walk_next_(const tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    bool tokens = op <= TCALL_K_PATTERNS_;
    if (tokens)
        f->cur = tcall_ev_tok_after_(
            e, f->cur + (e->tok[f->cur].type & TCALL_KEY_ ? 1 : 0));
    if (TCALL_RARE_ && op == TCALL_K_PATTERNS_) {
        if (f->cur < tcall_ev_tok_after_(e, f->tok))
            return;
        f->cur = f->tok + 1; /* the next pattern, which has two nodes */
        f->edge = tcall_node_after_(e->program, f->edge);
    }
    if (!tokens ||
        (TCALL_RARE_ && (op == TCALL_K_PREFIX_ || op == TCALL_K_PATTERNS_)))
        f->edge = tcall_node_after_(e->program, f->edge);
}

/* contains: were there enough, and not too many? */
static int tcall_ev_contained_(tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    uint32_t min = tcall_node_child_(program, f->schema, TCALL_K_MINCONTAINS_);
    uint32_t max = tcall_node_child_(program, f->schema, TCALL_K_MAXCONTAINS_);
    if (f->edge < (min ? program[min].arg : 1))
        return tcall_ev_fails_(e, f, min ? min : f->pc);
    if (max && f->edge > program[max].arg)
        return tcall_ev_fails_(e, f, max);
    return 1;
}

/* r: what the schema said that was applied last. */
static int tcall_ev_walk_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, int r)
{
    uint32_t end = tcall_ev_tok_after_(e, f->tok);
    bool contains = TCALL_RARE_ && op == TCALL_K_CONTAINS_;
    uint32_t last = contains ? end : tcall_node_after_(e->program, f->pc);
    if (r < 0 && !tcall_ev_walk_begin_(e, f, op))
        return 1;
    for (;; r = TCALL_PUSHED_) {
        if (r < 0) {
            if (f->cur >= end || f->edge >= last)
                break;
            if (e->error || --e->steps < 0)
                return 0;
            r = tcall_ev_walk_apply_(e, f, op);
            if (r < 0)
                return r;
        }
        if (contains) {
            f->edge += (uint32_t)r;
        } else if (!r) {
            f->flags |= TCALL_F_BAD_;
            if (f->flags & TCALL_F_QUIET_)
                return 0;
        }
        tcall_ev_walk_next_(e, f, op);
    }
    return contains ? tcall_ev_contained_(e, f) : 1;
}

/* A choice failed. Was that because another one was meant? By its type, or by
 * a constant that tells the alternatives apart. */
static bool tcall_ev_other_meant_(const tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    int op = tcall_node_op_(&e->program[e->fault_node]);
    bool same = e->fault_tok == f->tok;
    if (tcall_node_is_schema_(op) && op != TCALL_K_NOT_ &&
        op != TCALL_K_CONTAINS_)
        return same;
    return op == TCALL_K_CONST_ || (op == TCALL_K_ENUM_ && !same);
}

/* anyOf, oneOf. First all strictly; when none holds and coercion is allowed,
 * all again to see how many would then; the one that alone would, or alone was
 * meant, runs last and decides. */
static int tcall_ev_choose_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, int r)
{
    uint32_t end = tcall_node_after_(e->program, f->pc);
    unsigned alike = f->flags & TCALL_F_ALIKE_, hold;
    bool retry;
    if (r < 0)
        f->flags &= (uint8_t) ~(TCALL_F_RETRY_ | TCALL_F_LAST_);
    else if (f->flags & TCALL_F_LAST_)
        return r;
    retry = f->flags & TCALL_F_RETRY_;
    if (r < 0) {
        f->n = 0;
        f->edge = f->pc + 1;
    }
    for (;;) {
        if (r < 0 && f->edge < end) {
            r = tcall_ev_enter_(e, f->edge, f->tok,
                                alike | TCALL_F_DRY_ |
                                    (retry ? TCALL_F_QUIET_ : TCALL_F_TEST_));
            if (r < 0)
                return r;
        }
        if (e->error)
            return 0;
        hold = f->n & 15;
        if (r >= 0) {
            if (r && op == TCALL_K_ANYOF_ && !retry)
                return 1;
            if (r || (!hold && !tcall_ev_other_meant_(e, f))) {
                f->cur = f->edge;
                if (r)
                    f->n = (uint8_t)(f->n + (hold < 2));
                else if (f->n < 0x20)
                    f->n = (uint8_t)(f->n + 0x10);
            }
            f->edge = tcall_node_after_(e->program, f->edge);
            r = TCALL_PUSHED_;
            continue;
        }
        if (hold == 1 && !retry)
            return 1;
        if (hold == 1 || (f->n == 0x10 && !(alike & TCALL_F_QUIET_) &&
                          (retry || alike & TCALL_F_STRICT_))) {
            f->flags |= TCALL_F_LAST_;
            return tcall_ev_enter_(e, f->cur, f->tok, alike);
        }
        if (hold || retry || alike & TCALL_F_STRICT_)
            return tcall_ev_fails_(e, f, f->pc);
        f->flags |= TCALL_F_RETRY_;
        retry = true;
        f->n = 0;
        f->edge = f->pc + 1;
    }
}

static int tcall_ev_if_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    unsigned alike = f->flags & TCALL_F_ALIKE_;
    uint32_t branch;
    if (r < 0) {
        f->flags &= (uint8_t)~TCALL_F_BRANCH_;
        r = tcall_ev_enter_(e, f->pc, f->tok, alike | TCALL_F_TEST_);
    }
    if (r < 0 || f->flags & TCALL_F_BRANCH_)
        return r;
    f->flags |= TCALL_F_BRANCH_;
    branch = tcall_node_child_(e->program, f->schema,
                               r ? TCALL_K_THEN_ : TCALL_K_ELSE_);
    return branch ? tcall_ev_enter_(e, branch, f->tok, alike) : 1;
}

/* The keyword at work in f. r: the answer it waited for, or TCALL_PUSHED_ when
 * it begins. The same is returned: its own answer, or that it waits. */
static int tcall_ev_apply_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    const tcall_node_ *node = &e->program[f->pc];
    int op = tcall_node_op_(node);
    unsigned alike = f->flags & TCALL_F_ALIKE_;
    switch (op) {
    case TCALL_K_PROPERTIES_: return tcall_ev_members_(e, f, r);
    case TCALL_K_ANYOF_:
    case TCALL_K_ONEOF_: return tcall_ev_choose_(e, f, op, r);
    case TCALL_K_REF_:
        return r < 0 ? tcall_ev_enter_(e, node->arg, f->tok, alike) : r;
    case TCALL_K_NOT_:
        if (r < 0)
            r = tcall_ev_enter_(e, f->pc, f->tok, alike | TCALL_F_TEST_);
        return r <= 0 ? r < 0 ? r : 1 : tcall_ev_fails_(e, f, f->pc);
    case TCALL_K_IF_:
        if (TCALL_RARE_)
            return tcall_ev_if_(e, f, r);
        /* fall through */
    case TCALL_K_THEN_:
    case TCALL_K_ELSE_:
    case TCALL_K_DEFS_:
    case TCALL_K_DEFINITIONS_: return 1;
    default: return tcall_ev_walk_(e, f, op, r);
    }
}

/* The machine: until the root's schema has answered. */
static int tcall_ev_run_(tcall_ev_ *e)
{
    int r = tcall_ev_enter_(e, 0, 0,
                            e->check->coerce ? 0 : (unsigned)TCALL_F_STRICT_);
    while (e->depth && !e->error) {
        tcall_ev_frame_ *f = &e->frame[e->depth - 1];
        if (--e->steps < 0)
            e->error = TCALL_E_BUDGET;
        r = tcall_ev_apply_(e, f, r);
        if (r < 0)
            continue;
        if (!r)
            f->flags |= TCALL_F_BAD_;
        f->pc = tcall_node_after_(e->program, f->pc);
        r = tcall_ev_enter_(e, TCALL_NEVER_, 0, 0);
    }
    return r;
}

static void tcall_ev_unmark_(tcall_ev_ *e)
{
    int i;
    for (i = 0; i < e->tok->span; i++)
        e->tok[i].mark = TCALL_MARK_NONE_;
    e->check->coerced = 0;
}

int tcall_schema_check(const tcall_schema *s, tcall_json value,
                       tcall_check *check)
{
    tcall_ev_ e;
    size_t pad = (0 - (size_t)(uintptr_t)check->memory) & 3;
    int ok;
    check->fault_count = check->coerced = check->need = 0;
    if (!s->nodes || !value.tok)
        return TCALL_E_USAGE;
    memset(&e, 0, sizeof e);
    e.s = s;
    e.program = s->program;
    e.check = check;
    e.text = value.text;
    /* tokens lie in the caller's memory; only marks are written */
    e.tok = (tcall_tok *)(uintptr_t)value.tok;
    e.num_tok = TCALL_NEVER_;
    e.pad = pad;
    if (check->memory && check->size > pad) {
        e.frame = (tcall_ev_frame_ *)(void *)((char *)check->memory + pad);
        e.size = check->size;
        e.most = (uint32_t)((e.size - pad) / sizeof *e.frame);
    }
    e.steps = TOOLCALL_MAX_STEPS;
    tcall_ev_unmark_(&e);
    ok = tcall_ev_run_(&e);
    if (!e.error && e.steps < 0)
        e.error = TCALL_E_BUDGET;
    if (check->need < pad + e.deepest * sizeof *e.frame)
        check->need = pad + e.deepest * sizeof *e.frame;
    if (check->coerced && (!ok || e.error))
        tcall_ev_unmark_(&e);
    if (e.error)
        return e.error;
    return ok ? TCALL_OK : TCALL_E_INVALID;
}

/* -- Telling what is wrong ------------------------------------------------ */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

static void tcall_show_string_(tcall_writer *w, tcall_str s)
{
    bool cut = s.len > TCALL_SHOWN_;
    tcall_write_comma_(w);
    tcall_write_bytes(w, "\"", 1);
    if (cut)
        s.len = tcall_utf8_cut_(s.ptr, TCALL_SHOWN_);
    tcall_write_content_(w, s);
    tcall_write_text(w, cut ? "...\"" : "\"");
}

/* A value of the schema's text. */
static void tcall_show_text_(tcall_writer *w, const char *p)
{
    tcall_str s = tcall_text_verbatim_(p);
    if (s.len <= TCALL_SHOWN_)
        tcall_write_verbatim(w, s);
    else
        tcall_show_string_(w, s);
}

/* Of an array the elements, of an object the keys: as many as fit. */
static void tcall_show_list_(tcall_writer *w, const char *p)
{
    size_t room = w->len + 2 * TCALL_SHOWN_;
    bool object = *p == '{';
    tcall_write_open(w, '[');
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);
         p = tcall_text_next_(tcall_text_skip_(p))) {
        if (w->len > room) {
            tcall_write_string(w, "...");
            break;
        }
        tcall_show_text_(w, p);
        if (object)
            p = tcall_text_value_(p);
    }
    tcall_write_close(w, ']');
}

static void tcall_show_value_(tcall_writer *w, tcall_json v)
{
    tcall_str s = tcall_json_str(v);
    switch (tcall_json_type(v)) {
    case TCALL_OBJECT: tcall_write_string(w, "an object"); break;
    case TCALL_ARRAY: tcall_write_string(w, "an array"); break;
    case TCALL_STRING: tcall_show_string_(w, s); break;
    default: tcall_write_verbatim(w, s);
    }
}

/* One step of a JSON Pointer: ~ and / escaped. */
static void tcall_show_step_(tcall_writer *w, tcall_str name)
{
    tcall_write_content_(w, tcall_slice_("/", 1));
    for (; name.len; name.len--, name.ptr++) {
        bool slash = *name.ptr == '/';
        if (slash || *name.ptr == '~')
            tcall_write_bytes(w, slash ? "~1" : "~0", 2);
        else
            tcall_write_content_(w, tcall_slice_(name.ptr, 1));
    }
}

/* An index: without the comma that a value would get. */
static void tcall_show_index_(tcall_writer *w, int index)
{
    tcall_show_step_(w, tcall_slice_(NULL, 0));
    w->last = 0;
    tcall_write_int(w, index);
}

/* "path": the JSON Pointer of a token; of a key that of its value. */
static void tcall_show_path_(tcall_writer *w, tcall_json root,
                             const tcall_tok *tok)
{
    tcall_json v = root, next;
    int i;
    tcall_write_key(w, "path");
    tcall_write_bytes(w, "\"", 1);
    while (v.tok < tok) {
        v = tcall_json_first(v);
        for (i = 0; next = tcall_json_next(v), next.tok; v = next, i++)
            if (next.tok - (next.tok->type & TCALL_MEMBER_ ? 1 : 0) > tok)
                break;
        if (!v.tok)
            break;
        if (v.tok->type & TCALL_MEMBER_)
            tcall_show_step_(w, tcall_json_key(v));
        else
            tcall_show_index_(w, i);
    }
    tcall_write_bytes(w, "\"", 1);
}

/* The node that this one is a child of. */
static uint32_t tcall_node_parent_(const tcall_schema *s, uint32_t node)
{
    uint32_t i = node;
    while (i > 0)
        if (tcall_node_after_(s->program, --i) > node)
            break;
    return i;
}

static void tcall_show_types_(tcall_writer *w, uint32_t types)
{
    const char *name = tcall_type_names_;
    bool several = (types & (types - 1)) != 0;
    if (several)
        tcall_write_open(w, '[');
    for (; types; types >>= 1, name += strlen(name) + 1)
        if (types & 1)
            tcall_write_string(w, name);
    if (several)
        tcall_write_close(w, ']');
}

/* All types of the alternatives, 0 when one of them takes any. */
static uint32_t tcall_node_types_(const tcall_schema *s, uint32_t choice)
{
    const tcall_node_ *program = s->program;
    uint32_t i, ref, types = 0, own;
    for (i = choice + 1; i < tcall_node_after_(program, choice);
         i = tcall_node_after_(program, i)) {
        ref = tcall_node_child_(program, i, TCALL_K_REF_);
        own = program[ref ? program[ref].arg : i].arg >> 24 & 0x7F;
        if (own == TCALL_ANY_ >> 24)
            return 0;
        types |= own;
    }
    return types;
}

int tcall_write_fault(tcall_writer *w, const tcall_schema *s, tcall_json value,
                      const tcall_fault *fault)
{
    tcall_json found = tcall_json_cursor_(value.text, value.tok + fault->tok);
    const tcall_node_ *node = &s->program[fault->node];
    uint32_t parent = tcall_node_parent_(s, fault->node), types = 0, map;
    const char *at = s->text + fault->at, *message = "not satisfied";
    int op = tcall_node_op_(node), name = op;
    bool missing = false;
    if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
        types = tcall_node_types_(s, fault->node);
        if (types >> (tcall_json_type(found) - 1) & 1)
            types = 0;
    } else if (tcall_node_is_schema_(op) && op != TCALL_K_NOT_ &&
               op != TCALL_K_CONTAINS_) {
        types = node->arg >> 24 & 0x7F;
        message = "not allowed";
        if (types)
            name = TCALL_K_TYPE_;
        else if (op == TCALL_K_ADDITIONAL_) {
            map = tcall_node_child_(s->program, parent, TCALL_K_PROPERTIES_);
            at = map ? tcall_node_at_(s, map) : "[]";
        } else
            at = NULL; /* it is only false */
    } else if (op == TCALL_K_REQUIRED_ || op == TCALL_K_LISTED_) {
        missing = true;
        message = "missing property";
        if (op == TCALL_K_LISTED_)
            name = tcall_node_op_(&s->program[parent]);
    }
    tcall_write_open(w, '{');
    tcall_show_path_(w, value, found.tok);
    tcall_write_key(w, "keyword");
    tcall_write_string(w, tcall_word_(tcall_keyword_names_, name));
    tcall_write_key(w, "message");
    tcall_write_string(w, types ? "wrong type" : message);
    if (at)
        tcall_write_key(w, "expected");
    if (types)
        tcall_show_types_(w, types);
    else if (at && (*at == '[' || op == TCALL_K_ADDITIONAL_))
        tcall_show_list_(w, at);
    else if (at)
        tcall_show_text_(w, at);
    if (!missing) {
        tcall_write_key(w, "found");
        tcall_show_value_(w, found);
    }
    return tcall_write_close(w, '}');
}

int tcall_write_faults(tcall_writer *w, const tcall_schema *s, tcall_json value,
                       const tcall_check *check)
{
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < check->fault_count && i < check->fault_cap; i++)
        tcall_write_fault(w, s, value, &check->faults[i]);
    return tcall_write_close(w, ']');
}

int tcall_write_coercions(tcall_writer *w, tcall_json value)
{
    int i;
    tcall_write_open(w, '[');
    for (i = 0; value.tok && i < value.tok->span; i++) {
        const tcall_tok *tok = value.tok + i;
        if (tok->mark == TCALL_MARK_NONE_)
            continue;
        tcall_write_open(w, '{');
        tcall_show_path_(w, value, tok);
        tcall_write_key(w, "from");
        tcall_show_value_(w, tcall_json_cursor_(value.text, tok));
        if (tok->mark != TCALL_MARK_DROP_) {
            tcall_write_key(w, "to");
            tcall_write_comma_(w);
            tcall_write_scalar_(w, value.text, tok);
        }
        tcall_write_close(w, '}');
    }
    return tcall_write_close(w, ']');
}

int tcall_write_refusal(tcall_writer *w, const tcall_schema *s)
{
    const char *p = s->text, *at;
    tcall_write_text(w, s->reason ? s->reason : "ok");
    if (!s->reason || !p)
        return w->error;
    at = p + s->at;
    tcall_write_text(w, " at ");
    for (p = tcall_text_space_(p); p < at && (*p == '{' || *p == '[');) {
        bool object = *p == '{';
        const char *key = tcall_text_next_(p + 1), *next = key;
        int i = -1;
        do {
            p = object ? tcall_text_value_(key = next) : next;
            next = tcall_text_next_(tcall_text_skip_(p));
            i++;
        } while (next <= at && !tcall_text_closes_(next));
        if (!object)
            tcall_show_index_(w, i);
        else
            tcall_show_step_(
                w, tcall_slice_(key + 1, tcall_text_verbatim_(key).len - 2));
    }
    w->last = 0;
    tcall_write_text(w, ": ");
    w->last = 0;
    tcall_show_text_(w, at);
    return w->error;
}
/* ==========================================================================
 * >>tools
 */

unsigned tcall_needs(const tcall_tool *tool)
{
    return tool->permissions ? tool->permissions : (unsigned)TCALL_EVERYTHING;
}

/* All that the tool needs is among the permissions given. */
static bool tcall_allowed_(const tcall_tool *tool, unsigned allow)
{
    return (tcall_needs(tool) & ~allow) == 0;
}

size_t tcall_peak(const tcall *tc)
{
    return tc->block.peak;
}

const tcall_tool *tcall_find(const tcall *tc, tcall_str name)
{
    size_t i;
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_str_eq(tcall_str_of(tc->desc.tools[i].name), name))
            return &tc->desc.tools[i];
    return NULL;
}

/* Every provider takes such a name; some take more. */
static bool tcall_name_ok_(const char *name)
{
    size_t i;
    for (i = 0; name[i]; i++) {
        char c = (char)(name[i] | 0x20);
        bool letter = (c >= 'a' && c <= 'z') || name[i] == '_';
        bool other = tcall_is_digit_(name[i]) || name[i] == '-';
        if (i == 64 || !(letter || (other && i > 0)))
            return false;
    }
    return i > 0;
}

/* One line of the report: "name: what"; a refused schema says why itself. */
static int tcall_fault_line_(tcall *tc, const tcall_tool *tool,
                             const char *subject, const char *what,
                             const tcall_schema *refused)
{
    tcall_writer *w = tc->desc.report;
    if (w) {
        tcall_write_text(w, tool->name ? tool->name : "(no name)");
        tcall_write_text(w, ": ");
        tcall_write_text(w, subject);
        tcall_write_text(w, what);
        if (refused)
            tcall_write_refusal(w, refused);
        tcall_write_text(w, "\n");
    }
    return TCALL_E_TOOL;
}

/* Compile into the free part of the block; the program is not held yet. */
static int tcall_tool_compile_(tcall *tc, tcall_schema *out, const char *text)
{
    tcall_block *b = &tc->block;
    int r = tcall_schema_compile(out, tcall_str_of(text), tcall_block_gap_(b),
                                 tcall_block_free_(b), TCALL_DRAFT_2020);
    if (r == TCALL_E_MEMORY || r >= 0)
        if (!tcall_block_room_(b, r < 0 ? out->need : (size_t)r))
            r = TCALL_E_MEMORY;
    return r;
}

/* A schema of a row: it must compile; keep holds its program in the block. A
 * foreign validator decides itself what it can check. */
static int tcall_schema_add_(tcall *tc, const tcall_tool *tool,
                             const char *which, const char *text,
                             tcall_schema *keep)
{
    tcall_schema scratch, *s = keep ? keep : &scratch;
    int r;
    if (!text)
        return TCALL_OK;
    if (tc->desc.validator) {
        tcall_scan scan;
        tcall_scan_init(&scan, NULL, NULL, NULL);
        tcall_scan_feed(&scan, text, strlen(text));
        return tcall_scan_end(&scan) < 0
                   ? tcall_fault_line_(tc, tool, which, "is not JSON", NULL)
                   : TCALL_OK;
    }
    r = tcall_tool_compile_(tc, s, text);
    if (r == TCALL_E_SCHEMA)
        return tcall_fault_line_(tc, tool, which, "", s);
    if (r >= 0 && keep)
        tcall_block_grow_(&tc->block, (size_t)r);
    return r < 0 ? r : TCALL_OK;
}

/* All faults of one row but for its schemas. */
static int tcall_tool_check_(tcall *tc, const tcall_tool *tool)
{
    int r = TCALL_OK;
    const tcall_tool *other = tc->desc.tools;
    if (!tool->name || !tcall_name_ok_(tool->name))
        r = tcall_fault_line_(tc, tool, "the name ",
                              "must be 1 to 64 of A-Z a-z 0-9 _ - and begin "
                              "with a letter or _",
                              NULL);
    for (; tool->name && other != tool; other++)
        if (other->name && strcmp(other->name, tool->name) == 0)
            r = tcall_fault_line_(tc, tool, "another tool ", "has this name",
                                  NULL);
    if (!tool->run)
        r = tcall_fault_line_(tc, tool, "has no run function", "", NULL);
    if (tool->fields && !tool->bind)
        r = tcall_fault_line_(tc, tool,
                              "has fields: ", "set bind to tcall_bind", NULL);
    if (!tool->parameters && !tool->allow_no_schema)
        r = tcall_fault_line_(tc, tool, "has no schema: ",
                              "set parameters, or allow_no_schema with a "
                              "no_schema_mode",
                              NULL);
    return r;
}

/* The error of a table: a lack of memory counts more than a wrong row, since
 * with it not all rows could be judged. */
static int tcall_worse_(int a, int b)
{
    return a == TCALL_OK || b == TCALL_E_MEMORY ? b : a;
}

static int tcall_tool_add_(tcall *tc, size_t index)
{
    const tcall_tool *tool = &tc->desc.tools[index];
    tcall_schema *keep = tc->schemas ? &tc->schemas[index] : NULL;
    int r = tcall_tool_check_(tc, tool);
    r = tcall_worse_(
        r, tcall_schema_add_(tc, tool, "parameters: ", tool->parameters, keep));
    r = tcall_worse_(
        r, tcall_schema_add_(tc, tool, "output: ", tool->output, NULL));
    return tcall_worse_(r, tcall_schema_add_(tc, tool, "provider_schema: ",
                                             tool->provider_schema, NULL));
}

int tcall_init(tcall *tc, const tcall_desc *desc)
{
    size_t i, table;
    int r = TCALL_OK;
    memset(tc, 0, sizeof *tc);
    tc->desc = *desc;
    tcall_block_init(&tc->block, desc->block, desc->block_size);
    table = (desc->tool_count * sizeof(tcall_schema) + 7) & ~(size_t)7;
    if (!desc->lazy && !desc->validator) {
        tc->schemas = (tcall_schema *)(void *)tcall_block_gap_(&tc->block);
        if (!tcall_block_grow_(&tc->block, table)) {
            tc->schemas = NULL;
            r = TCALL_E_MEMORY;
        }
    }
    for (i = 0; i < desc->tool_count; i++)
        r = tcall_worse_(r, tcall_tool_add_(tc, i));
    if (r < 0)
        tc->desc.tool_count = 0;
    return r;
}

static uint32_t tcall_now_(const tcall *tc)
{
    return tc->desc.now_ms ? tc->desc.now_ms(tc->desc.user) : 0;
}

static void tcall_tell_(tcall *tc, tcall_event *event, tcall_event_kind kind)
{
    event->kind = kind;
    if (tc->desc.on_event)
        tc->desc.on_event(tc->desc.user, event);
}

static void tcall_tell_call_(tcall *tc, const tcall_call *call,
                             tcall_event_kind kind, tcall_str text)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.call = call;
    event.error = call->error;
    event.text = text;
    event.ms = kind == TCALL_EVENT_END ? call->run_ms : call->hydrate_ms;
    tcall_tell_(tc, &event, kind);
}

/* ==========================================================================
 * >>hydrate
 *
 * What a call needs is built up at the end of the block: the program of its
 * schema (when lazy), the repaired text (if any), the list of coercions (if
 * any), the arguments, the struct. Each is made in the free part and then
 * moved there, so nothing has to know its size beforehand.
 */

void tcall_release(tcall *tc, tcall_call *call)
{
    tc->block.high = call->mark;
    call->args = tcall_json_none_();
    call->bound = NULL;
}

/* Free memory for tokens and the like: aligned, behind `skip` bytes of it. */
static tcall_str tcall_hydrate_gap_(const tcall_block *b, size_t skip)
{
    size_t start = (b->low + skip + 7) & ~(size_t)7;
    size_t end = b->size - b->high;
    return tcall_slice_(b->base + (start < end ? start : end),
                        start < end ? end - start : 0);
}

/* Holds n bytes that were made at `from` in the free part. */
static char *tcall_hydrate_hold_(tcall_block *b, const char *from, size_t n)
{
    char *to = (char *)tcall_block_take_(b, n);
    if (to)
        memmove(to, from, n);
    return to;
}

/* Parses text into the end of the block; what lies in the first `skip` bytes
 * of the free part (the text itself, perhaps) is left alone. */
static int tcall_hydrate_read_(tcall *tc, tcall_call *call, tcall_str text,
                               size_t skip)
{
    tcall_block *b = &tc->block;
    tcall_str gap = tcall_hydrate_gap_(b, skip);
    tcall_args args;
    const char *held;
    int r = tcall_args_read(&args, text, tc->desc.strict_arguments,
                            (void *)(b->base + (gap.ptr - b->base)), gap.len);
    if (r == TCALL_E_MEMORY)
        tcall_block_room_(b,
                          (size_t)(gap.ptr - tcall_block_gap_(b)) + args.used);
    if (r < 0) {
        call->error_at = args.at;
        return r;
    }
    if (!skip)
        call->fixes = args.fixes;
    held = tcall_hydrate_hold_(b, gap.ptr, args.used);
    call->args.text = held + (args.root.text - gap.ptr);
    call->args.tok =
        (const tcall_tok *)(const void *)(held + ((const char *)args.root.tok -
                                                  gap.ptr));
    return TCALL_OK;
}

/* The compiled schema: there since tcall_init, or made for this call. */
static int tcall_hydrate_schema_(tcall *tc, tcall_call *call)
{
    tcall_block *b = &tc->block;
    const char *text = call->tool->parameters;
    int r;
    if (!text || tc->desc.validator)
        return TCALL_OK;
    if (tc->schemas) {
        call->schema = tc->schemas[call->tool - tc->desc.tools];
        return TCALL_OK;
    }
    r = tcall_tool_compile_(tc, &call->schema, text);
    if (r < 0)
        return r;
    call->schema.program =
        (const tcall_node_ *)(const void *)tcall_hydrate_hold_(
            b, (const char *)call->schema.program,
            call->schema.nodes * sizeof(tcall_node_));
    return call->schema.program ? TCALL_OK : TCALL_E_MEMORY;
}

static int tcall_hydrate_check_(tcall *tc, tcall_call *call, bool coerce)
{
    tcall_str gap = tcall_hydrate_gap_(&tc->block, 0);
    tcall_check check;
    int r;
    memset(&check, 0, sizeof check);
    check.memory = (void *)(tc->block.base + (gap.ptr - tc->block.base));
    check.size = gap.len;
    check.faults = call->fault;
    check.fault_cap = TOOLCALL_MAX_FAULTS;
    check.coerce = coerce;
    r = tcall_schema_check(&call->schema, call->args, &check);
    if (r == TCALL_OK || r == TCALL_E_MEMORY)
        tcall_block_room_(&tc->block, check.need);
    if (coerce)
        call->coercions = (uint16_t)check.coerced;
    call->faults = (uint8_t)(check.fault_count < TOOLCALL_MAX_FAULTS
                                 ? check.fault_count
                                 : TOOLCALL_MAX_FAULTS);
    return r;
}

/* Coercion only marks the values it would change. Write the arguments as they
 * are meant, read that text and check it strictly: so what is checked, shown,
 * run and logged is one and the same value. */
static int tcall_hydrate_rewrite_(tcall *tc, tcall_call *call, size_t base)
{
    tcall_block *b = &tc->block;
    tcall_json marked = call->args;
    tcall_writer w;
    size_t text;
    int r;
    tcall_writer_init(&w, tcall_block_gap_(b), tcall_block_free_(b));
    tcall_write_json(&w, marked);
    text = w.len;
    w.last = 0;
    tcall_write_coercions(&w, marked);
    if (!tcall_block_room_(b, w.len))
        return TCALL_E_MEMORY;
    b->high = base;
    call->coerced.len = w.len - text;
    call->coerced.ptr = tcall_hydrate_hold_(b, w.buf + text, call->coerced.len);
    r = tcall_hydrate_read_(tc, call, tcall_slice_(w.buf, text), text);
    return r < 0 ? r : tcall_hydrate_check_(tc, call, false);
}

static int tcall_hydrate_foreign_(tcall *tc, tcall_call *call)
{
    const tcall_validator *v = tc->desc.validator;
    tcall_block *b = &tc->block;
    tcall_writer why;
    int r;
    tcall_writer_init(&why, tcall_block_gap_(b), tcall_block_free_(b));
    r = v->check(v->user, call->tool, call->args, &why);
    call->why.len = why.fill;
    call->why.ptr = tcall_hydrate_hold_(b, why.buf, why.fill);
    if (!call->why.ptr)
        call->why.len = 0;
    return r < 0 ? r : TCALL_OK;
}

/* parse and validate; base: what the block's end holds besides them. */
static int tcall_hydrate_try_(tcall *tc, tcall_call *call, size_t base)
{
    int r;
    tc->block.high = base;
    call->stage = TCALL_STAGE_PARSE;
    if (call->cut && !call->repaired)
        return call->cut < 0 ? call->cut : TCALL_E_CUT;
    r = tcall_hydrate_read_(tc, call, call->arguments, 0);
    if (r < 0 || !call->tool->parameters)
        return r;
    call->stage = TCALL_STAGE_VALIDATE;
    if (tc->desc.validator)
        r = tcall_hydrate_foreign_(tc, call);
    else
        r = tcall_hydrate_check_(tc, call, !tc->desc.no_coercion);
    if (r == TCALL_OK && call->coercions)
        r = tcall_hydrate_rewrite_(tc, call, base);
    call->validated = r == TCALL_OK;
    return r;
}

/* The one try to mend what was refused. */
static int tcall_hydrate_repair_(tcall *tc, tcall_call *call, size_t base)
{
    tcall_block *b = &tc->block;
    tcall_writer w;
    const char *held;
    tcall_event event;
    int r = call->error;
    if (!tc->desc.repair || r == TCALL_E_MEMORY)
        return r;
    tc->repairs++;
    tcall_writer_init(&w, tcall_block_gap_(b), tcall_block_free_(b));
    if (tc->desc.repair(tc->desc.user, call, &w) < 0 || w.error)
        return r;
    b->high = base;
    held = tcall_hydrate_hold_(b, w.buf, w.fill);
    if (!held)
        return TCALL_E_MEMORY;
    call->original = call->arguments;
    call->arguments = tcall_slice_(held, w.fill);
    call->repaired = true;
    memset(&event, 0, sizeof event);
    event.call = call;
    event.error = r;
    event.text = call->arguments;
    tcall_tell_(tc, &event, TCALL_EVENT_REPAIR);
    return tcall_hydrate_try_(tc, call, b->high);
}

static int tcall_hydrate_bind_(tcall *tc, tcall_call *call)
{
    tcall_block *b = &tc->block;
    const tcall_tool *tool = call->tool;
    char path[64];
    int r;
    call->stage = TCALL_STAGE_BIND;
    if (!tool->bind)
        return TCALL_OK;
    call->bound = tcall_block_take_(b, tool->args_size);
    if (!call->bound)
        return TCALL_E_MEMORY;
    memset(call->bound, 0, tool->args_size);
    r = tool->bind(call->bound, call->args, tool->fields, path, sizeof path);
    if (r < 0) {
        call->why.len = strlen(path);
        call->why.ptr = tcall_hydrate_hold_(b, path, call->why.len);
        call->why.len = call->why.ptr ? call->why.len : 0;
    }
    return r;
}

int tcall_hydrate(tcall *tc, tcall_call *call)
{
    uint32_t before = tcall_now_(tc);
    size_t base;
    int r;
    call->mark = tc->block.high;
    call->stage = TCALL_STAGE_FIND;
    call->tool = tcall_find(tc, call->name);
    r = call->tool ? tcall_hydrate_schema_(tc, call) : TCALL_E_UNKNOWN;
    base = tc->block.high;
    if (r == TCALL_OK) {
        r = call->error = tcall_hydrate_try_(tc, call, base);
        if (r < 0)
            r = tcall_hydrate_repair_(tc, call, base);
    }
    if (r == TCALL_OK)
        r = tcall_hydrate_bind_(tc, call);
    call->error = r;
    call->hydrate_ms = tcall_now_(tc) - before;
    tcall_tell_call_(tc, call, TCALL_EVENT_HYDRATED, tcall_slice_(NULL, 0));
    return r;
}

int tcall_write_errors(const tcall_call *call, tcall_writer *w)
{
    size_t near_len = call->arguments.len;
    if (call->faults && call->args.tok) {
        size_t i;
        tcall_write_key(w, "errors");
        tcall_write_open(w, '[');
        for (i = 0; i < call->faults; i++)
            tcall_write_fault(w, &call->schema, call->args, &call->fault[i]);
        tcall_write_close(w, ']');
    } else if (call->why.len) {
        tcall_write_key(w, "errors");
        tcall_write_str(w, call->why);
    } else if (call->stage == TCALL_STAGE_PARSE && call->error_at <= near_len) {
        near_len -= call->error_at;
        if (near_len > 24)
            near_len =
                tcall_utf8_cut_(call->arguments.ptr + call->error_at, 24);
        tcall_write_key(w, "at");
        tcall_write_int(w, (long)call->error_at);
        tcall_write_key(w, "near");
        tcall_write_str(
            w, tcall_slice_(call->arguments.ptr + call->error_at, near_len));
    }
    return w->error;
}

/* "key":"text" */
static void tcall_write_pair_(tcall_writer *w, const char *key, tcall_str text)
{
    tcall_write_key(w, key);
    tcall_write_str(w, text);
}

static void tcall_write_fixes_(tcall_writer *w, uint32_t fixes)
{
    int i;
    tcall_write_key(w, "fixes");
    tcall_write_open(w, '[');
    for (i = 0; i < TCALL_FIX_COUNT; i++)
        if (fixes >> i & 1)
            tcall_write_string(w, tcall_fix_name(i));
    tcall_write_close(w, ']');
}

static void tcall_write_validator_(const tcall *tc, tcall_writer *w)
{
    const tcall_validator *v = tc->desc.validator;
    tcall_write_key(w, "validator");
    tcall_write_open(w, '{');
    tcall_write_pair_(w, "name", tcall_str_of(v ? v->name : "builtin"));
    tcall_write_pair_(w, "version",
                      tcall_str_of(v ? v->version : TOOLCALL_VERSION));
    tcall_write_pair_(w, "mode",
                      tcall_str_of(v             ? "foreign"
                                   : tc->schemas ? "eager"
                                                 : "lazy"));
    tcall_write_close(w, '}');
}

int tcall_write_provenance(const tcall *tc, const tcall_call *call,
                           tcall_writer *w)
{
    static const char modes[][15] = {"read-only", "human-approval", "full"};
    static const char stages[][9] = {"find",   "parse",   "validate", "bind",
                                     "permit", "approve", "run",      "result"};
    const tcall_tool *tool = call->tool;
    tcall_write_open(w, '{');
    tcall_write_pair_(w, "provider", tcall_str_of(call->provider));
    tcall_write_pair_(w, "call_id", call->id);
    tcall_write_pair_(w, "tool", call->name);
    tcall_write_pair_(w, "arguments",
                      call->repaired ? call->original : call->arguments);
    tcall_write_fixes_(w, call->fixes);
    tcall_write_key(w, "coercions");
    tcall_write_verbatim(w, call->coerced.len ? call->coerced
                                              : tcall_str_of("[]"));
    tcall_write_validator_(tc, w);
    tcall_write_key(w, "ms");
    tcall_write_int(w, (long)call->hydrate_ms);
    tcall_write_key(w, "validated");
    tcall_write_bool(w, call->validated);
    tcall_write_key(w, "repaired");
    tcall_write_bool(w, call->repaired);
    if (call->repaired)
        tcall_write_pair_(w, "repaired_arguments", call->arguments);
    if (tool && !tool->parameters)
        tcall_write_pair_(w, "no_schema_mode",
                          tcall_str_of(modes[tool->no_schema_mode % 3]));
    tcall_write_pair_(w, "stage", tcall_str_of(stages[call->stage & 7]));
    tcall_write_pair_(w, "outcome",
                      tcall_str_of(tcall_error_code(call->error)));
    if (call->error < 0)
        tcall_write_errors(call, w);
    return tcall_write_close(w, '}');
}

/* ==========================================================================
 * >>invoke
 */

const void *tcall_bound(const tcall_ctx *cx)
{
    return cx->call->bound;
}

void *tcall_user(const tcall_ctx *cx)
{
    return cx->call->tool->user;
}

void tcall_progress(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->tc, cx->call, TCALL_EVENT_OUTPUT, text);
}

const char *tcall_error_type(int error)
{
    switch (error) {
    case TCALL_E_DENIED:
    case TCALL_E_APPROVAL: return "permission";
    case TCALL_E_FAILED: return "user";
    case TCALL_E_CANCELLED: return "cancelled";
    case TCALL_E_TIMEOUT: return "timeout";
    case TCALL_E_MEMORY:
    case TCALL_E_TOOL:
    case TCALL_E_BUDGET:
    case TCALL_E_LIMIT: return "system";
    default: return "validation";
    }
}

/* The model learns which names there are, so that it can choose again. */
static void tcall_write_names_(const tcall *tc, tcall_writer *w)
{
    size_t i;
    tcall_write_key(w, "available");
    tcall_write_open(w, '[');
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_allowed_(&tc->desc.tools[i], tc->desc.allow))
            tcall_write_string(w, tc->desc.tools[i].name);
    tcall_write_close(w, ']');
}

/* words: what the tool or approval said about it; may be empty. */
static void tcall_write_failure_(const tcall *tc, const tcall_call *call,
                                 tcall_str words, tcall_writer *w)
{
    tcall_write_open(w, '{');
    tcall_write_key(w, "success");
    tcall_write_bool(w, false);
    tcall_write_key(w, "error");
    if (words.len)
        tcall_write_str(w, words);
    else
        tcall_write_string(w, tcall_error_text(call->error));
    tcall_write_key(w, "error_type");
    tcall_write_string(w, tcall_error_type(call->error));
    tcall_write_key(w, "code");
    tcall_write_string(w, tcall_error_code(call->error));
    if (call->error == TCALL_E_UNKNOWN)
        tcall_write_names_(tc, w);
    else
        tcall_write_errors(call, w);
    tcall_write_close(w, '}');
}

/* The permissions that the call needs are there. */
static int tcall_permit_(const tcall *tc, const tcall_call *call)
{
    return tcall_allowed_(call->tool, tc->desc.allow) ? TCALL_OK
                                                      : TCALL_E_DENIED;
}

static bool tcall_must_ask_(const tcall_call *call)
{
    const tcall_tool *tool = call->tool;
    bool reads = tcall_needs(tool) == TCALL_READ;
    if (tool->confirm || (call->repaired && !reads))
        return true;
    if (tool->parameters || tool->no_schema_mode == TCALL_NO_SCHEMA_FULL)
        return false;
    return !reads || tool->no_schema_mode != TCALL_NO_SCHEMA_READ_ONLY;
}

static int tcall_approve_(tcall *tc, tcall_call *call)
{
    tcall_verdict verdict = TCALL_DENY;
    tcall_event event;
    if (call->approved || !tcall_must_ask_(call))
        return TCALL_OK;
    if (tc->desc.approve)
        verdict = tc->desc.approve(tc->desc.user, call);
    memset(&event, 0, sizeof event);
    event.call = call;
    event.verdict = (int)verdict;
    tcall_tell_(tc, &event, TCALL_EVENT_APPROVAL);
    call->approved = verdict == TCALL_ALLOW;
    return call->approved           ? TCALL_OK
           : verdict == TCALL_LATER ? TCALL_E_APPROVAL
                                    : TCALL_E_DENIED;
}

/* What the tool wrote did not fit: keep whole characters and say so. */
static void tcall_write_cut_(tcall_writer *w, size_t start)
{
    static const char notice[] = "\n[output cut: it was longer than fits]";
    size_t end = w->fill, room = sizeof notice - 1;
    if (end - start > room)
        end -= room;
    end = start + tcall_utf8_cut_(w->buf + start, end - start);
    w->fill = end;
    w->error = TCALL_OK;
    w->len = end;
    if (w->cap - end >= room)
        tcall_write_bytes(w, notice, room);
}

static int tcall_invoke_run_(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_ctx cx;
    size_t start = out->fill;
    uint32_t before = tcall_now_(tc);
    int r;
    memset(&cx, 0, sizeof cx);
    cx.tc = tc;
    cx.call = call;
    tcall_tell_call_(tc, call, TCALL_EVENT_START, tcall_slice_(NULL, 0));
    out->last = 0;
    r = call->tool->run(&cx, call->args, out);
    call->run_ms += tcall_now_(tc) - before;
    if (r >= 0 && out->error == TCALL_E_MEMORY)
        tcall_write_cut_(out, start);
    return r < 0 ? r : out->error;
}

/* The failed tool wrote its words where the result goes: keep a copy. */
static void tcall_fail_(const tcall *tc, tcall_call *call, tcall_str said,
                        tcall_writer *out)
{
    char words[128];
    if (said.len >= sizeof words)
        said.len = tcall_utf8_cut_(said.ptr, sizeof words - 1);
    if (said.len)
        memcpy(words, said.ptr, said.len);
    said.ptr = words;
    tcall_write_failure_(tc, call, said, out);
    if (out->error)
        call->error = out->error;
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer before = *out;
    tcall_str said = tcall_slice_(NULL, 0);
    int r = call->error;
    if (r == TCALL_OK && (!call->tool || call->stage != TCALL_STAGE_BIND) &&
        call->stage != TCALL_STAGE_APPROVE && call->stage != TCALL_STAGE_RUN)
        r = TCALL_E_USAGE;
    if (r == TCALL_OK) {
        call->stage = TCALL_STAGE_PERMIT;
        r = tcall_permit_(tc, call);
    }
    if (r == TCALL_OK) {
        call->stage = TCALL_STAGE_APPROVE;
        r = tcall_approve_(tc, call);
    }
    if (r == TCALL_OK) {
        call->stage = TCALL_STAGE_RUN;
        r = tcall_invoke_run_(tc, call, out);
        said = tcall_slice_(out->buf + before.fill, out->fill - before.fill);
    }
    if (r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL) {
        *out = before;
        return r;
    }
    call->error = r;
    if (r < 0) {
        *out = before;
        tcall_fail_(tc, call, said, out);
    } else {
        call->stage = TCALL_STAGE_RESULT;
    }
    tcall_tell_call_(
        tc, call, TCALL_EVENT_END,
        tcall_slice_(out->buf + before.fill, out->fill - before.fill));
    return call->error;
}

/* ==========================================================================
 * >>provider
 *
 * An item of a conversation is a head, then its id, its name and its text. An
 * answer's items begin with its text, which grows in place; behind it stand
 * the calls that are settled and then, while a document of the stream passes,
 * the elements of that document. What an element belongs to may stand behind
 * its arguments, so it is settled only when all of it is known: it is a new
 * call and stays, or what it brings is moved to an older one.
 */

/* The parts of an item, in their order. */
enum {
    TCALL_PART_ID_,
    TCALL_PART_NAME_,
    TCALL_PART_SIGN_,
    TCALL_PART_TEXT_,
    TCALL_PARTS_
};

typedef struct tcall_head_ {
    uint32_t len[TCALL_PARTS_];
    uint8_t kind; /* tcall_kind and the flags below */
    int8_t error;
    uint8_t index, choice; /* of a call while its answer is read */
} tcall_head_;

enum {
    TCALL_ITEM_PIECE_ = 14, /* what it is a piece of is not known yet */
    TCALL_ITEM_NONE_ = 15,  /* an element that is no call of ours */
    TCALL_ITEM_KIND_ = 15,
    TCALL_ITEM_MADE_ = 16,  /* the id was made up */
    TCALL_ITEM_START_ = 32, /* arguments stand until the first piece comes */
    TCALL_ITEM_ALL_ = 64,   /* they are no piece: the longer ones count */
    TCALL_ITEM_LOST_ = 128
};

#define TCALL_HEAD_       sizeof(tcall_head_)
#define TCALL_INDEX_NONE_ 255
#define TCALL_NO_ITEM_    ((size_t)-1)
/* Text and arguments leave so much free, for the head, id and name of the
 * next call: it then can at least be named. */
#define TCALL_RESERVE_ 64

static tcall_head_ tcall_head_get_(const tcall_chat *c, size_t at)
{
    tcall_head_ h;
    memcpy(&h, c->block->base + at, sizeof h);
    return h;
}

static void tcall_head_set_(const tcall_chat *c, size_t at,
                            const tcall_head_ *h)
{
    memcpy(c->block->base + at, h, sizeof *h);
}

/* Where a part ends, from the head on; the last one ends the item. */
static size_t tcall_head_end_(const tcall_head_ *h, int part)
{
    size_t n = TCALL_HEAD_;
    for (; part >= 0; part--)
        n += h->len[part];
    return n;
}

static size_t tcall_head_size_(const tcall_head_ *h)
{
    return tcall_head_end_(h, TCALL_PART_TEXT_);
}

void tcall_chat_init(tcall_chat *chat, tcall_block *block)
{
    chat->block = block;
    chat->start = block->low;
    chat->made = 0;
}

static char *tcall_copy_(char *to, tcall_str s)
{
    if (s.len)
        memcpy(to, s.ptr, s.len);
    return to + s.len;
}

int tcall_chat_add(tcall_chat *chat, const tcall_item *item)
{
    tcall_head_ h;
    size_t at = chat->block->low;
    char *to;
    memset(&h, 0, sizeof h);
    h.kind = (uint8_t)(item->kind | (item->made ? TCALL_ITEM_MADE_ : 0) |
                       (item->lost ? TCALL_ITEM_LOST_ : 0));
    h.error = (int8_t)item->error;
    h.len[TCALL_PART_ID_] = (uint32_t)item->id.len;
    h.len[TCALL_PART_NAME_] = (uint32_t)item->name.len;
    h.len[TCALL_PART_SIGN_] = (uint32_t)item->sign.len;
    h.len[TCALL_PART_TEXT_] = (uint32_t)item->text.len;
    if (!tcall_block_grow_(chat->block, tcall_head_size_(&h)))
        return TCALL_E_MEMORY;
    tcall_head_set_(chat, at, &h);
    to = tcall_copy_(chat->block->base + at + TCALL_HEAD_, item->id);
    to = tcall_copy_(tcall_copy_(to, item->name), item->sign);
    tcall_copy_(to, item->text);
    return TCALL_OK;
}

bool tcall_chat_next(const tcall_chat *chat, size_t *at, tcall_item *item)
{
    size_t from = chat->start + *at;
    const char *p = chat->block->base + from + TCALL_HEAD_;
    tcall_head_ h;
    if (from >= chat->block->low)
        return false;
    h = tcall_head_get_(chat, from);
    item->kind = h.kind & TCALL_ITEM_KIND_;
    item->made = (h.kind & TCALL_ITEM_MADE_) != 0;
    item->lost = (h.kind & TCALL_ITEM_LOST_) != 0;
    item->error = h.error;
    item->id = tcall_slice_(p, h.len[TCALL_PART_ID_]);
    p += item->id.len;
    item->name = tcall_slice_(p, h.len[TCALL_PART_NAME_]);
    p += item->name.len;
    item->sign = tcall_slice_(p, h.len[TCALL_PART_SIGN_]);
    item->text = tcall_slice_(p + item->sign.len, h.len[TCALL_PART_TEXT_]);
    *at += tcall_head_size_(&h);
    return true;
}

/* Moves all that stands from "from" on to "to"; the room is there. */
static void tcall_reader_shift_(tcall_reader *r, size_t from, size_t to)
{
    tcall_block *b = r->chat->block;
    memmove(b->base + to, b->base + from, b->low - from);
    b->low += to - from;
    tcall_block_room_(b, 0); /* for the peak */
    if (r->pending >= from)
        r->pending += to - from;
    if (r->slot >= from)
        r->slot += to - from;
    if (r->raw >= from)
        r->raw += to - from;
}

/* Adds bytes, for which there is room, to the end of an item's part. */
static void tcall_reader_put_(tcall_reader *r, size_t at, int part, tcall_str s)
{
    tcall_head_ h = tcall_head_get_(r->chat, at);
    size_t to = at + tcall_head_end_(&h, part);
    tcall_reader_shift_(r, to, to + s.len);
    tcall_copy_(r->chat->block->base + to, s);
    h.len[part] += (uint32_t)s.len;
    tcall_head_set_(r->chat, at, &h);
}

/* Takes n bytes from the end of an item's part. */
static void tcall_reader_take_(tcall_reader *r, size_t at, int part, size_t n)
{
    tcall_head_ h = tcall_head_get_(r->chat, at);
    size_t end = at + tcall_head_end_(&h, part);
    h.len[part] -= (uint32_t)n;
    tcall_head_set_(r->chat, at, &h);
    tcall_reader_shift_(r, end, end - n);
}

static void tcall_reader_shorten_(tcall_reader *r, size_t at, size_t n)
{
    tcall_reader_take_(r, at, TCALL_PART_TEXT_, n);
}

/* What is opaque of an item does not fit. */
static void tcall_reader_bare_(tcall_reader *r, size_t at, size_t more)
{
    tcall_head_ h = tcall_head_get_(r->chat, at);
    size_t n = h.len[TCALL_PART_SIGN_];
    tcall_reader_take_(r, at, TCALL_PART_SIGN_, n);
    if ((h.kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE) {
        n += h.len[TCALL_PART_TEXT_];
        tcall_reader_shorten_(r, at, h.len[TCALL_PART_TEXT_]);
    }
    if (n + more == 0)
        return;
    r->answer.unkept += n + more;
    h = tcall_head_get_(r->chat, at);
    h.kind |= TCALL_ITEM_LOST_;
    tcall_head_set_(r->chat, at, &h);
}

static void tcall_reader_drop_raw_(tcall_reader *r)
{
    tcall_head_ h = tcall_head_get_(r->chat, r->raw);
    r->raw_lost += h.len[TCALL_PART_TEXT_];
    tcall_reader_shorten_(r, r->raw, h.len[TCALL_PART_TEXT_]);
}

/* Gives up all that is opaque. */
static void tcall_reader_strip_(tcall_reader *r)
{
    tcall_head_ h;
    size_t at = r->start;
    if (r->keeping)
        tcall_reader_drop_raw_(r);
    for (; at < r->chat->block->low; at += tcall_head_size_(&h)) {
        tcall_reader_bare_(r, at, 0);
        h = tcall_head_get_(r->chat, at);
    }
}

/* Void all that was read. */
static void tcall_reader_clear_(tcall_reader *r)
{
    r->chat->block->low = r->pending = r->slot = r->raw = r->start;
    r->has_text = r->open = r->keeping = false;
    r->answer.unkept = 0;
    r->complete = r->stopped = r->cut = r->answer.text_cut = false;
    r->began = r->finished = 0;
    r->answer.stop = TCALL_STOP_UNKNOWN;
    r->answer.stop_text[0] = 0;
}

/* Are n bytes free? Calls matter more than text and what is opaque: those give
 * way. */
static bool tcall_reader_room_(tcall_reader *r, size_t n)
{
    size_t free = tcall_block_free_(r->chat->block);
    if (n <= free)
        return true;
    if (!r->has_text ||
        tcall_head_get_(r->chat, r->start).len[TCALL_PART_TEXT_] < n - free) {
        tcall_reader_strip_(r);
        free = tcall_block_free_(r->chat->block);
        if (n <= free)
            return true;
    }
    n -= free;
    if (!r->has_text ||
        tcall_head_get_(r->chat, r->start).len[TCALL_PART_TEXT_] < n)
        return false;
    tcall_reader_shorten_(r, r->start, n);
    r->answer.text_cut = true;
    return true;
}

/* The same for what a call cannot do without. Where it is missing the answer
 * is lost; the rest is read to know what would have been needed. */
static bool tcall_reader_need_(tcall_reader *r, size_t n)
{
    if (tcall_reader_room_(r, n))
        return true;
    r->lost += r->chat->block->low - r->start + n;
    tcall_reader_clear_(r);
    r->answer.error = TCALL_E_MEMORY;
    return false;
}

/* Arguments that do not fit make that call fail, not the answer. */
static void tcall_reader_lose_(tcall_reader *r, size_t at, size_t n)
{
    tcall_head_ h = tcall_head_get_(r->chat, at);
    r->lost += h.len[TCALL_PART_TEXT_] + n;
    h.error = TCALL_E_MEMORY;
    tcall_head_set_(r->chat, at, &h);
    tcall_reader_shorten_(r, at, h.len[TCALL_PART_TEXT_]);
}

/* A place for an element of this kind. */
static bool tcall_reader_place_(tcall_reader *r, size_t *slot, uint8_t kind)
{
    tcall_head_ h;
    tcall_block *b = r->chat->block;
    memset(&h, 0, sizeof h);
    h.kind = kind;
    h.index = TCALL_INDEX_NONE_;
    if (!tcall_reader_need_(r, TCALL_HEAD_))
        return false;
    *slot = b->low;
    tcall_block_grow_(b, TCALL_HEAD_);
    tcall_head_set_(r->chat, *slot, &h);
    return true;
}

/* A piece of what is opaque. It takes nothing away from anything else. */
static void tcall_reader_blob_(tcall_reader *r, size_t at, int part,
                               tcall_str s)
{
    if (r->answer.unkept ||
        tcall_block_free_(r->chat->block) < s.len + TCALL_RESERVE_)
        tcall_reader_bare_(r, at, s.len);
    else
        tcall_reader_put_(r, at, part, s);
}

/* The text of the answer gets its place, before everything else. */
static void tcall_reader_begin_text_(tcall_reader *r)
{
    tcall_head_ h;
    if (r->has_text || tcall_block_free_(r->chat->block) < TCALL_HEAD_)
        return;
    memset(&h, 0, sizeof h);
    h.kind = TCALL_ITEM_TEXT;
    tcall_reader_shift_(r, r->start, r->start + TCALL_HEAD_);
    tcall_head_set_(r->chat, r->start, &h);
    r->has_text = true;
}

/* A piece of the model's text. */
static void tcall_reader_text_(tcall_reader *r, tcall_str s)
{
    size_t room = tcall_block_free_(r->chat->block), max = r->text_max;
    if (r->choice)
        return;
    if (r->text)
        r->text(r->user, s);
    if (r->answer.text_cut || r->answer.error == TCALL_E_MEMORY)
        return;
    room = room > TCALL_HEAD_ + TCALL_RESERVE_
               ? room - TCALL_HEAD_ - TCALL_RESERVE_
               : 0;
    if (room)
        tcall_reader_begin_text_(r);
    if (r->has_text)
        max -= tcall_head_get_(r->chat, r->start).len[TCALL_PART_TEXT_];
    room = room < max ? room : max;
    if (room < s.len) {
        r->answer.text_cut = true;
        s.len = room;
    }
    if (s.len)
        tcall_reader_put_(r, r->start, TCALL_PART_TEXT_, s);
}

/* The text of the element at *at turns out to be text of the model. at points
 * into the reader: the element moves. */
static void tcall_reader_say_(tcall_reader *r, const size_t *at)
{
    char piece[64];
    tcall_head_ h = tcall_head_get_(r->chat, *at);
    size_t done = 0, n = h.len[TCALL_PART_TEXT_], k;
    for (; done < n; done += k) {
        k = n - done < sizeof piece ? n - done : sizeof piece;
        memcpy(piece,
               r->chat->block->base + *at +
                   tcall_head_end_(&h, TCALL_PART_SIGN_) + done,
               k);
        tcall_reader_text_(r, tcall_slice_(piece, k));
    }
    tcall_reader_shorten_(r, *at, n);
}

/* The element that is being read gets its place as soon as there is something
 * to keep of it; some fields tell its kind. */
static bool tcall_reader_open_(tcall_reader *r)
{
    tcall_head_ h;
    if (!r->open)
        r->open = tcall_reader_place_(r, &r->slot, TCALL_ITEM_CALL);
    if (r->open && r->kind) {
        h = tcall_head_get_(r->chat, r->slot);
        h.kind = (uint8_t)(r->kind | (h.kind & TCALL_ITEM_LOST_));
        tcall_head_set_(r->chat, r->slot, &h);
    }
    return r->open;
}

/* A piece of id, name, arguments or what is opaque. */
static void tcall_reader_part_(tcall_reader *r, int part, tcall_str s)
{
    if (r->answer.error == TCALL_E_MEMORY) {
        r->lost += s.len;
        return;
    }
    if (!tcall_reader_open_(r))
        return;
    if (r->kind == TCALL_ITEM_TEXT && part == TCALL_PART_TEXT_ &&
        tcall_block_free_(r->chat->block) < s.len + TCALL_RESERVE_) {
        tcall_reader_say_(r, &r->slot);
        tcall_reader_text_(r, s);
        return;
    }
    if (part == TCALL_PART_SIGN_ ||
        (r->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE)
        tcall_reader_blob_(r, r->slot, part, s);
    else if (part == TCALL_PART_TEXT_ &&
             (tcall_head_get_(r->chat, r->slot).error ||
              !tcall_reader_room_(r, s.len + TCALL_RESERVE_)))
        tcall_reader_lose_(r, r->slot, s.len);
    else if (tcall_reader_need_(r, s.len))
        tcall_reader_put_(r, r->slot, part, s);
}

static void tcall_reverse_(char *p, char *end)
{
    while (p < end) {
        char c = *p;
        *p++ = *--end;
        *end = c;
    }
}

/* Exchanges the n bytes before mid with those from mid to end. */
static void tcall_rotate_(char *p, char *mid, char *end)
{
    tcall_reverse_(p, mid);
    tcall_reverse_(mid, end);
    tcall_reverse_(p, end);
}

/* Is the pending element a further piece of the call at at? 0: no; -1: it does
 * not say. */
static int tcall_reader_continues_(const tcall_reader *r, size_t at)
{
    tcall_head_ a = tcall_head_get_(r->chat, at);
    tcall_head_ b = tcall_head_get_(r->chat, r->pending);
    const char *p = r->chat->block->base + at;
    const char *q = r->chat->block->base + r->pending;
    bool numbered =
        a.index != TCALL_INDEX_NONE_ && b.index != TCALL_INDEX_NONE_;
    bool opaque = (a.kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE;
    if (a.choice != b.choice || (numbered && a.index != b.index))
        return 0;
    if ((b.kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE)
        return opaque && a.index == b.index &&
               !((a.kind ^ b.kind) & TCALL_ITEM_MADE_);
    if (opaque) /* only what is opaque goes there, whatever it is of */
        return numbered && !b.len[TCALL_PART_NAME_] && !b.len[TCALL_PART_TEXT_];
    if (a.len[TCALL_PART_ID_] && b.len[TCALL_PART_ID_])
        return a.len[TCALL_PART_ID_] == b.len[TCALL_PART_ID_] &&
               memcmp(p + TCALL_HEAD_, q + TCALL_HEAD_,
                      a.len[TCALL_PART_ID_]) == 0;
    if (!numbered)
        return b.len[TCALL_PART_NAME_] ? 0 : -1;
    /* Some servers give every call the same number: an object behind a whole
     * one is no piece of it. */
    return (b.kind & TCALL_ITEM_ALL_) ||
           !(b.len[TCALL_PART_NAME_] && a.len[TCALL_PART_TEXT_] &&
             p[tcall_head_size_(&a) - 1] == '}' &&
             q[tcall_head_end_(&b, TCALL_PART_SIGN_)] == '{');
}

/* The call that the pending element continues: the one of its id or number,
 * or the last one if it has neither. */
static size_t tcall_reader_find_(const tcall_reader *r)
{
    size_t at = r->start, best = TCALL_NO_ITEM_, last = TCALL_NO_ITEM_;
    tcall_head_ a;
    for (; at < r->pending; at += tcall_head_size_(&a)) {
        int same;
        a = tcall_head_get_(r->chat, at);
        if (a.kind == TCALL_ITEM_TEXT)
            continue;
        same = tcall_reader_continues_(r, at);
        if ((a.kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE && !same)
            continue;
        if (same > 0)
            best = at;
        last = same < 0 ? at : TCALL_NO_ITEM_;
    }
    return best != TCALL_NO_ITEM_ ? best : last;
}

/* Moves a part of the pending element to the end of that of the item at at. */
static void tcall_reader_give_(tcall_reader *r, size_t at, int part)
{
    char *base = r->chat->block->base;
    tcall_head_ a = tcall_head_get_(r->chat, at);
    tcall_head_ b = tcall_head_get_(r->chat, r->pending);
    uint32_t n = b.len[part];
    char *end = base + r->pending + tcall_head_end_(&b, part);
    tcall_rotate_(base + at + tcall_head_end_(&a, part), end - n, end);
    a.len[part] += n;
    b.len[part] = 0;
    r->pending += n;
    tcall_head_set_(r->chat, at, &a);
    tcall_head_set_(r->chat, r->pending, &b);
}

/* Gives what the pending element brings to the call at at. An id or a name
 * are taken but once. */
static void tcall_reader_merge_(tcall_reader *r, size_t at)
{
    tcall_head_ a = tcall_head_get_(r->chat, at);
    tcall_head_ b = tcall_head_get_(r->chat, r->pending);
    uint32_t n = b.len[TCALL_PART_TEXT_];
    int part = TCALL_PART_ID_;
    if (a.kind == TCALL_ITEM_NONE_)
        return;
    for (; part < TCALL_PART_TEXT_; part++)
        if (!a.len[part])
            tcall_reader_give_(r, at, part);
    if ((a.kind | b.kind) & TCALL_ITEM_LOST_) {
        a = tcall_head_get_(r->chat, at);
        a.kind |= TCALL_ITEM_LOST_;
        tcall_head_set_(r->chat, at, &a);
        if ((a.kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE) {
            tcall_reader_bare_(r, at, n);
            return;
        }
    }
    if (b.kind & TCALL_ITEM_ALL_ && !a.error && a.len[TCALL_PART_TEXT_] >= n &&
        (!b.error || a.len[TCALL_PART_TEXT_])) {
        if ((a.kind & TCALL_ITEM_KIND_) != TCALL_ITEM_OPAQUE)
            return; /* it is there already */
    } else if (a.error || b.error) {
        tcall_reader_lose_(r, at, n);
        return;
    }
    if (n == 0)
        return;
    if (b.kind & TCALL_ITEM_ALL_ || a.kind & TCALL_ITEM_START_)
        tcall_reader_shorten_(r, at, a.len[TCALL_PART_TEXT_]);
    a = tcall_head_get_(r->chat, at);
    if (!(b.kind & TCALL_ITEM_ALL_))
        a.kind &= (uint8_t)~TCALL_ITEM_START_;
    tcall_head_set_(r->chat, at, &a);
    tcall_reader_give_(r, at, TCALL_PART_TEXT_);
}

/* Moves a sign to the text of the answer. One is enough, the first. */
static void tcall_reader_sign_text_(tcall_reader *r)
{
    tcall_head_ b = tcall_head_get_(r->chat, r->pending), a;
    if (!b.len[TCALL_PART_SIGN_] && !(b.kind & TCALL_ITEM_LOST_))
        return;
    tcall_reader_begin_text_(r);
    if (!r->has_text)
        return;
    a = tcall_head_get_(r->chat, r->start);
    a.kind |= b.kind & TCALL_ITEM_LOST_;
    tcall_head_set_(r->chat, r->start, &a);
    if (!a.len[TCALL_PART_SIGN_])
        tcall_reader_give_(r, r->start, TCALL_PART_SIGN_);
}

/* What an element is, now that its document is complete. */
static uint8_t tcall_reader_kind_(const tcall_reader *r, tcall_head_ h)
{
    if ((h.kind & TCALL_ITEM_KIND_) != TCALL_ITEM_PIECE_)
        return h.kind;
    return r->event == TCALL_WORD_TEXT_    ? TCALL_ITEM_TEXT
           : r->event == TCALL_WORD_PIECE_ ? TCALL_ITEM_CALL
           : r->event == TCALL_WORD_ALL_   ? TCALL_ITEM_CALL | TCALL_ITEM_ALL_
                                           : TCALL_ITEM_NONE_;
}

/* The pending element is complete, and so is what was said around it. */
static void tcall_reader_settle_(tcall_reader *r)
{
    tcall_head_ h = tcall_head_get_(r->chat, r->pending);
    size_t at = TCALL_NO_ITEM_;
    bool piece = (h.kind & TCALL_ITEM_KIND_) == TCALL_ITEM_PIECE_;
    h.kind = tcall_reader_kind_(r, h);
    h.choice = r->choice;
    if (h.index == TCALL_INDEX_NONE_)
        h.index = r->index;
    tcall_head_set_(r->chat, r->pending, &h);
    if ((h.kind & TCALL_ITEM_KIND_) == TCALL_ITEM_TEXT) {
        tcall_reader_say_(r, &r->pending);
        tcall_reader_sign_text_(r);
    } else if (h.kind != TCALL_ITEM_NONE_ ||
               (!piece && h.index != TCALL_INDEX_NONE_)) {
        if (!r->whole && h.kind != TCALL_ITEM_NONE_)
            at = tcall_reader_find_(r);
        if (at == TCALL_NO_ITEM_) {
            r->pending += tcall_head_size_(&h);
            r->began |= (uint8_t)(1u << r->choice);
            return;
        }
        tcall_reader_merge_(r, at);
    }
    h = tcall_head_get_(r->chat, r->pending);
    tcall_reader_shift_(r, r->pending + tcall_head_size_(&h), r->pending);
}

/* All elements of one choice, or of a document, are complete. */
static void tcall_reader_settle_all_(tcall_reader *r)
{
    while (r->pending < r->chat->block->low)
        tcall_reader_settle_(r);
    if (r->stopped)
        r->finished |= (uint8_t)(1u << r->choice);
    r->stopped = false;
    r->choice = 0;
}

/* A piece of an element as JSON text, which is kept if its type says so. The
 * type usually comes first. */
static void tcall_reader_raw_(tcall_reader *r, tcall_str s)
{
    if (!r->provider->keep || r->event == TCALL_WORD_NEW_ ||
        (r->type && r->type != TCALL_WORD_OPAQUE_) ||
        r->answer.error == TCALL_E_MEMORY)
        return;
    if (!r->keeping)
        r->keeping = tcall_reader_place_(r, &r->raw, TCALL_ITEM_NONE_);
    if (!r->keeping)
        return;
    if (r->raw_lost ||
        tcall_block_free_(r->chat->block) < s.len + TCALL_RESERVE_) {
        tcall_reader_drop_raw_(r);
        r->raw_lost += s.len;
    } else {
        tcall_reader_put_(r, r->raw, TCALL_PART_TEXT_, s);
    }
}

static void tcall_reader_raw_end_(tcall_reader *r)
{
    tcall_head_ h = tcall_head_get_(r->chat, r->raw);
    r->keeping = false;
    if (r->type == TCALL_WORD_OPAQUE_) {
        h.kind = TCALL_ITEM_OPAQUE | TCALL_ITEM_ALL_;
        h.index = r->index;
        tcall_head_set_(r->chat, r->raw, &h);
        if (r->raw_lost)
            tcall_reader_bare_(r, r->raw, r->raw_lost);
    } else {
        tcall_reader_shift_(r, r->raw + tcall_head_size_(&h), r->raw);
    }
    r->raw_lost = 0;
}

static void tcall_reader_call_end_(tcall_reader *r)
{
    tcall_head_ h;
    if (r->answer.error == TCALL_E_MEMORY)
        r->lost += TCALL_HEAD_;
    if (r->keeping)
        tcall_reader_raw_end_(r);
    if (r->open) {
        h = tcall_head_get_(r->chat, r->slot);
        h.index = r->index;
        if (r->object)
            h.kind |= TCALL_ITEM_START_;
        if (r->all)
            h.kind |= TCALL_ITEM_ALL_;
        if (r->ignored && (h.kind & TCALL_ITEM_KIND_) != TCALL_ITEM_OPAQUE)
            h.kind = TCALL_ITEM_NONE_;
        tcall_head_set_(r->chat, r->slot, &h);
    }
    r->open = r->element = r->object = r->all = r->ignored = false;
    r->kind = r->type = 0;
    r->index = TCALL_INDEX_NONE_;
}

static uint8_t tcall_reader_means_(const tcall_reader *r, uint8_t other)
{
    const tcall_word *w = r->provider->words;
    while (*w->text && strcmp(w->text, r->word) != 0)
        w++;
    return *w->text ? w->means : other;
}

static void tcall_reader_stop_(tcall_reader *r)
{
    uint8_t means = tcall_reader_means_(r, TCALL_STOP_OTHER);
    if (!r->word[0] || means == TCALL_STOP_NOT_YET_)
        return;
    r->stopped = true;
    if (means == TCALL_WORD_CALL_)
        means = TCALL_STOP_CALLS;
    if (means == TCALL_STOP_FAULT_) {
        r->fault = true;
        means = TCALL_STOP_OTHER;
    }
    if (means == TCALL_STOP_LENGTH || means == TCALL_STOP_REFUSED)
        r->cut = true;
    if (r->answer.stop == TCALL_STOP_UNKNOWN ||
        (means == TCALL_STOP_LENGTH && r->answer.stop != TCALL_STOP_REFUSED)) {
        r->answer.stop = (tcall_stop)means;
        memcpy(r->answer.stop_text, r->word, sizeof r->answer.stop_text - 1);
    }
}

/* A number without sign or fraction, else -1. */
static long tcall_reader_number_(const tcall_reader *r)
{
    const char *p = r->word;
    long n = 0;
    for (; tcall_is_digit_(*p) && n < 100000000; p++)
        n = n * 10 + (*p - '0');
    return *p || p == r->word ? -1 : n;
}

/* "48s", "34.4s", "250ms" in milliseconds; -1: none of these. */
static long tcall_wait_(const char *p)
{
    long n = 0, unit = 1000;
    bool point = false;
    for (; (tcall_is_digit_(*p) || (*p == '.' && !point)) && n < 86400000; p++)
        if (*p == '.') {
            point = true;
        } else if (!point || unit > 1) {
            n = n * 10 + (*p - '0');
            unit = point ? unit / 10 : unit;
        }
    return strcmp(p, "s") == 0    ? n * unit
           : strcmp(p, "ms") == 0 ? n * unit / 1000
                                  : -1;
}

/* A short value is complete. */
static int tcall_reader_word_(tcall_reader *r, int field)
{
    tcall_answer *a = &r->answer;
    long n = tcall_reader_number_(r);
    uint8_t means;
    switch (field) {
    case TCALL_AT_INDEX:
        r->index = (uint8_t)n;
        return n < 0 || n >= TCALL_INDEX_NONE_ ? TCALL_E_PROTOCOL : TCALL_OK;
    case TCALL_AT_NUMBER:
        r->choice = (uint8_t)n & 7;
        return n < 0 || n > 7 ? TCALL_E_PROTOCOL : TCALL_OK;
    case TCALL_AT_TYPE:
        r->type = tcall_reader_means_(r, TCALL_STOP_OTHER);
        r->ignored = r->type != TCALL_WORD_CALL_ && r->type != TCALL_WORD_TEXT_;
        break;
    case TCALL_AT_STOP: tcall_reader_stop_(r); break;
    case TCALL_AT_HINT:
        means = tcall_reader_means_(r, 0);
        if (means == TCALL_STOP_LENGTH || means == TCALL_STOP_REFUSED)
            r->cut = true;
        if (means == TCALL_STOP_REFUSED)
            a->stop = TCALL_STOP_REFUSED;
        break;
    case TCALL_AT_EVENT:
        r->event = tcall_reader_means_(r, 0);
        r->complete = r->complete || r->event == TCALL_STOP_FINAL_;
        r->stopped = r->stopped || r->event == TCALL_WORD_DONE_;
        r->announced = r->announced || r->event == TCALL_WORD_OPEN_;
        break;
    case TCALL_AT_WAIT: a->wait_ms = tcall_wait_(r->word); break;
    case TCALL_AT_INPUT:
        if (n >= 0)
            a->input_tokens = n;
        break;
    case TCALL_AT_OUTPUT:
        if (n >= 0)
            a->output_tokens = n;
        break;
    default: /* TCALL_AT_ERROR_CODE, TCALL_AT_ERROR_TYPE */
        if (!a->stop_text[0] || tcall_is_digit_(a->stop_text[0]) ||
            (field == TCALL_AT_ERROR_CODE && !tcall_is_digit_(r->word[0])))
            memcpy(a->stop_text, r->word, sizeof a->stop_text - 1);
    }
    return TCALL_OK;
}

/* Appends to a text that is cut rather than refused. */
static void tcall_reader_append_(char *text, size_t cap, tcall_str s)
{
    size_t n = strlen(text), room = cap - 1 - n;
    s.len = s.len < room ? s.len : room;
    *tcall_copy_(text + n, s) = 0;
}

/* The part of an element that a field is of, -1: none. */
static int tcall_reader_part_of_(int field)
{
    return field < TCALL_AT_ID || field > TCALL_AT_PIECE ? -1
           : field < TCALL_AT_ARGS                       ? field - TCALL_AT_ID
                                                         : TCALL_PART_TEXT_;
}

/* A part of an element begins. */
static void tcall_reader_begin_part_(tcall_reader *r, int field, char c)
{
    static const uint8_t kinds[] = {TCALL_ITEM_OPAQUE,
                                    TCALL_ITEM_OPAQUE | TCALL_ITEM_MADE_,
                                    TCALL_ITEM_TEXT, TCALL_ITEM_PIECE_};
    bool opaque = field == TCALL_AT_SIGN || field == TCALL_AT_KEEP ||
                  field == TCALL_AT_KEEP_2;
    r->kind = field < TCALL_AT_KEEP ? 0 : kinds[field - TCALL_AT_KEEP];
    if (field == TCALL_AT_ALL)
        r->all = true;
    if (field == TCALL_AT_ALL || (field == TCALL_AT_ARGS && c == '{'))
        r->object = true;
    if ((opaque && !r->provider->keep) ||
        (field >= TCALL_AT_SAID && c != '"') ||
        (field != TCALL_AT_SAID && r->open &&
         tcall_head_get_(r->chat, r->slot).len[tcall_reader_part_of_(field)]))
        r->skip = true;
    if (field >= TCALL_AT_KEEP && r->element && !r->skip &&
        r->answer.error != TCALL_E_MEMORY)
        tcall_reader_open_(r);
}

/* A value begins with c. What follows of it is skipped if it is null, or if
 * there is one already. */
static void tcall_reader_begin_(tcall_reader *r, int field, char c)
{
    r->skip = c == 'n';
    if (tcall_reader_part_of_(field) >= 0) {
        tcall_reader_begin_part_(r, field, c);
    } else if (field >= TCALL_AT_INDEX) {
        r->word[0] = 0;
    } else if (field == TCALL_AT_CALL) {
        r->object = r->all = r->ignored = false;
        r->element = true;
        r->type = 0;
    } else if (field == TCALL_AT_VOID) {
        r->ignored = r->ignored || c == 't' || c == '{';
    } else if (field == TCALL_AT_RESTART) {
        if (c == '{')
            tcall_reader_clear_(r);
    } else if (field == TCALL_AT_WHOLE) {
        r->whole = r->whole || !r->skip;
    } else if (field >= TCALL_AT_ERROR) {
        if (field == TCALL_AT_ERROR && c == '{')
            r->answer.error = TCALL_E_PROVIDER;
        if (r->answer.message[0])
            r->skip = true;
    }
}

static void tcall_reader_data_(tcall_reader *r, int field, tcall_str s)
{
    int part = tcall_reader_part_of_(field);
    if (part >= 0)
        tcall_reader_part_(r, part, s);
    else if (field >= TCALL_AT_INDEX)
        tcall_reader_append_(r->word, sizeof r->word, s);
    else if (field == TCALL_AT_TEXT)
        tcall_reader_text_(r, s);
    else if (field >= TCALL_AT_ERROR) {
        if (field == TCALL_AT_ERROR)
            r->answer.error = TCALL_E_PROVIDER;
        tcall_reader_append_(r->answer.message, sizeof r->answer.message, s);
    }
}

/* One event of the outline. */
static int tcall_reader_on_(void *user, int field, tcall_scan_event event,
                            tcall_str s)
{
    tcall_reader *r = (tcall_reader *)user;
    if (event == TCALL_SCAN_BEGIN)
        tcall_reader_begin_(r, field, *s.ptr);
    else if (field == TCALL_AT_CALL && event == TCALL_SCAN_DATA)
        tcall_reader_raw_(r, s);
    else if (event == TCALL_SCAN_END &&
             (field == TCALL_AT_CALL ||
              (!r->element &&
               (field == TCALL_AT_PIECE || field == TCALL_AT_KEEP ||
                field == TCALL_AT_KEEP_2))))
        tcall_reader_call_end_(r);
    else if (event == TCALL_SCAN_END && field == TCALL_AT_CHOICE)
        tcall_reader_settle_all_(r);
    else if (r->skip)
        return TCALL_OK;
    else if (event == TCALL_SCAN_DATA)
        tcall_reader_data_(r, field, s);
    else if (field >= TCALL_AT_INDEX)
        return tcall_reader_word_(r, field);
    return TCALL_OK;
}

/* States of the framing. */
enum {
    TCALL_R_START_,   /* which framing it is, is not known yet */
    TCALL_R_LINE_,    /* SSE: at the name of a line's field */
    TCALL_R_IGNORED_, /* SSE: in a line that does not matter */
    TCALL_R_BETWEEN_, /* between two documents */
    TCALL_R_DOCUMENT_
};

void tcall_reader_init(tcall_reader *r, const tcall_provider *provider,
                       tcall_chat *chat,
                       void (*text)(void *user, tcall_str piece), void *user)
{
    memset(r, 0, sizeof *r);
    r->provider = provider;
    r->chat = chat;
    r->text = text;
    r->user = user;
    r->start = r->pending = r->slot = chat->block->low;
    r->text_max = tcall_block_free_(chat->block) / 2;
    r->index = TCALL_INDEX_NONE_;
    r->answer.input_tokens = r->answer.output_tokens = -1;
    r->answer.wait_ms = -1;
}

static void tcall_reader_fail_(tcall_reader *r, int error)
{
    r->broken = true;
    if (!r->answer.error)
        r->answer.error = error;
}

/* Bytes of a document, up to its end or, with SSE, to that of the line. */
static const char *tcall_reader_document_(tcall_reader *r, const char *p,
                                          const char *end)
{
    const char *line =
        r->sse ? (const char *)memchr(p, '\n', (size_t)(end - p)) : NULL;
    size_t before = r->scan.pos;
    int error;
    end = line ? line + 1 : end;
    error = tcall_scan_feed(&r->scan, p, (size_t)(end - p));
    p += r->scan.pos - before;
    if (tcall_scan_done(&r->scan)) {
        tcall_reader_settle_all_(r);
        r->index = TCALL_INDEX_NONE_;
        r->complete = r->complete || r->whole;
        r->inside = false;
        r->state = TCALL_R_BETWEEN_;
    } else if (error) {
        tcall_reader_fail_(r, error);
    }
    if (line && p == end) {
        r->state = TCALL_R_LINE_;
        r->match = 0;
    }
    return p;
}

/* SSE: only "data:" matters. A document may go on in the next line, but not
 * beyond the end of its event, a blank line. */
static void tcall_reader_line_(tcall_reader *r, char c)
{
    if (c == '\n') {
        if (r->inside && r->match == 0)
            tcall_reader_fail_(r, TCALL_E_TRUNCATED);
        r->match = 0;
    } else if (c == "data:"[r->match]) {
        r->match++;
        if (r->match == 5)
            r->state = r->inside ? TCALL_R_DOCUMENT_ : TCALL_R_BETWEEN_;
    } else if (c != '\r' || r->match) {
        r->state = TCALL_R_IGNORED_;
    }
}

/* Between documents: white space, the brackets and commas of an array of
 * documents, and the [DONE] of OpenAI, which is no JSON. */
static void tcall_reader_between_(tcall_reader *r, char c)
{
    if (c == '\n' && r->sse) {
        r->state = TCALL_R_LINE_;
        r->match = 0;
    } else if (c == 'D' && r->sse) {
        r->complete = true;
        r->state = TCALL_R_IGNORED_;
    } else if (!tcall_is_space_(c) && c != '[' && c != ',' && c != ']') {
        tcall_reader_fail_(r, TCALL_E_PROTOCOL);
    }
}

int tcall_reader_feed(tcall_reader *r, const char *bytes, size_t len)
{
    const char *p = bytes, *end = bytes + len;
    while (p < end && !r->broken) {
        char c = *p;
        if (r->state == TCALL_R_DOCUMENT_) {
            p = tcall_reader_document_(r, p, end);
            continue;
        }
        if (r->state == TCALL_R_START_ && !tcall_is_space_(c) && !(c & 0x80)) {
            r->sse = c != '{' && c != '[';
            r->state = r->sse ? TCALL_R_LINE_ : TCALL_R_BETWEEN_;
        }
        if (r->state == TCALL_R_BETWEEN_ && c == '{') {
            r->state = TCALL_R_DOCUMENT_;
            r->inside = r->some = true;
            r->event = 0;
            tcall_scan_init(&r->scan, r->provider->paths, tcall_reader_on_, r);
            continue;
        }
        p++;
        if (r->state == TCALL_R_BETWEEN_)
            tcall_reader_between_(r, c);
        else if (r->state == TCALL_R_LINE_)
            tcall_reader_line_(r, c);
        else if (r->state == TCALL_R_IGNORED_ && c == '\n')
            tcall_reader_between_(r, c);
    }
    return r->broken ? r->answer.error : TCALL_OK;
}

/* How many of n bytes of text are whole characters. */
static size_t tcall_utf8_whole_(const char *p, size_t n)
{
    size_t k = 0, left = 0;
    unsigned char lead;
    while (k < 3 && k < n && (p[n - 1 - k] & 0xC0) == 0x80)
        k++;
    if (k < n) {
        lead = (unsigned char)p[n - 1 - k];
        left = (size_t)(lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0);
    }
    return left > k ? n - 1 - k : n;
}

/* An id of nine letters and digits: every provider takes those. */
static bool tcall_reader_make_id_(tcall_reader *r)
{
    char id[9] = {'c', 'a', 'l', 'l'};
    uint32_t n = ++r->chat->made;
    tcall_head_ h;
    int i;
    for (i = 8; i > 3; i--, n /= 10)
        id[i] = (char)('0' + n % 10);
    if (!tcall_reader_need_(r, sizeof id))
        return false;
    tcall_reader_put_(r, r->pending, TCALL_PART_ID_,
                      tcall_slice_(id, sizeof id));
    h = tcall_head_get_(r->chat, r->pending);
    h.kind |= TCALL_ITEM_MADE_;
    tcall_head_set_(r->chat, r->pending, &h);
    return true;
}

/* Is it one whole JSON text? */
static int tcall_check_json_(tcall_scan *s, tcall_str text)
{
    tcall_scan_init(s, NULL, NULL, NULL);
    tcall_scan_feed(s, text.ptr, text.len);
    return tcall_scan_end(s);
}

/* Has the pending item anything to say in the end? What it may still lack is
 * added. */
static bool tcall_reader_item_(tcall_reader *r)
{
    tcall_head_ h = tcall_head_get_(r->chat, r->pending);
    bool empty = !h.len[TCALL_PART_TEXT_] && !h.len[TCALL_PART_NAME_];
    tcall_str name = tcall_str_of(r->provider->name);
    switch (h.kind & TCALL_ITEM_KIND_) {
    case TCALL_ITEM_TEXT: return true;
    case TCALL_ITEM_OPAQUE:
        if (empty && !h.len[TCALL_PART_SIGN_] && !(h.kind & TCALL_ITEM_LOST_))
            return false;
        if (tcall_reader_need_(r, name.len))
            tcall_reader_put_(r, r->pending, TCALL_PART_NAME_, name);
        return true;
    case TCALL_ITEM_CALL:
        if (empty && !h.len[TCALL_PART_ID_])
            return false;
        if (!h.len[TCALL_PART_ID_] && !tcall_reader_make_id_(r))
            return false;
        r->slot = r->pending;
        r->answer.calls++;
        return true;
    default: return false;
    }
}

/* The answer is whole: look at its items. pending is the one at hand, slot the
 * last call. */
static void tcall_reader_finish_(tcall_reader *r)
{
    const char *text = r->chat->block->base + r->start + TCALL_HEAD_;
    tcall_head_ h;
    r->pending = r->start;
    while (r->pending < r->chat->block->low) {
        bool stays = tcall_reader_item_(r);
        if (r->answer.error)
            return;
        h = tcall_head_get_(r->chat, r->pending);
        if (stays)
            r->pending += tcall_head_size_(&h);
        else
            tcall_reader_shift_(r, r->pending + tcall_head_size_(&h),
                                r->pending);
    }
    if (r->cut && r->answer.calls) {
        h = tcall_head_get_(r->chat, r->slot);
        h.error = h.error == TCALL_E_MEMORY ? h.error : (int8_t)TCALL_E_CUT;
        tcall_head_set_(r->chat, r->slot, &h);
    }
    if (r->answer.text_cut && r->has_text) { /* not inside a character */
        h = tcall_head_get_(r->chat, r->start);
        text += h.len[TCALL_PART_SIGN_];
        tcall_reader_shorten_(
            r, r->start,
            h.len[TCALL_PART_TEXT_] -
                tcall_utf8_whole_(text, h.len[TCALL_PART_TEXT_]));
    }
}

/* What was read holds no answer. */
static void tcall_reader_nothing_(tcall_reader *r)
{
    tcall_answer *a = &r->answer;
    if (a->calls || r->has_text)
        return;
    if (a->stop == TCALL_STOP_REFUSED)
        a->error = TCALL_E_REFUSED;
    if (r->fault)
        a->error = TCALL_E_PROVIDER;
    if (a->error && !a->message[0])
        tcall_reader_append_(a->message, sizeof a->message,
                             tcall_str_of(a->stop_text));
}

int tcall_reader_end(tcall_reader *r)
{
    tcall_answer *a = &r->answer;
    tcall_block *b = r->chat->block;
    size_t need;
    bool over = r->complete ||
                (r->finished && !(r->began & ~r->finished) && !r->announced);
    a->message[tcall_utf8_whole_(a->message, strlen(a->message))] = 0;
    if (!a->error && a->message[0] && !over)
        a->error = TCALL_E_PROVIDER;
    if (!a->error && (!over || r->inside))
        a->error = r->sse && !r->some ? TCALL_E_PROTOCOL : TCALL_E_TRUNCATED;
    if (!a->error)
        tcall_reader_finish_(r);
    if (!a->error)
        tcall_reader_nothing_(r);
    if (!a->error)
        a->message[0] = 0;
    need = b->low + b->high + r->lost + a->unkept + TCALL_RESERVE_;
    if (a->unkept && need <= b->size) /* it was fuller for a while */
        need = b->size + a->unkept;
    if (r->lost + a->unkept && need > b->need)
        b->need = need;
    if (a->error)
        b->low = r->start;
    return a->error;
}

/* What providers write about their errors, in code, type or words. */
static const struct tcall_fault_ {
    const char *says;
    int error;
} tcall_faults_[] = {
    {"context_length", TCALL_E_CONTEXT},
    {"context length", TCALL_E_CONTEXT},
    {"context window", TCALL_E_CONTEXT},
    {"context size", TCALL_E_CONTEXT},
    {"prompt is too long", TCALL_E_CONTEXT},
    {"prompt_tokens", TCALL_E_CONTEXT},
    {"number of tokens", TCALL_E_CONTEXT},
    {"api key", TCALL_E_AUTH},
    {"api_key", TCALL_E_AUTH},
    {"authentication", TCALL_E_AUTH},
    {"unauthenticated", TCALL_E_AUTH},
    {"permission", TCALL_E_AUTH},
    {"not_found", TCALL_E_NOT_FOUND},
    {"model identifier", TCALL_E_NOT_FOUND},
    {"overloaded", TCALL_E_OVERLOAD},
    {"unavailable", TCALL_E_OVERLOAD},
    {"rate_limit", TCALL_E_RATE},
    {"resource_exhausted", TCALL_E_RATE},
    {"content_filter", TCALL_E_REFUSED},
    {"content_policy", TCALL_E_REFUSED},
    {"content management policy", TCALL_E_REFUSED},
    {"safety", TCALL_E_REFUSED},
    {"invalid_request", TCALL_E_REQUEST},
    {"invalid_argument", TCALL_E_REQUEST},
};

/* Is the word in the text? Capitals do not matter. */
static bool tcall_says_(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] &&
               (text[i] | (text[i] >= 'A' && text[i] <= 'Z' ? 32 : 0)) ==
                   word[i])
            i++;
        if (!word[i])
            return true;
    }
    return false;
}

int tcall_answer_error(const tcall_answer *a, int status)
{
    static const struct {
        int status, error;
    } known[] = {{401, TCALL_E_AUTH},      {403, TCALL_E_AUTH},
                 {404, TCALL_E_NOT_FOUND}, {429, TCALL_E_RATE},
                 {503, TCALL_E_OVERLOAD},  {529, TCALL_E_OVERLOAD}};
    size_t i;
    for (i = 0; i < TCALL_COUNT(known); i++)
        if (status == known[i].status)
            return known[i].error;
    if (status < 300 && a->error != TCALL_E_PROVIDER)
        return a->error;
    for (i = 0; i < TCALL_COUNT(tcall_faults_); i++)
        if (tcall_says_(a->stop_text, tcall_faults_[i].says) ||
            tcall_says_(a->message, tcall_faults_[i].says))
            return tcall_faults_[i].error;
    return status >= 400 && status < 500 ? TCALL_E_REQUEST : TCALL_E_PROVIDER;
}

/* Past the white space from p on. */
static const char *tcall_view_space_(const char *p)
{
    while (tcall_is_space_(*p))
        p++;
    return p;
}

/* Past the value at p, of JSON text that was checked before. */
static const char *tcall_view_skip_(const char *p)
{
    int depth = 0;
    for (;; p++) {
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                if (*p == '\\' && p[1])
                    p++;
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']') {
            depth--;
        }
        if (!*p)
            return p;
        if (depth == 0 && strchr("\"}]", *p))
            return p + 1;
        if (depth == 0 && strchr(",}] \t\r\n", p[1]))
            return p + 1; /* also when the text ends */
    }
}

/* From one member of an object to its value. */
static const char *tcall_view_value_(const char *key)
{
    key = tcall_view_space_(tcall_view_skip_(key));
    return tcall_view_space_(key + (*key == ':'));
}

/* The next member or element behind a bracket, comma or value; NULL: none. */
static const char *tcall_view_next_(const char *p)
{
    p = tcall_view_space_(p);
    if (*p == ',')
        p = tcall_view_space_(p + 1);
    return *p == 0 || *p == '}' || *p == ']' ? NULL : p;
}

/* True when the string at p, quotes included, is this word. */
static bool tcall_view_is_(const char *p, const char *word)
{
    size_t n = strlen(word);
    return *p == '"' && strncmp(p + 1, word, n) == 0 && p[n + 1] == '"';
}

/* The value of a member of the object at p, NULL when it is absent. */
static const char *tcall_view_get_(const char *p, const char *key)
{
    const char *m = *p == '{' ? tcall_view_next_(p + 1) : NULL;
    for (; m; m = tcall_view_next_(tcall_view_skip_(m))) {
        bool found = tcall_view_is_(m, key);
        m = tcall_view_value_(m);
        if (found)
            return m;
    }
    return NULL;
}

/* What is sent of a tool's schema. */
static const char *tcall_tool_schema_(const tcall_tool *tool)
{
    const char *text =
        tool->provider_schema ? tool->provider_schema : tool->parameters;
    text = text ? tcall_view_space_(text) : "";
    return *text == '{' ? text : "{\"type\":\"object\",\"properties\":{}}";
}

/* What stands behind a keyword. */
enum {
    TCALL_VIEW_COPY_,
    TCALL_VIEW_SCHEMA_,
    TCALL_VIEW_LIST_, /* of schemas */
    TCALL_VIEW_MAP_,  /* of schemas, by names that are not ours */
    TCALL_VIEW_PROPERTIES_,
    TCALL_VIEW_FORMAT_,
    TCALL_VIEW_ENUM_, /* one value becomes a list of one */
    TCALL_VIEW_CLOSED_
};

/* keep: the views that have the keyword. bar: those that cannot say what it
 * says, so that the tool is not sent as strict. Whatever is not here is left
 * out of all views. */
typedef struct tcall_view_word_ {
    char key[22];
    const char *as; /* NULL: the same */
    uint8_t what, keep, bar;
} tcall_view_word_;

static const tcall_view_word_ tcall_view_words_[] = {
    {"type", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"description", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"title", NULL, TCALL_VIEW_COPY_, 2, 0},
    {"enum", NULL, TCALL_VIEW_COPY_, 7, 0},
    {"const", NULL, TCALL_VIEW_COPY_, 3, 0},
    {"const", "enum", TCALL_VIEW_ENUM_, 4, 0},
    {"format", NULL, TCALL_VIEW_FORMAT_, 3, 0},
    {"properties", NULL, TCALL_VIEW_PROPERTIES_, 7, 0},
    {"required", NULL, TCALL_VIEW_COPY_, 6, 0},
    {"items", NULL, TCALL_VIEW_SCHEMA_, 7, 0},
    {"anyOf", NULL, TCALL_VIEW_LIST_, 7, 0},
    {"oneOf", "anyOf", TCALL_VIEW_LIST_, 7, 0},
    {"allOf", NULL, TCALL_VIEW_LIST_, 2, 1},
    {"$ref", NULL, TCALL_VIEW_COPY_, 3, 0},
    {"$defs", NULL, TCALL_VIEW_MAP_, 3, 0},
    {"definitions", NULL, TCALL_VIEW_MAP_, 1, 2},
    {"additionalProperties", NULL, TCALL_VIEW_CLOSED_, 0, 0},
    {"patternProperties", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"prefixItems", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"dependentSchemas", NULL, TCALL_VIEW_COPY_, 0, 3},
    {"if", NULL, TCALL_VIEW_COPY_, 0, 3},
};

/* Deeper brackets are copied as they are. Strict modes know 10 levels of
 * schemas below the first. */
#define TCALL_VIEW_DEPTH_  24
#define TCALL_VIEW_LEVELS_ 10

typedef struct tcall_view_ {
    tcall_writer *w;
    uint8_t profile;
    bool unfit;                /* cannot be strict */
    uint8_t depth, level;      /* of brackets, of schemas */
    uint16_t optional, unions; /* seen; vendors limit their number */
    struct {
        const char *from; /* the bracket that is open */
        uint8_t what;
        bool nullable;
    } open[TCALL_VIEW_DEPTH_];
} tcall_view_;

static const tcall_view_word_ *tcall_view_find_(const tcall_view_ *v,
                                                const char *key)
{
    const tcall_view_word_ *w = tcall_view_words_;
    for (; w < tcall_view_words_ + TCALL_COUNT(tcall_view_words_); w++)
        if (((w->keep | w->bar) & v->profile ||
             w->what == TCALL_VIEW_CLOSED_) &&
            tcall_view_is_(key, w->key))
            return w;
    return NULL;
}

static bool tcall_view_type_(const char *schema, const char *word)
{
    const char *type = tcall_view_get_(schema, "type"), *m;
    if (!type || *type == '"')
        return type && tcall_view_is_(type, word);
    for (m = tcall_view_next_(type + (*type == '[')); m;
         m = tcall_view_next_(tcall_view_skip_(m)))
        if (tcall_view_is_(m, word))
            return true;
    return false;
}

/* What strict modes refuse: a value of any kind, an object of any members, an
 * array of anything. */
static bool tcall_view_vague_(const char *schema)
{
    static const char says[] = "type\0anyOf\0oneOf\0allOf\0$ref\0enum\0const\0";
    const char *word = says;
    while (*word && !tcall_view_get_(schema, word))
        word += strlen(word) + 1;
    return !*word ||
           (tcall_view_type_(schema, "object") &&
            !tcall_view_get_(schema, "properties")) ||
           (tcall_view_type_(schema, "array") &&
            !tcall_view_get_(schema, "items"));
}

static const char *tcall_view_copy_(tcall_view_ *v, const char *p)
{
    const char *end = tcall_view_skip_(p);
    tcall_write_verbatim(v->w, tcall_slice_(p, (size_t)(end - p)));
    return end;
}

/* Enters what the bracket at p opens; the next byte to look at. */
static const char *tcall_view_open_(tcall_view_ *v, const char *p, uint8_t what,
                                    bool nullable)
{
    const char *type;
    if (what == TCALL_VIEW_SCHEMA_ && *p == '{') {
        type = tcall_view_get_(p, "type");
        v->unions = (uint16_t)(v->unions + (type && *type == '['));
        v->unfit =
            v->unfit || v->level > TCALL_VIEW_LEVELS_ || tcall_view_vague_(p);
    }
    if (*p != (what == TCALL_VIEW_LIST_ ? '[' : '{') ||
        v->depth == TCALL_VIEW_DEPTH_) {
        v->unfit = true;
        return tcall_view_copy_(v, p);
    }
    tcall_write_open(v->w, *p);
    v->open[v->depth].from = p;
    v->open[v->depth].what = what;
    v->open[v->depth].nullable = nullable;
    v->depth++;
    v->level = (uint8_t)(v->level + (what == TCALL_VIEW_SCHEMA_));
    return p + 1;
}

static bool tcall_view_requires_(const char *schema, const char *key)
{
    const char *list = tcall_view_get_(schema, "required");
    size_t n = (size_t)(tcall_view_skip_(key) - key);
    const char *m = list && *list == '[' ? tcall_view_next_(list + 1) : NULL;
    for (; m; m = tcall_view_next_(tcall_view_skip_(m)))
        if (strncmp(m, key, n) == 0)
            return true;
    return false;
}

/* Behind the members of a schema: strict objects are closed, and OpenAI wants
 * every property to be required. */
static void tcall_view_close_schema_(tcall_view_ *v, const char *schema)
{
    const char *m = tcall_view_get_(schema, "properties");
    if (v->depth == 0 && !tcall_view_get_(schema, "type")) {
        tcall_write_key(v->w, "type");
        tcall_write_string(v->w, "object");
    }
    if (!m || v->profile == TCALL_STRICT_OLLAMA)
        return;
    tcall_write_key(v->w, "additionalProperties");
    tcall_write_bool(v->w, false);
    if (!(v->profile & TCALL_STRICT_OPENAI))
        return;
    tcall_write_key(v->w, "required");
    tcall_write_open(v->w, '[');
    for (m = tcall_view_next_(m + 1); m;
         m = tcall_view_next_(tcall_view_skip_(m))) {
        tcall_view_copy_(v, m);
        m = tcall_view_value_(m);
    }
    tcall_write_close(v->w, ']');
}

/* An optional property: for OpenAI it is required and may be null. */
static bool tcall_view_optional_(tcall_view_ *v)
{
    v->optional++;
    if (!(v->profile & TCALL_STRICT_OPENAI))
        return false;
    tcall_write_open(v->w, '{');
    tcall_write_key(v->w, "anyOf");
    tcall_write_open(v->w, '[');
    return true;
}

static const char *tcall_view_close_(tcall_view_ *v, const char *p)
{
    v->depth--;
    if (v->open[v->depth].what == TCALL_VIEW_SCHEMA_) {
        v->level--;
        tcall_view_close_schema_(v, v->open[v->depth].from);
    }
    tcall_write_close(v->w, *p);
    if (v->open[v->depth].nullable) {
        tcall_write_verbatim(v->w, tcall_str_of("{\"type\":\"null\"}"));
        tcall_write_close(v->w, ']');
        tcall_write_close(v->w, '}');
    }
    return p + 1;
}

static bool tcall_view_format_(const char *p)
{
    static const char known[] = "date-time\0time\0date\0duration\0email\0"
                                "hostname\0ipv4\0ipv6\0uuid\0";
    const char *word = known;
    while (*word && !tcall_view_is_(p, word))
        word += strlen(word) + 1;
    return *word != 0;
}

/* A member of a schema: key is at p, its value at value. */
static const char *tcall_view_keyword_(tcall_view_ *v, const char *p,
                                       const char *value)
{
    const tcall_view_word_ *word = tcall_view_find_(v, p);
    if (word && word->what == TCALL_VIEW_CLOSED_ && *value != 'f')
        v->unfit = true;
    if (word && word->bar & v->profile)
        v->unfit = true;
    if (!word || !(word->keep & v->profile) ||
        (word->what == TCALL_VIEW_FORMAT_ && !tcall_view_format_(value)))
        return tcall_view_skip_(value);
    if (word->as && word->what == TCALL_VIEW_LIST_ &&
        tcall_view_get_(v->open[v->depth - 1].from, word->as)) {
        v->unfit = true; /* it would stand there twice */
        return tcall_view_skip_(value);
    }
    tcall_write_key(v->w, word->as ? word->as : word->key);
    switch (word->what) {
    case TCALL_VIEW_LIST_: v->unions++; /* fall through */
    case TCALL_VIEW_SCHEMA_:
    case TCALL_VIEW_MAP_:
    case TCALL_VIEW_PROPERTIES_:
        return tcall_view_open_(v, value, word->what, false);
    case TCALL_VIEW_ENUM_:
        tcall_write_open(v->w, '[');
        value = tcall_view_copy_(v, value);
        tcall_write_close(v->w, ']');
        return value;
    default: return tcall_view_copy_(v, value);
    }
}

/* Writes a view of the schema at p. No recursion: v->open is the stack. */
static void tcall_view_write_(tcall_view_ *v, const char *p)
{
    p = tcall_view_open_(v, p, TCALL_VIEW_SCHEMA_, false);
    while (v->depth) {
        uint8_t top = (uint8_t)(v->depth - 1), what = v->open[top].what;
        bool nullable;
        const char *m = tcall_view_next_(p), *value;
        if (!m) {
            p = tcall_view_space_(p);
            if (!*p)
                return;
            p = tcall_view_close_(v, p);
            continue;
        }
        value = what == TCALL_VIEW_LIST_ ? m : tcall_view_value_(m);
        if (what == TCALL_VIEW_SCHEMA_) {
            p = tcall_view_keyword_(v, m, value);
            continue;
        }
        if (what != TCALL_VIEW_LIST_) {
            tcall_view_copy_(v, m);
            tcall_write_bytes(v->w, ":", 1);
        }
        nullable = what == TCALL_VIEW_PROPERTIES_ &&
                   !tcall_view_requires_(v->open[top - 1].from, m) &&
                   tcall_view_optional_(v);
        p = tcall_view_open_(v, value, TCALL_VIEW_SCHEMA_, nullable);
    }
}

bool tcall_view(tcall_writer *w, const tcall_tool *tool, tcall_strict *left)
{
    const char *p = tcall_tool_schema_(tool);
    tcall_writer count;
    tcall_view_ v;
    tcall_writer_init(&count, NULL, 0);
    memset(&v, 0, sizeof v);
    v.profile = left->profile;
    v.w = &count;
    if (v.profile != TCALL_STRICT_OLLAMA) {
        tcall_view_write_(&v, p);
        if (!tool->strict || v.unfit || !tcall_view_type_(p, "object") ||
            tcall_view_get_(p, "anyOf") || tcall_view_get_(p, "oneOf") ||
            tcall_view_get_(p, "allOf") || !left->tools ||
            v.optional > left->optional || v.unions > left->unions)
            return false;
        left->tools--;
        left->optional = (uint16_t)(left->optional - v.optional);
        left->unions = (uint16_t)(left->unions - v.unions);
    }
    v.w = w;
    tcall_view_write_(&v, p);
    return true;
}

/* The schema of a tool as a value. Without a view it is what the tool says,
 * to the byte; only the type that every provider insists on is added. True if
 * it is strict. */
static bool tcall_write_schema_(tcall_writer *w, const tcall_ask *ask,
                                const tcall_tool *tool, tcall_strict *left)
{
    const char *p = tcall_tool_schema_(tool);
    const char *end = tcall_view_skip_(p);
    if (left->profile && ask->view && ask->view(w, tool, left))
        return left->profile != TCALL_STRICT_OLLAMA;
    if (!tcall_view_get_(p, "type")) {
        tcall_write_text(w, "{\"type\":\"object\"");
        if (!tcall_view_get_(p, "properties"))
            tcall_write_text(w, ",\"properties\":{}");
        p = tcall_view_space_(p + 1);
        if (*p != '}')
            tcall_write_text(w, ",");
    }
    tcall_write_bytes(w, p, (size_t)(end - p));
    return false;
}

/* The tools to send, one after the other; NULL: no more. */
static const tcall_tool *tcall_ask_tool_(const tcall_ask *ask, size_t *i)
{
    while (*i < (ask->picks ? ask->pick_count : ask->tool_count)) {
        size_t at = ask->picks ? ask->picks[*i] : *i;
        ++*i;
        if (at < ask->tool_count && tcall_allowed_(&ask->tools[at], ask->allow))
            return &ask->tools[at];
    }
    return NULL;
}

/* Arguments as they may be sent back: one JSON object, whatever the model
 * wrote. A broken one would be refused by servers for ever after. */
static tcall_str tcall_arguments_(const tcall_item *call)
{
    tcall_scan s;
    if (tcall_check_json_(&s, call->text) == TCALL_OK && s.open[0] & 1)
        return call->text;
    return tcall_str_of("{}");
}

static void tcall_write_member_(tcall_writer *w, const char *key,
                                tcall_str value)
{
    if (value.len) {
        tcall_write_text(w, key);
        tcall_write_str(w, value);
    }
}

/* Writes JSON that is given as a form: @i, @n and @t stand for id, name and
 * text of the item, as strings, @r for its text as it is, @a for its text as
 * arguments, @A for the same as a string, @g for its sign; @I and @s for these
 * as members of Gemini's, if there are any. An object behind another one gets
 * its comma. */
static void tcall_write_form_(tcall_writer *w, const char *form,
                              const tcall_item *item)
{
    if ((*form == '{' || strcmp(form, "@r") == 0) && w->last == '}')
        tcall_write_text(w, ",");
    for (;;) {
        const char *at = strchr(form, '@');
        tcall_write_bytes(w, form, at ? (size_t)(at - form) : strlen(form));
        if (!at)
            return;
        switch (at[1]) {
        case 'i': tcall_write_str(w, item->id); break;
        case 'n': tcall_write_str(w, item->name); break;
        case 't': tcall_write_str(w, item->text); break;
        case 'g': tcall_write_str(w, item->sign); break;
        case 'r': tcall_write_bytes(w, item->text.ptr, item->text.len); break;
        case 'I':
            if (!item->made)
                tcall_write_member_(w, ",\"id\":", item->id);
            break;
        case 's':
            tcall_write_member_(w, ",\"thoughtSignature\":", item->sign);
            break;
        case 'a': tcall_write_verbatim(w, tcall_arguments_(item)); break;
        default: tcall_write_str(w, tcall_arguments_(item));
        }
        form = at + 2;
    }
}

/* A form with one text only. */
static void tcall_write_words_(tcall_writer *w, const char *form,
                               const char *text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.text = tcall_str_of(text);
    tcall_write_form_(w, form, &item);
}

/* All tools as a member of the request, each between two forms. False: there
 * are none. */
static bool tcall_write_tools_(tcall_writer *w, const tcall_ask *ask,
                               const char *before, const char *behind,
                               tcall_strict *left)
{
    const tcall_tool *tool;
    tcall_item item;
    size_t i = 0;
    bool some = false, strict;
    memset(&item, 0, sizeof item);
    while ((tool = tcall_ask_tool_(ask, &i)) != NULL) {
        if (left->profile == TCALL_STRICT_OLLAMA &&
            ask->choice == TCALL_CHOICE_ONE &&
            strcmp(tool->name, ask->choice_name) != 0)
            continue; /* it knows no other way to say so */
        tcall_write_text(w, some ? ""
                            : left->profile
                                ? ",\"tools\":["
                                : ",\"tools\":[{\"functionDeclarations\":[");
        some = true;
        item.name = tcall_str_of(tool->name);
        item.text = tcall_str_of(tool->description);
        tcall_write_form_(w, before, &item);
        strict = tcall_write_schema_(w, ask, tool, left);
        tcall_write_text(w, strict      ? ",\"strict\":true"
                            : left->say ? ",\"strict\":false"
                                        : "");
        tcall_write_text(w, behind);
    }
    tcall_write_text(w, !some ? "" : left->profile ? "]" : "]}]");
    return some;
}

/* From a call, which ends at at, to its result. One that is missing is made
 * up: an unanswered call would make the whole conversation invalid. */
static void tcall_chat_result_(const tcall_chat *chat, size_t at,
                               tcall_item *item)
{
    tcall_item call = *item;
    while (tcall_chat_next(chat, &at, item)) {
        if (!tcall_str_eq(item->id, call.id))
            continue;
        if (item->kind == TCALL_ITEM_RESULT) {
            item->made = call.made;
            return;
        }
        if (item->kind == TCALL_ITEM_CALL)
            break;
    }
    *item = call;
    item->kind = TCALL_ITEM_RESULT;
    item->error = TCALL_E_CANCELLED;
    item->text = tcall_str_of("this call was not run");
}

/* A conversation in the order in which providers want it. What the model said
 * in one answer comes as reasoning, text, calls with their reasoning, and then
 * the results of all its calls. */
typedef struct tcall_talk_ {
    const tcall_chat *chat;
    const char *who; /* the provider that gets it */
    bool keeps;      /* its reasoning */
    size_t from, at; /* where the answer begins; the place in it */
    uint8_t phase;
    bool called; /* a call came by */
} tcall_talk_;

static void tcall_talk_init_(tcall_talk_ *t, const tcall_chat *chat,
                             const char *who)
{
    memset(t, 0, sizeof *t);
    t->chat = chat;
    t->who = who ? who : "";
    t->keeps = who != NULL;
}

/* Does the item belong to the phase that is on? */
static bool tcall_talk_fits_(tcall_talk_ *t, const tcall_item *item)
{
    t->called = t->called || item->kind == TCALL_ITEM_CALL;
    switch (item->kind) {
    case TCALL_ITEM_TEXT: return t->phase == 1;
    case TCALL_ITEM_CALL: return t->phase >= 2;
    default:
        return t->phase == (t->called ? 2 : 0) &&
               tcall_str_eq(item->name, tcall_str_of(t->who));
    }
}

/* The next one. What is opaque and did not fit makes the request an error. */
static bool tcall_talk_next_(tcall_talk_ *t, tcall_writer *w, tcall_item *item)
{
    for (;;) {
        size_t next = t->at;
        bool some = tcall_chat_next(t->chat, &next, item);
        if (some && item->kind != TCALL_ITEM_USER &&
            item->kind != TCALL_ITEM_RESULT) {
            t->at = next;
            if (!tcall_talk_fits_(t, item))
                continue;
            if (item->lost && t->keeps && !w->error)
                w->error = TCALL_E_MEMORY;
            if (t->phase == 3)
                tcall_chat_result_(t->chat, next, item);
            return true;
        }
        t->called = false;
        if (t->at > t->from && t->phase < 3) { /* once more */
            t->phase++;
            t->at = t->from;
            continue;
        }
        if (!some)
            return false;
        t->phase = 0;
        t->at = t->from = next;
        if (item->kind == TCALL_ITEM_USER)
            return true;
    }
}

/* There is no error flag in this format: the text has to say it. */
static void tcall_write_result_(tcall_writer *w, const char *form,
                                const tcall_item *result)
{
    bool object = result->text.len && *result->text.ptr == '{';
    tcall_write_form_(w, form, result);
    tcall_write_quote(w);
    tcall_write_text(w, result->error && !object ? "Error: " : "");
    tcall_write_bytes(w, result->text.ptr, result->text.len);
    tcall_write_unquote(w);
    tcall_write_text(w, "}");
}

/* How far a message of the model is written. */
enum {
    TCALL_SAID_NONE_,
    TCALL_SAID_OPEN_,
    TCALL_SAID_TEXT_,
    TCALL_SAID_CALLS_
};

static void tcall_write_said_(tcall_writer *w, int *said, int to)
{
    if (*said == TCALL_SAID_NONE_ && to > *said)
        tcall_write_form_(w, "{\"role\":\"assistant\"", NULL);
    if (*said == TCALL_SAID_NONE_ && to > *said)
        *said = TCALL_SAID_OPEN_;
    if (*said == TCALL_SAID_OPEN_ && to != *said) {
        tcall_write_text(w, ",\"content\":");
        tcall_write_quote(w);
        *said = TCALL_SAID_TEXT_;
    }
    if (*said == TCALL_SAID_TEXT_ && to != *said)
        tcall_write_unquote(w);
    if (*said != to && to == TCALL_SAID_CALLS_)
        tcall_write_text(w, ",\"tool_calls\":[");
    if (*said && to == TCALL_SAID_NONE_)
        tcall_write_text(w, *said == TCALL_SAID_CALLS_ ? "]}" : "}");
    *said = to;
}

/* Arrays that came one after the other, as one. */
static void tcall_write_arrays_(tcall_writer *w, tcall_str s)
{
    size_t i, from = 0;
    int depth = 0;
    bool quoted = false;
    for (i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (quoted && c == '\\') {
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
            if (depth == 0 && i + 1 < s.len && s.ptr[i + 1] == '[') {
                tcall_write_bytes(w, s.ptr + from, i - from);
                tcall_write_text(w, ",");
                depth++;
                from = ++i + 1;
            }
        }
    }
    tcall_write_bytes(w, s.ptr + from, s.len - from);
}

/* Begins a request: model and messages, as OpenAI began to write them. The
 * form of a result ends before the value of its content. who: whose reasoning
 * goes back; NULL: nobody's. */
static void tcall_write_talk_(tcall_writer *w, const tcall_ask *ask,
                              const char *call, const char *result,
                              const char *who)
{
    tcall_talk_ talk;
    tcall_item item;
    int said = TCALL_SAID_NONE_;
    tcall_write_words_(w, "{\"model\":@t,\"messages\":[", ask->model);
    if (ask->system && *ask->system)
        tcall_write_words_(w, "{\"role\":\"system\",\"content\":@t}",
                           ask->system);
    tcall_talk_init_(&talk, ask->chat, who);
    while (tcall_talk_next_(&talk, w, &item))
        switch (item.kind) {
        case TCALL_ITEM_USER:
            tcall_write_said_(w, &said, TCALL_SAID_NONE_);
            tcall_write_form_(w, "{\"role\":\"user\",\"content\":@t}", &item);
            break;
        case TCALL_ITEM_TEXT:
            tcall_write_said_(w, &said, TCALL_SAID_TEXT_);
            tcall_write_bytes(w, item.text.ptr, item.text.len);
            break;
        case TCALL_ITEM_CALL:
            tcall_write_said_(w, &said, TCALL_SAID_CALLS_);
            tcall_write_form_(w, call, &item);
            break;
        case TCALL_ITEM_RESULT:
            tcall_write_said_(w, &said, TCALL_SAID_NONE_);
            tcall_write_result_(w, result, &item);
            break;
        default:
            if (said > TCALL_SAID_OPEN_)
                break; /* it always stands before the calls */
            tcall_write_said_(w, &said, TCALL_SAID_OPEN_);
            tcall_write_form_(w,
                              item.made ? ",\"reasoning_details\":"
                                        : ",\"reasoning_content\":@t",
                              &item);
            if (item.made)
                tcall_write_arrays_(w, item.text);
        }
    tcall_write_said_(w, &said, TCALL_SAID_NONE_);
    tcall_write_text(w, "]");
}

/* A member whose value is a number above 0. */
static void tcall_write_limit_(tcall_writer *w, const char *key, int value)
{
    if (value > 0) {
        tcall_write_text(w, key);
        tcall_write_int(w, value);
    }
}

/* ==========================================================================
 * >>openai: Chat Completions, also of compatible servers
 */

static const tcall_path tcall_openai_paths_[] = {
    {1, 0, 0, "usage"},
    {2, TCALL_AT_INPUT, 0, "prompt_tokens"},
    {2, TCALL_AT_OUTPUT, TCALL_PATH_LAST, "completion_tokens"},
    {1, TCALL_AT_ERROR, 0, "error"},
    {2, TCALL_AT_MESSAGE, 0, "message"},
    {2, TCALL_AT_ERROR_CODE, 0, "code"},
    {2, TCALL_AT_ERROR_TYPE, 0, "type"},
    {1, TCALL_AT_MESSAGE, 0, "message"},
    {1, TCALL_AT_MESSAGE, TCALL_PATH_RAW, "detail"},
    {1, 0, TCALL_PATH_LAST, "choices"},
    {2, TCALL_AT_CHOICE, 0, "*"},
    {3, TCALL_AT_NUMBER, 0, "index"},
    {3, TCALL_AT_STOP, 0, "finish_reason"},
    {3, TCALL_AT_HINT, 0, "native_finish_reason"}, /* of OpenRouter */
    {3, 0, TCALL_PATH_SAME, "delta"},
    {3, TCALL_AT_WHOLE, TCALL_PATH_LAST, "message"},
    {4, TCALL_AT_CALL, 0, "function_call"}, /* before there were tools */
    {5, TCALL_AT_NAME, 0, "name"},
    {5, TCALL_AT_ARGS, 0, "arguments"},
    {4, TCALL_AT_KEEP, 0, "reasoning_content"},
    {4, TCALL_AT_KEEP_2, TCALL_PATH_RAW, "reasoning_details"},
    {4, TCALL_AT_TEXT, 0, "content"},
    {5, 0, 0, "*"}, /* Mistral may send parts */
    {6, TCALL_AT_TEXT, 0, "text"},
    {4, 0, TCALL_PATH_LAST, "tool_calls"},
    {5, TCALL_AT_CALL, 0, "*"},
    {6, TCALL_AT_INDEX, 0, "index"},
    {6, TCALL_AT_ID, 0, "id"},
    {6, 0, TCALL_PATH_SAME, "custom"},
    {6, 0, TCALL_PATH_LAST, "function"},
    {7, TCALL_AT_NAME, 0, "name"},
    {7, TCALL_AT_ARGS, TCALL_PATH_RAW, "arguments"},
    {7, TCALL_AT_ARGS, 0, "input"}, /* of a custom tool */
    {0, 0, 0, ""},
};

static const tcall_word tcall_openai_words_[] = {
    {"stop", TCALL_STOP_END},
    {"tool_calls", TCALL_STOP_CALLS},
    {"function_call", TCALL_STOP_CALLS},
    {"length", TCALL_STOP_LENGTH},
    {"model_length", TCALL_STOP_LENGTH},
    {"max_tokens", TCALL_STOP_LENGTH},
    {"max_output_tokens", TCALL_STOP_LENGTH},
    {"MAX_TOKENS", TCALL_STOP_LENGTH},
    {"insufficient_system_resource", TCALL_STOP_LENGTH},
    {"error", TCALL_STOP_LENGTH},
    {"content_filter", TCALL_STOP_REFUSED},
    {"", 0},
};

static int tcall_openai_write_as_(tcall_writer *w, const tcall_ask *ask,
                                  const char *who)
{
    static const char *const choices[] = {
        "", ",\"tool_choice\":\"none\"", ",\"tool_choice\":\"required\"",
        ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":@t}}"};
    tcall_strict left = {TCALL_STRICT_OPENAI, 999, 999, 999, false};
    tcall_write_talk_(
        w, ask,
        "{\"id\":@i,\"type\":\"function\","
        "\"function\":{\"name\":@n,\"arguments\":@A}}",
        "{\"role\":\"tool\",\"tool_call_id\":@i,\"content\":", who);
    if (tcall_write_tools_(w, ask,
                           "{\"type\":\"function\",\"function\":{\"name\":@n,"
                           "\"description\":@t,\"parameters\":",
                           "}}", &left)) {
        tcall_write_words_(w, choices[ask->choice], ask->choice_name);
        if (ask->no_parallel)
            tcall_write_text(w, ",\"parallel_tool_calls\":false");
    }
    tcall_write_limit_(w, ",\"max_completion_tokens\":", ask->max_tokens);
    return tcall_write_text(
        w, ask->stream ? ",\"stream\":true,"
                         "\"stream_options\":{\"include_usage\":true}}"
                       : ",\"stream\":false}");
}

static int tcall_openai_write_(tcall_writer *w, const tcall_ask *ask)
{
    return tcall_openai_write_as_(w, ask, NULL);
}

static int tcall_deepseek_write_(tcall_writer *w, const tcall_ask *ask)
{
    return tcall_openai_write_as_(w, ask, "deepseek");
}

static int tcall_openrouter_write_(tcall_writer *w, const tcall_ask *ask)
{
    return tcall_openai_write_as_(w, ask, "openrouter");
}

const tcall_provider tcall_openai = {
    "openai",
    "/v1/chat/completions",
    NULL,
    "Authorization",
    "Bearer ",
    {NULL, NULL},
    tcall_openai_paths_,
    tcall_openai_words_,
    false,
    tcall_openai_write_,
};

const tcall_provider tcall_deepseek = {
    "deepseek",
    "/chat/completions",
    NULL,
    "Authorization",
    "Bearer ",
    {NULL, NULL},
    tcall_openai_paths_,
    tcall_openai_words_,
    true,
    tcall_deepseek_write_,
};

const tcall_provider tcall_openrouter = {
    "openrouter",
    "/api/v1/chat/completions",
    NULL,
    "Authorization",
    "Bearer ",
    {NULL, NULL},
    tcall_openai_paths_,
    tcall_openai_words_,
    true,
    tcall_openrouter_write_,
};

/* ==========================================================================
 * >>anthropic: Messages
 *
 * An event of a stream is itself the element of a call: index and type may
 * stand before or behind it.
 */

static const tcall_path tcall_anthropic_paths_[] = {
    {1, TCALL_AT_EVENT, 0, "type"},
    {1, TCALL_AT_INDEX, 0, "index"},
    {1, TCALL_AT_STOP, 0, "stop_reason"},
    {1, TCALL_AT_RESTART, 0, "message"},
    {2, 0, 0, "usage"},
    {3, TCALL_AT_INPUT, 0, "input_tokens"},
    {3, TCALL_AT_OUTPUT, 0, "output_tokens"},
    {1, 0, 0, "usage"},
    {2, TCALL_AT_INPUT, 0, "input_tokens"},
    {2, TCALL_AT_OUTPUT, 0, "output_tokens"},
    {1, TCALL_AT_ERROR, 0, "error"},
    {2, TCALL_AT_ERROR_TYPE, 0, "type"},
    {2, TCALL_AT_MESSAGE, 0, "message"},
    {1, TCALL_AT_CALL, 0, "delta"},
    {2, TCALL_AT_ARGS, 0, "partial_json"},
    {2, TCALL_AT_TEXT, 0, "text"},
    {2, TCALL_AT_KEEP, 0, "thinking"},
    {2, TCALL_AT_SIGN, 0, "signature"},
    {2, TCALL_AT_STOP, TCALL_PATH_LAST, "stop_reason"},
    {1, TCALL_AT_CALL, 0, "content_block"},
    {2, TCALL_AT_TYPE, 0, "type"},
    {2, TCALL_AT_ID, 0, "id"},
    {2, TCALL_AT_NAME, 0, "name"},
    {2, TCALL_AT_ARGS, TCALL_PATH_RAW, "input"},
    {2, TCALL_AT_KEEP, 0, "thinking"},
    {2, TCALL_AT_KEEP_2, 0, "data"}, /* of redacted thinking */
    {2, TCALL_AT_SIGN, 0, "signature"},
    {2, TCALL_AT_TEXT, TCALL_PATH_LAST, "text"},
    {1, TCALL_AT_WHOLE, TCALL_PATH_LAST, "content"},
    {2, TCALL_AT_CALL, 0, "*"},
    {3, TCALL_AT_TYPE, 0, "type"},
    {3, TCALL_AT_ID, 0, "id"},
    {3, TCALL_AT_NAME, 0, "name"},
    {3, TCALL_AT_ARGS, TCALL_PATH_RAW, "input"},
    {3, TCALL_AT_TEXT, 0, "text"},
    {3, TCALL_AT_KEEP, 0, "thinking"},
    {3, TCALL_AT_KEEP_2, 0, "data"},
    {3, TCALL_AT_SIGN, 0, "signature"},
    {0, 0, 0, ""},
};

static const tcall_word tcall_anthropic_words_[] = {
    {"message_stop", TCALL_STOP_FINAL_},
    {"tool_use", TCALL_WORD_CALL_},
    {"end_turn", TCALL_STOP_END},
    {"stop_sequence", TCALL_STOP_END},
    {"max_tokens", TCALL_STOP_LENGTH},
    {"model_context_window_exceeded", TCALL_STOP_LENGTH},
    {"refusal", TCALL_STOP_REFUSED},
    {"", 0},
};

static bool tcall_blank_(tcall_str s)
{
    while (s.len && tcall_is_space_(s.ptr[s.len - 1]))
        s.len--;
    return s.len == 0;
}

static void tcall_anthropic_messages_(tcall_writer *w, const tcall_chat *chat)
{
    static const char user[] = "user", model[] = "assistant";
    static const struct {
        const char *role, *form;
    } blocks[] = {{user, "{\"type\":\"text\",\"text\":@t}"},
                  {model, "{\"type\":\"text\",\"text\":@t}"},
                  {model, "{\"type\":\"tool_use\",\"id\":@i,\"name\":@n,"
                          "\"input\":@a}"},
                  {user, "{\"type\":\"tool_result\",\"tool_use_id\":@i,"
                         "\"content\":@t}"},
                  {model, "{\"type\":\"thinking\",\"thinking\":@t,"
                          "\"signature\":@g}"},
                  {model, "{\"type\":\"redacted_thinking\",\"data\":@t}"},
                  {user, "{\"type\":\"tool_result\",\"tool_use_id\":@i,"
                         "\"content\":@t,\"is_error\":true}"}};
    const char *role = NULL;
    tcall_talk_ talk;
    tcall_item item;
    tcall_talk_init_(&talk, chat, "anthropic");
    while (tcall_talk_next_(&talk, w, &item)) {
        int i = item.kind == TCALL_ITEM_RESULT && item.error  ? 6
                : item.kind == TCALL_ITEM_OPAQUE && item.made ? 5
                                                              : item.kind;
        if (item.kind <= TCALL_ITEM_TEXT && tcall_blank_(item.text))
            continue;                 /* that would be refused */
        if (role != blocks[i].role) { /* roles must take turns */
            tcall_write_text(w, role ? "]}" : "");
            tcall_write_words_(w, "{\"role\":@t,\"content\":[", blocks[i].role);
        }
        role = blocks[i].role;
        tcall_write_form_(w, blocks[i].form, &item);
    }
    tcall_write_text(w, role ? "]}]" : "]");
}

static void tcall_anthropic_choice_(tcall_writer *w, const tcall_ask *ask)
{
    static const char *const choices[] = {
        "{\"type\":\"auto\"", "{\"type\":\"none\"", "{\"type\":\"any\"",
        "{\"type\":\"tool\",\"name\":@t"};
    if (ask->choice == TCALL_CHOICE_AUTO && !ask->no_parallel)
        return;
    tcall_write_text(w, ",\"tool_choice\":");
    tcall_write_words_(w, choices[ask->choice], ask->choice_name);
    tcall_write_text(w, ask->no_parallel && ask->choice != TCALL_CHOICE_NONE
                            ? ",\"disable_parallel_tool_use\":true}"
                            : "}");
}

static int tcall_anthropic_write_(tcall_writer *w, const tcall_ask *ask)
{
    /* What one request may hold of strict tools, optional parameters and
     * unions, over all of them together. */
    tcall_strict left = {TCALL_STRICT_ANTHROPIC, 20, 24, 16, false};
    tcall_write_words_(w, "{\"model\":@t", ask->model);
    tcall_write_limit_(
        w, ",\"max_tokens\":", ask->max_tokens > 0 ? ask->max_tokens : 1024);
    if (ask->system && *ask->system)
        tcall_write_words_(w, ",\"system\":@t", ask->system);
    tcall_write_text(w, ",\"messages\":[");
    tcall_anthropic_messages_(w, ask->chat);
    if (tcall_write_tools_(w, ask,
                           "{\"name\":@n,\"description\":@t,"
                           "\"input_schema\":",
                           "}", &left))
        tcall_anthropic_choice_(w, ask);
    return tcall_write_text(w, ask->stream ? ",\"stream\":true}"
                                           : ",\"stream\":false}");
}

const tcall_provider tcall_anthropic = {
    "anthropic",
    "/v1/messages",
    NULL,
    "x-api-key",
    "",
    {"anthropic-version", "2023-06-01"},
    tcall_anthropic_paths_,
    tcall_anthropic_words_,
    true,
    tcall_anthropic_write_,
};

/* ==========================================================================
 * >>ollama: its own /api/chat
 *
 * Calls come whole, and their numbers mean nothing: each is a new one.
 */

static const tcall_path tcall_ollama_paths_[] = {
    {1, 0, 0, "message"},
    {2, TCALL_AT_TEXT, 0, "content"},
    {2, 0, 0, "tool_calls"},
    {3, TCALL_AT_CALL, 0, "*"},
    {4, TCALL_AT_ID, 0, "id"},
    {4, 0, 0, "function"},
    {5, TCALL_AT_NAME, 0, "name"},
    {5, TCALL_AT_ARGS, TCALL_PATH_RAW, "arguments"},
    {1, TCALL_AT_EVENT, 0, "done"},
    {1, TCALL_AT_STOP, 0, "done_reason"},
    {1, TCALL_AT_INPUT, 0, "prompt_eval_count"},
    {1, TCALL_AT_OUTPUT, 0, "eval_count"},
    {1, TCALL_AT_ERROR, 0, "error"},
    {2, TCALL_AT_MESSAGE, 0, "message"},
    {0, 0, 0, ""},
};

static const tcall_word tcall_ollama_words_[] = {
    {"true", TCALL_STOP_FINAL_},
    {"stop", TCALL_STOP_END},
    {"length", TCALL_STOP_LENGTH},
    {"", 0},
};

static int tcall_ollama_write_(tcall_writer *w, const tcall_ask *ask)
{
    tcall_strict left = {TCALL_STRICT_OLLAMA, 0, 0, 0, false};
    tcall_write_talk_(w, ask,
                      "{\"id\":@i,\"function\":{\"name\":@n,"
                      "\"arguments\":@a}}",
                      "{\"role\":\"tool\",\"tool_name\":@n,"
                      "\"tool_call_id\":@i,\"content\":",
                      NULL);
    if (ask->choice != TCALL_CHOICE_NONE)
        tcall_write_tools_(w, ask,
                           "{\"type\":\"function\",\"function\":{\"name\":@n,"
                           "\"description\":@t,\"parameters\":",
                           "}}", &left);
    tcall_write_limit_(w, ",\"options\":{\"num_predict\":", ask->max_tokens);
    tcall_write_text(w, ask->max_tokens > 0 ? "}" : "");
    /* It streams unless it is told not to. */
    return tcall_write_text(w, ask->stream ? ",\"stream\":true}"
                                           : ",\"stream\":false}");
}

const tcall_provider tcall_ollama = {
    "ollama",
    "/api/chat",
    NULL,
    "Authorization",
    "Bearer ",
    {NULL, NULL},
    tcall_ollama_paths_,
    tcall_ollama_words_,
    false,
    tcall_ollama_write_,
};

/* ==========================================================================
 * >>responses: the Responses API of OpenAI
 *
 * A stream says everything three times: in pieces, at the end of the piece's
 * part, and again in the item; servers differ in which of them they fill. The
 * longest counts. What a piece is of, the type of its event tells. Reasoning
 * goes back as the item that it came as.
 */

static const tcall_path tcall_responses_paths_[] = {
    {1, TCALL_AT_EVENT, 0, "type"},
    {1, TCALL_AT_INDEX, 0, "output_index"},
    {1, TCALL_AT_PIECE, 0, "delta"},
    {1, TCALL_AT_PIECE, 0, "arguments"},
    {1, TCALL_AT_PIECE, 0, "input"},
    {1, TCALL_AT_CALL, TCALL_PATH_RAW, "item"},
    {2, TCALL_AT_TYPE, 0, "type"},
    {2, TCALL_AT_ID, 0, "call_id"},
    {2, TCALL_AT_NAME, 0, "name"},
    {2, TCALL_AT_ALL, TCALL_PATH_RAW, "arguments"},
    {2, TCALL_AT_ALL, 0, "input"},
    {1, 0, 0, "response"},
    {2, TCALL_AT_STOP, 0, "status"},
    {2, TCALL_AT_ERROR, 0, "error"},
    {3, TCALL_AT_MESSAGE, 0, "message"},
    {3, TCALL_AT_ERROR_CODE, 0, "code"},
    {2, 0, 0, "incomplete_details"},
    {3, TCALL_AT_HINT, 0, "reason"},
    {2, 0, TCALL_PATH_LAST, "usage"},
    {3, TCALL_AT_INPUT, 0, "input_tokens"},
    {3, TCALL_AT_OUTPUT, 0, "output_tokens"},
    {1, TCALL_AT_STOP, 0, "status"},
    {1, 0, 0, "incomplete_details"},
    {2, TCALL_AT_HINT, 0, "reason"},
    {1, 0, 0, "usage"},
    {2, TCALL_AT_INPUT, 0, "input_tokens"},
    {2, TCALL_AT_OUTPUT, 0, "output_tokens"},
    {1, TCALL_AT_ERROR, 0, "error"},
    {2, TCALL_AT_MESSAGE, 0, "message"},
    {2, TCALL_AT_ERROR_CODE, 0, "code"},
    {2, TCALL_AT_ERROR_TYPE, 0, "type"},
    {1, TCALL_AT_MESSAGE, 0, "message"},
    {1, TCALL_AT_MESSAGE, TCALL_PATH_RAW, "detail"},
    {1, TCALL_AT_ERROR_CODE, 0, "code"},
    {1, TCALL_AT_WHOLE, TCALL_PATH_LAST, "output"},
    {2, TCALL_AT_CALL, TCALL_PATH_RAW, "*"},
    {3, TCALL_AT_TYPE, 0, "type"},
    {3, TCALL_AT_ID, 0, "call_id"},
    {3, TCALL_AT_NAME, 0, "name"},
    {3, TCALL_AT_ALL, TCALL_PATH_RAW, "arguments"},
    {3, TCALL_AT_ALL, 0, "input"},
    {3, 0, 0, "content"},
    {4, 0, 0, "*"},
    {5, TCALL_AT_SAID, 0, "text"},
    {0, 0, 0, ""},
};

static const tcall_word tcall_responses_words_[] = {
    {"function_call", TCALL_WORD_CALL_},
    {"custom_tool_call", TCALL_WORD_CALL_},
    {"message", TCALL_WORD_TEXT_},
    {"reasoning", TCALL_WORD_OPAQUE_},
    {"response.created", TCALL_WORD_OPEN_},
    {"response.output_item.added", TCALL_WORD_NEW_},
    {"response.output_item.done", TCALL_WORD_DONE_},
    {"response.output_text.delta", TCALL_WORD_TEXT_},
    {"response.function_call_arguments.delta", TCALL_WORD_PIECE_},
    {"response.function_call_arguments.done", TCALL_WORD_ALL_},
    {"response.custom_tool_call_input.delta", TCALL_WORD_PIECE_},
    {"response.custom_tool_call_input.done", TCALL_WORD_ALL_},
    {"response.completed", TCALL_STOP_FINAL_},
    {"response.incomplete", TCALL_STOP_FINAL_},
    {"response.failed", TCALL_STOP_FINAL_},
    {"in_progress", TCALL_STOP_NOT_YET_},
    {"queued", TCALL_STOP_NOT_YET_},
    {"completed", TCALL_STOP_END},
    {"incomplete", TCALL_STOP_LENGTH},
    {"cancelled", TCALL_STOP_LENGTH},
    {"failed", TCALL_STOP_FAULT_},
    {"max_output_tokens", TCALL_STOP_LENGTH},
    {"content_filter", TCALL_STOP_REFUSED},
    {"", 0},
};

static void tcall_responses_input_(tcall_writer *w, const tcall_chat *chat)
{
    static const char *const forms[] = {
        "{\"role\":\"user\",\"content\":@t}",
        "{\"role\":\"assistant\",\"content\":@t}",
        ("{\"type\":\"function_call\",\"call_id\":@i,\"name\":@n,"
         "\"arguments\":@A}"),
        "{\"type\":\"function_call_output\",\"call_id\":@i,\"output\":", "@r"};
    tcall_talk_ talk;
    tcall_item item;
    tcall_talk_init_(&talk, chat, "responses");
    while (tcall_talk_next_(&talk, w, &item)) {
        if (item.kind == TCALL_ITEM_RESULT)
            tcall_write_result_(w, forms[item.kind], &item);
        else
            tcall_write_form_(w, forms[item.kind], &item);
    }
}

static int tcall_responses_write_(tcall_writer *w, const tcall_ask *ask)
{
    static const char *const choices[] = {
        "", ",\"tool_choice\":\"none\"", ",\"tool_choice\":\"required\"",
        ",\"tool_choice\":{\"type\":\"function\",\"name\":@t}"};
    tcall_strict left = {TCALL_STRICT_OPENAI, 999, 999, 999, true};
    tcall_write_words_(w, "{\"model\":@t", ask->model);
    if (ask->system && *ask->system)
        tcall_write_words_(w, ",\"instructions\":@t", ask->system);
    tcall_write_text(w, ",\"input\":[");
    tcall_responses_input_(w, ask->chat);
    tcall_write_text(w, "]");
    /* Without a word about it tools would be taken for strict ones. */
    if (tcall_write_tools_(w, ask,
                           "{\"type\":\"function\",\"name\":@n,"
                           "\"description\":@t,\"parameters\":",
                           "}", &left)) {
        tcall_write_words_(w, choices[ask->choice], ask->choice_name);
        if (ask->no_parallel)
            tcall_write_text(w, ",\"parallel_tool_calls\":false");
    }
    tcall_write_limit_(w, ",\"max_output_tokens\":", ask->max_tokens);
    /* Nothing is kept on the server, so the reasoning has to come along. Models
     * that do not reason refuse to be asked for it. */
    tcall_write_text(w, ",\"store\":false");
    if (!ask->model || (strncmp(ask->model, "gpt-4", 5) != 0 &&
                        strncmp(ask->model, "gpt-3", 5) != 0))
        tcall_write_text(w, ",\"include\":[\"reasoning.encrypted_content\"]");
    return tcall_write_text(w, ask->stream ? ",\"stream\":true}"
                                           : ",\"stream\":false}");
}

const tcall_provider tcall_responses = {
    "responses",
    "/v1/responses",
    NULL,
    "Authorization",
    "Bearer ",
    {NULL, NULL},
    tcall_responses_paths_,
    tcall_responses_words_,
    true,
    tcall_responses_write_,
};

/* ==========================================================================
 * >>gemini: generateContent of Google
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

static const tcall_path tcall_gemini_paths_[] = {
    {1, 0, 0, "candidates"},
    {2, TCALL_AT_CHOICE, 0, "*"},
    {3, TCALL_AT_NUMBER, 0, "index"},
    {3, TCALL_AT_STOP, 0, "finishReason"},
    {3, TCALL_AT_MESSAGE, 0, "finishMessage"},
    {3, 0, TCALL_PATH_LAST, "content"},
    {4, 0, 0, "parts"},
    {5, TCALL_AT_CALL, 0, "*"},
    {6, TCALL_AT_SIGN, 0, "thoughtSignature"},
    {6, TCALL_AT_SAID, 0, "text"},
    {6, TCALL_AT_VOID, 0, "thought"},
    {6, TCALL_AT_VOID, 0, "toolCall"}, /* those that Google runs */
    {6, TCALL_AT_VOID, 0, "toolResponse"},
    {6, 0, TCALL_PATH_LAST, "functionCall"},
    {7, TCALL_AT_ID, 0, "id"},
    {7, TCALL_AT_NAME, 0, "name"},
    {7, TCALL_AT_ARGS, TCALL_PATH_RAW, "args"},
    /* Patches instead of arguments, which are never asked for: they are no
     * object, so that nobody runs such a call. */
    {7, TCALL_AT_ARGS, TCALL_PATH_RAW, "partialArgs"},
    {1, 0, 0, "promptFeedback"},
    {2, TCALL_AT_STOP, 0, "blockReason"},
    {2, TCALL_AT_MESSAGE, 0, "blockReasonMessage"},
    {1, 0, 0, "usageMetadata"},
    {2, TCALL_AT_INPUT, 0, "promptTokenCount"},
    {2, TCALL_AT_OUTPUT, 0, "candidatesTokenCount"},
    {1, TCALL_AT_ERROR, TCALL_PATH_LAST, "error"},
    {2, TCALL_AT_MESSAGE, 0, "message"},
    {2, TCALL_AT_ERROR_CODE, 0, "status"},
    {2, 0, 0, "details"},
    {3, 0, 0, "*"},
    {4, TCALL_AT_WAIT, 0, "retryDelay"},
    {0, 0, 0, ""},
};

static const tcall_word tcall_gemini_words_[] = {
    {"STOP", TCALL_STOP_END},
    {"1", TCALL_STOP_END},
    {"MAX_TOKENS", TCALL_STOP_LENGTH},
    {"2", TCALL_STOP_LENGTH},
    {"SAFETY", TCALL_STOP_REFUSED},
    {"3", TCALL_STOP_REFUSED},
    {"RECITATION", TCALL_STOP_REFUSED},
    {"4", TCALL_STOP_REFUSED},
    {"BLOCKLIST", TCALL_STOP_REFUSED},
    {"PROHIBITED_CONTENT", TCALL_STOP_REFUSED},
    {"SPII", TCALL_STOP_REFUSED},
    {"MALFORMED_FUNCTION_CALL", TCALL_STOP_FAULT_},
    {"9", TCALL_STOP_FAULT_},
    {"MALFORMED_RESPONSE", TCALL_STOP_FAULT_},
    {"UNEXPECTED_TOOL_CALL", TCALL_STOP_FAULT_},
    {"TOO_MANY_TOOL_CALLS", TCALL_STOP_FAULT_},
    {"", 0},
};

static void tcall_gemini_contents_(tcall_writer *w, const tcall_chat *chat)
{
    static const char user[] = "user", model[] = "model";
    static const struct {
        const char *role, *form;
    } parts[] = {{user, "{\"text\":@t@s}"},
                 {model, "{\"text\":@t@s}"},
                 {model, "{\"functionCall\":{\"name\":@n,\"args\":@a@I}@s}"},
                 {user, "{\"functionResponse\":{\"name\":@n,\"response\":"
                        "{\"output\":@t}@I}}"},
                 {user, "{\"functionResponse\":{\"name\":@n,\"response\":"
                        "{\"error\":@t}@I}}"}};
    const char *role = NULL;
    tcall_talk_ talk;
    tcall_item item;
    tcall_talk_init_(&talk, chat, "gemini");
    while (tcall_talk_next_(&talk, w, &item)) {
        int i = item.kind + (item.kind == TCALL_ITEM_RESULT && item.error);
        if (role != parts[i].role) {
            tcall_write_text(w, role ? "]}" : "");
            tcall_write_words_(w, "{\"role\":@t,\"parts\":[", parts[i].role);
        }
        role = parts[i].role;
        tcall_write_form_(w, parts[i].form, &item);
    }
    tcall_write_text(w, role ? "]}" : "");
}

static int tcall_gemini_write_(tcall_writer *w, const tcall_ask *ask)
{
    static const char *const choices[] = {
        "AUTO\"", "NONE\"", "ANY\"", "ANY\",\"allowedFunctionNames\":[@t]"};
    tcall_strict left = {0, 0, 0, 0, false};
    tcall_write_text(w, "{\"contents\":[");
    tcall_gemini_contents_(w, ask->chat);
    tcall_write_text(w, "]");
    if (ask->system && *ask->system)
        tcall_write_words_(w,
                           ",\"systemInstruction\":{\"parts\":[{\"text\":@t}]}",
                           ask->system);
    if (tcall_write_tools_(w, ask,
                           "{\"name\":@n,\"description\":@t,"
                           "\"parametersJsonSchema\":",
                           "}", &left) &&
        ask->choice != TCALL_CHOICE_AUTO) {
        tcall_write_text(
            w, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"");
        tcall_write_words_(w, choices[ask->choice], ask->choice_name);
        tcall_write_text(w, "}}");
    }
    tcall_write_limit_(
        w, ",\"generationConfig\":{\"maxOutputTokens\":", ask->max_tokens);
    return tcall_write_text(w, ask->max_tokens > 0 ? "}}" : "}");
}

const tcall_provider tcall_gemini = {
    "gemini",
    "/v1beta/models/{model}:generateContent",
    "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    "x-goog-api-key",
    "",
    {NULL, NULL},
    tcall_gemini_paths_,
    tcall_gemini_words_,
    true,
    tcall_gemini_write_,
};
/* ==========================================================================
 * >>chat
 */

bool tcall_chat_drop(tcall_chat *chat)
{
    char *base = chat->block->base + chat->start;
    size_t at = 0, from = 0, len = chat->block->low - chat->start;
    tcall_item item;
    while (tcall_chat_next(chat, &at, &item)) {
        if (item.kind == TCALL_ITEM_USER && from > 0) {
            memmove(base, base + from, len - from);
            chat->block->low -= from;
            return true;
        }
        from = at;
    }
    return false;
}

bool tcall_chat_make_room(tcall_chat *chat, size_t bytes)
{
    while (tcall_block_free_(chat->block) < bytes)
        if (!tcall_chat_drop(chat))
            return false;
    return true;
}

/* ==========================================================================
 * >>agent
 *
 * One turn is a walk through these states; a step is one of them, or one
 * piece of the body that goes out or comes in, or one call.
 */

enum {
    TCALL_A_IDLE_,  /* no turn */
    TCALL_A_WAIT_,  /* before the request is sent again */
    TCALL_A_OPEN_,  /* write the request for counting, connect */
    TCALL_A_SEND_,  /* write it for real */
    TCALL_A_READ_,  /* read the answer */
    TCALL_A_CALLS_, /* run what it asks for, one call each step */
    TCALL_A_ASKED_  /* calls wait for their results: tcall_agent_ask */
};

/* The path, if it has to name the model, in the block. */
static int tcall_agent_path_(tcall_agent *a)
{
    static const char mark[] = "{model}";
    const char *at = strstr(a->desc.path, mark);
    const char *model = a->desc.model ? a->desc.model : "";
    tcall_block *b = &a->desc.tc->block;
    char *to = tcall_block_gap_(b);
    size_t n;
    if (!at)
        return TCALL_OK;
    n = strlen(a->desc.path) + strlen(model) - strlen(mark) + 1;
    if (!tcall_block_grow_(b, (n + 7) & ~(size_t)7))
        return TCALL_E_MEMORY;
    n = (size_t)(at - a->desc.path);
    memcpy(to, a->desc.path, n);
    strcpy(to + n, model);
    strcat(to + n, at + strlen(mark));
    a->desc.path = to;
    return TCALL_OK;
}

int tcall_agent_init(tcall_agent *a, const tcall_agent_desc *desc)
{
    tcall_block *b = &desc->tc->block;
    size_t reader = (sizeof(tcall_reader) + 7) & ~(size_t)7, io;
    memset(a, 0, sizeof *a);
    a->desc = *desc;
    if (!a->desc.io_size)
        a->desc.io_size = 512;
    if (!a->desc.max_rounds)
        a->desc.max_rounds = 8;
    if (!a->desc.max_calls)
        a->desc.max_calls = 32;
    if (!a->desc.max_tries)
        a->desc.max_tries = 3;
    if (!a->desc.max_wait_ms)
        a->desc.max_wait_ms = 60000;
    a->random = a->desc.seed;
    if (!a->desc.path)
        a->desc.path = desc->stream && desc->provider->stream_path
                           ? desc->provider->stream_path
                           : desc->provider->path;
    if (tcall_agent_path_(a) < 0)
        return TCALL_E_MEMORY;
    io = (a->desc.io_size + 7) & ~(size_t)7;
    a->reader = (tcall_reader *)(void *)tcall_block_gap_(b);
    a->io = tcall_block_gap_(b) + reader;
    if (!tcall_block_grow_(b, reader + io))
        return TCALL_E_MEMORY;
    tcall_chat_init(&a->chat, b);
    return TCALL_OK;
}

static uint32_t tcall_agent_now_(const tcall_agent *a)
{
    const tcall_transport *t = &a->desc.transport;
    return t->now_ms ? t->now_ms(t->user) : 0;
}

/* The block keeps a quarter of what the conversation may use for answers. */
static bool tcall_agent_room_(tcall_agent *a, size_t more)
{
    const tcall_block *b = &a->desc.tc->block;
    size_t all = b->size - a->chat.start - b->high;
    return tcall_chat_make_room(&a->chat, all / 4 + more);
}

int tcall_agent_say(tcall_agent *a, tcall_str text)
{
    tcall_item item;
    int r;
    if (a->state != TCALL_A_IDLE_)
        return TCALL_E_USAGE;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_USER;
    item.text = text;
    tcall_agent_room_(a, text.len);
    r = tcall_chat_add(&a->chat, &item);
    if (r < 0)
        return r;
    a->started = tcall_agent_now_(a);
    a->rounds = a->calls = a->tries = 0;
    a->wait_ms = 0;
    a->cancelled = a->again = false;
    a->run = true;
    a->state = TCALL_A_OPEN_;
    return TCALL_OK;
}

void tcall_agent_cancel(tcall_agent *a)
{
    a->cancelled = true;
}

/* Why no further round may begin, or TCALL_OK. */
static int tcall_agent_over_(const tcall_agent *a)
{
    if (a->cancelled)
        return TCALL_E_CANCELLED;
    if (a->desc.max_ms && a->desc.transport.now_ms &&
        tcall_agent_now_(a) - a->started > a->desc.max_ms)
        return TCALL_E_TIMEOUT;
    return TCALL_OK;
}

/* In the last round that is left the model has to answer in words. */
static bool tcall_agent_last_round_(const tcall_agent *a)
{
    return a->rounds + 1 >= a->desc.max_rounds || a->calls >= a->desc.max_calls;
}

static int tcall_agent_write_(tcall_agent *a, tcall_writer *w)
{
    const tcall_agent_desc *d = &a->desc;
    tcall_ask ask;
    memset(&ask, 0, sizeof ask);
    ask.model = d->model;
    ask.system = d->system;
    ask.chat = &a->chat;
    ask.tools = d->tc->desc.tools;
    ask.tool_count = d->tc->desc.tool_count;
    ask.allow = d->tc->desc.allow;
    ask.max_tokens = d->max_tokens;
    ask.stream = d->stream;
    ask.view = d->view;
    if (a->run && tcall_agent_last_round_(a))
        ask.choice = TCALL_CHOICE_NONE;
    d->provider->write(w, &ask);
    return tcall_writer_flush(w);
}

/* How many tools the model gets to see. */
static size_t tcall_agent_tools_(const tcall_agent *a)
{
    const tcall_desc *d = &a->desc.tc->desc;
    size_t i, n = 0;
    for (i = 0; i < d->tool_count; i++)
        n += tcall_allowed_(&d->tools[i], d->allow);
    return n;
}

static void tcall_header_(tcall_request *req, tcall_header *h, const char *name,
                          const char *value, const char *secret)
{
    if (!name)
        return;
    h += req->header_count++;
    h->name = name;
    h->value = value;
    h->secret = secret;
}

static int tcall_agent_open_(tcall_agent *a)
{
    const tcall_provider *p = a->desc.provider;
    tcall_request *req = &a->request;
    tcall_writer count;
    tcall_event event;
    int r;
    tcall_agent_room_(a, 0);
    tcall_writer_init(&count, NULL, 0);
    r = tcall_agent_write_(a, &count);
    if (r < 0)
        return r;
    memset(req, 0, sizeof *req);
    req->method = "POST";
    req->path = a->desc.path;
    req->headers = a->headers;
    req->body_len = count.len;
    tcall_header_(req, a->headers, "Content-Type", "application/json", NULL);
    tcall_header_(req, a->headers, p->version[0], p->version[1], NULL);
    tcall_header_(req, a->headers, a->desc.key ? p->key_header : NULL,
                  p->key_prefix, a->desc.key);
    memset(&a->response, 0, sizeof a->response);
    a->response.retry_after_ms = -1;
    a->opened = true;
    r = a->desc.transport.open(a->desc.transport.user, req, &a->response);
    if (r < 0)
        return r;
    memset(&event, 0, sizeof event);
    event.bytes = count.len;
    event.tools = tcall_agent_tools_(a);
    tcall_tell_(a->desc.tc, &event, TCALL_EVENT_REQUEST);
    a->sent = a->received = 0;
    a->state = TCALL_A_SEND_;
    return TCALL_E_AGAIN;
}

static int tcall_agent_sink_(void *user, const char *bytes, size_t len)
{
    tcall_agent *a = (tcall_agent *)user;
    int n = a->desc.transport.write(a->desc.transport.user, bytes, len);
    if (n > 0)
        a->sent += (size_t)n;
    return n;
}

static void tcall_agent_text_piece_(void *user, tcall_str piece)
{
    tcall_agent *a = (tcall_agent *)user;
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.text = piece;
    tcall_tell_(a->desc.tc, &event, TCALL_EVENT_TEXT);
}

/* Where the transport paused, the request is written again and what has been
 * sent is skipped: nothing of it is ever held. */
static int tcall_agent_send_(tcall_agent *a)
{
    tcall_writer w;
    int r;
    tcall_writer_init(&w, a->io, a->desc.io_size);
    tcall_writer_sink(&w, tcall_agent_sink_, a);
    w.skip = a->sent;
    r = tcall_agent_write_(a, &w);
    if (r < 0)
        return r;
    if (a->sent != a->request.body_len)
        return TCALL_E_USAGE;
    a->mark = a->desc.tc->block.low - a->chat.start;
    tcall_reader_init(a->reader, a->desc.provider, &a->chat,
                      tcall_agent_text_piece_, a);
    a->state = TCALL_A_READ_;
    return TCALL_E_AGAIN;
}

/* A server may repeat the key in its complaint: as much as 8 characters of it
 * are made unreadable. */
static void tcall_agent_mask_(char *text, const char *key)
{
    for (; key && *key && *text; text++) {
        size_t n = 0;
        while (key[n] && text[n] == key[n])
            n++;
        if (n >= 8 || !key[n])
            memset(text, '*', n);
    }
}

/* The answer is there: what follows of it. */
static int tcall_agent_answered_(tcall_agent *a)
{
    tcall_event event;
    int r = tcall_reader_end(a->reader);
    int status;
    a->answer = a->reader->answer;
    tcall_agent_mask_(a->answer.message, a->desc.key);
    tcall_agent_mask_(a->answer.stop_text, a->desc.key);
    status = tcall_answer_error(&a->answer, a->response.status);
    if (a->response.retry_after_ms < 0)
        a->response.retry_after_ms = a->answer.wait_ms;
    if (status == TCALL_OK && a->run && a->answer.calls && a->answer.unkept)
        status = TCALL_E_MEMORY; /* nobody could send their results back */
    if (status < 0)              /* whatever the body is, it is no answer */
        r = status;
    memset(&event, 0, sizeof event);
    event.error = r;
    event.status = a->response.status;
    event.bytes = a->received;
    event.text = tcall_str_of(a->answer.message);
    tcall_tell_(a->desc.tc, &event, TCALL_EVENT_ANSWER);
    if (r < 0)
        return r;
    a->desc.transport.close(a->desc.transport.user);
    a->opened = a->again = false;
    a->state = TCALL_A_IDLE_;
    a->rounds++;
    a->tries = 0;
    a->call_at = 0;
    if (a->answer.calls == 0)
        return TCALL_OK;
    a->state = a->run ? TCALL_A_CALLS_ : TCALL_A_ASKED_;
    return a->run ? TCALL_E_AGAIN : TCALL_OK;
}

static int tcall_agent_read_(tcall_agent *a)
{
    int n =
        a->desc.transport.read(a->desc.transport.user, a->io, a->desc.io_size);
    int r;
    if (n == 0)
        return tcall_agent_answered_(a);
    if (n < 0)
        return n;
    a->received += (size_t)n;
    r = tcall_reader_feed(a->reader, a->io, (size_t)n);
    /* An error page is not in the provider's format: read on for its words. */
    if (r < 0 && a->response.status < 300)
        return r;
    return TCALL_E_AGAIN;
}

/* The index-th call of the last answer. */
static bool tcall_agent_item_(const tcall_agent *a, size_t index,
                              tcall_item *item)
{
    size_t at = a->mark;
    while (tcall_chat_next(&a->chat, &at, item))
        if (item->kind == TCALL_ITEM_CALL && index-- == 0)
            return true;
    return false;
}

int tcall_agent_call(tcall_agent *a, int index, tcall_call *call)
{
    tcall_item item;
    memset(call, 0, sizeof *call);
    if (index < 0 || !tcall_agent_item_(a, (size_t)index, &item))
        return TCALL_E_USAGE;
    call->id = item.id;
    call->name = item.name;
    call->arguments = item.text;
    call->cut = item.error;
    call->provider = a->desc.provider->name;
    return tcall_hydrate(a->desc.tc, call);
}

int tcall_agent_result(tcall_agent *a, const tcall_call *call, tcall_str text,
                       bool error)
{
    tcall_item item;
    int r;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_RESULT;
    item.id = call->id;
    item.name = call->name;
    item.text = text;
    item.error = error;
    r = tcall_chat_add(&a->chat, &item);
    if (r == TCALL_OK && a->state == TCALL_A_ASKED_ &&
        ++a->call_at == (size_t)a->answer.calls) {
        a->run = true;
        a->state = TCALL_A_OPEN_;
    }
    return r;
}

/* Runs the next call. Its result is written where its item will lie. */
static int tcall_agent_next_(tcall_agent *a)
{
    tcall *tc = a->desc.tc;
    tcall_call *call = &a->call;
    tcall_writer out;
    size_t head;
    int over = tcall_agent_over_(a), r;
    if (!call->name.ptr) { /* not one that asked to be called again */
        tcall_agent_call(a, (int)a->call_at, call);
        a->calls++;
    }
    if (over == TCALL_OK && a->calls > a->desc.max_calls)
        over = TCALL_E_LIMIT;
    if (over < 0)
        call->error = over;
    head = TCALL_HEAD_ + call->id.len + call->name.len;
    if (!tcall_block_room_(&tc->block, head))
        return TCALL_E_MEMORY;
    tcall_writer_init(&out, tcall_block_gap_(&tc->block) + head,
                      tcall_block_free_(&tc->block) - head);
    r = tcall_invoke(tc, call, &out);
    if (out.error == TCALL_E_MEMORY)
        tcall_block_room_(&tc->block, head + out.len);
    if (r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL)
        return r;
    if (!out.error)
        out.error =
            tcall_agent_result(a, call, tcall_slice_(out.buf, out.fill), r < 0);
    tcall_release(tc, call);
    memset(call, 0, sizeof *call);
    if (out.error)
        return out.error;
    if (++a->call_at < (size_t)a->answer.calls)
        return TCALL_E_AGAIN;
    if (over == TCALL_E_CANCELLED || over == TCALL_E_TIMEOUT)
        return over;
    a->state = TCALL_A_OPEN_;
    return a->rounds < a->desc.max_rounds ? TCALL_E_AGAIN : TCALL_E_LIMIT;
}

/* Ends the exchange, and forgets what came of an answer. */
static void tcall_agent_leave_(tcall_agent *a)
{
    if (a->opened)
        a->desc.transport.close(a->desc.transport.user);
    a->opened = false;
    if (a->state == TCALL_A_READ_)
        a->desc.tc->block.low = a->chat.start + a->mark;
}

/* Whether the request failed in a way that sending it again can mend. An
 * answer that had begun well may have been seen by somebody. */
static bool tcall_agent_mendable_(const tcall_agent *a, int error)
{
    int status = a->response.status;
    if (!status)
        return error == TCALL_E_CLOSED || error == TCALL_E_CONNECT ||
               error == TCALL_E_RESOLVE ||
               (error == TCALL_E_TIMEOUT && a->state == TCALL_A_OPEN_);
    if (status < 400 || a->response.should_retry)
        return status >= 400 && a->response.should_retry > 0;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

/* How long to wait before that. Devices that failed together should not come
 * back together, so up to half of it is left to chance. */
static uint32_t tcall_agent_delay_(tcall_agent *a)
{
    uint32_t most = a->desc.max_wait_ms, ms, x;
    if (a->response.retry_after_ms >= 0) {
        ms = (uint32_t)a->response.retry_after_ms;
    } else {
        ms = 250u << (a->tries < 5 ? a->tries - 1 : 4);
        x = a->random += a->desc.seed ? 0x9E3779B9u : tcall_agent_now_(a);
        x = (x ^ x >> 16) * 0x45D9F3Bu;
        x = (x ^ x >> 16) * 0x45D9F3Bu;
        ms += (x >> 16) * ms >> 16;
    }
    return ms < most ? ms : most;
}

/* After an error: TCALL_E_AGAIN when the request will be sent again, else the
 * error. A connection that was dead when it was reused costs no try. */
static int tcall_agent_retry_(tcall_agent *a, int error)
{
    bool dead = !a->response.status && a->response.retry_after_ms == 0;
    uint32_t ms = 0, now = tcall_agent_now_(a);
    tcall_event event;
    if (!a->opened || tcall_agent_over_(a) < 0 ||
        !tcall_agent_mendable_(a, error))
        return error;
    if (!dead || a->again) {
        if (++a->tries >= a->desc.max_tries)
            return error;
        ms = tcall_agent_delay_(a);
    }
    if (ms && (!a->desc.transport.now_ms ||
               (a->desc.max_ms && now - a->started + ms >= a->desc.max_ms)))
        return error;
    a->again = a->again || dead;
    tcall_agent_leave_(a);
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = a->response.status;
    event.ms = ms;
    tcall_tell_(a->desc.tc, &event, TCALL_EVENT_RETRY);
    a->paused = now;
    a->pause = a->wait_ms = ms;
    a->state = TCALL_A_WAIT_;
    return TCALL_E_AGAIN;
}

static int tcall_agent_wait_(tcall_agent *a)
{
    uint32_t spent = a->pause ? tcall_agent_now_(a) - a->paused : 0;
    a->wait_ms = spent < a->pause ? a->pause - spent : 0;
    if (!a->wait_ms)
        a->state = TCALL_A_OPEN_;
    return TCALL_E_AGAIN;
}

/* An error ends the turn. What it added to the history stays as far as it is
 * whole: calls without results are taken back, and so is a question that
 * nobody answered. */
static int tcall_agent_end_(tcall_agent *a, int error)
{
    tcall_block *b = &a->desc.tc->block;
    size_t at = 0, from = 0, last = 0;
    tcall_item item;
    tcall_agent_leave_(a);
    if (a->call.tool)
        tcall_release(a->desc.tc, &a->call);
    if (a->state == TCALL_A_CALLS_ && a->call_at < (size_t)a->answer.calls)
        b->low = a->chat.start + a->mark;
    memset(&a->call, 0, sizeof a->call);
    item.kind = TCALL_ITEM_TEXT;
    for (; tcall_chat_next(&a->chat, &at, &item); from = at)
        last = from;
    if (item.kind == TCALL_ITEM_USER)
        b->low = a->chat.start + last;
    a->state = TCALL_A_IDLE_;
    a->wait_ms = 0;
    return error;
}

int tcall_agent_step(tcall_agent *a)
{
    int r = TCALL_OK;
    if (a->state == TCALL_A_IDLE_ || a->state == TCALL_A_ASKED_)
        return TCALL_E_USAGE;
    if (a->state != TCALL_A_CALLS_)
        r = tcall_agent_over_(a);
    if (r == TCALL_OK)
        switch (a->state) {
        case TCALL_A_WAIT_: r = tcall_agent_wait_(a); break;
        case TCALL_A_OPEN_: r = tcall_agent_open_(a); break;
        case TCALL_A_SEND_: r = tcall_agent_send_(a); break;
        case TCALL_A_READ_: r = tcall_agent_read_(a); break;
        default: r = tcall_agent_next_(a); break;
        }
    if (r < 0 && r != TCALL_E_AGAIN && r != TCALL_E_APPROVAL)
        r = tcall_agent_retry_(a, r);
    if (r < 0 && r != TCALL_E_AGAIN && r != TCALL_E_APPROVAL)
        return tcall_agent_end_(a, r);
    return r;
}

static int tcall_agent_finish_(tcall_agent *a)
{
    const tcall_transport *t = &a->desc.transport;
    int r;
    while ((r = tcall_agent_step(a)) == TCALL_E_AGAIN)
        if (a->wait_ms && t->wait)
            t->wait(t->user, a->wait_ms);
    return r;
}

int tcall_agent_run(tcall_agent *a, tcall_str text)
{
    int r = tcall_agent_say(a, text);
    return r < 0 ? r : tcall_agent_finish_(a);
}

int tcall_agent_ask(tcall_agent *a, tcall_str text)
{
    int r = tcall_agent_say(a, text);
    if (r < 0)
        return r;
    a->run = false;
    r = tcall_agent_finish_(a);
    return r < 0 ? r : a->answer.calls;
}

tcall_str tcall_agent_text(const tcall_agent *a)
{
    tcall_item item;
    tcall_str text = tcall_slice_(NULL, 0);
    size_t at = 0;
    while (tcall_chat_next(&a->chat, &at, &item))
        if (item.kind == TCALL_ITEM_TEXT)
            text = item.text;
        else if (item.kind == TCALL_ITEM_USER)
            text = tcall_slice_(NULL, 0);
    return text;
}

#ifdef __cplusplus
}
#endif
#endif /* TOOLCALL_IMPLEMENTATION */
