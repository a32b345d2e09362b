#!/usr/bin/env python3
"""tests/shapes_agree.py [--every] [CALLS [SHAPES]]: shapes mean what their
schemas say, on every machine.

Makes SHAPES (60) random shapes as lists in C, of all kinds and roles, and
compiles one program that holds them. The program writes the JSON Schema of
each; python3-jsonschema judges CALLS (6,000) calls by that schema, numbers
read as exact decimals, and the program must give the same verdict: near the
bounds, with long decimals and exponents, in any order of members, with members
that are missing, unknown or there twice.

What a shape has room for is no matter of the schema: a call that JSON Schema
accepts may be refused for it (an integer for its 32 or 64 bits), only where a
value is over its room, and then it must be. The struct of each call that is
accepted, written as JSON, fits the schema again.

Other machines must answer the same bytes: with 32 bits, s390x, which is
big-endian, under qemu-user, and as boards with a UART a Cortex-M3 and a RISC-V
under QEMU and an ATmega1284P under simavr. The boards are asked a part of the
calls, with --every all of them; the ATmega, whose double has four bytes, those
of shapes without numbers of that kind.
"""
import contextlib
import decimal
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading

import mcp_uno
from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "shapes_agree"
EVERY = "--every" in sys.argv
NUMBERS = [int(a) for a in sys.argv[1:] if a != "--every"]
CALLS, SHAPES = (NUMBERS + [6000, 60][len(NUMBERS):])[:2]
SAMPLE = 0 if EVERY else 400
CHIP = "atmega1284p"
BARE = ["--specs=picolibc.specs", "--crt0=minimal", "-Tpicolibc.ld", "-Os",
        "-ffunction-sections", "-Wl,--gc-sections", "-DARGS=200000"]
QUIET = ["-nic", "none", "-display", "none", "-monitor", "none", "-serial", "stdio"]


def loaded(at):
    """Where QEMU puts the lines: what it sends early to a UART may be lost."""
    return ["-device", f"loader,file={OUT / 'lines'},addr={at},force-raw=on", "-kernel"]


def places(flash, ram):
    """Where the linker puts things on a chip."""
    return [f"-Wl,--defsym={k}={v}" for k, v in dict(
        __flash=flash, __flash_size=1 << 20, __ram=ram, __ram_size=1 << 20,
        __stack_size=32768).items()]


# By name: the compiler, what runs its program, how many of the calls (all: 0).
BUILDS = {
    "gcc -O2": (["gcc", "-O2", "-DARGS=200000"], [], 0),
    "gcc -m32": (["gcc", "-m32", "-Os", "-DARGS=200000"], [], 0),
    "clang": (["clang", "-O1", "-fsanitize=address,undefined", "-DARGS=200000"], [], 0),
    "s390x": (["s390x-linux-gnu-gcc", "-O2", "-static", "-DARGS=200000"], ["qemu-s390x"], 0),
    "Cortex-M3": (["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", *BARE,
                   "-DCALLS=0x21000000", *places(0, 0x20000000)],
                  ["qemu-system-arm", "-M", "mps2-an385", *QUIET, *loaded(0x21000000)],
                  SAMPLE),
    "RV32IMC": (["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", *BARE,
                 "-DCALLS=0x81000000", *places(0x80000000, 0x80200000)],
                ["qemu-system-riscv32", "-M", "virt", "-m", "128M", "-bios", "none", "-cpu",
                 "rv32,a=off,f=off,d=off,m=on,c=on", *QUIET, *loaded(0x81000000)], SAMPLE),
    "AVR": ([*mcp_uno.AVR, f"-mmcu={CHIP}", "-DARGS=4000",
             "-DTOOLCALL_MISFIT_TEXT=16"], [OUT / "uno_run"], SAMPLE),
}
dice = random.Random(int(os.environ.get("SEED", "20261122")))
D = decimal.Decimal
decimal.getcontext().prec = 1200

# ---- shapes ----

WORDS = ["celsius", "kelvin", "on", "off", "left", "right", "a1", "x_y", "one", "two"]
SENT = ["as-sent", "a/b", "m~n", "größe", "two words", "with.dot", "x\"y", ""]
CHARACTERS = ["a", "Z", "0", " ", "é", "ß", "€", "漢", "𝄞", "\"", "\\", "/", "\n", "\x7f"]


