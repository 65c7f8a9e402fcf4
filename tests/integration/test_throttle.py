# SPDX-License-Identifier: MIT
"""The throttle is measured before anything relies on it."""
import selectors
import socket
import subprocess
import sys
import time

import pytest

from lab import THROTTLE, wait_until

RATE = 800_000
SIZE = 1_000_000
BURST = 65536


def curve(depot, ranges):
    """[(seconds, bytes so far)] of raw requests made at once."""
    selector = selectors.DefaultSelector()
    points, total = [], 0
    began = time.monotonic()
    for a, b in ranges:
        s = socket.create_connection(depot.host.split(":"))
        s.sendall(f"GET /f HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                  f"Range: bytes={a}-{b - 1}\r\n\r\n".encode())
        selector.register(s, selectors.EVENT_READ)
    while selector.get_map():
        for key, _ in selector.select():
            n = len(key.fileobj.recv(1 << 16))
            total += n
            points.append((time.monotonic() - began, total))
            if n == 0:
                selector.unregister(key.fileobj)
                key.fileobj.close()
    return points


def parts(n, size=SIZE):
    return [(i * size // n, (i + 1) * size // n) for i in range(n)]


@pytest.mark.plain
@pytest.mark.parametrize("connections", [1, 4, 20])
def test_all_connections_together_get_the_rate(lab, connections):
    # So slow that the bucket lasts for a third of a second: a machine may be
    # busy for so long.
    size, rate = 300_000, 200_000
    lab.file("f", size)

    def deviation():
        depot = lab.depot(rate=rate)
        time.sleep(BURST / rate)  # until the bucket is full
        seconds, total = curve(depot, parts(connections, size))[-1]
        return abs((total - BURST) / seconds / rate - 1)
    # The machine may be busy; a wrong rate is wrong every time.
    assert any(deviation() < 0.10 for _ in range(5))


@pytest.mark.parametrize("connections", [1, 4, 20])
def test_no_more_than_64_kib_come_ahead_of_the_rate(lab, connections):
    lab.file("f", SIZE)
    depot = lab.depot(rate=RATE)
    points = curve(depot, parts(connections))
    assert points[-1][1] >= SIZE
    for seconds, total in points:
        assert total <= BURST + RATE * seconds


def test_connections_share_the_rate_evenly(lab):
    lab.file("f", SIZE)
    depot = lab.depot(rate=RATE, stop_after=600_000)
    sockets = []
    for _ in range(4):
        s = socket.create_connection(depot.host.split(":"))
        s.sendall(b"GET /f HTTP/1.0\r\n\r\n")
        sockets.append(s)
    total = 0
    for s in sockets:
        s.settimeout(1)
    while total < 600_000:
        for s in sockets:
            try:
                total += len(s.recv(4096))
            except TimeoutError:
                pass
    for s in sockets:
        s.close()
    shares = depot.throttle.close()
    assert sum(shares) == 600_000
    assert max(shares) - min(shares) < BURST  # the first begins alone


def test_stop_after_falls_silent_without_closing(lab):
    lab.file("f", SIZE)
    depot = lab.depot(rate=10_000_000, stop_after=100_000)
    s = socket.create_connection(depot.host.split(":"))
    s.sendall(b"GET /f HTTP/1.0\r\n\r\n")
    s.settimeout(0.5)
    got = 0
    with pytest.raises(TimeoutError):
        while n := len(s.recv(1 << 16)):
            got += n
    s.close()
    assert got == 100_000


def test_after_stop_after_the_next_rate_holds(lab):
    lab.file("f", SIZE)
    depot = lab.depot(rate=50_000_000, stop_after=SIZE // 2, then=400_000)
    points = curve(depot, [(0, SIZE)])
    fast = max(s for s, total in points if total <= SIZE // 2)
    assert points[-1][0] - fast > 0.9 * (SIZE // 2 - BURST) / 400_000


def test_a_connection_is_reset_after_its_bytes(lab):
    lab.file("f", SIZE)
    depot = lab.depot(rate=50_000_000, reset_after=100_000)
    for _ in range(2):
        s = socket.create_connection(depot.host.split(":"))
        s.sendall(b"GET /f HTTP/1.0\r\n\r\n")
        got = 0
        with pytest.raises(ConnectionResetError):
            while n := len(s.recv(1 << 16)):
                got += n
        s.close()
        assert got <= 100_000
    assert sum(depot.throttle.close()) == 200_000


def test_rate_0_accepts_and_never_answers(lab):
    lab.file("f", SIZE)
    depot = lab.depot(rate=0)
    s = socket.create_connection(depot.host.split(":"))
    s.sendall(b"GET /f HTTP/1.0\r\n\r\n")
    s.settimeout(0.3)
    with pytest.raises(TimeoutError):
        s.recv(1)
    s.close()
    assert depot.requests() == []


def test_delay_holds_a_request_back(lab):
    lab.file("f", 10)
    depot = lab.depot(rate=RATE, delay=300)
    assert curve(depot, [(0, 10)])[0][0] >= 0.3  # before the first byte


def test_it_ends_with_its_parent(lab):
    parent = subprocess.Popen(
        [sys.executable, "-c", "import subprocess, sys, time\n"
         f"p = subprocess.Popen([{THROTTLE!r}, '--to', '127.0.0.1:9',"
         " '--rate', '1'], stdin=subprocess.PIPE)\n"
         "print(p.pid, flush=True); time.sleep(600)"],
        stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()

    def is_gone():
        try:
            with open(f"/proc/{pid}/stat") as f:
                return f.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True
    wait_until(is_gone, "the throttle ends")
