/* What of the file system a tool gets to see, with openat2 and without. */
#include "tools_files.h"

/* -- Paths: F01 to F13 ---------------------------------------------------- */

/* Nothing outside is seen or changed, whatever tool is given this path. */
static bool closed(const char *path)
{
    int outside = entries(at("outside")), i, r[6];
    bool leaks = false;
    r[0] = read_it(path);
    leaks |= strstr(result, "SECRET") != NULL;
    r[1] = call("write",
                "{\"file_path\":\"%s\",\"content\":\"x\","
                "\"create_directories\":true}",
                path);
    r[2] = edit_it(path, "SECRE", "x"); /* an error shows the call */
    leaks |= strstr(result, "SECRET") != NULL;
    r[3] = call("list", "{\"path\":\"%s\"}", path);
    leaks |= strstr(result, "secret") != NULL && r[3] == TCALL_OK;
    r[4] = call("glob", "{\"path\":\"%s\",\"pattern\":\"**\"}", path);
    leaks |= strstr(result, "secret") != NULL && r[4] == TCALL_OK;
    r[5] = call("grep", "{\"path\":\"%s\",\"pattern\":\"SECRE.\"}", path);
    leaks |= strstr(result, "\"error_type\":\"permission\"") == NULL;
    leaks |= strstr(result, "SECRET") != NULL;
    for (i = 0; i < 6; i++)
        leaks |= r[i] != TCALL_E_DENIED;
    if (leaks || !holds(at("outside/secret.txt"), SECRET) ||
        !holds(at("ws-evil/secret.txt"), SECRET) ||
        entries(at("outside")) != outside || entries(base) != 3) {
        printf("     open: %s (%d %d %d %d %d %d)\n", path, r[0], r[1], r[2],
               r[3], r[4], r[5]);
        return false;
    }
    return true;
}

static void links(void)
{
    char name[16], to[16];
    int i;
    all = true;
    (void)!symlink("../outside/secret.txt", at("ws/rel"));
    (void)!symlink(at("outside/secret.txt"), at("ws/abs"));
    PART(closed("rel") && closed("abs") && closed("sub/../rel"));
    row("F04", all, "links to a file outside");
    all = true;
    (void)!symlink("../outside", at("ws/dir"));
    (void)!symlink("..", at("ws/up"));
    (void)!symlink("dir", at("ws/twice"));
    PART(closed("dir/secret.txt") && closed("up/outside/secret.txt") &&
         closed("twice/secret.txt") && closed("dir") && closed("up"));
    row("F05", all, "links to a directory outside");
    all = true;
    (void)!symlink("../outside/new.txt", at("ws/dangling"));
    PART(closed("dangling") && closed("dir/new.txt") && closed("dir/n/new"));
    row("F06", all, "a new file through a dangling link or a linked parent");
    all = true;
    (void)!symlink("loop2", at("ws/loop1"));
    (void)!symlink("loop1", at("ws/loop2"));
    put(at("ws/c0"), "end\n");
    for (i = 1; i <= 41; i++) {
        snprintf(name, sizeof name, "ws/c%d", i);
        snprintf(to, sizeof to, "c%d", i - 1);
        (void)!symlink(to, at("%s", name));
    }
    PART(read_it("loop1") == TCALL_E_FAILED && says("too many"));
    PART(read_it("c41") == TCALL_E_FAILED && says("too many"));
    PART(read_it("c3") == TCALL_OK && says("end"));
    PART(write_it("loop1", "x") == TCALL_E_FAILED);
    row("F07", all, "loops and chains of links end");
    all = true;
    (void)!symlink("/proc/self/cwd", at("ws/magic"));
    (void)!symlink("/proc/self/root", at("ws/root"));
    PART(chdir(at("outside")) == 0);
    PART(closed("magic/secret.txt") && closed("root/etc/passwd"));
    PART(chdir("/") == 0);
    row("F08", all, "magic links of /proc");
    all = true;
    (void)!symlink("sub", at("ws/inside"));
    (void)!symlink(at("ws/a.txt"), at("ws/whole"));
    PART(read_it("inside/b.c") == TCALL_OK && says("=== sub/b.c"));
    PART(read_it("whole") == TCALL_OK && says("=== a.txt"));
    PART(edit_it("whole", "two", "2") == TCALL_OK);
    PART(holds(at("ws/a.txt"), "one\n2\nthree\n"));
    row("F04+", all, "links that stay inside are followed, also to write");
}

