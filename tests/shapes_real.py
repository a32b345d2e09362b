#!/usr/bin/env python3
"""build/shapes on the definitions of real tools in ../shared/data/schemas, and on random ones.

    python3 tests/shapes_real.py [--all] [--shapes build/shapes] [--data ../shared/data] [--cc "gcc -std=c99"]

How many become shapes that compile, and why the others do not. Round trip: the schema that toolcall.h writes from such
a shape and the decoder accept and refuse the same values as the original, by python3-jsonschema; descriptions come
back as they were. Without --all every sixth definition is compiled. Where the data is absent the tools of
tests/conformance/own.py take its place; that, and that jsonschema is absent, is said and counts as skipped. Random definitions (--seed) say little together and much in turn: they are for the
keywords that real ones do not use.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter, OrderedDict

from conformance import own
from conformance.common import Num, Part, brief, dump, load_file

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "build", "shapes_real")
MINIMUM = 92.0

# Writes the schema of each shape, then says of each line "INDEX VALUE" what the decoder says.
PROGRAM = """#include "%s"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const tcall_object *const shapes[] = {
#define TOOL(me, name, permissions, confirm, text) &name##_shape,
    TOOLS(TOOL, )
};
static char line[1 << 20], text[1 << 20], room[65536];
int main(void)
{
    for (size_t i = 0; i < TCALL_ARRAY_LEN(shapes); i++) {
        tcall_writer writer;
        tcall_writer_init(&writer, text, sizeof text);
        tcall_write_shape(&writer, shapes[i]);
        printf("%%.*s\\n", (int)writer.len, text);
    }
    while (fgets(line, sizeof line, stdin)) {
        char *value;
        unsigned long at = strtoul(line, &value, 10);
        tcall_decoder decoder;
        tcall_decoder_init(&decoder, shapes[at], room);
        tcall_decoder_feed(&decoder, value, strlen(value));
        tcall_decoder_end(&decoder);
        printf("%%d %%d\\n", decoder.error,
               decoder.misfit_count ? decoder.misfits[0].code : 0);
    }
    return 0;
}
"""
LEVELS = ["-DTOOLCALL_SHAPE_LEVELS=16"]


def run_shapes(program, name, tools):
    """Makes a header of definitions under names that are distinct. Returns its path, the indices of those that were made,
    and what was said of the others."""
    source, header = (os.path.join(OUT, name + end) for end in (".json", ".h"))
    named = [OrderedDict(t, name="%s#i%dz" % (t.get("name"), i)) for i, t in enumerate(tools)]
    with open(source, "w", encoding="utf-8") as f:
        f.write(dump(named))
    done = subprocess.run([program, "--tools", "TOOLS", "-o", header, source], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return None, [], {0: done.stderr[-500:] or "exit code %d" % done.returncode}
    with open(header, encoding="utf-8") as f:
        table = re.findall(r"^    TOOL\(me, \w*_i(\d+)z(?:_\d+)?, TCALL_", f.read(), re.M)
    made, why = [int(i) for i in table], {}
    for said in done.stderr.splitlines():
        tool = re.match(r".*?#i(\d+)z: (.*)", said)
        if tool and int(tool.group(1)) not in made:
            why.setdefault(int(tool.group(1)), tool.group(2))
    return header, made, why


def reason(said):
    """A refusal without its place and its figures."""
    said = re.sub(r"^/.*?: (?=\S+: )", "", said)
    return said


def written(p, compiler, name, header, made):
    """Compiles a header. Returns its program and the schemas that were written."""
    source, program = (os.path.join(OUT, name + end) for end in (".c", ""))
    with open(source, "w") as f:
        f.write(PROGRAM % header)
    done = subprocess.run(compiler + LEVELS + ["-I" + ROOT, source, os.path.join(OUT, "impl.o"), "-o", program],
                          capture_output=True, text=True)
    if not p.check(done.returncode == 0, name, done.stderr[:2000]):
        return None, []
    lines = subprocess.run([program], input="", capture_output=True, text=True).stdout.splitlines()
    p.check(len(lines) == len(made), name, "%d schemas of %d" % (len(lines), len(made)))
    return program, lines


def texts(schema, path=""):
    """The descriptions of all members of objects."""
    if isinstance(schema, dict) and "object" in schema.get("type", "object"):
        for name, inside in (schema.get("properties") or {}).items():
            here = "%s/%s" % (path, name)
            if isinstance(inside, dict):
                if inside.get("description"):
                    yield here, "description", inside["description"]
                yield from texts(inside, here)
        for branch in schema.get("anyOf", []):
            yield from texts(branch, path)


def values_of(oracle):
    from conformance.tools import trials
    base = oracle.sample()
    yield base
    yield OrderedDict()
    for value, _ in trials(oracle, base, 24, 80):
        yield value


def huge(value):
    """Is there a number that no int64_t holds?"""
    if isinstance(value, dict):
        return any(map(huge, value.values()))
    if isinstance(value, list):
        return any(map(huge, value))
    return not isinstance(value, (str, bool, type(None))) and abs(value) >= 2**63


def judge(p, names, tools, made, lines, program):
    """Compares what three say of the same values: both schemas and the decoder."""
    from conformance.common import load
    from conformance.oracle import Oracle
    asked, counts = [], Counter()
    for at, (index, line) in enumerate(zip(made, lines)):
        label = names % index
        before, after = Oracle(tools[index].get("parameters") or {}), Oracle(load(line))
        p.check(not after.unknown, label, "%s: %s" % (after.unknown, brief(line)))
        lost = [x for x in texts(tools[index].get("parameters")) if x not in set(texts(load(line)))]
        if not references(tools[index]):
            p.check(not lost, label, "lost: %s" % lost[:2])
        if before.unknown:
            counts["not judged: " + before.unknown] += 1
            continue
        for value in list(values_of(before)) + list(values_of(after)):
            want, got = not before.check(value), not after.check(value)
            p.check(want == got, label, "%s, not %s by the schema written: %s for %s" % (got, want, brief(line), brief(dump(value))))
            counts["values"] += 1
            asked.append((at, label, value, want))
    answers = subprocess.run([program], input="".join("%d %s\n" % (at, dump(value)) for at, _, value, _ in asked),
                             capture_output=True, text=True).stdout.splitlines()[len(lines):]
    p.check(len(answers) == len(asked), names, "%d answers of %d" % (len(answers), len(asked)))
    for (_, label, value, want), answer in zip(asked, answers):
        error, code = map(int, answer.split())
        if want and code in (ROOM, TOO_DEEP) or (want and error and huge(value)):
            counts["over the room of the struct"] += 1
            continue
        p.check(want == (error == 0), label, "the decoder: %s, not %s for %s" % (answer, want, brief(dump(value))))
    return counts


class Random:
    """Definitions with all keywords that shapes may have, and some that they have not."""
    TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"]
    NUMBERS = ["0", "1", "-1", "5", "10", "0.5", "-9.9", "2147483647", "-2147483648", "2147483648", "9007199254740991", "1e3",
               "100.25", "5.0", "1E2", "-0.000001", "12345678.123456"]
    WORDS = ["a", "b", "c d", "\u00e9", "1", "x-y", "", None, True, False, Num("1"), Num("2"), Num("3"), "a" * 40]
    NAMES = ["a", "b-c", "int", "\u00e9", "me", "x y", "at", "shape", "long name", ""]
    DEFS = {"a": {"type": "string", "maxLength": Num("3")},
            "b": {"type": "object", "properties": {"q": {"type": "integer", "minimum": Num("2")}}}}
    # keyword: (types it is for, how often it comes, values)
    LIMITS = {
        "minimum": ("integer number", .25, NUMBERS), "maximum": ("integer number", .25, NUMBERS),
        "exclusiveMinimum": ("integer number", .2, NUMBERS), "exclusiveMaximum": ("integer number", .2, NUMBERS),
        "minLength": ("string", .35, ["0", "1", "2", "5"]), "maxLength": ("string", .35, ["1", "3", "5", "30", "2000"]),
        "minItems": ("array", .3, ["0", "1", "2"]), "maxItems": ("array", .3, ["0", "2", "3", "5"])}

    def __init__(self, seed):
        self.r = random.Random(seed)

    def some(self, values, counts):
        return self.r.sample(values, self.r.choice(counts))

    def schema(self, depth):
        r, kind = self.r, self.r.random()
        if kind < .03:
            return r.choice([True, {}])
        if kind < .1 and depth < 3:
            made = {r.choice(["anyOf", "oneOf", "allOf"]): [self.schema(depth + 2) for _ in range(r.choice([1, 2, 2, 3]))]}
            return dict(made, type=r.choice(self.TYPES)) if r.random() < .3 else made
        if kind < .13:
            return {"$ref": r.choice(["#/$defs/a", "#/$defs/b"])}
        if kind < .22:
            made = {"enum": self.some(self.WORDS, [1, 2, 2, 3]) if r.random() < .7 else
                    [Num(str(i)) for i in range(r.choice([0, -3, 5]), 9)]}
            return dict(made, type=r.choice(["string", "integer", ["string", "null"], ["boolean", "null"]])) if r.random() < .4 else made
        if kind < .25:
            return {"const": r.choice(["a", "z z", Num("3"), None, True])}
        return self.typed(depth)

    def typed(self, depth):
        r = self.r
        type = r.choice(self.TYPES if depth < 3 else self.TYPES[:4])
        made = {"type": type if r.random() < .8 else self.some(self.TYPES, [1, 2, 2, 3])}
        for keyword, (types, often, values) in self.LIMITS.items():
            if r.random() < (often if type in types.split() else .02):
                made[keyword] = Num(r.choice(values))
        if r.random() < (.8 if type == "array" else .02):
            made["items"] = self.schema(depth + 1)
        if r.random() < (.85 if type == "object" else .02):
            made["properties"] = {name: self.schema(depth + 1) for name in self.some(self.NAMES, [0, 1, 2, 3])}
            made["required"] = self.some(list(made["properties"]) + ["zzz"], [0, 1])
        if r.random() < (.4 if type == "object" else .01):
            made["additionalProperties"] = r.choice([False, True, {}, {"type": "string"}])
        for keyword, often, values in (("description", .3, ["d", "a \"q\"\n??= end", "\u00fcn", ""]), ("format", .03, ["date"]),
                                       ("default", .2, [None, "a", Num("1"), True, [], Num("0.5")]), ("pattern", .01, ["a"])):
            if r.random() < often:
                made[keyword] = r.choice(values)
        return made

    def tool(self):
        names = self.some(["a", "b", "c", "d", "e-f", "class"], [1, 2, 3])
        schema = {"type": "object", "properties": {name: self.schema(1) for name in names}, "$defs": self.DEFS,
                  "additionalProperties": self.r.random() < .5, "required": self.some(names, [0, 1])}
        return {"name": "random", "parameters": schema}


def references(schema):
    return '"$ref"' in dump(schema) or '"anyOf"' in dump(schema) or '"allOf"' in dump(schema) or '"oneOf"' in dump(schema)


ROOM, TOO_DEEP = 13, 14  # TCALL_MISFIT_ROOM, TCALL_MISFIT_LEVELS


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--shapes", default=os.path.join(ROOT, "build", "shapes"))
    ap.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    ap.add_argument("--cc", default=os.environ.get("CC", "gcc") + " -std=c99")
    args = ap.parse_args()
    folder, p = os.path.join(args.data, "schemas"), Part("shapes_real")
    compiler = args.cc.split() + "-Wall -Wextra -Werror -Wno-overlength-strings".split()
    os.makedirs(OUT, exist_ok=True)
    real = os.path.isdir(folder)
    if not real:
        p.skipped = 1
        p.say("SKIPPED! there is no %s; in its place are the few tools of tests/conformance/own.py" % folder)
        own.write(os.path.join(OUT, "cases"))
        folder = os.path.join(OUT, "cases", "schemas")
    subprocess.run(compiler + LEVELS + ["-I" + ROOT, "-O1", "-c", os.path.join(ROOT, "tests", "impl.c"), "-o", os.path.join(OUT, "impl.o")],
                   check=True)
    judged = subprocess.run([os.path.join(ROOT, "tests", "need"), "python3-jsonschema"], stdout=subprocess.DEVNULL).returncode == 0
    if not judged:
        p.skipped = 1
        p.say("SKIPPED! python3-jsonschema is not installed; no value was compared")
    total, refused, counts, why = 0, 0, Counter(), Counter()
    for file in sorted(f for f in os.listdir(folder) if f.endswith(".json")):
        name, tools = file[:-5], load_file(os.path.join(folder, file))
        header, made, said = run_shapes(args.shapes, name, tools)
        total += len(tools)
        refused += len(tools) - len(made)
        p.check(len(made) + len(said) == len(tools), name, "%d made, %d refused of %d: %s" % (len(made), len(said), len(tools), said.get(0)))
        for line in said.values():
            why[reason(line)] += 1
        if real and not args.all:
            tools = tools[::6]
            header, made, said = run_shapes(args.shapes, name, tools)
        if not made:
            continue
        program, lines = written(p, compiler, name, header, made)
        counts["compiled"] += len(lines)
        if program and judged:
            counts += judge(p, name + "#%d", tools, made, lines, program)
    tools = [Random(args.seed + i).tool() for i in range(4000 if args.all else 400)]
    header, made, said = run_shapes(args.shapes, "random", tools)
    p.check(len(made) + len(said) == len(tools), "random", "%d made, %d refused of %d" % (len(made), len(said), len(tools)))
    program, lines = written(p, compiler, "random", header, made)
    counts["compiled, random"] = len(lines)
    if program and judged:
        counts["values, random"] = judge(p, "random#%d", tools, made, lines, program)["values"]
    share = 100.0 * (total - refused) / max(1, total)
    least = MINIMUM if real else 0
    p.bar(share >= least, "shapes %d of %d = %.2f %%, at least %.0f wanted" % (total - refused, total, share, least))
    for text, count in why.most_common():
        p.say("  refused %d: %s" % (count, text))
    for text, count in sorted(counts.items()):
        p.say("%s: %d" % (text, count))
    return finish(p)


def finish(p):
    for line in p.figures:
        print("    " + line)
    for line in p.fails[:20]:
        print("FAILED " + brief(line, 600))
    more = ", %d skipped" % p.skipped if p.skipped else ""
    print("shapes_real: %d passed, %d failed%s" % (p.passed, len(p.fails), more))
    return 1 if p.fails else 0


if __name__ == "__main__":
    sys.exit(main())
