/* Rules that hold for reading and for writing alike: ends of lines, names,
 * owners, what was read, what a killed process leaves. */
#include "tools_files.h"

#include <sys/ptrace.h>

/* -- Ends of lines -------------------------------------------------------- */

/* Three lines, each with an end of its own; the last may have none. */
static const char *const mixes[24][3] = {
    {"\n", "\n", "\n"},     {"\n", "\n", ""},       {"\r\n", "\r\n", "\r\n"},
    {"\r\n", "\r\n", ""},   {"\r", "\r", "\r"},     {"\r", "\r", ""},
    {"\n", "\n", "\r\n"},   {"\n", "\r\n", "\n"},   {"\n", "\r\n", "\r\n"},
    {"\n", "\r\n", ""},     {"\r\n", "\n", "\n"},   {"\r\n", "\n", "\r\n"},
    {"\r\n", "\r\n", "\n"}, {"\r\n", "\n", ""},     {"\r", "\n", "\n"},
    {"\n", "\r", "\n"},     {"\n", "\n", "\r"},     {"\r", "\r\n", "\n"},
    {"\r", "\n", ""},       {"\r\n", "\r", "\r\n"}, {"\r\n", "\r", ""},
    {"\r", "\r\n", "\r\n"}, {"\r\r\n", "\n", "\n"}, {"\n", "\r\r\n", ""},
};

static const char *const words[3] = {"one", "two", "three"};

/* Where a file has line feeds, a return alone is a character like others. */
static bool ends_line(int mix, int line)
{
    return strcmp(mixes[mix][line], "\r") != 0 || mix == 4 || mix == 5;
}

/* The end that follows a line, without characters before it. */
static const char *end_of(int mix, int line)
{
    const char *ends = mixes[mix][line];
    return strcmp(ends, "\r\r\n") == 0 ? ends + 1 : ends;
}

/* The file with its lines; the middle one may be another. */
static void mixed(char *to, int mix, bool mark, const char *middle)
{
    int i;
    strcpy(to, mark ? "\xEF\xBB\xBF" : "");
    for (i = 0; i < 3; i++) {
        strcat(to, i == 1 ? middle : words[i]);
        strcat(to, mixes[mix][i]);
    }
}

/* What a model sees of it, as text of JSON. */
static void model_sees(char *to, int mix, const char *middle)
{
    int i;
    *to = '\0';
    for (i = 0; i < 3; i++) {
        strcat(to, i == 1 ? middle : words[i]);
        strcat(to, !ends_line(mix, i)                     ? "\\r"
                   : !*mixes[mix][i]                      ? ""
                   : strcmp(mixes[mix][i], "\r\r\n") == 0 ? "\\r\\r\\n"
                                                          : "\\n");
    }
}

/* The middle line changes, and another one comes after it. */
static bool mix_stays(int mix, bool mark, int way)
{
    char was[64], want[64], middle[32], sees[64];
    int r;
    mixed(was, mix, mark, "two");
    put(at("ws/mixed"), was);
    start();
    read_it("mixed");
    if (way == 0) {
        mixed(want, mix, mark, "2");
        r = edit_it("mixed", "two", "2");
    } else if (way == 1) {
        const char *ends = ends_line(mix, 1) && *end_of(mix, 1) ? end_of(mix, 1)
                           : ends_line(mix, 2) && *end_of(mix, 2)
                               ? end_of(mix, 2)
                               : end_of(mix, 0);
        snprintf(middle, sizeof middle, "2%snew", ends);
        mixed(want, mix, mark, middle);
        r = edit_it("mixed", "two", "2\\nnew");
    } else {
        mixed(want, mix, mark, "2");
        model_sees(sees, mix, "2");
        r = write_it("mixed", sees);
    }
    if (r != TCALL_OK || strcmp(content(at("ws/mixed")), want) != 0) {
        printf("     mix %d, way %d: %d\n", mix, way, r);
        return false;
    }
    return true;
}

