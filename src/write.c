#pragma once
#include "write.h"
#include "text.c"
#include "shape.c"

/* ==========================================================================
 * >>write
 *
 * All bytes leave by tcall_write_out_. Above it are the escapes of strings,
 * above these the values, which put commas before themselves: the last byte
 * written says whether one is due.
 */

void tcall_writer_init(tcall_writer *writer, char *buf, size_t cap)
{
    memset(writer, 0, sizeof *writer);
    writer->buf = buf;
    writer->cap = cap;
}

void tcall_writer_sink(tcall_writer *writer, tcall_sink sink, void *user)
{
    writer->sink = sink;
    writer->user = user;
}

/* The first error stays. */
static int tcall_writer_fail_(tcall_writer *writer, int error)
{
    if (!writer->error)
        writer->error = error;
    return writer->error;
}

int tcall_writer_flush(tcall_writer *writer)
{
    size_t sent = 0;
    while (writer->sink && sent < writer->fill && !writer->error) {
        int taken =
            writer->sink(writer->user, writer->buf + sent, writer->fill - sent);
        if (taken > 0)
            sent += (size_t)taken;
        else
            tcall_writer_fail_(writer, taken < 0 ? taken : TCALL_E_AGAIN);
    }
    if (sent)
        memmove(writer->buf, writer->buf + sent, writer->fill -= sent);
    return writer->error;
}

/* Only the agent takes up texts again. */
#ifndef TOOLCALL_NO_AGENT
#define TCALL_RESUME_(writer) ((writer)->resume)
#else
#define TCALL_RESUME_(writer) ((tcall_resume_ *)NULL)
#endif

/* A text that is written again, because the sink refused the rest of it, need
 * not be written as a whole: its strings and tools are parts, and those before
 * the one that was refused are left out. All else is written again: it is
 * short, and the writer's state depends on it.
 *
 * Returns whether the part has to be written; then tcall_write_part_end_ has
 * to follow. A part within another one does not count. */
TCALL_SHARED_ bool tcall_write_part_(tcall_writer *writer)
{
    tcall_resume_ *resume = TCALL_RESUME_(writer);
    if (resume && !writer->in_part) {
        writer->parts++;
        if (writer->parts < resume->part || writer->error)
            return false;
        if (writer->parts ==
            resume->part) { /* what was left out counts again */
            writer->len = resume->at;
            writer->last = resume->last;
        }
        resume->part = writer->parts;
        resume->at = writer->len;
        resume->last = writer->last;
    }
    writer->in_part++;
    return true;
}

TCALL_SHARED_ void tcall_write_part_end_(tcall_writer *writer)
{
    writer->in_part--;
}

static void tcall_write_out_(tcall_writer *writer, const char *bytes,
                             size_t len)
{
    const tcall_resume_ *resume = TCALL_RESUME_(writer);
    const char *end = bytes + len;
    if (resume && resume->stored > writer->len) {
        size_t stored = resume->stored - writer->len;
        bytes += stored < len ? stored : len;
    }
    writer->len += len;
    while (bytes < end && !writer->error) {
        size_t room = writer->cap - writer->fill, fits = (size_t)(end - bytes);
        fits = fits < room ? fits : room;
        if (fits == 1) /* most calls; spares that of memcpy */
            writer->buf[writer->fill] = *bytes;
        else if (fits)
            memcpy(writer->buf + writer->fill, bytes, fits);
        writer->fill += fits;
        bytes += fits;
        if (bytes == end || (!writer->sink && !writer->buf)) /* only counts */
            break;
        if (writer->sink && writer->cap)
            tcall_writer_flush(writer);
        else
            tcall_writer_fail_(writer, TCALL_E_MEMORY);
    }
}

/* ---- escapes ---- */

/* Returns the end of the bytes from p on that need no escape. */
static const char *tcall_write_plain_end_(const char *p, const char *end)
{
    const char *plain;
    do
        plain = p = tcall_plain_(p, end);
    while (p < end && *p & 0x80 && tcall_utf8_next_(&p, end) >= 0);
    return plain;
}

/* Writes the inside of a JSON string; twice: that of a string within one, where
 * the escapes are escaped once more. */
static void tcall_write_escaped_(tcall_writer *writer, const char *bytes,
                                 size_t len, bool twice)
{
    const char *end = len ? bytes + len : bytes;
    if (!tcall_write_part_(writer))
        return;
    while (bytes < end) {
        const char *stop = tcall_write_plain_end_(bytes, end);
        char escape[6];
        size_t size = stop < end ? tcall_escape_(escape, *stop) : 0;
        tcall_write_out_(writer, bytes, (size_t)(stop - bytes));
        if (twice)
            tcall_write_escaped_(writer, escape, size, false);
        else
            tcall_write_out_(writer, escape, size);
        bytes = stop + 1;
    }
    tcall_write_part_end_(writer);
}

