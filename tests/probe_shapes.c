/* probe shapes FILE...: accept or reject, by the decoder: as a member that is
 * kept as its text and as one that an open shape reads over, whole and byte by
 * byte. "differ" where these do not agree. */
#include "probe.h"

#define KEPT(ROW, me) ROW(me, required, json(60000), value, "Anything")
TCALL_SHAPE(kept, KEPT)
#define OPEN(ROW, me) ROW(me, optional, boolean, other, "Something else")
TCALL_OPEN_SHAPE(over, OPEN)

static int probe_decode(const tcall_object *shape, void *out, const char *text,
                        size_t len, size_t piece)
{
    tcall_decoder decoder;
    size_t at;
    tcall_decoder_init(&decoder, shape, out);
    tcall_decoder_feed(&decoder, "{\"value\":", 9);
    for (at = 0; at < len; at += piece)
        tcall_decoder_feed(&decoder, text + at,
                           len - at < piece ? len - at : piece);
    tcall_decoder_feed(&decoder, "}", 1);
    return tcall_decoder_end(&decoder);
}

int probe_shapes(int count, char **files)
{
    static struct kept kept;
    static struct over over;
    int i;
    for (i = 0; i < count; i++) {
        size_t len;
        char *text = probe_file(files[i], &len);
        int whole = probe_decode(&kept_shape, &kept, text, len, len + 1);
        int bytes = probe_decode(&kept_shape, &kept, text, len, 1);
        int passed = probe_decode(&over_shape, &over, text, len, len + 1);
        int passed_bytes = probe_decode(&over_shape, &over, text, len, 1);
        const char *word = whole == TCALL_OK ? "accept" : "reject";
        if (whole != bytes || whole != passed || whole != passed_bytes)
            word = "differ";
        printf("%s %s\n", word, files[i]);
        free(text);
    }
    return 0;
}

/* ---- what is wrong with arguments of a shape ---- */

#define UNIT(WORD, me) WORD(me, celsius) WORD(me, kelvin) WORD(me, rankine)
TCALL_CHOICE(unit, UNIT)
TCALL_LIST(names, text(1, 5), 1, 3)
TCALL_LIST(numbers, integer(0, 9), 2, 2)
TCALL_OPEN_LIST(notes, integer(0, 9), 0, 2)
#define TIMER(ROW, me)                             \
    ROW(me, required, integer(1, 60), minutes, "") \
    ROW(me, optional, named("a/b~c", or_null(text(2, 12))), label, "")
TCALL_SHAPE(timer, TIMER)
TCALL_LIST(timers, object(timer), 0, 2)
#define TOLD(ROW, me)                                                          \
    ROW(me, required, text(2, 8), city, "")                                    \
    ROW(me, optional, choice(unit), unit, "")                                  \
    ROW(me, defaults(3), integer(1, 7), days, "")                              \
    ROW(me, optional, integer(1, INT32_MAX), least, "")                        \
    ROW(me, optional, integer(INT32_MIN, 7), most, "")                         \
    ROW(me, optional, integer(INT32_MIN, INT32_MAX), narrow, "")               \
    ROW(me, optional, integer(4, 4), four, "")                                 \
    ROW(me, optional, fixed(2, -9.9, 40), heat, "")                            \
    ROW(me, optional, integer64(INT64_MIN, 9000000000000), wide, "")           \
    ROW(me, optional, number(-0.5, TCALL_NO_MAXIMUM), factor, "")              \
    ROW(me, optional, over(number(0, 1)), share, "")                           \
    ROW(me, optional, under(number(0, 1)), below, "")                          \
    ROW(me, optional, over(under(number(-1, 2.5))), gain, "")                  \
    ROW(me, optional, over(number(0, TCALL_NO_MAXIMUM)), over, "")             \
    ROW(me, optional, under(number(TCALL_NO_MINIMUM, 9)), under, "")           \
    ROW(me, optional, characters(2, 3), code, "")                              \
    ROW(me, optional, text(1, 1), one, "")                                     \
    ROW(me, optional, string(1, 10), note, "")                                 \
    ROW(me, optional, list(names), names, "")                                  \
    ROW(me, optional, list(numbers), numbers, "")                              \
    ROW(me, optional, list(notes), notes, "")                                  \
    ROW(me, optional, object(timer), timer, "")                                \
    ROW(me, optional, list(timers), timers, "")                                \
    ROW(me, optional, json(8), extra, "")                                      \
    ROW(me, optional, one_of(TCALL_SHAPE_STRING | TCALL_SHAPE_NUMBER, 9), any, \
        "")                                                                    \
    ROW(me, optional, or_null(boolean), on, "")                                \
    ROW(me, optional, boolean, off, "")                                        \
    ROW(me, optional, named("\xC3\xA9/~", or_null(integer(1, 7))), accent, "")
