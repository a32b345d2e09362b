"""Slips of the hand: what one may get wrong in C code, found in its syntax and
never by what a line says. mutants(TEXT) gives them all.

The code is taken as clang-format leaves it, functions and tables at the margin.
What does not compile is no mutant: whoever tries them finds out.
"""
import collections
import hashlib
import re

# name: the function or table; kind: which slip; was: the code that is changed,
# with one blank between words; nth: of these in there; at, end, now: the change.
Mutant = collections.namedtuple("Mutant", "name kind was nth at end now")

WORD = re.compile(r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>\.?\d[\w.]*)|(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|.)""",
                  re.X | re.S | re.M)
PRECEDENCE = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, ">>": 8, "<": 7, "<=": 7,
              ">": 7, ">=": 7, "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1}
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
SHIFTED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
           "+=": "-=", "-=": "+=", "++": "--", "--": "++", "|=": "=", "<<": ">>", ">>": "<<"}
HEADS = {"if", "while", "for", "switch"}
KEYWORDS = HEADS | {"return", "case", "else", "do", "goto", "sizeof", "default"}
STOPS = {";", "{", "}", ",", "?", ":"} | ASSIGNS
SIZES = re.compile(r"(?i)(len|size|cap|count|fill|room|most|limit)$")


class Code:
    """The words of a file: what each is, where it stands, and what closes it."""

    def __init__(self, text):
        self.text = text
        found = [m for m in WORD.finditer(text) if m.lastgroup != "skip"]
        self.words = [m.group() for m in found]
        self.kinds = [m.lastgroup for m in found]
        self.spans = [m.span() for m in found]
        self.other, open_ = {}, []      # the bracket that belongs to one
        for i, word in enumerate(self.words):
            if word in "([{":
                open_.append(i)
            elif word in ")]}" and open_:
                self.other[i] = open_.pop()
                self.other[self.other[i]] = i

    def said(self, first, end):
        """Words with one blank between, whatever the layout."""
        return " ".join(self.words[first:end])

    def is_cast(self, i):
        """Does the bracket that closes at `i` hold the name of a type?"""
        inside = self.words[self.other.get(i, i) + 1:i]
        before = self.words[self.other.get(i, i) - 1]
        return bool(inside) and before != "sizeof" and self.kinds[self.other[i] - 1] != "name" and (
            inside[-1] == "*" or re.search(r"_t$|^(int|char|long|unsigned|short|void|bool|double|"
                                           r"float)$", inside[-1]) is not None)

    def is_binary(self, i):
        """Does a sign stand between two operands?"""
        if i == 0 or self.words[i] not in PRECEDENCE:
            return False
        before = self.words[i - 1]
        if self.kinds[i - 1] in ("number", "text"):
            return True
        if self.kinds[i - 1] == "name":
            return before not in KEYWORDS
        return before == "]" or before in ("++", "--") or before == ")" and not self.is_cast(i - 1) \
            and self.words[self.other[i - 1] - 1] not in HEADS

    def left(self, i, least):
        """Where the operand before `i` begins, of signs that bind at least so."""
        while i > 0:
            word = self.words[i - 1]
            if word in ")]" and i - 1 in self.other:
                if self.words[self.other[i - 1] - 1] in HEADS:
                    return i
                i = self.other[i - 1]
                continue
            if word in "([" or word in STOPS or word in ("return", "case", "else", "do") \
                    or self.is_binary(i - 1) and PRECEDENCE[word] < least:
                return i
            i -= 1
        return i

    def right(self, i, least):
        """Where the operand that begins at `i` ends."""
        while i < len(self.words):
            word = self.words[i]
            if word in "([" and i in self.other:
                i = self.other[i] + 1
                continue
            if word in ")]" or word in STOPS \
                    or self.is_binary(i) and PRECEDENCE[word] <= least:
                return i
            i += 1
        return i

    def parts(self, first, end):
        """What commas divide between two words: (from, to) of each."""
        found, at, i = [], first, first
        while i < end:
            if self.words[i] == ",":
                found.append((at, i))
                at = i + 1
            i = self.other.get(i, i) + 1 if self.words[i] in "([{" else i + 1
        return found + [(at, end)] if at < end else found


def places(code):
    """(name, type, from, to) of each function's body and each table at the margin."""
    i, head = 0, 0
    while i < len(code.words):
        word = code.words[i]
        if word == "{" and i in code.other:
            if code.kinds[i - 1] == "text":     # extern "C"
                i, head = i + 1, i + 1
                continue
            names = [w for w, k in zip(code.words[head:i], code.kinds[head:i]) if k == "name"]
            if code.words[i - 1] == ")":
                name = code.words[code.other[i - 1] - 1]
                kind = "function " + code.said(head, code.other[i - 1] - 1)
            else:
                name, kind = names[-1] if names else "?", "table"
                if "=" in code.words[head:i]:
                    name = re.split(r" (?:\[|=)", code.said(head, i))[0].split()[-1]
            if "struct" not in names[:2] or "=" in code.words[head:i]:
                yield name, kind, i + 1, code.other[i]
            i = code.other[i] + 1
            if kind != "table":
                head = i
        else:
            i += 1
            if word == ";":
                head = i


