"""read, cut, memory: recorded answers, whole, cut anywhere, in blocks of any size."""
import os
import re
from collections import Counter, OrderedDict

from .common import Died, Num, brief, dump, load, pick
from .recordings import HOWS, differ, group, recordings, text_of, usage_of


def part_read(p, probe, data):
    recs = recordings(data)
    also = Counter()
    for label, extra in [("whole", []), ("detected", [])] + [("split " + n, ["--split", n]) for n in ("1", "2", "3", "7", "64")]:
        ok, total = Counter(), Counter()
        for how in HOWS:
            todo = [(r, i, b) for r in recs if r.how == how for i, b in enumerate(r.bodies)]
            lines = [{"body": b} if label == "detected" else {"body": b, "stream": r.stream} for r, i, b in todo]
            good = {}
            for (r, i, b), a in zip(todo, probe.ask(["read", how] + extra, lines)):
                d = differ(r.calls, a)
                good[r.name] = good.get(r.name, True) and d is None
                p.check(d is None, "%s %s %s%s" % (r.name, label, r.transport, " spelling %d" % i if i else ""), d)
                if label == "whole" and i == 0:
                    also["stop"] += (a.get("stop") or None) == r.finish or (a.get("stop") or "") == (r.finish or "")
                    also["text"] += (a.get("text") or "") == text_of(r)
                    u = a.get("usage") if isinstance(a.get("usage"), dict) else {}
                    also["usage"] += (u.get("input", Num("0")), u.get("output", Num("0"))) == usage_of(r)
                    also["n"] += 1
            for r in recs:
                if r.how == how:
                    total[group(r)] += 1
                    ok[group(r)] += good[r.name]
        p.bar(ok == total, "%s: %s" % (label, ", ".join("%s %d/%d" % (k, ok[k], total[k]) for k in sorted(total))))
    text = {"body": dump({"choices": [{"message": {"content": "Hm <tool_call>{'name': 'f', 'arguments': {'a': 1}}</tool_call>"},
                                       "finish_reason": "stop"}]})}
    plain, called = probe.ask(["read", "llamacpp"], [text, dict(text, text_calls=True)])
    p.check(plain["calls"] == [] and "<tool_call>" in plain["text"] and called["text"] == "Hm " and
            called["calls"] == [{"id": "", "name": "f", "arguments": '{"a":1}'}], "calls as text", brief(called))
    p.say("as information: stop reason %(stop)d, text %(text)d, usage %(usage)d of %(n)d as a plain reader sees them" % also)


# ---------------------------------------------------------------- cut

def end_sign(r):
    """(lo, hi): up to lo the answer has not said that it is over; from hi on it has."""
    body = r.bodies[0]
    if r.transport == "json":
        n = len(body.rstrip())
        return n - 1, n
    if r.transport == "json_array":
        n = body.index("finishReason")
        return n, n + body[n:].index(",")
    at = 0
    for line in body.splitlines(True):
        text = line.strip()
        text = text[5:].strip() if text.startswith("data:") else text
        over = text == "[DONE]"
        if text.startswith("{"):
            d = load(text, duplicates=True)
            if r.api == "chat_completions":
                over = any(c.get("finish_reason") for c in d.get("choices") or ())
            elif r.api == "openai_responses":
                over = d.get("type") in ("response.completed", "response.incomplete", "response.failed")
            elif r.api == "gemini_generate_content":
                over = any(c.get("finishReason") for c in d.get("candidates") or ())
            elif r.api == "ollama_chat":
                over = d.get("done") is True
            else:
                over = d.get("type") == "message_stop" or bool(d.get("type") == "message_delta" and d["delta"].get("stop_reason"))
        if over:
            return at, at + len(line)
        at += len(line)
    return len(body), len(body)


def judge_cut(r, n, lo, a):
    """Why the answer to the first n characters of a body is not right, or None."""
    if isinstance(a, Died):
        return a.why
    calls = a.get("calls")
    if not isinstance(calls, list):
        return "no calls: " + brief(a)
    for g in calls:
        if not isinstance(g, dict):
            return "a call is no object"
        if not g.get("error") and not any(w.kind != "cut" and w.differs(g) is None for w in r.calls):
            return "a call that was cut has no error: " + brief(g)
    if n <= lo and not a.get("error") and not (calls and all(g.get("error") for g in calls)):
        return "cut before its end and nobody says so: " + brief(a)
    return None


