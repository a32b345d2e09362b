/* Answers of providers, recorded or made: tests/wire/PROVIDER/CASE.txt.
 *
 *     # what it shows
 *     status: 429             (optional: that of HTTP)
 *     --- body
 *     what is fed, to the byte; the line break before a mark is the mark's
 *     --- expect
 *     what show_answer() says of it
 *     --- returned
 *     (optional) what the next request to this provider has of it, and none
 *     to another: reasoning, of which a part is OPAQUE
 *
 * Each is read in pieces of any size, with any line ends, cut anywhere and in
 * blocks of any size. */
#define _POSIX_C_SOURCE 200809L
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/invoke.c"
#include "../src/servers.c"
#endif
#include "check.h"
#include "wire.h"

typedef struct fixture {
    const tcall_provider *provider;
    const char *body, *want;
    const char *returned; /* or NULL */
    int status;
} fixture;

static const size_t splits[] = {0, 1, 2, 3, 7, 64};

static const char *stop_name(tcall_stop stop)
{
    switch (stop) {
    case TCALL_STOP_UNKNOWN: return "unknown";
    case TCALL_STOP_END: return "end";
    case TCALL_STOP_TOOL_CALLS: return "calls";
    case TCALL_STOP_LENGTH: return "length";
    case TCALL_STOP_CONTENT_FILTER: return "refused";
    case TCALL_STOP_OTHER: return "other";
    default: return "?";
    }
}

/* All that was read, in the form of the fixtures. */
static const char *show_answer(int status)
{
    char *end = shown + strlen(shown);

    end += sprintf(end, "stop: %s%s%s\n", stop_name(last.stop),
                   last.stop_text[0] ? " " : "", last.stop_text);
    if (last.input_tokens >= 0 || last.output_tokens >= 0)
        end += sprintf(end, "usage: %ld %ld\n", last.input_tokens,
                       last.output_tokens);
    if (last.error)
        end += sprintf(end, "error: %s\n", tcall_error_code(last.error));
    if (status)
        end += sprintf(end, "status %d: %s\n", status,
                       tcall_error_code(tcall_answer_error(&last, status)));
    if (last.message[0])
        end += sprintf(end, "message: %s\n", last.message);
    if (last.wait_ms >= 0)
        end += sprintf(end, "wait: %ld ms\n", last.wait_ms);
    end[-1] = 0;
    return shown;
}

/* A call that is shown without an error must be one of those of the whole. */
static bool within(const char *part, const char *whole)
{
    const char *line, *end;
    char call[256];

    for (line = strstr(part, "call: "); line; line = strstr(end, "call: ")) {
        end = line + strcspn(line, "\n");
        if (end[-1] != ')')
            continue; /* marked: nothing will run */
        snprintf(call, sizeof call, "%.*s\n", (int)(end - line), line);
        if (!strstr(whole, call))
            return false;
    }
    return true;
}

/* The same in any pieces. */
static void reads(const fixture *fix, const char *body)
{
    size_t i;

    for (i = 0; i < TCALL_ARRAY_LEN(splits); i++) {
        read_body(fix->provider, body, strlen(body), splits[i], 4096);
        CHECK(last.error || strstr(said, heard));
        CHECK(same(show_answer(fix->status), fix->want));
    }
}

/* The same with other line ends. Words that are no JSON are quoted, with the
 * line ends that they have. */
static void reads_line_ends(const fixture *fix, const char *line_end)
{
    char *body = (char *)malloc(2 * strlen(fix->body) + 1), *to = body;
    const char *from;

    for (from = fix->body; *from; from++)
        to += *from == '\n' ? sprintf(to, "%s", line_end)
                            : sprintf(to, "%c", *from);
    *to = 0;
    reads(fix, body);
    free(body);
}

/* No prefix and no block brings about other calls. */
static void reads_safely(const fixture *fix)
{
    size_t len = strlen(fix->body), i;

    for (i = 0; i < len; i += 1 + CHECK_EVERY / 4) {
        read_body(fix->provider, fix->body, i, 0, 4096);
        CHECK(within(shown, fix->want));
    }
    for (i = 0; i < 400; i += CHECK_EVERY) {
        read_body(fix->provider, fix->body, len, i % 5, i);
        CHECK(within(shown, fix->want));
        CHECK(last.error != TCALL_E_MEMORY || needed > i / 8 * 8);
    }
}

