#!/usr/bin/env python3
"""What the registries of ESP-IDF, PlatformIO, Arduino and Zephyr demand of a
package, rule by rule, and what each package would hold. Names such as LP019 are
those of arduino-lint. python3-kconfiglib, where it is there, reads our Kconfig
files as the builds do."""
import copy
import fnmatch
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

# Where Debian's packages are, whichever Python this is.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import yaml
except ImportError:
    sys.exit(print("manifests: no python3-yaml\nmanifests: 0 passed, 0 failed, 1 skipped"))

ROOT = Path(__file__).resolve().parents[1]
SEMVER = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
URL = r"https://[\w.-]+(/[\w./~-]*)?"
MAIL = r"[\w.+-]+@[\w-]+(\.[\w-]+)+"
MADE = ROOT / "build" / "manifests"
passed = failed = skipped = 0
quiet = False


def rule(name, good, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not quiet:
        print("ok    " if good else "FAILED", name, "" if good else f"  ({why})" if why else "")


def skip(name, why):
    global skipped
    skipped += 1
    print("skip  ", name, f"  ({why})")


def whole(pattern, text):
    return isinstance(text, str) and re.fullmatch(pattern, text)


def exist(names, folder=ROOT):
    return [name for name in names if not (folder / name).exists()]


@functools.lru_cache(None)
def tracked():
    """The files of the repository, without folders."""
    out = subprocess.check_output(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                                  text=True)
    return [name for name in out.split("\n") if name and (ROOT / name).is_file()]


# What the packages of three registries have to hold, and what none may.
NEEDED = ["LICENSE", "README.md", "CHANGELOG.md"]
LIMIT = 1536 * 1024


def package(registry, files, needed, folder=ROOT):
    """Judges the files of a package."""
    size = sum((folder / name).stat().st_size for name in files)
    if not quiet:
        print(f"      {registry}: {len(files)} files, {size // 1024} KB")
    missing = sorted(set(NEEDED + needed) - set(files))
    rule(f"{registry}: the package holds what its build names", not missing, missing)
    extra = [name for name in files if name.startswith((".", "tests/", "build/"))]
    rule(f"{registry}: ... and no tests, builds or hidden files", not extra, extra[:5])
    rule(f"{registry}: ... and no more than {LIMIT // 1024} KB", size <= LIMIT, size)
    links = [name for name in files if (folder / name).is_symlink()]
    rule(f"{registry}: ... and no symbolic links (LS005)", not links, links)


# -- All of them ---------------------------------------------------------------

def common(esp, pio, arduino):
    text = (ROOT / "toolcall.h").read_text()
    header = re.search(r'define TOOLCALL_VERSION "(.*)"', text)[1]
    number = int(re.search(r"define TOOLCALL_VERSION_NUMBER (\d+)", text)[1])
    parts = [int(part) for part in header.split(".")]
    rule("the header's version as a number", number ==
         parts[0] * 10000 + parts[1] * 100 + parts[2], number)
    versions = {esp["version"], pio["version"], arduino["version"]}
    rule("all have the version of the header", versions == {header}, versions)
    homes = {esp["url"], pio["homepage"], arduino["url"]}
    rule("all name one home", len(homes) == 1, homes)
    people = {*esp["maintainers"], arduino["maintainer"],
              *(f"{a['name']} <{a['email']}>" for a in pio["authors"])}
    rule("all name the same maintainers", len(people) == 1, people)
    rule("all have the licence of the repository",
         {esp["license"], pio["license"], "MIT"} == {"MIT"}
         and (ROOT / "LICENSE").read_text().startswith("MIT License"))
    if any(".example" in home for home in homes):
        skip("the home is a public address", "it has none yet: put it in the three manifests")


# -- ESP Component Registry ----------------------------------------------------

ESP_FIELDS = {"version", "targets", "dependencies", "files", "maintainers", "description",
              "tags", "examples", "license", "repository_info", "repository", "documentation",
              "issues", "discussion", "url"}
DEPENDENCY_FIELDS = {"version", "public", "path", "git", "registry_url", "rules", "matches",
                     "override_path", "require", "pre_release"}
SLUG = r"[a-zA-Z\d]+([_-]?[a-zA-Z\d]+)+"
# A subset of their grammar of versions, of which ours is.
RANGE = r"(([<>]=?|[=~^])?\d+(\.\d+){0,2})(,([<>]=?|[=~^])?\d+(\.\d+){0,2})*|\*"


def matches(name, pattern):
    """As the component manager's patterns do: ** is any folders, also none."""
    return PurePosixPath("/" + name).match("/" + pattern.replace("**/*", "*")) or \
        ("**/*" in pattern and fnmatch.fnmatchcase(name, pattern.replace("**/*", "*")))


def esp_rules(esp):
    r = "ESP"
    rule(f"{r}: only fields that it knows", not set(esp) - ESP_FIELDS, set(esp) - ESP_FIELDS)
    rule(f"{r}: version is a semantic version", whole(SEMVER, esp.get("version")))
    rule(f"{r}: description is one line", 0 < len(esp.get("description", "")) < 120
         and "\n" not in esp["description"])
    for field in "url", "documentation":
        rule(f"{r}: {field} is a URL", whole(URL, esp.get(field)))
    rule(f"{r}: repository is one of git", whole(URL, esp.get("repository"))
         and esp["repository"].endswith(".git"))
    people = esp.get("maintainers", [])
    rule(f"{r}: maintainers have names and addresses",
         people and all(whole(rf"[\w .-]+ <{MAIL}>", who) for who in people), people)
    tags = esp.get("tags", [])
    rule(f"{r}: tags are different words of 3 to 32 characters",
         len(set(tags)) == len(tags) and all(whole(r"[A-Za-z0-9_-]{3,32}", t) for t in tags), tags)
    for name, how in esp["dependencies"].items():
        how = {"version": how} if isinstance(how, str) else how
        rule(f"{r}: {name} is a name", whole(SLUG, name) or whole(f"{SLUG}/{SLUG}", name))
        rule(f"{r}: {name}: only fields that it knows", not set(how) - DEPENDENCY_FIELDS)
        rule(f"{r}: {name}: a range of versions", whole(RANGE, how.get("version", "")))
        rule(f"{r}: {name} comes from the registry, not from a folder or git",
             not {"path", "git", "override_path"} & set(how))
    rule(f"{r}: the versions of ESP-IDF have both ends",
         whole(r">=5\.\d+,<\d+\.\d+", esp["dependencies"]["idf"]))

    files = tracked()
    unused = [p for p in esp["files"]["exclude"] + esp["files"]["include"]
              if not any(matches(name, p) for name in files) and "curl" not in p]
    rule(f"{r}: each pattern of files fits some", not unused, unused)
    files = [name for name in files
             if not any(matches(name, p) for p in esp["files"]["exclude"])
             or any(matches(name, p) for p in esp["files"]["include"])]
    cmake = (ROOT / "CMakeLists.txt").read_text()
    component = cmake[cmake.index("if(ESP_PLATFORM)"):cmake.index("cmake_minimum_required")]
    named = re.findall(r"(?<![\w])(?:port|cmake)/[\w.]+", component)
    shapes = (ROOT / "cmake/toolcallShapes.cmake").read_text()
    named += ["tools/shapes.c"] if "shapes.c" in shapes else []
    package(r, files, [*named, "toolcall.h", "CMakeLists.txt", "idf_component.yml", "Kconfig",
                       "port/port.h", "port/http.h", "port/posix.h", "port/tls.h"])

    # Every folder below examples/ with a project is taken for an example.
    projects = sorted({str(Path(name).parent) for name in files
                       if name.startswith("examples/") and name.endswith("/CMakeLists.txt")
                       and "project(" in (ROOT / name).read_text()})
    rule(f"{r}: the package has an example", projects == ["examples/esp32"], projects)
    for project in projects:
        rule(f"{r}: {project} is one of ESP-IDF",
             "tools/cmake/project.cmake" in (ROOT / project / "CMakeLists.txt").read_text()
             and not exist(["main/CMakeLists.txt", "main/main.c", "sdkconfig.defaults"],
                           ROOT / project))
        example = yaml.safe_load((ROOT / project / "main/idf_component.yml").read_text())
        ours = [how for name, how in example["dependencies"].items()
                if name.endswith("toolcall")]
        rule(f"{r}: {project} takes this component, by override_path, which is here",
             len(ours) == 1 and
             (ROOT / project / "main" / ours[0]["override_path"]).resolve() == ROOT, ours)


# -- PlatformIO ----------------------------------------------------------------

def pio_rules(pio):
    r = "PlatformIO"
    rule(f"{r}: name is a slug", whole(r"[a-z\d]+(-[a-z\d]+)*", pio["name"])
         and len(pio["name"]) <= 50)
    rule(f"{r}: version is a semantic version, of 20 characters",
         whole(SEMVER, pio["version"]) and len(pio["version"]) <= 20)
    rule(f"{r}: description has at most 255 characters", 0 < len(pio["description"]) <= 255)
    rule(f"{r}: keywords are of a-z, 0-9, -, + and ., of 50 characters",
         all(whole(r"[a-z\d\-+. ]{1,50}", word) for word in pio["keywords"]), pio["keywords"])
    rule(f"{r}: homepage is a URL", whole(URL, pio["homepage"]))
    rule(f"{r}: repository has a type and a URL", pio["repository"]["type"] in ("git", "hg", "svn")
         and whole(URL, pio["repository"]["url"]))
    rule(f"{r}: authors have a name of 50 characters and an address, one maintains",
         all(len(a["name"]) <= 50 and whole(MAIL, a["email"]) for a in pio["authors"])
         and any(a.get("maintainer") for a in pio["authors"]))
    rule(f"{r}: license is of SPDX", pio["license"] == "MIT")
    for field in "frameworks", "platforms":
        value = pio[field] if isinstance(pio[field], list) else [pio[field]]
        rule(f"{r}: {field} are names or *", all(whole(r"[a-z\d\-_]+|\*", v) for v in value))
    rule(f"{r}: headers are there", not exist([pio["headers"]]))
    rule(f"{r}: dependencies have names",
         all(0 < len(d["name"]) <= 100 for d in pio["dependencies"]))
    rule(f"{r}: build names what is there",
         not exist([pio["build"][k] for k in ("includeDir", "srcDir", "extraScript")]))
    for e in pio["examples"]:
        rule(f"{r}: example {e['name']} has a name that it allows, and its files",
             whole(r"[a-zA-Z\d\-_/]{1,100}", e["name"]) and e["files"]
             and not exist(e["files"], ROOT / e["base"]))
    include, exclude = pio["export"]["include"], pio["export"]["exclude"]
    rule(f"{r}: export names what is there", not exist(include), exist(include))
    files = [name for name in tracked()
             if any(name == p or name.startswith(p + "/") for p in include)
             and not any(fnmatch.fnmatchcase(name, p) for p in exclude)]
    compiled = re.findall(r"\+<(.*?)>", " ".join(pio["build"]["srcFilter"]))
    package(r, files, [*compiled, pio["build"]["extraScript"], "toolcall.h", "library.json",
                       "port/arduino.h",
                       *(f"{e['base']}/{name}" for e in pio["examples"] for name in e["files"])])


# -- Arduino -------------------------------------------------------------------

CATEGORIES = ["Display", "Communication", "Signal Input/Output", "Sensors", "Device Control",
              "Timing", "Data Storage", "Data Processing", "Other"]
FIELDS = ["name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
          "architectures", "includes", "depends", "dot_a_linkage", "precompiled", "ldflags"]


def properties(path):
    lines = [line.split("=", 1) for line in path.read_text().splitlines() if line]
    return dict(lines) if all(len(line) == 2 for line in lines) else {}


def arduino_rules(p):
    """Of the library that cmake/arduino makes; p is its library.properties."""
    r = "Arduino"
    made = MADE / "toolcall"
    subprocess.run([ROOT / "cmake/arduino", made], check=True)
    files = sorted(str(path.relative_to(made)) for path in made.rglob("*") if path.is_file())
    headers = [name for name in files if whole(r"src/[^/]+\.h", name)]
    rule(f"{r} LS001: it is a library: a header in src/", headers == ["src/toolcall.h"], headers)
    rule(f"{r} LS003: its folder's name", whole(r"[a-zA-Z\d][\w.-]{0,62}", made.name))
    rule(f"{r} LS006, LS007: no .development, no .exe",
         not [n for n in files if n.endswith((".development", ".exe"))])
    rule(f"{r} LS008: the header has the library's name", f"src/{p['name']}.h" in files)
    rule(f"{r} LS010, LS011: no utility, extras is no other word",
         not [n for n in files if re.match(r"(utility|extra|Extra)", n)])
    rule(f"{r} LP001 to LP003: library.properties", "library.properties" in files)
    rule(f"{r} LP004: only one", sum("library.properties" in n for n in files) == 1)
    rule(f"{r} LP005, LP006: its form and fields", p and not set(p) - set(FIELDS),
         set(p) - set(FIELDS))
    rule(f"{r} LP007 to LP011: name", whole(r"[a-zA-Z][a-zA-Z0-9 _.\-]{0,31}", p["name"]))
    rule(f"{r} LP012 to LP016: without Arduino, library, spaces",
         not re.search("arduino|library| ", p["name"], re.I))
    rule(f"{r} LP019 to LP021: version is a semantic one", whole(SEMVER, p["version"]))
    rule(f"{r} LP023, LP024: author", p["author"])
    rule(f"{r} LP025 to LP027: maintainer, without Arduino",
         p["maintainer"] and "arduino" not in p["maintainer"].lower())
    rule(f"{r} LP028: not called email", "email" not in p)
    rule(f"{r} LP031, LP032: sentence", p["sentence"])
    rule(f"{r} LP034, LP036: paragraph, which does not repeat it",
         p["paragraph"] and p["sentence"] not in p["paragraph"])
    rule(f"{r} LP037 to LP039: category", p["category"] in CATEGORIES)
    rule(f"{r} LP040, LP041, LP056: url", whole(URL, p["url"]))
    rule(f"{r} LP043 to LP046: architectures",
         all(whole(r"\*|[a-z\d_]+", a) for a in p["architectures"].split(",")))
    rule(f"{r} LP051, LP052: includes are there",
         all(f"src/{name}" in files for name in p["includes"].split(",")))
    rule(f"{r} LC001: Arduino.h in its own case",
         not [n for n in files if n.endswith((".h", ".c", ".ino"))
              and re.search(r'include\s*[<"]arduino\.h[>"]', (made / n).read_text())
              and "Arduino.h" not in (made / n).read_text()])
    rule(f"{r} LD001, LD002: README and licence", {"README.md", "LICENSE"} <= set(files))
    sketches = [n for n in files if n.endswith(".ino")]
    rule(f"{r} LD003 to LD006: sketches, all in examples/",
         sketches and all(n.startswith("examples/") for n in sketches), sketches)
    for n in sketches:
        rule(f"{r} SS001: {n} has the name of its folder", Path(n).stem == Path(n).parent.name)
        # A folder is one program: Arduino compiles all that is in it.
        others = [other for other in files if Path(other).parent == Path(n).parent
                  and other.endswith((".c", ".cpp", ".S"))]
        rule(f"{r}: beside {n} nothing else is compiled", not others, others)
    rule(f"{r}: nothing in src/ is compiled that toolcall.h is made of",
         [n for n in files if n.endswith(".c")] == ["src/port/http.c"])
    package(r, files, ["library.properties", "src/toolcall.h", "src/port/arduino.h"], made)


# -- Zephyr --------------------------------------------------------------------

MODULE = {"name", "build", "tests", "samples", "boards", "blobs", "security",
          "package-managers", "runners"}
BUILD = {"cmake", "kconfig", "cmake-ext", "kconfig-ext", "sysbuild-cmake", "sysbuild-kconfig",
         "sysbuild-cmake-ext", "sysbuild-kconfig-ext", "depends", "settings"}
SCENARIO = {"build_only": bool, "tags": str, "filter": str, "min_ram": int, "min_flash": int,
            "extra_args": str, "integration_platforms": list, "platform_allow": str}


def zephyr_rules(module):
    r = "Zephyr"
    rule(f"{r}: only fields that it knows", not set(module) - MODULE
         and not set(module["build"]) - BUILD)
    rule(f"{r}: the module has a name", whole(r"[a-z][\w-]*", module["name"]))
    rule(f"{r}: its CMakeLists.txt and Kconfig are there",
         not exist([module["build"]["cmake"] + "/CMakeLists.txt", module["build"]["kconfig"]]))
    cmake = (ROOT / "zephyr/CMakeLists.txt").read_text()
    named = re.findall(r"\.\./(?:port|cmake)/[\w.]+", cmake)
    rule(f"{r}: what CMakeLists.txt names is there", named and not exist(named, ROOT / "zephyr"))
    for folder in module["samples"]:
        here = ROOT / folder
        rule(f"{r}: {folder} is a sample", not exist(
            ["sample.yaml", "CMakeLists.txt", "prj.conf", "src/main.c"], here))
        sample = yaml.safe_load((here / "sample.yaml").read_text())
        rule(f"{r}: ... with a name and a description",
             sample["sample"].get("name") and sample["sample"].get("description"))
        for name, test in sample["tests"].items():
            test = {**sample.get("common", {}), **(test or {})}
            odd = [k for k, v in test.items() if not isinstance(v, SCENARIO.get(k, ()))]
            rule(f"{r}: {name} has a name with dots, and fields that it knows",
                 whole(r"[a-zA-Z\d_]+(\.[a-zA-Z\d_-]+)+", name) and not odd, odd)
            confs = re.findall(r"EXTRA_CONF_FILE=(\S+)", test.get("extra_args", ""))
            rule(f"{r}: ... and its configuration", not exist(confs, here))


# -- Kconfig -------------------------------------------------------------------

# What our files use of the systems', of which only this matters here.
ESP_TREE = """
config MBEDTLS_HAVE_TIME
    bool "time"
    default y
config MBEDTLS_HAVE_TIME_DATE
    bool "dates"
    depends on MBEDTLS_HAVE_TIME
config MBEDTLS_CERTIFICATE_BUNDLE
    bool "bundle"
"""
ZEPHYR_TREE = """
config NETWORKING
    bool "network"
config POSIX_API
    bool "POSIX"
config MBEDTLS
    bool "mbedTLS"
config NET_SOCKETS
    bool "sockets"
    depends on NETWORKING
config MBEDTLS_HAVE_TIME_DATE
    bool "dates"
    depends on MBEDTLS
"""


def kconfig_rules():
    try:
        import kconfiglib
    except ImportError:
        return skip("Kconfig: what the options set", "no python3-kconfiglib")
    switches = re.findall(r"^config (TOOLCALL_NO_\w+)",
                          (ROOT / "cmake/Kconfig.switches").read_text(), re.M)
    for system, file, tree, options, results in [
            ("ESP-IDF", "Kconfig", ESP_TREE, ["TOOLCALL_PORT"],
             ["MBEDTLS_HAVE_TIME_DATE", "MBEDTLS_CERTIFICATE_BUNDLE"]),
            ("Zephyr", "zephyr/Kconfig", ZEPHYR_TREE,
             ["TOOLCALL", "NETWORKING", "POSIX_API", "MBEDTLS", "TOOLCALL_PORT"],
             ["NET_SOCKETS", "MBEDTLS_HAVE_TIME_DATE"])]:
        path = MADE / f"Kconfig.{system}"
        path.write_text(f'{tree}source "{ROOT / file}"\n')
        os.environ["srctree"] = str(ROOT)
        config = kconfiglib.Kconfig(str(path), warn=True, warn_to_stderr=False)
        value = lambda name: config.syms[name].str_value if name in config.syms else None
        rule(f"Kconfig for {system}: read without a warning", not config.warnings,
             config.warnings)
        rule(f"Kconfig for {system}: the port is an option, off", value("TOOLCALL_PORT") == "n")
        for name in options:
            config.syms[name].set_value("y")
        for name in ["TOOLCALL_PORT", *results]:
            rule(f"Kconfig for {system}: ... that sets {name}", value(name) == "y")
        rule(f"Kconfig for {system}: all switches, off",
             all(value(name) == "n" for name in switches))
        rule(f"Kconfig for {system}: the port has words of help",
             config.syms["TOOLCALL_PORT"].nodes[0].help)


# -- That the rules can fail ----------------------------------------------------

def must_fail(rules, manifest, changes):
    """Each change of a good manifest, a path of keys and a value, breaks a rule."""
    global passed, failed, quiet
    for *path, value in changes:
        broken = copy.deepcopy(manifest)
        place = broken
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        before, quiet = (passed, failed), True
        try:
            rules(broken)
        except (KeyError, TypeError, AttributeError, OSError):
            failed += 1  # it stops: that is noticed, too
        found, quiet = failed > before[1], False
        passed, failed = before
        rule(f"noticed: {'.'.join(map(str, path))} = {value!r}", found)


def main():
    MADE.mkdir(parents=True, exist_ok=True)
    esp = yaml.safe_load((ROOT / "idf_component.yml").read_text())
    pio = json.loads((ROOT / "library.json").read_text())
    arduino = properties(ROOT / "cmake/library.properties")
    zephyr = yaml.safe_load((ROOT / "zephyr/module.yml").read_text())
    common(esp, pio, arduino)
    esp_rules(esp)
    pio_rules(pio)
    arduino_rules(arduino)
    zephyr_rules(zephyr)
    kconfig_rules()
    must_fail(esp_rules, esp, [
        ("version", "1"), ("url", "toolcall"), ("repository", ""), ("homepage", "x"),
        ("maintainers", ["Somebody"]), ("tags", ["ai"]), ("tags", ["mcp", "mcp"]),
        ("dependencies", "idf", ">=5.0"), ("dependencies", {"idf": {"path": "x"}}),
        ("dependencies", "espressif/jsmn", "path", "../jsmn"),
        ("dependencies", "espressif/jsmn", "version", "new"),
        ("files", "exclude", []), ("files", "include", ["examples/gone/**/*"])])
    must_fail(pio_rules, pio, [
        ("name", "toolcall.h"), ("version", "0.1"), ("keywords", ["LLM"]), ("homepage", ""),
        ("authors", 0, "email", "nobody"), ("license", "free"), ("frameworks", "Any One"),
        ("headers", "gone.h"), ("examples", 0, "name", "A sketch"),
        ("examples", 0, "files", ["gone.ino"]), ("build", "srcFilter", ["+<port/gone.c>"]),
        ("export", "include", ["toolcall.h", "tests"]), ("repository", "type", "cvs")])
    must_fail(arduino_rules, arduino, [
        ("name", "Arduino toolcall"), ("name", "other"), ("version", "1"), ("author", ""),
        ("email", "x"), ("sentence", ""), ("category", "Misc"), ("url", ""),
        ("architectures", "AVR"), ("includes", "gone.h"), ("licence", "MIT")])
    must_fail(zephyr_rules, zephyr, [
        ("name", "Tool call"), ("build", "cmake", "gone"), ("build", "kconfig", "gone"),
        ("samples", ["examples/esp32"]), ("sample", [])])
    print(f"manifests: {passed} passed, {failed} failed" +
          (f", {skipped} skipped" if skipped else ""))
    sys.exit(failed > 0)


main()
