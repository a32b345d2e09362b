#pragma once
#include "answer.c"
#include "text_calls.h"

/* ==========================================================================
 * >>answer: framing, the end, and errors
 */

/* ---- framing ----
 *
 * An answer is a document, an array of documents, documents in lines (NDJSON),
 * or server-sent events (SSE) whose data are documents.
 */

enum {
    TCALL_FRAME_START_,   /* which framing it is, is not known yet */
    TCALL_FRAME_LINE_,    /* SSE: at the name of a line's field */
    TCALL_FRAME_IGNORED_, /* SSE: in a line that does not matter */
    TCALL_FRAME_BETWEEN_, /* between two documents */
    TCALL_FRAME_DOCUMENT_,
    TCALL_FRAME_OVER_ /* behind [DONE] */
};

/* Bytes in a member of comments, blank lines and documents that say nothing: a
 * comment each second for an hour is less. */
enum { TCALL_MAX_SILENCE_ = 65536 };

/* Of what is no answer so much is shown, with its NUL: ASCII, the rest as
 * spaces. */
enum { TCALL_PAGE_ = 80 };

static void tcall_reader_fail_(tcall_reader *r, int error)
{
    r->broken = true;
    if (!r->answer.error)
        r->answer.error = error;
}

void tcall_reader_init(tcall_reader *r, const tcall_provider *provider,
                       tcall_chat *chat,
                       void (*text)(void *user, tcall_str piece), void *user)
{
    memset(r, 0, sizeof *r);
    r->provider = provider;
    r->chat = chat;
    r->text = text;
    r->user = user;
    r->start = chat->block->low;
    r->answer.input_tokens = r->answer.output_tokens = r->answer.wait_ms = -1;
    r->in_page = true;
    tcall_reader_clear_(r);
}

static void tcall_reader_begin_document_(tcall_reader *r)
{
    r->state = TCALL_FRAME_DOCUMENT_;
    r->several = r->several || r->any_document;
    r->in_document = r->any_document = true;
    memset(&r->doc, 0, sizeof r->doc);
    r->doc.repeats =
        r->place[TCALL_AT_PENDING_] > r->start || r->answer.text_cut;
    r->member = (const uint8_t *)r->provider->answer;
    tcall_syntax_begin_(&r->syntax, &tcall_answer_user_);
    r->syntax.halves = true;
    r->syntax.lines = r->sse;
    tcall_syntax_feed_(&r->syntax, "{", 1);
}

static void tcall_reader_end_document_(tcall_reader *r)
{
    if (r->doc.event == TCALL_MEANS_RESTART)
        tcall_reader_clear_(r);
    tcall_reader_settle_all_(r);
    r->element.index = 0;
    r->known = r->known || r->doc.told;
    r->begins = r->begins || r->doc.event == TCALL_MEANS_ANSWER_BEGINS;
    if (r->doc.event == TCALL_MEANS_ANSWER_ENDS || (r->doc.whole && !r->begins))
        r->said.complete = true;
    else if (r->doc.piece)
        r->said.complete = false; /* it goes on */
    r->in_document = false;
    r->state = TCALL_FRAME_BETWEEN_;
}

static void tcall_reader_begin_line_(tcall_reader *r)
{
    r->state = TCALL_FRAME_LINE_;
    r->match = 0;
}

/* Takes bytes of a document, up to its end or, with SSE, to that of the line.
 * Returns where it stopped. */
static const char *tcall_reader_document_(tcall_reader *r, const char *bytes,
                                          const char *end)
{
    tcall_syntax_ *s = &r->syntax;
    if (r->kept)
        r->kept = bytes;
    bytes += tcall_syntax_feed_(s, bytes, (size_t)(end - bytes));
    if (r->kept)
        tcall_reader_keep_(r, bytes);
    if (!s->halt)
        return bytes;
    if (s->error) {
        tcall_reader_fail_(r, s->error);
    } else if (s->state == TCALL_AT_DONE_) {
        tcall_reader_end_document_(r);
        if (r->doc.told)
            r->silent = (uint32_t)(end - bytes);
    } else {
        tcall_reader_begin_line_(r);
        r->after_cr = bytes[-1] == '\r';
    }
    return bytes;
}

