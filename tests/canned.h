/*
 * canned.h - answers of a server in memory, one for each request, for the tests
 * of the agent
 */
#include "toolcall.h"

#include <string.h>

/* Bodies of answers in OpenAI's format. */
#define CALL(id, n)                                                    \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":" \
    "\"fire\",\"arguments\":\"{\\\"n\\\":" n "}\"}}"
#define ASKS(calls)                                                            \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"I will." \
    "\",\"tool_calls\":[" calls "]},\"finish_reason\":\"tool_calls\"}]}"
#define SAYS(text)                                                           \
    "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"" text \
    "\"},\"finish_reason\":\"stop\"}]}"

/* The answers that come, and what was sent last. */
static const char *const *canned;
static size_t canned_at, canned_sent;
static char request[1 << 16], request_path[256];

static int canned_open(void *user, const tcall_request *req,
                       tcall_response *res)
{
    (void)user;
    canned_at = canned_sent = 0;
    strncpy(request_path, req->path, sizeof request_path - 1);
    res->status = 200;
    return TCALL_OK;
}

static int canned_write(void *user, const char *bytes, size_t len)
{
    (void)user;
    if (canned_sent + len >= sizeof request)
        return TCALL_E_CLOSED;
    memcpy(request + canned_sent, bytes, len);
    canned_sent += len;
    request[canned_sent] = '\0';
    return (int)len;
}

static int canned_read(void *user, char *bytes, size_t cap)
{
    size_t left = strlen(*canned) - canned_at;
    (void)user;
    left = left < cap ? left : cap;
    memcpy(bytes, *canned + canned_at, left);
    canned_at += left;
    return (int)left;
}

static void canned_close(void *user)
{
    (void)user;
    canned++;
}

static inline tcall_transport canned_transport(void)
{
    tcall_transport transport;
    memset(&transport, 0, sizeof transport);
    transport.open = canned_open;
    transport.write = canned_write;
    transport.read = canned_read;
    transport.close = canned_close;
    return transport;
}
