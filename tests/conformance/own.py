"""A reduced set of cases, all of them made for this project, for those who have no ../shared/data.

write(FOLDER) lays them out as the large set is, so that every part runs on them as on that.
"""
import json
import lzma
import os

from .common import dump, load
from .recordings import APIS

# ---------------------------------------------------------------- JSON texts

JSON = {
    "y": [b"[]", b"{}", b" {\t\r\n} ", b"0", b"-0", b"10", b"-1.5", b"1e5", b"1E+2", b"[1.5e-3,0.0,123456789012345678901234567890]",
          b"true", b"[true,false,null]", b'""', b'"a\\"\\\\\\/\\b\\f\\n\\r\\t"', b'"\\u00e9\\uABCD"', b'"\\ud83d\\ude00"',
          '"\u00fc\u20ac\U0001f600\u2028"'.encode(), b'"\x7f"', b'{"":0}', b'{"a":{"b":[{},[],""]}}', b'{"a":1,"A":2}',
          b'{"\\u0061b":1,"a":2}', b"[[[[[[[[[[]]]]]]]]]]", b'["[","{","]","}",",",":"]', b'{"a":1}\n', b'"\\u0000"'],
    "n": [b"", b" ", b"[", b"]", b"{", b"[}", b"{]", b"[1,]", b"[,1]", b"[1,,2]", b"[1 2]", b"[1]]", b"[1]x", b"[] []", b'{"a":1,}',
          b'{,"a":1}', b'{"a" 1}', b'{"a":}', b'{"a"}', b'{"a":1 "b":2}', b'{"a":1,"b"}', b"{a:1}", b"{'a':1}", b"{1:1}", b'{"a"::1}',
          b"['a']", b"[01]", b"[-01]", b"[1.]", b"[.5]", b"[+1]", b"[1e]", b"[1e+]", b"[-]", b"[--1]", b"[0x10]", b"[1_000]", b"[NaN]",
          b"[Infinity]", b"nul", b"True", b"nulll", b'["a', b'["a\\"]', b'["\\x41"]', b'["\\u12"]', b'["\\u12G4"]', b'["\\"', b'["\\a"]',
          b'["a\nb"]', b'["a\tb"]', b'["\x00"]', b"[1]\x00", b"[\x0c]", b"\xc2\xa0[]", b"// c\n[]", b"[/* c */]", b'"a" "b"', b"#"],
    "i": [b'["\xff"]', b'["\\ud800"]', b'["\\udc00\\ud800"]', b'["\xed\xa0\x80"]', b"\xef\xbb\xbf{}", b"[1e999]", b"[-1e-999]",
          b"[" * 600 + b"]" * 600, b'{"a":1,"a":2}', b'["\xc0\xaf"]', b"[1e99999999999]"]}

# ---------------------------------------------------------------- arguments of calls

VALID = ["{}", ' {"city":"Oslo"} ', '{"a":[1,-2.5e+3,true,false,null],"b":{"c":{}}}', '{"n":9007199254740993}',
         '{"t":"\\u00fc \\ud83d\\ude00 \\\\ \\/ \\n"}', '{"url":"https://example.org/?a=1#b","code":"if (a) { b(); } // c"}']
# what came, what it is, the names of what was rewritten
SAFE = [("", "{}", "empty-args"), ("null", "{}", "null-args"), ('{"on":True,"x":None,"y":False}', '{"on":true,"x":null,"y":false}', "python-literal"),
        ("{'a':'b'}", '{"a":"b"}', "single-quote"), ("{\u201ca\u201d:\u201cb\u201d}", '{"a":"b"}', "smart-quote"),
        ('{"a":"it\\\'s"}', '{"a":"it\'s"}', "escaped-apostrophe"), ('{"a":"one\ntwo\tthree"}', '{"a":"one\\ntwo\\tthree"}', "raw-control"),
        ('\ufeff{"a":1}', '{"a":1}', "unicode-space"), ('{"a":1, // why\n"b":2}', '{"a":1,"b":2}', "comment"),
        ('{"a":[1,2,],}', '{"a":[1,2]}', "trailing-comma"), ('{pin: 4, on: true}', '{"pin":4,"on":true}', "unquoted-key"),
        ('{"a":+5,"b":.5,"c":5.}', '{"a":5,"b":0.5,"c":5}', "number-form"), ('```json\n{"a":1}\n```', '{"a":1}', "code-fence"),
        ('{"a":{"b":1}}}', '{"a":{"b":1}}', "extra-closer"), ('"{\\"a\\":1}"', '{"a":1}', "double-encoded"),
        ('{\\"a\\":\\"b\\"}', '{"a":"b"}', "escaped-object"), ('{"a":1}{"a":1}', '{"a":1}', "repeated"),
        ("{'a':True,}", '{"a":true}', "python-literal single-quote trailing-comma")]
