/* Files read and changed: faults at every step, other writers, diffs. */
#include "tools_files.h"

/* -- Reading: F14 to F16 -------------------------------------------------- */

static void reading(void)
{
    char text[64];
    int i, fd;
    FILE *f;
    double before;
    make_tree();
    all = true;
    f = fopen(at("ws/huge"), "w");
    for (i = 1; f && i <= 3000; i++)
        fprintf(f, "line %d\n", i);
    if (f)
        fclose(f);
    PART(truncate(at("ws/huge"), (off_t)10 << 30) == 0);
    before = now();
    PART(call("read", "{\"file_paths\":[\"huge\"],\"limit\":10}") == TCALL_OK);
    PART(says("10737418240 bytes") && says("    10\tline 10\n") &&
         says("use offset=11") && !strstr(result, "line 11"));
    PART(
        call("read", "{\"file_paths\":[\"huge\"],\"offset\":11,\"limit\":2}") ==
            TCALL_OK &&
        says("    12\tline 12\n[cut at line 12: use offset=13"));
    PART(in_time((long)((now() - before) * 1000), 0, 2000));
    PART(edit_it("huge", "line 1", "x") == TCALL_E_LIMIT);
    unlink(at("ws/huge"));
    row("F14", all, "of 10 GB only what is wanted is read");
    all = true;
    put_bytes(at("ws/bin"), "ab\0cd\n", 6);
    put(at("ws/latin"), "caf\xE9 \xC3\xA9\n");
    PART(read_it("bin") == TCALL_OK && says("binary") && !strstr(result, "cd"));
    PART(read_it("latin") == TCALL_OK &&
         says("caf\xEF\xBF\xBD \xC3\xA9\n[not UTF-8"));
    row("F15", all, "binary and not quite UTF-8");
    all = true;
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":-1}") ==
         TCALL_E_INVALID);
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":0}") ==
         TCALL_E_INVALID);
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"limit\":-1}") ==
         TCALL_E_INVALID);
    PART(call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":2147483648}") ==
             TCALL_OK &&
         says("only 3 lines"));
    PART(call("read",
              "{\"file_paths\":[\"a.txt\"],\"offset\":9223372036854775808}") ==
         TCALL_E_INVALID);
    PART(
        call("read", "{\"file_paths\":[\"a.txt\"],\"offset\":3,\"limit\":1}") ==
            TCALL_OK &&
        says("     3\tthree\n") && !strstr(result, "use offset"));
    row("F16", all, "offsets and limits at their ends");
    all = true;
    PART(call("read", "{\"file_paths\":[\"a.txt\",\"none\",\"sub/b.c\"]}") ==
             TCALL_OK &&
         says("     2\ttwo\n") && says("none: no such file") &&
         says("     3\t    return 0;\n"));
    PART(read_it("sub/B.h") == TCALL_E_NOT_FOUND &&
         says("\"suggestion\":\"Did you mean sub/b.c?\""));
    PART(read_it("b.c") == TCALL_E_NOT_FOUND &&
         says("\"suggestion\":\"Did you mean sub/b.c?\""));
    PART(read_it("nothing-like-it") == TCALL_E_NOT_FOUND &&
         says("See with list") && says("\"error_type\":\"user\""));
    result_cap = 400;
    f = fopen(at("ws/long"), "w");
    for (i = 1; f && i <= 1000; i++)
        fprintf(f, "%d\n", i);
    if (f)
        fclose(f);
    PART(read_it("long") == TCALL_OK && says("of 1000: use offset="));
    PART(strlen(result) <= 400 && !strstr(result, "output cut"));
    result_cap = sizeof result - 1;
    ws_desc.max_tokens = 100;
    start();
    PART(read_it("long") == TCALL_OK && says("use offset=") &&
         strlen(result) < 600);
    ws_desc.max_tokens = 0;
    start();
    PART(read_it("long") == TCALL_OK && says("  1000\t1000\n") &&
         says("(3893 bytes, about 974 tokens)"));
    fd = open(at("ws/wide"), O_WRONLY | O_CREAT, 0644);
    memset(text, 'w', sizeof text);
    for (i = 0; i < 100; i++)
        PART(write(fd, text, sizeof text) == (ssize_t)sizeof text);
    close(fd);
    PART(read_it("wide") == TCALL_OK && says("[line cut: 4400 bytes more]"));
    put(at("ws/crlf"), "a\r\nb\r\n");
    PART(read_it("crlf") == TCALL_OK &&
         says("     1\ta\n     2\tb\n[lines end"));
    put(at("ws/none"), "");
    PART(read_it("none") == TCALL_OK && says("[empty]"));
    row("F14+", all, "several files, limits of tokens, did you mean");
}

