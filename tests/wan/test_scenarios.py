"""A short download through each scenario.

The times are loose: machines are noisy, and tests/bench is for figures.  Sizes
are such that what a scenario is about happens.
"""
import json
import os
import subprocess

import pytest

from manifest import MEBIBYTE, File
from scenario import Scenario, fluid, names
from wan import Wan, flood

pytestmark = pytest.mark.slow

XDOWNLOAD = os.environ.get("XDOWNLOAD", "xdownload")
MEBIBYTES = {"mirrors": 12, "collapse": 20, "long-fat": 12, "turns": 16,
             "last-mile": 12, "one-good": 12, "twenty": 12, "shared": 8}
TIMES_THE_LIMIT, SECONDS_MORE = 2, 1
REDUNDANT = 0.25  # of the file, at most


def download(scenario, folder, scheme="http"):
    """(the File, the Run, what the wire says, xdownload's report)."""
    size = MEBIBYTES.get(Scenario(scenario).name, 8) * MEBIBYTE
    file = File(folder, size)
    with Wan(scenario, folder) as wan:
        manifest = file.metalink(folder / "m.meta4", [
            f"{scheme}://{a}/file" for a in wan.addresses])
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


def is_in_time(run, limit):
    return run.seconds <= TIMES_THE_LIMIT * limit + SECONDS_MORE


@pytest.mark.parametrize("name", names())
def test_a_file_comes_through(name, tmp_path):
    file, run, wire, report = download(name, tmp_path)
    assert_right(tmp_path, file, run, wire, report)
    # The paper's algorithms wait for the slowest, or fetch much twice.
    if report["algorithm"] == "adaptive":
        assert wire["payload_bytes"] / file.size - 1 <= REDUNDANT
        assert (is_in_time(run, fluid(name, file.size)) or  # as it mostly is
                is_in_time(run, flood(name, tmp_path, "file", file.size)))


def test_a_file_comes_through_https(tmp_path):
    file, run, wire, report = download("mirrors", tmp_path, "https")
    assert_right(tmp_path, file, run, wire, report)
