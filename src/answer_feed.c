#pragma once
#include "answer.c"
#include "text_calls.h"

/* ==========================================================================
 * >>answer: members and framing
 */

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

/* Statuses that leave no doubt. */
static const struct {
    int16_t status;
    int8_t error;
} tcall_answer_statuses_[] = {
    {401, TCALL_E_AUTH}, {404, TCALL_E_NOT_FOUND}, {413, TCALL_E_CONTEXT},
    {429, TCALL_E_RATE}, {503, TCALL_E_OVERLOAD},  {529, TCALL_E_OVERLOAD},
};

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

/* Returns a number of up to nine digits, or -1 if the text has a sign or a
 * fraction or is no number. */
static long tcall_digits_(const char *text)
{
    const char *from = text;
    long number = 0;
    for (; tcall_is_digit_(*text) && number < 100000000; text++)
        number = number * 10 + (*text - '0');
    return *text || text == from ? -1 : number;
}

/* Returns "48s", "34.4s" or "250ms" in milliseconds, at most 2147483647, or -1
 * for anything else. */
static long tcall_delay_ms_(const char *text)
{
    static const char digits[] = "0123456789";
    const tcall_int most = 0x7FFFFFFF;
    size_t len = strspn(text, digits);
    tcall_num_ number;
    tcall_int ms;
    int rest;
    if (text[len] == '.')
        len += 1 + strspn(text + len + 1, digits);
    if (!len || (strcmp(text + len, "s") != 0 && strcmp(text + len, "ms") != 0))
        return -1;
    number = tcall_num_read_(tcall_slice_(text, len));
    tcall_num_whole_(&number, text[len] == 's' ? 3 : 0, &ms, &rest);
    return (long)(ms < most ? ms : most);
}

/* Returns how many bytes of the text are whole characters. */
static size_t tcall_utf8_whole_(tcall_str text)
{
    size_t last = text.len ? tcall_utf8_cut_(text.ptr, text.len - 1) : 0;
    bool cut = last < text.len && text.ptr[last] & 0x80 &&
               !tcall_utf8_len_(text.ptr + last, text.ptr + text.len);
    return cut ? last : text.len;
}

/* Appends to a text that is cut rather than refused. */
static void tcall_append_cut_(char *text, size_t cap, tcall_str piece)
{
    size_t len = strlen(text), room = cap - 1 - len;
    piece.len = piece.len < room ? piece.len : room;
    *tcall_copy_(text + len, piece) = 0;
}

/* Keeps the provider's own word for why it stopped, or for its error. */
static void tcall_answer_keep_word_(tcall_answer *answer, const char *word)
{
    answer->stop_text[0] = 0;
    tcall_append_cut_(answer->stop_text, sizeof answer->stop_text,
                      tcall_str_of(word));
}

/* A further reason to stop. The first one counts, unless this one says that the
 * answer was cut off, or is not done for us where the provider is done. */
static void tcall_answer_stop_(tcall_answer *answer, tcall_stop stop,
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
static void tcall_answer_error_word_(tcall_answer *answer, bool code,
                                     const char *word)
{
    const char known = answer->stop_text[0];
    if (!known || tcall_is_digit_(known) || (code && !tcall_is_digit_(*word)))
        tcall_answer_keep_word_(answer, word);
}

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

/* ---- reasoning ---- */

/* Is a piece of this part, that begins with c, kept? A signature is not while
 * its element only begins. */
static bool tcall_reasoning_takes_(const tcall_reader *reader, int field,
                                   char c)
{
    const unsigned kept = tcall_reasoning_kept_(reader);
    if (field == TCALL_FIELD_SIGNATURE)
        return kept & TCALL_KEEPS_SIGNS_ &&
               reader->doc.event != TCALL_MEANS_ELEMENT_BEGINS;
    if (field == TCALL_FIELD_REASONING_DATA)
        return kept & (c == '[' ? TCALL_KEEPS_LISTS_ : TCALL_KEEPS_DATA_);
    return kept & TCALL_KEEPS_WORDS_ && c == '"' &&
           (!reader->said.words || reader->said.words == field);
}

/* Is anything of it there, or was and is missed? */
static bool tcall_reasoning_is_some_(const tcall_reader *reader,
                                     const tcall_item_head_ *head)
{
    if (head->flags & TCALL_FLAG_DROPPED)
        return !tcall_reasoning_is_free_(reader);
    return tcall_head_len_(head, TCALL_PART_NAME_) ||
           tcall_head_len_(head, TCALL_PART_TEXT_) ||
           tcall_head_len_(head, TCALL_PART_SIGNATURE_);
}

/* A text of the model is complete, where each is an item with a word of its
 * own: that goes back with it, and the next text is another one. */
static void tcall_reasoning_end_text_(tcall_reader *reader)
{
    if (reader->element.type != TCALL_MEANS_TEXT ||
        tcall_reasoning_kept_(reader) != TCALL_REASONING_ELEMENTS)
        return;
    if (reader->element.open)
        tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_])->kind =
            TCALL_ITEM_TEXT;
    reader->said.text_ends = reader->said.has_text;
}

/* May the current element turn out to be reasoning, whose JSON text is kept?
 * Its type usually comes first. */