REFUSED = [('{"a":1', "truncated"), ('{"a":"b', "truncated"), ('{"a":[1,2', "truncated"), ('{"path":"a.c","content":"int main() {', "truncated"),
           ('{"a":[1,2}', "bracket-mismatch"), ('{"x":data["sales"]}', "bare-word"), ('{"w":3 * 4}', "missing-comma"),
           ('{"a":1 "b":2}', "missing-comma"), ('{"a":1,,"b":2}', "bad-key"), ('{"a":Infinity}', "bare-word"), ('{"a":-Infinity}', "bad-value"),
           ('{"re":"\\d+"}', "bad-escape"), ('{"a":"\\u0000"}', "nul"), ('{"a":"say "hi" now"}', "unescaped-quote-or-missing-comma"),
           ("[1,2]", "root-not-object"), ("20", "root-not-object"), ('"a"', "root-not-object"), ('{"a":1} and more', "trailing-data"),
           ('{}{"a":1}', "multiple-values"), ("rm -rf", "bare-word")]

# ---------------------------------------------------------------- schemas

# schema, values that fit, values that do not
BOTH = [
    ("true", "1 null {}", ""), ("false", "", "1 null {}"), ('{"type":"integer"}', "1 1.0 -0 1e2 12345678901234567890", '1.5 "1" null true'),
    ('{"type":["string","null"]}', '"" null', "0 false []"), ('{"type":"number"}', "1 1.5", '"1" true'), ('{"type":"object"}', "{}", "[] 0"),
    ('{"enum":["a",1,null,[1]]}', '"a" 1.0 null [1]', '"A" 2 false [2] []'), ('{"const":{"a":[1]}}', '{"a":[1]} {"a":[1.0]}', '{"a":[]} {}'),
    ('{"minimum":0.1,"maximum":0.3}', '0.1 0.3 0.2 "x"', "0.09 0.30000000000000000001 -1"),
    ('{"exclusiveMinimum":1,"exclusiveMaximum":2}', "1.5", "1 2 2.0"), ('{"multipleOf":0.01}', "0.07 19.99 1e2", "0.075 19.999"),
    ('{"multipleOf":3}', '9 -3 0 "x"', "10 1.5"), ('{"minLength":2,"maxLength":3}', '"ab" "\u00fc\u20ac\U0001f600" 1', '"a" "\U0001f600" "abcd"'),
    ('{"pattern":"^[a-z]+-\\\\d{2,3}$"}', '"ab-12" "x-123" 5', '"ab-1" "AB-12" "ab-1234"'), ('{"pattern":"a|b"}', '"xbx"', '"x"'),
    ('{"items":{"type":"integer"},"minItems":1,"maxItems":2}', "[1] [1,2] {}", '[] [1,2,3] ["1"]'),
    ('{"uniqueItems":true}', '[1,2] [] [1,true] [{"a":1},{"a":2}]', '[1,1.0] [{"a":1,"b":2},{"b":2,"a":1}]'),
    ('{"contains":{"const":5}}', "[1,5] {}", "[] [1]"),
    ('{"properties":{"a":{"type":"string"}},"required":["a"]}', '{"a":"x"} {"a":"","b":1} []', '{} {"a":1} {"b":"x"}'),
    ('{"properties":{"a":{}},"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}', '{} {"a":1,"x1":null}', '{"b":1} {"x":1}'),
    ('{"additionalProperties":{"type":"integer"}}', '{"a":1}', '{"a":"1"}'), ('{"propertyNames":{"maxLength":2}}', '{"ab":1} []', '{"abc":1}'),
    ('{"minProperties":1,"maxProperties":2}', '{"a":1}', '{} {"a":1,"b":2,"c":3}'), ('{"not":{"type":"string"}}', "1 null", '"x"'),
    ('{"allOf":[{"minimum":1},{"maximum":3}]}', "2", "0 4"), ('{"anyOf":[{"type":"string"},{"minimum":5}]}', '"x" 6', "4"),
    ('{"oneOf":[{"multipleOf":2},{"multipleOf":3}]}', "2 3", "6 5"), ('{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}}', "20 3", "11 7"),
    ('{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}', '{"next":{"next":{}}}', '{"next":{"nxt":{}}}'),
    ('{"$ref":"#/definitions/a~1b","definitions":{"a/b":{"type":"null"}}}', "null", "0"),
    ('{"title":"t","description":"d","default":5,"examples":[1],"type":"string"}', '"x"', "5")]
