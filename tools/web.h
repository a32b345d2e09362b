/*
 * web.h - a tool that reads pages of the public internet as text
 *
 *     static char memory[TTOOL_WEB_MEMORY];
 *     static ttool_web web;
 *     ttool_web_desc d = {0};
 *     d.memory = memory;
 *     d.memory_size = sizeof memory;
 *     ttool_web_init(&web, &d);
 *     n += ttool_rows(rows + n, ttool_web_tools, TTOOL_WEB_TOOLS, &web);
 *
 * Goes over port/: TLS is checked, nothing is configured by the environment.
 * Addresses are judged as they are connected to, in binary, so no spelling of
 * them matters; where one of the addresses of a name is not public, none is
 * tried. Every hop of a redirect is judged anew. No cookies and no keys are
 * sent to anybody. HTML is turned into text as it arrives (html.h): links keep
 * their addresses, so that the model can go on from a page.
 *
 * What a page says is not to be trusted, and an address can carry away what
 * the model knows: so each host needs a yes once, or a place in desc.hosts. A
 * redirect to another that has neither is told to the model, not followed.
 *
 * POSIX; port/ has to be linked.
 */
#ifndef TTOOL_WEB_H
#define TTOOL_WEB_H

#include "port/port.h"
#include "tools/workspace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory for a fetch and 32 KB of its text. */
#define TTOOL_WEB_MEMORY (96 * 1024)

/* Longest URL, with the NUL. */
#define TTOOL_MAX_URL 2048

typedef struct ttool_web_desc {
    void *memory; /* of the fetch at work; others wait for it */
    size_t memory_size;
    /* Hosts that are fetched from without a question, such as
     * "https://example.org", with the port where it is another; "*" is any.
     * Ends in NULL; default none: each new host needs a yes. */
    const char *const *hosts;
    bool plain_http;       /* http:// as well: anybody can change the page */
    const uint16_t *ports; /* that may be asked beside 443, and 80 of http */
    size_t port_count;
    /* Whether an address may be connected to; default: ttool_public. */
    bool (*allow)(void *user, const struct sockaddr *address);
    void *user;
    const char *ca_file; /* see tport_desc; default: the system's CAs */
    uint32_t max_ms;     /* for all hops together; default 20,000 */
    uint32_t max_body;   /* bytes that are read of a page; default 1 MB */
    uint32_t max_text;   /* bytes of one result; default 32 KB, or less where
                            memory is less */
    uint8_t max_hops;    /* redirects; default 5 */
} ttool_web_desc;

typedef struct ttool_web {
    ttool_web_desc desc;
    /* private */
    struct ttool_fetch_ *fetch; /* in memory */
    const tcall_call *call;     /* whose it is, or NULL */
    char approved[1024];        /* hosts, each with a space behind it */
} ttool_web;

/* TCALL_OK, or TCALL_E_USAGE: too little memory. */
int ttool_web_init(ttool_web *web, const ttool_web_desc *desc);
/* An address of the public internet, by the registries of IANA for special
 * purposes (RFC 6890); IPv4 inside IPv6 counts as what it is. */
bool ttool_public(void *user, const struct sockaddr *address);

/* user: a ttool_web. */
#define TTOOL_WEB_TOOLS 1
extern const tcall_tool ttool_web_tools[TTOOL_WEB_TOOLS];

#ifdef __cplusplus
}
#endif
#endif /* TTOOL_WEB_H */
