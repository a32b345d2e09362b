"""Which functions are called through which pointers, from clang's syntax tree.

A place holds pointers to functions: the member of a struct ("tcall_hook.run"), the
parameter of a function ("tcall_say_(1)"), a variable. What flows into places is read
from the sources: tables, assignments, arguments, results. Places of one struct are
one, whichever object it is, but for those that are LENT, see there.
"""
import bisect
import collections
import functools
import re
import subprocess

AT = re.compile(r"(?:(line):(\d+):\d+|(col):\d+|(<?[^\s<,:]+):(\d+):\d+)")


class Node:
    __slots__ = "kind", "id", "text", "file", "line", "end", "below"


def tree(source, flags):
    """The nodes of a source's syntax tree."""
    out = subprocess.run(["clang", "-std=c99", "-fsyntax-only", "-w", "-Xclang", "-ast-dump",
                          *flags, source], text=True, capture_output=True, check=True).stdout
    file, number, stack = "", 0, []
    root = Node()
    root.kind, root.below = "TranslationUnit", []
    stack = [root]

    def at(words):
        nonlocal file, number
        found = []
        for m in AT.finditer(words):
            if m.group(4):
                file, number = m.group(4), int(m.group(5))
            elif m.group(1):
                number = int(m.group(2))
            found.append((file, number))
        return found

    for line in out.splitlines():
        m = re.match(r"([| ]*)[|`]-(\w+)(?: (0x[0-9a-f]+))?(.*)$", line)
        if not m:
            continue
        depth = len(m.group(1)) // 2 + 1
        node = Node()
        node.kind, node.id, rest, node.below = m.group(2), m.group(3), m.group(4), []
        node.text = rest
        rest = re.sub(r"^( (parent|prev) 0x[0-9a-f]+)+", "", rest)
        # <FROM, TO> PLACE 'type' ...: the place of the name only in declarations
        span = re.match(r" <((?:<[\w -]+>[:\d]*|[^<>])*)>"
                        r"( (?:line:\d+:\d+|col:\d+|<?[^\s<,:]+:\d+:\d+))?", rest)
        found = at(span.group(1)) if span else []
        node.end = found[-1][1] if found else number
        name = at(span.group(2)) if span and span.group(2) else []
        node.file, node.line = (name or found or [(file, number)])[0]
        if span:
            node.text = rest[span.end():]
        del stack[depth:]
        stack[-1].below.append(node)
        stack.append(node)
    return root


SAME = {"ImplicitCastExpr", "CStyleCastExpr", "ParenExpr", "UnaryOperator", "ConstantExpr"}


def name(source):
    """The function of a source that is one."""
    return source[1:].split("@")[0]


def giver(source):
    """The function that names it, or None: a table does."""
    return source.split("@")[1] if "@" in source else None


@functools.lru_cache(None)
def chapters(file):
    """[(line, chapter)] of a file."""
    with open(file) as text:
        return [(number, m.group(1)) for number, line in enumerate(text, 1)
                for m in [re.match(r" \* >>(\w+)", line)] if m]


def chapter_of(file, line):
    marks = chapters(file)
    at = bisect.bisect(marks, (line, "~")) - 1
    return marks[at][1] if at >= 0 else file


class Function:
    """One of the sources: where it is, whom it calls."""

    def __init__(self, name, node):
        self.name, self.file, self.first, self.last = name, node.file, node.line, node.end
        self.chapter = chapter_of(node.file, node.line)
        self.through = set()  # places that it calls through
        self.given = collections.defaultdict(list)  # callee: [{index: sources}]
        self.tables, self.mentions = set(), set()  # tables and functions that it names


