#!/usr/bin/env python3
"""How many instructions a call takes, beside the same flow with cJSON.

The flow: the answer of an OpenAI-compatible server is read, the call in it is
found, its arguments are parsed and checked, the tool runs, the message with
its result is written. bench_cjson.c checks three fields by hand, bench_ours.c
checks all of the tool's schema. Both must write the same message. Both are
built with -O2 and with -Os; flow.py does the same for four providers, and on
a Cortex-M4. Where an aim is missed that is printed, and it fails when the ratio
is 3 % above the one in HELD.

Instructions are counted by callgrind: they do not depend on what else the
machine does. The workload is made here; where the project's shared data is at
hand its documents are measured too. Last come what grows: arguments from 1 KB
to 1 MB and 10 to 10,000 keys, in any order, and registries of 10 to 10,000
tools, where the cost of a byte or a tool must stay the same; and the cost of
the stages of a call, beside that of the function that it runs.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import re
import sys

import machines
import ratchet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import Checks  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
OUT = ROOT / "build" / "bench"
DATA = ROOT.parent / "shared" / "data" / "perf"

LEVELS = {"-O2": 0.55, "-Os": 0.65}  # ours / cJSON, built alike: the aims
# Where an aim is missed: the ratio measured last. It may not get worse.
HELD = {"-O2": {"weather": 0.594, "reminder": 0.729, "invoice": 0.759,
                "data: reminder": 0.656, "data: invoice": 0.759},
        "-Os": {"weather": 0.658, "reminder": 0.823, "invoice": 0.857, "data: reminder": 0.737,
                "data: invoice": 0.863}}
WORSE = 1.03  # what compilers differ by
GROWTH_BAR = 1.5   # dearest / cheapest byte or tool, where there are many
GROWTH_FROM = 10000  # bytes of arguments from which that is held
TOOLS_FROM = 1000
# tcall_invoke beyond the function: that the call may run, has time left and is
# asked for once is looked at before each attempt.
STAGES_BAR = 1400 # without hooks
HOOKS_BAR = 7700  # and with one hook at each stage
AGAIN_BAR = 1.5  # sending in pieces of 512 bytes / all at once


# ---------------------------------------------------------------- workload

def text(*limits):
    schema = {"type": "string"}
    schema.update(zip(("minLength", "maxLength"), limits))
    return schema


def whole(low, high):
    return {"type": "integer", "minimum": low, "maximum": high}


def choice(*names):
    return {"type": "string", "enum": list(names)}


def record(required, **properties):
    return {"type": "object", "properties": properties,
            "required": required.split(), "additionalProperties": False}


WEATHER = record("city", city=text(1), days=whole(1, 7),
                 unit=choice("celsius", "fahrenheit", "kelvin"))
REMINDER = record(
    "title when", title=text(1, 80), tz=text(),
    when=record("date time", date=text(10, 10), time=text(5, 5), tz=text()),
    priority=choice("low", "normal", "high"),
    tags={"type": "array", "items": text(0, 16), "maxItems": 8},
    repeat=record("every unit", every=whole(1, 99),
                  unit=choice("day", "week", "month")),
    notify={"type": "boolean"}, lead_minutes=whole(0, 1440))
INVOICE = record(
    "invoice_id currency customer lines", invoice_id=text(14, 14),
    currency=choice("EUR", "USD", "GBP"),
    customer=record("name", name=text(),
                    vat={"type": ["string", "null"]},
                    address=record("city", street=text(), city=text(),
                                   zip=text(5, 5))),
    lines={"type": "array", "minItems": 1, "maxItems": 100, "items": record(
        "sku qty unit_price", sku=text(10, 10), desc=text(0, 80),
        qty={"type": "integer", "minimum": 1},
        unit_price={"type": "number", "minimum": 0},
        tax={"type": "number", "minimum": 0, "maximum": 1},
        category=choice("goods", "service", "shipping"),
        taxable={"type": "boolean"})},
    notes=text(0, 500), due_days=whole(0, 365), send={"type": "boolean"})

OSLO = {"city": "Oslo", "unit": "celsius", "days": 3}
CALL_MUM = {
    "title": "Call mum on her day", "tags": ["family", "phone"],
    "when": {"date": "2026-12-24", "time": "17:30", "tz": "Europe/Oslo"},
    "priority": "high", "repeat": {"every": 1, "unit": "week"},
    "notify": True, "lead_minutes": 30}
BILL = {
    "invoice_id": "INV-2026-00042", "currency": "EUR", "customer": {
        "name": "Müller & Sons", "vat": None, "address": {
            "street": "12 Harbour Road", "city": "Bergen", "zip": "50031"}},
    "lines": [{"sku": f"SKU-{i:06}", "desc": "part number %d of the set" % i,
               "qty": i % 9 + 1, "unit_price": 10.25 * i + 0.5, "tax": 0.25,
               "category": ("goods", "service", "shipping")[i % 3],
               "taxable": i % 2 == 0} for i in range(24)],
    "notes": "Please pay \"soon\".\nThank you!", "due_days": 30, "send": True}


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def answer(name, arguments, content=None):
    """An answer with one call, as such servers write it."""
    return compact({
        "id": "chatcmpl-7f0c2b9d4e81a6355", "object": "chat.completion",
        "created": 1790000000, "model": "bench-1", "choices": [{
            "index": 0, "message": {
                "role": "assistant", "content": content, "refusal": None,
                "annotations": [], "tool_calls": [{
                    "id": "call_5tGxQv0a8ZkM2RwYc1Lb", "type": "function",
                    "function": {"name": name, "arguments": arguments}}]},
            "logprobs": None, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 390, "completion_tokens": 61,
                  "total_tokens": 451,
                  "prompt_tokens_details": {"cached_tokens": 0}},
        "service_tier": "default", "system_fingerprint": "fp_0123456789"})


def flows():
    """(title, tool, answer, schema) of each flow that cJSON does too."""
    prose = "Let me write that invoice for you, one line after the other. "
    for title, tool, arguments, schema, content in [
            ("weather", "get_weather", OSLO, WEATHER, None),
            ("reminder", "create_reminder", CALL_MUM, REMINDER, None),
            ("invoice", "create_invoice", BILL, INVOICE, prose * 40)]:
        yield title, tool, answer(tool, compact(arguments), content), schema
    if not DATA.is_dir():
        print(f"{DATA} is absent: its documents were SKIPPED")
        return
    for title, tool, file, doc in [
            ("data: weather", "get_weather", "r_openai_1call_weather", "d1"),
            ("data: reminder", "create_reminder", "r_openai_1call", "d2"),
            ("data: invoice", "create_invoice", "r_openai_8k", "d4")]:
        yield (title, tool, (DATA / f"{file}.json").read_text(),
               json.loads((DATA / f"{doc}.schema.json").read_text()))


def series():
    """(title, [(label, arguments, schema)]) of growing arguments."""
    anything = {"type": "object", "additionalProperties": {"type": "integer"}}
    yield "keys of one object", [
        (f"{n} keys", compact({f"k{i:05}": i % 10 for i in range(n)}),
         anything) for n in KEYS]
    for order in ("in order", "reversed", "shuffled"):
        points = []
        for n in KEYS:
            keys = [f"k{i:05}" for i in range(n)]
            schema = record(" ".join(keys), **{k: {"type": "integer"}
                                               for k in keys})
            if order == "reversed":
                keys.reverse()
            elif order == "shuffled":
                random.Random(n).shuffle(keys)
            points.append((f"{n} properties", compact(dict.fromkeys(keys, 7)),
                           schema))
        yield f"properties, {order}", points
    row = {"sku": "SKU-000017", "qty": 3, "unit_price": 12.5, "note": "abc"}
    rows = record("lines", lines={"type": "array", "items": record(
        "sku qty", sku=text(10, 10), qty=whole(1, 9),
        unit_price={"type": "number", "minimum": 0}, note=text(0, 20))})
    size = len(compact(row)) + 1
    yield "bytes, many small values", [
        (label, compact({"lines": [row] * (n // size)}), rows)
        for label, n in SIZES]
    yield "bytes, one long string", [
        (label, compact({"text": "line of text\n" * (n // 14)}),
         record("text", text=text())) for label, n in SIZES]


KEYS = [10, 100, 1000, 3000, 10000]
SIZES = [("1 KB", 1 << 10), ("10 KB", 10 << 10), ("32 KB", 32 << 10),
         ("100 KB", 100 << 10), ("320 KB", 320 << 10), ("1 MB", 1 << 20)]


# ------------------------------------------------------------- measurement

@functools.cache
def build(name, level, *more):
    """The program of a source, compiled once."""
    make = machines.build if name == "bench_cjson" else machines.ours
    return make(False, OUT / f"{name}{level}", level, HERE / f"{name}.c", *more)


def with_cjson():
    """How to build with cJSON: its source, built as ours is; the library of
    the system where there is none."""
    source = machines.cjson()
    if not source:
        print("cJSON's source is not to be had: its library is not built alike")
        return ["-lcjson"]
    (OUT / "include").mkdir(parents=True, exist_ok=True)
    if not (OUT / "include" / "cjson").exists():
        (OUT / "include" / "cjson").symlink_to(source)
    return [f"-I{OUT}/include", f"{source}/cJSON.c", "-lm"]


def beside(title, where, a, b, aim, held, check):
    """Prints a row, ours beside cJSON's; held is what a missed aim was."""
    bar = max(aim, held * WORSE)
    missed = f"   MISSED by {a / b - aim:.2f}" if a > aim * b else ""
    print(f"  {title:26}{a:12,}{b:12,}{a / b:8.2f}{missed}")
    ratchet.hold(check, "instructions", a <= bar * b,
                 f"{title}, {where}: {a / b:.3f} of cJSON's, held at {bar:.3f}")


