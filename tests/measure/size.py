#!/usr/bin/env python3
"""What toolcall.h costs: flash, static RAM, stack.

Flash is that of whole images with the C library in them (on x86-64 without),
each built with -Os and, where speed is measured too, with -O2:

    empty    start-up code only
    json     read a JSON text and write one
    schema   check it against a schema
    pick     and rank two tools
    core     find a tool by its name, check the call, run it; what it does not
             need is left out by TOOLCALL_NO_... (KEPT says what stays)
    life     the same with nothing left out and every hook there is
    agent    core with one provider, conversation memory and the agent loop
    default  the same program, with nothing left out
    led_...  one tool, tcall_init and tcall_execute, and nothing more is named,
             with schema text and with a shape; no switch
    five     that with five providers
    http     that with one provider, and HTTP over a stream of bytes

On the M4 the program `default` is built once more with tokens made by jsmn, and,
with --switches, with each switch: what that saves is printed. The program `agent`
is built once more with each further provider beside the first.

The bytes of an image are shared out among the chapters of the header by the
place where each function or table is defined. Stack is the deepest path below
each public function, see stack.py.

Fails where the library has static RAM, where its stack has no bound or a public
function needs more than STACK_BAR of it on the M4 with -Os, where an image is
larger than its bar, and where an image holds a heap, printf, strtod or floating
point in software. That no figure grows is for figures.py --check to see: the
table in README.md is held. With --functions each function and table is listed;
--stack FUNCTION prints the frames of its deepest path on the M4 and nothing
else.
"""
import collections
import concurrent.futures
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import ratchet
from pointers import Pointers
from stack import LIBC_STACK, Stack

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import Checks  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
OUT = ROOT / "build" / "size"

TARGETS = {  # name: (tool prefix, instruction set, start of flash, of RAM)
    "M0+": ("arm-none-eabi", "-mcpu=cortex-m0plus -mthumb", 0, 0x20000000),
    "M4": ("arm-none-eabi", "-mcpu=cortex-m4 -mthumb", 0, 0x20000000),
    "RV32IMC": ("riscv64-unknown-elf", "-march=rv32imc -mabi=ilp32",
                0x80000000, 0x80200000),
    "x86-64": ("", "-m64 -fno-pie", 0, 0),
}
TITLES = {"M0+": "Cortex-M0+", "M4": "Cortex-M4"}
BUILDS = [("M0+", "-Os"), ("M4", "-Os"), ("M4", "-O2"), ("RV32IMC", "-Os"),
          ("x86-64", "-Os"), ("x86-64", "-O2")]
IMAGES = {  # what README calls it, the program
    "empty": ("", "fw_empty"),
    "json": ("JSON: read, write", "fw_json"),
    "schema": ("+ schema", "fw_schema"),
    "pick": ("+ pick", "fw_pick"),
    "core": ("a call: read, checked, run (`core`)", "fw_core"),
    "life": ("the same, every hook", "fw_life"),
    "agent": ("a whole agent, one provider (`agent`)", "fw_agent"),
    "default": ("the same, nothing left out", "fw_agent"),
    "five": ("the same, five providers", "fw_five"),
    "http": ("one provider, HTTP", "fw_http"),
    "led_schema": ("one LED: a tool with schema text, no switch", "fw_led_schema"),
    "led_shape": ("one LED: a tool with a shape, no switch", "fw_led_shape"),
}
# What the programs core and agent use; all else that has a switch is left out.
KEPT = {"core": {"SENTENCES"}, "agent": {"SENTENCES", "AGENT"}}
# What is aimed at on an M4 with -Os; until then it only falls, see ratchet.py.
BARS = {("core", "M4 -Os"): 28 * 1024, ("agent", "M4 -Os"): 41 * 1024,
        ("led_schema", "M4 -Os"): 38000, ("led_shape", "M4 -Os"): 17000}
STACK_BAR = 1024  # of a public function, likewise
# What those above it needed last; they may need 1 % more.
STACK_HELD = {# a repair that waits is read again; hooks around each other
              "tcall_invoke": 1104, "tcall_execute": 1192,
              # schemas of shapes in each other, six levels of them, written to
              # see whether the setting of the conversation has changed
              "tcall_agent_show": 1200, "tcall_agent_say": 1392, "tcall_agent_step": 1328,
              "tcall_agent_run": 1408, "tcall_agent_plan": 1408,
              # a default is checked against its schema, as arguments are in a call
              "tcall_init": 1208, "tcall_add": 1184,
              # before anything else: tcall_init with a registry of their own
              "tcall_need": 1544, "tcall_agent_need": 1696}
