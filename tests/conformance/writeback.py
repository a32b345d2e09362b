"""writeback, prefix, errors: recorded conversations sent again, and recorded errors."""
import os
import re
from collections import Counter, OrderedDict

from .common import Died, Num, brief, dump, load, load_file, parsed, same
from .recordings import APIS, text_in


def plain(v):
    """A tool's result as text."""
    if isinstance(v, list) and all(isinstance(b, dict) and "text" in b for b in v):
        return "".join(b["text"] for b in v)
    return v if isinstance(v, str) and not isinstance(v, Num) else "" if v is None else dump(v)


def turns_chat(body, names):
    """What a request says, whoever the provider is: user, answer (text, reasoning, calls), result."""
    out = []
    for m in body["messages"]:
        if m["role"] == "assistant":
            calls = []
            for c in m.get("tool_calls") or ():
                f = c["function"]
                a = f.get("arguments")
                calls.append((c.get("id"), f["name"], a if isinstance(a, dict) else parsed(a or "{}")))
            kept = m.get("reasoning_content"), m.get("reasoning_details")
            out.append(["answer", plain(m.get("content")), [v for v in kept if v], calls, m])
        elif m["role"] == "tool":
            out.append(["result", m.get("tool_call_id"), plain(m.get("content")), False])
        elif m["role"] == "user":
            out.append(["user", text_in(m["content"]) or ""])
    return out


