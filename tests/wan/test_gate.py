# SPDX-License-Identifier: MIT
"""What depots allow is measured before anything relies on it, as the wire is."""
import subprocess
import time

import pytest

from scenario import fluid
from wan import Wan, flood

pytestmark = pytest.mark.slow

A = "198.18.1.1"
LINE = f"depot a {A} rate=200mbit rtt=40ms"
MIB = 1 << 20


@pytest.fixture
def lay(tmp_path):
    """lay(words) is the Wan of such a depot, with `file` of 8 MiB."""
    def write(words, *lines):
        path = tmp_path / "scenario"
        path.write_text("\n".join([f"{LINE} {words}", *lines]) + "\n")
        (tmp_path / "file").write_bytes(bytes(8 * MIB))
        return Wan(path, tmp_path)
    return write


class Client:
    """A curl that asks for ranges of the file, one after the other."""

    def __init__(self, wan, sizes, scheme="http", *options):
        self.began = time.monotonic()
        words = ["curl", "-sS", "--cacert", wan.cacert, *options]
        for size in sizes:
            words += ["-r", f"0-{size - 1}", "-o", "/dev/null", "-w",
                      "%{http_code} %{size_download}\n",
                      f"{scheme}://{A}/file", "--next"]
        self.process = wan.start(words[:-1], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)

    def end(self):
        """(seconds, [(status, bytes)])"""
        out = self.process.communicate()[0]
        return time.monotonic() - self.began, [
            tuple(map(int, line.split())) for line in out.splitlines()]


def seconds(wan, *sizes, **options):
    took, answers = Client(wan, sizes, **options).end()
    assert answers == [(206, n) for n in sizes]
    return took


def test_each_connection_has_its_cap(lay):
    with lay("cap=1m") as wan:
        clients = [Client(wan, [3 * MIB]) for _ in range(3)]
        for client in clients:
            assert client.end()[0] == pytest.approx(3, abs=0.25)


def test_small_requests_escape_a_cap_of_requests_alone(lay):
    sizes = [MIB // 8] * 16  # at 512 KiB/s: 4 s, and the bucket is full once
    with lay("cap=512k burst=128k per=connection") as wan:
        assert seconds(wan, *sizes) >= 3.7
    with lay("cap=512k burst=128k per=request") as wan:
        assert seconds(wan, *sizes) <= 3


@pytest.mark.parametrize("per, took", [("connection", 4), ("request", 2)])
def test_streams_share_the_cap_of_their_connection(lay, per, took):
    with lay(f"cap=1m per={per}") as wan:
        words = ["curl", "-sS", "-Z", "--cacert", wan.cacert]
        for _ in range(2):
            words += ["-r", f"0-{2 * MIB - 1}", "-o", "/dev/null",
                      f"https://{A}/file"]
        began = time.monotonic()
        assert wan.run(words, stderr=subprocess.DEVNULL).rc == 0
        assert time.monotonic() - began == pytest.approx(took, abs=0.4)


@pytest.mark.parametrize("window", [9, 32, 64])
def test_a_window_is_what_goes_in_a_round_trip(lay, window):
    size = 64 * window * 1024
    with lay(f"window={window}k") as wan:
        rate = size / seconds(wan, size)
    assert 0.75 <= rate * 0.04 / (window * 1024) <= 1.02


def test_a_cap_ends_when_the_scenario_says_so(lay):
    with lay("cap=1m", "at 1s a cap=0") as wan:
        assert seconds(wan, 8 * MIB) == pytest.approx(1.6, abs=0.4)


@pytest.mark.parametrize("answer", ["503", "429", "reset", "close"])
def test_one_connection_more_is_refused(lay, answer):
    with lay(f"cap=1m most=2 answer={answer}") as wan:
        served = [Client(wan, [2 * MIB]) for _ in range(2)]
        time.sleep(0.5)
        refused = Client(wan, [1000]).end()[1]
        assert [c.end()[1] for c in served] == [[(206, 2 * MIB)]] * 2
        assert seconds(wan, 1000) < 1
    assert refused == [(int(answer) if answer.isdigit() else 0, 0)]


def test_a_ban_ends_all_connections_and_has_an_end(lay):
    with lay("cap=1m most=2 answer=reset ban=2s") as wan:
        clients = [Client(wan, [4 * MIB]) for _ in range(2)]
        time.sleep(0.5)
        clients.append(Client(wan, [1000]))
        assert all(n < 2 * MIB for c in clients for _, n in c.end()[1])
        time.sleep(1)
        assert Client(wan, [1000]).end()[1] == [(0, 0)]
        time.sleep(1.1)
        assert seconds(wan, 1000) < 1


def test_tcp_comes_near_the_limit_of_so_many_connections(lay, tmp_path):
    with lay("cap=1m"):
        pass
    path, size = tmp_path / "scenario", 8 * MIB
    for n in (2, 8):
        assert flood(path, tmp_path, "file", size, connections=n) == \
            pytest.approx(fluid(path, size, n), rel=0.12)