static void names(void)
{
    char text[6001];
    all = true;
    PART(read_it("") == TCALL_E_INVALID);
    PART(read_it(".") == TCALL_E_FAILED && says("list"));
    PART(read_it("/") == TCALL_E_DENIED);
    PART(read_it("a.txt\\u0000/../b") < 0 && !strstr(result, "three"));
    memset(text, 'a', sizeof text);
    text[5000] = '\0';
    PART(read_it(text) == TCALL_E_INVALID);
    text[300] = '\0';
    PART(read_it(text) == TCALL_E_FAILED && says("too long"));
    PART(write_it(".", "x") == TCALL_E_FAILED);
    PART(read_it("a.txt/x") == TCALL_E_FAILED);
    row("F11", all, "paths empty, of the root, with NUL, too long");
}

static void becomes_fifo(void)
{
    unlink(at("ws/a.txt"));
    mkfifo(at("ws/a.txt"), 0644);
}

static void no_files(void)
{
    static const char *const named[] = {"fifo", "socket", "device", "sub"};
    struct sockaddr_un un;
    int s = socket(AF_UNIX, SOCK_STREAM, 0), i;
    bool device;
    double before = now();
    all = true;
    alarm(20);
    memset(&un, 0, sizeof un);
    un.sun_family = AF_UNIX;
    snprintf(un.sun_path, sizeof un.sun_path, "%.90s", at("ws/socket"));
    PART(mkfifo(at("ws/fifo"), 0644) == 0);
    PART(bind(s, (struct sockaddr *)&un, sizeof un) == 0);
    device = mknod(at("ws/device"), S_IFCHR | 0666, 5 << 8) == 0;
    for (i = 0; i < 4; i++) {
        if (i == 2 && !device) {
            skip("F12", "a device cannot be made here: run as root");
            continue;
        }
        PART(read_it(named[i]) == TCALL_E_FAILED &&
             (strstr(result, "not a file") || strstr(result, "directory")));
        PART(write_it(named[i], "x") == TCALL_E_FAILED);
        PART(edit_it(named[i], "a", "b") == TCALL_E_FAILED);
        PART(i == 3 || call("grep", "{\"pattern\":\"x\",\"path\":\"%s\"}",
                            named[i]) == TCALL_E_FAILED);
    }
    PART(call("grep", "{\"pattern\":\"return\"}") == TCALL_OK && says("b.c"));
    PART(in_time((long)((now() - before) * 1000), 0, 2000));
    close(s);
    if (!stepwise) { /* it becomes a pipe behind the first look */
        fault.hook = becomes_fifo;
        fault.hook_at = 'o';
        PART(read_it("a.txt") == TCALL_E_STALE && says("changed"));
    }
    alarm(0);
    row("F12", all, "pipe, socket, device, directory are no files; no waiting");
    all = true;
    PART(link(at("outside/secret.txt"), at("ws/hard")) == 0);
    read_it("hard");
    verdict = TCALL_VERDICT_ALLOW;
    PART(write_it("hard", "x") == TCALL_E_DENIED && says("hard link"));
    PART(edit_it("hard", "SECRET", "x") == TCALL_E_DENIED);
    verdict = TCALL_VERDICT_DENY;
    PART(holds(at("outside/secret.txt"), SECRET));
    unlink(at("ws/hard"));
    row("F13", all, "a file with several names is not written");
}

