/*
 * wire.h - answers read and requests written, for the tests of providers.
 */

static char shown[4096]; /* what was read, as text */
static char heard[4096]; /* the model's text, as it came */
static char said[4096];  /* and as it is kept, all of it */
static size_t heard_len;
static tcall_answer last;
static size_t needed; /* bytes that the block lacked */

static inline bool same(const char *got, const char *want)
{
    if (strcmp(got, want) == 0)
        return true;
    printf("got  %s\nwant %s\n", got, want);
    return false;
}

static inline bool has(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    printf("no %s\nin %s\n", part, text);
    return false;
}

/* Writes a text with ' for " and ~ for what comes between two documents. */
static inline size_t quoted(char *to, const char *text, const char *between)
{
    char *p = to;
    for (; *text; text++)
        if (*text == '~')
            p += sprintf(p, "%s", between);
        else
            *p++ = *text == '\'' ? '"' : *text;
    *p = 0;
    return (size_t)(p - to);
}

static inline void hear(void *user, tcall_str piece)
{
    (void)user;
    if (heard_len + piece.len < sizeof heard) {
        memcpy(heard + heard_len, piece.ptr, piece.len);
        heard_len += piece.len;
    }
    heard[heard_len] = 0;
}

/* Feeds a body in pieces of split bytes, 0: whole. Each is a copy of its own,
 * so that a sanitizer sees what reads beyond it. */
static inline int feed(tcall_reader *reader, const char *body, size_t len,
                       size_t split)
{
    size_t at, n;

    for (at = 0; at < len; at += n) {
        char *piece;
        n = split && split < len - at ? split : len - at;
        piece = (char *)malloc(n);
        memcpy(piece, body + at, n);
        tcall_reader_feed(reader, piece, n);
        free(piece);
    }
    return tcall_reader_end(reader);
}

static inline void show(tcall_writer *w, tcall_str text, const char *end)
{
    tcall_write_bytes(w, text.ptr, text.len);
    tcall_write_text(w, end);
}

/* Returns the error of arguments that are only read. */
static inline int read_arguments(tcall_str arguments)
{
    static char text[1 << 14];
    static uint64_t arena[1000];
    tcall_machine machine;
    tcall_machine_desc desc;
    uint32_t fixes;
    memset(&desc, 0, sizeof desc);
    desc.text = text;
    desc.size = sizeof text;
    desc.arena = arena;
    desc.arena_size = sizeof arena;
    desc.object = desc.for_c = true;
    return tcall_read_arguments(&machine, &desc, arguments, false, &fixes);
}

/* "call: ID NAME(ARGUMENTS)", "+" for an id that was made up. The error is
 * the reader's or, where it has none, that of the arguments. */
static inline void show_call(tcall_writer *w, const tcall_item *call)
{
    int error = call->error ? call->error : read_arguments(call->text);

    tcall_write_text(w, "call: ");
    show(w, call->flags & TCALL_FLAG_MADE_ID ? tcall_str_of("+") : call->id,
         " ");
    show(w, call->name, "(");
    show(w, call->text, ")");
    if (error < 0)
        show(w, tcall_str_of(" !"), tcall_error_code(error));
    tcall_write_text(w, "\n");
}

/* Reads a body into a block of size bytes. Leaves the text and the calls in
 * shown, a line each, and the answer in last. */
static inline const char *read_body(const tcall_provider *provider,
                                    const char *body, size_t len, size_t split,
                                    size_t size)
{
    char *memory = (char *)malloc(size + 1);
    tcall_block block;
    tcall_chat chat;
    tcall_reader reader;
    tcall_writer w;
    tcall_item item;
    size_t at;

    tcall_block_init(&block, memory, size);
    tcall_chat_init(&chat, &block);
    heard_len = 0;
    heard[0] = said[0] = 0;
    tcall_reader_init(&reader, provider, &chat, hear, NULL);
    feed(&reader, body, len, split);
    tcall_writer_init(&w, shown, sizeof shown - 1);
    for (at = 0; tcall_chat_next(&chat, &at, &item);) {
        if (item.kind == TCALL_ITEM_TEXT) {
            tcall_write_text(&w, "text: ");
            show(&w, item.text, "\n");
            if (said[0] && strcmp(provider->name, "responses") == 0)
                strcat(said, "\n\n"); /* its messages are shown apart */
            strncat(said, item.text.ptr, item.text.len);
        } else if (item.kind == TCALL_ITEM_CALL) {
            show_call(&w, &item);
        }
    }
    shown[w.fill] = 0;
    last = reader.answer;
    needed = block.need;
    CHECK(block.low + block.high <= block.size && block.peak <= block.size);
    CHECK(!last.error || block.low == 0);
    free(memory);
    return shown;
}

/* Written twice, as it is sent; must be JSON. */
static inline const char *write_body(const tcall_provider *provider,
                                     const tcall_chat_request *ask)
{
    static char out[8192];
    tcall_writer count, w;

    tcall_writer_init(&count, NULL, 0);
    provider->write(provider, &count, ask);
    tcall_writer_init(&w, out, sizeof out - 1);
    CHECK(provider->write(provider, &w, ask) == TCALL_OK && w.len == count.len);
    out[w.fill] = 0;
    CHECK(tcall_json_check(tcall_str_of(out)) == TCALL_OK);
    return out;
}
