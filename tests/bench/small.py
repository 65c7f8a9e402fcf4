# SPDX-License-Identifier: MIT
"""A small file: xdownload from all depots against curl from the nearest.

    python3 tests/bench/small.py [-n RUNS] [--size 100k] [SCENARIO...]

In the emulated wide area, cold, and with the depot cache of the run before
(xd-warm), in random order.  Up to 10 % and 20 ms more than curl is meant to be
enough, 10 ms if warm.  Writes build/bench/small.md.

Takes root, for tests/wan.
"""
import argparse
import sys
import tempfile
from pathlib import Path

import common
from bench import Bench
from common import choose_tools, median, table
from scenario import Scenario, names
from wan import SKIPPED, missing, parse_size

ALLOWED = {"xd": 0.020, "xd-warm": 0.010, "xd-tls": 0.020}
SHARE = 1.10


class SmallBench(Bench):
    """curl takes the nearest, not the one with the highest rate."""

    def best(self, scenario):
        return scenario.nearest()


def one(bench, name, tools, rounds):
    runs = {t: [] for t in tools}
    for i in range(1, rounds + 1):
        for tool in common.in_random_order(tools, i):
            if tool in common.WARM:
                bench.warm_up(name, i)
            runs[tool].append(bench.run(tool, name, i))
    return runs


def cell(tool, runs, curl):
    if any(r["result"] != "right" for r in runs):
        return "fails"
    seconds = median([r["seconds"] for r in runs])
    came = 1 + median([r["redundant"] for r in runs])
    text = f"{1000 * seconds:.0f} ms"
    if tool in ALLOWED:
        over = seconds > SHARE * curl + ALLOWED[tool]
        text += f", {came:.1f} files" + (" **over**" if over else "")
    return text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", default="100k")
    parser.add_argument("-t", "--tools", default="curl,xd,xd-warm")
    parser.add_argument("scenario", nargs="*")
    a = parser.parse_args()
    if wants := missing():
        print("skipped: " + "; ".join(wants), file=sys.stderr)
        return SKIPPED
    common.set_up(a)
    tools = choose_tools(a.tools)
    rows = []
    with tempfile.TemporaryDirectory(prefix="xd-bench-") as folder:
        bench = SmallBench(folder, parse_size(a.size), timeout=60)
        for name in a.scenario or names(slow=False):
            runs = one(bench, name, tools, a.runs)
            curl = median([r["seconds"] for r in runs.get("curl", [])])
            nearest = Scenario(name).nearest()
            rows.append([f"`{Path(name).name}`",
                         f"{1000 * nearest.rtt:.0f} ms",
                         *(cell(t, runs[t], curl) for t in tools)])
            print("  ".join(rows[-1]), flush=True)
    text = (f"{a.size} each, median of {a.runs}; how many files' worth came "
            "over the wire.\n\n"
            + table(["scenario", "nearest depot", *tools], rows)
            + "\n\n" + common.conditions(tools))
    (a.out / "small.md").write_text(text + "\n")
    print(f"written: {a.out}/small.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
