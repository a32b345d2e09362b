#!/usr/bin/env python3
"""Conversations with canned answers, through build/probe turn: what is sent,
asked, run and answered, in the five formats, whole and with restarts."""
import json
import os
import pathlib
import subprocess
import sys

import rules
from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROBE = ROOT / os.environ.get("BUILD", "build") / "probe"
check = Checks("turns")


def openai(text=None, *calls):
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, n, a in calls]
    return {"choices": [{"message": message, "finish_reason": "tool_calls" if calls else "stop"}]}


def responses(text=None, *calls):
    out = [{"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": text}]}] if text else []
    out += [{"type": "function_call", "call_id": i, "id": "fc_" + i, "name": n,
             "arguments": json.dumps(a), "status": "completed"} for i, n, a in calls]
    return {"status": "completed", "output": out}


def anthropic(text=None, *calls):
    content = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
    return {"type": "message", "role": "assistant", "content": content,
            "stop_reason": "tool_use" if calls else "end_turn"}


def ollama(text=None, *calls):
    message = {"role": "assistant", "content": text or ""}
    if calls:
        message["tool_calls"] = [{"function": {"name": n, "arguments": a}} for _, n, a in calls]
    return {"message": message, "done": True, "done_reason": "stop"}


def gemini(text=None, *calls):
    parts = [{"text": text}] if text else []
    parts += [{"functionCall": {"name": n, "args": a}} for _, n, a in calls]
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


FORMATS = dict(openai=openai, responses=responses, anthropic=anthropic, ollama=ollama,
               gemini=gemini)
GET = {"name": "get", "description": "Gets", "permissions": ["read"],
       "parameters": {"type": "object", "required": ["id"], "properties": {
           "id": {"type": "integer", "maximum": 9}}}}


def tool(**more):
    return {**GET, **more}


def interactions(text=None, *calls):
    steps = [{"type": "model_output", "content": [{"type": "text", "text": text}]}] if text else []
    steps += [{"type": "function_call", "id": i, "name": n, "arguments": a} for i, n, a in calls]
    return {"status": "requires_action" if calls else "completed", "steps": steps}


# All rows of providers and servers.
EVERY = dict(FORMATS, interactions=interactions, xai=responses, perplexity=responses, **{
    name: openai for name in (
        "groq", "mistral", "deepseek", "openrouter", "azure", "gemini_v1", "together", "fireworks",
        "cerebras", "github", "cohere", "llamacpp", "lmstudio", "ollama_v1")})


def turn(user, *bodies, **more):
    return {"user": user, "answers": [{"body": json.dumps(b)} for b in bodies], **more}


def talk(turns, tools=(GET,), provider="openai", **more):
    line = {"provider": provider, "allow": ["read"], "block": 32768, "tools": list(tools),
            "turns": turns, **more}
    done = subprocess.run([PROBE, "turn"], input=json.dumps(line) + "\n", text=True,
                          stdout=subprocess.PIPE, timeout=600)
    return [json.loads(answer) for answer in done.stdout.splitlines()]


def each(results, key):
    return [r[key] for r in results]


def formats():
    """A call, its result, an answer; another turn; all of it with restarts."""
    for name, says in FORMATS.items():
        turns = [turn("one", says(None, ("a1", "get", {"id": 5})), says("Done.")),
                 turn("two", says("Yes."))]
        plain = talk(turns, provider=name)
        check(each(plain, "text") == ["Done.", "Yes."], f"{name}: {each(plain, 'text')}")
        check(plain[0]["runs"] == [{"tool": "get", "arguments": {"id": 5}}], f"{name}: runs")
        check(each(plain[0]["results"], "error") == [None], f"{name}: results")
        for t in turns:
            t["save"] = True
        saved = talk(turns, provider=name)
        check(saved == [{**p, "peak": s["peak"]} for p, s in zip(plain, saved)],
              f"{name}: otherwise after a restart")


def switches():
    """Another provider each turn: the whole conversation goes to it."""
    names = list(FORMATS)
    for first in names:
        for second in names:
            said = talk([turn("one", FORMATS[first](None, ("a1", "get", {"id": 5})),
                              FORMATS[first]("Done.")),
                         turn("two", FORMATS[second]("Yes."), provider=second)], provider=first)
            sent = json.dumps(said[1]["requests"])
            check(said[1]["text"] == "Yes." and all(w in sent for w in ("one", "get", "Done.")),
                  f"{first}, then {second}: {said[1]}")


