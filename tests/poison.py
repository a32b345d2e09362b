#!/usr/bin/env python3
"""No answer spoils a conversation: after each of many broken arguments, names and
ids two more turns work, and all that is sent is what the provider publishes.

In every format a first answer brings the broken call, once. What follows goes to
llama-server where it has the endpoint (see tests/llama.py), and else is canned.
All later requests are held against the official types and OpenAPI files of
tests/requests.py, and against rules that these do not state.
"""
import json
import os
import re
import sys

import live
import llama
import requests as official
from checks import Checks

check = Checks("poison")
TOOL = {"name": "f", "description": "Does it.", "permissions": ["read"],
        "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}

ARGUMENTS = [
    "", " ", "null", "[]", "[1,2]", '"text"', "3", "true", "{", '{"x":', '{"x":1',
    '{"x":1e400}', '{"x":-1e999,"y":[1e309]}', '{"x":123456789012345678901234567890}',
    '{"x":1,"x":2}', '{"":1}', "{'x': 1,}", '```json\n{"x":1}\n```', "{x:1}", '{"x":01}',
    '{"x":NaN}', '{"x":Infinity}', '{"x":"\\ud800"}', '{"x":"a\nb"}', '{"x":"\\u0000"}',
    '{"x":1}{"x":2}', '{"x":1} That is it.', "x=1", "<x>1</x>", '{"x":"%s"}' % ("a" * 3000),
    '{"x":' * 100, "[" * 300 + "]" * 300, '"{\\"x\\":1}"', '{"x":1} // why', "\ufeff{\"x\":1}",
    '{"x":"\\x41"}', '{"x":"many"}', '{"X":1}', '{"x":1.5}', '{"x":{"x":{"x":{}}}}']

NAMES = [
    "", " ", "f ", " f", "f\n", "f.g", "functions.f", "functions.read gpio!", "f:0", "f/g", "f-g",
    "a" * 64, "a" * 65, "a" * 140, "a" * 3000, "工具", "größe", "😀", '"', "'", "\\", "{}", "<f>",
    "f()", "f(x=1)", "$f", "${x}", "%s", "@f", "1f", "_", "-", ".", "../f", "null", "\u0000",
    "multi_tool_use.parallel", "F", "f;f", "f,f", "__proto__", "f\tg", "\u200bf"]

IDS = [
    "", " ", "call|1", "functions.f:0", "a" * 40, "a" * 65, "a" * 300, "工具", "😀", "a b", "a\nb",
    '"', "\\", "../", "a.b", "a:b", "1", "-", "_", "\u0000", "#", "{}", "call_Größe"]


# ---- answers with one call, or two ----

def as_value(text):
    """The arguments where the format has them as a value, None where they are none."""
    try:
        json.loads(text, parse_constant=lambda word: int("no"))
    except ValueError:
        return None
    return text


def openai(calls):
    return json.dumps({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "I look.", "tool_calls": [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
            for i, n, a in calls]}}]})


def responses(calls):
    return json.dumps({"status": "completed", "output": [
        {"type": "message", "role": "assistant", "id": "m1", "status": "completed",
         "content": [{"type": "output_text", "text": "I look.", "annotations": []}]}] + [
        {"type": "function_call", "call_id": i, "id": f"fc_{k}", "name": n, "arguments": a,
         "status": "completed"} for k, (i, n, a) in enumerate(calls)]})


