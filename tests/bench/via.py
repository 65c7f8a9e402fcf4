# SPDX-License-Identifier: MIT
"""Many clients, one origin: xdownload --via a mesh of nginx.

    python3 tests/bench/via.py [-n RUNS] [--size 64m] [--clients 40] [--nodes 5]
                               [--chunk SIZE] [--readme] [ROW...]

The rows are two-hops, one-hop, killed, slow, silent, lying, other, lone and far;
all are taken if none is named.  Each host is a network namespace behind a bridge: the origin sends
100 Mbit/s, each node 50, and each client receives 50.

    two-hops, one-hop   all clients at once, and no node has anything yet
    killed              the same with two hops, and a node dies after a third of
                        the time
    slow, silent        likewise; its line has 2 Mbit/s, or it stops after a third
                        of the time
    lying, other        likewise; what the node takes for the origin has other bytes
                        of the same version, or another version; clients have a
                        manifest with hashes of pieces
    lone                one client that receives 250 Mbit/s, cold; against the same
                        from the origin itself
    far                 a warm mesh at 50 ms: all clients, and one that receives
                        250 Mbit/s beside curl through one node (tests/wan)

Writes build/bench/via.md; --readme puts the table into tests/bench/README.md.
Takes root, for the namespaces.
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import common
from common import median, table
from lab import find_nginx
from put import command, make_file
from wan import PATH, Missing, Wan, parse_size

ORIGIN, NODE, CLIENT, LONE = 100e6, 50e6, 50e6, 250e6  # bits per second
SLOW = 2e6
FAULTS = ["killed", "slow", "silent", "lying", "other"]  # of the first node
DELAY = "50ms"
OVERHEAD = 1500 / 1448  # bits on a line for each of a file


class Lines:
    """Hosts on one bridge, each a namespace of its own."""

    made = 0  # a name of a namespace is free some time after its end only

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.names = {}
        self.bridge = self.name("xb")

    def __enter__(self):
        command("ip", "link", "add", self.bridge, "type", "bridge")
        self.stack.callback(command, "ip", "link", "del", self.bridge)
        command("ip", "link", "set", self.bridge, "up")
        return self

    def __exit__(self, *_):
        self.stack.close()

    @classmethod
    def name(cls, prefix):
        cls.made += 1
        return f"{prefix}{os.getpid() % 100000}-{cls.made}"

    def host(self, address, sends, receives):
        """The name of a new one; its line has these rates."""
        name, inside, outside = map(self.name, ("xd", "xi", "xo"))
        command("ip", "netns", "add", name)
        self.stack.callback(command, "ip", "netns", "del", name)
        command("ip", "link", "add", outside, "type", "veth", "peer", "name",
                inside, "netns", name)
        command("ip", "link", "set", outside, "master", self.bridge, "up")
        within = ["ip", "-n", name]
        command(*within, "addr", "add", f"{address}/16", "dev", inside)
        command(*within, "link", "set", inside, "up")
        command(*within, "link", "set", "lo", "up")
        self.limit(["tc", "-n", name], inside, sends)
        self.limit(["tc"], outside, receives)
        self.names[address] = name
        return name

    @staticmethod
    def limit(tc, device, rate):
        command(*tc, "qdisc", "add", "dev", device, "root", "tbf", "rate",
                f"{int(rate)}bit", "burst", "32k", "limit", "512k")

    def give(self, address, another):
        """The host takes itself for another one, and no host does but itself."""
        within = [shutil.which("ip", path=PATH), "netns", "exec",
                  self.names[address]]
        command(*within, "sh", "-c",
                "echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore")
        command(*within, "ip", "addr", "add", f"{another}/32", "dev", "lo")

    def words(self, address, words):
        return [shutil.which("ip", path=PATH), "netns", "exec",
                self.names[address], *map(str, words)]


class Servers:
    """The origin and the nodes; `words` says how to run something at an
    address."""

    def __init__(self, folder, origin, nodes, more, words):
        self.folder, self.origin, self.words = folder, origin, words
        self.running = {}
        self.url = f"http://{origin}:8080/file"
        try:
            self.start_all(nodes, more)
        except BaseException:
            self.close()
            raise

    def start_all(self, nodes, more):
        folder = self.folder
        self.start_origin(self.origin, "origin", "files")
        listed = [f"n{i}={a}:8080" for i, a in enumerate(nodes)]
        subprocess.run(
            [common.XDOWNLOAD, "via", "--nginx", *listed, "--origin",
             f"http://{self.origin}:8080/", *more, "-q", "-o",
             str(folder / "mesh")], check=True)
        self.nodes = folder / "mesh" / "NODES"
        self.chunk = parse_size(re.search("(?m)^chunk (.*)$",
                                          self.nodes.read_text())[1])
        for i, address in enumerate(nodes):
            self.start(address, folder / "mesh" / f"n{i}")

    def start_origin(self, at, name, files):
        """At a host; what it has is in the folder `files`."""
        folder = self.folder / name
        folder.mkdir()
        temp = "".join(f"{name}_temp_path {folder}/{name};" for name in
                       ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(f"""
