# SPDX-License-Identifier: MIT
"""A film that no single connection carries, to players of each kind."""
import json
import os
import subprocess
import sys

import pytest

from manifest import MEBIBYTE, File
from scenario import HERE
from wan import Wan

pytestmark = pytest.mark.slow

XDOWNLOAD = os.environ.get("XDOWNLOAD", "xdownload")
RATE, PREBUFFER = 1_250_000, 5  # 10 Mbit/s
AHEAD = 10  # seconds, as players hold: mpv's cache-secs
SIZE = 24 * MEBIBYTE  # twenty seconds
NOTHING = 0.05  # seconds: less than two pictures
ATTEMPTS = 3  # a busy machine adds to a stall, and never takes from it
TIMEOUT = 60


def scenario(folder, n):
    """n depots, each connection to which carries 4 Mbit/s."""
    path = folder / "scenario"
    path.write_text("".join(
        f"depot d{i} 198.18.1.{i} rate=200mbit rtt=40ms cap=500k\n"
        for i in range(1, n + 1)))
    return path


def by_play(wan, manifest, rate=RATE):
    run = wan.run([XDOWNLOAD, "play", "--simulate", "--json", "-q",
                   "--no-depot-cache", "--rate", f"{rate}B/s",
                   "--prebuffer", f"{PREBUFFER}s", manifest],
                  timeout=TIMEOUT, stdout=subprocess.PIPE)
    assert run.rc == 0
    return json.loads(run.out)["stall_time_s"]


def viewed(wan, *url, rate=RATE, ahead=AHEAD, **options):
    run = wan.run([sys.executable, HERE / "viewer.py", rate, PREBUFFER, ahead,
                   *url],
                  timeout=TIMEOUT, stdout=subprocess.PIPE, **options)
    assert run.rc == 0
    return float(run.out)


def by_pipe(wan, manifest, rate=RATE, ahead=AHEAD):
    film = wan.start([XDOWNLOAD, "-q", "--no-depot-cache", "-o", "-", manifest],
                     stdout=subprocess.PIPE)
    try:
        return viewed(wan, rate=rate, ahead=ahead, stdin=film.stdout)
    finally:
        film.stdout.close()
        film.kill()
        film.wait()


def by_serve(wan, manifest):
    server = wan.start([XDOWNLOAD, "serve", "-q", "--no-depot-cache", manifest],
                       stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        return viewed(wan, url)
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("way, n", [(by_play, 4), (by_pipe, 1), (by_serve, 1)])
def test_a_film_gets_the_connections_that_it_needs(way, n, tmp_path):
    file = File(tmp_path, SIZE)
    with Wan(scenario(tmp_path, n), tmp_path) as wan:
        manifest = file.metalink(tmp_path / "m.meta4", [
            f"http://{a}/file" for a in wan.addresses])
        assert any(way(wan, manifest) <= NOTHING for _ in range(ATTEMPTS))


FOUR_LINES = "".join(
    f"depot d{i} 198.18.1.{i} rate={rate}mbit rtt={rtt}ms\n"
    for i, (rate, rtt) in enumerate(
        [(100, 90), (120, 120), (130, 150), (150, 200)], 1))


@pytest.mark.plain
@pytest.mark.parametrize("lines, mbit, seconds", [
    ("turns", 30, 24), ("collapse", 40, 20), (FOUR_LINES, 300, 6)],
    ids=["turns", "collapse", "four lines"])
def test_a_pipe_stalls_where_play_does(lines, mbit, seconds, tmp_path):
    """Into a player that holds 2 MiB itself; `play` has the same lookahead."""
    rate = mbit * 125_000
    file = File(tmp_path, rate * seconds)
    path = HERE / "scenarios" / lines
    if lines == FOUR_LINES:
        path = tmp_path / "scenario"
        path.write_text(lines)
    def stalled(way, **options):
        with Wan(path, tmp_path) as wan:
            manifest = file.metalink(tmp_path / "m.meta4", [
                f"http://{a}/file" for a in wan.addresses])
            return way(wan, manifest, rate, **options)
    by_itself = stalled(by_play)
    assert any(stalled(by_pipe, ahead=2 * MEBIBYTE / rate) <= by_itself + 0.1
               for _ in range(ATTEMPTS))
