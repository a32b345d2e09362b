#!/usr/bin/env python3
"""The example agent as a person meets it: in a terminal (a pty), with the stand-in
model. What is typed, what is seen, what is asked and what leaves.

Waits end when the screen shows what is waited for; the limit only ends a failure.
"""
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time

from checks import Checks

BUILD = pathlib.Path(__file__).resolve().parents[1] / os.environ.get("BUILD", "build")
LIMIT = 120  # seconds: only what hangs needs them, also on a busy machine
check = Checks("terminal")

# A line here switches a simulated pin, so the agent asks.
SWITCH = "switch gpio line 17 on"
ASKED = "default n] "


class Screen:
    """with Screen() as s: s.type(line); s.until(text)"""

    def __init__(self, *options):
        self.words = [str(BUILD / "agent"), *options]

    def __enter__(self):
        self.seen = ""
        self.at = 0  # what was waited for is before this
        env = {k: v for k, v in os.environ.items() if not re.search("_API_KEY|_HOST$", k)}
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execve(self.words[0], self.words, {**env, "TERM": "dumb"})
        # the terminal's own echo would look like an answer
        mode = termios.tcgetattr(self.fd)
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(self.fd, termios.TCSANOW, mode)
        self.until("> ")
        return self

    def __exit__(self, *_):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, seconds):
        """False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += got.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(got)

    def until(self, text):
        """What came up to this text; None where it does not come."""
        end = time.monotonic() + LIMIT
        while text not in self.seen[self.at:]:
            if time.monotonic() > end or not self.read(1):
                return None
        upto = self.seen.index(text, self.at) + len(text)
        said, self.at = self.seen[self.at:upto], upto
        return said

    def type(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        """What a line leads to, up to the next prompt."""
        self.type(text + "\n")
        return self.until("\n> ") or ""

    def status(self):
        """How it ended, or None."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            more = self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            if not more:
                time.sleep(0.05)
        return None


def approvals():
    """Exactly y and a allow; and what was typed before the question is no answer."""
    no = ["", "n", "N", "Y", "A", "yes", "yy", " y", "y ", "yn", "ya", "a ", "ja", "ok", "1", "true", "\ty",
          "y\\", "*", "?", "j", "é", "ｙ", "y" * 5000, "allow", "no", "nn", "an", "/bye", "exit",
          "\0", "\0y", "y\0", "\x16\0", "\x1b[A", "y\x7f"]
    with Screen() as s:
        for word in no:
            s.type(SWITCH + "\n")
            check(s.until(ASKED), f"{word[:9]!r}: it asks")
            said = s.line(word)
            check("denied" in said and "approved" not in said, f"{word[:9]!r}: {said}")
        s.type(SWITCH + "\n")
        s.until(ASKED)
        check("approved" in s.line("y"), "y: " + s.seen[-300:])
        s.type(SWITCH + "\ny\ny\ny\n")  # typed ahead of the question
        check(s.until(ASKED), "it asks: " + s.seen[-300:])
        check("denied" in s.line("n"), "what was typed ahead: " + s.seen[-300:])
    with Screen() as s:
        s.type(SWITCH + "\n")
        s.until(ASKED)
        check("approved" in s.line("a"), "a")
        check(ASKED not in s.line(SWITCH), "always: " + s.seen[-300:])


def commands():
    with tempfile.TemporaryDirectory() as home, Screen() as s:
        file = os.path.join(home, "talk")
        check("/bye" in s.line("/help"), "/help: " + s.seen[-300:])
        check("convert_unit" in s.line("/tools"), "/tools: " + s.seen[-300:])
        check("The model is stand-in." in s.line("/model"), "/model")
        check("The model is other." in s.line("/model other"), "/model other: " + s.seen[-300:])
        check("no /nothing" in s.line("/nothing"), "/nothing")
        check("25.4" in s.line("convert 1 inch to millimetre"), "a request: " + s.seen[-300:])
        check("Saved" in s.line("/save " + file), "/save: " + s.seen[-300:])
        check(os.path.exists(file) and os.stat(file).st_mode & 0o777 == 0o600, "only its owner reads it")
        check("new conversation" in s.line("/new"), "/new")
        check("conversation of" in s.line("/load " + file), "/load: " + s.seen[-300:])
        check("Nothing is loaded" in s.line("/load " + file + "x"), "/load of nothing")
        check("bytes" in s.line("/memory"), "/memory")
        check("25.4" in s.line("convert 1 inch \\\nto millimetre"), "two lines: " + s.seen[-300:])
        check("25.4" in s.line('"""convert 1 inch\nto\nmillimetre"""'), "three lines: " + s.seen[-300:])
        check("25.4" in s.line("convert 1 inch to millimetre" + " " * 3000), "a long line")
        check("grüße" in s.line('read "grüße.txt"') or "stand-in" in s.seen[-2000:], "UTF-8")


