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
/* Its frame shall not count where it is not at work. */
#define TCALL_APART_ __attribute__((noinline))
#else
#define TCALL_UNUSED_
#define TCALL_APART_
#endif
/* Where memory is dear, second ways that only save time are left out. */
#ifdef __OPTIMIZE_SIZE__
#define TCALL_LEAN_ 1
#else
#define TCALL_LEAN_ 0
#endif
/* Registers of eight bytes, the first of which is the lowest. */
#if defined(__LP64__) && defined(__BYTE_ORDER__) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TCALL_WIDE_
#endif

/* Nesting of JSON values that is accepted; deeper input is TCALL_E_DEPTH. */
#ifndef TOOLCALL_MAX_DEPTH
#define TOOLCALL_MAX_DEPTH 64
#endif

/* X(name, text): text is for the model or the developer. Its last word is the
 * code, which is for machines and stable. */
#define TCALL_ERRORS(X)                                       \
    X(AGAIN, "again")                                         \
    X(MEMORY, "block out of memory")                          \
    X(USAGE, "wrong usage")                                   \
    X(TRUNCATED, "text truncated")                            \
    X(BARE_WORD, "bare-word")                                 \
    X(BAD_VALUE, "bad-value")                                 \
    X(MISSING_COMMA, "missing-comma")                         \
    X(MISSING_COLON, "missing-colon")                         \
    X(UNESCAPED_QUOTE, "unescaped-quote-or-missing-comma")    \
    X(BAD_ESCAPE, "bad-escape")                               \
    X(BAD_KEY, "a key must be a string: bad-key")             \
    X(BRACKETS, "bracket-mismatch")                           \
    X(TRAILING, "trailing-data")                              \
    X(MULTIPLE, "multiple-values")                            \
    X(NOT_OBJECT, "must be one JSON object: root-not-object") \
    X(NUL, "nul")                                             \
    X(UTF8, "utf-8")                                          \
    X(DUPLICATE, "duplicate-key")                             \
    X(DEPTH, "depth")                                         \
    X(RANGE, "range")                                         \
    X(BUDGET, "too many steps: budget")                       \
    X(SCHEMA, "unusable schema")                              \
    X(INVALID, "does not fit the schema: invalid")            \
    X(TOOL, "wrongly defined tool")                           \
    X(UNKNOWN, "unknown-tool")                                \
    X(DENIED, "denied")                                       \
    X(APPROVAL, "waits for approval")                         \
    X(FAILED, "the tool failed")                              \
    X(CUT, "send it again, it was cut")                       \
    X(PROVIDER, "error of the provider")                      \
    X(REQUEST, "refused request")                             \
    X(NOT_FOUND, "model or address not-found")                \
    X(CONTEXT, "too long for the context")                    \
    X(REFUSED, "content refused")                             \
    X(OVERLOAD, "wait: provider overload")                    \
    X(AUTH, "key refused: auth")                              \
    X(RATE, "wait: over the request rate")                    \
    X(RESOLVE, "host does not resolve")                       \
    X(CONNECT, "host does not connect")                       \
    X(TLS, "no secure connection: tls")                       \
    X(CERTIFICATE, "untrusted certificate")                   \
    X(WRONG_HOST, "wrong-host")                               \
    X(EXPIRED, "expired")                                     \
    X(NOT_YET, "not-yet-valid")                               \
    X(CLOCK, "clock-not-set")                                 \
    X(ENTROPY, "no-entropy")                                  \
    X(TIMEOUT, "timeout")                                     \
    X(CLOSED, "connection ended too early: closed")           \
    X(PROTOCOL, "against the protocol")                       \
    X(LIMIT, "reached a limit")                               \
    X(CANCELLED, "cancelled")                                 \
    X(ABORTED, "aborted")                                     \
    X(SERVICE, "missing service")                             \
    X(OUTPUT, "does not fit its schema: output")              \
    X(TWICE, "ran before, must not run twice")                \
    X(LOOP, "loop")                                           \
    X(STALE, "has changed, read it again: stale")             \
    X(UNREAD, "read it first: unread")

enum {
#define TCALL_X_(name, text) TCALL_I_##name,
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
        TCALL_I_COUNT
};

enum {
#define TCALL_X_(name, text) TCALL_E_##name = -1 - TCALL_I_##name,
    TCALL_ERRORS(TCALL_X_)
#undef TCALL_X_
        TCALL_OK = 0
};

/* Bytes from outside; ptr may be NULL when len is 0. */
typedef struct tcall_str {
    const char *ptr;
    size_t len;
} tcall_str;

/* Text of C as a slice; NULL gives the empty one. */
TCALL_API tcall_str tcall_str_of(const char *text);
TCALL_API bool tcall_str_eq(tcall_str a, tcall_str b);

/* The code ("truncated") and the text of an error ("text truncated"); anything
 * >= 0 is "ok". */
TCALL_API const char *tcall_error_code(int error);
TCALL_API const char *tcall_error_text(int error);
