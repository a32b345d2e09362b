#pragma once
#include "machine.h"

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
 * A tcall_machine fills structs as well, from the text that it keeps.
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

/* Significant digits of a number that are kept while it comes; where more come,
 * the last one stands for them. They only matter to a double (kind number)
 * where all others agree with the middle of two doubles: then it is refused as
 * a misfit (room). No such middle has more than 768, so with 769 none is. At
 * least 20; where no integer has 64 bits, 10.
 */
#ifndef TOOLCALL_NUMBER_DIGITS
#ifdef TOOLCALL_NO_INT64
#define TOOLCALL_NUMBER_DIGITS 10
#elif UINTPTR_MAX > 0xFFFFFFFF
#define TOOLCALL_NUMBER_DIGITS 769
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

typedef struct tcall_decoder tcall_decoder;

#if TOOLCALL_MISFIT_TEXT > TOOLCALL_NUMBER_DIGITS
#define TCALL_KEPT_ TOOLCALL_MISFIT_TEXT
#else
#define TCALL_KEPT_ TOOLCALL_NUMBER_DIGITS
#endif

/* A decoder at work. What is said to be private is its own. */
struct tcall_decoder {
    tcall_syntax_ syntax; /* private */

    size_t at; /* bytes accepted so far; after wrong syntax, where */

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

    int16_t error; /* TCALL_OK; TCALL_E_INVALID after a misfit; syntax: why */
    uint8_t misfit_count; /* 255: or more; the first ones are misfits */
    tcall_misfit misfits[TOOLCALL_MAX_FAULTS];
};

#ifndef TOOLCALL_STATIC
/* For tcall_target.rows: a machine fills the struct of a shape, too. */
TCALL_API const tcall_rows tcall_shape_rows;
#endif

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
