#!/usr/bin/env python3
"""Puts what was measured last into README.md: the tables of each part.

    figures.py           writes between the marks "figures: begin" and "end"
    figures.py --check   fails where a figure there is stale

Sizes and stacks may not grow by more than 1 %: a change that needs more has to
write its figures too. Otherwise compilers and C libraries differ a little.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# part: how much more and how much less may be measured than README says
PARTS = {"size": (0.01, 0.05), "firmware": (0.01, 0.05),
         "linux": (0.10, 0.10), "bench": (0.05, 0.05)}
# not measured where apt has no sources; how their tables begin
OPTIONAL = {"firmware": "| firmware", "linux": "| static"}


def tables_of(text):
    return [table.strip("\n") for table in re.split(r"\n\s*\n", text)
            if table.strip()]


def title(table):
    """What tells a table from the others: its first cell."""
    return table.split("|")[1].strip()


def numbers(text):
    return [float(n.replace(",", ""))
            for n in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text)]


def fits(shown, now, more, less):
    shown, now = numbers(shown), numbers(now)
    return len(shown) == len(now) and all(
        b <= a * (1 + more) and a <= b * (1 + less)
        for a, b in zip(shown, now))


def main():
    check = sys.argv[1:] == ["--check"]
    readme = ROOT / "README.md"
    text = readme.read_text()
    m = re.search(r"(<!-- figures: begin.*?-->\n)(.*?)(<!-- figures: end -->)",
                  text, re.S)
    if not m:
        sys.exit("README.md has no figures: begin and end")
    shown = {title(table): table for table in tables_of(m.group(2))}
    tables, stale = [], []
    for part, (more, less) in PARTS.items():
        fresh = ROOT / "build" / part / "figures.md"
        if not fresh.exists():
            print(f"{part}: SKIPPED, it was not measured")
            begin = OPTIONAL.get(part, "none")
            tables += [old for old in shown.values() if old.startswith(begin)]
            continue
        for now in tables_of(fresh.read_text()):
            tables.append(now)
            if not fits(shown.get(title(now), ""), now, more, less):
                stale.append(now)
    if check:
        if stale:
            print("README.md is stale: run make figures\n" + "\n\n".join(stale))
        return bool(stale)
    readme.write_text(text[:m.end(1)] + "\n\n".join(tables) +
                      "\n" + text[m.start(3):])
    return 0


if __name__ == "__main__":
    sys.exit(main())