int tcall_write_bytes(tcall_writer *writer, const char *bytes, size_t len)
{
    if (len) {
        writer->last = bytes[len - 1];
        if (writer->quoted)
            tcall_write_escaped_(writer, bytes, len, writer->quoted > 1);
        else
            tcall_write_out_(writer, bytes, len);
    }
    return writer->error;
}

int tcall_write_text(tcall_writer *writer, const char *text)
{
    return tcall_write_bytes(writer, text, strlen(text));
}

/* Writes one byte, as tcall_write_bytes does. */
TCALL_SHARED_ int tcall_write_char_(tcall_writer *writer, char c)
{
    return tcall_write_bytes(writer, &c, 1);
}

int tcall_write_flash(tcall_writer *writer, const char *text)
{
#ifdef __AVR__
    char c;
    while ((c = TCALL_BYTE_(text++)) != 0) {
        if (c & 0x80) /* of a literal, which is UTF-8 */
            tcall_write_out_(writer, &c, 1);
        else
            tcall_write_char_(writer, c);
    }
    return writer->error;
#else
    return tcall_write_text(writer, text);
#endif
}

/* Writes a text from flash in which % and a letter stand for what a function
 * writes: `part` is given `of` and the letter. */
typedef void (*tcall_part_)(void *of, char letter);

TCALL_NOINLINE_ TCALL_SHARED_ void tcall_write_parts_(tcall_writer *writer,
                                                      const char *text,
                                                      tcall_part_ part,
                                                      void *of)
{
    char c;
    while ((c = TCALL_BYTE_(text++)) != '\0') {
        if (c == '%')
            part(of, TCALL_BYTE_(text++));
        else
            tcall_write_char_(writer, c);
    }
}

/* ---- values ---- */

/* Writes the comma that is due before a value or key, if one is. */
TCALL_SHARED_ void tcall_write_comma_(tcall_writer *writer)
{
    if (writer->depth && writer->last && writer->last != '{' &&
        writer->last != '[' && writer->last != ':')
        tcall_write_char_(writer, ',');
}

int tcall_write_open(tcall_writer *writer, char bracket)
{
    tcall_write_comma_(writer);
    writer->depth++;
    return tcall_write_char_(writer, bracket);
}

int tcall_write_close(tcall_writer *writer, char bracket)
{
    /* a text that is taken up again leaves out values that were sent */
    bool lacks_value = writer->last == ':' && !TCALL_RESUME_(writer);
    if (!writer->depth || lacks_value)
        return tcall_writer_fail_(writer, TCALL_E_USAGE);
    writer->depth--;
    return tcall_write_char_(writer, bracket);
}

int tcall_write_quote(tcall_writer *writer)
{
    tcall_write_comma_(writer);
    tcall_write_char_(writer, '"');
    writer->quoted++;
    writer->last = 0;
    return writer->error;
}

int tcall_write_unquote(tcall_writer *writer)
{
    writer->quoted--;
    return tcall_write_char_(writer, '"');
}

int tcall_write_str(tcall_writer *writer, tcall_str text)
{
    tcall_write_quote(writer);
    tcall_write_bytes(writer, text.ptr, text.len);
    return tcall_write_unquote(writer);
}

int tcall_write_string(tcall_writer *writer, const char *text)
{
    return tcall_write_str(writer, tcall_str_of(text));
}

int tcall_write_key(tcall_writer *writer, const char *key)
{
    tcall_write_string(writer, key);
    return tcall_write_char_(writer, ':');
}

/* Writes a key. Returns the writer, for the value that follows. */
TCALL_SHARED_ tcall_writer *tcall_keyed_(tcall_writer *writer, const char *key)
{
    tcall_write_key(writer, key);
    return writer;
}

int tcall_write_verbatim(tcall_writer *writer, tcall_str json)
{
    tcall_write_comma_(writer);
    return tcall_write_bytes(writer, json.ptr, json.len);
}

/* ---- numbers ---- */

/* Writes 0.digits * 10^point without an exponent, and all of the digits. */
static void tcall_write_digits_(tcall_writer *writer, const char *digits,
                                int count, int point)
{
    int i = point < 1 ? point - 1 : 0, end = count > point ? count : point;
    for (; i < end; i++) {
        if (i == point)
            tcall_write_char_(writer, '.');
        tcall_write_char_(writer, i >= 0 && i < count ? digits[i] : '0');
    }
}

enum { TCALL_DECIMALS_MAX_ = 20 };

