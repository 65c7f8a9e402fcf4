# SPDX-License-Identifier: MIT
"""How two clients share a server, and a line: in the emulated wide area.

    python3 tests/bench/shares.py [-n RUNS]

Two clients fetch from the same depot for ten seconds: two of ours, and one of
ours beside one TCP connection (curl), over HTTP/1.1 and over HTTP/2.  What the
first has received is shown as a share of what both have.  Writes
build/bench/shares.md.  Takes root, for tests/wan.
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


def ours(folder, wan, scheme="http"):
    report = folder / "report"
    words = [common.XDOWNLOAD, "-q", "--no-depot-cache", "--max-time",
             f"{SECONDS}s", "--cacert", wan.cacert, "--report", report,
             "-o", folder / "out", *wan.urls(scheme, "file")]
    return words, lambda out: json.loads(report.read_text())["bytes_received"]


def ours_http2(folder, wan):
    return ours(folder, wan, "https")


def curl(folder, wan):
    words = ["curl", "-s", "--max-time", SECONDS, "-o", os.devnull, "-w",
             "%{size_download}", *wan.urls("http", "file")]
    return words, int


PAIRS = {"beside another of ours": (ours, ours),
         "beside one TCP connection": (ours, curl),
         "over HTTP/2, beside one TCP connection": (ours_http2, curl)}


def share(server, clients, root):
    """Of the first of the two clients."""
    got = []
    with tempfile.TemporaryDirectory(dir=root) as place:
        scenario = Path(place) / "scenario"
        scenario.write_text(f"depot a 198.18.1.1 {SERVERS[server]}\n")
        with Wan(scenario, root) as wan:
            runs = []
            for i, client in enumerate(clients):
                folder = Path(place) / str(i)
                folder.mkdir()
                words, bytes_of = client(folder, wan)
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
                f"{median([share(server, c, root) for _ in range(a.runs)]):.0%}"
                for c in PAIRS.values()])
    text = table(["the depot", *PAIRS], rows)
    (a.out / "shares.md").write_text(text + "\n\n" + common.conditions())
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
