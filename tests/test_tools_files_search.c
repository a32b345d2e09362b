/* Searching: by name, by content, in large trees. */
#include "tools_files.h"

/* -- Searching: G01 to G11 ------------------------------------------------ */

static bool fast(const char *tool, const char *arguments, int error, double s)
{
    double before = work(), took;
    int r = call(tool, "%s", arguments);
    took = work() - before;
    if (r != error)
        printf("     %s %.80s: %d, %.3f s: %.200s\n", tool, arguments, r, took,
               result);
    return r == error && in_time((long)(took * 1000), 0, (long)(s * 1000));
}

static ttool_pattern compiled;

static bool compiles(const char *pattern, unsigned flags)
{
    static char mem[TTOOL_PATTERN_MEMORY];
    return ttool_pattern_compile(&compiled, tcall_str_of(pattern), flags, mem,
                                 sizeof mem) == TCALL_OK;
}

static bool matches(const char *pattern, unsigned flags, const char *text)
{
    return compiles(pattern, flags) &&
           ttool_pattern_find(&compiled, text, text + strlen(text));
}

static void patterns(void)
{
    static const struct {
        const char *pattern, *text;
        unsigned flags;
        bool match;
    } t[] = {
        {"a.c", "abc", 0, true},
        {"^b$", "a\nb\nc", 1, true},
        {"^$", "a\n\nc", 1, true},
        {"x|y|z", "z", 0, true},
        {"(ab)+c", "ababc", 0, true},
        {"(ab){2,3}c", "abc", 0, false},
        {"(ab){2,3}c", "abababc", 0, true},
        {"^(ab){2,3}$", "abababab", 0, false},
        {"a{2,}", "a", 0, false},
        {"a{2,}", "aaa", 0, true},
        {"a{0}b", "b", 0, true},
        {"^a?b*?c$", "abbc", 0, true},
        {"\\bint\\b", "print int;", 0, true},
        {"\\bint\\b", "printint", 0, false},
        {"\\Bint", "print", 0, true},
        {"[[:digit:]x]+$", "a1x", 0, true},
        {"[^a-c\\d]", "abc123", 0, false},
        {"[]a]", "]", 0, true},
        {"[a\\]]", "]", 0, true},
        {"\\x41\\u00e9", "A\xC3\xA9", 0, true},
        {"^.$", "\xE2\x82\xAC", 0, true},
        {"^..$", "\xE2\x82\xAC", 0, false},
        {"[\xC3\xA0-\xC3\xBF]", "\xC3\xA9", 0, true},
        {"[\xC3\xA0-\xC3\xBF]", "\xC4\x80", 0, false},
        {"[^\xC3\xA0-\xC3\xBF]", "\xC3\xA9", 0, false},
        {"[^x]", "\xF0\x9F\x98\x80", 0, true},
        {".", "\xE9", 0, false},
        {"HeLLo", "hEllO", TTOOL_FOLD, true},
        {"(?i)[^a]", "A", 0, false},
        {"a.b", "a\nb", 1, false},
        {"[^a]", "a\n", 1, false},
        {"\\s", "a\nb", 1, false},
        {"struct {", "struct {", 0, true},
        {"a||b", "", 0, true},
        {"()", "", 0, true},
        {"(a*)*b", "aaab", 0, true},
        {"needle", "hay needle hay", 1, true},
        {"**/*.c", "a.c", TTOOL_GLOB, true},
        {"**/*.c", "x/y/a.c", TTOOL_GLOB, true},
        {"*.c", "x/a.c", TTOOL_GLOB, false},
        {"src/*/[!x]?.{c,h}", "src/lib/ab.h", TTOOL_GLOB, true},
        {"src/*/[!x]?.{c,h}", "src/lib/xb.h", TTOOL_GLOB, false},
        {"a/**", "a/b/c", TTOOL_GLOB, true},
        {"{a,b{c,d}}", "bd", TTOOL_GLOB, true},
        {"a?c", "a/c", TTOOL_GLOB, false},
        {"a[!b]c", "a/c", TTOOL_GLOB, false},
        {"\\*", "*", TTOOL_GLOB, true},
        {"a+(b)", "a+(b)", TTOOL_GLOB, true},
        /* What a match need not hold must not be looked for. */
        {"abc|x", "x", 0, true},
        {"ab?c", "ac", 0, true},
        {"abb*?c", "ac", 0, false},
        {"ab{0,1}c", "ac", 0, true},
        {"ab{2}cde", "abbcde", 0, true},
        {"a\\x41b", "aAb", 0, true},
        {"ab\u00e9*c", "abc", 0, true},
        {"(abcdef)?g", "g", 0, true},
        {"[\\]x]abc", "]abc", 0, true},
        {"a\\(b\\)c", "a(b)c", 0, true},
        {"^bc$", "abc\nbc\nbcd", TTOOL_LINES, true},
        {"^bc$", "abc\nbcd\nbc-", TTOOL_LINES, false},
        {"(?i)x-Y", "aX-yb", 0, true},
        {"x\ny", "x\ny", TTOOL_GLOB, true},
    };
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(t); i++) {
        bool m = matches(t[i].pattern, t[i].flags, t[i].text);
        if (m != t[i].match)
            printf("     %s on %s: %d\n", t[i].pattern, t[i].text, m);
        PART(m == t[i].match);
    }
}