static void line_ends(void)
{
    int mix, way, mark;
    all = true;
    make_tree();
    for (mix = 0; mix < 24; mix++)
        for (mark = 0; mark < 2; mark++)
            for (way = 0; way < 3; way++)
                PART(mix_stays(mix, mark, way));
    row("ends", all, "24 mixes of line ends stay, by edit and by write");

    all = true;
    put(at("ws/dos"), "one\r\ntwo\r\nthree");
    start();
    PART(read_it("dos") == TCALL_OK && says("     3\tthree\n[lines end in CR"));
    PART(edit_it("dos", "three", "3\\n4\\n") == TCALL_OK &&
         holds(at("ws/dos"), "one\r\ntwo\r\n3\r\n4\r\n"));
    PART(edit_it("dos", "one\\ntwo\\n", "1\\n2\\n2b\\n") == TCALL_OK &&
         holds(at("ws/dos"), "1\r\n2\r\n2b\r\n3\r\n4\r\n"));
    PART(edit_it("dos", "1\\r\\n2\\r\\n", "0\\r\\n") == TCALL_OK &&
         holds(at("ws/dos"), "0\r\n2b\r\n3\r\n4\r\n"));
    PART(write_it("dos", "a\\nb\\nc\\nd\\ne\\nf") == TCALL_OK &&
         holds(at("ws/dos"), "a\r\nb\r\nc\r\nd\r\ne\r\nf") &&
         !strstr(whole, "\\r"));
    put(at("ws/mac"), "one\rtwo\rthree\r");
    start();
    PART(read_it("mac") == TCALL_OK &&
         says("     2\ttwo\n     3\tthree\n[lines end in CR, which stays]"));
    PART(edit_it("mac", "one\\ntwo", "1\\n2\\n2b") == TCALL_OK &&
         holds(at("ws/mac"), "1\r2\r2b\rthree\r"));
    put(at("ws/mark"), "\xEF\xBB\xBFone\ntwo\n");
    start();
    PART(read_it("mark") == TCALL_OK && says("     1\tone\n") &&
         says("byte order mark"));
    PART(write_it("mark", "\xEF\xBB\xBF"
                          "1\\n") == TCALL_OK &&
         holds(at("ws/mark"), "\xEF\xBB\xBF"
                              "1\n"));
    PART(edit_it("mark", "\xEF\xBB\xBF", "x") == TCALL_E_FAILED);
    PART(write_it("fresh", "a\\r\\nb\\n") == TCALL_OK &&
         holds(at("ws/fresh"), "a\r\nb\n"));
    row("ends", all, "where lines are added, dropped, or the last has no end");
}

/* -- Names and owners ----------------------------------------------------- */

static void names(void)
{
    all = true;
    make_tree();
    PART(read_it("a.txt/") == TCALL_E_FAILED && says("no directory"));
    PART(read_it("a.txt/.") == TCALL_E_FAILED);
    PART(write_it("a.txt/", "x") == TCALL_E_FAILED);
    PART(write_it("none/", "x") == TCALL_E_FAILED &&
         holds(at("ws/none"), "(none)"));
    PART(call("list", "{\"path\":\"sub/\"}") == TCALL_OK && says("b.c"));
    PART(call("list", "{\"path\":\"sub/.\"}") == TCALL_OK && says("b.c"));
    row("F11+", all, "a path of a directory names no file");

    all = true;
    PART(link(at("outside/secret.txt"), at("ws/hard")) == 0);
    PART(read_it("hard") == TCALL_E_DENIED && says("hard links") &&
         !strstr(result, "SECRET"));
    PART(call("grep", "{\"pattern\":\"SECRET\",\"path\":\"hard\"}") ==
             TCALL_E_DENIED &&
         says("hard links"));
    PART(call("grep", "{\"pattern\":\"SECRET\"}") == TCALL_OK &&
         says("(hard links): 1]") && !strstr(result, "SECRET"));
    PART(edit_it("hard", "SECRET", "x") == TCALL_E_DENIED);
    ws_desc.hard_links = true;
    start();
    PART(read_it("hard") == TCALL_OK && says("SECRET"));
    PART(call("grep", "{\"pattern\":\"SECRET\"}") == TCALL_OK &&
         says("hard:1:"));
    PART(edit_it("hard", "SECRET", "mine") == TCALL_OK &&
         holds(at("outside/secret.txt"), SECRET) &&
         holds(at("ws/hard"), "OUTSIDE-mine\n"));
    ws_desc.hard_links = false;
    start();
    row("F13+", all, "a file with several names is neither read nor written");
}

