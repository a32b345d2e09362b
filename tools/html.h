/*
 * html.h - pages as text, in pieces as they arrive
 *
 * What a reader of the page would see, in the manner of Markdown: headings with
 * as many # as their level, lists with their numbers and nesting, a row of a
 * table on a line, quotes, links as [text](address) and texts in place of
 * images. What a browser does not show is left out: scripts, templates, and
 * elements that say so (hidden, display: none, visibility: hidden). Characters
 * come in the encoding that the server or the page names, by iconv; with
 * TTOOL_NO_ICONV, for static programs, in UTF-8 and windows-1252 only. Named
 * references are the 252 of HTML 4 and &apos;; others are shown as they stand.
 *
 * Pages are read as they come, in the memory of ttool_html_ alone, by the rules
 * of the HTML Standard for tags, comments and references. There is no tree: a
 * page cannot make the host take memory or time beyond its own length.
 *
 * There is nothing here for programs to use: web.h does.
 */
#ifndef TTOOL_HTML_H
#define TTOOL_HTML_H

#include "toolcall.h"

#ifndef TTOOL_NO_ICONV
#include <iconv.h>
#endif

/* A part of a long text: bytes from `from` on, as many as fit. */
typedef struct ttool_part_ {
    uint64_t at, from; /* bytes so far; the first that is wanted */
    char *to;
    size_t cap, len;
    bool more; /* than fitted */
} ttool_part_;

enum {
    TTOOL_H_LEVELS_ = 64,   /* elements that are open at a time */
    TTOOL_H_ADDRESS_ = 2048 /* longest address of a link, with the NUL */
};

/* An element that is open. */
typedef struct ttool_html_open_ {
    char name[12];
    uint8_t what, lines;
    bool hidden;   /* it, or one around it */
    bool pre;      /* likewise: blanks count */
    bool laid_out; /* of a row: it has more than text in its cells */
    uint16_t seen; /* cells of a row, items of a list; columns of a marker */
} ttool_html_open_;

typedef struct ttool_page_ {
    ttool_part_ part;
    ttool_html_open_ open[TTOOL_H_LEVELS_];
    uint8_t depth;
    bool lost;       /* something hidden is too deep: nothing more is shown */
    uint8_t lines;   /* that are due before the next character */
    bool blank;      /* is due too */
    bool first;      /* so is the first byte of what may be U+00A0 */
    bool begun;      /* the line has a character */
    bool opened;     /* <pre> had no text yet: a new line there is not shown */
    uint8_t heading; /* level of one that is due */
    char item[8];    /* the marker that is due: "- ", "12. " */
    bool linked;     /* the text of a link has begun */
    char link[TTOOL_H_ADDRESS_], base[TTOOL_H_ADDRESS_];
} ttool_page_;

typedef struct ttool_html_ {
    ttool_page_ page;
    bool plain; /* it is no HTML: its text is taken as it is */
    uint8_t state;
    bool closing;            /* the tag is an end tag */
    bool raw;                /* what the tag began has no tags inside */
    bool keeps;              /* the attribute is one that matters */
    char quote;              /* of its value, '\0' without */
    uint8_t matched;         /* bytes of "-->", or of the end tag of raw text */
    char name[12];           /* of the tag, cut */
    size_t name_len;         /* not cut */
    size_t len;              /* bytes in text */
    size_t attribute, value; /* where those at hand begin there */
    char text[4096]; /* attributes: name, NUL, value, NUL ...; or a reference */
} ttool_html_;

/* What decodes characters. */
#ifdef TTOOL_NO_ICONV
typedef int ttool_code_;
#else
typedef iconv_t ttool_code_;
#endif

enum { TTOOL_HEAD_ = 1024 /* bytes in which a page names its encoding */ };

/* A page as bytes of any encoding. */
typedef struct ttool_document_ {
    ttool_html_ html;
    char charset[32]; /* as the server says; "": the page may say it itself */
    bool begun;       /* the encoding is known */
    ttool_code_ from; /* TTOOL_UTF8_: as it is */
    char head[TTOOL_HEAD_]; /* the first bytes; then a character's */
    size_t len;             /* bytes in there */
} ttool_document_;

/* Makes an address absolute (RFC 3986, 5.2), without looking at dots: base is
 * "https://host/path?query". False when there is no room. */
bool ttool_absolute_(char *to, size_t cap, const char *base,
                     const char *address);
/* Copies the name after "charset=", in small letters; "" where there is none.
 */
void ttool_charset_(char *name, size_t cap, const char *text);
/* Reads the next bytes of the page. */
void ttool_document_feed_(ttool_document_ *d, const char *bytes, size_t len);
/* Gives back what a page holds while it is read. */
void ttool_document_free_(ttool_document_ *d);
/* Ends the page. */
void ttool_document_end_(ttool_document_ *d);

#endif /* TTOOL_HTML_H */
