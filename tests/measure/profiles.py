#!/usr/bin/env python3
"""The programs of examples/profiles/ as whole images, with the C library.

One line each: profile NAME TARGET FLASH RAM, in bytes; RAM is static, without
the stack. Fails where an image is larger than its bar.
"""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "size" / "profiles"
PICOLIBC = ("--specs=picolibc.specs --crt0=minimal -Tpicolibc.ld "
            "-Wl,--defsym=__flash={0} -Wl,--defsym=__flash_size=1048576 "
            "-Wl,--defsym=__ram={1} -Wl,--defsym=__ram_size=262144 "
            "-Wl,--defsym=__stack_size=4096")
TARGETS = {  # name: (tools, flags)
    "M0+": ("arm-none-eabi", "-mcpu=cortex-m0plus -mthumb " +
            PICOLIBC.format(0, 0x20000000)),
    "M4": ("arm-none-eabi", "-mcpu=cortex-m4 -mthumb " +
           PICOLIBC.format(0, 0x20000000)),
    "RV32": ("riscv64-unknown-elf", "-march=rv32imc -mabi=ilp32 " +
             PICOLIBC.format(0x80000000, 0x80200000)),
    "AVR": ("avr", "-mmcu=atmega328p -DF_CPU=16000000UL"),
}
BARS = {("check", "M4"): 4608, ("check", "AVR"): 7168}


def sizes(tools, elf):
    """(flash, static RAM)"""
    out = subprocess.run([f"{tools}-size", "-A", elf], text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    parts = {row.split()[0]: int(row.split()[1]) for row in out.splitlines()
             if row.startswith(".")}
    data = parts.get(".data", 0)
    code = sum(parts.get(name, 0) for name in (".init", ".text", ".rodata"))
    return code + data, data + parts.get(".bss", 0)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    passed, faults = 0, []
    for source in sorted((ROOT / "examples" / "profiles").glob("*.c")):
        for name, (tools, flags) in TARGETS.items():
            if not shutil.which(f"{tools}-gcc"):
                print(f"profile {source.stem} {name}: SKIPPED, no compiler")
                continue
            elf = OUT / f"{source.stem}_{name}.elf"
            built = subprocess.run(
                [f"{tools}-gcc", "-std=c99", "-Os", "-w", "-ffunction-sections",
                 "-fdata-sections", "-Wl,--gc-sections", "-I.", *flags.split(),
                 source, "-o", elf], cwd=ROOT, text=True, capture_output=True)
            bar = BARS.get((source.stem, name))
            if built.returncode:
                print(f"profile {source.stem} {name}: does not fit or build")
                if bar:
                    faults.append(built.stderr[:300])
                continue
            flash, ram = sizes(tools, elf)
            print(f"profile {source.stem} {name} {flash} {ram}" +
                  (f" (at most {bar})" if bar else ""))
            passed += 1
            if bar and flash > bar:
                faults.append(f"{source.stem} on {name}: {flash}, bar {bar}")
    for fault in faults:
        print("FAILED", fault)
    print(f"profiles: {passed} passed, {len(faults)} failed")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