def anthropic(calls):
    """Streamed, for there the arguments are text."""
    events = [{"type": "message_start", "message": {
        "id": "m1", "type": "message", "role": "assistant", "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1}}}]
    for k, (i, n, a) in enumerate(calls):
        events += [
            {"type": "content_block_start", "index": k,
             "content_block": {"type": "tool_use", "id": i, "name": n, "input": {}}},
            {"type": "content_block_delta", "index": k,
             "delta": {"type": "input_json_delta", "partial_json": a}},
            {"type": "content_block_stop", "index": k}]
    events += [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
               {"type": "message_stop"}]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


def valued(calls, call, rest):
    """An answer whose arguments are written as they are, also where Python would not."""
    if any(as_value(a) is None for _, _, a in calls):
        return None
    return rest % ",".join(call(i, n) % a for i, n, a in calls)


def quoted(text):
    return json.dumps(text).replace("%", "%%")


def ollama(calls):
    return valued(calls, lambda i, n: '{"id":' + quoted(i) + ',"function":{"name":' + quoted(n) +
                  ',"arguments":%s}}',
                  '{"message":{"role":"assistant","content":"I look.","tool_calls":[%s]},'
                  '"done":true,"done_reason":"stop"}')


def gemini(calls):
    return valued(calls, lambda i, n: '{"functionCall":{"id":' + quoted(i) + ',"name":' +
                  quoted(n) + ',"args":%s}}',
                  '{"candidates":[{"content":{"role":"model","parts":[{"text":"I look."},%s]},'
                  '"finishReason":"STOP"}]}')


FORMATS = {"openai": openai, "responses": responses, "anthropic": anthropic, "ollama": ollama,
           "gemini": gemini, "mistral": openai}

# What a good answer with words alone is.
FINE = {
    "openai": '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},'
              '"finish_reason":"stop"}]}',
    "responses": '{"status":"completed","output":[{"type":"message","role":"assistant",'
                 '"content":[{"type":"output_text","text":"ok"}]}]}',
    "anthropic": '{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],'
                 '"stop_reason":"end_turn"}',
    "ollama": '{"message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop"}',
    "gemini": '{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},'
              '"finishReason":"STOP"}]}'}
FINE["mistral"] = FINE["openai"]


# ---- what a receiver refuses though its types and files do not say so ----

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
ID = {"openai": re.compile(r"[!-~]{1,40}\Z"), "responses": re.compile(r"[!-~]{1,64}\Z"),
      "anthropic": re.compile(r"[A-Za-z0-9_-]+\Z"), "mistral": re.compile(r"[A-Za-z0-9]{9}\Z"),
      "ollama": re.compile(r"[!-~]*\Z"), "gemini": re.compile(r"[!-~]*\Z")}


def calls_and_results(provider, body):
    """In order: ("call", id, name, arguments) and ("result", id, name or None)."""
    for item in body.get("messages") or body.get("input") or body.get("contents"):
        for call in item.get("tool_calls", ()):
            yield "call", call.get("id"), call["function"]["name"], call["function"]["arguments"]
        if item.get("role") == "tool":
            yield "result", item.get("tool_call_id"), item.get("tool_name")
        if item.get("type") == "function_call":
            yield "call", item["call_id"], item["name"], item["arguments"]
        elif item.get("type") == "function_call_output":
            yield "result", item["call_id"], None
        blocks = item.get("content") if provider == "anthropic" else item.get("parts")
        for block in blocks if isinstance(blocks, list) else ():
            if block.get("type") == "tool_use":
                yield "call", block["id"], block["name"], block["input"]
            elif block.get("type") == "tool_result":
                yield "result", block["tool_use_id"], None
            elif "functionCall" in block:
                call = block["functionCall"]
                yield "call", call.get("id"), call["name"], call["args"]
            elif "functionResponse" in block:
                answer = block["functionResponse"]
                yield "result", answer.get("id"), answer["name"]


def exact(text):
    """The JSON value of a text that every reader understands alike."""
    def pairs(members):
        if len({key for key, _ in members}) < len(members):
            raise ValueError("a key twice")
        return dict(members)

    def number(digits):
        if float(digits) in (float("inf"), -float("inf")):
            raise ValueError("beyond double: " + digits)
        return float(digits)
    value = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_constant=number)
    json.dumps(value, ensure_ascii=False).encode()  # fails on half a surrogate pair
    return value


def fault(provider, text):
    """What is wrong with a request, or None."""
    open_calls = []
    try:
        for kind, ident, name, *arguments in calls_and_results(provider, exact(text)):
            if not ID[provider].match(ident or ""):
                return f"the id {ident!r}"
            if name is not None and not NAME.match(name):
                return f"the name {name!r}"
            if kind == "call":
                open_calls.append((ident, name))
                value = exact(arguments[0]) if isinstance(arguments[0], str) else arguments[0]
                if not isinstance(value, dict):
                    return f"arguments {value!r}"
                continue
            match = [c for c in open_calls if c[0] == ident and name in (None, c[1])]
            if not match:
                return f"a result without its call: {ident!r} of {open_calls}"
            open_calls.remove(match[0])
    except (ValueError, UnicodeError) as error:
        return str(error)
    return f"calls without result: {open_calls}" if open_calls else None


# ---- conversations ----

def cases():
    """(what, calls): kinds by arguments, by name and by id; then several calls."""
    for text in ARGUMENTS:
        yield f"arguments {text[:60]!r}", [("call_a1", "f", text)]
    for name in NAMES:
        yield f"name {name[:60]!r}", [("call_a1", name, '{"x":1}')]
    for ident in IDS:
        yield f"id {ident[:60]!r}", [(ident, "f", '{"x":1}')]
    yield "an id twice", [("call_a1", "f", '{"x":1}'), ("call_a1", "f", '{"x":2}')]
    yield "ids that differ in what is refused", [("a.b", "f", '{"x":1}'), ("a:b", "f", '{"x":2}')]


def carried(server):
    """A way to carry requests: to the server where it has the endpoint."""
    def carry(provider, request):
        if server and provider in llama.PROVIDERS:
            return server.carry(provider, request)
        return 200, FINE[provider]
    return carry


def poisoned(server):
    """All conversations; gives every later request: {provider: [text]}."""
    sent = {provider: [] for provider in FORMATS}
    ran = skipped = 0
    for what, calls in cases():
        for provider, answer in FORMATS.items():
            body = answer(calls)
            if body is None:  # the format cannot bring this
                skipped += 1
                continue
            line = {"provider": provider, "tools": [TOOL], "allow": ["read"], "block": 1 << 18}
            done = live.converse(line, [
                {"user": "talk one", "answers": [{"body": body}]}, {"user": "call two"},
                {"user": "talk three"}], carried(server))
            # A document that is not JSON is refused, and goes no further.
            fine = [None, "bad-escape", "depth"] if body[0] == "{" else [None]
            good = (len(done) == 3 and done[0]["error"] in fine and
                    not done[1]["error"] and not done[2]["error"])
            check(good, f"{provider}, {what}: {[(t['error'], t['text']) for t in done]}")
            later = [r for turn in done for r in turn["requests"]][1:]
            ran += 1
            wrong = [f"{w} in {r[-800:]}" for r in later for w in [fault(provider, r)] if w]
            check(not wrong, f"{provider}, {what}: {wrong[:1]}")
            sent[provider] += later
    print(f"{ran} conversations, {sum(map(len, sent.values()))} later requests; "
          f"{skipped} that their format cannot bring")
    return sent


def main():
    sent = {}
    use = lambda server: sent.update(poisoned(server))
    llama.check = check
    if llama.program():
        llama.with_server(llama.program(), use)
    else:
        check.skip("llama-server", "there is none: set LLAMA_SERVER")
        use(None)
    why = official.packages()
    if why:
        check.skip("types and openapi", why)
    else:
        bodies = {p: sorted(set(sent.get(p, []))) for p in official.PROVIDERS}
        official.check_types(check, bodies)
        official.check_openapi(check, bodies)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
