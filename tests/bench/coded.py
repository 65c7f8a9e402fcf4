# SPDX-License-Identifier: MIT
"""A file in stripes of 4+2 shards on six unequal depots in the emulated wide area,
of which two fail, against the least time.

    python3 tests/bench/coded.py [-n RUNS] [--size 50m] [--readme] [ROW...]

The least time is that of the depot which takes longest for what only it can bring:
with all there, a sixth of the file; with two lost, a quarter, since each stripe takes
four shards.  Where they are lost on the way, it is taken that what came of both until
then is of the same stripes, and that no other depot could have spared the slowest
anything else.

Writes build/bench/coded.md; --readme puts the table into tests/bench/README.md.
Takes root, for tests/wan.
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

import common
import parity
from common import median, table
from lab import bytes_of
from sets import processor_time
from wan import Missing, Wan, fluid, missing, parse_size

LENGTH = 512 << 10
RATES = [60, 50, 40, 30, 25, 20]
TRIPS = [12, 40, 20, 90, 60, 30]
CLIENT = "client rate=1000mbit queue=4m\n"
DEPOT = "depot d{0} 198.18.1.{1} rate={2}mbit rtt={3}ms queue=512k\n"

# What it is, and how the depots fail: from when on they are silent, or that they
# have nothing, or wrong bytes.
ROWS = {
    "all": ("all live", ()),
    "plain": ("all live, without the parity", ()),
    "silent-slow": ("the two slowest silent", (4, 5), 0),
    "silent-fast": ("the two fastest silent", (0, 1), 0),
    "silent-mixed": ("the fastest and the slowest silent", (0, 5), 0),
    "gone": ("two that have lost all their shards", (1, 4), "gone"),
    "lying": ("two that send wrong bytes", (1, 4), "lying"),
    "middle": ("two silent after 4 s", (1, 4), 4),
    "one": ("one silent", (2,), 0),
    "slow": ("one at 1 Mbit/s", (2,), "slow"),
    "slow-two": ("two at 1 Mbit/s", (1, 4), "slow"),
}
FOLDERS = ("none", "wrong")


def scenario(depots, more=""):
    return CLIENT + "".join(
        DEPOT.format(i, i + 1, RATES[i], TRIPS[i]) for i in depots) + more


def seconds_of(folder, i, size):
    """How long one depot takes for so much by itself."""
    path = folder / "alone"
    path.write_text(scenario([i]))
    return fluid(path, int(size))


def least_seconds(folder, size, lost, how):
    live = [i for i in range(6) if i not in lost]
    part = size / 6
    if len(lost) == 2:
        came = 0.0
        if isinstance(how, int) and how > 0:
            came = min(1.0, max(RATES[i] * 1e6 / 8 * how / part for i in lost))
        part = size / 4 * (4 / 6 + 2 / 6 * (1 - came))
    return max(seconds_of(folder, i, part) for i in live)


class Stored:
    """The file as the depots have it."""

    def __init__(self, folder, size):
        self.data = bytes_of(size)
        self.stripes = parity.stripes_of(self.data, 4, 6, LENGTH)
        for name in FOLDERS:
            (folder / name).mkdir()
        for i in range(6):
            for name, shard in parity.files_of(self.stripes, i).items():
                (folder / name).write_bytes(shard)
                (folder / "wrong" / name).write_bytes(
                    shard[:-1] + bytes([shard[-1] ^ 1]))

    def exnode(self, path, wan, row):
        _, lost, *how = ROWS[row]
        folder = {"gone": "none/", "lying": "wrong/"}.get(*how or [None], "")

        def urls_of(stripe, number):
            depot = parity.place(stripe, number)
            name = parity.name_of(stripe, number)
            name = folder + name if depot in lost else name
            return [wan.urls("http", name)[depot]]
        text = parity.exnode(self.stripes, urls_of)
        if row == "plain":
            begin = text.index('<e:metadata name="parity"')
            text = text[:begin] + text[text.index("<e:mapping>"):]
        path.write_text(text)


def measure(row, size, runs):
    """Medians of seconds, processor seconds and what the limit is."""
    _, lost, *how = ROWS[row]
    events = [f"at 0s d{i} rate=1mbit\n" if how[0] == "slow"
              else f"at {how[0]}s d{i} down\n" for i in lost
              if how[0] not in ("gone", "lying")]
    took = []
    with tempfile.TemporaryDirectory(prefix="xd-parity-") as folder:
        folder = Path(folder)
        path, www = folder / "scenario", folder / "www"
        path.write_text(scenario(range(6), "".join(events)))
        www.mkdir()
        stored = Stored(www, size)
        for run in range(runs):
            with Wan(path, www, seed=run + 1) as wan:
                stored.exnode(folder / "f.xnd", wan, row)
                before = processor_time()
                done = wan.run(
                    [common.XDOWNLOAD, "-q", "--no-depot-cache", "-o",
                     folder / f"out{run}", folder / "f.xnd"], timeout=300,
                    env=common.environment(folder), stderr=subprocess.PIPE)
                took.append((done.seconds, processor_time() - before))
            out = folder / f"out{run}"
            if done.rc or out.read_bytes() != stored.data:
                raise SystemExit(f"{row}: status {done.rc}: {done.err}")
        limit = least_seconds(folder, size, lost, *how or [None])
    return [median(each) for each in zip(*took)], limit


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", type=parse_size, default=50 << 20)
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/bench/README.md")
    parser.add_argument("row", nargs="*", help=" ".join(ROWS))
    a = parser.parse_args()
    if wants := missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    rows = []
    for row in a.row or ROWS:
        (seconds, processor), limit = measure(row, a.size, a.runs)
        rows.append([ROWS[row][0], f"{limit:.2f}", f"{seconds:.2f}",
                     f"{seconds / limit:.2f}", f"{processor:.2f}"])
        print(" | ".join(rows[-1]), flush=True)
    text = (f"{a.size >> 20} MiB, median of {a.runs}.\n\n"
            + table(["depots", "shortest time, s", "time, s",
                     "time / shortest time", "processor time, s"], rows)
            + "\n\n" + common.conditions())
    common.write(a, "coded", text)
    return 0


if __name__ == "__main__":
    common.run(main)