def expressions(code, first, end):
    """Slips within expressions."""
    for i in range(first, end):
        word, kind = code.words[i], code.kinds[i]
        if code.is_binary(i):
            own = PRECEDENCE[word]
            begin, stop = code.left(i, own), code.right(i + 1, own)
            if begin == i or stop == i + 1:
                continue
            if not 6 <= own <= 7:
                yield "left out", begin, stop, (begin, i)
            if word in ("&&", "||", "|", "+", "&"):
                yield "left out", begin, stop, (i + 1, stop)
            if word in ("&&", "||"):
                yield "never", begin, stop, "0"
                yield "always", begin, stop, "1"
            elif 6 <= own <= 7:
                yield "never", begin, stop, "0"
                yield "always", begin, stop, "1"
        if word in SHIFTED and (code.is_binary(i) or word not in PRECEDENCE):
            yield "shifted", i, i + 1, SHIFTED[word]
        if word in "!~-" and not code.is_binary(i):
            yield "bare", i, i + 1, ""
        if kind == "number" and re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)[uUlL]*", word):
            value = int(re.sub("[uUlL]*$", "", word), 0 if not re.match(r"0\d", word) else 8)
            for other in sorted({value + 1, value - 1, 0} - {value, -1}):
                yield "number", i, i + 1, str(other)
        if word in ("true", "false"):
            yield "number", i, i + 1, {"true": "false", "false": "true"}[word]
        if kind == "text" and word[0] == '"' and word != '""' and code.kinds[i - 1] != "text":
            yield "empty", i, i + 1, '""'
        if kind == "name" and re.fullmatch(r"[A-Z][A-Z\d_]{2,}", word) and code.words[i + 1] != "(" \
                and word != "NULL" and code.words[i - 1] != "return":
            yield "constant", i, i + 1, "0"
            yield "constant", i, i + 1, f"({word} + 1)"
        if word == "?":
            begin = code.left(i, 0)
            yield "always", begin, i, "1"
            yield "never", begin, i, "0"
            stop = code.right(i + 1, 0)
            yield "value", i + 1, stop, "0"
            yield "value", stop + 1, code.right(stop + 1, 0), "0"
            yield "value", i + 1, stop, "1"
        if word in ASSIGNS:
            stop = code.right(i + 1, 0)
            if stop < len(code.words) and code.words[stop] == "?":
                stop = code.right(code.right(stop + 1, 0) + 1, 0)
            if code.words[i + 1] != "{" and code.said(i + 1, stop) not in ("true", "false"):
                yield "value", i + 1, stop, "0"
        if word == "(" and i in code.other and code.kinds[i - 1] == "name" \
                and code.words[i - 1] not in KEYWORDS:
            arguments = code.parts(i + 1, code.other[i])
            if arguments and i - 1 > first:
                yield "passed on", i - 1, code.other[i] + 1, arguments[0]
            for begin, stop in arguments:
                yield "argument", begin, stop, "0"
                if SIZES.search(code.words[stop - 1]) or code.words[begin] == "sizeof":
                    yield "one less", begin, stop, f"{code.said(begin, stop)} - 1"