class Node:
    """A kind of shape: how it is written in C, and what it has room for."""

    def __init__(self, kind, c, **more):
        self.kind, self.c, self.null, self.default = kind, c, False, None
        self.__dict__.update(more)


class Maker:
    """Writes lists in C; what a kind names comes before it."""

    def __init__(self, shapes):
        self.count, self.lines = 0, []
        self.shapes = [self.object(0) for _ in range(shapes)]

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def choice(self):
        me = self.name("choice")
        words = dice.sample(WORDS, dice.randint(1, 5))
        sent = [dice.choice(SENT + ["1 hour"]) + str(i) for i in range(len(words))] \
            if dice.random() < 0.4 else words
        if sent is words:
            rows = " ".join(f"WORD(me, {w})" for w in words)
        else:
            rows = " ".join(f"WORD(me, {w}, {quote(s)})" for w, s in zip(words, sent))
        macro = me.upper()
        self.lines.append(f"#define {macro}(WORD, me) {rows}\n"
                          f"TCALL_CHOICE{'' if sent is words else '_AS'}({me}, {macro})")
        default = dice.randrange(len(words))
        return Node("choice", f"choice({me})", words=sent,
                    default_c=f"{me}_{words[default]}")

    def list(self, depth):
        me = self.name("list")
        item = self.kind(depth + 1, named=False)
        low, high = dice.choice([0, 0, 1, 2]), dice.randint(2, 4)
        opened = dice.random() < 0.3
        self.lines.append(f"TCALL_{'OPEN_' if opened else ''}LIST({me}, {item.c}, {low}, {high})")
        return Node("list", f"list({me})", item=item, low=low, high=high, opened=opened)

    def kind(self, depth, named=True):
        node = self.plain(depth)
        if dice.random() < 0.15 and node.kind not in ("json", "any"):
            node.c, node.null = f"or_null({node.c})", True
        return node

    def plain(self, depth):
        kinds = ["boolean", "integer", "integer", "integer64", "fixed", "fixed", "number",
                 "number", "text", "text", "characters", "string", "choice", "json", "one_of"]
        if depth < 3:
            kinds += ["list", "list", "object"]
        kind = dice.choice(kinds)
        return getattr(self, "make_" + kind)(depth)

    def make_boolean(self, depth):
        return Node("boolean", "boolean", default_c=dice.choice(["true", "false"]))

    def make_integer(self, depth):
        low = dice.choice([0, 1, -5, -2147483647, 100, -2147483648])
        high = dice.choice([max(low, 0) + dice.choice([0, 1, 6, 1000]), 2147483647])
        c = [str(v) if -2147483648 < v < 2147483647 else m
             for v, m in ((low, "INT32_MIN"), (high, "INT32_MAX"))]
        return Node("integer", f"integer({c[0]}, {c[1]})", bits=31, marks=[low, high],
                    digits=0, default_c=str(max(low, -2147483647)))

    def make_integer64(self, depth):
        low = dice.choice([0, -9, -10**18, None])
        high = dice.choice([5, 10**12, 9007199254740991, 2**63 - 2, None])
        c = ["INT64_MIN" if low is None else f"{low}LL",
             "INT64_MAX" if high is None else f"{high}LL"]
        marks = [-2**63 if low is None else low, 2**63 - 1 if high is None else high]
        return Node("integer", f"integer64({c[0]}, {c[1]})", bits=63, marks=marks, digits=0,
                    default_c=str(marks[0] if low is not None else 0))

    def make_fixed(self, depth):
        digits = dice.randint(1, 6)
        scale = D(10) ** -digits
        low = dice.choice([D(0), D(-5), D("-9.9"), D("0.5"), D(-273) + scale, scale])
        high = low + dice.choice([D(0), scale, D(1), D("45.5"), D(900)])
        low, high = low.quantize(scale), high.quantize(scale)
        return Node("number", f"fixed({digits}, {low}, {high})", digits=digits,
                    marks=[low, high], default_c=str(low))

    def make_number(self, depth):
        low = dice.choice([D(0), D("-0.5"), D("-9.9"), D("1e6"), D("0.000001"), None])
        base = low or D(0)
        high = dice.choice([base, base + D("0.000001"), base + 10, D("8000000"), None])
        c = ["TCALL_NO_MINIMUM" if low is None else f"{low:f}",
             "TCALL_NO_MAXIMUM" if high is None else f"{high:f}"]
        marks = [m for m in (low, high) if m is not None] or [D(0)]
        return Node("double", f"number({c[0]}, {c[1]})", marks=marks, digits=6,
                    default_c=f"{marks[0]:f}")

    def make_text(self, depth):
        low = dice.choice([0, 0, 1, 2, 3, 6])
        high = low + dice.randint(0, 8)
        return Node("text", f"text({low}, {high})", low=low, high=high, room=high,
                    default_c=quote("x" * (low or min(high, 1))))

    def make_characters(self, depth):
        low = dice.choice([0, 1, 3])
        high = low + dice.randint(1, 6)
        return Node("text", f"characters({low}, {high})", low=low, high=high, room=4 * high,
                    default_c=quote("y" * max(low, 1)))

    def make_string(self, depth):
        low, room = dice.choice([0, 1, 2, 4]), dice.randint(4, 12)
        return Node("text", f"string({low}, {room})", low=low, high=room, room=room,
                    default_c=quote("z" * max(low, 1)))

    def make_choice(self, depth):
        return self.choice()

    def make_json(self, depth):
        room = dice.randint(4, 30)
        return Node("json", f"json({room})", room=room)

    def make_one_of(self, depth):
        sets = dice.sample(["NULL", "BOOLEAN", "INTEGER", "NUMBER", "STRING", "ARRAY", "OBJECT"],
                           dice.randint(1, 4))
        room = dice.randint(4, 30)
        return Node("json", f"one_of({' | '.join('TCALL_SHAPE_' + s for s in sets)}, {room})",
                    room=room)

    def make_list(self, depth):
        return self.list(depth)

    def make_object(self, depth):
        return self.object(depth + 1)

    def object(self, depth):
        me = self.name("shape")
        members, rows = [], []
        for i in range(dice.randint(1, 20 if depth == 0 and dice.random() < 0.2 else 5)):
            node = self.kind(depth)
            node.c_name = f"m{i}"
            node.sent = node.c_name
            c = node.c
            if dice.random() < 0.2:
                node.sent = dice.choice(SENT[:-1]) + str(i)
                c = f"named({quote(node.sent)}, {c})"
            role = dice.choice(["required", "optional", "defaults"])
            if role == "defaults" and not hasattr(node, "default_c"):
                role = "optional"
            node.required = role == "required"
            about = dice.choice(["", "", "what \"it\" is", "größer\n"])
            if role == "defaults":
                role = f"defaults({node.default_c})"
            members.append(node)
            rows.append(f"ROW(me, {role}, {c}, {node.c_name}, {quote(about)})")
        opened = dice.random() < 0.3
        macro = me.upper()
        self.lines.append(f"#define {macro}(ROW, me) {' '.join(rows)}\n"
                          f"TCALL_{'OPEN_' if opened else ''}SHAPE({me}, {macro})")
        return Node("object", f"object({me})", members=members, opened=opened, me=me)