DRAFT = {
    "draft2020-12": [
        ('{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}', '["a",1] ["a"] []', '[1] ["a",1,2]'),
        ('{"$ref":"#/$defs/a","maximum":3,"$defs":{"a":{"minimum":1}}}', "2", "0 4"),
        ('{"dependentRequired":{"a":["b"]}}', '{} {"a":1,"b":2} {"b":1}', '{"a":1}'),
        ('{"dependentSchemas":{"a":{"required":["b"]}}}', '{"a":1,"b":2}', '{"a":1}'),
        ('{"contains":{"type":"string"},"minContains":2,"maxContains":3}', '["a","b"]', '["a"] ["a","b","c","d"]')],
    "draft7": [
        ('{"items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}', '["a",1] ["a"]', '[1] ["a",1,2]'),
        ('{"dependencies":{"a":["b"],"c":{"maxProperties":1}}}', '{"a":1,"b":2} {"c":1}', '{"a":1} {"c":1,"d":2}'),
        ('{"properties":{"x":{"$ref":"#/definitions/a"}},"definitions":{"a":{"minimum":1}}}', '{"x":4}', '{"x":0}')]}


def suite(cases):
    return [{"description": schema, "schema": load(schema), "tests": [
        {"description": value, "data": load(value), "valid": valid}
        for values, valid in ((good, True), (bad, False)) for value in values.split(" ") if value]} for schema, good, bad in cases]


# ---------------------------------------------------------------- tools

TEXT, NUMBER, COUNT, FLAG = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}


def word(*values):
    return {"type": "string", "enum": list(values)}


def within(schema, low, high):
    return dict(schema, minimum=low, maximum=high)


def many(schema, least=0):
    return {"type": "array", "items": schema, "minItems": least}


