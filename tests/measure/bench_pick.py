#!/usr/bin/env python3
"""How good and how dear picking is, beside others, on all queries of all sets.

    overlap      the share of the query's words that a tool's texts have
    BM25         Lucene's form (k1 1.2, b 0.75), names split, no stop words
    minisearch   of npm, as it comes
    wink         wink-bm25-text-search of npm, with the steps it recommends
    toolcall     build/probe pick

Queries beyond --most (default 300) of the sets with more than 1000 tools are
left out for the npm columns, evenly. Costs are user time on this machine; on
a Cortex-M4 they are instructions under QEMU, if it is there.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import machines
import pick  # noqa: E402
from checks import Checks  # noqa: E402

OUT = pick.ROOT / "build" / "bench"
COST = 6000  # instructions of a tool and query, with -O2
PACKAGES = ["minisearch", "wink-bm25-text-search", "wink-nlp-utils"]


def plain(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def split(text):
    return plain(re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " "))


def overlap(tools, queries):
    texts = [set(plain(t["name"] + " " + (t.get("description") or "")))
             for t in tools]
    for q in queries:
        q = set(plain(q["q"]))
        best = sorted(range(len(tools)), key=lambda i: -len(q & texts[i]))[:5]
        yield [tools[i]["name"] for i in best]


def bm25(tools, queries, k1=1.2, b=0.75):
    docs = [collections.Counter(split(
        t["name"] + " " + (t.get("description") or ""))) for t in tools]
    lengths = [sum(d.values()) for d in docs]
    average = sum(lengths) / len(docs)
    where = collections.defaultdict(list)
    for i, d in enumerate(docs):
        for word, n in d.items():
            where[word].append((i, n))
    for q in queries:
        scores = collections.Counter()
        for word in split(q["q"]):
            found = where.get(word, ())
            idf = math.log(1 + (len(docs) - len(found) + 0.5) /
                           (len(found) + 0.5))
            for i, n in found:
                scores[i] += idf * n / (
                    n + k1 * (1 - b + b * lengths[i] / average))
        best = sorted(scores, key=lambda i: (-scores[i], i))[:5]
        yield [tools[i]["name"] for i in best]


def javascript(sets):
    """The picks of the npm packages, None where there is no npm."""
    home = OUT / "npm"
    home.mkdir(parents=True, exist_ok=True)
    if not (shutil.which("node") and shutil.which("npm")):
        return None
    if any(not (home / "node_modules" / p).is_dir() for p in PACKAGES):
        if subprocess.run(["npm", "install", "--silent", "--no-audit",
                           "--no-fund", "--prefix", home, *PACKAGES],
                          timeout=300).returncode:
            return None
    file = OUT / "pick.json"
    file.write_text(json.dumps({n: {
        "tools": [{"name": t["name"], "description": t.get("description", "")}
                  for t in tools],
        "queries": [q["q"] for q in queries]}
        for n, (tools, queries) in sets.items()}))
    done = subprocess.run(
        ["node", HERE / "bench_pick.js", file], stdout=subprocess.PIPE,
        env=dict(os.environ, NODE_PATH=str(home / "node_modules")))
    return json.loads(done.stdout)["picks"] if done.returncode == 0 else None


def instructions(check):
    """What a tool of 250 bytes costs a query, as callgrind counts."""
    if not shutil.which("valgrind"):
        check.skip("instructions", "valgrind is absent")
        return
    tools = [{"name": f"tool_{i:05}_{'lamp' if i % 3 else 'pump'}",
              "description": f"Switches device number {i} in the "
              f"{'garden' if i % 2 else 'house'} and tells the new state.",
              "parameters": {"type": "object", "properties": {
                  "on": {"type": "boolean", "description": "New state"},
                  "level": {"type": "integer", "minimum": 0, "maximum": 100}},
                  "required": ["on"]}} for i in range(1000)]
    text = "please switch off the pump in the garden"
    few, many = (pick.steps(tools[:n], [text])[0] for n in (100, 1000))
    each = (many - few) / 900
    print(f"\ninstructions: {each:.0f} a tool of 250 bytes, "
          f"{few - 100 * each:.0f} a query")
    check(each <= COST, f"a tool costs {each:.0f} instructions, over {COST}")


def user_time(tools, queries, args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    pick.probe(tools, queries, args, k=5)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def cost(sets):
    print("\nmicroseconds for a tool and query (user time, the least of "
          "five; busy machines show more)")
    print(f"  {'':24}{'bytes':>7}{'records':>9}{'2 KB':>9}")
    for name, (tools, queries) in sets.items():
        size = sum(len(t["name"]) + len(t.get("description") or "") +
                   len(json.dumps(t.get("parameters", ""))) for t in tools)
        cells = []
        few = queries[:5]
        more = (queries * 10)[:5 + max(20, 60000 // len(tools))]
        for args in ([], ["2048"]):
            took = min(user_time(tools, more, args) for _ in range(5)) - \
                min(user_time(tools, few, args) for _ in range(5))
            cells.append(took * 1e6 / (len(more) - len(few)) / len(tools))
        print(f"  {name:24}{size / len(tools):7.0f}" +
              "".join(f"{c:9.2f}" for c in cells))


def cortex_m4():
    """Instructions on an emulated Cortex-M4, which QEMU counts."""
    if not machines.has_m4():
        print("\ninstructions on a Cortex-M4: SKIPPED, no compiler or QEMU")
        return
    include = OUT / "include"
    include.mkdir(parents=True, exist_ok=True)
    shutil.copy("/usr/include/jsmn.h", include)
    elf = machines.build(True, OUT / "pick_m4.elf", "-O2", "-isystem", include,
                         "-DTOOLCALL_IMPLEMENTATION", HERE / "bench_pick_m4.c")
    print("\ninstructions on a Cortex-M4\n" + machines.on_m4(elf), end="")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=300)
    most = parser.parse_args().most
    check = Checks("bench-pick")
    if not pick.DATA.is_dir():
        check.skip("all", f"{pick.DATA} is absent")
        return check.end()
    names = pick.TUNED + pick.CHECKED
    sets = {n: pick.load(n) for n in names}
    fewer = {n: pick.load(n, most if len(sets[n][0]) > 1000 else None)
             for n in names}
    foreign = javascript(fewer)
    if not foreign:
        check.skip("minisearch and wink", "npm is not to be had")
    columns = {
        "overlap": {n: list(overlap(*fewer[n])) for n in names},
        "BM25": {n: list(bm25(*fewer[n])) for n in names},
        "minisearch": foreign and foreign["minisearch"],
        "wink": foreign and foreign["wink"],
        "toolcall": {n: pick.probe(*sets[n], k=5) for n in names},
    }
    print(f"{'R@1 / R@5 / C@5':24}" + "".join(f"{c:>18}" for c in columns))
    table = {c: {n: pick.quality((sets if c == "toolcall" else fewer)[n][1],
                                 picks[n]) for n in names}
             for c, picks in columns.items() if picks}
    rows = [(n, [n]) for n in names] + [
        ("tuned on", pick.TUNED), ("checked on", pick.CHECKED), ("all", names)]
    for title, group in rows:
        cells = []
        for c in columns:
            r = c in table and pick.mean([table[c][n] for n in group])
            cells.append("{R@1:.1f}/{R@5:.1f}/{C@5:.1f}".format(**r)
                         if r else "skipped")
        print(f"  {title:22}" + "".join(f"{c:>18}" for c in cells))
    ours = pick.mean(list(table["toolcall"].values()))
    for k, floor in pick.FLOORS.items():
        check(ours[k] >= floor, f"{k} {ours[k]:.2f} < {floor}")
    cost(sets)
    instructions(check)
    cortex_m4()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