/* Is the beginning of what may be no answer still to be kept? */
static bool tcall_reader_shows_(const tcall_reader *r)
{
    return r->in_page && !r->answer.message[TCALL_PAGE_ - 2];
}

/* Keeps the beginning of what may be no answer, until it says something of an
 * error. */
static void tcall_reader_page_(tcall_reader *r, const char *bytes, size_t len)
{
    char *page = r->answer.message;
    size_t at = strlen(page), i;
    for (i = 0; i < len && at < TCALL_PAGE_ - 1; i++)
        page[at++] =
            (char)(bytes[i] >= ' ' && bytes[i] < 0x7F ? bytes[i] : ' ');
    page[at] = 0;
}

/* The name of an SSE field: those of "data:" count, and of "error:", which
 * llama.cpp used to write. A document may go on in the next line. */
static void tcall_reader_line_byte_(tcall_reader *r, char c)
{
    static const char names[] = "data:error:";
    if (r->match == 0 && c == 'e')
        r->match = 5;
    if (c != names[r->match++])
        r->state = TCALL_FRAME_IGNORED_;
    else if (c == ':')
        r->state =
            r->in_document ? TCALL_FRAME_DOCUMENT_ : TCALL_FRAME_BETWEEN_;
}

/* Between documents there are white space, the brackets and commas of an array
 * of documents, and the [DONE] of OpenAI, which is no JSON. */
static void tcall_reader_byte_between_(tcall_reader *r, char c)
{
    if (c == '{') {
        tcall_reader_begin_document_(r);
    } else if (c == 'D' && r->sse) {
        r->said.complete = true;
        r->state = TCALL_FRAME_OVER_;
    } else if (r->sse && c && strchr("ntf\"-0123456789", c)) {
        r->state = TCALL_FRAME_IGNORED_; /* null, or "ping" */
    } else if (!tcall_is_space_(c) && !strchr("[,]", c)) {
        tcall_reader_fail_(r, TCALL_E_PROTOCOL);
    }
}

/* A line of SSE ends. A blank one ends its event, which no document outlives.
 */
static void tcall_reader_line_end_(tcall_reader *r)
{
    if (r->state == TCALL_FRAME_LINE_ && r->in_document && r->match == 0)
        tcall_reader_fail_(r, TCALL_E_TRUNCATED);
    tcall_reader_begin_line_(r);
}

/* Takes a byte outside of documents. */
static void tcall_reader_byte_(tcall_reader *r, char c)
{
    bool after_cr = r->after_cr;
    if (r->state == TCALL_FRAME_OVER_)
        return;
    r->after_cr = r->sse && c == '\r';
    if (c == '\n' && after_cr)
        return;
    if (r->state == TCALL_FRAME_START_) {
        if (tcall_is_space_(c) || c & 0x80) /* a byte order mark */
            return;
        r->sse = c != '{' && c != '[';
        r->several = c == '[';
        r->state = r->sse ? TCALL_FRAME_LINE_ : TCALL_FRAME_BETWEEN_;
    }
    if (r->sse && (c == '\n' || c == '\r'))
        tcall_reader_line_end_(r);
    else if (r->state == TCALL_FRAME_LINE_)
        tcall_reader_line_byte_(r, c);
    else if (r->state == TCALL_FRAME_BETWEEN_)
        tcall_reader_byte_between_(r, c);
}

/* Before the first document the message has the beginning of what came. */
static void tcall_reader_fail_silence_(tcall_reader *r)
{
    tcall_reader_fail_(r, TCALL_E_LIMIT);
    if (!r->any_document)
        return;
    r->in_page = true;
    tcall_reader_message_(r,
                          tcall_str_of("comments or empty events without end"));
}

/* Passes over what most lines begin with, and over those that do not matter. */
static const char *tcall_reader_line_(tcall_reader *r, const char *bytes,
                                      const char *end)
{
    if (r->state == TCALL_FRAME_IGNORED_) {
        while (bytes < end && *bytes != '\n' && *bytes != '\r')
            bytes++;
    } else if (r->state == TCALL_FRAME_LINE_ && !r->after_cr && !r->match &&
               end - bytes > 5 && memcmp(bytes, "data: ", 6) == 0) {
        r->state =
            r->in_document ? TCALL_FRAME_DOCUMENT_ : TCALL_FRAME_BETWEEN_;
        bytes += 6;
    }
    return bytes;
}

