/* Calls of the tools for files: approvals, permissions, and the list of tasks.
 */
#include "tools_files.h"

/* -- The life of a call --------------------------------------------------- */

static tcall_ledger_row tickets[4];
static tcall_ledger ledger = {tickets, 4};

static void allow(void)
{
    verdict = TCALL_VERDICT_ALLOW;
}

static int decide(const char *id, tcall_verdict what)
{
    tcall_call waits;
    uint64_t key;
    size_t i = 0;
    memset(&waits, 0, sizeof waits);
    waits.id = tcall_str_of(id);
    key = tcall_call_key(&tc, &waits);
    while (i + 1 < ledger.count && tickets[i].key != key)
        i++;
    return tcall_ledger_decide(&ledger, key, tickets[i].what, what);
}

static void decide_allow(void)
{
    PART(decide("call_1", TCALL_VERDICT_ALLOW) == TCALL_OK);
}

/* Approval comes later, by the id of the call, and is bound to arguments. */
static void later(void)
{
    static const tcall_hook with_ledger[] = {TCALL_LEDGER(&ledger)};
    all = true;
    make_tree();
    put(at("ws/.env"), "TOKEN=1\n");
    put(at("ws/b.env"), "TOKEN=2\n");
    verdict = TCALL_VERDICT_LATER;
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    on_wait = allow;
    PART(read_it(".env") == TCALL_OK && says("TOKEN=1") && asked == 3);
    verdict = TCALL_VERDICT_LATER;
    PART(write_it("Makefile", "all:\\n") == TCALL_OK &&
         holds(at("ws/Makefile"), "all:\n"));
    verdict = TCALL_VERDICT_LATER;
    on_wait = NULL;
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result); /* once only */

    hooks = with_ledger;
    hook_count = 2;
    nobody = true;
    memset(tickets, 0, sizeof tickets);
    start_in(at("ws"), true);
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    decide_allow();
    PART(read_it("b.env") == TCALL_E_APPROVAL &&
         !*result); /* other arguments */
    PART(read_it(".env") == TCALL_E_APPROVAL && !*result);
    PART(call("grep", "{\"pattern\":\"TOKEN\",\"path\":\".env\"}") ==
         TCALL_E_APPROVAL);
    PART(read_it(".env") == TCALL_E_APPROVAL);
    decide_allow();
    PART(read_it(".env") == TCALL_OK && says("TOKEN=1"));
    PART(read_it(".env") == TCALL_E_TWICE && !strstr(result, "TOKEN=1"));
    memset(tickets, 0, sizeof tickets);
    PART(read_it(".env") == TCALL_E_APPROVAL);
    PART(decide("call_2", TCALL_VERDICT_ALLOW) == TCALL_E_UNKNOWN);
    PART(decide("call_1", TCALL_VERDICT_DENY) == TCALL_OK);
    PART(read_it(".env") == TCALL_E_DENIED && says("permission"));
    memset(tickets, 0, sizeof tickets);
    on_wait = decide_allow;
    PART(read_it(".env") == TCALL_OK && says("TOKEN=1"));
    memset(tickets, 0, sizeof tickets);
    PART(write_it("Makefile2", "x") == TCALL_OK &&
         holds(at("ws/Makefile2"), "x"));
    PART(write_it("Makefile2", "x") == TCALL_E_TWICE);
    on_wait = NULL;
    hooks = NULL;
    hook_count = 0;
    nobody = false;
    row("L07", all, "approval comes later, and for these arguments only");
}

/* Nobody is asked for a call that cannot succeed, nor is anything done before
 * the answer. */
