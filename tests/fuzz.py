#!/usr/bin/env python3
"""tests/fuzz.py [RUNS]: libFuzzer against whatever reads what comes from
outside, with ASan and UBSan; 50,000 texts each without RUNS.

The tests themselves say what must hold of any text, and what texts to begin
with: see tests/fuzz.h.
"""
import pathlib
import re
import shutil
import subprocess
import sys

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "fuzz"
RUNS = sys.argv[1] if len(sys.argv) > 1 else "50000"
CLANG = ["clang", "-std=c99", "-O1", "-g", "-w", "-I.", "-DTEST_FUZZED",
         "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]


def main():
    check = Checks("fuzz")
    for name in ("test_read", "test_mcp", "test_lenient", "test_text_calls",
                 "test_compile", "test_machine"):
        program, texts = OUT / name, OUT / f"{name}_texts"
        shutil.rmtree(texts, ignore_errors=True)
        texts.mkdir(parents=True)
        if not shutil.which("clang"):
            check.skip(name, "clang is not installed")
            continue
        made = subprocess.run([*CLANG, f"tests/{name}.c", "-o", program], cwd=ROOT,
                              capture_output=True, text=True)
        if "libclang_rt" in made.stderr:
            check.skip(name, "clang has no libFuzzer")
            continue
        if not check(made.returncode == 0, f"{name} does not compile\n{made.stderr}"):
            continue
        ran = subprocess.run([program, f"-runs={RUNS}", "-seed=1", "-max_len=400",
                              "-timeout=10", f"-artifact_prefix={OUT}/", texts],
                             cwd=ROOT, capture_output=True, text=True, errors="replace")
        done = re.search(r"Done (\d+) runs", ran.stderr)
        print(f"fuzz: {name}: {done[1] if done else 'not all of ' + RUNS} texts, "
              f"{len(list(texts.iterdir()))} kinds")
        check(done and ran.returncode == 0, name, ran.stdout + ran.stderr)
    return check.end()


sys.exit(main())
