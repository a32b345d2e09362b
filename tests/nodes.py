#!/usr/bin/env python3
"""tests/nodes.py [EVERY]: build/shapes --nodes writes the nodes that
tcall_schema_compile makes, as const data.

A program has each schema twice: its nodes in flash, and its text, which it
compiles. Both must say the same of every value: the error, the checked text, and
of each fault its place, its keyword and its count. Where the text does not
compile, --nodes must refuse it, and where it does, must not. The schemas are
those of the public suite of 2020-12, with its values, each EVERY-th (9) of the
definitions of real tools, random ones, and a few of our own; where the data is
absent, the last two. A registry must take such a tool in place of one whose
schema is text, in less memory, and refuse it for the same reasons.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys

from checks import Checks
from conformance.common import dump, load_file
from shapes_real import Random

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "nodes"
DATA = ROOT.parent / "shared" / "data"
EVERY = int(sys.argv[1]) if len(sys.argv) > 1 else 9
BATCH = 150  # schemas of a program
COMPILE = ["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}",
           "-fsanitize=undefined", "-fno-sanitize-recover=all", "-Wno-overlength-strings"]
dice = random.Random(29)

PROGRAM = """#include "toolcall.h"
#include "%s"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static const tcall_schema *const schemas[] = {%s};
enum { COUNT = sizeof schemas / sizeof *schemas };
static const tcall_node *compiled[COUNT];
static struct { tcall_machine machine; char text[1 << 16], arena[1 << 14]; } runs[2];
static char line[1 << 17];
static void read_by(int which, const tcall_node *node, const char *value)
{
    tcall_machine_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.target.node = node;
    desc.target.rows = &tcall_schema_rows;
    desc.text = runs[which].text;
    desc.size = sizeof runs[which].text;
    desc.arena = runs[which].arena;
    desc.arena_size = sizeof runs[which].arena;
    desc.coerce = tcall_coerce;
    tcall_machine_init(&runs[which].machine, &desc);
    tcall_machine_feed(&runs[which].machine, value, strlen(value));
    tcall_machine_end(&runs[which].machine);
}
static int differ(void)
{
    const tcall_machine *a = &runs[0].machine, *b = &runs[1].machine;
    int i;
    if (a->error != b->error || a->len != b->len || memcmp(a->text, b->text, a->len) ||
        a->fault_count != b->fault_count || a->coercion_count != b->coercion_count)
        return 1;
    for (i = 0; i < a->fault_count && i < TOOLCALL_MAX_FAULTS; i++)
        if (a->faults[i].at != b->faults[i].at || a->faults[i].count != b->faults[i].count ||
            a->faults[i].keyword != b->faults[i].keyword)
            return 1;
    return 0;
}
int main(void)
{
    size_t i;
    for (i = 0; i < COUNT; i++) {
        tcall_schema made;
        void *memory;
        tcall_schema_compile(&made, tcall_str_of(schemas[i]->text), NULL, 0, TCALL_DRAFT_2020);
        memory = malloc(made.need + 1);
        tcall_schema_compile(&made, tcall_str_of(schemas[i]->text), memory, made.need, TCALL_DRAFT_2020);
        compiled[i] = made.root;
        if (!made.root || made.width != schemas[i]->width)
            printf("%%d width %%d\\n", (int)i, (int)schemas[i]->width);
    }
    while (fgets(line, sizeof line, stdin)) {
        char *value;
        long at = strtol(line, &value, 10);
        read_by(0, compiled[at], value);
        read_by(1, schemas[at]->root, value);
        printf("%%ld %%s %%d %%d\\n", at, differ() ? "differs" : "same", runs[0].machine.error,
               runs[1].machine.error);
    }
    return 0;
}
"""

REGISTRY = """#include "toolcall.h"
#include "%s"
#include <stdio.h>
#include <string.h>
static int run(tcall_ctx *cx, tcall_json args, tcall_writer *out)
{
    (void)cx;
    return tcall_write_json(out, args);
}
static char block[8192], said[4096], report[2048];
static tcall tc;
static tcall_call call;
static int try_tool(tcall_schema_text parameters, const char *arguments, bool lazy)
{
    tcall_tool tool;
    tcall_desc desc;
    tcall_writer out, told;
    int r;
    memset(&tool, 0, sizeof tool);
    memset(&desc, 0, sizeof desc);
    tool.name = "light";
    tool.description = "Sets a light.";
    tool.parameters = parameters;
    tool.run = run;
    tool.permissions = TCALL_READ;
    tcall_writer_init(&told, report, sizeof report);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.allow = TCALL_READ;
    desc.block = block;
    desc.block_size = sizeof block;
    desc.patterns = &tcall_patterns;
    desc.lazy_schemas = lazy;
    desc.report = &tcall_report;
    desc.faults = &told;
    r = tcall_init(&tc, &desc);
    printf("init %%d need %%lu: %%.*s\\n", r, (unsigned long)tcall_need(&desc, 0), (int)told.fill, report);
    if (r < 0)
        return r;
    tcall_writer_init(&out, said, sizeof said);
    r = tcall_execute(&tc, tcall_str_of("light"), tcall_str_of(arguments), &out, &call);
    printf("%%d %%.*s\\n", r, (int)out.fill, said);
    return tcall_release(&tc, &call);
}
int main(void)
{
    static const char *const calls[] = {"{\\"room\\":\\"a\\",\\"level\\":\\"5\\"}", "{\\"room\\":\\"A\\"}", "{}",
                                        "{\\"room\\":\\"a\\",\\"x\\":1}"};
    static const tcall_schema_text made = TCALL_NODES(light), text = TCALL_SCHEMA_TEXT(light_text);
    static const tcall_schema_text wrong = TCALL_NODES(no_object), like = TCALL_SCHEMA_TEXT(no_object_text);
    int i;
    for (i = 0; i < 8; i++) {
        printf("text "), try_tool(text, calls[i / 2], i %% 2);
        printf("made "), try_tool(made, calls[i / 2], i %% 2);
    }
    printf("text "), try_tool(like, calls[0], false);
    printf("made "), try_tool(wrong, calls[0], false);
    return 0;
}
"""

OWN = [  # what real ones and the suite have little of
    {"properties": {f"p{i}": {"minimum": i} for i in range(60)}, "required": ["p3", "p59", "q"]},
    {"patternProperties": {"^a": {"type": "integer"}, "b$": {"maxLength": 2}}, "additionalProperties": False},
    {"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}},
     "$defs": {"t": {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/t"}}}}}},
    {"minLength": 70000, "maxLength": 4294967295, "minItems": 65535, "maxItems": 65536},
    {"dependentSchemas": {f"d{i}": {"required": [f"r{i}"]} for i in range(20)}},
    {"dependentRequired": {"a": ["b", "\u00e9\"\\"]}, "propertyNames": {"pattern": "^[a-z\u00e9\"\\\\]+$"}},
    {"enum": ["??=", "*/", "\u0001", "\U0001d11e", {"a": [1, 1.5, None]}], "description": "x" * 5000},
    {"if": {"type": "string"}, "else": {"minimum": 3}}, {"not": {}}, True, False, {},
    {"contains": {"const": 1}, "minContains": 2, "maxContains": 3, "prefixItems": [{}, {"type": "null"}],
     "items": {"multipleOf": 0.5}, "uniqueItems": True}]
PLAIN = [None, True, 0, 1, -1, 0.5, 1e300, "", "a", "7", "\u00e9\u00e9", [], [1], [1, 1], [1, 1.0, None], {},
         {"a": 1}, {"ab": 1, "x": "yy"}, {"d3": 1, "d7": 2, "r7": 3}, {"t": {"kids": [{"kids": [3]}]}},
         {"p3": "4", "p59": 60, "p10": 9}, {"a": {}, "b": 1}, "w" * 300]


def sample(schema, depth=0):
    """A value that a schema may allow, or not."""
    if not isinstance(schema, dict):
        return dice.choice(PLAIN)
    if schema.get("enum") or "const" in schema:
        return dice.choice(schema.get("enum") or [schema["const"]])
    kind = schema.get("type", "object" if "properties" in schema else None)
    kind = dice.choice(kind) if isinstance(kind, list) and kind else kind
    if kind == "object" and depth < 6:
        wanted = schema.get("required", [])
        return {k: sample(v, depth + 1) for k, v in (schema.get("properties") or {}).items()
                if k in wanted or dice.random() < .5}
    if kind == "array" and depth < 6:
        return [sample(schema.get("items"), depth + 1) for _ in range(dice.choice([0, 1, 2, 3]))]
    return {"string": "text", "integer": 3, "number": 2.5, "boolean": True, "null": None}.get(kind, dice.choice(PLAIN))


def changed(value):
    """The same with something in it changed."""
    if isinstance(value, dict) and value and dice.random() < .8:
        key = dice.choice(list(value))
        new = dict(value)
        if dice.random() < .3:
            del new[key]
        elif dice.random() < .2:
            new["zz" + key] = 1
        else:
            new[key] = changed(value[key])
        return new
    if isinstance(value, list) and value and dice.random() < .8:
        at = dice.randrange(len(value))
        return value[:at] + [changed(value[at])] + value[at:]
    return dice.choice(PLAIN + [str(value) if isinstance(value, (int, float)) else "3"])


def cases(check):
    """Schemas, each with values to try."""
    for schema in OWN:
        yield schema, PLAIN
    for seed in range(150):
        schema = Random(seed).tool()["parameters"]
        yield schema, [x for _ in range(5) for v in [sample(schema)] for x in (v, changed(v))]
    if not DATA.is_dir():
        check.skip("suite and real tools", f"there is no {DATA}")
        return
    for file in sorted((DATA / "json-schema" / "tests" / "draft2020-12").glob("*.json")):
        for case in load_file(file):
            yield case["schema"], [t["data"] for t in case["tests"]]
    for file in sorted((DATA / "schemas").glob("*.json")):
        for tool in load_file(file)[::EVERY]:
            schema = tool.get("parameters") or {"type": "object"}
            yield schema, [x for _ in range(4) for v in [sample(schema)] for x in (v, changed(v), changed(changed(v)))]


def made(name, schemas):
    """Lets build/shapes make a header. Returns it, and which were made."""
    source, header = OUT / f"{name}.json", OUT / f"{name}.h"
    named = [{"name": f"s{i}z" if isinstance(i, int) else i, "parameters": s} for i, s in schemas]
    source.write_text(dump(named), encoding="utf-8")
    done = subprocess.run([ROOT / "build" / "shapes", "--nodes", "-o", header, source],
                          capture_output=True, text=True)
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    return header, [int(i) for i in re.findall(r"const tcall_schema s(\d+)z_schema", text)], done


def judge(check, number, batch):
    """Compares what both say of the values of some schemas."""
    header, there, done = made(f"batch{number}", list(enumerate(s for s, _ in batch)))
    if not check(done.returncode in (0, 1), f"batch {number}: exit code {done.returncode}", done.stderr):
        return 0
    probe = subprocess.run([ROOT / "build" / "probe", "schema"], capture_output=True, text=True, encoding="utf-8",
                           input="".join(dump({"schema": s, "data": None}) + "\n" for s, _ in batch))
    for i, (answer, (schema, _)) in enumerate(zip(probe.stdout.splitlines(), batch)):
        refused = "refused" in json.loads(answer)
        check(refused == (i not in there), f"made: {i in there}, and probe says {answer[:200]} of {dump(schema)[:300]}")
    source, program = OUT / f"batch{number}.c", OUT / f"batch{number}"
    source.write_text(PROGRAM % (header, ", ".join(f"&s{i}z_schema" for i in there)), encoding="utf-8")
    built = subprocess.run([*COMPILE, source, OUT / "impl.o", "-o", program], capture_output=True, text=True)
    if not check(built.returncode == 0, f"batch {number} does not compile", built.stderr[:3000]):
        return 0
    asked = [(at, dump(v)) for at, i in enumerate(there) for v in batch[i][1]]
    ran = subprocess.run([program], input="".join(f"{at} {v}\n" for at, v in asked), capture_output=True, text=True,
                         encoding="utf-8")
    said = ran.stdout.splitlines()
    check(ran.returncode == 0 and len(said) == len(asked), f"batch {number}: {len(said)} of {len(asked)}", ran.stdout[:500] + ran.stderr)
    for (at, value), line in zip(asked, said):
        check(line.split()[:2] == [str(at), "same"], f"{line} for {value[:300]} by {dump(batch[there[at]][0])[:500]}")
    return len(asked)


def registry(check):
    """A registry takes either."""
    light = {"type": "object", "properties": {"room": {"type": "string", "pattern": "^[a-z]+$"},
                                              "level": {"type": "integer", "maximum": 100}},
             "required": ["room"], "additionalProperties": False}
    header, _, done = made("registry", [("light", light), ("no_object", {"type": "string"})])
    check(done.returncode == 0, "registry", done.stderr)
    source, program = OUT / "registry.c", OUT / "registry"
    source.write_text(REGISTRY % header)
    built = subprocess.run([*COMPILE, source, OUT / "impl.o", "-o", program], capture_output=True, text=True)
    if not check(built.returncode == 0, "registry does not compile", built.stderr[:3000]):
        return
    lines = subprocess.run([program], capture_output=True, text=True).stdout.splitlines()
    for language in ("c++20", "c++23"):
        there = subprocess.run(["g++", f"-std={language}", "-x", "c++", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}",
                                "-fsyntax-only", source], capture_output=True, text=True)
        check(there.returncode == 0, language, there.stderr[:2000])
    need = {}
    said = {"text": [], "made": []}
    for line in lines:
        which = re.match(r"(text|made) init (-?\d+) need (\d+): (.*)", line)
        if which:
            at = which[1]
            need.setdefault(at, set()).add(int(which[3]))
            said[at].append(which[2] + which[4])
        elif line:
            said[at].append(line)
    check(len(said["text"]) == 17 and said["text"] == said["made"], "a registry says", str(said))
    check(max(need["made"]) < max(need["text"]), "a registry needs", str(need))
    check("parameters must take an object" in str(said["made"][-1:]), "no object", str(said))
    # without the compiler of schemas
    source.write_text(re.sub(r"TCALL_SCHEMA_TEXT\((\w+)_text\)", r"TCALL_NODES(\1)", REGISTRY % header))
    subprocess.run(["gcc", "-std=c99", "-Os", f"-I{ROOT}", "-ffunction-sections", "-fdata-sections",
                    "-Wl,--gc-sections", source, ROOT / "tests" / "impl.c", "-o", program], check=True)
    names = subprocess.run(["nm", program], capture_output=True, text=True).stdout
    check("tcall_schema_rows" in names and "tcall_schema_compile" not in names, "the compiler is carried")


def main():
    check = Checks("nodes")
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run([*COMPILE, "-c", ROOT / "tests" / "impl.c", "-o", OUT / "impl.o"], check=True)
    all_of = list(cases(check))
    values = sum(judge(check, i, all_of[at:at + BATCH]) for i, at in enumerate(range(0, len(all_of), BATCH)))
    registry(check)
    print(f"nodes: {len(all_of)} schemas, {values} values")
    return check.end()


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
