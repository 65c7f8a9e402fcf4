# SPDX-License-Identifier: MIT
"""What `xdownload serve` gives to clients on its own machine.

    python3 tests/bench/serve.py [-n RUNS] [--size 1024] [--clients 8]

With the store in a file, and (memory) with --spool none:

    share    so many clients ask at once for all of a file on two depots that
             send 32 MiB/s over each connection: what the depots sent is meant
             to be at most 1.1 files
    memory   of its own (RssAnon), the most meanwhile: the lookahead, which is
             32 MiB, and 16 MiB
    again    one more client, when the file is there: at least half as fast as
             from nginx is meant to be enough

Medians.  Writes build/bench/serve.md.  Twice --size (in MiB) of memory are taken.
"""
import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import common
from common import median, table
from lab import find_nginx
from loopback import MEBIBYTE, Origin, make_file, metalink

STORES = {"file": None, "memory": "none"}
RATE = "32m"
SHARE, MEMORY_MIB = 1.1, 32 + 16


def start_curl(url):
    return subprocess.Popen(["curl", "-sf", "-o", "/dev/null", url],
                            env={"PATH": os.environ["PATH"]})


def fetch(*urls):
    """Seconds until all have all of it."""
    began = time.monotonic()
    if any([p.wait() for p in [start_curl(url) for url in urls]]):
        raise SystemExit("curl has failed")
    return time.monotonic() - began


class Served:
    def __init__(self, folder, spool, manifest):
        self.most = 0
        self.process = subprocess.Popen(
            [common.XDOWNLOAD, "serve", "-q", "--spool", spool or folder,
             manifest], stdout=subprocess.PIPE, text=True,
            env=common.environment(folder))
        self.url = self.process.stdout.readline().strip()
        self.watch = threading.Thread(target=self._look_at_memory)
        self.watch.start()

    def _look_at_memory(self):
        status = Path(f"/proc/{self.process.pid}/status")
        while found := re.search(r"RssAnon:\s+(\d+) kB", status.read_text()):
            self.most = max(self.most, int(found[1]) / 1024)
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.watch.join()  # what has ended holds nothing
        self.process.wait()
        self.process.stdout.close()


def run(depots, folder, store, clients):
    """What the depots sent, MiB, and the seconds of one client later."""
    with Served(folder, STORES[store], folder / "file.meta4") as served:
        before = depots.bytes_sent()
        fetch(*[served.url] * clients)
        sent = depots.bytes_sent() - before
        again = fetch(served.url) if store == "file" else None
        return sent, served.most, again


def verdict(text, is_good):
    return text if is_good else f"{text} **over**"


def row_of(store, runs, size, nginx):
    sent, most, again = zip(*runs)
    row = [store, verdict(f"{median(sent) / size:.3f} files",
                          median(sent) <= SHARE * size),
           verdict(f"{max(most):.0f} MiB", max(most) <= MEMORY_MIB), ""]
    if again[0] is not None:
        speed = nginx / median(again)
        row[-1] = verdict(f"{speed:.2f} of nginx's", speed >= 0.5)
    return row


def rows(folder, a):
    size = a.size * MEBIBYTE
    make_file(folder / "file", a.size)
    with contextlib.ExitStack() as opened:
        nginx = opened.enter_context(contextlib.closing(Origin(folder, 1)))
        depots = opened.enter_context(contextlib.closing(
            Origin(folder, 2, f"limit_rate {RATE};")))
        metalink(folder / "file.meta4", size, depots.urls, "")
        seconds = median([fetch(nginx.urls[0]) for _ in range(a.runs)])
        return [row_of(store, [run(depots, folder, store, a.clients)
                               for _ in range(a.runs)], size, seconds)
                for store in STORES]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", type=int, default=1024, help="in MiB")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--storage", default="/dev/shm")
    a = parser.parse_args()
    if not find_nginx():
        print("skipped: nginx is not installed", file=sys.stderr)
        return 77
    common.set_up(a)
    with tempfile.TemporaryDirectory(prefix="xd-bench-",
                                     dir=a.storage) as folder:
        Path(folder).chmod(0o755)
        found = rows(Path(folder), a)
    text = (f"{a.size} MiB, {a.clients} clients, {a.runs} runs.\n\n"
            + table(["store", "share", "memory", "again"], found)
            + "\n\n" + common.conditions(["curl"]))
    (a.out / "serve.md").write_text(text + "\n")
    print(text + f"\nwritten: {a.out}/serve.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
