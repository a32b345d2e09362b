#pragma once
#include "base.h"

/* ==========================================================================
 * >>shape: what may come and where it goes
 *
 * A shape says of a JSON value which types, bounds, words and members it may
 * have, and where in a C struct it goes. Shapes are const nodes that stay in
 * flash. One list makes the struct and its shape at compile time; the JSON
 * Schema that a model sees is written from the shape, so what is sent and what
 * is checked cannot differ.
 *
 *     #define UNIT(WORD, me) WORD(me, celsius) WORD(me, kelvin)
 *     TCALL_CHOICE(unit, UNIT)
 *
 *     #define WEATHER(ROW, me)                                            \
 *         ROW(me, required, text(1, 40), city, "The city to look at")     \
 *         ROW(me, required, choice(unit), unit, "Unit of the answer")     \
 *         ROW(me, defaults(3), integer(1, 7), days, "Days ahead")         \
 *         ROW(me, optional, list(limits), limits, "Temperatures to watch")
 *     TCALL_SHAPE(weather, WEATHER)
 *
 * gives enum { unit_celsius, unit_kelvin }, struct weather { ... char city[41];
 * uint8_t unit; int32_t days; struct limits limits; } and weather_shape. What a
 * kind names must be made before it is used: TCALL_CHOICE (TCALL_CHOICE_AS for
 * words that are no names in C: WORD(me, one_hour, "1 hour")), TCALL_LIST(NAME,
 * kind, min, max), or TCALL_SHAPE for an object. TCALL_OPEN_SHAPE makes an
 * object whose unknown members are read over, TCALL_OPEN_LIST(NAME, kind, min,
 * room) a list that has no maximum in the schema. TCALL_EMPTY_SHAPE(NAME) and
 * TCALL_OPEN_EMPTY_SHAPE(NAME) are objects without members.
 *
 * Roles: required; optional, zero where absent; defaults(value), which the
 * kind's bounds must allow, or it does not compile. Kinds, and what becomes of
 * them in the struct:
 *
 *     boolean                  bool
 *     integer(low, high)       int32_t
 *     integer64(low, high)     int64_t
 *     fixed(digits, low, high) int32_t: 21.5 with 2 digits is 2150, and further
 *                              digits are cut off; low and high are written as
 *                              21.5 is; digits is 1 to 6. Where double has
 *                              four bytes, as on an AVR, bounds of more than
 *                              4,194,304 units are rounded
 *     number(low, high)        double; low, high and a default have at most 6
 *                              decimals
 *     text(min, max)           char[max + 1], ended by NUL: min to max
 *                              characters; of more than max bytes, as é has
 *                              two, there is no room for all
 *     characters(min, max)     char[4 * max + 1]: the same, with room for any
 *     characters_in(min, max, room)
 *                              char[room + 1]: the same with room bytes
 *     string(min, room)        char[room + 1]: no maximum in the schema, but
 *                              there is no room for more than room bytes
 *     choice(NAME)             uint8_t, the index of the word
 *     list(NAME)               struct NAME { uint16_t count; T items[max]; }
 *     object(NAME)             struct NAME
 *     json(room)               char[room + 1]: any value as its JSON text
 *     one_of(TYPES, room)      the same for the types of a set, such as
 *                              TCALL_SHAPE_STRING | TCALL_SHAPE_NUMBER
 *     over(kind)               as kind, number or integer64, but more than low
 *     under(kind)              the same, but less than high
 *     or_null(kind)            as kind; null counts as not given
 *     named("as-sent", kind)   as kind; the member's name in JSON is the text
 *
 * What no value can meet does not compile, nor does a bound that its type does
 * not hold, of numbers one beyond 9e12, or a name that two members are sent by.
 * A bound of INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, TCALL_NO_MINIMUM or
 * TCALL_NO_MAXIMUM is not said in the schema. Descriptions are plain texts. At
 * most 64 members. What the struct is at first lies in flash and is as large as
 * the struct itself, with all the room of its lists and texts. build/shapes
 * makes all this of JSON Schema.
 * TCALL_GIVEN(&args, weather, days) returns whether a member came with a value,
 * TCALL_CAME whether it came at all, be it as null.
 */

/* The JSON types that a value may have, as a set. */
enum {
    TCALL_SHAPE_NULL = 1,
    TCALL_SHAPE_BOOLEAN = 2,
    TCALL_SHAPE_INTEGER = 4, /* a number without a fraction, also 5.0 */
    TCALL_SHAPE_NUMBER = 8,
    TCALL_SHAPE_STRING = 16,
    TCALL_SHAPE_ARRAY = 32,
    TCALL_SHAPE_OBJECT = 64,
    TCALL_SHAPE_ANY = 127
};

