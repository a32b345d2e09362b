/* The agent over HTTP, over a stream of bytes that is not there. */
#include "port/http.h"

static int no_connect(void *user)
{
    (void)user;
    return 0;
}

static int no_read(void *user, char *bytes, size_t cap)
{
    (void)user;
    (void)bytes;
    (void)cap;
    return 0;
}

static int no_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    (void)bytes;
    return (int)len;
}

static void no_close(void *user)
{
    (void)user;
}

static tport_http http;

static tcall_transport transport(void)
{
    const tport_stream stream = {no_connect, no_read, no_write, no_close,
                                 NULL,       NULL,    NULL};

    tport_http_init(&http, stream, "localhost", "");
    return tport_http_transport(&http);
}

#define TRANSPORT transport()
#include "fw_agent.c"