/* What models write that is not ours: it works, or is refused by its name. */
static void perl(void)
{
    static const struct {
        const char *pattern, *text; /* text NULL: refused, */
        const char *word;           /* and the reason has this */
    } t[] = {
        {"^\\d+$", "42", NULL},
        {"^\\w+\\s\\W$", "ab1 -", NULL},
        {"^\\D\\S+$", "x42", NULL},
        {"<.+?>x", "<a><b>x", NULL},
        {"^a{2,3}?$", "aaa", NULL},
        {"^a??b*?$", "ab", NULL},
        {"(?i)abc", "ABC", NULL},
        {"(?im)^abc", "ABC", NULL},
        {"(?m)(?i)^abc", "ABC", NULL},
        {"(?s)a.b", "axb", NULL},
        {"\\bfoo\\b", "a foo b", NULL},
        {"\\<foo\\>", "a foo b", NULL},
        {"(?:a|b)c", "bc", NULL},
        {"\\Aabc\\z", "abc", NULL},
        {"abc\\Z", "abc", NULL},
        {"a\\hb", "a\tb", NULL},
        {"^a{,3}$", "aaa", NULL},
        {"a{,b}", "a{,b}", NULL},
        {"snake\\_case", "snake_case", NULL},
        {"[[:word:]-]+$", "a-b", NULL},
        {"x\\++", "x++", NULL},
        {"[+*]+", "+", NULL},
        {"a++", NULL, "possessive"},
        {"a*+b", NULL, "possessive"},
        {"a{2}+", NULL, "possessive"},
        {"(?=a)", NULL, "look-ahead"},
        {"(?!a)", NULL, "look-ahead"},
        {"(?<=a)", NULL, "look-behind"},
        {"(?<!a)", NULL, "look-behind"},
        {"(?<n>a)", NULL, "named"},
        {"(?P<n>a)", NULL, "named"},
        {"(?>a)", NULL, "atomic"},
        {"a(?i)b", NULL, "at the start"},
        {"(?i:a)", NULL, "at the start"},
        {"(?x)a", NULL, "at the start"},
        {"(?#c)a", NULL, "comments"},
        {"(*SKIP)", NULL, "verbs"},
        {"(a)\\1", NULL, "back references"},
        {"\\k<n>", NULL, "back references"},
        {"\\p{L}", NULL, "Unicode"},
        {"\\Qa.b\\E", NULL, "\\Q"},
        {"a\\Kb", NULL, "\\K"},
        {"\\R", NULL, "\\R"},
        {"[[:letter:]]", NULL, "class"},
        {"[[.a.]]", NULL, "class"},
        {"\\y", NULL, "escape"},
    };
    size_t i;
    all = true;
    for (i = 0; i < TCALL_ARRAY_LEN(t); i++) {
        bool good = t[i].text ? matches(t[i].pattern, TTOOL_LINES, t[i].text)
                              : !compiles(t[i].pattern, TTOOL_LINES) &&
                                    strstr(compiled.reason, t[i].word);
        if (!good)
            printf("     %s: %s\n", t[i].pattern,
                   compiled.reason ? compiled.reason : "ok");
        PART(good);
    }
    make_tree();
    PART(call("grep", "{\"pattern\":\"one\\\\|two\"}") == TCALL_OK &&
         says("written a|b"));
    row("G09", all, "what Perl has works, or is refused by its name");
}

