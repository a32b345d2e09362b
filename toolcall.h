/*
 * toolcall.h - let a language model call C functions
 *
 * One header, no heap, nothing unchecked ever runs. In ONE source file:
 *
 *     #define TOOLCALL_IMPLEMENTATION
 *     #include "toolcall.h"
 *
 * and in every other just #include "toolcall.h". C99 or C++11. MIT licence.
 *
 *     static int set_led(tcall_ctx *cx, tcall_json args, tcall_writer *out)
 *     {
 *         board_led(tcall_json_bool(tcall_json_get(args, "on"), false));
 *         return tcall_write_text(out, "done");
 *     }
 *
 *     static const tcall_tool tools[] = {{
 *         .name        = "set_led",
 *         .description = "Switch the board's LED on or off.",
 *         .parameters  = TCALL_JSON({
 *             "type": "object", "required": ["on"],
 *             "properties": {"on": {"type": "boolean"}}}),
 *         .run         = set_led,
 *         .permissions = TCALL_WRITE,
 *     }};
 *
 *     tcall_init(&tc, &(tcall_desc){
 *         .block = block, .block_size = sizeof block, .tools = tools,
 *         .tool_count = TCALL_ARRAY_LEN(tools), .allow = TCALL_WRITE});
 *     tcall_agent_init(&agent, &(tcall_agent_desc){
 *         .tc = &tc, .provider = &tcall_openai, .model = "...", .key = key,
 *         .transport = transport});
 *     tcall_agent_run(&agent, tcall_str_of("turn the light on"));
 *
 * Each layer can be used alone. From the bottom: tcall_scan recognises JSON in
 * pieces, tcall_json_parse turns it into values, tcall_writer writes it,
 * tcall_schema_check checks values against a JSON Schema, tcall_hydrate turns
 * what a model sent into a call that may run, tcall_invoke runs it,
 * tcall_reader reads a provider's answer as it arrives, and tcall_agent is the
 * loop around all of them.
 *
 * Functions that can fail return an int: >= 0 is success, < 0 is one of
 * TCALL_E_... A zero in a struct is the default, and the careful choice. A tool
 * has parameters (its schema); a call has arguments and gets a result; a
 * provider is a wire format; a transport is the door to the network; the block
 * is the memory that you give.
 *
 * Define TOOLCALL_STATIC before the implementation to make everything private
 * to the one file that includes it. What a program does not need is left out
 * by defining one of these with TOOLCALL_ before it; a tool or an option that
 * needs what was left out is refused at the start, by name:
 *
 *     NO_SHAPES      shapes and their decoder
 *     NO_SCHEMA      checking by schemas: then every tool has a shape, and its
 *                    arguments are strict JSON
 *     NO_INT64       of shapes: integer64 and number, which need 64 bits; the
 *                    writer's integers have 32 then
 *     NO_LENIENT     repair of arguments that are almost JSON
 *     NO_BIND        arguments as a C struct
 *     NO_PATTERN     regular expressions in schemas
 *     NO_REPORT      what is wrong with a table of tools; that it is, stays
 *     NO_SENTENCES   the sentences of errors; their codes stay
 *     NO_HOOKS       hooks around the stages of a call
 *     NO_EVENTS      telling listeners what happens
 *     NO_REPAIR      the one try to repair arguments that were refused
 *     NO_PICK        ranking tools by the request
 *     NO_PICK_INDEX  the index that makes ranking faster
 *     NO_SYNONYMS    English words that mean the same, for ranking
 *     NO_STRICT      schemas in the form that strict modes demand
 *     NO_RETRY       trying a failed request again
 *     NO_TEXT_CALLS  calls that a model wrote as text
 *     NO_STREAM      answers that come in pieces
 *     NO_REASONING   reasoning that goes back to its provider
 *     NO_OPENAI      the format of Chat Completions
 *     NO_RESPONSES   the format of OpenAI's Responses
 *     NO_ANTHROPIC   the format of Anthropic's Messages
 *     NO_OLLAMA      the format of Ollama's /api/chat
 *     NO_GEMINI      the format of Gemini's generateContent
 *     NO_SERVERS     the table of servers compatible with OpenAI
 *     NO_MCP         the server of the Model Context Protocol
 *     NO_SAVE        conversations as bytes, for after a restart
 *     NO_AGENT       the loop
 *
 * A compiler ignores a misspelt switch in silence, so let the build look:
 * make, CMake and PlatformIO do; src/switches checks the flags of any other.
 *
 * grep -n '>>' is the table of contents.
 */
#ifndef TOOLCALL_H
#define TOOLCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==========================================================================
 * >>base: errors, slices, the block
 *
 * Everything that can fail returns an int: >= 0 is a count or an index, < 0
 * one of the errors below. Bytes from outside travel as slices: a pointer and
 * a length, not terminated, may hold NUL. Memory is one block that the caller
 * gives.
 */

#define TOOLCALL_VERSION "0.1.0"

/* The same as a number: 10,000 a major, 100 a minor, 1 a patch version. */
#define TOOLCALL_VERSION_NUMBER 100

/* What users call. TOOLCALL_STATIC, defined before the implementation in the
 * one file that includes it, makes everything private to that file. Public
 * tables are defined as TCALL_DATA_ and, because C++ knows no declaration of
 * a static object, declared only #ifndef TOOLCALL_STATIC. */
#ifdef TOOLCALL_STATIC
#define TCALL_API   static TCALL_UNUSED_
#define TCALL_DATA_ static TCALL_UNUSED_
#else
#define TCALL_API extern
#define TCALL_DATA_
#endif
/* A private function for later chapters, all of which may be left out. */
#define TCALL_SHARED_ static TCALL_UNUSED_

#ifdef __GNUC__
#define TCALL_UNUSED_ __attribute__((unused))
/* Keeps its stack frame out of its caller's: a function is marked so when its
 * caller lies on the deepest path of calls and it does not. */
#define TCALL_NOINLINE_ __attribute__((noinline))
#else
#define TCALL_UNUSED_
#define TCALL_NOINLINE_
#endif
/* Const data lies in flash on an AVR, which needs other instructions to read
 * it: of texts TCALL_BYTE_, of the members of a struct those by their width, or
 * TCALL_FETCH_(type, name, from), which makes name a pointer that can be read.
 */
#ifdef __AVR__
#include <avr/pgmspace.h>
#define TCALL_FLASH_                   PROGMEM
#define TCALL_BYTE_(at)                ((char)pgm_read_byte(at))
#define TCALL_FETCH_8_(at)             ((uint8_t)pgm_read_byte(at))
#define TCALL_FETCH_16_(at)            ((uint16_t)pgm_read_word(at))
#define TCALL_FETCH_32_(at)            ((int32_t)pgm_read_dword(at))
#define TCALL_FETCH_POINTER_(type, at) ((type)pgm_read_word(at))
#define TCALL_FETCH_(type, name, from) \
    type name##_copy_;                 \
    const type *name = (const type *)memcpy_P(&name##_copy_, from, sizeof(type))
#define TCALL_COPY_(to, from, size) memcpy_P(to, from, size)
#define TCALL_FLASH_TEXT_(text)     PSTR(text)
#else
#define TCALL_FLASH_
#define TCALL_BYTE_(at)                (*(const char *)(at))
#define TCALL_FETCH_8_(at)             (*(at))
#define TCALL_FETCH_16_(at)            (*(at))
#define TCALL_FETCH_32_(at)            (*(at))
#define TCALL_FETCH_POINTER_(type, at) ((type) * (at))
#define TCALL_FETCH_(type, name, from) const type *name = (const type *)(from)
#define TCALL_COPY_(to, from, size)    memcpy(to, from, size)
#define TCALL_FLASH_TEXT_(text)        (text)
#endif

/* The integers of shapes and of the writer. */
#ifdef TOOLCALL_NO_INT64
typedef int32_t tcall_int;
typedef uint32_t tcall_uint;
#else
typedef int64_t tcall_int;
typedef uint64_t tcall_uint;
#endif

/* Levels of JSON values that are accepted; deeper input is TCALL_E_DEPTH. */
#ifndef TOOLCALL_MAX_DEPTH
#define TOOLCALL_MAX_DEPTH 64
#endif
/* How many faults of one call are kept, each with its place; further ones are
 * only counted. The model corrects these first. */
#ifndef TOOLCALL_MAX_FAULTS
#define TOOLCALL_MAX_FAULTS 4
#endif

/* X(name, code, sentence). The code is for machines and never changes; the
 * sentence says to the model or the developer what is wrong and, where that is
 * not obvious, what to do. */
#define TCALL_ERRORS_CALL(X)                                                   \
    X(AGAIN, "again", "not finished yet: call it again")                       \
    X(MEMORY, "memory", "the block of memory is too small")                    \
    X(USAGE, "usage", "this is not allowed here: see the function's contract") \
    X(TOOL, "tool", "a tool is not defined correctly")                         \
    X(UNKNOWN, "unknown-tool", "there is no tool of this name")                \
    X(DENIED, "denied", "permission was denied")                               \
    X(APPROVAL, "approval", "the call waits for approval")                     \
    X(FAILED, "failed", "the tool failed")                                     \
    X(CUT, "cut", "the call was cut off: send it again, shorter")              \
    X(TIMEOUT, "timeout", "it took longer than allowed")                       \
    X(LIMIT, "limit", "a limit was reached")                                   \
    X(CANCELLED, "cancelled", "it was cancelled")                              \
    X(ABORTED, "aborted", "a hook stopped the call")                           \
    X(SERVICE, "service", "a service that the tool needs is missing")          \
    X(STALE, "stale", "the content has changed: read it again first")          \
    X(UNREAD, "unread", "the content has not been read: read it first")        \
    X(INVALID, "invalid", "the value does not match the schema")               \
    X(TRUNCATED, "truncated", "the JSON text ends too early: send all of it")  \
    X(BAD_VALUE, "bad-value", "this is not a JSON value")                      \
    X(BAD_ESCAPE, "bad-escape",                                                \
      "JSON has no such escape: write a backslash itself as two")              \
    X(TRAILING, "trailing-data",                                               \
      "text follows the JSON value: send only the value")                      \
    X(NUL, "nul", "a string must not contain the character U+0000")            \
    X(UTF8, "utf-8", "the text is not valid UTF-8")                            \
    X(DEPTH, "depth", "objects and arrays are nested too deeply")

/* Errors of lenient reading, of values, and of schemas. Those from INVALID to
 * RANGE are what is wrong with arguments. */
#define TCALL_ERRORS_SCHEMA(X)                                                 \
    X(BARE_WORD, "bare-word",                                                  \
      "a bare word or expression is no JSON value: put text in quotes")        \
    X(MISSING_COMMA, "missing-comma", "a comma is missing between two values") \
    X(MISSING_COLON, "missing-colon", "a colon is missing after a key")        \
    X(UNESCAPED_QUOTE, "unescaped-quote-or-missing-comma",                     \
      "a quote inside a string needs a backslash, or a comma is missing")      \
    X(BAD_KEY, "bad-key", "a key must be a string in double quotes")           \
    X(BRACKETS, "bracket-mismatch",                                            \
      "the closing bracket does not match the open one")                       \
    X(MULTIPLE, "multiple-values",                                             \
      "there are several JSON values: send only one")                          \
    X(NOT_OBJECT, "root-not-object", "the arguments must be one JSON object")  \
    X(DUPLICATE, "duplicate-key", "a key appears twice in the same object")    \
    X(RANGE, "range", "a number is outside the range that can be represented") \
    X(BUDGET, "budget", "checking takes too many steps: send a simpler value") \
    X(SCHEMA, "schema", "the schema cannot be used")                           \
    X(OUTPUT, "output", "the output of the tool does not match its schema")

/* Errors of ready-made hooks. */
#define TCALL_ERRORS_HOOKS(X)                                            \
    X(TWICE, "twice", "the call has run already and must not run twice") \
    X(LOOP, "loop", "the same call is being repeated: try something else")

/* Errors of providers and of the network. */
#define TCALL_ERRORS_AGENT(X)                                                 \
    X(PROVIDER, "provider", "the provider reported an error")                 \
    X(REQUEST, "request", "the provider rejected the request as invalid")     \
    X(NOT_FOUND, "not-found", "the model or the address does not exist")      \
    X(CONTEXT, "context", "the conversation is too long for the model")       \
    X(REFUSED, "refused", "the provider refused the content")                 \
    X(OVERLOAD, "overload", "the provider is overloaded: try again later")    \
    X(AUTH, "auth", "the provider did not accept the key")                    \
    X(RATE, "rate", "too many requests: wait before the next one")            \
    X(RESOLVE, "resolve", "DNS does not know the name of the host")           \
    X(CONNECT, "connect", "the host does not accept a connection")            \
    X(TLS, "tls", "no secure connection to the host is possible")             \
    X(CERTIFICATE, "certificate",                                             \
      "the certificate of the host is not trusted")                           \
    X(WRONG_HOST, "wrong-host", "the certificate belongs to another host")    \
    X(EXPIRED, "expired", "the certificate has expired")                      \
    X(NOT_YET, "not-yet-valid",                                               \
      "the certificate is not valid yet: check the clock")                    \
    X(CLOCK, "clock-not-set", "the clock must be set to check a certificate") \
    X(ENTROPY, "no-entropy", "there is no source of random numbers for TLS")  \
    X(CLOSED, "closed", "the connection ended before the answer did")         \
    X(PROTOCOL, "protocol", "the answer violates its protocol")               \
    X(LENGTH, "length",                                                       \
      "the answer was cut off: allow it more tokens (max_tokens)")            \
    X(QUEUED, "queued", "the provider has not made the answer yet")           \
    X(EMPTY, "empty", "the answer holds neither words nor a call")            \
    X(UNHANDLED, "unhandled",                                                 \
      "the provider sent something that is not handled here")                 \
    X(QUOTA, "quota", "the account has no quota or credit left")

/* All of them, in the order of their numbers, which no switch changes. */
#define TCALL_ERRORS(X)  \
    TCALL_ERRORS_CALL(X) \
    TCALL_ERRORS_SCHEMA(X) TCALL_ERRORS_HOOKS(X) TCALL_ERRORS_AGENT(X)

enum {
#define TCALL_X_(name, code, sentence) TCALL_I_##name,
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
        TCALL_I_COUNT
};

enum {
#define TCALL_X_(name, code, sentence) TCALL_E_##name = -1 - TCALL_I_##name,
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
        TCALL_OK = 0
};

/* Bytes from outside; ptr may be NULL when len is 0. */
typedef struct tcall_str {
    const char *ptr;
    size_t len;
} tcall_str;

/* Returns a C string as a slice; NULL gives the empty one. */
TCALL_API tcall_str tcall_str_of(const char *text);
/* Returns whether two slices hold the same bytes. */
TCALL_API bool tcall_str_eq(tcall_str a, tcall_str b);

/* Returns the code of an error, "truncated". 0 and above give "ok". */
TCALL_API const char *tcall_error_code(int error);
/* Returns its sentence: "the JSON text ends too early: send all of it". It is
 * the code where the sentence was left out: TOOLCALL_NO_HOOKS and _NO_AGENT
 * leave out those of what only hooks and the loop report, TOOLCALL_NO_SENTENCES
 * all of them. */
TCALL_API const char *tcall_error_text(int error);
/* Returns whose matter an error is: "validation", "permission", "user",
 * "system", "security", "cancelled" or "timeout". */
TCALL_API const char *tcall_error_type(int error);

/* A UTF-8 character that has begun. */
typedef struct tcall_utf_ {
    uint8_t left, low, high; /* bytes to come; bounds of the next one */
} tcall_utf_;

/* ==========================================================================
 * >>wait: what somebody who answered TCALL_E_AGAIN waits for
 *
 * Nothing in this library sleeps, and neither should a tool, a hook or a
 * transport: it answers TCALL_E_AGAIN and says what for, a handle, a time or
 * both. Only one place waits, the loop around tcall_agent_step: it sleeps until
 * the first of them comes, and looks at limits and at cancel. Whoever says
 * nothing is asked again every TCALL_WAIT_POLL_MS. Whoever waits for a person
 * answers TCALL_E_APPROVAL.
 */

/* A flag that a signal handler or an interrupt may set: it is read and written
 * in one access. */
typedef volatile uint8_t tcall_flag;

/* Handles that a wait has room for; where there are more, it is a poll. */
#ifndef TOOLCALL_MAX_HANDLES
#define TOOLCALL_MAX_HANDLES 4
#endif

enum {
    TCALL_WAIT_POLL_MS = 20,  /* where nothing was said */
    TCALL_WAIT_MOST_MS = 250, /* one sleep; then flags are looked at again */
    TCALL_EXECUTE_MS = 60000  /* tcall_execute, where nothing else was said */
};
#define TCALL_WAIT_NEVER UINT32_MAX

enum { TCALL_WAIT_READ = 1, TCALL_WAIT_WRITE = 2 };

typedef struct tcall_wait {
    uint32_t ms;   /* be called again after so long at the latest; 0: at once,
                    * TCALL_WAIT_NEVER: only the handles count */
    uint8_t count; /* of handles; the first that is ready ends the wait */
    struct {
        int handle;     /* a descriptor, or whatever the transport calls one */
        uint8_t events; /* TCALL_WAIT_READ | TCALL_WAIT_WRITE */
    } handles[TOOLCALL_MAX_HANDLES];
} tcall_wait;

/* Add to what is waited for: a time from now; a handle to become readable or
 * writable; all that another wait says. Each returns TCALL_E_AGAIN, so that a
 * tool may `return tcall_wait_ms(&cx->wait, 100);`. They are inline, so that a
 * transport can be linked without the rest of the library. */
static inline int tcall_wait_ms(tcall_wait *wait, uint32_t ms)
{
    if (ms < wait->ms)
        wait->ms = ms;
    return TCALL_E_AGAIN;
}

static inline int tcall_wait_handle(tcall_wait *wait, int handle, int events)
{
    if (wait->count == TOOLCALL_MAX_HANDLES)
        return tcall_wait_ms(wait, TCALL_WAIT_POLL_MS);
    wait->handles[wait->count].handle = handle;
    wait->handles[wait->count].events = (uint8_t)events;
    wait->count++;
    return TCALL_E_AGAIN;
}

static inline int tcall_wait_merge(tcall_wait *wait, const tcall_wait *other)
{
    int i;
    for (i = 0; i < other->count; i++)
        tcall_wait_handle(wait, other->handles[i].handle,
                          other->handles[i].events);
    return tcall_wait_ms(wait, other->ms);
}

/* ==========================================================================
 * >>block: the caller's memory
 *
 * One block with two ends. What lasts grows from its bottom; what is needed
 * only for a while is taken from its top and given back in reverse order. The
 * ends may meet, never cross.
 */

typedef struct tcall_block {
    char *base;
    size_t size;
    size_t low;  /* bytes used from the bottom */
    size_t high; /* bytes used from the top */
    size_t peak; /* most bytes ever used of both together */
    size_t need; /* after TCALL_E_MEMORY: the size that would have done, of
                    memory aligned to 8 */
} tcall_block;

/* Prepares a block of the memory at base, which must live as long. Up to 7
 * bytes at each end are left out, so that it is aligned to 8. */
TCALL_API void tcall_block_init(tcall_block *block, void *base, size_t size);

/* ==========================================================================
 * >>shape: what may come and where it goes
 *
 * A shape says of a JSON value which types, bounds, words and members it may
 * have, and where in a C struct it goes. Shapes are const nodes that stay in
 * flash. One list makes the struct and its shape at compile time; the JSON
 * Schema that a model sees is written from the shape, so what is sent and what
 * is checked cannot differ.
 *
 *     #define UNIT(WORD, me) WORD(me, celsius) WORD(me, kelvin)
 *     TCALL_CHOICE(unit, UNIT)
 *
 *     #define WEATHER(ROW, me)                                            \
 *         ROW(me, required, text(1, 40), city, "The city to look at")     \
 *         ROW(me, required, choice(unit), unit, "Unit of the answer")     \
 *         ROW(me, defaults(3), integer(1, 7), days, "Days ahead")         \
 *         ROW(me, optional, list(limits), limits, "Temperatures to watch")
 *     TCALL_SHAPE(weather, WEATHER)
 *
 * gives enum { unit_celsius, unit_kelvin }, struct weather { ... char city[41];
 * uint8_t unit; int32_t days; struct limits limits; } and weather_shape. What a
 * kind names must be made before it is used: TCALL_CHOICE (TCALL_CHOICE_AS for
 * words that are no names in C: WORD(me, one_hour, "1 hour")), TCALL_LIST(NAME,
 * kind, min, max), or TCALL_SHAPE for an object. TCALL_OPEN_SHAPE makes an
 * object whose unknown members are read over, TCALL_OPEN_LIST(NAME, kind, min,
 * room) a list that has no maximum in the schema. TCALL_EMPTY_SHAPE(NAME) and
 * TCALL_OPEN_EMPTY_SHAPE(NAME) are objects without members.
 *
 * Roles: required; optional, zero where absent; defaults(value), which the
 * kind's bounds must allow, or it does not compile. Kinds, and what becomes of
 * them in the struct:
 *
 *     boolean                  bool
 *     integer(low, high)       int32_t
 *     integer64(low, high)     int64_t
 *     fixed(digits, low, high) int32_t: 21.5 with 2 digits is 2150, and further
 *                              digits are cut off; low and high are written as
 *                              21.5 is; digits is 1 to 6. Where double has
 *                              four bytes, as on an AVR, bounds of more than
 *                              4,194,304 units are rounded
 *     number(low, high)        double; low, high and a default have at most 6
 *                              decimals
 *     number_over(low, high)   the same, but more than low; number_under(low,
 *                              high): less than high; number_between(low,
 *                              high): both
 *     text(min, max)           char[max + 1], ended by NUL: min to max bytes
 *     characters(min, max)     char[4 * max + 1]: min to max characters
 *     characters_in(min, max, room)
 *                              char[room + 1]: the same, but more than room
 *                              bytes do not fit
 *     string(min, room)        char[room + 1]: no maximum in the schema, but
 *                              more than room bytes do not fit
 *     choice(NAME)             uint8_t, the index of the word
 *     list(NAME)               struct NAME { uint16_t count; T items[max]; }
 *     object(NAME)             struct NAME
 *     json(room)               char[room + 1]: any value as its JSON text
 *     one_of(TYPES, room)      the same for the types of a set, such as
 *                              TCALL_SHAPE_STRING | TCALL_SHAPE_NUMBER
 *     or_null(kind)            as kind; null counts as not given
 *     named("as-sent", kind)   as kind; the member's name in JSON is the text
 *
 * A bound of INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, TCALL_NO_MINIMUM or
 * TCALL_NO_MAXIMUM is not said in the schema. Descriptions are plain texts. At
 * most 64 members. What the struct is at first lies in flash and is as large as
 * the struct itself, with all the room of its lists and texts. build/shapes
 * makes all this of JSON Schema.
 * TCALL_GIVEN(&args, weather, days) returns whether a member came with a value,
 * TCALL_CAME whether it came at all, be it as null.
 */

#ifndef TOOLCALL_NO_SHAPES

/* The JSON types that a value may have, as a set. */
enum {
    TCALL_SHAPE_NULL = 1,
    TCALL_SHAPE_BOOLEAN = 2,
    TCALL_SHAPE_INTEGER = 4, /* a number without a fraction, also 5.0 */
    TCALL_SHAPE_NUMBER = 8,
    TCALL_SHAPE_STRING = 16,
    TCALL_SHAPE_ARRAY = 32,
    TCALL_SHAPE_OBJECT = 64,
    TCALL_SHAPE_ANY = 127
};

/* What becomes of a value. */
typedef enum tcall_shape_kind {
    TCALL_KIND_ANY, /* nothing: it is only read over */
    TCALL_KIND_BOOLEAN,
    TCALL_KIND_INTEGER,   /* also fixed */
    TCALL_KIND_INTEGER64, /* more: its tcall_range */
    TCALL_KIND_NUMBER,    /* more: its tcall_range, in millionths */
    TCALL_KIND_TEXT,
    TCALL_KIND_CHOICE, /* more: its words, "a\0b\0" */
    TCALL_KIND_LIST,   /* more: the tcall_shape of an item */
    TCALL_KIND_OBJECT, /* more: its tcall_object */
    TCALL_KIND_JSON,
    TCALL_KIND_HOLE /* the decoder asks its caller, who fills in another */
} tcall_shape_kind;

/* What else is known of a value. */
enum {
    TCALL_MEMBER_REQUIRED = 1,
    TCALL_MEMBER_DEFAULT = 2,    /* the initial struct holds its default */
    TCALL_MEMBER_CHARACTERS = 4, /* low and high count characters, not bytes */
    TCALL_MEMBER_UNSAID = 8,     /* the schema does not say high */
    TCALL_MEMBER_OTHERS = 16,    /* choice: other words are 255, no fault */
    TCALL_MEMBER_OVER = 32,      /* a number must be more than low, */
    TCALL_MEMBER_UNDER = 64      /* or less than high */
};

/* offset of a value that is checked and kept nowhere. */
#define TCALL_NOWHERE 0xFFFF

typedef struct tcall_shape {
    uint8_t types;    /* set of TCALL_SHAPE_... */
    uint8_t kind;     /* tcall_shape_kind */
    uint8_t digits;   /* integer: digits after the point that count; list:
                         offset of the items in its struct */
    uint8_t flags;    /* set of TCALL_MEMBER_... */
    uint16_t size;    /* text, json: bytes of the member; list: of an item */
    uint16_t offset;  /* of the member in its struct */
    int32_t low;      /* of the value in units of its last digit, of bytes, */
    int32_t high;     /* characters or items; choice: index of the last word */
    const void *more; /* see tcall_shape_kind */
} tcall_shape;

/* Texts are lists in one string, "a\0b\0": pointers to each would have to be in
 * RAM on an AVR. A struct begins with two sets of bits, one bit a member: those
 * given, and those that came. */
typedef struct tcall_object {
    const char *names;
    const char *descriptions;
    const tcall_shape *members;
    const void *initial; /* the struct before anything is read */
    uint16_t size;       /* of the struct */
    uint8_t count;       /* of the members */
    bool open;           /* unknown members are read over, not refused */
} tcall_object;

/* The bounds of a wide number, in units of its last digit, and what stores it,
 * so that a program without doubles does not link their arithmetic. */
typedef struct tcall_range {
    int64_t low, high;
    bool (*store)(void *to, uint64_t digits, int exponent, bool minus);
} tcall_range;

#ifndef TOOLCALL_NO_INT64
/* Stores digits * 10^exponent. Returns false where a double is too small. */
TCALL_API bool tcall_store_double_(void *to, uint64_t digits, int exponent,
                                   bool minus);
#endif

#define TCALL_NO_MINIMUM (-1e30)
#define TCALL_NO_MAXIMUM 1e30

#define TCALL_BIT_OF_(set, index) ((set)[(index) / 8] >> (index) % 8 & 1)
#define TCALL_GIVEN(args, me, member) \
    (TCALL_BIT_OF_((args)->given_, me##_at_##member) != 0)
#define TCALL_CAME(args, me, member) \
    (TCALL_BIT_OF_((args)->came_, me##_at_##member) != 0)

/* clang-format off */

#define TCALL_SHAPE(me, ROWS)      TCALL_SHAPE_MAKE_(me, ROWS, false)
#define TCALL_OPEN_SHAPE(me, ROWS) TCALL_SHAPE_MAKE_(me, ROWS, true)
#define TCALL_SHAPE_MAKE_(me, ROWS, is_open)                                  \
    enum { ROWS(TCALL_ROW_INDEX_, me) me##_member_count };                    \
    struct me {                                                               \
        uint8_t given_[(me##_member_count + 7) / 8];                          \
        uint8_t came_[(me##_member_count + 7) / 8];                           \
        ROWS(TCALL_ROW_MEMBER_, me)                                           \
    };                                                                        \
    TCALL_HOLDS_(me##_has_more_than_64_members, me##_member_count <= 64)      \
    TCALL_HOLDS_(me##_has_more_than_65535_bytes, sizeof(struct me) <= 65535)  \
    ROWS(TCALL_ROW_HOLDS_, me)                                                \
    static const char me##_names_[] TCALL_FLASH_ = ROWS(TCALL_ROW_NAME_, me); \
    static const char me##_descriptions_[] TCALL_FLASH_ =                     \
        ROWS(TCALL_ROW_TEXT_, me);                                            \
    static const struct me me##_initial_ TCALL_FLASH_ = {                     \
        TCALL_NONE_GIVEN_ ROWS(TCALL_ROW_INITIAL_, me)};                      \
    TCALL_UNUSED_ static const struct {                                       \
        char none_; ROWS(TCALL_ROW_RANGE_, me)                                \
    } me##_ranges_ TCALL_FLASH_ = {0 ROWS(TCALL_ROW_BOUNDS_, me)};            \
    static const tcall_shape me##_members_[] TCALL_FLASH_ = {                 \
        ROWS(TCALL_ROW_NODE_, me)};                                           \
    TCALL_UNUSED_ static const tcall_object me##_shape TCALL_FLASH_ = {       \
        me##_names_, me##_descriptions_, me##_members_, &me##_initial_,       \
        sizeof(struct me), me##_member_count, is_open};

/* C has no arrays of nothing, so an object without members is made alone. */
#define TCALL_EMPTY_SHAPE(me)      TCALL_EMPTY_SHAPE_MAKE_(me, false)
#define TCALL_OPEN_EMPTY_SHAPE(me) TCALL_EMPTY_SHAPE_MAKE_(me, true)
#define TCALL_EMPTY_SHAPE_MAKE_(me, is_open)                                  \
    struct me {                                                               \
        char none_;                                                           \
    };                                                                        \
    static const char me##_names_[] TCALL_FLASH_ = "";                        \
    static const struct me me##_initial_ TCALL_FLASH_ = {0};                  \
    TCALL_UNUSED_ static const tcall_object me##_shape TCALL_FLASH_ = {       \
        me##_names_, me##_names_, NULL, &me##_initial_, sizeof(struct me), 0, \
        is_open};

#define TCALL_CHOICE(me, WORDS)                                               \
    TCALL_CHOICE_MAKE_(me, WORDS, TCALL_WORD_INDEX_, TCALL_WORD_TEXT_)
#define TCALL_CHOICE_AS(me, WORDS)                                            \
    TCALL_CHOICE_MAKE_(me, WORDS, TCALL_WORD_AS_INDEX_, TCALL_WORD_AS_TEXT_)
#define TCALL_CHOICE_MAKE_(me, WORDS, INDEX, TEXT)                            \
    enum { WORDS(INDEX, me) me##_word_count };                                \
    TCALL_HOLDS_(me##_has_more_than_254_words, me##_word_count <= 254)        \
    static const char me##_words_[] TCALL_FLASH_ = WORDS(TEXT, me);
#define TCALL_WORD_INDEX_(me, word)          me##_##word,
#define TCALL_WORD_TEXT_(me, word)           #word "\0"
#define TCALL_WORD_AS_INDEX_(me, word, text) me##_##word,
#define TCALL_WORD_AS_TEXT_(me, word, text)  text "\0"

#define TCALL_LIST(me, kind, min, max)       TCALL_LIST_(me, kind, min, max, 0)
#define TCALL_OPEN_LIST(me, kind, min, room)                                  \
    TCALL_LIST_(me, kind, min, room, TCALL_MEMBER_UNSAID)
#define TCALL_LIST_(me, kind, min, max, flags)                                \
    struct me {                                                               \
        uint16_t count;                                                       \
        TCALL_USE_(TCALL_MEMBER_OF_, kind, items[max])                        \
    };                                                                        \
    enum { me##_min_ = min, me##_max_ = max, me##_flags_ = flags };           \
    TCALL_HOLDS_(me##_has_an_unknown_kind, TCALL_IS_ROW_(TCALL_K_##kind))     \
    TCALL_UNUSED_ static const struct {                                       \
        char none_; TCALL_USE_(TCALL_RANGE_OF_, kind, item)                   \
    } me##_ranges_ TCALL_FLASH_ = {0 TCALL_USE_(TCALL_BOUNDS_OF_, kind, 0)};  \
    static const tcall_shape me##_item_ TCALL_FLASH_ =                        \
        TCALL_USE_(TCALL_NODE_OF_, kind, 0, 0, &me##_ranges_.item);

/* What does not hold is a bit-field of negative width, whose name says what.
 * Standard C has no constant comparison of floating point; compilers do. */
#ifdef __GNUC__
#define TCALL_EXTENSION_ __extension__
#else
#define TCALL_EXTENSION_
#endif
#define TCALL_WIDTH_(holds)            (holds) ? 1 : -1
#define TCALL_HOLDS_(name, holds)                                             \
    TCALL_EXTENSION_ struct name { int name : TCALL_WIDTH_(holds); };

/* What is made of one row of an object. */
#define TCALL_ROW_INDEX_(me, role, kind, name, text) me##_at_##name,
#define TCALL_ROW_MEMBER_(me, role, kind, name, text)                         \
    TCALL_USE_(TCALL_MEMBER_OF_, kind, name)
#define TCALL_ROW_HOLDS_(me, role, kind, name, text)                          \
    TCALL_EXTENSION_ struct me##_at_##name##_ {                               \
        int me##_##name##_has_an_unknown_kind                                 \
            : TCALL_WIDTH_(TCALL_IS_ROW_(TCALL_K_##kind));                    \
        int me##_##name##_has_an_unknown_role                                 \
            : TCALL_WIDTH_(TCALL_IS_ROW_(TCALL_R_##role));                    \
        int me##_##name##_has_a_default_out_of_bounds                         \
            : TCALL_WIDTH_(TCALL_USE_(TCALL_FITTING_OF_, kind, role));        \
    };
#define TCALL_ROW_NAME_(me, role, kind, name, text)                           \
    TCALL_USE_(TCALL_LABEL_OF_, kind, #name) "\0"
#define TCALL_ROW_TEXT_(me, role, kind, name, text) text "\0"
#define TCALL_ROW_INITIAL_(me, role, kind, name, text)                        \
    TCALL_USE_(TCALL_INITIAL_OF_, kind, role, name)
#define TCALL_ROW_RANGE_(me, role, kind, name, text)                          \
    TCALL_USE_(TCALL_RANGE_OF_, kind, name)
#define TCALL_ROW_BOUNDS_(me, role, kind, name, text)                         \
    TCALL_USE_(TCALL_BOUNDS_OF_, kind, 0)
#define TCALL_ROW_NODE_(me, role, kind, name, text)                           \
    TCALL_USE_(TCALL_NODE_OF_, kind, TCALL_BITS_(role),                       \
               offsetof(struct me, name), &me##_ranges_.name),

/* A kind is a row of columns, TCALL_K_..., and so is a role, TCALL_R_...:
 * TCALL_USE_(macro, kind, ...) is macro(columns of the kind, ...). What is no
 * row is replaced by one, so that a misspelt kind costs one error, which names
 * the member. */
#define TCALL_USE_(macro, kind, ...)                                          \
    TCALL_CALL_(macro, TCALL_ROW_OR_(TCALL_K_##kind, TCALL_UNKNOWN_),        \
                __VA_ARGS__)
#define TCALL_CALL_(macro, row, ...)                                          \
    TCALL_CALL_OPEN_(macro, TCALL_COLUMNS_ row, __VA_ARGS__)
#define TCALL_CALL_OPEN_(macro, ...)        macro(__VA_ARGS__)
#define TCALL_COLUMNS_(...)                    __VA_ARGS__
#define TCALL_ROW_OR_(row, other)           TCALL_ROW_IF_(TCALL_IS_ROW_(row), row, other)
#define TCALL_ROW_IF_(is, row, other)       TCALL_ROW_IF_KNOWN_(is, row, other)
#define TCALL_ROW_IF_KNOWN_(is, row, other) TCALL_ROW_IF_##is(row, other)
#define TCALL_ROW_IF_0(row, other)          other
#define TCALL_ROW_IF_1(row, other)          row
#define TCALL_IS_ROW_(row)                  TCALL_SECOND_(TCALL_PROBE_ row, 0, 0)
#define TCALL_PROBE_(...)                   0, 1
#define TCALL_SECOND_(...)                  TCALL_SECOND_OF_(__VA_ARGS__, 0)
#define TCALL_SECOND_OF_(a, b, ...)         b

/* A role: its bits, whether there is a default, the default. */
#define TCALL_R_required        (TCALL_MEMBER_REQUIRED, 0, 0)
#define TCALL_R_optional        (0, 0, 0)
#define TCALL_R_defaults(value) (TCALL_MEMBER_DEFAULT, 1, value)
#define TCALL_ROLE_(macro, role, ...)                                         \
    TCALL_ROLE_CALL_(macro, TCALL_ROW_OR_(TCALL_R_##role, TCALL_R_optional),  \
                     __VA_ARGS__)
#define TCALL_ROLE_CALL_(macro, row, ...)                                     \
    TCALL_ROLE_OPEN_(macro, TCALL_COLUMNS_ row, __VA_ARGS__)
#define TCALL_ROLE_OPEN_(macro, ...)           macro(__VA_ARGS__)
#define TCALL_BITS_(role)                      TCALL_ROLE_(TCALL_BITS_OF_, role, 0)
#define TCALL_BITS_OF_(bits, has, value, none) bits

/* The columns of a kind: type and length of the member; how a default is
 * stored and held against which bounds; the types; the node's kind, digits,
 * flags, size, low, high, more; whether it has a tcall_range, and which; whether
 * it has a name of its own in JSON, and which. */
#define TCALL_MEMBER_OF_(member, initial, types, node, range, label, name)    \
    TCALL_DECLARE_(name, TCALL_COLUMNS_ member)
#define TCALL_DECLARE_(...)                 TCALL_DECLARE_MAKE_(__VA_ARGS__)
#define TCALL_DECLARE_MAKE_(name, type, ...) type name __VA_ARGS__;

#define TCALL_LABEL_OF_(member, initial, types, node, range, label, name)     \
    TCALL_LABEL_(name, TCALL_COLUMNS_ label)
#define TCALL_LABEL_(...)                 TCALL_LABEL_MAKE_(__VA_ARGS__)
#define TCALL_LABEL_MAKE_(name, has, own) TCALL_ROW_IF_##has(own, name)

#define TCALL_RANGE_OF_(member, initial, types, node, range, label, name)     \
    TCALL_RANGE_(name, TCALL_COLUMNS_ range)
#define TCALL_RANGE_(...)                       TCALL_RANGE_MAKE_(__VA_ARGS__)
#define TCALL_RANGE_MAKE_(name, has, low, high, store) TCALL_RANGE_##has(name)
#define TCALL_RANGE_0(name)
#define TCALL_RANGE_1(name)                     tcall_range name;

#define TCALL_BOUNDS_OF_(member, initial, types, node, range, label, none)    \
    TCALL_BOUNDS_(TCALL_COLUMNS_ range)
#define TCALL_BOUNDS_(...)                 TCALL_BOUNDS_MAKE_(__VA_ARGS__)
#define TCALL_BOUNDS_MAKE_(has, low, high, store)                             \
    TCALL_BOUNDS_##has(low, high, store)
#define TCALL_BOUNDS_0(low, high, store)
#define TCALL_BOUNDS_1(low, high, store) , {low, high, store}

#define TCALL_NODE_OF_(member, initial, types, node, range, label, bits, at,  \
                       where)                                                 \
    TCALL_NODE_(types, bits, at, where, TCALL_COLUMNS_ range, TCALL_COLUMNS_ node)
#define TCALL_NODE_(...) TCALL_NODE_MAKE_(__VA_ARGS__)
#define TCALL_NODE_MAKE_(types, bits, at, where, ranged, from, to, store, kind, \
                         digits, flags, size, low, high, more)                \
    {types, kind, digits, (flags) | (bits), size, at, low, high,              \
     TCALL_ROW_IF_##ranged(where, more)}

#define TCALL_FITTING_OF_(member, initial, types, node, range, label, role)   \
    TCALL_ROLE_(TCALL_FITTING_, role, TCALL_COLUMNS_ initial)
#define TCALL_FITTING_(bits, has, value, store, fits, from, to)               \
    TCALL_FITTING_##has(value, fits, from, to)
#define TCALL_FITTING_0(value, fits, from, to) 1
#define TCALL_FITTING_1(value, fits, from, to) fits(value, from, to)

#define TCALL_INITIAL_OF_(member, initial, types, node, range, label, role,   \
                          name)                                               \
    TCALL_ROLE_(TCALL_INITIAL_, role, name, TCALL_COLUMNS_ initial)
#define TCALL_INITIAL_(bits, has, value, name, store, fits, from, to)         \
    TCALL_INITIAL_##has(value, name, store)
#ifdef __cplusplus /* C++11 has no names here, but braces that mean zero */
#define TCALL_NONE_GIVEN_ {}, {},
#define TCALL_INITIAL_0(value, name, store) {},
#define TCALL_INITIAL_1(value, name, store) store(value),
#else
#define TCALL_NONE_GIVEN_ .given_ = {0},
#define TCALL_INITIAL_0(value, name, store)
#define TCALL_INITIAL_1(value, name, store) .name = store(value),
#endif

/* How a default is held against its bounds, and how it gets into the struct. */
#define TCALL_WITHIN_(value, low, high)  ((value) >= (low) && (value) <= (high))
#define TCALL_OVER_(value, low, high)    ((value) > (low) && (value) <= (high))
#define TCALL_UNDER_(value, low, high)   ((value) >= (low) && (value) < (high))
#define TCALL_BETWEEN_(value, low, high) ((value) > (low) && (value) < (high))
#define TCALL_SIZED_(value, min, max)                                         \
    ((int)sizeof(value) > (min) && (int)sizeof(value) <= (max) + 1)
#define TCALL_FITS_NEVER_(value, low, high)  0
#define TCALL_FITS_ALWAYS_(value, low, high) 1
#define TCALL_AS_IT_IS_(value)          value
#define TCALL_AS_ZERO_(value)           0
#define TCALL_STORE_1_(value)           (int32_t)TCALL_SCALED_(value, 10.)
#define TCALL_STORE_2_(value)           (int32_t)TCALL_SCALED_(value, 100.)
#define TCALL_STORE_3_(value)           (int32_t)TCALL_SCALED_(value, 1000.)
#define TCALL_STORE_4_(value)           (int32_t)TCALL_SCALED_(value, 10000.)
#define TCALL_STORE_5_(value)           (int32_t)TCALL_SCALED_(value, 100000.)
#define TCALL_STORE_6_(value)           (int32_t)TCALL_SCALED_(value, 1000000.)
#define TCALL_SCALED_(value, scale)     ((value) * scale + ((value) < 0 ? -0.5 : 0.5))
/* Millionths; beyond 9e12 is no bound at all. */
#define TCALL_MILLIONTHS_(value)                                              \
    ((value) < -9e12  ? INT64_MIN                                             \
     : (value) > 9e12 ? INT64_MAX                                             \
                      : (int64_t)TCALL_SCALED_(value, 1000000.))

#define TCALL_UNKNOWN_                                                        \
    ((bool, ), (TCALL_AS_ZERO_, TCALL_FITS_ALWAYS_, 0, 0), TCALL_SHAPE_ANY,        \
     (TCALL_KIND_ANY, 0, 0, 0, 0, 0, NULL), (0, 0, 0, 0), (0, 0))
#define TCALL_K_boolean                                                       \
    ((bool, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, 0, 1), TCALL_SHAPE_BOOLEAN,   \
     (TCALL_KIND_BOOLEAN, 0, 0, 0, 0, 0, NULL), (0, 0, 0, 0), (0, 0))
#define TCALL_K_integer(low, high)                                            \
    ((int32_t, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, low, high),                \
     TCALL_SHAPE_INTEGER, (TCALL_KIND_INTEGER, 0, 0, 0, low, high, NULL),     \
     (0, 0, 0, 0), (0, 0))
#define TCALL_K_fixed(digits, low, high)                                      \
    ((int32_t, ), (TCALL_STORE_##digits##_, TCALL_WITHIN_, low, high),        \
     TCALL_SHAPE_NUMBER,                                                      \
     (TCALL_KIND_INTEGER, digits, 0, 0, TCALL_STORE_##digits##_(low),         \
      TCALL_STORE_##digits##_(high), NULL), (0, 0, 0, 0), (0, 0))
#ifndef TOOLCALL_NO_INT64
#define TCALL_K_integer64(low, high)                                          \
    ((int64_t, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, low, high),                \
     TCALL_SHAPE_INTEGER, (TCALL_KIND_INTEGER64, 0, 0, 0, 0, 0, NULL),        \
     (1, low, high, NULL), (0, 0))
#define TCALL_K_number(low, high)                                             \
    TCALL_NUMBER_KIND_(low, high, TCALL_WITHIN_, 0)
#define TCALL_K_number_over(low, high)                                        \
    TCALL_NUMBER_KIND_(low, high, TCALL_OVER_, TCALL_MEMBER_OVER)
#define TCALL_K_number_under(low, high)                                       \
    TCALL_NUMBER_KIND_(low, high, TCALL_UNDER_, TCALL_MEMBER_UNDER)
#define TCALL_K_number_between(low, high)                                     \
    TCALL_NUMBER_KIND_(low, high, TCALL_BETWEEN_,                             \
                       TCALL_MEMBER_OVER | TCALL_MEMBER_UNDER)
#define TCALL_NUMBER_KIND_(low, high, fits, flags)                            \
    ((double, ), (TCALL_AS_IT_IS_, fits, low, high),                          \
     TCALL_SHAPE_NUMBER, (TCALL_KIND_NUMBER, 6, flags, 0, 0, 0, NULL),        \
     (1, TCALL_MILLIONTHS_(low), TCALL_MILLIONTHS_(high),                     \
      tcall_store_double_), (0, 0))
#endif
#define TCALL_K_text(min, max)                                                \
    TCALL_TEXT_(min, max, max, 0)
#define TCALL_K_characters(min, max)                                          \
    TCALL_TEXT_(min, max, 4 * (max), TCALL_MEMBER_CHARACTERS)
#define TCALL_K_characters_in(min, max, room)                                 \
    ((char, [(room) + 1]), (TCALL_AS_IT_IS_, TCALL_SIZED_, min, room),        \
     TCALL_SHAPE_STRING,                                                      \
     (TCALL_KIND_TEXT, 0, TCALL_MEMBER_CHARACTERS, (room) + 1, min, max,      \
      NULL), (0, 0, 0, 0), (0, 0))
#define TCALL_K_string(min, room)                                             \
    TCALL_TEXT_(min, room, room, TCALL_MEMBER_CHARACTERS | TCALL_MEMBER_UNSAID)
#define TCALL_TEXT_(min, max, room, flags)                                    \
    ((char, [(room) + 1]), (TCALL_AS_IT_IS_, TCALL_SIZED_, min, max),         \
     TCALL_SHAPE_STRING,                                                      \
     (TCALL_KIND_TEXT, 0, flags, (room) + 1, min, max, NULL), (0, 0, 0, 0), (0, 0))
#define TCALL_K_choice(me)                                                    \
    ((uint8_t, ), (TCALL_AS_IT_IS_, TCALL_WITHIN_, 0, (int)me##_word_count - 1),\
     TCALL_SHAPE_STRING, (TCALL_KIND_CHOICE, 0, 0, 0, 0,      \
      (int)me##_word_count - 1, me##_words_),                              \
     (0, 0, 0, 0), (0, 0))
#define TCALL_K_list(me)                                                      \
    ((struct me, ), (TCALL_AS_IT_IS_, TCALL_FITS_NEVER_, 0, 0), TCALL_SHAPE_ARRAY, \
     (TCALL_KIND_LIST, offsetof(struct me, items), me##_flags_,               \
      sizeof(((struct me *)0)->items[0]), me##_min_, me##_max_, &me##_item_), \
     (0, 0, 0, 0), (0, 0))
#define TCALL_K_object(me)                                                    \
    ((struct me, ), (TCALL_AS_IT_IS_, TCALL_FITS_NEVER_, 0, 0), TCALL_SHAPE_OBJECT,\
     (TCALL_KIND_OBJECT, 0, 0, 0, 0, 0, &me##_shape), (0, 0, 0, 0), (0, 0))
#define TCALL_K_json(room)                                                    \
    TCALL_K_one_of(TCALL_SHAPE_ANY, room)
#define TCALL_K_one_of(set, room)                                             \
    ((char, [(room) + 1]), (TCALL_AS_IT_IS_, TCALL_FITS_NEVER_, 0, 0), set,        \
     (TCALL_KIND_JSON, 0, TCALL_MEMBER_UNSAID, (room) + 1, 0, room, NULL),    \
     (0, 0, 0, 0), (0, 0))

/* Kinds around a kind; around none they are none. */
#define TCALL_K_or_null(kind)                                                 \
    TCALL_AROUND_(TCALL_K_##kind, TCALL_OR_NULL_OF_, 0)
#define TCALL_K_named(name, kind)                                             \
    TCALL_AROUND_(TCALL_K_##kind, TCALL_NAMED_OF_, name)
#define TCALL_AROUND_(row, macro, value)                                      \
    TCALL_AROUND_IF_(TCALL_IS_ROW_(row), row, macro, value)
#define TCALL_AROUND_IF_(is, row, macro, value)                               \
    TCALL_AROUND_KNOWN_(is, row, macro, value)
#define TCALL_AROUND_KNOWN_(is, row, macro, value)                            \
    TCALL_AROUND_##is(row, macro, value)
#define TCALL_AROUND_0(row, macro, value) row
#define TCALL_AROUND_1(row, macro, value)                                     \
    TCALL_AROUND_OPEN_(macro, TCALL_COLUMNS_ row, value)
#define TCALL_AROUND_OPEN_(macro, ...) macro(__VA_ARGS__)
#define TCALL_OR_NULL_OF_(member, initial, types, node, range, label, none)   \
    (member, initial, TCALL_SHAPE_NULL | types, node, range, label)
#define TCALL_NAMED_OF_(member, initial, types, node, range, label, name)     \
    (member, initial, types, node, range, (1, name))

/* clang-format on */

#else
typedef struct tcall_object tcall_object;
#endif /* TOOLCALL_NO_SHAPES */

/* ==========================================================================
 * >>read: bytes in, checked values out
 *
 * A decoder is fed JSON in pieces of any length, even single bytes. In one pass
 * it recognises RFC 8259 strictly, checks each value against its shape and
 * stores it in the caller's struct. It keeps no text and needs no memory but
 * itself, whatever the length of the message:
 *
 *     struct weather args;
 *     tcall_decoder decoder;
 *
 *     tcall_decoder_init(&decoder, &weather_shape, &args);
 *     while ((len = receive(bytes)) > 0)
 *         tcall_decoder_feed(&decoder, bytes, len);
 *     if (tcall_decoder_end(&decoder) == TCALL_OK)
 *         run(&args);
 *
 * What does not fit its shape is noted and reading goes on, for what follows
 * may be needed to answer: the id of a request often comes after its
 * arguments. Only wrong syntax ends it. A noted misfit cannot be taken back.
 */

#ifndef TOOLCALL_NO_SHAPES

/* Objects and lists with a shape of their own that may lie within each other.
 * Deeper ones are refused as a misfit. */
#ifndef TOOLCALL_SHAPE_LEVELS
#define TOOLCALL_SHAPE_LEVELS 6
#endif

/* X(NAME, keyword, sentence): what may be wrong with a value. The keyword is
 * that of JSON Schema where there is one. In the sentence %v is the value, %u
 * says that it is under its minimum, %o that it is over its maximum; %s is what
 * to send, %r how much there is room for, %n the name of a property, and %k
 * which ones are known. */
#define TCALL_MISFITS(X)                                                \
    X(TYPE, "type", "this is of another type; send %s")                 \
    X(MINIMUM, "minimum", "%v is %u; send %s")                          \
    X(MAXIMUM, "maximum", "%v is %o; send %s")                          \
    X(ENUM, "enum", "this is not one of the allowed values; send %s")   \
    X(MIN_LENGTH, "minLength", "%v is %u; send %s")                     \
    X(MAX_LENGTH, "maxLength", "%v is %o; send %s")                     \
    X(MIN_ITEMS, "minItems", "%v is %u; send %s")                       \
    X(MAX_ITEMS, "maxItems", "%v is %o; send %s")                       \
    X(REQUIRED, "required", "the property \"%n\" is missing; add it")   \
    X(UNKNOWN, "additionalProperties",                                  \
      "a property is not known here; %kleave it out")                   \
    X(DUPLICATE, "duplicate", "this property came twice; send it once") \
    X(NUL, "nul", "the string has the character U+0000; leave it out")  \
    X(ROOM, "room", "this is more than there is room for; send %r")     \
    X(LEVELS, "levels", "objects and arrays are nested too deeply here")

typedef enum tcall_misfit_code {
    TCALL_FITS,
#define TCALL_X_(NAME, keyword, sentence) TCALL_MISFIT_##NAME,
    TCALL_MISFITS(TCALL_X_)
#undef TCALL_X_
} tcall_misfit_code;

/* One thing that is wrong, and the way to it from the root: the index of a
 * member or item at each level. The index of a member that its object does not
 * know is 0xFFFF. */
typedef struct tcall_misfit {
    uint8_t code;  /* tcall_misfit_code */
    uint8_t steps; /* of trail */
    bool exact;    /* got is the value; else it was larger or had more digits */
    uint16_t trail[TOOLCALL_SHAPE_LEVELS];
    int32_t got; /* a number that is out of bounds, in units of its shape */
} tcall_misfit;

/* An object or list with a shape that is open. */
typedef struct tcall_level_ {
    const void *what; /* the tcall_object, or the tcall_shape of a list */
    char *base;       /* its struct */
    const char *next; /* of an object: the name that most likely comes next */
    uint16_t index;   /* member or item that is read */
} tcall_level_;

/* A string that is read. Of a name or word only so much is known: with which
 * one in flash it agrees so far. */
typedef struct tcall_string_ {
    tcall_utf_ utf;
    uint8_t hex_left;           /* digits of the \u escape to come */
    uint8_t index, count, left; /* of the word; of all; of those to be tried */
    uint16_t unit;              /* the escape so far */
    uint16_t high;              /* surrogate that waits for its low one */
    const char *word;           /* that one, or NULL: none agrees */
    char *to;                   /* where a text is kept, or NULL */
    size_t len;                 /* bytes so far */
    size_t followed; /* those that are not the first of a character */
} tcall_string_;

typedef tcall_uint tcall_number_digits_;
typedef tcall_int tcall_whole_;

/* A number that is read: digits * 10^(lost + zeros - places + power). */
typedef struct tcall_number_ {
    uint8_t state;               /* in the grammar of numbers */
    bool minus, small;           /* sign of the number, of the exponent */
    int16_t lost;                /* digits after those kept, up to one not 0 */
    int16_t zeros;               /* digits after those, which are all 0 */
    int16_t places;              /* digits after the point */
    int16_t length;              /* digits in all */
    int16_t power;               /* the exponent, without its sign */
    tcall_number_digits_ digits; /* up to one not 0, as far as there is room */
} tcall_number_;

typedef struct tcall_decoder tcall_decoder;

/* What is used most lies nearest to the beginning: from there small processors
 * reach it with shorter instructions. */
struct tcall_decoder {
    int error; /* TCALL_OK; TCALL_E_INVALID after a misfit; syntax: why */
    size_t at; /* bytes accepted so far; after wrong syntax, where */
    uint8_t misfit_count; /* 255: or more; the first ones are misfits */

    /* private */
    uint8_t state, depth, levels;
    uint8_t use;     /* what becomes of the string */
    bool object;     /* the innermost open container is one */
    uint8_t keeping; /* a value is kept as its text */
    union {
        tcall_string_ string;
        tcall_number_ number;
    } now;
    const tcall_shape *shape; /* of the value that comes next or is read */
    char *base;               /* the struct that it belongs to */
    tcall_level_ *level;      /* the innermost one */
    uint8_t open[(TOOLCALL_MAX_DEPTH + 7) / 8]; /* by depth: is it an object */
    uint16_t kept;                              /* bytes of the text so far */
    tcall_level_ open_levels[TOOLCALL_SHAPE_LEVELS];

    /* public again; these are set after tcall_decoder_init. */
    /* Given every accepted byte, in pieces, in their order, for whoever wants
     * the text too. Returns TCALL_OK, or an error, which ends the reading. */
    int (*sink)(void *user, const char *bytes, size_t len);
    /* Asked at a value of kind TCALL_KIND_HOLE: sets *shape to what is to be
     * read there and *out to where its offset counts from; so far they are the
     * hole's own. */
    void (*hole)(tcall_decoder *decoder, const tcall_shape **shape, char **out);
    void *user;

    tcall_misfit misfits[TOOLCALL_MAX_FAULTS];
};

/* Prepares to read one object of this shape into its struct, which is set to
 * its defaults when the object opens. */
TCALL_API void tcall_decoder_init(tcall_decoder *decoder,
                                  const tcall_object *shape, void *out);
/* Reads on. Returns TCALL_OK while all is well; TCALL_E_INVALID after a misfit,
 * when reading goes on; or the error that ended it: TCALL_E_BAD_VALUE,
 * TCALL_E_UTF8, TCALL_E_BAD_ESCAPE, TCALL_E_DEPTH (over TOOLCALL_MAX_DEPTH),
 * TCALL_E_TRAILING, or that of the sink. */
TCALL_API int tcall_decoder_feed(tcall_decoder *decoder, const char *bytes,
                                 size_t len);
/* Ends it: nothing follows. Returns what tcall_decoder_feed does, and
 * TCALL_E_TRUNCATED where the object is not closed. Only after TCALL_OK may the
 * struct be used. */
TCALL_API int tcall_decoder_end(tcall_decoder *decoder);
/* Refuses the text whatever comes, with TCALL_E_TRUNCATED: what drove the line
 * lost a byte. Where it cannot be called at that moment, it may put the byte
 * 0xFF into the line instead, which no JSON text has. */
TCALL_API void tcall_decoder_poison(tcall_decoder *decoder);

#endif /* TOOLCALL_NO_SHAPES */

/* ==========================================================================
 * >>scan: push recogniser of JSON
 *
 * A state machine that is fed bytes in any pieces and keeps nothing of them:
 * one bit per open level, no recursion. It accepts exactly RFC 8259: UTF-8 is
 * checked, surrogates must be paired, nesting is limited. Given a path filter
 * it reports the values at the wanted paths as they pass, strings decoded.
 */

/* One row of a path filter, which is a tree written in preorder: each row
 * names its depth. The root has depth 0 and is not written. */
typedef struct tcall_path {
    uint8_t depth;
    uint8_t field; /* given to the callback; 0: only leads to other rows */
    uint8_t flags; /* TCALL_PATH_... */
    uint8_t len;   /* of its key */
} tcall_path;

/* A path filter: its rows, the last with depth 0, and their keys, one after
 * the other. */
typedef struct tcall_paths {
    const tcall_path *rows;
    const char *keys;
} tcall_paths;

/* Defines a path filter from a list of X(depth, field, flags, key). The key
 * "*" is any element of an array, "0" the first one:
 *
 * #define ROWS(X)          \
 *     X(1, 0, 0, "choices") \
 *     X(2, 0, 0, "*")       \
 *     X(3, FINISH, 0, "finish_reason")
 *
 * TCALL_PATHS(paths, ROWS)
 */
#define TCALL_PATHS(name, LIST)                                             \
    static const tcall_path name##_rows[] = {LIST(TCALL_ROW_){0, 0, 0, 0}}; \
    static const char name##_keys[] = LIST(TCALL_ROW_KEY_);                 \
    static const tcall_paths name = {name##_rows, name##_keys};
#define TCALL_ROW_(depth, field, flags, key) \
    {depth, field, flags, sizeof key - 1},
#define TCALL_ROW_KEY_(depth, field, flags, key) key

enum {
    TCALL_PATH_ALIAS_NEXT = 1, /* its inside is that of the next row, of the
                                  same depth, and is not written twice */
    TCALL_PATH_RAW = 2,  /* an object or array is reported as its JSON text,
                            also when there are rows for its inside */
    TCALL_PATH_LAST = 4, /* no other row of this depth follows: saves time */
    TCALL_PATH_ROOT = 8  /* its inside is that of the root */
};

typedef enum tcall_scan_event {
    TCALL_SCAN_BEGIN, /* a value starts; bytes: its first character */
    TCALL_SCAN_DATA,  /* decoded bytes of a string, text of anything else */
    TCALL_SCAN_END    /* the value is complete */
} tcall_scan_event;

/* Receives one event of a wanted value. A result < 0 stops the scan with that
 * error. */
typedef int (*tcall_scan_fn)(void *user, int field, tcall_scan_event event,
                             tcall_str bytes);

/* Levels of a path filter. */
#define TCALL_SCAN_LEVELS_ 9
/* Bytes of a string that are collected: longer keys match nothing. */
#define TCALL_SCAN_PIECE_ 64

typedef enum tcall_type {
    TCALL_MISSING,
    TCALL_NULL,
    TCALL_BOOL,
    TCALL_NUMBER,
    TCALL_STRING,
    TCALL_ARRAY,
    TCALL_OBJECT
} tcall_type;

/* With TOOLCALL_JSMN jsmn makes the tokens of a text that was recognised, as
 * jsmntok_t in the memory of these: the implementation needs jsmn.h, included
 * first or where the compiler finds it, and JSMN_STRICT and JSMN_PARENT_LINKS
 * defined. Without, the scanner makes the same tokens. */
#if defined TOOLCALL_JSMN && defined __GNUC__
#define TCALL_TOK_ __attribute__((may_alias))
#else
#define TCALL_TOK_
#endif

/* A value or key in an array of them; see >>json. Their order and extent are
 * those of jsmn's tokens. */
typedef struct TCALL_TOK_ tcall_tok {
    int type;  /* tcall_type and private flags */
    int start; /* in the text; of a string: its content */
    int end;   /* one past it */
    int span;  /* tokens of the whole value, itself included; of a key 1 */
    int mark;  /* private */
} tcall_tok;

typedef struct tcall_scan {
    int error;  /* the error it stopped with, or TCALL_OK */
    size_t pos; /* bytes consumed; after an error the offset of the error */

    /* private */
    uint8_t state, number, hex_left;
    uint8_t string_mode; /* TCALL_STRING_... */
    uint8_t row;         /* of the value at hand, or TCALL_SCAN_NONE_ */
    uint8_t at;          /* row of the container that is open */
    bool object;         /* it is an object */
    uint8_t piece_len;
    const tcall_path *rows;
    const char *keys;
    tcall_scan_fn on;
    void *user;
    size_t tokens;  /* values and keys seen so far */
    tcall_tok *tok; /* where they go, as many as fit */
    size_t tok_cap;
    const char *text; /* that they refer to */
    int super;        /* token of the open container */
    int last;         /* token of the value that was completed last */
    const char *lit;  /* what is left of true, false, null */
    uint16_t depth;
    uint16_t raw_depth; /* depth + 1 of the value that is reported raw */
    uint16_t hex;       /* \u escape so far */
    uint16_t high;      /* high surrogate that waits for its low one */
    bool wide;  /* a number passed that a double may not hold, as far as its
                   length and exponent say: looked at by who cares */
    bool split; /* which may come with the next string of the row */
    uint8_t half_row; /* a string of this row ended so, */
    uint16_t half;    /* with this high surrogate; 0: none */
    tcall_utf_ utf;
    uint8_t open[(TOOLCALL_MAX_DEPTH + 7) / 8]; /* 1: object, 0: array */
    uint8_t node[TCALL_SCAN_LEVELS_];           /* row of each open level */
    uint16_t below[TCALL_SCAN_LEVELS_]; /* where the keys inside it begin */
    uint16_t behind;                    /* after the key that matched last */
    uint8_t index[TCALL_SCAN_LEVELS_];  /* element, 255 and more: 255 */
    char piece[TCALL_SCAN_PIECE_]; /* of a key, or of a value with escapes */
} tcall_scan;

/* Prepares a scan. paths and on may be NULL: then it only recognises JSON. */
TCALL_API void tcall_scan_init(tcall_scan *s, const tcall_paths *paths,
                               tcall_scan_fn on, void *user);
/* Takes the next piece of the text. Returns TCALL_OK, or the error, which
 * stays. Bytes after the one value that are not white space are
 * TCALL_E_TRAILING. */
TCALL_API int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len);
/* Ends the text. Returns TCALL_OK only when exactly one whole value was seen.
 */
TCALL_API int tcall_scan_end(tcall_scan *s);

/* ==========================================================================
 * >>json: values
 *
 * JSON text in the caller's memory becomes an array of tokens: recognised by
 * and split by the scanner, decoded in place. A value is a small cursor
 * passed by copy. Getters are total: what is absent or of another type gives
 * the fallback, so a chain of them needs one check or none.
 */

typedef struct tcall_json {
    const char *text;
    const tcall_tok *tok; /* NULL: no value */
} tcall_json;

/* Parse one JSON text strictly. text must have room for len + 1 bytes and is
 * decoded in place; it and tok must live as long as the value. Returns the
 * number of tokens; TCALL_E_MEMORY when there are more than cap (*need, where
 * need is not NULL, is then the number), or what is wrong with the text
 * (*need: the offset). Duplicate keys, after decoding, are refused. */
TCALL_API int tcall_json_parse(tcall_json *out, char *text, size_t len,
                               tcall_tok *tok, size_t cap, size_t *need);

TCALL_API tcall_type tcall_json_type(tcall_json v);
/* Member of an object, element of an array, else a missing value. */
TCALL_API tcall_json tcall_json_get(tcall_json object, const char *key);
TCALL_API tcall_json tcall_json_at(tcall_json array, int index);
/* Number of members or elements, else 0. */
TCALL_API int tcall_json_count(tcall_json v);
/* for (v = tcall_json_first(all); v.tok; v = tcall_json_next(v)) visits the
 * elements of an array or the values of an object; key names the latter. */
TCALL_API tcall_json tcall_json_first(tcall_json v);
TCALL_API tcall_json tcall_json_next(tcall_json v);
TCALL_API tcall_str tcall_json_key(tcall_json v);
/* Decoded string, terminated by NUL; fallback for every other type. */
TCALL_API const char *tcall_json_string(tcall_json v, const char *fallback);
/* The same as a slice; of a number, true, false or null its text. */
TCALL_API tcall_str tcall_json_str(tcall_json v);
TCALL_API bool tcall_json_bool(tcall_json v, bool fallback);
/* Integer values (also 5.0 and 5e2); fallback for fractions and beyond range.
 */
TCALL_API int tcall_json_int(tcall_json v, int fallback);
TCALL_API int64_t tcall_json_int64(tcall_json v, int64_t fallback);
/* Fixed point without floating point: 21.5 with decimals 2 is 2150; surplus
 * digits are cut off. */
TCALL_API long tcall_json_fixed(tcall_json v, int decimals, long fallback);
/* Needs floating point, which nothing else here does. */
TCALL_API double tcall_json_double(tcall_json v, double fallback);

/* ==========================================================================
 * >>lenient: arguments as a model meant them
 *
 * Strict first. What fails is read once more from left to right, and what has
 * only one meaning is rewritten as JSON. Tolerance is lexical, never
 * structural: nothing is closed, added or left out, and a text that ends too
 * early is TCALL_E_TRUNCATED. TOOLCALL_NO_LENIENT leaves the second reading
 * out: then only strict JSON is accepted.
 */

/* What is rewritten. X(name, text): */
#define TCALL_FIXES(X)                                                        \
    X(EMPTY, "empty-args")              /* nothing at all: {} */              \
    X(NULL, "null-args")                /* null instead of {} */              \
    X(PYTHON, "python-literal")         /* True, False, None */               \
    X(SINGLE_QUOTE, "single-quote")     /* 'text' */                          \
    X(SMART_QUOTE, "smart-quote")       /* typographic quotes around text */  \
    X(APOSTROPHE, "escaped-apostrophe") /* \' */                              \
    X(CONTROL, "raw-control")           /* a line break or tab in a string */ \
    X(SPACE, "unicode-space")           /* BOM, no-break space and so on */   \
    X(COMMENT, "comment")               /* // or # or as this one */          \
    X(TRAILING_COMMA, "trailing-comma") /* [1,] */                            \
    X(UNQUOTED_KEY, "unquoted-key")     /* {a: 1} */                          \
    X(NUMBER, "number-form")            /* +5, .5, 5. */                      \
    X(FENCE, "code-fence")              /* Markdown around it */              \
    X(TAG, "tag")                       /* <tool_call>, <|im_end|> */         \
    X(EXTRA_CLOSER, "extra-closer")     /* {}} */                             \
    X(PUNCTUATION, "trailing-punct")    /* a comma after everything */        \
    X(DOUBLE_ENCODED, "double-encoded") /* "{\"a\":1}" */                     \
    X(ESCAPED_OBJECT, "escaped-object") /* {\"a\":1} */                       \
    X(REPEATED, "repeated")             /* {"a":1}{"a":1} */

enum {
#define TCALL_X_(name, text) TCALL_FIX_I_##name##_,
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
        TCALL_FIX_COUNT
};

/* A set of fixes has bit i for fix i: TCALL_FIX_COMMENT is a bit. */
enum {
#define TCALL_X_(name, text) TCALL_FIX_##name = 1L << TCALL_FIX_I_##name##_,
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
        TCALL_FIX_NONE = 0
};

/* Returns the name of fix i, "code-fence", or NULL from TCALL_FIX_COUNT on. */
TCALL_API const char *tcall_fix_name(int i);

typedef struct tcall_arguments {
    tcall_json root; /* the object; lives as long as the memory */
    uint32_t fixes;  /* TCALL_FIX_... that were needed; 0: strictly valid */
    size_t at;       /* offset in the text of the error, else of the first fix;
                      * for DUPLICATE, RANGE and an escaped NUL the offset in
                      * the rewritten text */
    size_t used;     /* bytes of mem in use; with TCALL_E_MEMORY: needed */
} tcall_arguments;

/* Parses the arguments of a call, one JSON object, into mem: tokens and a
 * decoded copy of the text. text is not changed and not referred to. With
 * strict set nothing is rewritten; the error is still that of the lenient
 * reading where it has one, since it knows better what is wrong. Returns the
 * number of tokens, or an error, and then mem holds nothing of use. NUL is
 * refused, escaped or not, because for C it would end a string before its
 * checked end. mem NULL with size 0 gives TCALL_E_MEMORY and what is needed. */
TCALL_API int tcall_parse_arguments(tcall_arguments *out, tcall_str text,
                                    bool strict, void *mem, size_t size);

/* ==========================================================================
 * >>bind: arguments as a C struct
 */

/* Arguments as a C struct. One definition gives the struct, the text of its
 * JSON Schema and the table that fills it:
 *
 *     TCALL_ARGS(weather,
 *         (required, string, city, "The city to look at"),
 *         (required, choice("celsius", "kelvin"), unit, "Unit of the answer"),
 *         (defaults, integer, days, "3", "Days ahead"),
 *         (optional, array(fixed(2), 4), limits, "Temperatures to watch"));
 *
 *     struct weather { const char *city; int unit; int days;
 *                      struct { long items[4]; int count; } limits; };
 *     static const char weather_schema[];         .parameters
 *     static const tcall_field weather_fields[];  .fields
 *
 * Rows are (role, kind, name, [default as text,] description), 32 at most.
 * Roles: required; optional, zero when absent; defaults, with the text of the
 * default. Descriptions and texts go into JSON as they stand: without quotes
 * and backslashes, but of several literals if need be. Kinds:
 *
 *     string           const char * into the arguments
 *     integer, int64   int, int64_t
 *     fixed(2)         long: 21.5 is 2150, surplus digits are cut off
 *     number           double, the only one that needs floating point
 *     boolean          bool
 *     choice("a","b")  int: the index of the text
 *     json             tcall_json, any value
 *     array(kind, 8)   up to 8 of another kind, with their count
 *     object(point, (required, ...), ...)
 *                      struct point, which has these (8 at most) rows
 */
typedef struct tcall_field tcall_field;

#ifndef TOOLCALL_NO_BIND

/* Stores the value, whose type was compared. TCALL_OK or an error. */
typedef int (*tcall_field_fn)(void *out, tcall_json v, const tcall_field *f);

struct tcall_field {
    const char *name; /* NULL ends the table */
    const char *text; /* default as text; NULL: zero */
    bool required;
    uint16_t offset;     /* of the member, or of the first item of an array */
    uint16_t size;       /* of the member or of one item */
    uint16_t count_at;   /* offset of the count of an array */
    uint16_t capacity;   /* items of an array; 0: it is none */
    tcall_field_fn read; /* one of those below; NULL: an object */
    const void *more;    /* fields of the object; choice: "\"a\",\"b\"" */
    uint8_t type;        /* tcall_type wanted; TCALL_MISSING: any */
    uint8_t decimals;    /* fixed */
};

TCALL_API int tcall_field_string_(void *out, tcall_json v,
                                  const tcall_field *f);
TCALL_API int tcall_field_integer_(void *out, tcall_json v,
                                   const tcall_field *f);
TCALL_API int tcall_field_int64_(void *out, tcall_json v, const tcall_field *f);
TCALL_API int tcall_field_fixed_(void *out, tcall_json v, const tcall_field *f);
TCALL_API int tcall_field_number_(void *out, tcall_json v,
                                  const tcall_field *f);
TCALL_API int tcall_field_boolean_(void *out, tcall_json v,
                                   const tcall_field *f);
TCALL_API int tcall_field_choice_(void *out, tcall_json v,
                                  const tcall_field *f);
TCALL_API int tcall_field_json_(void *out, tcall_json v, const tcall_field *f);

/* Objects within objects that a table may describe. */
#define TCALL_BIND_DEPTH 4

/* Fills every member that fields names; strings point into the arguments and
 * live as long. Members that are not in the table are ignored. An error is
 * TCALL_E_RANGE (does not fit the C type, or too many items), TCALL_E_NUL (a
 * string holds U+0000), TCALL_E_INVALID (absent or of another type: the schema
 * was not checked) or TCALL_E_DEPTH; path (cap bytes, may be NULL) then is
 * the JSON Pointer of the value, cut where it does not fit. */
TCALL_API int tcall_bind(void *out, tcall_json args, const tcall_field *fields,
                         char *path, size_t cap);
#define TCALL_ARGS(owner, ...)                                  \
    struct owner {                                              \
        TCALL_A_EACH_(TCALL_A_MEMBER_, owner, __VA_ARGS__)      \
    };                                                          \
    TCALL_UNUSED_ static const char owner##_schema[] =          \
        "{" TCALL_A_OBJECT_(__VA_ARGS__, TCALL_A_END_) "}";     \
    TCALL_UNUSED_ static const tcall_field owner##_fields[] = { \
        TCALL_A_EACH_(TCALL_A_FIELD_, owner, __VA_ARGS__){      \
            NULL, NULL, false, 0, 0, 0, 0, NULL, NULL, 0, 0}}

/* clang-format off */

/* How TCALL_ARGS does it. TCALL_A_EACH_ makes m(s, row) of every row, four at a
 * time; what is missing at 32 are end rows, of which m makes nothing. */
#define TCALL_A_END_  (end, , , )
#define TCALL_A_END4_ TCALL_A_END_, TCALL_A_END_, TCALL_A_END_, TCALL_A_END_
#define TCALL_A_END16_                                                         \
    TCALL_A_END4_, TCALL_A_END4_, TCALL_A_END4_, TCALL_A_END4_
#define TCALL_A_EACH_(m, s, ...) TCALL_A_EACH0_(m, s, __VA_ARGS__,             \
    TCALL_A_END16_, TCALL_A_END16_, TCALL_A_END_)
#define TCALL_A_EACH0_(m, ...) TCALL_A_EACH1_(m, __VA_ARGS__)
#define TCALL_A_EACH1_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH2_(m, s, __VA_ARGS__)
#define TCALL_A_EACH2_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH3_(m, s, __VA_ARGS__)
#define TCALL_A_EACH3_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH4_(m, s, __VA_ARGS__)
#define TCALL_A_EACH4_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH5_(m, s, __VA_ARGS__)
#define TCALL_A_EACH5_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH6_(m, s, __VA_ARGS__)
#define TCALL_A_EACH6_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH7_(m, s, __VA_ARGS__)
#define TCALL_A_EACH7_(m, s, a, b, c, d, ...)                                  \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_EACH8_(m, s, __VA_ARGS__)
#define TCALL_A_EACH8_(m, s, a, b, c, d, e, ...)                               \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_FULL_ e
/* The row behind the last must be an end: a 33rd one does not compile. */
#define TCALL_A_FULL_(role, ...) TCALL_A_FULL_##role
#define TCALL_A_FULL_end

#define TCALL_A_IF_end(...)
#define TCALL_A_IF_required(...) __VA_ARGS__
#define TCALL_A_IF_optional(...) __VA_ARGS__
#define TCALL_A_IF_defaults(...) __VA_ARGS__

/* Members. */
#define TCALL_A_MEMBER_(s, row) TCALL_A_MEMBER_ROW_ row
#define TCALL_A_MEMBER_ROW_(role, kind, name, ...)                             \
    TCALL_A_IF_##role(TCALL_A_T_##kind name;)
#define TCALL_A_T_string         const char *
#define TCALL_A_T_integer        int
#define TCALL_A_T_int64          int64_t
#define TCALL_A_T_fixed(d)       long
#define TCALL_A_T_number         double
#define TCALL_A_T_boolean        bool
#define TCALL_A_T_choice(...)    int
#define TCALL_A_T_json           tcall_json
#define TCALL_A_T_array(kind, n)                                               \
    struct { TCALL_A_T_##kind items[n]; int count; }
#define TCALL_A_T_object(s, ...) struct s

/* The table. */
#define TCALL_A_FIELD_(s, row)                                                 \
    TCALL_A_CALL_(TCALL_A_FIELD_ROW_, s, TCALL_A_BARE_ row)
#define TCALL_A_CALL_(m, ...)  m(__VA_ARGS__)
#define TCALL_A_BARE_(...)     __VA_ARGS__
#define TCALL_A_FIELD_ROW_(s, role, kind, name, ...)                           \
    TCALL_A_IF_##role({#name, TCALL_A_TEXT_##role(__VA_ARGS__, ),              \
                     TCALL_A_MUST_##role, TCALL_A_AT_##kind(s, name),          \
                     TCALL_A_READ_##kind},)
#define TCALL_A_TEXT_required(...)       NULL
#define TCALL_A_TEXT_optional(...)       NULL
#define TCALL_A_TEXT_defaults(text, ...) text
#define TCALL_A_MUST_required            true
#define TCALL_A_MUST_optional            false
#define TCALL_A_MUST_defaults            false
#define TCALL_A_ONE_(s, name)                                                  \
    offsetof(struct s, name), sizeof(((struct s *)NULL)->name), 0, 0
#define TCALL_A_MANY_(s, name)                                                 \
    offsetof(struct s, name.items), sizeof(((struct s *)NULL)->name.items[0]), \
        offsetof(struct s, name.count),                                        \
        sizeof(((struct s *)NULL)->name.items) /                               \
            sizeof(((struct s *)NULL)->name.items[0])
#define TCALL_A_AT_string           TCALL_A_ONE_
#define TCALL_A_AT_integer          TCALL_A_ONE_
#define TCALL_A_AT_int64            TCALL_A_ONE_
#define TCALL_A_AT_fixed(d)         TCALL_A_ONE_
#define TCALL_A_AT_number           TCALL_A_ONE_
#define TCALL_A_AT_boolean          TCALL_A_ONE_
#define TCALL_A_AT_choice(...)      TCALL_A_ONE_
#define TCALL_A_AT_json             TCALL_A_ONE_
#define TCALL_A_AT_array(kind, n)   TCALL_A_MANY_
#define TCALL_A_AT_object(s, ...)   TCALL_A_ONE_
#define TCALL_A_READ_string         tcall_field_string_, NULL, TCALL_STRING, 0
#define TCALL_A_READ_integer        tcall_field_integer_, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_int64          tcall_field_int64_, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_fixed(d)       tcall_field_fixed_, NULL, TCALL_NUMBER, d
#define TCALL_A_READ_number         tcall_field_number_, NULL, TCALL_NUMBER, 0
#define TCALL_A_READ_boolean        tcall_field_boolean_, NULL, TCALL_BOOL, 0
#define TCALL_A_READ_choice(...)                                               \
    tcall_field_choice_, #__VA_ARGS__, TCALL_STRING, 0
#define TCALL_A_READ_json           tcall_field_json_, NULL, TCALL_MISSING, 0
#define TCALL_A_READ_array(kind, n) TCALL_A_READ_##kind
#define TCALL_A_READ_object(s, ...) NULL, s##_fields, TCALL_OBJECT, 0

/* The schema. All properties but the first have a comma before them; the names
 * that are required become a sequence (a)(b), which is then quoted. An object
 * within needs macros of its own, since none can be used inside itself. */
#define TCALL_A_OBJECT_(row, ...)                                              \
    "\"type\":\"object\",\"properties\":{" TCALL_A_FIRST_ row TCALL_A_EACH_(   \
        TCALL_A_NEXT_, 0, __VA_ARGS__) "},\"required\":[" TCALL_A_LAST_(       \
        TCALL_A_Q0_ TCALL_A_EACH_(TCALL_A_NAME_, 0, row, __VA_ARGS__)) "],"    \
        "\"additionalProperties\":false"
#define TCALL_A_FIRST_(role, kind, name, ...)                                  \
    "\"" #name "\":{" TCALL_A_S_##kind ",\"description\":\""                   \
    TCALL_A_WORDS_##role(__VA_ARGS__) "\""                                     \
    TCALL_A_DEFAULT_##role(TCALL_A_Q_##kind, __VA_ARGS__) "}"
#define TCALL_A_NEXT_(s, row) TCALL_A_NEXT_ROW_ row
#define TCALL_A_NEXT_ROW_(role, kind, name, ...)                               \
    TCALL_A_IF_##role("," TCALL_A_FIRST_(role, kind, name, __VA_ARGS__))

#define TCALL_A_WITHIN_(row, ...)                                              \
    "\"type\":\"object\",\"properties\":{" TCALL_A_FIRST2_ row TCALL_A_FEW_(   \
        TCALL_A_NEXT2_, 0, __VA_ARGS__) "},\"required\":[" TCALL_A_LAST_(      \
        TCALL_A_Q0_ TCALL_A_FEW_(TCALL_A_NAME_, 0, row, __VA_ARGS__)) "],"     \
        "\"additionalProperties\":false"
#define TCALL_A_FIRST2_(role, kind, name, ...)                                 \
    "\"" #name "\":{" TCALL_A_S_##kind ",\"description\":\""                   \
    TCALL_A_WORDS_##role(__VA_ARGS__) "\""                                     \
    TCALL_A_DEFAULT_##role(TCALL_A_Q_##kind, __VA_ARGS__) "}"
#define TCALL_A_NEXT2_(s, row) TCALL_A_NEXT2_ROW_ row
#define TCALL_A_NEXT2_ROW_(role, kind, name, ...)                              \
    TCALL_A_IF_##role("," TCALL_A_FIRST2_(role, kind, name, __VA_ARGS__))
#define TCALL_A_FEW_(m, s, ...)                                                \
    TCALL_A_FEW0_(m, s, __VA_ARGS__, TCALL_A_END4_, TCALL_A_END4_, TCALL_A_END_)
#define TCALL_A_FEW0_(m, ...) TCALL_A_FEW1_(m, __VA_ARGS__)
#define TCALL_A_FEW1_(m, s, a, b, c, d, ...)                                   \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_FEW2_(m, s, __VA_ARGS__)
#define TCALL_A_FEW2_(m, s, a, b, c, d, e, ...)                                \
    m(s, a) m(s, b) m(s, c) m(s, d) TCALL_A_FULL_ e

#define TCALL_A_NAME_(s, row)           TCALL_A_NAME_ROW_ row
#define TCALL_A_NAME_ROW_(role, kind, name, ...) TCALL_A_NAME_##role(name)
#define TCALL_A_NAME_end(name)
#define TCALL_A_NAME_required(name)     (name)
#define TCALL_A_NAME_optional(name)
#define TCALL_A_NAME_defaults(name)
#define TCALL_A_Q0_(name)               "\"" #name "\"" TCALL_A_Q1_
#define TCALL_A_Q1_(name)               ",\"" #name "\"" TCALL_A_Q2_
#define TCALL_A_Q2_(name)               ",\"" #name "\"" TCALL_A_Q1_
#define TCALL_A_LAST_(...)              TCALL_A_LAST1_(__VA_ARGS__)
#define TCALL_A_LAST1_(...)             TCALL_A_LAST2_(__VA_ARGS__)
#define TCALL_A_LAST2_(...)             __VA_ARGS__##_END
#define TCALL_A_Q0__END
#define TCALL_A_Q1__END
#define TCALL_A_Q2__END
#define TCALL_A_WORDS_required(...)     __VA_ARGS__
#define TCALL_A_WORDS_optional(...)     __VA_ARGS__
#define TCALL_A_WORDS_defaults(d, ...)  __VA_ARGS__
#define TCALL_A_DEFAULT_required(...)
#define TCALL_A_DEFAULT_optional(...)
#define TCALL_A_DEFAULT_defaults(q, d, ...) ",\"default\":" q d q
#define TCALL_A_Q_string         "\""
#define TCALL_A_Q_integer        ""
#define TCALL_A_Q_int64          ""
#define TCALL_A_Q_fixed(d)       ""
#define TCALL_A_Q_number         ""
#define TCALL_A_Q_boolean        ""
#define TCALL_A_Q_choice(...)    "\""
#define TCALL_A_S_string         "\"type\":\"string\""
#define TCALL_A_S_integer        "\"type\":\"integer\""
#define TCALL_A_S_int64          "\"type\":\"integer\""
#define TCALL_A_S_fixed(d)       "\"type\":\"number\""
#define TCALL_A_S_number         "\"type\":\"number\""
#define TCALL_A_S_boolean        "\"type\":\"boolean\""
#define TCALL_A_S_choice(...)                                                  \
    "\"type\":\"string\",\"enum\":[" #__VA_ARGS__ "]"
#define TCALL_A_S_json                                                         \
    "\"type\":[\"object\",\"array\",\"string\",\"number\",\"boolean\",\"null\"]"
#define TCALL_A_S_array(kind, n)                                               \
    "\"type\":\"array\",\"maxItems\":" #n ",\"items\":{" TCALL_A_S_##kind "}"
#define TCALL_A_S_object(s, ...) TCALL_A_WITHIN_(__VA_ARGS__, TCALL_A_END_)

/* clang-format on */

#endif /* TOOLCALL_NO_BIND */

/* ==========================================================================
 * >>write: JSON writer
 *
 * Write on, check once: the first error stays, and the length goes on being
 * counted. The same calls write to a buffer, to a counter, or through a small
 * buffer to a sink. Commas are written by themselves.
 */

/* Takes bytes. Returns how many (> 0), TCALL_E_AGAIN when it can take none now,
 * or an error. */
typedef int (*tcall_sink)(void *user, const char *bytes, size_t len);

/* Private: where a text that a sink refused is taken up again. */
typedef struct tcall_resume_ {
    size_t part;   /* number of the part that was refused; 0: none was */
    size_t at;     /* bytes before that part */
    char last;     /* the byte before it */
    size_t stored; /* bytes of the text that need not be stored again */
} tcall_resume_;

typedef struct tcall_writer {
    char *buf;
    size_t cap;
    size_t fill; /* bytes in buf */
    size_t len;  /* bytes written in all, those that did not fit included */
    int error;   /* the first one, or TCALL_OK */

    /* private */
    tcall_sink sink;
    void *user;
    tcall_resume_ *resume; /* NULL: the text is written from its start */
    size_t parts;          /* parts begun */
    uint8_t in_part;       /* parts that are open */
    uint8_t quoted;        /* quotes that are open: bytes are escaped */
    char last;             /* the last byte: it says whether a comma is due */
    uint16_t depth;        /* open brackets: outside of them are no commas */
} tcall_writer;

/* Prepares a writer to a buffer. What does not fit is TCALL_E_MEMORY, and len
 * says how much is needed. buf NULL with cap 0 only counts. */
TCALL_API void tcall_writer_init(tcall_writer *writer, char *buf, size_t cap);
/* Sends the output to a sink instead; buf then only collects small pieces. */
TCALL_API void tcall_writer_sink(tcall_writer *writer, tcall_sink sink,
                                 void *user);
/* Sends what is collected. Returns the first error of all, or TCALL_OK. */
TCALL_API int tcall_writer_flush(tcall_writer *writer);

/* Writes bytes as they are: no quotes, no commas. Each function from here on
 * returns the first error so far, or TCALL_OK. */
TCALL_API int tcall_write_text(tcall_writer *writer, const char *text);
TCALL_API int tcall_write_bytes(tcall_writer *writer, const char *bytes,
                                size_t len);
/* Writes a text that lies in flash, as those of shapes do. A literal does so on
 * an AVR only if it is written with TCALL_SAY(writer, "on"). */
TCALL_API int tcall_write_flash(tcall_writer *writer, const char *text);
#define TCALL_SAY(writer, literal) \
    tcall_write_flash(writer, TCALL_FLASH_TEXT_(literal))

/* Opens '{' or '[', closes '}' or ']'. */
TCALL_API int tcall_write_open(tcall_writer *writer, char bracket);
TCALL_API int tcall_write_close(tcall_writer *writer, char bracket);
TCALL_API int tcall_write_key(tcall_writer *writer, const char *key);
/* Writes a string. Bytes that are not UTF-8 become U+FFFD. */
TCALL_API int tcall_write_string(tcall_writer *writer, const char *text);
TCALL_API int tcall_write_str(tcall_writer *writer, tcall_str text);
TCALL_API int tcall_write_int(tcall_writer *writer, tcall_int value);
TCALL_API int tcall_write_uint(tcall_writer *writer, tcall_uint value);
/* Writes value / 10^decimals without floating point: (2150, 2) is 21.50. At
 * most 20 decimals. */
TCALL_API int tcall_write_fixed(tcall_writer *writer, tcall_int value,
                                int decimals);
/* Writes the fewest digits that read back as the same number. JSON has no
 * infinities and no NaN: these are TCALL_E_RANGE. */
TCALL_API int tcall_write_double(tcall_writer *writer, double value);
TCALL_API int tcall_write_bool(tcall_writer *writer, bool value);
TCALL_API int tcall_write_null(tcall_writer *writer);
/* Writes a parsed value as compact JSON text, in its own order. */
TCALL_API int tcall_write_json(tcall_writer *writer, tcall_json value);
/* Writes JSON text as it is, as a value. */
TCALL_API int tcall_write_verbatim(tcall_writer *writer, tcall_str json);
/* Begins and ends one JSON string whose content is all that is written in
 * between. Within one there may be a second one. */
TCALL_API int tcall_write_quote(tcall_writer *writer);
TCALL_API int tcall_write_unquote(tcall_writer *writer);

/* ==========================================================================
 * >>shape_text: a shape as JSON Schema, a struct as JSON, a misfit in words
 *
 * JSON Schema has no bytes, so that minLength and maxLength of text(min, max)
 * are characters there: a text of other letters than ASCII may be refused for
 * its bytes though the schema allows it. Use characters(min, max) where that
 * matters.
 */

#ifndef TOOLCALL_NO_SHAPES

/* Writes the JSON Schema (draft 2020-12) of an object: what the decoder
 * accepts, with descriptions and defaults. What may be null is written as
 * anyOf, which every provider and MCP client accepts. Returns as
 * tcall_write_... do. */
TCALL_API int tcall_write_shape(tcall_writer *writer,
                                const tcall_object *shape);
/* Writes the struct as a JSON object: the members that came, one that came as
 * null as null, and those that have a default. An item of a list that came as
 * null is not told from zero. TCALL_E_DEPTH: a value lies deeper than
 * TOOLCALL_SHAPE_LEVELS. */
TCALL_API int tcall_write_struct(tcall_writer *writer,
                                 const tcall_object *shape, const void *args);
/* Writes place, what is wrong and what to send instead: "/days: 9 is over the
 * maximum 7; send an integer from 1 to 7". The first `from` steps of the
 * misfit's way lead to the shape. With TOOLCALL_NO_SENTENCES it is place and
 * keyword: "/days: maximum". */
TCALL_API int tcall_write_misfit(tcall_writer *writer,
                                 const tcall_misfit *misfit,
                                 const tcall_object *shape, uint8_t from);

#endif /* TOOLCALL_NO_SHAPES */

/* ==========================================================================
 * >>pattern: regular expressions
 *
 * A pattern is compiled to a small program, which is run over a text with all
 * of its states at once: a character costs time in proportion to the size of
 * the pattern, whatever both are, and nothing is ever tried a second time.
 *
 * The syntax is that of ECMA-262 without what has no linear time:
 *   . ^ $ \b \B (a|b) (?:a) [a-z] [^a-z] \d \w \s \D \W \S \t \n \r \f \v \0
 *   \xHH \uHHHH a* a+ a? a{2} a{2,} a{2,5}, and lazy forms of these
 * Look-around, back references, \p and named groups are refused, and so are
 * more than 6 groups within each other. Characters are code points; . does not
 * match the ends of lines.
 */

/* One step of the program of a pattern or a schema: 8 bytes, no pointers, free
 * to be moved. */
typedef struct tcall_node_ {
    uint32_t word; /* what, and where it comes from */
    uint32_t arg;
} tcall_node_;

#ifndef TOOLCALL_NO_PATTERN

/* Size of a pattern: its characters, counted repetitions written out; at most
 * 4,000. */
#ifndef TOOLCALL_MAX_PATTERN
#define TOOLCALL_MAX_PATTERN 1024
#endif

enum {
    TCALL_PATTERN_FOLD = 1,   /* A to Z are a to z */
    TCALL_PATTERN_ESCAPED = 2 /* the text is the content of a JSON string */
};

typedef struct tcall_pattern {
    const char *reason; /* why it was refused, or NULL */
    size_t at;          /* where in its text */
    size_t need;        /* bytes of its program */
    /* private */
    const tcall_node_ *program;
    uint32_t count; /* of nodes */
    uint32_t states;
    unsigned flags;
} tcall_pattern;

/* One text that is searched. Zero begins a new one. */
typedef struct tcall_search {
    void *memory; /* tcall_pattern_memory(pattern) bytes */
    /* private */
    int32_t before; /* the last character */
    bool begun;
} tcall_search;

/* Compiles a pattern into mem, which is aligned to 4 and stays. Returns the
 * bytes used, TCALL_E_MEMORY (out->need bytes do; mem may be NULL, size 0, to
 * ask), or TCALL_E_INVALID with out->reason and out->at. */
TCALL_API int tcall_pattern_compile(tcall_pattern *out, tcall_str text,
                                    unsigned flags, void *mem, size_t size);
/* Returns how many bytes of memory a search takes. */
TCALL_API size_t tcall_pattern_memory(const tcall_pattern *pattern);
/* Searches the next piece of a text, which holds whole characters; last: the
 * text ends with it. Returns where the first match ends, as early as that is
 * certain, or NULL: none yet. Bytes that are no UTF-8 are matched by [^...]
 * only. */
TCALL_API const char *tcall_pattern_find(const tcall_pattern *pattern,
                                         tcall_search *search, tcall_str piece,
                                         bool last);

#endif /* TOOLCALL_NO_PATTERN */

/* ==========================================================================
 * >>schema: JSON Schema
 *
 * A schema is compiled to a small program that points back into the schema's
 * own text (which may lie in flash and must stay where it is), and a parsed
 * value is checked against that program: no heap, no recursion, a bounded
 * number of steps. An assertion that is not supported, or malformed, refuses
 * the whole schema; nothing is ever silently dropped.
 *
 *   eager  compile once, into memory that stays, and keep the schema:
 *            n = tcall_schema_compile(&schema, text, mem, size, draft);
 *            n >= 0: keep n bytes of mem; n < 0: schema.reason, schema.need
 *   lazy   compile into scratch memory before each check
 *   check  check.memory = scratch; check.errors = room for a few;
 *          check.coerce = true;
 *          r = tcall_schema_check(&schema, value, &check);
 *          TCALL_E_INVALID: tcall_write_validation_errors(...)
 *          TCALL_OK and check.coerced > 0: log tcall_write_coercions(&w,
 * value), write what was meant with tcall_write_json(&w, value), parse that and
 * check it once more with coerce = false: only that result counts
 *
 * A schema that was refused, or is zero, accepts nothing.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* The draft of a schema that has no $schema. Of $schema the URIs of these are
 * known, with or without an empty fragment; others are refused. */
typedef enum tcall_draft {
    TCALL_DRAFT_2020,
    TCALL_DRAFT_2019,
    TCALL_DRAFT_7,
    TCALL_DRAFT_6,
    TCALL_DRAFT_4
} tcall_draft;

/* The nodes, comparisons and characters that one check may cost. */
#ifndef TOOLCALL_MAX_STEPS
#define TOOLCALL_MAX_STEPS 1000000
#endif

/* The schemas that may be at work inside each other; each takes 48 bytes of
 * scratch memory. */
#ifndef TOOLCALL_MAX_FRAMES
#define TOOLCALL_MAX_FRAMES 512
#endif

typedef struct tcall_schema {
    const char *text;
    size_t need;        /* bytes of program, also when they did not fit */
    const char *reason; /* why it was refused, or NULL */
    const char *remedy; /* what its author can do, or NULL */
    size_t at;          /* where in the text the reason is */
    /* private */
    const tcall_node_ *program;
    uint32_t nodes;
    uint32_t search; /* scratch memory that its largest pattern takes */
} tcall_schema;

/* Compiles a schema: text is one JSON value, an object, true or false, and
 * outlives *out. Returns the bytes of mem used, a multiple of 4; TCALL_E_MEMORY
 * when out->need bytes are wanted (mem may be NULL and size 0, to ask); or
 * TCALL_E_SCHEMA, and tcall_write_schema_error says what to change. */
TCALL_API int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                                   size_t size, tcall_draft draft);
/* Writes why a schema was refused as one line of text: the place as a JSON
 * Pointer, what is wrong there, and what its author can do:
 *   /properties/x/type: unknown type "dict"; use object, array, string, ... */
TCALL_API int tcall_write_schema_error(tcall_writer *w,
                                       const tcall_schema *schema);

/* One thing that is wrong with a value. */
typedef struct tcall_validation_error {
    uint32_t tok; /* the token concerned, counted from the value */
    /* private */
    uint32_t node;
    uint32_t count; /* what was counted: characters, elements, matches ... */
    uint32_t keyword;
} tcall_validation_error;

typedef struct tcall_check {
    void *memory; /* scratch: a few frames; 1 KB is plenty for most */
    size_t size;
    tcall_validation_error *errors; /* may be NULL */
    size_t error_cap;
    bool coerce;        /* accept "5" for 5 and the like, see below */
    size_t error_count; /* out: how many there were, stored or not */
    size_t coerced;     /* out: how many values were marked */
    size_t need;        /* out: scratch memory used, or wanted at least */
} tcall_check;

/* Checks a value. Returns TCALL_OK; TCALL_E_INVALID with check->errors; or
 * TCALL_E_SCHEMA (it was refused), TCALL_E_MEMORY, TCALL_E_DEPTH or
 * TCALL_E_BUDGET, which all mean that the value is not accepted.
 *
 * With coerce, a string that has the wrong type may be the text of the value
 * that was meant: of a number, true, false, True, False, an array or an object,
 * where no string is allowed. And null for an optional property may mean that
 * it is absent. Of several alternatives exactly one must accept it. Such values
 * are only marked; see above what to do. */
TCALL_API int tcall_schema_check(const tcall_schema *s, tcall_json value,
                                 tcall_check *check);

/* Writes {"path":"/days","keyword":"maximum","message":"9 is over the maximum
 * 7; send a number from 1 to 7"} for the model to read: path is a JSON Pointer
 * to the value, message names it, the rule, and what to send instead. Long
 * values are cut. */
TCALL_API int tcall_write_validation_error(tcall_writer *w,
                                           const tcall_schema *schema,
                                           tcall_json value,
                                           const tcall_validation_error *error);
/* Writes all errors that were stored, as an array. */
TCALL_API int tcall_write_validation_errors(tcall_writer *w,
                                            const tcall_schema *s,
                                            tcall_json value,
                                            const tcall_check *check);
/* Writes what coercion made of a value: [{"path":"/n","from":"5","to":5}]. A
 * member that was dropped has no "to". */
TCALL_API int tcall_write_coercions(tcall_writer *w, tcall_json value);

#endif /* TOOLCALL_NO_SCHEMA */

/* ==========================================================================
 * >>chat: the conversation
 *
 * A list of items in the order in which they were said, whoever the provider
 * is. A turn is what the user said and all that follows, up to the next time
 * the user speaks. History is shortened by whole turns from the oldest on, so
 * that a call and its result are never parted.
 */

typedef enum tcall_kind {
    TCALL_ITEM_USER,     /* text */
    TCALL_ITEM_TEXT,     /* text of the model */
    TCALL_ITEM_CALL,     /* id, name, text: the arguments as they came */
    TCALL_ITEM_RESULT,   /* id, name, text; error */
    TCALL_ITEM_REASONING /* text, signature; name: the provider it is from,
                            the only one that gets it back; a text that has
                            a signature has that name as well */
} tcall_kind;

/* One thing said in a conversation. */
typedef struct tcall_item {
    uint8_t kind; /* tcall_kind */
    /* Of a result: why the call failed. Of a call: it must not run,
     * TCALL_E_CUT, TCALL_E_MEMORY (its arguments were too large to keep) or
     * TCALL_E_UNHANDLED (they came in a form that is not read). Arguments that
     * end too early without a word of the provider are found by tcall_hydrate.
     */
    int error;
    tcall_str id; /* of a call, and of its result */
    tcall_str name;
    /* The provider's signature of a reasoning, call or text; goes back with
     * the item, to the byte. */
    tcall_str signature;
    tcall_str text;
    bool synthetic_id; /* the provider gave no id, this one was made up */
    bool raw; /* reasoning: text is the provider's own data, no words */
    bool reasoning_dropped; /* reasoning or signature did not fit the block */
    bool is_unsigned; /* call: of a provider that signs them, which gave no
                       * signature for this one */
    bool is_object;   /* call: text is one JSON object; set by tcall_chat_add */
} tcall_item;

/* The items lie one after the other at the end of the lower part of a block. */
typedef struct tcall_chat {
    tcall_block *block;
    size_t start;
    uint32_t made; /* ids made up so far */
} tcall_chat;

/* Begins an empty conversation. Nothing else may be taken from the lower part
 * of the block afterwards. */
TCALL_API void tcall_chat_init(tcall_chat *chat, tcall_block *block);
/* Adds a copy of the item at the end. Returns TCALL_OK, or TCALL_E_MEMORY and
 * nothing was added. */
TCALL_API int tcall_chat_add(tcall_chat *chat, const tcall_item *item);
/* Gives the item at *at and moves *at to the next one; returns false at the
 * end. Begin with *at = 0. The slices stay valid until the conversation
 * changes. */
TCALL_API bool tcall_chat_next(const tcall_chat *chat, size_t *at,
                               tcall_item *item);
/* Drops the oldest turn. Returns false if there is only one. */
TCALL_API bool tcall_chat_drop(tcall_chat *chat);
/* Drops oldest turns until so many bytes of the block are free. Returns false
 * if the last turn is in the way. */
TCALL_API bool tcall_chat_make_room(tcall_chat *chat, size_t bytes);

/* ==========================================================================
 * >>tools: definitions and the registry
 *
 * A tool is a row of a const table: it can stay in flash. What is missing in
 * the row is zero, and zero is always the careful choice.
 */

typedef struct tcall_ctx tcall_ctx;
typedef struct tcall_call tcall_call;

/* What a tool does to the world. Declare what applies; a tool that declares
 * nothing counts as doing everything. */
enum {
    TCALL_READ = 1,     /* looks at things: files, sensors, state */
    TCALL_WRITE = 2,    /* changes them */
    TCALL_EXECUTE = 4,  /* runs programs */
    TCALL_NETWORK = 8,  /* reaches other machines */
    TCALL_ACTUATE = 16, /* moves or switches something physical */
    TCALL_EVERYTHING = 31
};

/* What becomes of calls of a tool without a schema, whose arguments nobody
 * checks. */
typedef enum tcall_no_schema {
    TCALL_NO_SCHEMA_READ_ONLY, /* runs if the tool only reads, else asks */
    TCALL_NO_SCHEMA_APPROVAL,  /* always asks */
    TCALL_NO_SCHEMA_FULL       /* runs like any other */
} tcall_no_schema;

typedef enum tcall_safety {
    TCALL_SAFETY_DERIVED, /* safe when it only reads */
    TCALL_SAFETY_SAFE,
    TCALL_SAFETY_UNSAFE
} tcall_safety;

/* The stages of a call, in this order. What the library does itself at a
 * stage comes after its hooks: permissions after WILL_AUTHORIZE, approval
 * after WILL_CHECK_CONSENT, a call that hydration refused fails after
 * WILL_VALIDATE_INPUT, and so does output after WILL_VALIDATE_OUTPUT.
 * X(NAME, name, when): */
#define TCALL_STAGES(X)                                           \
    X(WILL_BIND_SERVICES, "will_bind_services", GOING)            \
    X(WILL_CREATE_CONTEXT, "will_create_context", GOING)          \
    X(DID_CREATE_CONTEXT, "did_create_context", DID_GOING)        \
    X(WILL_AUTHORIZE, "will_authorize", GOING)                    \
    X(WILL_CHECK_CONSENT, "will_check_consent", GOING)            \
    X(WILL_CHECK_FLAGS, "will_check_feature_flags", GOING)        \
    X(WILL_ACQUIRE_QUOTA, "will_acquire_quota", GOING)            \
    X(WILL_ACQUIRE_SEMAPHORE, "will_acquire_semaphore", GOING)    \
    X(WILL_PARSE_INPUT, "will_parse_input", GOING)                \
    X(WILL_VALIDATE_INPUT, "will_validate_input", GOING)          \
    X(WILL_NORMALIZE_INPUT, "will_normalize_input", GOING)        \
    X(WILL_REDACT_INPUT, "will_redact_input", GOING)              \
    X(WILL_INJECT_SECRETS, "will_inject_secrets", GOING)          \
    X(WILL_READ_CACHE, "will_read_cache", GOING)                  \
    X(DID_CACHE_HIT, "did_cache_hit", DID_HIT)                    \
    X(DID_CACHE_MISS, "did_cache_miss", DID_GOING)                \
    X(AROUND_EXECUTE, "around_execute", GOING)                    \
    X(WILL_EXECUTE, "will_execute", INNER)                        \
    X(DID_EXECUTE, "did_execute", DID_INNER)                      \
    X(ON_RETRY, "on_retry", INNER)                                \
    X(ON_GIVE_UP, "on_give_up", INNER)                            \
    X(WILL_WRITE_CACHE, "will_write_cache", WELL)                 \
    X(WILL_REDACT_OUTPUT, "will_redact_output", WELL)             \
    X(WILL_VALIDATE_OUTPUT, "will_validate_output", WELL)         \
    X(WILL_TRANSFORM_OUTPUT, "will_transform_output", WELL)       \
    X(WILL_AUDIT, "will_audit", ALWAYS)                           \
    X(DID_AUDIT, "did_audit", DID_ALWAYS)                         \
    X(ON_METRICS, "on_metrics", ALWAYS)                           \
    X(DID_RELEASE_SEMAPHORE, "did_release_semaphore", DID_ALWAYS) \
    X(DID_RELEASE_QUOTA, "did_release_quota", DID_ALWAYS)         \
    X(ON_ERROR, "on_error", FAILED)                               \
    X(WILL_FINALIZE, "will_finalize", ALWAYS)

typedef enum tcall_stage {
#define TCALL_X_(NAME, name, when) TCALL_##NAME,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
        TCALL_STAGE_COUNT
} tcall_stage;

/* "will_authorize"; NULL from TCALL_STAGE_COUNT on. */
TCALL_API const char *tcall_stage_name(int stage);

/* A function that is called at a stage: a row of a const table. Higher
 * priority comes earlier, at did_... stages later; equal ones in the order of
 * the tables, those of the registry before those of the tool.
 *
 * run returns TCALL_OK, or `return tcall_respond(cx, text)`, tcall_abort or
 * tcall_retry_after, or an error, which fails the call. Up to the run of the
 * tool it may answer TCALL_E_AGAIN and is called again at the next
 * tcall_invoke. At TCALL_AROUND_EXECUTE it calls tcall_next(cx), once for
 * each attempt, and returns what that returned.
 *
 * Stages from TCALL_WILL_AUDIT on see every call, also one whose tool is
 * unknown (cx->call->tool is NULL) or that failed, and all of their hooks run
 * even where one fails. A hook of a release stage runs when the acquiring hook
 * with the same user did, or when there is none with it; where more share a
 * user, as many release as did acquire. */
typedef struct tcall_hook {
    const char *name; /* for errors, history and logs */
    uint8_t stage;    /* tcall_stage */
    int16_t priority;
    int (*run)(tcall_ctx *cx, void *user);
    bool (*filter)(const tcall_ctx *cx, void *user); /* NULL: every call */
    void *user;
} tcall_hook;

/* Something that hooks and tools look up by name: tcall_find_service. */
typedef struct tcall_service {
    const char *name;
    void *object;
    struct tcall_service *next; /* private */
} tcall_service;

/* On whose behalf a call is made. */
typedef struct tcall_session {
    tcall_str id, request, agent, user;
    tcall_service *services; /* private: bound with TCALL_SCOPE_SESSION */
} tcall_session;

/* Does the work. args have been checked against the schema or shape. Writes the
 * answer for the model to out: text (tcall_write_text) or JSON; what does not
 * fit is cut, and the model is told so. Returns TCALL_OK, an error, with the
 * reason in words in out, or TCALL_E_AGAIN to be called again: cx->wait is to
 * say when, as in `return tcall_wait_ms(&cx->wait, 100);`. */
typedef int (*tcall_run)(tcall_ctx *cx, tcall_json args, tcall_writer *out);

typedef struct tcall_tool {
    const char *name;  /* a letter or _, then A-Z a-z 0-9 _ -; <= 64 in all */
    const char *title; /* for people; default: the name */
    const char *description; /* for the model: what it does and when */
    const char *tags;        /* words for choosing it, separated by spaces */
    const char *parameters;  /* JSON Schema text of the arguments, an object */
    const char *output;      /* JSON Schema text of the result; default: any */
    const char *provider_schema; /* sent in place of parameters; the check
                                    stays with parameters */
    tcall_run run;
    const tcall_field *fields; /* arguments as a C struct: cx->bound */
    size_t args_size;          /* sizeof that struct */
    /* Says what the arguments are in place of parameters, fields and
     * args_size: the schema is written from it, and cx->bound is its struct. */
    const tcall_object *shape;
    void *user;              /* for run: cx->user */
    const tcall_hook *hooks; /* of this tool only */
    uint16_t hook_count;
    uint8_t permissions;          /* needed, TCALL_READ | ... */
    uint8_t optional_permissions; /* used if allowed */
    uint8_t safe;                 /* tcall_safety */
    uint8_t no_schema_mode;       /* tcall_no_schema */
    bool allow_no_schema; /* neither parameters nor shape: nothing is checked */
    bool strict;          /* ask the provider to hold the model to the schema */
    bool confirm;         /* ask for approval before each run */
    bool streaming;       /* gives output as it goes */
    bool idempotent;      /* a second run of a call changes nothing more; only
                           * such tools, and those that only read, are retried */
    bool allow_repeat;    /* the same call may be made again in a turn, as of
                           * a clock: see TCALL_LOOPS */
    bool pinned;          /* always among the picks */
    uint16_t roles;       /* bits: who may see it; default: everyone */
    uint16_t groups;      /* bits: what it belongs to; default: everything */
    uint16_t cost;        /* in units of your own */
    const char *provided_by; /* whose it is, where it came from elsewhere */
} tcall_tool;

/* A whole row for a tool with a shape; texts are in flash, so that on an AVR
 * such a row is only for a server without a registry: see TCALL_TOOLS. */
#define TCALL_TOOL_(name, description, shape, run, permissions, confirm)       \
    {                                                                          \
        name, NULL, description, NULL, NULL, NULL, NULL, run, NULL, 0, shape,  \
            NULL, NULL, 0, permissions, 0, 0, 0, false, false, confirm, false, \
            false, false, false, 0, 0, 0, NULL                                 \
    }

/* Number of rows of a table. */
#define TCALL_ARRAY_LEN(table) (sizeof(table) / sizeof((table)[0]))
/* Raw JSON in C source, without backslashes. */
#define TCALL_JSON(...) #__VA_ARGS__

/* A validator in place of the built-in one. check returns TCALL_OK, or
 * TCALL_E_INVALID after writing what is wrong, for the model, to why. */
typedef struct tcall_validator {
    const char *name;
    const char *version;
    int (*check)(void *user, const tcall_tool *tool, tcall_json args,
                 tcall_writer *why);
    void *user;
} tcall_validator;

typedef enum tcall_verdict {
    TCALL_VERDICT_DENY,
    TCALL_VERDICT_ALLOW,
    TCALL_VERDICT_LATER /* the call waits: TCALL_E_APPROVAL */
} tcall_verdict;

typedef enum tcall_event_kind {
    TCALL_EVENT_HYDRATED, /* the call was checked: call->error */
    TCALL_EVENT_REPAIR,   /* the one repair was tried; text: what came of it */
    TCALL_EVENT_APPROVAL, /* approval is asked for */
    TCALL_EVENT_START,    /* tcall_invoke begins; one END follows each */
    TCALL_EVENT_OUTPUT,   /* text: a piece of output */
    TCALL_EVENT_END,      /* the call has its result: text, error */
    TCALL_EVENT_TEXT,     /* text: a piece of the model's answer */
    TCALL_EVENT_REQUEST,  /* bytes: length of its body; tools: sent */
    TCALL_EVENT_ANSWER,   /* status, bytes, error; text: the provider's */
    TCALL_EVENT_VERDICT,  /* approval was given or denied: verdict */
    TCALL_EVENT_PROGRESS, /* text: what is being done */
    TCALL_EVENT_ERROR,    /* the call failed: error; END follows */
    TCALL_EVENT_RETRY,    /* one more attempt, of the call or, without one, of
                           * the request, in ms: error of the last one */
    TCALL_EVENT_PICK,     /* tools: chosen; bytes: tcall_pick_saved */
    TCALL_EVENT_PIECE,    /* item: a piece of a call as it comes, unchecked */
    TCALL_EVENT_TURN,     /* a turn of an agent begins; one TURN_END follows */
    TCALL_EVENT_TURN_END  /* text: the answer; error: what ended it */
} tcall_event_kind;

typedef struct tcall_event {
    tcall_event_kind kind;
    const tcall_call *call; /* NULL where it concerns none */
    const struct tcall_item *item;
    const struct tcall_turn *turn; /* that begins or ends, else NULL */
    tcall_str text;
    int error;
    int verdict;
    int status; /* HTTP */
    size_t bytes;
    size_t tools;
    uint32_t ms; /* time taken, where there is a clock */
} tcall_event;

/* Somebody who is told of events; the caller's until tcall_unsubscribe. */
typedef struct tcall_listener {
    void (*on_event)(void *user, const tcall_event *event);
    void *user;
    uint32_t kinds; /* 1 << TCALL_EVENT_... of each kind wanted; 0: all */
    struct tcall_listener *next; /* private */
} tcall_listener;

/* Everything a registry needs, in one place. Zero is the default. */
typedef struct tcall_desc {
    void *block; /* memory for everything; must outlive the tcall */
    size_t block_size;
    const tcall_tool *tools;
    size_t tool_count; /* at most 65,535 */
    tcall_tool *rows;  /* room for tools that come at run time: tcall_add */
    size_t row_count;  /* of these, those of tools included */
    uint8_t allow;     /* permissions given: TCALL_READ | ...; default none */
    bool lazy_schemas; /* compile a schema only while a call is checked */
    bool strict_json;  /* refuse arguments that are not strict JSON */
    bool strict_types; /* refuse "5" for an integer and the like */
    const tcall_validator *validator; /* default: the built-in one */
    /* Asked for tools that need it. NULL: such calls are denied. */
    tcall_verdict (*approve)(void *user, const tcall_call *call);
    /* One try to repair arguments that were refused: writes JSON text to out
     * and returns TCALL_OK. What it wrote is not trusted. A call that was cut
     * is not repaired: nobody knows what was meant. NULL: no repair. */
    int (*repair)(void *user, const tcall_call *call, tcall_writer *out);
    void (*on_event)(void *user, const tcall_event *event);
    uint32_t (*now_ms)(void *user); /* monotonic, wraps; NULL: no times */
    /* Sleeps until what is waited for, for tcall_execute; see >>wait. */
    void (*wait)(void *user, const tcall_wait *wait);
    uint32_t max_wait_ms;    /* of tcall_execute; default: TCALL_EXECUTE_MS */
    const tcall_hook *hooks; /* of every call */
    uint16_t hook_count;
    const tcall_service *services; /* global: an array, never written to */
    size_t service_count;
    tcall_session *session; /* of calls that have none of their own */
    uint64_t hash_key[2];   /* of all hashes: random and secret, where others
                             * may want to forge what an approval is bound to */
    tcall_writer *report;   /* tcall_init and tcall_add write one line here for
                             * each fault of a table; NULL: none */
    void *user;             /* for all of the above */
} tcall_desc;

/* The hooks of a registry, or of it and one of its tools, in the order of
 * their calls. */
typedef struct tcall_order_ {
    const tcall_hook **hooks;
    uint16_t count, room;
    uint32_t stages; /* those that have hooks, bits */
} tcall_order_;

typedef struct tcall {
    tcall_desc desc;
    tcall_block block;
    uint16_t repairs; /* how many were tried */
    /* private */
    bool ready;
    int error; /* of tcall_init */
#ifndef TOOLCALL_NO_SCHEMA
    tcall_schema *schemas; /* compiled, one for each tool; NULL when lazy */
#endif
    uint16_t *names; /* the tools in the order of their names */
    size_t name_count;
    tcall_order_ order;   /* of the registry's hooks */
    tcall_order_ *orders; /* of tools that have hooks of their own, by row */
    tcall_listener *listeners;
} tcall;

/* Checks every tool and sets the block up. Returns TCALL_OK; TCALL_E_TOOL when
 * a definition is wrong: desc->report then has all faults of all tables, each
 * as "name: what is wrong and what to do"; or TCALL_E_MEMORY: tc->block.need
 * says how large to make the block. After an error nothing can be called, and
 * every function that takes the tcall fails with the same error; a zeroed
 * tcall fails with TCALL_E_USAGE. */
TCALL_API int tcall_init(tcall *tc, const tcall_desc *desc);
/* Returns how many bytes of the block were ever in use at the same time. */
TCALL_API size_t tcall_peak(const tcall *tc);
/* Returns the tool with this name, or NULL. */
TCALL_API const tcall_tool *tcall_find(const tcall *tc, tcall_str name);
/* Returns true when permissions `allow` suffice to see and call the tool. */
TCALL_API bool tcall_enabled(const tcall_tool *tool, unsigned allow);
/* Visits the tools that permissions `allow` suffice for:
 *
 *     size_t i = 0;
 *     while ((tool = tcall_next_tool(tc, &i, allow)) != NULL)
 */
TCALL_API const tcall_tool *tcall_next_tool(const tcall *tc, size_t *i,
                                            unsigned allow);

/* Adds a tool at run time, to a registry with desc.rows. The row is copied, its
 * texts must stay; it is checked like those of tcall_init, but its schema is
 * compiled when a call comes. So a function can make a definition, and the
 * tools of one registry can be added to another:
 *
 *     while ((tool = tcall_next_tool(&other, &i, TCALL_EVERYTHING)) != NULL) {
 *         row = *tool;
 *         row.provided_by = "other";
 *         tcall_add(&tc, &row);
 *     }
 *
 * Returns the tool's index; TCALL_E_TOOL when the definition is wrong
 * (desc.report has the faults), TCALL_E_MEMORY when no row is free or the block
 * has no room, TCALL_E_USAGE without desc.rows. An index for picking has to be
 * built anew afterwards. Tools may call this, and tcall_remove, too. */
TCALL_API int tcall_add(tcall *tc, const tcall_tool *tool);
/* Hides a tool at once; needs desc.rows. Returns TCALL_OK or TCALL_E_UNKNOWN.
 * Calls of it that are under way end as they would have; its texts have to stay
 * until then, and its row is used again only when no call is under way. */
TCALL_API int tcall_remove(tcall *tc, tcall_str name);

#ifndef TOOLCALL_NO_EVENTS
/* Adds or removes a listener. Events go to desc.on_event first, then to the
 * latest listener and so on. A listener may remove itself while it is
 * called. */
TCALL_API void tcall_subscribe(tcall *tc, tcall_listener *listener);
TCALL_API void tcall_unsubscribe(tcall *tc, tcall_listener *listener);
#endif

/* ==========================================================================
 * >>synonyms: words that mean much the same
 *
 * English words of devices, offices and the web, for tcall_pick_opts.synonyms,
 * of which they are the default. TOOLCALL_NO_SYNONYMS leaves them out.
 */

#if !defined TOOLCALL_NO_SYNONYMS && !defined TOOLCALL_NO_PICK

/* Texts, the last followed by NULL, of lines: the words of a line mean much the
 * same. They are in small letters and separated by spaces. */
#ifndef TOOLCALL_STATIC
extern const char *const tcall_synonyms[];
#endif

#endif

/* ==========================================================================
 * >>pick_index: the words of all tools, for picks among hundreds of them
 */

struct tcall_bucket_;
struct tcall_entry_;
struct tcall_indexed_;
struct tcall_posting_;

/* Made by tcall_pick_index, for tcall_pick_opts.index. */
typedef struct tcall_index {
    /* private */
    size_t tool_count;
    uint32_t bucket_count;
    const struct tcall_bucket_ *buckets;
    const struct tcall_indexed_ *tools;
    const struct tcall_entry_ *entries;
    const struct tcall_posting_ *postings;
} tcall_index;

#if !defined TOOLCALL_NO_PICK_INDEX && !defined TOOLCALL_NO_PICK

/* Builds an index of all tools in the block, where it stays. Picks are the same
 * with it, only faster. It is used while the block has 20 bytes for each tool
 * to spare; with less the texts of the tools are read.
 * It takes 4 bytes for each different word of a tool, 24 for each different
 * word of all tools, 12 for each tool, and 8 for each half KB of text: about
 * half as much as the texts of hundreds of tools. Call it before the agent is
 * set up, and again after tools were added or removed.
 * Returns TCALL_OK; TCALL_E_MEMORY, when block.need says what suffices, and the
 * block is as before; TCALL_E_USAGE for more than 65535 tools. */
TCALL_API int tcall_pick_index(tcall *tc, tcall_index *index);

#endif

/* ==========================================================================
 * >>pick: the right few tools for an input
 *
 * Ranks tools by the words they share with the input, rare words counting most
 * (BM25F). Nothing is learned or stored, nothing runs, and equal tools keep the
 * order of registration. Other scorers can take part.
 */

struct tcall_scorer;

/* Every field that is zero has its default. */
typedef struct tcall_pick_opts {
    uint8_t max;         /* most tools besides the pinned ones; default 3 */
    uint16_t min_score;  /* thousandths; default 50 */
    uint8_t relative;    /* percent of the best score that others need */
    uint8_t allow;       /* permissions given; default: the registry's */
    bool allow_unsafe;   /* also pick tools that do more than read */
    bool streaming;      /* pick only tools that stream */
    bool stable;         /* give picks in the order of registration, so that
                            requests change little; default: best first */
    uint16_t roles;      /* of the user: tool->roles must have one of them */
    uint16_t max_cost;   /* pick no tool that costs more; default: any */
    uint16_t groups;     /* enabled ones of tool->groups; default: all */
    uint32_t timeout_ms; /* needs desc.now_ms; default: none */
    /* Texts as those of tcall_synonyms, which are the default. */
    const char *const *synonyms;
    const tcall_index *index; /* NULL: the texts of the tools are read */
    const struct tcall_scorer *scorers; /* default: the built-in one */
    size_t scorer_count;
} tcall_pick_opts;

typedef struct tcall_picked {
    const tcall_tool *tool;
    uint16_t index; /* of the tool in the registry */
    uint16_t score; /* thousandths */
    bool pinned;    /* the tool is always picked; its score is 0 */
    bool timed_out; /* time ran out before it was ranked; its score is 0 */
    /* private */
    uint16_t weights;
    uint32_t rank;
} tcall_picked;

/* What tcall_pick was given, and what it gave. */
typedef struct tcall_pick_report {
    tcall_str input;
    const tcall_pick_opts *opts;
    const tcall_picked *picks;
    int count;
} tcall_pick_report;

#ifndef TOOLCALL_NO_PICK

/* Picks tools for an input, best first: at most opts->max of them and then the
 * pinned ones, at most max in all. opts may be NULL. Returns their number, 0
 * when no tool has a score; TCALL_E_MEMORY when the block has less than 2 KB
 * free, which are used only meanwhile (20 bytes more for each tool make it
 * faster); TCALL_E_USAGE when max is 0, or when opts->index is not one of these
 * tools.
 *
 * The input is text in UTF-8, or JSON, whose keys count half. Bytes that are
 * not UTF-8 separate words. At most 45 different words of it count.
 *
 * The best score is the largest share of the input that one tool covers: of the
 * weight of all its words (rare ones weigh most), the part that the name and
 * texts of the tool have, or have a synonym of; 1000 when they have all. The
 * other tools have their share of it, as they say less of the input or of one
 * of its sentences. So in a sentence, one more word of the tool that covers
 * most never lowers the best score, a word that no tool has never raises it,
 * and scores can be compared between inputs. */
TCALL_API int tcall_pick(tcall *tc, tcall_str input,
                         const tcall_pick_opts *opts, tcall_picked *picks,
                         int max);

/* Returns the bytes of the definitions that the registry permits and that need
 * not be sent; a token is about four of them. */
TCALL_API size_t tcall_pick_saved(const tcall *tc, const tcall_picked *picks,
                                  int count);

/* Writes how picks came about, as a JSON object for logs: the scorers; terms of
 * the input with the number of tools that have them and their weight; picks
 * with score and reason ("matched weather, city", "pinned", "timed out"); tools
 * that were excluded and why; bytes and tokens saved. Returns TCALL_OK, the
 * error of the writer, or an error as tcall_pick does. */
TCALL_API int tcall_write_picks(tcall_writer *w, tcall *tc,
                                const tcall_pick_report *report);

#endif

/* -- For authors of scorers -- */

/* One of several ways to score. Those that see all tools are combined by their
 * mean; then those with `top` rank the best again, in turn. All weights
 * together are at most 4095. */
typedef struct tcall_scorer {
    const char *name; /* for tcall_write_picks */
    /* Returns 0 to 1000, or < 0 when it cannot say: the others decide. NULL:
     * the built-in scorer. */
    int (*score)(void *user, tcall_str input, const tcall_tool *tool,
                 size_t index);
    void *user;
    uint8_t weight; /* in the mean of all scorers; default 1 */
    uint8_t top;    /* sees only so many of the best so far, from which the
                       picks are then taken; default 0: it sees all tools */
} tcall_scorer;

/* ==========================================================================
 * >>call: from what the model sent to a call that may run
 *
 * parse -> validate -> bind. Whatever goes wrong stays in the call: error,
 * step, what was expected where. Nothing here runs a tool.
 */

typedef enum tcall_step {
    TCALL_STEP_FIND,
    TCALL_STEP_PARSE,
    TCALL_STEP_VALIDATE,
    TCALL_STEP_BIND,
    TCALL_STEP_DONE /* it may be invoked */
} tcall_step;

/* An input or output that was replaced, and by whom. */
typedef struct tcall_change {
    const struct tcall_change *before;
    const char *by;   /* name of the hook or the tool */
    uint8_t stage;    /* tcall_stage it happened at */
    tcall_json input; /* the arguments; of output: missing */
    tcall_str output;
} tcall_change;

/* Something a tool made besides its output; the tool's until tcall_release. To
 * add one: a.next = cx->result.attached; cx->result.attached = &a; */
typedef struct tcall_attachment {
    const char *type; /* MIME type */
    const char *name; /* may be NULL */
    tcall_str bytes;
    struct tcall_attachment *next;
} tcall_attachment;

/* What came of a call. The model reads output, the rest is for programs and
 * people. */
typedef struct tcall_result {
    int error;                  /* TCALL_OK: success */
    tcall_str output;           /* valid as long as the buffer of out */
    tcall_str title;            /* short */
    tcall_str metadata;         /* JSON text */
    const char *suggestion;     /* what to do about the error; also in output */
    tcall_attachment *attached; /* latest first */
} tcall_result;

/* What tools and hooks know of the call they work for. It lies in the call. */
struct tcall_ctx {
    tcall *tc;
    tcall_call *call;
    tcall_session *session; /* may be NULL */
    const void *bound;      /* the struct that tool->fields or shape describe */
    void *user;             /* tool->user */
    const tcall_hook *hook; /* at work; NULL: the tool */
    uint8_t stage;          /* tcall_stage at hand */
    uint16_t attempt;       /* 1 for the first run of the tool */
    int error;              /* TCALL_OK, or why the call failed */
    tcall_str reason;       /* in words, may be empty */
    const char *failed_by;  /* the hook that failed, or the service that is
                               missing; may be NULL */
    const char *code;       /* of tcall_abort, may be NULL */
    int status;             /* HTTP status of tcall_abort, else 0 */
    uint32_t retry_ms;      /* of tcall_retry_after, else 0 */
    uint32_t started;       /* by desc.now_ms */
    uint32_t finished;      /* likewise; 0 until then */
    const tcall_change *history; /* latest first */
    tcall_result result;         /* complete when the call has ended */
    int stop;                    /* < 0: what tcall_cancel was called with */
    /* What the call waits for. Empty when a tool or hook is called, which adds
     * to it if it answers TCALL_E_AGAIN; complete, with the deadline, when
     * tcall_invoke has answered TCALL_E_AGAIN or TCALL_E_APPROVAL. */
    tcall_wait wait;

    /* private: the arguments with what was injected; missing: nothing was */
    tcall_json injected;
    /* private: the way through the stages */
    uint8_t state; /* one bit: towards the run, answered, failed ... */
    const tcall_order_ *order; /* of the hooks of this call */
    uint16_t next_hook;        /* of the stage at hand, in the order of hooks */
    uint16_t next_inner;       /* the same for a stage inside of an attempt */
    uint16_t next_around;      /* the same for AROUND_EXECUTE */
    uint8_t around_depth;      /* hooks that are around what runs now */
    uint32_t held; /* acquiring hooks that are to be released, bits */
    /* private: attempts to run the tool */
    uint8_t run_step; /* where the attempt is */
    bool tool_ran;    /* it was called at least once, for whatever came */
    int last_attempt; /* how the last attempt ended */
    /* private: approval */
    bool approval_asked;  /* reported, and not decided yet */
    bool approval_wanted; /* the tool itself wants one: tcall_approval */
    bool ledger_used;     /* this call took the verdict of a ledger's row */
    /* private: the rest */
    bool service_missing; /* since the last look at it */
    bool has_deadline;
    uint32_t deadline;
    uint32_t wait_began; /* by the agent's clock */
    uint64_t thing;      /* hash of tcall_concerns; 0: not said, 1: many */
    tcall_service *services;
    tcall_writer *out;
    const tcall_writer *out_start; /* out as it was before the call */
};

/* What an agent does from what a person says to the answer. Whoever makes calls
 * without an agent may give them a turn of his own, with another id each time
 * that it begins anew. */
typedef struct tcall_turn {
    uint32_t id;              /* 1, 2, 3, ... in a conversation */
    uint16_t rounds;          /* answers of the model */
    uint16_t calls;           /* calls that were taken up */
    uint32_t tokens;          /* as the provider counts them */
    uint32_t started;         /* by the clock of the transport */
    bool plan;                /* nothing runs: see tcall_agent_plan */
    const tcall_call *parent; /* of a sub-agent: the call it works for */
} tcall_turn;

struct tcall_call {
    /* What the model asked, as it came. The caller sets these. */
    tcall_str id;
    tcall_str name;
    tcall_str arguments;
    const char *provider; /* name of the wire format, may be NULL */
    int incomplete;       /* < 0: why the call is not whole; it will not run */
    tcall_session *session; /* NULL: that of the registry */
    const tcall_turn *turn; /* it belongs to; NULL: to none */
    /* What became of it. */
    bool validated; /* the schema holds */
    bool repaired;  /* by the repair callback: untrusted */
    bool approved;
    uint8_t step;   /* tcall_step reached, or failed in */
    uint8_t faults; /* number of */
    uint16_t coercions;
    int error;       /* TCALL_OK or what went wrong */
    uint32_t fixes;  /* of the text, TCALL_FIX_... bits */
    size_t error_at; /* parse errors: offset in arguments */
    uint32_t hydrate_ms, run_ms;
    const tcall_tool *tool;
    tcall_json args; /* checked arguments; valid until tcall_release */
#ifndef TOOLCALL_NO_SCHEMA
    tcall_schema schema;
    tcall_validation_error fault[TOOLCALL_MAX_FAULTS];
#endif
#ifndef TOOLCALL_NO_SHAPES
    tcall_misfit misfit[TOOLCALL_MAX_FAULTS]; /* faults where it has a shape */
#endif
    tcall_str complaint; /* words of a foreign validator or of binding */
    tcall_str coerced;   /* JSON text of the coercions, an array */
    tcall_str original;  /* arguments before they were repaired */
    tcall_ctx cx;
    size_t block_high; /* private: what tcall_release restores */
};

/* Takes a call (the first members set, the rest zero) through parse, validate
 * and bind. Returns call->error. What it needs is held in the block until
 * tcall_release; calls are released in the opposite order. */
TCALL_API int tcall_hydrate(tcall *tc, tcall_call *call);
TCALL_API void tcall_release(tcall *tc, tcall_call *call);

/* Writes what is wrong with the arguments, as members of a JSON object that is
 * open. */
TCALL_API int tcall_write_call_errors(tcall_writer *w, const tcall_call *call);

/* ==========================================================================
 * >>context: what tools and hooks may do to their call
 *
 * A tool and a hook get the context of the call they work for: its fields say
 * what is known, and these functions change what becomes of the call. What
 * they keep is in the block until tcall_release.
 */

/* Reports a piece of output while the work goes on: TCALL_EVENT_OUTPUT. */
TCALL_API void tcall_emit(tcall_ctx *cx, tcall_str text);
/* Reports what is being done: TCALL_EVENT_PROGRESS. */
TCALL_API void tcall_progress(tcall_ctx *cx, tcall_str text);
/* Copies a short title for people (reported as progress, too) and metadata,
 * JSON text for programs, to cx->result. An empty one leaves what was set
 * before. Returns TCALL_OK or TCALL_E_MEMORY. Tools set cx->result.suggestion
 * and cx->result.attached themselves. */
TCALL_API int tcall_set_result(tcall_ctx *cx, tcall_str title,
                               tcall_str metadata);

/* Returns the object of a service, looked up by name in the call, then in its
 * session, then in the registry; NULL when there is none. */
TCALL_API void *tcall_find_service(const tcall_ctx *cx, const char *name);
/* The same, but the call fails with TCALL_E_SERVICE when there is none. */
TCALL_API void *tcall_require_service(tcall_ctx *cx, const char *name);
typedef enum tcall_scope { TCALL_SCOPE_CALL, TCALL_SCOPE_SESSION } tcall_scope;
/* Adds a service, which stays the caller's and must live as long as its scope.
 * Returns TCALL_E_USAGE for the session of a call that has none. */
TCALL_API int tcall_bind_service(tcall_ctx *cx, tcall_service *service,
                                 tcall_scope scope);
/* Removes a service from a session. */
TCALL_API void tcall_unbind_service(tcall_session *session,
                                    const tcall_service *service);
/* Returns memory of the call, shared by all who give the same name: zeroed at
 * first, in the block, until tcall_release. NULL where the block is full. */
TCALL_API void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size);

/* Makes the call end within ms milliseconds from now, unless it has to end
 * earlier. Needs desc.now_ms. */
TCALL_API void tcall_deadline(tcall_ctx *cx, uint32_t ms);
/* Returns the milliseconds that are left, INT32_MAX without a deadline. */
TCALL_API int32_t tcall_time_left(const tcall_ctx *cx);

/* Fails the call: `return tcall_abort(...)`. reason, in words, and code, a name
 * for it (NULL: "aborted"), must outlive the call; status is one of HTTP, such
 * as 403, or 0. */
TCALL_API int tcall_abort(tcall_ctx *cx, const char *reason, const char *code,
                          int status);
/* Fails the call, which may be made again in ms milliseconds. */
TCALL_API int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason);

/* -- For authors of hooks -- */

/* Answers the call with text: `return tcall_respond(cx, text)`. The stages up
 * to the run of the tool are skipped, those after it are not. After a failure
 * this turns it into a success. */
TCALL_API int tcall_respond(tcall_ctx *cx, tcall_str text);
/* Replaces the arguments by other JSON text before the tool runs: it is checked
 * like the first one, and approval is asked for again. At
 * TCALL_WILL_INJECT_SECRETS only the tool gets the new ones: approvals, hooks,
 * events, records and errors go on with what was asked. Returns TCALL_OK or the
 * error of the check. */
TCALL_API int tcall_set_input(tcall_ctx *cx, tcall_str text);
/* Replaces the output. What does not fit is cut. */
TCALL_API int tcall_set_output(tcall_ctx *cx, tcall_str text);
/* Returns the output written so far; valid until it changes. */
TCALL_API tcall_str tcall_output(const tcall_ctx *cx);

/* ==========================================================================
 * >>stages: hooks around the run of a tool
 */

/* Hooks around the run of one tool that may be inside each other. */
#ifndef TOOLCALL_MAX_AROUND
#define TOOLCALL_MAX_AROUND 8
#endif

/* -- For authors of hooks -- */

#ifndef TOOLCALL_NO_HOOKS
/* Makes one attempt, from a hook at TCALL_AROUND_EXECUTE: runs the hooks that
 * are further inside, and the tool. Returns what came of it; the hook returns
 * that, or calls again. After TCALL_E_AGAIN the outermost hook is called anew,
 * from its start. Only tools that only read or are idempotent get a second
 * attempt; for the others this returns the result of the first. */
TCALL_API int tcall_next(tcall_ctx *cx);
#endif

/* ==========================================================================
 * >>invoke: from a checked call to a result
 *
 * One walk through TCALL_STAGES, with the hooks of the registry and of the
 * tool at each. It takes a call that tcall_hydrate has seen, good or bad, and
 * always yields a result that the model can read.
 */

/* Takes a call through all stages and writes what the model reads to out, a
 * writer to a buffer outside of the block: the tool's output, or
 * {"success":false,"error":...}. Returns TCALL_OK, or why the tool did not run
 * or failed; out is complete in both cases. Two errors leave out untouched and
 * ask for tcall_invoke once more: TCALL_E_AGAIN (the tool or a hook has not
 * finished) and TCALL_E_APPROVAL (a verdict comes later: desc.approve is asked
 * again, unless call->approved is set). call->cx.wait says when. */
TCALL_API int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out);
/* Calls a tool by its name, without a model: hydrates, invokes, and waits by
 * desc.wait until it has ended, for desc.max_wait_ms at most, then it ends with
 * TCALL_E_TIMEOUT. Without desc.wait and desc.now_ms a tool that does not
 * answer at once is cancelled, TCALL_E_CANCELLED. One that waits for approval
 * does not run, TCALL_E_APPROVAL. call is NULL, or room for the call: what came
 * of it is then in call->cx.result until tcall_release. Returns as tcall_invoke
 * does, or TCALL_E_MEMORY, with nothing in out, when the block has no room for
 * the call. */
TCALL_API int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                            tcall_writer *out, tcall_call *call);
/* Ends a call at the next tcall_invoke with TCALL_E_CANCELLED, _TIMEOUT or
 * _LIMIT. A tool that returned TCALL_E_AGAIN is called one last time, to
 * release what it holds: it sees cx->stop. */
TCALL_API void tcall_cancel(tcall_call *call, int error);

/* For tools that learn only from the arguments that a call needs approval.
 * Returns TCALL_OK when it has it; otherwise the tool returns what this
 * returns: TCALL_E_DENIED, or TCALL_E_APPROVAL, and is run anew, with the same
 * arguments, when there is a verdict. Hooks at TCALL_WILL_CHECK_CONSENT are
 * asked as well. */
TCALL_API int tcall_approval(tcall_ctx *cx);

/* ==========================================================================
 * >>records: what programs and logs read of a call
 */

/* Writes the result as an envelope for programs: {"success":true,"error":"",
 * "title":...,"metadata":...,"output":...} of a success; of a failure its
 * output, followed by title and the like. */
TCALL_API int tcall_write_result(tcall_writer *w, const tcall_result *result);
/* Writes, for logs, a JSON object about where the arguments came from and what
 * was done to them: provider, ids, raw arguments, fixes, coercions, validator
 * and its mode, times, validated, repaired, no_schema_mode, errors. */
TCALL_API int tcall_write_provenance(tcall_writer *w, const tcall *tc,
                                     const tcall_call *call);

/* ==========================================================================
 * >>hash: fingerprints that nobody can forge without the key
 */

/* Returns SipHash-2-4 (Aumasson and Bernstein, 2012) of bytes. */
TCALL_API uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes);
/* Hashes a value, with desc.hash_key, whatever the order of members and the
 * form of numbers: 5, 5.0 and 0.5e1 are the same. Returns TCALL_OK, or
 * TCALL_E_MEMORY: up to 1.5 KB of the block are needed for a moment. */
TCALL_API int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out);

/* Returns a number for a call that stays the same over a restart and that no
 * other call has: it is made of the ids of the call and of its session, the
 * session's agent, and, for a sub-agent, of the call that it works for. */
TCALL_API uint64_t tcall_call_key(const tcall *tc, const tcall_call *call);

/* For tools: says that the call reads or changes one thing only, such as the
 * file with this path. A call that changes it leaves what was kept of other
 * things (TCALL_CACHE, TCALL_LOOPS). A call that says nothing, or names two
 * things, reads or changes everything. */
TCALL_API void tcall_concerns(tcall_ctx *cx, tcall_str thing);

/* ==========================================================================
 * >>hooks: ready-made ones
 *
 * Each is a macro that gives the rows for a table of hooks; what it keeps is in
 * a struct of the caller's. A linker that drops unused functions drops the
 * hooks that no table names.
 *
 *     static tcall_rate rate = {.burst = 5, .interval_ms = 1000};
 *     static tcall_backoff retry = {.attempts = 3, .first_ms = 200};
 *     static const tcall_hook hooks[] = {
 *         TCALL_RATE(&rate), TCALL_RETRY(&retry), TCALL_TIMEOUT(5000)};
 */

#ifndef TOOLCALL_NO_HOOKS

#define TCALL_HOOK_(name, stage, priority, run, user) \
    {                                                 \
        name, stage, priority, run, NULL, user        \
    }

/* A rate limit (token bucket): calls beyond it are told when to come back.
 * Needs desc.now_ms. */
typedef struct tcall_rate {
    uint16_t burst;       /* calls at once */
    uint32_t interval_ms; /* until one more may come */
    /* private */
    uint16_t used;
    uint32_t since;
} tcall_rate;
TCALL_API int tcall_rate_run_(tcall_ctx *cx, void *rate);
#define TCALL_RATE(rate) \
    TCALL_HOOK_("rate", TCALL_WILL_ACQUIRE_QUOTA, 0, tcall_rate_run_, rate)

/* Limits how many calls are under way at the same time; the others wait
 * (TCALL_E_AGAIN). */
typedef struct tcall_concurrency {
    uint16_t max;
    uint16_t running; /* private */
} tcall_concurrency;
TCALL_API int tcall_limit_acquire_(tcall_ctx *cx, void *limit);
TCALL_API int tcall_limit_release_(tcall_ctx *cx, void *limit);
#define TCALL_CONCURRENCY(limit)                                   \
    TCALL_HOOK_("concurrency", TCALL_WILL_ACQUIRE_SEMAPHORE, 0,    \
                tcall_limit_acquire_, limit),                      \
        TCALL_HOOK_("concurrency", TCALL_DID_RELEASE_SEMAPHORE, 0, \
                    tcall_limit_release_, limit)

/* Keeps results of tools that only read, by tool, arguments, session and its
 * user, until a call that does more may have changed them (tcall_concerns). The
 * oldest make room; a result larger than the memory is not kept. */
typedef struct tcall_cache {
    char *memory;
    size_t size;
    uint32_t max_age_ms; /* 0: for ever; otherwise desc.now_ms is needed */
    size_t used;         /* private */
} tcall_cache;
TCALL_API int tcall_cache_read_(tcall_ctx *cx, void *cache);
TCALL_API int tcall_cache_write_(tcall_ctx *cx, void *cache);
TCALL_API int tcall_cache_end_(tcall_ctx *cx, void *cache);
#define TCALL_CACHE(cache)                                                    \
    TCALL_HOOK_("cache", TCALL_WILL_READ_CACHE, 0, tcall_cache_read_, cache), \
        TCALL_HOOK_("cache", TCALL_WILL_WRITE_CACHE, 0, tcall_cache_write_,   \
                    cache),                                                   \
        TCALL_HOOK_("cache", TCALL_WILL_FINALIZE, 0, tcall_cache_end_, cache)

/* Makes further attempts after an error that may pass, each after twice the
 * pause of the one before, or the one that tcall_retry_after asked for. Without
 * desc.now_ms there are no pauses. Only for tools that may run twice: those
 * that only read, or are idempotent. */
typedef struct tcall_backoff {
    uint16_t attempts; /* in all */
    uint32_t first_ms;
    uint32_t max_ms; /* 0: no limit */
} tcall_backoff;
TCALL_API int tcall_retry_around_(tcall_ctx *cx, void *retry);
#define TCALL_RETRY(retry) \
    TCALL_HOOK_("retry", TCALL_AROUND_EXECUTE, 0, tcall_retry_around_, retry)

/* Ends a call, its waiting included, after ms milliseconds. */
TCALL_API int tcall_timeout_run_(tcall_ctx *cx, void *ms);
#define TCALL_TIMEOUT(ms)                                    \
    TCALL_HOOK_("timeout", TCALL_WILL_BIND_SERVICES, 0x7FFF, \
                tcall_timeout_run_, (void *)(uintptr_t)(ms))

/* Writes one JSON line for each call to sink: ids, tool, arguments, attempts,
 * milliseconds, outcome. Where it cannot be written the call fails. */
typedef struct tcall_audit {
    tcall_sink sink;
    void *user;
} tcall_audit;
TCALL_API int tcall_audit_run_(tcall_ctx *cx, void *audit);
#define TCALL_AUDIT(audit) \
    TCALL_HOOK_("audit", TCALL_WILL_AUDIT, 0, tcall_audit_run_, audit)

/* Keeps approvals that come later, and what has run. A call that needs approval
 * waits (TCALL_E_APPROVAL) until tcall_ledger_decide gets a verdict for its
 * tcall_call_key. The verdict holds once, and only for the same definition of
 * the tool and the same arguments. A tool that is neither idempotent nor only
 * reads runs once for a key, also after a restart if the rows were kept: they
 * hold no pointers (keep desc.hash_key with them, and the conversation, see
 * tcall_agent_save). Agents may share a ledger when their sessions say which of
 * them it is, and sub-agents may: their calls have keys of their own. Where
 * there is a desc.approve, it is asked first. */
typedef struct tcall_ledger_row {
    uint64_t key, what; /* tcall_call_key; hash of what is to run */
    uint32_t state;     /* 0: free */
} tcall_ledger_row;
typedef struct tcall_ledger {
    tcall_ledger_row *rows; /* zeroed at first; the oldest that ran make room */
    size_t count;
} tcall_ledger;
TCALL_API int tcall_ledger_consent_(tcall_ctx *cx, void *ledger);
TCALL_API int tcall_ledger_once_(tcall_ctx *cx, void *ledger);
TCALL_API int tcall_ledger_end_(tcall_ctx *cx, void *ledger);
#define TCALL_LEDGER(ledger)                                                   \
    TCALL_HOOK_("ledger", TCALL_WILL_CHECK_CONSENT, 0x7FFF,                    \
                tcall_ledger_consent_, ledger),                                \
        TCALL_HOOK_("ledger", TCALL_WILL_EXECUTE, -0x8000, tcall_ledger_once_, \
                    ledger),                                                   \
        TCALL_HOOK_("ledger", TCALL_WILL_FINALIZE, 0, tcall_ledger_end_,       \
                    ledger)
/* Decides a call that waits: key is tcall_call_key of the call that
 * TCALL_EVENT_APPROVAL told of. Returns TCALL_OK, or TCALL_E_UNKNOWN when no
 * call with this key waits. */
TCALL_API int tcall_ledger_decide(tcall_ledger *ledger, uint64_t key,
                                  tcall_verdict verdict);

/* Breaks loops within a turn (call->turn; calls without one count as one turn).
 * A call that was made before with success, and whose result nothing that ran
 * since can have changed (tcall_concerns), is answered without running, unless
 * the tool has allow_repeat. The same call three times in a row, two calls in
 * turns, or a third call in a row of a tool that was refused or denied twice,
 * fail with TCALL_E_LOOP, and nobody is asked for them. */
#ifndef TOOLCALL_LOOP_CALLS
#define TOOLCALL_LOOP_CALLS 32 /* so many calls that went well are known */
#endif
typedef struct tcall_loops {
    /* private */
    struct {
        uint64_t call, thing;
    } done[TOOLCALL_LOOP_CALLS]; /* oldest first */
    uint64_t recent[4];          /* whatever came of them, latest first */
    uint64_t refused;            /* tool of the calls that were refused last */
    uint16_t count;              /* of done */
    uint8_t refusals;
    bool denied; /* whatever the arguments are */
} tcall_loops;
TCALL_API int tcall_loops_begin_(tcall_ctx *cx, void *loops);
TCALL_API int tcall_loops_end_(tcall_ctx *cx, void *loops);
#define TCALL_LOOPS(loops)                                  \
    TCALL_HOOK_("loops", TCALL_WILL_CREATE_CONTEXT, 0x7FFF, \
                tcall_loops_begin_, loops),                 \
        TCALL_HOOK_("loops", TCALL_WILL_FINALIZE, 0, tcall_loops_end_, loops)

#endif

/* ==========================================================================
 * >>strict: schemas as providers' strict modes want them
 *
 * A tool with strict = true asks the provider to hold the model to its schema
 * while it writes. Providers do so for a part of JSON Schema, and each for
 * another one. What is sent is rewritten to fit; where it cannot say what the
 * schema says, the tool is sent as it is, without strict mode. The schema
 * itself is untouched: what had to be left out is still checked when a call
 * comes. TOOLCALL_NO_STRICT leaves this chapter out; tools with strict = true
 * are refused then.
 */

/* -- For authors of providers -- */

/* What a provider makes of schemas (tcall_provider.strict). */
enum {
    TCALL_STRICT_NONE,          /* they are sent as they are */
    TCALL_STRICT_OPENAI = 1,    /* every property is required, or may be null */
    TCALL_STRICT_ANTHROPIC = 2, /* few tools, options and unions a request */
    TCALL_STRICT_OLLAMA = 4     /* not strict: the words its templates know */
};

/* ==========================================================================
 * >>answer: what an answer says of itself
 */

/* Why the model stopped. */
typedef enum tcall_stop {
    TCALL_STOP_UNKNOWN,
    TCALL_STOP_END,            /* it is done */
    TCALL_STOP_TOOL_CALLS,     /* it wants results */
    TCALL_STOP_LENGTH,         /* it was cut off: the last call must not run */
    TCALL_STOP_CONTENT_FILTER, /* content was refused or filtered */
    TCALL_STOP_OTHER           /* an error, where nothing else was said */
} tcall_stop;

/* What is known of an answer besides its items. */
typedef struct tcall_answer {
    tcall_stop stop;
    /* TCALL_OK; TCALL_E_PROVIDER: it holds an error; TCALL_E_TRUNCATED;
     * TCALL_E_PROTOCOL; TCALL_E_MEMORY, and block->need says how much would
     * have done; or what scanning found. */
    int error;
    int calls;
    bool has_text; /* there are words of the model */
    bool text_cut; /* the text did not fit and was cut */
    bool pending;  /* the provider says that it is still at work */
    bool unread;   /* it holds items of a type that is not known here */
    /* Bytes of reasoning that did not fit. The calls are there, but their
     * results cannot be sent back: block->need says how much would have done.
     */
    size_t reasoning_dropped;
    long input_tokens;  /* -1: unknown */
    long output_tokens; /* -1: unknown */
    long wait_ms;       /* how long to wait; -1: unknown */
    char stop_text[32]; /* the provider's own word, cut if longer; of an error
                           its code or type */
    char message[160];  /* the provider's words about its error, cut; where it
                           is no answer at all, its beginning: "<html>..." */
} tcall_answer;

/* Returns what is wrong with an answer, by its HTTP status (0: unknown) and by
 * what the provider says, also within a status of 200: TCALL_E_AUTH, _DENIED
 * (a 403 that is not about the key), _NOT_FOUND, _REQUEST, _CONTEXT, _REFUSED,
 * _RATE, _OVERLOAD (wait_ms says for how long), _QUOTA, or _PROVIDER for its
 * own faults; else the answer's error. */
TCALL_API int tcall_answer_error(const tcall_answer *answer, int status);
/* Returns why an answer without calls did not end by itself: TCALL_E_LENGTH,
 * _REFUSED (it was filtered), _QUEUED, _UNHANDLED (stop_text may say what is
 * not handled here) or _EMPTY. Its words, if there are any, stay in the chat.
 * Returns TCALL_OK where it did, or where there are calls: of those that were
 * cut each says so itself. */
TCALL_API int tcall_answer_ending(const tcall_answer *answer);

/* ==========================================================================
 * >>provider: requests, and what all wire formats share
 *
 * A provider is data: the paths that matter in its answers, the words it uses,
 * what distinguishes it, and a function that writes its requests. One reader
 * serves all of them.
 */

typedef enum tcall_choice {
    TCALL_CHOICE_AUTO,
    TCALL_CHOICE_NONE,
    TCALL_CHOICE_REQUIRED,
    TCALL_CHOICE_ONE /* the tool that choice_name names */
} tcall_choice;

/* A variable of descriptions: ${name} in a tool's description is sent as text.
 * A table of them ends with a row without a name. What a variable holds is not
 * searched for variables; unknown ones stay as they are written. Texts may
 * change between requests, but not while one is written. */
typedef struct tcall_variable {
    const char *name; /* "workspace" for ${workspace} */
    const char *text;
} tcall_variable;

/* All that a request is made of. */
typedef struct tcall_chat_request {
    const char *model;
    const char *system; /* instructions; may be NULL */
    const tcall_chat *chat;
    const tcall_tool *tools;
    size_t tool_count;
    /* Tools to send, by index; NULL: all of them. */
    const uint16_t *picks;
    size_t pick_count;
    unsigned allow; /* tools that need more permissions are not sent */
    tcall_choice choice;
    const char *choice_name;
    int max_tokens; /* of the answer, thinking included; default 8192 where one
                     * must be given */
    long context;   /* tokens that the conversation may take, for servers that
                     * have to be told; 0: the server's default */
    bool stream;
    bool no_parallel; /* at most one call in an answer */
    /* The server is asked to keep the beginning, where that has to be asked
     * for: what is sent again then costs less. */
    bool cache_prompt;
    /* Further members of the body, the JSON text of an object; NULL: none.
     * {"temperature":0.2} or TCALL_JSON({"reasoning_effort" : "none"}). Limits
     * and options that stand here count instead of those above. */
    const char *extra;
    const tcall_variable *variables; /* of descriptions; may be NULL */
} tcall_chat_request;

typedef struct tcall_provider tcall_provider;

/* -- For authors of providers -- */

/* What a path of a provider's answers leads to (tcall_path.field). A call is
 * read as an element that has some of id, name, arguments and index, whole or
 * as a piece of one that came before. */
enum {
    TCALL_FIELD_ELEMENT = 1, /* the object that is a call, a text, a reasoning,
                                or a piece of one */
    /* Parts of an element. Outside of one each is an element by itself. */
    TCALL_FIELD_ID,        /* the first that is not empty counts */
    TCALL_FIELD_NAME,      /* likewise */
    TCALL_FIELD_SIGNATURE, /* likewise */
    TCALL_FIELD_ARGUMENTS, /* a string is a piece; an object (raw) is whole */
    TCALL_FIELD_ALL_ARGUMENTS,  /* whole, and may come repeatedly */
    TCALL_FIELD_REASONING,      /* a piece of its words */
    TCALL_FIELD_REASONING_TOO,  /* likewise, unless they came by that name */
    TCALL_FIELD_REASONING_DATA, /* a piece of what is no words: item.raw */
    TCALL_FIELD_TEXT,           /* a piece of the model's text */
    TCALL_FIELD_DELTA,          /* a piece; the event says of what */
    TCALL_FIELD_IGNORE, /* true, or an object: the element does not count */
    TCALL_FIELD_UNREAD, /* arguments in a form that is not read: the call fails
                           with TCALL_E_UNHANDLED */

    TCALL_FIELD_CHOICE,       /* the object that is one of several answers */
    TCALL_FIELD_WHOLE_ANSWER, /* something that only whole answers have */
    TCALL_FIELD_RESTART,      /* an object: everything before is void */
    TCALL_FIELD_ERROR,        /* an object, or the words, of an error */
    TCALL_FIELD_MESSAGE,      /* the words of an error */
    /* Numbers. */
    TCALL_FIELD_INDEX,        /* of the element */
    TCALL_FIELD_CHOICE_INDEX, /* of the choice; the first one is read */
    TCALL_FIELD_INPUT_TOKENS,
    TCALL_FIELD_OUTPUT_TOKENS,
    /* Words that are looked up. */
    TCALL_FIELD_TYPE,        /* of the element, in types */
    TCALL_FIELD_EVENT,       /* what this document is, in types */
    TCALL_FIELD_STOP,        /* why it stopped, in stops; then it is complete */
    TCALL_FIELD_STOP_REASON, /* likewise, believed only if it says cut off or
                                filtered */
    /* Other words. */
    TCALL_FIELD_RETRY_DELAY, /* how long to wait: "1.5s" */
    TCALL_FIELD_ERROR_TYPE,
    TCALL_FIELD_ERROR_CODE /* says more than the type unless it is a number */
};

/* What the type of an element, or the name of an event, means. */
enum {
    TCALL_MEANS_UNKNOWN, /* nothing was said yet */
    TCALL_MEANS_OTHER,   /* a word that is not in the table */
    TCALL_MEANS_CALL,
    TCALL_MEANS_TEXT, /* of an event: its DELTA is text */
    TCALL_MEANS_REASONING,
    TCALL_MEANS_UNHANDLED,     /* the program would have to do something that it
                                  cannot: the answer stops there */
    TCALL_MEANS_ARGUMENTS,     /* event: its DELTA is a piece of arguments */
    TCALL_MEANS_ALL_ARGUMENTS, /* event: its DELTA is all of them */
    TCALL_MEANS_ELEMENT_BEGINS,
    TCALL_MEANS_ELEMENT_ENDS,
    TCALL_MEANS_ANSWER_BEGINS, /* and will say when it ends */
    TCALL_MEANS_ANSWER_ENDS
};

/* A word and what it means; a table of them ends with a row without a word. */
typedef struct tcall_word {
    const char *word;
    uint8_t meaning; /* tcall_stop, or TCALL_MEANS_... */
} tcall_word;

/* What of the model's reasoning is kept and goes back with the history. */
enum {
    TCALL_REASONING_NONE,
    TCALL_REASONING_SIGNATURES, /* of calls and texts */
    TCALL_REASONING_TEXT,       /* words, as tcall_provider.member */
    TCALL_REASONING_DETAILS,    /* lists of objects, as OpenRouter has them */
    TCALL_REASONING_DATA,       /* words, signatures and what is no words */
    TCALL_REASONING_ELEMENTS    /* elements whose type says so, as they came */
};

/* What distinguishes a server from its format (tcall_provider.quirks). */
enum {
    TCALL_QUIRK_ASK_REASONING = 1,   /* reasoning has to be asked for */
    TCALL_QUIRK_NINE_LETTER_IDS = 2, /* ids are nine letters and digits: others
                                        are mapped to such */
    TCALL_QUIRK_ANY = 4,             /* "any" is its word for "required" */
    TCALL_QUIRK_WEAK_CHOICE = 8,   /* it does not obey where a tool is named or
                                      none may be called: then that tool is sent
                                      alone, or none is */
    TCALL_QUIRK_NO_CHOICE = 16,    /* nor anything else about the choice */
    TCALL_QUIRK_NO_PARALLEL = 32,  /* no switch for calls side by side */
    TCALL_QUIRK_SAY_PARALLEL = 64, /* one call, unless asked for more */
    TCALL_QUIRK_MAX_TOKENS = 128,  /* so named, not max_completion_tokens */
    TCALL_QUIRK_NO_USAGE = 256,    /* no stream_options */
    TCALL_QUIRK_SAY_CONTEXT = 512, /* it cuts what it was not told to hold */
    TCALL_QUIRK_PLAIN_IDS = 1024,  /* ids are letters, digits, _ and - */
    TCALL_QUIRK_BOUND_REASONING = 2048, /* reasoning is refused where anything
                                           before it has changed */
    TCALL_QUIRK_ORDERED = 4096,  /* text, reasoning and calls of an answer keep
                                    their order; else the text is one, and first
                                  */
    TCALL_QUIRK_NO_FORCE = 8192, /* a choice that forces a call is refused:
                                    where a tool is named, that one is sent
                                    alone */
    TCALL_QUIRK_FREE_REASONING = 16384 /* reasoning may be left out, and is
                                          where there is no room for it */
};

struct tcall_provider {
    const char *name;
    const char *url; /* where it is; "": every user has one of his own */
    /* Of the request, below the URL; "{model}" is replaced by its name. */
    const char *path;
    const char *stream_path; /* NULL: the same */
    const char *key_header;  /* the header that carries the key */
    const char *key_prefix;  /* written before the key: "Bearer " */
    const char *version[2];  /* a further header: name, value; or NULL */
    /* Writes the body of a request: the same bytes each time, as it is called
     * once to count and once to send. Returns out->error. */
    int (*write)(const tcall_provider *provider, tcall_writer *out,
                 const tcall_chat_request *request);
    const tcall_paths *paths; /* what matters in an answer: TCALL_FIELD_... */
    const tcall_word *stops;  /* reasons to stop; TCALL_STOP_UNKNOWN: it has
                                 not stopped yet, and is pending */
    const tcall_word *types;  /* of elements and events: TCALL_MEANS_... */
    uint8_t reasoning;        /* TCALL_REASONING_... */
    uint8_t strict;           /* TCALL_STRICT_... */
    uint16_t quirks;          /* TCALL_QUIRK_... */
    /* TCALL_REASONING_TEXT in a format of messages: the member of the message
     * that the words are; NULL: they are a part of its content. */
    const char *member;
};

/* ==========================================================================
 * >>reader: answers, as they arrive
 *
 * Takes bytes of an answer in any pieces, a whole one or a stream of events,
 * and keeps the text, the calls and what reasoning has to go back.
 */

/* Reads one answer. Only answer is for others to look at; text_calls and call
 * may be set after tcall_reader_init. */
typedef struct tcall_reader {
    tcall_answer answer;
    /* Calls that the model writes as text count: see >>text_calls. */
    bool text_calls;
    /* Gets each call as it comes. The first piece has name and id, for most
     * providers; text is what came of the arguments, unchecked. May be NULL. */
    void (*call)(void *user, const tcall_item *piece);

    /* private */
    void (*text)(void *user, tcall_str piece);
    void *user;
    const tcall_provider *provider;
    tcall_chat *chat;
    size_t start;    /* the items of this answer begin here */
    size_t text_at;  /* the item to which its text is added, if has_text */
    size_t unmerged; /* the elements of the current document begin here */
    size_t element;  /* the current element, if open */
    size_t raw;      /* its text as it came, if keeping_raw */
    size_t text_max; /* bytes of text that are kept */
    size_t missing;  /* bytes that did not fit */
    size_t raw_missing;
    /* of the answer */
    bool has_text;           /* there is an item for its text */
    bool text_ends, parted;  /* the next text is another one; that was told */
    uint8_t words;           /* the field that brought words of reasoning */
    bool begins, complete;   /* it said that it begins; that it is over */
    bool cut;                /* the last call must not run */
    uint8_t began, finished; /* sets of choices */
    /* of the current document */
    uint8_t event;  /* TCALL_MEANS_... */
    uint8_t choice; /* the number of the one at hand */
    bool in_choice, choice_known;
    bool stopped; /* a reason to stop was given */
    bool whole;   /* it is a whole answer */
    bool repeats; /* there were elements before it */
    /* of the current element */
    uint8_t index; /* counted from 1; 0: none */
    uint8_t field; /* whose value is read */
    uint8_t type;  /* TCALL_MEANS_... */
    uint8_t flags; /* TCALL_FLAG_..._ */
    int8_t fault;  /* of a call's arguments, or TCALL_OK */
    bool in_element, open, keeping_raw, ignored;
    /* of the current value */
    bool skip;
    char word[40]; /* a short one */
    /* framing */
    uint8_t state, match;
    bool sse, after_cr, in_document, any_document, broken;
    bool told;       /* the current document has a value that matters */
    uint32_t silent; /* bytes since a document that had one */
    tcall_scan scan;
} tcall_reader;

/* Begins an answer of this provider, whose items go to the end of chat. text
 * gets the model's text as it comes, also what does not fit the block; it may
 * be NULL. The lower part of the block may not be used otherwise until the end
 * of the answer. */
TCALL_API void tcall_reader_init(tcall_reader *reader,
                                 const tcall_provider *provider,
                                 tcall_chat *chat,
                                 void (*text)(void *user, tcall_str piece),
                                 void *user);
/* Takes the next bytes. Returns TCALL_OK, or an error if the answer is not what
 * the provider's format allows; further bytes are ignored then. */
TCALL_API int tcall_reader_feed(tcall_reader *reader, const char *bytes,
                                size_t len);
/* Ends the answer. Returns TCALL_OK and the items are in the chat, or an error
 * (reader->answer says more) and the chat is as it was before. Calls that were
 * cut or did not fit have item.error set; they must get an error as result. */
TCALL_API int tcall_reader_end(tcall_reader *reader);

/* ==========================================================================
 * >>openai: Chat Completions, also of compatible servers
 *
 * TOOLCALL_NO_OPENAI leaves it out, and the servers that speak its format.
 */

#ifndef TOOLCALL_NO_OPENAI
#define TCALL_HAS_OPENAI_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_openai;
#endif
#endif

/* ==========================================================================
 * >>anthropic: Messages
 *
 * TOOLCALL_NO_ANTHROPIC leaves it out.
 */

#ifndef TOOLCALL_NO_ANTHROPIC
#define TCALL_HAS_ANTHROPIC_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_anthropic;
#endif
#endif

/* ==========================================================================
 * >>ollama: its own /api/chat
 *
 * TOOLCALL_NO_OLLAMA leaves it out.
 */

#ifndef TOOLCALL_NO_OLLAMA
#define TCALL_HAS_OLLAMA_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_ollama;
#endif
#endif

/* ==========================================================================
 * >>responses: the Responses API of OpenAI
 *
 * TOOLCALL_NO_RESPONSES leaves it out.
 */

#ifndef TOOLCALL_NO_RESPONSES
#define TCALL_HAS_RESPONSES_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_responses;
#endif
#endif

/* ==========================================================================
 * >>gemini: generateContent of Google
 *
 * TOOLCALL_NO_GEMINI leaves it out.
 */

#ifndef TOOLCALL_NO_GEMINI
#define TCALL_HAS_GEMINI_
#ifndef TOOLCALL_STATIC
extern const tcall_provider tcall_gemini;
#endif
#endif

/* ==========================================================================
 * >>servers: that speak the format of OpenAI, more or less
 *
 * Each is a tcall_provider: tcall_groq, tcall_mistral ... A copy with another
 * url, path or quirk serves what is not here. TOOLCALL_NO_SERVERS leaves them
 * out.
 */

/* Each with what is known of it: X(name, url, path, key header, before the key,
 * reasoning, its member of a message, strict mode, quirks). */
#define TCALL_SERVERS(X)                                                       \
    X(groq, "https://api.groq.com", "/openai/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_FREE_REASONING)                         \
    X(mistral, "https://api.mistral.ai", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, NULL,                  \
      TCALL_STRICT_OPENAI,                                                     \
      TCALL_QUIRK_NINE_LETTER_IDS | TCALL_QUIRK_ANY | TCALL_QUIRK_MAX_TOKENS | \
          TCALL_QUIRK_NO_USAGE | TCALL_QUIRK_FREE_REASONING)                   \
    X(deepseek, "https://api.deepseek.com", "/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE, TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS)     \
    X(openrouter, "https://openrouter.ai", "/api/v1/chat/completions",         \
      "Authorization", "Bearer ", TCALL_REASONING_DETAILS, NULL,               \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_MAX_TOKENS)                             \
    X(xai, "https://api.x.ai", "/v1/chat/completions", "Authorization",        \
      "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",                    \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_FREE_REASONING)                         \
    X(azure, "", "/openai/v1/chat/completions", "api-key", "",                 \
      TCALL_REASONING_NONE, NULL, TCALL_STRICT_OPENAI, 0)                      \
    X(gemini_v1, "https://generativelanguage.googleapis.com",                  \
      "/v1beta/openai/chat/completions", "Authorization", "Bearer ",           \
      TCALL_REASONING_SIGNATURES, NULL, TCALL_STRICT_NONE,                     \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS)                        \
    X(llamacpp, "http://127.0.0.1:8080", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_SAY_PARALLEL |                     \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING)                 \
    X(lmstudio, "http://127.0.0.1:1234", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_PARALLEL |                      \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING)                 \
    X(ollama_v1, "http://127.0.0.1:11434", "/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_CHOICE |                        \
          TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS |                   \
          TCALL_QUIRK_FREE_REASONING)

#if !defined TOOLCALL_NO_SERVERS && defined TCALL_HAS_OPENAI_
#define TCALL_HAS_SERVERS_
#ifndef TOOLCALL_STATIC
#define TCALL_X_(name, ...) extern const tcall_provider tcall_##name;
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif
#endif

/* ==========================================================================
 * >>providers: all of them, by name
 */

/* Returns the provider or server of this name ("groq"), or NULL. Links all
 * that are not left out. */
TCALL_API const tcall_provider *tcall_provider_named(const char *name);

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

/* ==========================================================================
 * >>agent_desc: what an agent is made of
 */

#ifndef TOOLCALL_NO_AGENT

/* What an agent is made of. tc, provider, model and the transport's open,
 * write, read and close are required; zero is the default of all the rest. */
typedef struct tcall_agent_desc {
    tcall *tc;
    const tcall_provider *provider;
    tcall_transport transport;
    const char *model;
    const char *key;    /* secret; NULL when the server wants none */
    const char *path;   /* default: the provider's; "{model}" is filled in */
    const char *system; /* instructions for the model */
    /* Further members of the body and further headers: see tcall_chat_request
     * and tcall_header. They are checked here and whenever a turn begins; of
     * agent->desc they may be replaced between two turns. */
    const char *extra;
    const struct tcall_header *headers;
    size_t header_count; /* at most TCALL_AGENT_HEADERS */
    bool cache_prompt;   /* see tcall_chat_request */
    int max_tokens;      /* of one answer; default: the provider's */
    int parallel;        /* calls of one answer that are under way at a time,
                          * where tools answer TCALL_E_AGAIN; default 1 */
    const tcall_call *parent; /* of a sub-agent: the call that it works for */
    /* Limits of one turn. */
    int max_rounds;  /* requests; default 8 */
    int max_calls;   /* calls run; default 32 */
    uint32_t max_ms; /* time; default: no limit */
    /* Tokens, requests and answers together, as the provider counts
     * them: once there are so many no call runs and no request is made. An
     * answer that ends the turn may pass it. Default: no limit. */
    uint32_t max_turn_tokens;
    /* How often one request is sent; default 3, 1: never again. It is sent
     * again where that may help: nothing of an answer came because the
     * connection failed, or the HTTP status is 408, 409, 429 or 500 to 599, or
     * as the header x-should-retry says. The wait before is the server's
     * (Retry-After), else 0.5 s, 1 s, 2 s and so on to 8 s, up to half of
     * which is left to chance. A wait that would pass max_ms ends the turn. No
     * tool runs again because of it. */
    int max_tries;
    uint32_t max_wait_ms; /* longer waits are cut to this; default 60000 */
    uint32_t seed;        /* of chance in those waits; default: the clock */
    size_t io_size;       /* bytes for reading and writing; default 512 */
    bool stream;
    /* One call an answer: the provider is told so, and further ones do not run
     * but have TCALL_E_LIMIT as result. */
    bool no_parallel;
    /* Calls that a local model writes as text count as calls: see
     * >>text_calls. */
    bool text_calls;
    /* Replace ${name} in descriptions of tools; NULL: they are sent as they
     * are. */
    const tcall_variable *variables;
    /* Not NULL: of more than TCALL_AGENT_ALL tools only those that these
     * options pick for what the user says are sent, for the whole turn. Where
     * none fits, or none is new, those of the turn before are. Other tools make
     * the provider read all anew, and void the reasoning that was to go back.
     * NULL: all are sent. */
    const struct tcall_pick_opts *pick_opts;
} tcall_agent_desc;

enum {
    TCALL_AGENT_HEADERS = 4, /* most headers of the user */
    TCALL_AGENT_ALL = 20,    /* so many tools are all sent */
    TCALL_AGENT_PICKS = 16   /* most picks that are sent, pinned ones too */
};

#endif /* TOOLCALL_NO_AGENT */

/* ==========================================================================
 * >>agent: say, run, plan, over a transport
 *
 * A request is written twice by the same function, once to count its bytes and
 * once to send them. Planning and acting are apart: tcall_agent_plan returns
 * checked calls, tcall_agent_step and tcall_agent_run also run them.
 *
 * A turn is from what a person says to the answer, or to the error that ends
 * it: TCALL_EVENT_TURN and TCALL_EVENT_TURN_END. Its number, and what it has
 * used of the limits of desc, is agent->turn; each call points to it.
 */

#ifndef TOOLCALL_NO_AGENT

typedef struct tcall_agent tcall_agent;

/* Sets an agent up in the block of desc->tc. Returns TCALL_OK, TCALL_E_MEMORY
 * (the block's need says how large to make it), or TCALL_E_USAGE where desc
 * lacks something: agent->problem says what, in a sentence. Until it has
 * succeeded each function below answers TCALL_E_USAGE. The memory is given back
 * only by tcall_init. */
TCALL_API int tcall_agent_init(tcall_agent *agent,
                               const tcall_agent_desc *desc);
/* Changes provider, model, key, path, transport, or whatever else desc says,
 * between turns; tc and io_size stay. The conversation goes on: reasoning of
 * another provider is not sent. Returns TCALL_OK, TCALL_E_USAGE during a turn
 * or where desc lacks something (agent->problem), or TCALL_E_MEMORY; after an
 * error nothing has changed. */
TCALL_API int tcall_agent_use(tcall_agent *agent, const tcall_agent_desc *desc);
/* Runs a whole turn: tcall_agent_say, then steps until it is over. Returns
 * TCALL_OK and tcall_agent_text is the answer, or the error that ended it: an
 * answer that did not end by itself is one of those of tcall_answer_ending, and
 * what came of its text stays; TCALL_E_APPROVAL, where calls wait for a
 * verdict: go on with tcall_agent_step. */
TCALL_API int tcall_agent_run(tcall_agent *agent, tcall_str text);
/* Begins a turn with what the user says; a plan that waits is dropped. Where
 * the block is too small for all of the conversation its oldest turns are
 * dropped, as a whole. Returns TCALL_OK, TCALL_E_USAGE during a turn or where
 * agent->problem says why, or TCALL_E_MEMORY. */
TCALL_API int tcall_agent_say(tcall_agent *agent, tcall_str text);
/* Does one bounded piece of work. Returns TCALL_E_AGAIN: call it again when
 * agent->wait is over, sooner does no harm; otherwise as tcall_agent_run. After
 * TCALL_E_APPROVAL call it when there is a verdict, and after agent->wait.ms
 * at the latest. */
TCALL_API int tcall_agent_step(tcall_agent *agent);
/* Sleeps by transport.wait as agent->wait says, but at most TCALL_WAIT_MOST_MS,
 * in loops around tcall_agent_step. */
TCALL_API void tcall_agent_wait(tcall_agent *agent);
/* Returns the model's text of this turn; it is valid until the next step. */
TCALL_API tcall_str tcall_agent_text(const tcall_agent *agent);
/* Ends the turn with TCALL_E_CANCELLED at the next step. It only sets a flag: a
 * signal handler or an interrupt may call it. */
TCALL_API void tcall_agent_cancel(tcall_agent *agent);
/* Begins a turn in which nothing runs, and does one exchange. tools are those
 * that the model gets to see, from tcall_pick or with only their index set, at
 * most TCALL_AGENT_PICKS; NULL: those of tcall_agent_say. Returns the number of
 * calls in the answer; 0 ends the turn.
 *
 * Look at each with tcall_agent_call. Then give each its result, with
 * tcall_agent_result, and go on: with tcall_agent_plan, text empty, or
 * tcall_agent_step, which returns TCALL_OK where agent->answer.calls wait anew
 * or, if there are none, the turn has ended. Or drop the plan: whatever is said
 * next does, and so does tcall_agent_cancel at the next step. */
TCALL_API int tcall_agent_plan(tcall_agent *agent, tcall_str text,
                               const tcall_picked *tools, int count);
/* Checks the index-th call of the last answer, as tcall_hydrate does. Release
 * it when done. */
TCALL_API int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call);
/* Gives the result of a call of a plan. Returns TCALL_E_USAGE when it has one,
 * or is not of this plan. */
TCALL_API int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                                 tcall_str text, bool error);

struct tcall_agent {
    tcall_wait wait;     /* what tcall_agent_step waits for */
    const char *problem; /* why tcall_agent_init refused; else NULL */
    tcall_chat chat;
    tcall_response response; /* the last one, without its body */
    tcall_answer answer;     /* the last one */
    tcall_agent_desc desc;   /* with its defaults */
    tcall_turn turn;         /* this one, or the last; read it only */
    /* private */
    tcall_flag cancelled; /* by tcall_agent_cancel */
    uint8_t state;
    bool opened;        /* the transport has to be closed */
    bool reconnected;   /* a dead connection was replaced */
    bool picked;        /* only the picks are sent */
    uint8_t pick_count; /* of picks */
    uint16_t picks[TCALL_AGENT_PICKS];
    uint16_t tries;              /* of this request */
    uint32_t pause_began, pause; /* the wait before the next try */
    uint32_t random;             /* state of chance in these waits */
    tcall_request request;
    tcall_header headers[3 + TCALL_AGENT_HEADERS];
    long context; /* what servers are told that have to be */
    tcall_reader *reader;
    char *io;              /* desc.io_size bytes */
    size_t path_size;      /* of a path in the block, before the chat */
    size_t sent, received; /* bytes of the bodies */
    size_t unsent;         /* bytes in io that were written, but not sent */
    tcall_resume_ resume;  /* where the request is taken up again */
    size_t answer_at;      /* where the last answer begins in the chat */
    size_t call_at;        /* calls of it that have a result */
    tcall_call *batch;     /* calls under way: call, or in the block */
    size_t batch_high;     /* of the block, before them */
    int batch_count;
    int delivered;    /* results of the batch that are in the chat */
    int current;      /* the call of the batch that goes on next */
    int waiting;      /* calls in a row that wait */
    int asking;       /* of them, for approval */
    tcall_writer out; /* counts a request; of the call whose turn it is */
    tcall_call call;
};

#endif /* TOOLCALL_NO_AGENT */

/* ==========================================================================
 * >>save: conversations that outlive a restart
 */

#ifndef TOOLCALL_NO_AGENT
#ifndef TOOLCALL_NO_SAVE

/* Writes the conversation as bytes, for tcall_agent_load on this machine or
 * another: all that was said, the picks, and calls that wait for a verdict or
 * for tcall_agent_result. Keys and tools are not in it. Returns TCALL_OK, the
 * error of the writer, or TCALL_E_USAGE while a request or a tool is under way,
 * or a call has run whose result waits for that of another. */
TCALL_API int tcall_agent_save(const tcall_agent *agent, tcall_writer *out);
/* Puts what tcall_agent_save wrote in place of the conversation, between turns.
 * Calls that waited are checked, and approved, anew. Returns TCALL_OK;
 * TCALL_E_AGAIN: a turn goes on, with tcall_agent_step, whose limits of time
 * begin now; TCALL_E_USAGE during a turn; TCALL_E_MEMORY, and the block's need
 * says how large to make it; TCALL_E_PROTOCOL when the bytes are damaged or of
 * another version. After an error the conversation is empty. */
TCALL_API int tcall_agent_load(tcall_agent *agent, tcall_str bytes);

#endif
#endif /* TOOLCALL_NO_AGENT */

/* ==========================================================================
 * >>mcp: a server of the Model Context Protocol on a line of bytes
 *
 * Whoever drives a UART, a USB port or stdio feeds what comes and gets what is
 * to be sent: JSON-RPC 2.0, one message a line. Clients of both eras are
 * answered, those that begin with initialize (2024-11-05 to 2025-11-25) and
 * those that do not (2026-07-28).
 *
 *     #define BOARD(TOOL, me)                                             \
 *         TOOL(me, led, TCALL_ACTUATE, false, "Switches the LED")         \
 *         TOOL(me, relay, TCALL_ACTUATE, true, "Switches a relay")
 *     TCALL_TOOLS(board, BOARD)
 *
 * makes the rows board_tools of tools with the shapes led_shape, relay_shape
 * and the functions led_run, relay_run, and union board_room, which has room
 * for the arguments of each. Columns: name, permissions, confirm, description.
 * TCALL_TOOLS_AS is for names that C does not allow, with one more column:
 * TOOL(me, get_weather, "get-weather", TCALL_READ, false, "Looks outside").
 * On an AVR rows have to be made so, for they and their texts are in flash,
 * also where one is given to desc.approve; elsewhere any row with a shape will
 * do.
 *
 * A line is one message. A batch, which 2025-03-26 knows, is refused as a whole
 * by one error: a client that waits for it does not wait in vain.
 *
 * No message is held: arguments go into their struct as they come, and a tool
 * runs when its line has ended and all of it was right. It runs once: nothing
 * waits. What it writes is sent at once; after an error, what it wrote are the
 * reasons. Of the context it sees bound, the struct, and user. A call of a tool
 * whose permissions are not given, or that a person has to confirm where
 * nobody can be asked, is answered by an error that says so.
 */

#if !defined TOOLCALL_NO_MCP && !defined TOOLCALL_NO_SHAPES

/* Bytes that are collected before they are sent, 1 or more: on USB they share a
 * packet, a UART takes single ones as well. */
#ifndef TOOLCALL_MCP_PIECE
#define TOOLCALL_MCP_PIECE 32
#endif

/* The longest name of a tool; the longest id of a request, as JSON: one that is
 * longer is answered with an error and null for its id; the longest text, as
 * JSON without white space, of arguments that come before the name of their
 * tool, as some clients write them: longer ones are refused. */
#ifndef TOOLCALL_MCP_NAME
#define TOOLCALL_MCP_NAME 64
#endif
#ifndef TOOLCALL_MCP_ID
#define TOOLCALL_MCP_ID 40
#endif
#ifndef TOOLCALL_MCP_STASH
#define TOOLCALL_MCP_STASH 96
#endif

typedef struct tcall_mcp_desc {
    const char *name;    /* of the server; this and version are in flash */
    const char *version; /* default: "1" */
    const tcall_tool *tools;
    uint16_t tool_count;
    uint8_t allow; /* permissions given: TCALL_READ | ...; default none */
    void *room;    /* for the struct of any tool: union board_room */
    uint16_t room_size;
    /* Asks a person whether the tool may run. NULL: nobody can be asked. */
    bool (*approve)(void *user, const tcall_tool *tool, const void *args);
    /* Makes calls from the text of their arguments in place of the library:
     * with a registry, of tools without a shape. Approval is its matter then,
     * and TOOLCALL_MCP_STASH is the length of all arguments. Writes the result
     * and returns TCALL_OK or an error. */
    int (*call)(void *user, const tcall_tool *tool, tcall_str arguments,
                tcall_writer *out);
    tcall_sink sink; /* takes what is to be sent, all of it */
    void *user;      /* for all of the above */
} tcall_mcp_desc;

/* Private: what is kept of a message. Each begins as the struct of a shape. */
typedef struct tcall_mcp_meta_ {
    uint8_t given_[1], came_[1];
    char version[16];
} tcall_mcp_meta_;

typedef struct tcall_mcp_params_ {
    uint8_t given_[1], came_[1];
    uint8_t version; /* index, or 255 */
    char name[TOOLCALL_MCP_NAME + 1];
    tcall_mcp_meta_ meta;
} tcall_mcp_params_;

typedef struct tcall_mcp_message_ {
    uint8_t given_[1], came_[1];
    uint8_t jsonrpc, method; /* index, or 255 */
    char id[TOOLCALL_MCP_ID + 1];
    tcall_mcp_params_ params;
} tcall_mcp_message_;

typedef struct tcall_mcp {
    tcall_mcp_desc desc;
    /* private */
    tcall_writer out;
    char piece[TOOLCALL_MCP_PIECE];
    bool blank;             /* nothing but white space in this line so far */
    const tcall_tool *tool; /* that is called or listed; NULL: none */
    tcall_mcp_message_ message;
    char stash[TOOLCALL_MCP_STASH + 1];
    union {
        tcall_decoder decoder;
        tcall_ctx cx; /* while a tool runs, when all is read */
    } at_work;
} tcall_mcp;

/* Prepares a server. Returns TCALL_OK; TCALL_E_TOOL when a row has no shape
 * (and there is no desc.call) or too long a name; TCALL_E_MEMORY when desc.room
 * is too small for the struct of one. */
TCALL_API int tcall_mcp_init(tcall_mcp *mcp, const tcall_mcp_desc *desc);
/* Takes bytes of the line in any pieces, answers and runs tools. Returns
 * TCALL_OK, or the error of the sink. */
TCALL_API int tcall_mcp_feed(tcall_mcp *mcp, const char *bytes, size_t len);
/* Refuses the message that is coming in, whatever else comes of it: the driver
 * lost a byte, or got a wrong one. JSON cannot show that: 60 may become 6. */
TCALL_API void tcall_mcp_poison(tcall_mcp *mcp);

/* clang-format off */
#define TCALL_TOOLS(me, TOOLS)                                                \
    TCALL_TOOLS_MAKE_(me, TOOLS, TCALL_TOOL_TEXTS_, TCALL_TOOL_ROW_,          \
                      TCALL_TOOL_ROOM_)
#define TCALL_TOOLS_AS(me, TOOLS)                                             \
    TCALL_TOOLS_MAKE_(me, TOOLS, TCALL_TOOL_AS_TEXTS_, TCALL_TOOL_AS_ROW_,    \
                      TCALL_TOOL_AS_ROOM_)
#define TCALL_TOOLS_MAKE_(me, TOOLS, TEXTS, ROW, ROOM)                        \
    TOOLS(TEXTS, me)                                                          \
    static const tcall_tool me##_tools[] TCALL_FLASH_ = {TOOLS(ROW, me)};     \
    union me##_room { TOOLS(ROOM, me) };
#define TCALL_TOOL_TEXTS_(me, name, permissions, confirm, text)               \
    TCALL_TOOL_AS_TEXTS_(me, name, #name, permissions, confirm, text)
#define TCALL_TOOL_ROW_(me, name, permissions, confirm, text)                 \
    TCALL_TOOL_AS_ROW_(me, name, #name, permissions, confirm, text)
#define TCALL_TOOL_ROOM_(me, name, permissions, confirm, text)                \
    struct name name;
#define TCALL_TOOL_AS_TEXTS_(me, name, sent, permissions, confirm, text)      \
    static const char me##_##name##_name_[] TCALL_FLASH_ = sent;              \
    static const char me##_##name##_text_[] TCALL_FLASH_ = text;
#define TCALL_TOOL_AS_ROW_(me, name, sent, permissions, confirm, text)        \
    TCALL_TOOL_(me##_##name##_name_, me##_##name##_text_, &name##_shape,      \
                name##_run, permissions, confirm),
#define TCALL_TOOL_AS_ROOM_(me, name, sent, permissions, confirm, text)       \
    struct name name;
/* clang-format on */

#endif /* TOOLCALL_NO_MCP */

#ifdef __cplusplus
}
#endif
#endif /* TOOLCALL_H */

/* ======================================================================== */
#if defined TOOLCALL_IMPLEMENTATION && !defined TOOLCALL_IMPLEMENTED_
#define TOOLCALL_IMPLEMENTED_

#include <float.h>
#include <limits.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==========================================================================
 * >>base
 */

/* ---- slices ---- */

TCALL_SHARED_ tcall_str tcall_slice_(const char *ptr, size_t len)
{
    tcall_str slice;
    slice.ptr = ptr;
    slice.len = len;
    return slice;
}

tcall_str tcall_str_of(const char *text)
{
    return tcall_slice_(text, text ? strlen(text) : 0);
}

bool tcall_str_eq(tcall_str a, tcall_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- errors ---- */

/* A row with its sentence, and one whose sentence was left out. */
#define TCALL_SAID_(name, code, sentence)   {code, sentence},
#define TCALL_UNSAID_(name, code, sentence) {code, code},
#ifdef TOOLCALL_NO_SENTENCES
#define TCALL_CALL_ROW_ TCALL_UNSAID_
#else
#define TCALL_CALL_ROW_ TCALL_SAID_
#endif
#ifdef TOOLCALL_NO_SCHEMA
#define TCALL_SCHEMA_ROW_ TCALL_UNSAID_
#else
#define TCALL_SCHEMA_ROW_ TCALL_CALL_ROW_
#endif
#ifdef TOOLCALL_NO_HOOKS
#define TCALL_HOOKS_ROW_ TCALL_UNSAID_
#else
#define TCALL_HOOKS_ROW_ TCALL_CALL_ROW_
#endif
#ifdef TOOLCALL_NO_AGENT
#define TCALL_AGENT_ROW_ TCALL_UNSAID_
#else
#define TCALL_AGENT_ROW_ TCALL_CALL_ROW_
#endif

/* Row -error: the first is success, the last any number that is no error. */
static const struct {
    const char *code, *sentence;
} tcall_errors_[] = {
    {"ok", "ok"},
    TCALL_ERRORS_CALL(TCALL_CALL_ROW_) TCALL_ERRORS_SCHEMA(TCALL_SCHEMA_ROW_)
        TCALL_ERRORS_HOOKS(TCALL_HOOKS_ROW_)
            TCALL_ERRORS_AGENT(TCALL_AGENT_ROW_){"?", "unknown error"}};

static int tcall_error_row_(int error)
{
    if (error > TCALL_OK)
        return 0;
    return error < -TCALL_I_COUNT ? TCALL_I_COUNT + 1 : -error;
}

const char *tcall_error_code(int error)
{
    return tcall_errors_[tcall_error_row_(error)].code;
}

const char *tcall_error_text(int error)
{
    return tcall_errors_[tcall_error_row_(error)].sentence;
}

const char *tcall_error_type(int error)
{
    switch (error) {
    case TCALL_E_DENIED:
    case TCALL_E_ABORTED:
    case TCALL_E_APPROVAL: return "permission";
    case TCALL_E_TWICE: return "security";
    case TCALL_E_FAILED:
    case TCALL_E_LOOP:
    case TCALL_E_STALE:
    case TCALL_E_UNREAD:
    case TCALL_E_NOT_FOUND: return "user";
    case TCALL_E_CANCELLED: return "cancelled";
    case TCALL_E_TIMEOUT: return "timeout";
    case TCALL_E_UNKNOWN:
    case TCALL_E_CUT: return "validation";
    default: break;
    }
    /* Everything else that reading and checking arguments reports. */
    return error <= TCALL_E_INVALID && error >= TCALL_E_RANGE ? "validation"
                                                              : "system";
}

/* ---- characters ---- */

TCALL_SHARED_ bool tcall_is_digit_(char c)
{
    return c >= '0' && c <= '9';
}

/* White space as JSON has it. */
TCALL_SHARED_ bool tcall_is_space_(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the end of a run of bytes of a string that stand for themselves. */
TCALL_SHARED_ const char *tcall_plain_run_(const char *at, const char *end)
{
    for (; at < end; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte > '\\' ? byte >= 0x80 /* most letters are tested once */
                        : byte < 0x20 || byte == '"' || byte == '\\')
            break;
    }
    return at;
}

/* Returns the value of a hex digit, or -1. */
TCALL_SHARED_ int tcall_hex_(char digit)
{
    if (tcall_is_digit_(digit))
        return digit - '0';
    digit = (char)(digit | 0x20); /* to lower case */
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* First or following byte of a multi-byte character. */
TCALL_SHARED_ bool tcall_utf8_step_(tcall_utf_ *u, unsigned char c)
{
    if (u->left) {
        if (c < u->low || c > u->high)
            return false;
        u->left--;
        u->low = 0x80;
        u->high = 0xBF;
        return true;
    }
    if (c < 0xC2 || c > 0xF4)
        return false;
    u->left = (uint8_t)(c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3);
    u->low = (uint8_t)(c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80);
    u->high = (uint8_t)(c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF);
    return true;
}

static const char tcall_literals_[] TCALL_FLASH_ = "true\0false\0null";

/* Returns the literal that begins with c, in flash; null if there is none. */
TCALL_SHARED_ const char *tcall_literal_(char c)
{
    return tcall_literals_ + (c == 't' ? 0 : c == 'f' ? 5 : 11);
}

/* Writes a code point as UTF-8, 1 to 4 bytes, and returns how many. */
TCALL_SHARED_ size_t tcall_utf8_(char *out, uint32_t code)
{
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    size_t i;
    for (i = len - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(first[len] | code);
    return len;
}

#if !defined TOOLCALL_NO_PATTERN || !defined TOOLCALL_NO_PICK
/* Returns the code point at *at of valid UTF-8, and moves *at past it. */
TCALL_SHARED_ int32_t tcall_utf8_next_(const char **at)
{
    unsigned char first = (unsigned char)*(*at)++;
    int more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    int32_t code = more ? first & (0x3F >> more) : first;
    for (; more; more--)
        code = code << 6 | (*(*at)++ & 0x3F);
    return code;
}
#endif

/* Returns len or a little less, so that text is not cut inside a character.
 * text[len] must be readable. */
TCALL_SHARED_ size_t tcall_utf8_cut_(const char *text, size_t len)
{
    while (len && ((unsigned char)text[len] & 0xC0) == 0x80)
        len--;
    return len;
}

/* Returns the character that an escape of one letter means, or 0. */
TCALL_SHARED_ char tcall_unescape_(char letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* ---- the grammar of numbers ---- */

/* States of a number. After those marked it may end. */
enum {
    TCALL_N_NONE_, /* no number */
    TCALL_N_START_,
    TCALL_N_MINUS_,
    TCALL_N_ZERO_,    /* a 0 before the point; may end */
    TCALL_N_INTEGER_, /* digits before the point; may end */
    TCALL_N_POINT_,
    TCALL_N_FRACTION_, /* digits after the point; may end */
    TCALL_N_E_,
    TCALL_N_SIGN_,    /* of the exponent */
    TCALL_N_EXPONENT_ /* its digits; may end */
};

/* The grammar of numbers: the next state by class of the next character, 0
 * where it is none of the number. */
static const uint8_t tcall_number_grammar_[][6] TCALL_FLASH_ = {
    /* 0  1-9  .  e  +  - */
    {0, 0, 0, 0, 0, 0}, /* none */
    {3, 4, 0, 0, 0, 2}, /* start */
    {3, 4, 0, 0, 0, 0}, /* minus */
    {0, 0, 5, 7, 0, 0}, /* zero */
    {4, 4, 5, 7, 0, 0}, /* integer */
    {6, 6, 0, 0, 0, 0}, /* point */
    {6, 6, 0, 7, 0, 0}, /* fraction */
    {9, 9, 0, 0, 8, 8}, /* e */
    {9, 9, 0, 0, 0, 0}, /* sign */
    {9, 9, 0, 0, 0, 0}, /* exponent */
};

TCALL_SHARED_ uint8_t tcall_number_next_(uint8_t state, char c)
{
    const uint8_t *next = tcall_number_grammar_[state];
    switch (c) {
    case '.': next += 2; break;
    case 'e':
    case 'E': next += 3; break;
    case '+': next += 4; break;
    case '-': next += 5; break;
    default:
        if (!tcall_is_digit_(c))
            return 0;
        next += c != '0';
    }
    return (uint8_t)TCALL_BYTE_(next);
}

TCALL_SHARED_ bool tcall_number_ends_(uint8_t state)
{
    return state == TCALL_N_ZERO_ || state == TCALL_N_INTEGER_ ||
           state == TCALL_N_FRACTION_ || state == TCALL_N_EXPONENT_;
}

/* ---- decimal numbers ----
 *
 * Numbers stay text and are compared exactly: no floating point, nothing is
 * rounded. The significant digits are those from first to last, where a point
 * between them does not count; the first one is worth digit * 10^top.
 */
typedef struct tcall_num_ {
    const char *first, *last; /* neither is 0; both NULL: the number is 0 */
    int top;
    int sign; /* -1, 0, 1 */
} tcall_num_;

/* Greater exponents are no different from this one. Ten times it fits an int
 * of 16 bits, too. */
#define TCALL_EXPONENT_MAX_ (INT_MAX < 32768 ? 1638 : 1000000)

/* Returns the exponent that text, "e+5" or nothing, holds. */
static int tcall_num_exponent_(const char *at, const char *end)
{
    bool minus = false;
    int exponent = 0;
    for (; at < end; at++) {
        if (*at == '-')
            minus = true;
        else if (tcall_is_digit_(*at) && exponent < TCALL_EXPONENT_MAX_)
            exponent = exponent * 10 + (*at - '0');
    }
    return minus ? -exponent : exponent;
}

/* Reads a number that the scanner accepted. */
TCALL_SHARED_ tcall_num_ tcall_num_read_(tcall_str text)
{
    const char *at = text.ptr, *end = at + text.len, *point = NULL;
    bool minus = *at == '-';
    tcall_num_ number;
    number.first = number.last = NULL;
    number.sign = 0;
    for (at += minus; at < end && (*at | 0x20) != 'e'; at++) {
        if (*at == '.') {
            point = at;
        } else if (*at != '0') {
            number.first = number.first ? number.first : at;
            number.last = at;
            number.sign = minus ? -1 : 1;
        }
    }
    if (!point)
        point = at;
    number.top = tcall_num_exponent_(at, end);
    if (number.first) /* a digit before the point is one place nearer to it */
        number.top +=
            (int)(point - number.first) - (number.first < point ? 1 : 0);
    return number;
}

/* Returns the next significant digit from *at on, 0 after the last. The point
 * between the digits is stepped over. */
TCALL_SHARED_ int tcall_num_digit_(const tcall_num_ *number, const char **at)
{
    if (*at <= number->last && **at == '.')
        ++*at;
    if (*at > number->last)
        return 0;
    return *(*at)++ - '0';
}

/* Returns the number of significant digits. */
TCALL_SHARED_ int tcall_num_digits_(const tcall_num_ *number)
{
    const char *at;
    int count = 0;
    if (!number->sign)
        return 0;
    for (at = number->first; at <= number->last; at++)
        count += *at != '.';
    return count;
}

/* True for 5, 5.0 and 5e3, false for 5.5. */
TCALL_SHARED_ bool tcall_num_integral_(const tcall_num_ *number)
{
    return !number->sign || number->top - tcall_num_digits_(number) + 1 >= 0;
}

/* Returns < 0, 0 or > 0. */
TCALL_SHARED_ int tcall_num_compare_(const tcall_num_ *a, const tcall_num_ *b)
{
    const char *at_a = a->first, *at_b = b->first;
    int order = a->sign - b->sign;
    if (order || !a->sign)
        return order;
    order = a->top - b->top;
    while (!order && (at_a <= a->last || at_b <= b->last))
        order = tcall_num_digit_(a, &at_a) - tcall_num_digit_(b, &at_b);
    return a->sign * order;
}

/* Gives number * 10^decimals as an integer; surplus digits are cut off.
 * Returns false when it does not fit. */
TCALL_SHARED_ bool tcall_num_int64_(const tcall_num_ *number, int decimals,
                                    int64_t *out)
{
    const char *at = number->first;
    int left = number->top + decimals; /* digits to come, less one */
    uint64_t sum = 0, limit = (uint64_t)INT64_MAX + (number->sign < 0);
    *out = 0;
    if (!number->sign || left < 0)
        return true;
    if (left > 18) /* more digits than 64 bits hold */
        return false;
    for (; left >= 0; left--) {
        sum = sum * 10 + (uint64_t)tcall_num_digit_(number, &at);
        if (sum > limit)
            return false;
    }
    *out = number->sign < 0 ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

/* Returns digits * 10^exponent. It is the nearest double for up to 2^53 and
 * 10^22, which doubles hold exactly; else it may be off by a few units in the
 * last place. */
TCALL_SHARED_ double tcall_decimal_(uint64_t digits, int exponent)
{
    double value = (double)digits, power;
    int steps = exponent < 0 ? -exponent : exponent, i;
    for (; steps > 0 && value > 0 && value <= DBL_MAX; steps -= 22) {
        power = 1;
        for (i = 0; i < 22 && i < steps; i++)
            power *= 10;
        value = exponent < 0 ? value / power : value * power;
    }
    return value;
}

/* ---- hash ---- */

/* FNV-1a: the hash of a text is that of its parts, one after the other. */
#define TCALL_HASH_EMPTY_ 2166136261u

TCALL_SHARED_ uint32_t tcall_hash_more_(uint32_t hash, tcall_str part)
{
    size_t i;
    for (i = 0; i < part.len; i++)
        hash = (hash ^ (unsigned char)part.ptr[i]) * 16777619u;
    return hash;
}

TCALL_SHARED_ uint32_t tcall_hash_(tcall_str text)
{
    return tcall_hash_more_(TCALL_HASH_EMPTY_, text);
}

/* ==========================================================================
 * >>wait
 */

/* Nothing was said yet. */
TCALL_SHARED_ void tcall_wait_begin_(tcall_wait *wait)
{
    wait->ms = TCALL_WAIT_NEVER;
    wait->count = 0;
}

TCALL_SHARED_ bool tcall_wait_is_empty_(const tcall_wait *wait)
{
    return wait->ms == TCALL_WAIT_NEVER && !wait->count;
}

/* ==========================================================================
 * >>block
 */

static size_t tcall_round_up_(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

void tcall_block_init(tcall_block *block, void *base, size_t size)
{
    size_t skew = (size_t)(-(uintptr_t)base & 7);
    memset(block, 0, sizeof *block);
    if (!base || size < skew)
        return;
    block->base = (char *)base + skew;
    block->size = (size - skew) & ~(size_t)7;
}

TCALL_SHARED_ size_t tcall_block_free_(const tcall_block *block)
{
    return block->size - block->low - block->high;
}

/* Returns whether size more bytes are free; else need says how large the block
 * has to be. */
TCALL_SHARED_ bool tcall_block_room_(tcall_block *block, size_t size)
{
    size_t used = block->low + block->high;
    if (size > tcall_block_free_(block)) {
        block->need = tcall_round_up_(used + size);
        return false;
    }
    if (block->peak < used + size)
        block->peak = used + size;
    return true;
}

/* Lets the bottom grow by size bytes, which may have been written already. */
TCALL_SHARED_ bool tcall_block_grow_(tcall_block *block, size_t size)
{
    if (!tcall_block_room_(block, size))
        return false;
    block->low += size;
    return true;
}

/* Returns size bytes of the top, or NULL. They are given back by restoring
 * block->high, so what was taken last goes first. */
TCALL_SHARED_ void *tcall_block_take_(tcall_block *block, size_t size)
{
    size = tcall_round_up_(size);
    if (!tcall_block_room_(block, size))
        return NULL;
    block->high += size;
    return block->base + block->size - block->high;
}

/* Returns the free bytes between both ends, or NULL of a block without memory:
 * C does not define NULL + 0. */
TCALL_SHARED_ char *tcall_block_gap_(const tcall_block *block)
{
    return block->base ? block->base + block->low : NULL;
}

/* ==========================================================================
 * >>shape
 *
 * Words lie in flash, one after the other, each ended by NUL. They are compared
 * there.
 */

/* Returns the word that follows this one. */
TCALL_SHARED_ const char *tcall_word_next_(const char *word)
{
    while (TCALL_BYTE_(word))
        word++;
    return word + 1;
}

/* Returns the word at an index of a list. */
TCALL_SHARED_ const char *tcall_word_at_(const char *list, int index)
{
    for (; index > 0; index--)
        list = tcall_word_next_(list);
    return list;
}

/* Returns whether the first len bytes of two words are the same. */
TCALL_SHARED_ bool tcall_word_agrees_(const char *word, const char *other,
                                      size_t len)
{
    while (len && TCALL_BYTE_(word) == TCALL_BYTE_(other)) {
        word++;
        other++;
        len--;
    }
    return len == 0;
}

/* ==========================================================================
 * >>read
 *
 * A state machine: the state says what may come, each function below eats as
 * much of a piece as it can and returns what is left. Open objects and lists
 * that have a shape are levels. Where there are more open containers than
 * levels we are in a value that has no shape of its own, or whose place is
 * wrong: it is recognised and nothing else.
 *
 * Most bytes are in strings, so tcall_decoder_feed eats runs of them itself,
 * one byte or many. What begins and ends values is TCALL_NOINLINE_: else the
 * compiler makes one function of all, in whose loop small processors have no
 * register left.
 */

#ifndef TOOLCALL_NO_SHAPES

enum {
    /* between tokens, where white space may be */
    TCALL_READ_VALUE_,
    TCALL_READ_FIRST_VALUE_, /* or ']' */
    TCALL_READ_NAME_,
    TCALL_READ_FIRST_NAME_, /* or '}' */
    TCALL_READ_COLON_,
    TCALL_READ_NEXT_, /* ',' or a closing bracket */
    TCALL_READ_END_,  /* nothing */
    /* within a token */
    TCALL_READ_STRING_,
    TCALL_READ_ESCAPE_,
    TCALL_READ_HEX_,
    TCALL_READ_HALF_,
    TCALL_READ_LITERAL_,
    TCALL_READ_NUMBER_
};

/* A value is kept as its text: not, on from here, up to here. */
enum { TCALL_KEEP_NONE_, TCALL_KEEP_MORE_, TCALL_KEEP_LAST_ };

/* What becomes of a string. */
enum {
    TCALL_INTO_NOTHING_,
    TCALL_INTO_TEXT_,
    TCALL_INTO_CHOICE_,
    TCALL_INTO_NAME_
};

/* Longer numbers are refused, so that places are counted in 16 bits; greater
 * exponents are no different from this one, which is beyond all of them. */
#define TCALL_NUMBER_DIGITS_ 1000
#define TCALL_NUMBER_POWER_  3000

static const tcall_shape tcall_any_ TCALL_FLASH_ = {
    TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL};

/* The object that is read; which one is said by the first level. */
static const tcall_shape tcall_root_ TCALL_FLASH_ = {
    TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0, 0, 0, 0, NULL};

/* For holes: what is to be read there is this object. Returns its shape. */
TCALL_SHARED_ const tcall_shape *
tcall_decoder_object_(tcall_decoder *decoder, const tcall_object *object)
{
    decoder->open_levels[decoder->levels].what = object;
    return &tcall_root_;
}

/* ---- what is wrong ---- */

/* Returns whether reading goes on, also after misfits. */
static bool tcall_read_going_(const tcall_decoder *decoder)
{
    return decoder->error == TCALL_OK || decoder->error == TCALL_E_INVALID;
}

/* Ends the reading. Returns where. */
static const char *tcall_read_stop_(tcall_decoder *decoder, int error,
                                    const char *at)
{
    decoder->error = error;
    return at;
}

/* Notes a misfit of the value that the first levels lead to. Returns it, or
 * NULL when there is no room for it. */
static tcall_misfit *tcall_read_note_(tcall_decoder *decoder, uint8_t code,
                                      uint8_t levels)
{
    tcall_misfit *misfit = NULL;
    uint8_t i;
    if (decoder->error == TCALL_OK)
        decoder->error = TCALL_E_INVALID;
    if (decoder->misfit_count < TOOLCALL_MAX_FAULTS) {
        misfit = &decoder->misfits[decoder->misfit_count];
        misfit->code = code;
        misfit->steps = levels;
        for (i = 0; i < levels; i++)
            misfit->trail[i] = decoder->open_levels[i].index;
    }
    if (decoder->misfit_count < 255)
        decoder->misfit_count++;
    return misfit;
}

/* Notes a misfit of the value that is read. */
static tcall_misfit *tcall_read_misfit_(tcall_decoder *decoder, uint8_t code)
{
    return tcall_read_note_(decoder, code, decoder->levels);
}

/* ---- where we are ---- */

/* Returns whether the innermost open container has a shape. */
static bool tcall_read_shaped_(const tcall_decoder *decoder)
{
    return decoder->depth == decoder->levels;
}

static uint8_t tcall_read_kind_(const tcall_decoder *decoder)
{
    return TCALL_FETCH_8_(&decoder->shape->kind);
}

/* Returns where the value that is read is kept, or NULL. */
static char *tcall_read_place_(const tcall_decoder *decoder,
                               const tcall_shape *shape)
{
    uint16_t offset = TCALL_FETCH_16_(&shape->offset);
    if (!decoder->base || offset == TCALL_NOWHERE)
        return NULL;
    return decoder->base + offset;
}

/* A value of these types begins. Returns its shape: after holes were filled,
 * and when another type was expected, one that takes anything. */
static const tcall_shape *tcall_read_admit_(tcall_decoder *decoder,
                                            unsigned types)
{
    if (!tcall_read_shaped_(decoder))
        return &tcall_any_;
    if (tcall_read_kind_(decoder) == TCALL_KIND_HOLE && decoder->hole)
        decoder->hole(decoder, &decoder->shape, &decoder->base);
    if (!(TCALL_FETCH_8_(&decoder->shape->types) & types)) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
        decoder->shape = &tcall_any_;
    }
    if (tcall_read_kind_(decoder) == TCALL_KIND_JSON) {
        decoder->keeping = TCALL_KEEP_MORE_;
        decoder->kept = 0;
    }
    return decoder->shape;
}

/* The value is complete. */
static void tcall_read_value_end_(tcall_decoder *decoder)
{
    decoder->state = decoder->depth ? TCALL_READ_NEXT_ : TCALL_READ_END_;
    if (decoder->keeping && tcall_read_shaped_(decoder))
        decoder->keeping = TCALL_KEEP_LAST_;
}

/* Keeps a part of the value's text. What it has no room for is noted when it
 * is complete. */
static void tcall_read_keep_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    char *to = tcall_read_place_(decoder, decoder->shape);
    uint16_t size = TCALL_FETCH_16_(&decoder->shape->size);
    if (len < (size_t)(size - decoder->kept)) {
        memcpy(to + decoder->kept, bytes, len);
        decoder->kept = (uint16_t)(decoder->kept + len);
    } else {
        decoder->kept = size;
    }
    if (decoder->keeping == TCALL_KEEP_MORE_)
        return;
    decoder->keeping = TCALL_KEEP_NONE_;
    if (decoder->kept == size) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
        decoder->kept = 0; /* half a value is none */
    }
    to[decoder->kept] = 0;
}

/* ---- words ----
 *
 * A name or a word of a choice is compared in flash as it comes: the candidate
 * agrees with all of it so far, so it is also what the next candidate has to
 * agree with. Names are tried in a circle from the expected one on.
 */

static const char *tcall_read_names_(const tcall_level_ *level)
{
    const tcall_object *object = (const tcall_object *)level->what;
    return TCALL_FETCH_POINTER_(const char *, &object->names);
}

/* Looks for another candidate, which goes on with this byte. */
static void tcall_read_candidate_(tcall_decoder *decoder, char c)
{
    tcall_string_ *string = &decoder->now.string;
    const char *word = string->word;
    do {
        if (--string->left == 0) {
            string->word = NULL;
            return;
        }
        word = tcall_word_next_(word);
        if (++string->index == string->count) { /* names: choices end here */
            word = tcall_read_names_(decoder->level);
            string->index = 0;
        }
    } while (!tcall_word_agrees_(word, string->word, string->len) ||
             TCALL_BYTE_(word + string->len) != c);
    string->word = word;
    string->len++;
}

static void tcall_read_word_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    tcall_string_ *string = &decoder->now.string;
    const char *end = bytes + len;
    while (string->word) {
        const char *word = string->word + string->len, *from = bytes;
        for (; bytes < end && TCALL_BYTE_(word) == *bytes; bytes++)
            word++;
        string->len += (size_t)(bytes - from);
        if (bytes == end)
            return;
        tcall_read_candidate_(decoder, *bytes++);
    }
}

/* Returns whether the word that came is a candidate as a whole. */
static bool tcall_read_word_known_(tcall_decoder *decoder)
{
    tcall_read_word_(decoder, "", 1);
    return decoder->now.string.word != NULL;
}

/* Members that came are a set of bits after those that were given. */
static char *tcall_read_came_(const tcall_level_ *level)
{
    const tcall_object *object = (const tcall_object *)level->what;
    return level->base + (TCALL_FETCH_8_(&object->count) + 7) / 8;
}

/* A name that is known: its value is expected, and then the next name. */
static void tcall_read_member_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    uint8_t index = decoder->now.string.index, bit = (uint8_t)(1 << index % 8);
    char *given = level->base + index / 8;
    char *came = tcall_read_came_(level) + index / 8;
    level->index = index;
    level->next = decoder->now.string.word + decoder->now.string.len;
    if (*came & bit) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_DUPLICATE);
        return;
    }
    *came = (char)(*came | bit);
    *given = (char)(*given | bit);
    decoder->shape =
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members) + index;
    decoder->base = level->base;
}

static void tcall_read_name_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    uint16_t before = level->index;
    decoder->shape = &tcall_any_;
    if (tcall_read_word_known_(decoder)) {
        tcall_read_member_(decoder);
    } else if (!TCALL_FETCH_8_(&object->open)) {
        level->index = 0xFFFF;
        tcall_read_misfit_(decoder, TCALL_MISFIT_UNKNOWN);
        level->index = before;
    }
}

/* ---- strings ---- */

static void tcall_read_string_begin_(tcall_decoder *decoder, uint8_t use)
{
    tcall_string_ *string = &decoder->now.string;
    string->utf.left = 0;
    string->high = 0;
    string->word = NULL;
    string->to = NULL;
    string->len = string->followed = 0;
    decoder->use = use;
    decoder->state = TCALL_READ_STRING_;
}

/* After the last name the first one comes. */
static void tcall_read_name_begin_(tcall_decoder *decoder)
{
    tcall_string_ *string = &decoder->now.string;
    const tcall_level_ *level = decoder->level;
    uint8_t count;
    tcall_read_string_begin_(decoder, TCALL_INTO_NAME_);
    if (!tcall_read_shaped_(decoder))
        return;
    count = TCALL_FETCH_8_(&((const tcall_object *)level->what)->count);
    string->count = string->left = count;
    string->index = (uint8_t)(level->index + 1);
    string->word = count ? level->next : NULL;
    if (count && string->index == count) {
        string->index = 0;
        string->word = tcall_read_names_(level);
    }
}

static void tcall_read_text_begin_(tcall_decoder *decoder)
{
    const tcall_shape *shape = tcall_read_admit_(decoder, TCALL_SHAPE_STRING);
    tcall_string_ *string = &decoder->now.string;
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    tcall_read_string_begin_(decoder, TCALL_INTO_NOTHING_);
    if (kind == TCALL_KIND_TEXT) {
        decoder->use = TCALL_INTO_TEXT_;
        string->to = tcall_read_place_(decoder, shape);
    } else if (kind == TCALL_KIND_CHOICE) {
        decoder->use = TCALL_INTO_CHOICE_;
        string->word = TCALL_FETCH_POINTER_(const char *, &shape->more);
        string->index = 0;
        string->count = (uint8_t)(TCALL_FETCH_32_(&shape->high) + 1);
        string->left = string->count;
    }
}

/* A part of a text, which is stored as far as there is room. */
static void tcall_read_text_(tcall_decoder *decoder, const char *bytes,
                             size_t len)
{
    tcall_string_ *string = &decoder->now.string;
    if (string->to) {
        uint16_t size = TCALL_FETCH_16_(&decoder->shape->size);
        if (len < size && string->len < size - len)
            memcpy(string->to + string->len, bytes, len);
    }
    string->len = len < SIZE_MAX - string->len ? string->len + len : SIZE_MAX;
}

/* Decoded bytes of a string. */
static void tcall_read_bytes_(tcall_decoder *decoder, const char *bytes,
                              size_t len)
{
    if (decoder->use == TCALL_INTO_TEXT_)
        tcall_read_text_(decoder, bytes, len);
    else
        tcall_read_word_(decoder, bytes, len);
}

static void tcall_read_text_end_(tcall_decoder *decoder)
{
    const tcall_string_ *string = &decoder->now.string;
    const tcall_shape *shape = decoder->shape;
    uint8_t flags = TCALL_FETCH_8_(&shape->flags), code = TCALL_FITS;
    size_t count = string->len;
    if (flags & TCALL_MEMBER_CHARACTERS)
        count -= string->followed;
    if (count < (uint32_t)TCALL_FETCH_32_(&shape->low))
        code = TCALL_MISFIT_MIN_LENGTH;
    else if (count > (uint32_t)TCALL_FETCH_32_(&shape->high) &&
             !(flags & TCALL_MEMBER_UNSAID))
        code = TCALL_MISFIT_MAX_LENGTH;
    else if (string->to && string->len >= TCALL_FETCH_16_(&shape->size))
        code = TCALL_MISFIT_ROOM;
    if (code)
        tcall_read_misfit_(decoder, code);
    else if (string->to)
        string->to[string->len] = 0;
}

static void tcall_read_choice_end_(tcall_decoder *decoder)
{
    char *to = tcall_read_place_(decoder, decoder->shape);
    uint8_t index = 255;
    if (tcall_read_word_known_(decoder))
        index = decoder->now.string.index;
    else if (!(TCALL_FETCH_8_(&decoder->shape->flags) & TCALL_MEMBER_OTHERS))
        tcall_read_misfit_(decoder, TCALL_MISFIT_ENUM);
    if (to)
        *to = (char)index;
}

TCALL_NOINLINE_ static void tcall_read_string_end_(tcall_decoder *decoder)
{
    if (decoder->use == TCALL_INTO_NAME_) {
        if (tcall_read_shaped_(decoder))
            tcall_read_name_end_(decoder);
        decoder->state = TCALL_READ_COLON_;
        return;
    }
    if (decoder->use == TCALL_INTO_TEXT_)
        tcall_read_text_end_(decoder);
    else if (decoder->use == TCALL_INTO_CHOICE_)
        tcall_read_choice_end_(decoder);
    tcall_read_value_end_(decoder);
}

/* Eats bytes that stand for themselves, if any. Returns where they end. */
static const char *tcall_read_run_(tcall_decoder *decoder, const char *from,
                                   const char *end)
{
    tcall_string_ *string = &decoder->now.string;
    const char *at = from;
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (!string->utf.left) {
            at = tcall_plain_run_(at, end);
            if (at == end || (c = (unsigned char)*at) < 0x80)
                break;
        }
        if (!tcall_utf8_step_(&string->utf, c))
            break;
        string->followed += (c & 0xC0) == 0x80;
    }
    tcall_read_bytes_(decoder, from, (size_t)(at - from));
    return at;
}

/* The byte that ends a run. */
static const char *tcall_read_string_(tcall_decoder *decoder, const char *at)
{
    if (decoder->now.string.utf.left || (unsigned char)*at >= 0x80)
        return tcall_read_stop_(decoder, TCALL_E_UTF8, at);
    if (*at == '\\')
        decoder->state = TCALL_READ_ESCAPE_;
    else if (*at == '"')
        tcall_read_string_end_(decoder);
    else
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    return at + 1;
}

/* After the first half of a character as \uXXXX. */
static const char *tcall_read_half_(tcall_decoder *decoder, const char *at)
{
    if (*at != '\\')
        return tcall_read_stop_(decoder, TCALL_E_BAD_ESCAPE, at);
    decoder->state = TCALL_READ_ESCAPE_;
    return at + 1;
}

/* U+0000 ends a text in C, and words in flash. */
static void tcall_read_nul_(tcall_decoder *decoder)
{
    if (decoder->now.string.to)
        tcall_read_misfit_(decoder, TCALL_MISFIT_NUL);
    decoder->now.string.word = NULL;
}

/* A character that was escaped. */
static void tcall_read_escaped_(tcall_decoder *decoder, uint32_t code)
{
    char bytes[4];
    size_t len = tcall_utf8_(bytes, code);
    decoder->state = TCALL_READ_STRING_;
    if (code == 0)
        tcall_read_nul_(decoder);
    decoder->now.string.followed += len - 1;
    tcall_read_bytes_(decoder, bytes, len);
}

static const char *tcall_read_escape_(tcall_decoder *decoder, const char *at)
{
    char c = tcall_unescape_(*at);
    if (*at == 'u') {
        decoder->state = TCALL_READ_HEX_;
        decoder->now.string.hex_left = 4;
        return at + 1;
    }
    if (!c || decoder->now.string.high)
        return tcall_read_stop_(decoder, TCALL_E_BAD_ESCAPE, at);
    tcall_read_escaped_(decoder, (unsigned char)c);
    return at + 1;
}

/* \uXXXX is complete: a character, or half of one. Returns false when the
 * halves do not come in their order. */
static bool tcall_read_unit_(tcall_decoder *decoder)
{
    tcall_string_ *string = &decoder->now.string;
    uint16_t unit = string->unit, high = string->high;
    bool low = (unit & 0xFC00) == 0xDC00;
    uint32_t code = unit;
    if (low != (high != 0))
        return false;
    string->high = (unit & 0xFC00) == 0xD800 ? unit : 0;
    if (low)
        code = 0x10000 + ((uint32_t)(high & 0x3FF) << 10) + (unit & 0x3FF);
    if (string->high)
        decoder->state = TCALL_READ_HALF_;
    else
        tcall_read_escaped_(decoder, code);
    return true;
}

static const char *tcall_read_hex_(tcall_decoder *decoder, const char *at)
{
    tcall_string_ *string = &decoder->now.string;
    int digit = tcall_hex_(*at);
    string->unit = (uint16_t)(string->unit << 4 | digit);
    if (digit < 0 || (--string->hex_left == 0 && !tcall_read_unit_(decoder)))
        return tcall_read_stop_(decoder, TCALL_E_BAD_ESCAPE, at);
    return at + 1;
}

/* ---- numbers ----
 *
 * Exact decimals: zeros are not appended to the digits before another digit
 * follows, so 5.0 is 5, and it is known of every number whether it is whole.
 */

#ifdef TOOLCALL_NO_INT64
#define TCALL_DIGITS_MAX_ UINT32_MAX
#define TCALL_WHOLE_MAX_  INT32_MAX
#define TCALL_WHOLE_MIN_  INT32_MIN
#else
#define TCALL_DIGITS_MAX_ UINT64_MAX
#define TCALL_WHOLE_MAX_  INT64_MAX
#define TCALL_WHOLE_MIN_  INT64_MIN
#endif

/* Returns false when there is no room for one digit more. */
static bool tcall_number_times_ten_(tcall_number_ *number)
{
    if (number->digits > (TCALL_DIGITS_MAX_ - 9) / 10)
        return false;
    number->digits *= 10;
    return true;
}

static void tcall_number_digit_(tcall_number_ *number, char c)
{
    number->zeros++;
    if (c == '0')
        return;
    while (!number->lost && number->zeros && tcall_number_times_ten_(number))
        number->zeros--;
    number->lost = (int16_t)(number->lost + number->zeros);
    number->zeros = 0;
    if (!number->lost)
        number->digits += (tcall_number_digits_)(c - '0');
}

/* Takes a byte. Returns false when it is none of the number. */
static bool tcall_number_take_(tcall_number_ *number, char c)
{
    uint8_t state = tcall_number_next_(number->state, c);
    if (!state)
        return false;
    number->state = state;
    if (state == TCALL_N_MINUS_) {
        number->minus = true;
    } else if (state == TCALL_N_SIGN_) {
        number->small = c == '-';
    } else if (state == TCALL_N_EXPONENT_) {
        if (number->power < TCALL_NUMBER_POWER_)
            number->power = (int16_t)(number->power * 10 + (c - '0'));
    } else if (tcall_is_digit_(c) && number->length < TCALL_NUMBER_DIGITS_) {
        number->length++;
        number->places =
            (int16_t)(number->places + (state == TCALL_N_FRACTION_));
        tcall_number_digit_(number, c);
    }
    return true;
}

#ifdef TOOLCALL_NO_INT64
/* Divides by ten. Returns whether there is a rest. */
static bool tcall_number_tenth_(tcall_number_ *number)
{
    bool rest = number->digits % 10 != 0;
    number->digits /= 10;
    return rest;
}
#else
/* The same in parts of 16 bits: a division of 64 bits is a large function on
 * small machines. */
static bool tcall_number_tenth_(tcall_number_ *number)
{
    uint64_t tenth = 0;
    uint32_t rest = 0;
    int shift;
    for (shift = 48; shift >= 0; shift -= 16) {
        rest = rest << 16 | (uint32_t)(number->digits >> shift & 0xFFFF);
        tenth = tenth << 16 | rest / 10;
        rest %= 10;
    }
    number->digits = tenth;
    return rest != 0;
}
#endif

/* Returns the number * 10^exponent as a whole one. What is cut off, also at
 * the ends of the range, is marked as lost. */
static tcall_whole_ tcall_number_whole_(tcall_number_ *number, int exponent)
{
    const tcall_number_digits_ most =
        (tcall_number_digits_)TCALL_WHOLE_MAX_ + number->minus;
    for (; exponent < 0 && number->digits; exponent++)
        if (tcall_number_tenth_(number))
            number->lost = 1;
    while (exponent > 0 && number->digits && tcall_number_times_ten_(number))
        exponent--;
    if (number->digits > most || (exponent > 0 && number->digits)) {
        number->digits = most;
        number->lost = 1;
    }
    return number->minus ? (tcall_whole_)(0 - number->digits)
                         : (tcall_whole_)number->digits;
}

/* Returns < 0, 0 or > 0. A number that was cut off lies beyond what is left of
 * it. */
static int tcall_number_order_(const tcall_number_ *number, tcall_whole_ value,
                               tcall_whole_ bound)
{
    if (value != bound)
        return value < bound ? -1 : 1;
    return !number->lost ? 0 : number->minus ? -1 : 1;
}

/* Notes a number that is out of bounds. Flags exclude a bound. */
static void tcall_read_bounds_(tcall_decoder *decoder, tcall_whole_ value,
                               tcall_whole_ low, tcall_whole_ high,
                               uint8_t flags)
{
    const tcall_number_ *number = &decoder->now.number;
    int over = flags & TCALL_MEMBER_OVER ? 1 : 0;
    int under = flags & TCALL_MEMBER_UNDER ? 1 : 0;
    tcall_misfit *misfit = NULL;
    if (tcall_number_order_(number, value, low) < over)
        misfit = tcall_read_misfit_(decoder, TCALL_MISFIT_MINIMUM);
    else if (tcall_number_order_(number, value, high) > -under)
        misfit = tcall_read_misfit_(decoder, TCALL_MISFIT_MAXIMUM);
    if (misfit) {
        misfit->got = value < INT32_MIN   ? INT32_MIN
                      : value > INT32_MAX ? INT32_MAX
                                          : (int32_t)value;
        misfit->exact = !number->lost && misfit->got == value;
    }
}

#ifndef TOOLCALL_NO_INT64
bool tcall_store_double_(void *to, uint64_t digits, int exponent, bool minus)
{
    double value = tcall_decimal_(digits, exponent);
    if (minus)
        value = -value;
    memcpy(to, &value, sizeof value);
    return value >= -DBL_MAX && value <= DBL_MAX;
}

/* Stores an int64_t or a double. A double that has no bound on that side may
 * be beyond what millionths can say. */
static void tcall_read_wide_(tcall_decoder *decoder, int64_t value,
                             uint64_t digits, int exponent)
{
    char *to = tcall_read_place_(decoder, decoder->shape);
    bool minus = decoder->now.number.minus;
    TCALL_FETCH_(tcall_range, range,
                 TCALL_FETCH_POINTER_(const void *, &decoder->shape->more));
    if (!range->store || value != (minus ? INT64_MIN : INT64_MAX) ||
        value != (minus ? range->low : range->high))
        tcall_read_bounds_(decoder, value, range->low, range->high,
                           TCALL_FETCH_8_(&decoder->shape->flags));
    if (!to)
        return;
    if (!range->store)
        memcpy(to, &value, sizeof value);
    else if (!range->store(to, digits, exponent, minus))
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
}
#endif

static void tcall_read_number_store_(tcall_decoder *decoder, int exponent)
{
    const tcall_shape *shape = decoder->shape;
    char *to = tcall_read_place_(decoder, shape);
    tcall_number_ *number = &decoder->now.number;
#ifndef TOOLCALL_NO_INT64
    uint64_t digits = number->digits;
#endif
    tcall_whole_ whole =
        tcall_number_whole_(number, exponent + TCALL_FETCH_8_(&shape->digits));
    int32_t value = (int32_t)whole;
#ifndef TOOLCALL_NO_INT64
    if (TCALL_FETCH_8_(&shape->kind) != TCALL_KIND_INTEGER) {
        tcall_read_wide_(decoder, whole, digits, exponent);
        return;
    }
#endif
    tcall_read_bounds_(decoder, whole, TCALL_FETCH_32_(&shape->low),
                       TCALL_FETCH_32_(&shape->high), 0);
    if (to)
        memcpy(to, &value, sizeof value);
}

/* Only what has bounds, or must be whole, is looked at. */
TCALL_NOINLINE_ static void tcall_read_number_end_(tcall_decoder *decoder)
{
    const tcall_number_ *number = &decoder->now.number;
    int power = number->small ? -number->power : number->power;
    uint8_t kind = TCALL_FETCH_8_(&decoder->shape->kind);
    bool any = TCALL_FETCH_8_(&decoder->shape->types) & TCALL_SHAPE_NUMBER;
    bool stored = kind >= TCALL_KIND_INTEGER && kind <= TCALL_KIND_NUMBER;
    if (any && !stored)
        return;
    power += number->zeros - number->places; /* that of the last digit not 0 */
    if (number->length == TCALL_NUMBER_DIGITS_)
        tcall_read_misfit_(decoder, TCALL_MISFIT_ROOM);
    else if (!any && number->digits && power < 0)
        tcall_read_misfit_(decoder, TCALL_MISFIT_TYPE);
    else if (stored)
        tcall_read_number_store_(decoder, number->lost + power);
}

static void tcall_read_number_begin_(tcall_decoder *decoder)
{
    tcall_number_ *number = &decoder->now.number;
    tcall_read_admit_(decoder, TCALL_SHAPE_NUMBER | TCALL_SHAPE_INTEGER);
    number->state = TCALL_N_START_;
    number->minus = number->small = false;
    number->lost = number->zeros = number->places = number->length = 0;
    number->power = 0;
    number->digits = 0;
    decoder->state = TCALL_READ_NUMBER_;
}

TCALL_NOINLINE_ static const char *
tcall_read_number_(tcall_decoder *decoder, const char *at, const char *end)
{
    tcall_number_ *number = &decoder->now.number;
    while (at < end && tcall_number_take_(number, *at))
        at++;
    if (at == end)
        return at;
    if (!tcall_number_ends_(number->state))
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (tcall_read_shaped_(decoder))
        tcall_read_number_end_(decoder);
    tcall_read_value_end_(decoder);
    return at;
}

/* ---- true, false, null ---- */

static const char *tcall_read_literal_(tcall_decoder *decoder, const char *at,
                                       const char *end)
{
    const char **word = &decoder->now.string.word;
    for (; at < end && TCALL_BYTE_(*word); at++, ++*word)
        if (*at != TCALL_BYTE_(*word))
            return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (!TCALL_BYTE_(*word))
        tcall_read_value_end_(decoder);
    return at;
}

static void tcall_read_literal_begin_(tcall_decoder *decoder, char c)
{
    decoder->state = TCALL_READ_LITERAL_;
    decoder->now.string.word = tcall_literal_(c);
}

/* A member that is null is not given, unless null is what it keeps. */
static void tcall_read_null_begin_(tcall_decoder *decoder)
{
    const tcall_shape *shape = tcall_read_admit_(decoder, TCALL_SHAPE_NULL);
    const tcall_level_ *level = decoder->level;
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    if (kind != TCALL_KIND_ANY && kind != TCALL_KIND_JSON) {
        if (decoder->object)
            level->base[level->index / 8] &= (char)~(1 << level->index % 8);
        else if (decoder->base) /* an item, which nothing else sets */
            memset(decoder->base, 0,
                   TCALL_FETCH_16_(&((const tcall_shape *)level->what)->size));
    }
    tcall_read_literal_begin_(decoder, 'n');
}

static void tcall_read_boolean_begin_(tcall_decoder *decoder, char c)
{
    const tcall_shape *shape = tcall_read_admit_(decoder, TCALL_SHAPE_BOOLEAN);
    char *to = tcall_read_place_(decoder, shape);
    if (to && TCALL_FETCH_8_(&shape->kind) == TCALL_KIND_BOOLEAN)
        *to = c == 't';
    tcall_read_literal_begin_(decoder, c);
}

/* ---- objects and arrays ---- */

/* The root's object is in its level already. No member has come. */
static void tcall_read_object_begin_(tcall_level_ *level,
                                     const tcall_shape *shape)
{
    const tcall_object *object =
        TCALL_FETCH_POINTER_(const tcall_object *, &shape->more);
    if (object)
        level->what = object;
    level->next = tcall_read_names_(level);
    memset(level->base, 0, 2 * (size_t)(tcall_read_came_(level) - level->base));
}

/* An object or list with a shape is a level of its own. */
static void tcall_read_level_open_(tcall_decoder *decoder,
                                   const tcall_shape *shape)
{
    tcall_level_ *level = &decoder->open_levels[decoder->levels];
    if (decoder->levels == TOOLCALL_SHAPE_LEVELS) {
        tcall_read_misfit_(decoder, TCALL_MISFIT_LEVELS);
        return;
    }
    decoder->levels++;
    decoder->level = level;
    level->base = tcall_read_place_(decoder, shape);
    level->index = 0xFFFF; /* the first one comes next */
    if (TCALL_FETCH_8_(&shape->kind) == TCALL_KIND_OBJECT)
        tcall_read_object_begin_(level, shape);
    else
        level->what = shape;
}

static const char *tcall_read_open_(tcall_decoder *decoder, const char *at)
{
    bool object = *at == '{';
    const tcall_shape *shape = tcall_read_admit_(
        decoder, object ? TCALL_SHAPE_OBJECT : TCALL_SHAPE_ARRAY);
    uint8_t depth = decoder->depth, bit = (uint8_t)(1 << depth % 8);
    uint8_t *open = &decoder->open[depth / 8];
    uint8_t kind = TCALL_FETCH_8_(&shape->kind);
    if (depth == TOOLCALL_MAX_DEPTH)
        return tcall_read_stop_(decoder, TCALL_E_DEPTH, at);
    if (kind == TCALL_KIND_OBJECT || kind == TCALL_KIND_LIST)
        tcall_read_level_open_(decoder, shape);
    decoder->object = object;
    decoder->state = object ? TCALL_READ_FIRST_NAME_ : TCALL_READ_FIRST_VALUE_;
    *open = (uint8_t)(object ? *open | bit : *open & ~bit);
    decoder->depth++;
    return at + 1;
}

/* Returns how many bytes make a member what it is at first: of a text without
 * a default its NUL, of a list its count. */
static size_t tcall_read_initial_size_(const tcall_shape *member)
{
    static const uint8_t sizes[] TCALL_FLASH_ = {
        /* by kind; double has four bytes on an AVR */
        0,
        sizeof(bool),
        sizeof(int32_t),
        sizeof(int64_t),
        sizeof(double),
        1,
        1,
        sizeof(uint16_t),
        0,
        1,
        0};
    uint8_t kind = TCALL_FETCH_8_(&member->kind);
    if (kind == TCALL_KIND_TEXT &&
        TCALL_FETCH_8_(&member->flags) & TCALL_MEMBER_DEFAULT)
        return TCALL_FETCH_16_(&member->size);
    if (kind == TCALL_KIND_OBJECT)
        return TCALL_FETCH_16_(
            &TCALL_FETCH_POINTER_(const tcall_object *, &member->more)->size);
    return TCALL_FETCH_8_(sizes + kind);
}

/* Sets a member that was not given to what it is at first. */
static void tcall_read_initial_(const tcall_level_ *level,
                                const tcall_shape *member)
{
    const tcall_object *object = (const tcall_object *)level->what;
    const char *initial = TCALL_FETCH_POINTER_(const char *, &object->initial);
    uint16_t offset = TCALL_FETCH_16_(&member->offset);
    if (offset != TCALL_NOWHERE)
        TCALL_COPY_(level->base + offset, initial + offset,
                    tcall_read_initial_size_(member));
}

/* Looks after the members that were not given. */
static void tcall_read_object_end_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_object *object = (const tcall_object *)level->what;
    const tcall_shape *member =
        TCALL_FETCH_POINTER_(const tcall_shape *, &object->members);
    const char *given = level->base, *came = tcall_read_came_(level);
    uint8_t i, count = TCALL_FETCH_8_(&object->count);
    for (i = 0; i < count; i++, member++) {
        if (TCALL_BIT_OF_(given, i))
            continue;
        tcall_read_initial_(level, member);
        if (TCALL_FETCH_8_(&member->flags) & TCALL_MEMBER_REQUIRED &&
            !TCALL_BIT_OF_(came, i)) {
            level->index = i;
            tcall_read_misfit_(decoder, TCALL_MISFIT_REQUIRED);
        }
    }
}

/* Notes a misfit of the list itself. */
static void tcall_read_list_misfit_(tcall_decoder *decoder, uint8_t code)
{
    tcall_read_note_(decoder, code, (uint8_t)(decoder->levels - 1));
}

static void tcall_read_list_end_(tcall_decoder *decoder)
{
    const tcall_level_ *level = decoder->level;
    const tcall_shape *list = (const tcall_shape *)level->what;
    uint16_t count = (uint16_t)(level->index + 1);
    if (count < TCALL_FETCH_32_(&list->low))
        tcall_read_list_misfit_(decoder, TCALL_MISFIT_MIN_ITEMS);
    if (level->base)
        memcpy(level->base, &count, sizeof count);
}

/* An item of a list begins. The first one too many is noted. */
static void tcall_read_item_(tcall_decoder *decoder)
{
    tcall_level_ *level = decoder->level;
    const tcall_shape *list = (const tcall_shape *)level->what;
    int32_t left;
    if (level->index != 0xFFFE) /* and then all are one */
        level->index++;
    left = TCALL_FETCH_32_(&list->high) - level->index;
    decoder->shape = &tcall_any_;
    decoder->base = level->base;
    if (left > 0)
        decoder->shape = TCALL_FETCH_POINTER_(const tcall_shape *, &list->more);
    if (left > 0 && level->base)
        decoder->base += TCALL_FETCH_8_(&list->digits) +
                         (size_t)level->index * TCALL_FETCH_16_(&list->size);
    if (left == 0)
        tcall_read_list_misfit_(decoder, TCALL_FETCH_8_(&list->flags) &
                                                 TCALL_MEMBER_UNSAID
                                             ? TCALL_MISFIT_ROOM
                                             : TCALL_MISFIT_MAX_ITEMS);
}

static const char *tcall_read_close_(tcall_decoder *decoder, const char *at)
{
    if (*at != (decoder->object ? '}' : ']'))
        return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
    if (tcall_read_shaped_(decoder)) {
        if (decoder->object)
            tcall_read_object_end_(decoder);
        else
            tcall_read_list_end_(decoder);
        if (--decoder->levels)
            decoder->level--;
    }
    decoder->depth--;
    decoder->object =
        decoder->depth && TCALL_BIT_OF_(decoder->open, decoder->depth - 1);
    tcall_read_value_end_(decoder);
    return at + 1;
}

TCALL_NOINLINE_ static const char *tcall_read_value_(tcall_decoder *decoder,
                                                     const char *at)
{
    if (!decoder->object && tcall_read_shaped_(decoder) && decoder->levels)
        tcall_read_item_(decoder);
    switch (*at) {
    case '{':
    case '[': return tcall_read_open_(decoder, at);
    case '"': tcall_read_text_begin_(decoder); return at + 1;
    case 'n': tcall_read_null_begin_(decoder); break;
    case 't':
    case 'f': tcall_read_boolean_begin_(decoder, *at); break;
    default: tcall_read_number_begin_(decoder);
    }
    return at; /* these are eaten from their first byte on, if they are one */
}

/* ---- between tokens ---- */

static const char *tcall_read_mark_(tcall_decoder *decoder, const char *at)
{
    switch (decoder->state) {
    case TCALL_READ_FIRST_VALUE_:
        if (*at == ']')
            return tcall_read_close_(decoder, at); /* fall through */
    case TCALL_READ_VALUE_: return tcall_read_value_(decoder, at);
    case TCALL_READ_COLON_:
        if (*at != ':')
            break;
        decoder->state = TCALL_READ_VALUE_;
        return at + 1;
    case TCALL_READ_NEXT_:
        if (*at != ',')
            return tcall_read_close_(decoder, at);
        decoder->state = decoder->object ? TCALL_READ_NAME_ : TCALL_READ_VALUE_;
        return at + 1;
    case TCALL_READ_FIRST_NAME_:
        if (*at != '"')
            return tcall_read_close_(decoder, at); /* fall through */
    case TCALL_READ_NAME_:
        if (*at != '"')
            break;
        tcall_read_name_begin_(decoder);
        return at + 1;
    default: return tcall_read_stop_(decoder, TCALL_E_TRAILING, at);
    }
    return tcall_read_stop_(decoder, TCALL_E_BAD_VALUE, at);
}

/* A byte at which no run of a string goes on. */
static const char *tcall_read_token_(tcall_decoder *decoder, const char *at,
                                     const char *end)
{
    switch (decoder->state) {
    case TCALL_READ_STRING_: return tcall_read_string_(decoder, at);
    case TCALL_READ_ESCAPE_: return tcall_read_escape_(decoder, at);
    case TCALL_READ_HEX_: return tcall_read_hex_(decoder, at);
    case TCALL_READ_HALF_: return tcall_read_half_(decoder, at);
    case TCALL_READ_LITERAL_: return tcall_read_literal_(decoder, at, end);
    case TCALL_READ_NUMBER_: return tcall_read_number_(decoder, at, end);
    default: return tcall_read_mark_(decoder, at);
    }
}

int tcall_decoder_feed(tcall_decoder *decoder, const char *bytes, size_t len)
{
    const char *at = bytes, *end = bytes + len;
    int error;
    while (at < end && tcall_read_going_(decoder)) {
        const char *from = at;
        if (decoder->state == TCALL_READ_STRING_) {
            at = tcall_read_run_(decoder, at, end);
        } else if (decoder->state <= TCALL_READ_END_ &&
                   (unsigned char)*at <= ' ' && tcall_is_space_(*at)) {
            at++;
            continue;
        }
        if (at < end)
            at = tcall_read_token_(decoder, at, end);
        if (decoder->keeping)
            tcall_read_keep_(decoder, from, (size_t)(at - from));
    }
    decoder->at += (size_t)(at - bytes);
    if (decoder->sink && at > bytes) {
        error = decoder->sink(decoder->user, bytes, (size_t)(at - bytes));
        if (error < 0 && tcall_read_going_(decoder))
            tcall_read_stop_(decoder, error, at);
    }
    return decoder->error;
}

int tcall_decoder_end(tcall_decoder *decoder)
{
    if (decoder->state != TCALL_READ_END_)
        tcall_decoder_poison(decoder);
    return decoder->error;
}

void tcall_decoder_poison(tcall_decoder *decoder)
{
    if (tcall_read_going_(decoder))
        tcall_read_stop_(decoder, TCALL_E_TRUNCATED, NULL);
}

void tcall_decoder_init(tcall_decoder *decoder, const tcall_object *shape,
                        void *out)
{
    memset(decoder, 0, sizeof *decoder);
    decoder->shape = &tcall_root_;
    decoder->base = (char *)out;
    decoder->open_levels[0].what = shape;
}

#endif /* TOOLCALL_NO_SHAPES */

/* ==========================================================================
 * >>scan
 *
 * Three loops in one: runs of plain string bytes, numbers by a table, and one
 * switch for everything else. What the path filter wants is tracked per
 * open level as the row that matched, so a key is compared with the few rows
 * below that one only.
 */

#define TCALL_SCAN_NONE_ 0xFF /* no row */
#define TCALL_SCAN_ROOT_ 0xFE /* above the first row */

enum {
    TCALL_S_VALUE_,     /* a value must come */
    TCALL_S_FIRST_,     /* behind '[': a value or ']'; then, */
    TCALL_S_FIRST_KEY_, /* behind '{': a key or '}' */
    TCALL_S_KEY_,       /* behind ',' in an object */
    TCALL_S_COLON_,     /* behind a key */
    TCALL_S_NEXT_,      /* behind a value: ',' or a closing bracket */
    TCALL_S_DONE_,      /* behind the root */
    TCALL_S_LITERAL_,   /* inside true, false, null */
    TCALL_S_NUMBER_,    /* inside a number */
    TCALL_S_STRING_,    /* inside a string */
    TCALL_S_ESCAPE_,    /* behind '\' */
    TCALL_S_HEX_,       /* inside \uXXXX */
    TCALL_S_LOW_,       /* behind a high surrogate: '\' */
    TCALL_S_LOW_U_      /* and then: 'u' */
};

enum {
    TCALL_STRING_KEY_,    /* a key to be compared */
    TCALL_STRING_VALUE_,  /* to be reported */
    TCALL_STRING_SKIP_,   /* a key that nobody wants */
    TCALL_STRING_UNHEARD_ /* a value that nobody wants */
};

void tcall_scan_init(tcall_scan *s, const tcall_paths *paths, tcall_scan_fn on,
                     void *user)
{
    memset(s, 0, sizeof *s);
    s->row = TCALL_SCAN_NONE_;
    if (paths) {
        s->rows = paths->rows;
        s->keys = paths->keys;
        s->row = TCALL_SCAN_ROOT_;
    }
    s->on = on;
    s->user = user;
    s->at = TCALL_SCAN_NONE_;
}

/* Whether the value is complete; a number at the root needs the end. */
TCALL_SHARED_ bool tcall_scan_done_(const tcall_scan *s)
{
    return s->state == TCALL_S_DONE_;
}

static int tcall_scan_fail_(tcall_scan *s, int error)
{
    s->error = error;
    return error;
}

/* Flags of a token, beside its type. */
#define TCALL_TYPE_   7
#define TCALL_LAST_   8  /* last of its container; next to this bit: */
#define TCALL_MEMBER_ 16 /* value of a member: its key stands before it */
#define TCALL_KEY_    32
#define TCALL_NEEDS_DECODE_ \
    64 /* string with escapes, long number or exponent */

/* Of the value that starts at p. */
TCALL_SHARED_ unsigned tcall_type_at_(const char *p)
{
    return *p == '"'   ? TCALL_STRING
           : *p < 'A'  ? TCALL_NUMBER
           : *p == '{' ? TCALL_OBJECT
           : *p == '[' ? TCALL_ARRAY
           : *p == 'n' ? TCALL_NULL
                       : TCALL_BOOL;
}

static inline void tcall_scan_make_(tcall_scan *s, const char *p, bool key)
{
    tcall_tok *t = s->tok + s->tokens - 1;
    t->type = (int)tcall_type_at_(p);
    t->type |= key ? TCALL_KEY_ : s->object ? TCALL_MEMBER_ : 0;
    t->start = (int)(p - s->text) + (*p == '"');
    t->span = 1;
    t->mark = 0;
}

/* A token for the value or key that starts at p. */
static inline void tcall_scan_token_(tcall_scan *s, const char *p, bool key)
{
    if (++s->tokens <= s->tok_cap)
        tcall_scan_make_(s, p, key);
}

/* The token made last, of a string or word, ends at p. */
static inline void tcall_scan_token_end_(tcall_scan *s, const char *p,
                                         int flags)
{
    if (s->tokens > s->tok_cap)
        return;
    s->last = (int)s->tokens - 1;
    s->tok[s->last].end = (int)(p - s->text);
    s->tok[s->last].type |= flags;
}

/* The container that is open begins, or ends, at p. While it is open its mark
 * is the one around it. */
static void tcall_scan_token_open_(tcall_scan *s)
{
    if (s->tokens > s->tok_cap)
        return;
    s->tok[s->tokens - 1].mark = s->super;
    s->super = (int)s->tokens - 1;
}

static void tcall_scan_token_close_(tcall_scan *s, const char *p)
{
    tcall_tok *t;
    if (s->tokens > s->tok_cap)
        return;
    t = s->tok + s->super;
    t->end = (int)(p - s->text) + 1;
    t->span = (int)s->tokens - s->super;
    if (t->span > 1)
        s->tok[s->last].type |= TCALL_LAST_;
    s->last = s->super;
    s->super = t->mark;
    t->mark = 0;
}

/* Report to the callback when the value at hand is wanted. */
static void tcall_scan_tell_(tcall_scan *s, uint8_t row, tcall_scan_event event,
                             const char *p, size_t n)
{
    int r;
    if (row >= TCALL_SCAN_ROOT_ || !s->rows[row].field || s->error)
        return;
    r = s->on(s->user, s->rows[row].field, event, tcall_slice_(p, n));
    if (r < 0)
        s->error = r;
}

/* The row below parent, that of the open container, that the key or element
 * matches. */
static inline uint8_t tcall_scan_match_(tcall_scan *s, uint8_t parent,
                                        const char *key, size_t len)
{
    const tcall_path *row = s->rows;
    const char *text = s->keys;
    uint8_t below = 1;
    if (parent == TCALL_SCAN_NONE_)
        return TCALL_SCAN_NONE_;
    if (parent != TCALL_SCAN_ROOT_) {
        row += parent;
        below = (uint8_t)(row->depth + 1);
        row++;
        text += s->below[s->depth - 1];
    }
    for (; row->depth >= below; text += row->len, row++) {
        if (row->depth != below)
            continue;
        if (row->len == len && *text == *key && memcmp(text, key, len) == 0) {
            s->behind = (uint16_t)(text - s->keys + row->len);
            return (uint8_t)(row - s->rows);
        }
        if (row->flags & TCALL_PATH_LAST)
            break;
    }
    return TCALL_SCAN_NONE_;
}

static inline void tcall_scan_value_end_(tcall_scan *s)
{
    s->state = s->depth ? TCALL_S_NEXT_ : TCALL_S_DONE_;
}

/* The row of the next element of the array that is open. */
TCALL_NOINLINE_ static uint8_t tcall_scan_element_(tcall_scan *s)
{
    uint8_t row = TCALL_SCAN_NONE_, *index;
    const char *key;
    if (s->at == TCALL_SCAN_NONE_)
        return row;
    index = &s->index[s->depth - 1];
    for (key = *index ? "*" : "0*"; *key && row == TCALL_SCAN_NONE_; key++)
        row = tcall_scan_match_(s, s->at, key, 1);
    *index = (uint8_t)(*index + (*index < 255));
    return row;
}

/* A value begins with c: find out whether it is wanted. */
static inline void tcall_scan_begin_(tcall_scan *s, const char *c)
{
    tcall_scan_token_(s, c, false);
    if (s->depth && !s->object)
        s->row = tcall_scan_element_(s);
    if (s->row != TCALL_SCAN_NONE_)
        tcall_scan_tell_(s, s->row, TCALL_SCAN_BEGIN, c, 1);
}

static int tcall_scan_open_(tcall_scan *s, const char *c, const char **raw)
{
    uint8_t row, *open;
    unsigned below = 0, bit = s->depth & 7u;
    tcall_scan_begin_(s, c);
    tcall_scan_token_open_(s);
    s->object = *c == '{';
    row = s->row;
    if (s->depth >= TOOLCALL_MAX_DEPTH)
        return tcall_scan_fail_(s, TCALL_E_DEPTH);
    if (row < TCALL_SCAN_ROOT_) {
        const tcall_path *path = s->rows + row;
        below = s->behind;
        if (path->flags & TCALL_PATH_RAW && !s->raw_depth) {
            s->raw_depth = (uint16_t)(s->depth + 1);
            *raw = c;
        }
        if (path->flags & TCALL_PATH_ALIAS_NEXT) {
            row++;
            below += path[1].len;
        }
        if (path->flags & TCALL_PATH_ROOT) {
            row = TCALL_SCAN_ROOT_;
            below = 0;
        }
    }
    open = &s->open[s->depth >> 3];
    *open = (uint8_t)((*open & ~(1u << bit)) | (unsigned)s->object << bit);
    s->at = TCALL_SCAN_NONE_;
    if (s->depth < TCALL_SCAN_LEVELS_) {
        s->at = s->node[s->depth] = row;
        s->below[s->depth] = (uint16_t)below;
        s->index[s->depth] = 0;
    }
    s->depth++;
    s->row = TCALL_SCAN_NONE_;
    s->state = (uint8_t)(TCALL_S_FIRST_ + s->object);
    return s->error;
}

static int tcall_scan_close_(tcall_scan *s, const char *c, const char **raw)
{
    uint8_t row = s->at;
    unsigned up;
    if (s->object != (*c == '}'))
        return tcall_scan_fail_(s, TCALL_E_BRACKETS);
    tcall_scan_token_close_(s, c);
    s->depth--;
    if (s->raw_depth == s->depth + 1) {
        tcall_scan_tell_(s, row, TCALL_SCAN_DATA, *raw, (size_t)(c + 1 - *raw));
        s->raw_depth = 0;
    }
    tcall_scan_tell_(s, row, TCALL_SCAN_END, c, 0);
    s->at = TCALL_SCAN_NONE_;
    s->state = TCALL_S_DONE_;
    if (s->depth) {
        up = s->depth - 1u;
        s->object = s->open[up >> 3] >> (up & 7) & 1;
        if (up < TCALL_SCAN_LEVELS_)
            s->at = s->node[up];
        s->state = TCALL_S_NEXT_;
    }
    return s->error;
}

/* Reports what was collected of a value. */
static void tcall_scan_flush_(tcall_scan *s)
{
    if (s->string_mode != TCALL_STRING_VALUE_ || !s->piece_len)
        return;
    tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, s->piece, s->piece_len);
    s->piece_len = 0;
}

/* The string ends: a value, or a key, which may lead to a row. */
static void tcall_scan_string_end_(tcall_scan *s)
{
    if (s->string_mode == TCALL_STRING_VALUE_ ||
        s->string_mode == TCALL_STRING_UNHEARD_) {
        tcall_scan_flush_(s);
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, s->piece, 0);
        tcall_scan_value_end_(s);
        return;
    }
    s->row = s->string_mode == TCALL_STRING_KEY_ && s->piece_len
                 ? tcall_scan_match_(s, s->at, s->piece, s->piece_len)
                 : (uint8_t)TCALL_SCAN_NONE_;
    s->piece_len = 0;
    s->state = TCALL_S_COLON_;
}

/* What does not fit where bytes are collected: a key that is too long matches
 * nothing. */
static void tcall_scan_overflow_(tcall_scan *s, const char *p, size_t n)
{
    if (s->string_mode == TCALL_STRING_KEY_) {
        s->string_mode = TCALL_STRING_SKIP_;
        return;
    }
    tcall_scan_flush_(s);
    if (n > TCALL_SCAN_PIECE_) {
        tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, p, n);
        return;
    }
    memcpy(s->piece, p, n);
    s->piece_len = (uint8_t)n;
}

/* Collects decoded bytes of a string, since few events are cheaper than many.
 */
static inline void tcall_scan_bytes_(tcall_scan *s, const char *p, size_t n)
{
    if (s->string_mode >= TCALL_STRING_SKIP_)
        return;
    if (n > (size_t)(TCALL_SCAN_PIECE_ - s->piece_len)) {
        tcall_scan_overflow_(s, p, n);
        return;
    }
    memcpy(s->piece + s->piece_len, p, n);
    s->piece_len = (uint8_t)(s->piece_len + n);
}

/* Skips plain ASCII string content: a word at a time while no byte of it is a
 * quote, a backslash, below 0x20 or above 0x7F, then what is left. */
TCALL_SHARED_ const char *tcall_plain_(const char *p, const char *end)
{
    const size_t ones = (size_t)-1 / 255;
    /* words of two bytes are not worth it */
    while (sizeof ones > 2 && (size_t)(end - p) >= sizeof ones) {
        size_t word, quotes, slashes, marks;
        memcpy(&word, p, sizeof word);
        quotes = word ^ ones * '"';
        slashes = word ^ ones * '\\';
        marks =
            ((word - ones * 0x20) | (quotes - ones) | (slashes - ones) | word) &
            ones * 0x80;
        /* A byte that is not plain has its mark set. A borrow can set that of
         * a byte above it as well, so the lowest mark is right. */
#if defined __GNUC__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (marks)
            return p + (__builtin_ctzll(marks) >> 3);
#endif
        if (marks)
            break;
        p += sizeof word;
    }
    return tcall_plain_run_(p, end);
}

/* The same, non-ASCII characters included; stops with an error at a byte that
 * may not stand in a string. */
static inline const char *tcall_scan_plain_(tcall_scan *s, const char *p,
                                            const char *end)
{
    for (;; p++) {
        unsigned char c;
        if (!s->utf.left)
            p = tcall_plain_(p, end);
        if (p == end || (*p == '"' && !s->utf.left))
            return p;
        c = (unsigned char)*p;
        if (c >= 0x80 ? !tcall_utf8_step_(&s->utf, c) : s->utf.left != 0)
            s->error = TCALL_E_UTF8;
        else if (c < 0x20)
            s->error = c ? TCALL_E_BAD_VALUE : TCALL_E_NUL;
        if (c < 0x80 || s->error)
            return p;
    }
}

/* Runs through a string up to its end, a long escape or the end of the piece.
 */
static const char *tcall_scan_string_(tcall_scan *s, const char *p,
                                      const char *end)
{
    char c;
    for (;; p += 2) {
        const char *from = p;
        p = tcall_scan_plain_(s, p, end);
        if (s->error)
            return p;
        if (p > from)
            tcall_scan_bytes_(s, from, (size_t)(p - from));
        c = end - p > 1 && *p == '\\' ? tcall_unescape_(p[1]) : (char)0;
        if (!c)
            break;
        tcall_scan_bytes_(s, &c, 1);
    }
    if (p == end)
        return p;
    if (*p == '"') {
        tcall_scan_token_end_(s, p, TCALL_NEEDS_DECODE_);
        tcall_scan_string_end_(s);
    } else {
        tcall_scan_flush_(s); /* before what may turn out to be no escape */
        s->state = TCALL_S_ESCAPE_;
    }
    return p + 1;
}

/* May the string at hand hold half a character at its end, or at its begin?
 * Some servers cut the model's words between the escapes of two surrogates. */
static bool tcall_scan_splits_(const tcall_scan *s)
{
    return s->split && !s->raw_depth &&
           (s->string_mode == TCALL_STRING_VALUE_ ||
            s->string_mode == TCALL_STRING_UNHEARD_);
}

/* The string ends behind a high surrogate: the next one of its row has to
 * begin with the low one. */
static int tcall_scan_half_(tcall_scan *s)
{
    if (!tcall_scan_splits_(s))
        return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    if (s->string_mode == TCALL_STRING_VALUE_) {
        s->half = s->high;
        s->half_row = s->row;
    }
    s->high = 0;
    tcall_scan_string_end_(s);
    return s->error;
}

/* \uXXXX is complete: a character, or half of one. */
static int tcall_scan_unit_(tcall_scan *s)
{
    char out[4];
    uint32_t cp = s->hex;
    if (s->high) {
        if (cp < 0xDC00 || cp > 0xDFFF)
            return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
        cp = 0x10000 + ((uint32_t)(s->high - 0xD800) << 10) + (cp - 0xDC00);
        s->high = 0;
    } else if (cp >= 0xD800 && cp <= 0xDBFF) {
        s->high = s->hex;
        s->state = TCALL_S_LOW_;
        return TCALL_OK;
    } else if (cp >= 0xDC00 && cp <= 0xDFFF &&
               !(tcall_scan_splits_(s) &&
                 s->string_mode == TCALL_STRING_UNHEARD_)) {
        return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    }
    tcall_scan_bytes_(s, out, tcall_utf8_(out, cp));
    s->state = TCALL_S_STRING_;
    return s->error;
}

static int tcall_scan_escape_(tcall_scan *s, char c)
{
    char plain;
    int digit;
    if (s->state == TCALL_S_HEX_) {
        digit = tcall_hex_(c);
        if (digit < 0)
            return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
        s->hex = (uint16_t)(s->hex << 4 | digit);
        return --s->hex_left ? TCALL_OK : tcall_scan_unit_(s);
    }
    if (s->state == TCALL_S_LOW_) {
        if (c == '"')
            return tcall_scan_half_(s);
        s->state = TCALL_S_LOW_U_;
        return c == '\\' ? TCALL_OK : tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    }
    if (c == 'u') {
        s->state = TCALL_S_HEX_;
        s->hex = 0;
        s->hex_left = 4;
        return TCALL_OK;
    }
    plain = s->state == TCALL_S_ESCAPE_ ? tcall_unescape_(c) : (char)0;
    if (!plain)
        return tcall_scan_fail_(s, TCALL_E_BAD_ESCAPE);
    s->state = TCALL_S_STRING_;
    tcall_scan_bytes_(s, &plain, 1);
    return s->error;
}

/* A value ends before p. A comma is taken along if it is there already. */
static inline const char *tcall_scan_next_(tcall_scan *s, const char *p,
                                           const char *end)
{
    tcall_scan_value_end_(s);
    if (p == end || *p != ',' || !s->depth || s->error)
        return p;
    s->state = s->object ? TCALL_S_KEY_ : TCALL_S_VALUE_;
    return p + 1;
}

/* Numbers and literals: as far as they go; from is where this piece begins. */
static inline const char *tcall_scan_word_(tcall_scan *s, const char *from,
                                           const char *p, const char *end)
{
    bool ends = false, wide;
    if (s->state == TCALL_S_NUMBER_) {
        uint8_t state = s->number, next = state;
        while (p < end) {
            if (0x250 >> state & 1) /* digits go on with digits */
                while (p < end && tcall_is_digit_(*p))
                    p++;
            next = p < end ? tcall_number_next_(state, *p) : state;
            if (!next || p == end)
                break;
            state = next;
            p++;
        }
        s->number = state;
        ends = !next;
        if (ends && !tcall_number_ends_(state))
            s->error = TCALL_E_BAD_VALUE;
    } else {
        while (p < end && TCALL_BYTE_(s->lit) && *p == TCALL_BYTE_(s->lit))
            p++, s->lit++;
        ends = !TCALL_BYTE_(s->lit);
        if (p < end && !ends)
            s->error = TCALL_E_BAD_VALUE;
    }
    if (s->error)
        return p;
    wide = s->number > 6 || p - from > 300;
    tcall_scan_token_end_(s, p, wide ? TCALL_NEEDS_DECODE_ : 0);
    if (wide || !ends) /* the length of a number in pieces is not known */
        s->wide = true;
    if (s->row != TCALL_SCAN_NONE_) {
        if (p > from)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, from,
                             (size_t)(p - from));
        if (ends)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_END, p, 0);
    }
    return ends ? tcall_scan_next_(s, p, end) : p;
}

/* A key begins at p. Mostly it is in one piece and plain, and needs no memory;
 * the colon goes with it if it is there already. */
static inline const char *tcall_scan_key_(tcall_scan *s, const char *p,
                                          const char *end)
{
    const char *quote = tcall_plain_(p + 1, end);
    size_t len = (size_t)(quote - p) - 1;
    tcall_scan_token_(s, p, true);
    if (quote == end || *quote != '"') {
        s->state = TCALL_S_STRING_;
        s->string_mode =
            s->at == TCALL_SCAN_NONE_ ? TCALL_STRING_SKIP_ : TCALL_STRING_KEY_;
        return p + 1;
    }
    tcall_scan_token_end_(s, quote, 0);
    s->row = len ? tcall_scan_match_(s, s->at, p + 1, len)
                 : (uint8_t)TCALL_SCAN_NONE_;
    s->state = TCALL_S_COLON_;
    if (++quote == end || *quote != ':')
        return quote;
    s->state = TCALL_S_VALUE_;
    return quote + 1;
}

/* The same for a string that is a value. */
static inline const char *tcall_scan_quoted_(tcall_scan *s, const char *p,
                                             const char *end)
{
    const char *quote = tcall_plain_(p + 1, end);
    size_t len = (size_t)(quote - p) - 1;
    tcall_scan_begin_(s, p);
    if (s->half && s->half_row == s->row && !s->raw_depth) {
        s->state = TCALL_S_LOW_;
        s->string_mode = TCALL_STRING_VALUE_;
        s->high = s->half;
        s->half = 0;
        return p + 1;
    }
    if (quote == end || *quote != '"') {
        s->state = TCALL_S_STRING_;
        s->string_mode = s->row == TCALL_SCAN_NONE_ ? TCALL_STRING_UNHEARD_
                                                    : TCALL_STRING_VALUE_;
        return p + 1;
    }
    tcall_scan_token_end_(s, quote, 0);
    if (s->row != TCALL_SCAN_NONE_) {
        if (len)
            tcall_scan_tell_(s, s->row, TCALL_SCAN_DATA, p + 1, len);
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, quote, 0);
    }
    return tcall_scan_next_(s, quote + 1, end);
}

/* A string, a number or a literal begins at p. Returns what is not consumed. */
static inline const char *tcall_scan_scalar_(tcall_scan *s, const char *p,
                                             const char *end)
{
    if (*p == '"')
        return tcall_scan_quoted_(s, p, end);
    tcall_scan_begin_(s, p);
    s->state = TCALL_S_NUMBER_;
    s->number = *p == '-' ? 2 : *p == '0' ? 3 : 4;
    if (!tcall_is_digit_(*p) && *p != '-') {
        s->state = TCALL_S_LITERAL_;
        s->number = 0;
        s->lit = tcall_literal_(*p);
        if (*p != TCALL_BYTE_(s->lit))
            s->error = *p ? TCALL_E_BAD_VALUE : TCALL_E_NUL;
    }
    return s->error ? p : tcall_scan_word_(s, p, p + (s->number != 0), end);
}

/* What stands at p outside of strings, numbers and literals. *raw: start of
 * what is still to be reported of a raw value. */
static inline const char *tcall_scan_mark_(tcall_scan *s, const char *p,
                                           const char *end, const char **raw)
{
    char c = *p;
    int error = TCALL_OK;
    if ((unsigned char)c <= ' ' && tcall_is_space_(c))
        return p + 1;
    switch (s->state) {
    case TCALL_S_FIRST_KEY_:
    case TCALL_S_KEY_:
        if (c == '}' && s->state == TCALL_S_FIRST_KEY_) {
            error = tcall_scan_close_(s, p, raw);
            break;
        }
        if (c != '"') {
            error = TCALL_E_BAD_KEY;
            break;
        }
        p = tcall_scan_key_(s, p, end);
        if (s->state != TCALL_S_VALUE_ || p == end || (unsigned char)*p <= ' ')
            return p;
        c = *p; /* mostly the value follows at once */
        /* fall through */
    case TCALL_S_FIRST_:
    case TCALL_S_VALUE_:
        if (c == '{' || c == '[')
            error = tcall_scan_open_(s, p, raw);
        else if (c == ']' && s->state == TCALL_S_FIRST_)
            error = tcall_scan_close_(s, p, raw);
        else
            return tcall_scan_scalar_(s, p, end);
        break;
    case TCALL_S_COLON_:
        s->state = TCALL_S_VALUE_;
        error = c == ':' ? TCALL_OK : TCALL_E_MISSING_COLON;
        break;
    case TCALL_S_NEXT_:
        if (c == ',')
            s->state = s->object ? TCALL_S_KEY_ : TCALL_S_VALUE_;
        else if (c == '}' || c == ']')
            error = tcall_scan_close_(s, p, raw);
        else
            error = TCALL_E_MISSING_COMMA;
        break;
    default: error = TCALL_E_TRAILING; break;
    }
    if (!error)
        return p + 1;
    s->error = error;
    return p;
}

int tcall_scan_feed(tcall_scan *s, const char *bytes, size_t len)
{
    const char *p = bytes, *end = len ? bytes + len : bytes, *raw = bytes;
    while (p < end && !s->error) {
        if (s->state < TCALL_S_LITERAL_)
            p = tcall_scan_mark_(s, p, end, &raw);
        else if (s->state == TCALL_S_STRING_)
            p = tcall_scan_string_(s, p, end);
        else if (s->state < TCALL_S_STRING_)
            p = tcall_scan_word_(s, p, p, end);
        else if (tcall_scan_escape_(s, *p) == TCALL_OK)
            p++;
    }
    s->pos += (size_t)(p - bytes);
    tcall_scan_flush_(s);
    if (s->raw_depth && !s->error)
        tcall_scan_tell_(s, s->node[s->raw_depth - 1], TCALL_SCAN_DATA, raw,
                         (size_t)(end - raw));
    return s->error;
}

/* Takes a byte that is just content of a string: the short way where bytes come
 * one by one. Returns false for any other. */
TCALL_SHARED_ bool tcall_scan_plain_byte_(tcall_scan *s, const char *byte)
{
    if (s->state != TCALL_S_STRING_ || s->utf.left || s->raw_depth ||
        s->error || tcall_plain_run_(byte, byte + 1) == byte)
        return false;
    tcall_scan_bytes_(s, byte, 1);
    tcall_scan_flush_(s);
    s->pos++;
    return true;
}

int tcall_scan_end(tcall_scan *s)
{
    if (s->error)
        return s->error;
    if (s->state == TCALL_S_NUMBER_ && s->depth == 0 &&
        tcall_number_ends_(s->number)) {
        tcall_scan_tell_(s, s->row, TCALL_SCAN_END, s->piece, 0);
        s->state = TCALL_S_DONE_;
    }
    if (s->state != TCALL_S_DONE_)
        tcall_scan_fail_(s, TCALL_E_TRUNCATED);
    return s->error;
}

/* TCALL_OK when the text is one JSON value. */
TCALL_SHARED_ int tcall_scan_text_(tcall_scan *s, tcall_str text)
{
    tcall_scan_init(s, NULL, NULL, NULL);
    tcall_scan_feed(s, text.ptr, text.len);
    return tcall_scan_end(s);
}

/* The same. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_scan_whole_(tcall_str text)
{
    tcall_scan scan;
    return tcall_scan_text_(&scan, text);
}

#ifdef TOOLCALL_JSMN
#if !defined JSMN_STRICT || !defined JSMN_PARENT_LINKS
#error "TOOLCALL_JSMN: define JSMN_STRICT and JSMN_PARENT_LINKS, for jsmn.h too"
#endif
#ifndef JSMN_H
#include <jsmn.h>
#endif

/* jsmn makes its tokens in the memory of ours, each of which then takes the
 * place of one of jsmn's. */
typedef char tcall_jsmn_fits_[sizeof(jsmntok_t) == sizeof(tcall_tok) ? 1 : -1];

/* Turns the token at i into ours; those before it are. Its mark becomes the
 * container around it. */
static void tcall_jsmn_token_(tcall_tok *tok, int i, const char *text)
{
    jsmntok_t made;
    const char *start;
    size_t len;
    int flags = 0;
    memcpy(&made, tok + i, sizeof made);
    start = text + made.start;
    len = (size_t)(made.end - made.start);
    if (made.parent >= 0 && tok[made.parent].type & TCALL_KEY_) {
        flags = TCALL_MEMBER_;
        made.parent = tok[made.parent].mark;
    } else if (made.parent >= 0 &&
               (tok[made.parent].type & TCALL_TYPE_) == TCALL_OBJECT) {
        flags = TCALL_KEY_;
    }
    if (made.type == JSMN_STRING ? memchr(start, '\\', len) != NULL
                                 : made.type == JSMN_PRIMITIVE &&
                                       (len > 300 || memchr(start, 'e', len) ||
                                        memchr(start, 'E', len)))
        flags |= TCALL_NEEDS_DECODE_;
    tok[i].type =
        (int)tcall_type_at_(start - (made.type == JSMN_STRING)) | flags;
    tok[i].start = made.start;
    tok[i].end = made.end;
    tok[i].span = 1;
    tok[i].mark = made.parent;
}

/* Makes the tokens of a text that the scanner accepted. jsmn wants something
 * to follow a number or a word: one alone is made by hand. */
static void tcall_jsmn_make_(tcall_str text, tcall_tok *tok, int count)
{
    jsmn_parser parser;
    jsmntok_t only = {JSMN_PRIMITIVE, 0, 0, 0, -1};
    int i;
    jsmn_init(&parser);
    if (jsmn_parse(&parser, text.ptr, text.len, (jsmntok_t *)(void *)tok,
                   (unsigned)count) < 0) {
        only.end = (int)text.len;
        while (tcall_is_space_(text.ptr[only.start]))
            only.start++;
        while (tcall_is_space_(text.ptr[only.end - 1]))
            only.end--;
        memcpy(tok, &only, sizeof only);
    }
    for (i = 0; i < count; i++)
        tcall_jsmn_token_(tok, i, text.ptr);
    /* from the end, so that what is inside a container comes before it */
    while (--i > 0) {
        tcall_tok *around = tok + tok[i].mark;
        if (around->span == 1)
            tok[i].type |= TCALL_LAST_;
        around->span += tok[i].span;
        tok[i].mark = 0;
    }
    tok[0].mark = 0;
}

/* Makes a token of each value and key of a text if all fit; scan->tokens is
 * how many there are. */
TCALL_SHARED_ int tcall_scan_tokenize_(tcall_scan *scan, tcall_str text,
                                       tcall_tok *tok, size_t cap)
{
    int error = tcall_scan_text_(scan, text);
    if (error == TCALL_OK && scan->tokens <= cap && text.len < INT_MAX)
        tcall_jsmn_make_(text, tok, (int)scan->tokens);
    return error;
}

#else

/* Makes a token of each value and key of a text, as many as fit, while it is
 * recognised; scan->tokens is how many there are. */
TCALL_SHARED_ int tcall_scan_tokenize_(tcall_scan *scan, tcall_str text,
                                       tcall_tok *tok, size_t cap)
{
    tcall_scan_init(scan, NULL, NULL, NULL);
    scan->text = text.ptr;
    scan->tok = tok;
    scan->tok_cap = cap < INT_MAX ? cap : INT_MAX;
    tcall_scan_feed(scan, text.ptr, text.len);
    return tcall_scan_end(scan);
}

#endif /* TOOLCALL_JSMN */

/* Returns the length of the escape at p in a string that the scanner accepted:
 * a pair of surrogates is one of 12 bytes. */
TCALL_SHARED_ size_t tcall_escape_len_(const char *p)
{
    if (p[1] != 'u')
        return 2;
    return (p[2] | 0x20) == 'd' && tcall_hex_(p[3]) >= 8 ? 12 : 6;
}

/* Four hex digits. */
static uint32_t tcall_unit_(const char *p)
{
    uint32_t unit = 0;
    int i;
    for (i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)tcall_hex_(p[i]);
    return unit;
}

/* Decodes the escapes of a string that the scanner accepted; new length. */
TCALL_SHARED_ size_t tcall_decode_(char *out, const char *p, const char *end)
{
    char *to = out;
    while (p < end) {
        const char *run = (const char *)memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((run ? run : end) - p);
        uint32_t cp;
        memmove(to, p, n);
        to += n;
        if (!run)
            break;
        p = run + 2;
        if (p[-1] != 'u') {
            *to++ = tcall_unescape_(p[-1]);
            continue;
        }
        cp = tcall_unit_(p);
        p += 4;
        if (cp >= 0xD800 && cp <= 0xDBFF) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + tcall_unit_(p + 2) - 0xDC00;
            p += 6;
        }
        to += tcall_utf8_(to, cp);
    }
    return (size_t)(to - out);
}

/* ==========================================================================
 * >>text: walking over JSON text
 *
 * For text that the scanner accepted. In other text these find anything, but
 * read nothing after its NUL.
 */

TCALL_SHARED_ const char *tcall_text_space_(const char *text)
{
    while (tcall_is_space_(*text))
        text++;
    return text;
}

/* Returns the next member or element, or the bracket that closes. */
TCALL_SHARED_ const char *tcall_text_next_(const char *text)
{
    text = tcall_text_space_(text);
    return *text == ',' ? tcall_text_space_(text + 1) : text;
}

TCALL_SHARED_ bool tcall_text_closes_(const char *text)
{
    return (*text | 0x20) == '}' || !*text;
}

/* Returns the end of the value that starts at text. It need not be valid: a NUL
 * ends it. */
TCALL_SHARED_ const char *tcall_text_skip_(const char *text)
{
    int depth = 0;
    do {
        if (*text == '"') {
            for (text++; *text && *text != '"'; text++)
                text += *text == '\\' && text[1];
        } else if (*text == '{' || *text == '[') {
            depth++;
        } else if (tcall_text_closes_(text)) {
            depth--;
        } else if (!depth) {
            while (text[1] != ',' && !tcall_text_closes_(text + 1) &&
                   !tcall_is_space_(text[1]))
                text++;
        }
        text += *text != 0;
    } while (depth && *text);
    return text;
}

/* Returns the value of the member whose key is given. */
TCALL_SHARED_ const char *tcall_text_value_(const char *key)
{
    key = tcall_text_space_(tcall_text_skip_(key));
    return tcall_text_space_(key + (*key == ':'));
}

TCALL_SHARED_ tcall_str tcall_text_verbatim_(const char *text)
{
    return tcall_slice_(text, (size_t)(tcall_text_skip_(text) - text));
}

/* Returns the string at text without its quotes, its escapes as they are. */
TCALL_SHARED_ tcall_str tcall_text_inner_(const char *text)
{
    tcall_str string = tcall_text_verbatim_(text);
    return tcall_slice_(text + 1, string.len - 2);
}

/* Decodes an escape or one byte of a JSON string at *at, and moves
 * *at past it. Returns the number of bytes. */
TCALL_SHARED_ size_t tcall_text_char_(const char **at, char out[4])
{
    const char *from = *at;
    if (*from != '\\') {
        out[0] = *from;
        ++*at;
        return 1;
    }
    *at += tcall_escape_len_(from);
    return tcall_decode_(out, from, *at);
}

/* Returns the length of the escape at text, where a surrogate pair is one, or 0
 * if the text ends inside it. */
static size_t tcall_text_escape_len_(const char *text)
{
    size_t len = text[1] == 'u' ? 6 : 2, i;
    for (i = 1; i < len; i++) {
        if (!text[i] || (i > 1 && i != 6 && i != 7 && tcall_hex_(text[i]) < 0))
            return 0;
        if (i == 5 && (text[2] | 0x20) == 'd' &&
            (tcall_hex_(text[3]) & 12) == 8)
            len = 12;
    }
    return len;
}

/* Reads bytes one by one: those of a JSON string, its escapes decoded, or those
 * up to an end. */
typedef struct tcall_text_bytes_ {
    const char *at, *end; /* end NULL: at the quote */
    char decoded[4];
    uint8_t next, count; /* in decoded */
} tcall_text_bytes_;

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_of_(const char *quote)
{
    tcall_text_bytes_ bytes;
    bytes.at = quote + 1;
    bytes.end = NULL;
    bytes.next = bytes.count = 0;
    return bytes;
}

TCALL_SHARED_ tcall_text_bytes_ tcall_text_bytes_in_(tcall_str text)
{
    tcall_text_bytes_ bytes;
    bytes.at = text.ptr;
    bytes.end = text.ptr + text.len;
    bytes.next = bytes.count = 0;
    return bytes;
}

/* Returns the next byte, or -1 where the string or the text ends. */
static int tcall_text_byte_(tcall_text_bytes_ *bytes)
{
    if (bytes->end)
        return bytes->at < bytes->end ? (unsigned char)*bytes->at++ : -1;
    if (bytes->next == bytes->count) {
        const char *at = bytes->at;
        if (!*at || *at == '"' || (*at == '\\' && !tcall_text_escape_len_(at)))
            return -1;
        bytes->count = (uint8_t)tcall_text_char_(&bytes->at, bytes->decoded);
        bytes->next = 0;
    }
    return (unsigned char)bytes->decoded[bytes->next++];
}

/* Returns whether both are equal; a string that is broken is equal to none. */
TCALL_SHARED_ bool tcall_text_match_(tcall_text_bytes_ a, tcall_text_bytes_ b)
{
    int byte;
    /* most are plain, and have nothing to decode */
    while (a.at != a.end && b.at != b.end && *a.at == *b.at && *a.at != '"' &&
           *a.at != '\\' && *a.at) {
        a.at++;
        b.at++;
    }
    do {
        byte = tcall_text_byte_(&a);
        if (tcall_text_byte_(&b) != byte)
            return false;
    } while (byte >= 0);
    return (a.end || *a.at == '"') && (b.end || *b.at == '"');
}

TCALL_SHARED_ uint32_t tcall_text_hash_(tcall_text_bytes_ bytes)
{
    uint32_t hash = TCALL_HASH_EMPTY_;
    int byte;
    while ((byte = tcall_text_byte_(&bytes)) >= 0) {
        char c = (char)byte;
        hash = tcall_hash_more_(hash, tcall_slice_(&c, 1));
    }
    return hash;
}

/* Returns whether the string at text is equal to want. */
TCALL_SHARED_ bool tcall_text_same_(const char *text, tcall_str want)
{
    return tcall_text_match_(tcall_text_bytes_of_(text),
                             tcall_text_bytes_in_(want));
}

/* Returns whether both strings are equal, however each is escaped. */
TCALL_SHARED_ bool tcall_text_equal_(const char *text, const char *other)
{
    return tcall_text_match_(tcall_text_bytes_of_(text),
                             tcall_text_bytes_of_(other));
}

/* Returns whether the value at text is a string, and this word. */
TCALL_SHARED_ bool tcall_text_is_(const char *text, const char *word)
{
    return *text == '"' && tcall_text_same_(text, tcall_str_of(word));
}

/* Returns the key of the member of the object at text that has this name; in an
 * array the element whose index the name is; NULL where there is none. */
TCALL_SHARED_ const char *tcall_text_member_(const char *text, tcall_str name)
{
    bool object = *text == '{';
    uint32_t index = 0;
    size_t i;
    if (!object && *text != '[')
        return NULL;
    for (i = 0; i < name.len && i < 6; i++)
        index = index * 10 + (uint32_t)(name.ptr[i] - '0');
    for (text = tcall_text_next_(text + 1); !tcall_text_closes_(text);
         text = tcall_text_next_(tcall_text_skip_(text))) {
        if (object ? tcall_text_same_(text, name) : !index--)
            return text;
        if (object)
            text = tcall_text_value_(text);
    }
    return NULL;
}

/* Returns the value of a member, or NULL where there is none or text is no
 * object. */
TCALL_SHARED_ const char *tcall_text_get_(const char *text, const char *name)
{
    text = text && *text == '{' ? tcall_text_member_(text, tcall_str_of(name))
                                : NULL;
    return text ? tcall_text_value_(text) : NULL;
}

/* Returns the first element, or NULL where there is none or text is no array.
 */
TCALL_SHARED_ const char *tcall_text_first_(const char *text)
{
    text = text && *text == '[' ? tcall_text_next_(text + 1) : NULL;
    return text && *text != ']' ? text : NULL;
}

/* ---- JSON Pointer, RFC 6901 ---- */

/* Returns what a character of a name becomes in a pointer, or NULL where it
 * stays as it is. */
TCALL_SHARED_ const char *tcall_pointer_escape_(char c)
{
    return c == '~' ? "~0" : c == '/' ? "~1" : NULL;
}

/* Decodes one name of a pointer in place. Returns its new length, or -1 where
 * a ~ is followed by anything but 0 and 1. */
TCALL_SHARED_ int tcall_pointer_unescape_(char *name, int len)
{
    int from, to = 0;
    for (from = 0; from < len; from++) {
        char c = name[from];
        if (c == '~') {
            char which = ++from < len ? name[from] : (char)0;
            if (which != '0' && which != '1')
                return -1;
            c = which == '0' ? '~' : '/';
        }
        name[to++] = c;
    }
    return to;
}

/* ==========================================================================
 * >>json
 *
 * The scanner makes the tokens while it recognises the text. What is left to
 * do goes over the tokens once: strings are decoded where they lie, scalars
 * get a NUL behind them, keys that stand twice are found.
 */

TCALL_SHARED_ tcall_json tcall_json_none_(void)
{
    tcall_json v;
    v.text = NULL;
    v.tok = NULL;
    return v;
}

TCALL_SHARED_ tcall_json tcall_json_cursor_(const char *text,
                                            const tcall_tok *tok)
{
    tcall_json v;
    v.text = text;
    v.tok = tok;
    return v;
}

tcall_type tcall_json_type(tcall_json v)
{
    return v.tok ? (tcall_type)(v.tok->type & TCALL_TYPE_) : TCALL_MISSING;
}

TCALL_SHARED_ tcall_str tcall_tok_str_(const char *text, const tcall_tok *tok)
{
    return tcall_slice_(text + tok->start, (size_t)(tok->end - tok->start));
}

/* Larger or smaller numbers would be infinity or 0 to most readers. */
TCALL_SHARED_ bool tcall_num_in_range_(tcall_str text)
{
    tcall_num_ n = tcall_num_read_(text);
    return !n.sign || (n.top <= 308 && n.top >= -308);
}

/* Whether two keys, the first of len bytes, are the same. */
static inline bool tcall_json_same_(const char *text, const tcall_tok *key,
                                    int len, const tcall_tok *other)
{
    return len == other->end - other->start &&
           memcmp(text + key->start, text + other->start, (size_t)len) == 0;
}

/* The key that stands twice. The marks of the object's own tokens serve as the
 * hash table: there are at least twice as many of them as keys. Too many
 * collisions count as a duplicate: they do not come by chance. */
static tcall_tok *tcall_find_duplicate_key_(const char *text, tcall_tok *object)
{
    tcall_tok *first = object + 1, *end = object + object->span, *key, *slot;
    int probes = 32;
    for (key = first; key < end; key += 1 + key[1].span) {
        int len = key->end - key->start;
        slot = first +
               tcall_hash_(tcall_tok_str_(text, key)) % (uint32_t)(end - first);
        for (probes += 8; slot->mark; probes--) {
            if (probes == 0 ||
                tcall_json_same_(text, key, len, object + slot->mark))
                return key;
            if (++slot == end)
                slot = first;
        }
        slot->mark = (int)(key - object);
    }
    for (slot = first; slot < end; slot++)
        slot->mark = 0;
    return NULL;
}

/* A scalar or a key that is not as plain as most. */
static int tcall_json_decode_(char *text, tcall_tok *t, bool refuse_nul)
{
    char *p = text + t->start;
    size_t len = (size_t)(t->end - t->start);
    if ((t->type & TCALL_TYPE_) == TCALL_NUMBER)
        return tcall_num_in_range_(tcall_slice_(p, len)) ? TCALL_OK
                                                         : TCALL_E_RANGE;
    len = tcall_decode_(p, p, p + len);
    t->end = t->start + (int)len;
    return refuse_nul && memchr(p, 0, len) ? TCALL_E_NUL : TCALL_OK;
}

/* The second half of parsing, when the scanner has made the tokens; from the
 * end, so that what is within an object comes first. *at: where an error
 * stands. */
TCALL_SHARED_ int tcall_json_finish_(char *text, tcall_tok *tok, int count,
                                     bool refuse_nul, size_t *at)
{
    tcall_tok *t = tok + count, *twice;
    int r = TCALL_OK;
    while (t > tok) {
        int type = (--t)->type & TCALL_TYPE_;
        if (type == TCALL_OBJECT && t->span > 3) {
            twice = tcall_find_duplicate_key_(text, t);
            if (twice) {
                t = twice;
                r = TCALL_E_DUPLICATE;
                break;
            }
        } else if (type < TCALL_ARRAY) {
            if (t->type & TCALL_NEEDS_DECODE_)
                r = tcall_json_decode_(text, t, refuse_nul);
            if (r < 0)
                break;
            text[t->end] = 0;
        }
    }
    if (r < 0)
        *at = (size_t)t->start;
    return r;
}

int tcall_json_parse(tcall_json *out, char *text, size_t len, tcall_tok *tok,
                     size_t cap, size_t *need)
{
    tcall_scan scan;
    size_t at;
    int r;
    *out = tcall_json_none_();
    r = tcall_scan_tokenize_(&scan, tcall_slice_(text, len), tok, cap);
    at = scan.pos;
    if (r == TCALL_OK && (scan.tokens > cap || len >= INT_MAX)) {
        r = TCALL_E_MEMORY;
        at = scan.tokens;
    }
    if (r == TCALL_OK)
        r = tcall_json_finish_(text, tok, (int)scan.tokens, false, &at);
    if (need)
        *need = at;
    if (r < 0)
        return r;
    *out = tcall_json_cursor_(text, tok);
    return (int)scan.tokens;
}

tcall_json tcall_json_first(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type < TCALL_ARRAY || v.tok->span == 1)
        return tcall_json_none_();
    return tcall_json_cursor_(v.text, v.tok + (type == TCALL_OBJECT ? 2 : 1));
}

tcall_json tcall_json_next(tcall_json v)
{
    if (!v.tok || v.tok->type & TCALL_LAST_)
        return tcall_json_none_();
    return tcall_json_cursor_(
        v.text, v.tok + v.tok->span + (v.tok->type & TCALL_MEMBER_ ? 1 : 0));
}

tcall_str tcall_json_key(tcall_json v)
{
    if (!v.tok || !(v.tok->type & TCALL_MEMBER_))
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok - 1);
}

static tcall_json tcall_json_find_(tcall_json object, tcall_str key)
{
    const tcall_tok *t = object.tok, *end;
    if (tcall_json_type(object) == TCALL_OBJECT)
        for (end = t + t->span, t++; t < end; t += 1 + t[1].span)
            if (tcall_str_eq(tcall_tok_str_(object.text, t), key))
                return tcall_json_cursor_(object.text, t + 1);
    return tcall_json_none_();
}

tcall_json tcall_json_get(tcall_json object, const char *key)
{
    return tcall_json_find_(object, tcall_str_of(key));
}

tcall_json tcall_json_at(tcall_json array, int index)
{
    const tcall_tok *t = array.tok, *end;
    if (tcall_json_type(array) == TCALL_ARRAY)
        for (end = t + t->span, t++; t < end; t += t->span)
            if (index-- == 0)
                return tcall_json_cursor_(array.text, t);
    return tcall_json_none_();
}

int tcall_json_count(tcall_json v)
{
    tcall_json i;
    int n = 0;
    for (i = tcall_json_first(v); i.tok; i = tcall_json_next(i))
        n++;
    return n;
}

tcall_str tcall_json_str(tcall_json v)
{
    tcall_type type = tcall_json_type(v);
    if (type == TCALL_MISSING || type > TCALL_STRING)
        return tcall_slice_(NULL, 0);
    return tcall_tok_str_(v.text, v.tok);
}

const char *tcall_json_string(tcall_json v, const char *fallback)
{
    return tcall_json_type(v) == TCALL_STRING ? v.text + v.tok->start
                                              : fallback;
}

bool tcall_json_bool(tcall_json v, bool fallback)
{
    if (tcall_json_type(v) != TCALL_BOOL)
        return fallback;
    return v.text[v.tok->start] == 't';
}

int64_t tcall_json_int64(tcall_json v, int64_t fallback)
{
    tcall_num_ n;
    int64_t out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!tcall_num_integral_(&n) || !tcall_num_int64_(&n, 0, &out))
        return fallback;
    return out;
}

int tcall_json_int(tcall_json v, int fallback)
{
    int64_t n = tcall_json_int64(v, fallback);
    return n < INT_MIN || n > INT_MAX ? fallback : (int)n;
}

long tcall_json_fixed(tcall_json v, int decimals, long fallback)
{
    tcall_num_ n;
    int64_t out;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!tcall_num_int64_(&n, decimals, &out) || out < LONG_MIN ||
        out > LONG_MAX)
        return fallback;
    return (long)out;
}

/* The first 19 digits, which is all that 64 bits hold. */
double tcall_json_double(tcall_json v, double fallback)
{
    tcall_num_ n;
    const char *p;
    uint64_t sum = 0;
    double out;
    int digits;
    if (tcall_json_type(v) != TCALL_NUMBER)
        return fallback;
    n = tcall_num_read_(tcall_json_str(v));
    if (!n.sign)
        return 0;
    p = n.first;
    for (digits = 0; digits < 19 && p <= n.last; digits++)
        sum = sum * 10 + (uint64_t)tcall_num_digit_(&n, &p);
    out = tcall_decimal_(sum, n.top - digits + 1);
    return n.sign < 0 ? -out : out;
}

/* ==========================================================================
 * >>lenient
 *
 * Lenient reading has no grammar of its own: what it writes is fed to a
 * scanner, whose state says what must come next and which refuses whatever
 * would not be JSON. So what comes out is JSON, or it is an error.
 */

static const char tcall_fix_names_[][19] = {
#define TCALL_X_(name, text) text,
    TCALL_FIXES(TCALL_X_)
#undef TCALL_X_
};

const char *tcall_fix_name(int i)
{
    return i >= 0 && i < TCALL_FIX_COUNT ? tcall_fix_names_[i] : NULL;
}

/* A text that is being read. */
typedef struct tcall_lenient_ {
    const char *start, *at, *end; /* the text, and how far it is read */
    int next;                     /* the byte that follows; -1: the end */
    bool inside; /* it is the inside of a string, and is written decoded */
    uint32_t fixes;
    int error;
    size_t where; /* offset of the error, else of the first fix */
    char *out;
    size_t cap, len; /* len counts what does not fit, too */
    tcall_scan scan; /* of what is written */
} tcall_lenient_;

static void tcall_lenient_open_(tcall_lenient_ *text, tcall_str bytes)
{
    text->start = bytes.ptr ? bytes.ptr : "";
    text->end = text->start + bytes.len;
    text->out = NULL;
    text->cap = text->len = 0;
    text->fixes = 0;
    text->where = 0;
    text->error = TCALL_OK;
}

/* Whether the scanner saw one whole object: the bit of the outermost level
 * stays when it is closed. */
static bool tcall_scan_is_object_(tcall_scan *scan)
{
    return tcall_scan_end(scan) == TCALL_OK && scan->open[0] & 1;
}

#ifndef TOOLCALL_NO_LENIENT

/* ---- errors and fixes: both are noted at the place that is read ---- */

/* The first error stays. */
static void tcall_lenient_fail_(tcall_lenient_ *text, int error)
{
    if (text->error)
        return;
    text->where = (size_t)(text->at - text->start);
    text->error = error;
}

static void tcall_lenient_fix_(tcall_lenient_ *text, uint32_t fix)
{
    if (!text->fixes && !text->error)
        text->where = (size_t)(text->at - text->start);
    text->fixes |= fix;
}

/* ---- writing ---- */

/* Writes JSON text, and feeds it to the scanner. The inside of a string need
 * not be JSON, which is known only at its end: that is no error here. */
static void tcall_lenient_put_(tcall_lenient_ *text, const char *bytes,
                               size_t len)
{
    size_t before = text->scan.pos;
    if (tcall_scan_feed(&text->scan, bytes, len) < 0 && !text->inside) {
        tcall_lenient_fail_(text, text->scan.error);
        if (bytes == text->at)
            text->where += text->scan.pos - before;
    }
    if (text->len + len <= text->cap)
        memcpy(text->out + text->len, bytes, len);
    text->len += len;
}

static void tcall_lenient_put_char_(tcall_lenient_ *text, char c)
{
    tcall_lenient_put_(text, &c, 1);
}

/* Writes the next len bytes of the text as they are. */
static void tcall_lenient_copy_(tcall_lenient_ *text, size_t len)
{
    tcall_lenient_put_(text, text->at, len);
    text->at += len;
}

/* ---- looking ahead ---- */

static bool tcall_lenient_sees_bytes_(const tcall_lenient_ *text,
                                      tcall_str bytes)
{
    return (size_t)(text->end - text->at) >= bytes.len &&
           memcmp(text->at, bytes.ptr, bytes.len) == 0;
}

static bool tcall_lenient_sees_(const tcall_lenient_ *text, const char *word)
{
    return tcall_lenient_sees_bytes_(text, tcall_str_of(word));
}

/* Returns the byte at an offset from here, 0 after the end. */
static char tcall_lenient_ahead_(const tcall_lenient_ *text, size_t offset)
{
    return (size_t)(text->end - text->at) > offset ? text->at[offset] : (char)0;
}

/* Whether one of the characters of set follows, or the end. */
static bool tcall_lenient_ends_(const tcall_lenient_ *text, const char *set)
{
    return text->next < 0 || (text->next && strchr(set, text->next));
}

/* Skips a word that is rewritten or left out, if it follows. */
static bool tcall_lenient_skip_(tcall_lenient_ *text, const char *word,
                                uint32_t fix)
{
    if (!tcall_lenient_sees_(text, word))
        return false;
    tcall_lenient_fix_(text, fix);
    text->at += strlen(word);
    return true;
}

/* Skips the first word of a list, which ends with NULL, that follows. */
static bool tcall_lenient_skip_any_(tcall_lenient_ *text,
                                    const char *const *words, uint32_t fix)
{
    for (; *words; words++)
        if (tcall_lenient_skip_(text, *words, fix))
            return true;
    return false;
}

/* ---- white space and comments ---- */

static const char *const tcall_lenient_spaces_[] = {
    "\xEF\xBB\xBF", /* byte order mark */
    "\xC2\xA0",     /* no-break space */
    "\xE2\x80\x80",
    "\xE2\x80\x81",
    "\xE2\x80\x82", /* quads to hair space */
    "\xE2\x80\x83",
    "\xE2\x80\x84",
    "\xE2\x80\x85",
    "\xE2\x80\x86",
    "\xE2\x80\x87",
    "\xE2\x80\x88",
    "\xE2\x80\x89",
    "\xE2\x80\x8A",
    "\xE2\x80\xA8",
    "\xE2\x80\xA9", /* line and paragraph separator */
    "\xE2\x80\xAF", /* narrow no-break space */
    "\xE2\x81\x9F", /* mathematical space */
    "\xE3\x80\x80", /* ideographic space */
    NULL};

/* Skips a comment up to its end, which the end of the text is for one that
 * lasts a line. */
static void tcall_lenient_comment_(tcall_lenient_ *text, const char *end)
{
    while (!tcall_lenient_skip_(text, end, 0)) {
        if (text->at == text->end) {
            if (*end == '*')
                tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
            return;
        }
        text->at++;
    }
}

/* Skips white space and comments, and looks at what follows. */
static void tcall_lenient_blank_(tcall_lenient_ *text)
{
    for (;;) {
        text->next = text->at == text->end ? -1 : (unsigned char)*text->at;
        if (text->next >= 0 && tcall_is_space_((char)text->next))
            text->at++;
        else if (tcall_lenient_skip_(text, "/*", TCALL_FIX_COMMENT))
            tcall_lenient_comment_(text, "*/");
        else if (tcall_lenient_skip_(text, "//", TCALL_FIX_COMMENT) ||
                 tcall_lenient_skip_(text, "#", TCALL_FIX_COMMENT))
            tcall_lenient_comment_(text, "\n");
        else if (text->next < 0x80 ||
                 !tcall_lenient_skip_any_(text, tcall_lenient_spaces_,
                                          TCALL_FIX_SPACE))
            return;
    }
}

/* ---- strings ---- */

/* Returns the quote that closes the one that follows, or NULL. */
static const char *tcall_lenient_quote_(const tcall_lenient_ *text)
{
    static const struct {
        const char *open, *close;
    } quotes[] = {{"\"", "\""},
                  {"'", "'"},
                  {"\xE2\x80\x9C", "\xE2\x80\x9D"},
                  {"\xE2\x80\x98", "\xE2\x80\x99"}};
    size_t i;
    for (i = 0; i < sizeof quotes / sizeof *quotes; i++)
        if (tcall_lenient_sees_(text, quotes[i].open))
            return quotes[i].close;
    return NULL;
}

/* Writes a byte that JSON wants escaped and that came without. */
static void tcall_lenient_escape_(tcall_lenient_ *text)
{
    static const char digits[] = "0123456789ABCDEF";
    char c = *text->at, escape[6] = {'\\', 'u', '0', '0', '0', '0'};
    if (c != '"')
        tcall_lenient_fix_(text, TCALL_FIX_CONTROL);
    if (!c)
        tcall_lenient_fail_(text, TCALL_E_NUL);
    escape[4] = digits[c >> 4];
    escape[5] = digits[c & 15];
    if (text->inside)
        tcall_lenient_put_char_(text, c);
    else
        tcall_lenient_put_(text, escape, sizeof escape);
    text->at++;
}

/* Writes what a valid escape means; a pair of surrogates is two of them. */
static void tcall_lenient_decode_(tcall_lenient_ *text)
{
    const char *escape = text->at;
    char out[4];
    text->at += tcall_escape_len_(escape);
    tcall_lenient_put_(text, out, tcall_decode_(out, escape, text->at));
}

/* Returns the length of what can be copied at once: one byte or escape, and
 * after it all that is plain. */
static size_t tcall_lenient_plain_(const tcall_lenient_ *text, char quote)
{
    const char *at = text->at;
    at += *at == '\\' && at + 1 < text->end ? 2 : 1;
    while (at < text->end && *at != quote && *at != '"' && *at != '\\' &&
           (unsigned char)*at >= 0x20)
        at++;
    return (size_t)(at - text->at);
}

/* Reads the inside of a string up to its closing quote or the end. */
static void tcall_lenient_content_(tcall_lenient_ *text, const char *quote)
{
    while (text->at < text->end && !text->error &&
           !tcall_lenient_sees_(text, quote)) {
        if (tcall_lenient_sees_(text, "\\'")) {
            tcall_lenient_fix_(text, TCALL_FIX_APOSTROPHE);
            text->at++;
            tcall_lenient_copy_(text, 1);
        } else if (*text->at == '"' || (unsigned char)*text->at < 0x20) {
            tcall_lenient_escape_(text);
        } else if (text->inside && *text->at == '\\') {
            tcall_lenient_decode_(text);
        } else {
            tcall_lenient_copy_(text, tcall_lenient_plain_(text, *quote));
        }
    }
}

/* Reads a whole string, and looks at what follows it: only a comma, a colon, a
 * bracket or the end can. Anything else means that the quote did not close the
 * string. */
static void tcall_lenient_string_(tcall_lenient_ *text, const char *quote)
{
    const char *closed;
    if (*quote != '"')
        tcall_lenient_fix_(text, *quote == '\'' ? TCALL_FIX_SINGLE_QUOTE
                                                : TCALL_FIX_SMART_QUOTE);
    if (!text->inside)
        tcall_lenient_put_char_(text, '"');
    text->at += strlen(quote);
    tcall_lenient_content_(text, quote);
    closed = text->at;
    if (!tcall_lenient_skip_(text, quote, 0))
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
    if (!text->inside)
        tcall_lenient_put_char_(text, '"');
    tcall_lenient_blank_(text);
    if (!tcall_lenient_ends_(text, ",:]}") &&
        !(text->scan.depth == 0 && tcall_lenient_sees_(text, "```"))) {
        text->at = closed;
        tcall_lenient_fail_(text, TCALL_E_UNESCAPED_QUOTE);
    }
}

/* ---- numbers, words, keys ---- */

/* Writes the 0 that is missing before a point or after it, if it is, and
 * returns the state of the number. */
static uint8_t tcall_lenient_zero_(tcall_lenient_ *text, uint8_t state)
{
    char c = tcall_lenient_ahead_(text, 0);
    bool before = c == '.' && state < TCALL_N_ZERO_ &&
                  tcall_is_digit_(tcall_lenient_ahead_(text, 1));
    bool after = state == TCALL_N_POINT_ && !tcall_is_digit_(c);
    if (!before && !after)
        return state;
    tcall_lenient_fix_(text, TCALL_FIX_NUMBER);
    tcall_lenient_put_char_(text, '0');
    return before ? TCALL_N_ZERO_ : TCALL_N_FRACTION_;
}

/* Reads a number, in JSON's form or as +5, .5 or 5. write it. */
static void tcall_lenient_number_(tcall_lenient_ *text)
{
    const char *from = text->at, *to;
    uint8_t state = tcall_lenient_skip_(text, "+", TCALL_FIX_NUMBER)
                        ? TCALL_N_MINUS_
                        : TCALL_N_START_;
    for (;;) {
        uint8_t next;
        state = tcall_lenient_zero_(text, state);
        next = tcall_number_next_(state, tcall_lenient_ahead_(text, 0));
        if (!next)
            break;
        tcall_lenient_copy_(text, 1);
        state = next;
    }
    to = text->at;
    if (tcall_number_ends_(state)) {
        tcall_scan_feed(&text->scan, " ", 1);
        tcall_lenient_blank_(text);
        if (text->at > to || tcall_lenient_ends_(text, ",:]}/"))
            return;
    }
    text->at = from;
    tcall_lenient_fail_(text, TCALL_E_BAD_VALUE);
}

/* What a key without quotes may begin with, beside $. */
static bool tcall_lenient_alpha_(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool tcall_lenient_alnum_(char c)
{
    return tcall_lenient_alpha_(c) || tcall_is_digit_(c);
}

/* Whether a word can begin or go on here. Beyond ASCII most characters are
 * letters; what is left out are signs and spaces, by their first bytes. */
static bool tcall_lenient_letter_(const tcall_lenient_ *text)
{
    unsigned first = (unsigned char)tcall_lenient_ahead_(text, 0);
    unsigned second = (unsigned char)tcall_lenient_ahead_(text, 1);
    if (first < 0x80)
        return tcall_lenient_alnum_((char)first);
    return first >= 0xC3 && first < 0xEF && first != 0xE2 &&
           !(first == 0xE3 && second == 0x80) &&
           !(first == 0xE1 && second == 0xA0);
}

/* Reads true, false, null and what Python makes of them. null in place of all
 * arguments means that there are none. */
static void tcall_lenient_literal_(tcall_lenient_ *text)
{
    static const struct {
        const char *word, *json;
        uint32_t fix;
    } literals[] = {
        {"true", "true", 0},
        {"false", "false", 0},
        {"null", "null", 0},
        {"True", "true", TCALL_FIX_PYTHON},
        {"False", "false", TCALL_FIX_PYTHON},
        {"None", "null", TCALL_FIX_PYTHON},
    };
    const char *from = text->at, *json = NULL;
    size_t i;
    for (i = 0; !json && i < sizeof literals / sizeof *literals; i++)
        if (tcall_lenient_skip_(text, literals[i].word, literals[i].fix))
            json = literals[i].json;
    if (!json || tcall_lenient_letter_(text)) {
        text->at = from;
        tcall_lenient_fail_(text, TCALL_E_BARE_WORD);
        return;
    }
    if (*json == 'n' && text->scan.depth == 0) {
        tcall_lenient_fix_(text, TCALL_FIX_NULL);
        json = "{}";
    }
    tcall_lenient_put_(text, json, strlen(json));
}

/* Reads a key without quotes. */
static void tcall_lenient_key_(tcall_lenient_ *text)
{
    size_t len = 1;
    while (tcall_lenient_alnum_(tcall_lenient_ahead_(text, len)) ||
           tcall_lenient_ahead_(text, len) == '$')
        len++;
    tcall_lenient_fix_(text, TCALL_FIX_UNQUOTED_KEY);
    tcall_lenient_put_char_(text, '"');
    tcall_lenient_copy_(text, len);
    tcall_lenient_put_char_(text, '"');
}

/* Reads a comma, which is written only when no closing bracket follows it. */
static void tcall_lenient_comma_(tcall_lenient_ *text)
{
    text->at++;
    tcall_lenient_blank_(text);
    if (text->next == (text->scan.object ? '}' : ']'))
        tcall_lenient_fix_(text, TCALL_FIX_TRAILING_COMMA);
    else
        tcall_lenient_put_char_(text, ',');
}

/* ---- the value and what may be around it ---- */

/* Reads one piece of the value. What needs no rewriting is left to the scanner,
 * right or wrong. */
static void tcall_lenient_piece_(tcall_lenient_ *text)
{
    uint8_t state = text->scan.state;
    bool value = state == TCALL_S_VALUE_ || state == TCALL_S_FIRST_;
    bool key = state == TCALL_S_KEY_ || state == TCALL_S_FIRST_KEY_;
    const char *quote = tcall_lenient_quote_(text);
    if (text->next < 0)
        tcall_lenient_fail_(text, TCALL_E_TRUNCATED);
    else if (quote)
        tcall_lenient_string_(text, quote);
    else if (value && !text->next)
        tcall_lenient_fail_(text, TCALL_E_BAD_VALUE);
    else if (value && strchr("+-.0123456789", text->next))
        tcall_lenient_number_(text);
    else if (value && tcall_lenient_letter_(text))
        tcall_lenient_literal_(text);
    else if (key &&
             (text->next == '$' || tcall_lenient_alpha_((char)text->next)))
        tcall_lenient_key_(text);
    else if (state == TCALL_S_NEXT_ && text->next == ',')
        tcall_lenient_comma_(text);
    else
        tcall_lenient_copy_(text, 1);
}

/* Skips a special token of a chat template, <|name|>. */
static bool tcall_lenient_token_(tcall_lenient_ *text)
{
    size_t len = 2;
    if (!tcall_lenient_sees_(text, "<|"))
        return false;
    while (tcall_lenient_alpha_(tcall_lenient_ahead_(text, len)))
        len++;
    if (len == 2 || tcall_lenient_ahead_(text, len) != '|' ||
        tcall_lenient_ahead_(text, len + 1) != '>')
        return false;
    tcall_lenient_fix_(text, TCALL_FIX_TAG);
    text->at += len + 2;
    return true;
}

/* Skips a tag that a chat template put around the call. */
static bool tcall_lenient_tag_(tcall_lenient_ *text)
{
    static const char *const tags[] = {"<tool_call>",
                                       "</tool_call>",
                                       "<function_call>",
                                       "</function_call>",
                                       "<s>",
                                       "</s>",
                                       NULL};
    return tcall_lenient_token_(text) ||
           tcall_lenient_skip_any_(text, tags, TCALL_FIX_TAG);
}

/* Skips one end of a Markdown code block. */
static bool tcall_lenient_fence_(tcall_lenient_ *text)
{
    return tcall_lenient_skip_(text, "```", TCALL_FIX_FENCE);
}

/* Skips what may come before the value: tags, and one fence with its
 * language. */
static void tcall_lenient_before_(tcall_lenient_ *text)
{
    do {
        tcall_lenient_blank_(text);
        if (!(text->fixes & TCALL_FIX_FENCE) && tcall_lenient_fence_(text)) {
            while (tcall_lenient_letter_(text))
                text->at++;
            tcall_lenient_blank_(text);
        }
    } while (tcall_lenient_tag_(text));
}

/* Skips what may come after the value: the same value again, brackets that
 * close nothing, a comma, tags and a fence. */
static void tcall_lenient_after_(tcall_lenient_ *text, tcall_str value)
{
    bool repeats = true; /* only directly after the value */
    for (;;) {
        tcall_lenient_blank_(text);
        if (text->next < 0)
            return;
        if (repeats && text->next == '{' &&
            tcall_lenient_sees_bytes_(text, value)) {
            tcall_lenient_fix_(text, TCALL_FIX_REPEATED);
            text->at += value.len;
        } else if (tcall_lenient_ends_(text, "]},")) {
            tcall_lenient_fix_(text, text->next == ','
                                         ? TCALL_FIX_PUNCTUATION
                                         : TCALL_FIX_EXTRA_CLOSER);
            text->at++;
            repeats = false;
        } else if (tcall_lenient_tag_(text)) {
            repeats = false;
        } else if (!tcall_lenient_fence_(text)) {
            break;
        }
    }
    tcall_lenient_fail_(
        text, repeats && (tcall_lenient_ends_(text, "{[-0123456789") ||
                          tcall_lenient_quote_(text))
                  ? TCALL_E_MULTIPLE
                  : TCALL_E_TRAILING);
}

/* Begins to write once more, from a place in the text. */
static void tcall_lenient_restart_(tcall_lenient_ *text, const char *from)
{
    text->at = from;
    text->len = 0;
    text->error = TCALL_OK;
    tcall_scan_init(&text->scan, NULL, NULL, NULL);
}

/* Writes the inside of the string at from, decoded. quote closes the string;
 * without one, all the rest of the text is the inside. */
static void tcall_lenient_inside_(tcall_lenient_ *text, const char *from,
                                  const char *quote)
{
    text->inside = true;
    tcall_lenient_restart_(text, from);
    if (quote)
        tcall_lenient_string_(text, quote);
    else
        tcall_lenient_content_(text, "\"");
    text->at = from;
}

/* Reads {\"a\":1}, an object with every quote escaped, as if inside a string.
 * It must be a valid inside as a whole, and an object; else the first error
 * stays. */
static void tcall_lenient_escaped_(tcall_lenient_ *text, const char *from)
{
    int error = text->error;
    size_t where = text->where;
    tcall_lenient_restart_(text, from);
    tcall_lenient_put_char_(text, '"');
    tcall_lenient_content_(text, "\"");
    tcall_lenient_put_char_(text, '"');
    if (!text->error && text->at == text->end &&
        tcall_scan_done_(&text->scan)) {
        tcall_lenient_inside_(text, from, NULL);
        if (tcall_scan_is_object_(&text->scan)) {
            tcall_lenient_fix_(text, TCALL_FIX_ESCAPED_OBJECT);
            return;
        }
    }
    text->error = error;
    text->where = where;
}

/* Reads the value and what is after it. A string is read again: its inside is
 * meant. */
static void tcall_lenient_value_(tcall_lenient_ *text)
{
    const char *from = text->at, *quote = tcall_lenient_quote_(text), *to;
    do {
        tcall_lenient_blank_(text);
        tcall_lenient_piece_(text);
        to = text->at;
    } while (!text->error && !tcall_scan_done_(&text->scan));
    if (text->error == TCALL_E_BAD_KEY && text->scan.tokens == 1 &&
        text->start[text->where] == '\\') {
        tcall_lenient_escaped_(text, from);
        return;
    }
    if (!text->error)
        tcall_lenient_after_(text, tcall_slice_(from, (size_t)(to - from)));
    if (!text->error && quote)
        tcall_lenient_inside_(text, from, quote);
    text->at = from;
    if (!text->error && !tcall_scan_is_object_(&text->scan))
        tcall_lenient_fail_(text, TCALL_E_NOT_OBJECT);
    else if (text->inside)
        tcall_lenient_fix_(text, TCALL_FIX_DOUBLE_ENCODED);
}

/* Reads the text: an error, or an object of text->len bytes is written. */
static void tcall_lenient_rewrite_(tcall_lenient_ *text)
{
    text->where = 0;
    text->fixes = 0;
    text->inside = false;
    tcall_lenient_restart_(text, text->start);
    tcall_lenient_before_(text);
    if (text->next >= 0 || text->fixes & ~(uint32_t)TCALL_FIX_SPACE) {
        tcall_lenient_value_(text);
    } else {
        tcall_lenient_fix_(text, TCALL_FIX_EMPTY);
        tcall_lenient_put_(text, "{}", 2);
    }
}

#else

/* What is wrong stays wrong. */
static void tcall_lenient_rewrite_(tcall_lenient_ *text)
{
    (void)text;
}

#endif /* TOOLCALL_NO_LENIENT */

/* ---- both readings ---- */

/* Finds out how many bytes and tokens the text makes. The tokens that fit are
 * made if the text is strictly valid. */
static int tcall_arguments_measure_(tcall_lenient_ *text, bool strict,
                                    tcall_tok *tok, size_t cap)
{
    tcall_str whole =
        tcall_slice_(text->start, (size_t)(text->end - text->start));
    int error = tcall_scan_tokenize_(&text->scan, whole, tok, cap);
    size_t where = text->scan.pos;
    text->len = whole.len;
    if (tcall_scan_is_object_(&text->scan))
        return TCALL_OK;
    if (error == TCALL_OK) {
        error = TCALL_E_NOT_OBJECT;
        where = 0;
    }
    text->error = error;
    text->where = where;
    tcall_lenient_rewrite_(text);
    if (!strict || text->error)
        return text->error;
    text->where = where;
    return error;
}

/* Writes the JSON text to out, after the tokens, and completes them. */
static int tcall_arguments_write_(tcall_lenient_ *text, char *out,
                                  tcall_tok *tok, size_t count)
{
    text->out = out;
    text->cap = text->len;
    if (text->fixes) {
        tcall_lenient_rewrite_(text);
        tcall_scan_tokenize_(&text->scan, tcall_slice_(out, text->len), tok,
                             count);
    } else {
        memcpy(out, text->start, text->len);
    }
    return tcall_json_finish_(out, tok, (int)count, true, &text->where);
}

int tcall_parse_arguments(tcall_arguments *out, tcall_str text, bool strict,
                          void *mem, size_t size)
{
    tcall_lenient_ reading;
    size_t skew = (size_t)(0 - (uintptr_t)mem) % sizeof(int), count;
    size_t cap = mem && size > skew ? (size - skew) / sizeof(tcall_tok) : 0;
    tcall_tok *tok = mem ? (tcall_tok *)(void *)((char *)mem + skew) : NULL;
    int error;
    memset(out, 0, sizeof *out);
    tcall_lenient_open_(&reading, text);
    error = tcall_arguments_measure_(&reading, strict, tok, cap);
    count = reading.scan.tokens;
    if (error == TCALL_OK &&
        (reading.len >= INT_MAX || count > INT_MAX / sizeof *tok))
        error = TCALL_E_LIMIT;
    if (error == TCALL_OK) {
        out->fixes = reading.fixes;
        out->used = skew + count * sizeof *tok + reading.len + 1;
        error = out->used > size ? TCALL_E_MEMORY : TCALL_OK;
    }
    if (error == TCALL_OK) {
        char *json = (char *)(tok + count);
        error = tcall_arguments_write_(&reading, json, tok, count);
        if (error == TCALL_OK)
            out->root = tcall_json_cursor_(json, tok);
    }
    out->at = reading.where;
    return error < 0 ? error : (int)count;
}

/* ==========================================================================
 * >>bind
 */

#ifndef TOOLCALL_NO_BIND

/* Arguments as a C struct. The functions that store a value are named by the
 * table only, so what no table uses is not linked. */

int tcall_field_string_(void *out, tcall_json v, const tcall_field *f)
{
    tcall_str s = tcall_json_str(v);
    (void)f;
    if (s.len && memchr(s.ptr, 0, s.len))
        return TCALL_E_NUL;
    *(const char **)out = s.ptr;
    return TCALL_OK;
}

/* min <= value * 10^decimals <= max. whole: no fraction, 5.0 has none. */
static int tcall_field_long_(int64_t *out, tcall_json v, int decimals,
                             bool whole)
{
    tcall_num_ n = tcall_num_read_(tcall_json_str(v));
    if (whole && !tcall_num_integral_(&n))
        return TCALL_E_INVALID;
    return tcall_num_int64_(&n, decimals, out) ? TCALL_OK : TCALL_E_RANGE;
}

int tcall_field_int64_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    return tcall_field_long_((int64_t *)out, v, 0, true);
}

int tcall_field_integer_(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, 0, true);
    (void)f;
    if (n < INT_MIN || n > INT_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(int *)out = (int)n;
    return r;
}

int tcall_field_fixed_(void *out, tcall_json v, const tcall_field *f)
{
    int64_t n = 0;
    int r = tcall_field_long_(&n, v, f->decimals, false);
    if (n < LONG_MIN || n > LONG_MAX)
        r = TCALL_E_RANGE;
    if (r == TCALL_OK)
        *(long *)out = (long)n;
    return r;
}

int tcall_field_number_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(double *)out = tcall_json_double(v, 0);
    return TCALL_OK;
}

int tcall_field_boolean_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(bool *)out = tcall_json_bool(v, false);
    return TCALL_OK;
}

int tcall_field_choice_(void *out, tcall_json v, const tcall_field *f)
{
    const char *p = (const char *)f->more;
    tcall_str s = tcall_json_str(v);
    int i;
    for (i = 0; (p = strchr(p, '"')) != NULL; i++) {
        const char *name = p + 1;
        p = strchr(name, '"');
        if (!p)
            break;
        if (tcall_str_eq(s, tcall_slice_(name, (size_t)(p - name)))) {
            *(int *)out = i;
            return TCALL_OK;
        }
        p++;
    }
    return TCALL_E_INVALID;
}

int tcall_field_json_(void *out, tcall_json v, const tcall_field *f)
{
    (void)f;
    *(tcall_json *)out = v;
    return TCALL_OK;
}

typedef struct tcall_bind_ {
    char *path; /* grows at its front, from the value up to the root */
    size_t cap, len;
} tcall_bind_;

static void tcall_bind_put_(tcall_bind_ *b, char c)
{
    if (b->len + 1 >= b->cap) {
        if (b->len == 0)
            return;
        b->len--; /* the tail goes, the root stays */
    }
    memmove(b->path + 1, b->path, b->len);
    b->path[0] = c;
    b->path[++b->len] = 0;
}

/* One step of the path, from its last character to its first. */
TCALL_NOINLINE_ static void tcall_bind_name_(tcall_bind_ *b, const char *name)
{
    size_t i = strlen(name);
    while (i-- > 0) {
        const char *escape = tcall_pointer_escape_(name[i]);
        tcall_bind_put_(b, escape ? escape[1] : name[i]);
        if (escape)
            tcall_bind_put_(b, escape[0]);
    }
    tcall_bind_put_(b, '/');
}

TCALL_NOINLINE_ static void tcall_bind_index_(tcall_bind_ *b, int i)
{
    do {
        tcall_bind_put_(b, (char)('0' + i % 10));
        i /= 10;
    } while (i);
    tcall_bind_put_(b, '/');
}

/* The default: text as if the model had sent it. */
TCALL_NOINLINE_ static int tcall_bind_text_(char *at, const tcall_field *f)
{
    tcall_tok tok;
    memset(&tok, 0, sizeof tok);
    tok.type = f->type;
    tok.end = (int)strlen(f->text);
    tok.span = 1;
    return f->read(at, tcall_json_cursor_(f->text, &tok), f);
}

/* Objects within objects recurse, TCALL_BIND_DEPTH times at most. */
static int tcall_bind_object_(tcall_bind_ *b, char *out, tcall_json object,
                              const tcall_field *f, int depth)
{
    int r = TCALL_OK;
    for (; f->name && r == TCALL_OK; f++) {
        tcall_json v = tcall_json_get(object, f->name), item = v;
        tcall_type type = tcall_json_type(v);
        char *at = out + f->offset;
        int i = 0, end = f->capacity ? f->capacity : 1;
        memset(at, 0, (size_t)f->size * (size_t)end);
        if (f->capacity) {
            item = tcall_json_first(v);
            memset(out + f->count_at, 0, sizeof(int));
        }
        if (type == TCALL_MISSING || (type == TCALL_NULL && f->type)) {
            if (f->required)
                r = TCALL_E_INVALID;
            else if (f->text)
                r = tcall_bind_text_(at, f);
            item.tok = NULL;
        } else if (f->capacity && type != TCALL_ARRAY) {
            r = TCALL_E_INVALID;
        }
        for (; item.tok && r == TCALL_OK; i++, at += f->size) {
            if (i == end)
                r = TCALL_E_RANGE;
            else if (f->type && tcall_json_type(item) != (tcall_type)f->type)
                r = TCALL_E_INVALID;
            else if (f->read)
                r = f->read(at, item, f);
            else if (depth == TCALL_BIND_DEPTH)
                r = TCALL_E_DEPTH;
            else
                r = tcall_bind_object_(b, at, item,
                                       (const tcall_field *)f->more, depth + 1);
            if (r < 0 && f->capacity)
                tcall_bind_index_(b, i);
            item = f->capacity ? tcall_json_next(item) : tcall_json_none_();
        }
        if (f->capacity && r == TCALL_OK)
            memcpy(out + f->count_at, &i, sizeof i);
        if (r < 0)
            tcall_bind_name_(b, f->name);
    }
    return r;
}

int tcall_bind(void *out, tcall_json args, const tcall_field *fields,
               char *path, size_t cap)
{
    tcall_bind_ b;
    b.path = path;
    b.cap = path ? cap : 0;
    b.len = 0;
    if (b.cap)
        *path = 0;
    if (tcall_json_type(args) != TCALL_OBJECT)
        return TCALL_E_INVALID;
    return tcall_bind_object_(&b, (char *)out, args, fields, 1);
}

#else

/* tcall_init refuses tools with fields, so that nothing is left to do. */
TCALL_SHARED_ int tcall_bind(void *out, tcall_json args,
                             const tcall_field *fields, char *path, size_t cap)
{
    (void)out;
    (void)args;
    (void)fields;
    (void)path;
    (void)cap;
    return TCALL_E_USAGE;
}

#endif /* TOOLCALL_NO_BIND */

/* ==========================================================================
 * >>write
 *
 * All bytes leave by tcall_write_out_. Above it are the escapes of strings,
 * above these the values, which put commas before themselves: the last byte
 * written says whether one is due.
 */

void tcall_writer_init(tcall_writer *writer, char *buf, size_t cap)
{
    memset(writer, 0, sizeof *writer);
    writer->buf = buf;
    writer->cap = cap;
}

void tcall_writer_sink(tcall_writer *writer, tcall_sink sink, void *user)
{
    writer->sink = sink;
    writer->user = user;
}

/* The first error stays. */
static int tcall_writer_fail_(tcall_writer *writer, int error)
{
    if (!writer->error)
        writer->error = error;
    return writer->error;
}

int tcall_writer_flush(tcall_writer *writer)
{
    size_t sent = 0;
    while (writer->sink && sent < writer->fill && !writer->error) {
        int taken =
            writer->sink(writer->user, writer->buf + sent, writer->fill - sent);
        if (taken > 0)
            sent += (size_t)taken;
        else
            tcall_writer_fail_(writer, taken < 0 ? taken : TCALL_E_AGAIN);
    }
    if (sent)
        memmove(writer->buf, writer->buf + sent, writer->fill -= sent);
    return writer->error;
}

/* Only the agent takes up texts again. */
#ifndef TOOLCALL_NO_AGENT
#define TCALL_RESUME_(writer) ((writer)->resume)
#else
#define TCALL_RESUME_(writer) ((tcall_resume_ *)NULL)
#endif

/* A text that is written again, because the sink refused the rest of it, need
 * not be written as a whole: its strings and tools are parts, and those before
 * the one that was refused are left out. All else is written again: it is
 * short, and the writer's state depends on it.
 *
 * Returns whether the part has to be written; then tcall_write_part_end_ has
 * to follow. A part within another one does not count. */
TCALL_SHARED_ bool tcall_write_part_(tcall_writer *writer)
{
    tcall_resume_ *resume = TCALL_RESUME_(writer);
    if (resume && !writer->in_part) {
        writer->parts++;
        if (writer->parts < resume->part || writer->error)
            return false;
        if (writer->parts ==
            resume->part) { /* what was left out counts again */
            writer->len = resume->at;
            writer->last = resume->last;
        }
        resume->part = writer->parts;
        resume->at = writer->len;
        resume->last = writer->last;
    }
    writer->in_part++;
    return true;
}

TCALL_SHARED_ void tcall_write_part_end_(tcall_writer *writer)
{
    writer->in_part--;
}

/* Puts as many bytes as fit into the buffer. Returns how many. */
static size_t tcall_write_fill_(tcall_writer *writer, const char *bytes,
                                size_t len)
{
    size_t room = writer->cap - writer->fill;
    if (room > len)
        room = len;
    if (room == 1) /* most calls; spares that of memcpy */
        writer->buf[writer->fill] = *bytes;
    else if (room)
        memcpy(writer->buf + writer->fill, bytes, room);
    writer->fill += room;
    return room;
}

static void tcall_write_out_(tcall_writer *writer, const char *bytes,
                             size_t len)
{
    const tcall_resume_ *resume = TCALL_RESUME_(writer);
    size_t stored = resume ? resume->stored : 0;
    size_t skip = stored > writer->len ? stored - writer->len : 0;
    writer->len += len;
    if (skip >= len)
        return;
    bytes += skip;
    len -= skip;
    while (!writer->error) {
        size_t taken = tcall_write_fill_(writer, bytes, len);
        bytes += taken;
        len -= taken;
        if (!len ||
            (!writer->sink && !writer->buf)) /* the latter only counts */
            break;
        if (writer->sink)
            tcall_writer_flush(writer);
        else
            tcall_writer_fail_(writer, TCALL_E_MEMORY);
    }
}

/* ---- escapes ---- */

/* Returns the length of the UTF-8 character at p, 0 where there is none. */
TCALL_SHARED_ size_t tcall_utf8_len_(const char *p, const char *end)
{
    tcall_utf_ state = {0, 0, 0};
    size_t len = 0;
    do {
        if (p + len == end || !tcall_utf8_step_(&state, (unsigned char)p[len]))
            return 0;
        len++;
    } while (state.left);
    return len;
}

/* Returns the end of the bytes from p on that need no escape. */
static const char *tcall_write_plain_end_(const char *p, const char *end)
{
    for (;;) {
        size_t len;
        p = tcall_plain_(p, end);
        len = p < end && *p & 0x80 ? tcall_utf8_len_(p, end) : 0;
        if (!len)
            return p;
        p += len;
    }
}

/* Returns the letter of a byte's short escape, or 0. */
static char tcall_write_short_(char c)
{
    switch (c) {
    case '"':
    case '\\': return c;
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

static char tcall_write_hex_(int digit)
{
    return (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
}

/* Makes the escape of a byte, 6 characters at most, and returns its length. A
 * byte that is not UTF-8 becomes U+FFFD. */
static size_t tcall_write_escape_(char *out, char c)
{
    char letter = tcall_write_short_(c);
    out[0] = '\\';
    out[1] = letter ? letter : 'u';
    if (letter)
        return 2;
    if (c & 0x80) {
        out[2] = out[3] = out[4] = 'f';
        out[5] = 'd';
    } else {
        out[2] = out[3] = '0';
        out[4] = tcall_write_hex_(c >> 4);
        out[5] = tcall_write_hex_(c & 15);
    }
    return 6;
}

/* Writes the inside of a JSON string; twice: that of a string within one, where
 * the escapes are escaped once more. */
static void tcall_write_escaped_(tcall_writer *writer, const char *bytes,
                                 size_t len, bool twice)
{
    const char *end = len ? bytes + len : bytes;
    if (!tcall_write_part_(writer))
        return;
    while (bytes < end) {
        const char *stop = tcall_write_plain_end_(bytes, end);
        char escape[6];
        size_t size;
        tcall_write_out_(writer, bytes, (size_t)(stop - bytes));
        if (stop == end)
            break;
        size = tcall_write_escape_(escape, *stop);
        if (twice) { /* its backslash, and the quote or backslash after it */
            bool both = escape[1] == '"' || escape[1] == '\\';
            const char slashes[2] = {'\\', '\\'};
            tcall_write_out_(writer, slashes, both ? 2 : 1);
        }
        tcall_write_out_(writer, escape, size);
        bytes = stop + 1;
    }
    tcall_write_part_end_(writer);
}

int tcall_write_bytes(tcall_writer *writer, const char *bytes, size_t len)
{
    if (len) {
        writer->last = bytes[len - 1];
        if (writer->quoted)
            tcall_write_escaped_(writer, bytes, len, writer->quoted > 1);
        else
            tcall_write_out_(writer, bytes, len);
    }
    return writer->error;
}

int tcall_write_text(tcall_writer *writer, const char *text)
{
    return tcall_write_bytes(writer, text, strlen(text));
}

/* Writes one byte, as tcall_write_bytes does. */
TCALL_SHARED_ int tcall_write_char_(tcall_writer *writer, char c)
{
    return tcall_write_bytes(writer, &c, 1);
}

int tcall_write_flash(tcall_writer *writer, const char *text)
{
#ifdef __AVR__
    char c;
    while ((c = TCALL_BYTE_(text++)) != 0) {
        if (c & 0x80) /* of a literal, which is UTF-8 */
            tcall_write_out_(writer, &c, 1);
        else
            tcall_write_char_(writer, c);
    }
    return writer->error;
#else
    return tcall_write_text(writer, text);
#endif
}

/* Writes a text from flash in which % and a letter stand for what a function
 * writes: `part` is given `of` and the letter. */
typedef void (*tcall_part_)(void *of, char letter);

TCALL_NOINLINE_ TCALL_SHARED_ void tcall_write_parts_(tcall_writer *writer,
                                                      const char *text,
                                                      tcall_part_ part,
                                                      void *of)
{
    char c;
    while ((c = TCALL_BYTE_(text++)) != '\0') {
        if (c == '%')
            part(of, TCALL_BYTE_(text++));
        else
            tcall_write_char_(writer, c);
    }
}

/* ---- values ---- */

/* Writes the comma that is due before a value or key, if one is. */
TCALL_SHARED_ void tcall_write_comma_(tcall_writer *writer)
{
    if (writer->depth && writer->last && writer->last != '{' &&
        writer->last != '[' && writer->last != ':')
        tcall_write_char_(writer, ',');
}

int tcall_write_open(tcall_writer *writer, char bracket)
{
    tcall_write_comma_(writer);
    writer->depth++;
    return tcall_write_char_(writer, bracket);
}

int tcall_write_close(tcall_writer *writer, char bracket)
{
    writer->depth--;
    return tcall_write_char_(writer, bracket);
}

/* Writes the inside of a string. In quoted output its own escapes are escaped
 * once more. */
TCALL_SHARED_ void tcall_write_content_(tcall_writer *writer, tcall_str text)
{
    tcall_write_escaped_(writer, text.ptr, text.len, writer->quoted);
}

int tcall_write_str(tcall_writer *writer, tcall_str text)
{
    tcall_write_comma_(writer);
    tcall_write_char_(writer, '"');
    tcall_write_content_(writer, text);
    return tcall_write_char_(writer, '"');
}

int tcall_write_string(tcall_writer *writer, const char *text)
{
    return tcall_write_str(writer, tcall_str_of(text));
}

int tcall_write_key(tcall_writer *writer, const char *key)
{
    tcall_write_string(writer, key);
    return tcall_write_char_(writer, ':');
}

int tcall_write_verbatim(tcall_writer *writer, tcall_str json)
{
    tcall_write_comma_(writer);
    return tcall_write_bytes(writer, json.ptr, json.len);
}

/* ---- numbers ---- */

#ifdef TOOLCALL_NO_INT64

enum { TCALL_NUMBER_ROOM_ = 24 }; /* bytes of its text */

/* Takes the last decimal digit off a number. Returns whether more are left. */
static bool tcall_write_digit_(tcall_uint *number, char *digit)
{
    *digit = (char)('0' + *number % 10);
    *number /= 10;
    return *number != 0;
}

#else

enum { TCALL_NUMBER_ROOM_ = 48 };

/* The same by parts of 16 bits: a division of 64 bits is a large function on
 * small machines. */
static bool tcall_write_digit_(tcall_uint *number, char *digit)
{
    tcall_uint left = 0;
    uint32_t rest = 0;
    int shift;
    for (shift = 48; shift >= 0; shift -= 16) {
        rest = rest << 16 | (uint16_t)(*number >> shift);
        left |= (tcall_uint)(rest / 10) << shift;
        rest %= 10;
    }
    *number = left;
    *digit = (char)('0' + rest);
    return left != 0;
}

#endif

/* Writes number / 10^decimals from its last digit to its first, without a comma
 * before it. */
static int tcall_write_number_(tcall_writer *writer, bool minus,
                               tcall_uint number, int decimals)
{
    char out[TCALL_NUMBER_ROOM_], *first = out + sizeof out;
    int digits = 0;
    bool more;
    if (decimals > TCALL_NUMBER_ROOM_ - 4)
        return tcall_writer_fail_(writer, TCALL_E_RANGE);
    do {
        if (digits && digits == decimals)
            *--first = '.';
        more = tcall_write_digit_(&number, --first);
        digits++;
    } while (more || digits <= decimals);
    if (minus)
        *--first = '-';
    return tcall_write_bytes(writer, first, (size_t)(out + sizeof out - first));
}

/* Writes value / 10^decimals without a comma before it. */
TCALL_SHARED_ int tcall_write_decimal_(tcall_writer *writer, tcall_int value,
                                       int decimals)
{
    tcall_uint number = (tcall_uint)value;
    return tcall_write_number_(writer, value < 0,
                               value < 0 ? 0 - number : number, decimals);
}

int tcall_write_fixed(tcall_writer *writer, tcall_int value, int decimals)
{
    tcall_write_comma_(writer);
    return tcall_write_decimal_(writer, value, decimals);
}

int tcall_write_int(tcall_writer *writer, tcall_int value)
{
    return tcall_write_fixed(writer, value, 0);
}

int tcall_write_uint(tcall_writer *writer, tcall_uint value)
{
    tcall_write_comma_(writer);
    return tcall_write_number_(writer, false, value, 0);
}

/* ---- floating point ----
 *
 * The shortest digits that read back as the same number, by exact arithmetic
 * on large integers (the method of Steele and White): the number is
 * value / scale; every number nearer to it than low / scale below and
 * high / scale above reads back as the same.
 */

enum { TCALL_BIG_LIMBS_ = 36 }; /* 1,152 bits; the least double needs 1,086 */

typedef struct tcall_big_ {
    uint32_t limb[TCALL_BIG_LIMBS_]; /* the lowest first */
} tcall_big_;

typedef struct tcall_shortest_ {
    tcall_big_ value, scale, low;
    bool even;   /* the bounds themselves read back as the same, too */
    bool uneven; /* high is twice as much as low, else they are the same */
} tcall_shortest_;

/* Adds number * 2^shift. */
static void tcall_big_add_(tcall_big_ *big, uint64_t number, int shift)
{
    int i = shift / 32;
    uint64_t carry = 0;
    for (; i < TCALL_BIG_LIMBS_ && (number || carry); i++) {
        carry += big->limb[i];
        carry += (number << shift % 32) & 0xFFFFFFFFu;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
        number >>= 32 - shift % 32;
        shift = 0;
    }
}

static void tcall_big_multiply_(tcall_big_ *big, uint32_t factor)
{
    uint64_t carry = 0;
    int i;
    for (i = 0; i < TCALL_BIG_LIMBS_; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Takes away what is not more. */
static void tcall_big_subtract_(tcall_big_ *big, const tcall_big_ *other)
{
    int64_t carry = 0;
    int i;
    for (i = 0; i < TCALL_BIG_LIMBS_; i++) {
        carry += big->limb[i];
        carry -= other->limb[i];
        big->limb[i] = (uint32_t)(carry & 0xFFFFFFFF);
        carry = carry < 0 ? -1 : 0;
    }
}

/* Returns < 0, 0 or > 0. */
static int tcall_big_compare_(const tcall_big_ *a, const tcall_big_ *b)
{
    int i = TCALL_BIG_LIMBS_ - 1;
    while (i > 0 && a->limb[i] == b->limb[i])
        i--;
    return a->limb[i] < b->limb[i] ? -1 : a->limb[i] > b->limb[i];
}

/* Sets all of it for fraction * 2^exponent. */
static void tcall_shortest_set_(tcall_shortest_ *s, uint64_t fraction,
                                int exponent)
{
    /* just above a power of two the next lower number is half as far away */
    bool uneven = fraction == (uint64_t)1 << (DBL_MANT_DIG - 1) &&
                  exponent > DBL_MIN_EXP - DBL_MANT_DIG;
    int up = exponent > 0 ? exponent : 0, down = up - exponent;
    memset(s, 0, sizeof *s);
    s->even = !(fraction & 1);
    s->uneven = uneven;
    tcall_big_add_(&s->value, fraction, up + 1 + uneven);
    tcall_big_add_(&s->scale, 1, down + 1 + uneven);
    tcall_big_add_(&s->low, 1, up);
}

/* Goes on to the next digit. */
static void tcall_shortest_times_ten_(tcall_shortest_ *s)
{
    tcall_big_multiply_(&s->value, 10);
    tcall_big_multiply_(&s->low, 10);
}

/* Whether what is left is so close to the next higher digit that this one
 * reads back as the same number: value + high - scale, from the highest limb
 * down, until what is left below can no longer change its sign. */
static bool tcall_shortest_reaches_(const tcall_shortest_ *s)
{
    int64_t order = 0;
    int i = TCALL_BIG_LIMBS_;
    while (i-- > 0 && order > -4 && order < 4) {
        order *= (int64_t)1 << 32;
        order += s->value.limb[i];
        order += (int64_t)s->low.limb[i] << s->uneven;
        order -= s->scale.limb[i];
    }
    return order > 0 || (order == 0 && s->even);
}

/* Scales so that the number is 0.d... * 10^point; returns point. */
static int tcall_shortest_scale_(tcall_shortest_ *s)
{
    int point = 0;
    while (tcall_shortest_reaches_(s)) {
        tcall_big_multiply_(&s->scale, 10);
        point++;
    }
    for (;;) {
        tcall_shortest_times_ten_(s);
        if (tcall_shortest_reaches_(s))
            return point;
        point--;
    }
}

/* Writes the digits, 17 at most, and returns how many they are. */
static int tcall_shortest_digits_(tcall_shortest_ *s, char *digits)
{
    int count = 0;
    for (;; tcall_shortest_times_ten_(s)) {
        int order, digit = 0;
        bool low, high;
        for (; tcall_big_compare_(&s->value, &s->scale) >= 0; digit++)
            tcall_big_subtract_(&s->value, &s->scale);
        order = tcall_big_compare_(&s->value, &s->low);
        low = order < 0 || (order == 0 && s->even);
        high = tcall_shortest_reaches_(s);
        if (low && high) { /* both do: the nearer one */
            tcall_big_multiply_(&s->value, 2);
            low = tcall_big_compare_(&s->value, &s->scale) < 0;
        }
        digits[count++] = (char)('0' + digit + (high && !low));
        if (low || high)
            return count;
    }
}

/* Writes out 0.digits * 10^point without an exponent. Returns the end. */
static char *tcall_place_digits_(char *to, const char *digits, int count,
                                 int point)
{
    int i = point < 1 ? point - 1 : 0, end = count > point ? count : point;
    for (; i < end; i++) {
        if (i == point)
            *to++ = '.';
        *to++ = i >= 0 && i < count ? digits[i] : '0';
    }
    return to;
}

/* Writes e-7 and the like. Returns the end. */
static char *tcall_place_exponent_(char *to, int exponent)
{
    int left = exponent < 0 ? -exponent : exponent;
    *to++ = 'e';
    if (exponent < 0)
        *to++ = '-';
    if (left >= 100)
        *to++ = (char)('0' + left / 100);
    if (left >= 10)
        *to++ = (char)('0' + left / 10 % 10);
    *to++ = (char)('0' + left % 10);
    return to;
}

/* A positive number. Returns the end of its text. */
static char *tcall_place_double_(char *to, double value)
{
    const double least = (double)((uint64_t)1 << (DBL_MANT_DIG - 1));
    tcall_shortest_ shortest;
    char digits[24];
    int exponent = 0, point, count;
    for (; value >= least * 2; exponent++)
        value /= 2;
    for (; value < least && exponent > DBL_MIN_EXP - DBL_MANT_DIG; exponent--)
        value *= 2;
    tcall_shortest_set_(&shortest, (uint64_t)value, exponent);
    point = tcall_shortest_scale_(&shortest);
    count = tcall_shortest_digits_(&shortest, digits);
    if (point >= -3 && point <= 17) /* where %.17g writes no exponent */
        return tcall_place_digits_(to, digits, count, point);
    to = tcall_place_digits_(to, digits, count, 1);
    return tcall_place_exponent_(to, point - 1);
}

int tcall_write_double(tcall_writer *writer, double value)
{
    char out[40], *to = out;
    if (value - value != 0) /* an infinity, or not a number */
        return tcall_writer_fail_(writer, TCALL_E_RANGE);
    if (value < 0 || (value == 0 && 1 / value < 0)) {
        *to++ = '-';
        value = -value;
    }
    if (value == 0)
        *to++ = '0';
    else
        to = tcall_place_double_(to, value);
    return tcall_write_verbatim(writer, tcall_slice_(out, (size_t)(to - out)));
}

/* ---- literals and quotes ---- */

int tcall_write_bool(tcall_writer *writer, bool value)
{
    return tcall_write_verbatim(writer, tcall_str_of(value ? "true" : "false"));
}

int tcall_write_null(tcall_writer *writer)
{
    return tcall_write_verbatim(writer, tcall_str_of("null"));
}

int tcall_write_quote(tcall_writer *writer)
{
    tcall_write_comma_(writer);
    tcall_write_char_(writer, '"');
    writer->quoted++;
    writer->last = 0;
    return writer->error;
}

int tcall_write_unquote(tcall_writer *writer)
{
    writer->quoted--;
    return tcall_write_char_(writer, '"');
}

/* ---- parsed values ---- */

/* What checking with coercion decided about a value (tcall_tok.mark). */
enum {
    TCALL_MARK_NONE_,
    TCALL_MARK_DROP_,   /* null for an optional member: leave it out */
    TCALL_MARK_JSON_,   /* a string whose content is the JSON that was meant */
    TCALL_MARK_LITERAL_ /* the string "True" or "False": a boolean */
};

/* Writes a scalar or a key as JSON text. */
TCALL_SHARED_ void tcall_write_scalar_(tcall_writer *writer, const char *text,
                                       const tcall_tok *tok)
{
    tcall_str bytes = tcall_tok_str_(text, tok);
    bool string = (tok->type & TCALL_TYPE_) == TCALL_STRING;
    if (tok->mark == TCALL_MARK_LITERAL_)
        tcall_write_bool(writer, *bytes.ptr == 'T');
    else if (string && tok->mark != TCALL_MARK_JSON_)
        tcall_write_str(writer, bytes);
    else
        tcall_write_verbatim(writer, bytes);
}

/* Writes a token, a container up to its opening bracket. Returns whether values
 * inside it follow. */
static bool tcall_write_token_(tcall_writer *writer, const char *text,
                               const tcall_tok *tok)
{
    bool object = (tok->type & TCALL_TYPE_) == TCALL_OBJECT;
    if ((tok->type & TCALL_TYPE_) < TCALL_ARRAY) {
        tcall_write_scalar_(writer, text, tok);
        return false;
    }
    tcall_write_open(writer, object ? '{' : '[');
    if (tok->span > 1)
        return true;
    tcall_write_close(writer, object ? '}' : ']');
    return false;
}

/* There is no recursion: the last value of a container closes it, and then
 * perhaps the one around it, of which open has the flags. */
int tcall_write_json(tcall_writer *writer, tcall_json value)
{
    uint8_t open[TOOLCALL_MAX_DEPTH];
    const tcall_tok *tok = value.tok;
    int depth = 0, flags;
    if (!tok)
        return tcall_write_null(writer);
    for (;; tok++) {
        if (tok->type & TCALL_KEY_ && tok[1].mark == TCALL_MARK_DROP_) {
            tok++;
        } else if (tok->type & TCALL_KEY_) {
            tcall_write_scalar_(writer, value.text, tok);
            tcall_write_char_(writer, ':');
            continue;
        } else if (tcall_write_token_(writer, value.text, tok)) {
            open[depth++] = (uint8_t)tok->type;
            continue;
        }
        for (flags = tok->type; depth && flags & TCALL_LAST_;
             flags = open[--depth])
            tcall_write_close(writer, flags & TCALL_MEMBER_ ? '}' : ']');
        if (!depth)
            return writer->error;
    }
}

/* ==========================================================================
 * >>shape_text
 *
 * A schema, a struct and a sentence are all made from the same nodes. What is
 * written is a piece of flash at a time, since on an AVR texts are read from
 * there by instructions of their own.
 */

/* For whom a schema is written. */
enum {
    TCALL_VIEW_WHOLE_,  /* all that the shape says */
    TCALL_VIEW_BRIEF_,  /* no bounds, no defaults, no word of further members */
    TCALL_VIEW_CLOSED_, /* brief, and no object has further members */
    TCALL_VIEW_ALL_     /* closed, and every member is required: an optional
                           one may be null */
};

/* How a schema is written, and what was met on the way. */
typedef struct tcall_shape_view_ {
    tcall_writer *out;
    uint8_t mode;              /* TCALL_VIEW_..._ */
    uint8_t level, levels;     /* of schemas: at hand, the deepest */
    bool vague;                /* a value has no type, or none of its parts */
    uint16_t optional, unions; /* so many there are */
} tcall_shape_view_;

#ifndef TOOLCALL_NO_SHAPES

/* ---- texts in flash ---- */

/* Writes a text from flash as the content of a JSON string. On an AVR it goes
 * by the byte; those of longer characters are written as they are, for the
 * writer knows UTF-8 only by whole characters. */
static void tcall_put_content_(tcall_writer *writer, const char *text)
{
#ifdef __AVR__
    char byte;
    while ((byte = TCALL_BYTE_(text++)) != '\0') {
        if (byte & 0x80)
            tcall_write_out_(writer, &byte, 1);
        else
            tcall_write_content_(writer, tcall_slice_(&byte, 1));
    }
#else
    tcall_write_content_(writer, tcall_str_of(text));
#endif
}

/* Writes a JSON string. */
static void tcall_put_string_(tcall_writer *writer, const char *text)
{
    tcall_write_comma_(writer);
    tcall_write_char_(writer, '"');
    tcall_put_content_(writer, text);
    tcall_write_char_(writer, '"');
}

static void tcall_put_key_(tcall_writer *writer, const char *key)
{
    tcall_put_string_(writer, key);
    tcall_write_char_(writer, ':');
}

/* Writes a decimal number without zeros at its end: (2150, 2) is 21.5. */
static void tcall_put_number_(tcall_writer *writer, tcall_whole_ value,
                              int decimals)
{
    for (; decimals && value % 10 == 0; decimals--)
        value /= 10;
    tcall_write_decimal_(writer, value, decimals);
}

/* ---- nodes ---- */

/* The bounds of a value that its schema says. */
typedef struct tcall_said_ {
    tcall_whole_ low, high;
    bool has_low, has_high;
    uint8_t group; /* TCALL_SAID_... */
} tcall_said_;

/* What bounds are of: their keywords, and their nouns. */
enum { TCALL_SAID_VALUE_, TCALL_SAID_LENGTH_, TCALL_SAID_ITEMS_ };

static tcall_said_ tcall_said_of_(const tcall_shape *node)
{
    tcall_said_ said = {node->low, node->high, node->low > INT32_MIN,
                        node->high < INT32_MAX, TCALL_SAID_VALUE_};
#ifndef TOOLCALL_NO_INT64
    if (node->kind == TCALL_KIND_INTEGER64 || node->kind == TCALL_KIND_NUMBER) {
        TCALL_FETCH_(tcall_range, range, node->more);
        said.low = range->low;
        said.high = range->high;
        said.has_low = range->low > INT64_MIN;
        said.has_high = range->high < INT64_MAX;
    }
#endif
    if (node->kind < TCALL_KIND_TEXT)
        return said;
    said.group =
        node->kind == TCALL_KIND_LIST ? TCALL_SAID_ITEMS_ : TCALL_SAID_LENGTH_;
    said.has_low = node->low > 0;
    said.has_high = !(node->flags & TCALL_MEMBER_UNSAID);
    return said;
}

/* Returns whether the kind says its types itself; else the node lists them. */
static bool tcall_kind_is_one_type_(const tcall_shape *node)
{
    return node->kind != TCALL_KIND_ANY && node->kind != TCALL_KIND_JSON &&
           node->kind != TCALL_KIND_HOLE;
}

/* Returns whether the kind has bounds that are said. */
static bool tcall_kind_has_bounds_(const tcall_shape *node)
{
    return tcall_kind_is_one_type_(node) && node->kind != TCALL_KIND_BOOLEAN &&
           node->kind != TCALL_KIND_CHOICE && node->kind != TCALL_KIND_OBJECT;
}

/* Returns the types without those that others include: every integer is a
 * number. */
static unsigned tcall_types_of_(const tcall_shape *node)
{
    unsigned types = node->types;
    if (types & TCALL_SHAPE_NUMBER)
        types &= ~(unsigned)TCALL_SHAPE_INTEGER;
    return types;
}

/* Returns which of a set of types comes first. */
static int tcall_lowest_type_(unsigned types)
{
    int index = 1; /* null is said apart */
    while (index < 6 && !(types >> index & 1))
        index++;
    return index;
}

static const char tcall_type_list_[] TCALL_FLASH_ =
    "null\0boolean\0integer\0number\0string\0array\0object\0";

/* ---- JSON Schema ---- */

static void tcall_view_type_(tcall_shape_view_ *view, int index)
{
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("type"));
    tcall_put_string_(view->out, tcall_word_at_(tcall_type_list_, index));
}

/* Writes the types of a set: several as anyOf, since not everyone accepts a
 * list of types; all of them by saying nothing. */
static void tcall_view_types_(tcall_shape_view_ *view, unsigned types)
{
    const unsigned all = TCALL_SHAPE_ANY & ~(unsigned)TCALL_SHAPE_INTEGER;
    bool several = (types & (types - 1)) != 0;
    int index;
    view->vague |= (types & (TCALL_SHAPE_ARRAY | TCALL_SHAPE_OBJECT)) != 0;
    if ((types & all) == all)
        return;
    if (several) {
        view->unions++;
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("anyOf"));
        tcall_write_open(view->out, '[');
    }
    for (index = 0; index < 7; index++) {
        if (!(types >> index & 1))
            continue;
        if (several)
            tcall_write_open(view->out, '{');
        tcall_view_type_(view, index);
        if (several)
            tcall_write_close(view->out, '}');
    }
    if (several)
        tcall_write_close(view->out, ']');
}

static void tcall_view_words_(tcall_shape_view_ *view, const tcall_shape *node)
{
    const char *word = (const char *)node->more;
    int32_t left = node->high;
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("enum"));
    tcall_write_open(view->out, '[');
    for (; left >= 0; left--, word = tcall_word_next_(word))
        tcall_put_string_(view->out, word);
    tcall_write_close(view->out, ']');
}

TCALL_NOINLINE_ static void tcall_view_bounds_(tcall_shape_view_ *view,
                                               const tcall_shape *node)
{
    static const char keys[] TCALL_FLASH_ =
        "minimum\0maximum\0minLength\0maxLength\0minItems\0maxItems\0"
        "exclusiveMinimum\0exclusiveMaximum\0";
    tcall_said_ said = tcall_said_of_(node);
    int decimals = node->kind < TCALL_KIND_TEXT ? node->digits : 0;
    if (view->mode != TCALL_VIEW_WHOLE_)
        return;
    if (said.has_low) {
        int group = node->flags & TCALL_MEMBER_OVER ? 3 : said.group;
        tcall_put_key_(view->out, tcall_word_at_(keys, group * 2));
        tcall_put_number_(view->out, said.low, decimals);
    }
    if (said.has_high) {
        int group = node->flags & TCALL_MEMBER_UNDER ? 3 : said.group;
        tcall_put_key_(view->out, tcall_word_at_(keys, group * 2 + 1));
        tcall_put_number_(view->out, said.high, decimals);
    }
}

/* Begins the members of a value's schema. Returns whether null has to be
 * written after it, as the other one of two. */
TCALL_NOINLINE_ static bool
tcall_view_begin_(tcall_shape_view_ *view, const tcall_shape *node, bool null)
{
    unsigned types = tcall_types_of_(node);
    bool one = tcall_kind_is_one_type_(node), nullable = null && one;
    if (++view->level > view->levels)
        view->levels = view->level;
    if (nullable) {
        view->unions++;
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("anyOf"));
        tcall_write_open(view->out, '[');
        tcall_write_open(view->out, '{');
    }
    if (one)
        tcall_view_type_(view, tcall_lowest_type_(types));
    else
        tcall_view_types_(view, null ? types | TCALL_SHAPE_NULL : types);
    if (tcall_kind_has_bounds_(node))
        tcall_view_bounds_(view, node);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_view_words_(view, node);
    return nullable;
}

/* Ends them. */
static void tcall_view_end_(tcall_shape_view_ *view, bool nullable)
{
    view->level--;
    if (!nullable)
        return;
    tcall_write_close(view->out, '}');
    tcall_write_open(view->out, '{');
    tcall_view_type_(view, 0);
    tcall_write_close(view->out, '}');
    tcall_write_close(view->out, ']');
}

static void tcall_put_scalar_(tcall_writer *writer, const tcall_shape *node,
                              const char *at, bool flash);

#ifndef TOOLCALL_NO_INT64

/* Returns a default of kind number in millionths; it has no more decimals. It
 * is taken apart as an IEEE 754 double: a program that has no use for the
 * arithmetic of doubles does not get it for this. */
static int64_t tcall_millionths_(double number)
{
    const uint64_t one = (uint64_t)1 << 52;
    uint64_t bits, rest, whole = 0;
    int below; /* places after the binary point */
    if (sizeof number != sizeof bits)
        return (int64_t)(number * 1e6 + (number < 0 ? -0.5 : 0.5));
    memcpy(&bits, &number, sizeof number);
    below = 1075 - (int)(bits >> 52 & 0x7FF);
    rest = (bits & (one - 1)) | one;
    if (below <= 0) {
        whole = below < -10 ? INT64_MAX / 1000000 : rest << -below;
        rest = 0;
    } else if (below < 64) {
        whole = rest >> below;
        rest -= whole << below;
    }
    if (below > 103)
        rest = 0;
    /* forty places are more than six decimals need */
    if (rest)
        rest = below > 40 ? rest >> (below - 40) : rest << (40 - below);
    whole = whole * 1000000 + ((rest * 1000000 + (one >> 13)) >> 40);
    return bits >> 63 ? -(int64_t)whole : (int64_t)whole;
}

#endif

/* Writes a default. */
TCALL_NOINLINE_ static void tcall_view_default_(tcall_shape_view_ *view,
                                                const tcall_shape *node,
                                                const char *at)
{
#ifndef TOOLCALL_NO_INT64
    double number;
    if (node->kind == TCALL_KIND_NUMBER) {
        TCALL_COPY_(&number, at, sizeof number);
        tcall_write_comma_(view->out);
        tcall_put_number_(view->out, tcall_millionths_(number), node->digits);
        return;
    }
#endif
    tcall_put_scalar_(view->out, node, at, true);
}

/* Begins a property. Returns whether its value may be null. */
static bool tcall_view_member_(tcall_shape_view_ *view, const tcall_shape *node,
                               const char *name)
{
    bool optional = !(TCALL_FETCH_8_(&node->flags) & TCALL_MEMBER_REQUIRED);
    view->optional = (uint16_t)(view->optional + optional);
    tcall_put_key_(view->out, name);
    tcall_write_open(view->out, '{');
    return TCALL_FETCH_8_(&node->types) & TCALL_SHAPE_NULL ||
           (view->mode == TCALL_VIEW_ALL_ && optional);
}

/* Ends it: what it is for, and its default. */
TCALL_NOINLINE_ static void tcall_view_member_end_(tcall_shape_view_ *view,
                                                   const tcall_shape *from,
                                                   const char *description,
                                                   const void *initial)
{
    TCALL_FETCH_(tcall_shape, node, from);
    if (TCALL_BYTE_(description)) {
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("description"));
        tcall_put_string_(view->out, description);
    }
    if (node->flags & TCALL_MEMBER_DEFAULT && view->mode == TCALL_VIEW_WHOLE_) {
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("default"));
        tcall_view_default_(view, node, (const char *)initial + node->offset);
    }
    tcall_write_close(view->out, '}');
}

static void tcall_view_required_(tcall_shape_view_ *view,
                                 const tcall_object *object)
{
    const char *name = object->names;
    bool first = true;
    unsigned i;
    for (i = 0; i < object->count; i++, name = tcall_word_next_(name)) {
        uint8_t flags = (uint8_t)TCALL_BYTE_(&object->members[i].flags);
        if (!(flags & TCALL_MEMBER_REQUIRED) && view->mode != TCALL_VIEW_ALL_)
            continue;
        if (first) {
            tcall_put_key_(view->out, TCALL_FLASH_TEXT_("required"));
            tcall_write_open(view->out, '[');
        }
        first = false;
        tcall_put_string_(view->out, name);
    }
    if (!first)
        tcall_write_close(view->out, ']');
}

/* Writes what the schema of an object says after its properties. */
TCALL_NOINLINE_ static void tcall_view_rest_(tcall_shape_view_ *view,
                                             const tcall_object *object)
{
    tcall_write_close(view->out, '}');
    tcall_view_required_(view, object);
    if (view->mode == TCALL_VIEW_BRIEF_ ||
        (view->mode == TCALL_VIEW_WHOLE_ && object->open))
        return;
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("additionalProperties"));
    TCALL_SAY(view->out, "false");
}

static void tcall_view_value_(tcall_shape_view_ *view, const void *from,
                              bool null);

/* Writes what the schema of an object says beside its type. */
static void tcall_view_object_(tcall_shape_view_ *view, const void *from)
{
    TCALL_FETCH_(tcall_object, object, from);
    const char *name = object->names, *description = object->descriptions;
    unsigned i;
    tcall_put_key_(view->out, TCALL_FLASH_TEXT_("properties"));
    tcall_write_open(view->out, '{');
    for (i = 0; i < object->count; i++) {
        const tcall_shape *node = object->members + i;
        tcall_view_value_(view, node, tcall_view_member_(view, node, name));
        tcall_view_member_end_(view, node, description, object->initial);
        name = tcall_word_next_(name);
        description = tcall_word_next_(description);
    }
    tcall_view_rest_(view, object);
}

/* Writes the members of a value's schema, which may be null as well. This and
 * the function above are all that takes stack once for each level. */
static void tcall_view_value_(tcall_shape_view_ *view, const void *from,
                              bool null)
{
    TCALL_FETCH_(tcall_shape, node, from);
    bool nullable = tcall_view_begin_(view, node, null);
    if (node->kind == TCALL_KIND_LIST) {
        const tcall_shape *item = (const tcall_shape *)node->more;
        tcall_put_key_(view->out, TCALL_FLASH_TEXT_("items"));
        tcall_write_open(view->out, '{');
        tcall_view_value_(
            view, item, (TCALL_FETCH_8_(&item->types) & TCALL_SHAPE_NULL) != 0);
        tcall_write_close(view->out, '}');
    } else if (node->kind == TCALL_KIND_OBJECT) {
        tcall_view_object_(view, node->more);
    }
    tcall_view_end_(view, nullable);
}

/* Writes the schema of an object as the view wants it. */
TCALL_SHARED_ void tcall_view_shape_(tcall_shape_view_ *view,
                                     const tcall_object *shape)
{
    tcall_write_open(view->out, '{');
    tcall_view_type_(view, 6);
    tcall_view_object_(view, shape);
    tcall_write_close(view->out, '}');
}

int tcall_write_shape(tcall_writer *writer, const tcall_object *shape)
{
    tcall_shape_view_ view;
    memset(&view, 0, sizeof view);
    view.out = writer;
    tcall_view_shape_(&view, shape);
    return writer->error;
}

/* ---- all of a shape ---- */

/* A walk over the nodes of a shape, each before what is in it: those of members
 * and of items. It goes as deep as the decoder does. */
typedef struct tcall_shape_walk_ {
    const tcall_shape *node;     /* at hand, in flash; NULL: the root */
    const tcall_object *entered; /* the object that begins here, or NULL */
    uint8_t depth;
    struct {
        const tcall_object *object;
        uint8_t next; /* of its members */
    } open[TOOLCALL_SHAPE_LEVELS];
} tcall_shape_walk_;

static void tcall_walk_enter_(tcall_shape_walk_ *walk,
                              const tcall_object *object)
{
    walk->entered = object;
    if (walk->depth == TOOLCALL_SHAPE_LEVELS)
        return;
    walk->open[walk->depth].object = object;
    walk->open[walk->depth++].next = 0;
}

/* Begins at the root. */
TCALL_SHARED_ void tcall_walk_begin_(tcall_shape_walk_ *walk,
                                     const tcall_object *shape)
{
    walk->node = NULL;
    walk->depth = 0;
    tcall_walk_enter_(walk, shape);
}

/* Returns the next member of the open objects, or NULL. */
static const tcall_shape *tcall_walk_member_(tcall_shape_walk_ *walk)
{
    while (walk->depth) {
        uint8_t level = (uint8_t)(walk->depth - 1);
        uint8_t next = walk->open[level].next;
        TCALL_FETCH_(tcall_object, object, walk->open[level].object);
        if (next < object->count) {
            walk->open[level].next++;
            return object->members + next;
        }
        walk->depth = level;
    }
    return NULL;
}

/* Goes on to the next node; returns false at the end. */
TCALL_SHARED_ bool tcall_walk_next_(tcall_shape_walk_ *walk)
{
    const tcall_shape *node = walk->node;
    uint8_t kind;
    if (node && TCALL_FETCH_8_(&node->kind) == TCALL_KIND_LIST)
        node = TCALL_FETCH_POINTER_(const tcall_shape *, &node->more);
    else
        node = tcall_walk_member_(walk);
    walk->node = node;
    walk->entered = NULL;
    if (!node)
        return false;
    kind = TCALL_FETCH_8_(&node->kind);
    if (kind == TCALL_KIND_OBJECT)
        tcall_walk_enter_(
            walk, TCALL_FETCH_POINTER_(const tcall_object *, &node->more));
    return true;
}

/* Returns a list of words as one text, each ended by NUL. */
TCALL_SHARED_ tcall_str tcall_words_text_(const char *words, unsigned count)
{
    return tcall_slice_(words,
                        (size_t)(tcall_word_at_(words, (int)count) - words));
}

/* Returns one of the texts in which the shape's meaning is: names,
 * descriptions, words of choices, of this object and those within. They are in
 * flash, and end with a NUL each. An index past the last gives an empty one. */
TCALL_SHARED_ tcall_str tcall_shape_words_(const tcall_object *shape,
                                           unsigned index)
{
    tcall_shape_walk_ walk;
    tcall_walk_begin_(&walk, shape);
    do {
        if (walk.entered) {
            TCALL_FETCH_(tcall_object, object, walk.entered);
            if (object->count && index < 2)
                return tcall_words_text_(index ? object->descriptions
                                               : object->names,
                                         object->count);
            index -= object->count ? 2 : 0;
        } else {
            TCALL_FETCH_(tcall_shape, node, walk.node);
            if (node->kind == TCALL_KIND_CHOICE && index-- == 0)
                return tcall_words_text_((const char *)node->more,
                                         (unsigned)node->high + 1);
        }
    } while (tcall_walk_next_(&walk));
    return tcall_slice_(NULL, 0);
}

/* ---- a struct as JSON ---- */

/* Loads a value of a struct, which lies in flash where it is a default. */
static void tcall_load_(void *to, const char *from, size_t size, bool flash)
{
    if (flash)
        TCALL_COPY_(to, from, size);
    else
        memcpy(to, from, size);
}

/* Writes an integer of a struct, or one that stands for a decimal number. */
static void tcall_put_stored_(tcall_writer *writer, const tcall_shape *node,
                              const char *at, bool flash)
{
    tcall_whole_ value = 0;
    int32_t narrow;
#ifndef TOOLCALL_NO_INT64
    if (node->kind == TCALL_KIND_INTEGER64)
        tcall_load_(&value, at, sizeof value, flash);
#endif
    if (node->kind == TCALL_KIND_INTEGER) {
        tcall_load_(&narrow, at, sizeof narrow, flash);
        value = narrow;
    }
    tcall_write_comma_(writer);
    tcall_put_number_(writer, value, node->digits);
}

/* Writes a value that has no parts, all that a default can be. */
static void tcall_put_scalar_(tcall_writer *writer, const tcall_shape *node,
                              const char *at, bool flash)
{
    uint8_t byte = 0;
    switch (node->kind) {
    case TCALL_KIND_BOOLEAN:
        tcall_load_(&byte, at, sizeof byte, flash);
        tcall_write_comma_(writer);
        tcall_write_flash(writer, byte ? TCALL_FLASH_TEXT_("true")
                                       : TCALL_FLASH_TEXT_("false"));
        return;
    case TCALL_KIND_CHOICE:
        tcall_load_(&byte, at, sizeof byte, flash);
        tcall_put_string_(writer,
                          tcall_word_at_((const char *)node->more, byte));
        return;
    case TCALL_KIND_TEXT:
        if (flash)
            tcall_put_string_(writer, at);
        else
            tcall_write_string(writer, at);
        return;
    default: tcall_put_stored_(writer, node, at, flash); return;
    }
}

/* Writes a value that has no parts of its own. */
TCALL_NOINLINE_ static void
tcall_put_leaf_(tcall_writer *writer, const tcall_shape *node, const char *at)
{
#ifndef TOOLCALL_NO_INT64
    double number;
#endif
    switch (node->kind) {
#ifndef TOOLCALL_NO_INT64
    case TCALL_KIND_NUMBER:
        memcpy(&number, at, sizeof number);
        tcall_write_double(writer, number);
        return;
#endif
    case TCALL_KIND_JSON:
        tcall_write_verbatim(writer, tcall_str_of(at));
        return;
    case TCALL_KIND_ANY:
    case TCALL_KIND_HOLE: tcall_write_null(writer); return;
    default: tcall_put_scalar_(writer, node, at, false); return;
    }
}

/* An object or list of a struct that is written. */
typedef struct tcall_put_level_ {
    const void *more;      /* its tcall_object, or the tcall_shape of an item */
    const char *at;        /* its struct, or the next item */
    uint16_t index, count; /* of the next member or item; of all */
    uint16_t size;         /* of an item */
    bool list;
} tcall_put_level_;

/* Opens a value that has parts; returns false of any other. */
static bool tcall_put_open_(tcall_writer *writer, tcall_put_level_ *level,
                            const tcall_shape *node, const char *at)
{
    level->more = node->more;
    level->at = at;
    level->index = 0;
    level->list = node->kind == TCALL_KIND_LIST;
    if (level->list) {
        memcpy(&level->count, at, sizeof level->count);
        level->at += node->digits;
        level->size = node->size;
    } else if (node->kind == TCALL_KIND_OBJECT) {
        TCALL_FETCH_(tcall_object, object, node->more);
        level->count = object->count;
    } else {
        return false;
    }
    tcall_write_open(writer, level->list ? '[' : '{');
    return true;
}

/* Writes the key of the next member that came or has a default. Gives where it
 * lies, NULL of one that came as null. Returns its node, or NULL. */
static const tcall_shape *tcall_put_member_(tcall_writer *writer,
                                            tcall_put_level_ *level,
                                            const char **at)
{
    TCALL_FETCH_(tcall_object, object, level->more);
    const uint8_t *given = (const uint8_t *)level->at;
    const uint8_t *came = given + (level->count + 7) / 8;
    while (level->index < level->count) {
        unsigned i = level->index++;
        TCALL_FETCH_(tcall_shape, node, object->members + i);
        bool holds =
            TCALL_BIT_OF_(given, i) || node->flags & TCALL_MEMBER_DEFAULT;
        if (node->offset == TCALL_NOWHERE ||
            (!holds && !TCALL_BIT_OF_(came, i)))
            continue;
        tcall_put_key_(writer, tcall_word_at_(object->names, (int)i));
        *at = holds ? level->at + node->offset : NULL;
        return object->members + i;
    }
    return NULL;
}

/* The same of items. */
static const tcall_shape *tcall_put_item_(tcall_put_level_ *level,
                                          const char **at)
{
    if (level->index == level->count)
        return NULL;
    level->index++;
    *at = level->at;
    level->at += level->size;
    return (const tcall_shape *)level->more;
}

/* There is no recursion: what is open is a list of levels. */
int tcall_write_struct(tcall_writer *writer, const tcall_object *shape,
                       const void *args)
{
    /* what is in the last one lies too deep */
    tcall_put_level_ levels[TOOLCALL_SHAPE_LEVELS + 1], *level = levels;
    tcall_shape root;
    memset(&root, 0, sizeof root);
    root.kind = TCALL_KIND_OBJECT;
    root.more = shape;
    tcall_put_open_(writer, level, &root, (const char *)args);
    for (;;) {
        const char *at = NULL;
        const tcall_shape *next = level->list
                                      ? tcall_put_item_(level, &at)
                                      : tcall_put_member_(writer, level, &at);
        if (next && level == levels + TOOLCALL_SHAPE_LEVELS)
            return tcall_writer_fail_(writer, TCALL_E_DEPTH);
        if (!next) {
            tcall_write_close(writer, level->list ? ']' : '}');
            if (level == levels)
                return writer->error;
            level--;
        } else if (!at) {
            tcall_write_null(writer);
        } else {
            TCALL_FETCH_(tcall_shape, node, next);
            if (tcall_put_open_(writer, level + 1, node, at))
                level++;
            else
                tcall_put_leaf_(writer, node, at);
        }
    }
}

/* ---- where a misfit is ---- */

/* Returns the keyword of a misfit, in flash. */
TCALL_SHARED_ const char *tcall_misfit_keyword_(const tcall_misfit *misfit)
{
    static const char keywords[] TCALL_FLASH_ =
#define TCALL_X_(NAME, keyword, sentence) keyword "\0"
        TCALL_MISFITS(TCALL_X_);
#undef TCALL_X_
    return tcall_word_at_(keywords, misfit->code - 1);
}

/* Where a misfit is: the value, and the object or list around it. All of it is
 * in flash. */
typedef struct tcall_misplaced_ {
    const tcall_misfit *misfit;
    const tcall_shape *node;    /* of the value */
    const char *name;           /* of the member; NULL: an item */
    const tcall_object *object; /* around the value, or the value */
} tcall_misplaced_;

/* Begins at the object that all lies in. */
static void tcall_place_init_(tcall_misplaced_ *place,
                              const tcall_misfit *misfit,
                              const tcall_object *shape)
{
    place->misfit = misfit;
    place->node = &tcall_root_;
    place->name = NULL;
    place->object = shape;
}

/* Goes one step down the trail. Returns false where no shape is below. */
static bool tcall_place_step_(tcall_misplaced_ *place, uint16_t step)
{
    uint8_t kind = TCALL_FETCH_8_(&place->node->kind);
    if (kind == TCALL_KIND_LIST) {
        place->name = NULL;
        place->node =
            TCALL_FETCH_POINTER_(const tcall_shape *, &place->node->more);
        return true;
    }
    if (kind != TCALL_KIND_OBJECT ||
        step >= TCALL_FETCH_8_(&place->object->count))
        return false;
    place->name = tcall_word_at_(
        TCALL_FETCH_POINTER_(const char *, &place->object->names), step);
    place->node =
        TCALL_FETCH_POINTER_(const tcall_shape *, &place->object->members) +
        step;
    return true;
}

/* Enters the object that the value is. */
static void tcall_place_enter_(tcall_misplaced_ *place)
{
    if (TCALL_FETCH_8_(&place->node->kind) == TCALL_KIND_OBJECT)
        place->object =
            TCALL_FETCH_POINTER_(const tcall_object *, &place->node->more);
}

/* Writes a name as a step of a JSON Pointer. */
static void tcall_put_step_(tcall_writer *writer, const char *name)
{
    char bytes[4];
    size_t len = 0;
    while ((bytes[len] = TCALL_BYTE_(name)) != '\0') {
        const char *escape = tcall_pointer_escape_(bytes[len]);
        name++;
        if (++len < sizeof bytes && (TCALL_BYTE_(name) & 0xC0) == 0x80)
            continue;
        tcall_write_bytes(writer, escape ? escape : bytes, escape ? 2 : len);
        len = 0;
    }
}

/* Walks the trail, writing the steps from `from` on as a JSON Pointer. What is
 * absent or unknown has no place of its own: that is the object. */
TCALL_SHARED_ void tcall_write_misplaced_(tcall_writer *writer,
                                          tcall_misplaced_ *place, uint8_t from)
{
    const tcall_misfit *misfit = place->misfit;
    uint8_t i;
    for (i = from; i < misfit->steps; i++) {
        bool absent =
            i + 1 == misfit->steps && misfit->code == TCALL_MISFIT_REQUIRED;
        if (!tcall_place_step_(place, misfit->trail[i]))
            return;
        if (!absent) {
            tcall_write_char_(writer, '/');
            if (place->name)
                tcall_put_step_(writer, place->name);
            else
                tcall_put_number_(writer, misfit->trail[i], 0);
        }
        tcall_place_enter_(place);
    }
}

#ifndef TOOLCALL_NO_SENTENCES

/* ---- sentences ---- */

/* A sentence that is being written. */
typedef struct tcall_telling_ {
    tcall_writer *out;
    const tcall_misplaced_ *place;
    const tcall_shape *node; /* of the place */
    tcall_said_ said;
} tcall_telling_;

static void tcall_tell_part_(void *of, char letter);

static void tcall_tell_text_(tcall_telling_ *tell, const char *text)
{
    tcall_write_parts_(tell->out, text, tcall_tell_part_, tell);
}

/* Writes a bound: a number, or as many things as there may be, "1 character",
 * "5 elements". */
static void tcall_tell_bound_(const tcall_telling_ *tell, tcall_whole_ bound)
{
    static const char nouns[] TCALL_FLASH_ = " byte\0 character\0 element\0";
    const tcall_shape *node = tell->node;
    int noun = node->flags & TCALL_MEMBER_CHARACTERS ? 1 : 0;
    if (tell->said.group == TCALL_SAID_VALUE_) {
        tcall_put_number_(tell->out, bound, node->digits);
        return;
    }
    if (tell->said.group == TCALL_SAID_ITEMS_)
        noun = 2;
    tcall_put_number_(tell->out, bound, 0);
    tcall_write_flash(tell->out, tcall_word_at_(nouns, noun));
    if (bound != 1)
        tcall_write_char_(tell->out, 's');
}

/* Returns how the bounds of a value are said. */
static const char *tcall_tell_range_(const tcall_telling_ *tell)
{
    const tcall_said_ *said = &tell->said;
    if (!tcall_kind_has_bounds_(tell->node) ||
        !(said->has_low || said->has_high))
        return TCALL_FLASH_TEXT_("");
#ifndef TOOLCALL_NO_INT64
    if (tell->node->flags & TCALL_MEMBER_OVER)
        return !said->has_high ? TCALL_FLASH_TEXT_(" over %l")
               : tell->node->flags & TCALL_MEMBER_UNDER
                   ? TCALL_FLASH_TEXT_(" over %l and under %h")
                   : TCALL_FLASH_TEXT_(" over %l and of at most %h");
    if (tell->node->flags & TCALL_MEMBER_UNDER)
        return said->has_low ? TCALL_FLASH_TEXT_(" of at least %l and under %h")
                             : TCALL_FLASH_TEXT_(" under %h");
#endif
    if (!said->has_low)
        return TCALL_FLASH_TEXT_(" of at most %h");
    if (!said->has_high)
        return TCALL_FLASH_TEXT_(" of at least %l");
    if (said->low == said->high)
        return TCALL_FLASH_TEXT_(" of %h");
    return said->group == TCALL_SAID_VALUE_
               ? TCALL_FLASH_TEXT_(" from %l to %h")
               : TCALL_FLASH_TEXT_(" of %c to %h");
}

/* Writes words of a list: "celsius", "fahrenheit" or "kelvin". */
static void tcall_tell_list_(tcall_writer *writer, const char *word,
                             int32_t count)
{
    for (; count > 0; count--, word = tcall_word_next_(word)) {
        tcall_write_char_(writer, '"');
        tcall_write_flash(writer, word);
        tcall_write_char_(writer, '"');
        if (count > 1)
            tcall_write_flash(writer, count > 2 ? TCALL_FLASH_TEXT_(", ")
                                                : TCALL_FLASH_TEXT_(" or "));
    }
}

/* Writes the types of a set: "a string, a number or null". */
static void tcall_tell_types_(tcall_writer *writer, unsigned types)
{
    static const char words[] TCALL_FLASH_ =
        "null\0a boolean\0an integer\0a number\0a string\0an array\0"
        "an object\0";
    int index = 7;
    while (index-- > 0) {
        if (!(types >> index & 1))
            continue;
        tcall_write_flash(writer, tcall_word_at_(words, index));
        types &= ~(1u << index);
        if (types)
            tcall_write_flash(writer, types & (types - 1)
                                          ? TCALL_FLASH_TEXT_(", ")
                                          : TCALL_FLASH_TEXT_(" or "));
    }
}

/* Writes what to send: "an integer from 1 to 7". */
static void tcall_tell_wanted_(tcall_telling_ *tell)
{
    const tcall_shape *node = tell->node;
    unsigned types = tcall_types_of_(node);
    bool null_last = types & TCALL_SHAPE_NULL && tcall_kind_is_one_type_(node);
    if (node->kind == TCALL_KIND_CHOICE)
        tcall_tell_list_(tell->out, (const char *)node->more, node->high + 1);
    else
        tcall_tell_types_(
            tell->out, null_last ? types & ~(unsigned)TCALL_SHAPE_NULL : types);
    tcall_tell_text_(tell, tcall_tell_range_(tell));
    if (null_last)
        TCALL_SAY(tell->out, " or null");
}

/* Writes for how much the struct has room. */
static void tcall_tell_room_(tcall_telling_ *tell)
{
    const tcall_shape *node = tell->node;
    if (tell->said.group == TCALL_SAID_VALUE_) {
        tcall_tell_wanted_(tell);
        return;
    }
    TCALL_SAY(tell->out, "at most ");
    if (tell->said.group == TCALL_SAID_ITEMS_) {
        tcall_tell_bound_(tell, node->high);
    } else {
        tcall_put_number_(tell->out, node->size - 1, 0);
        TCALL_SAY(tell->out, " bytes");
    }
}

/* Writes which members there are instead of one that is not known. */
static void tcall_tell_known_(const tcall_telling_ *tell)
{
    const tcall_object *object = tell->place->object;
    uint8_t count = TCALL_FETCH_8_(&object->count);
    if (!count)
        return;
    TCALL_SAY(tell->out, "use ");
    tcall_tell_list_(tell->out,
                     TCALL_FETCH_POINTER_(const char *, &object->names), count);
    TCALL_SAY(tell->out, " or ");
}

/* Writes what passed a bound: of a number that itself, where it is known. */
static void tcall_tell_value_(const tcall_telling_ *tell)
{
    const tcall_misfit *misfit = tell->place->misfit;
    if (tell->said.group == TCALL_SAID_LENGTH_)
        TCALL_SAY(tell->out, "the string");
    else if (tell->said.group == TCALL_SAID_ITEMS_)
        TCALL_SAY(tell->out, "the array");
    else if (misfit->exact)
        tcall_put_number_(tell->out, misfit->got, tell->node->digits);
    else
        TCALL_SAY(tell->out, "this number");
}

/* Returns how the minimum is said that was passed. */
static const char *tcall_tell_under_(const tcall_shape *node)
{
#ifndef TOOLCALL_NO_INT64
    if (node->flags & TCALL_MEMBER_OVER)
        return TCALL_FLASH_TEXT_("not over %l");
#endif
    (void)node;
    return TCALL_FLASH_TEXT_("under the minimum %l");
}

static const char *tcall_tell_over_(const tcall_shape *node)
{
#ifndef TOOLCALL_NO_INT64
    if (node->flags & TCALL_MEMBER_UNDER)
        return TCALL_FLASH_TEXT_("not under %h");
#endif
    (void)node;
    return TCALL_FLASH_TEXT_("over the maximum %h");
}

/* Writes what a letter in a sentence stands for: see TCALL_MISFITS. Further
 * ones are %l and %h, the bounds, and %c, the lower one as a mere number. */
static void tcall_tell_part_(void *of, char letter)
{
    tcall_telling_ *tell = (tcall_telling_ *)of;
    const tcall_shape *node = tell->node;
    switch (letter) {
    case 'v': tcall_tell_value_(tell); break;
    case 'u': tcall_tell_text_(tell, tcall_tell_under_(node)); break;
    case 'o': tcall_tell_text_(tell, tcall_tell_over_(node)); break;
    case 'l': tcall_tell_bound_(tell, tell->said.low); break;
    case 'h': tcall_tell_bound_(tell, tell->said.high); break;
    case 'c': tcall_put_number_(tell->out, tell->said.low, 0); break;
    case 's': tcall_tell_wanted_(tell); break;
    case 'r': tcall_tell_room_(tell); break;
    case 'k': tcall_tell_known_(tell); break;
    case 'n':
        if (tell->place->name)
            tcall_write_flash(tell->out, tell->place->name);
        break;
    default: break;
    }
}

/* Writes what is wrong, and what to send instead. */
TCALL_SHARED_ void tcall_tell_misfit_(tcall_writer *writer,
                                      const tcall_misplaced_ *place)
{
    static const char sentences[] TCALL_FLASH_ =
#define TCALL_X_(NAME, keyword, sentence) sentence "\0"
        TCALL_MISFITS(TCALL_X_);
#undef TCALL_X_
    tcall_telling_ tell;
    TCALL_FETCH_(tcall_shape, node, place->node);
    tell.out = writer;
    tell.place = place;
    tell.node = node;
    tell.said = tcall_said_of_(node);
    tcall_tell_text_(&tell, tcall_word_at_(sentences, place->misfit->code - 1));
}

#else

/* Writes what is wrong as the keyword alone. */
TCALL_SHARED_ void tcall_tell_misfit_(tcall_writer *writer,
                                      const tcall_misplaced_ *place)
{
    tcall_write_flash(writer, tcall_misfit_keyword_(place->misfit));
}

#endif /* TOOLCALL_NO_SENTENCES */

int tcall_write_misfit(tcall_writer *writer, const tcall_misfit *misfit,
                       const tcall_object *shape, uint8_t from)
{
    tcall_misplaced_ place;
    size_t before = writer->len;
    tcall_place_init_(&place, misfit, shape);
    tcall_write_misplaced_(writer, &place, from);
    if (writer->len > before)
        TCALL_SAY(writer, ": ");
    tcall_tell_misfit_(writer, &place);
    return writer->error;
}

#else

/* Without shapes no tool has one: it was refused at the start. */
TCALL_SHARED_ void tcall_view_shape_(tcall_shape_view_ *view,
                                     const tcall_object *shape)
{
    (void)view;
    (void)shape;
}

TCALL_SHARED_ int tcall_write_shape(tcall_writer *writer,
                                    const tcall_object *shape)
{
    (void)shape;
    return writer->error;
}

TCALL_SHARED_ tcall_str tcall_shape_words_(const tcall_object *shape,
                                           unsigned index)
{
    (void)shape;
    (void)index;
    return tcall_slice_(NULL, 0);
}

#endif /* TOOLCALL_NO_SHAPES */

/* ==========================================================================
 * >>pattern
 *
 * The program is a nondeterministic automaton in the order of the pattern.
 * Each node has one state, but an atom that is repeated has one for each time.
 * A state says that the text so far leads up to it; to take a character moves
 * every active state whose atom matches on to the next one.
 */
#ifndef TOOLCALL_NO_PATTERN

enum {
    TCALL_RE_CHAR_,     /* one character */
    TCALL_RE_SET_,      /* \d and the like, and the dot */
    TCALL_RE_CLASS_,    /* [...]: as many items follow as it says */
    TCALL_RE_ITEM_,     /* of a class: a range up to arg */
    TCALL_RE_ITEM_SET_, /* of a class: \d and the like */
    TCALL_RE_ASSERT_,   /* ^ $ \b \B, by its letter */
    TCALL_RE_SPLIT_,    /* goes on, and to another state as well */
    TCALL_RE_JUMP_,
    TCALL_RE_MATCH_ /* the last node: how many states come before */
};

/* word: the op, and a value: a character, a state to go to ... */
#define TCALL_RE_VALUE_ 8
/* Of a set or a class, in its value: all other characters. */
#define TCALL_RE_OTHERS_ 1u

/* arg of what has states: how many; how many of them must be passed; whether
 * the last may be passed again and again. */
#define TCALL_RE_STATES_(arg) ((arg)&0xFFF)
#define TCALL_RE_LEAST_(arg)  ((arg) >> 12 & 0xFFF)
#define TCALL_RE_AGAIN_       ((uint32_t)1 << 24)
#define TCALL_RE_ONCE_        (1u | 1u << 12)

#define TCALL_RE_COUNT_MAX_  1000
#define TCALL_RE_GROUPS_     7 /* that may be open at once */
#define TCALL_RE_NONE_       0xFFFFFFFFu
#define TCALL_RE_CHARACTERS_ 0x110000 /* larger ones are bytes, not UTF-8 */

enum { TCALL_RE_DIGIT_, TCALL_RE_WORD_, TCALL_RE_SPACE_, TCALL_RE_LINE_END_ };

static const struct {
    uint16_t set, low, high;
} tcall_re_ranges_[] = {
    {TCALL_RE_DIGIT_, '0', '9'},       {TCALL_RE_WORD_, '0', '9'},
    {TCALL_RE_WORD_, 'A', 'Z'},        {TCALL_RE_WORD_, '_', '_'},
    {TCALL_RE_WORD_, 'a', 'z'},        {TCALL_RE_SPACE_, 9, 13},
    {TCALL_RE_SPACE_, ' ', ' '},       {TCALL_RE_SPACE_, 0xA0, 0xA0},
    {TCALL_RE_SPACE_, 0x1680, 0x1680}, {TCALL_RE_SPACE_, 0x2000, 0x200A},
    {TCALL_RE_SPACE_, 0x2028, 0x2029}, {TCALL_RE_SPACE_, 0x202F, 0x202F},
    {TCALL_RE_SPACE_, 0x205F, 0x205F}, {TCALL_RE_SPACE_, 0x3000, 0x3000},
    {TCALL_RE_SPACE_, 0xFEFF, 0xFEFF}, {TCALL_RE_LINE_END_, '\n', '\n'},
    {TCALL_RE_LINE_END_, '\r', '\r'},  {TCALL_RE_LINE_END_, 0x2028, 0x2029},
};

/* Whether a set has a character; none has -1, an end of the text. */
static bool tcall_re_in_(unsigned set, int32_t c)
{
    size_t i;
    for (i = 0; i < sizeof tcall_re_ranges_ / sizeof *tcall_re_ranges_; i++)
        if (tcall_re_ranges_[i].set == set && c >= tcall_re_ranges_[i].low &&
            c <= tcall_re_ranges_[i].high)
            return true;
    return false;
}

/* The next character of a text; a byte that begins none counts as one that no
 * pattern can name. */
static int32_t tcall_re_decode_(const char **at, const char *end)
{
    unsigned char byte = (unsigned char)**at;
    if (byte < 0x80 || tcall_utf8_len_(*at, end)) {
        return tcall_utf8_next_(at);
    }
    ++*at;
    return TCALL_RE_CHARACTERS_ + byte;
}

/* -- Parsing -------------------------------------------------------------- */

/* A group that is open. Its text is read once for each copy that its quantifier
 * asks for. Each alternative begins with a split to the next one, and ends with
 * a jump to the end of the next one. */
typedef struct tcall_re_group_ {
    const char *body;
    uint16_t copies; /* made so far */
    uint16_t first;  /* the state where this copy begins */
    uint16_t split;  /* the node with which the last alternative begins */
} tcall_re_group_;

typedef struct tcall_re_ {
    tcall_pattern *out;
    const char *from, *at, *end;
    bool escaped;
    tcall_node_ *node;
    uint32_t cap, count, states;
    tcall_re_group_ group[TCALL_RE_GROUPS_];
    int depth;
} tcall_re_;

/* Refuses the pattern, which ends all loops. The first reason stays. */
static void tcall_re_refuse_(tcall_re_ *re, const char *reason)
{
    if (!re->out->reason) {
        re->out->reason = reason;
        re->out->at = (size_t)(re->at - re->from);
    }
}

/* The next character of the pattern, -1 at its end. */
static int32_t tcall_re_next_(tcall_re_ *re)
{
    char bytes[4];
    const char *p = bytes;
    if (re->at >= re->end)
        return -1;
    if (!re->escaped || *re->at != '\\')
        return tcall_re_decode_(&re->at, re->end);
    tcall_text_char_(&re->at, bytes);
    return tcall_utf8_next_(&p);
}

/* The same without going on: an escape of JSON may be several bytes. */
static int32_t tcall_re_peek_(tcall_re_ *re)
{
    const char *at = re->at;
    int32_t c = tcall_re_next_(re);
    re->at = at;
    return c;
}

/* Goes past a character, if it is the next one. */
static bool tcall_re_take_(tcall_re_ *re, int32_t c)
{
    bool there = tcall_re_peek_(re) == c;
    if (there)
        tcall_re_next_(re);
    return there;
}

/* Nodes that do not fit are only counted. */
static uint32_t tcall_re_emit_(tcall_re_ *re, int op, uint32_t value,
                               uint32_t arg)
{
    if (re->count < re->cap) {
        re->node[re->count].word = value << TCALL_RE_VALUE_ | (uint32_t)op;
        re->node[re->count].arg = arg;
    }
    return re->count++;
}

/* A node with one state. */
static uint32_t tcall_re_one_(tcall_re_ *re, int op, uint32_t value)
{
    re->states++;
    return tcall_re_emit_(re, op, value, 1);
}

/* Gives a node with this op, if it is one, the state that it leads to. */
static void tcall_re_patch_(tcall_re_ *re, uint32_t i, uint32_t op,
                            uint32_t state)
{
    if (i < re->cap && i < re->count && (re->node[i].word & 0xFF) == op)
        re->node[i].word |= state << TCALL_RE_VALUE_;
}

/* -- Characters and classes ----------------------------------------------- */

/* \xHH, \uHHHH: its digits. */
static int32_t tcall_re_hex_(tcall_re_ *re, int digits)
{
    int32_t value = 0;
    for (; digits; digits--) {
        int32_t c = tcall_re_next_(re);
        int hex = c < 0x80 ? tcall_hex_((char)c) : -1;
        if (c < 0 || hex < 0) {
            tcall_re_refuse_(re, "\\x without two or \\u without four "
                                 "hexadecimal digits");
            return 0;
        }
        value = value << 4 | hex;
    }
    if (value >> 11 == 0x1B)
        tcall_re_refuse_(re, "half of a surrogate pair");
    return value;
}

/* After a backslash. Returns a character; or, if it was \d or the like, -1 and
 * its set in *set. */
static int32_t tcall_re_escape_(tcall_re_ *re, uint32_t *set)
{
    static const char controls[][2] = {{'t', '\t'}, {'n', '\n'}, {'r', '\r'},
                                       {'f', '\f'}, {'v', '\v'}, {'0', 0}};
    int32_t c = tcall_re_next_(re), low = c | 0x20;
    size_t i;
    if (low == 'd' || low == 'w' || low == 's') {
        *set = (low == 'd'   ? TCALL_RE_DIGIT_
                : low == 'w' ? TCALL_RE_WORD_
                             : TCALL_RE_SPACE_) *
                   2u +
               (c != low ? TCALL_RE_OTHERS_ : 0);
        return -1;
    }
    if (c == 'x' || c == 'u')
        return tcall_re_hex_(re, c == 'x' ? 2 : 4);
    for (i = 0; i < sizeof controls / sizeof *controls; i++)
        if (c == controls[i][0])
            return controls[i][1];
    if (c < 0)
        tcall_re_refuse_(re, "a backslash at the end");
    else if (c >= '1' && c <= '9')
        tcall_re_refuse_(re, "back references are not supported");
    else if (c < 0x80 && tcall_re_in_(TCALL_RE_WORD_, c))
        tcall_re_refuse_(re, "unknown escape");
    return c < 0 ? 0 : c;
}

/* One end of a range, or a set: -1. */
static int32_t tcall_re_member_(tcall_re_ *re, uint32_t *set)
{
    int32_t c = tcall_re_next_(re);
    if (c < 0)
        tcall_re_refuse_(re, "[ without ]");
    if (c == '\\' && tcall_re_take_(re, 'b'))
        return '\b';
    return c == '\\' ? tcall_re_escape_(re, set) : c;
}

/* After '['. Returns the node of the class. */
static uint32_t tcall_re_class_(tcall_re_ *re)
{
    uint32_t others = tcall_re_take_(re, '^') ? TCALL_RE_OTHERS_ : 0;
    uint32_t class_node = tcall_re_emit_(re, TCALL_RE_CLASS_, 0, 0);
    while (!re->out->reason && !tcall_re_take_(re, ']')) {
        uint32_t set = 0;
        int32_t low = tcall_re_member_(re, &set), high = low;
        const char *minus = re->at;
        if (low >= 0 && tcall_re_take_(re, '-')) {
            if (tcall_re_peek_(re) == ']')
                re->at = minus; /* it stands for itself */
            else
                high = tcall_re_member_(re, &set);
        }
        if (high < low)
            tcall_re_refuse_(re, "a range in [] that runs backwards");
        if (low < 0)
            tcall_re_emit_(re, TCALL_RE_ITEM_SET_, set, 0);
        else
            tcall_re_emit_(re, TCALL_RE_ITEM_, (uint32_t)low, (uint32_t)high);
    }
    tcall_re_patch_(re, class_node, TCALL_RE_CLASS_,
                    (re->count - class_node - 1) * 2 + others);
    return class_node;
}

/* -- Quantifiers ---------------------------------------------------------- */

/* Digits, at most TCALL_RE_COUNT_MAX_ + 1; NONE: there are none. */
static uint32_t tcall_re_number_(tcall_re_ *re)
{
    uint32_t number = TCALL_RE_NONE_;
    for (;;) {
        int32_t c = tcall_re_peek_(re);
        if (c < '0' || c > '9')
            return number;
        tcall_re_next_(re);
        number =
            (number == TCALL_RE_NONE_ ? 0 : number * 10) + (uint32_t)(c - '0');
        if (number > TCALL_RE_COUNT_MAX_)
            number = TCALL_RE_COUNT_MAX_ + 1;
    }
}

/* Reads a quantifier, if there is one. Returns the arg of what comes before. */
static uint32_t tcall_re_quantifier_(tcall_re_ *re)
{
    int32_t c = tcall_re_peek_(re);
    bool open = c == '*' || c == '+';
    uint32_t min = c == '+', max = 1;
    if (c != '*' && c != '+' && c != '?' && c != '{')
        return TCALL_RE_ONCE_;
    tcall_re_next_(re);
    if (c == '{') {
        min = max = tcall_re_number_(re);
        if (tcall_re_take_(re, ',')) {
            open = tcall_re_peek_(re) == '}';
            max = open ? min + !min : tcall_re_number_(re);
        }
        if (!tcall_re_take_(re, '}') || max < min ||
            max > TCALL_RE_COUNT_MAX_) {
            tcall_re_refuse_(re, "a count in {} that is not two numbers, runs "
                                 "backwards or is over 1000");
            return TCALL_RE_ONCE_;
        }
    }
    tcall_re_take_(re, '?'); /* lazy: the same texts match */
    return max | min << 12 | (open ? TCALL_RE_AGAIN_ : 0);
}

/* -- Expressions ---------------------------------------------------------- */

/* Begins a copy of the group that is open. */
static void tcall_re_copy_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    re->at = group->body;
    group->first = (uint16_t)re->states;
    group->split = (uint16_t)tcall_re_one_(re, TCALL_RE_SPLIT_, 0);
}

/* After '('. */
static void tcall_re_open_(tcall_re_ *re)
{
    if (tcall_re_take_(re, '?') && !tcall_re_take_(re, ':')) {
        tcall_re_refuse_(re, "look-around and named groups are not supported");
        return;
    }
    if (re->depth + 1 == TCALL_RE_GROUPS_) {
        tcall_re_refuse_(re, "groups are nested too deeply");
        return;
    }
    re->depth++;
    re->group[re->depth].body = re->at;
    re->group[re->depth].copies = 0;
    tcall_re_copy_(re);
}

/* An alternative has ended: the one before it jumps here. */
static void tcall_re_end_(tcall_re_ *re)
{
    tcall_re_patch_(re, re->group[re->depth].split - 1u, TCALL_RE_JUMP_,
                    re->states);
}

/* After '|'. */
static void tcall_re_alternative_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    tcall_re_end_(re);
    tcall_re_patch_(re, group->split, TCALL_RE_SPLIT_, re->states + 1);
    tcall_re_one_(re, TCALL_RE_JUMP_, 0);
    group->split = (uint16_t)tcall_re_one_(re, TCALL_RE_SPLIT_, 0);
}

/* After ')'. */
static void tcall_re_close_(tcall_re_ *re)
{
    tcall_re_group_ *group = &re->group[re->depth];
    uint32_t close, times;
    if (!re->depth) { /* that is the whole pattern */
        tcall_re_refuse_(re, ") without (");
        return;
    }
    tcall_re_end_(re);
    close = tcall_re_one_(re, TCALL_RE_SPLIT_, 0);
    times = tcall_re_quantifier_(re);
    if (!TCALL_RE_STATES_(times))
        tcall_re_refuse_(re, "a group that is repeated 0 times");
    if (group->copies++ >=
        TCALL_RE_LEAST_(times)) /* this one may be left out */
        tcall_re_patch_(re, group->split, TCALL_RE_SPLIT_, re->states);
    if (group->copies < TCALL_RE_STATES_(times)) {
        tcall_re_copy_(re);
        return;
    }
    if (times & TCALL_RE_AGAIN_)
        tcall_re_patch_(re, close, TCALL_RE_SPLIT_, group->first);
    re->depth--;
}

/* An atom that begins with this character. Returns its node, NONE: it was an
 * assertion, which cannot be repeated. */
static uint32_t tcall_re_atom_(tcall_re_ *re, int32_t c)
{
    uint32_t set = TCALL_RE_LINE_END_ * 2u + TCALL_RE_OTHERS_;
    int32_t next = c == '\\' ? tcall_re_peek_(re) : c;
    if (c == '^' || c == '$' || (c == '\\' && (next | 0x20) == 'b')) {
        if (c == '\\')
            tcall_re_next_(re);
        tcall_re_one_(re, TCALL_RE_ASSERT_, (uint32_t)next);
        return TCALL_RE_NONE_;
    }
    if (c == '[')
        return tcall_re_class_(re);
    if (c == '\\')
        c = tcall_re_escape_(re, &set);
    else if (c == '.')
        c = -1;
    return c < 0 ? tcall_re_emit_(re, TCALL_RE_SET_, set, 0)
                 : tcall_re_emit_(re, TCALL_RE_CHAR_, (uint32_t)c, 0);
}

/* An atom and its quantifier. */
static void tcall_re_piece_(tcall_re_ *re, int32_t c)
{
    uint32_t node = tcall_re_atom_(re, c), times;
    if (node == TCALL_RE_NONE_ || re->out->reason)
        return;
    times = tcall_re_quantifier_(re);
    re->states += TCALL_RE_STATES_(times);
    if (node < re->cap)
        re->node[node].arg = times;
}

/* The whole pattern is like a group that is never repeated. Groups with counts
 * are copied, so it is the size of the program that is limited, at each step:
 * a few characters can ask for a billion copies. */
static void tcall_re_parse_(tcall_re_ *re)
{
    int32_t c;
    re->group[0].body = re->at;
    tcall_re_copy_(re);
    while (!re->out->reason && (c = tcall_re_next_(re)) >= 0) {
        switch (c) {
        case '(': tcall_re_open_(re); break;
        case ')': tcall_re_close_(re); break;
        case '|': tcall_re_alternative_(re); break;
        case '*':
        case '+':
        case '?':
        case '{': tcall_re_refuse_(re, "nothing to repeat"); break;
        default: tcall_re_piece_(re, c);
        }
        if (re->states > TOOLCALL_MAX_PATTERN ||
            re->count > 2 * TOOLCALL_MAX_PATTERN)
            tcall_re_refuse_(re, "the pattern is too large");
    }
    if (re->depth)
        tcall_re_refuse_(re, "( without )");
    tcall_re_end_(re);
    tcall_re_emit_(re, TCALL_RE_MATCH_, re->states, 0);
}

int tcall_pattern_compile(tcall_pattern *out, tcall_str text, unsigned flags,
                          void *mem, size_t size)
{
    tcall_re_ re;
    memset(out, 0, sizeof *out);
    memset(&re, 0, sizeof re);
    re.out = out;
    re.from = re.at = text.ptr;
    re.end = text.ptr + text.len;
    re.escaped = flags & TCALL_PATTERN_ESCAPED;
    re.node = (tcall_node_ *)mem;
    re.cap = mem ? (uint32_t)(size / sizeof *re.node) : 0;
    tcall_re_parse_(&re);
    out->need = re.count * sizeof *re.node;
    out->program = re.node;
    out->count = re.count;
    out->states = re.states;
    out->flags = flags;
    if (out->reason)
        return TCALL_E_INVALID;
    return re.count > re.cap ? TCALL_E_MEMORY : (int)out->need;
}

/* -- Searching ------------------------------------------------------------ */

/* A character with its case changed, if it is a letter and case is ignored. */
static int32_t tcall_re_other_(int32_t c, unsigned flags)
{
    /* letters of ASCII only: the others have no such bit */
    bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return flags & TCALL_PATTERN_FOLD && letter ? c ^ 0x20 : c;
}

/* Whether \d, \W and the like have a character. */
static bool tcall_re_in_set_(uint32_t value, int32_t c)
{
    bool others = value & TCALL_RE_OTHERS_;
    return tcall_re_in_(value >> 1, c) != others;
}

/* Whether a class has a character; node: that of the class. */
static bool tcall_re_in_class_(const tcall_node_ *node, int32_t c,
                               int32_t other)
{
    uint32_t value = node->word >> TCALL_RE_VALUE_;
    const tcall_node_ *item = node + 1, *end = item + value / 2;
    bool in = false;
    for (; item < end && !in; item++) {
        int32_t low = (int32_t)(item->word >> TCALL_RE_VALUE_);
        int32_t high = (int32_t)item->arg;
        if ((item->word & 0xFF) == TCALL_RE_ITEM_SET_)
            in = c < TCALL_RE_CHARACTERS_ && tcall_re_in_set_((uint32_t)low, c);
        else
            in = (low <= c && c <= high) || (low <= other && other <= high);
    }
    return in != (bool)(value & TCALL_RE_OTHERS_);
}

/* Whether an atom matches a character. */
static bool tcall_re_matches_(const tcall_node_ *node, int32_t c, int32_t other)
{
    uint32_t value = node->word >> TCALL_RE_VALUE_;
    switch (node->word & 0xFF) {
    case TCALL_RE_CHAR_: return (int32_t)value == c || (int32_t)value == other;
    case TCALL_RE_SET_:
        return c < TCALL_RE_CHARACTERS_ && tcall_re_in_set_(value, c);
    case TCALL_RE_CLASS_: return tcall_re_in_class_(node, c, other);
    default: return false;
    }
}

/* The node after this one and its items. */
static const tcall_node_ *tcall_re_after_(const tcall_node_ *node)
{
    bool items = (node->word & 0xFF) == TCALL_RE_CLASS_;
    return node + 1 + (items ? node->word >> (TCALL_RE_VALUE_ + 1) : 0);
}

/* Whether an assertion holds between two characters, -1: an end of the text. */
static bool tcall_re_holds_(uint32_t which, int32_t before, int32_t next)
{
    bool boundary = tcall_re_in_(TCALL_RE_WORD_, before) !=
                    tcall_re_in_(TCALL_RE_WORD_, next);
    return which == '^'   ? before < 0
           : which == '$' ? next < 0
           : which == 'b' ? boundary
                          : !boundary;
}

/* Activates all states that can be reached without taking a character (the
 * epsilon closure). Only splits lead backwards; then it goes over all again. */
static void tcall_re_closure_(const tcall_pattern *pattern, uint8_t *states,
                              int32_t before, int32_t next)
{
    const tcall_node_ *node, *end = pattern->program + pattern->count - 1;
    bool again = true;
    while (again) {
        uint8_t *state = states;
        again = false;
        for (node = pattern->program; node < end;
             node = tcall_re_after_(node)) {
            uint32_t op = node->word & 0xFF;
            uint32_t value = node->word >> TCALL_RE_VALUE_;
            uint32_t width = TCALL_RE_STATES_(node->arg);
            uint32_t k = TCALL_RE_LEAST_(node->arg);
            /* from here on what comes next may begin */
            while (k < width && !state[k])
                k++;
            if (k < width && (op != TCALL_RE_ASSERT_ ||
                              tcall_re_holds_(value, before, next))) {
                if (op != TCALL_RE_JUMP_)
                    state[width] = 1;
                if (op >= TCALL_RE_SPLIT_ && value && !states[value]) {
                    states[value] = 1;
                    again = again || states + value < state;
                }
            }
            state += width;
        }
    }
}

/* Takes a character: what matched goes on to the next state. */
static void tcall_re_step_(const tcall_pattern *pattern, uint8_t *state,
                           int32_t c)
{
    const tcall_node_ *node = pattern->program;
    const tcall_node_ *end = node + pattern->count - 1;
    int32_t other = tcall_re_other_(c, pattern->flags);
    bool arrives = false;
    for (; node < end; node = tcall_re_after_(node)) {
        uint32_t width = TCALL_RE_STATES_(node->arg), k;
        /* most nodes are not active: their characters are not looked at */
        bool active = memchr(state, 1, width) != NULL;
        bool matches = active && tcall_re_matches_(node, c, other);
        for (k = 0; k < width; k++, state++) {
            /* the old state is read before the one in front of it moves in */
            bool moves = *state && matches;
            bool stays = k + 1 == width && node->arg & TCALL_RE_AGAIN_;
            *state = arrives || (moves && stays);
            arrives = moves;
        }
    }
    *state = arrives;
}

/* One for each node's, and one for the match. */
size_t tcall_pattern_memory(const tcall_pattern *pattern)
{
    return pattern->states + 1;
}

const char *tcall_pattern_find(const tcall_pattern *pattern,
                               tcall_search *search, tcall_str piece, bool last)
{
    uint8_t *states = (uint8_t *)search->memory;
    const char *p = piece.ptr, *end = p + piece.len;
    if (!search->begun) {
        memset(states, 0, tcall_pattern_memory(pattern));
        search->before = -1;
        search->begun = true;
    }
    for (;;) {
        const char *at = p;
        int32_t next = p < end ? tcall_re_decode_(&p, end) : -1;
        if (next < 0 && !last)
            return NULL; /* what comes next is not known yet */
        states[0] = 1;   /* a match may begin anywhere */
        tcall_re_closure_(pattern, states, search->before, next);
        if (states[pattern->states])
            return at;
        if (next < 0)
            return NULL;
        tcall_re_step_(pattern, states, next);
        search->before = next;
    }
}

#endif /* TOOLCALL_NO_PATTERN */

/* ==========================================================================
 * >>schema: schemas become programs
 *
 * The program is the schema's outline in preorder: one node for each schema,
 * for each keyword, and for each list or map of schemas or names. The node of a
 * schema says what it is for (one of properties, one of anyOf, items ...) and
 * how many nodes are within, so that stepping over it is one addition. Names,
 * bounds and enums are compared where they stand, in the text.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* What a keyword applies its schemas to. */
enum {
    TCALL_TO_VALUE_,    /* the value itself */
    TCALL_TO_PRESENT_,  /* the value itself, if it has the named member */
    TCALL_TO_EACH_,     /* each element of an array, or name of an object */
    TCALL_TO_CHILDREN_, /* the members or elements that are for it */
    TCALL_TO_NOTHING_,  /* schemas that others refer to */
    TCALL_ASSERTS_      /* it has no schemas, it is true or false */
};

/* Which side of its number a keyword accepts. */
enum { TCALL_NO_BOUND_, TCALL_AT_LEAST_, TCALL_AT_MOST_ };

/* Sets of drafts, one bit for each tcall_draft: all; 2020-12; all others; from
 * 2019-09 on. */
enum {
    TCALL_IN_ALL_ = 0x1F,
    TCALL_IN_NEW_ = 0x01,
    TCALL_IN_OLD_ = 0x1E,
    TCALL_IN_LATE_ = 0x03
};

/* X(op, keyword, how its value begins, drafts, what it applies to, the type of
 * value it looks at (MISSING: any), its bound). How it begins: s: a schema,
 * *: anything, !: it is refused. */
#define TCALL_KEYWORDS_(X)                                                    \
    X(ANYOF, "anyOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(ONEOF, "oneOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(IF, "if", 's', ALL, TO_VALUE, MISSING, NO_BOUND)                        \
    X(ALLOF, "allOf", '[', ALL, TO_VALUE, MISSING, NO_BOUND)                  \
    X(NOT, "not", 's', ALL, TO_VALUE, MISSING, NO_BOUND)                      \
    X(REF, "$ref", '"', ALL, TO_VALUE, MISSING, NO_BOUND)                     \
    X(DEPENDENCIES, "dependencies", '{', ALL, TO_PRESENT, OBJECT, NO_BOUND)   \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", '{', LATE, TO_PRESENT, OBJECT,   \
      NO_BOUND)                                                               \
    X(DEPENDENT_REQUIRED, "dependentRequired", '{', LATE, TO_PRESENT, OBJECT, \
      NO_BOUND)                                                               \
    X(PROPERTIES, "properties", '{', ALL, TO_CHILDREN, OBJECT, NO_BOUND)      \
    X(PATTERNS, "patternProperties", '{', ALL, TO_CHILDREN, OBJECT, NO_BOUND) \
    X(ADDITIONAL, "additionalProperties", 's', ALL, TO_CHILDREN, OBJECT,      \
      NO_BOUND)                                                               \
    X(NAMES, "propertyNames", 's', ALL, TO_EACH, OBJECT, NO_BOUND)            \
    X(PREFIX, "prefixItems", '[', NEW, TO_CHILDREN, ARRAY, NO_BOUND)          \
    X(REST, "items", 's', ALL, TO_CHILDREN, ARRAY, NO_BOUND)                  \
    X(EXTRA, "additionalItems", 's', OLD, TO_CHILDREN, ARRAY, NO_BOUND)       \
    X(CONTAINS, "contains", 's', ALL, TO_EACH, ARRAY, NO_BOUND)               \
    X(THEN, "then", 's', ALL, TO_NOTHING, MISSING, NO_BOUND)                  \
    X(ELSE, "else", 's', ALL, TO_NOTHING, MISSING, NO_BOUND)                  \
    X(DEFS, "$defs", '{', ALL, TO_NOTHING, MISSING, NO_BOUND)                 \
    X(DEFINITIONS, "definitions", '{', ALL, TO_NOTHING, MISSING, NO_BOUND)    \
    X(PATTERN, "pattern", '"', ALL, ASSERTS, STRING, NO_BOUND)                \
    X(CONST, "const", '*', ALL, ASSERTS, MISSING, NO_BOUND)                   \
    X(ENUM, "enum", '[', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(REQUIRED, "required", '[', ALL, ASSERTS, OBJECT, NO_BOUND)              \
    X(MULTIPLE, "multipleOf", '0', ALL, ASSERTS, NUMBER, NO_BOUND)            \
    X(MINIMUM, "minimum", '0', ALL, ASSERTS, NUMBER, AT_LEAST)                \
    X(MAXIMUM, "maximum", '0', ALL, ASSERTS, NUMBER, AT_MOST)                 \
    X(ABOVE, "exclusiveMinimum", '0', ALL, ASSERTS, NUMBER, AT_LEAST)         \
    X(BELOW, "exclusiveMaximum", '0', ALL, ASSERTS, NUMBER, AT_MOST)          \
    X(MIN_LENGTH, "minLength", '0', ALL, ASSERTS, STRING, AT_LEAST)           \
    X(MAX_LENGTH, "maxLength", '0', ALL, ASSERTS, STRING, AT_MOST)            \
    X(MIN_ITEMS, "minItems", '0', ALL, ASSERTS, ARRAY, AT_LEAST)              \
    X(MAX_ITEMS, "maxItems", '0', ALL, ASSERTS, ARRAY, AT_MOST)               \
    X(MIN_PROPERTIES, "minProperties", '0', ALL, ASSERTS, OBJECT, AT_LEAST)   \
    X(MAX_PROPERTIES, "maxProperties", '0', ALL, ASSERTS, OBJECT, AT_MOST)    \
    X(MIN_CONTAINS, "minContains", '0', LATE, ASSERTS, MISSING, AT_LEAST)     \
    X(MAX_CONTAINS, "maxContains", '0', LATE, ASSERTS, MISSING, AT_MOST)      \
    X(UNIQUE, "uniqueItems", 't', ALL, ASSERTS, ARRAY, NO_BOUND)              \
    X(TYPE, "type", '*', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(DRAFT, "$schema", '"', ALL, ASSERTS, MISSING, NO_BOUND)                 \
    X(ID, "$id", '*', ALL, ASSERTS, MISSING, NO_BOUND)                        \
    X(OLD_ID, "id", '*', ALL, ASSERTS, MISSING, NO_BOUND)                     \
    X(DYNAMIC_REF, "$dynamicRef", '!', ALL, ASSERTS, MISSING, NO_BOUND)       \
    X(RECURSIVE_REF, "$recursiveRef", '!', ALL, ASSERTS, MISSING, NO_BOUND)   \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", '!', ALL, ASSERTS,     \
      MISSING, NO_BOUND)                                                      \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", '!', ALL, ASSERTS, MISSING,      \
      NO_BOUND)

enum {
#define TCALL_X_(op, name, begins, drafts, applies, type, bound) \
    TCALL_K_##op##_,
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
        TCALL_K_COUNT_,                     /* of keywords; other nodes: */
    TCALL_K_NAME_PATTERN_ = TCALL_K_COUNT_, /* of one of patternProperties */
    TCALL_K_INDEX_,                         /* a hash table of names */
    TCALL_K_SLOT_,
    TCALL_K_NEVER_ /* no node, but an error: a schema that is false */
};

typedef struct tcall_keyword_ {
    const char *name;
    char begins;
    uint8_t applies, type;
    unsigned drafts : 5, bound : 2;
} tcall_keyword_;

static const tcall_keyword_ tcall_keywords_[] = {
#define TCALL_X_(op, name, begins, drafts, applies, type, bound) \
    {name,                                                       \
     begins,                                                     \
     TCALL_##applies##_,                                         \
     TCALL_##type,                                               \
     TCALL_IN_##drafts##_,                                       \
     TCALL_##bound##_},
    TCALL_KEYWORDS_(TCALL_X_)
#undef TCALL_X_
    /* TCALL_K_NAME_PATTERN_ */
    {"pattern", '"', TCALL_TO_NOTHING_, TCALL_MISSING, 0, TCALL_NO_BOUND_}};

/* The types in the order of tcall_type, and integer. */
static const char *const tcall_type_names_[] = {
    "null", "boolean", "number", "string", "array", "object", "integer"};

static const struct {
    const char *uri;
    uint8_t draft;
} tcall_dialects_[] = {
    {"https://json-schema.org/draft/2020-12/schema", TCALL_DRAFT_2020},
    {"https://json-schema.org/draft/2019-09/schema", TCALL_DRAFT_2019},
    {"http://json-schema.org/draft-07/schema", TCALL_DRAFT_7},
    {"http://json-schema.org/draft-06/schema", TCALL_DRAFT_6},
    {"http://json-schema.org/draft-04/schema", TCALL_DRAFT_4}};

/* In arg of a node that has a span: the span; the length of its name when that
 * is short and plain; its types, one bit each in the order of tcall_type,
 * integer last; for one of properties: whether it is required. */
#define TCALL_SPAN_      0xFFFFFu
#define TCALL_LENGTH_    20
#define TCALL_TYPES_     24
#define TCALL_TYPES_ANY_ 0x7F000000u
#define TCALL_ANY_       0x3F000000u
#define TCALL_INTEGER_   0x40u
#define TCALL_MARKED_    0x80000000u
#define TCALL_NEVER_     0xFFFFFFFFu

/* The op of a keyword, TCALL_K_COUNT_: it is none. */
static int tcall_keyword_of_(tcall_str word)
{
    int op = 0;
    while (op < TCALL_K_COUNT_ &&
           !tcall_str_eq(tcall_str_of(tcall_keywords_[op].name), word))
        op++;
    return op;
}

/* The bit of a type in a schema's node, 0: there is no such type. */
static uint32_t tcall_type_bit_(tcall_str word)
{
    uint32_t i;
    for (i = 0; i < sizeof tcall_type_names_ / sizeof *tcall_type_names_; i++)
        if (tcall_str_eq(tcall_str_of(tcall_type_names_[i]), word))
            return (uint32_t)1 << (TCALL_TYPES_ + i);
    return 0;
}

/* In word: the op, whether it is a list or map, whether arg is a span, and
 * where in the schema's text it comes from. */
#define TCALL_OP_      0x3F
#define TCALL_IS_LIST_ 0x40
#define TCALL_SPANS_   0x80
#define TCALL_AT_      8

static int tcall_node_op_(const tcall_node_ *node)
{
    return (int)(node->word & TCALL_OP_);
}

/* Where in the schema's text it comes from: the name in front of a member of a
 * map, else the value. */
static const char *tcall_node_at_(const tcall_schema *s, uint32_t node)
{
    return s->text + (s->program[node].word >> TCALL_AT_);
}

/* Its value: no schema is a string. */
static const char *tcall_node_value_(const tcall_schema *s, uint32_t node)
{
    const char *at = tcall_node_at_(s, node);
    return *at == '"' ? tcall_text_value_(at) : at;
}

/* The node after this one and all that belongs to it. */
static uint32_t tcall_node_after_(const tcall_node_ *program, uint32_t i)
{
    return i +
           (program[i].word & TCALL_SPANS_ ? program[i].arg & TCALL_SPAN_ : 1);
}

/* The next node in the order of the text; the program of a pattern is none. */
static uint32_t tcall_node_into_(const tcall_node_ *program, uint32_t i)
{
    int op = tcall_node_op_(&program[i]);
    bool pattern = op == TCALL_K_PATTERN_ || op == TCALL_K_NAME_PATTERN_;
    return pattern ? tcall_node_after_(program, i) : i + 1;
}

/* The first child with this op, 0: none. (No child can be node 0.) */
static uint32_t tcall_node_child_(const tcall_node_ *program, uint32_t i,
                                  uint32_t end, int op)
{
    for (i++; i < end; i = tcall_node_after_(program, i))
        if (tcall_node_op_(&program[i]) == op)
            return i;
    return 0;
}

/* -- Names ---------------------------------------------------------------- */

/* Whether the member of a map at a node has this name. */
static inline bool tcall_node_named_(const tcall_schema *s, uint32_t node,
                                     const tcall_text_bytes_ *name)
{
    const char *quote = tcall_node_at_(s, node);
    uint32_t len = s->program[node].arg >> TCALL_LENGTH_ & 15;
    if (len && name->end) /* both are plain */
        return len == (size_t)(name->end - name->at) &&
               memcmp(quote + 1, name->at, len) == 0;
    return tcall_text_match_(tcall_text_bytes_of_(quote), *name);
}

/* Maps of more than a few members begin with a hash table: a header and one
 * node for each slot, whose arg says how far after the header the node of a
 * member is, 0: free. Names that hash alike are compared: it decides nothing
 * but time. Returns the slot that a name is in, or the free one for it. */
static uint32_t tcall_node_slot_(const tcall_schema *s, uint32_t index,
                                 const tcall_text_bytes_ *name, int32_t *steps)
{
    const tcall_node_ *program = s->program;
    uint32_t slots = (program[index].arg & TCALL_SPAN_) - 1;
    uint32_t i = tcall_text_hash_(*name) % slots;
    while (program[index + 1 + i].arg && --*steps >= 0 &&
           !tcall_node_named_(s, index + program[index + 1 + i].arg, name))
        i = (i + 1) % slots;
    return index + 1 + i;
}

/* The member of a map with this name, 0: none. Without an index the search
 * begins at next, after the member that was found last: names tend to come in
 * order. */
static uint32_t tcall_node_find_(const tcall_schema *s, uint32_t map,
                                 uint32_t next, const tcall_text_bytes_ *name,
                                 int32_t *steps)
{
    const tcall_node_ *program = s->program;
    uint32_t first = map + 1, end = tcall_node_after_(program, map), member;
    if (first == end)
        return 0;
    if (tcall_node_op_(&program[first]) == TCALL_K_INDEX_) {
        member = program[tcall_node_slot_(s, first, name, steps)].arg;
        return member ? first + member : 0;
    }
    member = next = next < end ? next : first;
    do {
        if (--*steps >= 0 && tcall_node_named_(s, member, name))
            return member;
        member = tcall_node_after_(program, member);
        if (member == end)
            member = first;
    } while (member != next);
    return 0;
}

/* -- Compiling ------------------------------------------------------------ */

/* Lists and maps with more members than this get an index. */
#define TCALL_FEW_ 16

/* The op of an open schema on the compiler's stack; others are lists and maps.
 */
#define TCALL_OPEN_ 0xFF

typedef struct tcall_sc_ {
    tcall_schema *out;
    const char *text;
    tcall_node_ *node;
    uint32_t cap, count; /* nodes that fit, and that there are */
    int32_t steps;
    int draft;
    const char *embedded; /* a subschema's own $id */
    uint32_t open; /* the schema, list or map that is being built; its span is
                    * the one around it yet */
    int depth;
    uint8_t kind[TOOLCALL_MAX_DEPTH + 2]; /* of all that are open */
} tcall_sc_;

/* Refuses the schema: what is wrong at p, and what the author can do. The first
 * refusal stays. Returns p, so that it can be returned. */
static const char *tcall_sc_refuse_(tcall_sc_ *c, const char *p,
                                    const char *reason, const char *remedy)
{
    if (!c->out->reason) {
        c->out->reason = reason;
        c->out->remedy = remedy;
        c->out->at = (size_t)(p - c->text);
    }
    return p;
}

/* Refuses a value that does not begin as its keyword asks for. */
static const char *tcall_sc_malformed_(tcall_sc_ *c, const char *p, char begins)
{
    const char *remedy = begins == '['   ? "use an array that is not empty"
                         : begins == '{' ? "use an object"
                         : begins == '"' ? "use a string"
                         : begins == '0' ? "use a number"
                         : begins == 't'
                             ? "use true or false"
                             : "use a schema: an object, true or false";
    return tcall_sc_refuse_(c, p, "wrong kind of value", remedy);
}

/* Nodes that do not fit are only counted. */
static uint32_t tcall_sc_emit_(tcall_sc_ *c, int op, const char *at,
                               uint32_t arg)
{
    if (c->count < c->cap) {
        c->node[c->count].word = (uint32_t)(at - c->text) << 8 | (uint32_t)op;
        c->node[c->count].arg = arg;
    }
    return c->count++;
}

/* A node that others will be within. */
static void tcall_sc_open_(tcall_sc_ *c, int op, const char *at, uint32_t arg)
{
    c->open = tcall_sc_emit_(c, op | TCALL_SPANS_, at, arg | c->open);
}

/* Gives the node that is open its span. */
static void tcall_sc_close_(tcall_sc_ *c)
{
    uint32_t open = c->open, parent;
    if (c->count > c->cap)
        return;
    parent = c->node[open].arg & TCALL_SPAN_;
    c->node[open].arg += c->count - open - parent;
    c->open = parent;
}

/* -- Patterns ------------------------------------------------------------- */

#ifndef TOOLCALL_NO_PATTERN

/* Compiles the pattern in the string at a quote; its program comes after its
 * node. */
static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *quote)
{
    uint32_t node = tcall_sc_emit_(c, op | TCALL_SPANS_, quote, 1);
    size_t room = c->count < c->cap ? c->cap - c->count : 0;
    tcall_pattern pattern;
    int r = tcall_pattern_compile(
        &pattern, tcall_text_inner_(quote), TCALL_PATTERN_ESCAPED,
        room ? c->node + c->count : NULL, room * sizeof *c->node);
    if (r == TCALL_E_INVALID)
        tcall_sc_refuse_(c, quote, pattern.reason, "change the pattern");
    c->count += pattern.count;
    if (node < c->cap)
        c->node[node].arg += pattern.count;
    if (c->out->search < tcall_pattern_memory(&pattern))
        c->out->search = (uint32_t)tcall_pattern_memory(&pattern);
}

#else

static void tcall_sc_pattern_(tcall_sc_ *c, int op, const char *quote)
{
    (void)op;
    tcall_sc_refuse_(c, quote, "patterns are left out of this program",
                     "build it without TOOLCALL_NO_PATTERN");
}

#endif

/* -- Lists and maps ------------------------------------------------------- */

/* Emits an empty index for a map, if it has more than a few members. */
TCALL_NOINLINE_ static void tcall_sc_index_(tcall_sc_ *c, const char *map)
{
    const char *key;
    uint32_t members = 0, slots;
    for (key = tcall_text_next_(map + 1); !tcall_text_closes_(key);
         key = tcall_text_next_(tcall_text_skip_(tcall_text_value_(key))))
        members++;
    if (members <= TCALL_FEW_)
        return;
    slots = members + members / 2;
    tcall_sc_emit_(c, TCALL_K_INDEX_ | TCALL_SPANS_, map, slots + 1);
    while (slots--)
        tcall_sc_emit_(c, TCALL_K_SLOT_, map, 0);
}

/* All members of the open list or map are there: they go into its index, if it
 * has one. */
static void tcall_sc_close_list_(tcall_sc_ *c)
{
    uint32_t index = c->open + 1, i;
    tcall_sc_close_(c);
    if (c->count > c->cap || index == c->count ||
        tcall_node_op_(&c->node[index]) != TCALL_K_INDEX_)
        return;
    for (i = tcall_node_after_(c->node, index); i < c->count && c->steps > 0;
         i = tcall_node_after_(c->node, i)) {
        const char *quote = tcall_node_at_(c->out, i);
        tcall_text_bytes_ name = tcall_text_bytes_of_(quote);
        uint32_t slot = tcall_node_slot_(c->out, index, &name, &c->steps);
        if (c->node[slot].arg)
            tcall_sc_refuse_(c, quote, "name given twice", "keep one");
        c->node[slot].arg = i - index;
    }
}

/* Marks the properties that are required: they are counted when they are met.
 */
static void tcall_sc_require_(tcall_sc_ *c, uint32_t schema)
{
    tcall_node_ *node = c->node;
    uint32_t map =
        tcall_node_child_(node, schema, c->count, TCALL_K_PROPERTIES_);
    uint32_t list =
        tcall_node_child_(node, schema, c->count, TCALL_K_REQUIRED_);
    uint32_t i = list + 1, next = map + 1;
    for (; map && list && i < tcall_node_after_(node, list); i++) {
        tcall_text_bytes_ name =
            tcall_text_bytes_of_(tcall_node_at_(c->out, i));
        uint32_t property =
            tcall_node_find_(c->out, map, next, &name, &c->steps);
        if (!property)
            continue;
        node[property].arg |= TCALL_MARKED_;
        next = tcall_node_after_(node, property);
    }
}

/* Up to draft 7 nothing beside a $ref counts: whoever wrote it meant it. */
static void tcall_sc_beside_(tcall_sc_ *c, uint32_t schema)
{
    uint32_t i;
    bool typed = (c->node[schema].arg & TCALL_TYPES_ANY_) != TCALL_ANY_;
    if (c->draft < TCALL_DRAFT_7 ||
        !tcall_node_child_(c->node, schema, c->count, TCALL_K_REF_))
        return;
    for (i = schema + 1; i < c->count; i = tcall_node_after_(c->node, i)) {
        int op = tcall_node_op_(&c->node[i]);
        bool empty = c->node[i].word & TCALL_IS_LIST_ &&
                     tcall_node_after_(c->node, i) == i + 1;
        bool kept = empty || op == TCALL_K_REF_ || op == TCALL_K_DEFS_ ||
                    op == TCALL_K_DEFINITIONS_;
        if (!kept || typed)
            tcall_sc_refuse_(c, tcall_node_at_(c->out, i),
                             "keyword beside $ref, which this draft ignores",
                             "put both into allOf, or use draft 2020-12");
    }
}

/* All of the open schema's nodes are there. */
static void tcall_sc_close_schema_(tcall_sc_ *c)
{
    uint32_t schema = c->open;
    tcall_sc_close_(c);
    if (c->count > c->cap)
        return;
    tcall_sc_require_(c, schema);
    tcall_sc_beside_(c, schema);
}

/* The length of the name at a quote, where it is short and plain. */
static uint32_t tcall_sc_plain_(const char *quote)
{
    uint32_t len = 0;
    if (*quote != '"')
        return 0;
    while (len < 15 && quote[len + 1] != '"' && quote[len + 1] != '\\')
        len++;
    return quote[len + 1] == '"' ? len << TCALL_LENGTH_ : 0;
}

/* required: a node for each name. */
static void tcall_sc_names_(tcall_sc_ *c, const char *p)
{
    tcall_sc_open_(c, TCALL_K_REQUIRED_ | TCALL_IS_LIST_, p, 0);
    for (p = tcall_text_next_(p + 1); *p == '"';
         p = tcall_text_next_(tcall_text_skip_(p)))
        tcall_sc_emit_(c, TCALL_K_REQUIRED_, p, tcall_sc_plain_(p));
    if (*p != ']')
        tcall_sc_malformed_(c, p, '"');
    tcall_sc_close_(c);
}

/* A schema starts at p; at is where its node says it comes from. */
static const char *tcall_sc_schema_(tcall_sc_ *c, int op, const char *at,
                                    const char *p)
{
    bool schema = *p == '{' || *p == 't' || *p == 'f';
    bool names = *p == '[' && (op == TCALL_K_DEPENDENT_REQUIRED_ ||
                               op == TCALL_K_DEPENDENCIES_);
    if (op == TCALL_K_DEPENDENT_REQUIRED_ ? !names : !schema && !names)
        return tcall_sc_malformed_(c, p, names || schema ? '[' : 's');
    tcall_sc_open_(c, op, at,
                   (*p == 'f' ? 0 : TCALL_ANY_) | tcall_sc_plain_(at));
    if (op == TCALL_K_PATTERNS_)
        tcall_sc_pattern_(c, TCALL_K_NAME_PATTERN_, at);
    if (*p == '{') {
        c->kind[c->depth++] = TCALL_OPEN_;
        return p + 1;
    }
    if (names)
        tcall_sc_names_(c, p);
    tcall_sc_close_schema_(c);
    return tcall_text_skip_(p);
}

/* -- Keywords ------------------------------------------------------------- */

/* One type or an array of them, into the schema's own node. */
TCALL_NOINLINE_ static void tcall_sc_type_(tcall_sc_ *c, const char *p)
{
    tcall_node_ *node;
    const char *at = p;
    uint32_t types = 0;
    if (*p == '[')
        p = tcall_text_next_(p + 1);
    do {
        uint32_t bit = *p == '"' ? tcall_type_bit_(tcall_text_inner_(p)) : 0;
        if (!bit) {
            tcall_sc_refuse_(c, *p == ']' ? at : p, "unknown type",
                             "use object, array, string, number, integer, "
                             "boolean or null");
            return;
        }
        types |= bit;
        p = tcall_text_next_(tcall_text_skip_(p));
    } while (*at == '[' && *p != ']');
    if (c->open >= c->cap)
        return;
    node = &c->node[c->open];
    if ((node->arg & TCALL_TYPES_ANY_) != TCALL_ANY_)
        tcall_sc_refuse_(c, at, "keyword given twice", "keep one");
    node->arg ^= TCALL_ANY_ ^ types;
}

/* The first digits as an integer; NEVER where ten times that is too much. */
static uint32_t tcall_num_digits_value_(const tcall_num_ *n, int digits)
{
    const char *p = n->first;
    uint32_t value = 0;
    for (; digits > 0 && n->sign; digits--) {
        if (value >= 42000000)
            return TCALL_NEVER_;
        value = value * 10 + (uint32_t)tcall_num_digit_(n, &p);
    }
    return value;
}

/* Whether the keyword's number counts something. */
static bool tcall_keyword_counts_(int op)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[op];
    return keyword->begins == '0' && keyword->type != TCALL_NUMBER;
}

/* Bounds stay in the text, their length is kept; counts are read. */
TCALL_NOINLINE_ static void tcall_sc_number_(tcall_sc_ *c, int op,
                                             const char *p)
{
    tcall_str text = tcall_text_verbatim_(p);
    tcall_num_ n = tcall_num_read_(text);
    uint32_t arg = (uint32_t)text.len;
    if (tcall_keyword_counts_(op)) {
        arg = tcall_num_digits_value_(&n, n.top + 1);
        if (!tcall_num_integral_(&n) || n.sign < 0)
            tcall_sc_refuse_(c, p, "impossible count",
                             "use a whole number, 0 or more");
    } else if (op == TCALL_K_MULTIPLE_ &&
               (n.sign <= 0 || n.top < -308 || n.top > 308 ||
                tcall_num_digits_value_(&n, tcall_num_digits_(&n)) ==
                    TCALL_NEVER_)) {
        tcall_sc_refuse_(c, p, "unsupported divisor",
                         "use a number over 0 with at most 8 digits");
    }
    tcall_sc_emit_(c, op, p, arg);
}

/* The draft that the value of a $schema names, -1: none that is known. */
static int tcall_sc_draft_of_(const char *p)
{
    tcall_str uri = *p == '"' ? tcall_text_inner_(p) : tcall_slice_(p, 0);
    size_t i;
    if (uri.len && uri.ptr[uri.len - 1] == '#') /* an empty fragment */
        uri.len--;
    for (i = 0; i < sizeof tcall_dialects_ / sizeof *tcall_dialects_; i++)
        if (tcall_str_eq(tcall_str_of(tcall_dialects_[i].uri), uri))
            return tcall_dialects_[i].draft;
    return -1;
}

/* Whether the keyword at key can be used here, and refuses it if not. A keyword
 * of another draft was meant by whoever wrote it. */
static bool tcall_sc_usable_(tcall_sc_ *c, int op, const char *key)
{
    const tcall_keyword_ *keyword = &tcall_keywords_[op];
    if (keyword->begins == '!')
        tcall_sc_refuse_(c, key, "unsupported keyword", "leave it out");
    else if (!(keyword->drafts >> c->draft & 1))
        tcall_sc_refuse_(c, key, "keyword of another draft",
                         "name its draft in $schema");
    return !c->out->reason;
}

/* A keyword that has no schemas; p: its value. */
static void tcall_sc_assert_(tcall_sc_ *c, int op, const char *key,
                             const char *p)
{
    switch (op) {
    case TCALL_K_PATTERN_: tcall_sc_pattern_(c, op, p); break;
    case TCALL_K_REQUIRED_: tcall_sc_names_(c, p); break;
    case TCALL_K_TYPE_: tcall_sc_type_(c, p); break;
    case TCALL_K_DRAFT_:
        if (tcall_sc_draft_of_(p) != c->draft)
            tcall_sc_refuse_(c, p, "unknown $schema",
                             "use https://json-schema.org/draft/2020-12/schema "
                             "or http://json-schema.org/draft-07/schema");
        break;
    case TCALL_K_OLD_ID_:
        if (c->draft != TCALL_DRAFT_4)
            break; /* fall through */
    case TCALL_K_ID_:
        if (c->depth > 1 && *p == '"' && p[1] != '#')
            c->embedded = key;
        break;
    case TCALL_K_UNIQUE_:
        if (*p == 't')
            tcall_sc_emit_(c, op, p, 0);
        break;
    case TCALL_K_REF_: /* its target is found when all nodes are there */
        tcall_sc_emit_(c, op, p, TCALL_MARKED_);
        break;
    default:
        if (tcall_keywords_[op].begins == '0')
            tcall_sc_number_(c, op, p);
        else
            tcall_sc_emit_(c, op, p, 0);
    }
}

/* One keyword of the schema that is open; p: its value. */
static const char *tcall_sc_keyword_(tcall_sc_ *c, const char *key,
                                     const char *p)
{
    tcall_str name = tcall_text_inner_(key);
    int op = tcall_keyword_of_(name);
    char begins;
    if (memchr(name.ptr, '\\', name.len))
        return tcall_sc_refuse_(c, key, "keyword with escapes",
                                "write it plainly");
    if (op == TCALL_K_COUNT_)
        return tcall_text_skip_(p);
    if (!tcall_sc_usable_(c, op, key))
        return key;
    if (op == TCALL_K_REST_ && *p == '[' && c->draft != TCALL_DRAFT_2020)
        op = TCALL_K_PREFIX_; /* as it was called then */
    if (c->count <= c->cap && tcall_node_child_(c->node, c->open, c->count, op))
        return tcall_sc_refuse_(c, key, "keyword given twice", "keep one");
    begins = tcall_keywords_[op].begins;
    if (begins == 's')
        return tcall_sc_schema_(c, op, p, p);
    if (begins != '*' && tcall_type_at_(&begins) != tcall_type_at_(p))
        return tcall_sc_malformed_(c, p, begins);
    if (tcall_keywords_[op].applies == TCALL_ASSERTS_ || op == TCALL_K_REF_) {
        tcall_sc_assert_(c, op, key, p);
        return tcall_text_skip_(p);
    }
    if (*p == '[' && !tcall_text_first_(p))
        tcall_sc_malformed_(c, p, '[');
    tcall_sc_open_(c, op | TCALL_IS_LIST_, p, 0);
    if (*p == '{')
        tcall_sc_index_(c, p);
    c->kind[c->depth++] = (uint8_t)op;
    return p + 1;
}

/* From one bracket or comma to the next, all the way through. */
static void tcall_sc_outline_(tcall_sc_ *c, const char *p)
{
    p = tcall_sc_schema_(c, TCALL_K_ALLOF_, p, p);
    while (c->depth && !c->out->reason) {
        int kind = c->kind[c->depth - 1];
        const char *key = p = tcall_text_next_(p);
        if (tcall_text_closes_(p)) {
            c->depth--;
            if (kind == TCALL_OPEN_)
                tcall_sc_close_schema_(c);
            else
                tcall_sc_close_list_(c);
            p++;
            continue;
        }
        if (kind == TCALL_OPEN_ || tcall_keywords_[kind].begins == '{')
            p = tcall_text_value_(key);
        p = kind == TCALL_OPEN_ ? tcall_sc_keyword_(c, key, p)
                                : tcall_sc_schema_(c, kind, key, p);
    }
}

/* -- $ref ----------------------------------------------------------------- */

#define TCALL_NAME_MAX_ 64

/* Decodes the next name of a JSON Pointer in the fragment of a URI, from after
 * its '/' on. Returns its length, -1 when it is malformed or too long. */
static int tcall_sc_step_(const char **at, char name[TCALL_NAME_MAX_])
{
    const char *p = *at;
    int len = 0;
    for (; *p != '/' && *p != '"'; len++) {
        if (*p == '\\' || len == TCALL_NAME_MAX_)
            return -1;
        if (*p == '%') {
            int high = tcall_hex_(p[1]), low = high < 0 ? -1 : tcall_hex_(p[2]);
            if (low < 0)
                return -1;
            name[len] = (char)(high << 4 | low);
            p += 3;
        } else {
            name[len] = *p++;
        }
    }
    *at = p;
    return tcall_pointer_unescape_(name, len);
}

/* The element of a list, 0: none. */
static uint32_t tcall_sc_element_(tcall_sc_ *c, uint32_t list, tcall_str name)
{
    uint32_t index = 0, end = tcall_node_after_(c->node, list), i;
    size_t digit;
    if (!name.len || name.len > 5 || (*name.ptr == '0' && name.len > 1))
        return 0;
    for (digit = 0; digit < name.len; digit++) {
        if (!tcall_is_digit_(name.ptr[digit]))
            return 0;
        index = index * 10 + (uint32_t)(name.ptr[digit] - '0');
    }
    for (i = list + 1; i < end; i = tcall_node_after_(c->node, i))
        if (!index-- || --c->steps <= 0)
            return i;
    return 0;
}

/* The node that a name of a JSON Pointer leads to: from a list or map to one of
 * its schemas, from a schema to the schema or list of a keyword; 0: none. */
static uint32_t tcall_sc_follow_(tcall_sc_ *c, uint32_t from, tcall_str name)
{
    const tcall_node_ *node = c->node;
    uint32_t end = tcall_node_after_(node, from), to;
    tcall_text_bytes_ bytes = tcall_text_bytes_in_(name);
    int op = tcall_keyword_of_(name);
    if (node[from].word & TCALL_IS_LIST_)
        return *tcall_node_at_(c->out, from) == '['
                   ? tcall_sc_element_(c, from, name)
                   : tcall_node_find_(c->out, from, from + 1, &bytes,
                                      &c->steps);
    if (op == TCALL_K_COUNT_ || op == TCALL_K_REF_ ||
        tcall_keywords_[op].applies == TCALL_ASSERTS_)
        return 0;
    to = tcall_node_child_(node, from, end, op);
    if (!to && op == TCALL_K_REST_ && c->draft != TCALL_DRAFT_2020)
        to = tcall_node_child_(node, from, end, TCALL_K_PREFIX_);
    return to;
}

/* The schema that the fragment of a URI leads to; false: none. */
static bool tcall_sc_target_(tcall_sc_ *c, const char *p, uint32_t *schema)
{
    const char *value;
    *schema = 0;
    while (*p == '/') {
        char name[TCALL_NAME_MAX_];
        int len;
        p++;
        len = tcall_sc_step_(&p, name);
        if (len >= 0)
            *schema =
                tcall_sc_follow_(c, *schema, tcall_slice_(name, (size_t)len));
        if (len < 0 || !*schema)
            return false;
    }
    value = tcall_node_value_(c->out, *schema);
    return !(c->node[*schema].word & TCALL_IS_LIST_) && *value != '[';
}

/* Finds the schema that a $ref means. */
static void tcall_sc_resolve_(tcall_sc_ *c, tcall_node_ *ref)
{
    const char *at = c->text + (ref->word >> TCALL_AT_), *p = at + 2;
    uint32_t schema;
    if (c->embedded)
        tcall_sc_refuse_(c, c->embedded, "$id within a schema that has $refs",
                         "leave it out");
    if (at[1] != '#' || (*p != '"' && *p != '/'))
        tcall_sc_refuse_(c, at, "$ref to another document",
                         "use a JSON Pointer such as #/$defs/name");
    else if (!tcall_sc_target_(c, p, &schema))
        tcall_sc_refuse_(c, at, "$ref that leads to no schema",
                         "define one there");
    else
        ref->arg = schema | TCALL_MARKED_;
    c->steps--;
}

/* The first $ref that applies to the same value as the schema at i, directly
 * or through anyOf, if and the like, and that is marked; 0: none. */
static uint32_t tcall_sc_marked_(tcall_sc_ *c, uint32_t i)
{
    uint32_t end = tcall_node_after_(c->node, i);
    for (i++; i < end && --c->steps > 0;) {
        int op = tcall_node_op_(&c->node[i]);
        bool same = op == TCALL_K_THEN_ || op == TCALL_K_ELSE_ ||
                    (op < TCALL_K_COUNT_ &&
                     tcall_keywords_[op].applies <= TCALL_TO_PRESENT_);
        if (op == TCALL_K_REF_ && c->node[i].arg & TCALL_MARKED_)
            return i;
        i = same ? i + 1 : tcall_node_after_(c->node, i);
    }
    return 0;
}

/* Finds what $refs mean, and refuses those that lead back to themselves without
 * going into the value: no check would ever end. Each is marked until all that
 * it leads to are known to end. */
TCALL_NOINLINE_ static void tcall_sc_refs_(tcall_sc_ *c)
{
    uint32_t i, left;
    bool more;
    for (i = 0; i < c->count && !c->out->reason;
         i = tcall_node_into_(c->node, i))
        if (tcall_node_op_(&c->node[i]) == TCALL_K_REF_)
            tcall_sc_resolve_(c, &c->node[i]);
    do {
        more = false;
        left = 0;
        for (i = 0; i < c->count && !c->out->reason;
             i = tcall_node_into_(c->node, i)) {
            tcall_node_ *ref = &c->node[i];
            if (tcall_node_op_(ref) != TCALL_K_REF_ || ref->arg < TCALL_MARKED_)
                continue;
            if (tcall_sc_marked_(c, ref->arg & TCALL_SPAN_)) {
                left = i;
            } else {
                ref->arg &= TCALL_SPAN_;
                more = true;
            }
        }
    } while (more && left && c->steps > 0);
    if (left && !c->out->reason && c->steps > 0)
        tcall_sc_refuse_(c, tcall_node_at_(c->out, left),
                         "$ref that leads to itself",
                         "let it go through properties or items");
}

/* -- Entry ---------------------------------------------------------------- */

/* The root's $schema counts from the beginning, wherever it stands. */
static void tcall_sc_run_(tcall_sc_ *c)
{
    const char *root = tcall_text_space_(c->text);
    const char *dialect = tcall_text_get_(root, "$schema");
    int draft = dialect ? tcall_sc_draft_of_(dialect) : -1;
    if (draft >= 0)
        c->draft = draft;
    tcall_sc_outline_(c, root);
    if (c->count > TCALL_SPAN_)
        tcall_sc_refuse_(c, root, "too many keywords", "split the schema");
    if (c->count <= c->cap)
        tcall_sc_refs_(c);
    if (c->steps <= 0)
        tcall_sc_refuse_(c, root, "too many steps to compile",
                         "use fewer $refs that lead to each other");
}

/* Compiles text that is one JSON value. Apart from the scan that comes first,
 * so that not both need their stack at the same time. */
TCALL_NOINLINE_ static int tcall_sc_compile_(tcall_schema *out, void *mem,
                                             size_t size, tcall_draft draft)
{
    size_t pad = (0 - (size_t)(uintptr_t)mem) & 3;
    tcall_sc_ c;
    memset(&c, 0, sizeof c);
    c.out = out;
    c.text = out->text;
    if (mem && size > pad) {
        size = (size - pad) / sizeof *c.node;
        c.cap = (uint32_t)(size < TCALL_SPAN_ ? size : TCALL_SPAN_);
        c.node = (tcall_node_ *)(void *)((char *)mem + pad);
    }
    c.steps = TOOLCALL_MAX_STEPS;
    c.draft = (int)draft;
    out->program = c.node;
    tcall_sc_run_(&c);
    out->need = c.count * sizeof *c.node + pad;
    if (out->reason)
        return TCALL_E_SCHEMA;
    if (c.count > c.cap)
        return TCALL_E_MEMORY;
    out->nodes = c.count; /* only now: nothing is checked against the rest */
    return (int)out->need;
}

int tcall_schema_compile(tcall_schema *out, tcall_str text, void *mem,
                         size_t size, tcall_draft draft)
{
    int r = tcall_scan_whole_(text);
    memset(out, 0, sizeof *out);
    if (r == TCALL_OK && text.len >= 0xFFFFFF)
        r = TCALL_E_LIMIT;
    if (r < 0) {
        out->reason = tcall_error_text(r);
        return TCALL_E_SCHEMA;
    }
    out->text = text.ptr;
    return tcall_sc_compile_(out, mem, size, draft);
}

#endif /* TOOLCALL_NO_SCHEMA */

/* ==========================================================================
 * >>schema_check: values against a schema
 *
 * Checking is one loop over a stack of small frames, one per schema that is at
 * work on a value. Each turn looks at the next node of the top frame: an
 * assertion is decided at once, a schema is applied to the next value that it
 * is for, which may push a frame; what that says is counted or is an error. The
 * members of an object and the elements of an array are gone through once, each
 * with all that is for it.
 * Quiet frames (in anyOf, not, if ...) stop at the first error and report none.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* A schema at work on a value. */
typedef struct tcall_ev_frame_ {
    uint8_t flags;
    uint8_t type;      /* of the value, as the schema sees it */
    uint8_t holding;   /* anyOf, oneOf: how many hold, 2: several */
    uint32_t schema;   /* its node */
    uint32_t pc;       /* the keyword that is at work */
    uint32_t tok;      /* the value */
    uint32_t cur;      /* the value that pc was applied to last, or NEVER */
    uint32_t met;      /* required properties that were met */
    uint32_t required; /* the list of their names, or 0 */
    union {
        struct {              /* of a keyword that asks */
            uint32_t branch;  /* the schema that decides: then, one of anyOf */
            uint32_t reached; /* how far that came */
            uint32_t matches; /* contains: how many elements match */
        } ask;
        struct {            /* of all that are for members or elements */
            uint32_t at;    /* the schema applied to cur last, or 0 */
            uint32_t first; /* properties or prefixItems */
            uint32_t next;  /* what comes after the one that was found last */
            uint32_t patterns; /* patternProperties */
            uint32_t others;   /* additionalProperties, items */
        } walk;
    } by;
} tcall_ev_frame_;

enum {
    TCALL_F_BAD_ = 1,
    TCALL_F_QUIET_ = 2,   /* stop at the first error, report none */
    TCALL_F_STRICT_ = 4,  /* no coercion */
    TCALL_F_DRY_ = 8,     /* coerce, but mark nothing */
    TCALL_F_ALIKE_ = 14,  /* what a schema hands down */
    TCALL_F_TEST_ = 6,    /* what it hands down to ask a question */
    TCALL_F_RETRY_ = 16,  /* choices: once more, with coercion */
    TCALL_F_LAST_ = 32,   /* the branch is at work and decides */
    TCALL_F_ABSENT_ = 64, /* the null at cur may count as absent */
    TCALL_F_WALKED_ = 128 /* members or elements have been checked */
};

/* No answer yet: a frame is at work on it. */
#define TCALL_PUSHED_ (-1)

typedef struct tcall_ev_ {
    const tcall_schema *s;
    const tcall_node_ *program;
    tcall_check *check;
    const char *text; /* of the value */
    tcall_tok *tok;   /* the value's own is the first */
    tcall_ev_frame_ *frame;
    size_t pad, size; /* of the scratch memory */
    uint32_t depth;   /* frames */
    int32_t steps;
    int error;
    uint32_t progress; /* of the last error, reported or not: its token, and
                        * what failed was not the type */
    uint32_t num_tok;  /* the token that num was read from */
    tcall_num_ num;
} tcall_ev_;

static tcall_str tcall_ev_of_(const tcall_ev_ *e, uint32_t tok)
{
    return tcall_tok_str_(e->text, &e->tok[tok]);
}

static unsigned tcall_ev_kind_(const tcall_ev_ *e, uint32_t tok)
{
    return (unsigned)e->tok[tok].type & TCALL_TYPE_;
}

static uint32_t tcall_ev_after_(const tcall_ev_ *e, uint32_t tok)
{
    return tok + (uint32_t)e->tok[tok].span;
}

/* The number at hand, read once for all keywords that look at it. */
static const tcall_num_ *tcall_ev_num_(tcall_ev_ *e, uint32_t tok)
{
    if (e->num_tok != tok)
        e->num = tcall_num_read_(tcall_ev_of_(e, tok));
    e->num_tok = tok;
    return &e->num;
}

/* Notes an error, unless the flags are those of a question. */
static void tcall_ev_error_(tcall_ev_ *e, unsigned flags,
                            tcall_validation_error error)
{
    tcall_check *check = e->check;
    bool typed =
        error.keyword == TCALL_K_TYPE_ || error.keyword == TCALL_K_NEVER_;
    e->progress = 2 * error.tok + !typed;
    if (flags & TCALL_F_QUIET_)
        return;
    if (check->errors && check->error_count < check->error_cap)
        check->errors[check->error_count] = error;
    check->error_count++;
}

static tcall_validation_error tcall_ev_wrong_(uint32_t tok, int keyword,
                                              uint32_t node, uint32_t count)
{
    tcall_validation_error error;
    error.tok = tok;
    error.node = node;
    error.count = count;
    error.keyword = (uint32_t)keyword;
    return error;
}

/* The frame's value fails at a node. */
static void tcall_ev_fails_(tcall_ev_ *e, tcall_ev_frame_ *f, uint32_t node,
                            uint32_t count)
{
    int op = tcall_node_op_(&e->program[node]);
    tcall_ev_error_(e, f->flags, tcall_ev_wrong_(f->tok, op, node, count));
    f->flags |= TCALL_F_BAD_;
}

/* Whether a frame is done: it failed, and nobody asks for what else is wrong.
 */
static bool tcall_ev_over_(const tcall_ev_frame_ *f)
{
    const unsigned both = TCALL_F_BAD_ | TCALL_F_QUIET_;
    return (f->flags & both) == both;
}

/* Scratch above the frames. NULL, with the error, when there is too little. */
static void *tcall_ev_scratch_(tcall_ev_ *e, size_t size)
{
    size_t frames = e->pad + e->depth * sizeof *e->frame;
    if (e->check->need < frames + size)
        e->check->need = frames + size;
    if (frames + size <= e->size)
        return (char *)e->check->memory + frames;
    if (!e->error)
        e->error = TCALL_E_MEMORY;
    return NULL;
}

TCALL_NOINLINE_ static bool tcall_ev_match_(tcall_ev_ *e, uint32_t node,
                                            uint32_t tok)
{
#ifndef TOOLCALL_NO_PATTERN
    tcall_str text = tcall_ev_of_(e, tok);
    tcall_pattern pattern;
    tcall_search search;
    size_t cost;
    memset(&pattern, 0, sizeof pattern);
    memset(&search, 0, sizeof search);
    pattern.program = &e->program[node + 1];
    pattern.count = tcall_node_after_(e->program, node) - node - 1;
    pattern.states = pattern.program[pattern.count - 1].word >> TCALL_RE_VALUE_;
    search.memory = tcall_ev_scratch_(e, e->s->search);
    /* each character costs as much as the pattern is large */
    cost = (text.len + 1) * (1 + pattern.states / 16);
    e->steps = cost < TOOLCALL_MAX_STEPS ? e->steps - (int32_t)cost : -1;
    if (search.memory && e->steps >= 0)
        return tcall_pattern_find(&pattern, &search, text, true) != NULL;
#else
    (void)e, (void)node, (void)tok;
#endif
    return false;
}

static uint32_t tcall_ev_end_(const tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    return tcall_node_after_(e->program, f->schema);
}

/* Whether the frame's object has the member that a node names. The search
 * begins at *key, after the one that was found last. */
static bool tcall_ev_find_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           uint32_t node, uint32_t *key)
{
    uint32_t first = f->tok + 1, end = tcall_ev_after_(e, f->tok), from = *key;
    bool found = false;
    if (first == end)
        return false;
    do {
        tcall_text_bytes_ name = tcall_text_bytes_in_(tcall_ev_of_(e, *key));
        found = --e->steps >= 0 && tcall_node_named_(e->s, node, &name);
        *key = tcall_ev_after_(e, *key + 1);
        if (*key == end)
            *key = first;
    } while (!found && *key != from);
    return found;
}

/* Is the value like the JSON text at p, but for what is within them? type: what
 * the value counts as. */
static bool tcall_ev_alike_(tcall_ev_ *e, uint32_t tok, unsigned type,
                            const char *p)
{
    tcall_str s = tcall_ev_of_(e, tok);
    tcall_num_ n;
    if (--e->steps < 0 || tcall_type_at_(p) != type)
        return false;
    if (type == TCALL_STRING)
        return tcall_text_same_(p, s);
    if (type != TCALL_NUMBER)
        return type >= TCALL_ARRAY || *p == (*s.ptr | 0x20);
    n = tcall_num_read_(tcall_text_verbatim_(p));
    return tcall_num_compare_(tcall_ev_num_(e, tok), &n) == 0;
}

/* Is the value equal to the JSON text at p? While they are compared the mark of
 * a container says where in that text its like begins. */
static bool tcall_ev_is_(tcall_ev_ *e, uint32_t tok, unsigned type,
                         const char *p)
{
    uint32_t i = tok, end;
    bool same;
    if (*p == '"')
        return type == TCALL_STRING &&
               tcall_text_same_(p, tcall_ev_of_(e, tok));
    same = tcall_ev_alike_(e, tok, type, p);
    for (end = tcall_ev_after_(e, tok); i < end; i++) {
        unsigned kind = tcall_ev_kind_(e, i), object = kind - TCALL_ARRAY;
        uint32_t x = i + 1 + object, stop = tcall_ev_after_(e, i);
        const char *all, *y, *next;
        bool closes;
        if (kind < TCALL_ARRAY)
            continue;
        all = p + e->tok[i].mark;
        e->tok[i].mark = TCALL_MARK_NONE_;
        for (next = all + 1; same; x = tcall_ev_after_(e, x) + object) {
            y = next = tcall_text_next_(next);
            closes = tcall_text_closes_(y);
            same = closes == (x >= stop);
            if (closes || !same)
                break;
            if (object) {
                next = tcall_text_value_(y);
                y = tcall_text_member_(all, tcall_ev_of_(e, x - 1));
                y = y ? tcall_text_value_(y) : all;
                e->steps -= (int32_t)(y - all) / 16;
            }
            same = y > all && tcall_ev_alike_(e, x, tcall_ev_kind_(e, x), y);
            if (same && tcall_ev_kind_(e, x) >= TCALL_ARRAY)
                e->tok[x].mark = (int)(y - p);
            next = tcall_text_skip_(next);
        }
    }
    return same;
}

static bool tcall_ev_enum_(tcall_ev_ *e, const tcall_ev_frame_ *f,
                           const char *p)
{
    for (p = tcall_text_next_(p + 1); *p != ']' && e->steps >= 0;
         p = tcall_text_next_(tcall_text_skip_(p)))
        if (tcall_ev_is_(e, f->tok, f->type, p))
            return true;
    return false;
}

/* A hash that equal values share: the sum of those of all scalars and names
 * within, whatever their order. */
static uint32_t tcall_ev_hash_(tcall_ev_ *e, uint32_t tok)
{
    uint32_t sum = 0, end = tcall_ev_after_(e, tok), i;
    for (i = tok; i < end; i++) {
        uint32_t hash = tcall_ev_kind_(e, i) + 1;
        tcall_num_ n;
        const char *digit;
        if (hash > TCALL_ARRAY) { /* 1 and [1] differ */
            sum += hash;
        } else if (hash != TCALL_NUMBER + 1) {
            sum += tcall_hash_more_(hash, tcall_ev_of_(e, i));
        } else { /* 1 and 1.0 do not */
            n = tcall_num_read_(tcall_ev_of_(e, i));
            hash += (uint32_t)(n.top * 4 + n.sign);
            for (digit = n.first; digit && digit <= n.last;)
                hash = hash * 31 + (uint32_t)tcall_num_digit_(&n, &digit);
            sum += n.sign ? hash * 2654435769u : 1;
        }
    }
    return sum;
}

/* A slot of the hash table of elements; element 0: free. */
typedef struct tcall_ev_slot_ {
    uint32_t hash, element;
} tcall_ev_slot_;

/* Whether two elements are equal. One is written into the scratch memory that
 * begins at text, after the hash table. */
static bool tcall_ev_equal_(tcall_ev_ *e, uint32_t a, uint32_t b, char *text)
{
    char *table = (char *)tcall_ev_scratch_(e, 0);
    tcall_writer w;
    tcall_writer_init(&w, text,
                      (size_t)((char *)e->check->memory + e->size - text));
    tcall_write_json(&w, tcall_json_cursor_(e->text, &e->tok[a]));
    tcall_write_char_(&w, ' '); /* where a number ends */
    e->steps -= (int32_t)(w.len / 16);
    return tcall_ev_scratch_(e, (size_t)(text - table) + w.len) &&
           tcall_ev_is_(e, b, tcall_ev_kind_(e, b), text);
}

/* The elements go into a hash table one after the other; only those that hash
 * alike are compared. Returns the second of two that are equal, 0: none. */
static uint32_t tcall_ev_repeated_(tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_after_(e, f->tok), slots = 1, i, hash, k;
    tcall_ev_slot_ *table;
    for (i = f->tok + 1; i < end; i = tcall_ev_after_(e, i))
        slots += 2;
    table = (tcall_ev_slot_ *)tcall_ev_scratch_(e, slots * sizeof *table);
    if (!table)
        return 0;
    memset(table, 0, slots * sizeof *table);
    for (i = f->tok + 1; i < end; i = tcall_ev_after_(e, i)) {
        hash = tcall_ev_hash_(e, i);
        for (k = hash % slots; table[k].element; k = (k + 1) % slots)
            if (--e->steps < 0 || e->error ||
                (table[k].hash == hash &&
                 tcall_ev_equal_(e, i, table[k].element,
                                 (char *)(table + slots))))
                return i;
        table[k].hash = hash;
        table[k].element = i;
        e->steps--;
    }
    return 0;
}

/* Both are scaled so that the divisor is an integer; then the remainder is
 * carried through the digits. */
static bool tcall_ev_multiple_(const tcall_num_ *n, const tcall_num_ *by)
{
    const char *p = n->first;
    int digits = tcall_num_digits_(by), left = n->top - by->top + digits;
    uint32_t m = tcall_num_digits_value_(by, digits), rest = 0;
    if (!n->sign || left < tcall_num_digits_(n))
        return !n->sign;
    for (; left > 0; left--)
        rest = (rest * 10 + (uint32_t)tcall_num_digit_(n, &p)) % m;
    return rest == 0;
}

TCALL_NOINLINE_ static bool tcall_ev_bound_(tcall_ev_ *e,
                                            const tcall_ev_frame_ *f, int op)
{
    const tcall_num_ *n = tcall_ev_num_(e, f->tok);
    tcall_num_ bound = tcall_num_read_(
        tcall_slice_(tcall_node_at_(e->s, f->pc), e->program[f->pc].arg));
    int order;
    if (op == TCALL_K_MULTIPLE_)
        return tcall_ev_multiple_(n, &bound);
    order = tcall_num_compare_(n, &bound);
    if (tcall_keywords_[op].bound == TCALL_AT_MOST_)
        order = -order;
    if (op == TCALL_K_ABOVE_ || op == TCALL_K_BELOW_)
        return order > 0;
    return order >= 0;
}

/* The characters of a string, the elements of an array or the members of an
 * object. */
static uint32_t tcall_ev_length_(const tcall_ev_ *e, const tcall_ev_frame_ *f)
{
    tcall_str s = tcall_ev_of_(e, f->tok);
    uint32_t count = 0;
    size_t i;
    if (f->type != TCALL_STRING)
        return (uint32_t)tcall_json_count(
            tcall_json_cursor_(e->text, &e->tok[f->tok]));
    for (i = 0; i < s.len; i++)
        count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return count;
}

/* Whether the length is within a limit; if not, *length is what it is. */
static bool tcall_ev_within_(const tcall_ev_ *e, const tcall_ev_frame_ *f,
                             int op, uint32_t *length)
{
    bool most = tcall_keywords_[op].bound == TCALL_AT_MOST_;
    uint32_t limit = e->program[f->pc].arg;
    if (f->type == TCALL_STRING) {
        /* characters have up to 4 bytes: often there is no need to count */
        size_t bytes = tcall_ev_of_(e, f->tok).len;
        if (most ? bytes <= limit : bytes / 4 >= limit)
            return true;
    }
    *length = tcall_ev_length_(e, f);
    return most ? *length <= limit : *length >= limit;
}

/* required, after all else: where as many required properties were met as there
 * are names, none needs to be looked for. */
static void tcall_ev_required_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t i = f->required + 1, key = f->tok + 1;
    uint32_t end = tcall_node_after_(e->program, f->required);
    if (f->met == end - i)
        return;
    for (; i < end && !tcall_ev_over_(f); i++)
        if (!tcall_ev_find_(e, f, i, &key))
            tcall_ev_fails_(e, f, i, 0);
}

/* A keyword that applies no schema. */
static void tcall_ev_assert_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const char *at = tcall_node_at_(e->s, f->pc);
    uint32_t count = 0;
    bool ok = true;
    switch (op) {
    case TCALL_K_PATTERN_: ok = tcall_ev_match_(e, f->pc, f->tok); break;
    case TCALL_K_CONST_: ok = tcall_ev_is_(e, f->tok, f->type, at); break;
    case TCALL_K_ENUM_: ok = tcall_ev_enum_(e, f, at); break;
    case TCALL_K_UNIQUE_:
        count = tcall_ev_repeated_(e, f);
        ok = !count;
        break;
    case TCALL_K_REQUIRED_: f->required = f->pc; break;
    default:
        if (tcall_keywords_[op].type == TCALL_NUMBER)
            ok = tcall_ev_bound_(e, f, op);
        else if (tcall_keywords_[op].type != TCALL_MISSING)
            ok = tcall_ev_within_(e, f, op, &count);
    }
    if (!ok)
        tcall_ev_fails_(e, f, f->pc, count);
}

static void tcall_ev_mark_(tcall_ev_ *e, uint32_t tok, int mark, unsigned flags)
{
    if (flags & TCALL_F_DRY_)
        return;
    e->check->coerced += e->tok[tok].mark == TCALL_MARK_NONE_;
    e->tok[tok].mark = mark;
}

/* The type that a string may stand for, one of the types wanted, and the mark
 * that says how; or 0. Types are bits, as in a node's argument. What is inside
 * a container is checked when it was parsed. */
TCALL_SHARED_ unsigned tcall_meant_type_(tcall_scan *scan, tcall_str s,
                                         uint32_t types, int *mark)
{
    unsigned type = TCALL_BOOL;
    *mark = TCALL_MARK_LITERAL_;
    if (!tcall_text_same_("\"True\"", s) && !tcall_text_same_("\"False\"", s)) {
        if (tcall_scan_text_(scan, s) != TCALL_OK || tcall_is_space_(*s.ptr))
            return 0;
        type = tcall_type_at_(s.ptr);
        *mark = TCALL_MARK_JSON_;
        if (type == TCALL_NULL ||
            (type < TCALL_ARRAY && tcall_is_space_(s.ptr[s.len - 1])))
            return 0;
        if (type == TCALL_NUMBER) {
            tcall_num_ number = tcall_num_read_(s);
            if (!tcall_num_in_range_(s))
                return 0;
            if (types & TCALL_INTEGER_ && tcall_num_integral_(&number) &&
                !memchr(s.ptr, 'e', s.len) && !memchr(s.ptr, 'E', s.len))
                types |= 1u << (TCALL_NUMBER - 1);
        }
    }
    return types >> (type - 1) & 1 ? type : 0;
}

/* The same for a token, which is marked. */
TCALL_NOINLINE_ static unsigned tcall_ev_coerced_(tcall_ev_ *e, uint32_t types,
                                                  uint32_t tok, unsigned flags)
{
    tcall_scan *scan = (tcall_scan *)tcall_ev_scratch_(e, sizeof *scan);
    int mark;
    unsigned type =
        scan ? tcall_meant_type_(scan, tcall_ev_of_(e, tok), types, &mark) : 0;
    if (type)
        tcall_ev_mark_(e, tok, mark, flags);
    return type;
}

/* The type that a value counts as which is not of the types wanted, 0: that is
 * an error. */
static unsigned tcall_ev_retype_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                                 unsigned flags)
{
    uint32_t types = e->program[schema].arg >> TCALL_TYPES_ & 0x7F;
    unsigned type = tcall_ev_kind_(e, tok), as = 0;
    if (type == TCALL_NUMBER && types & TCALL_INTEGER_)
        as = tcall_num_integral_(tcall_ev_num_(e, tok)) ? type : 0;
    else if (type == TCALL_STRING && types && !(flags & TCALL_F_STRICT_))
        as = tcall_ev_coerced_(e, types, tok, flags);
    if (!as)
        tcall_ev_error_(e, flags,
                        tcall_ev_wrong_(tok,
                                        types ? TCALL_K_TYPE_ : TCALL_K_NEVER_,
                                        schema, 0));
    return as;
}

/* Decides the assertions of the frame on top, up to the next keyword that
 * applies schemas: TCALL_PUSHED_. All for members or elements are at work at
 * once; of other lists each schema is. When there is none left the frame goes,
 * with the answer. */
static int tcall_ev_resume_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_end_(e, f), next;
    f->cur = TCALL_NEVER_;
    for (; f->pc < end && !tcall_ev_over_(f); f->pc = next) {
        const tcall_node_ *node = &e->program[f->pc];
        int op = tcall_node_op_(node);
        const tcall_keyword_ *keyword = &tcall_keywords_[op];
        bool its = keyword->type == TCALL_MISSING || keyword->type == f->type;
        next = tcall_node_after_(e->program, f->pc);
        e->steps--;
        if (keyword->applies == TCALL_ASSERTS_) {
            if (its)
                tcall_ev_assert_(e, f, op);
        } else if (keyword->applies == TCALL_TO_CHILDREN_) {
            if (its && !(f->flags & TCALL_F_WALKED_))
                return TCALL_PUSHED_;
        } else if (keyword->applies < TCALL_TO_CHILDREN_) {
            if (node->word & TCALL_IS_LIST_)
                next = f->pc + 1;
            else if (its)
                return TCALL_PUSHED_;
        }
    }
    if (f->required)
        tcall_ev_required_(e, f);
    e->depth--;
    return !(f->flags & TCALL_F_BAD_);
}

/* Applies a schema to a value: 1 it holds, 0 it does not, TCALL_PUSHED_: a
 * frame is at work on it. */
static int tcall_ev_enter_(tcall_ev_ *e, uint32_t schema, uint32_t tok,
                           unsigned flags)
{
    uint32_t arg = e->program[schema].arg;
    unsigned type = tcall_ev_kind_(e, tok);
    tcall_ev_frame_ *f;
    if (!(arg >> (type + TCALL_TYPES_ - 1) & 1)) {
        type = tcall_ev_retype_(e, schema, tok, flags);
        if (!type || type >= TCALL_ARRAY)
            return type != 0;
    }
    if ((arg & TCALL_SPAN_) == 1)
        return 1;
    f = (tcall_ev_frame_ *)tcall_ev_scratch_(e, sizeof *f);
    if (e->depth == TOOLCALL_MAX_FRAMES)
        e->error = TCALL_E_DEPTH;
    if (e->error)
        return 0;
    e->depth++;
    memset(f, 0, sizeof *f);
    f->schema = schema;
    f->pc = schema + 1;
    f->tok = tok;
    f->type = (uint8_t)type;
    f->flags = (uint8_t)flags;
    return tcall_ev_resume_(e, f);
}

TCALL_NOINLINE_ static uint32_t
tcall_ev_child_(const tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    return tcall_node_child_(e->program, f->schema, tcall_ev_end_(e, f), op);
}

/* The next value that the schema at pc is for, NEVER: there is none left. */
static uint32_t tcall_ev_next_(tcall_ev_ *e, const tcall_ev_frame_ *f, int op)
{
    uint32_t end = tcall_ev_after_(e, f->tok), next = f->tok + 1;
    uint32_t member = f->type == TCALL_OBJECT;
    switch (tcall_keywords_[op].applies) {
    case TCALL_TO_VALUE_: return f->tok;
    case TCALL_TO_PRESENT_:
        return tcall_ev_find_(e, f, f->pc, &next) ? f->tok : TCALL_NEVER_;
    default:
        if (f->cur != TCALL_NEVER_)
            next = tcall_ev_after_(e, f->cur);
        next += member;
        return next < end && --e->steps >= 0 ? next : TCALL_NEVER_;
    }
}

/* What the schema at pc said about cur. */
static void tcall_ev_answer_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, bool r)
{
    if (f->flags & TCALL_F_LAST_)
        op = TCALL_K_ALLOF_;
    if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
        if (r) {
            f->holding = (uint8_t)(f->holding + (f->holding < 2));
            f->by.ask.branch = f->pc;
        } else if (!f->holding && e->progress > 2 * f->tok &&
                   e->progress >= f->by.ask.reached) {
            f->by.ask.branch = e->progress > f->by.ask.reached ? f->pc : 0;
            f->by.ask.reached = e->progress;
        }
    } else if (op == TCALL_K_IF_) {
        f->by.ask.branch =
            tcall_ev_child_(e, f, r ? TCALL_K_THEN_ : TCALL_K_ELSE_);
    } else if (op == TCALL_K_CONTAINS_) {
        f->by.ask.matches += (uint32_t)r;
    } else if (op == TCALL_K_NOT_ && r) {
        tcall_ev_fails_(e, f, f->pc, 0);
    } else if (op != TCALL_K_NOT_ && !r) {
        f->flags |= TCALL_F_BAD_;
    }
}

/* All alternatives have answered. First they are asked strictly; when none
 * holds and coercion is allowed, again to see how many would then; the one that
 * alone would, or that came furthest, runs last and decides. True: go on with
 * that. */
static bool tcall_ev_choose_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    bool retry = f->flags & TCALL_F_RETRY_;
    bool once = f->holding == 1; /* of anyOf no more are asked strictly */
    uint32_t first = tcall_ev_child_(e, f, op);
    if (!f->holding && !(f->flags & (TCALL_F_RETRY_ | TCALL_F_STRICT_))) {
        f->flags |= TCALL_F_RETRY_;
        f->pc = first + 1;
        memset(&f->by, 0, sizeof f->by);
        return true;
    }
    if (once
            ? retry
            : !f->holding && f->by.ask.branch && !(f->flags & TCALL_F_QUIET_)) {
        f->flags |= TCALL_F_LAST_;
        return true;
    }
    if (!once)
        tcall_ev_fails_(e, f, first, f->holding);
    return false;
}

/* contains: whether as many elements match as have to. */
static void tcall_ev_counted_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    uint32_t min = tcall_ev_child_(e, f, TCALL_K_MIN_CONTAINS_);
    uint32_t max = tcall_ev_child_(e, f, TCALL_K_MAX_CONTAINS_);
    uint32_t matches = f->by.ask.matches;
    if (matches < (min ? program[min].arg : 1))
        tcall_ev_fails_(e, f, min ? min : f->pc, matches);
    if (max && matches > program[max].arg)
        tcall_ev_fails_(e, f, max, matches);
}

/* The schema at pc has been applied to all that it is for: to the next. */
static void tcall_ev_done_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    const tcall_node_ *program = e->program;
    uint32_t next = tcall_node_after_(program, f->pc);
    uint32_t end = tcall_ev_end_(e, f);
    if (!(f->flags & TCALL_F_LAST_)) {
        if (op == TCALL_K_IF_ && f->by.ask.branch) {
            f->flags |= TCALL_F_LAST_;
            return;
        }
        if (op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_) {
            for (; next < end && tcall_node_op_(&program[next]) == op;
                 next = tcall_node_after_(program, next))
                if (!f->holding || op == TCALL_K_ONEOF_ ||
                    f->flags & TCALL_F_RETRY_) {
                    f->pc = next;
                    return;
                }
            if (tcall_ev_choose_(e, f, op))
                return;
        }
    }
    if (op == TCALL_K_CONTAINS_)
        tcall_ev_counted_(e, f);
    f->pc = next;
    memset(&f->by, 0, sizeof f->by);
    f->holding = 0;
    f->flags &= (uint8_t) ~(TCALL_F_LAST_ | TCALL_F_RETRY_);
}

/* Whether a keyword only asks its schemas: they report no errors. */
static bool tcall_ev_asks_(int op)
{
    return op == TCALL_K_ANYOF_ || op == TCALL_K_ONEOF_ || op == TCALL_K_IF_ ||
           op == TCALL_K_NOT_ || op == TCALL_K_CONTAINS_;
}

/* Applies the schema at pc, or the deciding branch, to cur. */
static int tcall_ev_apply_(tcall_ev_ *e, tcall_ev_frame_ *f, int op)
{
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    uint32_t schema = f->pc, tok = f->cur;
    if (f->flags & TCALL_F_LAST_)
        return tcall_ev_enter_(e, f->by.ask.branch, tok, flags);
    if (tcall_ev_asks_(op))
        flags |= TCALL_F_DRY_ |
                 (f->flags & TCALL_F_RETRY_ ? TCALL_F_QUIET_ : TCALL_F_TEST_);
    if (op == TCALL_K_NAMES_) { /* a name stays a string */
        tok--;
        flags |= TCALL_F_STRICT_;
    }
    if (op == TCALL_K_REF_)
        schema = e->program[schema].arg;
    return tcall_ev_enter_(e, schema, tok, flags);
}

/* A keyword that applies schemas to the value or to each name or element. */
static int tcall_ev_keyword_(tcall_ev_ *e, tcall_ev_frame_ *f, int op, int r)
{
    if (r < 0) {
        f->cur = tcall_ev_next_(e, f, op);
        if (f->cur != TCALL_NEVER_)
            return tcall_ev_apply_(e, f, op);
    } else {
        tcall_ev_answer_(e, f, op, r);
        if (tcall_keywords_[op].applies == TCALL_TO_EACH_ && !tcall_ev_over_(f))
            return TCALL_PUSHED_; /* to the next */
    }
    tcall_ev_done_(e, f, op);
    return tcall_ev_resume_(e, f);
}

/* -- Members and elements ------------------------------------------------- */

/* Begins with the first one: notes what may be for it. */
static void tcall_ev_begin_(const tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t end = tcall_ev_end_(e, f), extra = 0, i = f->schema + 1;
    f->flags |= TCALL_F_WALKED_;
    f->cur = f->tok + 1 + (f->type == TCALL_OBJECT);
    for (; i < end; i = tcall_node_after_(e->program, i)) {
        int op = tcall_node_op_(&e->program[i]);
        if (tcall_keywords_[op].type != f->type)
            continue;
        switch (op) {
        case TCALL_K_PROPERTIES_:
        case TCALL_K_PREFIX_: f->by.walk.first = i; break;
        case TCALL_K_PATTERNS_: f->by.walk.patterns = i; break;
        case TCALL_K_ADDITIONAL_:
        case TCALL_K_REST_: f->by.walk.others = i; break;
        case TCALL_K_EXTRA_: extra = i; break;
        default: break;
        }
    }
    f->by.walk.next = f->by.walk.first + 1;
    if (f->by.walk.first && !f->by.walk.others)
        f->by.walk.others = extra;
}

/* The schema for the element at cur. */
static uint32_t tcall_ev_element_(const tcall_ev_ *e, tcall_ev_frame_ *f)
{
    uint32_t list = f->by.walk.first, prefix = f->by.walk.next;
    if (!list || prefix == tcall_node_after_(e->program, list))
        return f->by.walk.others;
    f->by.walk.next = tcall_node_after_(e->program, prefix);
    return prefix;
}

/* The property that the member at cur is, 0: none. */
static uint32_t tcall_ev_property_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    tcall_text_bytes_ name = tcall_text_bytes_in_(tcall_ev_of_(e, f->cur - 1));
    uint32_t map = f->by.walk.first, property = 0;
    if (map)
        property =
            tcall_node_find_(e->s, map, f->by.walk.next, &name, &e->steps);
    if (property)
        f->by.walk.next = tcall_node_after_(e->program, property);
    return property;
}

/* The next schema for the member at cur: that of the property, then those of
 * the patterns that match, or else the one for all others; 0: no more. */
static uint32_t tcall_ev_member_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *program = e->program;
    uint32_t at = f->by.walk.at, i = f->by.walk.patterns, end;
    uint32_t property = at ? 0 : tcall_ev_property_(e, f);
    if (property || (at && at == f->by.walk.others))
        return property;
    if (i) {
        end = tcall_node_after_(program, i);
        i = at > i && at < end ? tcall_node_after_(program, at) : i + 1;
        for (; i < end; i = tcall_node_after_(program, i))
            if (tcall_ev_match_(e, i + 1, f->cur - 1))
                return i;
    }
    return at ? 0 : f->by.walk.others;
}

/* Applies a schema to the member or element at cur. A null may count as absent
 * where coercion is allowed and the property is not required. */
static int tcall_ev_child_enter_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    const tcall_node_ *schema = &e->program[f->by.walk.at];
    unsigned flags = f->flags & TCALL_F_ALIKE_;
    f->flags &= (uint8_t)~TCALL_F_ABSENT_;
    if (tcall_node_op_(schema) == TCALL_K_PROPERTIES_) {
        if (schema->arg & TCALL_MARKED_) {
            f->met++;
        } else if (tcall_ev_kind_(e, f->cur) == TCALL_NULL &&
                   !(flags & TCALL_F_STRICT_)) {
            f->flags |= TCALL_F_ABSENT_;
            flags |= TCALL_F_TEST_;
        }
    }
    return tcall_ev_enter_(e, f->by.walk.at, f->cur, flags);
}

static void tcall_ev_next_child_(tcall_ev_ *e, tcall_ev_frame_ *f)
{
    f->cur = tcall_ev_after_(e, f->cur) + (f->type == TCALL_OBJECT);
    f->by.walk.at = 0;
}

/* What the schema said about the member or element. Only patterns may have
 * another one for it. */
static void tcall_ev_child_answer_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    if (!r && f->flags & TCALL_F_ABSENT_)
        tcall_ev_mark_(e, f->cur, TCALL_MARK_DROP_, f->flags);
    else if (!r)
        f->flags |= TCALL_F_BAD_;
    if (!f->by.walk.patterns)
        tcall_ev_next_child_(e, f);
}

/* All keywords that are for members or elements, one of these after the other,
 * in the order of the value. r: what the last schema said, or TCALL_PUSHED_. */
static int tcall_ev_walk_(tcall_ev_ *e, tcall_ev_frame_ *f, int r)
{
    uint32_t end = tcall_ev_after_(e, f->tok);
    if (r < 0)
        tcall_ev_begin_(e, f);
    else
        tcall_ev_child_answer_(e, f, r);
    while (f->cur < end && !tcall_ev_over_(f) && --e->steps >= 0) {
        f->by.walk.at = f->type == TCALL_OBJECT ? tcall_ev_member_(e, f)
                                                : tcall_ev_element_(e, f);
        if (!f->by.walk.at) {
            tcall_ev_next_child_(e, f);
            continue;
        }
        r = tcall_ev_child_enter_(e, f);
        if (r < 0)
            return r;
        tcall_ev_child_answer_(e, f, r);
    }
    memset(&f->by, 0, sizeof f->by);
    f->pc = tcall_node_after_(e->program, f->pc);
    return tcall_ev_resume_(e, f);
}

/* The machine: until the root's schema has answered. */
static int tcall_ev_run_(tcall_ev_ *e)
{
    int r = tcall_ev_enter_(e, 0, 0,
                            e->check->coerce ? 0 : (unsigned)TCALL_F_STRICT_);
    while (e->depth && !e->error && --e->steps >= 0) {
        tcall_ev_frame_ *f = &e->frame[e->depth - 1];
        int op = tcall_node_op_(&e->program[f->pc]);
        if (tcall_keywords_[op].applies == TCALL_TO_CHILDREN_)
            r = tcall_ev_walk_(e, f, r);
        else
            r = tcall_ev_keyword_(e, f, op, r);
    }
    return r;
}

static void tcall_ev_unmark_(tcall_ev_ *e)
{
    int i;
    for (i = 0; i < e->tok->span; i++)
        e->tok[i].mark = TCALL_MARK_NONE_;
    e->check->coerced = 0;
}

int tcall_schema_check(const tcall_schema *s, tcall_json value,
                       tcall_check *check)
{
    tcall_ev_ e;
    int ok;
    check->error_count = check->coerced = check->need = 0;
    if (!s->nodes)
        return TCALL_E_SCHEMA; /* it was refused, or not compiled */
    if (!value.tok)
        return TCALL_E_USAGE;
    memset(&e, 0, sizeof e);
    e.s = s;
    e.program = s->program;
    e.check = check;
    e.text = value.text;
    /* tokens lie in the caller's memory; only marks are written */
    e.tok = (tcall_tok *)(uintptr_t)value.tok;
    e.num_tok = TCALL_NEVER_;
    e.pad = (0 - (size_t)(uintptr_t)check->memory) & 3;
    e.size = check->memory ? check->size : 0;
    e.frame = (tcall_ev_frame_ *)(void *)((char *)check->memory + e.pad);
    e.steps = TOOLCALL_MAX_STEPS;
    tcall_ev_unmark_(&e);
    ok = tcall_ev_run_(&e);
    if (!e.error && e.steps < 0)
        e.error = TCALL_E_BUDGET;
    else if (!e.error && !ok)
        e.error = TCALL_E_INVALID;
    if (e.error)
        tcall_ev_unmark_(&e);
    return e.error;
}

#endif /* TOOLCALL_NO_SCHEMA */

/* ==========================================================================
 * >>schema_errors: what is wrong with a value or a schema, in sentences
 *
 * A sentence is a text in flash in which %v and the like stand for what differs
 * from one error to the next; a table says which keyword has which.
 */

#ifndef TOOLCALL_NO_SCHEMA

/* -- Pieces of sentences -------------------------------------------------- */

/* Longer values are cut in what the model reads. */
#define TCALL_SHOWN_ 160

/* Bytes, cut when they are many. */
static void tcall_say_str_(tcall_writer *writer, tcall_str text)
{
    bool cut = text.len > TCALL_SHOWN_;
    tcall_write_bytes(writer, text.ptr,
                      cut ? tcall_utf8_cut_(text.ptr, TCALL_SHOWN_) : text.len);
    if (cut)
        tcall_write_text(writer, "...");
}

/* A string as a reader sees it: its quotes, nothing escaped within. */
static void tcall_say_quoted_(tcall_writer *writer, tcall_str text)
{
    tcall_write_text(writer, "\"");
    tcall_say_str_(writer, text);
    tcall_write_text(writer, "\"");
}

/* The JSON text at p. */
static void tcall_say_json_(tcall_writer *writer, const char *p)
{
    tcall_say_str_(writer, tcall_text_verbatim_(p));
}

/* A number that we counted. */
static void tcall_say_count_(tcall_writer *writer, uint32_t count)
{
    writer->last = 0; /* there are no commas in a sentence */
    tcall_write_uint(writer, count);
}

/* A count with its noun, for strings, arrays and objects. */
static void tcall_say_counted_(tcall_writer *writer, uint32_t count,
                               tcall_type type)
{
    static const char *const nouns[][2] = {{" character", " characters"},
                                           {" element", " elements"},
                                           {" property", " properties"}};
    tcall_say_count_(writer, count);
    tcall_write_text(writer, nouns[type - TCALL_STRING][count != 1]);
}

/* A value that was sent: a scalar as it is, of others what they are. */
static void tcall_say_value_(tcall_writer *writer, tcall_json value)
{
    tcall_type type = tcall_json_type(value);
    tcall_str text = tcall_tok_str_(value.text, value.tok);
    if (value.tok->type & TCALL_KEY_)
        tcall_write_text(writer, "the property name ");
    if (type == TCALL_STRING)
        tcall_say_quoted_(writer, text);
    else if (type < TCALL_ARRAY)
        tcall_say_str_(writer, text);
    else
        tcall_write_text(writer,
                         type == TCALL_ARRAY ? "the array" : "the object");
}

/* -- JSON Pointers -------------------------------------------------------- */

/* A part of a name. */
static void tcall_say_name_(tcall_writer *writer, tcall_str part)
{
    size_t from = 0, i;
    for (i = 0; i < part.len; i++) {
        const char *escape = tcall_pointer_escape_(part.ptr[i]);
        if (!escape)
            continue;
        tcall_write_bytes(writer, part.ptr + from, i - from);
        tcall_write_text(writer, escape);
        from = i + 1;
    }
    tcall_write_bytes(writer, part.ptr + from, part.len - from);
}

/* That of a token; of a name that of its value. */
static void tcall_say_pointer_(tcall_writer *writer, tcall_json value,
                               const tcall_tok *tok)
{
    if (tok->type & TCALL_KEY_)
        tok++;
    while (value.tok < tok) {
        uint32_t index = 0;
        value = tcall_json_first(value);
        for (; value.tok + value.tok->span <= tok; index++)
            value = tcall_json_next(value);
        tcall_write_text(writer, "/");
        if (value.tok->type & TCALL_MEMBER_)
            tcall_say_name_(writer, tcall_json_key(value));
        else
            tcall_say_count_(writer, index);
    }
}

/* "path": that of a token. */
static void tcall_write_path_(tcall_writer *writer, tcall_json value,
                              const tcall_tok *tok)
{
    tcall_write_key(writer, "path");
    tcall_write_quote(writer);
    tcall_say_pointer_(writer, value, tok);
    tcall_write_unquote(writer);
}

/* That of the value, or of the member whose name begins, at a place in JSON
 * text. */
static void tcall_say_place_(tcall_writer *writer, const char *text,
                             const char *place)
{
    const char *value = tcall_text_space_(text), *member = value;
    while (member < place && (*value == '{' || *value == '[')) {
        bool object = *value == '{';
        uint32_t index = 0;
        for (member = tcall_text_next_(value + 1);; index++) {
            const char *next;
            value = object ? tcall_text_value_(member) : member;
            next = tcall_text_next_(tcall_text_skip_(value));
            if (next > place || tcall_text_closes_(next))
                break;
            member = next;
        }
        tcall_write_text(writer, "/");
        if (!object)
            tcall_say_count_(writer, index);
        else
            for (member++; *member != '"';) {
                char bytes[4];
                size_t len = tcall_text_char_(&member, bytes);
                tcall_say_name_(writer, tcall_slice_(bytes, len));
            }
        member = value > place ? place : value;
    }
}

/* -- What is wrong, and what to send instead ------------------------------ */

/* One error with all that its sentence may name. */
typedef struct tcall_fault_ {
    tcall_writer *out; /* of the sentence */
    const tcall_schema *schema;
    tcall_json root, value; /* what was checked; what is wrong within */
    uint32_t node, parent;  /* the keyword's node, and its schema's */
    uint32_t end;           /* the node after that schema */
    uint32_t count;
    int keyword, applied; /* what failed; the op of the node */
} tcall_fault_;

/* The schema that a keyword's node belongs to. */
static uint32_t tcall_node_parent_(const tcall_node_ *program, uint32_t node)
{
    uint32_t i = node;
    if (!i)
        return 0;
    do
        i--;
    while (tcall_node_after_(program, i) <= node ||
           program[i].word & TCALL_IS_LIST_);
    return i;
}

static tcall_fault_ tcall_fault_of_(const tcall_schema *schema,
                                    tcall_json value,
                                    const tcall_validation_error *error)
{
    const tcall_node_ *program = schema->program;
    tcall_fault_ fault;
    fault.out = NULL;
    fault.schema = schema;
    fault.root = value;
    fault.value = tcall_json_cursor_(value.text, value.tok + error->tok);
    fault.node = error->node;
    fault.count = error->count;
    fault.keyword = (int)error->keyword;
    fault.parent = tcall_node_parent_(program, error->node);
    fault.end = tcall_node_after_(program, fault.parent);
    fault.applied = tcall_node_op_(
        &program[fault.keyword == TCALL_K_REQUIRED_ ? fault.parent
                                                    : fault.node]);
    return fault;
}

/* Where in the schema the keyword that failed comes from. */
static const char *tcall_fault_at_(const tcall_fault_ *fault)
{
    return tcall_node_at_(fault->schema, fault->node);
}

/* The node of another keyword of the same schema, 0: it has none. */
static uint32_t tcall_fault_other_(const tcall_fault_ *fault, int op)
{
    return tcall_node_child_(fault->schema->program, fault->parent, fault->end,
                             op);
}

/* Words for the types, in the order of tcall_type_names_. */
static const char *const tcall_type_words_[] = {
    "null",     "a boolean", "a number",  "a string",
    "an array", "an object", "an integer"};

/* The types that a schema's node allows, one bit each. */
static uint32_t tcall_fault_types_(const tcall_fault_ *fault, uint32_t schema)
{
    return fault->schema->program[schema].arg >> TCALL_TYPES_ & 0x7F;
}

/* "a string, a number or null". */
static void tcall_say_types_(tcall_writer *writer, uint32_t types)
{
    int i;
    for (i = 6; i >= 0; i--) {
        uint32_t left = types & (((uint32_t)1 << i) - 1);
        if (!(types >> i & 1))
            continue;
        tcall_write_text(writer, tcall_type_words_[i]);
        if (left) /* one, or several */
            tcall_write_text(writer, left & (left - 1) ? ", " : " or ");
    }
}

/* What a value is. What an array or object holds is not shown: it may be long,
 * and the path says which one it is. */
static const char *tcall_fault_is_(const tcall_fault_ *fault)
{
    tcall_type type = tcall_json_type(fault->value);
    return type == TCALL_NULL || type >= TCALL_ARRAY
               ? "not allowed here"
               : tcall_type_words_[type - TCALL_NULL];
}

/* The elements of an array, "celsius", "fahrenheit" or "kelvin", or the names
 * in an object, as far as they fit. */
static void tcall_say_list_(tcall_writer *writer, const char *list)
{
    size_t room = writer->len + 2 * TCALL_SHOWN_;
    bool object = *list == '{';
    const char *p = tcall_text_next_(list + 1), *next;
    while (!tcall_text_closes_(p)) {
        bool last;
        next = object ? tcall_text_value_(p) : p;
        next = tcall_text_next_(tcall_text_skip_(next));
        tcall_say_json_(writer, p);
        p = next;
        if (tcall_text_closes_(p))
            return;
        last = !object &&
               tcall_text_closes_(tcall_text_next_(tcall_text_skip_(p)));
        tcall_write_text(writer, last ? " or " : ", ");
        if (writer->len > room) {
            tcall_write_text(writer, "...");
            return;
        }
    }
}

/* What to do about a name that is no property: whether there are others. */
static const char *tcall_fault_names_(const tcall_fault_ *fault)
{
    uint32_t map = tcall_fault_other_(fault, TCALL_K_PROPERTIES_);
    return map && tcall_node_after_(fault->schema->program, map) > map + 1
               ? TCALL_FLASH_TEXT_("use one of %P or leave it out")
               : TCALL_FLASH_TEXT_("leave it out");
}

/* What a keyword's node comes from: a count, or other JSON text. */
static void tcall_say_own_(tcall_writer *writer, const tcall_fault_ *fault,
                           uint32_t node)
{
    const tcall_node_ *keyword = &fault->schema->program[node];
    if (tcall_keyword_counts_(tcall_node_op_(keyword)))
        tcall_say_count_(writer, keyword->arg);
    else
        tcall_say_json_(writer, tcall_node_at_(fault->schema, node));
}

/* The node of the schema that limits the same on one side, 0: none. Where two
 * do, the one that excludes its number. */
static uint32_t tcall_fault_limit_(const tcall_fault_ *fault, int bound)
{
    const tcall_keyword_ *own = &tcall_keywords_[fault->keyword];
    uint32_t limit = 0;
    int op;
    for (op = 0; op < TCALL_K_COUNT_; op++) {
        const tcall_keyword_ *keyword = &tcall_keywords_[op];
        uint32_t node = keyword->bound == bound && keyword->type == own->type
                            ? tcall_fault_other_(fault, op)
                            : 0;
        limit = node ? node : limit;
    }
    return limit;
}

/* How a side is limited: not, by a number that is excluded, or by one that is
 * included. */
static int tcall_fault_side_(const tcall_fault_ *fault, int bound)
{
    uint32_t limit = tcall_fault_limit_(fault, bound);
    int op = tcall_node_op_(&fault->schema->program[limit]);
    return !limit ? 0 : op == TCALL_K_ABOVE_ || op == TCALL_K_BELOW_ ? 1 : 2;
}

/* Which number to send, by how it is limited below and above. */
static const char *tcall_fault_range_(const tcall_fault_ *fault)
{
    static const char ranges[] TCALL_FLASH_ =
        "\0"
        " less than %h\0"
        " of at most %h\0"
        " greater than %l\0"
        " greater than %l and less than %h\0"
        " greater than %l and at most %h\0"
        " of at least %l\0"
        " of at least %l and less than %h\0"
        " from %l to %h\0";
    int below = tcall_fault_side_(fault, TCALL_AT_LEAST_);
    return tcall_word_at_(ranges,
                          below * 3 + tcall_fault_side_(fault, TCALL_AT_MOST_));
}

/* How many to send. */
static const char *tcall_fault_counts_(const tcall_fault_ *fault)
{
    const tcall_node_ *program = fault->schema->program;
    uint32_t low = tcall_fault_limit_(fault, TCALL_AT_LEAST_);
    uint32_t high = tcall_fault_limit_(fault, TCALL_AT_MOST_);
    if (!high)
        return TCALL_FLASH_TEXT_("at least %L");
    if (!low)
        return TCALL_FLASH_TEXT_("at most %H");
    return program[low].arg == program[high].arg
               ? TCALL_FLASH_TEXT_("%H")
               : TCALL_FLASH_TEXT_("%l to %H");
}

/* X(NAME, text): the sentences. */
#define TCALL_SENTENCES_(X)                                                  \
    X(TYPE, "%v is %t; send %T")                                             \
    X(MINIMUM, "%v is under the minimum %o; send %r")                        \
    X(MAXIMUM, "%v is over the maximum %o; send %r")                         \
    X(ABOVE, "%v is not greater than %o; send %r")                           \
    X(BELOW, "%v is not less than %o; send %r")                              \
    X(MULTIPLE, "%v is not a multiple of %o; send a multiple of it")         \
    X(CONST, "%v is not the only value that is allowed; send %o")            \
    X(ENUM, "%v is not one of the allowed values; send %e")                  \
    X(NOT, "%v matches what is forbidden, %o; send a value that does not")   \
    X(PATTERN, "%v does not match the pattern %x; send a string that does")  \
    X(FEW, "%v has %n, under the minimum %o; send %c")                       \
    X(MANY, "%v has %n, over the maximum %o; send %c")                       \
    X(UNIQUE, "%w is in the array twice; send each value once")              \
    X(CONTAINS, "%n of the array %m; send at least 1 of them")               \
    X(MIN_CONTAINS, "%n of the array %m; send at least %o of them")          \
    X(MAX_CONTAINS, "%n of the array %m; send at most %o of them")           \
    X(ANYOF, "%v fits %f of anyOf; send what fits one of %o")                \
    X(ONEOF, "%v fits %f of oneOf; send what fits exactly one of %o")        \
    X(NEEDED, "the property %o is missing, which %p needs; add it or leave " \
              "out %p")                                                      \
    X(REQUIRED, "the property %o is missing; add it")                        \
    X(UNKNOWN, "%k is not a property here; %N")                              \
    X(MEMBER, "%k is not allowed; leave it out")                             \
    X(NAME, "%v is not allowed; leave it out")                               \
    X(ELEMENT, "this element is one too many; leave it out")                 \
    X(NEVER, "no value is allowed here; leave it out")

enum {
#define TCALL_X_(NAME, text) TCALL_SAYS_##NAME##_,
    TCALL_SENTENCES_(TCALL_X_)
#undef TCALL_X_
        TCALL_SENTENCE_COUNT_
};

static const char tcall_sentence_texts_[] TCALL_FLASH_ =
#define TCALL_X_(NAME, text) text "\0"
    TCALL_SENTENCES_(TCALL_X_);
#undef TCALL_X_

/* Any keyword that applied the schema; no keyword, but the word false. */
#define TCALL_K_ANY_ 0xFF

/* The sentence of a keyword that failed, and the word of the schema that a
 * person would look for: required within dependentRequired is no keyword. A
 * schema that is false is known by what it was applied by. */
static const struct tcall_sentence_ {
    uint8_t keyword, applied, word, says;
} tcall_sentences_[] = {
#define TCALL_SAY_(op, says)                                                 \
    {                                                                        \
        TCALL_K_##op##_, TCALL_K_ANY_, TCALL_K_##op##_, TCALL_SAYS_##says##_ \
    }
#define TCALL_SAY_BY_(op, applied, word, says)                    \
    {                                                             \
        TCALL_K_##op##_, TCALL_K_##applied##_, TCALL_K_##word##_, \
            TCALL_SAYS_##says##_                                  \
    }
    TCALL_SAY_(TYPE, TYPE),
    TCALL_SAY_(MINIMUM, MINIMUM),
    TCALL_SAY_(MAXIMUM, MAXIMUM),
    TCALL_SAY_(ABOVE, ABOVE),
    TCALL_SAY_(BELOW, BELOW),
    TCALL_SAY_(MULTIPLE, MULTIPLE),
    TCALL_SAY_(CONST, CONST),
    TCALL_SAY_(ENUM, ENUM),
    TCALL_SAY_(NOT, NOT),
    TCALL_SAY_(PATTERN, PATTERN),
    TCALL_SAY_(MIN_LENGTH, FEW),
    TCALL_SAY_(MIN_ITEMS, FEW),
    TCALL_SAY_(MIN_PROPERTIES, FEW),
    TCALL_SAY_(MAX_LENGTH, MANY),
    TCALL_SAY_(MAX_ITEMS, MANY),
    TCALL_SAY_(MAX_PROPERTIES, MANY),
    TCALL_SAY_(UNIQUE, UNIQUE),
    TCALL_SAY_(CONTAINS, CONTAINS),
    TCALL_SAY_(MIN_CONTAINS, MIN_CONTAINS),
    TCALL_SAY_(MAX_CONTAINS, MAX_CONTAINS),
    TCALL_SAY_(ANYOF, ANYOF),
    TCALL_SAY_(ONEOF, ONEOF),
    TCALL_SAY_BY_(REQUIRED, DEPENDENT_REQUIRED, DEPENDENT_REQUIRED, NEEDED),
    TCALL_SAY_BY_(REQUIRED, DEPENDENCIES, DEPENDENCIES, NEEDED),
    TCALL_SAY_(REQUIRED, REQUIRED),
    TCALL_SAY_BY_(NEVER, ADDITIONAL, ADDITIONAL, UNKNOWN),
    TCALL_SAY_BY_(NEVER, PROPERTIES, NEVER, MEMBER),
    TCALL_SAY_BY_(NEVER, PATTERNS, NEVER, MEMBER),
    TCALL_SAY_BY_(NEVER, NAMES, NAMES, NAME),
    TCALL_SAY_BY_(NEVER, PREFIX, NEVER, ELEMENT),
    TCALL_SAY_BY_(NEVER, REST, REST, ELEMENT),
    TCALL_SAY_BY_(NEVER, EXTRA, EXTRA, ELEMENT),
    TCALL_SAY_(NEVER, NEVER),
#undef TCALL_SAY_
#undef TCALL_SAY_BY_
};

static const struct tcall_sentence_ *
tcall_fault_sentence_(const tcall_fault_ *fault)
{
    const struct tcall_sentence_ *row = tcall_sentences_;
    while (row->keyword != fault->keyword ||
           (row->applied != TCALL_K_ANY_ && row->applied != fault->applied))
        row++;
    return row;
}

/* Whether a schema allows no number but integers. */
static bool tcall_fault_integer_(const tcall_fault_ *fault)
{
    uint32_t types = tcall_fault_types_(fault, fault->parent);
    return types & TCALL_INTEGER_ && !(types >> (TCALL_NUMBER - 1) & 1);
}

/* Writes a limit of what failed: a number, or a count with its noun. */
static void tcall_say_limit_(tcall_writer *writer, const tcall_fault_ *fault,
                             int bound, bool noun)
{
    uint32_t limit = tcall_fault_limit_(fault, bound);
    if (noun)
        tcall_say_counted_(writer, fault->schema->program[limit].arg,
                           tcall_json_type(fault->value));
    else
        tcall_say_own_(writer, fault, limit);
}

/* A pattern, whose escapes are those of the string that is being written. */
static void tcall_say_pattern_(tcall_writer *writer, const tcall_fault_ *fault)
{
    tcall_str pattern = tcall_text_inner_(tcall_fault_at_(fault));
    writer->quoted--;
    tcall_write_bytes(writer, pattern.ptr, pattern.len);
    writer->quoted++;
}

static void tcall_say_part_(void *of, char letter);

static void tcall_say_text_(tcall_fault_ *fault, const char *text)
{
    tcall_write_parts_(fault->out, text, tcall_say_part_, fault);
}

/* Writes what stands in a sentence for % and this letter. */
static void tcall_say_part_(void *of, char letter)
{
    tcall_fault_ *fault = (tcall_fault_ *)of;
    tcall_writer *writer = fault->out;
    const char *at = tcall_fault_at_(fault);
    tcall_json value = fault->value;
    switch (letter) {
    case 'v': tcall_say_value_(writer, value); break;
    case 'k': tcall_say_quoted_(writer, tcall_json_key(value)); break;
    case 't': tcall_write_text(writer, tcall_fault_is_(fault)); break;
    case 'T':
        tcall_say_types_(writer, tcall_fault_types_(fault, fault->node));
        break;
    case 'n':
        tcall_say_counted_(writer, fault->count, tcall_json_type(value));
        break;
    case 'o': tcall_say_own_(writer, fault, fault->node); break;
    case 'l': tcall_say_limit_(writer, fault, TCALL_AT_LEAST_, false); break;
    case 'h': tcall_say_limit_(writer, fault, TCALL_AT_MOST_, false); break;
    case 'L': tcall_say_limit_(writer, fault, TCALL_AT_LEAST_, true); break;
    case 'H': tcall_say_limit_(writer, fault, TCALL_AT_MOST_, true); break;
    case 'c': tcall_say_text_(fault, tcall_fault_counts_(fault)); break;
    case 'r':
        tcall_write_text(writer, tcall_fault_integer_(fault) ? "an integer"
                                                             : "a number");
        tcall_say_text_(fault, tcall_fault_range_(fault));
        break;
    case 'e': tcall_say_list_(writer, at); break;
    case 'x': tcall_say_pattern_(writer, fault); break;
    case 'w':
        value.tok = fault->root.tok + fault->count;
        tcall_say_value_(writer, value);
        break;
    case 'm':
        tcall_write_text(writer, fault->count == 1 ? "matches " : "match ");
        tcall_say_own_(writer, fault,
                       tcall_fault_other_(fault, TCALL_K_CONTAINS_));
        break;
    case 'f':
        tcall_write_text(writer, fault->count ? "several alternatives"
                                              : "no alternative");
        break;
    case 'p': tcall_say_own_(writer, fault, fault->parent); break;
    case 'N': tcall_say_text_(fault, tcall_fault_names_(fault)); break;
    case 'P':
        tcall_say_list_(
            writer,
            tcall_node_at_(fault->schema,
                           tcall_fault_other_(fault, TCALL_K_PROPERTIES_)));
        break;
    }
}

static void tcall_say_sentence_(tcall_writer *writer, tcall_fault_ *fault)
{
    fault->out = writer;
    tcall_say_text_(fault, tcall_word_at_(tcall_sentence_texts_,
                                          tcall_fault_sentence_(fault)->says));
}

/* Into a string that is open: "/days: 9 is over the maximum 7; ..." */
TCALL_SHARED_ void tcall_say_error_(tcall_writer *writer,
                                    const tcall_schema *schema,
                                    tcall_json value,
                                    const tcall_validation_error *error)
{
    tcall_fault_ fault = tcall_fault_of_(schema, value, error);
    tcall_say_pointer_(writer, value, fault.value.tok);
    tcall_write_text(writer, fault.value.tok > value.tok ? ": " : "");
    tcall_say_sentence_(writer, &fault);
}

int tcall_write_validation_error(tcall_writer *writer,
                                 const tcall_schema *schema, tcall_json value,
                                 const tcall_validation_error *error)
{
    tcall_fault_ fault = tcall_fault_of_(schema, value, error);
    int word = tcall_fault_sentence_(&fault)->word;
    tcall_write_open(writer, '{');
    tcall_write_path_(writer, value, fault.value.tok);
    tcall_write_key(writer, "keyword");
    tcall_write_string(
        writer, word == TCALL_K_NEVER_ ? "false" : tcall_keywords_[word].name);
    tcall_write_key(writer, "message");
    tcall_write_quote(writer);
    tcall_say_sentence_(writer, &fault);
    tcall_write_unquote(writer);
    return tcall_write_close(writer, '}');
}

int tcall_write_validation_errors(tcall_writer *writer,
                                  const tcall_schema *schema, tcall_json value,
                                  const tcall_check *check)
{
    size_t i;
    tcall_write_open(writer, '[');
    for (i = 0; i < check->error_count && i < check->error_cap; i++)
        tcall_write_validation_error(writer, schema, value, &check->errors[i]);
    return tcall_write_close(writer, ']');
}

int tcall_write_coercions(tcall_writer *writer, tcall_json value)
{
    int i;
    tcall_write_open(writer, '[');
    for (i = 0; value.tok && i < value.tok->span; i++) {
        const tcall_tok *tok = value.tok + i;
        if (tok->mark == TCALL_MARK_NONE_)
            continue;
        tcall_write_open(writer, '{');
        tcall_write_path_(writer, value, tok);
        tcall_write_key(writer, "from");
        if (tok->mark == TCALL_MARK_DROP_) {
            tcall_write_null(writer);
        } else { /* a string */
            tcall_write_quote(writer);
            tcall_say_str_(writer, tcall_tok_str_(value.text, tok));
            tcall_write_unquote(writer);
            tcall_write_key(writer, "to");
            tcall_write_comma_(writer);
            tcall_write_scalar_(writer, value.text, tok);
        }
        tcall_write_close(writer, '}');
    }
    return tcall_write_close(writer, ']');
}

int tcall_write_schema_error(tcall_writer *writer, const tcall_schema *schema)
{
    if (!schema->reason)
        return tcall_write_text(writer, "ok");
    if (schema->text) {
        const char *place = schema->text + schema->at;
        if (place == tcall_text_space_(schema->text))
            tcall_write_text(writer, "the schema");
        tcall_say_place_(writer, schema->text, place);
        tcall_write_text(writer, ": ");
    }
    tcall_write_text(writer, schema->reason);
    if (schema->text) {
        tcall_write_text(writer, " ");
        tcall_say_json_(writer, schema->text + schema->at);
    }
    if (schema->remedy) {
        tcall_write_text(writer, "; ");
        tcall_write_text(writer, schema->remedy);
    }
    return writer->error;
}

#endif /* TOOLCALL_NO_SCHEMA */

/* ==========================================================================
 * >>chat
 *
 * An item is kept as a header, which has the lengths of its parts, and then
 * the bytes of its parts: id, name, signature, text.
 */

enum {
    TCALL_PART_ID_,
    TCALL_PART_NAME_,
    TCALL_PART_SIGNATURE_,
    TCALL_PART_TEXT_,
    TCALL_PARTS_
};

enum {
    TCALL_FLAG_SYNTHETIC_ID_ = 1,
    TCALL_FLAG_RAW_ = 2,
    TCALL_FLAG_DROPPED_ = 4, /* tcall_item.reasoning_dropped */
    TCALL_FLAG_OBJECT_ = 8,  /* tcall_item.is_object */
    /* Only while an answer is read: */
    TCALL_FLAG_DEFAULT_ = 16, /* the arguments give way to the first piece */
    TCALL_FLAG_WHOLE_ = 32,   /* they are whole: the longer text counts */
    /* Of the item as well: */
    TCALL_FLAG_UNSIGNED_ = 64 /* tcall_item.is_unsigned */
};

/* Has bytes only, because an item begins at any address. */
typedef struct tcall_item_head_ {
    uint8_t kind;          /* tcall_kind, or one of the reader's own */
    uint8_t flags;         /* TCALL_FLAG_..._ */
    uint8_t index, choice; /* of a call while its answer is read */
    int8_t error;
    uint8_t len[TCALL_PARTS_][sizeof(uint32_t)];
} tcall_item_head_;

#define TCALL_HEAD_ sizeof(tcall_item_head_)

/* The header of the item at this place in the block. */
TCALL_SHARED_ tcall_item_head_ *tcall_head_at_(const tcall_chat *chat,
                                               size_t at)
{
    return (tcall_item_head_ *)(void *)(chat->block->base + at);
}

/* Lengths are bytes there: an item begins at any address. */
TCALL_SHARED_ size_t tcall_head_len_(const tcall_item_head_ *head, int part)
{
    uint32_t len;
    memcpy(&len, head->len[part], sizeof len);
    return len;
}

TCALL_SHARED_ void tcall_head_set_len_(tcall_item_head_ *head, int part,
                                       size_t len)
{
    uint32_t value = (uint32_t)len;
    memcpy(head->len[part], &value, sizeof value);
}

/* Bytes from the start of the header to the end of a part; the part -1 is the
 * header itself. */
TCALL_SHARED_ size_t tcall_head_end_(const tcall_item_head_ *head, int part)
{
    size_t end = TCALL_HEAD_;
    for (; part >= 0; part--)
        end += tcall_head_len_(head, part);
    return end;
}

TCALL_SHARED_ size_t tcall_head_size_(const tcall_item_head_ *head)
{
    return tcall_head_end_(head, TCALL_PARTS_ - 1);
}

/* The bytes of a part. They move when anything before them changes. */
TCALL_SHARED_ tcall_str tcall_head_part_(const tcall_item_head_ *head, int part)
{
    const char *bytes = (const char *)head + tcall_head_end_(head, part - 1);
    return tcall_slice_(bytes, tcall_head_len_(head, part));
}

/* Parts by number, for loops over them. */
static tcall_str *tcall_item_part_(tcall_item *item, int part)
{
    switch (part) {
    case TCALL_PART_ID_: return &item->id;
    case TCALL_PART_NAME_: return &item->name;
    case TCALL_PART_SIGNATURE_: return &item->signature;
    default: return &item->text;
    }
}

/* Are all numbers of a JSON text within the range of double? Only those with an
 * exponent, or very long ones, may not be. */
TCALL_SHARED_ bool tcall_numbers_fit_(tcall_str text)
{
    const char *at = text.ptr, *end = at + text.len;
    bool quoted = false;
    for (; at < end; at++) {
        const char *from = at;
        if (*at == '"')
            quoted = !quoted;
        if (quoted) {
            at += *at == '\\';
            continue;
        }
        while (at < end && (tcall_is_digit_(*at) || strchr("+-.eE", *at)))
            at++;
        if (at > from && *from <= '9' &&
            !tcall_num_in_range_(tcall_slice_(from, (size_t)(at - from))))
            return false;
        at -= at > from;
    }
    return true;
}

/* Servers refuse a conversation for ever once it holds arguments that are no
 * JSON object, or numbers that they cannot hold. This is looked at once, when a
 * call enters the conversation. */
TCALL_SHARED_ bool tcall_is_object_text_(tcall_str text)
{
    tcall_scan scan;
    size_t at = 0;
    while (at < text.len && tcall_is_space_(text.ptr[at]))
        at++;
    return at < text.len && text.ptr[at] == '{' &&
           tcall_scan_text_(&scan, text) == TCALL_OK &&
           (!scan.wide || tcall_numbers_fit_(text));
}

void tcall_chat_init(tcall_chat *chat, tcall_block *block)
{
    chat->block = block;
    chat->start = block->low;
    chat->made = 0;
}

/* Returns the end of the copy. A result lies where its copy will. */
TCALL_SHARED_ char *tcall_copy_(char *to, tcall_str bytes)
{
    if (bytes.len)
        memmove(to, bytes.ptr, bytes.len);
    return to + bytes.len;
}

/* What is kept in the header of the item's flags. */
static uint8_t tcall_item_flags_(const tcall_item *item)
{
    uint8_t flags = 0;
    if (item->synthetic_id)
        flags |= TCALL_FLAG_SYNTHETIC_ID_;
    if (item->raw)
        flags |= TCALL_FLAG_RAW_;
    if (item->reasoning_dropped)
        flags |= TCALL_FLAG_DROPPED_;
    if (item->is_unsigned)
        flags |= TCALL_FLAG_UNSIGNED_;
    if (item->kind == TCALL_ITEM_CALL && tcall_is_object_text_(item->text))
        flags |= TCALL_FLAG_OBJECT_;
    return flags;
}

int tcall_chat_add(tcall_chat *chat, const tcall_item *item)
{
    tcall_item_head_ *head = tcall_head_at_(chat, chat->block->low);
    tcall_item copy = *item;
    size_t size = TCALL_HEAD_;
    char *end;
    int part;
    for (part = 0; part < TCALL_PARTS_; part++)
        size += tcall_item_part_(&copy, part)->len;
    if (!tcall_block_grow_(chat->block, size))
        return TCALL_E_MEMORY;
    memset(head, 0, sizeof *head);
    head->kind = item->kind;
    head->flags = tcall_item_flags_(item);
    head->error = (int8_t)item->error;
    end = (char *)head + TCALL_HEAD_;
    for (part = 0; part < TCALL_PARTS_; part++) {
        tcall_str bytes = *tcall_item_part_(&copy, part);
        tcall_head_set_len_(head, part, bytes.len);
        end = tcall_copy_(end, bytes);
    }
    return TCALL_OK;
}

bool tcall_chat_next(const tcall_chat *chat, size_t *at, tcall_item *item)
{
    const tcall_item_head_ *head = tcall_head_at_(chat, chat->start + *at);
    const char *bytes = (const char *)head + TCALL_HEAD_;
    int part;
    if (chat->start + *at >= chat->block->low)
        return false;
    item->kind = head->kind;
    item->error = head->error;
    item->synthetic_id = (head->flags & TCALL_FLAG_SYNTHETIC_ID_) != 0;
    item->raw = (head->flags & TCALL_FLAG_RAW_) != 0;
    item->reasoning_dropped = (head->flags & TCALL_FLAG_DROPPED_) != 0;
    item->is_unsigned = (head->flags & TCALL_FLAG_UNSIGNED_) != 0;
    item->is_object = (head->flags & TCALL_FLAG_OBJECT_) != 0;
    for (part = 0; part < TCALL_PARTS_; part++) {
        size_t len = tcall_head_len_(head, part);
        *tcall_item_part_(item, part) = tcall_slice_(bytes, len);
        bytes += len;
    }
    *at += (size_t)(bytes - (const char *)head);
    return true;
}

bool tcall_chat_drop(tcall_chat *chat)
{
    char *first = chat->block->base + chat->start;
    size_t len = chat->block->low - chat->start, at = 0, item_at = 0;
    tcall_item item;
    while (tcall_chat_next(chat, &at, &item)) {
        if (item.kind == TCALL_ITEM_USER && item_at > 0) {
            memmove(first, first + item_at, len - item_at);
            chat->block->low -= item_at;
            return true;
        }
        item_at = at;
    }
    return false;
}

bool tcall_chat_make_room(tcall_chat *chat, size_t bytes)
{
    while (tcall_block_free_(chat->block) < bytes)
        if (!tcall_chat_drop(chat))
            return false;
    return true;
}

/* Moves all bytes from one place on to another; the room is there. */
TCALL_SHARED_ void tcall_chat_shift_(tcall_chat *chat, size_t from, size_t to)
{
    tcall_block *block = chat->block;
    if (block->low > from)
        memmove(block->base + to, block->base + from, block->low - from);
    block->low += to - from;
    tcall_block_room_(block, 0); /* notes the peak */
}

/* Forgets all reasoning and signatures. Providers bind them to all that was
 * sent before: where that has changed they would be refused. */
TCALL_SHARED_ void tcall_chat_forget_(tcall_chat *chat)
{
    size_t at = chat->start;
    while (at < chat->block->low) {
        tcall_item_head_ *head = tcall_head_at_(chat, at);
        size_t end = at + tcall_head_end_(head, TCALL_PART_SIGNATURE_);
        size_t len = tcall_head_len_(head, TCALL_PART_SIGNATURE_);
        if (head->kind == TCALL_ITEM_REASONING) {
            tcall_chat_shift_(chat, at + tcall_head_size_(head), at);
            continue;
        }
        head->flags &= (uint8_t) ~(TCALL_FLAG_DROPPED_ | TCALL_FLAG_UNSIGNED_);
        tcall_head_set_len_(head, TCALL_PART_SIGNATURE_, 0);
        tcall_chat_shift_(chat, end, end - len);
        at += tcall_head_size_(head);
    }
}

/* Makes up an id of nine letters and digits: every provider takes those. */
TCALL_SHARED_ tcall_str tcall_chat_make_id_(tcall_chat *chat, char id[9])
{
    uint32_t number = ++chat->made;
    int i;
    memcpy(id, "call", 4);
    for (i = 8; i > 3; i--, number /= 10)
        id[i] = (char)('0' + number % 10);
    return tcall_slice_(id, 9);
}

/* ==========================================================================
 * >>tools
 */

/* ---- looking up ---- */

/* Returns TCALL_OK, or why nothing can be called: tcall_init failed or was
 * never called. */
TCALL_SHARED_ int tcall_usable_(const tcall *tc)
{
    if (tc->ready)
        return TCALL_OK;
    return tc->error < 0 ? tc->error : TCALL_E_USAGE;
}

/* Returns what the tool needs: everything when it declares nothing. */
TCALL_SHARED_ unsigned tcall_needs_(const tcall_tool *tool)
{
    return tool->permissions ? tool->permissions : (unsigned)TCALL_EVERYTHING;
}

bool tcall_enabled(const tcall_tool *tool, unsigned allow)
{
    return (tcall_needs_(tool) & ~(allow & TCALL_EVERYTHING)) == 0;
}

size_t tcall_peak(const tcall *tc)
{
    return tc->block.peak;
}

/* Returns < 0, 0 or > 0 as text comes before, is or comes after name. */
static int tcall_name_compare_(const char *text, tcall_str name)
{
    size_t i;
    for (i = 0; i < name.len; i++)
        if (text[i] != name.ptr[i] || !text[i])
            return (unsigned char)text[i] - (unsigned char)name.ptr[i];
    return (unsigned char)text[i];
}

/* Returns the place of a name in tc->names, or where it belongs. */
static size_t tcall_name_place_(const tcall *tc, tcall_str name, bool *found)
{
    size_t first = 0, end = tc->name_count;
    *found = false;
    while (first < end && !*found) {
        size_t middle = first + (end - first) / 2;
        const char *other = tc->desc.tools[tc->names[middle]].name;
        int order = tcall_name_compare_(other, name);
        *found = order == 0;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return end;
}

const tcall_tool *tcall_find(const tcall *tc, tcall_str name)
{
    bool found;
    size_t place = tcall_name_place_(tc, name, &found);
    return found ? &tc->desc.tools[tc->names[place]] : NULL;
}

const tcall_tool *tcall_next_tool(const tcall *tc, size_t *i, unsigned allow)
{
    while (*i < tc->desc.tool_count) {
        const tcall_tool *tool = &tc->desc.tools[(*i)++];
        if (tcall_enabled(tool, allow))
            return tool;
    }
    return NULL;
}

/* Lists a row under its name, unless there is none or an earlier row has it:
 * both are faults that were reported. */
static void tcall_name_insert_(tcall *tc, size_t row)
{
    bool found;
    tcall_str name = tcall_str_of(tc->desc.tools[row].name);
    size_t place = tcall_name_place_(tc, name, &found);
    uint16_t *at;
    if (!tc->names || found || !name.len)
        return;
    at = tc->names + place;
    memmove(at + 1, at, (tc->name_count - place) * sizeof *at);
    *at = (uint16_t)row;
    tc->name_count++;
}

/* Takes a name that is listed off the list. */
static void tcall_name_remove_(tcall *tc, tcall_str name)
{
    bool found;
    size_t place = tcall_name_place_(tc, name, &found);
    uint16_t *at = tc->names + place;
    tc->name_count--;
    memmove(at, at + 1, (tc->name_count - place) * sizeof *at);
}

/* ---- what can be wrong with a table ---- */

/* A row or table that is judged, and what came of it so far. */
typedef struct tcall_review_ {
    tcall *tc;
    const char *name;
    int error; /* TCALL_OK or TCALL_E_TOOL */
} tcall_review_;

static tcall_review_ tcall_review_of_(tcall *tc, const char *name)
{
    tcall_review_ review = {tc, name, TCALL_OK};
    return review;
}

/* Begins a line of the report; returns where to write on, or NULL. */
TCALL_SHARED_ tcall_writer *tcall_report_(tcall *tc, const char *name)
{
    tcall_writer *out = tc->desc.report;
    if (out) {
        tcall_write_text(out, name ? name : "(no name)");
        tcall_write_text(out, ": ");
    }
    return out;
}

/* TCALL_REFUSE_(review, wrong, sentence): a condition that must not hold, and
 * what to tell the developer where it does. */
#ifndef TOOLCALL_NO_REPORT

#define TCALL_REFUSE_ tcall_refuse_

static void tcall_refuse_(tcall_review_ *review, bool wrong,
                          const char *sentence)
{
    tcall_writer *out;
    if (!wrong)
        return;
    review->error = TCALL_E_TOOL;
    out = tcall_report_(review->tc, review->name);
    if (out) {
        tcall_write_text(out, sentence);
        tcall_write_text(out, "\n");
    }
}

#else

#define TCALL_REFUSE_(review, wrong, sentence) tcall_refuse_(review, wrong)

static void tcall_refuse_(tcall_review_ *review, bool wrong)
{
    if (wrong)
        review->error = TCALL_E_TOOL;
}

#endif

/* The rule for names: letters, digits, _ - and what `more` adds, at most max,
 * and perhaps a letter or _ first. */
TCALL_SHARED_ bool tcall_name_fits_(const char *name, const char *more,
                                    size_t max, bool letter_first)
{
    size_t i;
    for (i = 0; name[i] && i <= max; i++) {
        char lower = (char)(name[i] | 0x20);
        bool letter = (lower >= 'a' && lower <= 'z') || name[i] == '_';
        bool other = tcall_is_digit_(name[i]) || name[i] == '-' ||
                     strchr(more, name[i]) != NULL;
        if (!letter && (!other || (i == 0 && letter_first)))
            return false;
    }
    return i > 0 && i <= max;
}

#ifndef TOOLCALL_NO_SCHEMA

/* Returns whether something says what the arguments must be. */
TCALL_SHARED_ bool tcall_is_checked_(const tcall_tool *tool)
{
    return tool->parameters || tool->shape;
}

/* What is wrong with what a row says of its arguments. */
static void tcall_row_check_arguments_(tcall_review_ *review,
                                       const tcall_tool *tool)
{
    bool checked = tcall_is_checked_(tool);
    TCALL_REFUSE_(review, !checked && !tool->allow_no_schema,
                  "parameters is missing: give a JSON Schema, or a shape, "
                  "or set allow_no_schema");
    TCALL_REFUSE_(review, tool->parameters && tool->shape,
                  "parameters and shape say the same twice: leave out "
                  "parameters, which is written from the shape");
    TCALL_REFUSE_(review, tool->strict && !checked,
                  "strict needs parameters, or a shape, to hold the model "
                  "to");
    TCALL_REFUSE_(review, tool->fields && tool->shape,
                  "a shape fills its struct itself: leave out fields and "
                  "args_size");
    TCALL_REFUSE_(review, tool->fields && !checked,
                  "fields need parameters: the schema that says what they "
                  "are");
    TCALL_REFUSE_(review, tool->fields && !tool->args_size,
                  "fields need args_size: sizeof the struct that they "
                  "describe");
    TCALL_REFUSE_(review, tool->args_size && !tool->fields,
                  "args_size needs fields: the table that fills the struct");
    TCALL_REFUSE_(review, tool->no_schema_mode > TCALL_NO_SCHEMA_FULL,
                  "no_schema_mode is none of tcall_no_schema");
#ifdef TOOLCALL_NO_SHAPES
    TCALL_REFUSE_(review, tool->shape != NULL,
                  "shapes were left out by TOOLCALL_NO_SHAPES");
#endif
#ifdef TOOLCALL_NO_BIND
    TCALL_REFUSE_(review, tool->fields != NULL,
                  "fields were left out by TOOLCALL_NO_BIND");
#endif
}

#else

/* Every tool has a shape. */
TCALL_SHARED_ bool tcall_is_checked_(const tcall_tool *tool)
{
    (void)tool;
    return true;
}

static void tcall_row_check_arguments_(tcall_review_ *review,
                                       const tcall_tool *tool)
{
    TCALL_REFUSE_(review, !tool->shape,
                  "shape is missing: TOOLCALL_NO_SCHEMA left "
                  "out all else that checks arguments");
    TCALL_REFUSE_(review,
                  tool->parameters || tool->output || tool->provider_schema ||
                      tool->fields,
                  "schemas were left out by TOOLCALL_NO_SCHEMA");
}

#endif

/* Everything that is wrong with a row but for its schemas and hooks. */
TCALL_NOINLINE_ static int tcall_row_check_(tcall *tc, const tcall_tool *tool)
{
    tcall_review_ review = tcall_review_of_(tc, tool->name);
    TCALL_REFUSE_(&review,
                  !tool->name || !tcall_name_fits_(tool->name, "", 64, true),
                  "the name must begin with a letter or _ and have 1 to 64 "
                  "of A-Z a-z 0-9 _ -");
    TCALL_REFUSE_(&review, tcall_find(tc, tcall_str_of(tool->name)) != NULL,
                  "another tool has this name");
    TCALL_REFUSE_(&review, !tool->run,
                  "run is missing: name the function that does the work");
    TCALL_REFUSE_(&review,
                  (tool->permissions | tool->optional_permissions) >
                      TCALL_EVERYTHING,
                  "permissions has a bit that is none of TCALL_READ ... "
                  "TCALL_ACTUATE");
    TCALL_REFUSE_(&review, tool->safe > TCALL_SAFETY_UNSAFE,
                  "safe is none of tcall_safety");
    TCALL_REFUSE_(&review, !tool->hooks != !tool->hook_count,
                  "hooks and hook_count belong together: give both");
#ifdef TOOLCALL_NO_STRICT
    TCALL_REFUSE_(&review, tool->strict,
                  "strict was left out by TOOLCALL_NO_STRICT");
#endif
#ifdef TOOLCALL_NO_HOOKS
    TCALL_REFUSE_(&review, tool->hook_count > 0,
                  "hooks were left out by TOOLCALL_NO_HOOKS");
#endif
    tcall_row_check_arguments_(&review, tool);
    return review.error;
}

/* The same for the registry itself. */
static int tcall_desc_check_(tcall *tc)
{
    const tcall_desc *desc = &tc->desc;
    tcall_review_ review = tcall_review_of_(tc, "tcall_desc");
    TCALL_REFUSE_(&review, desc->tool_count > 0 && !desc->tools,
                  "tool_count needs tools: the table");
    TCALL_REFUSE_(&review,
                  desc->tool_count > UINT16_MAX || desc->row_count > UINT16_MAX,
                  "there are more than 65535 tools");
    TCALL_REFUSE_(&review, !desc->rows != !desc->row_count,
                  "rows and row_count belong together: give both");
    TCALL_REFUSE_(&review, desc->rows && desc->row_count < desc->tool_count,
                  "rows has less room than tools needs");
    TCALL_REFUSE_(&review, !desc->hooks != !desc->hook_count,
                  "hooks and hook_count belong together: give both");
    TCALL_REFUSE_(&review, !desc->services != !desc->service_count,
                  "services and service_count belong together: give both");
    TCALL_REFUSE_(&review, desc->validator && !desc->validator->check,
                  "validator needs check: the function that checks arguments");
#ifdef TOOLCALL_NO_REPORT
    TCALL_REFUSE_(&review, desc->report != NULL, "");
#endif
#ifdef TOOLCALL_NO_SCHEMA
    TCALL_REFUSE_(&review, desc->validator != NULL,
                  "validator was left out by TOOLCALL_NO_SCHEMA");
#endif
#ifdef TOOLCALL_NO_HOOKS
    TCALL_REFUSE_(&review, desc->hook_count > 0,
                  "hooks were left out by TOOLCALL_NO_HOOKS");
#endif
#ifdef TOOLCALL_NO_EVENTS
    TCALL_REFUSE_(&review, desc->on_event != NULL,
                  "on_event was left out by TOOLCALL_NO_EVENTS");
#endif
#ifdef TOOLCALL_NO_REPAIR
    TCALL_REFUSE_(&review, desc->repair != NULL,
                  "repair was left out by TOOLCALL_NO_REPAIR");
#endif
    return review.error;
}

/* ---- schemas of a row ---- */

/* The error of a table: a lack of memory counts more than a wrong row, since
 * with it not all rows could be judged. */
static int tcall_worse_(int first, int second)
{
    return first == TCALL_OK || second == TCALL_E_MEMORY ? second : first;
}

/* Takes a zeroed table from the lasting part of the block; NULL when there is
 * no room. */
static void *tcall_table_(tcall *tc, size_t count, size_t size)
{
    char *table = tcall_block_gap_(&tc->block);
    size_t bytes = (count * size + 7) & ~(size_t)7;
    if (!bytes || !tcall_block_grow_(&tc->block, bytes))
        return NULL;
    memset(table, 0, bytes);
    return table;
}

#ifndef TOOLCALL_NO_SCHEMA

/* Compiles into the free part of the block; the program is not held yet. */
TCALL_SHARED_ int tcall_tool_compile_(tcall *tc, tcall_schema *out,
                                      const char *text)
{
    tcall_block *block = &tc->block;
    int r =
        tcall_schema_compile(out, tcall_str_of(text), tcall_block_gap_(block),
                             tcall_block_free_(block), TCALL_DRAFT_2020);
    if (r == TCALL_E_MEMORY || r >= 0)
        if (!tcall_block_room_(block, r < 0 ? out->need : (size_t)r))
            r = TCALL_E_MEMORY;
    return r;
}

/* A schema of a row must compile. A validator of the user's decides itself
 * what it can check. */
static int tcall_schema_add_(tcall *tc, tcall_schema *schema, const char *text)
{
    int r;
    if (!tc->desc.validator)
        return tcall_tool_compile_(tc, schema, text);
    r = tcall_scan_whole_(tcall_str_of(text));
    memset(schema, 0, sizeof *schema);
    schema->reason = "is not JSON";
    return r < 0 ? TCALL_E_SCHEMA : TCALL_OK;
}

/* Reports a schema that was refused, in its own words. */
static int tcall_schema_refuse_(tcall *tc, const tcall_tool *tool,
                                const char *which, const tcall_schema *refused)
{
    tcall_writer *out = tcall_report_(tc, tool->name);
    if (out) {
        tcall_write_text(out, which);
        tcall_write_text(out, ": ");
        tcall_write_schema_error(out, refused);
        tcall_write_text(out, "\n");
    }
    return TCALL_E_TOOL;
}

/* Compiles one schema of a row, for the report; a program that `keep` is given
 * for is held in the block. */
static int tcall_row_schema_(tcall *tc, const tcall_tool *tool,
                             const char *which, const char *text,
                             tcall_schema *keep)
{
    tcall_schema scratch, *schema = keep ? keep : &scratch;
    int r = text ? tcall_schema_add_(tc, schema, text) : TCALL_OK;
    if (r == TCALL_E_SCHEMA)
        return tcall_schema_refuse_(tc, tool, which, schema);
    if (r > 0 && keep)
        tcall_block_grow_(&tc->block, (size_t)r);
    return r < 0 ? r : TCALL_OK;
}

/* All schemas of a row are compiled, so that a wrong one shows at the start;
 * only the one that checks calls is kept. */
static int tcall_row_schemas_(tcall *tc, const tcall_tool *tool,
                              tcall_schema *keep)
{
    int r = tcall_row_schema_(tc, tool, "parameters", tool->parameters, keep);
    r = tcall_worse_(r,
                     tcall_row_schema_(tc, tool, "output", tool->output, NULL));
    return tcall_worse_(r, tcall_row_schema_(tc, tool, "provider_schema",
                                             tool->provider_schema, NULL));
}

/* Takes the table of compiled schemas, unless they are made when a call comes
 * or somebody else checks. */
static int tcall_schemas_(tcall *tc, size_t rows)
{
    if (tc->desc.lazy_schemas || tc->desc.validator)
        return TCALL_OK;
    tc->schemas = (tcall_schema *)tcall_table_(tc, rows, sizeof *tc->schemas);
    return tc->schemas ? TCALL_OK : TCALL_E_MEMORY;
}

/* Returns where the compiled schema of a row is kept, or NULL. */
static tcall_schema *tcall_schema_of_(const tcall *tc, size_t row)
{
    return tc->schemas ? &tc->schemas[row] : NULL;
}

/* Returns whether the schema of a tool was compiled at the start. */
TCALL_SHARED_ bool tcall_is_compiled_(const tcall *tc, const tcall_tool *tool)
{
    return tc->schemas && tc->schemas[tool - tc->desc.tools].program;
}

/* Forgets the schema of a tool that is removed. */
static void tcall_schema_drop_(tcall *tc, size_t row)
{
    if (tc->schemas)
        memset(&tc->schemas[row], 0, sizeof *tc->schemas);
}

#else

/* Without schemas a row that has one was refused. */
typedef struct tcall_schema tcall_schema;

static int tcall_row_schemas_(tcall *tc, const tcall_tool *tool,
                              tcall_schema *keep)
{
    (void)tc;
    (void)tool;
    (void)keep;
    return TCALL_OK;
}

static int tcall_schemas_(tcall *tc, size_t rows)
{
    (void)tc;
    (void)rows;
    return TCALL_OK;
}

static tcall_schema *tcall_schema_of_(const tcall *tc, size_t row)
{
    (void)tc;
    (void)row;
    return NULL;
}

TCALL_SHARED_ bool tcall_is_compiled_(const tcall *tc, const tcall_tool *tool)
{
    (void)tc;
    (void)tool;
    return false;
}

static void tcall_schema_drop_(tcall *tc, size_t row)
{
    (void)tc;
    (void)row;
}

#endif /* TOOLCALL_NO_SCHEMA */

/* ---- the order of hooks ---- */

/* When a stage is due: towards the run (GOING), after it, always ... The
 * states of a call are bits, and each stage has the set of states that it is
 * due in: that, and the order of the list, is the whole lifecycle. */
enum {
    TCALL_GOING_ = 1,    /* towards the run of the tool */
    TCALL_HIT_ = 2,      /* answered by a hook at WILL_READ_CACHE */
    TCALL_ANSWERED_ = 4, /* there is an output, and no error */
    TCALL_FAILED_ = 8,
    TCALL_DONE_ = 16,
    TCALL_LATE_ = 32, /* of a stage: higher priority comes later */

    TCALL_INNER_ = 0, /* not by the list: inside AROUND_EXECUTE */
    TCALL_WELL_ = TCALL_GOING_ | TCALL_HIT_ | TCALL_ANSWERED_,
    TCALL_ALWAYS_ = TCALL_WELL_ | TCALL_FAILED_,
    TCALL_DID_INNER_ = TCALL_LATE_ | TCALL_INNER_,
    TCALL_DID_GOING_ = TCALL_LATE_ | TCALL_GOING_,
    TCALL_DID_HIT_ = TCALL_LATE_ | TCALL_HIT_,
    TCALL_DID_ALWAYS_ = TCALL_LATE_ | TCALL_ALWAYS_
};

#ifndef TOOLCALL_NO_HOOKS

/* The states that each stage is due in. */
static const uint8_t tcall_due_[] = {
#define TCALL_X_(NAME, name, when) TCALL_##when##_,
    TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
};

/* True when hook a runs before hook b, which is earlier in the tables. */
static bool tcall_hook_before_(const tcall_hook *first,
                               const tcall_hook *second)
{
    if (first->stage != second->stage)
        return first->stage < second->stage;
    if (tcall_due_[first->stage] & TCALL_LATE_)
        return first->priority < second->priority;
    return first->priority > second->priority;
}

/* Inserts hooks into the order: tables of hooks are short, and mostly sorted.
 * Equal ones keep the order of the tables. */
static void tcall_order_insert_(tcall_order_ *order, const tcall_hook *hooks,
                                size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const tcall_hook **at = order->hooks + order->count++;
        for (; at > order->hooks && tcall_hook_before_(&hooks[i], at[-1]); at--)
            at[0] = at[-1];
        at[0] = &hooks[i];
        order->stages |= (uint32_t)1 << hooks[i].stage;
    }
}

/* Reports what is wrong with a hook, which is named with its tool or table. */
static int tcall_hook_check_(tcall *tc, const char *name,
                             const tcall_hook *hook)
{
    char which[64];
    tcall_review_ review;
    tcall_writer out;
    tcall_writer_init(&out, which, sizeof which - 1);
    tcall_write_text(&out, name ? name : "(no name)");
    tcall_write_text(&out, ": hook ");
    tcall_write_text(&out, hook->name ? hook->name : "(no name)");
    which[out.fill] = '\0';
    review = tcall_review_of_(tc, which);
    TCALL_REFUSE_(&review, !hook->run,
                  "run is missing: name the function to call");
    TCALL_REFUSE_(&review, hook->stage >= TCALL_STAGE_COUNT,
                  "its stage is none of TCALL_STAGES");
    return review.error;
}

/* The same for a table of hooks. */
static int tcall_hooks_check_(tcall *tc, const char *name,
                              const tcall_hook *hooks, size_t count)
{
    int r = TCALL_OK;
    size_t i;
    for (i = 0; i < count; i++)
        if (tcall_hook_check_(tc, name, &hooks[i]) < 0)
            r = TCALL_E_TOOL;
    return r;
}

/* Orders the hooks of the registry and of one tool, which may be NULL. The
 * room of a row that was used before is used again. */
static int tcall_order_hooks_(tcall *tc, const tcall_tool *tool,
                              tcall_order_ *order)
{
    const tcall_desc *desc = &tc->desc;
    size_t count = (size_t)desc->hook_count + (tool ? tool->hook_count : 0);
    if (count > order->room) {
        order->hooks = (const tcall_hook **)tcall_table_(
            tc, count, sizeof(const tcall_hook *));
        order->room = (uint16_t)(order->hooks ? count : 0);
    }
    if (count > order->room)
        return TCALL_E_MEMORY;
    order->count = 0;
    order->stages = 0;
    tcall_order_insert_(order, desc->hooks, desc->hook_count);
    if (tool)
        tcall_order_insert_(order, tool->hooks, tool->hook_count);
    return TCALL_OK;
}

/* Checks the hooks of a tool and puts them in order with the registry's. */
static int tcall_row_hooks_(tcall *tc, const tcall_tool *tool)
{
    int r = tcall_hooks_check_(tc, tool->name, tool->hooks, tool->hook_count);
    if (r < 0 || !tool->hook_count || !tc->orders)
        return r;
    return tcall_order_hooks_(tc, tool, &tc->orders[tool - tc->desc.tools]);
}

/* The same for the registry. Rows have orders of their own only where a tool
 * has hooks, or may come with some. */
static int tcall_desc_hooks_(tcall *tc)
{
    const tcall_desc *desc = &tc->desc;
    size_t i, rows = desc->row_count;
    int r = tcall_hooks_check_(tc, "tcall_desc", desc->hooks, desc->hook_count);
    for (i = 0; i < desc->tool_count && !rows; i++)
        rows = desc->tools[i].hook_count ? desc->tool_count : 0;
    if (rows) {
        tc->orders = (tcall_order_ *)tcall_table_(tc, rows, sizeof *tc->orders);
        r = tcall_worse_(r, tc->orders ? TCALL_OK : TCALL_E_MEMORY);
    }
    return r < 0 ? r : tcall_order_hooks_(tc, NULL, &tc->order);
}

#else

/* Without hooks there is nothing to order: a table of them is a fault. */
static int tcall_row_hooks_(tcall *tc, const tcall_tool *tool)
{
    (void)tc;
    (void)tool;
    return TCALL_OK;
}

static int tcall_desc_hooks_(tcall *tc)
{
    (void)tc;
    return TCALL_OK;
}

#endif

/* ---- the registry ---- */

/* Takes the tables that are as long as there may be tools. */
static int tcall_tables_(tcall *tc)
{
    tcall_desc *desc = &tc->desc;
    size_t rows = desc->rows ? desc->row_count : desc->tool_count;
    if (desc->rows && desc->tool_count)
        memmove(desc->rows, desc->tools, desc->tool_count * sizeof *desc->rows);
    if (desc->rows)
        desc->tools = desc->rows;
    if (!rows)
        return TCALL_OK;
    tc->names = (uint16_t *)tcall_table_(tc, rows, sizeof *tc->names);
    return tc->names ? tcall_schemas_(tc, rows) : TCALL_E_MEMORY;
}

/* Checks a row of the table, reports all that is wrong with it, and makes it
 * ready to be called. */
static int tcall_row_add_(tcall *tc, size_t row, tcall_schema *keep)
{
    const tcall_tool *tool = &tc->desc.tools[row];
    int r = tcall_row_check_(tc, tool);
    r = tcall_worse_(r, tcall_row_schemas_(tc, tool, keep));
    r = tcall_worse_(r, tcall_row_hooks_(tc, tool));
    return r;
}

int tcall_init(tcall *tc, const tcall_desc *desc)
{
    size_t i;
    int r;
    memset(tc, 0, sizeof *tc);
    tc->desc = *desc;
    tcall_block_init(&tc->block, desc->block, desc->block_size);
    r = tcall_desc_check_(tc);
    if (r == TCALL_OK)
        r = tcall_tables_(tc);
    if (r == TCALL_OK)
        r = tcall_desc_hooks_(tc);
    for (i = 0; tc->desc.tools && i < desc->tool_count; i++) {
        r = tcall_worse_(r, tcall_row_add_(tc, i, tcall_schema_of_(tc, i)));
        tcall_name_insert_(tc, i);
    }
    /* After an error nothing can be found, and so nothing can be called. */
    tc->ready = r == TCALL_OK;
    tc->error = r;
    if (r < 0)
        tc->desc.tool_count = tc->name_count = 0;
    return r;
}

/* A row that is free: it needs a permission that nobody can be given. */
#define TCALL_GONE_ (TCALL_EVERYTHING + 1)

/* Makes a row free. */
static void tcall_row_clear_(tcall_tool *row)
{
    memset(row, 0, sizeof *row);
    row->name = "";
    row->permissions = TCALL_GONE_;
}

/* Returns the first row that is free. A call under way may still need the row
 * of a tool that was removed. */
static size_t tcall_row_free_(const tcall *tc)
{
    size_t row = tc->desc.tool_count;
    if (tc->block.high == 0)
        for (row = 0; row < tc->desc.tool_count; row++)
            if (tc->desc.rows[row].permissions == TCALL_GONE_)
                break;
    return row;
}

int tcall_add(tcall *tc, const tcall_tool *tool)
{
    size_t row;
    int r = tcall_usable_(tc);
    if (r < 0 || !tc->desc.rows)
        return r < 0 ? r : TCALL_E_USAGE;
    row = tcall_row_free_(tc);
    if (row == tc->desc.row_count)
        return TCALL_E_MEMORY;
    tc->desc.rows[row] = *tool; /* it is judged in its place */
    r = tcall_row_add_(tc, row, NULL);
    if (r < 0) {
        tcall_row_clear_(&tc->desc.rows[row]);
        return r;
    }
    tcall_name_insert_(tc, row);
    if (row == tc->desc.tool_count)
        tc->desc.tool_count++;
    return (int)row;
}

int tcall_remove(tcall *tc, tcall_str name)
{
    const tcall_tool *tool = tcall_find(tc, name);
    tcall_tool *row;
    if (!tool || !tc->desc.rows)
        return TCALL_E_UNKNOWN;
    row = tc->desc.rows + (tool - tc->desc.rows);
    tcall_name_remove_(tc, name);
    /* The rest stays for calls that are under way. */
    row->name = "";
    row->permissions = TCALL_GONE_;
    row->pinned = false;
    tcall_schema_drop_(tc, (size_t)(tool - tc->desc.rows));
    return TCALL_OK;
}

/* ---- time and events ---- */

/* Returns milliseconds, or 0 without a clock. */
TCALL_SHARED_ uint32_t tcall_now_(const tcall *tc)
{
    return tc->desc.now_ms ? tc->desc.now_ms(tc->desc.user) : 0;
}

#ifndef TOOLCALL_NO_EVENTS

/* Returns whether anybody listens. */
TCALL_SHARED_ bool tcall_is_heard_(const tcall *tc)
{
    return tc->desc.on_event || tc->listeners;
}

/* Sends an event to all who want it. */
TCALL_SHARED_ void tcall_tell_(tcall *tc, tcall_event *event,
                               tcall_event_kind kind)
{
    tcall_listener *listener, *next;
    event->kind = kind;
    if (tc->desc.on_event)
        tc->desc.on_event(tc->desc.user, event);
    for (listener = tc->listeners; listener; listener = next) {
        next = listener->next; /* it may remove itself */
        if (!listener->kinds || listener->kinds >> kind & 1)
            listener->on_event(listener->user, event);
    }
}

void tcall_subscribe(tcall *tc, tcall_listener *listener)
{
    listener->next = tc->listeners;
    tc->listeners = listener;
}

void tcall_unsubscribe(tcall *tc, tcall_listener *listener)
{
    tcall_listener **at = &tc->listeners;
    while (*at && *at != listener)
        at = &(*at)->next;
    if (*at)
        *at = listener->next;
}

#else

/* Without events nobody listens. */
TCALL_SHARED_ bool tcall_is_heard_(const tcall *tc)
{
    (void)tc;
    return false;
}

TCALL_SHARED_ void tcall_tell_(tcall *tc, tcall_event *event,
                               tcall_event_kind kind)
{
    (void)tc;
    (void)event;
    (void)kind;
}

#endif /* TOOLCALL_NO_EVENTS */

/* ==========================================================================
 * >>words
 *
 * Splits text of any script into words, which are compared by their stems:
 * without case, accents, width and English endings. lampOn and HTTPServer are
 * two words each, PDFs is one. In scripts that are written without spaces, a
 * word is a pair of neighbouring characters.
 */

#ifndef TOOLCALL_NO_PICK

enum {
    TCALL_WORD_BYTES_ = 28, /* of a word; further ones do not count */
    TCALL_WORD_PREFIX_ = 6  /* letters that make longer words alike */
};

/* Words that say nothing about what is wanted, by their first letter. Words
 * that tell a device what to do (on, off, up, down, all) are not among them. */
static const char *const tcall_stop_words_[26] = {
    "a able about additionally after again also am an and another any anyone "
    "anything anyway are as at",
    "based be because been before being best between both but by",
    "can could",
    "d did do does doing don done during",
    "e each etc every",
    "finally first following for from furthermore",
    "g give given good great",
    "had has have having he hello help her here hey hi him his how",
    "i if im in into is it its ive",
    "just",
    "kindly know",
    "lastly let lets like ll look looking",
    "m make may me might mine more moreover most must my",
    "need needs next no nor not now",
    "of ok okay once only or other our",
    "per please",
    "",
    "re regarding related",
    "s same second shall she should so some someone something soon such sure",
    "t tell than thank thanks that the their them then there these they thing "
    "things third this those through to too",
    "us use used using",
    "ve very via",
    "want wants was way ways we well were what when where which who whom whose "
    "why will with would",
    "",
    "yes you your",
    ""};

/* ---- characters */

enum {
    TCALL_CHAR_SIGN_,
    TCALL_CHAR_LETTER_, /* or digit */
    TCALL_CHAR_WIDE_,   /* of a script without spaces */
    TCALL_CHAR_MARK_    /* accent of the letter before: it is left out */
};

/* The kind of all characters from a code point on, up to the next row. */
static const struct tcall_script_ {
    uint32_t first;
    uint8_t kind;
} tcall_scripts_[] = {
    {0x0000, TCALL_CHAR_SIGN_},   {'0', TCALL_CHAR_LETTER_},
    {'9' + 1, TCALL_CHAR_SIGN_},  {'a', TCALL_CHAR_LETTER_},
    {'z' + 1, TCALL_CHAR_SIGN_},  {0x0100, TCALL_CHAR_LETTER_},
    {0x0300, TCALL_CHAR_MARK_},   {0x0370, TCALL_CHAR_LETTER_},
    {0x0E00, TCALL_CHAR_WIDE_},                               /* Thai, Lao */
    {0x0F00, TCALL_CHAR_LETTER_}, {0x1000, TCALL_CHAR_WIDE_}, /* Burmese */
    {0x10A0, TCALL_CHAR_LETTER_}, {0x1780, TCALL_CHAR_WIDE_}, /* Khmer */
    {0x1800, TCALL_CHAR_LETTER_}, {0x2000, TCALL_CHAR_SIGN_},
    {0x2C00, TCALL_CHAR_LETTER_}, {0x2E00, TCALL_CHAR_SIGN_},
    {0x2E80, TCALL_CHAR_WIDE_}, /* Chinese, Japanese, Korean from here on */
    {0x3000, TCALL_CHAR_SIGN_},   {0x3004, TCALL_CHAR_WIDE_},
    {0x3008, TCALL_CHAR_SIGN_},   {0x3040, TCALL_CHAR_WIDE_},
    {0xD7B0, TCALL_CHAR_LETTER_}, {0xD800, TCALL_CHAR_SIGN_},
    {0xF900, TCALL_CHAR_WIDE_},   {0xFB00, TCALL_CHAR_LETTER_},
    {0xFE00, TCALL_CHAR_SIGN_},   {0xFE70, TCALL_CHAR_LETTER_},
    {0xFF00, TCALL_CHAR_SIGN_},   {0xFF68, TCALL_CHAR_WIDE_},
    {0xFFF0, TCALL_CHAR_SIGN_},   {0x10000, TCALL_CHAR_LETTER_},
    {0x1F000, TCALL_CHAR_SIGN_},  {0x20000, TCALL_CHAR_WIDE_}};

typedef struct tcall_char_ {
    uint32_t code; /* without case, accent and width */
    size_t bytes;  /* 0 at the end of the text, which counts as a sign */
    uint8_t kind;
    bool capital;
} tcall_char_;

static bool tcall_between_(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last;
}

static bool tcall_is_letter_(char c)
{
    return tcall_between_((unsigned char)(c | 0x20), 'a', 'z');
}

static uint8_t tcall_char_kind_(uint32_t code)
{
    const size_t count = sizeof tcall_scripts_ / sizeof *tcall_scripts_;
    uint8_t kind = TCALL_CHAR_SIGN_;
    size_t i;
    for (i = 0; i < count; i++)
        if (tcall_scripts_[i].first <= code)
            kind = tcall_scripts_[i].kind;
    return kind;
}

/* Returns the small letter of a code point, in Latin-1 without its accent. */
static uint32_t tcall_char_fold_(uint32_t code)
{
    /* U+00C0 to U+00DF; U+00E0 to U+00FF are their small letters. */
    static const char latin[] = "aaaaaaaceeeeiiiidnooooo ouuuuyts";
    if (tcall_between_(code, 'A', 'Z') ||
        tcall_between_(code, 0x391, 0x3A9) || /* Greek */
        tcall_between_(code, 0x410, 0x42F))   /* Cyrillic */
        return code + 0x20;
    if (tcall_between_(code, 0x400, 0x40F))
        return code + 0x50;
    if (tcall_between_(code, 0xC0, 0xFF))
        return (unsigned char)latin[code % 32];
    if (tcall_between_(code, 0x100, 0x17F)) {
        /* A small letter follows its capital, which mostly is even. */
        bool odd = tcall_between_(code, 0x139, 0x148) ||
                   tcall_between_(code, 0x179, 0x17E);
        return code + (code % 2 == odd);
    }
    return code;
}

/* ---- words */

/* A text, and the last word that was read from it. */
typedef struct tcall_split_ {
    const char *cursor, *end;
    const tcall_object *shape; /* its texts follow, from this one on */
    unsigned shape_text;
    const uint32_t *wanted; /* initials of wanted words; NULL: all are */
    bool input;             /* look for sentences, and for keys of JSON */
    bool json;              /* decode escapes */
    bool in_key;            /* the word is part of a key */
    bool sentence;          /* a sentence ended before the word */
    bool paired;            /* the word includes the character at the cursor */
    uint8_t length;
    const char *word; /* in the text, or where it had to be folded */
    unsigned initials;
    uint32_t stem, prefix;  /* hashes; prefix is 0 for short words */
    unsigned count, longer; /* words of the text so far; of three bytes */
    char folded[TCALL_WORD_BYTES_];
} tcall_split_;

TCALL_SHARED_ void tcall_split_init_(tcall_split_ *words, tcall_str text)
{
    memset(words, 0, offsetof(tcall_split_, folded));
    words->cursor = text.ptr;
    words->end = text.len ? text.ptr + text.len : text.ptr;
}

/* Begins an input of a user, which is text or JSON. */
TCALL_SHARED_ void tcall_split_input_(tcall_split_ *words, tcall_str input)
{
    const char *start;
    tcall_split_init_(words, input);
    for (start = words->cursor; start < words->end; start++)
        if ((unsigned char)*start > ' ')
            break;
    words->input = true;
    words->json = start < words->end && (*start == '{' || *start == '[');
}

/* Decodes an escape of JSON and returns its bytes. Escapes other than \n and
 * \u only separate words: their code is 0. */
static size_t tcall_escape_code_(const char *at, size_t left, uint32_t *code)
{
    size_t i;
    *code = at[1] == 'n' ? '\n' : 0;
    if (at[1] != 'u' || left < 6)
        return 2;
    for (i = 2; i < 6; i++)
        *code = *code << 4 | (tcall_hex_(at[i]) & 15);
    return 6;
}

/* Decodes the character at the cursor and returns its bytes, 0 at the end. A
 * byte that is not UTF-8 has the code 0. */
static size_t tcall_split_code_(const tcall_split_ *words, uint32_t *code)
{
    const char *at = words->cursor;
    size_t left = (size_t)(words->end - at), bytes;
    *code = 0;
    if (left == 0)
        return 0;
    if (*at == '\\' && words->json && left > 1)
        return tcall_escape_code_(at, left, code);
    bytes = (unsigned char)*at < 0x80 ? 1 : tcall_utf8_len_(at, words->end);
    if (bytes == 0)
        return 1;
    *code = (uint32_t)tcall_utf8_next_(&at);
    return bytes;
}

static tcall_char_ tcall_split_char_(const tcall_split_ *words)
{
    tcall_char_ c;
    uint32_t code;
    c.bytes = tcall_split_code_(words, &code);
    if (tcall_between_(code, 0xFF01, 0xFF5E)) /* full-width ASCII */
        code -= 0xFEE0;
    c.code = tcall_char_fold_(code);
    c.kind = tcall_char_kind_(c.code);
    c.capital = c.code != code && !tcall_between_(code, 0xDF, 0xFF);
    return c;
}

/* Returns whether the JSON string whose content begins at `at` is a key. */
static bool tcall_split_is_key_(const tcall_split_ *words, const char *at)
{
    const char *end = words->end;
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    for (at++; at < end && (unsigned char)*at <= ' '; at++)
        ;
    return at < end && *at == ':';
}

/* Bits of the bytes that can be part of a word: 0-9, A-Z, a-z, the backslash of
 * an escape, and all bytes beyond ASCII. */
static const uint32_t tcall_word_bytes_[8] = {
    0,          0x03FF0000, 0x17FFFFFE, 0x07FFFFFE,
    UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

TCALL_SHARED_ bool tcall_bit_(const uint32_t *bits, unsigned i)
{
    return bits[i / 32] >> i % 32 & 1;
}

static bool tcall_in_word_(char c)
{
    return tcall_bit_(tcall_word_bytes_, (unsigned char)c);
}

/* Notes what a sign of the input means for the next word; `next` follows it. */
static void tcall_split_sign_(tcall_split_ *words, uint32_t code,
                              const char *next)
{
    switch (code) {
    case '.': /* but not in 1.5 or example.com */
        if (next >= words->end || !tcall_in_word_(*next))
            words->sentence = true;
        break;
    case '!':
    case '?':
    case ';':
    case '\n':
    case 0x3002: words->sentence = true; break;
    case '"':
        words->in_key = words->json && tcall_split_is_key_(words, next);
        if (words->in_key)
            words->sentence = true;
        break;
    default: break;
    }
}

static void tcall_split_put_(tcall_split_ *words, uint32_t code)
{
    char *end = words->folded + words->length;
    if (words->length + 4 <= TCALL_WORD_BYTES_)
        words->length = (uint8_t)(words->length + tcall_utf8_(end, code));
}

/* Ends a word that begins with a wide character by the next one, if that is
 * wide too. Returns false for the last character of a row, which the word
 * before already includes. */
static bool tcall_split_pair_(tcall_split_ *words)
{
    tcall_char_ next = tcall_split_char_(words);
    bool was_paired = words->paired;
    words->paired = next.kind == TCALL_CHAR_WIDE_;
    if (words->paired)
        tcall_split_put_(words, next.code);
    return words->paired || !was_paired;
}

/* Reads a word, or one sign, that may contain escapes and any characters.
 * Returns whether it was a word. */
static bool tcall_split_fold_(tcall_split_ *words)
{
    bool small = false;
    words->word = words->folded;
    for (words->length = 0;;) {
        tcall_char_ c = tcall_split_char_(words);
        bool ends = c.kind == TCALL_CHAR_SIGN_ || c.kind == TCALL_CHAR_WIDE_ ||
                    (c.capital && small);
        if (ends && words->length > 0)
            return true;
        words->cursor += c.bytes;
        if (c.kind == TCALL_CHAR_SIGN_) {
            if (c.code != '"')
                tcall_split_sign_(words, c.code, words->cursor);
            return false;
        }
        if (c.kind == TCALL_CHAR_MARK_)
            continue;
        tcall_split_put_(words, c.code);
        small = !c.capital;
        if (c.kind == TCALL_CHAR_WIDE_)
            return tcall_split_pair_(words);
    }
}

static const char *tcall_skip_range_(const char *at, const char *end,
                                     char first, char last)
{
    while (at < end && *at >= first && *at <= last)
        at++;
    return at;
}

/* Returns the length of the word at the cursor when it consists of ASCII
 * letters or digits; 0 when it contains other characters or escapes. */
static size_t tcall_split_ascii_(const tcall_split_ *words)
{
    const char *start = words->cursor, *end = words->end;
    const char *small = tcall_skip_range_(start, end, 'A', 'Z');
    const char *after = tcall_skip_range_(small, end, 'a', 'z');
    if (after == start)
        after = tcall_skip_range_(start, end, '0', '9');
    else if (small - start > 1 && after > small &&
             !(after - small == 1 && *small == 's')) /* but for PDFs */
        after = small - 1; /* HTTPServer: the last capital begins a word */
    if (after < end &&
        ((unsigned char)*after >= 0x80 || (words->json && *after == '\\')))
        return 0;
    return (size_t)(after - start);
}

/* ---- stems */

static bool tcall_ends_with_(const char *word, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && memcmp(word + length - n, end, n) == 0;
}

static bool tcall_has_vowel_(const char *word, size_t length)
{
    size_t i;
    for (i = 0; i < length; i++)
        if (strchr("aeiouy", word[i]))
            return true;
    return false;
}

/* Returns the length of the stem of a word of four letters or more, so that its
 * forms are alike: light, lights, lighting. A stem need not be a word. It has
 * at least three letters. */
static size_t tcall_stem_(const char *word, size_t length)
{
    size_t cut = 0;
    if (word[length - 1] == 's' && !strchr("isu", word[length - 2]))
        length--;
    if (tcall_ends_with_(word, length, "ed"))
        cut = 2;
    else if (tcall_ends_with_(word, length, "ing") ||
             tcall_ends_with_(word, length, "ion"))
        cut = 3;
    if (length - cut > 2 && tcall_has_vowel_(word, length - cut))
        length -= cut;
    if (length > 3 && word[length - 1] == 'e')
        length--;
    if (length > 3 && word[length - 1] == word[length - 2] &&
        !tcall_has_vowel_(word + length - 1, 1))
        length--;
    return length;
}

/* Returns the FNV-1a hash. In words with endings y counts as i: city, cities.
 */
static uint32_t tcall_word_hash_(const char *word, size_t length, bool endings)
{
    uint32_t hash = 2166136261u;
    size_t i;
    for (i = 0; i < length; i++) {
        char c = endings && word[i] == 'y' ? 'i' : word[i];
        hash = (hash ^ (unsigned char)c) * 16777619u;
    }
    return hash;
}

/* Makes the keys of a word. Only longer words of letters have endings and a
 * prefix. The hash of a prefix is inverted, so that it never equals that of a
 * stem with the same letters. */
static void tcall_split_stem_(tcall_split_ *words)
{
    const char *word = words->word;
    size_t length = words->length;
    bool endings = length > 3 && tcall_is_letter_(*word);
    if (endings)
        length = tcall_stem_(word, length);
    words->stem = tcall_word_hash_(word, length, endings);
    words->prefix = endings && length >= TCALL_WORD_PREFIX_
                        ? ~tcall_word_hash_(word, TCALL_WORD_PREFIX_, true)
                        : 0;
}

/* ---- the next word */

/* Returns ten bits from the first two letters, which all forms of a word share.
 * They rule most words out before the work of making a stem. */
static unsigned tcall_initials_(const char *word, size_t length)
{
    unsigned first, second;
    if ((unsigned char)*word >=
        0x80) { /* of UTF-8 the first byte says little */
        word++;
        length--;
    }
    first = word[0] & 31;
    second = length > 1 ? word[1] & 31 : 0;
    if (second == ('y' & 31))
        second = 'i' & 31;
    return first << 5 | second;
}

TCALL_SHARED_ unsigned tcall_at_most_(size_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

/* Reads a word or a sign at the cursor; returns whether it was a word. */
static bool tcall_split_read_(tcall_split_ *words)
{
    size_t length = tcall_split_ascii_(words);
    if (length == 0)
        return tcall_split_fold_(words);
    words->word = words->cursor;
    words->cursor += length;
    words->length = (uint8_t)tcall_at_most_(length, TCALL_WORD_BYTES_);
    return true;
}

/* Counts the word; returns whether it may be wanted. */
static bool tcall_split_count_(tcall_split_ *words)
{
    words->initials = tcall_initials_(words->word, words->length);
    words->count++;
    words->longer += words->length > 2;
    return !words->wanted || tcall_bit_(words->wanted, words->initials);
}

/* Turns a word of ASCII letters that begins with a capital into small letters.
 */
static void tcall_split_lower_(tcall_split_ *words)
{
    size_t i;
    if (!tcall_between_((unsigned char)*words->word, 'A', 'Z'))
        return;
    for (i = 0; i < words->length; i++)
        words->folded[i] = (char)(words->word[i] | 0x20);
    words->word = words->folded;
}

/* Skips ASCII signs, and in an input notes what they mean. */
static void tcall_split_signs_(tcall_split_ *words)
{
    const char *at = words->cursor, *end = words->end;
    for (; at < end && !tcall_in_word_(*at); at++)
        if (words->input)
            tcall_split_sign_(words, (unsigned char)*at, at + 1);
    words->cursor = at;
}

/* Goes on with the next text of a shape. */
static bool tcall_split_more_(tcall_split_ *words)
{
    tcall_str text = tcall_slice_(NULL, 0);
    if (words->shape)
        text = tcall_shape_words_(words->shape, words->shape_text++);
    words->cursor = text.ptr;
    words->end = text.len ? text.ptr + text.len : text.ptr;
    return text.len > 0;
}

/* Reads the next wanted word and makes its stem; returns false at the end. */
TCALL_SHARED_ bool tcall_split_next_(tcall_split_ *words)
{
    words->sentence = false;
    for (;;) {
        tcall_split_signs_(words);
        if (words->cursor == words->end) {
            if (!tcall_split_more_(words))
                return false;
            continue;
        }
        if (tcall_split_read_(words) && tcall_split_count_(words))
            break;
    }
    tcall_split_lower_(words);
    tcall_split_stem_(words);
    return true;
}

/* Returns whether the word is a stop word. */
TCALL_SHARED_ bool tcall_split_stops_(const tcall_split_ *words)
{
    const char *list;
    if (!tcall_is_letter_(*words->word))
        return false;
    for (list = tcall_stop_words_[*words->word - 'a']; *list;) {
        size_t length = strcspn(list, " ");
        if (length == words->length && memcmp(list, words->word, length) == 0)
            return true;
        list += length;
        list += *list == ' ';
    }
    return false;
}

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>synonyms
 *
 * A compiler need not accept texts of more than 4095 bytes: there are several.
 */

#if !defined TOOLCALL_NO_SYNONYMS && !defined TOOLCALL_NO_PICK

/* Homes and their devices, and messages. */
static const char tcall_synonyms_devices_[] =
    "light lamp bulb illuminate\n"
    "bright brightness dim brighten darken luminosity\n"
    "on activate enable engage start\n"
    "off deactivate disable disengage stop\n"
    "start begin launch initiate\n"
    "stop end halt cancel abort terminate\n"
    "open raise unfold\n"
    "close shut lower\n"
    "increase raise up higher boost\n"
    "decrease reduce lower down less\n"
    "cover blind curtain shade shutter garage\n"
    "lock secure\n"
    "unlock unsecure\n"
    "volume loud louder quiet sound\n"
    "mute silence\n"
    "speaker audio sound stereo\n"
    "play resume listen\n"
    "player media tv television stereo radio\n"
    "pause hold\n"
    "next skip forward\n"
    "previous back last\n"
    "climate thermostat heating hvac temperature\n"
    "heat warm hot heater\n"
    "cool cold chill air conditioner ac\n"
    "temperature degrees celsius fahrenheit\n"
    "fan ventilation ventilator\n"
    "vacuum hoover robot clean\n"
    "clean sweep wash tidy\n"
    "dock charger base home\n"
    "timer countdown\n"
    "alarm alert wake\n"
    "sensor detector measurement reading\n"
    "switch toggle flip\n"
    "plug outlet socket\n"
    "device appliance gadget hardware\n"
    "reboot restart reset\n"
    "battery charge power\n"
    "camera webcam snapshot\n"
    "door gate entry\n"
    "motor servo pump\n"
    "email mail inbox gmail\n"
    "message text sms chat notify\n"
    "notification notify alert push\n"
    "call phone dial telephone\n"
    "send forward deliver\n"
    "calendar schedule agenda\n"
    "meeting appointment event conference\n";

/* Offices, files and media; what is done with them; time and place. */
static const char tcall_synonyms_offices_[] =
    "event concert festival happening\n"
    "reserve reservation book booking\n"
    "reminder remind remember memo\n"
    "note memo jot\n"
    "task todo chore\n"
    "document file doc pdf\n"
    "spreadsheet excel csv sheet\n"
    "slide presentation powerpoint ppt\n"
    "summary summarize summarise digest overview brief\n"
    "write compose draft\n"
    "translate translation language interpret\n"
    "grammar spelling proofread\n"
    "rewrite rephrase paraphrase\n"
    "contact person people address\n"
    "create make generate build produce add new\n"
    "delete remove erase clear drop\n"
    "update edit modify change alter adjust revise\n"
    "set configure adjust change\n"
    "add insert append put\n"
    "list show display view enumerate\n"
    "get fetch retrieve obtain find\n"
    "find search lookup locate discover\n"
    "search browse query web\n"
    "check verify validate inspect\n"
    "compare comparison difference versus\n"
    "analyze analysis evaluate assess examine\n"
    "calculate compute calculator determine\n"
    "convert conversion transform change\n"
    "estimate predict prediction forecast project\n"
    "recommend recommendation suggest suggestion advice\n"
    "track monitor follow watch\n"
    "save store keep record\n"
    "record log register\n"
    "register signup enroll join\n"
    "login signin authenticate password\n"
    "read view load open\n"
    "copy duplicate clone\n"
    "move transfer relocate\n"
    "rename name title\n"
    "folder directory path\n"
    "file document\n"
    "upload attach import\n"
    "download export save\n"
    "share publish post\n"
    "website site webpage page url link domain\n"
    "click press tap\n"
    "screenshot snapshot capture\n"
    "image picture photo photograph art\n"
    "draw drawing paint sketch illustration\n"
    "logo icon brand\n"
    "video clip youtube movie\n"
    "movie film cinema\n"
    "song music track tune playlist\n"
    "artist singer band musician\n"
    "lyrics song\n"
    "podcast episode\n"
    "book novel author read\n"
    "news headline article current\n"
    "article blog paper post\n"
    "paper research academic scholar study journal publication\n"
    "game gaming play\n"
    "joke fun funny humor\n"
    "story tale fiction\n"
    "quote saying inspirational\n"
    "weather forecast rain snow climate wind sunny\n"
    "time hour clock timezone\n"
    "date day today tomorrow\n"
    "location place city address where\n"
    "map direction route navigate navigation\n"
    "distance far away\n"
    "near nearby closest around local\n";

/* Travel, food, trade, money, work, health and learning. */
static const char tcall_synonyms_web_[] =
    "travel trip vacation holiday journey tour itinerary destination\n"
    "flight airline plane airport fly\n"
    "hotel accommodation lodging stay motel hostel\n"
    "restaurant dining eat cafe dinner lunch\n"
    "food meal dish cuisine\n"
    "recipe cook cooking bake ingredient\n"
    "diet calorie nutrition healthy\n"
    "car vehicle auto automobile\n"
    "drive driving road\n"
    "train rail bus transit\n"
    "taxi ride cab\n"
    "house home property apartment estate\n"
    "rent rental lease\n"
    "buy purchase order shop shopping\n"
    "sell sale\n"
    "price cost fee rate expensive\n"
    "product item goods merchandise\n"
    "gift present\n"
    "discount coupon deal promo offer\n"
    "cart basket checkout\n"
    "shipping delivery parcel package\n"
    "money cash currency fund\n"
    "currency exchange dollar euro\n"
    "stock share ticker equity\n"
    "invest investment investing portfolio finance\n"
    "finance financial bank\n"
    "pay payment bill charge\n"
    "invoice receipt bill\n"
    "tax vat\n"
    "loan mortgage credit debt\n"
    "balance account\n"
    "crypto cryptocurrency bitcoin token coin\n"
    "budget expense spending\n"
    "insurance policy coverage\n"
    "job career employment work hire vacancy\n"
    "resume cv\n"
    "company business firm corporation enterprise\n"
    "customer client user\n"
    "employee staff worker\n"
    "salary wage pay\n"
    "team group\n"
    "sport football soccer basketball match\n"
    "score result\n"
    "health medical medicine\n"
    "doctor physician appointment\n"
    "drug medication medicine pill\n"
    "symptom disease illness\n"
    "exercise workout fitness gym training\n"
    "course class lesson tutorial learn\n"
    "learn study education educational teach\n"
    "student pupil kid child\n"
    "school university college\n"
    "question quiz answer ask\n"
    "exam test\n";

/* Words, programs, networks, quantities and people. */
static const char tcall_synonyms_world_[] =
    "explain explanation describe definition meaning\n"
    "word dictionary vocabulary\n"
    "synonym word thesaurus\n"
    "code program programming developer software\n"
    "github repository repo\n"
    "bug error issue problem\n"
    "run execute perform\n"
    "deploy release\n"
    "database sql table\n"
    "server host\n"
    "ip network address\n"
    "chart graph plot diagram visualize\n"
    "map geography\n"
    "data dataset statistic statistics\n"
    "trend popular trending top\n"
    "review rating feedback opinion\n"
    "idea suggestion inspiration\n"
    "plan planning organize\n"
    "law legal lawyer court\n"
    "astrology horoscope zodiac\n"
    "tarot fortune\n"
    "pet dog cat animal\n"
    "plant garden flower\n"
    "outfit fashion clothes clothing style\n"
    "color colour\n"
    "size dimension length\n"
    "big large huge\n"
    "small little tiny\n"
    "average mean\n"
    "sum total add\n"
    "area surface\n"
    "speed fast velocity pace\n"
    "random dice\n"
    "quick fast speed\n"
    "history past historical\n"
    "future upcoming next\n"
    "latest recent newest current\n"
    "free available vacant\n"
    "status state condition\n"
    "info information detail details\n"
    "link connect pair\n"
    "wifi wireless network internet\n"
    "password passcode pin\n"
    "user account profile\n"
    "comment reply respond\n"
    "tweet twitter social\n"
    "chat conversation talk\n"
    "speech voice speak say\n"
    "volume capacity\n"
    "population demographic people\n"
    "country nation\n"
    "language locale\n";

TCALL_DATA_ const char *const tcall_synonyms[] = {
    tcall_synonyms_devices_, tcall_synonyms_offices_, tcall_synonyms_web_,
    tcall_synonyms_world_, NULL};

#endif

/* ==========================================================================
 * >>query: what an input asks for, and what a tool says of it
 *
 * The words of the input become terms. A term has keys: the stem of its word,
 * the first six letters of that stem, and the stems of its synonyms. For each
 * tool, a record of 20 bytes keeps how much its texts say about each term.
 *
 * Keys are compared by hashes of 32 bits, because their texts would take more
 * memory than a microcontroller can spare. A word of a tool is mistaken for one
 * of 224 keys once in twenty million different words, and then adds a little to
 * the score of its tool. Nobody gains by looking for such a word: whoever wants
 * a tool to be found can write the word itself.
 */

#ifndef TOOLCALL_NO_PICK

enum {
    TCALL_QUERY_TERMS_ = 45,    /* most different words of an input */
    TCALL_QUERY_SENTENCES_ = 7, /* of the input; the last takes the rest */
    TCALL_QUERY_SLOTS_ = 256,   /* of the table of keys */
    TCALL_QUERY_KEYS_ = 224,    /* of them used at most */
    TCALL_QUERY_SUM_ = 100,     /* where the sums of a tool stop growing */
    TCALL_FUZZY_MAX_ = 3,       /* most that all synonyms of a word count */
    /* A record keeps the level that a sum reaches, not the sum. */
    TCALL_LEVELS_ = 8,
    TCALL_LEVEL_BITS_ = 3,
    TCALL_LEVELS_PER_WORD_ = 5
};

/* The texts of a tool, and what a word in them counts, in quarters: when it is
 * the word itself, when it is a synonym or has the same prefix, and for the
 * length of the texts. Words of all schemas need no list: being common, they
 * weigh nothing. */
enum {
    TCALL_TEXT_NAME_,
    TCALL_TEXT_TITLE_,
    TCALL_TEXT_DESCRIPTION_,
    TCALL_TEXT_TAGS_,
    TCALL_TEXT_PARAMETERS_, /* names, descriptions, and values too */
    TCALL_TEXT_COUNT_
};
static const struct tcall_text_weight_ {
    uint8_t exact, fuzzy, length;
} tcall_text_weights_[TCALL_TEXT_COUNT_] = {
    {12, 3, 4}, {4, 1, 4}, {4, 1, 4}, {4, 1, 4}, {2, 1, 1}};

static const uint8_t tcall_levels_[TCALL_LEVELS_] = {0, 1, 2, 3, 4, 7, 12, 16};

/* How much a tool says about each term. */
typedef struct tcall_record_ {
    uint16_t levels[(size_t)TCALL_QUERY_TERMS_ / TCALL_LEVELS_PER_WORD_];
    uint8_t length; /* of its texts, see tcall_record_length_; 0: it may not be
                       picked */
    uint8_t name;   /* how much of its name was asked for; 16: all words */
} tcall_record_;

typedef struct tcall_term_ {
    uint16_t exact_tools; /* that have the word itself */
    uint16_t tools;       /* that have it or something like it */
    uint8_t weight;       /* 16 * log2 of how rare it is */
    uint8_t sentences;    /* bits: 0 for the input, 1.. for its sentences */
    uint8_t exact, fuzzy; /* sums of the tool that is being read */
    bool value;           /* it is not only in keys of JSON */
} tcall_term_;

#define TCALL_KEY_FUZZY_ 0x80u
#define TCALL_KEY_TERM_  0x3Fu

/* An input, and what is learned about its terms while tools are read. */
typedef struct tcall_query_ {
    uint8_t term_count, sentence_count;
    uint8_t key_count;
    uint32_t best[1 + TCALL_QUERY_SENTENCES_]; /* of all tools; 0: the input */
    uint32_t lengths; /* of all tools, in sixteenths of what records say */
    uint32_t level;   /* the best score of all, in thousandths */
    tcall_term_ terms[TCALL_QUERY_TERMS_];
    uint32_t initials[32];               /* of all keys, see tcall_initials_ */
    uint32_t hashes[TCALL_QUERY_SLOTS_]; /* of keys, by open addressing */
    uint8_t key_terms[TCALL_QUERY_SLOTS_]; /* 1 more than the term, and
                                              TCALL_KEY_FUZZY_; 0: free */
} tcall_query_;

/* ---- records */

TCALL_SHARED_ unsigned tcall_record_level_(const tcall_record_ *record,
                                           unsigned term)
{
    unsigned shift = term % TCALL_LEVELS_PER_WORD_ * TCALL_LEVEL_BITS_;
    return record->levels[term / TCALL_LEVELS_PER_WORD_] >> shift &
           (TCALL_LEVELS_ - 1);
}

/* Keeps a sum as the highest level that it reaches. */
TCALL_SHARED_ void tcall_record_keep_(tcall_record_ *record, unsigned term,
                                      unsigned sum)
{
    unsigned shift = term % TCALL_LEVELS_PER_WORD_ * TCALL_LEVEL_BITS_;
    uint16_t *levels = &record->levels[term / TCALL_LEVELS_PER_WORD_];
    unsigned level = TCALL_LEVELS_ - 1;
    while (tcall_levels_[level] > sum)
        level--;
    *levels &= (uint16_t) ~((TCALL_LEVELS_ - 1u) << shift);
    *levels |= (uint16_t)(level << shift);
}

/* Keeps the length of the texts, given in quarters of a word, and the part of
 * the name that was asked for. */
TCALL_SHARED_ void tcall_record_close_(tcall_record_ *record, unsigned length,
                                       unsigned name_words, unsigned asked)
{
    unsigned coarse = length < 128 ? length : 128 + (length - 128) / 16;
    record->length = (uint8_t)(coarse > 0 ? tcall_at_most_(coarse, 255) : 1);
    record->name = (uint8_t)(name_words ? asked * 16 / name_words : 0);
}

/* Returns the length of the texts in quarters of a word. */
TCALL_SHARED_ unsigned tcall_record_length_(const tcall_record_ *record)
{
    unsigned coarse = record->length;
    return coarse < 128 ? coarse : 128 + (coarse - 128) * 16;
}

/* ---- keys */

/* Finds the next key with a hash, from *slot on, and moves *slot past it.
 * Returns its entry in key_terms, or 0 when there is no other. */
TCALL_SHARED_ unsigned tcall_query_find_(const tcall_query_ *query,
                                         uint32_t hash, unsigned *slot)
{
    for (;;) {
        unsigned at = (*slot)++ % TCALL_QUERY_SLOTS_;
        if (query->key_terms[at] == 0 || query->hashes[at] == hash)
            return query->key_terms[at];
    }
}

/* Returns the slot where the search for a key begins. */
TCALL_SHARED_ unsigned tcall_query_slot_(uint32_t hash)
{
    return hash >> 24;
}

/* Returns whether the search for the hash of a slot finds this slot first. */
TCALL_SHARED_ bool tcall_query_is_first_(const tcall_query_ *query,
                                         unsigned slot)
{
    unsigned at = tcall_query_slot_(query->hashes[slot]);
    tcall_query_find_(query, query->hashes[slot], &at);
    return (at - 1) % TCALL_QUERY_SLOTS_ == slot;
}

TCALL_SHARED_ unsigned tcall_key_term_(unsigned key)
{
    return (key & TCALL_KEY_TERM_) - 1;
}

/* Returns the term whose own word has this stem, or -1. */
TCALL_SHARED_ int tcall_query_term_(const tcall_query_ *query, uint32_t stem)
{
    unsigned slot = tcall_query_slot_(stem), key;
    while ((key = tcall_query_find_(query, stem, &slot)) != 0)
        if (!(key & TCALL_KEY_FUZZY_))
            return (int)tcall_key_term_(key);
    return -1;
}

/* Adds a key to a term, unless it is there or the table is full. */
static void tcall_query_add_(tcall_query_ *query, uint32_t hash,
                             unsigned initials, unsigned term, bool fuzzy)
{
    unsigned slot = tcall_query_slot_(hash), found;
    unsigned key = (term + 1) | (fuzzy ? TCALL_KEY_FUZZY_ : 0);
    while ((found = tcall_query_find_(query, hash, &slot)) != 0)
        if (found == key)
            return;
    if (query->key_count == TCALL_QUERY_KEYS_)
        return;
    query->key_count++;
    slot = (slot - 1) % TCALL_QUERY_SLOTS_; /* the free one that was found */
    query->hashes[slot] = hash;
    query->key_terms[slot] = (uint8_t)key;
    query->initials[initials / 32] |= (uint32_t)1 << initials % 32;
}

/* ---- the input */

/* Returns the term of a word of the input; adds it when it is new. */
static unsigned tcall_query_new_term_(tcall_query_ *query,
                                      const tcall_split_ *words)
{
    int found = tcall_query_term_(query, words->stem);
    unsigned term = found < 0 ? query->term_count++ : (unsigned)found;
    if (found >= 0)
        return term;
    tcall_query_add_(query, words->stem, words->initials, term, false);
    if (words->prefix)
        tcall_query_add_(query, words->prefix, words->initials, term, true);
    return term;
}

/* Makes terms of the words of the input. */
static void tcall_query_input_(tcall_query_ *query, tcall_str input)
{
    tcall_split_ words;
    unsigned length = 0; /* of the sentence, in words */
    tcall_split_input_(&words, input);
    query->sentence_count = 1;
    while (query->term_count < TCALL_QUERY_TERMS_ &&
           tcall_split_next_(&words)) {
        tcall_term_ *term;
        if (words.sentence && length >= 3 &&
            query->sentence_count < TCALL_QUERY_SENTENCES_) {
            query->sentence_count++;
            length = 0;
        }
        /* Long numbers are values: no tool mentions them. */
        if (tcall_split_stops_(&words) ||
            (words.length > 4 && tcall_is_digit_(*words.word)))
            continue;
        length++;
        term = &query->terms[tcall_query_new_term_(query, &words)];
        term->sentences |= (uint8_t)(1u | 1u << query->sentence_count);
        term->value |= !words.in_key;
    }
}

/* For each term that a line of synonyms contains, makes its words keys. */
static void tcall_query_line_(tcall_query_ *query, tcall_str line)
{
    tcall_split_ words, others;
    tcall_split_init_(&words, line);
    words.wanted = query->initials;
    while (tcall_split_next_(&words)) {
        int term = tcall_query_term_(query, words.stem);
        if (term < 0)
            continue;
        tcall_split_init_(&others, line);
        while (tcall_split_next_(&others))
            if (tcall_query_term_(query, others.stem) != term)
                tcall_query_add_(query, others.stem, others.initials,
                                 (unsigned)term, true);
    }
}

static void tcall_query_synonyms_(tcall_query_ *query,
                                  const char *const *synonyms)
{
    for (; *synonyms; synonyms++) {
        const char *line = *synonyms;
        while (*line) {
            size_t length = strcspn(line, "\n");
            tcall_query_line_(query, tcall_slice_(line, length));
            line += length;
            line += *line == '\n';
        }
    }
}

/* Makes the query of an input. Without synonyms it uses tcall_synonyms. */
TCALL_SHARED_ void tcall_query_init_(tcall_query_ *query, tcall_str input,
                                     const char *const *synonyms)
{
    memset(query, 0, sizeof *query);
    tcall_query_input_(query, input);
#ifndef TOOLCALL_NO_SYNONYMS
    if (!synonyms)
        synonyms = tcall_synonyms;
#endif
    if (synonyms)
        tcall_query_synonyms_(query, synonyms);
}

/* ---- tools */

/* Begins to split one of the texts of a tool. */
TCALL_SHARED_ void tcall_split_tool_(tcall_split_ *words,
                                     const tcall_tool *tool, unsigned text)
{
    const char *texts[TCALL_TEXT_COUNT_];
    texts[TCALL_TEXT_NAME_] = tool->name;
    texts[TCALL_TEXT_TITLE_] = tool->title;
    texts[TCALL_TEXT_DESCRIPTION_] = tool->description;
    texts[TCALL_TEXT_TAGS_] = tool->tags;
    texts[TCALL_TEXT_PARAMETERS_] = tool->parameters;
    tcall_split_init_(words, tcall_str_of(texts[text]));
    if (text == TCALL_TEXT_PARAMETERS_) {
        words->json = tool->parameters != NULL;
        words->shape = tool->shape;
    }
}

/* Adds a word of a tool to the sums of the terms that have this key. Returns
 * whether there is such a term. */
static bool tcall_query_hit_(tcall_query_ *query, uint32_t hash,
                             const struct tcall_text_weight_ *weight)
{
    unsigned slot = tcall_query_slot_(hash), key;
    bool hit = false;
    while ((key = tcall_query_find_(query, hash, &slot)) != 0) {
        tcall_term_ *term = &query->terms[tcall_key_term_(key)];
        bool fuzzy = (key & TCALL_KEY_FUZZY_) != 0;
        uint8_t *sum = fuzzy ? &term->fuzzy : &term->exact;
        if (*sum < TCALL_QUERY_SUM_)
            *sum = (uint8_t)(*sum + (fuzzy ? weight->fuzzy : weight->exact));
        hit = true;
    }
    return hit;
}

/* Reads all texts of a tool into the sums of the terms, and into the record,
 * whose levels stay empty. The prefix of a word counts only when its stem is no
 * key. */
static void tcall_query_sum_(tcall_query_ *query, const tcall_tool *tool,
                             tcall_record_ *record)
{
    unsigned length = 0, name_words = 0, asked = 0, text;
    for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
        const struct tcall_text_weight_ *weight = &tcall_text_weights_[text];
        tcall_split_ words;
        tcall_split_tool_(&words, tool, text);
        words.wanted = query->initials;
        while (tcall_split_next_(&words))
            if (tcall_query_hit_(query, words.stem, weight) ||
                (words.prefix && tcall_query_hit_(query, words.prefix, weight)))
                asked += text == TCALL_TEXT_NAME_;
        length += weight->length * words.longer;
        if (text == TCALL_TEXT_NAME_)
            name_words = words.count;
    }
    tcall_record_close_(record, length, name_words, asked);
}

/* Makes the record of a tool. With `count`, counts it among the tools of each
 * term that it has. */
TCALL_SHARED_ void tcall_query_read_(tcall_query_ *query,
                                     const tcall_tool *tool,
                                     tcall_record_ *record, bool count)
{
    unsigned i;
    memset(record, 0, sizeof *record);
    tcall_query_sum_(query, tool, record);
    for (i = 0; i < query->term_count; i++) {
        tcall_term_ *term = &query->terms[i];
        unsigned fuzzy = tcall_at_most_(term->fuzzy, TCALL_FUZZY_MAX_);
        tcall_record_keep_(record, i, term->exact + fuzzy);
        if (count) {
            term->exact_tools =
                (uint16_t)(term->exact_tools + (term->exact > 0));
            term->tools = (uint16_t)(term->tools + (term->exact + fuzzy > 0));
        }
        term->exact = term->fuzzy = 0;
    }
}

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>pick_index
 *
 * An inverted index: it lists, for each different word, the tools that have it.
 * So a pick reads only the postings of its keys instead of the texts.
 */

#ifndef TOOLCALL_NO_PICK

#ifndef TOOLCALL_NO_PICK_INDEX

/* Where the chains begin of entries whose stems, or prefixes, fall into this
 * bucket: the number of an entry plus 1, or 0 for none. */
typedef struct tcall_bucket_ {
    uint32_t by_stem, by_prefix;
} tcall_bucket_;

/* A word. Its postings follow those of the entry before, in the order of the
 * tools. */
typedef struct tcall_entry_ {
    uint32_t stem, prefix;                 /* hashes; prefix may be 0: none */
    uint32_t next_by_stem, next_by_prefix; /* as in tcall_bucket_ */
    uint32_t end; /* of its postings; their number while they are counted */
    uint32_t last_tool; /* 1 more than the last one that was seen to have it */
} tcall_entry_;

/* What the record of a tool needs besides its words. */
typedef struct tcall_indexed_ {
    uint16_t length; /* of its texts, in quarters of a word */
    uint16_t name_words;
} tcall_indexed_;

/* How much a tool says about a word, up to what makes a difference. */
enum { TCALL_EXACT_MAX_ = 16 };
typedef struct tcall_posting_ {
    unsigned tool : 16;
    unsigned exact : 5; /* when the word itself is wanted */
    unsigned fuzzy : 2; /* when something like it is */
    unsigned name : 9;  /* how often the name of the tool has it */
} tcall_posting_;

/* ---- reading */

/* What a key adds to the records of all tools that have a word. */
typedef struct tcall_adding_ {
    tcall_term_ *term;
    unsigned number; /* of the term */
    bool fuzzy;
    bool name; /* no other key of this hash has counted the word in names */
} tcall_adding_;

static tcall_adding_ tcall_index_adding_(tcall_query_ *query, unsigned slot)
{
    tcall_adding_ adding;
    adding.number = tcall_key_term_(query->key_terms[slot]);
    adding.term = &query->terms[adding.number];
    adding.fuzzy = (query->key_terms[slot] & TCALL_KEY_FUZZY_) != 0;
    adding.name = tcall_query_is_first_(query, slot);
    return adding;
}

/* Adds a posting to the record of its tool. Fuzzy keys are all added before the
 * exact one, and until then a level equals the sum: both end at 3. */
static void tcall_index_add_(const tcall_posting_ *posting,
                             const tcall_adding_ *adding, tcall_record_ *record)
{
    tcall_term_ *term = adding->term;
    unsigned before = tcall_record_level_(record, adding->number);
    unsigned sum = before + posting->exact;
    if (adding->fuzzy)
        sum = tcall_at_most_(before + posting->fuzzy, TCALL_FUZZY_MAX_);
    tcall_record_keep_(record, adding->number, sum);
    term->tools = (uint16_t)(term->tools + (before == 0));
    term->exact_tools = (uint16_t)(term->exact_tools + !adding->fuzzy);
    if (adding->name)
        record->name = (uint8_t)(record->name + posting->name);
}

/* Adds all postings of a word, except those of tools that may not be picked. */
static void tcall_index_add_entry_(const tcall_index *index, uint32_t number,
                                   const tcall_adding_ *adding,
                                   tcall_record_ *records)
{
    const tcall_entry_ *entry = &index->entries[number];
    uint32_t i = number > 0 ? entry[-1].end : 0;
    for (; i < entry->end; i++) {
        const tcall_posting_ *posting = &index->postings[i];
        tcall_record_ *record = &records[posting->tool];
        if (record->length > 0)
            tcall_index_add_(posting, adding, record);
    }
}

/* Adds all words whose stem is the key in a slot, or whose prefix is, when the
 * stem is no key itself. */
static void tcall_index_key_(const tcall_index *index, tcall_query_ *query,
                             tcall_record_ *records, unsigned slot)
{
    tcall_adding_ adding = tcall_index_adding_(query, slot);
    uint32_t hash = query->hashes[slot], next;
    const tcall_bucket_ *bucket = &index->buckets[hash % index->bucket_count];
    const tcall_entry_ *entry;
    for (next = bucket->by_stem; next > 0; next = entry->next_by_stem) {
        entry = &index->entries[next - 1];
        if (entry->stem == hash)
            tcall_index_add_entry_(index, next - 1, &adding, records);
    }
    for (next = bucket->by_prefix; next > 0; next = entry->next_by_prefix) {
        unsigned at;
        entry = &index->entries[next - 1];
        at = tcall_query_slot_(entry->stem);
        if (entry->prefix == hash &&
            !tcall_query_find_(query, entry->stem, &at))
            tcall_index_add_entry_(index, next - 1, &adding, records);
    }
}

/* Adds the words of all fuzzy keys, or of all exact ones. */
static void tcall_index_keys_(const tcall_index *index, tcall_query_ *query,
                              tcall_record_ *records, bool fuzzy)
{
    unsigned slot;
    for (slot = 0; slot < TCALL_QUERY_SLOTS_; slot++) {
        unsigned key = query->key_terms[slot];
        if (key && ((key & TCALL_KEY_FUZZY_) != 0) == fuzzy)
            tcall_index_key_(index, query, records, slot);
    }
}

/* Fills the records and counts the tools of each term. Records are empty, and
 * those of tools that may be picked have some length. */
TCALL_SHARED_ void tcall_index_read_(const tcall_index *index,
                                     tcall_query_ *query,
                                     tcall_record_ *records)
{
    size_t i;
    tcall_index_keys_(index, query, records, true);
    tcall_index_keys_(index, query, records, false);
    for (i = 0; i < index->tool_count; i++) {
        const tcall_indexed_ *tool = &index->tools[i];
        if (records[i].length > 0)
            tcall_record_close_(&records[i], tool->length, tool->name_words,
                                records[i].name);
    }
}

/* Returns whether an index was made, and of this number of tools. */
TCALL_SHARED_ bool tcall_index_fits_(const tcall_index *index,
                                     size_t tool_count)
{
    return index->bucket_count > 0 && index->tool_count == tool_count;
}

/* ---- building
 *
 * The first pass over the texts finds the words and counts their postings, the
 * second writes them. When memory runs out the first pass goes on, to find out
 * how much would do.
 */

typedef struct tcall_indexing_ {
    tcall_block *block;
    size_t missing; /* bytes of memory, if any */
    tcall_bucket_ *buckets;
    uint32_t bucket_count;
    tcall_indexed_ *tools;
    tcall_entry_ *entries;
    uint32_t entry_count;
    tcall_posting_ *postings; /* NULL in the first pass */
    uint32_t posting_count;
    uint32_t tool; /* at hand */
} tcall_indexing_;

/* Takes zeroed memory after what was taken before; NULL when it runs out. */
static void *tcall_index_take_(tcall_indexing_ *making, size_t size)
{
    void *at = tcall_block_gap_(making->block);
    if (making->missing || !tcall_block_grow_(making->block, size)) {
        making->missing += size;
        return NULL;
    }
    return memset(at, 0, size);
}

static void tcall_index_align_(tcall_indexing_ *making)
{
    uintptr_t at = (uintptr_t)tcall_block_gap_(making->block);
    tcall_index_take_(making, (0 - at) & 7);
}

/* Puts the newest entry at the front of a chain, which begins at *first. */
static void tcall_index_chain_(const tcall_indexing_ *making, uint32_t *first,
                               uint32_t *next)
{
    *next = *first;
    *first = making->entry_count;
}

/* Adds an entry for a word; returns NULL when memory runs out. */
static tcall_entry_ *tcall_index_insert_(tcall_indexing_ *making,
                                         const tcall_split_ *word)
{
    tcall_entry_ *entry =
        (tcall_entry_ *)tcall_index_take_(making, sizeof *entry);
    tcall_bucket_ *buckets = making->buckets;
    uint32_t count = making->bucket_count;
    if (!entry)
        return NULL;
    making->entry_count++;
    entry->stem = word->stem;
    entry->prefix = word->prefix;
    tcall_index_chain_(making, &buckets[word->stem % count].by_stem,
                       &entry->next_by_stem);
    if (word->prefix)
        tcall_index_chain_(making, &buckets[word->prefix % count].by_prefix,
                           &entry->next_by_prefix);
    return entry;
}

/* Returns the entry of a word; adds it when it is new. NULL: out of memory. */
static tcall_entry_ *tcall_index_find_(tcall_indexing_ *making,
                                       const tcall_split_ *word)
{
    uint32_t next = 0;
    if (making->buckets)
        next = making->buckets[word->stem % making->bucket_count].by_stem;
    while (next > 0) {
        tcall_entry_ *entry = &making->entries[next - 1];
        if (entry->stem == word->stem)
            return entry;
        next = entry->next_by_stem;
    }
    return tcall_index_insert_(making, word);
}

/* Adds an occurrence in the current tool to a posting. */
static void tcall_index_post_(const tcall_indexing_ *making,
                              tcall_posting_ *posting, unsigned text)
{
    const struct tcall_text_weight_ *weight = &tcall_text_weights_[text];
    unsigned exact = posting->exact + weight->exact;
    unsigned fuzzy = posting->fuzzy + weight->fuzzy;
    posting->tool = making->tool & 0xFFFF;
    posting->exact = tcall_at_most_(exact, TCALL_EXACT_MAX_) & 31;
    posting->fuzzy = tcall_at_most_(fuzzy, TCALL_FUZZY_MAX_) & 3;
    if (text == TCALL_TEXT_NAME_)
        posting->name = (posting->name + 1) & 511;
}

/* Counts a word of the current tool, and posts it in the second pass. */
static void tcall_index_word_(tcall_indexing_ *making, const tcall_split_ *word,
                              unsigned text)
{
    tcall_entry_ *entry = tcall_index_find_(making, word);
    if (!entry) {
        making->posting_count++; /* perhaps too many, which suffices */
        return;
    }
    if (entry->last_tool != making->tool + 1) {
        entry->last_tool = making->tool + 1;
        entry->end++;
        making->posting_count++;
    }
    if (making->postings)
        tcall_index_post_(making, &making->postings[entry->end - 1], text);
}

static void tcall_index_tool_(tcall_indexing_ *making, const tcall_tool *tool)
{
    unsigned length = 0, name_words = 0, text;
    for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
        tcall_split_ words;
        tcall_split_tool_(&words, tool, text);
        while (tcall_split_next_(&words))
            tcall_index_word_(making, &words, text);
        length += tcall_text_weights_[text].length * words.longer;
        if (text == TCALL_TEXT_NAME_)
            name_words = words.count;
    }
    if (making->tools) {
        tcall_indexed_ *known = &making->tools[making->tool];
        known->length = (uint16_t)tcall_at_most_(length, 0xFFFF);
        known->name_words = (uint16_t)tcall_at_most_(name_words, 0xFFFF);
    }
}

static void tcall_index_pass_(tcall_indexing_ *making, const tcall_desc *desc)
{
    for (making->tool = 0; making->tool < desc->tool_count; making->tool++)
        tcall_index_tool_(making, &desc->tools[making->tool]);
}

/* Replaces the number of postings of each word by where they begin. The second
 * pass moves that to where they end. */
static void tcall_index_layout_(tcall_indexing_ *making)
{
    uint32_t begin = 0, i;
    for (i = 0; i < making->entry_count; i++) {
        tcall_entry_ *entry = &making->entries[i];
        uint32_t count = entry->end;
        entry->end = begin;
        entry->last_tool = 0;
        begin += count;
    }
}

/* Returns how many buckets keep chains short: one for each tool and half KB. */
static uint32_t tcall_index_buckets_(const tcall_desc *desc)
{
    size_t bytes = 0, i;
    unsigned text;
    for (i = 0; i < desc->tool_count; i++)
        for (text = 0; text < TCALL_TEXT_COUNT_; text++) {
            tcall_split_ words;
            tcall_split_tool_(&words, &desc->tools[i], text);
            bytes += (size_t)(words.end - words.cursor);
        }
    return (uint32_t)(desc->tool_count + bytes / 512 + 1);
}

/* Takes memory for the tables and makes the first pass. */
static void tcall_index_count_(tcall_indexing_ *making, const tcall_desc *desc)
{
    size_t tools = desc->tool_count;
    making->bucket_count = tcall_index_buckets_(desc);
    tcall_index_align_(making);
    making->buckets = (tcall_bucket_ *)tcall_index_take_(
        making, making->bucket_count * sizeof(tcall_bucket_));
    making->tools = (tcall_indexed_ *)tcall_index_take_(
        making, tools * sizeof(tcall_indexed_));
    making->entries = (tcall_entry_ *)(void *)tcall_block_gap_(making->block);
    tcall_index_pass_(making, desc);
}

/* Makes both passes; returns false when memory runs out. */
static bool tcall_index_make_(tcall_indexing_ *making, const tcall_desc *desc)
{
    tcall_index_count_(making, desc);
    making->postings = (tcall_posting_ *)tcall_index_take_(
        making, making->posting_count * sizeof(tcall_posting_));
    tcall_index_align_(making);
    if (making->missing > 0)
        return false;
    tcall_index_layout_(making);
    tcall_index_pass_(making, desc);
    return true;
}

int tcall_pick_index(tcall *tc, tcall_index *index)
{
    size_t low = tc->block.low;
    tcall_indexing_ making;
    memset(index, 0, sizeof *index);
    memset(&making, 0, sizeof making);
    if (tc->desc.tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    making.block = &tc->block;
    if (!tcall_index_make_(&making, &tc->desc)) {
        tcall_block_room_(&tc->block, making.missing); /* sets block.need */
        tc->block.low = low;
        return TCALL_E_MEMORY;
    }
    index->tool_count = tc->desc.tool_count;
    index->bucket_count = making.bucket_count;
    index->buckets = making.buckets;
    index->tools = making.tools;
    index->entries = making.entries;
    index->postings = making.postings;
    return TCALL_OK;
}

#else

/* TOOLCALL_NO_PICK_INDEX: tcall_pick refuses any index. */
static bool tcall_index_fits_(const tcall_index *index, size_t tool_count)
{
    (void)index;
    (void)tool_count;
    return false;
}

static void tcall_index_read_(const tcall_index *index, tcall_query_ *query,
                              tcall_record_ *records)
{
    (void)index;
    (void)query;
    (void)records;
}

#endif /* TOOLCALL_NO_PICK_INDEX */

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>pick
 *
 * What each tool says of the terms is read once and kept as a record; where the
 * block has no room for records the tools are read again instead. The weight of
 * a term comes from how few tools have it, the worth of a tool from the weights
 * of the terms it has (BM25F), as a share of the best of all tools; and since
 * an input can want several things, also of the best for each of its sentences.
 */

#ifndef TOOLCALL_NO_PICK

/* A score of one thousandth. Ranks are finer, so that they tell more tools
 * apart: the best is 1000 of these and fits 32 bits. */
#define TCALL_RANK_ONE_ ((uint32_t)1 << 22)

/* The work on one input. */
typedef struct tcall_ranking_ {
    tcall *tc;
    tcall_str input;
    const tcall_pick_opts *opts;
    tcall_pick_opts defaults;
    const tcall_scorer *scorers, *scorers_end;
    tcall_scorer words; /* the built-in one */
    tcall_query_ *query;
    tcall_record_ *records; /* of all tools; NULL: no room for them */
    size_t tools;           /* that may be picked */
    int max;                /* of the picks that are not pinned */
    uint32_t started;
    bool timed_out;
} tcall_ranking_;

/* ---- tools that may be picked */

/* Why a tool may not be picked; NULL: it may. */
static const char *tcall_pick_excludes_(const tcall *tc,
                                        const tcall_pick_opts *opts,
                                        const tcall_tool *tool)
{
    uint8_t allow = opts->allow ? opts->allow : tc->desc.allow;
    bool safe = tool->safe == TCALL_SAFETY_DERIVED
                    ? tcall_needs_(tool) == TCALL_READ
                    : tool->safe == TCALL_SAFETY_SAFE;
    if (!tcall_enabled(tool, allow))
        return "permissions";
    if (!safe && !opts->allow_unsafe)
        return "unsafe";
    if (opts->streaming && !tool->streaming)
        return "streaming";
    if (tool->roles && !(tool->roles & opts->roles))
        return "roles";
    if (opts->max_cost && tool->cost > opts->max_cost)
        return "cost";
    if (opts->groups && tool->groups && !(tool->groups & opts->groups))
        return "groups";
    return NULL;
}

/* Whether time is up, where there is a limit and a clock. */
static bool tcall_ranking_expires_(const tcall_ranking_ *ranking)
{
    const tcall_desc *desc = &ranking->tc->desc;
    return ranking->opts->timeout_ms && desc->now_ms &&
           desc->now_ms(desc->user) - ranking->started >=
               ranking->opts->timeout_ms;
}

/* Moves *i to the next tool that may be picked, from *i on; false at the end.
 * Returns false once, too, when time is up. */
static bool tcall_ranking_next_(tcall_ranking_ *ranking, size_t *i)
{
    const tcall_desc *desc = &ranking->tc->desc;
    if (!ranking->timed_out && tcall_ranking_expires_(ranking)) {
        ranking->timed_out = true;
        return false;
    }
    for (; *i < desc->tool_count; ++*i)
        if (!tcall_pick_excludes_(ranking->tc, ranking->opts, &desc->tools[*i]))
            return true;
    return false;
}

/* ---- the built-in scorer */

/* 16 * log2(x), by a straight line between powers of two. */
static unsigned tcall_log16_(uint32_t x)
{
    unsigned n = 0;
    while (x >> n > 1)
        n++;
    return 16 * n + (x << 4 >> n & 15);
}

/* The tools that have the term itself if there are any, else those that have
 * something like it. */
static unsigned tcall_term_tools_(const tcall_term_ *term)
{
    return term->exact_tools ? term->exact_tools : term->tools;
}

/* 16 * log2 of how rare a term is among the tools. */
static unsigned tcall_term_rarity_(const tcall_term_ *term, size_t tools)
{
    uint32_t with = tcall_term_tools_(term);
    unsigned rarity =
        tcall_log16_(2 * (uint32_t)tools + 2) - tcall_log16_(2 * with + 1);
    return rarity < 255 ? rarity : 255;
}

/* Makes the records of all tools that may be picked, where there is room for
 * them, and counts those that have each term. */
static void tcall_ranking_read_(tcall_ranking_ *ranking)
{
    const tcall_tool *tools = ranking->tc->desc.tools;
    tcall_query_ *query = ranking->query;
    tcall_record_ made, *record = &made;
    size_t i;
    for (i = 0; tcall_ranking_next_(ranking, &i); i++) {
        if (ranking->records)
            record = &ranking->records[i];
        tcall_query_read_(query, &tools[i], record, true);
        query->lengths += tcall_record_length_(record) * 16;
        ranking->tools++;
    }
}

/* The same by the index. */
static void tcall_ranking_look_up_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    tcall_record_ *records = ranking->records;
    size_t count = ranking->tc->desc.tool_count, i;
    memset(records, 0, count * sizeof *records);
    for (i = 0; tcall_ranking_next_(ranking, &i); i++) {
        records[i].length = 1;
        ranking->tools++;
    }
    if (ranking->timed_out)
        return;
    tcall_index_read_(ranking->opts->index, query, records);
    for (i = 0; i < count; i++)
        query->lengths += tcall_record_length_(&records[i]) * 16;
}

/* Returns the record of a tool, which is read again where none is kept. */
static const tcall_record_ *tcall_ranking_record_(const tcall_ranking_ *ranking,
                                                  size_t tool,
                                                  tcall_record_ *made)
{
    if (ranking->records)
        return &ranking->records[tool];
    tcall_query_read_(ranking->query, &ranking->tc->desc.tools[tool], made,
                      false);
    return made;
}

/* Returns what a tool gains by a term, by BM25 with b = 1/2 and k1 = 8 quarters
 * of a word in a text: norm is 16 * k1 times the length of its texts. A tool
 * whose name was asked for gains up to half as much again. */
static uint32_t tcall_term_worth_(const tcall_term_ *term, unsigned level,
                                  const tcall_record_ *record, uint32_t norm)
{
    uint32_t sum = tcall_levels_[level];
    uint32_t worth = term->weight * 1024u * sum / (16 * sum + norm);
    return worth * (32u + record->name) / 32;
}

/* Finds out what a tool is worth: parts[0] for the whole input, the others for
 * its sentences. Returns the weight of the terms that it has. */
static uint32_t tcall_ranking_parts_(const tcall_ranking_ *ranking, size_t tool,
                                     uint32_t *parts)
{
    const tcall_query_ *query = ranking->query;
    uint32_t average = query->lengths / (uint32_t)ranking->tools + 1;
    uint32_t norm, cover = 0;
    tcall_record_ made;
    const tcall_record_ *record = tcall_ranking_record_(ranking, tool, &made);
    unsigned i, part;
    norm = 64 + 1024 * tcall_record_length_(record) / average;
    memset(parts, 0, sizeof query->best);
    for (i = 0; i < query->term_count; i++) {
        const tcall_term_ *term = &query->terms[i];
        unsigned level = tcall_record_level_(record, i);
        uint32_t worth;
        if (level == 0)
            continue;
        worth = tcall_term_worth_(term, level, record, norm);
        cover += term->weight;
        for (part = 0; part <= query->sentence_count; part++)
            if (term->sentences >> part & 1)
                parts[part] += worth;
    }
    return cover;
}

/* Sets the weights of all terms; returns their sum. A term that occurs only in
 * keys of JSON weighs half: keys are the caller's words, not the user's. */
static uint32_t tcall_ranking_weigh_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    uint32_t all = 0;
    unsigned i;
    for (i = 0; i < query->term_count; i++) {
        tcall_term_ *term = &query->terms[i];
        unsigned rarity = tcall_term_rarity_(term, ranking->tools);
        term->weight = (uint8_t)(term->value ? rarity : rarity / 2);
        all += term->weight;
    }
    return all;
}

/* Finds the best parts of all tools, and returns the largest weight of terms
 * that one of them has. */
static uint32_t tcall_ranking_best_(tcall_ranking_ *ranking)
{
    tcall_query_ *query = ranking->query;
    uint32_t parts[1 + TCALL_QUERY_SENTENCES_], most = 0;
    unsigned i;
    size_t tool;
    for (tool = 0; tcall_ranking_next_(ranking, &tool); tool++) {
        uint32_t cover = tcall_ranking_parts_(ranking, tool, parts);
        most = cover > most ? cover : most;
        for (i = 0; i <= query->sentence_count; i++)
            if (parts[i] > query->best[i])
                query->best[i] = parts[i];
    }
    return most;
}

/* Finds what scores are shares of: the weights of terms, the best parts, and
 * the share of the input that one tool covers. */
static void tcall_ranking_prepare_(tcall_ranking_ *ranking)
{
    uint32_t all;
    if (ranking->records && ranking->opts->index)
        tcall_ranking_look_up_(ranking);
    else
        tcall_ranking_read_(ranking);
    all = tcall_ranking_weigh_(ranking);
    if (all > 0 && !ranking->timed_out)
        ranking->query->level = tcall_ranking_best_(ranking) * 1000 / all;
}

/* Returns the largest share that a tool has of what the best one is worth for a
 * sentence, in 4096ths. */
static uint32_t tcall_query_share_(const tcall_query_ *query,
                                   const uint32_t *parts)
{
    uint32_t most = 0, share;
    unsigned i;
    for (i = 1; i <= query->sentence_count; i++) {
        if (parts[i] == 0)
            continue;
        share = (parts[i] << 12) / query->best[i];
        most = share > most ? share : most;
    }
    return most;
}

/* Returns the built-in score, 0 to 1000 * TCALL_RANK_ONE_: three fifths for the
 * whole input, two fifths for the sentence that the tool fits best. */
static uint32_t tcall_ranking_score_(tcall_ranking_ *ranking, size_t tool)
{
    const tcall_query_ *query = ranking->query;
    uint32_t parts[1 + TCALL_QUERY_SENTENCES_], whole;
    if (query->term_count > 0 && ranking->tools == 0)
        tcall_ranking_prepare_(ranking);
    if (query->level == 0 || ranking->timed_out)
        return 0;
    tcall_ranking_parts_(ranking, tool, parts);
    if (parts[0] == 0)
        return 0;
    whole = (parts[0] << 12) / query->best[0];
    return (614 * whole + 410 * tcall_query_share_(query, parts)) *
           query->level;
}

/* ---- the ranking */

/* Lays the query, and records of all tools if there is room for them, into the
 * free part of the block. Nothing of it is held: the next who needs memory may
 * take it. */
static int tcall_ranking_memory_(tcall_ranking_ *ranking)
{
    tcall_block *block = &ranking->tc->block;
    char *gap = tcall_block_gap_(block);
    size_t skip = (0 - (uintptr_t)gap) & 7;
    size_t size = skip + sizeof(tcall_query_);
    size_t all = size + ranking->tc->desc.tool_count * sizeof(tcall_record_);
    if (!tcall_block_room_(block, size))
        return TCALL_E_MEMORY;
    ranking->query = (tcall_query_ *)(void *)(gap + skip);
    if (all <= tcall_block_free_(block)) {
        tcall_block_room_(block, all);
        ranking->records = (tcall_record_ *)(void *)(gap + size);
    }
    return TCALL_OK;
}

/* Sets what is asked for, with the defaults of what is zero. */
static void tcall_ranking_options_(tcall_ranking_ *ranking,
                                   const tcall_pick_opts *opts)
{
    opts = opts ? opts : &ranking->defaults;
    ranking->opts = opts;
    ranking->max = opts->max ? opts->max : 3;
    ranking->words.name = "words";
    ranking->scorers = opts->scorer_count ? opts->scorers : &ranking->words;
    ranking->scorers_end =
        ranking->scorers + (opts->scorer_count ? opts->scorer_count : 1);
}

/* Begins a ranking. The time counts from here on, reading the input included.
 */
static int tcall_ranking_init_(tcall_ranking_ *ranking, tcall *tc,
                               tcall_str input, const tcall_pick_opts *opts)
{
    const tcall_desc *desc = &tc->desc;
    int error;
    memset(ranking, 0, sizeof *ranking);
    ranking->tc = tc;
    ranking->input = input;
    tcall_ranking_options_(ranking, opts);
    opts = ranking->opts;
    if (opts->index && !tcall_index_fits_(opts->index, desc->tool_count))
        return TCALL_E_USAGE;
    error = tcall_ranking_memory_(ranking);
    if (error < 0)
        return error;
    if (opts->timeout_ms && desc->now_ms)
        ranking->started = desc->now_ms(desc->user);
    tcall_query_init_(ranking->query, input, opts->synonyms);
    return TCALL_OK;
}

/* Puts a candidate where it belongs among the best, of which there are `count`
 * and may be `room`; returns their new number. Of equals the first stays first.
 * The candidate may itself be what comes after the best: it is copied before
 * others move. */
static int tcall_picks_insert_(tcall_picked *picks, int count, int room,
                               const tcall_picked *candidate)
{
    const tcall_picked pick = *candidate;
    int at = count;
    while (at > 0 && picks[at - 1].rank < pick.rank)
        at--;
    if (at >= room)
        return count;
    count += count < room;
    memmove(picks + at + 1, picks + at, (size_t)(count - at - 1) * sizeof pick);
    picks[at] = pick;
    return count;
}

/* A pick of a tool that has no rank so far. */
static tcall_picked tcall_ranking_pick_(const tcall_ranking_ *ranking, size_t i)
{
    tcall_picked pick;
    memset(&pick, 0, sizeof pick);
    pick.tool = &ranking->tc->desc.tools[i];
    pick.index = (uint16_t)i;
    pick.pinned = pick.tool->pinned;
    pick.timed_out = ranking->timed_out && !pick.pinned;
    return pick;
}

/* Asks a scorer; returns false when it cannot say. */
static bool tcall_ranking_ask_(tcall_ranking_ *ranking,
                               const tcall_picked *pick,
                               const tcall_scorer *scorer, uint32_t *rank)
{
    int score;
    if (!scorer->score) {
        *rank = tcall_ranking_score_(ranking, pick->index);
        return true;
    }
    score =
        scorer->score(scorer->user, ranking->input, pick->tool, pick->index);
    if (score < 0)
        return false;
    *rank = (uint32_t)(score < 1000 ? score : 1000) * TCALL_RANK_ONE_;
    return true;
}

/* Makes the rank of a pick the mean of what it was and of a further scorer. The
 * sum of weighted ranks fits 32 bits without their last 12, since all weights
 * are at most 4095. */
static void tcall_ranking_combine_(tcall_ranking_ *ranking, tcall_picked *pick,
                                   const tcall_scorer *scorer)
{
    uint32_t weight = scorer->weight ? scorer->weight : 1, rank;
    if (!tcall_ranking_ask_(ranking, pick, scorer, &rank))
        return;
    if (pick->weights) {
        uint32_t sum =
            (pick->rank >> 12) * pick->weights + (rank >> 12) * weight;
        rank = sum / (pick->weights + weight) << 12;
    }
    pick->rank = rank;
    pick->weights = (uint16_t)(pick->weights + weight);
}

/* Ranks all tools that are not pinned by the scorers that see all of them, and
 * keeps the best of them. */
static int tcall_ranking_all_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int room)
{
    const tcall_scorer *scorer;
    int count = 0;
    size_t i;
    for (i = 0; room > 0 && tcall_ranking_next_(ranking, &i); i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (pick.pinned)
            continue;
        for (scorer = ranking->scorers; scorer < ranking->scorers_end; scorer++)
            if (!scorer->top)
                tcall_ranking_combine_(ranking, &pick, scorer);
        count = tcall_picks_insert_(picks, count, room, &pick);
    }
    return count;
}

/* Ranks the best again by a scorer that sees only them; returns how many there
 * are of them. */
static int tcall_ranking_top_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int count, const tcall_scorer *scorer)
{
    int i;
    count = count < scorer->top ? count : scorer->top;
    for (i = 0; i < count; i++) {
        size_t tool = picks[i].index;
        if (ranking->timed_out || !tcall_ranking_next_(ranking, &tool))
            break;
        tcall_ranking_combine_(ranking, &picks[i], scorer);
        tcall_picks_insert_(picks, i, count, &picks[i]);
    }
    return count;
}

/* Ranks by all scorers, of which the later ones may want to see more tools than
 * there are to be picked. */
static int tcall_ranking_run_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int max)
{
    const tcall_scorer *scorer, *end = ranking->scorers_end;
    int room = ranking->max, count;
    for (scorer = ranking->scorers; scorer < end; scorer++)
        room = scorer->top > room ? scorer->top : room;
    count = tcall_ranking_all_(ranking, picks, room < max ? room : max);
    for (scorer = ranking->scorers; scorer < end; scorer++)
        if (scorer->top)
            count = tcall_ranking_top_(ranking, picks, count, scorer);
    return count;
}

/* Adds tools in the order of registration, without a score: those that are
 * pinned, or those that are not. */
static int tcall_ranking_add_(tcall_ranking_ *ranking, tcall_picked *picks,
                              int count, int max, bool pinned)
{
    size_t i;
    for (i = 0; count < max && tcall_ranking_next_(ranking, &i); i++) {
        tcall_picked pick = tcall_ranking_pick_(ranking, i);
        if (pick.pinned == pinned)
            picks[count++] = pick;
    }
    return count;
}

/* Sets the scores, and returns the number of picks that are good enough. */
static int tcall_ranking_cut_(const tcall_ranking_ *ranking,
                              tcall_picked *picks, int count)
{
    const tcall_pick_opts *opts = ranking->opts;
    unsigned min_score = opts->min_score ? opts->min_score : 50;
    int i;
    for (i = 0; i < count && i < ranking->max; i++) {
        /* A hundred times a rank fits 32 bits once it is divided by 128. */
        uint32_t percent = picks[i].rank / 128 * 100;
        picks[i].score = (uint16_t)(picks[i].rank / TCALL_RANK_ONE_);
        if (picks[i].score < min_score ||
            percent < picks[0].rank / 128 * opts->relative)
            break;
    }
    return i;
}

/* Sorts picks by the order of registration. */
static void tcall_picks_sort_(tcall_picked *picks, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        picks[i].rank = 0xFFFFu - picks[i].index;
        tcall_picks_insert_(picks, i, count, &picks[i]);
    }
}

/* Returns the bytes that a provider is sent of a tool, but for its syntax. */
static size_t tcall_pick_bytes_(const tcall_tool *tool)
{
    const char *schema =
        tool->provider_schema ? tool->provider_schema : tool->parameters;
    tcall_writer count;
    tcall_writer_init(&count, NULL, 0);
    tcall_write_text(&count, tool->name);
    tcall_write_text(&count, tool->description ? tool->description : "");
    if (schema)
        tcall_write_text(&count, schema);
    else if (tool->shape)
        tcall_write_shape(&count, tool->shape);
    return count.len;
}

size_t tcall_pick_saved(const tcall *tc, const tcall_picked *picks, int count)
{
    const tcall_desc *desc = &tc->desc;
    size_t saved = 0, i;
    for (i = 0; i < desc->tool_count; i++)
        if (tcall_enabled(&desc->tools[i], desc->allow))
            saved += tcall_pick_bytes_(&desc->tools[i]);
    while (count-- > 0)
        if (tcall_enabled(picks[count].tool, desc->allow))
            saved -= tcall_pick_bytes_(picks[count].tool);
    return saved;
}

/* Reports the picks as an event. What they save is counted only for someone. */
static void tcall_pick_event_(tcall *tc, const tcall_picked *picks, int count)
{
    tcall_event event;
    if (!tcall_is_heard_(tc))
        return;
    memset(&event, 0, sizeof event);
    event.tools = (size_t)count;
    event.bytes = tcall_pick_saved(tc, picks, count);
    tcall_tell_(tc, &event, TCALL_EVENT_PICK);
}

/* Pinned tools have their room among the picks before all others. */
static int tcall_pinned_(const tcall_desc *desc)
{
    int count = 0;
    size_t i;
    for (i = 0; i < desc->tool_count; i++)
        count += desc->tools[i].pinned;
    return count;
}

/* Ranks the tools and chooses among them. */
TCALL_NOINLINE_ static int tcall_picks_(tcall *tc, tcall_str input,
                                        const tcall_pick_opts *opts,
                                        tcall_picked *picks, int max)
{
    tcall_ranking_ ranking;
    int count, room = max;
    if (max < 1 || tc->desc.tool_count > 0xFFFF)
        return TCALL_E_USAGE;
    count = tcall_ranking_init_(&ranking, tc, input, opts);
    if (count < 0)
        return count;
    room -= tcall_pinned_(&tc->desc);
    ranking.max = room < ranking.max ? room : ranking.max;
    count = tcall_ranking_run_(&ranking, picks, room);
    count = ranking.timed_out
                ? tcall_ranking_add_(&ranking, picks, 0, ranking.max, false)
                : tcall_ranking_cut_(&ranking, picks, count);
    count = tcall_ranking_add_(&ranking, picks, count, max, true);
    if (ranking.opts->stable)
        tcall_picks_sort_(picks, count);
    return count;
}

int tcall_pick(tcall *tc, tcall_str input, const tcall_pick_opts *opts,
               tcall_picked *picks, int max)
{
    int count = tcall_picks_(tc, input, opts, picks, max);
    if (count >= 0)
        tcall_pick_event_(tc, picks, count);
    return count;
}

/* ---- the report */

/* Reads on to the first word of the next term; false at the end. */
static bool tcall_query_report_(const tcall_query_ *query, tcall_split_ *words,
                                int *term)
{
    ++*term;
    while (tcall_split_next_(words))
        if (tcall_query_term_(query, words->stem) == *term)
            return true;
    return false;
}

/* Writes each term of the input as it was first written there. */
static void tcall_write_terms_(tcall_writer *w, const tcall_ranking_ *ranking)
{
    const tcall_query_ *query = ranking->query;
    tcall_split_ words;
    int i = -1;
    tcall_split_input_(&words, ranking->input);
    tcall_write_open(w, '[');
    while (tcall_query_report_(query, &words, &i)) {
        const tcall_term_ *term = &query->terms[i];
        unsigned rarity = tcall_term_rarity_(term, ranking->tools);
        tcall_write_open(w, '{');
        tcall_write_key(w, "word");
        tcall_write_str(w, tcall_slice_(words.word, words.length));
        tcall_write_key(w, "tools");
        tcall_write_int(w, (tcall_int)tcall_term_tools_(term));
        tcall_write_key(w, "weight");
        tcall_write_fixed(w, (tcall_int)((long)rarity * 100 / 16), 2);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes the words of the input that a tool has, within a JSON string. The tool
 * is read again: its record may be gone by now. */
static void tcall_write_matches_(tcall_writer *w, const tcall_ranking_ *ranking,
                                 const tcall_tool *tool)
{
    tcall_query_ *query = ranking->query;
    tcall_record_ record;
    tcall_split_ words;
    bool matched = false;
    int term = -1;
    tcall_query_read_(query, tool, &record, false);
    tcall_split_input_(&words, ranking->input);
    while (tcall_query_report_(query, &words, &term))
        if (tcall_record_level_(&record, (unsigned)term)) {
            tcall_write_text(w, matched ? ", " : "matched ");
            tcall_write_bytes(w, words.word, words.length);
            matched = true;
        }
    if (!matched)
        tcall_write_text(w, "no word of it");
}

/* Begins an element of a list of tools. */
static void tcall_write_element_(tcall_writer *w, const tcall_tool *tool)
{
    tcall_write_open(w, '{');
    tcall_write_key(w, "tool");
    tcall_write_string(w, tool->name);
}

static void tcall_write_scorers_(tcall_writer *w, const tcall_ranking_ *ranking)
{
    const tcall_scorer *scorer;
    tcall_write_open(w, '[');
    for (scorer = ranking->scorers; scorer < ranking->scorers_end; scorer++)
        tcall_write_string(w, scorer->name ? scorer->name : "words");
    tcall_write_close(w, ']');
}

static void tcall_write_picked_(tcall_writer *w, const tcall_ranking_ *ranking,
                                const tcall_pick_report *report)
{
    int i;
    tcall_write_open(w, '[');
    for (i = 0; i < report->count; i++) {
        const tcall_picked *pick = &report->picks[i];
        tcall_write_element_(w, pick->tool);
        tcall_write_key(w, "score");
        tcall_write_fixed(w, pick->score, 3);
        tcall_write_key(w, "reason");
        tcall_write_quote(w);
        if (pick->pinned || pick->timed_out)
            tcall_write_text(w, pick->pinned ? "pinned" : "timed out");
        else
            tcall_write_matches_(w, ranking, pick->tool);
        tcall_write_unquote(w);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes the tools that may not be picked, each with the first reason. */
static void tcall_write_excluded_(tcall_writer *w,
                                  const tcall_ranking_ *ranking)
{
    const tcall_desc *desc = &ranking->tc->desc;
    size_t i;
    tcall_write_open(w, '[');
    for (i = 0; i < desc->tool_count; i++) {
        const tcall_tool *tool = &desc->tools[i];
        const char *reason =
            tcall_pick_excludes_(ranking->tc, ranking->opts, tool);
        if (!reason)
            continue;
        tcall_write_element_(w, tool);
        tcall_write_key(w, "reason");
        tcall_write_string(w, reason);
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
}

/* Writes how the picks came about. */
TCALL_NOINLINE_ static int tcall_write_ranking_(tcall_writer *w, tcall *tc,
                                                const tcall_pick_report *report)
{
    tcall_ranking_ ranking;
    int error = tcall_ranking_init_(&ranking, tc, report->input, report->opts);
    if (error < 0)
        return error;
    if (ranking.query->term_count > 0)
        tcall_ranking_prepare_(&ranking);
    tcall_write_open(w, '{');
    tcall_write_key(w, "scorers");
    tcall_write_scorers_(w, &ranking);
    tcall_write_key(w, "terms");
    tcall_write_terms_(w, &ranking);
    tcall_write_key(w, "picks");
    tcall_write_picked_(w, &ranking, report);
    tcall_write_key(w, "excluded");
    tcall_write_excluded_(w, &ranking);
    return TCALL_OK;
}

int tcall_write_picks(tcall_writer *w, tcall *tc,
                      const tcall_pick_report *report)
{
    size_t saved = tcall_pick_saved(tc, report->picks, report->count);
    int error = tcall_write_ranking_(w, tc, report);
    if (error < 0)
        return error;
    tcall_write_key(w, "bytes_saved");
    tcall_write_int(w, (tcall_int)saved);
    tcall_write_key(w, "tokens_saved");
    tcall_write_int(w, (tcall_int)(saved / 4));
    return tcall_write_close(w, '}');
}

#else

/* Without this chapter nothing is picked: whoever asks for it is refused. */
TCALL_SHARED_ int tcall_pick(tcall *tc, tcall_str input,
                             const tcall_pick_opts *opts, tcall_picked *picks,
                             int max)
{
    (void)tc;
    (void)input;
    (void)opts;
    (void)picks;
    (void)max;
    return TCALL_E_USAGE;
}

#endif /* TOOLCALL_NO_PICK */

/* ==========================================================================
 * >>call
 *
 * What a call needs is built up at the end of the block: the program of its
 * schema (when lazy), the repaired text (if any), the list of coercions (if
 * any), the arguments, the struct. Each is made in the free part and then
 * moved there, so nothing has to know its size beforehand.
 */

/* Sends an event about a call, unless nobody listens. */
TCALL_SHARED_ void tcall_tell_call_(const tcall_call *call,
                                    tcall_event_kind kind, tcall_str text)
{
    tcall *tc = call->cx.tc;
    tcall_event event;
    if (!tcall_is_heard_(tc))
        return;
    memset(&event, 0, sizeof event);
    event.call = call;
    event.error = call->error;
    event.text = text;
    event.ms = kind == TCALL_EVENT_END ? call->run_ms : call->hydrate_ms;
    tcall_tell_(tc, &event, kind);
}

void tcall_release(tcall *tc, tcall_call *call)
{
    tc->block.high = call->block_high;
    call->args = tcall_json_none_();
    call->cx.bound = NULL;
}

/* Returns the free part of the block for tokens and the like: aligned, without
 * its first `skip` bytes. */
TCALL_SHARED_ char *tcall_hydrate_gap_(const tcall_block *block, size_t skip,
                                       size_t *size)
{
    size_t start = (block->low + skip + 7) & ~(size_t)7;
    size_t end = block->size - block->high;
    start = start < end ? start : end;
    *size = end - start;
    return block->base + start;
}

/* Lets a writer write to the free part of the block. */
TCALL_SHARED_ void tcall_hydrate_writer_(const tcall_block *block,
                                         tcall_writer *out)
{
    tcall_writer_init(out, tcall_block_gap_(block), tcall_block_free_(block));
}

/* Moves bytes to the end of the block, from the free part or elsewhere. */
TCALL_SHARED_ char *tcall_hydrate_hold_(tcall_block *block, const char *from,
                                        size_t len)
{
    char *held = (char *)tcall_block_take_(block, len);
    if (held && len)
        memmove(held, from, len);
    return held;
}

/* The same for text. What does not fit is empty. */
TCALL_SHARED_ int tcall_hydrate_keep_(tcall_block *block, const char *from,
                                      size_t len, tcall_str *copy)
{
    copy->ptr = tcall_hydrate_hold_(block, from, len);
    copy->len = copy->ptr ? len : 0;
    return copy->ptr ? TCALL_OK : TCALL_E_MEMORY;
}

#ifndef TOOLCALL_NO_SCHEMA

/* ---- arguments as values ---- */

/* Parses text into the end of the block; what lies in the first `skip` bytes
 * of the free part (the text itself, perhaps) is left alone. */
static int tcall_hydrate_read_(tcall *tc, tcall_call *call, tcall_str text,
                               size_t skip)
{
    tcall_block *block = &tc->block;
    size_t size;
    char *gap = tcall_hydrate_gap_(block, skip, &size);
    tcall_arguments args;
    const char *held;
    int r = tcall_parse_arguments(&args, text, tc->desc.strict_json, gap, size);
    if (r == TCALL_E_MEMORY)
        tcall_block_room_(block,
                          (size_t)(gap - tcall_block_gap_(block)) + args.used);
    if (r < 0) {
        call->error_at = args.at;
        return r;
    }
    if (!skip)
        call->fixes = args.fixes;
    held = tcall_hydrate_hold_(block, gap, args.used);
    /* What was parsed has moved with its memory. */
    call->args.text = held + (args.root.text - gap);
    call->args.tok =
        (const tcall_tok *)(const void *)(held +
                                          ((const char *)args.root.tok - gap));
    return TCALL_OK;
}

/* Compiles a schema into the end of the block. */
TCALL_SHARED_ int tcall_hydrate_compile_(tcall *tc, tcall_schema *schema,
                                         const char *text)
{
    int r = tcall_tool_compile_(tc, schema, text);
    if (r < 0)
        return r;
    schema->program = (const tcall_node_ *)(const void *)tcall_hydrate_hold_(
        &tc->block, (const char *)schema->program,
        schema->nodes * sizeof(tcall_node_));
    return schema->program ? TCALL_OK : TCALL_E_MEMORY;
}

/* Gives the call its compiled schema: the one of tcall_init, or one made for
 * this call, where that is lazy or the tool was added later. */
static int tcall_hydrate_schema_(tcall *tc, tcall_call *call)
{
    const char *text = call->tool->parameters;
    if (!text || tc->desc.validator)
        return TCALL_OK;
    if (tc->schemas) {
        call->schema = tc->schemas[call->tool - tc->desc.tools];
        if (call->schema.program)
            return TCALL_OK;
    }
    return tcall_hydrate_compile_(tc, &call->schema, text);
}

/* Checks with the free part of the block as scratch memory. */
TCALL_SHARED_ int tcall_hydrate_run_(tcall_block *block,
                                     const tcall_schema *schema,
                                     tcall_json value, tcall_check *check)
{
    int r;
    check->memory = tcall_hydrate_gap_(block, 0, &check->size);
    r = tcall_schema_check(schema, value, check);
    if (r == TCALL_OK || r == TCALL_E_MEMORY)
        tcall_block_room_(block, check->need);
    return r;
}

/* Checks the arguments, and keeps in the call what was found. */
static int tcall_hydrate_check_(tcall *tc, tcall_call *call, bool coerce)
{
    tcall_check check;
    int r;
    memset(&check, 0, sizeof check);
    check.errors = call->fault;
    check.error_cap = TOOLCALL_MAX_FAULTS;
    check.coerce = coerce;
    r = tcall_hydrate_run_(&tc->block, &call->schema, call->args, &check);
    if (coerce)
        call->coercions = (uint16_t)check.coerced;
    call->faults = (uint8_t)(check.error_count < TOOLCALL_MAX_FAULTS
                                 ? check.error_count
                                 : TOOLCALL_MAX_FAULTS);
    return r;
}

/* Coercion only marks the values it would change. This writes the arguments as
 * they are meant and reads that text, to be checked strictly: so what is
 * checked, shown, run and logged is one and the same value. */
TCALL_NOINLINE_ static int tcall_hydrate_rewrite_(tcall *tc, tcall_call *call,
                                                  size_t base)
{
    tcall_block *block = &tc->block;
    tcall_json marked = call->args;
    tcall_writer out;
    size_t len;
    tcall_hydrate_writer_(block, &out);
    tcall_write_json(&out, marked);
    len = out.len;
    out.last = 0;
    tcall_write_coercions(&out, marked);
    if (!tcall_block_room_(block, out.len))
        return TCALL_E_MEMORY;
    block->high = base;
    tcall_hydrate_keep_(block, out.buf + len, out.len - len, &call->coerced);
    return tcall_hydrate_read_(tc, call, tcall_slice_(out.buf, len), len);
}

/* Asks the validator of the user's, and keeps what it complains of. */
TCALL_NOINLINE_ static int tcall_hydrate_foreign_(tcall *tc, tcall_call *call)
{
    const tcall_validator *validator = tc->desc.validator;
    tcall_block *block = &tc->block;
    tcall_writer why;
    int r;
    tcall_hydrate_writer_(block, &why);
    r = validator->check(validator->user, call->tool, call->args, &why);
    tcall_hydrate_keep_(block, why.buf, why.fill, &call->complaint);
    return r < 0 ? r : TCALL_OK;
}

#ifndef TOOLCALL_NO_SHAPES

/* Marks a value whose type its node does not allow and that means another one:
 * a string that holds it, or a null where nothing has to be. Returns whether it
 * did. */
static bool tcall_coerce_value_(tcall_scan *scan, tcall_json value,
                                const tcall_shape *node)
{
    unsigned types = node->types, wanted;
    tcall_type type = tcall_json_type(value);
    /* the token is ours: the call was parsed for this */
    tcall_tok *tok = (tcall_tok *)(uintptr_t)value.tok;
    int mark = TCALL_MARK_DROP_;
    if (type == TCALL_NULL) {
        if (types & TCALL_SHAPE_NULL || node->flags & TCALL_MEMBER_REQUIRED ||
            !(tok->type & TCALL_MEMBER_))
            return false;
    } else {
        /* the same set as the schema's checker has it */
        wanted = (types & 3) | (types >> 1 & 0x3C) |
                 (types & TCALL_SHAPE_INTEGER ? TCALL_INTEGER_ : 0);
        if (type != TCALL_STRING || types & TCALL_SHAPE_STRING ||
            !tcall_meant_type_(scan, tcall_json_str(value), wanted, &mark))
            return false;
    }
    tok->mark = mark;
    return true;
}

/* An open object or list that has a shape. */
typedef struct tcall_coerce_level_ {
    const tcall_object *object; /* or, of a list: */
    const tcall_shape *item;
    const tcall_tok *end;
} tcall_coerce_level_;

/* Returns the node of a member or item that a level has, or NULL. */
static const tcall_shape *tcall_coerce_node_(const tcall_coerce_level_ *level,
                                             tcall_json value)
{
    tcall_str key = tcall_json_key(value);
    const char *name;
    unsigned i;
    if (level->item)
        return level->item;
    name = level->object->names;
    for (i = 0; i < level->object->count; i++, name = tcall_word_next_(name))
        if (tcall_str_eq(tcall_str_of(name), key))
            return &level->object->members[i];
    return NULL;
}

/* Opens a level where a value has parts with a shape. Returns whether it did.
 */
static bool tcall_coerce_open_(tcall_coerce_level_ *level, tcall_json value,
                               const tcall_shape *node)
{
    tcall_type type = tcall_json_type(value);
    level->object = NULL;
    level->item = NULL;
    level->end = value.tok + value.tok->span;
    if (node->kind == TCALL_KIND_OBJECT && type == TCALL_OBJECT)
        level->object = (const tcall_object *)node->more;
    else if (node->kind == TCALL_KIND_LIST && type == TCALL_ARRAY)
        level->item = (const tcall_shape *)node->more;
    return level->object || level->item;
}

/* Marks what is to be coerced in the arguments, value after value. Returns how
 * many marks it set. What is deeper than the decoder goes will be refused. */
static unsigned tcall_coerce_(tcall_scan *scan, tcall_json at,
                              const tcall_object *shape)
{
    tcall_coerce_level_ levels[TOOLCALL_SHAPE_LEVELS], *level = levels;
    tcall_shape root = tcall_root_;
    unsigned count = 0;
    root.more = shape;
    if (!tcall_coerce_open_(level, at, &root))
        return 0;
    for (at.tok++; at.tok < levels->end;) {
        const tcall_shape *node;
        bool full = level == levels + TOOLCALL_SHAPE_LEVELS - 1, marked;
        if (at.tok == level->end) {
            level--;
            continue;
        }
        at.tok += at.tok->type & TCALL_KEY_ ? 1 : 0;
        node = tcall_coerce_node_(level, at);
        marked = node && tcall_coerce_value_(scan, at, node);
        count += marked;
        if (!node || marked || full || !tcall_coerce_open_(level + 1, at, node))
            at.tok += at.tok->span;
        else {
            level++;
            at.tok++;
        }
    }
    return count;
}

/* Marks what is to be coerced, unless types are strict. */
TCALL_NOINLINE_ static void tcall_hydrate_coerce_(const tcall *tc,
                                                  tcall_call *call)
{
    tcall_scan scan;
    call->coercions = 0;
    if (!tc->desc.strict_types)
        call->coercions =
            (uint16_t)tcall_coerce_(&scan, call->args, call->tool->shape);
}

#else

static void tcall_hydrate_coerce_(const tcall *tc, tcall_call *call)
{
    (void)tc;
    (void)call;
}

#endif /* TOOLCALL_NO_SHAPES */

#endif /* TOOLCALL_NO_SCHEMA */

#ifndef TOOLCALL_NO_SHAPES

/* ---- arguments as a struct, by the shape of the tool ---- */

#ifndef TOOLCALL_NO_SCHEMA

/* Lets the decoder read what is written. A misfit does not end that: the
 * decoder keeps it. */
static int tcall_hydrate_feed_(void *user, const char *bytes, size_t len)
{
    tcall_decoder_feed((tcall_decoder *)user, bytes, len);
    return (int)len;
}

/* Lets the decoder read the arguments, which were parsed. */
static void tcall_hydrate_pour_(const tcall_call *call, tcall_decoder *decoder)
{
    tcall_writer writer;
    char piece[64];
    tcall_writer_init(&writer, piece, sizeof piece);
    tcall_writer_sink(&writer, tcall_hydrate_feed_, decoder);
    tcall_write_json(&writer, call->args);
    tcall_writer_flush(&writer);
}

#else

/* Without schemas there are no values: the decoder reads what came. */
static void tcall_hydrate_pour_(const tcall_call *call, tcall_decoder *decoder)
{
    tcall_decoder_feed(decoder, call->arguments.ptr, call->arguments.len);
}

#endif

/* Keeps in the call what the decoder found. */
static int tcall_hydrate_found_(tcall_call *call, tcall_decoder *decoder)
{
    int r = tcall_decoder_end(decoder);
    call->error_at = decoder->at;
    call->faults = decoder->misfit_count;
    if (call->faults > TOOLCALL_MAX_FAULTS)
        call->faults = TOOLCALL_MAX_FAULTS;
    memcpy(call->misfit, decoder->misfits, sizeof call->misfit);
    return r;
}

/* Checks the arguments against the shape while they are read into its struct,
 * which is held by the call. */
TCALL_NOINLINE_ static int tcall_hydrate_decode_(tcall *tc, tcall_call *call)
{
    const tcall_object *shape = call->tool->shape;
    void *bound = tcall_block_take_(&tc->block, shape->size);
    tcall_decoder decoder;
    int r;
    if (!bound)
        return TCALL_E_MEMORY;
    tcall_decoder_init(&decoder, shape, bound);
    tcall_hydrate_pour_(call, &decoder);
    r = tcall_hydrate_found_(call, &decoder);
    if (r == TCALL_OK)
        call->cx.bound = bound;
    return r;
}

/* Writes a misfit as the checker's errors are written: place, keyword and
 * sentence. */
static void tcall_write_misfit_error_(tcall_writer *out, const tcall_call *call,
                                      size_t index)
{
    const tcall_misfit *misfit = &call->misfit[index];
    tcall_misplaced_ place;
    tcall_place_init_(&place, misfit, call->tool->shape);
    tcall_write_open(out, '{');
    tcall_write_key(out, "path");
    tcall_write_quote(out);
    tcall_write_misplaced_(out, &place, 0);
    tcall_write_unquote(out);
    tcall_write_key(out, "keyword");
    tcall_write_string(out, tcall_misfit_keyword_(misfit));
    tcall_write_key(out, "message");
    tcall_write_quote(out);
    tcall_tell_misfit_(out, &place);
    tcall_write_unquote(out);
    tcall_write_close(out, '}');
}

/* Writes a misfit into a string, as "/days: 9 is over the maximum 7". */
static void tcall_say_misfit_(tcall_writer *out, const tcall_call *call,
                              size_t index)
{
    tcall_write_misfit(out, &call->misfit[index], call->tool->shape, 0);
}

#else

/* Without shapes no tool has one: it was refused at the start. */
static int tcall_hydrate_decode_(tcall *tc, tcall_call *call)
{
    (void)tc;
    (void)call;
    return TCALL_E_USAGE;
}

static void tcall_write_misfit_error_(tcall_writer *out, const tcall_call *call,
                                      size_t index)
{
    (void)out;
    (void)call;
    (void)index;
}

static void tcall_say_misfit_(tcall_writer *out, const tcall_call *call,
                              size_t index)
{
    (void)out;
    (void)call;
    (void)index;
}

#endif /* TOOLCALL_NO_SHAPES */

/* ---- the steps of a call ---- */

#ifndef TOOLCALL_NO_SCHEMA

/* Parses, coerces and checks. */
static int tcall_hydrate_judge_(tcall *tc, tcall_call *call, size_t base)
{
    const tcall_object *shape = call->tool->shape;
    int r = tcall_hydrate_read_(tc, call, call->arguments, 0);
    if (r < 0 || !tcall_is_checked_(call->tool))
        return r;
    call->step = TCALL_STEP_VALIDATE;
    if (tc->desc.validator)
        r = tcall_hydrate_foreign_(tc, call);
    else if (shape)
        tcall_hydrate_coerce_(tc, call);
    else
        r = tcall_hydrate_check_(tc, call, !tc->desc.strict_types);
    if (r == TCALL_OK && call->coercions) {
        r = tcall_hydrate_rewrite_(tc, call, base);
        if (r == TCALL_OK && !shape)
            r = tcall_hydrate_check_(tc, call, false);
    }
    if (r == TCALL_OK && shape)
        r = tcall_hydrate_decode_(tc, call);
    call->validated = r == TCALL_OK;
    return r;
}

/* Writes one fault of a call as an error: place, keyword and sentence. */
static void tcall_write_fault_(tcall_writer *out, const tcall_call *call,
                               size_t index)
{
    if (call->tool->shape)
        tcall_write_misfit_error_(out, call, index);
    else
        tcall_write_validation_error(out, &call->schema, call->args,
                                     &call->fault[index]);
}

/* The same into a string that is open: "/days: 9 is over the maximum 7". */
TCALL_SHARED_ void tcall_say_fault_(tcall_writer *out, const tcall_call *call,
                                    size_t index)
{
    if (call->tool->shape)
        tcall_say_misfit_(out, call, index);
    else
        tcall_say_error_(out, &call->schema, call->args, &call->fault[index]);
}

#else

/* Parses and checks at once. */
static int tcall_hydrate_judge_(tcall *tc, tcall_call *call, size_t base)
{
    int r = tcall_hydrate_decode_(tc, call);
    (void)base;
    if (r == TCALL_OK || r == TCALL_E_INVALID)
        call->step = TCALL_STEP_VALIDATE;
    call->validated = r == TCALL_OK;
    return r;
}

static int tcall_hydrate_schema_(tcall *tc, tcall_call *call)
{
    (void)tc;
    (void)call;
    return TCALL_OK;
}

static void tcall_write_fault_(tcall_writer *out, const tcall_call *call,
                               size_t index)
{
    tcall_write_misfit_error_(out, call, index);
}

TCALL_SHARED_ void tcall_say_fault_(tcall_writer *out, const tcall_call *call,
                                    size_t index)
{
    tcall_say_misfit_(out, call, index);
}

#endif /* TOOLCALL_NO_SCHEMA */

/* Parses and validates. base is what the end of the block holds besides: what
 * an earlier try left there is given back. */
TCALL_SHARED_ int tcall_hydrate_try_(tcall *tc, tcall_call *call, size_t base)
{
    tc->block.high = base;
    call->step = TCALL_STEP_PARSE;
    call->cx.bound = NULL;
    /* What was cut may mean anything: nobody may guess the rest of it. */
    if (call->incomplete)
        return call->incomplete < 0 ? call->incomplete : TCALL_E_CUT;
    return tcall_hydrate_judge_(tc, call, base);
}

#ifndef TOOLCALL_NO_REPAIR

/* Lets the caller repair arguments that were refused, once. Returns TCALL_OK,
 * or why there is nothing new to try. */
TCALL_NOINLINE_ static int tcall_hydrate_repair_(tcall *tc, tcall_call *call,
                                                 size_t base)
{
    tcall_block *block = &tc->block;
    tcall_writer out;
    int r = call->error;
    if (!tc->desc.repair || r == TCALL_E_MEMORY || call->incomplete)
        return r;
    tc->repairs++;
    tcall_hydrate_writer_(block, &out);
    if (tc->desc.repair(tc->desc.user, call, &out) < 0 || out.error)
        return r;
    block->high = base;
    call->original = call->arguments;
    if (tcall_hydrate_keep_(block, out.buf, out.fill, &call->arguments) < 0)
        return TCALL_E_MEMORY;
    call->repaired = true;
    tcall_tell_call_(call, TCALL_EVENT_REPAIR, call->arguments);
    return TCALL_OK;
}

#else

static int tcall_hydrate_repair_(tcall *tc, tcall_call *call, size_t base)
{
    (void)tc;
    (void)base;
    return call->error;
}

#endif

#if defined TOOLCALL_NO_BIND || defined TOOLCALL_NO_SCHEMA

/* No tool has fields: that was refused at the start. */
TCALL_SHARED_ int tcall_hydrate_bind_(tcall *tc, tcall_call *call)
{
    (void)tc;
    call->step = TCALL_STEP_BIND;
    return TCALL_OK;
}

#else

/* Fills the struct that the tool's fields describe. A fault is kept as the path
 * of the value that does not fit. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_hydrate_bind_(tcall *tc,
                                                      tcall_call *call)
{
    tcall_block *block = &tc->block;
    const tcall_tool *tool = call->tool;
    void *bound;
    char *path;
    size_t cap;
    int r;
    call->step = TCALL_STEP_BIND;
    if (!tool->fields)
        return TCALL_OK;
    bound = tcall_block_take_(block, tool->args_size);
    if (!bound)
        return TCALL_E_MEMORY;
    memset(bound, 0, tool->args_size);
    call->cx.bound = bound;
    path = tcall_block_gap_(block);
    cap = tcall_block_free_(block) < 64 ? tcall_block_free_(block) : 64;
    r = tcall_bind(bound, call->args, tool->fields, path, cap);
    if (r < 0 && cap)
        tcall_hydrate_keep_(block, path, strlen(path), &call->complaint);
    return r;
}

#endif

/* Parses and validates, and once more what a repair made. */
static int tcall_hydrate_arguments_(tcall *tc, tcall_call *call)
{
    size_t base = tc->block.high;
    int r = call->error = tcall_hydrate_try_(tc, call, base);
    if (r < 0) {
        r = tcall_hydrate_repair_(tc, call, base);
        if (r == TCALL_OK)
            r = tcall_hydrate_try_(tc, call, tc->block.high);
    }
    return r;
}

int tcall_hydrate(tcall *tc, tcall_call *call)
{
    uint32_t before = tcall_now_(tc);
    int r;
    call->block_high = tc->block.high;
    call->step = TCALL_STEP_FIND;
    call->cx.tc = tc;
    call->cx.call = call;
    call->tool = tcall_find(tc, call->name);
    call->cx.user = call->tool ? call->tool->user : NULL;
    r = tcall_usable_(tc);
    if (r == TCALL_OK)
        r = call->tool ? tcall_hydrate_schema_(tc, call) : TCALL_E_UNKNOWN;
    if (r == TCALL_OK)
        r = tcall_hydrate_arguments_(tc, call);
    if (r == TCALL_OK)
        r = tcall_hydrate_bind_(tc, call);
    if (r == TCALL_OK)
        call->step = TCALL_STEP_DONE;
    call->error = r;
    call->hydrate_ms = tcall_now_(tc) - before;
    tcall_tell_call_(call, TCALL_EVENT_HYDRATED, tcall_slice_(NULL, 0));
    return r;
}

/* Writes what the schema or shape says, fault by fault. */
static void tcall_write_faults_(tcall_writer *out, const tcall_call *call)
{
    size_t i;
    tcall_write_key(out, "errors");
    tcall_write_open(out, '[');
    for (i = 0; i < call->faults; i++)
        tcall_write_fault_(out, call, i);
    tcall_write_close(out, ']');
}

/* Writes a member with the beginning of a text. */
static void tcall_write_start_(tcall_writer *out, const char *key,
                               tcall_str text, size_t most)
{
    if (text.len > most)
        text.len = tcall_utf8_cut_(text.ptr, most);
    tcall_write_key(out, key);
    tcall_write_str(out, text);
}

/* Shows where a text stops being JSON, and a piece of it; also how it begins,
 * since such arguments are not sent back to the model. */
static void tcall_write_near_(tcall_writer *out, const tcall_call *call)
{
    tcall_str near = call->arguments;
    near.ptr += call->error_at;
    near.len -= call->error_at;
    tcall_write_key(out, "at");
    tcall_write_int(out, (tcall_int)call->error_at);
    tcall_write_start_(out, "near", near, 24);
    tcall_write_start_(out, "received", call->arguments, 64);
}

int tcall_write_call_errors(tcall_writer *out, const tcall_call *call)
{
    if (call->faults && call->step == TCALL_STEP_VALIDATE) {
        tcall_write_faults_(out, call);
    } else if (call->complaint.len) {
        tcall_write_key(out, "errors");
        tcall_write_str(out, call->complaint);
    } else if (call->step == TCALL_STEP_PARSE &&
               call->error_at <= call->arguments.len) {
        tcall_write_near_(out, call);
    }
    return out->error;
}

/* Writes "key":"text". */
TCALL_SHARED_ void tcall_write_pair_(tcall_writer *out, const char *key,
                                     tcall_str text)
{
    tcall_write_key(out, key);
    tcall_write_str(out, text);
}

/* ==========================================================================
 * >>context
 */

const char *tcall_stage_name(int stage)
{
    static const char names[][25] = {
#define TCALL_X_(NAME, name, when) name,
        TCALL_STAGES(TCALL_X_)
#undef TCALL_X_
    };
    return stage >= 0 && stage < TCALL_STAGE_COUNT ? names[stage] : NULL;
}

void tcall_emit(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_OUTPUT, text);
}

void tcall_progress(tcall_ctx *cx, tcall_str text)
{
    tcall_tell_call_(cx->call, TCALL_EVENT_PROGRESS, text);
}

/* Copies text to the memory of the call. */
static int tcall_keep_(tcall_ctx *cx, tcall_str text, tcall_str *copy)
{
    return tcall_hydrate_keep_(&cx->tc->block, text.ptr, text.len, copy);
}

int tcall_set_result(tcall_ctx *cx, tcall_str title, tcall_str metadata)
{
    int r = TCALL_OK;
    if (title.len) {
        tcall_progress(cx, title);
        r = tcall_keep_(cx, title, &cx->result.title);
    }
    if (metadata.len && r == TCALL_OK)
        r = tcall_keep_(cx, metadata, &cx->result.metadata);
    return r;
}

/* ---- services ---- */

/* Returns the service with this name, or NULL. */
static tcall_service *tcall_service_(tcall_service *list, const char *name)
{
    while (list && strcmp(list->name, name) != 0)
        list = list->next;
    return list;
}

/* The nearest scope wins: a test, or a session, may replace what the registry
 * gives everybody. */
void *tcall_find_service(const tcall_ctx *cx, const char *name)
{
    const tcall_desc *d = &cx->tc->desc;
    const tcall_service *service = tcall_service_(cx->services, name);
    size_t i;
    if (!service && cx->session)
        service = tcall_service_(cx->session->services, name);
    for (i = 0; !service && i < d->service_count; i++)
        if (strcmp(d->services[i].name, name) == 0)
            service = &d->services[i];
    return service ? service->object : NULL;
}

void *tcall_require_service(tcall_ctx *cx, const char *name)
{
    void *object = tcall_find_service(cx, name);
    if (!object) {
        cx->service_missing = true; /* tcall_outcome_ makes it an error */
        if (cx->state != TCALL_FAILED_)
            cx->failed_by = name;
    }
    return object;
}

int tcall_bind_service(tcall_ctx *cx, tcall_service *service, tcall_scope scope)
{
    tcall_service **list = &cx->services;
    if (scope == TCALL_SCOPE_SESSION && !cx->session)
        return TCALL_E_USAGE;
    if (scope == TCALL_SCOPE_SESSION)
        list = &cx->session->services;
    service->next = *list;
    *list = service;
    return TCALL_OK;
}

void tcall_unbind_service(tcall_session *session, const tcall_service *service)
{
    tcall_service **at = &session->services;
    while (*at && *at != service)
        at = &(*at)->next;
    if (*at)
        *at = service->next;
}

/* Scratch memory is a service of the call, with its object right after it. */
void *tcall_scratch(tcall_ctx *cx, const char *name, size_t size)
{
    const size_t head = (sizeof(tcall_service) + 7) & ~(size_t)7;
    tcall_service *service = tcall_service_(cx->services, name);
    if (service)
        return service->object;
    service = (tcall_service *)tcall_block_take_(&cx->tc->block, head + size);
    if (!service)
        return NULL;
    memset(service, 0, head + size);
    service->name = name;
    service->object = (char *)service + head;
    tcall_bind_service(cx, service, TCALL_SCOPE_CALL);
    return service->object;
}

/* ---- time ---- */

/* Differences of times are signed, so that the clock may wrap. */
void tcall_deadline(tcall_ctx *cx, uint32_t ms)
{
    uint32_t end = tcall_now_(cx->tc) + ms;
    if (cx->has_deadline && (int32_t)(cx->deadline - end) < 0)
        return;
    cx->deadline = end;
    cx->has_deadline = cx->tc->desc.now_ms != NULL;
}

int32_t tcall_time_left(const tcall_ctx *cx)
{
    int32_t left = (int32_t)(cx->deadline - tcall_now_(cx->tc));
    if (!cx->has_deadline)
        return INT32_MAX;
    return left > 0 ? left : 0;
}

/* Returns why the tool must not run now or go on, or TCALL_OK. */
TCALL_SHARED_ int tcall_must_end_(const tcall_ctx *cx)
{
    if (cx->stop < 0)
        return cx->stop;
    return tcall_time_left(cx) == 0 ? TCALL_E_TIMEOUT : TCALL_OK;
}

/* ---- input and output ---- */

tcall_str tcall_output(const tcall_ctx *cx)
{
    size_t start = cx->out_start->fill;
    return tcall_slice_(cx->out->buf + start, cx->out->fill - start);
}

/* Takes back all that was written since the call began. */
TCALL_SHARED_ void tcall_output_clear_(tcall_ctx *cx)
{
    *cx->out = *cx->out_start;
}

/* Adds an entry to the history for what is about to be replaced. */
static tcall_change *tcall_change_(tcall_ctx *cx)
{
    tcall_change *change =
        (tcall_change *)tcall_block_take_(&cx->tc->block, sizeof *change);
    if (!change)
        return NULL;
    memset(change, 0, sizeof *change);
    change->before = cx->history;
    change->by = cx->hook ? cx->hook->name : cx->call->tool->name;
    change->stage = cx->hook ? cx->hook->stage : cx->stage;
    cx->history = change;
    return change;
}

/* Where secrets are injected the tool gets other arguments than were asked for:
 * they are checked in a copy of the call, so that nobody else sees them, not
 * even in what is said of a fault. */
static int tcall_inject_(tcall_ctx *cx, tcall_str text)
{
    tcall_block *block = &cx->tc->block;
    tcall_call *run = (tcall_call *)tcall_block_take_(block, sizeof *run);
    int error;
    if (!run)
        return TCALL_E_MEMORY;
    *run = *cx->call;
    run->arguments = text;
    error = tcall_hydrate_try_(cx->tc, run, block->high);
    if (error == TCALL_OK)
        error = tcall_hydrate_bind_(cx->tc, run);
    if (error < 0)
        return error;
    cx->injected = run->args;
    cx->bound = run->cx.bound;
    return TCALL_OK;
}

/* The new arguments go the way of the first ones, and nothing that was said of
 * those holds any more: not the check, not the approval. Once the tool has run
 * it is too late. */
int tcall_set_input(tcall_ctx *cx, tcall_str text)
{
    tcall *tc = cx->tc;
    tcall_call *call = cx->call;
    tcall_change *change;
    if (!call->tool || cx->state != TCALL_GOING_ || cx->tool_ran)
        return TCALL_E_USAGE;
    change = tcall_change_(cx);
    if (!change || tcall_keep_(cx, text, &text) < 0)
        return call->error = TCALL_E_MEMORY;
    change->input = call->args;
    if (cx->stage == TCALL_WILL_INJECT_SECRETS)
        return tcall_inject_(cx, text);
    cx->injected = tcall_json_none_();
    call->arguments = text;
    call->approved = call->validated = false;
    call->incomplete = 0;
    call->error = tcall_hydrate_try_(tc, call, tc->block.high);
    if (call->error == TCALL_OK)
        call->error = tcall_hydrate_bind_(tc, call);
    return call->error;
}

/* Where the output did not fit, keeps whole characters and says so. Returns the
 * writer's error of any other kind. */
TCALL_SHARED_ int tcall_output_cut_(tcall_ctx *cx)
{
    tcall_writer *out = cx->out, notice;
    size_t start = cx->out_start->fill, size = out->len - cx->out_start->len;
    size_t keep = out->fill - start;
    char text[64];
    if (out->error != TCALL_E_MEMORY)
        return out->error;
    tcall_writer_init(&notice, text, sizeof text);
    tcall_write_text(&notice, "\n[output cut: all of it are ");
    tcall_write_int(&notice, (tcall_int)size);
    tcall_write_text(&notice, " bytes]");
    keep = keep > notice.fill
               ? tcall_utf8_cut_(out->buf + start, keep - notice.fill)
               : 0;
    tcall_output_clear_(cx);
    out->len += keep;
    out->fill += keep;
    if (out->cap - out->fill >= notice.fill)
        tcall_write_bytes(out, text, notice.fill);
    return TCALL_OK;
}

/* The old output is kept in the history, as a hook may have to show what it
 * replaced. */
int tcall_set_output(tcall_ctx *cx, tcall_str text)
{
    tcall_str old = tcall_output(cx);
    if (old.len) {
        tcall_change *change = tcall_change_(cx);
        if (!change || tcall_keep_(cx, old, &change->output) < 0)
            return TCALL_E_MEMORY;
        /* A part of the old output may be the new one. */
        if (text.ptr >= old.ptr && text.ptr < old.ptr + old.len)
            text.ptr = change->output.ptr + (text.ptr - old.ptr);
    }
    tcall_output_clear_(cx);
    tcall_write_bytes(cx->out, text.ptr, text.len);
    return tcall_output_cut_(cx);
}

/* ---- what becomes of the call ---- */

/* An answer at the stage of the cache is a hit, which has stages of its own. */
int tcall_respond(tcall_ctx *cx, tcall_str text)
{
    int r = tcall_set_output(cx, text);
    if (r < 0)
        return r;
    if (cx->state != TCALL_HIT_)
        cx->state =
            cx->stage == TCALL_WILL_READ_CACHE ? TCALL_HIT_ : TCALL_ANSWERED_;
    cx->error = TCALL_OK;
    return TCALL_OK;
}

int tcall_abort(tcall_ctx *cx, const char *reason, const char *code, int status)
{
    if (cx->state != TCALL_FAILED_) { /* the first failure counts */
        cx->reason = tcall_str_of(reason);
        cx->code = code;
        cx->status = status;
    }
    return TCALL_E_ABORTED;
}

int tcall_retry_after(tcall_ctx *cx, uint32_t ms, const char *reason)
{
    tcall_abort(cx, reason, NULL, 429);
    if (cx->state != TCALL_FAILED_)
        cx->retry_ms = ms;
    return TCALL_E_RATE;
}

/* Makes the call fail; the first failure counts. */
TCALL_SHARED_ void tcall_fail_(tcall_ctx *cx, int error)
{
    if (error < 0 && cx->state != TCALL_FAILED_) {
        cx->state = TCALL_FAILED_;
        cx->error = error;
    }
}

/* True for the two errors that ask for tcall_invoke once more. */
TCALL_SHARED_ bool tcall_waits_(int r)
{
    return r == TCALL_E_AGAIN || r == TCALL_E_APPROVAL;
}

/* Returns how a hook or the tool ended: with an error, whatever it returned,
 * when it required a service that is missing. */
TCALL_SHARED_ int tcall_outcome_(tcall_ctx *cx, int r)
{
    if (cx->service_missing)
        r = TCALL_E_SERVICE;
    cx->service_missing = false;
    return r > 0 ? TCALL_OK : r;
}

/* ==========================================================================
 * >>result: what the model reads of a call
 *
 * A success is what the tool wrote. A failure is {"success":false,"error":...}:
 * what was wrong, where, and what to send instead.
 */

/* ---- the call in passing: name(key=value, ...) ---- */

/* Bytes of an argument that are shown, and of all arguments together. */
#define TCALL_GLANCE_     32
#define TCALL_GLANCE_ALL_ 160

/* Writes one more argument as key=value; what is long is cut. */
TCALL_SHARED_ void tcall_write_argument_(tcall_writer *out, tcall_str key,
                                         tcall_str value)
{
    bool cut = value.len > TCALL_GLANCE_;
    if (cut)
        value.len = tcall_utf8_cut_(value.ptr, TCALL_GLANCE_ - 1);
    tcall_write_text(out, out->last == '(' ? "" : ", ");
    tcall_write_bytes(out, key.ptr, key.len < TCALL_GLANCE_ ? key.len : 0);
    tcall_write_text(out, "=");
    tcall_write_bytes(out, value.ptr, value.len);
    tcall_write_text(out, cut ? "..." : "");
}

#ifndef TOOLCALL_NO_SCHEMA

/* Writes what was called, with its arguments, which are an object. */
TCALL_NOINLINE_ static void
tcall_write_called_(tcall_writer *out, const char *name, tcall_json args)
{
    const tcall_tok *token = args.tok + 1, *end = args.tok + args.tok->span;
    size_t start = out->len;
    tcall_write_text(out, name);
    tcall_write_text(out, "(");
    for (; token < end && out->len - start < TCALL_GLANCE_ALL_;
         token += token->span) {
        char room[TCALL_GLANCE_];
        tcall_writer value;
        tcall_str key = tcall_tok_str_(args.text, token++);
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_json(&value, tcall_json_cursor_(args.text, token));
        tcall_write_argument_(out, key, tcall_slice_(room, value.len));
    }
    tcall_write_text(out, token < end ? ", ...): " : "): ");
}

/* ---- an example of a call that would do ---- */

/* Returns a value that the schema of a property names; without one, a value of
 * its type. The order is that of how likely the value does what the user
 * wants. */
static tcall_str tcall_example_(const char *property)
{
    static const struct {
        const char *keyword;
        bool first; /* the first of a list */
    } values[] = {{"enum", true},
                  {"examples", true},
                  {"const", false},
                  {"default", false},
                  {"minimum", false}};
    static const struct {
        const char *type, *value;
    } types[] = {{"integer", "1"},
                 {"number", "1"},
                 {"boolean", "true"},
                 {"array", "[]"},
                 {"object", "{}"}};
    const char *type = tcall_text_get_(property, "type");
    size_t i;
    for (i = 0; i < sizeof values / sizeof *values; i++) {
        const char *value = tcall_text_get_(property, values[i].keyword);
        if (values[i].first)
            value = tcall_text_first_(value);
        if (value)
            return tcall_text_verbatim_(value);
    }
    for (i = 0; type && i < sizeof types / sizeof *types; i++)
        if (tcall_text_same_(type, tcall_str_of(types[i].type)))
            return tcall_str_of(types[i].value);
    return tcall_str_of("\"value\"");
}

/* Writes what the schema requires. */
static void tcall_write_schema_example_(tcall_writer *out, const char *schema)
{
    const char *properties, *name;
    schema = tcall_text_space_(schema);
    properties = tcall_text_get_(schema, "properties");
    name = tcall_text_first_(tcall_text_get_(schema, "required"));
    for (; name && *name == '"';
         name = tcall_text_next_(tcall_text_skip_(name))) {
        char room[64];
        const char *end = tcall_text_skip_(name);
        size_t len = 0;
        /* a name that is too long is left out, its value is not */
        if (end - name < (int)sizeof room)
            len = tcall_decode_(room, name + 1, end - 1);
        room[len] = '\0';
        tcall_write_argument_(
            out, tcall_slice_(room, len),
            tcall_example_(tcall_text_get_(properties, room)));
    }
}

#else

/* Without schemas there are no values of arguments, and no texts of schemas. */
static void tcall_write_called_(tcall_writer *out, const char *name,
                                tcall_json args)
{
    (void)out;
    (void)name;
    (void)args;
}

static void tcall_write_schema_example_(tcall_writer *out, const char *schema)
{
    (void)out;
    (void)schema;
}

#endif /* TOOLCALL_NO_SCHEMA */

#ifndef TOOLCALL_NO_SHAPES

/* Writes a value that a node allows. */
static void tcall_write_shape_value_(tcall_writer *out, const tcall_shape *node)
{
    tcall_said_ said = tcall_said_of_(node);
    const char *value = "\"value\"";
    switch (node->kind) {
    case TCALL_KIND_CHOICE:
        tcall_write_string(out, (const char *)node->more);
        return;
    case TCALL_KIND_INTEGER:
    case TCALL_KIND_INTEGER64:
    case TCALL_KIND_NUMBER:
        if (said.has_low) {
            tcall_put_number_(out, said.low, node->digits);
            return;
        }
        value = said.has_high && said.high < 1 ? "0" : "1";
        break;
    case TCALL_KIND_BOOLEAN: value = "true"; break;
    case TCALL_KIND_LIST:
        tcall_write_text(out, "[");
        if (node->low > 0)
            tcall_write_shape_value_(out, (const tcall_shape *)node->more);
        value = "]";
        break;
    case TCALL_KIND_OBJECT: value = "{}"; break;
    default: break;
    }
    tcall_write_text(out, value);
}

/* Writes what the shape requires. */
static void tcall_write_shape_example_(tcall_writer *out,
                                       const tcall_object *shape)
{
    const char *name = shape->names;
    unsigned i;
    for (i = 0; i < shape->count; i++, name = tcall_word_next_(name)) {
        char room[64];
        tcall_writer value;
        if (!(shape->members[i].flags & TCALL_MEMBER_REQUIRED))
            continue;
        tcall_writer_init(&value, room, sizeof room);
        tcall_write_shape_value_(&value, &shape->members[i]);
        tcall_write_argument_(out, tcall_str_of(name),
                              tcall_slice_(room, value.fill));
    }
}

#else

static void tcall_write_shape_example_(tcall_writer *out,
                                       const tcall_object *shape)
{
    (void)out;
    (void)shape;
}

#endif

/* Writes "suggestion":"Example: name(key=value)" with what is required. */
TCALL_NOINLINE_ static void tcall_write_example_(tcall_writer *out,
                                                 const tcall_tool *tool)
{
    tcall_write_key(out, "suggestion");
    tcall_write_quote(out);
    tcall_write_text(out, "Example: ");
    tcall_write_text(out, tool->name);
    tcall_write_text(out, "(");
    if (tool->shape)
        tcall_write_shape_example_(out, tool->shape);
    else
        tcall_write_schema_example_(out, tool->parameters);
    tcall_write_text(out, ")");
    tcall_write_unquote(out);
}

/* ---- failures ---- */

/* Writes which tools there are, so that the model can choose again. */
static void tcall_write_available_(tcall_writer *out, const tcall *tc)
{
    const tcall_tool *tool;
    size_t i = 0;
    tcall_write_key(out, "available");
    tcall_write_open(out, '[');
    while ((tool = tcall_next_tool(tc, &i, tc->desc.allow)) != NULL)
        tcall_write_string(out, tool->name);
    tcall_write_close(out, ']');
}

/* Begins the result of a failure instead of the output, up to the sentence that
 * says what was wrong. */
static void tcall_failure_begin_(tcall_ctx *cx)
{
    tcall_writer *out = cx->out;
    tcall_output_clear_(cx);
    tcall_write_open(out, '{');
    tcall_write_key(out, "success");
    tcall_write_bool(out, false);
    tcall_write_key(out, "error");
    tcall_write_quote(out);
}

/* Writes what the schema says of the arguments. */
TCALL_NOINLINE_ static void tcall_write_refused_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    size_t i;
    tcall_failure_begin_(cx);
    tcall_write_text(cx->out, call->tool->name);
    for (i = 0; i < call->faults; i++) {
        tcall_write_text(cx->out, i ? ". " : ": ");
        tcall_say_fault_(cx->out, call, i);
    }
}

/* Writes what was called, who failed and why. The reason may be what the tool
 * wrote, so it is copied before that is taken back. */
TCALL_NOINLINE_ static void tcall_write_reasons_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    char copy[128];
    size_t len = cx->reason.len;
    if (len >= sizeof copy)
        len = tcall_utf8_cut_(cx->reason.ptr, sizeof copy - 1);
    if (len)
        memcpy(copy, cx->reason.ptr, len);
    tcall_failure_begin_(cx);
    if (call->tool && call->args.tok)
        tcall_write_called_(cx->out, call->tool->name, call->args);
    if (cx->failed_by) {
        tcall_write_text(cx->out, cx->failed_by);
        tcall_write_text(cx->out, ": ");
    }
    if (len)
        tcall_write_bytes(cx->out, copy, len);
    else
        tcall_write_text(cx->out, tcall_error_text(cx->error));
}

/* Writes the result of a call that failed, instead of the output. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_write_failure_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    /* a hook may have given the failure a code of its own */
    const char *code = cx->code ? cx->code : tcall_error_code(cx->error);
    tcall_writer *out = cx->out;
    if (cx->error == TCALL_E_INVALID && call->faults && !cx->reason.len)
        tcall_write_refused_(cx);
    else
        tcall_write_reasons_(cx);
    tcall_write_unquote(out);
    tcall_write_pair_(out, "error_type",
                      tcall_str_of(tcall_error_type(cx->error)));
    tcall_write_pair_(out, "code", tcall_str_of(code));
    if (cx->result.suggestion)
        tcall_write_pair_(out, "suggestion",
                          tcall_str_of(cx->result.suggestion));
    else if (cx->error == TCALL_E_INVALID && call->tool &&
             tcall_is_checked_(call->tool))
        tcall_write_example_(out, call->tool);
    if (cx->retry_ms) {
        tcall_write_key(out, "retry_after_ms");
        tcall_write_int(out, (tcall_int)cx->retry_ms);
    }
    if (cx->error == TCALL_E_UNKNOWN)
        tcall_write_available_(out, cx->tc);
    else
        tcall_write_call_errors(out, call);
    tcall_write_close(out, '}');
    if (out->error)
        cx->error = out->error;
}

/* ==========================================================================
 * >>run: permission, approval, the tool itself
 *
 * What the library does itself at the stages of a call, with or without hooks.
 */

/* ---- permission ---- */

/* Writes a set of permissions: in words, or as the constants to write in C. */
static void tcall_write_permissions_(tcall_writer *out, unsigned set,
                                     bool constants)
{
    static const struct {
        const char *word, *constant;
    } names[] = {{"read", "TCALL_READ"},
                 {"write", "TCALL_WRITE"},
                 {"execute", "TCALL_EXECUTE"},
                 {"network", "TCALL_NETWORK"},
                 {"actuate", "TCALL_ACTUATE"}};
    const char *between = constants ? " | " : " and ";
    size_t i;
    bool first = true;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(set >> i & 1))
            continue;
        tcall_write_text(out, first ? "" : between);
        tcall_write_text(out, constants ? names[i].constant : names[i].word);
        first = false;
    }
    tcall_write_text(out, first ? "nothing" : "");
}

/* Writes why the tool is not permitted, in words for the model. */
static void tcall_write_denial_(tcall_writer *out, const tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    if (tool->permissions & ~(unsigned)TCALL_EVERYTHING) {
        tcall_write_text(out, "this tool was removed");
        return;
    }
    tcall_write_text(out, "needs ");
    if (tool->permissions)
        tcall_write_permissions_(out, tool->permissions, false);
    else
        tcall_write_text(out, "everything, as it declares no permissions");
    tcall_write_text(out, "; the registry allows ");
    tcall_write_permissions_(out, cx->tc->desc.allow, false);
}

#ifndef TOOLCALL_NO_EVENTS

/* Writes the same for the developer: which tool it is, and the remedy. */
TCALL_SHARED_ void tcall_write_remedy_(tcall_writer *out, const tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    unsigned missing = tcall_needs_(tool) & ~(unsigned)cx->tc->desc.allow;
    tcall_write_text(out, tool->name);
    tcall_write_text(out, " ");
    tcall_write_denial_(out, cx);
    if (missing & TCALL_EVERYTHING) {
        tcall_write_text(out, ": add ");
        tcall_write_permissions_(out, missing, true);
        tcall_write_text(out, " to tcall_desc.allow");
    }
}

#endif

/* Checks that the registry allows what the tool needs. The reason is kept:
 * audit and events show it, too. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_authorize_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    char text[160];
    tcall_writer out;
    if (!call->tool)
        return call->error < 0 ? call->error : TCALL_E_USAGE;
    if (tcall_enabled(call->tool, cx->tc->desc.allow))
        return TCALL_OK;
    tcall_writer_init(&out, text, sizeof text);
    tcall_write_denial_(&out, cx);
    if (!cx->reason.len) /* without room for it the code alone must do */
        tcall_keep_(cx, tcall_slice_(text, out.fill), &cx->reason);
    return TCALL_E_DENIED;
}

/* ---- approval ---- */

/* Reports a verdict: once when it is asked for, once when it is there. */
TCALL_SHARED_ void tcall_tell_verdict_(tcall_ctx *cx, tcall_verdict verdict)
{
    tcall_event event;
    bool asked = cx->approval_asked;
    cx->approval_asked = verdict == TCALL_VERDICT_LATER;
    if (asked == cx->approval_asked)
        return;
    memset(&event, 0, sizeof event);
    event.call = cx->call;
    event.verdict = (int)verdict;
    tcall_tell_(cx->tc, &event,
                cx->approval_asked ? TCALL_EVENT_APPROVAL
                                   : TCALL_EVENT_VERDICT);
}

/* True when the call needs approval: the tool or its author says so, what runs
 * is the work of a repair, or nobody has checked the arguments. */
TCALL_SHARED_ bool tcall_needs_approval_(const tcall_call *call)
{
    const tcall_tool *tool = call->tool;
    bool reads_only = tool->permissions == TCALL_READ;
    if (tool->confirm || call->cx.approval_wanted ||
        (call->repaired && !reads_only))
        return true;
    if (tcall_is_checked_(tool) || tool->no_schema_mode == TCALL_NO_SCHEMA_FULL)
        return false;
    return !reads_only || tool->no_schema_mode != TCALL_NO_SCHEMA_READ_ONLY;
}

/* Asks desc.approve where it has to be asked. */
TCALL_SHARED_ int tcall_consent_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_desc *d = &cx->tc->desc;
    tcall_verdict verdict = TCALL_VERDICT_DENY;
    if (call->error < 0 ||
        (!tcall_needs_approval_(call) && !cx->approval_asked))
        return TCALL_OK;
    if (!call->approved) {
        tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
        if (d->approve)
            verdict = d->approve(d->user, call);
        if (verdict == TCALL_VERDICT_LATER)
            return TCALL_E_APPROVAL;
        call->approved = verdict == TCALL_VERDICT_ALLOW;
    }
    tcall_tell_verdict_(cx, call->approved ? TCALL_VERDICT_ALLOW
                                           : TCALL_VERDICT_DENY);
    return call->approved ? TCALL_OK : TCALL_E_DENIED;
}

/* ---- the tool ---- */

/* Where an attempt to run the tool is. */
enum {
    TCALL_RUN_NOT_,      /* none is under way */
    TCALL_RUN_HOOKS_,    /* at WILL_EXECUTE */
    TCALL_RUN_APPROVAL_, /* hooks may have changed the arguments: ask again */
    TCALL_RUN_BEGIN_,    /* the tool is due */
    TCALL_RUN_POLLED_    /* the tool answered TCALL_E_AGAIN */
};

/* Calls the tool's function once. */
static int tcall_run_call_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    const tcall_hook *around = cx->hook;
    tcall_json args = cx->injected.tok ? cx->injected : call->args;
    uint32_t before = tcall_now_(cx->tc);
    int r;
    cx->tool_ran = true;
    cx->hook = NULL;
    cx->out->last = 0;
    r = tcall_outcome_(cx, call->tool->run(cx, args, cx->out));
    cx->hook = around;
    call->run_ms += tcall_now_(cx->tc) - before;
    return r;
}

/* Runs the tool, or lets it go on. One that has to end is called a last time
 * only if it holds something, and what it then writes does not count. */
TCALL_SHARED_ int tcall_run_(tcall_ctx *cx)
{
    int end = tcall_must_end_(cx), r;
    if (end < 0) {
        if (cx->run_step != TCALL_RUN_POLLED_)
            return end;
        cx->stop = end;
    }
    r = tcall_run_call_(cx);
    cx->run_step = r == TCALL_E_AGAIN      ? TCALL_RUN_POLLED_
                   : r == TCALL_E_APPROVAL ? TCALL_RUN_BEGIN_
                                           : TCALL_RUN_NOT_;
    if (end < 0 || tcall_waits_(r)) {
        tcall_output_clear_(cx);
        return end < 0 ? end : r;
    }
    if (r == TCALL_OK || (r == TCALL_E_MEMORY && cx->out->error == r))
        return tcall_output_cut_(cx);
    if (!cx->reason.len && !cx->failed_by)
        cx->reason = tcall_output(cx); /* what it wrote are the reasons */
    return r;
}

/* ---- the schema of the output ---- */

#ifndef TOOLCALL_NO_SCHEMA

/* Reads the output so far as a value in the block. */
static int tcall_output_read_(tcall_ctx *cx, tcall_json *value)
{
    tcall_block *b = &cx->tc->block;
    tcall_str text = tcall_output(cx);
    size_t need = 0, size, tokens;
    char *copy = (char *)tcall_block_take_(b, text.len + 1);
    tcall_tok *tok;
    int r;
    if (!copy)
        return TCALL_E_MEMORY;
    memcpy(copy, text.ptr, text.len);
    tok = (tcall_tok *)(void *)tcall_hydrate_gap_(b, 0, &size);
    r = tcall_json_parse(value, copy, text.len, tok, size / sizeof *tok, &need);
    if (r < 0 && r != TCALL_E_MEMORY)
        return TCALL_E_OUTPUT;
    tokens = r < 0 ? need : (size_t)r;
    value->tok = (const tcall_tok *)(const void *)tcall_hydrate_hold_(
        b, (const char *)tok, tokens * sizeof *tok);
    return value->tok ? TCALL_OK : TCALL_E_MEMORY;
}

/* What this takes of the block is given back by its caller. */
static int tcall_output_judge_(tcall_ctx *cx)
{
    tcall *tc = cx->tc;
    tcall_schema *schema =
        (tcall_schema *)tcall_block_take_(&tc->block, sizeof *schema);
    tcall_check check;
    tcall_json value;
    int r = schema ? tcall_output_read_(cx, &value) : TCALL_E_MEMORY;
    if (r == TCALL_OK)
        r = tcall_hydrate_compile_(tc, schema, cx->call->tool->output);
    if (r < 0)
        return r;
    memset(&check, 0, sizeof check);
    r = tcall_hydrate_run_(&tc->block, schema, value, &check);
    return r == TCALL_E_INVALID ? TCALL_E_OUTPUT : r;
}

/* Checks the output against tool->output, if it has that. What a hook answered
 * in place of the tool is its own. */
TCALL_SHARED_ int tcall_check_output_(tcall_ctx *cx)
{
    const tcall_tool *tool = cx->call->tool;
    size_t high = cx->tc->block.high;
    bool own = cx->state != TCALL_ANSWERED_;
    int r = tool && tool->output && own ? tcall_output_judge_(cx) : TCALL_OK;
    cx->tc->block.high = high;
    return r;
}

#else

/* Without schemas a tool has none for its output. */
TCALL_SHARED_ int tcall_check_output_(tcall_ctx *cx)
{
    (void)cx;
    return TCALL_OK;
}

#endif /* TOOLCALL_NO_SCHEMA */

/* ==========================================================================
 * >>stages
 *
 * tcall_init has put the hooks in order, so a stage finds its hooks one after
 * the other, and what is left of a stage that waits is one number: the place
 * of the next hook.
 */

#ifndef TOOLCALL_NO_HOOKS

/* ---- the order of the hooks of a call ---- */

/* Chooses the order: a tool that has no hooks of its own shares the
 * registry's. */
TCALL_SHARED_ void tcall_order_begin_(tcall_ctx *cx)
{
    const tcall *tc = cx->tc;
    const tcall_tool *tool = cx->call->tool;
    cx->order = &tc->order;
    if (tool && tool->hook_count && tc->orders)
        cx->order = &tc->orders[tool - tc->desc.tools];
}

/* Moves *at past the hooks of earlier stages. */
static void tcall_hook_seek_(const tcall_ctx *cx, int stage, uint16_t *at)
{
    while (*at < cx->order->count && cx->order->hooks[*at]->stage < stage)
        ++*at;
}

/* Returns the hook at a place where it belongs to the stage, else NULL. */
static const tcall_hook *tcall_hook_at_(const tcall_ctx *cx, int stage,
                                        size_t place)
{
    const tcall_hook *hook =
        place < cx->order->count ? cx->order->hooks[place] : NULL;
    return hook && hook->stage == stage ? hook : NULL;
}

/* ---- hooks that acquire and hooks that release ---- */

static bool tcall_acquires_(const tcall_hook *hook)
{
    return hook->stage == TCALL_WILL_ACQUIRE_QUOTA ||
           hook->stage == TCALL_WILL_ACQUIRE_SEMAPHORE;
}

static bool tcall_releases_(const tcall_hook *hook)
{
    return hook->stage == TCALL_DID_RELEASE_QUOTA ||
           hook->stage == TCALL_DID_RELEASE_SEMAPHORE;
}

/* Returns the stage that acquires what a hook at a release stage releases. */
static int tcall_acquired_at_(const tcall_hook *hook)
{
    return hook->stage == TCALL_DID_RELEASE_QUOTA
               ? TCALL_WILL_ACQUIRE_QUOTA
               : TCALL_WILL_ACQUIRE_SEMAPHORE;
}

/* Returns the bit in cx->held of a hook that acquires, or the bits of those
 * that the given hook may release: the ones with the same user. */
static uint32_t tcall_holders_(const tcall_ctx *cx, const tcall_hook *own)
{
    bool releases = tcall_releases_(own);
    uint32_t bits = 0, bit = 1;
    uint16_t place;
    for (place = 0; place < cx->order->count; place++) {
        const tcall_hook *hook = cx->order->hooks[place];
        if (hook->stage > TCALL_WILL_ACQUIRE_SEMAPHORE)
            break;
        if (!tcall_acquires_(hook))
            continue;
        if (releases ? hook->stage == tcall_acquired_at_(own) &&
                           hook->user == own->user
                     : hook == own)
            bits |= bit;
        bit <<= 1;
    }
    return bits;
}

/* Notes that a hook has acquired something; there are bits for 32 of them. */
static int tcall_hold_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits = tcall_holders_(cx, hook);
    cx->held |= bits;
    return bits ? TCALL_OK : TCALL_E_LIMIT;
}

/* Returns false when a hook has nothing to release: hooks with its user might
 * have acquired something, and none did. Each release takes one bit back. */
static bool tcall_unhold_(tcall_ctx *cx, const tcall_hook *hook)
{
    uint32_t bits = tcall_holders_(cx, hook);
    if (bits && !(cx->held & bits))
        return false;
    bits &= cx->held;
    cx->held &= ~(bits & (0 - bits)); /* the lowest */
    return true;
}

/* ---- one stage ---- */

/* The hook's filter lets it run, and what it releases was acquired. */
static bool tcall_hook_due_(tcall_ctx *cx, const tcall_hook *hook)
{
    if (hook->filter && !hook->filter(cx, hook->user))
        return false;
    return !tcall_releases_(hook) || tcall_unhold_(cx, hook);
}

static int tcall_hook_run_(tcall_ctx *cx, const tcall_hook *hook)
{
    const tcall_hook *around = cx->hook;
    int state = cx->state, r;
    cx->hook = hook;
    r = tcall_outcome_(cx, hook->run(cx, hook->user));
    cx->hook = around;
    if (tcall_waits_(r) &&
        (state != TCALL_GOING_ || hook->stage > TCALL_WILL_EXECUTE))
        r = TCALL_E_USAGE; /* the output is there, nobody may wait */
    if (r < 0 && !tcall_waits_(r) && state != TCALL_FAILED_ && !cx->failed_by &&
        hook->stage != TCALL_AROUND_EXECUTE)
        cx->failed_by = hook->name;
    if (r == TCALL_OK && cx->state == TCALL_GOING_ && tcall_acquires_(hook))
        r = tcall_hold_(cx, hook);
    return r;
}

/* Runs the hooks of a stage from place *at on; returns their first error. One
 * that waits is the next again. An error, or an answer, ends the stage, unless
 * it is one of those that see every call. */
static int tcall_hooks_(tcall_ctx *cx, int stage, uint16_t *at)
{
    const tcall_hook *hook;
    int first = TCALL_OK, state = cx->state;
    tcall_hook_seek_(cx, stage, at);
    for (; (hook = tcall_hook_at_(cx, stage, *at)) != NULL; ++*at) {
        int r = TCALL_OK;
        if (tcall_hook_due_(cx, hook))
            r = tcall_hook_run_(cx, hook);
        if (tcall_waits_(r))
            return r;
        if (first == TCALL_OK)
            first = r;
        if (!(tcall_due_[stage] & TCALL_FAILED_) &&
            (r < 0 || cx->state != state))
            break;
    }
    return first;
}

/* The same for a stage whose hooks do not wait. */
static int tcall_hooks_all_(tcall_ctx *cx, int stage)
{
    uint16_t at = 0;
    return tcall_hooks_(cx, stage, &at);
}

/* ---- attempts ---- */

/* True when a second run for the same call has no second effect. */
TCALL_SHARED_ bool tcall_repeatable_(const tcall_tool *tool)
{
    return tool->idempotent ||
           (tcall_needs_(tool) & ~(unsigned)TCALL_NETWORK) == TCALL_READ;
}

/* Asks for approval once more, where hooks at WILL_EXECUTE have changed the
 * arguments. */
static int tcall_approve_again_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    int r = call->error;
    if (r == TCALL_OK && !call->approved && tcall_needs_approval_(call))
        r = tcall_hooks_(cx, TCALL_WILL_CHECK_CONSENT, &cx->next_inner);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_consent_(cx);
    return r;
}

/* Begins an attempt: *r is TCALL_OK where it may go on, else the result. False
 * when the tool must not run a second time; the first result stays. */
static bool tcall_attempt_begin_(tcall_ctx *cx, int *r)
{
    cx->attempt++;
    *r = tcall_must_end_(cx);
    if (*r == TCALL_OK && cx->tool_ran && !tcall_repeatable_(cx->call->tool)) {
        *r = cx->last_attempt;
        return false;
    }
    if (*r < 0)
        return false;
    tcall_output_clear_(cx);
    cx->reason.len = 0;
    cx->failed_by = NULL;
    cx->next_inner = 0;
    cx->run_step = TCALL_RUN_HOOKS_;
    if (cx->attempt > 1) {
        tcall_tell_call_(cx->call, TCALL_EVENT_RETRY, tcall_slice_(NULL, 0));
        *r = tcall_hooks_all_(cx, TCALL_ON_RETRY);
    }
    return true;
}

/* Does what comes before the tool: hooks at WILL_EXECUTE, then approval. */
static int tcall_attempt_prepare_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    while (r == TCALL_OK && cx->state == TCALL_GOING_ &&
           cx->run_step < TCALL_RUN_BEGIN_) {
        r = cx->run_step == TCALL_RUN_HOOKS_
                ? tcall_hooks_(cx, TCALL_WILL_EXECUTE, &cx->next_inner)
                : tcall_approve_again_(cx);
        if (r == TCALL_OK) {
            cx->run_step++;
            cx->next_inner = 0;
        }
    }
    return r;
}

/* Makes one attempt, or goes on with the one that waits. */
static int tcall_attempt_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->run_step == TCALL_RUN_NOT_ && !tcall_attempt_begin_(cx, &r))
        return cx->last_attempt = r;
    if (r == TCALL_OK)
        r = tcall_attempt_prepare_(cx);
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_run_(cx);
    if (tcall_waits_(r))
        return r;
    cx->run_step = TCALL_RUN_NOT_;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = tcall_hooks_all_(cx, TCALL_DID_EXECUTE);
    return cx->last_attempt = r;
}

/* Returns the next hook around the run, or NULL. */
static const tcall_hook *tcall_around_next_(tcall_ctx *cx)
{
    const tcall_hook *hook;
    tcall_hook_seek_(cx, TCALL_AROUND_EXECUTE, &cx->next_around);
    do
        hook = tcall_hook_at_(cx, TCALL_AROUND_EXECUTE, cx->next_around++);
    while (hook && !tcall_hook_due_(cx, hook));
    return hook;
}

int tcall_next(tcall_ctx *cx)
{
    const tcall_hook *hook;
    uint16_t here = cx->next_around;
    uint8_t depth = cx->around_depth;
    int r;
    if (cx->stage != TCALL_AROUND_EXECUTE || cx->state != TCALL_GOING_ ||
        depth > TOOLCALL_MAX_AROUND) {
        cx->attempt++; /* a hook that repeats this until it works, ends */
        return TCALL_E_USAGE;
    }
    hook = tcall_around_next_(cx);
    /* The tool, and hooks that are not around it, are not to call this. */
    cx->around_depth =
        hook ? (uint8_t)(depth + 1) : (uint8_t)(TOOLCALL_MAX_AROUND + 1);
    r = hook ? tcall_hook_run_(cx, hook) : tcall_attempt_(cx);
    cx->around_depth = depth;
    cx->next_around = here;
    return r;
}

/* Runs the tool inside of the hooks around it, which do not overcome its
 * failure by keeping silent about it. */
static int tcall_around_(tcall_ctx *cx)
{
    int r = tcall_next(cx);
    if (tcall_waits_(r))
        return r;
    if (r == TCALL_OK && cx->state == TCALL_GOING_)
        r = cx->last_attempt;
    if (r < 0 && cx->attempt > 1) {
        tcall_hooks_all_(cx, TCALL_ON_GIVE_UP);
        if (cx->state != TCALL_GOING_)
            r = TCALL_OK; /* one of them answered */
    }
    return r;
}

/* Runs the hooks of the stage at hand; with those around it, the tool. */
TCALL_SHARED_ int tcall_run_hooks_(tcall_ctx *cx)
{
    if (cx->stage == TCALL_AROUND_EXECUTE)
        return tcall_around_(cx);
    if (!(cx->order->stages >> cx->stage & 1))
        return TCALL_OK;
    return tcall_hooks_(cx, cx->stage, &cx->next_hook);
}

#else

TCALL_SHARED_ void tcall_order_begin_(tcall_ctx *cx)
{
    (void)cx;
}

TCALL_SHARED_ int tcall_run_hooks_(tcall_ctx *cx)
{
    (void)cx;
    return TCALL_OK;
}

#endif

/* ==========================================================================
 * >>invoke
 *
 * The state of a call is one bit, and each stage has the set of states that it
 * is due in: that, and the order of the list, is the whole lifecycle.
 */

void tcall_cancel(tcall_call *call, int error)
{
    call->cx.stop = error;
}

/* Replays the stage of approval in the middle of a run. */
int tcall_approval(tcall_ctx *cx)
{
    uint16_t next_hook = cx->next_hook;
    uint8_t stage = cx->stage;
    int r;
    cx->approval_wanted = true;
    cx->stage = TCALL_WILL_CHECK_CONSENT;
    cx->next_hook = 0;
    r = tcall_run_hooks_(cx);
    cx->stage = stage;
    cx->next_hook = next_hook;
    return r == TCALL_OK ? tcall_consent_(cx) : r;
}

#ifndef TOOLCALL_NO_HOOKS

/* Does what the library does itself at a stage, after its hooks. */
static int tcall_built_in_(tcall_ctx *cx)
{
    switch (cx->stage) {
    case TCALL_WILL_AUTHORIZE: return tcall_authorize_(cx);
    case TCALL_WILL_CHECK_CONSENT: return tcall_consent_(cx);
    case TCALL_WILL_VALIDATE_INPUT: return cx->call->error;
    case TCALL_WILL_VALIDATE_OUTPUT: return tcall_check_output_(cx);
    default: return TCALL_OK;
    }
}

/* Walks through the stages from the one at hand on. Returns TCALL_OK at the end
 * of all, or why to wait. */
static int tcall_walk_(tcall_ctx *cx)
{
    const uint32_t own = (uint32_t)1 << TCALL_WILL_AUTHORIZE |
                         (uint32_t)1 << TCALL_WILL_CHECK_CONSENT |
                         (uint32_t)1 << TCALL_WILL_VALIDATE_INPUT |
                         (uint32_t)1 << TCALL_AROUND_EXECUTE |
                         (uint32_t)1 << TCALL_WILL_VALIDATE_OUTPUT;
    /* Stages without hooks and without work of our own are passed over. */
    const uint32_t busy = cx->order->stages | own;
    int stage = cx->stage;
    for (; stage < TCALL_STAGE_COUNT; stage++) {
        int due = tcall_due_[stage], r;
        if (!(busy >> stage & 1) || !(due & cx->state))
            continue;
        cx->stage = (uint8_t)stage;
        r = tcall_run_hooks_(cx);
        if (r == TCALL_OK && due & cx->state)
            r = tcall_built_in_(cx);
        if (tcall_waits_(r))
            return r;
        tcall_fail_(cx, r);
    }
    return TCALL_OK;
}

#else

/* Returns TCALL_OK when the call may run, or why not or not yet. */
static int tcall_permit_(tcall_ctx *cx)
{
    int r = tcall_authorize_(cx);
    if (r == TCALL_OK)
        r = tcall_consent_(cx);
    return r == TCALL_OK ? cx->call->error : r;
}

/* Without hooks there is only what the library does itself. Returns TCALL_OK at
 * the end, or why to wait. */
static int tcall_walk_(tcall_ctx *cx)
{
    int r = TCALL_OK;
    if (cx->state != TCALL_GOING_)
        return TCALL_OK;
    if (cx->stage < TCALL_AROUND_EXECUTE)
        r = tcall_permit_(cx);
    if (r == TCALL_OK) {
        cx->stage = TCALL_AROUND_EXECUTE;
        cx->attempt = 1;
        r = tcall_run_(cx);
    }
    if (r == TCALL_OK)
        r = tcall_check_output_(cx);
    if (tcall_waits_(r))
        return r;
    tcall_fail_(cx, r);
    return TCALL_OK;
}

#endif

/* Sets up the context. A registry that cannot be used fails the call here, so
 * that even then there is a result to read. */
static void tcall_begin_(tcall *tc, tcall_call *call)
{
    tcall_ctx *cx = &call->cx;
    cx->tc = tc;
    cx->call = call;
    cx->session = call->session ? call->session : tc->desc.session;
    cx->state = TCALL_GOING_;
    cx->last_attempt = TCALL_E_USAGE; /* while the tool has not run */
    cx->started = tcall_now_(tc);
    tcall_order_begin_(cx);
    tcall_tell_call_(call, TCALL_EVENT_START, tcall_slice_(NULL, 0));
    tcall_fail_(cx, tcall_usable_(tc));
}

#ifndef TOOLCALL_NO_EVENTS

/* Reports that the call failed; of one that is not permitted the developer
 * reads what to change. */
static void tcall_tell_error_(tcall_ctx *cx)
{
    const tcall_call *call = cx->call;
    tcall_str text = cx->reason;
    char room[288];
    tcall_writer out;
    if (cx->error == TCALL_E_DENIED && call->tool &&
        !tcall_enabled(call->tool, cx->tc->desc.allow)) {
        tcall_writer_init(&out, room, sizeof room);
        tcall_write_remedy_(&out, cx);
        text = tcall_slice_(room, out.fill);
    }
    tcall_tell_call_(call, TCALL_EVENT_ERROR, text);
}

#else

static void tcall_tell_error_(tcall_ctx *cx)
{
    (void)cx;
}

#endif

/* Writes the result and reports the end; listeners see a call that is complete.
 */
TCALL_NOINLINE_ static int tcall_finish_(tcall_ctx *cx)
{
    tcall_call *call = cx->call;
    if (cx->approval_asked)
        tcall_tell_verdict_(cx, TCALL_VERDICT_DENY);
    cx->finished = tcall_now_(cx->tc);
    if (cx->state == TCALL_FAILED_)
        tcall_write_failure_(cx);
    call->error = cx->result.error = cx->error;
    cx->result.output = tcall_output(cx);
    cx->state = TCALL_DONE_;
    if (call->error < 0)
        tcall_tell_error_(cx);
    tcall_tell_call_(call, TCALL_EVENT_END, cx->result.output);
    return call->error;
}

/* Completes what the call waits for. */
static void tcall_await_(tcall_ctx *cx, int r)
{
    if (r == TCALL_E_AGAIN && tcall_wait_is_empty_(&cx->wait))
        tcall_wait_ms(&cx->wait, TCALL_WAIT_POLL_MS);
    if (cx->has_deadline)
        tcall_wait_ms(&cx->wait, (uint32_t)tcall_time_left(cx));
}

int tcall_invoke(tcall *tc, tcall_call *call, tcall_writer *out)
{
    tcall_writer start = *out; /* what a failure goes back to */
    tcall_ctx *cx = &call->cx;
    int r;
    if (cx->state == TCALL_DONE_)
        return TCALL_E_USAGE;
    cx->out = out;
    cx->out_start = &start;
    if (!cx->state)
        tcall_begin_(tc, call);
    if (cx->state == TCALL_GOING_ && cx->run_step != TCALL_RUN_POLLED_)
        tcall_fail_(cx, tcall_must_end_(cx));
    tcall_wait_begin_(&cx->wait);
    r = tcall_walk_(cx);
    if (r == TCALL_OK)
        return tcall_finish_(cx);
    tcall_await_(cx, r);
    tcall_output_clear_(cx);
    return r;
}

/* Goes on with a call until it has ended. One that still waits when nobody can
 * wait any longer ends then, and releases what it holds. */
static int tcall_see_through_(tcall *tc, tcall_call *call, tcall_writer *out)
{
    const tcall_desc *d = &tc->desc;
    int r = tcall_invoke(tc, call, out);
    if (r == TCALL_E_AGAIN)
        tcall_deadline(&call->cx,
                       d->max_wait_ms ? d->max_wait_ms : TCALL_EXECUTE_MS);
    while (r == TCALL_E_AGAIN && d->wait && d->now_ms) {
        tcall_wait wait = call->cx.wait;
        tcall_wait_ms(&wait, TCALL_WAIT_MOST_MS);
        if (wait.ms)
            d->wait(d->user, &wait);
        r = tcall_invoke(tc, call, out);
    }
    if (!tcall_waits_(r))
        return r;
    tcall_cancel(call, r == TCALL_E_AGAIN ? TCALL_E_CANCELLED : r);
    return tcall_invoke(tc, call, out);
}

int tcall_execute(tcall *tc, tcall_str name, tcall_str arguments,
                  tcall_writer *out, tcall_call *call)
{
    size_t high = tc->block.high;
    tcall_call *own = NULL;
    int r = tcall_usable_(tc);
    if (r < 0)
        return r;
    if (!call)
        call = own = (tcall_call *)tcall_block_take_(&tc->block, sizeof *own);
    if (!call)
        return TCALL_E_MEMORY;
    memset(call, 0, sizeof *call);
    call->name = name;
    call->arguments = arguments;
    tcall_hydrate(tc, call);
    r = tcall_see_through_(tc, call, out);
    if (own) {
        tcall_release(tc, own);
        tc->block.high = high;
    }
    return r;
}

/* ==========================================================================
 * >>records
 */

/* Attachments are named and measured, not sent: their bytes are not text. */
static void tcall_write_attachments_(tcall_writer *out,
                                     const tcall_attachment *attachment)
{
    tcall_write_key(out, "attachments");
    tcall_write_open(out, '[');
    for (; attachment; attachment = attachment->next) {
        tcall_write_open(out, '{');
        tcall_write_pair_(out, "type", tcall_str_of(attachment->type));
        tcall_write_pair_(out, "name", tcall_str_of(attachment->name));
        tcall_write_key(out, "bytes");
        tcall_write_int(out, (tcall_int)attachment->bytes.len);
        tcall_write_close(out, '}');
    }
    tcall_write_close(out, ']');
}

int tcall_write_result(tcall_writer *out, const tcall_result *result)
{
    tcall_str output = result->output;
    tcall_write_open(out, '{');
    if (result->error < 0 && output.len > 1) {
        /* The output of a failure is an object: its members go here. */
        tcall_write_bytes(out, output.ptr + 1, output.len - 2);
    } else {
        tcall_write_key(out, "success");
        tcall_write_bool(out, result->error == TCALL_OK);
        tcall_write_pair_(out, "error", tcall_str_of(""));
    }
    if (result->title.len)
        tcall_write_pair_(out, "title", result->title);
    if (result->metadata.len) {
        tcall_write_key(out, "metadata");
        tcall_write_verbatim(out, result->metadata);
    }
    if (result->error == TCALL_OK)
        tcall_write_pair_(out, "output", output);
    if (result->attached)
        tcall_write_attachments_(out, result->attached);
    return tcall_write_close(out, '}');
}

/* ---- where the arguments came from ---- */

/* Writes the names of what lenient parsing has set right. */
static void tcall_write_fixes_(tcall_writer *out, uint32_t fixes)
{
    int i;
    tcall_write_key(out, "fixes");
    tcall_write_open(out, '[');
    for (i = 0; i < TCALL_FIX_COUNT; i++)
        if (fixes >> i & 1)
            tcall_write_string(out, tcall_fix_name(i));
    tcall_write_close(out, ']');
}

/* Writes who checked the arguments, and whether its schema was compiled at the
 * start or for this call. */
static void tcall_write_validator_(const tcall *tc, const tcall_tool *tool,
                                   tcall_writer *out)
{
    const tcall_validator *validator = tc->desc.validator;
    bool eager = tool && tcall_is_compiled_(tc, tool);
    tcall_write_key(out, "validator");
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "name",
                      tcall_str_of(validator ? validator->name : "builtin"));
    tcall_write_pair_(
        out, "version",
        tcall_str_of(validator ? validator->version : TOOLCALL_VERSION));
    tcall_write_pair_(out, "mode",
                      tcall_str_of(validator             ? "foreign"
                                   : tool && tool->shape ? "shape"
                                   : eager               ? "eager"
                                                         : "lazy"));
    tcall_write_close(out, '}');
}

int tcall_write_provenance(tcall_writer *out, const tcall *tc,
                           const tcall_call *call)
{
    static const char modes[][15] = {"read-only", "human-approval", "full"};
    static const char steps[][9] = {"find", "parse", "validate", "bind",
                                    "done"};
    const tcall_tool *tool = call->tool;
    tcall_write_open(out, '{');
    tcall_write_pair_(out, "provider", tcall_str_of(call->provider));
    tcall_write_pair_(out, "call_id", call->id);
    tcall_write_pair_(out, "tool", call->name);
    tcall_write_pair_(out, "arguments",
                      call->repaired ? call->original : call->arguments);
    tcall_write_fixes_(out, call->fixes);
    tcall_write_key(out, "coercions");
    tcall_write_verbatim(out, call->coerced.len ? call->coerced
                                                : tcall_str_of("[]"));
    if (tool && tool->provided_by)
        tcall_write_pair_(out, "provided_by", tcall_str_of(tool->provided_by));
    tcall_write_validator_(tc, tool, out);
    tcall_write_key(out, "ms");
    tcall_write_int(out, (tcall_int)call->hydrate_ms);
    tcall_write_key(out, "validated");
    tcall_write_bool(out, call->validated);
    tcall_write_key(out, "repaired");
    tcall_write_bool(out, call->repaired);
    if (call->repaired)
        tcall_write_pair_(out, "repaired_arguments", call->arguments);
    if (tool && !tcall_is_checked_(tool))
        tcall_write_pair_(out, "no_schema_mode",
                          tcall_str_of(modes[tool->no_schema_mode % 3]));
    tcall_write_pair_(out, "step", tcall_str_of(steps[call->step % 5]));
    tcall_write_pair_(out, "outcome",
                      tcall_str_of(tcall_error_code(call->error)));
    if (call->error < 0)
        tcall_write_call_errors(out, call);
    return tcall_write_close(out, '}');
}

/* ==========================================================================
 * >>hash
 */

/* Rotates to the left. */
static uint64_t tcall_rotl_(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

/* SipRound of the paper, some times. */
static void tcall_sip_rounds_(uint64_t *state, int rounds)
{
    for (; rounds; rounds--) {
        state[0] += state[1];
        state[2] += state[3];
        state[1] = tcall_rotl_(state[1], 13) ^ state[0];
        state[3] = tcall_rotl_(state[3], 16) ^ state[2];
        state[0] = tcall_rotl_(state[0], 32) + state[3];
        state[2] += state[1];
        state[3] = tcall_rotl_(state[3], 21) ^ state[0];
        state[1] = tcall_rotl_(state[1], 17) ^ state[2];
        state[2] = tcall_rotl_(state[2], 32);
    }
}

/* Bytes are taken in words of eight, lowest first; the last word is filled with
 * zeros up to its last byte, the length. */
uint64_t tcall_hash(const uint64_t key[2], tcall_str bytes)
{
    /* "somepseudorandomlygeneratedbytes" */
    static const uint64_t start[] = {0x736F6D6570736575u, 0x646F72616E646F6Du,
                                     0x6C7967656E657261u, 0x7465646279746573u};
    uint64_t state[4], word = 0;
    size_t i, last = bytes.len | 7; /* its byte is the length */
    for (i = 0; i < 4; i++)
        state[i] = key[i & 1] ^ start[i];
    for (i = 0; i <= last; i++) {
        size_t byte = i == last ? bytes.len : 0;
        if (i < bytes.len)
            byte = (unsigned char)bytes.ptr[i];
        word = word >> 8 | (uint64_t)byte << 56;
        if ((i & 7) != 7)
            continue;
        state[3] ^= word;
        tcall_sip_rounds_(state, 2);
        state[0] ^= word;
    }
    state[2] ^= 0xFF;
    tcall_sip_rounds_(state, 4);
    return state[0] ^ state[1] ^ state[2] ^ state[3];
}

/* Makes the next hash of a chain, of the last one and more bytes. */
static void tcall_chain_(const tcall *tc, uint64_t *hash, tcall_str bytes)
{
    uint64_t key[2];
    key[0] = tc->desc.hash_key[0] ^ *hash;
    key[1] = tc->desc.hash_key[1];
    *hash = tcall_hash(key, bytes);
}

/* Hashes one text. Each use has a number of its own, so that equal texts of
 * different uses have different hashes. */
TCALL_SHARED_ uint64_t tcall_hash_text_(const tcall *tc, unsigned chain,
                                        tcall_str text)
{
    uint64_t hash = chain;
    tcall_chain_(tc, &hash, text);
    return hash;
}

/* Hashes a scalar by its type and what it means: of a number that is its sign,
 * the place of its first digit and its digits. */
static void tcall_hash_scalar_(const tcall *tc, uint64_t *hash,
                               tcall_json value)
{
    tcall_str text = tcall_json_str(value);
    tcall_num_ number;
    char digits[32];
    const char *cursor;
    size_t fill = 0;
    int i, count;
    digits[0] = (char)tcall_json_type(value);
    tcall_chain_(tc, hash, tcall_slice_(digits, 1));
    if (digits[0] == TCALL_NUMBER) {
        number = tcall_num_read_(text);
        count = tcall_num_digits_(&number);
        number.top = number.sign ? number.top : 0;
        digits[fill++] = number.sign < 0;
        for (i = 0; i < 4; i++)
            digits[fill++] = (char)((uint32_t)number.top >> i * 8);
        for (cursor = number.first, i = 0; i < count; i++) {
            digits[fill++] = (char)tcall_num_digit_(&number, &cursor);
            if (fill == sizeof digits) {
                tcall_chain_(tc, hash, tcall_slice_(digits, fill));
                fill = 0;
            }
        }
        text = tcall_slice_(digits, fill);
    }
    tcall_chain_(tc, hash, text);
}

/* A container on the way down. */
typedef struct tcall_hash_level_ {
    uint64_t path;
    const tcall_tok *end;
    uint32_t index;
} tcall_hash_level_;

/* Adds up a hash for each value, chained along the path that leads to it: so
 * the order of members does not matter, and that of elements does. */
int tcall_hash_json(tcall *tc, tcall_json value, uint64_t *out)
{
    size_t size;
    tcall_hash_level_ *level =
        (tcall_hash_level_ *)(void *)tcall_hydrate_gap_(&tc->block, 0, &size);
    const tcall_tok *end;
    tcall_json at = value;
    uint64_t path = 0, sum = 0;
    size_t depth = 0;
    *out = 0;
    if (!value.tok)
        return TCALL_OK;
    for (end = at.tok + at.tok->span; at.tok < end; at.tok++) {
        uint64_t hash;
        while (depth && at.tok >= level[depth - 1].end)
            depth--;
        if (depth && !(at.tok->type & TCALL_MEMBER_)) { /* a step down */
            tcall_hash_level_ *up = &level[depth - 1];
            tcall_str step = tcall_tok_str_(at.text, at.tok);
            if (!(at.tok->type & TCALL_KEY_))
                step = tcall_slice_((const char *)&up->index, 4);
            path = up->path;
            tcall_chain_(tc, &path, step);
            up->index++;
        }
        if (at.tok->type & TCALL_KEY_)
            continue;
        hash = path;
        tcall_hash_scalar_(tc, &hash, at);
        sum += hash;
        if (tcall_json_type(at) < TCALL_ARRAY)
            continue;
        if (!tcall_block_room_(&tc->block, (depth + 1) * sizeof *level + 8))
            return TCALL_E_MEMORY;
        level[depth].path = path;
        level[depth].end = at.tok + at.tok->span;
        level[depth++].index = 0;
    }
    *out = sum;
    return TCALL_OK;
}

#ifndef TOOLCALL_NO_SHAPES

/* Goes on with an object: its names and descriptions, and its defaults. */
static void tcall_hash_object_(const tcall *tc, uint64_t *hash,
                               const tcall_object *object)
{
    tcall_chain_(tc, hash, tcall_words_text_(object->names, object->count));
    tcall_chain_(tc, hash,
                 tcall_words_text_(object->descriptions, object->count));
    tcall_chain_(tc, hash,
                 tcall_slice_((const char *)object->initial, object->size));
}

/* Goes on with a value's node: with what it says, not where that lies. */
static void tcall_hash_node_(const tcall *tc, uint64_t *hash,
                             const tcall_shape *node)
{
    const int32_t bounds[] = {node->low, node->high};
    const tcall_range *range = (const tcall_range *)node->more;
    char head[4];
    head[0] = (char)node->types;
    head[1] = (char)node->kind;
    head[2] = (char)node->digits;
    head[3] = (char)node->flags;
    tcall_chain_(tc, hash, tcall_slice_(head, sizeof head));
    tcall_chain_(tc, hash, tcall_slice_((const char *)bounds, sizeof bounds));
    if (node->kind == TCALL_KIND_INTEGER64 || node->kind == TCALL_KIND_NUMBER)
        tcall_chain_(
            tc, hash,
            tcall_slice_((const char *)&range->low, 2 * sizeof range->low));
    else if (node->kind == TCALL_KIND_CHOICE)
        tcall_chain_(tc, hash,
                     tcall_words_text_((const char *)node->more,
                                       (unsigned)node->high + 1));
}

/* Goes on with all that a shape says. */
static void tcall_hash_shape_(const tcall *tc, uint64_t *hash,
                              const tcall_object *shape)
{
    tcall_shape_walk_ walk;
    tcall_walk_begin_(&walk, shape);
    do {
        if (walk.node)
            tcall_hash_node_(tc, hash, walk.node);
        if (walk.entered)
            tcall_hash_object_(tc, hash, walk.entered);
    } while (tcall_walk_next_(&walk));
}

#else

static void tcall_hash_shape_(const tcall *tc, uint64_t *hash,
                              const tcall_object *shape)
{
    (void)tc;
    (void)hash;
    (void)shape;
}

#endif

/* ---- definitions ---- */

/* A container of a text on the way down. */
typedef struct tcall_hash_place_ {
    uint64_t path;
    uint32_t index;
    bool object;
} tcall_hash_place_;

/* What is nested deeper than this counts as it is written. */
enum { TCALL_HASH_DEPTH_ = 16 };

/* Goes on from the end of a value to the next one, and gives the path to that.
 * Returns NULL at the end of all. */
static const char *tcall_hash_next_(const tcall *tc, const char *at,
                                    tcall_hash_place_ *places, int *depth,
                                    uint64_t *path)
{
    tcall_hash_place_ *place;
    tcall_str step;
    at = tcall_text_next_(at);
    while (*depth && *at && tcall_text_closes_(at)) {
        --*depth;
        at = tcall_text_next_(at + 1);
    }
    if (!*depth || !*at)
        return NULL;
    place = &places[*depth - 1];
    step = tcall_slice_((const char *)&place->index, sizeof place->index);
    *path = place->path;
    if (place->object) {
        step = tcall_text_verbatim_(at);
        at = tcall_text_value_(at);
    }
    tcall_chain_(tc, path, step);
    place->index++;
    return at;
}

/* Hashes JSON text as tcall_hash_json does a value, but strings and numbers as
 * they are written: white space and the order of members do not matter. */
static uint64_t tcall_hash_source_(const tcall *tc, const char *text)
{
    tcall_hash_place_ places[TCALL_HASH_DEPTH_];
    uint64_t path = 2, sum = 0;
    int depth = 0;
    if (text)
        text = tcall_text_space_(text);
    while (text) {
        tcall_str value = tcall_text_verbatim_(text);
        bool opens =
            (*text == '{' || *text == '[') && depth < TCALL_HASH_DEPTH_;
        uint64_t hash = path;
        if (opens) {
            places[depth].path = path;
            places[depth].index = 0;
            places[depth++].object = *text == '{';
            value.len = 1;
        }
        tcall_chain_(tc, &hash, value);
        sum += hash;
        text = tcall_hash_next_(tc, text + value.len, places, &depth, &path);
    }
    return sum;
}

/* Of all that says what a tool is and may do. */
static uint64_t tcall_hash_definition_(const tcall *tc, const tcall_tool *tool)
{
    const char *const texts[] = {tool->name, tool->description,
                                 tool->provided_by};
    uint64_t hash = 1;
    size_t i;
    char flags[5];
    for (i = 0; i < TCALL_ARRAY_LEN(texts); i++)
        tcall_chain_(tc, &hash, tcall_str_of(texts[i]));
    if (tool->shape)
        tcall_hash_shape_(tc, &hash, tool->shape);
    flags[0] = (char)tool->permissions;
    flags[1] = (char)tool->optional_permissions;
    flags[2] = (char)tool->no_schema_mode;
    flags[3] = (char)tool->confirm;
    flags[4] = (char)tool->idempotent;
    tcall_chain_(tc, &hash, tcall_slice_(flags, sizeof flags));
    hash += tcall_hash_source_(tc, tool->parameters);
    hash += 3 * tcall_hash_source_(tc, tool->output);
    return hash + 5 * tcall_hash_source_(tc, tool->provider_schema);
}

/* ---- calls ---- */

/* Of the name and the arguments: what the model asked. */
static int tcall_hash_asked_(tcall *tc, const tcall_call *call, uint64_t *out)
{
    int r = tcall_hash_json(tc, call->args, out);
    if (!call->args.tok) /* nobody needed values: the text counts */
        *out = tcall_hash_text_(tc, 6, call->arguments);
    *out += tcall_hash_text_(tc, 5, call->name);
    return r;
}

/* Of the tool's definition and the arguments: what runs, exactly. */
TCALL_SHARED_ int tcall_hash_call_(tcall *tc, const tcall_call *call,
                                   uint64_t *out)
{
    int r = tcall_hash_asked_(tc, call, out);
    *out += tcall_hash_definition_(tc, call->tool);
    return r;
}

uint64_t tcall_call_key(const tcall *tc, const tcall_call *call)
{
    uint64_t key = 4;
    for (; call; call = call->turn ? call->turn->parent : NULL) {
        const tcall_session *session =
            call->session ? call->session : tc->desc.session;
        tcall_chain_(tc, &key, call->id);
        if (!session)
            continue;
        tcall_chain_(tc, &key, session->id);
        tcall_chain_(tc, &key, session->agent);
    }
    return key;
}

/* Of the turn that a call belongs to, in this memory: 0 without one. */
TCALL_SHARED_ uint64_t tcall_hash_turn_(const tcall *tc, const tcall_call *call)
{
    const tcall_turn *turn = call->turn;
    uint64_t hash = 0;
    while (turn) {
        tcall_chain_(tc, &hash, tcall_slice_((const char *)&turn, sizeof turn));
        tcall_chain_(tc, &hash,
                     tcall_slice_((const char *)&turn->id, sizeof turn->id));
        call = turn->parent;
        if (call)
            tcall_chain_(tc, &hash, call->id);
        turn = call ? call->turn : NULL;
    }
    return hash;
}

void tcall_concerns(tcall_ctx *cx, tcall_str thing)
{
    uint64_t hash = tcall_hash_text_(cx->tc, 7, thing) | 2;
    cx->thing = !cx->thing || cx->thing == hash ? hash : 1;
}

/* True when the call may have changed what was kept of a thing. */
TCALL_SHARED_ bool tcall_changes_(const tcall_ctx *cx, uint64_t thing)
{
    const tcall_tool *tool = cx->call->tool;
    return cx->tool_ran &&
           tcall_needs_(tool) & ~(unsigned)(TCALL_READ | TCALL_NETWORK) &&
           (cx->thing < 2 || thing < 2 || cx->thing == thing);
}

/* ==========================================================================
 * >>hooks
 */

#ifndef TOOLCALL_NO_HOOKS

/* ---- rate, limit, time-out ---- */

/* Each interval gives one call back, up to all of them. */
int tcall_rate_run_(tcall_ctx *cx, void *user)
{
    tcall_rate *rate = (tcall_rate *)user;
    uint32_t now = tcall_now_(cx->tc),
             interval = rate->interval_ms ? rate->interval_ms : 1;
    while (rate->used && now - rate->since >= interval) {
        rate->used--;
        rate->since += interval;
    }
    if (!rate->used)
        rate->since = now;
    if (rate->used >= rate->burst)
        return tcall_retry_after(cx, interval - (now - rate->since),
                                 "too many calls: wait");
    rate->used++;
    return TCALL_OK;
}

/* A call that finds no place waits, and tries again at the next invoke. */
int tcall_limit_acquire_(tcall_ctx *cx, void *user)
{
    tcall_concurrency *limit = (tcall_concurrency *)user;
    (void)cx;
    if (limit->running >= limit->max)
        return TCALL_E_AGAIN;
    limit->running++;
    return TCALL_OK;
}

int tcall_limit_release_(tcall_ctx *cx, void *user)
{
    (void)cx;
    ((tcall_concurrency *)user)->running--;
    return TCALL_OK;
}

int tcall_timeout_run_(tcall_ctx *cx, void *ms)
{
    tcall_deadline(cx, (uint32_t)(uintptr_t)ms);
    return TCALL_OK;
}

/* ---- cache ---- */

/* The head of an entry, with its text right after it; the oldest come first.
 * Heads are copied out, since they may lie anywhere. */
typedef struct tcall_cached_ {
    uint64_t key, thing;
    uint32_t made;
    uint32_t len;
} tcall_cached_;

/* Two sessions, or two users of one, do not see each other's results. Returns
 * false for a tool that does more than read: it has to run. */
static bool tcall_cache_key_(tcall_ctx *cx, uint64_t *key)
{
    const tcall_session *session = cx->session;
    if (tcall_needs_(cx->call->tool) &
            ~(unsigned)(TCALL_READ | TCALL_NETWORK) ||
        tcall_hash_call_(cx->tc, cx->call, key) < 0)
        return false;
    *key +=
        tcall_hash_text_(cx->tc, 2, session ? session->user : tcall_str_of(""));
    *key +=
        tcall_hash_text_(cx->tc, 3, session ? session->id : tcall_str_of(""));
    return true;
}

/* Removes the entry at an offset. */
static void tcall_cache_drop_(tcall_cache *cache, size_t at)
{
    tcall_cached_ entry;
    size_t size;
    memcpy(&entry, cache->memory + at, sizeof entry);
    size = sizeof entry + entry.len;
    memmove(cache->memory + at, cache->memory + at + size,
            cache->used - at - size);
    cache->used -= size;
}

/* Looks for the call; what is too old is removed on the way. */
int tcall_cache_read_(tcall_ctx *cx, void *user)
{
    tcall_cache *cache = (tcall_cache *)user;
    tcall_cached_ entry;
    uint64_t key;
    size_t at = 0;
    if (!tcall_cache_key_(cx, &key))
        return TCALL_OK;
    while (at < cache->used) {
        memcpy(&entry, cache->memory + at, sizeof entry);
        if (cache->max_age_ms &&
            tcall_now_(cx->tc) - entry.made > cache->max_age_ms) {
            tcall_cache_drop_(cache, at);
            continue;
        }
        at += sizeof entry;
        if (entry.key == key)
            return tcall_respond(cx,
                                 tcall_slice_(cache->memory + at, entry.len));
        at += entry.len;
    }
    return TCALL_OK;
}

/* Only what the tool itself gave is kept, and only where it fits. */
int tcall_cache_write_(tcall_ctx *cx, void *user)
{
    tcall_cache *cache = (tcall_cache *)user;
    tcall_str text = tcall_output(cx);
    tcall_cached_ entry;
    if (cx->state != TCALL_GOING_ || text.len > cache->size ||
        sizeof entry + text.len > cache->size ||
        !tcall_cache_key_(cx, &entry.key))
        return TCALL_OK;
    while (cache->used + sizeof entry + text.len > cache->size)
        tcall_cache_drop_(cache, 0);
    entry.thing = cx->thing;
    entry.made = tcall_now_(cx->tc);
    entry.len = (uint32_t)text.len;
    memcpy(cache->memory + cache->used, &entry, sizeof entry);
    if (text.len)
        memcpy(cache->memory + cache->used + sizeof entry, text.ptr, text.len);
    cache->used += sizeof entry + text.len;
    return TCALL_OK;
}

/* Forgets what the call may have changed. */
int tcall_cache_end_(tcall_ctx *cx, void *user)
{
    tcall_cache *cache = (tcall_cache *)user;
    tcall_cached_ entry;
    size_t at = 0;
    while (at < cache->used) {
        memcpy(&entry, cache->memory + at, sizeof entry);
        if (tcall_changes_(cx, entry.thing))
            tcall_cache_drop_(cache, at);
        else
            at += sizeof entry + entry.len;
    }
    return TCALL_OK;
}

/* ---- retry ---- */

/* True for an error that may be gone the next time. */
static bool tcall_passes_(int error)
{
    switch (error) {
    case TCALL_E_FAILED:
    case TCALL_E_OVERLOAD:
    case TCALL_E_RATE:
    case TCALL_E_RESOLVE:
    case TCALL_E_CONNECT:
    case TCALL_E_CLOSED:
    case TCALL_E_PROTOCOL: return true;
    default: return false;
    }
}

/* The pause before the next attempt; its call keeps it, as the hook is called
 * anew after TCALL_E_AGAIN. */
typedef struct tcall_pause_ {
    uint32_t ms, since;
} tcall_pause_;

/* Makes the next pause twice as long, or as long as the tool asked for. */
static void tcall_pause_next_(tcall_ctx *cx, tcall_pause_ *pause,
                              const tcall_backoff *retry)
{
    pause->ms = pause->ms ? pause->ms * 2 : retry->first_ms;
    if (retry->max_ms && pause->ms > retry->max_ms)
        pause->ms = retry->max_ms;
    if (cx->retry_ms > pause->ms)
        pause->ms = cx->retry_ms;
    pause->since = tcall_now_(cx->tc);
}

int tcall_retry_around_(tcall_ctx *cx, void *user)
{
    const tcall_backoff *retry = (const tcall_backoff *)user;
    tcall_pause_ *pause;
    bool timed = cx->tc->desc.now_ms != NULL;
    uint32_t spent;
    int r;
    pause = (tcall_pause_ *)tcall_scratch(cx, "retry", sizeof *pause);
    if (!pause)
        return TCALL_E_MEMORY;
    for (;;) {
        spent = tcall_now_(cx->tc) - pause->since;
        if (pause->ms && timed && spent < pause->ms)
            return tcall_wait_ms(&cx->wait, pause->ms - spent);
        r = tcall_next(cx);
        if (!tcall_passes_(r) || cx->attempt >= retry->attempts ||
            !tcall_repeatable_(cx->call->tool))
            return r;
        tcall_pause_next_(cx, pause, retry);
    }
}

/* ---- audit ---- */

static void tcall_write_session_(tcall_writer *out,
                                 const tcall_session *session)
{
    tcall_write_pair_(out, "session", session->id);
    tcall_write_pair_(out, "request", session->request);
    tcall_write_pair_(out, "agent", session->agent);
    tcall_write_pair_(out, "user", session->user);
}

/* The line goes out through a small buffer, so that its length does not
 * matter. */
int tcall_audit_run_(tcall_ctx *cx, void *user)
{
    const tcall_audit *audit = (const tcall_audit *)user;
    const tcall_call *call = cx->call;
    char buf[64];
    tcall_writer out;
    tcall_writer_init(&out, buf, sizeof buf);
    tcall_writer_sink(&out, audit->sink, audit->user);
    tcall_write_open(&out, '{');
    tcall_write_pair_(&out, "call_id", call->id);
    tcall_write_pair_(&out, "tool", call->name);
    if (cx->session)
        tcall_write_session_(&out, cx->session);
    tcall_write_key(&out, "arguments");
    if (call->args.tok)
        tcall_write_json(&out, call->args);
    else
        tcall_write_str(&out, call->arguments);
    tcall_write_key(&out, "attempts");
    tcall_write_int(&out, cx->attempt);
    tcall_write_key(&out, "ms");
    tcall_write_int(&out, (tcall_int)(tcall_now_(cx->tc) - cx->started));
    tcall_write_key(&out, "approved");
    tcall_write_bool(&out, call->approved);
    tcall_write_key(&out, "outcome");
    tcall_write_string(&out, tcall_error_code(cx->error));
    if (cx->reason.len)
        tcall_write_pair_(&out, "reason", cx->reason);
    tcall_write_text(&out, "}\n");
    return tcall_writer_flush(&out);
}

/* ---- ledger ---- */

/* What a row says of a call: states only go down this list, and a row that is
 * refused or further down may be given up for another call. */
enum {
    TCALL_ASKED_ = 1,
    TCALL_GRANTED_,
    TCALL_REFUSED_,
    TCALL_SPENT_, /* the verdict was used */
    TCALL_RAN_    /* and the tool may have had its effect */
};

/* Returns the row of a call. */
static tcall_ledger_row *tcall_ledger_find_(const tcall_ledger *ledger,
                                            uint64_t key)
{
    size_t i;
    for (i = 0; i < ledger->count; i++)
        if (ledger->rows[i].state && ledger->rows[i].key == key)
            return &ledger->rows[i];
    return NULL;
}

/* Returns a new row, in place of the first that is free or needed no more; NULL
 * when all are in use. The latest rows are last. */
static tcall_ledger_row *tcall_ledger_add_(tcall_ledger *ledger, uint64_t key)
{
    tcall_ledger_row *last = ledger->rows + ledger->count;
    size_t i, left;
    for (i = 0; i < ledger->count; i++)
        if (!ledger->rows[i].state || ledger->rows[i].state >= TCALL_REFUSED_)
            break;
    left = ledger->count - i;
    if (!left)
        return NULL;
    memmove(&ledger->rows[i], &ledger->rows[i + 1], (left - 1) * sizeof *last);
    last--;
    memset(last, 0, sizeof *last);
    last->key = key;
    return last;
}

/* Uses the verdict of a row. Where nothing else will stop a second run, the row
 * says at once that the tool ran. */
static int tcall_ledger_use_(tcall_ctx *cx, tcall_ledger_row *row)
{
    tcall_call *call = cx->call;
    bool runs_now = cx->run_step >= TCALL_RUN_APPROVAL_;
    cx->ledger_used = call->approved = row->state != TCALL_REFUSED_;
    tcall_tell_verdict_(cx, call->approved ? TCALL_VERDICT_ALLOW
                                           : TCALL_VERDICT_DENY);
    row->state =
        runs_now && !tcall_repeatable_(call->tool) ? TCALL_RAN_ : TCALL_SPENT_;
    return call->approved ? TCALL_OK : TCALL_E_DENIED;
}

/* Asks desc.approve, which may know at once. */
static int tcall_ledger_ask_(tcall_ctx *cx)
{
    const tcall_desc *d = &cx->tc->desc;
    tcall_call *call = cx->call;
    tcall_verdict verdict = TCALL_VERDICT_LATER;
    tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
    if (d->approve)
        verdict = d->approve(d->user, call);
    if (verdict == TCALL_VERDICT_LATER)
        return TCALL_E_APPROVAL;
    tcall_tell_verdict_(cx, verdict);
    call->approved = verdict == TCALL_VERDICT_ALLOW;
    return call->approved ? TCALL_OK : TCALL_E_DENIED;
}

/* Lets a call wait for tcall_ledger_decide. */
static int tcall_ledger_wait_(tcall_ctx *cx, tcall_ledger *ledger,
                              tcall_ledger_row *row, uint64_t key,
                              uint64_t what)
{
    if (!row)
        row = tcall_ledger_add_(ledger, key);
    if (!row)
        return TCALL_E_LIMIT;
    row->what = what;
    row->state = TCALL_ASKED_;
    tcall_tell_verdict_(cx, TCALL_VERDICT_LATER);
    return TCALL_E_APPROVAL;
}

/* After tcall_ledger_once_ a row stays TCALL_RAN_, whatever is decided later;
 * cx->ledger_used says that it was this call that used the row. */
int tcall_ledger_consent_(tcall_ctx *cx, void *user)
{
    tcall_ledger *ledger = (tcall_ledger *)user;
    const tcall_call *call = cx->call;
    uint64_t what, key = tcall_call_key(cx->tc, call);
    tcall_ledger_row *row = tcall_ledger_find_(ledger, key);
    bool same, used;
    int r;
    if (call->error < 0 || call->approved || !tcall_needs_approval_(call))
        return TCALL_OK;
    r = tcall_hash_call_(cx->tc, call, &what);
    if (r < 0)
        return r;
    same = row && row->what == what;
    used = row && row->state >= TCALL_SPENT_;
    if (used && !cx->ledger_used && (same || row->state == TCALL_RAN_))
        return TCALL_E_TWICE;
    if (same && row->state != TCALL_ASKED_)
        return tcall_ledger_use_(cx, row);
    if ((!row || used) && cx->tc->desc.approve) {
        r = tcall_ledger_ask_(cx);
        if (r != TCALL_E_APPROVAL)
            return r;
    }
    return tcall_ledger_wait_(cx, ledger, row, key, what);
}

/* A verdict that is still LATER leaves the call waiting. */
int tcall_ledger_decide(tcall_ledger *ledger, uint64_t key,
                        tcall_verdict verdict)
{
    tcall_ledger_row *row = tcall_ledger_find_(ledger, key);
    if (!row || row->state != TCALL_ASKED_)
        return TCALL_E_UNKNOWN;
    if (verdict != TCALL_VERDICT_LATER)
        row->state =
            verdict == TCALL_VERDICT_ALLOW ? TCALL_GRANTED_ : TCALL_REFUSED_;
    return TCALL_OK;
}

/* Notes, right before the tool runs, that it ran: a second run of the call is
 * refused, also after a restart. */
int tcall_ledger_once_(tcall_ctx *cx, void *user)
{
    tcall_ledger *ledger = (tcall_ledger *)user;
    uint64_t key = tcall_call_key(cx->tc, cx->call);
    tcall_ledger_row *row = tcall_ledger_find_(ledger, key);
    if (tcall_repeatable_(cx->call->tool))
        return TCALL_OK;
    if (!cx->call->id.len)
        return TCALL_E_USAGE; /* nobody could tell it from another */
    if (!row)
        row = tcall_ledger_add_(ledger, key);
    if (!row)
        return TCALL_E_LIMIT;
    if (row->state == TCALL_RAN_)
        return TCALL_E_TWICE;
    if (!cx->ledger_used)
        row->what = 0; /* nobody has agreed to this call */
    row->state = TCALL_RAN_;
    cx->ledger_used = true;
    return TCALL_OK;
}

/* A call that ends while it waits is not waited for any more. */
int tcall_ledger_end_(tcall_ctx *cx, void *user)
{
    tcall_ledger_row *row = tcall_ledger_find_(
        (tcall_ledger *)user, tcall_call_key(cx->tc, cx->call));
    if (cx->approval_asked && row && row->state < TCALL_SPENT_)
        row->state = cx->tool_ran ? TCALL_RAN_ : 0;
    return TCALL_OK;
}

/* ---- loops ---- */

/* A call in the memory of the loop breaker. Calls are compared by their hash,
 * with that of their turn, so nothing of them has to be kept, and those of
 * other turns are never met again. */
typedef struct tcall_looped_ {
    uint64_t call, tool;
    bool answered; /* by a result from before */
} tcall_looped_;

/* Fails the call and tells the model how to get out. */
static int tcall_loop_(tcall_ctx *cx, const char *reason)
{
    tcall_abort(cx, reason, NULL, 0);
    cx->result.suggestion = "do something else, or ask the user";
    return TCALL_E_LOOP;
}

/* True when the call would be the third of its kind in a row, or the third in
 * turns with one other: a b a b a. */
static bool tcall_loops_again_(const uint64_t *recent, uint64_t call)
{
    return recent[1] == call &&
           (recent[0] == call || (recent[3] == call && recent[0] == recent[2]));
}

static bool tcall_loops_did_(const tcall_loops *loops, uint64_t call)
{
    int i;
    for (i = 0; i < loops->count; i++)
        if (loops->done[i].call == call)
            return true;
    return false;
}

/* Answers or stops a call that repeats others. */
int tcall_loops_begin_(tcall_ctx *cx, void *user)
{
    tcall_loops *loops = (tcall_loops *)user;
    const tcall_call *call = cx->call;
    uint64_t turn = tcall_hash_turn_(cx->tc, call);
    tcall_looped_ *here =
        (tcall_looped_ *)tcall_scratch(cx, "loops", sizeof *here);
    if (!here || tcall_hash_asked_(cx->tc, call, &here->call) < 0)
        return TCALL_E_MEMORY;
    here->call += turn;
    here->tool = tcall_hash_text_(cx->tc, 5, call->name) + turn;
    if (here->tool == loops->refused && loops->refusals >= 2 &&
        (loops->denied || call->error < 0))
        return tcall_loop_(cx, "refused again and again");
    if (call->tool && call->tool->allow_repeat)
        return TCALL_OK;
    if (tcall_loops_again_(loops->recent, here->call))
        return tcall_loop_(cx, "the same calls come again and again");
    memmove(loops->recent + 1, loops->recent,
            sizeof loops->recent - sizeof *loops->recent);
    loops->recent[0] = here->call;
    here->answered = tcall_loops_did_(loops, here->call);
    return here->answered
               ? tcall_respond(cx,
                               tcall_str_of("Made before in this turn, and "
                                            "nothing has changed since: use "
                                            "that result."))
               : TCALL_OK;
}

/* Counts how often in a row the tool was refused. */
static void tcall_loops_count_(const tcall_ctx *cx, tcall_loops *loops,
                               uint64_t tool)
{
    bool denied = cx->error == TCALL_E_DENIED, same = loops->refused == tool;
    if (cx->error == TCALL_E_LOOP)
        return;
    if (denied || cx->call->error < 0) {
        loops->refusals = same ? (uint8_t)(loops->refusals + 1) : 1;
        loops->refused = tool;
        loops->denied = denied;
    } else if (same) {
        loops->refusals = 0;
    }
}

/* Notes what came of a call, and forgets results that it may have changed. */
int tcall_loops_end_(tcall_ctx *cx, void *user)
{
    tcall_loops *loops = (tcall_loops *)user;
    const tcall_tool *tool = cx->call->tool;
    const tcall_looped_ *here =
        (const tcall_looped_ *)tcall_scratch(cx, "loops", sizeof *here);
    uint16_t i, kept = 0;
    for (i = 0; i < loops->count; i++)
        if (!tcall_changes_(cx, loops->done[i].thing))
            loops->done[kept++] = loops->done[i];
    loops->count = kept;
    if (!here || !here->tool)
        return TCALL_OK;
    tcall_loops_count_(cx, loops, here->tool);
    if (cx->error < 0 || here->answered || !tool || tool->allow_repeat)
        return TCALL_OK;
    if (kept == TOOLCALL_LOOP_CALLS)
        memmove(loops->done, loops->done + 1, --kept * sizeof *loops->done);
    loops->done[kept].call = here->call;
    loops->done[kept].thing = cx->thing;
    loops->count = (uint16_t)(kept + 1);
    return TCALL_OK;
}

#endif

/* ==========================================================================
 * >>strict
 *
 * The schema's text is walked without recursion and written again keyword by
 * keyword, as a table says. It is written to a counter first: whether it fits
 * a strict mode is known only at its end.
 */

/* What one request may still hold of what a provider limits. */
typedef struct tcall_strict_budget_ {
    uint8_t mode; /* TCALL_STRICT_... */
    bool say;     /* where a tool is not strict, that has to be said */
    uint16_t tools, optional, unions;
} tcall_strict_budget_;

/* Returns the shape that the schema which is sent of a tool is written from,
 * or NULL: there is a text. */
TCALL_SHARED_ const tcall_object *tcall_sent_shape_(const tcall_tool *tool)
{
    return tool->provider_schema ? NULL : tool->shape;
}

/* The text of the schema that is sent of a tool. */
TCALL_SHARED_ const char *tcall_tool_schema_(const tcall_tool *tool)
{
    const char *text =
        tool->provider_schema ? tool->provider_schema : tool->parameters;
    text = text ? tcall_text_space_(text) : "";
    return *text == '{' ? text : "{\"type\":\"object\",\"properties\":{}}";
}

#ifdef TOOLCALL_NO_STRICT

TCALL_SHARED_ tcall_strict_budget_ tcall_strict_budget_of_(int mode)
{
    tcall_strict_budget_ none;
    (void)mode;
    memset(&none, 0, sizeof none);
    return none;
}

TCALL_SHARED_ bool tcall_strict_spend_(const tcall_tool *tool,
                                       tcall_strict_budget_ *budget)
{
    (void)tool;
    (void)budget;
    return false;
}

TCALL_SHARED_ bool tcall_strict_write_(tcall_writer *out,
                                       const tcall_tool *tool,
                                       tcall_strict_budget_ *budget)
{
    (void)out;
    return tcall_strict_spend_(tool, budget);
}

#else

/* Anthropic publishes limits for all tools of a request together. */
TCALL_SHARED_ tcall_strict_budget_ tcall_strict_budget_of_(int mode)
{
    const bool limited = mode == TCALL_STRICT_ANTHROPIC;
    tcall_strict_budget_ budget;
    budget.mode = (uint8_t)mode;
    budget.tools = limited ? 20 : 999;
    budget.optional = limited ? 24 : 999;
    budget.unions = limited ? 16 : 999;
    return budget;
}

/* What the value of a keyword is. */
enum {
    TCALL_STRICT_COPY_,   /* data, copied as it is */
    TCALL_STRICT_SCHEMA_, /* a schema */
    TCALL_STRICT_LIST_,   /* an array of schemas */
    TCALL_STRICT_MAP_,    /* schemas by names that are no keywords */
    TCALL_STRICT_PROPERTIES_,
    TCALL_STRICT_FORMAT_,
    TCALL_STRICT_CONST_, /* a value, which becomes an enum of one */
    TCALL_STRICT_CLOSED_ /* additionalProperties */
};

/* Modes, for short. */
enum {
    TCALL_FOR_OPENAI_ = TCALL_STRICT_OPENAI,
    TCALL_FOR_ANTHROPIC_ = TCALL_STRICT_ANTHROPIC,
    TCALL_FOR_BOTH_ = TCALL_STRICT_OPENAI | TCALL_STRICT_ANTHROPIC,
    TCALL_FOR_OLLAMA_ = TCALL_STRICT_OLLAMA,
    TCALL_FOR_ALL_ = TCALL_FOR_BOTH_ | TCALL_STRICT_OLLAMA
};

/* A keyword. What is not listed is left out everywhere. */
typedef struct tcall_strict_keyword_ {
    const char *name;
    const char *written_as; /* NULL: the same */
    uint8_t value;          /* TCALL_STRICT_..._ */
    uint8_t kept;           /* the modes that have it */
    uint8_t unfit; /* the modes that cannot say it: the tool is not strict */
} tcall_strict_keyword_;

/* Bounds as minLength and pattern are left out everywhere: they are checked
 * when a call comes. */
static const tcall_strict_keyword_ tcall_strict_keywords_[] = {
    {"type", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ALL_, 0},
    {"description", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ALL_, 0},
    {"title", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ANTHROPIC_, 0},
    {"enum", NULL, TCALL_STRICT_COPY_, TCALL_FOR_ALL_, 0},
    {"const", NULL, TCALL_STRICT_COPY_, TCALL_FOR_BOTH_, 0},
    {"const", "enum", TCALL_STRICT_CONST_, TCALL_FOR_OLLAMA_, 0},
    {"format", NULL, TCALL_STRICT_FORMAT_, TCALL_FOR_BOTH_, 0},
    {"properties", NULL, TCALL_STRICT_PROPERTIES_, TCALL_FOR_ALL_, 0},
    {"required", NULL, TCALL_STRICT_COPY_,
     TCALL_FOR_ANTHROPIC_ | TCALL_FOR_OLLAMA_, 0},
    {"items", NULL, TCALL_STRICT_SCHEMA_, TCALL_FOR_ALL_, 0},
    {"anyOf", NULL, TCALL_STRICT_LIST_, TCALL_FOR_ALL_, 0},
    {"oneOf", "anyOf", TCALL_STRICT_LIST_, TCALL_FOR_ALL_, 0},
    {"allOf", NULL, TCALL_STRICT_LIST_, TCALL_FOR_ANTHROPIC_,
     TCALL_FOR_OPENAI_},
    {"$ref", NULL, TCALL_STRICT_COPY_, TCALL_FOR_BOTH_, 0},
    {"$defs", NULL, TCALL_STRICT_MAP_, TCALL_FOR_BOTH_, 0},
    {"definitions", NULL, TCALL_STRICT_MAP_, TCALL_FOR_OPENAI_,
     TCALL_FOR_ANTHROPIC_},
    {"additionalProperties", NULL, TCALL_STRICT_CLOSED_, 0, 0},
    {"patternProperties", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
    {"prefixItems", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
    {"dependentSchemas", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
    {"if", NULL, TCALL_STRICT_COPY_, 0, TCALL_FOR_BOTH_},
};

/* Deeper brackets are copied as they are. Strict modes accept 10 levels of
 * schemas below the first. */
#define TCALL_STRICT_DEPTH_  24
#define TCALL_STRICT_LEVELS_ 10

/* Writes a schema again; open is the stack of brackets that are open. */
typedef struct tcall_strict_view_ {
    tcall_writer *out;
    uint8_t mode;
    bool unfit;                /* it cannot be strict */
    uint8_t depth, level;      /* of brackets, of schemas */
    uint16_t optional, unions; /* so many were written */
    struct {
        const char *from; /* the bracket */
        uint8_t value;    /* TCALL_STRICT_..._ */
        bool nullable;
    } open[TCALL_STRICT_DEPTH_];
} tcall_strict_view_;

/* Finds the row of a keyword, whose quotes are included, for the view's mode.
 */
static const tcall_strict_keyword_ *
tcall_strict_find_(const tcall_strict_view_ *view, const char *key)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_strict_keywords_); i++) {
        const tcall_strict_keyword_ *keyword = &tcall_strict_keywords_[i];
        bool listed = ((keyword->kept | keyword->unfit) & view->mode) != 0 ||
                      keyword->value == TCALL_STRICT_CLOSED_;
        if (listed && tcall_text_is_(key, keyword->name))
            return keyword;
    }
    return NULL;
}

/* Does the schema's type allow this one? */
static bool tcall_strict_type_(const char *schema, const char *word)
{
    const char *type = tcall_text_get_(schema, "type"), *name;
    if (!type || *type == '"')
        return type && tcall_text_is_(type, word);
    for (name = tcall_text_next_(type + (*type == '['));
         !tcall_text_closes_(name);
         name = tcall_text_next_(tcall_text_skip_(name)))
        if (tcall_text_is_(name, word))
            return true;
    return false;
}

/* Is it what strict modes refuse: a value of any kind, an object of any
 * members, an array of anything? */
static bool tcall_strict_vague_(const char *schema)
{
    static const char *const kinds[] = {"type", "anyOf", "oneOf", "allOf",
                                        "$ref", "enum",  "const"};
    size_t i = 0;
    while (i < TCALL_ARRAY_LEN(kinds) && !tcall_text_get_(schema, kinds[i]))
        i++;
    return i == TCALL_ARRAY_LEN(kinds) ||
           (tcall_strict_type_(schema, "object") &&
            !tcall_text_get_(schema, "properties")) ||
           (tcall_strict_type_(schema, "array") &&
            !tcall_text_get_(schema, "items"));
}

/* Copies the value at p and returns its end. */
static const char *tcall_strict_copy_(tcall_strict_view_ *view, const char *p)
{
    tcall_str value = tcall_text_verbatim_(p);
    tcall_write_verbatim(view->out, value);
    return p + value.len;
}

/* Enters the bracket at p; returns the next byte to look at. */
static const char *tcall_strict_open_(tcall_strict_view_ *view, const char *p,
                                      uint8_t value, bool nullable)
{
    const char *type;
    if (value == TCALL_STRICT_SCHEMA_ && *p == '{') {
        type = tcall_text_get_(p, "type");
        view->unions = (uint16_t)(view->unions + (type && *type == '['));
        view->unfit = view->unfit || view->level > TCALL_STRICT_LEVELS_ ||
                      tcall_strict_vague_(p);
    }
    if (*p != (value == TCALL_STRICT_LIST_ ? '[' : '{') ||
        view->depth == TCALL_STRICT_DEPTH_) {
        view->unfit = true;
        return tcall_strict_copy_(view, p);
    }
    tcall_write_open(view->out, *p);
    view->open[view->depth].from = p;
    view->open[view->depth].value = value;
    view->open[view->depth].nullable = nullable;
    view->depth++;
    view->level = (uint8_t)(view->level + (value == TCALL_STRICT_SCHEMA_));
    return p + 1;
}

/* Names may be escaped in one place and not in the other. */
static bool tcall_strict_requires_(const char *schema, const char *key)
{
    const char *name = tcall_text_first_(tcall_text_get_(schema, "required"));
    for (; name && !tcall_text_closes_(name);
         name = tcall_text_next_(tcall_text_skip_(name)))
        if (*name == '"' && tcall_text_equal_(name, key))
            return true;
    return false;
}

/* Writes "required" with all names of properties, as they are escaped. */
static void tcall_strict_require_all_(tcall_strict_view_ *view,
                                      const char *properties)
{
    const char *name = tcall_text_next_(properties + 1);
    tcall_write_key(view->out, "required");
    tcall_write_open(view->out, '[');
    for (; !tcall_text_closes_(name);
         name = tcall_text_next_(tcall_text_skip_(tcall_text_value_(name))))
        tcall_strict_copy_(view, name);
    tcall_write_close(view->out, ']');
}

/* Ends the members of a schema: strict objects are closed, and OpenAI wants
 * every property to be required. */
static void tcall_strict_close_schema_(tcall_strict_view_ *view,
                                       const char *schema)
{
    const char *properties = tcall_text_get_(schema, "properties");
    if (view->depth == 0 && !tcall_text_get_(schema, "type")) {
        tcall_write_key(view->out, "type");
        tcall_write_string(view->out, "object");
    }
    if (!properties || view->mode == TCALL_STRICT_OLLAMA)
        return;
    tcall_write_key(view->out, "additionalProperties");
    tcall_write_bool(view->out, false);
    if (view->mode == TCALL_STRICT_OPENAI)
        tcall_strict_require_all_(view, properties);
}

/* Begins an optional property: for OpenAI it is required and may be null. */
static bool tcall_strict_optional_(tcall_strict_view_ *view)
{
    /* Anthropic counts them for the whole request. */
    view->optional++;
    if (view->mode != TCALL_STRICT_OPENAI)
        return false;
    tcall_write_open(view->out, '{');
    tcall_write_key(view->out, "anyOf");
    tcall_write_open(view->out, '[');
    return true;
}

/* Leaves the bracket that ends at p; returns the next byte to look at. */
static const char *tcall_strict_close_(tcall_strict_view_ *view, const char *p)
{
    view->depth--;
    if (view->open[view->depth].value == TCALL_STRICT_SCHEMA_) {
        view->level--;
        tcall_strict_close_schema_(view, view->open[view->depth].from);
    }
    tcall_write_close(view->out, *p);
    if (view->open[view->depth].nullable) {
        tcall_write_verbatim(view->out, tcall_str_of("{\"type\":\"null\"}"));
        tcall_write_close(view->out, ']');
        tcall_write_close(view->out, '}');
    }
    return p + 1;
}

/* Formats that both strict modes know. */
static bool tcall_strict_format_(const char *p)
{
    static const char *const known[] = {"date-time", "time",  "date",
                                        "duration",  "email", "hostname",
                                        "ipv4",      "ipv6",  "uuid"};
    size_t i = 0;
    while (i < TCALL_ARRAY_LEN(known) && !tcall_text_is_(p, known[i]))
        i++;
    return i < TCALL_ARRAY_LEN(known);
}

/* Writes the value of a keyword that is kept, or enters it. */
static const char *tcall_strict_value_(tcall_strict_view_ *view,
                                       const tcall_strict_keyword_ *keyword,
                                       const char *value)
{
    tcall_write_key(view->out,
                    keyword->written_as ? keyword->written_as : keyword->name);
    switch (keyword->value) {
    /* What holds schemas is entered, the rest is copied. */
    case TCALL_STRICT_LIST_: view->unions++; /* fall through */
    case TCALL_STRICT_SCHEMA_:
    case TCALL_STRICT_MAP_:
    case TCALL_STRICT_PROPERTIES_:
        return tcall_strict_open_(view, value, keyword->value, false);
    case TCALL_STRICT_CONST_:
        tcall_write_open(view->out, '[');
        value = tcall_strict_copy_(view, value);
        tcall_write_close(view->out, ']');
        return value;
    default: return tcall_strict_copy_(view, value);
    }
}

/* A member of a schema. Returns the next byte to look at. */
static const char *tcall_strict_member_(tcall_strict_view_ *view,
                                        const char *key, const char *value)
{
    const tcall_strict_keyword_ *keyword = tcall_strict_find_(view, key);
    const char *schema = view->open[view->depth - 1].from;
    if (!keyword)
        return tcall_text_skip_(value);
    if (keyword->unfit & view->mode ||
        (keyword->value == TCALL_STRICT_CLOSED_ && *value != 'f'))
        view->unfit = true;
    if (!(keyword->kept & view->mode) ||
        (keyword->value == TCALL_STRICT_FORMAT_ &&
         !tcall_strict_format_(value)))
        return tcall_text_skip_(value);
    /* oneOf is written as anyOf, which may be there already. */
    if (keyword->value == TCALL_STRICT_LIST_ && keyword->written_as &&
        tcall_text_get_(schema, keyword->written_as)) {
        view->unfit = true;
        return tcall_text_skip_(value);
    }
    return tcall_strict_value_(view, keyword, value);
}

/* An element of a list of schemas, or a schema with its name. */
static const char *tcall_strict_schema_(tcall_strict_view_ *view, const char *p)
{
    uint8_t top = (uint8_t)(view->depth - 1);
    bool nullable = false;
    if (view->open[top].value != TCALL_STRICT_LIST_) {
        tcall_strict_copy_(view, p);
        tcall_write_char_(view->out, ':');
        nullable = view->open[top].value == TCALL_STRICT_PROPERTIES_ &&
                   !tcall_strict_requires_(view->open[top - 1].from, p) &&
                   tcall_strict_optional_(view);
        p = tcall_text_value_(p);
    }
    return tcall_strict_open_(view, p, TCALL_STRICT_SCHEMA_, nullable);
}

/* Writes the schema again. What is open decides what comes next: keywords, or
 * schemas in a list or by name. */
static void tcall_strict_walk_(tcall_strict_view_ *view, const char *schema)
{
    const char *p =
        tcall_strict_open_(view, schema, TCALL_STRICT_SCHEMA_, false);
    while (view->depth) {
        p = tcall_text_next_(p);
        if (!*p)
            return; /* a text that nobody checked ends too early */
        if (tcall_text_closes_(p))
            p = tcall_strict_close_(view, p);
        else if (view->open[view->depth - 1].value == TCALL_STRICT_SCHEMA_)
            p = tcall_strict_member_(view, p, tcall_text_value_(p));
        else
            p = tcall_strict_schema_(view, p);
    }
}

/* What a schema takes of a budget. */
typedef struct tcall_strict_needs_ {
    bool unfit; /* it cannot be strict */
    uint16_t optional, unions;
} tcall_strict_needs_;

/* Writes a schema that is a text. */
TCALL_NOINLINE_ static void tcall_strict_text_(tcall_strict_needs_ *needs,
                                               uint8_t mode, tcall_writer *out,
                                               const char *schema)
{
    tcall_strict_view_ view;
    memset(&view, 0, sizeof view);
    view.mode = mode;
    view.out = out;
    tcall_strict_walk_(&view, schema);
    needs->unfit = view.unfit;
    needs->optional = view.optional;
    needs->unions = view.unions;
}

/* The same of a shape, which is written as the mode wants it: bounds are left
 * out, objects are closed, and OpenAI wants every property to be required. */
TCALL_NOINLINE_ static void tcall_strict_shape_(tcall_strict_needs_ *needs,
                                                uint8_t mode, tcall_writer *out,
                                                const tcall_object *shape)
{
    tcall_shape_view_ view;
    memset(&view, 0, sizeof view);
    view.out = out;
    view.mode = mode == TCALL_STRICT_OLLAMA   ? TCALL_VIEW_BRIEF_
                : mode == TCALL_STRICT_OPENAI ? TCALL_VIEW_ALL_
                                              : TCALL_VIEW_CLOSED_;
    tcall_view_shape_(&view, shape);
    needs->unfit = view.vague || view.levels > TCALL_STRICT_LEVELS_;
    needs->optional = view.optional;
    needs->unions = view.unions;
}

/* Writes the schema of a tool as the mode wants it. */
static tcall_strict_needs_ tcall_strict_tool_(const tcall_tool *tool,
                                              uint8_t mode, tcall_writer *out)
{
    const tcall_object *shape = tcall_sent_shape_(tool);
    tcall_strict_needs_ needs;
    if (shape)
        tcall_strict_shape_(&needs, mode, out, shape);
    else
        tcall_strict_text_(&needs, mode, out, tcall_tool_schema_(tool));
    return needs;
}

/* Is the schema that of an object, and not one of several? */
static bool tcall_strict_plain_(const tcall_tool *tool)
{
    const char *schema = tcall_tool_schema_(tool);
    return tcall_sent_shape_(tool) || (tcall_strict_type_(schema, "object") &&
                                       !tcall_text_get_(schema, "anyOf") &&
                                       !tcall_text_get_(schema, "oneOf") &&
                                       !tcall_text_get_(schema, "allOf"));
}

/* Can the tool be sent as strict? Then what it takes of the budget is gone. */
TCALL_SHARED_ bool tcall_strict_spend_(const tcall_tool *tool,
                                       tcall_strict_budget_ *budget)
{
    tcall_strict_needs_ needs;
    tcall_writer count;
    if (!tool->strict || !(budget->mode & TCALL_FOR_BOTH_) || !budget->tools)
        return false;
    tcall_writer_init(&count, NULL, 0);
    needs = tcall_strict_tool_(tool, budget->mode, &count);
    if (needs.unfit || !tcall_strict_plain_(tool) ||
        needs.optional > budget->optional || needs.unions > budget->unions)
        return false;
    budget->tools--;
    budget->optional = (uint16_t)(budget->optional - needs.optional);
    budget->unions = (uint16_t)(budget->unions - needs.unions);
    return true;
}

/* Writes a tool's schema as the mode wants it. Returns false, and has written
 * nothing, where the schema has to be sent as it is. */
TCALL_SHARED_ bool tcall_strict_write_(tcall_writer *out,
                                       const tcall_tool *tool,
                                       tcall_strict_budget_ *budget)
{
    if (budget->mode != TCALL_STRICT_OLLAMA &&
        !tcall_strict_spend_(tool, budget))
        return false;
    tcall_strict_tool_(tool, budget->mode, out);
    return true;
}

#endif /* TOOLCALL_NO_STRICT */

/* ==========================================================================
 * >>answer
 *
 * Providers report errors with an HTTP status, a code or type, and a sentence.
 * Where the status does not say enough, their words do.
 */

/* What providers write about their errors, in code, type or message: a word, or
 * one of those that | separates. A space may be an underscore there, capitals
 * do not matter. */
static const char tcall_words_context_[] =
    "context l|context window|context size|prompt is too long|"
    "prompt too long|input is too long|prompt_tokens|prompt length|"
    "input length|number of tokens|too many tokens|token limit|"
    "max_new_tokens";
/* These come as too many requests, but waiting does not help. */
static const char tcall_words_quota_[] =
    "insufficient_quota|insufficient credits|insufficient balance|"
    "credit balance is too low";
static const char tcall_words_auth_[] = "api key|authenticat|permission";
static const char tcall_words_not_found_[] = "not_found|model identifier";
static const char tcall_words_overload_[] = "overloaded|unavailable";
static const char tcall_words_rate_[] = "rate_limit|resource_exhausted";
static const char tcall_words_refused_[] =
    "content filter|content_policy|content management policy|"
    "invalid_prompt|data_inspection|usage guidelines|moderation|safety";
static const char tcall_words_request_[] = "invalid_request|invalid_argument";

/* The first row that occurs counts. */
static const struct {
    const char *words;
    int error;
} tcall_answer_errors_[] = {
    {tcall_words_quota_, TCALL_E_QUOTA},
    {tcall_words_context_, TCALL_E_CONTEXT},
    {tcall_words_auth_, TCALL_E_AUTH},
    {tcall_words_not_found_, TCALL_E_NOT_FOUND},
    {tcall_words_overload_, TCALL_E_OVERLOAD},
    {tcall_words_rate_, TCALL_E_RATE},
    {tcall_words_refused_, TCALL_E_REFUSED},
    {tcall_words_request_, TCALL_E_REQUEST},
};

/* Statuses that leave no doubt. */
static const struct {
    int status, error;
} tcall_answer_statuses_[] = {
    {401, TCALL_E_AUTH}, {404, TCALL_E_NOT_FOUND}, {413, TCALL_E_CONTEXT},
    {429, TCALL_E_RATE}, {503, TCALL_E_OVERLOAD},  {529, TCALL_E_OVERLOAD},
};

static char tcall_to_lower_(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns whether one of the words is at the start of text. */
static bool tcall_begins_with_any_(const char *text, const char *words)
{
    while (words) {
        size_t i = 0;
        while (words[i] && words[i] != '|' &&
               (tcall_to_lower_(text[i]) == words[i] ||
                (words[i] == ' ' && text[i] == '_')))
            i++;
        if (!words[i] || words[i] == '|')
            return true;
        words = strchr(words, '|') ? strchr(words, '|') + 1 : NULL;
    }
    return false;
}

/* Returns whether one of the words is in text. */
static bool tcall_contains_words_(const char *text, const char *words)
{
    for (; *text; text++)
        if (tcall_begins_with_any_(text, words))
            return true;
    return false;
}

/* Returns a number of up to nine digits, or -1 if the text has a sign or a
 * fraction or is no number. */
TCALL_SHARED_ long tcall_digits_(const char *text)
{
    const char *from = text;
    long number = 0;
    for (; tcall_is_digit_(*text) && number < 100000000; text++)
        number = number * 10 + (*text - '0');
    return *text || text == from ? -1 : number;
}

/* Returns "48s", "34.4s", "250ms" in milliseconds, at most 2147483647, or -1
 * for anything else. */
TCALL_SHARED_ long tcall_delay_ms_(const char *text)
{
    const long most = 0x7FFFFFFF;
    long value = 0, unit = 1000; /* of a second; less after the point */
    bool point = false;
    for (; tcall_is_digit_(*text) || (*text == '.' && !point); text++)
        if (*text == '.') {
            point = true;
        } else if (value < most / 10 && (!point || unit > 1)) {
            value = value * 10 + (*text - '0');
            unit = point ? unit / 10 : unit;
        }
    value = value <= most / unit ? value * unit : most;
    if (strcmp(text, "s") == 0)
        return value;
    return strcmp(text, "ms") == 0 ? value / 1000 : -1;
}

/* Returns how many bytes of the text are whole characters. */
TCALL_SHARED_ size_t tcall_utf8_whole_(tcall_str text)
{
    size_t last = text.len ? tcall_utf8_cut_(text.ptr, text.len - 1) : 0;
    bool cut = last < text.len && text.ptr[last] & 0x80 &&
               !tcall_utf8_len_(text.ptr + last, text.ptr + text.len);
    return cut ? last : text.len;
}

/* Appends to a text that is cut rather than refused. */
TCALL_SHARED_ void tcall_append_cut_(char *text, size_t cap, tcall_str piece)
{
    size_t len = strlen(text), room = cap - 1 - len;
    piece.len = piece.len < room ? piece.len : room;
    *tcall_copy_(text + len, piece) = 0;
}

/* Keeps the provider's own word for why it stopped, or for its error. */
TCALL_SHARED_ void tcall_answer_keep_word_(tcall_answer *answer,
                                           const char *word)
{
    answer->stop_text[0] = 0;
    tcall_append_cut_(answer->stop_text, sizeof answer->stop_text,
                      tcall_str_of(word));
}

/* A further reason to stop. The first one counts, unless this one says that the
 * answer was cut off, or is not done for us where the provider is done. */
TCALL_SHARED_ void tcall_answer_stop_(tcall_answer *answer, tcall_stop stop,
                                      const char *word)
{
    bool cut =
        stop == TCALL_STOP_LENGTH && answer->stop != TCALL_STOP_CONTENT_FILTER;
    bool undone = stop == TCALL_STOP_OTHER && answer->stop == TCALL_STOP_END;
    if (answer->stop != TCALL_STOP_UNKNOWN && !cut && !undone)
        return;
    answer->stop = stop;
    tcall_answer_keep_word_(answer, word);
}

/* A further word for an error. The code is kept rather than the type, unless it
 * is a number. */
TCALL_SHARED_ void tcall_answer_error_word_(tcall_answer *answer, bool code,
                                            const char *word)
{
    const char known = answer->stop_text[0];
    if (!known || tcall_is_digit_(known) || (code && !tcall_is_digit_(*word)))
        tcall_answer_keep_word_(answer, word);
}

/* An answer without text and calls may be an error. */
TCALL_SHARED_ void tcall_answer_check_empty_(tcall_answer *answer)
{
    if (answer->stop == TCALL_STOP_CONTENT_FILTER)
        answer->error = TCALL_E_REFUSED;
    if (answer->stop == TCALL_STOP_OTHER)
        answer->error = TCALL_E_PROVIDER;
    if (answer->error && !answer->message[0])
        tcall_append_cut_(answer->message, sizeof answer->message,
                          tcall_str_of(answer->stop_text));
}

int tcall_answer_ending(const tcall_answer *answer)
{
    if (answer->calls)
        return TCALL_OK;
    switch (answer->stop) {
    case TCALL_STOP_LENGTH: return TCALL_E_LENGTH;
    case TCALL_STOP_CONTENT_FILTER: return TCALL_E_REFUSED;
    case TCALL_STOP_TOOL_CALLS: /* they are none that can be read */
    case TCALL_STOP_OTHER: return TCALL_E_UNHANDLED;
    default: break;
    }
    if (answer->pending)
        return TCALL_E_QUEUED;
    if (answer->has_text)
        return TCALL_OK;
    return answer->unread ? TCALL_E_UNHANDLED : TCALL_E_EMPTY;
}

/* The error that the status names, or TCALL_OK. */
static int tcall_status_error_(int status)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_answer_statuses_); i++)
        if (status == tcall_answer_statuses_[i].status)
            return tcall_answer_statuses_[i].error;
    return TCALL_OK;
}

/* The error that the provider's words name, or TCALL_OK. */
static int tcall_words_error_(const tcall_answer *answer)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_answer_errors_); i++)
        if (tcall_contains_words_(answer->stop_text,
                                  tcall_answer_errors_[i].words) ||
            tcall_contains_words_(answer->message,
                                  tcall_answer_errors_[i].words))
            return tcall_answer_errors_[i].error;
    return TCALL_OK;
}

int tcall_answer_error(const tcall_answer *answer, int status)
{
    int error;
    if (status < 300) {
        long code = tcall_digits_(answer->stop_text);
        if (answer->error != TCALL_E_PROVIDER)
            return answer->error;
        /* Some send a status as the code of an error. */
        status = code < 400 || code > 599 ? 0 : (int)code;
    }
    error = tcall_words_error_(answer);
    if (error == TCALL_E_QUOTA)
        return error;
    if (tcall_status_error_(status))
        return tcall_status_error_(status);
    /* Not every 403 is about the key: a region, a model or a gateway may
     * forbid it as well. */
    if (status == 403 && (!error || error == TCALL_E_REQUEST))
        return TCALL_E_DENIED;
    if (error)
        return error;
    return status >= 400 && status < 500 ? TCALL_E_REQUEST : TCALL_E_PROVIDER;
}

/* ==========================================================================
 * >>text_calls: calls that the model writes as text
 *
 * Small local models may write <tool_call>{"name":"f","arguments":{}}
 * </tool_call> into their text, or use markers like these. Between two markers
 * stand objects with name and arguments, alone, one after the other or in an
 * array; or a name and then its arguments. An object is read as leniently as
 * arguments are.
 */

#ifdef TOOLCALL_NO_TEXT_CALLS

TCALL_NOINLINE_ TCALL_SHARED_ int
tcall_text_calls_(tcall_chat *chat, size_t at, tcall_answer *answer, bool cut)
{
    (void)chat;
    (void)at;
    (void)cut;
    return answer->error = TCALL_E_USAGE;
}

#else

typedef struct tcall_marker_ {
    const char *open;
    const char *close; /* "": the next marker, or the end of the text */
} tcall_marker_;

static const tcall_marker_ tcall_markers_[] = {
    {"<tool_call>", "</tool_call>"}, {"<function_call>", "</function_call>"},
    {"<function=", "</function>"},   {"<tools>", "</tools>"},
    {"[TOOL_CALL]", "[/TOOL_CALL]"}, {"[TOOL_CALLS]", ""},
    {"<|python_tag|>", ""},          {"<|tool_call|>", ""},
};

/* Walks over the text of an answer. New calls go to the end of the chat. */
typedef struct tcall_text_reader_ {
    tcall_chat *chat;
    tcall_answer *answer;
    const char *at, *end;
    size_t last; /* the call that was added last */
    bool closed; /* the marker that opened is closed */
} tcall_text_reader_;

/* Does the text from p on begin with the word? */
static bool tcall_begins_with_(const char *p, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0;
}

/* Returns where the word begins in the text, or its end. */
static const char *tcall_find_word_(const char *p, const char *end,
                                    const char *word)
{
    while (p < end && !tcall_begins_with_(p, end, word))
        p++;
    return p;
}

/* Returns the end of the object at p, or NULL if it does not end. */
static const char *tcall_text_object_end_(const char *p, const char *end)
{
    int depth = 0;
    char quote = 0;
    for (; p < end; p++) {
        if (*p == '\\')
            p++;
        else if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        else if (*p == '}' && --depth == 0)
            return p + 1;
        else if (*p == '{')
            depth++;
    }
    return NULL;
}

/* Adds a call, with an id that is made up, to the end of the chat. */
static int tcall_add_text_call_(tcall_text_reader_ *reader, tcall_item *item)
{
    char id[9];
    int error;
    item->kind = TCALL_ITEM_CALL;
    item->id = tcall_chat_make_id_(reader->chat, id);
    item->synthetic_id = true;
    reader->last = reader->chat->block->low;
    error = tcall_chat_add(reader->chat, item);
    if (error == TCALL_OK)
        reader->answer->calls++;
    return error;
}

/* Returns the member by the first of the names that the object has. */
static tcall_json tcall_any_member_(tcall_json object, const char *first,
                                    const char *second, const char *third)
{
    tcall_json value = tcall_json_get(object, first);
    if (!value.tok)
        value = tcall_json_get(object, second);
    if (!value.tok)
        value = tcall_json_get(object, third);
    return value;
}

/* Takes name and arguments from the object that a call was written as. A
 * string holds arguments as text, anything else is written to the block. */
TCALL_NOINLINE_ static int
tcall_split_text_call_(tcall_block *block, tcall_json root, tcall_item *item)
{
    tcall_json arguments =
        tcall_any_member_(root, "arguments", "parameters", "args");
    tcall_writer w;
    char *memory;
    item->name =
        tcall_json_str(tcall_any_member_(root, "name", "function", "tool"));
    item->text = tcall_json_str(arguments);
    if (!arguments.tok || tcall_json_type(arguments) == TCALL_STRING)
        return TCALL_OK;
    tcall_writer_init(&w, NULL, 0);
    tcall_write_json(&w, arguments);
    memory = (char *)tcall_block_take_(block, w.len);
    if (!memory)
        return TCALL_E_MEMORY;
    tcall_writer_init(&w, memory, w.len);
    tcall_write_json(&w, arguments);
    item->text = tcall_slice_(memory, w.fill);
    return TCALL_OK;
}

/* Reads a call that is written as one object. What it is read into is needed
 * only until the call is added. */
TCALL_NOINLINE_ static int tcall_read_text_call_(tcall_text_reader_ *reader,
                                                 tcall_item *item)
{
    tcall_block *block = reader->chat->block;
    size_t high = block->high;
    tcall_arguments args;
    void *memory = NULL;
    int error = tcall_parse_arguments(&args, item->text, false, NULL, 0);
    /* The first try only finds out how much memory it takes. */
    if (error == TCALL_E_MEMORY) {
        memory = tcall_block_take_(block, args.used);
        if (!memory)
            return TCALL_E_MEMORY;
        error =
            tcall_parse_arguments(&args, item->text, false, memory, args.used);
    }
    if (error < 0) {
        item->error = item->error ? item->error : error;
        error = TCALL_OK;
    } else {
        error = tcall_split_text_call_(block, args.root, item);
    }
    if (error == TCALL_OK)
        error = tcall_add_text_call_(reader, item);
    block->high = high;
    return error;
}

/* Does a name end before c? */
static bool tcall_ends_name_(char c)
{
    return tcall_is_space_(c) || strchr("{>=[(", c) != NULL;
}

/* Reads the arguments that follow a name, or the object of the call if there
 * is none. Returns false where the marker was only mentioned. */
static bool tcall_read_text_arguments_(tcall_text_reader_ *reader,
                                       tcall_item *item, const char *end)
{
    const char *from = reader->at, *object = tcall_find_word_(from, end, "{");
    const char *to = end;
    if (object < end) {
        from = object;
        to = tcall_text_object_end_(object, end);
    } else {
        if (!item->name.len || !reader->closed)
            return false;
        while (from < end && (tcall_is_space_(*from) || *from == '>'))
            from++;
        item->error = from < end ? TCALL_E_BAD_VALUE : TCALL_OK;
    }
    reader->at = to ? to : end;
    item->text = tcall_slice_(from, (size_t)(reader->at - from));
    if (!to || !reader->closed)
        item->error = TCALL_E_CUT;
    return true;
}

/* Reads all calls up to the end, which is a marker or that of the text. */
static int tcall_read_text_calls_(tcall_text_reader_ *reader, const char *end)
{
    int error = TCALL_OK;
    while (error == TCALL_OK) {
        const char *name;
        tcall_item item;
        memset(&item, 0, sizeof item);
        while (reader->at < end &&
               (tcall_is_space_(*reader->at) || strchr("[],;", *reader->at)))
            reader->at++;
        name = reader->at;
        while (reader->at < end && !tcall_ends_name_(*reader->at))
            reader->at++;
        item.name = tcall_slice_(name, (size_t)(reader->at - name));
        if (!tcall_read_text_arguments_(reader, &item, end))
            break;
        error = item.name.len ? tcall_add_text_call_(reader, &item)
                              : tcall_read_text_call_(reader, &item);
    }
    return error;
}

/* Returns the next marker, and moves to its place, or NULL at the end. */
static const tcall_marker_ *tcall_next_marker_(tcall_text_reader_ *reader)
{
    size_t i;
    for (; reader->at < reader->end; reader->at++)
        for (i = 0; i < TCALL_ARRAY_LEN(tcall_markers_); i++)
            if (tcall_begins_with_(reader->at, reader->end,
                                   tcall_markers_[i].open))
                return &tcall_markers_[i];
    return NULL;
}

/* Makes calls of those that the text at this place holds, and ends the text
 * where they begin. cut: nobody knows what followed the last one. */
TCALL_NOINLINE_ TCALL_SHARED_ int
tcall_text_calls_(tcall_chat *chat, size_t at, tcall_answer *answer, bool cut)
{
    tcall_item_head_ *head = tcall_head_at_(chat, at);
    tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_);
    const char *first = NULL;
    const tcall_marker_ *marker;
    tcall_text_reader_ reader;
    int error = TCALL_OK;
    memset(&reader, 0, sizeof reader);
    reader.chat = chat;
    reader.answer = answer;
    reader.at = text.ptr;
    reader.end = text.ptr + text.len;
    while (error == TCALL_OK &&
           (marker = tcall_next_marker_(&reader)) != NULL) {
        bool by_next = !*marker->close;
        const char *end;
        first = first ? first : reader.at;
        reader.at += strlen(marker->open);
        end = tcall_find_word_(reader.at, reader.end,
                               by_next ? marker->open : marker->close);
        reader.closed = by_next || end < reader.end;
        error = tcall_read_text_calls_(&reader, end);
        reader.at = end;
    }
    if (error == TCALL_OK && answer->calls) {
        size_t end = at + tcall_head_size_(head);
        size_t spoken = (size_t)(first - text.ptr);
        if (cut)
            tcall_head_at_(chat, reader.last)->error = (int8_t)TCALL_E_CUT;
        tcall_head_set_len_(head, TCALL_PART_TEXT_, spoken);
        tcall_chat_shift_(chat, end, end - text.len + spoken);
    }
    return answer->error = error;
}

#endif /* TOOLCALL_NO_TEXT_CALLS */

/* ==========================================================================
 * >>provider
 *
 * A request is written by plain calls of the JSON writer. What formats share
 * is here: the conversation in the order in which they want it, the tools that
 * are sent, and the choice among them.
 */

/* ---- members of objects ---- */

TCALL_SHARED_ void tcall_write_member_(tcall_writer *out, const char *key,
                                       const char *value)
{
    tcall_write_key(out, key);
    tcall_write_string(out, value);
}

/* Likewise, unless there is no text. */
TCALL_SHARED_ void tcall_write_optional_(tcall_writer *out, const char *key,
                                         const char *value)
{
    if (value && *value)
        tcall_write_member_(out, key, value);
}

TCALL_SHARED_ void tcall_write_flag_(tcall_writer *out, const char *key,
                                     bool value)
{
    tcall_write_key(out, key);
    tcall_write_bool(out, value);
}

/* A number, if it is above 0: no number is the provider's default. */
TCALL_SHARED_ void tcall_write_limit_(tcall_writer *out, const char *key,
                                      long value)
{
    if (value <= 0)
        return;
    tcall_write_key(out, key);
    tcall_write_int(out, (tcall_int)value);
}

/* Does the user give this member of the body? */
TCALL_SHARED_ bool tcall_is_extra_(const tcall_chat_request *request,
                                   const char *key)
{
    return request->extra &&
           tcall_text_get_(tcall_text_space_(request->extra), key);
}

/* Writes the limit of the answer, unless the user gives one of his own. */
TCALL_SHARED_ void tcall_write_max_tokens_(tcall_writer *out,
                                           const tcall_chat_request *request,
                                           const char *key, long value)
{
    if (!tcall_is_extra_(request, key))
        tcall_write_limit_(out, key, value);
}

/* Ends the body, with what the user adds to it. */
TCALL_SHARED_ int tcall_write_body_end_(tcall_writer *out,
                                        const tcall_chat_request *request)
{
    const char *open = request->extra ? tcall_text_space_(request->extra) : "";
    tcall_str members = tcall_text_verbatim_(open);
    if (*open && *tcall_text_space_(open + 1) != '}')
        tcall_write_verbatim(out, tcall_slice_(open + 1, members.len - 2));
    return tcall_write_close(out, '}');
}

/* Is there no text that could be sent? Anthropic and Gemini refuse that. */
TCALL_SHARED_ bool tcall_item_is_blank_(const tcall_item *item)
{
    size_t len = item->text.len;
    if (item->kind > TCALL_ITEM_TEXT || item->signature.len)
        return false;
    while (len && tcall_is_space_(item->text.ptr[len - 1]))
        len--;
    return len == 0;
}

/* ---- names and ids that every receiver takes ---- */

/* Writes the name of a call. Models make names up that no provider takes back:
 * what cannot stand in the name of a tool becomes _. Those of tools are left as
 * they are. */
static void tcall_write_name_(tcall_writer *out, tcall_str name)
{
    size_t i;
    tcall_write_quote(out);
    for (i = 0; i < name.len && i < 64; i++) {
        char lower = (char)(name.ptr[i] | 0x20);
        bool letter = lower >= 'a' && lower <= 'z';
        bool other = tcall_is_digit_(name.ptr[i]) || name.ptr[i] == '-';
        tcall_write_char_(out, letter || (other && i) ? name.ptr[i] : '_');
    }
    if (!name.len)
        tcall_write_char_(out, '_');
    tcall_write_unquote(out);
}

/* Does a provider take this id? Few say what they take; OpenAI refuses a chat
 * with more than 40 bytes. */
static bool tcall_takes_id_(const tcall_provider *to, tcall_str id)
{
    const bool nine = (to->quirks & TCALL_QUIRK_NINE_LETTER_IDS) != 0;
    const bool plain = (to->quirks & TCALL_QUIRK_PLAIN_IDS) != 0;
    size_t i;
    for (i = 0; i < id.len; i++) {
        const char c = id.ptr[i], lower = (char)(c | 0x20);
        bool fits = tcall_is_digit_(c) || (lower >= 'a' && lower <= 'z');
        if (!nine)
            fits = fits || c == '_' || c == '-';
        if (!nine && !plain)
            fits = c > ' ' && c < 0x7F;
        if (!fits)
            return false;
    }
    return nine ? id.len == 9 : id.len > 0 && id.len <= 40;
}

/* Returns the id, or where it is refused nine letters and digits that are
 * always the same for it. */
static tcall_str tcall_id_for_(const tcall_provider *to, tcall_str id,
                               char made[9])
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    uint32_t high = 2166136261u, low = 0; /* a hash of 64 bits */
    size_t i;
    if (tcall_takes_id_(to, id))
        return id;
    for (i = 0; i < id.len; i++) {
        high = (high ^ (unsigned char)id.ptr[i]) * 16777619u;
        low = low * 31 + (high >> 16);
    }
    for (i = 0; i < 9; i++) {
        uint32_t *half = i < 5 ? &high : &low;
        made[i] = digits[*half % 36];
        *half /= 36;
    }
    return tcall_slice_(made, 9);
}

/* ---- items ---- */

/* How a format writes an item: JSON with ' for quotes and with holes.
 *
 *   %i  its id         %m  the same, empty if it was made up here
 *   %n  its name       %a  its arguments, an object
 *   %t  its text       %q  the same as a string
 *   %s  its signature  %r  the text of a result, which says that it failed
 *   %j  its text, which is JSON
 *
 * What stands between < and > is left out where the hole in it is empty. */
typedef struct tcall_forms_ {
    const char *user, *text, *call, *result;
    const char *failure;   /* a result that is an error */
    const char *reasoning; /* NULL: items that are never written */
    const char *data;      /* a reasoning that is no words */
} tcall_forms_;

static const char *tcall_form_of_(const tcall_forms_ *forms,
                                  const tcall_item *item)
{
    switch (item->kind) {
    case TCALL_ITEM_USER: return forms->user;
    case TCALL_ITEM_TEXT: return forms->text;
    case TCALL_ITEM_CALL: return forms->call;
    case TCALL_ITEM_RESULT: return item->error ? forms->failure : forms->result;
    default: return item->raw ? forms->data : forms->reasoning;
    }
}

/* What of the item goes into a hole. A call whose arguments are no object was
 * not run; it goes back without. */
static tcall_str tcall_hole_(const tcall_item *item, char hole)
{
    switch (hole) {
    case 'i': return item->id;
    case 'm': return item->synthetic_id ? tcall_slice_(NULL, 0) : item->id;
    case 'n': return item->name;
    case 's': return item->signature;
    case 'a':
    case 'q':
        if (!item->is_object)
            return tcall_slice_("{}", 2); /* fall through */
    default: return item->text;
    }
}

/* Writes the text of a result, for formats that have no flag for an error. An
 * object says itself that something failed. */
static void tcall_write_result_text_(tcall_writer *out,
                                     const tcall_item *result)
{
    tcall_str text = result->text;
    tcall_write_quote(out);
    if (result->error && !(text.len && *text.ptr == '{'))
        tcall_write_text(out, "Error: ");
    tcall_write_bytes(out, text.ptr, text.len);
    tcall_write_unquote(out);
}

static void tcall_write_hole_(tcall_writer *out, char hole,
                              const tcall_item *item)
{
    tcall_str value = tcall_hole_(item, hole);
    if (hole == 'r')
        tcall_write_result_text_(out, item);
    else if (hole == 'a' || hole == 'j')
        tcall_write_bytes(out, value.ptr, value.len);
    else if (hole == 'n' && item->kind != TCALL_ITEM_USER)
        tcall_write_name_(out, value);
    else
        tcall_write_str(out, value);
}

/* Writes a form. Without an item it has no holes. */
TCALL_SHARED_ void tcall_write_form_(tcall_writer *out, const char *form,
                                     const tcall_item *item)
{
    tcall_write_comma_(out);
    for (; *form; form++)
        if (*form == '%')
            tcall_write_hole_(out, *++form, item);
        else if (*form == '<' && !tcall_hole_(item, strchr(form, '%')[1]).len)
            form = strchr(form, '>');
        else if (*form != '<' && *form != '>')
            tcall_write_char_(out, (char)(*form == '\'' ? '"' : *form));
}

/* Writes a form with a text of ours in place of the name. */
TCALL_SHARED_ void tcall_write_named_(tcall_writer *out, const char *form,
                                      const char *name)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.name = tcall_str_of(name);
    tcall_write_form_(out, form, &item);
}

/* ---- the conversation ---- */

/* Which of the results with this id, counted from 1, belongs to the call that
 * ends at this place; 0 or less: none. Where further calls of the answer have
 * the same id, the last results are theirs. */
static int tcall_result_index_(const tcall_chat *chat, size_t at, tcall_str id)
{
    tcall_item item;
    int index = 0;
    while (tcall_chat_next(chat, &at, &item)) {
        bool same = tcall_str_eq(item.id, id);
        if (item.kind == TCALL_ITEM_RESULT)
            index += same;
        else if (index > 0)
            break; /* the next answer */
        else if (item.kind == TCALL_ITEM_CALL)
            index -= same;
    }
    return index;
}

/* Replaces a call, which ends at this place, by its result. One that is
 * missing is made up: a call without a result would make the whole
 * conversation invalid. */
static void tcall_find_result_(const tcall_chat *chat, size_t at,
                               tcall_item *item)
{
    const tcall_item call = *item;
    int index = tcall_result_index_(chat, at, call.id);
    if (index <= 0) {
        item->kind = TCALL_ITEM_RESULT;
        item->error = TCALL_E_CANCELLED;
        item->text = tcall_str_of("this call was not run");
        return;
    }
    while (index > 0 && tcall_chat_next(chat, &at, item))
        index -=
            item->kind == TCALL_ITEM_RESULT && tcall_str_eq(item->id, call.id);
    item->synthetic_id = call.synthetic_id;
}

/* What the model said in one answer is given in passes over its items. Where
 * order counts the first gives all but the results. */
enum {
    TCALL_PASS_REASONING_,
    TCALL_PASS_TEXT_,
    TCALL_PASS_CALLS_, /* each after the reasoning that led to it */
    TCALL_PASS_RESULTS_
};

/* The items of a conversation in the order in which providers want them. */
typedef struct tcall_history_ {
    const tcall_provider *to;
    const tcall_chat *chat;
    size_t answer; /* where the answer at hand begins */
    size_t at;     /* the place in it */
    uint8_t pass;
    bool after_call; /* in this pass */
    char id[9];      /* of the item, where its own is refused */
} tcall_history_;

TCALL_SHARED_ tcall_history_ tcall_history_of_(const tcall_provider *to,
                                               const tcall_chat *chat)
{
    tcall_history_ history;
    memset(&history, 0, sizeof history);
    history.to = to;
    history.chat = chat;
    return history;
}

/* Reasoning is a secret between the model and its provider: is this one's? */
static bool tcall_history_owns_(const tcall_history_ *history,
                                const tcall_item *item)
{
    const tcall_provider *to = history->to;
    return to->reasoning && tcall_str_eq(item->name, tcall_str_of(to->name));
}

/* Leaves out the signature of an item that is none of this provider's. A
 * provider of signatures wants one of each call; of those that others made it
 * takes this word. */
static void tcall_history_sign_(const tcall_history_ *history, tcall_item *item)
{
    const bool signs = history->to->reasoning == TCALL_REASONING_SIGNATURES;
    const bool own = item->kind == TCALL_ITEM_CALL
                         ? signs
                         : tcall_history_owns_(history, item);
    if (item->reasoning_dropped && !own)
        item->reasoning_dropped = false;
    if (!own)
        item->signature = tcall_slice_(NULL, 0);
    if (item->kind == TCALL_ITEM_CALL && signs && !item->signature.len &&
        !item->is_unsigned)
        item->signature = tcall_str_of("skip_thought_signature_validator");
}

/* Is the item of the model given in this pass? */
static bool tcall_history_takes_(tcall_history_ *history,
                                 const tcall_item *item)
{
    const tcall_provider *to = history->to;
    const bool own = tcall_history_owns_(history, item);
    if (item->kind == TCALL_ITEM_CALL)
        history->after_call = true;
    if (to->quirks & TCALL_QUIRK_ORDERED && history->pass < TCALL_PASS_RESULTS_)
        return history->pass == TCALL_PASS_REASONING_ &&
               (item->kind != TCALL_ITEM_REASONING || own);
    if (item->kind == TCALL_ITEM_TEXT)
        return history->pass == TCALL_PASS_TEXT_;
    if (item->kind == TCALL_ITEM_CALL)
        return history->pass >= TCALL_PASS_CALLS_;
    return history->pass == (history->after_call ? TCALL_PASS_CALLS_
                                                 : TCALL_PASS_REASONING_) &&
           own;
}

/* Gives the next item, false at the end. An item whose reasoning did not fit
 * makes the request an error. */
TCALL_SHARED_ bool tcall_history_next_(tcall_history_ *history,
                                       tcall_writer *out, tcall_item *item)
{
    for (;;) {
        size_t next = history->at;
        bool more = tcall_chat_next(history->chat, &next, item);
        if (more && item->kind != TCALL_ITEM_USER &&
            item->kind != TCALL_ITEM_RESULT) {
            history->at = next;
            if (tcall_history_takes_(history, item))
                break;
            continue;
        }
        history->after_call = false;
        if (history->at > history->answer &&
            history->pass < TCALL_PASS_RESULTS_) {
            history->pass++;
            history->at = history->answer;
            continue;
        }
        /* Results were given with their answer; one without a call is not. */
        history->pass = TCALL_PASS_REASONING_;
        history->at = history->answer = next;
        if (!more || item->kind == TCALL_ITEM_USER)
            return more;
    }
    tcall_history_sign_(history, item);
    if (item->reasoning_dropped && !out->error)
        out->error = TCALL_E_MEMORY;
    if (history->pass == TCALL_PASS_RESULTS_)
        tcall_find_result_(history->chat, history->at, item);
    item->id = tcall_id_for_(history->to, item->id, history->id);
    return true;
}

/* Writes items as messages that hold lists of them. Roles have to take turns:
 * results of tools are said by the user, so what the user says next joins their
 * message. */
TCALL_SHARED_ void tcall_write_turns_(const tcall_provider *provider,
                                      tcall_writer *out,
                                      const tcall_chat_request *request,
                                      const tcall_forms_ *forms,
                                      const char *const roles[2])
{
    tcall_history_ history = tcall_history_of_(provider, request->chat);
    const char *role = NULL;
    tcall_item item;
    while (tcall_history_next_(&history, out, &item)) {
        const char *form = tcall_form_of_(forms, &item);
        bool user =
            item.kind == TCALL_ITEM_USER || item.kind == TCALL_ITEM_RESULT;
        if (!form || tcall_item_is_blank_(&item))
            continue;
        if (role != roles[user]) {
            if (role)
                tcall_write_text(out, "]}");
            role = roles[user];
            tcall_write_form_(out, role, NULL);
        }
        tcall_write_form_(out, form, &item);
    }
    if (role)
        tcall_write_text(out, "]}");
}

/* ---- messages as OpenAI began to write them ---- */

/* How far a message of the model is written: its text is one string, its calls
 * are one list. */
enum {
    TCALL_MESSAGE_NONE_,
    TCALL_MESSAGE_OPEN_,
    TCALL_MESSAGE_TEXT_,
    TCALL_MESSAGE_CALLS_
};

typedef struct tcall_message_ {
    tcall_writer *out;
    uint8_t written; /* TCALL_MESSAGE_..._ */
    bool parts;      /* its content is a list, which has begun */
} tcall_message_;

static void tcall_message_text_(tcall_message_ *message)
{
    if (message->parts)
        tcall_write_form_(message->out, "{'type':'text','text':", NULL);
    else
        tcall_write_key(message->out, "content");
    tcall_write_quote(message->out);
}

static void tcall_message_text_end_(tcall_message_ *message)
{
    tcall_write_unquote(message->out);
    if (message->parts)
        tcall_write_text(message->out, "}]");
}

static void tcall_message_to_(tcall_message_ *message, uint8_t to)
{
    if (message->written == TCALL_MESSAGE_NONE_) {
        tcall_write_form_(message->out, "{'role':'assistant'", NULL);
        message->written = TCALL_MESSAGE_OPEN_;
        message->parts = false;
    }
    if (message->written == TCALL_MESSAGE_OPEN_ && to > TCALL_MESSAGE_OPEN_) {
        tcall_message_text_(message);
        message->written = TCALL_MESSAGE_TEXT_;
    }
    if (message->written == TCALL_MESSAGE_TEXT_ && to == TCALL_MESSAGE_CALLS_) {
        tcall_message_text_end_(message);
        tcall_write_form_(message->out, "'tool_calls':[", NULL);
        message->written = TCALL_MESSAGE_CALLS_;
    }
}

static void tcall_message_end_(tcall_message_ *message)
{
    if (message->written == TCALL_MESSAGE_NONE_)
        return;
    if (message->written == TCALL_MESSAGE_CALLS_) {
        tcall_write_text(message->out, "]");
    } else {
        tcall_message_to_(message, TCALL_MESSAGE_TEXT_);
        tcall_message_text_end_(message);
    }
    tcall_write_text(message->out, "}");
    message->written = TCALL_MESSAGE_NONE_;
}

/* What servers add to this format: see >>servers. */
typedef struct tcall_server_ {
    /* Writes reasoning that is no words as a member of a message. */
    void (*details)(tcall_writer *out, tcall_str pieces);
} tcall_server_;

/* Writes a reasoning, which led to the message: before its text and calls. A
 * further one after them cannot be said here. */
static void tcall_message_reasoning_(tcall_message_ *message,
                                     const tcall_item *reasoning,
                                     const char *member,
                                     const tcall_server_ *server)
{
    tcall_writer *out = message->out;
    if (message->written > TCALL_MESSAGE_OPEN_ || (reasoning->raw && !server))
        return;
    tcall_message_to_(message, TCALL_MESSAGE_OPEN_);
    if (reasoning->raw) {
        server->details(out, reasoning->text);
    } else if (member) {
        tcall_write_key(out, member);
        tcall_write_str(out, reasoning->text);
    } else {
        if (!message->parts)
            tcall_write_form_(out, "'content':[", NULL);
        tcall_write_form_(
            out, "{'type':'thinking','thinking':[{'type':'text','text':%t}]}",
            reasoning);
        message->parts = true;
    }
}

static void tcall_message_item_(tcall_message_ *message, const tcall_item *item,
                                const tcall_forms_ *forms)
{
    tcall_writer *out = message->out;
    if (item->kind == TCALL_ITEM_TEXT) {
        tcall_message_to_(message, TCALL_MESSAGE_TEXT_);
        tcall_write_bytes(out, item->text.ptr, item->text.len);
        return;
    }
    if (item->kind == TCALL_ITEM_CALL)
        tcall_message_to_(message, TCALL_MESSAGE_CALLS_);
    else
        tcall_message_end_(message);
    tcall_write_form_(out, tcall_form_of_(forms, item), item);
}

/* Writes the system message, and then one message for what each side said.
 * server may be NULL. */
TCALL_SHARED_ void tcall_write_messages_(const tcall_provider *provider,
                                         tcall_writer *out,
                                         const tcall_chat_request *request,
                                         const tcall_forms_ *forms,
                                         const tcall_server_ *server)
{
    tcall_history_ history = tcall_history_of_(provider, request->chat);
    tcall_message_ message = {out, TCALL_MESSAGE_NONE_, false};
    tcall_item item;
    tcall_write_form_(out, "'messages':[", NULL);
    if (request->system && *request->system)
        tcall_write_named_(out, "{'role':'system','content':%n}",
                           request->system);
    while (tcall_history_next_(&history, out, &item))
        if (item.kind == TCALL_ITEM_REASONING)
            tcall_message_reasoning_(&message, &item, provider->member, server);
        else
            tcall_message_item_(&message, &item, forms);
    tcall_message_end_(&message);
    tcall_write_text(out, "]");
}

/* ---- tools ---- */

/* The tools of a request, one after the other. */
typedef struct tcall_sent_tools_ {
    const tcall_provider *provider;
    const tcall_chat_request *request;
    const tcall_tool *tool; /* NULL: no more */
    size_t next;            /* among the picks, or all */
    tcall_strict_budget_ budget;
} tcall_sent_tools_;

/* A server that does not obey a choice gets only what may be called. */
static bool tcall_is_sent_(const tcall_sent_tools_ *tools,
                           const tcall_tool *tool)
{
    const tcall_chat_request *request = tools->request;
    const unsigned quirks = tools->provider->quirks;
    if (!tcall_enabled(tool, request->allow))
        return false;
    if (request->choice == TCALL_CHOICE_NONE)
        return !(quirks & TCALL_QUIRK_WEAK_CHOICE);
    return request->choice != TCALL_CHOICE_ONE ||
           !(quirks & (TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_FORCE)) ||
           strcmp(tool->name, request->choice_name) == 0;
}

static void tcall_sent_tools_next_(tcall_sent_tools_ *tools)
{
    const tcall_chat_request *request = tools->request;
    size_t count = request->picks ? request->pick_count : request->tool_count;
    tools->tool = NULL;
    while (tools->next < count && !tools->tool) {
        size_t index =
            request->picks ? request->picks[tools->next] : tools->next;
        tools->next++;
        if (index < request->tool_count &&
            tcall_is_sent_(tools, &request->tools[index]))
            tools->tool = &request->tools[index];
    }
}

static tcall_sent_tools_ tcall_sent_tools_of_(const tcall_provider *provider,
                                              const tcall_chat_request *request)
{
    tcall_sent_tools_ tools;
    memset(&tools, 0, sizeof tools);
    tools.provider = provider;
    tools.request = request;
    tools.budget = tcall_strict_budget_of_(provider->strict);
    tcall_sent_tools_next_(&tools);
    return tools;
}

/* Is the tool at hand to be written? Not where it went out before the sink
 * refused more; what it takes of the budget counts nevertheless. */
static bool tcall_begin_tool_(tcall_sent_tools_ *tools, tcall_writer *out)
{
    if (tcall_write_part_(out))
        return true;
    if (out->error)
        tools->next = (size_t)-1; /* this was the last one */
    else
        tcall_strict_spend_(tools->tool, &tools->budget);
    return false;
}

static const tcall_variable *tcall_find_variable_(const tcall_variable *table,
                                                  tcall_str name)
{
    for (; table && table->name; table++)
        if (tcall_str_eq(tcall_str_of(table->name), name))
            return table;
    return NULL;
}

/* Writes a description, ${name} replaced, in one pass: what a variable holds
 * is not looked at again. */
static void tcall_write_description_(tcall_writer *out, const char *text,
                                     const tcall_variable *variables)
{
    const char *open, *end;
    text = text ? text : "";
    while ((open = strstr(text, "${")) != NULL &&
           (end = strchr(open, '}')) != NULL) {
        tcall_str name = tcall_slice_(open + 2, (size_t)(end - open) - 2);
        const tcall_variable *found = tcall_find_variable_(variables, name);
        tcall_write_bytes(out, text, (size_t)(open - text));
        tcall_write_text(out, found ? found->text : "${");
        text = found ? end + 1 : open + 2;
    }
    tcall_write_text(out, text);
}

/* Writes a schema as it is, to the byte, but for the type that every provider
 * insists on. */
static void tcall_write_plain_schema_(tcall_writer *out, const char *schema)
{
    const char *end = tcall_text_skip_(schema);
    if (!tcall_text_get_(schema, "type")) {
        tcall_write_text(out, "{\"type\":\"object\"");
        if (!tcall_text_get_(schema, "properties"))
            tcall_write_text(out, ",\"properties\":{}");
        schema = tcall_text_space_(schema + 1);
        if (*schema != '}')
            tcall_write_text(out, ",");
    }
    tcall_write_bytes(out, schema, (size_t)(end - schema));
}

/* Writes the schema of a tool, from its text or its shape. */
static void tcall_write_tool_schema_(tcall_writer *out, const tcall_tool *tool)
{
    const tcall_object *shape = tcall_sent_shape_(tool);
    if (shape)
        tcall_write_shape(out, shape);
    else
        tcall_write_plain_schema_(out, tcall_tool_schema_(tool));
}

/* How a format writes its tools: what stands around their list and around
 * each, and how it calls the schema. */
typedef struct tcall_tool_form_ {
    const char *list, *tool, *schema, *tool_end, *list_end;
    bool say_strict; /* where a tool is not strict, that has to be said */
} tcall_tool_form_;

/* Writes what all formats say of a tool: name, description, schema and
 * whether it is strict. */
TCALL_NOINLINE_ static void tcall_write_tool_(tcall_writer *out,
                                              tcall_sent_tools_ *tools,
                                              const tcall_tool_form_ *form)
{
    const tcall_tool *tool = tools->tool;
    bool strict;
    tcall_write_form_(out, form->tool, NULL);
    tcall_write_member_(out, "name", tool->name);
    tcall_write_key(out, "description");
    tcall_write_quote(out);
    tcall_write_description_(out, tool->description, tools->request->variables);
    tcall_write_unquote(out);
    tcall_write_key(out, form->schema);
    strict = tcall_strict_write_(out, tool, &tools->budget);
    if (!strict)
        tcall_write_tool_schema_(out, tool);
    strict = strict && tools->budget.mode != TCALL_STRICT_OLLAMA;
    if (strict || form->say_strict)
        tcall_write_flag_(out, "strict", strict);
    tcall_write_text(out, form->tool_end);
}

/* Writes the tools of a request. Returns false if there are none. */
TCALL_SHARED_ bool tcall_write_tools_(const tcall_provider *provider,
                                      tcall_writer *out,
                                      const tcall_chat_request *request,
                                      const tcall_tool_form_ *form)
{
    tcall_sent_tools_ tools = tcall_sent_tools_of_(provider, request);
    if (!tools.tool)
        return false;
    tcall_write_form_(out, form->list, NULL);
    for (; tools.tool; tcall_sent_tools_next_(&tools)) {
        if (!tcall_begin_tool_(&tools, out))
            continue;
        tcall_write_tool_(out, &tools, form);
        tcall_write_part_end_(out);
    }
    tcall_write_text(out, form->list_end);
    return true;
}

/* The tools of OpenAI's first format, which others took over. */
static const tcall_tool_form_ tcall_function_tools_ = {
    "'tools':[", "{'type':'function','function':{", "parameters", "}}", "]",
    false};

/* Writes the choice among the tools: a word, or the form that names the one
 * that must be called. */
static void tcall_write_word_choice_(const tcall_provider *provider,
                                     tcall_writer *out,
                                     const tcall_chat_request *request,
                                     const char *named)
{
    const unsigned quirks = provider->quirks;
    const char *required = quirks & TCALL_QUIRK_ANY ? "any" : "required";
    if (request->choice == TCALL_CHOICE_AUTO || quirks & TCALL_QUIRK_NO_CHOICE)
        return;
    if (request->choice == TCALL_CHOICE_ONE &&
        !(quirks & TCALL_QUIRK_WEAK_CHOICE))
        tcall_write_named_(out, named, request->choice_name);
    else
        tcall_write_member_(out, "tool_choice",
                            request->choice == TCALL_CHOICE_NONE ? "none"
                                                                 : required);
}

/* Likewise, and says whether an answer may hold more than one call. */
TCALL_SHARED_ void tcall_write_choice_(const tcall_provider *provider,
                                       tcall_writer *out,
                                       const tcall_chat_request *request,
                                       const char *named)
{
    bool can = !(provider->quirks & TCALL_QUIRK_NO_PARALLEL);
    tcall_write_word_choice_(provider, out, request, named);
    if (provider->quirks & TCALL_QUIRK_SAY_PARALLEL ||
        (request->no_parallel && can))
        tcall_write_flag_(out, "parallel_tool_calls", !request->no_parallel);
}

/* ==========================================================================
 * >>reader
 *
 * The items of an answer lie at the end of the chat: its text, which grows in
 * place, the calls and reasonings that are known, and then, while a document
 * of the stream passes, the elements of that document. What
 * an element belongs to may be said after its arguments, so it is merged only
 * when the document is complete: it stays as a new item, or what it brings is
 * moved to an older one.
 */

/* Kinds that only elements have, beside tcall_kind. */
enum {
    TCALL_ITEM_DELTA_ = 14, /* the document's event will say of what */
    TCALL_ITEM_VOID_ = 15   /* no item of ours */
};

/* Texts and arguments leave so much free, for the header, id and name of the
 * next call: it can then at least be named. */
#define TCALL_RESERVE_ 64

TCALL_SHARED_ tcall_item_head_ *tcall_reader_head_(const tcall_reader *reader,
                                                   size_t at)
{
    return tcall_head_at_(reader->chat, at);
}

TCALL_SHARED_ size_t tcall_reader_len_(const tcall_reader *reader, size_t at,
                                       int part)
{
    return tcall_head_len_(tcall_reader_head_(reader, at), part);
}

/* The place of the item after the one at this place. */
TCALL_SHARED_ size_t tcall_reader_next_(const tcall_reader *reader, size_t at)
{
    return at + tcall_head_size_(tcall_reader_head_(reader, at));
}

TCALL_SHARED_ size_t tcall_reader_free_(const tcall_reader *reader)
{
    return tcall_block_free_(reader->chat->block);
}

/* Keeps the reader's places right where bytes from first to last moved. */
static void tcall_reader_moved_(tcall_reader *reader, size_t first, size_t last,
                                size_t by)
{
    if (reader->unmerged >= first && reader->unmerged <= last)
        reader->unmerged += by;
    if (reader->element >= first && reader->element <= last)
        reader->element += by;
    if (reader->raw >= first && reader->raw <= last)
        reader->raw += by;
    if (reader->text_at >= first && reader->text_at <= last)
        reader->text_at += by;
}

/* Moves all bytes from one place on to another; the room is there. */
TCALL_SHARED_ void tcall_reader_shift_(tcall_reader *reader, size_t from,
                                       size_t to)
{
    if (from == to)
        return;
    tcall_chat_shift_(reader->chat, from, to);
    tcall_reader_moved_(reader, from, (size_t)-1, to - from);
}

/* Gives a part another length, at its end; the room is there. */
TCALL_SHARED_ void tcall_reader_resize_(tcall_reader *reader, size_t at,
                                        int part, size_t len)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, at);
    size_t end = at + tcall_head_end_(head, part);
    size_t old = tcall_head_len_(head, part);
    tcall_head_set_len_(head, part, len);
    tcall_reader_shift_(reader, end, end - old + len);
}

/* Takes the item at this place out. */
TCALL_SHARED_ void tcall_reader_remove_(tcall_reader *reader, size_t at)
{
    tcall_reader_shift_(reader, tcall_reader_next_(reader, at), at);
}

/* Adds bytes, for which there is room, to the end of an item's part. */
TCALL_SHARED_ void tcall_reader_append_(tcall_reader *reader, size_t at,
                                        int part, tcall_str bytes)
{
    size_t old = tcall_reader_len_(reader, at, part);
    char *end = reader->chat->block->base + at +
                tcall_head_end_(tcall_reader_head_(reader, at), part);
    tcall_reader_resize_(reader, at, part, old + bytes.len);
    tcall_copy_(end, bytes);
}

static void tcall_reverse_(char *p, char *end)
{
    while (p < end) {
        char c = *p;
        *p++ = *--end;
        *end = c;
    }
}

/* Exchanges the bytes up to middle with those from there on, in place, as
 * std::rotate does: each half is reversed, and then the whole. */
static void tcall_rotate_(char *first, char *middle, char *end)
{
    tcall_reverse_(first, middle);
    tcall_reverse_(middle, end);
    tcall_reverse_(first, end);
}

/* Moves a part of the item at from to the end of the same part of an item
 * before it. What lies in between moves up, unless there is nothing to move. */
TCALL_SHARED_ void tcall_reader_move_(tcall_reader *reader, size_t from,
                                      size_t to, int part)
{
    tcall_item_head_ *source = tcall_reader_head_(reader, from);
    tcall_item_head_ *target = tcall_reader_head_(reader, to);
    size_t place = to + tcall_head_end_(target, part);
    size_t len = tcall_head_len_(source, part);
    char *end = (char *)source + tcall_head_end_(source, part);
    if (!len)
        return;
    tcall_head_set_len_(target, part, tcall_head_len_(target, part) + len);
    tcall_head_set_len_(source, part, 0);
    tcall_rotate_(reader->chat->block->base + place, end - len, end);
    tcall_reader_moved_(reader, place, from, len);
}

TCALL_SHARED_ size_t tcall_reader_text_len_(const tcall_reader *reader)
{
    return reader->has_text
               ? tcall_reader_len_(reader, reader->text_at, TCALL_PART_TEXT_)
               : 0;
}

/* Makes an empty item at this place, where there is room. */
TCALL_SHARED_ void tcall_reader_blank_(tcall_reader *reader, size_t at,
                                       uint8_t kind)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, at);
    memset(head, 0, sizeof *head);
    head->kind = kind;
}

/* Gives the text of the answer its place: before everything else or, where
 * order counts, after all that is known. */
TCALL_SHARED_ void tcall_reader_begin_text_(tcall_reader *reader)
{
    const bool ordered = (reader->provider->quirks & TCALL_QUIRK_ORDERED) != 0;
    const size_t place = ordered ? reader->unmerged : reader->start;
    if (tcall_reader_free_(reader) < TCALL_HEAD_)
        return;
    if (reader->has_text && !reader->text_ends &&
        (!ordered || tcall_reader_next_(reader, reader->text_at) == place))
        return;
    reader->text_max -= tcall_reader_text_len_(reader);
    tcall_reader_shift_(reader, place, place + TCALL_HEAD_);
    tcall_reader_blank_(reader, place, TCALL_ITEM_TEXT);
    reader->text_at = place;
    reader->has_text = true;
    reader->text_ends = reader->parted = false;
}

/* Arguments that do not fit make their call fail, not the answer. */
TCALL_SHARED_ void tcall_reader_drop_arguments_(tcall_reader *reader, size_t at,
                                                size_t more)
{
    reader->missing += tcall_reader_len_(reader, at, TCALL_PART_TEXT_) + more;
    if (!tcall_reader_head_(reader, at)->error)
        tcall_reader_head_(reader, at)->error = TCALL_E_MEMORY;
    tcall_reader_resize_(reader, at, TCALL_PART_TEXT_, 0);
}

/* Is an element a further piece of an item? */
typedef enum tcall_match_ {
    TCALL_MATCH_NO_,
    TCALL_MATCH_YES_,
    TCALL_MATCH_MAYBE_ /* the piece does not say what it is of */
} tcall_match_;

/* ==========================================================================
 * >>reasoning: what goes back to the provider that it came from
 *
 * Reasoning is kept as far as there is room for it beside calls; a part of it
 * would be refused, so one that does not fit is dropped as a whole. Which one a
 * provider has is in tcall_provider.reasoning.
 */

#ifdef TOOLCALL_NO_REASONING

TCALL_SHARED_ uint8_t tcall_reasoning_kept_(const tcall_reader *reader)
{
    (void)reader;
    return TCALL_REASONING_NONE;
}

TCALL_SHARED_ bool tcall_is_reasoning_(const tcall_item_head_ *head)
{
    (void)head;
    return false;
}

#else

TCALL_SHARED_ uint8_t tcall_reasoning_kept_(const tcall_reader *reader)
{
    return reader->provider->reasoning;
}

TCALL_SHARED_ bool tcall_is_reasoning_(const tcall_item_head_ *head)
{
    return head->kind == TCALL_ITEM_REASONING;
}

#endif /* TOOLCALL_NO_REASONING */

/* May it be left out? Then it makes way for text, too. */
TCALL_SHARED_ bool tcall_reasoning_is_free_(const tcall_reader *reader)
{
    return (reader->provider->quirks & TCALL_QUIRK_FREE_REASONING) != 0;
}

/* Drops what the item at this place has of reasoning, and so many bytes that
 * were to come: a part of it would be refused. */
static void tcall_reasoning_drop_(tcall_reader *reader, size_t at, size_t more)
{
    size_t dropped = more;
    dropped += tcall_reader_len_(reader, at, TCALL_PART_SIGNATURE_);
    tcall_reader_resize_(reader, at, TCALL_PART_SIGNATURE_, 0);
    if (tcall_is_reasoning_(tcall_reader_head_(reader, at))) {
        dropped += tcall_reader_len_(reader, at, TCALL_PART_TEXT_);
        tcall_reader_resize_(reader, at, TCALL_PART_TEXT_, 0);
    }
    reader->answer.reasoning_dropped += dropped;
    if (dropped)
        tcall_reader_head_(reader, at)->flags |= TCALL_FLAG_DROPPED_;
}

/* Drops the text of the current element, and so many bytes to come. */
static void tcall_reasoning_drop_raw_(tcall_reader *reader, size_t more)
{
    size_t len = tcall_reader_len_(reader, reader->raw, TCALL_PART_TEXT_);
    reader->raw_missing += len + more;
    tcall_reader_resize_(reader, reader->raw, TCALL_PART_TEXT_, 0);
}

TCALL_SHARED_ void tcall_reasoning_drop_all_(tcall_reader *reader)
{
    size_t at = reader->start;
    if (!tcall_reasoning_kept_(reader))
        return;
    if (reader->keeping_raw)
        tcall_reasoning_drop_raw_(reader, 0);
    for (; at < reader->chat->block->low; at = tcall_reader_next_(reader, at))
        tcall_reasoning_drop_(reader, at, 0);
}

/* Is a piece of this part, that begins with c, kept? */
TCALL_SHARED_ bool tcall_reasoning_takes_(const tcall_reader *reader, int field,
                                          char c)
{
    uint8_t kept = tcall_reasoning_kept_(reader);
    switch (field) {
    case TCALL_FIELD_SIGNATURE:
        return kept == TCALL_REASONING_SIGNATURES ||
               kept == TCALL_REASONING_DATA ||
               (kept == TCALL_REASONING_ELEMENTS &&
                reader->event != TCALL_MEANS_ELEMENT_BEGINS);
    case TCALL_FIELD_REASONING_DATA:
        return kept == TCALL_REASONING_DATA ||
               (kept == TCALL_REASONING_DETAILS && c == '[');
    default: break;
    }
    return c == '"' && (!reader->words || reader->words == field) &&
           (kept == TCALL_REASONING_TEXT || kept == TCALL_REASONING_DATA);
}

/* Keeps a piece of reasoning or a signature, if that takes nothing away from
 * anything else. */
TCALL_SHARED_ void tcall_reasoning_piece_(tcall_reader *reader, int part,
                                          tcall_str piece)
{
    if (part == TCALL_PART_TEXT_)
        reader->words = reader->field;
    if (reader->answer.reasoning_dropped ||
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_)
        tcall_reasoning_drop_(reader, reader->element, piece.len);
    else
        tcall_reader_append_(reader, reader->element, part, piece);
}

/* The signature of the element at *at is of the text. The first one counts. */
TCALL_SHARED_ void tcall_reasoning_sign_text_(tcall_reader *reader,
                                              const size_t *at)
{
    const uint8_t dropped =
        tcall_reader_head_(reader, *at)->flags & TCALL_FLAG_DROPPED_;
    if (!tcall_reasoning_kept_(reader))
        return;
    if (!dropped && !tcall_reader_len_(reader, *at, TCALL_PART_SIGNATURE_))
        return;
    if (!reader->has_text)
        tcall_reader_begin_text_(reader);
    if (!reader->has_text)
        return;
    tcall_reader_head_(reader, reader->text_at)->flags |= dropped;
    if (!tcall_reader_len_(reader, reader->text_at, TCALL_PART_SIGNATURE_))
        tcall_reader_move_(reader, *at, reader->text_at, TCALL_PART_SIGNATURE_);
}

/* ---- merging ---- */

/* One of both is reasoning: is the piece of the known one? Its signature may
 * come by itself. */
TCALL_SHARED_ tcall_match_ tcall_match_reasoning_(const tcall_item_head_ *known,
                                                  const tcall_item_head_ *piece)
{
    bool same = known->index && piece->index &&
                !tcall_head_len_(piece, TCALL_PART_NAME_) &&
                !tcall_head_len_(piece, TCALL_PART_TEXT_);
    if (tcall_is_reasoning_(piece))
        same = known->kind == piece->kind && known->index == piece->index &&
               !((known->flags ^ piece->flags) & TCALL_FLAG_RAW_);
    return same ? TCALL_MATCH_YES_ : TCALL_MATCH_NO_;
}

/* The first unmerged element is of the reasoning at this place: drops its words
 * where others are missing. */
TCALL_SHARED_ void tcall_reasoning_merge_(tcall_reader *reader, size_t at)
{
    size_t len = tcall_reader_len_(reader, reader->unmerged, TCALL_PART_TEXT_);
    if (!(tcall_reader_head_(reader, at)->flags & TCALL_FLAG_DROPPED_))
        return;
    tcall_reader_resize_(reader, reader->unmerged, TCALL_PART_TEXT_, 0);
    tcall_reasoning_drop_(reader, at, len);
}

/* Is anything of it there, or was and is missed? */
TCALL_SHARED_ bool tcall_reasoning_is_some_(const tcall_reader *reader,
                                            const tcall_item_head_ *head)
{
    if (head->flags & TCALL_FLAG_DROPPED_)
        return !tcall_reasoning_is_free_(reader);
    return tcall_head_len_(head, TCALL_PART_NAME_) ||
           tcall_head_len_(head, TCALL_PART_TEXT_) ||
           tcall_head_len_(head, TCALL_PART_SIGNATURE_);
}

/* A text of the model is complete, where each is an item with a word of its
 * own: that goes back with it, and the next text is another one. */
TCALL_SHARED_ void tcall_reasoning_end_text_(tcall_reader *reader)
{
    if (reader->type != TCALL_MEANS_TEXT ||
        tcall_reasoning_kept_(reader) != TCALL_REASONING_ELEMENTS)
        return;
    if (reader->open)
        tcall_reader_head_(reader, reader->element)->kind = TCALL_ITEM_TEXT;
    reader->text_ends = reader->has_text;
}

/* ---- elements as they came ---- */

/* May the current element turn out to be reasoning, whose JSON text is kept?
 * Its type usually comes first. */
TCALL_SHARED_ bool tcall_reasoning_may_come_(const tcall_reader *reader)
{
    return tcall_reasoning_kept_(reader) == TCALL_REASONING_ELEMENTS &&
           reader->event != TCALL_MEANS_ELEMENT_BEGINS &&
           !(reader->whole && reader->repeats) &&
           (!reader->type || reader->type == TCALL_MEANS_REASONING) &&
           reader->answer.error != TCALL_E_MEMORY;
}

/* Keeps a piece of that text. */
TCALL_SHARED_ void tcall_reasoning_raw_piece_(tcall_reader *reader,
                                              tcall_str piece)
{
    if (reader->raw_missing ||
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_)
        tcall_reasoning_drop_raw_(reader, piece.len);
    else
        tcall_reader_append_(reader, reader->raw, TCALL_PART_TEXT_, piece);
}

/* The element is complete: its text stays if it is reasoning. */
TCALL_SHARED_ void tcall_reasoning_end_raw_(tcall_reader *reader)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, reader->raw);
    if (!tcall_reasoning_kept_(reader) || !reader->keeping_raw)
        return;
    reader->keeping_raw = false;
    if (reader->type == TCALL_MEANS_REASONING) {
        head->kind = TCALL_ITEM_REASONING;
        head->flags = TCALL_FLAG_RAW_ | TCALL_FLAG_WHOLE_;
        head->index = reader->index;
        if (reader->raw_missing)
            tcall_reasoning_drop_(reader, reader->raw, reader->raw_missing);
    } else {
        tcall_reader_remove_(reader, reader->raw);
    }
    reader->raw_missing = 0;
}

/* ==========================================================================
 * >>stream: answers that come in pieces
 *
 * A stream of documents says of an item now this and now that, and providers
 * differ in how they say which item they mean. Without this chapter an answer
 * is one document, in which each element is an item.
 */

enum {
#ifdef TOOLCALL_NO_STREAM
    TCALL_STREAMS_ = 0
#else
    TCALL_STREAMS_ = 1
#endif
};

static bool tcall_same_part_(const tcall_item_head_ *a,
                             const tcall_item_head_ *b, int part)
{
    return tcall_str_eq(tcall_head_part_(a, part), tcall_head_part_(b, part));
}

/* A whole object, as far as its last byte says. */
static bool tcall_ends_object_(tcall_str text)
{
    return text.len && text.ptr[text.len - 1] == '}';
}

/* Is the element a further piece of a known call? */
static tcall_match_ tcall_match_call_(const tcall_item_head_ *known,
                                      const tcall_item_head_ *piece)
{
    const bool numbered = known->index && piece->index;
    const bool named = tcall_head_len_(piece, TCALL_PART_NAME_) > 0;
    tcall_str text = tcall_head_part_(piece, TCALL_PART_TEXT_);
    bool again;
    /* Some servers give every piece an id of its own: then the number counts
     * while there is no name. */
    if (tcall_head_len_(piece, TCALL_PART_ID_) &&
        tcall_head_len_(known, TCALL_PART_ID_) && (!numbered || named))
        return tcall_same_part_(known, piece, TCALL_PART_ID_) ? TCALL_MATCH_YES_
                                                              : TCALL_MATCH_NO_;
    if (!numbered)
        return named ? TCALL_MATCH_NO_ : TCALL_MATCH_MAYBE_;
    /* Some servers give every call the same number: where a whole object is
     * followed by another one with a name, that is another call. */
    again = named && text.len && *text.ptr == '{' &&
            tcall_ends_object_(tcall_head_part_(known, TCALL_PART_TEXT_));
    return again && !(piece->flags & TCALL_FLAG_WHOLE_) ? TCALL_MATCH_NO_
                                                        : TCALL_MATCH_YES_;
}

static tcall_match_ tcall_match_item_(const tcall_item_head_ *known,
                                      const tcall_item_head_ *piece)
{
    if (known->choice != piece->choice ||
        (known->index && piece->index && known->index != piece->index))
        return TCALL_MATCH_NO_;
    if (tcall_is_reasoning_(piece) || tcall_is_reasoning_(known))
        return tcall_match_reasoning_(known, piece);
    return tcall_match_call_(known, piece);
}

/* Returns the item that the first unmerged element is a piece of: the last that
 * matches, or the last call if the element does not say; itself if it is new.
 */
TCALL_SHARED_ size_t tcall_reader_find_(const tcall_reader *reader)
{
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    size_t at = reader->start, found = reader->unmerged, maybe = found;
    for (; at < reader->unmerged; at = tcall_reader_next_(reader, at)) {
        const tcall_item_head_ *known = tcall_reader_head_(reader, at);
        tcall_match_ match;
        if (known->kind == TCALL_ITEM_TEXT)
            continue;
        match = tcall_match_item_(known, piece);
        if (match == TCALL_MATCH_YES_)
            found = at;
        /* Only the last call may be continued without its number or id. */
        if (match || !tcall_is_reasoning_(known))
            maybe = match == TCALL_MATCH_MAYBE_ ? at : reader->unmerged;
    }
    return found != reader->unmerged ? found : maybe;
}

/* Moves id, name and signature of the first unmerged element to the item at
 * this place. Each is taken once; another name is a further piece of it as
 * long as there are no arguments. */
static void tcall_reader_merge_names_(tcall_reader *reader, size_t at)
{
    const tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    bool name_grows = !tcall_head_len_(known, TCALL_PART_TEXT_) &&
                      !tcall_same_part_(known, piece, TCALL_PART_NAME_);
    int part;
    for (part = TCALL_PART_ID_; part < TCALL_PART_TEXT_; part++)
        if (!tcall_reader_len_(reader, at, part) ||
            (part == TCALL_PART_NAME_ && name_grows))
            tcall_reader_move_(reader, reader->unmerged, at, part);
}

/* Is the text of the element to be moved to the call? */
static bool tcall_reader_merges_text_(tcall_reader *reader, size_t at)
{
    tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    size_t old = tcall_head_len_(known, TCALL_PART_TEXT_);
    size_t len = tcall_head_len_(piece, TCALL_PART_TEXT_);
    bool whole = (piece->flags & TCALL_FLAG_WHOLE_) != 0;
    if (whole && !known->error && old >= len && (!piece->error || old))
        return false; /* it came in pieces before */
    if (known->error || piece->error) {
        known->error = known->error ? known->error : piece->error;
        tcall_reader_drop_arguments_(reader, at, len);
        return false;
    }
    return true;
}

/* Moves what the first unmerged element brings to the item at this place. */
TCALL_SHARED_ void tcall_reader_merge_(tcall_reader *reader, size_t at)
{
    tcall_item_head_ *known = tcall_reader_head_(reader, at);
    const tcall_item_head_ *piece =
        tcall_reader_head_(reader, reader->unmerged);
    const uint8_t flags = piece->flags;
    const bool whole = (flags & TCALL_FLAG_WHOLE_) != 0;
    if (known->kind == TCALL_ITEM_VOID_)
        return;
    known->flags |= flags & TCALL_FLAG_DROPPED_;
    tcall_reader_merge_names_(reader, at);
    if (tcall_is_reasoning_(known))
        tcall_reasoning_merge_(reader, at);
    else if (!tcall_reader_merges_text_(reader, at))
        return;
    if (!tcall_reader_len_(reader, reader->unmerged, TCALL_PART_TEXT_))
        return;
    if (whole || known->flags & TCALL_FLAG_DEFAULT_)
        tcall_reader_resize_(reader, at, TCALL_PART_TEXT_, 0);
    if (!whole)
        known->flags &= (uint8_t)~TCALL_FLAG_DEFAULT_;
    known->flags &= (uint8_t)~TCALL_FLAG_OBJECT_;
    if (!tcall_head_len_(known, TCALL_PART_TEXT_))
        known->flags |= flags & TCALL_FLAG_OBJECT_;
    tcall_reader_move_(reader, reader->unmerged, at, TCALL_PART_TEXT_);
}

/* ==========================================================================
 * >>pieces
 *
 * What the paths of a provider lead to are pieces: of an element, of the text,
 * or of what the answer says of itself. Elements are merged into items.
 */

/* ---- room ---- */

/* Makes room for a call. Calls matter more than text and reasoning: those give
 * way. */
static bool tcall_reader_room_(tcall_reader *reader, size_t bytes)
{
    size_t text = tcall_reader_text_len_(reader), free;
    if (bytes > tcall_reader_free_(reader) + text)
        tcall_reasoning_drop_all_(reader);
    free = tcall_reader_free_(reader);
    if (bytes > free + text)
        return false;
    if (bytes > free) {
        tcall_reader_resize_(reader, reader->text_at, TCALL_PART_TEXT_,
                             text - (bytes - free));
        reader->answer.text_cut = true;
    }
    return true;
}

/* Forgets all that was read. */
static void tcall_reader_clear_(tcall_reader *reader)
{
    reader->chat->block->low = reader->unmerged = reader->element =
        reader->raw = reader->start;
    reader->text_max = tcall_reader_free_(reader) / 2;
    reader->has_text = reader->open = reader->keeping_raw = false;
    reader->complete = reader->stopped = reader->cut = false;
    reader->began = reader->finished = reader->words = 0;
    reader->text_ends = reader->parted = false;
    reader->answer.reasoning_dropped = 0;
    reader->answer.text_cut = reader->answer.pending = false;
    reader->answer.unread = reader->answer.has_text = false;
    reader->answer.stop = TCALL_STOP_UNKNOWN;
    reader->answer.stop_text[0] = 0;
}

/* Makes room for what a call cannot do without. Where there is none the answer
 * is lost; the rest is read to know what would have been needed. */
TCALL_SHARED_ bool tcall_reader_need_(tcall_reader *reader, size_t bytes)
{
    if (tcall_reader_room_(reader, bytes))
        return true;
    reader->missing += reader->chat->block->low - reader->start + bytes;
    tcall_reader_clear_(reader);
    reader->answer.error = TCALL_E_MEMORY;
    return false;
}

/* Adds an empty element at the end. */
static bool tcall_reader_place_(tcall_reader *reader, size_t *at, uint8_t kind)
{
    tcall_block *block = reader->chat->block;
    if (!tcall_reader_need_(reader, TCALL_HEAD_))
        return false;
    *at = block->low;
    tcall_block_grow_(block, TCALL_HEAD_);
    tcall_reader_blank_(reader, *at, kind);
    return true;
}

/* ---- text of the model ---- */

/* Bytes that are free for text, so many of its own among them. */
static size_t tcall_reader_text_room_(const tcall_reader *reader, size_t own)
{
    size_t room = tcall_reader_free_(reader) + own;
    size_t kept = TCALL_HEAD_ + TCALL_RESERVE_;
    return room > kept ? room - kept : 0;
}

/* Reports a piece of the model's text and returns how much of it is kept. It
 * may lie in the block already, in so many bytes. */
static size_t tcall_reader_hear_(tcall_reader *reader, tcall_str piece,
                                 size_t own)
{
    size_t room, most = 0;
    if (reader->choice)
        return 0;
    reader->answer.has_text = true;
    if (reader->text && reader->text_ends && !reader->parted)
        reader->text(reader->user, tcall_slice_("\n\n", 2));
    reader->parted = reader->text_ends;
    if (reader->text)
        reader->text(reader->user, piece);
    if (reader->answer.text_cut || reader->answer.error == TCALL_E_MEMORY)
        return 0;
    room = tcall_reader_text_room_(reader, own);
    if (room < piece.len && tcall_reasoning_is_free_(reader)) {
        tcall_reasoning_drop_all_(reader);
        room = tcall_reader_text_room_(reader, own);
    }
    if (room)
        tcall_reader_begin_text_(reader);
    if (reader->has_text)
        most = reader->text_max - tcall_reader_text_len_(reader);
    room = room < most ? room : most;
    if (room >= piece.len)
        return piece.len;
    reader->answer.text_cut = true;
    return room;
}

/* Takes a piece of text that certainly is the model's. */
static void tcall_reader_text_(tcall_reader *reader, tcall_str piece)
{
    piece.len = tcall_reader_hear_(reader, piece, 0);
    if (piece.len)
        tcall_reader_append_(reader, reader->text_at, TCALL_PART_TEXT_, piece);
}

/* The text of the element at *at, which may move, is text of the model. */
static void tcall_reader_say_(tcall_reader *reader, const size_t *at)
{
    tcall_str text =
        tcall_head_part_(tcall_reader_head_(reader, *at), TCALL_PART_TEXT_);
    if (!text.len)
        return;
    text.len = tcall_reader_hear_(reader, text, text.len);
    tcall_reader_resize_(reader, *at, TCALL_PART_TEXT_, text.len);
    if (text.len)
        tcall_reader_move_(reader, *at, reader->text_at, TCALL_PART_TEXT_);
}

/* ---- parts of an element ---- */

/* The kind of an element that has this field. */
static uint8_t tcall_field_kind_(int field)
{
    switch (field) {
    case TCALL_FIELD_REASONING:
    case TCALL_FIELD_REASONING_TOO:
    case TCALL_FIELD_REASONING_DATA: return TCALL_ITEM_REASONING;
    case TCALL_FIELD_TEXT: return TCALL_ITEM_TEXT;
    case TCALL_FIELD_DELTA: return TCALL_ITEM_DELTA_;
    default: return TCALL_ITEM_CALL;
    }
}

/* The part that a field is a piece of, or -1. */
static int tcall_field_part_(int field)
{
    switch (field) {
    case TCALL_FIELD_ID: return TCALL_PART_ID_;
    case TCALL_FIELD_NAME: return TCALL_PART_NAME_;
    case TCALL_FIELD_SIGNATURE: return TCALL_PART_SIGNATURE_;
    case TCALL_FIELD_ARGUMENTS:
    case TCALL_FIELD_ALL_ARGUMENTS:
    case TCALL_FIELD_REASONING:
    case TCALL_FIELD_REASONING_TOO:
    case TCALL_FIELD_REASONING_DATA:
    case TCALL_FIELD_TEXT:
    case TCALL_FIELD_DELTA: return TCALL_PART_TEXT_;
    default: return -1;
    }
}

/* Opens the current element as soon as there is something to keep of it. Some
 * fields tell its kind, ids and the like do not. */
static bool tcall_reader_open_(tcall_reader *reader)
{
    uint8_t kind = tcall_field_kind_(reader->field);
    if (!reader->open && reader->answer.error != TCALL_E_MEMORY)
        reader->open =
            tcall_reader_place_(reader, &reader->element, TCALL_ITEM_CALL);
    if (reader->open && kind != TCALL_ITEM_CALL) {
        tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
        head->kind = kind;
        if (reader->field == TCALL_FIELD_REASONING_DATA)
            head->flags |= TCALL_FLAG_RAW_;
    }
    return reader->open;
}

/* Keeps a piece of arguments, or of text that belongs to an element. */
static void tcall_reader_content_(tcall_reader *reader, tcall_str piece)
{
    const tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
    if (reader->field == TCALL_FIELD_TEXT &&
        tcall_reader_free_(reader) < piece.len + TCALL_RESERVE_) {
        /* It can wait no longer for what its element turns out to be. */
        tcall_reader_say_(reader, &reader->element);
        tcall_reader_text_(reader, piece);
    } else if (head->error ||
               !tcall_reader_room_(reader, piece.len + TCALL_RESERVE_)) {
        tcall_reader_drop_arguments_(reader, reader->element, piece.len);
    } else {
        tcall_reader_append_(reader, reader->element, TCALL_PART_TEXT_, piece);
    }
}

/* Takes a piece of a part of the current element. */
static void tcall_reader_part_(tcall_reader *reader, int part, tcall_str piece)
{
    if (reader->answer.error == TCALL_E_MEMORY) {
        reader->missing += piece.len;
        return;
    }
    if (!tcall_reader_open_(reader))
        return;
    if (tcall_reasoning_kept_(reader) &&
        (part == TCALL_PART_SIGNATURE_ ||
         tcall_field_kind_(reader->field) == TCALL_ITEM_REASONING))
        tcall_reasoning_piece_(reader, part, piece);
    else if (part == TCALL_PART_TEXT_)
        tcall_reader_content_(reader, piece);
    else if (tcall_reader_need_(reader, piece.len))
        tcall_reader_append_(reader, reader->element, part, piece);
}

/* ---- merging elements ---- */

/* What a delta is, now that the event of its document is known. */
static void tcall_reader_settle_delta_(const tcall_reader *reader,
                                       tcall_item_head_ *head)
{
    switch (reader->event) {
    case TCALL_MEANS_TEXT: head->kind = TCALL_ITEM_TEXT; break;
    case TCALL_MEANS_ALL_ARGUMENTS:
        head->flags |= TCALL_FLAG_WHOLE_; /* fall through */
    case TCALL_MEANS_ARGUMENTS: head->kind = TCALL_ITEM_CALL; break;
    default: head->kind = TCALL_ITEM_VOID_; head->index = 0;
    }
}

/* Reports a piece of a call. */
static void tcall_reader_show_(const tcall_reader *reader)
{
    size_t at = reader->unmerged - reader->chat->start;
    tcall_item item;
    if (reader->call && tcall_chat_next(reader->chat, &at, &item) &&
        item.kind == TCALL_ITEM_CALL)
        reader->call(reader->user, &item);
}

/* Merges a call or reasoning, or keeps it as a new item. Returns true if it
 * stays. An element that is void but has a number is kept as well: what comes
 * with that number later is of it. */
static bool tcall_reader_settle_item_(tcall_reader *reader)
{
    const tcall_item_head_ *head = tcall_reader_head_(reader, reader->unmerged);
    size_t at = reader->unmerged;
    if (head->kind == TCALL_ITEM_VOID_ && !head->index)
        return false;
    if (TCALL_STREAMS_ && !reader->whole && head->kind != TCALL_ITEM_VOID_)
        at = tcall_reader_find_(reader);
    if (at == reader->unmerged || !(head->flags & TCALL_FLAG_WHOLE_))
        tcall_reader_show_(reader);
    if (at == reader->unmerged)
        return true;
    if (TCALL_STREAMS_)
        tcall_reader_merge_(reader, at);
    return false;
}

/* Is a text of an item that does not count? */
static bool tcall_reader_text_is_void_(const tcall_reader *reader, int index)
{
    size_t at = reader->start;
    for (; index && at < reader->unmerged;
         at = tcall_reader_next_(reader, at)) {
        const tcall_item_head_ *known = tcall_reader_head_(reader, at);
        if (known->kind == TCALL_ITEM_VOID_ && known->index == index)
            return true;
    }
    return false;
}

/* Settles the first unmerged element: it is complete, and so is what was said
 * around it. */
static void tcall_reader_settle_(tcall_reader *reader)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, reader->unmerged);
    head->choice = reader->choice;
    if (!head->index)
        head->index = reader->index;
    if (head->kind == TCALL_ITEM_DELTA_)
        tcall_reader_settle_delta_(reader, head);
    if (head->kind == TCALL_ITEM_TEXT &&
        tcall_reader_text_is_void_(reader, head->index)) {
        tcall_reader_remove_(reader, reader->unmerged);
        return;
    }
    if (head->kind == TCALL_ITEM_TEXT) {
        tcall_reader_say_(reader, &reader->unmerged);
        tcall_reasoning_sign_text_(reader, &reader->unmerged);
    } else if (tcall_reader_settle_item_(reader)) {
        reader->unmerged = tcall_reader_next_(reader, reader->unmerged);
        reader->began |= (uint8_t)(1u << reader->choice);
        return;
    }
    tcall_reader_remove_(reader, reader->unmerged);
}

static void tcall_reader_settle_elements_(tcall_reader *reader)
{
    while (reader->unmerged < reader->chat->block->low)
        tcall_reader_settle_(reader);
}

/* All elements of a choice, or of a document, are complete. */
TCALL_SHARED_ void tcall_reader_settle_all_(tcall_reader *reader)
{
    tcall_reader_settle_elements_(reader);
    if (reader->stopped)
        reader->finished |= (uint8_t)(1u << reader->choice);
    reader->stopped = false;
    reader->choice = 0;
    reader->in_choice = reader->choice_known = false;
}

/* ---- fields ---- */

/* The current element is complete. */
static void tcall_reader_element_end_(tcall_reader *reader)
{
    if (reader->answer.error == TCALL_E_MEMORY)
        reader->missing += TCALL_HEAD_;
    tcall_reasoning_end_raw_(reader);
    tcall_reasoning_end_text_(reader);
    if (reader->open) {
        tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
        head->index = reader->index;
        head->flags |= reader->flags;
        if (reader->fault)
            head->error = reader->fault;
        if (reader->ignored && head->kind != TCALL_ITEM_REASONING)
            head->kind = TCALL_ITEM_VOID_;
    }
    if (reader->type == TCALL_MEANS_OTHER)
        reader->answer.unread = true;
    reader->index = reader->field = reader->type = reader->flags = 0;
    reader->in_element = reader->open = reader->ignored = false;
    reader->fault = TCALL_OK;
}

/* Returns what the current word means, or otherwise if it is not listed. */
static uint8_t tcall_reader_meaning_(const tcall_reader *reader,
                                     const tcall_word *words, uint8_t otherwise)
{
    while (words->word && strcmp(words->word, reader->word) != 0)
        words++;
    return words->word ? words->meaning : otherwise;
}

/* A reason to stop: after some the last call must not run. */
static void tcall_reader_stop_word_(tcall_reader *reader, int field)
{
    const uint8_t stop = tcall_reader_meaning_(reader, reader->provider->stops,
                                               TCALL_STOP_OTHER);
    if (stop == TCALL_STOP_LENGTH || stop == TCALL_STOP_CONTENT_FILTER)
        reader->cut = true;
    if (field == TCALL_FIELD_STOP_REASON) {
        if (stop == TCALL_STOP_CONTENT_FILTER)
            reader->answer.stop = TCALL_STOP_CONTENT_FILTER;
    } else if (reader->word[0] && stop == TCALL_STOP_UNKNOWN) {
        reader->answer.pending = true;
    } else if (reader->word[0]) {
        reader->stopped = true;
        reader->answer.pending = false;
        tcall_answer_stop_(&reader->answer, (tcall_stop)stop, reader->word);
    }
}

/* A type of an element or name of an event. */
static void tcall_reader_type_word_(tcall_reader *reader, int field)
{
    const uint8_t means = tcall_reader_meaning_(reader, reader->provider->types,
                                                TCALL_MEANS_OTHER);
    if (field == TCALL_FIELD_TYPE) {
        reader->type = means;
        reader->ignored =
            means != TCALL_MEANS_CALL && means != TCALL_MEANS_TEXT;
        if (means == TCALL_MEANS_UNHANDLED)
            tcall_answer_stop_(&reader->answer, TCALL_STOP_OTHER, reader->word);
        /* What a stream says of it later has its number only. */
        if (means == TCALL_MEANS_OTHER && TCALL_STREAMS_ && !reader->whole)
            tcall_reader_open_(reader);
        return;
    }
    reader->event = means;
    if (means == TCALL_MEANS_ANSWER_ENDS)
        reader->complete = true;
    if (means == TCALL_MEANS_ELEMENT_ENDS)
        reader->stopped = true;
    if (means == TCALL_MEANS_ANSWER_BEGINS)
        reader->begins = true;
}

static int tcall_reader_number_(tcall_reader *reader, int field)
{
    const long number = tcall_digits_(reader->word);
    switch (field) {
    case TCALL_FIELD_INDEX:
        reader->index = (uint8_t)(number < 255 ? number + 1 : 0);
        break;
    case TCALL_FIELD_CHOICE_INDEX:
        reader->choice_known = true;
        reader->choice = (uint8_t)number & 7;
        if (number != reader->choice)
            return TCALL_E_PROTOCOL;
        break;
    case TCALL_FIELD_INPUT_TOKENS:
        if (number >= 0)
            reader->answer.input_tokens = number;
        break;
    default:
        if (number >= 0)
            reader->answer.output_tokens = number;
    }
    return TCALL_OK;
}

/* A short value is complete. */
static int tcall_reader_word_(tcall_reader *reader, int field)
{
    switch (field) {
    case TCALL_FIELD_TYPE:
    case TCALL_FIELD_EVENT: tcall_reader_type_word_(reader, field); break;
    case TCALL_FIELD_STOP:
    case TCALL_FIELD_STOP_REASON: tcall_reader_stop_word_(reader, field); break;
    case TCALL_FIELD_RETRY_DELAY:
        reader->answer.wait_ms = tcall_delay_ms_(reader->word);
        break;
    case TCALL_FIELD_ERROR_TYPE:
    case TCALL_FIELD_ERROR_CODE:
        tcall_answer_error_word_(&reader->answer,
                                 field == TCALL_FIELD_ERROR_CODE, reader->word);
        break;
    default: return tcall_reader_number_(reader, field);
    }
    return TCALL_OK;
}

static bool tcall_field_is_word_(int field)
{
    return field >= TCALL_FIELD_INDEX;
}

/* Is a value of this field, which begins with c, of no use? */
static bool tcall_reader_skips_part_(const tcall_reader *reader, int field,
                                     int part, char c)
{
    switch (field) {
    case TCALL_FIELD_REASONING_DATA:
    case TCALL_FIELD_SIGNATURE:
    case TCALL_FIELD_REASONING:
    case TCALL_FIELD_REASONING_TOO:
        if (!tcall_reasoning_takes_(reader, field, c))
            return true;
        break;
    case TCALL_FIELD_TEXT: return c != '"';
    case TCALL_FIELD_DELTA:
        if (c != '"')
            return true;
        break;
    default: break;
    }
    return reader->open && tcall_reader_len_(reader, reader->element, part);
}

/* A part of an element begins with c. */
static void tcall_reader_begin_part_(tcall_reader *reader, int field, int part,
                                     char c)
{
    reader->field = (uint8_t)field;
    if (reader->skip)
        return;
    if (field == TCALL_FIELD_ALL_ARGUMENTS) {
        reader->flags |= TCALL_FLAG_WHOLE_ | TCALL_FLAG_DEFAULT_;
        /* Arguments are text there; an object was never reported. */
        reader->fault = (int8_t)(c == '{' ? TCALL_E_BAD_VALUE : TCALL_OK);
    }
    if (field == TCALL_FIELD_ARGUMENTS && c == '{') {
        reader->flags |= TCALL_FLAG_DEFAULT_ | TCALL_FLAG_OBJECT_;
        reader->scan.wide = false;
    }
    reader->skip = tcall_reader_skips_part_(reader, field, part, c);
    /* Text and reasoning make an element even when they are empty. */
    if (!reader->skip && tcall_field_kind_(field) != TCALL_ITEM_CALL &&
        reader->in_element && reader->answer.error != TCALL_E_MEMORY)
        tcall_reader_open_(reader);
}

/* Is a text at hand certainly the model's, and of the first choice? A whole
 * answer may hold several, whose numbers may stand behind them. */
static bool tcall_reader_hears_(const tcall_reader *reader)
{
    if (reader->whole && reader->in_choice && !reader->choice_known)
        return false;
    return !reader->in_element || reader->type == TCALL_MEANS_TEXT;
}

/* The part of an element that the field is of, or -1. Text that certainly
 * counts is none, but goes to the answer at once. */
static int tcall_reader_part_of_(const tcall_reader *reader, int field)
{
    if (field == TCALL_FIELD_TEXT && tcall_reader_hears_(reader))
        return -1;
    return tcall_field_part_(field);
}

/* A value begins with c. What follows of it is skipped if it is null, or if
 * there is one already, as where a stream ends with the whole answer. */
static void tcall_reader_begin_(tcall_reader *reader, int field, char c)
{
    int part;
    reader->skip = c == 'n';
    if (tcall_field_is_word_(field)) {
        reader->word[0] = 0;
        return;
    }
    part = tcall_reader_part_of_(reader, field);
    if (reader->whole && reader->repeats &&
        (part >= 0 || field == TCALL_FIELD_TEXT))
        reader->skip = true;
    switch (field) {
    case TCALL_FIELD_ELEMENT: reader->in_element = true; break;
    case TCALL_FIELD_CHOICE: reader->in_choice = true; break;
    case TCALL_FIELD_IGNORE:
        if (c == 't' || c == '{')
            reader->ignored = true;
        break;
    case TCALL_FIELD_UNREAD:
        reader->fault = (int8_t)TCALL_E_UNHANDLED;
        reader->field = TCALL_FIELD_UNREAD;
        tcall_reader_open_(reader);
        break;
    case TCALL_FIELD_RESTART:
        if (c == '{')
            tcall_reader_clear_(reader);
        break;
    case TCALL_FIELD_WHOLE_ANSWER: reader->whole = c != 'n'; break;
    case TCALL_FIELD_ERROR:
        if (c == '{')
            reader->answer.error = TCALL_E_PROVIDER; /* fall through */
    case TCALL_FIELD_MESSAGE:
        if (reader->answer.message[0])
            reader->skip = true;
        break;
    default:
        if (part >= 0)
            tcall_reader_begin_part_(reader, field, part, c);
    }
}

/* A piece of a value. */
static void tcall_reader_data_(tcall_reader *reader, int field, tcall_str bytes)
{
    tcall_answer *answer = &reader->answer;
    int part;
    if (tcall_field_is_word_(field)) {
        tcall_append_cut_(reader->word, sizeof reader->word, bytes);
        return;
    }
    part = tcall_reader_part_of_(reader, field);
    if (part >= 0)
        tcall_reader_part_(reader, part, bytes);
    else if (field == TCALL_FIELD_TEXT)
        tcall_reader_text_(reader, bytes);
    else if (field == TCALL_FIELD_ERROR || field == TCALL_FIELD_MESSAGE) {
        if (field == TCALL_FIELD_ERROR)
            answer->error = TCALL_E_PROVIDER;
        tcall_append_cut_(answer->message, sizeof answer->message, bytes);
    }
}

/* A value is complete. A part outside of an element is one by itself. */
static int tcall_reader_complete_(tcall_reader *reader, int field)
{
    if (tcall_field_is_word_(field))
        return reader->skip ? TCALL_OK : tcall_reader_word_(reader, field);
    if (field == TCALL_FIELD_ARGUMENTS && reader->scan.wide)
        reader->flags &= (uint8_t)~TCALL_FLAG_OBJECT_; /* is looked into */
    if (field == TCALL_FIELD_CHOICE)
        tcall_reader_settle_all_(reader);
    else if (field == TCALL_FIELD_ELEMENT ||
             (!reader->in_element &&
              tcall_reader_part_of_(reader, field) >= 0)) {
        tcall_reader_element_end_(reader);
        /* Text that comes next is to stand after it. */
        if (reader->whole && reader->provider->quirks & TCALL_QUIRK_ORDERED)
            tcall_reader_settle_elements_(reader);
    }
    return TCALL_OK;
}

/* Keeps a piece of the current element as JSON text, as long as it may turn
 * out to be reasoning. */
static void tcall_reader_raw_piece_(tcall_reader *reader, tcall_str piece)
{
    if (!tcall_reasoning_may_come_(reader))
        return;
    if (!reader->keeping_raw)
        reader->keeping_raw =
            tcall_reader_place_(reader, &reader->raw, TCALL_ITEM_VOID_);
    if (reader->keeping_raw)
        tcall_reasoning_raw_piece_(reader, piece);
}

/* One event of the scanner. */
TCALL_SHARED_ int tcall_reader_on_(void *user, int field,
                                   tcall_scan_event event, tcall_str bytes)
{
    tcall_reader *reader = (tcall_reader *)user;
    reader->told = true;
    if (event == TCALL_SCAN_END)
        return tcall_reader_complete_(reader, field);
    if (event == TCALL_SCAN_BEGIN)
        tcall_reader_begin_(reader, field, *bytes.ptr);
    else if (field == TCALL_FIELD_ELEMENT)
        tcall_reader_raw_piece_(reader, bytes);
    else if (!reader->skip)
        tcall_reader_data_(reader, field, bytes);
    return TCALL_OK;
}

/* ==========================================================================
 * >>frames
 *
 * An answer is a document, an array of documents, documents in lines (NDJSON),
 * or server-sent events (SSE) whose data are documents.
 */

enum {
    TCALL_FRAME_START_,   /* which framing it is, is not known yet */
    TCALL_FRAME_LINE_,    /* SSE: at the name of a line's field */
    TCALL_FRAME_IGNORED_, /* SSE: in a line that does not matter */
    TCALL_FRAME_BETWEEN_, /* between two documents */
    TCALL_FRAME_DOCUMENT_
};

/* Bytes in a row of comments, blank lines and documents that say nothing: a
 * comment each second for an hour is less. */
enum { TCALL_MAX_SILENCE_ = 65536 };

/* Of what is no answer so much is shown, with its NUL: ASCII, the rest as
 * spaces. */
enum { TCALL_PAGE_ = 80 };

static void tcall_reader_fail_(tcall_reader *reader, int error)
{
    reader->broken = true;
    if (!reader->answer.error)
        reader->answer.error = error;
}

void tcall_reader_init(tcall_reader *reader, const tcall_provider *provider,
                       tcall_chat *chat,
                       void (*text)(void *user, tcall_str piece), void *user)
{
    memset(reader, 0, sizeof *reader);
    reader->provider = provider;
    reader->chat = chat;
    reader->text = text;
    reader->user = user;
    reader->start = reader->unmerged = reader->element = chat->block->low;
    reader->text_max = tcall_reader_free_(reader) / 2;
    reader->answer.input_tokens = reader->answer.output_tokens = -1;
    reader->answer.wait_ms = -1;
    if (tcall_reasoning_kept_(reader) != provider->reasoning &&
        !tcall_reasoning_is_free_(reader))
        tcall_reader_fail_(reader, TCALL_E_USAGE);
}

static void tcall_reader_begin_document_(tcall_reader *reader)
{
    const uint8_t half_row = reader->scan.half_row;
    const uint16_t half = reader->scan.half;
    reader->state = TCALL_FRAME_DOCUMENT_;
    if (!reader->any_document)
        reader->answer.message[0] = 0;
    reader->in_document = reader->any_document = true;
    reader->event = TCALL_MEANS_UNKNOWN;
    reader->whole = reader->told = false;
    reader->repeats =
        reader->unmerged > reader->start || reader->answer.text_cut;
    tcall_scan_init(&reader->scan, reader->provider->paths, tcall_reader_on_,
                    reader);
    reader->scan.split = TCALL_STREAMS_;
    reader->scan.half_row = half_row;
    reader->scan.half = half;
    tcall_scan_feed(&reader->scan, "{", 1);
}

static void tcall_reader_end_document_(tcall_reader *reader)
{
    tcall_reader_settle_all_(reader);
    reader->index = 0;
    reader->silent =
        reader->told ? 0 : reader->silent + (uint32_t)reader->scan.pos;
    if (reader->whole && !reader->begins)
        reader->complete = true;
    reader->in_document = false;
    reader->state = TCALL_FRAME_BETWEEN_;
}

static void tcall_reader_begin_line_(tcall_reader *reader)
{
    reader->state = TCALL_FRAME_LINE_;
    reader->match = 0;
}

/* Is it a stream of server-sent events? */
static bool tcall_reader_in_lines_(const tcall_reader *reader)
{
    return TCALL_STREAMS_ && reader->sse;
}

/* Takes bytes of a document, up to its end or, with SSE, to that of the line.
 * Returns where it stopped. */
static const char *tcall_reader_document_(tcall_reader *reader,
                                          const char *bytes, const char *end)
{
    const char *line_end = tcall_reader_in_lines_(reader) ? bytes : end;
    size_t before = reader->scan.pos;
    int error;
    if (end - bytes == 1 && tcall_scan_plain_byte_(&reader->scan, bytes))
        return end;
    while (line_end < end && *line_end != '\n' && *line_end != '\r')
        line_end++;
    end = line_end < end ? line_end + 1 : end;
    error = tcall_scan_feed(&reader->scan, bytes, (size_t)(end - bytes));
    bytes += reader->scan.pos - before;
    if (tcall_scan_done_(&reader->scan))
        tcall_reader_end_document_(reader);
    else if (error)
        tcall_reader_fail_(reader, error);
    if (tcall_reader_in_lines_(reader) && bytes > line_end) {
        tcall_reader_begin_line_(reader);
        reader->after_cr = *line_end == '\r';
    }
    return bytes;
}

/* Keeps the beginning of what may be no answer. */
static void tcall_reader_page_(tcall_reader *reader, char c)
{
    if (!reader->any_document)
        tcall_append_cut_(reader->answer.message, TCALL_PAGE_,
                          tcall_slice_(c >= ' ' && c < 0x7F ? &c : " ", 1));
}

/* The name of an SSE field: those of "data:" count, and of "error:", which
 * llama.cpp used to write. A document may go on in the next line. */
static void tcall_reader_line_byte_(tcall_reader *reader, char c)
{
    static const char names[] = "data:error:";
    if (reader->match == 0 && c == 'e')
        reader->match = 5;
    if (c != names[reader->match++])
        reader->state = TCALL_FRAME_IGNORED_;
    else if (c == ':')
        reader->state =
            reader->in_document ? TCALL_FRAME_DOCUMENT_ : TCALL_FRAME_BETWEEN_;
}

/* Between documents there are white space, the brackets and commas of an array
 * of documents, and the [DONE] of OpenAI, which is no JSON. */
static void tcall_reader_byte_between_(tcall_reader *reader, char c)
{
    if (c == '{' && (TCALL_STREAMS_ || !reader->any_document)) {
        tcall_reader_begin_document_(reader);
    } else if (c == 'D' && tcall_reader_in_lines_(reader)) {
        reader->complete = true;
        reader->state = TCALL_FRAME_IGNORED_;
    } else if (!tcall_is_space_(c) && !strchr("[,]", c)) {
        tcall_reader_fail_(reader, TCALL_E_PROTOCOL);
    }
}

/* A line of SSE ends. A blank one ends its event, which no document outlives.
 */
static void tcall_reader_line_end_(tcall_reader *reader)
{
    if (reader->state == TCALL_FRAME_LINE_ && reader->in_document &&
        reader->match == 0)
        tcall_reader_fail_(reader, TCALL_E_TRUNCATED);
    tcall_reader_begin_line_(reader);
}

/* Takes a byte outside of documents. */
static void tcall_reader_byte_(tcall_reader *reader, char c)
{
    bool after_cr = reader->after_cr;
    reader->silent++;
    reader->after_cr = tcall_reader_in_lines_(reader) && c == '\r';
    if (c == '\n' && after_cr)
        return;
    if (reader->state == TCALL_FRAME_START_) {
        if (tcall_is_space_(c) || c & 0x80) /* a byte order mark */
            return;
        reader->sse = c != '{' && c != '[';
        reader->state = tcall_reader_in_lines_(reader) ? TCALL_FRAME_LINE_
                                                       : TCALL_FRAME_BETWEEN_;
    }
    tcall_reader_page_(reader, c);
    if (tcall_reader_in_lines_(reader) && (c == '\n' || c == '\r'))
        tcall_reader_line_end_(reader);
    else if (TCALL_STREAMS_ && reader->state == TCALL_FRAME_LINE_)
        tcall_reader_line_byte_(reader, c);
    else if (reader->state == TCALL_FRAME_BETWEEN_)
        tcall_reader_byte_between_(reader, c);
}

/* Before the first document the message has the beginning of what came. */
static void tcall_reader_fail_silence_(tcall_reader *reader)
{
    tcall_answer *answer = &reader->answer;
    tcall_reader_fail_(reader, TCALL_E_LIMIT);
    if (!reader->any_document)
        return;
    answer->message[0] = 0;
    tcall_append_cut_(answer->message, sizeof answer->message,
                      tcall_str_of("comments or empty events without end"));
}

int tcall_reader_feed(tcall_reader *reader, const char *bytes, size_t len)
{
    const char *end = bytes + len;
    while (bytes < end && !reader->broken)
        if (reader->state == TCALL_FRAME_DOCUMENT_)
            bytes = tcall_reader_document_(reader, bytes, end);
        else
            tcall_reader_byte_(reader, *bytes++);
    if (reader->silent > TCALL_MAX_SILENCE_ && !reader->broken)
        tcall_reader_fail_silence_(reader);
    while (bytes < end)
        tcall_reader_page_(reader, *bytes++);
    return reader->broken ? reader->answer.error : TCALL_OK;
}

/* ---- the end ---- */

/* Adds what the current element cannot do without. */
static bool tcall_reader_add_(tcall_reader *reader, int part, tcall_str bytes)
{
    if (!tcall_reader_need_(reader, bytes.len))
        return false;
    tcall_reader_append_(reader, reader->element, part, bytes);
    return true;
}

/* Notes whether arguments are an object. Those that came as one were checked
 * with the answer; others are text that nobody has looked into. */
static void tcall_reader_note_object_(tcall_item_head_ *head)
{
    tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_);
    if (!text.len)
        head->flags &= (uint8_t)~TCALL_FLAG_OBJECT_;
    else if (!(head->flags & TCALL_FLAG_OBJECT_) && tcall_is_object_text_(text))
        head->flags |= TCALL_FLAG_OBJECT_;
}

/* Completes a call. Returns false if there is nothing of it. */
static bool tcall_reader_finish_call_(tcall_reader *reader)
{
    tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
    char id[9];
    if (!tcall_head_len_(head, TCALL_PART_NAME_) &&
        !tcall_head_len_(head, TCALL_PART_TEXT_) && !head->error) {
        reader->answer.unread = true;
        return false;
    }
    if (!tcall_head_len_(head, TCALL_PART_ID_)) {
        head->flags |= TCALL_FLAG_SYNTHETIC_ID_;
        if (!tcall_reader_add_(reader, TCALL_PART_ID_,
                               tcall_chat_make_id_(reader->chat, id)))
            return false;
    }
    head = tcall_reader_head_(reader, reader->element);
    tcall_reader_note_object_(head);
    if (tcall_reasoning_kept_(reader) == TCALL_REASONING_SIGNATURES &&
        !tcall_head_len_(head, TCALL_PART_SIGNATURE_))
        head->flags |= TCALL_FLAG_UNSIGNED_;
    reader->unmerged = reader->element;
    reader->answer.calls++;
    return true;
}

/* Completes the item at reader->element. Returns false if it is removed. */
static bool tcall_reader_finish_item_(tcall_reader *reader)
{
    const tcall_item_head_ *head = tcall_reader_head_(reader, reader->element);
    if (head->kind == TCALL_ITEM_CALL)
        return tcall_reader_finish_call_(reader);
    if (tcall_is_reasoning_(head) ? !tcall_reasoning_is_some_(reader, head)
                                  : head->kind != TCALL_ITEM_TEXT)
        return false;
    if (head->kind == TCALL_ITEM_TEXT &&
        !tcall_head_len_(head, TCALL_PART_SIGNATURE_))
        return true;
    return tcall_reader_add_(reader, TCALL_PART_NAME_,
                             tcall_str_of(reader->provider->name));
}

/* Completes all items of a whole answer; reader->unmerged is the last call
 * then. */
TCALL_NOINLINE_ static void tcall_reader_finish_(tcall_reader *reader)
{
    reader->element = reader->start;
    while (reader->element < reader->chat->block->low) {
        const bool stays = tcall_reader_finish_item_(reader);
        if (reader->answer.error)
            return;
        if (stays)
            reader->element = tcall_reader_next_(reader, reader->element);
        else
            tcall_reader_remove_(reader, reader->element);
    }
    if (reader->cut && reader->answer.calls) {
        tcall_item_head_ *last = tcall_reader_head_(reader, reader->unmerged);
        if (last->error != TCALL_E_MEMORY)
            last->error = (int8_t)TCALL_E_CUT;
    }
    if (reader->answer.text_cut && reader->has_text) {
        tcall_str text = tcall_head_part_(
            tcall_reader_head_(reader, reader->text_at), TCALL_PART_TEXT_);
        tcall_reader_resize_(reader, reader->text_at, TCALL_PART_TEXT_,
                             tcall_utf8_whole_(text));
    }
}

/* Is the answer over, and was it an answer? */
static void tcall_reader_check_end_(tcall_reader *reader)
{
    tcall_answer *answer = &reader->answer;
    bool all_finished =
        reader->finished && !(reader->began & ~reader->finished);
    if (all_finished && !reader->begins)
        reader->complete = true;
    if (answer->error)
        return;
    if (answer->message[0] && reader->any_document && !reader->complete)
        answer->error = TCALL_E_PROVIDER;
    else if (!reader->complete || reader->in_document)
        answer->error = reader->sse && !reader->any_document
                            ? TCALL_E_PROTOCOL
                            : TCALL_E_TRUNCATED;
}

/* Says how large the block should have been. */
static void tcall_reader_note_need_(tcall_reader *reader)
{
    tcall_block *block = reader->chat->block;
    size_t dropped = reader->answer.reasoning_dropped;
    size_t need =
        block->low + block->high + reader->missing + dropped + TCALL_RESERVE_;
    if (dropped) /* there was more at a time than is left in the end */
        need = (need <= block->size ? block->size + dropped : need) +
               TCALL_RESERVE_;
    if (reader->missing + dropped && need > block->need)
        block->need = need;
}

int tcall_reader_end(tcall_reader *reader)
{
    tcall_answer *answer = &reader->answer;
    bool cut;
    answer->message[tcall_utf8_whole_(tcall_str_of(answer->message))] = 0;
    tcall_reader_check_end_(reader);
    if (!answer->error)
        tcall_reader_finish_(reader);
    if (!answer->error && !answer->calls && !reader->has_text)
        tcall_answer_check_empty_(answer);
    if (!answer->error)
        answer->message[0] = 0;
    if (tcall_reasoning_is_free_(reader))
        answer->reasoning_dropped = 0;
    tcall_reader_note_need_(reader);
    cut = reader->cut || answer->text_cut;
    if (!answer->error && reader->text_calls && !answer->calls &&
        reader->has_text)
        tcall_text_calls_(reader->chat, reader->text_at, answer, cut);
    if (answer->error)
        reader->chat->block->low = reader->start;
    return answer->error;
}

/* ==========================================================================
 * >>openai
 */

#ifdef TCALL_HAS_OPENAI_

#define TCALL_OPENAI_PATHS_(X)                                            \
    X(1, 0, 0, "usage")                                                   \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "prompt_tokens")                    \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, TCALL_PATH_LAST, "completion_tokens") \
    X(1, TCALL_FIELD_ERROR, TCALL_PATH_ROOT, "error")                     \
    X(1, TCALL_FIELD_MESSAGE, 0, "message")                               \
    X(1, TCALL_FIELD_MESSAGE, TCALL_PATH_RAW, "detail")                   \
    X(1, TCALL_FIELD_ERROR_CODE, 0, "code")                               \
    X(1, TCALL_FIELD_ERROR_TYPE, 0, "type")                               \
    X(1, 0, TCALL_PATH_LAST, "choices")                                   \
    X(2, TCALL_FIELD_CHOICE, 0, "*")                                      \
    X(3, TCALL_FIELD_CHOICE_INDEX, 0, "index")                            \
    X(3, TCALL_FIELD_STOP, 0, "finish_reason")                            \
    X(3, TCALL_FIELD_STOP_REASON, 0,                                      \
      "native_finish_reason")                         /* of OpenRouter */ \
    X(3, TCALL_FIELD_ERROR, TCALL_PATH_ROOT, "error") /* likewise */      \
    X(3, 0, TCALL_PATH_ALIAS_NEXT, "delta")                               \
    X(3, TCALL_FIELD_WHOLE_ANSWER, TCALL_PATH_LAST, "message")            \
    X(4, TCALL_FIELD_ELEMENT, 0,                                          \
      "function_call") /* before there were tools */                      \
    X(5, TCALL_FIELD_NAME, 0, "name")                                     \
    X(5, TCALL_FIELD_ARGUMENTS, 0, "arguments")                           \
    X(4, TCALL_FIELD_REASONING, 0, "reasoning_content")                   \
    X(4, TCALL_FIELD_REASONING_TOO, 0, "reasoning")                       \
    X(4, TCALL_FIELD_REASONING_DATA, TCALL_PATH_RAW, "reasoning_details") \
    X(4, TCALL_FIELD_TEXT, 0, "refusal")                                  \
    X(4, TCALL_FIELD_TEXT, 0, "content")                                  \
    X(5, 0, 0, "*") /* Mistral may send parts */                          \
    X(6, TCALL_FIELD_TEXT, 0, "text")                                     \
    X(6, 0, 0, "thinking")                                                \
    X(7, 0, 0, "*")                                                       \
    X(8, TCALL_FIELD_REASONING, 0, "text")                                \
    X(4, 0, TCALL_PATH_LAST, "tool_calls")                                \
    X(5, TCALL_FIELD_ELEMENT, 0, "*")                                     \
    X(6, TCALL_FIELD_INDEX, 0, "index")                                   \
    X(6, TCALL_FIELD_ID, 0, "id")                                         \
    X(6, 0, 0, "extra_content")                                           \
    X(7, 0, 0, "google")                                                  \
    X(8, TCALL_FIELD_SIGNATURE, 0, "thought_signature")                   \
    X(6, 0, TCALL_PATH_ALIAS_NEXT, "custom")                              \
    X(6, 0, TCALL_PATH_LAST, "function")                                  \
    X(7, TCALL_FIELD_NAME, 0, "name")                                     \
    X(7, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "arguments")              \
    X(7, TCALL_FIELD_ARGUMENTS, 0, "input") /* of a custom tool */

TCALL_PATHS(tcall_openai_paths_, TCALL_OPENAI_PATHS_)

/* Servers that speak this format have words of their own; "error" is said by
 * OpenRouter where the model's provider failed in the middle of an answer. */
static const tcall_word tcall_openai_stops_[] = {
    {"stop", TCALL_STOP_END},
    {"eos", TCALL_STOP_END},
    {"end_turn", TCALL_STOP_END},
    {"tool_calls", TCALL_STOP_TOOL_CALLS},
    {"function_call", TCALL_STOP_TOOL_CALLS},
    {"length", TCALL_STOP_LENGTH},
    {"model_length", TCALL_STOP_LENGTH},
    {"max_tokens", TCALL_STOP_LENGTH},
    {"max_output_tokens", TCALL_STOP_LENGTH},
    {"MAX_TOKENS", TCALL_STOP_LENGTH},
    {"insufficient_system_resource", TCALL_STOP_LENGTH},
    {"error", TCALL_STOP_LENGTH},
    {"content_filter", TCALL_STOP_CONTENT_FILTER},
    {NULL, 0},
};

/* No element and no event has a type here. */
static const tcall_word tcall_openai_types_[] = {{NULL, 0}};

/* Arguments are a string. There is no flag for an error, the text says it. Only
 * calls of Gemini have a signature. */
static const tcall_forms_ tcall_openai_forms_ = {
    "{'role':'user','content':%t}",
    NULL,
    "{'id':%i,'type':'function','function':{'name':%n,'arguments':%q}"
    "<,'extra_content':{'google':{'thought_signature':%s}}>}",
    "{'role':'tool','tool_call_id':%i,'content':%r}",
    "{'role':'tool','tool_call_id':%i,'content':%r}",
    NULL,
    NULL};

/* {"model":...,"messages":[...],"tools":[...],"stream":true}. Usage is reported
 * in a stream only when it is asked for. */
TCALL_SHARED_ int tcall_openai_body_(const tcall_provider *provider,
                                     tcall_writer *out,
                                     const tcall_chat_request *request,
                                     const tcall_server_ *server)
{
    bool short_name = (provider->quirks & TCALL_QUIRK_MAX_TOKENS) != 0;
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_messages_(provider, out, request, &tcall_openai_forms_, server);
    if (tcall_write_tools_(provider, out, request, &tcall_function_tools_))
        tcall_write_choice_(
            provider, out, request,
            "'tool_choice':{'type':'function','function':{'name':%n}}");
    tcall_write_max_tokens_(out, request,
                            short_name ? "max_tokens" : "max_completion_tokens",
                            request->max_tokens);
    if (request->stream && !(provider->quirks & TCALL_QUIRK_NO_USAGE))
        tcall_write_form_(out, "'stream_options':{'include_usage':true}", NULL);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

static int tcall_openai_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    return tcall_openai_body_(provider, out, request, NULL);
}

TCALL_DATA_ const tcall_provider tcall_openai = {"openai",
                                                 "https://api.openai.com",
                                                 "/v1/chat/completions",
                                                 NULL,
                                                 "Authorization",
                                                 "Bearer ",
                                                 {NULL, NULL},
                                                 tcall_openai_write_,
                                                 &tcall_openai_paths_,
                                                 tcall_openai_stops_,
                                                 tcall_openai_types_,
                                                 TCALL_REASONING_NONE,
                                                 TCALL_STRICT_OPENAI,
                                                 0,
                                                 NULL};

#endif /* TCALL_HAS_OPENAI_ */

/* ==========================================================================
 * >>anthropic
 *
 * An event of a stream is itself the element of a call: index and type may
 * stand before it or after it.
 */

#ifdef TCALL_HAS_ANTHROPIC_

#define TCALL_ANTHROPIC_PATHS_(X)                                          \
    X(1, TCALL_FIELD_EVENT, 0, "type")                                     \
    X(1, TCALL_FIELD_INDEX, 0, "index")                                    \
    X(1, TCALL_FIELD_STOP, 0, "stop_reason")                               \
    X(1, TCALL_FIELD_RESTART, 0, "message")                                \
    X(2, 0, 0, "usage")                                                    \
    X(3, TCALL_FIELD_INPUT_TOKENS, 0, "input_tokens")                      \
    X(3, TCALL_FIELD_OUTPUT_TOKENS, 0, "output_tokens")                    \
    X(1, 0, 0, "usage")                                                    \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "input_tokens")                      \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, 0, "output_tokens")                    \
    X(1, TCALL_FIELD_ERROR, 0, "error")                                    \
    X(2, TCALL_FIELD_ERROR_TYPE, 0, "type")                                \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")                                \
    X(1, TCALL_FIELD_ELEMENT, 0, "delta")                                  \
    X(2, TCALL_FIELD_ARGUMENTS, 0, "partial_json")                         \
    X(2, TCALL_FIELD_TEXT, 0, "text")                                      \
    X(2, TCALL_FIELD_REASONING, 0, "thinking")                             \
    X(2, TCALL_FIELD_SIGNATURE, 0, "signature")                            \
    X(2, TCALL_FIELD_STOP, TCALL_PATH_LAST, "stop_reason")                 \
    X(1, TCALL_FIELD_ELEMENT, 0, "content_block")                          \
    X(2, TCALL_FIELD_TYPE, 0, "type")                                      \
    X(2, TCALL_FIELD_ID, 0, "id")                                          \
    X(2, TCALL_FIELD_NAME, 0, "name")                                      \
    X(2, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "input")                   \
    X(2, TCALL_FIELD_REASONING, 0, "thinking")                             \
    X(2, TCALL_FIELD_REASONING_DATA, 0, "data") /* of redacted thinking */ \
    X(2, TCALL_FIELD_SIGNATURE, 0, "signature")                            \
    X(2, TCALL_FIELD_TEXT, TCALL_PATH_LAST, "text")                        \
    X(1, TCALL_FIELD_WHOLE_ANSWER, TCALL_PATH_LAST, "content")             \
    X(2, TCALL_FIELD_ELEMENT, 0, "*")                                      \
    X(3, TCALL_FIELD_TYPE, 0, "type")                                      \
    X(3, TCALL_FIELD_ID, 0, "id")                                          \
    X(3, TCALL_FIELD_NAME, 0, "name")                                      \
    X(3, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "input")                   \
    X(3, TCALL_FIELD_TEXT, 0, "text")                                      \
    X(3, TCALL_FIELD_REASONING, 0, "thinking")                             \
    X(3, TCALL_FIELD_REASONING_DATA, 0, "data")                            \
    X(3, TCALL_FIELD_SIGNATURE, 0, "signature")

TCALL_PATHS(tcall_anthropic_paths_, TCALL_ANTHROPIC_PATHS_)

/* "pause_turn" is no reason of ours: it is of tools that Anthropic runs, which
 * want to be called again. */
static const tcall_word tcall_anthropic_stops_[] = {
    {"end_turn", TCALL_STOP_END},
    {"stop_sequence", TCALL_STOP_END},
    {"tool_use", TCALL_STOP_TOOL_CALLS},
    {"max_tokens", TCALL_STOP_LENGTH},
    {"model_context_window_exceeded", TCALL_STOP_LENGTH},
    {"refusal", TCALL_STOP_CONTENT_FILTER},
    {NULL, 0},
};

/* Of blocks, and the event that ends a stream. */
static const tcall_word tcall_anthropic_types_[] = {
    {"message_stop", TCALL_MEANS_ANSWER_ENDS},
    {"tool_use", TCALL_MEANS_CALL},
    {"text", TCALL_MEANS_TEXT},
    {"thinking", TCALL_MEANS_REASONING},
    {"redacted_thinking", TCALL_MEANS_REASONING},
    {NULL, 0},
};

/* Reasoning that was encrypted is "redacted". Either goes back to the byte, or
 * the signature does not fit. */
static const tcall_forms_ tcall_anthropic_forms_ = {
    "{'type':'text','text':%t}",
    "{'type':'text','text':%t}",
    "{'type':'tool_use','id':%i,'name':%n,'input':%a}",
    "{'type':'tool_result','tool_use_id':%i,'content':%t}",
    "{'type':'tool_result','tool_use_id':%i,'content':%t,'is_error':true}",
    "{'type':'thinking','thinking':%t,'signature':%s}",
    "{'type':'redacted_thinking','data':%t}"};

static const char *const tcall_anthropic_roles_[2] = {
    "{'role':'assistant','content':[", "{'role':'user','content':["};

static const tcall_tool_form_ tcall_anthropic_tools_ = {
    "'tools':[", "{", "input_schema", "}", "]", false};

/* {"type":"tool","name":"f","disable_parallel_tool_use":true}: that there may
 * be only one call is said in the choice, for which "none" has no room. */
static void tcall_anthropic_choice_(const tcall_provider *provider,
                                    tcall_writer *out,
                                    const tcall_chat_request *request)
{
    static const char *const forms[] = {
        "'tool_choice':{'type':'auto'", "'tool_choice':{'type':'none'",
        "'tool_choice':{'type':'any'",
        "'tool_choice':{'type':'tool','name':%n"};
    tcall_choice choice = request->choice;
    if (choice > TCALL_CHOICE_NONE && provider->quirks & TCALL_QUIRK_NO_FORCE)
        choice = TCALL_CHOICE_AUTO;
    if (choice == TCALL_CHOICE_AUTO && !request->no_parallel)
        return;
    tcall_write_named_(out, forms[choice], request->choice_name);
    if (request->no_parallel && choice != TCALL_CHOICE_NONE)
        tcall_write_flag_(out, "disable_parallel_tool_use", true);
    tcall_write_text(out, "}");
}

/* {"model":...,"max_tokens":...,"system":"...","messages":[...],"tools":[...]};
 * the system prompt is no message. */
static int tcall_anthropic_write_(const tcall_provider *provider,
                                  tcall_writer *out,
                                  const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    /* The one format in which a limit must be given, and thinking counts. */
    tcall_write_max_tokens_(out, request, "max_tokens",
                            request->max_tokens > 0 ? request->max_tokens
                                                    : 8192);
    if (request->cache_prompt && !tcall_is_extra_(request, "cache_control"))
        tcall_write_form_(out, "'cache_control':{'type':'ephemeral'}", NULL);
    tcall_write_optional_(out, "system", request->system);
    tcall_write_form_(out, "'messages':[", NULL);
    tcall_write_turns_(provider, out, request, &tcall_anthropic_forms_,
                       tcall_anthropic_roles_);
    tcall_write_text(out, "]");
    if (tcall_write_tools_(provider, out, request, &tcall_anthropic_tools_))
        tcall_anthropic_choice_(provider, out, request);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

TCALL_DATA_ const tcall_provider tcall_anthropic = {
    "anthropic",
    "https://api.anthropic.com",
    "/v1/messages",
    NULL,
    "x-api-key",
    "",
    {"anthropic-version", "2023-06-01"},
    tcall_anthropic_write_,
    &tcall_anthropic_paths_,
    tcall_anthropic_stops_,
    tcall_anthropic_types_,
    TCALL_REASONING_DATA, /* as thinking and redacted_thinking */
    TCALL_STRICT_ANTHROPIC,
    TCALL_QUIRK_PLAIN_IDS | TCALL_QUIRK_BOUND_REASONING | TCALL_QUIRK_ORDERED |
        TCALL_QUIRK_NO_FORCE,
    NULL};

#endif /* TCALL_HAS_ANTHROPIC_ */

/* ==========================================================================
 * >>ollama
 *
 * Calls come whole, and their numbers mean nothing: each is a new one.
 */

#ifdef TCALL_HAS_OLLAMA_

#define TCALL_OLLAMA_PATHS_(X)                               \
    X(1, 0, 0, "message")                                    \
    X(2, TCALL_FIELD_TEXT, 0, "content")                     \
    X(2, TCALL_FIELD_REASONING, 0, "thinking")               \
    X(2, 0, 0, "tool_calls")                                 \
    X(3, TCALL_FIELD_ELEMENT, 0, "*")                        \
    X(4, TCALL_FIELD_ID, 0, "id")                            \
    X(4, 0, 0, "function")                                   \
    X(5, TCALL_FIELD_NAME, 0, "name")                        \
    X(5, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "arguments") \
    X(1, TCALL_FIELD_EVENT, 0, "done")                       \
    X(1, TCALL_FIELD_STOP, 0, "done_reason")                 \
    X(1, TCALL_FIELD_INPUT_TOKENS, 0, "prompt_eval_count")   \
    X(1, TCALL_FIELD_OUTPUT_TOKENS, 0, "eval_count")         \
    X(1, TCALL_FIELD_ERROR, 0, "error")                      \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")

TCALL_PATHS(tcall_ollama_paths_, TCALL_OLLAMA_PATHS_)

static const tcall_word tcall_ollama_stops_[] = {
    {"stop", TCALL_STOP_END},
    {"length", TCALL_STOP_LENGTH},
    {NULL, 0},
};

/* The event is the value of "done". */
static const tcall_word tcall_ollama_types_[] = {
    {"true", TCALL_MEANS_ANSWER_ENDS},
    {NULL, 0},
};

/* Arguments are an object. Of a result, templates of models use the name, the
 * server itself the id. */
static const tcall_forms_ tcall_ollama_forms_ = {
    "{'role':'user','content':%t}",
    NULL,
    "{'id':%i,'function':{'name':%n,'arguments':%a}}",
    "{'role':'tool','tool_name':%n,'tool_call_id':%i,'content':%r}",
    "{'role':'tool','tool_name':%n,'tool_call_id':%i,'content':%r}",
    NULL,
    NULL};

/* {"model":...,"messages":[...],"tools":[...],"options":{...},"stream":true} */
static int tcall_ollama_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_messages_(provider, out, request, &tcall_ollama_forms_, NULL);
    tcall_write_tools_(provider, out, request, &tcall_function_tools_);
    if ((request->max_tokens > 0 || request->context > 0) &&
        !tcall_is_extra_(request, "options")) {
        tcall_write_form_(out, "'options':{", NULL);
        tcall_write_limit_(out, "num_ctx", request->context);
        tcall_write_limit_(out, "num_predict", request->max_tokens);
        tcall_write_text(out, "}");
    }
    /* It streams unless it is told not to. */
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

TCALL_DATA_ const tcall_provider tcall_ollama = {"ollama",
                                                 "http://127.0.0.1:11434",
                                                 "/api/chat",
                                                 NULL,
                                                 "Authorization",
                                                 "Bearer ",
                                                 {NULL, NULL},
                                                 tcall_ollama_write_,
                                                 &tcall_ollama_paths_,
                                                 tcall_ollama_stops_,
                                                 tcall_ollama_types_,
                                                 TCALL_REASONING_TEXT,
                                                 TCALL_STRICT_OLLAMA,
                                                 TCALL_QUIRK_WEAK_CHOICE |
                                                     TCALL_QUIRK_SAY_CONTEXT |
                                                     TCALL_QUIRK_FREE_REASONING,
                                                 "thinking"};

#endif /* TCALL_HAS_OLLAMA_ */

/* ==========================================================================
 * >>responses
 *
 * A stream says everything three times: in pieces, at their end, and in the
 * item; servers differ in which they fill, so the longest counts. The type of
 * an event says what its piece is of. Reasoning goes back as it came.
 */

#ifdef TCALL_HAS_RESPONSES_

#define TCALL_RESPONSES_PATHS_(X)                                            \
    X(1, TCALL_FIELD_EVENT, 0, "type")                                       \
    X(1, TCALL_FIELD_INDEX, 0, "output_index")                               \
    X(1, TCALL_FIELD_DELTA, 0, "delta")                                      \
    X(1, TCALL_FIELD_DELTA, 0, "arguments")                                  \
    X(1, TCALL_FIELD_ELEMENT, TCALL_PATH_RAW, "item")                        \
    X(2, TCALL_FIELD_TYPE, 0, "type")                                        \
    X(2, TCALL_FIELD_ID, 0, "call_id")                                       \
    X(2, TCALL_FIELD_NAME, 0, "name")                                        \
    X(2, TCALL_FIELD_SIGNATURE, 0, "phase") /* of a text, goes back */       \
    X(2, TCALL_FIELD_ALL_ARGUMENTS, TCALL_PATH_RAW, "arguments")             \
    X(2, TCALL_FIELD_ALL_ARGUMENTS, 0, "input")                              \
    X(1, 0, TCALL_PATH_ROOT, "response") /* of a stream, as the whole one */ \
    X(1, TCALL_FIELD_STOP, 0, "status")                                      \
    X(1, 0, 0, "incomplete_details")                                         \
    X(2, TCALL_FIELD_STOP_REASON, 0, "reason")                               \
    X(1, 0, 0, "usage")                                                      \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "input_tokens")                        \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, 0, "output_tokens")                      \
    X(1, TCALL_FIELD_ERROR, 0, "error")                                      \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")                                  \
    X(2, TCALL_FIELD_ERROR_CODE, 0, "code")                                  \
    X(2, TCALL_FIELD_ERROR_TYPE, 0, "type")                                  \
    X(1, TCALL_FIELD_MESSAGE, 0, "message")                                  \
    X(1, TCALL_FIELD_MESSAGE, TCALL_PATH_RAW, "detail")                      \
    X(1, TCALL_FIELD_ERROR_CODE, 0, "code")                                  \
    X(1, TCALL_FIELD_WHOLE_ANSWER, TCALL_PATH_LAST, "output")                \
    X(2, TCALL_FIELD_ELEMENT, TCALL_PATH_RAW, "*")                           \
    X(3, TCALL_FIELD_TYPE, 0, "type")                                        \
    X(3, TCALL_FIELD_ID, 0, "call_id")                                       \
    X(3, TCALL_FIELD_NAME, 0, "name")                                        \
    X(3, TCALL_FIELD_SIGNATURE, 0, "phase")                                  \
    X(3, TCALL_FIELD_ALL_ARGUMENTS, TCALL_PATH_RAW, "arguments")             \
    X(3, TCALL_FIELD_ALL_ARGUMENTS, 0, "input")                              \
    X(3, 0, 0, "content")                                                    \
    X(4, 0, 0, "*")                                                          \
    X(5, TCALL_FIELD_TEXT, 0, "text")                                        \
    X(5, TCALL_FIELD_TEXT, 0, "refusal")

TCALL_PATHS(tcall_responses_paths_, TCALL_RESPONSES_PATHS_)

/* The status of the answer, and the reason where it is incomplete. */
static const tcall_word tcall_responses_stops_[] = {
    {"in_progress", TCALL_STOP_UNKNOWN},
    {"queued", TCALL_STOP_UNKNOWN},
    {"completed", TCALL_STOP_END},
    {"incomplete", TCALL_STOP_LENGTH},
    {"cancelled", TCALL_STOP_LENGTH},
    {"max_output_tokens", TCALL_STOP_LENGTH},
    {"content_filter", TCALL_STOP_CONTENT_FILTER},
    {NULL, 0},
};

/* Types of items, and of the events of a stream, which never meet. What is not
 * here, as web searches, is no item of ours. */
static const tcall_word tcall_responses_types_[] = {
    {"function_call", TCALL_MEANS_CALL},
    {"custom_tool_call", TCALL_MEANS_CALL},
    {"message", TCALL_MEANS_TEXT},
    {"reasoning", TCALL_MEANS_REASONING},
    {"computer_call", TCALL_MEANS_UNHANDLED},
    {"shell_call", TCALL_MEANS_UNHANDLED},
    {"local_shell_call", TCALL_MEANS_UNHANDLED},
    {"apply_patch_call", TCALL_MEANS_UNHANDLED},
    {"mcp_approval_request", TCALL_MEANS_UNHANDLED},
    {"response.created", TCALL_MEANS_ANSWER_BEGINS},
    {"response.in_progress", TCALL_MEANS_ANSWER_BEGINS},
    {"response.output_item.added", TCALL_MEANS_ELEMENT_BEGINS},
    {"response.output_item.done", TCALL_MEANS_ELEMENT_ENDS},
    {"response.output_text.delta", TCALL_MEANS_TEXT},
    {"response.refusal.delta", TCALL_MEANS_TEXT},
    {"response.function_call_arguments.delta", TCALL_MEANS_ARGUMENTS},
    {"response.function_call_arguments.done", TCALL_MEANS_ALL_ARGUMENTS},
    {"response.custom_tool_call_input.delta", TCALL_MEANS_ARGUMENTS},
    {"response.completed", TCALL_MEANS_ANSWER_ENDS},
    {"response.incomplete", TCALL_MEANS_ANSWER_ENDS},
    {"response.failed", TCALL_MEANS_ANSWER_ENDS},
    {NULL, 0},
};

/* Every item is an element of its own; a reasoning is its own JSON text, id and
 * encrypted content included. */
static const tcall_forms_ tcall_responses_forms_ = {
    "{'role':'user','content':%t}",
    "{'type':'message','role':'assistant'<,'phase':%s>,'content':%t}",
    "{'type':'function_call','call_id':%i,'name':%n,'arguments':%q}",
    "{'type':'function_call_output','call_id':%i,'output':%r}",
    "{'type':'function_call_output','call_id':%i,'output':%r}",
    "%j",
    "%j"};

/* They are flat, where Chat Completions nests, and without a word they would be
 * strict. */
static const tcall_tool_form_ tcall_responses_tools_ = {
    "'tools':[", "{'type':'function'", "parameters", "}", "]", true};

/* The conversation is a flat list: there are no messages with parts. */
static void tcall_responses_input_(const tcall_provider *provider,
                                   tcall_writer *out,
                                   const tcall_chat_request *request)
{
    tcall_history_ history = tcall_history_of_(provider, request->chat);
    tcall_item item;
    tcall_write_form_(out, "'input':[", NULL);
    while (tcall_history_next_(&history, out, &item))
        if (!tcall_item_is_blank_(&item))
            tcall_write_form_(
                out, tcall_form_of_(&tcall_responses_forms_, &item), &item);
    tcall_write_text(out, "]");
}

/* {"model":...,"instructions":"...","input":[...],"tools":[...],"store":false}
 */
static int tcall_responses_write_(const tcall_provider *provider,
                                  tcall_writer *out,
                                  const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_optional_(out, "instructions", request->system);
    tcall_responses_input_(provider, out, request);
    if (tcall_write_tools_(provider, out, request, &tcall_responses_tools_))
        tcall_write_choice_(provider, out, request,
                            "'tool_choice':{'type':'function','name':%n}");
    tcall_write_max_tokens_(out, request, "max_output_tokens",
                            request->max_tokens);
    /* Nothing is kept on the server: the reasoning has to come along. */
    tcall_write_flag_(out, "store", false);
    if (provider->quirks & TCALL_QUIRK_ASK_REASONING &&
        !tcall_is_extra_(request, "include"))
        tcall_write_form_(out, "'include':['reasoning.encrypted_content']",
                          NULL);
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

TCALL_DATA_ const tcall_provider tcall_responses = {"responses",
                                                    "https://api.openai.com",
                                                    "/v1/responses",
                                                    NULL,
                                                    "Authorization",
                                                    "Bearer ",
                                                    {NULL, NULL},
                                                    tcall_responses_write_,
                                                    &tcall_responses_paths_,
                                                    tcall_responses_stops_,
                                                    tcall_responses_types_,
                                                    TCALL_REASONING_ELEMENTS,
                                                    TCALL_STRICT_OPENAI,
                                                    TCALL_QUIRK_ORDERED,
                                                    NULL};

#endif /* TCALL_HAS_RESPONSES_ */

/* ==========================================================================
 * >>gemini
 *
 * A call is a part of what the model says and comes whole. A part may bear a
 * signature, which has to go back with the same part. Results must be objects.
 */

#ifdef TCALL_HAS_GEMINI_

#define TCALL_GEMINI_PATHS_(X)                                               \
    X(1, 0, 0, "usageMetadata")                                              \
    X(2, TCALL_FIELD_INPUT_TOKENS, 0, "promptTokenCount")                    \
    X(2, TCALL_FIELD_OUTPUT_TOKENS, TCALL_PATH_LAST, "candidatesTokenCount") \
    X(1, 0, 0, "promptFeedback")                                             \
    X(2, TCALL_FIELD_STOP, 0, "blockReason")                                 \
    X(2, TCALL_FIELD_MESSAGE, TCALL_PATH_LAST, "blockReasonMessage")         \
    X(1, TCALL_FIELD_ERROR, 0, "error")                                      \
    X(2, TCALL_FIELD_MESSAGE, 0, "message")                                  \
    X(2, TCALL_FIELD_ERROR_CODE, 0, "status")                                \
    X(2, 0, 0, "details")                                                    \
    X(3, 0, 0, "*")                                                          \
    X(4, TCALL_FIELD_RETRY_DELAY, 0, "retryDelay")                           \
    X(1, 0, TCALL_PATH_LAST, "candidates")                                   \
    X(2, TCALL_FIELD_CHOICE, 0, "*")                                         \
    X(3, TCALL_FIELD_CHOICE_INDEX, 0, "index")                               \
    X(3, TCALL_FIELD_STOP, 0, "finishReason")                                \
    X(3, TCALL_FIELD_MESSAGE, 0, "finishMessage")                            \
    X(3, 0, TCALL_PATH_LAST, "content")                                      \
    X(4, 0, 0, "parts")                                                      \
    X(5, TCALL_FIELD_ELEMENT, 0, "*")                                        \
    X(6, TCALL_FIELD_SIGNATURE, 0, "thoughtSignature")                       \
    X(6, TCALL_FIELD_TEXT, 0, "text")                                        \
    X(6, TCALL_FIELD_IGNORE, 0, "thought")                                   \
    X(6, TCALL_FIELD_IGNORE, 0, "toolCall") /* those that Google runs */     \
    X(6, TCALL_FIELD_IGNORE, 0, "toolResponse")                              \
    X(6, 0, TCALL_PATH_LAST, "functionCall")                                 \
    X(7, TCALL_FIELD_ID, 0, "id")                                            \
    X(7, TCALL_FIELD_NAME, 0, "name")                                        \
    X(7, TCALL_FIELD_ARGUMENTS, TCALL_PATH_RAW, "args")                      \
    X(7, TCALL_FIELD_UNREAD, 0,                                              \
      "partialArgs") /* patches, which are never asked for */

TCALL_PATHS(tcall_gemini_paths_, TCALL_GEMINI_PATHS_)

/* By name or by number: protobuf's JSON allows both for an enum. */
static const tcall_word tcall_gemini_stops_[] = {
    {"STOP", TCALL_STOP_END},
    {"1", TCALL_STOP_END},
    {"MAX_TOKENS", TCALL_STOP_LENGTH},
    {"2", TCALL_STOP_LENGTH},
    {"SAFETY", TCALL_STOP_CONTENT_FILTER},
    {"3", TCALL_STOP_CONTENT_FILTER},
    {"RECITATION", TCALL_STOP_CONTENT_FILTER},
    {"4", TCALL_STOP_CONTENT_FILTER},
    {"BLOCKLIST", TCALL_STOP_CONTENT_FILTER},
    {"PROHIBITED_CONTENT", TCALL_STOP_CONTENT_FILTER},
    {"SPII", TCALL_STOP_CONTENT_FILTER},
    {"IMAGE_SAFETY", TCALL_STOP_CONTENT_FILTER},
    {"JAILBREAK", TCALL_STOP_CONTENT_FILTER},
    {"MODEL_ARMOR", TCALL_STOP_CONTENT_FILTER},
    {"LANGUAGE", TCALL_STOP_CONTENT_FILTER},
    {"OTHER", TCALL_STOP_CONTENT_FILTER}, /* Google's name of a filter */
    {NULL, 0},
};

/* No element and no event has a type here. */
static const tcall_word tcall_gemini_types_[] = {{NULL, 0}};

/* Everything that is said is a part. An id that was made up here is none of
 * Google's: only names connect then. A response has to be an object, and
 * "error" is the member for a failure. Signatures are of parts: there is no
 * reasoning by itself. */
static const tcall_forms_ tcall_gemini_forms_ = {
    "{'text':%t<,'thoughtSignature':%s>}",
    "{'text':%t<,'thoughtSignature':%s>}",
    "{'functionCall':{'name':%n,'args':%a<,'id':%m>}"
    "<,'thoughtSignature':%s>}",
    "{'functionResponse':{'name':%n,'response':{'output':%t}<,'id':%m>}}",
    "{'functionResponse':{'name':%n,'response':{'error':%t}<,'id':%m>}}",
    NULL,
    NULL};

static const char *const tcall_gemini_roles_[2] = {"{'role':'model','parts':[",
                                                   "{'role':'user','parts':["};

/* The older "parameters" takes a part of JSON Schema only. */
static const tcall_tool_form_ tcall_gemini_tools_ = {
    "'tools':[{'functionDeclarations':[",
    "{",
    "parametersJsonSchema",
    "}",
    "]}]",
    false};

static void tcall_gemini_choice_(tcall_writer *out,
                                 const tcall_chat_request *request)
{
    static const char *const forms[] = {
        NULL, "'toolConfig':{'functionCallingConfig':{'mode':'NONE'}}",
        "'toolConfig':{'functionCallingConfig':{'mode':'ANY'}}",
        "'toolConfig':{'functionCallingConfig':{'mode':'ANY',"
        "'allowedFunctionNames':[%n]}}"};
    if (request->choice != TCALL_CHOICE_AUTO)
        tcall_write_named_(out, forms[request->choice], request->choice_name);
}

/* {"contents":[...],"systemInstruction":{...},"tools":[...]}; the model and
 * whether it streams are in the path. */
static int tcall_gemini_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_form_(out, "'contents':[", NULL);
    tcall_write_turns_(provider, out, request, &tcall_gemini_forms_,
                       tcall_gemini_roles_);
    tcall_write_text(out, "]");
    if (request->system && *request->system)
        tcall_write_named_(out, "'systemInstruction':{'parts':[{'text':%n}]}",
                           request->system);
    if (tcall_write_tools_(provider, out, request, &tcall_gemini_tools_))
        tcall_gemini_choice_(out, request);
    if (request->max_tokens > 0 &&
        !tcall_is_extra_(request, "generationConfig")) {
        tcall_write_form_(out, "'generationConfig':{", NULL);
        tcall_write_limit_(out, "maxOutputTokens", request->max_tokens);
        tcall_write_text(out, "}");
    }
    return tcall_write_body_end_(out, request);
}

TCALL_DATA_ const tcall_provider tcall_gemini = {
    "gemini",
    "https://generativelanguage.googleapis.com",
    "/v1beta/models/{model}:generateContent",
    "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    "x-goog-api-key",
    "",
    {NULL, NULL},
    tcall_gemini_write_,
    &tcall_gemini_paths_,
    tcall_gemini_stops_,
    tcall_gemini_types_,
    TCALL_REASONING_SIGNATURES,
    TCALL_STRICT_NONE,
    0,
    NULL};

#endif /* TCALL_HAS_GEMINI_ */

/* ==========================================================================
 * >>servers
 */

#ifdef TCALL_HAS_SERVERS_

/* ---- reasoning details of OpenRouter ---- */

/* They are lists of objects, one list after the other as they were streamed. A
 * detail may come in pieces, objects of one type and index; it has to go back
 * whole, because its signature is of the whole. */

/* The members of a piece that are put together. */
static const struct {
    const char *key;
    bool joined; /* one text; of others the last piece's counts */
} tcall_detail_members_[] = {{"text", true},
                             {"summary", true},
                             {"signature", false},
                             {"id", false},
                             {"format", false}};

typedef struct tcall_detail_ {
    const char *first; /* its first piece */
    const char *next;  /* the piece after its last one, or NULL */
    const char *end;   /* of the text */
} tcall_detail_;

/* Returns the next object of such lists, or NULL at the end. */
static const char *tcall_next_piece_(const char *p, const char *end)
{
    while (p < end && (strchr("[],", *p) || tcall_is_space_(*p)))
        p++;
    return p < end && *p == '{' ? p : NULL;
}

/* Have both pieces this member, with the same value? */
static bool tcall_same_member_(const char *a, const char *b, const char *key)
{
    a = tcall_text_get_(a, key);
    b = tcall_text_get_(b, key);
    return a && b &&
           tcall_str_eq(tcall_text_verbatim_(a), tcall_text_verbatim_(b));
}

/* Finds the pieces of the detail that begins here. Data stands for itself. */
static tcall_detail_ tcall_detail_of_(const char *first, const char *end)
{
    tcall_detail_ detail;
    const char *piece = first;
    do
        piece = tcall_next_piece_(tcall_text_skip_(piece), end);
    while (piece && tcall_same_member_(first, piece, "type") &&
           tcall_same_member_(first, piece, "index") &&
           !tcall_text_get_(piece, "data"));
    detail.first = first;
    detail.next = piece;
    detail.end = end;
    return detail;
}

/* Gives the next text that a piece has under this key, NULL at the end. */
static const char *tcall_detail_text_(const tcall_detail_ *detail,
                                      const char **piece, const char *key)
{
    const char *text = NULL;
    while (*piece && *piece != detail->next && !text) {
        text = tcall_text_get_(*piece, key);
        if (text && *text != '"')
            text = NULL;
        *piece = tcall_next_piece_(tcall_text_skip_(*piece), detail->end);
    }
    return text;
}

/* Writes the texts of all pieces as one. They are joined as they are, escapes
 * and all: each begins and ends at whole characters. */
static void tcall_write_joined_(tcall_writer *out, const tcall_detail_ *detail,
                                const char *key)
{
    const char *piece = detail->first;
    const char *text = tcall_detail_text_(detail, &piece, key);
    if (!text)
        return;
    tcall_write_key(out, key);
    tcall_write_char_(out, '"');
    for (; text; text = tcall_detail_text_(detail, &piece, key)) {
        tcall_str inner = tcall_text_inner_(text);
        tcall_write_bytes(out, inner.ptr, inner.len);
    }
    tcall_write_char_(out, '"');
}

/* Writes the text that came last: a signature is in the last piece. */
static void tcall_write_last_(tcall_writer *out, const tcall_detail_ *detail,
                              const char *key)
{
    const char *piece = detail->first, *text, *last = NULL;
    while ((text = tcall_detail_text_(detail, &piece, key)) != NULL)
        last = text;
    if (!last)
        return;
    tcall_write_key(out, key);
    tcall_write_verbatim(out, tcall_text_verbatim_(last));
}

/* Is the key, quotes included, one of those that are put together? */
static bool tcall_is_detail_member_(const char *key)
{
    size_t i;
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_detail_members_); i++)
        if (tcall_text_is_(key, tcall_detail_members_[i].key))
            return true;
    return false;
}

/* Writes the pieces of a detail as one: what is put together comes after the
 * first piece's other members. */
static void tcall_write_detail_(tcall_writer *out, const tcall_detail_ *detail)
{
    const char *key = tcall_text_next_(detail->first + 1), *end;
    size_t i;
    tcall_write_open(out, '{');
    for (; !tcall_text_closes_(key); key = tcall_text_next_(end)) {
        end = tcall_text_skip_(tcall_text_value_(key));
        if (!tcall_is_detail_member_(key))
            tcall_write_verbatim(out, tcall_slice_(key, (size_t)(end - key)));
    }
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_detail_members_); i++)
        if (tcall_detail_members_[i].joined)
            tcall_write_joined_(out, detail, tcall_detail_members_[i].key);
        else
            tcall_write_last_(out, detail, tcall_detail_members_[i].key);
    tcall_write_close(out, '}');
}

/* Writes reasoning as it came, but whole: {"reasoning_details":[...]}. */
static void tcall_write_details_(tcall_writer *out, tcall_str pieces)
{
    const char *end = pieces.ptr + pieces.len;
    const char *piece = tcall_next_piece_(pieces.ptr, end);
    tcall_write_form_(out, "'reasoning_details':[", NULL);
    while (piece) {
        tcall_detail_ detail = tcall_detail_of_(piece, end);
        if (detail.next == tcall_next_piece_(tcall_text_skip_(piece), end))
            tcall_write_verbatim(out, tcall_text_verbatim_(piece));
        else
            tcall_write_detail_(out, &detail);
        piece = detail.next;
    }
    tcall_write_text(out, "]");
}

static const tcall_server_ tcall_server_details_ = {tcall_write_details_};

static int tcall_server_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    return tcall_openai_body_(provider, out, request, &tcall_server_details_);
}

#define TCALL_X_(name, url, path, header, prefix, reasoning, member, strict, \
                 quirks)                                                     \
    TCALL_DATA_ const tcall_provider tcall_##name = {#name,                  \
                                                     url,                    \
                                                     path,                   \
                                                     NULL,                   \
                                                     header,                 \
                                                     prefix,                 \
                                                     {NULL, NULL},           \
                                                     tcall_server_write_,    \
                                                     &tcall_openai_paths_,   \
                                                     tcall_openai_stops_,    \
                                                     tcall_openai_types_,    \
                                                     reasoning,              \
                                                     strict,                 \
                                                     quirks,                 \
                                                     member};
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_

#endif /* TCALL_HAS_SERVERS_ */

/* ==========================================================================
 * >>providers
 */

/* A chapter that was left out, or whose file was deleted, defines no
 * TCALL_HAS_..._ in its contract. */
static const tcall_provider *const tcall_providers_[] = {
#ifdef TCALL_HAS_OPENAI_
    &tcall_openai,
#endif
#ifdef TCALL_HAS_RESPONSES_
    &tcall_responses,
#endif
#ifdef TCALL_HAS_ANTHROPIC_
    &tcall_anthropic,
#endif
#ifdef TCALL_HAS_OLLAMA_
    &tcall_ollama,
#endif
#ifdef TCALL_HAS_GEMINI_
    &tcall_gemini,
#endif
#ifdef TCALL_HAS_SERVERS_
#define TCALL_X_(name, ...) &tcall_##name,
    TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif
        NULL};

const tcall_provider *tcall_provider_named(const char *name)
{
    const tcall_provider *const *provider = tcall_providers_;
    while (*provider && strcmp((*provider)->name, name) != 0)
        provider++;
    return *provider;
}

/* ==========================================================================
 * >>mend: calls go back as they were understood
 *
 * A call whose arguments were read leniently stands in the conversation as what
 * it was read as: the model must not see another call than the one that ran.
 * What cannot be read as an object goes back without arguments, and so does an
 * object with a key twice, of which each reader makes something else.
 */

/* Writes what the text is read as to the end of the free part of the block.
 * Empty: it cannot be read, or there is no room. */
static tcall_str tcall_mended_(tcall_block *block, tcall_str text, bool strict)
{
    tcall_str mended = tcall_slice_(NULL, 0);
    size_t room = tcall_block_free_(block);
    tcall_arguments args;
    tcall_writer writer;
    char *gap = tcall_block_gap_(block);
    if (tcall_parse_arguments(&args, text, strict, gap, room) < 0)
        return mended;
    room -= args.used;
    tcall_writer_init(&writer, gap + args.used, room);
    /* Where it lies now must stay free when it is longer than the text was. */
    if (tcall_write_json(&writer, args.root) < 0 ||
        (writer.fill > text.len && room < 2 * writer.fill - text.len))
        return mended;
    mended.ptr = gap + args.used + room - writer.fill;
    mended.len = writer.fill;
    memmove(gap + args.used + room - writer.fill, writer.buf, writer.fill);
    return mended;
}

static bool tcall_has_key_twice_(tcall_block *block, tcall_str object)
{
    tcall_arguments args;
    return tcall_parse_arguments(&args, object, true, tcall_block_gap_(block),
                                 tcall_block_free_(block)) == TCALL_E_DUPLICATE;
}

/* Mends the calls from this place of the chat on. Nothing may refer to its
 * items meanwhile. strict: nothing is read leniently. */
TCALL_SHARED_ void tcall_chat_mend_(tcall_chat *chat, size_t from, bool strict)
{
    tcall_block *block = chat->block;
    size_t at = chat->start + from;
    for (; at < block->low; at += tcall_head_size_(tcall_head_at_(chat, at))) {
        tcall_item_head_ *head = tcall_head_at_(chat, at);
        tcall_str text = tcall_head_part_(head, TCALL_PART_TEXT_), mended;
        size_t end = at + tcall_head_size_(head);
        if (head->kind != TCALL_ITEM_CALL || head->error || !text.len)
            continue;
        if (head->flags & TCALL_FLAG_OBJECT_) {
            if (tcall_has_key_twice_(block, text))
                head->flags &= (uint8_t)~TCALL_FLAG_OBJECT_;
            continue;
        }
        mended = tcall_mended_(block, text, strict);
        if (!mended.len)
            continue;
        tcall_chat_shift_(chat, end, end - text.len + mended.len);
        tcall_head_set_len_(head, TCALL_PART_TEXT_, mended.len);
        tcall_copy_(block->base + end - text.len, mended);
        head->flags |= TCALL_FLAG_OBJECT_;
    }
}

/* ==========================================================================
 * >>agent_desc: is a desc complete, and is what it adds to requests allowed
 */

#ifndef TOOLCALL_NO_AGENT

/* What desc asks for and this program was built without, as a sentence. */
static const char *tcall_agent_left_out_(const tcall_agent_desc *desc)
{
    (void)desc;
#ifdef TOOLCALL_NO_PICK
    if (desc->pick_opts)
        return "pick_opts needs the chapter that TOOLCALL_NO_PICK leaves out";
#endif
#ifdef TOOLCALL_NO_TEXT_CALLS
    if (desc->text_calls)
        return "text_calls needs the chapter that TOOLCALL_NO_TEXT_CALLS "
               "leaves out";
#endif
#ifdef TOOLCALL_NO_STREAM
    if (desc->stream)
        return "stream needs the chapter that TOOLCALL_NO_STREAM leaves out";
#endif
#ifdef TOOLCALL_NO_REASONING
    if (desc->provider->reasoning &&
        !(desc->provider->quirks & TCALL_QUIRK_FREE_REASONING))
        return "provider has reasoning that goes back to it, which "
               "TOOLCALL_NO_REASONING leaves out";
#endif
#ifdef TOOLCALL_NO_RETRY
    if (desc->max_tries > 1)
        return "max_tries above 1 needs what TOOLCALL_NO_RETRY leaves out";
#endif
    return NULL;
}

/* Members of the body that the library writes: it has no second ones. */
static const char *const tcall_agent_own_members_[] = {
    "model",       "messages",      "system",
    "contents",    "input",         "instructions",
    "tools",       "stream",        "systemInstruction",
    "store",       "toolConfig",    "parallel_tool_calls",
    "tool_choice", "stream_options"};

static const char *tcall_agent_extra_problem_(const char *extra)
{
    size_t i;
    if (!extra)
        return NULL;
    if (!tcall_is_object_text_(tcall_str_of(extra)))
        return "extra must be the text of one JSON object";
    for (i = 0; i < TCALL_ARRAY_LEN(tcall_agent_own_members_); i++)
        if (tcall_text_get_(tcall_text_space_(extra),
                            tcall_agent_own_members_[i]))
            return "extra holds a member that each request has already";
    return NULL;
}

/* Names of headers are the same in capitals. */
static bool tcall_agent_same_name_(const char *name, const char *other)
{
    while (*name && tcall_to_lower_(*name) == tcall_to_lower_(*other))
        name++, other++;
    return tcall_to_lower_(*name) == tcall_to_lower_(*other);
}

/* Can it stand in a header? A line break would begin another one. */
static bool tcall_agent_is_value_(const char *text)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7F)
            return false;
    return true;
}

/* A header of the user by this name, or NULL. */
TCALL_SHARED_ const tcall_header *
tcall_agent_header_named_(const tcall_agent_desc *desc, const char *name)
{
    size_t i;
    for (i = 0; name && i < desc->header_count; i++)
        if (tcall_agent_same_name_(desc->headers[i].name, name))
            return &desc->headers[i];
    return NULL;
}

static const char *tcall_agent_headers_problem_(const tcall_agent_desc *desc)
{
    size_t i;
    if (desc->header_count > TCALL_AGENT_HEADERS)
        return "headers are too many: at most TCALL_AGENT_HEADERS";
    for (i = 0; i < desc->header_count; i++) {
        const tcall_header *header = &desc->headers[i];
        if (!header->name || !tcall_name_fits_(header->name, ".", 64, false))
            return "a header's name must be letters, digits, '-', '_' or '.'";
        if (!tcall_agent_is_value_(header->value) ||
            !tcall_agent_is_value_(header->secret))
            return "a header's value must not hold control characters";
    }
    if (tcall_agent_header_named_(desc, "Content-Type") ||
        tcall_agent_header_named_(desc, "Content-Length") ||
        tcall_agent_header_named_(desc, "Transfer-Encoding") ||
        tcall_agent_header_named_(desc, "Host"))
        return "headers hold one that each request has already";
    if (desc->key &&
        tcall_agent_header_named_(desc, desc->provider->key_header))
        return "headers hold the one that carries the key: leave one out";
    return NULL;
}

/* What is wrong with what the user adds to requests, or NULL. */
TCALL_SHARED_ const char *
tcall_agent_added_problem_(const tcall_agent_desc *desc)
{
    const char *problem = tcall_agent_extra_problem_(desc->extra);
    return problem ? problem : tcall_agent_headers_problem_(desc);
}

/* What desc lacks, as a sentence, or NULL. */
TCALL_SHARED_ const char *tcall_agent_problem_(const tcall_agent_desc *desc)
{
    const tcall_transport *transport = &desc->transport;
    if (!desc->tc)
        return "tc is missing: set a tcall up with tcall_init and name it";
    if (tcall_usable_(desc->tc) < 0)
        return "tc cannot be used: tcall_init was not called, or it failed";
    if (!desc->provider)
        return "provider is missing: name one, such as &tcall_openai";
    if (!desc->model || !*desc->model)
        return "model is missing: give the name that the provider knows";
    if (!desc->provider->write || !desc->provider->paths)
        return "provider is empty: name one, such as &tcall_openai";
    if (!desc->path && !desc->provider->path)
        return "path is missing: this provider has none of its own";
    if (!transport->open || !transport->write || !transport->read ||
        !transport->close)
        return "transport is incomplete: open, write, read and close are "
               "required";
    if (desc->max_ms && !transport->now_ms)
        return "max_ms needs a clock: set transport.now_ms";
    if (tcall_agent_left_out_(desc))
        return tcall_agent_left_out_(desc);
    return tcall_agent_added_problem_(desc);
}

/* A number below zero is no limit anybody meant: it counts as zero does. */
TCALL_SHARED_ void tcall_agent_defaults_(tcall_agent_desc *desc)
{
    const tcall_provider *provider = desc->provider;
    if (!desc->io_size)
        desc->io_size = 512;
    if (desc->max_rounds <= 0)
        desc->max_rounds = 8;
    if (desc->max_calls <= 0)
        desc->max_calls = 32;
    if (desc->max_tries <= 0)
        desc->max_tries = 3;
    if (!desc->max_wait_ms)
        desc->max_wait_ms = 60000;
    if (!desc->path)
        desc->path = desc->stream && provider->stream_path
                         ? provider->stream_path
                         : provider->path;
}

#endif /* TOOLCALL_NO_AGENT */

/* ==========================================================================
 * >>agent_calls: the calls of an answer get their results
 *
 * They are run in batches, or, in a plan, answered by whoever made it. Each
 * call gets one result, whatever becomes of the turn.
 */

#ifndef TOOLCALL_NO_AGENT

enum {
    TCALL_AGENT_UNSET_,  /* tcall_agent_init was not called, or refused */
    TCALL_AGENT_IDLE_,   /* no turn */
    TCALL_AGENT_PAUSE_,  /* before the request is sent again */
    TCALL_AGENT_OPEN_,   /* count the request's bytes, connect */
    TCALL_AGENT_SEND_,   /* write the request */
    TCALL_AGENT_READ_,   /* read the answer */
    TCALL_AGENT_CALLS_,  /* run what it asks for, one call each step */
    TCALL_AGENT_PLANNED_ /* calls wait for tcall_agent_result */
};

/* Without a clock no time ever passes: limits were refused at the start, and
 * nothing is sent again. */
TCALL_SHARED_ uint32_t tcall_agent_now_(const tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    return transport->now_ms ? transport->now_ms(transport->user) : 0;
}

/* Returns why no further round may begin, or TCALL_OK. */
TCALL_SHARED_ int tcall_agent_over_(const tcall_agent *agent)
{
    uint32_t limit = agent->desc.max_ms;
    if (agent->cancelled)
        return TCALL_E_CANCELLED;
    if (limit && tcall_agent_now_(agent) - agent->turn.started >= limit)
        return TCALL_E_TIMEOUT;
    if (agent->desc.max_turn_tokens &&
        agent->turn.tokens >= agent->desc.max_turn_tokens)
        return TCALL_E_LIMIT;
    return TCALL_OK;
}

/* Finds the index-th call of the last answer. */
static bool tcall_agent_find_call_(const tcall_agent *agent, int index,
                                   tcall_item *item)
{
    size_t at = agent->answer_at;
    while (tcall_chat_next(&agent->chat, &at, item))
        if (item->kind == TCALL_ITEM_CALL && index-- == 0)
            return true;
    return false;
}

/* The call as it came, not hydrated yet. */
TCALL_NOINLINE_ static bool tcall_agent_asked_(const tcall_agent *agent,
                                               int index, tcall_call *call)
{
    tcall_item item;
    memset(call, 0, sizeof *call);
    if (!tcall_agent_find_call_(agent, index, &item))
        return false;
    call->id = item.id;
    call->name = item.name;
    call->arguments = item.text;
    call->incomplete = item.error;
    call->provider = agent->desc.provider->name;
    call->turn = &agent->turn;
    return true;
}

/* Calls of an answer are in the conversation only until the next one begins. */
int tcall_agent_call(tcall_agent *agent, int index, tcall_call *call)
{
    bool answered = agent->state == TCALL_AGENT_CALLS_ ||
                    agent->state == TCALL_AGENT_PLANNED_;
    if (!answered || index < 0 || !tcall_agent_asked_(agent, index, call))
        return TCALL_E_USAGE;
    return tcall_hydrate(agent->desc.tc, call);
}

/* A result belongs to its call by the id; the name is for providers that want
 * it once more. */
static int tcall_agent_add_result_(tcall_agent *agent, const tcall_call *call,
                                   tcall_str text, int error)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_RESULT;
    item.id = call->id;
    item.name = call->name;
    item.text = text;
    item.error = error;
    return tcall_chat_add(&agent->chat, &item);
}

/* All calls have their results, so that nothing refers to them any more. */
static void tcall_agent_mend_(tcall_agent *agent)
{
    tcall_chat_mend_(&agent->chat, agent->answer_at,
                     agent->desc.tc->desc.strict_json);
}

/* Does a call of the last answer with this id have no result yet? */
static bool tcall_agent_lacks_result_(const tcall_agent *agent, tcall_str id)
{
    size_t at = agent->answer_at;
    int lacks = 0;
    tcall_item item;
    while (tcall_chat_next(&agent->chat, &at, &item))
        if (tcall_str_eq(item.id, id))
            lacks += (item.kind == TCALL_ITEM_CALL) -
                     (item.kind == TCALL_ITEM_RESULT);
    return lacks > 0;
}

int tcall_agent_result(tcall_agent *agent, const tcall_call *call,
                       tcall_str text, bool error)
{
    int result;
    if (agent->state != TCALL_AGENT_PLANNED_ ||
        !tcall_agent_lacks_result_(agent, call->id))
        return TCALL_E_USAGE;
    result = tcall_agent_add_result_(agent, call, text,
                                     error ? TCALL_E_FAILED : TCALL_OK);
    if (result < 0)
        return result;
    if (++agent->call_at == (size_t)agent->answer.calls) {
        tcall_agent_mend_(agent);
        agent->state = TCALL_AGENT_OPEN_;
    }
    return TCALL_OK;
}

/* Has one of the first count calls of the batch the same id as the next? */
static bool tcall_agent_same_id_(const tcall_agent *agent, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (tcall_str_eq(agent->batch[i].id, agent->batch[count].id))
            return true;
    return false;
}

/* Room for so many calls at a time: in the block, or for one in the agent. */
static int tcall_agent_batch_room_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    int left = agent->answer.calls - (int)agent->call_at;
    int count = agent->desc.parallel < left ? agent->desc.parallel : left;
    agent->batch_high = block->high;
    agent->batch = NULL;
    if (count > 1)
        agent->batch = (tcall_call *)tcall_block_take_(
            block, (size_t)count * sizeof *agent->batch);
    if (agent->batch)
        return count;
    agent->batch = &agent->call;
    return 1;
}

/* Takes up the calls that come next, as many as may be under way. */
TCALL_NOINLINE_ static void tcall_agent_batch_(tcall_agent *agent)
{
    int room = tcall_agent_batch_room_(agent), count;
    for (count = 0; count < room; count++) {
        tcall_call *call = &agent->batch[count];
        int error = tcall_agent_call(agent, (int)agent->call_at + count, call);
        /* One that has the id of another, or no memory beside it, waits until
         * those before it are done. */
        if (tcall_agent_same_id_(agent, count) ||
            (error == TCALL_E_MEMORY && count > 0)) {
            tcall_release(agent->desc.tc, call);
            break;
        }
        /* It still gets a result, which says that the limit is reached. */
        if (++agent->turn.calls > agent->desc.max_calls ||
            (agent->desc.no_parallel && agent->call_at + (size_t)count > 0))
            tcall_cancel(call, TCALL_E_LIMIT);
    }
    agent->batch_count = count;
    agent->delivered = agent->current = agent->waiting = agent->asking = 0;
}

/* Moves the results that are next in order to the chat: text is that of the
 * first, those after it were kept. */
static int tcall_agent_deliver_(tcall_agent *agent, tcall_str text)
{
    while (agent->delivered < agent->batch_count) {
        const tcall_call *call = &agent->batch[agent->delivered];
        int error;
        if (call->cx.state != TCALL_DONE_)
            break;
        error = tcall_agent_add_result_(agent, call, text, call->error);
        if (error < 0)
            return error;
        if (++agent->delivered < agent->batch_count)
            text = agent->batch[agent->delivered].cx.result.output;
    }
    return TCALL_OK;
}

/* Gives one call of the batch its turn. The result is written where its item
 * will lie, and kept in the block if others come before it. */
TCALL_NOINLINE_ static int tcall_agent_turn_(tcall_agent *agent, int over)
{
    tcall *tc = agent->desc.tc;
    tcall_block *block = &tc->block;
    tcall_call *call = &agent->batch[agent->current];
    size_t head = TCALL_HEAD_ + call->id.len + call->name.len, room;
    tcall_writer *out = &agent->out;
    int result;
    if (over < 0)
        tcall_cancel(call, over);
    if (!tcall_block_room_(block, head))
        return TCALL_E_MEMORY;
    /* A quarter of what is free is for the call itself. */
    room = tcall_block_free_(block) - head;
    room -= room / 4;
    tcall_writer_init(out, tcall_block_gap_(block) + head, room);
    /* Nobody else may take the room while the tool writes there. */
    block->low += head + room;
    result = tcall_invoke(tc, call, out);
    block->low -= head + room;
    if (out->error == TCALL_E_MEMORY) /* only to say how much would do */
        tcall_block_room_(block, head + out->len + out->len / 3 + 8);
    if (tcall_waits_(result))
        return result;
    if (out->error)
        return out->error;
    if (agent->current == agent->delivered)
        return tcall_agent_deliver_(agent, tcall_slice_(out->buf, out->fill));
    return tcall_keep_(&call->cx, call->cx.result.output,
                       &call->cx.result.output);
}

/* Adds what a call waits for, counted from now. */
static void tcall_agent_await_(tcall_agent *agent, const tcall_call *call)
{
    uint32_t spent = tcall_agent_now_(agent) - call->cx.wait_began;
    tcall_wait wait = call->cx.wait;
    if (wait.ms != TCALL_WAIT_NEVER)
        wait.ms = wait.ms > spent ? wait.ms - spent : 0;
    tcall_wait_merge(&agent->wait, &wait);
}

/* A call that only waits for a time is left alone until then: the agent may be
 * called more often than it has to. */
static bool tcall_agent_due_(const tcall_agent *agent, const tcall_call *call)
{
    const tcall_ctx *cx = &call->cx;
    if (!cx->state || cx->stop < 0 || cx->approval_asked || cx->wait.count ||
        !agent->desc.transport.now_ms)
        return true;
    return tcall_agent_now_(agent) - cx->wait_began >= cx->wait.ms;
}

/* Turns to the next call of the batch that is not done. Only where all of them
 * wait, so does the turn: for approval where all of them do that. */
static int tcall_agent_rotate_(tcall_agent *agent, int result)
{
    bool waits = tcall_waits_(result), asks = result == TCALL_E_APPROVAL;
    int open = 0, i;
    for (i = 0; i < agent->batch_count; i++)
        open += agent->batch[i].cx.state != TCALL_DONE_;
    do
        agent->current = (agent->current + 1) % agent->batch_count;
    while (agent->batch[agent->current].cx.state == TCALL_DONE_);
    agent->waiting = waits ? agent->waiting + 1 : 0;
    agent->asking = asks ? agent->asking + 1 : 0;
    if (agent->waiting < open)
        return TCALL_E_AGAIN;
    for (i = 0; i < agent->batch_count; i++)
        if (agent->batch[i].cx.state != TCALL_DONE_)
            tcall_agent_await_(agent, &agent->batch[i]);
    asks = agent->asking >= open;
    agent->waiting = 0;
    if (asks)
        agent->asking = 0;
    return asks ? TCALL_E_APPROVAL : TCALL_E_AGAIN;
}

/* All of the batch have their results: takes up the next calls, or begins the
 * next round. */
static int tcall_agent_batch_done_(tcall_agent *agent, int over)
{
    agent->call_at += (size_t)agent->batch_count;
    agent->batch_count = 0;
    agent->desc.tc->block.high = agent->batch_high;
    if (agent->call_at < (size_t)agent->answer.calls)
        return TCALL_E_AGAIN;
    tcall_agent_mend_(agent);
    if (over < 0)
        return over;
    agent->state = TCALL_AGENT_OPEN_;
    return TCALL_E_AGAIN;
}

/* Runs one call for a while. Where the turn is over, calls that are under way
 * are told so and still get their results: each call must have one. */
TCALL_NOINLINE_ TCALL_SHARED_ int tcall_agent_run_call_(tcall_agent *agent)
{
    int over = tcall_agent_over_(agent), result;
    tcall_call *call;
    if (!agent->batch_count)
        tcall_agent_batch_(agent);
    call = &agent->batch[agent->current];
    result = TCALL_E_AGAIN;
    if (over < 0 || tcall_agent_due_(agent, call)) {
        result = tcall_agent_turn_(agent, over);
        call->cx.wait_began = tcall_agent_now_(agent);
    }
    if (result < 0 && !tcall_waits_(result))
        return result;
    return agent->delivered < agent->batch_count
               ? tcall_agent_rotate_(agent, result)
               : tcall_agent_batch_done_(agent, over);
}

/* Calls that are under way come to their end, whatever becomes of the turn:
 * what they hold is released. Nobody reads their results. */
TCALL_NOINLINE_ TCALL_SHARED_ void tcall_agent_drop_calls_(tcall_agent *agent)
{
    int i;
    for (i = 0; i < agent->batch_count; i++) {
        tcall_call *call = &agent->batch[i];
        if (!call->cx.state || call->cx.state == TCALL_DONE_)
            continue;
        tcall_writer_init(&agent->out, agent->io, 0);
        tcall_cancel(call, TCALL_E_CANCELLED);
        tcall_invoke(agent->desc.tc, call, &agent->out);
    }
    if (agent->batch_count)
        agent->desc.tc->block.high = agent->batch_high;
    agent->batch_count = 0;
}

#endif /* TOOLCALL_NO_AGENT */

/* ==========================================================================
 * >>agent
 *
 * One turn is a walk through the states below. A step is one of them, or one
 * piece of the body that goes out or comes in, or one call.
 */

#ifndef TOOLCALL_NO_AGENT

/* Bytes of the block are taken in multiples of 8, so that it stays aligned. */
static size_t tcall_agent_aligned_(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Where the path has to name the model, it is put together in the block, right
 * before the conversation, which moves. */
static int tcall_agent_set_path_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    tcall_chat *chat = &agent->chat;
    const char *path = agent->desc.path, *hole = strchr(path, '{');
    const char *rest = hole ? strchr(hole, '}') : NULL;
    size_t size = 0, start = chat->start - agent->path_size;
    tcall_writer writer;
    if (rest)
        size = tcall_agent_aligned_((size_t)(hole - path) + strlen(rest) +
                                    strlen(agent->desc.model));
    if (size > agent->path_size &&
        !tcall_block_room_(block, size - agent->path_size))
        return TCALL_E_MEMORY;
    tcall_chat_shift_(chat, chat->start, start + size);
    chat->start = start + size;
    agent->path_size = size;
    if (!rest)
        return TCALL_OK;
    tcall_writer_init(&writer, block->base + start, size);
    tcall_write_bytes(&writer, path, (size_t)(hole - path));
    tcall_write_text(&writer, agent->desc.model);
    tcall_write_bytes(&writer, rest + 1, strlen(rest)); /* with its NUL */
    agent->desc.path = writer.buf;
    return TCALL_OK;
}

int tcall_agent_init(tcall_agent *agent, const tcall_agent_desc *desc)
{
    size_t reader_size = tcall_agent_aligned_(sizeof(tcall_reader));
    tcall_block *block;
    memset(agent, 0, sizeof *agent);
    agent->problem = tcall_agent_problem_(desc);
    if (agent->problem)
        return TCALL_E_USAGE;
    agent->desc = *desc;
    tcall_agent_defaults_(&agent->desc);
    agent->random = desc->seed;
    block = &desc->tc->block;
    agent->reader = (tcall_reader *)(void *)tcall_block_gap_(block);
    agent->io = tcall_block_gap_(block) + reader_size;
    if (!tcall_block_grow_(block, reader_size) ||
        !tcall_block_room_(block, agent->desc.io_size) ||
        !tcall_block_grow_(block, tcall_agent_aligned_(agent->desc.io_size)))
        return TCALL_E_MEMORY;
    /* The conversation grows at the end of what is used, so it comes last. */
    tcall_chat_init(&agent->chat, block);
    if (tcall_agent_set_path_(agent) < 0)
        return TCALL_E_MEMORY;
    agent->state = TCALL_AGENT_IDLE_;
    return TCALL_OK;
}

int tcall_agent_use(tcall_agent *agent, const tcall_agent_desc *desc)
{
    tcall_agent_desc before = agent->desc;
    int error;
    if (agent->state != TCALL_AGENT_IDLE_)
        return TCALL_E_USAGE;
    agent->problem = desc->tc == before.tc
                         ? tcall_agent_problem_(desc)
                         : "tc must be that of tcall_agent_init";
    if (agent->problem)
        return TCALL_E_USAGE;
    agent->desc = *desc;
    agent->desc.io_size = before.io_size;
    tcall_agent_defaults_(&agent->desc);
    error = tcall_agent_set_path_(agent);
    if (error < 0)
        agent->desc = before;
    return error;
}

/* Of what the conversation may use, a quarter is kept free for answers. Returns
 * whether turns were dropped: then up to a third is free, so that it happens
 * seldom. */
static bool tcall_agent_make_room_(tcall_agent *agent, size_t more)
{
    const tcall_block *block = &agent->desc.tc->block;
    size_t all = block->size - agent->chat.start - block->high;
    size_t before = block->low;
    if (tcall_block_free_(block) < all / 4 + more)
        tcall_chat_make_room(&agent->chat, all / 3 + more);
    return block->low != before;
}

/* Is this tool one of those that were sent last? */
static bool tcall_agent_sends_(const tcall_agent *agent, unsigned index)
{
    int i;
    for (i = 0; i < agent->pick_count; i++)
        if (agent->picks[i] == index)
            return true;
    return false;
}

/* Takes these picks for the turn, unless those of the turn before hold all of
 * them; with a count below 0, all tools. Returns whether other tools are
 * sent now. */
static bool tcall_agent_take_picks_(tcall_agent *agent,
                                    const tcall_picked *picks, int count)
{
    bool known = count < 0 ? !agent->picked : agent->picked;
    int i;
    for (i = 0; i < count; i++)
        known = known && tcall_agent_sends_(agent, picks[i].index);
    if (known)
        return false;
    agent->picked = count >= 0;
    agent->pick_count = (uint8_t)(count > 0 ? count : 0);
    for (i = 0; i < count; i++)
        agent->picks[i] = picks[i].index;
    return true;
}

#ifndef TOOLCALL_NO_PICK

/* Chooses the tools of this turn. Where there is no memory for that, all of
 * them are sent. Returns whether they are others than before. */
static bool tcall_agent_pick_(tcall_agent *agent, tcall_str text)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_picked picks[TCALL_AGENT_PICKS];
    int count, pinned = 0;
    if (!desc->pick_opts || desc->tc->desc.tool_count <= TCALL_AGENT_ALL)
        return tcall_agent_take_picks_(agent, NULL, -1);
    count =
        tcall_pick(desc->tc, text, desc->pick_opts, picks, TCALL_AGENT_PICKS);
    while (pinned < count && picks[pinned].pinned)
        pinned++;
    /* Where nothing fits, as for "yes", the tools of the turn before do. */
    if (count >= 0 && pinned == count && agent->pick_count > count)
        return false;
    return tcall_agent_take_picks_(agent, picks, count);
}

#else

static bool tcall_agent_pick_(tcall_agent *agent, tcall_str text)
{
    (void)text;
    return tcall_agent_take_picks_(agent, NULL, -1);
}

#endif /* TOOLCALL_NO_PICK */

/* Adds what the user said to the conversation. Where that does not fit even
 * after old turns were dropped, nothing has changed. */
TCALL_NOINLINE_ static int tcall_agent_hear_(tcall_agent *agent, tcall_str text)
{
    tcall_item item;
    memset(&item, 0, sizeof item);
    item.kind = TCALL_ITEM_USER;
    item.text = text;
    if (tcall_agent_make_room_(agent, text.len))
        tcall_chat_forget_(&agent->chat);
    return tcall_chat_add(&agent->chat, &item);
}

void tcall_agent_cancel(tcall_agent *agent)
{
    agent->cancelled = 1;
}

/* Returns what the transport answered; notes what it waits for. */
static int tcall_agent_heard_(tcall_agent *agent, int result)
{
    const tcall_transport *transport = &agent->desc.transport;
    if (result != TCALL_E_AGAIN)
        return result;
    if (transport->wants)
        transport->wants(transport->user, &agent->wait);
    if (tcall_wait_is_empty_(&agent->wait))
        tcall_wait_ms(&agent->wait, TCALL_WAIT_POLL_MS);
    return result;
}

/* In the last round that is left the model has to answer in words. */
static bool tcall_agent_last_round_(const tcall_agent *agent)
{
    return agent->turn.rounds + 1 >= agent->desc.max_rounds ||
           agent->turn.calls >= agent->desc.max_calls;
}

/* Writes the request, to count its bytes or to send them. Both must come to
 * the same: nothing that it reads may change before the answer is there. */
static int tcall_agent_write_(tcall_agent *agent, tcall_writer *writer)
{
    const tcall_agent_desc *desc = &agent->desc;
    tcall_chat_request request;
    memset(&request, 0, sizeof request);
    request.model = desc->model;
    request.system = desc->system;
    request.chat = &agent->chat;
    request.tools = desc->tc->desc.tools;
    request.tool_count = desc->tc->desc.tool_count;
    request.picks = agent->picked ? agent->picks : NULL;
    request.pick_count = agent->pick_count;
    request.allow = desc->tc->desc.allow;
    request.max_tokens = desc->max_tokens;
    request.context = agent->context;
    request.cache_prompt = desc->cache_prompt;
    request.extra = desc->extra;
    request.stream = desc->stream;
    request.no_parallel = desc->no_parallel;
    request.variables = desc->variables;
    if (!agent->turn.plan && tcall_agent_last_round_(agent))
        request.choice = TCALL_CHOICE_NONE;
    desc->provider->write(desc->provider, writer, &request);
    return tcall_writer_flush(writer);
}

/* Returns how many tools the model gets to see. */
static size_t tcall_agent_tools_(const tcall_agent *agent)
{
    const tcall_desc *desc = &agent->desc.tc->desc;
    size_t all = agent->picked ? agent->pick_count : desc->tool_count;
    size_t count = 0, i;
    for (i = 0; i < all; i++) {
        size_t index = agent->picked ? agent->picks[i] : i;
        count += tcall_enabled(&desc->tools[index], desc->allow);
    }
    return count;
}

/* Adds a header, unless the provider has none of this kind. */
static void tcall_agent_add_header_(tcall_agent *agent, const char *name,
                                    const char *value, const char *secret)
{
    tcall_header *header = &agent->headers[agent->request.header_count];
    if (!name)
        return;
    header->name = name;
    header->value = value;
    header->secret = secret;
    agent->request.header_count++;
}

/* The key is kept apart from the value that goes before it, so that a trace
 * can show the one without the other. */
static void tcall_agent_set_request_(tcall_agent *agent, size_t body_len)
{
    const tcall_agent_desc *desc = &agent->desc;
    const tcall_provider *provider = desc->provider;
    tcall_request *request = &agent->request;
    size_t i;
    memset(request, 0, sizeof *request);
    request->method = "POST";
    request->path = agent->desc.path;
    request->headers = agent->headers;
    request->body_len = body_len;
    tcall_agent_add_header_(agent, "Content-Type", "application/json", NULL);
    if (!tcall_agent_header_named_(desc, provider->version[0]))
        tcall_agent_add_header_(agent, provider->version[0],
                                provider->version[1], NULL);
    for (i = 0; i < desc->header_count; i++)
        tcall_agent_add_header_(agent, desc->headers[i].name,
                                desc->headers[i].value,
                                desc->headers[i].secret);
    if (desc->key)
        tcall_agent_add_header_(agent, provider->key_header,
                                provider->key_prefix, agent->desc.key);
}

/* The functions below whose frame is large are never inlined: their frames
 * would lie on the stack while a tool runs. */

/* Tells of a request that begins. */
TCALL_NOINLINE_ static void tcall_agent_tell_request_(const tcall_agent *agent)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.bytes = agent->request.body_len;
    event.tools = tcall_agent_tools_(agent);
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_REQUEST);
}

/* A server that cuts what it was not told to hold is told once, with room for
 * what follows: another number would make it load the model anew. Returns
 * whether the request has changed. A token is taken to have 3 bytes. */
static bool tcall_agent_widen_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    const long answer = desc->max_tokens > 0 ? desc->max_tokens : 1024;
    const long need = (long)(agent->out.len / 3) + answer;
    const long room = agent->context ? need : 2 * need;
    long context = agent->context ? agent->context : 4096;
    if (!(desc->provider->quirks & TCALL_QUIRK_SAY_CONTEXT) ||
        need <= agent->context)
        return false;
    while (context < room)
        context *= 2;
    agent->context = context;
    return true;
}

static int tcall_agent_count_(tcall_agent *agent)
{
    tcall_writer_init(&agent->out, NULL, 0);
    return tcall_agent_write_(agent, &agent->out);
}

/* Counts the request and connects. Oldest turns are dropped here and nowhere
 * else, because from now on the request has to stay as it is. */
TCALL_NOINLINE_ static int tcall_agent_open_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    int result;
    if (agent->turn.rounds >= agent->desc.max_rounds)
        return TCALL_E_LIMIT;
    if (tcall_agent_make_room_(agent, 0) &&
        agent->desc.provider->quirks & TCALL_QUIRK_BOUND_REASONING)
        tcall_chat_forget_(&agent->chat);
    result = tcall_agent_count_(agent);
    if (result == TCALL_OK && tcall_agent_widen_(agent))
        result = tcall_agent_count_(agent);
    if (result < 0)
        return result;
    tcall_agent_set_request_(agent, agent->out.len);
    memset(&agent->response, 0, sizeof agent->response);
    agent->response.retry_after_ms = -1;
    agent->opened = true;
    result =
        transport->open(transport->user, &agent->request, &agent->response);
    if (result < 0)
        return tcall_agent_heard_(agent, result);
    tcall_agent_tell_request_(agent);
    agent->sent = agent->received = agent->unsent = 0;
    memset(&agent->resume, 0, sizeof agent->resume);
    agent->state = TCALL_AGENT_SEND_;
    return TCALL_E_AGAIN;
}

/* What the writer of the request writes to. */
static int tcall_agent_sink_(void *user, const char *bytes, size_t len)
{
    tcall_agent *agent = (tcall_agent *)user;
    const tcall_transport *transport = &agent->desc.transport;
    int accepted = transport->write(transport->user, bytes, len);
    if (accepted > 0)
        agent->sent += (size_t)accepted;
    return tcall_agent_heard_(agent, accepted);
}

/* The reader tells of text and of calls as they come; listeners of the
 * registry get them as events. */
static void tcall_agent_text_piece_(void *user, tcall_str piece)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.text = piece;
    tcall_tell_((tcall *)user, &event, TCALL_EVENT_TEXT);
}

static void tcall_agent_call_piece_(void *user, const tcall_item *piece)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.item = piece;
    tcall_tell_((tcall *)user, &event, TCALL_EVENT_PIECE);
}

/* Writes what the buffer still holds and then the rest of the request, as far
 * as the transport takes it. The request is never held: after a pause it is
 * taken up again at the string or tool that was not complete. */
static int tcall_agent_send_more_(tcall_agent *agent)
{
    tcall_writer writer;
    int result;
    tcall_writer_init(&writer, agent->io, agent->desc.io_size);
    tcall_writer_sink(&writer, tcall_agent_sink_, agent);
    writer.fill = agent->unsent;
    writer.resume = &agent->resume;
    result = tcall_writer_flush(&writer);
    if (result == TCALL_OK)
        result = tcall_agent_write_(agent, &writer);
    agent->unsent = writer.fill;
    agent->resume.stored = agent->sent + writer.fill;
    return result;
}

/* Sends the request, and once all of it went out gets ready to read: items of
 * the answer begin where the conversation ends now. */
TCALL_NOINLINE_ static int tcall_agent_send_(tcall_agent *agent)
{
    tcall *tc = agent->desc.tc;
    int result = tcall_agent_send_more_(agent);
    if (result < 0)
        return result;
    /* A tool table or a variable was changed while the request was written. */
    if (agent->sent != agent->request.body_len)
        return TCALL_E_USAGE;
    agent->answer_at = tc->block.low - agent->chat.start;
    tcall_reader_init(agent->reader, agent->desc.provider, &agent->chat,
                      tcall_agent_text_piece_, tc);
    agent->reader->call = tcall_agent_call_piece_;
    agent->reader->text_calls = agent->desc.text_calls;
    agent->state = TCALL_AGENT_READ_;
    return TCALL_E_AGAIN;
}

/* A server may repeat the key in its complaint: runs of at least so many
 * characters of it are made unreadable. */
enum { TCALL_KEY_RUN_ = 8 };

static void tcall_agent_hide_key_(char *text, const char *key)
{
    for (; key && *key && *text; text++) {
        size_t run = 0;
        while (key[run] && text[run] == key[run])
            run++;
        if (run >= TCALL_KEY_RUN_ || !key[run])
            memset(text, '*', run);
    }
}

/* Takes the answer over from the reader and returns what is wrong with it, or
 * TCALL_OK. */
static int tcall_agent_judge_(tcall_agent *agent)
{
    const tcall_agent_desc *desc = &agent->desc;
    int result = tcall_reader_end(agent->reader), status;
    agent->answer = agent->reader->answer;
    tcall_agent_hide_key_(agent->answer.message, desc->key);
    tcall_agent_hide_key_(agent->answer.stop_text, desc->key);
    if (agent->response.retry_after_ms < 0)
        agent->response.retry_after_ms = agent->answer.wait_ms;
    /* With an error status no body is an answer, whatever it looks like. */
    status = tcall_answer_error(&agent->answer, agent->response.status);
    if (status < 0)
        return status;
    /* Results of calls whose reasoning is lost could not be sent back. */
    if (!agent->turn.plan && agent->answer.calls &&
        agent->answer.reasoning_dropped)
        return TCALL_E_MEMORY;
    return result < 0 ? result : tcall_answer_ending(&agent->answer);
}

/* Does an answer with this error stay in the conversation? One that did not end
 * by itself does, for its words. */
static bool tcall_agent_keeps_(const tcall_agent *agent, int error)
{
    return error == TCALL_OK ||
           (agent->response.status < 300 && agent->answer.has_text &&
            error == tcall_answer_ending(&agent->answer));
}

/* What a provider does not count is zero; more than fits is the limit. */
static void tcall_agent_count_tokens_(tcall_agent *agent)
{
    const tcall_answer *answer = &agent->answer;
    uint32_t room = UINT32_MAX - agent->turn.tokens, more = 0;
    if (answer->input_tokens > 0)
        more = (uint32_t)answer->input_tokens;
    if (answer->output_tokens > 0)
        more += (uint32_t)answer->output_tokens;
    agent->turn.tokens += more < room ? more : room;
}

/* The answer is complete: goes on with its calls, or ends the turn. */
TCALL_NOINLINE_ static int tcall_agent_answered_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    tcall_event event;
    int error = tcall_agent_judge_(agent);
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = agent->response.status;
    event.bytes = agent->received;
    event.text = tcall_str_of(agent->answer.message);
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_ANSWER);
    if (!tcall_agent_keeps_(agent, error))
        return error;
    transport->close(transport->user);
    agent->opened = agent->reconnected = false;
    agent->turn.rounds++;
    agent->tries = 0;
    tcall_agent_count_tokens_(agent);
    agent->call_at = 0;
    agent->state = !agent->answer.calls ? TCALL_AGENT_IDLE_
                   : agent->turn.plan   ? TCALL_AGENT_PLANNED_
                                        : TCALL_AGENT_CALLS_;
    return agent->state == TCALL_AGENT_CALLS_ ? TCALL_E_AGAIN : error;
}

/* Reads a piece of the answer. */
TCALL_NOINLINE_ static int tcall_agent_read_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    int count =
        transport->read(transport->user, agent->io, agent->desc.io_size);
    int error;
    if (count == 0)
        return tcall_agent_answered_(agent);
    if (count < 0)
        return tcall_agent_heard_(agent, count);
    agent->received += (size_t)count;
    error = tcall_reader_feed(agent->reader, agent->io, (size_t)count);
    /* An error page is not in the provider's format: read on for its words. */
    if (error < 0 && agent->response.status < 300)
        return tcall_agent_answered_(agent);
    return TCALL_E_AGAIN;
}

/* Ends the exchange, and forgets what came of an answer. */
static void tcall_agent_leave_(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    if (agent->opened)
        transport->close(transport->user);
    agent->opened = false;
    /* Half an answer must not stay in the conversation. */
    if (agent->state == TCALL_AGENT_READ_)
        agent->desc.tc->block.low = agent->chat.start + agent->answer_at;
}

#ifndef TOOLCALL_NO_RETRY

/* The wait doubles from the first to the last. */
enum { TCALL_BACKOFF_FIRST_MS_ = 500, TCALL_BACKOFF_DOUBLINGS_ = 4 };

/* Can sending the request again help? Not where an answer had begun well:
 * somebody may have seen it. */
static bool tcall_agent_retry_helps_(const tcall_agent *agent, int error)
{
    const tcall_response *response = &agent->response;
    int status = response->status;
    if (!status)
        return error == TCALL_E_CLOSED || error == TCALL_E_CONNECT ||
               error == TCALL_E_RESOLVE ||
               (error == TCALL_E_TIMEOUT && agent->state == TCALL_AGENT_OPEN_);
    if (status < 400)
        return false;
    if (response->should_retry)
        return response->should_retry > 0;
    if (error == TCALL_E_QUOTA)
        return false;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

/* Returns 16 random bits. Devices that failed together should not come back
 * together; without a seed they differ by when they request. */
static uint32_t tcall_agent_chance_(tcall_agent *agent)
{
    uint32_t bits;
    agent->random += agent->desc.seed ? 0x9E3779B9u : tcall_agent_now_(agent);
    bits = agent->random;
    bits = (bits ^ bits >> 16) * 0x45D9F3Bu;
    bits = (bits ^ bits >> 16) * 0x45D9F3Bu;
    return bits >> 16;
}

/* Half of the wait is fixed, up to another half is chance. */
static uint32_t tcall_agent_backoff_(tcall_agent *agent)
{
    int doublings = agent->tries - 1;
    uint32_t half;
    if (doublings > TCALL_BACKOFF_DOUBLINGS_)
        doublings = TCALL_BACKOFF_DOUBLINGS_;
    half = (uint32_t)TCALL_BACKOFF_FIRST_MS_ / 2 << doublings;
    return half + (tcall_agent_chance_(agent) * half >> 16);
}

/* Returns the milliseconds to wait before the request is sent again, or the
 * error where it is not. */
static long tcall_agent_retry_wait_(tcall_agent *agent, int error)
{
    const tcall_agent_desc *desc = &agent->desc;
    long told = agent->response.retry_after_ms;
    uint32_t ms = told < 0 ? tcall_agent_backoff_(agent) : (uint32_t)told;
    uint32_t spent = tcall_agent_now_(agent) - agent->turn.started;
    ms = ms < desc->max_wait_ms ? ms : desc->max_wait_ms;
    if (!tcall_agent_retry_helps_(agent, error) || !desc->transport.now_ms ||
        agent->tries >= desc->max_tries ||
        (desc->max_ms && spent + ms >= desc->max_ms))
        return error;
    return (long)ms;
}

#else

static long tcall_agent_retry_wait_(const tcall_agent *agent, int error)
{
    (void)agent;
    return error;
}

#endif /* TOOLCALL_NO_RETRY */

/* Tells of the next try and begins the wait before it. */
static void tcall_agent_pause_(tcall_agent *agent, int error, uint32_t ms)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.error = error;
    event.status = agent->response.status;
    event.ms = agent->pause = ms;
    tcall_tell_(agent->desc.tc, &event, TCALL_EVENT_RETRY);
    agent->pause_began = tcall_agent_now_(agent);
    tcall_wait_ms(&agent->wait, ms);
    agent->state = TCALL_AGENT_PAUSE_;
}

/* After an error: TCALL_E_AGAIN when the request will be sent again, else the
 * error. A connection that was dead when it was reused is replaced at once,
 * which does not count as a try. */
TCALL_NOINLINE_ static int tcall_agent_retry_(tcall_agent *agent, int error)
{
    const tcall_response *response = &agent->response;
    bool dead = error == TCALL_E_CLOSED && !response->status &&
                response->retry_after_ms == 0 && !agent->reconnected;
    long ms = 0;
    /* Without a request that is under way there is nothing to send again. */
    if (!agent->opened || tcall_agent_over_(agent) < 0)
        return error;
    if (dead) {
        agent->reconnected = true;
    } else {
        agent->tries++;
        ms = tcall_agent_retry_wait_(agent, error);
    }
    if (ms < 0)
        return error;
    tcall_agent_leave_(agent);
    tcall_agent_pause_(agent, error, (uint32_t)ms);
    return TCALL_E_AGAIN;
}

/* Looks whether the pause before the next try is over. */
static int tcall_agent_paused_(tcall_agent *agent)
{
    uint32_t spent =
        agent->pause ? tcall_agent_now_(agent) - agent->pause_began : 0;
    if (spent < agent->pause)
        return tcall_wait_ms(&agent->wait, agent->pause - spent);
    agent->state = TCALL_AGENT_OPEN_;
    return TCALL_E_AGAIN;
}

/* An error ends the turn. What it added to the conversation stays as far as it
 * is whole: calls without results are taken back, and so is a question that
 * nobody answered. */
TCALL_NOINLINE_ static void tcall_agent_undo_(tcall_agent *agent)
{
    tcall_block *block = &agent->desc.tc->block;
    size_t at = 0, next = 0, last = 0;
    tcall_item item;
    if ((agent->state == TCALL_AGENT_CALLS_ ||
         agent->state == TCALL_AGENT_PLANNED_) &&
        agent->call_at < (size_t)agent->answer.calls)
        block->low = agent->chat.start + agent->answer_at;
    item.kind = TCALL_ITEM_TEXT;
    for (; tcall_chat_next(&agent->chat, &next, &item); at = next)
        last = at;
    if (item.kind == TCALL_ITEM_USER)
        block->low = agent->chat.start + last;
}

tcall_str tcall_agent_text(const tcall_agent *agent)
{
    tcall_str text = tcall_slice_(NULL, 0);
    tcall_item item;
    size_t at = 0;
    if (agent->state == TCALL_AGENT_UNSET_)
        return text;
    /* The last text since the user spoke: others came before calls. */
    while (tcall_chat_next(&agent->chat, &at, &item))
        if (item.kind == TCALL_ITEM_TEXT)
            text = item.text;
        else if (item.kind == TCALL_ITEM_USER)
            text = tcall_slice_(NULL, 0);
    return text;
}

/* Tells that a turn begins or ends. */
TCALL_NOINLINE_ static void tcall_agent_tell_turn_(const tcall_agent *agent,
                                                   tcall_event_kind kind,
                                                   tcall_str text, int error)
{
    tcall_event event;
    memset(&event, 0, sizeof event);
    event.turn = &agent->turn;
    event.text = text;
    event.error = error;
    tcall_tell_(agent->desc.tc, &event, kind);
}

/* Ends the turn: the connection is closed, calls are released, and what is left
 * of the conversation can be continued. */
static int tcall_agent_end_(tcall_agent *agent, int error)
{
    tcall_agent_leave_(agent);
    tcall_agent_drop_calls_(agent);
    if (error < 0)
        tcall_agent_undo_(agent);
    agent->state = TCALL_AGENT_IDLE_;
    tcall_agent_tell_turn_(agent, TCALL_EVENT_TURN_END, tcall_agent_text(agent),
                           error);
    return error;
}

/* Begins the turn anew, with the number after that of the one before. */
static void tcall_agent_begin_(tcall_agent *agent, bool plan)
{
    tcall_turn *turn = &agent->turn;
    uint32_t id = turn->id + 1;
    memset(turn, 0, sizeof *turn);
    turn->id = id;
    turn->started = tcall_agent_now_(agent);
    turn->plan = plan;
    turn->parent = agent->desc.parent;
    agent->tries = 0;
    memset(&agent->wait, 0, sizeof agent->wait);
    /* A cancel that came before the turn is not meant for it. */
    agent->cancelled = 0;
    agent->reconnected = false;
    agent->state = TCALL_AGENT_OPEN_;
}

/* Returns TCALL_OK where a turn may begin. A plan that was left is dropped. */
static int tcall_agent_ready_(tcall_agent *agent)
{
    if (agent->turn.plan && agent->state > TCALL_AGENT_IDLE_)
        tcall_agent_end_(agent, TCALL_E_CANCELLED);
    if (agent->state != TCALL_AGENT_IDLE_)
        return TCALL_E_USAGE;
    agent->problem = tcall_agent_added_problem_(&agent->desc);
    return agent->problem ? TCALL_E_USAGE : TCALL_OK;
}

/* Begins a turn with these tools, or without them with those it picks. */
static int tcall_agent_start_(tcall_agent *agent, tcall_str text, bool plan,
                              const tcall_picked *tools, int count)
{
    int error = tcall_agent_ready_(agent);
    bool others;
    if (error == TCALL_OK)
        error = tcall_agent_hear_(agent, text);
    if (error < 0)
        return error;
    others = tools ? tcall_agent_take_picks_(agent, tools, count)
                   : tcall_agent_pick_(agent, text);
    if (others)
        tcall_chat_forget_(&agent->chat);
    tcall_agent_begin_(agent, plan);
    tcall_agent_tell_turn_(agent, TCALL_EVENT_TURN, text, TCALL_OK);
    return TCALL_OK;
}

int tcall_agent_say(tcall_agent *agent, tcall_str text)
{
    return tcall_agent_start_(agent, text, false, NULL, 0);
}

/* Does the work of the state. Calls that are under way look at limits
 * themselves: each of them has to get a result. */
static int tcall_agent_work_(tcall_agent *agent)
{
    int over;
    if (agent->state == TCALL_AGENT_CALLS_)
        return tcall_agent_run_call_(agent);
    over = tcall_agent_over_(agent);
    if (over < 0)
        return over;
    switch (agent->state) {
    case TCALL_AGENT_PAUSE_: return tcall_agent_paused_(agent);
    case TCALL_AGENT_OPEN_: return tcall_agent_open_(agent);
    case TCALL_AGENT_SEND_: return tcall_agent_send_(agent);
    default: return tcall_agent_read_(agent);
    }
}

/* Completes what the agent waits for: where nothing was said there is more work
 * to do at once, and no wait is longer than the turn may be. */
static int tcall_agent_waits_(tcall_agent *agent, int result)
{
    tcall_wait *wait = &agent->wait;
    uint32_t spent = tcall_agent_now_(agent) - agent->turn.started;
    uint32_t limit = agent->desc.max_ms;
    if (result != TCALL_E_APPROVAL &&
        (!tcall_waits_(result) || tcall_wait_is_empty_(wait)))
        wait->ms = 0;
    if (limit)
        tcall_wait_ms(wait, spent < limit ? limit - spent : 0);
    return result;
}

int tcall_agent_step(tcall_agent *agent)
{
    int result;
    if (agent->state == TCALL_AGENT_UNSET_ ||
        agent->state == TCALL_AGENT_IDLE_ ||
        (agent->state == TCALL_AGENT_PLANNED_ && !agent->cancelled))
        return TCALL_E_USAGE;
    tcall_wait_begin_(&agent->wait);
    result = tcall_agent_work_(agent);
    if (result < 0 && !tcall_waits_(result))
        result = tcall_agent_retry_(agent, result);
    if (result < 0 ? !tcall_waits_(result)
                   : agent->state != TCALL_AGENT_PLANNED_)
        result = tcall_agent_end_(agent, result);
    return tcall_agent_waits_(agent, result);
}

void tcall_agent_wait(tcall_agent *agent)
{
    const tcall_transport *transport = &agent->desc.transport;
    tcall_wait wait = agent->wait;
    tcall_wait_ms(&wait, TCALL_WAIT_MOST_MS);
    if (wait.ms && transport->wait && !agent->cancelled)
        transport->wait(transport->user, &wait);
}

/* Steps until there is nothing more to do without the caller. */
static int tcall_agent_finish_(tcall_agent *agent)
{
    int result;
    while ((result = tcall_agent_step(agent)) == TCALL_E_AGAIN)
        tcall_agent_wait(agent);
    return result;
}

int tcall_agent_run(tcall_agent *agent, tcall_str text)
{
    int error = tcall_agent_say(agent, text);
    return error < 0 ? error : tcall_agent_finish_(agent);
}

/* Can these tools be sent, and no others? */
static bool tcall_agent_can_send_(const tcall_agent *agent,
                                  const tcall_picked *tools, int count)
{
    int i;
    for (i = 0; tools && i < count; i++)
        if (tools[i].index >= agent->desc.tc->desc.tool_count)
            return false;
    return !tools || (count >= 0 && count <= TCALL_AGENT_PICKS);
}

int tcall_agent_plan(tcall_agent *agent, tcall_str text,
                     const tcall_picked *tools, int count)
{
    bool goes_on = agent->turn.plan && agent->state == TCALL_AGENT_OPEN_;
    int error = TCALL_E_USAGE;
    if (agent->state == TCALL_AGENT_UNSET_)
        return error;
    if (!text.len)
        error = goes_on ? TCALL_OK : TCALL_E_USAGE;
    else if (tcall_agent_can_send_(agent, tools, count))
        error = tcall_agent_start_(agent, text, true, tools, count);
    if (error == TCALL_OK)
        error = tcall_agent_finish_(agent);
    return error < 0 ? error : agent->answer.calls;
}

#endif /* TOOLCALL_NO_AGENT */

/* ==========================================================================
 * >>save
 *
 * Numbers are written seven bits a byte, the lowest first, a text after its
 * length. Last comes a sum of all bytes: memory that lost its power while it
 * was written must not become a conversation.
 */

#if !defined TOOLCALL_NO_AGENT && !defined TOOLCALL_NO_SAVE

static const char tcall_save_mark_[] = "tcall2";

enum {
    TCALL_SAVE_MARK_ = 6,
    TCALL_SAVE_SUM_ = 4,
    TCALL_SAVE_REST_ = 0, /* no turn is under way */
    TCALL_SAVE_CALLS_,    /* calls wait for a verdict */
    TCALL_SAVE_PLANNED_   /* calls wait for tcall_agent_result */
};

/* Adds bytes to a sum: FNV-1a. */
static uint32_t tcall_save_sum_(uint32_t sum, tcall_str bytes)
{
    size_t i;
    for (i = 0; i < bytes.len; i++)
        sum = (sum ^ (uint8_t)bytes.ptr[i]) * 16777619u;
    return sum;
}

#define TCALL_SAVE_START_ 2166136261u

/* ---- out ---- */

typedef struct tcall_saver_ {
    tcall_writer *out;
    uint32_t sum;
} tcall_saver_;

static void tcall_save_bytes_(tcall_saver_ *saver, tcall_str bytes)
{
    saver->sum = tcall_save_sum_(saver->sum, bytes);
    tcall_write_bytes(saver->out, bytes.ptr, bytes.len);
}

static void tcall_save_number_(tcall_saver_ *saver, uint32_t number)
{
    char bytes[5];
    size_t len = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[len++] = (char)(0x80 | (number & 0x7F));
    bytes[len++] = (char)number;
    tcall_save_bytes_(saver, tcall_slice_(bytes, len));
}

static void tcall_save_text_(tcall_saver_ *saver, tcall_str text)
{
    tcall_save_number_(saver, (uint32_t)text.len);
    tcall_save_bytes_(saver, text);
}

/* Picks by their names: the table may be another one after the restart. */
static void tcall_save_picks_(tcall_saver_ *saver, const tcall_agent *agent)
{
    const tcall_tool *tools = agent->desc.tc->desc.tools;
    int i;
    tcall_save_number_(saver, agent->picked);
    tcall_save_number_(saver, agent->pick_count);
    for (i = 0; i < agent->pick_count; i++)
        tcall_save_text_(saver, tcall_str_of(tools[agent->picks[i]].name));
}

/* Writes the items, each after a one; a zero ends them. Returns the number of
 * the item that the last answer begins with. */
static void tcall_save_items_(tcall_saver_ *saver, const tcall_agent *agent)
{
    const tcall_chat *chat = &agent->chat;
    size_t at = 0, next = 0;
    tcall_item item;
    int part;
    for (; tcall_chat_next(chat, &next, &item); at = next) {
        tcall_save_number_(saver, at == agent->answer_at ? 2 : 1);
        tcall_save_number_(saver, item.kind);
        tcall_save_number_(saver, (uint32_t)-item.error);
        tcall_save_number_(saver, tcall_item_flags_(&item));
        for (part = 0; part < TCALL_PARTS_; part++)
            tcall_save_text_(saver, *tcall_item_part_(&item, part));
    }
    tcall_save_number_(saver, 0);
}

/* Returns what a turn waits for, or TCALL_E_USAGE where it does something. */
static int tcall_save_state_(const tcall_agent *agent)
{
    int i;
    if (agent->state == TCALL_AGENT_IDLE_)
        return TCALL_SAVE_REST_;
    if (agent->state == TCALL_AGENT_PLANNED_)
        return TCALL_SAVE_PLANNED_;
    if (agent->state != TCALL_AGENT_CALLS_)
        return TCALL_E_USAGE;
    for (i = agent->delivered; i < agent->batch_count; i++) {
        const tcall_ctx *cx = &agent->batch[i].cx;
        if (cx->state && !cx->approval_asked)
            return TCALL_E_USAGE;
    }
    return TCALL_SAVE_CALLS_;
}

int tcall_agent_save(const tcall_agent *agent, tcall_writer *out)
{
    int state = tcall_save_state_(agent), i;
    tcall_saver_ saver = {out, TCALL_SAVE_START_};
    char sum[TCALL_SAVE_SUM_];
    if (state < 0)
        return state;
    tcall_save_bytes_(&saver, tcall_slice_(tcall_save_mark_, TCALL_SAVE_MARK_));
    tcall_save_number_(&saver, (uint32_t)state);
    tcall_save_number_(&saver, agent->chat.made);
    tcall_save_number_(&saver, agent->turn.id);
    tcall_save_number_(&saver, agent->turn.rounds);
    tcall_save_number_(&saver, agent->turn.calls);
    tcall_save_number_(&saver, agent->turn.tokens);
    tcall_save_picks_(&saver, agent);
    tcall_save_items_(&saver, agent);
    for (i = 0; i < TCALL_SAVE_SUM_; i++)
        sum[i] = (char)(saver.sum >> 8 * i);
    return tcall_write_bytes(out, sum, sizeof sum);
}

/* ---- in ---- */

/* Gives a number; beyond the end, or the range, the bytes count as used up and
 * damaged. */
static uint32_t tcall_load_number_(tcall_str *rest)
{
    uint32_t number = 0;
    int shift;
    for (shift = 0; shift < 32 && rest->len; shift += 7) {
        uint8_t byte = (uint8_t)*rest->ptr++;
        rest->len--;
        number |= (uint32_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return number;
    }
    *rest = tcall_slice_(NULL, 0);
    return 0;
}

static tcall_str tcall_load_text_(tcall_str *rest)
{
    size_t len = tcall_load_number_(rest);
    tcall_str text = *rest;
    if (len > rest->len) {
        *rest = tcall_slice_(NULL, 0);
        return *rest;
    }
    text.len = len;
    rest->ptr += len;
    rest->len -= len;
    return text;
}

/* Tools that are gone are picked no more. */
static void tcall_load_picks_(tcall_agent *agent, tcall_str *rest)
{
    const tcall *tc = agent->desc.tc;
    uint32_t count;
    agent->picked = tcall_load_number_(rest) != 0;
    agent->pick_count = 0;
    for (count = tcall_load_number_(rest); count && rest->ptr; count--) {
        const tcall_tool *tool = tcall_find(tc, tcall_load_text_(rest));
        if (tool && agent->pick_count < TCALL_AGENT_PICKS)
            agent->picks[agent->pick_count++] =
                (uint16_t)(tool - tc->desc.tools);
    }
}

/* Adds one item. */
static int tcall_load_item_(tcall_agent *agent, tcall_str *rest)
{
    tcall_item item;
    uint32_t flags;
    int part;
    memset(&item, 0, sizeof item);
    item.kind = (uint8_t)tcall_load_number_(rest);
    item.error = -(int)tcall_load_number_(rest);
    flags = tcall_load_number_(rest);
    item.synthetic_id = (flags & TCALL_FLAG_SYNTHETIC_ID_) != 0;
    item.raw = (flags & TCALL_FLAG_RAW_) != 0;
    item.reasoning_dropped = (flags & TCALL_FLAG_DROPPED_) != 0;
    item.is_unsigned = (flags & TCALL_FLAG_UNSIGNED_) != 0;
    for (part = 0; part < TCALL_PARTS_; part++)
        *tcall_item_part_(&item, part) = tcall_load_text_(rest);
    if (!rest->ptr || item.kind > TCALL_ITEM_REASONING)
        return TCALL_E_PROTOCOL;
    return tcall_chat_add(&agent->chat, &item);
}

/* Adds all items, and counts the calls and results of the last answer. */
static int tcall_load_items_(tcall_agent *agent, tcall_str *rest)
{
    tcall_block *block = agent->chat.block;
    tcall_item item;
    uint32_t mark;
    size_t at;
    while ((mark = tcall_load_number_(rest)) != 0) {
        int error;
        if (mark == 2)
            agent->answer_at = block->low - agent->chat.start;
        error = tcall_load_item_(agent, rest);
        if (error < 0)
            return error;
    }
    agent->answer.calls = 0;
    agent->call_at = 0;
    for (at = agent->answer_at; tcall_chat_next(&agent->chat, &at, &item);) {
        agent->answer.calls += item.kind == TCALL_ITEM_CALL;
        agent->call_at += item.kind == TCALL_ITEM_RESULT;
    }
    return rest->ptr && !rest->len ? TCALL_OK : TCALL_E_PROTOCOL;
}

/* Takes up the turn where it was left. */
static int tcall_load_turn_(tcall_agent *agent, uint32_t state)
{
    if (state != TCALL_SAVE_REST_ &&
        agent->call_at >= (size_t)agent->answer.calls)
        return TCALL_E_PROTOCOL;
    agent->turn.started = tcall_agent_now_(agent);
    agent->turn.parent = agent->desc.parent;
    agent->turn.plan = state == TCALL_SAVE_PLANNED_;
    agent->cancelled = false;
    agent->batch_count = 0;
    if (state == TCALL_SAVE_REST_)
        return TCALL_OK;
    agent->state = agent->turn.plan ? TCALL_AGENT_PLANNED_ : TCALL_AGENT_CALLS_;
    tcall_agent_tell_turn_(agent, TCALL_EVENT_TURN, tcall_slice_(NULL, 0),
                           TCALL_OK);
    return agent->turn.plan ? TCALL_OK : TCALL_E_AGAIN;
}

/* Returns whether the bytes are whole, and leaves what is between the mark and
 * the sum. */
static bool tcall_load_whole_(tcall_str *bytes)
{
    const char *end;
    uint32_t sum = TCALL_SAVE_START_;
    int i;
    if (bytes->len < TCALL_SAVE_MARK_ + TCALL_SAVE_SUM_ ||
        memcmp(bytes->ptr, tcall_save_mark_, TCALL_SAVE_MARK_) != 0)
        return false;
    bytes->len -= TCALL_SAVE_SUM_;
    sum = tcall_save_sum_(sum, *bytes);
    end = bytes->ptr + bytes->len;
    for (i = 0; i < TCALL_SAVE_SUM_; i++)
        if ((uint8_t)end[i] != (uint8_t)(sum >> 8 * i))
            return false;
    bytes->ptr += TCALL_SAVE_MARK_;
    bytes->len -= TCALL_SAVE_MARK_;
    return true;
}

int tcall_agent_load(tcall_agent *agent, tcall_str bytes)
{
    uint32_t state;
    int error = TCALL_E_PROTOCOL;
    if (agent->state != TCALL_AGENT_IDLE_)
        return TCALL_E_USAGE;
    agent->chat.block->low = agent->chat.start;
    agent->answer_at = 0;
    if (tcall_load_whole_(&bytes)) {
        state = tcall_load_number_(&bytes);
        agent->chat.made = tcall_load_number_(&bytes);
        agent->turn.id = tcall_load_number_(&bytes);
        agent->turn.rounds = (uint16_t)tcall_load_number_(&bytes);
        agent->turn.calls = (uint16_t)tcall_load_number_(&bytes);
        agent->turn.tokens = tcall_load_number_(&bytes);
        tcall_load_picks_(agent, &bytes);
        error = tcall_load_items_(agent, &bytes);
        if (error == TCALL_OK)
            error = tcall_load_turn_(agent, state);
    }
    if (error < 0 && error != TCALL_E_AGAIN)
        agent->chat.block->low = agent->chat.start;
    return error;
}

#endif /* TOOLCALL_NO_SAVE */

/* ==========================================================================
 * >>mcp
 *
 * The message is a shape like any other: its members may come in any order, and
 * nothing but the decoder parses. A hole in it, the arguments, is filled while
 * it is read, with the shape of the tool. What is wrong is looked at when the
 * line has ended, so that the id is known wherever it was.
 */

#if !defined TOOLCALL_NO_MCP && !defined TOOLCALL_NO_SHAPES

/* ---- the message ---- */

/* Indices of members, in the order of their names below. */
enum {
    TCALL_MCP_JSONRPC_,
    TCALL_MCP_ID_,
    TCALL_MCP_METHOD_,
    TCALL_MCP_PARAMS_,
    TCALL_MCP_RESULT_,
    TCALL_MCP_ERROR_
};
enum {
    TCALL_MCP_VERSION_,
    TCALL_MCP_NAME_,
    TCALL_MCP_ARGUMENTS_,
    TCALL_MCP_CURSOR_,
    TCALL_MCP_META_
};
enum { TCALL_MCP_MODERN_, TCALL_MCP_ABLE_ };
#define TCALL_MCP_LATEST_TEXT_ "2025-11-25"
#define TCALL_MCP_MODERN_TEXT_ "2026-07-28"

/* X(NAME, method, result): a method, and how the members of its result begin.
 * discover names both eras: a client of the other one then begins anew. */
#define TCALL_MCP_METHODS_(X)                                            \
    X(INITIALIZE, "initialize",                                          \
      "\"protocolVersion\":\"%v\",\"capabilities\":{\"tools\":{}},"      \
      "\"serverInfo\":%w")                                               \
    X(PING, "ping", "")                                                  \
    X(LIST, "tools/list", "\"tools\":[")                                 \
    X(CALL, "tools/call", "\"content\":[{\"type\":\"text\",\"text\":%c") \
    X(DISCOVER, "server/discover",                                       \
      "\"supportedVersions\":[\"" TCALL_MCP_MODERN_TEXT_                 \
      "\",\"" TCALL_MCP_LATEST_TEXT_ "\"],\"capabilities\":{\"tools\":{}}%k")

enum {
#define TCALL_X_(NAME, method, result) TCALL_MCP_##NAME##_,
    TCALL_MCP_METHODS_(TCALL_X_)
#undef TCALL_X_
        TCALL_MCP_METHOD_COUNT_,
    TCALL_MCP_OTHER_ = 255
};

/* The error of a version that is not known; others are of JSON-RPC. */
enum { TCALL_MCP_BAD_VERSION_ = -32022 };

/* The steps to the arguments in a misfit's way. */
enum { TCALL_MCP_STEPS_ = 2 };

static const char tcall_mcp_none_[] TCALL_FLASH_ = "";
static const char tcall_mcp_jsonrpc_[] TCALL_FLASH_ = "2.0\0";
static const char tcall_mcp_methods_[] TCALL_FLASH_ =
#define TCALL_X_(NAME, method, result) method "\0"
    TCALL_MCP_METHODS_(TCALL_X_);
#undef TCALL_X_
static const char tcall_mcp_results_[] TCALL_FLASH_ =
#define TCALL_X_(NAME, method, result) result "\0"
    TCALL_MCP_METHODS_(TCALL_X_);
#undef TCALL_X_
/* The latest is offered to a client whose version is none of these. */
static const char tcall_mcp_versions_[] TCALL_FLASH_ =
    TCALL_MCP_LATEST_TEXT_ "\0002025-06-18\0002025-03-26\0002024-11-05\0";
static const char tcall_mcp_modern_version_[] TCALL_FLASH_ =
    TCALL_MCP_MODERN_TEXT_;
static const tcall_mcp_message_ tcall_mcp_initial_ TCALL_FLASH_ = {
    {0}, {0}, 0, 0, "", {{0}, {0}, 255, "", {{0}, {0}, ""}}};

/* clang-format off */
static const char tcall_mcp_meta_names_[] TCALL_FLASH_ =
    "io.modelcontextprotocol/protocolVersion\0"
    "io.modelcontextprotocol/clientCapabilities\0";
static const tcall_shape tcall_mcp_meta_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_TEXT, 0, 0, 16,
     offsetof(tcall_mcp_meta_, version), 0, 15, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL}};
static const tcall_object tcall_mcp_meta_shape_ TCALL_FLASH_ = {
    tcall_mcp_meta_names_, tcall_mcp_none_, tcall_mcp_meta_members_,
    &tcall_mcp_initial_.params.meta, sizeof(tcall_mcp_meta_), 2, true};

static const char tcall_mcp_params_names_[] TCALL_FLASH_ =
    "protocolVersion\0name\0arguments\0cursor\0_meta\0";
static const tcall_shape tcall_mcp_params_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, TCALL_MEMBER_OTHERS, 0,
     offsetof(tcall_mcp_params_, version), 0, 3, tcall_mcp_versions_},
    {TCALL_SHAPE_STRING, TCALL_KIND_TEXT, 0, 0, TOOLCALL_MCP_NAME + 1,
     offsetof(tcall_mcp_params_, name), 0, TOOLCALL_MCP_NAME, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_HOLE, 0, 0, 0, 0, 0, 0, NULL},
    {TCALL_SHAPE_STRING | TCALL_SHAPE_NULL, TCALL_KIND_TEXT, 0, 0, 0xFFFF,
     TCALL_NOWHERE, 0, INT32_MAX, NULL},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0,
     offsetof(tcall_mcp_params_, meta), 0, 0, &tcall_mcp_meta_shape_}};
static const tcall_object tcall_mcp_params_shape_ TCALL_FLASH_ = {
    tcall_mcp_params_names_, tcall_mcp_none_, tcall_mcp_params_members_,
    &tcall_mcp_initial_.params, sizeof(tcall_mcp_params_), 5, true};

static const char tcall_mcp_names_[] TCALL_FLASH_ =
    "jsonrpc\0id\0method\0params\0result\0error\0";
static const tcall_shape tcall_mcp_members_[] TCALL_FLASH_ = {
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, 0, 0,
     offsetof(tcall_mcp_message_, jsonrpc), 0, 0, tcall_mcp_jsonrpc_},
    {TCALL_SHAPE_STRING | TCALL_SHAPE_INTEGER | TCALL_SHAPE_NUMBER,
     TCALL_KIND_JSON, 0, 0, TOOLCALL_MCP_ID + 1,
     offsetof(tcall_mcp_message_, id), 0, TOOLCALL_MCP_ID, NULL},
    {TCALL_SHAPE_STRING, TCALL_KIND_CHOICE, 0, TCALL_MEMBER_OTHERS, 0,
     offsetof(tcall_mcp_message_, method), 0, TCALL_MCP_METHOD_COUNT_ - 1, tcall_mcp_methods_},
    {TCALL_SHAPE_OBJECT, TCALL_KIND_OBJECT, 0, 0, 0,
     offsetof(tcall_mcp_message_, params), 0, 0, &tcall_mcp_params_shape_},
    {TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL},
    {TCALL_SHAPE_ANY, TCALL_KIND_ANY, 0, 0, 0, TCALL_NOWHERE, 0, 0, NULL}};
static const tcall_object tcall_mcp_shape_ TCALL_FLASH_ = {
    tcall_mcp_names_, tcall_mcp_none_, tcall_mcp_members_,
    &tcall_mcp_initial_, sizeof(tcall_mcp_message_), 6, true};
/* clang-format on */

/* Returns whether a member is in one of the sets that its struct begins with.
 */
static bool tcall_mcp_came_(const uint8_t *set, int member)
{
    return TCALL_BIT_OF_(set, member) != 0;
}

/* Returns whether a text is the same as one in flash. */
static bool tcall_mcp_is_(const char *text, const char *flash)
{
    while (*text && *text == TCALL_BYTE_(flash)) {
        text++;
        flash++;
    }
    return *text == TCALL_BYTE_(flash);
}

/* Rows of tools, and all that they name, are in flash. */
static const tcall_object *tcall_mcp_shape_of_(const tcall_tool *tool)
{
    return TCALL_FETCH_POINTER_(const tcall_object *, &tool->shape);
}

static bool tcall_mcp_allowed_(const tcall_mcp *mcp, const tcall_tool *tool)
{
    uint8_t needed = TCALL_FETCH_8_(&tool->permissions);
    unsigned missing = ~(unsigned)mcp->desc.allow;
    return !(missing & (needed ? needed : (unsigned)TCALL_EVERYTHING));
}

/* Finds the tool that the message names; NULL where there is none. */
static void tcall_mcp_find_(tcall_mcp *mcp)
{
    const tcall_tool *tool = mcp->desc.tools;
    const tcall_tool *end = tool + mcp->desc.tool_count;
    while (tool < end &&
           !tcall_mcp_is_(mcp->message.params.name,
                          TCALL_FETCH_POINTER_(const char *, &tool->name)))
        tool++;
    mcp->tool = tool < end ? tool : NULL;
}

/* Fills the hole with the shape of the tool that was named; with the stash
 * where none was so far, or the text is wanted. */
static void tcall_mcp_hole_(tcall_decoder *decoder, const tcall_shape **shape,
                            char **out)
{
    static const tcall_shape stash TCALL_FLASH_ = {TCALL_SHAPE_OBJECT,
                                                   TCALL_KIND_JSON,
                                                   0,
                                                   0,
                                                   TOOLCALL_MCP_STASH + 1,
                                                   0,
                                                   0,
                                                   TOOLCALL_MCP_STASH,
                                                   NULL};
    tcall_mcp *mcp = (tcall_mcp *)decoder->user;
    if (mcp->desc.call || !mcp->message.params.name[0]) {
        *shape = &stash;
        *out = mcp->stash;
        return;
    }
    tcall_mcp_find_(mcp);
    *shape = &tcall_any_;
    if (mcp->tool) {
        *shape = tcall_decoder_object_(decoder, tcall_mcp_shape_of_(mcp->tool));
        *out = (char *)mcp->desc.room;
    }
}

/* ---- answers ----
 *
 * Texts of answers are in flash. In them % and a letter stand for what
 * tcall_mcp_part_ writes.
 */

static void tcall_mcp_part_(void *user, char letter);

static void tcall_mcp_write_(tcall_mcp *mcp, const char *flash)
{
    tcall_write_parts_(&mcp->out, flash, tcall_mcp_part_, mcp);
}
#define TCALL_MCP_WRITE_(mcp, literal) \
    tcall_mcp_write_(mcp, TCALL_FLASH_TEXT_(literal))

/* Writes what is within the quotes of a JSON string. */
static void tcall_mcp_quoted_(tcall_mcp *mcp, const char *flash)
{
    mcp->out.quoted++;
    if (flash)
        tcall_write_flash(&mcp->out, flash);
    mcp->out.quoted--;
}

/* Returns whether the request is of the era that has no initialize: it says its
 * version itself. */
static bool tcall_mcp_modern_(const tcall_mcp *mcp)
{
    return tcall_mcp_came_(mcp->message.params.meta.came_, TCALL_MCP_MODERN_);
}

/* The id goes back as it came, so that no client has to know another spelling
 * of it; what could not be kept whole is null. */
static void tcall_mcp_id_(tcall_mcp *mcp)
{
    if (mcp->message.id[0])
        tcall_write_text(&mcp->out, mcp->message.id);
    else
        TCALL_SAY(&mcp->out, "null");
}

/* Agrees to the client's version, or offers the latest of its era. */
static void tcall_mcp_version_(tcall_mcp *mcp)
{
    uint8_t version = mcp->message.params.version;
    tcall_write_flash(&mcp->out, tcall_word_at_(tcall_mcp_versions_,
                                                version == 255 ? 0 : version));
}

static void tcall_mcp_call_(tcall_mcp *mcp);

/* Writes what a letter stands for. */
static void tcall_mcp_part_(void *user, char letter)
{
    tcall_mcp *mcp = (tcall_mcp *)user;
    const tcall_tool *tool = mcp->tool;
    const char *text;
    switch (letter) {
    case 'i': tcall_mcp_id_(mcp); break;
    case 'v': tcall_mcp_version_(mcp); break;
    case 'w': /* what this server is called */
        TCALL_MCP_WRITE_(mcp, "{\"name\":\"%a\",\"version\":\"%b\"}");
        break;
    case 'a': tcall_mcp_quoted_(mcp, mcp->desc.name); break;
    case 'b':
        text = mcp->desc.version;
        tcall_mcp_quoted_(mcp, text ? text : TCALL_FLASH_TEXT_("1"));
        break;
    case 'k': /* how long clients may keep what does not change */
        if (tcall_mcp_modern_(mcp))
            TCALL_SAY(&mcp->out,
                      ",\"ttlMs\":3600000,\"cacheScope\":\"public\"");
        break;
    case 'n':
        tcall_mcp_quoted_(mcp, TCALL_FETCH_POINTER_(const char *, &tool->name));
        break;
    case 't':
        if (TCALL_FETCH_POINTER_(const char *, &tool->title))
            TCALL_MCP_WRITE_(mcp, ",\"title\":\"%u\"");
        break;
    case 'u':
        tcall_mcp_quoted_(mcp,
                          TCALL_FETCH_POINTER_(const char *, &tool->title));
        break;
    case 'd':
        tcall_mcp_quoted_(
            mcp, TCALL_FETCH_POINTER_(const char *, &tool->description));
        break;
    case 'c': tcall_mcp_call_(mcp); break;
    default: break;
    }
}

/* Schema text may be laid out; in a line it must not be. */
static void tcall_mcp_schema_(tcall_mcp *mcp)
{
    const tcall_tool *tool = mcp->tool;
    const tcall_object *shape = tcall_mcp_shape_of_(tool);
    const char *text =
        TCALL_FETCH_POINTER_(const char *, &tool->provider_schema);
    if (shape) {
        tcall_write_shape(&mcp->out, shape);
        return;
    }
    if (!text)
        text = TCALL_FETCH_POINTER_(const char *, &tool->parameters);
    if (!text)
        text = TCALL_FLASH_TEXT_("{\"type\":\"object\"}");
    for (; TCALL_BYTE_(text); text++)
        tcall_write_char_(&mcp->out,
                          TCALL_BYTE_(text) < ' ' ? ' ' : TCALL_BYTE_(text));
}

/* Writes that a tool only looks at things, since clients else take it for one
 * that destroys. */
static void tcall_mcp_hints_(tcall_mcp *mcp)
{
    uint8_t permissions = TCALL_FETCH_8_(&mcp->tool->permissions);
    if (permissions && !(permissions & ~(TCALL_READ | TCALL_NETWORK)))
        TCALL_SAY(&mcp->out, ",\"annotations\":{\"readOnlyHint\":true}");
}

/* Writes the tools that may be called, in the order of the table. A cursor was
 * never given, so there is but one page. */
static void tcall_mcp_list_(tcall_mcp *mcp)
{
    bool first = true;
    uint16_t i;
    for (i = 0; i < mcp->desc.tool_count; i++) {
        mcp->tool = mcp->desc.tools + i;
        if (!tcall_mcp_allowed_(mcp, mcp->tool))
            continue;
        if (!first)
            tcall_write_char_(&mcp->out, ',');
        first = false;
        TCALL_MCP_WRITE_(mcp, "{\"name\":\"%n\"%t,\"description\":\"%d\","
                              "\"inputSchema\":");
        tcall_mcp_schema_(mcp);
        tcall_mcp_hints_(mcp);
        tcall_write_char_(&mcp->out, '}');
    }
    TCALL_MCP_WRITE_(mcp, "]%k");
}

/* ---- refusals ---- */

/* Writes what is wrong in the words of the message's shape; a stash that was
 * too small has words of its own, for what helps is another order. */
static void tcall_mcp_misfit_(tcall_mcp *mcp)
{
    const tcall_misfit *misfit = &mcp->at_work.decoder.misfits[0];
    if (misfit->code != TCALL_MISFIT_ROOM ||
        misfit->steps != TCALL_MCP_STEPS_ ||
        misfit->trail[1] != TCALL_MCP_ARGUMENTS_)
        tcall_write_misfit(&mcp->out, misfit, &tcall_mcp_shape_, 0);
    else if (mcp->desc.call)
        TCALL_SAY(&mcp->out, "the arguments are too long");
    else
        TCALL_SAY(&mcp->out, "long arguments must come after the name");
}

/* Refuses the request in words from flash; NULL: in those of the message's
 * shape. Of a version it says which one to come back with. */
static void tcall_mcp_refuse_(tcall_mcp *mcp, int code, const char *flash)
{
    TCALL_MCP_WRITE_(mcp,
                     "{\"jsonrpc\":\"2.0\",\"id\":%i,\"error\":{\"code\":");
    tcall_write_int(&mcp->out, code);
    TCALL_SAY(&mcp->out, ",\"message\":");
    tcall_write_quote(&mcp->out);
    if (flash)
        tcall_write_flash(&mcp->out, flash);
    else
        tcall_mcp_misfit_(mcp);
    tcall_write_unquote(&mcp->out);
    if (code == TCALL_MCP_BAD_VERSION_) {
        TCALL_SAY(&mcp->out, ",\"data\":{\"supported\":"
                             "[\"" TCALL_MCP_MODERN_TEXT_ "\"],\"requested\":");
        tcall_write_string(&mcp->out, mcp->message.params.meta.version);
        tcall_write_char_(&mcp->out, '}');
    }
    TCALL_SAY(&mcp->out, "}}");
}

/* ---- calls ---- */

/* Reads arguments that came before the name of their tool, or not at all. What
 * was wrong with the message was looked at before this. */
static void tcall_mcp_read_late_(tcall_mcp *mcp)
{
    tcall_decoder *decoder = &mcp->at_work.decoder;
    tcall_decoder_init(decoder, tcall_mcp_shape_of_(mcp->tool), mcp->desc.room);
    tcall_decoder_feed(decoder, mcp->stash, strlen(mcp->stash));
    tcall_decoder_end(decoder);
}

/* Writes what is wrong with the arguments, for the model to mend. The first
 * `from` steps lead from the message to the arguments. */
static int tcall_mcp_misfits_(tcall_mcp *mcp, uint8_t from)
{
    const tcall_decoder *decoder = &mcp->at_work.decoder;
    uint8_t i;
    for (i = 0; i < TOOLCALL_MAX_FAULTS && i < decoder->misfit_count; i++) {
        if (i)
            tcall_write_char_(&mcp->out, '\n');
        tcall_write_misfit(&mcp->out, &decoder->misfits[i],
                           tcall_mcp_shape_of_(mcp->tool), from);
    }
    return TCALL_E_INVALID;
}

/* From here on the decoder is not needed, and the context has its place. */
static int tcall_mcp_run_(tcall_mcp *mcp, const tcall_tool *tool)
{
    tcall_json none = {NULL, NULL};
    tcall_ctx *cx = &mcp->at_work.cx;
    if (TCALL_FETCH_8_(&tool->confirm) &&
        !(mcp->desc.approve &&
          mcp->desc.approve(mcp->desc.user, tool, mcp->desc.room))) {
        TCALL_SAY(&mcp->out, "a person has to confirm this call, and ");
        if (mcp->desc.approve)
            TCALL_SAY(&mcp->out, "did not");
        else
            TCALL_SAY(&mcp->out, "nobody can be asked here");
        return TCALL_E_APPROVAL;
    }
    memset(cx, 0, sizeof *cx);
    cx->bound = mcp->desc.room;
    cx->user = TCALL_FETCH_POINTER_(void *, &tool->user);
    return TCALL_FETCH_POINTER_(tcall_run, &tool->run)(cx, none, &mcp->out);
}

/* Makes the call; what is written is the text of the result. */
static int tcall_mcp_make_(tcall_mcp *mcp)
{
    bool late = mcp->stash[0] != '\0';
    if (!tcall_mcp_allowed_(mcp, mcp->tool)) {
        TCALL_SAY(&mcp->out,
                  "permission was denied: this tool is not allowed here");
        return TCALL_E_DENIED;
    }
    if (!tcall_mcp_came_(mcp->message.params.came_, TCALL_MCP_ARGUMENTS_)) {
        TCALL_COPY_(mcp->stash, TCALL_FLASH_TEXT_("{}"), 3);
        late = true;
    }
    if (mcp->desc.call)
        return mcp->desc.call(mcp->desc.user, mcp->tool,
                              tcall_str_of(mcp->stash), &mcp->out);
    if (late)
        tcall_mcp_read_late_(mcp);
    if (mcp->at_work.decoder.error)
        return tcall_mcp_misfits_(mcp, late ? 0 : TCALL_MCP_STEPS_);
    return tcall_mcp_run_(mcp, mcp->tool);
}

/* Answers a call. The tool writes into the text while it is sent, so whether it
 * failed comes after it. */
static void tcall_mcp_call_(tcall_mcp *mcp)
{
    size_t before;
    int error;
    tcall_write_quote(&mcp->out);
    before = mcp->out.len;
    error = tcall_mcp_make_(mcp);
    if (error && mcp->out.len == before)
        TCALL_SAY(&mcp->out, "the tool failed");
    tcall_write_unquote(&mcp->out);
    TCALL_SAY(&mcp->out, "}]");
    if (error)
        TCALL_SAY(&mcp->out, ",\"isError\":true");
}

/* ---- lines ---- */

/* Returns whether all misfits that are known are within the arguments. */
static bool tcall_mcp_only_arguments_(const tcall_decoder *decoder)
{
    uint8_t i;
    for (i = 0; i < TOOLCALL_MAX_FAULTS && i < decoder->misfit_count; i++) {
        const tcall_misfit *misfit = &decoder->misfits[i];
        if (misfit->steps <= TCALL_MCP_STEPS_ ||
            misfit->trail[0] != TCALL_MCP_PARAMS_ ||
            misfit->trail[1] != TCALL_MCP_ARGUMENTS_)
            return false;
    }
    return true;
}

/* Refuses what is no request. Returns whether that, or nothing, is the answer
 * to the line. */
static bool tcall_mcp_no_request_(tcall_mcp *mcp)
{
    const uint8_t *came = mcp->message.came_;
    const tcall_decoder *decoder = &mcp->at_work.decoder;
    if (decoder->error && decoder->error != TCALL_E_INVALID) {
        mcp->message.id[0] = '\0';
        tcall_mcp_refuse_(mcp, -32700, TCALL_FLASH_TEXT_("this is not JSON"));
    } else if (!tcall_mcp_came_(came, TCALL_MCP_METHOD_) &&
               (tcall_mcp_came_(came, TCALL_MCP_RESULT_) ||
                tcall_mcp_came_(came, TCALL_MCP_ERROR_))) {
        /* a response, though nothing was asked */
    } else if (decoder->error &&
               (decoder->misfits[0].steps == 0 ||
                decoder->misfits[0].trail[0] != TCALL_MCP_PARAMS_)) {
        tcall_mcp_refuse_(mcp, -32600, NULL);
    } else if (!tcall_mcp_came_(came, TCALL_MCP_METHOD_) ||
               !tcall_mcp_came_(came, TCALL_MCP_JSONRPC_)) {
        tcall_mcp_refuse_(mcp, -32600,
                          TCALL_FLASH_TEXT_("this is no JSON-RPC 2.0 message"));
    } else { /* a notification is not answered, whatever it says */
        return !tcall_mcp_came_(came, TCALL_MCP_ID_);
    }
    return true;
}

/* Returns why the request has an answer other than a result, a text in flash,
 * or NULL. */
static const char *tcall_mcp_fault_(tcall_mcp *mcp)
{
    const tcall_mcp_params_ *params = &mcp->message.params;
    uint8_t method = mcp->message.method;
    if (method == TCALL_MCP_DISCOVER_ && !tcall_mcp_modern_(mcp))
        return TCALL_FLASH_TEXT_("_meta has no protocol version");
    if (tcall_mcp_modern_(mcp) &&
        !tcall_mcp_came_(params->meta.came_, TCALL_MCP_ABLE_))
        return TCALL_FLASH_TEXT_("_meta has no client capabilities");
    if (method == TCALL_MCP_LIST_ &&
        tcall_mcp_came_(params->given_, TCALL_MCP_CURSOR_))
        return TCALL_FLASH_TEXT_("there is no such cursor");
    if (method == TCALL_MCP_CALL_ && !mcp->tool)
        return TCALL_FLASH_TEXT_("there is no such tool");
    return NULL;
}

/* Does what was asked. In the later era each result says that it is whole, and
 * whose. */
static void tcall_mcp_result_(tcall_mcp *mcp)
{
    TCALL_MCP_WRITE_(mcp, "{\"jsonrpc\":\"2.0\",\"id\":%i,\"result\":{");
    if (tcall_mcp_modern_(mcp))
        TCALL_MCP_WRITE_(mcp, "\"resultType\":\"complete\",\"_meta\":"
                              "{\"io.modelcontextprotocol/serverInfo\":%w},");
    tcall_mcp_write_(mcp,
                     tcall_word_at_(tcall_mcp_results_, mcp->message.method));
    if (mcp->message.method == TCALL_MCP_LIST_)
        tcall_mcp_list_(mcp);
    TCALL_SAY(&mcp->out, "}}");
}

/* Answers a request. A method that is not known comes first: nobody has said
 * what its parameters may be. Misfits within the arguments of a tool are for
 * the model; all others are for the client. */
static void tcall_mcp_request_(tcall_mcp *mcp)
{
    const tcall_decoder *decoder = &mcp->at_work.decoder;
    uint8_t method = mcp->message.method;
    const char *fault;
    bool modern = tcall_mcp_modern_(mcp);
    tcall_mcp_find_(mcp);
    if (method == TCALL_MCP_OTHER_ || (modern && method <= TCALL_MCP_PING_)) {
        tcall_mcp_refuse_(mcp, -32601,
                          TCALL_FLASH_TEXT_("there is no such method"));
    } else if (decoder->error && !(method == TCALL_MCP_CALL_ &&
                                   tcall_mcp_only_arguments_(decoder))) {
        tcall_mcp_refuse_(mcp, -32602, NULL);
    } else if (modern && !tcall_mcp_is_(mcp->message.params.meta.version,
                                        tcall_mcp_modern_version_)) {
        tcall_mcp_refuse_(mcp, TCALL_MCP_BAD_VERSION_,
                          TCALL_FLASH_TEXT_("unsupported protocol version"));
    } else if ((fault = tcall_mcp_fault_(mcp)) != NULL) {
        tcall_mcp_refuse_(mcp, -32602, fault);
    } else {
        tcall_mcp_result_(mcp);
    }
}

/* Prepares for the next line. */
static void tcall_mcp_next_(tcall_mcp *mcp)
{
    tcall_decoder *decoder = &mcp->at_work.decoder;
    TCALL_COPY_(&mcp->message, &tcall_mcp_initial_, sizeof mcp->message);
    mcp->stash[0] = '\0';
    mcp->blank = true;
    tcall_decoder_init(decoder, &tcall_mcp_shape_, &mcp->message);
    decoder->hole = tcall_mcp_hole_;
    decoder->user = mcp;
    tcall_writer_init(&mcp->out, mcp->piece, sizeof mcp->piece);
    tcall_writer_sink(&mcp->out, mcp->desc.sink, mcp->desc.user);
}

/* Answers the line that has ended. Returns TCALL_OK or the error of the
 * sink. */
static int tcall_mcp_line_(tcall_mcp *mcp)
{
    int error;
    tcall_decoder_end(&mcp->at_work.decoder);
    if (!mcp->blank && !tcall_mcp_no_request_(mcp))
        tcall_mcp_request_(mcp);
    if (mcp->out.len)
        tcall_write_char_(&mcp->out, '\n');
    error = tcall_writer_flush(&mcp->out);
    tcall_mcp_next_(mcp);
    return error;
}

int tcall_mcp_feed(tcall_mcp *mcp, const char *bytes, size_t len)
{
    int error = TCALL_OK;
    size_t end;
    while (len) {
        for (end = 0; end < len && bytes[end] != '\n'; end++)
            if ((unsigned char)bytes[end] > ' ')
                mcp->blank = false;
        tcall_decoder_feed(&mcp->at_work.decoder, bytes, end);
        if (end == len)
            break;
        if (error == TCALL_OK)
            error = tcall_mcp_line_(mcp);
        else
            tcall_mcp_line_(mcp);
        bytes += end + 1;
        len -= end + 1;
    }
    return error;
}

void tcall_mcp_poison(tcall_mcp *mcp)
{
    mcp->blank = false;
    tcall_decoder_poison(&mcp->at_work.decoder);
}

/* Returns what is wrong with a row, or TCALL_OK. */
static int tcall_mcp_check_(const tcall_mcp_desc *desc, const tcall_tool *tool)
{
    const tcall_object *shape = tcall_mcp_shape_of_(tool);
    const char *name = TCALL_FETCH_POINTER_(const char *, &tool->name);
    size_t len = 0;
    while (len <= TOOLCALL_MCP_NAME && TCALL_BYTE_(name + len))
        len++;
    if (len > TOOLCALL_MCP_NAME || (!shape && !desc->call))
        return TCALL_E_TOOL;
    if (!desc->call && TCALL_FETCH_16_(&shape->size) > desc->room_size)
        return TCALL_E_MEMORY;
    return TCALL_OK;
}

int tcall_mcp_init(tcall_mcp *mcp, const tcall_mcp_desc *desc)
{
    int error = TCALL_OK;
    uint16_t i;
    memset(mcp, 0, sizeof *mcp);
    mcp->desc = *desc;
    tcall_mcp_next_(mcp);
    for (i = 0; i < desc->tool_count && !error; i++)
        error = tcall_mcp_check_(desc, desc->tools + i);
    return error;
}
#endif /* TOOLCALL_NO_MCP */

#ifdef __cplusplus
}
#endif
#endif /* TOOLCALL_IMPLEMENTATION */
