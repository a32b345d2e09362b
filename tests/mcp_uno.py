#!/usr/bin/env python3
"""The Arduino Uno's image under simavr: it answers byte for byte as the same
tools on this computer do, a few hand-written lines and random calls, and the
RAM it touches is measured (it is painted before the start).

    mcp_uno.py [CALLS]    120 without
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import time

from checks import Checks

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "measure"))
import ratchet  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "uno"
# What is aimed at; until then flash only falls, see tests/measure/ratchet.py.
FLASH, RAM = 14336, 800
AVR = ["avr-gcc", "-std=gnu99", "-Os", "-mcall-prologues", "-mrelax",
       "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Werror",
       "-Wno-type-limits", "-I.", "-Wl,--gc-sections"]

HAND = r'''
{"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}},"jsonrpc":"2.0","id":0}
{"method":"notifications/initialized","jsonrpc":"2.0"}
{"jsonrpc":"2.0","id":"a\"b","method":"tools/list"}
{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"relay","arguments":{"channels":[1,3],"on":true,"timer":{"seconds":60,"label":"café \"x\" \n"}}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"arguments":{"channels":[1,1,2],"on":true},"name":"relay"}}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"arguments":{"on":true},"name":"led","arguments":{"on":false}}}
{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"thermometer"}}
{"jsonrpc":"2.0","id":7,"method":"prompts/list"}
{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"led","arguments":{"on":tru
{"jsonrpc":"2.0","id":"0123456789012345678901234567890123456789","method":"ping"}
[{"jsonrpc":"2.0","id":9,"method":"ping"}]
'''


def value(random_):
    """A value that mostly does not fit."""
    return random_.choice([
        "true", "null", "0", "4", "5", "-1", "3601", "1.5", "1e0", "36e2", "-9.9",
        "9.90", "9.91", "-9.900000000000000000001", "0e9999", "4294967296", "1e-999",
        "1e999", "2147483648", '"kelvin"', '"kelv"', '""', '"\\u0000"', '"\\ud83d\\ude00"',
        '"aaaaaaaaaaaaa"', "[]", "{}", "[1,2,3,4,5]", '{"seconds":1}'])


def call(random_, i):
    good = {"on": ["true", "false"], "unit": ['"celsius"', '"kelvin"'],
            "offset": ["0.5", "-1", "9.9"], "channels": ["[1]", "[2,3]", "[4.0]"],
            "timer": ['{"seconds":5}', '{"label":null,"seconds":3600}',
                      '{"seconds":5,"label":"ab"}', '{"seconds":0}', '{"second":1}']}
    names = {"led": ["on"], "thermometer": ["unit", "offset"],
             "relay": ["channels", "on", "timer"]}
    name = random_.choice(list(names))
    members = [f'"{k}":{value(random_) if random_.random() < .15 else random_.choice(good[k])}'
               for k in names[name] if random_.random() < .85]
    if random_.random() < .08:
        members.append(f'"extra":{value(random_)}')
    random_.shuffle(members)
    params = [f'"name":"{name}"', '"arguments":{%s}' % ",".join(members)]
    if random_.random() < .25:
        params.reverse()
    message = ['"jsonrpc":"2.0"', f'"id":{i}', '"method":"tools/call"',
               '"params":{%s}' % ",".join(params)]
    random_.shuffle(message)
    return "{%s}" % ",".join(message)


def run(*cmd, **more):
    p = subprocess.run([str(c) for c in cmd], cwd=ROOT, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=120, **more)
    if p.returncode:
        sys.exit(f"{cmd[0]}: {p.stderr.decode()[-2000:]}")
    return p


def build(target=OUT):
    """The image, and what runs it. False where tools are missing."""
    if subprocess.run([ROOT / "tests" / "need", "gcc-avr", "avr-libc", "libsimavr-dev",
                       "libelf-dev"], stdout=subprocess.DEVNULL).returncode:
        return False
    target.mkdir(parents=True, exist_ok=True)
    run(*AVR, "-mmcu=atmega328p", "examples/profiles/uno.c", "-o", target / "uno.elf")
    run("cc", "-O2", "-Wall", "-Wextra", "tests/firmware/uno_run.c", "-o",
        target / "uno_run", "-lsimavr", "-lelf")
    run("cc", "-std=c99", "-g", "-I.", "tests/firmware/uno_host.c", "-o",
        target / "uno_host")
    run("cc", "-std=c99", "-g", "-I.", "examples/bridge.c", "-o", target / "bridge")
    return True


def flash(elf):
    """Bytes of flash and of static RAM."""
    sizes = dict(re.findall(r"^\.(\w+)\s+(\d+)", run("avr-size", "-A", elf).stdout.decode(), re.M))
    size = {k: int(v) for k, v in sizes.items()}
    data = size.get("data", 0)
    return size["text"] + data, data + size.get("bss", 0)


def bridge(check):
    """The bridge answers for a board that is not there, and finds it again."""
    link = OUT / "line"
    link.unlink(missing_ok=True)

    def board():
        uno = subprocess.Popen([OUT / "uno_run", OUT / "uno.elf", link],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        while not link.exists():
            time.sleep(0.05)
        return uno

    with subprocess.Popen([OUT / "bridge", "--boot", "0", link], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        def ask(id_):
            p.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % id_)
            p.stdin.flush()
            return json.loads(p.stdout.readline())

        check(ask(1)["error"]["code"] == -32603, "no board, yet an answer")
        for again in (10, 20):
            uno = board()
            good = 0
            for i in range(50):
                answer = ask(again + i)
                check(answer["id"] == again + i, f"the id {answer}")
                good += "result" in answer
                if good == 3:
                    break
                time.sleep(0.1)
            check(good == 3, "the board is found again")
            p.stdin.write(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},'
                          b'{"jsonrpc":"2.0","id":2,"method":"ping"}]\n')
            said = ask(99)
            check(said["id"] is None and said["error"]["code"] == -32600,
                  f"one error for a batch: {said}")
            said = json.loads(p.stdout.readline())
            check(said["id"] == 99 and "result" in said, f"after a batch: {said}")
            uno.kill()
            uno.wait()
            link.unlink()
            check("error" in ask(again), "the board is gone, yet an answer")
        p.stdin.close()
        check(p.wait(10) == 0, "the bridge ends with its client")


def main():
    check = Checks("mcp_uno")
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    if not build():
        check.skip("mcp_uno", "avr-gcc, avr-libc or simavr is missing")
        return check.end()
    random_ = random.Random(1)
    lines = HAND.strip().split("\n") + [call(random_, i) for i in range(calls)]
    text = "\n".join(lines).encode() + b"\n"
    host = run(OUT / "uno_host", input=text).stdout
    uno = run(OUT / "uno_run", OUT / "uno.elf", input=text)
    for line in host.split(b"\n")[:-1]:
        check(json.loads(line)["jsonrpc"] == "2.0", line)
    answers = uno.stdout.replace(b"\r", b"").split(b"\n")
    for ours, theirs in zip(host.split(b"\n"), answers + [b""] * len(lines)):
        check(ours == theirs, f"host {ours[:300]}\n       uno  {theirs[:300]}")
    bridge(check)
    size, static = flash(OUT / "uno.elf")
    stack = int(re.search(r"stack (\d+)", uno.stderr.decode()).group(1))
    if "--land" in sys.argv:
        ratchet.land({"flash uno": size})
    for what, figure, aim, held in [("flash", size, FLASH, ratchet.limit("flash uno")),
                                    ("RAM with stack", static + stack, RAM, RAM)]:
        print(f"mcp_uno: {what} {figure}, aim {aim}" +
              (f": MISSED by {figure - aim}" if figure > aim else ""))
        ratchet.hold(check, f"uno {what}", figure <= held, f"{what} {figure} is over {held:g}")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