def endings():
    for word in ["exit", "quit", "/bye"]:
        with Screen() as s:
            s.type(word + "\n")
            check(s.status() == 0, word + " leaves")
    with Screen() as s:
        s.type("\x04")
        check(s.status() == 0, "Ctrl-D leaves")
    with Screen() as s:
        s.type("\x03")
        check(s.until("again to leave"), "Ctrl-C is asked for twice: " + s.seen[-300:])
        s.until("> ")
        s.type("\x03")
        check(s.status() == 0, "Ctrl-C twice leaves")
    with Screen() as s:  # a line between them makes it one again
        s.type("\x03")
        s.until("> ")
        check("25.4" in s.line("convert 1 inch to millimetre"), "it goes on: " + s.seen[-300:])
        s.type("\x03")
        check(s.until("again to leave"), "one again")
    with Screen() as s:  # while it asks, Ctrl-C ends the turn
        s.type(SWITCH + "\n")
        s.until(ASKED)
        s.type("\x03")
        said = s.until("> ") or ""
        check("approved" not in said, "Ctrl-C while it asks: " + said)
        check("25.4" in s.line("convert 1 inch to millimetre"), "the next turn works: " + s.seen[-300:])


def run(*words, text="", program="agent"):
    return subprocess.run([BUILD / program, *words], input=text, text=True, timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={k: v for k, v in os.environ.items() if not re.search("_API_KEY|_HOST$", k)})


def inputs():
    """Input that is no terminal is joined to the request, is one, or is one a line."""
    def said(*words, text):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t")
            p = run("--trace", file, *words, text=text)
            lines = [json.loads(line) for line in open(file)] if os.path.exists(file) else []
        return [line["text"] for line in lines if line.get("event") == "turn"], p
    notes = "one\n\n\ttwo grüße\n/quit\n"
    check(said("summarise", "this", text=notes)[0] == ["summarise this\n\n" + notes.strip()], "words and input")
    check(said(text=notes)[0] == [notes.strip()], "input alone")
    check(said("--lines", text="one\n\ntwo\n")[0] == ["one", "two"], "--lines")
    check(said("hello", text="")[0] == ["hello"], "words alone")
    turns, p = said(text="\n \n")
    check(turns == [] and p.returncode == 0, "input of blanks")
    turns, p = said("--memory", "128K", "sum", text="x" * 200000)
    check(turns == [] and p.returncode == 1 and "--memory" in p.stderr, "too much input: " + p.stderr)
    check(said("x" * 50000, "y", text="")[0] == ["x" * 50000 + " y"], "long words")
    check(said("a", text="b\0c")[0] == ["a\n\nb\0c"], "a NUL")
    turns, p = said("sum", text="x y " * 100000)
    check(len(turns) == 1 and len(turns[0]) == 400004, f"much input: {p.stderr}")
    for words in (("--memory", "0"), ("--memory", "4X"), ("--memory", "-1"), ("--max-rounds", "0"), ("--max-rounds", "many")):
        p = run(*words, "hello")
        check(p.returncode == 2 and words[0] in p.stderr, f"{words}: {p.stderr}")


def limits():
    """What is dropped is told once, and a limit names its option."""
    long = "".join(f"say {n} " + "word " * 3000 + "\n" for n in range(20))
    p = run("--lines", "--memory", "128K", text=long)
    check(p.stderr.count("was dropped") == 1 and "--memory gives more" in p.stderr, "old turns: " + p.stderr[-600:])
    p = run("--lines", text=long)
    check("was dropped" not in p.stderr, "nothing was dropped")
    p = run("--max-rounds", "2", "what time is it 9 hours east of UTC?")
    check("--max-rounds allows more" in p.stderr and "+09:00" in p.stdout, "a limit without a person: " + p.stderr)


