/* tools/html.c: pages as text, those of pages/pages.txt: a page, in the
 * encoding that its title names, and the text that a reader of it would see. */
#define _GNU_SOURCE
#include "tools/html.h"
#include "check.h"

enum { ROOM = 1 << 16 };

typedef struct page {
    char name[32], charset[32];
    char html[ROOM];
    size_t len;
    char text[ROOM];
} page;

static FILE *pages;
static char line[ROOM];

/* Takes lines up to one that begins with a mark; that one stays in line. */
static void take(char *to, const char *mark)
{
    *to = '\0';
    while (fgets(line, sizeof line, pages) &&
           strncmp(line, mark, strlen(mark)) != 0)
        strcat(to, line);
}

/* Puts the page into its encoding. */
static void encode(page *p)
{
    static char bytes[ROOM];
    char *from = p->html, *to = bytes;
    size_t len = strlen(p->html), room = sizeof bytes;
    iconv_t code = iconv_open(p->charset, "UTF-8");
    CHECK(code != (iconv_t)-1 &&
          iconv(code, &from, &len, &to, &room) != (size_t)-1);
    iconv_close(code);
    p->len = (size_t)(to - bytes);
    memcpy(p->html, bytes, p->len);
}

static bool next(page *p)
{
    size_t end;
    p->charset[0] = '\0';
    if (sscanf(line, "=== %31s %31s", p->name, p->charset) < 1)
        return false;
    take(p->html, "--- text");
    take(p->text, "=== ");
    for (end = strlen(p->text); end && p->text[end - 1] == '\n';)
        p->text[--end] = '\0';
    p->len = strlen(p->html);
    if (p->charset[0])
        encode(p);
    return true;
}

/* Reads a page in pieces; gives a part of its text. */
static size_t read_page(const page *p, size_t piece, size_t from, char *text,
                        size_t cap)
{
    static ttool_document_ d;
    ttool_page_ *out = &d.html.page;
    size_t at, n;
    memset(&d, 0, sizeof d);
    out->part.to = text;
    out->part.cap = cap;
    out->part.from = from;
    strcpy(out->base, "https://example.org/dir/page?x=1");
    for (at = 0; at < p->len; at += n) {
        n = p->len - at < piece ? p->len - at : piece;
        ttool_document_feed_(&d, p->html + at, n);
    }
    ttool_document_end_(&d);
    return out->part.len;
}

static void compare(const page *p)
{
    static const size_t pieces[] = {ROOM, 1, 3, 7, 64, 1023};
    static char text[ROOM];
    size_t want = strlen(p->text), i, n;
    for (i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        n = read_page(p, pieces[i], 0, text, sizeof text);
        if (n != want || memcmp(text, p->text, n) != 0)
            printf("%s in pieces of %lu:\n%.*s\n", p->name,
                   (unsigned long)pieces[i], (int)n, text);
        CHECK(n == want && memcmp(text, p->text, n) == 0);
    }
    for (i = 0; i < want; i += n) { /* a part after the other */
        n = read_page(p, 512, i, text, 50);
        if (!n)
            break;
        CHECK(memcmp(text, p->text + i, n) == 0);
    }
    CHECK(i == want);
}

/* Whatever a page is, reading it ends within its memory. */
static void damage(page *p, unsigned *random)
{
    static char text[ROOM];
    static const char bytes[] = "<>/=\"'&;!- \n\xC2\xA0\xE9pa";
    int round;
    for (round = 0; round < 40; round++) {
        size_t at = (*random = *random * 1103515245 + 12345) / 65536 % p->len;
        p->html[at] = bytes[*random / 7 % (sizeof bytes - 1)];
        CHECK(read_page(p, 1 + *random % 50, 0, text, sizeof text) <=
              sizeof text);
    }
}

/* Deeper than what is kept of the open elements, nothing hidden is shown. */
static void deep(void)
{
    static page p;
    static char text[ROOM];
    size_t n, i;
    for (i = 0; i < 200; i++)
        strcat(p.html, "<div>");
    strcat(p.html, "seen <div hidden><div></div>secret</div> later");
    p.len = strlen(p.html);
    n = read_page(&p, ROOM, 0, text, sizeof text);
    CHECK(n == 4 && memcmp(text, "seen", 4) == 0);
}

int main(void)
{
    static page p;
    unsigned random = 1;
    int count = 0;
    pages = fopen("tests/pages/pages.txt", "r");
    CHECK(pages != NULL);
    if (pages)
        take(p.text, "=== ");
    for (; pages && next(&p); count++) {
        compare(&p);
        CHECK(!strstr(p.text, "Injected"));
        damage(&p, &random);
    }
    CHECK(count == 21);
    deep();
    return check_sum("test_tools_html");
}
