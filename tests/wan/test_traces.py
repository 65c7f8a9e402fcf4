# SPDX-License-Identifier: MIT
"""A trace of a live run, as a scenario: in virtual time it takes as long."""
import csv
import os
import subprocess

import pytest

from manifest import MEBIBYTE, File
from wan import Wan

pytestmark = pytest.mark.slow

XDOWNLOAD = os.environ.get("XDOWNLOAD", "xdownload")
NAMES = ["equal", "mirrors", "santa-barbara", "tennessee", "collapse",
         "shared", "lossy", "bloat", "last-mile", "long-fat"]
MEBIBYTES = 48
NEAR = 0.1  # of the live time
TRIES = 3  # a machine that is busy delays what is live


def live(name, folder):
    """The seconds of a download that left a trace in the folder."""
    file = File(folder, MEBIBYTES * MEBIBYTE)
    with Wan(name, folder) as wan:
        manifest = file.metalink(folder / "m.meta4", wan.urls("http", "file"))
        run = wan.run([XDOWNLOAD, "-q", "--trace", folder / "t.json", "-o",
                       folder / "out", manifest], timeout=240,
                      stderr=subprocess.PIPE, text=True,
                      env={"XDG_CACHE_HOME": str(folder)})
    assert run.rc == 0, run.err
    assert file.is_in(folder / "out")
    return run.seconds


def virtual(folder):
    """The seconds of the same run, in virtual time: the median of nine."""
    subprocess.run([XDOWNLOAD, "trace", "--scenario", folder / "t.scn",
                    folder / "t.json"], check=True)
    subprocess.run([XDOWNLOAD, "bench", "-q", "--virtual", folder / "t.scn",
                    "--size", f"{MEBIBYTES}m", "--repeat", "9", "-t", "0",
                    "-a", "adaptive", "-o", folder / "r.csv"], check=True)
    with open(folder / "r.csv") as f:
        return sorted(float(row["seconds"]) for row in csv.DictReader(f))[4]


@pytest.mark.parametrize("name", NAMES)
def test_a_live_run_takes_as_long_in_virtual_time(name, tmp_path):
    off = []
    for i in range(TRIES):
        folder = tmp_path / str(i)
        folder.mkdir()
        seconds = live(name, folder)
        simulated = virtual(folder)
        print(f"{name}: live {seconds:.2f} s, virtual {simulated:.2f} s")
        off.append(simulated / seconds - 1)
        if abs(off[-1]) <= NEAR:
            return
    assert min(map(abs, off)) <= NEAR, off
