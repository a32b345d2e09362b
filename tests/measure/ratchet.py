"""Figures that only fall, beside those of the commit that tests/measure/landed records.

A row of that file is a figure: its NAME, what it LANDED at, and what the issue in
force allows where that is more. A figure above both fails, unless the body of a
commit since then has a line "grows: NAME: which step takes it back". `make landed`
writes today's figures when an issue ends; none may then be above its row.
"""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "measure" / "landed"


def git(*words):
    """What git says, or None."""
    p = subprocess.run(["git", *words], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL)
    return None if p.returncode else p.stdout


def rows():
    """{name: (landed, allowed)}"""
    found = re.findall(r"^([\w. -]+?) +([\d.]+)(?: +([\d.]+))?$", FILE.read_text(), re.M)
    return {name: (float(landed), float(allowed or landed)) for name, landed, allowed in found}


def commit():
    return re.search(r"^commit (\w+)$", FILE.read_text(), re.M).group(1)


def growing():
    """Names that a commit since then says may grow for a while."""
    said = git("log", "--format=%B", f"{commit()}..HEAD")
    return set(re.findall(r"^grows: ([^:\n]+):.*\w", said or "", re.M))


def limit(name):
    """The most that a figure may be."""
    return float("inf") if name in growing() else rows()[name][1]


def hold(check, name, good, what):
    """A bar that is missed is a failure, unless a commit says that NAME may grow
    for a while: then it is said, and not counted."""
    if good or name not in growing():
        return check(good, what)
    print(f"  MISSED, and said to grow for a while ({name}): {what}")
    return False


def land(figures):
    """Records figures, and the commit they are of."""
    known = rows()
    worse = {name: value for name, value in figures.items() if value > known.get(name, (0, value))[1]}
    if worse:
        raise SystemExit(f"above what landed last: {worse}")
    head = git("rev-parse", "HEAD").strip()
    text = re.sub(r"^commit \w+$", f"commit {head}", FILE.read_text(), flags=re.M)
    for name, value in figures.items():
        text = re.sub(rf"^{re.escape(name)} +[\d. ]+$", f"{name} {value:g}", text, flags=re.M)
    FILE.write_text(text)
