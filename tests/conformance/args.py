"""args: arguments as models write them, strict, tolerant, and coerced."""
import os
import re
from collections import Counter

from .common import Died, Num, brief, load, same


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


# Labelled bad-value, though they are the beginnings of numbers in an object or
# array: what is cut is called truncated, wherever it is cut.
CUT = {'{"a":2e-': "error:truncated", "[2e ": "error:truncated"}


def part_args(p, probe, data):
    with open(os.path.join(data, "arguments", "vectors.jsonl"), encoding="utf-8") as f:
        vectors = [load(line) for line in f if line.strip()]
    answers = probe.ask(["args"], [{"input": v["input"]} for v in vectors])
    strict = probe.ask(["args"], [{"input": v["input"], "mode": "strict"} for v in vectors])
    good, total, codes, names = Counter(), Counter(), Counter(), 0
    for v, r, s in zip(vectors, answers, strict):
        text, level = v["input"], CUT.get(v["input"], v["args_level"])
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
