#!/usr/bin/env python3
"""coverage.py [CHAPTER...]: the lines and branches of the chapters that a call goes
through which the unit tests reach, with those that they do not. Fails where a
line is not reached, or more than three branches of a hundred.

A condition that cannot become true is no reason for a test: the code goes.
"""
import collections
import json
import subprocess
import sys

import library

# Of a hundred. An agent's branches are pairs: it goes on, or it fails.
LEAST_LINES, LEAST_BRANCHES = 100, 97


def run_tests():
    """Builds the library so that it counts, and runs the tests with it."""
    subprocess.run(["rm", "-f", f"{library.BUILD}/library.gcda"], check=True)
    made = f"{library.BUILD}/library.o"
    subprocess.run(["gcc", "-O0", *library.FLAGS, "--coverage", "-c", library.source(library.BUILD),
                    "-o", made], check=True)
    for program in library.link(made, library.BUILD, "LDFLAGS=--coverage"):
        done = subprocess.run([program], capture_output=True, text=True, timeout=600)
        if done.returncode:
            sys.exit(f"{program} failed:\n{done.stdout[-2000:]}")


def counted():
    """What gcov says: for each chapter its lines, and the branches of each."""
    done = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout",
                           f"{library.BUILD}/library.gcda"], capture_output=True, check=True)
    chapters = collections.defaultdict(dict)
    for file in json.loads(done.stdout)["files"]:
        if not file["file"].startswith("src/") or not file["file"].endswith(".c"):
            continue
        lines = chapters[file["file"][4:-2]]
        for line in file["lines"]:
            hits, branches = lines.get(line["line_number"], (0, []))
            lines[line["line_number"]] = (hits + line["count"],
                                          branches + [b["count"] for b in line["branches"]])
    return chapters


def show(name, lines):
    """Prints the row of a chapter and what was not reached; is that enough?"""
    branches = [count for _, each in lines.values() for count in each]
    hit_lines = sum(hits > 0 for hits, _ in lines.values())
    hit_branches = sum(count > 0 for count in branches)
    part = lambda hit, all: 100 * hit / all if all else 100
    good = (part(hit_lines, len(lines)) >= LEAST_LINES
            and part(hit_branches, len(branches)) >= LEAST_BRANCHES)
    print(f"{name:<12} lines {hit_lines:>5} of {len(lines):<5} {part(hit_lines, len(lines)):5.1f} %"
          f"   branches {hit_branches:>5} of {len(branches):<5}"
          f" {part(hit_branches, len(branches)):5.1f} %{'' if good else '   TOO LOW'}")
    text = open(f"src/{name}.c").read().split("\n")
    for number in sorted(lines):
        hits, each = lines[number]
        if not hits or 0 in each:
            what = "never" if not hits else " ".join("-+"[count > 0] for count in each)
            print(f"  src/{name}.c:{number}: {what:<8} {text[number - 1].strip()}")
    return good, hit_lines, len(lines), hit_branches, len(branches)


def main():
    run_tests()
    chapters = counted()
    rows = [show(name, chapters[name]) for name in sys.argv[1:] or library.CHAPTERS]
    sums = [sum(row[i] for row in rows) for i in range(1, 5)]
    print(f"all          lines {sums[0]} of {sums[1]}, {100 * sums[0] / sums[1]:.1f} %; "
          f"branches {sums[2]} of {sums[3]}, {100 * sums[2] / sums[3]:.1f} %")
    good = sum(row[0] for row in rows)
    print(f"coverage: {good} passed, {len(rows) - good} failed")
    return good < len(rows)


if __name__ == "__main__":
    sys.exit(main())