class Case:
    def __init__(self, pool, ours, title, tool, body, schema):
        stem = re.sub(r"\W+", "_", f"{ours.name} {title}")
        self.answer = OUT / f"{stem}.answer.json"
        self.answer.write_text(body)
        schema_file = OUT / f"{stem}.schema.json"
        schema_file.write_text(compact(schema))
        self.result = pool.submit(machines.on_host, ours, self.answer, tool, schema_file)


def beside_cjson(pool, check):
    rows, more = [], with_cjson()
    for level, aim in LEVELS.items():
        ours = build("bench_ours", level)
        theirs = build("bench_cjson", level, *more)
        rows += [(level, aim, title, case, pool.submit(
            machines.on_host, theirs, case.answer)) for title, case in
                 [(title, Case(pool, ours, title, *rest))
                  for title, *rest in flows()]]
    shown = None
    for level, aim, title, case, other in rows:
        if level != shown:
            shown = level
            print(f"{f'instructions, {level}':28}{'toolcall':>12}{'cJSON':>12}"
                  f"{'ratio':>8}   (aim {aim})")
        (a, said), (b, expected) = case.result.result(), other.result()
        if a is None or b is None or said != expected:
            check(False, f"{title}: {said!r} instead of {expected!r}")
            continue
        beside(title, level, a, b, aim, HELD[level].get(title, 0), check)