def part_cut(p, probe, data):
    recs = recordings(data)
    whole = {}
    for r in recs:  # the shortest of each kind: at every place
        k = (r.provider, r.api, r.transport)
        if k not in whole or len(r.bodies[0]) < len(whole[k].bodies[0]):
            whole[k] = r
    # and what is odd about several calls, or about calls of several kinds
    for name in ("openai/0545", "mistral/0061", "mistral/0052", "anthropic/0342", "anthropic/0006", "openai/0532", "ollama/0052"):
        for r in recs:
            if r.name == name:
                whole[name] = r
    full = set(r.name for r in whole.values())
    bodies = bad = 0
    for how in HOWS:
        todo = []
        for r in recs:
            if r.how != how:
                continue
            lo, hi = end_sign(r)
            body = r.bodies[0]
            n = len(body.rstrip())
            if r.name in full and n <= 6000:
                places = range(n)
            else:  # three anywhere and five within the last stretch before the end
                places = sorted({pick("%s %d" % (r.name, i), n) for i in range(3)}
                                | {max(0, lo - pick("%s tail %d" % (r.name, i), min(lo + 1, 400))) for i in range(5)})
            todo += [(r, i, lo) for i in places]
        lines = [{"body": r.bodies[0][:i], "stream": r.stream} for r, i, lo in todo]
        for (r, i, lo), a in zip(todo, probe.ask(["read", how], lines)):
            d = judge_cut(r, i, lo, a)
            bodies += 1
            bad += d is not None
            p.check(d is None, "%s %s cut at %d" % (r.name, r.transport, i), d)
    p.bar(bad == 0, "bodies: %d of %d prefixes answered as cut (%d bodies at every place)" % (bodies - bad, bodies, len(full)))

    texts = OrderedDict()
    with open(os.path.join(data, "arguments", "vectors.jsonl"), encoding="utf-8") as f:
        for line in f:
            v = load(line)
            if v["class"] == "valid" and v["args_level"] == "object":
                texts[v["input"].strip()] = 1
    for r in recs:
        for c in r.calls:
            if c.kind == "plain" and c.bytes <= 1500:
                texts[(c.text or dump(c.args)).strip()] = 1
    for extra in ('{"a":[1,-2.5e+3,true,false,null,"\\u00e9\\ud83d\\ude00\\n"],"b":{"c":{},"d":[]},"":""}', '{"\u00e9":"\u4e16\u754c"}'):
        texts[extra] = 1
    lines, keys = [], []
    for t in texts:
        for n in range(1, len(t)):
            for mode in ("tolerant", "strict"):
                lines.append({"input": t[:n], "mode": mode})
                keys.append((t, n, mode))
    bad, codes = 0, Counter()
    for (t, n, mode), a in zip(keys, probe.ask(["args"], lines)):
        ok = a.get("ok") is False
        codes[str(a.get("error"))] += mode == "tolerant"
        bad += not ok
        p.check(ok, "%s prefix %d of %s" % (mode, n, brief(t)), a.why if isinstance(a, Died) else brief(a))
    p.bar(bad == 0, "arguments: %d of %d prefixes of %d valid objects refused" % (len(keys) - bad, len(keys), len(texts)))
    p.say("their codes: " + ", ".join("%s %d" % kn for kn in codes.most_common(8)))


# ---------------------------------------------------------------- memory

MEMORY_WORDS = re.compile(r"memory|block|space|room|fit|too (large|long|big|small)|need|capacity|overflow|limit", re.I)


def says_memory(a):
    said = [a.get("error")] + [c.get("error") for c in a.get("calls") or () if isinstance(c, dict)]
    return any(s and MEMORY_WORDS.search(s if isinstance(s, str) else dump(s)) for s in said)


def part_memory(p, probe, data):
    recs = recordings(data)
    for size in (4096,):
        fit = same_calls = big = said = larger = 0
        for how in HOWS:
            todo = [r for r in recs if r.how == how]
            for extra in ([], ["--split", "1"], ["--split", "64"]):
                lines = [{"body": r.bodies[0], "stream": r.stream} for r in todo]
                for r, a in zip(todo, probe.ask(["read", how, "--block", str(size)] + extra, lines)):
                    d = differ(r.calls, a)
                    case = "%s block %d %s" % (r.name, size, " ".join(extra))
                    if r.size() * 2 <= size:  # the arguments fit, with as much again for the reader itself
                        fit += 1
                        larger += len(r.bodies[0]) > size
                        same_calls += p.check(d is None, case, d)
                    else:
                        big += 1
                        said += p.check(d is None or says_memory(a), case, "neither the calls nor why not: %s" % d)
        p.bar(same_calls == fit, "block %d: %d/%d same calls where arguments fit; %d of these answers are larger than the block"
              % (size, same_calls, fit, larger))
        p.bar(said == big, "block %d: %d/%d of the others are read or say that the memory is short" % (size, said, big))
    # any size from 0 up: the calls, or an error
    few = [r for i, r in enumerate(recs) if pick(r.name + " small", 20) == 0]
    ok = n = 0
    for size in list(range(0, 66)) + [96, 128, 200, 256, 333, 512, 777, 1000, 1024, 1500, 2048, 3000]:
        for how in HOWS:
            todo = [r for r in few if r.how == how]
            lines = [{"body": r.bodies[0], "stream": r.stream} for r in todo]
            for r, a in zip(todo, probe.ask(["read", how, "--block", str(size)], lines)):
                d = differ(r.calls, a)
                n += 1
                fine = not isinstance(a, Died) and (d is None or a.get("error") or (
                    a.get("calls") and any(isinstance(c, dict) and c.get("error") for c in a["calls"])))
                if fine and d is not None:  # what is not marked must be right
                    fine = all(c.get("error") or any(w.kind != "cut" and w.differs(c) is None for w in r.calls)
                               for c in a.get("calls") or ())
                ok += p.check(fine, "%s block %d" % (r.name, size), d)
    p.bar(ok == n, "blocks of 0 to 3,000 bytes: %d/%d give the calls or an error" % (ok, n))
