#!/usr/bin/env python3
"""Requests that the library writes, held against what the providers publish.

Every tool of ../shared/data/schemas is written for each provider, strict and
not, with every tool choice, with and without members of the user, before and
after calls with results; and conversations with reasoning go from each provider
to each other and back. Then

    types    one TypeScript compile holds all requests against the types of the
             official packages, which know every member that may be there
    openapi  OpenAI's own OpenAPI file, for Chat Completions and Responses, and
             Ollama's
    strict   the rules of strict modes, on every tool that is sent as strict
    rules    those of tests/rules.py, on what was said before a switch

The packages come by npm into build/types. Without npm, or where it cannot
fetch them, types and openapi count as skipped, and so does all without data.
"""
import json
import os
import re
import subprocess
import sys
from collections import Counter

import answers
import live
import npm
import rules
from checks import Checks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "..", "shared", "data")
PROBE = os.path.join(ROOT, "build", "probe")
TYPES = os.path.join(ROOT, "build", "types")
PACKAGES = ["typescript@^7", "openai", "@anthropic-ai/sdk", "ollama",
            "@google/genai", "groq-sdk", "@mistralai/mistralai", "ajv"]
PROVIDERS = ["openai", "responses", "anthropic", "ollama", "gemini", "groq",
             "mistral", "interactions"]
PACK = 20  # tools in one request

# What follows may be sent though the packages do not name it:
# - Ollama's server reads ids of calls and of results, and more of a property.
# - Groq's server takes stream_options.
# - The package of Mistral adds index and prefix by itself.
# - The package of Gemini speaks of config where the wire has its members.
# An enum of a package is text on the wire.
HEAD = """
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import * as Ollama from "ollama";
import * as Gemini from "@google/genai";
import * as Groq from "groq-sdk/resources/chat/completions";
import * as Mistral from "@mistralai/mistralai/models/components";
type Wire<T> = T extends string ? `${T}` : T extends (infer I)[] ? Wire<I>[]
    : T extends object ? {[K in keyof T]: Wire<T[K]>} : T;
type openai = OpenAI.ChatCompletionCreateParams;
type responses = OpenAI.Responses.ResponseCreateParams;
type anthropic = Anthropic.MessageCreateParams;
type groq = Groq.ChatCompletionCreateParams
    & {stream_options?: {include_usage: boolean}};
type Sent<T> = T extends (infer I)[] ? Sent<I>[] : T extends object
    ? {[K in keyof T as K extends "index" | "prefix" ? never : K]: Sent<T[K]>} : T;
type mistral = Sent<Mistral.ChatCompletionRequest$Outbound
    | Mistral.ChatCompletionStreamRequest$Outbound>;
type Property = {type?: string | string[], items?: unknown, enum?: unknown[],
    description?: string, anyOf?: Property[], required?: string[],
    properties?: {[key: string]: Property}};
type ollama = Omit<Ollama.ChatRequest, "messages" | "tools"> & {
    messages: (Omit<Ollama.Message, "tool_calls"> & {tool_call_id?: string,
        tool_calls?: (Ollama.ToolCall & {id?: string})[]})[],
    tools?: (Omit<Ollama.Tool, "function"> & {
        function: Omit<Ollama.Tool["function"], "parameters"> & {
            parameters?: Property}})[]};
type gemini = Wire<{contents: Gemini.Content[], tools?: Gemini.Tool[],
    toolConfig?: Gemini.ToolConfig, systemInstruction?: Gemini.Content,
    generationConfig?: Gemini.GenerationConfig}>;
type interactions = Gemini.Interactions.CreateModelInteractionParamsNonStreaming;
"""

AJV = """
const Ajv = require("ajv/dist/2020"), fs = require("fs");
const ajv = new Ajv({strict: false, validateFormats: false, logger: false});
// "nullable" is of an older OpenAPI, and nothing that is sent is null.
ajv.addSchema(JSON.parse(fs.readFileSync(process.argv[2]),
    (key, v) => key === "nullable" ? undefined : v), "api");
const check = {};
for (const line of fs.readFileSync(0, "utf8").split("\\n")) {
    if (!line) continue;
    const [name, body] = JSON.parse(line);
    const f = check[name] ??=
        ajv.compile({$ref: "api#/components/schemas/" + name});
    console.log(f(body) ? "ok" : JSON.stringify(f.errors.slice(0, 3)));
}
"""