/* Takes bytes of any kind. */
TCALL_NOINLINE_ static int tcall_reader_eat_(tcall_reader *r, const char *bytes,
                                             const char *end)
{
    if (tcall_reader_shows_(r))
        tcall_reader_page_(r, bytes, (size_t)(end - bytes));
    r->silent += (uint32_t)(end - bytes);
    while (bytes < end && !r->broken) {
        const char *from = bytes;
        if (r->state == TCALL_FRAME_DOCUMENT_)
            bytes = tcall_reader_document_(r, bytes, end);
        else
            bytes = tcall_reader_line_(r, bytes, end);
        if (bytes == from)
            tcall_reader_byte_(r, *bytes++);
    }
    if (r->silent > TCALL_MAX_SILENCE_ && !r->in_document && !r->broken)
        tcall_reader_fail_silence_(r);
    return r->broken ? r->answer.error : TCALL_OK;
}

int tcall_reader_feed(tcall_reader *r, const char *bytes, size_t len)
{
    /* The short way of bytes that come one by one. */
    if (len == 1 && r->state == TCALL_FRAME_DOCUMENT_ && !r->kept &&
        !r->broken && !tcall_reader_shows_(r) &&
        tcall_syntax_plain_byte_(&r->syntax, bytes)) {
        r->silent++;
        return TCALL_OK;
    }
    return tcall_reader_eat_(r, bytes, bytes + len);
}

/* ---- the end ---- */

/* An answer without text and calls may be an error. */
static void tcall_answer_check_empty_(tcall_answer *answer)
{
    if (answer->stop == TCALL_STOP_CONTENT_FILTER)
        answer->error = TCALL_E_REFUSED;
    if (answer->stop == TCALL_STOP_OTHER)
        answer->error = TCALL_E_PROVIDER;
    if (answer->error && !answer->message[0])
        tcall_append_cut_(answer->message, sizeof answer->message,
                          tcall_str_of(answer->stop_text));
}

/* Is the answer over, and was it an answer? A stream may have been cut between
 * two documents, one by itself not. */
static void tcall_reader_check_end_(tcall_reader *r)
{
    tcall_answer *answer = &r->answer;
    const bool alone =
        !r->sse && !r->several && r->doc.event == TCALL_MEANS_UNKNOWN;
    if (r->said.finished && !r->begins)
        r->said.complete = true;
    if (!answer->error && (!r->said.complete || r->in_document))
        answer->error =
            !r->in_page && !r->said.complete ? TCALL_E_PROVIDER
            : !r->any_document && r->sse     ? TCALL_E_PROTOCOL
            : r->any_document && !r->in_document && (alone || !r->known)
                ? TCALL_E_NO_ANSWER
                : TCALL_E_TRUNCATED;
    if (r->in_page && r->any_document && answer->error != TCALL_E_NO_ANSWER)
        answer->message[0] = 0;
}

/* Says how large the block should have been. */
static void tcall_reader_note_need_(tcall_reader *r)
{
    tcall_block *block = r->chat->block;
    size_t dropped = r->answer.reasoning_dropped;
    size_t need =
        block->low + block->high + r->missing + dropped + TCALL_RESERVE_;
    /* There was more at a time than is left in the end. */
    if (need <= block->size)
        need = block->size + r->missing + dropped;
    if (dropped)
        need += TCALL_RESERVE_;
    if (r->missing + dropped)
        tcall_block_note_(block, need);
}

int tcall_reader_end(tcall_reader *r)
{
    tcall_answer *answer = &r->answer;
    answer->message[tcall_utf8_whole_(tcall_str_of(answer->message))] = 0;
    tcall_reader_check_end_(r);
    if (!answer->error)
        tcall_reader_finish_(r);
    if (!answer->error && !answer->calls && !r->said.has_text) {
        tcall_answer_check_empty_(answer);
        if (r->missing && !answer->error) /* it was not empty */
            answer->error = TCALL_E_MEMORY;
    }
    if (!answer->error)
        answer->message[0] = 0;
    if (tcall_reasoning_is_free_(r))
        answer->reasoning_dropped = 0;
    tcall_reader_note_need_(r);
    if (!answer->error && r->text_calls && !answer->calls && r->said.has_text)
        r->text_calls->read(r->text_calls, r, r->said.cut || answer->text_cut);
    if (answer->error)
        tcall_block_cut_(r->chat->block, r->start);
    return answer->error;
}