def verdicts():
    asks = openai(None, ("a", "get", {"id": 1}), ("b", "get", {"id": 2}))
    for approve, runs, errors in [([True], 2, [None, None]), ([False], 0, ["denied"] * 2),
                                  ([True, False], 1, [None, "denied"]),
                                  (["later", True], 2, [None, None])]:
        for save in (False, True):
            said, = talk([turn("x", asks, openai("Done."), save=save)],
                         [tool(confirm=True)], approve=approve)
            check((len(said["runs"]), each(said["results"], "error")) == (runs, errors),
                  f"{approve}, saved {save}: {said['results']}")
    said, = talk([turn("x", asks)], [tool(confirm=True)], approve=["later"])
    check(said["error"] == "approval" and not said["runs"], f"later for ever: {said['error']}")


def scripts():
    ask = openai(None, ("a", "get", {"id": 1}))
    said, = talk([turn("x", ask, openai(None, ("b", "get", {"id": 1})), openai("Done."))],
                 [tool(allow_repeat=True,
                       script=[{"again": 3}, {"text": "first"}, {"fail": "broken"}])])
    check(each(said["results"], "text")[0] == "first", f"script: {said['results']}")
    check(each(said["results"], "error") == [None, "failed"], f"script: {said['results']}")
    said, = talk([turn("x", ask, openai("Done."))], [tool(script=[{"again": 1000000}])],
                 limits={"ms": 5000})
    check(said["error"] == "timeout" and not said["runs"], f"again for ever: {said['error']}")
    said, = talk([turn("x", openai(None, ("a", "get", {"id": 10})), openai("Done."))],
                 repair=['{"id":9}'])
    check(said["runs"] == [{"tool": "get", "arguments": {"id": 9}}], f"repair: {said}")


def offers():
    """What a turn does not offer is not sent, not found, not listed, not run,
    with few tools as with many; picks are kept."""
    secret = tool(name="hidden", description="Wipes lamps", roles=["admin"])
    ask = openai(None, ("a", "hidden", {"id": 1}), ("b", "nothing", {}), ("c", "get", {"id": 2}))

    def offered(said):
        return [[t["function"]["name"] for t in r.get("tools", [])]
                for turn in said for r in turn["requests"]]

    for name, more in [("roles", {}), ("allow", {"roles": ["admin"]})]:
        hidden = secret if name == "roles" else {**secret, "permissions": ["write"]}
        for count in (2, 10, 20, 25):
            rest = [tool(name=f"other_{i}") for i in range(count - 2)]
            for pick in ({}, {"pick": 3}):
                said = talk([turn("get it", ask, openai("Done."), save=True)],
                            [GET, hidden] + rest, **more, **pick)
                what = f"{name}, {count} tools, {pick}"
                check(offered(said) and all("hidden" not in o for o in offered(said)),
                      f"{what}: {offered(said)}")
                check(each(said[0]["runs"], "tool") == ["get"], f"{what}: {said[0]['runs']}")
                results = said[0]["results"]
                check(each(results, "error") == ["unknown-tool"] * 2 + [None],
                      f"{what}: {results}")
                check(all("hidden" not in r["text"] for r in results[1:]), f"{what}: {results}")
    said = talk([turn("get it", ask, openai("Done."))], [GET, secret], roles=["admin"])
    check(each(said[0]["runs"], "tool") == ["hidden", "get"], f"admin: {said[0]['runs']}")
    many = [tool(name=f"plain_{i}", description="Waters plants") for i in range(25)]
    many[3]["description"] = "Dims the lamp"
    for save in (False, True):
        turns = [turn(text, openai(None, ("x", "plain_7", {"id": 1})), openai("Well."), save=save)
                 for text in ("hello", "dim the lamp", "water the plants", "yes")]
        said = talk(turns, many, pick=2)
        check(offered(said) == [[], []] + [["plain_3"]] * 6, f"kept: {offered(said)}")
        check(not any(t["runs"] for t in said), "ran what was not picked")