static void paths(void)
{
    char inside[512];
    make_tree();
    all = true;
    PART(closed("../outside/secret.txt") &&
         closed("sub/../../outside/secret.txt") && closed("../ws/a.txt") &&
         closed("..") && closed("./.././outside/secret.txt") &&
         closed("sub//..//../outside/secret.txt"));
    row("F01", all, "out by .., also out and back");
    all = true;
    PART(closed(at("outside/secret.txt")) && closed("/etc/passwd") &&
         closed("//etc/passwd"));
    snprintf(inside, sizeof inside, "%s", at("ws/a.txt"));
    PART(read_it(inside) == TCALL_OK && says("=== a.txt"));
    snprintf(inside, sizeof inside, "%s", at("ws/../outside/secret.txt"));
    PART(closed(inside));
    row("F02", all, "absolute: outside refused, inside taken as relative");
    row("F03",
        closed(at("ws-evil/secret.txt")) && closed("../ws-evil/secret.txt"),
        "a sibling that begins with the same letters");
    links();
    names();
    no_files();
}

/* -- Races: F09 ----------------------------------------------------------- */

static pid_t flipper(const char *a, const char *b)
{
    pid_t pid = fork();
    if (pid == 0) {
        double end = now() + 60;
        while (now() < end)
            (void)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2);
        _exit(0);
    }
    return pid;
}

static void race(void)
{
    const char *ms = getenv("RACE_MS");
    double end;
    long tries = 0, good = 0, bad = 0;
    char a[512], b[512];
    int i;
    pid_t pid;
    make_tree();
    mkdir(at("ws/flip"), 0755);
    put(at("ws/flip/f"), "inside\n");
    put(at("outside/f"), SECRET);
    (void)!symlink("../outside", at("ws/flop"));
    (void)!symlink("../outside/f", at("ws/fl"));
    snprintf(a, sizeof a, "%s", at("ws/flip"));
    snprintf(b, sizeof b, "%s", at("ws/flop"));
    start();
    ws_desc.blind_writes = true;
    start();
    pid = flipper(a, b);
    end = now() + (ms ? atof(ms) : stepwise ? 1200 : 5000) / 1000;
    while (now() < end || ((good < 20 || good == tries) && now() < end + 120)) {
        int r[6];
        r[0] = read_it("flip/f");
        bad += strstr(result, "SECRET") != NULL;
        r[1] = call("grep", "{\"pattern\":\".*\",\"path\":\"flip\"}");
        bad += strstr(result, "SECRET") != NULL;
        r[2] = write_it("flip/f", "inside\\n");
        r[3] = edit_it("flip/f", "inside", "inside ");
        r[4] = edit_it("flip/f", "inside ", "inside");
        r[5] = call("list", "{\"path\":\"flip\"}");
        bad += strstr(result, "secret") != NULL;
        for (i = 0; i < 6; i++, tries++)
            good += r[i] == TCALL_OK;
    }
    stop(pid);
    ws_desc.blind_writes = false;
    printf("     %ld calls, %ld of them succeeded, %ld escaped\n", tries, good,
           bad);
    row("F09",
        bad == 0 && good >= 20 && good < tries &&
            holds(at("outside/f"), SECRET) &&
            holds(at("outside/secret.txt"), SECRET) &&
            entries(at("outside")) == 2,
        "a directory and a link change places all the time");
}

/* -- Names: F27 to F29 ---------------------------------------------------- */

