/* html.c - see html.h */
#include "tools/gnu.h"

#include "tools/html.h"
#include "tools/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* -- Text that goes out --------------------------------------------------- */

static void ttool_part_put_(ttool_part_ *part, char c)
{
    if (part->at++ < part->from)
        return;
    if (part->len < part->cap)
        part->to[part->len++] = c;
    else
        part->more = true;
}

/* -- Elements to text ----------------------------------------------------- */

/* What an element does beside the lines before and after it. */
enum {
    TTOOL_H_FLOWS_, /* nothing */
    TTOOL_H_VOID_,  /* it has no content */
    TTOOL_H_BREAK_, /* likewise */
    TTOOL_H_LEFT_OUT_,
    TTOOL_H_HEADING_,
    TTOOL_H_QUOTE_,
    TTOOL_H_LIST_,
    TTOOL_H_NUMBERS_,
    TTOOL_H_ITEM_,
    TTOOL_H_ENTRY_, /* of a list of terms, or of choices */
    TTOOL_H_PRE_,
    TTOOL_H_TABLE_,
    TTOOL_H_ROW_,
    TTOOL_H_CELL_,
    TTOOL_H_LINK_,
    TTOOL_H_IMAGE_
};

typedef struct ttool_element_ {
    char name[11];
    uint8_t lines; /* before and after: 1 a new one, 2 an empty one as well */
    uint8_t what;  /* TTOOL_H_... */
} ttool_element_;

static const ttool_element_ ttool_elements_[] = {
    {"a", 0, TTOOL_H_LINK_},
    {"address", 1, TTOOL_H_FLOWS_},
    {"article", 2, TTOOL_H_FLOWS_},
    {"aside", 2, TTOOL_H_FLOWS_},
    {"blockquote", 2, TTOOL_H_QUOTE_},
    {"br", 0, TTOOL_H_BREAK_},
    {"caption", 1, TTOOL_H_FLOWS_},
    {"dd", 1, TTOOL_H_ENTRY_},
    {"details", 2, TTOOL_H_FLOWS_},
    {"div", 1, TTOOL_H_FLOWS_},
    {"dl", 2, TTOOL_H_FLOWS_},
    {"dt", 1, TTOOL_H_ENTRY_},
    {"fieldset", 2, TTOOL_H_FLOWS_},
    {"figcaption", 1, TTOOL_H_FLOWS_},
    {"figure", 2, TTOOL_H_FLOWS_},
    {"footer", 2, TTOOL_H_FLOWS_},
    {"form", 2, TTOOL_H_FLOWS_},
    {"h1", 2, TTOOL_H_HEADING_},
    {"h2", 2, TTOOL_H_HEADING_},
    {"h3", 2, TTOOL_H_HEADING_},
    {"h4", 2, TTOOL_H_HEADING_},
    {"h5", 2, TTOOL_H_HEADING_},
    {"h6", 2, TTOOL_H_HEADING_},
    {"header", 2, TTOOL_H_FLOWS_},
    {"hr", 2, TTOOL_H_VOID_},
    {"iframe", 0, TTOOL_H_LEFT_OUT_},
    {"img", 0, TTOOL_H_IMAGE_},
    {"legend", 1, TTOOL_H_FLOWS_},
    {"li", 1, TTOOL_H_ITEM_},
    {"main", 2, TTOOL_H_FLOWS_},
    {"math", 0, TTOOL_H_FLOWS_},
    {"menu", 2, TTOOL_H_LIST_},
    {"nav", 2, TTOOL_H_FLOWS_},
    {"object", 0, TTOOL_H_LEFT_OUT_},
    {"ol", 2, TTOOL_H_NUMBERS_},
    {"option", 1, TTOOL_H_ENTRY_},
    {"p", 2, TTOOL_H_FLOWS_},
    {"pre", 2, TTOOL_H_PRE_},
    {"script", 0, TTOOL_H_LEFT_OUT_},
    {"section", 2, TTOOL_H_FLOWS_},
    {"style", 0, TTOOL_H_LEFT_OUT_},
    {"summary", 1, TTOOL_H_FLOWS_},
    {"svg", 0, TTOOL_H_LEFT_OUT_},
    {"table", 2, TTOOL_H_TABLE_},
    {"td", 0, TTOOL_H_CELL_},
    {"template", 0, TTOOL_H_LEFT_OUT_},
    {"textarea", 2, TTOOL_H_PRE_},
    {"th", 0, TTOOL_H_CELL_},
    {"title", 2, TTOOL_H_FLOWS_},
    {"tr", 1, TTOOL_H_ROW_},
    {"ul", 2, TTOOL_H_LIST_},
    /* Others that have no content. */
    {"area", 0, TTOOL_H_VOID_},
    {"base", 0, TTOOL_H_VOID_},
    {"col", 0, TTOOL_H_VOID_},
    {"embed", 0, TTOOL_H_VOID_},
    {"input", 0, TTOOL_H_VOID_},
    {"link", 0, TTOOL_H_VOID_},
    {"meta", 0, TTOOL_H_VOID_},
    {"param", 0, TTOOL_H_VOID_},
    {"source", 0, TTOOL_H_VOID_},
    {"track", 0, TTOOL_H_VOID_},
    {"wbr", 0, TTOOL_H_VOID_},
};

static const ttool_element_ *ttool_element_named_(const char *name)
{
    static const ttool_element_ other = {"", 0, TTOOL_H_FLOWS_};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_elements_); i++)
        if (strcmp(ttool_elements_[i].name, name) == 0)
            return &ttool_elements_[i];
    return &other;
}

static ttool_html_open_ *ttool_page_top_(ttool_page_ *page)
{
    return page->depth ? &page->open[page->depth - 1] : NULL;
}

