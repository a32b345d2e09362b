"""write: requests with every real tool. Their members are held against the official packages by tests/requests.py; here
it is shown that nothing is lost: each tool, and each word of the conversation."""
import json

from .common import Died, brief, parsed, same
from .recordings import HOWS, text_in
from .tools import usable_tools
from .writeback import TURNS, differ_turns

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
API = {"openai": "chat_completions", "ollama": "ollama_chat", "anthropic": "anthropic_messages",
       "responses": "openai_responses", "gemini": "gemini_generate_content"}


def turns_of(talk, how):
    """The conversation in the form of TURNS."""
    out = []
    for m in talk:
        if m["role"] == "user":
            out.append(["user", m["text"]])
        elif m["role"] == "assistant":
            calls = [(c["id"], c["name"], parsed(c["arguments"])) for c in m["calls"]]
            if how == "gemini":  # nothing is signed: Google takes this word for it
                calls = [c + ("skip_thought_signature_validator",) for c in calls]
            out.append(["answer", m["text"], [], calls, m])
        elif m["role"] == "tool":
            out.append(["result", m["call_id"], m["text"], bool(m.get("is_error"))])
    return out


def system_of(how, body):
    if how == "anthropic":
        return text_in(body.get("system"))
    if how == "responses":
        return body.get("instructions")
    if how == "gemini":
        return text_in((body.get("systemInstruction") or {}).get("parts"))
    return text_in(body["messages"][0].get("content"))


def sent_tools(how, body):
    """(name, description, schema) of each tool of a request."""
    tools = body.get("tools", [])
    if how == "gemini":
        tools = [f for t in tools for f in t["functionDeclarations"]]
    if how in ("openai", "ollama"):
        tools = [t["function"] for t in tools]
    schema = {"anthropic": "input_schema", "gemini": "parametersJsonSchema"}.get(how, "parameters")
    return [(f.get("name"), f.get("description") or "", f.get(schema)) for f in tools]


def judge_tools(how, body, tools):
    sent = sent_tools(how, body)
    if len(sent) != len(tools):
        return ["tools: %d, not %d" % (len(sent), len(tools))]
    out = []
    for t, (name, description, schema) in zip(tools, sent):
        if name != t["name"] or description != (t.get("description") or ""):
            out.append("%s is sent as %s: %s" % (t["name"], brief(name), brief(description)))
        if not (isinstance(schema, dict) if how == "ollama" else same(schema, t["parameters"])):
            out.append("schema of %s changed: %s" % (t["name"], brief(schema)))
    return out


def judge_talk(how, body, talk):
    got = TURNS[API[how]](body, None)
    why = differ_turns(how, turns_of(talk, how), got)
    out = [why] if why else []
    if talk[0]["role"] == "system" and system_of(how, body) != talk[0]["text"]:
        out.append("system: " + brief(system_of(how, body)))
    if how in ("anthropic", "gemini"):  # which have a place for it
        if [t[3] for t in got if t[0] == "result"] != [bool(m.get("is_error")) for m in talk if m["role"] == "tool"]:
            out.append("not the same results are errors")
        # Gemini wants results in a content of their own.
        roles = ["results" if how == "gemini" and "functionResponse" in m["parts"][0] else m["role"]
                 for m in body.get("messages", body.get("contents"))]
        if any(a == b for a, b in zip(roles, roles[1:])):
            out.append("roles do not take turns: %s" % roles)
    return out


def judge_body(how, body, tools, talk, options):
    """Faults of a request body."""
    if not isinstance(body, dict):
        return ["no object"]
    out = judge_tools(how, body, tools) + judge_talk(how, body, talk)
    if how != "gemini" and body.get("model") != options["model"]:
        out.append("model is " + brief(body.get("model")))
    if how != "gemini" and body.get("stream", how == "ollama") is not options["stream"]:
        out.append("stream is " + brief(body.get("stream")))
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
            talk = talk if n % 3 else talk[1:2]
            options = {"model": "some-model", "stream": n % 2 == 1}
            lines.append({"tools": [{"name": t["name"], "description": t.get("description") or "", "parameters": t["parameters"]}
                                    for t in pack], "messages": talk, "options": options})
            talks.append((pack, talk, options))
        good = 0
        for (pack, talk, options), r in zip(talks, probe.ask(["write", how], lines)):
            faults = [r.why] if isinstance(r, Died) else judge_body(how, r, pack, talk, options)
            good += p.check(not faults, "%s with %s ..." % (how, pack[0]["name"]), "; ".join(faults[:4]))
        p.bar(good == len(packs), "%s: %d/%d bodies right, %d tools%s" % (
            how, good, len(packs), sum(len(x[0]) for x in talks), "" if how == "ollama" else ", schemas unchanged"))
