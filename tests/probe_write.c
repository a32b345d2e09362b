/* probe write: tools, messages and options to the body of a request. */
#include "probe.h"

/* Tools as the provider shall see them; the texts of their schemas are kept
 * aside to be freed. */
static tcall_tool *probe_write_tools(tcall_json list, size_t *count)
{
    size_t n = 0;
    tcall_json v;
    tcall_tool *tools =
        (tcall_tool *)calloc((size_t)tcall_json_count(list) + 1, sizeof *tools);
    for (v = tcall_json_first(list); v.at; v = tcall_json_next(v), n++) {
        tcall_json schema = tcall_json_get(v, "parameters");
        tools[n].name = tcall_json_string(tcall_json_get(v, "name"), "");
        tools[n].description =
            tcall_json_string(tcall_json_get(v, "description"), NULL);
        tools[n].parameters =
            tcall_schema_text_of(schema.at ? probe_text(schema) : NULL);
        tools[n].strict = tcall_json_bool(tcall_json_get(v, "strict"), false);
    }
    *count = n;
    return tools;
}

static void probe_write_item(tcall_chat *chat, int kind, tcall_json v,
                             const char *id, const char *text)
{
    tcall_item item;
    tcall_json arguments = tcall_json_get(v, text);
    char *object = NULL;
    memset(&item, 0, sizeof item);
    item.kind = (uint8_t)kind;
    item.id = tcall_json_str(tcall_json_get(v, id));
    item.name = tcall_json_str(tcall_json_get(v, "name"));
    item.text = tcall_json_str(arguments);
    if (tcall_json_type(arguments) >= TCALL_ARRAY) {
        object = probe_text(arguments);
        item.text = tcall_str_of(object);
    }
    item.error = tcall_json_bool(tcall_json_get(v, "is_error"), false)
                     ? TCALL_E_FAILED
                     : TCALL_OK;
    if (tcall_chat_add(chat, &item) < 0)
        exit(2);
    free(object);
}

/* What a provider once answered, read as it is read from the wire. */
static void probe_write_answer(tcall_chat *chat, const tcall_provider *provider,
                               tcall_str body)
{
    tcall_reader r;
    tcall_reader_init(&r, provider, chat, NULL, NULL);
    tcall_reader_feed(&r, body.ptr, body.len);
    if (tcall_reader_end(&r) < 0)
        fprintf(stderr, "probe: answer: %s\n",
                tcall_error_code(r.answer.error));
}

/* Fills the conversation; returns the text of the system message. */
static const char *probe_write_talk(tcall_chat *chat,
                                    const tcall_provider *provider,
                                    tcall_json messages)
{
    const char *system = NULL;
    tcall_json m, c;
    for (m = tcall_json_first(messages); m.at; m = tcall_json_next(m)) {
        const char *role = tcall_json_string(tcall_json_get(m, "role"), "");
        bool text = tcall_json_get(m, "text").at != NULL;
        if (strcmp(role, "system") == 0)
            system = tcall_json_string(tcall_json_get(m, "text"), NULL);
        else if (strcmp(role, "user") == 0)
            probe_write_item(chat, TCALL_ITEM_USER, m, "", "text");
        else if (strcmp(role, "answer") == 0)
            probe_write_answer(chat, provider,
                               tcall_json_str(tcall_json_get(m, "body")));
        else if (strcmp(role, "image") == 0)
            probe_write_item(chat, TCALL_ITEM_IMAGE, m, "call_id", "text");
        else if (strcmp(role, "tool") == 0)
            probe_write_item(chat, TCALL_ITEM_RESULT, m, "call_id", "text");
        else if (text)
            probe_write_item(chat, TCALL_ITEM_TEXT, m, "", "text");
        c = tcall_json_first(tcall_json_get(m, "calls"));
        for (; c.at; c = tcall_json_next(c))
            probe_write_item(chat, TCALL_ITEM_CALL, c, "id", "arguments");
    }
    return system;
}

/* tool_choice: "auto", "none", "required", or the name of a tool, also as
 * {"name": ...}. */
static void probe_write_choice(tcall_chat_request *ask, tcall_json choice)
{
    static const char *const words[] = {"auto", "none", "required"};
    const char *word = tcall_json_string(tcall_json_type(choice) == TCALL_OBJECT
                                             ? tcall_json_get(choice, "name")
                                             : choice,
                                         "auto");
    int i;
    for (i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            ask->choice = (tcall_choice)i;
            return;
        }
    ask->choice = TCALL_CHOICE_ONE;
    ask->choice_name = word;
}

static void probe_write_line(const tcall_provider *provider, tcall_json in,
                             FILE *out, size_t size)
{
    tcall_json options = tcall_json_get(in, "options");
    tcall_tool *tools;
    tcall_block block;
    tcall_chat chat;
    tcall_writer count, w;
    tcall_chat_request ask;
    char piece[256];
    void *memory = malloc(size);
    size_t i;
    memset(&ask, 0, sizeof ask);
    tcall_block_init(&block, memory, size);
    tcall_chat_init(&chat, &block);
    tools = probe_write_tools(tcall_json_get(in, "tools"), &ask.tool_count);
    ask.tools = tools;
    ask.system =
        probe_write_talk(&chat, provider, tcall_json_get(in, "messages"));
    ask.chat = &chat;
    ask.allow = TCALL_EVERYTHING;
    ask.model = tcall_json_string(tcall_json_get(options, "model"), NULL);
    ask.extra = tcall_json_string(tcall_json_get(options, "extra"), NULL);
    ask.cache_prompt =
        tcall_json_bool(tcall_json_get(options, "cache_prompt"), false);
    ask.max_tokens = tcall_json_int(tcall_json_get(options, "max_tokens"), 0);
    ask.stream = tcall_json_bool(tcall_json_get(options, "stream"), false);
    ask.no_parallel =
        !tcall_json_bool(tcall_json_get(options, "parallel"), true);
    probe_write_choice(&ask, tcall_json_get(options, "tool_choice"));
    /* As it is sent: counted first, then written through a small buffer. */
    tcall_writer_init(&count, NULL, 0);
    provider->write(provider, &count, &ask);
    tcall_writer_init(&w, piece, sizeof piece);
    tcall_writer_sink(&w, probe_read_out, out);
    provider->write(provider, &w, &ask);
    tcall_writer_flush(&w);
    if (w.len != count.len) {
        fprintf(stderr, "probe: counted %lu bytes, wrote %lu\n",
                (unsigned long)count.len, (unsigned long)w.len);
        exit(2);
    }
    fputc('\n', out);
    for (i = 0; i < ask.tool_count; i++)
        free((void *)(uintptr_t)tools[i].parameters.text);
    free(tools);
    free(memory);
}

int probe_write(int argc, char **argv, FILE *in, FILE *out)
{
    const tcall_provider *provider = probe_provider(argv[0]);
    char *line;
    size_t len;
    (void)argc;
    while ((line = probe_line(in, &len)) != NULL) {
        tcall_json v = probe_parse(line, len);
        probe_write_line(provider, v, out, 4 * len + 4096);
        free(line);
    }
    return 0;
}