static void asks_last(void)
{
    all = true;
    make_tree();
    start_in(at("ws"), true);
    PART(write_it("no/dir", "x") == TCALL_E_NOT_FOUND && asked == 0);
    PART(write_it("a.txt", "x") == TCALL_E_UNREAD && asked == 0);
    PART(read_it("a.txt") == TCALL_OK && asked == 0);
    PART(call("edit", "{\"file_path\":\"a.txt\",\"old_string\":\"nowhere\","
                      "\"new_string\":\"x\"}") == TCALL_E_FAILED &&
         asked == 0);
    PART(call("edit", "{\"file_path\":\"a.txt\",\"old_string\":\"one\","
                      "\"new_string\":\"1\"}") == TCALL_E_DENIED &&
         asked == 1 && says("not approved"));
    PART(call("write", "{\"file_path\":\"new/b\",\"content\":\"x\","
                       "\"create_directories\":true}") == TCALL_E_DENIED &&
         asked == 2 && access(at("ws/new"), F_OK) != 0);
    verdict = TCALL_VERDICT_ALLOW;
    PART(call("write", "{\"file_path\":\"new/b\",\"content\":\"x\","
                       "\"create_directories\":true}") == TCALL_OK &&
         asked == 3 && holds(at("ws/new/b"), "x"));
    row("asks", all, "a yes is asked for when nothing else is in the way");
}

/* A file that was changed is read anew, the others are not. */
static void stale(void)
{
    static char kept[4096];
    static tcall_cache cache = {kept, sizeof kept, 0, 0};
    static const tcall_hook cached[] = {TCALL_CACHE(&cache)};
    all = true;
    make_tree();
    hooks = cached;
    hook_count = TCALL_ARRAY_LEN(cached);
    start();
    PART(read_it("a.txt") == TCALL_OK && read_it("sub/b.c") == TCALL_OK);
    put(at("ws/sub/b.c"), "behind the back\n");
    PART(write_it("a.txt", "new\\n") == TCALL_OK);
    PART(read_it("a.txt") == TCALL_OK && says("new") && !says("one"));
    PART(read_it("sub/b.c") == TCALL_OK && !says("behind"));
    PART(write_it("c.txt", "x") == TCALL_OK && read_it("sub/b.c") == TCALL_OK);
    PART(!says("behind"));
    PART(call("glob", "{\"pattern\":\"**\"}") == TCALL_OK && !says("d.txt"));
    PART(write_it("d.txt", "x") == TCALL_OK);
    PART(call("glob", "{\"pattern\":\"**\"}") == TCALL_OK && says("d.txt"));
    hooks = NULL;
    hook_count = 0;
    row("stale", all, "what is kept of a file goes when it is changed");
}

/* Titles, metadata, previews, progress, chunks, an early end. */
static void life(void)
{
    static const tcall_hook in_time[] = {TCALL_TIMEOUT(8000)};
    int i;
    all = true;
    make_tree();
    PART(read_it("a.txt") == TCALL_OK && shows("\"title\":\"Read a.txt\"") &&
         shows("\"metadata\":{\"count\":1,\"cut\":false}"));
    PART(strcmp(preview, "=== a.txt (14 bytes, about 4 tokens) ===\n"
                         "     1\tone") == 0);
    PART(write_it("a.txt", "one\\n2\\n") == TCALL_OK &&
         shows("\"title\":\"Write a.txt\"") && shows("\"created\":false") &&
         shows("--- a.txt\\n+++ a.txt\\n@@ -1,3 +1,2 @@\\n one\\n-two\\n"
               "-three\\n+2\\n"));
    PART(strcmp(preview, "changed a.txt: 1 place, 6 bytes") == 0);
    PART(call("glob", "{\"pattern\":\"**\",\"limit\":1}") == TCALL_OK &&
         shows("\"title\":\"Find **\"") && shows("\"count\":1,\"cut\":true"));
    PART(call("grep", "{\"pattern\":\"return\"}") == TCALL_OK &&
         shows("\"title\":\"Search for return\"") &&
         strcmp(preview, "sub/b.c:3:    return 0;") == 0);
    PART(call("list", "{}") == TCALL_OK && shows("\"title\":\"List .\"") &&
         shows("\"count\":3,\"cut\":false"));
    row("life", all, "title, metadata, preview");

    all = true;
    for (i = 0; i < 1000; i++)
        mknod(at("ws/sub/f%04d", i), S_IFREG | 0644, 0);
    start();
    clock_tick = 1000;
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_OK &&
         says("time is up") && shows("\"cut\":true"));
    PART(strcmp(progress, "grep: 512 files") == 0);
    PART(strstr(chunks, "a.txt:1:one") == chunks &&
         strncmp(chunks, result, strlen(chunks)) == 0);
    stop_with = TCALL_E_CANCELLED;
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_E_CANCELLED &&
         says("stopped before it was done") && says("\"cancelled\""));
    stop_with = 0;
    hooks = in_time;
    hook_count = 1;
    ws_desc.max_ms = 1000000;
    start();
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_OK && says("time is up"));
    hooks = NULL;
    hook_count = 0;
    start();
    PART(call("grep", "{\"pattern\":\".\"}") == TCALL_OK &&
         !strstr(result, "time is up"));
    ws_desc.max_ms = 0;
    clock_tick = 0;
    row("life", all, "progress, chunks, stop, time limit of the call");
}