/* -- Changing: F17 to F26 ------------------------------------------------- */

#define NEW "one\\n2\\nthree\\nfour\\nfive\\n"
#define IS  "one\n2\nthree\nfour\nfive\n"
#define WAS "one\ntwo\nthree\n"

static bool no_temporary(void)
{
    return entries(at("ws")) == 2;
}

/* Each operation of `only` fails in turn: it says so, and nothing changed. */
static void each_fails(int number, const char *only, int error)
{
    int n, r;
    for (n = 1; n < 200; n++) {
        make_tree();
        read_it("a.txt");
        fault.most = 7;
        fault.only = only;
        fault.number = number;
        fault.countdown = n;
        r = write_it("a.txt", NEW);
        if (fault.countdown > 0) {
            PART(r == TCALL_OK && holds(at("ws/a.txt"), IS));
            break;
        }
        PART(r == error && holds(at("ws/a.txt"), WAS) && no_temporary());
    }
    PART(n > 1 && n < 200);
}

static void full_disk(void)
{
    int status = 0;
    pid_t pid;
    all = true;
    each_fails(ENOSPC, "w", TCALL_E_LIMIT);
    PART(says("changed a.txt: 1 place, 22 bytes"));
    each_fails(ENOSPC, "c", TCALL_E_LIMIT);
    each_fails(ENOSPC, "r", TCALL_E_LIMIT);
    row("F17", all, "no space at every write: the old content, no remains");
    pid = fork();
    if (pid == 0) { /* a real disk of 64 KB */
        static char big[100001];
        if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) != 0 ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("none", at("ws"), "tmpfs", 0, "size=64k") != 0)
            _exit(77);
        put(at("ws/a.txt"), WAS);
        start();
        read_it("a.txt");
        memset(big, 'x', sizeof big - 1);
        _exit(write_it("a.txt", big) == TCALL_E_LIMIT &&
                      holds(at("ws/a.txt"), WAS) && entries(at("ws")) == 1
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip("F17", "a disk of 64 KB cannot be mounted here");
    else
        row("F17", status == 0, "a real disk of 64 KB is full");
}

/* A limit of the host's own is an error, and no signal to it. */
static void file_limit(void)
{
    int status = 0;
    pid_t pid;
    make_tree();
    pid = fork();
    if (pid == 0) {
        struct rlimit few;
        sigset_t pending;
        getrlimit(RLIMIT_FSIZE, &few);
        few.rlim_cur = 4;
        setrlimit(RLIMIT_FSIZE, &few);
        start();
        read_it("a.txt");
        _exit(write_it("a.txt", NEW) < 0 && holds(at("ws/a.txt"), WAS) &&
                      sigpending(&pending) == 0 &&
                      !sigismember(&pending, SIGXFSZ)
                  ? 0
                  : 1);
    }
    waitpid(pid, &status, 0);
    row("F17+", status == 0, "a file over the host's own limit");
}

/* Killed before or behind each operation. */
static void killed(void)
{
    int n, status, tool, before;
    all = true;
    for (tool = 0; tool < 3; tool++)
        for (before = 0; before < 2; before++)
            for (n = 1; n < 100; n++) {
                pid_t pid;
                make_tree();
                pid = fork();
                if (pid == 0) {
                    start();
                    read_it("a.txt");
                    fault.most = 9;
                    fault.countdown = n;
                    _exit((tool == 0   ? write_it("a.txt", NEW)
                           : tool == 1 ? edit_it("a.txt", "two", "2")
                                       : write_it("new.txt", NEW)) == TCALL_OK
                              ? 0
                              : 1);
                }
                waitpid(pid, &status, 0);
                if (status == 0)
                    break;
                PART(WIFEXITED(status) && WEXITSTATUS(status) == 9);
                if (tool == 2)
                    PART(holds(at("ws/new.txt"), IS) ||
                         holds(at("ws/new.txt"), "(none)"));
                else
                    PART(holds(at("ws/a.txt"), WAS) ||
                         holds(at("ws/a.txt"), tool ? "one\n2\nthree\n" : IS));
                PART(entries(at("ws")) <= 3 + (tool == 2));
            }
    row("F18", all, "killed at every operation: old or new, one stray file");
}

