#!/usr/bin/env python3
"""Instructions a byte of arguments that are read into a struct by their shape.

In pieces of 1,400 bytes and of 1: on the host with -O2, counted by callgrind,
and on a Cortex-M4 with -Os, counted by QEMU. Then what grows: length, members
and nesting, as the exponent of the instructions. Two texts are those of
bench.py; two more are of the project's shared data, where that is at hand.
"""
import json
import math
import pathlib
import sys

import bench
import machines
import ratchet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import Checks  # noqa: E402

OUT = bench.ROOT / "build" / "bench"
PIECES = [1400, 1]
BARS = {"host -O2": 45, "Cortex-M4 -Os": 55}  # aims in pieces of 1,400
# Where an aim is missed: what was measured last, by text and pieces. It may not
# get worse. The aim was set for d2 and d4; reminder has shorter texts and so more
# syntax a byte.
HELD = {("host -O2", "reminder", 1400): 46, ("Cortex-M4 -Os", "reminder", 1400): 55.5,
        **{("host -O2", name, 1): 128 for name in ("reminder", "invoice", "d2", "d4")}}
SINGLE = 2.5  # what a byte alone may cost, times the aim
EXPONENT = 1.1


def fixed():
    """(name, text, index of its shape)"""
    found = [("reminder", bench.compact(bench.CALL_MUM), 0), ("invoice", bench.compact(bench.BILL), 1)]
    paths = [bench.DATA / f"{name}.json" for name in ("d2", "d4")]
    if not all(path.exists() for path in paths):
        print(f"{bench.DATA} is absent: its documents were SKIPPED")
        return found
    return found + [(path.stem, path.read_text().strip(), shape) for shape, path in enumerate(paths)]


def growing():
    """Likewise, in series: (series and size, text, index of its shape)"""
    found = []
    for n in (8, 16, 32, 64):
        found.append((f"members {n}", bench.compact(
            {f"member_{i // 8}{i % 8}": 5 for i in range(n)}), 2))
    for n in (1000, 8000, 30000):
        found.append((f"text {n}", bench.compact({"text": "plain \u20ac" * (n // 9)}), 3))
    for n in (500, 2000, 8000):
        found.append((f"items {n}", bench.compact({"list": [7] * n}), 3))
    for n in (7, 15, 30, 60):
        found.append((f"depth {n}", '{"x":' + "[" * n + "]" * n + "}", 3))
    return found


def build(cross, level):
    program = OUT / f"shapes_{'m4' if cross else 'host'}{level}"
    return machines.ours(cross, program, level, "-I", OUT,
                         bench.HERE / "bench_shapes.c")


def host(program, row, piece):
    count, said = machines.on_host(program, str(row), str(piece))
    return count, int(said)


def on_m4(program):
    """{(row, piece): (instructions, error)}"""
    out = machines.on_m4(program).split()
    pairs = zip(map(int, out[::2]), map(int, out[1::2]))
    return {(i // 2, PIECES[i % 2]): (n, error)
            for i, (error, n) in enumerate(pairs)}


def main():
    check = Checks("bench_shapes")
    OUT.mkdir(parents=True, exist_ok=True)
    read = fixed()
    rows = read + growing()
    (OUT / "texts.h").write_text(
        "static const char *const texts[] = {\n"
        + ",\n".join(json.dumps(t, ensure_ascii=False) for _, t, _ in rows)
        + "};\nstatic const unsigned char shape_of[] = {"
        + ", ".join(str(s) for _, _, s in rows)
        + f"}};\nenum {{ FIXED = {len(read)} }};\n")
    program = build(False, "-O2")
    ways = {"host -O2": lambda row, piece: host(program, row, piece)}
    if machines.has_m4():
        counted = on_m4(build(True, "-Os"))
        ways["Cortex-M4 -Os"] = lambda row, piece: counted[row, piece]
    else:
        print("shapes on a Cortex-M4: SKIPPED, no compiler or QEMU")
    for title, counts in ways.items():
        for row, (name, text, _) in enumerate(read):
            for piece in PIECES:
                count, error = counts(row, piece)
                each = count / len(text.encode())
                bar = BARS[title] * (1 if piece > 1 else SINGLE)
                print(f"shapes, {title}, {name}, {len(text.encode())} bytes in "
                      f"pieces of {piece}: {each:.1f} a byte, aim {bar:g}" +
                      (f": MISSED by {each - bar:.1f}" if each > bar else ""))
                check(error == 0, f"{title}, {name}, {piece}: error {error}")
                ratchet.hold(check, "instructions",
                             each <= max(bar, HELD.get((title, name, piece), 0)),
                             f"{title}, {name}, {piece}: {each:.1f}")
    last = None
    for row, (name, text, _) in list(enumerate(rows))[len(read):]:
        count, error = host(program, row, 1400)
        kind, size = name.split()
        if last and last[0] == kind:
            grown = math.log(count / last[2]) / math.log(int(size) / last[1])
            print(f"shapes, {name}: {count} instructions, exponent {grown:.2f}")
            check(error == 0 and grown <= EXPONENT, f"{name}: {grown:.2f}, error {error}")
        last = kind, int(size), count
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
