#!/usr/bin/env python3
"""Builds the firmware and runs it in QEMU against the stand-in model.

Nothing leaves this machine, nor does the guest reach more of it than four
ports: the emulated network is restricted, and each connection to 10.0.2.100 is
handed to this script once more (--relay), which reaches 127.0.0.1 only.

    run.py TLS_DIR LWIP_DIR       sources of mbedTLS and lwIP
    run.py --relay PORT [cut|stall]

cut ends a connection inside the first record of the server's answer, stall
keeps it open there and sends no more.
"""
import os
import pathlib
import re
import selectors
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
OUT = BUILD / "firmware"
LIMIT = 90  # seconds for the whole conversation
# What the emulator lacks: the macro that says so, the files it changes, and
# what is missed where the macro is not defined.
FAKES = {
    "FIRMWARE_FAKE_ENTROPY_NOT_SECURE":
        (["board_fake"], "mbedtls_hardware_poll"),
    "TPORT_INSECURE_NO_CLOCK":
        (["mbed/x509", "mbed/platform_util", "mbed/platform"],
         "gettimeofday|mbedtls_ms_time"),  # of 2.28; of 3.6
}



# ------------------------------------------------------------------- relay

class Records:
    """Counts TLS records: how many bytes pass until half of the first one
    that holds data (type 23)."""

    def __init__(self):
        self.head, self.left, self.data = b"", 0, False

    def allowed(self, chunk):
        passed = 0
        while passed < len(chunk) and not self.data:
            if self.left:
                n = min(self.left, len(chunk) - passed)
                self.left -= n
                passed += n
                continue
            self.head += chunk[passed:passed + 1]
            passed += 1
            if len(self.head) == 5:
                self.data = self.head[0] == 23
                self.left = int.from_bytes(self.head[3:], "big")
                self.head = b""
        return passed


def relay(port, fault):
    # What this says on standard error QEMU would hand to the guest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    server = socket.create_connection(("127.0.0.1", int(port)))
    both = selectors.DefaultSelector()
    both.register(0, selectors.EVENT_READ)
    both.register(server, selectors.EVENT_READ)
    records = Records()
    while True:
        for key, _ in both.select():
            if key.fd == 0:
                data = os.read(0, 65536)
                if not data:
                    return
                server.sendall(data)
                continue
            data = server.recv(65536)
            if not data:
                return
            if fault:
                data = data[:records.allowed(data)]
            while data:
                data = data[os.write(1, data):]
            if records.data:
                if fault == "cut":
                    return
                both.unregister(server)


# ----------------------------------------------------------------- figures

PARTS = {  # of the image, by the file
    "toolcall.h": r"/main\.o$",
    "port/": r"/port/\w+\.o$",
    "mbedTLS": r"libmbed\.a\(",
    "lwIP": r"/lwip/\S+\.o$",
    "C library": r"lib(c|gcc)\.a\(",
    "program, board": "",
}
PROGRAM = set(re.findall(r"\w+", (HERE / "main.c").read_text()))


def part_of(section, file):
    """Of main.o the program has what main.c names; what has no name or is local
    to a function (.rodata.name.7) is counted as the header's."""
    name = re.sub(r"\.str1\.\d+$|\.startup", "", section).split(".")[2:]
    if (file.endswith("/main.o") and len(name) == 1 and name[0] in PROGRAM and
            not name[0].startswith("tcall_")):
        return "program, board"
    return next(part for part, form in PARTS.items() if re.search(form, file))


def parts(out):
    """Flash and static RAM of an image by part."""
    text = (out / "agent.elf.map").read_text()
    text = text.split("Linker script and memory map", 1)[1]
    text = re.sub(r"\n (\.\S+)\n\s+0x", r"\n \1 0x", text)
    flash, ram = dict.fromkeys(PARTS, 0), dict.fromkeys(PARTS, 0)
    for m in re.finditer(r"^ (\.\S+|COMMON)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) "
                         r"(\S+)$", text, re.M):
        section, size, file = m.group(1), int(m.group(2), 16), m.group(3)
        part = part_of(section, file)
        if re.match(r"\.(vectors|text|rodata|data)", section):
            flash[part] += size
        if re.match(r"\.(data|bss)|COMMON", section):
            ram[part] += size
    return flash, ram


