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

/* A chapter that was left out, or whose file was deleted, defines no
 * TCALL_HAS_..._ in its contract. */
static const tcall_provider *const tcall_providers_[] = {
#ifdef TCALL_HAS_OPENAI_
    &tcall_openai,
#endif
#ifdef TCALL_HAS_RESPONSES_
    &tcall_responses,
#endif
#ifdef TCALL_HAS_ANTHROPIC_
    &tcall_anthropic,
#endif
#ifdef TCALL_HAS_OLLAMA_
    &tcall_ollama,
#endif
#ifdef TCALL_HAS_GEMINI_
    &tcall_gemini,
#endif
#ifdef TCALL_HAS_INTERACTIONS_
    &tcall_interactions,
#endif
#ifdef TCALL_HAS_SERVERS_
#define TCALL_X_(name, ...) &tcall_##name,
    TCALL_SERVERS(TCALL_X_)
#ifdef TCALL_HAS_RESPONSES_
        TCALL_RESPONSES_SERVERS(TCALL_X_)
#endif
#undef TCALL_X_
#endif
            NULL};

const tcall_provider *tcall_provider_named(const char *name)
{
    const tcall_provider *const *provider = tcall_providers_;
    while (*provider && strcmp((*provider)->name, name) != 0)
        provider++;
    return *provider;
}
