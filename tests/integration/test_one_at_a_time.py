# SPDX-License-Identifier: MIT
"""Servers that allow one connection at a time, and servers that refuse ranges: the
file comes in spite of the status with which they refuse the rest."""
import contextlib
import http.server
import threading
import time

import pytest

from lab import asked_range, bytes_of
from odd_answers import reply, serve

SIZE = 3_000_000
DATA = bytes_of(SIZE)


class OneConnection:
    """Sends slowly on one connection, and refuses all others with `status`.

    The connection stays open after an answer, and counts until it is closed."""

    def __init__(self, status):
        self.status, self.lock = status, threading.Lock()
        self.held, self.n_refused = None, 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      self.handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d/d.bin" % self.server.server_port

    def handler(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_GET(self):
                owner.answer(self)

            def finish(self):
                with owner.lock:
                    if owner.held == self.client_address:
                        owner.held = None
                with contextlib.suppress(OSError):
                    super().finish()

        return Handler

    def answer(self, to):
        with self.lock:
            self.held = self.held or to.client_address
            is_refused = self.held != to.client_address
            self.n_refused += is_refused
        if is_refused:
            to.send_response(self.status)
            to.send_header("Content-Length", "0")
            to.end_headers()
            return
        head = "".join(f"{k}: {v}\r\n" for k, v in to.headers.items())
        begin, last = asked_range("GET / HTTP/1.1\r\n" + head) or (0, None)
        end = SIZE if last is None else min(last + 1, SIZE)
        to.send_response(206 if "Range" in to.headers else 200)
        to.send_header("Content-Range", f"bytes {begin}-{end - 1}/{SIZE}")
        to.send_header("Content-Length", str(end - begin))
        to.send_header("ETag", '"e"')
        to.end_headers()
        with contextlib.suppress(OSError):
            for at in range(begin, end, 30_000):
                to.wfile.write(DATA[at:min(at + 30_000, end)])
                time.sleep(0.02)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def one_connection():
    servers = []

    def make(status):
        servers.append(OneConnection(status))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 416, 420, 421, 430])
def test_status_beside_a_flowing_answer_is_about_connections(
        lab, one_connection, status):
    server = one_connection(status)
    run = lab.xdownload(server.url, "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA
    assert server.n_refused > 0
    assert run.report["bytes_redundant"] == 0


@pytest.mark.parametrize("algorithm", ["basic", "progress"])
def test_so_it_is_for_policies_with_blocks(lab, one_connection, algorithm):
    server = one_connection(404)
    run = lab.xdownload(server.url, "-o", "out", "--algorithm", algorithm)
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA


def refuses(status, from_byte=0):
    """Refuses the ranges that begin there or later, and sends the whole file."""
    def answer(head):
        asked = asked_range(head)
        if asked and asked[0] >= from_byte:
            return reply(status)
        return serve(head, DATA)
    return answer


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 411, 412, 416, 422,
                                    500, 502, 503, 504])
def test_status_that_comes_to_every_range_is_about_ranges(lab, status):
    run = lab.xdownload(lab.odd(refuses(status)).url("d.bin"), "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA


@pytest.mark.parametrize("status", [400, 403, 404, 410, 416, 501])
def test_server_that_refuses_later_ranges_sends_the_whole(lab, status):
    run = lab.xdownload(lab.odd(refuses(status, 1)).url("d.bin"), "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA


@pytest.mark.parametrize("status", [404, 412, 500])
@pytest.mark.parametrize("algorithm", ["adaptive", "basic"])
def test_server_of_a_manifest_that_refuses_ranges_sends_the_whole(
        lab, status, algorithm):
    url = lab.odd(refuses(status)).url("d.bin")
    manifest = lab.write("m.meta4", f"""
        <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="d.bin">
        <size>{SIZE}</size><url>{url}</url></file></metalink>""")
    run = lab.xdownload(manifest, "-o", "out", "--algorithm", algorithm)
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA


def test_missing_file_is_asked_for_twice(lab):
    n = []
    run = lab.xdownload(lab.odd(lambda h: n.append(h) or reply(404)).url("d.bin"),
                        "-o", "out")
    assert run.rc == 1
    assert "404" in run.err
    assert [asked_range(h) is None for h in n] == [False, True]
