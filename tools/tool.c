/* tool.c - see tool.h */
#include "tools/gnu.h"

#include "tools/tool.h"
#include "tools/text.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

size_t ttool_rows(tcall_tool *to, const tcall_tool *table, size_t count,
                  void *user)
{
    size_t i;
    for (i = 0; i < count; i++) {
        to[i] = table[i];
        to[i].user = user;
    }
    return count;
}

/* -- What is said to the model -------------------------------------------- */

int ttool_fail_(tcall_ctx *cx, tcall_writer *out, int error, const char *path,
                const char *what)
{
    size_t len = strlen(path), wrong = strcspn(what, "\n");
    if (len > 60)
        tcall_write_text(out, "...");
    ttool_write_path_(out, len > 60 ? path + len - 57 : path);
    tcall_write_text(out, len && wrong ? ": " : "");
    tcall_write_bytes(out, what, wrong);
    if (what[wrong])
        cx->result.suggestion = what + wrong + 1;
    return error;
}

static const struct ttool_errno_ {
    int number, error;
    const char *text;
} ttool_errno_[] = {
    {ENOENT, TCALL_E_NOT_FOUND,
     "no such file or directory\nSee with list or glob what there is."},
    {EACCES, TCALL_E_DENIED,
     "permission denied by the system\nLeave it, or ask for the permission."},
    {EPERM, TCALL_E_DENIED,
     "not permitted by the system\nLeave it, or ask for the permission."},
    {EXDEV, TCALL_E_DENIED,
     "leads out of the workspace\nName it relative to the workspace's root."},
    {ELOOP, TCALL_E_FAILED,
     "too many symbolic links\nName the file itself, not a link."},
    {ENOTDIR, TCALL_E_FAILED,
     "a part of the path is no directory\nSee with list what there is."},
    {EISDIR, TCALL_E_FAILED, "is a directory\nUse list."},
    {EEXIST, TCALL_E_FAILED,
     "has just been made by somebody else\nRead it first."},
    {ENAMETOOLONG, TCALL_E_FAILED,
     "the path or a name in it is too long\nUse a shorter one."},
    {ENOSPC, TCALL_E_LIMIT,
     "no space left on the disk: nothing was changed\nAsk for space."},
    {EDQUOT, TCALL_E_LIMIT,
     "disk quota used up: nothing was changed\nAsk for space."},
    {EFBIG, TCALL_E_LIMIT,
     "the file is too large for this\nWork with smaller files."},
    {EBUSY, TCALL_E_DENIED,
     "is in use by the system, as a mount or a program\nLeave it."},
    {ETXTBSY, TCALL_E_DENIED,
     "is in use by the system, as a mount or a program\nLeave it."},
    {EROFS, TCALL_E_DENIED, "the disk is read-only\nWrite to another place."},
    {EMFILE, TCALL_E_LIMIT, "too many open files\nTry again later."},
    {EAGAIN, TCALL_E_FAILED, "in use by another call\nTry again."},
    {ESTALE, TCALL_E_STALE, "changed since it was read\nRead it again."},
    {0, TCALL_E_FAILED,
     "input or output error; nothing was changed\nTry another file."},
};

int ttool_fail_errno_(tcall_ctx *cx, tcall_writer *out, const char *path,
                      int number)
{
    const struct ttool_errno_ *e = ttool_errno_;
    while (e->number && e->number != number)
        e++;
    return ttool_fail_(cx, out, e->error, path, e->text);
}

tcall_str ttool_arg_(tcall_json args, const char *name)
{
    return tcall_json_str(tcall_json_get(args, name));
}

const char *ttool_given_(char *buf, size_t cap, tcall_str path)
{
    size_t n = path.len < cap - 1 ? path.len : cap - 1;
    if (n)
        memcpy(buf, path.ptr, n);
    buf[n] = '\0';
    return buf;
}

