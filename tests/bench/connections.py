# SPDX-License-Identifier: MIT
"""Servers that bound each connection: xdownload beside as many connections.

    python3 tests/bench/connections.py [-n RUNS] [--size 50m] [--readme] [ROW...]

Each round takes every command through each row once, in random order; the limit
is of six and of sixteen connections to each server that never idle
(tests/wan/flood.py).  Writes build/bench/connections.md; --readme puts the table
into tests/bench/README.md.

Takes root, for tests/wan.
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import common
from common import median, table
from manifest import File
from scenario import HERE as WAN_HERE
from wan import Missing, Wan, missing, parse_size

# Name: what it is, how many servers there are, and what each of them allows.
ROWS = {
    "cap": ("1 MiB/s", 1, "cap=1m"),
    "caps": ("1 MiB/s, three servers", 3, "cap=1m"),
    "window": ("a TCP window of 64 KiB", 1, "window=64k"),
}
LIMITS = {"six": 6, "sixteen": 16}
# Ours: the words, what the time is a multiple of, and whether the URLs are
# typed in place of a Metalink's name.
OURS = {
    "default": ([], "six", False),
    "default, URLs": ([], "six", True),
    "-t 16": (["-t", "16"], "sixteen", False),
    "-t 16, URLs": (["-t", "16"], "sixteen", True),
}
PEERS = {
    "aria2 -x16": ["aria2c", "-q", "--no-conf", "--file-allocation=none",
                   "-x16", "-s16", "-k1M", "-o", "file"],
    "axel -n16": ["axel", "-q", "-n16", "-o", "file"],
}


class Server:
    """One row in one emulation."""

    def __init__(self, wan, file, folder):
        self.wan, self.file, self.folder = wan, file, folder
        self.urls = wan.urls("http", "file")
        self.manifest = file.metalink(folder / "m.meta4", self.urls)
        self.out = folder / "out"

    def words(self, way):
        if way in PEERS:
            return PEERS[way] + self.urls
        options, _, are_typed = OURS[way]
        return [common.XDOWNLOAD, "-q", "--no-depot-cache", *options,
                "-o", "file", *(self.urls if are_typed else [self.manifest])]

    def seconds(self, way):
        if way in LIMITS:
            run = self.wan.run([sys.executable, WAN_HERE / "flood.py",
                                self.file.size, "/file",
                                *[LIMITS[way]] * len(self.urls)],
                               stdout=subprocess.PIPE, text=True)
            return float(run.out.split()[-2])
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        run = self.wan.run(self.words(way), timeout=120, cwd=self.out,
                           env=common.environment(self.folder))
        if not self.file.is_in(self.out / "file"):
            raise SystemExit(f"{way}: status {run.rc}, and not the file")
        return run.seconds


def measure(file, row, ways, rounds):
    """{way: seconds, the median}"""
    _, n, allowed = ROWS[row]
    runs = {way: [] for way in ways}
    with tempfile.TemporaryDirectory(prefix="xd-connections-") as folder:
        path = Path(folder) / "scenario"
        path.write_text("".join(
            f"depot d{i} 198.18.1.{i} rate=200mbit rtt=40ms {allowed}\n"
            for i in range(1, n + 1)))
        with Wan(path, file.folder) as wan:
            server = Server(wan, file, Path(folder))
            for i in range(rounds):
                for way in common.in_random_order(ways, i):
                    runs[way].append(server.seconds(way))
    return {way: median(taken) for way, taken in runs.items()}


def cell(way, took):
    """Seconds, and the multiple of what as many connections take."""
    text = f"{took[way]:.2f}"
    if way in OURS:
        text += f" ({took[way] / took[OURS[way][1]]:.2f})"
    return text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", default="50m")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/bench/README.md")
    parser.add_argument("row", nargs="*", help=" ".join(ROWS))
    a = parser.parse_args()
    if wants := missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    peers = [way for way in PEERS if shutil.which(PEERS[way][0])]
    ways = [*LIMITS, *OURS, *peers]
    rows = []
    with tempfile.TemporaryDirectory(prefix="xd-bench-") as folder:
        file = File(folder, parse_size(a.size))
        for row in a.row or ROWS:
            took = measure(file, row, ways, a.runs)
            rows.append([ROWS[row][0], *(cell(way, took) for way in ways)])
            print(" | ".join(rows[-1]), flush=True)
    text = (f"Time to download {a.size}, in seconds, median of {a.runs} runs.  "
            "Each server has 200 Mbit/s and a round trip of 40 ms.  In brackets: "
            "the time divided by the shortest possible time.\n\n"
            + table(["each connection", *ways], rows)
            + "\n\n" + common.conditions([PEERS[way][0] for way in peers]))
    common.write(a, "connections", text)
    return 0


if __name__ == "__main__":
    common.run(main)
