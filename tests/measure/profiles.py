#!/usr/bin/env python3
"""What the programs of examples/profiles cost, and the Arduino Uno's, as

    profile NAME TARGET FLASH RAM STACK

in bytes: whole images with -Os and the C library in them, static RAM, and the
stack that was touched, which is painted before they run under QEMU or simavr
and answer a few lines. Held: no figure may grow by more than 1 %; the Uno's flash
is tests/mcp_uno.py's, see ratchet.py.
"""
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
import time

import ratchet
import size

ROOT = size.ROOT
OUT = size.OUT / "profiles"
sys.path.insert(0, str(ROOT / "tests"))
import mcp_uno  # noqa: E402
from checks import Checks  # noqa: E402

RELAY = """relay {"channels":[1,2],"on":true}
relay {"channels":[1,9],"on":true}
relay {"on":"x","channels":[1]}
"""
LINES = {"check": RELAY, "core": RELAY.replace("\n", "\ny\n"),
         "mcp": mcp_uno.HAND.lstrip(), "uno": mcp_uno.HAND.lstrip()}
AIMS = {("check", "M4"): 4608, ("core", "M4"): 7680, ("mcp", "M4"): 11776,
        ("check", "AVR"): 7168, ("uno", "AVR"): 14336}
QEMU = {"M0+": "qemu-system-arm -M mps2-an385 -nic none",
        "M4": "qemu-system-arm -M mps2-an386 -nic none",
        "RV32IMC": "qemu-system-riscv32 -M virt -m 16M -bios none -nic none "
                   "-cpu rv32,a=off,f=off,d=off,m=on,c=on"}
PAINT, PAINTED = b"\xa5", 8192


def link(name, target):
    """The image of a profile on a chip with a C library."""
    prefix, isa, flash, ram = size.TARGETS[target]
    elf = OUT / f"{name}-{target}.elf"
    places = dict(__flash=flash, __flash_size=1 << 20, __ram=ram,
                  __ram_size=1 << 18, __stack_size=PAINTED)
    size.run([f"{prefix}-gcc", "--specs=picolibc.specs", *isa.split(), "-std=c99", "-Os",
              "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-I.",
              f"examples/profiles/{name}.c", "--crt0=minimal", "-Tpicolibc.ld",
              *(f"-Wl,--defsym={k}={v}" for k, v in places.items()),
              "-Wl,--gc-sections", "-o", elf])
    return elf


# What has not room in an ATmega328P.
CHIPS = {"core": "atmega1284p"}


def link_avr(name):
    chip = f"-mmcu={CHIPS.get(name, 'atmega328p')}"
    elf = OUT / f"{name}-AVR.elf"
    source = f"examples/profiles/{name}.c"
    size.run([*mcp_uno.AVR, chip, source, "-o", elf])
    return elf


def sections(tool, elf):
    """Flash and static RAM."""
    flash = ram = 0
    for name, n in re.findall(r"^(\.\S+)\s+(\d+)", size.run([tool, "-A", str(elf)]), re.M):
        flash += int(n) if size.FLASH.match(name) else 0
        ram += int(n) if size.RAM.match(name) else 0
    return flash, ram


def wait_for_uart(monitor, target):
    """What comes before the UART is enabled is lost."""
    if target == "RV32IMC":
        time.sleep(3)
        return
    said = b""
    while b": 0x00000003" not in said:
        monitor.sendall(b"xp /1xw 0x40004008\n")
        time.sleep(0.1)
        said = monitor.recv(65536)


def stack(name, target, elf):
    """Bytes of stack that were touched, under QEMU."""
    top = 0x20040000 if target != "RV32IMC" else 0x80200000 + (1 << 18)
    paint, dump, door = OUT / "paint", OUT / "dump", OUT / "monitor"
    paint.write_bytes(PAINT * PAINTED)
    for old in (dump, door):
        old.unlink(missing_ok=True)
    cmd = [*QEMU[target].split(), "-display", "none", "-serial", "stdio", "-kernel", elf,
           "-monitor", f"unix:{door},server,nowait",
           "-device", f"loader,file={paint},addr={top - PAINTED},force-raw=on"]
    with subprocess.Popen([str(c) for c in cmd], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        said = b""
        while not door.exists() and p.poll() is None:
            time.sleep(0.05)
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(door))
            wait_for_uart(monitor, target)
            for line in LINES[name].splitlines(True):
                p.stdin.write(line.encode())
                p.stdin.flush()
                while select.select([p.stdout], [], [], 0.6)[0]:
                    more = os.read(p.stdout.fileno(), 65536)
                    said += more
                    if not more:
                        break
            monitor.sendall(f'pmemsave {top - PAINTED} {PAINTED} "{dump}"\nquit\n'.encode())
            p.wait(20)
    if not said.strip():
        sys.exit(f"{name} on {target} said nothing")
    left = dump.read_bytes()
    return len(left.lstrip(PAINT))


def stack_avr(name, elf):
    p = subprocess.run([mcp_uno.OUT / "uno_run", elf], input=LINES[name].encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                       env={**os.environ, "MCU": CHIPS.get(name, "atmega328p")})
    return int(re.search(r"stack (\d+)", p.stderr.decode()).group(1))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    names = sorted({p.stem for p in (ROOT / "examples" / "profiles").glob("*.c")} - {"uno"})
    rows, check = [], Checks("profiles")
    for target in QEMU:
        prefix = size.TARGETS[target][0]
        if subprocess.run([ROOT / "tests" / "need", f"gcc-{prefix}", f"picolibc-{prefix}"],
                          stdout=subprocess.DEVNULL).returncode:
            check.skip(target, "its compiler is not there")
            continue
        for name in names:
            elf = link(name, target)
            rows.append((name, target, *sections(f"{prefix}-size", elf),
                         stack(name, target, elf)))
    if mcp_uno.build():
        for name in [n for n in names if n != "mcp"] + ["uno"]:
            elf = link_avr(name)
            rows.append((name, "AVR", *sections("avr-size", elf), stack_avr(name, elf)))
    held = dict(re.findall(r"^(\S+ \S+) ([\d ]+)$",
                           (ROOT / "tests" / "measure" / "profiles.held").read_text(), re.M))
    for name, target, *figures in rows:
        aim = AIMS.get((name, target))
        missed = aim and figures[0] - aim
        print("profile", name, target, *figures)
        if aim and missed > 0:
            print(f"  aim {aim}: MISSED by {missed}")
        for figure, most in zip(figures, held.get(f"{name} {target}", "").split()):
            ratchet.hold(check, "profiles", figure <= int(most) * 1.01,
                         f"{name} {target}: {figure}, held at {most}")
        if name == "uno":
            check(figures[0] <= ratchet.limit("flash uno"), f"uno: {figures[0]}")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
