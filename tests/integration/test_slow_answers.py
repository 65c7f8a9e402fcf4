# SPDX-License-Identifier: MIT
"""Servers that take longer to answer than a silence of 5 s, the default: archives
made on demand, cold stores, reports."""
import hashlib
import threading
import time

import pytest

from odd_answers import Counter, reply, serve

SLOW = 6
DATA = bytes(range(256)) * 8
SUMS = hashlib.sha256(DATA).hexdigest().encode() + b"  d.bin\n"


def slowly(head):
    time.sleep(SLOW)
    if "SHA256SUMS" in head:
        return reply(200, SUMS)
    return serve(head, DATA)


def test_slow_server_is_asked_once_and_waited_for(lab):
    server = Counter([], slowly)
    run = lab.xdownload(lab.odd(server).url("d.bin"), "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA
    assert server.n == 1


def test_slow_copies_are_waited_for(lab):
    servers = [Counter([], slowly) for _ in range(2)]
    run = lab.xdownload(*(lab.odd(s).url("d.bin") for s in servers), "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA


def test_slow_checksum_file_is_waited_for(lab):
    server = lab.odd(Counter([], slowly))
    run = lab.xdownload(server.url("d.bin"), "--checksum",
                        server.url("SHA256SUMS"), "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA


def test_files_of_a_list_are_waited_for(lab):
    at = lab.odd(slowly)
    lab.write("list", at.url("a.bin") + "\n" + at.url("b.bin") + "\n")
    run = lab.xdownload("-i", "list")
    assert run.rc == 0, run.err
    assert lab.read("a.bin") == lab.read("b.bin") == DATA


class Hangs:
    """Answers nothing until it is released, and counts the requests."""

    def __init__(self, lab):
        self.released, self.n = threading.Event(), 0
        self.url = lab.odd(self).url("d.bin")

    def __call__(self, head):
        self.n += 1
        self.released.wait(100)
        return b""


@pytest.fixture
def hangs(lab):
    server = Hangs(lab)
    yield server
    server.released.set()


def test_silent_server_is_left_when_another_delivers(lab, hangs):
    good = lab.odd(lambda head: serve(head, DATA)).url("d.bin")
    run = lab.xdownload(hangs.url, good, "-o", "out", "--patience", "90s")
    assert run.rc == 0, run.err
    assert lab.read("out") == DATA


def test_silence_that_the_user_sets_is_the_limit(lab, hangs):
    run = lab.xdownload(hangs.url, "-o", "out", "--silence", "200ms",
                        "--retry", "2")
    assert run.rc == 1
    assert hangs.n == 2
    assert "no bytes for 0.2 s" in run.err


def test_server_that_never_answers_is_not_asked_again(lab, hangs):
    run = lab.xdownload(hangs.url, "-o", "out", "--patience", "6s")
    assert run.rc == 1
    assert hangs.n == 1
    assert "no bytes for 6.0 s" in run.err
