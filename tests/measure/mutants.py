#!/usr/bin/env python3
"""mutants.py [-n TOUCHED] [-m REST] [-s SEED] [--all] [FILE or FUNCTION...]: makes one
slip of the hand at a time in src/, port/ and tools/ (operators.py finds them in the
syntax of the code) and looks whether a test notices.

Tries TOUCHED mutants of the lines that differ from the commit before, and REST of all
others; with names mutants of these alone. They are the same ones for the same seed (by
default the commit of tests/measure/landed): drawn by what they change, not by where it
stands, a mutant stays in the sample until its code goes.

Only tests that reach the line run, the quickest first, until one fails. A mutant is
none that does not compile, or that gcc -O2 makes the same code of. One that no test
notices is printed, and fails; but for those in tests/measure/mutants.known, which says
why of each, and quotes nothing. Needs clang, bubblewrap and root: a mutant may do anything.
"""
import argparse
import collections
import concurrent.futures
import difflib
import filecmp
import glob
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import threading
import time

import library
import operators
import ratchet

HERE = os.path.abspath("build/mutants")
KNOWN = "tests/measure/mutants.known"
EVERY = 9           # of the sizes and places that a test goes through is tried
JOBS = os.cpu_count() or 1
# Random input, which reaches everything and checks little of it.
WITHOUT = ("test_fuzz",)
# No unit test has them: tests/lwip, tests/shapes.py.
ELSEWHERE = ("port/lwip.c", "tools/shapes.c")
# One test includes it, none is linked with it.
INCLUDED = ("port/curl.c",)
SETTINGS = {"QUICK": "1", "RACE_MS": "100", "STOP": "1", "TMPDIR": "/tmp", "GCOV_PREFIX": "/tmp"}
# A function that lost its last return has no meaning that could be tested.
MUTANT = ("clang", "-O0", "-Wno-everything", "-Werror=return-type", *library.FLAGS)
MAP = ("gcc", "-O0", "-w", "--coverage", *library.FLAGS)
CAGE = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp",
        "--unshare-pid", "--unshare-net", "--die-with-parent")
# With /proc as a whole, and numbers of processes that none of the host's begins with;
# then without the rights that could undo the sandbox.
INSIDE = """mount -t proc proc /proc && echo 9999 >/proc/sys/kernel/ns_last_pid
setpriv --bounding-set=-sys_admin,-mknod,-sys_module,-sys_rawio,-sys_boot,-sys_time "$0"
exit $?"""

Test = collections.namedtuple("Test", "name words")
Slip = collections.namedtuple("Slip", "file line last mutant")


