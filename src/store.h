#pragma once
#include "shape.h"

/* ==========================================================================
 * >>store: values into the struct of their shape
 *
 * Whoever reads values by shapes checks and stores them here, kind by kind.
 */

/* Bytes of an unknown name, and of a word that is none of a choice, that are
 * kept for the sentence about them; 0: none, and it does not show them. */
#if !defined TOOLCALL_MISFIT_TEXT && defined __AVR__
#define TOOLCALL_MISFIT_TEXT 0
#elif !defined TOOLCALL_MISFIT_TEXT
#define TOOLCALL_MISFIT_TEXT 16
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

/* A text on its way into its struct. */
typedef struct tcall_text_into_ {
    char *to;        /* where it is kept, or NULL */
    size_t len;      /* bytes that came */
    size_t followed; /* those that are not the first of a character */
} tcall_text_into_;

/* A name or a word of a choice. Of these only so much is known: with which one
 * in flash it agrees so far. */
typedef struct tcall_words_ {
    const char *list;           /* all words */
    const char *word;           /* that one, or NULL: none agrees */
    size_t len;                 /* bytes that came */
    uint8_t index, count, left; /* of the word; of all; of those to be tried */
#if TOOLCALL_MISFIT_TEXT
    uint8_t kept; /* the first bytes, for a misfit */
    char text[TOOLCALL_MISFIT_TEXT];
#endif
} tcall_words_;
