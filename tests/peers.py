#!/usr/bin/env python3
"""The example agent against real servers on 127.0.0.1: Python's ssl, Node,
nginx and openssl s_server. Each answers a turn of two rounds, whole, chunked
and streamed; the second round must come on the same connection.

A server that is not installed is reported as skipped. Bounded: a run of the
agent gets 20 seconds, all of it is over in less than a minute.
"""
import http.server
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("BUILD", "build")
CERT, KEY = BUILD / "standin.crt", BUILD / "standin.key"
WORDS = "It is 42 degrees, the peer says."

check = Checks("peers")


def events(request):
    """The answer as a list of JSON texts: one when whole, more when streamed."""
    stream = request.get("stream")
    if any(m["role"] == "tool" for m in request["messages"]):
        say = {"content": WORDS}
        stop = "stop"
    else:
        say = {"content": None, "tool_calls": [{
            "index": 0, "id": "c1", "type": "function",
            "function": {"name": "get_temperature", "arguments": "{}"}}]}
        stop = "tool_calls"
    if not stream:
        say["role"] = "assistant"
        return [json.dumps({"choices": [
            {"index": 0, "message": say, "finish_reason": stop}]})]
    return ["data: " + json.dumps({"choices": [
        {"index": 0, "delta": say}]}) + "\n\n",
        "data: " + json.dumps({"choices": [
            {"index": 0, "delta": {}, "finish_reason": stop}]}) + "\n\n",
        "data: [DONE]\n\n"]


def response(path, body):
    """Bytes in the framing that the path asks for, and whether to go on."""
    pieces = [p.encode() for p in events(json.loads(body))]
    whole = b"".join(pieces)
    ok = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    framing = path.split("/")[1]
    if framing == "whole":
        return ok + b"Content-Length: %d\r\n\r\n" % len(whole) + whole, True
    if framing == "chunked":
        return ok + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(
            b"%x;ext=1\r\n%s\r\n" % (len(p), p) for p in pieces
        ) + b"0\r\nX-Trailer: 1\r\n\r\n", True
    return {
        "until-end": ok + b"\r\n" + whole,
        "close": ok + b"Connection: close\r\nContent-Length: %d\r\n\r\n"
                 % len(whole) + whole,
        "garbage": bytes(range(256)) * 40,
        "huge": ok + b"X: " + b"y" * 1000000 + b"\r\n\r\n" + whole,
        "headers": ok + b"X: 1\r\n" * 20000 + b"\r\n" + whole,
        "cut": ok + b"Content-Length: %d\r\n\r\n" % (len(whole) + 1) + whole,
        "portal": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                  b"Content-Length: 19\r\n\r\n<html>Log in</html>",
        "moved": b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\n"
                 b"Content-Length: 0\r\n\r\n",
    }[framing], False


def read_request(read):
    """(path, body) from a function that gives bytes, or None at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = read()
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    length = [int(line.split(b":")[1]) for line in head.split(b"\r\n")
              if line.lower().startswith(b"content-length:")][0]
    while len(body) < length:
        body += read()
    return head.split()[1].decode(), body


# ---- the agent ----

def agent(port, path, *more):
    env = dict(os.environ, OPENAI_API_KEY="sk-canary")
    cmd = [str(BUILD / "agent"), "--verbose", "--provider", "openai", "--ca", str(CERT),
           "--base-url", f"https://localhost:{port}/{path}", *more,
           "how hot is the cpu"]
    p = subprocess.run(cmd, env=env, stdin=subprocess.DEVNULL, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=120)
    check("canary" not in p.stdout, f"{path}: the key is shown", p.stdout)
    return p.returncode, p.stdout


def turn(peer, port, path, *more):
    """A turn that must work. True when it did."""
    code, out = agent(port, path, *more)
    return check(code == 0 and "call     get_temperature {}" in out and
                 WORDS in out, f"{peer} {path} {' '.join(more)}", out)


def turns(peer, port, connections=None):
    """Whole, chunked and streamed, each on one connection."""
    for path in "whole", "chunked":
        for more in ["--no-stream"], []:
            before = connections() if connections else 0
            turn(peer, port, path, *more)
            if connections:
                n = connections() - before
                check(n == 1, f"{peer} {path}: {n} connections for 2 rounds")


def version13(peer, port, connections=None):
    """A server of TLS 1.3 alone. TLS13 says that the agent's mbedTLS has it,
    as tests/tls does; else it may say that it has not."""
    if os.environ.get("TLS13"):
        turns(f"{peer}, TLS 1.3", port, connections)
        return True
    code, out = agent(port, "whole")
    if code == 0:
        check(WORDS in out, f"{peer}, TLS 1.3", out)
    elif check("TLS" in out and "call " not in out, f"{peer}, TLS 1.3", out):
        check.skip(f"{peer}, TLS 1.3", "not in this mbedTLS, which says so")
    return code == 0


def resumption(peer, server):
    """Two rounds on two connections: the second resumes the first's session."""
    before = server.count, server.resumed
    turn(peer, server.port, "close")
    n = server.count - before[0], server.resumed - before[1]
    check(n == (2, 1), f"{peer}: {n} connections and resumptions")


