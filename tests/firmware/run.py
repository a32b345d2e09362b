#!/usr/bin/env python3
"""The unit tests of the core on emulated microcontrollers.

The same sources as on this computer: the header is compiled once for each
target, the tests are linked to it, and the value of main is the verdict. The
link has no heap: any use of malloc, the library's or the C library's, fails it
(a test's own malloc is that of memory.c). Long loops are thinned out, see
CHECK_EVERY, and a check of a value may take STEPS instead of ten times as many:
what these processors do with each step is what is tested here.

    run.py [TARGET]...    all targets without
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
OUT = ROOT / "build" / "firmware-test"
LIMIT = 600  # seconds: only what hangs needs them, also on a busy machine
STEPS = 100000  # more than 16 bits hold
HEAP = "malloc calloc realloc free"
SEMIHOSTING = (" -display none -monitor none -serial none -chardev "
               "stdio,id=s0 -semihosting-config enable=on,target=native,"
               "chardev=s0 -kernel")


class Target:
    """compiler, packages it needs, flags, link and run: words to be split."""

    def __init__(self, name, prefix, packages, flags, link, run, tests="", macros="",
                 also=(), memory=5 << 19, every=20):
        self.__dict__.update(locals())
        self.dir = OUT / name

    def gcc(self, *args):
        cmd = [f"{self.prefix}-gcc", *self.flags.split(), *map(str, args)]
        return subprocess.run(cmd, cwd=ROOT, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def build(self, *args):
        p = self.gcc(*args)
        if p.returncode:
            raise RuntimeError(p.stdout[:1000])

    def compile(self, source, *more):
        obj = self.dir / (source.stem + ".o")
        self.build("-Os", "-ffunction-sections", "-fdata-sections", "-Wall",
                   "-Wextra", "-Werror", *more, "-I.", "-c", source, "-o", obj)
        return obj

    def link_words(self, elf, objects):
        wrap = ",".join(f"--wrap={name}" for name in HEAP.split())
        return [*objects, "-Wl,--gc-sections", f"-Wl,{wrap}",
                *self.link.split(), "-o", elf]

    def start(self):
        """The header, and what the board needs, once."""
        self.dir.mkdir(parents=True, exist_ok=True)
        if self.name == "avr":
            subprocess.run(["cc", "-O2", HERE / "avr_run.c", "-o",
                            OUT / "avr_run", "-lsimavr", "-lelf"], check=True)
        self.base = [self.compile(ROOT / "tests" / "impl.c", "-std=c99",
                                  f"-DTOOLCALL_MAX_STEPS={STEPS}"),
                     self.compile(HERE / "memory.c",
                                  f"-DTEST_MEMORY={self.memory}u")]
        self.base += [self.compile(HERE / name) for name in self.also]

    def link_without_heap(self):
        """malloc must fail the link, or nothing here would show its absence."""
        source = self.dir / "heap.c"
        source.write_text("#include <stdlib.h>\nint main(int argc, char **argv)"
                          "\n{ (void)argv; return !malloc((size_t)argc); }\n")
        obj = self.compile(source, *self.macros.split())
        p = self.gcc(*self.link_words(self.dir / "heap.elf",
                                      self.base[1:] + [obj]))
        if p.returncode == 0 or "malloc" not in p.stdout:
            raise RuntimeError("a program with malloc could be linked")
        return 1

    def test(self, source):
        """How many checks passed; raises where not all did. The header is
        optimised as products do it; a test is only compiled fast."""
        # A test of an example brings its own toolcall.h, private to it.
        own = '#include "../examples/' in source.read_text()
        declare = [] if own else ["-I", OUT / "declare"]
        obj = self.compile(source, "-Os" if own else "-O0", "-std=c99",
                           f"-DCHECK_EVERY={self.every}", "-DTEST_LINKED",
                           '-DWIRE_FILES="wire_files.h"', *self.macros.split(),
                           *declare, "-I", OUT / "declare" / "wire",
                           "-isystem", OUT / "include",
                           "-include", HERE / "memory.h")
        elf = self.dir / (source.stem + ".elf")
        self.build(*self.link_words(elf, self.base[own:] + [obj]))
        try:
            p = subprocess.run([*self.run.split(), elf], text=True,
                               stdin=subprocess.DEVNULL, timeout=LIMIT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               errors="replace")
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"no end after {LIMIT} s")
        sums = re.findall(r": (\d+) passed, (\d+) failed\s*$", p.stdout)
        if p.returncode or not sums or sums[-1][1] != "0":
            raise RuntimeError(f"{p.stdout[-1000:]}{p.stderr[-500:]}\n"
                               f"main's value: {p.returncode}")
        return int(sums[-1][0])


def picolibc(flash, ram, size):
    places = dict(__flash=flash, __flash_size="4M", __ram=ram,
                  __ram_size=size, __stack_size="16K")
    return ("--oslib=semihost --crt0=hosted -Tpicolibc.ld " +
            " ".join(f"-Wl,--defsym={k}={v}" for k, v in places.items()))


TARGETS = [
    Target("cortex-m3", "arm-none-eabi",
           "gcc-arm-none-eabi picolibc-arm-none-eabi qemu-system-arm",
           "-mcpu=cortex-m3 -mthumb --specs=picolibc.specs",
           picolibc("0", "0x20000000", "4M"),
           "qemu-system-arm -M mps2-an385 -nic none" + SEMIHOSTING),
    Target("rv32imc", "riscv64-unknown-elf",
           "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf "
           "qemu-system-misc",
           "-march=rv32imc -mabi=ilp32 --specs=picolibc.specs",
           picolibc("0x80000000", "0x80400000", "4M"),
           # no atomics and no floating point: what needs them would trap
           "qemu-system-riscv32 -M virt -m 16M -bios none -nic none "
           "-cpu rv32,a=off,f=off,d=off,m=on,c=on" + SEMIHOSTING),
    Target("lx106", "xtensa-lx106-elf",
           "gcc-xtensa-lx106 picolibc-xtensa-lx106-elf qemu-system-misc",
           "-mlongcalls -DTOOLCALL_NO_INT64 -DPICOLIBC_INTEGER_PRINTF_SCANF -specs=/usr/lib/xtensa-lx106-elf/picolibc.specs",
           f"-nostartfiles -T {HERE}/lx106.ld -Wl,--start-group -lc -lgcc "
           "-Wl,--end-group",
           "qemu-system-xtensa -M sim -cpu lx106 -m 32M -display none "
           "-monitor none -serial none -nic none -semihosting -kernel",
           # Debian has no floating point and no division of 64 bits for it;
           # test_mcp takes minutes.
           tests="test_(?!mcp)", macros="-DCHECK_NO_DOUBLE",
           every=200,
           also=("lx106.c", "lx106_start.S")),
    # int has 16 bits, double 32; comparisons mean less there, gcc 5 says.
    # Without agent_again, which keeps two conversations of 64 KB each: all the
    # memory there is; without context, whose texts leave no room for a stack; and
    # without hooks, whose program is longer than the 128 KB that pointers reach.
    Target("avr", "avr", "gcc gcc-avr avr-libc libsimavr-dev libelf-dev",
           "-mmcu=atmega2560 -Wno-type-limits -Wno-sign-compare",
           "-Wl,--defsym=__stack=0xFFFF,--defsym=__DATA_REGION_LENGTH__=0xFE00 "
           "-lm", str(OUT / "avr_run"), tests="test_(json|read(?!er)|agent(?!_again)|retry|stages)", macros="-Dmain=test_main", also=("avr.c",), memory=16000,
           every=1000),
]


def needs(source):
    """Names of switches that must not be set, see tests/switches."""
    said = re.search(r"Needs: ([^.]*)", source.read_text())
    return set(re.findall(r"\w+", said.group(1))) if said else set()


def sources(target):
    """Those that need neither a system nor anything the target has not."""
    found = sorted((ROOT / "tests").glob("test_*.c"))
    left_out = set(re.findall(r"-DTOOLCALL_NO_(\w+)", target.flags))
    return [s for s in found if re.match(target.tests, s.stem) and not left_out & needs(s) and
            not re.match(r"test_(port|agent_e2e|tools|trace|fuzz|block|lint|ids|identity)", s.stem)]


def c_string(text):
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\\\?' else f"\\{b:03o}"
                         for b in text) + '"'


def wire_files():
    """The files of tests/wire as a table in C: there are no files."""
    files = sorted((ROOT / "tests" / "wire").glob("*/*.txt"))
    texts = "".join(f"static char wire_{i}[] = {c_string(f.read_bytes())};\n"
                    for i, f in enumerate(files))
    rows = "".join(f'    {{"{f.relative_to(ROOT)}", wire_{i}}},\n'
                   for i, f in enumerate(files))
    return ("%sstatic const struct {\n    const char *path;\n    char *text;\n"
            "} wire_files[] = {\n%s};\n" % (texts, rows))


def prepare():
    """A toolcall.h that only declares, the files of tests/wire, and jsmn for
    the test against it."""
    (OUT / "declare" / "wire").mkdir(parents=True, exist_ok=True)
    (OUT / "declare" / "toolcall.h").write_text(
        "#undef TOOLCALL_IMPLEMENTATION\n#include <limits.h>\n"
        f'#include <string.h>\n#include "{ROOT}/toolcall.h"\n')
    (OUT / "declare" / "wire" / "wire_files.h").write_text(wire_files())
    (OUT / "include").mkdir(exist_ok=True)
    for place in ("/usr/include", "/usr/local/include", ROOT):
        if (jsmn := pathlib.Path(place) / "jsmn.h").exists():
            shutil.copy(jsmn, OUT / "include")


def main():
    wanted = [t for t in TARGETS if t.name in (sys.argv[1:] or
                                               [t.name for t in TARGETS])]
    passed = failed = skipped = 0
    there = []
    for t in wanted:
        need = subprocess.run([ROOT / "tests" / "need", *t.packages.split()],
                              stdout=subprocess.DEVNULL)
        if need.returncode:
            print(f"{t.name}: SKIPPED, because packages are missing")
            skipped += 1
        else:
            there.append(t)
    began = time.time()
    prepare()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs, started = [], [(t, pool.submit(t.start)) for t in there]
        for t, start in started:
            try:
                start.result()
            except RuntimeError as e:
                failed += 1
                print(f"{t.name}: FAILED\n{e}")
                continue
            jobs.append((t, "no heap", pool.submit(t.link_without_heap)))
            jobs += [(t, s.stem, pool.submit(t.test, s)) for s in sources(t)]
        for t, name, job in jobs:
            try:
                n = job.result()
                passed += n
                print(f"{t.name:10} {name:16} {n:7} passed")
            except RuntimeError as e:
                failed += 1
                print(f"{t.name:10} {name:16} FAILED\n{e}")
    more = f", {skipped} skipped" if skipped else ""
    print(f"firmware-test, {time.time() - began:.0f} s: {passed} passed, "
          f"{failed} failed{more}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