/* Writes number / 10^decimals without a comma before it. */
static int tcall_write_number_(tcall_writer *writer, bool minus,
                               tcall_uint number, int decimals)
{
    uint32_t limb[] = {(uint32_t)number, (uint32_t)(number >> 16 >> 16)};
    char out[20], *first = out + sizeof out;
    if (decimals > TCALL_DECIMALS_MAX_)
        return tcall_writer_fail_(writer, TCALL_E_RANGE);
    do
        *--first = (char)('0' + tcall_limbs_tenth_(limb, 2));
    while (limb[0] || limb[1]);
    if (minus)
        tcall_write_char_(writer, '-');
    tcall_write_digits_(writer, first, (int)(out + sizeof out - first),
                        (int)(out + sizeof out - first) - decimals);
    return writer->error;
}

/* Writes value / 10^decimals without a comma before it. */
TCALL_SHARED_ int tcall_write_decimal_(tcall_writer *writer, tcall_int value,
                                       int decimals)
{
    return tcall_write_number_(
        writer, value < 0,
        value < 0 ? 0 - (tcall_uint)value : (tcall_uint)value, decimals);
}

int tcall_write_fixed(tcall_writer *writer, tcall_int value, int decimals)
{
    tcall_write_comma_(writer);
    return tcall_write_decimal_(writer, value, decimals);
}

int tcall_write_int(tcall_writer *writer, tcall_int value)
{
    return tcall_write_fixed(writer, value, 0);
}

int tcall_write_uint(tcall_writer *writer, tcall_uint value)
{
    tcall_write_comma_(writer);
    return tcall_write_number_(writer, false, value, 0);
}

/* ---- floating point ---- */

int tcall_write_double(tcall_writer *writer, double value)
{
    const tcall_bits_ sign = (tcall_bits_)1 << (8 * sizeof sign - 1);
    char digits[TCALL_DOUBLE_DIGITS_] = {'0'};
    tcall_num_ number = {digits, digits, 0, 0, 1, false};
    bool exponent;
    tcall_bits_ bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & ~sign) >= TCALL_INFINITE_) /* or not a number */
        return tcall_writer_fail_(writer, TCALL_E_RANGE);
    tcall_write_comma_(writer);
    if (bits & sign)
        tcall_write_char_(writer, '-');
    if (bits & ~sign)
        number = tcall_num_shortest_(digits, bits & ~sign);
    /* where %.17g writes one */
    exponent = number.top < -4 || number.top >= TCALL_DOUBLE_DIGITS_;
    tcall_write_digits_(writer, number.first,
                        (int)(number.last - number.first) + 1,
                        exponent ? 1 : number.top + 1);
    if (exponent) {
        tcall_write_char_(writer, 'e');
        tcall_write_decimal_(writer, number.top, 0);
    }
    return writer->error;
}

/* ---- literals ---- */

int tcall_write_bool(tcall_writer *writer, bool value)
{
    return tcall_write_verbatim(writer, tcall_str_of(value ? "true" : "false"));
}

int tcall_write_null(tcall_writer *writer)
{
    return tcall_write_verbatim(writer, tcall_str_of("null"));
}

/* ---- values ---- */

/* Writes a string as it was before it was decoded, if it was, and with no more
 * escapes than it needs. */
static void tcall_write_decoded_(tcall_writer *writer, const char *string)
{
    tcall_text_bytes_ bytes = tcall_text_bytes_of_(string);
    tcall_write_char_(writer, '"');
    writer->quoted++;
    while (bytes.at < bytes.end) {
        tcall_str run = tcall_text_run_(&bytes);
        tcall_write_bytes(writer, run.ptr, run.len);
    }
    tcall_write_unquote(writer);
}

int tcall_write_json(tcall_writer *writer, tcall_json value)
{
    const char *at = value.at, *end, *run;
    if (!at)
        return tcall_write_null(writer);
    tcall_write_comma_(writer);
    for (end = tcall_text_skip_(at); at < end; at = tcall_text_space_(run)) {
        run = at;
        while (run < end && !tcall_text_is_string_(run) &&
               !tcall_is_space_(*run))
            run++;
        tcall_write_bytes(writer, at, (size_t)(run - at));
        if (run < end && tcall_text_is_string_(run)) {
            tcall_write_decoded_(writer, run);
            run = tcall_text_string_end_(run);
        }
    }
    return writer->error;
}

/* ---- members ---- */

TCALL_SHARED_ void tcall_write_pair_(tcall_writer *out, const char *key,
                                     tcall_str text)
{
    tcall_write_str(tcall_keyed_(out, key), text);
}

TCALL_SHARED_ void tcall_write_word_(tcall_writer *out, const char *key,
                                     const char *text)
{
    tcall_write_string(tcall_keyed_(out, key), text);
}

/* Opens an object or array that is the value of a key. */
TCALL_SHARED_ void tcall_write_nest_(tcall_writer *out, const char *key,
                                     char bracket)
{
    tcall_write_open(tcall_keyed_(out, key), bracket);
}

TCALL_SHARED_ void tcall_write_count_(tcall_writer *out, const char *key,
                                      uint32_t count)
{
    tcall_write_uint(tcall_keyed_(out, key), count);
}