def statements(code, first, end, kind):
    """Slips with whole statements of a function."""
    heads = {j for i in range(first, end) if code.words[i] == "for" and i + 1 in code.other
             for j in range(i, code.other[i + 1])}
    for i in range(first, end):
        word = code.words[i]
        starts = code.words[i - 1] in ("{", "}", ";", ":", "else", "do") \
            or code.words[i - 1] == ")" and code.words[code.other[i - 1] - 1] in HEADS
        if code.words[i - 1] == ":" and "?" in code.words[code.left(i - 1, 0) - 1:i]:
            starts = False
        if word in ("if", "while") and code.words[i + 1] == "(":
            stop = code.other[i + 1]
            yield "never", i + 2, stop, "0"
            if word == "if":
                yield "always", i + 2, stop, "1"
            yield "negated", i + 2, stop, f"!({code.said(i + 2, stop)})"
        if word == "for" and code.words[i + 1] == "(":
            marks = [j for j in range(i + 2, code.other[i + 1]) if code.words[j] == ";"]
            if len(marks) == 2 and marks[1] > marks[0] + 1:
                yield "never", marks[0] + 1, marks[1], "0"
        if word in ("case", "default"):
            stop = next(j for j in range(i, end) if code.words[j] == ":")
            yield "left out", i, stop + 1, ""
        if i in heads or not starts or word in ("{", "}", ";", "case", "default", "else") or word in HEADS:
            continue
        stop = i
        while stop < end and code.words[stop] != ";":
            stop = code.other.get(stop, stop) + 1 if code.words[stop] in "([{" else stop + 1
        inside = code.words[i:stop]
        if word == "return" and stop > i + 1:
            values = ["0"] if "*" in kind or not re.search(r"\b(bool|int)\b", kind) else \
                ["0", "1"] if "bool" in kind else ["0", "-1", "1"]
            for value in values:
                yield "returned", i + 1, stop, value
        if word in ("return", "break", "continue", "goto"):
            yield "deleted", i, stop, ""
        elif inside and (any(w in ASSIGNS | {"++", "--"} for w in inside) or "(" in inside) \
                and (code.words[i + 1] in ASSIGNS | {"(", "[", ".", "->", "++", "--"}
                     or word in ("*", "(", "++", "--")):
            yield "deleted", i, stop, ""


def table(code, first, end):
    """Entries of a table, or of a list in a function, that are left out."""
    for i in range(first - 1, end):
        if code.words[i] == "{" and i in code.other and (
                code.words[i - 1] in ("=", "{", ",") or i == first - 1):
            for begin, stop in code.parts(i + 1, code.other[i]):
                last = stop < len(code.words) and code.words[stop] == ","
                yield "entry", begin, stop + last, ""


def mutants(text):
    """Every mutant of a file, each once."""
    code = Code(text)
    for name, kind, first, end in places(code):
        seen, counts = set(), collections.Counter()
        found = list(expressions(code, first, end)) + list(table(code, first, end)) * (kind == "table")
        if kind != "table":
            found += statements(code, first, end, kind)
            inner = [i + 1 for i in range(first, end) if code.words[i:i + 2] == ["=", "{"]]
            for i in inner:
                found += table(code, i + 1, code.other[i])
        for slip, begin, stop, now in sorted(found, key=lambda f: (f[1], f[2], f[0], str(f[3]))):
            at, last = code.spans[begin][0], code.spans[stop - 1][1]
            if isinstance(now, tuple):
                now = text[code.spans[now[0]][0]:code.spans[now[1] - 1][1]]
            was = code.said(begin, stop)
            if was == now or (at, last, now) in seen:
                continue
            seen.add((at, last, now))
            counts[slip, was, now] += 1
            yield Mutant(name, slip, f"{was} -> {' '.join(now.split())}", counts[slip, was, now],
                         at, last, now)


def key(mutant):
    """What names a mutant as long as its code is the same, wherever that stands."""
    what = hashlib.sha1(f"{mutant.was} {mutant.nth}".encode()).hexdigest()[:10]
    return f"{mutant.name} {mutant.kind.replace(' ', '-')} {what}"
