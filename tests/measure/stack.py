"""The deepest path of frames below each public function.

GCC tells which function calls which and how much stack each one takes, after
inlining; pointers.py, from which sources what may be called through a pointer.
"""
import collections
import fnmatch
import functools
import graphlib
import re

from pointers import giver, name as named

# Stack taken below a function of the C library or of libgcc: more than any
# that we call needs.
LIBC_STACK = 32

# How many functions GCC inlines into each other.
INLINED = 5

# How often one of a cycle's functions is on a path at the most.
RECURSION = {# TCALL_EXAMPLE_DEPTH_, and a scalar within
             "tcall_example_value_": 4,
             # TOOLCALL_SHAPE_LEVELS, and a value within: a shape, as a struct and a schema
             "tcall_put_value_": 7, "tcall_view_value_": 7, "tcall_record_value_": 6,
             "tcall_hash_object_": 6,
             # TCALL_ROOT_DEPTH_, and one that is not followed further
             "tcall_takes_objects_": 5,
             # a text with parts, of which some are texts with parts
             "tcall_write_parts_": 2,
             # what is written behind a mask is not masked again
             "tcall_mask_put": 1,
             # arguments in an answer are recognised for nobody
             "tcall_answer_end_": 1, "tcall_answer_data_": 1,
             # an escape in a string within a string is escaped itself
             "tcall_write_escaped_": 2,
             # what is around a tool adds what is below it
             "tcall_*_around_": 0}

# What is lent for the time of a call: the nearest on the path that gives one gave
# it. A function gives what it names, and what functions that it calls to begin name.
# True: its chapter gives, too, as long-lived things were begun elsewhere in it.
LENT = {"tcall_syntax_user_": True, "tcall_writer": False,
        "tcall_mask": False}