/* The innermost element of a kind. */
static ttool_html_open_ *ttool_page_within_(ttool_page_ *page, int what)
{
    int i = page->depth;
    while (i--)
        if (page->open[i].what == what)
            return &page->open[i];
    return NULL;
}

static void ttool_page_say_(ttool_page_ *page, const char *text)
{
    for (; *text; text++)
        ttool_part_put_(&page->part, *text);
}

/* Begins a line: quotes and items of lists that are open stand before it. An
 * item whose marker is due begins here itself. */
static void ttool_page_margin_(ttool_page_ *page)
{
    int i, columns;
    for (i = 0; i < page->depth; i++) {
        const ttool_html_open_ *open = &page->open[i];
        if (open->what == TTOOL_H_QUOTE_)
            ttool_page_say_(page, "> ");
        columns = open->what == TTOOL_H_ITEM_ ? open->seen : 0;
        if (page->item[0] && open == ttool_page_within_(page, TTOOL_H_ITEM_))
            columns = 0;
        while (columns--)
            ttool_part_put_(&page->part, ' ');
    }
}

/* Writes what is due before a character that is seen. */
static void ttool_page_space_(ttool_page_ *page)
{
    if (page->part.at && page->lines)
        page->begun = false;
    for (; page->lines; page->lines--)
        if (page->part.at)
            ttool_part_put_(&page->part, '\n');
    if (!page->begun)
        ttool_page_margin_(page);
    else if (page->blank)
        ttool_part_put_(&page->part, ' ');
    ttool_page_say_(page, page->item);
    for (; page->heading; page->heading--)
        ttool_page_say_(page, page->heading > 1 ? "#" : "# ");
    page->item[0] = '\0';
    page->blank = false;
    page->begun = true;
}

static void ttool_page_char_(ttool_page_ *page, char c)
{
    ttool_page_space_(page);
    if (page->link[0] && !page->linked)
        ttool_part_put_(&page->part, '[');
    page->linked = page->link[0] != '\0';
    ttool_part_put_(&page->part, c);
}

/* Whether what is at hand is in a cell of a row that is shown on one line. */
static bool ttool_page_in_row_(const ttool_page_ *page)
{
    bool cell = false;
    int i = page->depth;
    while (i-- && page->open[i].what != TTOOL_H_TABLE_) {
        if (page->open[i].what == TTOOL_H_ROW_)
            return cell && !page->open[i].laid_out;
        cell |= page->open[i].what == TTOOL_H_CELL_;
    }
    return false;
}

/* New lines are due; in a row of a table it is a blank. */
static void ttool_page_lines_(ttool_page_ *page, uint8_t lines)
{
    if (lines && ttool_page_in_row_(page))
        page->blank = true;
    else if (page->lines < lines)
        page->lines = lines;
}

/* Text of the page: UTF-8, references to characters are decoded. */
static void ttool_page_text_(ttool_page_ *page, const char *text, size_t len)
{
    const ttool_html_open_ *top = ttool_page_top_(page);
    size_t i;
    if (page->lost || (top && top->hidden))
        return;
    for (i = 0; i < len; i++) {
        /* The first byte of U+00A0, and of control characters, waits: pieces
         * end anywhere. */
        bool second = page->first, blank = second && text[i] == '\xA0';
        page->first = text[i] == '\xC2';
        if (page->first || (second && (uint8_t)text[i] < 0xA0))
            continue;
        if (second && !blank)
            ttool_page_char_(page, '\xC2');
        bool opened = page->opened;
        page->opened = false;
        if (opened && text[i] == '\n')
            continue;
        if (top && top->pre && text[i] == '\n') {
            page->lines = (uint8_t)(page->lines < 3 ? page->lines + 1 : 3);
            page->blank = false;
        } else if (top && top->pre && (text[i] == ' ' || text[i] == '\t')) {
            ttool_page_char_(page, text[i]);
        } else if (blank || strchr(" \t\n\r\f", text[i])) {
            page->blank = true; /* a NUL is one, too */
        } else if ((uint8_t)text[i] >= ' ' && text[i] != 0x7F) {
            ttool_page_char_(page, text[i]);
        }
    }
}

/* -- Addresses ------------------------------------------------------------ */

static bool ttool_alnum_(char c)
{
    return (c >= '0' && c <= '9') ||
           (ttool_lower_(c) >= 'a' && ttool_lower_(c) <= 'z');
}

/* Bytes of the scheme that an address begins with, 0 without one. */
static size_t ttool_scheme_(const char *address)
{
    size_t n = 0;
    while (ttool_alnum_(address[n]) ||
           (n && address[n] && strchr("+-.", address[n])))
        n++;
    return address[n] == ':' ? n : 0;
}

bool ttool_absolute_(char *to, size_t cap, const char *base,
                     const char *address)
{
    size_t scheme = ttool_scheme_(base), path = scheme + 3, keep = 0;
    const char *slash = "";
    if (scheme && !ttool_scheme_(address)) {
        path += strcspn(base + path, "/?#");
        keep = path + strcspn(base + path, address[0] == '#' ? "#" : "?#");
        if (strncmp(address, "//", 2) == 0)
            keep = scheme + 1;
        else if (address[0] == '/')
            keep = path;
        else if (!strchr("?#", address[0])) {
            while (keep > path && base[keep - 1] != '/')
                keep--;
            slash = keep == path ? "/" : "";
        }
    }
    return snprintf(to, cap, "%.*s%s%s", (int)keep, base, slash, address) <
           (int)cap;
}

/* -- Elements that begin and end ------------------------------------------ */

/* Attributes come as name, value, name, value, NULL; a value may be NULL. */
static const char *ttool_attribute_(const char **attributes, const char *name)
{
    for (; attributes && attributes[0]; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1] ? attributes[1] : "";
    return NULL;
}

