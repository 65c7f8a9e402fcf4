# SPDX-License-Identifier: MIT
"""For how long the picture stands still, against the least that is possible.

    python3 tests/bench/stalls.py [-n RUNS] [-j N] [-t POLICY,POLICY...]
                                  [-c CASE,CASE...] [SCENARIO...]

`xdownload play --simulate` in the emulated wide area, five seconds (of a fault,
two) after the start.  Cases:

    paper      the two sites of Plank et al. (2003), with the first 1 to 6 of
               their depots, at the paper's rates
    sustained  each scenario, at 0.9 of the fastest rate that need not stall
    silent     one of three depots falls silent
    collapse   the best of three all but stops

The least is that of a fluid, or, if that is more, of what TCP brought over the
same wire (scenario.py and flood.py of tests/wan).  A film is 50 MiB, but no longer
than --film: at 1.3 Mbit/s that would take more than five minutes.

Writes build/bench/stalls.md.  Takes root, for tests/wan.
"""
import argparse
import collections
import functools
import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common
from common import median, table
from manifest import MEBIBYTE, File
from scenario import (arrivals, find, least_stall, names, of_first_depots,
                      sustainable)
from wan import Missing, Wan, flood_arrivals, missing, parse_size

PAPER = ["tennessee", "santa-barbara"]
RATES = [1.3, 15, 50]
MBIT = 125000
SHARE = 0.9
PREBUFFER, PREBUFFER_FAULT = 5, 2
ALLOWED = 0.1
# Of a run, longer than it should play.
PATIENCE = 120

THREE = "".join(f"depot {d} 198.18.1.{i} rate=10mbit rtt=40ms queue=128k\n"
                for i, d in enumerate("abc", 1))
ONE_OF_THREE = THREE.replace("10mbit rtt=40ms queue=128k", "9mbit rtt=40ms") \
    .replace("9mbit rtt=40ms", "60mbit rtt=20ms", 1)
FAULTS = {
    "silent": [f"{THREE}at {at} {depot} down\n" for at, depot in
               [("2100ms", "a"), ("3s", "a"), ("3s", "b"), ("8s", "c")]],
    "collapse": [f"{ONE_OF_THREE}at {at} a rate=300kbit\n"
                 for at in ["2100ms", "3s", "4s", "8s"]]}
CASES = ["paper", "sustained", *FAULTS]

Show = collections.namedtuple("Show", "what scenario rate prebuffer")


