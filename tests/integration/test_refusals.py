# SPDX-License-Identifier: MIT
"""How often a server that refuses is asked: one live run for each kind of refusal.

tests/unit/sched/test_refusals.c and tests/unit/base/test_governor.c count the
requests of longer runs, in virtual time.
"""
import contextlib
import http.client
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.request

import pytest

SIZE = 6_000_000
DATA = os.urandom(1000) * (SIZE // 1000)
MOST_IN_VAIN = 30  # in the first minute
LIMIT = 100        # seconds; no run takes nearly as long


class Server:
    """Answers each request by a function of its range and its number, from 1 on."""

    def __init__(self, answer):
        self.answer, self.n, self.lock = answer, 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,),
                             daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                while self.one(connection):
                    pass
            except OSError:
                pass

    def one(self, connection):
        text = b""
        while b"\r\n\r\n" not in text:
            more = connection.recv(65536)
            if not more:
                return False
            text += more
        head, body = text.split(b"\r\n\r\n", 1)
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        left = int(length[1]) - len(body) if length else 0
        while left > 0:
            left -= len(connection.recv(65536)) or left
        asked = re.search(rb"bytes=(\d+)-(\d*)", head)
        begin = int(asked[1]) if asked else 0
        end = int(asked[2]) + 1 if asked and asked[2] else SIZE
        with self.lock:
            self.n += 1
            n = self.n
        return self.answer(connection, begin, min(end, SIZE), n)

    def close(self):
        self.listener.close()


def status(code, *fields):
    text = "HTTP/1.1 %d No\r\nContent-Length: 0\r\n" % code
    text += "".join(f + "\r\n" for f in fields)

    def answer(connection, begin, end, n):
        connection.sendall(text.encode() + b"\r\n")
        return True
    return answer


def reset(connection, begin, end, n):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          struct.pack("ii", 1, 0))
    return False


def hang_up(connection, begin, end, n):
    return False


def part(connection, begin, end, data):
    connection.sendall(b"HTTP/1.1 206 Part\r\nContent-Length: %d\r\n"
                       b"Content-Range: bytes %d-%d/%d\r\n\r\n"
                       % (end - begin, begin, end - 1, SIZE) + data)


def shorter_range_without_bytes(connection, begin, end, n):
    part(connection, begin, (begin + end) // 2 + 1, b"")
    return False


def one_byte(connection, begin, end, n):
    part(connection, begin, begin + 1, DATA[begin:begin + 1])
    return True


def serve(connection, begin, end, n):
    part(connection, begin, end, DATA[begin:end])
    return True


KINDS = {
    "429": status(429),
    "429 with Retry-After": status(429, "Retry-After: 2"),
    "503": status(503),
    "509": status(509),
    "403": status(403),
    "404": status(404),
    "reset": reset,
    "empty reply": hang_up,
    "206 without a byte": shorter_range_without_bytes,
    "one byte per answer": one_byte,
}


@pytest.fixture(params=list(KINDS))
def refuser(request):
    server = Server(KINDS[request.param])
    yield server
    server.close()


@pytest.fixture
def healthy():
    server = Server(serve)
    yield server
    server.close()


def run(tmp_path, *args):
    env = dict(os.environ, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path),
               AWS_ACCESS_KEY_ID="KEY", AWS_SECRET_ACCESS_KEY="SECRET")
    return subprocess.run([os.environ["XDOWNLOAD"], *args], cwd=tmp_path, env=env,
                          capture_output=True, text=True, timeout=LIMIT)


def manifest(tmp_path, files, *urls):
    text = '<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
    for name in files:
        text += '<file name="%s"><size>%d</size>' % (name, SIZE)
        text += "".join("<url>%s/%s</url>" % (u, name) for u in urls) + "</file>"
    path = tmp_path / "m.meta4"
    path.write_text(text + "</metalink>")
    return str(path)


GET = ["-q", "--no-config", "--no-depot-cache", "--patience", "3s"]


def test_a_lone_server_that_refuses_is_asked_seldom(tmp_path, refuser):
    out = run(tmp_path, *GET, manifest(tmp_path, ["f.bin"],
                                                     refuser.url))
    assert out.returncode == 1
    assert 1 <= refuser.n <= MOST_IN_VAIN


def test_so_is_one_that_was_typed(tmp_path, refuser):
    out = run(tmp_path, *GET, "-o", "f.bin", refuser.url + "/f.bin")
    assert out.returncode == 1
    assert 1 <= refuser.n <= MOST_IN_VAIN


def test_so_is_one_beside_a_healthy_server(tmp_path, refuser, healthy):
    out = run(tmp_path, *GET, manifest(tmp_path, ["f.bin"], refuser.url,
                                       healthy.url))
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "f.bin").read_bytes() == DATA
    assert refuser.n <= MOST_IN_VAIN


