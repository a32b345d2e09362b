#pragma once
#include "json.h"

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

/* A row of tool.fields: where an argument is stored. */
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