/* ---- errors ----
 *
 * Providers report errors with an HTTP status, a code or type, and a sentence.
 * Where the status does not say enough, their words do.
 */

/* What providers write about their errors, in code, type or message. A space
 * may be an underscore there, capitals do not matter. The first row that occurs
 * counts. */
#define TCALL_ANSWER_WORDS_(X)                                        \
    /* These come as too many requests, but waiting does not help. */ \
    X("insufficient_quota", QUOTA)                                    \
    X("insufficient credits", QUOTA)                                  \
    X("insufficient balance", QUOTA)                                  \
    X("credit balance is too low", QUOTA)                             \
    X("context l", CONTEXT)                                           \
    X("context window", CONTEXT)                                      \
    X("context size", CONTEXT)                                        \
    X("prompt is too long", CONTEXT)                                  \
    X("prompt too long", CONTEXT)                                     \
    X("input is too long", CONTEXT)                                   \
    X("prompt_tokens", CONTEXT)                                       \
    X("prompt length", CONTEXT)                                       \
    X("input length", CONTEXT)                                        \
    X("number of tokens", CONTEXT)                                    \
    X("too many tokens", CONTEXT)                                     \
    X("token limit", CONTEXT)                                         \
    X("max_new_tokens", CONTEXT)                                      \
    X("api key", AUTH)                                                \
    X("authenticat", AUTH)                                            \
    X("permission", AUTH)                                             \
    X("not_found", NOT_FOUND)                                         \
    X("model identifier", NOT_FOUND)                                  \
    X("overloaded", OVERLOAD)                                         \
    X("unavailable", OVERLOAD)                                        \
    X("rate_limit", RATE)                                             \
    X("resource_exhausted", RATE)                                     \
    X("content filter", REFUSED)                                      \
    X("content_policy", REFUSED)                                      \
    X("content management policy", REFUSED)                           \
    X("invalid_prompt", REFUSED)                                      \
    X("data_inspection", REFUSED)                                     \
    X("usage guidelines", REFUSED)                                    \
    X("moderation", REFUSED)                                          \
    X("safety", REFUSED)                                              \
    X("invalid_request", REQUEST)                                     \
    X("invalid_argument", REQUEST)

#define TCALL_X_(words, error) words "\0"
static const char tcall_answer_words_[] = TCALL_ANSWER_WORDS_(TCALL_X_);
#undef TCALL_X_
#define TCALL_X_(words, error) TCALL_E_##error,
static const int8_t tcall_answer_errors_[] = {TCALL_ANSWER_WORDS_(TCALL_X_)};
#undef TCALL_X_

/* Returns whether the words are in text. */
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

/* The error that the provider's words name, or TCALL_OK. */
static int tcall_words_error_(const tcall_answer *answer)
{
    const char *words = tcall_answer_words_;
    const int8_t *error = tcall_answer_errors_;
    for (; *words; words += strlen(words) + 1, error++)
        if (tcall_contains_words_(answer->stop_text, words) ||
            tcall_contains_words_(answer->message, words))
            return *error;
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
    /* What the words say counts where the status leaves a doubt. Not every 403
     * is about the key: a region, a model or a gateway may forbid it as well.
     */
    return error == TCALL_E_QUOTA           ? error
           : status == 401                  ? TCALL_E_AUTH
           : status == 404                  ? TCALL_E_NOT_FOUND
           : status == 413                  ? TCALL_E_CONTEXT
           : status == 429                  ? TCALL_E_RATE
           : status == 503 || status == 529 ? TCALL_E_OVERLOAD
           : status == 403 && (!error || error == TCALL_E_REQUEST)
               ? TCALL_E_DENIED
           : error                         ? error
           : status >= 400 && status < 500 ? TCALL_E_REQUEST
                                           : TCALL_E_PROVIDER;
}
