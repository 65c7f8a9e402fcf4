# SPDX-License-Identifier: MIT
"""The line goes away for a while, with all depots: in a network namespace, the
command is at one end of a wire and the depots are at the other."""
import ctypes
import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest
from lab import PATIENCE, asked_range, wait_until
from test_oddities import answers

LIBC = ctypes.CDLL(None, use_errno=True)
NETNS = 0x40000000
SERVER = "198.18.9.1"
SLOW = bool(os.environ.get("XD_SLOW"))

# In all depots' time of 2 s: what the line may be away, and when the
# download is over at the latest.
SIZE = 3 << 20
RATE = 512 << 10  # of each of three depots
AFTER = 3  # seconds after the line is back, bytes come at the latest


def ip(*words):
    return subprocess.run(["ip", *words], check=False,
                          stderr=subprocess.PIPE).returncode == 0


class Wire:
    def __init__(self):
        self.client, self.server = (f"xd-{end}-{os.getpid()}" for end in "cs")
        made = (ip("netns", "add", self.client) and
                ip("netns", "add", self.server) and
                ip("-n", self.client, "link", "add", "wire", "type", "veth",
                   "peer", "name", "wire", "netns", self.server) and
                ip("-n", self.server, "addr", "add", f"{SERVER}/24",
                   "dev", "wire") and
                ip("-n", self.server, "link", "set", "wire", "up"))
        if not made:
            self.close()
            pytest.skip("only root can have a network of its own")
        self.set_address("198.18.9.2")
        self.set_link("up")

    def close(self):
        ip("netns", "del", self.client)
        ip("netns", "del", self.server)

    @contextmanager
    def at_server(self):
        """Sockets that are made here are the server's."""
        with open("/proc/thread-self/ns/net") as own, \
                open(f"/run/netns/{self.server}") as there:
            assert LIBC.setns(there.fileno(), NETNS) == 0
            try:
                yield
            finally:
                assert LIBC.setns(own.fileno(), NETNS) == 0

    def set_address(self, address):
        ip("-n", self.client, "addr", "flush", "dev", "wire")
        if address:
            assert ip("-n", self.client, "addr", "add", f"{address}/24",
                      "dev", "wire")

    def set_link(self, state):
        assert ip("-n", self.client, "link", "set", "wire", state)

    def lose_packets(self, lose):
        """Without a word: they go to an address that nobody has."""
        if lose:
            for end, host in ((self.client, SERVER),
                              (self.server, "198.18.9.2")):
                assert ip("-n", end, "neigh", "replace", host, "lladdr",
                          "02:00:00:00:00:01", "dev", "wire", "nud",
                          "permanent")
        else:
            for end in (self.client, self.server):
                assert ip("-n", end, "neigh", "flush", "dev", "wire", "nud",
                          "permanent")


@pytest.fixture(name="wire")
def one_wire():
    wire = Wire()
    yield wire
    wire.close()


def link_down(wire):
    wire.set_link("down")
    return lambda: wire.set_link("up")


def packets_lost(wire):
    wire.lose_packets(True)
    return lambda: wire.lose_packets(False)


def another_address(wire):
    wire.set_address(None)
    return lambda: wire.set_address("198.18.9.3")


@pytest.mark.parametrize("how, away, silence", [
    (packets_lost, 4, "2s"), *(pytest.param(*row, marks=pytest.mark.slow)
                               for row in [(link_down, 4, "2s"),
                                           (another_address, 4, "2s"),
                                           (another_address, 25, "5s")])])
def test_bytes_come_soon_after_the_line_is_back(lab, wire, how, away, silence):
    data = lab.file("f.bin", SIZE)
    with wire.at_server():
        depots = lab.depots(3, address=SERVER, config=f"limit_rate {RATE};")
    lab.before = ["ip", "netns", "exec", wire.client, *lab.before]
    process = lab.start(lab.exnode("f.bin", depots), "-o", "f.bin",
                        "--silence", silence, "-v", "-t", "1")
    part = lab.path("f.bin.part")
    wait_until(lambda: part.exists() and part.stat().st_blocks > 512, "bytes")
    mend = how(wire)
    time.sleep(away)
    mend()
    back = time.monotonic()
    run = process.wait()
    took = time.monotonic() - back
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert took < AFTER + SIZE / RATE / 3, run.err
    assert [d["failures"] for d in run.report["depots"]] == [0, 0, 0]
    assert "waiting for the network" in run.err


@pytest.mark.slow
def test_a_line_that_stays_away_ends_it_at_the_end_of_patience(lab, wire):
    lab.file("f.bin", SIZE)
    with wire.at_server():
        depots = lab.depots(3, address=SERVER, config=f"limit_rate {RATE};")
    lab.before = ["ip", "netns", "exec", wire.client, *lab.before]
    process = lab.start(lab.exnode("f.bin", depots), "-o", "f.bin",
                        "--silence", "1s", "--patience", "4s", "-t", "1")
    part = lab.path("f.bin.part")
    wait_until(lambda: part.exists() and part.stat().st_blocks > 512, "bytes")
    packets_lost(wire)
    gone = time.monotonic()
    run = process.wait()
    assert 3 < time.monotonic() - gone < 5.5, run.err
    assert run.rc == 1
    assert "the network is down: no depot has answered for 4 s" in run.err
    assert [d["failures"] for d in run.report["depots"]] == [0, 0, 0]


