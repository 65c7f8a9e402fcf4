# SPDX-License-Identifier: MIT
"""One machine, no emulated network: what fetching and verifying costs.

    python3 tests/bench/loopback.py [-n RUNS] [--size 2048] [--depots 4]
                                    [-t WAY,WAY...]

From nginx depots on loopback into memory-backed storage (/dev/shm):
xdownload verifying 4 MiB SHA-256 pieces, or the SHA-256 of the whole; curl
fetching once, unverified, to the same place; and `openssl dgst -sha256` over
what curl fetched.  In random order; medians and minima of wall time and of
processor time, and the most memory (VmHWM).  Writes build/bench/loopback.md.

Three times --size (in MiB) of memory are taken.
"""
import argparse
import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import common
from common import Job, median, table
from lab import find_nginx

MEBIBYTE = 1 << 20
PIECE = 4 * MEBIBYTE


class Origin:
    """nginx depots, each a process of its own, that serve `root`."""

    def __init__(self, root, n, config=""):
        self._open = contextlib.ExitStack()
        self.config = config
        self.log = Path(tempfile.mkdtemp(dir=root)) / "sent"
        self.urls = [self._start(Path(root), i) for i in range(n)]

    def _start(self, root, i):
        folder = self.log.parent / f"nginx-{i}"
        folder.mkdir()
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen(128)
        user = "user root;" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; {user} pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1000; }}
http {{ log_format sent "$body_bytes_sent"; access_log {self.log} sent;
sendfile on; tcp_nopush on; keepalive_requests 100000; {self.config}
client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{s.getsockname()[1]}; root {root}; }} }}
""")
        process = subprocess.Popen(
            [find_nginx(), "-p", folder, "-c", folder / "nginx.conf"],
            env={"NGINX": f"{s.fileno()};"}, pass_fds=[s.fileno()],
            stderr=subprocess.DEVNULL)
        self._open.callback(process.wait)
        self._open.callback(process.terminate)
        url = "http://127.0.0.1:%d/file" % s.getsockname()[1]
        s.close()
        return url

    def bytes_sent(self):
        """In the bodies of all answers: nginx logs one after its last byte,
        so that the log has to stand still first."""
        before = None
        while (now := sum(map(int, self.log.read_text().split()))) != before:
            before = now
            time.sleep(0.3)
        return now

    def close(self):
        self._open.close()


def make_file(path, mebibytes):
    """Random bytes, and the Metalinks that verify them: (pieces, whole)."""
    whole, pieces = hashlib.sha256(), []
    with open(path, "wb") as f:
        for _ in range(mebibytes * MEBIBYTE // PIECE):
            data = os.urandom(PIECE)
            f.write(data)
            whole.update(data)
            pieces.append(hashlib.sha256(data).hexdigest())
    return pieces, whole.hexdigest()


def metalink(path, size, urls, hashes):
    path.write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'  # aria2 asks for it
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink">\n'
        f'<file name="file"><size>{size}</size>\n{hashes}'
        + "".join(f"<url>{u}</url>\n" for u in urls) + "</file></metalink>\n")


def peak_memory(pid, peak):
    """Look now and then; what it was in the end is in the last look."""
    with contextlib.suppress(OSError):
        while True:
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    peak[0] = int(line.split()[1]) / 1024
            time.sleep(0.02)
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return


def run(words):
    """Wall seconds, processor seconds, most MiB; it must succeed."""
    began = time.monotonic()
    process = subprocess.Popen(list(map(str, words)),
                               stdout=subprocess.DEVNULL,
                               env={"PATH": os.environ["PATH"]})  # no HOME
    peak = [0.0]
    watch = threading.Thread(target=peak_memory, args=(process.pid, peak))
    watch.start()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    wall = time.monotonic() - began
    watch.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{words[0]} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, peak[0]


class Loopback:
    def __init__(self, folder, mebibytes, depots):
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        self.out = self.folder / "out"
        self.source = self.folder / "file"
        pieces, whole = make_file(self.source, mebibytes)
        self.origin = Origin(folder, depots)
        size = mebibytes * MEBIBYTE
        hashes = {
            "pieces": f'<pieces length="{PIECE}" type="sha-256">'
            + "".join(f"<hash>{h}</hash>" for h in pieces) + "</pieces>\n",
            "whole": f'<hash type="sha-256">{whole}</hash>\n'}
        hashes["both"] = hashes["whole"] + hashes["pieces"]
        for name, text in hashes.items():
            metalink(self.folder / f"{name}.meta4", size, self.origin.urls,
                     text)

    def run(self, way):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        job = Job(self.folder / f"{way}.meta4", self.origin.urls,
                  self.origin.urls[0], self.out)
        if way == "openssl":
            return run(["openssl", "dgst", "-sha256", self.source])
        if way == "aria2":
            job.manifest = self.folder / "both.meta4"
        tool = common.TOOLS[way] if way in common.TOOLS else common.xdownload
        return run(tool(job))

    def is_right(self):
        return subprocess.run(["cmp", "-s", self.source, self.out / "file"],
                              check=False).returncode == 0


def measure(loopback, ways, rounds):
    runs = {w: [] for w in ways}
    for i in range(rounds):
        for way in common.in_random_order(ways, i):
            runs[way].append(loopback.run(way))
            if i == 0 and way != "openssl" and not loopback.is_right():
                raise SystemExit(f"{way} brought wrong bytes")
    return runs


def rows_of(runs):
    """Medians and minima, and what they are of curl's, or of curl's and
    openssl's together."""
    def of(way, column, take):
        return take([r[column] for r in runs[way]])
    rows = []
    for way in runs:
        row = [way]
        for column, base in [(0, ["curl"]), (1, ["curl", "openssl"])]:
            for take in (median, min):
                value = of(way, column, take)
                against = sum(of(b, column, take) for b in base)
                row.append(f"{value:.2f} s ({value / against:.2f})")
        rows.append([*row, f"{of(way, 2, max):.0f} MiB"])
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.set_defaults(runs=9)
    parser.add_argument("--size", type=int, default=2048, help="in MiB")
    parser.add_argument("--depots", type=int, default=4)
    parser.add_argument("--storage", default="/dev/shm")
    parser.add_argument("-t", "--ways", default="pieces,whole,both",
                        help="what is held against curl: pieces, whole, both\n"
                             "(xdownload), aria2, axel ...")
    a = parser.parse_args()
    if not find_nginx():
        print("skipped: nginx is not installed", file=sys.stderr)
        return 77
    common.set_up(a)
    ways = ["curl", "openssl", *a.ways.split(",")]
    with tempfile.TemporaryDirectory(prefix="xd-bench-",
                                     dir=a.storage) as folder:
        loopback = Loopback(folder, a.size, a.depots)
        try:
            runs = measure(loopback, ways, a.runs)
        finally:
            loopback.origin.close()
    text = (f"{a.size} MiB from {a.depots} depots on loopback to {a.storage}, "
            f"{a.runs} runs of each in random order; wall time as a share of "
            "curl's, processor time as a share of curl's and openssl's "
            "together.\n\n"
            + table(["", "wall, median", "wall, least", "processor, median",
                     "processor, least", "memory"], rows_of(runs))
            + "\n\n" + common.conditions(["curl"]))
    (a.out / "loopback.md").write_text(text + "\n")
    print(text + f"\nwritten: {a.out}/loopback.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
