#pragma once
#include "base.h"

/* ==========================================================================
 * >>scan: push recogniser of JSON
 *
 * A state machine that is fed bytes in any pieces and keeps nothing of them:
 * one bit per open level, no recursion. It accepts exactly RFC 8259 (UTF-8
 * checked, surrogates paired, depth capped). Where an outline of wanted paths
 * is given it reports their values as they pass, strings decoded.
 */

/* One row of an outline: a tree written in preorder, each row with its depth,
 * the root being depth 0 and not written. */
typedef struct tcall_path {
    uint8_t depth;
    uint8_t field; /* reported to the callback; 0: only leads to others */
    uint8_t how;   /* TCALL_PATH_... */
    uint8_t len;   /* of its key */
} tcall_path;

/* The rows, the last with depth 0, and their keys one behind the other. */
typedef struct tcall_outline {
    const tcall_path *rows;
    const char *keys;
} tcall_outline;

/* Defines both from a list of X(depth, field, how, key). key "*" is any
 * element of an array, "0" the first:
 *
 * #define ROWS(X)          \
 *     X(1, 0, 0, "choices") \
 *     X(2, 0, 0, "*")       \
 *     X(3, FINISH, 0, "finish_reason")
 *
 * TCALL_OUTLINE(outline, ROWS)
 *
 * What is not used is not linked: the keys are no pointers in the rows. */
#define TCALL_OUTLINE(name, LIST)                                           \
    static const tcall_path name##_rows[] = {LIST(TCALL_ROW_){0, 0, 0, 0}}; \
    static const char name##_keys[] = LIST(TCALL_ROW_KEY_);                 \
    static const tcall_outline name = {name##_rows, name##_keys};
#define TCALL_ROW_(depth, field, how, key)     {depth, field, how, sizeof key - 1},
#define TCALL_ROW_KEY_(depth, field, how, key) key

enum {
    TCALL_PATH_SAME = 1, /* its inside is that of the next row, of the same
                            depth, and is not written twice */
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

/* Reports one event of a wanted value; < 0 stops the scan with that error. */
typedef int (*tcall_scan_fn)(void *user, int field, tcall_scan_event event,
                             tcall_str bytes);

/* Levels of an outline, and the longest key that one may name. */
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

/* A value or key in an array of them; see >>json. The order and the extent of
 * tokens are those of jsmn. */
typedef struct tcall_tok {
    int type;  /* tcall_type and private flags */
    int start; /* in the text; of a string: its content */
    int end;   /* one past it */
    int span;  /* tokens of the whole value, itself included; of a key 1 */
    int mark;  /* private */
} tcall_tok;

/* A character that has begun. */
typedef struct tcall_utf_ {
    uint8_t left, low, high; /* bytes to come; bounds of the next one */
} tcall_utf_;

typedef struct tcall_scan {
    uint8_t state, number, hex_left;
    uint8_t take; /* what a string is: TCALL_TAKE_... */
    uint8_t row;  /* of the value at hand; TCALL_SCAN_NONE_: none */
    uint8_t at;   /* of the container that is open */
    bool object;  /* it is one */
    uint8_t key_len;
    const tcall_path *rows;
    const char *keys;
    tcall_scan_fn on;
    void *user;
    size_t pos;     /* bytes consumed; after an error, where it stands */
    size_t tokens;  /* values and keys seen so far */
    tcall_tok *tok; /* where they go, as many as fit */
    size_t tok_cap;
    const char *text; /* that they refer to */
    int super;        /* token of the open container */
    int last;         /* token of the value that was completed last */
    const char *lit;  /* what is left of true, false, null */
    int error;
    uint16_t depth;
    uint16_t raw_depth; /* depth + 1 of the value that is reported raw */
    uint16_t hex;       /* \u escape so far */
    uint16_t high;      /* high surrogate that waits for its low one */
    tcall_utf_ utf;
    uint8_t open[(TOOLCALL_MAX_DEPTH + 7) / 8]; /* 1: object, 0: array */
    uint8_t node[TCALL_SCAN_LEVELS_];           /* row of each open level */
    uint16_t below[TCALL_SCAN_LEVELS_]; /* where the keys inside it begin */
    uint16_t behind;                    /* the key that matched last */
    uint8_t index[TCALL_SCAN_LEVELS_];  /* element, 255 and more: 255 */
    char key[TCALL_SCAN_KEY_];
} tcall_scan;

/* Start over. outline and on may be NULL: then it only recognises. */
TCALL_API void tcall_scan_init(tcall_scan *s, const tcall_outline *outline,
                               tcall_scan_fn on, void *user);
/* Also make a token of each value and key; the text must be fed in one piece.
 * s->tokens counts those too that do not fit. */
TCALL_API void tcall_scan_tokens(tcall_scan *s, const char *text,
                                 tcall_tok *tok, size_t cap);
/* Feed bytes. TCALL_OK, or the error, which stays. Bytes behind the one value
 * that are not white space are TCALL_E_TRAILING. */
TCALL_API int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len);
/* No more bytes: TCALL_OK only when exactly one whole value was seen. */
TCALL_API int tcall_scan_end(tcall_scan *s);
/* True when the value is complete (a number at the root needs the end). */
TCALL_API bool tcall_scan_done(const tcall_scan *s);
