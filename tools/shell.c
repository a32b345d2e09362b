/* shell.c - see shell.h */
#include "tools/gnu.h"

#include "tools/shell.h"
#include "tools/sandbox.h"
#include "tools/text.h"
#include "tools/tool.h"
#include "tools/walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- The command, taken apart --------------------------------------------- */

/* Writes the words to `to`, which has room for s.len + 1 bytes. NULL, or what
 * is wrong at *at. */
static const char *ttool_split_(char *to, char **words, tcall_str s, size_t *at)
{
    static const char special[] = "|&;<>()$`\\*?[]{}";
    size_t i, n = 0;
    char quote = '\0';
    bool in_word = false;
    for (i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        *at = i;
        if (((uint8_t)c < 0x20 && c != '\t') || c == 0x7F)
            return "control characters and line breaks are not possible"
                   "\nMake a call for each command.";
        if (quote == '"' && strchr("$`\\", c))
            return "there is no shell\nWrite it in single quotes.";
        if (!quote && strchr(special, c))
            return "there is no shell, only one program and its arguments"
                   "\nQuote this character if it is meant as it is.";
        if (!quote && !in_word && (c == '~' || c == '#'))
            return "there is no shell\nQuote a word that begins like this.";
        if (!quote && (c == ' ' || c == '\t')) {
            if (in_word)
                *to++ = '\0';
            in_word = false;
            continue;
        }
        if (!in_word && n == TTOOL_MAX_WORDS)
            return "too many words\nMake several calls.";
        if (!in_word)
            words[n++] = to;
        in_word = true;
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? '\0' : c;
        else
            *to++ = c;
    }
    *to = '\0';
    words[n] = NULL;
    *at = s.len;
    return quote ? "a quote is not closed\nClose it."
           : n   ? NULL
                 : "there is no command\nName a program.";
}

/* Whether the list, words with spaces between, has this word; in a list of
 * options one that ends in = stands for all that begin with it. */
static bool ttool_listed_(const char *list, const char *word, bool options)
{
    while (list && *list) {
        size_t n = strcspn(list, " ");
        bool open = options && n && list[n - 1] == '=';
        if (n && strncmp(list, word, n) == 0 && (open || !word[n]))
            return true;
        if (options && n == 1 && *list == '*')
            return true;
        list += n + (list[n] == ' ');
    }
    return false;
}

/* The command that these words may be, or NULL and a reason in out. */
static const ttool_command *ttool_allowed_(tcall_ctx *cx,
                                           const ttool_shell *shell,
                                           char *const *words,
                                           tcall_writer *out)
{
    const ttool_shell_desc *d = &shell->desc;
    const ttool_command *c = d->commands;
    size_t i;
    while (c < d->commands + d->command_count && strcmp(c->name, words[0]) != 0)
        c++;
    if (c == d->commands + d->command_count) {
        ttool_fail_(cx, out, 0, words[0],
                    "may not run; what may:\nUse one of these.");
        for (i = 0; i < d->command_count; i++) {
            tcall_write_text(out, " ");
            tcall_write_text(out, d->commands[i].name);
        }
        return NULL;
    }
    if (c->verbs && (!words[1] || !ttool_listed_(c->verbs, words[1], false))) {
        ttool_fail_(cx, out, 0, words[0],
                    "the first argument has to be one of: \nUse one of these.");
        tcall_write_text(out, c->verbs);
        return NULL;
    }
    for (i = 1; words[i]; i++)
        if (words[i][0] == '-' && !ttool_listed_(c->options, words[i], true)) {
            ttool_fail_(cx, out, 0, words[i],
                        "no option that may be given; \nDo without it.");
            tcall_write_text(out, c->options ? "these may: " : "none may");
            tcall_write_text(out, c->options ? c->options : "");
            return NULL;
        }
    return c;
}

/* -- Its result ----------------------------------------------------------- */