/* Whether a declaration is in a style: "display" with "none". */
static bool ttool_styled_(const char *style, const char *name,
                          const char *value)
{
    while (style && (style = strcasestr(style, name)) != NULL) {
        style += strlen(name);
        style += strspn(style, " \t\n");
        if (*style != ':')
            continue;
        style += 1 + strspn(style + 1, " \t\n");
        if (strncasecmp(style, value, strlen(value)) == 0)
            return true;
    }
    return false;
}

static bool ttool_hides_(const ttool_element_ *element, const char **attributes)
{
    const char *style = ttool_attribute_(attributes, "style");
    return element->what == TTOOL_H_LEFT_OUT_ ||
           ttool_attribute_(attributes, "hidden") ||
           ttool_styled_(style, "display", "none") ||
           ttool_styled_(style, "visibility", "hidden");
}

/* A link that leads somewhere a page can be fetched from. */
static void ttool_page_link_(ttool_page_ *page, const char *href)
{
    page->link[0] = '\0';
    page->linked = false;
    if (!href || !*href || *href == '#' ||
        !ttool_absolute_(page->link, sizeof page->link, page->base, href) ||
        strncasecmp(page->link, "http", 4) != 0)
        page->link[0] = '\0';
}

static void ttool_page_end_link_(ttool_page_ *page)
{
    if (page->linked) {
        ttool_page_say_(page, "](");
        ttool_page_say_(page, page->link);
        ttool_page_say_(page, ")");
    }
    page->link[0] = '\0';
    page->linked = false;
}

static void ttool_page_image_(ttool_page_ *page, const char *alt)
{
    if (!alt || !*alt)
        return;
    ttool_page_text_(page, "[image: ", 8);
    ttool_page_text_(page, alt, strlen(alt));
    ttool_page_char_(page, ']');
}

/* The cells of a row stand on a line, with | between them; where one of them
 * has lists, headings or the like in it, on lines of their own. */
static void ttool_page_cell_(ttool_page_ *page)
{
    ttool_html_open_ *row = ttool_page_within_(page, TTOOL_H_ROW_);
    if (row && row->laid_out) {
        ttool_page_lines_(page, 1);
    } else if (row && row->seen++) {
        page->blank = true;
        ttool_page_char_(page, '|');
    }
    page->blank = true;
}

/* The row that an element would lay out. */
static void ttool_page_lay_out_(ttool_page_ *page, int what)
{
    ttool_html_open_ *row = ttool_page_within_(page, TTOOL_H_ROW_);
    if (row && what >= TTOOL_H_HEADING_ && what <= TTOOL_H_TABLE_ &&
        what != TTOOL_H_ITEM_ && what != TTOOL_H_ENTRY_)
        row->laid_out = true;
}

/* A number of a list from 1 to 9999; 0 for anything else, and for NULL. */
static uint16_t ttool_page_number_(const char *s)
{
    unsigned n = 0;
    s = s ? s + strspn(s, " \t\n\f\r") : "";
    for (s += *s == '+'; *s >= '0' && *s <= '9' && n <= 9999; s++)
        n = n * 10 + (unsigned)(*s - '0');
    return (uint16_t)(n <= 9999 ? n : 0);
}

/* The marker of an item is due; lines of the item begin below its text. */
static void ttool_page_item_(ttool_page_ *page, const char *value)
{
    ttool_html_open_ *item = ttool_page_top_(page), *list = item;
    while (list > page->open && (list--)->what)
        if (list->what == TTOOL_H_LIST_ || list->what == TTOOL_H_NUMBERS_)
            break;
    snprintf(page->item, sizeof page->item, "- ");
    if (list->what == TTOOL_H_NUMBERS_) {
        if (ttool_page_number_(value))
            list->seen = (uint16_t)(ttool_page_number_(value) - 1);
        list->seen = (uint16_t)(list->seen + (list->seen < 9999));
        snprintf(page->item, sizeof page->item, "%u. ", (unsigned)list->seen);
    }
    item->seen = (uint16_t)strlen(page->item);
}

/* What is seen where an element begins. */
static void ttool_page_show_(ttool_page_ *page, const ttool_element_ *element,
                             const char **attributes)
{
    switch (element->what) {
    case TTOOL_H_HEADING_:
        page->heading = (uint8_t)(element->name[1] - '0');
        break;
    case TTOOL_H_BREAK_: ttool_page_lines_(page, page->lines ? 2 : 1); break;
    case TTOOL_H_ITEM_:
        ttool_page_item_(page, ttool_attribute_(attributes, "value"));
        break;
    case TTOOL_H_CELL_: ttool_page_cell_(page); break;
    case TTOOL_H_PRE_: page->opened = true; break;
    case TTOOL_H_LINK_:
        ttool_page_link_(page, ttool_attribute_(attributes, "href"));
        break;
    case TTOOL_H_IMAGE_:
        ttool_page_image_(page, ttool_attribute_(attributes, "alt"));
        break;
    default: break;
    }
}

/* Closes the elements from the index-th on. */
static void ttool_page_close_(ttool_page_ *page, int index)
{
    while (page->depth > index) {
        const ttool_html_open_ *open = ttool_page_top_(page);
        if (open->what == TTOOL_H_LINK_ && !open->hidden)
            ttool_page_end_link_(page);
        if (open->what == TTOOL_H_ITEM_)
            page->item[0] = '\0';
        if (open->what == TTOOL_H_HEADING_)
            page->heading = 0;
        page->depth--;
        if (!open->hidden)
            ttool_page_lines_(page, open->lines);
    }
}

/* Whether what begins inside of an element leaves open what is around that. */
static bool ttool_shelters_(int open, int what)
{
    if (open == TTOOL_H_TABLE_)
        return true;
    if (what == TTOOL_H_ROW_ || what == TTOOL_H_CELL_)
        return false;
    return open == TTOOL_H_CELL_ || open == TTOOL_H_LIST_ ||
           open == TTOOL_H_NUMBERS_;
}