static bool tcall_reasoning_may_come_(const tcall_reader *reader)
{
    return tcall_reasoning_kept_(reader) == TCALL_REASONING_ELEMENTS &&
           reader->doc.event != TCALL_MEANS_ELEMENT_BEGINS &&
           !(reader->doc.whole && reader->doc.repeats) &&
           (!reader->element.type ||
            reader->element.type == TCALL_MEANS_REASONING) &&
           reader->answer.error != TCALL_E_MEMORY;
}

/* The element is complete: its text stays if it is reasoning. */
static void tcall_reasoning_end_raw_(tcall_reader *reader)
{
    tcall_item_head_ *head =
        tcall_reader_head_(reader, reader->place[TCALL_AT_RAW_]);
    if (!reader->keeping_raw)
        return;
    reader->keeping_raw = false;
    head->flags |= TCALL_FLAG_RAW | TCALL_FLAG_WHOLE_;
    head->index = reader->element.index;
    if (reader->element.type == TCALL_MEANS_REASONING)
        reader->answer.reasoning_dropped += reader->raw_missing;
    else
        tcall_reader_remove_(reader, reader->place[TCALL_AT_RAW_]);
    reader->raw_missing = 0;
}

/* ---- pieces of a stream, and whole answers ---- */

/* A value of this field begins: decides whether the current document is a piece
 * or a whole answer. Some servers send all so far beside each piece. */
static void tcall_reader_tell_piece_(tcall_reader *reader, int field)
{
    if (field == TCALL_FIELD_WHOLE_ANSWER) {
        reader->doc.in_whole = true;
        reader->doc.whole = !reader->doc.piece;
    } else if (!reader->doc.in_whole &&
               (field == TCALL_FIELD_PIECE || field == TCALL_FIELD_ELEMENT ||
                field == TCALL_FIELD_DELTA)) {
        /* what it brought of a whole answer is void */
        if (reader->doc.whole)
            tcall_block_cut_(reader->chat->block,
                             reader->place[TCALL_AT_PENDING_]);
        reader->doc.whole = false;
        reader->doc.piece = true;
    }
}

/* All elements of a choice, or of a document, are complete. Why another choice
 * than the first stopped does not matter. */
static void tcall_reader_settle_all_(tcall_reader *reader)
{
    tcall_reader_settle_elements_(reader);
    if (tcall_reader_in_other_(reader)) {
        reader->said.cut = reader->doc.cut_before;
        if (reader->answer.stop != (tcall_stop)reader->doc.stop_before)
            reader->answer.stop_text[0] = 0;
        reader->answer.stop = (tcall_stop)reader->doc.stop_before;
    } else if (reader->doc.stopped) {
        reader->said.finished = true;
    }
    reader->doc.stopped = false;
    reader->doc.choice = TCALL_CHOICE_NONE_;
}

/* Whole arguments begin: they may be those of the last call with this number.
 * Only the first element of a document is compared. */
static void tcall_reader_echo_(tcall_reader *reader)
{
    const size_t pending = reader->place[TCALL_AT_PENDING_];
    size_t at = reader->start;
    if (reader->doc.whole ||
        pending != (reader->element.open ? reader->place[TCALL_AT_ELEMENT_]
                                         : reader->chat->block->low))
        return;
    reader->echo = 0;
    for (; at < pending; at = tcall_reader_next_(reader, at)) {
        const tcall_item_head_ *known = tcall_reader_head_(reader, at);
        if (known->kind != TCALL_ITEM_CALL ||
            (reader->element.index && known->index != reader->element.index))
            continue;
        reader->place[TCALL_AT_ECHOED_] = at;
        reader->doc.echoes = true;
    }
}

/* Adds a piece to arguments or text that grow at the end of the block. Returns
 * false where more than that is to be done. */
static bool tcall_reader_grow_(tcall_reader *reader, tcall_str piece)
{
    tcall_block *block = reader->chat->block;
    tcall_item_head_ *head;
    if (!reader->growing ||
        tcall_block_free_(block) < piece.len + TCALL_RESERVE_)
        return false;
    head = tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_]);
    tcall_head_set_len_(head, TCALL_PART_TEXT_,
                        tcall_head_len_(head, TCALL_PART_TEXT_) + piece.len);
    tcall_copy_(block->base + block->low, piece);
    tcall_block_grow_(block, piece.len);
    return true;
}

/* ---- fields ---- */

/* Is it a signature by itself? Pieces of calls have a number there. */
static bool tcall_reader_signs_nothing_(const tcall_reader *reader,
                                        const tcall_item_head_ *head)
{
    return tcall_reasoning_kept_(reader) == TCALL_REASONING_SIGNATURES &&
           head->kind == TCALL_ITEM_CALL && !reader->element.index &&
           tcall_head_is_signed_(head) &&
           tcall_head_size_(head) ==
               TCALL_HEAD_ + tcall_head_len_(head, TCALL_PART_SIGNATURE_);
}

