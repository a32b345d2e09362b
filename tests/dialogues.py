#!/usr/bin/env python3
"""Dialogues with the example agent in a terminal (tmux), judged by what the screen
shows. tests/terminal.py has what needs no screen.

Each is a list of steps: what is typed (after a ^ a key by tmux's name, after a = the
window's new size), and what the screen shows then. A step waits until it is there; the
limit only ends a failure. Some run at a time; names of dialogues choose them.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from checks import Checks

BUILD = pathlib.Path(__file__).resolve().parents[1] / os.environ.get("BUILD", "build")
LIMIT = 20  # seconds
INCH = "convert 1 inch to millimetre"
SWITCH = "switch gpio line 17 on"
ASKED = "default n]"
check = Checks("dialogues")


def stalling(*pieces):
    """The address of a server that answers each request with these bytes, and then
    keeps the connection open in silence."""
    listener = socket.create_server(("127.0.0.1", 0))
    held = []

    def serve():
        while True:
            peer = listener.accept()[0]
            held.append(peer)
            if pieces:
                peer.recv(65536)
                peer.sendall(b"".join(pieces))
    threading.Thread(target=serve, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: 9999\r\n\r\n"
HALF = b'{"message":{"role":"assistant","content":"Half an answer"},"done":false}\n'
WIDE = HALF.replace(b"Half an answer", b"wide" * 19)  # the window but four columns
BUSY = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 9\r\nContent-Length: 2\r\n\r\n{}"


class Pane:
    """One window of a tmux server of its own kind, with the agent in it."""

    def __init__(self, server, name, home, command, columns=80, lines=24):
        self.base = ["tmux", "-L", server, "-f", "/dev/null"]
        self.name = name
        clean = " ".join(f"-u {k}" for k in os.environ if re.search("_API_KEY|_HOST$", k))
        run = f"env {clean} XDG_STATE_HOME={home} LC_ALL=C.UTF-8 sh -c 'trap : INT; {command}; echo LEFT $?; sleep 99'"
        self.tmux("new-session", "-d", "-s", name, "-x", str(columns), "-y", str(lines), run)

    def tmux(self, *words):
        return subprocess.run([*self.base, *words], capture_output=True, text=True, timeout=LIMIT).stdout

    def shown(self):
        return self.tmux("capture-pane", "-p", "-J", "-S", "-500", "-t", self.name)

    def keys(self, text):
        if text.startswith("^"):
            self.tmux("send-keys", "-t", self.name, text[1:])
        else:
            self.tmux("send-keys", "-t", self.name, "-l", text)

    def until(self, pattern):
        """Whether the screen comes to show this, and the screen."""
        end, pause = time.monotonic() + LIMIT, 0.03
        screen = self.shown()
        while not re.search(pattern, screen, re.S) and time.monotonic() < end:
            time.sleep(pause)
            pause = min(pause * 1.3, 0.3)  # each look costs a process
            screen = self.shown()
        return re.search(pattern, screen, re.S), screen


READY = r"> $"
ENTER = "^Enter"


def line(text, shows):
    return [(text, None), (ENTER, shows)]


def asks(answer, shows):
    return line(SWITCH, re.escape(ASKED)) + line(answer, shows)


def dialogues(home):
    """name: (command, steps[, columns])"""
    agent = str(BUILD / "agent")
    plain = f"TERM=dumb {agent}"
    silent, half, wide, busy = stalling(), stalling(HEAD, HALF), stalling(HEAD, WIDE), stalling(BUSY)
    ollama = f"{agent} --provider ollama --base-url http://"
    answers = r"answered: value 25\.4.*\n> $"
    cancelled = r"cancel.*\n> $"
    yes, no = r"valid.*approved.*pin 17, on true.*\n> $", r"denied.*permission was denied.*\n> $"
    return {
        # typing
        "a request": (agent, line(INCH, answers)),
        "two requests": (agent, line(INCH, answers) + line(INCH, r"25\.4.*25\.4.*25\.4.*25\.4.*\n> $")),
        "left and insert": (agent, [("convert 1 inch to milimetre", None), *[("^Left", None)] * 6, ("l", None), (ENTER, answers)]),
        "home and end": (agent, [("onvert 1 inch to millimetr", None), ("^C-a", None), ("c", None), ("^C-e", None), ("e", None), (ENTER, answers)]),
        "backspace": (agent, [(INCH + "xyz", None), *[("^BSpace", None)] * 3, (ENTER, answers)]),
        "kill the line": (agent, [("nonsense", None), ("^C-u", None), *line(INCH, answers)]),
        "the line before": (agent, line(INCH, answers) + [("^Up", r"answered.*> " + INCH), (ENTER, r"answered.*answered.*\n> $")]),
        "UTF-8 is echoed": (agent, [("grüße 温度 😀", r"> grüße 温度 😀")]),
        "UTF-8 is deleted whole": (agent, [("grüße", "grüße"), *[("^BSpace", None)] * 3, ("ün", r"> grün$")]),
        "UTF-8 reaches the tool": (agent + " --workspace " + home, line('read "grüße.txt"', r"hällo wörld.*\n> $")),
        "a long line": (agent, line(INCH + " " + "x" * 300, r"x{100}.*\n> $")),
        "a line longer than the window": (agent, line(INCH + " " * 100, answers), 40),
        "a backslash goes on": (agent, line("convert 1 inch \\", r"\.\.\. $") + line("to millimetre", answers)),
        "three quotes": (agent, line('"""convert 1 inch', r"\.\.\. $") + line("to", r"\.\.\. to.*\.\.\. $") + line('millimetre"""', answers)),
        "an empty line": (agent, line("", r">\s*\n> $") + line(INCH, answers)),
        "no editor on a dumb terminal": (plain, line(INCH, answers)),
        # commands
        "/help": (agent, line("/help", r"/tools.*/bye.*\n> $")),
        "/tools": (agent, line("/tools", r"convert_unit.*\n> $")),
        "/model": (agent, line("/model", r"The model is stand-in\..*\n> $")),
        "/new": (agent, line("/new", r"new conversation.*\n> $")),
        "/memory": (agent, line("/memory", r"\d+ of \d+ bytes.*\n> $")),
        "/nothing": (agent, line("/nothing", r"There is no /nothing.*\n> $")),
        "/provider": (agent, line("/provider anthropic", r"provider is anthropic.*\n> $") + line(INCH, answers)),
        "/provider nobody": (agent, line("/provider nobody", r"cannot be: nobody.*provider is openai.*\n> $") + line(INCH, answers)),
        "/provider without a key": (agent, line("/provider gemini", r"cannot be: gemini.*provider is openai.*\n> $") + line(INCH, answers)),
        "/details": (agent, line("/details", r"each step.*\n> $") + line(INCH, r"\n  checked +valid\n.*\n> $")),
        "/trace": (agent, line(f"/trace {home}/turn", r"has a trace.*\n> $") + line(INCH, answers) + line("/trace", r"No trace.*\n> $") + line("exit", r"LEFT 0")),
        "/save": (agent, line(f"/save {home}/talk", r"Saved in.*\n> $") + line(f"/load {home}/talk", r"conversation of.*\n> $")),
        # approvals
        "y": (agent, asks("y", yes)),
        "n": (agent, asks("n", no)),
        "a": (agent, asks("a", yes) + line(SWITCH, r"on true.*approved.*on true.*\n> $")),
        "nothing": (agent, asks("", no)),
        "Y": (agent, asks("Y", no)),
        "yes": (agent, asks("yes", no)),
        "blank y": (agent, asks(" y", no)),
        "y y": (agent, asks("y y", no)),
        "Ctrl-D to a question": (agent, line(SWITCH, re.escape(ASKED)) + [("^C-d", no)]),
        "the question shows what runs": (agent, line(SWITCH, r'approve\? +write_gpio \{"pin":17,"on":true\}')),
        "an answer that comes too soon": (agent, [(SWITCH + "\ry\r", re.escape(ASKED)), *line("n", no)]),
        "a diff": (f"{agent} --workspace {home}", line('read "a.txt"', r"old line.*\n> $") + line('replace "old line" with "new line" in "a.txt"', r"- old line\n.*\+ new line\n.*default n\]") + line("n", r"denied.*\n> $")),
        "a diff with a file": (f"{agent} --workspace {home}", line('read "long.txt"', r"Line 1\n.*\n> $") + line('write "Line 1" to "long.txt"', r"write long\.txt\n +- Line 1\n.*- Line 40\n +- and 20 more lines\n +\+ Line 1\n.*default n\]")),
        # leaving
        "exit": (agent, line("exit", r"LEFT 0")),
        "quit": (agent, line("quit", r"LEFT 0")),
        "/bye": (agent, line("/bye", r"LEFT 0")),
        "Ctrl-D": (agent, [("^C-d", r"LEFT 0")]),
        "Ctrl-C twice": (agent, [("^C-c", r"once more leaves.*\n> $"), ("^C-c", r"LEFT 0")]),
        "Ctrl-C drops the line": (agent, [("nonsense", r"nonsense"), ("^C-c", r"once more leaves.*\n> $"), *line(INCH, answers)]),
        "Ctrl-C on a dumb terminal": (plain, [("^C-c", r"once more leaves.*\n> $"), ("^C-c", r"LEFT 0")]),
        "Ctrl-C between lines": (agent, line("convert 1 inch \\", r"\.\.\. $") + [("^C-c", r"once more leaves.*\n> $"), *line(INCH, answers)]),
        # waits
        "cancel while it asks": (agent, line(SWITCH, re.escape(ASKED)) + [("^C-c", cancelled), *line(INCH, answers)]),
        "cancel before an answer": (ollama + silent, line("hello", r"\d s ") + [("^C-c", cancelled)]),
        "cancel within an answer": (ollama + half, line("hello", r"Half an answer") + [("^C-c", cancelled)]),
        "cancel before another try": (ollama + busy, line("hello", r"again in") + [("^C-c", cancelled)]),
        "cancel while TLS begins": (f"{agent} --provider openai --base-url https://{silent}", line("hello", r"\d s ") + [("^C-c", cancelled)]),
        "a wait has its time": (ollama + silent, line("hello", r"[|/\\-] [1-9]\d* s ")),
        "a tool that takes long": (f"{agent} --allow-command sleep --workspace {home}", line('run the command "sleep 2"', re.escape(ASKED)) + line("y", r"[|/\\-] [1-9] s ") + [("", r"bash answered:.*\n> $")]),
        "cancel a tool that takes long": (f"{agent} --allow-command sleep --workspace {home}", line('run the command "sleep 20"', re.escape(ASKED)) + line("y", r"\d s ") + [("^C-c", cancelled)]),
        "a wait at the end of the last line": (ollama + wide, [("=80x5", None), *line("hello", r"(wide){19} [|/\\-] "), ("^C-c", cancelled), *line("hello", r"hello\s+(wide){19} [|/\\-] "), ("^C-c", r"> hello\s+(wide){19}\s+turn [^|/\\-]*cancel[^\n]*\n> $")]),
        "leave after a cancel": (ollama + silent, line("hello", r"\d s ") + [("^C-c", cancelled), *line("exit", r"LEFT [01]")]),
        "nobody answers": (ollama + "127.0.0.1:9", line("hello", r"error: .*\n> $")),
        # windows
        "a call is a line": (agent, line(INCH, r"\n  call +convert_unit [^\n]*valid[^\n]*25\.4[^\n]*ms\)")),
        "a narrow window": (agent, line(INCH, answers), 30),
        "a window grows": (agent, [("=120x30", None), *line(INCH, answers)]),
        "a window shrinks": (agent, [("convert 1 inch", r"1 inch$"), ("=40x10", None), (" to millimetre", r"millimetre"), (ENTER, answers)]),
        "a window changes while it waits": (ollama + silent, line("hello", r"\d s ") + [("=50x20", None), ("^C-c", cancelled)]),
        "a window changes while it asks": (agent, line(SWITCH, re.escape(ASKED)) + [("=60x20", None), *line("y", yes)]),
        # pipes
        "the answer goes elsewhere": (f"{agent} {INCH} | tr a-z A-Z", [("", r"call +convert_unit.*STAND-IN MODEL.*VALUE 25\.4.*LEFT 0")]),
        "the rest goes elsewhere": (f"{agent} {INCH} 2>/dev/null", [("", r"^[^\n]*stand-in model[^>]*25\.4[^>]*LEFT 0")]),
        "requests from a pipe": (f"echo {INCH} | {agent}", [("", r"25\.4.*LEFT 0")]),
        "no terminal, no approval": (f"echo {SWITCH} | {agent}", [("", r"nobody is here to ask.*LEFT 0")]),
        "quiet": (f"{agent} --quiet {INCH}", [("", r"^I am the stand-in[^{]*25\.4[^{]*LEFT 0")]),
        "no colour": (f"NO_COLOR=1 {agent} {INCH}", [("", r"25\.4.*LEFT 0")]),
    }


# They need libedit.
EDITED = ["left and insert", "home and end", "the line before", "UTF-8 is deleted whole"]

# They need bubblewrap, and a system that lets it.
SANDBOXED = ["a tool that takes long", "cancel a tool that takes long"]


def hold(server, home, number, name, command, steps, columns=80):
    """Why a dialogue is not as expected, or None."""
    pane = Pane(server, f"d{number}", home, command, columns)
    interactive = steps[0][0] != ""
    if interactive:
        found, screen = pane.until(READY.replace("$", r"\s*$"))
        if not found:
            return f"{name}: no prompt: {screen.strip()[-300:]}"
    for keys, shows in steps:
        if keys.startswith("="):
            columns, lines = keys[1:].split("x")
            pane.tmux("resize-window", "-t", pane.name, "-x", columns, "-y", lines)
        elif keys:
            pane.keys(keys)
        if shows:
            found, screen = pane.until(shows.replace("$", r"\s*$"))
            if not found:
                return f"{name}: after {keys[:40]!r} no {shows}: {screen.strip()[-500:]}"
    pane.tmux("kill-session", "-t", pane.name)
    return None


def main():
    if not shutil.which("tmux") or not (BUILD / "agent").exists():
        check.skip("dialogues", "there is no tmux, or no agent")
        return check.end()
    server = f"toolcall-{os.getpid()}"
    with tempfile.TemporaryDirectory() as home, concurrent.futures.ThreadPoolExecutor(6) as pool:
        os.chmod(home, 0o755)  # root's programs run as a user of their own
        pathlib.Path(home, "grüße.txt").write_text("hällo wörld\n")
        pathlib.Path(home, "a.txt").write_text("first\nold line\nlast\n")
        pathlib.Path(home, "long.txt").write_text("".join(f"Line {n}\n" for n in range(1, 61)))
        wanted = sys.argv[1:]
        jobs = [(n, name, *rest) for n, (name, rest) in enumerate(dialogues(home).items()) if not wanted or name in wanted]
        if b"toolcall/history" not in (BUILD / "agent").read_bytes():
            check.skip("dialogues: " + ", ".join(EDITED), "the agent has no libedit")
            jobs = [job for job in jobs if job[1] not in EDITED]
        if subprocess.run([BUILD / "agent", "--allow-command", "sleep", "--workspace", home, "hello"], capture_output=True).returncode:
            check.skip("dialogues: " + ", ".join(SANDBOXED), "no programs run in a sandbox here")
            jobs = [job for job in jobs if job[1] not in SANDBOXED]
        try:
            subprocess.run(["tmux", "-L", server, "-f", "/dev/null", "new-session", "-d", "-s", "base"], check=True)
            for fault in pool.map(lambda job: hold(server, home, *job), jobs):
                check(not fault, str(fault))
            if not wanted or "/trace" in wanted:
                check('"event":"turn_end"' in pathlib.Path(home, "turn").read_text(), "/trace wrote nothing")
            history = pathlib.Path(home, "toolcall", "history")
            if history.exists():
                check(history.stat().st_mode & 0o777 == 0o600, "the history is its owner's alone")
        finally:
            subprocess.run(["tmux", "-L", server, "kill-server"], capture_output=True)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
