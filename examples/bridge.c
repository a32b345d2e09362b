/*
 * bridge.c - stdio on one side, a board on a serial line on the other
 *
 *     bridge [--baud N] [--boot MS] DEVICE
 *
 * MCP clients start it like any server. The board's line needs no flow control:
 * one request is under way at a time, and the next one is sent when its answer
 * has come. Where the board does not answer, is unplugged or not there yet, the
 * request is answered by an error, and the device is opened again. Opening it
 * resets an Arduino; --boot says how long that takes (2000 ms).
 */
#define _DEFAULT_SOURCE 1
#define TOOLCALL_IMPLEMENTATION
#define TOOLCALL_STATIC
#include "toolcall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 60000, RETRY_MS = 500, ID = 256, LINE = 1 << 16 };

/* What has to be known of a message: whether it is answered, and its id. */
#define MESSAGE(ROW, me)                                                   \
    ROW(me, optional,                                                      \
        one_of(TCALL_SHAPE_STRING | TCALL_SHAPE_NUMBER | TCALL_SHAPE_NULL, \
               ID),                                                        \
        id, "")                                                            \
    ROW(me, optional, string(0, ID), method, "")
TCALL_OPEN_SHAPE(message, MESSAGE)

typedef struct options {
    const char *device;
    speed_t speed;
    int boot_ms;
} options;

/* Bytes that came and are no whole line yet. */
typedef struct input {
    char bytes[LINE];
    size_t len;
    bool skip; /* the rest of a line that was too long */
} input;

static input client, board;
static int line = -1;            /* the device, or -1 */
static struct message under_way; /* what the board has to answer */
static bool waiting;
static long deadline; /* for that answer, or for opening the device again */

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const struct {
    long baud;
    speed_t speed;
} speeds[] = {{9600, B9600},     {19200, B19200},   {38400, B38400},
              {57600, B57600},   {115200, B115200}, {230400, B230400},
              {460800, B460800}, {921600, B921600}};

static bool set_speed(options *o, long baud)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(speeds); i++)
        if (speeds[i].baud == baud)
            o->speed = speeds[i].speed;
    return o->speed != 0;
}

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        struct pollfd full = {fd, POLLOUT, 0};
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            poll(&full, 1, 1000);
        } else if (n == 0 || errno != EINTR) {
            return; /* reading will notice that it is gone */
        }
    }
}

/* ---- the device ---- */

static void line_open(const options *o)
{
    struct termios raw;
    line = open(o->device, O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (line < 0)
        return;
    if (tcgetattr(line, &raw) == 0) {
        cfmakeraw(&raw);
        raw.c_cflag |= CLOCAL;
        cfsetispeed(&raw, o->speed);
        cfsetospeed(&raw, o->speed);
        tcsetattr(line, TCSANOW, &raw);
    }
    poll(NULL, 0, o->boot_ms);
    tcflush(line, TCIOFLUSH);
    send_all(line, "\n", 1); /* ends what noise may have begun */
    board.len = 0;
    board.skip = false;
}

/* ---- messages ---- */

static void refuse(const char *why)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32603,"
           "\"message\":\"%s\"}}\n",
           under_way.id[0] ? under_way.id : "null", why);
    fflush(stdout);
    waiting = false;
}

static void line_close(const options *o)
{
    close(line);
    line = -1;
    deadline = now() + RETRY_MS;
    fprintf(stderr, "bridge: %s is gone\n", o->device);
    if (waiting)
        refuse("the board was disconnected: it may have done what was asked");
}

/* Sends a line of the client on. Notifications and responses have no answer;
 * all else has one, also what is no JSON. */
static void forward(const char *text, size_t len)
{
    tcall_decoder decoder;
    int error;
    tcall_decoder_init(&decoder, &message_shape, &under_way);
    memset(&under_way, 0, sizeof under_way);
    tcall_decoder_feed(&decoder, text, len);
    error = tcall_decoder_end(&decoder);
    waiting = len && (error || (TCALL_CAME(&under_way, message, id) ==
                                TCALL_CAME(&under_way, message, method)));
    if (waiting && line < 0)
        refuse("the board is not connected");
    if (line < 0)
        return;
    send_all(line, text, len);
    send_all(line, "\n", 1);
    deadline = now() + ANSWER_MS;
}