/* The current element is complete. */
static void tcall_reader_element_end_(tcall_reader *reader)
{
    const uint8_t type = reader->element.type;
    if (reader->answer.error == TCALL_E_MEMORY)
        reader->missing += TCALL_HEAD_;
    tcall_reasoning_end_raw_(reader);
    tcall_reasoning_end_text_(reader);
    if (reader->element.open) {
        tcall_item_head_ *head =
            tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_]);
        head->index = reader->element.index;
        head->flags |= reader->element.flags;
        if (reader->element.fault)
            head->error = reader->element.fault;
        /* It may be a signature without a word. */
        if (type == TCALL_MEANS_REASONING && tcall_head_is_signed_(head))
            head->kind = TCALL_ITEM_REASONING;
        if (tcall_reader_signs_nothing_(reader, head))
            head->kind = TCALL_ITEM_TEXT; /* which is empty */
        if (type > TCALL_MEANS_UNKNOWN && type != TCALL_MEANS_CALL &&
            type != TCALL_MEANS_TEXT && head->kind != TCALL_ITEM_REASONING)
            head->kind = TCALL_ITEM_VOID_;
    }
    reader->answer.unread |= type == TCALL_MEANS_OTHER;
    memset(&reader->element, 0, sizeof reader->element);
}

/* Returns what the current word means, or otherwise if it is not listed. */
static uint8_t tcall_reader_meaning_(const tcall_reader *reader,
                                     const tcall_words *list, uint8_t otherwise)
{
    const char *word = list->words;
    const uint8_t *means = list->means;
    for (; *word; word += strlen(word) + 1, means++)
        if (strcmp(word, reader->word) == 0)
            return *means;
    return otherwise;
}

/* A reason to stop: after some the last call must not run. */
static void tcall_reader_stop_word_(tcall_reader *reader, int field)
{
    const uint8_t stop = tcall_reader_meaning_(reader, reader->provider->stops,
                                               TCALL_STOP_OTHER);
    if (tcall_reader_in_other_(reader))
        return;
    if (stop == TCALL_STOP_LENGTH || stop == TCALL_STOP_CONTENT_FILTER)
        reader->said.cut = true;
    if (field == TCALL_FIELD_STOP_REASON) {
        if (stop == TCALL_STOP_CONTENT_FILTER)
            reader->answer.stop = TCALL_STOP_CONTENT_FILTER;
    } else if (reader->word[0] && stop == TCALL_STOP_UNKNOWN) {
        reader->answer.pending = true;
    } else if (reader->word[0]) {
        reader->doc.stopped = true;
        reader->answer.pending = false;
        tcall_answer_stop_(&reader->answer, (tcall_stop)stop, reader->word);
    }
}

/* The type of an element. */
static void tcall_reader_type_word_(tcall_reader *reader, uint8_t means)
{
    reader->element.type = means;
    if (means == TCALL_MEANS_UNHANDLED)
        tcall_answer_stop_(&reader->answer, TCALL_STOP_OTHER, reader->word);
    /* What a stream says of it later has its number only. */
    if (means == TCALL_MEANS_OTHER && !reader->doc.whole)
        tcall_reader_open_(reader, TCALL_FIELD_NONE);
}

/* The name of an event. */
static void tcall_reader_event_word_(tcall_reader *reader, uint8_t means)
{
    reader->doc.event = means;
    if (means == TCALL_MEANS_ANSWER_ENDS)
        reader->said.complete = true;
    if (means == TCALL_MEANS_ELEMENT_ENDS)
        reader->doc.stopped = true;
    if (means == TCALL_MEANS_ANSWER_BEGINS)
        reader->begins = true;
}

/* A number is complete; no number is -1. */
static void tcall_reader_number_(tcall_reader *reader, int field)
{
    tcall_answer *answer = &reader->answer;
    const long number = tcall_digits_(reader->word);
    if (field == TCALL_FIELD_INDEX) {
        reader->element.index = (uint8_t)(number < 255 ? number + 1 : 0);
    } else if (field == TCALL_FIELD_CHOICE_INDEX) {
        reader->doc.choice = number ? TCALL_CHOICE_OTHER_ : TCALL_CHOICE_FIRST_;
    } else if (number >= 0) {
        *(field == TCALL_FIELD_INPUT_TOKENS ? &answer->input_tokens
                                            : &answer->output_tokens) = number;
    }
}

/* A short value is complete. */
static void tcall_reader_word_(tcall_reader *reader, int field)
{
    const tcall_words *types = reader->provider->types;
    const uint8_t means =
        tcall_reader_meaning_(reader, types, TCALL_MEANS_OTHER);
    if (field == TCALL_FIELD_TYPE)
        tcall_reader_type_word_(reader, means);
    else if (field == TCALL_FIELD_EVENT)
        tcall_reader_event_word_(reader, means);
    else if (field == TCALL_FIELD_STOP || field == TCALL_FIELD_STOP_REASON)
        tcall_reader_stop_word_(reader, field);
    else if (field == TCALL_FIELD_RETRY_DELAY)
        reader->answer.wait_ms = tcall_delay_ms_(reader->word);
    else if (field >= TCALL_FIELD_ERROR_TYPE)
        tcall_answer_error_word_(&reader->answer,
                                 field == TCALL_FIELD_ERROR_CODE, reader->word);
    else
        tcall_reader_number_(reader, field);
}

static bool tcall_field_is_word_(int field)
{
    return field >= TCALL_FIELD_INDEX;
}

/* Is a value of this part, which begins with c, of no use? One that is there
 * already is none where a stream ends with the whole answer. */
