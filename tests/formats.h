/*
 * formats.h - answers of a model in five formats, whole and streamed, as texts
 * to fill in, for tests that make up their own
 */
#include "toolcall.h"

#include <string.h>

/* How a format says things. A streamed answer has the same parts, each in an
 * event of its own. */
typedef struct format {
    const char *name;
    bool value; /* arguments are a value, not a text */
    const char *head;
    const char *text;    /* $: what the model says */
    const char *calls;   /* between what it says and calls */
    const char *call;    /* $: id, name and arguments; #: its number */
    const char *tail;    /* after calls, $: why it ends */
    const char *said;    /* the same without calls */
    const char *ends[3]; /* with calls, without calls, because it is too long */
} format;

#define SSE(json) "data: " json "\n\n"

static const format whole[] = {
    {"openai",
     false,
     "{\"choices\":[{\"message\":{\"role\":\"assistant\",",
     "\"content\":\"$\"",
     ",\"tool_calls\":[",
     "{\"id\":\"$\",\"type\":\"function\",\"function\":{\"name\":\"$\","
     "\"arguments\":\"$\"}}",
     "]},\"finish_reason\":\"$\"}]}",
     "},\"finish_reason\":\"$\"}]}",
     {"tool_calls", "stop", "length"}},
    {"anthropic",
     true,
     "{\"content\":[",
     "{\"type\":\"text\",\"text\":\"$\"}",
     ",",
     "{\"type\":\"tool_use\",\"id\":\"$\",\"name\":\"$\",\"input\":$}",
     "],\"stop_reason\":\"$\"}",
     "],\"stop_reason\":\"$\"}",
     {"tool_use", "end_turn", "max_tokens"}},
    {"ollama",
     true,
     "{\"message\":{\"role\":\"assistant\",",
     "\"content\":\"$\"",
     ",\"tool_calls\":[",
     "{\"id\":\"$\",\"function\":{\"name\":\"$\",\"arguments\":$}}",
     "]},\"done\":true,\"done_reason\":\"$\"}",
     "},\"done\":true,\"done_reason\":\"$\"}",
     {"stop", "stop", "length"}},
    {"gemini",
     true,
     "{\"candidates\":[{\"content\":{\"parts\":[",
     "{\"text\":\"$\"}",
     ",",
     "{\"functionCall\":{\"id\":\"$\",\"name\":\"$\",\"args\":$}}",
     "]},\"finishReason\":\"$\"}]}",
     "]},\"finishReason\":\"$\"}]}",
     {"STOP", "STOP", "MAX_TOKENS"}},
    {"responses",
     false,
     "{\"output\":[",
     "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
     "\"output_text\",\"text\":\"$\"}]}",
     ",",
     "{\"type\":\"function_call\",\"call_id\":\"$\",\"name\":\"$\","
     "\"arguments\":\"$\"}",
     "],\"status\":\"$\"}",
     "],\"status\":\"$\"}",
     {"completed", "completed", "incomplete"}}};

static const format streamed[] = {
    {"openai",
     false,
     "",
     SSE("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"$\"}}]}"),
     "",
     SSE("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":#,"
         "\"id\":\"$\",\"type\":\"function\",\"function\":{\"name\":\"$\","
         "\"arguments\":\"$\"}}]}}]}"),
     SSE("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
         "\"$\"}]}") SSE("[DONE]"),
     SSE("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
         "\"$\"}]}") SSE("[DONE]"),
     {"tool_calls", "stop", "length"}},
    {"anthropic",
     false,
     SSE("{\"type\":\"message_start\",\"message\":{}}"),
     SSE("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{"
         "\"type\":\"text\",\"text\":\"\"}}")
         SSE("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
             "\"type\":\"text_delta\",\"text\":\"$\"}}")
             SSE("{\"type\":\"content_block_stop\",\"index\":0}"),
     "",
     SSE("{\"type\":\"content_block_start\",\"index\":#,\"content_block\":{"
         "\"type\":\"tool_use\",\"id\":\"$\",\"name\":\"$\",\"input\":{}}}")
         SSE("{\"type\":\"content_block_delta\",\"index\":#,\"delta\":{"
             "\"type\":\"input_json_delta\",\"partial_json\":\"$\"}}")
             SSE("{\"type\":\"content_block_stop\",\"index\":#}"),
     SSE("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
         "\"$\"}}") SSE("{\"type\":\"message_stop\"}"),
     SSE("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
         "\"$\"}}") SSE("{\"type\":\"message_stop\"}"),
     {"tool_use", "end_turn", "max_tokens"}},
    {"ollama",
     true,
     "",
     "{\"message\":{\"role\":\"assistant\",\"content\":\"$\"},\"done\":false}"
     "\n",
     "",
     "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{"
     "\"id\":\"$\",\"function\":{\"name\":\"$\",\"arguments\":$}}]},\"done\":"
     "false}\n",
     "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"$\"}"
     "\n",
     "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"$\"}"
     "\n",
     {"stop", "stop", "length"}},
    {"gemini",
     true,
     "",
     SSE("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"$\"}]}}]}"),
     "",
     SSE("{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"id\":"
         "\"$\",\"name\":\"$\",\"args\":$}}]}}]}"),
     SSE("{\"candidates\":[{\"content\":{\"parts\":[]},\"finishReason\":"
         "\"$\"}]}"),
     SSE("{\"candidates\":[{\"content\":{\"parts\":[]},\"finishReason\":"
         "\"$\"}]}"),
     {"STOP", "STOP", "MAX_TOKENS"}},
    {"responses",
     false,
     "",
     SSE("{\"type\":\"response.output_text.delta\",\"output_index\":0,"
         "\"content_index\":0,\"delta\":\"$\"}"),
     "",
     SSE("{\"type\":\"response.output_item.done\",\"output_index\":#,\"item\":{"
         "\"type\":\"function_call\",\"call_id\":\"$\",\"name\":\"$\","
         "\"arguments\":\"$\"}}"),
     SSE("{\"type\":\"response.completed\",\"response\":{\"status\":"
         "\"$\"}}"),
     SSE("{\"type\":\"response.completed\",\"response\":{\"status\":"
         "\"$\"}}"),
     {"completed", "completed", "incomplete"}}};

/* Writes a text with values in the place of each $. */
static inline void fill(tcall_writer *out, const char *text, const char *one,
                        const char *two, const char *three)
{
    const char *values[3];
    int at = 0;
    values[0] = one;
    values[1] = two;
    values[2] = three;
    for (; *text; text++)
        if (*text == '$')
            tcall_write_text(out, values[at++]);
        else
            tcall_write_bytes(out, text, 1);
}

/* Returns how a provider says things. */
static inline const format *format_of(const char *provider, bool stream)
{
    const format *row = stream ? streamed : whole;
    while (strcmp(row->name, provider) != 0)
        row++;
    return row;
}

/* Writes one call. Where its arguments have to be a value, they are one. */
static inline void fill_call(tcall_writer *out, const format *row, int number,
                             const char *id, const char *name,
                             const char *arguments)
{
    char text[800], quoted[200], *at;
    tcall_writer writer;
    tcall_writer_init(&writer, quoted, sizeof quoted - 1);
    tcall_write_string(&writer, arguments);
    quoted[writer.fill - 1] = '\0'; /* without the quotes */
    tcall_writer_init(&writer, text, sizeof text - 1);
    fill(&writer, row->call, id, name, row->value ? arguments : quoted + 1);
    text[writer.fill] = '\0';
    while ((at = strchr(text, '#')) != NULL)
        *at = (char)('0' + number);
    tcall_write_text(out, text);
}
