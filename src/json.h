#pragma once
#include "scan.h"

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
/* Its frame shall not count where it is not at work. */
#define TCALL_APART_ __attribute__((noinline))
#else
#define TCALL_UNUSED_
#define TCALL_APART_
#endif
/* Where memory is dear, second ways that only save time are left out. */
#ifdef __OPTIMIZE_SIZE__
#define TCALL_LEAN_ 1
#else
#define TCALL_LEAN_ 0
#endif
/* Registers of eight bytes, the first of which is the lowest. */
#if defined(__LP64__) && defined(__BYTE_ORDER__) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TCALL_WIDE_
#endif

/* clang-format on */
