"""What all parts share: JSON with exact numbers, the probe, and counting."""
import hashlib
import json
import os
import subprocess
import sys
from collections import OrderedDict
from decimal import Decimal


# A busy machine takes longer: time decides only in make test-peers.
TIMED = os.environ.get("TEST_TIMED")


class Num(str):
    """A JSON number by its text, so that nothing is lost between a case and the probe."""
    __slots__ = ()

    def __eq__(self, other):
        return isinstance(other, Num) and Decimal(self) == Decimal(other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None


class Bad(ValueError):
    pass


def _pairs(pairs):
    d = OrderedDict(pairs)
    if len(d) != len(pairs):
        raise Bad("duplicate key")
    return d


def _constant(word):
    raise Bad("not JSON: " + word)


def load(text, duplicates=False):
    return json.loads(text, parse_int=Num, parse_float=Num, parse_constant=_constant,
                      object_pairs_hook=OrderedDict if duplicates else _pairs)


def load_file(path):
    with open(path, encoding="utf-8") as f:
        return load(f.read(), duplicates=True)


def dump(v):
    if isinstance(v, (Num, Decimal)):
        return str(v)
    if isinstance(v, dict):
        return "{" + ",".join(dump(str(k)) + ":" + dump(x) for k, x in v.items()) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(map(dump, v)) + "]"
    if isinstance(v, str):
        s = json.dumps(v, ensure_ascii=False)
        try:
            s.encode("utf-8")
        except UnicodeEncodeError:
            s = json.dumps(v)
        return s
    return json.dumps(v)


def same(a, b):
    """Equal as JSON values. Key order does not matter, everything else does."""
    if isinstance(a, Num) or isinstance(b, Num):
        return isinstance(a, Num) and a == b
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(k in b and same(v, b[k]) for k, v in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, str) and isinstance(b, str) and str(a) == str(b)


def parsed(text):
    """The value of a JSON text, or Bad."""
    if not isinstance(text, str):
        return Bad
    try:
        return load(text)
    except (ValueError, RecursionError):
        return Bad


def brief(v, n=160):
    s = v if isinstance(v, str) and not isinstance(v, Num) else dump(v)
    s = s.replace("\n", "\\n")
    return s if len(s) <= n else s[:n] + " ... (%d)" % len(s)


class Probe:
    def __init__(self, path):
        self.path = path
        self.runs = 0

    def raw(self, args, text):
        self.runs += 1
        try:
            p = subprocess.run([self.path] + args, input=text.encode("utf-8"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=600)
            return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired as e:
            return "timeout", e.stdout or b"", ""

    def ask(self, args, inputs, budget=None):
        """One answer for each input, in order. A value, or a Died that tells what happened instead."""
        budget = [60] if budget is None else budget
        if not inputs:
            return []
        budget[0] -= 1
        lines = [i if isinstance(i, str) and not isinstance(i, Num) else dump(i) for i in inputs]
        rc, out, err = self.raw(args, "".join(x + "\n" for x in lines))
        got = out.split(b"\n")
        tail = got.pop()
        if rc == 0 and len(got) == len(lines) and not tail:
            return [self.one(g) for g in got]
        why = "rc %s, %d lines for %d; %s" % (rc, len(got), len(lines), brief(err.strip()[-600:], 600))
        if len(lines) == 1 or budget[0] <= 0:
            return [Died(why)] * len(lines)
        # somewhere in here is a case that the probe does not survive: halve until it stands alone
        mid = len(inputs) // 2
        return self.ask(args, inputs[:mid], budget) + self.ask(args, inputs[mid:], budget)

    @staticmethod
    def one(line):
        try:
            return load(line.decode("utf-8"))
        except (ValueError, RecursionError) as e:
            return Died("answer is not JSON (%s): %s" % (e, line[:200]))


class Died:
    def __init__(self, why):
        self.why = why

    def get(self, key, default=None):
        return default

    def __contains__(self, key):
        return False


class Part:
    def __init__(self, name):
        self.name = name
        self.passed = self.skipped = 0
        self.fails = []
        self.figures = []

    def check(self, ok, case, why=""):
        if ok:
            self.passed += 1
        else:
            self.fails.append("%s: %s" % (case, why))
        return ok

    def bar(self, ok, text):
        """A threshold of the issue's table."""
        self.figures.append(("ok   " if ok else "BELOW ") + text)
        if not ok:
            self.fails.append("threshold: " + text)

    def say(self, text):
        self.figures.append(text)

    def report(self, folder):
        print("%s: %d passed, %d failed, %d skipped" % (self.name, self.passed, len(self.fails), self.skipped))
        for f in self.figures:
            print("    " + f)
        for f in self.fails[:20]:
            print("  - " + brief(f, 400))
        if len(self.fails) > 20:
            print("  - ... and %d more" % (len(self.fails) - 20))
        if folder:
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, self.name + ".txt")
            if self.fails:
                with open(path, "w", encoding="utf-8", errors="backslashreplace") as f:
                    f.write("".join(x + "\n" for x in self.fails))
            elif os.path.exists(path):
                os.remove(path)
        sys.stdout.flush()


def pick(key, n):
    """A stable pseudo-random number below n."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % n
