/* The agent with five providers, one of which is chosen while it runs. */
#include "toolcall.h"

static const tcall_provider *const five[] = {
    &tcall_openai, &tcall_responses, &tcall_anthropic,
    &tcall_gemini, &tcall_ollama,
};
static volatile unsigned chosen;

#define PROVIDER five[chosen % TCALL_ARRAY_LEN(five)]
#include "fw_agent.c"
