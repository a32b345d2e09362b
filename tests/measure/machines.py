"""The machines on which instructions are counted: this host, by callgrind, and
an emulated Cortex-M4, by QEMU, where a program has picolibc around it."""
import os
import pathlib
import re
import shutil
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "toolcall.h"
LOCK = threading.Lock()
HOST = [os.environ.get("CC", "cc"), "-fno-pie", "-no-pie"]
M4 = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb",
      "--specs=picolibc.specs", "--oslib=semihost", "--crt0=hosted",
      "-Tpicolibc.ld", "-ffunction-sections", "-Wl,--gc-sections",
      "-Wl,--defsym=__flash=0", "-Wl,--defsym=__flash_size=4M",
      "-Wl,--defsym=__ram=0x20000000", "-Wl,--defsym=__ram_size=4M",
      "-Wl,--defsym=__stack_size=16K"]
QEMU = ["qemu-system-arm", "-M", "mps2-an386", "-nic", "none", "-display",
        "none", "-monitor", "none", "-serial", "none", "-icount", "shift=0",
        "-chardev", "stdio,id=s0", "-semihosting-config",
        "enable=on,target=native,chardev=s0", "-kernel"]


def has_m4():
    return bool(shutil.which(M4[0]) and shutil.which(QEMU[0]))


def cjson():
    """Where cJSON's source is, which apt has; None where it is not to be had."""
    found = subprocess.run([ROOT / "tests" / "firmware" / "source", "cjson",
                            "libcjson-dev"], text=True, stdout=subprocess.PIPE)
    return None if found.returncode else found.stdout.strip()


def build(cross, program, *words):
    """Compiles and links a program. Returns its path."""
    subprocess.run([*(M4 if cross else HOST), "-std=c99", "-I.", "-o", program,
                    *words], cwd=ROOT, check=True)
    return program


def ours(cross, program, level, *words):
    """Builds a program with the library, which is compiled once, by itself, as
    cJSON is. Returns its path."""
    with LOCK:
        library = program.parent / f"toolcall_{'m4' if cross else 'host'}{level}.o"
        if not library.exists() or library.stat().st_mtime < HEADER.stat().st_mtime:
            build(cross, library, level, "-c", "tests/impl.c")
    return build(cross, program, level, *words, library)


def on_host(program, *args):
    """Instructions in region(), and what the program printed."""
    p = subprocess.run(
        ["valgrind", "--tool=callgrind", "--collect-atstart=no",
         "--toggle-collect=region", "--callgrind-out-file=/dev/null",
         program, *args], text=True, capture_output=True,
        env=dict(os.environ, LD_BIND_NOW="1"))
    found = re.search(r"Collected : (\d+)", p.stderr)
    if p.returncode or not found:
        return None, p.stdout.strip() or p.stderr[-300:]
    return int(found.group(1)), p.stdout


def on_m4(program):
    """What the program printed; it reads the board's timer itself."""
    return subprocess.run([*QEMU, program], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, timeout=120,
                          stderr=subprocess.DEVNULL).stdout
