"""An independent judge of JSON Schema, python3-jsonschema, and values to try.

Numbers are int and Decimal, so they are exact; a Decimal that is whole becomes
an int, because jsonschema takes no other for an integer. Formats are
annotations, as in the library: no format checker is given. What jsonschema
cannot judge is not judged, and counted: references to other documents, which
it would fetch; patterns that Python's re refuses; schemas that do not fit
their meta-schema.
"""
import decimal
import re
from collections import OrderedDict

import jsonschema

from .common import Num

decimal.getcontext().prec = 1000  # 1e300 % 7 has to be computed


def native(v):
    """A value with int and Decimal for its numbers."""
    if isinstance(v, Num):
        n = decimal.Decimal(v)
        return int(n) if abs(n.adjusted()) < 5000 and n == n.to_integral_value() else n
    if isinstance(v, dict):
        return OrderedDict((str(k), native(x)) for k, x in v.items())
    if isinstance(v, list):
        return [native(x) for x in v]
    return v


def not_judged(s):
    """What of a schema jsonschema cannot judge, or None."""
    if isinstance(s, list):
        return next(filter(None, map(not_judged, s)), None)
    if not isinstance(s, dict):
        return None
    for k, v in s.items():
        if k == "$ref" and isinstance(v, str) and not v.startswith("#"):
            return "$ref to another document"
        if k == "pattern" and isinstance(v, str):
            try:
                re.compile(v)
            except re.error:
                return "pattern"
        if why := not_judged(v):
            return why
    return None


class Oracle:
    """Judges values by one schema."""

    def __init__(self, schema):
        self.schema = native(schema)
        draft7 = isinstance(schema, dict) and "draft-07" in str(schema.get("$schema", ""))
        kind = jsonschema.Draft7Validator if draft7 else jsonschema.Draft202012Validator
        self.unknown = not_judged(self.schema)
        try:
            kind.check_schema(self.schema)
        except jsonschema.SchemaError as e:
            self.unknown = "not a schema: " + e.message[:60]
        self.validator = kind(self.schema)

    def check(self, value):
        """The (place, keyword) pairs that a value breaks."""
        return [("/".join(map(str, e.absolute_schema_path)) +
                 (" " + e.message if e.validator == "required" else ""), e.validator)
                for e in self.validator.iter_errors(value)]

    def fits(self, schema, value):
        return self.validator.evolve(schema=schema).is_valid(value)

    def resolve(self, ref):
        """The schema that a reference into this document names."""
        s = self.schema
        for step in ref[2:].split("/") if ref != "#" else ():
            step = step.replace("~1", "/").replace("~0", "~")
            s = s[int(step)] if isinstance(s, list) else s.get(step, True)
        return s

    WORDS = ["a", "abc", "", "ab-c", "A", "a1", "1", "12:30", "2024-01-02", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05",
             "a@b.co", "http://a.bc/d", "https://a.bc/d", "00000000-0000-4000-8000-000000000000", "#a1b2c3", "#abc", "1h", "7d",
             "1.2.3", "1.2.3.4", "a/b", "/a", "a.b", "a:b", "_a", "en", "en-US", "EUR", "+15551234567", "a" * 12, "a" * 24,
             "a" * 32, "0" * 10, "0" * 24, "a" * 40, "x" * 101]

    def sample(self, s=None, depth=0):
        """A value that should fit, as full as can be."""
        s = self.schema if s is None else s
        if not isinstance(s, dict) or depth > 12:
            return "x"
        if "$ref" in s:
            return self.sample(self.resolve(s["$ref"]), depth + 1)
        if "const" in s:
            return s["const"]
        if s.get("enum"):
            return s["enum"][0]
        for k in ("anyOf", "oneOf"):
            if s.get(k) and "properties" not in s:
                return self.sample(s[k][0], depth + 1)
        if "type" not in s and s.get("allOf"):
            return self.sample(s["allOf"][0], depth + 1)
        t = s.get("type", "object" if "properties" in s else "string")
        t = t[0] if isinstance(t, list) else t
        if t == "object":
            need = s.get("required", ())
            o = OrderedDict((k, self.sample(x, depth + 1)) for k, x in s.get("properties", {}).items()
                            if k in need or depth < 4)
            for k in need:
                o.setdefault(k, "x")
            return o
        if t == "array":
            return [self.sample(s.get("items", True), depth + 1)] * max(depth < 8, s.get("minItems", 0))
        if t in ("integer", "number"):
            low = s.get("minimum", s.get("exclusiveMinimum"))
            high = s.get("maximum", s.get("exclusiveMaximum"))
            ends = [low, low + 1] if low is not None else []
            ends += [high] if high is not None else []
            return self.first(s, [1, 0, 10, 100] + ends, 1)
        if t == "boolean":
            return True
        if t == "null":
            return None
        return self.first(s, self.WORDS, "x")

    def first(self, schema, values, other):
        return next((v for v in values if self.fits(schema, v)), other)