# Further providers in the agent's image, and what each may add on M4.
ALSO = ["anthropic", "ollama", "responses", "gemini", "interactions", "deepseek",
        "mistral"]
ALSO_BAR = 2560
# What else an agent may use: the price of each is printed.
USES = ["save", "ledger", "plan"]

BANNED = re.compile(
    r"_?(malloc|calloc|realloc|free)(_r)?|_?sbrk|(v|s|f|d|sn|vsn|vf|as)*i?printf"
    r"|strto(d|f|ld)|atof|__aeabi_[dfu]?[idfu]\w*2[df]|__aeabi_[df][a-z0-9]+"
    r"|__(add|sub|mul|div|neg|eq|ne|lt|le|gt|ge|cmp|unord|extend|trunc|fix|"
    r"fixuns|float|floatun|floatuns)\w*[sd]f\w*")

# What a layer of port/ may take on the M4.
PORT_BARS = {"http": 6200, "tls": 3840}


def run(cmd):
    p = subprocess.run(cmd, cwd=ROOT, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    if p.returncode:
        sys.exit(" ".join(map(str, cmd)) + "\n" + p.stdout)
    return p.stdout


# ---------------------------------------------------------------- chapters

class Header:
    """Knows in which chapter of the implementation a name is defined."""

    def __init__(self, path):
        text = path.read_text()
        start = text.find("#ifdef TOOLCALL_IMPLEMENTATION")
        self.text = text[start if start >= 0 else 0:]
        marks = re.finditer(r"^ \* >>(\w+)", self.text, re.M)
        self.marks = [(m.start(), m.group(1)) for m in marks]
        self.names = list(dict.fromkeys(name for _, name in self.marks))

    @functools.lru_cache(None)
    def place(self, symbol):
        name = re.escape(symbol)
        found = (re.search(rf"^\w[^\n;=]*\b{name}\(", self.text, re.M) or
                 re.search(rf"\b{name}\b", self.text))
        return found.start() if found else -1

    def chapter(self, symbol):
        if symbol.startswith("jsmn_"):
            return "jsmn"
        found = "texts, tables"
        place = self.place(symbol) if symbol else -1
        for pos, chapter in self.marks:
            if pos < place:
                found = chapter
        return found


def symbol_of(section):
    """.rodata.tcall_view_.str1.4 -> tcall_view_"""
    name = re.sub(r"^\.(text|rodata|srodata|data|sdata)\.?"
                  r"(startup\.|unlikely\.|rel\.ro\.)?(local\.)?", "", section)
    name = re.sub(r"\.(str|cst)\d[.\d]*$|^(str|cst)\d[.\d]*$", "", name)
    return re.sub(r"\.(constprop|isra|part|cold|lto_priv|\d+).*$", "", name)


# ------------------------------------------------------------------ images

def switches():
    """The names of all chapters that can be left out."""
    found = run([ROOT / "src" / "switches"])
    return re.findall(r"^TOOLCALL_NO_(\w+)$", found, re.M)


def left_out(image):
    """Flags of the library for an image."""
    return [f"-DTOOLCALL_NO_{name}" for name in switches()
            if image in KEPT and name not in KEPT[image]]


class Target:
    def __init__(self, name, level):
        self.name, self.level = f"{name} {level}", level
        self.prefix, self.isa, self.flash, self.ram = TARGETS[name]
        self.dir = OUT / f"{name}{level}"

    def tool(self, name):
        return f"{self.prefix}-{name}" if self.prefix else name

    def gcc(self, *args):
        libc = ["--specs=picolibc.specs"] if self.prefix else []
        return run([self.tool("gcc"), *self.isa.split(), *libc,
                    *map(str, args)])

    def compile(self, source, *more, name=None):
        obj = self.dir / ((name or source.stem) + ".o")
        self.gcc("-std=c99", self.level, "-ffunction-sections", "-fdata-sections",
                 "-Wall", "-Wextra", "-Werror",
                 *os.environ.get("CFLAGS", "").split(), "-I.", "-isystem",
                 OUT / "include", *more, "-c", source, "-o", obj)
        return obj

    def link(self, image, objects):
        elf = self.dir / f"{image}.elf"
        places = dict(__flash=self.flash, __flash_size=1 << 20,
                      __ram=self.ram, __ram_size=1 << 18, __stack_size=4096)
        words = ["--crt0=minimal", "-Tpicolibc.ld",
                 *(f"-Wl,--defsym={k}={v}" for k, v in places.items())]
        if not self.prefix:
            words = ["-nostdlib", "-static", "-no-pie", "-Wl,-emain",
                     "-Wl,--unresolved-symbols=ignore-all"]
        self.gcc(*objects, *words, "-Wl,--gc-sections",
                 f"-Wl,-Map={elf}.map", "-o", elf)
        return elf

    def sections(self, file):
        for line in run([self.tool("size"), "-A", str(file)]).splitlines():
            m = re.match(r"(\.\S+|COMMON)\s+(\d+)", line)
            if m:
                yield m.group(1), int(m.group(2))

    def symbols(self, elf):
        lines = run([self.tool("nm"), "--defined-only", str(elf)])
        return {line.split()[-1] for line in lines.splitlines() if line}


FLASH = re.compile(r"\.(init|fini|l?text|l?rodata|srodata|data|sdata|tdata|"
                   r"ARM\.ex|eh_frame|preinit_array|init_array|fini_array)")
RAM = re.compile(r"\.(data|sdata|bss|sbss|tdata|tbss)|COMMON")


def flash_of(target, elf):
    return sum(n for name, n in target.sections(elf) if FLASH.match(name))


def shares(elf, header):
    """Bytes of flash in an image by chapter and by symbol, from the map."""
    text = pathlib.Path(f"{elf}.map").read_text()
    text = text.split("Linker script and memory map", 1)[1]
    text = re.sub(r"\n (\.\S+)\n\s+0x", r"\n \1 0x", text)
    sums, symbols = collections.Counter(), collections.Counter()
    for m in re.finditer(r"^ (\.\S+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$",
                         text, re.M):
        section, size, file = m.group(1), int(m.group(2), 16), m.group(3)
        if not size or not FLASH.match(section):
            continue
        if re.search(r"impl\w*\.o$", file):
            symbol = symbol_of(section)
            sums[header.chapter(symbol)] += size
            symbols[header.chapter(symbol), symbol] += size
        elif file.endswith("http.o") and "fw_" not in file:
            sums["port/http"] += size
        elif "/fw_" in file:
            sums["the program"] += size
        else:
            sums["libc, start-up"] += size
    return sums, symbols


# ------------------------------------------------------------------ report

def line(title, cells, width=24):
    print(f"{title:{width}}" + "".join(f"{c:>13}" for c in cells))


def described():
    """The switches as the manual explains them: name -> words."""
    text = (ROOT / "src" / "manual.h").read_text()
    return dict(re.findall(r"^ \*     (NO_\w+) +(.*)$", text, re.M))


def markdown(names, flash, stack):
    """The footprint tables of README.md, see figures.py."""
    heads = [TITLES.get(n.split()[0], n.split()[0]) + f" `{n.split()[1]}`"
             for n in names]
    rows = [["bytes of flash", *heads], ["---"] + ["--:"] * len(names)]
    for image, (words, _) in IMAGES.items():
        if words:
            rows.append([words, *(f"{flash[image, n]:,}" for n in names)])
    for image in KEPT:
        rows.append([f"stack of `{image}`",
                     *(f"{stack[image, n]:,}" for n in names)])
    rows.append(["static RAM", *("0" for n in names)])
    (OUT / "figures.md").write_text(
        "".join("| " + " | ".join(row) + " |\n" for row in rows))


def port_layers():
    """Flash of each layer of port/ alone on the M4, without what it calls;
    0 where the C library, or mbedTLS, lacks the headers."""
    t = Target("M4", "-Os")
    include = OUT / "port"
    include.mkdir(parents=True, exist_ok=True)
    (include / "no_threads.h").write_text(
        "#undef MBEDTLS_THREADING_C\n#undef MBEDTLS_THREADING_PTHREAD\n")
    for found in pathlib.Path("/usr/include").glob("mbedtls"):
        if not (include / "mbedtls").exists():
            (include / "mbedtls").symlink_to(found)
    for layer in ["http", "tls", "posix", "port"]:
        try:
            obj = t.compile(ROOT / "port" / f"{layer}.c", f"-I{include}",
                            '-DMBEDTLS_USER_CONFIG_FILE="no_threads.h"')
            yield layer, sum(n for s, n in t.sections(obj)
                             if not RAM.match(s) and s.startswith(
                                 (".text", ".rodata")))
        except (SystemExit, subprocess.CalledProcessError):
            yield layer, 0


def sample(check):
    """Is what is known of the sample found in it?"""
    t = Target("x86-64", "-O0")
    t.dir.mkdir(parents=True, exist_ok=True)
    source = HERE / "stack_sample.c"
    obj = t.compile(source, "-fcallgraph-info=su,da", "-Wno-infinite-recursion")
    public = {"reads_far", "reads_near", "tells_far", "tells_near", "turns",
              "turns_for_ever", "nobody_knows", "user_knows"}
    found = Stack([obj], public, Pointers([source]), {"deeper": 3}, {"user_": False})
    for name, path in {"reads_far": "feed tell_far", "reads_near": "feed tell_near",
                       "tells_far": "each tell_far", "tells_near": "each tell_near",
                       "turns": "deeper deeper deeper", "user_knows": ""}.items():
        names = " ".join(n for _, n in found.path(name))
        check(names == f"{name} {path}".strip(), f"stack of the sample: {names}")
    said = "\n".join(found.problems)
    check("how deep does turns_for_ever recurse" in said and
          "what does nobody_knows call through empty_.none" in said and
          len(found.problems) == 2, f"stack of the sample: {said}")


def main():
    check = Checks("size")
    sample(check)
    header = Header(ROOT / "toolcall.h")
    (OUT / "include").mkdir(parents=True, exist_ok=True)
    jsmn = next((p for p in [ROOT / "jsmn.h", *map(pathlib.Path, (
        "/usr/include/jsmn.h", "/usr/local/include/jsmn.h"))] if p.exists()))
    shutil.copy(jsmn, OUT / "include" / "jsmn.h")

    targets, skipped = [], []
    for build in [("M4", "-Os")] if "--stack" in sys.argv else BUILDS:
        target = Target(*build)
        target.dir.mkdir(parents=True, exist_ok=True)
        packages = [f"{what}-{target.prefix}" for what in ("gcc", "picolibc")
                    ] if target.prefix else ["gcc"]
        found = subprocess.run([ROOT / "tests" / "need", *packages],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        (targets if found.returncode == 0 else skipped).append(target)

    flash, parts, symbols, more, saved = {}, {}, {}, {}, {}
    stack, functions = {}, {}  # by image and build, by function
    calls = "-fcallgraph-info=su,da"
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def library(t, name="", *flags):
        return t.compile(ROOT / "tests" / "impl.c", calls, *flags,
                         name=f"impl{name}")

    pointers = Pointers(["tests/impl.c", "port/http.c"], ["-I.", "-isystem", str(OUT / "include")])
    made = {(t, image): pool.submit(library, t, image and f"_{image}",
                                    *left_out(image))
            for t in targets for image in ["", *KEPT]}
    for t in targets:
        ours = [made[t, ""].result(),
                t.compile(ROOT / "port" / "http.c", calls)]
        ram = sum(n for o in ours for s, n in t.sections(o) if RAM.match(s))
        check(ram == 0, f"{t.name}: {ram} bytes of static RAM")
        nm = run([t.tool("nm"), "-g", "--defined-only", *map(str, ours)])
        public = {x.split()[-1] for x in nm.splitlines() if " T " in x}
        found = Stack(ours, public, pointers)
        if "--stack" in sys.argv:
            for depth, name in found.path(sys.argv[-1]):
                print(f"{depth:6} {found.frame.get(name, LIBC_STACK):6}  {name}")
            return 0
        functions[t.name] = found.table()
        check(not found.problems, "\n".join(
            [f"{t.name}: the stack is not bounded"] + found.problems))
        for image, (_, source) in IMAGES.items():
            program = t.compile(HERE / f"{source}.c", *left_out(image),
                                name=f"fw_{image}")
            objects = ours
            depths = functions[t.name]
            if image == "empty":
                objects = []
            elif image in KEPT:
                objects = [made[t, image].result(), ours[1]]
                depths = Stack(objects, public, pointers).table()
            elf = t.link(image, [program, *objects])
            flash[image, t.name] = flash_of(t, elf)
            parts[image, t.name], symbols[image, t.name] = shares(elf,
                                                                  header)
            linked = t.symbols(elf)
            stack[image, t.name] = max(
                (n for name, n in depths.items() if name in linked), default=0)
            if t.prefix:
                bad = sorted(filter(BANNED.fullmatch, linked))
                check(not bad, f"{t.name}: {image} links {', '.join(bad)}")
    for t in [t for t in targets if t.name == "M4 -Os"]:
        http = t.dir / "http.o"

        def without(flags, name):
            program = t.compile(HERE / "fw_agent.c", *flags, name=f"fw_{name}")
            return flash_of(t, t.link(name, [program, library(
                t, f"_{name}", *flags), http]))

        jobs = {f"TOOLCALL_NO_{name}": pool.submit(
            without, [f"-DTOOLCALL_NO_{name}"], f"no_{name}")
            for name in switches() if "--switches" in sys.argv and name != "AGENT"}
        if "TOOLCALL_JSMN" in run([ROOT / "src" / "switches"]):
            jobs["TOOLCALL_JSMN"] = pool.submit(without, [
                "-DTOOLCALL_JSMN", "-DJSMN_STRICT", "-DJSMN_PARENT_LINKS",
                "-DJSMN_STATIC"], "jsmn")
        saved = {name: flash["default", t.name] - job.result()
                 for name, job in jobs.items()}
        for what, flag in [(also, f"-DALSO=tcall_{also}") for also in ALSO] + \
                          [(use, f"-DUSE_{use.upper()}") for use in USES]:
            program = t.compile(HERE / "fw_agent.c", flag)
            more[what] = flash_of(t, t.link(f"agent_{what}", [
                program, made[t, ""].result(), http])
                                  ) - flash["default", t.name]

    names = [t.name for t in targets]
    for image in ("core", "agent", "default"):
        line(f"{image}: flash by chapter", names)
        rows = header.names + ["texts, tables", "port/http", "the program",
                               "libc, start-up"]
        for row in rows:
            cells = [parts[image, n][row] for n in names]
            if any(cells):
                line("  " + row, cells)
            if "--functions" in sys.argv:
                both = [k for k in sorted(set().union(
                    *(symbols[image, n] for n in names)), key=lambda k:
                    -symbols[image, names[-2]][k]) if k[0] == row]
                for key in both:
                    line("    " + (key[1] or "(texts)"),
                         [symbols[image, n][key] for n in names], 40)
        print()

    line("worst stack below", names, 32)
    for name in sorted(set().union(*functions.values()), key=header.place):
        line("  " + name, [functions[n].get(name, "-") for n in names], 32)
    over = {f: n for f, n in functions.get("M4 -Os", {}).items()
            if n > STACK_BAR}
    for function, depth in over.items():
        held = max(STACK_BAR, int(STACK_HELD.get(function, 0) * 1.01))
        print(f"  {function}: {depth}, aim {STACK_BAR}: MISSED by "
              f"{depth - STACK_BAR}")
        ratchet.hold(check, "stack", depth <= held, f"M4: {function} needs {depth} bytes "
                     f"of stack, held at {held}: see size.py --stack {function}")
    print()

    line("whole image, bytes", names)
    for image in IMAGES:
        line(f"  {image}", [flash[image, n] for n in names])
    for (image, name), aim in BARS.items():
        size, bar = flash.get((image, name), 0), ratchet.limit(f"flash {image}")
        print(f"  {image} on {name}: {size}, aim {aim}" +
              (f": MISSED by {size - aim}" if size > aim else ""))
        check(size <= bar, f"{name}: {image} has {size} bytes, held at {bar:g}")
    if "--land" in sys.argv:
        ratchet.land({f"flash {image}": flash[image, name] for image, name in BARS})
    print("\ndefault, on M4 -Os: what each switch saves")
    for name, bytes_ in saved.items():
        print(f"  {name:28}{bytes_:8}")
    for what, added in more.items():
        bar = f", held at {ALSO_BAR}" if what in ALSO else ""
        print(f"  default and {what:10} on M4: +{added}{bar}")
        ratchet.hold(check, "another provider", what in USES or added <= ALSO_BAR,
                     f"M4: {what} adds {added} bytes")
    line("  deepest stack", [max(functions[n].values(), default=0)
                             for n in names])
    for layer, size in port_layers() if "M4 -Os" in names else []:
        bar = PORT_BARS.get(layer)
        print(f"  port/{layer}.c on M4: " + (f"{size} bytes" if size else
              "not compiled, there are no headers for it") +
              (f", held at {bar}" if bar else ""))
        ratchet.hold(check, "port", not bar or 0 < size <= bar,
                     f"port/{layer}.c is above {bar}")
    for t in skipped:
        check.skip(t.name, f"gcc-{t.prefix} or picolibc-{t.prefix} is missing")
    if not skipped:
        markdown(names, flash, stack)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
