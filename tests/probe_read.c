/* probe read: bodies of answers, whole or in pieces, to calls. */
#include "probe.h"

const tcall_provider *probe_provider(const char *name)
{
    const tcall_provider *p = tcall_provider_named(name);
    if (p)
        return p;
    fprintf(stderr, "probe: no provider \"%s\"\n", name);
    exit(2);
}

/* Whether the arguments of a call can be read, or what is wrong with them. */
static int probe_read_arguments(tcall_str text)
{
    tcall_machine machine;
    tcall_machine_desc desc;
    uint32_t fixes;
    int r;
    memset(&desc, 0, sizeof desc);
    desc.object = desc.for_c = true;
    desc.size = 6 * text.len + 3;
    desc.text = (char *)malloc(desc.size);
    desc.arena_size = 1 << 16;
    desc.arena = malloc(desc.arena_size);
    r = tcall_read_arguments(&machine, &desc, text, false, &fixes);
    free(desc.text);
    free(desc.arena);
    return r;
}

static void probe_read_error(tcall_writer *w, const tcall_block *b, int error,
                             const char *message)
{
    tcall_write_key(w, "error");
    tcall_write_quote(w);
    tcall_write_text(w, tcall_error_code(error));
    tcall_write_text(w, ": ");
    tcall_write_text(w, *message ? message : tcall_error_text(error));
    if (error == TCALL_E_MEMORY) {
        char need[64];
        snprintf(need, sizeof need, ", %lu bytes are needed",
                 (unsigned long)b->need);
        tcall_write_text(w, need);
    }
    tcall_write_unquote(w);
}

static void probe_read_answer(tcall_writer *w, const tcall_chat *chat,
                              const tcall_answer *a, int status)
{
    tcall_item item;
    size_t at = 0;
    int error;
    tcall_write_open(w, '{');
    tcall_write_key(w, "calls");
    tcall_write_open(w, '[');
    while (tcall_chat_next(chat, &at, &item)) {
        if (item.kind != TCALL_ITEM_CALL)
            continue;
        tcall_write_open(w, '{');
        tcall_write_key(w, "id");
        /* Only what the provider sent: an id that was made up is not shown. */
        tcall_write_str(w, item.flags & TCALL_FLAG_MADE_ID ? tcall_str_of("")
                                                           : item.id);
        tcall_write_key(w, "name");
        tcall_write_str(w, item.name);
        tcall_write_key(w, "arguments");
        tcall_write_str(w, item.text);
        error = item.error;
        if (!error)
            error = probe_read_arguments(item.text);
        if (error)
            probe_read_error(w, chat->block, error, "");
        tcall_write_close(w, '}');
    }
    tcall_write_close(w, ']');
    tcall_write_key(w, "text");
    tcall_write_quote(w);
    for (at = 0; tcall_chat_next(chat, &at, &item);)
        if (item.kind == TCALL_ITEM_TEXT)
            tcall_write_bytes(w, item.text.ptr, item.text.len);
    tcall_write_unquote(w);
    tcall_write_key(w, "stop");
    tcall_write_string(w, a->stop_text);
    tcall_write_key(w, "usage");
    tcall_write_open(w, '{');
    tcall_write_key(w, "input");
    tcall_write_int(w, a->input_tokens < 0 ? 0 : a->input_tokens);
    tcall_write_key(w, "output");
    tcall_write_int(w, a->output_tokens < 0 ? 0 : a->output_tokens);
    tcall_write_close(w, '}');
    if (a->wait_ms >= 0) {
        tcall_write_key(w, "wait_ms");
        tcall_write_int(w, a->wait_ms);
    }
    if (a->reasoning_dropped) {
        tcall_write_key(w, "unkept");
        tcall_write_int(w, (long)a->reasoning_dropped);
    }
    error = tcall_answer_error(a, status);
    if (error)
        probe_read_error(w, chat->block, error, a->message);
    tcall_write_close(w, '}');
    tcall_write_bytes(w, "\n", 1);
}

int probe_read_out(void *user, const char *bytes, size_t len)
{
    return (int)fwrite(bytes, 1, len, (FILE *)user);
}

/* true: every family that has markers; else that of this name. */
const tcall_text_calls *probe_text_calls(tcall_json value)
{
    static const struct {
        const char *name;
        const tcall_text_calls *calls;
    } families[] = {{"hermes", &tcall_text_hermes},
                    {"qwen", &tcall_text_qwen},
                    {"llama", &tcall_text_llama},
                    {"mistral", &tcall_text_mistral},
                    {"phi", &tcall_text_phi},
                    {"kimi", &tcall_text_kimi},
                    {"deepseek", &tcall_text_deepseek},
                    {"glm", &tcall_text_glm},
                    {"gpt_oss", &tcall_text_gpt_oss},
                    {"minimax", &tcall_text_minimax},
                    {"any", &tcall_text_any}};
    const char *name = tcall_json_string(value, "");
    size_t i;
    for (i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(name, families[i].name) == 0)
            return families[i].calls;
    return tcall_json_bool(value, false) ? &tcall_text_any : NULL;
}

/* The reader itself lies in the block, as an agent has it, at its end. */
static void probe_read_body(const tcall_provider *provider, tcall_json in,
                            size_t split, size_t size, FILE *out)
{
    tcall_str body = tcall_json_str(tcall_json_get(in, "body"));
    char piece[512];
    char *memory = (char *)malloc(size + 1);
    tcall_block block, none;
    tcall_reader small, *r = &small;
    const size_t place = (sizeof small + 7) & ~(size_t)7;
    tcall_chat chat;
    tcall_writer w;
    size_t at, n;
    tcall_block_init(&block, memory, size);
    tcall_block_init(&none, NULL, 0);
    if (block.size >= place) {
        block.high = block.peak = place;
        r = (tcall_reader *)(void *)(block.base + block.size - place);
    } else {
        none.need = place;
    }
    tcall_chat_init(&chat, r == &small ? &none : &block);
    tcall_reader_init(r, provider, &chat, NULL, NULL);
    r->text_calls = probe_text_calls(tcall_json_get(in, "text_calls"));
    for (at = 0; at < body.len; at += n) {
        /* A copy of its own for each piece: reading beyond it is seen. */
        n = split && split < body.len - at ? split : body.len - at;
        if (split) {
            char *copy = (char *)malloc(n);
            memcpy(copy, body.ptr + at, n);
            tcall_reader_feed(r, copy, n);
            free(copy);
        } else {
            tcall_reader_feed(r, body.ptr + at, n);
        }
    }
    tcall_reader_end(r);
    tcall_writer_init(&w, piece, sizeof piece);
    tcall_writer_sink(&w, probe_read_out, out);
    probe_read_answer(&w, &chat, &r->answer,
                      tcall_json_int(tcall_json_get(in, "status"), 0));
    tcall_writer_flush(&w);
    free(memory);
}

int probe_read(int argc, char **argv, FILE *in, FILE *out)
{
    const tcall_provider *provider = probe_provider(argv[0]);
    size_t split = 0, size = (size_t)8 << 20, len;
    char *line;
    int i;
    for (i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--split") == 0)
            split = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--block") == 0)
            size = strtoul(argv[i + 1], NULL, 10);
    }
    while ((line = probe_line(in, &len)) != NULL) {
        tcall_json v = probe_parse(line, len);
        probe_read_body(provider, v, split, size, out);
        free(line);
    }
    return 0;
}