/* The bytes [from, to) of the output, as far as they are kept. */
static void ttool_write_kept_(tcall_writer *w, const ttool_bash_ *run,
                              const char *key, uint64_t from, uint64_t to)
{
    size_t half = run->keep / 2;
    ttool_held_ held;
    memset(&held, 0, sizeof held);
    tcall_write_key(w, key);
    tcall_write_quote(w);
    while (from < to) {
        size_t at =
            from < half ? (size_t)from : half + (size_t)((from - half) % half);
        size_t n = (at < half ? half : 2 * half) - at;
        n = n < to - from ? n : (size_t)(to - from);
        ttool_write_piece_(w, &held, run->kept + at, n);
        from += n;
    }
    ttool_write_held_(w, &held);
    tcall_write_unquote(w);
}

/* At most `most` bytes of the output. What was left out is a member of its
 * own: in a text it could be forged. */
static void ttool_write_output_(tcall_writer *w, const ttool_bash_ *run,
                                size_t most)
{
    tcall_write_key(w, "output_bytes");
    tcall_write_int(w, (long)run->total);
    if (run->total <= most) {
        ttool_write_kept_(w, run, "output", 0, run->total);
        return;
    }
    ttool_write_kept_(w, run, "output", 0, most / 2);
    tcall_write_key(w, "left_out_bytes");
    tcall_write_int(w, (long)(run->total - most / 2 * 2));
    ttool_write_kept_(w, run, "end_of_output", run->total - most / 2,
                      run->total);
}

static void ttool_write_stopped_(tcall_writer *w, const ttool_shell_desc *d,
                                 const ttool_bash_ *run)
{
    tcall_write_key(w, "stopped");
    tcall_write_quote(w);
    if (run->stopped == TTOOL_STOP_TIME_) {
        tcall_write_text(w, "it still ran after ");
        ttool_text_int_(w, run->limit);
        tcall_write_text(w, " ms; set timeout_ms, up to ");
        ttool_text_int_(w, d->max_ms);
        tcall_write_text(w, ", or do less in one call");
    } else if (run->stopped == TTOOL_STOP_OUTPUT_) {
        tcall_write_text(w, "it wrote more than ");
        ttool_text_int_(w, d->max_output);
        tcall_write_text(w, " bytes; let it write less");
    } else if (run->stopped == TTOOL_STOP_FILES_) {
        tcall_write_text(w, "it made more than ");
        ttool_text_int_(w, d->max_files);
        tcall_write_text(w, " files; make fewer");
    } else if (run->stopped == TTOOL_STOP_MEMORY_) {
        tcall_write_text(w, "this machine has less memory left, by ");
        ttool_text_int_(w, ttool_total_mb_(run, d));
        tcall_write_text(w, " MB, than when it began; let it use less");
    } else {
        tcall_write_text(w, "the disk filled by more than ");
        ttool_text_int_(w, d->max_disk_mb);
        tcall_write_text(w, " MB; write less");
    }
    tcall_write_unquote(w);
}

/* As shells do, bwrap reports the end by a signal as 128 and its number. */
static void ttool_write_code_(tcall_writer *w, const ttool_bash_ *run)
{
    int code = run->boxed              ? ttool_bash_said_(run, "\"exit-code\":")
               : WIFSIGNALED(run->how) ? 128 + WTERMSIG(run->how)
                                       : WEXITSTATUS(run->how);
    tcall_write_key(w, "exit_code");
    tcall_write_int(w, code);
    if (code > 128 && code <= 128 + 64) {
        tcall_write_key(w, "signal_name");
        tcall_write_string(w, strsignal(code - 128));
    }
}

static void ttool_write_ran_(tcall_writer *w, const ttool_shell_desc *d,
                             const ttool_bash_ *run, size_t most)
{
    tcall_write_open(w, '{');
    if (run->stopped)
        ttool_write_stopped_(w, d, run);
    else
        ttool_write_code_(w, run);
    if (run->survived) {
        tcall_write_key(w, "warning");
        tcall_write_string(w, "a process it left behind could not be killed");
    }
    if (!run->boxed) {
        tcall_write_key(w, "not_held");
        tcall_write_string(w, "no sandbox: all files, the network and other "
                              "processes of its user were open to it, and "
                              "what it left behind may still run");
    }
    ttool_write_output_(w, run, most);
    tcall_write_close(w, '}');
}