void ttool_title_(tcall_ctx *cx, const char *what, tcall_str of)
{
    char given[80], text[400];
    tcall_str title = {text, 0};
    tcall_writer w;
    tcall_writer_init(&w, text, sizeof text);
    tcall_write_text(&w, what);
    ttool_write_path_(&w, ttool_given_(given, sizeof given, of));
    title.len = w.fill;
    tcall_set_result(cx, title, tcall_str_of(""));
}

/* -- A call and its memory ------------------------------------------------ */

void ttool_close_(int *handle)
{
    if (*handle >= 0)
        close(*handle);
    *handle = -1;
}

int ttool_nobody_(tcall_ctx *cx, tcall_writer *out)
{
    return ttool_fail_(cx, out, TCALL_E_USAGE, "",
                       "its row has no user: make the rows with ttool_rows");
}

ttool_workspace *ttool_enter_(tcall_ctx *cx, tcall_writer *out)
{
    ttool_workspace *ws = (ttool_workspace *)cx->user;
    if (ws && ws->desc.sys && ws->root >= 0)
        return ws;
    if (ws)
        ttool_fail_(cx, out, TCALL_E_USAGE, "",
                    "no workspace is open: ttool_workspace_open was not "
                    "called, or it failed");
    else
        ttool_nobody_(cx, out);
    return NULL;
}

ttool_workspace *ttool_begin_(ttool_workspace *ws)
{
    char *low = (char *)ws->desc.memory, *high = low + ws->desc.memory_size;
    memset(&ws->at, 0, sizeof ws->at);
    ws->at.low = ws->long_call ? ws->kept.low : low;
    ws->at.high = ws->long_call ? ws->kept.high : high - ((uintptr_t)high & 15);
    ws->at.started = ws->at.told = ws->desc.sys->now_ms();
    return ws;
}

void *ttool_take_(ttool_workspace *ws, size_t n)
{
    char *p = ws->at.low + ((size_t) - (uintptr_t)ws->at.low & 15);
    if (p > ws->at.high || n > (size_t)(ws->at.high - p))
        return NULL;
    ws->at.low = p + n;
    return p;
}

/* -- Calls that are done in pieces ---------------------------------------- */

void ttool_spend_(ttool_workspace *ws, size_t work)
{
    ws->at.budget -= work < ws->at.budget ? (uint32_t)work : ws->at.budget;
}

bool ttool_pauses_(const ttool_workspace *ws, const tcall_ctx *cx)
{
    return ws->at.text.buf && !ws->at.budget && !cx->stop;
}

void ttool_end_long_(ttool_workspace *ws)
{
    ttool_close_(&ws->dir);
    ttool_close_(&ws->file);
    ws->long_call = NULL;
}

/* Takes the workspace, and what room the result may need, of a quarter of the
 * memory. */
static bool ttool_begin_long_(ttool_workspace *ws, size_t size,
                              const tcall_writer *out)
{
    size_t room = ws->desc.memory_size / 4;
    char *text;
    ttool_end_long_(ws);
    ttool_begin_(ws);
    if (out->buf && !out->sink && out->cap - out->fill < room)
        room = out->cap - out->fill;
    text = (char *)ttool_take_(ws, room + 1);
    ws->long_call = text ? ttool_take_(ws, size) : NULL;
    if (!ws->long_call)
        return false;
    memset(ws->long_call, 0, size);
    tcall_writer_init(&ws->at.text, text, room);
    ws->turn++;
    return true;
}

/* Makes a piece of a call. `turn` is the call's: 0 as long as it has not begun.
 * Who has it and is not seen for too long has lost it: it was not invoked. */