def turns_anthropic(body, names):
    out = []
    for m in body["messages"]:
        blocks = [{"type": "text", "text": m["content"]}] if isinstance(m["content"], str) else m["content"]
        if m["role"] == "assistant":
            out.append(["answer", "".join(b["text"] for b in blocks if b["type"] == "text" and b["text"].strip()),
                        [(b["type"], b.get("thinking"), b.get("signature"), b.get("data")) for b in blocks if "thinking" in b["type"]],
                        [(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"], m])
            continue
        for b in blocks:
            if b["type"] == "tool_result":
                out.append(["result", b["tool_use_id"], plain(b.get("content")), bool(b.get("is_error"))])
        text = "".join(b["text"] for b in blocks if b["type"] == "text" and b["text"].strip())
        if text:
            out.append(["user", text])
    return out


def turns_responses(body, names):
    out = []
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    for i in items:
        kind = i.get("type", "message")
        if kind == "function_call_output":
            out.append(["result", i["call_id"], plain(i["output"]), False])
        elif kind == "message" and i["role"] == "user":
            out.append(["user", text_in(i["content"]) or ""])
        elif kind in ("function_call", "reasoning") or kind == "message" and i["role"] == "assistant":
            if not out or out[-1][0] != "answer":
                out.append(["answer", "", [], [], []])
            a = out[-1]
            a[4].append(i)
            if kind == "function_call":
                a[3].append((i["call_id"], i["name"], parsed(i["arguments"] or "{}")))
            elif kind == "reasoning":
                a[2].append(i)
            else:
                a[1] += text_in(i["content"]) or ""
    return out


def turns_gemini(body, names):
    out = []
    for c in body["contents"]:
        parts = c.get("parts") or []
        if c.get("role") == "model":
            texts = [q for q in parts if "text" in q and not q.get("thought")]
            calls = [q for q in parts if "functionCall" in q]
            out.append(["answer", "".join(q["text"] for q in texts),
                        [q["thoughtSignature"] for q in texts if q.get("thoughtSignature")][:1],
                        [(q["functionCall"].get("id") or None, q["functionCall"]["name"], q["functionCall"].get("args") or OrderedDict(),
                          q.get("thoughtSignature")) for q in calls], c])
            continue
        for q in parts:
            if "functionResponse" in q:
                f = q["functionResponse"]
                r = f["response"]
                error = list(r) == ["error"]
                out.append(["result", f.get("id") or None, plain(r["error"] if error else r["output"] if list(r) == ["output"] else r), error])
        text = "".join(q.get("text", "") for q in parts)
        if text:
            out.append(["user", text])
    return out


def as_answer(api, raw):
    """The body that the provider answered with, made from what was sent back of it."""
    if api == "chat_completions":
        return {"choices": [{"index": Num("0"), "message": raw, "finish_reason": "stop"}]}
    if api == "ollama_chat":
        return {"message": raw, "done": True, "done_reason": "stop"}
    if api == "anthropic_messages":
        blocks = raw["content"] if isinstance(raw["content"], list) else [{"type": "text", "text": raw["content"]}]
        return {"type": "message", "content": blocks, "stop_reason": "tool_use"}
    if api == "openai_responses":
        items = [dict(i, type="message", content=[{"type": "output_text", "text": text_in(i["content"])}])
                 if i.get("type", "message") == "message" else i for i in raw]
        return {"output": items, "status": "completed"}
    return {"candidates": [{"content": raw, "finishReason": "STOP"}]}


TURNS = {"chat_completions": turns_chat, "ollama_chat": turns_chat, "anthropic_messages": turns_anthropic,
         "openai_responses": turns_responses, "gemini_generate_content": turns_gemini}


def conversations(data, left):
    """Each recorded conversation with results: provider, name, API, turns, and the messages for probe write."""
    base = os.path.join(data, "recordings", "_followups")
    for d in sorted(os.listdir(base)):
        for f in sorted(os.listdir(os.path.join(base, d))):
            r = load_file(os.path.join(base, d, f))
            api = r["api"]
            if api not in TURNS or not isinstance(r["request"], dict):
                left["another api"] += 1
                continue
            how = {"deepseek": "deepseek", "openrouter": "openrouter"}.get(d, "openai") if api == "chat_completions" else APIS[api]
            if r["request"].get("previous_response_id"):
                left["the server keeps the conversation"] += 1
                continue
            turns = TURNS[api](r["request"], None)
            if not any(t[0] == "result" for t in turns):
                left["no results in it"] += 1
                continue
            messages, waiting, made = [], [], 0
            for t in turns:
                if t[0] == "user":
                    messages.append({"role": "user", "text": t[1]})
                elif t[0] == "answer":
                    messages.append({"role": "answer", "body": dump(as_answer(api, t[4]))})
                    for c in t[3]:
                        made += not c[0]
                        waiting.append((c[0], c[0] or "call%05d" % made, c[1]))
                else:  # which call it answers: by its id, or the next one
                    w = next((w for w in waiting if t[1] and w[0] == t[1]), waiting[0] if waiting else (None, t[1] or "", ""))
                    if w in waiting:
                        waiting.remove(w)
                    messages.append({"role": "tool", "call_id": w[1], "name": w[2], "text": t[2], "is_error": t[3]})
            yield how, d + "/" + f[:-5], api, turns, messages


def part_writeback(p, probe, data):
    todo, left = {}, Counter()
    for how, name, api, turns, messages in conversations(data, left):
        todo.setdefault(how, []).append((name, api, turns, {"messages": messages, "options": {"model": "m"}}))
    good, total, kept = Counter(), Counter(), 0
    for how in sorted(todo):
        for (name, api, turns, line), a in zip(todo[how], probe.ask(["write", how], [x[3] for x in todo[how]])):
            why = a.why if isinstance(a, Died) else differ_turns(how, turns, TURNS[api](a, None))
            total[how] += 1
            kept += sum(len(t[2]) for t in turns if t[0] == "answer")
            good[how] += p.check(why is None, name, why)
    for how in sorted(todo):
        p.bar(good[how] == total[how], "%s: %d/%d requests rebuilt" % (how, good[how], total[how]))
    p.say("%d pieces of reasoning among them; left out: %s" % (kept, dict(left)))


def end_of_messages(request):
    """Where the list of messages of a request ends: at its bracket."""
    at = re.search(rb'"(messages|input|contents)":\[', request).end() - 1
    depth = quoted = 0
    while True:
        c = request[at:at + 1]
        if c == b"\\":
            at += 1
        elif c == b'"':
            quoted = not quoted
        elif not quoted and c in b"[{":
            depth += 1
        elif not quoted and c in b"]}":
            depth -= 1
            if not depth:
                return at
        at += 1


def part_prefix(p, probe, data):
    """Of each recorded conversation the requests that led to its answers, and the one after them: each begins as the one before."""
    todo, pairs, good = {}, Counter(), Counter()
    for how, name, api, turns, messages in conversations(data, Counter()):
        asked = [m["role"] != "answer" for m in messages]  # after what was not the model's
        cuts = [i for i in range(1, len(messages)) if asked[i - 1] and not asked[i]] + [len(messages)]
        todo.setdefault(how, []).extend((name, {"messages": messages[:i], "options": {"model": "m"}}) for i in cuts)
    for how in sorted(todo):
        rc, out, err = probe.raw(["write", how], "".join(dump(line) + "\n" for _, line in todo[how]))
        requests = out.split(b"\n")
        p.check(rc == 0 and len(requests) == len(todo[how]) + 1, how, err[-300:])
        for (one, _), (two, _), before, after in zip(todo[how], todo[how][1:], requests, requests[1:]):
            if one == two:
                end = end_of_messages(before)
                pairs[how] += 1
                good[how] += p.check(before[:end] == after[:end], one, "%r\nthen %r" % (before, after))
        p.bar(good[how] == pairs[how], "%s: %d/%d requests begin as the one before them" % (how, good[how], pairs[how]))


FAULTS = {401: "auth", 403: "denied", 404: "not-found", 429: "rate", 400: "request", 500: "provider"}


def part_errors(p, probe, data):
    """Bodies of answers with a status of 400 and more: the provider's words, and what kind of error it is."""
    base = os.path.join(data, "recordings", "_errors")
    good = n = 0
    kinds = Counter()
    for d in sorted(os.listdir(base)):
        for f in sorted(os.listdir(os.path.join(base, d))):
            r = load_file(os.path.join(base, d, f))
            if r["api"] not in APIS:
                continue
            body = r.get("response_raw") if isinstance(r.get("response_raw"), str) else dump(r["response"])
            v = r["response"] if isinstance(r["response"], dict) else load(body)
            v = v[0] if isinstance(v, list) else v
            e = v.get("error", v)
            words = e if isinstance(e, str) else e.get("message") or e.get("detail")
            code = dump(v).lower()
            want = FAULTS[int(r["status"])]
            if re.search("context.length|context window|prompt too long|number of tokens|too_many_prompt", code) and want == "request":
                want = "context"
            if re.search("model_not_found", code):
                want = "not-found"
            if re.search("incorrect api key|api key not valid|invalid_api_key", code):
                want = "auth"
            if want == "denied" and re.search("api key|authenticat|permission", code):
                want = "auth"
            a = probe.ask(["read", APIS[r["api"]]], [{"body": body, "status": r["status"]}])[0]
            said = a.get("error") or ""
            n += 1
            kinds[want] += 1
            ok = said.split(":")[0] == want and said[len(want) + 2:] == words.encode()[:159].decode("utf-8", "ignore")
            if int(r["status"]) == 429 and "retryDelay" in body:
                ok = ok and isinstance(a.get("wait_ms"), Num)
            good += p.check(ok, d + "/" + f[:-5], "%s, not %s: %s" % (brief(said), want, brief(words)))
    p.bar(good == n, "%d/%d error bodies give message and class: %s" % (good, n, dict(kinds)))


def told_apart(want, got):
    """What was sent, but that a call whose id another one has before it, and its result, have the id that is sent now."""
    now = [c[0] for t in got if t[0] == "answer" for c in t[3]]
    waiting, calls, out = {}, 0, []
    for t in want:
        t = list(t)
        if t[0] == "answer":
            t[3] = [list(c) for c in t[3]]
            for c in t[3]:
                again = c[0] and c[0] in waiting and calls < len(now)
                came, c[0] = c[0], now[calls] if again else c[0]
                waiting.setdefault(came, []).append(c[0])
                calls += 1
        elif t[0] == "result" and waiting.get(t[1]):
            t[1] = waiting[t[1]].pop(0)
        out.append(t)
    return out


def differ_turns(how, want, got):
    """Why a rebuilt request does not say what was sent, or None. Results may move to their calls, turns of one role may join."""
    ids = [c[0] for t in got if t[0] == "answer" for c in t[3] if c[0]]
    if len(ids) > len(set(ids)):
        return "two calls have one id"
    want = told_apart(want, got)
    def sift(turns):
        users = "".join(t[1] for t in turns if t[0] == "user")
        answers = [t for t in turns if t[0] == "answer"]
        return (users, "".join(t[1] for t in answers), [k for t in answers for k in t[2]], [c for t in answers for c in t[3]],
                [tuple(t[1:]) for t in turns if t[0] == "result"])
    def grouped(turns):  # calls of an answer, then their results
        open_ids, out = [], True
        for t in turns:
            if t[0] == "answer":
                out = out and not open_ids
                open_ids = [c[0] for c in t[3]]
            elif t[0] == "result" and open_ids and open_ids[0] == t[1]:
                open_ids.pop(0)
            elif t[0] == "result":
                out = False
        return out and not open_ids
    if how in ("openai", "ollama"):  # nobody insists on its reasoning
        for t in want:
            t[2:3] = [[]] if t[0] == "answer" else t[2:3]
    w, g = sift(want), sift(got)
    if len(w[3]) == len(g[3]):  # ids that we made up, arguments "null"
        g[3][:] = [((y[0] if x[0] else x[0]), y[1], x[2] if x[2] is None and not y[2] else y[2]) + tuple(y[3:]) for x, y in zip(w[3], g[3])]
    for what, a, b in zip(("user text", "text", "reasoning", "calls"), w, g):
        if not same_all(a, b):
            return "%s: %s, not %s" % (what, brief(b), brief(a))
    if not grouped(got):
        return "results do not stand behind their calls"
    have = sorted((i or "", x) for i, x, e in w[4])
    for (i, x), (j, y, e) in zip(have, sorted((j or "", y, e) for j, y, e in g[4])):
        if i in [c[0] for c in w[3]] and i != j or x != y and not (y == "Error: " + x or y == x):
            return "result: %s, not %s" % (brief((j, y)), brief((i, x)))
    return None if len(w[4]) <= len(g[4]) else "%d results, not %d" % (len(g[4]), len(w[4]))


def same_all(a, b):
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(same_all(x, y) for x, y in zip(a, b))
    return same(a, b)
