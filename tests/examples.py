#!/usr/bin/env python3
"""tests/examples.py: the examples that are to be read in order.

Each has less than 60 lines, compiles without a warning as C99, and says what is
expected here. Those that talk to a model talk to the stand-in.
"""
import pathlib
import subprocess

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "examples"
COMPILE = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I."]
PORT = ["port/http.c", "port/port.c", "port/posix.c", "port/tls.c",
        "-lmbedtls", "-lmbedx509", "-lmbedcrypto"]
# example: what is typed, and lines that it has to print
EXAMPLES = {
    "01_hello": ("", ["The light is on.", "set_led answered: done"]),
    "02_struct": ("", ["Lamp 2 goes to 50 % in 500 ms.", "done"]),
    "03_stream": ("", ["37 percent full <- read_tank", "answered: 37 percent"]),
    "04_approve": ("y\n", ["Valve 3: open."]),
    "05_approve_later": ("", ["first: the call waits for approval",
                              "The log is erased.", "then: ok, done"]),
    "06_superloop": ("", ["answered: 21.5 degrees"]),
    "07_providers": ("", ["openai: ", "anthropic: ", "ollama: ",
                          "answered: a quarter past nine"]),
    "08_hooks": ("", ["The sensor is read.", "21.5 degrees",
                      '"attempts":0', "twice is enough"]),
    "09_pick": ("", ['"picks":[{"tool":"set_lamp"']),
    "10_plan": ("", ['set_relay {"relay":7,"on":true}: could run']),
}
# typed in place of y: the valve does not move
NO = ["", "\n", "n\n", "Y\n", "yes\n", " y\n", "y \n", "yy\n", "y"]

check = Checks("examples")


def compiled(name):
    """Whether it compiles; with port/ where its source includes that."""
    source = ROOT / "examples" / f"{name}.c"
    text = source.read_text()
    check(len(text.splitlines()) < 60, f"{name} has 60 lines or more")
    done = subprocess.run([*COMPILE, f"examples/{name}.c", "-o", OUT / name,
                           *(PORT if "port/port.h" in text else [])],
                          cwd=ROOT, capture_output=True, text=True)
    return check(done.returncode == 0, f"{name}: {done.stderr[:400]}")


def said(name, typed, *words):
    return subprocess.run([OUT / name, *words], input=typed, text=True,
                          capture_output=True, timeout=60).stdout


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    on_disk = sorted(path.stem for path in (ROOT / "examples").glob("[0-9]*.c"))
    check(on_disk == sorted(EXAMPLES), f"examples/ has {on_disk}")
    with subprocess.Popen([ROOT / "build" / "standin", "--plain"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as model:
        url = model.stdout.readline().strip()
        for name, (typed, wanted) in EXAMPLES.items():
            if not compiled(name):
                continue
            needs_model = "port/port.h" in (ROOT / f"examples/{name}.c").read_text()
            text = said(name, typed, *([url] if needs_model else []))
            for line in wanted:
                check(line in text, f"{name} does not say {line!r}: {text!r}")
        readme = (ROOT / "README.md").read_text()
        tool = readme.partition("\nstatic int set_led")[2].partition("\n}};\n")[0]
        hello = (ROOT / "examples/01_hello.c").read_text().replace(
            "/* clang-format off */\n", "")
        check(tool and tool in hello, "README's first tool is not that of 01_hello")
        for typed in NO:
            check("opens" not in said("04_approve", typed),
                  f"04_approve takes {typed!r} for y")
        model.stdin.close()
    return check.end()


if __name__ == "__main__":
    raise SystemExit(main())