def run(*words):
    """Runs a command; what it said where it fails, else nothing."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode(errors="replace") or "failed" if done.returncode else ""


def must(*words):
    said = run(*words)
    if said:
        raise SystemExit(f"mutants.py: {' '.join(words)[-300:]}:\n{said[-3000:]}")


def side_by_side(work, items):
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(work, items))


# -- What is built ----------------------------------------------------------

def tests():
    """Each test, with the words that make compiles and links it by."""
    names = [os.path.basename(path)[:-2] for path in sorted(glob.glob("tests/test_*.c"))]
    names = [name for name in names if name not in WITHOUT and is_of_header(name)]
    shared = f"{HERE}/liblibrary.so"
    said = subprocess.run(["make", "-nB", "V=1", f"BUILD={HERE}", "CFLAGS=-O0", "WARN=-w",
                           f"LIBRARY={shared}", f"impl={shared}", f"EXTRA=-DCHECK_EVERY={EVERY}",
                           *[f"{HERE}/{name}" for name in names]],
                          check=True, capture_output=True, text=True).stdout
    for line in said.replace("\\\n", " ").split("\n"):
        made = re.search(re.escape(f" -o {HERE}/") + r"(test_\w+)", line)
        if made:
            yield Test(made[1], [word for word in shlex.split(line) if word not in ("-MMD", "-MP")])


def is_of_header(name):
    """Are the chapters that a test names in src/order? Else it cannot be linked yet."""
    named = re.findall(r'#include "../src/(\w+)\.c"', open(f"tests/{name}.c").read())
    return set(named) <= set(library.order())


def parts():
    """The files beside src/ that tests are linked with."""
    return [path for path in sorted(glob.glob("port/*.c") + glob.glob("tools/*.c"))
            if path not in ELSEWHERE + INCLUDED]


def compile_test(test):
    """Compiles a test; which files it has a copy of in itself, and is not linked with."""
    made, words = f"{HERE}/{test.name}.o", test.words[:source_of(test) + 1]
    must(*words, "-c", "-o", made)
    named = subprocess.run([*words, "-MM"], check=True, capture_output=True, text=True).stdout
    named = {os.path.normpath(word) for word in named.split()}
    said = subprocess.run(["nm", made], check=True, capture_output=True, text=True).stdout
    if "toolcall.h" in named and re.search(r" [tT] tcall_\w+_\n", said):
        named.update(f"src/{name}.c" for name in library.order())
    return {path for path in named if re.match(r"(src|port|tools)/\w+\.c$", path)}


def source_of(test):
    return next(i for i, word in enumerate(test.words) if word.endswith(".c"))


def compile_copy(folder, test):
    """Compiles a test that has copies in itself, with what stands in a folder."""
    write(f"{folder}/toolcall.h", subprocess.run([f"{folder}/src/join"], check=True, text=True,
                                                 capture_output=True).stdout)
    source = source_of(test)
    words = [f"-I{folder}" if word == "-I." else word for word in test.words[:source]]
    made = f"{folder}/{test.name}.o"
    return run(*words, "-c", f"{folder}/{test.words[source]}", "-o", made) \
        or link(folder, test, made)


def compile_file(folder, path, compiler):
    """Compiles a file of a folder, or all of src/; what was said where that fails."""
    if path.startswith("src"):
        return run(*compiler, "-shared", "-fPIC", "-Wl,-soname,liblibrary.so",
                   f"{folder}/library.c", "-o", f"{folder}/liblibrary.so")
    return run(*compiler, "-c", f"{folder}/{path}", "-o", f"{folder}/{path[:-2]}.o")


def archive(folder):
    path = f"{folder}/libtoolcall_tools.a"
    if os.path.exists(path):
        os.remove(path)
    must("ar", "rcs", path, *(f"{folder}/{name[:-2]}.o" for name in parts() if "tools" in name))


def link(folder, test, made=None):
    """Links a test with what stands in a folder."""
    words = [word.replace(HERE, folder) for word in test.words if not word.endswith(".c")]
    return run(words[0], made or f"{HERE}/{test.name}.o", *words[1:], "--coverage",
               "-Wl,-rpath,$ORIGIN")


def passes(folder, test, seconds, *more):
    """Does a test pass, in so many seconds of processor time?"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with open(f"{folder}/{test.name}.log", "wb") as log:
        try:
            return subprocess.run([*CAGE, *more, "sh", "-c", INSIDE, f"{folder}/{test.name}"],
                                  stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                  env={**os.environ, **SETTINGS}, preexec_fn=limit,
                                  timeout=30 + 10 * seconds).returncode == 0
        except subprocess.TimeoutExpired:
            return False


# -- Who reaches which line -------------------------------------------------

def reached(folder, test):
    """Runs a test without a mutant: how long it took, and the lines that it reached."""
    data = f"{HERE}/data/{test.name}"
    os.makedirs(data)
    began = time.monotonic()
    if not passes(folder, test, 120, "--bind", data, data, "--setenv", "GCOV_PREFIX", data):
        raise SystemExit(f"mutants.py: {test.name} fails without a mutant: see {folder}")
    took = time.monotonic() - began
    lines = collections.defaultdict(set)
    for path in glob.glob(f"{data}/**/*.gcda", recursive=True):
        notes = path[len(data):-5] + ".gcno"
        os.symlink(notes, path[:-5] + ".gcno")
        said = subprocess.run(["gcov", "--json-format", "--stdout", path], check=True,
                              capture_output=True, cwd=data).stdout
        for file in json.loads(said)["files"]:
            name = os.path.relpath(file["file"], folder)
            lines[name].update(line["line_number"] for line in file["lines"] if line["count"])
    return took, lines


