#!/usr/bin/env python3
"""tests/suggestions.py [SCHEMAS [SHAPES]]: an example that a refused call is
sent is one that is accepted.

Makes SCHEMAS (1,000) random definitions of tools and SHAPES (60) random shapes,
calls each with arguments that are refused, and sends the example of the answer
back: the library must accept it, and so must python3-jsonschema, where that is.
The same for the real definitions of ../shared/data/schemas, where those are.
No example at all is right only where none is easily found; of the random ones
without a pattern nearly all must have one.
"""
import glob
import json
import os
import pathlib
import random
import subprocess
import sys

import shapes_agree
from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("BUILD", "build")
OUT = BUILD / "suggestions"
DATA = ROOT.parent / "shared" / "data" / "schemas"
SCHEMAS, SHAPES = ([int(a) for a in sys.argv[1:]] + [1000, 60][len(sys.argv) - 1:])[:2]
dice = random.Random(int(os.environ.get("SEED", "20261123")))
check = Checks("suggestions")
try:
    import jsonschema
except ImportError:
    jsonschema = None

# ---- random definitions ----

NAMES = ["city", "days", "größe", "a b", "x", "items", "mode", "limit", "path", "to", "type"]


def number(integer):
    schema = {"type": "integer" if integer else "number"}
    low = dice.choice([0, 1, -5, 7, 100, -100] + ([] if integer else [0.5, -2.5, 0.25]))
    for key, value in (("minimum", low), ("maximum", low + dice.choice([0, 3, 1000]))):
        kind = dice.random()
        if kind < 0.35:
            schema[key] = value
        elif kind < 0.5:
            schema["exclusive" + key.title()] = value + (3 if key == "maximum" else 0)
    if dice.random() < 0.2 and len(schema) < 3:
        schema["multipleOf"] = dice.choice([2, 5, 7])
    return schema


def text():
    schema = {"type": "string"}
    if dice.random() < 0.4:
        schema["minLength"] = dice.choice([0, 1, 3, 12])
    if dice.random() < 0.3:
        schema["maxLength"] = schema.get("minLength", 0) + dice.choice([0, 1, 30])
    if dice.random() < 0.1:
        schema["pattern"] = dice.choice(["^[A-Z]{3}$", "^[a-z]*$", "\\d"])
    return schema


def value(depth):
    kinds = ["number", "integer", "text", "boolean", "enum", "const", "null"]
    kind = dice.choice(kinds + ["array", "object", "any"] * (depth < 4))
    if kind in ("number", "integer"):
        return number(kind == "integer")
    if kind == "text":
        return text()
    if kind in ("boolean", "null"):
        return {"type": kind}
    if kind == "enum":
        return {"enum": dice.sample(["fast", "ä", 3, None, "a\"b", {"a": [1, 2]}, [], "x\ny"],
                                    dice.randint(1, 4))}
    if kind == "const":
        return {"const": dice.choice(["only", 7, {"k": "v"}, [1]])}
    if kind == "array":
        schema = {"type": "array", "items": value(depth + 1)}
        if dice.random() < 0.6:
            schema["minItems"] = dice.randint(0, 3)
        if dice.random() < 0.3:
            schema["maxItems"] = schema.get("minItems", 0) + dice.randint(0, 2)
        if dice.random() < 0.1:
            schema["uniqueItems"] = True
        return schema
    if kind == "any":
        return {dice.choice(["anyOf", "oneOf"]): [value(depth + 1), {"type": "null"}]}
    return object_(depth)


def object_(depth=0):
    names = dice.sample(NAMES, dice.randint(1, 4))
    schema = {"type": "object", "properties": {n: value(depth + 1) for n in names},
              "required": [n for n in names if dice.random() < 0.7]}
    if dice.random() < 0.5:
        schema["additionalProperties"] = False
    for n, v in schema["properties"].items():
        if v.get("type") == "integer" and dice.random() < 0.1:
            v["default"] = dice.choice([0, 1, 8])
    return schema