class Stack:
    def __init__(self, objects, public, pointers, recursion=RECURSION, lent=LENT):
        self.public, self.pointers = public, pointers
        self.recursion, self.lent = recursion, lent
        self.frame, self.problems = {}, []
        self.edges = collections.defaultdict(set)  # function: (callee or None, file, line)
        for text in (o.with_suffix(".ci").read_text() for o in objects):
            self.read(text)
        self.copies = collections.defaultdict(list)
        for name in self.frame:
            self.copies[name.split(".")[0]].append(name)
        self.values, self.next = {}, {}
        self.measure()

    def read(self, text):
        """What GCC wrote beside an object."""
        short = lambda title: title.split(":")[-1]  # without the file
        for title, label in re.findall(r'node: { title: "([^"]+)" label: "([^"]*)"', text):
            name, size = short(title), re.search(r"(\d+) bytes \(([\w,]+)\)", label)
            if size:
                self.frame[name] = max(int(size.group(1)), self.frame.get(name, 0))
                if size.group(2) == "dynamic":
                    self.problems.append(f"{name} has a frame without bound")
        for caller, callee, place in re.findall(
                r'sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]*)")?', text):
            file, line = (place.rsplit(":", 2) + ["0", "0"])[:2]
            callee = None if callee == "__indirect_call" else short(callee)
            self.edges[short(caller)].add((callee, file, int(line)))

    # ------------------------------------------------------------- who calls whom

    @functools.lru_cache(None)
    def source(self, file, line):
        """The function of the sources at a line."""
        return next((f.name for f in self.pointers.at[file.split("/")[-1]]
                     if f.first <= line <= f.last), None)

    @functools.lru_cache(None)
    def mentioned(self, who):
        """Functions that a function names, itself or in a table, or all of a chapter do."""
        functions = self.pointers.functions
        found = [functions[who]] if who in functions else [
            f for f in functions.values() if f.chapter == who]
        if who in functions:
            found += [functions[n] for n in functions[who].given
                      if n in functions and re.search("_(begin_?|init)$", n)]
        return set().union(*(f.mentions for f in found), *(
            self.pointers.tables[t] for f in found for t in f.tables))

    @functools.lru_cache(None)
    def held(self, lent):
        """The functions in places of a struct, and the chapters that call them."""
        places = {p for p in self.pointers.holds if p.startswith(lent + ".")}
        return {named(s) for p in places for s in self.pointers.holds[p]}, {
            f.chapter for f in self.pointers.functions.values() if f.through & places}

    @functools.lru_cache(None)
    def gives(self, name, lent):
        """Who gives functions for the places of a struct when name is called."""
        held, callers = self.held(lent)
        f = self.pointers.functions.get(name)
        who = [name, f.chapter] if f and self.lent[lent] and f.chapter not in callers else [name]
        return next((w for w in who if f and (held & self.mentioned(w) or self.nobody(w, lent))),
                    None)

    def nobody(self, name, lent):
        """Does a function name a table of a struct in which there is no function?"""
        f = self.pointers.functions.get(name)
        return f and any(self.pointers.record.get(t) == lent and not self.pointers.tables[t]
                         for t in f.tables)

    def lend(self, name, context):
        """The context in which a function calls that is called in another."""
        return tuple(self.gives(name, lent) or before for lent, before in zip(self.lent, context))

    def enter(self, name, context, bound=()):
        """The state in name, called in a context, parameters bound to functions."""
        return name, self.lend(name.split(".")[0], context), bound

    @functools.lru_cache(None)
    def inlined(self, name, context, source):
        """The contexts of a function of the sources that GCC inlined into name, through
        the calls that lead there. Of all that GCC says nothing."""
        if name == source:
            return {context}
        functions, found, seen, ways = self.pointers.functions, set(), set(), {(name, context)}
        for _ in range(INLINED):
            ways = {(callee, self.lend(callee, before)) for caller, before in ways
                    if caller in functions for callee in functions[caller].given} - seen
            found |= {before for callee, before in ways if callee == source}
            seen |= ways
        return found or {self.lend(source, context)}

    def through(self, place, name, context, bound, source):
        """What is called through a place."""
        if place in dict(bound):
            return dict(bound)[place]
        held = self.pointers.holds[place]
        given = dict(self.arguments(name.split(".")[0], source, bound))
        if "(" in place and place in given:
            return given[place]
        for lent, who in zip(self.lent, context):
            if place.startswith(lent + "."):
                return {s for s in held if who and named(s) in self.mentioned(who)}
        return held

    def arguments(self, caller, callee, bound):
        """What a caller gives a callee's parameters."""
        found = collections.defaultdict(set)
        f = self.pointers.functions.get(caller)
        for given in f.given[callee] if f and callee in f.given else []:
            for index, sources in given.items():
                for s in sources:
                    found[f"{callee}({index})"] |= {s} if s[0] == "&" else dict(
                        bound).get(s, self.pointers.holds[s])
        return tuple((place, frozenset(names)) for place, names in sorted(found.items()))

    @functools.lru_cache(None)
    def below(self, state):
        """The states that a state calls."""
        name, context, bound = state
        found = set()
        for callee, file, line in self.edges[name]:
            source = self.source(file, line) or name.split(".")[0]
            for lent in self.inlined(name.split(".")[0], context, source):
                if callee is not None:
                    found.add((source, self.enter(callee, lent, self.arguments(
                        source, callee.split(".")[0], bound))))
                    continue
                for place in self.places(source):
                    if not self.known(place, lent):
                        self.problem(f"{file}:{line}: what does {name} call through {place}? "
                                     "pointers.py finds nothing that flows there")
                    for target in self.through(place, name, lent, bound, source):
                        gave = self.lend(giver(target), lent) if giver(target) else lent
                        found |= {(source, self.enter(t, gave))
                                  for t in self.copies[named(target)]}
        return found

    def places(self, function):
        f = self.pointers.functions.get(function)
        return f.through if f else ["?"]

    def states(self, state):
        return [other for _, other in self.below(state)]

    def known(self, place, context):
        """Is it known what flows there? What a user may supply is the user's to count."""
        owner = re.split(r"[.(:]", place)[0]
        if owner[-1:] != "_" if "." in place else owner in self.public:
            return True
        return bool(self.pointers.holds[place]) and (
            owner not in self.lent or dict(zip(self.lent, context))[owner] is not None)

    def problem(self, text):
        if text not in self.problems:
            self.problems.append(text)

    # ------------------------------------------------------------- how deep

    def limit(self, name):
        return next((n for pattern, n in self.recursion.items()
                     if fnmatch.fnmatch(name.split(".")[0], pattern)), None)

    def measure(self):
        roots = [self.enter(name, (None,) * len(self.lent)) for name in self.frame
                 if name in self.public]
        for group in self.groups(roots):
            self.solve(group)
        self.roots = {root[0]: root for root in roots}

    def groups(self, roots):
        """Strongly connected states, what is below first (Tarjan)."""
        number, low, path, on_path = {}, {}, [], set()
        for root in roots:
            todo = [(root, iter(self.states(root)))] if root not in number else []
            while todo:
                state, more = todo[-1]
                if state not in number:
                    number[state] = low[state] = len(number)
                    path.append(state)
                    on_path.add(state)
                for other in more:
                    if other not in number:
                        todo.append((other, iter(self.states(other))))
                        break
                    if other in on_path:
                        low[state] = min(low[state], number[other])
                else:
                    todo.pop()
                    if todo:
                        low[todo[-1][0]] = min(low[todo[-1][0]], low[state])
                    if low[state] == number[state]:
                        at = path.index(state) if len(path) < 64 else len(
                            path) - 1 - path[::-1].index(state)
                        group = path[at:]
                        del path[at:]
                        on_path -= set(group)
                        yield group

    def solve(self, group):
        """The deepest path below each of a group: through copies of it, one for
        each count of what it may pass again."""
        group = set(group)

        def step(source, state, passed):
            """A copy of state, or None where it is passed too often."""
            names = {state[0].split(".")[0], source} if looped else ()
            for name in names:
                limit = self.limit(name)
                if limit is not None:
                    count = dict(passed).get(name, 0) + 1
                    passed = tuple(sorted({**dict(passed), name: count}.items()))
                    if count > limit:
                        return None
            return state, passed

        looped = len(group) > 1 or any(s in group for s in self.states(*group))
        starts = [step("", s, ()) or (s, ()) for s in group]
        inner, todo = {}, list(starts)
        while todo:
            copy = todo.pop()
            if copy not in inner:
                name = copy[0][0].split(".")[0]
                inner[copy] = [c for c in (
                    step(source if source != name else "", s, copy[1])
                    for source, s in self.below(copy[0]) if s in group) if c]
                todo += inner[copy]
        try:
            ordered = list(graphlib.TopologicalSorter(inner).static_order())
        except graphlib.CycleError as error:
            names = list(dict.fromkeys(c[0][0] for c in error.args[1]))
            self.problem(f"how deep does {' -> '.join(names[::-1])} recurse? "
                         "add one of them to RECURSION")
            ordered = list(inner)
        for copy in ordered:
            state = copy[0]
            ways = [(self.values.get(c, 0), c) for c in inner[copy]]
            ways += [(self.values.get((s, ()), 0), (s, ())) for s in self.states(state)
                     if s not in group]
            deepest, way = max(ways, key=lambda w: w[0], default=(0, None))
            self.values[copy] = self.frame.get(state[0], LIBC_STACK) + deepest
            self.next[copy] = way
        for copy in starts:
            self.values[copy[0], ()] = self.values[copy]
            if copy[1]:
                self.next[copy[0], ()] = self.next[copy]
        for state in group:
            self.values.setdefault((state, ()), 0)

    def path(self, name):
        """Frames from name down to where its worst is: (bytes, name)."""
        copy = self.roots[name], ()
        while copy:
            yield self.values[copy], copy[0][0]
            copy = self.next.get(copy)

    def table(self):
        return {name: self.values[root, ()] for name, root in self.roots.items()}
