# SPDX-License-Identifier: MIT
"""xdownload and its peers in the emulated wide area, against the limit.

    python3 tests/bench/bench.py [-n RUNS] [--size 50m] [-t TOOL,TOOL...]
                                 [--readme] [SCENARIO...]

Each round takes every tool through a scenario once, in random order, with the
same losses; the limit is the later of the fluid bound and of what TCP itself
did in these rounds (tests/wan/README.md).  Writes build/bench/wan.md, wan.svg
and wan.json; --readme puts the table and the picture into tests/bench/README.md.

Takes root, for tests/wan.
"""
import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import common
import picture
from common import (HERE, SCHEME, TOOLS, WARM, Job, choose_tools, median,
                    table)
from manifest import File
from scenario import Scenario, fluid, names
from wan import Missing, Wan, flood, missing, parse_size

LATE_US = 8192  # p99 of the wire's delay beyond which a run is doubtful


class Bench:
    def __init__(self, folder, size, timeout):
        self.folder, self.timeout = Path(folder), timeout
        (self.folder / "root").mkdir()
        self.file = File(self.folder / "root", size)
        self.out = self.folder / "out"

    def best(self, scenario):
        """The depot of the tools that know one only."""
        return scenario.best()

    def run(self, tool, scenario, seed):
        """{"seconds", "since_first_packet", "redundant", "requests", "result"}
        of one run."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        if tool not in WARM:
            shutil.rmtree(self.folder / "cache", ignore_errors=True)
        s = Scenario(scenario)
        scheme = SCHEME.get(tool, "http")
        with Wan(scenario, self.file.folder, seed) as wan:
            urls = wan.urls(scheme, "file")
            manifest = self.file.metalink(self.folder / "m.meta4", urls)
            best = urls[wan.addresses.index(self.best(s).address)]
            job = Job(manifest, urls, best, self.out, wan.cacert)
            run = wan.run(TOOLS[tool](job), timeout=self.timeout,
                          env=common.environment(self.folder))
            ended = time.monotonic()
        size = self.file.size
        if wan.report["late_us"]["p99"] > LATE_US:
            print(f"    the wire was late in a run of {tool}: is the machine "
                  "busy?", file=sys.stderr)
        result = "right"
        if not self.file.is_in(self.out / "file"):
            result = "late" if run.rc is None else "wrong"
        return {"seconds": run.seconds, "result": result,
                "since_first_packet": ended - wan.report["began_s"],
                "redundant": wan.report["payload_bytes"] / size - 1,
                "requests": wan.report["requests"]}

    def warm_up(self, scenario, seed):
        """Fill the depot cache as a cold run does."""
        self.run("xd", scenario, seed)

    def scenario(self, name, tools, rounds):
        """{tool: [a run of each round]}, and the limit."""
        size = self.file.size
        runs = {t: [] for t in tools}
        tcp = []
        for i in range(1, rounds + 1):
            tcp.append(flood(name, self.file.folder, "file", size, seed=i))
            for tool in common.in_random_order(tools, i):
                if tool in WARM:
                    self.warm_up(name, i)
                runs[tool].append(self.run(tool, name, i))
        return runs, {"fluid": fluid(name, size), "tcp": median(tcp)}


def summary(runs, limit):
    """Medians; a tool that was wrong once was wrong."""
    wrong = [r["result"] for r in runs if r["result"] != "right"]
    seconds = median([r["seconds"] for r in runs])
    return {"seconds": seconds, "ratio": seconds / limit,
            "redundant": median([r["redundant"] for r in runs]),
            "requests": median([r["requests"] for r in runs]),
            "result": wrong[0] if wrong else "right"}


def measure(bench, scenarios, tools, rounds):
    results = []
    for name in scenarios:
        runs, limits = bench.scenario(name, tools, rounds)
        limit = max(limits.values())
        print(f"{Path(name).name}: limit {limit:.2f} s (fluid "
              f"{limits['fluid']:.2f}, TCP {limits['tcp']:.2f})", flush=True)
        of_tools = {t: summary(runs[t], limit) for t in tools}
        for tool, s in of_tools.items():
            print(f"  {tool:14} {s['seconds']:7.2f} s  x{s['ratio']:5.2f} of "
                  f"the limit  redundant {100 * s['redundant']:5.1f} %  "
                  f"{s['requests']:5.0f} requests  {s['result']}", flush=True)
        results.append({"scenario": Path(name).name, "limit": limit,
                        **limits, "tools": of_tools, "runs": runs})
    return results


def cell(s):
    if s["result"] != "right":
        return {"late": "too late", "wrong": "fails"}[s["result"]]
    return f"{s['ratio']:.2f} ({100 * s['redundant']:.1f} %)"


def as_table(results, tools):
    rows = [[f"`{r['scenario']}`", f"{r['limit']:.2f} s",
             *(cell(r["tools"][t]) for t in tools)] for r in results]
    return table(["scenario", "limit", *tools], rows)


def report(results, tools, a):
    text = (f"{a.size} each, median of {a.runs}: time as a multiple of the "
            "theoretical minimum (duplicate bytes).\n\n"
            + as_table(results, tools) + "\n\n" + common.conditions(tools))
    svg = picture.ratios(results, tools, f"Time to fetch {a.size}, as a "
                                         "multiple of the limit")
    (a.out / "wan.md").write_text(text + "\n")
    (a.out / "wan.svg").write_text(svg)
    (a.out / "wan.json").write_text(json.dumps(results, indent=1) + "\n")
    if a.readme:
        (HERE / "wan.svg").write_text(svg)
        common.publish("bench-wan",
                       text + "\n\n![the same as a picture](wan.svg)")
    print(f"written: {a.out}/wan.md, wan.svg, wan.json")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", default="50m")
    parser.add_argument("-t", "--tools",
                        default="xd,xd-warm,xd-tls,aria2,axel,curl")
    parser.add_argument("--timeout", type=float, default=120,
                        help="seconds that a run may take (default 120)")
    parser.add_argument("--readme", action="store_true",
                        help="put the results into tests/bench/README.md")
    parser.add_argument("scenario", nargs="*")
    a = parser.parse_args()
    if wants := missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    tools = choose_tools(a.tools)
    with tempfile.TemporaryDirectory(prefix="xd-bench-") as folder:
        bench = Bench(folder, parse_size(a.size), a.timeout)
        results = measure(bench, a.scenario or names(slow=False), tools, a.runs)
    report(results, tools, a)
    return 0


if __name__ == "__main__":
    common.run(main)
