"""json: every file of the public JSON parsing suites, accepted or rejected."""
import os
from collections import Counter


def part_json(p, probe, data):
    judge(p, probe, data, "json")


def part_shapes(p, probe, data):
    """The same by the decoder of shapes: "differ" is neither right."""
    judge(p, probe, data, "shapes")


def judge(p, probe, data, verb):
    folder = os.path.join(data, "json-parsing")
    files = sorted(f for f in os.listdir(folder) if f.endswith(".json"))
    paths = [os.path.join(folder, f) for f in files]
    said = {}
    for i in range(0, len(paths), 100):
        rc, out, err = probe.raw([verb] + paths[i:i + 100], "")
        for line in out.decode("utf-8", "surrogateescape").splitlines():
            word, _, path = line.partition(" ")
            said[path] = word
        if rc != 0:
            for path in paths[i:i + 100]:  # one that kills it must not hide the others
                if path not in said:
                    rc, out, err = probe.raw([verb, path], "")
                    said[path] = out.decode("utf-8", "replace").partition(" ")[0] or "died, rc %s %s" % (rc, err[-200:])
    right = Counter()
    total = Counter()
    for f, path in zip(files, paths):
        kind, word = f[0], said.get(path, "no answer")
        total[kind] += 1
        want = {"y": ("accept",), "n": ("reject",)}.get(kind, ("accept", "reject"))
        if p.check(word in want, f, word):
            right[kind] += 1
            right[kind + word] += 1
    p.bar(right["y"] == total["y"], "accepted %d/%d that are JSON" % (right["y"], total["y"]))
    p.bar(right["n"] == total["n"], "refused %d/%d that are not" % (right["n"], total["n"]))
    p.say("either is right: %d accepted, %d refused" % (right["iaccept"], right["ireject"]))