/* -- Calls that are done in pieces ---------------------------------------- */

static int inner;

/* What takes no time is done while a search goes on. */
static void edits(void)
{
    PART(read_it("a.txt") == TCALL_OK && says("two"));
    PART(edit_it("a.txt", "two", "2") == TCALL_OK);
    PART(write_it("sub/new", "x\\n") == TCALL_OK);
}

/* Another search waits. */
static void searches(void)
{
    most_pieces = 5;
    inner = call("grep", "{\"pattern\":\"one\"}");
    most_pieces = 0;
}

/* It does not wait for one that nobody asks for. */
static void searches_late(void)
{
    clock_ms += 20000;
    inner = call("grep", "{\"pattern\":\"one\",\"path\":\"a.txt\"}");
    PART(says("a.txt:1:one"));
}

static void cancels(void)
{
    tcall_cancel(running, TCALL_E_CANCELLED);
}

static int handles(void)
{
    return entries("/proc/self/fd");
}

static void in_pieces(void)
{
    int i, open_before;
    all = true;
    make_tree();
    for (i = 0; i < 1500; i++)
        put(at("ws/sub/f%04d", i), i == 1400 ? "found\n" : "x\n");
    start();
    open_before = handles();
    PART(call("grep", "{\"pattern\":\"found\"}") == TCALL_OK &&
         says("sub/f1400:1:found") && pieces >= 1500 * 8 / 2048);
    between = edits;
    PART(call("grep", "{\"pattern\":\"found\"}") == TCALL_OK && pieces > 3 &&
         strcmp(result, "sub/f1400:1:found\n") == 0 &&
         holds(at("ws/a.txt"), "one\n2\nthree\n"));
    between = searches;
    PART(call("grep", "{\"pattern\":\"found\"}") == TCALL_OK &&
         inner == TCALL_E_CANCELLED && says("sub/f1400:1:found"));
    between = cancels;
    PART(call("grep", "{\"pattern\":\"found\"}") == TCALL_E_CANCELLED &&
         pieces == 2);
    clock_tick = 1;
    between = searches_late;
    PART(call("grep", "{\"pattern\":\"found\"}") == TCALL_E_FAILED &&
         inner == TCALL_OK && says("took its place"));
    clock_tick = 0;
    PART(call("glob", "{\"pattern\":\"**/f1400\"}") == TCALL_OK &&
         strcmp(result, "sub/f1400\n") == 0);
    PART(handles() == open_before);
    row("long", all, "a search is done in pieces, and others in between");
}

static void fills_up(void)
{
    FILE *f = fopen(at("ws/large"), "ab");
    CHECK(f && fputs("the end", f) > 0 && fclose(f) == 0);
}

static void cuts_off(void)
{
    CHECK(truncate(at("ws/large"), 34 * 100000) == 0);
}

