/* outlet.c - see outlet.h */
#define _GNU_SOURCE
#include "examples/agent/outlet.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

void outlet_locale(void)
{
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8");
}

size_t outlet_columns(const outlet *o)
{
    struct winsize size;
    bool known = ioctl(fileno(o->file), TIOCGWINSZ, &size) == 0;
    return known ? size.ws_col : 0;
}

/* ---- words ---- */

static void begin_word(outlet *o)
{
    o->length = o->blanks = o->width = o->blanks_width = 0;
}

/* Writes the word, and the blanks before it unless a line ends there. */
static void end_word(outlet *o)
{
    size_t columns = outlet_columns(o);
    bool fits = !columns || o->column + o->width <= columns;
    size_t skip = fits ? 0 : o->blanks;
    if (!fits && o->length > o->blanks && o->column > o->indent) {
        fprintf(o->file, "\n%*s", (int)o->indent, "");
        o->column = o->indent;
    }
    fwrite(o->word + skip, 1, o->length - skip, o->file);
    o->column += o->width - (fits ? 0 : o->blanks_width);
    if (columns && o->column > columns) /* the terminal broke a long word */
        o->column = (o->column - 1) % columns + 1;
    begin_word(o);
}

static void end_line(outlet *o)
{
    if (o->length > o->blanks)
        end_word(o);
    begin_word(o); /* blanks at the end of a line */
    putc('\n', o->file);
    o->column = 0;
}

static void add_to_word(outlet *o, const char *bytes, size_t len, size_t width)
{
    bool blank = *bytes == ' ' || *bytes == '\t';
    /* Scripts without blanks break at each of their wide characters. */
    if (o->length > o->blanks && (blank || width > 1))
        end_word(o);
    if (o->length + len > sizeof o->word)
        end_word(o);
    memcpy(o->word + o->length, bytes, len);
    o->length += len;
    o->width += width;
    if (blank) {
        o->blanks += len;
        o->blanks_width += width;
    } else if (width > 1) {
        end_word(o);
    }
}

/* ---- characters ---- */

static size_t width_of(const outlet *o, const char *bytes, size_t len)
{
    mbstate_t state;
    wchar_t c;
    int width = 1;
    memset(&state, 0, sizeof state);
    if (*bytes == '\t')
        return 8 - (o->column + o->width) % 8;
    if (mbrtowc(&c, bytes, len, &state) <= len)
        width = wcwidth(c);
    return width < 0 ? 1 : (size_t)width;
}

/* As a part of a line: three dots are where the room ends. */
static void put_flat(outlet *o, const char *bytes, size_t len, size_t width)
{
    bool fits = width < o->room;
    if (strchr("\n\r\t", *bytes)) {
        bytes = " ";
        width = 1;
    }
    if (fits)
        fwrite(bytes, 1, len, o->file);
    else if (o->room)
        fputs("\xE2\x80\xA6", o->file);
    o->room = fits ? o->room - width : 0;
}

static void put_character(outlet *o, const char *bytes, size_t len)
{
    size_t width = width_of(o, bytes, len);
    if (o->flat)
        put_flat(o, bytes, len, width);
    else if (!o->wraps)
        fwrite(bytes, 1, len, o->file);
    else if (*bytes == '\n')
        end_line(o);
    else
        add_to_word(o, bytes, len, width);
}

/* Behind the filters: all of it is UTF-8, in whatever pieces. */
static int outlet_write(void *user, const char *bytes, size_t len)
{
    outlet *o = user;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if ((c & 0xC0) != 0x80) {
            o->bytes = 0;
            o->needed = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        }
        if (o->bytes < sizeof o->character)
            o->character[o->bytes++] = bytes[i];
        if (o->bytes == o->needed)
            put_character(o, o->character, o->bytes);
    }
    return (int)len;
}

void outlet_init(outlet *o, FILE *file)
{
    memset(o, 0, sizeof *o);
    o->file = file;
    o->shown.sink = outlet_write;
    o->shown.user = o;
    o->mask.sink = ttool_shown_put;
    o->mask.user = &o->shown;
}

void outlet_put(outlet *o, tcall_str text)
{
    tcall_mask_put(&o->mask, text.ptr, text.len);
}

void outlet_pause(outlet *o)
{
    if (o->length > o->blanks)
        end_word(o);
}

void outlet_end(outlet *o)
{
    tcall_mask_end(&o->mask);
    ttool_shown_end(&o->shown);
    outlet_pause(o);
}

void outlet_str(outlet *o, tcall_str text)
{
    outlet_put(o, text);
    outlet_end(o);
}

void outlet_part(outlet *o, tcall_str text, size_t columns)
{
    o->flat = true;
    o->room = columns + 1;
    outlet_str(o, text);
    o->flat = false;
}

void outlet_wrapped(outlet *o, tcall_str text, size_t column)
{
    o->wraps = true;
    o->column = o->indent = column;
    outlet_str(o, text);
    begin_word(o);
    o->wraps = false;
}

tcall_writer outlet_writer(outlet *o, char *buf, size_t cap)
{
    tcall_writer w;
    tcall_writer_init(&w, buf, cap);
    tcall_writer_sink(&w, tcall_mask_put, &o->mask);
    return w;
}
