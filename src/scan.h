#pragma once
#include "base.h"

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

/* Flags of a tcall_path. */
enum {
    TCALL_PATH_ALIAS_NEXT = 1, /* its inside is that of the next row, of the
                                  same depth, and is not written twice */
    TCALL_PATH_RAW = 2,  /* an object or array is reported as its JSON text,
                            also when there are rows for its inside */
    TCALL_PATH_LAST = 4, /* no other row of this depth follows: saves time */
    TCALL_PATH_ROOT = 8  /* its inside is that of the root */
};

/* What a tcall_scan_fn is told of a value. */
typedef enum tcall_scan_event {
    TCALL_SCAN_BEGIN, /* a value starts; bytes: its first character */
    TCALL_SCAN_DATA,  /* decoded bytes of a string, text of anything else */
    TCALL_SCAN_END    /* the value is complete */
} tcall_scan_event;

/* Receives one event of a wanted value. A result < 0 stops the scan with that
 * error. */
typedef int (*tcall_scan_fn)(void *user, int field, tcall_scan_event event,
                             tcall_str bytes);

/* Levels of a path filter. */
#define TCALL_SCAN_LEVELS_ 9
/* Bytes of a string that are collected: longer keys match nothing. */
#define TCALL_SCAN_PIECE_ 64

/* The state of a scanner. */
typedef struct tcall_scan {
    int error;  /* the error it stopped with, or TCALL_OK */
    size_t pos; /* bytes consumed; after an error the offset of the error */

    /* private */
    uint8_t state, number, hex_left;
    uint8_t string_mode; /* TCALL_STRING_... */
    uint8_t row;         /* of the value at hand, or TCALL_SCAN_NONE_ */
    uint8_t at;          /* row of the container that is open */
    bool object;         /* it is an object */
    uint8_t piece_len;
    const tcall_path *rows;
    const char *keys;
    tcall_scan_fn on;
    void *user;
    const char *lit; /* what is left of true, false, null */
    uint16_t depth;
    uint16_t raw_depth; /* depth + 1 of the value that is reported raw */
    uint16_t hex;       /* \u escape so far */
    uint16_t high;      /* high surrogate that waits for its low one */
    bool wide;  /* a number passed that a double may not hold, as far as its
                   length and exponent say: looked at by who cares */
    bool lone;  /* a surrogate needs no other one: it becomes U+FFFD */
    bool split; /* the low one may come with the next string of the row */
    uint8_t half_row; /* a string of this row ended so, */
    uint16_t half;    /* with this high surrogate; 0: none */
    tcall_utf_ utf;
    uint8_t open[(TOOLCALL_MAX_DEPTH + 7) / 8]; /* 1: object, 0: array */
    uint8_t node[TCALL_SCAN_LEVELS_];           /* row of each open level */
    uint16_t below[TCALL_SCAN_LEVELS_]; /* where the keys inside it begin */
    uint16_t behind;                    /* after the key that matched last */
    uint8_t index[TCALL_SCAN_LEVELS_];  /* element, 255 and more: 255 */
    char piece[TCALL_SCAN_PIECE_]; /* of a key, or of a value with escapes */
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
