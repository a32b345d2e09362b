#pragma once
#include "text.h"
#include "shape.h"

/* ==========================================================================
 * >>write: JSON writer
 *
 * Write on, check once: the first error stays, and the length goes on being
 * counted. The same calls write to a buffer, to a counter, or through a small
 * buffer to a sink. Commas are written by themselves. Each tcall_write_
 * function that returns int returns the error of the writer, or TCALL_OK.
 */

/* Takes bytes. Returns how many (> 0), TCALL_E_AGAIN when it can take none now,
 * or an error. */
typedef int (*tcall_sink)(void *user, const char *bytes, size_t len);

/* Private: where a text that a sink refused is taken up again. */
typedef struct tcall_resume_ {
    size_t part;   /* number of the part that was refused; 0: none was */
    size_t at;     /* bytes before that part */
    char last;     /* the byte before it */
    size_t stored; /* bytes of the text that need not be stored again */
} tcall_resume_;

/* Text that is being written; buf stays the caller's. */
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
    uint8_t quoted;        /* quotes that are open: bytes are escaped */
    char last;             /* the last byte: it says whether a comma is due */
    uint16_t depth;        /* open brackets: outside of them are no commas */
} tcall_writer;

/* Prepares a writer to a buffer. What does not fit is TCALL_E_MEMORY, and len
 * says how much is needed. buf NULL with cap 0 only counts. */
TCALL_API void tcall_writer_init(tcall_writer *writer, char *buf, size_t cap);
/* Sends the output to a sink instead; buf then only collects small pieces. It
 * needs one byte: without, what is written is TCALL_E_MEMORY. */
TCALL_API void tcall_writer_sink(tcall_writer *writer, tcall_sink sink,
                                 void *user);
/* Sends what is collected. Returns the first error of all, or TCALL_OK. */
TCALL_API int tcall_writer_flush(tcall_writer *writer);

/* Writes bytes as they are: no quotes, no commas. Each function from here on
 * returns the first error so far, or TCALL_OK. */
TCALL_API int tcall_write_text(tcall_writer *writer, const char *text);
TCALL_API int tcall_write_bytes(tcall_writer *writer, const char *bytes,
                                size_t len);
/* Writes a text that lies in flash, as those of shapes do. A literal does so on
 * an AVR only if it is written with TCALL_SAY(writer, "on"). */
TCALL_API int tcall_write_flash(tcall_writer *writer, const char *text);
#define TCALL_SAY(writer, literal) \
    tcall_write_flash(writer, TCALL_FLASH_TEXT_(literal))

/* Opens '{' or '[', closes '}' or ']'. Closing where nothing is open, or after
 * a key without a value, is TCALL_E_USAGE. */
TCALL_API int tcall_write_open(tcall_writer *writer, char bracket);
TCALL_API int tcall_write_close(tcall_writer *writer, char bracket);
TCALL_API int tcall_write_key(tcall_writer *writer, const char *key);
/* Writes a string. Bytes that are not UTF-8 become U+FFFD. */
TCALL_API int tcall_write_string(tcall_writer *writer, const char *text);
TCALL_API int tcall_write_str(tcall_writer *writer, tcall_str text);
TCALL_API int tcall_write_int(tcall_writer *writer, tcall_int value);
TCALL_API int tcall_write_uint(tcall_writer *writer, tcall_uint value);
/* Writes value / 10^decimals without floating point: (2150, 2) is 21.50. At
 * most 20 decimals. */
TCALL_API int tcall_write_fixed(tcall_writer *writer, tcall_int value,
                                int decimals);
/* Writes the fewest digits that read back as the same number. JSON has no
 * infinities and no NaN: these are TCALL_E_RANGE. */
TCALL_API int tcall_write_double(tcall_writer *writer, double value);
TCALL_API int tcall_write_bool(tcall_writer *writer, bool value);
TCALL_API int tcall_write_null(tcall_writer *writer);
/* Writes a value as compact JSON text, in its own order: of its strings those
 * characters are escaped that JSON wants so, however they came. */
TCALL_API int tcall_write_json(tcall_writer *writer, tcall_json value);
/* Writes JSON text as it is, as a value. */
TCALL_API int tcall_write_verbatim(tcall_writer *writer, tcall_str json);
/* Begins and ends one JSON string whose content is all that is written in
 * between. Within one there may be a second one. */
TCALL_API int tcall_write_quote(tcall_writer *writer);
TCALL_API int tcall_write_unquote(tcall_writer *writer);