static void short_writes(void)
{
    int n, r = 0;
    all = true;
    make_tree();
    read_it("a.txt");
    fault.most = 1;
    PART(write_it("a.txt", NEW) == TCALL_OK && holds(at("ws/a.txt"), IS));
    make_tree();
    read_it("a.txt");
    fault.only = "w";
    fault.number = EINTR;
    fault.countdown = 1;
    PART(write_it("a.txt", NEW) == TCALL_OK && holds(at("ws/a.txt"), IS));
    each_fails(EIO, "x", TCALL_E_FAILED);
    make_tree();
    read_it("a.txt");
    fault.only = "s";
    fault.number = EIO;
    fault.countdown = 1;
    PART(write_it("a.txt", NEW) == TCALL_E_FAILED && no_temporary() &&
         holds(at("ws/a.txt"), WAS));
    fault.countdown = 2; /* of the directory: it is there, but for how long */
    PART(write_it("a.txt", NEW) == TCALL_E_FAILED && says("power loss") &&
         holds(at("ws/a.txt"), IS));
    make_tree();
    read_it("a.txt");
    fault.lies = true;
    PART(write_it("a.txt", NEW) == TCALL_E_FAILED && no_temporary() &&
         holds(at("ws/a.txt"), WAS));
    row("F19", all, "short writes, EINTR, EIO of fsync and close");
    all = true;
    for (n = 1; n < 20; n++) { /* each step of making directories */
        make_tree();
        fault.only = "msc";
        fault.number = ENOSPC;
        fault.countdown = n;
        r = call("write", "{\"file_path\":\"x/y/z.txt\",\"content\":\"new\","
                          "\"create_directories\":true}");
        if (fault.countdown > 0)
            break;
        if (r != TCALL_OK)
            PART(holds(at("ws/x/y/z.txt"), "(none)") || says("power loss"));
        PART(r == TCALL_E_LIMIT || says("power loss"));
        PART(entries(at("ws/x/y")) < 1 || says("power loss"));
    }
    PART(n == 8 && r == TCALL_OK && holds(at("ws/x/y/z.txt"), "new"));
    row("F17+", all, "no space while directories are made");
}

static void edits(void)
{
    all = true;
    make_tree();
    put(at("ws/r"), "a b\nx\na b\n");
    start();
    read_it("r");
    PART(edit_it("r", "zzz", "y") == TCALL_E_FAILED && says("not there"));
    PART(edit_it("r", "a b", "y") == TCALL_E_FAILED &&
         says("2 times, at lines 1, 3") && says("replace_all"));
    PART(edit_it("r", "", "y") == TCALL_E_INVALID);
    PART(edit_it("r", "x", "x") == TCALL_E_INVALID);
    PART(holds(at("ws/r"), "a b\nx\na b\n"));
    PART(call("edit",
              "{\"file_path\":\"r\",\"old_string\":\"a b\","
              "\"new_string\":\"cd\",\"replace_all\":true}") == TCALL_OK &&
         holds(at("ws/r"), "cd\nx\ncd\n") && says("2 places") &&
         shows("\"title\":\"Edit r\"") && shows("\"changes\":2") &&
         shows("@@ -1,3 +1,3 @@\\n-a b\\n+cd\\n x\\n-a b\\n+cd\\n"));
    PART(edit_it("none", "x", "y") == TCALL_E_NOT_FOUND);
    row("F20", all, "edit: no place, two places, nothing, the same");

    all = true;
    make_tree();
    alarm(20);
    put(at("ws/t.c"), "void f(void)\n{\n\tif (a)   {\n\t\tb();\n\t}\n}\n");
    start();
    read_it("t.c");
    PART(edit_it("t.c", "if (a) {\\n  b();\\n}",
                 "if (a) {\\n  b();\\n  c();\\n}") == TCALL_OK);
    PART(holds(at("ws/t.c"),
               "void f(void)\n{\n\tif (a) {\n\t\tb();\n\t\tc();\n\t}\n}\n"));
    PART(edit_it("t.c", "b ( ) ;", "x") == TCALL_E_FAILED);
    alarm(0);
    row("F20+", all, "edit: differences of white space are tolerated");
    all = true;
    make_tree();
    {
        static char text[40000], old[4000];
        size_t i;
        for (i = 0; i + 2 < sizeof text; i += 2)
            memcpy(text + i, "a\n", 2);
        memcpy(text + i - 4, "b\n", 3);
        for (i = 0; i < 400; i++)
            strcat(old, "a \\n");
        strcat(old, "b");
        put(at("ws/many"), text);
        start();
        PART(call("read", "{\"file_paths\":[\"many\"],\"limit\":1}") ==
             TCALL_OK);
        PART(edit_it("many", old, "x") == TCALL_E_LIMIT && says("too long") &&
             holds(at("ws/many"), text));
        PART(edit_it("many", "a \\na \\nb", "x") == TCALL_OK);
    }
    row("F20+", all, "edit: a search that costs too much is given up");

    all = true;
    make_tree();
    put(at("ws/w"), "\xEF\xBB\xBF"
                    "a\r\nb\rc\nd\r\nlast");
    start();
    read_it("w");
    PART(edit_it("w", "d", "D\\nE") == TCALL_OK);
    PART(holds(at("ws/w"), "\xEF\xBB\xBF"
                           "a\r\nb\rc\nD\r\nE\r\nlast"));
    PART(edit_it("w", "last", "LAST") == TCALL_OK && shows("No newline"));
    PART(holds(at("ws/w"), "\xEF\xBB\xBF"
                           "a\r\nb\rc\nD\r\nE\r\nLAST"));
    row("F22", all, "CR LF, CR, BOM, no last newline: only the place changes");
}

