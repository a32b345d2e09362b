#!/usr/bin/env python3
"""build/lint on files of every shape, and every table of tools in examples/ and
tools/ against ttool_lint.

Files: the same tools, written as each provider writes them, have the same
findings. Tables: those of tools/ are linked. Examples are made for boards whose headers are not
here, so what belongs to a table is taken out of their source: its rows, and
the macros and argument lists above it. A row of a table, or an assignment to a
`tool`, that is not found, or does not compile, fails. Notes count as findings:
what is shipped can be sent in strict mode.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "linted"

PROGRAM = """#define _GNU_SOURCE
%s
#include "tools/lint.h"
#include <stdio.h>
#include <stdlib.h>
%s
static void found(void *user, const ttool_finding *f)
{
    ++*(int *)user;
    printf("%%s: %%s%%s%%s%%s: %%.*s %%.*s\\n", f->tool->name,
           f->note ? "note: " : "", f->code, f->provider ? " for " : "",
           f->provider ? f->provider : "", (int)f->pointer.len, f->pointer.ptr,
           (int)f->text.len, f->text.ptr);
}

int main(void)
{
    int faults = 0;
%s
    return faults > 99 ? 99 : faults;
}
"""
LINT = "    ttool_lint(%s, %s, found, &faults);\n"
RUN = "static int %s(tcall_ctx *c, tcall_json a, tcall_writer *w)\n" \
      "{ return c || a.at || w; }\n"


def block(text, start):
    """From start to the semicolon that ends its statement."""
    depth, quoted, i = 0, False, start
    while depth or quoted or text[i] != ";":
        if text[i] == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (text[i] in "({[") - (text[i] in ")}]")
        i += 1
    return text[start:i + 1]


def taken(path):
    """What to compile of an example, the calls of lint, how many tools."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    parts, calls, rows = [], "", 0
    for m in re.finditer(r"^#define (?:[^\n]*\\\n)*[^\n]*\n|"
                         r"^TCALL_(?:OPEN_|EMPTY_)*(?:SHAPE|LIST|CHOICE)(?:_AS)?\([^\n]*\n|"
                         r"^(?:static )?(?:const )?tcall_tool (\w+)\[\w*\] = |"
                         r"^\s*tool\.(name|description|parameters) = ",
                         text, re.M):
        code = m.group(0)
        if not code.startswith("#define") and not code.endswith("\n"):
            code = block(text, m.start()).strip()
        elif "TOOLCALL_" in code or "TTOOL_" in code or "_SOURCE" in code:
            continue
        if m.group(1):
            for run in sorted(set(re.findall(r"\.run\s*=\s*(\w+)", code))):
                parts.append(RUN % run)
            code = re.sub(r"\.user\s*=\s*[^,]+,", "", code)
            code = re.sub(r"\[\w+\] = ", "[] = ", code, count=1)
            rows += len(re.findall(r"\.name\s*=", code))
            calls += LINT % (m.group(1), f"TCALL_ARRAY_LEN({m.group(1)})")
        elif m.group(2):
            rows += m.group(2) == "name"
            # C++ assigns what C wants a type of
            made = code.replace("= TCALL_", "= (tcall_schema_text)TCALL_")
            calls += f"    {made}\n"
            continue
        parts.append(code)
    if "    tool." in calls:
        parts.append("static tcall_tool tool;")
        calls += LINT % ("&tool", 1)
    return "\n".join(parts), calls, rows


def lint(name, before, code, calls):
    source = OUT / (re.sub(r"\W", "_", name) + ".c")
    source.write_text(PROGRAM % (before, code, calls))
    program = source.with_suffix("")
    built = subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c99", "-I.", str(source),
         "build/libtoolcall_tools.a", "build/tests/impl.o", "-static",
         "-Wl,--unresolved-symbols=ignore-all", "-o", str(program)], cwd=ROOT,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode:
        print(f"{name}: {built.stdout}")
        return False
    ran = subprocess.run([str(program)], text=True, stdout=subprocess.PIPE)
    print("".join(f"{name}: {line}\n" for line in ran.stdout.splitlines()),
          end="")
    return ran.returncode == 0


# -------------------------------------------------------------------- files

PIN = {"type": "integer", "description": "Number of the line"}
TOOLS = [  # name, description, schema, strict
    ("read_pin", "Read the level of one input line of the board, 0 or 1.",
     {"type": "object", "properties": {"pin": PIN}, "required": ["pin"],
      "additionalProperties": False}, True),
    ("9 lives", "Short.",
     {"type": "object", "properties": {"a": {"type": "object"}, "b": PIN},
      "additionalProperties": True}, False),
    ("open", "Reads all that there is to read of the board at this moment.",
     {"type": "object", "patternProperties": {"^x": PIN}}, True),
    ("last", "Reads all that there is to read of the board at this moment.",
     {"type": "dict"}, False)]


def flat(key, strict=True):
    return [{"name": n, "description": d, key: s} |
            ({"strict": t} if strict else {}) for n, d, s, t in TOOLS]