def hard(schema):
    """Whether no example need be found: a pattern, equal elements, nothing that fits."""
    if isinstance(schema, list):
        return any(map(hard, schema))
    if not isinstance(schema, dict):
        return False
    least = max(schema.get("minimum", -10**9), schema.get("exclusiveMinimum", -10**9))
    most = min(schema.get("maximum", 10**9), schema.get("exclusiveMaximum", 10**9))
    return ("pattern" in schema or "uniqueItems" in schema or "default" in schema or
            "oneOf" in schema or most - least < 4 or any(map(hard, schema.values())))


# ---- what is asked, and what is sent back ----

def refused(schema):
    """Arguments, one of which at least is likely to be wrong."""
    yield {}
    yield {"zz": 1}
    for name in schema.get("properties", {}):
        for wrong in ({"zz": []}, [[]], "?", None):
            yield {name: wrong}


def example_of(answer, name):
    """The arguments of an example, None where there is none."""
    said = answer.get("suggestion", "")
    begin = f"Example: {name}("
    if not said.startswith(begin):
        return None
    said, arguments = said[len(begin):], {}
    while said != ")":
        key, said = said.lstrip(", ").split("=", 1)
        arguments[key], end = json.JSONDecoder().raw_decode(said)
        said = said[end:]
    return arguments


def asked(command, lines):
    """What a program answers, line by line."""
    done = subprocess.run([str(c) for c in command], input="".join(f"{s}\n" for s in lines),
                          text=True, stdout=subprocess.PIPE, timeout=300)
    answers = done.stdout.split("\n")[:-1]
    if check(done.returncode == 0 and len(answers) == len(lines), f"{command} ends early"):
        return [json.loads(a) for a in answers]
    sys.exit(check.end())


def judge(schemas, names, command, line):
    """Calls tools until their arguments are refused, and sends the examples back. Returns for
    each tool whether an example was sent, None where nothing was refused."""
    wrong = [(i, w) for i, schema in enumerate(schemas) for w in refused(schema)]
    answers, examples = {}, {}
    for (i, _), answer in zip(wrong, asked(command, [line(i, w) for i, w in wrong])):
        if answer.get("code") == "invalid":
            answers.setdefault(i, answer)
    for i, answer in answers.items():
        try:
            example = example_of(answer, names[i])
        except ValueError:
            check(False, f"not to be read: {answer}")
            continue
        if example is not None:
            examples[i] = example
    again = asked(command, [line(i, e) for i, e in examples.items()])
    for (i, example), answer in zip(examples.items(), again):
        check(answer.get("code") != "invalid", f"{schemas[i]}\n  refuses {example}: {answer}")
        if jsonschema:
            draft = jsonschema.validators.validator_for(schemas[i], jsonschema.Draft202012Validator)
            faults = [e.message for e in draft(schemas[i]).iter_errors(example)]
            check(not faults, f"{schemas[i]}\n  by jsonschema {example}: {faults}")
    return [i in examples if i in answers else None for i in range(len(schemas))]


def probe(tools):
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "tools.json").write_text(json.dumps(tools))
    return [BUILD / "probe", "call", OUT / "tools.json"]


def usable(tools):
    """Whether the library takes these definitions."""
    answer, = asked(probe(tools), ['{"name":"no_such_tool","arguments":{}}'])
    return answer.get("error_type") != "system"


def by_schema(tools, what):
    """Judges definitions; those that the library refuses are left out."""
    sent = easy = missed = 0
    for start in range(0, len(tools), 50):
        part = tools[start:start + 50]
        if not usable(part):
            part = [t for t in part if usable([t])]
        came = judge([t["parameters"] for t in part], [t["name"] for t in part], probe(part),
                     lambda i, w, part=part: json.dumps({"name": part[i]["name"], "arguments": w}))
        for tool, example in zip(part, came):
            sent += example is True
            if example is not None and not hard(tool["parameters"]):
                easy += 1
                missed += not example
                if not example and os.environ.get("SHOW"):
                    print(json.dumps(tool["parameters"])[:600])
    print(f"suggestions: {what}: {sent} examples for {len(tools)} tools, "
          f"{missed} missed of {easy} that are easy")
    return sent, easy, missed