def secrets():
    """What is injected just before the run reaches the tool and nobody else,
    whether it runs well, fails, waits, or asks again."""
    ask = openai(None, ("a", "get", {"id": 1}))
    keyed = {**GET["parameters"], "properties": {**GET["parameters"]["properties"],
                                                 "key": {"type": "string", "maxLength": 12}}}
    for script in ([{"text": "good"}], [{"fail": "no"}], [{"again": 2}, {"text": "good"}],
                   [{"retry_after": 5}]):
        for more in ({}, {"confirm": True}):
            said, = talk([turn("x", ask, openai("Done."))], [tool(
                parameters=keyed, secret={"key": "S3CRET"}, script=script, **more)],
                approve=[True])
            runs = said.pop("runs")
            check(all(r["arguments"] == {"id": 1, "key": "S3CRET"} for r in runs) and runs,
                  f"{script}: {runs}")
            check("S3CRET" not in json.dumps(said), f"{script}, {more}: {said}")
            check(said["provenance"][0]["arguments"] == '{"id": 1}', said["provenance"])
    said, = talk([turn("x", ask, openai("Done."))], [tool(
        parameters=keyed, secret={"key": "S3CRET, too long"})])
    check(not said["runs"] and "S3CRET" not in json.dumps(said), f"a fault: {said}")


def limits():
    """A model that calls for ever, servers that fail, a plan that runs nothing."""
    ask = openai(None, ("a", "get", {"id": 1}))
    said, = talk([turn("x", *[ask] * 9)], limits={"rounds": 3})
    check(len(said["requests"]) == 3 and said["error"] == "limit", f"rounds: {said['error']}")
    ask["usage"] = {"prompt_tokens": 60, "completion_tokens": 40}
    for most, requests, error in [(100, 1, "limit"), (101, 2, "limit"), (300, 3, None)]:
        said, = talk([turn("x", ask, ask, openai("Done."))], limits={"tokens": most})
        check((len(said["requests"]), said["error"]) == (requests, error) and
              len(said["results"]) == min(requests, 2), f"{most} tokens: {said['error']}")
    said, = talk([{"user": "x", "answers": [{"status": 503, "body": "no"}, {"body": json.dumps(
        openai("Done."))}]}])
    check(said["text"] == "Done." and len(said["requests"]) == 2, f"503: {said}")
    said, = talk([{"user": "x", "answers": [{"status": 401, "body": "no"}]}])
    check(said["error"] == "auth" and len(said["requests"]) == 1, f"401: {said['error']}")
    said, = talk([turn("x", ask)], plan=True)
    check(not said["runs"] and each(said["provenance"], "validated") == [True], f"plan: {said}")
    said, = talk([turn("x", ask, openai(None, ("b", "get", {"id": 2})), openai("Done."),
                       results=["one", "two"])], plan=True)
    check(not said["runs"] and each(said["results"], "text") == ["one", "two"] and
          said["text"] == "Done." and len(said["requests"]) == 3, f"a plan goes on: {said}")
    said = talk([turn("x", ask), turn("y", ask, tools=["other"])], [tool(), tool(name="other")],
                plan=True)
    check(each(said, "error") == [None, None] and not any(each(said, "runs")) and
          '"x"' not in said[1]["requests"][0] and len(said[0]["requests"][0]["tools"]) == 2 and
          [t["function"]["name"] for t in said[1]["requests"][0]["tools"]] == ["other"],
          f"a plan is dropped: {said}")
    kinds = [e["kind"] for s in said for e in s["events"] if e["kind"].startswith("turn")]
    check(kinds == ["turn", "turn_end", "turn"], f"a dropped plan has ended: {kinds}")
    said, = talk([turn("x")], [tool(parameters={"type": "strin"})])
    check(said["error"] == "tool" and "get" in said["text"], f"init: {said}")


def with_ids(form):
    """Formats whose answers above have no ids, with them."""
    def answer(text=None, *calls):
        body = FORMATS[form](text, *calls)
        made = body["message"].get("tool_calls", []) if form == "ollama" else [
            p["functionCall"] for p in body["candidates"][0]["content"]["parts"]
            if "functionCall" in p]
        for call, (i, _, _) in zip(made, calls):
            call["id"] = i
        return body
    return answer


def sent_ids(request):
    """The ids of calls, and those of results, wherever they stand."""
    calls, results = [], []

    def look(v):
        if isinstance(v, list):
            for x in v:
                look(x)
        if not isinstance(v, dict):
            return
        kind = v.get("type")
        if isinstance(v.get("function"), dict) and "arguments" in v["function"] or \
                kind in ("tool_use", "function_call"):
            calls.append(v.get("call_id") or v["id"])
        if kind in ("tool_result", "function_call_output", "function_result") or \
                v.get("role") == "tool":
            results.append(v.get("tool_use_id") or v.get("call_id") or v["tool_call_id"])
        if "functionCall" in v:
            calls.append(v["functionCall"]["id"])
        if "functionResponse" in v:
            results.append(v["functionResponse"]["id"])
        for x in v.values():
            look(x)
    look(request)
    return calls, results


