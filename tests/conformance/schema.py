"""schema: the official suites of JSON Schema, and schemas made to explode."""
import os
import re
import time
from collections import Counter, OrderedDict

from .common import Died, TIMED, brief, load_file


def verdict(r):
    if isinstance(r, Died):
        return "died"
    if isinstance(r.get("refused"), str) and r["refused"]:
        return "refused"
    if r.get("valid") is True:
        return "valid"
    if r.get("valid") is False:
        return "invalid"
    return "unreadable"


def reason(text):
    """A refusal with its particulars taken out, for grouping."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'…'", text)
    text = re.sub(r"(at|in|of|to) [#/]\S*", r"\1 …", text)
    return re.sub(r"[#/][\w$/~%.-]{3,}", "…", re.sub(r"\d+", "N", text))[:100]


def points(doc, pointer):
    """Does a JSON Pointer lead to something, or to a missing member of an object that is there?"""
    if pointer == "":
        return True
    if not isinstance(pointer, str) or pointer[0] != "/":
        return False
    steps = pointer[1:].split("/")
    for i, s in enumerate(steps):
        s = s.replace("~1", "/").replace("~0", "~")
        if isinstance(doc, dict):
            if s not in doc:
                return i == len(steps) - 1
            doc = doc[s]
        elif isinstance(doc, list) and s.isdigit() and int(s) < len(doc):
            doc = doc[int(s)]
        else:
            return False
    return True


def run_suite(probe, folder, draft):
    cases = []
    for f in sorted(os.listdir(folder)):
        if f.endswith(".json"):
            for c in load_file(os.path.join(folder, f)):
                for t in c["tests"]:
                    cases.append((f[:-5], c["description"], c["schema"], t))
    lines = [{"schema": s, "data": t["data"], "draft": draft} for _, _, s, t in cases]
    return list(zip(cases, probe.ask(["schema"], lines)))


def part_bombs(p, probe, _):
    """Schemas and values that cost far more than they weigh: an answer, soon."""
    n = 30000
    names = ["v%d" % i for i in range(n)]
    twice = OrderedDict(("d%d" % i, {"allOf": [{"$ref": "#/$defs/d%d" % (i + 1)}] * 2}) for i in range(40))
    twice["d40"] = {}
    nulls = OrderedDict((k, None) for k in reversed(names))
    cases = [({"properties": OrderedDict((k, {}) for k in names), "additionalProperties": False}, nulls),
             ({"prefixItems": [{}] * n, "items": False}, [None] * n),
             ({"$defs": twice, "$ref": "#/$defs/d0"}, None),
             ({"pattern": "^(a{30}|(a?){30})*b$"}, "a" * n),
             ({"required": names}, nulls), ({"uniqueItems": True}, [[k] for k in names]),
             ({"properties": OrderedDict((k, {}) for k in names), "required": [k + "x" for k in names]}, {}),
             ({"enum": [[k] for k in names]}, ["w"])]
    begun = time.time()
    for i, r in enumerate(probe.ask(["schema"], [{"schema": s, "data": v} for s, v in cases])):
        p.check(verdict(r) in ("valid", "invalid", "refused"), "bomb %d" % i, brief(getattr(r, "why", r)))
    spent = time.time() - begun
    text = "%d schema bombs in %.1f s, 10 are allowed" % (len(cases), spent)
    p.bar(spent < 10, text) if TIMED else p.say(text)


def part_schema(p, probe, data):
    for draft, least in (("draft2020-12", 939), ("draft7", 820)):
        folder = os.path.join(data, "json-schema", "tests", draft)
        count, why, wrong_by, odd_paths = Counter(), Counter(), Counter(), 0
        groups = OrderedDict()
        for (f, title, schema, t), r in run_suite(probe, folder, draft):
            v = verdict(r)
            want = "valid" if t["valid"] else "invalid"
            case = "%s %s | %s | %s" % (draft, f, title, t["description"])
            groups.setdefault((f, title), set()).add(v == "refused")
            if v == "refused":
                count["refused"] += 1
                why[reason(r["refused"])] += 1
                p.passed += 1
            else:
                ok = p.check(v == want, case, "%s, not %s: %s" % (v, want, r.why if v == "died" else brief(r)))
                count["right" if ok else "wrong"] += 1
                wrong_by[f] += not ok
            if v == "invalid":
                errors = r.get("errors")
                form = (isinstance(errors, list) and errors and all(
                    isinstance(e, dict) and all(isinstance(e.get(k), str) for k in ("path", "keyword", "message"))
                    for e in errors))
                if p.check(form, case, "errors lack path, keyword or message: " + brief(r)):
                    odd_paths += not all(points(t["data"], e["path"]) for e in errors)
        for (f, title), s in groups.items():
            p.check(len(s) == 1, "%s %s | %s" % (draft, f, title), "one schema, refused for some data only")
        total = count["right"] + count["refused"] + count["wrong"]
        need = least if total in (1299, 927) else least * total // (1299 if draft == "draft2020-12" else 927)
        p.bar(count["wrong"] == 0, "%s: %d wrong verdicts" % (draft, count["wrong"]))
        p.bar(count["right"] >= need, "%s: right %d of %d (at least %d), refused %d"
              % (draft, count["right"], total, need, count["refused"]))
        for k, n in why.most_common(15):
            p.say("  refused %4d: %s" % (n, k))
        for k, n in wrong_by.most_common(15):
            if n:
                p.say("  wrong %4d: %s" % (n, k))
        if odd_paths:
            p.say("  paths that lead nowhere: %d" % odd_paths)
        optional = os.path.join(folder, "optional")
        if os.path.isdir(optional):  # information: not in the table
            o, bad = Counter(), Counter()
            for (f, title, schema, t), r in run_suite(probe, optional, draft):
                v = verdict(r)
                k = "refused" if v == "refused" else "right" if v == ("valid" if t["valid"] else "invalid") else "wrong"
                o[k] += 1
                bad[f] += k == "wrong"
            p.say("%s/optional (information): right %d, refused %d, wrong %d %s" % (
                draft, o["right"], o["refused"], o["wrong"], dict((k, n) for k, n in bad.items() if n)))
