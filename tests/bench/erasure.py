# SPDX-License-Identifier: MIT
"""Erasure codes on one core: lib/code against zfec and par2.

    python3 tests/bench/erasure.py [-n RUNS] [--size 16m] [--readme] [CODES...]

CODES: "4+2" (the default), "10+4": data shards and parity shards.  Each tool
encodes a stripe of shards of --size, and decodes it with as many data shards lost
as there are parity shards; lib/code and zfec from memory to memory, par2 from
files to files, in /dev/shm, with the MD5 of all that it reads and writes, which it
does not do without.  What is counted is the processor's time: megabytes of the
file in a second of it.  In random order; medians.  Writes build/bench/erasure.md;
--readme puts the table into tests/bench/README.md.

lib/code is measured by tests/bench/code_speed.c ($XD_CODE_SPEED, or the newest
that is built), zfec by its Python module, in the Python that runs this.  A tool
that is not there has "-" in its column.
"""
import argparse
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import common
from common import median, table
from wan import Missing, parse_size

try:
    import zfec
except ImportError:
    zfec = None

SECONDS = 1  # for which each is measured at least, but par2, which runs once
MB = 1e6


class OwnCode:
    def __init__(self, program):
        self.program = program
        self.name = "lib/code"

    def run(self, k, n, size):
        done = subprocess.run(
            list(map(str, [self.program, k, n, size, SECONDS])), text=True,
            check=True, stdout=subprocess.PIPE)
        said = dict(line.split() for line in done.stdout.splitlines())
        self.name = f"lib/code, ISA-L {said['isa-l']}"
        return float(said["encode"]), float(said["decode"])


class Zfec:
    def __init__(self):
        self.name = f"zfec {zfec.__version__}"

    @staticmethod
    def rate(size, function, shards, numbers):
        """What it returned last, and bytes for a second."""
        begin, times, taken = time.process_time(), 0, 0
        while taken < SECONDS:
            result = function(list(shards), list(numbers))  # which it reorders
            times += 1
            taken = time.process_time() - begin
        return result, size * times / taken

    def run(self, k, n, size):
        data = [os.urandom(size) for _ in range(k)]
        parity, encode = self.rate(k * size, zfec.Encoder(k, n).encode, data,
                                   range(k, n))
        numbers = range(n - k, n)
        left = [(data + parity)[i] for i in numbers]
        found, decode = self.rate(k * size, zfec.Decoder(k, n).decode, left,
                                  numbers)
        if found != data:
            raise SystemExit("zfec decoded wrong bytes")
        return encode, decode


class Par2:
    def __init__(self, storage):
        self.storage = storage
        said = subprocess.run(["par2", "--version"], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        self.name = "par2 " + re.search(r"\d+\.[\d.]+", said)[0]

    @staticmethod
    def seconds(folder, *words):
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        before = used()
        subprocess.run(["par2", words[0], "-q", "-q", "-t1", "-T1",
                        *map(str, words[1:])], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL)
        return used() - before

    def run(self, k, n, size):
        names = [f"d{i}" for i in range(k)]
        with tempfile.TemporaryDirectory(dir=self.storage) as folder:
            data = [os.urandom(size) for _ in names]
            for name, shard in zip(names, data):
                Path(folder, name).write_bytes(shard)
            encode = self.seconds(folder, "create", f"-s{size}", f"-c{n - k}",
                                  "-n1", "x.par2", *names)
            for name in names[:n - k]:
                Path(folder, name).unlink()
            decode = self.seconds(folder, "repair", "x.par2")
            if [Path(folder, name).read_bytes() for name in names] != data:
                raise SystemExit("par2 repaired wrong bytes")
        return k * size / encode, k * size / decode


def tools(a):
    program = os.environ.get("XD_CODE_SPEED") or common.newest(
        "tests/bench/code_speed")
    if not program:
        raise Missing("tests/bench/code_speed is not built")
    return [OwnCode(program), Zfec() if zfec else None,
            Par2(a.storage) if shutil.which("par2") else None]


def measure(a, there):
    """{(code, number of the tool): [(encoded, decoded bytes/s)]}"""
    runs = {}
    for i in range(a.runs):
        jobs = [(code, t) for code in a.codes for t in range(len(there))
                if there[t]]
        for code, t in common.in_random_order(jobs, i):
            k, parity = map(int, code.split("+"))
            rates = there[t].run(k, k + parity, parse_size(a.size))
            runs.setdefault((code, t), []).append(rates)
    return runs


def rows_of(a, there, runs):
    rows = []
    for code in a.codes:
        lost = code.partition("+")[2]
        for which, what in ((1, f"decode, {lost} lost"), (0, "encode")):
            cells = [f"{median([r[which] for r in runs[code, t]]) / MB:.0f}"
                     if tool else "-" for t, tool in enumerate(there)]
            rows.append([code, what, *cells])
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.set_defaults(runs=5)
    parser.add_argument("--size", default="16m", help="of a shard")
    parser.add_argument("--storage", default="/dev/shm",
                        help="where par2 has its files (default: /dev/shm)")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/bench/README.md")
    parser.add_argument("codes", nargs="*", default=["4+2"])
    a = parser.parse_args()
    common.set_up(a)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    there = tools(a)
    before = os.getloadavg()[0]
    runs = measure(a, there)
    load = max(before, os.getloadavg()[0])
    names = [tool.name if tool else name for tool, name in
             zip(there, ("lib/code", "zfec", "par2"))]
    text = (f"MB/s on one core, shards of {a.size}, median of {a.runs}; load of "
            f"the machine {load:.0f}.\n\n"
            + table(["code", "", *names], rows_of(a, there, runs))
            + "\n\n" + common.conditions())
    print(text)
    common.write(a, "erasure", text)
    return 0


if __name__ == "__main__":
    common.run(main)