# ---- the peers ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, process=None):
    for _ in range(200):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return True
        if process and process.poll() is not None:
            return False
        time.sleep(0.02)
    return False


class Raw:
    """Python's sockets, with or without its ssl."""

    def __init__(self, tls=None):
        self.count = self.resumed = 0
        self.tls = tls
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            c, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()

    def serve(self, c):
        c.settimeout(10)
        try:
            if self.tls:
                c = self.tls.wrap_socket(c, server_side=True)
                self.resumed += c.session_reused
            self.count += 1
            more = True
            while more:
                request = read_request(lambda: c.recv(65536))
                if not request:
                    break
                answer, more = response(*request)
                c.sendall(answer)
            if self.tls:
                c.unwrap()
        except OSError:
            pass
        c.close()


def context(version):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(CERT, KEY)
    c.minimum_version = c.maximum_version = version
    return c


def python_peer():
    s = Raw(context(ssl.TLSVersion.TLSv1_2))
    turns("python", s.port, lambda: s.count)
    turn("python", s.port, "until-end")
    resumption("python", s)
    for path in "garbage", "huge", "headers", "cut", "portal", "moved":
        for more in ["--no-stream"], []:
            code, out = agent(s.port, path, *more)
            check(code == 1 and "error" in out and "call " not in out,
                  f"python {path}", out)
    s = Raw(context(ssl.TLSVersion.TLSv1_3))
    if version13("python", s.port, lambda: s.count):
        resumption("python, TLS 1.3", s)


def openssl_peer():
    if not shutil.which("openssl"):
        return check.skip("openssl s_server", "openssl is not installed")
    for version in "-tls1_2", "-tls1_3":
        port = free_port()
        p = subprocess.Popen(
            ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert",
             str(CERT), "-cert_chain", str(CERT), "-key", str(KEY), "-quiet",
             version], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

        def serve():
            while True:
                request = read_request(lambda: os.read(p.stdout.fileno(), 65536))
                if not request:
                    return
                p.stdin.write(response(*request)[0])
                p.stdin.flush()

        time.sleep(0.3)
        threading.Thread(target=serve, daemon=True).start()
        if version == "-tls1_3":
            version13("openssl s_server", port)
        else:
            turns("openssl s_server", port)
        p.kill()
        p.wait()


