/*
 * flow.h - the answers that flow_ours.c and flow_cjson.c read, and how their
 * instructions are counted
 *
 * Each answer holds one call of get_weather, in the shape and about the size of
 * what the provider sends.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* From the answer to the message that carries the tool's result. Returns its
 * length, < 0 on a failure. */
static int flow(const char *answer, size_t len, char *message, size_t cap);

static const struct {
    const char *name, *answer;
} providers[] = {
    {"openai",
     "{\"id\":\"chatcmpl-C9fQk2mZr7WvX0aLs4TtYd1bNn3Ue\",\"object\":\"chat"
     ".completion\",\"created\":1790000000,\"model\":\"bench-mini-2026-08-"
     "06\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
     "\"content\":null,\"tool_calls\":[{\"id\":\"call_5tGxQv0a8ZkM2RwYc1Lb"
     "Po7u\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\","
     "\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\",\\\"unit\\\":\\\"celsius"
     "\\\",\\\"days\\\":3}\"}}],\"refusal\":null,\"annotations\":[]},\"log"
     "probs\":null,\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_"
     "tokens\":390,\"completion_tokens\":61,\"total_tokens\":451,\"prompt_"
     "tokens_details\":{\"cached_tokens\":0,\"audio_tokens\":0},\"completi"
     "on_tokens_details\":{\"reasoning_tokens\":0,\"audio_tokens\":0,\"acc"
     "epted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}},\"ser"
     "vice_tier\":\"default\",\"system_fingerprint\":\"fp_0a1b2c3d4e\"}"},
    {"anthropic",
     "{\"model\":\"bench-haiku-4-20260805\",\"id\":\"msg_01Xk9LmQ2rTvWz7aB"
     "cDeFgHj\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{"
     "\"type\":\"tool_use\",\"id\":\"toolu_01A2b3C4d5E6f7G8h9J0kLmN\",\"na"
     "me\":\"get_weather\",\"input\":{\"city\":\"Oslo\",\"unit\":\"celsius"
     "\",\"days\":3}}],\"stop_reason\":\"tool_use\",\"stop_sequence\":null"
     ",\"usage\":{\"input_tokens\":1120,\"cache_creation_input_tokens\":0,"
     "\"cache_read_input_tokens\":0,\"cache_creation\":{\"ephemeral_5m_inp"
     "ut_tokens\":0,\"ephemeral_1h_input_tokens\":0},\"output_tokens\":97,"
     "\"service_tier\":\"standard\"}}"},
    {"gemini",
     "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"args"
     "\":{\"city\":\"Oslo\",\"unit\":\"celsius\",\"days\":3},\"name\":\"ge"
     "t_weather\"},\"thoughtSignature\":\"c2lnbmF0dXJlLW9mLWJlbmNo\"}],\"r"
     "ole\":\"model\"},\"finishMessage\":\"The model made function calls."
     "\",\"finishReason\":\"STOP\",\"index\":0}],\"modelVersion\":\"bench-"
     "2.5-flash\",\"responseId\":\"k3BvZ9qRw0YtX2\",\"usageMetadata\":{\"c"
     "andidatesTokenCount\":21,\"promptTokenCount\":97,\"promptTokensDetai"
     "ls\":[{\"modality\":\"TEXT\",\"tokenCount\":97}],\"serviceTier\":\"s"
     "tandard\",\"thoughtsTokenCount\":48,\"totalTokenCount\":166}}"},
    {"ollama",
     "{\"model\":\"bench3:latest\",\"created_at\":\"2026-11-22T09:30:11.48"
     "2913Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"think"
     "ing\":\"Let me think:\\n1. The user wants the weather in Oslo for th"
     "ree days, so I use the `get_weather` tool.\\n2. Its parameters are `"
     "city`, `unit` and `days`.\\n3. In Oslo degrees are Celsius: unit = c"
     "elsius, days = 3.\\n4. The call is `get_weather(city=Oslo, unit=cels"
     "ius, days=3)`.\\n5. Then I give the answer. ✓\",\"tool_calls\":[{\"i"
     "d\":\"call_7qk2mzr4\",\"function\":{\"index\":0,\"name\":\"get_weath"
     "er\",\"arguments\":{\"city\":\"Oslo\",\"unit\":\"celsius\",\"days\":"
     "3}}}]},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":179"
     "0921584,\"load_duration\":150923875,\"prompt_eval_count\":298,\"prom"
     "pt_eval_duration\":165740000,\"eval_count\":132,\"eval_duration\":12"
     "61034000}"},
};

#ifdef __arm__
/* QEMU's mps2-an386 with -icount shift=0: the timer runs at 25 MHz of a clock
 * of 1 ns an instruction, so that a tick is 40 of them. */
#define TIMER ((volatile uint32_t *)0x40000000)
enum { RUNS = 50 };
#else
enum { RUNS = 1 };
#endif

/* What is counted. */
int region(const char *answer, size_t len, char *message, size_t cap);
__attribute__((noinline)) int region(const char *answer, size_t len,
                                     char *message, size_t cap)
{
    int i, written = 0;
    for (i = 0; i < RUNS; i++)
        written = flow(answer, len, message, cap);
    return written;
}

/* Prints the message and, where there is a timer, the instructions. */
static int measure(const char *answer)
{
    static char message[512];
    size_t len = strlen(answer);
    int written = flow(answer, len, message, sizeof message); /* warms up */
#ifdef __arm__
    uint32_t start;
    TIMER[2] = TIMER[1] = 0xFFFFFFFFu;
    TIMER[0] = 1;
    start = TIMER[1];
    written = region(answer, len, message, sizeof message);
    printf("%lu ", (unsigned long)(start - TIMER[1]) * 40 / RUNS);
#else
    written = region(answer, len, message, sizeof message);
#endif
    printf("%.*s\n", written, message);
    return written > 0 ? 0 : 1;
}