# name: what it does, its parameters; those with a ? may be left out
TOOLS = {
    "set_lamp": ("Switch a lamp.", {"room": TEXT, "on": FLAG, "percent?": within(COUNT, 0, 100)}),
    "set_blind": ("Move a blind.", {"window": word("north", "south"), "percent": within(COUNT, 0, 100)}),
    "read_tank": ("How full a tank is.", {"tank": {"type": "string", "pattern": "^T[0-9]+$"}}),
    "set_pump": ("Run a pump.", {"litres": within(NUMBER, 0.5, 40), "valves": many(within(COUNT, 1, 8), 1)}),
    "log_note": ("Write a note down.", {"text": {"type": "string", "minLength": 1, "maxLength": 200}, "tags?": many(TEXT)}),
    "find_part": ("Look for a part in the store.", {"words": many(TEXT, 1), "limit?": within(COUNT, 1, 50)}),
    "move_arm": ("Move the arm to a place.", {"to": {"type": "object", "properties": {"x": NUMBER, "y": NUMBER}, "required": ["x", "y"],
                                                     "additionalProperties": False}, "slow?": FLAG}),
    "plan_route": ("Plan a way over places.", {"places": many({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}, 2)}),
    "set_clock": ("Set the clock.", {"seconds": dict(COUNT, exclusiveMinimum=0)}),
    "play_tone": ("Play a tone.", {"hertz": dict(within(COUNT, 100, 8000), multipleOf=10), "wave?": word("sine", "square")}),
    "book_slot": ("Book a time.", {"who": TEXT, "day": word("mon", "tue", "wed"), "hour": within(COUNT, 8, 17)}),
    "grant": ("Open a door for somebody.", {"door": {"const": "main"}, "minutes": {"anyOf": [within(COUNT, 1, 60), {"type": "null"}]}}),
    "mix_colour": ("Mix a colour.", {"rgb": {"type": "array", "items": within(COUNT, 0, 255), "minItems": 3, "maxItems": 3, "uniqueItems": False}}),
    "count_up": ("Count.", {}), "stop_all": ("Stop everything that moves.", {}),
    "send_line": ("Send a line to a display.", {"row": within(COUNT, 0, 3), "text": {"type": "string", "maxLength": 20}}),
    "weigh": ("Weigh what lies on the scale.", {"unit": word("g", "kg", "oz"), "tare?": FLAG}),
    "set_fan": ("Set a fan.", {"speed": {"oneOf": [word("off", "auto"), within(COUNT, 1, 5)]}}),
    "water_bed": ("Water a bed.", {"bed": within(COUNT, 1, 6), "minutes": within(NUMBER, 0.5, 30)}),
    "name_port": ("Name a port.", {"port": COUNT, "name": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,15}$"}}),
    "set_limits": ("Set limits by name.", {"limits": {"type": "object", "additionalProperties": within(NUMBER, 0, 1), "minProperties": 1}}),
    "heat_to": ("Heat to a temperature.", {"celsius": within(NUMBER, 5, 90), "hold?": {"type": ["integer", "null"]}}),
    "dim_at": ("Dim at an hour.", {"hour": within(COUNT, 0, 23), "rooms": {"type": "array", "items": TEXT, "uniqueItems": True}}),
    "ask_user": ("Ask the person at the panel.", {"question": TEXT, "choices?": many(TEXT, 2)})}


def tool(name):
    about, members = TOOLS[name]
    return {"name": name, "description": about, "parameters": {
        "type": "object", "properties": {k.rstrip("?"): v for k, v in members.items()},
        "required": [k for k in members if k[-1] != "?"], "additionalProperties": False}}


# ---------------------------------------------------------------- answers of providers

# words, calls as (id, name, text of its arguments)
LONG = json.dumps({"text": "".join("line %d \"quoted\" \u00fc\n" % i for i in range(60))}, ensure_ascii=False)
ANSWERS = [("It is 21 degrees. \u00fc\U0001f600", []), ("", [("c1", "read_tank", '{"tank":"T1"}')]), ("", [("c1", "stop_all", "{}")]),
           ("I look.\n", [("c1", "set_lamp", '{"room":"\u00fc \\"hall\\"","on":true,"percent":40}'), ("c2", "weigh", '{"unit":"kg"}')]),
           ("", [("c1", "log_note", LONG)]),
           ("", [("c%d" % i, "water_bed", '{"bed":%d,"minutes":0.50}' % i) for i in range(1, 7)])]


def pieces(text, n):
    return [text[i:i + n] for i in range(0, len(text), n)]


def chat(text, calls, stream):
    finish = "tool_calls" if calls else "stop"
    if not stream:
        return {"choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text or None, "tool_calls": [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]}}],
                "usage": {"prompt_tokens": 7, "completion_tokens": 5}}
    deltas = [{"role": "assistant", "content": ""}] + [{"content": p} for p in pieces(text, 5)]
    for k, (i, n, a) in enumerate(calls):
        deltas.append({"tool_calls": [{"index": k, "id": i, "type": "function", "function": {"name": n, "arguments": ""}}]})
        deltas += [{"tool_calls": [{"index": k, "function": {"arguments": p}}]} for p in pieces(a, 7)]
    return [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas] + [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}}, "[DONE]"]