def streams_of_one_id():
    """Streams with two calls of one id, and with the last words."""
    def events(*of):
        return "".join("data: %s\n\n" % json.dumps(e) for e in of)

    def chat(i, name, arguments):
        return {"choices": [{"index": 0, "delta": {"tool_calls": [{
            "index": i, "function": {"arguments": arguments, **name},
            **({"id": "x"} if name else {})}]}}]}

    def block(i):
        return [{"type": "content_block_start", "index": i, "content_block": {
                    "type": "tool_use", "id": "x", "name": "get", "input": {}}},
                {"type": "content_block_delta", "index": i, "delta": {
                    "type": "input_json_delta", "partial_json": json.dumps({"id": i + 1})}},
                {"type": "content_block_stop", "index": i}]

    begin = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    end = {"type": "message_stop"}
    args = [{"id": 1}, {"id": 2}]
    return {
        "openai": (events(*[chat(i, n, a) for i in (0, 1) for n, a in (
            ({"name": "get"}, ""), ({}, json.dumps(args[i])))], {"choices": [{
                "index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            events({"choices": [{"index": 0, "delta": {"content": "ok"},
                                 "finish_reason": "stop"}]})),
        "anthropic": (events(begin, *block(0), *block(1), {
            "type": "message_delta", "delta": {"stop_reason": "tool_use"}}, end),
            events(begin, {"type": "content_block_start", "index": 0, "content_block": {
                "type": "text", "text": "ok"}}, {
                "type": "message_delta", "delta": {"stop_reason": "end_turn"}}, end)),
        "gemini": (events(*[{"candidates": [{"content": {"parts": [{"functionCall": {
            "id": "x", "name": "get", "args": a}}]},
            **({"finishReason": "STOP"} if a["id"] == 2 else {})}]} for a in args]),
            events(gemini("ok"))),
        "ollama": ("".join(json.dumps({"message": {"content": "", "tool_calls": [{
            "id": "x", "function": {"name": "get", "arguments": a}}]}, "done": a["id"] == 2,
            "done_reason": "stop"}) + "\n" for a in args), json.dumps(ollama("ok")))}


def ids():
    """Ids that repeat, in an answer, in the next one, in the next turn and after a switch: each
    call has one of its own, and each result says what the next request sends."""
    forms = {**FORMATS, "interactions": interactions, "ollama": with_ids("ollama"),
             "gemini": with_ids("gemini")}
    for form, answer in forms.items():
        for to in [*forms, "mistral"]:
            for save in (False, True):
                pair = answer(None, ("x", "get", {"id": 1}), ("x", "get", {"id": 2}))
                one = answer(None, ("x", "get", {"id": 3}))
                said = talk([turn("a", pair, one, answer("Done."), save=save),
                             turn("b", forms.get(to, openai)("Done."), provider=to),
                             turn("c", answer("Done."), provider=form)],
                            [tool(permissions=["write"])], form, allow=["write"])
                where = f"{form} to {to}"
                check(len(said) == 3 and not any(each(said, "error")), f"{where}: {said}")
                for s in said:
                    for request in s["requests"]:
                        calls, results = sent_ids(request)
                        check(len(set(calls)) == len(calls) and calls == results,
                              f"{where}: {calls}, {results}")
                check(len(said[0]["runs"]) == 3, f"{where}: {said[0]['runs']}")
                places = [(p["turn"], p["round"], p["position"]) for p in said[0]["provenance"]]
                check(places == [(1, 1, 1), (1, 1, 2), (1, 2, 1)], f"{where}: {places}")
                told = each(said[0]["results"], "id")
                check(told == sent_ids(said[0]["requests"][-1])[1] and told[0] == "x" and
                      told == sent_ids(said[2]["requests"][0])[0], f"{where}: {told}")
                check(to != "mistral" or all(len(i) == 9 and i.isalnum() for i in sent_ids(
                    said[1]["requests"][0])[0]), f"{where}: {said[1]['requests']}")
    for form, (pair, done) in streams_of_one_id().items():
        line = {"user": "a", "answers": [{"body": b} for b in (pair, pair, done)]}
        said, = talk([line], [tool(permissions=["write"])], form, allow=["write"], stream=True)
        told = each(said["results"], "id")
        check(said["error"] is None and len(set(told)) == 4 and
              [r["arguments"]["id"] for r in said["runs"]] == [1, 2, 1, 2] and
              sent_ids(said["requests"][-1]) == (told, told), f"{form}, a stream: {said}")
    for i in ("", "a b", "x" * 80, "\u00e4"):
        said, = talk([turn("x", openai(None, (i, "get", {"id": 1})), openai("Done."))])
        check(each(said["results"], "id") == sent_ids(said["requests"][-1])[1], f"{i}: {said}")


