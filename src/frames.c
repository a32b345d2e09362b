#pragma once
#include "pieces.c"
#include "text_calls.h"

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
    TCALL_FRAME_DOCUMENT_,
    TCALL_FRAME_OVER_ /* behind [DONE] */
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
    reader->in_page = true;
    if (tcall_reasoning_kept_(reader) != provider->reasoning &&
        !tcall_reasoning_is_free_(reader))
        tcall_reader_fail_(reader, TCALL_E_USAGE);
}

/* Is it a stream of server-sent events? */
static bool tcall_reader_in_lines_(const tcall_reader *reader)
{
    return TCALL_STREAMS_ && reader->sse;
}

static void tcall_reader_begin_document_(tcall_reader *reader)
{
    const uint8_t half_row = reader->scan.half_row;
    const uint16_t half = reader->scan.half;
    reader->state = TCALL_FRAME_DOCUMENT_;
    reader->several = reader->several || reader->any_document;
    reader->in_document = reader->any_document = true;
    reader->event = TCALL_MEANS_UNKNOWN;
    reader->whole = reader->piece = reader->told = false;
    reader->repeats =
        reader->unmerged > reader->start || reader->answer.text_cut;
    tcall_scan_init(&reader->scan, reader->provider->paths, tcall_reader_on_,
                    reader);
    reader->scan.lone = true;
    reader->scan.split = tcall_reader_in_lines_(reader);
    reader->scan.half_row = half_row;
    reader->scan.half = half;
    tcall_scan_feed(&reader->scan, "{", 1);
}

static void tcall_reader_end_document_(tcall_reader *reader)
{
    if (reader->event == TCALL_MEANS_RESTART)
        tcall_reader_clear_(reader);
    tcall_reader_settle_all_(reader);
    reader->index = 0;
    reader->silent =
        reader->told ? 0 : reader->silent + (uint32_t)reader->scan.pos;
    reader->known = reader->known || reader->told;
    if (reader->whole && !reader->begins)
        reader->complete = true;
    else if (reader->piece && reader->event != TCALL_MEANS_ANSWER_ENDS)
        reader->complete = false; /* it goes on */
    reader->in_document = false;
    reader->state = TCALL_FRAME_BETWEEN_;
}

