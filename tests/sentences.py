#!/usr/bin/env python3
"""tests/sentences.py [--keep]: what a model or an author reads, letter by
letter.

tests/sentences/VERB.jsonl holds rows {"ask","says"}: what build/probe VERB is
asked, and its answer. schema: each keyword of JSON Schema and each schema that
is refused; args: coercions; call: results of calls, and tools that are refused
("calls" of "tools"); told: arguments of shapes, by the bare decoder and by a
call. Each row that differs is printed; --keep writes the answers into the
files, for git to show what changed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROBE = ROOT / os.environ.get("BUILD", "build") / "probe"
ROWS = ROOT / "tests" / "sentences"
check = Checks("sentences")
check.SHOWN = 1000


def answers(lines, *verb):
    """What the probe answers to lines."""
    done = subprocess.run([PROBE, *verb], input="".join(line + "\n" for line in lines),
                          capture_output=True, text=True, encoding="utf-8")
    said = done.stdout.split("\n")[:-1]
    if done.returncode or len(said) != len(lines):
        sys.exit(f"probe {verb[0]}: {len(said)} answers to {len(lines)} lines; {done.stderr}")
    return said


def calls(ask):
    """What calls of a table of tools answer, as one JSON array."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(ask["tools"], file)
        file.flush()
        lines = [json.dumps(call) for call in ask["calls"]]
        return "[" + ",".join(answers(lines, "call", file.name)) + "]"


def shows(text):
    """A difference as a reader wants it: one sentence a line."""
    return re.sub(r'(?<=[}\]"]),(?=[{"])', ",\n      ", text)


for path in sorted(ROWS.glob("*.jsonl")):
    rows = path.read_text(encoding="utf-8").splitlines()
    # the asked text as it stands: numbers keep their spelling
    asked = [re.fullmatch(r'\{"ask":(.*?)(?:,"says":(.*))?\}', row).groups() for row in rows]
    if path.stem == "call":
        said = [calls(json.loads(ask)) for ask, _ in asked]
    else:
        said = answers([ask for ask, _ in asked], path.stem)
    for (ask, want), got in zip(asked, said):
        check(got == want, f"{path.stem}: {ask}\n  says\n      {shows(got)}\n  not\n      {shows(want or '')}")
    if "--keep" in sys.argv:
        path.write_text("".join(f'{{"ask":{ask},"says":{got}}}\n' for (ask, _), got in zip(asked, said)),
                        encoding="utf-8")
sys.exit(check.end())