def quote(text):
    """A string literal in C; after an octal escape nothing is read on."""
    return '"' + "".join(c if " " <= c < "\x7f" and c not in '"\\?' else
                         "".join("\\%03o" % b for b in c.encode()) for c in text) + '"'


# Reads lines: "3 {...}" is a call by shape 3, "3?" asks for its schema. They
# come from the board's serial line, from standard input, or from memory where
# QEMU has put them.
PROGRAM = """#include <float.h>
#include <limits.h>
#include "src/say_schema.c"
#include "examples/profiles/board.h"
%s
static const tcall_object *const shapes[] = {%s};
static union { uint64_t align; char bytes[ARGS]; } args;
static tcall_writer writer;
static char buffer[64];

static int next(void)
{
#ifdef CALLS
    static const char *at = (const char *)CALLS;
    return *at ? (unsigned char)*at++ : -1;
#else /* a line at once: what waits in a UART may be lost */
    static char line[ARGS];
    static size_t at, len;
    int c;
    if (at == len)
        for (at = len = 0; (c = board_get()) >= 0 && len < sizeof line;)
            if ((line[len++] = (char)c) == '\\n')
                break;
    return at < len ? (unsigned char)line[at++] : -1;
#endif
}

static int put(void *user, const char *bytes, size_t len)
{
    size_t i;
    (void)user;
    for (i = 0; i < len; i++)
        board_put(bytes[i]);
    return (int)len;
}

/* Feeds the line in pieces of many lengths. */
static int feed(tcall_decoder *decoder)
{
    char piece[80];
    unsigned step = 0, len = 0;
    int c;
    while ((c = next()) != '\\n' && c >= 0) {
        piece[len++] = (char)c;
        if (len > step %% 7 * step %% 11) {
            tcall_decoder_feed(decoder, piece, len);
            len = 0;
            step++;
        }
    }
    tcall_decoder_feed(decoder, piece, len);
    return tcall_decoder_end(decoder);
}

/* The keywords of misfits, by their codes. */
static const char keywords[] TCALL_FLASH_ = "\\0"
#define X(NAME, keyword, wrong, remedy) keyword "\\0"
    TCALL_MISFITS(X);
#undef X

static void call(const tcall_object *shape)
{
    tcall_decoder decoder;
    int i, error;
    memset(args.bytes, 0xA5, TCALL_FETCH_16_(&shape->size)); /* of before */
    tcall_decoder_init(&decoder, shape, args.bytes);
    error = feed(&decoder);
    tcall_write_text(&writer, error < 0 ? tcall_error_code(error) : "ok");
    tcall_write_text(&writer, "\\t");
    if (error == TCALL_OK)
        tcall_write_struct(&writer, shape, args.bytes);
    for (i = 0; error < 0 && i < decoder.misfit_count && i < 4; i++) {
        tcall_write_text(&writer, i ? " | " : "");
        tcall_write_flash(&writer, tcall_word_at_(keywords, decoder.misfits[i].code));
        tcall_write_text(&writer, " ");
        tcall_write_misfit(&writer, &decoder.misfits[i], shape, 0);
    }
}

int main(void)
{
    int c, number = 0;
#ifdef _IOLBF
    setvbuf(stdout, NULL, _IOLBF, 4096);
#endif
    board_begin();
    board_put('\\n');
    while ((c = next()) >= 0) {
        if (c >= '0' && c <= '9') {
            number = number * 10 + c - '0';
            continue;
        }
        tcall_writer_init(&writer, buffer, sizeof buffer);
        tcall_writer_sink(&writer, put, NULL);
        if (c == '?')
            tcall_write_shape(&writer, shapes[number]);
        else if (c == ' ')
            call(shapes[number]);
        else
            continue;
        tcall_writer_flush(&writer);
        board_put('\\n');
        number = 0;
    }
    return 0;
}
"""


