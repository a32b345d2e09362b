#!/usr/bin/env python3
"""Judge of build/probe: feeds cases to the library and counts: those of tests/conformance/own.py, made for this project,
and the far more of ../shared/data, public ones, where that is.

    python3 tests/conformance.py [--probe build/probe] [--data ../shared/data] [--failures DIR] [part ...]

Parts: json shapes args schema bombs tools read cut memory call write writeback prefix errors strangers; all of them when none is named.
Every part prints `part: N passed, N failed, N skipped`, its figures and its first failing cases, with own- before its name
for the cases made here; the last line sums up, and the exit status is 1 when anything failed. The parts are in
tests/conformance/. Where the data is absent a part says SKIPPED and counts as skipped, never as passed.

Values are compared as JSON values with exact numbers: 1.0 equals 1, 9007199254740993 stays itself.
"""
import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time

from conformance import own
from conformance.common import Part, Probe

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PUBLIC = os.path.join(ROOT, "..", "shared", "data")

# name: (its module, the folder of its data, None where it needs none)
PARTS = {
    "json": ("parsing", "json-parsing"), "shapes": ("parsing", "json-parsing"), "args": ("args", "arguments"), "schema": ("schema", "json-schema"), "bombs": ("schema", None),
    "tools": ("tools", "schemas"), "read": ("reading", "recordings"), "cut": ("reading", "recordings"),
    "memory": ("reading", "recordings"), "call": ("call", "schemas"), "write": ("write", "schemas"),
    "writeback": ("writeback", "recordings"), "prefix": ("writeback", "recordings"), "errors": ("writeback", "recordings"),
    "strangers": ("strangers", "recordings2")}
JUDGED = ("tools", "call")  # by python3-jsonschema


def has_jsonschema():
    subprocess.run([os.path.join(ROOT, "tests", "need"), "python3-jsonschema"], stdout=subprocess.DEVNULL)
    try:
        importlib.import_module("jsonschema")
        return True
    except ImportError:
        return False


def run(name, p, probe, data):
    module, folder = PARTS[name]
    if folder and not os.path.isdir(os.path.join(data, folder)):
        p.skipped = 1
        p.say("SKIPPED! there is no %s; nothing of this was checked" % os.path.join(data, folder))
    elif name in JUDGED and not has_jsonschema():
        p.skipped = 1
        p.say("SKIPPED! python3-jsonschema is not installed; nothing of this was checked")
    else:
        start = time.time()
        getattr(importlib.import_module("conformance." + module), "part_" + name)(p, probe, data)
        p.say("%.1f s" % (time.time() - start))


def judged(name, title, probe, data, failures):
    p = Part(title)
    run(name, p, probe, data)
    p.report(failures)
    return p


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--probe", default=os.path.join(ROOT, "build", "probe"))
    ap.add_argument("--data", help="only the cases in this folder")
    ap.add_argument("--failures", metavar="DIR", help="write every failing case to DIR/PART.txt")
    ap.add_argument("part", nargs="*", help=", ".join(PARTS))
    a = ap.parse_args()
    for name in a.part:
        if name not in PARTS:
            ap.error("no part called %s; there are %s" % (name, ", ".join(PARTS)))
    sys.setrecursionlimit(20000)
    probe = Probe(os.path.abspath(a.probe))
    if not os.access(probe.path, os.X_OK):
        print("no probe at %s; build it first" % probe.path)
        return 2
    with tempfile.TemporaryDirectory() as made:
        own.write(made)
        parts = []
        for name in a.part or PARTS:
            if not a.data and PARTS[name][1]:
                parts.append(judged(name, "own-" + name, probe, made, a.failures))
            parts.append(judged(name, name, probe, a.data or PUBLIC, a.failures))
    failed = sum(len(p.fails) for p in parts)
    print("%d passed, %d failed, %d skipped" % (sum(p.passed for p in parts), failed, sum(p.skipped for p in parts)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