/* What becomes of a value. */
typedef enum tcall_shape_kind {
    TCALL_KIND_ANY, /* nothing: it is only read over */
    TCALL_KIND_BOOLEAN,
    TCALL_KIND_INTEGER,   /* also fixed */
    TCALL_KIND_INTEGER64, /* more: its tcall_range */
    TCALL_KIND_NUMBER,    /* more: its tcall_range, in millionths */
    TCALL_KIND_TEXT,
    TCALL_KIND_CHOICE, /* more: its words, "a\0b\0" */
    TCALL_KIND_LIST,   /* more: the tcall_shape of an item */
    TCALL_KIND_OBJECT, /* more: its tcall_object */
    TCALL_KIND_JSON,
    TCALL_KIND_HOLE, /* the decoder asks its caller, who fills in another */
    TCALL_KIND_ROWS_ /* a tcall_node: rows say what else is asked of it */
} tcall_shape_kind;

/* What else is known of a value. */
enum {
    TCALL_MEMBER_REQUIRED = 1,
    TCALL_MEMBER_DEFAULT = 2, /* the initial struct holds its default */
    TCALL_MEMBER_UNSAID = 8,  /* the schema does not say high */
    TCALL_MEMBER_OTHERS = 16, /* choice: other words are 255, no fault */
    TCALL_MEMBER_OVER = 32,   /* a number must be more than low, */
    TCALL_MEMBER_UNDER = 64   /* or less than high */
};

/* offset of a value that is checked and kept nowhere. */
#define TCALL_NOWHERE 0xFFFF

/* One value of a shape: what it may be and where it is stored. The macros below
 * write it. */
typedef struct tcall_shape {
    uint8_t types;    /* set of TCALL_SHAPE_... */
    uint8_t kind;     /* tcall_shape_kind */
    uint8_t digits;   /* integer: digits after the point that count; list:
                         offset of the items in its struct */
    uint8_t flags;    /* set of TCALL_MEMBER_... */
    uint16_t size;    /* text, json: bytes of the member; list: of an item */
    uint16_t offset;  /* of the member in its struct */
    int32_t low;      /* of the value in units of its last digit, of */
    int32_t high;     /* characters or items; choice: index of the last word */
    const void *more; /* see tcall_shape_kind */
} tcall_shape;

/* Texts are lists in one string, "a\0b\0": pointers to each would have to be in
 * RAM on an AVR. A struct begins with two sets of bits, one bit a member: those
 * given, and those that came. */
typedef struct tcall_object {
    const char *names;
    const char *descriptions;
    const tcall_shape *members;
    const void *initial; /* the struct before anything is read */
    uint16_t size;       /* of the struct */
    uint8_t count;       /* of the members */
    bool open;           /* unknown members are read over, not refused */
} tcall_object;

struct tcall_num_;

/* The bounds of a wide number, in units of its last digit, and what stores it,
 * so that a program without doubles does not link their arithmetic. */
typedef struct tcall_range {
    int64_t low, high;
    int64_t initial; /* of a member of kind number its default, in millionths */
    bool (*store)(void *to, const struct tcall_num_ *number);
} tcall_range;

#ifndef TOOLCALL_NO_INT64
/* Stores the nearest double. Returns false where there is none. */
TCALL_API bool tcall_store_double_(void *to, const struct tcall_num_ *number);
#endif

/* Bounds of a number that has none. */
#define TCALL_NO_MINIMUM (-1e30)
#define TCALL_NO_MAXIMUM 1e30

/* Whether a member came with a value, and whether it came at all; me is the
 * name of the shape. */
