"""The library and its tests, for what measures the tests: tests/measure/coverage.py
and tests/measure/mutants.py.

All chapters are one source file that includes src/NAME.c one after the other, so
that compiler and gcov name lines as we do. Each test of the library alone is
linked with that object, as in tests/matrix.
"""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.chdir(ROOT)
BUILD = "build/coverage"
FLAGS = ["-std=c99", "-I.", "-DTOOLCALL_JSMN", "-DJSMN_STATIC", "-DJSMN_STRICT",
         "-DJSMN_PARENT_LINKS"]

# What a call goes through, from a provider's answer to its result.
CHAPTERS = ["chat", "call", "records", "invoke", "hooks",
            "agent", "agent_loop", "save"]

# Random turns reach lines by chance and check few of them; tools/ and port/ have
# tests of their own; numbers take long and are no call.
WITHOUT = ("test_fuzz", "test_numbers", "test_port", "test_tools", "test_agent_e2e", "test_lint",
           "test_trace")


def order():
    """The chapters that have code, bottom-up."""
    names = [line.split("#")[0].strip() for line in open("src/order")]
    return [name for name in names if name and os.path.exists(f"src/{name}.c")]


def source(folder):
    """Writes all chapters as one file of includes and returns its path."""
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/library.c"
    with open(path, "w") as file:
        file.writelines(f'#include "src/{name}.c"\n' for name in order())
    return path


def tests():
    """The names of the tests that are run."""
    names = [name[:-2] for name in sorted(os.listdir("tests"))
             if name.startswith("test_") and name.endswith(".c")]
    return [name for name in names if not name.startswith(WITHOUT)]


def link(library, folder, *flags):
    """Builds the tests in `folder`, linked with `library`; returns their paths."""
    programs = [f"{folder}/{name}" for name in tests()]
    subprocess.run(["make", "-s", "-j2", f"BUILD={folder}", f"LIBRARY={library}",
                    f"impl={library}", "CFLAGS=-O0", *flags, *programs], check=True)
    return programs