def test_so_is_one_that_many_files_are_on(tmp_path, refuser):
    names = ["f%d.bin" % i for i in range(20)]
    out = run(tmp_path, *GET, manifest(tmp_path, names, refuser.url))
    assert out.returncode != 0
    # Each of the URLs may be missing, and is asked for once.
    assert refuser.n <= MOST_IN_VAIN + len(names)


def test_so_is_one_that_is_served_from(tmp_path, refuser):
    name = manifest(tmp_path, ["f.bin"], refuser.url)
    process = subprocess.Popen(
        [os.environ["XDOWNLOAD"], "serve", *GET, name], cwd=tmp_path,
        env=dict(os.environ, HOME=str(tmp_path)), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    try:
        url = process.stdout.readline().strip()
        with contextlib.suppress(OSError, http.client.HTTPException):
            urllib.request.urlopen(url, timeout=LIMIT).read()
        n = refuser.n
        assert 1 <= n <= MOST_IN_VAIN
        time.sleep(3)  # nobody waits for the bytes any more
        assert refuser.n <= n + 1
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)


@pytest.mark.parametrize("kind", KINDS)
def test_so_is_one_that_refuses_samples(tmp_path, healthy, kind):
    samples = []

    def answer(connection, begin, end, n):
        if end - begin > 4096:
            return serve(connection, begin, end, n)
        samples.append(begin)
        return KINDS[kind](connection, begin, end, n)

    server = Server(answer)
    out = run(tmp_path, *GET, manifest(tmp_path, ["f.bin"], server.url,
                                       healthy.url))
    server.close()
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "f.bin").read_bytes() == DATA
    assert len(samples) <= MOST_IN_VAIN


@pytest.mark.parametrize("quota", [2, 4])
def test_one_that_takes_a_few_requests_at_a_time_is_asked_for_much(tmp_path,
                                                                   quota):
    served, refused = [], []

    def answer(connection, begin, end, n):
        now = time.monotonic()
        if sum(t > now - 5 for t in served) >= quota:
            refused.append(now)
            return status(429, "Retry-After: 5")(connection, begin, end, n)
        served.append(now)
        part(connection, begin, end, b"")
        for at in range(begin, end, 50_000):
            connection.sendall(DATA[at:min(at + 50_000, end)])
            time.sleep(0.1)
        return True

    server = Server(answer)
    out = run(tmp_path, *GET, "--patience", "20s", "-o", "f.bin",
              server.url + "/f.bin")
    server.close()
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "f.bin").read_bytes() == DATA
    assert len(served) <= 3 * quota
    assert len(refused) <= 2 * quota


def test_so_is_a_store(tmp_path, refuser):
    (tmp_path / "film.mkv").write_bytes(DATA[:300_000])
    out = run(tmp_path, "put", "-q", "--patience", "3s", "film.mkv", "--to",
              refuser.url + "/d/")
    assert out.returncode != 0
    assert refuser.n <= MOST_IN_VAIN


@pytest.mark.parametrize("size", [300_000, 6_000_000])
def test_s3_store_that_refuses_is_asked_seldom(tmp_path, refuser, size):
    (tmp_path / "film.mkv").write_bytes(DATA[:size])
    out = run(tmp_path, "put", "-q", "--patience", "3s", "film.mkv", "--to",
              "s3://bkt/d", "--s3-endpoint", refuser.url, "--s3-part-size", "5m")
    assert out.returncode != 0
    assert 1 <= refuser.n <= MOST_IN_VAIN


@pytest.mark.parametrize("words", [[], ["--full"]])
def test_server_that_refuses_a_check_is_asked_seldom(tmp_path, refuser, words):
    out = run(tmp_path, "check", "-q", "--no-config", "--patience", "3s", *words,
              manifest(tmp_path, ["f.bin"], refuser.url))
    assert out.returncode != 0
    assert 1 <= refuser.n <= MOST_IN_VAIN


def test_a_pause_beyond_patience_is_told_and_not_waited_for(tmp_path):
    server = Server(status(429, "Retry-After: 3600"))
    out = run(tmp_path, *GET, "-o", "f.bin", server.url + "/f.bin")
    server.close()
    assert out.returncode == 1
    assert "again in 3600 s" in out.stderr
    assert server.n == 1


def test_a_pause_within_patience_is_kept(tmp_path):
    asked = []

    def busy_at_first(connection, begin, end, n):
        asked.append(n)
        if n == 1:
            return status(503, "Retry-After: 2")(connection, begin, end, n)
        return serve(connection, begin, end, n)

    server = Server(busy_at_first)
    out = run(tmp_path, "--no-config", "--no-depot-cache", "-q", "-o", "f.bin",
              server.url + "/f.bin")
    server.close()
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "f.bin").read_bytes() == DATA
