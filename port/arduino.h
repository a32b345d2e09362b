/*
 * arduino.h - the transport over any Client of Arduino, as in a sketch:
 *
 *     static WiFiClientSecure net;
 *     static tport_arduino port;
 *
 *     net.setCACert(ca);
 *     tport_arduino_init(&port, &net, "api.openai.com", 443, "");
 *     desc.transport = tport_arduino_transport(&port);
 *
 * The Client does the encryption and checks the certificate; over one that does
 * not, such as WiFiClient or EthernetClient, everybody on the way can read the
 * key and the conversation. port/http.c does HTTP. C++ 11.
 *
 * Nothing here waits but the Client's own connect and write, for as long as the
 * Client says (setTimeout). A Client cannot say how a connection ended, so an
 * answer that only its end ends is TCALL_E_CLOSED.
 */
#ifndef TPORT_ARDUINO_H
#define TPORT_ARDUINO_H

#ifndef __cplusplus
#error "port/arduino.h is for sketches, which are C++"
#endif

#include <Arduino.h>
#include <Client.h>

#include "port/http.h"

typedef struct tport_arduino {
    /* May be changed after tport_arduino_init: milliseconds without a byte in
     * either direction until TCALL_E_TIMEOUT. */
    uint32_t idle_ms;

    tport_http http; /* its public members may be changed too */

    /* private */
    Client *client;
    const char *host, *why;
    uint16_t number; /* of the port */
    bool open;
    uint32_t moved, moved_at; /* http.moved, and when it was seen to change */
    char authority[80];
} tport_arduino;

/* -- The stream: the Client ------------------------------------------------ */

static inline int tport_arduino_connect_(void *user)
{
    tport_arduino *port = (tport_arduino *)user;
    port->why = "";
    if (port->client->connect(port->host, port->number) > 0)
        return TCALL_OK;
    port->why = "the Client does not connect: the network, the address, the "
                "clock or the certificate";
    return TCALL_E_CONNECT;
}

static inline int tport_arduino_read_(void *user, char *bytes, size_t cap)
{
    Client *client = ((tport_arduino *)user)->client;
    int available = client->available(), count = 0;
    if (available > 0)
        count = client->read((uint8_t *)bytes,
                             cap < (size_t)available ? cap : (size_t)available);
    if (count > 0)
        return count;
    return client->connected() ? TCALL_E_AGAIN : TCALL_E_CLOSED;
}

static inline int tport_arduino_write_(void *user, const char *bytes,
                                       size_t len)
{
    Client *client = ((tport_arduino *)user)->client;
    size_t count = client->write((const uint8_t *)bytes, len);
    if (count > 0)
        return (int)count;
    return client->connected() ? TCALL_E_AGAIN : TCALL_E_CLOSED;
}

static inline void tport_arduino_stop_(void *user)
{
    ((tport_arduino *)user)->client->stop();
}

static inline const char *tport_arduino_why_(void *user)
{
    return ((tport_arduino *)user)->why;
}

/* -- The transport: HTTP with a limit of silence --------------------------- */

/* Turns AGAIN into TCALL_E_TIMEOUT after too long a silence. */
static inline int tport_arduino_limit_(tport_arduino *port, int result)
{
    uint32_t now = millis();
    if (port->moved != port->http.moved) {
        port->moved = port->http.moved;
        port->moved_at = now;
    }
    if (result == TCALL_E_AGAIN && now - port->moved_at >= port->idle_ms)
        return TCALL_E_TIMEOUT;
    return result;
}

static inline int tport_arduino_open_(void *user, const tcall_request *request,
                                      tcall_response *response)
{
    tport_arduino *port = (tport_arduino *)user;
    if (!port->open)
        port->moved_at = millis();
    port->open = true;
    return tport_arduino_limit_(
        port, tport_http_open(&port->http, request, response));
}

static inline int tport_arduino_send_(void *user, const char *bytes, size_t len)
{
    tport_arduino *port = (tport_arduino *)user;
    return tport_arduino_limit_(port,
                                tport_http_write(&port->http, bytes, len));
}

static inline int tport_arduino_receive_(void *user, char *bytes, size_t cap)
{
    tport_arduino *port = (tport_arduino *)user;
    return tport_arduino_limit_(port, tport_http_read(&port->http, bytes, cap));
}

static inline void tport_arduino_close_(void *user)
{
    tport_arduino *port = (tport_arduino *)user;
    tport_http_close(&port->http);
    port->open = false;
}

static inline uint32_t tport_arduino_now_(void *)
{
    return millis();
}

/* A Client cannot be waited for, so it is asked again: the longer it has been
 * silent the later, half a second at most, and when the limit is reached. */
static inline void tport_arduino_wants_(void *user, tcall_wait *wait)
{
    const tport_arduino *port = (const tport_arduino *)user;
    uint32_t silence = millis() - port->moved_at;
    uint32_t ms = silence < 500 ? silence + 1 : 500;
    if (silence < port->idle_ms && ms > port->idle_ms - silence)
        ms = port->idle_ms - silence;
    tcall_wait_ms(wait, ms);
}

static inline void tport_arduino_wait_(void *, const tcall_wait *wait)
{
    delay(wait->ms < 1000 ? wait->ms : 1000);
}

/* -- For sketches ---------------------------------------------------------- */

/* Prepares; nothing is connected yet. The Client must be set up to trust a CA;
 * base is "" or a path such as "/v1". Client, host and base must stay valid,
 * and port must not move. Returns TCALL_E_USAGE where host is too long. */
static inline int tport_arduino_init(tport_arduino *port, Client *client,
                                     const char *host, uint16_t number,
                                     const char *base)
{
    char digits[] = ":00000", *first = digits + sizeof digits - 1;
    const char *parts[3] = {host, "", NULL};
    tport_stream stream = tport_stream();
    uint16_t rest = number;
    memset(port, 0, sizeof *port);
    port->client = client;
    port->host = host;
    port->number = number;
    port->why = "";
    port->idle_ms = 300000;
    for (; rest; rest /= 10)
        *--first = (char)('0' + rest % 10);
    *--first = ':';
    if (number != 443)
        parts[1] = first;
    if (strlen(host) + strlen(parts[1]) >= sizeof port->authority)
        return TCALL_E_USAGE;
    tport_say(port->authority, sizeof port->authority, parts);
    stream.connect = tport_arduino_connect_;
    stream.read = tport_arduino_read_;
    stream.write = tport_arduino_write_;
    stream.close = tport_arduino_stop_;
    stream.why = tport_arduino_why_;
    stream.user = port;
    tport_http_init(&port->http, stream, port->authority, base);
    return TCALL_OK;
}

/* Returns the transport, which refers to port. */
static inline tcall_transport tport_arduino_transport(tport_arduino *port)
{
    tcall_transport transport = tcall_transport();
    transport.open = tport_arduino_open_;
    transport.write = tport_arduino_send_;
    transport.read = tport_arduino_receive_;
    transport.close = tport_arduino_close_;
    transport.now_ms = tport_arduino_now_;
    transport.wait = tport_arduino_wait_;
    transport.wants = tport_arduino_wants_;
    transport.user = port;
    return transport;
}

/* Returns what the last error was about, for a developer; "" when unknown. */
static inline const char *tport_arduino_error(const tport_arduino *port)
{
    return tport_http_why(&port->http);
}

#endif /* TPORT_ARDUINO_H */
