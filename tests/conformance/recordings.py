"""What was recorded of providers, and how its parts are told."""
import json
import os
import re
from collections import OrderedDict

from .common import Died, Num, brief, dump, load, load_file, parsed, same


APIS = {"chat_completions": "openai", "anthropic_messages": "anthropic", "ollama_chat": "ollama",
        "openai_responses": "responses", "gemini_generate_content": "gemini"}
HOWS = ("openai", "anthropic", "ollama", "responses", "gemini")
CUT = ("length", "max_tokens", "model_length", "MAX_TOKENS", "incomplete")


class Rec:
    def __init__(self, name, r):
        self.name = name
        self.api = r["api"]
        self.provider = name.split("/")[0]
        self.how = APIS[r["api"]]
        self.transport = r["transport"]
        self.stream = r["transport"] != "json"
        self.finish = r["expected"]["finish"]
        if isinstance(self.finish, Num):
            self.finish = str(self.finish)
        if isinstance(r.get("response_raw"), str):
            self.bodies = [r["response_raw"]]
        elif isinstance(r["response"], str):
            self.bodies = [r["response"]]
        else:  # bytes are not known: three spellings of the same value
            text = dump(r["response"])
            self.bodies = [text, escape_non_ascii(text), spread(r["response"])]
        self.calls = [Want(c, self.finish, last=i == len(r["expected"]["calls"]) - 1)
                      for i, c in enumerate(r["expected"]["calls"])]
        for c in self.calls:  # patches instead of arguments: such a call must not run
            if "willContinue" in self.bodies[0] and c.args is None and c.name in patched(self.bodies[0]):
                c.kind = "cut"

    def size(self):
        return sum(len((c.id or "") + c.name) + c.bytes for c in self.calls)


def patched(body):
    """Names of calls whose arguments come as partialArgs."""
    return set(re.findall(r'"functionCall" *: *{[^{}]*"name" *: *"(\w+)"[^{}]*"willContinue" *: *true', body))


def spread(v, pad="\r\n"):
    """JSON with a lot of white space."""
    if isinstance(v, dict) and v:
        return "{" + ",".join(pad + "\t" + dump(k) + " : " + spread(x, pad + "\t") for k, x in v.items()) + pad + "}"
    if isinstance(v, list) and v:
        return "[" + ",".join(pad + "\t" + spread(x, pad + "\t") for x in v) + pad + "]"
    return dump(v)


def escape_non_ascii(text):
    return "".join(c if ord(c) < 128 else json.dumps(c)[1:-1] for c in text)


class Want:
    """One expected call. kind: plain, none (no arguments given), cut (must be an error), custom (no JSON)."""
    def __init__(self, c, finish, last):
        self.id, self.name, a = c["id"], c["name"], c["arguments"]
        self.args = a
        self.text = a if isinstance(a, str) else None
        self.bytes = len((a if isinstance(a, str) else dump(a)).encode("utf-8"))
        self.value = parsed(a) if isinstance(a, str) else a
        if c.get("type") == "custom":
            self.kind = "custom"
        elif finish in CUT and last:
            self.kind = "cut"
        elif a is None or a == "" or self.value is None:
            self.kind = "none"
            self.value = OrderedDict()
        elif isinstance(self.value, dict):
            self.kind = "plain"
        else:
            self.kind = "cut"

    def differs(self, g):
        """Why an answered call is not this one, or None."""
        if not isinstance(g, dict):
            return "a call is no object"
        if g.get("name") != self.name:
            return "name %s, not %s" % (brief(g.get("name")), self.name)
        if (g.get("id") or "") != (self.id or ""):
            return "id %s, not %s" % (brief(g.get("id")), brief(self.id))
        a = g.get("arguments")
        if not isinstance(a, str) or isinstance(a, Num):
            return "arguments are no text"
        if self.kind == "cut":
            if not g.get("error"):
                return "cut call without error: " + brief(g)
            # what had come of it is shown as it came
            return None if self.text is None or a == self.text else "cut arguments %s, not %s" % (brief(a), brief(self.text))
        if self.kind == "custom":
            return None if a == self.text else "arguments %s, not %s" % (brief(a), brief(self.text))
        if g.get("error"):
            return "error in a good call: " + brief(g)
        if self.kind == "none":
            return None if a.strip() in ("", "null", "{}") else "arguments %s where none were given" % brief(a)
        return None if same(parsed(a), self.value) else "arguments %s, not %s" % (brief(a), brief(self.args))


