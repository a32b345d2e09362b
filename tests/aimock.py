#!/usr/bin/env python3
"""The example agent and @copilotkit/aimock, a mock of all providers' APIs.

In six formats, whole and streamed: conversations of three turns with one call,
several, chains, wrong calls, reasoning, ordered blocks and long text; then ones
whose first turn goes wrong, as answers can, and whose next two have to work.

The packages come by npm into build/peers. Without npm, or where it cannot fetch
them, all of it counts as skipped.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import npm
from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
AGENT = ROOT / os.environ.get("BUILD", "build") / "agent"
PACKAGES = ["@copilotkit/aimock@1.43.0", "@portkey-ai/gateway@1.15.2", npm.NODE]
PROVIDERS = ["openai", "responses", "anthropic", "ollama", "gemini", "interactions"]

TALKS = ["plain single parallel", "chain wrong single", "thoughts nothing thoughts",
         "blocks parallel blocks", "long wrong chain"]
SAID = {"plain": 'Plain words: Größe 温度 😀 \\u0041 "quoted".', "long": "lorem ipsum Long done."}
RUNS = {"single": 1, "parallel": 3, "chain": 3, "wrong": 1, "thoughts": 1, "nothing": 1,
        "blocks": 2}

# Each with what the agent has to say of it.
FAULTS = {"length": "", "filter": "", "cut": "", "halfcall": "", "malformed": "error",
          "vanish": "error", "status400": "made error 400", "status401": "error",
          "status403": "error", "status404": "made error 404", "status413": "error",
          "status422": "made error 422", "status429": "made error 429",
          "status500": "made error 500", "status503": "made error 503",
          "status529": "made error 529"}

check = Checks("aimock")


def node(script, *more, **how):
    """Starts a program that uses the packages."""
    home = npm.BUILD / "peers"
    shutil.copy(ROOT / "tests" / script, home)
    return subprocess.Popen(["node", script, *more], cwd=home, text=True,
                            env=npm.with_node("peers"), **how)


def start(script):
    """One that prints its port, and the port."""
    process = node(script, stdout=subprocess.PIPE)
    return process, int(process.stdout.readline())


def agent(provider, port, words, *more):
    """Exit code and output of a conversation with one word a turn."""
    path = "/v1" if provider in ("openai", "responses") else ""
    keys = {name: "sk-canary" for name in ("API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")}
    try:
        p = subprocess.run(
            [AGENT, "--verbose", "--lines",
             "--provider", provider, "--model", "some-model", "--yes",
             "--base-url", f"http://127.0.0.1:{port}{path}", *more],
            input="\n".join(words) + "\n", env={**os.environ, **keys}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    except subprocess.TimeoutExpired as late:
        return 124, f"no end: {late.stdout}"
    return p.returncode, p.stdout


def missing(words, text, count):
    """What is missing in the text and the results of a conversation that goes well."""
    said = [SAID.get(word, f"{word.capitalize()} done.") for word in words]
    runs = sum(RUNS.get(word, 0) for word in words)
    return ([part for part in said if part not in text] +
            ([f"{runs} results, there are {count}"] if count != runs else []))


def shown(words, out):
    return missing(words, out, out.count("  result "))


def is_json(text):
    try:
        return json.loads(text) is not None
    except ValueError:
        return False


def judge(provider, words, more, code, out):
    what = f"{provider} {' '.join(more)} {' '.join(words)}"
    check("sk-canary" not in out, f"{what}: the key is shown", out)
    for line in re.findall("^  refused .*", out, re.M):
        check(is_json(line[line.index("{"):]), f"{what}: {line}")
    if words[0] in FAULTS:
        first, _, rest = out.partition(f"> {words[1]}")
        check(FAULTS[words[0]] in first, f"{what}: nothing is said of it", first)
        check(not shown(words[1:], rest), f"{what}: {shown(words[1:], rest)}", out)
    else:
        check(code == 0 and not shown(words, out), f"{what}: {code}, {shown(words, out)}", out)


def conversations(port):
    """All of them, some at a time: many wait before they try again."""
    talks = [talk.split() for talk in TALKS] + [[f, "parallel", "wrong"] for f in FAULTS]
    jobs = [(provider, words, more) for words in talks for provider in PROVIDERS
            for more in ([], ["--no-stream"])]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = pool.map(lambda job: agent(job[0], port, job[1], *job[2]), jobs)
        for job, (code, out) in zip(jobs, done):
            judge(*job, code, out)


def main():
    why = npm.fetch("peers", PACKAGES)
    if why or not AGENT.exists():
        check.skip("aimock", why or "build/agent is not there: make all")
        return check.end()
    process, port = start("aimock.mjs")
    try:
        conversations(port)
    finally:
        process.kill()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