static void tcall_reader_begin_line_(tcall_reader *reader)
{
    reader->state = TCALL_FRAME_LINE_;
    reader->match = 0;
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

/* Keeps the beginning of what may be no answer, until it says something of an
 * error. */
static void tcall_reader_page_(tcall_reader *reader, const char *bytes,
                               size_t len)
{
    char *page = reader->answer.message;
    size_t at, i;
    if (!reader->in_page || page[TCALL_PAGE_ - 2]) /* it is full */
        return;
    at = strlen(page);
    for (i = 0; i < len && at < TCALL_PAGE_ - 1; i++)
        page[at++] =
            (char)(bytes[i] >= ' ' && bytes[i] < 0x7F ? bytes[i] : ' ');
    page[at] = 0;
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
        reader->state = TCALL_FRAME_OVER_;
    } else if (tcall_reader_in_lines_(reader) && c &&
               strchr("ntf\"-0123456789", c)) {
        reader->state = TCALL_FRAME_IGNORED_; /* null, or "ping" */
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
    if (reader->state == TCALL_FRAME_OVER_)
        return;
    reader->silent++;
    reader->after_cr = tcall_reader_in_lines_(reader) && c == '\r';
    if (c == '\n' && after_cr)
        return;
    if (reader->state == TCALL_FRAME_START_) {
        if (tcall_is_space_(c) || c & 0x80) /* a byte order mark */
            return;
        reader->sse = c != '{' && c != '[';
        reader->several = c == '[';
        reader->state = tcall_reader_in_lines_(reader) ? TCALL_FRAME_LINE_
                                                       : TCALL_FRAME_BETWEEN_;
    }
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
    reader->in_page = false;
    tcall_append_cut_(answer->message, sizeof answer->message,
                      tcall_str_of("comments or empty events without end"));
}

int tcall_reader_feed(tcall_reader *reader, const char *bytes, size_t len)
{
    const char *end = bytes + len;
    tcall_reader_page_(reader, bytes, len);
    while (bytes < end && !reader->broken)
        if (reader->state == TCALL_FRAME_DOCUMENT_)
            bytes = tcall_reader_document_(reader, bytes, end);
        else
            tcall_reader_byte_(reader, *bytes++);
    if (reader->silent > TCALL_MAX_SILENCE_ && !reader->broken)
        tcall_reader_fail_silence_(reader);
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
    char id[TCALL_MADE_ID_];
    if (!tcall_head_len_(head, TCALL_PART_NAME_) &&
        !tcall_head_len_(head, TCALL_PART_TEXT_) && !head->error) {
        reader->answer.unread = true;
        return false;
    }
    if (!tcall_reader_add_(
            reader, TCALL_PART_ID_,
            tcall_chat_new_id_(reader->chat, reader->element, id)))
        return false;
    head = tcall_reader_head_(reader, reader->element);
    if (tcall_str_eq(tcall_head_part_(head, TCALL_PART_TEXT_),
                     tcall_str_of("null"))) {
        tcall_reader_resize_(reader, reader->element, TCALL_PART_TEXT_, 0);
        tcall_reader_append_(reader, reader->element, TCALL_PART_TEXT_,
                             tcall_str_of("{}"));
    }
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
        !tcall_head_len_(head, TCALL_PART_SIGNATURE_) &&
        !(head->flags & TCALL_FLAG_DROPPED_))
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

/* Why an answer is none that ends as its format says. */
static int tcall_reader_lacks_(const tcall_reader *reader)
{
    const bool alone = !reader->sse && !reader->several &&
                       reader->event == TCALL_MEANS_UNKNOWN;
    if (!reader->in_page && !reader->complete)
        return TCALL_E_PROVIDER;
    if (!reader->any_document && reader->sse)
        return TCALL_E_PROTOCOL;
    /* A stream may have been cut between two documents, one by itself not. */
    if (reader->any_document && !reader->in_document &&
        (alone || !reader->known))
        return TCALL_E_NO_ANSWER;
    return TCALL_E_TRUNCATED;
}

/* Is the answer over, and was it an answer? */
static void tcall_reader_check_end_(tcall_reader *reader)
{
    tcall_answer *answer = &reader->answer;
    if (reader->finished && !reader->begins)
        reader->complete = true;
    if (!answer->error && (!reader->complete || reader->in_document))
        answer->error = tcall_reader_lacks_(reader);
    if (reader->in_page && reader->any_document &&
        answer->error != TCALL_E_NO_ANSWER)
        answer->message[0] = 0;
}

/* Says how large the block should have been. */
static void tcall_reader_note_need_(tcall_reader *reader)
{
    tcall_block *block = reader->chat->block;
    size_t dropped = reader->answer.reasoning_dropped;
    size_t need =
        block->low + block->high + reader->missing + dropped + TCALL_RESERVE_;
    /* There was more at a time than is left in the end. */
    if (need <= block->size)
        need = block->size + reader->missing + dropped;
    if (dropped)
        need += TCALL_RESERVE_;
    if (reader->missing + dropped)
        tcall_block_note_(block, need);
}

int tcall_reader_end(tcall_reader *reader)
{
    tcall_answer *answer = &reader->answer;
    bool cut;
    answer->message[tcall_utf8_whole_(tcall_str_of(answer->message))] = 0;
    tcall_reader_check_end_(reader);
    if (!answer->error)
        tcall_reader_finish_(reader);
    if (!answer->error && !answer->calls && !reader->has_text) {
        tcall_answer_check_empty_(answer);
        if (reader->missing && !answer->error) /* it was not empty */
            answer->error = TCALL_E_MEMORY;
    }
    if (!answer->error)
        answer->message[0] = 0;
    if (tcall_reasoning_is_free_(reader))
        answer->reasoning_dropped = 0;
    tcall_reader_note_need_(reader);
    cut = reader->cut || answer->text_cut;
    if (!answer->error && reader->text_calls && !answer->calls &&
        reader->has_text)
        reader->text_calls->read(reader->text_calls, reader, cut);
    if (answer->error)
        reader->chat->block->low = reader->start;
    return answer->error;
}