CHAT = [{"type": "function", "function": tool} for tool in flat("parameters")]
LOOSE = flat("parameters", False)
SHAPES = {  # what the file holds, and with which of them it has to agree
    "toolcall.h": {"tools": flat("parameters")},
    "a list": flat("parameters"),
    "OpenAI": {"model": "m", "tools": CHAT, "messages": []},
    "a list of OpenAI": CHAT,
    "Responses": {"tools": [{"type": "function"} | t
                            for t in flat("parameters")]},
    "Anthropic": {"tools": flat("input_schema")},
    "Ollama": {"tools": CHAT, "stream": False},
    "MCP, result": {"jsonrpc": "2.0", "id": 1,
                    "result": {"tools": flat("inputSchema")}},
    "MCP": {"tools": flat("inputSchema")},
    "toolcall.h, not strict": {"tools": LOOSE},
    "Gemini": {"tools": [{"functionDeclarations": LOOSE}]},
    "Gemini, JSON Schema": [{"functionDeclarations": flat(
        "parametersJsonSchema", False)}],
    "Gemini, by Python": {"tools": [{"function_declarations": LOOSE[:1]},
                                    {"function_declarations": LOOSE[1:]}]},
}
LINES = [  # of which findings there are some, and no others
    "9 lives: name for openai: /name must be",
    "9 lives: name for responses: /name", "9 lives: name for anthropic: /name",
    "9 lives: name for gemini: /name", "9 lives: name for mcp: /name",
    "9 lives: row: the name must begin with a letter or _",
    "9 lives: parameter: /parameters/properties/a has no description",
    "9 lives: description: /description has about 2 tokens",
    "9 lives: note: strict for openai: /parameters",
    "9 lives: note: strict for anthropic: /parameters",
    "open: strict for openai: /parameters",
    "open: strict for anthropic: /parameters",
    "last: schema: /parameters /type: unknown type \"dict\"; use object, array, "
    "string, number, integer, boolean or null",
    "last: note: strict for openai", "last: note: strict for anthropic"]
ODD = [  # content, exit code, what is said
    ("[]", 0, "0 tools, 0 findings"), ('{"tools": []}', 0, "0 findings"),
    (json.dumps({"tools": flat("parameters")[:1]}), 0, "1 tools, 0 findings"),
    ("", 2, "truncated"), ("[", 2, "truncated at 1"), ("[1,]", 2, " at "),
    ("{}", 2, "no list of tools"), ('{"tools": {}}', 2, "no list of tools"),
    ('{"result": 1}', 2, "no list"), ('"x"', 2, "no list of tools"),
    ("[1, null, {}, []]", 1, "?: row: parameters is missing"),
    (json.dumps(["a"] * 1025), 2, "too many tools"),
    (json.dumps(["a"] * 1024), 1, "1024 tools")]


def run_lint(text, *more):
    file = OUT / "tools.json"
    file.write_text(text)
    ran = subprocess.run([ROOT / "build" / "lint", file, *more], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ran.returncode, ran.stdout


def files():
    """Whether each case is as it has to be."""
    said = {}
    for name, shape in SHAPES.items():
        code, said[name] = run_lint(json.dumps(shape))
        like = "toolcall.h" if "strict\": " in json.dumps(
            shape) else "toolcall.h, not strict"
        yield name, code == 1 and said[name] == said[like], said[name]
    lines = said["toolcall.h"].splitlines()
    for line in LINES:
        yield line, sum(x.startswith(line) for x in lines) == 1, ""
    rest = [x for x in lines if ": " in x and not any(map(x.startswith, LINES))]
    yield "no others", not rest, "\n".join(rest)
    cost = re.findall(r"^(\w+) +(\d+) bytes, about (\d+) tokens$",
                      said["toolcall.h"], re.M)
    yield "cost", len(cost) == 5 and all(
        600 < int(n) < 1400 and int(t) == (int(n) + 3) // 4
        for _, n, t in cost), f"{cost}"
    yield "sum", lines[-1] == "4 tools, 11 findings", lines[-1]
    for text, wanted, words in ODD:
        code, out = run_lint(text)
        yield text[:40], code == wanted and words in out, f"{code} {out[:400]}"
    yield "two files", run_lint("[]", "x")[0] == 2, ""
    ran = subprocess.run([ROOT / "build" / "lint", OUT / "none"],
                         stderr=subprocess.PIPE)
    yield "no file", ran.returncode == 2 and b"none: " in ran.stderr, ""


def main():
    good = total = 0
    OUT.mkdir(parents=True, exist_ok=True)
    for name, fine, out in files():
        total += 1
        good += bool(fine)
        if not fine:
            print(f"FAILED {name}\n{out}")
    for path in sorted((ROOT / "tools").glob("*.h")):
        text = path.read_text()
        for table, count in re.findall(
                r"^extern const tcall_tool (\w+)\[(\w+)\];", text, re.M):
            total += 1
            good += lint(path.name, f'#include "tools/{path.name}"', "",
                         LINT % (table, count))
    for path in sorted(p for p in (ROOT / "examples").rglob("*")
                       if p.suffix in (".c", ".ino", ".h")):
        code, calls, rows = taken(path)
        names = len(re.findall(  # those of scorers and servers are no tools
            r'(?<!mcp)\.name\s*= "(?![^}]*\.(?:weight|score) = )', path.read_text()))
        if path.name != "lint.c" and (rows or names):
            total += 1
            where = str(path.relative_to(ROOT))
            if rows != names:
                print(f"{where}: {names} tools, but {rows} were found")
            good += lint(where, "", code, calls) and rows == names
    print(f"lint: {good} passed, {total - good} failed")
    return good != total


if __name__ == "__main__":
    sys.exit(main())