/* What somebody who is not root may do; 77: that cannot be tried here. */
static int as_user(void)
{
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 77;
    if (access(at("ws"), W_OK) != 0)
        return 77;
    all = true;
    start();
    PART(read_it("mine") == TCALL_OK);
    chmod(at("ws/mine"), 0400);
    PART(write_it("mine", "x") == TCALL_E_DENIED && says("permission denied"));
    PART(edit_it("mine", "mine", "x") == TCALL_E_DENIED);
    chmod(at("ws/mine"), 0600);
    PART(write_it("mine", "x") == TCALL_OK && holds(at("ws/mine"), "x"));
    PART(read_it("of-root") == TCALL_OK);
    PART(write_it("of-root", "x") == TCALL_E_DENIED);
    PART(read_it("for-all") == TCALL_OK); /* may be written, not given away */
    PART(write_it("for-all", "x") == TCALL_E_DENIED &&
         holds(at("ws/for-all"), "all\n") && says("not permitted"));
    return all ? 0 : 1;
}

static void owners(void)
{
    int status;
    pid_t pid;
    make_tree();
    chmod(at("ws"), 0777);
    put(at("ws/mine"), "mine\n");
    put(at("ws/of-root"), "root\n");
    put(at("ws/for-all"), "all\n");
    chmod(at("ws/for-all"), 0666);
    if (geteuid() != 0 || chown(at("ws/mine"), 65534, 65534) != 0) {
        skip("own", "needs root, to become somebody else");
        return;
    }
    pid = fork();
    if (pid == 0)
        _exit(as_user());
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) == 77)
        skip("own", "another user cannot be had here");
    else
        row("own", status == 0, "read-only files and those of others stay");
}

/* -- Mounts, and files without a size ------------------------------------- */

static int in_mounts(void)
{
    if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", at("ws/sub"), "tmpfs", 0, "size=64k") != 0 ||
        mount(at("outside/secret.txt"), at("ws/a.txt"), NULL, MS_BIND, NULL) !=
            0)
        return 77;
    all = true;
    put(at("ws/sub/m"), "mounted\n");
    start();
    PART(read_it("sub/m") == TCALL_OK && says("mounted"));
    PART(call("grep", "{\"pattern\":\"mounted\"}") == TCALL_OK &&
         says("sub/m"));
    PART(edit_it("sub/m", "mounted", "new") == TCALL_OK &&
         holds(at("ws/sub/m"), "new\n") && entries(at("ws")) == 2);
    PART(read_it("a.txt") == TCALL_OK && says("SECRET"));
    PART(write_it("a.txt", "x") == TCALL_E_DENIED && says("in use by") &&
         entries(at("ws")) == 2 && holds(at("ws/a.txt"), SECRET));
    return all ? 0 : 1;
}

static void mounts(void)
{
    int status;
    pid_t pid;
    make_tree();
    pid = fork();
    if (pid == 0)
        _exit(in_mounts());
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) == 77)
        skip("mnt", "nothing can be mounted here");
    else
        row("mnt", status == 0, "mounts are of the workspace; a file's stays");
    all = true;
    start_in("/proc/self", false);
    PART(read_it("comm") == TCALL_OK && says("(0 bytes") &&
         says("     1\ttest"));
    PART(call("grep", "{\"pattern\":\"^Pid:\",\"path\":\"status\"}") ==
             TCALL_OK &&
         says("status:6:Pid:"));
    row("proc", all, "files without a size are read as far as they go");
}

