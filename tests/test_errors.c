/*
 * Error codes are for machines and stay; sentences are for models and people.
 */
#ifdef TEST_LINKED
#include "toolcall.h"
#else
#include "../src/base.c"
#endif
#include "check.h"

/* All codes, in the order of their numbers. */
static const char *const codes[] = {
    "again",
    "memory",
    "usage",
    "tool",
    "unknown-tool",
    "denied",
    "approval",
    "failed",
    "cut",
    "timeout",
    "limit",
    "cancelled",
    "aborted",
    "service",
    "stale",
    "unread",
    "invalid",
    "truncated",
    "bad-value",
    "bad-escape",
    "trailing-data",
    "nul",
    "utf-8",
    "depth",
    "bare-word",
    "missing-comma",
    "missing-colon",
    "unescaped-quote-or-missing-comma",
    "bad-key",
    "bracket-mismatch",
    "multiple-values",
    "root-not-object",
    "duplicate-key",
    "range",
    "budget",
    "schema",
    "output",
    "twice",
    "loop",
    "provider",
    "request",
    "not-found",
    "context",
    "refused",
    "overload",
    "auth",
    "rate",
    "resolve",
    "connect",
    "tls",
    "certificate",
    "wrong-host",
    "expired",
    "not-yet-valid",
    "clock-not-set",
    "no-entropy",
    "closed",
    "protocol",
    "length",
    "queued",
    "empty",
    "unhandled",
    "quota",
    "no-answer",
};

/* What a switch leaves out is said by the code alone. */
#if defined TOOLCALL_NO_SENTENCES
enum { SAID_CALL, SAID_SCHEMA = 0, SAID_HOOKS = 0, SAID_AGENT = 0 };
#else
enum {
    SAID_CALL = 1,
    SAID_SCHEMA = 1,
    SAID_HOOKS = 1,
#ifdef TOOLCALL_NO_AGENT
    SAID_AGENT = 0
#else
    SAID_AGENT = 1
#endif
};
#endif

#define CALL(name, code, sentence) {TCALL_E_##name, code, sentence, SAID_CALL},
#define SCHEMA(name, code, sentence) \
    {TCALL_E_##name, code, sentence, SAID_SCHEMA},
#define HOOKS(name, code, sentence) \
    {TCALL_E_##name, code, sentence, SAID_HOOKS},
#define AGENT(name, code, sentence) \
    {TCALL_E_##name, code, sentence, SAID_AGENT},
static const struct {
    int error;
    const char *code, *sentence;
    bool said;
} rows[] = {TCALL_ERRORS_CALL(CALL) TCALL_ERRORS_SCHEMA(SCHEMA)
                TCALL_ERRORS_HOOKS(HOOKS) TCALL_ERRORS_AGENT(AGENT)};

#define ROWS (sizeof rows / sizeof *rows)

static void test_codes(void)
{
    size_t i, j;
    CHECK(ROWS == sizeof codes / sizeof *codes);
    for (i = 0; i < ROWS; i++) {
        CHECK(rows[i].error == -1 - (int)i);
        CHECK(strcmp(rows[i].code, codes[i]) == 0);
        CHECK(strcmp(tcall_error_code(rows[i].error), codes[i]) == 0);
        CHECK(strspn(codes[i], "abcdefghijklmnopqrstuvwxyz-8") ==
              strlen(codes[i]));
        for (j = 0; j < i; j++)
            CHECK(strcmp(codes[i], codes[j]) != 0);
    }
}

static void test_sentences(void)
{
    size_t i, j;
    for (i = 0; i < ROWS; i++) {
        const char *text = tcall_error_text(rows[i].error);
        CHECK(strcmp(text, rows[i].said ? rows[i].sentence : rows[i].code) ==
              0);
        /* several words, none of them the code in place of a sentence */
        CHECK(strchr(rows[i].sentence, ' ') != NULL);
        CHECK(strcmp(rows[i].sentence, rows[i].code) != 0);
        /* no escaping is needed where it goes into JSON */
        CHECK(strpbrk(text, "\"\\\n") == NULL);
        for (j = 0; j < i; j++)
            CHECK(strcmp(rows[i].sentence, rows[j].sentence) != 0);
    }
}

static void test_other_numbers(void)
{
    CHECK(strcmp(tcall_error_code(TCALL_OK), "ok") == 0);
    CHECK(strcmp(tcall_error_code(7), "ok") == 0);
    CHECK(strcmp(tcall_error_text(INT_MAX), "ok") == 0);
    CHECK(strcmp(tcall_error_code(-1 - (int)ROWS), "?") == 0);
    CHECK(strcmp(tcall_error_code(INT_MIN), "?") == 0);
    CHECK(strcmp(tcall_error_text(INT_MIN), "unknown error") == 0);
}

static void test_types(void)
{
    static const struct {
        int error;
        const char *type;
    } is[] = {
        {TCALL_E_INVALID, "validation"},   {TCALL_E_TRUNCATED, "validation"},
        {TCALL_E_DUPLICATE, "validation"}, {TCALL_E_UNKNOWN, "validation"},
        {TCALL_E_DENIED, "permission"},    {TCALL_E_ABORTED, "permission"},
        {TCALL_E_TWICE, "security"},       {TCALL_E_FAILED, "user"},
        {TCALL_E_MEMORY, "system"},        {TCALL_E_CONNECT, "system"},
        {TCALL_E_SCHEMA, "system"},        {TCALL_E_OUTPUT, "system"},
        {TCALL_E_CANCELLED, "cancelled"},  {TCALL_E_TIMEOUT, "timeout"},
        {TCALL_E_BUDGET, "system"},        {TCALL_E_CUT, "validation"}};
    size_t i;
    for (i = 0; i < sizeof is / sizeof *is; i++)
        CHECK(strcmp(tcall_error_type(is[i].error), is[i].type) == 0);
}

int main(void)
{
    test_codes();
    test_sentences();
    test_other_numbers();
    test_types();
    return check_sum("test_errors");
}
