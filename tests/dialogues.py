#!/usr/bin/env python3
"""Dialogues with the example agent in a terminal (tmux), judged by what the screen
shows. tests/terminal.py has what needs no screen.

Each is a list of steps: what is typed (after a ^ a key by tmux's name, after a = the
window's new size, after a < what is pasted, after a ~ seconds in which nobody types;
or a function that has to be true), and what the screen shows then. A step waits until
it is there; the limit only ends a failure. Some run at a time; names of dialogues
choose them.
"""
import concurrent.futures
import http.server
import json
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
LIMIT = 120  # seconds: only what hangs needs them, also on a busy machine
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


class Model:
    """A model on 127.0.0.1, in Ollama's format: what answer(body) makes of each request
    (text, the arguments of a call of get_time, or the name and arguments of another
    call). It keeps the requests."""

    def __init__(self, answer):
        self.requests, outer = [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                said = answer(body)
                message = {"role": "assistant", "content": said if isinstance(said, str) else ""}
                if not isinstance(said, str):
                    name, arguments = said if isinstance(said, tuple) else ("get_time", said)
                    message["tool_calls"] = [{"function": {"name": name, "arguments": arguments}}]
                data = json.dumps({"model": "m", "message": message, "done": True, "done_reason": "stop",
                                   "prompt_eval_count": 9, "eval_count": 9}).encode() + b"\n"
                self.send_response(200)
                self.send_header("Content-Type", "application/x-ndjson")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.agent = f"{BUILD}/agent --provider ollama --base-url http://127.0.0.1:{server.server_port}"

    def said(self):
        """What the user said, in the last request."""
        return [m["content"] for m in self.requests[-1]["messages"] if m["role"] == "user"]


def slow(pause):
    """The address of a server that answers by three words, of which the last comes when
    pause is set."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for word in "one ", "two ", "three", "":
                if word == "three":
                    pause.wait(LIMIT)
                line = HALF.replace(b"Half an answer", word.encode())
                line = line if word else line.replace(b"false", b"true")
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_port}"


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

    def rows(self):
        """The screen as it is, each row of the window."""
        return self.tmux("capture-pane", "-p", "-S", "-500", "-t", self.name).splitlines()

    def colours(self):
        return self.tmux("capture-pane", "-p", "-e", "-J", "-S", "-500", "-t", self.name)

    def paste(self, text):
        subprocess.run([*self.base, "load-buffer", "-b", self.name, "-"], input=text, text=True, timeout=LIMIT)
        self.tmux("paste-buffer", "-p", "-b", self.name, "-t", self.name)

    def keys(self, text):
        if text.startswith("<"):
            self.paste(text[1:])
        elif text.startswith("~"):
            time.sleep(float(text[1:]))
        elif text.startswith("^"):
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
    answers = r"answered:\s+value\s+25\.4.*\n> $"
    cancelled = r"Stopped\..*\n> $"
    yes, no = r"valid.*approved.*pin 17, on true.*\n> $", r"valid.*\n  ✗ permission was denied\n.*\n> $"
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
        "/memory": (agent, line("/memory", r"\d+ of \d+ bytes are in use.*\n> $")),
        "/nothing": (agent, line("/nothing", r"There is no /nothing.*\n> $")),
        "/provider": (agent, line("/provider anthropic", r"provider is anthropic.*\n> $") + line(INCH, answers)),
        "/provider nobody": (agent, line("/provider nobody", r"nobody cannot be used: there is no such.*provider is openai.*\n> $") + line(INCH, answers)),
        "/provider without a key": (agent, line("/provider gemini", r"gemini cannot be used: no model is given: .*provider is openai.*\n> $") + line(INCH, answers)),
        "/details": (agent, line("/details", r"each step.*\n> $") + line(INCH, r"\n  checked +valid\n.*\n> $")),
        "/trace": (agent, line(f"/trace {home}/turn", r"a trace is written.*\n> $") + line(INCH, answers) + line("/trace", r"No trace.*\n> $") + line("exit", r"LEFT 0")),
        "/save": (agent, line(f"/save {home}/talk", r"Saved in.*\n> $") + line(f"/load {home}/talk", r"conversation of.* goes on.*\n> $")),
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
        "a diff": (f"{agent} --workspace {home}", line('read "a.txt"', r"old line.*\n> $") + line('replace "old line" with "new line" in "a.txt"', r"- old line\n.*\+ new line\n.*default n\]") + line("n", r"✗ a\.txt: it was not approved.*\n> $")),
        "a diff with a file": (f"{agent} --workspace {home}", line('read "long.txt"', r"Line 1\n.*\n> $") + line('write "Line 1" to "long.txt"', r"write long\.txt\n +- Line 1\n.*- Line 40\n +- and 20 more lines\n +\+ Line 1\n.*default n\]")),
        # leaving
        "how to leave is said": (agent, [("", r"/help .*/quit .*\n> $")]),
        **{f"{word} leaves": (agent, line(word, r"LEFT 0")) for word in ("exit", "quit", "/bye", "/exit", "/quit", ":q")},
        "Ctrl-D": (agent, [("^C-d", r"LEFT 0")]),
        "Ctrl-C twice": (agent, [("^C-c", r"again to leave.*\n> $"), ("^C-c", r"LEFT 0")]),
        "Ctrl-C drops the line": (agent, [("nonsense", r"nonsense"), ("^C-c", r"again to leave.*\n> $"), *line(INCH, answers)]),
        "Ctrl-C drops each line": (agent, [("one", "> one"), ("^C-c", r"again to leave.*\n> $"), ("two", "> two"), ("^C-c", r"> two\n.*again to leave.*\n> $"), ("^C-c", r"LEFT 0")]),
        "Ctrl-C on a dumb terminal": (plain, [("^C-c", r"again to leave.*\n> $"), ("^C-c", r"LEFT 0")]),
        "Ctrl-C between lines": (agent, line("convert 1 inch \\", r"\.\.\. $") + [("^C-c", r"again to leave.*\n> $"), *line(INCH, answers)]),
        # waits
        "cancel while it asks": (agent, line(SWITCH, re.escape(ASKED)) + [("^C-c", cancelled), *line(INCH, answers)]),
        "cancel before an answer": (ollama + silent, line("hello", r"\d s ") + [("^C-c", cancelled)]),
        "cancel within an answer": (ollama + half, line("hello", r"Half an answer") + [("^C-c", cancelled)]),
        "cancel before another try": (ollama + busy, line("hello", r"again in") + [("^C-c", cancelled)]),
        "cancel while TLS begins": (f"{agent} --provider openai --base-url https://{silent}", line("hello", r"\d s ") + [("^C-c", cancelled)]),
        "a wait has its time": (ollama + silent, line("hello", r"[|/\\-] [1-9]\d* s ")),
        "a tool that takes long": (f"{agent} --allow-command sleep --workspace {home}", line('run the command "sleep 5"', re.escape(ASKED)) + line("y", r"[|/\\-] [1-9] s ") + [("", r"bash\s+answered:.*\n> $")]),
        "cancel a tool that takes long": (f"{agent} --allow-command sleep --workspace {home}", line('run the command "sleep 20"', re.escape(ASKED)) + line("y", r"\d s ") + [("^C-c", cancelled)]),
        "a wait at the end of the last line": (ollama + wide, [("=80x5", None), *line("hello", r"(wide){19} [|/\\-] "), ("^C-c", cancelled), *line("hello", r"hello\s+(wide){19} [|/\\-] "), ("^C-c", r"> hello\s+(wide){19}\s+turn [^|/\\-]*Stopped[^\n]*\n> $")]),
        "leave after a cancel": (ollama + silent, line("hello", r"\d s ") + [("^C-c", cancelled), *line("exit", r"LEFT [01]")]),
        "nobody answers": (ollama + "127.0.0.1:9", line("hello", r"error: .*\n> $")),
        # windows
        "a call is a line": (agent, line(INCH, r"\n  call +convert_unit [^\n]*valid[^\n]*25\.4[^\n]*ms\)")),
        "a narrow window": (agent, line(INCH, r"25\.4, unit millimetre.*\n> $"), 30),
        "a window grows": (agent, [("=120x30", None), *line(INCH, answers)]),
        "a window shrinks": (agent, [("convert 1 inch", r"1 inch$"), ("=40x10", None), (" to millimetre", r"millimetre"), (ENTER, answers)]),
        "a window changes while it waits": (ollama + silent, line("hello", r"\d s ") + [("=50x20", None), ("^C-c", cancelled)]),
        "a window changes while it asks": (agent, line(SWITCH, re.escape(ASKED)) + [("=60x20", None), *line("y", yes)]),
        # pipes
        "the answer goes elsewhere": (f"{agent} {INCH} | tr a-z A-Z", [("", r"call +convert_unit.*STAND-IN MODEL.*VALUE 25\.4.*LEFT 0")]),
        "the rest goes elsewhere": (f"{agent} {INCH} 2>/dev/null", [("", r"^[^\n]*stand-in model[^>]*25\.4[^>]*LEFT 0")]),
        "a request from a pipe": (f"echo {INCH} | {agent}", [("", r"25\.4.*LEFT 0")]),
        **{f"{word} helps": (agent, line(word, r"/tools.*/quit.*\n> $")) for word in ("help", "?")},
        "no terminal, no approval": (f"echo {SWITCH} | {agent}", [("", r"nobody is here to ask.*LEFT 0")]),
        "quiet": (f"{agent} --quiet {INCH}", [("", r"^I am the stand-in[^{]*25\.4[^{]*LEFT 0")]),
        "no colour": (f"NO_COLOR=1 {agent} {INCH}", [("", r"25\.4.*LEFT 0")]),
    }


def unchanged(path, text):
    """A check: the file holds this, and nothing lies beside it."""
    def is_unchanged(pane):
        """the file is not as it was"""
        path_ = pathlib.Path(path)
        return path_.read_text() == text and not list(path_.parent.glob(path_.name + ".*"))
    return is_unchanged


def kept(home):
    """What /load and /save refuse, and what they do not."""
    model = Model(lambda body: "I know %d of it." % sum(m["role"] == "user" for m in body["messages"]))
    bad = {"missing": "No such file", "": "Is a directory", "empty": "no saved conversation",
           "a.txt": "no saved conversation", "long.txt": "no saved conversation", "cut": "damaged"}
    steps = line("my name is Ada", r"I know 1 of it.*\n> $") + line(f"/save {home}/ada", r"Saved in.*\n> $")

    def cut(pane):
        """a saved file is cut"""
        return pathlib.Path(home, "cut").write_bytes(pathlib.Path(home, "ada").read_bytes()[:-9])
    steps.append((cut, None))
    for n, (name, why) in enumerate(bad.items(), 2):
        steps += line(f"/load {home}/{name}", rf"Nothing is loaded: [^\n]*{name}: [^\n]*{why}.*\n> $")
        steps += line("what is my name?", rf"I know {n} of it.*\n> $")
    first = lambda pane: model.said()[0] == "my name is Ada"
    steps += [(first, None), *line(f"/load {home}/ada", r"ada goes on.*\n> $"), *line("again", r"goes on.*I know 2 of it.*\n> $"), (first, None)]
    for name in "a.txt", "long.txt":
        text = pathlib.Path(home, name).read_text()
        for word, why in (("/save", "no saved conversation"), ("/trace", "no trace")):
            steps += line(f"{word} {home}/{name}", rf"{name}: it is there, and {why}.*\n> $") + [(unchanged(pathlib.Path(home, name), text), None)]
    steps += line("/save", r"Give a name.*\n> $") + line("/load", r"Give a name.*\n> $")
    steps += line(f"/save {home}/ada", r"Saved in[^>]*Saved in.*\n> $|Saved in.*Saved in.*\n> $") + line("/quit", "LEFT 0")
    return model.agent, steps


def saved_before():
    """Each conversation that an older edition saved goes on, also one in which calls wait."""
    model = Model(lambda body: f"heard {len(model.requests)}.")
    steps = []
    for file in sorted((pathlib.Path(__file__).parent / "saved").glob("*.saved")):
        word = file.stem.split("-")[0]
        steps += line(f"/load {file}", rf"{file.stem}\.saved goes on\..*\n> $")
        steps += line(f"say {word}", rf"> say {word}\n(?:(?!error|> ).)*heard \d+\..*\n> $")
    steps.append((lambda pane: "was dropped" not in pane.shown(), None))
    rows = pathlib.Path(__file__).parent / "saved" / "15-waits-granted.rows"
    return model.agent, steps + line(f"/load {rows}", r"no saved conversation.*\n> $") + line("/quit", "LEFT 0")


def pasted(name, text, then=""):
    """A text that is pasted is one request, whatever it holds."""
    model = Model(lambda body: "heard %d" % sum(m["role"] == "user" for m in body["messages"]))

    def whole(pane):
        """what was pasted did not arrive as it was"""
        return len(model.requests) == 1 and model.said() == [text.rstrip("\n") + then]
    whole.__doc__ = f"{name} did not arrive as it was"
    return model.agent, [("<" + text, None), ("~0.2", None), (then, None), (ENTER, r"heard 1.*\n> $"), (whole, None), *line("more", r"heard 2.*\n> $")]


def at_limit(*answers, requests):
    """A model that never stops to call, and 3 requests a turn: what is said at the limit."""
    model = Model(lambda body: "done" if "tools" not in body else {"utc_offset": len(body["messages"]) % 12})
    steps = [("go", None), (ENTER, r"2 of 3 requests.*--max-rounds.*default n\]")]
    for said in answers[:-1]:
        steps += line(said, r"5 of 6 requests.*default n\]")
    steps += line(answers[-1], r"\n> $")

    def count(pane):
        """the number of requests"""
        return len(model.requests) == requests
    return model.agent + " --max-rounds 3", steps + [(count, None), *line("/quit", "LEFT")]


def equal_calls():
    """A model that makes the same call again and again is told so."""
    model = Model(lambda body: ("list", {}) if len(model.requests) < 7 else "done")
    return model.agent, line("go", r"✗ [^\n]*again and again.*done.*\n> $")


def broken():
    """A word longer than the window breaks at its edge, and the next begins a row."""
    model = Model(lambda body: "see " + "a" * 120 + " end")

    def rows(pane):
        """the rows of the answer"""
        return re.search(r"\nsee\n(a{60}\n){2}end\n", "\n".join(pane.rows()))
    return model.agent, line("go", r"\n  turn .*\n> $") + [(rows, None)], 60


PROSE = ("The quick brown fox jumps over the lazy dog, grüßt Zoë und naïve Ångströms; "
         "über wäre es schöner, meinte Øystein, und ging — früher oder später — heim. " * 3).strip()
CJK = "温度は二十五度です。" * 14


def wrapped(text, columns, words):
    """An answer breaks where words end, and nothing of it is lost."""
    model = Model(lambda body: text)

    def rows(pane):
        """the rows of the answer"""
        shown = pane.rows()
        begin = next(n for n, row in enumerate(shown) if row.startswith(text[:9]))
        end = next(n for n, row in enumerate(shown) if row.startswith("  turn "))
        answer = shown[begin:end]
        wide = [sum(2 if ord(c) > 0x2E80 else 1 for c in row) for row in answer]
        return (" " if words else "").join(answer) == text and max(wide) <= columns and all(w > columns - 16 for w in wide[:-1])
    return model.agent, line("go", r"\n  turn .*\n> $") + [(rows, None)]


def refused(columns):
    """A refusal is a line with its reason, red, and nothing else is said of it."""
    def readable(pane):
        """the refusal is no line of its own, or is no red one"""
        joined, rows = pane.shown(), pane.rows()
        return (re.search(r"\n  ✗ /pin: 99 is over the maximum 27", joined) and "refused" not in joined
                and "success" not in joined and re.search(r"\x1b\[31m(\x1b\[\d+m)*  ✗ /pin", pane.colours())
                and re.search(r"1 call, ", joined) and (columns < 80 or re.search(r"^  turn .* bytes of memory$", "\n".join(rows), re.M)))
    return f"{BUILD}/agent --yes", line("switch gpio line 99 on", r"could not\s+do it.*\n> $") + [(readable, None)]


def one_figure(home):
    """Memory has one figure: at the end of a turn, by /memory, and on the page of a trace."""
    def same(pane):
        """the figures of memory"""
        page = subprocess.run([BUILD / "trace", f"{home}/figure"], capture_output=True, text=True).stdout
        found = [re.search(p, t).group(1) for p, t in ((r"(\d+)\s+bytes\s+of\s+memory", pane.shown()), (r"Memory: (\d+) of", pane.shown()),
                                                       (r"Memory: (\d+) bytes", page))]
        return len(set(found)) == 1
    return f"{BUILD}/agent --yes --trace {home}/figure", line("switch gpio line 99 on", r"could not\s+do it.*\n> $") + line("/memory", r"are in use.*\n> $") + [(same, None)]


def time_of_tool(home):
    """The person's three seconds are not the tool's."""
    def short(pane):
        """the time of the tool"""
        return int(re.search(r"created.*?\((\d+) ms\)", pane.shown(), re.S).group(1)) < 3000
    return (f"{BUILD}/agent --workspace {home}",
            line('write "x" to "new.txt"', re.escape(ASKED)) + [("~3", None), *line("y", r"created new\.txt.*\n> $"), (short, None)]
            + line('write "x" to "new.txt"', r"valid  approved.*\n> $") + [(lambda pane: pane.shown().count(ASKED) == 1, None)]
            + line('write "y" to "new.txt"', r"- x\n +\+ y\n.*default n\]") + line("n", "not approved.*\n> $"))


def typed_ahead():
    """What is typed while an answer comes is not in it, and is the next line."""
    pause = threading.Event()

    def go(pane):
        """the answer goes on"""
        pause.set()
        return True
    return (f"{BUILD}/agent --provider ollama --base-url http://" + slow(pause),
            line("hello", r"one two") + [("xyzzy", None), ("~0.3", None), (go, r"\none two three *\n  turn .*\n> xyzzy$")])


def pasted_ahead():
    """A long text that is pasted while an answer comes is the next request, whole."""
    pause = threading.Event()
    text = "".join(f"{n}: {'x' * 60}\n" for n in range(300))

    def go(pane):
        """the answer goes on"""
        pause.set()
        return True
    return (f"{BUILD}/agent --verbose --provider ollama --base-url http://" + slow(pause),
            line("hello", r"one two") + [("<" + text, None), ("~0.3", None), (go, r"\n299: x+$"), (ENTER, r"request  (?!2\d{4})\d+ bytes.*request  2\d{4} bytes.*\n> $")])


def resized():
    """A window that changes leaves one prompt."""
    def one(pane):
        """the prompts"""
        return not re.search(r"> +>", pane.shown()) and pane.shown().count("> half") == 1
    return f"{BUILD}/agent", [("half", "> half$"), ("=50x20", None), ("~0.3", None), ("=90x20", None), ("~0.3", None), (" more", "> half more$"), (one, None)]


def piped(home):
    """Input and words are one request."""
    model = Model(lambda body: "heard it")

    def joined(pane):
        """the request"""
        return model.said() == ["summarise this\n\n" + pathlib.Path(home, "a.txt").read_text().strip()]
    return f"cat {home}/a.txt | {model.agent} summarise this", [("", r"heard it.*LEFT 0"), (joined, None)]


def forgotten(home):
    """What is dropped is told once; what is too long names the option."""
    model = Model(lambda body: "heard it")
    pathlib.Path(home, "long").write_text("".join(f"{n} " + "word " * 3000 + "\n" for n in range(14)))

    def once(pane):
        """what was dropped"""
        shown = pane.shown()
        return shown.count("was dropped") == 1 and "--memory gives more" in shown and len(model.requests) == 14
    return f"{model.agent} --lines --memory 128K < {home}/long 2>&1 | grep -v ^..*word", [("", r"LEFT 0"), (once, None)]


def rows_of_the_findings(home, columns):
    """A row of the newcomer's findings is a dialogue here."""
    agent = f"{BUILD}/agent"
    lines = "line one\nline two\n\tthree \"three\"\n/quit\n"
    asked = line(SWITCH, re.escape(ASKED))
    rows = {
        "5, 6: /load and /save lose nothing": kept(home),
        "5: what was saved before": saved_before(),
        "11: a limit is asked about": at_limit("y", "n", requests=6),
        "11: a limit that stays": at_limit("n", requests=3),
        "11: equal calls end": equal_calls(),
        "12: a paste": pasted("a paste", lines),
        "12: a paste, and more": pasted("a paste, and more,", lines.rstrip("\n"), " and more"),
        "12: a long paste": pasted("a long paste", "".join(f"{n}: {'x' * 50}\n" for n in range(300))),
        "12: a paste of one word": pasted("a word", "grüße 温度"),
        "13: a pipe": piped(home),
        "14, 17: a refusal": refused(columns),
        "15, 28: whose time, and what nobody is asked": time_of_tool(home),
        "16: one figure of memory": one_figure(home),
        "17: words": wrapped(PROSE, columns, True),
        "17: wide characters": wrapped(CJK, columns, False),
        "18: a way out": (agent, [("", r"/help .*/quit .*\n> $"), *line("help", r"/tools.*/quit.*\n> $"), *line(":q", "LEFT 0")]),
        "19: an option has its name": (f"{agent} --provider ollama --base-url http://192.0.2.1:1 hello", [("", r"use https://, or --plain-http\n.*LEFT 1")]),
        "20: a replay": (f"{agent} --standin ollama --trace {home}/played {INCH} 2>&1 | grep -c 25.4; {agent} --replay {home}/played {INCH}; "
                         f"{agent} --replay {home}/played --model other {INCH}",
                         [("", r"answers from (?:(?!not as).)*2 requests are not as in the trace\..*\"other\".*\"stand-in\".*LEFT 0")]),
        "22: typing ahead": typed_ahead(),
        "22: pasting ahead": pasted_ahead(),
        "22: a resize": resized(),
        "22: Ctrl-C to a question": (agent, asked + [("^C-c", r"default\s+n\] *\n  ✗ permission was denied\n  turn [^>]*\nStopped\.\n> $")]),
        "29: what is forgotten": forgotten(home),
    }
    return {f"{name}, {columns} columns": (*row, columns) for name, row in rows.items()}


def at_each_width(home):
    found = {"17: a long word": broken()}
    for columns in 60, 80, 120:
        folder = pathlib.Path(home, str(columns))
        folder.mkdir(mode=0o755)
        (folder / "empty").touch()
        (folder / "a.txt").write_text("first\nold line\nlast\n")
        (folder / "long.txt").write_text("one line\n")
        found.update(rows_of_the_findings(str(folder), columns))
    return found


# They need libedit.
EDITED = ["Ctrl-C drops each line", "an empty line", *(f"22: {what} ahead, {n} columns" for what in ("typing", "pasting") for n in (60, 80, 120)), "left and insert", "home and end", "the line before", "UTF-8 is deleted whole"]

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
        if callable(keys):
            if not keys(pane):
                return f"{name}: {keys.__doc__ or 'a check'}: {pane.shown().strip()[-900:]}"
        elif keys.startswith("="):
            columns, lines = keys[1:].split("x")
            pane.tmux("resize-window", "-t", pane.name, "-x", columns, "-y", lines)
        elif keys:
            pane.keys(keys)
        if shows:
            found, screen = pane.until(shows.replace("$", r"\s*$"))
            if not found:
                return f"{name}: after {str(keys)[:40]!r} no {shows}: {screen.strip()[-500:]}"
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
        jobs = [(n, name, *rest) for n, (name, rest) in enumerate({**dialogues(home), **at_each_width(home)}.items()) if not wanted or name in wanted]
        if b"toolcall/history" not in (BUILD / "agent").read_bytes():
            check.skip("dialogues: " + ", ".join(EDITED), "the agent has no libedit")
            jobs = [job for job in jobs if job[1] not in EDITED]
        if subprocess.run([BUILD / "agent", "--allow-command", "sleep", "--workspace", home, "hello"], stdin=subprocess.DEVNULL, capture_output=True).returncode:
            check.skip("dialogues: " + ", ".join(SANDBOXED), "no programs run in a sandbox here")
            jobs = [job for job in jobs if job[1] not in SANDBOXED]
        try:
            base = subprocess.run(["tmux", "-L", server, "-f", "/dev/null", "new-session", "-d", "-s", "base"], capture_output=True, text=True)
            if base.returncode:
                check.skip("dialogues", "tmux opens no terminal here: " + base.stderr.strip())
                return check.end()
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
