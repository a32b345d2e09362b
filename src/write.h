#pragma once
#include "json.h"

/* ==========================================================================
 * >>write: JSON writer
 *
 * Write on, check once: the first error sticks and the length goes on being
 * counted. The same calls go to a buffer, to a counter or through a small
 * buffer to a sink. Commas come by themselves.
 */

/* Takes bytes: > 0 how many, TCALL_E_AGAIN none now, < 0 error. */
typedef int (*tcall_sink)(void *user, const char *bytes, size_t len);

/* Private: where a text that a sink refused is taken up again. */
typedef struct tcall_resume_ {
    size_t part;   /* number of the part that was refused; 0: none was */
    size_t at;     /* bytes before that part */
    char last;     /* the byte before it */
    size_t stored; /* bytes of the text that need not be stored again */
} tcall_resume_;

typedef struct tcall_writer {
    char *buf;
    size_t cap;
    size_t fill; /* bytes in buf */
    size_t len;  /* bytes written in all, those that did not fit included */
    int error;   /* the first one, or TCALL_OK */
    /* private */
    tcall_sink sink;
    void *user;
    tcall_resume_ *resume; /* NULL: the text is written from its start */
    size_t parts;          /* parts begun */
    uint8_t in_part;       /* parts that are open */
    uint8_t quoted;        /* inside tcall_write_quote: bytes are escaped */
    char last;             /* the last byte: it says whether a comma is due */
    uint16_t depth;        /* brackets open: outside of them no commas are */
} tcall_writer;

/* To a buffer: without a sink what does not fit is TCALL_E_MEMORY and len
 * says what was needed. buf NULL and cap 0 only count. With a sink buf only
 * collects small pieces. */
TCALL_API void tcall_writer_init(tcall_writer *w, char *buf, size_t cap);
TCALL_API void tcall_writer_sink(tcall_writer *w, tcall_sink sink, void *user);
/* Send what is collected; the first error of all, or TCALL_OK. */
TCALL_API int tcall_writer_flush(tcall_writer *w);

/* As it is, no quotes, no commas. */
TCALL_API int tcall_write_text(tcall_writer *w, const char *text);
TCALL_API int tcall_write_bytes(tcall_writer *w, const char *bytes, size_t len);
/* JSON. Each returns the first error so far, or TCALL_OK. */
TCALL_API int tcall_write_open(tcall_writer *w, char bracket);  /* '{' or '[' */
TCALL_API int tcall_write_close(tcall_writer *w, char bracket); /* '}' or ']' */
TCALL_API int tcall_write_key(tcall_writer *w, const char *key);
TCALL_API int tcall_write_string(tcall_writer *w, const char *text);
TCALL_API int tcall_write_str(tcall_writer *w, tcall_str text);
TCALL_API int tcall_write_int(tcall_writer *w, long value);
/* value / 10^decimals: (2150, 2) is 21.50 */
TCALL_API int tcall_write_fixed(tcall_writer *w, long value, int decimals);
TCALL_API int tcall_write_bool(tcall_writer *w, bool value);
TCALL_API int tcall_write_null(tcall_writer *w);
/* A parsed value again as JSON text, compact, in its own order. */
TCALL_API int tcall_write_json(tcall_writer *w, tcall_json value);
/* JSON text as it stands, as a value. */
TCALL_API int tcall_write_verbatim(tcall_writer *w, tcall_str json);
/* All that is written in between becomes the content of one JSON string. */
TCALL_API int tcall_write_quote(tcall_writer *w);
TCALL_API int tcall_write_unquote(tcall_writer *w);
