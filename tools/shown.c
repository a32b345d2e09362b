/* shown.c - see shown.h */
#include "tools/shown.h"

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
