#!/usr/bin/env python3
"""shape.py [--gate | --land]: how much there is in src/, and how it reads.

First one row a chapter: lines of contract and of code, functions with the median
and the longest (lines of the definition), public functions, one-letter words
among all lower-case words of the code, and lines of comment for each hundred
lines of code. Then the figures of all chapters, none left out:

    statements            semicolons outside of comments, texts and the heads of for
    lines                 of the chapters' files
    grammars              files that name both a quote and a backslash: each knows
                          by itself how a JSON text is written
    private doors         functions whose name ends in _ that another chapter names
    for one               of these, those that one other chapter names
    switches              TOOLCALL_NO_... that are asked for
    stubs                 functions that begin by ignoring an argument

They only fall: see ratchet.py. --gate fails where one is higher than it may be,
or where the file does not say what its commit has. --land records them.
"""
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile

import ratchet

ROOT = str(ratchet.ROOT)
BLANK = lambda m: re.sub(r"[^\n]", " ", m.group())  # noqa: E731
CHAPTER = 1300  # lines that a chapter may have
# What is not held where it landed, but within bounds: the least and the most.
BOUNDS = {"median of functions": (0, 12), "one-letter words": (0, 12), "comments": (11.9, 30)}


def bare(text):
    """The text without comments and strings, each line at its place."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", BLANK, text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])*\'', BLANK, text)


def blank(text):
    """Nor preprocessor lines."""
    return re.sub(r"^[ \t]*#(.*\\\n)*.*$", BLANK, bare(text), flags=re.M)


def statements(code):
    """Semicolons but those of heads of for."""
    for head in list(re.finditer(r"\bfor\s*\(", code)):
        at, open_ = head.end(), 1
        while open_ and at < len(code):
            open_ += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        code = code[:head.end()] + code[head.end():at].replace(";", " ") + code[at:]
    return code.count(";")


def house(folder):
    """Figures of all files of a folder, as above."""
    figures = collections.Counter()
    chapters = collections.defaultdict(str)
    for name in sorted(os.listdir(folder)):
        chapter, end = os.path.splitext(name)
        if end not in (".c", ".h"):
            continue
        text = open(os.path.join(folder, name), encoding="utf-8").read()
        code = bare(text)
        chapters[chapter] += code
        said = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        figures["lines"] += text.count("\n")
        figures["statements"] += statements(code)
        figures["grammars"] += all(sign in said for sign in ("'\"'", "'\\\\'"))
        figures["stubs"] += len(re.findall(r"^    \(void\)\w+;", code, re.M))
    home, named = {}, collections.defaultdict(set)
    for chapter, code in chapters.items():
        for name in re.findall(r"^[A-Za-z_][\w \t*]*?\b(tcall_\w+_)\([^;{}]*\)\s*\{", code, re.M):
            home.setdefault(name, chapter)
    for chapter, code in chapters.items():
        for name in set(re.findall(r"\btcall_\w+_\b", code)) & home.keys():
            if home[name] != chapter:
                named[name].add(chapter)
    asked = "".join(re.findall(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b.*\n",
                               "".join(chapters.values()), re.M))
    figures["private doors"] = len(named)
    figures["for one"] = sum(len(by) == 1 for by in named.values())
    figures["switches"] = len(set(re.findall(r"TOOLCALL_NO_\w+", asked)))
    return figures


def shipped(path):
    """What of a chapter's file goes into toolcall.h: from its banner on."""
    if not os.path.exists(path):
        return ""
    text = open(path).read()
    at = text.find("/* =====")
    return text[at:] if at >= 0 else text


def functions(text):
    """(name, lines) of each function that is defined."""
    lines = blank(text).split("\n")
    found, head = [], None
    for i, line in enumerate(lines):
        if re.match(r"[A-Za-z_].*\(|[A-Za-z_][\w \*]*$", line) and ";" not in line:
            head = i if head is None else head
        if line == "{" and head is not None:
            name = re.search(r"(\w+)\s*\(", " ".join(lines[head:i]))
            start = i
            found.append([name.group(1) if name else "?", start])
        if line == "}" and found and len(found[-1]) == 2:
            found[-1] = [found[-1][0], i - head + 1, None]
            head = None
        if line == "" or line.endswith(";") and not line.startswith(" "):
            head = None if not (found and len(found[-1]) == 2) else head
    return [(f[0], f[1]) for f in found if len(f) == 3]