/* A line far into a file of 36 MB, while the file changes. */
static void far_lines(void)
{
    FILE *f;
    int i;
    all = true;
    make_tree();
    f = fopen(at("ws/large"), "wb");
    for (i = 1; f && i <= 1000000; i++)
        fprintf(f, "line %07d, and some more of it\n", i);
    PART(f && fclose(f) == 0);
    between = edits;
    PART(call("read", "{\"file_paths\":[\"large\"],\"offset\":999999}") ==
             TCALL_OK &&
         pieces >= 4 && says("=== large") &&
         says("\n999999\tline 0999999, and some more of it\n1000000\tline ") &&
         !strstr(result, "cut"));
    PART(holds(at("ws/a.txt"), "one\n2\nthree\n"));
    PART(call("read", "{\"file_paths\":[\"large\"],\"offset\":2000000}") ==
             TCALL_OK &&
         says("[there are only 1000000 lines]"));
    between = fills_up; /* that is behind what it began with, or not */
    PART(call("read", "{\"file_paths\":[\"large\"],\"offset\":1000000}") ==
             TCALL_OK &&
         says("1000000\tline 1000000"));
    between = cuts_off;
    PART(call("read", "{\"file_paths\":[\"large\"],\"offset\":1000000}") ==
             TCALL_OK &&
         says("[there are only 100000 lines]"));
    row("far", all, "a line far into a large file is sought in pieces");
}

/* Results that were cut go on where they were. */
static void offsets(void)
{
    struct timespec times[2] = {{0, 0}, {0, 0}};
    int i;
    all = true;
    make_tree();
    for (i = 0; i < 9; i++) {
        put(at("ws/sub/f%d", i), "x\nx\n");
        times[0].tv_sec = times[1].tv_sec = 1000 - i;
        PART(utimensat(AT_FDCWD, at("ws/sub/f%d", i), times, 0) == 0);
    }
    PART(call("glob", "{\"pattern\":\"sub/f*\",\"limit\":4}") == TCALL_OK &&
         strcmp(result, "sub/f0\nsub/f1\nsub/f2\nsub/f3\n[the newest 4 of 9 "
                        "files: use offset=5 for more, or a narrower "
                        "pattern]\n") == 0);
    PART(call("glob", "{\"pattern\":\"sub/f*\",\"limit\":4,\"offset\":5}") ==
             TCALL_OK &&
         strncmp(result, "sub/f4\n", 7) == 0 && says("use offset=9 "));
    PART(call("glob", "{\"pattern\":\"sub/f*\",\"limit\":4,\"offset\":9}") ==
             TCALL_OK &&
         strcmp(result, "sub/f8\n") == 0);
    PART(call("glob", "{\"pattern\":\"sub/f*\",\"offset\":10}") == TCALL_OK &&
         strcmp(result, "[there are only 9 files]\n") == 0);
    PART(call("grep", "{\"pattern\":\"x\",\"limit\":5}") == TCALL_OK &&
         says("sub/f2:1:x\n[cut after 5 matches: use offset=6 "));
    PART(call("grep", "{\"pattern\":\"x\",\"limit\":5,\"offset\":6}") ==
             TCALL_OK &&
         strncmp(result, "sub/f2:2:x\n", 11) == 0 && says("use offset=11 "));
    PART(call("grep", "{\"pattern\":\"x\",\"offset\":18}") == TCALL_OK &&
         strcmp(result, "sub/f8:2:x\n") == 0);
    PART(call("grep", "{\"pattern\":\"x\",\"offset\":19}") == TCALL_OK &&
         strcmp(result, "[there are only 18 matches]\n") == 0);
    row("more", all, "glob and grep go on where a result was cut");
}

static void no_permission(void)
{
    int status;
    pid_t pid;
    make_tree();
    put(at("ws/locked"), "x\n");
    chmod(at("ws/locked"), 0);
    chmod(at("ws/sub"), 0555);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(77);
        if (access(at("ws"), X_OK) != 0)
            _exit(77);
        start();
        _exit(read_it("locked") == TCALL_E_DENIED &&
                      says("permission denied") &&
                      write_it("sub/new", "x") == TCALL_E_DENIED &&
                      says("permission denied")
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) == 77)
        skip("F29", "another user cannot be had here");
    else
        row("F29", status == 0, "no permission: says so");
}

