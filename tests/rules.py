"""What receivers refuse in a request though their types and OpenAPI files do not say
so: names and ids that have been refused, calls without results, numbers beyond
double, keys that come twice."""
import json
import re

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
ID = {"openai": re.compile(r"[!-~]{1,40}\Z"), "groq": re.compile(r"[!-~]+\Z"), "responses": re.compile(r"[!-~]{1,64}\Z"),
      "anthropic": re.compile(r"[A-Za-z0-9_-]+\Z"), "mistral": re.compile(r"[A-Za-z0-9]{9}\Z"),
      "ollama": re.compile(r"[!-~]*\Z"), "gemini": re.compile(r"[!-~]*\Z"),
      "interactions": re.compile(r"[!-~]+\Z")}


def calls_and_results(provider, body):
    """In order: ("call", id, name, arguments) and ("result", id, name or None)."""
    for item in body.get("messages") or body.get("input") or body.get("contents"):
        for call in item.get("tool_calls", ()):
            yield "call", call.get("id"), call["function"]["name"], call["function"]["arguments"]
        if item.get("role") == "tool":
            yield "result", item.get("tool_call_id"), item.get("tool_name")
        if item.get("type") == "function_call":
            yield "call", item.get("call_id") or item["id"], item["name"], item["arguments"]
        elif item.get("type") in ("function_call_output", "function_result"):
            yield "result", item["call_id"], item.get("name")
        blocks = item.get("content") if provider == "anthropic" else item.get("parts")
        for block in blocks if isinstance(blocks, list) else ():
            if block.get("type") == "tool_use":
                yield "call", block["id"], block["name"], block["input"]
            elif block.get("type") == "tool_result":
                yield "result", block["tool_use_id"], None
            elif "functionCall" in block:
                call = block["functionCall"]
                yield "call", call.get("id"), call["name"], call["args"]
            elif "functionResponse" in block:
                answer = block["functionResponse"]
                yield "result", answer.get("id"), answer["name"]


def exact(text):
    """The JSON value of a text that every reader understands alike."""
    def pairs(members):
        if len({key for key, _ in members}) < len(members):
            raise ValueError("a key twice")
        return dict(members)

    def number(digits):
        if float(digits) in (float("inf"), -float("inf")):
            raise ValueError("beyond double: " + digits)
        return float(digits)
    value = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_constant=number)
    json.dumps(value, ensure_ascii=False).encode()  # fails on half a surrogate pair
    return value


def fault(provider, text):
    """What is wrong with a request, or None."""
    open_calls = []
    try:
        for kind, ident, name, *arguments in calls_and_results(provider, exact(text)):
            if not ID[provider].match(ident or ""):
                return f"the id {ident!r}"
            if name is not None and not NAME.match(name):
                return f"the name {name!r}"
            if kind == "call":
                open_calls.append((ident, name))
                value = exact(arguments[0]) if isinstance(arguments[0], str) else arguments[0]
                if not isinstance(value, dict):
                    return f"arguments {value!r}"
                continue
            match = [c for c in open_calls if c[0] == ident and name in (None, c[1])]
            if not match:
                return f"a result without its call: {ident!r} of {open_calls}"
            open_calls.remove(match[0])
    except (ValueError, UnicodeError) as error:
        return str(error)
    return f"calls without result: {open_calls}" if open_calls else None


# ---- who may follow whom ----

# Their servers, or models that run on them, refuse what a user says right after a result,
# and two messages of one side in a row.
ANSWERED = ("mistral", "azure", "github", "llamacpp", "lmstudio")


def kinds(body):
    """The messages, contents or items of a request, each as its role and the sorted
    kinds of what it holds; calls and results with their number."""
    for item in body.get("messages") or body.get("input") or body.get("contents"):
        if "type" in item and "role" not in item:
            kind = item["type"].replace("function_call_output", "result").replace(
                "function_result", "result").replace("function_call", "call")
            yield {"result": "user", "user_input": "user"}.get(kind, "model"), [kind]
            continue
        role = {"assistant": "model"}.get(item["role"], item["role"])
        parts = item.get("parts", item.get("content"))
        found = ["call"] * len(item.get("tool_calls", ()))
        for part in parts if isinstance(parts, list) else [{"text": parts}]:
            call = "functionCall" in part or part.get("type") == "tool_use"
            result = "functionResponse" in part or part.get("type") == "tool_result"
            found.append("call" if call else "result" if result else "said")
        yield ("user", ["result"]) if role == "tool" else (role, found)


def disorder(provider, text):
    """What is wrong with the order of a request, or None."""
    said = [(role, ["said"] if set(found) == {"said"} else found)
            for role, found in kinds(exact(text)) if role not in ("system", "reasoning", "thought")]
    if not said or said[0][0] != "user" or said[-1][0] != "user":
        return f"begins or ends with the model: {said}"
    due = 0  # results that have to come
    before = (None, [None])
    for role, found in said:
        if role == "model" and due and found != ["call"]:  # of a list of items
            return f"the model speaks before {due} results: {said}"
        if role == "user" and due and found[0] != "result":
            return f"the user speaks before {due} results: {said}"
        if provider == "gemini" and "result" in found and found != ["result"] * due:
            return f"{found} for {due} calls: {said}"
        if provider == "anthropic" and role == before[0]:
            return f"the same side twice: {said}"
        if provider in ANSWERED and found == ["said"] and (
                (role, found) == before or (role, before[1][-1]) == ("user", "result")):
            return f"the same side twice, or the user after a result: {said}"
        due += found.count("call") - found.count("result")
        if due < 0:
            return f"results without a call: {said}"
        before = role, found
    return f"{due} results are missing: {said}" if due else None
