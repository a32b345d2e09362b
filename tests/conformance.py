#!/usr/bin/env python3
"""Judge of build/probe: feeds the public cases of ../shared/data to the library and counts.

    python3 tests/conformance.py [--probe build/probe] [--data ../shared/data] [--failures DIR] [part ...]

Parts: json shapes args schema tools read cut memory call write writeback prefix errors; all of them when none is named. Every part prints
`part: N passed, N failed, N skipped`, its figures and its first failing cases; the last line sums up, and
the exit status is 1 when anything failed. The parts are in tests/conformance/. Where the data is absent a part says
SKIPPED and counts as skipped, never as passed.

Values are compared as JSON values with exact numbers: 1.0 equals 1, 9007199254740993 stays itself.
"""
import argparse
import importlib
import os
import subprocess
import sys
import time

from conformance.common import Part, Probe

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name: (its module, the folder of its data)
PARTS = {
    "json": ("parsing", "json-parsing"), "shapes": ("parsing", "json-parsing"), "args": ("args", "arguments"), "schema": ("schema", "json-schema"),
    "tools": ("tools", "schemas"), "read": ("reading", "recordings"), "cut": ("reading", "recordings"),
    "memory": ("reading", "recordings"), "call": ("call", "schemas"), "write": ("write", "schemas"),
    "writeback": ("writeback", "recordings"), "prefix": ("writeback", "recordings"), "errors": ("writeback", "recordings")}
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
    if not os.path.isdir(os.path.join(data, folder)):
        p.skipped = 1
        p.say("SKIPPED! there is no %s; nothing of this was checked" % os.path.join(data, folder))
    elif name in JUDGED and not has_jsonschema():
        p.skipped = 1
        p.say("SKIPPED! python3-jsonschema is not installed; nothing of this was checked")
    else:
        start = time.time()
        getattr(importlib.import_module("conformance." + module), "part_" + name)(p, probe, data)
        p.say("%.1f s" % (time.time() - start))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--probe", default=os.path.join(ROOT, "build", "probe"))
    ap.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    ap.add_argument("--failures", metavar="DIR", help="write every failing case to DIR/PART.txt")
    ap.add_argument("part", nargs="*", help=", ".join(PARTS))
    a = ap.parse_args()
    for name in a.part:
        if name not in PARTS:
            ap.error("no part called %s; there are %s" % (name, ", ".join(PARTS)))
    sys.setrecursionlimit(20000)
    probe = Probe(os.path.abspath(a.probe))
    passed = failed = skipped = 0
    if not os.access(probe.path, os.X_OK):
        print("no probe at %s; build it first" % probe.path)
        return 2
    for name in a.part or PARTS:
        p = Part(name)
        run(name, p, probe, a.data)
        p.report(a.failures)
        passed, failed, skipped = passed + p.passed, failed + len(p.fails), skipped + p.skipped
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
