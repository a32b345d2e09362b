#!/usr/bin/env python3
"""Instructions a byte of an answer whose arguments come in deltas of 5 bytes.

Counted by callgrind on this host with -O2, for arguments of 5 and 50 KB, in
pieces of 1, 64 and 1,400 bytes: a byte costs the same whatever came before it.
"""
import pathlib
import sys

import bench
import machines

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import Checks  # noqa: E402

OUT = bench.ROOT / "build" / "bench"
LENGTHS = [5000, 50000]
PIECES = [1, 64, 1400]
APART = 1.1  # the longer ones may cost so much more a byte


def main():
    check = Checks("bench_deltas")
    OUT.mkdir(parents=True, exist_ok=True)
    program = machines.ours(False, OUT / "deltas", "-O2",
                            bench.HERE / "bench_deltas.c")
    print(f"{'instructions a byte':22}" + "".join(f"{n:>10}" for n in LENGTHS))
    for piece in PIECES:
        found = []
        for length in LENGTHS:
            count, said = machines.on_host(program, str(length), str(piece))
            found.append(count / int(said) if count else 0)
        print(f"{f'pieces of {piece}':22}" + "".join(f"{n:10.1f}" for n in found))
        check(0 < found[1] <= found[0] * APART,
              f"pieces of {piece}: a byte of long arguments costs more")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