static bool tcall_reader_skips_part_(const tcall_reader *reader, int field,
                                     char c)
{
    const bool text = field == TCALL_FIELD_TEXT || field == TCALL_FIELD_DELTA;
    const bool reasons = field == TCALL_FIELD_SIGNATURE ||
                         tcall_field_kind_(field) == TCALL_ITEM_REASONING;
    return (reasons && !tcall_reasoning_takes_(reader, field, c)) ||
           (text && c != '"') ||
           (field != TCALL_FIELD_TEXT && reader->element.open &&
            tcall_reader_len_(reader, reader->place[TCALL_AT_ELEMENT_],
                              tcall_field_part_(field)));
}

/* A part of an element begins with c. Returns whether it is of use. */
static bool tcall_reader_begin_part_(tcall_reader *reader, int field, char c)
{
    if (field == TCALL_FIELD_ALL_ARGUMENTS) {
        reader->element.flags |= TCALL_FLAG_WHOLE_;
        /* Arguments are text there; an object was never reported. */
        reader->element.fault =
            (int8_t)(c == '{' ? TCALL_E_BAD_VALUE : TCALL_OK);
    }
    if (field == TCALL_FIELD_ALL_ARGUMENTS ||
        (field == TCALL_FIELD_ARGUMENTS && c == '{'))
        reader->element.flags |= TCALL_FLAG_DEFAULT_;
    if (tcall_reader_skips_part_(reader, field, c))
        return false;
    if (field == TCALL_FIELD_ALL_ARGUMENTS ||
        (field == TCALL_FIELD_DELTA &&
         reader->doc.event == TCALL_MEANS_ALL_ARGUMENTS))
        tcall_reader_echo_(reader);
    /* Text and reasoning make an element even when they are empty. */
    if (tcall_field_kind_(field) != TCALL_ITEM_CALL && reader->element.begun)
        tcall_reader_open_(reader, field);
    return true;
}

/* Is a text at hand certainly the model's? A whole answer may hold several,
 * whose numbers may stand behind them, and one in an event may stand before
 * the piece that counts instead. */
static bool tcall_reader_hears_(const tcall_reader *reader)
{
    if (reader->doc.whole &&
        (reader->sse || reader->doc.choice == TCALL_CHOICE_BEGUN_))
        return false;
    return !reader->element.begun || reader->element.type == TCALL_MEANS_TEXT;
}

/* Is the field a part of an element? Text that certainly counts is none, but
 * goes to the answer at once. */
static bool tcall_reader_is_part_(const tcall_reader *reader, int field)
{
    return field >= TCALL_FIELD_ID && field <= TCALL_FIELD_DELTA &&
           (field != TCALL_FIELD_TEXT || !tcall_reader_hears_(reader));
}

/* A value begins with c. Returns whether it is of use. */
static bool tcall_reader_begin_(tcall_reader *reader, int field, char c)
{
    tcall_answer *answer = &reader->answer;
    reader->doc.told = true;
    reader->growing = false;
    if (c == 'n' || tcall_field_is_word_(field)) /* null is nothing */
        return c != 'n';
    tcall_reader_tell_piece_(reader, field);
    /* Some streams end with the whole answer. */
    if (reader->doc.whole && reader->doc.repeats && field >= TCALL_FIELD_ID &&
        field <= TCALL_FIELD_DELTA)
        return false;
    reader->part = tcall_reader_is_part_(reader, field);
    if (reader->part)
        return tcall_reader_begin_part_(reader, field, c);
    if (field == TCALL_FIELD_WHOLE_ANSWER)
        return reader->doc.whole;
    if (field == TCALL_FIELD_ELEMENT)
        reader->element.begun = true;
    if (field == TCALL_FIELD_CHOICE) {
        reader->doc.cut_before = reader->said.cut;
        reader->doc.stop_before = (uint8_t)answer->stop;
        reader->doc.choice = TCALL_CHOICE_BEGUN_;
    }
    if (field == TCALL_FIELD_IGNORE) {
        if (c == 't' || c == '{')
            reader->element.type =
                c == 't' ? TCALL_MEANS_REASONING : TCALL_MEANS_UNHANDLED;
    }
    if (field == TCALL_FIELD_UNREAD) {
        reader->element.fault = (int8_t)TCALL_E_UNHANDLED;
        tcall_reader_open_(reader, field);
    }
    if (field == TCALL_FIELD_ERROR && c == '{')
        answer->error = TCALL_E_PROVIDER;
    return (field != TCALL_FIELD_ERROR && field != TCALL_FIELD_MESSAGE) ||
           !answer->message[0] || reader->in_page;
}

/* A piece of the words about an error, which take the place of a page's
 * beginning. */
static void tcall_reader_message_(tcall_reader *reader, tcall_str piece)
{
    tcall_answer *answer = &reader->answer;
    if (reader->in_page)
        answer->message[0] = 0;
    reader->in_page = false;
    tcall_append_cut_(answer->message, sizeof answer->message, piece);
}

/* A piece of a word, or of a name. */
static void tcall_reader_spell_(tcall_reader *reader, tcall_str piece)
{
    for (; piece.len && reader->word_len < sizeof reader->word - 1; piece.len--)
        reader->word[reader->word_len++] = *piece.ptr++;
}

