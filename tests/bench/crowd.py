# SPDX-License-Identifier: MIT
"""A crowd at one disk: xdownload depot and nginx, with a file of twice the memory.

    python3 tests/bench/crowd.py [--size 64m] [--memory 32m] [--clients 40]
                                 [--load MB/s] [--readme] [ROW...]

Below each server are a disk with one arm (tests/lab/slow_disk.c) and a control group
for its memory.  Clients arrive at random moments (a Poisson process, the same for all
servers), have lines of equal rates, and fetch the file once; as many arrive as there
would be --clients at a time if none waited for the disk, and together they want
--load.  That is to be 1.5 times what nginx sends with read-ahead.

    depot      xdownload depot, and xdownload
    ignored    xdownload depot, and curl, which ignores what it would be asked for
    nginx      nginx as Debian has it, and curl
    ahead      the same, and the system reads --ahead of each file, 4 MiB
    hostile    as depot, and beside them ten clients that take nothing, ten that take
               100 bytes a second, and one that asks for bytes anywhere with a thousand
               ids

What is measured begins after the time that one client takes, when about as many come
as go, and lasts as long.  Other rows:

    lone       one xdownload at a depot that says what it would be asked for, and at
               one that does not
    among      the same with two nginx as further depots
    slow       a thousand slow connections to a depot in 100 MiB of memory

Writes build/bench/crowd.md; --readme puts the table into tests/bench/README.md.  Takes
root, for a network namespace, a mount and a control group.
"""
import argparse
import contextlib
import filecmp
import http.client
import os
import random
import re
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import common
from common import median, table
from lab import find_nginx
from put import command, enter_namespace, make_file
from wan import Missing, parse_size

MB = 1e6
OVERHEAD = 1500 / 1448  # bits on a line for each of a file
SLOW_CONNECTIONS, SLOW_MEMORY, SLOW_S = 1000, 100 << 20, 30
IDS = 1000

CROWDS = {
    "depot": ("depot", "xdownload", "`xdownload depot`"),
    "ignored": ("depot", "curl", "`xdownload depot`, and curl"),
    "nginx": ("nginx", "curl", "nginx, and curl"),
    "ahead": ("nginx", "curl", "nginx with {} of read-ahead, and curl"),
    "hostile": ("depot", "xdownload", "`xdownload depot`, hostile clients too")}
OTHERS = ["lone", "among", "slow"]


def slow_disk():
    return os.environ.get("XD_SLOW_DISK") or common.newest(
        "tests/lab/slow_disk")


# ---- what a server has ----