def build(compiler, maker, nodes, out):
    """The program for one machine. None where it does not compile."""
    source = out.with_suffix(".c")
    source.write_text(PROGRAM % ("\n".join(maker.lines), ", ".join(
        f"&{n.me}_shape" if n in nodes else "0" for n in maker.shapes)))
    done = subprocess.run([*compiler, *([] if "avr" in compiler[0] else ["-std=c99"]), "-w", "-I.", source, "-o", out],
                          cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[:2000])
    return not done.returncode


def talk(command, lines):
    """What a program answers to lines, and what it says on stderr. A board does
    not end, and listens when it has said an empty line."""
    sent = "".join(line + "\n" for line in lines).encode()
    (OUT / "lines").write_bytes(sent + b"\0")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "MCU": CHIP}) as p:
        timer = threading.Timer(120 + len(lines) / 20, p.kill)
        timer.start()
        p.stdout.readline()
        writer = threading.Thread(target=write, args=(p.stdin, sent))
        writer.start()
        answers = [p.stdout.readline().decode().rstrip("\r\n") for _ in lines]
        p.kill()
        timer.cancel()
        writer.join()
        return answers, p.stderr.read().decode()


def write(to, sent):
    with contextlib.suppress(OSError):
        to.write(sent)
        to.flush()


def has(compiler, runner):
    """Whether what makes and runs a program is installed, with its headers."""
    if not all(shutil.which(c[0]) for c in (compiler, runner) if c):
        return False
    source = OUT / "empty.c"
    source.write_text("#include <limits.h>\n#include <stdio.h>\nint main(void) { return 0; }\n")
    done = subprocess.run([*compiler, source, "-o", OUT / "empty"], cwd=ROOT, capture_output=True)
    return done.returncode == 0