/* The diff in the metadata of the last result is what diff -u says. */
static bool as_diff(const char *before, const char *after, const char *name)
{
    static char text[1 << 17], ours[1 << 16], theirs[1 << 16], command[2048];
    tcall_json json;
    tcall_str diff;
    size_t n = 0, got;
    FILE *f;
    put(at("before"), before);
    put(at("after"), after);
    strcpy(text, whole);
    if (tcall_json_parse(&json, text, strlen(text), NULL) < 0)
        return false;
    diff = tcall_json_str(
        tcall_json_get(tcall_json_get(json, "metadata"), "diff"));
    snprintf(ours, sizeof ours, "%.*s", (int)diff.len, diff.ptr);
    snprintf(command, sizeof command,
             "diff -u --label %s --label %s %s/before %s/after", name, name,
             base, base);
    f = popen(command, "r");
    while (f && (got = fread(theirs + n, 1, sizeof theirs - 1 - n, f)) > 0)
        n += got;
    theirs[n] = '\0';
    unlink(at("before"));
    unlink(at("after"));
    if (!f || pclose(f) < 0)
        return false;
    if (strcmp(ours, theirs) != 0)
        printf("--- ours\n%s--- theirs\n%s", ours, theirs);
    return strcmp(ours, theirs) == 0;
}

static uint32_t seed = 1;

static unsigned random_below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}

