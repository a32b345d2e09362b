#pragma once
#include "answer.h"
#include "chat.c"
#include "tools.c"

/* ==========================================================================
 * >>answer
 *
 * Providers report errors with an HTTP status, a code or type, and a sentence.
 * Where the status does not say enough, their words do.
 */

/* What providers write about their errors, in code, type or message. A space
 * may be an underscore there, capitals do not matter. The first row that
 * occurs counts. */
static const struct {
    const char *words;
    int error;
} tcall_answer_errors_[] = {
    {"context l", TCALL_E_CONTEXT}, /* length, limit */
    {"context window", TCALL_E_CONTEXT},
    {"context size", TCALL_E_CONTEXT},
    {"prompt is too long", TCALL_E_CONTEXT},
    {"prompt too long", TCALL_E_CONTEXT},
    {"input is too long", TCALL_E_CONTEXT},
    {"prompt_tokens", TCALL_E_CONTEXT},
    {"prompt length", TCALL_E_CONTEXT},
    {"input length", TCALL_E_CONTEXT},
    {"number of tokens", TCALL_E_CONTEXT},
    {"too many tokens", TCALL_E_CONTEXT},
    {"token limit", TCALL_E_CONTEXT},
    {"max_new_tokens", TCALL_E_CONTEXT},
    {"api key", TCALL_E_AUTH},
    {"authenticat", TCALL_E_AUTH},
    {"permission", TCALL_E_AUTH},
    {"not_found", TCALL_E_NOT_FOUND},
    {"model identifier", TCALL_E_NOT_FOUND},
    {"overloaded", TCALL_E_OVERLOAD},
    {"unavailable", TCALL_E_OVERLOAD},
    {"rate_limit", TCALL_E_RATE},
    {"resource_exhausted", TCALL_E_RATE},
    {"content filter", TCALL_E_REFUSED},
    {"content_policy", TCALL_E_REFUSED},
    {"content management policy", TCALL_E_REFUSED},
    {"invalid_prompt", TCALL_E_REFUSED},
    {"data_inspection", TCALL_E_REFUSED},
    {"usage guidelines", TCALL_E_REFUSED},
    {"moderation", TCALL_E_REFUSED},
    {"safety", TCALL_E_REFUSED},
    {"invalid_request", TCALL_E_REQUEST},
    {"invalid_argument", TCALL_E_REQUEST},
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

static bool tcall_contains_words_(const char *text, const char *words)
{
    for (; *text; text++) {
        size_t i = 0;
        while (words[i] && (tcall_to_lower_(text[i]) == words[i] ||
                            (words[i] == ' ' && text[i] == '_')))
            i++;
        if (!words[i])
            return true;
    }
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
 * answer was cut off. */
TCALL_SHARED_ void tcall_answer_stop_(tcall_answer *answer, tcall_stop stop,
                                      const char *word)
{
    bool cut =
        stop == TCALL_STOP_LENGTH && answer->stop != TCALL_STOP_CONTENT_FILTER;
    if (answer->stop != TCALL_STOP_UNKNOWN && !cut)
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
    error = tcall_status_error_(status);
    if (error)
        return error;
    error = tcall_words_error_(answer);
    if (status == 403 && error != TCALL_E_REFUSED)
        return TCALL_E_AUTH;
    if (error)
        return error;
    return status >= 400 && status < 500 ? TCALL_E_REQUEST : TCALL_E_PROVIDER;
}
