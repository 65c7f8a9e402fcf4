# SPDX-License-Identifier: MIT
"""Mirrors that are slow, silent, wrong or gone: time as a multiple of ideal.

    python3 tests/bench/faults.py [-n RUNS] [-t TOOL,TOOL...] [CASE...]

32 MiB in SHA-256 pieces of 1 MiB from mirrors on loopback, each with one token
bucket over all its connections (tests/lab/throttle.c); rates are in MiB/s.
Ideal is the size over the rates of those that serve without a fault, so that
J, where the other's bytes count too, may stay below.  Then the first MiB in
order, through `xdownload -o -`, when the first mirror is slow or silent.
Writes build/bench/faults.md.
"""
import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import common
from common import TOOLS, Job, aria2, choose_tools, median, table
from lab import Lab, find_nginx
from manifest import MEBIBYTE, File

SIZE = 32 * MEBIBYTE
TIMEOUT = 60


def flipped(data):
    """One bit of each megabyte is another."""
    bad = bytearray(data)
    for at in range(1000, len(bad), MEBIBYTE):
        bad[at] ^= 1
    return bytes(bad)


class Mirrors:
    """Makes the mirrors of a case; rates are in MiB/s."""

    def __init__(self, lab, data):
        self.lab, self.data = lab, data

    def good(self, rate, n=1, **options):
        return self.lab.depots(n, rate=rate * MEBIBYTE, **options)

    def with_bytes(self, data, rate):
        return self.good(rate, files={"file": data})

    def slow_then_silent(self, rate, after):
        return self.good(rate, stop_after=after)


# name: (what, mirrors, rates of those that can help, [hashes], bound)
CASES = {
    "A": ("4 x 2", lambda m: m.good(2, 4), 8, 1.05),
    "B": ("0.1 + 3 x 4", lambda m: m.good(0.1) + m.good(4, 3), 12.1, 1.15),
    "C": ("4, silent after 200 KB, + 3 x 4",
          lambda m: m.good(4, stop_after=200_000) + m.good(4, 3), 12, 1.15),
    "D": ("one of 4 x 4 corrupt",
          lambda m: m.with_bytes(flipped(m.data), 4) + m.good(4, 3), 12, 1.15),
    "E": ("one of 3 x 4 corrupt, one hash of the whole",
          lambda m: m.with_bytes(flipped(m.data), 4) + m.good(4, 2), 8, 1.15),
    "F": ("refused + 404 + 2 x 4",
          lambda m: [m.lab.dead()] + m.lab.depots(1, status=404)
          + m.good(4, 2), 8, 1.15),
    "G": ("one of 3 x 4 knows no ranges",
          lambda m: m.good(4, ranges=False) + m.good(4, 2), 8, 1.15),
    "H": ("one of 3 x 4 has another size",
          lambda m: m.with_bytes(m.data + b"more", 4) + m.good(4, 2), 8, 1.15),
    "I": ("8, after 4 MB 20 KB/s, + 3 x 2",
          lambda m: m.good(8, stop_after=4_000_000, then=20_000)
          + m.good(2, 3), None, 1.25),
    "J": ("one of 3 x 4 resets after each 1 MB",
          lambda m: m.good(4, reset_after=1_000_000) + m.good(4, 2), 8, 1.15),
    "K": ("8 + 0.2", lambda m: m.good(8) + m.good(0.2), 8.2, 1.1),
    "L": ("one of 3 x 4 answers 503",
          lambda m: m.lab.depots(1, status=503) + m.good(4, 2), 8, 1.15),
}
# All mirrors are one host here, for aria2's limit of connections to a server.
TOOLS = dict(TOOLS, aria2=lambda j: aria2(j, "-k1M", "-s16", "-x16"))
ASKED = {"D", "G", "H", "J", "L"}  # how often was the bad one?
FIRST = {
    "healthy": lambda m: m.good(2, 4),
    "first slow": lambda m: m.good(0.1) + m.good(4, 3),
    "first silent": lambda m: [m.lab.silent()] + m.good(4, 3),
    "first silent after 200 KB":
        lambda m: m.good(4, stop_after=200_000) + m.good(4, 3),
}


def ideal(case):
    if case == "I":
        at = 4_000_000 / (8 * MEBIBYTE)
        rest = SIZE - 4_000_000 - at * 6 * MEBIBYTE
        return at + rest / (6 * MEBIBYTE + 20_000)
    return SIZE / (CASES[case][2] * MEBIBYTE)


