#!/usr/bin/env python3
"""How good picking is: build/probe pick on sets of tools and queries.

R@k is the share of the wanted tools among the first k, C@5 the share of the
queries all of whose tools are among the first five; the mean over the queries
of a set, then over the sets. The sets of ../shared/data/pick are sampled evenly
here, make bench-pick takes all of their queries; the Chinese and Japanese set
is our own. The settings were tuned on TUNED and checked on CHECKED.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "pick"
PROBE = ROOT / "build" / "probe"
TUNED = ["metatool", "metatool_multi", "bfcl", "sealtools"]
CHECKED = ["hahome", "apibank", "stabletoolbench"]
FLOORS = {"R@1": 49, "R@5": 84, "C@5": 75}


def load(name, most=None):
    """Tools and queries of a set, the latter sampled evenly."""
    tools = json.loads((DATA / name / "tools.json").read_text())
    queries = json.loads((DATA / name / "queries.json").read_text())
    return tools, queries[::max(1, len(queries) // most) if most else 1]


def probe(tools, queries, args=(), runner=(), **options):
    """The names picked for each query."""
    lines = [{"tools": tools}] + [dict(q=q["q"], **options) for q in queries]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n"
                   for line in lines)
    done = subprocess.run([*runner, PROBE, "pick", *args],
                          input=text.encode(), stdout=subprocess.PIPE,
                          check=True, timeout=600)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(queries)
    return [[p["name"] for p in a["picks"]] for a in answers]


def quality(queries, picks):
    sums = dict.fromkeys(["R@1", "R@5", "C@5", "recall", "sent"], 0)
    for query, names in zip(queries, picks):
        gold = set(query["gold"])
        found = len(gold & set(names[:5]))
        sums["R@1"] += 100 * len(gold & set(names[:1])) / len(gold)
        sums["R@5"] += 100 * found / len(gold)
        sums["C@5"] += 100 * (found == len(gold))
        sums["recall"] += 100 * len(gold & set(names)) / len(gold)
        sums["sent"] += len(names)
    return {k: v / len(queries) for k, v in sums.items()}


def mean(rows):
    return {k: sum(r[k] for r in rows) / len(rows) for k in rows[0]}


def show(name, row):
    print(f"  {name:24}" + "".join(
        f"{k} {row[k]:5.1f}  " for k in ("R@1", "R@5", "C@5")))


def words(tools, queries):
    """The same by plain words: how many of the query's a tool has."""
    split = lambda text: set(re.findall(r"\w+", text.lower()))
    texts = [(t["name"], split(t["name"] + " " + t["description"]))
             for t in tools]
    return [[name for name, _ in sorted(
        texts, key=lambda t: -len(split(q["q"]) & t[1]))[:5]]
        for q in queries]


def open_sets(check, most):
    rows, cut, plain = {}, {}, {}
    for name in TUNED + CHECKED:
        tools, queries = load(name, most)
        rows[name] = quality(queries, probe(tools, queries, k=5))
        cut[name] = quality(queries, probe(tools, queries, k=8,
                                           relative=50))
        plain[name] = quality(queries, probe(tools, queries, k=5,
                                             synonyms=""))
        show(name, rows[name])
    everything = mean(list(rows.values()))
    show("tuned on", mean([rows[n] for n in TUNED]))
    show("checked on", mean([rows[n] for n in CHECKED]))
    show("all", everything)
    show("all, without synonyms", mean(list(plain.values())))
    for k, floor in FLOORS.items():
        check(everything[k] >= floor, f"{k} {everything[k]:.1f} < {floor}")
    cut = mean(list(cut.values()))
    print(f"  8 tools that reach half of the best: {cut['sent']:.2f} sent, "
          f"recall {cut['recall']:.1f} (a fixed five: "
          f"{everything['recall']:.1f})")
    check(cut["sent"] <= 5.5, "more than 5.5 tools are sent")
    check(cut["recall"] >= everything["recall"], "the cut loses recall")


def no_spaces(check):
    for part in json.loads((ROOT / "tests/pick_cjk.json").read_text()):
        tools = [dict(name=n, description=d) for n, d in part["tools"]]
        queries = [dict(q=q, gold=[g]) for q, g in part["queries"]]
        ours = quality(queries, probe(tools, queries, k=5))
        plain = quality(queries, words(tools, queries))
        show(f"{part['language']}, {len(queries)} queries", ours)
        check(ours["R@5"] >= 60 > 40 > plain["R@5"],
                   f"{part['language']}: {ours} beside {plain}")


def steps(tools, inputs):
    """The instructions of each call of tcall_pick, as valgrind counts them:
    those of a program, whatever else the machine does meanwhile."""
    with tempfile.TemporaryDirectory() as place:
        probe(tools, [{"q": text} for text in inputs], runner=[
            "valgrind", "-q", "--tool=callgrind", "--dump-after=tcall_pick",
            "--toggle-collect=tcall_pick", f"--callgrind-out-file={place}/out"])
        return [int(re.search(r"^totals: (\d+)", pathlib.Path(
            f"{place}/out.{i + 1}").read_text(), re.M).group(1))
            for i in range(len(inputs))]


def growth(check):
    """The work for a tool may not grow with their number, nor that for a byte
    of input with its length."""
    if not shutil.which("valgrind"):
        check.skip("growth", "valgrind is absent")
        return
    tools = [{"name": f"tool_{i}", "description": "Looks at " + " ".join(
        f"word{(i * 7 + j) % 997}" for j in range(20))} for i in range(10000)]
    text = "please look at word 5, word7 and tools"
    few, many = (steps(tools[:n], [text])[0] / n for n in (1000, 10000))
    print(f"  10 times the tools: {many / few:.2f} times the work for each")
    check(many < 1.2 * few, "work is not linear in tools")
    texts = [" ", "\0", "x", "a b ", "{\"", "\ud7ff", ".", "light on! "]
    none, *counts = steps(tools[:10], [""] + [
        text * (n // len(text)) for text in texts for n in (5000, 10000)])
    for text, once, twice in zip(texts, counts[::2], counts[1::2]):
        check(twice - none <= 2.1 * (once - none), f"{text!r}: {once} "
              f"and, twice as long, {twice} instructions")


def main():
    check = Checks("pick.py")
    no_spaces(check)
    growth(check)
    if DATA.is_dir():
        open_sets(check, 120)
    else:
        check.skip("open sets", f"{DATA} is absent")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
