#!/usr/bin/env python3
"""The agent and a real inference server: llama-server with tests/tiny_model.py.

Its three endpoints (OpenAI's two and Anthropic's), whole and streamed: three turns
each, with 60 tools and with one. What the library reads is compared with what a
reader written here makes of the same bytes.

LLAMA_SERVER is the program; where it is not set, llama-server of PATH; else this
counts as skipped.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import live
import tiny_model
from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "schemas"
PROVIDERS = ["llamacpp", "openai", "responses", "anthropic"]
TOOLS = 60

check = Checks("llama")
count = {"requests": 0, "calls": 0, "run": 0}


def tools():
    """The smallest of the real tools, or ones made up."""
    found = {}
    for path in sorted(DATA.glob("*.json")):
        for tool in json.loads(path.read_text(encoding="utf-8")):
            found.setdefault(tool["name"], tool)
    keep = sorted((t for t in found.values() if t["name"].isidentifier() and
                   t["parameters"].get("type") == "object"),
                  key=lambda t: len(json.dumps(t)))[:TOOLS]
    made = [{"name": f"set_{n}", "description": f"Sets number {n}.", "parameters": {
        "type": "object", "properties": {"value": {"type": "integer"}, "why": {"type": "string"}},
        "required": ["value"]}} for n in range(TOOLS - len(keep))]
    return [{"name": t["name"], "description": t.get("description", ""), "permissions": ["read"],
             "parameters": t["parameters"]} for t in keep + made]


# ---- another reader of the answers ----

def events(body):
    """The JSON texts of an answer: one, or those of its events."""
    if not body.startswith(("data:", "event:")):
        return [json.loads(body)]
    return [json.loads(line[5:]) for line in body.split("\n")
            if line.startswith("data:") and line[5:].strip() != "[DONE]"]


def openai_calls(body):
    calls = {}
    for event in events(body):
        for choice in event["choices"]:
            said = choice.get("message") or choice["delta"]
            for at, call in enumerate(said.get("tool_calls") or []):
                old = calls.setdefault(call.get("index", at), ["", ""])
                old[0] += call["function"].get("name") or ""
                old[1] += call["function"].get("arguments") or ""
    return [(name, json.loads(text)) for name, text in calls.values()]


def responses_calls(body):
    calls = []
    for event in events(body):
        done = [event["item"]] if event.get("type") == "response.output_item.done" else []
        calls += [(item["name"], json.loads(item["arguments"]))
                  for item in done + event.get("output", []) if item["type"] == "function_call"]
    return calls


def anthropic_calls(body):
    calls = {}
    for event in events(body):
        for at, block in enumerate(event.get("content", [])):
            if block["type"] == "tool_use":
                calls[at] = [block["name"], json.dumps(block["input"])]
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            calls[event["index"]] = [event["content_block"]["name"], ""]
        elif event["type"] == "content_block_delta" and event["index"] in calls:
            calls[event["index"]][1] += event["delta"]["partial_json"]
    return [(name, json.loads(text)) for name, text in calls.values()]


CALLS = {"openai": openai_calls, "llamacpp": openai_calls, "responses": responses_calls,
         "anthropic": anthropic_calls}


def read(provider, body, split):
    done = subprocess.run([live.PROBE, "read", provider, "--split", str(split)], text=True,
                          encoding="utf-8", input=json.dumps({"body": body}) + "\n",
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


# ---- conversations ----

class Server:
    def __init__(self, port):
        self.port = port
        self.last = None

    def carry(self, provider, request):
        self.last = status, body = live.post(self.port, live.PATHS[provider], request)
        count["requests"] += 1
        if check(status == 200, f"{provider}: {status} {body[:300]} for {request[:1500]}"):
            self.compare(provider, body)
        return status, body

    @staticmethod
    def compare(provider, body):
        try:
            right = CALLS[provider](body)
        except json.JSONDecodeError:
            return  # cut at the most tokens
        for split in 0, 1, 13:
            said = read(provider, body, split)
            mine = [(c["name"], json.loads(c["arguments"])) for c in said["calls"]]
            check(mine == right, f"{provider}, in pieces of {split}: {mine}, not {right}")
        count["calls"] += len(right)


TURNS = ["please call", "think, then call", "talk to me"]


def three_turns(server, offered, provider, stream, seed):
    what = f"{provider}, {'streamed' if stream else 'whole'}, {len(offered)} tools, seed {seed}"
    line = {"provider": provider, "stream": stream, "tools": offered, "allow": ["read"],
            "block": 1 << 20, "extra": f'{{"seed":{seed}}}', "system": "Be brief."}
    done = live.converse(line, [{"user": user} for user in TURNS], server.carry)
    if not check(len(done) == len(TURNS), f"{what}: {len(done)} turns"):
        return
    for user, turn in zip(TURNS, done):
        count["run"] += len(turn["runs"])
        good = not turn["error"] and tiny_model.WORDS in turn["text"]
        check(good or turn["error"] == "length", f"{what}: {user}: {turn['error']} {turn['text']}")
    check(not done[2]["runs"] and done[2]["error"] is None, f"{what}: talk: {done[2]}")


def conversations(server):
    offered = tools()
    for provider in PROVIDERS:
        for stream in False, True:
            three_turns(server, offered, provider, stream, 1)
    for seed, tool in enumerate(offered):
        three_turns(server, [tool], PROVIDERS[seed % 4], seed % 8 > 3, seed)


def with_server(program, use):
    """Runs use(Server) with a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "tiny.gguf"
        model.write_bytes(tiny_model.model())
        port = live.free_port()
        with open(pathlib.Path(folder) / "log", "w+", encoding="utf-8", errors="replace") as log:
            process = subprocess.Popen(
                [program, "-m", model, "--host", "127.0.0.1", "--port", str(port), "-c", "65536",
                 "-np", "1", "-t", "1", "--no-ui", "-n", "800"], stdout=log, stderr=log)
            try:
                if check(live.wait_for(port, process, "/health"), "llama-server starts"):
                    use(Server(port))
                    check(process.poll() is None, "llama-server has ended")
            finally:
                process.kill()
                process.wait()
            if check.failed:
                log.seek(0)
                print(log.read()[-2000:])


def program():
    return os.environ.get("LLAMA_SERVER") or shutil.which("llama-server")


def main():
    if not program():
        check.skip("llama", "there is no llama-server: set LLAMA_SERVER")
    else:
        with_server(program(), conversations)
        print("%(requests)d requests, %(calls)d calls, %(run)d of them run" % count)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
