#pragma once
#include "wait.h"

/* ==========================================================================
 * >>transport: the one door to the network
 *
 * The library never opens a socket: an agent is given a transport, and port/
 * has one that fits. What follows is for authors of others.
 */

#ifndef TOOLCALL_NO_AGENT

/* One header line. The value is sent as value followed by secret; the secret
 * must never reach a log, an error or an event. Both may be NULL. */
typedef struct tcall_header {
    const char *name;
    const char *value;
    const char *secret;
} tcall_header;

/* What the transport has to send before the body. Host, port and TLS belong
 * to the transport, which was set up for one server. */
typedef struct tcall_request {
    const char *method;          /* "POST" */
    const char *path;            /* "/v1/chat/completions" */
    const tcall_header *headers; /* beside Host and Content-Length */
    size_t header_count;
    size_t body_len; /* exact number of bytes of the body */
} tcall_request;

/* What is known of the answer besides its body. */
typedef struct tcall_response {
    int status;          /* HTTP status, 0 as long as it is unknown */
    long retry_after_ms; /* from retry-after(-ms), -1 when absent */
    int should_retry;    /* x-should-retry: 1 true, -1 false, 0 absent */
} tcall_response;

/* The one door to the network: an exchange of one request and one answer.
 * The order is open, write until body_len bytes were accepted, read until 0,
 * close. Each may answer TCALL_E_AGAIN (nothing was done, call again later) or
 * another error, after which only close is called. Each does a bounded piece of
 * work and does not block: max_ms and cancel are looked at between them. */
typedef struct tcall_transport {
    /* Connects (or reuses a connection) and sends the head of the request.
     * req and res stay valid until close; res has to be filled in before read
     * gives its first byte. */
    int (*open)(void *user, const tcall_request *req, tcall_response *res);
    /* Returns how many of the len bytes were accepted, > 0. */
    int (*write)(void *user, const char *bytes, size_t len);
    /* Returns how many bytes were stored, or 0 when the body is complete. A
     * body that ends early is TCALL_E_CLOSED, never 0. */
    int (*read)(void *user, char *bytes, size_t cap);
    /* Ends the exchange, whatever its state; called once for each open. */
    void (*close)(void *user);
    /* Returns a monotonic clock in milliseconds, which may wrap. NULL: there
     * are no limits of time and no request is sent again. */
    uint32_t (*now_ms)(void *user);
    /* Sleeps until the first thing that wait names has come, or less; a signal
     * should wake it. NULL: tcall_agent_run polls without a pause. */
    void (*wait)(void *user, const tcall_wait *wait);
    /* Adds to wait what the last TCALL_E_AGAIN was for. NULL, or if it adds
     * nothing: the transport is asked again every TCALL_WAIT_POLL_MS. */
    void (*wants)(void *user, tcall_wait *wait);
    void *user;
} tcall_transport;

#endif /* TOOLCALL_NO_AGENT */
