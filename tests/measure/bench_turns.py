#!/usr/bin/env python3
"""Instructions of a turn of an agent after so many turns of history.

Counted by callgrind on this host with -O2. The request is written with all of
its history, but counted only from the turn before on.
"""
import pathlib
import sys

import bench
import machines

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import Checks  # noqa: E402

OUT = bench.ROOT / "build" / "bench"
TURNS = [0, 50, 100, 200]
MOST = 4000000  # after the last of them


def main():
    check = Checks("bench_turns")
    OUT.mkdir(parents=True, exist_ok=True)
    program = machines.ours(False, OUT / "turns", "-O2",
                            bench.HERE / "bench_turns.c")
    for turns in TURNS:
        count, said = machines.on_host(program, str(turns))
        print(f"  {turns:4} turns of history: {count or 0:10,} instructions")
        check(said.strip() == "0", f"the turn after {turns} ended with {said}")
    check(0 < count <= MOST, f"{count} instructions, more than {MOST}")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