static int ttool_run_piece_(tcall_ctx *cx, tcall_json args, tcall_writer *out,
                            const ttool_pieces_ *tool, uint32_t *turn)
{
    ttool_workspace *ws = ttool_enter_(cx, out);
    int r = TCALL_OK;
    if (!ws)
        return TCALL_E_USAGE;
    if (*turn && (*turn != ws->turn || !ws->long_call))
        return ttool_fail_(cx, out, TCALL_E_FAILED, "",
                           "another search took its place\nTry again.");
    if (*turn) {
        ws->at = ws->kept;
    } else if (ws->long_call &&
               ws->desc.sys->now_ms() - ws->kept.started < ws->desc.max_ms) {
        return cx->stop < 0 ? cx->stop : TCALL_E_AGAIN;
    } else if (!ttool_begin_long_(ws, tool->size, out)) {
        return TCALL_E_MEMORY;
    } else {
        *turn = ws->turn;
        ws->at.budget = UINT32_MAX; /* what it begins with takes no time */
        r = tool->begin(cx, ws->long_call, args, &ws->at.text);
    }
    ws->at.budget = TTOOL_PIECE_;
    if (r == TCALL_OK)
        r = tool->go_on(ws->long_call, &ws->at.text);
    if (r == TCALL_E_AGAIN) {
        ws->kept = ws->at;
        return tcall_wait_ms(&cx->wait, 0);
    }
    ttool_end_long_(ws);
    *turn = 0;
    tcall_write_bytes(out, ws->at.text.buf, ws->at.text.fill);
    return r;
}

int ttool_run_pieces_(tcall_ctx *cx, tcall_json args, tcall_writer *out,
                      const ttool_pieces_ *tool)
{
    uint32_t *turn = (uint32_t *)tcall_scratch(cx, "ttool.turn", sizeof *turn);
    return turn ? ttool_run_piece_(cx, args, out, tool, turn) : TCALL_E_MEMORY;
}

/* What the call has written so far. */
static tcall_str ttool_output_(const ttool_workspace *ws, const tcall_ctx *cx)
{
    tcall_str text = {ws->at.text.buf, ws->at.text.fill};
    return ws->at.text.buf ? text : tcall_output(cx);
}

bool ttool_goes_on_(ttool_workspace *ws, tcall_ctx *cx, uint64_t count,
                    const char *of_what)
{
    uint32_t now = ws->desc.sys->now_ms();
    if (now - ws->at.told >= 1000) {
        char text[96];
        tcall_str said = {text, 0}, fresh = ttool_output_(ws, cx);
        said.len = (size_t)snprintf(text, sizeof text, "%.32s: %llu %.32s",
                                    cx->call->tool->name,
                                    (unsigned long long)count, of_what);
        ws->at.told = now;
        tcall_progress(cx, said);
        fresh.ptr += ws->at.streamed;
        fresh.len -= ws->at.streamed;
        ws->at.streamed += fresh.len;
        if (fresh.len)
            tcall_emit(cx, fresh);
    }
    return !cx->stop && tcall_time_left(cx) > 0 &&
           now - ws->at.started < ws->desc.max_ms;
}

int ttool_end_(tcall_ctx *cx)
{
    if (cx->stop)
        tcall_abort(cx, "stopped before it was done", NULL, 0);
    return cx->stop;
}

size_t ttool_room_(const ttool_workspace *ws, const tcall_writer *out,
                   size_t start)
{
    size_t most = (size_t)ws->desc.max_tokens * 4, used = out->len - start;
    size_t room = out->cap - out->fill, notice = 256;
    if (!out->buf || out->sink)
        room = (size_t)-1;
    room = room > notice ? room - notice : 0;
    most = most > used ? most - used : 0;
    return room < most ? room : most;
}

int ttool_ask_(tcall_ctx *cx, tcall_writer *out, const char *path,
               const char *why)
{
    int r = tcall_approval(cx);
    return r == TCALL_E_DENIED ? ttool_fail_(cx, out, r, path, why) : r;
}

int ttool_confirm_(tcall_ctx *cx, tcall_writer *out, const char *path)
{
    if (!cx->call->tool->confirm)
        return TCALL_OK;
    return ttool_ask_(cx, out, path,
                      "it was not approved\nAsk the user what to do instead.");
}
