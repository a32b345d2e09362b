#!/usr/bin/env python3
"""Puts what size.py and bench.py measured last into README.md.

    figures.py           writes between the marks "figures: begin" and "end"
    figures.py --check   fails where a figure there is off by more than 5 %
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 0.05  # compilers and C libraries differ a little


def numbers(text):
    return [float(n.replace(",", ""))
            for n in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text)]


def main():
    readme = ROOT / "README.md"
    text = readme.read_text()
    fresh = "\n".join((ROOT / "build" / part / "figures.md").read_text()
                      for part in ("size", "bench"))
    m = re.search(r"(<!-- figures: begin.*?-->\n)(.*?)(<!-- figures: end -->)",
                  text, re.S)
    if not m:
        sys.exit("README.md has no figures: begin and end")
    if sys.argv[1:] != ["--check"]:
        readme.write_text(text[:m.end(1)] + fresh + text[m.start(3):])
        return 0
    shown, now = numbers(m.group(2)), numbers(fresh)
    stale = len(shown) != len(now) or any(
        abs(a - b) > TOLERANCE * max(a, b) for a, b in zip(shown, now))
    if stale:
        print("README.md is stale: run make figures\n" + fresh)
    return stale


if __name__ == "__main__":
    sys.exit(main())