class Bench:
    def __init__(self, folder, a):
        self.folder, self.film = Path(folder), a.film
        self.piece = MEBIBYTE if a.pieces else 0
        self.size = parse_size(a.size)
        self.whole = self.make(self.size)

    @functools.lru_cache(maxsize=None)
    def make(self, size):
        folder = self.folder / str(size)
        folder.mkdir()
        return File(folder, size)

    def file_of(self, rate):
        return self.make(min(self.size, int(rate * self.film)))

    def scenario(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    @functools.lru_cache(maxsize=None)
    def came(self, scenario):
        """How the bytes can come: by a fluid, and by TCP."""
        return [list(arrivals(scenario, self.size)),
                flood_arrivals(scenario, self.whole.folder, "file", self.size)]

    def least(self, show):
        size = self.file_of(show.rate).size
        return max(least_stall(came, size, show.rate, show.prebuffer,
                               self.piece or 1)
                   for came in self.came(show.scenario))

    def sustainable(self, scenario):
        return min(sustainable(came, self.size, PREBUFFER, self.piece or 1)
                   for came in self.came(scenario))

    def run(self, show, policy, seed):
        """Seconds that it stood still."""
        file = self.file_of(show.rate)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder, \
                Wan(show.scenario, file.folder, seed) as wan:
            manifest = file.metalink(
                Path(folder) / "m", [f"http://{a}/file" for a in wan.addresses],
                whole=False, piece=self.piece)
            run = wan.run(
                [common.XDOWNLOAD, "play", "--simulate", "--json", "-q",
                 "--no-depot-cache", *common.XD_ARGS, "--algorithm", policy,
                 "--rate", f"{show.rate:.0f}B/s",
                 "--prebuffer", f"{show.prebuffer}s", manifest],
                timeout=show.prebuffer + file.size / show.rate + PATIENCE,
                env=common.environment(Path(folder)),
                stdout=subprocess.PIPE, text=True)
        return json.loads(run.out)["stall_time_s"] if run.rc == 0 else \
            float("inf")


# ---- what is shown ----

def shows_of_paper(bench, a):
    for name in a.scenario or PAPER:
        for n in a.depots:
            scenario = bench.scenario(f"{Path(name).name}-{n}",
                                      of_first_depots(name, n))
            for rate in a.rates:
                yield Show(f"`{Path(name).name}`, {n} depots", scenario,
                           rate * MBIT, PREBUFFER)


def shows_of_sustained(bench, a):
    for name in a.scenario or names(slow=False):
        scenario = find(name)
        yield Show(f"`{scenario.name}`, {SHARE} of what it sustains", scenario,
                   SHARE * bench.sustainable(scenario), PREBUFFER)


def shows_of_fault(bench, case):
    for i, text in enumerate(FAULTS[case]):
        *_, change = text.splitlines()
        yield Show(f"{case}: {change}", bench.scenario(f"{case}-{i}", text),
                   15 * MBIT, PREBUFFER_FAULT)


def shows(bench, a):
    for case in a.cases:
        if case == "paper":
            yield from shows_of_paper(bench, a)
        elif case == "sustained":
            yield from shows_of_sustained(bench, a)
        else:
            yield from shows_of_fault(bench, case)


# ---- what is told ----

def cell(seconds, least):
    text = f"{median(seconds):.2f} ({max(seconds):.2f})"
    return text + (" **over**" if median(seconds) > least + ALLOWED else "")


def measure(bench, todo, a):
    """A row for each show, in their order."""
    def row(show, least):
        runs = {p: [bench.run(show, p, i + 1) for i in range(a.runs)]
                for p in a.policies}
        return [show.what, f"{show.rate / MBIT:.1f}", f"{least:.2f}",
                *(cell(runs[p], least) for p in a.policies)]

    rows = []
    leasts = [bench.least(show) for show in todo]
    with ThreadPoolExecutor(a.jobs) as pool:
        for cells in pool.map(row, todo, leasts):
            rows.append(cells)
            print("  ".join(cells), flush=True)
    return rows


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("-c", "--cases", type=common.words, default=CASES)
    parser.add_argument("-t", "--policies", type=common.words, default=["adaptive"])
    parser.add_argument("-j", "--jobs", type=int, default=1,
                        help="so many at a time (default 1)")
    parser.add_argument("--rates", type=lambda t: [float(x) for x in common.words(t)],
                        default=RATES, help="of the paper's case, Mbit/s")
    parser.add_argument("--depots", type=lambda t: [int(x) for x in common.words(t)],
                        default=range(1, 7), help="of the paper's case")
    parser.add_argument("--size", default="50m")
    parser.add_argument("--film", type=float, default=60,
                        help="seconds that a film lasts at most (default 60)")
    parser.add_argument("--no-pieces", dest="pieces", action="store_false",
                        help="a size and no hashes, not those of 1 MiB pieces")
    parser.add_argument("scenario", nargs="*")
    a = parser.parse_args()
    if unknown := set(a.cases) - set(CASES):
        parser.error("there is no case " + " ".join(sorted(unknown)))
    return a


def main():
    a = parse_arguments()
    if wants := missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    with tempfile.TemporaryDirectory(prefix="xd-bench-") as folder:
        bench = Bench(folder, a)
        rows = measure(bench, list(shows(bench, a)), a)
    hashed = "1 MiB pieces with hashes" if a.pieces else "no hashes"
    text = (f"Seconds, median of {a.runs} (the longest); {a.size}, at most "
            f"{a.film:.0f} s of film, {hashed}.\n\n"
            + table(["what", "Mbit/s", "least", *a.policies], rows)
            + "\n\n" + common.conditions())
    (a.out / "stalls.md").write_text(text + "\n")
    print(f"written: {a.out}/stalls.md")
    return 0


if __name__ == "__main__":
    common.run(main)