/* Hands the board's line on. What it says besides, a boot loader say, is no
 * message, and what answers a request of which it was said that nobody does
 * comes too late. */
static void answer(const char *text, size_t len)
{
    struct message said;
    tcall_decoder decoder;
    bool late;
    tcall_decoder_init(&decoder, &message_shape, &said);
    tcall_decoder_feed(&decoder, text, len);
    if (tcall_decoder_end(&decoder) != TCALL_OK)
        return;
    late = said.id[0] && strcmp(said.id, "null") != 0 &&
           (!waiting || strcmp(said.id, under_way.id) != 0);
    if (late)
        return;
    if (len && text[len - 1] == '\r')
        len--;
    fwrite(text, 1, len, stdout);
    putchar('\n');
    fflush(stdout);
    if (!TCALL_CAME(&said, message, method))
        waiting = false;
}

/* Takes one line out, without its end. Returns its length, or -1. */
static int take_line(input *in, char *text)
{
    char *end = (char *)memchr(in->bytes, '\n', in->len);
    size_t len = end ? (size_t)(end - in->bytes) : 0;
    if (!end && in->len == sizeof in->bytes) {
        in->skip = true;
        in->len = 0;
    }
    if (!end)
        return -1;
    memcpy(text, in->bytes, len);
    in->len -= len + 1;
    memmove(in->bytes, end + 1, in->len);
    if (in->skip) { /* the end of one that is no message: not JSON */
        text[0] = '?';
        len = 1;
    }
    in->skip = false;
    return (int)len;
}

/* Returns false at the end of the file. */
static bool fill(int fd, input *in)
{
    ssize_t n = read(fd, in->bytes + in->len, sizeof in->bytes - in->len);
    if (n > 0)
        in->len += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* ---- the loop ---- */

/* Waits for bytes. Returns false when the client has gone. */
static bool wait_for_bytes(const options *o, bool more)
{
    struct pollfd ready[2] = {{0, POLLIN, 0}, {line, POLLIN, 0}};
    ready[0].fd = more && !waiting ? 0 : -1;
    poll(ready, 2, waiting || line < 0 ? 50 : -1);
    if (line >= 0 && ready[1].revents && !fill(line, &board))
        line_close(o);
    if (ready[0].revents && !fill(0, &client))
        return false;
    return more;
}

static void run(const options *o)
{
    static char text[LINE];
    bool more = true;
    int len = 0;
    while (more || waiting || len >= 0) {
        if (line < 0 && now() >= deadline) {
            line_open(o);
            deadline = line < 0 ? now() + RETRY_MS : deadline;
        }
        if (waiting && line >= 0 && now() >= deadline)
            refuse("the board does not answer");
        while ((len = take_line(&board, text)) >= 0)
            answer(text, (size_t)len);
        len = waiting ? -1 : take_line(&client, text);
        if (len >= 0)
            forward(text, (size_t)len);
        else if (more || waiting)
            more = wait_for_bytes(o, more);
    }
}

int main(int argc, char **argv)
{
    options o = {NULL, B115200, 2000};
    bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    int i;
    for (i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--baud") == 0) {
            o.speed = 0;
            if (!set_speed(&o, atol(argv[++i])))
                argc = 0;
        } else if (i + 1 < argc && strcmp(argv[i], "--boot") == 0) {
            o.boot_ms = atoi(argv[++i]);
        } else {
            o.device = argv[i];
        }
    }
    if (!o.device || o.device[0] == '-') {
        fprintf(help ? stdout : stderr,
                "bridge [--baud N] [--boot MS] DEVICE\n");
        return help ? 0 : 2;
    }
    run(&o);
    return 0;
}
