#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * caller lies on the deepest path of calls and it does not, or when the least
 * programs are smaller so. */
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
    X(QUOTA, "quota", "the account has no quota or credit left")              \
    X(NO_ANSWER, "no-answer",                                                 \
      "what came is complete, but no answer in the format of this provider")

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

/* Returns the code of an error, "truncated", a static text. 0 and above give
 * "ok". */
TCALL_API const char *tcall_error_code(int error);
/* Returns its sentence: "the JSON text ends too early: send all of it", static
 * too. It is the code where the sentence was left out: TOOLCALL_NO_AGENT leaves
 * out those of what only the loop reports, TOOLCALL_NO_SENTENCES all of them.
 */
TCALL_API const char *tcall_error_text(int error);
/* Returns whose matter an error is: "validation", "permission", "user",
 * "system", "security", "cancelled" or "timeout". */
TCALL_API const char *tcall_error_type(int error);

/* Types of JSON; TCALL_MISSING where there is no value. */
typedef enum tcall_type {
    TCALL_MISSING,
    TCALL_NULL,
    TCALL_BOOL,
    TCALL_NUMBER,
    TCALL_STRING,
    TCALL_ARRAY,
    TCALL_OBJECT
} tcall_type;

/* A UTF-8 character that has begun. */
typedef struct tcall_utf_ {
    uint8_t left, low, high; /* bytes to come; bounds of the next one */
} tcall_utf_;