NODE = """
const https = require('https'), fs = require('fs');
const [cert, key, version, words] = process.argv.slice(1);
let connections = 0;
const s = https.createServer({cert: fs.readFileSync(cert), key: fs.readFileSync(key),
                              minVersion: version, maxVersion: version}, (q, a) => {
  let body = '';
  q.on('data', d => body += d).on('end', () => {
    if (q.url == '/count') return a.end(String(connections));
    const r = JSON.parse(body), done = r.messages.some(m => m.role == 'tool');
    const say = done ? {content: words} : {content: null, tool_calls: [{index: 0, id: 'c1',
      type: 'function', function: {name: 'get_temperature', arguments: '{}'}}]};
    const stop = done ? 'stop' : 'tool_calls';
    const parts = r.stream
      ? [{delta: say}, {delta: {}, finish_reason: stop}].map(c =>
          'data: ' + JSON.stringify({choices: [{index: 0, ...c}]}) + '\\n\\n').concat('data: [DONE]\\n\\n')
      : [JSON.stringify({choices: [{index: 0, message: {role: 'assistant', ...say},
                                    finish_reason: stop}]})];
    if (q.url.startsWith('/whole')) return a.end(parts.join(''));
    const next = () => parts.length ? (a.write(parts.shift()), setTimeout(next, 5)) : a.end();
    next();
  });
});
s.on('secureConnection', () => connections++);
s.listen(0, '127.0.0.1', () => console.log(s.address().port));
"""


def node_peer():
    if not shutil.which("node"):
        return check.skip("Node", "node is not installed")
    for version in "TLSv1.2", "TLSv1.3":
        p = subprocess.Popen(["node", "-e", NODE, str(CERT), str(KEY), version,
                              WORDS], stdout=subprocess.PIPE, text=True)
        port = int(p.stdout.readline())

        def connections():
            c = ssl.create_default_context(cafile=CERT)
            with c.wrap_socket(socket.create_connection(("127.0.0.1", port)),
                               server_hostname="localhost") as s:
                s.sendall(b"GET /count HTTP/1.1\r\nHost: x\r\n"
                          b"Connection: close\r\n\r\n")
                data = b""
                while more := s.recv(4096):
                    data += more
            seen[0] += 1  # this one
            return int(data.split(b"\r\n\r\n")[1].split(b"\r\n")[-1]) - seen[0]

        seen = [0]
        if version == "TLSv1.3":
            version13("Node", port, connections)
        else:
            turns("Node", port, connections)
        p.kill()
        p.wait()


NGINX = """
daemon off;
master_process off;
pid {dir}/pid;
error_log {dir}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {dir}/a;
    proxy_temp_path {dir}/b;
    fastcgi_temp_path {dir}/c;
    uwsgi_temp_path {dir}/d;
    scgi_temp_path {dir}/e;
    ssl_certificate {cert};
    ssl_certificate_key {key};
    log_format one '$connection';
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_protocols TLSv1.2;
        access_log {dir}/connections one;
        location / {{
            proxy_pass http://127.0.0.1:{upstream};
            proxy_http_version 1.1;
            proxy_buffering off;
        }}
    }}
    server {{
        listen 127.0.0.1:{port13} ssl;
        ssl_protocols TLSv1.3;
        location / {{ proxy_pass http://127.0.0.1:{upstream}; }}
    }}
}}
"""


def nginx_peer():
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not nginx:
        return check.skip("nginx", "nginx-light is not installed")
    with tempfile.TemporaryDirectory() as d:
        port, port13 = free_port(), free_port()
        config = pathlib.Path(d) / "nginx.conf"
        config.write_text(NGINX.format(
            dir=d, cert=CERT.resolve(), key=KEY.resolve(), port=port,
            port13=port13, upstream=Raw().port))
        p = subprocess.Popen([nginx, "-p", d, "-c", str(config)],
                             stderr=subprocess.PIPE, text=True)
        if not wait_for(port, p):
            check(False, "nginx starts", p.communicate()[1])
            return
        log = pathlib.Path(d) / "connections"

        def connections():
            time.sleep(0.05)
            return len(set(log.read_text().split())) if log.exists() else 0

        turns("nginx", port, connections)
        version13("nginx", port13)
        p.kill()
        p.communicate()


def main():
    if not (BUILD / "agent").exists() or not CERT.exists():
        check.skip("all peers", "build/agent is not there: make all")
    else:
        for peer in python_peer, openssl_peer, node_peer, nginx_peer:
            began = time.time()
            before = check.passed
            try:
                peer()
            except Exception as e:  # one peer's trouble is not the next one's
                check(False, f"{peer.__name__}: {e!r}")
            print(f"{peer.__name__}: {check.passed - before} checks, "
                  f"{time.time() - began:.1f} s")
    return check.end()


sys.exit(main())