def small(node):
    """Whether the ATmega1284P can do it: double has four bytes there, so no
    such numbers, and no bounds of more units than it counts exactly."""
    inner = getattr(node, "members", None) or [getattr(node, "item", None)]
    if node.kind == "number" and max(map(abs, node.marks)).scaleb(node.digits) > 2**22:
        return False
    return node.kind != "double" and all(small(n) for n in inner if n)


def bytes_of(node):
    """About the bytes of its struct."""
    if node.kind == "list":
        return 2 + node.high * bytes_of(node.item)
    if node.kind == "object":
        return 2 + sum(bytes_of(n) for n in node.members)
    return getattr(node, "room", 8) + 1


# ---- calls ----


class Number(str):
    """A number as it is sent."""


class Text(str):
    """A string; raw is how it is sent."""
    raw = None


class Pairs(list):
    """An object, perhaps with a name twice."""


def text_of(value):
    t = Text(value)
    t.raw = '"' + "".join(escape(c) for c in value) + '"'
    return t


def escape(c):
    if c in '"\\' or c < " ":
        if dice.random() < 0.5 and c != "\n":
            return {'"': '\\"', "\\": "\\\\"}.get(c, "\\u%04x" % ord(c))
        return "\\n" if c == "\n" else "\\u%04X" % ord(c)
    if dice.random() < 0.1:
        n = c.encode("utf-16-be")
        return "".join("\\u%02x%02x" % (n[i], n[i + 1]) for i in range(0, len(n), 2))
    return "\\/" if c == "/" and dice.random() < 0.5 else c


def space():
    return dice.choice(["", "", "", "", " ", "\t", "\r "])


def emit(value, space=space):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Text):
        return value.raw
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{space()}{emit(k)}{space()}:{space()}{emit(v, space)}{space()}"
                              for k, v in value) + (space() if not value else "") + "}"
    if isinstance(value, list):
        return "[" + ",".join(f"{space()}{emit(v, space)}{space()}" for v in value) + "]"
    return {True: "true", False: "false", None: "null"}[value]


def number_near(mark, digits):
    """A number at a bound, or just beside it, written in some way."""
    mark = D(mark)
    delta = dice.choice([D(0), D(0), D(0), D(1), D(-1), D(10) ** -(digits or 1),
                         -D(10) ** -(digits or 1), D("1e-21"), D("-1e-21"), D("1e-40"),
                         D("-1e-40"), D("0.5"), D(dice.randint(-99, 99)) / 7])
    value = mark + delta
    value = D(f"{value:.60g}")
    form = dice.randrange(6)
    plain = f"{value:f}"
    if "." in plain and form < 4:
        plain = plain.rstrip("0").rstrip(".") or "0"
    if plain in ("", "-"):
        plain = "0"
    if len(plain) > 200:
        plain = plain[:200]
    if form == 1:
        shift = dice.randint(-6, 6)
        t = value.scaleb(shift)
        plain = f"{t:f}"
        if "." in plain:
            plain = plain.rstrip("0").rstrip(".")
        plain += f"e{-shift}" if -shift < 0 else f"{dice.choice('eE')}{dice.choice(['', '+'])}{-shift}"
    elif form == 2:
        plain += (".0" if "." not in plain else "") + "0" * dice.randint(0, 30)
    return Number(plain)


ODD = ["0", "-0", "-0.0", "0e0", "1e-999", "-1e-999", "0e9999", "1e2", "1E+2", "5.0", "5.5", "1e999",
       "-1e999", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967296",
       "4294967297", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
       "18446744073709551616", "18446744073709551617", "0.00000000000000000000000000000000004e35",
       "100000000000000000000000000000000000e-35", "-9.900000000000000000001", "1.5e300",
       "1.7976931348623157e308", "1.7976931348623159e308", "12345678901234567890123e-22",
       "0.1", "1e-7", "999999.9999999", "1e5", "123456789012345678901234567890"]


def string(low, high):
    n = max(0, dice.choice([low - 1, low, low, high, high, high + 1, dice.randint(low, high)]))
    plain = dice.random() < 0.4
    return text_of("".join("a" if plain else dice.choice(CHARACTERS) for _ in range(n)))


