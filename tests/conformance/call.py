"""call: tools called with arguments that fit, and that do not."""
import os
import re
import tempfile
from collections import Counter

from .common import Bad, Died, Num, brief, dump, parsed, pick, same
from .oracle import Oracle
from .tools import trials, usable_tools


def write_tools(tools):
    f = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8")
    f.write("[" + ",\n".join(dump({"name": t["name"], "description": t.get("description") or t["name"],
                                   "parameters": t["parameters"]}) for t in tools) + "]")
    f.close()
    return f.name


def succeeded(r):
    """The result object says "success" (or "ok"); None when it does not say."""
    if isinstance(r, Died) or not isinstance(r, dict):
        return None
    said = r.get("success", r.get("ok"))
    return said if isinstance(said, bool) else None


def holds(r, value):
    """Is the value in the result, as JSON or as JSON text?"""
    if same(r, value):
        return True
    if isinstance(r, dict):
        return any(holds(x, value) for x in r.values())
    if isinstance(r, list):
        return any(holds(x, value) for x in r)
    if isinstance(r, str) and not isinstance(r, Num):
        v = parsed(r)
        return v is not Bad and not isinstance(v, str) and same(v, value)
    return False


def part_call(p, probe, data):
    tools = [(label, t) for label, t in usable_tools(probe, data)
             if isinstance(t["parameters"], dict) and len(dump(t["parameters"])) < 20000]
    tools = sorted(tools, key=lambda x: pick(x[0], 1 << 60))[:400]
    kinds, good = Counter(), Counter()
    for lo in range(0, len(tools), 50):
        some = tools[lo:lo + 50]
        lines, wants = [], []

        def case(kind, name, text, ok, value=None):
            lines.append({"name": name, "arguments": text})
            wants.append((kind, name, text, ok, value))

        for label, t in some:
            o = Oracle(t["parameters"])
            if o.unknown:
                continue
            base = o.sample()
            if not o.check(base):
                case("good", t["name"], dump(base), True, parsed(dump(base)))
                case("tolerated", t["name"], "```json\n" + dump(base) + "\n```", True, parsed(dump(base)))
                case("cut", t["name"], dump(base)[:-1], False)
            for v, broken in trials(o, base, 6, 60):
                if broken and isinstance(v, dict) and all(k.split(" ")[0] in ("required", "enum", "const", "minimum", "maximum",
                                                         "pattern", "minLength", "maxLength", "minItems", "maxItems") for _, k in broken):
                    case("wrong", t["name"], dump(v), False)
            case("no JSON", t["name"], "{\"a\": data[0]}", False)
        case("unknown tool", "no_such_tool_at_all", "{}", False)
        path = write_tools([t for _, t in some])
        try:
            answers = probe.ask(["call", path], lines)
        finally:
            os.unlink(path)
        for (kind, name, text, ok, value), r in zip(wants, answers):
            kinds[kind] += 1
            got = succeeded(r)
            why = r.why if isinstance(r, Died) else brief(r, 300)
            fine = got is ok and (not ok or holds(r, value))
            if not ok and fine and kind != "unknown tool":  # the model must be told something
                fine = bool(re.search(r'"(error|errors|message|content|text)"', dump(r)))
            good[kind] += p.check(fine, "%s %s %s" % (kind, name, brief(text)), why)
    for k in kinds:
        p.bar(good[k] == kinds[k], "%s: %d/%d" % (k, good[k], kinds[k]))
