"""How two clients share a server, and a line: in the emulated wide area.

    python3 tests/bench/shares.py [-n RUNS]

Two clients fetch from the same depot for ten seconds: two of ours, and one of
ours beside one TCP connection (curl).  What the first has got is told as a
share of what both have.  Writes build/bench/shares.md.  Takes root, for
tests/wan.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import common
from common import median, table
from manifest import MEBIBYTE, File
from wan import SKIPPED, Wan, missing

SECONDS = 10
SERVERS = {"1 MiB/s for each connection": "rate=200mbit rtt=40ms cap=1m",
           "a line of 40 Mbit/s": "rate=40mbit rtt=40ms"}


def ours(folder, url):
    report = folder / "report"
    words = [common.XDOWNLOAD, "-q", "--no-depot-cache", "--max-time",
             f"{SECONDS}s", "--report", report, "-o", folder / "out", url]
    return words, lambda out: json.loads(report.read_text())["bytes_received"]


def curl(folder, url):
    words = ["curl", "-s", "--max-time", SECONDS, "-o", os.devnull, "-w",
             "%{size_download}", url]
    return words, int


def share(server, others, root):
    """Of the first client."""
    got = []
    with tempfile.TemporaryDirectory(dir=root) as place:
        scenario = Path(place) / "scenario"
        scenario.write_text(f"depot a 198.18.1.1 {SERVERS[server]}\n")
        with Wan(scenario, root) as wan:
            runs = []
            for i, client in enumerate((ours, others)):
                folder = Path(place) / str(i)
                folder.mkdir()
                words, bytes_of = client(folder, "http://198.18.1.1/file")
                runs.append((wan.start(words, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL), bytes_of))
            for process, bytes_of in runs:
                got.append(bytes_of(process.communicate()[0]))
    return got[0] / sum(got)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    a = parser.parse_args()
    if wants := missing():
        print("skipped: " + "; ".join(wants), file=sys.stderr)
        return SKIPPED
    common.set_up(a)
    rows = []
    with tempfile.TemporaryDirectory(prefix="xd-shares-") as root:
        File(root, 150 * MEBIBYTE)  # more than comes in that time
        for server in SERVERS:
            rows.append([server] + [
                f"{median([share(server, o, root) for _ in range(a.runs)]):.0%}"
                for o in (ours, curl)])
    text = table(["the depot", "beside another of ours",
                  "beside one TCP connection"], rows)
    (a.out / "shares.md").write_text(text + "\n\n" + common.conditions())
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
