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
 * reasoning, strict mode, quirks). */
#define TCALL_SERVERS(X)                                                       \
    X(groq, "https://api.groq.com", "/openai/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_NONE, TCALL_STRICT_OPENAI,   \
      0)                                                                       \
    X(mistral, "https://api.mistral.ai", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_NONE, TCALL_STRICT_OPENAI,   \
      TCALL_QUIRK_NINE_LETTER_IDS | TCALL_QUIRK_ANY | TCALL_QUIRK_MAX_TOKENS | \
          TCALL_QUIRK_NO_USAGE)                                                \
    X(deepseek, "https://api.deepseek.com", "/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_TEXT, TCALL_STRICT_NONE,     \
      TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS)                        \
    X(openrouter, "https://openrouter.ai", "/api/v1/chat/completions",         \
      "Authorization", "Bearer ", TCALL_REASONING_DATA, TCALL_STRICT_OPENAI,   \
      TCALL_QUIRK_MAX_TOKENS)                                                  \
    X(xai, "https://api.x.ai", "/v1/chat/completions", "Authorization",        \
      "Bearer ", TCALL_REASONING_NONE, TCALL_STRICT_OPENAI, 0)                 \
    X(azure, "", "/openai/v1/chat/completions", "api-key", "",                 \
      TCALL_REASONING_NONE, TCALL_STRICT_OPENAI, 0)                            \
    X(llamacpp, "http://127.0.0.1:8080", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_NONE, TCALL_STRICT_NONE,     \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_SAY_PARALLEL |                     \
          TCALL_QUIRK_MAX_TOKENS)                                              \
    X(lmstudio, "http://127.0.0.1:1234", "/v1/chat/completions",               \
      "Authorization", "Bearer ", TCALL_REASONING_NONE, TCALL_STRICT_NONE,     \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_PARALLEL |                      \
          TCALL_QUIRK_MAX_TOKENS)                                              \
    X(ollama_v1, "http://127.0.0.1:11434", "/v1/chat/completions",             \
      "Authorization", "Bearer ", TCALL_REASONING_NONE, TCALL_STRICT_NONE,     \
      TCALL_QUIRK_WEAK_CHOICE | TCALL_QUIRK_NO_CHOICE |                        \
          TCALL_QUIRK_NO_PARALLEL | TCALL_QUIRK_MAX_TOKENS)

#if !defined TOOLCALL_NO_SERVERS && defined TCALL_HAS_OPENAI_
#define TCALL_HAS_SERVERS_
#ifndef TOOLCALL_STATIC
#define TCALL_X_(name, url, path, header, prefix, reasoning, strict, quirks) \
    extern const tcall_provider tcall_##name;
TCALL_SERVERS(TCALL_X_)
#undef TCALL_X_
#endif
#endif
