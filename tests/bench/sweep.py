# SPDX-License-Identifier: MIT
"""Does a live sweep of `xdownload bench` measure what its simulation says?

    python3 tests/bench/sweep.py [-n RUNS] [-j N] [--size 50m] [--minutes M]
                                 [--depots E1,E3,E6] [-b 512k,2m] [-t 1,2]
                                 [SCENARIO]

Takes the same sweep through the emulated wide area and through virtual time, and
compares the medians of each combination.  Every choice of depots and threads has
an emulation and a file of results of its own, build/bench/sweep-*.csv; N of them
run side by side.  Each begins no run after M minutes; the next call does what is
missing.  The table, in sweep.md, is of what there is.

Takes root, for tests/wan.  `chrt -f 20` keeps other work of the machine out of
the results; how late the wire was is printed.
"""
import argparse
import csv
import itertools
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common
from common import ROOT, median, table
from manifest import File
from scenario import find
from wan import Missing, Wan, missing, parse_size

SCENARIO = ROOT / "examples/paper/scenarios/paper-tennessee"
ALGORITHMS = ["basic", "aggressive", "progress", "adaptive"]
NEAR = 0.1  # by which a simulated median may be wrong
# Until the queues are empty that canceled requests have left: the longest of the
# scenario, 64 KiB at 160 kbit/s, takes 3.3 s.
COOL_DOWN = "4s"


class Sweep:
    """One choice of depots and threads."""

    def __init__(self, a, depots, threads):
        self.a, self.depots, self.threads = a, depots, threads
        self.name = f"sweep-{a.scenario.name}-{a.size}-{depots}-t{threads}"

    def results(self, kind):
        return self.a.out / f"{self.name}-{kind}.csv"

    def bench(self, kind, *words):
        """The command, with the paper's R and P for what uses them."""
        paper = []
        if {"aggressive", "progress"} & set(self.a.algorithms):
            paper = ["-R", "2", "--whole-blocks"]
        if "progress" in self.a.algorithms:
            paper += ["-P", "3"]
        return [common.XDOWNLOAD, "bench", "-q", "-o", self.results(kind),
                "-a", ",".join(self.a.algorithms), *paper,
                "-b", ",".join(self.a.blocks), "-t", self.threads,
                "--depots", self.depots, "--repeat", str(self.a.runs), *words]

    def simulate(self):
        subprocess.run(self.bench("virtual", "--size", self.a.size,
                                  "--virtual", self.a.scenario), check=True)

    def measure(self, file):
        """A slice of it; returns how late the wire was."""
        with tempfile.TemporaryDirectory(prefix="xd-sweep-") as folder, \
                Wan(self.a.scenario, file.folder) as wan:
            # Its name is in the results, by which runs are told apart.
            manifest = file.metalink(self.a.out / f"{self.name}.meta4",
                                     wan.urls("http", "file"))
            run = wan.run(
                self.bench("live", "--yes", "--cool-down", COOL_DOWN,
                           "--time-budget", f"{self.a.minutes * 60:.0f}s",
                           manifest), env=common.environment(Path(folder)))
        if run.rc != 0:
            raise SystemExit(f"{self.name}: bench ended with status {run.rc}")
        return wan.report["late_us"]

    def seconds(self, kind):
        """{(algorithm, block size): seconds of its runs}"""
        found = {}
        path = self.results(kind)
        for row in csv.DictReader(path.open()) if path.exists() else []:
            key = row["algorithm"], int(row["block_bytes"])
            found.setdefault(key, []).append(
                float(row["seconds"]) if row["outcome"] == "complete"
                else float("inf"))
        return found


# ---- what is shown ----

def compare(sweeps):
    """{(algorithm, depots, block, threads): (runs, live, simulated median)}"""
    cells = {}
    for s in sweeps:
        live, virtual = s.seconds("live"), s.seconds("virtual")
        for key, measured in live.items():
            cells[key[0], s.depots, key[1], s.threads] = (
                len(measured), median(measured), median(virtual[key]))
    return cells


def show(cell):
    if cell is None:
        return ""
    _, live, virtual = cell
    text = f"{live:.2f} / {virtual:.2f}"
    return f"**{text}**" if is_off(cell) else text


def is_off(cell):
    return abs(cell[2] / cell[1] - 1) > NEAR


def summary(cells):
    errors = sorted(abs(v / l - 1) for _, l, v in cells.values())
    n_off = sum(map(is_off, cells.values()))
    runs = sorted({n for n, _, _ in cells.values()})
    return (f"{len(cells) - n_off} of {len(cells)} combinations are within "
            f"{100 * NEAR:.0f} %; the median error is "
            f"{100 * median(errors):.1f} %, the largest "
            f"{100 * errors[-1]:.0f} %.  Medians of "
            f"{'-'.join(map(str, runs[:1] + runs[1:][-1:]))} runs")


def report(cells, a):
    columns = list(itertools.product(map(parse_size, a.blocks), a.threads))
    rows = [[algorithm, depots,
             *(show(cells.get((algorithm, depots, *c))) for c in columns)]
            for algorithm in a.algorithms for depots in a.depots]
    text = table(["live / virtual, s", "depots", *(f"{b >> 10} KiB, {t}"
                                             for b, t in columns)], rows)
    if cells:
        text += (f"\n\n{summary(cells)} of {a.size}, `{a.scenario.name}`; blocks "
                 "and threads at the top.\n\n" + common.conditions())
    (a.out / "sweep.md").write_text(text + "\n")
    print(text)
    if a.readme:
        common.publish("bench-sweep", text, "examples/paper/README.md")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("-a", "--algorithms", type=common.words, default=ALGORITHMS)
    parser.add_argument("-b", "--blocks", type=common.words, default=["512k", "2m"])
    parser.add_argument("-t", "--threads", type=common.words, default=["1", "2"])
    parser.add_argument("--depots", type=common.words, default=["E1", "E3", "E6"])
    parser.add_argument("--size", default="50m")
    parser.add_argument("--minutes", type=float, default=600,
                        help="begin no run after so many (default 600)")
    parser.add_argument("-j", "--jobs", type=int, default=1,
                        help="emulations side by side (default 1)")
    parser.add_argument("--again", action="store_true",
                        help="only simulate and compare")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into examples/paper/README.md")
    parser.add_argument("scenario", nargs="?", type=find, default=SCENARIO)
    parser.set_defaults(runs=5)
    return parser.parse_args()


def main():
    a = parse_arguments()
    if wants := [] if a.again else missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    sweeps = [Sweep(a, *key) for key in itertools.product(a.depots, a.threads)]
    with tempfile.TemporaryDirectory(prefix="xd-sweep-") as folder, \
            ThreadPoolExecutor(a.jobs) as pool:
        file = File(folder, parse_size(a.size))
        late = pool.map(lambda s: s.measure(file), [] if a.again else sweeps)
        for s, late_us in zip(sweeps, late):
            print(f"{s.name}: wire late by {late_us}", flush=True)
    for s in sweeps:
        s.simulate()
    report(compare(sweeps), a)
    return 0


if __name__ == "__main__":
    common.run(main)
