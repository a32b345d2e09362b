#pragma once
#include "provider.h"

/* ==========================================================================
 * >>servers: that speak a format of OpenAI, more or less
 *
 * Each is a tcall_provider: tcall_groq, tcall_mistral ... A copy with another
 * url, path or quirk serves what is not here.
 */

/* Each with what is known of it: X(name, format, url, path, key header, before
 * the key, reasoning, its member of a message, strict mode, quirks, turns).
 * Where those of Mistral's models hold elsewhere, as at OpenRouter, a copy
 * needs its turns. */
#define TCALL_SERVERS(X)                                                       \
    X(groq, openai, "https://api.groq.com", "/openai/v1/chat/completions",     \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_FREE_REASONING, 0)                      \
    X(mistral, openai, "https://api.mistral.ai", "/v1/chat/completions",       \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "",                    \
      TCALL_STRICT_OPENAI,                                                     \
      TCALL_QUIRK_NINE_LETTER_IDS | TCALL_QUIRK_ANY | TCALL_QUIRK_MAX_TOKENS | \
          TCALL_QUIRK_NO_USAGE | TCALL_QUIRK_FREE_REASONING,                   \
      TCALL_TURNS_ANSWERED)                                                    \
    X(deepseek, openai, "https://api.deepseek.com", "/chat/completions",       \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE, TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS, 0)  \
    X(openrouter, openai, "https://openrouter.ai", "/api/v1/chat/completions", \
      "Authorization", "Bearer ", TCALL_REASONING_DETAILS, "",                 \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_SHORT_IDS, 0)  \
    X(azure, openai, "", "/openai/v1/chat/completions", "api-key", "",         \
      TCALL_REASONING_NONE, "", TCALL_STRICT_OPENAI, TCALL_QUIRK_SHORT_IDS,    \
      TCALL_TURNS_ANSWERED)                                                    \
    X(gemini_v1, openai, "https://generativelanguage.googleapis.com",          \
      "/v1beta/openai/chat/completions", "Authorization", "Bearer ",           \
      TCALL_REASONING_SIGNATURES, "", TCALL_STRICT_NONE,                       \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS, 0)                     \
    X(together, openai, "https://api.together.xyz", "/v1/chat/completions",    \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_NONE, TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING,  \
      0)                                                                       \
    X(fireworks, openai, "https://api.fireworks.ai",                           \
      "/inference/v1/chat/completions", "Authorization", "Bearer ",            \
      TCALL_REASONING_TEXT, "reasoning_content", TCALL_STRICT_NONE,            \
      TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING, 0)                  \
    X(cerebras, openai, "https://api.cerebras.ai", "/v1/chat/completions",     \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_OPENAI,                                                     \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_FREE_REASONING, 0)                 \
    X(github, openai, "https://models.github.ai",                              \
      "/inference/chat/completions", "Authorization", "Bearer ",               \
      TCALL_REASONING_NONE, "", TCALL_STRICT_NONE,                             \
      TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_SHORT_IDS, TCALL_TURNS_ANSWERED)    \
    X(cohere, openai, "https://api.cohere.ai",                                 \
      "/compatibility/v1/chat/completions", "Authorization", "Bearer ",        \
      TCALL_REASONING_NONE, "", TCALL_STRICT_NONE,                             \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_NO_USAGE, \
      0)                                                                       \
    X(llamacpp, openai, "http://127.0.0.1:8080", "/v1/chat/completions",       \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_SAY_PARALLEL |                     \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING,                 \
      TCALL_TURNS_ANSWERED)                                                    \
    X(lmstudio, openai, "http://127.0.0.1:1234", "/v1/chat/completions",       \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_PARALLEL |                      \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING,                 \
      TCALL_TURNS_ANSWERED)                                                    \
    X(ollama_v1, openai, "http://127.0.0.1:11434", "/v1/chat/completions",     \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_CHOICE |                        \
          TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS |                   \
          TCALL_QUIRK_FREE_REASONING,                                          \
      0)                                                                       \
    X(xai, responses, "https://api.x.ai", "/v1/responses", "Authorization",    \
      "Bearer ", TCALL_REASONING_ELEMENTS, "", TCALL_STRICT_OPENAI,            \
      TCALL_QUIRK_ORDERED | TCALL_QUIRK_ASK_REASONING, 0)                      \
    X(perplexity, responses, "https://api.perplexity.ai", "/v1/responses",     \
      "Authorization", "Bearer ", TCALL_REASONING_ELEMENTS, "",                \
      TCALL_STRICT_NONE, TCALL_QUIRK_ORDERED, 0)

#ifndef TOOLCALL_STATIC
#define TCALL_X_(name, ...) extern const tcall_provider tcall_##name;
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif

/* Returns the provider or server of this name ("groq"), or NULL. Links all of
 * them. */
TCALL_API const tcall_provider *tcall_provider_named(const char *name);
