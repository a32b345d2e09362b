#!/usr/bin/env python3
"""build/shapes: what becomes of each keyword, what is refused and where, names, forms of definitions, options.

Everything that is made is compiled, as C99 and as C++11.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys

from checks import Checks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUT = os.path.join(ROOT, "build", "shapes_made")
SHAPES = os.path.join(ROOT, "build", "shapes")
FULL = os.environ.get("SHAPES_FULL") == "1"

# The schema of a member, and its kind.
KINDS = [
    ({"type": "boolean"}, "boolean"),
    ({"type": "integer"}, "integer64(INT64_MIN, INT64_MAX)"),
    ({"type": "integer", "minimum": 1}, "integer64(1, INT64_MAX)"),
    ({"type": "integer", "minimum": -3, "maximum": 7}, "integer(-3, 7)"),
    ({"type": "integer", "minimum": 0, "maximum": 2147483647}, "integer64(0, 2147483647)"),
    ({"type": "integer", "minimum": -2147483648, "maximum": 0}, "integer64(-2147483648, 0)"),
    ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10}, "integer(1, 9)"),
    ({"type": "integer", "minimum": 5, "exclusiveMinimum": 0, "maximum": 9}, "integer(5, 9)"),
    ({"type": "integer", "minimum": 0.5, "maximum": 9.5}, "integer(1, 9)"),
    ({"type": "integer", "exclusiveMinimum": -0.5, "exclusiveMaximum": 1e1}, "integer(0, 9)"),
    ({"type": "integer", "maximum": 9007199254740991, "minimum": 0}, "integer64(0, 9007199254740991)"),
    ({"type": "integer", "maximum": 1e300, "minimum": 0}, "integer64(0, INT64_MAX)"),
    ({"type": "integer", "multipleOf": 1, "minimum": 0, "maximum": 3}, "integer(0, 3)"),
    ({"type": "integer", "enum": [3, 1, 2]}, "integer(1, 3)"),
    ({"enum": [7]}, "integer(7, 7)"),
    ({"const": 7.0}, "integer(7, 7)"),
    ({"enum": [1, 2, 3], "minimum": 2}, None),
    ({"type": "integer", "enum": [1, 2, 3], "minimum": 2}, "integer(2, 3)"),
    ({"type": "number"}, "number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM)"),
    ({"type": "number", "minimum": -0.5, "maximum": 1e3}, "number(-0.5, 1000.0)"),
    ({"type": "number", "exclusiveMinimum": 0}, "over(number(0, TCALL_NO_MAXIMUM))"),
    ({"type": "number", "minimum": 0, "exclusiveMinimum": 0, "maximum": 5}, "over(number(0, 5))"),
    ({"type": "number", "minimum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 5}, "under(number(1, 5))"),
    ({"type": "number", "exclusiveMaximum": 5, "exclusiveMinimum": -0.5, "maximum": 6}, "over(under(number(-0.5, 5)))"),
    ({"type": ["integer", "number"]}, "number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM)"),
    ({"type": "string"}, "string(0, 64)"),
    ({"type": "string", "minLength": 100}, "string(100, 100)"),
    ({"type": "string", "minLength": 1, "maxLength": 40}, "characters(1, 40)"),
    ({"type": "string", "maxLength": 5000}, "characters_in(0, 5000, 4096)"),
    ({"type": "string", "format": "date", "minimum": 3, "title": "T"}, "string(0, 64)"),
    ({"enum": ["a", "b"]}, "choice(NAME)"),
    ({"type": "string", "enum": ["a", "b"]}, "choice(NAME)"),
    ({"const": "a"}, "choice(NAME)"),
    ({"enum": ["", "a"]}, "choice(NAME)"),
    ({"enum": ["a", None]}, "or_null(choice(NAME))"),
    ({"type": "string", "enum": ["a", None]}, "choice(NAME)"),
    ({"enum": [True, False]}, "boolean"),
    ({"type": "null"}, "one_of(TCALL_SHAPE_NULL, 256)"),
    ({"type": ["string", "null"]}, "or_null(string(0, 64))"),
    ({"type": ["null", "integer"], "minimum": 0, "maximum": 5}, "or_null(integer(0, 5))"),
    ({"type": ["string", "number"]}, "one_of(TCALL_SHAPE_NUMBER | TCALL_SHAPE_STRING, 256)"),
    ({"type": ["string", "boolean", "null"]}, "or_null(one_of(TCALL_SHAPE_BOOLEAN | TCALL_SHAPE_STRING, 256))"),
    ({"type": "object"}, "one_of(TCALL_SHAPE_OBJECT, 256)"),
    ({"type": "array"}, "one_of(TCALL_SHAPE_ARRAY, 256)"),
    ({}, "json(256)"),
    (True, "json(256)"),
    ({"type": "array", "items": {"type": "string"}}, "list(NAME)"),
    ({"type": "array", "maxItems": 3}, "list(NAME)"),
    ({"type": "array", "uniqueItems": False, "items": {"type": "array", "items": {"type": "boolean"}}}, "list(NAME)"),
    ({"type": "object", "properties": {"x": {"type": "boolean"}}}, "object(NAME)"),
    ({"type": "object", "additionalProperties": False}, "object(NAME)"),
    ({"type": "object", "required": ["x"]}, "object(NAME)"),
    ({"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]}, "or_null(characters(0, 5))"),
    ({"oneOf": [{"type": "null"}, {"enum": ["a"]}]}, "or_null(choice(NAME))"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "one_of(TCALL_SHAPE_INTEGER | TCALL_SHAPE_STRING, 256)"),
    ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "choice(NAME)"),
    ({"oneOf": [{"const": "a"}, {"const": "b"}]}, "choice(NAME)"),
    ({"anyOf": [{"enum": ["a"]}, {"type": "string"}]}, "string(0, 64)"),
    ({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "number"}]}, "number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM)"),
    ({"anyOf": [{"type": "string", "format": "a"}, {"type": "string"}]}, "string(0, 64)"),
    ({"type": "string", "anyOf": [{"enum": ["a"]}, {"enum": ["b"]}]}, "choice(NAME)"),
    ({"allOf": [{"type": "integer", "minimum": 0, "maximum": 9}]}, "integer(0, 9)"),
    ({"allOf": [{"$ref": "#/$defs/small"}, {"description": "D"}]}, "integer(1, 9)"),
    ({"$ref": "#/$defs/small"}, "integer(1, 9)"),
    ({"$ref": "#/$defs/with~1slash~0"}, "boolean"),
]

# The schema of a member, and the place and keyword that are named.
REFUSED = [
    ({"type": "string", "pattern": "^a"}, "", "pattern"),
    ({"pattern": "^a"}, "", "pattern"),
    ({"type": "number", "exclusiveMinimum": 0.0000001}, "", "exclusiveMinimum"),
    ({"type": "number", "exclusiveMinimum": True, "minimum": 0}, "", "exclusiveMinimum"),
    ({"type": "integer", "exclusiveMaximum": True, "maximum": 0}, "", "exclusiveMaximum"),
    ({"type": "number", "minimum": 0.0000001}, "", "minimum"),
    ({"type": "number", "maximum": 0.30000000000000004}, "", "maximum"),
    ({"type": "number", "maximum": 1e13}, "", "maximum"),
    ({"type": "number", "multipleOf": 0.01}, "", "multipleOf"),
    ({"type": "integer", "multipleOf": 5}, "", "multipleOf"),
    ({"type": "integer", "minimum": 1e300}, "", "minimum"),
    ({"type": "number", "minimum": 5, "maximum": 4.5}, "", "minimum"),
    ({"type": "number", "exclusiveMinimum": 5, "maximum": 5}, "", "exclusiveMinimum"),
    ({"type": "number", "minimum": 5, "exclusiveMaximum": 5}, "", "minimum"),
    ({"type": "integer", "minimum": 5, "maximum": 4}, "", "minimum"),
    ({"type": "array", "uniqueItems": True}, "", "uniqueItems"),
    ({"type": "array", "prefixItems": [{}]}, "", "prefixItems"),
    ({"type": "array", "items": [{}]}, "", "items"),
    ({"type": "array", "contains": {}}, "", "contains"),
    ({"type": "array", "maxItems": 0}, "", "maxItems"),
    ({"type": "array", "items": {"type": "string", "pattern": "a"}}, "/items", "pattern"),
    ({"type": "array", "items": False}, "/items", "schema"),
    ({"type": "object", "additionalProperties": {"type": "string"}}, "", "additionalProperties"),
    ({"type": "object", "patternProperties": {"^a": {}}}, "", "patternProperties"),
    ({"type": "object", "propertyNames": {"maxLength": 3}}, "", "propertyNames"),
    ({"type": "object", "minProperties": 1}, "", "minProperties"),
    ({"type": "object", "dependentRequired": {"a": ["b"]}}, "", "dependentRequired"),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, "", "required"),
    ({"type": "object", "properties": {"a/b~": {"not": {}}}}, "/properties/a~1b~0", "not"),
    ({"type": "object", "properties": {"m%d" % i: {} for i in range(65)}}, "", "properties"),
    ({"properties": {"a": {}}}, "", "type"),
    ({"type": ["string", "integer"], "minLength": 1}, "", "type"),
    ({"type": "float"}, "", "type"),
    ({"if": {}, "then": {}}, None, None),
    ({"if": {"type": "string"}}, "", "if"),
    ({"not": {}}, "", "not"),
    ({"enum": [1, 3]}, "", "enum"),
    ({"enum": [1.5]}, "", "enum"),
    ({"enum": ["a", 1]}, "", "enum"),
    ({"enum": [True]}, "", "enum"),
    ({"enum": [{}]}, "", "enum"),
    ({"enum": []}, "", "enum"),
    ({"enum": ["w%d" % i for i in range(255)]}, "", "enum"),
    ({"enum": ["a\0b"]}, "", "enum"),
    ({"type": "object", "properties": {"a\0b": {}}}, "/properties/a", "properties"),
    ({"enum": ["a", "b"], "minLength": 1, "type": "string"}, "", "enum"),
    ({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "integer"}]}, "", "anyOf"),
    ({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "string", "maxLength": 2}]}, "", "anyOf"),
    ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, "", "oneOf"),
    ({"oneOf": [{"enum": ["a"]}, {"type": "string"}]}, "", "oneOf"),
    ({"anyOf": []}, "", "anyOf"),
    ({"anyOf": [{"type": "number", "minimum": 1}, {"type": "integer"}]}, "", "anyOf"),
    ({"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 1}]}, "", "anyOf"),
    ({"anyOf": [{"type": "string"}, {"type": "integer", "multipleOf": 2}]}, "/anyOf/1", "multipleOf"),
    ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "", "allOf"),
    ({"$ref": "#/$defs/none"}, "", "$ref"),
    ({"$ref": "http://a.b/c"}, "", "$ref"),
    ({"$ref": ""}, "", "$ref"),
    ({"$ref": 5}, "", "$ref"),
    ({"type": "object", "properties": [0]}, "", "properties"),
    ({"type": "object", "required": "a"}, "", "required"),
    ({"type": "array", "items": 5}, "/items", "schema"),
    ({"type": "string", "maxLength": "5"}, "", "maxLength"),
    ({"description": "a\0b"}, "", "description"),
    ({"enum": "a"}, "", "enum"),
    ({"const": "a", "enum": ["a", "b"]}, "", "enum"),
    ({"const": 5, "minimum": 6, "type": "integer"}, "", "const"),
    ({"enum": [-9000000000000000000, 9000000000000000000]}, "", "enum"),
    ({"const": 1.5}, "", "const"),
    ({"anyOf": {}}, "", "anyOf"),
    ({"$ref": "#/$defs/cycle"}, "/$ref/properties/next", "$ref"),
    ({"$ref": "#"}, None, "$ref"),
    ({"type": "string", "maxLength": -1}, "", "maxLength"),
    ({"type": "string", "minLength": 3, "maxLength": 2}, "", "maxLength"),
    (False, "", "schema"),
]

# The schema of an optional member with a default, and its role and kind.
DEFAULTS = [
    ({"type": "boolean", "default": True}, "defaults(true), boolean"),
    ({"type": "integer", "minimum": 1, "maximum": 7, "default": 3}, "defaults(3), integer(1, 7)"),
    ({"type": "integer", "default": -5000000000}, "defaults(-5000000000), integer64(INT64_MIN, INT64_MAX)"),
    ({"type": "integer", "minimum": 1, "maximum": 7, "default": 9}, "optional, integer(1, 7)"),
    ({"type": "integer", "default": 1.5}, "optional, integer64(INT64_MIN, INT64_MAX)"),
    ({"type": "number", "default": 0.1}, "defaults(0.1), number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM)"),
    ({"type": "number", "default": 10**20}, "defaults(100000000000000000000.0), number(TCALL_NO_MINIMUM, TCALL_NO_MAXIMUM)"),
    ({"type": "number", "maximum": 1, "default": 2}, "optional, number(TCALL_NO_MINIMUM, 1)"),
    ({"type": "number", "exclusiveMinimum": 0, "default": 0}, "optional, over(number(0, TCALL_NO_MAXIMUM))"),
    ({"type": "string", "default": "a\"b\\\n\x01??="}, r'defaults("a\"b\\\n\001?\?="), string(0, 64)'),
    ({"type": "string", "default": "x" * 70}, 'defaults("%s"), string(0, 70)' % ("x" * 70)),
    ({"type": "string", "maxLength": 2, "default": "abc"}, "optional, characters(0, 2)"),
    ({"type": "string", "maxLength": 2, "default": "ää"}, 'defaults("ää"), characters(0, 2)'),
    ({"type": "string", "minLength": 2, "default": "ä"}, "optional, string(2, 64)"),
    ({"enum": ["a", "1 b"], "default": "1 b"}, "defaults(NAME_word_1_b), choice(NAME)"),
    ({"enum": ["a"], "default": "b"}, "optional, choice(NAME)"),
    ({"type": ["string", "null"], "default": None}, "optional, or_null(string(0, 64))"),
    ({"type": ["string", "null"], "default": "a"}, 'defaults("a"), or_null(string(0, 64))'),
    ({"type": "array", "default": []}, "optional, one_of(TCALL_SHAPE_ARRAY, 256)"),
]

# Names as they are sent, and in C.
NAMES = [("plain", "plain"), ("int", "int_value"), ("class", "class_value"), ("me", "me_value"), ("ROW", "ROW_value"),
         ("errno", "errno_value"), ("given_", "given__value"), ("2d", "member_2d"), ("a-b", "a_b"), ("a.b", "a_b_2"), ("a b!", "a_b_3"),
         ("ä", "member"), ("_Bool", "member__Bool"), ("INT8_MAX", "INT8_MAX_value"), ("TCALL_OK", "member_TCALL_OK"), ("北京", "member_2"), ("_id", "_id"), ("$top", "top"), ("A", "A"), ("a", "a"), ("quo\"te\\", "quo_te"),
         ("%s", "s"), ("", "member_3")]

check = Checks("shapes")


def shapes(value, *options, name="schema.json"):
    """Returns exit code, standard output and standard error."""
    path = os.path.join(OUT, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))
    done = subprocess.run([SHAPES, *options, path], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


COMPILERS = [c for c in ("gcc -std=c99 -Wconversion -xc", "g++ -std=c++11 -xc++") if shutil.which(c.split()[0])]


def compiles(rows, what, *options):
    check(COMPILERS, "neither gcc nor g++ is installed")
    for compiler in COMPILERS:
        done = subprocess.run(compiler.split() + ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-I" + ROOT, "-fsyntax-only",
                                                  *(options or ("-DTOOLCALL_SHAPE_LEVELS=9",)), "-"],
                              input='#include "toolcall.h"\n' + rows, capture_output=True, text=True)
        check(done.returncode == 0, "%s: %s: %s" % (what, compiler, done.stderr))


def tool(name, member, required=False):
    return {"name": name, "inputSchema": {
        "type": "object", "properties": {"x": member}, "required": ["x"] if required else [],
        "$defs": {"small": {"type": "integer", "minimum": 1, "maximum": 9}, "with/slash~": {"type": "boolean"},
                  "cycle": {"type": "object", "properties": {"next": {"$ref": "#/$defs/cycle"}}}}}}


def row_of(rows, name):
    found = re.search(r"#define %s_ROWS\(ROW, me\) \\\n    ROW\(me, (.*), x, (?:\"\"\)|\\)\n" % name.upper(), rows)
    return found.group(1).replace(name + "_x", "NAME") if found else "no row"


def kinds():
    code, rows, said = shapes([tool("kind%d" % i, schema, True) for i, (schema, _) in enumerate(KINDS)], "-v")
    for i, (schema, kind) in enumerate(KINDS):
        if kind:
            check(row_of(rows, "kind%d" % i) == "required, " + kind, "%s: %s, not %s" % (schema, row_of(rows, "kind%d" % i), kind))
        else:
            check("kind%d: " % i in said and row_of(rows, "kind%d" % i) == "no row", "%s is not refused" % schema)
    check(code == 1, "exit code %d where one is refused" % code)
    for keyword in ("format", "title"):
        check(": /properties/x: %s: dropped" % keyword in said, "-v does not name %s: %s" % (keyword, said))
    check("/properties/x: minimum: says nothing" in said, "-v does not name minimum of a string")
    compiles(rows, "kinds")


def refused():
    code, rows, said = shapes([tool("bad%d" % i, schema) for i, (schema, *_) in enumerate(REFUSED)] + [tool("good", {})])
    for i, (schema, place, keyword) in enumerate(REFUSED):
        lines = [line for line in said.splitlines() if line.startswith("bad%d: " % i)]
        wanted = "bad%d: /properties/x%s: %s: " % (i, place or "", keyword)
        if keyword is None:
            check(not lines, "%s: %s" % (schema, lines))
        else:
            check(any(line.startswith(wanted) if place is not None else ": %s: " % keyword in line for line in lines),
                  "%s: %s, not %s" % (schema, lines, wanted))
            check(row_of(rows, "bad%d" % i) == "no row", "%s is refused and made" % schema)
    check(code == 1 and row_of(rows, "good") == "optional, json(256)", "the others are not made")


def defaults():
    code, rows, said = shapes([tool("given%d" % i, schema) for i, (schema, _) in enumerate(DEFAULTS)])
    for i, (schema, row) in enumerate(DEFAULTS):
        got = row_of(rows, "given%d" % i)
        check(got == row, "%s: %s, not %s" % (schema, got, row))
        lost = "given%d: /properties/x: default: " % i in said
        check(lost == (row.startswith("optional") and schema["default"] is not None), "%s: default lost and said: %s" % (schema, said))
    check(code == 0, "a default that is dropped fails")
    compiles(rows, "defaults")


def names():
    members = {name: {"type": "boolean"} for name, _ in NAMES}
    words = {"enum": [name for name, _ in NAMES]}
    code, rows, said = shapes([{"name": "delete", "parameters": {"properties": members}}, tool("words", words), tool("words", words),
                               tool("WORDS", {}), tool("7up", {}), tool("a.b-c", {"type": "object", "properties": {"at": words, "shape": words}}),
                               tool("words_x", words)])
    for sent, name in NAMES:
        literal = json.dumps(sent, ensure_ascii=False)
        row = "boolean, " if sent == name else "named(%s, boolean), " % literal
        check("ROW(me, optional, %s%s, " % (row, name) in rows, "%s is not %s: %s" % (sent, name, rows[:2000]))
        check(re.search(r"WORD\(me, \w+, %s\)" % re.escape(literal), rows), "word %s" % sent)
    check(code == 0 and not said, said)
    for name in ("delete_call, ", "words, ", "words_2, ", "WORDS_3, ", "tool_7up, ", "a_b_c, "):
        check("TCALL_OPEN_SHAPE(" + name in rows, "%s: %s" % (name, re.findall(r"TCALL_OPEN_SHAPE\(.*", rows)))
    compiles(rows, "names")
    inner = {"type": "object", "properties": {"b": {"type": "object", "properties": {"c": {}}}, "b_c": {}}}
    code, rows, said = shapes(inner, "--name", "a")
    check("TCALL_OPEN_SHAPE(a, " in rows, rows)
    compiles(rows, "names that are put together")


def forms():
    schema = tool("weather", {"type": "boolean"})["inputSchema"]
    forms = {"parameters": {"name": "weather", "description": "D", "parameters": schema},
             "MCP": {"name": "weather", "description": "D", "inputSchema": schema},
             "Anthropic": {"name": "weather", "description": "D", "input_schema": schema},
             "OpenAI": {"type": "function", "function": {"name": "weather", "description": "D", "parameters": schema}},
             "a list": [{"name": "weather", "description": "D", "parameters": schema}],
             "tools": {"tools": [{"name": "weather", "description": "D", "inputSchema": schema}]},
             "tools/list": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "weather", "description": "D", "inputSchema": schema}]}},
             "Gemini": [{"functionDeclarations": [{"name": "weather", "description": "D", "parameters": schema}]}],
             "a schema": dict(schema, description="D")}
    rows = set()
    for form, value in forms.items():
        code, made, said = shapes(value, "--tools", "TOOLS", name="weather.json")
        check(code == 0 and 'TOOL(me, weather, TCALL_EVERYTHING, false, "D")' in made, "%s: %d %s %s" % (form, code, made, said))
        rows.add(made)
    check(len(rows) == 1, "the forms do not become the same: %s" % rows)
    for value, shape in (({"name": "now"}, "OPEN_EMPTY_SHAPE(now)"), ({"name": "now", "parameters": {}}, "OPEN_EMPTY_SHAPE(now)"),
                         ({"name": "now", "parameters": {"type": "object", "additionalProperties": False}}, "TCALL_EMPTY_SHAPE(now)")):
        code, made, said = shapes(value)
        check(code == 0 and shape in made, "%s: %s %s" % (value, made, said))
        compiles(made, shape)
    hints = {"readOnlyHint": True, "destructiveHint": True}
    code, made, said = shapes({"name": "get-it", "annotations": hints, "inputSchema": {}}, "--tools", "ALL")
    check("TOOL(me, get_it, TCALL_READ, true," in made and "get-it: name: is get_it in" in said, made + said)
    for value in ("{", "[1,]", '{"a":1,"a":2}'):
        code, made, said = shapes(value)
        check(code == 2 and not made and "is no JSON" in said, "%s: %d %s" % (value, code, said))
    code, made, said = shapes({"name": "a", "parameters": {"type": "array"}})
    check(code == 1 and "a: type: " in said, said)


def options():
    schema = {"type": "object", "additionalProperties": False, "required": ["t", "j", "c", "i", "n", "l"], "properties": {
        "t": {"type": "string"}, "j": {}, "c": {"type": "string", "maxLength": 40}, "i": {"type": "integer", "minimum": 0},
        "n": {"type": "number", "minimum": -1.5, "maximum": 40}, "l": {"type": "array", "items": {"type": "boolean"}}}}
    header = os.path.join(OUT, "made.h")
    code, made, said = shapes(schema, "--text", "10", "--json", "20", "--list", "3", "--bytes", "--int32", "--fixed", "2", "--name", "all",
                              "-o", header)
    with open(header, encoding="utf-8") as f:
        rows = f.read()
    check(code == 0 and not made, said)
    for kind in ("string(0, 10), t", "json(20), j", "text(0, 40), c", "integer(0, INT32_MAX), i", "fixed(2, -1.5, 40), n",
                 "TCALL_OPEN_LIST(all_l, boolean, 0, 3)", "TCALL_SHAPE(all, ALL_ROWS)", "#ifndef MADE_H"):
        check(kind in rows, "%s: %s" % (kind, rows))
    compiles('#include "%s"\n#include "%s"\n' % (header, header), "header")
    code, made, said = shapes(schema, "--most", "100")
    check("characters_in(0, 40, 100), c" in made, made)
    big = {"type": "object", "properties": {"l": {"type": "array", "maxItems": 2000, "items": {"type": "string"}}}}
    code, made, said = shapes(big, "--name", "big")
    check(code == 1 and "65,535" in said and not made.strip(), said)
    big["properties"]["l"] = {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {
        "type": "string"}}}}}
    code, made, said = shapes(big, "--name", "big")
    check(code == 0 and "big: size: 4 items" in said and "TCALL_OPEN_LIST(big_l, list(big_l_item), 0, 4)" in made, said + made)
    compiles(made, "a list with less room")
    deep = {"type": "boolean"}
    for i in range(7):
        deep = {"type": "array", "items": deep}
    code, made, said = shapes(tool("deep", deep), "-o", header, "--list", "2")
    with open(header, encoding="utf-8") as f:
        check("TOOLCALL_SHAPE_LEVELS < 8" in f.read(), "levels")
    check(shapes({}, "--txt", "3")[0] == 2 and shapes({}, "--text", "0")[0] == 2, "wrong options")
    check(subprocess.run([SHAPES], capture_output=True).returncode == 2, "usage")


def rule():
    """make DIRECTORY/NAME.h"""
    path = os.path.join(OUT, "rule")
    for value, works in ((tool("ruled", {}), True), (tool("ruled", {"not": {}}), False)):
        with open(path + ".json", "w", encoding="utf-8") as f:
            json.dump(value, f)
        if os.path.exists(path + ".h"):
            os.remove(path + ".h")
        done = subprocess.run(["make", "-s", os.path.relpath(path + ".h", ROOT)], cwd=ROOT, capture_output=True, text=True)
        check((done.returncode == 0) == works == os.path.exists(path + ".h"), "make: %s %s" % (done.stdout, done.stderr))


# Names that the language, its headers or toolcall.h have, and numbers at the edges of types.
WORDS = ["a", "b", "A", "a b", "a.b", "", "ä", "_x", "__x", "_X", "_Bool", "me", "ROW", "given_", "none_", "count", "items", "near", "float",
         "main", "NULL", "TRUE", "bool", "errno", "INT32_MAX", "CHAR_BIT", "size_t", "int32_t", "tcall_str", "TCALL_OK", "tcall", "x" * 200,
         "named", "defaults", "word_count", "names_", "shape", "item", "co_await", "linux", "*/", "/*", "??/", "%s", "\n"]
EDGES = [0, 1, -1, 5, 254, 255, 65534, 65535, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**53 + 1, 2**63 - 1, 2**63, -2**63, 1e18, 1e30, -1e30, 1e300,
         0.5, -0.25, 1e-6, 1e-7, 9e12, 9.1e12, 123456.654321]


def random_schema(dice, depth=1):
    """Some schema, most of them odd."""
    kind = dice.choice(["string", "integer", "number", "boolean", "array", "object", "enum", "words", "types", "anyOf", "oneOf", "allOf"])
    if depth > 3 and kind in ("array", "object", "anyOf", "oneOf", "allOf"):
        kind = "string"
    made = {"type": kind}
    if kind in ("integer", "number"):
        made.update((k, dice.choice(EDGES)) for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "default") if dice.random() < 0.35)
    elif kind in ("string", "array"):
        ends = ("minLength", "maxLength") if kind == "string" else ("minItems", "maxItems")
        made.update((k, dice.choice([0, 1, 2, 8, 100, 16384, 65533, 65534, 65535, 2**31])) for k in ends if dice.random() < 0.4)
        if kind == "array":
            made["items"] = random_schema(dice, depth + 1)
        elif dice.random() < 0.5:
            made["default"] = dice.choice(WORDS + ["é" * 5, "x\u0001b", "\\\""])
    elif kind == "object":
        made["properties"] = {dice.choice(WORDS): random_schema(dice, depth + 1) for _ in range(dice.randint(0, 4))}
        made["required"] = [name for name in made["properties"] if dice.random() < 0.5]
        made["additionalProperties"] = dice.random() < 0.5
    elif kind == "enum":
        made = {"enum": [dice.choice(WORDS) for _ in range(dice.randint(1, 6))]}
        made["default"] = made["enum"][0]
    elif kind == "words":
        made = {"enum": ["%s%d" % (dice.choice("vw"), i) for i in range(dice.choice([100, 128, 254, 255]))]}
    elif kind == "types":
        made["type"] = dice.sample(["string", "integer", "number", "boolean", "null", "array", "object"], dice.randint(1, 7))
    elif kind != "boolean":
        made = {kind: [random_schema(dice, depth + 2) for _ in range(dice.randint(1, 3))]}
    if dice.random() < 0.2:
        made["description"] = dice.choice(WORDS)
    return made


def always_compiles(definitions, what):
    """What is made compiles, whatever is refused."""
    code, rows, said = shapes(definitions, "--tools", "TOOLS")
    if check(code in (0, 1), "%s: exit code %d: %s" % (what, code, said[-300:])):
        compiles(rows, what, "-Wno-overlength-strings", "-DTOOLCALL_SHAPE_LEVELS=30")


def odd():
    """Two enums that are too long together, and random definitions with names that others have: none may make a
    header that does not compile. SHAPES_FULL=1 takes 300 files of them, and all real ones, instead of some."""
    long = {"anyOf": [{"enum": ["%s%d" % (c, i) for i in range(150)]} for c in "vw"]}
    code, rows, said = shapes(tool("long", long))
    check(code == 1 and "more than 254 words" in said and not rows.strip(), said)
    for seed in range(300 if FULL else 12):
        dice = random.Random(seed)
        always_compiles([{"name": dice.choice(WORDS), "inputSchema": {"type": "object", "properties": {
            dice.choice(WORDS): random_schema(dice) for _ in range(dice.randint(1, 4))}}} for _ in range(8)], "odd %d" % seed)
    header = os.path.join(OUT, "3d-x.h")
    shapes(tool("a*/ b", {}), "-o", header)
    compiles('#include "%s"\n' % header, "a name that no macro has")


def real():
    """The definitions of real tools."""
    folder = os.path.join(ROOT, "..", "shared", "data", "schemas")
    files = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    if not files:
        print("shapes: ../shared/data is absent, real definitions are skipped")
    for name in files[:: 1 if FULL else 8]:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            always_compiles(f.read(), name)


def main():
    os.makedirs(OUT, exist_ok=True)
    for part in (kinds, refused, defaults, names, forms, options, rule, odd, real):
        part()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