/* It has ended, and there is neither a code nor a reason of ours. */
static int ttool_bash_lost_(tcall_ctx *cx, ttool_bash_ *run, tcall_writer *out)
{
    size_t len = run->total < 90 ? (size_t)run->total : 90;
    if (WIFSIGNALED(run->how))
        return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                           "its sandbox was killed: too much memory, or from "
                           "outside\nLet it use less.");
    if (run->stopped == TTOOL_STOP_LIMITS_)
        return ttool_fail_(cx, out, TCALL_E_SERVICE, "",
                           "its limits cannot be kept here, so nothing ran"
                           "\nDo without programs.");
    while (len && run->kept[len - 1] == '\n')
        len--;
    ttool_write_content_(out, run->kept, len);
    return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                       "\nUse another program, or do without.");
}

static int ttool_bash_result_(tcall_ctx *cx, ttool_bash_ *run,
                              tcall_writer *out)
{
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    size_t room = out->cap - out->fill, most = run->keep;
    char text[80];
    tcall_str json = {text, 0};
    tcall_writer count;
    json.len = (size_t)snprintf(
        text, sizeof text, "{\"output_bytes\":%llu,\"cut\":%s}",
        (unsigned long long)run->total, run->total > most ? "true" : "false");
    tcall_set_result(cx, tcall_str_of(""), json);
    if (cx->stop < 0)
        return cx->stop;
    if (run->boxed && (!run->stopped || run->stopped == TTOOL_STOP_LIMITS_) &&
        ttool_bash_said_(run, "\"exit-code\":") < 0)
        return ttool_bash_lost_(cx, run, out);
    do { /* less of it, until all of the JSON fits */
        tcall_writer_init(&count, NULL, 0);
        ttool_write_ran_(&count, &shell->desc, run, most);
        most = count.len > room ? most - most / 4 - 1 : most;
    } while (count.len > room && most > 16);
    ttool_write_ran_(out, &shell->desc, run, most);
    return TCALL_OK;
}

/* -- A call --------------------------------------------------------------- */

/* Finds the directory of the call, as a path below /. */
static int ttool_bash_directory_(tcall_ctx *cx, ttool_workspace *ws,
                                 tcall_str path, char to[TTOOL_MAX_PATH],
                                 tcall_writer *out)
{
    ttool_place at;
    int r;
    ttool_begin_(ws);
    r = ttool_find_dir_(cx, ws, path, &at, out);
    if (r == TCALL_OK && snprintf(to, TTOOL_MAX_PATH, "%s/%s", ws->name,
                                  at.path) >= TTOOL_MAX_PATH)
        r = ttool_fail_errno_(cx, out, at.path, ENAMETOOLONG);
    return r;
}

/* Milliseconds that a call may take: what it asks for, within the limit and the
 * time that is left for it. */
static uint32_t ttool_bash_time_(tcall_ctx *cx, const ttool_shell_desc *d,
                                 tcall_json args)
{
    long ms = tcall_json_int(tcall_json_get(args, "timeout_ms"), 5000);
    int32_t left = tcall_time_left(cx);
    uint32_t most = ms < (long)d->max_ms ? (uint32_t)ms : d->max_ms;
    return most < (uint32_t)left ? most : (uint32_t)left;
}

static int ttool_bash_begin_(tcall_ctx *cx, ttool_bash_ *run, tcall_json args,
                             tcall_writer *out)
{
    ttool_shell *shell = (ttool_shell *)cx->user;
    const ttool_shell_desc *d = &shell->desc;
    char text[TTOOL_MAX_COMMAND + 1], program[512], directory[TTOOL_MAX_PATH];
    char *words[TTOOL_MAX_WORDS + 1];
    const char *why = "the command is too long\nMake it shorter.";
    const ttool_command *c;
    tcall_str command = tcall_json_str(tcall_json_get(args, "command"));
    ttool_launch_ l;
    size_t at = 0;
    int r;
    if (command.len <= TTOOL_MAX_COMMAND)
        why = ttool_split_(text, words, command, &at);
    if (why) {
        tcall_write_text(out, "at byte ");
        ttool_text_int_(out, at);
        return ttool_fail_(cx, out, TCALL_E_DENIED, " of the command", why);
    }
    if (!(c = ttool_allowed_(cx, shell, words, out)))
        return TCALL_E_DENIED;
    if (!ttool_program_(c, program, sizeof program))
        return ttool_fail_(cx, out, TCALL_E_FAILED, words[0],
                           "is not installed here\nUse another program.");
    r = ttool_bash_directory_(cx, d->workspace, ttool_arg_(args, "workdir"),
                              directory, out);
    if (r < 0)
        return r;
    memset(&l, 0, sizeof l);
    l.shell = shell;
    l.program = program;
    l.directory = directory;
    l.words = words;
    l.limit = ttool_bash_time_(cx, d, args);
    l.boxed = *shell->bwrap != '\0';
    if (!l.boxed && d->sandbox == TTOOL_SANDBOX_REQUIRED)
        return ttool_fail_(cx, out, TCALL_E_SERVICE, "",
                           "this system has no sandbox, and without one "
                           "nothing runs here\nDo without programs.");
    r = ttool_confirm_(cx, out, "");
    if (r < 0)
        return r;
    shell->calls++;
    if (!ttool_bash_start_(run, &l))
        return ttool_fail_(cx, out, TCALL_E_SERVICE, words[0],
                           "could not be started\nTry again later.");
    return TCALL_OK;
}

