#!/usr/bin/env python3
"""No answer spoils a conversation: after each of many broken arguments, names and
ids two more turns work, and all that is sent is what the provider publishes.

In every format a first answer brings the broken call, once. What follows goes to
llama-server where it has the endpoint (see tests/llama.py), and else is canned.
All later requests are held against the official types and OpenAPI files of
tests/requests.py, and against rules that these do not state.
"""
import sys

import answers
import live
import llama
import requests as official
import rules
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


def three_turns(server, provider, body):
    """What the turns did: the first begins with this answer. What comes then is the
    server's where it has the endpoint, and else canned."""
    line = {"provider": provider, "tools": [TOOL], "allow": ["read"], "block": 1 << 18}
    turns = [{"user": "talk one", "answers": [{"body": body}]}, {"user": "call two", "answers": []},
             {"user": "talk three", "answers": []}]
    if server and provider in llama.PROVIDERS:
        return live.converse(line, turns, server.carry)
    for turn in turns:
        turn["answers"].append({"body": answers.FINE[provider]})
    return live.run(line, turns)


def poisoned(server):
    """All conversations; gives every later request: {provider: [text]}."""
    sent = {provider: [] for provider in answers.FORMATS}
    ran = skipped = 0
    for what, calls in cases():
        for provider, answer in answers.FORMATS.items():
            body = answer(calls)
            if body is None:  # the format cannot bring this
                skipped += 1
                continue
            ran += 1
            done = three_turns(server, provider, body)
            # A document that is not JSON is refused, and goes no further.
            fine = [None, "bad-escape", "depth"] if body[0] == "{" else [None]
            good = (len(done) == 3 and done[0]["error"] in fine and
                    not done[1]["error"] and not done[2]["error"])
            check(good, f"{provider}, {what}: {[(t['error'], t['text']) for t in done]}")
            later = [r for turn in done for r in turn["requests"]][1:]
            wrong = [f"{w} in {r[-800:]}" for r in later for w in [rules.fault(provider, r)] if w]
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
