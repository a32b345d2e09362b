#!/usr/bin/env python3
"""Small Linux: a static agent (musl), and examples/pi.c for two Raspberry Pis.

All of it talks TLS with the stand-in model on 127.0.0.1. The agent is measured:
its file, the time from exec to exit without a request, and the most memory
that was resident after a turn. pi.c is built for arm and aarch64 and run by
qemu-user, where all its hardware is simulated.

    linux.py TLS_DIR    sources of mbedTLS
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "measure"))
import ratchet  # noqa: E402

BUILD = ROOT / "build"
OUT = BUILD / "linux"
# compiler, program, flags, what runs it, packages
KINDS = {
    # the kernel's headers, which musl does not bring, come last
    "musl": ("musl-gcc", "agent", "-static -s -lm -idirafter /usr/include "
             f"-idirafter /usr/include/{os.uname().machine}-linux-gnu", "",
             "musl-tools"),
    "arm": ("arm-linux-gnueabihf-gcc", "pi", "", "qemu-arm -L "
            "/usr/arm-linux-gnueabihf", "gcc-arm-linux-gnueabihf "
            "libc6-dev-armhf-cross qemu-user"),
    "aarch64": ("aarch64-linux-gnu-gcc", "pi", "", "qemu-aarch64 -L "
                "/usr/aarch64-linux-gnu", "gcc-aarch64-linux-gnu "
                "libc6-dev-arm64-cross qemu-user"),
}
# What the agent's tools do not need is left out of the program that is measured. The whole file's size is only written down.
LEAN = "-DTTOOL_NO_ICONV"
# Aimed at are 400,000 bytes: missed since programs run in a sandbox, pages are
# read with their links, lists and tables, reasoning and images go back, and a
# person sees calls, waits and changes of files.
BARS = {"bytes": 466_000, "start, ms": 5, "resident, KB": 2048}
FLAGS = ("-Os -std=c99 -D_DEFAULT_SOURCE -ffunction-sections -fdata-sections "
         "-fno-asynchronous-unwind-tables -Wl,-z,noseparate-code "
         "-I. -DMBEDTLS_CONFIG_FILE=\"tests/firmware/mbedtls_linux.h\"")
check = Checks("linux")


def run(*cmd):
    p = subprocess.run([str(c) for c in cmd], cwd=ROOT, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if p.returncode:
        sys.exit(" ".join(map(str, cmd))[:300] + "\n" + p.stdout[-2000:])
    return p.stdout


def build(kind, tls, name=None, *more_flags):
    """The program, with an mbedTLS of its own."""
    cc, program, more = KINDS[kind][:3]
    out = OUT / kind
    out.mkdir(parents=True, exist_ok=True)
    flags = [*FLAGS.split(), *more_flags, "-isystem", tls / "include"]
    sources = [*(tls / "library").glob("*.c")]
    objects = [out / f"{s.stem}.o" for s in sources]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda s, o: o.exists() or run(
            cc, *flags, f"-I{tls}/library", "-c", s, "-o", o),
            sources, objects))
    port = [s for s in (ROOT / "port").glob("*.c") if s.stem not in ("lwip", "curl")]
    tools = [s for s in (ROOT / "tools").glob("*.c")
             if program == "agent" and s.stem != "shapes"]
    parts = [*(ROOT / "examples" / program).glob("*.c")]
    if program == "agent":
        parts.append(ROOT / "tests" / "impl.c")
    run(cc, *flags, ROOT / "examples" / f"{program}.c", *parts, *tools, *port, *objects,
        "-Wl,--gc-sections", "-pthread", *more.split(), "-o",
        out / (name or program))
    return out / (name or program)


def standin():
    cert, key = OUT / "standin.crt", OUT / "standin.key"
    run(BUILD / "mkcert", cert, key)
    server = subprocess.Popen([BUILD / "standin", "--cert", cert, "--key", key],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    return server, cert, server.stdout.readline().strip()


def try_pi(kind, program, url, cert):
    said = {"switch line 17 on": '{"line":17,"on":true,"simulated":true}',
            "what is the temperature of the processor": '"celsius":48.75',
            "read line 4": '"line":4,"on":false'}
    for request, wanted in said.items():
        p = subprocess.run([*KINDS[kind][3].split(), program, "--url", url,
                            "--ca", cert, request], text=True, timeout=60,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(p.returncode == 0 and wanted in p.stdout,
              f"{kind}: {request}: {p.stdout.splitlines()[-1:]}")


def measure(program, whole, url, cert):
    env = dict(os.environ, OPENAI_API_KEY="none", OPENAI_BASE_URL=url + "/v1",
               OPENAI_MODEL="stand-in")
    cmd = [str(program), "--ca", str(cert)]
    start = []
    for _ in range(20):
        began = time.perf_counter()
        subprocess.run(cmd, env=env, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, check=True, timeout=30)
        start.append((time.perf_counter() - began) * 1000)
    agent = subprocess.Popen([*cmd, "what time is it 9 hours east of UTC?"], env=env,
                             text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    peak, end = 0, time.time() + 30
    while agent.poll() is None and time.time() < end:
        status = pathlib.Path(f"/proc/{agent.pid}/status").read_text()
        if "VmHWM:" in status:  # not any more when it is about to end
            peak = int(status.split("VmHWM:")[1].split()[0])
        time.sleep(0.001)
    agent.kill()
    check("+09:00" in agent.stdout.read(), "musl: a turn over TLS")
    for name, value in {"bytes": program.stat().st_size,
                        "start, ms": round(min(start), 1),
                        "resident, KB": peak}.items():
        print(f"musl: {name}: {value} of {BARS[name]}")
        if name != "start, ms" or os.environ.get("TEST_TIMED"):  # a busy machine takes longer
            ratchet.hold(check, "linux", value <= BARS[name],
                         f"musl: {name}: {value} of {BARS[name]}")
    (OUT / "figures.md").write_text(
        "| static Linux agent with TLS (musl) | |\n|---|--:|\n"
        f"| file, bytes | {whole.stat().st_size:,} |\n"
        "| without what its tools do not need | "
        f"{program.stat().st_size:,} |\n")


def main():
    began = time.time()
    tls = pathlib.Path(sys.argv[1])
    OUT.mkdir(parents=True, exist_ok=True)
    server, cert, url = standin()
    try:
        for kind in KINDS:
            if subprocess.run([ROOT / "tests" / "need", *KINDS[kind][4].split()],
                              stdout=subprocess.DEVNULL).returncode:
                check.skip(kind, "packages are missing")
                continue
            program = build(kind, tls)
            if kind == "musl":
                measure(build(kind, tls, "lean", *LEAN.split()), program, url, cert)
            else:
                try_pi(kind, program, url, cert)
    finally:
        server.stdin.close()
        server.wait(10)
    print(f"{time.time() - began:.0f} s")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