/* An item, a row and the like end where their next sibling begins, and a
 * paragraph where a block does: few pages say so themselves. */
static void ttool_page_close_sibling_(ttool_page_ *page,
                                      const ttool_element_ *element)
{
    int i = page->depth, what = element->what;
    bool sibling = what >= TTOOL_H_ITEM_ && what <= TTOOL_H_LINK_ &&
                   what != TTOOL_H_PRE_ && what != TTOOL_H_TABLE_;
    while (i-- && !ttool_shelters_(page->open[i].what, what))
        if ((sibling && page->open[i].what == what) ||
            (element->lines && strcmp(page->open[i].name, "p") == 0)) {
            ttool_page_close_(page, i);
            return;
        }
}

/* Lines before and after an element: a list in an item belongs to it. */
static uint8_t ttool_page_apart_(ttool_page_ *page,
                                 const ttool_element_ *element)
{
    bool list =
        element->what == TTOOL_H_LIST_ || element->what == TTOOL_H_NUMBERS_;
    return list && ttool_page_within_(page, TTOOL_H_ITEM_) ? 1 : element->lines;
}

/* Opens an element that has content. */
static void ttool_page_push_(ttool_page_ *page, const char *name,
                             const ttool_element_ *element,
                             const char **attributes, bool hidden)
{
    const ttool_html_open_ *top = ttool_page_top_(page);
    const char *start = ttool_attribute_(attributes, "start");
    uint8_t lines = ttool_page_apart_(page, element);
    ttool_html_open_ *open = &page->open[page->depth++];
    memset(open, 0, sizeof *open);
    snprintf(open->name, sizeof open->name, "%s", name);
    open->what = element->what;
    open->lines = lines;
    open->hidden = hidden;
    open->pre = element->what == TTOOL_H_PRE_ || (top && top->pre);
    if (ttool_page_number_(start))
        open->seen = (uint16_t)(ttool_page_number_(start) - 1);
}

static void ttool_page_begin_(ttool_page_ *page, const char *name,
                              const char **attributes)
{
    const ttool_element_ *element = ttool_element_named_(name);
    const char *base = ttool_attribute_(attributes, "href");
    const ttool_html_open_ *top;
    bool hidden;
    if (strcmp(name, "base") == 0 && base && ttool_scheme_(base))
        snprintf(page->base, sizeof page->base, "%s", base);
    ttool_page_close_sibling_(page, element);
    top = ttool_page_top_(page);
    hidden =
        page->lost || (top && top->hidden) || ttool_hides_(element, attributes);
    if (!hidden) {
        ttool_page_lay_out_(page, element->what);
        ttool_page_lines_(page, ttool_page_apart_(page, element));
    }
    if (element->what != TTOOL_H_VOID_ && element->what != TTOOL_H_BREAK_ &&
        element->what != TTOOL_H_IMAGE_) {
        if (page->depth == TTOOL_H_LEVELS_) {
            page->lost |= hidden;
            return;
        }
        ttool_page_push_(page, name, element, attributes, hidden);
    }
    if (!hidden)
        ttool_page_show_(page, element, attributes);
}

/* Whether an end tag closes nothing that is around an open element: a cell and
 * a table keep theirs inside, a block the text in it. */
static bool ttool_keeps_inside_(const ttool_html_open_ *open,
                                const ttool_element_ *element)
{
    int what = element->what;
    if (open->what == TTOOL_H_TABLE_)
        return true;
    if (open->what == TTOOL_H_CELL_)
        return what != TTOOL_H_CELL_ && what != TTOOL_H_ROW_ &&
               what != TTOOL_H_TABLE_;
    return open->lines && open->what != TTOOL_H_ENTRY_ && !element->lines &&
           what != TTOOL_H_CELL_;
}

/* An end tag without its element is nobody's. */
static void ttool_page_finish_(ttool_page_ *page, const char *name)
{
    const ttool_element_ *element = ttool_element_named_(name);
    char cut[sizeof page->open->name];
    int i = page->depth;
    snprintf(cut, sizeof cut, "%s", name);
    while (i--) {
        if (strcmp(page->open[i].name, cut) == 0) {
            ttool_page_close_(page, i);
            return;
        }
        if (ttool_keeps_inside_(&page->open[i], element))
            return;
    }
}

/* -- Characters and plain text -------------------------------------------- */

/* A character of windows-1252, which numbers from 0x80 to 0x9F in references
 * mean, too, as the HTML Standard has it. */