def timed(words, env):
    """Seconds to its end; None if that does not come in time."""
    began = time.monotonic()
    process = subprocess.Popen(
        list(map(str, words)), env=env, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)

    def kill():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    timer = threading.Timer(TIMEOUT, kill)
    timer.start()
    process.wait()
    timer.cancel()
    kill()
    seconds = time.monotonic() - began
    return seconds if seconds < TIMEOUT else None


def first_mebibyte(words, env):
    """Seconds until 1 MiB has come out, in order."""
    began = time.monotonic()
    with subprocess.Popen(list(map(str, words)), env=env,
                          stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        timer = threading.Timer(TIMEOUT, process.kill)
        timer.start()
        got = len(process.stdout.read(MEBIBYTE))
        seconds = time.monotonic() - began
        process.kill()
        timer.cancel()
    return seconds if got == MEBIBYTE else None


class Bench:
    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "source").mkdir()
        self.file = File(self.folder / "source", SIZE)
        self.out = self.folder / "out"

    @contextlib.contextmanager
    def job(self, mirrors, pieces=True):
        """A Job with mirrors of its own, and an empty place."""
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        self.out.mkdir()
        with Lab() as lab:
            os.link(self.file.path, lab.www / "file")
            self.mirrors = mirrors(Mirrors(lab, self.file.data))
            urls = [d.url("file") for d in self.mirrors]
            manifest = self.file.metalink(
                self.folder / "m.meta4", urls,
                piece=MEBIBYTE if pieces else 0, whole=not pieces)
            yield Job(manifest, urls, urls[0], self.out)

    def run(self, tool, case):
        """Its seconds; what was wrong, or ""; requests to the first mirror, if
        that counts them."""
        with self.job(CASES[case][1], pieces=case != "E") as job:
            seconds = timed(TOOLS[tool](job),
                            common.environment(self.folder))
            first = self.mirrors[0]
            asked = len(first.requests()) if first.nginx else None
        if seconds is None:
            return None, "too late", asked
        return seconds, "" if self.file.is_in(job.file) else "wrong", asked

    def first(self, case):
        with self.job(FIRST[case]) as job:
            words = [common.XDOWNLOAD, "-q", *common.XD_ARGS, "-o", "-",
                     job.manifest]
            return first_mebibyte(words, common.environment(self.folder))


def cell(runs, case):
    bad = [why for _, why, _ in runs if why]
    if bad:
        return bad[0]
    text = f"{median([s for s, _, _ in runs]) / ideal(case):.2f}"
    if case in ASKED:
        text += f" ({median([asked for _, _, asked in runs]):.0f} requests)"
    return text


def measure(bench, cases, tools, rounds):
    rows = []
    for case in cases:
        runs = {t: [bench.run(t, case) for _ in range(rounds)] for t in tools}
        what, _, _, bound = CASES[case]
        rows.append([case, what, f"{ideal(case):.2f} s", f"{bound:.2f}",
                     *(cell(runs[t], case) for t in tools)])
        print("  ".join(rows[-1]), flush=True)
    return rows


def measure_first(bench, rounds):
    rows = []
    for case in FIRST:
        seconds = [bench.first(case) for _ in range(rounds)]
        rows.append([case, "never" if None in seconds
                     else f"{median(seconds):.2f} s"])
        print("  ".join(rows[-1]), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("-t", "--tools", default="xd")
    parser.add_argument("case", nargs="*", help=" ".join(CASES))
    a = parser.parse_args()
    if unknown := set(a.case) - set(CASES):
        parser.error("there is no case " + " ".join(unknown))
    if not find_nginx():
        print("skipped: nginx is not installed", file=sys.stderr)
        return 77
    common.set_up(a)
    tools = choose_tools(a.tools)
    with tempfile.TemporaryDirectory(prefix="xd-bench-") as folder:
        bench = Bench(folder)
        rows = measure(bench, a.case or CASES, tools, a.runs)
        first = measure_first(bench, a.runs) if not a.case else []
    text = (f"Median of {a.runs}, as a multiple of ideal (requests to the bad one)."
            "\n\n"
            + table(["", "mirrors, MiB/s", "ideal", "meant", *tools], rows))
    if first:
        text += ("\n\nThe first MiB in order:\n\n"
                 + table(["first mirror", "after"], first))
    text += "\n\n" + common.conditions(tools)
    (a.out / "faults.md").write_text(text + "\n")
    print(f"written: {a.out}/faults.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