def cut(says):
    """An answer that ends too early, without a word."""
    body = json.dumps(says(None))
    for done, short in (("stop", "length"), ("end_turn", "max_tokens"), ("STOP", "MAX_TOKENS"),
                        ("completed", "incomplete")):
        body = body.replace(f'"{done}"', f'"{short}"')
    return {"body": body}


def order():
    """Who may follow whom: whatever ends a turn after a call, whatever is shown, and
    whoever goes on, each request has the order that its receiver wants."""
    tools = [GET, tool(name="snap", script=[{"text": "a picture", "images": 1}]),
             tool(name="slow", script=[{"again": 50}])]
    broken = {"status": 500, "body": "{}"}

    def situations(says):
        call = says(None, ("abc123def", "get", {"id": 1}))
        both = says("I look.", ("abc123def", "snap", {"id": 1}), ("ghi456jkl", "get", {"id": 1}))
        picture = says(None, ("abc123def", "snap", {"id": 1}))
        slow = says(None, ("abc123def", "slow", {"id": 1}))
        done = says("Done.")
        yield "plain", [turn("a", call, done)], {}
        yield "two calls, one shows a picture", [turn("a", both, done)], {}
        yield "a picture each round", [turn("a", picture, both, picture, done)], {}
        yield "the last round", [turn("a", call)], {"limits": {"rounds": 1}}
        yield "a picture, then the last round", [turn("a", both, call)], {"limits": {"rounds": 2}}
        yield "the last call", [turn("a", call, call)], {"limits": {"calls": 1}}
        yield "tokens", [turn("a", picture)], {"limits": {"tokens": 1}}
        for step in range(1, 18):
            yield f"cancelled at {step}", [turn("a", slow, cancel_at=step)], {}
        for first in (call, both):
            said = json.dumps(first)
            yield "three times 500", [{"user": "a", "answers": [{"body": said}] + [broken] * 3}], {}
            yield "cut", [{"user": "a", "answers": [{"body": said}, cut(says)]}], {}
        yield "cut at once", [{"user": "a", "answers": [cut(says)]}], {}
        yield "the user shows", [turn("a", both, done, show=["JPEG", "JPEG2"])], {}

    requests = 0
    for name, says in EVERY.items():
        begun = [(name, says)] + [(n, EVERY[n]) for n in ("openai", "gemini", "anthropic")]
        for first, speaks in begun:
            for what, turns, more in situations(speaks):
                goes_on = [turn(t, says("Well."), provider=name) for t in "bc"]
                said = talk(turns + goes_on, tools, provider=first, **more)
                check(each(said, "error")[-2:] == [None, None], f"{first}, {name}: {what}: {said}")
                for who, t in zip([first, name, name], said):
                    for request in t["requests"]:
                        wrong = rules.disorder(who, json.dumps(request))
                        check(not wrong, f"{first}, then {name}: {what}: {wrong}")
                        check(request.get("tools") == t["requests"][0]["tools"],
                              f"{who}: {what}: other tools")
                        requests += 1
    print(f"order: {requests} requests of {len(EVERY)} rows")


def last_round():
    """Where no call was wanted, one that comes is answered and not run."""
    for name, says in EVERY.items():
        ask = says(None, ("abc123def", "get", {"id": 1}))
        for most, runs in (({"rounds": 1}, 0), ({"rounds": 2}, 1), ({"calls": 1}, 1)):
            said, = talk([turn("x", *[ask] * 4)], provider=name, limits=most)
            check((len(said["runs"]), said["error"]) == (runs, "limit") and
                  each(said["results"], "error") == [None] * runs + ["limit"],
                  f"{name}, {most}: {said['results']}")