static void guarded(void)
{
    static const char *const secrets[] = {".env", ".env.local", "ID_ED25519",
                                          "server.pem", "aws_credentials"};
    static const char *const run[] = {".git/hooks/pre-commit", ".envrc",
                                      "Makefile", "package.json",
                                      ".github/workflows/ci.yml"};
    size_t i;
    all = true;
    make_tree();
    for (i = 0; i < TCALL_ARRAY_LEN(secrets); i++) {
        put(at("ws/%s", secrets[i]), "TOKEN=1\n");
        asked = 0;
        verdict = TCALL_VERDICT_DENY;
        PART(read_it(secrets[i]) == TCALL_E_DENIED && asked == 1 &&
             !strstr(result, "TOKEN"));
        PART(call("grep", "{\"pattern\":\"TOKEN\",\"path\":\"%s\"}",
                  secrets[i]) == TCALL_E_DENIED);
        verdict = (tcall_verdict)77;
        PART(read_it(secrets[i]) == TCALL_E_DENIED);
        verdict = TCALL_VERDICT_LATER;
        PART(read_it(secrets[i]) == TCALL_E_APPROVAL && !*result);
        verdict = TCALL_VERDICT_ALLOW;
        asked = 0;
        PART(read_it(secrets[i]) == TCALL_OK && says("TOKEN") && asked == 1);
        PART(edit_it(secrets[i], "1", "2") == TCALL_OK && asked == 2);
    }
    verdict = TCALL_VERDICT_DENY;
    (void)!symlink(".env", at("ws/innocent"));
    PART(read_it("innocent") == TCALL_E_DENIED);
    mkdir(at("ws/.ssh"), 0700);
    put(at("ws/.ssh/config"), "TOKEN\n");
    PART(read_it(".ssh/config") == TCALL_E_DENIED);
    PART(call("grep", "{\"pattern\":\"TOKEN\"}") == TCALL_OK &&
         says("names of secrets: 6") && !strstr(result, "TOKEN"));
    PART(call("grep", "{\"pattern\":\"TOKEN\",\"path\":\".ssh\"}") ==
             TCALL_OK &&
         says("names of secrets: 1") && !strstr(result, "TOKEN"));
    PART(call("read", "{\"file_paths\":[\"a.txt\",\".env\"]}") == TCALL_OK &&
         says("two") && !strstr(result, "TOKEN"));
    row("F27", all, "secrets by name ask, also behind a link and in grep");
    all = true;
    mkdir(at("ws/.git"), 0755);
    mkdir(at("ws/.git/hooks"), 0755);
    mkdir(at("ws/.github"), 0755);
    mkdir(at("ws/.github/workflows"), 0755);
    for (i = 0; i < TCALL_ARRAY_LEN(run); i++) {
        asked = 0;
        verdict = TCALL_VERDICT_DENY;
        PART(write_it(run[i], "evil") == TCALL_E_DENIED && asked == 1 &&
             holds(at("ws/%s", run[i]), "(none)"));
        verdict = TCALL_VERDICT_ALLOW;
        PART(write_it(run[i], "fine") == TCALL_OK && asked == 2);
    }
    row("F28", all, "what other programs run asks");
    all = true;
    start_in(at("ws"), true);
    PART(write_it("plain", "x") == TCALL_E_DENIED && asked == 1);
    verdict = TCALL_VERDICT_ALLOW;
    PART(write_it("plain", "x") == TCALL_OK && asked == 2);
    PART(write_it("Jenkinsfile", "x") == TCALL_OK && asked == 3);
    PART(read_it("plain") == TCALL_OK && asked == 3);
    row("F28+", all, "write and edit ask each time, but only once");
}

static void roots(void)
{
    ttool_workspace other;
    ttool_workspace_desc d;
    all = true;
    memset(&d, 0, sizeof d);
    d.memory = memory;
    d.memory_size = sizeof memory;
    d.root = "/";
    PART(ttool_workspace_open(&other, &d) == TCALL_E_DENIED);
    make_tree();
    setenv("HOME", at("ws"), 1);
    d.root = at("ws/sub/..");
    PART(ttool_workspace_open(&other, &d) == TCALL_E_DENIED);
    setenv("HOME", "/nowhere", 1);
    PART(ttool_workspace_open(&other, &d) == TCALL_OK);
    ttool_workspace_close(&other);
    d.root = at("none");
    PART(ttool_workspace_open(&other, &d) == TCALL_E_NOT_FOUND);
    d.root = at("ws/a.txt");
    PART(ttool_workspace_open(&other, &d) == TCALL_E_NOT_FOUND);
    d.root = at("ws");
    d.memory_size--;
    PART(ttool_workspace_open(&other, &d) == TCALL_E_USAGE);
    row("C3", all, "/ and the home directory are no workspaces");
}

