"""Conversations of build/probe turn with a server instead of canned answers.

The library's agent has no network here: each of its requests is carried to the
server by the test, and the answer, as it came, is what the agent reads. The
conversation begins anew for each request, with all answers so far.
"""
import http.client
import json
import os
import pathlib
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROBE = ROOT / os.environ.get("BUILD", "build") / "probe"
END = {"status": 400, "body": "{}"}  # makes the agent show what it would send next

# Where a server has the endpoint of a provider.
PATHS = {"openai": "/v1/chat/completions", "llamacpp": "/v1/chat/completions",
         "responses": "/v1/responses", "anthropic": "/v1/messages", "ollama": "/api/chat"}


def bodies(line):
    """The requests in a line of the probe, as they were written: byte for byte."""
    at = line.index("[") + 1
    texts = []
    while line[at] != "]":
        _, end = json.JSONDecoder().raw_decode(line, at)
        texts.append(line[at:end])
        at = end + (line[end] == ",")
    return texts


def run(line, turns):
    """Turns of the agent with canned answers: a list of what each did."""
    done = subprocess.run([PROBE, "turn"], input=json.dumps({**line, "turns": turns}) + "\n",
                          text=True, encoding="utf-8", stdout=subprocess.PIPE, timeout=60)
    return [{**json.loads(said), "requests": bodies(said)} for said in done.stdout.split("\n")
            if said]


def converse(line, turns, carry, most=12):
    """Turns with a server: carry(provider, request) gives (status, body). Answers that a
    turn has already are canned, and come first. The list of what each turn did; no turn
    follows one that ended with an error."""
    turns = [{"answers": [], **turn} for turn in turns]
    provider = line["provider"]
    for at, turn in enumerate(turns):
        provider = turn.get("provider", provider)
        while True:
            tried = run(line, turns[:at] + [{**turn, "answers": turn["answers"] + [END]}])
            asked = tried[at]["requests"] if at < len(tried) else []
            if len(asked) <= len(turn["answers"]) or len(asked) > most:
                break
            status, body = carry(provider, asked[-1])
            turn["answers"].append({"status": status, "body": body})
    return run(line, turns)


def post(port, path, request, headers=None):
    """(status, body) of one request to 127.0.0.1."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, request.encode(), {
            "Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, process, path=None, tries=600):
    """True when the port answers, or the path there with 200."""
    for _ in range(tries):
        if process.poll() is not None:
            return False
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", path or "/")
            if connection.getresponse().status == 200 or not path:
                return True
        except OSError:
            pass
        time.sleep(0.05)
    return False
