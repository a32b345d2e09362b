/* Instructions of an answer whose arguments come in small deltas: LENGTH of the
 * arguments and bytes of a PIECE are words of the command line. */
#include <stdio.h>
#include <stdlib.h>

#include "toolcall.h"

static char body[1 << 23], memory[1 << 18];
static tcall_reader reader;

/* What callgrind counts. */
void region(size_t length, size_t piece);
void region(size_t length, size_t piece)
{
    size_t at;
    for (at = 0; at < length; at += piece)
        tcall_reader_feed(&reader, body + at,
                          length - at < piece ? length - at : piece);
}

int main(int argc, char **argv)
{
    size_t length = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    size_t piece = argc > 2 ? strtoul(argv[2], NULL, 10) : 1400;
    char *to = body;
    tcall_block block;
    tcall_chat chat;
    size_t i;
    to += sprintf(to,
                  "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":"
                  "[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\","
                  "\"arguments\":\"{\\\"a\\\":\\\"\"}}]}}]}\n\n");
    for (i = 0; i < length; i += 5)
        to += sprintf(to,
                      "data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,"
                      "\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
                      "{\"arguments\":\"abcde\"}}]},\"finish_reason\":null}]}"
                      "\n\n");
    to += sprintf(to,
                  "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":"
                  "[{\"index\":0,\"function\":{\"arguments\":\"\\\"}\"}}]},"
                  "\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n");
    tcall_block_init(&block, memory, sizeof memory);
    tcall_chat_init(&chat, &block);
    tcall_reader_init(&reader, &tcall_openai, &chat, NULL, NULL);
    region((size_t)(to - body), piece);
    if (tcall_reader_end(&reader) < 0 || reader.answer.calls != 1)
        return 1;
    printf("%lu\n", (unsigned long)(to - body));
    return 0;
}
