#!/usr/bin/env python3
"""fixes.py [--check | NAME...]: takes away what mended a defect, one at a time, and
looks whether a unit test notices.

FIXES has what was once found broken, in which chapter it is mended, and what the
code is without that. Prints which test fails for each. One that no test notices,
or whose code is not there any more, is a failure. Takes one processor for about
four minutes, and clang; --check only looks whether the code is still there.
"""
import os
import shutil
import subprocess
import sys

import library
import mutants

# name: (chapter, the code, the code without the fix)
FIXES = {
    # attempts
    "a repair that does not parse shows old tokens": (
        "call", "    tcall_forget_(call);\n    call->step = TCALL_STEP_PARSE;",
        "    call->step = TCALL_STEP_PARSE;"),
    "a repair that failed, and what it wrote": (
        "call", "    if (out.error != TCALL_E_MEMORY && (r < 0 || out.error))\n        return call->error;\n", ""),
    "coerced, and not checked as it is meant": (
        "call", "    return r < 0 || shape ? r : tcall_hydrate_check_(tc, call, false);\n", "    return r;\n"),
    "a call that was cut runs": (
        "call", "    if (call->incomplete)\n", "    if (false)\n"),
    "a call that was cut is repaired": (
        "call", "call->error == TCALL_E_MEMORY || call->incomplete)",
        "call->error == TCALL_E_MEMORY)"),
    "released out of order": (
        "block", "tcall_mark_at_(block, block->mark)->released)", "at)"),
    "a literal that was cut is a bare word": (
        "lenient", "cut = cut || (", "cut = cut && ("),
    # registration
    "a registry that is used in spite of a wrong row": (
        "registry", "    tc->ready = r == TCALL_OK;\n    tc->error = r;\n    tc->busy = NULL;\n"
                    "    if (r < 0)\n",
        "    tc->ready = true;\n    tc->busy = NULL;\n    if (false)\n"),
    "arguments that cannot be an object": (
        "registry", "        tcall_takes_objects_(schema, 0, TCALL_ROOT_DEPTH_))", "        true)"),
    "names that systems have taken": (
        "tools", "tool->name && tcall_is_reserved_(tool->name)", "false"),
    "a tool that nobody can call": ("tools", "if (out && withheld) {", "if (false) {"),
    "confirm without anybody to ask": (
        "tools", "if (out && tool->confirm && !desc->approve &&", "if (false &&"),
    "a keyword known by some of its letters": (
        "schema", "!tcall_str_eq(tcall_str_of(tcall_keywords_[op].name), word)",
        "(strlen(tcall_keywords_[op].name) != word.len ||\n"
        "            tcall_keywords_[op].name[0] != word.ptr[0])"),
    "a failed init can be used": (
        "tools", "    return tc->error < 0 ? tc->error : TCALL_E_USAGE;", "    return TCALL_OK;"),
    "an anchor taken for a pointer": (
        "schema", "if (at[1] != '#' || (*p != '\"' && *p != '/'))", "if (at[1] != '#')"),
    "a name that two keys have": ("tree", "r = TCALL_E_DUPLICATE;", "r = TCALL_OK;"),
    "a name that two keys of a value have": (
        "json", "return TCALL_E_DUPLICATE;", "return TCALL_OK;"),
    # the offer
    "checked by the schema that is sent": (
        "registry", '"parameters", tool->parameters, &schema);',
        '"parameters", tool->provider_schema ? tool->provider_schema\n'
        "                                                 : tool->parameters, &schema);"),
    "a provider_schema that is not sent": (
        "strict", "tool->provider_schema ? tool->provider_schema : tool->parameters;", "tool->parameters;"),
    "called, though it was not offered": (
        "call", "!tcall_is_offered_(tc, call->tool, true)", "false"),
    "listed, though it was not offered": (
        "result", "if (tcall_is_offered_(tc, &tc->desc.tools[i], call->by_model))", "if (true)"),
    "a filter that counts for many tools only": (
        "agent_loop", "opts ? !tcall_pick_excludes_(tc, opts, tool)", "opts ? true"),
    "roles that only hint": (
        "tools", "if (tool->roles && !(tool->roles & desc->roles))", "if (false)"),
    "optional permissions escape approval": (
        "run", "bool reads_only = tcall_may_(call->cx.tc, tool) == TCALL_READ;",
        "bool reads_only = tool->permissions == TCALL_READ;"),
    "strict, though the schema cannot be": ("strict", "if (needs.unfit || ", "if ("),
    "a $ref that Ollama does not know": (
        "strict", "    if (keyword->value == TCALL_STRICT_REF_)\n        return tcall_strict_follow_(view, value);\n",
        "    if (keyword->value == TCALL_STRICT_REF_)\n        return tcall_text_skip_(value);\n"),
    "a $ref into itself": (
        "strict", "        if (view->open[i].from == at)\n            return NULL;\n", "        ;\n"),
    "$refs without an end": ("strict", "        view->refs == TCALL_STRICT_REFS_)", "        false)"),
    "strict that is dropped": ("strict", "    budget->tools--;\n", "    return false;\n"),
    # plans and turns
    "a plan that acts": ("agent_loop", ": agent->turn.plan   ? TCALL_AGENT_PLANNED_",
                         ": false   ? TCALL_AGENT_PLANNED_"),
    "a plan that cannot be dropped": (
        "agent_loop", "if (agent->turn.plan && agent->state > TCALL_AGENT_IDLE_)", "if (false)"),
    "a list of tools by hand that is not looked at": (
        "agent_loop", "    if (tools)\n        tcall_agent_narrow_(", "    if (false)\n        tcall_agent_narrow_("),
    "calls that an answer does not have": (
        "agent_calls", "index-- == 0", "(index--, true)"),
    "two results of one call": (
        "agent_calls", "        tcall_chat_answers_(&agent->chat, agent->answer_at, asked.id))",
        "        false)"),
    "a call without an id": (
        "chat", "    if (id.len && !tcall_chat_has_id_(chat, at, id))", "    if (!tcall_chat_has_id_(chat, at, id))"),
    "two calls of one id": (
        "chat", "    if (id.len && !tcall_chat_has_id_(chat, at, id))", "    if (id.len)"),
    "two calls of one id at a provider that refuses theirs": (
        "chat", "if (tcall_str_eq(other, brief) || tcall_str_eq(other, id) ||", "if (tcall_str_eq(item.id, id) ||"),
    "two calls of one id in a line are one": (
        "stream", "return !again && tcall_same_part_(", "return tcall_same_part_("),
    "a verdict for the next call of the id": (
        "hash", "{call->turn_id, call->round, call->position}", "{0, 0, 0}"),
    "a result for a plan that was left": (
        "agent_calls", "        call->turn_id != agent->turn.id || call->round != agent->turn.rounds ||\n", ""),
    "a loaded call without a result": (
        "save", "    if (next && loaded->open)\n", "    if (false)\n"),
    "a loaded result without a call": (
        "save", "item->kind == TCALL_ITEM_RESULT && !tcall_chat_asked_(chat, &id)", "item->kind == TCALL_ITEM_RESULT && !id.ptr"),
    "a loaded call that has a result and runs": (
        "agent_calls", "        if (tcall_chat_answers_(&agent->chat, agent->answer_at, call->id))\n"
                       "            continue;\n", ""),
    "two agents on one registry": (
        "agent_loop", "if (!problem && desc->tc->offer)", "if (false)"),
    "an agent that a refused one ends": (
        "agent_loop", "if (!problem || !tcall_agent_lives_(agent))", "if (true)"),
    "a step in the middle of a step": (
        "tools", "return tc->busy == tc;", "return false;"),
    "a result under way that is read as items": (
        "chat", "chat->block->low - chat->block->lent)", "chat->block->low)"),
    "a person who is never asked again": (
        "agent_calls", "cx->stop < 0 || cx->asks ||", "cx->stop < 0 ||"),
    "a released call that keeps its place": (
        "call", "    if (call->cx.end)\n        call->cx.end(call);\n", ""),
    "an injected secret that the tool says": (
        "run", "    tcall_hide_said_(cx);\n", ""),
    "an injected secret that is told": (
        "context", "        text.len = tcall_hide_(cx, text);\n", "        text.len += 0;\n"),
    "hooks added under an agent": (
        "registry", "if (tc->offer && tool->hook_count)", "if (false)"),
    "need that does not suffice": (
        "agent_calls", "start + tcall_call_room_(&agent->desc.tc->desc, said)", "start"),
    "need that is too small for a call": (
        "invoke", "    if (block->need > block->size)\n", "    if (false)\n"),
    # asked and run
    "a secret that is seen": (
        "context", "    if (cx->stage == TCALL_WILL_INJECT_SECRETS)\n"
                   "        return tcall_inject_(cx, text);\n", ""),
    "the key in provenance": (
        "records", "tcall_masked_begin_(&masked, &writer, tc->key, tcall_write_on_, out);",
        "tcall_masked_begin_(&masked, &writer, NULL, tcall_write_on_, out);"),
    "provenance without validated": (
        "records", "    tcall_write_bool(out, call->validated);\n", "    tcall_write_null(out);\n"),
    "audit and provenance without repaired": (
        "records", "tcall_write_bool(out, call->repaired);", "tcall_write_bool(out, false);"),
    "provenance without what hooks replaced": (
        "records", "    if (call->cx.history)\n", "    if (false)\n"),
    "audit without validated": (
        "hooks", "    tcall_write_validated_(&out, call);\n", ""),
    # failures
    "a code instead of a sentence": (
        "base", "return tcall_errors_[tcall_error_row_(error)].sentence;", "return tcall_error_code(error);"),
    "what another validator says": (
        "call", "    tcall_hydrate_keep_(block, why.buf, why.fill, &call->complaint);\n", ""),
    "a title that is not told": (
        "context", "    if (title.len) {\n", "    if (false) {\n"),
    "a reason that is overwritten": (
        "run", "tcall_keep_reason_(cx, tcall_output(cx));", "cx->failure.reason = tcall_output(cx);"),
    "a failure that is no JSON in small room": (
        "result", "while (cx->out->error && brevity++ < TCALL_TELL_LEAST_)", "while (false)"),
    "metadata that is no JSON": (
        "context", "        r = tcall_scan_whole_(metadata);", "        r = TCALL_OK;"),
    "a metrics hook that fails the call": (
        "stages", "if (tcall_only_told_(hook->stage)) {", "if (false) {"),
    "the stage in inner hooks": (
        "stages", "    cx->stage = (uint8_t)stage;\n    tcall_hook_seek_",
        "    tcall_hook_seek_"),
    "why an attempt failed": (
        "stages", "    case TCALL_RUN_RETRY_:\n",
        "    case TCALL_RUN_RETRY_:\n        memset(&cx->failure, 0, sizeof cx->failure);\n"),
    "an example that is refused itself": (
        "result", "    for (; count > 0 && !out->error; count--)\n", "    for (; false;)\n"),
    # repeats
    "a failed call that counts as made": (
        "loops", "if ((cx->failure.error < 0 && !ran) || here->answered", "if (here->answered"),
    "a write that has run and runs again": (
        "loops", "cx->tool_did && !tcall_repeatable_(cx)", "false"),
    "results that a write made stale": (
        "loops", "if (!tcall_changes_(cx, loops->done[i].thing))", "if (true)"),
    "a cache that a write made stale": (
        "hooks", "if (tcall_changes_(cx, entry.thing))", "if (false)"),
    "calls of the turn before": ("loops", "    here->call += turn;\n", ""),
    "refused again and again": ("loops", "loops->refusals >= 2 &&", "loops->refusals >= 200 &&"),
    # picks
    "no time without a clock": (
        "pick", "ranking->opts->timeout_ms && desc->now_ms &&", "ranking->opts->timeout_ms && !desc->now_ms ||"),
    "weights of scorers": (
        "pick", "uint32_t weight = scorer->weight ? scorer->weight : 1, rank;", "uint32_t weight = 1, rank;"),
    "picks that are worth nothing": (
        "pick", "opts->min_score ? opts->min_score : 50;", "opts->min_score;"),
    # lists
    "a listener that was removed is told": (
        "registry", "        if (dispatch->next == listener)\n", "        if (false)\n"),
    "a listener that was added twice": (
        "registry", "    tcall_unsubscribe(tc, listener);\n    listener->next", "    listener->next"),
    "a service of the session that was bound twice": (
        "context", "        tcall_unbind_service(cx->session, service);\n", ""),
    "a service that two calls share": (
        "context", "(tcall_service *)tcall_take_(cx, sizeof *bound);", "service;"),
    # approvals
    "a repair that acts unasked": (
        "run", " || (call->repaired && !reads_only))", ")"),
    "a tool without a schema that acts unasked": (
        "run", "if (tcall_is_checked_(tool) || ", "if (true || "),
    "an approval that is used twice": (
        "hooks", "if (used && !cx->ledger_used && (same || row->state == TCALL_RAN_))", "if (false)"),
    "ids of sub-agents": ("hash", "call = call->turn ? call->turn->parent : NULL)", "call = NULL)"),
    "the order of members in a definition": ("hash", "    if (place->object) {\n", "    if (false) {\n"),
    # waits
    "tools that poll are cancelled": (
        "invoke", "while (r == TCALL_E_AGAIN && d->wait && d->now_ms) {", "while (false) {"),
    "a wait that burns the processor": (
        "invoke", "if (r == TCALL_E_AGAIN && tcall_wait_is_empty_(&cx->wait))", "if (false)"),
    # hooks and limits
    "a limit of time without a clock": (
        "hooks", "    return cx->tc->desc.now_ms\n               ? TCALL_OK", "    return true\n               ? TCALL_OK"),
    "a log that goes nowhere": ("hooks", "    if (!audit->sink)\n", "    if (false)\n"),
    "a listener without a function": (
        "registry", "        if (listener->on_event &&\n", "        if (true &&\n"),
    "a service without a name": (
        "context", "(!list->name || strcmp(list->name, name) != 0)", "(strcmp(list->name, name) != 0)"),
    "a service of the registry without a name": ("tools", "        if (!services->name)\n", "        if (false)\n"),
    "a limit that lets no call run": ("hooks", "    if (!limit->max)\n", "    if (false)\n"),
    "more calls than the rate": ("hooks", "if (rate->used >= rate->burst)", "if (false)"),
    "a filter that is not asked": (
        "stages", "if (hook->filter && !hook->filter(cx, hook->user))", "if (false)"),
    "results that are too old": (
        "hooks", "        if (cache->max_age_ms &&\n"
                 "            tcall_now_(cx->tc) - entry.made > cache->max_age_ms) {",
        "        if (false) {"),
    "more at a time than the limit": ("hooks", "if (limit->running >= limit->max)", "if (false)"),
    "a place that is not given back": (
        "hooks", "    ((tcall_concurrency *)user)->running--;", "    (void)user;"),
    "a tool whose time is over": (
        "context", "return tcall_time_left(cx) == 0 ? TCALL_E_TIMEOUT : TCALL_OK;",
        "return TCALL_OK;"),
    "a second effect by a retry": (
        "stages", "if (*r == TCALL_OK && cx->tool_ran && !tcall_repeatable_(cx)) {", "if (false) {"),
    "a hook after the run that waits": (
        "stages", "if (tcall_waits_(r) && tcall_has_run_(cx))", "if (false)"),
    "a reason of a call that went well": (
        "invoke", "        else /* what a hook said, and did not return */\n"
                  "            memset(&cx->failure, 0, sizeof cx->failure);\n", ""),
    "an output that is cut in silence": (
        "context", "    tcall_write_bytes(out, text, notice.fill);\n    return TCALL_OK;",
        "    return TCALL_OK;"),
    # the agent
    "more calls than a turn may make": (
        "agent_calls", "if ((int)++agent->turn.calls > agent->desc.max_calls ||",
        "if ((int)++agent->turn.calls > 1000000 ||"),
    "requests without an end": (
        "agent_loop", "    if ((int)agent->turn.rounds >= agent->desc.max_rounds)\n", "    if (false)\n"),
    "images that no model sees": (
        "agent_calls", "if (tcall_is_image_type_(done->type) && done->bytes.len)", "if (false)"),
    "a result before the one that was asked for first": (
        "agent_calls", "            tcall_agent_position_(agent, item.id) > position)", "            false)"),
    "reasoning of another setting": (
        "agent_loop", "    if (tcall_agent_changed_(agent))\n", "    if (false)\n"),
    "half an answer that stays": (
        "agent_loop", "    if (agent->state == TCALL_AGENT_READ_)\n        agent->desc.tc->block.low",
        "    if (false)\n        agent->desc.tc->block.low"),
    "a question that nobody answered": (
        "agent_loop", "    if (agent->unanswered)\n        block->low = agent->chat.start + last;\n", ""),
    "the text of the turn before one that failed": (
        "agent_loop", "if (agent->state == TCALL_AGENT_UNSET_ || agent->unanswered)",
        "if (agent->state == TCALL_AGENT_UNSET_)"),
    "another agent's settings during a turn": (
        "agent_loop", "    if (agent->state != TCALL_AGENT_IDLE_ || tcall_agent_busy_(agent))\n"
                      "        return TCALL_E_USAGE;\n    agent->problem = desc->tc",
        "    agent->problem = desc->tc"),
    "a turn in the middle of another": (
        "agent_loop", "    if (agent->state != TCALL_AGENT_IDLE_)\n        return TCALL_E_USAGE;\n"
                      "    agent->problem = tcall_agent_added", "    agent->problem = tcall_agent_added"),
    "a limit of time that is not kept": (
        "agent_calls", "    if (limit && tcall_agent_now_(agent) - agent->turn.started >= limit)\n",
        "    if (false)\n"),
    "a limit of tokens that is not kept": (
        "agent_calls", "        agent->turn.tokens >= agent->desc.max_turn_tokens)\n", "        false)\n"),
    # services, and what a hook changes
    "a service of the call that others hide": (
        "context", "const tcall_service *service = tcall_service_(cx->services, name);",
        "const tcall_service *service = NULL;"),
    "a service of the session that nobody finds": (
        "context", "service = tcall_service_(cx->session->services, name);", "service = NULL;"),
    "a tool that goes on without its service": ("context", "if (cx->service_missing)", "if (false)"),
    "arguments of a hook that are refused, and run": (
        "context", "    return call->error = tcall_hydrate_try_(tc, call);\n",
        "    tcall_hydrate_try_(tc, call);\n    return call->error = TCALL_OK;\n"),
    "approved, and then replaced": ("context", "    call->approved = false;\n", ""),
    "an output that was replaced, and nobody knows": ("context", "    if (old.len) {", "    if (false) {"),
    "a longer time after a shorter one": (
        "context", "if (cx->has_deadline && (int32_t)(cx->deadline - end) < 0)", "if (false)"),
    "a call that cannot be cancelled": (
        "context", "    if (cx->stop < 0)\n        return cx->stop;\n", ""),
    "finished at no time": ("invoke", "        cx->finished = tcall_now_(cx->tc);\n", ""),
    "a permission that is optional, and always there": (
        "context", "~(tcall_may_(cx->tc, cx->call->tool) & cx->tc->desc.allow)",
        "~(unsigned)(cx->call->tool->permissions | cx->call->tool->optional_permissions)"),
    "memory of a call inside a call": (
        "invoke", "        tcall_let_go_(tc, own);\n        tcall_block_release_(&tc->block, mark);\n",
        "        tcall_let_go_(tc, own);\n"),
    # events
    "output that nobody sees come": (
        "context", "    tcall_tell_said_(cx, TCALL_EVENT_OUTPUT, text);\n", "    (void)cx, (void)text;\n"),
    "progress that nobody sees": (
        "context", "    tcall_tell_said_(cx, TCALL_EVENT_PROGRESS, text);\n", "    (void)cx, (void)text;\n"),
    "events that were not asked for": (
        "registry", "            (!listener->kinds || listener->kinds >> kind & 1))\n", "            true)\n"),
    "a retry that does not say why": (
        "stages", "TCALL_EVENT_RETRY, cx->failure.reason);", "TCALL_EVENT_RETRY, tcall_str_of(\"\"));"),
    "an error event without words": (
        "run", "        tcall_keep_reason_(cx, tcall_output(cx)); /* it wrote why */\n", "        ;\n"),
    "a fault of security that is the system's": (
        "base", "    case TCALL_E_TWICE: return \"security\";\n", ""),
    # stages and attempts
    "later stages in the order of earlier ones": (
        "registry", "if (tcall_due_[first->stage] & TCALL_LATE_)", "if (false)"),
    "no end of a call that failed": (
        "registry", "TCALL_ALWAYS_ = TCALL_WELL_ | TCALL_FAILED_,", "TCALL_ALWAYS_ = TCALL_WELL_,"),
    "hooks of an error that an answer ends": (
        "stages", "bool all = stage >= TCALL_ON_ERROR;", "bool all = false;"),
    "a failure that hooks around it keep silent about": (
        "stages", "            r = cx->last_attempt;\n", "            ;\n"),
    "given up, and nobody knows": (
        "stages", "if (r == TCALL_OK || !cx->attempt)", "if (r == TCALL_OK || cx->attempt < 2)"),
    "tried again, though it will not pass": ("hooks", "if (!tcall_passes_(r) || ", "if (r == TCALL_OK || "),
    "pauses that do not grow": ("hooks", "pause->ms ? pause->ms * 2 :", "pause->ms ? pause->ms :"),
    "a pause that is shorter than the tool asked for": (
        "hooks", "if (cx->failure.retry_ms > pause->ms)", "if (false)"),
    "an answer of a hook that has to be the tool's": (
        "run", "bool own = cx->state != TCALL_ANSWERED_;", "bool own = true;"),
    "an output that does not fit its schema": (
        "run", "    if (r != TCALL_E_INVALID)\n        return r;\n", "    return TCALL_OK;\n"),
    "an output that is wrong, and nobody says where": (
        "run", "    tcall_output_complain_(cx, schema, value, &first);\n", ""),
    "a hook that was not acquired, and releases": (
        "stages", "    if (bits && !(cx->held & bits))\n        return false;\n", ""),
    "a call of the turn that runs again": (
        "loops", "here->answered = tcall_loops_did_(loops, here->call);", "here->answered = false;"),
    "the same calls without an end": (
        "loops", "if (tcall_loops_again_(loops->recent, here->call))", "if (false)"),
    "a clock that may be read once": (
        "loops", "    if (call->tool && call->tool->allow_repeat)\n        return TCALL_OK;\n", ""),
    "results of another user": (
        "hooks", "tcall_hash_text_(cx->tc, 2, session ? session->user : tcall_str_of(\"\"));", "0;"),
    "approved for other arguments": ("hooks", "same = row && row->what == what;", "same = row != NULL;"),
    "approved for another tool of the name": (
        "hash", "return what + tcall_hash_definition_(tc, call->tool);", "return what;"),
    "7.0 is another number than 7": (
        "hash", "    if (digits[0] == TCALL_NUMBER) {", "    if (false) {"),
    "refused, and it runs": (
        "hooks", "verdict == TCALL_VERDICT_ALLOW ? TCALL_GRANTED_ : TCALL_REFUSED_;", "TCALL_GRANTED_;"),
    "a decision about nothing": (
        "hooks", "if (!row || row->what != what || row->state != TCALL_ASKED_)", "if (!row || row->what != what)"),
    "a verdict for what nobody saw": (
        "hooks", "if (!row || row->what != what || row->state != TCALL_ASKED_)", "if (!row || row->state != TCALL_ASKED_)"),
    "another question that is not told of": (
        "hooks", "    if (row->what && row->what != what)\n        tcall_tell_verdict_(cx, TCALL_VERDICT_DENY);\n", ""),
    "a row for every call, without an end": (
        "hooks", "ledger->rows[i].state >= TCALL_REFUSED_)", "ledger->rows[i].state >= TCALL_ASKED_)"),
    "asked a second time for the same call": (
        "hooks", "if (call->error < 0 || call->approved || !tcall_needs_approval_(call))",
        "if (call->error < 0 || !tcall_needs_approval_(call))"),
    # tools that come and go
    "two tools of one name": ("tools", "tcall_find(tc, tcall_str_of(tool->name)) != NULL", "false"),
    "a row that a call still needs": ("registry", "    if (tc->block.high == 0)\n", "    if (true)\n"),
    "a tool that was removed, and is offered": (
        "registry", "        tcall_set_offer_(tc->offer, (size_t)(tool - tc->desc.rows), false);", "        ;"),
    "the schema of a tool that was removed": (
        "registry", "    tcall_schema_drop_(tc, (size_t)(tool - tc->desc.rows));\n", ""),
    "a tool that declares nothing, and may all": (
        "tools", "return tool->permissions ? tool->permissions : (unsigned)TCALL_EVERYTHING;",
        "return tool->permissions;"),
    # saved and loaded
    "saved while a tool runs": (
        "save", "(call->cx.settled || tcall_save_ran_(call))", "call->cx.settled"),
    "loaded from damaged memory": (
        "save", "if ((uint8_t)end[i] != (uint8_t)(sum >> 8 * i))", "if (false)"),
    "loaded into a turn": (
        "save", "    if (agent->state != TCALL_AGENT_IDLE_ || tcall_agent_busy_(agent))\n"
                "        return TCALL_E_USAGE;\n", ""),
    "a plan that acts after it was loaded": (
        "save", "agent->turn.plan = plans || saved == TCALL_SAVE_PLANS_;", "agent->turn.plan = false;"),
    "loaded tools that are not permitted": (
        "save", "if (tool && !tcall_withheld_(tc, tool))", "if (tool)"),
    "calls under way that nobody tells of the end": (
        "agent_calls", "    if (over < 0)\n        tcall_cancel(call, over);\n", ""),
    "an agent without a model": (
        "agent_desc", "    if (!desc->model || !*desc->model)\n", "    if (false)\n"),
    "an agent without a transport": (
        "agent_desc", "    if (!transport->open || !transport->write || !transport->read ||\n        !transport->close)\n", "    if (false)\n"),
    "a limit of time without a clock of the transport": (
        "agent_desc", "    if (desc->max_ms && !transport->now_ms)\n", "    if (false)\n"),
    "a turn that cannot be cancelled": (
        "agent_calls", "    if (agent->cancelled)\n        return TCALL_E_CANCELLED;\n", ""),
    "a silent server that is asked without a pause": (
        "agent_loop", "    if (tcall_wait_is_empty_(&agent->wait))\n        tcall_wait_ms(&agent->wait, TCALL_WAIT_POLL_MS);\n", ""),
    "a path that names another model": (
        "agent_loop", "    error = tcall_agent_set_path_(agent);\n    if (error < 0) {", "    error = TCALL_OK;\n    if (error < 0) {"),
    "the key of another provider in records": (
        "agent_loop", "    desc->tc->key = desc->key;\n    if (desc->pick_opts", "    if (desc->pick_opts"),
    "all variables as they are written": (
        "provider", "*found = tcall_find_variable_(variables, name);", "*found = NULL;"),
    "a text from the turn before": (
        "agent_loop", "        if (item.kind == TCALL_ITEM_USER)\n            text.len = 0;\n", ""),
    # memory and writers
    "a sink without a buffer": (
        "write", "        if (writer->sink && writer->cap)\n", "        if (writer->sink)\n"),
    "a key without its value": (
        "write", "    if (!writer->depth || lacks_value)\n", "    if (!writer->depth)\n"),
    "a size that wraps around": ("context", "if (size >= head && cx->tc)", "if (cx->tc)"),
}


