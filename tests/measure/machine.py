#!/usr/bin/env python3
"""What arguments cost that come through a registry with schema text: of each byte that
came, how often it is read; memory of a call beyond the registry and the bytes as they
came (tcall_call included); instructions to parse and check; and how instructions grow.

Bytes that are read are counted by valgrind's lackey, which tells of each access to
memory; instructions by callgrind. Of the library nothing is named but its functions.
Two documents are of the project's shared data, and SKIPPED where that is not at hand.
Prints, and fails only where a call is refused that must not be; the aims beside the
figures are those of issue P.
"""
import json
import math
import random
import re
import subprocess
import sys

import bench
import machines
from bench import Checks

OUT = bench.OUT
READ = {"strict": 1.0, "coerced": 1.1, "fixed": 2.1, "both": 2.2}
# memory; instructions on the host with -O2, on a Cortex-M4 with -Os
AIMS = {"d2": (1250, 14700, 20000), "d4": (4034 + 1100, 250000, 320000)}
EXPONENT = 1.06
PRICE = 1.25
JSMN = ["-DTOOLCALL_JSMN", "-DJSMN_STATIC", "-DJSMN_STRICT", "-DJSMN_PARENT_LINKS"]
WHOLE = {"type": "integer", "minimum": 0, "maximum": 9}


def coerced(value):
    """The value with each number as a text."""
    if isinstance(value, dict):
        return {key: coerced(each) for key, each in value.items()}
    if isinstance(value, list):
        return [coerced(each) for each in value]
    return value if isinstance(value, (bool, str)) or value is None else str(value)


def broken(text):
    """The text with a comma too many at its end."""
    return text[:-1] + ",}"


def kinds(value):
    return {"strict": bench.compact(value), "coerced": bench.compact(coerced(value)),
            "fixed": broken(bench.compact(value)), "both": broken(bench.compact(coerced(value)))}


def documents():
    """(name, schema, arguments)"""
    found = [("reminder", bench.REMINDER, bench.CALL_MUM), ("invoice", bench.INVOICE, bench.BILL)]
    for name in ("d2", "d4"):
        path = bench.DATA / f"{name}.json"
        if path.exists():
            schema = json.loads((bench.DATA / f"{name}.schema.json").read_text())
            found.append((name, schema, json.loads(path.read_text())))
        else:
            print(f"{path.name}: SKIPPED, because it is not at hand")
    return found


def growing(n):
    """Likewise, of a size n."""
    names = [f"member_{i}" for i in range(n)]
    schema = {"type": "object", "properties": {name: WHOLE for name in names}, "required": names}
    shuffled = random.Random(1).sample(names, n)
    for title, order in ("in order", names), ("reversed", names[::-1]), ("shuffled", shuffled):
        yield f"members {title}", schema, {name: 5 for name in order}
    free = {"type": "object"}
    yield "free members", free, {name: 5 for name in names}
    listed = lambda **more: {"type": "object", "properties": {"x": {"type": "array", **more}}}
    yield "items", listed(items=WHOLE), {"x": [7] * n}
    yield "unique objects", listed(uniqueItems=True), {"x": [{"a": i, "b": "x"} for i in range(n)]}
    yield "a text", {"type": "object", "properties": {"x": {"type": "string"}}}, {"x": "plain \u20ac" * n}


def written(name, schema, text):
    """The words that the program is started with."""
    paths = [OUT / f"machine_{name.replace(' ', '_')}.{end}.json" for end in ("schema", "text")]
    paths[0].write_text(schema if isinstance(schema, str) else bench.compact(schema))
    paths[1].write_text(text)
    return [str(path) for path in paths]


def read_bytes(program, words):
    """Of each byte of the text that came, how often it is read."""
    done = subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-fd=1", program,
                           *words, "once"], capture_output=True, text=True)
    start, len_ = map(int, re.search(r"^-?\d+ (\d+) (\d+) \d+$", done.stdout, re.M).groups())
    # Before the call the text is only written.
    return sum(int(size) for at, size in re.findall(r"^ [LM] ([\da-f]+),(\d+)$", done.stdout, re.M)
               if start <= int(at, 16) < start + len_) / len_


def by_tokens(check, found):
    """Prints what it costs on the host that jsmn tokenises what lies whole."""
    for name, schema, value in found:
        words = written(f"{name} strict", schema, bench.compact(value))
        plain, said = machines.on_host(bench.build("bench_machine", "-O2"), *words)
        program = machines.build(False, OUT / "bench_machine_jsmn", "-O2", *JSMN,
                                 bench.HERE / "bench_machine.c", "tests/impl.c")
        count, also = machines.on_host(program, *words)
        check(count and also.startswith("0 "), f"{name} by jsmn: {also}")
        print(f"by jsmn's tokens, {name}: {count}, {count / plain:.2f} of {plain}, aim {PRICE}; "
              f"memory {also.split()[3]}, not {said.split()[3]}")


def on_m4(check, found):
    """Prints the instructions of each document on a Cortex-M4."""
    if not machines.has_m4():
        print("machine on a Cortex-M4: SKIPPED, no compiler or QEMU")
        return
    pairs = [(bench.compact(schema), bench.compact(value)) for _, schema, value in found]
    (OUT / "machine_texts.h").write_text(
        "static const char *const documents[][2] = {" + ",\n".join(
            "{" + ", ".join(json.dumps(text, ensure_ascii=False) for text in pair) + "}"
            for pair in pairs) + "};\n")
    program = machines.ours(True, OUT / "machine_m4", "-Os", "-I", OUT,
                            bench.HERE / "bench_machine.c")
    said = machines.on_m4(program).split()
    check(len(said) == 2 * len(pairs), f"Cortex-M4: {said}")
    for (name, _, _), error, count in zip(found, said[::2], said[1::2]):
        aim = AIMS.get(name, ("", "", "-"))[2]
        print(f"machine, Cortex-M4 -Os, {name}: {count}, aim {aim}")
        check(error == "0", f"Cortex-M4, {name}: error {error}")


def main():
    check = Checks("machine")
    OUT.mkdir(parents=True, exist_ok=True)
    program = bench.build("bench_machine", "-O2")
    print(f"{'':24}{'bytes':>7}{'read':>7}{'aim':>6}{'memory':>9}{'aim':>7}"
          f"{'instructions':>14}{'aim':>9}{'a byte':>8}")
    found = documents()
    for name, schema, value in found:
        for kind, text in kinds(value).items():
            words = written(f"{name} {kind}", schema, text)
            count, said = machines.on_host(program, *words)
            check(count and said.startswith("0 "), f"{name}, {kind}: {said}")
            if not count:
                continue
            memory, (ram, most, _) = int(said.split()[3]), AIMS.get(name, ("", "", ""))
            print(f"{name + ', ' + kind:24}{len(text):7}{read_bytes(program, words):7.2f}{READ[kind]:6}"
                  f"{memory:9}{ram:>7}{count:14}{most if kind == 'strict' else '':>9}"
                  f"{count / len(text):8.1f}")
    by_tokens(check, found)
    on_m4(check, found)
    sizes, found = (250, 1000), []
    for n in sizes:
        for name, schema, value in growing(n):
            count, said = machines.on_host(program, *written(name, schema, bench.compact(value)))
            check(count and said.startswith("0 "), f"{name}, {n}: {said}")
            found.append((name, count or 1))
    half = len(found) // 2
    for (name, few), (_, many) in zip(found[:half], found[half:]):
        exponent = math.log(many / few) / math.log(sizes[1] / sizes[0])
        print(f"growth of {name:18} {exponent:5.2f}   aim {EXPONENT}")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