static void globs(void)
{
    static char text[10001], stars[200], braces[300];
    char names[4][32] = {"new\nline", "esc\033[1m", "quo\"te", "bad\xFFutf8"};
    double before;
    int i;
    all = true;
    make_tree();
    mkdir(at("ws/loop"), 0755);
    (void)!symlink("..", at("ws/loop/back"));
    start();
    PART(fast("glob", "{\"pattern\":\"**/*.c\"}", TCALL_OK, 1) &&
         strcmp(result, "sub/b.c\n") == 0);
    PART(fast("grep", "{\"pattern\":\"return\"}", TCALL_OK, 1) &&
         strcmp(result, "sub/b.c:3:    return 0;\n") == 0);
    PART(fast("list", "{\"depth\":9}", TCALL_OK, 1) && says("back (link)"));
    PART(fast("list", "{\"limit\":1}", TCALL_OK, 1) &&
         says("./\n  a.txt\n[cut after 1 of at least"));
    row("G01", all, "** over a loop of links ends");
    all = true;
    for (i = 0; i < 30; i++)
        strcat(braces, "{a,b}");
    put(at("ws/%.30s", "ababababababababababababababab"), "");
    snprintf(text, sizeof text, "{\"pattern\":\"%s\"}", braces);
    PART(fast("glob", text, TCALL_OK, 0.05) && says("ababab"));
    row("G02", all, "30 groups of braces");
    all = true;
    for (i = 0; i < 64; i++)
        strcat(stars, "a*");
    memset(text, 'a', sizeof text - 1);
    before = work();
    PART(matches(stars, TTOOL_GLOB, text));
    strcat(stars, "b");
    PART(!matches(stars, TTOOL_GLOB, text));
    PART(in_time((long)((work() - before) * 1000), 0, 50));
    row("G03", all, "64 stars against 10,000 letters");
    all = true;
    make_tree();
    for (i = 0; i < 4; i++)
        put(at("ws/%s", names[i]), "found\n");
    PART(fast("glob", "{\"pattern\":\"*\"}", TCALL_OK, 1) &&
         says("new\\x0aline\n") && says("esc\\x1b[1m\n") && says("quo\"te\n") &&
         says("bad\\xffutf8\n"));
    PART(fast("grep", "{\"pattern\":\"found\"}", TCALL_OK, 1) &&
         says("new\\x0aline:1:found\n"));
    PART(fast("list", "{}", TCALL_OK, 1) && says("  new\\x0aline\n"));
    row("G05", all, "names with newline, ESC, quotes, bad UTF-8");
    all = true;
    PART(
        fast("glob", "{\"pattern\":\"../*\"}", TCALL_E_DENIED, 1) &&
        fast("glob", "{\"pattern\":\"/etc/*\"}", TCALL_E_DENIED, 1) &&
        fast("glob", "{\"pattern\":\"sub/../../*\"}", TCALL_E_DENIED, 1) &&
        fast("grep", "{\"pattern\":\"x\",\"path\":\"..\"}", TCALL_E_DENIED, 1));
    PART(
        fast("grep", "{\"pattern\":\".\",\"include\":\"../*\"}", TCALL_OK, 1) &&
        says("no match"));
    row("G10", all, "patterns that lead out");
    all = true;
    put(at("ws/dash"), "-x\n");
    PART(fast("grep", "{\"pattern\":\"-x\"}", TCALL_OK, 1) &&
         says("dash:1:-x"));
    row("G11", all, "a pattern that begins with -");
}

