#!/usr/bin/env python3
"""Instructions from a provider's answer to the message with the result.

Ours and cJSON's, built alike, of four providers: on the host, counted by
callgrind, with -O2 and -Os; on a Cortex-M4 with -Os and -O2, counted by QEMU.
Both programs must print the same message. cJSON comes as source through apt.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

import bench

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "bench"
PROVIDERS = ["openai", "anthropic", "gemini", "ollama"]

# (title, cross compiled, optimisation, the ratio that is aimed at)
MACHINES = [("host -O2", False, "-O2", 0.55), ("host -Os", False, "-Os", 0.65),
            ("Cortex-M4 -Os", True, "-Os", 0.65),
            ("Cortex-M4 -O2", True, "-O2", 0.65)]
# Where an aim is missed: the ratio measured last, see bench.py.
HELD = {"host -O2": {"anthropic": 0.609, "gemini": 0.562},
        "host -Os": {"anthropic": 0.677},
        "Cortex-M4 -Os": {"anthropic": 0.731, "gemini": 0.713},
        "Cortex-M4 -O2": {"anthropic": 0.654}}
QEMU = ["qemu-system-arm", "-M", "mps2-an386", "-nic", "none", "-display",
        "none", "-monitor", "none", "-serial", "none", "-icount", "shift=0",
        "-chardev", "stdio,id=s0", "-semihosting-config",
        "enable=on,target=native,chardev=s0", "-kernel"]


def cjson_source():
    done = subprocess.run([ROOT / "tests/firmware/source", "cjson",
                           "libcjson-dev"], text=True, capture_output=True)
    return done.stdout.strip() if done.returncode == 0 else None


def build(side, row, cross, level, cjson):
    """The program of one side, 'ours' or 'cjson', for one provider."""
    program = OUT / f"flow_{side}_{row}_{'m4' if cross else 'host'}{level}"
    cc = ["cc", "-fno-pie", "-no-pie"]
    if cross:
        places = dict(__flash="0", __flash_size="4M", __ram="0x20000000",
                      __ram_size="4M", __stack_size="16K")
        cc = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb",
              "--specs=picolibc.specs", "--oslib=semihost", "--crt0=hosted",
              "-Tpicolibc.ld", "-ffunction-sections", "-Wl,--gc-sections",
              *(f"-Wl,--defsym={k}={v}" for k, v in places.items())]
    more = ["-I", cjson, f"{cjson}/cJSON.c", "-lm"] if side == "cjson" else []
    subprocess.run([*cc, "-std=c99", level, f"-DPROVIDER={row}", "-I.", "-o",
                    program, HERE / f"flow_{side}.c", *more], cwd=ROOT,
                   check=True)
    return program


def count(program, cross):
    """(instructions, message)"""
    if not cross:
        return bench.count(program)
    out = subprocess.run([*QEMU, program], stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, timeout=120,
                         stderr=subprocess.DEVNULL).stdout
    number, _, message = out.partition(" ")
    return (int(number), message) if number.isdigit() else (None, out)


def both(cross, level, row, cjson):
    """(instructions, message) of ours and of cJSON's."""
    return [count(build(side, row, cross, level, cjson), cross)
            for side in ("ours", "cjson")]


def flows(pool, gate):
    """Prints all rows; gate(good, what) is told of each. Returns the table for
    README.md, or nothing where something was skipped."""
    cjson = cjson_source()
    if not cjson:
        print("flow: cJSON's source is not to be had: SKIPPED")
        return ""
    OUT.mkdir(parents=True, exist_ok=True)
    table = ["| instructions, answer to checked call to message | " +
             " | ".join(PROVIDERS) + " | of cJSON's |",
             "| --- |" + " --: |" * (len(PROVIDERS) + 1)]
    todo = []
    for title, cross, level, aim in MACHINES:
        if cross and not (shutil.which("arm-none-eabi-gcc") and
                          shutil.which("qemu-system-arm")):
            print(f"flow, {title}: SKIPPED, no compiler or QEMU")
            table = []
            continue
        todo.append((title, aim, [
            (name, pool.submit(both, cross, level, row, cjson))
            for row, name in enumerate(PROVIDERS)]))
    for title, aim, jobs in todo:
        print(f"\n{'flow, ' + title:28}{'toolcall':>12}{'cJSON':>12}{'ratio':>8}"
              f"   (aim {aim})")
        ours, ratios = [], []
        for name, job in jobs:
            (a, said), (b, expected) = job.result()
            if a is None or b is None or said != expected:
                gate(False, f"{name}, {title}: {said!r}, not {expected!r}")
                continue
            bench.beside(name, title, a, b, aim, HELD[title].get(name, 0), gate)
            ours.append(f"{a:,}")
            ratios.append(a / b)
        if table and ratios:
            table.append(f"| {title} | " + " | ".join(ours) +
                         f" | {min(ratios):.2f} to {max(ratios):.2f} |")
    return "".join(row + "\n" for row in table)


if __name__ == "__main__":
    faults = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        flows(threads, lambda good, what: good or faults.append(what))
    for fault in faults:
        print("FAILED", fault)
    sys.exit(bool(faults))