def anthropic(text, calls, stream):
    stop, usage = "tool_use" if calls else "end_turn", {"input_tokens": 7, "output_tokens": 5}
    blocks = [({"type": "text", "text": text}, "text_delta", "text", pieces(text, 5))] if text else []
    blocks += [({"type": "tool_use", "id": i, "name": n, "input": json.loads(a)}, "input_json_delta", "partial_json", pieces(a, 7)) for i, n, a in calls]
    if not stream:
        return {"type": "message", "role": "assistant", "content": [b[0] for b in blocks], "stop_reason": stop, "usage": usage}
    out = [{"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], "usage": usage}}, {"type": "ping"}]
    for k, (block, kind, key, parts) in enumerate(blocks):
        empty = dict(block, text="") if kind == "text_delta" else dict(block, input={})
        out.append({"type": "content_block_start", "index": k, "content_block": empty})
        out += [{"type": "content_block_delta", "index": k, "delta": {"type": kind, key: p}} for p in parts]
        out.append({"type": "content_block_stop", "index": k})
    return out + [{"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}}, {"type": "message_stop"}]


def responses(text, calls, stream):
    items = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed",
              "content": [{"type": "output_text", "text": text, "annotations": []}]}] if text else []
    items += [{"type": "function_call", "id": "f" + i, "call_id": i, "name": n, "arguments": a, "status": "completed"} for i, n, a in calls]
    whole = {"status": "completed", "output": items, "usage": {"input_tokens": 7, "output_tokens": 5}}
    if not stream:
        return whole
    out = [{"type": "response.created", "response": {"status": "in_progress", "output": []}}]
    for k, item in enumerate(items):
        call = item["type"] == "function_call"
        out.append({"type": "response.output_item.added", "output_index": k, "item": dict(item, **({"arguments": ""} if call else {"content": []}))})
        kind = "response.function_call_arguments" if call else "response.output_text"
        where = {"item_id": item["id"], "output_index": k}
        out += [dict(where, type=kind + ".delta", delta=p) for p in pieces(item["arguments"] if call else text, 7)]
        out.append(dict(where, type=kind + ".done", **({"arguments": item["arguments"]} if call else {"text": text})))
        out.append({"type": "response.output_item.done", "output_index": k, "item": item})
    return out + [{"type": "response.completed", "response": whole}]


def ollama(text, calls, stream):
    end = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 5}
    made = [{"id": i, "function": {"name": n, "arguments": json.loads(a)}} for i, n, a in calls]
    if not stream:
        return dict(end, message={"role": "assistant", "content": text, "tool_calls": made})
    out = [{"message": {"role": "assistant", "content": p}, "done": False} for p in pieces(text, 5)]
    out += [{"message": {"role": "assistant", "content": "", "tool_calls": [c]}, "done": False} for c in made]
    return out + [dict(end, message={"role": "assistant", "content": ""})]


def gemini(text, calls, stream):
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 5}
    made = [{"functionCall": {"id": i, "name": n, "args": json.loads(a)}} for i, n, a in calls]

    def said(parts, **more):
        return {"candidates": [dict({"index": 0, "content": {"role": "model", "parts": parts}}, **more)], "usageMetadata": usage}
    if not stream:
        return said(([{"text": text}] if text else []) + made, finishReason="STOP")
    return [said([{"text": p}]) for p in pieces(text, 5)] + [said([c]) for c in made] + [said([{"text": ""}], finishReason="STOP")]


FORMATS = {"chat_completions": chat, "anthropic_messages": anthropic, "openai_responses": responses, "ollama_chat": ollama,
           "gemini_generate_content": gemini}
# a provider, its format, and how it frames a document of a stream
PROVIDERS = [("openai", "chat_completions", "data: %s\n\n"), ("groq", "chat_completions", "data:%s\r\n\r\n"),
             ("openrouter", "chat_completions", ": one moment\n\ndata: %s\n\n"), ("openai_responses", "openai_responses", "event: %t\ndata: %s\n\n"),
             ("anthropic", "anthropic_messages", "event: %t\ndata: %s\n\n"), ("ollama", "ollama_chat", "%s\n"),
             ("gemini", "gemini_generate_content", "data: %s\r\n\r\n")]


def recording(api, frame, text, calls, transport):
    stream = transport != "json"
    response = FORMATS[api](text, calls, stream)
    if transport == "json_array":
        raw = json.dumps(response, ensure_ascii=False)
    elif stream:
        raw = "".join(frame.replace("%t", d["type"] if "%t" in frame else "").replace(
            "%s", d if isinstance(d, str) else json.dumps(d, ensure_ascii=False)) for d in response)
    whole = FORMATS[api](text, calls, False)
    finish = {"chat_completions": lambda: whole["choices"][0]["finish_reason"], "anthropic_messages": lambda: whole["stop_reason"],
              "openai_responses": lambda: "completed", "ollama_chat": lambda: "stop", "gemini_generate_content": lambda: "STOP"}[api]()
    return {"api": api, "transport": transport, "status": 200, "response": raw if stream else response, "expected": {
        "finish": finish, "calls": [{"id": i, "name": n, "arguments": a if api in ("chat_completions", "openai_responses") else json.loads(a)}
                                    for i, n, a in calls]}}


def stranger(provider, case, text):
    """The same as a line of recordings2."""
    body = case["response"]
    return {"src": "%s %s %s" % (provider, case["transport"], text.strip()), "fmt": APIS[case["api"]], "stream": case["transport"] != "json",
            "body": body if isinstance(body, str) else dump(body),
            "want": dict(case["expected"], text=text)}


# ---------------------------------------------------------------- what is sent back

RESULTS = [("c1", "set_lamp", '{"done": true}'), ("c2", "weigh", "2.5 kg")]