/* A piece of a value. */
static void tcall_reader_data_(tcall_reader *reader, int field, tcall_str bytes)
{
    if (tcall_field_is_word_(field)) {
        tcall_reader_spell_(reader, bytes);
    } else if (reader->part) {
        tcall_reader_part_(reader, field, bytes);
    } else if (field == TCALL_FIELD_TEXT) {
        tcall_reader_text_(reader, bytes);
    } else if (field == TCALL_FIELD_ERROR || field == TCALL_FIELD_MESSAGE) {
        if (field == TCALL_FIELD_ERROR)
            reader->answer.error = TCALL_E_PROVIDER;
        tcall_reader_message_(reader, bytes);
    }
}

/* A value is complete. A part outside of an element is one by itself. */
static void tcall_reader_complete_(tcall_reader *reader, int field)
{
    if (tcall_field_is_word_(field)) {
        reader->word[reader->word_len] = 0;
        reader->word_len = 0;
        tcall_reader_word_(reader, field);
        return;
    }
    if (field == TCALL_FIELD_WHOLE_ANSWER)
        reader->doc.in_whole = false;
    if (field == TCALL_FIELD_CHOICE)
        tcall_reader_settle_all_(reader);
    else if (field == TCALL_FIELD_ELEMENT ||
             (!reader->element.begun && tcall_reader_is_part_(reader, field))) {
        tcall_reader_element_end_(reader);
        /* Text that comes next is to stand after it. */
        if (reader->doc.whole && !reader->sse &&
            reader->provider->quirks & TCALL_QUIRK_ORDERED)
            tcall_reader_settle_elements_(reader);
    }
}

/* Keeps the current element's JSON text up to here, as long as it may turn out
 * to be reasoning. */
static void tcall_reader_keep_(tcall_reader *reader, const char *end)
{
    tcall_str piece = tcall_slice_(reader->kept, (size_t)(end - reader->kept));
    reader->kept = end;
    if (!tcall_reasoning_may_come_(reader))
        return;
    if (!reader->keeping_raw)
        reader->keeping_raw = tcall_reader_place_(
            reader, &reader->place[TCALL_AT_RAW_], TCALL_ITEM_REASONING);
    if (reader->keeping_raw)
        tcall_reasoning_piece_(reader, reader->place[TCALL_AT_RAW_],
                               TCALL_PART_TEXT_, piece);
}

/* ---- the user of the recogniser: members ---- */

/* A row of the format's table: see TCALL_ROWS. */
enum {
    TCALL_ROW_LEN_,
    TCALL_ROW_FIELD_,
    TCALL_ROW_MORE_,
    TCALL_ROW_INSIDE_,
    TCALL_ROW_NAME_ = TCALL_ROW_INSIDE_ + 2,
    TCALL_ROW_FIELDS_ = 31 /* of more: the field of an array's elements */
};

/* Where the inside of a row begins, or NULL. */
static const uint8_t *tcall_row_inside_(const tcall_reader *reader,
                                        const uint8_t *row)
{
    const size_t at =
        row[TCALL_ROW_INSIDE_] | (size_t)row[TCALL_ROW_INSIDE_ + 1] << 8;
    return at ? (const uint8_t *)reader->provider->answer + at : NULL;
}

/* What the value of a row is, or an element of the array that it is. */
static uint8_t tcall_row_field_(const uint8_t *row, bool item)
{
    return item ? row[TCALL_ROW_MORE_] & TCALL_ROW_FIELDS_
                : row[TCALL_ROW_FIELD_];
}

/* The row of the member that mostly comes after this one of the innermost
 * object. */
static const uint8_t *tcall_row_after_(const tcall_reader *reader,
                                       const uint8_t *row)
{
    return row[TCALL_ROW_MORE_] & TCALL_ROW_LAST
               ? tcall_row_inside_(reader, reader->level[reader->levels - 1])
               : row + TCALL_ROW_NAME_ + row[TCALL_ROW_LEN_] + 1;
}

/* Finds what a name in the innermost object is, once around its table. */
TCALL_NOINLINE_ static bool tcall_answer_find_(tcall_reader *reader,
                                               tcall_str name)
{
    const uint8_t *at = reader->next;
    reader->word_len = 0;
    if (!at)
        return false;
    do {
        const uint8_t *row = at;
        at = tcall_row_after_(reader, at);
        if (row[TCALL_ROW_LEN_] == name.len &&
            row[TCALL_ROW_NAME_] == (uint8_t)*name.ptr &&
            memcmp(row + TCALL_ROW_NAME_, name.ptr, name.len) == 0) {
            reader->member = row;
            reader->next = at;
            return true;
        }
    } while (at != reader->next);
    return false;
}

/* A member's name. */
static bool tcall_answer_name_(tcall_syntax_ *s, const char *bytes, size_t len,
                               bool last)
{
    tcall_reader *reader = (tcall_reader *)(void *)s;
    if (last && !reader->word_len)
        return tcall_answer_find_(reader, tcall_slice_(bytes, len));
    tcall_reader_spell_(reader, tcall_slice_(bytes, len));
    return !last || tcall_answer_find_(
                        reader, tcall_slice_(reader->word, reader->word_len));
}

