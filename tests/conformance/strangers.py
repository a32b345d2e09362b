"""strangers: answers with calls that no other set has, as they came, with the members of each object in another order, and with members
that no format knows; each whole, by 1 and by 7 bytes. What an independent reader read in them is the label: calls, text, finish."""
import lzma
import os
import random
import re
from collections import OrderedDict

from .common import brief, dump, load, pick
from .recordings import Want, differ

# Members that get values where the format does not define them: names that it defines elsewhere.
NAMES = ("text", "name", "arguments", "delta", "message", "content", "output", "id", "input", "args", "index", "function", "tool_calls",
         "parts", "functionCall", "item", "steps", "step", "choices", "candidates", "partial_json")
# A value of every type, and what would be taken for a call or for text.
LEAK = OrderedDict((n, "LEAK") for n in ("type", "text", "name", "arguments", "content", "id"))
CALL = OrderedDict(id="LEAK", type="function", index=load("0"), function=OrderedDict(name="LEAK", arguments='{"LEAK":1}'))
VALUES = (None, True, False, load("7"), load("-1.5e300"), "", "LEAK", '{"LEAK":1}', "\n\u00fc\U0001f600\"\\", [], OrderedDict(),
          [LEAK], LEAK, [CALL], OrderedDict(delta=LEAK, message=LEAK), [[["LEAK"]]], OrderedDict(content=[LEAK], tool_calls=[CALL]))
# Which of them a format defines, by the last name of a path; those stay away from there.
DEFINED = {
    "openai": {"top": "id choices", "choices[]": "index delta message", "delta message": "content tool_calls",
               "tool_calls[]": "id index function", "function": "name arguments", "content[]": "text"},
    "anthropic": {"top": "id content delta index message", "delta": "text partial_json content", "message": "id content",
                  "content_block content[]": "id name input text content"},
    "gemini": {"top": "candidates", "candidates[]": "content index", "content": "parts", "parts[]": "text functionCall",
               "functionCall": "id name args"},
    "responses": {"top response": "id delta item text name arguments input message output content", "part": "text",
                  "item output[]": "id name arguments content output input", "content[] summary[]": "text"},
    "interactions": {"top interaction": "id delta step index content steps input", "delta": "id name arguments text content index",
                     "step steps[]": "id name arguments text content output input", "content[]": "text"},
    "ollama": {"top": "message", "message": "content tool_calls", "tool_calls[]": "id function", "function": "name arguments index"}}
WAYS = (("whole", []), ("by 1", ["--split", "1"]), ("by 7", ["--split", "7"]))


def defined(fmt, path):
    last = path.rsplit(".", 1)[-1] or "top"
    return [name for paths, names in DEFINED[fmt].items() if last in paths.split() for name in names.split()]


def as_it_came(fmt, path, items, r):
    return items


def shuffled(fmt, path, items, r):
    return r.sample(items, len(items))


def unknown(fmt, path, items, r):
    there = [k for k, _ in items] + defined(fmt, path)
    for name in r.sample(NAMES, len(NAMES)):
        if name not in there:
            items.insert(r.randint(0, len(items)), (name, r.choice(VALUES)))
    return items


def beside(fmt, path, items, r):
    """All of that, and beside `delta` the whole message, which is then no piece (Perplexity sends both, in either order)."""
    if fmt == "openai" and path == "choices[]" and any(k == "delta" for k, _ in items):
        items = items + [("message", OrderedDict(role="assistant", content="LEAK", tool_calls=[CALL]))]
    return shuffled(fmt, path, unknown(fmt, path, items, r), r)


def changed(fmt, value, how, r, path=""):
    """The value with the members of its objects so; arguments of a call stay."""
    if isinstance(value, dict):
        dot = path + "." if path else ""
        items = [(k, v if k in ("args", "arguments", "input") else changed(fmt, v, how, r, dot + k)) for k, v in value.items()]
        return OrderedDict(how(fmt, path, items, r))
    if isinstance(value, list):
        return [changed(fmt, v, how, r, path and path + "[]") for v in value]
    return value


def spelt(fmt, body, how, r):
    """The body with each of its JSON documents changed: one, one a line, or one an event."""
    try:
        return dump(changed(fmt, load(body, duplicates=True), how, r))
    except ValueError:
        pass

    def line(m):
        try:
            return m[1] + dump(changed(fmt, load(m[2], duplicates=True), how, r))
        except ValueError:  # [DONE]
            return m[0]
    return re.sub(r"^(data: ?|)(\S.*)$", line, body, flags=re.M) if how is not as_it_came else body


class Answer:
    def __init__(self, d):
        want = d["want"]
        self.name, self.fmt, self.body, self.stream = d["src"], d["fmt"], d["body"], d["stream"]
        self.text, self.finish = want["text"], want["finish"]
        last = len(want["calls"]) - 1
        self.calls = [Want(c, self.finish, i == last) for i, c in enumerate(want["calls"])]

    def differs(self, a):
        return differ(self.calls, a) or \
            (a.get("text") != self.text and "text %s, not %s" % (brief(a.get("text")), brief(self.text))) or \
            (a.get("stop") != self.finish and "finish %s, not %s" % (brief(a.get("stop")), self.finish)) or None


def part_strangers(p, probe, data):
    with lzma.open(os.path.join(data, "recordings2", "calls.jsonl.xz"), "rt", encoding="utf-8") as f:
        answers = [Answer(load(line, duplicates=True)) for line in f]
    formats = sorted({a.fmt for a in answers})
    for how in (as_it_came, shuffled, unknown, beside):
        good = 0
        for fmt in formats:
            todo = [a for a in answers if a.fmt == fmt]
            lines = [{"stream": a.stream, "body": spelt(fmt, a.body, how, random.Random(pick(a.name + how.__name__, 1 << 32)))} for a in todo]
            for label, extra in WAYS:
                for a, got in zip(todo, probe.ask(["read", fmt] + extra, lines)):
                    d = a.differs(got)
                    good += p.check(d is None, "%s %s %s %s" % (fmt, a.name, how.__name__, label), d)
        p.bar(good == len(answers) * len(WAYS), "%s: %d/%d readings of %d answers" % (
            how.__name__.replace("_", " "), good, len(answers) * len(WAYS), len(answers)))
