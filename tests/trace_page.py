#!/usr/bin/env python3
"""build/trace: the page of a turn has its parts, whoever reads it: a parser here, and
Chromium where that is installed. What was said in the turn is only ever text in it.
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from checks import Checks

BUILD = pathlib.Path(__file__).resolve().parents[1] / os.environ.get("BUILD", "build")
BROWSERS = "chromium", "chromium-browser", "google-chrome"
browser = next(filter(None, map(shutil.which, BROWSERS)), None)
EVIL = "</pre></title><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" '&lt;'"
check = Checks("trace_page")


class Page(html.parser.HTMLParser):
    """The rows by their kind, each its text; the elements by their number."""
    VOID = {"meta", "br", "link"}

    def __init__(self, text):
        super().__init__()
        self.rows, self.elements, self.points = {}, {}, []
        self.open, self.row, self.crossed = [], None, 0
        self.feed(text)
        self.close()
        check(not self.open and not self.crossed, "elements that do not nest")
        self.rows = {kind: ["".join(data) for data in rows] for kind, rows in self.rows.items()}

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements[tag] = self.elements.get(tag, 0) + 1
        if tag == "polyline":
            self.points.append((attrs["class"], attrs["points"].split()))
        if tag == "li" and "class" in attrs:
            self.row = self.rows.setdefault(attrs["class"], [])
            self.row.append([])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            self.crossed += not self.open or self.open.pop() != tag

    def handle_data(self, data):
        if self.row and "section" in self.open:
            self.row[-1].append(data)


def page_of(lines, folder):
    """The path of the page, and the page as it is written and as Chromium has it."""
    trace, page = folder / "t.jsonl", folder / "t.html"
    if lines:
        trace.write_text("".join(x if isinstance(x, str) else json.dumps(x) + "\n" for x in lines))
    text = subprocess.run([BUILD / "trace", trace], check=True, capture_output=True).stdout.decode()
    check(not re.search("(src|href)=|@import|url\\(", re.sub("&lt;.*?&gt;", "", text)), "the page wants something else")
    page.write_text(text)
    pages = [Page(text)]
    if browser:
        pages.append(Page(opened(page, folder)))
        check(pages[1].rows == pages[0].rows, "Chromium sees other rows")
        check({k: v for k, v in pages[1].elements.items() if k != "tbody"} == pages[0].elements,
              f"Chromium sees other elements: {pages[0].elements} {pages[1].elements}")
    return pages


def opened(page, folder):
    """The document as Chromium has it; empty where that does not run."""
    return subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           f"--user-data-dir={folder}/profile", "--dump-dom", page.as_uri()],
                          capture_output=True, timeout=300).stdout.decode()


def recorded(folder):
    """A turn of the example agent with the stand-in."""
    clean = {k: v for k, v in os.environ.items() if not re.search("_API_KEY|_HOST$", k)}
    subprocess.run([BUILD / "agent", "--standin", "openai", "--yes", "--trace", folder / "t.jsonl",
                    "how warm is this machine?"], env=clean, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    for page in page_of(None, folder):
        rows = page.rows
        check(len(rows.get("request", ())) == 2 and "POST /chat/completions" in rows["request"][0], f"requests: {rows.get('request')}")
        check("***" in rows["request"][0], "no header with its secret masked")
        check("how warm is this machine?" in rows["sent"][0], "the body of the request")
        check("data: {" in rows["came"][0] and "bytes in" in rows["came"][0], "the bytes as they came")
        check(len(rows.get("call", ())) == 1 and "get_temperature" in rows["call"][0] and "valid" in rows["call"][0],
              f"the call with its checks: {rows.get('call')}")
        check("celsius" in rows["result"][0], "the result of the call")
        check("stand-in" in rows["done"][0], "the answer")
        check([k for k, _ in page.points] == ["peak", "used"] and all(len(p) > 3 for _, p in page.points), "memory over time")


def event(ms, kind, **more):
    return {"ms": ms, "round": 1, "event": kind, **more}


def hostile(folder):
    """Everything that a turn may have, said by somebody who means harm."""
    call = {"id": "c1", "name": "x" + EVIL, "arguments": json.dumps({"a": EVIL})}
    lines = [event(0, "turn", text=EVIL, used=100, peak=100),
             event(1, "pick", picks={"set_lamp": 812, "get_" + EVIL: 40}, saved=1234, tools=2),
             {"ms": 2, "round": 1, "open": {"method": "POST", "path": "/" + EVIL, "headers": ["A: " + EVIL]}},
             {"ms": 2, "round": 1, "write": EVIL}, {"ms": 3, "round": 1, "write": "\u202e\x1b[2J\x00"},
             {"ms": 9, "round": 1, "status": 200, "retry_after_ms": -1, "should_retry": 0},
             {"ms": 10, "round": 1, "read": EVIL}, event(10, "piece", bytes=7), {"ms": 20, "round": 1, "read": "\u00fcber"},
             {"ms": 21, "round": 1, "end": "ok"}, event(22, "hydrated", **call, checks=EVIL, error="invalid_arguments", used=900, peak=950),
             event(23, "approval", **call), event(40, "verdict", **call, approved=False), event(40, "start", **call),
             event(50, "end", **call, text=EVIL, error="denied", used=500, peak=950), event(51, "retry", error="timeout", took_ms=100),
             event(60, "b\"onclick=x" + EVIL), event(100, "turn_end", text=EVIL, used=300, peak=950),
             event(200, "turn", text="second"), event(201, "turn_end", text="over"), '{"ms":1,"rou']
    for page in page_of(lines, folder):
        rows = page.rows
        check(not {"script", "img"} & set(page.elements), f"elements from what was said: {page.elements}")
        check(page.elements["section"] == 2 and page.elements["meter"] == 2, f"turns and scores: {page.elements}")
        for kind in ("turn", "pick", "request", "sent", "came", "call", "result", "done"):
            check(kind in rows and EVIL in rows[kind][0], f"{kind} is not told as it was: {rows.get(kind)}")
        check("set_lamp 812" in rows["pick"][0] and "1234 bytes need not be sent" in rows["pick"][0], rows["pick"][0])
        check("\\u202e\\x1b[2J\\x00" in rows["sent"][0] and "\u202e" not in rows["sent"][0], rows["sent"][0])
        check("\u00fcber" in rows["came"][0] and "2 pieces, until 20 ms" in rows["came"][0], rows["came"][0])
        check("invalid_arguments" in rows["call"][0] and "denied" in rows["approval"][0], "checks and approval")
        check("timeout" in rows["retry"][0] and "100 ms" in rows["retry"][0], rows["retry"][0])
        check(page.points[1] == ("used", "0,89.5 0.0,89.5 220.0,89.5 220.0,5.3 500.0,5.3 500.0,47.4 1000.0,47.4 1000.0,68.4 1000,68.4".split()),
              f"memory over time: {page.points}")


def large(folder):
    """Five megabytes."""
    lines = [event(0, "turn", text="much")]
    for i in range(1, 1300):
        lines += [{"ms": i, "round": 1, "read": "<%05d>" % i + "x" * 3900}, event(i, "text", bytes=7)]
    lines += [event(2000, "turn_end", text="over")]
    for page in page_of(lines, folder):
        check((folder / "t.jsonl").stat().st_size > 5e6, "the trace is too small")
        came = page.rows["came"]
        check(len(came) == 1 and re.findall(r"<(\d{5})>", came[0]) == ["%05d" % i for i in range(1, 1300)], "pieces are missing")


def main():
    global browser
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        blank = folder / "blank.html"
        blank.write_text("<p>Hello")
        if not browser or "Hello" not in opened(blank, folder):
            check.skip("the pages in Chromium", "it does not run here" if browser else "there is none")
            browser = None
        recorded(folder)
        hostile(folder)
        large(folder)
        for page in page_of(["\n", "no JSON\n", "[]\n", "{}\n"], folder):
            check("section" not in page.elements and page.elements["em"] == 1, "a file that is no trace")
        check(subprocess.run([BUILD / "trace", folder / "none"], capture_output=True).returncode == 2, "a file that is not there")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