pid nginx.pid; error_log error.log;
events {{ worker_connections 4096; }}
http {{ {temp} log_format bytes '$body_bytes_sent';
access_log sent.log bytes;
server {{ listen {self.origin}:8080; root {self.folder}/{files}; }} }}
""")
        self.start(at, folder)

    def start(self, address, folder):
        self.running[folder.name] = subprocess.Popen(
            self.words(address, [find_nginx(), "-p", folder, "-c", "nginx.conf",
                                 "-g", "daemon off; user root;"]),
            stderr=(folder / "stderr").open("a"), start_new_session=True)
        end = time.monotonic() + 10
        pid = folder / "nginx.pid"
        while not pid.exists() or not pid.read_text().strip():
            if time.monotonic() > end:
                raise SystemExit((folder / "stderr").read_text())
            time.sleep(0.01)

    def kill(self, name, sig=signal.SIGKILL):
        process = self.running[name]
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sig)
        if sig == signal.SIGKILL:
            process.wait()
            del self.running[name]

    def sent(self):
        """Bytes of bodies that the origin has sent since the last time."""
        time.sleep(0.3)
        log = self.folder / "origin" / "sent.log"
        total = sum(map(int, log.read_text().split()))
        os.truncate(log, 0)
        return total

    def close(self):
        for name in list(self.running):
            self.kill(name)


def fetch(words_at, folder, jobs, until=None):
    """Seconds that each of (address, words, file) took, and what it has said is in
    file.err; `until` is called while they run."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    began, running, took = time.monotonic(), {}, []
    for address, words, name in jobs:
        with (folder / "out" / f"{name}.err").open("w") as said:
            process = subprocess.Popen(words_at(address, words), stderr=said,
                                       env=common.environment(folder))
        running[process] = name
    while running:
        if until:
            until(time.monotonic() - began)
        for process in list(running):
            if process.poll() is None:
                continue
            name = running.pop(process)
            took.append(time.monotonic() - began)
            if process.returncode != 0:
                raise SystemExit(f"{name}: status {process.returncode}: "
                                 + (folder / "out" / f"{name}.err").read_text())
        time.sleep(0.02)
    for _, _, name in jobs:
        subprocess.run(["cmp", folder / "files" / "file", folder / "out" / name],
                       check=True)
    return sorted(took)


def xdownload(folder, url, name, *words):
    return [common.XDOWNLOAD, "--no-config", *words, "-o",
            folder / "out" / str(name), url]


@contextlib.contextmanager
def on_lines(folder, a, hops, receives=CLIENT, fault=None):
    """A mesh that has nothing yet, and the addresses of its clients."""
    with Lines() as lines, tempfile.TemporaryDirectory(dir=folder) as here:
        here = Path(here)
        (here / "files").symlink_to(folder / "files")
        origin, fast = "10.77.0.1", 10 * LONE
        nodes = [f"10.77.1.{i + 1}" for i in range(a.nodes)]
        clients = [f"10.77.2.{i + 1}" for i in range(a.clients)]
        lines.host(origin, ORIGIN, fast)
        for i, address in enumerate(nodes):
            is_slow = fault == "slow" and i == 0
            lines.host(address, SLOW if is_slow else NODE, fast)
        for address in clients:
            lines.host(address, fast, receives)
        servers = Servers(here, origin, nodes, ["--hops", str(hops),
                                                 *chunk(a)], lines.words)
        try:
            if fault in ("lying", "other"):
                make_false_origin(here, fault)
                lines.give(nodes[0], origin)
                servers.start_origin(nodes[0], "false-origin", "false")
            yield here, servers, clients
        finally:
            servers.close()


