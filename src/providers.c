#pragma once
#include "providers.h"
#include "openai.c"
#include "anthropic.c"
#include "ollama.c"
#include "responses.c"
#include "gemini.c"
#include "interactions.c"
#include "servers.c"

/* ==========================================================================
 * >>providers
 */

static const tcall_provider *const tcall_providers_[] = {
    &tcall_openai,
    &tcall_responses,
    &tcall_anthropic,
    &tcall_ollama,
    &tcall_gemini,
    &tcall_interactions,
#define TCALL_X_(name, ...) &tcall_##name,
    TCALL_SERVERS(TCALL_X_) TCALL_RESPONSES_SERVERS(TCALL_X_)
#undef TCALL_X_
        NULL};

const tcall_provider *tcall_provider_named(const char *name)
{
    const tcall_provider *const *provider = tcall_providers_;
    while (*provider && strcmp((*provider)->name, name) != 0)
        provider++;
    return *provider;
}