/* An object or array begins: what is in it is told, or its text. */
static tcall_ask_ tcall_answer_open_(tcall_reader *reader, bool wanted)
{
    const uint8_t *row = reader->member;
    if (row[TCALL_ROW_MORE_] & TCALL_ROW_TEXT)
        return wanted ? TCALL_RAW_ : TCALL_SKIP_;
    if (reader->levels == TCALL_WIRE_LEVELS_ ||
        (!wanted && reader->field == TCALL_FIELD_WHOLE_ANSWER))
        return TCALL_SKIP_;
    if (reader->field == TCALL_FIELD_ELEMENT &&
        reader->provider->reasoning == TCALL_REASONING_ELEMENTS)
        reader->kept = reader->syntax.from;
    reader->level[reader->levels++] = row;
    reader->next = tcall_row_inside_(reader, row);
    return TCALL_HEAR_;
}

/* A value begins: of a member, or an element of an array. */
static tcall_ask_ tcall_answer_begin_(tcall_syntax_ *s, char first)
{
    tcall_reader *reader = (tcall_reader *)(void *)s;
    const bool item = s->depth && !s->object;
    bool wanted = true;
    if (item) {
        reader->member = reader->level[reader->levels - 1];
        if (first == '[' ||
            !(reader->member[TCALL_ROW_MORE_] & TCALL_ROW_ARRAY))
            return TCALL_SKIP_;
    }
    reader->field = tcall_row_field_(reader->member, item);
    if (reader->field)
        wanted = tcall_reader_begin_(reader, reader->field, first);
    if (first == '{' || first == '[')
        return tcall_answer_open_(reader, wanted);
    return wanted && reader->field ? TCALL_HEAR_ : TCALL_SKIP_;
}

/* Half a character that was told by itself, or -1. */
static long tcall_half_of_(const char *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;
    return at[0] == 0xED && at[1] >= 0xA0
               ? 0xD000 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F)
               : -1;
}

/* Puts the halves of a character together, which some servers send in two
 * pieces of a text. One that stands alone becomes U+FFFD. half: of this piece,
 * or -1. */
static void tcall_answer_half_(tcall_reader *reader, long half)
{
    const long high = reader->half_of == reader->member ? reader->half : 0;
    const bool low = half >= 0xDC00;
    char whole[4];
    const uint32_t code =
        high && low ? ((uint32_t)high << 10) + (uint32_t)half - 0x35FDC00
                    : 0xFFFD;
    if (high)
        reader->half = 0;
    if (high || low)
        tcall_reader_data_(reader, reader->field,
                           tcall_slice_(whole, tcall_utf8_(whole, code)));
    if (half >= 0 && !low) {
        reader->half = (uint16_t)half;
        reader->half_of = reader->member;
    }
}

/* A piece of the value at hand. */
static void tcall_answer_data_(tcall_syntax_ *s, const char *bytes, size_t len)
{
    tcall_reader *reader = (tcall_reader *)(void *)s;
    const tcall_str piece = tcall_slice_(bytes, len);
    const long half = len == 3 && !s->raw ? tcall_half_of_(bytes) : -1;
    if (half >= 0 || (reader->half && !s->raw))
        tcall_answer_half_(reader, half);
    if (half < 0 && !tcall_reader_grow_(reader, piece))
        tcall_reader_data_(reader, reader->field, piece);
}

/* A value ends that was asked for. */
static void tcall_answer_end_(tcall_syntax_ *s)
{
    tcall_reader *reader = (tcall_reader *)(void *)s;
    if (reader->levels > s->depth) {
        const bool item = s->depth && !s->object;
        const uint8_t *row = reader->level[--reader->levels];
        reader->field = tcall_row_field_(row, item);
        reader->next = tcall_row_after_(reader, row);
        if (reader->kept && reader->field == TCALL_FIELD_ELEMENT) {
            tcall_reader_keep_(reader, s->from);
            reader->kept = NULL;
        }
    } else if (reader->half && reader->half_of == reader->member &&
               !reader->sse) {
        tcall_answer_half_(reader, -1);
    }
    if (reader->field)
        tcall_reader_complete_(reader, reader->field);
}

static const tcall_syntax_user_ tcall_answer_user_ TCALL_FLASH_ = {
    tcall_answer_name_, tcall_answer_begin_, tcall_answer_data_,
    tcall_answer_end_};

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
    reader->start = chat->block->low;
    reader->answer.input_tokens = reader->answer.output_tokens =
        reader->answer.wait_ms = -1;
    reader->in_page = true;
    tcall_reader_clear_(reader);
}

static void tcall_reader_begin_document_(tcall_reader *reader)
{
    reader->state = TCALL_FRAME_DOCUMENT_;
    reader->several = reader->several || reader->any_document;
    reader->in_document = reader->any_document = true;
    memset(&reader->doc, 0, sizeof reader->doc);
    reader->doc.repeats = reader->place[TCALL_AT_PENDING_] > reader->start ||
                          reader->answer.text_cut;
    reader->member = (const uint8_t *)reader->provider->answer;
    tcall_syntax_begin_(&reader->syntax, &tcall_answer_user_);
    reader->syntax.halves = true;
    reader->syntax.lines = reader->sse;
    tcall_syntax_feed_(&reader->syntax, "{", 1);
}

