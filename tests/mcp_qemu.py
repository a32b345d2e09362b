#!/usr/bin/env python3
"""The mcp profile on a Cortex-M4 under QEMU, behind examples/bridge.c: each line
is answered byte for byte as on this computer.

    mcp_qemu.py [CALLS]    60 without
    mcp_qemu.py --serve    is an MCP server on stdio
"""
import ctypes
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile

import mcp_uno
from checks import Checks

sys.path.insert(0, str(mcp_uno.ROOT / "tests" / "measure"))
import profiles  # noqa: E402

OUT = mcp_uno.ROOT / "build" / "qemu"


def build():
    """The image, the bridge and what it is compared with. False where tools are
    missing."""
    if subprocess.run([mcp_uno.ROOT / "tests" / "need", "gcc-arm-none-eabi",
                       "picolibc-arm-none-eabi", "qemu-system-arm"],
                      stdout=subprocess.DEVNULL).returncode:
        return False
    for place in (OUT, profiles.OUT):
        place.mkdir(parents=True, exist_ok=True)
    profiles.link("mcp", "M4").rename(OUT / "mcp.elf")
    for source in ("tests/firmware/uno_host.c", "examples/bridge.c"):
        mcp_uno.run("cc", "-std=c99", "-g", "-I.", source, "-o",
                    OUT / pathlib.Path(source).stem)
    return True


def end_with_parent():
    """A client may kill this server: QEMU must not stay behind (Linux only)."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Board:
    """with Board() as line: the terminal that its UART is."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory()
        door = pathlib.Path(self.home.name) / "monitor"
        self.qemu = subprocess.Popen(
            [*profiles.QEMU["M4"].split(), "-display", "none", "-serial", "pty",
             "-monitor", f"unix:{door},server,nowait", "-kernel", str(OUT / "mcp.elf")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, preexec_fn=end_with_parent)
        line = re.search(r"(/dev/\S+)", self.qemu.stdout.readline()).group(1)
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(door))
            profiles.wait_for_uart(monitor, "M4")
        return line

    def __exit__(self, *_):
        self.qemu.kill()
        self.qemu.wait()
        self.qemu.stdout.close()
        self.home.cleanup()


def bridge(line):
    return [str(OUT / "bridge"), "--boot", "0", line]


def main():
    if sys.argv[1:] == ["--serve"]:
        with Board() as line:
            return subprocess.call(bridge(line))
    check = Checks("mcp_qemu")
    if not build():
        check.skip("mcp_qemu", "arm-none-eabi-gcc, picolibc or QEMU is missing")
        return check.end()
    random_ = random.Random(2)
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    lines = mcp_uno.HAND.strip().split("\n") + [mcp_uno.call(random_, i)
                                                for i in range(calls)]
    text = "\n".join(lines).encode() + b"\n"
    host = mcp_uno.run(OUT / "uno_host", input=text).stdout.split(b"\n")
    with Board() as line:
        board = mcp_uno.run(*bridge(line), input=text).stdout.split(b"\n")
    check(len(host) == len(board), f"{len(host)} answers here, {len(board)} there")
    for ours, theirs in zip(host, board):
        check(ours == theirs, f"host {ours[:300]}\n       M4   {theirs[:300]}")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
