#!/usr/bin/env python3
"""tests/shapes_agree.py [CALLS [SHAPES]]: shapes mean what their schemas say.

Makes SHAPES (60) random shapes as lists in C, of all kinds and roles, and
compiles one program that holds them. The program writes the JSON Schema of
each; python3-jsonschema judges CALLS (6,000) calls by that schema, numbers
read as exact decimals, and the program must give the same verdict: near the
bounds, with long decimals and exponents, in any order of members, with members
that are missing, unknown or there twice.

What a shape has room for is no matter of the schema: a call that JSON Schema
accepts may be refused for it (an integer for its 32 or 64 bits), only where a
value is over its room, and then it must be. The struct of each call that is accepted, written as JSON, fits the
schema again. Builds for 32 bits and for s390x, which is big-endian and runs
under qemu-user, must answer the same bytes.
"""
import decimal
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "shapes_agree"
CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 6000
SHAPES = int(sys.argv[2]) if len(sys.argv) > 2 else 60
BUILDS = {
    "gcc -O2": (["gcc", "-O2"], []),
    "gcc -m32": (["gcc", "-m32", "-Os"], []),
    "clang": (["clang", "-O1", "-fsanitize=address,undefined"], []),
    "s390x": (["s390x-linux-gnu-gcc", "-O2", "-static"], ["qemu-s390x"]),
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

    def __init__(self):
        self.count, self.lines = 0, []

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
        low = dice.choice([0, 0, 1])
        high = low + dice.randint(2, 8)
        return Node("text", f"text({low}, {high})", low=low, high=high, room=high,
                    default_c=quote("x" * max(low, 1)))

    def make_characters(self, depth):
        low = dice.choice([0, 1, 3])
        high = low + dice.randint(1, 6)
        return Node("text", f"characters({low}, {high})", low=low, high=high, room=4 * high,
                    default_c=quote("y" * max(low, 1)))

    def make_string(self, depth):
        low, room = dice.choice([0, 1, 2]), dice.randint(4, 12)
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


PROGRAM = """#include <stdio.h>
#include <float.h>
#include <limits.h>
#define TOOLCALL_MAX_FAULTS 4
#include "src/shape_text.c"
%s
static const tcall_object *const shapes[] = {%s};
static char line[70000], text[200000];
static union { uint64_t align; char bytes[200000]; } args;

int main(int argc, char **argv)
{
    size_t i, count = sizeof shapes / sizeof *shapes;
    tcall_writer writer;
    (void)argv;
    for (i = 0; argc > 1 && i < count; i++) {
        tcall_writer_init(&writer, text, sizeof text);
        tcall_write_shape(&writer, shapes[i]);
        printf("%%.*s\\n", (int)writer.fill, text);
    }
    while (argc == 1 && fgets(line, sizeof line, stdin)) {
        tcall_decoder decoder;
        char *json, *end = line + strlen(line) - 1;
        unsigned long shape = strtoul(line, &json, 10);
        int error, size, at = 0;
        unsigned step = 0;
        memset(args.bytes, 0xA5, shapes[shape]->size); /* whatever was there */
        tcall_decoder_init(&decoder, shapes[shape], args.bytes);
        size = (int)(end - ++json); /* in pieces of many lengths */
        for (; at < size; step++) {
            int piece = (int)(step %% 7 * step %% 11) + 1;
            if (piece > size - at)
                piece = size - at;
            tcall_decoder_feed(&decoder, json + at, (size_t)piece);
            at += piece;
        }
        error = tcall_decoder_end(&decoder);
        tcall_writer_init(&writer, text, sizeof text);
        if (error == TCALL_OK)
            tcall_write_struct(&writer, shapes[shape], args.bytes);
        for (i = 0; error < 0 && i < decoder.misfit_count && i < 4; i++) {
            tcall_write_text(&writer, i ? " | " : "");
            tcall_write_flash(&writer, tcall_misfit_keyword_(&decoder.misfits[i]));
            tcall_write_text(&writer, " ");
            tcall_write_misfit(&writer, &decoder.misfits[i], shapes[shape], 0);
        }
        printf("%%s\\t%%.*s\\n", error < 0 ? tcall_error_code(error) : "ok",
               (int)writer.fill, text);
    }
    return 0;
}
"""

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
    maker = Maker()
    nodes = [maker.object(0) for _ in range(SHAPES)]
    (OUT / "agree.c").write_text(PROGRAM % (
        "\n".join(maker.lines), ", ".join(f"&{n.me}_shape" for n in nodes)))
    passed = failed = skipped = 0
    built = {}
    for name, (command, runner) in BUILDS.items():
        program = OUT / re.sub(r"\W+", "_", name)
        if not all(shutil.which(c[0]) for c in (command, runner) if c):
            print(f"shapes_agree: SKIPPED {name}, which is not installed")
            skipped += 1
            continue
        done = subprocess.run([*command, "-std=c99", "-w", "-I.", "-include", "stdlib.h",
                               "-o", program, OUT / "agree.c"], cwd=ROOT,
                              capture_output=True, text=True)
        if done.returncode:
            print(f"FAILED {name} does not compile\n{done.stderr[:2000]}")
            failed += 1
            continue
        built[name] = [*runner, str(program)]
    if not built:
        print(f"shapes_agree: {passed} passed, {failed + 1} failed, {skipped} skipped")
        return 1
    first = next(iter(built))
    texts = subprocess.run([*built[first], "schemas"], capture_output=True,
                           text=True).stdout.splitlines()
    schemas = [read(t) for t in texts]
    judges = validators(schemas)

    values = []
    for i in range(CALLS):
        shape = i % SHAPES
        values.append((shape, object_for(nodes[shape], dice.choice([0, 0, 0, 0.1, 0.3]))))
    lines = [f"{shape} {emit(value)}" for shape, value in values]
    sent = "\n".join(lines) + "\n"
    answers = {}
    for name, command in built.items():
        done = subprocess.run(command, input=sent.encode(), capture_output=True)
        answers[name] = done.stdout.decode().splitlines()
        if name != first and answers[name] != answers[first] or done.returncode:
            failed += 1
            at = next((i for i, (a, b) in enumerate(zip(answers[name], answers[first]))
                       if a != b), -1)
            print(f"FAILED {name} answers otherwise than {first}\n  {lines[at]}\n"
                  f"  {answers[name][at:at + 1]}\n  {answers[first][at:at + 1]}\n"
                  f"  {done.stderr.decode()[:500]}")
        else:
            passed += 1
    counts = dict(accepted=0, refused=0, room=0, differences=0)
    for (shape, value), line, answer in zip(values, lines, answers[first]):
        code, _, rest = answer.partition("\t")
        instance = read(line.partition(" ")[2])
        valid = judges[shape].is_valid(instance) and not twice(nodes[shape], value)
        over = over_room(nodes[shape], value)
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
        elif code == "invalid" and valid and not re.search(r"(^|\| )(room|maxLength|minimum|maximum) ", rest):
            wrong = "is over its room, but refused for something else"
        counts["accepted" if code == "ok" else "room" if valid else "refused"] += 1
        if wrong:
            counts["differences"] += 1
            if counts["differences"] <= 10:
                print(f"DIFFERENT: {wrong}\n  {texts[shape]}\n  {line}\n  {answer}")
        else:
            passed += 1
    failed += counts["differences"]
    print(f"shapes_agree: {SHAPES} shapes, {CALLS} calls: " +
          ", ".join(f"{n} {what}" for what, n in counts.items()))
    print(f"shapes_agree: {passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


sys.exit(main())