static void tcall_reader_end_document_(tcall_reader *reader)
{
    if (reader->doc.event == TCALL_MEANS_RESTART)
        tcall_reader_clear_(reader);
    tcall_reader_settle_all_(reader);
    reader->element.index = 0;
    reader->known = reader->known || reader->doc.told;
    if (reader->doc.whole && !reader->begins)
        reader->said.complete = true;
    else if (reader->doc.piece && reader->doc.event != TCALL_MEANS_ANSWER_ENDS)
        reader->said.complete = false; /* it goes on */
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
    tcall_syntax_ *s = &reader->syntax;
    if (reader->kept)
        reader->kept = bytes;
    bytes += tcall_syntax_feed_(s, bytes, (size_t)(end - bytes));
    if (reader->kept)
        tcall_reader_keep_(reader, bytes);
    if (!s->halt)
        return bytes;
    if (s->error) {
        tcall_reader_fail_(reader, s->error);
    } else if (s->state == TCALL_AT_DONE_) {
        tcall_reader_end_document_(reader);
        if (reader->doc.told)
            reader->silent = (uint32_t)(end - bytes);
    } else {
        tcall_reader_begin_line_(reader);
        reader->after_cr = bytes[-1] == '\r';
    }
    return bytes;
}

/* Is the beginning of what may be no answer still to be kept? */
static bool tcall_reader_shows_(const tcall_reader *reader)
{
    return reader->in_page && !reader->answer.message[TCALL_PAGE_ - 2];
}

/* Keeps the beginning of what may be no answer, until it says something of an
 * error. */
static void tcall_reader_page_(tcall_reader *reader, const char *bytes,
                               size_t len)
{
    char *page = reader->answer.message;
    size_t at = strlen(page), i;
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
    if (c == '{') {
        tcall_reader_begin_document_(reader);
    } else if (c == 'D' && reader->sse) {
        reader->said.complete = true;
        reader->state = TCALL_FRAME_OVER_;
    } else if (reader->sse && c && strchr("ntf\"-0123456789", c)) {
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
    reader->after_cr = reader->sse && c == '\r';
    if (c == '\n' && after_cr)
        return;
    if (reader->state == TCALL_FRAME_START_) {
        if (tcall_is_space_(c) || c & 0x80) /* a byte order mark */
            return;
        reader->sse = c != '{' && c != '[';
        reader->several = c == '[';
        reader->state = reader->sse ? TCALL_FRAME_LINE_ : TCALL_FRAME_BETWEEN_;
    }
    if (reader->sse && (c == '\n' || c == '\r'))
        tcall_reader_line_end_(reader);
    else if (reader->state == TCALL_FRAME_LINE_)
        tcall_reader_line_byte_(reader, c);
    else if (reader->state == TCALL_FRAME_BETWEEN_)
        tcall_reader_byte_between_(reader, c);
}

/* Before the first document the message has the beginning of what came. */
static void tcall_reader_fail_silence_(tcall_reader *reader)
{
    tcall_reader_fail_(reader, TCALL_E_LIMIT);
    if (!reader->any_document)
        return;
    reader->in_page = true;
    tcall_reader_message_(reader,
                          tcall_str_of("comments or empty events without end"));
}

/* Passes over what most lines begin with, and over those that do not matter. */
static const char *tcall_reader_line_(tcall_reader *reader, const char *bytes,
                                      const char *end)
{
    if (reader->state == TCALL_FRAME_IGNORED_) {
        while (bytes < end && *bytes != '\n' && *bytes != '\r')
            bytes++;
    } else if (reader->state == TCALL_FRAME_LINE_ && !reader->after_cr &&
               !reader->match && end - bytes > 5 &&
               memcmp(bytes, "data: ", 6) == 0) {
        reader->state =
            reader->in_document ? TCALL_FRAME_DOCUMENT_ : TCALL_FRAME_BETWEEN_;
        bytes += 6;
    }
    return bytes;
}

/* Takes bytes of any kind. */
TCALL_NOINLINE_ static int tcall_reader_eat_(tcall_reader *reader,
                                             const char *bytes, const char *end)
{
    if (tcall_reader_shows_(reader))
        tcall_reader_page_(reader, bytes, (size_t)(end - bytes));
    reader->silent += (uint32_t)(end - bytes);
    while (bytes < end && !reader->broken) {
        const char *from = bytes;
        if (reader->state == TCALL_FRAME_DOCUMENT_)
            bytes = tcall_reader_document_(reader, bytes, end);
        else
            bytes = tcall_reader_line_(reader, bytes, end);
        if (bytes == from)
            tcall_reader_byte_(reader, *bytes++);
    }
    if (reader->silent > TCALL_MAX_SILENCE_ && !reader->in_document &&
        !reader->broken)
        tcall_reader_fail_silence_(reader);
    return reader->broken ? reader->answer.error : TCALL_OK;
}

int tcall_reader_feed(tcall_reader *reader, const char *bytes, size_t len)
{
    /* The short way of bytes that come one by one. */
    if (len == 1 && reader->state == TCALL_FRAME_DOCUMENT_ && !reader->kept &&
        !reader->broken && !tcall_reader_shows_(reader) &&
        tcall_syntax_plain_byte_(&reader->syntax, bytes)) {
        reader->silent++;
        return TCALL_OK;
    }
    return tcall_reader_eat_(reader, bytes, bytes + len);
}

/* ---- the end ---- */

/* Completes a call. Returns false if there is nothing of it. */
static bool tcall_reader_finish_call_(tcall_reader *reader)
{
    tcall_item_head_ *head =
        tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_]);
    char id[TCALL_MADE_ID_];
    tcall_str made;
    if (!tcall_head_len_(head, TCALL_PART_NAME_) &&
        !tcall_head_len_(head, TCALL_PART_TEXT_) && !head->error) {
        reader->answer.unread = true;
        return false;
    }
    made = tcall_chat_new_id_(reader->chat, reader->place[TCALL_AT_ELEMENT_],
                              tcall_head_part_(head, TCALL_PART_ID_), id);
    if (made.len)
        head->flags |= TCALL_FLAG_MADE_ID;
    if (!tcall_reader_add_(reader, TCALL_PART_ID_, made))
        return false;
    head = tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_]);
    if (tcall_str_eq(tcall_head_part_(head, TCALL_PART_TEXT_),
                     tcall_str_of("null"))) {
        memcpy((char *)head + tcall_head_end_(head, TCALL_PART_SIGNATURE_),
               "{}", 2);
        tcall_reader_resize_(reader, reader->place[TCALL_AT_ELEMENT_],
                             TCALL_PART_TEXT_, 2);
    }
    if (tcall_reasoning_kept_(reader) == TCALL_REASONING_SIGNATURES &&
        !tcall_head_len_(head, TCALL_PART_SIGNATURE_))
        head->flags |= TCALL_FLAG_UNSIGNED;
    reader->place[TCALL_AT_PENDING_] = reader->place[TCALL_AT_ELEMENT_];
    reader->answer.calls++;
    return true;
}

