#pragma once
#include "ollama.h"
#include "answer_feed.c"

/* ==========================================================================
 * >>ollama
 *
 * Calls come whole, and their numbers mean nothing: each is a new one.
 */

static const tcall_wire tcall_ollama_function_[] = {
    TCALL_WIRE("name", TCALL_FIELD_NAME, 0, NULL),
    TCALL_WIRE("arguments", TCALL_FIELD_ARGUMENTS,
               TCALL_WIRE_TEXT | TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_ollama_call_[] = {
    TCALL_WIRE("id", TCALL_FIELD_ID, 0, NULL),
    TCALL_WIRE("function", 0, TCALL_WIRE_LAST, tcall_ollama_function_)};

static const tcall_wire tcall_ollama_call_each_ = {tcall_ollama_call_, "", 0,
                                                   TCALL_FIELD_ELEMENT, 0};

static const tcall_wire tcall_ollama_message_[] = {
    TCALL_WIRE("content", TCALL_FIELD_TEXT, 0, NULL),
    TCALL_WIRE("thinking", TCALL_FIELD_REASONING, 0, NULL),
    TCALL_WIRE("tool_calls", 0, TCALL_WIRE_EACH | TCALL_WIRE_LAST,
               &tcall_ollama_call_each_)};

static const tcall_wire tcall_ollama_fault_[] = {
    TCALL_WIRE("message", TCALL_FIELD_MESSAGE, TCALL_WIRE_LAST, NULL)};

static const tcall_wire tcall_ollama_members_[] = {
    TCALL_WIRE("message", 0, 0, tcall_ollama_message_),
    TCALL_WIRE("done", TCALL_FIELD_EVENT, 0, NULL),
    TCALL_WIRE("done_reason", TCALL_FIELD_STOP, 0, NULL),
    TCALL_WIRE("prompt_eval_count", TCALL_FIELD_INPUT_TOKENS, 0, NULL),
    TCALL_WIRE("eval_count", TCALL_FIELD_OUTPUT_TOKENS, 0, NULL),
    TCALL_WIRE("error", TCALL_FIELD_ERROR, TCALL_WIRE_LAST,
               tcall_ollama_fault_)};

static const tcall_wire tcall_ollama_answer_ = {tcall_ollama_members_, "", 0, 0,
                                                0};

#define TCALL_OLLAMA_STOPS_(X) \
    X("stop", TCALL_STOP_END)  \
    X("length", TCALL_STOP_LENGTH)

TCALL_WORDS(tcall_ollama_stops_, TCALL_OLLAMA_STOPS_)

/* The event is the value of "done". */
#define TCALL_OLLAMA_TYPES_(X) X("true", TCALL_MEANS_ANSWER_ENDS)

TCALL_WORDS(tcall_ollama_types_, TCALL_OLLAMA_TYPES_)

/* Arguments are an object. Of a result, templates of models use the name, the
 * server itself the id. */
TCALL_FORMS_(
    tcall_ollama_forms_, "{\"role\":\"user\",\"content\":\"%t\"}",
    "{\"role\":\"user\",\"content\":\"\",\"images\":[\"%b\"]}", "",
    "{\"id\":\"%i\",\"function\":{\"name\":\"%n\",\"arguments\":%a}}",
    "{\"role\":\"tool\",\"tool_name\":\"%n\",\"tool_call_id\":\"%i\",\"content\":\"%r\"}",
    "{\"role\":\"tool\",\"tool_name\":\"%n\",\"tool_call_id\":\"%i\",\"content\":\"%r\"}",
    "", "", "", "")

/* {"model":...,"messages":[...],"tools":[...],"options":{...},"stream":true} */
static int tcall_ollama_write_(const tcall_provider *provider,
                               tcall_writer *out,
                               const tcall_chat_request *request)
{
    tcall_write_open(out, '{');
    tcall_write_member_(out, "model", request->model);
    tcall_write_messages_(provider, out, request, tcall_ollama_forms_, NULL);
    tcall_write_tools_(provider, out, request, tcall_function_tools_);
    if ((request->max_tokens > 0 || request->context > 0) &&
        !tcall_is_extra_(request, "options")) {
        tcall_write_form_(out, "\"options\":{", NULL);
        tcall_write_limit_(out, "num_ctx", request->context);
        tcall_write_limit_(out, "num_predict", request->max_tokens);
        tcall_write_text(out, "}");
    }
    /* It streams unless it is told not to. */
    tcall_write_flag_(out, "stream", request->stream);
    return tcall_write_body_end_(out, request);
}

static const char tcall_ollama_name_[] = "ollama";
static const char tcall_ollama_url_[] = "http://127.0.0.1:11434";
static const char tcall_ollama_path_[] = "/api/chat";

TCALL_DATA_ const tcall_provider tcall_ollama = {tcall_ollama_name_,
                                                 tcall_ollama_url_,
                                                 tcall_ollama_path_,
                                                 NULL,
                                                 "Authorization",
                                                 "Bearer ",
                                                 {NULL, NULL},
                                                 tcall_ollama_write_,
                                                 &tcall_ollama_answer_,
                                                 tcall_ollama_stops_,
                                                 tcall_ollama_types_,
                                                 TCALL_REASONING_TEXT,
                                                 TCALL_STRICT_OLLAMA,
                                                 TCALL_QUIRK_WEAK_CHOICE |
                                                     TCALL_QUIRK_SAY_CONTEXT |
                                                     TCALL_QUIRK_FREE_REASONING,
                                                 "thinking",
                                                 0};
