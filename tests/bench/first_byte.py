# SPDX-License-Identifier: MIT
"""How soon a reader has its first byte: at the start, and after a jump.

    python3 tests/bench/first_byte.py [-n RUNS] [-c CASE,CASE...] [SCENARIO...]

`xdownload serve` in the emulated wide area, to an HTTP client beside it that
asks for byte 0, reads 4 MiB, and goes elsewhere over a new connection.  At most
so long it should take, with R a round trip to the nearest depot; after a jump
what is in the queues of the wire already comes first, and is not allowed for:

    plain    a size and no hashes: 2 R + 20 ms
    tls      the same over https: 3 R + 20 ms
    pieces   1 MiB pieces with hashes: when all depots together could have
             brought the first piece (fluid() of tests/wan) + 2 R + 20 ms
    tls-pieces   these over https: one R more
    slow     plain, and the first depot of the list brings 100 kbit/s: 1 s
    silent   plain, and the first depot of the list never says a word: 1 s
    list     URLs alone, so that most depots have to tell the size first: 1 s

nginx puts 16 KiB into a TLS record, which is more than TCP sends before it is
acknowledged: over https nobody can read the first byte before 4 R.

Writes build/bench/first_byte.md.  Takes root, for tests/wan.
"""
import argparse
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
from common import median, table
from manifest import MEBIBYTE, File
from scenario import Scenario, fluid, names
from wan import SKIPPED, Wan, missing

SIZE = 64 * MEBIBYTE
# Ahead of what is fetched for who reads 4 MiB from the start.
JUMP = 48 * MEBIBYTE + 123456
AMPLE = 0.020
FIRST = {"slow": "rate=100kbit rtt=40ms", "silent": "rtt=40ms down"}
CASES = ["plain", "tls", "pieces", "tls-pieces", *FIRST, "list"]
TIMEOUT = 30


# ---- on the client's side ----

def seconds_to_first_byte(url, at, more):
    """Until a byte of the body is here; then read so many more."""
    host, port, path = re.fullmatch(r"http://(.*):(\d+)(/.*)", url).groups()
    began = time.monotonic()
    with socket.create_connection((host, int(port)), TIMEOUT) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n"
                  f"Range: bytes={at}-\r\n\r\n".encode())
        got = b""
        while not (body := got.partition(b"\r\n\r\n")[2]):
            if not (part := s.recv(65536)):
                raise SystemExit(f"no byte from {at} on: {got!r}")
            got += part
        seconds = time.monotonic() - began
        more -= len(body)
        while more > 0 and (part := s.recv(65536)):
            more -= len(part)
    return seconds


def jump_about(words):
    """Serve, read, go elsewhere, and print the seconds of both."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            print(seconds_to_first_byte(url, 0, 4 * MEBIBYTE),
                  seconds_to_first_byte(url, JUMP, 1))
        finally:
            server.terminate()


# ---- on this side ----

class Bench:
    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "root").mkdir()
        self.file = File(self.folder / "root", SIZE)

    def scenario(self, name, case):
        """The scenario's file, with the depot that the case puts first."""
        text = Scenario(name).path.read_text()
        if case in FIRST:
            text += f"depot bad 198.18.9.9 {FIRST[case]}\n"
        path = self.folder / f"{Path(name).name}-{case}"
        path.write_text(text)
        return path

    def manifest(self, urls, case):
        path = self.folder / "m"
        if case == "list":
            path.write_text("".join(f"{u}\n" for u in urls))
            return path
        return self.file.metalink(path, urls, whole=False,
                                  piece=MEBIBYTE if "pieces" in case else 0)

    def run(self, name, case, seed):
        """Seconds to the first byte, and to that after the jump."""
        with Wan(self.scenario(name, case), self.file.folder, seed) as wan:
            scheme = "https" if "tls" in case else "http"
            urls = [f"{scheme}://{a}/file" for a in wan.addresses]
            if case in FIRST:
                urls.insert(0, urls.pop())
            run = wan.run(
                [sys.executable, __file__, "--jump", common.XDOWNLOAD, "serve",
                 "-q", "--no-depot-cache", "--cacert", wan.cacert,
                 *common.XD_ARGS, self.manifest(urls, case)],
                timeout=TIMEOUT, env=common.environment(self.folder),
                stdout=subprocess.PIPE, text=True)
        if not run.out:
            raise SystemExit(f"{name}, {case}: no byte came")
        return [float(word) for word in run.out.split()]


def bound(name, case):
    if case == "list" or case in FIRST:
        return 1.0
    trips = 3 if "tls" in case else 2
    first = fluid(name, MEBIBYTE) if "pieces" in case else 0
    return first + trips * Scenario(name).nearest().rtt + AMPLE


def cell(seconds, most):
    text = f"{1000 * median(seconds):.0f} ({1000 * max(seconds):.0f})"
    return text + (" **over**" if median(seconds) > most else "")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("-c", "--cases", default=",".join(CASES))
    parser.add_argument("scenario", nargs="*")
    a = parser.parse_args()
    if unknown := set(a.cases.split(",")) - set(CASES):
        parser.error("there is no case " + " ".join(sorted(unknown)))
    if wants := missing():
        print("skipped: " + "; ".join(wants), file=sys.stderr)
        return SKIPPED
    common.set_up(a)
    rows = []
    with tempfile.TemporaryDirectory(prefix="xd-bench-") as folder:
        bench = Bench(folder)
        for name in a.scenario or names(slow=False):
            for case in a.cases.split(","):
                runs = [bench.run(name, case, i + 1) for i in range(a.runs)]
                most = bound(name, case)
                rows.append([f"`{Path(name).name}`", case,
                             f"{1000 * most:.0f}",
                             *(cell(x, most) for x in zip(*runs))])
                print("  ".join(rows[-1]), flush=True)
    text = (f"Milliseconds, median of {a.runs} (the longest).\n\n"
            + table(["scenario", "depots", "at most", "start", "jump"], rows)
            + "\n\n" + common.conditions())
    (a.out / "first_byte.md").write_text(text + "\n")
    print(f"written: {a.out}/first_byte.md")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--jump"]:
        sys.exit(jump_about(sys.argv[2:]))
    sys.exit(main())