/* Completes the item at reader->place[TCALL_AT_ELEMENT_]. Returns false if it
 * is removed. */
static bool tcall_reader_finish_item_(tcall_reader *reader)
{
    const tcall_item_head_ *head =
        tcall_reader_head_(reader, reader->place[TCALL_AT_ELEMENT_]);
    if (head->kind == TCALL_ITEM_CALL)
        return tcall_reader_finish_call_(reader);
    if (tcall_is_reasoning_(head) ? !tcall_reasoning_is_some_(reader, head)
                                  : head->kind != TCALL_ITEM_TEXT)
        return false;
    if (head->kind == TCALL_ITEM_TEXT && !tcall_head_is_signed_(head))
        return true;
    return tcall_reader_add_(reader, TCALL_PART_NAME_,
                             tcall_str_of(reader->provider->name));
}

/* Completes all items of a whole answer; reader->place[TCALL_AT_PENDING_] is
 * the last call then. */
TCALL_NOINLINE_ static void tcall_reader_finish_(tcall_reader *reader)
{
    reader->place[TCALL_AT_ELEMENT_] = reader->start;
    while (reader->place[TCALL_AT_ELEMENT_] < reader->chat->block->low) {
        const bool stays = tcall_reader_finish_item_(reader);
        if (reader->answer.error)
            return;
        if (stays)
            reader->place[TCALL_AT_ELEMENT_] =
                tcall_reader_next_(reader, reader->place[TCALL_AT_ELEMENT_]);
        else
            tcall_reader_remove_(reader, reader->place[TCALL_AT_ELEMENT_]);
    }
    if (reader->said.cut && reader->answer.calls) {
        tcall_item_head_ *last = tcall_reader_pending_(reader);
        if (last->error != TCALL_E_MEMORY)
            last->error = (int8_t)TCALL_E_CUT;
    }
    if (reader->answer.text_cut && reader->said.has_text) {
        tcall_str text = tcall_head_part_(
            tcall_reader_head_(reader, reader->place[TCALL_AT_TEXT_]),
            TCALL_PART_TEXT_);
        tcall_reader_resize_(reader, reader->place[TCALL_AT_TEXT_],
                             TCALL_PART_TEXT_, tcall_utf8_whole_(text));
    }
}

/* Why an answer is none that ends as its format says. */
static int tcall_reader_lacks_(const tcall_reader *reader)
{
    const bool alone = !reader->sse && !reader->several &&
                       reader->doc.event == TCALL_MEANS_UNKNOWN;
    if (!reader->in_page && !reader->said.complete)
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
    if (reader->said.finished && !reader->begins)
        reader->said.complete = true;
    if (!answer->error && (!reader->said.complete || reader->in_document))
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
    if (!answer->error && !answer->calls && !reader->said.has_text) {
        tcall_answer_check_empty_(answer);
        if (reader->missing && !answer->error) /* it was not empty */
            answer->error = TCALL_E_MEMORY;
    }
    if (!answer->error)
        answer->message[0] = 0;
    if (tcall_reasoning_is_free_(reader))
        answer->reasoning_dropped = 0;
    tcall_reader_note_need_(reader);
    cut = reader->said.cut || answer->text_cut;
    if (!answer->error && reader->text_calls && !answer->calls &&
        reader->said.has_text)
        reader->text_calls->read(reader->text_calls, reader, cut);
    if (answer->error)
        tcall_block_cut_(reader->chat->block, reader->start);
    return answer->error;
}