class Pointers:
    def __init__(self, sources, flags=()):
        self.functions = {}
        self.flows = collections.defaultdict(set)  # place: functions and places
        self.tables = collections.defaultdict(set)  # table: functions in it
        self.record = {}  # table: the struct that it is
        self.type = {}  # of a member or a function
        self.late = []  # arguments of calls through places
        self.parameters = collections.defaultdict(dict)  # function: {index: name}
        for source in sources:
            self.places, self.fields, self.vars = {}, {}, {}
            top = tree(source, flags)
            for node in top.below:
                self.declare(node, None)
            for node in top.below:
                self.function = None
                self.read(node, None)
        for file in {f.file for f in self.functions.values() if f.file.endswith(".h")}:
            self.macros(file)
        self.solve()

    def macros(self, file):
        """Users put what a macro names into members of its type."""
        with open(file) as text:
            bodies = re.findall(r"^#define \w+((?:.*\\\n)*.*)$", text.read(), re.M)
        for body in bodies:
            for found in set(re.findall(r"\b(\w+)\b(?! *\()", body)) & set(self.functions):
                for place, kind in self.type.items():
                    if "." in place and kind == self.type[found]:
                        self.flows[place].add("&" + found)

    # -- declarations

    def declare(self, node, owner):
        kind, text = node.kind, node.text
        if kind == "RecordDecl":
            m = re.search(r"(?:struct|union) (\w+) definition|(?:struct|union) definition", text)
            if not m:
                return
            title = m.group(1) or node.id
            self.fields[title] = []
            for child in node.below:
                if child.kind == "RecordDecl":
                    self.declare(child, None)
                elif child.kind == "FieldDecl":
                    field = re.search(r"(\w+) '", child.text)
                    field = f"{title}.{field.group(1)}" if field else f"{title}.{child.id}"
                    self.places[child.id] = field
                    self.fields[title].append(field)
                    self.type[field] = child.text.split("'")[-2].replace("(*)", "")
        elif kind == "FunctionDecl":
            m = re.search(r"(\w+) '([^']*)'", text)
            self.type[m.group(1)] = m.group(2)
            index = 0
            for child in node.below:
                if child.kind == "ParmVarDecl":
                    self.places[child.id] = f"{m.group(1)}({index})"
                    word = re.search(r"(\w+) '", child.text)
                    self.parameters[m.group(1)][index] = word.group(1) if word else "?"
                    index += 1
                else:
                    self.declare(child, m.group(1))
        elif kind == "VarDecl":
            m = re.search(r"(\w+) '", text)
            self.places[node.id] = f"{owner}:{m.group(1)}" if owner else m.group(1)
            for child in node.below:
                self.declare(child, owner)
        else:
            for child in node.below:
                self.declare(child, owner)

    # -- expressions

    def sources(self, node):
        """Functions ("&name", "&name@who names it") and places that a value may come
        from."""
        kind, text = node.kind, node.text
        if kind == "DeclRefExpr":
            m = re.search(r" Function 0x[0-9a-f]+ '(\w+)'", text)
            if m:
                return {f"&{m.group(1)}@{self.function.name}" if self.function else
                        "&" + m.group(1)}
            m = re.search(r" (?:ParmVar|Var) (0x[0-9a-f]+) ", text)
            return {self.places[m.group(1)]} if m and m.group(1) in self.places else set()
        if kind == "MemberExpr":
            place = self.places.get(text.split()[-1])
            return {place} if place else set()
        if kind == "ConditionalOperator":
            return self.sources(node.below[1]) | self.sources(node.below[2])
        if kind == "CallExpr":
            return {"=" + name(s) for s in self.sources(node.below[0]) if s[0] == "&"}
        if kind == "BinaryOperator" and (text.endswith("','") or text.endswith(" '='")):
            return self.sources(node.below[1])
        if kind in SAME and node.below:
            return self.sources(node.below[-1])
        return set()

    @staticmethod
    def pointer(node):
        """Can this be a pointer to a function?"""
        return "(*)(" in node.text or "(*const)(" in node.text or "<FunctionToPointerDecay>" in node.text

    def flow(self, place, node):
        found = self.sources(node)
        if found:
            self.flows[place] |= found

    def list(self, node, table):
        """An initialiser; table names it, or is None."""
        types = (re.sub(r"^(const )?(struct |union )?", "", t)
                 for t in re.findall(r"'([^']*)'", node.text))
        record = next((t for t in types if t in self.fields), None)
        if table and record:
            self.record.setdefault(table, record)
        for index, child in enumerate(c for c in node.below if c.kind != "array_filler"):
            if child.kind == "InitListExpr":
                self.list(child, table)
            elif record and index < len(self.fields[record]) and self.pointer(child):
                self.flow(self.fields[record][index], child)
                if table:
                    self.tables[table] |= {name(s) for s in self.sources(child) if s[0] == "&"}

    def read(self, node, function):
        kind, text = node.kind, node.text
        if kind == "FunctionDecl":
            if not any(c.kind == "CompoundStmt" for c in node.below):
                return
            title = re.search(r"(\w+) '", text).group(1)
            function = self.function = Function(title, node)
            self.functions[title] = function
        elif kind == "VarDecl" and " cinit" in text or " listinit" in text:
            child = next(c for c in node.below if not c.kind.endswith("Attr"))
            table = None if function else self.places[node.id]
            if child.kind == "InitListExpr":
                self.list(child, table)
            elif self.pointer(child):
                self.flow(self.places[node.id], child)
        elif kind == "InitListExpr" or kind == "CompoundLiteralExpr" and node.below[0].kind == "InitListExpr":
            self.list(node if kind == "InitListExpr" else node.below[0], None)
        elif kind == "BinaryOperator" and text.endswith(" '='"):
            if self.pointer(node.below[1]) or self.pointer(node):
                for place in self.sources(node.below[0]):
                    self.flow(place, node.below[1])
        elif kind == "ReturnStmt" and node.below and function and self.pointer(node.below[0]):
            self.flow("=" + function.name, node.below[0])
        elif kind == "CallExpr" and function:
            self.call(node, function)
        elif kind == "DeclRefExpr" and function:
            m = re.search(r" Function 0x[0-9a-f]+ '(\w+)'", text)
            if m:
                function.mentions.add(m.group(1))
            m = re.search(r" Var (0x[0-9a-f]+) ", text)
            if m and ":" not in self.places.get(m.group(1), ":"):
                function.tables.add(self.places[m.group(1)])
        for child in node.below:
            self.read(child, function)

    def call(self, node, function):
        callee = self.sources(node.below[0])
        given = {index: self.sources(child) for index, child in enumerate(node.below[1:])
                 if self.pointer(child)}
        given = {index: found for index, found in given.items() if found}
        for direct in {name(c) for c in callee if c[0] == "&"}:
            function.given[direct].append(given)
            for index, found in given.items():
                self.flows[f"{direct}({index})"] |= found
        places = {c for c in callee if c[0] != "&"}
        if places or not callee:
            function.through |= places
            if not callee:
                function.through.add("?")
            self.late.append((places, given))

    # -- what flows where

    def solve(self):
        self.holds = collections.defaultdict(set)
        changed = True
        while changed:
            changed = False
            for place, found in list(self.flows.items()):
                for source in found:
                    new = {source} if source[0] == "&" else self.holds[source]
                    if not new <= self.holds[place]:
                        self.holds[place] |= new
                        changed = True
            for places, given in self.late:
                for target in {name(held) for place in places for held in self.holds[place]}:
                    for index, found in given.items():
                        if not found <= self.flows[f"{target}({index})"]:
                            self.flows[f"{target}({index})"] |= found
                            changed = True
        self.at = collections.defaultdict(list)
        for f in self.functions.values():
            self.at[f.file.split("/")[-1]].append(f)
