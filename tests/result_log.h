/*
 * result_log.h - the last results, kept by the id of their call
 *
 * All of it stands on tcall_subscribe: who listens to TCALL_EVENT_END finds
 * the complete result in event->call->cx.result.
 *
 *     static kept_result rows[8];
 *     static result_log log = {rows, TCALL_ARRAY_LEN(rows)};
 *     result_log_begin(&tc, &log);
 */
#ifndef RESULT_LOG_H
#define RESULT_LOG_H

#include <string.h>

typedef struct kept_result {
    char id[48];    /* of the call; of a longer one its last 48 bytes */
    size_t id_len;  /* of all of it */
    int error;      /* TCALL_OK or why it failed */
    size_t len;     /* bytes of the result, those that did not fit included */
    char text[160]; /* its beginning, cut at a character, ended by NUL */
} kept_result;

typedef struct result_log {
    kept_result *rows;
    size_t row_count; /* at least 1 */
    size_t next;
    tcall_listener listener;
} result_log;

/* The end of an id that is kept. */
static inline tcall_str kept_id(tcall_str id)
{
    const size_t most = sizeof((kept_result *)0)->id;
    if (id.len > most) {
        id.ptr += id.len - most;
        id.len = most;
    }
    return id;
}

static inline void keep_result(void *user, const tcall_event *event)
{
    result_log *log = (result_log *)user;
    kept_result *row = &log->rows[log->next++ % log->row_count];
    tcall_str id = kept_id(event->call->id);
    tcall_str text = event->call->cx.result.output;
    size_t len = text.len;
    if (len >= sizeof row->text) { /* cut in front of a whole character */
        len = sizeof row->text - 1;
        while (len && ((unsigned char)text.ptr[len] & 0xC0) == 0x80)
            len--;
    }
    memset(row, 0, sizeof *row);
    row->id_len = event->call->id.len;
    row->error = event->error;
    row->len = text.len;
    if (id.len)
        memcpy(row->id, id.ptr, id.len);
    if (len)
        memcpy(row->text, text.ptr, len);
}

static inline void result_log_begin(tcall *tc, result_log *log)
{
    log->next = 0;
    log->listener.on_event = keep_result;
    log->listener.user = log;
    log->listener.kinds = 1u << TCALL_EVENT_END;
    tcall_subscribe(tc, &log->listener);
}

/* Returns the latest result of the call with this id, or NULL. */
static inline const kept_result *result_log_get(const result_log *log,
                                                tcall_str id)
{
    size_t i, at = log->next;
    for (i = 0; i < log->row_count && at > 0; i++) {
        const kept_result *row = &log->rows[--at % log->row_count];
        tcall_str end = kept_id(id), kept;
        kept.ptr = row->id;
        kept.len = end.len;
        if (row->id_len == id.len && tcall_str_eq(end, kept))
            return row;
    }
    return NULL;
}

/* Returns the first lines of the output, without the last line's end. */
static inline tcall_str result_preview(const tcall_result *result,
                                       int max_lines)
{
    tcall_str text = result->output;
    size_t len;
    for (len = 0; len < text.len && max_lines > 0; len++)
        max_lines -= text.ptr[len] == '\n';
    while (len && (text.ptr[len - 1] == '\n' || text.ptr[len - 1] == '\r'))
        len--;
    text.len = len;
    return text;
}

/* Writes a result as one object, to look into. */
static inline void write_result(tcall_writer *w, const tcall_result *result)
{
    tcall_write_open(w, '{');
    tcall_write_key(w, "title");
    tcall_write_str(w, result->title);
    if (result->metadata.len) {
        tcall_write_key(w, "metadata");
        tcall_write_verbatim(w, result->metadata);
    }
    tcall_write_key(w, "output");
    tcall_write_str(w, result->output);
    tcall_write_close(w, '}');
}

#endif /* RESULT_LOG_H */
