#!/usr/bin/env python3
"""A gateway between the library and another format: @portkey-ai/gateway takes
OpenAI's, and speaks four others with the mock of tests/aimock.py behind it.

Conversations of three turns, whole and streamed. The packages come by npm into
build/peers. Without npm, or where it cannot fetch them, it counts as skipped.
"""
import subprocess
import sys

import aimock
import live
import npm
from checks import Checks

check = Checks("gateway")

# The gateway's name of what is behind it, and where the mock has that.
BEHIND = {"openai": "/v1", "anthropic": "/v1", "mistral-ai": "/v1", "ollama": "",
          "google": ""}
# Of these the gateway loses answers that are streamed; the agent has to say so.
LOSES = {"google"}

ANY = {"type": "object", "properties": {}}
TOOLS = [{"name": name, "description": "Does it.", "permissions": ["read", "write"],
          "parameters": schema} for name, schema in [
    ("get_temperature", ANY), ("write_gpio", ANY), ("convert_unit", ANY), ("get_time", ANY),
    ("get_system_status", ANY),
    ("read_gpio", {"type": "object", "properties": {"pin": {"type": "integer", "maximum": 27}},
                   "required": ["pin"]})]]


def conversation(port, upstream, behind, stream, words):
    what = f"{behind} {'streamed' if stream else 'whole'} {' '.join(words)}"
    headers = {"Authorization": "Bearer sk-canary", "x-portkey-provider": behind,
               "x-portkey-custom-host": f"http://127.0.0.1:{upstream}{BEHIND[behind]}"}
    sent = []

    def carry(_, request):
        sent.append(live.post(port, "/v1/chat/completions", request, headers))
        return sent[-1]

    line = {"provider": "openai", "stream": stream, "tools": TOOLS, "allow": ["read", "write"],
            "block": 1 << 18}
    done = live.converse(line, [{"user": word} for word in words], carry)
    check(len(done) == len(words), f"{what}: {len(done)} turns")
    for word, turn in zip(words, done):
        lost = aimock.missing([word], turn["text"], len(turn["runs"]))
        empty = stream and behind in LOSES and turn["error"] == "truncated"
        check(not lost or empty, f"{what}: {word}: {lost} {turn['error']} {sent[-1:]}"[:1500])


def main():
    why = npm.fetch("peers", aimock.PACKAGES)
    if why:
        check.skip("gateway", why)
        return check.end()
    mock, upstream = aimock.start("aimock.mjs")
    port = live.free_port()
    gateway = aimock.node("gateway.mjs", f"--port={port}", "--headless",
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        if check(live.wait_for(port, gateway), "the gateway starts"):
            for behind in BEHIND:
                for stream in False, True:
                    for talk in aimock.TALKS:
                        conversation(port, upstream, behind, stream, talk.split())
    finally:
        gateway.kill()
        mock.kill()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