def chunk(a):
    return ["--chunk", a.chunk] if a.chunk else []


def least(a, size):
    """Seconds: the nodes send all copies, and a client receives one."""
    return OVERHEAD * 8 * size * max(a.clients / (a.nodes * NODE), 1 / CLIENT)


def make_false_origin(folder, fault):
    """A file as long as the right one; nginx makes an ETag of length and time."""
    right, wrong = folder / "files" / "file", folder / "false" / "file"
    wrong.parent.mkdir()
    make_file(wrong, right.stat().st_size)
    seconds = right.stat().st_mtime + (60 if fault == "other" else 0)
    os.utime(wrong, (seconds, seconds))


def name_file(folder, servers):
    """A manifest of it with hashes of pieces."""
    manifest = folder / "file.meta4"
    subprocess.run([common.XDOWNLOAD, "make", "--offline", "-q",
                    folder / "files" / "file", servers.url, "-o", manifest],
                   check=True)
    return manifest


def crowd(folder, a, size, hops, fault=None):
    """(seconds of the last, of the median client; files from the origin;
    clients that say what is wrong with the first node)"""
    with on_lines(folder, a, hops, fault=fault) as (here, servers, clients):
        what = name_file(here, servers) if fault in ("lying", "other") \
            else servers.url
        sig = {"killed": signal.SIGKILL, "silent": signal.SIGSTOP}.get(fault)

        def until(seconds):
            nonlocal sig
            if sig and seconds > least(a, size) / 3:
                servers.kill("n0", sig)
                sig = None
        took = fetch(servers.words, here, [
            (c, xdownload(here, what, i, "--via", servers.nodes), str(i))
            for i, c in enumerate(clients)], until)
        said = [(here / "out" / f"{i}.err").read_text()
                for i in range(a.clients)]
        named = [text for text in said
                 if re.search(r"(?m)^via n0 .*\n +(failed|trouble)", text)]
        if fault:
            print(named[0] if named else said[0])
        return took[-1], median(took), servers.sent() / size, len(named)


def lone(folder, a, size):
    """(seconds by way of a cold mesh, from the origin itself; files)"""
    with on_lines(folder, a, 2, LONE) as (here, servers, clients):
        def run(*words):
            return fetch(servers.words, here, [
                (clients[0], xdownload(here, servers.url, "0", *words), "0")])[0]
        direct = run()
        servers.sent()
        return run("--via", servers.nodes), direct, servers.sent() / size


def scenario(folder, a, receives):
    lines = [f"client rate={int(receives)}bit queue=1m".replace(
        "000000bit", "mbit")]
    for i in range(a.nodes + 1):
        rate = int((NODE if i < a.nodes else ORIGIN) / 1e6)
        lines.append(f"depot d{i} 198.18.1.{i + 1} rate={rate}mbit rtt={DELAY}")
    path = folder / "far"
    path.write_text("\n".join(lines) + "\n")
    return path


def far(folder, a, size):
    """(seconds of the last client of all; of a lone one; of curl through a
    node), all from a warm mesh."""
    took = []
    for receives, n in [(a.clients * NODE, a.clients), (LONE, 1)]:
        with contextlib.ExitStack() as stack:
            here = Path(stack.enter_context(
                tempfile.TemporaryDirectory(dir=folder)))
            (here / "files").symlink_to(folder / "files")
            wan = stack.enter_context(Wan(scenario(here, a, receives)))
            servers = Servers(here, wan.addresses[-1], wan.addresses[:-1],
                              chunk(a), lambda _, words: wan.command("depots", words))
            stack.callback(servers.close)

            def at_client(_, words):
                return wan.command("client", words)

            def clients(n):
                return fetch(at_client, here, [
                    (None, xdownload(here, servers.url, i, "--via",
                                     servers.nodes), str(i)) for i in range(n)])
            clients(2)  # who warm it
            took.append(clients(n)[-1])
            if n == 1:
                node = wan.addresses[0]
                url = servers.url.replace("http://",
                                          f"http://{node}:8080/http/")
                etag = subprocess.run(
                    at_client(None, ["curl", "-sI", servers.url]), text=True,
                    stdout=subprocess.PIPE, check=True).stdout
                etag = etag.split("ETag: ")[1].split("\r\n")[0]
                etag = etag.replace('"', '\\"')
                config = here / "ranges"
                config.write_text("next\n".join(
                    f'url = "{url}"\nheader = "Xd-Match: {etag}"\n'
                    f"range = {i}-{min(size, i + servers.chunk) - 1}\n"
                    for i in range(0, size, servers.chunk)))
                words = ["sh", "-c", 'curl -sfK "$1" >"$2"', "sh", config,
                         here / "out" / "0"]
                fetch(at_client, here, [(None, words, "0")])  # which warms it
                took.append(fetch(at_client, here, [(None, words, "0")])[0])
    return took