def own_test(chapter):
    """The test that compiles its chapter itself, where that fails; else ""."""
    name = f"test_{chapter}"
    source = f"{mutants.HERE}/tests/{name}.c"
    if not os.path.exists(source) or f"../src/{chapter}.c" not in open(source).read():
        return ""
    program = f"{mutants.HERE}/{name}_own"
    subprocess.run(["clang", "-w", *library.FLAGS, "-D_GNU_SOURCE", source, "-o", program, "-lm"],
                   check=True)
    return "" if mutants.passes(program, mutants.SECONDS) else name


def noticed(so, programs, chapter, fixed, broken):
    """Who fails without a fix; "" for nobody, None where that does not compile."""
    path = f"{mutants.HERE}/src/{chapter}.c"
    with open(path) as file:
        text = file.read()
    mutants.changed_to(chapter, text.replace(fixed, broken))
    try:
        if not mutants.compiled(so, *mutants.CLANG):
            return None
        return own_test(chapter) or mutants.killer(programs)
    finally:
        mutants.changed_to(chapter, text)


def is_there(chapter, fixed):
    """Does a chapter have this code, once?"""
    with open(f"src/{chapter}.c") as file:
        return file.read().count(fixed) == 1


def main():
    if sys.argv[1:] == ["--check"]:
        gone = [name for name, fix in FIXES.items() if not is_there(*fix[:2])]
        for name in gone:
            print(f"FAILED {name}: its code is not there: say what it is now")
        print(f"fixes: {len(FIXES) - len(gone)} passed, {len(gone)} failed")
        return gone != []
    names = sys.argv[1:] or list(FIXES)
    so, programs = mutants.prepare()
    shutil.copytree("tests", f"{mutants.HERE}/tests", dirs_exist_ok=True)
    failed = 0
    for name in names:
        fix = FIXES[name]
        who = noticed(so, programs, *fix) if is_there(*fix[:2]) else None
        failed += not who
        why = "no test fails" if who == "" else "its code is not there, or does not compile"
        print(f"{name:<52} {who}" if who else f"FAILED {name}: {why}", flush=True)
    print(f"fixes: {len(names) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
