#!/usr/bin/env python3
"""Official clients of MCP and our servers: the SDK, its second version in both
eras, and the Inspector with --strict; on stdio, and through examples/bridge.c on
a simulated Arduino Uno and a Cortex-M4 under QEMU. examples/mcp.c is listed by
the Inspector.

The packages come by npm into build/mcp-clients. Without npm, or where it cannot
fetch them, all of it counts as skipped.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import mcp_qemu
import mcp_uno
import npm
from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
HOME = npm.BUILD / "mcp-clients"
PACKAGES = ["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0",
            "@modelcontextprotocol/inspector@2.12.0", npm.NODE]
SERVER = """#!/bin/sh
# an MCP server on stdio that is a simulated Arduino Uno behind the bridge
link=$(mktemp -u) || exit 1
{out}/uno_run {out}/uno.elf "$link" </dev/null >/dev/null 2>&1 &
uno=$!
while [ ! -e "$link" ]; do sleep 0.05; done
{bridge} --boot 0 "$link"
kill $uno 2>/dev/null
rm -f "$link"
"""


def run(*cmd):
    """The exit code, and what was said."""
    try:
        p = subprocess.run([str(c) for c in cmd], cwd=HOME, text=True, timeout=180,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           env=npm.with_node("mcp-clients"))
    except subprocess.TimeoutExpired as late:
        return 124, f"no end: {late.stdout}"
    return p.returncode, p.stdout


def main():
    check = Checks("mcp_clients")
    why = (npm.fetch("mcp-clients", PACKAGES) or
           (None if mcp_uno.build() else "there is no simulated Uno"))
    if why:
        check.skip("mcp_clients", why)
        return check.end()

    simulated = mcp_uno.OUT / "server.sh"
    simulated.write_text(SERVER.format(out=mcp_uno.OUT, bridge=mcp_uno.OUT / "bridge"))
    simulated.chmod(0o755)
    emulated = mcp_uno.OUT / "emulated.sh"
    emulated.write_text(f"#!/bin/sh\nexec {ROOT}/tests/mcp_qemu.py --serve\n")
    emulated.chmod(0o755)
    shutil.copy(ROOT / "tests" / "mcp_clients.mjs", HOME)
    servers = [("stdio", mcp_uno.OUT / "uno_host"), ("uno", simulated)]
    if mcp_qemu.build():
        servers.append(("qemu", emulated))
    else:
        check.skip("the clients on QEMU", "arm-none-eabi-gcc, picolibc or QEMU is missing")
    for place, server in servers:
        for kind in ("sdk", "legacy", "auto", "modern"):
            code, said = run("node", "mcp_clients.mjs", kind, server)
            check(code == 0, f"{place} {kind}: {said[-800:]}")
            counts = re.search(r"(\d+) passed, (\d+) failed", said)
            if counts:
                check.passed += int(counts.group(1))
        for era in ("legacy", "auto", "modern"):
            code, said = run("npx", "mcp-inspector", "--cli", server, "--method", "tools/list",
                             "--strict", "--protocol-era", era)
            check(code == 0, f"{place} inspector {era}: {code} {said[-800:]}")
            code, said = run("npx", "mcp-inspector", "--cli", server, "--method", "tools/call",
                             "--tool-name", "led", "--tool-arg", "on=true", "--protocol-era", era)
            check(code == 0 and "LED is on" in said, f"{place} call {era}: {code} {said[-800:]}")
    code, said = run("npx", "mcp-inspector", "--cli", ROOT / "build" / "mcp", HOME, "--method",
                     "tools/list", "--strict")
    check(code == 0, f"examples/mcp.c: {code} {said[-1500:]}")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