static void greps(void)
{
    static char text[3000];
    const char *p;
    double before;
    int i, fd;
    all = true;
    make_tree();
    memset(text, 'a', 40);
    strcpy(text + 40, "X\n");
    put(at("ws/s08"), text);
    PART(fast("grep", "{\"pattern\":\"^(a|a)*$\"}", TCALL_OK, 0.05) &&
         says("no match"));
    for (p = "(?=a) (a)\\\\1 (?<=a)"; *p;) {
        size_t n = strcspn(p, " ");
        snprintf(text, sizeof text, "{\"pattern\":\"%.*s\"}", (int)n, p);
        PART(fast("grep", text, TCALL_E_INVALID, 0.05) && strstr(result, "no"));
        p += n + (p[n] == ' ');
    }
    for (i = 0, *text = '\0'; i < 70; i++) /* many sets, many parts */
        snprintf(text + strlen(text), 16, "[a%c%c]", '0' + i % 10,
                 'c' + i / 10);
    PART(compiles(text, 0));
    text[0] = '[';
    for (i = 1; i < 80; i++)
        text[i] = (char)('!' + (i * 2) % 58);
    strcpy(text + 80, "]");
    PART(compiles(text, 0));
    memset(text, '*', 2900);
    text[2900] = '\0';
    PART(!compiles(text, TTOOL_GLOB));
    PART(fast("grep", "{\"pattern\":\"(((a{1,120}){1,120}){1,120})\"}",
              TCALL_E_INVALID, 0.05) &&
         says("too large"));
    for (p = "( [ a{2,1} \\\\ a) *a [z-a] \\\\q"; *p;) {
        size_t n = strcspn(p, " ");
        snprintf(text, sizeof text, "{\"pattern\":\"%.*s\"}", (int)n, p);
        PART(fast("grep", text, TCALL_E_INVALID, 0.05) &&
             says("near character"));
        p += n + (p[n] == ' ');
    }
    before = work();
    memset(text, '(', 1000);
    memset(text + 1000, ')', 1000);
    text[2000] = '\0';
    PART(!matches(text, 0, "x"));
    PART(!matches("(x+x+)+y", 0, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    PART(in_time((long)((work() - before) * 1000), 0, 50));
    patterns();
    row("G09", all, "patterns that are costly or malformed; what they match");

    all = true;
    make_tree();
    for (i = 0, fd = open(at("ws/n"), O_WRONLY | O_CREAT, 0644); i < 30; i++)
        dprintf(fd, "line %d%s\n", i + 1, i % 10 ? "" : " HIT");
    close(fd);
    PART(fast("grep",
              "{\"pattern\":\"hit$\",\"ignore_case\":true,"
              "\"context\":1}",
              TCALL_OK, 1) &&
         strcmp(result, "n:1:line 1 HIT\nn-2-line 2\n--\nn-10-line 10\n"
                        "n:11:line 11 HIT\nn-12-line 12\n--\nn-20-line 20\n"
                        "n:21:line 21 HIT\nn-22-line 22\n") == 0);
    PART(fast("grep", "{\"pattern\":\"line\",\"limit\":3}", TCALL_OK, 1) &&
         says("n:3:line 3\n[cut after 3 matches"));
    PART(fast("grep", "{\"pattern\":\"HIT\",\"limit\":3}", TCALL_OK, 1) &&
         !strstr(result, "cut"));
    PART(fast("grep",
              "{\"pattern\":\"line 2[89]\",\"path\":\"n\","
              "\"context\":3}",
              TCALL_OK, 1) &&
         strcmp(result, "n-25-line 25\nn-26-line 26\nn-27-line 27\n"
                        "n:28:line 28\nn:29:line 29\nn-30-line 30\n") == 0);
    put_bytes(at("ws/bin"), "HIT\0", 4);
    PART(fast("grep", "{\"pattern\":\"HIT\",\"include\":\"{b*,n}\"}", TCALL_OK,
              1) &&
         says("binary: 1") && says("n:1:"));
    PART(fast("grep", "{\"pattern\":\"main\",\"include\":\"sub/*.c\"}",
              TCALL_OK, 1) &&
         says("sub/b.c:1:int main(void)\n"));
    row("G09+", all, "context, limit, include, binary");
}

/* A file of lines around the edges of the buffer: each is found, with the
 * lines around it and its number. */
static void edges(void)
{
    char arguments[96], want[256];
    long i;
    FILE *f;
    all = true;
    make_tree();
    f = fopen(at("ws/big"), "w");
    for (i = 1; f && i <= 60000; i++)
        fprintf(f, "%05ld\n", i);
    if (f)
        fclose(f);
    start();
    for (i = 2700; i < 2760; i++) { /* around 16 KB */
        snprintf(arguments, sizeof arguments,
                 "{\"pattern\":\"^%05ld$\",\"context\":1}", i);
        snprintf(want, sizeof want,
                 "big-%ld-%05ld\nbig:%ld:%05ld\nbig-%ld-%05ld\n", i - 1, i - 1,
                 i, i, i + 1, i + 1);
        PART(fast("grep", arguments, TCALL_OK, 1) && strcmp(result, want) == 0);
    }
    PART(fast("grep", "{\"pattern\":\"60000\"}", TCALL_OK, 1) &&
         strcmp(result, "big:60000:60000\n") == 0);
    row("G08+", all, "lines at the edges of memory");
}

/* Lines that are longer than memory: what matches in them is found wherever
 * it lies, once, and their ends are only where they are. */
static void long_lines(void)
{
    static char text[100000];
    char arguments[128];
    size_t n;
    int fd;
    all = true;
    make_tree();
    for (n = 16384 - 12; n < 3 * 16384; n += n % 16384 < 16 ? 1 : 16384 - 28) {
        memset(text, 'a', sizeof text);
        memcpy(text, "before\n", 7);
        memcpy(text + n, "needle", 6);
        memcpy(text + 90000, "\nafter\nneedle\n", 15);
        put_bytes(at("ws/long"), text, 90015);
        PART(fast("grep",
                  "{\"pattern\":\"needle\",\"path\":\"long\",\"context\":1}",
                  TCALL_OK, 1) &&
             says("long:2:[...]aaa") && says("aneedlea") && says("a[...]\n") &&
             says("\nlong-3-after\nlong:4:needle\n") &&
             shows("\"count\":2,\"cut\":false"));
        PART(fast("grep", "{\"pattern\":\"an(e+)d.{3,9}a$\",\"path\":\"long\"}",
                  TCALL_OK, 1) &&
             says("no match"));
        snprintf(arguments, sizeof arguments,
                 "{\"pattern\":\"\\\\Bneed.*after|an(e+)d[^x]*$\","
                 "\"path\":\"long\"}");
        PART(fast("grep", arguments, TCALL_OK, 1) && says("long:2:[...]") &&
             shows("\"count\":1,"));
    }
    PART(fast("grep", "{\"pattern\":\"^[ab]|a$\",\"path\":\"long\"}", TCALL_OK,
              1) &&
         says("long:1:before\nlong:2:aaa") && says("long:3:after\n") &&
         shows("\"count\":3,"));
    memset(text + 7, 'a', 90000 - 7);
    memcpy(text + 90000, "zz", 2); /* the last line of the file, unfinished */
    put_bytes(at("ws/long"), text, 90002);
    PART(fast("grep", "{\"pattern\":\"^a\",\"path\":\"long\"}", TCALL_OK, 1) &&
         says("long:2:aaa") && shows("\"count\":1,"));
    PART(fast("grep", "{\"pattern\":\"zz$\",\"path\":\"long\"}", TCALL_OK, 1) &&
         says("long:2:[...]aaa") && says("azz\n"));
    PART(fast("grep", "{\"pattern\":\"a$|^z\",\"path\":\"long\"}", TCALL_OK,
              1) &&
         says("no match"));
    fd = open(at("ws/long"), O_WRONLY | O_APPEND);
    PART(write(fd, "\nzz\n", 4) == 4);
    close(fd);
    PART(fast("grep", "{\"pattern\":\"zz\",\"path\":\"long\",\"limit\":1}",
              TCALL_OK, 1) &&
         says("[cut after 1 matches") && !strstr(result, "long:3"));
    row("G08+", all, "a match anywhere in a line that is longer than memory");
}

static void large(void)
{
    static char piece[1 << 16];
    int i, fd, dir, first;
    struct rlimit few = {32, 32}, was;
    double before = now();
    pid_t pid;
    all = true;
    make_tree();
    for (i = 0; i < 100000; i++)
        mknod(at("ws/sub/f%06d", i), S_IFREG | 0644, 0);
    start();
    PART(fast("glob", "{\"pattern\":\"**/f*\"}", TCALL_OK, 3));
    PART(says("[the newest 100 of 100000 files") &&
         !strstr(result, "not everything"));
    PART(pieces > 10); /* it waits nowhere for long */
    PART(fast("list", "{}", TCALL_OK, 3) && says("[cut after 200 of at least"));
    first = (int)strlen(result);
    PART(fast("list", "{}", TCALL_OK, 3) && (int)strlen(result) == first);
    PART(call("list", "{\"path\":\"sub\",\"offset\":99999}") == TCALL_OK &&
         strlen(result) == strlen("sub/\n  f099997\n  f099998\n  f099999\n"));
    PART(call("list", "{\"path\":\"sub\",\"offset\":100002}") == TCALL_OK &&
         says("there are only 100001 entries"));
    put(at("ws/sub/f050000"), "x\n");
    PART(fast("grep", "{\"pattern\":\"x\"}", TCALL_OK, 3) &&
         strcmp(result, "sub/f050000:1:x\n") == 0);
    clock_tick = 1000;
    PART(fast("grep", "{\"pattern\":\"x\"}", TCALL_OK, 3) &&
         says("time is up"));
    PART(strstr(progress, "grep: ") == progress);
    clock_tick = 0;
    row("G04", all, "100,000 files: limits, the same each time, time is up");
    all = true;
    make_tree();
    dir = open(at("ws"), O_RDONLY | O_DIRECTORY);
    for (i = 0; i < 5000 && dir >= 0; i++) {
        int next;
        mkdirat(dir, "d", 0755);
        next = openat(dir, "d", O_RDONLY | O_DIRECTORY);
        close(dir);
        dir = next;
    }
    close(dir);
    getrlimit(RLIMIT_NOFILE, &was);
    few.rlim_max = was.rlim_max;
    setrlimit(RLIMIT_NOFILE, &few);
    start();
    PART(fast("glob", "{\"pattern\":\"**\"}", TCALL_OK, 1) &&
         says("too deeply"));
    PART(fast("grep", "{\"pattern\":\"one\"}", TCALL_OK, 1) &&
         says("a.txt:1:"));
    setrlimit(RLIMIT_NOFILE, &was);
    /* nftw cannot remove it: empty it from below */
    if (chdir(at("ws")) == 0) {
        while (chdir("d") == 0)
            continue;
        while (chdir("..") == 0 && rmdir("d") == 0)
            continue;
        (void)!chdir("/");
    }
    row("G06", all, "5,000 levels with 32 handles");
    all = true;
    make_tree();
    pid = fork();
    if (pid == 0) {
        for (;;) {
            char from[512];
            for (i = 0; i < 50; i++) {
                mkdir(at("ws/sub/%d", i), 0755);
                put(at("ws/sub/%d/x", i), "x\n");
            }
            snprintf(from, sizeof from, "%s", at("ws/sub"));
            remove_tree(from);
            mkdir(from, 0755);
        }
    }
    for (before = now(), i = 0; now() < before + 0.3; i++) {
        PART(call("grep", "{\"pattern\":\"x\"}") == TCALL_OK);
        PART(call("glob", "{\"pattern\":\"**\"}") == TCALL_OK);
        PART(call("list", "{\"depth\":3}") == TCALL_OK);
    }
    stop(pid);
    row("G07", all, "the tree goes while it is searched");
    all = true;
    make_tree();
    fd = open(at("ws/line"), O_WRONLY | O_CREAT, 0644);
    memset(piece, 'a', sizeof piece);
    for (i = 0; i < 256; i++)
        PART(write(fd, piece, sizeof piece) == (ssize_t)sizeof piece);
    PART(write(fd, piece, 500) == 500); /* no piece ends before "end" */
    PART(write(fd, "end\nnext\n", 9) == 9);
    close(fd);
    start();
    PART(call("read", "{\"file_paths\":[\"line\"],\"limit\":1}") == TCALL_OK &&
         says("line cut") && strlen(result) < 3000);
    PART(call("grep", "{\"pattern\":\"aend$|xt\"}") == TCALL_OK &&
         says("[...]") && says("line:2:next") && strlen(result) < 2000);
    row("G08", all, "a line of 16 MB");
}

/* Lines longer than the memory for one: what matches is what matches in memory,
 * wherever the text lies, and is shown. */
static void skimmed(void)
{
    static const char *const patterns[] = {
        "KEY",     "aKEY",       "a{3}KEY",  "^KEY",      "^[ab]*KEY",  "KEY$",
        "a+KEYb*", "KEYb*a$",    "(ab)+KEY", "K.{1,20}Y", "x{20}y",     "K|Z",
        "[ab]KEY", "b{2,4}aKEY", "a?KEY",    "bKEY.*b",   "ab{,3}KEYa", "EY",
        "k.?y",    "[^b]KEY",    "(?i)key",  "KEY[ab]b"};
    static char line[90000], pattern_memory[TTOOL_PATTERN_MEMORY];
    static ttool_pattern pattern;
    uint32_t seed = 7;
    int i, p, wrong = 0, found = 0;
    all = true;
    make_tree();
    for (i = 0; i < 60; i++) {
        size_t len = 15000 + (size_t)i * 1200, n, key;
        int fd = open(at("ws/long"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        for (n = 0; n < len; n++) {
            seed = seed * 1664525u + 1013904223u;
            line[n] = "ab"[seed >> 31];
        }
        seed = seed * 1664525u + 1013904223u;
        key = i % 5 == 0 ? 0 : i % 5 == 1 ? len - 3 : seed % (len - 3);
        if (i % 7)
            memcpy(line + key, "KEY", 3);
        line[len] = '\n';
        PART(write(fd, "first\n", 6) == 6 &&
             write(fd, line, len + 1) == (ssize_t)(len + 1) &&
             write(fd, "last\n", 5) == 5);
        close(fd);
        for (p = 0; p < (int)TCALL_ARRAY_LEN(patterns); p++) {
            char arguments[128];
            bool want, got;
            PART(ttool_pattern_compile(&pattern, tcall_str_of(patterns[p]),
                                       TTOOL_LINES, pattern_memory,
                                       sizeof pattern_memory) == TCALL_OK);
            want = ttool_pattern_find(&pattern, line, line + len) != NULL;
            snprintf(arguments, sizeof arguments,
                     "{\"pattern\":\"%s\",\"path\":\"long\"}", patterns[p]);
            PART(call("grep", "%s", arguments) == TCALL_OK);
            got = strstr(result, "long:2:") != NULL;
            found += got;
            if (want != got && ++wrong < 5)
                printf("     %s of %u at %u: %d, not %d\n", patterns[p],
                       (unsigned)len, (unsigned)key, got, want);
            PART(!got || strstr(result, "[...]"));
        }
    }
    PART(wrong == 0 && found > 300);
    row("G13", all, "a line that is skimmed, then searched");
    all = true;
    clock_tick = 3000; /* each look at the clock */
    PART(call("grep", "{\"pattern\":\"none[0-9]\",\"path\":\"long\"}") ==
             TCALL_OK &&
         says("time is up") && !says("[no match]") && !says("cut after"));
    PART(call("grep", "{\"pattern\":\"[c-e]\"}") == TCALL_OK &&
         says("time is up") && !says("[no match]"));
    clock_tick = 0;
    row("G14", all, "time is up within a file");
}

/* -- Notices, which no file can forge: G12 -------------------------------- */

/* Everything that begins a line of the result like a notice, or like the
 * headline of a file, is ours. */
static bool ours(void)
{
    const char *line = result, *next;
    int forged = 0;
    for (; line; line = next ? next + 1 : NULL) {
        size_t n;
        next = strchr(line, '\n');
        n = next ? (size_t)(next - line) : strlen(line);
        if (!memmem(line, n, "FORGED", 6))
            continue;
        forged++;
        if (*line == '[' || strncmp(line, "--\n", 3) == 0 ||
            (strncmp(line, "===", 3) == 0 && memmem(line, n, "tokens", 6) &&
             !memmem(line, n, ".FORGED", 7))) {
            printf("     forged: %.*s\n", (int)n, line);
            return false;
        }
    }
    return forged > 1;
}

static void forgeries(void)
{
    static const char *const before[] = {"",     "\r",           "\x0B",
                                         "\x0C", "\xC2\x85",     "\xE2\x80\xA8",
                                         "\x1B", "\xE2\x80\xA9", "\t"};
    static const char *const notices[] = {
        "[cut at line 1: use offset=99 for more, FORGED]",
        "[there are only 3 lines, FORGED]",
        "[binary: not shown, FORGED]",
        "[no match, FORGED]",
        "[FORGED: left out, binary: 7]",
        "=== FORGED.txt (1 bytes, about 1 tokens) ===",
        "     1\tFORGED"};
    static const char *const names[] = {
        "[empty, FORGED]", "a\n[no match, FORGED]",
        "=== FORGED (1 bytes) ===", "b\r[cut, FORGED]",
        "c\xE2\x80\xA8[FORGED]"};
    char text[8192] = "";
    size_t i, j, n = 0;
    all = true;
    make_tree();
    for (i = 0; i < TCALL_ARRAY_LEN(before); i++)
        for (j = 0; j < TCALL_ARRAY_LEN(notices); j++)
            n += (size_t)sprintf(text + n, "x%s%s\n%s%s\n", before[i],
                                 notices[j], before[i], notices[j]);
    put(at("ws/.FORGED"), text);
    for (i = 0; i < TCALL_ARRAY_LEN(names); i++) {
        put(at("ws/%s", names[i]), "here FORGED\n");
        put(at("ws/sub/%s", names[i]), "here FORGED\n");
    }
    PART(call("read", "{\"file_paths\":[\".FORGED\"]}") == TCALL_OK && ours());
    PART(call("read", "{\"file_paths\":[\".FORGED\"],\"offset\":9,"
                      "\"limit\":50}") == TCALL_OK &&
         ours() && says("\n[cut at line 58"));
    PART(call("grep", "{\"pattern\":\"FORGED\",\"context\":2}") == TCALL_OK &&
         ours());
    PART(call("grep", "{\"pattern\":\"here\",\"path\":\"sub\"}") == TCALL_OK &&
         ours());
    PART(call("list", "{\"depth\":3}") == TCALL_OK && ours());
    PART(call("glob", "{\"pattern\":\"**\"}") == TCALL_OK && ours());
    PART(call("glob", "{\"pattern\":\"*FORGED*\",\"path\":\"sub\"}") ==
             TCALL_OK &&
         ours());
    row("G12", all, "notices that a file or its name would forge");
}

/* The names of a directory need more than the memory: it is read in parts. */
static void crowded(void)
{
    char name[201];
    int i, files = TTOOL_MEMORY / 100;
    all = true;
    make_tree();
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (i = 0; i < files; i++)
        mknod(at("ws/sub/%06d%s", i, name), S_IFREG | 0644, 0);
    put(at("ws/sub/%06d%s", files / 2, name), "needle\n");
    start();
    PART(call("glob", "{\"pattern\":\"**/*nn\"}") == TCALL_OK);
    snprintf(name, sizeof name, "[the newest 100 of %d files", files);
    PART(says(name) && !strstr(result, "not everything"));
    PART(call("grep", "{\"pattern\":\"needle\"}") == TCALL_OK &&
         says("1:needle") && !strstr(result, "not everything"));
    PART(call("list", "{\"path\":\"sub\",\"offset\":%d}", files) == TCALL_OK &&
         says("nnn\n") && !strstr(result, "not everything"));
    row("G04+", all, "names that need more than the memory");
}

int main(void)
{
    static const group groups[] = {
        {"forgeries", forgeries}, {"perl", perl},
        {"globs", globs},         {"greps", greps},
        {"edges", edges},         {"long_lines", long_lines},
        {"skimmed", skimmed},     {"crowded", crowded},
        {"large", large}, /* the last: not where it has to be quick */
    };

    begin();
    run_groups(groups, TCALL_ARRAY_LEN(groups) - quick());
    return end("test_tools_files_search");
}
