# SPDX-License-Identifier: MIT
"""xdownload put --stripe to stores of unequal speed, against the least time.

    python3 tests/bench/put.py [-n RUNS] [--size 1024m] [--copies 2]
                               [--extent SIZE] [--readme] [RATES...]

Each store is an nginx of its own that takes objects by WebDAV; the lines to them have
the rates (in MB/s, "16,12,8,4"), each a class of one queue on the loopback of a
network namespace.
No store gets two copies of a byte: the least time is the one in which the
stores, each up to the whole file, take all copies.  Writes build/bench/put.md;
--readme puts the table into tests/bench/README.md.

Takes root, for the namespace, and memory for the file and its copies.
"""
import argparse
import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
from common import median, table
from lab import find_nginx
from wan import PATH, Missing, parse_size

CLONE_NEWNET = 0x40000000
MB = 1e6


def least_seconds(size, copies, rates):
    """Of stores that take the whole file at most: the fastest have it first."""
    rates = sorted(rates, reverse=True)
    for n_full in range(copies):
        seconds = (copies - n_full) * size / sum(rates[n_full:])
        if rates[n_full] * seconds <= size:
            return seconds
    return size / rates[copies - 1]


def command(*words):
    program = shutil.which(words[0], path=PATH)
    if not program:
        raise Missing(f"{words[0]} is not installed (package iproute2)")
    subprocess.run([program, *map(str, words[1:])], check=True)


def enter_namespace():
    """All that is begun from here on has a loopback of its own."""
    if os.geteuid() != 0:
        raise Missing("a network namespace takes root")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise Missing(f"unshare: {os.strerror(ctypes.get_errno())}")
    command("ip", "link", "set", "lo", "up")


def limit(ports, rates):
    """Each port is sent so much; all other packets pass."""
    command("tc", "qdisc", "replace", "dev", "lo", "root", "pfifo")
    command("tc", "qdisc", "replace", "dev", "lo", "root", "handle", "1:", "htb")
    for i, (port, rate) in enumerate(zip(ports, rates), start=1):
        command("tc", "class", "add", "dev", "lo", "parent", "1:", "classid",
                f"1:{i}", "htb", "rate", f"{int(rate * 8)}bit", "burst",
                "128k", "cburst", "128k", "quantum", "60000")
        command("tc", "filter", "add", "dev", "lo", "parent", "1:", "protocol",
                "ip", "u32", "match", "ip", "dport", port, "0xffff", "flowid",
                f"1:{i}")


class Store:
    """One nginx, with what it keeps in `folder`."""

    def __init__(self, folder):
        self.root, self.folder = folder / "objects", folder
        self.root.mkdir(parents=True)
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen(128)
        self.port = s.getsockname()[1]
        (folder / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; user root; pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1000; }}
http {{ access_log off; client_max_body_size 0;
client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{self.port}; location /dav/ {{ alias {self.root}/;
dav_methods PUT DELETE MKCOL; }} }} }}
""")
        self.process = subprocess.Popen(
            [find_nginx(), "-p", folder, "-c", folder / "nginx.conf"],
            env={"NGINX": f"{s.fileno()};"}, pass_fds=[s.fileno()],
            stderr=subprocess.DEVNULL)
        s.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/dav/"

    def empty(self):
        """Returns how many bytes it had."""
        kept = sum(p.stat().st_size for p in self.root.iterdir())
        for p in self.root.iterdir():
            p.unlink()
        return kept

    def close(self):
        self.process.terminate()
        self.process.wait()


def make_file(path, size):
    with open(path, "wb") as f:
        while size > 0:
            f.write(os.urandom(min(size, 1 << 20)))
            size -= min(size, 1 << 20)


def put(folder, stores, size, a):
    """(wall seconds, processor seconds, most MiB) of one upload."""
    words = [common.XDOWNLOAD, "put", "-q", "--force", "--stripe", "--copies",
             a.copies, "--report", folder / "report.json", "-o",
             folder / "f.xnd", folder / "file"]
    if a.extent:
        words += ["--extent", a.extent]
    if a.verbose:
        words.insert(2, "-v")
        words.remove("-q")
    for s in stores:
        words += ["--to", s.url]
    began = time.monotonic()
    process = subprocess.Popen(list(map(str, words)),
                               env=common.environment(folder))
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    kept = [s.empty() for s in stores]
    said = json.loads((folder / "report.json").read_text())
    if process.returncode or sum(kept) != a.copies * size:
        raise SystemExit(f"status {process.returncode}, and the stores have "
                         f"{kept}: {said['error']}")
    return (seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
            said["bytes_sent"] / (a.copies * size))


def measure(folder, stores, rates, size, a):
    """A row of the table."""
    least = least_seconds(size, a.copies, rates)
    runs = []
    limit([s.port for s in stores], rates)
    for _ in range(a.runs):
        seconds, processor, memory, sent = put(folder, stores, size, a)
        load = os.getloadavg()[0]
        print(f"{seconds:.2f} s, {seconds / least:.3f} of the least; processor "
              f"{processor:.2f} s, {memory:.0f} MiB; sent "
              f"{100 * (sent - 1):.1f} % more than wanted; load {load:.1f}",
              flush=True)
        runs.append((seconds, processor, memory, load))
    seconds, processor, memory, load = zip(*runs)
    return [f"{least:.2f} s", f"{median(seconds):.2f} s",
            f"{median(seconds) / least:.3f} ({min(seconds) / least:.3f}-"
            f"{max(seconds) / least:.3f})", f"{median(processor):.1f} s",
            f"{median(memory):.0f} MiB", f"{median(load):.0f}"]


def measure_all(folder, a):
    size = parse_size(a.size)
    rows = []
    make_file(folder / "file", size)
    for text in a.rates or ["16,12,8,4"]:
        rates = [float(r) * MB for r in common.words(text)]
        with contextlib.ExitStack() as stack:
            stores = []
            for i in range(len(rates)):
                stores.append(Store(folder / f"{len(rows)}-{i}"))
                stack.callback(stores[-1].close)
            rows.append([text.replace(",", ", "),
                         *measure(folder, stores, rates, size, a)])
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", default="1024m")
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--extent", help="as put has it")
    parser.add_argument("--storage", default="/dev/shm",
                        help="where file and copies are (default: /dev/shm)")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="show each extent")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/bench/README.md")
    parser.add_argument("rates", nargs="*", help="MB/s of the stores")
    a = parser.parse_args()
    if not find_nginx():
        raise Missing("nginx is not installed")
    common.set_up(a)
    enter_namespace()
    with tempfile.TemporaryDirectory(prefix="xd-bench-",
                                     dir=a.storage) as folder:
        rows = measure_all(Path(folder), a)
    text = (f"{a.size} in {a.copies} copies, median of {a.runs}.\n\n"
            + table(["MB/s of the stores", "shortest time", "median",
                     "median / shortest time", "processor", "memory", "load of the machine"], rows)
            + "\n\n" + common.conditions())
    print(text)
    common.write(a, "put", text)
    return 0


if __name__ == "__main__":
    common.run(main)
