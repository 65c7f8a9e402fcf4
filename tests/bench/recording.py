# SPDX-License-Identifier: MIT
"""What it costs to record a run with --trace.

    python3 tests/bench/recording.py [-n RUNS] [--size 2048] [--depots 4]

From nginx depots on loopback into memory-backed storage, with --trace, under
`perf record`: of all samples of processor time, in the kernel too, those taken in
a function that records, or in one that it has called.  Two runs with and without
--trace differ by more than that from one time to the next; this is a share of the
same run.  With hashes (pieces) and without (none), where the rest costs least.  What
is recorded goes by seconds, ten looks in each, and by requests, so that the share
of a slower run is larger.  Writes build/bench/recording.md.

Twice --size (in MiB) of memory are taken.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import common
from common import median, table
from lab import find_nginx
from loopback import MEBIBYTE, PIECE, Origin, make_file, metalink
from wan import Missing

# Those which the rest of the command calls, and the engine does for it.
RECORDS = ("trace_begin", "trace_look", "trace_record", "trace_say",
           "trace_end", "xd_records_put")
SAMPLES_PER_S = 1999
STACK_BYTES = 8192  # of each sample: more than printf() takes


def sample(words, folder):
    """(samples, those in a function that records) of a command."""
    data = folder / "perf.data"
    subprocess.run(
        ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_S),
         "--call-graph", f"dwarf,{STACK_BYTES}", "-o", data, "--",
         *map(str, words)], check=True, env=common.environment(folder))
    script = subprocess.run(
        ["perf", "script", "--no-inline", "-F", "ip,sym", "-i", data],
        check=True, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout
    stacks = [s.split() for s in script.split("\n\n") if s.strip()]
    return len(stacks), sum(any(r in s for r in RECORDS) for s in stacks)


class Recording:
    def __init__(self, folder, mebibytes, depots):
        self.folder, self.bytes = Path(folder), mebibytes * MEBIBYTE
        self.folder.chmod(0o755)
        pieces, _ = make_file(self.folder / "file", mebibytes)
        self.origin = Origin(folder, depots)
        hashes = {"pieces": f'<pieces length="{PIECE}" type="sha-256">'
                  + "".join(f"<hash>{h}</hash>" for h in pieces)
                  + "</pieces>\n", "none": ""}
        for way, text in hashes.items():
            metalink(self.folder / f"{way}.meta4", self.bytes,
                     self.origin.urls, text)

    def run(self, way):
        """{"rate", "events", "samples", "recording"} of one run."""
        out, trace = self.folder / "out", self.folder / "t.json"
        samples, recording = sample(
            [common.XDOWNLOAD, "-q", "--trace", trace, "-o", out,
             self.folder / f"{way}.meta4"], self.folder)
        out.unlink()
        events = json.loads(trace.read_text())
        end, = (e for e in events if e["name"] == "end")
        return {"rate": self.bytes / (end["ts"] / 1e6), "events": len(events),
                "samples": samples, "recording": recording}


def row(way, runs):
    """The share of all runs together, with its deviation."""
    samples = sum(r["samples"] for r in runs)
    recording = sum(r["recording"] for r in runs)
    return [way, f"{median([r['rate'] for r in runs]) / 1e9:.2f} GB/s",
            f"{median([r['events'] for r in runs]):.0f}", f"{samples}",
            f"{100 * recording / samples:.2f} % +- "
            f"{100 * math.sqrt(max(recording, 1)) / samples:.2f} %"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", type=int, default=2048, help="in MiB")
    parser.add_argument("--depots", type=int, default=4)
    parser.add_argument("--storage", default="/dev/shm")
    a = parser.parse_args()
    if not find_nginx() or not shutil.which("perf"):
        raise Missing("nginx or perf is not installed")
    common.set_up(a)
    with tempfile.TemporaryDirectory(prefix="xd-bench-",
                                     dir=a.storage) as folder:
        recording = Recording(folder, a.size, a.depots)
        try:
            rows = [row(way, [recording.run(way) for _ in range(a.runs)])
                    for way in ("pieces", "none")]
        finally:
            recording.origin.close()
    text = (f"{a.size} MiB from {a.depots} depots on loopback to {a.storage}, "
            f"{a.runs} runs of each.\n\n"
            + table(["hashes", "rate", "events", "samples", "recording"], rows)
            + "\n\n" + common.conditions())
    (a.out / "recording.md").write_text(text + "\n")
    print(text + f"\nwritten: {a.out}/recording.md")


if __name__ == "__main__":
    common.run(main)