/* What the next request to a provider says of this answer. */
static const char *returned(const fixture *fix, const tcall_provider *to,
                            size_t split, size_t size)
{
    static char memory[2048];
    const tcall_provider *from = fix->provider;
    const char *out = "";
    tcall_block block;
    tcall_chat chat;
    tcall_reader reader;
    tcall_item item;
    tcall_chat_request ask;
    tcall_writer w;
    size_t at;

    memset(&ask, 0, sizeof ask);
    tcall_block_init(&block, memory, size);
    tcall_chat_init(&chat, &block);
    tcall_reader_init(&reader, from, &chat, NULL, NULL);
    CHECK(feed(&reader, fix->body, strlen(fix->body), split) == TCALL_OK);
    last = reader.answer;
    needed = block.need;
    ask.chat = &chat;
    ask.model = "m";
    tcall_writer_init(&w, NULL, 0);
    if (last.reasoning_dropped && from == to)
        CHECK(to->write(to, &w, &ask) == TCALL_E_MEMORY);
    else
        out = write_body(to, &ask);
    for (at = 0; tcall_chat_next(&chat, &at, &item);)
        CHECK(item.kind != TCALL_ITEM_REASONING ||
              tcall_str_eq(item.name, tcall_str_of(from->name)));
    return out;
}

/* It goes back as it came, to its own provider only, in any pieces, or is an
 * error that says how much is missing; what may be left out is, as a whole. */
static void returns(const fixture *fix)
{
    const bool may_drop =
        (fix->provider->quirks & TCALL_QUIRK_FREE_REASONING) != 0;
    const tcall_provider *own = fix->provider;
    const tcall_provider *other =
        own == &tcall_anthropic ? &tcall_responses : &tcall_anthropic;
    size_t i;

    for (i = 0; i < TCALL_ARRAY_LEN(splits); i++)
        CHECK(has(returned(fix, own, splits[i], 2048), fix->returned));
    CHECK(!strstr(returned(fix, other, 0, 2048), "OPAQUE"));
    CHECK(!strstr(returned(fix, &tcall_openai, 0, 2048), "OPAQUE"));
    for (i = 240; i < 2048; i += 8 * (CHECK_EVERY / 4 | 1)) {
        const char *got = returned(fix, own, i & 8 ? 1 : 0, i);
        CHECK(
            last.reasoning_dropped
                ? needed > i && last.calls == 1
                : last.text_cut || strstr(got, fix->returned) != NULL ||
                      (may_drop && last.calls == 1 && !strstr(got, "OPAQUE")));
        if (last.reasoning_dropped &&
            needed <= 2048) { /* that would have done */
            got = returned(fix, own, 1, (needed + 7) / 8 * 8);
            CHECK(!last.reasoning_dropped && has(got, fix->returned));
        }
    }
}

/* Cuts a text at a mark; what comes after it, or NULL. */
static char *cut(char *text, const char *mark)
{
    char *at = strstr(text, mark);

    if (!at)
        return NULL;
    *at = 0;
    return at + strlen(mark);
}

static bool parse(fixture *fix, char *text)
{
    char *body, *want;
    const char *status;

    cut(strchr(text, 0) - 1, "\n"); /* that of the file's last line */
    body = cut(text, "--- body\n");
    want = body ? cut(body, "\n--- expect\n") : NULL;
    if (!want)
        return false;
    fix->body = body;
    fix->want = want;
    fix->returned = cut(want, "\n--- returned\n");
    status = strstr(text, "\nstatus: ");
    fix->status = status ? atoi(status + strlen("\nstatus: ")) : 0;
    return true;
}

/* path: ".../PROVIDER/CASE.txt" */
static void run_fixture(const char *path, char *text)
{
    int failed = check_failed;
    char name[32];
    const char *file = strrchr(path, '/'), *dir = file;
    fixture fix;

    while (dir[-1] != '/')
        dir--;
    snprintf(name, sizeof name, "%.*s", (int)(file - dir), dir);
    fix.provider = tcall_provider_named(name);
    CHECK(fix.provider && parse(&fix, text));
    if (check_failed == failed) {
        reads(&fix, fix.body);
        if (!strstr(fix.want, "error: protocol")) {
            reads_line_ends(&fix, "\r\n");
            reads_line_ends(&fix, "\r");
        }
        reads_safely(&fix);
        if (fix.returned)
            returns(&fix);
    }
    if (check_failed != failed)
        printf("this was %s\n", path);
}

#ifdef WIRE_FILES
/* Where there are no files: a table {path, text} that tests/firmware/run.py
 * made of them. */
#include WIRE_FILES

static size_t run_all(void)
{
    size_t i;

    for (i = 0; i < TCALL_ARRAY_LEN(wire_files); i++)
        run_fixture(wire_files[i].path, wire_files[i].text);
    return i;
}
#else
#include <glob.h>

static size_t run_all(void)
{
    static char text[1 << 16];
    glob_t found;
    size_t i, len;

    if (glob("tests/wire/*/*.txt", 0, NULL, &found) != 0)
        return 0;
    for (i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "rb");
        len = file ? fread(text, 1, sizeof text - 1, file) : 0;
        text[len] = 0;
        CHECK(len > 0 && len < sizeof text - 1);
        if (file)
            fclose(file);
        run_fixture(found.gl_pathv[i], text);
    }
    globfree(&found);
    return i;
}
#endif

int main(void)
{
    CHECK(run_all() > 100);
    return check_sum("test_wire");
}