def anything(depth=0):
    r = dice.randrange(10 if depth < 2 else 6)
    if r == 0:
        return None
    if r == 1:
        return dice.random() < 0.5
    if r < 4:
        return Number(dice.choice(ODD))
    if r < 6:
        return string(0, 5)
    if r < 8:
        return [anything(depth + 1) for _ in range(dice.randint(0, 3))]
    names = {dice.choice(WORDS + SENT) for _ in range(dice.randint(0, 3))}
    return Pairs((text_of(n), anything(depth + 1)) for n in sorted(names))


def value_for(node, wrong):
    """A value for a node; wrong: how probable it is that each part is not."""
    if dice.random() < wrong:
        return anything()
    if node.null and dice.random() < 0.2:
        return None
    if node.kind == "boolean":
        return dice.random() < 0.5
    if node.kind in ("integer", "number", "double"):
        if dice.random() < 0.15:
            return Number(dice.choice(ODD))
        low, high = node.marks[0], node.marks[-1]
        if dice.random() < 0.6:
            if node.kind == "integer":
                return Number(dice.randint(int(low), int(high)))
            between = low + (high - low) * D(dice.randint(0, 1000)) / 1000
            return Number(f"{between:f}")
        near = number_near(dice.choice(node.marks), node.digits)
        return near
    if node.kind == "text":
        return string(node.low, node.high)
    if node.kind == "choice":
        word = dice.choice(node.words)
        if dice.random() < 0.1:
            word = dice.choice([word[:-1], word + "x", "", word.upper()])
        return text_of(word)
    if node.kind == "list":
        n = dice.choice([node.low, node.high, node.low, node.high + 1, max(0, node.low - 1),
                         dice.randint(node.low, node.high)])
        return [value_for(node.item, wrong / 2) for _ in range(n)]
    if node.kind == "object":
        return object_for(node, wrong)
    return anything()


def object_for(node, wrong):
    pairs = Pairs()
    for member in node.members:
        if dice.random() < (1 - wrong / 2 if member.required else 0.5):
            pairs.append((text_of(member.sent), value_for(member, wrong / 2)))
    if dice.random() < wrong:
        pairs.append((text_of(dice.choice(["m", "m99", "other", "größ", ""])), anything(1)))
    if pairs and dice.random() < wrong / 2:
        pairs.append((text_of(dice.choice(pairs)[0]), anything(1)))
    if dice.random() < 0.7:
        dice.shuffle(pairs)
    return pairs


def twice(node, value):
    """Whether a name that the shape knows comes twice in an object of it."""
    if isinstance(value, Pairs) and node and node.kind == "object":
        seen = set()
        for name, inner in value:
            member = next((m for m in node.members if m.sent == name), None)
            if member and name in seen:
                return True
            seen.add(str(name))
            if member and twice(member, inner):
                return True
    elif isinstance(value, list) and not isinstance(value, Pairs) and node and node.kind == "list":
        return any(twice(node.item, v) for v in value)
    return False


def over_room(node, value):
    """Whether a value of the right type is more than the struct has room for."""
    if value is None and node.null:
        return False
    if node.kind == "json":
        return len(emit(value, lambda: "").encode()) > node.room
    if isinstance(value, Text) and node.kind == "text":
        return len(value.encode()) > node.room
    if isinstance(value, Number) and node.kind == "integer":
        return not -2**node.bits <= D(value) < 2**node.bits
    if isinstance(value, Number) and node.kind == "double":
        return abs(float(value)) == float("inf")
    if isinstance(value, Pairs):
        if node.kind != "object":
            return False
        known = {m.sent: m for m in node.members}
        return any(name in known and over_room(known[name], v) for name, v in value)
    if isinstance(value, list) and node.kind == "list":
        return len(value) > node.high or any(over_room(node.item, v) for v in value)
    return False


def exact(pairs_or_number):
    return D(pairs_or_number)


# ---- the judge ----

