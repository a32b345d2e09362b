/* shown.c - see shown.h */
#include "tools/shown.h"
#include <string.h>

int ttool_shown_put(void *user, const char *bytes, size_t len)
{
    ttool_shown *shown = (ttool_shown *)user;
    char buf[256];
    tcall_writer w;
    int r;
    tcall_writer_init(&w, buf, sizeof buf);
    tcall_writer_sink(&w, shown->sink, shown->user);
    shown->held.json = shown->json;
    ttool_write_piece_(&w, &shown->held, bytes, len);
    r = tcall_writer_flush(&w);
    return r < 0 ? r : (int)len;
}

int ttool_shown_end(ttool_shown *shown)
{
    char buf[16];
    tcall_writer w;
    tcall_writer_init(&w, buf, sizeof buf);
    tcall_writer_sink(&w, shown->sink, shown->user);
    shown->held.json = shown->json;
    ttool_write_held_(&w, &shown->held);
    return tcall_writer_flush(&w);
}

/* What passes the mask is never longer than what went in: it takes its place.
 */
static int ttool_put_back_(void *user, const char *bytes, size_t len)
{
    tcall_str *to = (tcall_str *)user;
    memmove((char *)(uintptr_t)to->ptr + to->len, bytes, len);
    to->len += len;
    return (int)len;
}

int ttool_hide(tcall_ctx *cx, void *user)
{
    tcall_str output = tcall_output(cx), kept = output;
    tcall_mask mask;
    memset(&mask, 0, sizeof mask);
    mask.secret = *(const char *const *)user;
    mask.sink = ttool_put_back_;
    mask.user = &kept;
    kept.len = 0;
    tcall_mask_put(&mask, output.ptr, output.len);
    tcall_mask_end(&mask);
    if (kept.len == output.len)
        return TCALL_OK;
    /* The old output is kept as a change of the call: without what is left of
     * the secret after the new one. */
    memset((char *)(uintptr_t)output.ptr + kept.len, '*',
           output.len - kept.len);
    return tcall_set_output(cx, kept);
}
