#pragma once
#include "openai.h"

/* ==========================================================================
 * >>servers: that speak the format of OpenAI, more or less
 *
 * Each is a tcall_provider: tcall_groq, tcall_mistral ... A copy with another
 * url, path or quirk serves what is not here. TOOLCALL_NO_SERVERS leaves them
 * out.
 */

/* Each with what is known of it: X(name, url, path, key header, before the key,
 * reasoning, its member of a message, strict mode, quirks). */
#define TCALL_SERVERS(X)                                                       \
    X(groq, "https://api.groq.com", "/openai/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_FREE_REASONING)                         \
    X(mistral, "https://api.mistral.ai", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, NULL,                  \
      TCALL_STRICT_OPENAI,                                                     \
      TCALL_QUIRK_NINE_LETTER_IDS | TCALL_QUIRK_ANY | TCALL_QUIRK_MAX_TOKENS | \
          TCALL_QUIRK_NO_USAGE | TCALL_QUIRK_FREE_REASONING)                   \
    X(deepseek, "https://api.deepseek.com", "/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE, TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS)     \
    X(openrouter, "https://openrouter.ai", "/api/v1/chat/completions",         \
      "Authorization", "Bearer ", TCALL_REASONING_DETAILS, NULL,               \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_SHORT_IDS)     \
    X(xai, "https://api.x.ai", "/v1/chat/completions", "Authorization",        \
      "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",                    \
      TCALL_STRICT_OPENAI, TCALL_QUIRK_FREE_REASONING)                         \
    X(azure, "", "/openai/v1/chat/completions", "api-key", "",                 \
      TCALL_REASONING_NONE, NULL, TCALL_STRICT_OPENAI, TCALL_QUIRK_SHORT_IDS)  \
    X(gemini_v1, "https://generativelanguage.googleapis.com",                  \
      "/v1beta/openai/chat/completions", "Authorization", "Bearer ",           \
      TCALL_REASONING_SIGNATURES, NULL, TCALL_STRICT_NONE,                     \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS)                        \
    X(llamacpp, "http://127.0.0.1:8080", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_SAY_PARALLEL |                     \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING)                 \
    X(lmstudio, "http://127.0.0.1:1234", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning_content",   \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_PARALLEL |                      \
          TCALL_QUIRK_MAX_TOKENS | TCALL_QUIRK_FREE_REASONING)                 \
    X(ollama_v1, "http://127.0.0.1:11434", "/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, "reasoning",           \
      TCALL_STRICT_NONE,                                                       \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_CHOICE |                        \
          TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS |                   \
          TCALL_QUIRK_FREE_REASONING)

#if !defined TOOLCALL_NO_SERVERS && defined TCALL_HAS_OPENAI_
#define TCALL_HAS_SERVERS_
#ifndef TOOLCALL_STATIC
#define TCALL_X_(name, ...) extern const tcall_provider tcall_##name;
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif
#endif
