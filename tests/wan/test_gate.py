# SPDX-License-Identifier: MIT
"""What depots allow is measured before anything relies on it, as the wire is."""
import subprocess
import time

import pytest

from gate import Luck
from scenario import fluid
from wan import Wan, flood

pytestmark = pytest.mark.slow

A = "198.18.1.1"
LINE = f"depot a {A} rate=200mbit rtt=40ms"
MIB = 1 << 20


@pytest.fixture
def lay(tmp_path):
    """lay(words) is the Wan of such a depot, with `file` of 8 MiB."""
    def write(words, *lines, seed=1):
        path = tmp_path / "scenario"
        path.write_text("\n".join([f"{LINE} {words}", *lines]) + "\n")
        (tmp_path / "file").write_bytes(bytes(8 * MIB))
        return Wan(path, tmp_path, seed)
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


@pytest.mark.parametrize("per, took", [("connection", 4.3), ("request", 0.6)])
def test_a_burst_comes_at_once_and_is_over(lay, per, took):
    with lay(f"cap=512k burst=2m per={per}") as wan:
        assert seconds(wan, 2 * MIB, 2 * MIB) == pytest.approx(took, abs=0.4)


def test_each_new_connection_draws_its_cap(lay):
    # As the simulator does with this seed: slow, fast, slow, fast, slow.
    with lay("draws=512k:1,4m:1") as wan:
        took = [seconds(wan, MIB) for _ in range(5)]
    assert [t > 1 for t in took] == [True, False] * 2 + [True]
    assert took[0] == pytest.approx(2, abs=0.3)
    assert took[1] == pytest.approx(0.45, abs=0.2)


def test_luck_is_that_of_the_simulator():
    luck = Luck(~7, "a")  # the same figures are in tests/sim/test_network.c
    thinking = Luck(luck.next())
    assert [int(luck.uniform() * 1e6) for _ in range(3)] == [
        833727, 883416, 346004]
    assert [int(thinking.uniform() * 1e6) for _ in range(3)] == [
        328400, 164669, 772645]


def test_a_connection_carries_so_many_answers(lay):
    with lay("life=2") as wan:
        seconds(wan, *[1000] * 5)
    assert wan.report["depots"][0]["connections"] == 3


def test_some_connections_are_mute(lay):
    # The second of five, with this seed, also in the simulator.
    with lay("hangs=60%") as wan:
        answers = [Client(wan, [1000], "http", "-m", "1").end()[1]
                   for _ in range(5)]
    assert answers == [[(206, 1000) if i == 1 else (0, 0)] for i in range(5)]


@pytest.mark.parametrize("scheme, trips", [("http", 3), ("https", 5)])
def test_a_depot_thinks_before_each_answer(lay, scheme, trips):
    with lay("think=400ms-600ms") as wan:
        took = seconds(wan, *[1000] * 4, scheme=scheme)
    assert took - trips * 0.04 >= 4 * 0.4
    assert took - trips * 0.04 == pytest.approx(4 * 0.5, abs=0.35)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_more_requests_a_second_are_refused(lay, scheme):
    with lay("asks=1 spare=2") as wan:
        _, answers = Client(wan, [1000] * 5, scheme).end()
        time.sleep(1.2)
        later = Client(wan, [1000] * 2, scheme).end()[1]
    assert answers == [(206, 1000)] * 3 + [(429, 0)] * 2
    assert later == [(206, 1000), (429, 0)]


@pytest.mark.parametrize("words, said", [("", ""), ("retry=1500ms", "2")])
def test_a_refusal_says_when_to_ask_again(lay, words, said):
    with lay(f"asks=0.1 {words}") as wan:
        seconds(wan, 1000)
        run = wan.run(["curl", "-sD", "-", f"http://{A}/file"],
                      stdout=subprocess.PIPE, text=True)
    assert " 429 " in run.out
    assert [line.split()[1] for line in run.out.splitlines()
            if line.startswith("Retry-After")] == [said] * bool(said)


def test_a_depot_may_refuse_from_some_time_on(lay):
    with lay("", "at 500ms a refuses") as wan:
        seconds(wan, 1000)
        time.sleep(0.6)
        assert Client(wan, [1000]).end()[1] == [(0, 0)]


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