static void ttool_bash_progress_(tcall_ctx *cx, ttool_bash_ *run)
{
    char text[64];
    tcall_str said = {text, 0};
    uint32_t now = ttool_linux.now_ms();
    if (now - run->told < 1000)
        return;
    said.len =
        (size_t)snprintf(text, sizeof text, "bash: %lu s, %llu bytes of output",
                         (unsigned long)((now - run->began) / 1000),
                         (unsigned long long)run->total);
    run->told = now;
    tcall_progress(cx, said);
}

/* Waits for output and, where that has ended, for the program to end as well,
 * which comes soon. The disk is looked at now and then. */
static int ttool_bash_wait_(tcall_ctx *cx, const ttool_bash_ *run)
{
    bool ends = run->output < 0 || (run->boxed && run->status < 0);
    uint32_t spent = ttool_linux.now_ms() - run->began;
    if (run->output >= 0)
        tcall_wait_handle(&cx->wait, run->output, TCALL_WAIT_READ);
    if (run->status >= 0 && run->said_len < sizeof run->said - 1)
        tcall_wait_handle(&cx->wait, run->status, TCALL_WAIT_READ);
    if (ends || run->stopped)
        return tcall_wait_ms(&cx->wait, ends ? 2 : 20);
    if (run->inside && run->hold >= 0) /* it is held until it can be counted */
        return tcall_wait_ms(&cx->wait, 1);
    tcall_wait_ms(&cx->wait, spent < run->limit ? run->limit - spent : 0);
    return tcall_wait_ms(&cx->wait, TCALL_WAIT_POLL_MS);
}

static int ttool_bash_run_(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    const ttool_shell *shell = (const ttool_shell *)cx->user;
    ttool_bash_ *run;
    int r;
    if (!shell)
        return ttool_nobody_(cx, out);
    run = (ttool_bash_ *)tcall_scratch(cx, "bash",
                                       sizeof *run + shell->desc.keep);
    if (!run)
        return TCALL_E_MEMORY;
    if (!run->pid) {
        run->keep = shell->desc.keep;
        ttool_title_(cx, "Run ", ttool_arg_(args, "command"));
        r = ttool_bash_begin_(cx, run, args, out);
        if (r < 0)
            return r;
    }
    if (cx->stop == 0 && !ttool_bash_step_(run, &shell->desc, cx)) {
        ttool_bash_progress_(cx, run);
        return ttool_bash_wait_(cx, run);
    }
    ttool_bash_end_(run, &shell->desc);
    return ttool_bash_result_(cx, run, out);
}

/* -- Setting up ----------------------------------------------------------- */

static uint32_t ttool_or_(uint32_t value, uint32_t usual)
{
    return value ? value : usual;
}

/* Of output: half from its start and half from its end. */
#define TTOOL_LEAST_KEPT_ 256u
#define TTOOL_MOST_KEPT_  (1u << 30)

static uint32_t ttool_kept_(const ttool_shell_desc *d)
{
    uint32_t keep = d->keep < d->max_output ? d->keep : d->max_output;
    keep = keep < TTOOL_MOST_KEPT_ ? keep : TTOOL_MOST_KEPT_;
    return keep > TTOOL_LEAST_KEPT_ ? keep & ~1u : TTOOL_LEAST_KEPT_;
}