def figures():
    """Of the image, for README.md."""
    flash, ram = parts(OUT)
    rows = [["firmware with TLS, bytes", *PARTS, "all"],
            ["flash", *flash.values(), sum(flash.values())],
            ["static RAM", *ram.values(), sum(ram.values())]]
    rows.insert(1, ["---"] + ["--:"] * (len(rows[0]) - 1))
    table = "".join("| " + " | ".join(
        f"{c:,}" if isinstance(c, int) else c for c in row) + " |\n"
        for row in rows)
    (OUT / "figures.md").write_text(table)
    print(f"\n{table}")


# --------------------------------------------------------------------- run

def standin(name):
    """A stand-in with a certificate of its own; its port."""
    files = [OUT / f"{name}.{end}" for end in ("crt", "key", "ca")]
    subprocess.run([BUILD / "mkcert", *files], check=True)
    server = subprocess.Popen(
        [BUILD / "standin", "--cert", files[0], "--key", files[1]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().rsplit(":", 1)[1].strip()


def make(*words):
    p = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", HERE,
                        f"TLS_DIR={sys.argv[1]}", f"LWIP_DIR={sys.argv[2]}",
                        *map(str, words)], text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    return p.returncode, p.stdout


def build():
    failed, said = make()
    if failed:
        sys.exit(said)


def relink(out, files, macros):
    """make's outcome for an image in out, for which only these files are
    compiled anew, with these macros."""
    objects = [out / f"{name}.o" for name in files]
    out.mkdir(exist_ok=True)
    (out / "ca.crt").write_bytes((OUT / "ca.crt").read_bytes())
    failed, said = make(f"OUT={out}", f"FAKES={macros}", *objects)
    if failed:
        return failed, said
    new = [o.name for o in objects]
    rest = [o for o in [*OUT.glob("*.o"), *OUT.glob("port/*.o"),
                        *OUT.glob("lwip/**/*.o")] if o.name not in new]
    link = " ".join(map(str, [*objects, *rest, OUT / "libmbed.a"]))
    return make(f"OUT={out}", f"LINK={link}", f"objects={link}")


def check_fakes():
    """Number of macros without which the firmware can be linked: none. Only
    what such a macro changes is compiled anew."""
    links = 0
    for macro, (files, missing) in FAKES.items():
        failed, said = relink(OUT / macro, files, " ".join(
            f"-D{other}" for other in FAKES if other != macro))
        missed = failed and re.search(missing, said)
        good = bool(missed)
        print(f"without {macro} " + (f"{missed[0]} is missing" if good else
                                     f"is no error: FAILED\n{said[:1000]}"))
        links += not good
    return links


def main():
    if sys.argv[1] == "--relay":
        return relay(sys.argv[2], "".join(sys.argv[3:]))
    OUT.mkdir(parents=True, exist_ok=True)
    servers = [standin("standin"), standin("stranger")]
    try:
        (OUT / "ca.crt").write_bytes((OUT / "standin.ca").read_bytes())
        build()
        ports = [servers[0][1], servers[1][1], servers[0][1] + " cut",
                 servers[0][1] + " stall"]
        forwards = "".join(
            f",guestfwd=tcp:10.0.2.100:{8443 + i}-cmd:{sys.executable} "
            f"{__file__} --relay {port}" for i, port in enumerate(ports))
        ran = subprocess.run(
            ["qemu-system-arm", "-M", "mps2-an385", "-display", "none",
             "-monitor", "none", "-serial", "none", "-chardev", "stdio,id=s0",
             "-semihosting-config", "enable=on,target=native,chardev=s0",
             "-nic", "user,restrict=on" + forwards,
             "-kernel", OUT / "agent.elf"],
            stdin=subprocess.DEVNULL, timeout=LIMIT)
        figures()
        failed = bool(ran.returncode) + check_fakes()
        print(f"firmware-run: {3 - failed} passed, {failed} failed")
        return failed
    finally:
        for server, _ in servers:
            server.stdin.close()
            server.wait(5)


if __name__ == "__main__":
    sys.exit(main())
