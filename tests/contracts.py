#!/usr/bin/env python3
"""contracts.py: every public name has a contract, and the reference has it.

Functions that return int say what, a number or errors; those that write do so
once, at the beginning of their chapter. What points somewhere says whose that is
or how long it is valid; what takes a number says what is counted. The names are looked for
here in toolcall.h's declarations, in another way than src/reference does it.
"""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys

from checks import Checks

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = os.path.join(ROOT, "src", "reference")
SAYS = re.compile(r"return|TCALL_OK|TCALL_E_|error|number|offset|index|length|how many|count|"
                  r"bytes|whether|-1|compare", re.I)
OWNER = re.compile(r"valid|yours|caller|stays?\b|own|until|static|as long as|lives?\b|cop(?:y|ies|ied)|"
                   r"kept|keeps|released?|the block|given back|memory|NULL", re.I)
UNIT = re.compile(r"bytes?|characters?|\bms\b|thousandths|tokens|seconds|digits|percent|how many|"
                  r"count|number|size|place", re.I)
FUNCTION = re.compile(r"^(?:TCALL_API|static inline) ([^;()]*?[\s*])(tcall_\w+)\(([^;{]*?)\)", re.M)

check = Checks("contracts")


def load(path):
    """src/reference as a module."""
    loader = importlib.machinery.SourceFileLoader("reference", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("reference", loader))
    loader.exec_module(module)
    return module


def declared():
    """The public functions, types and macros of toolcall.h."""
    header = subprocess.run([os.path.join(ROOT, "src", "join")], check=True,
                            capture_output=True, text=True).stdout
    text = header[header.index("#define TOOLCALL_H"):header.index("#endif /* TOOLCALL_H */")]
    text = re.sub(r"/\*.*?\*/", "", text[text.index("\n"):], flags=re.S).replace("\\\n", " ")
    macros = re.findall(r"^#\s*define (\w+)", text, re.M)
    code = re.sub(r"^#.*$", "", text, flags=re.M)
    code = re.sub(r"\b(struct|enum|union)\s+\w+\s*;", "", code)
    # Bodies are of no interest: from the inside out they become nothing.
    while re.search(r"\{[^{}]*\}", code):
        code = re.sub(r"\{[^{}]*\}", " ", code)
    functions = re.findall(r"\b(tcall_\w+)\([^;]*?\)\s*(?:;|\n\n|\n(?=static))", code)
    types = re.findall(r"typedef [^;()]*?\b(\w+)\s*;|typedef [^;]*?\(\*(\w+)\)", code)
    return set(macros) | set(functions) | {a or b for a, b in types}


def public(name, reference):
    return re.match("tcall_|TCALL_|TOOLCALL_", name) and not reference.INNER.search(name)


reference = load(PATH)
known = set()
for chapter in reference.chapters():
    found = reference.entries(reference.read(chapter))
    check(len(found[0].contract.split()) > 1, f"{chapter} has a title")
    for entry in found:
        known.update(entry.names())
        for name in entry.names():
            check(len(entry.contract.split()) > 2, f"{name} ({chapter}) has a contract")
        for name in re.findall(r"^(?:TCALL_API|static inline) int (tcall_\w+)\(", entry.code, re.M):
            if public(name, reference):
                check(name.startswith("tcall_write_") or SAYS.search(entry.contract),
                      f"{name} ({chapter}) says what it returns")
        for returns, name, takes in FUNCTION.findall(entry.code):
            if not public(name, reference):
                continue
            if re.search(r"\*$|tcall_str$|tcall_json$", returns.strip()):
                check(OWNER.search(entry.contract), f"{name} ({chapter}) says whose its result is")
            if re.search(r"\b(?:size_t|u?int32_t|long) \w", takes):
                check(UNIT.search(entry.contract) or re.search(r"_?ms\b", takes),
                      f"{name} ({chapter}) says what is counted")
for name in sorted(declared()):
    if public(name, reference):
        check(name in known, f"{name} of toolcall.h is in the reference")

# What has no contract is found.
bare = "/* =====\n * >>x: y\n */\n\n/* Why. */\nTCALL_API int tcall_a(void);\n\nTCALL_API int tcall_b(void);\n"
last = reference.entries(bare)[-1]
check(last.names() == ["tcall_b"] and not last.contract, "a function without a contract is found")

page = subprocess.run([PATH], check=True, capture_output=True, text=True).stdout
places = re.findall(r'id="(\w+)"', page)
check(len(places) == len(set(places)), "a place of the page is there once")
for name in sorted(set(re.findall(r'href="#(\w+)"', page)) | known):
    check(name in places, f"the page has {name}")
check(not re.search(r"(?:src|href)=\"?(?!\"?#)", page), "the page needs no other file")
sys.exit(check.end())
