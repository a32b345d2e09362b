#pragma once
#include "shape.h"
#include "syntax.h"

/* ==========================================================================
 * >>read: bytes in, checked values out
 *
 * A decoder is fed JSON in pieces of any length, even single bytes. In one pass
 * it recognises RFC 8259 strictly, checks each value against its shape and
 * stores it in the caller's struct. It keeps no text and needs no memory but
 * itself, whatever the length of the message:
 *
 *     struct weather args;
 *     tcall_decoder decoder;
 *
 *     tcall_decoder_init(&decoder, &weather_shape, &args);
 *     while ((len = receive(bytes)) > 0)
 *         tcall_decoder_feed(&decoder, bytes, len);
 *     if (tcall_decoder_end(&decoder) == TCALL_OK)
 *         run(&args);
 *
 * What does not fit its shape is noted and reading goes on, for what follows
 * may be needed to answer: the id of a request often comes after its
 * arguments. Only wrong syntax ends it. A noted misfit cannot be taken back.
 */

/* Objects and lists with a shape of their own that may lie within each other.
 * Deeper ones are refused as a misfit. */
#ifndef TOOLCALL_SHAPE_LEVELS
#define TOOLCALL_SHAPE_LEVELS 6
#endif

/* Significant digits of a number that are kept while it comes. Further ones
 * only matter to a double (kind number) where all of these agree with the
 * middle of two doubles: then it is refused as a misfit (room). No such middle
 * has more than 768, so with 768 none is. At least 20; where no integer has 64
 * bits, 10.
 */
#ifndef TOOLCALL_NUMBER_DIGITS
#ifdef TOOLCALL_NO_INT64
#define TOOLCALL_NUMBER_DIGITS 10
#elif UINTPTR_MAX > 0xFFFFFFFF
#define TOOLCALL_NUMBER_DIGITS 768
#else
#define TOOLCALL_NUMBER_DIGITS 20
#endif
#endif
#if TOOLCALL_NUMBER_DIGITS < 10
#error "TOOLCALL_NUMBER_DIGITS must be 10 or more"
#elif TOOLCALL_NUMBER_DIGITS < 20 && !defined TOOLCALL_NO_INT64
#error "TOOLCALL_NUMBER_DIGITS must be 20 or more"
#endif

/* Bytes of an unknown name, and of a word that is none of a choice, that are
 * kept for the sentence about them; 0: none, and it does not show them. */
#if !defined TOOLCALL_MISFIT_TEXT && defined __AVR__
#define TOOLCALL_MISFIT_TEXT 0
#elif !defined TOOLCALL_MISFIT_TEXT
#define TOOLCALL_MISFIT_TEXT 16
#endif
#if TOOLCALL_MISFIT_TEXT > 255
#error "TOOLCALL_MISFIT_TEXT must be at most 255"
#endif

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

/* One thing that is wrong, and the way to it from the root: the index of a
 * member or item at each level. The index of a member that its object does not
 * know is 0xFFFF. */
typedef struct tcall_misfit {
    uint8_t code;  /* tcall_misfit_code */
    uint8_t steps; /* of trail */
    bool exact;    /* got is the value; else it was larger or had more digits */
#if TOOLCALL_MISFIT_TEXT
    uint8_t text_len; /* of text; 0: nothing was kept */
#endif
    uint16_t trail[TOOLCALL_SHAPE_LEVELS];
    int32_t got; /* a number that is out of bounds, in units of its shape */
#if TOOLCALL_MISFIT_TEXT
    char text[TOOLCALL_MISFIT_TEXT]; /* the beginning of a name or a word */
#endif
} tcall_misfit;

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

typedef struct tcall_decoder tcall_decoder;

#if TOOLCALL_MISFIT_TEXT > TOOLCALL_NUMBER_DIGITS
#define TCALL_KEPT_ TOOLCALL_MISFIT_TEXT
#else
#define TCALL_KEPT_ TOOLCALL_NUMBER_DIGITS
#endif

/* A decoder at work. What is said to be private is its own. */
struct tcall_decoder {
    tcall_syntax_ syntax; /* private */

    int error; /* TCALL_OK; TCALL_E_INVALID after a misfit; syntax: why */
    size_t at; /* bytes accepted so far; after wrong syntax, where */
    uint8_t misfit_count; /* 255: or more; the first ones are misfits */

    /* private */
    tcall_fit_ fit;
    char text[TCALL_KEPT_]; /* the beginning of the name or word, or the first
                             * digits of the number */
    tcall_place_ places[TOOLCALL_SHAPE_LEVELS + 1];

    /* public again; these are set after tcall_decoder_init. */
    /* Asked at a value of kind TCALL_KIND_HOLE: sets *shape to what is to be
     * read there and *out to where its offset counts from; so far they are the
     * hole's own. */
    void (*hole)(tcall_decoder *decoder, const tcall_shape **shape, char **out);
    void *user;

    tcall_misfit misfits[TOOLCALL_MAX_FAULTS];
};

/* Prepares to read one object of this shape into its struct, which is set to
 * its defaults when the object opens. */
TCALL_API void tcall_decoder_init(tcall_decoder *decoder,
                                  const tcall_object *shape, void *out);
/* Reads the next len bytes. Returns TCALL_OK while all is well; TCALL_E_INVALID
 * after a misfit, when reading goes on; or the error that ended it:
 * TCALL_E_BAD_VALUE, TCALL_E_UTF8, TCALL_E_BAD_ESCAPE, TCALL_E_DEPTH (over
 * TOOLCALL_MAX_DEPTH), TCALL_E_TRAILING. */
TCALL_API int tcall_decoder_feed(tcall_decoder *decoder, const char *bytes,
                                 size_t len);
/* Ends it: nothing follows. Returns what tcall_decoder_feed does, and
 * TCALL_E_TRUNCATED where the object is not closed. Only after TCALL_OK may the
 * struct be used. */
TCALL_API int tcall_decoder_end(tcall_decoder *decoder);
/* Refuses the text whatever comes, with TCALL_E_TRUNCATED: what drove the line
 * lost a byte. Where it cannot be called at that moment, it may put the byte
 * 0xFF into the line instead, which no JSON text has. */
TCALL_API void tcall_decoder_poison(tcall_decoder *decoder);
