# SPDX-License-Identifier: MIT
"""Do simulator and emulated wide area agree about families of networks?

    python3 tests/bench/fidelity.py [-n SEEDS] [--first SEED] [-t TOOL,TOOL...]
                                    [--readme] [FAMILY...]

A family draws a network from each seed (tests/sim/README.md).  Each tool
downloads once through each network in the lab; the simulator has done the same
download, with the same draws.  The table shows the time in the lab, from the
first packet to the end of the process, divided by the simulated one: median, and
the seed that is farthest from 1.  A family counts if these are within 5 % and
15 %.

Tools are xdownload's policies, and aria2 with 16 connections, which the
simulator models.  Results are kept in build/bench/fidelity.json, so that
families can be measured one by one; --again only simulates once more.  The table
in fidelity.md is of all; --readme puts it into tests/sim/README.md.

The simulator takes BBR where the lab has it.

Takes root, for tests/wan, and build/*/tests/sim/families.
"""
import argparse
import json
import math
import re
import subprocess
import tempfile
from pathlib import Path

import common
from agree import tcp_of_lab
from bench import Bench
from common import TOOLS, median, table
from wan import Missing, missing

MEDIAN, WORST = 0.05, 0.15  # how far from 1 a family may be
HEAD = re.compile(r"^# (\S+), seed (\d+), (\d+) bytes: \S+ takes (\S+) s.*\n",
                  re.M)

# With the options that tests/sim/families_run.c gives them.
PAPER = ["-t", "6", "-b", "512k", "--max-depots", "64"]
OPTIONS = {"adaptive": [], "adaptive2": [], "basic": PAPER,
           "progress": [*PAPER, "-R", "2", "-P", "10"]}
for policy, words in OPTIONS.items():
    TOOLS[policy] = lambda job, words=("--algorithm", policy, *words): \
        common.xdownload(job, *words)
TOOLS["aria2"] = lambda job: common.aria2(
    job, "-k1M", "-x16", f"-s{max(16, 2 * len(job.urls))}")


def simulate(program, family, tool, n, first, tcp="cubic"):
    """{seed: (bytes of the file, seconds, scenario)} of each family, by name;
    of all that are one plain file if none is named."""
    out = subprocess.run(
        [program, "--print", "-n", str(n), "-s", str(first), "-p", tool,
         *(["--bbr"] if tcp == "bbr" else []), *family], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    _, *parts = HEAD.split(out)
    for name, seed, size, seconds, text in zip(*[iter(parts)] * 5):
        found.setdefault(name, {})[seed] = int(size), float(seconds), text
    return found


def plain_families(program):
    """Those that aria2 can download as well."""
    return list(simulate(program, [], "aria2", 1, 1))


class Lab:
    def __init__(self, folder):
        self.folder, self.benches = Path(folder), {}

    def bench(self, size):
        if size not in self.benches:
            folder = self.folder / str(size)
            folder.mkdir()
            self.benches[size] = Bench(folder, size, None)
        return self.benches[size]

    def seconds(self, tool, network, seed):
        """Infinity: it did not end in time, or with wrong bytes."""
        size, simulated, text = network
        path = self.folder / "scenario"
        path.write_text(text)
        bench = self.bench(size)
        bench.timeout = 10 + 5 * min(simulated, 60)
        run = bench.run(tool, path, int(seed))
        return run["since_first_packet"] if run["result"] == "right" \
            else math.inf


def measure(a, lab, program, kept):
    results = json.loads(kept.read_text()) if kept.exists() else {}
    tcp = tcp_of_lab()
    for family in a.family or plain_families(program):
        for tool in a.tools:
            networks = simulate(program, [family], tool, a.runs, a.first,
                                tcp)
            for seed, network in networks[family].items():
                run = results.setdefault(f"{family} {tool}", {}) \
                             .setdefault(seed, {})
                run["sim"] = network[1]
                if not a.again:
                    run["lab"] = lab.seconds(tool, network, seed)
                print(family, tool, seed, run, flush=True)
                kept.write_text(json.dumps(results, indent=1) + "\n")
    return results


def ratios(runs):
    """Of the seeds that ended in both."""
    return [r["lab"] / r["sim"] for r in runs.values() if "lab" in r
            and math.isfinite(r["lab"]) and math.isfinite(r["sim"])]


def is_off(ratio, most):
    return abs(ratio - 1) > most


def row(name, runs):
    family, tool = name.split()
    found = ratios(runs)
    ends = [(math.isfinite(r["sim"]), math.isfinite(r["lab"]))
            for r in runs.values() if "lab" in r]
    worst = max(found, key=lambda x: abs(math.log(x)), default=math.nan)
    middle = median(found)
    cells = [f"**{x:.2f}**" if is_off(x, most) else f"{x:.2f}"
             for x, most in ((middle, MEDIAN), (worst, WORST))]
    alone = [f"{sum(e == which for e in ends)} only {where}" for which, where in
             (((True, False), "simulated"), ((False, True), "in the lab"))
             if which in ends]
    return [family, tool, str(len(ends)), *cells, "; ".join(alone)]


def report(results, a):
    rows = [row(name, runs) for name, runs in results.items()
            if any("lab" in r for r in runs.values())]
    rows.sort(key=lambda r: (r[1], r[0]))
    text = (table(["family", "tool", "seeds", "lab / simulator: median",
                   "worst", "ended"], rows)
            + f"\n\nTCP is {tcp_of_lab()}.  " + common.conditions(["aria2"]))
    (a.out / "fidelity.md").write_text(text + "\n")
    print(text)
    if a.readme:
        common.publish("fidelity", text, "tests/sim/README.md")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--first", type=int, default=1, metavar="SEED")
    parser.add_argument("-t", "--tools", type=common.words,
                        default=["adaptive", "basic", "aria2"])
    parser.add_argument("--families", help="the simulator (default: the newest "
                                           "that was built)")
    parser.add_argument("--again", action="store_true",
                        help="only simulate what was measured in the lab before")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/sim/README.md")
    parser.add_argument("family", nargs="*")
    parser.set_defaults(runs=10)
    a = parser.parse_args()
    if wants := [] if a.again else missing():
        raise Missing("; ".join(wants))
    program = a.families or common.newest("tests/sim/families")
    if not program:
        raise SystemExit("the simulator is not built")
    common.set_up(a)
    with tempfile.TemporaryDirectory(prefix="xd-fidelity-") as folder:
        report(measure(a, Lab(folder), program, a.out / "fidelity.json"), a)
    return 0


if __name__ == "__main__":
    common.run(main)