#define TCALL_BIT_OF_(set, index) ((set)[(index) / 8] >> (index) % 8 & 1)
#define TCALL_GIVEN(args, me, member) \
    (TCALL_BIT_OF_((args)->given_, me##_at_##member) != 0)
#define TCALL_CAME(args, me, member) \
    (TCALL_BIT_OF_((args)->came_, me##_at_##member) != 0)

/* clang-format off */

/* The struct me and its shape me_shape, from rows as above; an open one reads
 * over members that it does not know. */
#define TCALL_SHAPE(me, ROWS)      TCALL_SHAPE_MAKE_(me, ROWS, false)
#define TCALL_OPEN_SHAPE(me, ROWS) TCALL_SHAPE_MAKE_(me, ROWS, true)
#define TCALL_SHAPE_MAKE_(me, ROWS, is_open)                                  \
    enum { ROWS(TCALL_ROW_INDEX_, me) me##_member_count };                    \
    struct me {                                                               \
        uint8_t given_[(me##_member_count + 7) / 8];                          \
        uint8_t came_[(me##_member_count + 7) / 8];                           \
        ROWS(TCALL_ROW_MEMBER_, me)                                           \
    };                                                                        \
    TCALL_HOLDS_(me##_has_more_than_64_members, me##_member_count <= 64)      \
    TCALL_HOLDS_(me##_has_more_than_65535_bytes, sizeof(struct me) <= 65535)  \
    ROWS(TCALL_ROW_HOLDS_, me)                                                \
    ROWS(TCALL_ROW_ALONE_, (me, ROWS(TCALL_ROW_LABEL_, me) TCALL_NO_LABELS_)) \
    static const char me##_names_[] TCALL_FLASH_ = ROWS(TCALL_ROW_NAME_, me); \
    static const char me##_descriptions_[] TCALL_FLASH_ =                     \
        ROWS(TCALL_ROW_TEXT_, me);                                            \
    static const struct me me##_initial_ TCALL_FLASH_ = {                     \
        TCALL_NONE_GIVEN_ ROWS(TCALL_ROW_INITIAL_, me)};                      \
    TCALL_UNUSED_ static const struct {                                       \
        char none_; ROWS(TCALL_ROW_RANGE_, me)                                \
    } me##_ranges_ TCALL_FLASH_ = {0 ROWS(TCALL_ROW_BOUNDS_, me)};            \
    static const tcall_shape me##_members_[] TCALL_FLASH_ = {                 \
        ROWS(TCALL_ROW_NODE_, me)};                                           \
    TCALL_UNUSED_ static const tcall_object me##_shape TCALL_FLASH_ = {       \
        me##_names_, me##_descriptions_, me##_members_, &me##_initial_,       \
        sizeof(struct me), me##_member_count, is_open};

/* C has no arrays of nothing, so an object without members is made alone. */
#define TCALL_EMPTY_SHAPE(me)      TCALL_EMPTY_SHAPE_MAKE_(me, false)
#define TCALL_OPEN_EMPTY_SHAPE(me) TCALL_EMPTY_SHAPE_MAKE_(me, true)
#define TCALL_EMPTY_SHAPE_MAKE_(me, is_open)                                  \
    struct me {                                                               \
        char none_;                                                           \
    };                                                                        \
    static const char me##_names_[] TCALL_FLASH_ = "";                        \
    static const struct me me##_initial_ TCALL_FLASH_ = {0};                  \
    TCALL_UNUSED_ static const tcall_object me##_shape TCALL_FLASH_ = {       \
        me##_names_, me##_names_, NULL, &me##_initial_, sizeof(struct me), 0, \
        is_open};

/* The words of choice(me): an enum and their texts. */
#define TCALL_CHOICE(me, WORDS)                                               \
    TCALL_CHOICE_MAKE_(me, WORDS, TCALL_WORD_INDEX_, TCALL_WORD_TEXT_)
#define TCALL_CHOICE_AS(me, WORDS)                                            \
    TCALL_CHOICE_MAKE_(me, WORDS, TCALL_WORD_AS_INDEX_, TCALL_WORD_AS_TEXT_)
#define TCALL_CHOICE_MAKE_(me, WORDS, INDEX, TEXT)                            \
    enum { WORDS(INDEX, me) me##_word_count };                                \
    TCALL_HOLDS_(me##_has_more_than_254_words, me##_word_count <= 254)        \
    static const char me##_words_[] TCALL_FLASH_ = WORDS(TEXT, me);
#define TCALL_WORD_INDEX_(me, word)          me##_##word,
#define TCALL_WORD_TEXT_(me, word)           #word "\0"
#define TCALL_WORD_AS_INDEX_(me, word, text) me##_##word,
#define TCALL_WORD_AS_TEXT_(me, word, text)  text "\0"

/* The struct of list(me): min to max items of a kind. */
#define TCALL_LIST(me, kind, min, max)       TCALL_LIST_(me, kind, min, max, 0)
#define TCALL_OPEN_LIST(me, kind, min, room)                                  \
    TCALL_LIST_(me, kind, min, room, TCALL_MEMBER_UNSAID)
#define TCALL_LIST_(me, kind, min, max, flags)                                \
    struct me {                                                               \
        uint16_t count;                                                       \
        TCALL_USE_(TCALL_MEMBER_OF_, kind, items[max])                        \
    };                                                                        \
    enum { me##_min_ = min, me##_max_ = max, me##_flags_ = flags };           \
    TCALL_HOLDS_(me##_has_an_unknown_kind, TCALL_IS_ROW_(TCALL_K_##kind))     \
    TCALL_HOLDS_(me##_has_impossible_bounds,                                  \
                 (min) >= 0 && (min) <= (max) && (max) > 0 && (max) < 65534)  \
    TCALL_HOLDS_(me##_items_have_impossible_bounds,                           \
                 TCALL_USE_(TCALL_BOUNDED_OF_, kind, 0))                      \
    TCALL_UNUSED_ static const struct {                                       \
        char none_; TCALL_USE_(TCALL_RANGE_OF_, kind, item)                   \
    } me##_ranges_ TCALL_FLASH_ = {0 TCALL_USE_(TCALL_BOUNDS_OF_, kind, optional)}; \
    static const tcall_shape me##_item_ TCALL_FLASH_ =                        \
        TCALL_USE_(TCALL_NODE_OF_, kind, 0, 0, &me##_ranges_.item);

/* What does not hold is a bit-field of negative width, whose name says what.
 * Standard C has no constant comparison of floating point; compilers do. */
#ifdef __GNUC__
#define TCALL_EXTENSION_ __extension__
#else
#define TCALL_EXTENSION_
#endif
#define TCALL_WIDTH_(holds)            (holds) ? 1 : -1
#define TCALL_HOLDS_(name, holds)                                             \
    TCALL_EXTENSION_ struct name { int name : TCALL_WIDTH_(holds); };

/* TCALL_SHAPE does what this did: MIGRATING.md says how to write it. */
#define TCALL_ARGS(me, ...)                                                   \
    TCALL_HOLDS_(TCALL_ARGS_is_gone_write_TCALL_SHAPE_see_MIGRATING_md, 0)

/* What is made of one row of an object. */
#define TCALL_ROW_INDEX_(me, role, kind, name, text) me##_at_##name,
#define TCALL_ROW_MEMBER_(me, role, kind, name, text)                         \
    TCALL_USE_(TCALL_MEMBER_OF_, kind, name)
#define TCALL_ROW_HOLDS_(me, role, kind, name, text)                          \
    TCALL_EXTENSION_ struct me##_at_##name##_ {                               \
        int me##_##name##_has_an_unknown_kind                                 \
            : TCALL_WIDTH_(TCALL_IS_ROW_(TCALL_K_##kind));                    \
        int me##_##name##_has_an_unknown_role                                 \
            : TCALL_WIDTH_(TCALL_IS_ROW_(TCALL_R_##role));                    \
        int me##_##name##_has_impossible_bounds                               \
            : TCALL_WIDTH_(TCALL_USE_(TCALL_BOUNDED_OF_, kind, 0));           \
        int me##_##name##_has_a_default_out_of_bounds                         \
            : TCALL_WIDTH_(TCALL_USE_(TCALL_FITTING_OF_, kind, role));        \
    };
/* Compared with all names of the object, padded with what is none: standard C
 * does not compare texts here, compilers do. */
#define TCALL_ROW_LABEL_(me, role, kind, name, text)                          \
    TCALL_USE_(TCALL_LABEL_OF_, kind, #name),
#define TCALL_ROW_ALONE_(all, role, kind, name, text)                         \
    TCALL_ALONE_(name, TCALL_USE_(TCALL_LABEL_OF_, kind, #name),              \
                 TCALL_COLUMNS_ all)
#define TCALL_ALONE_(...) TCALL_ALONE_MAKE_(__VA_ARGS__)
#define TCALL_ALONE_MAKE_(name, label, me, ...)                               \
    TCALL_EXTENSION_ struct me##_at_##name##_alone_ {                         \
        int me##_##name##_has_the_name_of_another                             \
            : TCALL_WIDTH_(TCALL_TIMES_(label, __VA_ARGS__) == 1);            \
    };
#ifdef __GNUC__
#define TCALL_SAME_(a, b) (__builtin_strcmp(a, b) == 0)
#define TCALL_OF_8_(a, b, c, d, e, f, g, h, i)                                \
    (TCALL_SAME_(a, b) + TCALL_SAME_(a, c) + TCALL_SAME_(a, d) +              \
     TCALL_SAME_(a, e) + TCALL_SAME_(a, f) + TCALL_SAME_(a, g) +              \
     TCALL_SAME_(a, h) + TCALL_SAME_(a, i))
#define TCALL_TIMES_(a, ...) (TCALL_TIMES_8_(a, __VA_ARGS__))
#define TCALL_TIMES_8_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i) + TCALL_TIMES_7_(a, __VA_ARGS__)
#define TCALL_TIMES_7_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i) + TCALL_TIMES_6_(a, __VA_ARGS__)
#define TCALL_TIMES_6_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i) + TCALL_TIMES_5_(a, __VA_ARGS__)
#define TCALL_TIMES_5_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i) + TCALL_TIMES_4_(a, __VA_ARGS__)
#define TCALL_TIMES_4_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i) + TCALL_TIMES_3_(a, __VA_ARGS__)
#define TCALL_TIMES_3_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i) + TCALL_TIMES_2_(a, __VA_ARGS__)
#define TCALL_TIMES_2_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i) + TCALL_TIMES_1_(a, __VA_ARGS__)
#define TCALL_TIMES_1_(a, b, c, d, e, f, g, h, i, ...)                        \
    TCALL_OF_8_(a, b, c, d, e, f, g, h, i)
#else
#define TCALL_TIMES_(...) 1
#endif
#define TCALL_NO_LABELS_                                                      \
    TCALL_NO_8_ TCALL_NO_8_ TCALL_NO_8_ TCALL_NO_8_ TCALL_NO_8_ TCALL_NO_8_   \
    TCALL_NO_8_ TCALL_NO_8_ NULL
#define TCALL_NO_8_ "\377", "\377", "\377", "\377", "\377", "\377", "\377", "\377",
#define TCALL_ROW_NAME_(me, role, kind, name, text)                           \
    TCALL_USE_(TCALL_LABEL_OF_, kind, #name) "\0"
#define TCALL_ROW_TEXT_(me, role, kind, name, text) text "\0"
#define TCALL_ROW_INITIAL_(me, role, kind, name, text)                        \
    TCALL_USE_(TCALL_INITIAL_OF_, kind, role, name)
#define TCALL_ROW_RANGE_(me, role, kind, name, text)                          \
    TCALL_USE_(TCALL_RANGE_OF_, kind, name)
#define TCALL_ROW_BOUNDS_(me, role, kind, name, text)                         \
    TCALL_USE_(TCALL_BOUNDS_OF_, kind, role)
#define TCALL_ROW_NODE_(me, role, kind, name, text)                           \
    TCALL_USE_(TCALL_NODE_OF_, kind, TCALL_BITS_(role),                       \
               offsetof(struct me, name), &me##_ranges_.name),

/* A kind is a row of columns, TCALL_K_..., and so is a role, TCALL_R_...:
 * TCALL_USE_(macro, kind, ...) is macro(columns of the kind, ...). What is no
 * row is replaced by one, so that a misspelt kind costs one error, which names
 * the member. */
#define TCALL_USE_(macro, kind, ...)                                          \
    TCALL_CALL_(macro, TCALL_ROW_OR_(TCALL_K_##kind, TCALL_UNKNOWN_),        \
                __VA_ARGS__)
#define TCALL_CALL_(macro, row, ...)                                          \
    TCALL_CALL_OPEN_(macro, TCALL_COLUMNS_ row, __VA_ARGS__)
#define TCALL_CALL_OPEN_(macro, ...)        macro(__VA_ARGS__)
#define TCALL_COLUMNS_(...)                    __VA_ARGS__
#define TCALL_ROW_OR_(row, other)           TCALL_ROW_IF_(TCALL_IS_ROW_(row), row, other)
#define TCALL_ROW_IF_(is, row, other)       TCALL_ROW_IF_KNOWN_(is, row, other)
#define TCALL_ROW_IF_KNOWN_(is, row, other) TCALL_ROW_IF_##is(row, other)
#define TCALL_ROW_IF_0(row, other)          other
#define TCALL_ROW_IF_1(row, other)          row
#define TCALL_IS_ROW_(row)                  TCALL_SECOND_(TCALL_PROBE_ row, 0, 0)
#define TCALL_PROBE_(...)                   0, 1
#define TCALL_SECOND_(...)                  TCALL_SECOND_OF_(__VA_ARGS__, 0)
#define TCALL_SECOND_OF_(a, b, ...)         b

/* A role: its bits, whether there is a default, the default. */
#define TCALL_R_required        (TCALL_MEMBER_REQUIRED, 0, 0)
#define TCALL_R_optional        (0, 0, 0)
#define TCALL_R_defaults(value) (TCALL_MEMBER_DEFAULT, 1, value)
#define TCALL_ROLE_(macro, role, ...)                                         \
    TCALL_ROLE_CALL_(macro, TCALL_ROW_OR_(TCALL_R_##role, TCALL_R_optional),  \
                     __VA_ARGS__)
#define TCALL_ROLE_CALL_(macro, row, ...)                                     \
    TCALL_ROLE_OPEN_(macro, TCALL_COLUMNS_ row, __VA_ARGS__)
#define TCALL_ROLE_OPEN_(macro, ...)           macro(__VA_ARGS__)
#define TCALL_BITS_(role)                      TCALL_ROLE_(TCALL_BITS_OF_, role, 0)
#define TCALL_BITS_OF_(bits, has, value, none) bits

/* The columns of a kind: type and length of the member; how a default is
 * stored and held against which bounds, and whether any value meets these; the
 * types; the node's kind, digits, flags, size, low, high, more; whether it has
 * a tcall_range, and which; whether it has a name of its own in JSON, and
 * which. */
#define TCALL_MEMBER_OF_(member, initial, types, node, range, label, name)    \
    TCALL_DECLARE_(name, TCALL_COLUMNS_ member)
#define TCALL_DECLARE_(...)                 TCALL_DECLARE_MAKE_(__VA_ARGS__)
#define TCALL_DECLARE_MAKE_(name, type, ...) type name __VA_ARGS__;

#define TCALL_LABEL_OF_(member, initial, types, node, range, label, name)     \
    TCALL_LABEL_(name, TCALL_COLUMNS_ label)
#define TCALL_LABEL_(...)                 TCALL_LABEL_MAKE_(__VA_ARGS__)
#define TCALL_LABEL_MAKE_(name, has, own) TCALL_ROW_IF_##has(own, name)

#define TCALL_RANGE_OF_(member, initial, types, node, range, label, name)     \
    TCALL_RANGE_(name, TCALL_COLUMNS_ range)
#define TCALL_RANGE_(...)                       TCALL_RANGE_MAKE_(__VA_ARGS__)
#define TCALL_RANGE_MAKE_(name, has, low, high, store) TCALL_RANGE_##has(name)
#define TCALL_RANGE_0(name)
#define TCALL_RANGE_1(name)                     tcall_range name;

#define TCALL_BOUNDS_OF_(member, initial, types, node, range, label, role)    \
    TCALL_ROLE_(TCALL_BOUNDS_, role, TCALL_COLUMNS_ range)
#define TCALL_BOUNDS_(bits, is, value, has, low, high, store)                 \
    TCALL_BOUNDS_##has(value, low, high, store)
#define TCALL_BOUNDS_0(value, low, high, store)
#define TCALL_BOUNDS_1(value, low, high, store)                               \
    , {low, high, TCALL_MILLIONTHS_(value), store}

#define TCALL_NODE_OF_(member, initial, types, node, range, label, bits, at,  \
                       where)                                                 \
    TCALL_NODE_(types, bits, at, where, TCALL_COLUMNS_ range, TCALL_COLUMNS_ node)
#define TCALL_NODE_(...) TCALL_NODE_MAKE_(__VA_ARGS__)
#define TCALL_NODE_MAKE_(types, bits, at, where, ranged, from, to, store, kind, \
                         digits, flags, size, low, high, more)                \
    {types, kind, digits, (int)(flags) | (int)(bits), (uint16_t)(size), at,   \
     (int32_t)(low), (int32_t)(high), TCALL_ROW_IF_##ranged(where, more)}

#define TCALL_FITTING_OF_(member, initial, types, node, range, label, role)   \
    TCALL_ROLE_(TCALL_FITTING_, role, TCALL_COLUMNS_ node,                    \
                TCALL_COLUMNS_ initial)
#define TCALL_FITTING_(bits, has, value, kind, digits, flags, size, low, high, \
                       more, store, fits, from, to, bounded)                  \
    TCALL_FITTING_##has(value, fits, from, to, flags)
#define TCALL_FITTING_0(value, fits, from, to, flags) 1
#define TCALL_BOUNDED_OF_(member, initial, types, node, range, label, none)   \
    TCALL_BOUNDED_(TCALL_COLUMNS_ initial)
#define TCALL_BOUNDED_(...) TCALL_BOUNDED_MAKE_(__VA_ARGS__)
#define TCALL_BOUNDED_MAKE_(store, fits, from, to, bounded) (bounded)
#define TCALL_FITTING_1(value, fits, from, to, flags)                         \
    fits(value, from, to, flags)

#define TCALL_INITIAL_OF_(member, initial, types, node, range, label, role,   \
                          name)                                               \
    TCALL_ROLE_(TCALL_INITIAL_, role, name, TCALL_COLUMNS_ initial)
#define TCALL_INITIAL_(bits, has, value, name, store, fits, from, to, bounded) \
    TCALL_INITIAL_##has(value, name, store)
#ifdef __cplusplus /* C++11 has no names here, but braces that mean zero */
#define TCALL_NONE_GIVEN_ {}, {},
#define TCALL_INITIAL_0(value, name, store) {},
#define TCALL_INITIAL_1(value, name, store) store(value),
#else
#define TCALL_NONE_GIVEN_ .given_ = {0},
#define TCALL_INITIAL_0(value, name, store)
#define TCALL_INITIAL_1(value, name, store) .name = store(value),
#endif

/* How a default is held against its bounds, and how it gets into the struct. */
#define TCALL_WITHIN_(value, low, high, flags)                                \
    ((value) >= (low) && (value) <= (high) &&                                 \
     (!((flags) & TCALL_MEMBER_OVER) || (value) > (low)) &&                   \
     (!((flags) & TCALL_MEMBER_UNDER) || (value) < (high)))
#define TCALL_SIZED_(value, min, max, flags)                                  \
    ((int)sizeof(value) > (min) && (int)sizeof(value) <= (max) + 1)
#define TCALL_ORDERED_(low, high, least, most)                                \
    ((low) + 0LL >= (least) && (low) + 0LL <= (high) + 0LL &&                 \
     (high) + 0LL <= (most))
#define TCALL_FITS_NEVER_(value, low, high, flags)  0
#define TCALL_FITS_ALWAYS_(value, low, high, flags) 1
#define TCALL_AS_IT_IS_(value)          value
#define TCALL_AS_ZERO_(value)           0
#define TCALL_SCALE_1_                  10.
#define TCALL_SCALE_2_                  100.
#define TCALL_SCALE_3_                  1000.
#define TCALL_SCALE_4_                  10000.
#define TCALL_SCALE_5_                  100000.
#define TCALL_SCALE_6_                  1000000.
#define TCALL_STORE_1_(value)           (int32_t)TCALL_SCALED_(value, TCALL_SCALE_1_)
#define TCALL_STORE_2_(value)           (int32_t)TCALL_SCALED_(value, TCALL_SCALE_2_)
#define TCALL_STORE_3_(value)           (int32_t)TCALL_SCALED_(value, TCALL_SCALE_3_)
#define TCALL_STORE_4_(value)           (int32_t)TCALL_SCALED_(value, TCALL_SCALE_4_)
#define TCALL_STORE_5_(value)           (int32_t)TCALL_SCALED_(value, TCALL_SCALE_5_)
#define TCALL_STORE_6_(value)           (int32_t)TCALL_SCALED_(value, TCALL_SCALE_6_)
#define TCALL_SCALED_(value, scale)     ((value) * scale + ((value) < 0 ? -0.5 : 0.5))
/* Millionths; beyond 9e12 is no bound at all. */
#define TCALL_MILLIONTHS_(value)                                              \
    ((value) < -9e12  ? INT64_MIN                                             \
     : (value) > 9e12 ? INT64_MAX                                             \
                      : (int64_t)TCALL_SCALED_(value, 1000000.))

#define TCALL_UNKNOWN_                                                        \
    ((bool, ), (TCALL_AS_ZERO_, TCALL_FITS_ALWAYS_, 0, 0, 1), TCALL_SHAPE_ANY,     \
     (TCALL_KIND_ANY, 0, 0, 0, 0, 0, NULL), (0, 0, 0, 0), (0, 0))
#define TCALL_K_boolean                                                       \
    ((bool, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, 0, 1, 1), TCALL_SHAPE_BOOLEAN, \
     (TCALL_KIND_BOOLEAN, 0, 0, 0, 0, 0, NULL), (0, 0, 0, 0), (0, 0))
#define TCALL_K_integer(low, high)                                            \
    ((int32_t, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, low, high,                 \
                   TCALL_ORDERED_(low, high, INT32_MIN, INT32_MAX)),          \
     TCALL_SHAPE_INTEGER, (TCALL_KIND_INTEGER, 0, 0, 0, low, high, NULL),     \
     (0, 0, 0, 0), (0, 0))
#define TCALL_K_fixed(digits, low, high)                                      \
    ((int32_t, ), (TCALL_STORE_##digits##_, TCALL_WITHIN_, low, high,         \
                   TCALL_ORDERED_((low) * TCALL_SCALE_##digits##_,            \
                                  (high) * TCALL_SCALE_##digits##_,           \
                                  INT32_MIN, INT32_MAX)),                     \
     TCALL_SHAPE_NUMBER,                                                      \
     (TCALL_KIND_INTEGER, digits, 0, 0, TCALL_STORE_##digits##_(low),         \
      TCALL_STORE_##digits##_(high), NULL), (0, 0, 0, 0), (0, 0))
#ifndef TOOLCALL_NO_INT64
#define TCALL_K_integer64(low, high)                                          \
    ((int64_t, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, low, high,                 \
                   TCALL_ORDERED_(low, high, INT64_MIN, INT64_MAX)),          \
     TCALL_SHAPE_INTEGER, (TCALL_KIND_INTEGER64, 0, 0, 0, 0, 0, NULL),        \
     (1, low, high, NULL), (0, 0))
#define TCALL_K_number(low, high)                                             \
    ((double, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, low, high, (low) <= (high) && \
                  ((low) <= TCALL_NO_MINIMUM || (low) >= -9e12) &&            \
                  ((high) >= TCALL_NO_MAXIMUM || (high) <= 9e12) &&           \
                  (low) <= 9e12 && (high) >= -9e12),                          \
     TCALL_SHAPE_NUMBER, (TCALL_KIND_NUMBER, 6, 0, 0, 0, 0, NULL),            \
     (1, TCALL_MILLIONTHS_(low), TCALL_MILLIONTHS_(high),                     \
      tcall_store_double_), (0, 0))
#endif
#define TCALL_K_text(min, max)                                                \
    TCALL_TEXT_(min, max, max, 0)
#define TCALL_K_characters(min, max)                                          \
    TCALL_TEXT_(min, max, 4 * (max), 0)
#define TCALL_K_characters_in(min, max, room)                                 \
    TCALL_TEXT_(min, max, room, 0)
#define TCALL_K_string(min, room)                                             \
    TCALL_TEXT_(min, room, room, TCALL_MEMBER_UNSAID)
#define TCALL_TEXT_(min, max, room, flags)                                    \
    ((char, [(room) + 1]), (TCALL_AS_IT_IS_, TCALL_SIZED_, min, room,         \
      (min) >= 0 && (min) <= (max) && (min) <= (room) && (room) < 65535),     \
     TCALL_SHAPE_STRING,                                                      \
     (TCALL_KIND_TEXT, 0, flags, (room) + 1, min, max, NULL), (0, 0, 0, 0), (0, 0))
#define TCALL_K_choice(me)                                                    \
    ((uint8_t, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, 0, (int)me##_word_count - 1, 1),\
     TCALL_SHAPE_STRING, (TCALL_KIND_CHOICE, 0, 0, 0, 0,      \
      (int)me##_word_count - 1, me##_words_),                              \
     (0, 0, 0, 0), (0, 0))
#define TCALL_K_list(me)                                                      \
    ((struct me, ), (TCALL_AS_IT_IS_, TCALL_FITS_NEVER_, 0, 0, 1), TCALL_SHAPE_ARRAY, \
     (TCALL_KIND_LIST, offsetof(struct me, items), me##_flags_,               \
      sizeof(((struct me *)0)->items[0]), me##_min_, me##_max_, &me##_item_), \
     (0, 0, 0, 0), (0, 0))
#define TCALL_K_object(me)                                                    \
    ((struct me, ), (TCALL_AS_IT_IS_, TCALL_FITS_NEVER_, 0, 0, 1), TCALL_SHAPE_OBJECT,\
     (TCALL_KIND_OBJECT, 0, 0, 0, 0, 0, &me##_shape), (0, 0, 0, 0), (0, 0))
#define TCALL_K_json(room)                                                    \
    TCALL_K_one_of(TCALL_SHAPE_ANY, room)
#define TCALL_K_one_of(set, room)                                             \
    ((char, [(room) + 1]), (TCALL_AS_IT_IS_, TCALL_FITS_NEVER_, 0, 0,         \
      (room) > 0 && (room) < 65535 && (set) > 0 && (set) <= TCALL_SHAPE_ANY), set,\
     (TCALL_KIND_JSON, 0, TCALL_MEMBER_UNSAID, (room) + 1, 0, room, NULL),    \
     (0, 0, 0, 0), (0, 0))

/* Kinds around a kind; around none they are none. */
#define TCALL_K_or_null(kind)                                                 \
    TCALL_AROUND_(TCALL_K_##kind, TCALL_OR_NULL_OF_, 0)
#define TCALL_K_over(kind)                                                    \
    TCALL_AROUND_(TCALL_K_##kind, TCALL_BEYOND_OF_, TCALL_MEMBER_OVER)
#define TCALL_K_under(kind)                                                   \
    TCALL_AROUND_(TCALL_K_##kind, TCALL_BEYOND_OF_, TCALL_MEMBER_UNDER)
#define TCALL_K_named(name, kind)                                             \
    TCALL_AROUND_(TCALL_K_##kind, TCALL_NAMED_OF_, name)
#define TCALL_AROUND_(row, macro, value)                                      \
    TCALL_AROUND_IF_(TCALL_IS_ROW_(row), row, macro, value)
#define TCALL_AROUND_IF_(is, row, macro, value)                               \
    TCALL_AROUND_KNOWN_(is, row, macro, value)
#define TCALL_AROUND_KNOWN_(is, row, macro, value)                            \
    TCALL_AROUND_##is(row, macro, value)
#define TCALL_AROUND_0(row, macro, value) row
#define TCALL_AROUND_1(row, macro, value)                                     \
    TCALL_AROUND_OPEN_(macro, TCALL_COLUMNS_ row, value)
#define TCALL_AROUND_OPEN_(macro, ...) macro(__VA_ARGS__)
#define TCALL_OR_NULL_OF_(member, initial, types, node, range, label, none)   \
    (member, initial, TCALL_SHAPE_NULL | types, node, range, label)
#define TCALL_BEYOND_OF_(member, initial, types, node, range, label, flag)    \
    (member, TCALL_BEYOND_(TCALL_COLUMNS_ node, TCALL_COLUMNS_ initial), types, \
     TCALL_FLAGGED_(flag, TCALL_COLUMNS_ node), range, label)
#define TCALL_BEYOND_(...)  TCALL_BEYOND_MAKE_(__VA_ARGS__)
#define TCALL_BEYOND_MAKE_(kind, digits, flags, size, low, high, more, store, \
                           fits, from, to, bounded)                           \
    (store, fits, from, to,                                                   \
     (kind) >= TCALL_KIND_INTEGER64 && (kind) <= TCALL_KIND_NUMBER &&         \
     (from) < (to) && (bounded))
#define TCALL_FLAGGED_(...) TCALL_FLAGGED_MAKE_(__VA_ARGS__)
#define TCALL_FLAGGED_MAKE_(flag, kind, digits, flags, size, low, high, more) \
    (kind, digits, (flags) | flag, size, low, high, more)
#define TCALL_NAMED_OF_(member, initial, types, node, range, label, name)     \
    (member, initial, types, node, range, (1, name))

/* clang-format on */