def texts():
    """The text of a turn is all that came after its last call; of answers that mark
    one as final, that."""
    def message(text, phase=None):
        return {"type": "message", "role": "assistant", **({"phase": phase} if phase else {}),
                "content": [{"type": "output_text", "text": text}]}

    def out(*items):
        return {"status": "completed", "output": list(items)}
    call = {"type": "function_call", "call_id": "c", "name": "get", "arguments": '{"id":1}'}
    think = {"type": "thinking", "thinking": "x", "signature": "s"}
    two = [{"type": "text", "text": "Look"}, think, {"type": "text", "text": "ing."}]
    for want, name, answers in (
            ("Looking.", "anthropic", [{"type": "message", "content": two,
                                        "stop_reason": "end_turn"}]),
            ("A\n\nB", "responses", [out(message("A"), message("B"))]),
            ("B", "responses", [out(message("A", "commentary"), message("B", "final_answer"),
                                    message("C", "commentary"))]),
            ("B\n\nC", "responses", [out(message("B", "final_answer"),
                                           message("C", "final_answer"))]),
            ("B", "responses", [out(message("A"), call), out(message("B"))]),
            ("A", "responses", [out(message("A"), call)]),
            ("A\n\nB", "responses", [out(message("A"), {
                "type": "reasoning", "id": "r", "summary": []}, message("B"))]),
            ("AB", "interactions", [{"status": "completed", "steps": [
                {"type": "model_output", "content": [{"type": "text", "text": "A"}]},
                {"type": "thought", "signature": "s"},
                {"type": "model_output", "content": [{"type": "text", "text": "B"}]}]}]),
            ("AB", "gemini", [{"candidates": [{"finishReason": "STOP", "content": {"parts": [
                {"text": "A", "thoughtSignature": "s"}, {"text": "B"}]}}]}])):
        said, = talk([turn("x", *answers)], provider=name)
        check(said["text"] == want, f"{name}: {said['text']!r}, not {want!r}")
        check(said["events"][-1].get("text", "") == want, f"{name}: {said['events'][-1]}")


def closing():
    """Where a server says in the end what it sent in pieces, that counts: one event may
    come twice or change its place. But one that says nothing does not (LM Studio)."""
    def item(arguments, **more):
        return {"type": "function_call", "call_id": "c1", "name": "get", "arguments": arguments,
                **more}

    def delta(text):
        return {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text}
    begins = {"type": "response.created", "response": {"status": "in_progress", "output": []}}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item("")}
    ends = {"type": "response.completed", "response": {"status": "completed", "output": [
        item('{"id":12}')]}}
    pieces = [delta('{"i'), delta('d":1'), delta('2'), delta('}')]
    for said, stored in (('{"id":12}', '{"id":12}'), ('{"id":12}', '{}'), ("", "{}"), ("", "")):
        events = [begins, added, *pieces, {
            "type": "response.function_call_arguments.done", "output_index": 0, "arguments": said},
            {"type": "response.output_item.done", "output_index": 0, "item": item(stored)}, ends]
        streams = [events]
        if said:
            streams += [events[:i + 1] + events[i:] for i in range(2, 6)]
        if stored != "{}" and said:
            streams += [events[:i] + events[i + 1:i + 2] + events[i:i + 1] + events[i + 2:]
                        for i in range(2, 6)]
        for stream in streams:
            body = "".join(f"data: {json.dumps(e)}\n\n" for e in stream)
            result, = talk([{"user": "x", "answers": [{"body": body}]}], [tool(
                parameters={"type": "object", "properties": {"id": {"type": "integer"}}})],
                provider="responses", stream=True)
            check(each(result["runs"], "arguments") == [{"id": 12}], f"{body}: {result['runs']}")


def twice():
    """No key stands twice in what is sent, also where a call was cut."""
    for name, body in (
            ("anthropic", '{"type":"message","content":[{"type":"tool_use","id":"a","name":"get",'
                          '"input":%s}],"stop_reason":"%s"}'),
            ("gemini", '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get",'
                       '"args":%s}}]},"finishReason":"%s"}]}')):
        for stop in ("max_tokens", "tool_use", "MAX_TOKENS", "STOP"):
            for args in ('{"id":1,"id":2}', '{"id":{"a":1,"\\u0061":2}}'):
                said = talk([{"user": "x", "answers": [{"body": body % (args, stop)}] * 2},
                             turn("y", FORMATS[name]("Done."))], provider=name,
                            limits={"rounds": 2})
                sent = json.dumps(said[-1]["requests"])
                check('"%s": {}' % ("input" if name == "anthropic" else "args") in sent and
                      not said[0]["runs"], f"{name}, {stop}, {args}: {sent}")
    said, = talk([turn("x", openai("Done."))], extra='{"a":{"b":1,"b":2}}')
    check(said["error"] == "usage" and "twice" in said["text"], f"extra: {said}")


def main():
    for part in (formats, switches, verdicts, scripts, offers, secrets, limits, order, last_round,
                 ids, texts, closing, twice):
        part()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
