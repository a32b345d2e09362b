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
 *         .tool_count = TCALL_ARRAY_LEN(tools), .allow = TCALL_WRITE});
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
 * Define before the implementation to leave parts out: TOOLCALL_NO_LENIENT (the
 * tolerant reading of arguments), TOOLCALL_NO_PATTERN (of schemas); schemas that need what is left out are refused. TOOLCALL_NO_PICK,
 * TOOLCALL_NO_SYNONYMS, TOOLCALL_NO_LINT.
 *
 * grep -n '>>' is the table of contents.
 */
#ifndef TOOLCALL_H
#define TOOLCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==========================================================================
 * >>base: errors, slices, the block
 *
 * Everything that can fail returns an int: >= 0 is a count or an index, < 0
 * one of the errors below. Bytes from outside travel as slices: a pointer and
 * a length, not terminated, may hold NUL. Memory is one block that the caller
 * gives.
 */

#define TOOLCALL_VERSION "0.1.0"

/* What users call. TOOLCALL_STATIC, defined before the implementation in the
 * one file that includes it, makes everything private to that file. Public
 * tables are defined as TCALL_DATA_ and, because C++ knows no declaration of
 * a static object, declared only #ifndef TOOLCALL_STATIC. */
#ifdef TOOLCALL_STATIC
#define TCALL_API   static TCALL_UNUSED_
#define TCALL_DATA_ static TCALL_UNUSED_
#else
#define TCALL_API extern
#define TCALL_DATA_
#endif
/* A private function for later chapters, all of which may be left out. */
#define TCALL_SHARED_ static TCALL_UNUSED_

#ifdef __GNUC__
#define TCALL_UNUSED_ __attribute__((unused))
/* Keeps its stack frame out of its caller's: a function is marked so when its
 * caller lies on the deepest path of calls and it does not. */
#define TCALL_NOINLINE_ __attribute__((noinline))
#else
#define TCALL_UNUSED_
#define TCALL_NOINLINE_
#endif
#define TCALL_APART_ TCALL_NOINLINE_ /* the old name, until all are renamed */
/* Where memory is dear, second ways that only save time are left out. */
#ifdef __OPTIMIZE_SIZE__
#define TCALL_LEAN_ 1
#else
#define TCALL_LEAN_ 0
#endif
/* Nesting of JSON values that is accepted; deeper input is TCALL_E_DEPTH. */
#ifndef TOOLCALL_MAX_DEPTH
#define TOOLCALL_MAX_DEPTH 64
#endif

/* X(name, code, sentence). The code is for machines and never changes; the
 * sentence says to the model or the developer what is wrong and, where that is
 * not obvious, what to do. */
#define TCALL_ERRORS(X)                                                        \
    X(AGAIN, "again", "not finished yet: call it again")                       \
    X(MEMORY, "memory", "the block of memory is too small")                    \
    X(USAGE, "usage", "this is not allowed here: see the function's contract") \
    X(TRUNCATED, "truncated", "the JSON text ends too early: send all of it")  \
    X(BARE_WORD, "bare-word",                                                  \
      "a bare word or expression is no JSON value: put text in quotes")        \
    X(BAD_VALUE, "bad-value", "this is not a JSON value")                      \
    X(MISSING_COMMA, "missing-comma", "a comma is missing between two values") \
    X(MISSING_COLON, "missing-colon", "a colon is missing after a key")        \
    X(UNESCAPED_QUOTE, "unescaped-quote-or-missing-comma",                     \
      "a quote inside a string needs a backslash, or a comma is missing")      \
    X(BAD_ESCAPE, "bad-escape",                                                \
      "JSON has no such escape: write a backslash itself as two")              \
    X(BAD_KEY, "bad-key", "a key must be a string in double quotes")           \
    X(BRACKETS, "bracket-mismatch",                                            \
      "the closing bracket does not match the open one")                       \
    X(TRAILING, "trailing-data",                                               \
      "text follows the JSON value: send only the value")                      \
    X(MULTIPLE, "multiple-values",                                             \
      "there are several JSON values: send only one")                          \
    X(NOT_OBJECT, "root-not-object", "the arguments must be one JSON object")  \
    X(NUL, "nul", "a string must not contain the character U+0000")            \
    X(UTF8, "utf-8", "the text is not valid UTF-8")                            \
    X(DUPLICATE, "duplicate-key", "a key appears twice in the same object")    \
    X(DEPTH, "depth", "objects and arrays are nested too deeply")              \
    X(RANGE, "range", "a number is outside the range that can be represented") \
    X(BUDGET, "budget", "checking takes too many steps: send a simpler value") \
    X(SCHEMA, "schema", "the schema cannot be used")                           \
    X(INVALID, "invalid", "the value does not match the schema")               \
    X(TOOL, "tool", "a tool is not defined correctly")                         \
    X(UNKNOWN, "unknown-tool", "there is no tool of this name")                \
    X(DENIED, "denied", "permission was denied")                               \
    X(APPROVAL, "approval", "the call waits for approval")                     \
    X(FAILED, "failed", "the tool failed")                                     \
    X(CUT, "cut", "the call was cut off: send it again, shorter")              \
    X(PROVIDER, "provider", "the provider reported an error")                  \
    X(REQUEST, "request", "the provider rejected the request as invalid")      \
    X(NOT_FOUND, "not-found", "the model or the address does not exist")       \
    X(CONTEXT, "context", "the conversation is too long for the model")        \
    X(REFUSED, "refused", "the provider refused the content")                  \
    X(OVERLOAD, "overload", "the provider is overloaded: try again later")     \
    X(AUTH, "auth", "the provider did not accept the key")                     \
    X(RATE, "rate", "too many requests: wait before the next one")             \
    X(RESOLVE, "resolve", "DNS does not know the name of the host")            \
    X(CONNECT, "connect", "the host does not accept a connection")             \
    X(TLS, "tls", "no secure connection to the host is possible")              \
    X(CERTIFICATE, "certificate",                                              \
      "the certificate of the host is not trusted")                            \
    X(WRONG_HOST, "wrong-host", "the certificate belongs to another host")     \
    X(EXPIRED, "expired", "the certificate has expired")                       \
    X(NOT_YET, "not-yet-valid",                                                \
      "the certificate is not valid yet: check the clock")                     \
    X(CLOCK, "clock-not-set", "the clock must be set to check a certificate")  \
    X(ENTROPY, "no-entropy", "there is no source of random numbers for TLS")   \
    X(TIMEOUT, "timeout", "it took longer than allowed")                       \
    X(CLOSED, "closed", "the connection ended before the answer did")          \
    X(PROTOCOL, "protocol", "the answer violates its protocol")                \
    X(LIMIT, "limit", "a limit was reached")                                   \
    X(CANCELLED, "cancelled", "it was cancelled")                              \
    X(ABORTED, "aborted", "a hook stopped the call")                           \
    X(SERVICE, "service", "a service that the tool needs is missing")          \
    X(OUTPUT, "output", "the output of the tool does not match its schema")    \
    X(TWICE, "twice", "the call has run already and must not run twice")       \
    X(LOOP, "loop", "the same call is being repeated: try something else")     \
    X(STALE, "stale", "the content has changed: read it again first")          \
    X(UNREAD, "unread", "the content has not been read: read it first")

enum {
#define TCALL_X_(name, code, sentence) TCALL_I_##name,
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
        TCALL_I_COUNT
};

enum {
#define TCALL_X_(name, code, sentence) TCALL_E_##name = -1 - TCALL_I_##name,
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
TCALL_API tcall_str tcall_str_of(const char *text);
TCALL_API bool tcall_str_eq(tcall_str a, tcall_str b);

/* Returns the code of an error, "truncated". 0 and above give "ok". */
TCALL_API const char *tcall_error_code(int error);
/* Returns its sentence: "the JSON text ends too early: send all of it". Where
 * TOOLCALL_NO_SENTENCES is defined, all sentences are left out and this is the
 * code. */
TCALL_API const char *tcall_error_text(int error);
/* Returns whose matter an error is: "validation", "permission", "user",
 * "system", "security", "cancelled" or "timeout". */
TCALL_API const char *tcall_error_type(int error);

/* ==========================================================================
 * >>block: the caller's memory
 */

/* The one block of memory. What lasts grows from its start, what is needed
 * only for a while from its end; the ends may meet, never cross. */
typedef struct tcall_block {
    char *base;
    size_t size;
    size_t low;  /* bytes used from the start */
    size_t high; /* bytes used from the end */
    size_t peak; /* most ever used of both together */
    size_t need; /* after TCALL_E_MEMORY: the size that would have done, of
                    memory aligned to 8 */
} tcall_block;

TCALL_API void tcall_block_init(tcall_block *b, void *base, size_t size);

/* ==========================================================================
 * >>scan: push recogniser of JSON
 *
 * A state machine that is fed bytes in any pieces and keeps nothing of them:
 * one bit per open level, no recursion. It accepts exactly RFC 8259: UTF-8 is
 * checked, surrogates must be paired, nesting is limited. Given a path filter
 * it reports the values at the wanted paths as they pass, strings decoded.
 */

/* One row of a path filter, which is a tree written in preorder: each row
 * names its depth. The root has depth 0 and is not written. */
typedef struct tcall_path {
    uint8_t depth;
    uint8_t field; /* given to the callback; 0: only leads to other rows */
    uint8_t flags; /* TCALL_PATH_... */
    uint8_t len;   /* of its key */
} tcall_path;

/* A path filter: its rows, the last with depth 0, and their keys, one after
 * the other. */
typedef struct tcall_paths {
    const tcall_path *rows;
    const char *keys;
} tcall_paths;

/* Defines a path filter from a list of X(depth, field, flags, key). The key
 * "*" is any element of an array, "0" the first one:
 *
 * #define ROWS(X)          \
 *     X(1, 0, 0, "choices") \
 *     X(2, 0, 0, "*")       \
 *     X(3, FINISH, 0, "finish_reason")
 *
 * TCALL_PATHS(paths, ROWS)
 */
#define TCALL_PATHS(name, LIST)                                             \
    static const tcall_path name##_rows[] = {LIST(TCALL_ROW_){0, 0, 0, 0}}; \
    static const char name##_keys[] = LIST(TCALL_ROW_KEY_);                 \
    static const tcall_paths name = {name##_rows, name##_keys};
#define TCALL_ROW_(depth, field, flags, key) \
    {depth, field, flags, sizeof key - 1},
#define TCALL_ROW_KEY_(depth, field, flags, key) key

enum {
    TCALL_PATH_ALIAS_NEXT = 1, /* its inside is that of the next row, of the
                                  same depth, and is not written twice */
    TCALL_PATH_RAW = 2,  /* an object or array is reported as its JSON text,
                            also when there are rows for its inside */
    TCALL_PATH_LAST = 4, /* no other row of this depth follows: saves time */
    TCALL_PATH_ROOT = 8  /* its inside is that of the root */
};

typedef enum tcall_scan_event {
    TCALL_SCAN_BEGIN, /* a value starts; bytes: its first character */
    TCALL_SCAN_DATA,  /* decoded bytes of a string, text of anything else */
    TCALL_SCAN_END    /* the value is complete */
} tcall_scan_event;

/* Receives one event of a wanted value. A result < 0 stops the scan with that
 * error. */
typedef int (*tcall_scan_fn)(void *user, int field, tcall_scan_event event,
                             tcall_str bytes);

/* Levels of a path filter, and the longest key that one may name. */
#define TCALL_SCAN_LEVELS_ 9
#define TCALL_SCAN_KEY_    20

typedef enum tcall_type {
    TCALL_MISSING,
    TCALL_NULL,
    TCALL_BOOL,
    TCALL_NUMBER,
    TCALL_STRING,
    TCALL_ARRAY,
    TCALL_OBJECT
} tcall_type;

/* A value or key in an array of them; see >>json. Their order and extent are
 * those of jsmn's tokens. */
typedef struct tcall_tok {
    int type;  /* tcall_type and private flags */
    int start; /* in the text; of a string: its content */
    int end;   /* one past it */
    int span;  /* tokens of the whole value, itself included; of a key 1 */
    int mark;  /* private */
} tcall_tok;

/* A UTF-8 character that has begun. */
typedef struct tcall_utf_ {
    uint8_t left, low, high; /* bytes to come; bounds of the next one */
} tcall_utf_;

typedef struct tcall_scan {
    int error;  /* the error it stopped with, or TCALL_OK */
    size_t pos; /* bytes consumed; after an error the offset of the error */

    /* private */
    uint8_t state, number, hex_left;
    uint8_t string_mode; /* TCALL_STRING_... */
    uint8_t row;         /* of the value at hand, or TCALL_SCAN_NONE_ */
    uint8_t at;          /* row of the container that is open */
    bool object;         /* it is an object */
    uint8_t key_len;
    const tcall_path *rows;
    const char *keys;
    tcall_scan_fn on;
    void *user;
    size_t tokens;  /* values and keys seen so far */
    tcall_tok *tok; /* where they go, as many as fit */
    size_t tok_cap;
    const char *text; /* that they refer to */
    int super;        /* token of the open container */
    int last;         /* token of the value that was completed last */
    const char *lit;  /* what is left of true, false, null */
    uint16_t depth;
    uint16_t raw_depth; /* depth + 1 of the value that is reported raw */
    uint16_t hex;       /* \u escape so far */
    uint16_t high;      /* high surrogate that waits for its low one */
    tcall_utf_ utf;
    uint8_t open[(TOOLCALL_MAX_DEPTH + 7) / 8]; /* 1: object, 0: array */
    uint8_t node[TCALL_SCAN_LEVELS_];           /* row of each open level */
    uint16_t below[TCALL_SCAN_LEVELS_]; /* where the keys inside it begin */
    uint16_t behind;                    /* after the key that matched last */
    uint8_t index[TCALL_SCAN_LEVELS_];  /* element, 255 and more: 255 */
    char key[TCALL_SCAN_KEY_];
} tcall_scan;

/* Prepares a scan. paths and on may be NULL: then it only recognises JSON. */
TCALL_API void tcall_scan_init(tcall_scan *s, const tcall_paths *paths,
                               tcall_scan_fn on, void *user);
/* Takes the next piece of the text. Returns TCALL_OK, or the error, which
 * stays. Bytes after the one value that are not white space are
 * TCALL_E_TRAILING. */
TCALL_API int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len);
/* Ends the text. Returns TCALL_OK only when exactly one whole value was seen.
 */
TCALL_API int tcall_scan_end(tcall_scan *s);

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
TCALL_API int tcall_json_parse(tcall_json *out, char *text, size_t len,
                               tcall_tok *tok, size_t cap, size_t *need);

TCALL_API tcall_type tcall_json_type(tcall_json v);
/* Member of an object, element of an array, else a missing value. */
TCALL_API tcall_json tcall_json_get(tcall_json object, const char *key);
TCALL_API tcall_json tcall_json_at(tcall_json array, int index);
/* Number of members or elements, else 0. */
TCALL_API int tcall_json_count(tcall_json v);
/* for (v = tcall_json_first(all); v.tok; v = tcall_json_next(v)) visits the
 * elements of an array or the values of an object; key names the latter. */
TCALL_API tcall_json tcall_json_first(tcall_json v);
TCALL_API tcall_json tcall_json_next(tcall_json v);
TCALL_API tcall_str tcall_json_key(tcall_json v);
/* Decoded string, terminated by NUL; fallback for every other type. */
TCALL_API const char *tcall_json_string(tcall_json v, const char *fallback);
/* The same as a slice; of a number, true, false or null its text. */
TCALL_API tcall_str tcall_json_str(tcall_json v);
TCALL_API bool tcall_json_bool(tcall_json v, bool fallback);
/* Integer values (also 5.0 and 5e2); fallback for fractions and beyond range.
 */
TCALL_API int tcall_json_int(tcall_json v, int fallback);
TCALL_API int64_t tcall_json_int64(tcall_json v, int64_t fallback);
/* Fixed point without floating point: 21.5 with decimals 2 is 2150; surplus
 * digits are cut off. */
TCALL_API long tcall_json_fixed(tcall_json v, int decimals, long fallback);
/* Needs floating point, which nothing else here does. */
TCALL_API double tcall_json_double(tcall_json v, double fallback);

/* ==========================================================================
 * >>lenient: arguments as a model meant them
 *
 * Strict first. What fails is read once more from left to right, and what has
 * only one meaning is rewritten as JSON. Tolerance is lexical, never
 * structural: nothing is closed, added or left out, and a text that ends too
 * early is TCALL_E_TRUNCATED. TOOLCALL_NO_LENIENT leaves the second reading
 * out: then only strict JSON is accepted.
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

typedef struct tcall_arguments {
    tcall_json root; /* the object; lives as long as the memory */
    uint32_t fixes;  /* TCALL_FIX_... that were needed; 0: strictly valid */
    size_t at;       /* offset in the text of the error, else of the first fix;
                      * for DUPLICATE, RANGE and an escaped NUL the offset in
                      * the rewritten text */
    size_t used;     /* bytes of mem in use; with TCALL_E_MEMORY: needed */
} tcall_arguments;

/* Parses the arguments of a call, one JSON object, into mem: tokens and a
 * decoded copy of the text. text is not changed and not referred to. With
 * strict set nothing is rewritten; the error is still that of the lenient
 * reading where it has one, since it knows better what is wrong. Returns the
 * number of tokens, or an error, and then mem holds nothing of use. NUL is
 * refused, escaped or not, because for C it would end a string before its
 * checked end. mem NULL with size 0 gives TCALL_E_MEMORY and what is needed. */
TCALL_API int tcall_parse_arguments(tcall_arguments *out, tcall_str text,
                                    bool strict, void *mem, size_t size);

/* ==========================================================================
 * >>bind: arguments as a C struct
 */

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

#ifndef TOOLCALL_NO_BIND

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

TCALL_API int tcall_field_string_(void *out, tcall_json v,
                                  const tcall_field *f);
TCALL_API int tcall_field_integer_(void *out, tcall_json v,
                                   const tcall_field *f);
TCALL_API int tcall_field_int64_(void *out, tcall_json v, const tcall_field *f);
TCALL_API int tcall_field_fixed_(void *out, tcall_json v, const tcall_field *f);
TCALL_API int tcall_field_number_(void *out, tcall_json v,
                                  const tcall_field *f);
TCALL_API int tcall_field_boolean_(void *out, tcall_json v,
                                   const tcall_field *f);
TCALL_API int tcall_field_choice_(void *out, tcall_json v,
                                  const tcall_field *f);
TCALL_API int tcall_field_json_(void *out, tcall_json v, const tcall_field *f);

/* Objects within objects that a table may describe. */
#define TCALL_BIND_DEPTH 4

/* Fills every member that fields names; strings point into the arguments and
 * live as long. Members that are not in the table are ignored. An error is
 * TCALL_E_RANGE (does not fit the C type, or too many items), TCALL_E_NUL (a
 * string holds U+0000), TCALL_E_INVALID (absent or of another type: the schema
 * was not checked) or TCALL_E_DEPTH; path (cap bytes, may be NULL) then is
 * the JSON Pointer of the value, cut where it does not fit. */
TCALL_API int tcall_bind(void *out, tcall_json args, const tcall_field *fields,
                         char *path, size_t cap);
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
#define TCALL_A_READ_string         tcall_field_string_, NULL, TCALL_STRING, 0
#define TCALL_A_READ_integer        tcall_field_integer_, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_int64          tcall_field_int64_, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_fixed(d)       tcall_field_fixed_, NULL, TCALL_NUMBER, d
#define TCALL_A_READ_number         tcall_field_number_, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_boolean        tcall_field_boolean_, NULL, TCALL_BOOL, 0
#define TCALL_A_READ_choice(...)                                               \
    tcall_field_choice_, #__VA_ARGS__, TCALL_STRING, 0
#define TCALL_A_READ_json           tcall_field_json_, NULL, TCALL_MISSING, 0
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

/* clang-format on */

#endif /* TOOLCALL_NO_BIND */

/* ==========================================================================
 * >>write: JSON writer
 *
 * Write on, check once: the first error stays, and the length goes on being
 * counted. The same calls write to a buffer, to a counter, or through a small
 * buffer to a sink. Commas are written by themselves.
 */

/* Takes bytes. Returns how many (> 0), TCALL_E_AGAIN when it can take none now,
 * or an error. */
typedef int (*tcall_sink)(void *user, const char *bytes, size_t len);

typedef struct tcall_writer {
    char *buf;
    size_t cap;
    size_t fill; /* bytes in buf */
    size_t len;  /* bytes written in all, those that did not fit included */
    int error;   /* the first one, or TCALL_OK */

    /* private */
    size_t skip; /* bytes at the start that are counted but not stored */
    tcall_sink sink;
    void *user;
    uint16_t depth; /* open brackets: outside of them there are no commas */
    uint8_t quoted; /* inside tcall_write_quote: bytes are escaped */
    char last;      /* byte written, which says whether a comma is due */
} tcall_writer;

/* Prepares a writer to a buffer. What does not fit is TCALL_E_MEMORY, and len
 * says how much is needed. buf NULL with cap 0 only counts. */
TCALL_API void tcall_writer_init(tcall_writer *w, char *buf, size_t cap);
/* Sends the output to a sink instead; buf then only collects small pieces. */
TCALL_API void tcall_writer_sink(tcall_writer *w, tcall_sink sink, void *user);
/* Sends what is collected. Returns the first error of all, or TCALL_OK. */
TCALL_API int tcall_writer_flush(tcall_writer *w);

/* Writes bytes as they are: no quotes, no commas. Each function from here on
 * returns the first error so far, or TCALL_OK. */
TCALL_API int tcall_write_text(tcall_writer *w, const char *text);
TCALL_API int tcall_write_bytes(tcall_writer *w, const char *bytes, size_t len);

/* Opens '{' or '[', closes '}' or ']'. */
TCALL_API int tcall_write_open(tcall_writer *w, char bracket);
TCALL_API int tcall_write_close(tcall_writer *w, char bracket);
TCALL_API int tcall_write_key(tcall_writer *w, const char *key);
/* Writes a string. Bytes that are not UTF-8 become U+FFFD. */
TCALL_API int tcall_write_string(tcall_writer *w, const char *text);
TCALL_API int tcall_write_str(tcall_writer *w, tcall_str text);
TCALL_API int tcall_write_int(tcall_writer *w, int64_t value);
TCALL_API int tcall_write_uint(tcall_writer *w, uint64_t value);
/* Writes value / 10^decimals without floating point: (2150, 2) is 21.50. */
TCALL_API int tcall_write_fixed(tcall_writer *w, int64_t value, int decimals);
/* Writes the fewest digits that read back as the same number. JSON has no
 * infinities and no NaN: these are TCALL_E_RANGE. */
TCALL_API int tcall_write_double(tcall_writer *w, double value);
TCALL_API int tcall_write_bool(tcall_writer *w, bool value);
TCALL_API int tcall_write_null(tcall_writer *w);
/* Writes a parsed value as compact JSON text, in its own order. */
TCALL_API int tcall_write_json(tcall_writer *w, tcall_json value);
/* Writes JSON text as it is, as a value. */
TCALL_API int tcall_write_verbatim(tcall_writer *w, tcall_str json);
/* Begins and ends one JSON string whose content is all that is written in
 * between. */
TCALL_API int tcall_write_quote(tcall_writer *w);
TCALL_API int tcall_write_unquote(tcall_writer *w);

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
 *   check  check.memory = scratch; check.errors = room for a few;
 *          check.coerce = true;
 *          r = tcall_schema_check(&s, value, &check);
 *          TCALL_E_INVALID: tcall_write_validation_errors(&w, &s, value,
 * &check) r == 0 and check.coerced: log tcall_write_coercions(&w, value), get
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

/* Schemas that are at work inside each other; 48 bytes of scratch each. */
#ifndef TOOLCALL_MAX_FRAMES
#define TOOLCALL_MAX_FRAMES 512
#endif

/* Size of a pattern: its characters, counted repetitions written out. */
#ifndef TOOLCALL_MAX_PATTERN
#define TOOLCALL_MAX_PATTERN 1024
#endif

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
    const char *remedy; /* what its author can do, or NULL */
    size_t at;          /* where in the text that stands */
} tcall_schema;

/* Compile. text must be one JSON value (an object, true or false) and outlive
 * the schema. Bytes of mem used (a multiple of 8; mem is aligned up to 4 at
 * its cost), TCALL_E_MEMORY (out->need bytes do; mem may be NULL, size 0, to
 * ask), or TCALL_E_SCHEMA: out->reason says what the author has to change. */
TCALL_API int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                                   size_t size, tcall_draft draft);
/* Writes why a schema was refused as one line of text: the place as a JSON
 * Pointer, what is wrong there, and what its author can do:
 *   /properties/x/type: unknown type "dict"; use object, array, string, ... */
TCALL_API int tcall_write_schema_error(tcall_writer *w,
                                       const tcall_schema *schema);

/* One thing that is wrong with a value. */
typedef struct tcall_validation_error {
    uint32_t node; /* of the program */
    uint32_t at;   /* where in the schema the violated text stands */
    uint32_t tok;  /* the token concerned, counted from the value */
} tcall_validation_error;

typedef struct tcall_check {
    void *memory; /* scratch: a few frames; 1 KB is plenty for most */
    size_t size;
    tcall_validation_error *errors; /* may be NULL */
    size_t error_cap;
    bool coerce;        /* accept "5" for 5 and the like, see below */
    size_t error_count; /* out: how many there were, stored or not */
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
TCALL_API int tcall_schema_check(const tcall_schema *s, tcall_json value,
                                 tcall_check *check);

/* {"path":"/unit","keyword":"enum","message":"not satisfied",
 *  "expected":["celsius","fahrenheit"],"found":"kelvin"}, for the model to
 * read: long values are cut, a missing or surplus property is named. */
TCALL_API int tcall_write_validation_error(tcall_writer *w,
                                           const tcall_schema *s,
                                           tcall_json value,
                                           const tcall_validation_error *error);
/* All that were stored, as an array. */
TCALL_API int tcall_write_validation_errors(tcall_writer *w,
                                            const tcall_schema *s,
                                            tcall_json value,
                                            const tcall_check *check);
/* [{"path":"/n","from":"5","to":5}]; dropped members have no "to". */
TCALL_API int tcall_write_coercions(tcall_writer *w, tcall_json value);

/* ==========================================================================
 * >>chat: the conversation
 *
 * A turn is what the user said and all that follows, up to the next time the
 * user speaks. History is shortened by whole turns from the oldest on, so a
 * call and its result are never parted.
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
    tcall_str id; /* of a call and of its result; parts begin here */
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
TCALL_API void tcall_chat_init(tcall_chat *chat, tcall_block *block);
/* TCALL_OK or TCALL_E_MEMORY; then nothing was added. */
TCALL_API int tcall_chat_add(tcall_chat *chat, const tcall_item *item);
/* for (at = 0; tcall_chat_next(chat, &at, &item);) visits all of them. The
 * slices stay valid until the conversation changes. */
TCALL_API bool tcall_chat_next(const tcall_chat *chat, size_t *at,
                               tcall_item *item);

/* Drops the oldest turn; false when there is but one. */
TCALL_API bool tcall_chat_drop(tcall_chat *chat);
/* Drops oldest turns until so many bytes of the block are free. */
TCALL_API bool tcall_chat_make_room(tcall_chat *chat, size_t bytes);

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
    TCALL_SAFETY_SAFE,
    TCALL_SAFETY_UNSAFE
} tcall_safety;

/* The stages of a call, in this order. What the library does itself at a
 * stage comes after its hooks: permissions after WILL_AUTHORIZE, approval
 * after WILL_CHECK_CONSENT, a call that hydration refused fails after
 * WILL_VALIDATE_INPUT, and so does output after WILL_VALIDATE_OUTPUT.
 * X(NAME, name, when): */
#define TCALL_STAGES(X)                                           \
    X(WILL_BIND_SERVICES, "will_bind_services", GOING)            \
    X(WILL_CREATE_CONTEXT, "will_create_context", GOING)          \
    X(DID_CREATE_CONTEXT, "did_create_context", DID_GOING)        \
    X(WILL_AUTHORIZE, "will_authorize", GOING)                    \
    X(WILL_CHECK_CONSENT, "will_check_consent", GOING)            \
    X(WILL_CHECK_FLAGS, "will_check_feature_flags", GOING)        \
    X(WILL_ACQUIRE_QUOTA, "will_acquire_quota", GOING)            \
    X(WILL_ACQUIRE_SEMAPHORE, "will_acquire_semaphore", GOING)    \
    X(WILL_PARSE_INPUT, "will_parse_input", GOING)                \
    X(WILL_VALIDATE_INPUT, "will_validate_input", GOING)          \
    X(WILL_NORMALIZE_INPUT, "will_normalize_input", GOING)        \
    X(WILL_REDACT_INPUT, "will_redact_input", GOING)              \
    X(WILL_INJECT_SECRETS, "will_inject_secrets", GOING)          \
    X(WILL_READ_CACHE, "will_read_cache", GOING)                  \
    X(DID_CACHE_HIT, "did_cache_hit", DID_HIT)                    \
    X(DID_CACHE_MISS, "did_cache_miss", DID_GOING)                \
    X(AROUND_EXECUTE, "around_execute", GOING)                    \
    X(WILL_EXECUTE, "will_execute", INNER)                        \
    X(DID_EXECUTE, "did_execute", DID_INNER)                      \
    X(ON_RETRY, "on_retry", INNER)                                \
    X(ON_GIVE_UP, "on_give_up", INNER)                            \
    X(WILL_WRITE_CACHE, "will_write_cache", WELL)                 \
    X(WILL_REDACT_OUTPUT, "will_redact_output", WELL)             \
    X(WILL_VALIDATE_OUTPUT, "will_validate_output", WELL)         \
    X(WILL_TRANSFORM_OUTPUT, "will_transform_output", WELL)       \
    X(WILL_AUDIT, "will_audit", ALWAYS)                           \
    X(DID_AUDIT, "did_audit", DID_ALWAYS)                         \
    X(ON_METRICS, "on_metrics", ALWAYS)                           \
    X(DID_RELEASE_SEMAPHORE, "did_release_semaphore", DID_ALWAYS) \
    X(DID_RELEASE_QUOTA, "did_release_quota", DID_ALWAYS)         \
    X(ON_ERROR, "on_error", FAILED)                               \
    X(WILL_FINALIZE, "will_finalize", ALWAYS)

typedef enum tcall_stage {
#define TCALL_X_(NAME, name, when) TCALL_##NAME,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
        TCALL_STAGE_COUNT
} tcall_stage;

/* "will_authorize"; NULL from TCALL_STAGE_COUNT on. */
TCALL_API const char *tcall_stage_name(int stage);

/* A function that is called at a stage: a row of a const table. Higher
 * priority comes earlier, at did_... stages later; equal ones in the order of
 * the tables, those of the registry before those of the tool.
 *
 * run returns TCALL_OK, or `return tcall_respond(cx, text)`, tcall_abort or
 * tcall_retry_after, or an error, which fails the call. Up to the run of the
 * tool it may answer TCALL_E_AGAIN and is called again at the next
 * tcall_invoke. At TCALL_AROUND_EXECUTE it calls tcall_next(cx), once for
 * each attempt, and returns what that returned.
 *
 * Stages from TCALL_WILL_AUDIT on see every call, also one whose tool is
 * unknown (cx->call->tool is NULL) or that failed, and all of their hooks run
 * even where one fails. A hook of a release stage runs when the acquiring hook
 * with the same user did, or when there is none with it; where more share a
 * user, as many release as did acquire. */
typedef struct tcall_hook {
    const char *name; /* for errors, history and logs */
    uint8_t stage;    /* tcall_stage */
    int16_t priority;
    int (*run)(tcall_ctx *cx, void *user);
    bool (*filter)(const tcall_ctx *cx, void *user); /* NULL: every call */
    void *user;
} tcall_hook;

/* Something that hooks and tools ask for by name: tcall_require_service. */
typedef struct tcall_service {
    const char *name;
    void *object;
    struct tcall_service *next; /* private */
} tcall_service;

/* On whose behalf a call is made. */
typedef struct tcall_session {
    tcall_str id, request, agent, user;
    tcall_service *services; /* private: bound with TCALL_SCOPE_SESSION */
} tcall_session;

/* The work. args has been checked against the schema. Write the answer for
 * the model to out: text (tcall_write_text) or JSON; what does not fit is cut,
 * and the model is told. Return TCALL_OK, or an error: then out holds the
 * reason in words. TCALL_E_AGAIN: not finished, call again. */
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
    const tcall_field *fields; /* arguments as a C struct: cx->bound */
    size_t args_size;          /* sizeof that struct */
    void *user;                /* for run: cx->user */
    const tcall_hook *hooks;   /* of this tool only */
    uint16_t hook_count;
    uint8_t permissions;          /* needed, TCALL_READ | ... */
    uint8_t optional_permissions; /* used if allowed */
    uint8_t safe;                 /* tcall_safety */
    uint8_t no_schema_mode;       /* tcall_no_schema */
    bool allow_no_schema; /* parameters may be NULL: nothing is checked */
    bool strict;          /* ask the provider to hold the model to the schema */
    bool confirm;         /* ask for approval before each run */
    bool streaming;       /* gives output as it goes */
    bool idempotent;      /* a second run of a call changes nothing more; only
                           * such tools, and those that only read, are retried */
    bool allow_repeat;    /* the same call may be made again in one turn, as of
                           * a clock: see TCALL_LOOPS */
    bool pinned;          /* always among the picks */
    uint16_t roles;       /* bits: who may see it; default: everyone */
    uint16_t groups;      /* bits: what it belongs to; default: everything */
    uint16_t cost;        /* in units of your own */
    const char *provided_by; /* whose it is, where it came from elsewhere */
} tcall_tool;

/* Number of rows of a table. */
#define TCALL_ARRAY_LEN(table) (sizeof(table) / sizeof((table)[0]))
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
    TCALL_VERDICT_DENY,
    TCALL_VERDICT_ALLOW,
    TCALL_VERDICT_LATER /* the call waits: TCALL_E_APPROVAL */
} tcall_verdict;

typedef enum tcall_event_kind {
    TCALL_EVENT_HYDRATED, /* checked: call->error says how it went */
    TCALL_EVENT_REPAIR,   /* the one repair was tried */
    TCALL_EVENT_APPROVAL, /* is asked for */
    TCALL_EVENT_START,    /* tcall_invoke begins; one END follows each */
    TCALL_EVENT_OUTPUT,   /* text: a piece of output */
    TCALL_EVENT_END,      /* the call has its result: text, error */
    TCALL_EVENT_TEXT,     /* text: a piece of the model's answer */
    TCALL_EVENT_REQUEST,  /* bytes: length of its body; tools: sent */
    TCALL_EVENT_ANSWER,   /* status, bytes, error; text: the provider's */
    TCALL_EVENT_VERDICT,  /* approval was given or denied: verdict */
    TCALL_EVENT_PROGRESS, /* text: what is being done */
    TCALL_EVENT_ERROR,    /* the call failed: error; END follows */
    TCALL_EVENT_RETRY,    /* one more attempt, of the call or, without one, of
                           * the request, in ms: error of the last one */
    TCALL_EVENT_PICK,     /* tools: chosen; bytes: tcall_pick_saved */
    TCALL_EVENT_PIECE     /* item: a piece of a call as it comes, unchecked */
} tcall_event_kind;

typedef struct tcall_event {
    tcall_event_kind kind;
    const tcall_call *call; /* NULL where it concerns none */
    const struct tcall_item *item;
    tcall_str text;
    int error;
    int verdict;
    int status; /* HTTP */
    size_t bytes;
    size_t tools;
    uint32_t ms; /* time taken, where there is a clock */
} tcall_event;

/* One who wants to hear of events. Caller's memory, until tcall_unsubscribe. */
typedef struct tcall_listener {
    void (*on_event)(void *user, const tcall_event *event);
    void *user;
    uint32_t kinds; /* 1 << TCALL_EVENT_... of each kind wanted; 0: all */
    struct tcall_listener *next; /* private */
} tcall_listener;

/* Everything a registry needs, in one place. Zero is the default. */
typedef struct tcall_desc {
    void *block; /* memory for everything; must outlive the tcall */
    size_t block_size;
    const tcall_tool *tools;
    size_t tool_count;
    uint8_t allow;     /* permissions given: TCALL_READ | ...; default none */
    bool lazy_schemas; /* compile a schema only while a call is checked */
    bool strict_json;  /* refuse arguments that are not strict JSON */
    bool strict_types; /* refuse "5" for an integer and the like */
    const tcall_validator *validator; /* default: the built-in one */
    /* Asked for tools that need it. NULL: such calls are denied. */
    tcall_verdict (*approve)(void *user, const tcall_call *call);
    /* One try to mend arguments that were refused: write JSON text to out,
     * return TCALL_OK. Its outcome is untrusted. NULL: no repair. */
    int (*repair)(void *user, const tcall_call *call, tcall_writer *out);
    void (*on_event)(void *user, const tcall_event *event);
    uint32_t (*now_ms)(void *user); /* monotonic, wraps; NULL: no times */
    const tcall_hook *hooks;        /* of every call */
    uint16_t hook_count;
    const tcall_service *services; /* global: an array, never written to */
    size_t service_count;
    tcall_session *session; /* of calls that have none of their own */
    uint64_t hash_key[2]; /* of tcall_hash_...: random and secret, where others
                           * may want to forge what an approval is bound to */
    tcall_writer *report; /* tcall_init: one line for each fault of a table */
    void *user;           /* for all of the above */
} tcall_desc;

typedef struct tcall {
    tcall_desc desc;
    tcall_block block;
    tcall_schema *schemas; /* compiled, one for each tool; NULL when lazy */
    uint16_t repairs;      /* how many were tried */
    tcall_listener *listeners;
    tcall_tool *rows; /* private: of tcall_extend */
    size_t row_count;
} tcall;

/* Check every tool and set the block up. TCALL_OK; TCALL_E_TOOL when a
 * definition is wrong (all faults of all tools are in desc->report, each as
 * "name: what is wrong and what to do"); TCALL_E_MEMORY (tc->block.need). On
 * any error no tool can be called. */
TCALL_API int tcall_init(tcall *tc, const tcall_desc *desc);
/* Most bytes of the block that were ever in use. */
TCALL_API size_t tcall_peak(const tcall *tc);
TCALL_API const tcall_tool *tcall_find(const tcall *tc, tcall_str name);
/* True when somebody with these permissions may see and call the tool. */
TCALL_API bool tcall_enabled(const tcall_tool *tool, unsigned allow);
/* Tools that come and go at run time. tcall_extend, right after tcall_init,
 * gives room for row_count tools, those of desc.tools included, which are
 * copied there; rows are the registry's from then on. TCALL_E_MEMORY: fewer
 * than there are, or the block is too small; TCALL_E_USAGE: it was done before.
 *
 * tcall_add copies the row (its texts have to stay) and checks it like those
 * of tcall_init; its schema is compiled when a call comes. So a function can
 * make a definition, and the tools of one registry can be added to another:
 *
 *     for (i = 0; (t = tcall_next_tool(&other, &i, TCALL_EVERYTHING)) != NULL;)
 * { row = *t; row.provided_by = "other"; tcall_add(&tc, &row);
 *     }
 *
 * Its index, or TCALL_E_TOOL (desc.report tells), TCALL_E_MEMORY: no row is
 * free, TCALL_E_USAGE: tcall_extend is missing. tcall_remove hides the tool at
 * once: TCALL_OK or TCALL_E_UNKNOWN. Calls of it that are under way end as they
 * would have; its row is used again only when no call is, and its texts have
 * to stay until then. Both may be called by tools. An index for picking has to
 * be built anew after either. */
TCALL_API int tcall_extend(tcall *tc, tcall_tool *rows, size_t row_count);
TCALL_API int tcall_add(tcall *tc, const tcall_tool *tool);
TCALL_API int tcall_remove(tcall *tc, tcall_str name);
/* for (i = 0; (t = tcall_next_tool(tc, &i, allow)) != NULL;) visits the tools
 * that somebody with these permissions may see. */
TCALL_API const tcall_tool *tcall_next_tool(const tcall *tc, size_t *i,
                                            unsigned allow);
/* Events go to desc.on_event first, then to the latest listener and so on. A
 * listener may end its own subscription while it is called. */
TCALL_API void tcall_subscribe(tcall *tc, tcall_listener *listener);
TCALL_API void tcall_unsubscribe(tcall *tc, tcall_listener *listener);

/* ==========================================================================
 * >>synonyms: words that mean much the same
 *
 * English words of devices, offices and the web, for tcall_pick_opts.synonyms,
 * of which they are the default. TOOLCALL_NO_SYNONYMS leaves them out.
 */

#if !defined TOOLCALL_NO_SYNONYMS && !defined TOOLCALL_NO_PICK

/* Texts, the last followed by NULL, of lines: the words of a line mean much the
 * same. They are in small letters and separated by spaces. */
#ifndef TOOLCALL_STATIC
extern const char *const tcall_synonyms[];
#endif

#endif

/* ==========================================================================
 * >>pick_index: the words of all tools, for picks among hundreds of them
 */

struct tcall_bucket_;
struct tcall_entry_;
struct tcall_indexed_;
struct tcall_posting_;

/* Made by tcall_pick_index, for tcall_pick_opts.index. */
typedef struct tcall_index {
    /* private */
    size_t tool_count;
    uint32_t bucket_count;
    const struct tcall_bucket_ *buckets;
    const struct tcall_indexed_ *tools;
    const struct tcall_entry_ *entries;
    const struct tcall_posting_ *postings;
} tcall_index;

#if !defined TOOLCALL_NO_PICK_INDEX && !defined TOOLCALL_NO_PICK

/* Builds an index of all tools in the block, where it stays. Picks are the same
 * with it, only faster. It is used while the block has 20 bytes for each tool
 * to spare; with less the texts of the tools are read.
 * It takes 4 bytes for each different word of a tool, 24 for each different
 * word of all tools, 12 for each tool, and 8 for each half KB of text: about
 * half as much as the texts of hundreds of tools. Call it before the agent is
 * set up, and again after tools were added or removed.
 * Returns TCALL_OK; TCALL_E_MEMORY, when block.need says what suffices, and the
 * block is as before; TCALL_E_USAGE for more than 65535 tools. */
TCALL_API int tcall_pick_index(tcall *tc, tcall_index *index);

#endif

/* ==========================================================================
 * >>pick: the right few tools for an input
 *
 * Ranks tools by the words they share with the input, rare words counting most
 * (BM25F). Nothing is learned or stored, nothing runs, and equal tools keep the
 * order of registration. Other scorers can take part.
 */

struct tcall_scorer;

/* Zero is the default of each field. */
typedef struct tcall_pick_opts {
    uint8_t max;        /* tools to pick besides the pinned ones; default 3 */
    uint16_t min_score; /* thousandths; default 50 */
    uint8_t relative;   /* percent of the best score that others need */
    uint8_t allow;      /* permissions given; default: the registry's */
    bool allow_unsafe;  /* also pick tools that do more than read */
    bool streaming;     /* pick only tools that stream */
    bool stable;        /* give picks in the order of registration, so that what
                           is sent to a model changes little; default: by score */
    uint16_t roles;     /* of the user: tool->roles must have one of them */
    uint16_t max_cost;  /* pick no tool that costs more; default: any */
    uint16_t groups;    /* enabled ones of tool->groups; default: all */
    uint32_t timeout_ms; /* needs desc.now_ms; default: none */
    /* Texts as those of tcall_synonyms, which are the default. */
    const char *const *synonyms;
    const tcall_index *index; /* NULL: the texts of the tools are read */
    const struct tcall_scorer *scorers; /* default: the built-in one */
    size_t scorer_count;
} tcall_pick_opts;

typedef struct tcall_picked {
    const tcall_tool *tool;
    uint16_t index; /* of the tool in the registry */
    uint16_t score; /* thousandths */
    bool pinned;    /* the tool is always picked; its score is 0 */
    bool timed_out; /* time ran out before it was ranked; its score is 0 */
    /* private */
    uint16_t weights;
    uint32_t rank;
} tcall_picked;

/* What tcall_pick was given, and what it gave. */
typedef struct tcall_pick_report {
    tcall_str input;
    const tcall_pick_opts *opts;
    const tcall_picked *picks;
    int count;
} tcall_pick_report;

#ifndef TOOLCALL_NO_PICK

/* Picks tools for an input, best first: at most opts->max of them and then the
 * pinned ones, at most max in all. opts may be NULL. Returns their number, 0
 * when no tool has a score; TCALL_E_MEMORY when the block has less than 2 KB
 * free, which are used only meanwhile (20 bytes more for each tool make it
 * faster); TCALL_E_USAGE when max is 0, or when opts->index is not one of these
 * tools.
 *
 * The input is text in UTF-8, or JSON, whose keys count half. Bytes that are
 * not UTF-8 separate words. At most 45 different words of it count.
 *
 * The best score is the largest share of the input that one tool covers: of the
 * weight of all its words (rare ones weigh most), the part that the name and
 * texts of the tool have, or have a synonym of; 1000 when they have all. The
 * other tools have their share of it, as they say less of the input or of one
 * of its sentences. So in a sentence, one more word of the tool that covers
 * most never lowers the best score, a word that no tool has never raises it,
 * and scores can be compared between inputs. */
TCALL_API int tcall_pick(tcall *tc, tcall_str input,
                         const tcall_pick_opts *opts, tcall_picked *picks,
                         int max);

/* Returns the bytes of the definitions that the registry permits and that need
 * not be sent; a token is about four of them. */
TCALL_API size_t tcall_pick_saved(const tcall *tc, const tcall_picked *picks,
                                  int count);

/* Writes how picks came about, as a JSON object for logs: the scorers; terms of
 * the input with the number of tools that have them and their weight; picks
 * with score and reason ("matched weather, city", "pinned", "timed out"); tools
 * that were excluded and why; bytes and tokens saved. Returns TCALL_OK, the
 * error of the writer, or an error as tcall_pick does. */
TCALL_API int tcall_write_picks(tcall_writer *w, tcall *tc,
                                const tcall_pick_report *report);

#endif

/* -- For authors of scorers -- */

/* One of several ways to score. Those that see all tools are combined by their
 * mean; then those with `top` rank the best again, in turn. All weights
 * together are at most 4095. */
typedef struct tcall_scorer {
    const char *name; /* for tcall_write_picks */
    /* Returns 0 to 1000, or < 0 when it cannot say: the others decide. NULL:
     * the built-in scorer. */
    int (*score)(void *user, tcall_str input, const tcall_tool *tool,
                 size_t index);
    void *user;
    uint8_t weight; /* in the mean of all scorers; default 1 */
    uint8_t top;    /* sees only so many of the best so far, from which the
                       picks are then taken; default 0: it sees all tools */
} tcall_scorer;

/* ==========================================================================
 * >>call: from what the model sent to a call that may run
 *
 * parse -> validate -> bind. Whatever goes wrong stays in the call: error,
 * step, what was expected where. Nothing here runs a tool.
 */

typedef enum tcall_step {
    TCALL_STEP_FIND,
    TCALL_STEP_PARSE,
    TCALL_STEP_VALIDATE,
    TCALL_STEP_BIND,
    TCALL_STEP_DONE /* it may be invoked */
} tcall_step;

/* Faults of one call that are kept; more are counted by nobody, the model
 * mends these first. */
#ifndef TOOLCALL_MAX_FAULTS
#define TOOLCALL_MAX_FAULTS 4
#endif

/* An earlier input or output of a call, and who replaced it. */
typedef struct tcall_change {
    const struct tcall_change *before;
    const char *by;   /* name of the hook or the tool */
    uint8_t stage;    /* tcall_stage it happened at */
    tcall_json input; /* the arguments; of output: missing */
    tcall_str output;
} tcall_change;

/* Something a tool made beside its output: the maker's, until tcall_release. */
typedef struct tcall_attachment {
    const char *type; /* MIME type */
    const char *name; /* may be NULL */
    tcall_str bytes;
    struct tcall_attachment *next; /* private */
} tcall_attachment;

/* What came of a call. The model reads output, the rest is for programs and
 * people. A tool with fields of its own writes them as a JSON object. */
typedef struct tcall_result {
    int error;                  /* TCALL_OK: success */
    tcall_str output;           /* valid as long as the buffer of out */
    tcall_str title;            /* short */
    tcall_str metadata;         /* JSON text */
    const char *suggestion;     /* what to do about the error; also in output */
    tcall_attachment *attached; /* latest first */
} tcall_result;

/* What tools and hooks know of the call they work for. It lies in the call. */
struct tcall_ctx {
    uint8_t stage;               /* tcall_stage at hand */
    uint8_t state, phase, depth; /* private, as are these */
    bool timed, asked, lacks, begun, mapped, asks, mine;
    uint16_t attempt; /* 1 for the first run of the tool */
    tcall *tc;
    tcall_call *call;
    const void *bound;           /* the struct that tool->fields describe */
    void *user;                  /* of the tool */
    tcall_session *session;      /* may be NULL */
    const tcall_hook *hook;      /* at work; NULL: the tool */
    int error;                   /* TCALL_OK, or why the call failed */
    tcall_str reason;            /* in words, may be empty */
    const char *by;              /* name of the hook that failed, may be NULL */
    const char *code;            /* of tcall_abort, may be NULL */
    int status;                  /* HTTP status of tcall_abort, else 0 */
    uint32_t retry_ms;           /* of tcall_retry_after, else 0 */
    uint32_t started;            /* by desc.now_ms */
    uint32_t finished;           /* likewise; 0 until then */
    const tcall_change *history; /* latest first */
    tcall_result result;         /* complete when the call has ended */
    int stop;                    /* < 0: what tcall_cancel was called with */
    /* private */
    tcall_writer *out;
    const tcall_writer *clean; /* out as it was */
    tcall_service *services;
    uint32_t deadline;
    uint32_t hooked;            /* stages that have hooks */
    uint32_t held;              /* acquiring hooks that are to be released */
    uint32_t at, inner, around; /* place of the next hook */
    int ran;                    /* how the last attempt went */
};

struct tcall_call {
    /* What the model asked, as it came. The caller sets these. */
    tcall_str id;
    tcall_str name;
    tcall_str arguments;
    const char *provider; /* name of the wire format, may be NULL */
    int cut;              /* < 0: why the call is not whole; it will not run */
    tcall_session *session; /* NULL: that of the registry */
    /* What became of it. */
    bool validated; /* the schema holds */
    bool repaired;  /* by the repair callback: untrusted */
    bool approved;
    uint8_t step;   /* tcall_step reached, or failed in */
    uint8_t faults; /* number of */
    uint16_t coercions;
    int error;       /* TCALL_OK or what went wrong */
    uint32_t fixes;  /* of the text, TCALL_FIX_... bits */
    size_t error_at; /* parse errors: offset in arguments */
    uint32_t hydrate_ms, run_ms;
    const tcall_tool *tool;
    tcall_json args; /* checked arguments; valid until tcall_release */
    tcall_schema schema;
    tcall_validation_error fault[TOOLCALL_MAX_FAULTS];
    tcall_str why;      /* words of a foreign validator or of binding */
    tcall_str coerced;  /* JSON text of the coercions, an array */
    tcall_str original; /* arguments before they were repaired */
    size_t mark;        /* private: what tcall_release frees */
    tcall_ctx cx;
};

/* Takes a call (the first members set, the rest zero) through parse, validate
 * and bind. Returns call->error. Memory comes from the block's end and is held
 * until tcall_release; release in the opposite order. */
TCALL_API int tcall_hydrate(tcall *tc, tcall_call *call);
TCALL_API void tcall_release(tcall *tc, tcall_call *call);

/* One JSON line about where the arguments came from and what was done to
 * them, for logs: provider, ids, raw arguments, fixes, coercions, validator
 * and its mode, times, validated, repaired, no_schema_mode, errors. */
TCALL_API int tcall_write_provenance(tcall_writer *w, const tcall *tc,
                                     const tcall_call *call);
/* What is wrong, as the members of a JSON object that is open. */
TCALL_API int tcall_write_call_errors(tcall_writer *w, const tcall_call *call);

/* ==========================================================================
 * >>context: what tools and hooks may do to their call
 *
 * A tool and a hook get the context of the call they work for: its fields say
 * what is known, and these functions change what becomes of the call. What
 * they keep is in the block until tcall_release.
 */

/* Reports a piece of output while the work goes on: TCALL_EVENT_OUTPUT. */
TCALL_API void tcall_emit(tcall_ctx *cx, tcall_str text);
/* Reports what is being done: TCALL_EVENT_PROGRESS. */
TCALL_API void tcall_progress(tcall_ctx *cx, tcall_str text);
/* Copies a short title for people (reported as progress, too) and metadata,
 * JSON text for programs, to cx->result. An empty one leaves what was set
 * before. Returns TCALL_OK or TCALL_E_MEMORY. Tools set cx->result.suggestion
 * and cx->result.attached themselves. */
TCALL_API int tcall_set_result(tcall_ctx *cx, tcall_str title,
                               tcall_str metadata);

/* Returns the object of a service, looked up by name in the call, then in its
 * session, then in the registry; NULL when there is none. */
TCALL_API void *tcall_find_service(const tcall_ctx *cx, const char *name);
/* The same, but the call fails with TCALL_E_SERVICE when there is none. */
TCALL_API void *tcall_require_service(tcall_ctx *cx, const char *name);
typedef enum tcall_scope { TCALL_SCOPE_CALL, TCALL_SCOPE_SESSION } tcall_scope;
/* Adds a service, which stays the caller's and must live as long as its scope.
 * Returns TCALL_E_USAGE for the session of a call that has none. */
TCALL_API int tcall_bind_service(tcall_ctx *cx, tcall_service *service,
                                 tcall_scope scope);
/* Removes a service from a session. */
TCALL_API void tcall_unbind_service(tcall_session *session,
                                    const tcall_service *service);
/* Returns memory of the call, shared by all who give the same name: zeroed at
 * first, in the block, until tcall_release. NULL where the block is full. */
TCALL_API void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size);

/* Makes the call end within ms milliseconds from now, unless it has to end
 * earlier. Needs desc.now_ms. */
TCALL_API void tcall_deadline(tcall_ctx *cx, uint32_t ms);
/* Returns the milliseconds that are left, INT32_MAX without a deadline. */
TCALL_API int32_t tcall_time_left(const tcall_ctx *cx);

/* Fails the call: `return tcall_abort(...)`. reason, in words, and code, a name
 * for it (NULL: "aborted"), must outlive the call; status is one of HTTP, such
 * as 403, or 0. */
TCALL_API int tcall_abort(tcall_ctx *cx, const char *reason, const char *code,
                          int status);
/* Fails the call, which may be made again in ms milliseconds. */
TCALL_API int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason);

/* -- For authors of hooks -- */

/* Answers the call with text: `return tcall_respond(cx, text)`. The stages up
 * to the run of the tool are skipped, those after it are not. After a failure
 * this turns it into a success. */
TCALL_API int tcall_respond(tcall_ctx *cx, tcall_str text);
/* Replaces the arguments by other JSON text before the tool runs: it is checked
 * like the first one, and approval is asked for again. Returns TCALL_OK or the
 * error of the check. */
TCALL_API int tcall_set_input(tcall_ctx *cx, tcall_str text);
/* Replaces the output. What does not fit is cut. */
TCALL_API int tcall_set_output(tcall_ctx *cx, tcall_str text);
/* Returns the output written so far; valid until it changes. */
TCALL_API tcall_str tcall_output(const tcall_ctx *cx);

/* ==========================================================================
 * >>result: what the model reads of a call
 *
 * A success is what the tool wrote. A failure is {"success":false,"error":...}:
 * what was wrong, where, and what to send instead.
 */

/* Writes the result as an envelope for programs: {"success":true,"error":"",
 * "title":...,"metadata":...,"output":...} of a success; of a failure its
 * output, followed by title and the like. */
TCALL_API int tcall_write_result(tcall_writer *w, const tcall_result *result);

/* ==========================================================================
 * >>stages: hooks around the run of a tool
 */

/* Hooks around the run of one tool that may be inside each other. */
#ifndef TOOLCALL_MAX_AROUND
#define TOOLCALL_MAX_AROUND 8
#endif

/* -- For authors of hooks -- */

/* Makes one attempt, from a hook at TCALL_AROUND_EXECUTE: runs the hooks that
 * are further inside, and the tool. Returns what came of it; the hook returns
 * that, or calls again. After TCALL_E_AGAIN the outermost hook is called anew,
 * from its start. Only tools that only read or are idempotent get a second
 * attempt; for the others this returns the result of the first. */
TCALL_API int tcall_next(tcall_ctx *cx);

/* ==========================================================================
 * >>invoke: from a checked call to a result
 *
 * One walk through TCALL_STAGES, with the hooks of the registry and of the
 * tool at each. It takes a call that tcall_hydrate has seen, good or bad, and
 * always yields a result that the model can read.
 */

/* Takes a call through all stages and writes what the model reads to out, a
 * writer to a buffer outside of the block: the tool's output, or
 * {"success":false,"error":...}. Returns TCALL_OK, or why the tool did not run
 * or failed; out is complete in both cases. Two errors leave out untouched and
 * ask for tcall_invoke once more: TCALL_E_AGAIN (the tool or a hook has not
 * finished) and TCALL_E_APPROVAL (a verdict comes later: desc.approve is asked
 * again, unless call->approved is set). */
TCALL_API int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out);
/* Hydrates, invokes and releases: calls a tool by its name, without a model.
 * For tools that answer at once; one that has not finished is cancelled,
 * TCALL_E_CANCELLED, and one that waits for approval does not run,
 * TCALL_E_APPROVAL. Returns TCALL_E_MEMORY, with nothing in out, when the block
 * has no room for the call. */
TCALL_API int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                            tcall_writer *out);
/* Ends a call at the next tcall_invoke with TCALL_E_CANCELLED, _TIMEOUT or
 * _LIMIT. A tool that returned TCALL_E_AGAIN is called one last time, to
 * release what it holds: it sees cx->stop. */
TCALL_API void tcall_cancel(tcall_call *call, int error);

/* For tools that learn only from the arguments that a call needs approval.
 * Returns TCALL_OK when it has it; otherwise the tool returns what this
 * returns: TCALL_E_DENIED, or TCALL_E_APPROVAL, and is run anew, with the same
 * arguments, when there is a verdict. Hooks at TCALL_WILL_CHECK_CONSENT are
 * asked as well. */
TCALL_API int tcall_approval(tcall_ctx *cx);

/* ==========================================================================
 * >>hooks: ready-made ones
 *
 * Each is a macro that gives the rows for a table of hooks; what it keeps is a
 * struct of the caller's. What is not named is not linked.
 *
 *     static tcall_rate rate = {.burst = 5, .interval_ms = 1000};
 *     static tcall_backoff retry = {.attempts = 3, .first_ms = 200};
 *     static const tcall_hook hooks[] = {
 *         TCALL_RATE(&rate), TCALL_RETRY(&retry), TCALL_TIMEOUT(5000)};
 */

/* SipHash-2-4 (Aumasson and Bernstein, 2012) of bytes. */
TCALL_API uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes);
/* Of a value, whatever the order of members and the form of numbers: 5, 5.0
 * and 0.5e1 are the same. Needs up to 1.5 KB of the block for a moment;
 * TCALL_E_MEMORY. */
TCALL_API int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out);

#define TCALL_HOOK_(name, stage, priority, run, user) \
    {                                                 \
        name, stage, priority, run, NULL, user        \
    }

/* Rate limit, a bucket of tokens: calls that find it empty may come back
 * later. Needs desc.now_ms. */
typedef struct tcall_rate {
    uint16_t burst;       /* calls at once */
    uint32_t interval_ms; /* time until one more may come */
    uint16_t used;        /* private */
    uint32_t since;
} tcall_rate;
TCALL_API int tcall_rate_run_(tcall_ctx *cx, void *rate);
#define TCALL_RATE(rate) \
    TCALL_HOOK_("rate", TCALL_WILL_ACQUIRE_QUOTA, 0, tcall_rate_run_, rate)

/* So many calls at a time: the others wait (TCALL_E_AGAIN). */
typedef struct tcall_concurrency {
    uint16_t max;
    uint16_t now; /* private */
} tcall_concurrency;
TCALL_API int tcall_limit_acquire_(tcall_ctx *cx, void *limit);
TCALL_API int tcall_limit_release_(tcall_ctx *cx, void *limit);
#define TCALL_CONCURRENCY(limit)                             \
    TCALL_HOOK_("limit", TCALL_WILL_ACQUIRE_SEMAPHORE, 0,    \
                tcall_limit_acquire_, limit),                \
        TCALL_HOOK_("limit", TCALL_DID_RELEASE_SEMAPHORE, 0, \
                    tcall_limit_release_, limit)

/* Results of tools that only read, by tool, arguments, session and its user.
 * The oldest make room; what is larger than the memory is not kept. */
typedef struct tcall_cache {
    char *memory;
    size_t size;
    uint32_t max_age_ms; /* 0: for ever; else desc.now_ms is needed */
    size_t used;         /* private */
} tcall_cache;
TCALL_API int tcall_cache_read_(tcall_ctx *cx, void *cache);
TCALL_API int tcall_cache_write_(tcall_ctx *cx, void *cache);
#define TCALL_CACHE(cache)                                                    \
    TCALL_HOOK_("cache", TCALL_WILL_READ_CACHE, 0, tcall_cache_read_, cache), \
        TCALL_HOOK_("cache", TCALL_WILL_WRITE_CACHE, 0, tcall_cache_write_,   \
                    cache)

/* Further attempts after an error that may pass, each after twice the time of
 * the one before, or what tcall_retry_after said. Without desc.now_ms there
 * is no time between them. Only for tools that may run twice. */
typedef struct tcall_backoff {
    uint16_t attempts; /* in all */
    uint32_t first_ms;
    uint32_t max_ms; /* 0: no limit */
} tcall_backoff;
TCALL_API int tcall_retry_around_(tcall_ctx *cx, void *retry);
#define TCALL_RETRY(retry) \
    TCALL_HOOK_("retry", TCALL_AROUND_EXECUTE, 0, tcall_retry_around_, retry)

/* The whole call, its waiting included, ends after ms. */
TCALL_API int tcall_timeout_run_(tcall_ctx *cx, void *ms);
#define TCALL_TIMEOUT(ms)                                    \
    TCALL_HOOK_("timeout", TCALL_WILL_BIND_SERVICES, 0x7FFF, \
                tcall_timeout_run_, (void *)(uintptr_t)(ms))

/* One JSON line for each call goes to sink: ids, tool, arguments, attempts,
 * milliseconds, outcome. Where it cannot be written the call fails. */
typedef struct tcall_audit {
    tcall_sink sink;
    void *user;
} tcall_audit;
TCALL_API int tcall_audit_run_(tcall_ctx *cx, void *audit);
#define TCALL_AUDIT(audit) \
    TCALL_HOOK_("audit", TCALL_WILL_AUDIT, 0, tcall_audit_run_, audit)

/* Approvals that come later, and a list of what has run. A call that has to be
 * approved waits (TCALL_E_APPROVAL) until tcall_ledger_decide is told about its
 * id; the verdict holds once, and only for the same definition of the tool and
 * the same arguments. A tool that is neither idempotent nor only reads runs
 * once for an id, also after a restart if the rows were kept: they hold no
 * pointers (keep desc.hash_key with them, and agent.chat.made, where ids are
 * made up). desc.approve is asked first, if there is. */
typedef struct tcall_ledger_row {
    uint64_t id, what; /* hashes */
    uint32_t state;    /* 0: free */
} tcall_ledger_row;
typedef struct tcall_ledger {
    tcall_ledger_row
        *rows; /* zeroed at first; the oldest that ran are given up */
    size_t count;
} tcall_ledger;
TCALL_API int tcall_ledger_consent_(tcall_ctx *cx, void *ledger);
TCALL_API int tcall_ledger_once_(tcall_ctx *cx, void *ledger);
TCALL_API int tcall_ledger_end_(tcall_ctx *cx, void *ledger);
#define TCALL_LEDGER(ledger)                                                   \
    TCALL_HOOK_("ledger", TCALL_WILL_CHECK_CONSENT, 0x7FFF,                    \
                tcall_ledger_consent_, ledger),                                \
        TCALL_HOOK_("ledger", TCALL_WILL_EXECUTE, -0x8000, tcall_ledger_once_, \
                    ledger),                                                   \
        TCALL_HOOK_("ledger", TCALL_WILL_FINALIZE, 0, tcall_ledger_end_,       \
                    ledger)
/* TCALL_OK, or TCALL_E_UNKNOWN: no call with this id waits. */
TCALL_API int tcall_ledger_decide(tcall_ledger *ledger, const tcall *tc,
                                  tcall_str id, tcall_verdict verdict);

/* The same call again in one turn is answered without running, unless the tool
 * says it repeats. Over turns, the same call three times, two calls in turns,
 * or a third call of a tool with arguments that are refused are stopped. */
typedef struct tcall_loops {
    uint64_t seen[8]; /* private; latest first */
    uint64_t refused; /* tool of the calls that were refused last */
    uint8_t refusals, turn;
} tcall_loops;
TCALL_API int tcall_loops_run_(tcall_ctx *cx, void *loops);
#define TCALL_LOOPS(loops) \
    TCALL_HOOK_("loops", TCALL_WILL_PARSE_INPUT, 0, tcall_loops_run_, loops)
/* Begins a turn: each call may be made once more. A zeroed struct has
 * forgotten everything. */
TCALL_API void tcall_loops_new_turn(tcall_loops *loops);

/* ==========================================================================
 * >>strict: schemas as providers' strict modes want them
 */

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
TCALL_API bool tcall_view(tcall_writer *w, const tcall_tool *tool,
                          tcall_strict *left);

/* ==========================================================================
 * >>provider: what all wire formats share
 *
 * A provider is data: an outline of the paths that matter in its answers, the
 * words it uses, and a function that writes its requests. One reader serves
 * all of them: it takes bytes as they arrive, in any pieces, whole answers or
 * streams, and keeps the text and the calls only.
 */

typedef enum tcall_stop {
    TCALL_STOP_UNKNOWN,
    TCALL_STOP_END,     /* the model is done */
    TCALL_STOP_CALLS,   /* it wants results */
    TCALL_STOP_LENGTH,  /* cut off: the last call must not run */
    TCALL_STOP_REFUSED, /* content was refused or filtered */
    TCALL_STOP_OTHER,   /* an error, where nothing else was said */
    /* Private, what else a word of a provider can mean: */
    TCALL_STOP_FINAL_, /* the answer is complete */
    TCALL_STOP_NOT_YET_,
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

/* Variables of descriptions: a table that ends with a row without a name. Text
 * may change between turns, not within one. */
typedef struct tcall_variable {
    const char *name; /* "workspace" for ${workspace} */
    const char *text;
} tcall_variable;

/* For tcall_ask.describe, user: the variables. Writes the description with
 * ${name} replaced, in one pass: what a variable holds is not looked at again.
 * An unknown name stays as it is written. */
TCALL_API int tcall_describe(tcall_writer *w, const tcall_tool *tool,
                             const void *user);

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
    /* tcall_describe, or your own: writes a tool's description as text, for
     * one that depends on where the program runs. It is asked more than once
     * for a request and has to write the same each time. NULL: as it is. */
    int (*describe)(tcall_writer *w, const tcall_tool *tool, const void *user);
    const void *describe_user; /* of tcall_describe: its tcall_variables */
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
    /* From here on short values, first numbers: */
    TCALL_AT_INDEX,  /* of the call */
    TCALL_AT_NUMBER, /* of the choice */
    TCALL_AT_INPUT,  /* tokens read */
    TCALL_AT_OUTPUT, /* tokens written */
    /* Words, whose meaning is in the table: */
    TCALL_AT_TYPE,  /* of the element */
    TCALL_AT_EVENT, /* what this document is */
    TCALL_AT_HINT,  /* as STOP, only to be believed if it says cut */
    TCALL_AT_STOP,  /* why it stopped; not empty: it is complete */
    /* Other words: */
    TCALL_AT_WAIT,       /* how long to wait: "1.5s" */
    TCALL_AT_ERROR_TYPE, /* type of the error */
    TCALL_AT_ERROR_CODE  /* its code, which tells more unless it is a number */
};

/* What a provider's words mean: these stand before each of them, with the
 * values of tcall_stop, and NUL behind it. */
#define TCALL_SAYS_END     "\1"
#define TCALL_SAYS_CALLS   "\2"
#define TCALL_SAYS_LENGTH  "\3"
#define TCALL_SAYS_REFUSED "\4"
#define TCALL_SAYS_FINAL   "\6"
#define TCALL_SAYS_NOT_YET "\7"
#define TCALL_SAYS_CALL    "\10"
#define TCALL_SAYS_OPAQUE  "\11"
#define TCALL_SAYS_TEXT    "\12"
#define TCALL_SAYS_PIECE   "\13"
#define TCALL_SAYS_ALL     "\14"
#define TCALL_SAYS_NEW     "\15"
#define TCALL_SAYS_DONE    "\16"
#define TCALL_SAYS_OPEN    "\17"

/* In what a server differs from its format (tcall_provider.traits). */
enum {
    TCALL_TRAIT_ASK_OPAQUE = 2,  /* what is opaque has to be asked for */
    TCALL_TRAIT_ANY = 4,         /* "any" is its word for "required" */
    TCALL_TRAIT_WEAK_CHOICE = 8, /* to name a tool or none is not obeyed: then
                                    that one is sent alone, or none is */
    TCALL_TRAIT_NO_CHOICE = 16,  /* nor is anything else about the choice */
    TCALL_TRAIT_NO_STRICT = 32,
    TCALL_TRAIT_NO_PARALLEL = 64,   /* no switch for calls side by side */
    TCALL_TRAIT_SAY_PARALLEL = 128, /* one call, unless told otherwise */
    TCALL_TRAIT_MAX_TOKENS = 256,   /* so named, not max_completion_tokens */
    TCALL_TRAIT_NO_USAGE = 512      /* no stream_options */
};

struct tcall_reader;
typedef struct tcall_provider tcall_provider;
struct tcall_provider {
    const char *name;
    const char *url; /* where it is; "": every user has one of his own */
    /* Of the request, below the URL; "{model}" stands for its name. */
    const char *path;
    const char *stream_path;  /* NULL: the same */
    const char *key_header;   /* carries the key */
    const char *key_prefix;   /* before the key: "Bearer " */
    const char *version[2];   /* a further header: name, value */
    const tcall_paths *paths; /* where things stand in an answer */
    const char *words;        /* reasons to stop, types: TCALL_SAYS_... */
    int (*write)(const tcall_provider *p, tcall_writer *w,
                 const tcall_ask *ask);
    /* The id of a call as this server takes it, in 9 bytes at to or as it is;
     * the same for the same id. NULL: any id will do. */
    tcall_str (*id)(char *to, tcall_str id);
    /* tcall_opaque: reasoning is kept and goes back as it came. NULL: it does
     * not. */
    void (*more)(struct tcall_reader *r, int what, tcall_str s);
    /* Writes the reasoning that came in its second form, in pieces, as a value.
     * NULL: only the first form goes back. */
    int (*join)(tcall_writer *w, tcall_str pieces);
    uint16_t traits;
};

#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_openai;    /* Chat Completions */
extern const tcall_provider tcall_anthropic; /* Messages */
extern const tcall_provider tcall_ollama;    /* its own /api/chat */
extern const tcall_provider tcall_responses; /* of OpenAI */
extern const tcall_provider tcall_gemini;    /* generateContent */
#endif

/* Servers that speak the format of OpenAI, each with what is known of it:
 * X(name, url, path, key header, before the key, id, more, join, traits). Each
 * is a tcall_provider: tcall_groq, tcall_mistral ... A copy with another url,
 * path or trait serves what is not here. */
#define TCALL_SERVERS(X)                                                   \
    X(groq, "https://api.groq.com", "/openai/v1/chat/completions",         \
      "Authorization", "Bearer ", NULL, NULL, NULL, 0)                     \
    X(mistral, "https://api.mistral.ai", "/v1/chat/completions",           \
      "Authorization", "Bearer ", tcall_id_of_nine, NULL, NULL,            \
      TCALL_TRAIT_ANY | TCALL_TRAIT_MAX_TOKENS | TCALL_TRAIT_NO_USAGE)     \
    X(deepseek, "https://api.deepseek.com", "/chat/completions",           \
      "Authorization", "Bearer ", NULL, tcall_opaque, NULL,                \
      TCALL_TRAIT_NO_STRICT | TCALL_TRAIT_NO_PARALLEL |                    \
          TCALL_TRAIT_MAX_TOKENS)                                          \
    X(openrouter, "https://openrouter.ai", "/api/v1/chat/completions",     \
      "Authorization", "Bearer ", NULL, tcall_opaque, tcall_join_details,  \
      TCALL_TRAIT_MAX_TOKENS)                                              \
    X(xai, "https://api.x.ai", "/v1/chat/completions", "Authorization",    \
      "Bearer ", NULL, NULL, NULL, 0)                                      \
    X(azure, "", "/openai/v1/chat/completions", "api-key", "", NULL, NULL, \
      NULL, 0)                                                             \
    X(llamacpp, "http://127.0.0.1:8080", "/v1/chat/completions",           \
      "Authorization", "Bearer ", NULL, NULL, NULL,                        \
      TCALL_TRAIT_WEAK_CHOICE | TCALL_TRAIT_NO_STRICT |                    \
          TCALL_TRAIT_SAY_PARALLEL | TCALL_TRAIT_MAX_TOKENS)               \
    X(lmstudio, "http://127.0.0.1:1234", "/v1/chat/completions",           \
      "Authorization", "Bearer ", NULL, NULL, NULL,                        \
      TCALL_TRAIT_WEAK_CHOICE | TCALL_TRAIT_NO_STRICT |                    \
          TCALL_TRAIT_NO_PARALLEL | TCALL_TRAIT_MAX_TOKENS)                \
    X(ollama_v1, "http://127.0.0.1:11434", "/v1/chat/completions",         \
      "Authorization", "Bearer ", NULL, NULL, NULL,                        \
      TCALL_TRAIT_WEAK_CHOICE | TCALL_TRAIT_NO_CHOICE |                    \
          TCALL_TRAIT_NO_STRICT | TCALL_TRAIT_NO_PARALLEL |                \
          TCALL_TRAIT_MAX_TOKENS)

#ifndef TOOLCALL_STATIC
#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits) \
    extern const tcall_provider tcall_##name;
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif

/* Nine letters and digits, all that Mistral takes: other ids are mapped to
 * such, each always to the same. */
TCALL_API tcall_str tcall_id_of_nine(char *to, tcall_str id);
/* reasoning_details as OpenRouter streams them, in arrays: what came in pieces
 * is put together, because a signature is of the whole. All else is as it
 * came. */
TCALL_API int tcall_join_details(tcall_writer *w, tcall_str pieces);
/* For tcall_provider.more; nobody else calls it. */
TCALL_API void tcall_opaque(struct tcall_reader *r, int what, tcall_str s);
/* The provider or server of this name ("groq"), NULL: there is none. Links
 * all of them. */
TCALL_API const tcall_provider *tcall_provider_named(const char *name);

/* ==========================================================================
 * >>reader: answers, as they arrive
 */

/* What is known of an answer besides its items. */
typedef struct tcall_answer {
    tcall_stop stop;
    int error; /* TCALL_OK; TCALL_E_PROVIDER: it holds an error;
                  TCALL_E_TRUNCATED, TCALL_E_PROTOCOL, TCALL_E_MEMORY
                  (then block->need tells), or what scanning found */
    int calls;
    bool text_cut; /* the text did not fit and was cut */
    /* Bytes of opaque reasoning that did not fit. The calls are there, but
     * their results cannot be sent back: block->need tells more. */
    size_t unkept;
    long input_tokens; /* -1: unknown */
    long output_tokens;
    long wait_ms;       /* how long to wait, -1: unknown */
    char stop_text[32]; /* the provider's own word, cut if longer; of an error
                           its code or type */
    char message[160];  /* the provider's words about its error, cut; where it
                           is no answer at all, its beginning: "<html>..." */
} tcall_answer;

/* Reads one answer. Only answer is for others to look at, and call may be set:
 * it gets each call as it comes. Its first piece has name and id, for most
 * providers; text is what came of the arguments, checked by nobody. Small
 * fields stand first: code for them is shorter. */
typedef struct tcall_reader {
    uint8_t index;      /* of the element, counted from 1; 0: none */
    uint8_t kind, type; /* of it */
    uint8_t marks;      /* flags of its item */
    bool element, bad, ignored, open;
    bool keeping, has_text, stopped, complete, cut;
    uint8_t began, finished; /* sets of choices */
    uint8_t choice;          /* the number of the one at hand */
    uint8_t event;           /* of the document */
    uint8_t state, match;    /* of the framing */
    bool sse, cr, inside, some;
    bool broken, whole, skip, announced, before;
    const tcall_provider *provider;
    tcall_chat *chat;
    void (*text)(void *user, tcall_str piece);
    void (*call)(void *user, const tcall_item *piece); /* set after init */
    void *user;
    size_t start;    /* where the items of this answer begin */
    size_t pending;  /* elements from here on are not settled yet */
    size_t slot;     /* the element that is being read, if open */
    size_t raw;      /* its text as it came, if keeping */
    size_t text_max; /* bytes of text that are kept */
    size_t lost;     /* bytes that did not fit */
    size_t raw_lost;
    tcall_answer answer;
    char word[40]; /* the short value that is being read */
    tcall_scan scan;
} tcall_reader;

/* text(user, piece) gets the model's text as it comes, also what does not fit
 * the block; may be NULL. The block may not be used otherwise until the end of
 * the answer; its upper part may. */
TCALL_API void tcall_reader_init(tcall_reader *r,
                                 const tcall_provider *provider,
                                 tcall_chat *chat,
                                 void (*text)(void *user, tcall_str piece),
                                 void *user);
/* < 0: the answer is not what the provider's format allows; more is ignored. */
TCALL_API int tcall_reader_feed(tcall_reader *r, const char *bytes, size_t len);
/* The answer is over. TCALL_OK and the items are in the chat, or an error
 * (r->answer tells more) and the chat is as it was before. Calls that were
 * cut or did not fit have item.error set, they must get an error result. */
TCALL_API int tcall_reader_end(tcall_reader *r);
/* What is wrong with an answer, by its HTTP status (0: unknown) and by what
 * the provider says, also within a status of 200: TCALL_E_AUTH, _NOT_FOUND,
 * _REQUEST, _CONTEXT, _REFUSED, _RATE, _OVERLOAD (wait_ms tells how long), or
 * _PROVIDER for its own faults; else the answer's error. */
TCALL_API int tcall_answer_error(const tcall_answer *a, int status);

/* ==========================================================================
 * >>text_calls: calls that come as text
 */

/* Small local models may write calls as text, between markers as those of
 * <tool_call>{"name":"f","arguments":{}}</tool_call>. After tcall_reader_end
 * this makes calls of them where the provider gave none, and ends the text
 * where they begin; unterminated ones have item.error set and must not run.
 * TCALL_OK, or an error as tcall_reader_end. */
TCALL_API int tcall_text_calls(tcall_reader *r);

/* ==========================================================================
 * >>lint: what is wrong with definitions before a model sees them
 *
 * For the desk and for CI, where a table of tools is made: what providers
 * would refuse and what models would not understand. No memory is needed.
 */

/* Something found. code: "name" (a rule of provider, or used twice),
 * "description" (its length), "parameter" (without a description), "schema"
 * (cannot be checked against), "strict" (no strict mode for this schema). */
typedef struct tcall_finding {
    const char *code;
    const char *provider; /* whose rule it is; NULL: everybody's */
    const tcall_tool *tool;
    tcall_str pointer; /* JSON Pointer (RFC 6901) into the tool: "/name",
                          "/parameters/properties/x"; cut after 190 bytes */
    tcall_str text;    /* what is wrong and what to do; of a finding valid
                          only while it is told, as is pointer */
    bool note;         /* good to know, but nothing is wrong */
} tcall_finding;

/* Tells found of each finding; returns how many were no notes. Names are held
 * against the rules of OpenAI, Anthropic, Gemini and MCP. A description should
 * have 10 to 20 tokens for a tool with at most one plain parameter, 25 to 40
 * for one with nested or more than four, else 10 to 40. Parameters are those
 * below properties and items, down to 8 levels. A schema that does not fit
 * a strict mode is a note, unless the tool asks for it (tool->strict). */
TCALL_API int
tcall_lint(const tcall_tool *tools, size_t tool_count,
           void (*found)(void *user, const tcall_finding *finding), void *user);
/* Bytes that the tools take of a request to this provider, sent as they are;
 * tcall_lint_tokens estimates: about four bytes each. */
TCALL_API size_t tcall_lint_bytes(const tcall_provider *provider,
                                  const tcall_tool *tools, size_t tool_count);
TCALL_API size_t tcall_lint_tokens(size_t bytes);

/* ==========================================================================
 * >>agent: say, run, plan, over a transport
 *
 * The library never opens a socket: tcall_transport is the door to the
 * network, and port/ has one that fits. A request is written twice by the
 * same function, once to count its bytes and once to send them. Planning and
 * acting are apart: tcall_agent_plan returns checked calls, tcall_agent_step
 * and tcall_agent_run also run them.
 */

#ifndef TOOLCALL_NO_AGENT

struct tcall_request;
struct tcall_response;

/* The one door to the network: an exchange of one request and one answer.
 * The order is open, write until body_len bytes were accepted, read until 0,
 * close. Each may answer TCALL_E_AGAIN (nothing was done, call again later) or
 * another error, after which only close is called. A transport that blocks
 * never answers TCALL_E_AGAIN. */
typedef struct tcall_transport {
    /* Connects (or reuses a connection) and sends the head of the request.
     * req and res stay valid until close; res has to be filled in before read
     * gives its first byte. */
    int (*open)(void *user, const struct tcall_request *req,
                struct tcall_response *res);
    /* Returns how many of the len bytes were accepted, > 0. */
    int (*write)(void *user, const char *bytes, size_t len);
    /* Returns how many bytes were stored, or 0 when the body is complete. A
     * body that ends early is TCALL_E_CLOSED, never 0. */
    int (*read)(void *user, char *bytes, size_t cap);
    /* Ends the exchange, whatever its state; called once for each open. */
    void (*close)(void *user);
    /* Returns a monotonic clock in milliseconds, which may wrap. NULL: there
     * are no limits of time and no request is sent again. */
    uint32_t (*now_ms)(void *user);
    /* Sleeps so many milliseconds or less. NULL: tcall_agent_run polls. */
    void (*wait)(void *user, uint32_t ms);
    void *user;
} tcall_transport;

/* What an agent is made of. tc, provider, model and the transport's open,
 * write, read and close are required; zero is the default of all the rest. */
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
    int parallel;       /* calls of one answer that are under way at a time,
                         * where tools answer TCALL_E_AGAIN; default 1 */
    uint32_t max_ms;    /* time for one turn; default: no limit */
    /* How often one request is sent; default 3, 1: never again. It is sent
     * again where that may help: nothing of an answer came because the
     * connection failed, or the HTTP status is 408, 409, 429 or 500 to 599, or
     * as the header x-should-retry says. The wait before is the server's
     * (Retry-After), else 0.5 s, 1 s, 2 s and so on to 8 s, up to half of
     * which is left to chance. A wait that would pass max_ms ends the turn. No
     * tool runs again because of it. */
    int max_tries;
    uint32_t max_wait_ms; /* longer waits are cut to this; default 60000 */
    uint32_t seed;        /* of chance in those waits; default: the clock */
    size_t io_size;       /* bytes for reading and writing; default 512 */
    bool stream;
    /* Calls that a local model writes as text count as calls: see
     * >>text_calls. */
    bool text_calls;
    /* Replace ${name} in descriptions of tools; NULL: they are sent as they
     * are. */
    const tcall_variable *variables;
    /* Not NULL: of more than TCALL_AGENT_ALL tools only those that these
     * options pick for what the user says are sent, for the whole turn. Where
     * none fits, those of the turn before and the pinned ones are. NULL: all
     * are sent. */
    const struct tcall_pick_opts *pick_opts;
} tcall_agent_desc;

enum {
    TCALL_AGENT_ALL = 20,  /* so many tools are all sent */
    TCALL_AGENT_PICKS = 16 /* most picks that are sent, pinned ones too */
};

typedef struct tcall_agent tcall_agent;

/* Sets an agent up in the block of desc->tc. Returns TCALL_OK, TCALL_E_MEMORY
 * (the block's need says how large to make it), or TCALL_E_USAGE where desc
 * lacks something: agent->problem says what, in a sentence. Until it has
 * succeeded each function below answers TCALL_E_USAGE. The memory is given back
 * only by tcall_init. */
TCALL_API int tcall_agent_init(tcall_agent *agent,
                               const tcall_agent_desc *desc);
/* Runs a whole turn: tcall_agent_say, then steps until it is over. Returns
 * TCALL_OK and tcall_agent_text is the answer, or the error that ended it;
 * TCALL_E_APPROVAL, where calls wait for a verdict: go on with
 * tcall_agent_step. */
TCALL_API int tcall_agent_run(tcall_agent *agent, tcall_str text);
/* Begins a turn with what the user says. Where the block is too small for all
 * of the conversation its oldest turns are dropped, as a whole. Returns
 * TCALL_OK, TCALL_E_USAGE during a turn, or TCALL_E_MEMORY. */
TCALL_API int tcall_agent_say(tcall_agent *agent, tcall_str text);
/* Does one bounded piece of work. Returns TCALL_E_AGAIN: call it again, after
 * agent->wait_ms milliseconds at the latest, sooner does no harm; otherwise as
 * tcall_agent_run. */
TCALL_API int tcall_agent_step(tcall_agent *agent);
/* Returns the model's text of this turn; it is valid until the next step. */
TCALL_API tcall_str tcall_agent_text(const tcall_agent *agent);
/* Ends the turn with TCALL_E_CANCELLED at the next step. */
TCALL_API void tcall_agent_cancel(tcall_agent *agent);
/* Does one exchange and runs nothing. Returns the number of calls in the
 * answer; 0 ends the turn. */
TCALL_API int tcall_agent_plan(tcall_agent *agent, tcall_str text);
/* Checks the index-th call of the last answer, as tcall_hydrate does. Release
 * it when done. */
TCALL_API int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call);
/* Gives the result of a call of a plan. Once each call has one, the turn goes
 * on with tcall_agent_step. */
TCALL_API int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                                 tcall_str text, bool error);

/* -- For authors of transports -- */

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

struct tcall_agent {
    uint32_t wait_ms;    /* tcall_agent_step has nothing to do for so long */
    const char *problem; /* why tcall_agent_init refused; else NULL */
    tcall_chat chat;
    tcall_response response; /* the last one, without its body */
    tcall_answer answer;     /* the last one */
    tcall_agent_desc desc;   /* with its defaults */
    /* private */
    uint8_t state;
    bool run;           /* calls are run, not only checked */
    bool cancelled;     /* by tcall_agent_cancel */
    bool opened;        /* the transport has to be closed */
    bool reconnected;   /* a dead connection was replaced */
    bool picked;        /* only the picks are sent */
    uint8_t pick_count; /* of picks */
    uint16_t picks[TCALL_AGENT_PICKS];
    uint16_t rounds, calls, tries; /* of this turn; tries of this request */
    uint32_t started;              /* when the turn began */
    uint32_t pause_began, pause;   /* the wait before the next try */
    uint32_t random;               /* state of chance in these waits */
    tcall_request request;
    tcall_header headers[3];
    tcall_reader *reader;
    char *io;              /* desc.io_size bytes */
    size_t sent, received; /* bytes of the bodies */
    size_t answer_at;      /* where the last answer begins in the chat */
    size_t call_at;        /* calls of it that have a result */
    tcall_call *batch;     /* calls under way: call, or in the block */
    size_t batch_high;     /* of the block, before them */
    int batch_count;
    int delivered; /* results of the batch that are in the chat */
    int turn;      /* the call of the batch that goes on next */
    int waiting;   /* calls in a row that wait for approval */
    tcall_call call;
};

#endif /* TOOLCALL_NO_AGENT */

#ifdef __cplusplus
}
#endif
#endif /* TOOLCALL_H */

/* ======================================================================== */
#if defined TOOLCALL_IMPLEMENTATION && !defined TOOLCALL_IMPLEMENTED_
#define TOOLCALL_IMPLEMENTED_

#include <float.h>
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

TCALL_SHARED_ tcall_str tcall_slice_(const char *ptr, size_t len)
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

/* The n-th of texts that stand one behind the other, each ended by NUL: a
 * table of pointers would double their size, and be linked with all of them. */
TCALL_SHARED_ const char *tcall_nth_(const char *texts, int n)
{
    while (n-- > 0)
        texts += strlen(texts) + 1;
    return texts;
}

#ifdef TOOLCALL_NO_SENTENCES
#define TCALL_X_(name, code, sentence) {code, code},
#else
#define TCALL_X_(name, code, sentence) {code, sentence},
#endif
/* Row -error: the first is success, the last any number that is no error. */
static const struct {
    const char *code, *sentence;
} tcall_errors_[] = {{"ok", "ok"},
                     TCALL_ERRORS(TCALL_X_){"?", "unknown error"}};
#undef TCALL_X_

static int tcall_error_row_(int error)
{
    if (error > TCALL_OK)
        return 0;
    return error < -TCALL_I_COUNT ? TCALL_I_COUNT + 1 : -error;
}

const char *tcall_error_code(int error)
{
    return tcall_errors_[tcall_error_row_(error)].code;
}

const char *tcall_error_text(int error)
{
    return tcall_errors_[tcall_error_row_(error)].sentence;
}

const char *tcall_error_type(int error)
{
    switch (error) {
    case TCALL_E_DENIED:
    case TCALL_E_ABORTED:
    case TCALL_E_APPROVAL: return "permission";
    case TCALL_E_TWICE: return "security";
    case TCALL_E_FAILED:
    case TCALL_E_LOOP:
    case TCALL_E_STALE:
    case TCALL_E_UNREAD:
    case TCALL_E_NOT_FOUND: return "user";
    case TCALL_E_CANCELLED: return "cancelled";
    case TCALL_E_TIMEOUT: return "timeout";
    case TCALL_E_UNKNOWN:
    case TCALL_E_CUT: return "validation";
    case TCALL_E_BUDGET:
    case TCALL_E_SCHEMA: return "system";
    default: break;
    }
    /* Everything else that reading and checking arguments reports. */
    return error <= TCALL_E_TRUNCATED && error >= TCALL_E_INVALID ? "validation"
                                                                  : "system";
}

TCALL_SHARED_ bool tcall_is_digit_(char c)
{
    return c >= '0' && c <= '9';
}

TCALL_SHARED_ bool tcall_is_space_(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Value of a hex digit, -1 when it is none. */
TCALL_SHARED_ int tcall_hex_(char c)
{
    if (tcall_is_digit_(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Writes a code point as UTF-8, 1 to 4 bytes. */
TCALL_SHARED_ size_t tcall_utf8_(char *out, uint32_t cp)
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

#if !defined TOOLCALL_NO_PATTERN || !defined TOOLCALL_NO_PICK
/* The code point at *at, which moves behind it. */
TCALL_SHARED_ int32_t tcall_utf8_next_(const char **at)
{
    unsigned char c = (unsigned char)*(*at)++;
    int more = c < 0xC0 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    int32_t cp = more ? c & (0x3F >> more) : c;
    for (; more; more--)
        cp = cp << 6 | (*(*at)++ & 0x3F);
    return cp;
}
#endif

/* n or a little less: so that p is not cut inside a character. p[n] is there.
 */
TCALL_SHARED_ size_t tcall_utf8_cut_(const char *p, size_t n)
{
    while (n && ((unsigned char)p[n] & 0xC0) == 0x80)
        n--;
    return n;
}

/* The control character or quote that an escape stands for, 0: no escape. */
TCALL_SHARED_ char tcall_unescape_(char c)
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
    int sign; /* -1, 0, 1 */
} tcall_num_;

/* Exponents beyond this are no different from it; ten times it fits an int
 * of 16 bits too. */
#define TCALL_EXPONENT_MAX_ (INT_MAX < 32768 ? 1638 : 1000000)

TCALL_SHARED_ tcall_num_ tcall_num_read_(tcall_str text)
{
    const char *p = text.ptr, *end = p + text.len, *point = NULL;
    tcall_num_ n;
    int exponent = 0;
    bool minus = *p == '-';
    n.first = n.last = NULL;
    n.sign = 0;
    for (p += minus; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            point = p;
        } else if (*p != '0') {
            n.first = n.first ? n.first : p;
            n.last = p;
            n.sign = minus ? -1 : 1;
        }
    }
    if (!point)
        point = p;
    minus = false;
    for (; p < end; p++) {
        if (*p == '-')
            minus = true;
        else if (tcall_is_digit_(*p) && exponent < TCALL_EXPONENT_MAX_)
            exponent = exponent * 10 + (*p - '0');
    }
    n.top = minus ? -exponent : exponent;
    if (n.first)
        n.top += (int)(point - n.first) - (n.first < point);
    return n;
}

/* The next significant digit from *p on, 0 behind the last. */
TCALL_SHARED_ int tcall_num_digit_(const tcall_num_ *n, const char **p)
{
    if (**p == '.' && *p <= n->last)
        ++*p;
    if (*p > n->last)
        return 0;
    return *(*p)++ - '0';
}

/* Number of significant digits. */
TCALL_SHARED_ int tcall_num_digits_(const tcall_num_ *n)
{
    const char *p;
    int count = 0;
    if (!n->sign)
        return 0;
    for (p = n->first; p <= n->last; p++)
        count += *p != '.';
    return count;
}

/* True for 5, 5.0 and 5e3, false for 5.5. */
TCALL_SHARED_ bool tcall_num_integral_(const tcall_num_ *n)
{
    return !n->sign || n->top - tcall_num_digits_(n) + 1 >= 0;
}

TCALL_SHARED_ int tcall_num_compare_(const tcall_num_ *a, const tcall_num_ *b)
{
    const char *p = a->first, *q = b->first;
    int order = a->sign - b->sign;
    if (order || !a->sign)
        return order;
    order = a->top - b->top;
    while (!order && (p <= a->last || q <= b->last))
        order = tcall_num_digit_(a, &p) - tcall_num_digit_(b, &q);
    return a->sign * order;
}

/* value * 10^decimals as an integer; surplus digits are cut off. False when
 * it does not fit. */
TCALL_SHARED_ bool tcall_num_int64_(const tcall_num_ *n, int decimals,
                                    int64_t *out)
{
    const char *p = n->first;
    int left = n->top + decimals;
    uint64_t v = 0, limit = (uint64_t)INT64_MAX + (n->sign < 0);
    *out = 0;
    if (!n->sign || left < 0)
        return true;
    if (left > 18)
        return false;
    for (; left >= 0; left--) {
        v = (v << 3) + (v << 1) + (uint64_t)tcall_num_digit_(n, &p);
        if (v > limit)
            return false;
    }
    *out = n->sign < 0 ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* FNV-1a: the hash of a text is that of its parts, one after the other. */
#define TCALL_HASH_EMPTY_ 2166136261u

TCALL_SHARED_ uint32_t tcall_hash_more_(uint32_t hash, tcall_str part)
{
    size_t i;
    for (i = 0; i < part.len; i++)
        hash = (hash ^ (unsigned char)part.ptr[i]) * 16777619u;
    return hash;
}

TCALL_SHARED_ uint32_t tcall_hash_(tcall_str text)
{
    return tcall_hash_more_(TCALL_HASH_EMPTY_, text);
}

/* ==========================================================================
 * >>block
 */

void tcall_block_init(tcall_block *b, void *base, size_t size)
{
    size_t skew = (size_t)(-(uintptr_t)base & 7);
    memset(b, 0, sizeof *b);
    if (!base || size < skew)
        return;
    b->base = (char *)base + skew;
    b->size = (size - skew) & ~(size_t)7;
}

TCALL_SHARED_ size_t tcall_block_free_(const tcall_block *b)
{
    return b->size - b->low - b->high;
}

/* True when n more bytes are free; else need says how large to make it. */
TCALL_SHARED_ bool tcall_block_room_(tcall_block *b, size_t n)
{
    if (n > tcall_block_free_(b)) {
        b->need = (b->low + b->high + n + 7) & ~(size_t)7;
        return false;
    }
    if (b->low + b->high + n > b->peak)
        b->peak = b->low + b->high + n;
    return true;
}

/* Moves the end of the lower part up by n. */
TCALL_SHARED_ bool tcall_block_grow_(tcall_block *b, size_t n)
{
    if (!tcall_block_room_(b, n))
        return false;
    b->low += n;
    return true;
}

/* n bytes from the end, for a while: give back by restoring b->high. */
TCALL_SHARED_ void *tcall_block_take_(tcall_block *b, size_t n)
{
    n = (n + 7) & ~(size_t)7;
    if (!tcall_block_room_(b, n))
        return NULL;
    b->high += n;
    return b->base + b->size - b->high;
}

/* The free bytes between both parts. */
TCALL_SHARED_ char *tcall_block_gap_(const tcall_block *b)
{
    return b->base + b->low;
}

/* ==========================================================================
 * >>scan
 *
 * Three loops in one: runs of plain string bytes, numbers by a table, and one
 * switch for everything else. What the path filter wants is tracked per
 * open level as the row that matched, so a key is compared with the few rows
 * below that one only.
 */

#define TCALL_SCAN_NONE_ 0xFF /* no row */
#define TCALL_SCAN_ROOT_ 0xFE /* above the first row */

enum {
    TCALL_S_VALUE_,     /* a value must come */
    TCALL_S_FIRST_,     /* behind '[': a value or ']'; then, */
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

enum {
    TCALL_STRING_SKIP_, /* a key that nobody wants */
    TCALL_STRING_KEY_,  /* one to be compared */
    TCALL_STRING_VALUE_ /* to be reported */
};

/* States of a number. After those marked it may end. */
enum {
    TCALL_N_NONE_, /* no number */
    TCALL_N_START_,
    TCALL_N_MINUS_,
    TCALL_N_ZERO_,    /* a 0 before the point; may end */
    TCALL_N_INTEGER_, /* digits before the point; may end */
    TCALL_N_POINT_,
    TCALL_N_FRACTION_, /* digits after the point; may end */
    TCALL_N_E_,
    TCALL_N_SIGN_,    /* of the exponent */
    TCALL_N_EXPONENT_ /* its digits; may end */
};

/* The grammar of numbers: the next state by class of the next character, 0
 * where it is none of the number. */
static const uint8_t tcall_number_grammar_[][6] = {
    /* 0  1-9  .  e  +  - */
    {0, 0, 0, 0, 0, 0}, /* none */
    {3, 4, 0, 0, 0, 2}, /* start */
    {3, 4, 0, 0, 0, 0}, /* minus */
    {0, 0, 5, 7, 0, 0}, /* zero */
    {4, 4, 5, 7, 0, 0}, /* integer */
    {6, 6, 0, 0, 0, 0}, /* point */
    {6, 6, 0, 7, 0, 0}, /* fraction */
    {9, 9, 0, 0, 8, 8}, /* e */
    {9, 9, 0, 0, 0, 0}, /* sign */
    {9, 9, 0, 0, 0, 0}, /* exponent */
};

TCALL_SHARED_ uint8_t tcall_number_next_(uint8_t state, char c)
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

TCALL_SHARED_ bool tcall_number_ends_(uint8_t state)
{
    return state == TCALL_N_ZERO_ || state == TCALL_N_INTEGER_ ||
           state == TCALL_N_FRACTION_ || state == TCALL_N_EXPONENT_;
}

void tcall_scan_init(tcall_scan *s, const tcall_paths *paths, tcall_scan_fn on,
                     void *user)
{
    memset(s, 0, sizeof *s);
    s->row = TCALL_SCAN_NONE_;
    if (paths) {
        s->rows = paths->rows;
        s->keys = paths->keys;
        s->row = TCALL_SCAN_ROOT_;
    }
    s->on = on;
    s->user = user;
    s->at = TCALL_SCAN_NONE_;
}

/* Whether the value is complete; a number at the root needs the end. */
TCALL_SHARED_ bool tcall_scan_done_(const tcall_scan *s)
{
    return s->state == TCALL_S_DONE_;
}

static int tcall_scan_fail_(tcall_scan *s, int error)
{
    s->error = error;
    return error;
}

/* Makes a token of each value and key as well; the text must then be fed in one
 * piece. s->tokens also counts those that do not fit. */
static void tcall_scan_tokens_(tcall_scan *s, const char *text, tcall_tok *tok,
                               size_t cap)
{
    s->text = text;
    s->tok = tok;
    s->tok_cap = cap < INT_MAX ? cap : INT_MAX;
}

static const char tcall_literals_[] = "true\0false\0null\0";

/* The one that begins with c, null if there is none. */
static inline const char *tcall_literal_(char c)
{
    return tcall_literals_ + (c == 't' ? 0 : c == 'f' ? 5 : 11);
}

/* Flags of a token, beside its type. */
#define TCALL_TYPE_   7
#define TCALL_LAST_   8  /* last of its container; next to this bit: */
#define TCALL_MEMBER_ 16 /* value of a member: its key stands before it */
#define TCALL_KEY_    32
#define TCALL_NEEDS_DECODE_ \
    64 /* string with escapes, long number or exponent */

/* Of the value that starts at p. */
TCALL_SHARED_ unsigned tcall_type_at_(const char *p)
{
    return *p == '"'   ? TCALL_STRING
           : *p < 'A'  ? TCALL_NUMBER
           : *p == '{' ? TCALL_OBJECT
           : *p == '[' ? TCALL_ARRAY
           : *p == 'n' ? TCALL_NULL
                       : TCALL_BOOL;
}

static inline void tcall_scan_make_(tcall_scan *s, const char *p, bool key)
{
    tcall_tok *t = s->tok + s->tokens - 1;
    t->type = (int)tcall_type_at_(p);
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
    if (row >= TCALL_SCAN_ROOT_ || !s->rows[row].field || s->error)
        return;
    r = s->on(s->user, s->rows[row].field, event, tcall_slice_(p, n));
    if (r < 0)
        s->error = r;
}

/* The row below parent, that of the open container, that the key or element
 * matches. */
static inline uint8_t tcall_scan_match_(tcall_scan *s, uint8_t parent,
                                        const char *key, size_t len)
{
    const tcall_path *row = s->rows;
    const char *text = s->keys;
    uint8_t below = 1;
    if (parent == TCALL_SCAN_NONE_)
        return TCALL_SCAN_NONE_;
    if (parent != TCALL_SCAN_ROOT_) {
        row += parent;
        below = (uint8_t)(row->depth + 1);
        row++;
        text += s->below[s->depth - 1];
    }
    for (; row->depth >= below; text += row->len, row++) {
        if (row->depth != below)
            continue;
        if (row->len == len && *text == *key && memcmp(text, key, len) == 0) {
            s->behind = (uint16_t)(text - s->keys + row->len);
            return (uint8_t)(row - s->rows);
        }
        if (row->flags & TCALL_PATH_LAST)
            break;
    }
    return TCALL_SCAN_NONE_;
}

static inline void tcall_scan_value_end_(tcall_scan *s)
{
    s->state = s->depth ? TCALL_S_NEXT_ : TCALL_S_DONE_;
}

/* The row of the next element of the array that is open. */
TCALL_NOINLINE_ static uint8_t tcall_scan_element_(tcall_scan *s)
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
    uint8_t row, *open;
    unsigned below = 0, bit = s->depth & 7u;
    tcall_scan_begin_(s, c);
    tcall_scan_token_open_(s);
    s->object = *c == '{';
    row = s->row;
    if (s->depth >= TOOLCALL_MAX_DEPTH)
        return tcall_scan_fail_(s, TCALL_E_DEPTH);
    if (row < TCALL_SCAN_ROOT_) {
        const tcall_path *path = s->rows + row;
        below = s->behind;
        if (path->flags & TCALL_PATH_RAW && !s->raw_depth) {
            s->raw_depth = (uint16_t)(s->depth + 1);
            *raw = c;
        }
        if (path->flags & TCALL_PATH_ALIAS_NEXT) {
            row++;
            below += path[1].len;
        }
        if (path->flags & TCALL_PATH_ROOT) {
            row = TCALL_SCAN_ROOT_;
            below = 0;
        }
    }
    open = &s->open[s->depth >> 3];
    *open = (uint8_t)((*open & ~(1u << bit)) | (unsigned)s->object << bit);
    s->at = TCALL_SCAN_NONE_;
    if (s->depth < TCALL_SCAN_LEVELS_) {
        s->at = s->node[s->depth] = row;
        s->below[s->depth] = (uint16_t)below;
        s->index[s->depth] = 0;
    }
    s->depth++;
    s->row = TCALL_SCAN_NONE_;
    s->state = (uint8_t)(TCALL_S_FIRST_ + s->object);
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

/* The string ends; of a key that is wanted, its text. */
static void tcall_scan_string_end_(tcall_scan *s, const char *key, size_t len)
{
    if (s->string_mode == TCALL_STRING_VALUE_) {
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, s->key, 0);
        tcall_scan_value_end_(s);
        return;
    }
    s->row = s->string_mode == TCALL_STRING_KEY_ && len
                 ? tcall_scan_match_(s, s->at, key, len)
                 : (uint8_t)TCALL_SCAN_NONE_;
    s->state = TCALL_S_COLON_;
}

/* Decoded bytes of a string. A key that is too long matches nothing. */
static void tcall_scan_bytes_(tcall_scan *s, const char *p, size_t n)
{
    if (n == 0)
        return;
    if (s->string_mode == TCALL_STRING_VALUE_)
        tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, p, n);
    else if (n > (size_t)(TCALL_SCAN_KEY_ - s->key_len))
        s->string_mode = TCALL_STRING_SKIP_;
    else if (s->string_mode == TCALL_STRING_KEY_) {
        memcpy(s->key + s->key_len, p, n);
        s->key_len = (uint8_t)(s->key_len + n);
    }
}

/* First or following byte of a multi-byte character. */
TCALL_SHARED_ bool tcall_utf8_step_(tcall_utf_ *u, unsigned char c)
{
    if (u->left) {
        if (c < u->low || c > u->high)
            return false;
        u->left--;
        u->low = 0x80;
        u->high = 0xBF;
        return true;
    }
    if (c < 0xC2 || c > 0xF4)
        return false;
    u->left = (uint8_t)(c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3);
    u->low = (uint8_t)(c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80);
    u->high = (uint8_t)(c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF);
    return true;
}

static bool tcall_is_plain_(char c)
{
    return (unsigned char)(c - 0x20) < 0x60 && c != '"' && c != '\\';
}

/* Skips plain ASCII string content: a word at a time while no byte of it is a
 * quote, a backslash, below 0x20 or above 0x7F, then what is left. */
TCALL_SHARED_ const char *tcall_plain_(const char *p, const char *end)
{
    const size_t ones = (size_t)-1 / 255;
    while ((size_t)(end - p) >= sizeof(size_t)) {
        size_t word, quotes, slashes, marks;
        memcpy(&word, p, sizeof word);
        quotes = word ^ ones * '"';
        slashes = word ^ ones * '\\';
        marks =
            ((word - ones * 0x20) | (quotes - ones) | (slashes - ones) | word) &
            ones * 0x80;
        /* A byte that is not plain has its mark set. A borrow can set that of
         * a byte above it as well, so the lowest mark is right. */
#if defined __GNUC__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (marks)
            return p + (__builtin_ctzll(marks) >> 3);
#endif
        if (marks)
            break;
        p += sizeof word;
    }
    while (p < end && tcall_is_plain_(*p))
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
        if (!s->utf.left)
            p = tcall_plain_(p, end);
        if (p == end || (*p == '"' && !s->utf.left))
            return p;
        c = (unsigned char)*p;
        if (c >= 0x80 ? !tcall_utf8_step_(&s->utf, c) : s->utf.left != 0)
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
        p = s->utf.left ? p : tcall_plain_(p, end);
        if (p < end && (*p != '\\' || s->utf.left)) /* mostly an escape */
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
    if (p < end && *p == '"' && s->string_mode == TCALL_STRING_KEY_ &&
        s->key_len == 0) {
        tcall_scan_token_end_(s, p, TCALL_NEEDS_DECODE_);
        tcall_scan_string_end_(s, from, run); /* a key in one piece */
        return p + 1;
    }
    tcall_scan_bytes_(s, from, run);
    if (p == end)
        return p;
    if (*p == '"') {
        tcall_scan_token_end_(s, p, TCALL_NEEDS_DECODE_);
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
    tcall_scan_token_end_(
        s, p, s->number > 6 || p - from > 300 ? TCALL_NEEDS_DECODE_ : 0);
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
    const char *q = *p == '"' ? tcall_scan_short_(s, p, end, key) : NULL;
    if (q)
        return q;
    if (key)
        tcall_scan_token_(s, p, true);
    else
        tcall_scan_begin_(s, p);
    if (*p == '"') {
        s->state = TCALL_S_STRING_;
        s->string_mode = !key                        ? TCALL_STRING_VALUE_
                         : s->at == TCALL_SCAN_NONE_ ? TCALL_STRING_SKIP_
                                                     : TCALL_STRING_KEY_;
        s->key_len = 0;
        return p + 1;
    }
    s->state = TCALL_S_NUMBER_;
    s->number = *p == '-' ? 2 : *p == '0' ? 3 : 4;
    if (!tcall_is_digit_(*p) && *p != '-') {
        s->state = TCALL_S_LITERAL_;
        s->number = 0;
        s->lit = tcall_literal_(*p);
        if (*p != *s->lit)
            s->error = *p ? TCALL_E_BAD_VALUE : TCALL_E_NUL;
    }
    return s->error ? p : tcall_scan_word_(s, p, p + (s->number != 0), end);
}

/* What stands at p outside of strings, numbers and literals. *raw: start of
 * what is still to be reported of a raw value. */
static inline const char *tcall_scan_mark_(tcall_scan *s, const char *p,
                                           const char *end, const char **raw)
{
    char c = *p;
    bool scalar = false;
    int error = TCALL_OK;
    if ((unsigned char)c <= ' ' && tcall_is_space_(c))
        return p + 1;
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
    if (scalar)
        return tcall_scan_value_(s, p, end,
                                 s->state == TCALL_S_KEY_ ||
                                     s->state == TCALL_S_FIRST_KEY_);
    if (!error)
        return p + 1;
    s->error = error;
    return p;
}

int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len)
{
    const char *p = bytes, *end = len ? bytes + len : bytes, *raw = bytes;
    while (p < end && !s->error) {
        if (s->state < TCALL_S_LITERAL_)
            p = tcall_scan_mark_(s, p, end, &raw);
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

/* TCALL_OK when the text is one JSON value. */
TCALL_SHARED_ int tcall_scan_text_(tcall_scan *s, tcall_str text)
{
    tcall_scan_init(s, NULL, NULL, NULL);
    tcall_scan_feed(s, text.ptr, text.len);
    return tcall_scan_end(s);
}

/* The same. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_scan_whole_(tcall_str text)
{
    tcall_scan scan;
    return tcall_scan_text_(&scan, text);
}

/* Makes a token of each value and key of a text, as many as fit, while it is
 * recognised; scan->tokens is how many there are. */
TCALL_SHARED_ int tcall_scan_tokenize_(tcall_scan *scan, tcall_str text,
                                       tcall_tok *tok, size_t cap)
{
    tcall_scan_init(scan, NULL, NULL, NULL);
    tcall_scan_tokens_(scan, text.ptr, tok, cap);
    tcall_scan_feed(scan, text.ptr, text.len);
    return tcall_scan_end(scan);
}

/* Returns the length of the escape at p in a string that the scanner accepted:
 * a pair of surrogates is one of 12 bytes. */
TCALL_SHARED_ size_t tcall_escape_len_(const char *p)
{
    if (p[1] != 'u')
        return 2;
    return (p[2] | 0x20) == 'd' && tcall_hex_(p[3]) >= 8 ? 12 : 6;
}

/* Four hex digits. */
static uint32_t tcall_unit_(const char *p)
{
    uint32_t unit = 0;
    int i;
    for (i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)tcall_hex_(p[i]);
    return unit;
}

/* Decodes the escapes of a string that the scanner accepted; new length. */
TCALL_SHARED_ size_t tcall_decode_(char *out, const char *p, const char *end)
{
    char *to = out;
    while (p < end) {
        const char *run = (const char *)memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((run ? run : end) - p);
        uint32_t cp;
        memmove(to, p, n);
        to += n;
        if (!run)
            break;
        p = run + 2;
        if (p[-1] != 'u') {
            *to++ = tcall_unescape_(p[-1]);
            continue;
        }
        cp = tcall_unit_(p);
        p += 4;
        if (cp >= 0xD800 && cp <= 0xDBFF) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + tcall_unit_(p + 2) - 0xDC00;
            p += 6;
        }
        to += tcall_utf8_(to, cp);
    }
    return (size_t)(to - out);
}

/* ==========================================================================
 * >>text: walking over JSON text
 *
 * The scanner has accepted it; of text that it has not seen these find
 * anything, but nothing behind its NUL.
 */

TCALL_SHARED_ const char *tcall_text_space_(const char *p)
{
    while (tcall_is_space_(*p))
        p++;
    return p;
}

/* To the next member or element, or to the bracket that closes. */
TCALL_SHARED_ const char *tcall_text_next_(const char *p)
{
    p = tcall_text_space_(p);
    return *p == ',' ? tcall_text_space_(p + 1) : p;
}

TCALL_SHARED_ bool tcall_text_closes_(const char *p)
{
    return (*p | 0x20) == '}' || !*p;
}

/* Behind the value that starts at p. */
TCALL_SHARED_ const char *tcall_text_skip_(const char *p)
{
    int depth = 0;
    do {
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++)
                p += *p == '\\' && p[1];
        } else if (*p == '{' || *p == '[') {
            depth++;
        } else if (tcall_text_closes_(p)) {
            depth--;
        } else if (!depth) {
            while (p[1] != ',' && !tcall_text_closes_(p + 1) &&
                   !tcall_is_space_(p[1]))
                p++;
        }
        p += *p != 0;
    } while (depth && *p);
    return p;
}

/* From a member's key to its value. */
TCALL_SHARED_ const char *tcall_text_value_(const char *key)
{
    key = tcall_text_space_(tcall_text_skip_(key));
    return tcall_text_space_(key + (*key == ':'));
}

TCALL_SHARED_ tcall_str tcall_text_verbatim_(const char *p)
{
    return tcall_slice_(p, (size_t)(tcall_text_skip_(p) - p));
}

/* The string at p without its quotes, escapes as they stand. */
TCALL_SHARED_ tcall_str tcall_text_inner_(const char *p)
{
    tcall_str s = tcall_text_verbatim_(p);
    return tcall_slice_(p + 1, s.len - 2);
}

/* Decodes what stands at *at in a JSON string, an escape or one byte, and moves
 * *at past it. Returns the number of bytes. */
TCALL_SHARED_ size_t tcall_text_char_(const char **at, char out[4])
{
    const char *from = *at;
    if (*from != '\\') {
        out[0] = *from;
        ++*at;
        return 1;
    }
    *at += tcall_escape_len_(from);
    return tcall_decode_(out, from, *at);
}

/* Returns whether the string that starts at the quote is equal to text. */
TCALL_SHARED_ bool tcall_text_same_(const char *quote, tcall_str text)
{
    const char *expected = text.ptr, *end = expected + text.len;
    for (quote++; *quote != '"';) {
        char bytes[4];
        size_t i, count = tcall_text_char_(&quote, bytes);
        for (i = 0; i < count; i++)
            if (expected == end || *expected++ != bytes[i])
                return false;
    }
    return expected == end;
}

/* Returns whether two JSON strings are equal, however they are escaped. */
TCALL_SHARED_ bool tcall_text_equal_(const char *a, const char *b)
{
    char left[4], right[4];
    size_t i = 0, left_len = 0, k = 0, right_len = 0;
    a++;
    b++;
    for (;; i++, k++) {
        if (i == left_len && *a != '"') {
            left_len = tcall_text_char_(&a, left);
            i = 0;
        }
        if (k == right_len && *b != '"') {
            right_len = tcall_text_char_(&b, right);
            k = 0;
        }
        if (i == left_len || k == right_len)
            return i == left_len && k == right_len;
        if (left[i] != right[k])
            return false;
    }
}

/* The member of what stands at p: its key; of an array the element whose index
 * the name is; NULL: none. */
TCALL_SHARED_ const char *tcall_text_member_(const char *p, tcall_str name)
{
    bool object = *p == '{';
    uint32_t index = 0;
    size_t i;
    if (!object && *p != '[')
        return NULL;
    for (i = 0; i < name.len && i < 6; i++)
        index = index * 10 + (uint32_t)(name.ptr[i] - '0');
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);
         p = tcall_text_next_(tcall_text_skip_(p))) {
        if (object ? tcall_text_same_(p, name) : !index--)
            return p;
        if (object)
            p = tcall_text_value_(p);
    }
    return NULL;
}

/* The value of a member, NULL: there is none, or p is no object. */
TCALL_SHARED_ const char *tcall_text_get_(const char *p, const char *name)
{
    p = p && *p == '{' ? tcall_text_member_(p, tcall_str_of(name)) : NULL;
    return p ? tcall_text_value_(p) : NULL;
}

/* The first element, NULL: there is none, or p is no array. */
TCALL_SHARED_ const char *tcall_text_first_(const char *p)
{
    p = p && *p == '[' ? tcall_text_next_(p + 1) : NULL;
    return p && *p != ']' ? p : NULL;
}

/* ---- JSON Pointer, RFC 6901 ---- */

/* Returns what a character of a name becomes in a pointer, or NULL where it
 * stays as it is. */
TCALL_SHARED_ const char *tcall_pointer_escape_(char c)
{
    return c == '~' ? "~0" : c == '/' ? "~1" : NULL;
}

/* Decodes one name of a pointer in place. Returns its new length, or -1 where
 * a ~ is followed by anything but 0 and 1. */
TCALL_SHARED_ int tcall_pointer_unescape_(char *name, int len)
{
    int from, to = 0;
    for (from = 0; from < len; from++) {
        char c = name[from];
        if (c == '~') {
            char which = ++from < len ? name[from] : (char)0;
            if (which != '0' && which != '1')
                return -1;
            c = which == '0' ? '~' : '/';
        }
        name[to++] = c;
    }
    return to;
}

/* ==========================================================================
 * >>json
 *
 * The scanner makes the tokens while it recognises the text. What is left to
 * do goes over the tokens once: strings are decoded where they lie, scalars
 * get a NUL behind them, keys that stand twice are found.
 */

TCALL_SHARED_ tcall_json tcall_json_none_(void)
{
    tcall_json v;
    v.text = NULL;
    v.tok = NULL;
    return v;
}

TCALL_SHARED_ tcall_json tcall_json_cursor_(const char *text,
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

TCALL_SHARED_ tcall_str tcall_tok_str_(const char *text, const tcall_tok *tok)
{
    return tcall_slice_(text + tok->start, (size_t)(tok->end - tok->start));
}

/* Larger or smaller numbers would be infinity or 0 to most readers. */
TCALL_SHARED_ bool tcall_num_in_range_(tcall_str text)
{
    tcall_num_ n = tcall_num_read_(text);
    return !n.sign || (n.top <= 308 && n.top >= -308);
}

/* Whether two keys, the first of len bytes, are the same. */
static inline bool tcall_json_same_(const char *text, const tcall_tok *key,
                                    int len, const tcall_tok *other)
{
    return len == other->end - other->start &&
           memcmp(text + key->start, text + other->start, (size_t)len) == 0;
}

/* The key that stands twice. The marks of the object's own tokens serve as the
 * hash table: there are at least twice as many of them as keys. Too many
 * collisions count as a duplicate: they do not come by chance. */
static tcall_tok *tcall_find_duplicate_key_hashed_(const char *text,
                                                   tcall_tok *object)
{
    tcall_tok *first = object + 1, *end = object + object->span, *key, *slot;
    int probes = 32;
    for (key = first; key < end; key += 1 + key[1].span) {
        int len = key->end - key->start;
        slot = first +
               tcall_hash_(tcall_tok_str_(text, key)) % (uint32_t)(end - first);
        for (probes += 8; slot->mark; probes--) {
            if (probes == 0 ||
                tcall_json_same_(text, key, len, object + slot->mark))
                return key;
            if (++slot == end)
                slot = first;
        }
        slot->mark = (int)(key - object);
    }
    for (slot = first; slot < end; slot++)
        slot->mark = 0;
    return NULL;
}

/* The same, faster, for few keys: each is held against those before it, unless
 * none of them is alike at first sight. */
static tcall_tok *tcall_find_duplicate_key_small_(const char *text,
                                                  tcall_tok *object)
{
    tcall_tok *end = object + object->span, *key, *other;
    uint32_t seen = 0;
    for (key = object + 1; key < end; key += 1 + key[1].span) {
        int len = key->end - key->start;
        const char *name = text + key->start;
        unsigned look = (unsigned)(len + name[0] + (len ? name[len - 1] : 0));
        for (other = object + 1; seen >> (look & 31) & 1 && other < key;
             other += 1 + other[1].span)
            if (tcall_json_same_(text, key, len, other))
                return key;
        seen |= (uint32_t)1 << (look & 31);
    }
    return NULL;
}

/* A scalar or a key that is not as plain as most. */
static int tcall_json_decode_(char *text, tcall_tok *t, bool refuse_nul)
{
    char *p = text + t->start;
    size_t len = (size_t)(t->end - t->start);
    if ((t->type & TCALL_TYPE_) == TCALL_NUMBER)
        return tcall_num_in_range_(tcall_slice_(p, len)) ? TCALL_OK
                                                         : TCALL_E_RANGE;
    len = tcall_decode_(p, p, p + len);
    t->end = t->start + (int)len;
    return refuse_nul && memchr(p, 0, len) ? TCALL_E_NUL : TCALL_OK;
}

/* The second half of parsing, when the scanner has made the tokens; from the
 * end, so that what is within an object comes first. *at: where an error
 * stands. */
TCALL_SHARED_ int tcall_json_finish_(char *text, tcall_tok *tok, int count,
                                     bool refuse_nul, size_t *at)
{
    tcall_tok *t = tok + count, *twice;
    int r = TCALL_OK;
    while (t > tok) {
        int type = (--t)->type & TCALL_TYPE_;
        if (type == TCALL_OBJECT && t->span > 3) {
            twice = t->span > 32 ? tcall_find_duplicate_key_hashed_(text, t)
                                 : tcall_find_duplicate_key_small_(text, t);
            if (twice) {
                t = twice;
                r = TCALL_E_DUPLICATE;
                break;
            }
        } else if (type < TCALL_ARRAY) {
            if (t->type & TCALL_NEEDS_DECODE_)
                r = tcall_json_decode_(text, t, refuse_nul);
            if (r < 0)
                break;
            text[t->end] = 0;
        }
    }
    if (r < 0)
        *at = (size_t)t->start;
    return r;
}

int tcall_json_parse(tcall_json *out, char *text, size_t len, tcall_tok *tok,
                     size_t cap, size_t *need)
{
    tcall_scan scan;
    size_t at;
    int r;
    *out = tcall_json_none_();
    r = tcall_scan_tokenize_(&scan, tcall_slice_(text, len), tok, cap);
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
    const tcall_tok *t = object.tok, *end;
    if (tcall_json_type(object) == TCALL_OBJECT)
        for (end = t + t->span, t++; t < end; t += 1 + t[1].span)
            if (tcall_str_eq(tcall_tok_str_(object.text, t), key))
                return tcall_json_cursor_(object.text, t + 1);
    return tcall_json_none_();
}

tcall_json tcall_json_get(tcall_json object, const char *key)
{
    return tcall_json_find_(object, tcall_str_of(key));
}

tcall_json tcall_json_at(tcall_json array, int index)
{
    const tcall_tok *t = array.tok, *end;
    if (tcall_json_type(array) == TCALL_ARRAY)
        for (end = t + t->span, t++; t < end; t += t->span)
            if (index-- == 0)
                return tcall_json_cursor_(array.text, t);
    return tcall_json_none_();
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
    if (!n.sign)
        return 0;
    p = n.first;
    for (digits = 0; digits < 19 && p <= n.last; digits++)
        out = out * 10 + tcall_num_digit_(&n, &p);
    for (scale = n.top - digits + 1; scale > 0; scale--)
        out *= 10;
    for (; scale < 0; scale++)
        out /= 10;
    return n.sign < 0 ? -out : out;
}

/* ==========================================================================
 * >>lenient
 *
 * Lenient reading has no grammar of its own: what it writes is fed to a
 * scanner, whose state says what must come next and which refuses whatever
 * would not be JSON. So what comes out is JSON, or it is an error.
 */

static const char *const tcall_fix_names_[] = {
#define TCALL_X_(name, text) text,
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
};

const char *tcall_fix_name(int i)
{
    return i >= 0 && i < TCALL_FIX_COUNT ? tcall_fix_names_[i] : NULL;
}

/* A text that is being read. */
typedef struct tcall_lenient_ {
    const char *start, *at, *end; /* the text, and how far it is read */
    int next;                     /* the byte that follows; -1: the end */
    bool inside; /* it is the inside of a string, and is written decoded */
    uint32_t fixes;
    int error;
    size_t where; /* offset of the error, else of the first fix */
    char *out;
    size_t cap, len; /* len counts what does not fit, too */
    tcall_scan scan; /* of what is written */
} tcall_lenient_;

static void tcall_lenient_open_(tcall_lenient_ *text, tcall_str bytes)
{
    text->start = bytes.ptr ? bytes.ptr : "";
    text->end = text->start + bytes.len;
    text->out = NULL;
    text->cap = text->len = 0;
    text->fixes = 0;
    text->where = 0;
    text->error = TCALL_OK;
}

/* Whether the scanner saw one whole object: the bit of the outermost level
 * stays when it is closed. */
static bool tcall_scan_is_object_(tcall_scan *scan)
{
    return tcall_scan_end(scan) == TCALL_OK && scan->open[0] & 1;
}

#ifndef TOOLCALL_NO_LENIENT

/* ---- errors and fixes: both are noted at the place that is read ---- */

/* The first error stays. */
static void tcall_lenient_fail_(tcall_lenient_ *text, int error)
{
    if (text->error)
        return;
    text->where = (size_t)(text->at - text->start);
    text->error = error;
}

static void tcall_lenient_fix_(tcall_lenient_ *text, uint32_t fix)
{
    if (!text->fixes && !text->error)
        text->where = (size_t)(text->at - text->start);
    text->fixes |= fix;
}

/* ---- writing ---- */

/* Writes JSON text, and feeds it to the scanner. The inside of a string need
 * not be JSON, which is known only at its end: that is no error here. */
static void tcall_lenient_put_(tcall_lenient_ *text, const char *bytes,
                               size_t len)
{
    size_t before = text->scan.pos;
    if (tcall_scan_feed(&text->scan, bytes, len) < 0 && !text->inside) {
        tcall_lenient_fail_(text, text->scan.error);
        if (bytes == text->at)
            text->where += text->scan.pos - before;
    }
    if (text->len + len <= text->cap)
        memcpy(text->out + text->len, bytes, len);
    text->len += len;
}

static void tcall_lenient_put_char_(tcall_lenient_ *text, char c)
{
    tcall_lenient_put_(text, &c, 1);
}

/* Writes the next len bytes of the text as they are. */
static void tcall_lenient_copy_(tcall_lenient_ *text, size_t len)
{
    tcall_lenient_put_(text, text->at, len);
    text->at += len;
}

/* ---- looking ahead ---- */

static bool tcall_lenient_sees_bytes_(const tcall_lenient_ *text,
                                      tcall_str bytes)
{
    return (size_t)(text->end - text->at) >= bytes.len &&
           memcmp(text->at, bytes.ptr, bytes.len) == 0;
}

static bool tcall_lenient_sees_(const tcall_lenient_ *text, const char *word)
{
    return tcall_lenient_sees_bytes_(text, tcall_str_of(word));
}

/* Returns the byte at an offset from here, 0 after the end. */
static char tcall_lenient_ahead_(const tcall_lenient_ *text, size_t offset)
{
    return (size_t)(text->end - text->at) > offset ? text->at[offset] : (char)0;
}

/* Whether one of the characters of set follows, or the end. */
static bool tcall_lenient_ends_(const tcall_lenient_ *text, const char *set)
{
    return text->next < 0 || (text->next && strchr(set, text->next));
}

static bool tcall_lenient_skip_(tcall_lenient_ *text, const char *word,
                                uint32_t fix)
{
    if (!tcall_lenient_sees_(text, word))
        return false;
    tcall_lenient_fix_(text, fix);
    text->at += strlen(word);
    return true;
}

/* Skips the first word of a list, which ends with NULL, that follows. */
static bool tcall_lenient_skip_any_(tcall_lenient_ *text,
                                    const char *const *words, uint32_t fix)
{
    for (; *words; words++)
        if (tcall_lenient_skip_(text, *words, fix))
            return true;
    return false;
}

/* ---- white space and comments ---- */

static const char *const tcall_lenient_spaces_[] = {
    "\xEF\xBB\xBF", /* byte order mark */
    "\xC2\xA0",     /* no-break space */
    "\xE2\x80\x80",
    "\xE2\x80\x81",
    "\xE2\x80\x82", /* quads to hair space */
    "\xE2\x80\x83",
    "\xE2\x80\x84",
    "\xE2\x80\x85",
    "\xE2\x80\x86",
    "\xE2\x80\x87",
    "\xE2\x80\x88",
    "\xE2\x80\x89",
    "\xE2\x80\x8A",
    "\xE2\x80\xA8",
    "\xE2\x80\xA9", /* line and paragraph separator */
    "\xE2\x80\xAF", /* narrow no-break space */
    "\xE2\x81\x9F", /* mathematical space */
    "\xE3\x80\x80", /* ideographic space */
    NULL};

/* Skips a comment up to its end, which the end of the text is for one that
 * lasts a line. */
static void tcall_lenient_comment_(tcall_lenient_ *text, const char *end)
{
    while (!tcall_lenient_skip_(text, end, 0)) {
        if (text->at == text->end) {
            if (*end == '*')
                tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
            return;
        }
        text->at++;
    }
}

/* Skips white space and comments, and looks at what follows. */
static void tcall_lenient_blank_(tcall_lenient_ *text)
{
    for (;;) {
        text->next = text->at == text->end ? -1 : (unsigned char)*text->at;
        if (text->next >= 0 && tcall_is_space_((char)text->next))
            text->at++;
        else if (tcall_lenient_skip_(text, "/*", TCALL_FIX_COMMENT))
            tcall_lenient_comment_(text, "*/");
        else if (tcall_lenient_skip_(text, "//", TCALL_FIX_COMMENT) ||
                 tcall_lenient_skip_(text, "#", TCALL_FIX_COMMENT))
            tcall_lenient_comment_(text, "\n");
        else if (text->next < 0x80 ||
                 !tcall_lenient_skip_any_(text, tcall_lenient_spaces_,
                                          TCALL_FIX_SPACE))
            return;
    }
}

/* ---- strings ---- */

/* Returns the quote that closes the one that follows, or NULL. */
static const char *tcall_lenient_quote_(const tcall_lenient_ *text)
{
    static const struct {
        const char *open, *close;
    } quotes[] = {{"\"", "\""},
                  {"'", "'"},
                  {"\xE2\x80\x9C", "\xE2\x80\x9D"},
                  {"\xE2\x80\x98", "\xE2\x80\x99"}};
    size_t i;
    for (i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (tcall_lenient_sees_(text, quotes[i].open))
            return quotes[i].close;
    return NULL;
}

/* Writes a byte that JSON wants escaped and that came without. */
static void tcall_lenient_escape_(tcall_lenient_ *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char c = *text->at, escape[6] = {'\\', 'u', '0', '0', '0', '0'};
    if (c != '"')
        tcall_lenient_fix_(text, TCALL_FIX_CONTROL);
    if (!c)
        tcall_lenient_fail_(text, TCALL_E_NUL);
    escape[4] = digits[c >> 4];
    escape[5] = digits[c & 15];
    if (text->inside)
        tcall_lenient_put_char_(text, c);
    else
        tcall_lenient_put_(text, escape, sizeof escape);
    text->at++;
}

/* Writes what a valid escape means; a pair of surrogates is two of them. */
static void tcall_lenient_decode_(tcall_lenient_ *text)
{
    const char *escape = text->at;
    char out[4];
    text->at += tcall_escape_len_(escape);
    tcall_lenient_put_(text, out, tcall_decode_(out, escape, text->at));
}

/* Returns the length of what can be copied at once: one byte or escape, and
 * after it all that is plain. */
static size_t tcall_lenient_plain_(const tcall_lenient_ *text, char quote)
{
    const char *at = text->at;
    at += *at == '\\' && at + 1 < text->end ? 2 : 1;
    while (at < text->end && *at != quote && *at != '"' && *at != '\\' &&
           (unsigned char)*at >= 0x20)
        at++;
    return (size_t)(at - text->at);
}

/* Reads the inside of a string up to its closing quote or the end. */
static void tcall_lenient_content_(tcall_lenient_ *text, const char *quote)
{
    while (text->at < text->end && !text->error &&
           !tcall_lenient_sees_(text, quote)) {
        if (tcall_lenient_sees_(text, "\\'")) {
            tcall_lenient_fix_(text, TCALL_FIX_APOSTROPHE);
            text->at++;
            tcall_lenient_copy_(text, 1);
        } else if (*text->at == '"' || (unsigned char)*text->at < 0x20) {
            tcall_lenient_escape_(text);
        } else if (text->inside && *text->at == '\\') {
            tcall_lenient_decode_(text);
        } else {
            tcall_lenient_copy_(text, tcall_lenient_plain_(text, *quote));
        }
    }
}

/* Reads a whole string, and looks at what follows it: only a comma, a colon, a
 * bracket or the end can. Anything else means that the quote did not close the
 * string. */
static void tcall_lenient_string_(tcall_lenient_ *text, const char *quote)
{
    const char *closed;
    if (*quote != '"')
        tcall_lenient_fix_(text, *quote == '\'' ? TCALL_FIX_SINGLE_QUOTE
                                                : TCALL_FIX_SMART_QUOTE);
    if (!text->inside)
        tcall_lenient_put_char_(text, '"');
    text->at += strlen(quote);
    tcall_lenient_content_(text, quote);
    closed = text->at;
    if (!tcall_lenient_skip_(text, quote, 0))
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
    if (!text->inside)
        tcall_lenient_put_char_(text, '"');
    tcall_lenient_blank_(text);
    if (!tcall_lenient_ends_(text, ",:]}") &&
        !(text->scan.depth == 0 && tcall_lenient_sees_(text, "```"))) {
        text->at = closed;
        tcall_lenient_fail_(text, TCALL_E_UNESCAPED_QUOTE);
    }
}

/* ---- numbers, words, keys ---- */

/* Writes the 0 that is missing before a point or after it, if it is, and
 * returns the state of the number. */
static uint8_t tcall_lenient_zero_(tcall_lenient_ *text, uint8_t state)
{
    char c = tcall_lenient_ahead_(text, 0);
    bool before = c == '.' && state < TCALL_N_ZERO_ &&
                  tcall_is_digit_(tcall_lenient_ahead_(text, 1));
    bool after = state == TCALL_N_POINT_ && !tcall_is_digit_(c);
    if (!before && !after)
        return state;
    tcall_lenient_fix_(text, TCALL_FIX_NUMBER);
    tcall_lenient_put_char_(text, '0');
    return before ? TCALL_N_ZERO_ : TCALL_N_FRACTION_;
}

/* Reads a number, in JSON's form or as +5, .5 or 5. write it. */
static void tcall_lenient_number_(tcall_lenient_ *text)
{
    const char *from = text->at, *to;
    uint8_t state = tcall_lenient_skip_(text, "+", TCALL_FIX_NUMBER)
                        ? TCALL_N_MINUS_
                        : TCALL_N_START_;
    for (;;) {
        uint8_t next;
        state = tcall_lenient_zero_(text, state);
        next = tcall_number_next_(state, tcall_lenient_ahead_(text, 0));
        if (!next)
            break;
        tcall_lenient_copy_(text, 1);
        state = next;
    }
    to = text->at;
    if (tcall_number_ends_(state)) {
        tcall_scan_feed(&text->scan, " ", 1);
        tcall_lenient_blank_(text);
        if (text->at > to || tcall_lenient_ends_(text, ",:]}/"))
            return;
    }
    text->at = from;
    tcall_lenient_fail_(text, TCALL_E_BAD_VALUE);
}

static bool tcall_lenient_alpha_(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool tcall_lenient_alnum_(char c)
{
    return tcall_lenient_alpha_(c) || tcall_is_digit_(c);
}

/* Whether a word can begin or go on here. Beyond ASCII most characters are
 * letters; what is left out are signs and spaces, by their first bytes. */
static bool tcall_lenient_letter_(const tcall_lenient_ *text)
{
    unsigned first = (unsigned char)tcall_lenient_ahead_(text, 0);
    unsigned second = (unsigned char)tcall_lenient_ahead_(text, 1);
    if (first < 0x80)
        return tcall_lenient_alnum_((char)first);
    return first >= 0xC3 && first < 0xEF && first != 0xE2 &&
           !(first == 0xE3 && second == 0x80) &&
           !(first == 0xE1 && second == 0xA0);
}

/* Reads true, false, null and what Python makes of them. null in place of all
 * arguments means that there are none. */
static void tcall_lenient_literal_(tcall_lenient_ *text)
{
    static const struct {
        const char *word, *json;
        uint32_t fix;
    } literals[] = {
        {"true", "true", 0},
        {"false", "false", 0},
        {"null", "null", 0},
        {"True", "true", TCALL_FIX_PYTHON},
        {"False", "false", TCALL_FIX_PYTHON},
        {"None", "null", TCALL_FIX_PYTHON},
    };
    const char *from = text->at, *json = NULL;
    size_t i;
    for (i = 0; !json && i < sizeof literals / sizeof *literals; i++)
        if (tcall_lenient_skip_(text, literals[i].word, literals[i].fix))
            json = literals[i].json;
    if (!json || tcall_lenient_letter_(text)) {
        text->at = from;
        tcall_lenient_fail_(text, TCALL_E_BARE_WORD);
        return;
    }
    if (*json == 'n' && text->scan.depth == 0) {
        tcall_lenient_fix_(text, TCALL_FIX_NULL);
        json = "{}";
    }
    tcall_lenient_put_(text, json, strlen(json));
}

/* Reads a key without quotes. */
static void tcall_lenient_key_(tcall_lenient_ *text)
{
    size_t len = 1;
    while (tcall_lenient_alnum_(tcall_lenient_ahead_(text, len)) ||
           tcall_lenient_ahead_(text, len) == '$')
        len++;
    tcall_lenient_fix_(text, TCALL_FIX_UNQUOTED_KEY);
    tcall_lenient_put_char_(text, '"');
    tcall_lenient_copy_(text, len);
    tcall_lenient_put_char_(text, '"');
}

/* Reads a comma, which is written only when no closing bracket follows it. */
static void tcall_lenient_comma_(tcall_lenient_ *text)
{
    text->at++;
    tcall_lenient_blank_(text);
    if (text->next == (text->scan.object ? '}' : ']'))
        tcall_lenient_fix_(text, TCALL_FIX_TRAILING_COMMA);
    else
        tcall_lenient_put_char_(text, ',');
}

/* ---- the value and what may be around it ---- */

/* Reads one piece of the value. What needs no rewriting is left to the scanner,
 * right or wrong. */
static void tcall_lenient_piece_(tcall_lenient_ *text)
{
    uint8_t state = text->scan.state;
    bool value = state == TCALL_S_VALUE_ || state == TCALL_S_FIRST_;
    bool key = state == TCALL_S_KEY_ || state == TCALL_S_FIRST_KEY_;
    const char *quote = tcall_lenient_quote_(text);
    if (text->next < 0)
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
    else if (quote)
        tcall_lenient_string_(text, quote);
    else if (value && !text->next)
        tcall_lenient_fail_(text, TCALL_E_BAD_VALUE);
    else if (value && strchr("+-.0123456789", text->next))
        tcall_lenient_number_(text);
    else if (value && tcall_lenient_letter_(text))
        tcall_lenient_literal_(text);
    else if (key &&
             (text->next == '$' || tcall_lenient_alpha_((char)text->next)))
        tcall_lenient_key_(text);
    else if (state == TCALL_S_NEXT_ && text->next == ',')
        tcall_lenient_comma_(text);
    else
        tcall_lenient_copy_(text, 1);
}

/* Skips a special token of a chat template, <|name|>. */
static bool tcall_lenient_token_(tcall_lenient_ *text)
{
    size_t len = 2;
    if (!tcall_lenient_sees_(text, "<|"))
        return false;
    while (tcall_lenient_alpha_(tcall_lenient_ahead_(text, len)))
        len++;
    if (len == 2 || tcall_lenient_ahead_(text, len) != '|' ||
        tcall_lenient_ahead_(text, len + 1) != '>')
        return false;
    tcall_lenient_fix_(text, TCALL_FIX_TAG);
    text->at += len + 2;
    return true;
}

/* Skips a tag that a chat template put around the call. */
static bool tcall_lenient_tag_(tcall_lenient_ *text)
{
    static const char *const tags[] = {"<tool_call>",
                                       "</tool_call>",
                                       "<function_call>",
                                       "</function_call>",
                                       "<s>",
                                       "</s>",
                                       NULL};
    return tcall_lenient_token_(text) ||
           tcall_lenient_skip_any_(text, tags, TCALL_FIX_TAG);
}

static bool tcall_lenient_fence_(tcall_lenient_ *text)
{
    return tcall_lenient_skip_(text, "```", TCALL_FIX_FENCE);
}

/* Skips what may come before the value: tags, and one fence with its
 * language. */
static void tcall_lenient_before_(tcall_lenient_ *text)
{
    do {
        tcall_lenient_blank_(text);
        if (!(text->fixes & TCALL_FIX_FENCE) && tcall_lenient_fence_(text)) {
            while (tcall_lenient_letter_(text))
                text->at++;
            tcall_lenient_blank_(text);
        }
    } while (tcall_lenient_tag_(text));
}

/* Skips what may come after the value: the same value again, brackets that
 * close nothing, a comma, tags and a fence. */
static void tcall_lenient_after_(tcall_lenient_ *text, tcall_str value)
{
    bool repeats = true; /* only directly after the value */
    for (;;) {
        tcall_lenient_blank_(text);
        if (text->next < 0)
            return;
        if (repeats && text->next == '{' &&
            tcall_lenient_sees_bytes_(text, value)) {
            tcall_lenient_fix_(text, TCALL_FIX_REPEATED);
            text->at += value.len;
        } else if (tcall_lenient_ends_(text, "]},")) {
            tcall_lenient_fix_(text, text->next == ','
                                         ? TCALL_FIX_PUNCTUATION
                                         : TCALL_FIX_EXTRA_CLOSER);
            text->at++;
            repeats = false;
        } else if (tcall_lenient_tag_(text)) {
            repeats = false;
        } else if (!tcall_lenient_fence_(text)) {
            break;
        }
    }
    tcall_lenient_fail_(
        text, repeats && (tcall_lenient_ends_(text, "{[-0123456789") ||
                          tcall_lenient_quote_(text))
                  ? TCALL_E_MULTIPLE
                  : TCALL_E_TRAILING);
}

/* Begins to write once more, from a place in the text. */
static void tcall_lenient_restart_(tcall_lenient_ *text, const char *from)
{
    text->at = from;
    text->len = 0;
    text->error = TCALL_OK;
    tcall_scan_init(&text->scan, NULL, NULL, NULL);
}

/* Writes the inside of the string at from, decoded. quote closes the string;
 * without one, all the rest of the text is the inside. */
static void tcall_lenient_inside_(tcall_lenient_ *text, const char *from,
                                  const char *quote)
{
    text->inside = true;
    tcall_lenient_restart_(text, from);
    if (quote)
        tcall_lenient_string_(text, quote);
    else
        tcall_lenient_content_(text, "\"");
    text->at = from;
}

/* Reads {\"a\":1}, an object with every quote escaped, as if inside a string.
 * It must be a valid inside as a whole, and an object; else the first error
 * stays. */
static void tcall_lenient_escaped_(tcall_lenient_ *text, const char *from)
{
    int error = text->error;
    size_t where = text->where;
    tcall_lenient_restart_(text, from);
    tcall_lenient_put_char_(text, '"');
    tcall_lenient_content_(text, "\"");
    tcall_lenient_put_char_(text, '"');
    if (!text->error && text->at == text->end &&
        tcall_scan_done_(&text->scan)) {
        tcall_lenient_inside_(text, from, NULL);
        if (tcall_scan_is_object_(&text->scan)) {
            tcall_lenient_fix_(text, TCALL_FIX_ESCAPED_OBJECT);
            return;
        }
    }
    text->error = error;
    text->where = where;
}

/* Reads the value and what is after it. A string is read again: its inside is
 * meant. */
static void tcall_lenient_value_(tcall_lenient_ *text)
{
    const char *from = text->at, *quote = tcall_lenient_quote_(text), *to;
    do {
        tcall_lenient_blank_(text);
        tcall_lenient_piece_(text);
        to = text->at;
    } while (!text->error && !tcall_scan_done_(&text->scan));
    if (text->error == TCALL_E_BAD_KEY && text->scan.tokens == 1 &&
        text->start[text->where] == '\\') {
        tcall_lenient_escaped_(text, from);
        return;
    }
    if (!text->error)
        tcall_lenient_after_(text, tcall_slice_(from, (size_t)(to - from)));
    if (!text->error && quote)
        tcall_lenient_inside_(text, from, quote);
    text->at = from;
    if (!text->error && !tcall_scan_is_object_(&text->scan))
        tcall_lenient_fail_(text, TCALL_E_NOT_OBJECT);
    else if (text->inside)
        tcall_lenient_fix_(text, TCALL_FIX_DOUBLE_ENCODED);
}

/* Reads the text: an error, or an object of text->len bytes is written. */
static void tcall_lenient_rewrite_(tcall_lenient_ *text)
{
    text->where = 0;
    text->fixes = 0;
    text->inside = false;
    tcall_lenient_restart_(text, text->start);
    tcall_lenient_before_(text);
    if (text->next >= 0 || text->fixes & ~(uint32_t)TCALL_FIX_SPACE) {
        tcall_lenient_value_(text);
    } else {
        tcall_lenient_fix_(text, TCALL_FIX_EMPTY);
        tcall_lenient_put_(text, "{}", 2);
    }
}

#else

/* What is wrong stays wrong. */
static void tcall_lenient_rewrite_(tcall_lenient_ *text)
{
    (void)text;
}

#endif /* TOOLCALL_NO_LENIENT */

/* ---- both readings ---- */

/* Finds out how many bytes and tokens the text makes. The tokens that fit are
 * made if the text is strictly valid. */
static int tcall_arguments_measure_(tcall_lenient_ *text, bool strict,
                                    tcall_tok *tok, size_t cap)
{
    tcall_str whole =
        tcall_slice_(text->start, (size_t)(text->end - text->start));
    int error = tcall_scan_tokenize_(&text->scan, whole, tok, cap);
    size_t where = text->scan.pos;
    text->len = whole.len;
    if (tcall_scan_is_object_(&text->scan))
        return TCALL_OK;
    if (error == TCALL_OK) {
        error = TCALL_E_NOT_OBJECT;
        where = 0;
    }
    text->error = error;
    text->where = where;
    tcall_lenient_rewrite_(text);
    if (!strict || text->error)
        return text->error;
    text->where = where;
    return error;
}

/* Writes the JSON text to out, after the tokens, and completes them. */
static int tcall_arguments_write_(tcall_lenient_ *text, char *out,
                                  tcall_tok *tok, size_t count)
{
    text->out = out;
    text->cap = text->len;
    if (text->fixes) {
        tcall_lenient_rewrite_(text);
        tcall_scan_tokenize_(&text->scan, tcall_slice_(out, text->len), tok,
                             count);
    } else {
        memcpy(out, text->start, text->len);
    }
    return tcall_json_finish_(out, tok, (int)count, true, &text->where);
}

int tcall_parse_arguments(tcall_arguments *out, tcall_str text, bool strict,
                          void *mem, size_t size)
{
    tcall_lenient_ reading;
    size_t skew = (size_t)(0 - (uintptr_t)mem) % sizeof(int), count;
    size_t cap = mem && size > skew ? (size - skew) / sizeof(tcall_tok) : 0;
    tcall_tok *tok = mem ? (tcall_tok *)(void *)((char *)mem + skew) : NULL;
    int error;
    memset(out, 0, sizeof *out);
    tcall_lenient_open_(&reading, text);
    error = tcall_arguments_measure_(&reading, strict, tok, cap);
    count = reading.scan.tokens;
    if (error == TCALL_OK &&
        (reading.len >= INT_MAX || count > INT_MAX / sizeof *tok))
        error = TCALL_E_LIMIT;
    if (error == TCALL_OK) {
        out->fixes = reading.fixes;
        out->used = skew + count * sizeof *tok + reading.len + 1;
        error = out->used > size ? TCALL_E_MEMORY : TCALL_OK;
    }
    if (error == TCALL_OK) {
        char *json = (char *)(tok + count);
        error = tcall_arguments_write_(&reading, json, tok, count);
        if (error == TCALL_OK)
            out->root = tcall_json_cursor_(json, tok);
    }
    out->at = reading.where;
    return error < 0 ? error : (int)count;
}

/* ==========================================================================
 * >>bind
 */

#ifndef TOOLCALL_NO_BIND

/* Arguments as a C struct. The functions that store a value are named by the
 * table only, so what no table uses is not linked. */

int tcall_field_string_(void *out, tcall_json v, const tcall_field *f)
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

int tcall_field_int64_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    return tcall_field_long_((int64_t *)out, v, 0, true);
}

int tcall_field_integer_(void *out, tcall_json v, const tcall_field *f)
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

int tcall_field_fixed_(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, f->decimals, false);
    if (n < LONG_MIN || n > LONG_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(long *)out = (long)n;
    return r;
}

int tcall_field_number_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(double *)out = tcall_json_double(v, 0);
    return TCALL_OK;
}

int tcall_field_boolean_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(bool *)out = tcall_json_bool(v, false);
    return TCALL_OK;
}

int tcall_field_choice_(void *out, tcall_json v, const tcall_field *f)
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

int tcall_field_json_(void *out, tcall_json v, const tcall_field *f)
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
TCALL_NOINLINE_ static void tcall_bind_name_(tcall_bind_ *b, const char *name)
{
    size_t i = strlen(name);
    while (i-- > 0) {
        const char *escape = tcall_pointer_escape_(name[i]);
        tcall_bind_put_(b, escape ? escape[1] : name[i]);
        if (escape)
            tcall_bind_put_(b, escape[0]);
    }
    tcall_bind_put_(b, '/');
}

TCALL_NOINLINE_ static void tcall_bind_index_(tcall_bind_ *b, int i)
{
    do {
        tcall_bind_put_(b, (char)('0' + i % 10));
        i /= 10;
    } while (i);
    tcall_bind_put_(b, '/');
}

/* The default: text as if the model had sent it. */
TCALL_NOINLINE_ static int tcall_bind_text_(char *at, const tcall_field *f)
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

#else

/* tcall_init refuses tools with fields, so that nothing is left to do. */
TCALL_SHARED_ int tcall_bind(void *out, tcall_json args,
                             const tcall_field *fields, char *path, size_t cap)
{
    (void)out;
    (void)args;
    (void)fields;
    (void)path;
    (void)cap;
    return TCALL_E_USAGE;
}

#endif /* TOOLCALL_NO_BIND */

/* ==========================================================================
 * >>write
 *
 * All bytes leave by tcall_write_out_. Above it are the escapes of strings,
 * above these the values, which put commas before themselves: the last byte
 * written tells whether one is due.
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

/* The first error stays. */
static int tcall_writer_fail_(tcall_writer *w, int error)
{
    if (!w->error)
        w->error = error;
    return w->error;
}

int tcall_writer_flush(tcall_writer *w)
{
    size_t sent = 0;
    while (w->sink && sent < w->fill && !w->error) {
        int taken = w->sink(w->user, w->buf + sent, w->fill - sent);
        if (taken > 0)
            sent += (size_t)taken;
        else
            tcall_writer_fail_(w, taken < 0 ? taken : TCALL_E_AGAIN);
    }
    if (sent)
        memmove(w->buf, w->buf + sent, w->fill -= sent);
    return w->error;
}

/* Puts as many bytes as fit into the buffer. Returns how many. */
static size_t tcall_write_fill_(tcall_writer *w, const char *bytes, size_t len)
{
    size_t room = w->cap - w->fill;
    if (room > len)
        room = len;
    if (room == 1) /* most calls; spares that of memcpy */
        w->buf[w->fill] = *bytes;
    else if (room)
        memcpy(w->buf + w->fill, bytes, room);
    w->fill += room;
    return room;
}

static void tcall_write_out_(tcall_writer *w, const char *bytes, size_t len)
{
    size_t skip = w->skip > w->len ? w->skip - w->len : 0;
    w->len += len;
    if (skip >= len)
        return;
    bytes += skip;
    len -= skip;
    while (!w->error) {
        size_t taken = tcall_write_fill_(w, bytes, len);
        bytes += taken;
        len -= taken;
        if (!len || (!w->sink && !w->buf)) /* the latter only counts */
            break;
        if (w->sink)
            tcall_writer_flush(w);
        else
            tcall_writer_fail_(w, TCALL_E_MEMORY);
    }
}

/* ---- escapes ---- */

/* Returns the length of the UTF-8 character at p, 0 where there is none. */
TCALL_SHARED_ size_t tcall_utf8_len_(const char *p, const char *end)
{
    tcall_utf_ state = {0, 0, 0};
    size_t len = 0;
    do {
        if (p + len == end || !tcall_utf8_step_(&state, (unsigned char)p[len]))
            return 0;
        len++;
    } while (state.left);
    return len;
}

/* Returns the end of the bytes from p on that need no escape. */
static const char *tcall_write_plain_end_(const char *p, const char *end)
{
    for (;;) {
        size_t len;
        p = tcall_plain_(p, end);
        len = p < end && *p & 0x80 ? tcall_utf8_len_(p, end) : 0;
        if (!len)
            return p;
        p += len;
    }
}

/* Makes the escape of a byte, 6 characters at most, and returns its length. A
 * byte that is not UTF-8 becomes U+FFFD. */
static size_t tcall_write_escape_(char *out, char c)
{
    static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    static const char digits[] = "0123456789abcdef";
    const char *which = c ? strchr(named, c) : NULL;
    if (which) {
        out[0] = '\\';
        out[1] = names[which - named];
        return 2;
    }
    memcpy(out, c & 0x80 ? "\\ufffd" : "\\u0000", 6);
    if (!(c & 0x80)) {
        out[4] = digits[c >> 4];
        out[5] = digits[c & 15];
    }
    return 6;
}

/* Writes the inside of a JSON string; twice: that of a string within one, where
 * the escapes are escaped once more. */
static void tcall_write_escaped_(tcall_writer *w, const char *bytes, size_t len,
                                 bool twice)
{
    const char *end = len ? bytes + len : bytes;
    while (bytes < end) {
        const char *stop = tcall_write_plain_end_(bytes, end);
        char escape[6];
        size_t size;
        tcall_write_out_(w, bytes, (size_t)(stop - bytes));
        if (stop == end)
            break;
        size = tcall_write_escape_(escape, *stop);
        if (twice) { /* its backslash, and the quote or backslash after it */
            bool both = escape[1] == '"' || escape[1] == '\\';
            tcall_write_out_(w, "\\\\", both ? 2 : 1);
        }
        tcall_write_out_(w, escape, size);
        bytes = stop + 1;
    }
}

int tcall_write_bytes(tcall_writer *w, const char *bytes, size_t len)
{
    if (len) {
        w->last = bytes[len - 1];
        if (w->quoted)
            tcall_write_escaped_(w, bytes, len, false);
        else
            tcall_write_out_(w, bytes, len);
    }
    return w->error;
}

int tcall_write_text(tcall_writer *w, const char *text)
{
    return tcall_write_bytes(w, text, strlen(text));
}

TCALL_SHARED_ int tcall_write_char_(tcall_writer *w, char c)
{
    return tcall_write_bytes(w, &c, 1);
}

/* ---- values ---- */

/* Writes the comma that is due before a value or key, if one is. */
TCALL_SHARED_ void tcall_write_comma_(tcall_writer *w)
{
    if (w->depth && w->last && w->last != '{' && w->last != '[' &&
        w->last != ':')
        tcall_write_char_(w, ',');
}

int tcall_write_open(tcall_writer *w, char bracket)
{
    tcall_write_comma_(w);
    w->depth++;
    return tcall_write_char_(w, bracket);
}

int tcall_write_close(tcall_writer *w, char bracket)
{
    w->depth--;
    return tcall_write_char_(w, bracket);
}

/* Writes the inside of a string. In quoted output its own escapes are escaped
 * once more. */
TCALL_SHARED_ void tcall_write_content_(tcall_writer *w, tcall_str text)
{
    tcall_write_escaped_(w, text.ptr, text.len, w->quoted);
}

int tcall_write_str(tcall_writer *w, tcall_str text)
{
    tcall_write_comma_(w);
    tcall_write_char_(w, '"');
    tcall_write_content_(w, text);
    return tcall_write_char_(w, '"');
}

int tcall_write_string(tcall_writer *w, const char *text)
{
    return tcall_write_str(w, tcall_str_of(text));
}

int tcall_write_key(tcall_writer *w, const char *key)
{
    tcall_write_string(w, key);
    return tcall_write_char_(w, ':');
}

/* Writes a member whose value is a string. */
TCALL_SHARED_ int tcall_write_member_(tcall_writer *w, const char *key,
                                      const char *text)
{
    tcall_write_key(w, key);
    return tcall_write_string(w, text);
}

int tcall_write_verbatim(tcall_writer *w, tcall_str json)
{
    tcall_write_comma_(w);
    return tcall_write_bytes(w, json.ptr, json.len);
}

/* Writes JSON that is given as a form, with ' for quotes, up to a % or the
 * end. */
TCALL_SHARED_ const char *tcall_write_plain_(tcall_writer *w, const char *form)
{
    for (; *form && *form != '%'; form++)
        tcall_write_char_(w, *form == '\'' ? '"' : *form);
    return form;
}

/* Writes such a form with the inside of a string in place of each %: first a,
 * then b. */
TCALL_SHARED_ void tcall_write_texts_(tcall_writer *w, const char *form,
                                      const char *a, const char *b)
{
    tcall_write_comma_(w);
    while (*(form = tcall_write_plain_(w, form))) {
        tcall_write_content_(w, tcall_str_of(a));
        a = b;
        form++;
    }
}

/* ---- numbers ---- */

/* Takes the last decimal digit off a number. Sixteen bits are divided at a
 * time, since a division of 64 bits is a large function on small machines. */
static char tcall_write_digit_(uint64_t *number)
{
    uint64_t quotient = 0;
    uint32_t rest = 0;
    int shift;
    for (shift = 48; shift >= 0; shift -= 16) {
        rest = rest << 16 | (uint32_t)(*number >> shift & 0xFFFF);
        quotient = quotient << 16 | rest / 10;
        rest %= 10;
    }
    *number = quotient;
    return (char)('0' + rest);
}

/* Writes number / 10^decimals from its last digit to its first. */
static int tcall_write_number_(tcall_writer *w, bool minus, uint64_t number,
                               int decimals)
{
    char out[48], *first = out + sizeof out;
    int digits = 0;
    do {
        if (digits && digits == decimals)
            *--first = '.';
        *--first = tcall_write_digit_(&number);
        digits++;
    } while ((number || digits <= decimals) && first > out + 2);
    if (minus)
        *--first = '-';
    return tcall_write_verbatim(
        w, tcall_slice_(first, (size_t)(out + sizeof out - first)));
}

int tcall_write_fixed(tcall_writer *w, int64_t value, int decimals)
{
    uint64_t number = (uint64_t)value;
    return tcall_write_number_(w, value < 0, value < 0 ? 0 - number : number,
                               decimals);
}

int tcall_write_int(tcall_writer *w, int64_t value)
{
    return tcall_write_fixed(w, value, 0);
}

int tcall_write_uint(tcall_writer *w, uint64_t value)
{
    return tcall_write_number_(w, false, value, 0);
}

/* ---- floating point ----
 *
 * The shortest digits that read back as the same number, by exact arithmetic
 * on large integers (the method of Steele and White): the number is
 * value / scale; every number nearer to it than low / scale below and
 * high / scale above reads back as the same.
 */

enum { TCALL_BIG_LIMBS_ = 36 }; /* 1,152 bits; the least double needs 1,086 */

typedef struct tcall_big_ {
    uint32_t limb[TCALL_BIG_LIMBS_]; /* the lowest first */
} tcall_big_;

typedef struct tcall_shortest_ {
    tcall_big_ value, scale, low, high;
    bool even; /* the bounds themselves read back as the same, too */
} tcall_shortest_;

/* Adds number * 2^shift. */
static void tcall_big_add_(tcall_big_ *big, uint64_t number, int shift)
{
    int i = shift / 32;
    uint64_t carry = 0;
    for (; i < TCALL_BIG_LIMBS_ && (number || carry); i++) {
        carry += big->limb[i];
        carry += (number << shift % 32) & 0xFFFFFFFFu;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
        number >>= 32 - shift % 32;
        shift = 0;
    }
}

static void tcall_big_multiply_(tcall_big_ *big, uint32_t factor)
{
    uint64_t carry = 0;
    int i;
    for (i = 0; i < TCALL_BIG_LIMBS_; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Adds or, with sign -1, takes away. */
static void tcall_big_combine_(tcall_big_ *big, const tcall_big_ *other,
                               int sign)
{
    int64_t carry = 0;
    int i;
    for (i = 0; i < TCALL_BIG_LIMBS_; i++) {
        carry += big->limb[i];
        carry += sign * (int64_t)other->limb[i];
        big->limb[i] = (uint32_t)(carry & 0xFFFFFFFF);
        carry = carry < 0 ? -1 : carry >> 32;
    }
}

/* Returns < 0, 0 or > 0. */
static int tcall_big_compare_(const tcall_big_ *a, const tcall_big_ *b)
{
    int i = TCALL_BIG_LIMBS_ - 1;
    while (i > 0 && a->limb[i] == b->limb[i])
        i--;
    return a->limb[i] < b->limb[i] ? -1 : a->limb[i] > b->limb[i];
}

/* Sets all four for fraction * 2^exponent. */
static void tcall_shortest_set_(tcall_shortest_ *s, uint64_t fraction,
                                int exponent)
{
    /* just above a power of two the next lower number is half as far away */
    bool uneven = fraction == (uint64_t)1 << (DBL_MANT_DIG - 1) &&
                  exponent > DBL_MIN_EXP - DBL_MANT_DIG;
    int up = exponent > 0 ? exponent : 0, down = up - exponent;
    memset(s, 0, sizeof *s);
    s->even = !(fraction & 1);
    tcall_big_add_(&s->value, fraction, up + 1 + uneven);
    tcall_big_add_(&s->scale, 1, down + 1 + uneven);
    tcall_big_add_(&s->low, 1, up);
    tcall_big_add_(&s->high, 1, up + uneven);
}

static void tcall_shortest_times_ten_(tcall_shortest_ *s)
{
    tcall_big_multiply_(&s->value, 10);
    tcall_big_multiply_(&s->low, 10);
    tcall_big_multiply_(&s->high, 10);
}

/* Whether what is left is so close to the next higher digit that this one
 * reads back as the same number. */
static bool tcall_shortest_reaches_(const tcall_shortest_ *s)
{
    tcall_big_ sum = s->value;
    int order;
    tcall_big_combine_(&sum, &s->high, 1);
    order = tcall_big_compare_(&sum, &s->scale);
    return order > 0 || (order == 0 && s->even);
}

/* Scales so that the number is 0.d... * 10^point; returns point. */
static int tcall_shortest_scale_(tcall_shortest_ *s)
{
    int point = 0;
    while (tcall_shortest_reaches_(s)) {
        tcall_big_multiply_(&s->scale, 10);
        point++;
    }
    for (;;) {
        tcall_shortest_times_ten_(s);
        if (tcall_shortest_reaches_(s))
            return point;
        point--;
    }
}

/* Writes the digits, 17 at most, and returns how many they are. */
static int tcall_shortest_digits_(tcall_shortest_ *s, char *digits)
{
    int count = 0;
    for (;; tcall_shortest_times_ten_(s)) {
        int order, digit = 0;
        bool low, high;
        for (; tcall_big_compare_(&s->value, &s->scale) >= 0; digit++)
            tcall_big_combine_(&s->value, &s->scale, -1);
        order = tcall_big_compare_(&s->value, &s->low);
        low = order < 0 || (order == 0 && s->even);
        high = tcall_shortest_reaches_(s);
        if (low && high) { /* both do: the nearer one */
            tcall_big_multiply_(&s->value, 2);
            low = tcall_big_compare_(&s->value, &s->scale) < 0;
        }
        digits[count++] = (char)('0' + digit + (high && !low));
        if (low || high)
            return count;
    }
}

/* Writes out 0.digits * 10^point without an exponent. Returns the end. */
static char *tcall_place_digits_(char *to, const char *digits, int count,
                                 int point)
{
    int i = point < 1 ? point - 1 : 0, end = count > point ? count : point;
    for (; i < end; i++) {
        if (i == point)
            *to++ = '.';
        *to++ = i >= 0 && i < count ? digits[i] : '0';
    }
    return to;
}

static char *tcall_place_exponent_(char *to, int exponent)
{
    int left = exponent < 0 ? -exponent : exponent;
    *to++ = 'e';
    if (exponent < 0)
        *to++ = '-';
    if (left >= 100)
        *to++ = (char)('0' + left / 100);
    if (left >= 10)
        *to++ = (char)('0' + left / 10 % 10);
    *to++ = (char)('0' + left % 10);
    return to;
}

/* A positive number. Returns the end of its text. */
static char *tcall_place_double_(char *to, double value)
{
    const double least = (double)((uint64_t)1 << (DBL_MANT_DIG - 1));
    tcall_shortest_ shortest;
    char digits[24];
    int exponent = 0, point, count;
    for (; value >= least * 2; exponent++)
        value /= 2;
    for (; value < least && exponent > DBL_MIN_EXP - DBL_MANT_DIG; exponent--)
        value *= 2;
    tcall_shortest_set_(&shortest, (uint64_t)value, exponent);
    point = tcall_shortest_scale_(&shortest);
    count = tcall_shortest_digits_(&shortest, digits);
    if (point >= -3 && point <= 17) /* where %.17g writes no exponent */
        return tcall_place_digits_(to, digits, count, point);
    to = tcall_place_digits_(to, digits, count, 1);
    return tcall_place_exponent_(to, point - 1);
}

int tcall_write_double(tcall_writer *w, double value)
{
    char out[40], *to = out;
    if (value - value != 0) /* an infinity, or not a number */
        return tcall_writer_fail_(w, TCALL_E_RANGE);
    if (value < 0 || (value == 0 && 1 / value < 0)) {
        *to++ = '-';
        value = -value;
    }
    if (value == 0)
        *to++ = '0';
    else
        to = tcall_place_double_(to, value);
    return tcall_write_verbatim(w, tcall_slice_(out, (size_t)(to - out)));
}

/* ---- literals and quotes ---- */

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
    tcall_write_char_(w, '"');
    w->quoted = 1;
    w->last = 0;
    return w->error;
}

int tcall_write_unquote(tcall_writer *w)
{
    w->quoted = 0;
    return tcall_write_char_(w, '"');
}

/* ---- parsed values ---- */

/* What checking with coercion decided about a value (tcall_tok.mark). */
enum {
    TCALL_MARK_NONE_,
    TCALL_MARK_DROP_,   /* null for an optional member: leave it out */
    TCALL_MARK_JSON_,   /* a string whose content is the JSON that was meant */
    TCALL_MARK_LITERAL_ /* the string "True" or "False": a boolean */
};

/* Writes a scalar or a key as JSON text. */
TCALL_SHARED_ void tcall_write_scalar_(tcall_writer *w, const char *text,
                                       const tcall_tok *tok)
{
    tcall_str bytes = tcall_tok_str_(text, tok);
    bool string = (tok->type & TCALL_TYPE_) == TCALL_STRING;
    if (tok->mark == TCALL_MARK_LITERAL_)
        tcall_write_bool(w, *bytes.ptr == 'T');
    else if (string && tok->mark != TCALL_MARK_JSON_)
        tcall_write_str(w, bytes);
    else
        tcall_write_verbatim(w, bytes);
}

/* Writes a token, a container up to its opening bracket. Returns whether values
 * inside it follow. */
static bool tcall_write_token_(tcall_writer *w, const char *text,
                               const tcall_tok *tok)
{
    bool object = (tok->type & TCALL_TYPE_) == TCALL_OBJECT;
    if ((tok->type & TCALL_TYPE_) < TCALL_ARRAY) {
        tcall_write_scalar_(w, text, tok);
        return false;
    }
    tcall_write_open(w, object ? '{' : '[');
    if (tok->span > 1)
        return true;
    tcall_write_close(w, object ? '}' : ']');
    return false;
}

/* There is no recursion: the last value of a container closes it, and then
 * perhaps the one around it, of which open has the flags. */
int tcall_write_json(tcall_writer *w, tcall_json value)
{
    uint8_t open[TOOLCALL_MAX_DEPTH];
    const tcall_tok *tok = value.tok;
    int depth = 0, flags;
    if (!tok)
        return tcall_write_null(w);
    for (;; tok++) {
        if (tok->type & TCALL_KEY_ && tok[1].mark == TCALL_MARK_DROP_) {
            tok++;
        } else if (tok->type & TCALL_KEY_) {
            tcall_write_scalar_(w, value.text, tok);
            tcall_write_char_(w, ':');
            continue;
        } else if (tcall_write_token_(w, value.text, tok)) {
            open[depth++] = (uint8_t)tok->type;
            continue;
        }
        for (flags = tok->type; depth && flags & TCALL_LAST_;
             flags = open[--depth])
            tcall_write_close(w, flags & TCALL_MEMBER_ ? '}' : ']');
        if (!depth)
            return w->error;
    }
}

/* ==========================================================================
 * >>schema: schemas become programs
 *
 * The program is the schema's outline in preorder: one node for each schema
 * and one for each keyword, nothing for lists and maps. The node of a schema
 * says what it is for (one of properties, one of anyOf, items ...) and how many
 * nodes are within, so that stepping over it is one addition. Names, bounds and
 * enums are compared where they stand, in the text.
 */

/* What a keyword applies its schemas to. */
enum {
    TCALL_TO_VALUE_,    /* the value itself */
    TCALL_TO_PRESENT_,  /* the value itself, if it has the named member */
    TCALL_TO_MEMBERS_,  /* members of an object, or their names */
    TCALL_TO_ELEMENTS_, /* elements of an array */
    TCALL_TO_NOTHING_,  /* schemas that others refer to */
    TCALL_ASSERTS_      /* it has no schemas, it is true or false */
};

/* Which side of its number a keyword accepts. */
enum { TCALL_NO_BOUND_, TCALL_AT_LEAST_, TCALL_AT_MOST_ };

/* Sets of drafts, one bit for each tcall_draft: all; 2020-12; all others; from
 * 2019-09 on. */
enum {
    TCALL_IN_ALL_ = 0x1F,
    TCALL_IN_NEW_ = 0x01,
    TCALL_IN_OLD_ = 0x1E,
    TCALL_IN_LATE_ = 0x03
};

/* X(op, keyword, how its value begins, drafts, what it applies to, the type of
 * value it looks at (MISSING: any), its bound). How it begins: s: a schema,
 * *: anything, !: it is refused. */
#define TCALL_KEYWORDS_(X)                                                    \
    X(ANYOF, "anyOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(ONEOF, "oneOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(IF, "if", 's', ALL, TO_VALUE, MISSING, NO_BOUND)                        \
    X(ALLOF, "allOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(NOT, "not", 's', ALL, TO_VALUE, MISSING, NO_BOUND)                      \
    X(REF, "$ref", '"', ALL, TO_VALUE, MISSING, NO_BOUND)                     \
    X(DEPENDENCIES, "dependencies", '{', ALL, TO_PRESENT, OBJECT, NO_BOUND)   \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", '{', LATE, TO_PRESENT, OBJECT,   \
      NO_BOUND)                                                               \
    X(DEPENDENT_REQUIRED, "dependentRequired", '{', LATE, TO_PRESENT, OBJECT, \
      NO_BOUND)                                                               \
    X(PROPERTIES, "properties", '{', ALL, TO_MEMBERS, OBJECT, NO_BOUND)       \
    X(PATTERNS, "patternProperties", '{', ALL, TO_MEMBERS, OBJECT, NO_BOUND)  \
    X(ADDITIONAL, "additionalProperties", 's', ALL, TO_MEMBERS, OBJECT,       \
      NO_BOUND)                                                               \
    X(NAMES, "propertyNames", 's', ALL, TO_MEMBERS, OBJECT, NO_BOUND)         \
    X(PREFIX, "prefixItems", '[', NEW, TO_ELEMENTS, ARRAY, NO_BOUND)          \
    X(REST, "items", 's', ALL, TO_ELEMENTS, ARRAY, NO_BOUND)                  \
    X(EXTRA, "additionalItems", 's', OLD, TO_ELEMENTS, ARRAY, NO_BOUND)       \
    X(CONTAINS, "contains", 's', ALL, TO_ELEMENTS, ARRAY, NO_BOUND)           \
    X(THEN, "then", 's', ALL, TO_NOTHING, MISSING, NO_BOUND)                  \
    X(ELSE, "else", 's', ALL, TO_NOTHING, MISSING, NO_BOUND)                  \
    X(DEFS, "$defs", '{', ALL, TO_NOTHING, MISSING, NO_BOUND)                 \
    X(DEFINITIONS, "definitions", '{', ALL, TO_NOTHING, MISSING, NO_BOUND)    \
    X(PATTERN, "pattern", '"', ALL, ASSERTS, STRING, NO_BOUND)                \
    X(CONST, "const", '*', ALL, ASSERTS, MISSING, NO_BOUND)                   \
    X(ENUM, "enum", '[', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(REQUIRED, "required", '[', ALL, ASSERTS, OBJECT, NO_BOUND)              \
    X(MULTIPLE, "multipleOf", '0', ALL, ASSERTS, NUMBER, NO_BOUND)            \
    X(MINIMUM, "minimum", '0', ALL, ASSERTS, NUMBER, AT_LEAST)                \
    X(MAXIMUM, "maximum", '0', ALL, ASSERTS, NUMBER, AT_MOST)                 \
    X(ABOVE, "exclusiveMinimum", '0', ALL, ASSERTS, NUMBER, AT_LEAST)         \
    X(BELOW, "exclusiveMaximum", '0', ALL, ASSERTS, NUMBER, AT_MOST)          \
    X(MIN_LENGTH, "minLength", '0', ALL, ASSERTS, STRING, AT_LEAST)           \
    X(MAX_LENGTH, "maxLength", '0', ALL, ASSERTS, STRING, AT_MOST)            \
    X(MIN_ITEMS, "minItems", '0', ALL, ASSERTS, ARRAY, AT_LEAST)              \
    X(MAX_ITEMS, "maxItems", '0', ALL, ASSERTS, ARRAY, AT_MOST)               \
    X(MIN_PROPERTIES, "minProperties", '0', ALL, ASSERTS, OBJECT, AT_LEAST)   \
    X(MAX_PROPERTIES, "maxProperties", '0', ALL, ASSERTS, OBJECT, AT_MOST)    \
    X(MIN_CONTAINS, "minContains", '0', LATE, ASSERTS, MISSING, AT_LEAST)     \
    X(MAX_CONTAINS, "maxContains", '0', LATE, ASSERTS, MISSING, AT_MOST)      \
    X(UNIQUE, "uniqueItems", 't', ALL, ASSERTS, ARRAY, NO_BOUND)              \
    X(TYPE, "type", '*', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(DRAFT, "$schema", '"', ALL, ASSERTS, MISSING, NO_BOUND)                 \
    X(ID, "$id", '*', ALL, ASSERTS, MISSING, NO_BOUND)                        \
    X(OLD_ID, "id", '*', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(DYNAMIC_REF, "$dynamicRef", '!', ALL, ASSERTS, MISSING, NO_BOUND)       \
    X(RECURSIVE_REF, "$recursiveRef", '!', ALL, ASSERTS, MISSING, NO_BOUND)   \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", '!', ALL, ASSERTS,     \
      MISSING, NO_BOUND)                                                      \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", '!', ALL, ASSERTS, MISSING,      \
      NO_BOUND)

enum {
#define TCALL_X_(op, name, begins, drafts, applies, type, bound) \
    TCALL_K_##op##_,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        TCALL_K_COUNT_,                     /* of keywords; other nodes: */
    TCALL_K_NAME_PATTERN_ = TCALL_K_COUNT_, /* of one of patternProperties */
    TCALL_K_INDEX_,                         /* a hash table of names */
    TCALL_K_SLOT_,
    TCALL_K_ATOM_, /* the steps of a pattern */
    TCALL_K_ASSERT_,
    TCALL_K_FORK_,
    TCALL_K_JUMP_
};

typedef struct tcall_keyword_ {
    const char *name;
    char begins;
    uint8_t drafts, applies, type, bound;
} tcall_keyword_;

static const tcall_keyword_ tcall_keywords_[] = {
#define TCALL_X_(op, name, begins, drafts, applies, type, bound)              \
    {name,         begins,          TCALL_IN_##drafts##_, TCALL_##applies##_, \
     TCALL_##type, TCALL_##bound##_},
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        {"pattern", '"', 0, TCALL_ASSERTS_, TCALL_MISSING, TCALL_NO_BOUND_},
    {"properties", '{', 0, TCALL_TO_MEMBERS_, TCALL_OBJECT, TCALL_NO_BOUND_}};

/* The types in the order of tcall_type, and integer. */
static const char *const tcall_type_names_[] = {
    "null", "boolean", "number", "string", "array", "object", "integer"};

static const struct {
    const char *uri;
    uint8_t draft;
} tcall_dialects_[] = {
    {"https://json-schema.org/draft/2020-12/schema", TCALL_DRAFT_2020},
    {"https://json-schema.org/draft/2019-09/schema", TCALL_DRAFT_2019},
    {"http://json-schema.org/draft-07/schema", TCALL_DRAFT_7},
    {"http://json-schema.org/draft-06/schema", TCALL_DRAFT_6},
    {"http://json-schema.org/draft-04/schema", TCALL_DRAFT_4}};

/* In arg of a node that has a span: the span; the length of its name when that
 * is short and plain; its types, one bit each in the order of tcall_type,
 * integer last; for one of properties: whether it is required. */
#define TCALL_SPAN_      0xFFFFFu
#define TCALL_LENGTH_    20
#define TCALL_TYPES_     24
#define TCALL_TYPES_ANY_ 0x7F000000u
#define TCALL_ANY_       0x3F000000u
#define TCALL_INTEGER_   0x40u
#define TCALL_MARKED_    0x80000000u
#define TCALL_NEVER_     0xFFFFFFFFu

/* The op of a keyword, TCALL_K_COUNT_: it is none. */
static int tcall_keyword_of_(tcall_str word)
{
    int op = 0;
    while (op < TCALL_K_COUNT_ &&
           !tcall_str_eq(tcall_str_of(tcall_keywords_[op].name), word))
        op++;
    return op;
}

/* The bit of a type in a schema's node, 0: there is no such type. */
static uint32_t tcall_type_bit_(tcall_str word)
{
    uint32_t i;
    for (i = 0; i < sizeof tcall_type_names_ / sizeof *tcall_type_names_; i++)
        if (tcall_str_eq(tcall_str_of(tcall_type_names_[i]), word))
            return 1u << (TCALL_TYPES_ + i);
    return 0;
}

/* In word: the op, whether arg is a span, and where in the schema's text it
 * comes from. */
#define TCALL_SPANS_ 0x80
#define TCALL_AT_    8

static int tcall_node_op_(const tcall_node_ *node)
{
    return (int)(node->word & 0x7F);
}

/* Where in the schema's text it comes from: the name in front of a member of a
 * map, else the value. */
static const char *tcall_node_at_(const tcall_schema *s, uint32_t node)
{
    return s->text + (s->program[node].word >> TCALL_AT_);
}

/* Its value: no schema is a string. */
static const char *tcall_node_value_(const tcall_schema *s, uint32_t node)
{
    const char *at = tcall_node_at_(s, node);
    return *at == '"' ? tcall_text_value_(at) : at;
}

/* The node after this one and all that belongs to it. */
static uint32_t tcall_node_after_(const tcall_node_ *program, uint32_t i)
{
    return i +
           (program[i].word & TCALL_SPANS_ ? program[i].arg & TCALL_SPAN_ : 1);
}

/* The first child with this op, 0: none. (No child can be node 0.) */
static uint32_t tcall_node_child_(const tcall_node_ *program, uint32_t i,
                                  uint32_t end, int op)
{
    for (i++; i < end; i = tcall_node_after_(program, i))
        if (tcall_node_op_(&program[i]) == op)
            return i;
    return 0;
}

/* -- Names ---------------------------------------------------------------- */

/* Whether the member of a map at a node has this name. */
static inline bool tcall_node_named_(const tcall_schema *s, uint32_t node,
                                     tcall_str name)
{
    const char *quote = tcall_node_at_(s, node);
    uint32_t len = s->program[node].arg >> TCALL_LENGTH_ & 15;
    return len ? len == name.len && memcmp(quote + 1, name.ptr, len) == 0
               : tcall_text_same_(quote, name);
}

/* properties, $defs and definitions of more than a few members have a hash
 * table in front of their nodes: a header and one node for each slot, whose arg
 * says how far after the header the node of a member is, 0: free. Names that
 * hash alike are compared: it decides nothing but time. */
static uint32_t tcall_node_slot_(const tcall_node_ *program, uint32_t index,
                                 uint32_t hash)
{
    return index + 1 + hash % ((program[index].arg & TCALL_SPAN_) - 1);
}

static uint32_t tcall_node_slot_after_(const tcall_node_ *program,
                                       uint32_t index, uint32_t slot)
{
    return slot + 1 < tcall_node_after_(program, index) ? slot + 1 : index + 1;
}

/* The first node of a keyword's map, which is its index if it has one; 0: the
 * schema does not have the keyword. */
static uint32_t tcall_node_map_(const tcall_node_ *program, uint32_t schema,
                                uint32_t end, int op)
{
    uint32_t i = schema + 1, next;
    for (; i < end; i = next) {
        next = tcall_node_after_(program, i);
        if (tcall_node_op_(&program[i]) == op ||
            (tcall_node_op_(&program[i]) == TCALL_K_INDEX_ &&
             tcall_node_op_(&program[next]) == op))
            return i;
    }
    return 0;
}

/* The member of such a map with this name, 0: none. */
static uint32_t tcall_node_find_(const tcall_schema *s, uint32_t map,
                                 uint32_t end, tcall_str name, int32_t *steps)
{
    const tcall_node_ *program = s->program;
    int op = tcall_node_op_(&program[map]);
    uint32_t member = map, slot;
    if (op == TCALL_K_INDEX_) {
        slot = tcall_node_slot_(program, map, tcall_hash_(name));
        for (; program[slot].arg && --*steps >= 0;
             slot = tcall_node_slot_after_(program, map, slot))
            if (tcall_node_named_(s, map + program[slot].arg, name))
                return map + program[slot].arg;
        return 0;
    }
    for (; member < end && tcall_node_op_(&program[member]) == op;
         member = tcall_node_after_(program, member))
        if (--*steps >= 0 && tcall_node_named_(s, member, name))
            return member;
    return 0;
}

/* -- Patterns ------------------------------------------------------------- */

/* One node for an atom with its count, one for a fork, a jump and an assertion.
 * While matching, each has a byte that says whether it is active; an atom that
 * repeats has one for each count. So a character costs time proportional to the
 * size of the pattern, whatever the pattern is, and nothing ever backs up. */
#ifndef TOOLCALL_NO_PATTERN

#define TCALL_COUNT_MAX_ 1000

/* What an escape was, when it was not one character. */
enum { TCALL_C_BAD_ = -1, TCALL_C_OUT_ = -2, TCALL_C_IN_ = -3 };

/* \d, \w, \s and what ends a line, as ranges. */
static const uint16_t tcall_re_sets_[] = {
    '0',    '9',    0,      '0',    '9',    'A',    'Z',    '_',
    '_',    'a',    'z',    0,      9,      13,     ' ',    ' ',
    0xA0,   0xA0,   0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029,
    0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF,
    0,      '\n',   '\n',   '\r',   '\r',   0x2028, 0x2029, 0};

static bool tcall_re_in_(int set, int32_t c)
{
    const uint16_t *p = tcall_re_sets_;
    while (set)
        set -= !*p++;
    for (; *p; p += 2)
        if (c >= p[0] && c <= p[1])
            return true;
    return false;
}

/* The next character of a pattern, -1 at its end and where it has an escape of
 * JSON that does not stand for itself. */
static int32_t tcall_re_char_(const char **at)
{
    if (**at == '"' || (**at == '\\' && !strchr("\\\"/", *++*at)))
        return -1;
    return tcall_utf8_next_(at);
}

/* Behind the backslash: the character it means, or for a class whether ch is
 * in it, or TCALL_C_BAD_. */
static int32_t tcall_re_escape_(const char **at, int32_t ch)
{
    int32_t c = tcall_re_char_(at), v = 0;
    int set = (c | 0x20) == 'd' ? 0 : (c | 0x20) == 'w' ? 1 : 2, digits;
    if (c >= 0x80 || !tcall_re_in_(1, c))
        return c; /* or the end, which is as bad */
    if (set < 2 || (c | 0x20) == 's')
        return tcall_re_in_(set, ch) == (c >= 'a') ? TCALL_C_IN_ : TCALL_C_OUT_;
    if (c != 'x' && c != 'u') {
        v = c == 'b' ? 0 : tcall_unescape_((char)c);
        return v ? v : (int32_t)TCALL_C_BAD_;
    }
    for (digits = c == 'x' ? 2 : 4; digits; digits--) {
        int h = tcall_hex_((char)tcall_re_char_(at));
        if (h < 0)
            return TCALL_C_BAD_;
        v = v << 4 | h;
    }
    return v >> 11 == 0x1B ? (int32_t)TCALL_C_BAD_ : v;
}

/* A member of a [...]: as tcall_re_escape_. */
static int32_t tcall_re_member_(const char **at, int32_t ch)
{
    int32_t c = tcall_re_char_(at);
    return c == '\\' ? tcall_re_escape_(at, ch) : c;
}

/* Behind '[': 1 when ch is in, 0 when not, -1 when it is malformed. */
static int tcall_re_class_(const char **at, int32_t ch)
{
    bool negated = **at == '^', in = false;
    *at += negated;
    while (**at != ']') {
        int32_t low = tcall_re_member_(at, ch), high = low;
        if (low >= 0 && **at == '-' && (*at)[1] != ']') {
            ++*at;
            high = tcall_re_member_(at, ch);
            if (high < low)
                return -1; /* [a-\d] or [z-a] */
        }
        if (low == TCALL_C_BAD_)
            return -1;
        in |= low == TCALL_C_IN_ || (low <= ch && ch <= high);
    }
    ++*at;
    return in != negated;
}

/* Steps over an atom: 1 when ch matches it, 0 when not, -1: malformed. */
static int tcall_re_atom_(const char **at, int32_t ch)
{
    int32_t c = tcall_re_char_(at);
    if (c == '.')
        return !tcall_re_in_(3, ch);
    if (c == '[')
        return tcall_re_class_(at, ch);
    if (c == '\\') {
        c = tcall_re_escape_(at, ch);
        if (c < 0)
            return c == TCALL_C_BAD_ ? -1 : c == TCALL_C_IN_;
    }
    return c == ch;
}

/* A count in braces, at most TCALL_COUNT_MAX_ + 1; NEVER: none there. */
static uint32_t tcall_re_number_(const char **at)
{
    uint32_t n = TCALL_NEVER_;
    for (; tcall_is_digit_(**at); ++*at) {
        n = (n == TCALL_NEVER_ ? 0 : n * 10) + (uint32_t)(**at - '0');
        if (n > TCALL_COUNT_MAX_)
            n = TCALL_COUNT_MAX_ + 1;
    }
    return n;
}

/* arg of each step: its cells, which for an atom are one for each count below
 * its maximum, and no more than one when that is open above its minimum; the
 * minimum; whether it is open. */
#define TCALL_CELLS_(arg) ((arg)&0xFFF)
#define TCALL_LEAST_(arg) ((arg) >> 12 & 0xFFF)
#define TCALL_OPEN_END_   ((uint32_t)1 << 24)
#define TCALL_ONCE_       (1u | 1u << 12)

/* Steps over a quantifier, if one is there: arg of the atom in front of it,
 * NEVER when it is malformed. */
static uint32_t tcall_re_quantifier_(const char **at)
{
    const char *p = *at;
    bool open = *p == '*' || *p == '+';
    uint32_t min = *p == '+', max = 1;
    if (*p == '{') {
        p++;
        min = max = tcall_re_number_(&p);
        if (*p == ',') {
            open = *++p == '}';
            max = open ? min + !min : tcall_re_number_(&p);
        }
        if (*p != '}' || max < min || max > TCALL_COUNT_MAX_)
            return TCALL_NEVER_;
    } else if (!open && *p != '?') {
        return TCALL_ONCE_;
    }
    *at = p + 1 + (p[1] == '?');
    return max | min << 12 | (open ? TCALL_OPEN_END_ : 0);
}

/* Follows all that takes no character. */
static void tcall_re_spread_(const tcall_node_ *first, const tcall_node_ *last,
                             uint8_t *cells, int32_t before, int32_t next)
{
    const tcall_node_ *n;
    bool again;
    do {
        uint8_t *c = cells, *to;
        again = false;
        for (n = first; n < last; n++) {
            int op = tcall_node_op_(n);
            uint32_t value = n->word >> 8, width = TCALL_CELLS_(n->arg), k;
            for (k = TCALL_LEAST_(n->arg); k < width; k++) {
                if (!c[k] || (op == TCALL_K_ASSERT_ &&
                              (value == '^' ? before : next) >= 0))
                    continue;
                if (op != TCALL_K_JUMP_)
                    c[width] = 1;
                if (op < TCALL_K_FORK_ || !value)
                    continue;
                to = cells + value;
                if (!*to && to < c)
                    again = true;
                *to = 1;
            }
            c += width;
        }
    } while (again);
}

/* Takes one character, from the last node to the first. */
static void tcall_re_step_(const char *text, const tcall_node_ *first,
                           const tcall_node_ *n, uint8_t *c, int32_t ch)
{
    while (n-- > first) {
        uint32_t k = TCALL_CELLS_(n->arg);
        bool stays = n->arg & TCALL_OPEN_END_; /* in the last cell */
        for (; k--; stays = false) {
            const char *at = text + (n->word >> 8);
            bool hit = *--c && tcall_node_op_(n) == TCALL_K_ATOM_ &&
                       tcall_re_atom_(&at, ch) > 0;
            c[0] = hit && stays;
            c[1] |= hit;
        }
    }
}

/* Does the pattern occur in str? cells: scratch. */
static bool tcall_re_search_(const tcall_schema *s, uint32_t pattern,
                             tcall_str str, uint8_t *cells, int32_t *steps)
{
    const tcall_node_ *first = s->program + pattern + 1;
    const tcall_node_ *last =
        s->program + tcall_node_after_(s->program, pattern) - 1;
    const char *p = str.ptr, *end = p + str.len;
    uint32_t size =
        last->word >> 8; /* the last says how many cells there are */
    int32_t before = -1, next;
    memset(cells, 0, size + 1);
    for (;; before = next) {
        next = p < end ? tcall_utf8_next_(&p) : -1;
        *steps -= 1 + (int32_t)size / 16;
        cells[0] = 1;
        tcall_re_spread_(first, last, cells, before, next);
        if (cells[size] || next < 0 || *steps < 0)
            return cells[size] && *steps >= 0;
        tcall_re_step_(s->text, first, last, cells + size, next);
    }
}

#endif /* TOOLCALL_NO_PATTERN */

/* -- Compiling ------------------------------------------------------------ */

/* Lists and maps with more members than this get an index. */
#define TCALL_FEW_ 16

/* The op of an open schema on the compiler's stack; others are lists and maps.
 */
#define TCALL_OPEN_ 0xFF

typedef struct tcall_sc_ {
    tcall_schema *out;
    const char *text;
    tcall_node_ *node;
    uint32_t cap, count; /* nodes that fit, and that there are */
    int32_t steps;
    int draft;
    const char *embedded; /* a subschema's own $id */
    uint32_t open; /* schema being built; its span is the one around it yet */
    uint32_t found_in, found; /* the last child looked for, see resolve */
    int found_op;
    int depth;
    uint8_t kind[TOOLCALL_MAX_DEPTH + 2]; /* of all that are open */
} tcall_sc_;

/* Refuses the schema: what is wrong at p, and what the author can do. The first
 * refusal stays. Returns p, so that it can be returned. */
static const char *tcall_sc_refuse_(tcall_sc_ *c, const char *p,
                                    const char *reason, const char *remedy)
{
    if (!c->out->reason) {
        c->out->reason = reason;
        c->out->remedy = remedy;
        c->out->at = (size_t)(p - c->text);
    }
    return p;
}

/* Refuses a value that does not begin as its keyword asks for. */
static const char *tcall_sc_malformed_(tcall_sc_ *c, const char *p, char begins)
{
    const char *remedy = begins == '['   ? "use an array that is not empty"
                         : begins == '{' ? "use an object"
                         : begins == '"' ? "use a string"
                         : begins == '0' ? "use a number"
                         : begins == 't'
                             ? "use true or false"
                             : "use a schema: an object, true or false";
    return tcall_sc_refuse_(c, p, "wrong kind of value", remedy);
}

/* Nodes that do not fit are only counted. */
static uint32_t tcall_sc_emit_(tcall_sc_ *c, int op, const char *at,
                               uint32_t arg)
{
    if (c->count < c->cap) {
        c->node[c->count].word = (uint32_t)(at - c->text) << 8 | (uint32_t)op;
        c->node[c->count].arg = arg;
    }
    return c->count++;
}

#ifndef TOOLCALL_NO_PATTERN

static uint32_t tcall_sc_step_node_(tcall_sc_ *c, uint32_t word, uint32_t arg)
{
    return tcall_sc_emit_(c, (int)(word & 0xFF), c->text + (word >> 8), arg);
}

/* Leads node i, if it is one of those that lead to a cell, to that. */
static void tcall_sc_lead_(tcall_sc_ *c, uint32_t i, int op, uint32_t cell)
{
    if (i < c->cap && tcall_node_op_(&c->node[i]) == op)
        c->node[i].word |= cell << 8;
}

/* Nesting of groups in a pattern. */
#define TCALL_GROUPS_ 8

/* A group that is open; its text is read once for each copy that its
 * quantifier asks for. Each alternative begins with a fork to the next one and
 * ends with a jump to the end of the one behind it. */
typedef struct tcall_re_open_ {
    const char *body;
    uint32_t copies; /* made so far */
    uint32_t first;  /* cell of this copy's first fork */
    uint32_t fork;   /* node of the last alternative's, behind the jump */
} tcall_re_open_;

/* Compiles the pattern in the string at. */
TCALL_APART_ static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *at)
{
    tcall_re_open_ group[TCALL_GROUPS_ + 1], *g = group;
    uint32_t start = tcall_sc_emit_(c, op | TCALL_SPANS_, at, 1), cells = 0,
             close, count;
    const char *p;
    g->body = at + 1;
begin:
    g->copies = 0;
copy:
    p = g->body;
    g->first = cells++;
    g->fork = tcall_sc_step_node_(c, TCALL_K_FORK_, 1);
    while (cells <= TOOLCALL_MAX_PATTERN) {
        const char *piece = p;
        int32_t ch = tcall_re_char_(&p);
        if (ch == '(') {
            if (*p == '?') {
                if (p[1] != ':')
                    break;
                p += 2;
            }
            if (++g == group + TCALL_GROUPS_)
                break;
            g->body = p;
            goto begin;
        }
        if (ch == '^' || ch == '$') {
            tcall_sc_step_node_(c, (uint32_t)ch << 8 | TCALL_K_ASSERT_, 1);
            cells++;
        } else if (ch >= 0 && ch != '|' && ch != ')') {
            p = piece;
            if (strchr("*+?{", *p) || tcall_re_atom_(&p, 0) < 0)
                break;
            count = tcall_re_quantifier_(&p);
            if (count == TCALL_NEVER_)
                break;
            tcall_sc_emit_(c, TCALL_K_ATOM_, piece, count);
            cells += TCALL_CELLS_(count);
        } else {
            tcall_sc_lead_(c, g->fork - 1, TCALL_K_JUMP_, cells);
            if (ch == '|') {
                tcall_sc_lead_(c, g->fork, TCALL_K_FORK_, cells + 1);
                tcall_sc_step_node_(c, TCALL_K_JUMP_, 1);
                g->fork = tcall_sc_step_node_(c, TCALL_K_FORK_, 1);
                cells += 2;
                continue;
            }
            close = tcall_sc_step_node_(c, TCALL_K_FORK_, 1);
            if (g == group) {
                if (*piece != '"')
                    break;
                tcall_sc_lead_(c, close, TCALL_K_FORK_, cells);
                if (c->out->cells <= cells)
                    c->out->cells = cells + 1;
                if (start < c->cap)
                    c->node[start].arg = c->count - start;
                return;
            }
            cells++;
            count = ch < 0 ? TCALL_NEVER_ : tcall_re_quantifier_(&p);
            if (count == TCALL_NEVER_ || !TCALL_CELLS_(count))
                break;
            if (g->copies++ >= TCALL_LEAST_(count))
                tcall_sc_lead_(c, g->fork, TCALL_K_FORK_, cells);
            if (g->copies < TCALL_CELLS_(count))
                goto copy;
            if (count & TCALL_OPEN_END_)
                tcall_sc_lead_(c, close, TCALL_K_FORK_, g->first);
            g--;
        }
    }
    tcall_sc_refuse_(c, at, "unsupported pattern", "use a simpler one");
}

#else

static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *p)
{
    (void)op;
    tcall_sc_refuse_(c, p, "patterns are left out of this build",
                     "build without TOOLCALL_NO_PATTERN");
}

#endif /* TOOLCALL_NO_PATTERN */

/* -- Lists and maps ------------------------------------------------------- */

/* Emits an empty index for a map, if it has more than a few members. */
static void tcall_sc_index_(tcall_sc_ *c, const char *map)
{
    const char *key;
    uint32_t members = 0, slots;
    for (key = tcall_text_next_(map + 1); !tcall_text_closes_(key);
         key = tcall_text_next_(tcall_text_skip_(tcall_text_value_(key))))
        members++;
    if (members <= TCALL_FEW_)
        return;
    slots = members + members / 2;
    tcall_sc_emit_(c, TCALL_K_INDEX_ | TCALL_SPANS_, map, slots + 1);
    while (slots--)
        tcall_sc_emit_(c, TCALL_K_SLOT_, map, 0);
}

/* The slot that belongs to the string at a quote. */
static uint32_t tcall_sc_slot_(tcall_sc_ *c, uint32_t index, const char *quote)
{
    const char *p = quote + 1;
    uint32_t hash = TCALL_HASH_EMPTY_, slot, member;
    char bytes[4];
    while (*p != '"') {
        size_t len = tcall_text_char_(&p, bytes);
        hash = tcall_hash_more_(hash, tcall_slice_(bytes, len));
    }
    slot = tcall_node_slot_(c->node, index, hash);
    while ((member = c->node[slot].arg) != 0 && --c->steps > 0 &&
           !tcall_text_equal_(tcall_node_at_(c->out, index + member), quote))
        slot = tcall_node_slot_after_(c->node, index, slot);
    return slot;
}

/* Puts the members of a map, all of which are there now, into its index. */
static void tcall_sc_fill_(tcall_sc_ *c, uint32_t index)
{
    uint32_t i = tcall_node_after_(c->node, index);
    int op = tcall_node_op_(&c->node[i]);
    for (; i < c->count && tcall_node_op_(&c->node[i]) == op && c->steps > 0;
         i = tcall_node_after_(c->node, i)) {
        const char *quote = tcall_node_at_(c->out, i);
        uint32_t slot = tcall_sc_slot_(c, index, quote);
        if (c->node[slot].arg)
            tcall_sc_refuse_(c, quote, "name given twice", "keep one");
        c->node[slot].arg = i - index;
    }
}

/* The node of the property whose name is at a quote, 0: none. */
static uint32_t tcall_sc_property_(tcall_sc_ *c, uint32_t map,
                                   const char *quote)
{
    uint32_t i = map, slot;
    if (map && tcall_node_op_(&c->node[map]) == TCALL_K_INDEX_) {
        slot = tcall_sc_slot_(c, map, quote);
        return c->node[slot].arg ? map + c->node[slot].arg : 0;
    }
    for (; i && i < c->count &&
           tcall_node_op_(&c->node[i]) == TCALL_K_PROPERTIES_;
         i = tcall_node_after_(c->node, i))
        if (tcall_text_equal_(tcall_node_at_(c->out, i), quote))
            return i;
    return 0;
}

static void tcall_sc_reverse_(tcall_node_ *from, tcall_node_ *to)
{
    for (; from < to; from++) {
        tcall_node_ node = *--to;
        *to = *from;
        *from = node;
    }
}

/* Moves the names in required after all else of the schema: when their turn
 * comes it is known how many required properties were met. */
static void tcall_sc_required_last_(tcall_sc_ *c, uint32_t schema)
{
    tcall_node_ *end = c->node + c->count, *first, *others;
    uint32_t i =
        tcall_node_child_(c->node, schema, c->count, TCALL_K_REQUIRED_);
    if (!i)
        return;
    first = others = c->node + i;
    while (others < end && tcall_node_op_(others) == TCALL_K_REQUIRED_)
        others++;
    tcall_sc_reverse_(first, others);
    tcall_sc_reverse_(others, end);
    tcall_sc_reverse_(first, end);
}

/* Marks the properties that are required, and of the names in required those
 * that are properties. The first name says how many they are: where so many
 * required properties were met, none of them needs to be looked for. */
static void tcall_sc_require_(tcall_sc_ *c, uint32_t schema)
{
    tcall_node_ *node = c->node;
    uint32_t map = tcall_node_map_(node, schema, c->count, TCALL_K_PROPERTIES_);
    uint32_t first =
        tcall_node_child_(node, schema, c->count, TCALL_K_REQUIRED_);
    uint32_t i = first, property, met = 0;
    for (; i && i < c->count && tcall_node_op_(&node[i]) == TCALL_K_REQUIRED_;
         i++) {
        property = tcall_sc_property_(c, map, tcall_node_at_(c->out, i));
        if (!property || node[property].arg & TCALL_MARKED_)
            continue;
        node[property].arg |= TCALL_MARKED_;
        node[i].arg |= TCALL_MARKED_;
        met++;
    }
    if (first)
        node[first].arg |= met;
}

/* Up to draft 7 nothing beside a $ref counts: whoever wrote it meant it. */
static void tcall_sc_beside_(tcall_sc_ *c, uint32_t schema)
{
    uint32_t i;
    bool typed = (c->node[schema].arg & TCALL_TYPES_ANY_) != TCALL_ANY_;
    if (c->draft < TCALL_DRAFT_7 ||
        !tcall_node_child_(c->node, schema, c->count, TCALL_K_REF_))
        return;
    for (i = schema + 1; i < c->count; i = tcall_node_after_(c->node, i)) {
        int op = tcall_node_op_(&c->node[i]);
        bool kept = op == TCALL_K_REF_ || op == TCALL_K_INDEX_ ||
                    op == TCALL_K_DEFS_ || op == TCALL_K_DEFINITIONS_;
        if (!kept || typed)
            tcall_sc_refuse_(c, tcall_node_at_(c->out, i),
                             "keyword beside $ref, which this draft ignores",
                             "put both into allOf, or use draft 2020-12");
    }
}

/* All of the open schema's nodes are there. */
static void tcall_sc_close_(tcall_sc_ *c)
{
    uint32_t schema = c->open, parent, i;
    if (c->count > c->cap)
        return;
    parent = c->node[schema].arg & TCALL_SPAN_;
    c->node[schema].arg += c->count - schema - parent;
    c->open = parent;
    tcall_sc_required_last_(c, schema);
    for (i = schema + 1; i < c->count; i = tcall_node_after_(c->node, i))
        if (tcall_node_op_(&c->node[i]) == TCALL_K_INDEX_)
            tcall_sc_fill_(c, i);
    tcall_sc_require_(c, schema);
    tcall_sc_beside_(c, schema);
}

/* The length of the name at a quote, where it is short and plain. */
static uint32_t tcall_sc_plain_(const char *quote)
{
    uint32_t len = 0;
    if (*quote != '"')
        return 0;
    while (len < 15 && quote[len + 1] != '"' && quote[len + 1] != '\\')
        len++;
    return quote[len + 1] == '"' ? len << TCALL_LENGTH_ : 0;
}

/* required: a node for each name. */
static void tcall_sc_names_(tcall_sc_ *c, const char *p)
{
    for (p = tcall_text_next_(p + 1); *p == '"';
         p = tcall_text_next_(tcall_text_skip_(p)))
        tcall_sc_emit_(c, TCALL_K_REQUIRED_, p, tcall_sc_plain_(p));
    if (*p != ']')
        tcall_sc_malformed_(c, p, '"');
}

/* A schema starts at p; at is where its node says it comes from. */
static const char *tcall_sc_schema_(tcall_sc_ *c, int op, const char *at,
                                    const char *p)
{
    bool schema = *p == '{' || *p == 't' || *p == 'f';
    bool names = *p == '[' && (op == TCALL_K_DEPENDENT_REQUIRED_ ||
                               op == TCALL_K_DEPENDENCIES_);
    if (op == TCALL_K_DEPENDENT_REQUIRED_ ? !names : !schema && !names)
        return tcall_sc_malformed_(c, p, names || schema ? '[' : 's');
    c->open = tcall_sc_emit_(c, op | TCALL_SPANS_, at,
                             (*p == 'f' ? 0 : TCALL_ANY_) |
                                 tcall_sc_plain_(at) | c->open);
    if (op == TCALL_K_PATTERNS_)
        tcall_sc_pattern_(c, TCALL_K_NAME_PATTERN_, at);
    if (*p == '{') {
        c->kind[c->depth++] = TCALL_OPEN_;
        return p + 1;
    }
    if (names)
        tcall_sc_names_(c, p);
    tcall_sc_close_(c);
    return tcall_text_skip_(p);
}

/* -- Keywords ------------------------------------------------------------- */

/* One type or an array of them, into the schema's own node. */
static void tcall_sc_type_(tcall_sc_ *c, const char *p)
{
    tcall_node_ *node;
    const char *at = p;
    uint32_t types = 0;
    if (*p == '[')
        p = tcall_text_next_(p + 1);
    do {
        uint32_t bit = *p == '"' ? tcall_type_bit_(tcall_text_inner_(p)) : 0;
        if (!bit) {
            tcall_sc_refuse_(c, *p == ']' ? at : p, "unknown type",
                             "use object, array, string, number, integer, "
                             "boolean or null");
            return;
        }
        types |= bit;
        p = tcall_text_next_(tcall_text_skip_(p));
    } while (*at == '[' && *p != ']');
    if (c->open >= c->cap)
        return;
    node = &c->node[c->open];
    if ((node->arg & TCALL_TYPES_ANY_) != TCALL_ANY_)
        tcall_sc_refuse_(c, at, "keyword given twice", "keep one");
    node->arg ^= TCALL_ANY_ ^ types;
}

/* The first digits as an integer; NEVER where ten times that is too much. */
static uint32_t tcall_num_digits_value_(const tcall_num_ *n, int digits)
{
    const char *p = n->first;
    uint32_t value = 0;
    for (; digits > 0 && n->sign; digits--) {
        if (value >= 42000000)
            return TCALL_NEVER_;
        value = value * 10 + (uint32_t)tcall_num_digit_(n, &p);
    }
    return value;
}

/* Whether the keyword's number counts something. */
static bool tcall_keyword_counts_(int op)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[op];
    return keyword->begins == '0' && keyword->type != TCALL_NUMBER;
}

/* Bounds stay in the text, their length is kept; counts are read. */
static void tcall_sc_number_(tcall_sc_ *c, int op, const char *p)
{
    tcall_str text = tcall_text_verbatim_(p);
    tcall_num_ n = tcall_num_read_(text);
    uint32_t arg = (uint32_t)text.len;
    if (tcall_keyword_counts_(op)) {
        arg = tcall_num_digits_value_(&n, n.top + 1);
        if (!tcall_num_integral_(&n) || n.sign < 0)
            tcall_sc_refuse_(c, p, "impossible count",
                             "use a whole number, 0 or more");
    } else if (op == TCALL_K_MULTIPLE_ &&
               (n.sign <= 0 || n.top < -308 || n.top > 308 ||
                tcall_num_digits_value_(&n, tcall_num_digits_(&n)) ==
                    TCALL_NEVER_)) {
        tcall_sc_refuse_(c, p, "unsupported divisor",
                         "use a number over 0 with at most 8 digits");
    }
    tcall_sc_emit_(c, op, p, arg);
}

/* The draft that the value of a $schema names, -1: none that is known. */
static int tcall_sc_draft_of_(const char *p)
{
    tcall_str uri = *p == '"' ? tcall_text_inner_(p) : tcall_slice_(p, 0);
    size_t i;
    if (uri.len && uri.ptr[uri.len - 1] == '#') /* an empty fragment */
        uri.len--;
    for (i = 0; i < sizeof tcall_dialects_ / sizeof *tcall_dialects_; i++)
        if (tcall_str_eq(tcall_str_of(tcall_dialects_[i].uri), uri))
            return tcall_dialects_[i].draft;
    return -1;
}

/* Whether the keyword at key can be used here, and refuses it if not. A keyword
 * of another draft was meant by whoever wrote it. */
static bool tcall_sc_usable_(tcall_sc_ *c, int op, const char *key)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[op];
    if (keyword->begins == '!')
        tcall_sc_refuse_(c, key, "unsupported keyword", "leave it out");
    else if (!(keyword->drafts >> c->draft & 1))
        tcall_sc_refuse_(c, key, "keyword of another draft",
                         "name its draft in $schema");
    return !c->out->reason;
}

/* A keyword that has no schemas; p: its value. */
static void tcall_sc_assert_(tcall_sc_ *c, int op, const char *key,
                             const char *p)
{
    switch (op) {
    case TCALL_K_PATTERN_: tcall_sc_pattern_(c, op, p); break;
    case TCALL_K_REQUIRED_: tcall_sc_names_(c, p); break;
    case TCALL_K_TYPE_: tcall_sc_type_(c, p); break;
    case TCALL_K_DRAFT_:
        if (tcall_sc_draft_of_(p) != c->draft)
            tcall_sc_refuse_(c, p, "unknown $schema",
                             "use https://json-schema.org/draft/2020-12/schema "
                             "or http://json-schema.org/draft-07/schema");
        break;
    case TCALL_K_OLD_ID_:
        if (c->draft != TCALL_DRAFT_4)
            break; /* fall through */
    case TCALL_K_ID_:
        if (c->depth > 1 && *p == '"' && p[1] != '#')
            c->embedded = key;
        break;
    case TCALL_K_UNIQUE_:
        if (*p == 't')
            tcall_sc_emit_(c, op, p, 0);
        break;
    case TCALL_K_REF_: /* its target is found when all nodes are there */
        tcall_sc_emit_(c, op, p, TCALL_MARKED_);
        break;
    default:
        if (tcall_keywords_[op].begins == '0')
            tcall_sc_number_(c, op, p);
        else
            tcall_sc_emit_(c, op, p, 0);
    }
}

/* One keyword of the schema that is open; p: its value. */
static const char *tcall_sc_keyword_(tcall_sc_ *c, const char *key,
                                     const char *p)
{
    tcall_str name = tcall_text_inner_(key);
    int op = tcall_keyword_of_(name);
    char begins;
    if (memchr(name.ptr, '\\', name.len))
        return tcall_sc_refuse_(c, key, "keyword with escapes",
                                "write it plainly");
    if (op == TCALL_K_COUNT_)
        return tcall_text_skip_(p);
    if (!tcall_sc_usable_(c, op, key))
        return key;
    if (op == TCALL_K_REST_ && *p == '[' && c->draft != TCALL_DRAFT_2020)
        op = TCALL_K_PREFIX_; /* as it was called then */
    if (c->count <= c->cap && tcall_node_child_(c->node, c->open, c->count, op))
        return tcall_sc_refuse_(c, key, "keyword given twice", "keep one");
    begins = tcall_keywords_[op].begins;
    if (begins == 's')
        return tcall_sc_schema_(c, op, p, p);
    if (begins != '*' && tcall_type_at_(&begins) != tcall_type_at_(p))
        return tcall_sc_malformed_(c, p, begins);
    if (tcall_keywords_[op].applies == TCALL_ASSERTS_ || op == TCALL_K_REF_) {
        tcall_sc_assert_(c, op, key, p);
        return tcall_text_skip_(p);
    }
    if (*p == '[' && !tcall_text_first_(p))
        tcall_sc_malformed_(c, p, '[');
    if (op == TCALL_K_PROPERTIES_ || op == TCALL_K_DEFS_ ||
        op == TCALL_K_DEFINITIONS_)
        tcall_sc_index_(c, p);
    c->kind[c->depth++] = (uint8_t)op;
    return p + 1;
}

/* From one bracket or comma to the next, all the way through. */
static void tcall_sc_outline_(tcall_sc_ *c, const char *p)
{
    p = tcall_sc_schema_(c, TCALL_K_ALLOF_, p, p);
    while (c->depth && !c->out->reason) {
        int kind = c->kind[c->depth - 1];
        const char *key = p = tcall_text_next_(p);
        if (tcall_text_closes_(p)) {
            c->depth--;
            if (kind == TCALL_OPEN_)
                tcall_sc_close_(c);
            p++;
            continue;
        }
        if (kind == TCALL_OPEN_ || tcall_keywords_[kind].begins == '{')
            p = tcall_text_value_(key);
        p = kind == TCALL_OPEN_ ? tcall_sc_keyword_(c, key, p)
                                : tcall_sc_schema_(c, kind, key, p);
    }
}

/* -- $ref ----------------------------------------------------------------- */

#define TCALL_NAME_MAX_ 64

/* Decodes the next name of a JSON Pointer in the fragment of a URI, from after
 * its '/' on. Returns its length, -1 when it is malformed or too long. */
static int tcall_sc_step_(const char **at, char name[TCALL_NAME_MAX_])
{
    const char *p = *at;
    int len = 0;
    for (; *p != '/' && *p != '"'; len++) {
        if (*p == '\\' || len == TCALL_NAME_MAX_)
            return -1;
        if (*p == '%') {
            int high = tcall_hex_(p[1]), low = high < 0 ? -1 : tcall_hex_(p[2]);
            if (low < 0)
                return -1;
            name[len] = (char)(high << 4 | low);
            p += 3;
        } else {
            name[len] = *p++;
        }
    }
    *at = p;
    return tcall_pointer_unescape_(name, len);
}

/* The first node of a schema's list or map. Many $refs in a row lead through
 * the same one, so the last answer is kept. */
static uint32_t tcall_sc_map_(tcall_sc_ *c, uint32_t schema, int op)
{
    if (c->found_in != schema || c->found_op != op) {
        uint32_t end = tcall_node_after_(c->node, schema);
        c->found = tcall_node_map_(c->node, schema, end, op);
        c->found_in = schema;
        c->found_op = op;
        c->steps -= (int32_t)((c->found ? c->found : end) - schema) / 16;
    }
    return c->found;
}

/* The element of a list, 0: none. */
static uint32_t tcall_sc_element_(tcall_sc_ *c, uint32_t first, uint32_t end,
                                  tcall_str name)
{
    int op = tcall_node_op_(&c->node[first]);
    uint32_t index = 0;
    size_t i;
    if (!name.len || name.len > 5 || (*name.ptr == '0' && name.len > 1))
        return 0;
    for (i = 0; i < name.len; i++) {
        if (!tcall_is_digit_(name.ptr[i]))
            return 0;
        index = index * 10 + (uint32_t)(name.ptr[i] - '0');
    }
    for (; first < end && tcall_node_op_(&c->node[first]) == op;
         first = tcall_node_after_(c->node, first))
        if (!index-- || --c->steps <= 0)
            return first;
    return 0;
}

/* The node that a JSON Pointer leads to from a schema by one keyword, and by
 * one name or index more if the keyword has a list or map; 0: none. */
static uint32_t tcall_sc_follow_(tcall_sc_ *c, uint32_t schema, const char **at)
{
    char name[TCALL_NAME_MAX_];
    uint32_t first, end = tcall_node_after_(c->node, schema);
    int len = tcall_sc_step_(at, name), op;
    if (len < 0)
        return 0;
    op = tcall_keyword_of_(tcall_slice_(name, (size_t)len));
    if (op == TCALL_K_COUNT_ || op == TCALL_K_REF_ ||
        tcall_keywords_[op].applies == TCALL_ASSERTS_)
        return 0;
    first = tcall_sc_map_(c, schema, op);
    if (!first && op == TCALL_K_REST_ && c->draft != TCALL_DRAFT_2020) {
        op = TCALL_K_PREFIX_;
        first = tcall_sc_map_(c, schema, op);
    }
    if (!first || tcall_keywords_[op].begins == 's')
        return first;
    if (**at != '/' || (++*at, len = tcall_sc_step_(at, name)) < 0)
        return 0;
    if (tcall_keywords_[op].begins == '[')
        return tcall_sc_element_(c, first, end,
                                 tcall_slice_(name, (size_t)len));
    return tcall_node_find_(c->out, first, end, tcall_slice_(name, (size_t)len),
                            &c->steps);
}

/* Finds the schema that a $ref means. */
static void tcall_sc_resolve_(tcall_sc_ *c, tcall_node_ *ref)
{
    const char *at = c->text + (ref->word >> TCALL_AT_), *p = at + 2;
    uint32_t schema = 0;
    bool found = true;
    if (c->embedded)
        tcall_sc_refuse_(c, c->embedded, "$id within a schema that has $refs",
                         "leave it out");
    if (at[1] != '#' || (*p != '"' && *p != '/')) {
        tcall_sc_refuse_(c, at, "$ref to another document",
                         "use a JSON Pointer such as #/$defs/name");
        return;
    }
    while (found && *p == '/') {
        p++;
        schema = tcall_sc_follow_(c, schema, &p);
        found = schema && *tcall_node_value_(c->out, schema) != '[';
    }
    c->steps--;
    ref->arg = schema | TCALL_MARKED_;
    if (!found)
        tcall_sc_refuse_(c, at, "$ref that leads to no schema",
                         "define one there");
}

/* The first $ref that applies to the same value as the schema at i, directly
 * or through anyOf, if and the like, and that is marked; 0: none. */
static uint32_t tcall_sc_marked_(tcall_sc_ *c, uint32_t i)
{
    uint32_t end = tcall_node_after_(c->node, i);
    for (i++; i < end && --c->steps > 0;) {
        int op = tcall_node_op_(&c->node[i]);
        bool same = op == TCALL_K_THEN_ || op == TCALL_K_ELSE_ ||
                    (op < TCALL_K_COUNT_ &&
                     tcall_keywords_[op].applies <= TCALL_TO_PRESENT_);
        if (op == TCALL_K_REF_ && c->node[i].arg & TCALL_MARKED_)
            return i;
        i = same ? i + 1 : tcall_node_after_(c->node, i);
    }
    return 0;
}

/* Finds what $refs mean, and refuses those that lead back to themselves without
 * going into the value: no check would ever end. Each is marked until all that
 * it leads to are known to end. */
static void tcall_sc_refs_(tcall_sc_ *c)
{
    uint32_t i, left;
    bool more;
    for (i = 0; i < c->count && !c->out->reason; i++)
        if (tcall_node_op_(&c->node[i]) == TCALL_K_REF_)
            tcall_sc_resolve_(c, &c->node[i]);
    do {
        more = false;
        left = 0;
        for (i = 0; i < c->count && !c->out->reason; i++) {
            tcall_node_ *ref = &c->node[i];
            if (tcall_node_op_(ref) != TCALL_K_REF_ || ref->arg < TCALL_MARKED_)
                continue;
            if (tcall_sc_marked_(c, ref->arg & TCALL_SPAN_)) {
                left = i;
            } else {
                ref->arg &= TCALL_SPAN_;
                more = true;
            }
        }
    } while (more && left && c->steps > 0);
    if (left && !c->out->reason && c->steps > 0)
        tcall_sc_refuse_(c, tcall_node_at_(c->out, left),
                         "$ref that leads to itself",
                         "let it go through properties or items");
}

/* -- Entry ---------------------------------------------------------------- */

/* Compiles text that is one JSON value. The root's $schema counts from the
 * beginning, wherever it stands. */
static void tcall_sc_run_(tcall_sc_ *c)
{
    const char *root = tcall_text_space_(c->text);
    const char *dialect = tcall_text_get_(root, "$schema");
    int draft = dialect ? tcall_sc_draft_of_(dialect) : -1;
    if (draft >= 0)
        c->draft = draft;
    tcall_sc_outline_(c, root);
    if (c->count > TCALL_SPAN_)
        tcall_sc_refuse_(c, root, "too many keywords", "split the schema");
    if (c->count <= c->cap)
        tcall_sc_refs_(c);
    if (c->steps <= 0)
        tcall_sc_refuse_(c, root, "too many steps to compile",
                         "use fewer $refs that lead to each other");
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    size_t pad = (0 - (size_t)(uintptr_t)mem) & 3;
    int r = tcall_scan_whole_(text);
    tcall_sc_ c;
    memset(out, 0, sizeof *out);
    if (r == TCALL_OK && text.len >= 0xFFFFFF)
        r = TCALL_E_LIMIT;
    if (r < 0) {
        out->reason = tcall_error_text(r);
        return TCALL_E_SCHEMA;
    }
    memset(&c, 0, sizeof c);
    c.out = out;
    c.text = out->text = text.ptr;
    if (mem && size > pad) {
        size = (size - pad) / sizeof *c.node;
        c.cap = (uint32_t)(size < TCALL_SPAN_ ? size : TCALL_SPAN_);
        c.node = (tcall_node_ *)(void *)((char *)mem + pad);
    }
    c.steps = TOOLCALL_MAX_STEPS;
    c.draft = (int)draft;
    c.found_op = TCALL_K_COUNT_;
    out->program = c.node;
    tcall_sc_run_(&c);
    out->need = c.count * sizeof *c.node + pad;
    if (out->reason)
        return TCALL_E_SCHEMA;
    if (c.count > c.cap)
        return TCALL_E_MEMORY;
    out->nodes = c.count; /* only now: nothing is checked against the rest */
    return (int)out->need;
}

/* ==========================================================================
 * >>schema_check: values against a schema
 *
 * Checking is one loop over a stack of small frames, one per schema that is at
 * work on a value. Each turn looks at the next node of the top frame: an
 * assertion is decided at once, a schema is applied to the next value that it
 * is for, which may push a frame; what that says is counted or is a fault.
 * Quiet frames (in anyOf, not, if ...) stop at the first fault and report none.
 */

/* A schema at work on a value. */
typedef struct tcall_ev_frame_ {
    uint8_t flags;
    uint8_t type;      /* of the value, as the schema sees it */
    uint8_t holding;   /* anyOf, oneOf: how many hold, 2: several */
    bool complete;     /* all properties that are required were met */
    uint32_t required; /* required properties that were met */
    uint32_t schema;   /* its node */
    uint32_t end;      /* the node after it */
    uint32_t pc;       /* the keyword that is at work */
    uint32_t tok;      /* the value */
    uint32_t cur;      /* the value that pc was applied to last, or NEVER */
    uint32_t next_key; /* where the search for the next name begins */
    uint32_t known;    /* tokens of the members that properties named */
    uint32_t branch;   /* the schema that decides: then, else, one of anyOf */
    uint32_t progress; /* how far that came */
    uint32_t match_count; /* contains: how many elements match */
} tcall_ev_frame_;

enum {
    TCALL_F_BAD_ = 1,
    TCALL_F_QUIET_ = 2,  /* stop at the first fault, report none */
    TCALL_F_STRICT_ = 4, /* no coercion */
    TCALL_F_DRY_ = 8,    /* coerce, but mark nothing */
    TCALL_F_ALIKE_ = 14, /* what a schema hands down */
    TCALL_F_TEST_ = 6,   /* what it hands down to ask a question */
    TCALL_F_RETRY_ = 16, /* choices: once more, with coercion */
    TCALL_F_LAST_ = 32,  /* the edge is at work and decides */
    TCALL_F_ABSENT_ = 64 /* the null at cur may count as absent */
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
    size_t pad, size; /* of the scratch memory */
    uint32_t depth;   /* frames */
    int32_t steps;
    int error;
    uint32_t progress; /* of the last fault, reported or not: its token, and
                        * what failed was not the type */
    uint32_t num_tok;  /* the token that num was read from */
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

static uint32_t tcall_ev_after_(const tcall_ev_ *e, uint32_t tok)
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

/* at: in the schema's text. */
static void tcall_ev_fault_(tcall_ev_ *e, unsigned flags, uint32_t node,
                            uint32_t tok, const char *at)
{
    tcall_check *c = e->check;
    e->progress = 2 * tok + 1;
    if (!(flags & TCALL_F_QUIET_) && c->error_count++ < c->error_cap &&
        c->errors) {
        tcall_validation_error *f = &c->errors[c->error_count - 1];
        f->node = node;
        f->at = (uint32_t)(at - e->s->text);
        f->tok = tok;
    }
}

/* The frame's value fails at a node. */
static void tcall_ev_fails_(tcall_ev_ *e, tcall_ev_frame_ *f, uint32_t node)
{
    tcall_ev_fault_(e, f->flags, node, f->tok, tcall_node_at_(e->s, node));
    f->flags |= TCALL_F_BAD_;
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

TCALL_APART_ static bool tcall_ev_match_(tcall_ev_ *e, uint32_t pattern,
                                         uint32_t tok)
{
#ifndef TOOLCALL_NO_PATTERN
    uint8_t *cells = (uint8_t *)tcall_ev_scratch_(e, e->s->cells);
    if (cells)
        return tcall_re_search_(e->s, pattern, tcall_ev_of_(e, tok), cells,
                                &e->steps);
#else
    (void)e, (void)pattern, (void)tok;
#endif
    return false;
}

static bool tcall_ev_named_(const tcall_ev_ *e, uint32_t node, uint32_t tok)
{
    return tcall_node_named_(e->s, node, tcall_ev_of_(e, tok));
}

/* Whether one of the frame's properties has the name that is this token. */
static bool tcall_ev_property_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                               uint32_t name)
{
    uint32_t map =
        tcall_node_map_(e->program, f->schema, f->end, TCALL_K_PROPERTIES_);
    return map && tcall_node_find_(e->s, map, f->end, tcall_ev_of_(e, name),
                                   &e->steps);
}

/* Whether one of the frame's patternProperties matches this name. */
static bool tcall_ev_patterned_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                                uint32_t name)
{
    uint32_t i =
        tcall_node_child_(e->program, f->schema, f->end, TCALL_K_PATTERNS_);
    for (;
         i && i < f->end && tcall_node_op_(&e->program[i]) == TCALL_K_PATTERNS_;
         i = tcall_node_after_(e->program, i))
        if (tcall_ev_match_(e, i + 1, name))
            return true;
    return false;
}

/* The value of the frame's member that its node at pc names, 0: none. The
 * search begins at the key where the last one ended: names tend to come in
 * order. */
static uint32_t tcall_ev_find_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_after_(e, f->tok), key = f->next_key, value;
    if (f->type != TCALL_OBJECT || f->tok + 1 == end || e->steps < 0)
        return 0;
    do {
        bool found = tcall_ev_named_(e, f->pc, key);
        e->steps--;
        value = key + 1;
        key = tcall_ev_after_(e, value);
        if (key == end)
            key = f->tok + 1;
        if (found) {
            f->next_key = key;
            return value;
        }
    } while (key != f->next_key);
    return 0;
}

/* Is the value like the JSON text at p, but for what is within them? type: what
 * the value counts as. */
static bool tcall_ev_alike_(tcall_ev_ *e, uint32_t tok, unsigned type,
                            const char *p)
{
    tcall_str s = tcall_ev_of_(e, tok);
    tcall_num_ n;
    if (--e->steps < 0 || tcall_type_at_(p) != type)
        return false;
    if (type == TCALL_STRING)
        return tcall_text_same_(p, s);
    if (type != TCALL_NUMBER)
        return type >= TCALL_ARRAY || *p == (*s.ptr | 0x20);
    n = tcall_num_read_(tcall_text_verbatim_(p));
    return tcall_num_compare_(tcall_ev_num_(e, tok), &n) == 0;
}

/* Is the value equal to the JSON text at p? While they are compared the mark of
 * a container says where in that text its like begins. */
static bool tcall_ev_is_(tcall_ev_ *e, uint32_t tok, unsigned type,
                         const char *p)
{
    uint32_t i = tok, end;
    bool same;
    if (*p == '"')
        return type == TCALL_STRING &&
               tcall_text_same_(p, tcall_ev_of_(e, tok));
    same = tcall_ev_alike_(e, tok, type, p);
    for (end = tcall_ev_after_(e, tok); i < end; i++) {
        unsigned kind = tcall_ev_kind_(e, i), object = kind - TCALL_ARRAY;
        uint32_t x = i + 1 + object, stop = tcall_ev_after_(e, i);
        const char *all, *y, *next;
        bool closes;
        if (kind < TCALL_ARRAY)
            continue;
        all = p + e->tok[i].mark;
        e->tok[i].mark = TCALL_MARK_NONE_;
        for (next = all + 1; same; x = tcall_ev_after_(e, x) + object) {
            y = next = tcall_text_next_(next);
            closes = tcall_text_closes_(y);
            same = closes == (x >= stop);
            if (closes || !same)
                break;
            if (object) {
                next = tcall_text_value_(y);
                y = tcall_text_member_(all, tcall_ev_of_(e, x - 1));
                y = y ? tcall_text_value_(y) : all;
                e->steps -= (int32_t)(y - all) / 16;
            }
            same = y > all && tcall_ev_alike_(e, x, tcall_ev_kind_(e, x), y);
            if (same && tcall_ev_kind_(e, x) >= TCALL_ARRAY)
                e->tok[x].mark = (int)(y - p);
            next = tcall_text_skip_(next);
        }
    }
    return same;
}

static bool tcall_ev_enum_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           const char *p)
{
    for (p = tcall_text_next_(p + 1); *p != ']' && e->steps >= 0;
         p = tcall_text_next_(tcall_text_skip_(p)))
        if (tcall_ev_is_(e, f->tok, f->type, p))
            return true;
    return false;
}

/* A hash that equal values share: the sum of those of all scalars and names
 * within, whatever their order. */
static uint32_t tcall_ev_hash_(tcall_ev_ *e, uint32_t tok)
{
    uint32_t sum = 0, end = tcall_ev_after_(e, tok), i;
    for (i = tok; i < end; i++) {
        uint32_t hash = tcall_ev_kind_(e, i) + 1;
        tcall_num_ n;
        const char *digit;
        if (hash > TCALL_ARRAY) { /* 1 and [1] differ */
            sum += hash;
        } else if (hash != TCALL_NUMBER + 1) {
            sum += tcall_hash_more_(hash, tcall_ev_of_(e, i));
        } else { /* 1 and 1.0 do not */
            n = tcall_num_read_(tcall_ev_of_(e, i));
            hash += (uint32_t)(n.top * 4 + n.sign);
            for (digit = n.first; digit && digit <= n.last;)
                hash = hash * 31 + (uint32_t)tcall_num_digit_(&n, &digit);
            sum += n.sign ? hash * 2654435769u : 1;
        }
    }
    return sum;
}

/* A slot of the hash table of elements; element 0: free. */
typedef struct tcall_ev_slot_ {
    uint32_t hash, element;
} tcall_ev_slot_;

/* Whether two elements are equal. One is written into the scratch memory that
 * begins at text, after the hash table. */
static bool tcall_ev_equal_(tcall_ev_ *e, uint32_t a, uint32_t b, char *text)
{
    char *table = (char *)tcall_ev_scratch_(e, 0);
    tcall_writer w;
    tcall_writer_init(&w, text,
                      (size_t)((char *)e->check->memory + e->size - text));
    tcall_write_json(&w, tcall_json_cursor_(e->text, &e->tok[a]));
    tcall_write_char_(&w, ' '); /* where a number ends */
    e->steps -= (int32_t)(w.len / 16);
    return tcall_ev_scratch_(e, (size_t)(text - table) + w.len) &&
           tcall_ev_is_(e, b, tcall_ev_kind_(e, b), text);
}

/* The elements go into a hash table one after the other; only those that hash
 * alike are compared. Returns the second of two that are equal, 0: none. */
static uint32_t tcall_ev_repeated_(tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_after_(e, f->tok), slots = 1, i, hash, k;
    tcall_ev_slot_ *table;
    for (i = f->tok + 1; i < end; i = tcall_ev_after_(e, i))
        slots += 2;
    table = (tcall_ev_slot_ *)tcall_ev_scratch_(e, slots * sizeof *table);
    if (!table)
        return 0;
    memset(table, 0, slots * sizeof *table);
    for (i = f->tok + 1; i < end; i = tcall_ev_after_(e, i)) {
        hash = tcall_ev_hash_(e, i);
        for (k = hash % slots; table[k].element; k = (k + 1) % slots)
            if (--e->steps < 0 || e->error ||
                (table[k].hash == hash &&
                 tcall_ev_equal_(e, i, table[k].element,
                                 (char *)(table + slots))))
                return i;
        table[k].hash = hash;
        table[k].element = i;
        e->steps--;
    }
    return 0;
}

/* Both are scaled so that the divisor is an integer; then the remainder is
 * carried through the digits. */
static bool tcall_ev_multiple_(const tcall_num_ *n, const tcall_num_ *by)
{
    const char *p = n->first;
    int digits = tcall_num_digits_(by), left = n->top - by->top + digits;
    uint32_t m = tcall_num_digits_value_(by, digits), rest = 0;
    if (!n->sign || left < tcall_num_digits_(n))
        return !n->sign;
    for (; left > 0; left--)
        rest = (rest * 10 + (uint32_t)tcall_num_digit_(n, &p)) % m;
    return rest == 0;
}

TCALL_APART_ static bool tcall_ev_bound_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                                         int op)
{
    const tcall_num_ *n = tcall_ev_num_(e, f->tok);
    tcall_num_ bound = tcall_num_read_(
        tcall_slice_(tcall_node_at_(e->s, f->pc), e->program[f->pc].arg));
    int order;
    if (op == TCALL_K_MULTIPLE_)
        return tcall_ev_multiple_(n, &bound);
    order = tcall_num_compare_(n, &bound);
    if (tcall_keywords_[op].bound == TCALL_AT_MOST_)
        order = -order;
    if (op == TCALL_K_ABOVE_ || op == TCALL_K_BELOW_)
        return order > 0;
    return order >= 0;
}

/* The characters of a string, the elements of an array or the members of an
 * object. */
static uint32_t tcall_ev_length_(const tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    tcall_str s = tcall_ev_of_(e, f->tok);
    uint32_t count = 0;
    size_t i;
    if (f->type != TCALL_STRING)
        return (uint32_t)tcall_json_count(
            tcall_json_cursor_(e->text, &e->tok[f->tok]));
    for (i = 0; i < s.len; i++)
        count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return count;
}

static bool tcall_ev_within_(const tcall_ev_ *e, const tcall_ev_frame_ *f,
                             int op)
{
    bool most = tcall_keywords_[op].bound == TCALL_AT_MOST_;
    uint32_t limit = e->program[f->pc].arg, length;
    if (f->type == TCALL_STRING) {
        /* characters have up to 4 bytes: often there is no need to count */
        size_t bytes = tcall_ev_of_(e, f->tok).len;
        if (most ? bytes <= limit : bytes < limit)
            return most;
        if (!most && bytes / 4 >= limit)
            return true;
    }
    length = tcall_ev_length_(e, f);
    return most ? length <= limit : length >= limit;
}

/* required: whether the member that the node at pc names is there. Where as
 * many required properties were met as the first node counts, all of them are.
 */
static bool tcall_ev_required_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t arg = e->program[f->pc].arg, count = arg & TCALL_SPAN_;
    if (count)
        f->complete = f->required == count;
    return (f->complete && arg & TCALL_MARKED_) || tcall_ev_find_(e, f);
}

/* A keyword that applies no schema. */
static void tcall_ev_assert_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const char *at = tcall_node_at_(e->s, f->pc);
    const tcall_keyword_ *keyword;
    bool ok = true;
    if (op >= TCALL_K_COUNT_)
        return;
    keyword = &tcall_keywords_[op];
    if (keyword->type != TCALL_MISSING && keyword->type != f->type)
        return;
    switch (op) {
    case TCALL_K_PATTERN_: ok = tcall_ev_match_(e, f->pc, f->tok); break;
    case TCALL_K_CONST_: ok = tcall_ev_is_(e, f->tok, f->type, at); break;
    case TCALL_K_ENUM_: ok = tcall_ev_enum_(e, f, at); break;
    case TCALL_K_UNIQUE_: ok = !tcall_ev_repeated_(e, f); break;
    case TCALL_K_REQUIRED_: ok = tcall_ev_required_(e, f); break;
    default:
        if (keyword->type == TCALL_NUMBER)
            ok = tcall_ev_bound_(e, f, op);
        else if (keyword->type != TCALL_MISSING)
            ok = tcall_ev_within_(e, f, op);
    }
    if (!ok)
        tcall_ev_fails_(e, f, f->pc);
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
TCALL_APART_ static unsigned tcall_ev_coerced_(tcall_ev_ *e, uint32_t types,
                                               uint32_t tok, unsigned flags)
{
    tcall_str s = tcall_ev_of_(e, tok);
    unsigned type = TCALL_BOOL;
    int mark = TCALL_MARK_LITERAL_;
    if (!tcall_text_same_("\"True\"", s) && !tcall_text_same_("\"False\"", s)) {
        tcall_scan *scan = (tcall_scan *)tcall_ev_scratch_(e, sizeof *scan);
        if (!scan || tcall_scan_text_(scan, s) != TCALL_OK ||
            tcall_is_space_(*s.ptr))
            return 0;
        type = tcall_type_at_(s.ptr);
        mark = TCALL_MARK_JSON_;
        if (type == TCALL_NULL ||
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

/* The type that a value counts as which is not of the types wanted, 0: that is
 * a fault. */
static unsigned tcall_ev_retype_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                                 unsigned flags)
{
    uint32_t types = e->program[schema].arg >> TCALL_TYPES_ & 0x7F;
    unsigned type = tcall_ev_kind_(e, tok), as = 0;
    if (type == TCALL_NUMBER && types & TCALL_INTEGER_)
        as = tcall_num_integral_(tcall_ev_num_(e, tok)) ? type : 0;
    else if (type == TCALL_STRING && types && !(flags & TCALL_F_STRICT_))
        as = tcall_ev_coerced_(e, types, tok, flags);
    if (!as) {
        tcall_ev_fault_(e, flags, schema, tok, tcall_node_at_(e->s, schema));
        e->progress--;
    }
    return as;
}

/* Whether a frame is done: it failed, and nobody asks for what else is wrong.
 */
static bool tcall_ev_over_(const tcall_ev_frame_ *f)
{
    return f->flags & TCALL_F_BAD_ && f->flags & TCALL_F_QUIET_;
}

/* Whether a node is a keyword that is at work for longer than one step. */
static bool tcall_ev_applies_(int op)
{
    return op == TCALL_K_INDEX_ ||
           (op < TCALL_K_COUNT_ &&
            tcall_keywords_[op].applies < TCALL_TO_NOTHING_);
}

/* Decides the assertions of the frame on top, up to the next keyword that
 * applies schemas: TCALL_PUSHED_. When there is none the frame goes, with the
 * answer. */
static int tcall_ev_resume_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    f->cur = TCALL_NEVER_;
    while (f->pc < f->end && !tcall_ev_over_(f)) {
        int op = tcall_node_op_(&program[f->pc]);
        if (tcall_ev_applies_(op))
            return TCALL_PUSHED_;
        e->steps--;
        tcall_ev_assert_(e, f, op);
        f->pc = tcall_node_after_(program, f->pc);
    }
    e->depth--;
    return !(f->flags & TCALL_F_BAD_);
}

/* Applies a schema to a value: 1 it holds, 0 it does not, TCALL_PUSHED_: a
 * frame is at work on it. */
static int tcall_ev_enter_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                           unsigned flags)
{
    uint32_t arg = e->program[schema].arg;
    unsigned type = tcall_ev_kind_(e, tok);
    tcall_ev_frame_ *f;
    if (!(arg >> (type + TCALL_TYPES_ - 1) & 1)) {
        type = tcall_ev_retype_(e, schema, tok, flags);
        if (!type || type >= TCALL_ARRAY)
            return type != 0;
    }
    if ((arg & TCALL_SPAN_) == 1)
        return 1;
    f = (tcall_ev_frame_ *)tcall_ev_scratch_(e, sizeof *f);
    if (e->depth == TOOLCALL_MAX_FRAMES)
        e->error = TCALL_E_DEPTH;
    if (e->error)
        return 0;
    e->depth++;
    f->schema = schema;
    f->end = schema + (arg & TCALL_SPAN_);
    f->pc = schema + 1;
    f->tok = tok;
    f->next_key = tok + 1;
    f->known = f->branch = f->progress = f->match_count = 0;
    f->required = 0;
    f->holding = 0;
    f->complete = false;
    f->type = (uint8_t)type;
    f->flags = (uint8_t)flags;
    return tcall_ev_resume_(e, f);
}

TCALL_APART_ static uint32_t tcall_ev_child_(const tcall_ev_ *e,
                                             const tcall_ev_frame_ *f, int op)
{
    return tcall_node_child_(e->program, f->schema, f->end, op);
}

/* Whether a member is one that the keyword is not applied to. */
static bool tcall_ev_skips_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op,
                            uint32_t value)
{
    uint32_t key = value - 1;
    if (op == TCALL_K_ADDITIONAL_)
        return tcall_ev_property_(e, f, key) || tcall_ev_patterned_(e, f, key);
    return op == TCALL_K_PATTERNS_ && !tcall_ev_match_(e, f->pc + 1, key);
}

/* The first element that is not for a prefixItems before node end. */
static uint32_t tcall_ev_rest_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    uint32_t end = op == TCALL_K_PREFIX_ ? f->pc : f->end;
    uint32_t i, tok = f->tok + 1, stop = tcall_ev_after_(e, f->tok);
    for (i = f->schema + 1; i < end && tok < stop && --e->steps >= 0;
         i = tcall_node_after_(e->program, i))
        if (tcall_node_op_(&e->program[i]) == TCALL_K_PREFIX_)
            tok = tcall_ev_after_(e, tok);
    return op == TCALL_K_EXTRA_ && tok == f->tok + 1 ? stop : tok;
}

/* The next value that the schema at pc is for, NEVER: there is none left. */
static uint32_t tcall_ev_next_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    uint32_t end = tcall_ev_after_(e, f->tok), cur = f->cur;
    unsigned applies = tcall_keywords_[op].applies;
    bool members = applies == TCALL_TO_MEMBERS_;
    if (applies == TCALL_TO_VALUE_)
        return f->tok;
    if (f->type != tcall_keywords_[op].type)
        return TCALL_NEVER_;
    if (applies == TCALL_TO_PRESENT_)
        return tcall_ev_find_(e, f) ? f->tok : TCALL_NEVER_;
    if (op == TCALL_K_ADDITIONAL_ && f->tok + 1 + f->known == end)
        return TCALL_NEVER_; /* properties named them all */
    do {
        if (cur != TCALL_NEVER_)
            cur = tcall_ev_after_(e, cur) + members;
        else if (members || op == TCALL_K_CONTAINS_)
            cur = f->tok + 1 + members;
        else
            cur = tcall_ev_rest_(e, f, op);
        if (cur >= end || --e->steps < 0 || e->error)
            return TCALL_NEVER_;
    } while (tcall_ev_skips_(e, f, op, cur));
    return cur;
}

/* What the schema at pc said about cur. */
static void tcall_ev_answer_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, bool r)
{
    if (f->flags & TCALL_F_LAST_)
        op = TCALL_K_ALLOF_;
    if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
        if (r) {
            f->holding = (uint8_t)(f->holding + (f->holding < 2));
            f->branch = f->pc;
        } else if (!f->holding && e->progress > 2 * f->tok &&
                   e->progress >= f->progress) {
            f->branch = e->progress > f->progress ? f->pc : 0;
            f->progress = e->progress;
        }
    } else if (op == TCALL_K_IF_) {
        f->branch = tcall_ev_child_(e, f, r ? TCALL_K_THEN_ : TCALL_K_ELSE_);
    } else if (op == TCALL_K_CONTAINS_) {
        f->match_count += (uint32_t)r;
    } else if (op == TCALL_K_NOT_ && r) {
        tcall_ev_fails_(e, f, f->pc);
    } else if (op != TCALL_K_NOT_ && !r) {
        f->flags |= TCALL_F_BAD_;
    }
}

/* All alternatives have answered. First they are asked strictly; when none
 * holds and coercion is allowed, again to see how many would then; the one that
 * alone would, or that came furthest, runs last and decides. True: go on with
 * that. */
static bool tcall_ev_choose_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    bool retry = f->flags & TCALL_F_RETRY_;
    bool once = f->holding == 1; /* of anyOf no more are asked strictly */
    uint32_t first = tcall_ev_child_(e, f, op);
    const char *at = tcall_node_at_(e->s, first);
    if (!f->holding && !(f->flags & (TCALL_F_RETRY_ | TCALL_F_STRICT_))) {
        f->flags |= TCALL_F_RETRY_;
        f->pc = first;
        f->branch = f->progress = f->match_count = 0;
        return true;
    }
    if (once ? retry
             : !f->holding && f->branch && !(f->flags & TCALL_F_QUIET_)) {
        f->flags |= TCALL_F_LAST_;
        return true;
    }
    if (!once) {
        while (*at != '[')
            at--;
        tcall_ev_fault_(e, f->flags, first, f->tok, at);
        f->flags |= TCALL_F_BAD_;
    }
    return false;
}

/* The schema at pc has been applied to all that it is for: to the next. */
static void tcall_ev_done_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const tcall_node_ *program = e->program;
    uint32_t next = tcall_node_after_(program, f->pc), min, max;
    if (!(f->flags & TCALL_F_LAST_)) {
        if (op == TCALL_K_IF_ && f->branch) {
            f->flags |= TCALL_F_LAST_;
            return;
        }
        if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
            for (; next < f->end && tcall_node_op_(&program[next]) == op;
                 next = tcall_node_after_(program, next))
                if (!f->holding || op == TCALL_K_ONEOF_ ||
                    f->flags & TCALL_F_RETRY_) {
                    f->pc = next;
                    return;
                }
            if (tcall_ev_choose_(e, f, op))
                return;
        }
    }
    if (op == TCALL_K_CONTAINS_ && f->type == TCALL_ARRAY) {
        min = tcall_ev_child_(e, f, TCALL_K_MIN_CONTAINS_);
        max = tcall_ev_child_(e, f, TCALL_K_MAX_CONTAINS_);
        if (f->match_count < (min ? program[min].arg : 1))
            tcall_ev_fails_(e, f, min ? min : f->pc);
        if (max && f->match_count > program[max].arg)
            tcall_ev_fails_(e, f, max);
    }
    f->pc = next;
    f->branch = f->progress = f->match_count = 0;
    f->holding = 0;
    f->flags &= (uint8_t) ~(TCALL_F_LAST_ | TCALL_F_RETRY_);
}

/* Whether a keyword only asks its schemas: they report no errors. */
static bool tcall_ev_asks_(int op)
{
    return op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_ || op == TCALL_K_IF_ ||
           op == TCALL_K_NOT_ || op == TCALL_K_CONTAINS_;
}

/* Applies the schema at pc, or the deciding branch, to cur. */
static int tcall_ev_apply_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    uint32_t schema = f->pc, tok = f->cur;
    if (f->flags & TCALL_F_LAST_)
        return tcall_ev_enter_(e, f->branch, tok, flags);
    if (tcall_ev_asks_(op))
        flags |= TCALL_F_DRY_ |
                 (f->flags & TCALL_F_RETRY_ ? TCALL_F_QUIET_ : TCALL_F_TEST_);
    if (op == TCALL_K_NAMES_) { /* a name stays a string */
        tok--;
        flags |= TCALL_F_STRICT_;
    }
    if (op == TCALL_K_REF_)
        schema = e->program[schema].arg;
    return tcall_ev_enter_(e, schema, tok, flags);
}

/* Applies the schema of a property to the member at cur. A null may count as
 * absent where coercion is allowed and the property is not required. */
static int tcall_ev_member_(tcall_ev_ *e, tcall_ev_frame_ *f, uint32_t property)
{
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    bool required = e->program[property].arg & TCALL_MARKED_;
    f->known += 1 + (uint32_t)e->tok[f->cur].span;
    f->required += required;
    f->flags &= (uint8_t)~TCALL_F_ABSENT_;
    if (tcall_ev_kind_(e, f->cur) == TCALL_NULL && !required &&
        !(flags & TCALL_F_STRICT_)) {
        f->flags |= TCALL_F_ABSENT_;
        flags |= TCALL_F_TEST_;
    }
    return tcall_ev_enter_(e, property, f->cur, flags);
}

/* A member's schema has answered. */
static void tcall_ev_member_answer_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    if (!r && f->flags & TCALL_F_ABSENT_)
        tcall_ev_mark_(e, f->cur, TCALL_MARK_DROP_, f->flags);
    else if (!r)
        f->flags |= TCALL_F_BAD_;
}

/* properties, where most of the time is spent: each looks for its member. r:
 * what the schema at pc said, or TCALL_PUSHED_. */
static int tcall_ev_members_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    const tcall_node_ *program = e->program;
    do {
        if (r < 0) {
            f->cur = tcall_ev_find_(e, f);
            r = f->cur ? tcall_ev_member_(e, f, f->pc) : 1;
            if (r < 0)
                return r;
        }
        tcall_ev_member_answer_(e, f, r);
        f->pc += program[f->pc].arg & TCALL_SPAN_;
        r = TCALL_PUSHED_;
    } while (f->pc < f->end && !tcall_ev_over_(f) &&
             tcall_node_op_(&program[f->pc]) == TCALL_K_PROPERTIES_);
    return tcall_ev_resume_(e, f);
}

/* Many properties: each member looks for its schema in the index at pc. */
static int tcall_ev_indexed_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    uint32_t end = tcall_ev_after_(e, f->tok), property;
    int op = tcall_node_op_(&e->program[tcall_node_after_(e->program, f->pc)]);
    if (op != TCALL_K_PROPERTIES_ || f->type != TCALL_OBJECT)
        f->cur = end;
    else if (r >= 0)
        tcall_ev_member_answer_(e, f, r);
    for (;;) {
        if (f->cur == TCALL_NEVER_)
            f->cur = f->tok + 2;
        else if (f->cur < end)
            f->cur = tcall_ev_after_(e, f->cur) + 1;
        if (f->cur >= end || tcall_ev_over_(f) || --e->steps < 0)
            break;
        property = tcall_node_find_(e->s, f->pc, f->end,
                                    tcall_ev_of_(e, f->cur - 1), &e->steps);
        if (!property)
            continue;
        r = tcall_ev_member_(e, f, property);
        if (r < 0)
            return r;
        tcall_ev_member_answer_(e, f, r);
    }
    f->pc = tcall_node_after_(e->program, f->pc);
    while (f->pc < f->end && tcall_node_op_(&e->program[f->pc]) == op)
        f->pc = tcall_node_after_(e->program, f->pc);
    return tcall_ev_resume_(e, f);
}

/* Any other keyword that applies schemas. */
static int tcall_ev_walk_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, int r)
{
    unsigned applies = tcall_keywords_[op].applies;
    if (r < 0) {
        f->cur = tcall_ev_next_(e, f, op);
        if (f->cur != TCALL_NEVER_)
            return tcall_ev_apply_(e, f, op);
    } else {
        tcall_ev_answer_(e, f, op, r);
        if ((applies == TCALL_TO_MEMBERS_ || applies == TCALL_TO_ELEMENTS_) &&
            op != TCALL_K_PREFIX_ && !tcall_ev_over_(f))
            return TCALL_PUSHED_; /* to the next member or element */
    }
    tcall_ev_done_(e, f, op);
    return tcall_ev_resume_(e, f);
}

/* The machine: until the root's schema has answered. */
static int tcall_ev_run_(tcall_ev_ *e)
{
    int r = tcall_ev_enter_(e, 0, 0,
                            e->check->coerce ? 0 : (unsigned)TCALL_F_STRICT_);
    while (e->depth && !e->error && --e->steps >= 0) {
        tcall_ev_frame_ *f = &e->frame[e->depth - 1];
        int op = tcall_node_op_(&e->program[f->pc]);
        if (op == TCALL_K_PROPERTIES_)
            r = tcall_ev_members_(e, f, r);
        else if (op == TCALL_K_INDEX_)
            r = tcall_ev_indexed_(e, f, r);
        else
            r = tcall_ev_walk_(e, f, op, r);
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
    int ok;
    check->error_count = check->coerced = check->need = 0;
    if (!s->nodes)
        return TCALL_E_SCHEMA; /* it was refused, or not compiled */
    if (!value.tok)
        return TCALL_E_USAGE;
    memset(&e, 0, sizeof e);
    e.s = s;
    e.program = s->program;
    e.check = check;
    e.text = value.text;
    /* tokens lie in the caller's memory; only marks are written */
    e.tok = (tcall_tok *)(uintptr_t)value.tok;
    e.num_tok = TCALL_NEVER_;
    e.pad = (0 - (size_t)(uintptr_t)check->memory) & 3;
    e.size = check->memory ? check->size : 0;
    e.frame = (tcall_ev_frame_ *)(void *)((char *)check->memory + e.pad);
    e.steps = TOOLCALL_MAX_STEPS;
    tcall_ev_unmark_(&e);
    ok = tcall_ev_run_(&e);
    if (!e.error && e.steps < 0)
        e.error = TCALL_E_BUDGET;
    else if (!e.error && !ok)
        e.error = TCALL_E_INVALID;
    if (e.error)
        tcall_ev_unmark_(&e);
    return e.error;
}

/* ==========================================================================
 * >>schema_errors: what is wrong with a value or a schema, in sentences
 */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* A value: a string of which s is the content, else JSON text. */
static void tcall_show_(tcall_writer *w, tcall_str s, bool string)
{
    bool cut = s.len > TCALL_SHOWN_;
    tcall_write_comma_(w);
    if (cut)
        s.len = tcall_utf8_cut_(s.ptr, TCALL_SHOWN_);
    if (!cut && !string) {
        tcall_write_bytes(w, s.ptr, s.len);
        return;
    }
    tcall_write_char_(w, '"');
    tcall_write_content_(w, s);
    tcall_write_text(w, cut ? "...\"" : "\"");
}

static void tcall_show_found_(tcall_writer *w, const char *text,
                              const tcall_tok *t)
{
    int type = t->type & TCALL_TYPE_;
    tcall_str s = tcall_tok_str_(text, t);
    if (type >= TCALL_ARRAY)
        s = tcall_str_of(type == TCALL_ARRAY ? "an array" : "an object");
    tcall_show_(w, s, type >= TCALL_STRING);
}

/* "path": the JSON Pointer of a token; of a key that of its value. */
static void tcall_show_path_(tcall_writer *w, tcall_json v,
                             const tcall_tok *tok)
{
    const tcall_tok *t = v.tok;
    tcall_write_texts_(w, "'path':'", NULL, NULL);
    while (t < tok) {
        const char *p, *from, *end;
        int i = 0;
        for (t++; t += (t->type & TCALL_KEY_) != 0, t + t->span <= tok; i++)
            t += t->span;
        tcall_write_char_(w, '/');
        if (!(t->type & TCALL_MEMBER_)) {
            w->last = 0; /* no comma */
            tcall_write_int(w, i);
            continue;
        }
        from = v.text + t[-1].start;
        end = v.text + t[-1].end;
        for (p = from;; p++) {
            if (p < end && *p != '/' && *p != '~')
                continue;
            tcall_write_content_(w, tcall_slice_(from, (size_t)(p - from)));
            if (p == end)
                break;
            tcall_write_text(w, *p == '/' ? "~1" : "~0");
            from = p + 1;
        }
    }
    tcall_write_char_(w, '"');
}

/* The names that the schema around a node has properties for. */
static void tcall_show_names_(tcall_writer *w, const tcall_schema *s,
                              uint32_t node)
{
    const tcall_node_ *program = s->program;
    size_t room = w->len + 2 * TCALL_SHOWN_;
    uint32_t i = node, end;
    do
        i--;
    while (tcall_node_after_(program, i) <= node);
    end = tcall_node_after_(program, i);
    tcall_write_open(w, '[');
    for (i++; i < end && w->len < room; i = tcall_node_after_(program, i))
        if (tcall_node_op_(&program[i]) == TCALL_K_PROPERTIES_)
            tcall_write_verbatim(w, tcall_text_verbatim_(tcall_node_at_(s, i)));
    tcall_write_close(w, ']');
}

int tcall_write_validation_error(tcall_writer *w, const tcall_schema *s,
                                 tcall_json value,
                                 const tcall_validation_error *fault)
{
    const tcall_tok *found = value.tok + fault->tok;
    int op = tcall_node_op_(&s->program[fault->node]);
    const char *at = s->text + fault->at, *p = at, *message = "not satisfied";
    tcall_str keyword = tcall_slice_(NULL, 0);
    if (op == TCALL_K_REQUIRED_) {
        keyword = tcall_slice_("required", 8);
        message = "missing property";
    } else if (op < TCALL_K_COUNT_ &&
               tcall_keywords_[op].applies != TCALL_ASSERTS_ && *at != '[' &&
               op != TCALL_K_NOT_ && op != TCALL_K_CONTAINS_) {
        at = *at == '"' ? tcall_text_value_(at) : at;
        message = "not allowed";
        if (*at == '{') { /* what stands there is a schema: its type */
            at = p = tcall_text_get_(at, "type");
            message = "wrong type";
        } else if (op != TCALL_K_ADDITIONAL_) {
            keyword = tcall_slice_(at, 5); /* false */
        }
    }
    if (!keyword.ptr) { /* it stands in front of the value */
        while (*--p != '"')
            ;
        keyword.ptr = p;
        while (*--keyword.ptr != '"')
            ;
        keyword.len = (size_t)(p - ++keyword.ptr);
    }
    tcall_write_open(w, '{');
    tcall_show_path_(w, value, found);
    tcall_write_key(w, "keyword");
    tcall_write_str(w, keyword);
    tcall_write_texts_(w, "'message':'%','expected':", message, NULL);
    if (op == TCALL_K_ADDITIONAL_ && *at == 'f')
        tcall_show_names_(w, s, fault->node);
    else
        tcall_show_(w, tcall_text_verbatim_(at), false);
    if (op != TCALL_K_REQUIRED_) {
        tcall_write_key(w, "found");
        tcall_show_found_(w, value.text, found);
    }
    return tcall_write_close(w, '}');
}

int tcall_write_validation_errors(tcall_writer *w, const tcall_schema *s,
                                  tcall_json value, const tcall_check *check)
{
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < check->error_count && i < check->error_cap; i++)
        tcall_write_validation_error(w, s, value, &check->errors[i]);
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
        tcall_show_found_(w, value.text, tok);
        if (tok->mark != TCALL_MARK_DROP_) {
            tcall_write_key(w, "to");
            tcall_write_comma_(w);
            tcall_write_scalar_(w, value.text, tok);
        }
        tcall_write_close(w, '}');
    }
    return tcall_write_close(w, ']');
}

/* -- Schema errors -------------------------------------------------------- */

/* A name of a JSON Pointer; quote: the name in JSON text. */
static void tcall_write_pointer_name_(tcall_writer *w, const char *quote)
{
    tcall_write_text(w, "/");
    for (quote++; *quote != '"';) {
        char bytes[4];
        size_t len = tcall_text_char_(&quote, bytes);
        const char *escape = tcall_pointer_escape_(*bytes);
        if (escape)
            tcall_write_text(w, escape);
        else
            tcall_write_bytes(w, bytes, len);
    }
}

/* The JSON Pointer of the value, or of the member whose name begins, at a place
 * in JSON text. */
static void tcall_write_place_(tcall_writer *w, const char *text,
                               const char *place)
{
    const char *value = tcall_text_space_(text), *member = value;
    while (member < place && (*value == '{' || *value == '[')) {
        bool object = *value == '{';
        long index = 0;
        for (member = tcall_text_next_(value + 1);; index++) {
            const char *next;
            value = object ? tcall_text_value_(member) : member;
            next = tcall_text_next_(tcall_text_skip_(value));
            if (next > place || tcall_text_closes_(next))
                break;
            member = next;
        }
        if (object) {
            tcall_write_pointer_name_(w, member);
        } else {
            tcall_write_text(w, "/");
            w->last = 0; /* no comma */
            tcall_write_int(w, index);
        }
        member = value > place ? place : value;
    }
}

int tcall_write_schema_error(tcall_writer *w, const tcall_schema *schema)
{
    if (!schema->reason)
        return tcall_write_text(w, "ok");
    if (schema->text) {
        const char *place = schema->text + schema->at;
        if (place == tcall_text_space_(schema->text))
            tcall_write_text(w, "the schema");
        tcall_write_place_(w, schema->text, place);
        tcall_write_text(w, ": ");
        tcall_write_text(w, schema->reason);
        tcall_write_text(w, " ");
        w->last = 0; /* no comma */
        tcall_show_(w, tcall_text_verbatim_(place), false);
    } else {
        tcall_write_text(w, schema->reason);
    }
    if (schema->remedy) {
        tcall_write_text(w, "; ");
        tcall_write_text(w, schema->remedy);
    }
    return w->error;
}

/* ==========================================================================
 * >>chat
 */

/* The parts of an item, in their order, which is that of tcall_item. */
enum {
    TCALL_PART_ID_,
    TCALL_PART_NAME_,
    TCALL_PART_SIGN_,
    TCALL_PART_TEXT_,
    TCALL_PARTS_
};

/* Of bytes only: it stands in the block wherever its item begins. */
typedef struct tcall_head_ {
    uint8_t kind; /* tcall_kind and the flags below */
    int8_t error;
    uint8_t index, choice; /* of a call while its answer is read */
    uint8_t len[TCALL_PARTS_][sizeof(uint32_t)];
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

#define TCALL_HEAD_ sizeof(tcall_head_)
/* Text and arguments leave so much free, for the head, id and name of the
 * next call: it then can at least be named. */
#define TCALL_RESERVE_ 64

TCALL_SHARED_ tcall_head_ *tcall_head_at_(const tcall_chat *c, size_t at)
{
    return (tcall_head_ *)(void *)(c->block->base + at);
}

TCALL_SHARED_ size_t tcall_len_(const tcall_head_ *h, int part)
{
    uint32_t n;
    memcpy(&n, h->len[part], sizeof n);
    return n;
}

TCALL_SHARED_ void tcall_len_set_(tcall_head_ *h, int part, size_t len)
{
    uint32_t n = (uint32_t)len;
    memcpy(h->len[part], &n, sizeof n);
}

/* Where a part ends, from the head on; the last one ends the item. */
TCALL_SHARED_ size_t tcall_head_end_(const tcall_head_ *h, int part)
{
    size_t n = TCALL_HEAD_;
    for (; part >= 0; part--)
        n += tcall_len_(h, part);
    return n;
}

/* Have both items the same part? */
TCALL_SHARED_ bool tcall_head_same_(const tcall_head_ *a, const tcall_head_ *b,
                                    int part)
{
    size_t n = tcall_len_(a, part);
    return n == tcall_len_(b, part) &&
           memcmp((const char *)a + tcall_head_end_(a, part - 1),
                  (const char *)b + tcall_head_end_(b, part - 1), n) == 0;
}

TCALL_SHARED_ size_t tcall_head_size_(const tcall_head_ *h)
{
    return tcall_head_end_(h, TCALL_PART_TEXT_);
}

void tcall_chat_init(tcall_chat *chat, tcall_block *block)
{
    chat->block = block;
    chat->start = block->low;
    chat->made = 0;
}

TCALL_SHARED_ char *tcall_copy_(char *to, tcall_str s)
{
    if (s.len)
        memcpy(to, s.ptr, s.len);
    return to + s.len;
}

int tcall_chat_add(tcall_chat *chat, const tcall_item *item)
{
    const tcall_str *parts =
        (const tcall_str *)(const void *)((const char *)item +
                                          offsetof(tcall_item, id));
    size_t at = chat->block->low, size = TCALL_HEAD_;
    tcall_head_ *h = tcall_head_at_(chat, at);
    char *to = chat->block->base + at + TCALL_HEAD_;
    int i;
    for (i = 0; i < TCALL_PARTS_; i++)
        size += parts[i].len;
    if (!tcall_block_grow_(chat->block, size))
        return TCALL_E_MEMORY;
    memset(h, 0, sizeof *h);
    h->kind = (uint8_t)(item->kind | (item->made ? TCALL_ITEM_MADE_ : 0) |
                        (item->lost ? TCALL_ITEM_LOST_ : 0));
    h->error = (int8_t)item->error;
    for (i = 0; i < TCALL_PARTS_; i++) {
        tcall_len_set_(h, i, parts[i].len);
        to = tcall_copy_(to, parts[i]);
    }
    return TCALL_OK;
}

bool tcall_chat_next(const tcall_chat *chat, size_t *at, tcall_item *item)
{
    size_t from = chat->start + *at;
    tcall_str *parts =
        (tcall_str *)(void *)((char *)item + offsetof(tcall_item, id));
    const tcall_head_ *h;
    const char *p;
    int i;
    if (from >= chat->block->low)
        return false;
    h = tcall_head_at_(chat, from);
    p = chat->block->base + from + TCALL_HEAD_;
    item->kind = h->kind & TCALL_ITEM_KIND_;
    item->made = (h->kind & TCALL_ITEM_MADE_) != 0;
    item->lost = (h->kind & TCALL_ITEM_LOST_) != 0;
    item->error = h->error;
    for (i = 0; i < TCALL_PARTS_; i++) {
        parts[i] = tcall_slice_(p, tcall_len_(h, i));
        p += parts[i].len;
    }
    *at = (size_t)(p - chat->block->base) - chat->start;
    return true;
}

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
 * >>tools
 */

/* Returns what the tool needs: everything when it declares nothing. */
TCALL_SHARED_ unsigned tcall_needs_(const tcall_tool *tool)
{
    return tool->permissions ? tool->permissions : (unsigned)TCALL_EVERYTHING;
}

bool tcall_enabled(const tcall_tool *tool, unsigned allow)
{
    return (tcall_needs_(tool) & ~(allow & TCALL_EVERYTHING)) == 0;
}

size_t tcall_peak(const tcall *tc)
{
    return tc->block.peak;
}

const tcall_tool *tcall_find(const tcall *tc, tcall_str name)
{
    size_t i;
    if (!name.len) /* a row that is free */
        return NULL;
    for (i = 0; i < tc->desc.tool_count; i++)
        if (tcall_str_eq(tcall_str_of(tc->desc.tools[i].name), name))
            return &tc->desc.tools[i];
    return NULL;
}

/* Every provider takes such a name; some take more. */
static bool tcall_name_ok_(const char *name)
{
    size_t i;
    for (i = 0; name[i] && i <= 64; i++) {
        char c = (char)(name[i] | 0x20);
        bool letter = (c >= 'a' && c <= 'z') || name[i] == '_';
        bool other = tcall_is_digit_(name[i]) || name[i] == '-';
        if (!letter && !(other && i > 0))
            return false;
    }
    return i > 0 && i <= 64;
}

/* One line of the report: "name: what"; a refused schema says why itself. */
static int tcall_fault_line_(tcall *tc, const tcall_tool *tool,
                             const char *what, const tcall_schema *refused)
{
    tcall_writer *w = tc->desc.report;
    if (w) {
        tcall_write_text(w, tool->name ? tool->name : "(no name)");
        tcall_write_text(w, ": ");
        tcall_write_text(w, what);
        if (refused)
            tcall_write_schema_error(w, refused);
        tcall_write_char_(w, '\n');
    }
    return TCALL_E_TOOL;
}

/* Compile into the free part of the block; the program is not held yet. */
TCALL_SHARED_ int tcall_tool_compile_(tcall *tc, tcall_schema *out,
                                      const char *text)
{
    tcall_block *b = &tc->block;
    int r = tcall_schema_compile(out, tcall_str_of(text), tcall_block_gap_(b),
                                 tcall_block_free_(b), TCALL_DRAFT_2020);
    if (r == TCALL_E_MEMORY || r >= 0)
        if (!tcall_block_room_(b, r < 0 ? out->need : (size_t)r))
            r = TCALL_E_MEMORY;
    return r;
}

/* A schema of a row must compile. A foreign validator decides itself what it
 * can check. */
static int tcall_schema_add_(tcall *tc, tcall_schema *s, const char *text)
{
    int r;
    if (!tc->desc.validator)
        return tcall_tool_compile_(tc, s, text);
    r = tcall_scan_whole_(tcall_str_of(text));
    s->text = NULL;
    s->reason = "is not JSON";
    return r < 0 ? TCALL_E_SCHEMA : TCALL_OK;
}

/* What is wrong with a row but for its schemas: bits, and their words. */
static const char tcall_row_faults_[] =
    "the name must be 1 to 64 of A-Z a-z 0-9 _ -, the first no 0-9 -\0"
    "another tool has this name\0"
    "run is missing\0"
    "parameters or allow_no_schema is missing\0"
    "fields need args_size: sizeof the struct that they describe";

static unsigned tcall_tool_check_(const tcall *tc, const tcall_tool *tool)
{
    unsigned wrong = !tool->name || !tcall_name_ok_(tool->name);
    const tcall_tool *first = tcall_find(tc, tcall_str_of(tool->name));
    if (first && first != tool)
        wrong |= 1u << 1;
    if (!tool->run)
        wrong |= 1u << 2;
    if (!tool->parameters && !tool->allow_no_schema)
        wrong |= 1u << 3;
    if (tool->fields && !tool->args_size)
        wrong |= 1u << 4;
    return wrong;
}

/* The error of a table: a lack of memory counts more than a wrong row, since
 * with it not all rows could be judged. */
static int tcall_worse_(int a, int b)
{
    return a == TCALL_OK || b == TCALL_E_MEMORY ? b : a;
}

/* All faults of a row; keep holds the program of its parameters in the block.
 */
static int tcall_tool_add_(tcall *tc, size_t index, tcall_schema *keep)
{
    const tcall_tool *tool = &tc->desc.tools[index];
    const char *const texts[] = {tool->parameters, tool->output,
                                 tool->provider_schema};
    unsigned wrong = tcall_tool_check_(tc, tool);
    int i, r = TCALL_OK;
    for (i = 0; wrong >> i; i++)
        if (wrong >> i & 1)
            r = tcall_fault_line_(tc, tool, tcall_nth_(tcall_row_faults_, i),
                                  NULL);
    for (i = 0; i < 3; i++) {
        tcall_schema scratch, *s = keep && i == 0 ? keep : &scratch;
        int n = texts[i] ? tcall_schema_add_(tc, s, texts[i]) : TCALL_OK;
        if (n == TCALL_E_SCHEMA)
            n = tcall_fault_line_(
                tc, tool,
                tcall_nth_("parameters: \0output: \0provider_schema: ", i), s);
        else if (n > 0 && s == keep)
            tcall_block_grow_(&tc->block, (size_t)n);
        r = tcall_worse_(r, n < 0 ? n : TCALL_OK);
    }
    return r;
}

int tcall_init(tcall *tc, const tcall_desc *desc)
{
    size_t i, table;
    int r = TCALL_OK;
    memset(tc, 0, sizeof *tc);
    tc->desc = *desc;
    tcall_block_init(&tc->block, desc->block, desc->block_size);
    table = (desc->tool_count * sizeof(tcall_schema) + 7) & ~(size_t)7;
    if (!desc->lazy_schemas && !desc->validator) {
        tc->schemas = (tcall_schema *)(void *)tcall_block_gap_(&tc->block);
        if (!tcall_block_grow_(&tc->block, table)) {
            tc->schemas = NULL;
            r = TCALL_E_MEMORY;
        }
    }
    for (i = 0; i < desc->tool_count; i++)
        r = tcall_worse_(
            r, tcall_tool_add_(tc, i, tc->schemas ? &tc->schemas[i] : NULL));
    if (r < 0)
        tc->desc.tool_count = 0;
    return r;
}

/* A row that is free: needs what nobody can be given. */
#define TCALL_GONE_ (TCALL_EVERYTHING + 1)

int tcall_extend(tcall *tc, tcall_tool *rows, size_t row_count)
{
    size_t used = tc->desc.tool_count * sizeof *tc->schemas;
    size_t table = (row_count * sizeof *tc->schemas + 7) & ~(size_t)7;
    char *more = tcall_block_gap_(&tc->block);
    if (tc->rows)
        return TCALL_E_USAGE;
    if (row_count < tc->desc.tool_count ||
        (tc->schemas && !tcall_block_grow_(&tc->block, table)))
        return TCALL_E_MEMORY;
    if (tc->schemas) {
        memset(more, 0, table);
        memcpy(more, tc->schemas, used);
        tc->schemas = (tcall_schema *)(void *)more;
    }
    if (tc->desc.tool_count)
        memmove(rows, tc->desc.tools, tc->desc.tool_count * sizeof *rows);
    tc->desc.tools = tc->rows = rows;
    tc->row_count = row_count;
    return TCALL_OK;
}

int tcall_add(tcall *tc, const tcall_tool *tool)
{
    size_t all = tc->desc.tool_count, i = all;
    int r = TCALL_E_TOOL;
    if (!tc->rows)
        return TCALL_E_USAGE;
    if (tool->name && tcall_find(tc, tcall_str_of(tool->name)))
        return tcall_fault_line_(tc, tool, tcall_nth_(tcall_row_faults_, 1),
                                 NULL);
    if (tc->block.high == 0) /* no call is under way */
        for (i = 0; i < all && tc->rows[i].permissions != TCALL_GONE_; i++)
            ;
    if (i == tc->row_count)
        return TCALL_E_MEMORY;
    tc->rows[i] = *tool;
    if (!(tool->permissions & ~TCALL_EVERYTHING))
        r = tcall_tool_add_(tc, i, NULL);
    if (r < 0) {
        memset(&tc->rows[i], 0, sizeof tc->rows[i]);
        tc->rows[i].name = "";
        tc->rows[i].permissions = TCALL_GONE_;
        return r;
    }
    if (i == all)
        tc->desc.tool_count++;
    return (int)i;
}

int tcall_remove(tcall *tc, tcall_str name)
{
    const tcall_tool *tool = tcall_find(tc, name);
    tcall_tool *row;
    if (!tool || !tc->rows)
        return TCALL_E_UNKNOWN;
    row = tc->rows + (tool - tc->rows);
    row->name = "";
    row->permissions = TCALL_GONE_;
    row->pinned = false;
    if (tc->schemas)
        memset(&tc->schemas[tool - tc->rows], 0, sizeof *tc->schemas);
    return TCALL_OK;
}

const tcall_tool *tcall_next_tool(const tcall *tc, size_t *i, unsigned allow)
{
    while (*i < tc->desc.tool_count) {
        const tcall_tool *tool = &tc->desc.tools[(*i)++];
        if (tcall_enabled(tool, allow))
            return tool;
    }
    return NULL;
}

TCALL_SHARED_ uint32_t tcall_now_(const tcall *tc)
{
    return tc->desc.now_ms ? tc->desc.now_ms(tc->desc.user) : 0;
}

TCALL_SHARED_ void tcall_tell_(tcall *tc, tcall_event *event,
                               tcall_event_kind kind)
{
    tcall_listener *l, *next;
    event->kind = kind;
    if (tc->desc.on_event)
        tc->desc.on_event(tc->desc.user, event);
    for (l = tc->listeners; l; l = next) {
        next = l->next;
        if (!l->kinds || l->kinds >> kind & 1)
            l->on_event(l->user, event);
    }
}

void tcall_subscribe(tcall *tc, tcall_listener *listener)
{
    listener->next = tc->listeners;
    tc->listeners = listener;
}

void tcall_unsubscribe(tcall *tc, tcall_listener *listener)
{
    tcall_listener **at = &tc->listeners;
    while (*at && *at != listener)
        at = &(*at)->next;
    if (*at)
        *at = listener->next;
}

/* ==========================================================================
 * >>words
 *
 * Cuts text of any script into words, which are compared by their stems:
 * without case, accents, width and English endings. lampOn and HTTPServer are
 * two words each, PDFs is one. Scripts that are written without spaces give
 * pairs of characters instead.
 */

#ifndef TOOLCALL_NO_PICK

enum {
    TCALL_WORD_BYTES_ = 28, /* of a word; further ones do not count */
    TCALL_WORD_PREFIX_ = 6  /* letters that make longer words alike */
};

/* Words that say nothing about what is wanted, by their first letter. Words
 * that tell a device what to do (on, off, up, down, all) are not among them. */
static const char *const tcall_stop_words_[26] = {
    "a able about additionally after again also am an and another any anyone "
    "anything anyway are as at",
    "based be because been before being best between both but by",
    "can could",
    "d did do does doing don done during",
    "e each etc every",
    "finally first following for from furthermore",
    "g give given good great",
    "had has have having he hello help her here hey hi him his how",
    "i if im in into is it its ive",
    "just",
    "kindly know",
    "lastly let lets like ll look looking",
    "m make may me might mine more moreover most must my",
    "need needs next no nor not now",
    "of ok okay once only or other our",
    "per please",
    "",
    "re regarding related",
    "s same second shall she should so some someone something soon such sure",
    "t tell than thank thanks that the their them then there these they thing "
    "things third this those through to too",
    "us use used using",
    "ve very via",
    "want wants was way ways we well were what when where which who whom whose "
    "why will with would",
    "",
    "yes you your",
    ""};

/* ---- characters */

enum {
    TCALL_CHAR_SIGN_,
    TCALL_CHAR_LETTER_, /* or digit */
    TCALL_CHAR_WIDE_,   /* of a script without spaces */
    TCALL_CHAR_MARK_    /* accent of the letter before: it is left out */
};

/* From each code point on, up to the next row, characters are of a kind. */
static const struct tcall_script_ {
    uint32_t first;
    uint8_t kind;
} tcall_scripts_[] = {
    {0x0000, TCALL_CHAR_SIGN_},   {'0', TCALL_CHAR_LETTER_},
    {'9' + 1, TCALL_CHAR_SIGN_},  {'a', TCALL_CHAR_LETTER_},
    {'z' + 1, TCALL_CHAR_SIGN_},  {0x0100, TCALL_CHAR_LETTER_},
    {0x0300, TCALL_CHAR_MARK_},   {0x0370, TCALL_CHAR_LETTER_},
    {0x0E00, TCALL_CHAR_WIDE_},                               /* Thai, Lao */
    {0x0F00, TCALL_CHAR_LETTER_}, {0x1000, TCALL_CHAR_WIDE_}, /* Burmese */
    {0x10A0, TCALL_CHAR_LETTER_}, {0x1780, TCALL_CHAR_WIDE_}, /* Khmer */
    {0x1800, TCALL_CHAR_LETTER_}, {0x2000, TCALL_CHAR_SIGN_},
    {0x2C00, TCALL_CHAR_LETTER_}, {0x2E00, TCALL_CHAR_SIGN_},
    {0x2E80, TCALL_CHAR_WIDE_}, /* Chinese, Japanese, Korean from here on */
    {0x3000, TCALL_CHAR_SIGN_},   {0x3004, TCALL_CHAR_WIDE_},
    {0x3008, TCALL_CHAR_SIGN_},   {0x3040, TCALL_CHAR_WIDE_},
    {0xD7B0, TCALL_CHAR_LETTER_}, {0xD800, TCALL_CHAR_SIGN_},
    {0xF900, TCALL_CHAR_WIDE_},   {0xFB00, TCALL_CHAR_LETTER_},
    {0xFE00, TCALL_CHAR_SIGN_},   {0xFE70, TCALL_CHAR_LETTER_},
    {0xFF00, TCALL_CHAR_SIGN_},   {0xFF68, TCALL_CHAR_WIDE_},
    {0xFFF0, TCALL_CHAR_SIGN_},   {0x10000, TCALL_CHAR_LETTER_},
    {0x1F000, TCALL_CHAR_SIGN_},  {0x20000, TCALL_CHAR_WIDE_}};

typedef struct tcall_char_ {
    uint32_t code; /* without case, accent and width */
    size_t bytes;  /* 0 at the end of the text, which counts as a sign */
    uint8_t kind;
    bool capital;
} tcall_char_;

static bool tcall_between_(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last;
}

static bool tcall_is_letter_(char c)
{
    return tcall_between_((unsigned char)(c | 0x20), 'a', 'z');
}

static uint8_t tcall_char_kind_(uint32_t code)
{
    uint8_t kind = TCALL_CHAR_SIGN_;
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_scripts_); i++)
        if (tcall_scripts_[i].first <= code)
            kind = tcall_scripts_[i].kind;
    return kind;
}

/* The small letter of a code point, without accent where it is Latin-1. */
static uint32_t tcall_char_fold_(uint32_t code)
{
    /* U+00C0 to U+00DF; those from U+00E0 on are the same in small. */
    static const char latin[] = "aaaaaaaceeeeiiiidnooooo ouuuuyts";
    if (tcall_between_(code, 'A', 'Z') ||
        tcall_between_(code, 0x391, 0x3A9) || /* Greek */
        tcall_between_(code, 0x410, 0x42F))   /* Cyrillic */
        return code + 0x20;
    if (tcall_between_(code, 0x400, 0x40F))
        return code + 0x50;
    if (tcall_between_(code, 0xC0, 0xFF))
        return (unsigned char)latin[code % 32];
    if (tcall_between_(code, 0x100, 0x17F)) {
        /* Each capital stands before its small letter: most are even. */
        bool odd = tcall_between_(code, 0x139, 0x148) ||
                   tcall_between_(code, 0x179, 0x17E);
        return code + (code % 2 == odd);
    }
    return code;
}

/* ---- words */

/* A text, and the word of it that was read last. */
typedef struct tcall_split_ {
    const char *cursor, *end;
    const uint32_t *wanted; /* initials of wanted words; NULL: all are */
    bool input;             /* sentences, and keys of JSON, are told apart */
    bool json;              /* escapes are read */
    bool in_key;            /* the word is part of a key */
    bool sentence;          /* a sentence ended before the word */
    bool paired;            /* the wide character at the cursor was in it too */
    uint8_t length;
    const char *word; /* in the text, or where it had to be folded */
    unsigned initials;
    uint32_t stem, prefix;  /* hashes; prefix is 0 for short words */
    unsigned count, longer; /* words of the text so far; of three bytes */
    char folded[TCALL_WORD_BYTES_];
} tcall_split_;

TCALL_SHARED_ void tcall_split_init_(tcall_split_ *words, tcall_str text)
{
    memset(words, 0, offsetof(tcall_split_, folded));
    words->cursor = text.ptr;
    words->end = text.len ? text.ptr + text.len : text.ptr;
}

/* Begins an input of a user, which is text or JSON. */
TCALL_SHARED_ void tcall_split_input_(tcall_split_ *words, tcall_str input)
{
    const char *start;
    tcall_split_init_(words, input);
    for (start = words->cursor; start < words->end; start++)
        if ((unsigned char)*start > ' ')
            break;
    words->input = true;
    words->json = start < words->end && (*start == '{' || *start == '[');
}

/* Decodes an escape of JSON. All but line feeds and code points are signs that
 * mean nothing here. */
static size_t tcall_escape_code_(const char *at, size_t left, uint32_t *code)
{
    size_t i;
    *code = at[1] == 'n' ? '\n' : 0;
    if (at[1] != 'u' || left < 6)
        return 2;
    for (i = 2; i < 6; i++)
        *code = *code << 4 | (tcall_hex_(at[i]) & 15);
    return 6;
}

/* Decodes the character at the cursor and returns its bytes, 0 at the end. A
 * byte that is not UTF-8 has the code 0. */
static size_t tcall_split_code_(const tcall_split_ *words, uint32_t *code)
{
    const char *at = words->cursor;
    size_t left = (size_t)(words->end - at), bytes;
    *code = 0;
    if (left == 0)
        return 0;
    if (*at == '\\' && words->json && left > 1)
        return tcall_escape_code_(at, left, code);
    bytes = (unsigned char)*at < 0x80 ? 1 : tcall_utf8_len_(at, words->end);
    if (bytes == 0)
        return 1;
    *code = (uint32_t)tcall_utf8_next_(&at);
    return bytes;
}

static tcall_char_ tcall_split_char_(const tcall_split_ *words)
{
    tcall_char_ c;
    uint32_t code;
    c.bytes = tcall_split_code_(words, &code);
    if (tcall_between_(code, 0xFF01, 0xFF5E)) /* full-width ASCII */
        code -= 0xFEE0;
    c.code = tcall_char_fold_(code);
    c.kind = tcall_char_kind_(c.code);
    c.capital = c.code != code && !tcall_between_(code, 0xDF, 0xFF);
    return c;
}

/* Whether the string of JSON that begins before `at` is a key. */
static bool tcall_split_is_key_(const tcall_split_ *words, const char *at)
{
    const char *end = words->end;
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    for (at++; at < end && (unsigned char)*at <= ' '; at++)
        ;
    return at < end && *at == ':';
}

/* Whether a byte of ASCII is part of a word, or, like a backslash, may be. */
static bool tcall_in_word_(char c)
{
    return tcall_is_letter_(c) || tcall_is_digit_(c) || c == '\\' ||
           (unsigned char)c >= 0x80;
}

/* Notes what a sign of the input, which ends before `next`, means. */
static void tcall_split_sign_(tcall_split_ *words, uint32_t code,
                              const char *next)
{
    switch (code) {
    case '.': /* but not in 1.5 or example.com */
        if (next >= words->end || !tcall_in_word_(*next))
            words->sentence = true;
        break;
    case '!':
    case '?':
    case ';':
    case '\n':
    case 0x3002: words->sentence = true; break;
    case '"':
        words->in_key = words->json && tcall_split_is_key_(words, next);
        if (words->in_key)
            words->sentence = true;
        break;
    default: break;
    }
}

static void tcall_split_put_(tcall_split_ *words, uint32_t code)
{
    char *end = words->folded + words->length;
    if (words->length + 4 <= TCALL_WORD_BYTES_)
        words->length = (uint8_t)(words->length + tcall_utf8_(end, code));
}

/* Ends a word that begins with a wide character: with a second one, if there
 * is one. The last of a row was part of the word before: it is no word. */
static bool tcall_split_pair_(tcall_split_ *words)
{
    tcall_char_ next = tcall_split_char_(words);
    bool was_paired = words->paired;
    words->paired = next.kind == TCALL_CHAR_WIDE_;
    if (words->paired)
        tcall_split_put_(words, next.code);
    return words->paired || !was_paired;
}

/* Reads a word, or one sign, in which characters are folded or escaped. Returns
 * whether it was a word. */
static bool tcall_split_fold_(tcall_split_ *words)
{
    bool small = false;
    words->word = words->folded;
    for (words->length = 0;;) {
        tcall_char_ c = tcall_split_char_(words);
        bool ends = c.kind == TCALL_CHAR_SIGN_ || c.kind == TCALL_CHAR_WIDE_ ||
                    (c.capital && small);
        if (ends && words->length > 0)
            return true;
        words->cursor += c.bytes;
        if (c.kind == TCALL_CHAR_SIGN_) {
            if (c.code != '"')
                tcall_split_sign_(words, c.code, words->cursor);
            return false;
        }
        if (c.kind == TCALL_CHAR_MARK_)
            continue;
        tcall_split_put_(words, c.code);
        small = !c.capital;
        if (c.kind == TCALL_CHAR_WIDE_)
            return tcall_split_pair_(words);
    }
}

static const char *tcall_skip_range_(const char *at, const char *end,
                                     char first, char last)
{
    while (at < end && *at >= first && *at <= last)
        at++;
    return at;
}

/* Returns the length of the word of ASCII letters or digits at the cursor; 0
 * when other characters, or escapes, are part of it. */
static size_t tcall_split_ascii_(const tcall_split_ *words)
{
    const char *start = words->cursor, *end = words->end;
    const char *small = tcall_skip_range_(start, end, 'A', 'Z');
    const char *after = tcall_skip_range_(small, end, 'a', 'z');
    bool plural = after - small == 1 && *small == 's';
    if (after == start)
        after = tcall_skip_range_(start, end, '0', '9');
    else if (small - start > 1 && after > small && !plural)
        after = small - 1; /* HTTPServer: the last capital begins a word */
    if (after < end &&
        ((unsigned char)*after >= 0x80 || (words->json && *after == '\\')))
        return 0;
    return (size_t)(after - start);
}

/* ---- stems */

static bool tcall_ends_with_(const char *word, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && memcmp(word + length - n, end, n) == 0;
}

static bool tcall_has_vowel_(const char *word, size_t length)
{
    size_t i;
    for (i = 0; i < length; i++)
        if (strchr("aeiouy", word[i]))
            return true;
    return false;
}

/* Returns the length of a word of at least four letters without its English
 * endings, so that its forms are alike: light, lights, lighting. What remains
 * need not be a word, and has three letters or more, a vowel among them. */
static size_t tcall_stem_(const char *word, size_t length)
{
    size_t cut = 0;
    if (word[length - 1] == 's' && !strchr("isu", word[length - 2]))
        length--;
    if (tcall_ends_with_(word, length, "ed"))
        cut = 2;
    else if (tcall_ends_with_(word, length, "ing") ||
             tcall_ends_with_(word, length, "ion"))
        cut = 3;
    if (length - cut > 2 && tcall_has_vowel_(word, length - cut))
        length -= cut;
    if (length > 3 && word[length - 1] == 'e')
        length--;
    if (length > 3 && word[length - 1] == word[length - 2] &&
        !tcall_has_vowel_(word + length - 1, 1))
        length--;
    return length;
}

/* FNV-1a. In words that have endings y counts as i: city, cities. */
static uint32_t tcall_word_hash_(const char *word, size_t length, bool endings)
{
    uint32_t hash = 2166136261u;
    size_t i;
    for (i = 0; i < length; i++) {
        char c = endings && word[i] == 'y' ? 'i' : word[i];
        hash = (hash ^ (unsigned char)c) * 16777619u;
    }
    return hash;
}

/* Only longer words of letters have endings and a prefix, whose hash is
 * inverted: it is not the stem that has the same letters. */
static void tcall_split_stem_(tcall_split_ *words)
{
    const char *word = words->word;
    size_t length = words->length;
    bool endings = length > 3 && tcall_is_letter_(*word);
    if (endings)
        length = tcall_stem_(word, length);
    words->stem = tcall_word_hash_(word, length, endings);
    words->prefix = endings && length >= TCALL_WORD_PREFIX_
                        ? ~tcall_word_hash_(word, TCALL_WORD_PREFIX_, true)
                        : 0;
}

/* ---- the next word */

/* A number of ten bits from the first two letters, which words of the same
 * stem have in common: a quick look before the stem is made. */
static unsigned tcall_initials_(const char *word, size_t length)
{
    unsigned first, second;
    if ((unsigned char)*word >=
        0x80) { /* of UTF-8 the first byte says little */
        word++;
        length--;
    }
    first = word[0] & 31;
    second = length > 1 ? word[1] & 31 : 0;
    if (second == ('y' & 31))
        second = 'i' & 31;
    return first << 5 | second;
}

TCALL_SHARED_ bool tcall_bit_(const uint32_t *bits, unsigned i)
{
    return bits[i / 32] >> i % 32 & 1;
}

TCALL_SHARED_ unsigned tcall_at_most_(size_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

/* Reads what is at the cursor; returns whether it was a word. */
static bool tcall_split_read_(tcall_split_ *words)
{
    size_t length = tcall_split_ascii_(words);
    if (length == 0)
        return tcall_split_fold_(words);
    words->word = words->cursor;
    words->cursor += length;
    words->length = (uint8_t)tcall_at_most_(length, TCALL_WORD_BYTES_);
    return true;
}

/* Counts the word; returns whether it may be wanted. */
static bool tcall_split_count_(tcall_split_ *words)
{
    words->initials = tcall_initials_(words->word, words->length);
    words->count++;
    words->longer += words->length > 2;
    return !words->wanted || tcall_bit_(words->wanted, words->initials);
}

/* Puts a word of ASCII letters that begins with a capital into small ones. */
static void tcall_split_lower_(tcall_split_ *words)
{
    size_t i;
    if (!tcall_between_((unsigned char)*words->word, 'A', 'Z'))
        return;
    for (i = 0; i < words->length; i++)
        words->folded[i] = (char)(words->word[i] | 0x20);
    words->word = words->folded;
}

/* Passes over signs of ASCII. */
static void tcall_split_signs_(tcall_split_ *words)
{
    const char *at = words->cursor, *end = words->end;
    for (; at < end && !tcall_in_word_(*at); at++)
        if (words->input)
            tcall_split_sign_(words, (unsigned char)*at, at + 1);
    words->cursor = at;
}

/* Reads the next wanted word and makes its stem; false at the end. */
TCALL_SHARED_ bool tcall_split_next_(tcall_split_ *words)
{
    words->sentence = false;
    for (;;) {
        tcall_split_signs_(words);
        if (words->cursor == words->end)
            return false;
        if (tcall_split_read_(words) && tcall_split_count_(words))
            break;
    }
    tcall_split_lower_(words);
    tcall_split_stem_(words);
    return true;
}

/* Whether the word says nothing about what is wanted. */
TCALL_SHARED_ bool tcall_split_stops_(const tcall_split_ *words)
{
    const char *list;
    if (!tcall_is_letter_(*words->word))
        return false;
    for (list = tcall_stop_words_[*words->word - 'a']; *list;) {
        size_t length = strcspn(list, " ");
        if (length == words->length && memcmp(list, words->word, length) == 0)
            return true;
        list += length;
        list += *list == ' ';
    }
    return false;
}

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>synonyms
 *
 * A compiler need not accept texts of more than 4095 bytes: there are several.
 */

#if !defined TOOLCALL_NO_SYNONYMS && !defined TOOLCALL_NO_PICK

static const char tcall_synonyms_devices_[] =
    "light lamp bulb illuminate\n"
    "bright brightness dim brighten darken luminosity\n"
    "on activate enable engage start\n"
    "off deactivate disable disengage stop\n"
    "start begin launch initiate\n"
    "stop end halt cancel abort terminate\n"
    "open raise unfold\n"
    "close shut lower\n"
    "increase raise up higher boost\n"
    "decrease reduce lower down less\n"
    "cover blind curtain shade shutter garage\n"
    "lock secure\n"
    "unlock unsecure\n"
    "volume loud louder quiet sound\n"
    "mute silence\n"
    "speaker audio sound stereo\n"
    "play resume listen\n"
    "player media tv television stereo radio\n"
    "pause hold\n"
    "next skip forward\n"
    "previous back last\n"
    "climate thermostat heating hvac temperature\n"
    "heat warm hot heater\n"
    "cool cold chill air conditioner ac\n"
    "temperature degrees celsius fahrenheit\n"
    "fan ventilation ventilator\n"
    "vacuum hoover robot clean\n"
    "clean sweep wash tidy\n"
    "dock charger base home\n"
    "timer countdown\n"
    "alarm alert wake\n"
    "sensor detector measurement reading\n"
    "switch toggle flip\n"
    "plug outlet socket\n"
    "device appliance gadget hardware\n"
    "reboot restart reset\n"
    "battery charge power\n"
    "camera webcam snapshot\n"
    "door gate entry\n"
    "motor servo pump\n"
    "email mail inbox gmail\n"
    "message text sms chat notify\n"
    "notification notify alert push\n"
    "call phone dial telephone\n"
    "send forward deliver\n"
    "calendar schedule agenda\n"
    "meeting appointment event conference\n";
static const char tcall_synonyms_offices_[] =
    "event concert festival happening\n"
    "reserve reservation book booking\n"
    "reminder remind remember memo\n"
    "note memo jot\n"
    "task todo chore\n"
    "document file doc pdf\n"
    "spreadsheet excel csv sheet\n"
    "slide presentation powerpoint ppt\n"
    "summary summarize summarise digest overview brief\n"
    "write compose draft\n"
    "translate translation language interpret\n"
    "grammar spelling proofread\n"
    "rewrite rephrase paraphrase\n"
    "contact person people address\n"
    "create make generate build produce add new\n"
    "delete remove erase clear drop\n"
    "update edit modify change alter adjust revise\n"
    "set configure adjust change\n"
    "add insert append put\n"
    "list show display view enumerate\n"
    "get fetch retrieve obtain find\n"
    "find search lookup locate discover\n"
    "search browse query web\n"
    "check verify validate inspect\n"
    "compare comparison difference versus\n"
    "analyze analysis evaluate assess examine\n"
    "calculate compute calculator determine\n"
    "convert conversion transform change\n"
    "estimate predict prediction forecast project\n"
    "recommend recommendation suggest suggestion advice\n"
    "track monitor follow watch\n"
    "save store keep record\n"
    "record log register\n"
    "register signup enroll join\n"
    "login signin authenticate password\n"
    "read view load open\n"
    "copy duplicate clone\n"
    "move transfer relocate\n"
    "rename name title\n"
    "folder directory path\n"
    "file document\n"
    "upload attach import\n"
    "download export save\n"
    "share publish post\n"
    "website site webpage page url link domain\n"
    "click press tap\n"
    "screenshot snapshot capture\n"
    "image picture photo photograph art\n"
    "draw drawing paint sketch illustration\n"
    "logo icon brand\n"
    "video clip youtube movie\n"
    "movie film cinema\n"
    "song music track tune playlist\n"
    "artist singer band musician\n"
    "lyrics song\n"
    "podcast episode\n"
    "book novel author read\n"
    "news headline article current\n"
    "article blog paper post\n"
    "paper research academic scholar study journal publication\n"
    "game gaming play\n"
    "joke fun funny humor\n"
    "story tale fiction\n"
    "quote saying inspirational\n"
    "weather forecast rain snow climate wind sunny\n"
    "time hour clock timezone\n"
    "date day today tomorrow\n"
    "location place city address where\n"
    "map direction route navigate navigation\n"
    "distance far away\n"
    "near nearby closest around local\n";
static const char tcall_synonyms_web_[] =
    "travel trip vacation holiday journey tour itinerary destination\n"
    "flight airline plane airport fly\n"
    "hotel accommodation lodging stay motel hostel\n"
    "restaurant dining eat cafe dinner lunch\n"
    "food meal dish cuisine\n"
    "recipe cook cooking bake ingredient\n"
    "diet calorie nutrition healthy\n"
    "car vehicle auto automobile\n"
    "drive driving road\n"
    "train rail bus transit\n"
    "taxi ride cab\n"
    "house home property apartment estate\n"
    "rent rental lease\n"
    "buy purchase order shop shopping\n"
    "sell sale\n"
    "price cost fee rate expensive\n"
    "product item goods merchandise\n"
    "gift present\n"
    "discount coupon deal promo offer\n"
    "cart basket checkout\n"
    "shipping delivery parcel package\n"
    "money cash currency fund\n"
    "currency exchange dollar euro\n"
    "stock share ticker equity\n"
    "invest investment investing portfolio finance\n"
    "finance financial bank\n"
    "pay payment bill charge\n"
    "invoice receipt bill\n"
    "tax vat\n"
    "loan mortgage credit debt\n"
    "balance account\n"
    "crypto cryptocurrency bitcoin token coin\n"
    "budget expense spending\n"
    "insurance policy coverage\n"
    "job career employment work hire vacancy\n"
    "resume cv\n"
    "company business firm corporation enterprise\n"
    "customer client user\n"
    "employee staff worker\n"
    "salary wage pay\n"
    "team group\n"
    "sport football soccer basketball match\n"
    "score result\n"
    "health medical medicine\n"
    "doctor physician appointment\n"
    "drug medication medicine pill\n"
    "symptom disease illness\n"
    "exercise workout fitness gym training\n"
    "course class lesson tutorial learn\n"
    "learn study education educational teach\n"
    "student pupil kid child\n"
    "school university college\n"
    "question quiz answer ask\n"
    "exam test\n";
static const char tcall_synonyms_world_[] =
    "explain explanation describe definition meaning\n"
    "word dictionary vocabulary\n"
    "synonym word thesaurus\n"
    "code program programming developer software\n"
    "github repository repo\n"
    "bug error issue problem\n"
    "run execute perform\n"
    "deploy release\n"
    "database sql table\n"
    "server host\n"
    "ip network address\n"
    "chart graph plot diagram visualize\n"
    "map geography\n"
    "data dataset statistic statistics\n"
    "trend popular trending top\n"
    "review rating feedback opinion\n"
    "idea suggestion inspiration\n"
    "plan planning organize\n"
    "law legal lawyer court\n"
    "astrology horoscope zodiac\n"
    "tarot fortune\n"
    "pet dog cat animal\n"
    "plant garden flower\n"
    "outfit fashion clothes clothing style\n"
    "color colour\n"
    "size dimension length\n"
    "big large huge\n"
    "small little tiny\n"
    "average mean\n"
    "sum total add\n"
    "area surface\n"
    "speed fast velocity pace\n"
    "random dice\n"
    "quick fast speed\n"
    "history past historical\n"
    "future upcoming next\n"
    "latest recent newest current\n"
    "free available vacant\n"
    "status state condition\n"
    "info information detail details\n"
    "link connect pair\n"
    "wifi wireless network internet\n"
    "password passcode pin\n"
    "user account profile\n"
    "comment reply respond\n"
    "tweet twitter social\n"
    "chat conversation talk\n"
    "speech voice speak say\n"
    "volume capacity\n"
    "population demographic people\n"
    "country nation\n"
    "language locale\n";
TCALL_DATA_ const char *const tcall_synonyms[] = {
    tcall_synonyms_devices_, tcall_synonyms_offices_, tcall_synonyms_web_,
    tcall_synonyms_world_, NULL};

#endif

/* ==========================================================================
 * >>query: what an input asks for, and what a tool says of it
 *
 * The words of the input are its terms. A term has keys: the stem of its word,
 * its first six letters, and the stems of its synonyms. Of each tool a record
 * of 20 bytes keeps how much its texts say of each term.
 *
 * Keys are known by hashes of 32 bits, since their texts would take more memory
 * than a microcontroller has to spare. Of twenty million different words in the
 * texts of tools one is taken for a key that it is not, and adds a little to
 * the score of its tool; whoever wants a tool to be found can write the word
 * itself, so nobody gains from finding such a word.
 */

#ifndef TOOLCALL_NO_PICK

enum {
    TCALL_QUERY_TERMS_ = 45,    /* different words of the input that count */
    TCALL_QUERY_SENTENCES_ = 7, /* of the input; the last takes the rest */
    TCALL_QUERY_SLOTS_ = 256,   /* of the table of keys */
    TCALL_QUERY_KEYS_ = 224,    /* of them used at most */
    TCALL_QUERY_SUM_ = 100,     /* no sum of a tool grows beyond this much */
    TCALL_FUZZY_MAX_ = 3 /* what all that is like a word counts at most */
};

/* The texts of a tool, and what a word counts in them, in quarters: itself, as
 * a synonym or the like, and for the length of all texts. What the schemas of
 * all tools say weighs nothing. */
enum {
    TCALL_TEXT_NAME_,
    TCALL_TEXT_TITLE_,
    TCALL_TEXT_DESCRIPTION_,
    TCALL_TEXT_TAGS_,
    TCALL_TEXT_PARAMETERS_, /* names, descriptions, and values too */
    TCALL_TEXT_COUNT_
};
static const struct tcall_text_weight_ {
    uint8_t exact, fuzzy, length;
} tcall_text_weights_[TCALL_TEXT_COUNT_] = {
    {12, 3, 4}, {4, 1, 4}, {4, 1, 4}, {4, 1, 4}, {2, 1, 1}};

/* A record keeps a sum as the level that it reaches. */
enum { TCALL_LEVELS_ = 8, TCALL_LEVEL_BITS_ = 3, TCALL_LEVELS_PER_WORD_ = 5 };
static const uint8_t tcall_levels_[TCALL_LEVELS_] = {0, 1, 2, 3, 4, 7, 12, 16};

/* What a tool says of the terms. */
typedef struct tcall_record_ {
    uint16_t levels[TCALL_QUERY_TERMS_ / TCALL_LEVELS_PER_WORD_];
    uint8_t length; /* of its texts, see tcall_record_length_; 0: it may not be
                       picked */
    uint8_t name;   /* how much of its name was asked for; 16: all words */
} tcall_record_;

typedef struct tcall_term_ {
    uint16_t exact_tools; /* that have the word itself */
    uint16_t tools;       /* that have it or something like it */
    uint8_t weight;       /* 16 * log2 of how rare it is */
    uint8_t sentences;    /* bits: 0 is set, then one for each that has it */
    uint8_t exact, fuzzy; /* sums of the tool that is being read */
    bool value;           /* it is not only in keys of JSON */
} tcall_term_;

#define TCALL_KEY_FUZZY_ 0x80u
#define TCALL_KEY_TERM_  0x3Fu

/* All that is needed while tools are ranked for an input. */
typedef struct tcall_query_ {
    uint8_t term_count, sentence_count;
    uint8_t key_count;
    uint32_t best[1 + TCALL_QUERY_SENTENCES_]; /* of all tools; 0: the input */
    uint32_t lengths; /* of all tools, in sixteenths of what records say */
    uint32_t level;   /* the best score of all, in thousandths */
    tcall_term_ terms[TCALL_QUERY_TERMS_];
    uint32_t initials[32];               /* of all keys, see tcall_initials_ */
    uint32_t hashes[TCALL_QUERY_SLOTS_]; /* of keys, by open addressing */
    uint8_t key_terms[TCALL_QUERY_SLOTS_]; /* 1 more than the term, and
                                              TCALL_KEY_FUZZY_; 0: free */
} tcall_query_;

/* ---- records */

TCALL_SHARED_ unsigned tcall_record_level_(const tcall_record_ *record,
                                           unsigned term)
{
    unsigned shift = term % TCALL_LEVELS_PER_WORD_ * TCALL_LEVEL_BITS_;
    return record->levels[term / TCALL_LEVELS_PER_WORD_] >> shift &
           (TCALL_LEVELS_ - 1);
}

/* Keeps a sum, as the highest level that it reaches. */
TCALL_SHARED_ void tcall_record_keep_(tcall_record_ *record, unsigned term,
                                      unsigned sum)
{
    unsigned shift = term % TCALL_LEVELS_PER_WORD_ * TCALL_LEVEL_BITS_;
    uint16_t *levels = &record->levels[term / TCALL_LEVELS_PER_WORD_];
    unsigned level = TCALL_LEVELS_ - 1;
    while (tcall_levels_[level] > sum)
        level--;
    *levels &= (uint16_t) ~((TCALL_LEVELS_ - 1u) << shift);
    *levels |= (uint16_t)(level << shift);
}

/* Keeps the length of the texts, in quarters of a word, and the part of the
 * name that was asked for, which a name without words has none of. */
TCALL_SHARED_ void tcall_record_close_(tcall_record_ *record, unsigned length,
                                       unsigned name_words, unsigned asked)
{
    unsigned coarse = length < 128 ? length : 128 + (length - 128) / 16;
    record->length = (uint8_t)(coarse > 0 ? tcall_at_most_(coarse, 255) : 1);
    record->name = (uint8_t)(name_words ? asked * 16 / name_words : 0);
}

/* Returns the length of the texts in quarters of a word. */
TCALL_SHARED_ unsigned tcall_record_length_(const tcall_record_ *record)
{
    unsigned coarse = record->length;
    return coarse < 128 ? coarse : 128 + (coarse - 128) * 16;
}

/* ---- keys */

/* Finds a key by its hash, from *slot on, which moves past it. Returns what
 * key_terms has of it, 0 when there is no further one. */
TCALL_SHARED_ unsigned tcall_query_find_(const tcall_query_ *query,
                                         uint32_t hash, unsigned *slot)
{
    for (;;) {
        unsigned at = (*slot)++ % TCALL_QUERY_SLOTS_;
        if (query->key_terms[at] == 0 || query->hashes[at] == hash)
            return query->key_terms[at];
    }
}

/* Where the search for a key begins. */
TCALL_SHARED_ unsigned tcall_query_slot_(uint32_t hash)
{
    return hash >> 24;
}

/* Whether no slot before this one has the same hash. */
TCALL_SHARED_ bool tcall_query_is_first_(const tcall_query_ *query,
                                         unsigned slot)
{
    unsigned at = tcall_query_slot_(query->hashes[slot]);
    tcall_query_find_(query, query->hashes[slot], &at);
    return (at - 1) % TCALL_QUERY_SLOTS_ == slot;
}

TCALL_SHARED_ unsigned tcall_key_term_(unsigned key)
{
    return (key & TCALL_KEY_TERM_) - 1;
}

/* Returns the term whose own word has this stem, -1 when there is none. */
TCALL_SHARED_ int tcall_query_term_(const tcall_query_ *query, uint32_t stem)
{
    unsigned slot = tcall_query_slot_(stem), key;
    while ((key = tcall_query_find_(query, stem, &slot)) != 0)
        if (!(key & TCALL_KEY_FUZZY_))
            return (int)tcall_key_term_(key);
    return -1;
}

/* Adds a key of a term, unless it has it or there are too many. */
static void tcall_query_add_(tcall_query_ *query, uint32_t hash,
                             unsigned initials, unsigned term, bool fuzzy)
{
    unsigned slot = tcall_query_slot_(hash), found;
    unsigned key = (term + 1) | (fuzzy ? TCALL_KEY_FUZZY_ : 0);
    while ((found = tcall_query_find_(query, hash, &slot)) != 0)
        if (found == key)
            return;
    if (query->key_count == TCALL_QUERY_KEYS_)
        return;
    query->key_count++;
    slot = (slot - 1) % TCALL_QUERY_SLOTS_; /* the free one that was found */
    query->hashes[slot] = hash;
    query->key_terms[slot] = (uint8_t)key;
    query->initials[initials / 32] |= (uint32_t)1 << initials % 32;
}

/* ---- the input */

/* Returns the term of a word of the input, a new one if need be. */
static unsigned tcall_query_new_term_(tcall_query_ *query,
                                      const tcall_split_ *words)
{
    int found = tcall_query_term_(query, words->stem);
    unsigned term = found < 0 ? query->term_count++ : (unsigned)found;
    if (found >= 0)
        return term;
    tcall_query_add_(query, words->stem, words->initials, term, false);
    if (words->prefix)
        tcall_query_add_(query, words->prefix, words->initials, term, true);
    return term;
}

/* Makes terms of the words of the input. */
static void tcall_query_input_(tcall_query_ *query, tcall_str input)
{
    tcall_split_ words;
    unsigned length = 0; /* of the sentence, in words */
    tcall_split_input_(&words, input);
    query->sentence_count = 1;
    while (query->term_count < TCALL_QUERY_TERMS_ &&
           tcall_split_next_(&words)) {
        tcall_term_ *term;
        if (words.sentence && length >= 3 &&
            query->sentence_count < TCALL_QUERY_SENTENCES_) {
            query->sentence_count++;
            length = 0;
        }
        /* Long numbers are values, of which no tool speaks. */
        if (tcall_split_stops_(&words) ||
            (words.length > 4 && tcall_is_digit_(*words.word)))
            continue;
        length++;
        term = &query->terms[tcall_query_new_term_(query, &words)];
        term->sentences |= (uint8_t)(1u | 1u << query->sentence_count);
        term->value |= !words.in_key;
    }
}

/* Makes the words of a line keys of the terms that it has words of. */
static void tcall_query_line_(tcall_query_ *query, tcall_str line)
{
    tcall_split_ words, others;
    tcall_split_init_(&words, line);
    words.wanted = query->initials;
    while (tcall_split_next_(&words)) {
        int term = tcall_query_term_(query, words.stem);
        if (term < 0)
            continue;
        tcall_split_init_(&others, line);
        while (tcall_split_next_(&others))
            if (tcall_query_term_(query, others.stem) != term)
                tcall_query_add_(query, others.stem, others.initials,
                                 (unsigned)term, true);
    }
}

static void tcall_query_synonyms_(tcall_query_ *query,
                                  const char *const *synonyms)
{
    for (; *synonyms; synonyms++) {
        const char *line = *synonyms;
        while (*line) {
            size_t length = strcspn(line, "\n");
            tcall_query_line_(query, tcall_slice_(line, length));
            line += length;
            line += *line == '\n';
        }
    }
}

/* Makes the query of an input, with the synonyms of ours by default. */
TCALL_SHARED_ void tcall_query_init_(tcall_query_ *query, tcall_str input,
                                     const char *const *synonyms)
{
    memset(query, 0, sizeof *query);
    tcall_query_input_(query, input);
#ifndef TOOLCALL_NO_SYNONYMS
    if (!synonyms)
        synonyms = tcall_synonyms;
#endif
    if (synonyms)
        tcall_query_synonyms_(query, synonyms);
}

/* ---- tools */

/* Begins to read a text of a tool. */
TCALL_SHARED_ void tcall_split_tool_(tcall_split_ *words,
                                     const tcall_tool *tool, unsigned text)
{
    const char *texts[TCALL_TEXT_COUNT_];
    texts[TCALL_TEXT_NAME_] = tool->name;
    texts[TCALL_TEXT_TITLE_] = tool->title;
    texts[TCALL_TEXT_DESCRIPTION_] = tool->description;
    texts[TCALL_TEXT_TAGS_] = tool->tags;
    texts[TCALL_TEXT_PARAMETERS_] = tool->parameters;
    tcall_split_init_(words, tcall_str_of(texts[text]));
    words->json = text == TCALL_TEXT_PARAMETERS_;
}

/* Adds a word of a tool to the sums of the terms that have this key; returns
 * whether there are any. */
static bool tcall_query_hit_(tcall_query_ *query, uint32_t hash,
                             const struct tcall_text_weight_ *weight)
{
    unsigned slot = tcall_query_slot_(hash), key;
    bool hit = false;
    while ((key = tcall_query_find_(query, hash, &slot)) != 0) {
        tcall_term_ *term = &query->terms[tcall_key_term_(key)];
        bool fuzzy = (key & TCALL_KEY_FUZZY_) != 0;
        uint8_t *sum = fuzzy ? &term->fuzzy : &term->exact;
        if (*sum < TCALL_QUERY_SUM_)
            *sum = (uint8_t)(*sum + (fuzzy ? weight->fuzzy : weight->exact));
        hit = true;
    }
    return hit;
}

/* Reads all texts of a tool: the sums of the terms, and the record but for its
 * levels. The prefix of a word counts only where its stem does not. */
static void tcall_query_sum_(tcall_query_ *query, const tcall_tool *tool,
                             tcall_record_ *record)
{
    unsigned length = 0, name_words = 0, asked = 0, text;
    for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
        const struct tcall_text_weight_ *weight = &tcall_text_weights_[text];
        tcall_split_ words;
        tcall_split_tool_(&words, tool, text);
        words.wanted = query->initials;
        while (tcall_split_next_(&words))
            if (tcall_query_hit_(query, words.stem, weight) ||
                (words.prefix && tcall_query_hit_(query, words.prefix, weight)))
                asked += text == TCALL_TEXT_NAME_;
        length += weight->length * words.longer;
        if (text == TCALL_TEXT_NAME_)
            name_words = words.count;
    }
    tcall_record_close_(record, length, name_words, asked);
}

/* Reads what a tool says of the terms; `count` has it counted among the tools
 * that have them. */
TCALL_SHARED_ void tcall_query_read_(tcall_query_ *query,
                                     const tcall_tool *tool,
                                     tcall_record_ *record, bool count)
{
    unsigned i;
    memset(record, 0, sizeof *record);
    tcall_query_sum_(query, tool, record);
    for (i = 0; i < query->term_count; i++) {
        tcall_term_ *term = &query->terms[i];
        unsigned fuzzy = tcall_at_most_(term->fuzzy, TCALL_FUZZY_MAX_);
        tcall_record_keep_(record, i, term->exact + fuzzy);
        if (count) {
            term->exact_tools =
                (uint16_t)(term->exact_tools + (term->exact > 0));
            term->tools = (uint16_t)(term->tools + (term->exact + fuzzy > 0));
        }
        term->exact = term->fuzzy = 0;
    }
}

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>pick_index
 *
 * An inverted index: each different word of the tools, with the tools that
 * have it. So a pick reads what is said of its keys, and nothing of others.
 */

#ifndef TOOLCALL_NO_PICK

#ifndef TOOLCALL_NO_PICK_INDEX

/* Where the chains of words begin whose stems, or prefixes, fall into the same
 * bucket: 1 more than the number of an entry, 0 for none. */
typedef struct tcall_bucket_ {
    uint32_t by_stem, by_prefix;
} tcall_bucket_;

/* A different word of all tools. Its postings follow those of the entry before
 * it, in the order of tools. */
typedef struct tcall_entry_ {
    uint32_t stem, prefix;                 /* hashes; prefix may be 0: none */
    uint32_t next_by_stem, next_by_prefix; /* as in tcall_bucket_ */
    uint32_t end; /* of its postings; their number while they are counted */
    uint32_t last_tool; /* 1 more than the last one that was seen to have it */
} tcall_entry_;

/* What is known of a tool besides its words. */
typedef struct tcall_indexed_ {
    uint16_t length; /* of its texts, in quarters of a word */
    uint16_t name_words;
} tcall_indexed_;

/* How much a tool says of a word, no more than matters. */
enum { TCALL_EXACT_MAX_ = 16 };
typedef struct tcall_posting_ {
    unsigned tool : 16;
    unsigned exact : 5; /* when the word itself is wanted */
    unsigned fuzzy : 2; /* when something like it is */
    unsigned name : 9;  /* how often the name of the tool has it */
} tcall_posting_;

/* ---- reading */

/* Adds the postings of a word to the records. All that is like a term has to be
 * added before the word itself: up to three, levels are exact. Names are asked
 * for once, whatever number of keys is the same word. */
static void tcall_index_entry_(const tcall_index *index, uint32_t number,
                               tcall_query_ *query, tcall_record_ *records,
                               unsigned slot)
{
    const tcall_entry_ *entry = &index->entries[number];
    const tcall_posting_ *at = index->postings, *end = at + entry->end;
    unsigned key = query->key_terms[slot], i = tcall_key_term_(key);
    bool fuzzy = (key & TCALL_KEY_FUZZY_) != 0;
    bool first = tcall_query_is_first_(query, slot);
    tcall_term_ *term = &query->terms[i];
    for (at += number > 0 ? entry[-1].end : 0; at < end; at++) {
        tcall_record_ *record = &records[at->tool];
        unsigned before = tcall_record_level_(record, i), sum;
        if (record->length == 0)
            continue;
        sum = before + (fuzzy ? at->fuzzy : at->exact);
        if (fuzzy)
            sum = tcall_at_most_(sum, TCALL_FUZZY_MAX_);
        tcall_record_keep_(record, i, sum);
        term->tools = (uint16_t)(term->tools + (before == 0));
        term->exact_tools = (uint16_t)(term->exact_tools + !fuzzy);
        if (first)
            record->name = (uint8_t)(record->name + at->name);
    }
}

/* Adds all words that have the key in a slot, as their stem, or as their prefix
 * where the stem is no key itself. */
static void tcall_index_key_(const tcall_index *index, tcall_query_ *query,
                             tcall_record_ *records, unsigned slot)
{
    uint32_t hash = query->hashes[slot], next;
    const tcall_bucket_ *bucket = &index->buckets[hash % index->bucket_count];
    const tcall_entry_ *entry;
    for (next = bucket->by_stem; next > 0; next = entry->next_by_stem) {
        entry = &index->entries[next - 1];
        if (entry->stem == hash)
            tcall_index_entry_(index, next - 1, query, records, slot);
    }
    for (next = bucket->by_prefix; next > 0; next = entry->next_by_prefix) {
        unsigned at;
        entry = &index->entries[next - 1];
        at = tcall_query_slot_(entry->stem);
        if (entry->prefix == hash &&
            !tcall_query_find_(query, entry->stem, &at))
            tcall_index_entry_(index, next - 1, query, records, slot);
    }
}

/* Adds the words of all fuzzy keys, or of all others. */
static void tcall_index_keys_(const tcall_index *index, tcall_query_ *query,
                              tcall_record_ *records, bool fuzzy)
{
    unsigned slot;
    for (slot = 0; slot < TCALL_QUERY_SLOTS_; slot++) {
        unsigned key = query->key_terms[slot];
        if (key && ((key & TCALL_KEY_FUZZY_) != 0) == fuzzy)
            tcall_index_key_(index, query, records, slot);
    }
}

/* Makes the records of all tools, which are empty but for the length of those
 * that may be picked, and counts the tools of each term. */
TCALL_SHARED_ void tcall_index_read_(const tcall_index *index,
                                     tcall_query_ *query,
                                     tcall_record_ *records)
{
    size_t i;
    tcall_index_keys_(index, query, records, true);
    tcall_index_keys_(index, query, records, false);
    for (i = 0; i < index->tool_count; i++) {
        const tcall_indexed_ *tool = &index->tools[i];
        if (records[i].length > 0)
            tcall_record_close_(&records[i], tool->length, tool->name_words,
                                records[i].name);
    }
}

/* Whether an index is one of so many tools. */
TCALL_SHARED_ bool tcall_index_fits_(const tcall_index *index,
                                     size_t tool_count)
{
    return index->bucket_count > 0 && index->tool_count == tool_count;
}

/* ---- building
 *
 * A first pass over the texts finds the words and counts their postings, a
 * second one writes them. Where memory is missing it goes on, to say how much.
 */

typedef struct tcall_indexing_ {
    tcall_block *block;
    size_t missing; /* bytes of memory, if any */
    tcall_bucket_ *buckets;
    uint32_t bucket_count;
    tcall_indexed_ *tools;
    tcall_entry_ *entries;
    uint32_t entry_count;
    tcall_posting_ *postings; /* NULL in the first pass */
    uint32_t posting_count;
    uint32_t tool; /* at hand */
} tcall_indexing_;

/* Takes zeroed memory after what was taken before; NULL where it is missing. */
static void *tcall_index_take_(tcall_indexing_ *making, size_t size)
{
    void *at = tcall_block_gap_(making->block);
    if (making->missing || !tcall_block_grow_(making->block, size)) {
        making->missing += size;
        return NULL;
    }
    return memset(at, 0, size);
}

static void tcall_index_align_(tcall_indexing_ *making)
{
    uintptr_t at = (uintptr_t)tcall_block_gap_(making->block);
    tcall_index_take_(making, (0 - at) & 7);
}

/* Adds an entry to both chains; NULL where memory is missing. */
static tcall_entry_ *tcall_index_insert_(tcall_indexing_ *making,
                                         const tcall_split_ *word)
{
    tcall_bucket_ *buckets = making->buckets;
    uint32_t *by_stem, *by_prefix;
    tcall_entry_ *entry =
        (tcall_entry_ *)tcall_index_take_(making, sizeof *entry);
    if (!entry)
        return NULL;
    making->entry_count++;
    by_stem = &buckets[word->stem % making->bucket_count].by_stem;
    by_prefix = &buckets[word->prefix % making->bucket_count].by_prefix;
    entry->stem = word->stem;
    entry->prefix = word->prefix;
    entry->next_by_stem = *by_stem;
    *by_stem = making->entry_count;
    if (word->prefix) {
        entry->next_by_prefix = *by_prefix;
        *by_prefix = making->entry_count;
    }
    return entry;
}

/* Returns the entry of a word, a new one if need be; NULL where memory is
 * missing. */
static tcall_entry_ *tcall_index_find_(tcall_indexing_ *making,
                                       const tcall_split_ *word)
{
    uint32_t next = 0;
    if (making->buckets)
        next = making->buckets[word->stem % making->bucket_count].by_stem;
    while (next > 0) {
        tcall_entry_ *entry = &making->entries[next - 1];
        if (entry->stem == word->stem)
            return entry;
        next = entry->next_by_stem;
    }
    return tcall_index_insert_(making, word);
}

/* Adds a word of the tool at hand. */
static void tcall_index_add_(tcall_indexing_ *making, const tcall_split_ *word,
                             unsigned text)
{
    const struct tcall_text_weight_ *weight = &tcall_text_weights_[text];
    tcall_entry_ *entry = tcall_index_find_(making, word);
    tcall_posting_ *posting;
    if (!entry) {
        making->posting_count++; /* perhaps too many, which suffices */
        return;
    }
    if (entry->last_tool != making->tool + 1) {
        entry->last_tool = making->tool + 1;
        entry->end++;
        making->posting_count++;
    }
    if (!making->postings)
        return;
    posting = &making->postings[entry->end - 1];
    posting->tool = making->tool & 0xFFFF;
    posting->exact =
        tcall_at_most_(posting->exact + weight->exact, TCALL_EXACT_MAX_) & 31;
    posting->fuzzy =
        tcall_at_most_(posting->fuzzy + weight->fuzzy, TCALL_FUZZY_MAX_) & 3;
    if (text == TCALL_TEXT_NAME_)
        posting->name = (posting->name + 1) & 511;
}

static void tcall_index_tool_(tcall_indexing_ *making, const tcall_tool *tool)
{
    unsigned length = 0, name_words = 0, text;
    for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
        tcall_split_ words;
        tcall_split_tool_(&words, tool, text);
        while (tcall_split_next_(&words))
            tcall_index_add_(making, &words, text);
        length += tcall_text_weights_[text].length * words.longer;
        if (text == TCALL_TEXT_NAME_)
            name_words = words.count;
    }
    if (making->tools) {
        tcall_indexed_ *known = &making->tools[making->tool];
        known->length = (uint16_t)tcall_at_most_(length, 0xFFFF);
        known->name_words = (uint16_t)tcall_at_most_(name_words, 0xFFFF);
    }
}

static void tcall_index_pass_(tcall_indexing_ *making, const tcall_desc *desc)
{
    for (making->tool = 0; making->tool < desc->tool_count; making->tool++)
        tcall_index_tool_(making, &desc->tools[making->tool]);
}

/* Turns the numbers of postings into where those of each word begin, which the
 * second pass moves to their ends. */
static void tcall_index_layout_(tcall_indexing_ *making)
{
    uint32_t begin = 0, i;
    for (i = 0; i < making->entry_count; i++) {
        tcall_entry_ *entry = &making->entries[i];
        uint32_t count = entry->end;
        entry->end = begin;
        entry->last_tool = 0;
        begin += count;
    }
}

/* A bucket for each tool and each half KB of text: chains are short. */
static uint32_t tcall_index_buckets_(const tcall_desc *desc)
{
    size_t bytes = 0, i;
    unsigned text;
    for (i = 0; i < desc->tool_count; i++)
        for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
            tcall_split_ words;
            tcall_split_tool_(&words, &desc->tools[i], text);
            bytes += (size_t)(words.end - words.cursor);
        }
    return (uint32_t)(desc->tool_count + bytes / 512 + 1);
}

/* Takes the tables and makes the first pass. */
static void tcall_index_count_(tcall_indexing_ *making, const tcall_desc *desc)
{
    size_t tools = desc->tool_count;
    making->bucket_count = tcall_index_buckets_(desc);
    tcall_index_align_(making);
    making->buckets = (tcall_bucket_ *)tcall_index_take_(
        making, making->bucket_count * sizeof(tcall_bucket_));
    making->tools = (tcall_indexed_ *)tcall_index_take_(
        making, tools * sizeof(tcall_indexed_));
    making->entries = (tcall_entry_ *)(void *)tcall_block_gap_(making->block);
    tcall_index_pass_(making, desc);
}

int tcall_pick_index(tcall *tc, tcall_index *index)
{
    size_t low = tc->block.low;
    tcall_indexing_ making;
    memset(index, 0, sizeof *index);
    memset(&making, 0, sizeof making);
    if (tc->desc.tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    making.block = &tc->block;
    tcall_index_count_(&making, &tc->desc);
    making.postings = (tcall_posting_ *)tcall_index_take_(
        &making, making.posting_count * sizeof(tcall_posting_));
    tcall_index_align_(&making);
    if (making.missing) {
        tcall_block_room_(&tc->block, making.missing); /* sets block.need */
        tc->block.low = low;
        return TCALL_E_MEMORY;
    }
    tcall_index_layout_(&making);
    tcall_index_pass_(&making, &tc->desc);
    index->tool_count = tc->desc.tool_count;
    index->bucket_count = making.bucket_count;
    index->buckets = making.buckets;
    index->tools = making.tools;
    index->entries = making.entries;
    index->postings = making.postings;
    return TCALL_OK;
}

#else

/* Without indexes tcall_pick refuses one. */
static bool tcall_index_fits_(const tcall_index *index, size_t tool_count)
{
    (void)index;
    (void)tool_count;
    return false;
}

static void tcall_index_read_(const tcall_index *index, tcall_query_ *query,
                              tcall_record_ *records)
{
    (void)index;
    (void)query;
    (void)records;
}

#endif /* TOOLCALL_NO_PICK_INDEX */

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>pick
 *
 * What each tool says of the terms is read once and kept as a record; where the
 * block has no room for records the tools are read again instead. The weight of
 * a term comes from how few tools have it, the worth of a tool from the weights
 * of the terms it has (BM25F), as a share of the best of all tools; and since
 * an input can want several things, also of the best for each of its sentences.
 */

#ifndef TOOLCALL_NO_PICK

/* A score of one thousandth. Ranks are finer than scores. */
#define TCALL_RANK_ONE_ ((uint32_t)1 << 22)

/* The work on one input. */
typedef struct tcall_ranking_ {
    tcall *tc;
    tcall_str input;
    const tcall_pick_opts *opts;
    tcall_pick_opts defaults;
    const tcall_scorer *scorers, *scorers_end;
    tcall_scorer words; /* the built-in one */
    tcall_query_ *query;
    tcall_record_ *records; /* of all tools; NULL: no room for them */
    size_t tools;           /* that may be picked */
    int max;                /* of the picks that are not pinned */
    uint32_t started;
    bool timed_out;
} tcall_ranking_;

/* ---- tools that may be picked */

/* Why a tool may not be picked; NULL: it may. */
static const char *tcall_pick_excludes_(const tcall *tc,
                                        const tcall_pick_opts *opts,
                                        const tcall_tool *tool)
{
    uint8_t allow = opts->allow ? opts->allow : tc->desc.allow;
    bool safe = tool->safe == TCALL_SAFETY_DERIVED
                    ? tcall_needs_(tool) == TCALL_READ
                    : tool->safe == TCALL_SAFETY_SAFE;
    if (!tcall_enabled(tool, allow))
        return "permissions";
    if (!safe && !opts->allow_unsafe)
        return "unsafe";
    if (opts->streaming && !tool->streaming)
        return "streaming";
    if (tool->roles && !(tool->roles & opts->roles))
        return "roles";
    if (opts->max_cost && tool->cost > opts->max_cost)
        return "cost";
    if (opts->groups && tool->groups && !(tool->groups & opts->groups))
        return "groups";
    return NULL;
}

static bool tcall_ranking_expires_(const tcall_ranking_ *ranking)
{
    const tcall_desc *desc = &ranking->tc->desc;
    return ranking->opts->timeout_ms && desc->now_ms &&
           desc->now_ms(desc->user) - ranking->started >=
               ranking->opts->timeout_ms;
}

/* Moves *i to the next tool that may be picked, from *i on; false at the end.
 * Returns false once, too, when time is up. */
static bool tcall_ranking_next_(tcall_ranking_ *ranking, size_t *i)
{
    const tcall_desc *desc = &ranking->tc->desc;
    if (!ranking->timed_out && tcall_ranking_expires_(ranking)) {
        ranking->timed_out = true;
        return false;
    }
    for (; *i < desc->tool_count; ++*i)
        if (!tcall_pick_excludes_(ranking->tc, ranking->opts, &desc->tools[*i]))
            return true;
    return false;
}

/* ---- the built-in scorer */

/* 16 * log2(x), by a straight line between powers of two. */
static unsigned tcall_log16_(uint32_t x)
{
    unsigned n = 0;
    while (x >> n > 1)
        n++;
    return 16 * n + (x << 4 >> n & 15);
}

/* The tools that have the term itself if there are any, else those that have
 * something like it. */
static unsigned tcall_term_tools_(const tcall_term_ *term)
{
    return term->exact_tools ? term->exact_tools : term->tools;
}

/* 16 * log2 of how rare a term is among the tools. */
static unsigned tcall_term_rarity_(const tcall_term_ *term, size_t tools)
{
    uint32_t with = tcall_term_tools_(term);
    unsigned rarity =
        tcall_log16_(2 * (uint32_t)tools + 2) - tcall_log16_(2 * with + 1);
    return rarity < 255 ? rarity : 255;
}

/* Makes the records of all tools that may be picked, where there is room for
 * them, and counts those that have each term. */
static void tcall_ranking_read_(tcall_ranking_ *ranking)
{
    const tcall_tool *tools = ranking->tc->desc.tools;
    tcall_query_ *query = ranking->query;
    tcall_record_ made, *record = &made;
    size_t i;
    for (i = 0; tcall_ranking_next_(ranking, &i); i++) {
        if (ranking->records)
            record = &ranking->records[i];
        tcall_query_read_(query, &tools[i], record, true);
        query->lengths += tcall_record_length_(record) * 16;
        ranking->tools++;
    }
}

/* The same by the index. */
static void tcall_ranking_look_up_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    tcall_record_ *records = ranking->records;
    size_t count = ranking->tc->desc.tool_count, i;
    memset(records, 0, count * sizeof *records);
    for (i = 0; tcall_ranking_next_(ranking, &i); i++) {
        records[i].length = 1;
        ranking->tools++;
    }
    if (ranking->timed_out)
        return;
    tcall_index_read_(ranking->opts->index, query, records);
    for (i = 0; i < count; i++)
        query->lengths += tcall_record_length_(&records[i]) * 16;
}

/* Finds out what a tool is worth: parts[0] for the whole input, the others for
 * its sentences. Returns the weight of the terms that it has. Of BM25, k1 is 8
 * quarters of a word of a text, and b one half. */
static uint32_t tcall_ranking_parts_(const tcall_ranking_ *ranking, size_t tool,
                                     uint32_t *parts)
{
    tcall_query_ *query = ranking->query;
    uint32_t average = query->lengths / (uint32_t)ranking->tools + 1;
    uint32_t norm, cover = 0, value;
    tcall_record_ made, *record = &made;
    unsigned i, part;
    if (ranking->records)
        record = &ranking->records[tool];
    else
        tcall_query_read_(query, &ranking->tc->desc.tools[tool], record, false);
    norm = 64 + 1024 * tcall_record_length_(record) / average;
    memset(parts, 0, sizeof query->best);
    for (i = 0; i < query->term_count; i++) {
        const tcall_term_ *term = &query->terms[i];
        uint32_t sum = tcall_levels_[tcall_record_level_(record, i)];
        if (sum == 0)
            continue;
        cover += term->weight;
        value = term->weight * 1024u * sum / (16 * sum + norm);
        value = value * (32u + record->name) / 32; /* up to half more */
        for (part = 0; part <= query->sentence_count; part++)
            if (term->sentences >> part & 1)
                parts[part] += value;
    }
    return cover;
}

/* Sets the weights of all terms; returns their sum. */
static uint32_t tcall_ranking_weigh_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    uint32_t all = 0;
    unsigned i;
    for (i = 0; i < query->term_count; i++) {
        tcall_term_ *term = &query->terms[i];
        unsigned rarity = tcall_term_rarity_(term, ranking->tools);
        term->weight = (uint8_t)(term->value ? rarity : rarity / 2);
        all += term->weight;
    }
    return all;
}

/* Finds what scores are shares of: how rare the terms are, the best parts, and
 * the largest share of the input that one tool covers. */
static void tcall_ranking_prepare_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    uint32_t parts[1 + TCALL_QUERY_SENTENCES_], all, most = 0;
    unsigned part;
    size_t i;
    if (ranking->records && ranking->opts->index)
        tcall_ranking_look_up_(ranking);
    else
        tcall_ranking_read_(ranking);
    all = tcall_ranking_weigh_(ranking);
    for (i = 0; !ranking->timed_out && tcall_ranking_next_(ranking, &i); i++) {
        uint32_t cover = tcall_ranking_parts_(ranking, i, parts);
        most = cover > most ? cover : most;
        for (part = 0; part <= query->sentence_count; part++)
            if (parts[part] > query->best[part])
                query->best[part] = parts[part];
    }
    query->level = all ? most * 1000 / all : 0;
}

/* The built-in score, 0 to 1000 * TCALL_RANK_ONE_: three fifths for the whole
 * input, two fifths for the sentence that the tool fits best. */
static uint32_t tcall_ranking_score_(tcall_ranking_ *ranking, size_t tool)
{
    const tcall_query_ *query = ranking->query;
    uint32_t parts[1 + TCALL_QUERY_SENTENCES_], whole, most = 0;
    unsigned i;
    if (query->term_count && !ranking->tools)
        tcall_ranking_prepare_(ranking);
    if (query->level == 0 || ranking->timed_out)
        return 0;
    tcall_ranking_parts_(ranking, tool, parts);
    if (parts[0] == 0)
        return 0;
    whole = (parts[0] << 12) / query->best[0];
    for (i = 1; i <= query->sentence_count; i++)
        if (parts[i] > 0) {
            uint32_t share = (parts[i] << 12) / query->best[i];
            most = share > most ? share : most;
        }
    return (614 * whole + 410 * most) * query->level;
}

/* ---- the ranking */

/* Begins a ranking in the free part of the block, nothing of which is held:
 * the query, and records of all tools if there is room. */
static int tcall_ranking_memory_(tcall_ranking_ *ranking)
{
    tcall_block *block = &ranking->tc->block;
    char *gap = tcall_block_gap_(block);
    size_t skip = (0 - (uintptr_t)gap) & 7;
    size_t size = skip + sizeof(tcall_query_);
    size_t all = size + ranking->tc->desc.tool_count * sizeof(tcall_record_);
    if (!tcall_block_room_(block, size))
        return TCALL_E_MEMORY;
    ranking->query = (tcall_query_ *)(void *)(gap + skip);
    if (all <= tcall_block_free_(block)) {
        tcall_block_room_(block, all);
        ranking->records = (tcall_record_ *)(void *)(gap + size);
    }
    return TCALL_OK;
}

static void tcall_ranking_options_(tcall_ranking_ *ranking,
                                   const tcall_pick_opts *opts)
{
    opts = opts ? opts : &ranking->defaults;
    ranking->opts = opts;
    ranking->max = opts->max ? opts->max : 3;
    ranking->words.name = "words";
    ranking->scorers = opts->scorer_count ? opts->scorers : &ranking->words;
    ranking->scorers_end =
        ranking->scorers + (opts->scorer_count ? opts->scorer_count : 1);
}

static int tcall_ranking_init_(tcall_ranking_ *ranking, tcall *tc,
                               tcall_str input, const tcall_pick_opts *opts)
{
    const tcall_desc *desc = &tc->desc;
    int error;
    memset(ranking, 0, sizeof *ranking);
    ranking->tc = tc;
    ranking->input = input;
    tcall_ranking_options_(ranking, opts);
    opts = ranking->opts;
    if (opts->index && !tcall_index_fits_(opts->index, desc->tool_count))
        return TCALL_E_USAGE;
    error = tcall_ranking_memory_(ranking);
    if (error < 0)
        return error;
    if (opts->timeout_ms && desc->now_ms)
        ranking->started = desc->now_ms(desc->user);
    tcall_query_init_(ranking->query, input, opts->synonyms);
    return TCALL_OK;
}

/* Puts a candidate where it belongs among the count best, of which there are
 * at most room; returns their number. Of equals the first stays first. The
 * candidate may be the one that comes after the count best. */
static int tcall_picks_insert_(tcall_picked *picks, int count, int room,
                               const tcall_picked *candidate)
{
    const tcall_picked pick = *candidate;
    int at = count;
    while (at > 0 && picks[at - 1].rank < pick.rank)
        at--;
    if (at >= room)
        return count;
    count += count < room;
    memmove(picks + at + 1, picks + at, (size_t)(count - at - 1) * sizeof pick);
    picks[at] = pick;
    return count;
}

static tcall_picked tcall_ranking_pick_(const tcall_ranking_ *ranking, size_t i)
{
    tcall_picked pick;
    memset(&pick, 0, sizeof pick);
    pick.tool = &ranking->tc->desc.tools[i];
    pick.index = (uint16_t)i;
    pick.pinned = pick.tool->pinned;
    pick.timed_out = ranking->timed_out && !pick.pinned;
    return pick;
}

/* Makes the rank of a pick the mean of what it was and of a further scorer. */
static void tcall_ranking_combine_(tcall_ranking_ *ranking, tcall_picked *pick,
                                   const tcall_scorer *scorer)
{
    uint32_t weight = scorer->weight ? scorer->weight : 1, rank;
    if (scorer->score) {
        int score = scorer->score(scorer->user, ranking->input, pick->tool,
                                  pick->index);
        if (score < 0)
            return;
        rank = (uint32_t)(score < 1000 ? score : 1000) * TCALL_RANK_ONE_;
    } else {
        rank = tcall_ranking_score_(ranking, pick->index);
    }
    if (pick->weights) {
        uint32_t sum =
            (pick->rank >> 12) * pick->weights + (rank >> 12) * weight;
        rank = sum / (pick->weights + weight) << 12;
    }
    pick->rank = rank;
    pick->weights = (uint16_t)(pick->weights + weight);
}

/* Ranks all tools that are not pinned by the scorers that see all of them, and
 * keeps the best of them. */
static int tcall_ranking_all_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int room)
{
    const tcall_scorer *scorer;
    int count = 0;
    size_t i;
    for (i = 0; room > 0 && tcall_ranking_next_(ranking, &i); i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (pick.pinned)
            continue;
        for (scorer = ranking->scorers; scorer < ranking->scorers_end; scorer++)
            if (!scorer->top)
                tcall_ranking_combine_(ranking, &pick, scorer);
        count = tcall_picks_insert_(picks, count, room, &pick);
    }
    return count;
}

/* Ranks the best again by a scorer that sees only them; returns how many there
 * are of them. */
static int tcall_ranking_top_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int count, const tcall_scorer *scorer)
{
    int i;
    count = count < scorer->top ? count : scorer->top;
    for (i = 0; i < count; i++) {
        size_t tool = picks[i].index;
        if (ranking->timed_out || !tcall_ranking_next_(ranking, &tool))
            break;
        tcall_ranking_combine_(ranking, &picks[i], scorer);
        tcall_picks_insert_(picks, i, count, &picks[i]);
    }
    return count;
}

/* Ranks by all scorers, of which the later ones may want to see more tools than
 * there are to be picked. */
static int tcall_ranking_run_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int max)
{
    const tcall_scorer *scorer, *end = ranking->scorers_end;
    int room = ranking->max, count;
    for (scorer = ranking->scorers; scorer < end; scorer++)
        room = scorer->top > room ? scorer->top : room;
    count = tcall_ranking_all_(ranking, picks, room < max ? room : max);
    for (scorer = ranking->scorers; scorer < end; scorer++)
        if (scorer->top)
            count = tcall_ranking_top_(ranking, picks, count, scorer);
    return count;
}

/* Adds tools in the order of registration, without a score: those that are
 * pinned, or those that are not. */
static int tcall_ranking_add_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int count, int max, bool pinned)
{
    size_t i;
    for (i = 0; count < max && tcall_ranking_next_(ranking, &i); i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (pick.pinned == pinned)
            picks[count++] = pick;
    }
    return count;
}

/* Sets the scores, and returns the number of picks that are good enough. */
static int tcall_ranking_cut_(const tcall_ranking_ *ranking,
                              tcall_picked *picks, int count)
{
    const tcall_pick_opts *opts = ranking->opts;
    unsigned min = opts->min_score ? opts->min_score : 50;
    int i;
    for (i = 0; i < count && i < ranking->max; i++) {
        tcall_picked *pick = &picks[i];
        pick->score = (uint16_t)(pick->rank / TCALL_RANK_ONE_);
        if (pick->score < min ||
            pick->rank / 128 * 100 < picks[0].rank / 128 * opts->relative)
            break;
    }
    return i;
}

/* Sorts picks by the order of registration. */
static void tcall_picks_sort_(tcall_picked *picks, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        picks[i].rank = 0xFFFFu - picks[i].index;
        tcall_picks_insert_(picks, i, count, &picks[i]);
    }
}

static size_t tcall_pick_bytes_(const tcall_tool *tool)
{
    const char *schema = tool->provider_schema;
    return tcall_str_of(tool->name).len + tcall_str_of(tool->description).len +
           tcall_str_of(schema ? schema : tool->parameters).len;
}

size_t tcall_pick_saved(const tcall *tc, const tcall_picked *picks, int count)
{
    const tcall_desc *desc = &tc->desc;
    size_t saved = 0, i;
    for (i = 0; i < desc->tool_count; i++)
        if (tcall_enabled(&desc->tools[i], desc->allow))
            saved += tcall_pick_bytes_(&desc->tools[i]);
    while (count-- > 0)
        if (tcall_enabled(picks[count].tool, desc->allow))
            saved -= tcall_pick_bytes_(picks[count].tool);
    return saved;
}

static void tcall_pick_event_(tcall *tc, const tcall_picked *picks, int count)
{
    tcall_event event;
    if (!tc->desc.on_event && !tc->listeners)
        return;
    memset(&event, 0, sizeof event);
    event.tools = (size_t)count;
    event.bytes = tcall_pick_saved(tc, picks, count);
    tcall_tell_(tc, &event, TCALL_EVENT_PICK);
}

int tcall_pick(tcall *tc, tcall_str input, const tcall_pick_opts *opts,
               tcall_picked *picks, int max)
{
    const tcall_desc *desc = &tc->desc;
    tcall_ranking_ ranking;
    int count, room = max;
    size_t i;
    if (max < 1 || desc->tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    count = tcall_ranking_init_(&ranking, tc, input, opts);
    if (count < 0)
        return count;
    for (i = 0; i < desc->tool_count; i++)
        room -= desc->tools[i].pinned;
    ranking.max = room < ranking.max ? room : ranking.max;
    count = tcall_ranking_run_(&ranking, picks, room);
    count = ranking.timed_out
                ? tcall_ranking_add_(&ranking, picks, 0, ranking.max, false)
                : tcall_ranking_cut_(&ranking, picks, count);
    count = tcall_ranking_add_(&ranking, picks, count, max, true);
    if (ranking.opts->stable)
        tcall_picks_sort_(picks, count);
    tcall_pick_event_(tc, picks, count);
    return count;
}

/* ---- the report */

/* Reads on to the first word of the next term; false at the end. */
static bool tcall_query_report_(const tcall_query_ *query, tcall_split_ *words,
                                int *term)
{
    ++*term;
    while (tcall_split_next_(words))
        if (tcall_query_term_(query, words->stem) == *term)
            return true;
    return false;
}

static void tcall_write_terms_(tcall_writer *w, const tcall_ranking_ *ranking)
{
    const tcall_query_ *query = ranking->query;
    tcall_split_ words;
    int i = -1;
    tcall_split_input_(&words, ranking->input);
    tcall_write_open(w, '[');
    while (tcall_query_report_(query, &words, &i)) {
        const tcall_term_ *term = &query->terms[i];
        unsigned rarity = tcall_term_rarity_(term, ranking->tools);
        tcall_write_open(w, '{');
        tcall_write_key(w, "word");
        tcall_write_str(w, tcall_slice_(words.word, words.length));
        tcall_write_key(w, "tools");
        tcall_write_int(w, (long)tcall_term_tools_(term));
        tcall_write_key(w, "weight");
        tcall_write_fixed(w, (long)rarity * 100 / 16, 2);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes why a tool was picked, within a JSON string. */
static void tcall_write_reason_(tcall_writer *w, const tcall_ranking_ *ranking,
                                const tcall_picked *pick)
{
    tcall_query_ *query = ranking->query;
    tcall_record_ record;
    tcall_split_ words;
    bool matched = false;
    int term = -1;
    if (pick->timed_out || pick->pinned) {
        tcall_write_text(w, pick->pinned ? "pinned" : "timed out");
        return;
    }
    tcall_query_read_(query, pick->tool, &record, false);
    tcall_split_input_(&words, ranking->input);
    while (tcall_query_report_(query, &words, &term))
        if (tcall_record_level_(&record, (unsigned)term)) {
            tcall_write_text(w, matched ? ", " : "matched ");
            tcall_write_bytes(w, words.word, words.length);
            matched = true;
        }
    if (!matched)
        tcall_write_text(w, "no word of it");
}

static void tcall_write_scorers_(tcall_writer *w, const tcall_ranking_ *ranking)
{
    const tcall_scorer *scorer;
    tcall_write_open(w, '[');
    for (scorer = ranking->scorers; scorer < ranking->scorers_end; scorer++)
        tcall_write_string(w, scorer->name ? scorer->name : "words");
    tcall_write_close(w, ']');
}

static void tcall_write_picked_(tcall_writer *w, const tcall_ranking_ *ranking,
                                const tcall_pick_report *report)
{
    int i;
    tcall_write_open(w, '[');
    for (i = 0; i < report->count; i++) {
        const tcall_picked *pick = &report->picks[i];
        tcall_write_open(w, '{');
        tcall_write_key(w, "tool");
        tcall_write_string(w, pick->tool->name);
        tcall_write_key(w, "score");
        tcall_write_fixed(w, pick->score, 3);
        tcall_write_key(w, "reason");
        tcall_write_quote(w);
        tcall_write_reason_(w, ranking, pick);
        tcall_write_unquote(w);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

static void tcall_write_excluded_(tcall_writer *w,
                                  const tcall_ranking_ *ranking)
{
    const tcall_desc *desc = &ranking->tc->desc;
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < desc->tool_count; i++) {
        const tcall_tool *tool = &desc->tools[i];
        const char *reason =
            tcall_pick_excludes_(ranking->tc, ranking->opts, tool);
        if (!reason)
            continue;
        tcall_write_open(w, '{');
        tcall_write_key(w, "tool");
        tcall_write_string(w, tool->name);
        tcall_write_key(w, "reason");
        tcall_write_string(w, reason);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

int tcall_write_picks(tcall_writer *w, tcall *tc,
                      const tcall_pick_report *report)
{
    tcall_ranking_ ranking;
    size_t saved = tcall_pick_saved(tc, report->picks, report->count);
    int error = tcall_ranking_init_(&ranking, tc, report->input, report->opts);
    if (error < 0)
        return error;
    if (ranking.query->term_count > 0)
        tcall_ranking_prepare_(&ranking);
    tcall_write_open(w, '{');
    tcall_write_key(w, "scorers");
    tcall_write_scorers_(w, &ranking);
    tcall_write_key(w, "terms");
    tcall_write_terms_(w, &ranking);
    tcall_write_key(w, "picks");
    tcall_write_picked_(w, &ranking, report);
    tcall_write_key(w, "excluded");
    tcall_write_excluded_(w, &ranking);
    tcall_write_key(w, "bytes_saved");
    tcall_write_int(w, (long)saved);
    tcall_write_key(w, "tokens_saved");
    tcall_write_int(w, (long)(saved / 4));
    return tcall_write_close(w, '}');
}

#else

/* Without this chapter nothing is picked: whoever asks for it is refused. */
TCALL_SHARED_ int tcall_pick(tcall *tc, tcall_str input,
                             const tcall_pick_opts *opts, tcall_picked *picks,
                             int max)
{
    (void)tc;
    (void)input;
    (void)opts;
    (void)picks;
    (void)max;
    return TCALL_E_USAGE;
}

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>call
 *
 * What a call needs is built up at the end of the block: the program of its
 * schema (when lazy), the repaired text (if any), the list of coercions (if
 * any), the arguments, the struct. Each is made in the free part and then
 * moved there, so nothing has to know its size beforehand.
 */

TCALL_SHARED_ void tcall_tell_call_(const tcall_call *call,
                                    tcall_event_kind kind, tcall_str text)
{
    tcall *tc = call->cx.tc;
    tcall_event event;
    if (!tc->desc.on_event && !tc->listeners)
        return;
    memset(&event, 0, sizeof event);
    event.call = call;
    event.error = call->error;
    event.text = text;
    event.ms = kind == TCALL_EVENT_END ? call->run_ms : call->hydrate_ms;
    tcall_tell_(tc, &event, kind);
}

void tcall_release(tcall *tc, tcall_call *call)
{
    tc->block.high = call->mark;
    call->args = tcall_json_none_();
    call->cx.bound = NULL;
}

/* Free memory for tokens and the like: aligned, behind `skip` bytes of it. */
TCALL_SHARED_ char *tcall_hydrate_gap_(const tcall_block *b, size_t skip,
                                       size_t *size)
{
    size_t start = (b->low + skip + 7) & ~(size_t)7;
    size_t end = b->size - b->high;
    start = start < end ? start : end;
    *size = end - start;
    return b->base + start;
}

/* Writes to the free part. */
static void tcall_hydrate_writer_(const tcall_block *b, tcall_writer *w)
{
    tcall_writer_init(w, tcall_block_gap_(b), tcall_block_free_(b));
}

/* Holds n bytes that were made at `from` in the free part, or lie elsewhere. */
TCALL_SHARED_ char *tcall_hydrate_hold_(tcall_block *b, const char *from,
                                        size_t n)
{
    char *to = (char *)tcall_block_take_(b, n);
    if (to && n)
        memmove(to, from, n);
    return to;
}

/* The same for text. What does not fit is empty. */
TCALL_SHARED_ int tcall_hydrate_keep_(tcall_block *b, const char *from,
                                      size_t n, tcall_str *to)
{
    to->ptr = tcall_hydrate_hold_(b, from, n);
    to->len = to->ptr ? n : 0;
    return to->ptr ? TCALL_OK : TCALL_E_MEMORY;
}

/* Parses text into the end of the block; what lies in the first `skip` bytes
 * of the free part (the text itself, perhaps) is left alone. */
static int tcall_hydrate_read_(tcall *tc, tcall_call *call, tcall_str text,
                               size_t skip)
{
    tcall_block *b = &tc->block;
    size_t size;
    char *gap = tcall_hydrate_gap_(b, skip, &size);
    tcall_arguments args;
    const char *held;
    int r = tcall_parse_arguments(&args, text, tc->desc.strict_json, gap, size);
    if (r == TCALL_E_MEMORY)
        tcall_block_room_(b, (size_t)(gap - tcall_block_gap_(b)) + args.used);
    if (r < 0) {
        call->error_at = args.at;
        return r;
    }
    if (!skip)
        call->fixes = args.fixes;
    held = tcall_hydrate_hold_(b, gap, args.used);
    call->args.text = held + (args.root.text - gap);
    call->args.tok =
        (const tcall_tok *)(const void *)(held +
                                          ((const char *)args.root.tok - gap));
    return TCALL_OK;
}

/* Compiles a schema into the end of the block. */
TCALL_SHARED_ int tcall_hydrate_compile_(tcall *tc, tcall_schema *s,
                                         const char *text)
{
    int r = tcall_tool_compile_(tc, s, text);
    if (r < 0)
        return r;
    s->program = (const tcall_node_ *)(const void *)tcall_hydrate_hold_(
        &tc->block, (const char *)s->program, s->nodes * sizeof(tcall_node_));
    return s->program ? TCALL_OK : TCALL_E_MEMORY;
}

/* The compiled schema: there since tcall_init, or made for this call (of a
 * tool that was added later, too). */
static int tcall_hydrate_schema_(tcall *tc, tcall_call *call)
{
    const char *text = call->tool->parameters;
    if (!text || tc->desc.validator)
        return TCALL_OK;
    if (tc->schemas) {
        call->schema = tc->schemas[call->tool - tc->desc.tools];
        if (call->schema.program)
            return TCALL_OK;
    }
    return tcall_hydrate_compile_(tc, &call->schema, text);
}

/* Checks with the free part of the block as scratch memory. */
TCALL_SHARED_ int tcall_hydrate_run_(tcall_block *b, const tcall_schema *s,
                                     tcall_json value, tcall_check *check)
{
    int r;
    check->memory = tcall_hydrate_gap_(b, 0, &check->size);
    r = tcall_schema_check(s, value, check);
    if (r == TCALL_OK || r == TCALL_E_MEMORY)
        tcall_block_room_(b, check->need);
    return r;
}

static int tcall_hydrate_check_(tcall *tc, tcall_call *call, bool coerce)
{
    tcall_check check;
    int r;
    memset(&check, 0, sizeof check);
    check.errors = call->fault;
    check.error_cap = TOOLCALL_MAX_FAULTS;
    check.coerce = coerce;
    r = tcall_hydrate_run_(&tc->block, &call->schema, call->args, &check);
    if (coerce)
        call->coercions = (uint16_t)check.coerced;
    call->faults = (uint8_t)(check.error_count < TOOLCALL_MAX_FAULTS
                                 ? check.error_count
                                 : TOOLCALL_MAX_FAULTS);
    return r;
}

/* Coercion only marks the values it would change. Write the arguments as they
 * are meant and read that text, to check it strictly: so what is checked,
 * shown, run and logged is one and the same value. */
TCALL_APART_ static int tcall_hydrate_rewrite_(tcall *tc, tcall_call *call,
                                               size_t base)
{
    tcall_block *b = &tc->block;
    tcall_json marked = call->args;
    tcall_writer w;
    size_t text;
    tcall_hydrate_writer_(b, &w);
    tcall_write_json(&w, marked);
    text = w.len;
    w.last = 0;
    tcall_write_coercions(&w, marked);
    if (!tcall_block_room_(b, w.len))
        return TCALL_E_MEMORY;
    b->high = base;
    tcall_hydrate_keep_(b, w.buf + text, w.len - text, &call->coerced);
    return tcall_hydrate_read_(tc, call, tcall_slice_(w.buf, text), text);
}

TCALL_APART_ static int tcall_hydrate_foreign_(tcall *tc, tcall_call *call)
{
    const tcall_validator *v = tc->desc.validator;
    tcall_block *b = &tc->block;
    tcall_writer why;
    int r;
    tcall_hydrate_writer_(b, &why);
    r = v->check(v->user, call->tool, call->args, &why);
    tcall_hydrate_keep_(b, why.buf, why.fill, &call->why);
    return r < 0 ? r : TCALL_OK;
}

/* parse and validate; base: what the block's end holds besides them. */
TCALL_SHARED_ int tcall_hydrate_try_(tcall *tc, tcall_call *call, size_t base)
{
    int r;
    tc->block.high = base;
    call->step = TCALL_STEP_PARSE;
    if (call->cut && !call->repaired)
        return call->cut < 0 ? call->cut : TCALL_E_CUT;
    r = tcall_hydrate_read_(tc, call, call->arguments, 0);
    if (r < 0 || !call->tool->parameters)
        return r;
    call->step = TCALL_STEP_VALIDATE;
    if (tc->desc.validator)
        r = tcall_hydrate_foreign_(tc, call);
    else
        r = tcall_hydrate_check_(tc, call, !tc->desc.strict_types);
    if (r == TCALL_OK && call->coercions) {
        r = tcall_hydrate_rewrite_(tc, call, base);
        if (r == TCALL_OK)
            r = tcall_hydrate_check_(tc, call, false);
    }
    call->validated = r == TCALL_OK;
    return r;
}

/* What was refused is mended, once: TCALL_OK, or why not. */
TCALL_APART_ static int tcall_hydrate_repair_(tcall *tc, tcall_call *call,
                                              size_t base)
{
    tcall_block *b = &tc->block;
    tcall_writer w;
    int r = call->error;
    if (!tc->desc.repair || r == TCALL_E_MEMORY)
        return r;
    tc->repairs++;
    tcall_hydrate_writer_(b, &w);
    if (tc->desc.repair(tc->desc.user, call, &w) < 0 || w.error)
        return r;
    b->high = base;
    call->original = call->arguments;
    if (tcall_hydrate_keep_(b, w.buf, w.fill, &call->arguments) < 0)
        return TCALL_E_MEMORY;
    call->repaired = true;
    tcall_tell_call_(call, TCALL_EVENT_REPAIR, call->arguments);
    return TCALL_OK;
}

TCALL_APART_ TCALL_SHARED_ int tcall_hydrate_bind_(tcall *tc, tcall_call *call)
{
    tcall_block *b = &tc->block;
    const tcall_tool *tool = call->tool;
    void *bound;
    char *path;
    size_t cap;
    int r;
    call->step = TCALL_STEP_BIND;
    if (!tool->fields)
        return TCALL_OK;
    bound = tcall_block_take_(b, tool->args_size);
    if (!bound)
        return TCALL_E_MEMORY;
    memset(bound, 0, tool->args_size);
    call->cx.bound = bound;
    path = tcall_block_gap_(b);
    cap = tcall_block_free_(b) < 64 ? tcall_block_free_(b) : 64;
    r = tcall_bind(bound, call->args, tool->fields, path, cap);
    if (r < 0 && cap)
        tcall_hydrate_keep_(b, path, strlen(path), &call->why);
    return r;
}

int tcall_hydrate(tcall *tc, tcall_call *call)
{
    uint32_t before = tcall_now_(tc);
    size_t base;
    int r;
    call->mark = tc->block.high;
    call->step = TCALL_STEP_FIND;
    call->cx.tc = tc;
    call->cx.call = call;
    call->tool = tcall_find(tc, call->name);
    call->cx.user = call->tool ? call->tool->user : NULL;
    r = call->tool ? tcall_hydrate_schema_(tc, call) : TCALL_E_UNKNOWN;
    base = tc->block.high;
    if (r == TCALL_OK) {
        r = call->error = tcall_hydrate_try_(tc, call, base);
        if (r < 0) {
            r = tcall_hydrate_repair_(tc, call, base);
            if (r == TCALL_OK)
                r = tcall_hydrate_try_(tc, call, tc->block.high);
        }
    }
    if (r == TCALL_OK)
        r = tcall_hydrate_bind_(tc, call);
    if (r == TCALL_OK)
        call->step = TCALL_STEP_DONE;
    call->error = r;
    call->hydrate_ms = tcall_now_(tc) - before;
    tcall_tell_call_(call, TCALL_EVENT_HYDRATED, tcall_slice_(NULL, 0));
    return r;
}

int tcall_write_call_errors(tcall_writer *w, const tcall_call *call)
{
    size_t near_len = call->arguments.len;
    if (call->faults && call->args.tok) {
        size_t i;
        tcall_write_key(w, "errors");
        tcall_write_open(w, '[');
        for (i = 0; i < call->faults; i++)
            tcall_write_validation_error(w, &call->schema, call->args,
                                         &call->fault[i]);
        tcall_write_close(w, ']');
    } else if (call->why.len) {
        tcall_write_key(w, "errors");
        tcall_write_str(w, call->why);
    } else if (call->step == TCALL_STEP_PARSE && call->error_at <= near_len) {
        const char *near = call->arguments.ptr + call->error_at;
        near_len -= call->error_at;
        if (near_len > 24)
            near_len = tcall_utf8_cut_(near, 24);
        tcall_write_key(w, "at");
        tcall_write_int(w, (long)call->error_at);
        tcall_write_key(w, "near");
        tcall_write_str(w, tcall_slice_(near, near_len));
    }
    return w->error;
}

/* "key":"text" */
TCALL_SHARED_ void tcall_write_pair_(tcall_writer *w, const char *key,
                                     tcall_str text)
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

static void tcall_write_validator_(const tcall *tc, const tcall_tool *tool,
                                   tcall_writer *w)
{
    const tcall_validator *v = tc->desc.validator;
    bool eager =
        tool && tc->schemas && tc->schemas[tool - tc->desc.tools].program;
    tcall_write_key(w, "validator");
    tcall_write_open(w, '{');
    tcall_write_pair_(w, "name", tcall_str_of(v ? v->name : "builtin"));
    tcall_write_pair_(w, "version",
                      tcall_str_of(v ? v->version : TOOLCALL_VERSION));
    tcall_write_pair_(w, "mode",
                      tcall_str_of(v       ? "foreign"
                                   : eager ? "eager"
                                           : "lazy"));
    tcall_write_close(w, '}');
}

int tcall_write_provenance(tcall_writer *w, const tcall *tc,
                           const tcall_call *call)
{
    static const char modes[][15] = {"read-only", "human-approval", "full"};
    static const char steps[][9] = {"find", "parse", "validate", "bind",
                                    "done"};
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
    if (tool && tool->provided_by)
        tcall_write_pair_(w, "provided_by", tcall_str_of(tool->provided_by));
    tcall_write_validator_(tc, tool, w);
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
    tcall_write_pair_(w, "step", tcall_str_of(steps[call->step % 5]));
    tcall_write_pair_(w, "outcome",
                      tcall_str_of(tcall_error_code(call->error)));
    if (call->error < 0)
        tcall_write_call_errors(w, call);
    return tcall_write_close(w, '}');
}

/* ==========================================================================
 * >>context
 */

enum {
    TCALL_GOING_ = 1,    /* towards the run of the tool */
    TCALL_HIT_ = 2,      /* answered by a hook at WILL_READ_CACHE */
    TCALL_ANSWERED_ = 4, /* there is an output, and no error */
    TCALL_FAILED_ = 8,
    TCALL_DONE_ = 16,
    TCALL_LATE_ = 32, /* of a stage: higher priority comes later */

    TCALL_INNER_ = 0, /* not by the list: inside AROUND_EXECUTE */
    TCALL_WELL_ = TCALL_GOING_ | TCALL_HIT_ | TCALL_ANSWERED_,
    TCALL_ALWAYS_ = TCALL_WELL_ | TCALL_FAILED_,
    TCALL_DID_INNER_ = TCALL_LATE_ | TCALL_INNER_,
    TCALL_DID_GOING_ = TCALL_LATE_ | TCALL_GOING_,
    TCALL_DID_HIT_ = TCALL_LATE_ | TCALL_HIT_,
    TCALL_DID_ALWAYS_ = TCALL_LATE_ | TCALL_ALWAYS_
};

/* Where an attempt to run the tool stands. */
enum {
    TCALL_RUN_NOT_,
    TCALL_RUN_WILL_,    /* at WILL_EXECUTE */
    TCALL_RUN_CONSENT_, /* the arguments may need approval once more */
    TCALL_RUN_BEGIN_,
    TCALL_RUN_POLLED_ /* the tool answered TCALL_E_AGAIN */
};

static const uint8_t tcall_due_[] = {
#define TCALL_X_(NAME, name, when) TCALL_##when##_,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
};

const char *tcall_stage_name(int stage)
{
    static const char names[][25] = {
#define TCALL_X_(NAME, name, when) name,
        TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
    };
    return stage >= 0 && stage < TCALL_STAGE_COUNT ? names[stage] : NULL;
}

void tcall_emit(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_OUTPUT, text);
}

void tcall_progress(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_PROGRESS, text);
}

/* A copy in the block. */
TCALL_SHARED_ int tcall_keep_(tcall_ctx *cx, tcall_str text, tcall_str *to)
{
    return tcall_hydrate_keep_(&cx->tc->block, text.ptr, text.len, to);
}

/* ---- input and output ---- */

tcall_str tcall_output(const tcall_ctx *cx)
{
    size_t start = cx->clean->fill;
    return tcall_slice_(cx->out->buf + start, cx->out->fill - start);
}

/* What was written is taken back. */
TCALL_APART_ static void tcall_take_back_(tcall_ctx *cx)
{
    *cx->out = *cx->clean;
}

/* What is about to be replaced goes to the history. */
static tcall_change *tcall_change_(tcall_ctx *cx)
{
    tcall_change *c =
        (tcall_change *)tcall_block_take_(&cx->tc->block, sizeof *c);
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->before = cx->history;
    c->by = cx->hook ? cx->hook->name : cx->call->tool->name;
    c->stage = cx->hook ? cx->hook->stage : cx->stage;
    cx->history = c;
    return c;
}

int tcall_set_input(tcall_ctx *cx, tcall_str text)
{
    tcall *tc = cx->tc;
    tcall_call *call = cx->call;
    tcall_change *c;
    if (!call->tool || cx->state != TCALL_GOING_ || cx->begun)
        return TCALL_E_USAGE;
    c = tcall_change_(cx);
    if (!c || tcall_keep_(cx, text, &text) < 0)
        return call->error = TCALL_E_MEMORY;
    call->arguments = text;
    c->input = call->args;
    call->approved = call->validated = false;
    call->cut = 0;
    call->error = tcall_hydrate_try_(tc, call, tc->block.high);
    if (call->error == TCALL_OK)
        call->error = tcall_hydrate_bind_(tc, call);
    return call->error;
}

/* What was written did not fit: keep whole characters and say so. */
static int tcall_write_cut_(tcall_ctx *cx)
{
    tcall_writer *w = cx->out;
    size_t start = cx->clean->fill, size = w->len - cx->clean->len, n;
    char text[64];
    tcall_writer notice;
    if (w->error != TCALL_E_MEMORY)
        return w->error;
    tcall_writer_init(&notice, text, sizeof text);
    tcall_write_text(&notice, "\n[output cut: all of it are ");
    tcall_write_int(&notice, (long)size);
    tcall_write_text(&notice, " bytes]");
    n = w->fill - start;
    n = n > notice.fill ? tcall_utf8_cut_(w->buf + start, n - notice.fill) : 0;
    tcall_take_back_(cx);
    w->len += n;
    w->fill += n;
    if (w->cap - w->fill >= notice.fill)
        tcall_write_bytes(w, text, notice.fill);
    return TCALL_OK;
}

int tcall_set_output(tcall_ctx *cx, tcall_str text)
{
    tcall_str old = tcall_output(cx);
    if (old.len) {
        tcall_change *c = tcall_change_(cx);
        if (!c || tcall_keep_(cx, old, &c->output) < 0)
            return TCALL_E_MEMORY;
        if (text.ptr >= old.ptr && text.ptr < old.ptr + old.len)
            text.ptr = c->output.ptr + (text.ptr - old.ptr);
    }
    tcall_take_back_(cx);
    tcall_write_bytes(cx->out, text.ptr, text.len);
    return tcall_write_cut_(cx);
}

/* ---- result ---- */

int tcall_set_result(tcall_ctx *cx, tcall_str title, tcall_str metadata)
{
    int r = TCALL_OK;
    if (title.len) {
        tcall_progress(cx, title);
        r = tcall_keep_(cx, title, &cx->result.title);
    }
    if (metadata.len && r == TCALL_OK)
        r = tcall_keep_(cx, metadata, &cx->result.metadata);
    return r;
}

/* ---- controls ---- */

int tcall_respond(tcall_ctx *cx, tcall_str text)
{
    int r = tcall_set_output(cx, text);
    if (r < 0)
        return r;
    if (cx->state != TCALL_HIT_)
        cx->state =
            cx->stage == TCALL_WILL_READ_CACHE ? TCALL_HIT_ : TCALL_ANSWERED_;
    cx->error = TCALL_OK;
    return TCALL_OK;
}

int tcall_abort(tcall_ctx *cx, const char *reason, const char *code, int status)
{
    if (cx->state != TCALL_FAILED_) {
        cx->reason = tcall_str_of(reason);
        cx->code = code;
        cx->status = status;
    }
    return TCALL_E_ABORTED;
}

int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason)
{
    tcall_abort(cx, reason, NULL, 429);
    if (cx->state != TCALL_FAILED_)
        cx->retry_ms = ms;
    return TCALL_E_RATE;
}

void tcall_deadline(tcall_ctx *cx, uint32_t ms)
{
    uint32_t end = tcall_now_(cx->tc) + ms;
    if (cx->timed && (int32_t)(cx->deadline - end) < 0)
        return;
    cx->deadline = end;
    cx->timed = cx->tc->desc.now_ms != NULL;
}

int32_t tcall_time_left(const tcall_ctx *cx)
{
    int32_t left = (int32_t)(cx->deadline - tcall_now_(cx->tc));
    return !cx->timed ? INT32_MAX : left > 0 ? left : 0;
}

/* Why the tool must not run now or go on, or TCALL_OK. */
static int tcall_over_(const tcall_ctx *cx)
{
    return cx->stop < 0               ? cx->stop
           : tcall_time_left(cx) == 0 ? TCALL_E_TIMEOUT
                                      : TCALL_OK;
}

/* ---- services ---- */

static tcall_service *tcall_service_(tcall_service *s, const char *name)
{
    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    return s;
}

void *tcall_find_service(const tcall_ctx *cx, const char *name)
{
    const tcall_desc *d = &cx->tc->desc;
    const tcall_service *s = tcall_service_(cx->services, name);
    size_t i;
    if (!s && cx->session)
        s = tcall_service_(cx->session->services, name);
    for (i = 0; !s && i < d->service_count; i++)
        if (strcmp(d->services[i].name, name) == 0)
            s = &d->services[i];
    return s ? s->object : NULL;
}

void *tcall_require_service(tcall_ctx *cx, const char *name)
{
    void *object = tcall_find_service(cx, name);
    if (!object) {
        cx->lacks = true;
        if (cx->state != TCALL_FAILED_)
            cx->by = name;
    }
    return object;
}

int tcall_bind_service(tcall_ctx *cx, tcall_service *service, tcall_scope scope)
{
    tcall_service **list = &cx->services;
    if (scope == TCALL_SCOPE_SESSION && !cx->session)
        return TCALL_E_USAGE;
    if (scope == TCALL_SCOPE_SESSION)
        list = &cx->session->services;
    service->next = *list;
    *list = service;
    return TCALL_OK;
}

void tcall_unbind_service(tcall_session *session, const tcall_service *service)
{
    tcall_service **at = &session->services;
    while (*at && *at != service)
        at = &(*at)->next;
    if (*at)
        *at = service->next;
}

void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size)
{
    const size_t head = (sizeof(tcall_service) + 7) & ~(size_t)7;
    tcall_service *s = tcall_service_(cx->services, name);
    if (s)
        return s->object;
    s = (tcall_service *)tcall_block_take_(&cx->tc->block, head + size);
    if (!s)
        return NULL;
    memset(s, 0, head + size);
    s->name = name;
    s->object = (char *)s + head;
    tcall_bind_service(cx, s, TCALL_SCOPE_CALL);
    return s->object;
}

TCALL_SHARED_ bool tcall_waits_(int r)
{
    return r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL;
}

/* What came of a hook or of the tool: not less than an error where it asked
 * for a service that is missing. */
static int tcall_came_(tcall_ctx *cx, int r)
{
    if (cx->lacks)
        r = TCALL_E_SERVICE;
    cx->lacks = false;
    return r > 0 ? TCALL_OK : r;
}

/* ==========================================================================
 * >>result
 */

int tcall_write_result(tcall_writer *w, const tcall_result *result)
{
    const tcall_attachment *a;
    tcall_write_open(w, '{');
    if (result->error < 0 && result->output.len > 1) {
        tcall_write_bytes(w, result->output.ptr + 1, result->output.len - 2);
    } else {
        tcall_write_key(w, "success");
        tcall_write_bool(w, result->error == TCALL_OK);
        tcall_write_pair_(w, "error", tcall_str_of(""));
    }
    if (result->title.len)
        tcall_write_pair_(w, "title", result->title);
    if (result->metadata.len) {
        tcall_write_key(w, "metadata");
        tcall_write_verbatim(w, result->metadata);
    }
    if (result->error == TCALL_OK)
        tcall_write_pair_(w, "output", result->output);
    if (result->attached) {
        tcall_write_key(w, "attachments");
        tcall_write_open(w, '[');
        for (a = result->attached; a; a = a->next) {
            tcall_write_open(w, '{');
            tcall_write_pair_(w, "type", tcall_str_of(a->type));
            tcall_write_pair_(w, "name", tcall_str_of(a->name));
            tcall_write_key(w, "bytes");
            tcall_write_int(w, (long)a->bytes.len);
            tcall_write_close(w, '}');
        }
        tcall_write_close(w, ']');
    }
    return tcall_write_close(w, '}');
}

/* ---- the result ---- */

/* The model learns which names there are, so that it can choose again. */
static void tcall_write_names_(const tcall *tc, tcall_writer *w)
{
    const tcall_tool *tool;
    size_t i = 0;
    tcall_write_key(w, "available");
    tcall_write_open(w, '[');
    while ((tool = tcall_next_tool(tc, &i, tc->desc.allow)) != NULL)
        tcall_write_string(w, tool->name);
    tcall_write_close(w, ']');
}

/* What of an argument is shown in passing. */
#define TCALL_GLANCE_ 32

/* One more argument, key=value; what is long is cut. */
static void tcall_write_short_(tcall_writer *w, tcall_str key, tcall_str value)
{
    size_t n = value.len > TCALL_GLANCE_
                   ? tcall_utf8_cut_(value.ptr, TCALL_GLANCE_ - 1)
                   : value.len;
    tcall_write_text(w, w->last == '(' ? "" : ", ");
    tcall_write_bytes(w, key.ptr, key.len < TCALL_GLANCE_ ? key.len : 0);
    tcall_write_char_(w, '=');
    tcall_write_bytes(w, value.ptr, n);
    tcall_write_text(w, n < value.len ? "..." : "");
}

/* name(key=value, ...): of arguments, which are an object. */
static void tcall_write_shape_(tcall_writer *w, const char *name,
                               tcall_json args)
{
    const tcall_tok *t = args.tok + 1, *end = args.tok + args.tok->span;
    size_t start = w->len;
    tcall_write_text(w, name);
    tcall_write_char_(w, '(');
    for (; t < end && w->len - start < 160; t += t->span) {
        char room[TCALL_GLANCE_];
        tcall_writer value;
        tcall_str key = tcall_tok_str_(args.text, t++);
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_json(&value, tcall_json_cursor_(args.text, t));
        tcall_write_short_(w, key, tcall_slice_(room, value.len));
    }
    tcall_write_text(w, t < end ? ", ...): " : "): ");
}

/* A value that the schema of a property names; none: one of its type. */
static tcall_str tcall_example_(const char *property)
{
    static const char keys[][9] = {"enum", "examples", "const", "default",
                                   "minimum"};
    static const char types[][6] = {"i1", "n1", "btrue", "a[]", "o{}"};
    const char *v, *type = tcall_text_get_(property, "type");
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(keys); i++) {
        v = tcall_text_get_(property, keys[i]);
        if (i < 2)
            v = tcall_text_first_(v);
        if (v)
            return tcall_text_verbatim_(v);
    }
    for (i = 0; type && i < TCALL_ARRAY_LEN(types); i++)
        if (type[1] == types[i][0])
            return tcall_str_of(types[i] + 1);
    return tcall_str_of("\"value\"");
}

/* "suggestion":"Example: name(key=value)" with what the schema requires. */
TCALL_APART_ static void tcall_write_example_(const tcall_tool *tool,
                                              tcall_writer *w)
{
    const char *schema = tcall_text_space_(tool->parameters), *name;
    const char *all = tcall_text_get_(schema, "properties");
    tcall_write_texts_(w, "'suggestion':'Example: %(", tool->name, NULL);
    w->quoted = 1;
    name = tcall_text_first_(tcall_text_get_(schema, "required"));
    for (; name && *name == '"';
         name = tcall_text_next_(tcall_text_skip_(name))) {
        char room[64];
        const char *end = tcall_text_skip_(name);
        size_t n = 0;
        if (end - name < (int)sizeof room)
            n = tcall_decode_(room, name + 1, end - 1);
        room[n] = 0;
        tcall_write_short_(w, tcall_slice_(room, n),
                           tcall_example_(tcall_text_get_(all, room)));
    }
    tcall_write_char_(w, ')');
    tcall_write_unquote(w);
}

/* Its beginning into out, whose present content may be where the reason
 * stands. */
TCALL_APART_ static void tcall_write_reasons_(tcall_ctx *cx, tcall_writer *w)
{
    const tcall_call *call = cx->call;
    char words[128];
    tcall_str reason = cx->reason;
    if (reason.len >= sizeof words)
        reason.len = tcall_utf8_cut_(reason.ptr, sizeof words - 1);
    if (reason.len)
        memcpy(words, reason.ptr, reason.len);
    tcall_take_back_(cx);
    tcall_write_open(w, '{');
    tcall_write_texts_(w, "'success':false,'error':'", NULL, NULL);
    w->quoted = 1;
    if (call->tool && call->args.tok)
        tcall_write_shape_(w, call->tool->name, call->args);
    if (cx->by) {
        tcall_write_text(w, cx->by);
        tcall_write_text(w, ": ");
    }
    if (reason.len)
        tcall_write_bytes(w, words, reason.len);
    else
        tcall_write_text(w, tcall_error_text(cx->error));
    tcall_write_unquote(w);
}

TCALL_APART_ static void tcall_write_failure_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    tcall_writer *w = cx->out;
    tcall_write_reasons_(cx, w);
    tcall_write_texts_(w, "'error_type':'%','code':'%'",
                       tcall_error_type(cx->error),
                       cx->code ? cx->code : tcall_error_code(cx->error));
    if (cx->result.suggestion)
        tcall_write_texts_(w, "'suggestion':'%'", cx->result.suggestion, NULL);
    else if (cx->error == TCALL_E_INVALID && call->tool->parameters)
        tcall_write_example_(call->tool, w);
    if (cx->retry_ms) {
        tcall_write_key(w, "retry_after_ms");
        tcall_write_int(w, (long)cx->retry_ms);
    }
    if (cx->error == TCALL_E_UNKNOWN)
        tcall_write_names_(cx->tc, w);
    else
        tcall_write_call_errors(w, call);
    tcall_write_close(w, '}');
    if (w->error)
        cx->error = w->error;
}

/* ==========================================================================
 * >>stages
 */

/* ---- what the library itself does at stages ---- */

/* Told once when it is asked for and once when it is decided. */
TCALL_SHARED_ void tcall_tell_verdict_(tcall_ctx *cx, tcall_verdict verdict)
{
    tcall_event event;
    bool asked = cx->asked;
    cx->asked = verdict == TCALL_VERDICT_LATER;
    if (asked == cx->asked)
        return;
    memset(&event, 0, sizeof event);
    event.call = cx->call;
    event.verdict = (int)verdict;
    tcall_tell_(cx->tc, &event,
                cx->asked ? TCALL_EVENT_APPROVAL : TCALL_EVENT_VERDICT);
}

TCALL_SHARED_ bool tcall_must_ask_(const tcall_call *call)
{
    const tcall_tool *tool = call->tool;
    bool reads = tool->permissions == TCALL_READ;
    if (tool->confirm || call->cx.asks || (call->repaired && !reads))
        return true;
    if (tool->parameters || tool->no_schema_mode == TCALL_NO_SCHEMA_FULL)
        return false;
    return !reads || tool->no_schema_mode != TCALL_NO_SCHEMA_READ_ONLY;
}

static int tcall_consent_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_desc *d = &cx->tc->desc;
    tcall_verdict verdict = TCALL_VERDICT_DENY;
    if (call->error < 0 || (!tcall_must_ask_(call) && !cx->asked))
        return TCALL_OK;
    if (!call->approved) {
        tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
        if (d->approve)
            verdict = d->approve(d->user, call);
        if (verdict == TCALL_VERDICT_LATER)
            return TCALL_E_APPROVAL;
        call->approved = verdict == TCALL_VERDICT_ALLOW;
    }
    tcall_tell_verdict_(cx, call->approved ? TCALL_VERDICT_ALLOW
                                           : TCALL_VERDICT_DENY);
    return call->approved ? TCALL_OK : TCALL_E_DENIED;
}

/* The tool once, or on; what it wrote of no use is taken back. */
static int tcall_run_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    uint32_t before = tcall_now_(cx->tc);
    const tcall_hook *outer = cx->hook;
    int over = tcall_over_(cx), r;
    if (over < 0) {
        if (cx->phase != TCALL_RUN_POLLED_)
            return over;
        cx->stop = over;
    }
    cx->begun = true;
    cx->hook = NULL;
    cx->out->last = 0;
    r = tcall_came_(cx, call->tool->run(cx, call->args, cx->out));
    cx->hook = outer;
    call->run_ms += tcall_now_(cx->tc) - before;
    cx->phase = r == TCALL_E_AGAIN      ? TCALL_RUN_POLLED_
                : r == TCALL_E_APPROVAL ? TCALL_RUN_BEGIN_
                                        : TCALL_RUN_NOT_;
    if (over < 0 || tcall_waits_(r)) {
        tcall_take_back_(cx);
        return over < 0 ? over : r;
    }
    if (r == TCALL_OK || (r == TCALL_E_MEMORY && cx->out->error == r))
        return tcall_write_cut_(cx); /* what does not fit */
    if (!cx->reason.len && !cx->by)
        cx->reason = tcall_output(cx);
    return r;
}

/* ---- hooks ---- */

/* Those of the registry, then those of the tool; NULL: there are no more. */
static const tcall_hook *tcall_hook_(const tcall_ctx *cx, size_t i)
{
    const tcall_desc *d = &cx->tc->desc;
    const tcall_tool *tool = cx->call->tool;
    if (i < d->hook_count)
        return &d->hooks[i];
    i -= d->hook_count;
    return tool && i < tool->hook_count ? &tool->hooks[i] : NULL;
}

static bool tcall_acquires_(const tcall_hook *h)
{
    return h->stage == TCALL_WILL_ACQUIRE_QUOTA ||
           h->stage == TCALL_WILL_ACQUIRE_SEMAPHORE;
}

/* The bits in cx->held of a hook that acquires, or of those that one which
 * releases has to do with: the stages of both lie like mirror images. */
static uint32_t tcall_holders_(const tcall_ctx *cx, const tcall_hook *own)
{
    const int mirror = TCALL_WILL_ACQUIRE_QUOTA + TCALL_DID_RELEASE_QUOTA;
    const tcall_hook *h;
    uint32_t bits = 0, bit = 1;
    size_t i;
    for (i = 0; (h = tcall_hook_(cx, i)) != NULL; i++)
        if (tcall_acquires_(h)) {
            if (h == own ||
                (h->stage + own->stage == mirror && h->user == own->user))
                bits |= bit;
            bit <<= 1;
        }
    return bits;
}

/* The hook's filter lets it run, and what it releases was acquired. */
static bool tcall_hook_due_(tcall_ctx *cx, const tcall_hook *h)
{
    uint32_t bits;
    if (h->filter && !h->filter(cx, h->user))
        return false;
    if (h->stage != TCALL_DID_RELEASE_SEMAPHORE &&
        h->stage != TCALL_DID_RELEASE_QUOTA)
        return true;
    bits = tcall_holders_(cx, h);
    if (bits && !(cx->held & bits))
        return false;
    bits &= cx->held;
    cx->held &= ~(bits & (0 - bits)); /* one for one */
    return true;
}

/* The next hook of a stage from the place *at on; *at is then behind it. */
static const tcall_hook *tcall_hook_next_(tcall_ctx *cx, int stage,
                                          uint32_t *at)
{
    const tcall_hook *h, *best;
    do {
        uint32_t least = UINT32_MAX;
        size_t i;
        best = NULL;
        for (i = 0; (h = tcall_hook_(cx, i)) != NULL; i++) {
            int order = -1 - h->priority;
            uint32_t place;
            if (h->stage != stage)
                continue;
            if (tcall_due_[stage] & TCALL_LATE_)
                order = h->priority;
            place = (uint32_t)(order + 0x8000) << 16 | (uint32_t)i;
            if (place >= *at && place < least) {
                least = place;
                best = h;
            }
        }
        *at = best ? least + 1 : *at;
    } while (best && !tcall_hook_due_(cx, best));
    return best;
}

static int tcall_hook_run_(tcall_ctx *cx, const tcall_hook *h)
{
    const tcall_hook *outer = cx->hook;
    int state = cx->state, r;
    cx->hook = h;
    r = tcall_came_(cx, h->run(cx, h->user));
    cx->hook = outer;
    if (tcall_waits_(r) &&
        (state != TCALL_GOING_ || h->stage > TCALL_WILL_EXECUTE))
        r = TCALL_E_USAGE; /* the output is there, nobody may wait */
    if (r < 0 && !tcall_waits_(r) && state != TCALL_FAILED_ && !cx->by &&
        h->stage != TCALL_AROUND_EXECUTE)
        cx->by = h->name;
    if (r == TCALL_OK && cx->state == TCALL_GOING_ && tcall_acquires_(h)) {
        uint32_t bits = tcall_holders_(cx, h);
        cx->held |= bits;
        if (!bits)
            r = TCALL_E_LIMIT; /* more than 32 of them */
    }
    return r;
}

/* All hooks of a stage from the place *at on; the first error of them. */
static int tcall_hooks_(tcall_ctx *cx, int stage, uint32_t *at)
{
    const tcall_hook *h;
    int first = TCALL_OK, state = cx->state;
    uint32_t here;
    if (!(cx->hooked >> stage & 1))
        return TCALL_OK;
    while (here = *at, (h = tcall_hook_next_(cx, stage, at)) != NULL) {
        int r = tcall_hook_run_(cx, h);
        if (tcall_waits_(r)) {
            *at = here;
            return r;
        }
        if (first == TCALL_OK)
            first = r;
        if (!(tcall_due_[stage] & TCALL_FAILED_) &&
            (r < 0 || cx->state != state))
            break;
    }
    return first;
}

/* The tool has no second effect when it runs once more for this call. */
TCALL_SHARED_ bool tcall_repeatable_(const tcall_tool *tool)
{
    return tool->idempotent ||
           (tcall_needs_(tool) & ~(unsigned)TCALL_NETWORK) == TCALL_READ;
}

/* The same for a stage whose hooks do not wait. */
static int tcall_hooks_all_(tcall_ctx *cx, int stage)
{
    uint32_t at = 0;
    return tcall_hooks_(cx, stage, &at);
}

/* Approval once more, for what WILL_EXECUTE made of the arguments. */
static int tcall_agreed_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    int r = call->error;
    if (r == TCALL_OK && !call->approved && tcall_must_ask_(call))
        r = tcall_hooks_(cx, TCALL_WILL_CHECK_CONSENT, &cx->inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_consent_(cx);
    return r;
}

/* One attempt, from where it stands. */
static int tcall_attempt_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->phase == TCALL_RUN_NOT_) {
        cx->attempt++;
        r = tcall_over_(cx);
        if (r < 0)
            return cx->ran = r;
        if (cx->begun && !tcall_repeatable_(cx->call->tool))
            return cx->ran;
        tcall_take_back_(cx);
        cx->reason.len = 0;
        cx->by = NULL;
        cx->inner = 0;
        if (cx->attempt > 1) {
            tcall_tell_call_(cx->call, TCALL_EVENT_RETRY,
                             tcall_slice_(NULL, 0));
            r = tcall_hooks_all_(cx, TCALL_ON_RETRY);
        }
        cx->phase = TCALL_RUN_WILL_;
    }
    while (r == TCALL_OK && cx->state == TCALL_GOING_ &&
           cx->phase < TCALL_RUN_BEGIN_) {
        r = cx->phase == TCALL_RUN_WILL_
                ? tcall_hooks_(cx, TCALL_WILL_EXECUTE, &cx->inner)
                : tcall_agreed_(cx);
        if (r == TCALL_OK) {
            cx->phase++;
            cx->inner = 0;
        }
    }
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_run_(cx);
    if (tcall_waits_(r))
        return r;
    cx->phase = TCALL_RUN_NOT_;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_hooks_all_(cx, TCALL_DID_EXECUTE);
    return cx->ran = r;
}

int tcall_next(tcall_ctx *cx)
{
    const tcall_hook *h;
    uint32_t here = cx->around;
    uint8_t depth = cx->depth;
    int r;
    if (cx->stage != TCALL_AROUND_EXECUTE || cx->state != TCALL_GOING_ ||
        depth > TOOLCALL_MAX_AROUND)
        return cx->attempt++, TCALL_E_USAGE; /* who loops for it, ends */
    h = tcall_hook_next_(cx, TCALL_AROUND_EXECUTE, &cx->around);
    /* The tool, and hooks that are not around it, are not to call this. */
    cx->depth = h ? (uint8_t)(depth + 1) : TOOLCALL_MAX_AROUND + 1;
    r = h ? tcall_hook_run_(cx, h) : tcall_attempt_(cx);
    cx->depth = depth;
    cx->around = here;
    return r;
}

/* Hooks around the run do not overcome its failure by keeping silent. */
static int tcall_around_(tcall_ctx *cx)
{
    int r = tcall_next(cx);
    if (tcall_waits_(r))
        return r;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = cx->ran;
    if (r < 0 && cx->attempt > 1) {
        tcall_hooks_all_(cx, TCALL_ON_GIVE_UP);
        if (cx->state != TCALL_GOING_)
            r = TCALL_OK;
    }
    return r;
}

TCALL_SHARED_ int tcall_run_hooks_(tcall_ctx *cx)
{
    const tcall_hook *h;
    size_t i;
    for (i = 0; !cx->mapped && (h = tcall_hook_(cx, i)) != NULL; i++)
        cx->hooked |= (uint32_t)1 << (h->stage & 31);
    cx->mapped = true;
    return cx->stage == TCALL_AROUND_EXECUTE
               ? tcall_around_(cx)
               : tcall_hooks_(cx, cx->stage, &cx->at);
}

/* The result so far as a value in the block. */
TCALL_APART_ static int tcall_output_read_(tcall_ctx *cx, tcall_json *value)
{
    tcall_block *b = &cx->tc->block;
    tcall_str text = tcall_output(cx);
    size_t need = 0, size;
    char *copy = (char *)tcall_block_take_(b, text.len + 1);
    tcall_tok *tok;
    int r;
    if (!copy)
        return TCALL_E_MEMORY;
    memcpy(copy, text.ptr, text.len);
    tok = (tcall_tok *)(void *)tcall_hydrate_gap_(b, 0, &size);
    r = tcall_json_parse(value, copy, text.len, tok, size / sizeof *tok, &need);
    if (r < 0 && r != TCALL_E_MEMORY)
        return TCALL_E_OUTPUT;
    value->tok = (const tcall_tok *)(const void *)tcall_hydrate_hold_(
        b, (const char *)tok, (r < 0 ? need : (size_t)r) * sizeof *tok);
    return value->tok ? TCALL_OK : TCALL_E_MEMORY;
}

/* What this takes of the block is given back by its caller. */
static int tcall_output_check_(tcall_ctx *cx)
{
    tcall *tc = cx->tc;
    tcall_schema *schema =
        (tcall_schema *)tcall_block_take_(&tc->block, sizeof *schema);
    tcall_check check;
    tcall_json value;
    int r = schema ? tcall_output_read_(cx, &value) : TCALL_E_MEMORY;
    if (r == TCALL_OK)
        r = tcall_hydrate_compile_(tc, schema, cx->call->tool->output);
    if (r < 0)
        return r;
    memset(&check, 0, sizeof check);
    r = tcall_hydrate_run_(&tc->block, schema, value, &check);
    return r == TCALL_E_INVALID ? TCALL_E_OUTPUT : r;
}

/* Holds the output against tool->output. */
TCALL_SHARED_ int tcall_check_output_(tcall_ctx *cx)
{
    size_t high = cx->tc->block.high;
    int r = tcall_output_check_(cx);
    cx->tc->block.high = high;
    return r;
}

/* ==========================================================================
 * >>invoke
 */

void tcall_cancel(tcall_call *call, int error)
{
    call->cx.stop = error;
}

int tcall_approval(tcall_ctx *cx)
{
    uint32_t at = cx->at;
    uint8_t stage = cx->stage;
    int r = TCALL_OK;
    cx->asks = true;
    cx->stage = TCALL_WILL_CHECK_CONSENT;
    cx->at = 0;
    r = tcall_run_hooks_(cx);
    cx->stage = stage;
    cx->at = at;
    return r == TCALL_OK ? tcall_consent_(cx) : r;
}

static int tcall_authorize_(const tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    if (!call->tool)
        return call->error < 0 ? call->error : TCALL_E_USAGE;
    return tcall_enabled(call->tool, cx->tc->desc.allow) ? TCALL_OK
                                                         : TCALL_E_DENIED;
}

TCALL_APART_ static int tcall_built_in_(tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    switch (cx->stage) {
    case TCALL_WILL_AUTHORIZE: return tcall_authorize_(cx);
    case TCALL_WILL_CHECK_CONSENT: return tcall_consent_(cx);
    case TCALL_WILL_VALIDATE_INPUT: return cx->call->error;
    case TCALL_WILL_VALIDATE_OUTPUT:
        return tool && tool->output ? tcall_check_output_(cx) : TCALL_OK;
    default: return TCALL_OK;
    }
}

/* ---- the walk ---- */

static void tcall_begin_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    cx->tc = tc;
    cx->call = call;
    cx->session = call->session ? call->session : tc->desc.session;
    cx->state = TCALL_GOING_;
    cx->ran = TCALL_E_USAGE;
    cx->started = tcall_now_(tc);
    tcall_tell_call_(call, TCALL_EVENT_START, tcall_slice_(NULL, 0));
}

static void tcall_failed_(tcall_ctx *cx, int error)
{
    if (error < 0 && cx->state != TCALL_FAILED_) {
        cx->state = TCALL_FAILED_;
        cx->error = error;
    }
}

/* TCALL_OK at the end of all stages, or why to wait. */
TCALL_APART_ static int tcall_walk_(tcall_ctx *cx)
{
    int stage = cx->stage;
    for (; stage < TCALL_STAGE_COUNT; stage++) {
        int due = tcall_due_[stage], r = TCALL_OK;
        if (!(due & cx->state))
            continue;
        if (cx->stage != stage) {
            cx->stage = (uint8_t)stage;
            cx->at = 0;
        }
        r = tcall_run_hooks_(cx);
        if (r == TCALL_OK && due & cx->state)
            r = tcall_built_in_(cx);
        if (tcall_waits_(r))
            return r;
        tcall_failed_(cx, r);
    }
    return TCALL_OK;
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer clean = *out;
    tcall_ctx *cx = &call->cx;
    int r;
    if (cx->state == TCALL_DONE_)
        return TCALL_E_USAGE;
    if (!cx->state)
        tcall_begin_(tc, call);
    cx->out = out;
    cx->clean = &clean;
    if (cx->state == TCALL_GOING_ && cx->phase != TCALL_RUN_POLLED_)
        tcall_failed_(cx, tcall_over_(cx));
    r = tcall_walk_(cx);
    if (r < 0) {
        tcall_take_back_(cx);
        return r;
    }
    if (cx->asked)
        tcall_tell_verdict_(cx, TCALL_VERDICT_DENY);
    cx->finished = tcall_now_(tc);
    if (cx->state == TCALL_FAILED_)
        tcall_write_failure_(cx);
    call->error = cx->result.error = cx->error;
    cx->result.output = tcall_output(cx);
    cx->state = TCALL_DONE_;
    if (call->error < 0)
        tcall_tell_call_(call, TCALL_EVENT_ERROR, cx->reason);
    tcall_tell_call_(call, TCALL_EVENT_END, cx->result.output);
    return call->error;
}

int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                  tcall_writer *out)
{
    size_t high = tc->block.high;
    tcall_call *call =
        (tcall_call *)tcall_block_take_(&tc->block, sizeof *call);
    int r;
    if (!call)
        return TCALL_E_MEMORY;
    memset(call, 0, sizeof *call);
    call->name = name;
    call->arguments = arguments;
    tcall_hydrate(tc, call);
    r = tcall_invoke(tc, call, out);
    if (tcall_waits_(r)) { /* it ends, and lets go of what it holds */
        tcall_cancel(call, r == TCALL_E_AGAIN ? TCALL_E_CANCELLED : r);
        r = tcall_invoke(tc, call, out);
    }
    tcall_release(tc, call);
    tc->block.high = high;
    return r;
}

/* ==========================================================================
 * >>hooks
 */

static uint64_t tcall_rotl_(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static void tcall_sip_rounds_(uint64_t *v, int n)
{
    for (; n; n--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = tcall_rotl_(v[1], 13) ^ v[0];
        v[3] = tcall_rotl_(v[3], 16) ^ v[2];
        v[0] = tcall_rotl_(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = tcall_rotl_(v[3], 21) ^ v[0];
        v[1] = tcall_rotl_(v[1], 17) ^ v[2];
        v[2] = tcall_rotl_(v[2], 32);
    }
}

uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes)
{
    static const uint64_t start[] = {0x736F6D6570736575u, 0x646F72616E646F6Du,
                                     0x6C7967656E657261u, 0x7465646279746573u};
    uint64_t v[4], word = 0;
    size_t i, last = bytes.len | 7; /* there stands the length */
    for (i = 0; i < 4; i++)
        v[i] = key[i & 1] ^ start[i];
    for (i = 0; i <= last; i++) {
        size_t c = i == last ? bytes.len : 0;
        if (i < bytes.len)
            c = (unsigned char)bytes.ptr[i];
        word = word >> 8 | (uint64_t)c << 56;
        if ((i & 7) != 7)
            continue;
        v[3] ^= word;
        tcall_sip_rounds_(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xFF;
    tcall_sip_rounds_(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* One hash more in a chain. */
static void tcall_chain_(const tcall *tc, uint64_t *h, tcall_str bytes)
{
    uint64_t key[2];
    key[0] = tc->desc.hash_key[0] ^ *h;
    key[1] = tc->desc.hash_key[1];
    *h = tcall_hash(key, bytes);
}

/* The hash of the one text that the chain with this number has. */
static uint64_t tcall_hash_text_(const tcall *tc, unsigned chain,
                                 tcall_str text)
{
    uint64_t h = chain;
    tcall_chain_(tc, &h, text);
    return h;
}

/* A scalar by its type and what it means. */
static void tcall_hash_scalar_(const tcall *tc, uint64_t *h, tcall_json v)
{
    tcall_str s = tcall_json_str(v);
    tcall_num_ n;
    char digits[32];
    const char *p;
    size_t fill = 0;
    int i, all;
    digits[0] = (char)tcall_json_type(v);
    tcall_chain_(tc, h, tcall_slice_(digits, 1));
    if (digits[0] == TCALL_NUMBER) {
        n = tcall_num_read_(s);
        all = tcall_num_digits_(&n);
        n.top = n.sign ? n.top : 0;
        digits[fill++] = n.sign < 0;
        for (i = 0; i < 4; i++)
            digits[fill++] = (char)((uint32_t)n.top >> i * 8);
        for (p = n.first, i = 0; i < all; i++) {
            digits[fill++] = (char)tcall_num_digit_(&n, &p);
            if (fill == sizeof digits) {
                tcall_chain_(tc, h, tcall_slice_(digits, fill));
                fill = 0;
            }
        }
        s = tcall_slice_(digits, fill);
    }
    tcall_chain_(tc, h, s);
}

/* A container on the way down. */
typedef struct tcall_hash_level_ {
    uint64_t path;
    const tcall_tok *end;
    uint32_t index;
} tcall_hash_level_;

/* The sum over all values of a hash chained down the path that leads there:
 * the order of members does not matter, that of elements does. */
int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out)
{
    size_t size;
    tcall_hash_level_ *level =
        (tcall_hash_level_ *)(void *)tcall_hydrate_gap_(&tc->block, 0, &size);
    const tcall_tok *end;
    tcall_json v = value;
    uint64_t path = 0, sum = 0;
    size_t depth = 0;
    *out = 0;
    if (!value.tok)
        return TCALL_OK;
    for (end = v.tok + v.tok->span; v.tok < end; v.tok++) {
        uint64_t h;
        while (depth && v.tok >= level[depth - 1].end)
            depth--;
        if (depth && !(v.tok->type & TCALL_MEMBER_)) { /* a step down */
            tcall_hash_level_ *up = &level[depth - 1];
            tcall_str step = tcall_tok_str_(v.text, v.tok);
            if (!(v.tok->type & TCALL_KEY_))
                step = tcall_slice_((const char *)&up->index, 4);
            path = up->path;
            tcall_chain_(tc, &path, step);
            up->index++;
        }
        if (v.tok->type & TCALL_KEY_)
            continue;
        h = path;
        tcall_hash_scalar_(tc, &h, v);
        sum += h;
        if (tcall_json_type(v) < TCALL_ARRAY)
            continue;
        if (!tcall_block_room_(&tc->block, (depth + 1) * sizeof *level + 8))
            return TCALL_E_MEMORY;
        level[depth].path = path;
        level[depth].end = v.tok + v.tok->span;
        level[depth++].index = 0;
    }
    *out = sum;
    return TCALL_OK;
}

/* Of the tool's definition and the arguments: what runs, exactly. */
TCALL_SHARED_ int tcall_hash_call_(tcall *tc, const tcall_call *call,
                                   uint64_t *out)
{
    const tcall_tool *t = call->tool;
    const char *const texts[] = {t->name,   t->description,     t->parameters,
                                 t->output, t->provider_schema, t->provided_by};
    uint64_t h = 1;
    size_t i;
    char flags[5];
    int r = tcall_hash_json(tc, call->args, out);
    for (i = 0; i < TCALL_ARRAY_LEN(texts); i++)
        tcall_chain_(tc, &h, tcall_str_of(texts[i]));
    flags[0] = (char)t->permissions;
    flags[1] = (char)t->optional_permissions;
    flags[2] = (char)t->no_schema_mode;
    flags[3] = (char)t->confirm;
    flags[4] = (char)t->idempotent;
    tcall_chain_(tc, &h, tcall_slice_(flags, sizeof flags));
    *out += h;
    return r;
}

/* ---- rate, limit, time-out ---- */

int tcall_rate_run_(tcall_ctx *cx, void *user)
{
    tcall_rate *r = (tcall_rate *)user;
    uint32_t now = tcall_now_(cx->tc),
             each = r->interval_ms ? r->interval_ms : 1;
    while (r->used && now - r->since >= each) {
        r->used--;
        r->since += each;
    }
    if (!r->used)
        r->since = now;
    if (r->used >= r->burst)
        return tcall_retry_after(cx, each - (now - r->since),
                                 "too many calls: wait");
    r->used++;
    return TCALL_OK;
}

int tcall_limit_acquire_(tcall_ctx *cx, void *user)
{
    tcall_concurrency *l = (tcall_concurrency *)user;
    (void)cx;
    if (l->now >= l->max)
        return TCALL_E_AGAIN;
    l->now++;
    return TCALL_OK;
}

int tcall_limit_release_(tcall_ctx *cx, void *user)
{
    (void)cx;
    ((tcall_concurrency *)user)->now--;
    return TCALL_OK;
}

int tcall_timeout_run_(tcall_ctx *cx, void *ms)
{
    tcall_deadline(cx, (uint32_t)(uintptr_t)ms);
    return TCALL_OK;
}

/* ---- cache ---- */

/* In front of each text; entries lie one behind the other, oldest first. */
typedef struct tcall_cached_ {
    uint64_t key;
    uint32_t made;
    uint32_t len;
} tcall_cached_;

static bool tcall_cache_key_(tcall_ctx *cx, uint64_t *key)
{
    const tcall_session *s = cx->session;
    if (tcall_needs_(cx->call->tool) &
            ~(unsigned)(TCALL_READ | TCALL_NETWORK) ||
        tcall_hash_call_(cx->tc, cx->call, key) < 0)
        return false;
    *key += tcall_hash_text_(cx->tc, 2, s ? s->user : tcall_str_of(""));
    *key += tcall_hash_text_(cx->tc, 3, s ? s->id : tcall_str_of(""));
    return true;
}

static void tcall_cache_drop_(tcall_cache *c, size_t at)
{
    tcall_cached_ e;
    size_t n;
    memcpy(&e, c->memory + at, sizeof e);
    n = sizeof e + e.len;
    memmove(c->memory + at, c->memory + at + n, c->used - at - n);
    c->used -= n;
}

int tcall_cache_read_(tcall_ctx *cx, void *user)
{
    tcall_cache *c = (tcall_cache *)user;
    tcall_cached_ e;
    uint64_t key;
    size_t at = 0;
    if (!tcall_cache_key_(cx, &key))
        return TCALL_OK;
    while (at < c->used) {
        memcpy(&e, c->memory + at, sizeof e);
        if (c->max_age_ms && tcall_now_(cx->tc) - e.made > c->max_age_ms) {
            tcall_cache_drop_(c, at);
            continue;
        }
        at += sizeof e;
        if (e.key == key)
            return tcall_respond(cx, tcall_slice_(c->memory + at, e.len));
        at += e.len;
    }
    return TCALL_OK;
}

int tcall_cache_write_(tcall_ctx *cx, void *user)
{
    tcall_cache *c = (tcall_cache *)user;
    tcall_str text = tcall_output(cx);
    tcall_cached_ e;
    if (cx->state != TCALL_GOING_ || text.len > c->size ||
        sizeof e + text.len > c->size || !tcall_cache_key_(cx, &e.key))
        return TCALL_OK;
    while (c->used + sizeof e + text.len > c->size)
        tcall_cache_drop_(c, 0);
    e.made = tcall_now_(cx->tc);
    e.len = (uint32_t)text.len;
    memcpy(c->memory + c->used, &e, sizeof e);
    if (text.len)
        memcpy(c->memory + c->used + sizeof e, text.ptr, text.len);
    c->used += sizeof e + text.len;
    return TCALL_OK;
}

/* ---- retry ---- */

/* An error that may be gone the next time. */
static bool tcall_passes_(int error)
{
    switch (error) {
    case TCALL_E_FAILED:
    case TCALL_E_OVERLOAD:
    case TCALL_E_RATE:
    case TCALL_E_RESOLVE:
    case TCALL_E_CONNECT:
    case TCALL_E_CLOSED:
    case TCALL_E_PROTOCOL: return true;
    default: return false;
    }
}

typedef struct tcall_pause_ {
    uint32_t ms, since;
} tcall_pause_;

int tcall_retry_around_(tcall_ctx *cx, void *user)
{
    const tcall_backoff *retry = (const tcall_backoff *)user;
    tcall_pause_ *s;
    bool timed = cx->tc->desc.now_ms != NULL;
    int r;
    s = (tcall_pause_ *)tcall_scratch(cx, "retry", sizeof *s);
    if (!s)
        return TCALL_E_MEMORY;
    for (;;) {
        if (s->ms && timed && tcall_now_(cx->tc) - s->since < s->ms)
            return TCALL_E_AGAIN;
        r = tcall_next(cx);
        if (!tcall_passes_(r) || cx->attempt >= retry->attempts ||
            !tcall_repeatable_(cx->call->tool))
            return r;
        s->ms = s->ms ? s->ms * 2 : retry->first_ms;
        if (retry->max_ms && s->ms > retry->max_ms)
            s->ms = retry->max_ms;
        if (cx->retry_ms > s->ms)
            s->ms = cx->retry_ms;
        s->since = tcall_now_(cx->tc);
    }
}

/* ---- audit ---- */

int tcall_audit_run_(tcall_ctx *cx, void *user)
{
    const tcall_audit *a = (const tcall_audit *)user;
    const tcall_call *call = cx->call;
    char buf[64];
    tcall_writer w;
    tcall_writer_init(&w, buf, sizeof buf);
    tcall_writer_sink(&w, a->sink, a->user);
    tcall_write_open(&w, '{');
    tcall_write_pair_(&w, "call_id", call->id);
    tcall_write_pair_(&w, "tool", call->name);
    if (cx->session) {
        tcall_write_pair_(&w, "session", cx->session->id);
        tcall_write_pair_(&w, "request", cx->session->request);
        tcall_write_pair_(&w, "agent", cx->session->agent);
        tcall_write_pair_(&w, "user", cx->session->user);
    }
    tcall_write_key(&w, "arguments");
    if (call->args.tok)
        tcall_write_json(&w, call->args);
    else
        tcall_write_str(&w, call->arguments);
    tcall_write_key(&w, "attempts");
    tcall_write_int(&w, cx->attempt);
    tcall_write_key(&w, "ms");
    tcall_write_int(&w, (long)(tcall_now_(cx->tc) - cx->started));
    tcall_write_texts_(&w, "'approved':%,'outcome':'%'",
                       call->approved ? "true" : "false",
                       tcall_error_code(cx->error));
    if (cx->reason.len)
        tcall_write_pair_(&w, "reason", cx->reason);
    tcall_write_text(&w, "}\n");
    return tcall_writer_flush(&w);
}

/* ---- ledger ---- */

enum {
    TCALL_ASKED_ = 1,
    TCALL_GRANTED_,
    TCALL_REFUSED_,
    TCALL_SPENT_, /* the verdict was used */
    TCALL_RAN_
};

static tcall_ledger_row *tcall_ticket_(const tcall_ledger *l, uint64_t id)
{
    size_t i;
    for (i = 0; i < l->count; i++)
        if (l->rows[i].state && l->rows[i].id == id)
            return &l->rows[i];
    return NULL;
}

/* A new row, in place of the first that is free or needed no more. */
static tcall_ledger_row *tcall_ticket_add_(tcall_ledger *l, uint64_t id)
{
    tcall_ledger_row *last = l->rows + l->count;
    size_t i, n;
    for (i = 0; i < l->count; i++)
        if (!l->rows[i].state || l->rows[i].state >= TCALL_REFUSED_)
            break;
    n = l->count - i;
    if (!n)
        return NULL;
    memmove(&l->rows[i], &l->rows[i + 1], (n - 1) * sizeof *last);
    last--;
    memset(last, 0, sizeof *last);
    last->id = id;
    return last;
}

/* Behind tcall_ledger_once_ a row stays TCALL_RAN_ whatever is decided later;
 * cx->mine tells that it was this call which spent the row. */
int tcall_ledger_consent_(tcall_ctx *cx, void *user)
{
    tcall_ledger *l = (tcall_ledger *)user;
    tcall_call *call = cx->call;
    const tcall_desc *d = &cx->tc->desc;
    tcall_ledger_row *t;
    uint64_t what, id = tcall_hash_text_(cx->tc, 4, call->id);
    bool same, over;
    int r;
    if (call->error < 0 || call->approved || !tcall_must_ask_(call))
        return TCALL_OK;
    r = tcall_hash_call_(cx->tc, call, &what);
    if (r < 0)
        return r;
    t = tcall_ticket_(l, id);
    same = t && t->what == what;
    over = t && t->state >= TCALL_SPENT_;
    if (over && !cx->mine && (same || t->state == TCALL_RAN_))
        return TCALL_E_TWICE;
    if (same && t->state != TCALL_ASKED_) {
        cx->mine = call->approved = t->state != TCALL_REFUSED_;
        tcall_tell_verdict_(cx, call->approved ? TCALL_VERDICT_ALLOW
                                               : TCALL_VERDICT_DENY);
        t->state =
            cx->phase >= TCALL_RUN_CONSENT_ && !tcall_repeatable_(call->tool)
                ? TCALL_RAN_
                : TCALL_SPENT_;
        return call->approved ? TCALL_OK : TCALL_E_DENIED;
    }
    if ((!t || over) && d->approve) {
        tcall_verdict verdict;
        tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
        verdict = d->approve(d->user, call);
        if (verdict != TCALL_VERDICT_LATER) {
            tcall_tell_verdict_(cx, verdict);
            call->approved = verdict == TCALL_VERDICT_ALLOW;
            return call->approved ? TCALL_OK : TCALL_E_DENIED;
        }
    }
    if (!t)
        t = tcall_ticket_add_(l, id);
    if (!t)
        return TCALL_E_LIMIT;
    t->what = what;
    t->state = TCALL_ASKED_;
    tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
    return TCALL_E_APPROVAL;
}

int tcall_ledger_decide(tcall_ledger *ledger, const tcall *tc, tcall_str id,
                        tcall_verdict verdict)
{
    tcall_ledger_row *t = tcall_ticket_(ledger, tcall_hash_text_(tc, 4, id));
    if (!t || t->state != TCALL_ASKED_)
        return TCALL_E_UNKNOWN;
    if (verdict != TCALL_VERDICT_LATER)
        t->state =
            verdict == TCALL_VERDICT_ALLOW ? TCALL_GRANTED_ : TCALL_REFUSED_;
    return TCALL_OK;
}

int tcall_ledger_once_(tcall_ctx *cx, void *user)
{
    tcall_ledger *l = (tcall_ledger *)user;
    uint64_t id = tcall_hash_text_(cx->tc, 4, cx->call->id);
    tcall_ledger_row *t = tcall_ticket_(l, id);
    if (tcall_repeatable_(cx->call->tool))
        return TCALL_OK;
    if (!cx->call->id.len)
        return TCALL_E_USAGE; /* nobody could tell it from another */
    if (!t)
        t = tcall_ticket_add_(l, id);
    if (!t)
        return TCALL_E_LIMIT;
    if (t->state == TCALL_RAN_)
        return TCALL_E_TWICE;
    if (!cx->mine)
        t->what = 0; /* nobody has agreed to this call */
    t->state = TCALL_RAN_;
    cx->mine = true;
    return TCALL_OK;
}

/* A call that ends while it waits is not waited for any more. */
int tcall_ledger_end_(tcall_ctx *cx, void *user)
{
    tcall_ledger_row *t = tcall_ticket_(
        (tcall_ledger *)user, tcall_hash_text_(cx->tc, 4, cx->call->id));
    if (cx->asked && t && t->state < TCALL_SPENT_)
        t->state = cx->begun ? TCALL_RAN_ : 0;
    return TCALL_OK;
}

/* ---- loops ---- */

void tcall_loops_new_turn(tcall_loops *loops)
{
    loops->turn = 0;
}

static int tcall_loop_(tcall_ctx *cx, const char *reason)
{
    tcall_abort(cx, reason, NULL, 0);
    cx->result.suggestion = "do something else, or ask the user";
    return TCALL_E_LOOP;
}

int tcall_loops_run_(tcall_ctx *cx, void *user)
{
    tcall_loops *l = (tcall_loops *)user;
    const tcall_call *call = cx->call;
    uint64_t tool = tcall_hash_text_(cx->tc, 5, call->name), h;
    uint64_t *s = l->seen;
    int i, r;
    if (call->error < 0) {
        l->refusals = l->refused == tool ? (uint8_t)(l->refusals + 1) : 1;
        l->refused = tool;
        if (l->refusals < 3)
            return TCALL_OK;
        l->refusals = 0;
        return tcall_loop_(cx, "refused again and again");
    }
    if (l->refused == tool)
        l->refusals = 0;
    r = tcall_hash_call_(cx->tc, call, &h);
    if (r < 0 || call->tool->allow_repeat)
        return r;
    for (i = 0; i < l->turn; i++)
        if (s[i] == h)
            return tcall_respond(
                cx, tcall_str_of("Made before in this turn: use that result."));
    if (s[1] == h && (s[0] == h || (s[3] == h && s[0] == s[2])))
        return tcall_loop_(cx, "the same calls come again and again");
    memmove(s + 1, s, sizeof l->seen - sizeof *s);
    s[0] = h;
    if (l->turn < TCALL_ARRAY_LEN(l->seen))
        l->turn++;
    return TCALL_OK;
}

/* ==========================================================================
 * >>strict
 */

/* True when the string at p, quotes included, is this word. */
TCALL_SHARED_ bool tcall_view_is_(const char *p, const char *word)
{
    if (*p++ != '"')
        return false;
    for (; *word && *p == *word; word++)
        p++;
    return !*word && *p == '"';
}

/* The value of a member of the object at p, NULL when it is absent. */
TCALL_SHARED_ const char *tcall_view_get_(const char *p, const char *key)
{
    if (*p != '{')
        return NULL;
    for (p = tcall_text_next_(p + 1); !tcall_text_closes_(p);
         p = tcall_text_next_(tcall_text_skip_(p))) {
        bool found = tcall_view_is_(p, key);
        p = tcall_text_value_(p);
        if (found)
            return p;
    }
    return NULL;
}

/* What is sent of a tool's schema. */
TCALL_SHARED_ const char *tcall_tool_schema_(const tcall_tool *tool)
{
    const char *text =
        tool->provider_schema ? tool->provider_schema : tool->parameters;
    text = text ? tcall_text_space_(text) : "";
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
    for (; w < tcall_view_words_ + TCALL_ARRAY_LEN(tcall_view_words_); w++)
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
    for (m = tcall_text_next_(type + (*type == '[')); !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m)))
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
    const char *end = tcall_text_skip_(p);
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
    size_t n = tcall_text_verbatim_(key).len;
    const char *m = tcall_text_first_(list);
    for (; m && !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m)))
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
    for (m = tcall_text_next_(m + 1); !tcall_text_closes_(m);
         m = tcall_text_next_(tcall_text_skip_(m))) {
        tcall_view_copy_(v, m);
        m = tcall_text_value_(m);
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
        return tcall_text_skip_(value);
    if (word->as && word->what == TCALL_VIEW_LIST_ &&
        tcall_view_get_(v->open[v->depth - 1].from, word->as)) {
        v->unfit = true; /* it would stand there twice */
        return tcall_text_skip_(value);
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
        const char *m = tcall_text_next_(p), *value;
        if (!*m)
            return;
        if (tcall_text_closes_(m)) {
            p = tcall_view_close_(v, m);
            continue;
        }
        value = what == TCALL_VIEW_LIST_ ? m : tcall_text_value_(m);
        if (what == TCALL_VIEW_SCHEMA_) {
            p = tcall_view_keyword_(v, m, value);
            continue;
        }
        if (what != TCALL_VIEW_LIST_) {
            tcall_view_copy_(v, m);
            tcall_write_char_(v->w, ':');
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

/* The schema of a tool as a value. Without a view it is what the tool says,
 * to the byte; only the type that every provider insists on is added. True if
 * it is strict. */
static bool tcall_write_schema_(tcall_writer *w, const tcall_ask *ask,
                                const tcall_tool *tool, tcall_strict *left)
{
    const char *p = tcall_tool_schema_(tool);
    const char *end = tcall_text_skip_(p);
    if (left->profile && ask->view && ask->view(w, tool, left))
        return left->profile != TCALL_STRICT_OLLAMA;
    if (!tcall_view_get_(p, "type")) {
        tcall_write_text(w, "{\"type\":\"object\"");
        if (!tcall_view_get_(p, "properties"))
            tcall_write_text(w, ",\"properties\":{}");
        p = tcall_text_space_(p + 1);
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
        if (at < ask->tool_count && tcall_enabled(&ask->tools[at], ask->allow))
            return &ask->tools[at];
    }
    return NULL;
}

/* May arguments be sent back as the model wrote them? Unless they are one JSON
 * object, servers would refuse them for ever after. */
static bool tcall_sendable_(tcall_str arguments)
{
    tcall_scan s;
    return tcall_scan_text_(&s, arguments) == TCALL_OK && s.open[0] & 1;
}

/* What a letter of a form stands for. */
static void tcall_write_value_(tcall_writer *w, char letter,
                               const tcall_item *item)
{
    tcall_str s = letter == 'n'                    ? item->name
                  : letter == 'i' || letter == 'I' ? item->id
                  : letter == 'g' || letter == 's' ? item->sign
                                                   : item->text;
    if ((letter == 'a' || letter == 'A') && !tcall_sendable_(s))
        s = tcall_slice_("{}", 2);
    if (letter == 'I' || letter == 's') {
        if (!s.len || (letter == 'I' && item->made))
            return;
        tcall_write_text(w,
                         letter == 'I' ? ",\"id\":" : ",\"thoughtSignature\":");
    }
    if (!strchr("ar)", letter))
        tcall_write_quote(w);
    if (letter == 'e' && item->error && !(s.len && *s.ptr == '{'))
        tcall_write_text(w, "Error: ");
    tcall_write_bytes(w, s.ptr, s.len);
    if (!strchr("ar(", letter))
        tcall_write_unquote(w);
}

/* Writes JSON that is given as a form, with ' for the quotes. %i, %n and %t
 * are id, name and text of the item, as strings; %r its text as it is; %a its
 * text as arguments, %A that as a string; %e the text of a result where there
 * is no flag for an error; %g its sign; %I and %s id and sign as members of
 * Gemini's, if there are any; %( and %) begin and end a string. An object
 * behind another one gets its comma. Ends at %., the result is what follows. */
static const char *tcall_write_form_(tcall_writer *w, const char *form,
                                     const tcall_item *item)
{
    if ((*form == '{' || *form == '%') && w->last == '}' && !w->quoted)
        tcall_write_text(w, ",");
    while (*(form = tcall_write_plain_(w, form))) {
        form += 2;
        if (form[-1] == '.')
            break;
        tcall_write_value_(w, form[-1], item);
    }
    return form;
}

/* A form with one text only, or with none. */
TCALL_SHARED_ const char *tcall_write_words_(tcall_writer *w, const char *form,
                                             const char *text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.text = tcall_str_of(text);
    return tcall_write_form_(w, form, &item);
}

/* The same, where there is a text. */
TCALL_SHARED_ void tcall_write_option_(tcall_writer *w, const char *form,
                                       const char *text)
{
    if (text && *text)
        tcall_write_words_(w, form, text);
}

/* And with a number above 0. */
TCALL_SHARED_ void tcall_write_limit_(tcall_writer *w, const char *form,
                                      int value)
{
    if (value > 0) {
        form = tcall_write_words_(w, form, NULL);
        tcall_write_int(w, value);
        tcall_write_words_(w, form, NULL);
    }
}

/* The end of most requests. */
TCALL_SHARED_ int tcall_write_stream_(tcall_writer *w, const tcall_ask *ask)
{
    tcall_write_text(w, ",\"stream\":");
    tcall_write_bool(w, ask->stream);
    return tcall_write_text(w, "}");
}

int tcall_describe(tcall_writer *w, const tcall_tool *tool, const void *user)
{
    const char *p = tool->description ? tool->description : "";
    while (*p) {
        const char *at = strstr(p, "${"), *end = at ? strchr(at, '}') : NULL;
        const tcall_variable *v = (const tcall_variable *)user;
        if (!end)
            return tcall_write_text(w, p);
        tcall_write_bytes(w, p, (size_t)(at - p));
        while (v->name &&
               !tcall_str_eq(tcall_str_of(v->name),
                             tcall_slice_(at + 2, (size_t)(end - at - 2))))
            v++;
        p = v->name ? end + 1 : at + 2;
        tcall_write_text(w, v->name ? v->text : "${");
    }
    return w->error;
}

/* All tools as a member of the request: a form around all of them, and one for
 * each, with %t for its name, %. for its description and for its schema. False:
 * there are none. */
TCALL_SHARED_ bool tcall_write_tools_(const tcall_provider *p, tcall_writer *w,
                                      const tcall_ask *ask, const char *form,
                                      const char *each, tcall_strict *left)
{
    const bool weak = (p->traits & TCALL_TRAIT_WEAK_CHOICE) != 0;
    const tcall_tool *tool;
    const char *rest;
    size_t i = 0;
    bool some = false, strict;
    if (weak && ask->choice == TCALL_CHOICE_NONE)
        return false;
    if (p->traits & TCALL_TRAIT_NO_STRICT)
        left->tools = 0;
    while ((tool = tcall_ask_tool_(ask, &i)) != NULL) {
        if (weak && ask->choice == TCALL_CHOICE_ONE &&
            strcmp(tool->name, ask->choice_name) != 0)
            continue;
        if (!some)
            form = tcall_write_words_(w, form, NULL);
        some = true;
        rest = tcall_write_words_(w, each, tool->name);
        tcall_write_quote(w);
        if (ask->describe)
            ask->describe(w, tool, ask->describe_user);
        else
            tcall_write_text(w, tool->description ? tool->description : "");
        tcall_write_unquote(w);
        rest = tcall_write_words_(w, rest, NULL);
        strict = tcall_write_schema_(w, ask, tool, left);
        tcall_write_text(w, strict      ? ",\"strict\":true"
                            : left->say ? ",\"strict\":false"
                                        : "");
        tcall_write_words_(w, rest, NULL);
    }
    if (some)
        tcall_write_words_(w, form, NULL);
    return some;
}

/* From a call, which ends at at, to its result. One that is missing is made
 * up: an unanswered call would make the whole conversation invalid. Where more
 * calls of the answer have the id, their results are behind this one's. */
static void tcall_chat_result_(const tcall_chat *chat, size_t at,
                               tcall_item *item)
{
    const tcall_item call = *item;
    size_t from = at;
    bool found;
    int skip = 0;
    while (tcall_chat_next(chat, &at, item)) {
        bool same = tcall_str_eq(item->id, call.id);
        if (item->kind == TCALL_ITEM_RESULT)
            skip += same;
        else if (skip > 0)
            break;
        else if (item->kind == TCALL_ITEM_CALL)
            skip -= same;
    }
    found = skip > 0;
    while (skip > 0 && tcall_chat_next(chat, &from, item))
        skip -=
            item->kind == TCALL_ITEM_RESULT && tcall_str_eq(item->id, call.id);
    if (!found) {
        *item = call;
        item->kind = TCALL_ITEM_RESULT;
        item->error = TCALL_E_CANCELLED;
        item->text = tcall_str_of("this call was not run");
    }
    item->made = call.made;
}

/* A conversation in the order in which providers want it. What the model said
 * in one answer comes as reasoning, text, calls with their reasoning, and then
 * the results of all its calls. */
typedef struct tcall_talk_ {
    const tcall_provider *to;
    const tcall_chat *chat;
    size_t from, at; /* where the answer begins; the place in it */
    uint8_t phase;
    bool called; /* a call came by */
    char id[9];  /* room for one that has to be mapped */
} tcall_talk_;

static void tcall_talk_init_(tcall_talk_ *t, const tcall_provider *to,
                             const tcall_chat *chat)
{
    memset(t, 0, sizeof *t);
    t->to = to;
    t->chat = chat;
}

/* Does the item belong to the phase that is on? */
static bool tcall_talk_fits_(tcall_talk_ *t, const tcall_item *item)
{
    if (item->kind == TCALL_ITEM_CALL)
        t->called = true;
    switch (item->kind) {
    case TCALL_ITEM_TEXT: return t->phase == 1;
    case TCALL_ITEM_CALL: return t->phase >= 2;
    case TCALL_ITEM_OPAQUE:
        return t->phase == (t->called ? 2 : 0) && t->to->more &&
               tcall_str_eq(item->name, tcall_str_of(t->to->name));
    default: return false;
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
            if (item->lost && t->to->more && !w->error)
                w->error = TCALL_E_MEMORY;
            if (t->phase == 3)
                tcall_chat_result_(t->chat, next, item);
            if (t->to->id)
                item->id = t->to->id(t->id, item->id);
            return true;
        }
        t->called = false;
        if (t->at > t->from && t->phase < 3) { /* once more */
            t->phase++;
            t->at = t->from;
            continue;
        }
        t->phase = 0;
        t->at = t->from = next;
        if (!some || item->kind == TCALL_ITEM_USER)
            return some;
    }
}

/* How far a message of the model is written. */
enum {
    TCALL_SAID_NONE_,
    TCALL_SAID_OPEN_,
    TCALL_SAID_TEXT_,
    TCALL_SAID_CALLS_
};

/* Goes on to there, or ends the message. */
static void tcall_write_said_(tcall_writer *w, int *said, int to)
{
    static const char steps[] = "{'role':'assistant'\0"
                                ",'content':%(\0"
                                "%),'tool_calls':[\0";
    static const char ends[] = "\0"
                               ",'content':''}\0"
                               "%)}\0"
                               "]}";
    if (to == TCALL_SAID_NONE_) {
        tcall_write_words_(w, tcall_nth_(ends, *said), NULL);
        *said = to;
    }
    for (; *said < to; ++*said)
        tcall_write_words_(w, tcall_nth_(steps, *said), NULL);
}

/* Begins a request: model and messages, as OpenAI began to write them. */
TCALL_SHARED_ void tcall_write_talk_(const tcall_provider *p, tcall_writer *w,
                                     const tcall_ask *ask, const char *call,
                                     const char *result)
{
    tcall_talk_ talk;
    tcall_item item;
    int said = TCALL_SAID_NONE_;
    tcall_write_words_(w, "{'model':%t,'messages':[", ask->model);
    tcall_write_option_(w, "{'role':'system','content':%t}", ask->system);
    tcall_talk_init_(&talk, p, ask->chat);
    while (tcall_talk_next_(&talk, w, &item))
        switch (item.kind) {
        case TCALL_ITEM_USER:
        case TCALL_ITEM_RESULT:
            tcall_write_said_(w, &said, TCALL_SAID_NONE_);
            tcall_write_form_(w,
                              item.kind == TCALL_ITEM_RESULT
                                  ? result
                                  : "{'role':'user','content':%t}",
                              &item);
            break;
        case TCALL_ITEM_TEXT:
            tcall_write_said_(w, &said, TCALL_SAID_TEXT_);
            tcall_write_bytes(w, item.text.ptr, item.text.len);
            break;
        case TCALL_ITEM_CALL:
            tcall_write_said_(w, &said, TCALL_SAID_CALLS_);
            tcall_write_form_(w, call, &item);
            break;
        default:
            if (said > TCALL_SAID_OPEN_ || (item.made && !p->join))
                break; /* it always stands before the calls */
            tcall_write_said_(w, &said, TCALL_SAID_OPEN_);
            if (item.made) {
                tcall_write_text(w, ",\"reasoning_details\":");
                p->join(w, item.text);
            } else {
                tcall_write_form_(w, ",'reasoning_content':%t", &item);
            }
        }
    tcall_write_said_(w, &said, TCALL_SAID_NONE_);
    tcall_write_text(w, "]");
}

/* How a provider says each kind of item: texts, the first two of which open a
 * message of the user and one of the model. The others are forms, behind who
 * says it (u, m, or - where there are no messages), for the kinds of items in
 * their order and for these two. */
enum { TCALL_TURN_ERROR_ = TCALL_ITEM_OPAQUE + 1, TCALL_TURN_OPAQUE_2_ };

static bool tcall_blank_(tcall_str s)
{
    while (s.len && tcall_is_space_(s.ptr[s.len - 1]))
        s.len--;
    return s.len == 0;
}

/* The conversation as such turns. Items of one role after the other share a
 * message: roles must take turns. */
TCALL_SHARED_ void tcall_write_turns_(const tcall_provider *p, tcall_writer *w,
                                      const tcall_ask *ask, const char *turns)
{
    char role = '-';
    tcall_talk_ talk;
    tcall_item item;
    tcall_talk_init_(&talk, p, ask->chat);
    while (tcall_talk_next_(&talk, w, &item)) {
        int kind = item.kind;
        const char *turn;
        if (kind == TCALL_ITEM_RESULT && item.error)
            kind = TCALL_TURN_ERROR_;
        if (kind == TCALL_ITEM_OPAQUE && item.made)
            kind = TCALL_TURN_OPAQUE_2_;
        if (kind <= TCALL_ITEM_TEXT && !item.sign.len &&
            tcall_blank_(item.text))
            continue; /* that would be refused */
        turn = tcall_nth_(turns, 2 + kind);
        if (role != *turn) {
            tcall_write_text(w, role == '-' ? "" : "]}");
            tcall_write_words_(w, tcall_nth_(turns, *turn == 'm'), NULL);
        }
        role = *turn;
        tcall_write_form_(w, turn + 1, &item);
    }
    tcall_write_text(w, role == '-' ? "]" : "]}]");
}

/* The choice among the tools, as OpenAI began to say it; named is the form for
 * one tool. */
TCALL_SHARED_ void tcall_write_choice_(const tcall_provider *p, tcall_writer *w,
                                       const tcall_ask *ask, const char *named)
{
    const unsigned is = p->traits;
    const char *word = ask->choice == TCALL_CHOICE_NONE ? "none"
                       : is & TCALL_TRAIT_ANY           ? "any"
                                                        : "required";
    bool one =
        ask->choice == TCALL_CHOICE_ONE && !(is & TCALL_TRAIT_WEAK_CHOICE);
    if (ask->choice != TCALL_CHOICE_AUTO && !(is & TCALL_TRAIT_NO_CHOICE))
        tcall_write_words_(w, one ? named : ",'tool_choice':%t",
                           one ? ask->choice_name : word);
    if (is & TCALL_TRAIT_SAY_PARALLEL ||
        (ask->no_parallel && !(is & TCALL_TRAIT_NO_PARALLEL))) {
        tcall_write_text(w, ",\"parallel_tool_calls\":");
        tcall_write_bool(w, !ask->no_parallel);
    }
}

/* A provider whose tables and writer are those of a format. Its texts are
 * linked only with it. */
#define TCALL_PROVIDER_(name, format, url, path, stream, header, prefix,       \
                        version, value, id, more, join, traits)                \
    static const char tcall_##name##_name_[] = #name;                          \
    static const char tcall_##name##_url_[] = url;                             \
    static const char tcall_##name##_path_[] = path;                           \
    TCALL_DATA_ const tcall_provider tcall_##name = {tcall_##name##_name_,     \
                                                     tcall_##name##_url_,      \
                                                     tcall_##name##_path_,     \
                                                     stream,                   \
                                                     header,                   \
                                                     prefix,                   \
                                                     {version, value},         \
                                                     &tcall_##format##_paths_, \
                                                     tcall_##format##_words_,  \
                                                     tcall_##format##_write_,  \
                                                     id,                       \
                                                     more,                     \
                                                     join,                     \
                                                     traits};

/* ==========================================================================
 * >>reader
 */

TCALL_SHARED_ tcall_head_ *tcall_reader_head_(const tcall_reader *r, size_t at)
{
    return tcall_head_at_(r->chat, at);
}

static uint8_t tcall_reader_kind_(const tcall_reader *r, size_t at)
{
    return tcall_reader_head_(r, at)->kind & TCALL_ITEM_KIND_;
}

static size_t tcall_reader_len_(const tcall_reader *r, size_t at, int part)
{
    return tcall_len_(tcall_reader_head_(r, at), part);
}

static size_t tcall_reader_next_(const tcall_reader *r, size_t at)
{
    return at + tcall_head_size_(tcall_reader_head_(r, at));
}

/* What stood there, from the first byte to the last one, was moved. */
static void tcall_reader_moved_(tcall_reader *r, size_t first, size_t last,
                                size_t by)
{
    if (r->pending >= first && r->pending <= last)
        r->pending += by;
    if (r->slot >= first && r->slot <= last)
        r->slot += by;
    if (r->raw >= first && r->raw <= last)
        r->raw += by;
}

/* Moves all that stands from "from" on to "to"; the room is there. */
static void tcall_reader_shift_(tcall_reader *r, size_t from, size_t to)
{
    tcall_block *b = r->chat->block;
    if (b->low > from)
        memmove(b->base + to, b->base + from, b->low - from);
    b->low += to - from;
    tcall_block_room_(b, 0); /* for the peak */
    tcall_reader_moved_(r, from, (size_t)-1, to - from);
}

/* Takes the item at at out. */
static void tcall_reader_remove_(tcall_reader *r, size_t at)
{
    tcall_reader_shift_(r, tcall_reader_next_(r, at), at);
}

/* Gives a part another length, at its end; the room is there. Returns where it
 * ended. */
TCALL_SHARED_ char *tcall_reader_resize_(tcall_reader *r, size_t at, int part,
                                         size_t n)
{
    tcall_head_ *h = tcall_reader_head_(r, at);
    size_t end = at + tcall_head_end_(h, part), old = tcall_len_(h, part);
    tcall_len_set_(h, part, n);
    tcall_reader_shift_(r, end, end - old + n);
    return r->chat->block->base + end;
}

/* Adds bytes, for which there is room, to the end of an item's part. */
static void tcall_reader_put_(tcall_reader *r, size_t at, int part, tcall_str s)
{
    size_t n = tcall_reader_len_(r, at, part) + s.len;
    tcall_copy_(tcall_reader_resize_(r, at, part, n), s);
}

/* Void all that was read. */
TCALL_APART_ static void tcall_reader_clear_(tcall_reader *r)
{
    r->chat->block->low = r->pending = r->slot = r->raw = r->start;
    r->has_text = r->open = r->keeping = false;
    r->answer.unkept = 0;
    r->complete = r->stopped = r->cut = r->answer.text_cut = false;
    r->began = r->finished = 0;
    r->answer.stop = TCALL_STOP_UNKNOWN;
    r->answer.stop_text[0] = 0;
}

/* What only some providers do, see tcall_provider.more. */
enum {
    /* A piece for a part of the slot, or one of these: */
    TCALL_MORE_STRIP_ = TCALL_PARTS_, /* calls need the memory */
    TCALL_MORE_RAW_,                  /* a piece of an element as JSON text */
    TCALL_MORE_RAW_END_,              /* which is complete */
    TCALL_MORE_SAID_,  /* the pending element was text of the model */
    TCALL_MORE_MERGE_, /* it is to go to the item at slot */
    TCALL_MORE_WAIT_   /* the word tells how long to wait */
};

static void tcall_reader_more_(tcall_reader *r, int what, tcall_str s)
{
    if (r->provider->more)
        r->provider->more(r, what, s);
}

static void tcall_reader_note_(tcall_reader *r, int what)
{
    tcall_reader_more_(r, what, tcall_slice_(NULL, 0));
}

TCALL_SHARED_ size_t tcall_reader_text_len_(const tcall_reader *r)
{
    return r->has_text ? tcall_reader_len_(r, r->start, TCALL_PART_TEXT_) : 0;
}

/* Are n bytes free? Calls matter more than text and what is opaque: those give
 * way. */
static bool tcall_reader_room_(tcall_reader *r, size_t n)
{
    const tcall_block *b = r->chat->block;
    size_t text = tcall_reader_text_len_(r);
    if (n > tcall_block_free_(b) + text)
        tcall_reader_note_(r, TCALL_MORE_STRIP_);
    if (n > tcall_block_free_(b) + text)
        return false;
    if (n > tcall_block_free_(b)) {
        tcall_reader_resize_(r, r->start, TCALL_PART_TEXT_,
                             text - (n - tcall_block_free_(b)));
        r->answer.text_cut = true;
    }
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
    r->lost += tcall_reader_len_(r, at, TCALL_PART_TEXT_) + n;
    tcall_reader_head_(r, at)->error = TCALL_E_MEMORY;
    tcall_reader_resize_(r, at, TCALL_PART_TEXT_, 0);
}

/* The item at at is an empty one of this kind. */
static void tcall_reader_blank_(tcall_reader *r, size_t at, int kind)
{
    tcall_head_ *h = tcall_reader_head_(r, at);
    memset(h, 0, sizeof *h);
    h->kind = (uint8_t)kind;
}

/* A place for an element of this kind. */
static bool tcall_reader_place_(tcall_reader *r, size_t *slot, int kind)
{
    tcall_block *b = r->chat->block;
    if (!tcall_reader_need_(r, TCALL_HEAD_))
        return false;
    *slot = b->low;
    tcall_block_grow_(b, TCALL_HEAD_);
    tcall_reader_blank_(r, *slot, kind);
    return true;
}

/* The text of the answer gets its place, before everything else. */
static void tcall_reader_begin_text_(tcall_reader *r)
{
    if (r->has_text || tcall_block_free_(r->chat->block) < TCALL_HEAD_)
        return;
    tcall_reader_shift_(r, r->start, r->start + TCALL_HEAD_);
    tcall_reader_blank_(r, r->start, TCALL_ITEM_TEXT);
    r->has_text = true;
}

/* Tells a piece of the model's text, and how much of it can be kept where this
 * many bytes are free beside those that it may lie in already. */
static size_t tcall_reader_hear_(tcall_reader *r, tcall_str s, size_t own)
{
    size_t room, max;
    if (r->choice)
        return 0;
    if (r->text)
        r->text(r->user, s);
    if (r->answer.text_cut || r->answer.error == TCALL_E_MEMORY)
        return 0;
    room = tcall_block_free_(r->chat->block) + own;
    room = room > TCALL_HEAD_ + TCALL_RESERVE_
               ? room - TCALL_HEAD_ - TCALL_RESERVE_
               : 0;
    if (room)
        tcall_reader_begin_text_(r);
    max = r->has_text ? r->text_max - tcall_reader_text_len_(r) : 0;
    room = room < max ? room : max;
    if (room >= s.len)
        return s.len;
    r->answer.text_cut = true;
    return room;
}

static void tcall_reader_text_(tcall_reader *r, tcall_str s)
{
    s.len = tcall_reader_hear_(r, s, 0);
    if (s.len)
        tcall_reader_put_(r, r->start, TCALL_PART_TEXT_, s);
}

static void tcall_reverse_(char *p, char *end)
{
    while (p < end) {
        char c = *p;
        *p++ = *--end;
        *end = c;
    }
}

/* Moves a part of the item at from to the end of that of one before it, and
 * with it the items in between and its own head. */
static void tcall_reader_give_(tcall_reader *r, size_t from, size_t at,
                               int part)
{
    tcall_head_ *a = tcall_reader_head_(r, at);
    tcall_head_ *b = tcall_reader_head_(r, from);
    size_t n = tcall_len_(b, part), behind = tcall_head_end_(a, part);
    char *to = (char *)a + behind;
    char *end = (char *)b + tcall_head_end_(b, part);
    tcall_len_set_(a, part, tcall_len_(a, part) + n);
    tcall_len_set_(b, part, 0);
    tcall_reverse_(to, end - n);
    tcall_reverse_(end - n, end);
    tcall_reverse_(to, end);
    tcall_reader_moved_(r, at + behind, from, n);
}

/* The text of the element at *at turns out to be text of the model. */
static void tcall_reader_say_(tcall_reader *r, const size_t *at)
{
    const tcall_head_ *h = tcall_reader_head_(r, *at);
    size_t n = tcall_len_(h, TCALL_PART_TEXT_);
    const char *text = (const char *)h + tcall_head_end_(h, TCALL_PART_SIGN_);
    if (!n)
        return;
    n = tcall_reader_hear_(r, tcall_slice_(text, n), n);
    tcall_reader_resize_(r, *at, TCALL_PART_TEXT_, n);
    if (n)
        tcall_reader_give_(r, *at, r->start, TCALL_PART_TEXT_);
}

/* The element that is being read gets its place as soon as there is something
 * to keep of it; some fields tell its kind. */
static bool tcall_reader_open_(tcall_reader *r)
{
    if (!r->open)
        r->open = tcall_reader_place_(r, &r->slot, TCALL_ITEM_CALL);
    if (r->open && r->kind) {
        tcall_head_ *h = tcall_reader_head_(r, r->slot);
        h->kind = (uint8_t)(r->kind | (h->kind & TCALL_ITEM_LOST_));
    }
    return r->open;
}

/* Adds to the slot what it cannot do without. */
static bool tcall_reader_add_(tcall_reader *r, int part, tcall_str s)
{
    if (!tcall_reader_need_(r, s.len))
        return false;
    tcall_reader_put_(r, r->slot, part, s);
    return true;
}

/* A piece of id, name, arguments or what is opaque. */
static void tcall_reader_part_(tcall_reader *r, int part, tcall_str s)
{
    bool text = part == TCALL_PART_TEXT_;
    if (r->answer.error == TCALL_E_MEMORY) {
        r->lost += s.len;
        return;
    }
    if (!tcall_reader_open_(r))
        return;
    if (part == TCALL_PART_SIGN_ ||
        (r->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE) {
        tcall_reader_more_(r, part, s);
    } else if (text && r->kind == TCALL_ITEM_TEXT &&
               tcall_block_free_(r->chat->block) < s.len + TCALL_RESERVE_) {
        tcall_reader_say_(r, &r->slot);
        tcall_reader_text_(r, s);
    } else if (text && (tcall_reader_head_(r, r->slot)->error ||
                        !tcall_reader_room_(r, s.len + TCALL_RESERVE_))) {
        tcall_reader_lose_(r, r->slot, s.len);
    } else {
        tcall_reader_add_(r, part, s);
    }
}

/* Is the pending element a further piece of the call at at? 0: no; -1: it does
 * not say. */
static int tcall_reader_continues_(const tcall_reader *r, size_t at)
{
    const tcall_head_ *a = tcall_reader_head_(r, at);
    const tcall_head_ *b = tcall_reader_head_(r, r->pending);
    const uint8_t form = TCALL_ITEM_KIND_ | TCALL_ITEM_MADE_;
    const size_t name = tcall_len_(b, TCALL_PART_NAME_);
    const bool numbered = a->index && b->index;
    if (a->choice != b->choice || (numbered && a->index != b->index))
        return 0;
    if ((b->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE)
        return a->index == b->index && !((a->kind ^ b->kind) & form);
    if ((a->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE)
        return numbered && !name && !tcall_len_(b, TCALL_PART_TEXT_);
    /* Some servers give every piece an id of its own. */
    if (tcall_len_(b, TCALL_PART_ID_) && tcall_len_(a, TCALL_PART_ID_) &&
        (!numbered || name))
        return tcall_head_same_(a, b, TCALL_PART_ID_);
    if (!numbered)
        return name ? 0 : -1;
    /* Some servers give every call the same number: an object behind a whole
     * one is no piece of it. */
    return (b->kind & TCALL_ITEM_ALL_) || !name ||
           !tcall_len_(a, TCALL_PART_TEXT_) ||
           ((const char *)a)[tcall_head_size_(a) - 1] != '}' ||
           ((const char *)b)[tcall_head_end_(b, TCALL_PART_SIGN_)] != '{';
}

/* The call that the pending element continues: the one of its id or number,
 * or the last one if it has neither; itself, if it is a new one. */
TCALL_APART_ static size_t tcall_reader_find_(const tcall_reader *r)
{
    size_t at = r->start, best = r->pending, last = best;
    if (r->has_text)
        at = tcall_reader_next_(r, at);
    for (; at < r->pending; at = tcall_reader_next_(r, at)) {
        int same = tcall_reader_continues_(r, at);
        if (same > 0)
            best = at;
        if (same || tcall_reader_kind_(r, at) != TCALL_ITEM_OPAQUE)
            last = same < 0 ? at : r->pending;
    }
    return best != r->pending ? best : last;
}

/* Gives what the pending element brings to the call at at. An id is taken but
 * once, and so is a name; another one is a piece of it. */
static void tcall_reader_merge_(tcall_reader *r, size_t at)
{
    tcall_head_ *a = tcall_reader_head_(r, at);
    const tcall_head_ *b = tcall_reader_head_(r, r->pending);
    const size_t n = tcall_len_(b, TCALL_PART_TEXT_);
    const size_t old = tcall_len_(a, TCALL_PART_TEXT_);
    const bool all = (b->kind & TCALL_ITEM_ALL_) != 0, broken = b->error;
    const bool more = !old && !tcall_head_same_(a, b, TCALL_PART_NAME_);
    int part = TCALL_PART_ID_;
    if (a->kind == TCALL_ITEM_NONE_)
        return;
    a->kind |= b->kind & TCALL_ITEM_LOST_;
    for (; part < TCALL_PART_TEXT_; part++)
        if (!tcall_len_(a, part) || (part == TCALL_PART_NAME_ && more))
            tcall_reader_give_(r, r->pending, at, part);
    if ((a->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_OPAQUE) {
        r->slot = at;
        tcall_reader_note_(r, TCALL_MORE_MERGE_);
    } else if (all && !a->error && old >= n && (!broken || old)) {
        return; /* it is there already */
    } else if (a->error || broken) {
        tcall_reader_lose_(r, at, n);
        return;
    }
    if (!tcall_reader_len_(r, r->pending, TCALL_PART_TEXT_))
        return;
    if (all || a->kind & TCALL_ITEM_START_)
        tcall_reader_resize_(r, at, TCALL_PART_TEXT_, 0);
    if (!all)
        a->kind &= (uint8_t)~TCALL_ITEM_START_;
    tcall_reader_give_(r, r->pending, at, TCALL_PART_TEXT_);
}

/* What an element is, now that its document is complete. */
static int tcall_reader_piece_(const tcall_reader *r)
{
    return r->event == TCALL_WORD_TEXT_    ? TCALL_ITEM_TEXT
           : r->event == TCALL_WORD_PIECE_ ? TCALL_ITEM_CALL
           : r->event == TCALL_WORD_ALL_
               ? (int)TCALL_ITEM_CALL | TCALL_ITEM_ALL_
               : TCALL_ITEM_NONE_;
}

/* Shows a piece of a call. */
static void tcall_reader_show_(tcall_reader *r)
{
    size_t at = r->pending - r->chat->start;
    tcall_item item;
    if (r->call && tcall_chat_next(r->chat, &at, &item) &&
        item.kind == TCALL_ITEM_CALL)
        r->call(r->user, &item);
}

/* The pending element is complete, and so is what was said around it. */
static void tcall_reader_settle_(tcall_reader *r)
{
    tcall_head_ *h = tcall_reader_head_(r, r->pending);
    size_t at = r->pending;
    bool piece = (h->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_PIECE_;
    if (piece)
        h->kind = (uint8_t)tcall_reader_piece_(r);
    h->choice = r->choice;
    if (!h->index)
        h->index = r->index;
    if ((h->kind & TCALL_ITEM_KIND_) == TCALL_ITEM_TEXT) {
        tcall_reader_say_(r, &r->pending);
        tcall_reader_note_(r, TCALL_MORE_SAID_);
    } else if (h->kind != TCALL_ITEM_NONE_ || (!piece && h->index)) {
        if (!r->whole && h->kind != TCALL_ITEM_NONE_)
            at = tcall_reader_find_(r);
        if (at == r->pending || !(h->kind & TCALL_ITEM_ALL_))
            tcall_reader_show_(r);
        if (at == r->pending) {
            r->pending = tcall_reader_next_(r, r->pending);
            r->began |= (uint8_t)(1u << r->choice);
            return;
        }
        tcall_reader_merge_(r, at);
    }
    tcall_reader_remove_(r, r->pending);
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

static void tcall_reader_call_end_(tcall_reader *r)
{
    if (r->answer.error == TCALL_E_MEMORY)
        r->lost += TCALL_HEAD_;
    if (r->keeping)
        tcall_reader_note_(r, TCALL_MORE_RAW_END_);
    if (r->open) {
        tcall_head_ *h = tcall_reader_head_(r, r->slot);
        h->index = r->index;
        h->kind |= r->marks;
        if (r->bad) /* no text: what it holds was not reported */
            h->error = (int8_t)TCALL_E_BAD_VALUE;
        if (r->ignored && (h->kind & TCALL_ITEM_KIND_) != TCALL_ITEM_OPAQUE)
            h->kind = TCALL_ITEM_NONE_;
    }
    r->index = r->kind = r->type = r->marks = 0;
    r->element = r->bad = r->ignored = r->open = false;
}

static uint8_t tcall_reader_means_(const tcall_reader *r)
{
    const char *w = r->provider->words;
    while (*w && strcmp(w + 1, r->word) != 0)
        w += strlen(w) + 1;
    return *w ? (uint8_t)*w : (uint8_t)TCALL_STOP_OTHER;
}

TCALL_APART_ static void tcall_reader_tell_(tcall_reader *r)
{
    memcpy(r->answer.stop_text, r->word, sizeof r->answer.stop_text - 1);
}

TCALL_APART_ static void tcall_reader_stop_(tcall_reader *r, uint8_t means)
{
    tcall_stop *stop = &r->answer.stop;
    if (!r->word[0] || means == TCALL_STOP_NOT_YET_)
        return;
    r->stopped = true;
    if (*stop == TCALL_STOP_UNKNOWN ||
        (means == TCALL_STOP_LENGTH && *stop != TCALL_STOP_REFUSED)) {
        *stop =
            means == TCALL_WORD_CALL_ ? TCALL_STOP_CALLS : (tcall_stop)means;
        tcall_reader_tell_(r);
    }
}

/* A word of the provider's table is complete. */
static void tcall_reader_meant_(tcall_reader *r, int field)
{
    const uint8_t means = tcall_reader_means_(r);
    if (field == TCALL_AT_TYPE) {
        r->type = means;
        r->ignored = means != TCALL_WORD_CALL_ && means != TCALL_WORD_TEXT_;
    } else if (field == TCALL_AT_EVENT) {
        r->event = means;
        if (means == TCALL_STOP_FINAL_)
            r->complete = true;
        if (means == TCALL_WORD_DONE_)
            r->stopped = true;
        if (means == TCALL_WORD_OPEN_)
            r->announced = true;
    } else {
        if (means == TCALL_STOP_LENGTH || means == TCALL_STOP_REFUSED)
            r->cut = true;
        if (field == TCALL_AT_STOP)
            tcall_reader_stop_(r, means);
        else if (means == TCALL_STOP_REFUSED)
            r->answer.stop = TCALL_STOP_REFUSED;
    }
}

/* A number of up to nine digits; -1, if it has a sign or fraction or is none.
 */
TCALL_APART_ static long tcall_digits_(const char *p)
{
    const char *from = p;
    long n = 0;
    for (; tcall_is_digit_(*p) && n < 100000000; p++)
        n = n * 10 + (*p - '0');
    return *p || p == from ? -1 : n;
}

/* A number is complete. */
static int tcall_reader_number_(tcall_reader *r, int field)
{
    const long n = tcall_digits_(r->word);
    if (field == TCALL_AT_INDEX)
        r->index = (uint8_t)(n < 255 ? n + 1 : 0);
    else if (field == TCALL_AT_NUMBER)
        r->choice = (uint8_t)n & 7;
    else if (n >= 0)
        *(field == TCALL_AT_INPUT ? &r->answer.input_tokens
                                  : &r->answer.output_tokens) = n;
    return field == TCALL_AT_NUMBER && n != r->choice ? TCALL_E_PROTOCOL
                                                      : TCALL_OK;
}

/* A short value is complete. */
static int tcall_reader_word_(tcall_reader *r, int field)
{
    const char known = r->answer.stop_text[0];
    if (field < TCALL_AT_TYPE)
        return tcall_reader_number_(r, field);
    if (field <= TCALL_AT_STOP)
        tcall_reader_meant_(r, field);
    else if (field == TCALL_AT_WAIT)
        tcall_reader_note_(r, TCALL_MORE_WAIT_);
    else if (!known || tcall_is_digit_(known) ||
             (field == TCALL_AT_ERROR_CODE && !tcall_is_digit_(r->word[0])))
        tcall_reader_tell_(r);
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
    static const uint8_t kinds[] = {0,
                                    0,
                                    0,
                                    0,
                                    0, /* ID to ALL */
                                    TCALL_ITEM_OPAQUE,
                                    (int)TCALL_ITEM_OPAQUE | TCALL_ITEM_MADE_,
                                    TCALL_ITEM_TEXT,
                                    TCALL_ITEM_PIECE_};
    const bool opaque = field == TCALL_AT_SIGN || field == TCALL_AT_KEEP ||
                        field == TCALL_AT_KEEP_2;
    r->kind = kinds[field - TCALL_AT_ID];
    if (r->skip)
        return;
    if (field == TCALL_AT_ALL) {
        r->marks |= TCALL_ITEM_ALL_ | TCALL_ITEM_START_;
        r->bad = c == '{';
    }
    if (field == TCALL_AT_ARGS && c == '{')
        r->marks |= TCALL_ITEM_START_;
    if ((opaque && !r->provider->more) ||
        (field >= TCALL_AT_SAID && c != '"') ||
        (field == TCALL_AT_KEEP_2 && !r->element && c != '[') ||
        (field != TCALL_AT_SAID && r->open &&
         tcall_reader_len_(r, r->slot, tcall_reader_part_of_(field))))
        r->skip = true;
    else if (field >= TCALL_AT_KEEP && r->element &&
             r->answer.error != TCALL_E_MEMORY)
        tcall_reader_open_(r);
}

/* A value begins with c. What follows of it is skipped if it is null, or if
 * there is one already, as where a stream ends with the whole answer. */
static void tcall_reader_begin_(tcall_reader *r, int field, char c)
{
    r->skip = c == 'n' || (field <= TCALL_AT_TEXT && r->whole && r->before);
    r->word[0] = 0;
    switch (field) {
    case TCALL_AT_CALL: r->element = true; break;
    case TCALL_AT_VOID:
        if (c == 't' || c == '{')
            r->ignored = true;
        break;
    case TCALL_AT_RESTART:
        if (c == '{')
            tcall_reader_clear_(r);
        break;
    case TCALL_AT_WHOLE: r->whole = !r->skip; break;
    case TCALL_AT_ERROR:
        if (c == '{')
            r->answer.error = TCALL_E_PROVIDER; /* fall through */
    case TCALL_AT_MESSAGE:
        if (r->answer.message[0])
            r->skip = true;
        break;
    default:
        if (field <= TCALL_AT_PIECE)
            tcall_reader_begin_part_(r, field, c);
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

/* A value is complete. Parts that stand outside of elements are such. */
static int tcall_reader_complete_(tcall_reader *r, int field)
{
    if (field == TCALL_AT_CHOICE)
        tcall_reader_settle_all_(r);
    else if (field >= TCALL_AT_INDEX && !r->skip)
        return tcall_reader_word_(r, field);
    else if (field == TCALL_AT_CALL || (field <= TCALL_AT_PIECE && !r->element))
        tcall_reader_call_end_(r);
    return TCALL_OK;
}

/* One event of the outline. */
static int tcall_reader_on_(void *user, int field, tcall_scan_event event,
                            tcall_str s)
{
    tcall_reader *r = (tcall_reader *)user;
    if (event == TCALL_SCAN_END)
        return tcall_reader_complete_(r, field);
    if (event == TCALL_SCAN_BEGIN)
        tcall_reader_begin_(r, field, *s.ptr);
    else if (field == TCALL_AT_CALL)
        tcall_reader_more_(r, TCALL_MORE_RAW_, s);
    else if (!r->skip)
        tcall_reader_data_(r, field, s);
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

/* So much, and NUL, is shown of what is no answer: ASCII, the rest as blanks.
 */
enum { TCALL_PAGE_ = 80 };

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
    const char *line = r->sse ? p : end;
    size_t before = r->scan.pos;
    int error;
    while (line < end && *line != '\n' && *line != '\r')
        line++;
    end = line < end ? line + 1 : end;
    error = tcall_scan_feed(&r->scan, p, (size_t)(end - p));
    p += r->scan.pos - before;
    if (tcall_scan_done_(&r->scan)) {
        tcall_reader_settle_all_(r);
        r->index = 0;
        if (r->whole && !r->announced)
            r->complete = true;
        r->inside = false;
        r->state = TCALL_R_BETWEEN_;
    } else if (error) {
        tcall_reader_fail_(r, error);
    }
    if (p > line) {
        r->state = TCALL_R_LINE_;
        r->match = 0;
        r->cr = *line == '\r';
    }
    return p;
}

static void tcall_reader_begin_document_(tcall_reader *r)
{
    r->state = TCALL_R_DOCUMENT_;
    if (!r->some)
        r->answer.message[0] = 0;
    r->inside = r->some = true;
    r->event = 0;
    r->whole = false;
    r->before = r->pending > r->start || r->answer.text_cut;
    tcall_scan_init(&r->scan, r->provider->paths, tcall_reader_on_, r);
    tcall_scan_feed(&r->scan, "{", 1);
}

/* c belongs to the beginning of what may be no answer. */
static void tcall_reader_page_(tcall_reader *r, char c)
{
    if (!r->some)
        tcall_reader_append_(r->answer.message, TCALL_PAGE_,
                             tcall_slice_(c >= ' ' && c < 0x7F ? &c : " ", 1));
}

/* A byte outside of documents. Of the lines of SSE only those of "data:"
 * matter, and of "error:", which llama.cpp used to say. A document may go on in
 * the next one, but not beyond the end of its event, a blank line. Between
 * documents stand white space, the brackets and commas of an array of
 * documents, and the [DONE] of OpenAI, which is no JSON.
 */
TCALL_APART_ static void tcall_reader_byte_(tcall_reader *r, char c)
{
    bool after_cr = r->cr;
    r->cr = r->sse && c == '\r';
    if (c == '\n' && after_cr)
        return;
    if (r->state == TCALL_R_START_) {
        if (tcall_is_space_(c) || c & 0x80)
            return;
        r->sse = c != '{' && c != '[';
        r->state = r->sse ? TCALL_R_LINE_ : TCALL_R_BETWEEN_;
    }
    tcall_reader_page_(r, c);
    if (r->sse && (c == '\n' || c == '\r')) {
        if (r->state == TCALL_R_LINE_ && r->inside && r->match == 0)
            tcall_reader_fail_(r, TCALL_E_TRUNCATED);
        r->state = TCALL_R_LINE_;
        r->match = 0;
    } else if (r->state == TCALL_R_LINE_) {
        if (r->match == 0 && c == 'e')
            r->match = 5;
        if (c != "data:error:"[r->match++])
            r->state = TCALL_R_IGNORED_;
        else if (c == ':')
            r->state = r->inside ? TCALL_R_DOCUMENT_ : TCALL_R_BETWEEN_;
    } else if (r->state == TCALL_R_BETWEEN_) {
        if (c == '{') {
            tcall_reader_begin_document_(r);
        } else if (c == 'D' && r->sse) {
            r->complete = true;
            r->state = TCALL_R_IGNORED_;
        } else if (!tcall_is_space_(c) && c != '[' && c != ',' && c != ']') {
            tcall_reader_fail_(r, TCALL_E_PROTOCOL);
        }
    }
}

int tcall_reader_feed(tcall_reader *r, const char *bytes, size_t len)
{
    const char *p = bytes, *end = bytes + len;
    while (p < end && !r->broken)
        if (r->state == TCALL_R_DOCUMENT_)
            p = tcall_reader_document_(r, p, end);
        else
            tcall_reader_byte_(r, *p++);
    while (p < end)
        tcall_reader_page_(r, *p++);
    return r->broken ? r->answer.error : TCALL_OK;
}

/* How many of n bytes of text are whole characters. */
static size_t tcall_utf8_whole_(const char *p, size_t n)
{
    size_t last = n ? tcall_utf8_cut_(p, n - 1) : 0;
    return last < n && p[last] & 0x80 && !tcall_utf8_len_(p + last, p + n)
               ? last
               : n;
}

/* An id of nine letters and digits: every provider takes those. */
TCALL_SHARED_ tcall_str tcall_make_id_(tcall_chat *chat, char *id)
{
    uint32_t n = ++chat->made;
    int i;
    memcpy(id, "call", 4);
    for (i = 8; i > 3; i--, n /= 10)
        id[i] = (char)('0' + n % 10);
    return tcall_slice_(id, 9);
}

static bool tcall_reader_make_id_(tcall_reader *r)
{
    char room[9];
    tcall_reader_head_(r, r->slot)->kind |= TCALL_ITEM_MADE_;
    return tcall_reader_add_(r, TCALL_PART_ID_, tcall_make_id_(r->chat, room));
}

/* Has the item at slot anything to say in the end? What it may still lack is
 * added. */
static bool tcall_reader_item_(tcall_reader *r)
{
    const tcall_head_ *h = tcall_reader_head_(r, r->slot);
    const uint8_t kind = h->kind & TCALL_ITEM_KIND_;
    const bool call = kind == TCALL_ITEM_CALL;
    if (kind == TCALL_ITEM_TEXT)
        return true;
    if ((!call && kind != TCALL_ITEM_OPAQUE) ||
        (!tcall_len_(h, TCALL_PART_NAME_) && !tcall_len_(h, TCALL_PART_TEXT_) &&
         !tcall_len_(h, call ? TCALL_PART_ID_ : TCALL_PART_SIGN_) &&
         (call || !(h->kind & TCALL_ITEM_LOST_))))
        return false;
    if (!call)
        return tcall_reader_add_(r, TCALL_PART_NAME_,
                                 tcall_str_of(r->provider->name));
    if (!tcall_len_(h, TCALL_PART_ID_) && !tcall_reader_make_id_(r))
        return false;
    r->pending = r->slot;
    r->answer.calls++;
    return true;
}

/* The answer is whole: look at its items. slot is the one at hand, pending the
 * last call. */
TCALL_APART_ static void tcall_reader_finish_(tcall_reader *r)
{
    r->slot = r->start;
    while (r->slot < r->chat->block->low) {
        const bool stays = tcall_reader_item_(r);
        if (r->answer.error)
            return;
        if (stays)
            r->slot = tcall_reader_next_(r, r->slot);
        else
            tcall_reader_remove_(r, r->slot);
    }
    if (r->cut && r->answer.calls) {
        tcall_head_ *h = tcall_reader_head_(r, r->pending);
        if (h->error != TCALL_E_MEMORY)
            h->error = (int8_t)TCALL_E_CUT;
    }
    if (r->answer.text_cut && r->has_text) { /* not inside a character */
        const tcall_head_ *h = tcall_reader_head_(r, r->start);
        tcall_reader_resize_(
            r, r->start, TCALL_PART_TEXT_,
            tcall_utf8_whole_((const char *)h +
                                  tcall_head_end_(h, TCALL_PART_SIGN_),
                              tcall_len_(h, TCALL_PART_TEXT_)));
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
    if (a->stop == TCALL_STOP_OTHER)
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
    if (r->finished && !(r->began & ~r->finished) && !r->announced)
        r->complete = true;
    a->message[tcall_utf8_whole_(a->message, strlen(a->message))] = 0;
    if (!a->error && a->message[0] && r->some && !r->complete)
        a->error = TCALL_E_PROVIDER;
    if (!a->error && (!r->complete || r->inside))
        a->error = r->sse && !r->some ? TCALL_E_PROTOCOL : TCALL_E_TRUNCATED;
    if (!a->error)
        tcall_reader_finish_(r);
    if (!a->error)
        tcall_reader_nothing_(r);
    if (!a->error)
        a->message[0] = 0;
    need = b->low + b->high + r->lost + a->unkept + TCALL_RESERVE_;
    if (a->unkept) /* there was more than is left in the end */
        need = (need <= b->size ? b->size + a->unkept : need) + TCALL_RESERVE_;
    if (r->lost + a->unkept && need > b->need)
        b->need = need;
    if (a->error)
        b->low = r->start;
    return a->error;
}

/* ---- what is opaque ---- */

/* What is opaque of an item does not fit. */
static void tcall_opaque_bare_(tcall_reader *r, size_t at, size_t more)
{
    int part = tcall_reader_kind_(r, at) == TCALL_ITEM_OPAQUE
                   ? TCALL_PART_TEXT_
                   : TCALL_PART_SIGN_;
    for (; part >= TCALL_PART_SIGN_; part--) {
        more += tcall_reader_len_(r, at, part);
        tcall_reader_resize_(r, at, part, 0);
    }
    r->answer.unkept += more;
    if (more)
        tcall_reader_head_(r, at)->kind |= TCALL_ITEM_LOST_;
}

/* Of the pending element, which continues the slot, nothing is kept. */
static void tcall_opaque_merge_(tcall_reader *r)
{
    size_t n = tcall_reader_len_(r, r->pending, TCALL_PART_TEXT_);
    if (!(tcall_reader_head_(r, r->slot)->kind & TCALL_ITEM_LOST_))
        return;
    tcall_reader_resize_(r, r->pending, TCALL_PART_TEXT_, 0);
    tcall_opaque_bare_(r, r->slot, n);
}

/* It takes nothing away from anything else. */
static bool tcall_opaque_fits_(const tcall_reader *r, tcall_str s)
{
    return tcall_block_free_(r->chat->block) >= s.len + TCALL_RESERVE_;
}

void tcall_opaque(tcall_reader *r, int what, tcall_str s)
{
    size_t at = r->start;
    if (what == TCALL_MORE_STRIP_)
        for (; at < r->chat->block->low; at = tcall_reader_next_(r, at))
            tcall_opaque_bare_(r, at, 0);
    else if (what == TCALL_MORE_MERGE_)
        tcall_opaque_merge_(r);
    else if (what >= TCALL_PARTS_)
        return;
    else if (r->answer.unkept || !tcall_opaque_fits_(r, s))
        tcall_opaque_bare_(r, r->slot, s.len);
    else
        tcall_reader_put_(r, r->slot, what, s);
}

/* "48s", "34.4s", "250ms" in milliseconds, at most 2147483647; -1: none of
 * these. */
static long tcall_wait_(const char *p)
{
    const long most = 0x7FFFFFFF;
    long n = 0, unit = 1000;
    bool point = false;
    for (; tcall_is_digit_(*p) || (*p == '.' && !point); p++)
        if (*p == '.') {
            point = true;
        } else if (n < most / 10 && (!point || unit > 1)) {
            n = n * 10 + (*p - '0');
            unit = point ? unit / 10 : unit;
        }
    n = n <= most / unit ? n * unit : most;
    return strcmp(p, "s") == 0 ? n : strcmp(p, "ms") == 0 ? n / 1000 : -1;
}

/* A sign may belong to the text of the answer. One is enough, the first. And
 * there are words of how long to wait. */
TCALL_SHARED_ void tcall_opaque_signs_(tcall_reader *r, int what, tcall_str s)
{
    uint8_t lost;
    tcall_opaque(r, what, s);
    if (what == TCALL_MORE_WAIT_)
        r->answer.wait_ms = tcall_wait_(r->word);
    if (what != TCALL_MORE_SAID_)
        return;
    lost = tcall_reader_head_(r, r->pending)->kind & TCALL_ITEM_LOST_;
    if (lost || tcall_reader_len_(r, r->pending, TCALL_PART_SIGN_))
        tcall_reader_begin_text_(r);
    if (!r->has_text)
        return;
    tcall_reader_head_(r, r->start)->kind |= lost;
    if (!tcall_reader_len_(r, r->start, TCALL_PART_SIGN_))
        tcall_reader_give_(r, r->pending, r->start, TCALL_PART_SIGN_);
}

/* An element as JSON text, which is kept if its type says so. The type usually
 * comes first. */
TCALL_SHARED_ void tcall_opaque_raw_(tcall_reader *r, int what, tcall_str s)
{
    bool raw = what == TCALL_MORE_RAW_ && r->event != TCALL_WORD_NEW_ &&
               !(r->whole && r->before) &&
               (!r->type || r->type == TCALL_WORD_OPAQUE_) &&
               r->answer.error != TCALL_E_MEMORY;
    if (raw && !r->keeping)
        r->keeping = tcall_reader_place_(r, &r->raw, TCALL_ITEM_NONE_);
    if (r->keeping && raw && !r->raw_lost && tcall_opaque_fits_(r, s)) {
        tcall_reader_put_(r, r->raw, TCALL_PART_TEXT_, s);
    } else if (r->keeping && (raw || what == TCALL_MORE_STRIP_)) {
        r->raw_lost += s.len + tcall_reader_len_(r, r->raw, TCALL_PART_TEXT_);
        tcall_reader_resize_(r, r->raw, TCALL_PART_TEXT_, 0);
    }
    tcall_opaque(r, what, s);
    if (what != TCALL_MORE_RAW_END_)
        return;
    r->keeping = false;
    if (r->type == TCALL_WORD_OPAQUE_) {
        tcall_head_ *h = tcall_reader_head_(r, r->raw);
        h->kind = (int)TCALL_ITEM_OPAQUE | TCALL_ITEM_ALL_;
        h->index = r->index;
        if (r->raw_lost)
            tcall_opaque_bare_(r, r->raw, r->raw_lost);
    } else {
        tcall_reader_remove_(r, r->raw);
    }
    r->raw_lost = 0;
}

/* What providers write about their errors, in code, type or words, behind the
 * index of what it means. */
static const char tcall_fault_words_[] = "0context l\0" /* length, limit */
                                         "0context window\0"
                                         "0context size\0"
                                         "0prompt is too long\0"
                                         "0prompt too long\0"
                                         "0input is too long\0"
                                         "0prompt_tokens\0"
                                         "0prompt length\0"
                                         "0input length\0"
                                         "0number of tokens\0"
                                         "0too many tokens\0"
                                         "0token limit\0"
                                         "0max_new_tokens\0"
                                         "1api key\0"
                                         "1authenticat\0"
                                         "1permission\0"
                                         "2not_found\0"
                                         "2model identifier\0"
                                         "3overloaded\0"
                                         "3unavailable\0"
                                         "4rate_limit\0"
                                         "4resource_exhausted\0"
                                         "5content filter\0"
                                         "5content_policy\0"
                                         "5content management policy\0"
                                         "5invalid_prompt\0"
                                         "5data_inspection\0"
                                         "5usage guidelines\0"
                                         "5moderation\0"
                                         "5safety\0"
                                         "6invalid_request\0"
                                         "6invalid_argument\0";
static const int8_t tcall_fault_errors_[] = {
    TCALL_E_CONTEXT, TCALL_E_AUTH,    TCALL_E_NOT_FOUND, TCALL_E_OVERLOAD,
    TCALL_E_RATE,    TCALL_E_REFUSED, TCALL_E_REQUEST};

/* Is the word in the text? Capitals do not matter, and a blank may be an
 * underscore there. */
static bool tcall_says_(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] &&
               ((text[i] | (text[i] >= 'A' && text[i] <= 'Z' ? 32 : 0)) ==
                    word[i] ||
                (word[i] == ' ' && text[i] == '_')))
            i++;
        if (!word[i])
            return true;
    }
    return false;
}

/* A status that stands in the answer, as its code; 0: none does. */
static int tcall_answer_status_(const char *code)
{
    const long n = tcall_digits_(code);
    return n < 400 || n > 599 ? 0 : (int)n;
}

int tcall_answer_error(const tcall_answer *a, int status)
{
    static const struct {
        int16_t status;
        int8_t error;
    } known[] = {{401, TCALL_E_AUTH},     {404, TCALL_E_NOT_FOUND},
                 {413, TCALL_E_CONTEXT},  {429, TCALL_E_RATE},
                 {503, TCALL_E_OVERLOAD}, {529, TCALL_E_OVERLOAD}};
    const char *word;
    int error = TCALL_E_PROVIDER;
    size_t i;
    if (status < 300) {
        if (a->error != TCALL_E_PROVIDER)
            return a->error;
        status = tcall_answer_status_(a->stop_text);
    }
    for (i = 0; i < TCALL_ARRAY_LEN(known); i++)
        if (status == known[i].status)
            return known[i].error;
    if (status >= 400 && status < 500)
        error = TCALL_E_REQUEST;
    for (word = tcall_fault_words_; *word; word += strlen(word) + 1)
        if (tcall_says_(a->stop_text, word + 1) ||
            tcall_says_(a->message, word + 1)) {
            error = tcall_fault_errors_[*word - '0'];
            break;
        }
    return status == 403 && error != TCALL_E_REFUSED ? TCALL_E_AUTH : error;
}

/* ==========================================================================
 * >>openai: Chat Completions, also of compatible servers
 */

#define TCALL_OPENAI_PATHS_(X)                                            \
    X(1, 0, 0, "usage")                                                   \
    X(2, TCALL_AT_INPUT, 0, "prompt_tokens")                              \
    X(2, TCALL_AT_OUTPUT, TCALL_PATH_LAST, "completion_tokens")           \
    X(1, TCALL_AT_ERROR, TCALL_PATH_ROOT, "error")                        \
    X(1, TCALL_AT_MESSAGE, 0, "message")                                  \
    X(1, TCALL_AT_MESSAGE, TCALL_PATH_RAW, "detail")                      \
    X(1, TCALL_AT_ERROR_CODE, 0, "code")                                  \
    X(1, TCALL_AT_ERROR_TYPE, 0, "type")                                  \
    X(1, 0, TCALL_PATH_LAST, "choices")                                   \
    X(2, TCALL_AT_CHOICE, 0, "*")                                         \
    X(3, TCALL_AT_NUMBER, 0, "index")                                     \
    X(3, TCALL_AT_STOP, 0, "finish_reason")                               \
    X(3, TCALL_AT_HINT, 0, "native_finish_reason") /* of OpenRouter */    \
    X(3, TCALL_AT_ERROR, TCALL_PATH_ROOT, "error") /* likewise */         \
    X(3, 0, TCALL_PATH_ALIAS_NEXT, "delta")                               \
    X(3, TCALL_AT_WHOLE, TCALL_PATH_LAST, "message")                      \
    X(4, TCALL_AT_CALL, 0, "function_call") /* before there were tools */ \
    X(5, TCALL_AT_NAME, 0, "name")                                        \
    X(5, TCALL_AT_ARGS, 0, "arguments")                                   \
    X(4, TCALL_AT_KEEP, 0, "reasoning_content")                           \
    X(4, TCALL_AT_KEEP_2, TCALL_PATH_RAW, "reasoning_details")            \
    X(4, TCALL_AT_TEXT, 0, "refusal")                                     \
    X(4, TCALL_AT_TEXT, 0, "content")                                     \
    X(5, 0, 0, "*") /* Mistral may send parts */                          \
    X(6, TCALL_AT_TEXT, 0, "text")                                        \
    X(4, 0, TCALL_PATH_LAST, "tool_calls")                                \
    X(5, TCALL_AT_CALL, 0, "*")                                           \
    X(6, TCALL_AT_INDEX, 0, "index")                                      \
    X(6, TCALL_AT_ID, 0, "id")                                            \
    X(6, 0, TCALL_PATH_ALIAS_NEXT, "custom")                              \
    X(6, 0, TCALL_PATH_LAST, "function")                                  \
    X(7, TCALL_AT_NAME, 0, "name")                                        \
    X(7, TCALL_AT_ARGS, TCALL_PATH_RAW, "arguments")                      \
    X(7, TCALL_AT_ARGS, 0, "input") /* of a custom tool */

TCALL_PATHS(tcall_openai_paths_, TCALL_OPENAI_PATHS_)

/* clang-format off */
static const char tcall_openai_words_[] =
    TCALL_SAYS_END "stop\0"
    TCALL_SAYS_CALLS "tool_calls\0"
    TCALL_SAYS_CALLS "function_call\0"
    TCALL_SAYS_LENGTH "length\0"
    TCALL_SAYS_LENGTH "model_length\0"
    TCALL_SAYS_LENGTH "max_tokens\0"
    TCALL_SAYS_LENGTH "max_output_tokens\0"
    TCALL_SAYS_LENGTH "MAX_TOKENS\0"
    TCALL_SAYS_LENGTH "insufficient_system_resource\0"
    TCALL_SAYS_LENGTH "error\0"
    TCALL_SAYS_REFUSED "content_filter\0";
/* clang-format on */

static int tcall_openai_write_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask)
{
    tcall_strict left = {TCALL_STRICT_OPENAI, 999, 999, 999, false};
    tcall_write_talk_(p, w, ask,
                      "{'id':%i,'type':'function',"
                      "'function':{'name':%n,'arguments':%A}}",
                      "{'role':'tool','tool_call_id':%i,'content':%e}");
    if (tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                           "{'type':'function','function':{'name':%t,"
                           "'description':%.,'parameters':%.}}",
                           &left))
        tcall_write_choice_(p, w, ask,
                            ",'tool_choice':{'type':'function','function':"
                            "{'name':%t}}");
    tcall_write_limit_(w,
                       p->traits & TCALL_TRAIT_MAX_TOKENS
                           ? ",'max_tokens':%."
                           : ",'max_completion_tokens':%.",
                       ask->max_tokens);
    if (ask->stream && !(p->traits & TCALL_TRAIT_NO_USAGE))
        tcall_write_words_(w, ",'stream_options':{'include_usage':true}", NULL);
    return tcall_write_stream_(w, ask);
}

TCALL_PROVIDER_(openai, openai, "https://api.openai.com",
                "/v1/chat/completions", NULL, "Authorization", "Bearer ", NULL,
                NULL, NULL, NULL, NULL, 0)

/* ==========================================================================
 * >>anthropic: Messages
 *
 * An event of a stream is itself the element of a call: index and type may
 * stand before or behind it.
 */

#define TCALL_ANTHROPIC_PATHS_(X)                               \
    X(1, TCALL_AT_EVENT, 0, "type")                             \
    X(1, TCALL_AT_INDEX, 0, "index")                            \
    X(1, TCALL_AT_STOP, 0, "stop_reason")                       \
    X(1, TCALL_AT_RESTART, 0, "message")                        \
    X(2, 0, 0, "usage")                                         \
    X(3, TCALL_AT_INPUT, 0, "input_tokens")                     \
    X(3, TCALL_AT_OUTPUT, 0, "output_tokens")                   \
    X(1, 0, 0, "usage")                                         \
    X(2, TCALL_AT_INPUT, 0, "input_tokens")                     \
    X(2, TCALL_AT_OUTPUT, 0, "output_tokens")                   \
    X(1, TCALL_AT_ERROR, 0, "error")                            \
    X(2, TCALL_AT_ERROR_TYPE, 0, "type")                        \
    X(2, TCALL_AT_MESSAGE, 0, "message")                        \
    X(1, TCALL_AT_CALL, 0, "delta")                             \
    X(2, TCALL_AT_ARGS, 0, "partial_json")                      \
    X(2, TCALL_AT_TEXT, 0, "text")                              \
    X(2, TCALL_AT_KEEP, 0, "thinking")                          \
    X(2, TCALL_AT_SIGN, 0, "signature")                         \
    X(2, TCALL_AT_STOP, TCALL_PATH_LAST, "stop_reason")         \
    X(1, TCALL_AT_CALL, 0, "content_block")                     \
    X(2, TCALL_AT_TYPE, 0, "type")                              \
    X(2, TCALL_AT_ID, 0, "id")                                  \
    X(2, TCALL_AT_NAME, 0, "name")                              \
    X(2, TCALL_AT_ARGS, TCALL_PATH_RAW, "input")                \
    X(2, TCALL_AT_KEEP, 0, "thinking")                          \
    X(2, TCALL_AT_KEEP_2, 0, "data") /* of redacted thinking */ \
    X(2, TCALL_AT_SIGN, 0, "signature")                         \
    X(2, TCALL_AT_TEXT, TCALL_PATH_LAST, "text")                \
    X(1, TCALL_AT_WHOLE, TCALL_PATH_LAST, "content")            \
    X(2, TCALL_AT_CALL, 0, "*")                                 \
    X(3, TCALL_AT_TYPE, 0, "type")                              \
    X(3, TCALL_AT_ID, 0, "id")                                  \
    X(3, TCALL_AT_NAME, 0, "name")                              \
    X(3, TCALL_AT_ARGS, TCALL_PATH_RAW, "input")                \
    X(3, TCALL_AT_TEXT, 0, "text")                              \
    X(3, TCALL_AT_KEEP, 0, "thinking")                          \
    X(3, TCALL_AT_KEEP_2, 0, "data")                            \
    X(3, TCALL_AT_SIGN, 0, "signature")

TCALL_PATHS(tcall_anthropic_paths_, TCALL_ANTHROPIC_PATHS_)

/* clang-format off */
static const char tcall_anthropic_words_[] =
    TCALL_SAYS_FINAL "message_stop\0"
    TCALL_SAYS_CALL "tool_use\0"
    TCALL_SAYS_END "end_turn\0"
    TCALL_SAYS_END "stop_sequence\0"
    TCALL_SAYS_LENGTH "max_tokens\0"
    TCALL_SAYS_LENGTH "model_context_window_exceeded\0"
    TCALL_SAYS_REFUSED "refusal\0";
/* clang-format on */

static const char tcall_anthropic_turns_[] =
    "{'role':'user','content':[\0"
    "{'role':'assistant','content':[\0"
    "u{'type':'text','text':%t}\0"
    "m{'type':'text','text':%t}\0"
    "m{'type':'tool_use','id':%i,'name':%n,'input':%a}\0"
    "u{'type':'tool_result','tool_use_id':%i,'content':%t}\0"
    "m{'type':'thinking','thinking':%t,'signature':%g}\0"
    "u{'type':'tool_result','tool_use_id':%i,'content':%t,'is_error':true}\0"
    "m{'type':'redacted_thinking','data':%t}";

static int tcall_anthropic_write_(const tcall_provider *p, tcall_writer *w,
                                  const tcall_ask *ask)
{
    static const char choices[] = ",'tool_choice':{'type':'auto'%.}\0"
                                  ",'tool_choice':{'type':'none'}\0"
                                  ",'tool_choice':{'type':'any'%.}\0"
                                  ",'tool_choice':{'type':'tool','name':%t%.}";
    /* What one request may hold of strict tools, optional parameters and
     * unions, over all of them together. */
    tcall_strict left = {TCALL_STRICT_ANTHROPIC, 20, 24, 16, false};
    const char *rest;
    tcall_write_words_(w, "{'model':%t", ask->model);
    tcall_write_limit_(w, ",'max_tokens':%.",
                       ask->max_tokens > 0 ? ask->max_tokens : 1024);
    tcall_write_option_(w, ",'system':%t", ask->system);
    tcall_write_text(w, ",\"messages\":[");
    tcall_write_turns_(p, w, ask, tcall_anthropic_turns_);
    if (tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                           "{'name':%t,'description':%.,'input_schema':%.}",
                           &left) &&
        (ask->choice != TCALL_CHOICE_AUTO || ask->no_parallel)) {
        rest = tcall_write_words_(w, tcall_nth_(choices, (int)ask->choice),
                                  ask->choice_name);
        if (*rest && ask->no_parallel)
            tcall_write_text(w, ",\"disable_parallel_tool_use\":true");
        tcall_write_text(w, rest);
    }
    return tcall_write_stream_(w, ask);
}

TCALL_PROVIDER_(anthropic, anthropic, "https://api.anthropic.com",
                "/v1/messages", NULL, "x-api-key", "", "anthropic-version",
                "2023-06-01", NULL, tcall_opaque, NULL, 0)

/* ==========================================================================
 * >>ollama: its own /api/chat
 *
 * Calls come whole, and their numbers mean nothing: each is a new one.
 */

#define TCALL_OLLAMA_PATHS_(X)                       \
    X(1, 0, 0, "message")                            \
    X(2, TCALL_AT_TEXT, 0, "content")                \
    X(2, 0, 0, "tool_calls")                         \
    X(3, TCALL_AT_CALL, 0, "*")                      \
    X(4, TCALL_AT_ID, 0, "id")                       \
    X(4, 0, 0, "function")                           \
    X(5, TCALL_AT_NAME, 0, "name")                   \
    X(5, TCALL_AT_ARGS, TCALL_PATH_RAW, "arguments") \
    X(1, TCALL_AT_EVENT, 0, "done")                  \
    X(1, TCALL_AT_STOP, 0, "done_reason")            \
    X(1, TCALL_AT_INPUT, 0, "prompt_eval_count")     \
    X(1, TCALL_AT_OUTPUT, 0, "eval_count")           \
    X(1, TCALL_AT_ERROR, 0, "error")                 \
    X(2, TCALL_AT_MESSAGE, 0, "message")

TCALL_PATHS(tcall_ollama_paths_, TCALL_OLLAMA_PATHS_)

/* clang-format off */
static const char tcall_ollama_words_[] =
    TCALL_SAYS_FINAL "true\0"
    TCALL_SAYS_END "stop\0"
    TCALL_SAYS_LENGTH "length\0";
/* clang-format on */

static int tcall_ollama_write_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask)
{
    tcall_strict left = {TCALL_STRICT_OLLAMA, 0, 0, 0, false};
    tcall_write_talk_(
        p, w, ask, "{'id':%i,'function':{'name':%n,'arguments':%a}}",
        "{'role':'tool','tool_name':%n,'tool_call_id':%i,'content':%e}");
    tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                       "{'type':'function','function':{'name':%t,"
                       "'description':%.,'parameters':%.}}",
                       &left);
    tcall_write_limit_(w, ",'options':{'num_predict':%.}", ask->max_tokens);
    return tcall_write_stream_(w, ask); /* it streams unless it is told */
}

TCALL_PROVIDER_(ollama, ollama, "http://127.0.0.1:11434", "/api/chat", NULL,
                "Authorization", "Bearer ", NULL, NULL, NULL, NULL, NULL,
                TCALL_TRAIT_WEAK_CHOICE)

/* ==========================================================================
 * >>responses: the Responses API of OpenAI
 *
 * A stream says everything three times: in pieces, at their end, and in the
 * item; servers differ in which they fill, so the longest counts. The type of
 * an event tells what its piece is of. Reasoning goes back as it came.
 */

#define TCALL_RESPONSES_PATHS_(X)                                            \
    X(1, TCALL_AT_EVENT, 0, "type")                                          \
    X(1, TCALL_AT_INDEX, 0, "output_index")                                  \
    X(1, TCALL_AT_PIECE, 0, "delta")                                         \
    X(1, TCALL_AT_PIECE, 0, "arguments")                                     \
    X(1, TCALL_AT_CALL, TCALL_PATH_RAW, "item")                              \
    X(2, TCALL_AT_TYPE, 0, "type")                                           \
    X(2, TCALL_AT_ID, 0, "call_id")                                          \
    X(2, TCALL_AT_NAME, 0, "name")                                           \
    X(2, TCALL_AT_ALL, TCALL_PATH_RAW, "arguments")                          \
    X(2, TCALL_AT_ALL, 0, "input")                                           \
    X(1, 0, TCALL_PATH_ROOT, "response") /* of a stream, as the whole one */ \
    X(1, TCALL_AT_STOP, 0, "status")                                         \
    X(1, 0, 0, "incomplete_details")                                         \
    X(2, TCALL_AT_HINT, 0, "reason")                                         \
    X(1, 0, 0, "usage")                                                      \
    X(2, TCALL_AT_INPUT, 0, "input_tokens")                                  \
    X(2, TCALL_AT_OUTPUT, 0, "output_tokens")                                \
    X(1, TCALL_AT_ERROR, 0, "error")                                         \
    X(2, TCALL_AT_MESSAGE, 0, "message")                                     \
    X(2, TCALL_AT_ERROR_CODE, 0, "code")                                     \
    X(2, TCALL_AT_ERROR_TYPE, 0, "type")                                     \
    X(1, TCALL_AT_MESSAGE, 0, "message")                                     \
    X(1, TCALL_AT_MESSAGE, TCALL_PATH_RAW, "detail")                         \
    X(1, TCALL_AT_ERROR_CODE, 0, "code")                                     \
    X(1, TCALL_AT_WHOLE, TCALL_PATH_LAST, "output")                          \
    X(2, TCALL_AT_CALL, TCALL_PATH_RAW, "*")                                 \
    X(3, TCALL_AT_TYPE, 0, "type")                                           \
    X(3, TCALL_AT_ID, 0, "call_id")                                          \
    X(3, TCALL_AT_NAME, 0, "name")                                           \
    X(3, TCALL_AT_ALL, TCALL_PATH_RAW, "arguments")                          \
    X(3, TCALL_AT_ALL, 0, "input")                                           \
    X(3, 0, 0, "content")                                                    \
    X(4, 0, 0, "*")                                                          \
    X(5, TCALL_AT_SAID, 0, "text")                                           \
    X(5, TCALL_AT_SAID, 0, "refusal")

TCALL_PATHS(tcall_responses_paths_, TCALL_RESPONSES_PATHS_)

/* clang-format off */
static const char tcall_responses_words_[] =
    TCALL_SAYS_CALL "function_call\0"
    TCALL_SAYS_CALL "custom_tool_call\0"
    TCALL_SAYS_TEXT "message\0"
    TCALL_SAYS_OPAQUE "reasoning\0"
    TCALL_SAYS_OPEN "response.created\0"
    TCALL_SAYS_OPEN "response.in_progress\0"
    TCALL_SAYS_NEW "response.output_item.added\0"
    TCALL_SAYS_DONE "response.output_item.done\0"
    TCALL_SAYS_TEXT "response.output_text.delta\0"
    TCALL_SAYS_TEXT "response.refusal.delta\0"
    TCALL_SAYS_PIECE "response.function_call_arguments.delta\0"
    TCALL_SAYS_ALL "response.function_call_arguments.done\0"
    TCALL_SAYS_PIECE "response.custom_tool_call_input.delta\0"
    TCALL_SAYS_FINAL "response.completed\0"
    TCALL_SAYS_FINAL "response.incomplete\0"
    TCALL_SAYS_FINAL "response.failed\0"
    TCALL_SAYS_NOT_YET "in_progress\0"
    TCALL_SAYS_NOT_YET "queued\0"
    TCALL_SAYS_END "completed\0"
    TCALL_SAYS_LENGTH "incomplete\0"
    TCALL_SAYS_LENGTH "cancelled\0"
    TCALL_SAYS_LENGTH "max_output_tokens\0"
    TCALL_SAYS_REFUSED "content_filter\0";
/* clang-format on */

static const char tcall_responses_turns_[] =
    "\0\0"
    "-{'role':'user','content':%t}\0"
    "-{'role':'assistant','content':%t}\0"
    "-{'type':'function_call','call_id':%i,'name':%n,'arguments':%A}\0"
    "-{'type':'function_call_output','call_id':%i,'output':%t}\0"
    "-%r\0"
    "-{'type':'function_call_output','call_id':%i,'output':%e}\0"
    "-%r";

static int tcall_responses_write_(const tcall_provider *p, tcall_writer *w,
                                  const tcall_ask *ask)
{
    /* Without a word about it tools would be taken for strict ones. */
    tcall_strict left = {TCALL_STRICT_OPENAI, 999, 999, 999, true};
    tcall_write_words_(w, "{'model':%t", ask->model);
    tcall_write_option_(w, ",'instructions':%t", ask->system);
    tcall_write_text(w, ",\"input\":[");
    tcall_write_turns_(p, w, ask, tcall_responses_turns_);
    if (tcall_write_tools_(p, w, ask, ",'tools':[%.]",
                           "{'type':'function','name':%t,"
                           "'description':%.,'parameters':%.}",
                           &left))
        tcall_write_choice_(p, w, ask,
                            ",'tool_choice':{'type':'function','name':%t}");
    tcall_write_limit_(w, ",'max_output_tokens':%.", ask->max_tokens);
    /* Nothing is kept on the server: the reasoning has to come along. */
    tcall_write_text(w, ",\"store\":false");
    if (p->traits & TCALL_TRAIT_ASK_OPAQUE)
        tcall_write_words_(w, ",'include':['reasoning.encrypted_content']",
                           NULL);
    return tcall_write_stream_(w, ask);
}

TCALL_PROVIDER_(responses, responses, "https://api.openai.com", "/v1/responses",
                NULL, "Authorization", "Bearer ", NULL, NULL, NULL,
                tcall_opaque_raw_, NULL, 0)

/* ==========================================================================
 * >>gemini: generateContent of Google
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

#define TCALL_GEMINI_PATHS_(X)                                              \
    X(1, 0, 0, "candidates")                                                \
    X(2, TCALL_AT_CHOICE, 0, "*")                                           \
    X(3, TCALL_AT_NUMBER, 0, "index")                                       \
    X(3, TCALL_AT_STOP, 0, "finishReason")                                  \
    X(3, TCALL_AT_MESSAGE, 0, "finishMessage")                              \
    X(3, 0, TCALL_PATH_LAST, "content")                                     \
    X(4, 0, 0, "parts")                                                     \
    X(5, TCALL_AT_CALL, 0, "*")                                             \
    X(6, TCALL_AT_SIGN, 0, "thoughtSignature")                              \
    X(6, TCALL_AT_SAID, 0, "text")                                          \
    X(6, TCALL_AT_VOID, 0, "thought")                                       \
    X(6, TCALL_AT_VOID, 0, "toolCall") /* those that Google runs */         \
    X(6, TCALL_AT_VOID, 0, "toolResponse")                                  \
    X(6, 0, TCALL_PATH_LAST, "functionCall")                                \
    X(7, TCALL_AT_ID, 0, "id")                                              \
    X(7, TCALL_AT_NAME, 0, "name")                                          \
    X(7, TCALL_AT_ARGS, TCALL_PATH_RAW, "args")                             \
    /* Patches instead of arguments, which are never asked for: they are no \
     * object, so that nobody runs such a call. */                          \
    X(7, TCALL_AT_ARGS, TCALL_PATH_RAW, "partialArgs")                      \
    X(1, 0, 0, "promptFeedback")                                            \
    X(2, TCALL_AT_STOP, 0, "blockReason")                                   \
    X(2, TCALL_AT_MESSAGE, 0, "blockReasonMessage")                         \
    X(1, 0, 0, "usageMetadata")                                             \
    X(2, TCALL_AT_INPUT, 0, "promptTokenCount")                             \
    X(2, TCALL_AT_OUTPUT, 0, "candidatesTokenCount")                        \
    X(1, TCALL_AT_ERROR, TCALL_PATH_LAST, "error")                          \
    X(2, TCALL_AT_MESSAGE, 0, "message")                                    \
    X(2, TCALL_AT_ERROR_CODE, 0, "status")                                  \
    X(2, 0, 0, "details")                                                   \
    X(3, 0, 0, "*")                                                         \
    X(4, TCALL_AT_WAIT, 0, "retryDelay")

TCALL_PATHS(tcall_gemini_paths_, TCALL_GEMINI_PATHS_)

/* clang-format off */
static const char tcall_gemini_words_[] =
    TCALL_SAYS_END "STOP\0"
    TCALL_SAYS_END "1\0"
    TCALL_SAYS_LENGTH "MAX_TOKENS\0"
    TCALL_SAYS_LENGTH "2\0"
    TCALL_SAYS_REFUSED "SAFETY\0"
    TCALL_SAYS_REFUSED "3\0"
    TCALL_SAYS_REFUSED "RECITATION\0"
    TCALL_SAYS_REFUSED "4\0"
    TCALL_SAYS_REFUSED "BLOCKLIST\0"
    TCALL_SAYS_REFUSED "PROHIBITED_CONTENT\0"
    TCALL_SAYS_REFUSED "SPII\0"
    TCALL_SAYS_REFUSED "IMAGE_SAFETY\0"
    TCALL_SAYS_REFUSED "JAILBREAK\0"
    TCALL_SAYS_REFUSED "MODEL_ARMOR\0"
    TCALL_SAYS_REFUSED "LANGUAGE\0"
    TCALL_SAYS_REFUSED "OTHER\0"; /* so is it called */
/* clang-format on */

static const char tcall_gemini_turns_[] =
    "{'role':'user','parts':[\0"
    "{'role':'model','parts':[\0"
    "u{'text':%t%s}\0"
    "m{'text':%t%s}\0"
    "m{'functionCall':{'name':%n,'args':%a%I}%s}\0"
    "u{'functionResponse':{'name':%n,'response':{'output':%t}%I}}\0"
    "m\0" /* signs belong to parts */
    "u{'functionResponse':{'name':%n,'response':{'error':%t}%I}}\0"
    "m";

static int tcall_gemini_write_(const tcall_provider *p, tcall_writer *w,
                               const tcall_ask *ask)
{
    static const char choices[] = "\0"
                                  "'NONE'\0"
                                  "'ANY'\0"
                                  "'ANY','allowedFunctionNames':[%t]";
    tcall_strict left = {0, 0, 0, 0, false};
    tcall_write_text(w, "{\"contents\":[");
    tcall_write_turns_(p, w, ask, tcall_gemini_turns_);
    tcall_write_option_(w, ",'systemInstruction':{'parts':[{'text':%t}]}",
                        ask->system);
    if (tcall_write_tools_(
            p, w, ask, ",'tools':[{'functionDeclarations':[%.]}]",
            "{'name':%t,'description':%.,'parametersJsonSchema':%.}", &left) &&
        ask->choice != TCALL_CHOICE_AUTO) {
        tcall_write_words_(
            w, ",'toolConfig':{'functionCallingConfig':{'mode':", NULL);
        tcall_write_words_(w, tcall_nth_(choices, (int)ask->choice),
                           ask->choice_name);
        tcall_write_text(w, "}}");
    }
    tcall_write_limit_(w, ",'generationConfig':{'maxOutputTokens':%.}",
                       ask->max_tokens);
    return tcall_write_text(w, "}");
}

static const char tcall_gemini_stream_[] =
    "/v1beta/models/{model}:streamGenerateContent?alt=sse";
TCALL_PROVIDER_(gemini, gemini, "https://generativelanguage.googleapis.com",
                "/v1beta/models/{model}:generateContent", tcall_gemini_stream_,
                "x-goog-api-key", "", NULL, NULL, NULL, tcall_opaque_signs_,
                NULL, 0)

/* ==========================================================================
 * >>servers: that speak the format of OpenAI, more or less
 */

#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits)      \
    TCALL_PROVIDER_(name, openai, url, path, NULL, header, prefix, NULL, NULL, \
                    id, more, join, traits)
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_

tcall_str tcall_id_of_nine(char *to, tcall_str id)
{
    uint32_t high = 2166136261u, low = 0;
    size_t i;
    for (i = 0;
         i < id.len && (tcall_is_digit_(id.ptr[i]) ||
                        ((id.ptr[i] | 32) >= 'a' && (id.ptr[i] | 32) <= 'z'));
         i++) {
    }
    if (i == id.len && id.len == 9)
        return id;
    for (i = 0; i < id.len; i++) {
        high = (high ^ (unsigned char)id.ptr[i]) * 16777619u;
        low = low * 31 + (high >> 16);
    }
    for (i = 0; i < 9; i++) {
        uint32_t *from = i < 5 ? &high : &low;
        to[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[*from % 36];
        *from /= 36;
    }
    return tcall_slice_(to, 9);
}

/* The next object in arrays of them; NULL: there is none. Never the '{' of a
 * string: what is skipped from there on has to end. */
static const char *tcall_piece_next_(const char *p, const char *end)
{
    while (p < end && strchr("[], \t\r\n", *p))
        p++;
    return p < end && *p == '{' ? p : NULL;
}

/* Have both objects this member, with the same value? */
static bool tcall_piece_same_(const char *p, const char *q, const char *key)
{
    p = tcall_view_get_(p, key);
    q = tcall_view_get_(q, key);
    return p && q &&
           tcall_str_eq(tcall_text_verbatim_(p), tcall_text_verbatim_(q));
}

/* The object behind the pieces that begin at p: those of one type and number,
 * unless they are data that stands for itself. */
static const char *tcall_piece_end_(const char *p, const char *end)
{
    const char *q = p;
    do
        q = tcall_piece_next_(tcall_text_skip_(q), end);
    while (q && tcall_piece_same_(p, q, "type") &&
           tcall_piece_same_(p, q, "index") && !tcall_view_get_(q, "data"));
    return q;
}

/* The member of this key of several pieces: texts are joined, of others the
 * last one counts. */
static void tcall_write_piece_(tcall_writer *w, const char *p,
                               const char *behind, const char *end,
                               const char *key, bool join)
{
    const char *v, *last = NULL;
    for (; p && p != behind; p = tcall_piece_next_(tcall_text_skip_(p), end)) {
        v = tcall_view_get_(p, key);
        if (!v || *v != '"')
            continue;
        if (join && !last)
            tcall_write_key(w, key);
        if (join)
            tcall_write_bytes(w, last ? v + 1 : v,
                              (size_t)(tcall_text_skip_(v) - v) - 1 -
                                  (last != NULL));
        last = v;
    }
    if (join && last)
        tcall_write_char_(w, '"');
    else if (last) {
        tcall_write_key(w, key);
        tcall_write_verbatim(w, tcall_text_verbatim_(last));
    }
}

int tcall_join_details(tcall_writer *w, tcall_str s)
{
    static const char keys[] = "text\0summary\0signature\0id\0format\0";
    const char *end = s.ptr + s.len, *p = tcall_piece_next_(s.ptr, end);
    tcall_write_open(w, '[');
    while (p) {
        const char *behind = tcall_piece_end_(p, end), *m, *v, *key;
        if (behind == tcall_piece_next_(tcall_text_skip_(p), end)) {
            tcall_write_verbatim(w, tcall_text_verbatim_(p));
            p = behind;
            continue;
        }
        tcall_write_open(w, '{');
        for (m = tcall_text_next_(p + 1); !tcall_text_closes_(m);
             m = tcall_text_next_(v)) {
            v = tcall_text_skip_(tcall_text_value_(m));
            for (key = keys; *key && !tcall_view_is_(m, key);)
                key += strlen(key) + 1;
            if (!*key)
                tcall_write_verbatim(w, tcall_slice_(m, (size_t)(v - m)));
        }
        for (key = keys; *key; key += strlen(key) + 1)
            tcall_write_piece_(w, p, behind, end, key, key < keys + 12);
        tcall_write_close(w, '}');
        p = behind;
    }
    return tcall_write_close(w, ']');
}

const tcall_provider *tcall_provider_named(const char *name)
{
#define TCALL_X_(name, url, path, header, prefix, id, more, join, traits) \
    &tcall_##name,
    static const tcall_provider *const all[] = {
        TCALL_SERVERS(TCALL_X_) & tcall_openai, &tcall_anthropic, &tcall_ollama,
        &tcall_responses, &tcall_gemini};
#undef TCALL_X_
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(all); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

/* ==========================================================================
 * >>text_calls: calls that come as text
 *
 * Between two markers stand objects with name and arguments, alone, one after
 * the other or in an array; or a name and then its arguments. An object is read
 * as tolerantly as arguments are.
 */

/* A marker that opens, and the one that closes; "": the next one, or the end
 * of the text. */
static const char tcall_markers_[][2][20] = {
    {"<tool_call>", "</tool_call>"}, {"<function_call>", "</function_call>"},
    {"<function=", "</function>"},   {"<tools>", "</tools>"},
    {"[TOOL_CALL]", "[/TOOL_CALL]"}, {"[TOOL_CALLS]", ""},
    {"<|python_tag|>", ""},          {"<|tool_call|>", ""},
};

/* Where the word begins in the text from p on, end: nowhere. */
static const char *tcall_marked_find_(const char *p, const char *end,
                                      const char *word)
{
    size_t n = strlen(word);
    for (; (size_t)(end - p) >= n; p++)
        if (memcmp(p, word, n) == 0)
            return p;
    return end;
}

/* Past the object at p; NULL: it does not end. */
static const char *tcall_marked_object_(const char *p, const char *end)
{
    int depth = 0;
    char quote = 0;
    for (; p < end; p++) {
        if (*p == '\\')
            p++;
        else if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        else if (*p == '}' && --depth == 0)
            return p + 1;
        else if (*p == '{')
            depth++;
    }
    return NULL;
}

static int tcall_marked_add_(tcall_reader *r, tcall_item *item)
{
    char id[9];
    int error;
    item->kind = TCALL_ITEM_CALL;
    item->id = tcall_make_id_(r->chat, id);
    item->made = true;
    r->slot = r->chat->block->low;
    error = tcall_chat_add(r->chat, item);
    r->answer.calls += error == TCALL_OK;
    return error;
}

/* The member of an object by the first of the names that it has. */
static tcall_json tcall_marked_member_(tcall_json object, const char *names)
{
    tcall_json v = tcall_json_get(object, names);
    while (!v.tok && *(names += strlen(names) + 1))
        v = tcall_json_get(object, names);
    return v;
}

/* A call as one object. What it is read into is needed only for a while. */
static int tcall_marked_whole_(tcall_reader *r, tcall_item *item)
{
    tcall_block *b = r->chat->block;
    size_t high = b->high;
    tcall_arguments args;
    tcall_json v;
    tcall_writer w;
    int error = tcall_parse_arguments(&args, item->text, false, NULL, 0);
    void *mem = NULL;
    bool room = true;
    if (error == TCALL_E_MEMORY && !(mem = tcall_block_take_(b, args.used)))
        return error;
    if (mem)
        error = tcall_parse_arguments(&args, item->text, false, mem, args.used);
    if (error < 0) {
        item->error = item->error ? item->error : error;
    } else {
        v = tcall_marked_member_(args.root, "arguments\0parameters\0args\0");
        item->name = tcall_json_str(
            tcall_marked_member_(args.root, "name\0function\0tool\0"));
        item->text = tcall_json_str(v);
        if (v.tok && tcall_json_type(v) != TCALL_STRING) {
            tcall_writer_init(&w, NULL, 0);
            tcall_write_json(&w, v);
            mem = tcall_block_take_(b, w.len);
            tcall_writer_init(&w, (char *)mem, mem ? w.len : 0);
            tcall_write_json(&w, v);
            item->text = tcall_slice_(w.buf, w.fill);
            room = mem != NULL;
        }
    }
    error = room ? tcall_marked_add_(r, item) : TCALL_E_MEMORY;
    b->high = high;
    return error;
}

/* All calls between two markers. */
static int tcall_marked_body_(tcall_reader *r, const char *p, const char *end,
                              bool closed)
{
    int error = TCALL_OK;
    while (error == TCALL_OK) {
        const char *from, *to;
        tcall_item item;
        memset(&item, 0, sizeof item);
        while (p < end && (tcall_is_space_(*p) || strchr("[],;", *p)))
            p++;
        for (from = p; p < end && *p != '{' && *p != '>' && *p != '=' &&
                       *p != '[' && *p != '(' && !tcall_is_space_(*p);)
            p++;
        item.name = tcall_slice_(from, (size_t)(p - from));
        from = p;
        p = tcall_marked_find_(p, end, "{");
        if (p == end && (!item.name.len || !closed))
            return TCALL_OK; /* the marker was only mentioned */
        to = end;
        if (p == end) {
            /* no arguments, or none that are JSON */
            while (from < end && (tcall_is_space_(*from) || *from == '>'))
                from++;
            item.error = from < end ? TCALL_E_BAD_VALUE : TCALL_OK;
        } else {
            from = p;
            to = tcall_marked_object_(from, end);
        }
        p = to ? to : end;
        item.text = tcall_slice_(from, (size_t)(p - from));
        if (!to || !closed)
            item.error = TCALL_E_CUT;
        error = item.name.len ? tcall_marked_add_(r, &item)
                              : tcall_marked_whole_(r, &item);
    }
    return error;
}

/* The marker that opens at p; NULL: none does. */
static const char (*tcall_marked_marker_(const char *p, const char *end))[20]
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_markers_); i++) {
        size_t n = strlen(tcall_markers_[i][0]);
        if ((size_t)(end - p) >= n && memcmp(p, tcall_markers_[i][0], n) == 0)
            return tcall_markers_[i];
    }
    return NULL;
}

int tcall_text_calls(tcall_reader *r)
{
    tcall_block *b = r->chat->block;
    const char *p, *end, *first = NULL;
    const tcall_head_ *h;
    int error = r->answer.error;
    if (error || r->answer.calls || !r->has_text)
        return error;
    h = tcall_reader_head_(r, r->start);
    end = (const char *)h + tcall_head_size_(h);
    p = end - tcall_len_(h, TCALL_PART_TEXT_);
    while (p < end && error == TCALL_OK) {
        const char(*marker)[20] = tcall_marked_marker_(p, end);
        const char *close;
        bool closed;
        if (!marker) {
            p++;
            continue;
        }
        first = first ? first : p;
        p += strlen(marker[0]);
        close = tcall_marked_find_(p, end, *marker[1] ? marker[1] : marker[0]);
        closed = close < end || !*marker[1];
        error = tcall_marked_body_(r, p, close, closed);
        p = close < end && *marker[1] ? close + strlen(marker[1]) : close;
    }
    if (error < 0) {
        r->answer.error = error;
        b->low = r->start;
    } else if (r->answer.calls) {
        tcall_reader_resize_(r, r->start, TCALL_PART_TEXT_,
                             tcall_reader_text_len_(r) - (size_t)(end - first));
        if (r->cut || r->answer.text_cut) /* who knows what followed */
            tcall_reader_head_(r, r->slot)->error = (int8_t)TCALL_E_CUT;
    }
    return error;
}

/* ==========================================================================
 * >>lint
 *
 * Each tool goes through the same few questions; a finding is put together in
 * two small buffers and told at once.
 */
#ifndef TOOLCALL_NO_LINT

typedef struct tcall_lint_ {
    void (*found)(void *user, const tcall_finding *finding);
    void *user;
    const tcall_tool *tool;
    int count;
    tcall_writer at; /* the pointer */
    char pointer[190];
} tcall_lint_;

#define TCALL_LINT_TEXT_ 160

static void tcall_lint_tell_(tcall_lint_ *l, const char *code,
                             const char *provider, bool note, tcall_str text)
{
    tcall_finding f;
    f.code = code;
    f.provider = provider;
    f.tool = l->tool;
    f.pointer = tcall_slice_(l->pointer, l->at.fill);
    f.text = text;
    f.note = note;
    l->count += !note;
    l->found(l->user, &f);
}

static void tcall_lint_say_(tcall_lint_ *l, const char *code,
                            const char *provider, const char *text)
{
    tcall_lint_tell_(l, code, provider, false, tcall_str_of(text));
}

/* The pointer back at one part of the tool. */
static void tcall_lint_at_(tcall_lint_ *l, const char *part)
{
    tcall_writer_init(&l->at, l->pointer, sizeof l->pointer);
    tcall_write_text(&l->at, part);
}

size_t tcall_lint_tokens(size_t bytes)
{
    return (bytes + 3) / 4;
}

/* What names may hold beside A-Z a-z 0-9 _ and -, and how long they may be. */
typedef struct tcall_lint_rule_ {
    char provider[10];
    char more[4]; /* behind a space, for the text */
    uint8_t max;
    bool letter; /* begins with a letter or _ */
} tcall_lint_rule_;

static const tcall_lint_rule_ tcall_lint_rules_[] = {
    {"openai", "", 64, false},     {"responses", "", 128, false},
    {"anthropic", "", 128, false}, {"gemini", " .:", 128, true},
    {"mcp", " ./", 64, false},
};

static bool tcall_lint_name_ok_(const tcall_lint_rule_ *rule, const char *name)
{
    size_t i;
    for (i = 0; name[i]; i++) {
        char c = (char)(name[i] | 0x20);
        bool letter = (c >= 'a' && c <= 'z') || name[i] == '_';
        if (!letter && ((i == 0 && rule->letter) ||
                        !(tcall_is_digit_(name[i]) || name[i] == '-' ||
                          (name[i] != ' ' && strchr(rule->more, name[i])))))
            return false;
    }
    return i > 0 && i <= rule->max;
}

TCALL_APART_ static void tcall_lint_name_(tcall_lint_ *l,
                                          const tcall_tool *first)
{
    char text[TCALL_LINT_TEXT_];
    const char *name = l->tool->name ? l->tool->name : "";
    size_t i;
    tcall_lint_at_(l, "/name");
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_lint_rules_); i++) {
        const tcall_lint_rule_ *rule = &tcall_lint_rules_[i];
        tcall_writer w;
        if (tcall_lint_name_ok_(rule, name))
            continue;
        tcall_writer_init(&w, text, sizeof text);
        tcall_write_text(&w, "must be 1 to ");
        tcall_write_int(&w, rule->max);
        tcall_write_text(&w, " of A-Z a-z 0-9 _ -");
        tcall_write_text(&w, rule->more);
        tcall_write_text(&w,
                         rule->letter ? " and begin with a letter or _" : "");
        tcall_lint_tell_(l, "name", rule->provider, false,
                         tcall_slice_(text, w.fill));
    }
    for (; first < l->tool; first++)
        if (strcmp(first->name ? first->name : "", name) == 0) {
            tcall_lint_say_(l, "name", NULL, "another tool has this name");
            return;
        }
}

/* Appends a key of JSON text, quotes included, to the pointer. */
static void tcall_lint_key_(tcall_lint_ *l, const char *key)
{
    const char *end = tcall_text_skip_(key) - 1;
    while (++key < end)
        if (*key == '~' || *key == '/')
            tcall_write_text(&l->at, *key == '~' ? "~0" : "~1");
        else
            tcall_write_bytes(&l->at, key, 1);
}

enum { TCALL_LINT_LEVELS_ = 8 };

/* The pointer back at its first n bytes. */
static void tcall_lint_back_(tcall_lint_ *l, size_t n)
{
    l->at.len = n;
    l->at.fill = n < l->at.cap ? n : l->at.cap;
    l->at.error = n > l->at.cap ? TCALL_E_MEMORY : TCALL_OK;
}

/* Visits all parameters, those of parameters included. How many there are on
 * the first level; *nested: that there are further ones. */
TCALL_APART_ static int tcall_lint_parameters_(tcall_lint_ *l,
                                               const char *schema, bool *nested)
{
    struct {
        const char *next;
        size_t at; /* bytes of the pointer */
    } open[TCALL_LINT_LEVELS_];
    int depth = 0, count = 0;
    const char *p = tcall_view_get_(schema, "properties"), *items;
    tcall_lint_at_(l, "/parameters");
    open[0].next = p && *p == '{' ? tcall_text_next_(p + 1) : "";
    open[0].at = l->at.len;
    while (depth >= 0) {
        const char *key = open[depth].next;
        if (tcall_text_closes_(key)) {
            depth--;
            continue;
        }
        p = tcall_text_value_(key);
        open[depth].next = tcall_text_next_(tcall_text_skip_(p));
        count += depth == 0;
        tcall_lint_back_(l, open[depth].at);
        tcall_write_text(&l->at, "/properties/");
        tcall_lint_key_(l, key);
        items = tcall_view_get_(p, "description");
        if (!items || tcall_view_is_(items, ""))
            tcall_lint_say_(l, "parameter", NULL,
                            "has no description: say what it is, its unit and "
                            "its range");
        while ((items = tcall_view_get_(p, "items")) != NULL) {
            tcall_write_text(&l->at, "/items");
            p = items;
        }
        p = tcall_view_get_(p, "properties");
        if (p && *p == '{' && depth + 1 < TCALL_LINT_LEVELS_) {
            *nested = true;
            open[++depth].next = tcall_text_next_(p + 1);
            open[depth].at = l->at.len;
        }
    }
    return count;
}

TCALL_APART_ static void tcall_lint_description_(tcall_lint_ *l, int parameters,
                                                 bool nested)
{
    char text[TCALL_LINT_TEXT_];
    size_t tokens = tcall_lint_tokens(tcall_str_of(l->tool->description).len);
    size_t least = nested || parameters > 4 ? 25 : 10;
    size_t most = nested || parameters > 1 ? 40 : 20;
    tcall_writer w;
    tcall_lint_at_(l, "/description");
    if (tokens >= least && tokens <= most)
        return;
    tcall_writer_init(&w, text, sizeof text);
    tcall_write_text(&w, "has about ");
    tcall_write_int(&w, (long)tokens);
    tcall_write_text(&w, " tokens, should have ");
    tcall_write_int(&w, (long)least);
    tcall_write_text(&w, " to ");
    tcall_write_int(&w, (long)most);
    tcall_write_text(&w, ": what it does and when to use it");
    tcall_lint_tell_(l, "description", NULL, false, tcall_slice_(text, w.fill));
}

/* left: what the tools before have left of a provider's strict mode. */
TCALL_APART_ static void
tcall_lint_strict_(tcall_lint_ *l, const char *provider, tcall_strict *left)
{
    tcall_tool tool = *l->tool;
    tcall_strict one = *left;
    tcall_writer count;
    tool.strict = true;
    tcall_writer_init(&count, NULL, 0);
    if (!tcall_view(&count, &tool, &one))
        tcall_lint_tell_(l, "strict", provider, !l->tool->strict,
                         tcall_str_of("is sent without strict mode, which "
                                      "cannot say it or has reached a limit"));
    else if (l->tool->strict)
        *left = one;
}

TCALL_APART_ static void tcall_lint_refusal_(tcall_lint_ *l,
                                             const tcall_schema *s)
{
    char text[TCALL_LINT_TEXT_];
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text);
    tcall_write_schema_error(&w, s);
    tcall_lint_tell_(l, "schema", NULL, false, tcall_slice_(text, w.fill));
}

TCALL_APART_ static bool tcall_lint_schema_(tcall_lint_ *l, const char *text)
{
    tcall_schema s;
    tcall_lint_at_(l, "/parameters");
    if (!text) {
        if (!l->tool->allow_no_schema)
            tcall_lint_say_(l, "schema", NULL,
                            "is missing: nothing would be checked");
        return !l->tool->allow_no_schema;
    }
    if (tcall_schema_compile(&s, tcall_str_of(text), NULL, 0,
                             TCALL_DRAFT_2020) != TCALL_E_SCHEMA)
        return true;
    tcall_lint_refusal_(l, &s);
    return tcall_scan_whole_(tcall_str_of(text)) == TCALL_OK;
}

int tcall_lint(const tcall_tool *tools, size_t tool_count,
               void (*found)(void *user, const tcall_finding *finding),
               void *user)
{
    tcall_strict openai = {TCALL_STRICT_OPENAI, 999, 999, 999, false};
    tcall_strict anthropic = {TCALL_STRICT_ANTHROPIC, 20, 24, 16, false};
    tcall_lint_ l;
    size_t i;
    memset(&l, 0, sizeof l);
    l.found = found;
    l.user = user;
    for (i = 0; i < tool_count; i++) {
        const char *text = tools[i].parameters;
        bool nested = false;
        int parameters = 0;
        l.tool = &tools[i];
        tcall_lint_name_(&l, tools);
        if (tcall_lint_schema_(&l, text) && text) {
            parameters =
                tcall_lint_parameters_(&l, tcall_text_space_(text), &nested);
            tcall_lint_at_(&l, "/parameters");
            tcall_lint_strict_(&l, "openai", &openai);
            tcall_lint_strict_(&l, "anthropic", &anthropic);
        }
        tcall_lint_description_(&l, parameters, nested);
    }
    return l.count;
}

size_t tcall_lint_bytes(const tcall_provider *provider, const tcall_tool *tools,
                        size_t tool_count)
{
    char empty[8];
    tcall_block none;
    tcall_chat chat;
    tcall_ask ask;
    tcall_writer with, without;
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&none, empty, sizeof empty);
    tcall_chat_init(&chat, &none);
    ask.chat = &chat;
    ask.model = "";
    ask.allow = TCALL_EVERYTHING;
    tcall_writer_init(&without, NULL, 0);
    provider->write(provider, &without, &ask);
    ask.tools = tools;
    ask.tool_count = tool_count;
    tcall_writer_init(&with, NULL, 0);
    provider->write(provider, &with, &ask);
    return with.len - without.len;
}

#endif /* TOOLCALL_NO_LINT */

/* ==========================================================================
 * >>agent
 *
 * One turn is a walk through the states below. A step is one of them, or one
 * piece of the body that goes out or comes in, or one call.
 */

#ifndef TOOLCALL_NO_AGENT

enum {
    TCALL_AGENT_UNSET_,  /* tcall_agent_init was not called, or refused */
    TCALL_AGENT_IDLE_,   /* no turn */
    TCALL_AGENT_PAUSE_,  /* before the request is sent again */
    TCALL_AGENT_OPEN_,   /* count the request's bytes, connect */
    TCALL_AGENT_SEND_,   /* write the request */
    TCALL_AGENT_READ_,   /* read the answer */
    TCALL_AGENT_CALLS_,  /* run what it asks for, one call each step */
    TCALL_AGENT_PLANNED_ /* calls wait for tcall_agent_result */
};

/* What desc asks for and this program was built without, as a sentence. */
static const char *tcall_agent_left_out_(const tcall_agent_desc *desc)
{
    (void)desc;
#ifdef TOOLCALL_NO_PICK
    if (desc->pick_opts)
        return "pick_opts needs the chapter that TOOLCALL_NO_PICK leaves out";
#endif
#ifdef TOOLCALL_NO_TEXT_CALLS
    if (desc->text_calls)
        return "text_calls needs the chapter that TOOLCALL_NO_TEXT_CALLS "
               "leaves out";
#endif
#ifdef TOOLCALL_NO_RETRY
    if (desc->max_tries > 1)
        return "max_tries above 1 needs what TOOLCALL_NO_RETRY leaves out";
#endif
    return NULL;
}

/* What desc lacks, as a sentence, or NULL. */
static const char *tcall_agent_problem_(const tcall_agent_desc *desc)
{
    const tcall_transport *transport = &desc->transport;
    if (!desc->tc)
        return "tc is missing: set a tcall up with tcall_init and name it";
    if (!desc->tc->block.base)
        return "tc has no memory: tcall_init was not called, or it failed";
    if (!desc->provider)
        return "provider is missing: name one, such as &tcall_openai";
    if (!desc->model || !*desc->model)
        return "model is missing: give the name that the provider knows";
    if (!desc->provider->write || !desc->provider->paths)
        return "provider is empty: name one, such as &tcall_openai";
    if (!desc->path && !desc->provider->path)
        return "path is missing: this provider has none of its own";
    if (!transport->open || !transport->write || !transport->read ||
        !transport->close)
        return "transport is incomplete: open, write, read and close are "
               "required";
    if (desc->max_ms && !transport->now_ms)
        return "max_ms needs a clock: set transport.now_ms";
    return tcall_agent_left_out_(desc);
}

static void tcall_agent_defaults_(tcall_agent_desc *desc)
{
    const tcall_provider *provider = desc->provider;
    if (!desc->io_size)
        desc->io_size = 512;
    if (desc->max_rounds <= 0)
        desc->max_rounds = 8;
    if (desc->max_calls <= 0)
        desc->max_calls = 32;
    if (desc->max_tries <= 0)
        desc->max_tries = 3;
    if (!desc->max_wait_ms)
        desc->max_wait_ms = 60000;
    if (!desc->path)
        desc->path = desc->stream && provider->stream_path
                         ? provider->stream_path
                         : provider->path;
}

/* Bytes of the block are taken in multiples of 8, so that it stays aligned. */
static size_t tcall_agent_aligned_(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Where the path has to name the model, it is put together in the block. */
static int tcall_agent_set_path_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    const char *path = agent->desc.path, *hole = strchr(path, '{');
    const char *rest = hole ? strchr(hole, '}') : NULL;
    tcall_writer writer;
    if (!rest)
        return TCALL_OK;
    tcall_writer_init(&writer, tcall_block_gap_(block),
                      tcall_block_free_(block));
    tcall_write_bytes(&writer, path, (size_t)(hole - path));
    tcall_write_text(&writer, agent->desc.model);
    tcall_write_bytes(&writer, rest + 1, strlen(rest)); /* with its NUL */
    agent->desc.path = writer.buf;
    return tcall_block_grow_(block, tcall_agent_aligned_(writer.len))
               ? TCALL_OK
               : TCALL_E_MEMORY;
}

int tcall_agent_init(tcall_agent *agent, const tcall_agent_desc *desc)
{
    size_t reader_size = tcall_agent_aligned_(sizeof(tcall_reader));
    tcall_block *block;
    memset(agent, 0, sizeof *agent);
    agent->problem = tcall_agent_problem_(desc);
    if (agent->problem)
        return TCALL_E_USAGE;
    agent->desc = *desc;
    tcall_agent_defaults_(&agent->desc);
    agent->random = desc->seed;
    block = &desc->tc->block;
    if (tcall_agent_set_path_(agent) < 0)
        return TCALL_E_MEMORY;
    agent->reader = (tcall_reader *)(void *)tcall_block_gap_(block);
    agent->io = tcall_block_gap_(block) + reader_size;
    if (!tcall_block_grow_(block, reader_size) ||
        !tcall_block_room_(block, agent->desc.io_size) ||
        !tcall_block_grow_(block, tcall_agent_aligned_(agent->desc.io_size)))
        return TCALL_E_MEMORY;
    tcall_chat_init(&agent->chat, block);
    agent->state = TCALL_AGENT_IDLE_;
    return TCALL_OK;
}

static uint32_t tcall_agent_now_(const tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    return transport->now_ms ? transport->now_ms(transport->user) : 0;
}

/* Of what the conversation may use, a quarter is kept free for answers. */
static void tcall_agent_make_room_(tcall_agent *agent, size_t more)
{
    const tcall_block *block = &agent->desc.tc->block;
    size_t all = block->size - agent->chat.start - block->high;
    tcall_chat_make_room(&agent->chat, all / 4 + more);
}

#ifndef TOOLCALL_NO_PICK

/* Chooses the tools of this turn. Where there is no memory for that, all of
 * them are sent. */
static void tcall_agent_pick_(tcall_agent *agent, tcall_str text)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_picked picks[TCALL_AGENT_PICKS];
    int count, pinned = 0, i;
    if (!desc->pick_opts || desc->tc->desc.tool_count <= TCALL_AGENT_ALL)
        return;
    count =
        tcall_pick(desc->tc, text, desc->pick_opts, picks, TCALL_AGENT_PICKS);
    while (pinned < count && picks[pinned].pinned)
        pinned++;
    /* Where nothing fits, as for "yes", the tools of the turn before do. */
    if (count >= 0 && pinned == count && agent->pick_count > count)
        return;
    agent->picked = count >= 0;
    agent->pick_count = (uint8_t)(count > 0 ? count : 0);
    for (i = 0; i < count; i++)
        agent->picks[i] = picks[i].index;
}

#else

static void tcall_agent_pick_(const tcall_agent *agent, tcall_str text)
{
    (void)agent;
    (void)text;
}

#endif /* TOOLCALL_NO_PICK */

TCALL_APART_ static int tcall_agent_hear_(tcall_agent *agent, tcall_str text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_USER;
    item.text = text;
    tcall_agent_make_room_(agent, text.len);
    return tcall_chat_add(&agent->chat, &item);
}

int tcall_agent_say(tcall_agent *agent, tcall_str text)
{
    int error;
    if (agent->state != TCALL_AGENT_IDLE_)
        return TCALL_E_USAGE;
    error = tcall_agent_hear_(agent, text);
    if (error < 0)
        return error;
    tcall_agent_pick_(agent, text);
    agent->started = tcall_agent_now_(agent);
    agent->rounds = agent->calls = agent->tries = 0;
    agent->wait_ms = 0;
    agent->cancelled = agent->reconnected = false;
    agent->run = true;
    agent->state = TCALL_AGENT_OPEN_;
    return TCALL_OK;
}

void tcall_agent_cancel(tcall_agent *agent)
{
    agent->cancelled = true;
}

/* Returns why no further round may begin, or TCALL_OK. */
static int tcall_agent_over_(const tcall_agent *agent)
{
    uint32_t limit = agent->desc.max_ms;
    if (agent->cancelled)
        return TCALL_E_CANCELLED;
    if (limit && tcall_agent_now_(agent) - agent->started > limit)
        return TCALL_E_TIMEOUT;
    return TCALL_OK;
}

/* In the last round that is left the model has to answer in words. */
static bool tcall_agent_last_round_(const tcall_agent *agent)
{
    return agent->rounds + 1 >= agent->desc.max_rounds ||
           agent->calls >= agent->desc.max_calls;
}

static int tcall_agent_write_(tcall_agent *agent, tcall_writer *writer)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_ask ask;
    memset(&ask, 0, sizeof ask);
    ask.model = desc->model;
    ask.system = desc->system;
    ask.chat = &agent->chat;
    ask.tools = desc->tc->desc.tools;
    ask.tool_count = desc->tc->desc.tool_count;
    ask.picks = agent->picked ? agent->picks : NULL;
    ask.pick_count = agent->pick_count;
    ask.allow = desc->tc->desc.allow;
    ask.max_tokens = desc->max_tokens;
    ask.stream = desc->stream;
    ask.view = tcall_view;
    ask.describe = desc->variables ? tcall_describe : NULL;
    ask.describe_user = desc->variables;
    if (agent->run && tcall_agent_last_round_(agent))
        ask.choice = TCALL_CHOICE_NONE;
    desc->provider->write(desc->provider, writer, &ask);
    return tcall_writer_flush(writer);
}

/* Returns how many tools the model gets to see. */
static size_t tcall_agent_tools_(const tcall_agent *agent)
{
    const tcall_desc *desc = &agent->desc.tc->desc;
    size_t all = agent->picked ? agent->pick_count : desc->tool_count;
    size_t count = 0, i;
    for (i = 0; i < all; i++) {
        size_t index = agent->picked ? agent->picks[i] : i;
        count += tcall_enabled(&desc->tools[index], desc->allow);
    }
    return count;
}

static void tcall_agent_add_header_(tcall_agent *agent, const char *name,
                                    const char *value, const char *secret)
{
    tcall_header *header = &agent->headers[agent->request.header_count];
    if (!name)
        return;
    header->name = name;
    header->value = value;
    header->secret = secret;
    agent->request.header_count++;
}

static void tcall_agent_set_request_(tcall_agent *agent, size_t body_len)
{
    const tcall_provider *provider = agent->desc.provider;
    tcall_request *request = &agent->request;
    memset(request, 0, sizeof *request);
    request->method = "POST";
    request->path = agent->desc.path;
    request->headers = agent->headers;
    request->body_len = body_len;
    tcall_agent_add_header_(agent, "Content-Type", "application/json", NULL);
    tcall_agent_add_header_(agent, provider->version[0], provider->version[1],
                            NULL);
    if (agent->desc.key)
        tcall_agent_add_header_(agent, provider->key_header,
                                provider->key_prefix, agent->desc.key);
}

/* The functions below whose frame is large are never inlined: their frames
 * would lie on the stack while a tool runs. */

TCALL_APART_ static int tcall_agent_open_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    tcall_writer counter;
    tcall_event event;
    int result;
    tcall_agent_make_room_(agent, 0);
    tcall_writer_init(&counter, NULL, 0);
    result = tcall_agent_write_(agent, &counter);
    if (result < 0)
        return result;
    tcall_agent_set_request_(agent, counter.len);
    memset(&agent->response, 0, sizeof agent->response);
    agent->response.retry_after_ms = -1;
    agent->opened = true;
    result =
        transport->open(transport->user, &agent->request, &agent->response);
    if (result < 0)
        return result;
    memset(&event, 0, sizeof event);
    event.bytes = counter.len;
    event.tools = tcall_agent_tools_(agent);
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_REQUEST);
    agent->sent = agent->received = 0;
    agent->state = TCALL_AGENT_SEND_;
    return TCALL_E_AGAIN;
}

static int tcall_agent_sink_(void *user, const char *bytes, size_t len)
{
    tcall_agent *agent = (tcall_agent *)user;
    const tcall_transport *transport = &agent->desc.transport;
    int accepted = transport->write(transport->user, bytes, len);
    if (accepted > 0)
        agent->sent += (size_t)accepted;
    return accepted;
}

static void tcall_agent_text_piece_(void *user, tcall_str piece)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.text = piece;
    tcall_tell_((tcall *)user, &event, TCALL_EVENT_TEXT);
}

static void tcall_agent_call_piece_(void *user, const tcall_item *piece)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.item = piece;
    tcall_tell_((tcall *)user, &event, TCALL_EVENT_PIECE);
}

/* Where the transport paused, the request is written again and what has been
 * sent is skipped: nothing of it is ever held. */
TCALL_APART_ static int tcall_agent_send_(tcall_agent *agent)
{
    tcall *tc = agent->desc.tc;
    tcall_writer writer;
    int result;
    tcall_writer_init(&writer, agent->io, agent->desc.io_size);
    tcall_writer_sink(&writer, tcall_agent_sink_, agent);
    writer.skip = agent->sent;
    result = tcall_agent_write_(agent, &writer);
    if (result < 0)
        return result;
    if (agent->sent != agent->request.body_len)
        return TCALL_E_USAGE;
    agent->answer_at = tc->block.low - agent->chat.start;
    tcall_reader_init(agent->reader, agent->desc.provider, &agent->chat,
                      tcall_agent_text_piece_, tc);
    agent->reader->call = tcall_agent_call_piece_;
    agent->state = TCALL_AGENT_READ_;
    return TCALL_E_AGAIN;
}

/* A server may repeat the key in its complaint: runs of at least so many
 * characters of it are made unreadable. */
enum { TCALL_KEY_RUN_ = 8 };

static void tcall_agent_hide_key_(char *text, const char *key)
{
    for (; key && *key && *text; text++) {
        size_t run = 0;
        while (key[run] && text[run] == key[run])
            run++;
        if (run >= TCALL_KEY_RUN_ || !key[run])
            memset(text, '*', run);
    }
}

/* Takes the answer over from the reader and returns what is wrong with it, or
 * TCALL_OK. */
static int tcall_agent_judge_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    int result = tcall_reader_end(agent->reader), status;
    if (result == TCALL_OK && desc->text_calls)
        result = tcall_text_calls(agent->reader);
    agent->answer = agent->reader->answer;
    tcall_agent_hide_key_(agent->answer.message, desc->key);
    tcall_agent_hide_key_(agent->answer.stop_text, desc->key);
    if (agent->response.retry_after_ms < 0)
        agent->response.retry_after_ms = agent->answer.wait_ms;
    /* With an error status no body is an answer, whatever it looks like. */
    status = tcall_answer_error(&agent->answer, agent->response.status);
    if (status < 0)
        return status;
    /* Results of calls whose reasoning is lost could not be sent back. */
    if (agent->run && agent->answer.calls && agent->answer.unkept)
        return TCALL_E_MEMORY;
    return result;
}

/* The answer is complete: goes on with its calls, or ends the turn. */
TCALL_APART_ static int tcall_agent_answered_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    tcall_event event;
    int error = tcall_agent_judge_(agent);
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = agent->response.status;
    event.bytes = agent->received;
    event.text = tcall_str_of(agent->answer.message);
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_ANSWER);
    if (error < 0)
        return error;
    transport->close(transport->user);
    agent->opened = agent->reconnected = false;
    agent->rounds++;
    agent->tries = 0;
    agent->call_at = 0;
    agent->state = !agent->answer.calls ? TCALL_AGENT_IDLE_
                   : agent->run         ? TCALL_AGENT_CALLS_
                                        : TCALL_AGENT_PLANNED_;
    return agent->state == TCALL_AGENT_CALLS_ ? TCALL_E_AGAIN : TCALL_OK;
}

TCALL_APART_ static int tcall_agent_read_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    int count =
        transport->read(transport->user, agent->io, agent->desc.io_size);
    int error;
    if (count == 0)
        return tcall_agent_answered_(agent);
    if (count < 0)
        return count;
    agent->received += (size_t)count;
    error = tcall_reader_feed(agent->reader, agent->io, (size_t)count);
    /* An error page is not in the provider's format: read on for its words. */
    if (error < 0 && agent->response.status < 300)
        return tcall_agent_answered_(agent);
    return TCALL_E_AGAIN;
}

/* Finds the index-th call of the last answer. */
static bool tcall_agent_find_call_(const tcall_agent *agent, int index,
                                   tcall_item *item)
{
    size_t at = agent->answer_at;
    while (tcall_chat_next(&agent->chat, &at, item))
        if (item->kind == TCALL_ITEM_CALL && index-- == 0)
            return true;
    return false;
}

/* The call as it came, not hydrated yet. */
TCALL_APART_ static bool tcall_agent_asked_(const tcall_agent *agent, int index,
                                            tcall_call *call)
{
    tcall_item item;
    memset(call, 0, sizeof *call);
    if (!tcall_agent_find_call_(agent, index, &item))
        return false;
    call->id = item.id;
    call->name = item.name;
    call->arguments = item.text;
    call->cut = item.error;
    call->provider = agent->desc.provider->name;
    return true;
}

int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call)
{
    bool answered = agent->state == TCALL_AGENT_CALLS_ ||
                    agent->state == TCALL_AGENT_PLANNED_;
    if (!answered || index < 0 || !tcall_agent_asked_(agent, index, call))
        return TCALL_E_USAGE;
    return tcall_hydrate(agent->desc.tc, call);
}

static int tcall_agent_add_result_(tcall_agent *agent, const tcall_call *call,
                                   tcall_str text, bool error)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_RESULT;
    item.id = call->id;
    item.name = call->name;
    item.text = text;
    item.error = error;
    return tcall_chat_add(&agent->chat, &item);
}

int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                       tcall_str text, bool error)
{
    int result;
    if (agent->state != TCALL_AGENT_PLANNED_)
        return TCALL_E_USAGE;
    result = tcall_agent_add_result_(agent, call, text, error);
    if (result < 0)
        return result;
    if (++agent->call_at == (size_t)agent->answer.calls) {
        agent->run = true;
        agent->state = TCALL_AGENT_OPEN_;
    }
    return TCALL_OK;
}

/* Has one of the first count calls of the batch the same id as the next? */
static bool tcall_agent_same_id_(const tcall_agent *agent, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (tcall_str_eq(agent->batch[i].id, agent->batch[count].id))
            return true;
    return false;
}

/* Room for so many calls at a time: in the block, or for one in the agent. */
static int tcall_agent_batch_room_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    int left = agent->answer.calls - (int)agent->call_at;
    int count = agent->desc.parallel < left ? agent->desc.parallel : left;
    agent->batch_high = block->high;
    agent->batch = NULL;
    if (count > 1)
        agent->batch = (tcall_call *)tcall_block_take_(
            block, (size_t)count * sizeof *agent->batch);
    if (agent->batch)
        return count;
    agent->batch = &agent->call;
    return 1;
}

/* Takes up the calls that come next, as many as may be under way. */
TCALL_APART_ static void tcall_agent_batch_(tcall_agent *agent)
{
    int room = tcall_agent_batch_room_(agent), count;
    for (count = 0; count < room; count++) {
        tcall_call *call = &agent->batch[count];
        int error = tcall_agent_call(agent, (int)agent->call_at + count, call);
        /* One that has the id of another, or no memory beside it, waits until
         * those before it are done. */
        if (tcall_agent_same_id_(agent, count) ||
            (error == TCALL_E_MEMORY && count > 0)) {
            tcall_release(agent->desc.tc, call);
            break;
        }
        if (++agent->calls > agent->desc.max_calls)
            tcall_cancel(call, TCALL_E_LIMIT);
    }
    agent->batch_count = count;
    agent->delivered = agent->turn = agent->waiting = 0;
}

/* Moves the results that are next in order to the chat: text is that of the
 * first, those after it were kept. */
static int tcall_agent_deliver_(tcall_agent *agent, tcall_str text)
{
    while (agent->delivered < agent->batch_count) {
        const tcall_call *call = &agent->batch[agent->delivered];
        int error;
        if (call->cx.state != TCALL_DONE_)
            break;
        error = tcall_agent_add_result_(agent, call, text, call->error < 0);
        if (error < 0)
            return error;
        if (++agent->delivered < agent->batch_count)
            text = agent->batch[agent->delivered].cx.result.output;
    }
    return TCALL_OK;
}

/* Gives one call of the batch its turn. The result is written where its item
 * will lie, and kept in the block if others come before it. */
TCALL_APART_ static int tcall_agent_turn_(tcall_agent *agent, int over)
{
    tcall *tc = agent->desc.tc;
    tcall_block *block = &tc->block;
    tcall_call *call = &agent->batch[agent->turn];
    size_t head = TCALL_HEAD_ + call->id.len + call->name.len, room;
    tcall_writer out;
    int result;
    if (over < 0)
        tcall_cancel(call, over);
    if (!tcall_block_room_(block, head))
        return TCALL_E_MEMORY;
    /* A quarter of what is free is for the call itself. */
    room = tcall_block_free_(block) - head;
    room -= room / 4;
    tcall_writer_init(&out, tcall_block_gap_(block) + head, room);
    block->low += head + room;
    result = tcall_invoke(tc, call, &out);
    block->low -= head + room;
    if (out.error == TCALL_E_MEMORY) /* only to say how much would do */
        tcall_block_room_(block, head + out.len + out.len / 3 + 8);
    if (tcall_waits_(result))
        return result;
    if (out.error)
        return out.error;
    if (agent->turn == agent->delivered)
        return tcall_agent_deliver_(agent, tcall_slice_(out.buf, out.fill));
    return tcall_keep_(&call->cx, call->cx.result.output,
                       &call->cx.result.output);
}

/* Turns to the next call of the batch that is not done. Only where all of
 * them wait for approval, so does the turn. */
static int tcall_agent_rotate_(tcall_agent *agent, int result)
{
    int open = 0, i;
    for (i = 0; i < agent->batch_count; i++)
        open += agent->batch[i].cx.state != TCALL_DONE_;
    do
        agent->turn = (agent->turn + 1) % agent->batch_count;
    while (agent->batch[agent->turn].cx.state == TCALL_DONE_);
    agent->waiting = result == TCALL_E_APPROVAL ? agent->waiting + 1 : 0;
    if (agent->waiting < open)
        return TCALL_E_AGAIN;
    agent->waiting = 0;
    return TCALL_E_APPROVAL;
}

/* All of the batch have their results: takes up the next calls, or begins the
 * next round. */
static int tcall_agent_batch_done_(tcall_agent *agent, int over)
{
    agent->call_at += (size_t)agent->batch_count;
    agent->batch_count = 0;
    agent->desc.tc->block.high = agent->batch_high;
    if (agent->call_at < (size_t)agent->answer.calls)
        return TCALL_E_AGAIN;
    if (over < 0)
        return over;
    agent->state = TCALL_AGENT_OPEN_;
    return agent->rounds < agent->desc.max_rounds ? TCALL_E_AGAIN
                                                  : TCALL_E_LIMIT;
}

TCALL_APART_ static int tcall_agent_run_call_(tcall_agent *agent)
{
    int over = tcall_agent_over_(agent), result;
    if (!agent->batch_count)
        tcall_agent_batch_(agent);
    result = tcall_agent_turn_(agent, over);
    if (result < 0 && !tcall_waits_(result))
        return result;
    return agent->delivered < agent->batch_count
               ? tcall_agent_rotate_(agent, result)
               : tcall_agent_batch_done_(agent, over);
}

/* Calls that are under way come to their end, whatever becomes of the turn:
 * what they hold is released. Nobody reads their results. */
TCALL_APART_ static void tcall_agent_drop_calls_(tcall_agent *agent)
{
    char none[1];
    tcall_writer out;
    int i;
    for (i = 0; i < agent->batch_count; i++) {
        tcall_call *call = &agent->batch[i];
        if (!call->cx.state || call->cx.state == TCALL_DONE_)
            continue;
        tcall_writer_init(&out, none, 0);
        tcall_cancel(call, TCALL_E_CANCELLED);
        tcall_invoke(agent->desc.tc, call, &out);
    }
    if (agent->batch_count)
        agent->desc.tc->block.high = agent->batch_high;
    agent->batch_count = 0;
}

/* Ends the exchange, and forgets what came of an answer. */
static void tcall_agent_leave_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    if (agent->opened)
        transport->close(transport->user);
    agent->opened = false;
    if (agent->state == TCALL_AGENT_READ_)
        agent->desc.tc->block.low = agent->chat.start + agent->answer_at;
}

#ifndef TOOLCALL_NO_RETRY

/* The wait doubles from the first to the last. */
enum { TCALL_BACKOFF_FIRST_MS_ = 500, TCALL_BACKOFF_DOUBLINGS_ = 4 };

/* Can sending the request again help? Not where an answer had begun well:
 * somebody may have seen it. */
static bool tcall_agent_retry_helps_(const tcall_agent *agent, int error)
{
    const tcall_response *response = &agent->response;
    int status = response->status;
    if (!status)
        return error == TCALL_E_CLOSED || error == TCALL_E_CONNECT ||
               error == TCALL_E_RESOLVE ||
               (error == TCALL_E_TIMEOUT && agent->state == TCALL_AGENT_OPEN_);
    if (status < 400)
        return false;
    if (response->should_retry)
        return response->should_retry > 0;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

/* Returns 16 random bits. Devices that failed together should not come back
 * together; without a seed they differ by when they ask. */
static uint32_t tcall_agent_chance_(tcall_agent *agent)
{
    uint32_t bits;
    agent->random += agent->desc.seed ? 0x9E3779B9u : tcall_agent_now_(agent);
    bits = agent->random;
    bits = (bits ^ bits >> 16) * 0x45D9F3Bu;
    bits = (bits ^ bits >> 16) * 0x45D9F3Bu;
    return bits >> 16;
}

/* Half of the wait is fixed, up to another half is chance. */
static uint32_t tcall_agent_backoff_(tcall_agent *agent)
{
    int doublings = agent->tries - 1;
    uint32_t half;
    if (doublings > TCALL_BACKOFF_DOUBLINGS_)
        doublings = TCALL_BACKOFF_DOUBLINGS_;
    half = (uint32_t)TCALL_BACKOFF_FIRST_MS_ / 2 << doublings;
    return half + (tcall_agent_chance_(agent) * half >> 16);
}

/* Returns the milliseconds to wait before the request is sent again, or the
 * error where it is not. */
static long tcall_agent_retry_wait_(tcall_agent *agent, int error)
{
    const tcall_agent_desc *desc = &agent->desc;
    long told = agent->response.retry_after_ms;
    uint32_t ms = told < 0 ? tcall_agent_backoff_(agent) : (uint32_t)told;
    uint32_t spent = tcall_agent_now_(agent) - agent->started;
    ms = ms < desc->max_wait_ms ? ms : desc->max_wait_ms;
    if (!tcall_agent_retry_helps_(agent, error) || !desc->transport.now_ms ||
        agent->tries >= desc->max_tries ||
        (desc->max_ms && spent + ms >= desc->max_ms))
        return error;
    return (long)ms;
}

#else

static long tcall_agent_retry_wait_(const tcall_agent *agent, int error)
{
    (void)agent;
    return error;
}

#endif /* TOOLCALL_NO_RETRY */

/* Tells of the next try and begins the wait before it. */
static void tcall_agent_pause_(tcall_agent *agent, int error, uint32_t ms)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = agent->response.status;
    event.ms = agent->pause = agent->wait_ms = ms;
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_RETRY);
    agent->pause_began = tcall_agent_now_(agent);
    agent->state = TCALL_AGENT_PAUSE_;
}

/* After an error: TCALL_E_AGAIN when the request will be sent again, else the
 * error. A connection that was dead when it was reused is replaced at once,
 * which does not count as a try. */
TCALL_APART_ static int tcall_agent_retry_(tcall_agent *agent, int error)
{
    const tcall_response *response = &agent->response;
    bool dead = error == TCALL_E_CLOSED && !response->status &&
                response->retry_after_ms == 0 && !agent->reconnected;
    long ms = 0;
    if (!agent->opened || tcall_agent_over_(agent) < 0)
        return error;
    if (dead) {
        agent->reconnected = true;
    } else {
        agent->tries++;
        ms = tcall_agent_retry_wait_(agent, error);
    }
    if (ms < 0)
        return error;
    tcall_agent_leave_(agent);
    tcall_agent_pause_(agent, error, (uint32_t)ms);
    return TCALL_E_AGAIN;
}

static int tcall_agent_wait_(tcall_agent *agent)
{
    uint32_t spent =
        agent->pause ? tcall_agent_now_(agent) - agent->pause_began : 0;
    agent->wait_ms = spent < agent->pause ? agent->pause - spent : 0;
    if (!agent->wait_ms)
        agent->state = TCALL_AGENT_OPEN_;
    return TCALL_E_AGAIN;
}

/* An error ends the turn. What it added to the conversation stays as far as it
 * is whole: calls without results are taken back, and so is a question that
 * nobody answered. */
TCALL_APART_ static void tcall_agent_undo_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t at = 0, next = 0, last = 0;
    tcall_item item;
    if ((agent->state == TCALL_AGENT_CALLS_ ||
         agent->state == TCALL_AGENT_PLANNED_) &&
        agent->call_at < (size_t)agent->answer.calls)
        block->low = agent->chat.start + agent->answer_at;
    item.kind = TCALL_ITEM_TEXT;
    for (; tcall_chat_next(&agent->chat, &next, &item); at = next)
        last = at;
    if (item.kind == TCALL_ITEM_USER)
        block->low = agent->chat.start + last;
}

static int tcall_agent_end_(tcall_agent *agent, int error)
{
    tcall_agent_leave_(agent);
    tcall_agent_drop_calls_(agent);
    tcall_agent_undo_(agent);
    agent->state = TCALL_AGENT_IDLE_;
    agent->wait_ms = 0;
    return error;
}

/* Does the work of the state. Calls that are under way look at limits
 * themselves: each of them has to get a result. */
static int tcall_agent_work_(tcall_agent *agent)
{
    int over;
    if (agent->state == TCALL_AGENT_CALLS_)
        return tcall_agent_run_call_(agent);
    over = tcall_agent_over_(agent);
    if (over < 0)
        return over;
    switch (agent->state) {
    case TCALL_AGENT_PAUSE_: return tcall_agent_wait_(agent);
    case TCALL_AGENT_OPEN_: return tcall_agent_open_(agent);
    case TCALL_AGENT_SEND_: return tcall_agent_send_(agent);
    default: return tcall_agent_read_(agent);
    }
}

int tcall_agent_step(tcall_agent *agent)
{
    int result;
    if (agent->state == TCALL_AGENT_UNSET_ ||
        agent->state == TCALL_AGENT_IDLE_ ||
        (agent->state == TCALL_AGENT_PLANNED_ && !agent->cancelled))
        return TCALL_E_USAGE;
    result = tcall_agent_work_(agent);
    if (result < 0 && !tcall_waits_(result))
        result = tcall_agent_retry_(agent, result);
    if (result < 0 && !tcall_waits_(result))
        return tcall_agent_end_(agent, result);
    return result;
}

static int tcall_agent_finish_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    int result;
    while ((result = tcall_agent_step(agent)) == TCALL_E_AGAIN)
        if (agent->wait_ms && transport->wait)
            transport->wait(transport->user, agent->wait_ms);
    return result;
}

int tcall_agent_run(tcall_agent *agent, tcall_str text)
{
    int error = tcall_agent_say(agent, text);
    return error < 0 ? error : tcall_agent_finish_(agent);
}

int tcall_agent_plan(tcall_agent *agent, tcall_str text)
{
    int error = tcall_agent_say(agent, text);
    if (error < 0)
        return error;
    agent->run = false;
    error = tcall_agent_finish_(agent);
    return error < 0 ? error : agent->answer.calls;
}

tcall_str tcall_agent_text(const tcall_agent *agent)
{
    tcall_str text = tcall_slice_(NULL, 0);
    tcall_item item;
    size_t at = 0;
    if (agent->state == TCALL_AGENT_UNSET_)
        return text;
    while (tcall_chat_next(&agent->chat, &at, &item))
        if (item.kind == TCALL_ITEM_TEXT)
            text = item.text;
        else if (item.kind == TCALL_ITEM_USER)
            text = tcall_slice_(NULL, 0);
    return text;
}

#endif /* TOOLCALL_NO_AGENT */

#ifdef __cplusplus
}
#endif
#endif /* TOOLCALL_IMPLEMENTATION */