/* Somebody adds a line to a file while it is searched. */
static void adds(void)
{
    FILE *f = fopen(at("ws/log"), "a");
    if (f) {
        fputs("found\n", f);
        fclose(f);
    }
}

static void growing(void)
{
    static char text[1 << 16];
    size_t i;
    FILE *f;
    all = true;
    make_tree();
    memset(text, 'x', sizeof text);
    for (i = 63; i < sizeof text; i += 64)
        text[i] = '\n';
    f = fopen(at("ws/log"), "w");
    for (i = 0; f && i < 320; i++) /* more than one piece of work */
        fwrite(text, 1, sizeof text, f);
    if (f)
        fclose(f);
    ws_desc.max_ms = 1000000;
    start();
    between = adds;
    PART(call("grep", "{\"pattern\":\"found\",\"path\":\"log\"}") == TCALL_OK &&
         says("no match") && pieces > 2);
    PART(call("grep", "{\"pattern\":\"found\",\"path\":\"log\"}") == TCALL_OK &&
         says("log:327681:found"));
    ws_desc.max_ms = 0;
    row("grow", all, "a file that grows ends where it ended");
}

/* -- What was read -------------------------------------------------------- */

static void parts(void)
{
    FILE *f;
    int i;
    all = true;
    make_tree();
    f = fopen(at("ws/long"), "w");
    for (i = 1; f && i <= 8000; i++)
        fprintf(f, "line %d\n", i);
    if (f)
        fclose(f);
    PART(call("read", "{\"file_paths\":[\"long\"],\"offset\":9000}") ==
         TCALL_OK);
    PART(edit_it("long", "line 80\\n", "x\\n") == TCALL_E_UNREAD);
    PART(call("read", "{\"file_paths\":[\"long\"],\"limit\":1}") == TCALL_OK);
    PART(write_it("long", "x") == TCALL_E_UNREAD && says("only a part"));
    PART(read_it("long") == TCALL_OK && says("offset=2001"));
    for (i = 2001; i < 8000; i += 2000) {
        PART(write_it("long", "x") == TCALL_E_UNREAD);
        PART(call("read", "{\"file_paths\":[\"long\"],\"offset\":%d}", i) ==
             TCALL_OK);
    }
    PART(write_it("long", "x") == TCALL_OK && holds(at("ws/long"), "x"));
    put_bytes(at("ws/bin"), "ab\0cd\n", 6);
    PART(read_it("bin") == TCALL_OK);
    PART(write_it("bin", "x") == TCALL_E_UNREAD && says("is binary"));
    row("F24+", all, "a read that showed nothing, or a part, is none");
}

/* A notice of ours stands at the start of a line, where no file can write. */
static void notices(void)
{
    static char text[5000];
    all = true;
    make_tree();
    memset(text, 'x', sizeof text - 1);
    memcpy(text + 1900, "[line cut: 7 bytes more]", 24);
    put(at("ws/forged"), text);
    PART(read_it("forged") == TCALL_OK &&
         says("\n[line cut: 2999 bytes more]"));
    put(at("ws/forged"), "\r[lines end in CR]\n[cut at line 1]\n");
    PART(read_it("forged") == TCALL_OK && !strstr(result, "\n[") &&
         !strstr(result, "\r"));
    row("said", all, "no file can forge a notice");
}

/* -- Killed processes ----------------------------------------------------- */

/* The child has stopped itself: it goes on until it is about to make, or has
 * made, its call of the system with this number, and is killed there. False:
 * it ended before. */
static bool kill_at(pid_t pid, int number)
{
    int status;
    waitpid(pid, &status, 0);
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, pid, 0, 0) != 0 ||
            waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
            return false;
        if (--number == 0) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return true;
        }
    }
}

static bool traces(void)
{
    pid_t pid = fork();
    int status;
    if (pid == 0)
        _exit(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 ? 0 : 1);
    waitpid(pid, &status, 0);
    return status == 0;
}