class Bench:
    """Everything that was built, and one folder for each mutant at work."""

    def __init__(self):
        shutil.rmtree(HERE, ignore_errors=True)
        folder = f"{HERE}/map"
        for name in ("src", "port", "tools", "tests", "examples"):
            shutil.copytree(name, f"{folder}/{name}")
        library.source(folder)
        self.tests = {test.name: test for test in tests()}
        each = self.tests.values()
        for said in side_by_side(lambda path: compile_file(folder, path, MAP), ["src"] + parts()):
            if said:
                raise SystemExit(said[-3000:])
        archive(folder)
        self.copies = dict(zip(self.tests, side_by_side(compile_test, each)))
        for said in side_by_side(lambda test: link(folder, test), each):
            if said:
                raise SystemExit(said[-3000:])
        found = dict(zip(self.tests, side_by_side(lambda test: reached(folder, test), each)))
        self.took = {name: took for name, (took, _) in found.items()}
        self.lines = {name: lines for name, (_, lines) in found.items()}
        self.free = []
        for i in range(JOBS):
            shutil.copytree(folder, f"{HERE}/{i}", copy_function=os.link,
                            ignore=shutil.ignore_patterns("*.log"))
            for name in ("src", "port", "tools"):   # written to, where map's must stay
                shutil.rmtree(f"{HERE}/{i}/{name}")
                shutil.copytree(f"{folder}/{name}", f"{HERE}/{i}/{name}")
            self.free.append(f"{HERE}/{i}")
        self.lock = threading.Lock()

    def who(self, slip):
        """The tests that reach a mutant's first line, the quickest first; where none is
        known to (a table; a process that was forked), those that reach its file. Of
        src/, tests that link port/ or tools/ as well count only where no other one
        gets there: they are long."""
        name = slip.file
        found = [test for test, lines in self.lines.items() if slip.line in lines.get(name, ())] \
            or [test for test, lines in self.lines.items() if lines.get(name)]
        own = [test for test in found
               if not any(re.match("port/|tools/", file) for file in self.lines[test])]
        return sorted(own if name.startswith("src") and own else found, key=self.took.get)

    def noticed(self, slip):
        """The test that notices a mutant, "" for none, None where it is no mutant."""
        with self.lock:
            folder = self.free.pop()
        text = open(slip.file, encoding="utf-8").read()
        mutant = slip.mutant
        try:
            write(f"{folder}/{slip.file}", changed(text, mutant))
            if slip.file not in INCLUDED and compile_file(folder, slip.file, MUTANT):
                return None
            if slip.file.startswith("tools/"):
                archive(folder)
            return self.killer(folder, slip) or (None if is_same(folder, text, slip) else "")
        finally:
            write(f"{folder}/{slip.file}", text)
            for made in ("liblibrary.so", slip.file[:-2] + ".o", "libtoolcall_tools.a",
                         *self.tests):
                if os.path.exists(f"{HERE}/map/{made}"):
                    os.path.exists(f"{folder}/{made}") and os.remove(f"{folder}/{made}")
                    os.link(f"{HERE}/map/{made}", f"{folder}/{made}")
            with self.lock:
                self.free.append(folder)

    def killer(self, folder, slip):
        for name in self.who(slip):
            test = self.tests[name]
            if not slip.file.startswith("src"):
                said = link(folder, test)
                if said:
                    return "the linker"
            if not passes(folder, test, 2 + int(10 * self.took[name])):
                return name
        for name, copies in self.copies.items():
            test = self.tests[name]
            if slip.file in copies and (compile_copy(folder, test) or
                                        not passes(folder, test, 2 + int(10 * self.took[name]))):
                return name
        return ""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def changed(text, mutant):
    return text[:mutant.at] + mutant.now + text[mutant.end:]


def alone(text, name):
    """The file with one function; of the others only that they are there."""
    code, at, kept = operators.Code(text), 0, []
    for other, kind, first, end in operators.places(code):
        if kind != "table" and other != name:
            kept += [text[at:code.spans[first - 1][0]], ";"]
            at = code.spans[end][1]
    return "".join(kept) + text[at:]


def is_same(folder, text, slip):
    """Does gcc -O2 make the same of the function as without the mutant?"""
    bare = f"{folder}/bare"
    shutil.rmtree(bare, ignore_errors=True)
    for path in glob.glob("src/*.[ch]") + glob.glob("port/*.[ch]") + glob.glob("tools/*.[ch]"):
        os.makedirs(os.path.dirname(f"{bare}/{path}"), exist_ok=True)
        own = open(path, encoding="utf-8").read()
        write(f"{bare}/{path}", alone(own, "") if path.endswith(".c") else own)
    made = []
    for what in (text, changed(text, slip.mutant)):
        write(f"{bare}/{slip.file}", alone(what, slip.mutant.name))
        made.append(f"{bare}/{len(made)}.s")
        if run("gcc", "-O2", "-w", "-S", "-fkeep-static-functions", *library.FLAGS,
               f"{bare}/{slip.file}", "-o", made[-1]):
            return False
    return filecmp.cmp(*made, shallow=False)


# -- Which mutants ----------------------------------------------------------

def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, text=True)
    return "" if done.returncode else done.stdout.strip()


def touched():
    """The lines that differ from main's, or on main from the commit before: file ->
    numbers."""
    head = git("rev-parse", "HEAD")
    base = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main")
    base = base if base and base != head else git("rev-parse", "HEAD^")
    found, name = collections.defaultdict(set), ""
    for line in git("diff", "-U0", base or "HEAD", "--", "src", "port", "tools").split("\n"):
        if line.startswith("+++ "):
            name = line[6:]
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found[name].update(range(first, first + count))
    return found


