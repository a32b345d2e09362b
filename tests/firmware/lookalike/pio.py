"""pio.py VALUE: runs cmake/pio.py as PlatformIO would, custom_toolcall_jsmn
being VALUE; prints the flags that the project's sources get."""
import sys


class Environment(dict):
    def GetProjectOption(self, name, default):
        return sys.argv[1] if name == "custom_toolcall_jsmn" else default

    def AppendUnique(self, CPPDEFINES):
        print(*(f"-D{name}" for name in CPPDEFINES))


place = {}
place["Import"] = lambda *names: place.update(
    {name: Environment() for name in names})
with open("cmake/pio.py", encoding="utf-8") as script:
    exec(compile(script.read(), "pio.py", "exec"), place)
