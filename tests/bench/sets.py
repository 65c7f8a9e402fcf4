# SPDX-License-Identifier: MIT
"""Many small files: from mirrors, and from one host near and far.

    python3 tests/bench/sets.py [-n RUNS] [--ways "NAME;..."] [--readme] [ROW...]

Each round takes every command through each row once, in random order.  curl
knows one mirror only, the nearest; limits are those of the bytes (fluid).  Over
HTTP/2, with TLS, curl and xdownload alone are compared.  In the rows "list" and
"missing" xdownload and aria2 get a list of URLs, of which no size and no hash is
known.  In the row "mixed" the second mirror lacks a tenth of the files, and the
third has wrong bytes in a fiftieth; aria2, which gives such a file up, is not in it,
nor in "missing".
Writes build/bench/sets.md; --readme puts the table into tests/bench/README.md.

Takes root, for tests/wan.
"""
import argparse
import hashlib
import math
import os
import random
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

import common
from common import median, table
from lab import bytes_of
from scenario import find, fluid
from wan import Missing, Wan, missing

ONE = "depot d1 198.18.1.1 rate=200mbit rtt={}ms\n"
FOUR = """\
depot d1 198.18.1.1 rate=80mbit rtt=10ms
depot d2 198.18.1.2 rate=60mbit rtt=20ms
depot d3 198.18.1.3 rate=40mbit rtt=40ms
depot d4 198.18.1.4 rate=20mbit rtt=80ms
"""


def mixed(n, middle):
    """Log-normal sizes."""
    chance = random.Random(1)
    return [max(1, round(chance.lognormvariate(math.log(middle), 1.2)))
            for _ in range(n)]


THREE = ONE.format(1) + """\
depot d2 198.18.1.2 rate=100mbit rtt=40ms
depot d3 198.18.1.3 rate=50mbit rtt=100ms
"""

# Name: what it is, the bytes of each file (None: it is not there), and a scenario
# or its text.  HTTP/2 where the name ends with "-h2".
ROWS = {
    "mirrors": ("60 files of 1 MiB, `mirrors`", 60 * [1 << 20], "mirrors"),
    "near": ("3000 files of 10 KiB, one host at 1 ms", 3000 * [10 << 10],
             ONE.format(1)),
    "far": ("1000 files of 10 KiB, one host at 40 ms", 1000 * [10 << 10],
            ONE.format(40)),
    "three": ("3000 files of 10 KiB, three hosts at 1, 40 and 100 ms",
              3000 * [10 << 10], THREE),
    "list": ("10000 files of 10 KiB in a list, one host at 1 ms",
             10000 * [10 << 10], ONE.format(1)),
    "missing": ("20000 files in a list, one host at 1 ms, which has 5 of them",
                5 * [*3999 * [None], 10 << 10], ONE.format(1)),
    "near-h2": ("3000 files of 10 KiB, one host at 1 ms, HTTP/2",
                3000 * [10 << 10], ONE.format(1)),
    "far-h2": ("3000 files of 10 KiB, one host at 40 ms, HTTP/2",
               3000 * [10 << 10], ONE.format(40)),
    "mixed": ("3000 files, log-normal, median 200 KiB, four mirrors, two of "
              "them flawed", mixed(3000, 200 << 10), FOUR),
}
OURS = {"xdownload": [], "xdownload -t 16": ["-t", "16"]}
PEERS = {"curl -Z, 6": "curl", "curl -Z, 16": "curl",
         "curl -Z --http2, 50": "curl", "aria2 -j16": "aria2c"}
GIVES_UP = "aria2 -j16"
FLAWED = ["mixed", "missing"]
OF_LISTS = ["list", "missing"]
OF_HTTP2 = ["xdownload", "curl -Z --http2, 50"]


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


class Files:
    """They lie in a folder that depots serve."""

    def __init__(self, folder, sizes, is_flawed, scheme):
        self.folder, self.is_flawed = Path(folder), is_flawed
        self.scheme = scheme
        self.sizes = {f"f{i:05}": size for i, size in enumerate(sizes)}
        self.digests = {}
        (self.folder / "wrong").mkdir()
        for i, (name, size) in enumerate(self.sizes.items()):
            if size is None:
                continue
            data = bytes_of(size, i + 1)
            self.digests[name] = digest_of(data)
            (self.folder / name).write_bytes(data)
            if self.has_wrong_copy(i):
                (self.folder / "wrong" / name).write_bytes(
                    data[:-1] + bytes([data[-1] ^ 1]))

    def has_wrong_copy(self, i):
        return self.is_flawed and i % 50 == 1

    def urls(self, wan, i, name):
        urls = wan.urls(self.scheme, name)
        if self.is_flawed and i % 10 == 0:
            urls[1] = wan.urls(self.scheme, "none/" + name)[1]
        if self.has_wrong_copy(i):
            urls[2] = wan.urls(self.scheme, "wrong/" + name)[2]
        return urls

    def metalink(self, path, wan):
        with open(path, "w", encoding="utf-8") as f:
            f.write('<metalink xmlns="urn:ietf:params:xml:ns:metalink">\n')
            for i, (name, size) in enumerate(self.sizes.items()):
                f.write(f'<file name="{name}"><size>{size}</size>'
                        f'<hash type="sha-256">{self.digests[name]}</hash>')
                f.writelines(f"<url>{escape(u)}</url>"
                             for u in self.urls(wan, i, name))
                f.write("</file>\n")
            f.write("</metalink>\n")
        return path

    def are_in(self, folder):
        return all((folder / name).exists()
                   and digest_of((folder / name).read_bytes()) == digest
                   for name, digest in self.digests.items())