# Members of the user, for a third of the requests.
FORM = {"type": "object", "properties": {"answer": {"type": "string"}},
        "required": ["answer"], "additionalProperties": False}
EXTRA = {
    "openai": {"reasoning_effort": "none", "temperature": 0.5, "seed": 7, "response_format": {
        "type": "json_schema", "json_schema": {"name": "said", "schema": FORM, "strict": True}}},
    "responses": {"reasoning": {"effort": "low"}, "service_tier": "auto", "text": {"format": {
        "type": "json_schema", "name": "said", "schema": FORM, "strict": True}}},
    "anthropic": {"output_config": {"effort": "low", "format": {
        "type": "json_schema", "schema": FORM}}, "metadata": {"user_id": "me"}},
    "ollama": {"think": True, "keep_alive": "5m", "format": FORM,
               "options": {"num_ctx": 16384, "temperature": 0.5}},
    "gemini": {"generationConfig": {"temperature": 0.5, "responseMimeType": "application/json",
                                    "responseJsonSchema": FORM}},
    "interactions": {"generation_config": {"thinking_level": "low"}, "labels": {"who": "me"},
                     "response_format": {"type": "text", "mime_type": "application/json",
                                         "schema": FORM}},
    "groq": {"reasoning_effort": "low", "temperature": 0.5},
    "mistral": {"temperature": 0.5, "safe_prompt": True}}

# Of the answers with reasoning: what only the provider can read.
OPAQUE = re.compile("c2lnbmVk|cmVkYWN0ZWQ=|c2VjcmV0")

CALLS = [("call_a1", '{"x": [1, "\\u00e9"]}'), ("call_b2", "not JSON")]