/* Each name is read, written and edited by the text that list, glob and grep
 * show for it. */
static void shown_names(void)
{
    static const char *const names[] = {"caf\xE9.txt",
                                        "\xE2\x80\xAEgpj.exe",
                                        "a\tb",
                                        "back\\slash",
                                        "lit\\x09eral",
                                        "two\\\\slashes",
                                        "line\nend",
                                        "cr\r",
                                        "\x1B[31m",
                                        ("\xC2\x85"
                                         "x1"),
                                        "tag\xF3\xA0\x80\x81",
                                        "half\xE2\x80",
                                        "\xFF\xFE",
                                        "trail\\",
                                        "u\\u202e",
                                        "[bracket]",
                                        "caf\xC3\xA9.txt",
                                        "plain.txt",
                                        "d\xE9r/in\xE9.txt",
                                        "big\\U0001f600",
                                        "q\"uote"};
    size_t i, tool;
    all = true;
    for (i = 0; i < TCALL_ARRAY_LEN(names); i++)
        for (tool = 0; tool < 2; tool++) {
            char text[64], shown[256], given[600];
            char *end;
            tcall_writer w;
            make_tree();
            mkdir(at("ws/d\xE9r"), 0755);
            sprintf(text, "needle %u\n", (unsigned)i);
            put(at("ws/%s", names[i]), text);
            if (tool == 0) {
                PART(call("grep", "{\"pattern\":\"needle\"}") == TCALL_OK);
                snprintf(shown, sizeof shown, "%.255s", result);
                end = strstr(shown, ":1:needle");
            } else {
                PART(call("glob", "{\"pattern\":\"**\",\"limit\":1}") ==
                     TCALL_OK);
                snprintf(shown, sizeof shown, "%.255s", result);
                end = strchr(shown, '\n');
            }
            PART(end != NULL);
            if (!end)
                continue;
            *end = '\0';
            PART((strchr(shown, '\\') != NULL) ==
                 (strstr(result, "are escaped: give them") != NULL));
            tcall_writer_init(&w, given, sizeof given - 1);
            tcall_write_string(&w, shown);
            given[w.fill] = '\0';
            PART(call("read", "{\"file_paths\":[%s]}", given) == TCALL_OK &&
                 says(text));
            PART(call("edit",
                      "{\"file_path\":%s,\"old_string\":\"needle\","
                      "\"new_string\":\"thread\"}",
                      given) == TCALL_OK);
            memcpy(text, "thread", 6);
            PART(holds(at("ws/%s", names[i]), text));
            PART(call("write", "{\"file_path\":%s,\"content\":\"new\"}",
                      given) == TCALL_OK &&
                 holds(at("ws/%s", names[i]), "new"));
        }
    /* raw names still work, and escapes lead nowhere else */
    make_tree();
    put(at("ws/a\tb"), "tab\n");
    PART(call("read", "{\"file_paths\":[\"a\\tb\"]}") == TCALL_OK &&
         says("tab"));
    PART(call("read", "{\"file_paths\":[\"\\\\x2e\\\\x2e/outside\"]}") < 0);
    PART(call("read", "{\"file_paths\":[\"sub\\\\x2fb.c\"]}") < 0);
    PART(call("read", "{\"file_paths\":[\"a.txt\\\\x00\"]}") < 0);
    row("P20", all, "names are given as they are shown");
}

int main(void)
{
    /* twice: with openat2 and without */
    static const group groups[] = {
        {"paths", paths},
        {"race", race},
    };
    static const group others[] = {
        {"guarded", guarded},
        {"roots", roots},
        {"shown_names", shown_names},
    };

    begin();
    run_groups(groups, TCALL_ARRAY_LEN(groups));
    stepwise = true;
    run_groups(groups, TCALL_ARRAY_LEN(groups));
    row("F10", check_failed == 0, "F01 to F09 without openat2, as above");
    stepwise = false;
    run_groups(others, TCALL_ARRAY_LEN(others));
    return end("test_tools_files_paths");
}
