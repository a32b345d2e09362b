#pragma once
#include "shape.h"

/* ==========================================================================
 * >>syntax: the one recogniser of JSON
 *
 * Fed RFC 8259 in pieces of any length, it tells its user of names and values.
 * What the user does not ask for is recognised all the same, and told to
 * nobody. It keeps one bit for each open level and nothing of the text.
 *
 * With TOOLCALL_JSMN a text that lies whole is tokenised by jsmn: its tokens
 * say where the values are and what they are part of, and the recogniser reads
 * only what is in them. For that jsmn.h is included first, or found by the
 * compiler, and JSMN_STRICT and JSMN_PARENT_LINKS are defined, for jsmn.h too.
 */

#ifdef TOOLCALL_JSMN
#if !defined JSMN_STRICT || !defined JSMN_PARENT_LINKS
#error "TOOLCALL_JSMN: define JSMN_STRICT and JSMN_PARENT_LINKS, for jsmn.h too"
#endif
#ifndef JSMN_H
#include <jsmn.h>
#endif
#endif

typedef struct tcall_syntax_ tcall_syntax_;

/* What a user wants of a value: nothing; to be told of it and of what is in it;
 * its text, through data, without the white space between tokens. */
typedef enum tcall_ask_ { TCALL_SKIP_, TCALL_HEAR_, TCALL_RAW_ } tcall_ask_;

/* What is told. A user that finds a fault sets error and halt; nothing is told
 * from then on. */

/* A member's name, decoded: mostly all of it, else in pieces of which the last
 * ends it. Returns whether its value is asked for. */
typedef bool (*tcall_user_name_)(tcall_syntax_ *s, const char *name, size_t len,
                                 bool last);
/* A value begins, with this character. */
typedef tcall_ask_ (*tcall_user_begin_)(tcall_syntax_ *s, char first);
/* Of a string its decoded bytes, else its text; several calls a value. What was
 * escaped comes alone. */
typedef void (*tcall_user_data_)(tcall_syntax_ *s, const char *bytes,
                                 size_t len);
/* A value that was heard is complete. */
typedef void (*tcall_user_end_)(tcall_syntax_ *s);

/* Tables of these lie in flash. */
typedef struct tcall_syntax_user_ {
    tcall_user_name_ name;
    tcall_user_begin_ begin;
    tcall_user_data_ data;
    tcall_user_end_ end;
} tcall_syntax_user_;
#define TCALL_USER_(s, told) \
    TCALL_FETCH_POINTER_(tcall_user_##told##_, &(s)->user->told)

/* The state of a recogniser; the user's own state begins with it. */
struct tcall_syntax_ {
    const tcall_syntax_user_ *user;
    int error; /* TCALL_OK, or what ended it */
    uint8_t state, depth;
    uint8_t within; /* where in a number or literal, or the digits of a \u
                     * escape that are to come */
    uint8_t quiet; /* 1 + the depth behind which nobody is told; 0: all is heard
                    */
    uint8_t types; /* that a value may have which begins as the last one did */
    bool halt;     /* the value is complete, there is an error, a line ends */
    bool object;   /* the innermost open container is one */
    bool named;    /* the string at hand is a name */
    bool raw;      /* the value at hand is told as its text */
    bool lines;    /* the end of a line, CR or LF, between tokens halts */
    bool halves;   /* of characters written as two escapes each half is told by
                    * itself, as three bytes that are no UTF-8 */
    tcall_utf_ utf;
    uint16_t unit, high; /* of \u escapes */
    size_t followed;     /* bytes of the string that are not the first of a
                          * character */
    const char *from;    /* where the raw text of this piece begins; when a name
                          * or value begins, or one that was heard ends: where */
    uint8_t open[(TOOLCALL_MAX_DEPTH + 7) / 8]; /* by depth: is it an object */
};