TCALL_SHAPE(told, TOLD)
TCALL_EMPTY_SHAPE(nothing)

static int told_run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    return tcall_write_json(out, args);
}

static const tcall_tool told_tools[] = {{.name = "told",
                                         .parameters = TCALL_STRUCT(told),
                                         .run = told_run,
                                         .permissions = TCALL_READ},
                                        {.name = "nothing",
                                         .parameters = TCALL_STRUCT(nothing),
                                         .run = told_run,
                                         .permissions = TCALL_READ}};

/* As the bare decoder says it. */
static void probe_told_decoder(tcall_writer *w, const tcall_object *shape,
                               tcall_str text)
{
    static struct told args;
    tcall_decoder decoder;
    size_t i;
    int r;
    tcall_decoder_init(&decoder, shape, &args);
    tcall_decoder_feed(&decoder, text.ptr, text.len);
    r = tcall_decoder_end(&decoder);
    tcall_write_key(w, "decoder");
    tcall_write_open(w, '[');
    if (r < 0 && r != TCALL_E_INVALID)
        tcall_write_string(w, tcall_error_code(r));
    for (i = 0; i < decoder.misfit_count && i < TOOLCALL_MAX_FAULTS; i++) {
        tcall_write_quote(w);
        tcall_write_misfit(w, &decoder.misfits[i], shape, 0);
        tcall_write_unquote(w);
    }
    tcall_write_close(w, ']');
}

/* As a call's result says it. */
static void probe_told_call(tcall_writer *w, tcall *tc, tcall_str name,
                            tcall_str text)
{
    static char result[1 << 16];
    tcall_writer out;
    tcall_call call;
    memset(&call, 0, sizeof call);
    tcall_writer_init(&out, result, sizeof result);
    call.name = name;
    call.arguments = text;
    tcall_hydrate(tc, &call);
    tcall_invoke(tc, &call, &out);
    tcall_release(tc, &call);
    tcall_write_key(w, "result");
    tcall_write_verbatim(w, (tcall_str){result, out.fill});
}

int probe_told(FILE *in, FILE *out)
{
    static char block[1 << 16], answer[1 << 17];
    tcall_desc desc;
    tcall tc;
    char *line;
    size_t len;
    memset(&desc, 0, sizeof desc);
    desc.block = block;
    desc.lenient = &tcall_lenient;
    desc.patterns = &tcall_patterns;
    desc.block_size = sizeof block;
    desc.tools = told_tools;
    desc.tool_count = 2;
    desc.allow = TCALL_READ;
    if (tcall_init(&tc, &desc) < 0)
        return 2;
    while ((line = probe_line(in, &len)) != NULL) {
        tcall_json v = probe_parse(line, len);
        tcall_str text = tcall_json_str(tcall_json_get(v, "input"));
        tcall_str name = tcall_json_str(tcall_json_get(v, "tool"));
        tcall_writer w;
        tcall_writer_init(&w, answer, sizeof answer);
        tcall_write_open(&w, '{');
        probe_told_decoder(&w, name.len == 4 ? &told_shape : &nothing_shape,
                           text);
        probe_told_call(&w, &tc, name, text);
        tcall_write_close(&w, '}');
        fprintf(out, "%.*s\n", (int)w.fill, answer);
        free(line);
    }
    return 0;
}
