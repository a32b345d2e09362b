#pragma once
#include "syntax.h"

/* ==========================================================================
 * >>node: what may come
 *
 * A node says of a JSON value which types it may have. All else that a schema
 * says is rows that hang on it, one for each keyword, in the order of their
 * numbers. A shape is a node that has a place in a C struct instead of rows.
 * Nodes are const for whoever reads them: tcall_schema_compile makes them of
 * schema text.
 */

/* The steps that compiling a schema may cost, or checking a text: its
 * comparisons, characters and names. */
#ifndef TOOLCALL_MAX_STEPS
#define TOOLCALL_MAX_STEPS 1000000
#endif

/* X(NAME, keyword, how its value begins, drafts): the keywords that are known.
 * s: a schema, *: anything, !: refused. Those up to DEPENDENT bring more nodes
 * for the same value, those up to NAMES nodes for members and items; the others
 * are true or false. */
#define TCALL_KEYWORDS_(X)                            \
    X(ALLOF, "allOf", '[', ALL)                       \
    X(REF, "$ref", '"', ALL)                          \
    X(ANYOF, "anyOf", '[', ALL)                       \
    X(ONEOF, "oneOf", '[', ALL)                       \
    X(NOT, "not", 's', ALL)                           \
    X(IF, "if", 's', ALL)                             \
    X(THEN, "then", 's', ALL)                         \
    X(ELSE, "else", 's', ALL)                         \
    X(CONTAINS, "contains", 's', ALL)                 \
    X(DEPENDENT, "dependentSchemas", '{', 2019)       \
    X(PROPERTIES, "properties", '{', ALL)             \
    X(PATTERNS, "patternProperties", '{', ALL)        \
    X(OTHERS, "additionalProperties", 's', ALL)       \
    X(PREFIX, "prefixItems", '[', 2020)               \
    X(ITEMS, "items", 's', ALL)                       \
    X(NAMES, "propertyNames", 's', ALL)               \
    X(ENUM, "enum", '[', ALL)                         \
    X(CONST, "const", '*', ALL)                       \
    X(PATTERN, "pattern", '"', ALL)                   \
    X(MINIMUM, "minimum", '0', ALL)                   \
    X(MAXIMUM, "maximum", '0', ALL)                   \
    X(ABOVE, "exclusiveMinimum", '0', ALL)            \
    X(BELOW, "exclusiveMaximum", '0', ALL)            \
    X(MULTIPLE, "multipleOf", '0', ALL)               \
    X(MIN_LENGTH, "minLength", '0', ALL)              \
    X(MAX_LENGTH, "maxLength", '0', ALL)              \
    X(MIN_ITEMS, "minItems", '0', ALL)                \
    X(MAX_ITEMS, "maxItems", '0', ALL)                \
    X(MIN_PROPERTIES, "minProperties", '0', ALL)      \
    X(MAX_PROPERTIES, "maxProperties", '0', ALL)      \
    X(MIN_CONTAINS, "minContains", '0', 2019)         \
    X(MAX_CONTAINS, "maxContains", '0', 2019)         \
    X(UNIQUE, "uniqueItems", 't', ALL)                \
    X(REQUIRED, "required", '[', ALL)                 \
    X(NEEDED, "dependentRequired", '{', 2019)         \
    /* what has no row of its own */                  \
    X(TYPE, "type", '*', ALL)                         \
    X(DEPENDENCIES, "dependencies", '{', ALL)         \
    X(EXTRA, "additionalItems", 's', OLD)             \
    X(DEFS, "$defs", '{', ALL)                        \
    X(DEFINITIONS, "definitions", '{', ALL)           \
    X(SCHEMA, "$schema", '"', ALL)                    \
    X(ID, "$id", '*', ALL)                            \
    X(OLD_ID, "id", '*', ALL)                         \
    X(DYNAMIC_REF, "$dynamicRef", '!', ALL)           \
    X(RECURSIVE_REF, "$recursiveRef", '!', ALL)       \
    X(UNEVALUATED, "unevaluatedProperties", '!', ALL) \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", '!', ALL)