static void ttool_shell_defaults_(ttool_shell_desc *d)
{
    d->max_ms = ttool_or_(d->max_ms, 60000);
    d->max_output = ttool_or_(d->max_output, 16u << 20);
    d->keep = ttool_or_(d->keep, 65536);
    d->keep = ttool_kept_(d);
    d->max_memory_mb = ttool_or_(d->max_memory_mb, 2048);
    d->max_file_mb = ttool_or_(d->max_file_mb, 256);
    d->max_disk_mb = ttool_or_(d->max_disk_mb, 1024);
    d->max_tmp_mb = ttool_or_(d->max_tmp_mb, 64);
    d->max_files = ttool_or_(d->max_files, 65536);
    d->max_processes = ttool_or_(d->max_processes, 128);
    d->user = d->user ? d->user : 65534;
    if (d->cgroup)
        d->max_total_mb = ttool_or_(d->max_total_mb, d->max_memory_mb);
    else if (d->max_total_mb && d->max_total_mb < d->max_memory_mb)
        d->max_memory_mb = d->max_total_mb;
}

static void ttool_shell_describe_(ttool_shell *shell)
{
    tcall_writer w;
    size_t i;
    tcall_writer_init(&w, shell->description, sizeof shell->description - 1);
    tcall_write_text(&w, ttool_shell_tools[0].description);
    tcall_write_text(&w, " Programs:");
    for (i = 0; i < shell->desc.command_count; i++) {
        tcall_write_text(&w, " ");
        tcall_write_text(&w, shell->desc.commands[i].name);
    }
}

int ttool_shell_init(ttool_shell *shell, const ttool_shell_desc *desc)
{
    ttool_shell_desc *d = &shell->desc;
    union {
        ttool_bash_ run;
        char memory[sizeof(ttool_bash_) + 256];
    } trial;
    const char *why = NULL;
    memset(shell, 0, sizeof *shell);
    *d = *desc;
    if (!d->workspace || !d->command_count)
        return TCALL_E_USAGE;
    ttool_shell_defaults_(d);
    ttool_shell_describe_(shell);
    if (d->sandbox == TTOOL_SANDBOX_REQUIRED)
        why = ttool_shell_limits_(d);
    if (!why && d->sandbox != TTOOL_SANDBOX_NONE)
        why = ttool_shell_box_(shell, &trial.run);
    if (why || d->sandbox == TTOOL_SANDBOX_NONE)
        shell->bwrap[0] = '\0';
    if (!why && *shell->bwrap)
        ttool_shell_landlock_(shell, &trial.run);
    if (!why)
        return TCALL_OK;
    snprintf(shell->refusal, sizeof shell->refusal,
             "no programs run without a sandbox: %s", why);
    return d->sandbox == TTOOL_SANDBOX_REQUIRED ? TCALL_E_SERVICE : TCALL_OK;
}

size_t ttool_shell_row(tcall_tool *to, ttool_shell *shell)
{
    ttool_rows(to, ttool_shell_tools, TTOOL_SHELL_TOOLS, shell);
    to->description = shell->description;
    return 1;
}

/* clang-format off */
const tcall_tool ttool_shell_tools[TTOOL_SHELL_TOOLS] = {
    TTOOL_ROW_("bash", "Run a program", "shell command execute run program process",
        ttool_bash_run_, TCALL_EXECUTE, true,
        "Run one program with its arguments in the workspace. It is no shell: no pipes, "
        "redirections, variables or patterns. Shows exit code and output.",
        TCALL_JSON({
            "type": "object",
            "properties": {
                "command": {
                    "type": "string", "minLength": 1, "maxLength": 4000,
                    "description": "The program and its arguments, separated by spaces; quote arguments that contain spaces or special characters"
                },
                "workdir": {
                    "type": "string", "minLength": 1, "maxLength": 4096,
                    "description": "Directory to run it in, relative to the root of the workspace, which is the default"
                },
                "timeout_ms": {
                    "type": "integer", "minimum": 100, "maximum": 60000,
                    "description": "Milliseconds after which it is stopped with all that it has started: 5000 by default"
                }
            },
            "required": ["command"],
            "additionalProperties": false
        })),
};
/* clang-format on */
