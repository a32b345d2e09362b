/*
 * tools.h - what the tests of tools/ share: a line for each row of the
 * catalogue, and a call from a provider's answer to its result
 */
#include "check.h"
#include "result_log.h"

#include <ftw.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int skipped;
static bool all; /* parts of the row at hand */

static inline void row(const char *id, bool good, const char *what)
{
    printf("%-4s %s  %s\n", id, good ? "pass" : "FAIL", what);
    CHECK(good);
    if (!good && getenv("STOP"))
        _exit(1);
}

static inline void skip(const char *id, const char *why)
{
    printf("%-4s SKIPPED  %s\n", id, why);
    skipped++;
}

static inline void part(bool good, int line)
{
    if (!good)
        printf("     line %d fails\n", line);
    all = all && good;
}
#define PART(what) part(what, __LINE__)

static inline int tools_sum(const char *name)
{
    if (!skipped)
        return check_sum(name);
    printf("%s: %d passed, %d failed, %d skipped\n", name, check_passed,
           check_failed, skipped);
    return check_failed ? 1 : 0;
}

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* -- Files ---------------------------------------------------------------- */

static inline void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static inline bool file_is(const char *path, const char *text)
{
    char buf[256];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(buf, 1, sizeof buf, f) : 0;
    if (f)
        fclose(f);
    return f && n == strlen(text) && memcmp(buf, text, n) == 0;
}

static inline int remove_one(const char *path, const struct stat *st, int type,
                             struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* -- From an answer to a result ------------------------------------------- */

static char block[1 << 20], result[1 << 17], body[1 << 18];
static char title[256], metadata[512], preview[512]; /* of its first line */
static size_t result_cap = sizeof result - 1;
static tcall tc;
static tcall_verdict verdict;
static int asked;

static inline tcall_verdict approve(void *user, const tcall_call *call)
{
    (void)user, (void)call;
    asked++;
    return verdict;
}

/* desc: tools and what else the test wants. */
static inline void start_tools(tcall_desc *desc)
{
    static char report[1024];
    tcall_writer faults;
    tcall_writer_init(&faults, report, sizeof report - 1);
    desc->block = block;
    desc->lenient = &tcall_lenient;
    desc->block_size = sizeof block;
    desc->approve = approve;
    desc->report = &tcall_report;
    desc->faults = &faults;
    if (tcall_init(&tc, desc) != TCALL_OK) {
        printf("%s\n", report);
        exit(1);
    }
}

/* Sleeps as the call says. */
static inline void rest(const tcall_wait *wait)
{
    struct pollfd p[TOOLCALL_MAX_HANDLES];
    nfds_t i;

    for (i = 0; i < wait->count; i++) {
        p[i].fd = wait->handles[i].handle;
        p[i].events =
            wait->handles[i].events == TCALL_WAIT_READ ? POLLIN : POLLOUT;
    }
    (void)poll(p, wait->count, wait->ms < 1000 ? (int)wait->ms : 1000);
}

/* What a model answers that calls a tool, read, checked and run; its result
 * is in `result`, the error is returned. polled is called in between. */
static inline int call_tool(const char *name, const char *arguments,
                            void (*polled)(tcall_call *c, double seconds))
{
    tcall_call c;
    tcall_chat chat;
    tcall_reader reader;
    tcall_item item;
    tcall_writer w, out;
    tcall_str line;
    size_t low = tc.block.low, next = 0;
    double began = now();
    int r;
    tcall_writer_init(&w, body, sizeof body);
    tcall_write_text(&w, "{\"choices\":[{\"message\":{\"role\":\"assistant\","
                         "\"tool_calls\":[{\"id\":\"call_1\",\"type\":"
                         "\"function\",\"function\":{\"name\":");
    w.last = 0;
    tcall_write_string(&w, name);
    tcall_write_text(&w, ",\"arguments\":");
    w.last = 0;
    tcall_write_string(&w, arguments);
    tcall_write_text(&w, "}}]},\"finish_reason\":\"tool_calls\"}]}");
    tcall_chat_init(&chat, &tc.block);
    tcall_reader_init(&reader, &tcall_openai, &chat, NULL, NULL);
    tcall_reader_feed(&reader, body, w.fill);
    if (w.error || tcall_reader_end(&reader) < 0 || reader.answer.calls != 1 ||
        !tcall_chat_next(&chat, &next, &item)) {
        printf("the answer was not read\n");
        exit(1);
    }
    memset(&c, 0, sizeof c);
    c.id = item.id;
    c.name = item.name;
    c.arguments = item.text;
    c.incomplete = item.error;
    tcall_hydrate(&tc, &c);
    do {
        tcall_writer_init(&out, result, result_cap);
        r = tcall_invoke(&tc, &c, &out);
        if (r == TCALL_E_AGAIN && polled)
            polled(&c, now() - began);
        if (now() - began > 30)
            tcall_cancel(&c, TCALL_E_CANCELLED);
        if (r == TCALL_E_AGAIN)
            rest(&c.cx.wait);
    } while (r == TCALL_E_AGAIN);
    result[out.fill] = '\0';
    snprintf(title, sizeof title, "%.*s", (int)c.cx.result.title.len,
             c.cx.result.title.ptr ? c.cx.result.title.ptr : "");
    snprintf(metadata, sizeof metadata, "%.*s", (int)c.cx.result.metadata.len,
             c.cx.result.metadata.ptr ? c.cx.result.metadata.ptr : "");
    line = result_preview(&c.cx.result, 1);
    snprintf(preview, sizeof preview, "%.*s", (int)line.len,
             line.ptr ? line.ptr : "");
    tcall_release(&tc, &c);
    tc.block.low = low;
    return r;
}

static inline bool says(const char *text)
{
    bool there = strstr(result, text) != NULL;
    if (!there)
        printf("     wanted: %s\n     result: %.400s\n", text, result);
    return there;
}

static inline bool is_json(const char *text)
{
    return tcall_json_check(tcall_str_of(text)) == TCALL_OK;
}

/* -- Descriptions --------------------------------------------------------- */

static inline int words(const char *text)
{
    int n = *text != '\0';
    for (; *text; text++)
        n += *text == ' ';
    return n;
}

/* What a model is told of each tool, and of each of its parameters. */
static inline void described(const tcall_tool *tools, size_t count)
{
    static char text[8192];
    size_t i;
    all = true;
    for (i = 0; i < count; i++) {
        tcall_json schema, p;
        PART(words(tools[i].description) >= 10 &&
             words(tools[i].description) <= 40);
        strcpy(text, tools[i].parameters.text);
        PART(tcall_json_parse(&schema, text, strlen(text), NULL) == TCALL_OK);
        p = tcall_json_first(tcall_json_get(schema, "properties"));
        for (; p.at; p = tcall_json_next(p)) {
            int n =
                words(tcall_json_string(tcall_json_get(p, "description"), ""));
            if (n < 10 || n > 20)
                printf("     %s: %d words for %.*s\n", tools[i].name, n,
                       (int)tcall_json_key(p).len, tcall_json_key(p).ptr);
            PART(n >= 10 && n <= 20);
        }
    }
    row("lint", all, "descriptions of tools and parameters");
}