def row(a, size, name, folder):
    bound = least(a, size)
    runs = []
    for _ in range(a.runs):
        runs.append({"two-hops": lambda: crowd(folder, a, size, 2),
                     "one-hop": lambda: crowd(folder, a, size, 1),
                     "lone": lambda: lone(folder, a, size),
                     "far": lambda: far(folder, a, size)}.get(
                         name, lambda: crowd(folder, a, size, 2, name))())
        print(name, *(f"{x:.2f}" for x in runs[-1]),
              f"(load {os.getloadavg()[0]:.1f})", flush=True)
    first, second, third, *named = (median(x) for x in zip(*runs))
    if name == "far":
        return [[f"warm, {DELAY}: all", f"{first:.1f} s",
                 f"{first / bound:.2f} times the {bound:.1f} s that the nodes' "
                 "lines allow", ""],
                [f"warm, {DELAY}: one", f"{second:.2f} s",
                 f"{third / second:.2f} times as fast as curl through one node "
                 f"({third:.2f} s)", ""]]
    if name == "lone":
        return [["cold: one", f"{first:.2f} s",
                 f"{first / second:.3f} times the time from the origin "
                 f"({second:.2f} s)", f"{third:.2f}"]]
    title = {"two-hops": "", "one-hop": "",
             "killed": ", a node dies",
             "slow": f", a node has {SLOW / 1e6:.0f} Mbit/s",
             "silent": ", a node falls silent",
             "lying": ", a node has wrong bytes",
             "other": ", a node has another version"}[name]
    hops = "one hop" if name == "one-hop" else "two hops"
    says = f"; {named[0]:.0f} clients name the node" if title else ""
    return [[f"cold, {hops}{title}: all", f"{first:.1f} s",
             f"{first / bound:.2f} times the {bound:.1f} s that the nodes' "
             f"lines allow{says}", f"{third:.2f}"]]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    common.add_arguments(parser)
    parser.add_argument("--size", default="64m")
    parser.add_argument("--clients", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--chunk", help="as via has it")
    parser.add_argument("--storage", default="/dev/shm",
                        help="where all files are (default: /dev/shm)")
    parser.add_argument("--readme", action="store_true",
                        help="put the table into tests/bench/README.md")
    names = ["two-hops", "one-hop", *FAULTS, "lone", "far"]
    parser.add_argument("rows", nargs="*", metavar="ROW")
    a = parser.parse_args()
    if set(a.rows) - set(names):
        parser.error("the rows are " + ", ".join(names))
    if not find_nginx():
        raise Missing("nginx is not installed")
    if os.geteuid() != 0:
        raise Missing("network namespaces take root")
    common.set_up(a)
    size = parse_size(a.size)
    with tempfile.TemporaryDirectory(prefix="xd-bench-",
                                     dir=a.storage) as folder:
        (Path(folder) / "files").mkdir()
        make_file(Path(folder) / "files" / "file", size)
        rows = [r for name in a.rows or names
                for r in row(a, size, name, Path(folder))]
    text = (f"{a.clients} clients, {a.nodes} nodes, {a.size}, median of "
            f"{a.runs}.\n\n"
            + table(["mesh and clients", "until the last client is complete",
                     "compared with",
                     "files that the origin sent"], rows)
            + "\n\n" + common.conditions())
    print(text)
    common.write(a, "via", text)
    return 0


if __name__ == "__main__":
    common.run(main)