def all_tools():
    folder = os.path.join(DATA, "schemas")
    seen = set()
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            for t in json.load(f):
                if (re.match(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z", t["name"]) and
                        t["name"] not in seen):
                    seen.add(t["name"])
                    yield t


def talk(names):
    """A conversation with two calls, one of them broken, and their results; the
    user and a tool show a picture."""
    return [
        {"role": "system", "text": "Be brief."},
        {"role": "image", "name": "image/png", "text": "not really a picture"},
        {"role": "user", "text": "Look."},
        {"role": "assistant", "text": "Looking.", "calls": [
            {"id": i, "name": n, "arguments": a}
            for n, (i, a) in zip(names, CALLS)]},
        {"role": "tool", "call_id": "call_a1", "name": names[0], "text": "{}"},
        {"role": "image", "call_id": "call_a1", "name": "image/jpeg", "text": "nor is this"},
        {"role": "tool", "call_id": "call_b2", "name": names[1],
         "text": "no", "is_error": True}]


def questions(tools):
    """Each tool twice, strict and not; options differ from pack to pack."""
    n = 0
    for strict in (False, True):
        for at in range(0, len(tools), PACK):
            pack = tools[at:at + PACK]
            names = [t["name"] for t in pack] * 2
            choice = ["auto", "none", "required", {"name": names[0]}][n % 4]
            yield {
                "tools": [dict(t, strict=strict) for t in pack],
                "messages": talk(names) if n % 3 else talk(names)[1:3],
                "options": {"model": "some-model", "tool_choice": choice,
                            "parallel": n % 5 > 0, "stream": n % 7 > 3,
                            "cache_prompt": n % 2 > 0,
                            "max_tokens": 99 if n % 2 else 0}}
            n += 1


def written(provider, lines):
    lines = [dict(line, options=dict(line["options"], extra=json.dumps(EXTRA[provider])))
             if n % 3 == 1 else line for n, line in enumerate(lines)]
    p = subprocess.run([PROBE, "write", provider], check=True, text=True,
                       encoding="utf-8", stdout=subprocess.PIPE,
                       input="".join(json.dumps(x) + "\n" for x in lines))
    return p.stdout.splitlines()


def switched(first, second):
    """[(provider, request)] of a conversation of three turns, the second with
    another provider; each has reasoning, a call, and words."""
    tool = {"name": "f", "description": "Does it.", "permissions": ["read"],
            "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}
    order = [first, second, first]
    said = live.run(
        {"provider": first, "tools": [tool], "allow": ["read"], "block": 1 << 16,
         "system": "Be brief."},
        [{"user": "go on", "provider": p, "answers": [
            {"body": json.dumps(answers.REASONED[p])}, {"body": answers.FINE[p]}]}
         for p in order])
    return [(p, r) for p, turn in zip(order, said) for r in turn["requests"]], said


# ------------------------------------------------------------------ the checks

def check_switches(check, bodies):
    """Adds the requests of all ordered pairs of providers to the bodies."""
    n = 0
    for first in PROVIDERS:
        for second in PROVIDERS:
            sent, said = switched(first, second)
            what = "%s, then %s" % (first, second)
            check(len(sent) == 6 and not any(t["error"] for t in said),
                  "%s: %s" % (what, [(t["error"], t["text"]) for t in said]))
            # Who comes back gets nothing opaque from before.
            check(first == second or not OPAQUE.search(sent[4][1]),
                  "%s: %s" % (what, sent[4][1]))
            for provider, request in sent:
                wrong = rules.fault(provider, request)
                check(not wrong, "%s: %s in %s" % (what, wrong, request))
                bodies[provider].append(request)
                n += 1
    print("switches: %d requests" % n)


def packages():
    """Why the packages are not there, or None."""
    return npm.fetch("types", PACKAGES, "commonjs")


def check_types(check, bodies):
    """An object literal may have no member that its type does not know."""
    lines = HEAD.split("\n")
    first = len(lines)
    where = []
    for provider in PROVIDERS:
        for i, body in enumerate(bodies[provider]):
            where.append("%s, request %d" % (provider, i))
            lines.append("export const r%d: %s = %s;" % (
                len(where), provider, body))
    with open(os.path.join(TYPES, "requests.ts"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines))
    p = subprocess.run(
        ["node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck",
         "--target", "es2022", "--module", "nodenext", "--types", "",
         "--pretty", "false", "requests.ts"],
        cwd=TYPES, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    faults = {}
    for m in re.finditer(r"^requests\.ts\((\d+),\d+\): (.*(?:\n .*)*)",
                         p.stdout, re.M):
        faults.setdefault(int(m.group(1)) - first - 1, m.group(2))
    odd = p.returncode and not any(0 <= k < len(where) for k in faults)
    check(not odd, "tsc: " + p.stdout[:300])
    for k, name in enumerate(where):
        check(k not in faults, "%s: %s" % (name, faults.get(k)))
    print("types: %d of %d requests fit the types of the packages" % (
        len(where) - len(set(faults) & set(range(len(where)))), len(where)))


# File, provider, and the schema of its requests.
APIS = [("openai.json", "openai", "CreateChatCompletionRequest"),
        ("openai.json", "responses", "CreateResponse"),
        ("ollama.yaml", "ollama", "ChatRequest")]


def description(name):
    """An OpenAPI file as JSON, or None where it cannot be read."""
    path = os.path.join(DATA, "openapi", name)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        if name.endswith(".json"):
            api = json.load(f)
            # A message with a list of contents is two of these items.
            item = api["components"]["schemas"]["InputItem"]
            item["anyOf"] = item.pop("oneOf")
            return api
        try:
            import yaml
        except ImportError:
            return None
        return yaml.safe_load(f)


def check_openapi(check, bodies):
    with open(os.path.join(TYPES, "check.js"), "w") as f:
        f.write(AJV)
    for name, provider, schema in APIS:
        api = description(name)
        if not api:
            check.skip("openapi", name + " or python3-yaml is not there")
            continue
        with open(os.path.join(TYPES, "api.json"), "w") as f:
            json.dump(api, f)
        todo = bodies[provider]
        p = subprocess.run(["node", "check.js", "api.json"], cwd=TYPES, text=True,
                           encoding="utf-8", stdout=subprocess.PIPE,
                           input="".join('["%s",%s]\n' % (schema, x) for x in todo))
        said = p.stdout.splitlines()
        check(len(said) == len(todo), "ajv: %d answers" % len(said))
        for request, answer in zip(todo, said):
            check(answer == "ok", "%s: %s in %s" % (schema, answer, request))
        print("openapi: %d of %d requests fit %s of %s" % (
            said.count("ok"), len(todo), schema, name))


FORMATS = {"openai": {"date-time", "time", "date", "duration", "email", "hostname",
                      "ipv4", "ipv6", "uuid"}}
FORMATS["anthropic"] = FORMATS["openai"] | {"uri"}
KEYS = {
    "openai": {"type", "description", "enum", "const", "format", "properties",
               "required", "items", "anyOf", "$ref", "$defs", "definitions",
               "additionalProperties", "pattern", "minimum", "maximum",
               "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
               "minItems", "maxItems"},
    "anthropic": {"type", "description", "title", "enum", "const", "format",
                  "properties", "required", "items", "anyOf", "allOf", "$ref",
                  "$defs", "additionalProperties", "minItems"}}


def strict_faults(s, rules, count, where="", level=0):
    """What a strict mode would refuse of a schema; count gets the limits."""
    if not isinstance(s, dict):
        yield where + ": a schema that is no object"
        return
    for key in set(s) - KEYS[rules]:
        yield "%s: %s" % (where, key)
    if level > 10 and rules == "openai":
        yield where + ": deeper than 10"
    if not set(s) & {"type", "anyOf", "allOf", "$ref", "enum", "const"}:
        yield where + ": a value of any kind"
    kinds = s.get("type", [])
    count["union"] += isinstance(kinds, list) and "type" in s
    count["union"] += "anyOf" in s
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if re.search(r"\(\?[^:]", s.get("pattern", "")):
        yield "%s: pattern %s" % (where, s["pattern"])
    if rules == "anthropic" and s.get("minItems", 0) not in (0, 1):
        yield "%s: minItems %s" % (where, s["minItems"])
    if "format" in s and s["format"] not in FORMATS[rules]:
        yield "%s: format %s" % (where, s["format"])
    if "array" in kinds and "items" not in s:
        yield where + ": no items"
    if "object" in kinds or "properties" in s:
        properties = s.get("properties")
        if s.get("additionalProperties") is not False:
            yield where + ": not closed"
        if properties is None:
            yield where + ": no properties"
        left = set(properties or ()) - set(s.get("required", ()))
        count["optional"] += len(left)
        count["property"] += len(properties or ())
        if left and rules == "openai":
            yield "%s: not required: %s" % (where, sorted(left))
        if set(s.get("required", ())) - set(properties or ()):
            yield where + ": required, but not there"
    for key in ("anyOf", "allOf"):
        for i, x in enumerate(s.get(key, ())):
            yield from strict_faults(x, rules, count,
                                     "%s/%s/%d" % (where, key, i), level)
    for key in ("properties", "$defs", "definitions"):
        for name, x in (s.get(key) or {}).items():
            yield from strict_faults(x, rules, count,
                                     "%s/%s" % (where, name), level + 1)
    if "items" in s:
        yield from strict_faults(s["items"], rules, count, where + "/[]",
                                 level + 1)


def check_strict(check, bodies):
    seen = Counter()
    for provider in ("openai", "responses", "anthropic"):
        rules = "anthropic" if provider == "anthropic" else "openai"
        for body in bodies[provider]:
            count = Counter()
            for t in json.loads(body).get("tools", ()):
                t = t.get("function", t)
                if not t.get("strict"):
                    continue
                schema = t.get("parameters", t.get("input_schema"))
                faults = list(strict_faults(schema, rules, count))
                if schema.get("type") != "object":
                    faults.append("the root is no object")
                count["tool"] += 1
                check(not faults, "%s, %s: %s" % (
                    provider, t["name"], "; ".join(faults[:3])))
            seen[provider] += count["tool"]
            if rules == "anthropic":
                check(count["tool"] <= 20 and count["optional"] <= 24 and
                            count["union"] <= 16, "limits: %s" % dict(count))
        check(seen[provider] > 100, "%s: only %d strict tools" % (
            provider, seen[provider]))
    print("strict: %s tools keep to the rules" % ", ".join(
        "%s %d" % x for x in seen.items()))


def main():
    check = Checks("requests")
    if not os.path.isdir(os.path.join(DATA, "schemas")):
        check.skip("requests", "there is no " + DATA)
    else:
        lines = list(questions(list(all_tools())))
        half = len(lines) // 2  # strict says nothing to Ollama and Gemini
        some = {"ollama": lines[:half], "gemini": lines[:half], "interactions": lines[:half],
                "groq": lines[::11], "mistral": lines[1::11]}
        bodies = {p: written(p, some.get(p, lines)) for p in PROVIDERS}
        check_strict(check, bodies)
        check_switches(check, bodies)
        why = packages()
        if why:
            check.skip("types", why)
            check.skip("openapi", why)
        else:
            check_types(check, bodies)
            check_openapi(check, bodies)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