def validators(schemas):
    import jsonschema
    whole = lambda checker, v: not isinstance(v, bool) and (
        isinstance(v, int) or isinstance(v, D) and v == v.to_integral_value())
    number = lambda checker, v: not isinstance(v, bool) and isinstance(v, (int, D))
    base = jsonschema.Draft202012Validator
    checker = base.TYPE_CHECKER.redefine("integer", whole).redefine("number", number)
    made = jsonschema.validators.extend(base, type_checker=checker)
    for schema in schemas:
        base.check_schema(schema)
    return [made(schema) for schema in schemas]


def read(text):
    return json.loads(text, parse_float=D)


def null_item(value):
    """Whether some list holds a null, of which a struct says nothing."""
    if isinstance(value, Pairs):
        return any(null_item(v) for _, v in value)
    return isinstance(value, list) and (None in value or any(null_item(v) for v in value))


def fits(judge, value, text):
    """Whether a struct, written as JSON, fits the schema."""
    if null_item(value):
        return True
    try:
        return judge.is_valid(read(text))
    except ValueError:
        return False


def main():
    try:
        import jsonschema
    except ImportError:
        print("shapes_agree: SKIPPED, because python3-jsonschema is not installed")
        print("shapes_agree: 0 passed, 0 failed, 1 skipped")
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    check = Checks("shapes_agree")
    maker = Maker(SHAPES)
    built = {}
    for name, (compiler, runner, sample) in BUILDS.items():
        program = OUT / re.sub(r"\W+", "_", name)
        chip = name == "AVR"
        if not has(compiler, [] if chip else runner) or chip and not mcp_uno.build(OUT):
            check.skip(name, "it is not installed")
            continue
        nodes = [n for n in maker.shapes if not chip or small(n) and bytes_of(n) < 1000]
        if check(build(compiler, maker, nodes, program), f"{name} does not compile"):
            built[name] = [*runner, program], nodes, sample
    if not built:
        return check.end()
    first = next(iter(built))
    texts, _ = talk(built[first][0], [f"{i}?" for i in range(SHAPES)])
    judges = validators([read(t) for t in texts])

    values = []
    for i in range(CALLS):
        shape = i % SHAPES
        values.append((shape, object_for(maker.shapes[shape], dice.choice([0, 0, 0, 0.1, 0.3]))))
    lines = [f"{shape} {emit(value)}" for shape, value in values]
    answers, _ = talk(built[first][0], lines)
    for name, (command, nodes, sample) in list(built.items())[1:]:
        some = [i for i, (shape, _) in enumerate(values) if maker.shapes[shape] in nodes]
        some = some[:sample or None]
        said, faults = talk(command, [lines[i] for i in some])
        wrong = [f"{lines[i]}\n  {mine}\n  {answers[i]}"
                 for i, mine in zip(some, said) if mine != answers[i]]
        if "runtime error" in faults:
            wrong.append(faults)
        print(f"shapes_agree: {name}: {len(nodes)} shapes, {len(some)} calls")
        check(not wrong, f"{name} answers otherwise than {first}\n  " + "".join(wrong[:1]))
    counts = dict(accepted=0, refused=0, room=0, differences=0)
    for (shape, value), line, answer in zip(values, lines, answers):
        code, _, rest = answer.partition("\t")
        instance = read(line.partition(" ")[2])
        valid = judges[shape].is_valid(instance) and not twice(maker.shapes[shape], value)
        over = over_room(maker.shapes[shape], value)
        wrong = None
        if code not in ("ok", "invalid"):
            wrong = "is no JSON to the decoder"
        elif code == "ok" and not valid:
            wrong = "is accepted, but should not be"
        elif code == "ok" and over:
            wrong = "is accepted, though it is over its room"
        elif code == "invalid" and valid and not over:
            wrong = "is refused, but should not be"
        elif code == "ok" and not fits(judges[shape], value, rest):
            wrong = "was made a struct that does not fit"
        elif code == "invalid" and valid and not re.search(r"(^|\| )(room|minimum|maximum) ", rest):
            wrong = "is over its room, but refused for something else"
        counts["accepted" if code == "ok" else "room" if valid else "refused"] += 1
        counts["differences"] += bool(wrong)
        check(not wrong, f"{wrong}\n  {texts[shape]}\n  {line}\n  {answer}")
    print(f"shapes_agree: {SHAPES} shapes, {CALLS} calls: " +
          ", ".join(f"{n} {what}" for what, n in counts.items()))
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