/* X of what else a fault may be. */
#define TCALL_NO_KEYWORDS_(X)         \
    X(ROOM, "room", 0, ALL)           \
    X(DUPLICATE, "duplicate", 0, ALL) \
    X(NUL, "nul", 0, ALL)             \
    X(LEVELS, "levels", 0, ALL)

/* The drafts of a keyword, as bits of tcall_draft: all; those before 2020-12;
 * and those since. */
enum {
    TCALL_IN_ALL_ = 31,
    TCALL_IN_OLD_ = 30,
    TCALL_IN_2019_ = 3,
    TCALL_IN_2020_ = 1
};

enum {
    TCALL_ON_NOTHING_,
#define TCALL_X_(NAME, keyword, begins, drafts) TCALL_ON_##NAME##_,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        TCALL_KEYWORD_COUNT_,
    TCALL_ON_LAST_KEYWORD_ = TCALL_KEYWORD_COUNT_ - 1,
#define TCALL_X_(NAME, keyword, begins, drafts) TCALL_ON_##NAME##_,
    TCALL_NO_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
};

/* Flags of a node that is no shape. */
enum {
    TCALL_NODE_MUST_ = 1,  /* of a member: it is required */
    TCALL_NODE_FIELDS_ = 2 /* properties are the first row, and alone say what
                            * their members may be */
};

struct tcall_row;

/* The first four members are those of tcall_shape; kind TCALL_KIND_ROWS_ says
 * that it is a node with rows and no shape. 8 bytes on 32 bits. */
typedef struct tcall_node {
    uint8_t types;  /* set of TCALL_SHAPE_... */
    uint8_t kind;   /* TCALL_KIND_ROWS_ */
    uint8_t digits; /* of a member: the length of its name with quotes; 0: over
                     * 255, or it has escapes */
    uint8_t flags;
    const struct tcall_row *rows; /* NULL: none */
} tcall_node;

/* One schema of a keyword. 12 bytes. */
typedef struct tcall_member {
    const char *name; /* its quote in the schema's text; of one without a name
                       * where it begins there */
    tcall_node node;
} tcall_member;

struct tcall_patterns_;

/* The pattern of a string, or of a name. */
typedef struct tcall_match {
    const char *text; /* its quote in the schema's text */
    const void *program;
    const struct tcall_patterns_ *by; /* who runs it */
    uint32_t count, states;
} tcall_match;

/* One keyword of a schema. 8 bytes. */
typedef struct tcall_row {
    uint8_t on;     /* TCALL_ON_... */
    uint8_t flags;  /* TCALL_ROW_... */
    uint16_t count; /* of members or names; SMALL: the bound */
    union {
        const char *text; /* bounds, enum, const, required: in the schema's */
        uint32_t number;  /* counts */
        const tcall_member *members; /* schemas; $ref: the one it leads to */
        const tcall_match *match;    /* pattern */
    } of;
} tcall_row;

enum {
    TCALL_ROW_LAST_ = 1,  /* no row follows */
    TCALL_ROW_MUSTS_ = 2, /* required: all are properties, and marked */
    TCALL_ROW_SMALL_ = 4, /* a bound that is whole and in count, too */
    TCALL_ROW_OLD_ = 16   /* its keyword has another name: tcall_row_keyword_ */
};

/* ---- values on their way into a struct ---- */

/* X(NAME, keyword, what is wrong, what to send): what may be wrong with a value
 * of a shape, and with most values of schemas. The keyword is that of JSON
 * Schema where there is one. A text that is empty is the one before. In them %v
 * is the value, %t its type, %u the limit that was passed, %n how many it has
 * where that is known; %s is what to send, %r how much there is room for, %m
 * the name of a property, %x the unknown name, and %k which ones are known. */
