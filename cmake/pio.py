"""Run by PlatformIO (library.json). Lets jsmn make the tokens, in the project's
sources, unless its platformio.ini says custom_toolcall_jsmn = no; and stops
where build_flags name a TOOLCALL_... that toolcall.h does not know: the
compiler would ignore it."""
import difflib
import os
import re
import sys

JSMN = ["TOOLCALL_JSMN", "JSMN_STATIC", "JSMN_STRICT", "JSMN_PARENT_LINKS"]

try:
    Import("env", "projenv")  # noqa: F821, of PlatformIO
    if env.GetProjectOption("custom_toolcall_jsmn", "yes") != "no":
        projenv.AppendUnique(CPPDEFINES=JSMN)  # noqa: F821
except NameError:
    env = {"CPPDEFINES": [], "BUILD_FLAGS": sys.argv[1:]}


def known():
    # PlatformIO runs this where it lies, others in the root.
    header = "toolcall.h" if os.path.exists("toolcall.h") else "../toolcall.h"
    with open(header, encoding="utf-8") as text:
        lines = re.findall(r"^#\s*(?:el)?if(?:.*\\\n)*.*", text.read(), re.M)
    return sorted(set(re.findall(r"TOOLCALL_\w+", "\n".join(lines))))


def defined():
    for name in env.get("CPPDEFINES", []):
        yield name[0] if isinstance(name, (list, tuple)) else str(name)
    flags = env.get("BUILD_FLAGS", [])
    for name in re.findall(r"-D\s*(\w+)", " ".join(map(str, flags))):
        yield name


names = known()
for name in defined():
    if name.startswith("TOOLCALL_") and name not in names:
        near = difflib.get_close_matches(name, names, 1, 0)
        sys.exit(f"toolcall.h knows no {name}: did you mean {near[0]}?")