def real():
    if not DATA.is_dir():
        check.skip("real definitions", f"{DATA} is not here")
        return
    tools = []
    for name in sorted(glob.glob(str(DATA / "*.json"))):
        for tool in json.load(open(name, encoding="utf-8")):
            if isinstance(tool.get("parameters"), dict):
                tools.append({"name": f"t{len(tools)}", "description": "d",
                              "parameters": tool["parameters"]})
    sent, easy, missed = by_schema(tools, "real definitions")
    check(sent * 2 > len(tools), f"only {sent} of {len(tools)} real tools have an example")
    check(missed * 50 <= easy, f"{missed} of {easy} real definitions without an example")


# ---- shapes ----

PROGRAM = """#include "toolcall.h"
#include <stdio.h>
%s
static const tcall_object *const shapes[] = {%s};
static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx, (void)args;
    return tcall_write_text(out, "{\\"success\\":true}");
}
int main(void)
{
    static char block[1 << 20], answer[1 << 18], line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        char *rest;
        long i = strtol(line, &rest, 10);
        tcall_tool tool;
        tcall_desc desc;
        tcall tc;
        tcall_writer out;
        memset(&tool, 0, sizeof tool);
        memset(&desc, 0, sizeof desc);
        tool.name = "t", tool.description = "d", tool.run = run;
        tool.parameters = (tcall_schema_text){NULL, &tcall_shape_reader, shapes[i]};
        tool.permissions = TCALL_READ;
        desc.block = block, desc.block_size = sizeof block;
        desc.tools = &tool, desc.tool_count = 1, desc.allow = TCALL_READ;
        tcall_writer_init(&out, answer, sizeof answer);
        if (*rest == '?')
            tcall_write_shape(&out, shapes[i]);
        else if (tcall_init(&tc, &desc) < 0)
            tcall_write_text(&out, "{\\"code\\":\\"init\\"}");
        else
            tcall_execute(&tc, tcall_str_of("t"), tcall_str_of(rest), &out, NULL);
        printf("%%.*s\\n", (int)out.fill, answer);
        fflush(stdout);
    }
    return 0;
}
"""


def by_shape():
    shapes_agree.dice.seed(dice.random())
    made = shapes_agree.Maker(SHAPES)
    OUT.mkdir(parents=True, exist_ok=True)
    source = OUT / "shapes.c"
    source.write_text(PROGRAM % ("\n".join(made.lines),
                                 ", ".join(f"&{s.me}_shape" for s in made.shapes)))
    subprocess.run(["gcc", "-std=gnu99", "-w", "-I", ROOT, "-o", OUT / "shapes", source,
                    "-DTOOLCALL_IMPLEMENTATION", "-O0"], check=True)
    command = [OUT / "shapes"]
    schemas = asked(command, [f"{i}?" for i in range(SHAPES)])
    came = judge(schemas, ["t"] * SHAPES, command, lambda i, w: f"{i} {json.dumps(w)}")
    sent, missed = came.count(True), came.count(False)
    print(f"suggestions: shapes: {sent} examples, {missed} missed")
    check(missed * 10 <= sent, f"{missed} shapes without an example")


def main():
    if not jsonschema:
        check.skip("a second judge", "python3-jsonschema is missing")
    tools = [{"name": f"t{i}", "description": "d", "parameters": object_()} for i in range(SCHEMAS)]
    _, easy, missed = by_schema(tools, "random definitions")
    check(missed * 20 <= easy, f"{missed} of {easy} easy definitions without an example")
    by_shape()
    real()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