def comments(text):
    """Lines of comment and lines of code."""
    said = code = 0
    inside = False
    for line in text.split("\n"):
        line = line.strip()
        if inside or line.startswith("/*"):
            said += 1
            inside = "*/" not in line
        elif line:
            code += 1
    return said, code


def words(text):
    found = re.findall(r"\b[a-z_][a-z0-9_]*\b", blank(text))
    return sum(len(w) == 1 for w in found), len(found)


def public(text):
    """Functions that a contract declares."""
    text = re.sub(r"\s+", " ", blank(text))
    return sorted(set(re.findall(r"\b(tcall_\w*[a-z0-9])\((?=[^()]*(?:\([^()]*\)[^()]*)*\) ?;)",
                                 re.sub(r"typedef [^;]*;|\([^()]*\*\w+\)\([^()]*\)|\{[^{}]*\}", " ", text))))


def chapters(root):
    """Rows to print, and the figures of how they read."""
    order = [line.split("#")[0].strip() for line in open(root + "/src/order")]
    rows, lengths, total = [], [], collections.Counter()
    for name in filter(None, order):
        contract = shipped(f"{root}/src/{name}.h")
        code = shipped(f"{root}/src/{name}.c")
        one, all_words = words(code)
        said, plain = comments(code)
        sizes = [n for _, n in functions(code)]
        own = public(contract)
        lines = contract.count("\n") + code.count("\n")
        rows.append((name, contract.count("\n"), code.count("\n"), len(sizes),
                     statistics.median(sizes) if sizes else 0, max(sizes or [0]),
                     len(own), 100 * one / max(1, all_words), 100 * said / max(1, plain)))
        lengths += sizes
        total.update(public=len(own), declared=contract.count("\n"), one=one, words=all_words,
                     said=said, code=plain, long=sum(n > 60 for n in sizes), large=lines > CHAPTER)
    return rows, {
        "lines of toolcall.h": open(root + "/toolcall.h").read().count("\n"),
        "lines of contracts": total["declared"],
        "public functions": total["public"],
        "chapters over 1300 lines": total["large"],
        "functions over 60 lines": total["long"],
        "median of functions": statistics.median(lengths),
        "one-letter words": round(100 * total["one"] / total["words"], 1),
        "comments": round(100 * total["said"] / total["code"], 1)}


def figures(root):
    rows, reads = chapters(root)
    return rows, {**house(root + "/src"), **reads}


def landed():
    """The figures of the commit that landed last; None where it is not to be had."""
    with tempfile.TemporaryDirectory() as root:
        with subprocess.Popen(["git", "archive", ratchet.commit(), "src", "toolcall.h"], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as git:
            tar = subprocess.run(["tar", "-xC", root], stdin=git.stdout, stderr=subprocess.DEVNULL)
        return None if git.returncode or tar.returncode else figures(root)[1]


def main():
    rows, now = figures(ROOT)
    if "--land" in sys.argv:
        return ratchet.land({n: v for n, v in now.items() if n not in BOUNDS})
    print(f"{'chapter':12}{'contract':>9}{'code':>6}{'functions':>10}{'median':>7}"
          f"{'longest':>8}{'public':>7}{'1 letter %':>11}{'comments %':>11}")
    for row in rows:
        print("{:12}{:9}{:6}{:10}{:7.1f}{:8}{:7}{:11.1f}{:11.1f}".format(*row))
    failed, then, known = [], landed(), ratchet.rows()
    print(f"{'':26}{'now':>9}{'landed':>9}{'at most':>9}")
    for name, value in now.items():
        low, high = BOUNDS.get(name) or (0, ratchet.limit(name))
        was = known.get(name, ("",))[0]
        print(f"{name:26}{value:9g}{was:>9}{high:9g}")
        if not low <= value <= high:
            failed.append(f"{name}: {value:g}, at most {high:g}; the body of a commit may say "
                          f"'grows: {name}: which step takes it back'")
        if then and was not in ("", then[name]):
            failed.append(f"tests/measure/landed has {was:g} {name}, its commit {then[name]:g}")
    if not then:
        print(f"{ratchet.commit()} is not in this clone: its figures are taken as the file has them")
    for line in failed:
        print("  " + line)
    return "--gate" in sys.argv and failed != []


if __name__ == "__main__":
    sys.exit(main())
