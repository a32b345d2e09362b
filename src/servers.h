#pragma once
#include "openai.h"
#include "responses.h"

/* ==========================================================================
 * >>servers: that speak a format of OpenAI, more or less
 *
 * Each is a tcall_provider: tcall_groq, tcall_mistral ... A copy with another
 * url, path or quirk serves what is not here.
 */

/* Each with what is known of it: X(name, url, path, key header, before the key,
 * reasoning, its member of a message, strict mode, quirks, turns). Where those
 * of Mistral's models hold elsewhere, as at OpenRouter, a copy needs its turns.
 */
#define TCALL_SERVERS(X)                                                       \
    X(groq, "https://api.groq.com", "/openai/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_FREE_REASONING, 0)                      \
    X(mistral, "https://api.mistral.ai", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, NULL,                  \
      TCALL_STRICT_OPENAI,                                                     \
      TCALL_QUIRK_NINE_LETTER_IDS | TCALL_QUIRK_ANY | TCALL_QUIRK_MAX_TOKENS | \
          TCALL_QUIRK_NO_USAGE | TCALL_QUIRK_FREE_REASONING,                   \
      TCALL_TURNS_ANSWERED)                                                    \
    X(deepseek, "https://api.deepseek.com", "/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE, TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS, 0)  \
    X(openrouter, "https://openrouter.ai", "/api/v1/chat/completions",         \
      "Authorization", "Bearer ", TCALL_REASONING_DETAILS, NULL,               \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_SHORT_IDS, 0)  \
    X(azure, "", "/openai/v1/chat/completions", "api-key", "",                 \
      TCALL_REASONING_NONE, NULL, TCALL_STRICT_OPENAI, TCALL_QUIRK_SHORT_IDS,  \
      TCALL_TURNS_ANSWERED)                                                    \
    X(gemini_v1, "https://generativelanguage.googleapis.com",                  \
      "/v1beta/openai/chat/completions", "Authorization", "Bearer ",           \
      TCALL_REASONING_SIGNATURES, NULL, TCALL_STRICT_NONE,                     \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS, 0)                     \
    X(together, "https://api.together.xyz", "/v1/chat/completions",            \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_NONE, TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING,  \
      0)                                                                       \
    X(fireworks, "https://api.fireworks.ai", "/inference/v1/chat/completions", \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE, TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING,  \
      0)                                                                       \
    X(cerebras, "https://api.cerebras.ai", "/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_OPENAI,                                                     \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_FREE_REASONING, 0)                 \
    X(github, "https://models.github.ai", "/inference/chat/completions",       \
      "Authorization", "Bearer ", TCALL_REASONING_NONE, NULL,                  \
      TCALL_STRICT_NONE, TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_SHORT_IDS,       \
      TCALL_TURNS_ANSWERED)                                                    \
    X(cohere, "https://api.cohere.ai", "/compatibility/v1/chat/completions",   \
      "Authorization", "Bearer ", TCALL_REASONING_NONE, NULL,                  \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_NO_USAGE, \
      0)                                                                       \
    X(llamacpp, "http://127.0.0.1:8080", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_SAY_PARALLEL |                     \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING,                 \
      TCALL_TURNS_ANSWERED)                                                    \
    X(lmstudio, "http://127.0.0.1:1234", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_PARALLEL |                      \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING,                 \
      TCALL_TURNS_ANSWERED)                                                    \
    X(ollama_v1, "http://127.0.0.1:11434", "/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_CHOICE |                        \
          TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS |                   \
          TCALL_QUIRK_FREE_REASONING,                                          \
      0)

/* Likewise those of the format Responses. */
#define TCALL_RESPONSES_SERVERS(X)                                          \
    X(xai, "https://api.x.ai", "/v1/responses", "Authorization", "Bearer ", \
      TCALL_REASONING_ELEMENTS, NULL, TCALL_STRICT_OPENAI,                  \
      TCALL_QUIRK_ORDERED | TCALL_QUIRK_ASK_REASONING, 0)                   \
    X(perplexity, "https://api.perplexity.ai", "/v1/responses",             \
      "Authorization", "Bearer ", TCALL_REASONING_ELEMENTS, NULL,           \
      TCALL_STRICT_NONE, TCALL_QUIRK_ORDERED, 0)

#ifndef TOOLCALL_STATIC
#define TCALL_X_(name, ...) extern const tcall_provider tcall_##name;
TCALL_SERVERS(TCALL_X_)
TCALL_RESPONSES_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif
