"""tools: the definitions of real tools; none of their constraints may be ignored."""
import os
import re
from collections import Counter, OrderedDict
from decimal import Decimal

from .common import brief, dump, load_file
from .schema import reason, verdict

try:
    from .oracle import Oracle
except ImportError:  # part() says so
    Oracle = None


def spots(v, path=()):
    yield path
    if isinstance(v, dict):
        for k in v:
            yield from spots(v[k], path + (k,))
    elif isinstance(v, list):
        for i in range(min(len(v), 2)):
            yield from spots(v[i], path + (i,))


def put(v, path, new):
    """v with the value at path replaced (or taken out, when new is DROP)."""
    if not path:
        return new
    k = path[0]
    if isinstance(v, dict):
        o = OrderedDict(v)
        if len(path) == 1 and new is DROP:
            del o[k]
        else:
            o[k] = put(v[k], path[1:], new)
        return o
    a = list(v)
    if len(path) == 1 and new is DROP:
        del a[k]
    else:
        a[k] = put(v[k], path[1:], new)
    return a


DROP = object()


def trials(oracle, base, limit, tries=160):
    """Values that between them break as many constraints as can be broken, each with what the oracle says."""
    seen, out, left = set(), [], tries
    for path in list(spots(base))[:40]:
        here = base
        for k in path:
            here = here[k]
        new = []
        if isinstance(here, dict):
            new += [(path, OrderedDict(list(here.items()) + [("zz_undeclared", 1)]))]
        if isinstance(here, list) and here:
            new += [(path, here * 2), (path, here * 60)]
        if path:
            new += [(path, DROP)]
        if isinstance(here, (int, Decimal)) and not isinstance(here, bool):
            new += [(path, x) for x in (-10**300, 10**300, Decimal("1.5"), 0, "7", None)]
        elif isinstance(here, str):
            new += [(path, x) for x in ("", "no such value", "w" * 70000, 5, None)]
        else:
            new += [(path, x) for x in (None, "x", 1, [], OrderedDict(), True)]
        for at, value in new:
            if left <= 0:
                return out
            left -= 1
            v = put(base, at, value)
            broken = oracle.check(v)
            fresh = set(broken) - seen
            if fresh or (not broken and ("ok", len(out)) not in seen and sum(not b for _, b in out) < 2):
                seen |= fresh
                out.append((v, broken))
                if len(out) >= limit:
                    return out
    return out


def all_tools(data):
    folder = os.path.join(data, "schemas")
    for f in sorted(os.listdir(folder)):
        if f.endswith(".json"):
            for i, t in enumerate(load_file(os.path.join(folder, f))):
                yield "%s#%d %s" % (f[:-5], i, t.get("name")), t


def part_tools(p, probe, data):
    tools = list(all_tools(data))
    answers = probe.ask(["schema"], [{"schema": t["parameters"], "data": {}} for _, t in tools])
    why, registered, ready = Counter(), 0, []
    for (name, t), r in zip(tools, answers):
        v = verdict(r)
        if v == "refused":
            why[reason(r["refused"])] += 1
            p.say("refused %s: %s" % (name, brief(r["refused"])))
        elif p.check(v in ("valid", "invalid"), name, r.why if v == "died" else brief(r)):
            registered += 1
            ready.append((name, t))
    p.bar(registered * 1000 >= len(tools) * 995, "registered %d of %d = %.2f %%"
          % (registered, len(tools), 100.0 * registered / max(1, len(tools))))
    # none of their constraints ignored: break each one in turn
    lines, wants, not_judged, sites = [], [], Counter(), 0
    for name, t in ready:
        schema = t["parameters"]
        o = Oracle(schema)
        if o.unknown:
            not_judged[o.unknown] += 1
            p.skipped += 1
            continue
        try:
            text = dump(schema)
            big = len(text) > 20000
            base = o.sample()
            cases = [(base, o.check(base)), (OrderedDict(), o.check(OrderedDict()))]
            cases += trials(o, base, 3 if big else 24, 30 if big else 160)
        except RecursionError:
            p.skipped += 1
            not_judged["too deep for the judge"] += 1
            continue
        sites += len({b for _, broken in cases for b in broken})
        for v, broken in cases:
            lines.append('{"schema":%s,"data":%s}' % (text, dump(v)))
            wants.append((name, v, broken))
    right, by = 0, Counter()
    for (name, v, broken), r in zip(wants, probe.ask(["schema"], lines)):
        want = "invalid" if broken else "valid"
        got = verdict(r)
        if p.check(got == want, name, "%s, not %s (%s) for %s" % (
                got, want, broken[:3], brief(v))):
            right += 1
        else:
            for _, k in broken[:1] or [("", "none broken")]:
                by[k.split(" ")[0]] += 1
    p.bar(right == len(wants), "constraints broken one by one: %d of %d verdicts right, %d places" % (right, len(wants), sites))
    for k, n in by.most_common(10):
        p.say("  wrong %d: %s" % (n, k))
    for k, n in not_judged.most_common():
        p.say("  not judged %d: %s" % (n, k))


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")


def usable_tools(probe, data):
    """Tools under distinct names that every provider allows, whose schema is not refused and that the oracle knows."""
    seen, out = set(), []
    for label, t in all_tools(data):
        if NAME.match(t["name"]) and t["name"] not in seen:
            seen.add(t["name"])
            out.append((label, t))
    answers = probe.ask(["schema"], [{"schema": t["parameters"], "data": {}} for _, t in out])
    return [x for x, r in zip(out, answers) if verdict(r) in ("valid", "invalid")]
