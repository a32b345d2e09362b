#pragma once
#include "answer.h"
#include "provider.c"

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