def sent_back(api):
    """A request with an answer of two calls, their results, and what was said then."""
    ask, more, (text, calls) = "Light and weight, please.", "Thanks. \u00fc", ANSWERS[3]
    whole = FORMATS[api](text, calls, False)
    if api in ("chat_completions", "ollama_chat"):
        answer = whole["message"] if api == "ollama_chat" else whole["choices"][0]["message"]
        results = [{"role": "tool", "tool_call_id": i, "content": r} for i, _, r in RESULTS]
        return {"model": "m", "messages": [{"role": "user", "content": ask}, answer, *results, {"role": "user", "content": more}]}
    if api == "anthropic_messages":
        results = [{"type": "tool_result", "tool_use_id": i, "content": r} for i, _, r in RESULTS]
        return {"model": "m", "messages": [{"role": "user", "content": ask}, {"role": "assistant", "content": whole["content"]},
                                           {"role": "user", "content": results + [{"type": "text", "text": more}]}]}
    if api == "openai_responses":
        results = [{"type": "function_call_output", "call_id": i, "output": r} for i, _, r in RESULTS]
        return {"model": "m", "input": [{"role": "user", "content": ask}, *whole["output"], *results, {"role": "user", "content": more}]}
    results = [{"functionResponse": {"id": i, "name": n, "response": {"output": r}}} for i, n, r in RESULTS]
    return {"contents": [{"role": "user", "parts": [{"text": ask}]}, whole["candidates"][0]["content"],
                         {"role": "user", "parts": results}, {"role": "user", "parts": [{"text": more}]}]}


# status, kind, words; each as the providers put it
ERRORS = [(401, "invalid_api_key", "This key is not known."), (404, "not_found", "There is no such model."), (429, "rate_limit", "Too many requests."),
          (400, "invalid_request", "temperature is too high"), (400, "context_length_exceeded", "The context window is full."),
          (500, "server_error", "Something broke. \u00fc")]


def error(api, status, kind, words):
    if api == "ollama_chat":
        return {"error": words}
    if api == "anthropic_messages":
        return {"type": "error", "error": {"type": kind, "message": words}}
    if api == "gemini_generate_content":
        return {"error": {"code": status, "status": kind.upper(), "message": words}}
    return {"error": {"message": words, "type": kind, "code": kind}}


# ----------------------------------------------------------------

def save(value, *path):
    path = os.path.join(*path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(value if isinstance(value, bytes) else dump(value).encode())


def write(folder):
    for letter, texts in JSON.items():
        for i, text in enumerate(texts):
            save(text, folder, "json-parsing", "%s_%03d.json" % (letter, i))
    vectors = [{"class": "valid", "input": t, "expected": t, "safe_repairs": [], "args_level": "object"} for t in VALID]
    vectors += [{"class": "safe", "input": t, "expected": e, "safe_repairs": r.split(), "args_level": "object"} for t, e, r in SAFE]
    vectors += [{"class": "reject", "input": t, "expected": None, "safe_repairs": [], "args_level": "error:" + e} for t, e in REFUSED]
    lines = (json.dumps(dict(v, id=i)) + "\n" for i, v in enumerate(vectors))
    save("".join(lines).encode(), folder, "arguments", "vectors.jsonl")
    for draft, more in DRAFT.items():
        save(suite(BOTH + more), folder, "json-schema", "tests", draft, "own.json")
    save([tool(name) for name in TOOLS], folder, "schemas", "own.json")
    strangers = []
    for provider, api, frame in PROVIDERS:
        kinds = ["json", "ndjson" if api == "ollama_chat" else "sse"] + ["json_array"] * (provider == "gemini")
        cases = [recording(api, frame, text, calls, kind) for kind in kinds for text, calls in ANSWERS]
        for i, case in enumerate(cases):
            save(case, folder, "recordings", provider, "%04d.json" % i)
            strangers.append(stranger(provider, case, ANSWERS[i % len(ANSWERS)][0]))
        save({"api": api, "request": sent_back(api)}, folder, "recordings", "_followups", provider, "0000.json")
        for i, (status, kind, words) in enumerate(ERRORS):
            save({"api": api, "status": status, "response": error(api, status, kind, words)}, folder, "recordings", "_errors", provider, "%04d.json" % i)
    save(lzma.compress("".join(dump(s) + "\n" for s in strangers).encode()), folder, "recordings2", "calls.jsonl.xz")