static void killed(void)
{
    static const char *const files[] = {"a.txt", "sub/b.c", "sub/new"};
    static const char *const was[] = {
        "one\ntwo\nthree\n", "int main(void)\n{\n    return 0;\n}\n", "(none)"};
    static const char *const is[] = {
        "one\n2\nthree\n", "int main(void)\n{\n    return 2;\n}\n", "new\n"};
    int way, number, kills = 0, left = 0;
    if (!traces()) {
        skip("kill", "processes cannot be traced here");
        return;
    }
    all = true;
    for (way = 0; way < 3; way++)
        for (number = 1;; number++) {
            bool dead;
            pid_t pid;
            make_tree();
            pid = fork();
            if (pid == 0) {
                ptrace(PTRACE_TRACEME, 0, 0, 0);
                read_it(files[way]);
                raise(SIGSTOP);
                if (way == 0)
                    edit_it("a.txt", "two", "2");
                else if (way == 1)
                    write_it("sub/b.c",
                             "int main(void)\\n{\\n    return 2;\\n}\\n");
                else
                    write_it("sub/new", "new\\n");
                _exit(0);
            }
            dead = kill_at(pid, number);
            kills += dead;
            PART(holds(at("ws/%s", files[way]), was[way]) ||
                 holds(at("ws/%s", files[way]), is[way]));
            left +=
                entries(at("ws")) > 2 || entries(at("ws/sub")) > 1 + (way == 2);
            start();
            PART(entries(at("ws")) == 2);
            PART(entries(at("ws/sub")) <= 1 + (way == 2));
            PART(way != 2 || holds(at("ws/sub/new"), is[2]) ||
                 entries(at("ws/sub")) == 1);
            if (!dead)
                break;
        }
    printf("     %d kills, of which %d left something\n", kills, left);
    PART(kills > 60 && left > 10);
    row("kill", all, "killed at each call of the system: nothing is left");
}

/* What only looks like ours, or is still written, stays. */
static void others(void)
{
    int dir;
    all = true;
    make_tree();
    put(at("ws/.ttool-1-2-3.tmp.txt"), "mine\n");
    put(at("ws/.ttool-notes.tmp"), "mine\n");
    put(at("outside/.ttool-1-2-3.tmp"), "mine\n");
    put(at("ws/sub/.ttool-1-2-4.tmp"), "left\n");
    put(at("ws/.ttool-1-2-5.tmp"), "left\n");
    (void)!symlink("../outside/.ttool-1-2-3.tmp", at("ws/.ttool-1-2-3.tmp"));
    (void)!symlink("a.txt", at("ws/.ttool-1-2-6.tmp"));
    (void)!symlink("sub/.ttool-1-2-4.tmp", at("ws/.ttool-1-2-4.tmp"));
    dir = open(at("ws/sub"), O_RDONLY | O_DIRECTORY);
    PART(flock(dir, LOCK_EX) == 0); /* somebody writes there */
    start();
    PART(holds(at("ws/sub/.ttool-1-2-4.tmp"), "left\n"));
    close(dir);
    start();
    PART(holds(at("ws/sub/.ttool-1-2-4.tmp"), "(none)"));
    PART(holds(at("outside/.ttool-1-2-3.tmp"), "mine\n"));
    PART(holds(at("ws/a.txt"), "one\ntwo\nthree\n"));
    PART(holds(at("ws/.ttool-1-2-3.tmp.txt"), "mine\n"));
    PART(holds(at("ws/.ttool-notes.tmp"), "mine\n"));
    PART(entries(at("ws")) == 4 && entries(at("ws/sub")) == 1);
    row("left", all, "only what we left, and nobody writes, goes");
}

int main(void)
{
    static const group groups[] = {
        {"line_ends", line_ends}, {"names", names},     {"owners", owners},
        {"mounts", mounts},       {"growing", growing}, {"parts", parts},
        {"notices", notices},     {"killed", killed},   {"others", others},
    };

    begin();
    run_groups(groups, TCALL_ARRAY_LEN(groups));
    return end("test_tools_files_rules");
}
