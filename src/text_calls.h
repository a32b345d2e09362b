#pragma once
#include "chat.h"

/* ==========================================================================
 * >>text_calls: calls that a model writes as text
 *
 * A server that has no parser for its model passes calls on as the model wrote
 * them: <tool_call>{"name":"f","arguments":{}}</tool_call>. Each family of
 * models has its own markers. Who runs such a model names its family:
 *
 *     agent.text_calls = &tcall_text_qwen;
 *
 * Arguments are read as leniently as others. No call is what the model only
 * quotes: within a Markdown code fence or code span, a quoted line ("> "), a
 * JSON string, quotes, or a sentence that goes on behind it; nor what has the
 * name of no tool. What was cut is a call that does not run.
 */

struct tcall_reader;

/* How calls of a family are written: one form after the other, made by
 * TCALL_TEXT_FORM. Each begins with its kind: o, an object, or several, has the
 * members name and arguments; n, a name is followed by an object; m, by members
 * whose values are text; p, by Python's, f(a=1). Its texts are: what may stand
 * before the first call; what a call begins with; what follows its name; of m
 * what a name begins and ends with, and what its value; what a call ends with.
 * In these texts a blank stands for any white space or none, # for a name, *
 * for anything up to what follows it in the line, ^ for the beginning of the
 * text, $ for its end, a first ? for what may be missing. */
#define TCALL_TEXT_FORM(kind, scope, begin, name_end, key, key_end, value_end, \
                        end)                                                   \
    kind scope "\0" begin "\0" name_end "\0" key "\0" key_end "\0" value_end   \
               "\0" end "\0"

/* A family of models, for tcall_agent_desc.text_calls: its forms, and what
 * reads the calls of an answer in them. Both must outlive the agent. */
typedef struct tcall_text_calls {
    const char *forms; /* an empty text ends them */
    int (*read)(const struct tcall_text_calls *calls,
                struct tcall_reader *reader, bool cut);
} tcall_text_calls;

#ifndef TOOLCALL_STATIC
extern const tcall_text_calls tcall_text_hermes, /* and Qwen 2.5, Qwen 3 */
    tcall_text_qwen,                             /* Qwen3-Coder: XML */
    tcall_text_llama, /* 3.1: bare JSON, <function=; 3.2, 4: [f(a=1)] */
    tcall_text_mistral, tcall_text_phi, /* Phi-4-mini, Granite */
    tcall_text_kimi, tcall_text_deepseek, tcall_text_glm,
    tcall_text_minimax, /* M2 */
    tcall_text_gpt_oss,
    tcall_text_any; /* all that have markers: whatever the model is */
#endif
