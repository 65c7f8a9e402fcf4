# SPDX-License-Identifier: MIT
"""Many hosts, all but the last of them dead: what it costs to find it.

    python3 tests/bench/hosts.py [-n RUNS] [--hosts 5000,20000,200000]
                                 [-t WAY,WAY...]

A Metalink, and a list of URLs for -i, name so many hosts of this machine; the
last one is an nginx with a file of 1 MB, and the others refuse at once.  Beside
xdownload stand aria2, which takes minutes for more than 20 000, and `connect`:
a bare loop that connects a socket to each host, which is what no client gets
around.  Medians of wall time and of processor time, and the most memory.
Writes build/bench/hosts.md.
"""
import argparse
import hashlib
import os
import socket
import sys
import tempfile
from pathlib import Path

import common
import loopback
from common import median, table

SIZE = 1000000

CONNECT = """
import socket, sys
for line in open(sys.argv[1]):
    host, port = line.split("/")[2].split(":")
    with socket.socket() as s:
        s.setblocking(False)
        s.connect_ex((host, int(port)))
"""


def xd(bench, words):
    return [common.XDOWNLOAD, "-q", *common.XD_ARGS, *words,
            "-d", bench.folder / "out"]


def aria2(bench, words):
    return ["aria2c", "-q", "--no-conf", "--file-allocation=none",
            "--allow-overwrite=true", "-d", bench.folder / "out", *words]


WAYS = {
    "xd": lambda b: xd(b, [b.metalink]),
    "xd-list": lambda b: xd(b, ["-i", b.tabbed]),
    "aria2": lambda b: aria2(b, ["-M", b.metalink]),
    "aria2-list": lambda b: aria2(b, ["-i", b.tabbed]),
    "connect": lambda b: [sys.executable, "-c", CONNECT, b.urls],
}
ARIA2_MOST = 20000  # hosts; it takes a minute for them, and an hour for 200 000


def dead_host(i):
    """250 times 250 addresses in each of 127.1.0.0/16, 127.2.0.0/16..."""
    return f"127.{1 + i // 62500}.{i // 250 % 250 + 1}.{i % 250 + 1}"


class Hosts:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        (self.folder / "out").mkdir()
        data = os.urandom(SIZE)
        (self.folder / "file").write_bytes(data)
        self.hash = hashlib.sha256(data).hexdigest()
        self.origin = loopback.Origin(folder, 1)
        self.refuses = socket.socket()  # bound, and never listening
        self.refuses.bind(("0.0.0.0", 0))

    def name(self, n):
        """Write the lists of n hosts."""
        port = self.refuses.getsockname()[1]
        urls = [f"http://{dead_host(i)}:{port}/file" for i in range(n - 1)]
        urls += self.origin.urls
        self.metalink = self.folder / "m.meta4"
        loopback.metalink(self.metalink, SIZE, urls,
                          f'<hash type="sha-256">{self.hash}</hash>\n')
        self.urls = self.folder / "urls"
        self.urls.write_text("\n".join(urls) + "\n")
        self.tabbed = self.folder / "tabbed"
        self.tabbed.write_text("\t".join(urls) + "\n")

    def run(self, way):
        for path in (self.folder / "out").iterdir():
            path.unlink()
        return loopback.run(WAYS[way](self))

    def close(self):
        self.refuses.close()
        self.origin.close()


def measure(bench, hosts, ways, rounds):
    """{(number of hosts, way): [(wall, processor, MiB)...]}"""
    runs = {}
    for n in hosts:
        bench.name(n)
        for i in range(rounds):
            for way in common.in_random_order(ways, i):
                if way.startswith("aria2") and n > ARIA2_MOST:
                    continue
                runs.setdefault((n, way), []).append(bench.run(way))
                print(f"{n} hosts, {way}: %.2f s, %.2f s of processor, "
                      "%.0f MiB" % runs[n, way][-1])
    return runs


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--hosts", default="5000,20000,200000")
    parser.add_argument("-t", "--ways", default=",".join(WAYS))
    a = parser.parse_args()
    common.set_up(a)
    ways = [w for w in a.ways.split(",")
            if not w.startswith("aria2") or common.is_installed("aria2")]
    with tempfile.TemporaryDirectory() as folder:
        bench = Hosts(folder)
        try:
            runs = measure(bench, map(int, a.hosts.split(",")), ways, a.runs)
        finally:
            bench.close()
    order = list(WAYS)
    rows = [[f"{n}", f"`{way}`", *(f"{median(x):.{digits}f}" for x, digits
                                   in zip(zip(*r), (2, 2, 0)))]
            for n, way in sorted(runs, key=lambda r: (r[0], order.index(r[1])))
            for r in [runs[n, way]]]
    text = (f"Medians of {a.runs}.\n\n"
            + table(["hosts", "way", "wall, s", "processor, s", "memory, MiB"],
                    rows)
            + "\n\n" + common.conditions(["aria2"]) + "\n")
    (a.out / "hosts.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