def growth(pool, check):
    todo = []
    for level in LEVELS:
        ours, init = build("bench_ours", level), build("bench_init", level)
        for title, points in series():
            todo.append((f"{title}, {level}", "byte", GROWTH_FROM, [
                (label, len(arguments.encode()), Case(
                    pool, ours, f"{title} {label}", "bulk",
                    answer("bulk", arguments), schema).result)
                for label, arguments, schema in points]))
        todo.append((f"tcall_init, {level}", "tool", TOOLS_FROM, [
            (f"{n} tools", n, pool.submit(machines.on_host, init, str(n)))
            for n in (10, 100, 1000, 3000, 10000)]))
    for title, unit, least, points in todo:
        print(f"\n{title:34}{unit + 's':>12}{'toolcall':>16}{'a ' + unit:>10}")
        costs = []
        for label, size, result in points:
            n, said = result.result()
            if n is None:
                check(False, f"{title}, {label}: {said}")
                continue
            print(f"  {label:32}{size:12,}{n:16,}{n / size:10.1f}")
            if size >= least:
                costs.append(n / size)
        spread = max(costs) / min(costs) if len(costs) > 1 else 0
        check(0 < spread <= GROWTH_BAR,
             f"{title}: a {unit} costs {spread:.2f} times as much")


def stages(check):
    for level in LEVELS:
        program = build("bench_invoke", level)
        print(f"\na checked call, to its result, {level}")
        costs = {}
        for way, title in [("direct", "the C function"),
                           ("stages", "tcall_invoke, no hooks"),
                           ("hooks", "a hook at every stage")]:
            costs[way], said = machines.on_host(program, way)
            check(costs[way] and said == "done\n", f"{title}: {said}")
            print(f"  {title:26}{costs[way] or 0:12,}")
        if None in costs.values():
            continue
        for way, bar in [("stages", STAGES_BAR), ("hooks", HOOKS_BAR)]:
            ratchet.hold(check, "instructions", costs[way] < costs["direct"] + bar,
                         f"{way}, {level}: over {bar} instructions beyond the function")


def pauses(check):
    """A registry and its first request, where the transport takes 512 bytes
    at a time."""
    for level in LEVELS:
        program = build("bench_again", level)
        print(f"\n{f'instructions, {level}':28}{'blocking':>12}"
              f"{'pausing':>12}{'ratio':>8}   (<= {AGAIN_BAR})")
        for tools in ["10", "60", "240"]:
            (all_at_once, said), (pausing, again) = (
                machines.on_host(program, way, tools) for way in ("blocking", "pausing"))
            good = all_at_once and pausing and said == again
            ratio = pausing / all_at_once if good else 0
            print(f"  {tools + ' tools':26}{all_at_once or 0:12,}"
                  f"{pausing or 0:12,}{ratio:8.2f}")
            check(good, f"{tools} tools, {level}: {again}")
            ratchet.hold(check, "pauses", ratio <= AGAIN_BAR,
                         f"{tools} tools, {level}: pauses cost {ratio:.2f}")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    check = Checks("bench")
    import flow  # which counts as this file does
    (OUT / "figures.md").unlink(missing_ok=True)
    table = flow.flows(pool, check)
    if table:
        (OUT / "figures.md").write_text(table)
    beside_cjson(pool, check)
    growth(pool, check)
    stages(check)
    pauses(check)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
