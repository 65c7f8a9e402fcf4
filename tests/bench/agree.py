# SPDX-License-Identifier: MIT
"""Does the simulator say what the emulated wide area does?

    python3 tests/bench/agree.py [-n RUNS] [--size 50m] [-t POLICY,POLICY...]
                                 [--readme] [SCENARIO...]

Takes each policy through each scenario, in the lab and in the simulator, and
holds the medians against each other.  Two policies that differ by more than 5 %
in the lab should stand in the same order in the simulator.  What was measured is
kept in build/bench/agree.json, so that scenarios can be measured one by one; the
table in agree.md is of all.  --readme puts it into lib/sim/README.md.

Takes root, for tests/wan, and build/*/tests/sim/simulate.
"""
import argparse
import itertools
import json
import re
import subprocess
import tempfile

import common
from bench import Bench
from common import ROOT, TOOLS, median, table, xdownload
from scenario import find, names
from wan import Missing, Wan, missing, parse_size

POLICIES = ["adaptive", "basic", "aggressive", "progress"]
DIFFERENT = 1.05


def in_lab(bench, scenario, policies, rounds):
    """{policy: [seconds]}, each round in an order of its own."""
    seconds = {p: [] for p in policies}
    for seed in range(1, rounds + 1):
        for p in common.in_random_order(policies, seed):
            run = bench.run(p, scenario, seed)
            if run["result"] != "right":
                raise SystemExit(f"{scenario} {p}: {run['result']}")
            seconds[p].append(run["seconds"])
    return seconds


def tcp_of_lab():
    """Not every machine lets a namespace have what wan.py asks for."""
    with Wan("equal") as wan:
        return wan.start(
            ["cat", "/proc/sys/net/ipv4/tcp_congestion_control"], side="depots",
            stdout=subprocess.PIPE, text=True).communicate()[0].strip()


def in_simulator(program, scenario, policy, size, seeds, tcp):
    words = [program, "--size", str(size), "--seeds", str(seeds),
             "--algorithm", policy, find(scenario)]
    if tcp == "bbr":
        words[1:1] = ["--bbr"]
    out = subprocess.run(words, stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    return [float(x) for x in re.findall(r"complete ([0-9.]+) s", out)]


def errors(results):
    """By how much the simulator is wrong, of each scenario and policy."""
    return [r["sim"][p] / r["lab"][p] - 1 for r in results.values()
            for p in r["lab"]]


def ranks(results):
    """Pairs that differ in the lab, and those that the simulator turns round."""
    pairs, turned = 0, []
    for name, r in sorted(results.items()):
        for a, b in itertools.permutations(r["lab"], 2):
            if r["lab"][a] > DIFFERENT * r["lab"][b]:
                pairs += 1
                if r["sim"][a] <= r["sim"][b]:
                    turned.append(f"`{name}` {b} before {a}")
    return pairs, turned


def report(results, policies, a):
    rows = []
    for name, r in sorted(results.items()):
        cells = [f"{r['lab'][p]:.2f} / {r['sim'][p]:.2f}" if p in r["lab"]
                 else "" for p in policies]
        rows.append([f"`{name}`", *cells])
    e = [abs(x) for x in errors(results)]
    pairs, turned = ranks(results)
    tcp = " or ".join(sorted({r["tcp"] for r in results.values()}))
    text = (table(["lab / simulator, s", *policies], rows)
            + f"\n\nMedian error {100 * median(e):.1f} %, worst "
            f"{100 * max(e):.1f} %; of {pairs} pairs of policies that differ by "
            f"more than 5 % in the lab, the simulator ranks "
            f"{len(turned)} in the other order" + (": " + ", ".join(turned) if turned else "")
            + f".  {a.size}, {tcp}, medians of {a.runs} runs and of {a.seeds} "
            "seeds.\n\n" + common.conditions())
    (a.out / "agree.md").write_text(text + "\n")
    print(text)
    if a.readme:
        common.publish("bench-agree", text, "lib/sim/README.md")


def measure(a, policies, kept):
    program = a.simulate or common.newest("tests/sim/simulate")
    if not program:
        raise SystemExit("the simulator is not built")
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for p in policies:
        TOOLS[p] = lambda job, p=p: xdownload(job, "--algorithm", p)
    with tempfile.TemporaryDirectory(prefix="xd-agree-") as folder:
        bench = Bench(folder, parse_size(a.size), a.timeout)
        for name in [] if a.again else a.scenario or names(slow=False):
            runs = in_lab(bench, name, policies, a.runs)
            results[name] = {"runs": runs, "tcp": tcp_of_lab(), "lab": {
                p: median(runs[p]) for p in policies}}
            kept.write_text(json.dumps(results, indent=1) + "\n")
    for name, r in results.items():
        r["sim"] = {p: median(in_simulator(program, name, p,
                                           parse_size(a.size), a.seeds,
                                           r["tcp"])) for p in r["lab"]}
    kept.write_text(json.dumps(results, indent=1) + "\n")
    return results


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", default="50m")
    parser.add_argument("-t", "--policies", default=",".join(POLICIES))
    parser.add_argument("--simulate", help="the simulator (default: the newest "
                                           "that was built)")
    parser.add_argument("--seeds", type=int, default=9,
                        help="runs in the simulator (default 9)")
    parser.add_argument("--timeout", type=float, default=120,
                        help="seconds that a run may take (default 120)")
    parser.add_argument("--again", action="store_true",
                        help="only simulate what was measured in the lab before")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into lib/sim/README.md")
    parser.add_argument("scenario", nargs="*")
    a = parser.parse_args()
    if wants := [] if a.again else missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    policies = a.policies.split(",")
    report(measure(a, policies, a.out / "agree.json"), policies, a)
    return 0


if __name__ == "__main__":
    common.run(main)
