#!/usr/bin/env python3
"""mutants.py [-n COUNT] [-s SEED] [CHAPTER...]: changes one thing at a time in the
chapters that a call goes through, as a slip of the hand would, and looks whether
a unit test notices. Prints who noticed, and each mutant that lived.

Mutants are drawn evenly over the chapters, the same ones for the same seed as
long as the code is the same. One that does not compile, or that gcc -O2 makes
the same code of, is none. Fails where fewer than 95 of a hundred are killed.
Takes one processor for about ten minutes, and clang.
"""
import argparse
import filecmp
import os
import random
import re
import resource
import shutil
import subprocess
import sys

import library
from shape import blank

HERE = "build/mutants"
SECONDS = 60        # of processor time for a test without a mutant
BYTES = 1 << 31     # of memory
EVERY = 9           # of the sizes and places that a test goes through is tried
# They take as long as all others together, and are about what servers send.
SLOW = ("test_agent_again", "test_prefix", "test_wire")
# A function that lost its last return has no meaning that could be tested.
CLANG = ("clang", "-shared", "-fPIC", "-Wno-everything", "-Werror=return-type")
LEAST = 95          # of a hundred mutants

# What is found in the code, and what stands there instead.
SLIPS = [
    (r" == ", " != "), (r" != ", " == "),
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" -= ", " += "),
    (r" \| ", " & "), (r" & ", " | "), (r" \|= ", " &= "),
    (r"(?<=[ (])!(?=[\w(])", ""),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<=[ (\[])0(?=[;,)\]])", "1"), (r"(?<=[ (\[])1(?=[;,)\] ])", "2"),
    (r"\bif \((?=.*\)$|.*\) \{$)", "if (!"),      # see also negated()
    (r"(?m)^ +(?!return|break|continue|else|case|goto)[\w>.\[\]*-]+(\(.*\)| [|&+-]?= .*);$", ";"),
    (r"(?m)^ +(return|break|continue)\b.*;$", ";"),
    (r"\breturn (?=[a-z].*;)(?!0)", "return 0 * "),
]


def negated(text, at):
    """`if (a && b)` as `if (!(a && b))`: the condition that starts at `at`."""
    depth, end = 1, at
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return f"!({text[at:end - 1]})", end - 1


def mutants_of(chapter):
    """All mutants of a chapter: (start, end, text that stands there instead)."""
    text = open(f"{HERE}/src/{chapter}.c").read()
    code = blank(text)
    found = []
    for pattern, other in SLIPS:
        for hit in re.finditer(pattern, code):
            if code.rfind("\n{", 0, hit.start()) <= code.rfind("\n}", 0, hit.start()):
                continue        # outside of functions nothing runs
            if other == "if (!":
                changed, end = negated(text, hit.end())
                found.append((hit.end(), end, changed))
            elif other == "return 0 * ":
                end = code.index(";", hit.end())
                found.append((hit.start(), end, "return 0"))
            else:
                found.append((hit.start(), hit.end(), other))
    return text, sorted(found)


def compiled(output, *flags):
    """Compiles the chapters in HERE; does that work?"""
    return subprocess.run([*flags, *library.FLAGS, f"{HERE}/library.c", "-o", output],
                          capture_output=True).returncode == 0


def passes(program, seconds):
    """Does a test pass, in so many seconds of processor time?"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    return subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          preexec_fn=limit).returncode == 0


def timed(programs):
    """The tests with the time that each may take, the quickest first: ten times
    what it takes without a mutant, as mutants may never end."""
    found = []
    for program in programs:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        if not passes(program, SECONDS):
            sys.exit(f"mutants.py: {program} fails without a mutant")
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        found.append((2 + int(10 * took), program))
    return sorted(found)


def killer(programs):
    """The first test that fails, or ""."""
    return next((os.path.basename(program) for seconds, program in programs
                 if not passes(program, seconds)), "")


def is_same_code():
    """Does gcc -O2 make the same of a mutant as of the original?"""
    compiled(f"{HERE}/mutant.o", "gcc", "-c", "-O2", "-w")
    return filecmp.cmp(f"{HERE}/mutant.o", f"{HERE}/original.o", shallow=False)


def prepare():
    """Builds the tests, linked with a library that can be exchanged."""
    shutil.rmtree(HERE, ignore_errors=True)
    library.source(HERE)
    shutil.copytree("src", f"{HERE}/src")
    here = os.path.abspath(HERE)
    so = f"{here}/liblibrary.so"
    compiled(so, *CLANG)
    compiled(f"{HERE}/original.o", "gcc", "-c", "-O2", "-w")
    programs = library.link(so, here, f"LDFLAGS=-Wl,-rpath,{here}",
                            f"CPPFLAGS=-DCHECK_EVERY={EVERY}")
    return so, timed(p for p in programs if not p.endswith(SLOW))


def changed_to(chapter, text):
    with open(f"{HERE}/src/{chapter}.c", "w") as file:
        file.write(text)


def try_mutant(so, programs, chapter, text, mutant):
    """None where it is no mutant, else who killed it ("" for nobody)."""
    start, end, other = mutant
    changed_to(chapter, text[:start] + other + text[end:])
    try:
        if not compiled(so, *CLANG):
            return None
        return killer(programs) or (None if is_same_code() else "")
    finally:
        changed_to(chapter, text)


def described(chapter, text, mutant):
    start, end, other = mutant
    line = text.count("\n", 0, start + 1) + 1
    first, last = text.rfind("\n", 0, start + 1) + 1, text.find("\n", end)
    was = " ".join(text[first:last].split())
    now = " ".join((text[first:start] + other + text[end:last]).split())
    return f"src/{chapter}.c:{line}:\n    {was}\n    {now}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("chapters", nargs="*", default=library.CHAPTERS)
    options = parser.parse_args()
    so, programs = prepare()
    killed, alive = 0, []
    for i, chapter in enumerate(options.chapters):
        wanted = options.n * (i + 1) // len(options.chapters) - killed - len(alive)
        text, found = mutants_of(chapter)
        random.Random(f"{options.s} {chapter}").shuffle(found)
        before = killed
        lived = []
        for mutant in found:
            if killed - before + len(lived) == wanted:
                break
            who = try_mutant(so, programs, chapter, text, mutant)
            if who == "":
                lived.append(described(chapter, text, mutant))
                print(lived[-1], flush=True)
            killed += bool(who)
        alive += lived
        print(f"{chapter:<12} killed {killed - before:>3} of {killed - before + len(lived):<3} "
              f"(of {len(found)} that there are)", flush=True)
    all = killed + len(alive)
    print(f"mutants: {killed} of {all} killed, {100 * killed / all:.1f} %")
    return 100 * killed < LEAST * all


if __name__ == "__main__":
    sys.exit(main())