def differ(want, r):
    """Why an answer is not what was expected, or None."""
    if isinstance(r, Died):
        return r.why
    calls = r.get("calls")
    if not isinstance(calls, list):
        return "no calls: " + brief(r)
    if len(calls) != len(want):
        return "%d calls, not %d: %s" % (len(calls), len(want), brief(r))
    for i, (w, g) in enumerate(zip(want, calls)):
        d = w.differs(g)
        if d:
            return "call %d: %s" % (i, d)
    if r.get("error") and not any(w.kind == "cut" for w in want):
        return "error: " + brief(r["error"])
    return None


def recordings(data):
    base = os.path.join(data, "recordings")
    out = []
    for d in sorted(os.listdir(base)):
        if d.startswith("_") or not os.path.isdir(os.path.join(base, d)):
            continue
        for f in sorted(os.listdir(os.path.join(base, d))):
            r = load_file(os.path.join(base, d, f))
            if r["api"] in APIS and r["status"] == Num("200"):
                out.append(Rec(d + "/" + f[:-5], r))
    return out


def group(recs):
    return "openai chat" if recs.api == "chat_completions" and recs.provider == "openai" else \
        "compatible" if recs.api == "chat_completions" else recs.how


def docs_of(rec):
    """The JSON documents of a body, framing stripped."""
    body = rec.bodies[0]
    if rec.transport in ("json", "json_array"):
        v = load(body, duplicates=True)
        yield from v if isinstance(v, list) else [v]
        return
    for line in body.replace("\r\n", "\n").split("\n"):
        if rec.transport == "sse":
            m = re.match(r" ?data: ?(.*)", line)
            if not m:
                continue
            line = m.group(1).strip()
        if line.strip() and line.strip() != "[DONE]":
            yield load(line, duplicates=True)


def text_of(rec):
    """The answer's text as a plain reader sees it; compared as information only."""
    out = []
    for d in docs_of(rec):
        if rec.api == "chat_completions":
            for c in d.get("choices") or ():
                m = c.get("delta") or c.get("message") or {}
                if int(c.get("index", Num("0"))) == 0 and isinstance(m.get("content"), str):
                    out.append(m["content"])
        elif rec.api == "ollama_chat":
            out.append((d.get("message") or {}).get("content") or "")
        elif rec.api == "openai_responses":
            if d.get("type") == "response.output_text.delta":
                out.append(d["delta"])
            out += [c["text"] for o in d.get("output") or () if o["type"] == "message" for c in o["content"] if "text" in c]
        elif rec.api == "gemini_generate_content":
            out += [q["text"] for c in d.get("candidates") or () for q in (c.get("content") or {}).get("parts") or ()
                    if "text" in q and not q.get("thought")]
        elif isinstance(d.get("content"), list):
            out += [b["text"] for b in d["content"] if b["type"] == "text"]
        elif d.get("type") == "message_start":
            out = []
        elif d.get("type") == "content_block_start" and d["content_block"]["type"] == "text":
            out.append(d["content_block"]["text"])
        elif d.get("type") == "content_block_delta" and d["delta"]["type"] == "text_delta":
            out.append(d["delta"]["text"])
    return "".join(out)


def usage_of(rec):
    a = b = None
    for d in docs_of(rec):
        if rec.api == "ollama_chat":
            a, b = d.get("prompt_eval_count", a), d.get("eval_count", b)
        elif rec.api == "gemini_generate_content":
            u = d.get("usageMetadata") or {}
            a, b = u.get("promptTokenCount", a), u.get("candidatesTokenCount", b)
        elif rec.api == "openai_responses":
            u = d.get("usage") or (d.get("response") or {}).get("usage") or {}
            a, b = u.get("input_tokens", a), u.get("output_tokens", b)
        else:
            u = (d.get("message") or {}).get("usage") if d.get("type") == "message_start" else d.get("usage")
            if isinstance(u, dict):
                a = u.get("prompt_tokens", u.get("input_tokens", a))
                b = u.get("completion_tokens", u.get("output_tokens", b))
    return (a or Num("0")), (b or Num("0"))


def text_in(content):
    """Content as a string or as blocks of text."""
    if isinstance(content, list):
        return "".join(b.get("text", "") for b in content if isinstance(b, dict))
    return content if isinstance(content, str) else None