def processor_time():
    """Of all children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Row:
    """One row in one emulation."""

    def __init__(self, wan, files, folder, kept, is_list=False):
        self.wan, self.files, self.folder, self.kept = wan, files, folder, kept
        self.is_list = is_list
        nearest = {name: wan.urls(files.scheme, name)[0]
                   for name in files.sizes}
        self.config = folder / "curl"
        self.config.write_text("".join(
            f'url = "{url}"\noutput = "{name}"\n'
            for name, url in nearest.items()))
        self.input = folder / ("list" if is_list else "m.meta4")
        if is_list:
            self.input.write_text("".join(f"{u}\n" for u in nearest.values()))
        else:
            files.metalink(self.input, wan)

    def words(self, way):
        if way in OURS:
            return [common.XDOWNLOAD, "-q", "--no-depot-cache", "--cacert",
                    self.wan.cacert, *OURS[way], *["-i"] * self.is_list,
                    self.input]
        if way.startswith("curl"):
            return ["curl", "-sfZ", "--http2", "--cacert", self.wan.cacert,
                    "--parallel-max", way.split()[-1], "-K", self.config]
        return ["aria2c", "-q", "--no-conf", "--file-allocation=none", "-j16",
                "-i" if self.is_list else "-M", self.input]

    def costs(self, way):
        """Seconds, and seconds of processor."""
        out = Path(tempfile.mkdtemp(dir=self.kept))
        os.sync()
        before = processor_time()
        run = self.wan.run(self.words(way), timeout=300, cwd=out,
                           env=common.environment(self.folder),
                           stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        if not self.files.are_in(out):
            raise SystemExit(f"{way}: status {run.rc}, and not all files")
        return run.seconds, processor_time() - before


def is_in(way, row):
    if row.endswith("-h2"):
        return way in OF_HTTP2
    return (way in OURS or way not in OF_HTTP2) and \
        (row not in FLAWED or way != GIVES_UP)


def measure(row, ways, rounds, kept):
    """({way: medians of seconds and of processor time}, the bytes' limit); what
    they fetch stays in `kept`, since ext4 looks at the inode of each file that was
    removed within five minutes whenever it makes a new one."""
    _, sizes, text = ROWS[row]
    ways = [way for way in ways if is_in(way, row)]
    scheme = "https" if row.endswith("-h2") else "http"
    runs = {way: [] for way in ways}
    with tempfile.TemporaryDirectory(prefix="xd-sets-") as folder:
        folder = Path(folder)
        path = find(text) if "\n" not in text else folder / "scenario"
        if "\n" in text:
            path.write_text(text)
        (folder / "www").mkdir()
        files = Files(folder / "www", sizes, row == "mixed", scheme)
        with Wan(path, files.folder) as wan:
            server = Row(wan, files, folder, kept, row in OF_LISTS)
            for i in range(rounds):
                for way in common.in_random_order(ways, i):
                    runs[way].append(server.costs(way))
        limit = fluid(path, sum(size or 0 for size in sizes))
    return {way: [median(each) for each in zip(*costs)]
            for way, costs in runs.items()}, limit


def chosen(ways, text):
    """Those of a text such as "xdownload;curl -Z, 6", in which ; parts them."""
    asked = text.split(";")
    if unknown := [way for way in asked if way not in ways]:
        raise SystemExit("there is no command " + ", ".join(unknown))
    return asked


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--ways", help="only these, such as \"xdownload;curl -Z, 6\": "
                        + "; ".join([*OURS, *PEERS]))
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/bench/README.md")
    parser.add_argument("row", nargs="*", help=" ".join(ROWS))
    a = parser.parse_args()
    if wants := missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    peers = [way for way in PEERS if shutil.which(PEERS[way])]
    ways = [*OURS, *peers]
    if a.ways:
        ways = chosen(ways, a.ways)
    rows = []
    with tempfile.TemporaryDirectory(prefix="xd-kept-") as kept:
        for row in a.row or ROWS:
            took, limit = measure(row, ways, a.runs, kept)
            rows.append([ROWS[row][0], f"{limit:.2f}",
                         *("{:.2f}, {:.2f}".format(*took[way])
                           if way in took else "-" for way in ways)])
            print(" | ".join(rows[-1]), flush=True)
    text = (f"Median of {a.runs} runs: elapsed time and processor time, in "
            "seconds.\n\n"
            + table(["files", "time that the lines need", *ways], rows)
            + "\n\n" + common.conditions(sorted({PEERS[w] for w in peers})))
    common.write(a, "sets", text)
    return 0


if __name__ == "__main__":
    common.run(main)