static uint16_t ttool_windows_code_(uint8_t byte)
{
    static const uint16_t codes[] = {
        0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
        0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
        0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
        0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
    return byte >= 0x80 && byte < 0xA0 ? codes[byte - 0x80] : byte;
}

/* Takes text that is no HTML as it is. */
static void ttool_plain_feed_(ttool_part_ *part, const char *bytes, size_t len)
{
    for (; len--; bytes++)
        if (*bytes == '\n' || *bytes == '\t' ||
            ((uint8_t)*bytes >= ' ' && *bytes != 0x7F))
            ttool_part_put_(part, *bytes);
}

/* -- The bytes of a page -------------------------------------------------- */

enum {
    TTOOL_R_TEXT_,
    TTOOL_R_REFERENCE_, /* after & */
    TTOOL_R_LESS_,      /* after < */
    TTOOL_R_NAME_,      /* of a tag */
    TTOOL_R_TAG_,       /* before an attribute */
    TTOOL_R_ATTRIBUTE_, /* its name */
    TTOOL_R_EQUALS_,    /* after it */
    TTOOL_R_VALUE_,     /* before its value */
    TTOOL_R_QUOTED_,    /* in it */
    TTOOL_R_BANG_,      /* after <! */
    TTOOL_R_COMMENT_,
    TTOOL_R_BOGUS_ /* anything else that ends at > */
};
enum { TTOOL_REFERENCE_ = 32 }; /* longest reference, without its ends */

/* Names of characters that follow each other. */
static const struct ttool_names_ {
    uint16_t first;
    const char *names;
} ttool_name_runs_[] = {
    {0xA0,
     "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy "
     "reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm "
     "raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring "
     "AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH "
     "Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc "
     "Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig "
     "ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde "
     "ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml "
     "yacute thorn yuml "},
    {0x391,
     "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi "
     "Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega "},
    {0x3B1,
     "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi "
     "omicron pi rho sigmaf sigma tau upsilon phi chi psi omega "},
    {0x2190, "larr uarr rarr darr harr "},
    {0x21D0, "lArr uArr rArr dArr hArr "},
    {0x2308, "lceil rceil lfloor rfloor "},
};
static const struct ttool_entity_ {
    char name[9];
    uint16_t code;
} ttool_entities_[] = {
    {"amp", '&'},       {"lt", '<'},         {"gt", '>'},
    {"quot", '"'},      {"apos", '\''},      {"OElig", 0x152},
    {"oelig", 0x153},   {"Scaron", 0x160},   {"scaron", 0x161},
    {"Yuml", 0x178},    {"fnof", 0x192},     {"circ", 0x2C6},
    {"tilde", 0x2DC},   {"thetasym", 0x3D1}, {"upsih", 0x3D2},
    {"piv", 0x3D6},     {"ensp", 0x2002},    {"emsp", 0x2003},
    {"thinsp", 0x2009}, {"zwnj", 0x200C},    {"zwj", 0x200D},
    {"lrm", 0x200E},    {"rlm", 0x200F},     {"ndash", 0x2013},
    {"mdash", 0x2014},  {"lsquo", 0x2018},   {"rsquo", 0x2019},
    {"sbquo", 0x201A},  {"ldquo", 0x201C},   {"rdquo", 0x201D},
    {"bdquo", 0x201E},  {"dagger", 0x2020},  {"Dagger", 0x2021},
    {"bull", 0x2022},   {"hellip", 0x2026},  {"permil", 0x2030},
    {"prime", 0x2032},  {"Prime", 0x2033},   {"lsaquo", 0x2039},
    {"rsaquo", 0x203A}, {"oline", 0x203E},   {"frasl", 0x2044},
    {"euro", 0x20AC},   {"image", 0x2111},   {"weierp", 0x2118},
    {"real", 0x211C},   {"trade", 0x2122},   {"alefsym", 0x2135},
    {"crarr", 0x21B5},  {"forall", 0x2200},  {"part", 0x2202},
    {"exist", 0x2203},  {"empty", 0x2205},   {"nabla", 0x2207},
    {"isin", 0x2208},   {"notin", 0x2209},   {"ni", 0x220B},
    {"prod", 0x220F},   {"sum", 0x2211},     {"minus", 0x2212},
    {"lowast", 0x2217}, {"radic", 0x221A},   {"prop", 0x221D},
    {"infin", 0x221E},  {"ang", 0x2220},     {"and", 0x2227},
    {"or", 0x2228},     {"cap", 0x2229},     {"cup", 0x222A},
    {"int", 0x222B},    {"there4", 0x2234},  {"sim", 0x223C},
    {"cong", 0x2245},   {"asymp", 0x2248},   {"ne", 0x2260},
    {"equiv", 0x2261},  {"le", 0x2264},      {"ge", 0x2265},
    {"sub", 0x2282},    {"sup", 0x2283},     {"nsub", 0x2284},
    {"sube", 0x2286},   {"supe", 0x2287},    {"oplus", 0x2295},
    {"otimes", 0x2297}, {"perp", 0x22A5},    {"sdot", 0x22C5},
    {"lang", 0x27E8},   {"rang", 0x27E9},    {"loz", 0x25CA},
    {"spades", 0x2660}, {"clubs", 0x2663},   {"hearts", 0x2665},
    {"diams", 0x2666},
};

/* The character of a name, 0: there is none. */
static uint32_t ttool_named_code_(const char *name)
{
    size_t i, n = strlen(name);
    for (i = 0; i < TCALL_ARRAY_LEN(ttool_entities_); i++)
        if (strcmp(ttool_entities_[i].name, name) == 0)
            return ttool_entities_[i].code;
    for (i = 0; n && i < TCALL_ARRAY_LEN(ttool_name_runs_); i++) {
        const char *p = ttool_name_runs_[i].names;
        uint32_t code = ttool_name_runs_[i].first;
        for (; *p; code++, p = strchr(p, ' ') + 1)
            if (strncmp(p, name, n) == 0 && p[n] == ' ')
                return code;
    }
    return 0;
}

static uint32_t ttool_numbered_code_(const char *digits)
{
    bool hex = digits[0] == 'x' || digits[0] == 'X';
    size_t count =
        strspn(digits + hex, hex ? "0123456789abcdefABCDEF" : "0123456789");
    unsigned long code = strtoul(digits + hex, NULL, hex ? 16 : 10);
    if (!count || digits[hex + count])
        return 0;
    if (code < 0x100)
        code = ttool_windows_code_((uint8_t)code);
    return !code || code > 0x10FFFF || code >> 11 == 0x1B ? 0xFFFD
                                                          : (uint32_t)code;
}

/* The character that a reference stands for ("amp", "#38", "#x26"), as UTF-8;
 * how many bytes, 0: none. */
static int ttool_reference_(const char *name, uint8_t bytes[4])
{
    uint32_t code = name[0] == '#' ? ttool_numbered_code_(name + 1)
                                   : ttool_named_code_(name);
    return code ? ttool_utf8_(bytes, (int32_t)code) : 0;
}

/* Bytes of the name that text begins with and that needs no semicolon, as old
 * pages write it: 0 if there is none. All that is old is in ISO 8859-1. */
static size_t ttool_old_name_(const char *text, size_t len)
{
    char name[8];
    uint32_t code;
    for (len = len < 7 ? len : 7; len > 1; len--) {
        snprintf(name, sizeof name, "%.*s", (int)len, text);
        code = ttool_named_code_(name);
        if (code && code < 0x100 && code != '\'')
            return len;
    }
    return 0;
}

/* Decodes the references in a value, in place: they only get shorter. Names
 * count with their semicolon only: "?a=1&copy=2" is an address. */
static void ttool_decode_(char *value)
{
    const char *from = value;
    uint8_t bytes[4];
    char name[16];
    for (; *from; from++) {
        size_t n = *from == '&' ? strcspn(from, "; ") : 0;
        int len = 0;
        if (n > 1 && n < sizeof name && from[n] == ';') {
            snprintf(name, sizeof name, "%.*s", (int)n - 1, from + 1);
            len = ttool_reference_(name, bytes);
        }
        if (len) {
            memcpy(value, bytes, (size_t)len);
            value += len;
            from += n;
        } else {
            *value++ = *from;
        }
    }
    *value = '\0';
}

/* Keeps a byte of an attribute or a reference, as long as there is room. */
static void ttool_html_keep_(ttool_html_ *html, char c)
{
    if (html->len < sizeof html->text - 2)
        html->text[html->len++] = c;
}

/* A reference ends before c. What is none is text. */
static void ttool_html_refer_(ttool_html_ *html, char c)
{
    size_t used = html->len;
    uint8_t bytes[4];
    char rest[TTOOL_REFERENCE_ + 1];
    int len;
    html->text[html->len] = '\0';
    if (html->text[0] != '#' &&
        (c != ';' || !ttool_reference_(html->text, bytes)))
        used = ttool_old_name_(html->text, html->len);
    strcpy(rest, html->text + used);
    html->text[used] = '\0';
    len = ttool_reference_(html->text, bytes);
    html->state = TTOOL_R_TEXT_;
    ttool_page_text_(&html->page, len ? (const char *)bytes : "&",
                     len ? (size_t)len : 1);
    if (!len)
        ttool_page_text_(&html->page, html->text, used);
    ttool_page_text_(&html->page, rest, strlen(rest));
    if (c == ';' && (!len || rest[0]))
        ttool_page_text_(&html->page, ";", 1);
}

/* Ends the name of an attribute: only few matter. */
static void ttool_html_named_(ttool_html_ *html)
{
    static const char *const wanted[] = {"href",  "alt",    "style",
                                         "value", "hidden", "start"};
    size_t i;
    html->text[html->len++] = '\0';
    html->keeps = false;
    for (i = 0; i < TCALL_ARRAY_LEN(wanted); i++)
        html->keeps |= strcmp(html->text + html->attribute, wanted[i]) == 0;
    html->value = html->len;
    if (!html->keeps)
        html->len = html->attribute;
    html->state = TTOOL_R_EQUALS_;
}

/* Ends an attribute, with or without a value. */
static void ttool_html_valued_(ttool_html_ *html)
{
    html->state = TTOOL_R_TAG_;
    if (!html->keeps)
        return;
    html->text[html->len] = '\0';
    ttool_decode_(html->text + html->value);
    html->len = html->value + strlen(html->text + html->value) + 1;
}

/* Whether a tag begins text without tags, until its end tag. */
static bool ttool_is_raw_(const char *name)
{
    static const char *const names[] = {"script",   "style",  "textarea",
                                        "title",    "xmp",    "iframe",
                                        "noframes", "noembed"};
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* A tag is complete. */
static void ttool_html_tag_(ttool_html_ *html)
{
    const char *list[17], *p = html->text, *end = p + html->len;
    size_t n = 0;
    while (p < end && n + 2 < TCALL_ARRAY_LEN(list)) {
        list[n++] = p;
        p += strlen(p) + 1;
        list[n++] = p;
        p += strlen(p) + 1;
    }
    list[n] = NULL;
    html->state = TTOOL_R_TEXT_;
    html->matched = 0;
    html->raw = !html->closing && ttool_is_raw_(html->name);
    if (html->closing)
        ttool_page_finish_(&html->page, html->name);
    else
        ttool_page_begin_(&html->page, html->name, list);
}

/* After "<": a tag, a comment, or a character like any other. */
static void ttool_html_less_(ttool_html_ *html, char c)
{
    html->name_len = html->len = 0;
    html->matched = 0;
    if (c == '/' && !html->closing) {
        html->closing = true;
        return;
    }
    if (ttool_lower_(c) >= 'a' && ttool_lower_(c) <= 'z')
        html->state = TTOOL_R_NAME_;
    else if (c == '!' && !html->closing)
        html->state = TTOOL_R_BANG_;
    else if (c == '?' || html->closing)
        html->state = c == '>' ? TTOOL_R_TEXT_ : TTOOL_R_BOGUS_;
    else
        html->state = TTOOL_R_TEXT_;
    if (html->state == TTOOL_R_TEXT_ && c != '>')
        ttool_page_text_(&html->page, "<", 1);
}

/* In a comment: it ends at "-->" and "--!>", and at once in "<!-->". */
static void ttool_html_comment_(ttool_html_ *html, char c)
{
    if (c == '>' && html->matched >= 2)
        html->state = TTOOL_R_TEXT_;
    else if (c == '-')
        html->matched = (uint8_t)(html->matched < 2 ? html->matched + 1 : 2);
    else if (c != '!' || html->matched < 2)
        html->matched = 0;
}

/* One byte within a tag. */
static void ttool_html_in_tag_(ttool_html_ *html, char c)
{
    bool blank = strchr(" \t\n\r\f", c) != NULL;
    switch (html->state) {
    case TTOOL_R_NAME_:
        if (!blank && c != '/' && c != '>') {
            if (html->name_len < sizeof html->name - 1)
                html->name[html->name_len++] = ttool_lower_(c);
            return;
        }
        html->name[html->name_len] = '\0';
        html->state = TTOOL_R_TAG_;
        break;
    case TTOOL_R_ATTRIBUTE_:
        if (!blank && c != '=' && c != '/' && c != '>') {
            ttool_html_keep_(html, ttool_lower_(c));
            return;
        }
        ttool_html_named_(html);
        break;
    case TTOOL_R_VALUE_:
        if (blank)
            return;
        html->quote = c == '"' || c == '\'' ? c : '\0';
        html->state = TTOOL_R_QUOTED_;
        if (html->quote)
            return;
        break;
    default: break;
    }
    if (html->state == TTOOL_R_EQUALS_) {
        if (c == '=')
            html->state = TTOOL_R_VALUE_;
        if (c == '=' || blank)
            return;
        ttool_html_valued_(html);
    }
    if (html->state == TTOOL_R_QUOTED_) {
        if (html->quote ? c != html->quote : !blank && c != '>') {
            if (html->keeps)
                ttool_html_keep_(html, c);
            return;
        }
        ttool_html_valued_(html);
        if (html->quote)
            return;
    }
    if (c == '>') {
        ttool_html_tag_(html);
    } else if (!blank && c != '/') {
        html->attribute = html->len;
        html->state = TTOOL_R_ATTRIBUTE_;
        ttool_html_keep_(html, ttool_lower_(c));
    }
}

/* One byte of raw text. Its end tag is its own name, and then no letter. */
static void ttool_html_raw_(ttool_html_ *html, char c)
{
    bool references =
        strcmp(html->name, "title") == 0 || strcmp(html->name, "textarea") == 0;
    char want = html->matched == 0   ? '<'
                : html->matched == 1 ? '/'
                                     : html->name[html->matched - 2];
    if (want && ttool_lower_(c) == want) {
        html->matched++;
        return;
    }
    if (!want && strchr(" \t\n\r\f/>", c)) {
        html->closing = true;
        html->len = 0;
        html->state = TTOOL_R_TAG_;
        ttool_html_in_tag_(html, c);
        return;
    }
    if (html->matched)
        ttool_page_text_(&html->page, "</", html->matched > 1 ? 2 : 1);
    if (html->matched > 2)
        ttool_page_text_(&html->page, html->name, html->matched - 2u);
    html->matched = c == '<';
    if (references && c == '&') {
        html->len = 0;
        html->state = TTOOL_R_REFERENCE_;
    } else if (c != '<') {
        ttool_page_text_(&html->page, &c, 1);
    }
}

static void ttool_html_byte_(ttool_html_ *html, char c)
{
    switch (html->state) {
    case TTOOL_R_TEXT_:
    case TTOOL_R_REFERENCE_: break;
    case TTOOL_R_LESS_:
        ttool_html_less_(html, c);
        if (html->state != TTOOL_R_TEXT_ || c == '>') {
            if (html->state == TTOOL_R_NAME_)
                ttool_html_in_tag_(html, c);
            return;
        }
        break;
    case TTOOL_R_BANG_:
        html->matched = (uint8_t)(c == '-' ? html->matched + 1 : 0);
        html->state = html->matched == 2 ? TTOOL_R_COMMENT_
                      : html->matched    ? TTOOL_R_BANG_
                      : c == '>'         ? TTOOL_R_TEXT_
                                         : TTOOL_R_BOGUS_;
        return;
    case TTOOL_R_COMMENT_: ttool_html_comment_(html, c); return;
    case TTOOL_R_BOGUS_:
        if (c == '>')
            html->state = TTOOL_R_TEXT_;
        return;
    default: ttool_html_in_tag_(html, c); return;
    }
    if (html->state == TTOOL_R_REFERENCE_) {
        if (html->len < TTOOL_REFERENCE_ &&
            (ttool_alnum_(c) || (c == '#' && !html->len))) {
            html->text[html->len++] = c;
            return;
        }
        ttool_html_refer_(html, c);
        if (c == ';')
            return;
    }
    if (html->raw) {
        ttool_html_raw_(html, c);
    } else if (c == '<') {
        html->closing = false;
        html->state = TTOOL_R_LESS_;
    } else if (c == '&') {
        html->len = 0;
        html->state = TTOOL_R_REFERENCE_;
    } else {
        ttool_page_text_(&html->page, &c, 1);
    }
}

static void ttool_html_feed_(ttool_html_ *html, const char *bytes, size_t len)
{
    if (html->plain)
        ttool_plain_feed_(&html->page.part, bytes, len);
    else
        while (len--)
            ttool_html_byte_(html, *bytes++);
}

static void ttool_html_end_(ttool_html_ *html)
{
    if (!html->plain && html->state == TTOOL_R_REFERENCE_)
        ttool_html_refer_(html, '\0');
    ttool_page_close_(&html->page, 0);
}

/* -- Characters ----------------------------------------------------------- */

#ifdef TTOOL_NO_ICONV

/* What iconv does, for windows-1252 alone. */
#define TTOOL_UTF8_ (-1)

static ttool_code_ ttool_code_open_(const char *name)
{
    return strcmp(name, "windows-1252") == 0 ? 0 : TTOOL_UTF8_;
}

static size_t ttool_code_read_(ttool_code_ code, char **from, size_t *len,
                               char **to, size_t *room)
{
    (void)code;
    for (; *len && *room >= 4; --*len) {
        int n = ttool_utf8_((uint8_t *)*to,
                            ttool_windows_code_((uint8_t) * (*from)++));
        *to += n;
        *room -= (size_t)n;
    }
    errno = E2BIG;
    return *len ? (size_t)-1 : 0;
}

static void ttool_code_close_(ttool_code_ code)
{
    (void)code;
}

#else

#define TTOOL_UTF8_ ((iconv_t)-1)

static ttool_code_ ttool_code_open_(const char *name)
{
    return iconv_open("UTF-8", name);
}

static size_t ttool_code_read_(ttool_code_ code, char **from, size_t *len,
                               char **to, size_t *room)
{
    return iconv(code, from, len, to, room);
}

static void ttool_code_close_(ttool_code_ code)
{
    iconv_close(code);
}

#endif

void ttool_charset_(char *name, size_t cap, const char *text)
{
    const char *p = strcasestr(text, "charset");
    size_t n = 0;
    name[0] = '\0';
    if (!p)
        return;
    p += 7 + strspn(p + 7, " \t\n");
    if (*p != '=')
        return;
    p += 1 + strspn(p + 1, " \t\n\"'");
    for (; *p && !strchr("\"'; />\t\n", *p) && n + 1 < cap; p++)
        name[n++] = ttool_lower_(*p);
    name[n] = '\0';
}

/* What a page says in its first bytes: a byte order mark, or <meta>. */
static void ttool_sniff_(ttool_document_ *d)
{
    char *p = d->head;
    d->head[d->len < sizeof d->head ? d->len : sizeof d->head - 1] = '\0';
    if (strncmp(p, "\xEF\xBB\xBF", 3) == 0)
        strcpy(d->charset, "utf-8");
    while (!d->charset[0] && (p = strcasestr(p, "<meta")) != NULL) {
        char *end = strchr(p, '>'), kept = '\0';
        if (end) {
            kept = *end;
            *end = '\0';
        }
        ttool_charset_(d->charset, sizeof d->charset, p);
        if (end)
            *end = kept;
        p += 5;
        if (strncmp(d->charset, "utf-16", 6) == 0) /* it could not be read */
            strcpy(d->charset, "utf-8");
    }
}

/* Opens the encoding. Its name means what browsers take it for: the HTML
 * Standard reads all of ISO 8859-1 as windows-1252. */
static ttool_code_ ttool_open_charset_(const char *name)
{
    static const char *const meant[][2] = {{"iso-8859-1", "windows-1252"},
                                           {"iso8859-1", "windows-1252"},
                                           {"latin1", "windows-1252"},
                                           {"us-ascii", "windows-1252"},
                                           {"ascii", "windows-1252"},
                                           {"cp1252", "windows-1252"},
                                           {"iso-8859-9", "windows-1254"},
                                           {"gb2312", "gb18030"},
                                           {"gbk", "gb18030"},
                                           {"shift_jis", "cp932"},
                                           {"sjis", "cp932"},
                                           {"x-sjis", "cp932"},
                                           {"euc-kr", "cp949"},
                                           {"big5", "big5-hkscs"}};
    size_t i;
    if (!name[0] || strcmp(name, "utf-8") == 0 || strcmp(name, "utf8") == 0)
        return TTOOL_UTF8_;
    for (i = 0; i < TCALL_ARRAY_LEN(meant); i++)
        if (strcmp(meant[i][0], name) == 0)
            name = meant[i][1];
    return ttool_code_open_(name);
}

/* Decodes as much as is whole; what is no character becomes U+FFFD. Returns how
 * many bytes are left. */
static size_t ttool_decode_bytes_(ttool_document_ *d, char *bytes, size_t len)
{
    char out[512], *to, *from = bytes;
    size_t room;
    while (len) {
        size_t done;
        to = out;
        room = sizeof out;
        done = ttool_code_read_(d->from, &from, &len, &to, &room);
        ttool_html_feed_(&d->html, out, (size_t)(to - out));
        if (done != (size_t)-1 || errno == E2BIG)
            continue;
        if (errno == EINVAL)
            break;
        ttool_html_feed_(&d->html, "\xEF\xBF\xBD", 3);
        from++;
        len--;
    }
    memmove(bytes, from, len);
    return len;
}

/* Feeds bytes whose encoding is known. */
static void ttool_document_on_(ttool_document_ *d, const char *bytes,
                               size_t len)
{
    if (d->from == TTOOL_UTF8_) {
        ttool_html_feed_(&d->html, bytes, len);
        return;
    }
    while (len) {
        size_t n = sizeof d->head - d->len;
        n = n < len ? n : len;
        memcpy(d->head + d->len, bytes, n);
        d->len = ttool_decode_bytes_(d, d->head, d->len + n);
        if (d->len > 16) /* no character is so long: do not wait for it */
            d->len = 0;
        bytes += n;
        len -= n;
    }
}

/* The first bytes are there, or the page has no more. */
static void ttool_document_begin_(ttool_document_ *d)
{
    char head[TTOOL_HEAD_];
    size_t len = d->len, mark;
    ttool_sniff_(d);
    memcpy(head, d->head, len);
    mark = len >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    d->from = ttool_open_charset_(d->charset);
    d->begun = true;
    d->len = 0;
    ttool_document_on_(d, head + mark, len - mark);
}

void ttool_document_feed_(ttool_document_ *d, const char *bytes, size_t len)
{
    size_t n = 0;
    if (!d->begun) {
        n = sizeof d->head - 1 - d->len;
        n = n < len ? n : len;
        memcpy(d->head + d->len, bytes, n);
        d->len += n;
        if (d->len < sizeof d->head - 1)
            return;
        ttool_document_begin_(d);
    }
    ttool_document_on_(d, bytes + n, len - n);
}

void ttool_document_free_(ttool_document_ *d)
{
    if (!d->begun)
        return;
    ttool_html_end_(&d->html);
    if (d->from != TTOOL_UTF8_)
        ttool_code_close_(d->from);
    d->begun = false;
}

void ttool_document_end_(ttool_document_ *d)
{
    if (!d->begun)
        ttool_document_begin_(d);
    if (d->len) /* a character that is cut */
        ttool_html_feed_(&d->html, "\xEF\xBF\xBD", 3);
    ttool_document_free_(d);
}