def slips(seed, names):
    """All mutants in the order they are drawn in."""
    files = [f"src/{name}.c" for name in library.order()] + parts() + list(INCLUDED)
    found = []
    for file in files:
        text = open(file, encoding="utf-8").read()
        for mutant in operators.mutants(text):
            if not names or {file, mutant.name, os.path.basename(file)[:-2]} & set(names):
                found.append(Slip(file, text.count("\n", 0, mutant.at) + 1,
                                  text.count("\n", 0, mutant.end) + 1, mutant))
    drawn = lambda slip: hashlib.sha1(f"{seed} {operators.key(slip.mutant)}".encode()).digest()
    return sorted(found, key=drawn)


def known():
    """What no test notices, and why that is so: key -> reason."""
    found = {}
    for line in open(KNOWN, encoding="utf-8") if os.path.exists(KNOWN) else ():
        if line.strip() and not line.startswith("#"):
            name, kind, what, why = line.split(None, 3)
            found[f"{name} {kind} {what}"] = why.strip()
    return found


def described(slip):
    """Where a mutant is, its key, and the difference."""
    text = open(slip.file, encoding="utf-8").read()
    diff = difflib.unified_diff(text.split("\n"), changed(text, slip.mutant).split("\n"),
                                lineterm="", n=0)
    lines = [f"    {line}" for line in list(diff)[3:]]
    key = operators.key(slip.mutant)
    return "\n".join([f"{slip.file}:{slip.line}: no test notices: {key}"] + lines)


def tried(bench, some, count, listed):
    """Tries mutants until so many are judged: (mutant, who noticed) of each. Those that
    are listed count, so that the sample stays the same."""
    notice = lambda slip: "known" if operators.key(slip.mutant) in listed else bench.noticed(slip)
    judged, some = [], iter(some)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        ahead = collections.deque()
        while len(judged) < count:
            for slip in some:
                ahead.append((slip, pool.submit(notice, slip)))
                if len(ahead) > JOBS:
                    break
            if not ahead:
                break
            slip, result = ahead.popleft()
            who = result.result()
            if who is not None:
                judged.append((slip, who))
                if not who:
                    print(described(slip), flush=True)
        for _, result in ahead:
            result.cancel()
    return judged


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-n", type=int, default=40)
    parser.add_argument("-m", type=int, default=80)
    parser.add_argument("-s", default=ratchet.commit())
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--note", action="store_true", help="list what lived as open")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if run(*CAGE, "sh", "-c", INSIDE, "true"):  # not root, or in another sandbox
        print("mutants: 0 passed, 0 failed, 1 skipped\n  bubblewrap cannot make a sandbox here")
        return 0
    listed, here = known(), touched()
    every = slips(options.s, options.names)
    for key in listed.keys() - {operators.key(slip.mutant) for slip in every}:
        options.names or print(f"{KNOWN}: {key}: its code is gone")
    new = [slip for slip in every if here[slip.file] & set(range(slip.line, slip.last + 1))]
    fresh = set(new)
    old = [slip for slip in every if slip not in fresh]
    bench = Bench()
    if options.all or options.names and not (options.n or options.m):
        judged = tried(bench, every, len(every), listed)
    else:
        judged = tried(bench, new, options.n, listed) + tried(bench, old, options.m, listed)
    kinds = collections.Counter(slip.mutant.kind for slip, _ in judged)
    alive = collections.Counter(slip.mutant.kind for slip, who in judged if not who)
    for kind in sorted(kinds):
        print(f"{kind:10} {kinds[kind] - alive[kind]:4} of {kinds[kind]:4} noticed")
    if options.note:
        with open(KNOWN, "a", encoding="utf-8") as file:
            file.writelines(f"{operators.key(slip.mutant)} open\n"
                            for slip, who in judged if not who)
        listed, alive = known(), {}
    failed = [f"{sum(alive.values())} mutants that no test notices"] * sum(alive.values())
    open_ = sum(why.startswith("open") for why in listed.values())
    print(f"{len(every)} mutants; {KNOWN}: {len(listed) - open_} that nobody can notice, {open_} open")
    if open_ > ratchet.limit("mutants open"):
        failed.append(f"mutants open: {open_}, at most {ratchet.limit('mutants open'):g}")
        print(failed[-1])
    print(f"mutants: {len(judged) - sum(alive.values())} passed, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