/* Lines that all differ, so that there is one shortest diff. */
static void diffs(void)
{
    static char before[8192], after[8192], wanted[16384], once[8192];
    int round, i;
    make_tree();
    if (system("diff --version >/dev/null 2>&1") != 0) {
        skip("diff", "there is no diff");
        return;
    }
    all = true;
    for (round = 0; round < 60; round++) {
        int lines = (int)random_below(14), from = (int)random_below(15),
            gone = (int)random_below(4), fresh = (int)random_below(4);
        *before = *after = *wanted = '\0';
        from = from < lines ? from : lines;
        for (i = 0; i <= lines; i++) {
            int k;
            for (k = 0; i == from && k < fresh; k++)
                sprintf(after + strlen(after), "new %d\n", k);
            if (i == lines)
                break;
            sprintf(before + strlen(before), "line %d\n", i);
            if (i < from || i >= from + gone)
                sprintf(after + strlen(after), "line %d\n", i);
        }
        if (*before && *after && random_below(3) == 0) {
            before[strlen(before) - 1] = '\0';
            after[strlen(after) - 1] = '\0';
        }
        for (i = 0; after[i]; i++)
            sprintf(wanted + strlen(wanted), after[i] == '\n' ? "\\n" : "%c",
                    after[i]);
        put(at("ws/d"), before);
        start();
        PART(read_it("d") == TCALL_OK && write_it("d", wanted) == TCALL_OK);
        PART(strcmp(before, after) == 0 || as_diff(before, after, "d"));
    }
    for (round = 0; round < 30; round++) { /* several places in one edit */
        *before = *after = '\0';
        for (i = 0; i < 40; i++) {
            bool here = random_below(8) == 0;
            sprintf(before + strlen(before), "%d %s\nkept\n", i,
                    here ? "old" : "x");
            sprintf(after + strlen(after), "%d %s\nkept\n", i,
                    here ? "new\nand" : "x");
        }
        put(at("ws/d"), before);
        start();
        PART(read_it("d") == TCALL_OK);
        if (strcmp(before, after) != 0)
            PART(call("edit",
                      "{\"file_path\":\"d\",\"old_string\":\"old\\nkept\","
                      "\"new_string\":\"new\\nand\\nkept\","
                      "\"replace_all\":true}") == TCALL_OK &&
                 as_diff(before, after, "d"));
    }
    strcpy(once, "a\nb\nc\nd\ne\nf\ng\nh\n"); /* only d changes */
    put(at("ws/d"), once);
    start();
    PART(read_it("d") == TCALL_OK &&
         edit_it("d", "b\\nc\\nd\\ne\\n", "b\\nc\\nD\\ne\\n") == TCALL_OK &&
         as_diff(once, "a\nb\nc\nD\ne\nf\ng\nh\n", "d"));
    row("diff", all, "the diff of a change is what diff -u says");
}

static void other_writer(void)
{
    put(at("ws/a.txt"), "other\n");
}

static void second_name(void)
{
    (void)!link(at("ws/a.txt"), at("outside/hard"));
}

static void grows(void)
{
    FILE *f = fopen(at("ws/a.txt"), "a");
    if (f) {
        fputs("four\n", f);
        fclose(f);
    }
}

static void stale(void)
{
    char name[64];
    int i;
    all = true;
    make_tree();
    PART(edit_it("a.txt", "two", "2") == TCALL_E_UNREAD &&
         says("read it first") && says("Call read with this path"));
    read_it("a.txt");
    other_writer();
    PART(edit_it("a.txt", "other", "2") == TCALL_E_STALE && says("changed"));
    PART(write_it("a.txt", "2") == TCALL_E_STALE && says("changed"));
    PART(holds(at("ws/a.txt"), "other\n"));
    make_tree();
    read_it("a.txt");
    fault.hook = other_writer;
    fault.hook_at = 's';
    PART(edit_it("a.txt", "two", "2") == TCALL_E_STALE && says("changed"));
    PART(holds(at("ws/a.txt"), "other\n") && no_temporary());
    fault.hook = other_writer;
    fault.hook_at = 's';
    unlink(at("ws/a.txt"));
    PART(write_it("a.txt", "mine") == TCALL_E_STALE &&
         holds(at("ws/a.txt"), "other\n") && no_temporary());
    unlink(at("ws/a.txt"));
    fault.hook = other_writer;
    fault.hook_at = 'r'; /* behind the last look */
    PART(write_it("a.txt", "mine") == TCALL_E_FAILED &&
         holds(at("ws/a.txt"), "other\n") && no_temporary());
    row("F21", all, "changed since it was read, also while it is written");
    all = true;
    make_tree();
    read_it("a.txt");
    fault.hook = second_name;
    fault.hook_at = 's';
    PART(write_it("a.txt", "mine") == TCALL_E_STALE && no_temporary() &&
         holds(at("outside/hard"), WAS));
    row("F13+", all, "a second name while it is written");
    if (!stepwise) {
        all = true;
        make_tree();
        fault.hook = grows;
        fault.hook_at = 'o';
        PART(read_it("a.txt") == TCALL_E_STALE);
        PART(read_it("a.txt") == TCALL_OK && says("four"));
        row("F21+", all, "a file that grows while it is read");
    }
    all = true;
    make_tree();
    clock_tick = 1; /* so that the name can be known */
    for (i = 1; i < 200; i++) {
        snprintf(name, sizeof name, "ws/.ttool-%lx-%x-%x.tmp", (long)getpid(),
                 clock_ms + (unsigned)i, ws.temporary);
        (void)!symlink("../outside/new", at("%s", name));
    }
    PART(write_it("new.txt", "x") == TCALL_E_FAILED);
    PART(entries(at("outside")) == 1 && holds(at("ws/new.txt"), "(none)"));
    clock_tick = 0;
    row("F06+", all, "a link where the temporary file would be");

    all = true;
    make_tree();
    PART(write_it("a.txt", "x") == TCALL_E_UNREAD && says("read it first") &&
         holds(at("ws/a.txt"), WAS));
    PART(write_it("new.txt", "x\\n") == TCALL_OK);
    PART(edit_it("new.txt", "x", "y") == TCALL_OK &&
         holds(at("ws/new.txt"), "y\n"));
    ws_desc.blind_writes = true;
    start();
    ws_desc.blind_writes = false;
    PART(write_it("a.txt", "x") == TCALL_OK && holds(at("ws/a.txt"), "x"));
    PART(write_it("n/o/p.txt", "x") == TCALL_E_NOT_FOUND &&
         says("create_directories"));
    PART(call("write", "{\"file_path\":\"n/o/p.txt\",\"content\":\"x\","
                       "\"create_directories\":true}") == TCALL_OK &&
         holds(at("ws/n/o/p.txt"), "x"));
    row("F24", all, "what was not read is not overwritten");
}