# Longer than five attempts with their pauses take.
LONG = 9


def started(lab, depots, kind):
    """Of URLs that are inspected first, of a manifest, or of one that does not
    say the size."""
    words = {"urls": [d.url("f.bin") for d in depots],
             "manifest": [lab.metalink("f.bin", depots)],
             "no size": [lab.urls("f.bin", depots)]}[kind]
    return lab.start(*words, "-o", "f.bin", "--silence", "1s", "-v")


@pytest.mark.parametrize("kind, how", [
    ("urls", link_down),
    *[pytest.param(kind, how, marks=pytest.mark.slow) for kind, how in [
        ("urls", packets_lost), ("manifest", link_down),
        ("manifest", packets_lost), ("no size", link_down),
        ("no size", packets_lost)]]])
def test_an_outage_before_the_first_byte_is_waited_out(lab, wire, how, kind):
    data = lab.file("f.bin", SIZE)
    with wire.at_server():
        depots = lab.depots(3, address=SERVER)
    lab.before = ["ip", "netns", "exec", wire.client, *lab.before]
    mend = how(wire)
    process = started(lab, depots, kind)
    time.sleep(LONG)
    mend()
    run = process.wait()
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


class Away:
    """Depots at the other end of the wire, and the moment from which on it loses
    every packet: before the n-th request is answered for which is_it() holds."""

    def __init__(self, lab, wire, data, depots):
        self.wire, self.answer = wire, answers(data)
        self.is_it = lambda head: False
        self.lock, self.n = threading.Lock(), 0
        self.gone = threading.Event()
        with wire.at_server():
            self.depots = [lab.odd(self._answer, address=SERVER)
                           for _ in range(depots)]

    def begin_at(self, n, is_it=lambda head: True):
        self.n, self.is_it = n, is_it

    def _answer(self, head):
        with self.lock:
            self.n -= self.is_it(head)
            if self.n == 0 and self.is_it(head):
                self.wire.lose_packets(True)
                self.gone.set()
        return self.answer(head)

    def last(self, seconds):
        """It lasts so long from then on."""
        assert self.gone.wait(PATIENCE), "the request never came"
        time.sleep(seconds)
        self.wire.lose_packets(False)


# Further samples than the first bytes are asked for to compare what depots have.
def is_behind_the_first_bytes(head):
    return (asked_range(head) or (0, 0))[0] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["typed", "size unknown"])
def test_an_outage_while_copies_are_compared_is_waited_out(lab, wire, kind):
    data = lab.file("f.bin", SIZE)
    away = Away(lab, wire, data, 3)
    lab.before = ["ip", "netns", "exec", wire.client, *lab.before]
    away.begin_at(1, is_behind_the_first_bytes)
    words = ([d.url("f.bin") for d in away.depots] if kind == "typed"
             else [lab.urls("f.bin", away.depots)])
    process = lab.start(*words, "-o", "f.bin", "--silence", "2s")
    away.last(LONG)
    run = process.wait()
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.slow
def test_an_outage_while_a_part_is_compared_is_waited_out(lab, wire):
    data = lab.file("f.bin", SIZE)
    away = Away(lab, wire, data, 3)
    lab.before = ["ip", "netns", "exec", wire.client, *lab.before]
    manifest = lab.exnode("f.bin", away.depots)
    process = lab.start(manifest, "-o", "f.bin", "--limit-rate", "1m")
    part = lab.path("f.bin.part")
    wait_until(lambda: part.exists() and part.stat().st_blocks > 2048, "bytes")
    process.send(signal.SIGTERM)
    assert process.wait().rc == 130
    away.begin_at(3)
    process = lab.start(manifest, "-o", "f.bin", "--silence", "2s")
    away.last(LONG)
    run = process.wait()
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "of it there already" in run.err


def test_depots_that_never_answer_may_not_exist(lab, wire):
    lab.file("f.bin", SIZE)
    with wire.at_server():
        depots = lab.depots(3, address=SERVER)
    lab.before = ["ip", "netns", "exec", wire.client, *lab.before]
    packets_lost(wire)
    run = lab.xdownload(lab.metalink("f.bin", depots), "-o", "f.bin",
                        "--silence", "300ms", "--patience", "3s")
    assert run.rc == 1
    assert ("no depot has answered for 3 s: the network is down, or none of "
            "them can be reached") in run.err


def test_depots_that_fall_silent_beside_one_without_ranges_are_no_outage(lab):
    """It is not asked for bytes while others may have them, but answers."""
    data = lab.file("f.bin", SIZE)
    holds = threading.Event()

    def answer(head):
        first, last = asked_range(head)
        last = min(SIZE - 1, last)
        if first >= SIZE // 2:
            holds.wait()
        return (f"HTTP/1.1 206 Partial Content\r\nConnection: close\r\n"
                f"Content-Range: bytes {first}-{last}/{SIZE}\r\n"
                f"Content-Length: {last + 1 - first}\r\n\r\n"
                ).encode() + data[first:last + 1]
    silent = [lab.odd(answer) for _ in range(2)]
    run = lab.xdownload(lab.metalink("f.bin", [*silent, lab.depot(ranges=False)]),
                        "-o", "f.bin", "--silence", "500ms", "-t", "1", "-v",
                        "--retry", "2", patience=50)
    holds.set()
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
