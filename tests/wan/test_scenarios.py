# SPDX-License-Identifier: MIT
"""A short download through each scenario.

The times are loose: machines are noisy, and tests/bench is for figures.  Sizes
are such that what a scenario is about happens.
"""
import json
import os
import subprocess

import pytest

from manifest import MEBIBYTE, File
from scenario import (Scenario, arrivals, fluid, least_stall, names,
                      of_first_depots, sustainable)
from wan import Wan, flood

pytestmark = pytest.mark.slow

XDOWNLOAD = os.environ.get("XDOWNLOAD", "xdownload")
MEBIBYTES = {"mirrors": 12, "collapse": 20, "long-fat": 12, "turns": 16,
             "last-mile": 12, "one-good": 12, "twenty": 12, "sixty": 24, "shared": 8,
             "capped": 16, "capped-three": 24, "capped-mixed": 24,
             "cap-ends": 24, "windows": 16, "bans-five": 16, "full-line": 16,
             "slow-56": 1 / 16, "slow-128": 1 / 8, "slow-256": 1 / 4,
             "slow-512": 1 / 2}
TIMES_THE_LIMIT, SECONDS_MORE = 2, 1
BAN = {"bans-five": 10}  # seconds
REDUNDANT = 0.25  # of the file, at most
# Beside that: what six connections had in the queue of a slow line.
QUEUED = {"slow-56": 1 << 16, "slow-128": 1 << 17, "slow-256": 1 << 17,
          "slow-512": 1 << 19}


def download(scenario, folder, scheme="http"):
    """(the File, the Run, what the wire says, xdownload's report)."""
    size = int(MEBIBYTES.get(Scenario(scenario).name, 8) * MEBIBYTE)
    file = File(folder, size)
    with Wan(scenario, folder) as wan:
        manifest = file.metalink(folder / "m.meta4", wan.urls(scheme, "file"))
        run = wan.run([XDOWNLOAD, "-q", "--report", folder / "report",
                       "--cacert", wan.cacert, "-o", folder / "out", manifest],
                      timeout=60, stderr=subprocess.PIPE, text=True,
                      env={"XDG_CACHE_HOME": str(folder)})
    report = json.loads((folder / "report").read_text())
    return file, run, wan.report, report


def assert_right(folder, file, run, wire, report):
    assert run.rc == 0, run.err
    assert file.is_in(folder / "out")
    assert report["verified"] == "sha-256"


def is_in_time(name, run, limit):
    # After a ban of 10 s it is asked again within 24: the pauses double, with jitter.
    more = SECONDS_MORE + 2.4 * BAN.get(name, 0)
    return run.seconds <= TIMES_THE_LIMIT * limit + more


@pytest.mark.parametrize("name", names())
def test_a_file_comes_through(name, tmp_path):
    file, run, wire, report = download(name, tmp_path)
    assert_right(tmp_path, file, run, wire, report)
    # The paper's algorithms wait for the slowest, or fetch much twice.
    if report["algorithm"] == "adaptive":
        assert wire["payload_bytes"] <= (file.size * (1 + REDUNDANT)
                                         + QUEUED.get(name, 0))
        assert (is_in_time(name, run, fluid(name, file.size)) or  # as mostly
                is_in_time(name, run,
                           flood(name, tmp_path, "file", file.size)))
        assert wire["bans"] <= 1
    if name.startswith("slow-"):  # silence is the line's, not a depot's
        assert [d["failures"] for d in report["depots"]] == [0] * 3


@pytest.mark.parametrize("name", ["tennessee", "santa-barbara"])
def test_a_file_comes_from_six_ibp_depots(name, tmp_path):
    """As fast as from web servers: bench.py -t xd,xd-ibp measures that."""
    file, run, wire, report = download(name, tmp_path, "ibp")
    assert_right(tmp_path, file, run, wire, report)
    assert [d["connections"] > 0 for d in wire["depots"]] == [True] * 6
    assert wire["requests"] == 0  # of nginx


def test_a_file_comes_through_https(tmp_path):
    file, run, wire, report = download("mirrors", tmp_path, "https")
    assert_right(tmp_path, file, run, wire, report)


def test_a_player_stalls_until_what_it_shows_has_come():
    came = [(1, 100), (2, 100), (4, 200), (5, 300)]
    assert least_stall(came, 300, 100, 1) == 2
    assert least_stall(came, 300, 100, 1, piece=150) == 3
    assert least_stall(came, 300, 100, 3) == 0
    assert least_stall(came, 100, 100, 1) == 0
    assert sustainable(came, 300, 1) == pytest.approx(100 / 3)
    assert sustainable(came, 300, 5) == 60  # all of it is there, but no sooner


def test_the_least_stall_is_that_of_a_fluid(tmp_path):
    path = tmp_path / "one"
    path.write_text(of_first_depots("tennessee", 1))
    assert Scenario(path).addresses == ["198.18.1.1"]
    came = list(arrivals(path, 50 * MEBIBYTE))
    # 52.4 MB at 1.45 MB/s, shown at 1.88 MB/s from the fifth second on
    assert least_stall(came, 50 * MEBIBYTE, 15e6 / 8, 5) == pytest.approx(
        3.3, abs=0.05)


def test_a_depot_that_is_left_out_does_not_change(tmp_path):
    path = tmp_path / "two"
    path.write_text(of_first_depots("turns", 2))
    assert {name for _, name, _ in Scenario(path).changes} == {"a", "b"}
