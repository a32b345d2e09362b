#!/usr/bin/env python3
"""Judge of build/probe: feeds the public cases of ../shared/data to the library and counts.

    python3 tests/conformance.py [--probe build/probe] [--data ../shared/data] [--failures DIR] [part ...]

Parts: json args schema tools read cut memory call write writeback errors; all of them when none is named. Every part prints
`part: N passed, N failed, N skipped`, its figures and its first failing cases; the last line sums up, and
the exit status is 1 when anything failed. Standard library only. Where the data is absent a part says
SKIPPED and counts as skipped, never as passed.

Values are compared as JSON values with exact numbers: 1.0 equals 1, 9007199254740993 stays itself.
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, OrderedDict
from decimal import Decimal

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


# ---------------------------------------------------------------- JSON with exact numbers

class Num(str):
    """A JSON number by its text, so that nothing is lost between a case and the probe."""
    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, Num) and Decimal(self) == Decimal(other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None


class Bad(ValueError):
    pass


def _pairs(pairs):
    d = OrderedDict(pairs)
    if len(d) != len(pairs):
        raise Bad("duplicate key")
    return d


def _constant(word):
    raise Bad("not JSON: " + word)


def load(text, duplicates=False):
    return json.loads(text, parse_int=Num, parse_float=Num, parse_constant=_constant,
                      object_pairs_hook=OrderedDict if duplicates else _pairs)


def load_file(path):
    with open(path, encoding="utf-8") as f:
        return load(f.read(), duplicates=True)


def dump(v):
    if isinstance(v, Num):
        return str(v)
    if isinstance(v, dict):
        return "{" + ",".join(dump(str(k)) + ":" + dump(x) for k, x in v.items()) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(map(dump, v)) + "]"
    if isinstance(v, str):
        s = json.dumps(v, ensure_ascii=False)
        try:
            s.encode("utf-8")
        except UnicodeEncodeError:
            s = json.dumps(v)
        return s
    return json.dumps(v)


def same(a, b):
    """Equal as JSON values. Key order does not matter, everything else does."""
    if isinstance(a, Num) or isinstance(b, Num):
        return isinstance(a, Num) and a == b
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(k in b and same(v, b[k]) for k, v in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, str) and isinstance(b, str) and str(a) == str(b)


def parsed(text):
    """The value of a JSON text, or Bad."""
    if not isinstance(text, str):
        return Bad
    try:
        return load(text)
    except (ValueError, RecursionError):
        return Bad


def brief(v, n=160):
    s = v if isinstance(v, str) and not isinstance(v, Num) else dump(v)
    s = s.replace("\n", "\\n")
    return s if len(s) <= n else s[:n] + " ... (%d)" % len(s)


# ---------------------------------------------------------------- the probe

class Probe:
    def __init__(self, path):
        self.path = path
        self.runs = 0

    def raw(self, args, text):
        self.runs += 1
        try:
            p = subprocess.run([self.path] + args, input=text.encode("utf-8"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=600)
            return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as e:
            return "timeout", e.stdout or b"", ""

    def ask(self, args, inputs, budget=None):
        """One answer for each input, in order. A value, or a Died that tells what happened instead."""
        budget = [60] if budget is None else budget
        if not inputs:
            return []
        budget[0] -= 1
        lines = [i if isinstance(i, str) and not isinstance(i, Num) else dump(i) for i in inputs]
        rc, out, err = self.raw(args, "".join(x + "\n" for x in lines))
        got = out.split(b"\n")
        tail = got.pop()
        if rc == 0 and len(got) == len(lines) and not tail:
            return [self.one(g) for g in got]
        why = "rc %s, %d lines for %d; %s" % (rc, len(got), len(lines), brief(err.strip()[-600:], 600))
        if len(lines) == 1 or budget[0] <= 0:
            return [Died(why)] * len(lines)
        # somewhere in here is a case that the probe does not survive: halve until it stands alone
        mid = len(inputs) // 2
        return self.ask(args, inputs[:mid], budget) + self.ask(args, inputs[mid:], budget)

    @staticmethod
    def one(line):
        try:
            return load(line.decode("utf-8"))
        except (ValueError, RecursionError) as e:
            return Died("answer is not JSON (%s): %s" % (e, line[:200]))


class Died:
    def __init__(self, why):
        self.why = why

    def get(self, key, default=None):
        return default

    def __contains__(self, key):
        return False


# ---------------------------------------------------------------- counting

class Part:
    def __init__(self, name):
        self.name = name
        self.passed = self.skipped = 0
        self.fails = []
        self.figures = []

    def check(self, ok, case, why=""):
        if ok:
            self.passed += 1
        else:
            self.fails.append("%s: %s" % (case, why))
        return ok

    def bar(self, ok, text):
        """A threshold of the issue's table."""
        self.figures.append(("ok   " if ok else "BELOW ") + text)
        if not ok:
            self.fails.append("threshold: " + text)

    def say(self, text):
        self.figures.append(text)

    def report(self, folder):
        print("%s: %d passed, %d failed, %d skipped" % (self.name, self.passed, len(self.fails), self.skipped))
        for f in self.figures:
            print("    " + f)
        for f in self.fails[:20]:
            print("  - " + brief(f, 400))
        if len(self.fails) > 20:
            print("  - ... and %d more" % (len(self.fails) - 20))
        if folder:
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, self.name + ".txt")
            if self.fails:
                with open(path, "w", encoding="utf-8", errors="backslashreplace") as f:
                    f.write("".join(x + "\n" for x in self.fails))
            elif os.path.exists(path):
                os.remove(path)
        sys.stdout.flush()