#define TCALL_MISFITS(X)                                                    \
    X(TYPE, "type", "%v is %t", "; send %s")                                \
    X(MINIMUM, "minimum", "%v %n %u", "; send %s")                          \
    X(MAXIMUM, "maximum", "", "")                                           \
    X(ENUM, "enum", "%v is not one of the allowed values", "; send %s")     \
    X(MIN_LENGTH, "minLength", "%v %n %u", "; send %s")                     \
    X(MAX_LENGTH, "maxLength", "", "")                                      \
    X(MIN_ITEMS, "minItems", "", "")                                        \
    X(MAX_ITEMS, "maxItems", "", "")                                        \
    X(REQUIRED, "required", "the property %m is missing", "; add it")       \
    X(UNKNOWN, "additionalProperties", "%x", "; %kleave it out")            \
    X(DUPLICATE, "duplicate", "this property came twice", "; send it once") \
    X(NUL, "nul", "the string has the character U+0000", "; leave it out")  \
    X(ROOM, "room", "there is no room for all of this", "; send %r")        \
    X(LEVELS, "levels", "objects and arrays are nested too deeply here", "")

/* What is wrong: a row of TCALL_MISFITS, or TCALL_FITS. */
typedef enum tcall_misfit_code {
    TCALL_FITS,
#define TCALL_X_(NAME, keyword, wrong, remedy) TCALL_MISFIT_##NAME,
    TCALL_MISFITS(TCALL_X_)
#undef TCALL_X_
} tcall_misfit_code;

/* What a user of the recogniser adds to its table who fills a struct: it notes
 * what is wrong with the value that so many levels lead to. */
typedef void (*tcall_note_)(tcall_syntax_ *s, uint8_t code, uint8_t levels);
typedef struct tcall_fit_user_ {
    tcall_syntax_user_ syntax;
    tcall_note_ note;
} tcall_fit_user_;

/* A value at work on its shape: the one that comes next or is read, or an
 * object or list around it. */
typedef struct tcall_place_ {
    const void *what; /* its tcall_shape; of an object that is open its
                       * tcall_object; NULL: it has none */
    char *base;       /* where it is kept, or NULL */
    uint16_t index;   /* the member or item at hand */
} tcall_place_;

#define TCALL_NO_MEMBER_ 0xFFFF

/* A name or a word of a choice, of which fit.length bytes came. It is not kept:
 * a word in flash that begins with the same bytes stands for it. */
typedef struct tcall_words_ {
    const char *list;     /* all words */
    const char *word;     /* that one, or NULL: there is none */
    uint8_t index, count; /* of the word; of all */
} tcall_words_;

/* A number as it comes. Its digits are counted from the first that is not 0. */
typedef struct tcall_numeral_ {
    bool minus, point, exponent; /* these came */
    bool under;                  /* so did the minus of the exponent */
    int places;    /* digits before the point; less 0s that follow it at once */
    int power;     /* the exponent, without its sign */
    int16_t count; /* digits */
    int16_t last;  /* up to the last that is not 0 */
} tcall_numeral_;

/* A number in units of the last digit that counts. */
typedef struct tcall_units_ {
    tcall_int value; /* surplus digits are cut off; or the end of the range that
                        it is beyond */
    int rest;        /* the sign of what was left out, or 0 */
} tcall_units_;

/* Values on their way into a struct, whoever reads them. */
typedef struct tcall_fit_ {
    tcall_place_ *place; /* of the value that comes next or is read; what it is
                          * in lies before it */
    union {
        tcall_words_ words;    /* of a name, or a word that is read */
        tcall_numeral_ number; /* of a decoder, which keeps no text */
        tcall_units_ units;    /* of a number that is complete */
    } now;
    const tcall_object *object; /* of the root, and of a hole */
    const char *next; /* the name that most likely comes next, or NULL */
    uint8_t levels;   /* open objects and lists with a shape */
    uint8_t types;    /* of the value, by its first character; 0: its name is
                       * read */
    bool nul;         /* the string has U+0000 */
    size_t length;    /* bytes of the name, string or number */
} tcall_fit_;