static void modes(void)
{
    struct stat st;
    mode_t mask = umask(0);
    all = true;
    make_tree();
    chmod(at("ws/a.txt"), 0755);
    if (geteuid() == 0)
        PART(chown(at("ws/a.txt"), 65534, 65533) == 0);
    start();
    read_it("a.txt");
    PART(edit_it("a.txt", "two", "2") == TCALL_OK);
    PART(stat(at("ws/a.txt"), &st) == 0 && (st.st_mode & 07777) == 0755);
    PART(geteuid() != 0 || (st.st_uid == 65534 && st.st_gid == 65533));
    row("F23", all, "mode and owner stay");
    all = true;
    PART(write_it("new", "x") == TCALL_OK && stat(at("ws/new"), &st) == 0 &&
         (st.st_mode & 07777) == 0644);
    umask(mask);
    row("F25", all, "a new file is 0644 at most");
}

/* Two processes that have read the same edit it at the same moment. */
static void two_writers(void)
{
    int round, i, status[2], won = 0, both = 0;
    all = true;
    for (round = 0; round < 40; round++) {
        pid_t pid[2];
        int gate[2], ready[2];
        char c;
        make_tree();
        PART(pipe(gate) == 0 && pipe(ready) == 0);
        for (i = 0; i < 2; i++)
            if ((pid[i] = fork()) == 0) {
                start();
                read_it("a.txt");
                (void)!write(ready[1], "x", 1);
                (void)!read(gate[0], &c, 1);
                _exit(edit_it("a.txt", "two", i ? "right" : "left") == TCALL_OK
                          ? 0
                      : strstr(result, "changed") ? 2
                                                  : 3);
            }
        (void)!read(ready[0], &c, 1);
        (void)!read(ready[0], &c, 1);
        (void)!write(gate[1], "xx", 2);
        for (i = 0; i < 2; i++) {
            waitpid(pid[i], &status[i], 0);
            status[i] = WEXITSTATUS(status[i]);
            close(gate[i]);
            close(ready[i]);
        }
        both += status[0] == 0 && status[1] == 0;
        won += status[0] + status[1] == 2;
        PART(holds(at("ws/a.txt"),
                   status[0] ? "one\nright\nthree\n" : "one\nleft\nthree\n"));
    }
    make_tree();
    round = open(at("ws"), O_RDONLY);
    PART(flock(round, LOCK_EX) == 0);
    PART(write_it("new", "x") == TCALL_E_FAILED && says("in use"));
    close(round);
    PART(write_it("new", "x") == TCALL_OK);
    row("F26", all && won == 40 && both == 0,
        "of two that edit at once one succeeds, one is told");
}

int main(void)
{
    static const group groups[] = {
        {"reading", reading},
        {"full_disk", full_disk},
        {"file_limit", file_limit},
        {"killed", killed},
        {"short_writes", short_writes},
        {"edits", edits},
        {"diffs", diffs},
        {"stale", stale},
        {"modes", modes},
        {"two_writers", two_writers},
    };

    begin();
    run_groups(groups, TCALL_ARRAY_LEN(groups));
    return end("test_tools_files_changes");
}