def pick(key, n):
    """A stable pseudo-random number below n."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % n


# ---------------------------------------------------------------- json

def part_json(p, probe, data):
    folder = os.path.join(data, "json-parsing")
    files = sorted(f for f in os.listdir(folder) if f.endswith(".json"))
    paths = [os.path.join(folder, f) for f in files]
    said = {}
    for i in range(0, len(paths), 100):
        rc, out, err = probe.raw(["json"] + paths[i:i + 100], "")
        for line in out.decode("utf-8", "surrogateescape").splitlines():
            word, _, path = line.partition(" ")
            said[path] = word
        if rc != 0:
            for path in paths[i:i + 100]:  # one that kills it must not hide the others
                if path not in said:
                    rc, out, err = probe.raw(["json", path], "")
                    said[path] = out.decode("utf-8", "replace").partition(" ")[0] or "died, rc %s %s" % (rc, err[-200:])
    right = Counter()
    total = Counter()
    for f, path in zip(files, paths):
        kind, word = f[0], said.get(path, "no answer")
        total[kind] += 1
        want = {"y": ("accept",), "n": ("reject",)}.get(kind, ("accept", "reject"))
        if p.check(word in want, f, word):
            right[kind] += 1
            right[kind + word] += 1
    p.bar(right["y"] == total["y"], "accepted %d/%d that are JSON" % (right["y"], total["y"]))
    p.bar(right["n"] == total["n"], "refused %d/%d that are not" % (right["n"], total["n"]))
    p.say("either is right: %d accepted, %d refused" % (right["iaccept"], right["ireject"]))


# ---------------------------------------------------------------- args

def check_error_form(p, case, text, r):
    """{"ok":false,"error":CODE,"at":OFFSET,"message":...} with an offset inside the text."""
    at = r.get("at")
    fine = (isinstance(r.get("error"), str) and isinstance(r.get("message"), str) and r["message"]
            and isinstance(at, Num) and at.isdigit() and int(at) <= len(text.encode("utf-8", "surrogatepass")))
    p.check(fine, case, "error without code, message or an offset inside the text: " + brief(r))


# property schema, value sent, value wanted or None for an error; `=` marks what must pass without a coercion
COERCE = """
integer  5.0  =5          | integer  "5"  5             | integer  "5.0"  5           | integer  "-7"  -7
number  "5"  5            | number  "5.25"  5.25        | number  "1e3"  1000         | number  "9007199254740993"  9007199254740993
integer  " 5 "  !         | integer  "05"  !            | integer  "+5"  !            | integer  "1e3"  !
integer  "0x10"  !        | integer  5.5  !             | integer  "5.5"  !           | integer  ""  !
integer  "5 apples"  !    | number  "NaN"  !            | number  "1/6"  !            | number  true  !
integer  false  !         | boolean  "true"  true       | boolean  "false"  false     | boolean  "True"  true
boolean  "False"  false   | boolean  1  !               | boolean  0  !               | boolean  "1"  !
boolean  "yes"  !         | boolean  "on"  !            | boolean  "TRUE"  !          | string  5  !
string  true  !           | string  "5"  ="5"           | string  "true"  ="true"     | null  ""  !
null  0  !                | array  5  !                 | array  "a, b"  !            | array  "[1,2]"  [1,2]
array  "[1,2"  !          | array  "{}"  !              | object  "{\\"a\\":1}"  {"a":1} | object  "[1]"  !
object  "5"  !            | integer  [5]  !             | string  ["a"]  !            | array  "[1,]"  !
"""
COERCE_IN = [  # schema of the property p, value sent, value wanted or None
    ('{"type":["integer","string"]}', '"5"', '="5"'), ('{"type":["array","string"]}', '"[1]"', '="[1]"'),
    ('{"type":["integer","null"]}', '"5"', '5'), ('{"type":["integer","null"]}', 'null', '=null'),
    ('{"type":"integer","maximum":4}', '"5"', None), ('{"type":"integer","minimum":5}', '"5"', '5'),
    ('{"type":"integer","enum":[5,6]}', '"5"', '5'), ('{"type":"integer","enum":[6]}', '"5"', None),
    ('{"enum":["Abc"]}', '"abc"', None), ('{"type":"string","enum":["NA"]}', '"na"', None),
    ('{"anyOf":[{"type":"integer"},{"type":"boolean"}]}', '"5"', '5'),
    ('{"anyOf":[{"type":"integer"},{"type":"boolean"}]}', '"true"', 'true'),
    ('{"anyOf":[{"type":"integer"},{"type":"string"}]}', '"5"', '="5"'),
    ('{"anyOf":[{"type":"integer"},{"type":"null"}]}', '"5"', '5'),
    ('{"type":"object","properties":{"n":{"type":"integer"}}}', '{"n":"5"}', '{"n":5}'),
    ('{"type":"array","items":{"type":"number"}}', '["1","2.5"]', '[1,2.5]'),
    ('{"type":"array","items":{"type":"string"},"minItems":2}', '"[\\"a\\"]"', None),
    ('{"$ref":"#/$defs/n"}', '"5"', '5')]


def coercions(p, probe):
    """The table of facts/schema.md E: what may be coerced, and what never."""
    cases = []
    for cell in COERCE.replace("\n", "|").split("|"):
        if cell.strip():
            kind, sent, want = re.split(r"  +", cell.strip())
            cases.append(('{"type":"%s"}' % kind, sent, None if want == "!" else want))
    cases += COERCE_IN
    lines, wants = [], []
    for schema, sent, want in cases:
        whole = '{"type":"object","properties":{"p":%s},"required":["p"],"$defs":{"n":{"type":"integer"}}}' % schema
        lines.append({"input": '{"p":%s}' % sent, "schema": load(whole)})
        plain = want is not None and want[:1] == "="
        wants.append(("%s %s" % (schema, sent), want and load('{"p":%s}' % want.lstrip("=")), plain))
    optional = load('{"type":"object","properties":{"p":{"type":"integer"},"q":{"type":"integer"}},"required":["q"]}')
    lines += [{"input": '{"p":null,"q":1}', "schema": optional}, {"input": '{"p":1,"q":null}', "schema": optional}]
    wants += [("null for an optional property", load('{"q":1}'), False), ("null for a required property", None, False)]
    good = 0
    for (case, want, plain), r in zip(wants, probe.ask(["args"], lines)):
        if want is None:
            ok = r.get("ok") is False
        else:
            ok = (r.get("ok") is True and same(r.get("value"), want) and r.get("fixes") == []
                  and isinstance(r.get("coercions"), list) and bool(r["coercions"]) == (not plain))
        good += p.check(ok, "coercion " + case, "wanted %s, got %s" % (
            "an error" if want is None else brief(want), r.why if isinstance(r, Died) else brief(r)))
    p.bar(good == len(wants), "coercions: %d/%d as facts/schema.md E" % (good, len(wants)))


def part_args(p, probe, data):
    with open(os.path.join(data, "arguments", "vectors.jsonl"), encoding="utf-8") as f:
        vectors = [load(line) for line in f if line.strip()]
    answers = probe.ask(["args"], [{"input": v["input"]} for v in vectors])
    strict = probe.ask(["args"], [{"input": v["input"], "mode": "strict"} for v in vectors])
    good, total, codes, names = Counter(), Counter(), Counter(), 0
    for v, r, s in zip(vectors, answers, strict):
        text, level = v["input"], v["args_level"]
        case = "%s %s %s %s" % (v["id"], v["class"], level, brief(v["input"], 120))
        if isinstance(r, Died) or isinstance(s, Died):
            total[v["class"]] += 1
            p.check(False, case, (r if isinstance(r, Died) else s).why)
            continue
        total[v["class"]] += 1
        if level == "object":
            want = load(v["expected"], duplicates=True)
            ok = p.check(r.get("ok") is True and "value" in r and same(r["value"], want), case,
                         "got %s, not %s" % (brief(r), brief(want)))
            if ok:  # a repair is never silent, and nothing is called repaired that was not
                fixes = r.get("fixes")
                p.check(isinstance(fixes, list) and bool(fixes) == (v["class"] == "safe"), case,
                        "fixes %s in a text of class %s" % (brief(fixes), v["class"]))
                p.check(r.get("coercions") == [], case, "coercions without a schema")
                if isinstance(fixes, list) and sorted(set(map(str, fixes))) == sorted(v["safe_repairs"]):
                    names += 1
        else:
            ok = p.check(r.get("ok") is False and "error:" + str(r.get("error")) == level, case, "got " + brief(r))
            if r.get("ok") is False:
                check_error_form(p, case, text, r)
            codes[(level, str(r.get("error")) if r.get("ok") is False else "accepted")] += not ok
        good[v["class"]] += ok
        if v["class"] == "valid" and level == "object":
            p.check(s.get("ok") is True and same(s.get("value"), want) and s.get("fixes") == [], case,
                    "strict: " + brief(s))
        else:
            p.check(s.get("ok") is False, case, "strict accepts: " + brief(s))
    for c in ("valid", "safe", "guess", "reject"):
        p.bar(good[c] == total[c], "%s: %d/%d as args_level says" % (c, good[c], total[c]))
    objects = sum(v["args_level"] == "object" for v in vectors)
    p.say("repairs named as in safe_repairs: %d/%d" % (names, objects))
    for (want, got), n in codes.most_common(12):
        if n:
            p.say("%d times %s where %s belongs" % (n, got, want))
    coercions(p, probe)
    for line in ("x", '{"input":"\\ud800"}'):
        r = probe.ask(["args"], [line])[0]
        p.check(r.get("ok") is False, "a line that is not JSON", brief(getattr(r, "why", r)))


# ---------------------------------------------------------------- schema

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


def bombs(p, probe):
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
    p.bar(spent < 10, "%d schema bombs within 10 s" % len(cases))


def part_schema(p, probe, data):
    bombs(p, probe)
    for draft, least in (("draft2020-12", 939), ("draft7", 820)):
        folder = os.path.join(data, "json-schema", "tests", draft)
        count, why, wrong_by, by_file, odd_paths = Counter(), Counter(), Counter(), {}, 0
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


# ---------------------------------------------------------------- a plain validator, to judge the tools by

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


class Oracle:
    """The keywords that real tools use, written for plainness. Returns the broken (place, keyword) pairs."""
    # constraints that this validator does not know; every other word is an annotation
    OTHER = set("""contains minContains maxContains prefixItems additionalItems dependencies dependentRequired dependentSchemas
        if unevaluatedItems unevaluatedProperties $dynamicRef $recursiveRef""".split())

    def __init__(self, root):
        self.root = root
        self.draft7 = isinstance(root, dict) and "draft-07" in str(root.get("$schema", ""))
        self.unknown = set()
        self.bad = []
        self.scan(root)

    def scan(self, s):
        """Keywords that this validator does not know; it then does not judge the tool."""
        if isinstance(s, bool) or not isinstance(s, dict):
            return
        for k, v in s.items():
            if k in ("properties", "patternProperties", "$defs", "definitions"):
                for x in v.values() if isinstance(v, dict) else ():
                    self.scan(x)
            elif k in ("anyOf", "oneOf", "allOf"):
                for x in v if isinstance(v, list) else ():
                    self.scan(x)
            elif k == "items" and isinstance(v, list):
                self.unknown.add("items:[]")
            elif k in ("items", "additionalProperties", "not", "propertyNames"):
                self.scan(v)
            elif k in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(v, bool):
                self.unknown.add("boolean " + k)
            elif k == "type":
                for t in v if isinstance(v, list) else [v]:
                    if t not in ("null", "integer", "number") and t not in TYPES:
                        self.unknown.add("type " + str(t))
            elif k == "pattern" and self.regex(v) is None:
                self.unknown.add("pattern")
            elif k == "$ref":
                if self.resolve(v) is None:
                    self.unknown.add("$ref")
            elif k in self.OTHER:
                self.unknown.add(k)

    def regex(self, text, cache={}):
        if text not in cache:
            try:
                cache[text] = re.compile(text.replace(r"\/", "/"), re.ASCII)
            except re.error:
                cache[text] = None
        return cache[text]

    def resolve(self, ref):
        if not isinstance(ref, str) or (ref != "#" and not ref.startswith("#/")):
            return None
        s = self.root
        for step in ref[2:].split("/") if ref != "#" else ():
            step = re.sub("%([0-9a-fA-F]{2})", lambda m: chr(int(m.group(1), 16)), step)
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(s, dict) and step in s:
                s = s[step]
            elif isinstance(s, list) and step.isdigit() and int(step) < len(s):
                s = s[int(step)]
            else:
                return None
        return s

    @staticmethod
    def is_type(v, t):
        if t == "null":
            return v is None
        if t == "number":
            return isinstance(v, Num)
        if t == "integer":
            return isinstance(v, Num) and Decimal(v) == Decimal(v).to_integral_value()
        if t == "string":
            return isinstance(v, str) and not isinstance(v, Num)
        return isinstance(v, TYPES[t])

    def check(self, value):
        out = []
        self.walk(self.root, value, "#", out, 0)
        return out

    def walk(self, s, v, at, out, depth):
        if s is True:
            return
        if s is False:
            out.append((at, "false"))
            return
        if depth > 60:
            raise RecursionError
        if "$ref" in s:
            self.walk(self.resolve(s["$ref"]), v, s["$ref"], out, depth + 1)
            if self.draft7:
                return

        def no(keyword):
            out.append((at, keyword))

        def sub(schema, value, where):
            self.walk(schema, value, at + "/" + where, out, depth + 1)

        def fits(schema, value):
            inner = []
            self.walk(schema, value, at, inner, depth + 1)
            return not inner

        if "type" in s and not any(self.is_type(v, t) for t in (s["type"] if isinstance(s["type"], list) else [s["type"]])):
            no("type")
        if "enum" in s and not any(same(v, x) for x in s["enum"]):
            no("enum")
        if "const" in s and not same(v, s["const"]):
            no("const")
        if isinstance(v, Num):
            n = Decimal(v)
            for k, ok in (("minimum", lambda b: n >= b), ("maximum", lambda b: n <= b), ("exclusiveMinimum", lambda b: n > b),
                          ("exclusiveMaximum", lambda b: n < b), ("multipleOf", lambda b: n % b == 0)):
                if k in s and not ok(Decimal(s[k])):
                    no(k)
        elif isinstance(v, str):
            if "minLength" in s and len(v) < Decimal(s["minLength"]):
                no("minLength")
            if "maxLength" in s and len(v) > Decimal(s["maxLength"]):
                no("maxLength")
            if "pattern" in s and not self.regex(s["pattern"]).search(v):
                no("pattern")
        elif isinstance(v, list):
            if "minItems" in s and len(v) < Decimal(s["minItems"]):
                no("minItems")
            if "maxItems" in s and len(v) > Decimal(s["maxItems"]):
                no("maxItems")
            if s.get("uniqueItems") is True and any(same(a, b) for i, a in enumerate(v) for b in v[:i]):
                no("uniqueItems")
            if "items" in s:
                for x in v:
                    sub(s["items"], x, "items")
        elif isinstance(v, dict):
            for k in s.get("required", ()):
                if k not in v:
                    out.append((at, "required " + k))
            if "minProperties" in s and len(v) < Decimal(s["minProperties"]):
                no("minProperties")
            if "maxProperties" in s and len(v) > Decimal(s["maxProperties"]):
                no("maxProperties")
            for k, x in v.items():
                mine = False
                if k in s.get("properties", ()):
                    mine = True
                    sub(s["properties"][k], x, "properties/" + k)
                for pat, inner in s.get("patternProperties", {}).items():
                    if self.regex(pat).search(k):
                        mine = True
                        sub(inner, x, "patternProperties")
                if not mine and "additionalProperties" in s:
                    sub(s["additionalProperties"], x, "additionalProperties")
                if "propertyNames" in s:
                    sub(s["propertyNames"], k, "propertyNames")
        if "allOf" in s:
            for i, x in enumerate(s["allOf"]):
                sub(x, v, "allOf/%d" % i)
        if "anyOf" in s and not any(fits(x, v) for x in s["anyOf"]):
            no("anyOf")
        if "oneOf" in s and sum(fits(x, v) for x in s["oneOf"]) != 1:
            no("oneOf")
        if "not" in s and fits(s["not"], v):
            no("not")

    # a value that fits, as full as can be
    WORDS = ["a", "abc", "", "ab-c", "A", "a1", "1", "12:30", "2024-01-02", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05",
             "a@b.co", "http://a.bc/d", "https://a.bc/d", "00000000-0000-4000-8000-000000000000", "#a1b2c3", "#abc", "1h", "7d",
             "1.2.3", "1.2.3.4", "a/b", "/a", "a.b", "a:b", "_a", "en", "en-US", "EUR", "+15551234567", "a" * 12, "a" * 24,
             "a" * 32, "0" * 10, "0" * 24, "a" * 40, "x" * 101]

    def sample(self, s, depth=0):
        if s is True or not isinstance(s, dict) or depth > 12:
            return "x"
        if "$ref" in s:
            t = self.resolve(s["$ref"])
            return self.sample(t, depth + 1)
        if "const" in s:
            return s["const"]
        if s.get("enum"):
            return s["enum"][0]
        for k in ("anyOf", "oneOf"):
            if s.get(k):
                if "properties" not in s:
                    return self.sample(s[k][0], depth + 1)
        if "type" not in s and s.get("allOf"):
            return self.sample(s["allOf"][0], depth + 1)
        t = s.get("type", "object" if "properties" in s else "string")
        t = t[0] if isinstance(t, list) else t
        if t == "object":
            o = OrderedDict()
            need = s.get("required", ())
            for k, x in s.get("properties", {}).items():
                if k in need or depth < 4:
                    o[k] = self.sample(x, depth + 1)
            for k in need:
                o.setdefault(k, "x")
            return o
        if t == "array":
            n = max(1 if depth < 8 else 0, int(Decimal(s.get("minItems", Num("0")))))
            return [self.sample(s.get("items", True), depth + 1) for _ in range(n)]
        if t in ("integer", "number"):
            lo = s.get("minimum", s.get("exclusiveMinimum"))
            hi = s.get("maximum", s.get("exclusiveMaximum"))
            for c in ("1", "0", "10", "100") + ((str(lo), str(Decimal(lo) + 1)) if lo else ()) + ((str(hi),) if hi else ()):
                out = []
                self.walk(s, Num(c), "#", out, 0)
                if not out:
                    return Num(c)
            return Num("1")
        if t == "boolean":
            return True
        if t == "null":
            return None
        for w in self.WORDS:
            out = []
            self.walk(s, w, "#", out, 0)
            if not out:
                return w
        return "x"


def spots(v, path=()):
    yield path
    if isinstance(v, dict):
        for k in v:
            yield from spots(v[k], path + (k,))
    elif isinstance(v, list):
        for i in range(min(len(v), 2)):
            yield from spots(v[i], path + (i,))


def put(v, path, new):
    """v with the value at path replaced (or taken out, when new is DROP)."""
    if not path:
        return new
    k = path[0]
    if isinstance(v, dict):
        o = OrderedDict(v)
        if len(path) == 1 and new is DROP:
            del o[k]
        else:
            o[k] = put(v[k], path[1:], new)
        return o
    a = list(v)
    if len(path) == 1 and new is DROP:
        del a[k]
    else:
        a[k] = put(v[k], path[1:], new)
    return a


DROP = object()


def trials(oracle, base, limit, tries=160):
    """Values that between them break as many constraints as can be broken, each with what the oracle says."""
    seen, out, left = set(), [], tries
    for path in list(spots(base))[:40]:
        here = base
        for k in path:
            here = here[k]
        new = []
        if isinstance(here, dict):
            new += [(path, put(here, (), OrderedDict(list(here.items()) + [("zz_undeclared", Num("1"))])))]
        if isinstance(here, list) and here:
            new += [(path, here * 2), (path, here * 60)]
        if path:
            new += [(path, DROP)]
        if isinstance(here, Num):
            new += [(path, Num(x)) for x in ("-1e300", "1e300", "1.5", "0")] + [(path, "7"), (path, None)]
        elif isinstance(here, str):
            new += [(path, x) for x in ("", "no such value", "w" * 70000, Num("5"), None)]
        else:
            new += [(path, x) for x in (None, "x", Num("1"), [], OrderedDict(), True)]
        for at, value in new:
            if left <= 0:
                return out
            left -= 1
            v = put(base, at, value)
            broken = oracle.check(v)
            fresh = set(broken) - seen
            if fresh or (not broken and ("ok", len(out)) not in seen and sum(not b for _, b in out) < 2):
                seen |= fresh
                out.append((v, broken))
                if len(out) >= limit:
                    return out
    return out


def all_tools(data):
    folder = os.path.join(data, "schemas")
    for f in sorted(os.listdir(folder)):
        if f.endswith(".json"):
            for i, t in enumerate(load_file(os.path.join(folder, f))):
                yield "%s#%d %s" % (f[:-5], i, t.get("name")), t


def part_tools(p, probe, data):
    tools = list(all_tools(data))
    answers = probe.ask(["schema"], [{"schema": t["parameters"], "data": {}} for _, t in tools])
    why, registered, ready = Counter(), 0, []
    for (name, t), r in zip(tools, answers):
        v = verdict(r)
        if v == "refused":
            why[reason(r["refused"])] += 1
            p.say("refused %s: %s" % (name, brief(r["refused"])))
        elif p.check(v in ("valid", "invalid"), name, r.why if v == "died" else brief(r)):
            registered += 1
            ready.append((name, t))
    p.bar(registered * 1000 >= len(tools) * 995, "registered %d of %d = %.2f %%"
          % (registered, len(tools), 100.0 * registered / max(1, len(tools))))
    # none of their constraints ignored: break each one in turn
    lines, wants, not_judged, sites = [], [], Counter(), 0
    for name, t in ready:
        schema = t["parameters"]
        o = Oracle(schema)
        if o.unknown:
            for u in o.unknown:
                not_judged[u] += 1
            p.skipped += 1
            continue
        try:
            text = dump(schema)
            big = len(text) > 20000
            base = o.sample(schema)
            cases = [(base, o.check(base)), (OrderedDict(), o.check(OrderedDict()))]
            cases += trials(o, base, 3 if big else 24, 30 if big else 160)
        except RecursionError:
            p.skipped += 1
            not_judged["too deep for the judge"] += 1
            continue
        sites += len({b for _, broken in cases for b in broken})
        for v, broken in cases:
            lines.append('{"schema":%s,"data":%s}' % (text, dump(v)))
            wants.append((name, v, broken))
    right, by = 0, Counter()
    for (name, v, broken), r in zip(wants, probe.ask(["schema"], lines)):
        want = "invalid" if broken else "valid"
        got = verdict(r)
        if p.check(got == want, name, "%s, not %s (%s) for %s" % (
                got, want, broken[:3], brief(v))):
            right += 1
        else:
            for _, k in broken[:1] or [("", "none broken")]:
                by[k.split(" ")[0]] += 1
    p.bar(right == len(wants), "constraints broken one by one: %d of %d verdicts right, %d places" % (right, len(wants), sites))
    for k, n in by.most_common(10):
        p.say("  wrong %d: %s" % (n, k))
    for k, n in not_judged.most_common():
        p.say("  not judged %d: %s" % (n, k))


# ---------------------------------------------------------------- recordings

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


# ---------------------------------------------------------------- call

def write_tools(tools):
    import tempfile
    f = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8")
    f.write("[" + ",\n".join(dump({"name": t["name"], "description": t.get("description") or t["name"],
                                   "parameters": t["parameters"]}) for t in tools) + "]")
    f.close()
    return f.name


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")


def usable_tools(probe, data):
    """Tools under distinct names that every provider allows, whose schema is not refused and that the oracle knows."""
    seen, out = set(), []
    for label, t in all_tools(data):
        if NAME.match(t["name"]) and t["name"] not in seen:
            seen.add(t["name"])
            out.append((label, t))
    answers = probe.ask(["schema"], [{"schema": t["parameters"], "data": {}} for _, t in out])
    return [x for x, r in zip(out, answers) if verdict(r) in ("valid", "invalid")]


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
            base = o.sample(t["parameters"])
            if not o.check(base):
                case("good", t["name"], dump(base), True, base)
                case("tolerated", t["name"], "```json\n" + dump(base) + "\n```", True, base)
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


# ---------------------------------------------------------------- write

TALK = [
    {"role": "system", "text": "You are \"terse\".\n\u00dcber \U0001f600 \\ / \u2028"},
    {"role": "user", "text": "Hello\tthere"},
    {"role": "assistant", "text": "Looking.", "calls": [
        {"id": "call_a1", "name": "NAME0", "arguments": "{\"x\": [1, 9007199254740993, \"\\u00e9\\n\"]}"},
        {"id": "call_b2", "name": "NAME1", "arguments": "{}"}]},
    {"role": "tool", "call_id": "call_a1", "name": "NAME0", "text": "{\"t\": 12.50}"},
    {"role": "tool", "call_id": "call_b2", "name": "NAME1", "text": "no such \"city\"", "is_error": True},
    {"role": "user", "text": "And now?"},
]


def text_in(content):
    """Content as a string or as blocks of text."""
    if isinstance(content, list):
        return "".join(b.get("text", "") for b in content if isinstance(b, dict))
    return content if isinstance(content, str) else None


def judge_responses(body, talk):
    out = []
    if body.get("instructions") != talk[0]["text"]:
        out.append("instructions: " + brief(body.get("instructions")))
    items = body.get("input") or []
    kinds = [i.get("type") or i.get("role") for i in items]
    if kinds != ["user", "assistant", "function_call", "function_call", "function_call_output", "function_call_output", "user"]:
        return out + ["input is %s" % kinds]
    for i, t in ((0, 1), (1, 2), (6, 5)):
        if text_in(items[i]["content"]) != talk[t]["text"]:
            out.append("text: " + brief(items[i]))
    for g, c in zip(items[2:4], talk[2]["calls"]):
        if (g["call_id"], g["name"]) != (c["id"], c["name"]) or not same(parsed(g["arguments"]), parsed(c["arguments"])):
            out.append("function_call: " + brief(g))
    for g, t in zip(items[4:6], talk[3:5]):
        if g["call_id"] != t["call_id"] or t["text"] not in g["output"] or (g["output"] != t["text"]) != bool(t.get("is_error")):
            out.append("function_call_output: " + brief(g))
    return out


def judge_gemini(body, talk):
    out = []
    if text_in((body.get("systemInstruction") or {}).get("parts")) != talk[0]["text"]:
        out.append("systemInstruction: " + brief(body.get("systemInstruction")))
    turns = body.get("contents") or []
    if [c.get("role") for c in turns] != ["user", "model", "user"]:
        return out + ["roles: %s" % [c.get("role") for c in turns]]
    parts = turns[1]["parts"]
    if text_in(turns[0]["parts"]) != talk[1]["text"] or parts[0] != {"text": talk[2]["text"]} or \
            turns[2]["parts"][2:] != [{"text": talk[5]["text"]}]:
        out.append("text: " + brief(turns))
    for g, c in zip(parts[1:], talk[2]["calls"]):
        f = g["functionCall"]
        if (f.get("id"), f["name"]) != (c["id"], c["name"]) or not same(f["args"], parsed(c["arguments"])):
            out.append("functionCall: " + brief(g))
    for g, t in zip(turns[2]["parts"], talk[3:5]):
        f = g["functionResponse"]
        if (f.get("id"), f["name"]) != (t["call_id"], t["name"]) or \
                not same(f["response"], {"error" if t.get("is_error") else "output": t["text"]}):
            out.append("functionResponse: " + brief(g))
    if len(parts) != 3:
        out.append("%d parts" % len(parts))
    return out


def sent_tools(how, body):
    """(name, description, schema) of each tool of a request, and faults."""
    tools = body.get("tools", [])
    if how == "gemini":
        tools = [f for t in tools for f in t["functionDeclarations"]]
    out, faults = [], []
    for s in tools:
        f = s.get("function", {}) if how in ("openai", "ollama") else s
        if how in ("openai", "ollama", "responses") and s.get("type") != "function":
            faults.append("tool type is " + brief(s.get("type")))
        if how == "responses" and f.get("strict") is not False:
            faults.append("strict is " + brief(f.get("strict")))
        out.append((f.get("name"), f.get("description") or "",
                    f.get({"anthropic": "input_schema", "gemini": "parametersJsonSchema"}.get(how, "parameters"))))
    return out, faults


def judge_body(how, body, tools, talk, options, n):
    """Faults of a request body."""
    if not isinstance(body, dict):
        return ["no object"]
    out = []
    if how != "gemini" and body.get("model") != options["model"]:
        out.append("model is " + brief(body.get("model")))
    if how in ("anthropic",) and not isinstance(body.get("max_tokens"), Num):
        out.append("max_tokens is missing")
    want_stream = options.get("stream", False)
    if how != "gemini" and (body.get("stream", how == "ollama")) is not want_stream:
        out.append("stream is " + brief(body.get("stream")))
    sent, faults = sent_tools(how, body)
    out += faults
    if len(sent) != len(tools):
        return out + ["tools: %d, not %d" % (len(sent), len(tools))]
    for t, (name, description, schema) in zip(tools, sent):
        if name != t["name"]:
            out.append("name %s, not %s" % (brief(name), t["name"]))
        if description != (t.get("description") or ""):
            out.append("description of %s" % t["name"])
        if how == "ollama":
            if not isinstance(schema, dict):
                out.append("parameters of %s: %s" % (t["name"], brief(schema)))
        elif not same(schema, t["parameters"]):
            out.append("schema of %s changed: %s" % (t["name"], brief(schema)))
    if how in ("responses", "gemini"):
        return out + ((judge_responses if how == "responses" else judge_gemini)(body, talk) if n else [])
    msgs = body.get("messages")
    if not isinstance(msgs, list):
        return out + ["no messages"]
    if n == 0:
        return out
    calls = talk[2]["calls"]
    if how == "anthropic":
        if text_in(body.get("system")) != talk[0]["text"]:
            out.append("system: " + brief(body.get("system")))
        roles = [m.get("role") for m in msgs]
        if any(a == b for a, b in zip(roles, roles[1:])):
            out.append("roles do not take turns: %s" % roles)
        uses = [b for m in msgs if m["role"] == "assistant" and isinstance(m["content"], list)
                for b in m["content"] if b.get("type") == "tool_use"]
        if [(b.get("id"), b.get("name")) for b in uses] != [(c["id"], c["name"]) for c in calls] or \
                not all(same(b.get("input"), parsed(c["arguments"])) for b, c in zip(uses, calls)):
            out.append("tool_use: " + brief(uses))
        where = [i for i, m in enumerate(msgs) if isinstance(m["content"], list)
                 and any(b.get("type") == "tool_result" for b in m["content"])]
        if len(where) != 1 or msgs[where[0]]["role"] != "user" or msgs[where[0] - 1]["role"] != "assistant":
            return out + ["tool_result not in one user message after the calls"]
        blocks = msgs[where[0]]["content"]
        results = [b for b in blocks if b.get("type") == "tool_result"]
        if blocks[:len(results)] != results:
            out.append("something stands before the tool_results")
        if [(b.get("tool_use_id"), text_in(b.get("content")), bool(b.get("is_error"))) for b in results] != \
                [(m["call_id"], m["text"], bool(m.get("is_error"))) for m in talk[3:5]]:
            out.append("tool_result: " + brief(results))
        users = "".join(text_in(m["content"]) or "" for m in msgs if m["role"] == "user")
        if users != talk[1]["text"] + talk[5]["text"]:
            out.append("user text: " + brief(users))
        return out
    if [m.get("role") for m in msgs] != [m["role"] for m in talk]:
        return out + ["roles %s" % [m.get("role") for m in msgs]]
    for m, t in zip(msgs, talk):
        got = text_in(m.get("content")) or ""
        if got != t["text"] and not (t.get("is_error") and t["text"] in got):
            out.append("text of %s: %s" % (t["role"], brief(got)))
    got = msgs[2].get("tool_calls") or []
    for g, c in zip(got, calls):
        f = g.get("function", {})
        a = f.get("arguments")
        if how == "openai" and (g.get("id") != c["id"] or g.get("type") != "function" or isinstance(a, dict)):
            out.append("tool_call: " + brief(g))
        value = a if isinstance(a, dict) else parsed(a)
        if how == "ollama" and not isinstance(a, dict):
            out.append("arguments are no object")
        if f.get("name") != c["name"] or not same(value, parsed(c["arguments"])):
            out.append("tool_call: " + brief(g))
    if len(got) != len(calls):
        out.append("%d tool_calls" % len(got))
    for m, t in zip(msgs[3:5], talk[3:5]):
        if how == "openai" and m.get("tool_call_id") != t["call_id"]:
            out.append("tool_call_id " + brief(m.get("tool_call_id")))
        if how == "ollama" and m.get("tool_name", m.get("name")) != t["name"]:
            out.append("tool_name " + brief(m))
    return out


def part_write(p, probe, data):
    tools = [t for _, t in usable_tools(probe, data)]
    packs = [tools[i:i + 20] for i in range(0, len(tools), 20)]
    for how in HOWS:
        lines, talks = [], []
        for n, pack in enumerate(packs):
            # the vendor insists on a literal "type":"object" at the root; a view may add it, so it is not compared here
            pack = [t for t in pack if t["parameters"].get("type") == "object"]
            talk = json.loads(json.dumps(TALK).replace("NAME0", pack[0]["name"]).replace("NAME1", pack[1]["name"]))
            options = {"model": "some-model", "stream": n % 2 == 1}
            lines.append({"tools": [{"name": t["name"], "description": t.get("description") or "", "parameters": t["parameters"]}
                                    for t in pack], "messages": talk if n % 3 else talk[1:2], "options": options})
            talks.append((pack, talk, options, n % 3))
        good = 0
        for (pack, talk, options, n), r in zip(talks, probe.ask(["write", how], lines)):
            faults = [r.why] if isinstance(r, Died) else judge_body(how, r, pack, talk, options, n)
            good += p.check(not faults, "%s with %s ..." % (how, pack[0]["name"]), "; ".join(faults[:4]))
        p.bar(good == len(packs), "%s: %d/%d bodies right, %d tools%s" % (
            how, good, len(packs), sum(len(x[0]) for x in talks), "" if how == "ollama" else ", schemas unchanged"))


# ---------------------------------------------------------------- writeback

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


def part_writeback(p, probe, data):
    base = os.path.join(data, "recordings", "_followups")
    todo, left = {}, Counter()
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
            todo.setdefault(how, []).append((d + "/" + f[:-5], api, turns, {"messages": messages, "options": {"model": "m"}}))
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


FAULTS = {401: "auth", 403: "auth", 404: "not-found", 429: "rate", 400: "request", 500: "provider"}


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
            a = probe.ask(["read", APIS[r["api"]]], [{"body": body, "status": r["status"]}])[0]
            said = a.get("error") or ""
            n += 1
            kinds[want] += 1
            ok = said.split(":")[0] == want and said[len(want) + 2:] == words.encode()[:159].decode("utf-8", "ignore")
            if int(r["status"]) == 429 and "retryDelay" in body:
                ok = ok and isinstance(a.get("wait_ms"), Num)
            good += p.check(ok, d + "/" + f[:-5], "%s, not %s: %s" % (brief(said), want, brief(words)))
    p.bar(good == n, "%d/%d error bodies give message and class: %s" % (good, n, dict(kinds)))


def differ_turns(how, want, got):
    """Why a rebuilt request does not say what was sent, or None. Results may move to their calls, turns of one role may join."""
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


# ---------------------------------------------------------------- main

PARTS = OrderedDict([
    ("json", (part_json, "json-parsing")), ("args", (part_args, "arguments")), ("schema", (part_schema, "json-schema")),
    ("tools", (part_tools, "schemas")), ("read", (part_read, "recordings")), ("cut", (part_cut, "recordings")),
    ("memory", (part_memory, "recordings")), ("call", (part_call, "schemas")), ("write", (part_write, "schemas")),
    ("writeback", (part_writeback, "recordings")), ("errors", (part_errors, "recordings"))])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--probe", default=os.path.join(ROOT, "build", "probe"))
    ap.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    ap.add_argument("--failures", metavar="DIR", help="write every failing case to DIR/PART.txt")
    ap.add_argument("part", nargs="*", help=", ".join(PARTS))
    a = ap.parse_args()
    for name in a.part:
        if name not in PARTS:
            ap.error("no part called %s; there are %s" % (name, ", ".join(PARTS)))
    sys.setrecursionlimit(20000)
    probe = Probe(os.path.abspath(a.probe))
    passed = failed = skipped = 0
    if not os.access(probe.path, os.X_OK):
        print("no probe at %s; build it first" % probe.path)
        return 2
    for name in a.part or PARTS:
        run, folder = PARTS[name]
        p = Part(name)
        if not os.path.isdir(os.path.join(a.data, folder)):
            p.skipped = 1
            p.say("SKIPPED! there is no %s; nothing of this was checked" % os.path.join(a.data, folder))
        else:
            start = time.time()
            run(p, probe, a.data)
            p.say("%.1f s" % (time.time() - start))
        p.report(a.failures)
        passed, failed, skipped = passed + p.passed, failed + len(p.fails), skipped + p.skipped
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
