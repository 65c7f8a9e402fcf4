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
SIZE = 24 * MEBIBYTE  # twenty seconds
NOTHING = 0.05  # seconds: less than two pictures
TIMEOUT = 60


def scenario(folder, n):
    """n depots, each connection to which carries 4 Mbit/s."""
    path = folder / "scenario"
    path.write_text("".join(
        f"depot d{i} 198.18.1.{i} rate=200mbit rtt=40ms cap=500k\n"
        for i in range(1, n + 1)))
    return path


def by_play(wan, manifest):
    run = wan.run([XDOWNLOAD, "play", "--simulate", "--json", "-q",
                   "--no-depot-cache", "--rate", f"{RATE}B/s",
                   "--prebuffer", f"{PREBUFFER}s", manifest],
                  timeout=TIMEOUT, stdout=subprocess.PIPE)
    assert run.rc == 0
    return json.loads(run.out)["stall_time_s"]


def viewed(wan, *url, **options):
    run = wan.run([sys.executable, HERE / "viewer.py", RATE, PREBUFFER, *url],
                  timeout=TIMEOUT, stdout=subprocess.PIPE, **options)
    assert run.rc == 0
    return float(run.out)


def by_pipe(wan, manifest):
    film = wan.start([XDOWNLOAD, "-q", "--no-depot-cache", "-o", "-", manifest],
                     stdout=subprocess.PIPE)
    try:
        return viewed(wan, stdin=film.stdout)
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
        assert way(wan, manifest) <= NOTHING