def replays():
    """A replay takes provider and model from the trace, and says what differs."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "t")
        for name in "openai", "anthropic", "ollama":
            run("--standin", name, "--trace", file, "convert 1 inch to mm")
            p = run("--replay", file, "convert 1 inch to mm")
            check("25.4" in p.stdout and "not as in" not in p.stderr and name in p.stderr, f"replay of {name}: {p.stderr}")
        p = run("--replay", file, "--model", "other", "convert 1 inch to mm")
        check(re.search(r"2 requests are not as in the trace.*\n.*other.*\nwhere.*\n.*stand-in", p.stderr), "what differs: " + p.stderr)
        p = run("--replay", file, "convert 2 inch to mm")
        check("convert 2" in p.stderr and "convert 1" in p.stderr, "what differs: " + p.stderr)
        text = os.path.join(folder, "main.c")
        with open(text, "w") as f:
            f.write("int main;\n")
        p = run("--trace", text, "hello")
        check(p.returncode == 1 and "no trace" in p.stderr and open(text).read() == "int main;\n", "--trace over a file: " + p.stderr)


def helps():
    for program in "agent", "standin", "lint", "trace", "shapes", "mcp", "bridge", "pi":
        p = run("--help", program=program)
        check(p.returncode == 0 and program in p.stdout and not p.stderr, f"{program} --help: {p.stderr}")


def signals():
    """Whatever ends the agent, the terminal is as it was; while an answer comes nothing that
    is typed is shown."""
    def shows(fd, echo):
        end = time.monotonic() + LIMIT
        while bool(termios.tcgetattr(fd)[3] & termios.ECHO) != echo and time.monotonic() < end:
            time.sleep(0.02)
        return bool(termios.tcgetattr(fd)[3] & termios.ECHO) == echo
    with socket.create_server(("127.0.0.1", 0)) as silent:
        env = {"TERM": "xterm", "OLLAMA_HOST": "127.0.0.1:%d" % silent.getsockname()[1], "HOME": "/nowhere"}
        for words in ["hello"], []:
            for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
                pid, fd = pty.fork()
                if not pid:
                    os.execve(BUILD / "agent", ["agent", *words], env)
                before = termios.tcgetattr(fd)
                check(words or shows(fd, False), "the editor begins")
                os.write(fd, b"" if words else b"hello\r")
                silent.accept()
                check(shows(fd, False), "what is typed is hidden")
                os.kill(pid, number)
                if number == signal.SIGINT and not words:  # that ended the turn alone
                    os.write(fd, b"/quit\r")
                seen = b""
                try:
                    while select.select([fd], [], [], LIMIT)[0] and (got := os.read(fd, 65536)):
                        seen += got
                except OSError:
                    pass
                os.waitpid(pid, 0)
                after = termios.tcgetattr(fd)
                check(after == before, f"{words} signal {number}: {before[:4]} {after[:4]}")
                check((b"\x1b[?2004h" in seen) == (b"\x1b[?2004l" in seen) == (not words), f"{words} {number}: bracketed paste: {seen[-200:]}")
                os.close(fd)


def options():
    p = run("--help")
    check(p.returncode == 0 and "--workspace" in p.stdout, "--help")
    p = run("--version")
    check(p.returncode == 0 and re.match(r"agent \d+\.\d+", p.stdout), "--version: " + p.stdout)
    p = run("--nonsense")
    check(p.returncode == 2 and "--nonsense" in p.stderr and not p.stdout, "an unknown option: " + p.stderr)
    p = run("--allow-command")
    check(p.returncode == 2 and "missing after: --allow-command" in p.stderr, "a value that is missing: " + p.stderr)
    p = run("--model")
    check(p.returncode == 2 and "--model" in p.stderr, "a value that is missing: " + p.stderr)
    p = run("--lines", text=SWITCH + "\ny\n")
    check("nobody is here" in p.stderr and "--yes" in p.stderr, "without a person: " + p.stderr)
    p = run("--yes", text=SWITCH + "\n")
    check("approved" in p.stderr, "--yes: " + p.stderr)
    check("pin 17, on true" in p.stdout and "call " not in p.stdout, "the answer alone: " + p.stdout)
    call = [line for line in p.stderr.splitlines() if line.startswith("  call ")]
    check(len(call) == 1 and all(word in call[0] for word in ("valid", "approved", "->", " ms)")),
          f"one line that grows: {p.stderr}")
    check("\x1b" not in p.stderr + p.stdout, "no colours, no sign: nobody sees them")
    check(re.search(r"^  turn .* tokens, .* s, .* memory$", p.stderr, re.M), "closing line: " + p.stderr)
    with tempfile.TemporaryDirectory() as folder:
        p = run("--workspace", folder, 'give a piece of work to a sub-agent: "list the directory"')
    check(p.stdout.count("The tool list answered") == 1 and p.stdout.startswith("I am the stand-in"),
          "what a sub-agent says is in its result alone: " + p.stdout)
    p = run("--quiet", "--yes", SWITCH)
    check("pin 17" in p.stdout and p.stderr == "", "--quiet: " + p.stderr)
    p = run("--json", "--yes", SWITCH)
    told = [json.loads(line) for line in p.stdout.splitlines()]
    kinds = [event["event"] for event in told]
    check(kinds[0] == "turn" and kinds[-1] == "turn_end" and "verdict" in kinds, f"--json: {kinds}")
    texts = [e["text"] for e in told if e["event"] == "text"]
    check(len(texts) == 1 and "pin 17, on true" in texts[0], f"--json: the answer, a line an event: {texts}")
    check([e["round"] for e in told if e["event"] in ("request", "answer")] == [1, 1, 2, 2], "--json: rounds")
    check((told[-1]["rounds"], told[-1]["calls"], told[-1]["tokens"]) == (2, 1, 36), f"--json: sums: {told[-1]}")
    p = run("--verbose", "--yes", SWITCH)
    check(len(re.findall(r"^  (?:request|answer|call|checked|approved|result) ", p.stderr, re.M)) == 8,
          "--verbose: " + p.stderr)


if __name__ == "__main__":
    if not (BUILD / "agent").exists():
        check.skip("terminal", "there is no agent in " + str(BUILD))
        sys.exit(check.end())
    try:
        os.close(os.open("/dev/ptmx", os.O_RDWR))
    except OSError as error:
        check.skip("terminal", f"there is no terminal here: {error.strerror}")
        sys.exit(check.end())
    for part in (options, inputs, limits, replays, helps, signals, endings, commands, approvals):
        part()
    sys.exit(check.end())