class Disk:
    """The files of a folder, mounted at another one."""

    def __init__(self, files, at, seek_ms, rate):
        self.at = at
        at.mkdir()
        self.process = subprocess.Popen(
            [slow_disk(), "--seek", str(seek_ms), "--rate", str(rate), files,
             at], stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise SystemExit("slow_disk has mounted nothing")

    def read_ahead(self, kib):
        dev = self.at.stat().st_dev
        Path(f"/sys/class/bdi/{os.major(dev)}:{os.minor(dev)}/read_ahead_kb"
             ).write_text(str(kib))

    def counts(self):
        """bytes, reads, seeks"""
        text = (self.at / ".disk").read_text()
        return {k: int(v) for k, v in map(str.split, text.splitlines())}

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class Memory:
    """A control group that has so much."""

    made = 0

    def __init__(self, limit):
        old, new = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
        Memory.made += 1
        name = f"xd-crowd-{os.getpid()}-{Memory.made}"
        if (old / "memory.limit_in_bytes").exists():
            self.folder, file = old / name, "memory.limit_in_bytes"
        elif "memory" in _text(new / "cgroup.controllers").split():
            (new / "cgroup.subtree_control").write_text("+memory")
            self.folder, file = new / name, "memory.max"
        else:
            raise Missing("there are no control groups for memory")
        self.folder.mkdir()
        (self.folder / file).write_text(str(limit))

    def words(self, words):
        return ["sh", "-c", 'echo $$ >"$0"/cgroup.procs && exec "$@"',
                self.folder, *map(str, words)]

    def close(self):
        end = time.monotonic() + 5
        while True:
            with contextlib.suppress(OSError):
                return self.folder.rmdir()
            if time.monotonic() > end:
                raise SystemExit(f"{self.folder} is still in use")
            time.sleep(0.05)


def _text(path):
    return path.read_text() if path.exists() else ""


class Lines:
    """The loopback of this namespace: what goes to an address, or comes from it, has a
    rate."""

    def __init__(self):
        self.n = 0
        command("ip", "link", "set", "lo", "mtu", "1500")
        command("tc", "qdisc", "replace", "dev", "lo", "root", "pfifo")
        command("tc", "qdisc", "replace", "dev", "lo", "root", "handle", "1:",
                "htb")

    def limit(self, side, address, bits_per_s):
        """side: src or dst"""
        self.n += 1
        one = f"{self.n:x}"
        command("tc", "class", "add", "dev", "lo", "parent", "1:", "classid",
                f"1:{one}", "htb", "rate", f"{int(bits_per_s)}bit", "burst",
                "16k", "cburst", "16k", "quantum", "60000")
        command("tc", "qdisc", "add", "dev", "lo", "parent", f"1:{one}",
                "bfifo", "limit", "192k")
        command("tc", "filter", "add", "dev", "lo", "parent", "1:", "protocol",
                "ip", "u32", "match", "ip", side, f"{address}/32", "flowid",
                f"1:{one}")

    @staticmethod
    def bytes_passed():
        for line in Path("/proc/self/net/dev").read_text().splitlines():
            if line.strip().startswith("lo:"):
                return int(line.split(":")[1].split()[8])
        raise SystemExit("there is no loopback")


def client_address(i):
    return f"127.1.{i // 200}.{i % 200 + 1}"


class Served:
    """A server of its own disk and memory.  `url` is that of the file."""

    made = 0

    def __init__(self, folder, a, kind, memory=None, address="127.0.0.1",
                 active=None):
        Served.made += 1
        self.folder = folder / f"server{Served.made}"
        self.folder.mkdir()
        with contextlib.ExitStack() as stack:
            self.memory = Memory(memory or a.memory)
            stack.callback(self.memory.close)
            self.disk = Disk(folder / "files", self.folder / "disk", a.seek,
                             a.disk * MB)
            stack.callback(self.disk.close)
            self.process = self.start(kind, address, active or a.active)
            stack.callback(self.end)
            self.url = self.wait_for_url(kind, address)
            self.stack = stack.pop_all()

    def start(self, kind, address, active):
        words = [common.XDOWNLOAD, "depot", "--no-config", "-q",
                 "--active-length", active, "--listen", address,
                 self.disk.at]
        if kind == "nginx":
            words = [find_nginx(), "-p", self.folder, "-c", self.configured(
                address)]
        return subprocess.Popen(
            self.memory.words(words), stdout=subprocess.PIPE, text=True,
            stderr=(self.folder / "stderr").open("w"), start_new_session=True)

    def configured(self, address):
        """As Debian has it, but for names and connections."""
        temp = "".join(f"{name}_temp_path {self.folder}/{name};" for name in
                       ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        path = self.folder / "nginx.conf"
        path.write_text(f"""
daemon off; user root; worker_processes auto; pid nginx.pid;
error_log error.log; events {{ worker_connections 4096; }}
http {{ {temp} sendfile on; tcp_nopush on; access_log off;
server {{ listen {address}:8080; root {self.disk.at}; }} }}
""")
        return path

    def wait_for_url(self, kind, address):
        if kind == "depot":
            return self.process.stdout.readline().strip() + "file"
        end = time.monotonic() + 10
        while not _text(self.folder / "nginx.pid").strip():
            if time.monotonic() > end:
                raise SystemExit(_text(self.folder / "stderr"))
            time.sleep(0.01)
        return f"http://{address}:8080/file"

    def at(self):
        """Host and port."""
        host, port = re.match("http://([^/:]+):([0-9]+)/", self.url).groups()
        return host, int(port)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()


# ---- clients ----

class Clients:
    """Processes that fetch; each has a number, which is its address, too."""

    def __init__(self, folder):
        self.folder = Path(tempfile.mkdtemp(dir=folder, prefix="out"))
        self.right = folder / "files" / "file"
        self.running, self.took = {}, {}

    def start(self, i, kind, *urls):
        out = self.folder / str(i)
        address = client_address(i)
        words = {"curl": ["curl", "-sf", "--interface", address, "-o",
                          "/dev/null"],
                 "xdownload": [common.XDOWNLOAD, "--no-config", "-q",
                               "--no-depot-cache", "--interface", address,
                               "-o", out]}[kind]
        self.running[i] = (time.monotonic(), subprocess.Popen(
            [*words, *urls], stderr=(self.folder / f"{i}.err").open("w"),
            env=common.environment(self.folder)))

    def look(self):
        for i, (began, process) in list(self.running.items()):
            if process.poll() is None:
                continue
            del self.running[i]
            self.took[i] = time.monotonic() - began
            out = self.folder / str(i)
            if process.returncode != 0 or (out.exists() and not filecmp.cmp(
                    out, self.right, shallow=False)):
                raise SystemExit(
                    f"client {i}: status {process.returncode}: "
                    + (self.folder / f"{i}.err").read_text())
            out.unlink(missing_ok=True)

    def wait(self):
        while self.running:
            self.look()
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _, process in self.running.values():
            process.kill()
            process.wait()
        shutil.rmtree(self.folder)


def connect(served, i):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind((client_address(i), 0))
    s.connect(served.at())
    s.sendall(b"GET /file HTTP/1.1\r\nHost: %s:%d\r\n\r\n"
              % (served.at()[0].encode(), served.at()[1]))
    return s


class Hostile:
    """What takes nothing, little, or makes up ids, until close()."""

    def __init__(self, served, size, first):
        self.is_over = False
        self.sockets = [connect(served, first + i) for i in range(20)]
        self.asked = 0
        self.threads = [threading.Thread(target=self.trickle),
                        threading.Thread(target=self.claim,
                                         args=(served, size, first + 20))]
        for thread in self.threads:
            thread.start()

    def trickle(self):
        while not self.is_over:
            for s in self.sockets[10:]:
                s.recv(100)
            time.sleep(1)

    def claim(self, served, size, i):
        rng = random.Random(1)
        ids = [f"{rng.getrandbits(64):016x}" for _ in range(IDS)]
        http_ = http.client.HTTPConnection(
            *served.at(), source_address=(client_address(i), 0))
        while not self.is_over:
            at = rng.randrange(size)
            http_.request("GET", "/file", headers={
                "Range": f"bytes={at}-{at}", "Xd-Client": rng.choice(ids)})
            http_.getresponse().read()
            self.asked += 1
        http_.close()

    def close(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        for s in self.sockets:
            s.close()


# ---- rows of a crowd ----

def arrivals(a):
    """Moments, for two times that a client takes."""
    rng, t, found = random.Random(a.seed), 0.0, []
    while t < 2 * a.seconds:
        found.append(t)
        t += rng.expovariate(a.clients / a.seconds)
    return found


class Window:
    """What passes between two moments."""

    def __init__(self, a, served):
        self.begin, self.end = a.seconds, 2 * a.seconds
        self.served, self.looks = served, []

    def look(self, seconds):
        due = [self.begin, self.end, float("inf")][len(self.looks)]
        if seconds >= due:
            self.looks.append({"at": seconds, "sent": Lines.bytes_passed(),
                               **self.served.disk.counts()})

    def result(self):
        first, last = self.looks
        return {k: last[k] - first[k] for k in first}


def crowd(folder, a, name):
    """Of the window: what was sent and read; how long clients took which came before
    it, and None for one that had not ended."""
    kind, client, _ = CROWDS[name]
    times = arrivals(a)
    early = [i for i, t in enumerate(times) if t < a.seconds]
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(Served(folder, a, kind))
        if name == "ahead":
            served.disk.read_ahead(parse_size(a.ahead) >> 10)
        clients = stack.enter_context(Clients(folder))
        if name == "hostile":
            hostile = Hostile(served, a.bytes, len(times))
            stack.callback(hostile.close)
        window, n = Window(a, served), 0
        began = time.monotonic()
        while True:
            seconds = time.monotonic() - began
            while n < len(times) and times[n] <= seconds:
                clients.start(n, client, served.url)
                n += 1
            clients.look()
            window.look(seconds)
            has_ended = all(i in clients.took for i in early)
            if seconds > 2 * a.seconds and (has_ended or
                                            seconds > 2.5 * a.seconds):
                break
            time.sleep(0.02)
        found = window.result()
        found["took"] = [clients.took.get(i) for i in early]
        found["at_end"] = len(clients.running)
    return found


def idle(folder, a):
    """Seconds of one client of each kind, at the same time, each at a server of its
    own."""
    with contextlib.ExitStack() as stack:
        clients = stack.enter_context(Clients(folder))
        for i, (kind, client) in enumerate([("depot", "xdownload"),
                                            ("nginx", "curl")]):
            served = stack.enter_context(Served(folder, a, kind))
            clients.start(i, client, served.url)
        clients.wait()
        return {"xdownload": clients.took[0], "curl": clients.took[1]}


def crowd_row(a, found, name, alone):
    _, client, title = CROWDS[name]
    took = sorted(t or float("inf") for t in found["took"])
    middle, last = median(took) / alone[client], took[-1] / alone[client]

    def times(x):
        return f"{x:.2f}" if x < float("inf") else "unfinished"
    return [title.format(a.ahead), f"{found['sent'] / found['at'] / MB:.1f}",
            f"{found['bytes'] / found['at'] / MB:.1f}",
            f"{found['bytes'] / found['sent']:.3f}",
            f"{found['seeks'] / found['at']:.0f}",
            f"{times(middle)} ({times(last)})", str(found["at_end"]),
            f"{os.getloadavg()[0]:.0f}"]


# ---- other rows ----

def one(folder, a, active, n_nginx):
    """Seconds of one client at a depot, beside so many nginx."""
    with contextlib.ExitStack() as stack:
        clients = stack.enter_context(Clients(folder))
        urls = [stack.enter_context(Served(folder, a, kind, address=address,
                                           active=active)).url
                for kind, address in [("depot", "127.0.0.1"),
                                      ("nginx", "127.0.0.2"),
                                      ("nginx", "127.0.0.3")][:1 + n_nginx]]
        clients.start(0, "xdownload", *urls)
        clients.wait()
        return clients.took[0]


def one_row(folder, a, name):
    n_nginx = 2 if name == "among" else 0
    took = {a.active: [], "1g": []}  # with which all of it is the region
    for _ in range(a.runs):
        for active, seconds in took.items():
            seconds.append(one(folder, a, active, n_nginx))
            print(name, active, f"{seconds[-1]:.3f}", flush=True)
    told, untold = map(median, took.values())
    return [name, f"{told:.2f} s", f"{untold:.2f} s", f"{told / untold:.3f}"]


def read_slowly(sockets, seconds):
    """Each takes 2 KiB a second or so; how many bytes each got."""
    got = dict.fromkeys(sockets, 0)
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for s in sockets:
            s.setblocking(False)
            selector.register(s, selectors.EVENT_READ)
        while time.monotonic() < end:
            for key, _ in selector.select(0):
                got[key.fileobj] += len(key.fileobj.recv(2048))
            time.sleep(1)
    return list(got.values())


def slow_row(folder, a):
    with Served(folder, a, "depot", memory=SLOW_MEMORY) as served:
        sockets = [connect(served, i % 200) for i in range(SLOW_CONNECTIONS)]
        got = read_slowly(sockets, SLOW_S)
        status = Path(f"/proc/{served.process.pid}/status").read_text()
        own = int(re.search(r"RssAnon:\s+(\d+)", status)[1]) / 1024
        n_threads = re.search(r"Threads:\s+(\d+)", status)[1]
        for s in sockets:
            s.close()
    return ["slow", f"{sum(n > 0 for n in got)} connections got "
            f"{min(got) / 1024:.0f} to {max(got) / 1024:.0f} KiB in {SLOW_S} s",
            f"{own:.0f} MiB", f"{n_threads} threads"]


# ---- the whole ----

def tables(folder, a, rows):
    lines, parts = Lines(), []
    a.rate = a.load * MB * 8 / a.clients  # of each line
    a.seconds = a.bytes * 8 * OVERHEAD / a.rate
    n_crowd = len(arrivals(a))
    crowds = [r for r in rows if r in CROWDS]
    if crowds:
        for i in range(n_crowd + 21):
            lines.limit("dst", client_address(i), a.rate)
        alone = idle(folder, a)
        print("alone", alone, f"a line allows {a.seconds:.2f} s", flush=True)
        found = []
        for name in crowds:
            result = crowd(folder, a, name)
            found.append(crowd_row(a, result, name, alone))
            print(" | ".join(found[-1]), flush=True)
        parts.append(table(
            ["server and clients", "MB/s sent", "MB/s read",
             "bytes read for each byte sent", "seeks/s",
             "time of a client, as a multiple of its time alone: "
             "median (longest)", "unfinished clients at the end", "load of the machine"], found))
    if "lone" in rows or "among" in rows:
        lines = Lines()
        for i, mbit in enumerate([40, 24, 16], start=1):
            lines.limit("src", f"127.0.0.{i}", mbit * MB)
        parts.append(table(
            ["clients", "with hints", "without hints", "ratio"],
            [one_row(folder, a, r) for r in rows if r in ("lone", "among")]))
    if "slow" in rows:
        Lines()
        parts.append(table(["row", "clients", "memory", "threads"],
                           [slow_row(folder, a)]))
    return parts


def missing():
    """Sentences about what is missing."""
    wants = []
    if not find_nginx():
        wants.append("nginx is not installed")
    if os.geteuid() != 0:
        wants.append("a namespace, a mount and a control group take root")
    if not slow_disk():
        wants.append("tests/lab/slow_disk is not built (packages libfuse3-dev "
                     "and pkg-config)")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        wants.append("/dev/fuse cannot be opened")
    return wants


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", default="64m")
    parser.add_argument("--memory", type=parse_size, default=32 << 20)
    parser.add_argument("--active", default="8m", help="--active-length")
    parser.add_argument("--ahead", default="4m", help="read-ahead of ahead")
    parser.add_argument("--clients", type=int, default=40)
    parser.add_argument("--load", type=float, default=36, help="MB/s")
    parser.add_argument("--disk", type=float, default=16.5, help="MB/s")
    parser.add_argument("--seek", type=float, default=10, help="ms")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--storage", default="/dev/shm",
                        help="where all files are (default: /dev/shm)")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/bench/README.md")
    parser.add_argument("rows", nargs="*", metavar="ROW")
    a = parser.parse_args()
    names = [*CROWDS, *OTHERS]
    if set(a.rows) - set(names):
        parser.error("the rows are " + ", ".join(names))
    if wants := missing():
        raise Missing("; ".join(wants))
    common.set_up(a)
    enter_namespace()
    a.bytes = parse_size(a.size)
    with tempfile.TemporaryDirectory(prefix="xd-bench-",
                                     dir=a.storage) as folder:
        folder = Path(folder)
        (folder / "files").mkdir()
        make_file(folder / "files" / "file", a.bytes)
        parts = tables(folder, a, a.rows or names)
    text = (f"The file has {a.size} and the server {a.memory >> 20} MiB of memory.  "
            f"The disk reads {a.disk:g} MB/s and needs {a.seek:g} ms to position its "
            "arm.  Clients keep arriving: if none waited for the disk, "
            f"{a.clients} would be present at a time and request {a.load:g} MB/s "
            "together.\n\n" + "\n\n".join(parts)
            + "\n\n" + common.conditions())
    print(text)
    common.write(a, "crowd", text)
    return 0


if __name__ == "__main__":
    common.run(main)