/* -- The list of tasks: U06 ----------------------------------------------- */

#define TASK(text) \
    "{\\\"content\\\":\\\"" text "\\\",\\\"status\\\":\\\"pending\\\"}"

static int todo_it(const char *text)
{
    return call("todowrite",
                "{\"todos\":[{\"content\":\"%s\",\"status\":\"pending\"}]}",
                text);
}

static bool todo_is(const char *text)
{
    char want[128];
    tcall_str list = ttool_todo_list(&todo);
    snprintf(want, sizeof want, "[{\"content\":\"%s\",\"status\":\"pending\"}]",
             text);
    return tcall_str_eq(list, tcall_str_of(want));
}

static void tasks(void)
{
    static char text[3000];
    int n, status, before;
    all = true;
    make_tree();
    PART(call("todoread", "{}") == TCALL_OK && strcmp(result, "[]") == 0);
    PART(todo_it("first") == TCALL_OK && says("1 task, 1 of them"));
    PART(todo_is("first"));
    PART(call("todowrite", "{\"todos\":[{\"content\":\"x\",\"status\":"
                           "\"done\"}]}") == TCALL_E_INVALID);
    memset(text, 'x', 490);
    PART(call("todowrite",
              "{\"todos\":[{\"content\":\"%s\",\"status\":\"pending\"},"
              "{\"content\":\"%s\",\"status\":\"pending\"},"
              "{\"content\":\"%s\",\"status\":\"pending\"},"
              "{\"content\":\"%s\",\"status\":\"pending\"}]}",
              text, text, text, text) == TCALL_E_LIMIT &&
         says("too long"));
    PART(todo_is("first"));
    start(); /* again: it was saved */
    PART(todo_is("first"));
    fault.only = "w";
    fault.number = ENOSPC;
    fault.countdown = 1;
    PART(todo_it("second") == TCALL_E_LIMIT && todo_is("first"));
    for (before = 0; before < 2; before++)
        for (n = 1; n < 100; n++) {
            pid_t pid;
            make_tree();
            todo_it("first");
            pid = fork();
            if (pid == 0) {
                fault.countdown = n;
                fault.most = 9;
                _exit(todo_it("second") == TCALL_OK ? 0 : 1);
            }
            waitpid(pid, &status, 0);
            start();
            PART(todo_is("first") || todo_is("second"));
            if (status == 0)
                break;
        }
    PART(n > 3 && n < 100);
    put(at("ws/.todo.json"), "[{]");
    PART(ttool_todo_init(&todo, todo_memory, sizeof todo_memory, &ws,
                         ".todo.json") == TCALL_E_FAILED &&
         ttool_todo_list(&todo).len == 2);
    row("U06", all, "the task list: old or new after a cut at every write");
}

static void finding(void *user, const ttool_finding *f)
{
    (void)user;
    if (!f->note)
        printf("     %s %.*s %.*s\n", f->tool->name, (int)f->pointer.len,
               f->pointer.ptr, (int)f->text.len, f->text.ptr);
}

/* What a model is told of each tool, and of each of its parameters. */
static void descriptions(void)
{
    all = true;
    PART(ttool_lint(rows, TOOLS, finding, NULL) == 0);
    row("lint", all, "descriptions of tools and parameters");
}

int main(void)
{
    static const group groups[] = {
        {"later", later},         {"asks_last", asks_last},
        {"stale", stale},         {"life", life},
        {"in_pieces", in_pieces}, {"far_lines", far_lines},
        {"offsets", offsets},     {"no_permission", no_permission},
        {"tasks", tasks},         {"descriptions", descriptions},
    };

    begin();
    run_groups(groups, TCALL_ARRAY_LEN(groups));
    return end("test_tools_files_life");
}
