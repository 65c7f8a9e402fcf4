# SPDX-License-Identifier: MIT
"""Runs a command as the client of an emulated wide area.

    python3 wan.py run [-s SEED] [-r FOLDER] [-j FILE] SCENARIO -- COMMAND...
    python3 wan.py limit [-n SIZE] [-c CONNECTIONS] SCENARIO...  (CONNECTIONS to
                                        depots that bound what each carries)
    python3 wan.py list
    python3 wan.py check

The depots of the scenario serve FOLDER: HTTP/1.1 on port 80, TLS with HTTP/2
on 443; Wan.urls() also makes them IBP depots.  COMMAND finds their addresses in WAN_DEPOTS and DEPOT_1, DEPOT_2 ...,
and in WAN_CACERT (and SSL_CERT_FILE, CURL_CA_BUNDLE) the authority that signed
for them.  FILE gets what happened, in JSON.  Status: the command's; 77 where
something is missing that it takes.

    with Wan("mirrors", folder) as wan:
        run = wan.run(["curl", "-sO", f"http://{wan.addresses[0]}/film.bin"])
    print(run.seconds, wan.report["payload_bytes"])

Real TCP runs between two network namespaces; wire/ is the wire.  A namespace
is gone with its last process, and all processes end with this one.
"""
import argparse
import collections
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from gate import EACH_REQUEST, PLAIN, TLS
from scenario import CONNECTIONS, HERE, Scenario, fluid, names

CLIENT = "198.18.0.1"
SKIPPED = 77
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/sbin"
IBP_DEPOT = HERE.parent / "lab" / "ibp_depot.py"

# As Linux has them on a machine with much memory; what the machine of the test
# has set is no part of a scenario.
TCP = {"tcp_congestion_control": "cubic", "tcp_no_metrics_save": "1",
       "tcp_rmem": "4096 131072 33554432", "tcp_wmem": "4096 16384 4194304"}

Run = collections.namedtuple("Run", "rc seconds out err")


class Missing(Exception):
    """Something that an emulation takes is not there."""


def is_sanitized(wire):
    cache = wire.parents[2] / "CMakeCache.txt"
    return bool(re.search("^CMAKE_C_FLAGS:.*-fsanitize=", cache.read_text(),
                          re.M))


def find_wire(root=HERE.parents[1]):
    """The program that tests/wan/CMakeLists.txt builds: $XD_WIRE, or the newest
    of the tree; one with a sanitizer, which delays packets, only if there is
    no other."""
    if "XD_WIRE" in os.environ:
        path = Path(os.environ["XD_WIRE"])
        return path if os.access(path, os.X_OK) else None
    return max(root.glob("build/*/tests/wan/wire"), default=None,
               key=lambda p: (not is_sanitized(p), p.stat().st_mtime))


def missing():
    """Sentences about what is missing."""
    found = []
    if not sys.platform.startswith("linux"):
        return ["a wide area takes Linux"]
    if os.geteuid() != 0:
        found.append("network namespaces take root")
    else:
        try:
            os.close(os.open("/dev/net/tun", os.O_RDWR))
        except OSError as e:
            found.append(f"/dev/net/tun cannot be opened: {e.strerror}")
    for command, package in [("nginx", "nginx"), ("ip", "iproute2"),
                             ("nsenter", "util-linux"),
                             ("openssl", "openssl")]:
        if not shutil.which(command, path=PATH):
            found.append(f"{command} is not installed (package {package})")
    if not find_wire():
        found.append("the wire is not built (cmake --build build/dev "
                     "--target wire)")
    return found


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True,
                   stderr=subprocess.PIPE)


class Wan:
    """One emulation: one command after the other, one report at the end."""

    def __init__(self, scenario, root=None, seed=1):
        """root: the folder that the depots serve; an empty one if None."""
        self.scenario = Scenario(scenario)
        self.addresses = self.scenario.addresses
        self.root, self.seed = root, seed
        self.report = None  # after the end: what the wire and nginx say
        self._open = contextlib.ExitStack()

    def __enter__(self):
        if wants := missing():
            raise Missing("; ".join(wants))
        with contextlib.ExitStack() as started:
            self._open = started
            self.folder = Path(tempfile.mkdtemp(prefix="xd-wan-"))
            started.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self._start_wire()
            self._set_up()
            self._make_certificates()
            self._start_nginx()
            self._start_gate()
            self._open = started.pop_all()
        return self

    def __exit__(self, *_):
        with self._open:
            time.sleep(0.1)  # what is still under way arrives and counts
            self._end(self.wire)
            self._end(self.nginx)
            if self.gate:
                self.gate.kill()
            with contextlib.suppress(OSError, ValueError):
                self.report = json.loads(
                    (self.folder / "wire.json").read_text())
                self._count_requests()

    # ---- the sides ----

    def _start_wire(self):
        self.wire = subprocess.Popen(
            [find_wire(), self.scenario.path, self.folder / "wire.json",
             str(self.seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self._open.callback(self._end, self.wire)
        ready = self.wire.stdout.readline().split()
        if not ready:
            raise Missing(self.wire.stderr.read().strip())
        names_of = [f"/proc/{self.wire.pid}/fd/{fd}" for fd in ready[1:]]
        self._namespaces = dict(zip(("client", "depots"), names_of))

    def command(self, side, words):
        """The words that run `words` on one side: "client" or "depots"."""
        return [shutil.which("nsenter", path=PATH),
                f"--net={self._namespaces[side]}", *map(str, words)]

    def _set_up(self):
        device = "link set lo up\nlink set wan0 mtu 1500 txqueuelen 10000 up\n"
        depots = "".join(f"addr add {a}/32 dev wan0\n" for a in self.addresses)
        for side, lines in [
                ("client", f"addr add {CLIENT}/15 dev wan0\n{device}"),
                ("depots", f"{depots}{device}route add {CLIENT} dev wan0\n")]:
            ip = shutil.which("ip", path=PATH)
            subprocess.run(self.command(side, [ip, "-batch", "-"]),
                           input=lines, text=True, check=True)
            script = "".join(f"echo '{v}' >/proc/sys/net/ipv4/{k}\n"
                             for k, v in TCP.items())
            subprocess.run(self.command(side, ["sh", "-c", script]),
                           check=False, stderr=subprocess.DEVNULL)

    def _make_certificates(self):
        """An authority, and a certificate for all addresses."""
        f = self.folder
        key = ["-nodes", "-newkey", "ec", "-pkeyopt",
               "ec_paramgen_curve:prime256v1"]
        (f / "names").write_text("subjectAltName=" + ",".join(
            f"IP:{a}" for a in self.addresses) + "\n")
        _openssl("req", "-x509", "-days", 2, *key, "-subj", "/CN=wan",
                 "-keyout", f / "ca.key", "-out", f / "ca.pem")
        _openssl("req", *key, "-subj", "/CN=depot", "-keyout", f / "depot.key",
                 "-out", f / "depot.csr")
        _openssl("x509", "-req", "-in", f / "depot.csr", "-CA", f / "ca.pem",
                 "-CAkey", f / "ca.key", "-set_serial", 2, "-days", 2,
                 "-extfile", f / "names", "-out", f / "depot.pem")
        self.cacert = f / "ca.pem"

    def _servers(self):
        """nginx's: on the depots' own ports, or behind the gate."""
        listen, fronts = "", ""
        for d in self.scenario.depots:
            port, tls = (PLAIN, TLS) if d.is_gated else (80, 443)
            listen += (f"listen {d.address}:{port}; "
                       f"listen {d.address}:{tls} ssl http2;\n")
            if d.sees_requests():
                fronts += (f"server {{ listen {d.address}:443 ssl http2; "
                           "access_log off; proxy_buffering off; "
                           "location / { proxy_pass http://"
                           f"{d.address}:{EACH_REQUEST}; }} }}\n")
        root = Path(self.root or self.folder / "empty").resolve()
        extra = os.environ.get("XD_WAN_NGINX", "")
        return f"server {{ {listen} root {root}; {extra} }}\n{fronts}"

    def _start_gate(self):
        self.gate = None
        if not any(d.is_gated for d in self.scenario.depots):
            return
        self.gate = self.start([sys.executable, HERE / "gate.py",
                                self.scenario.path, self.seed], side="depots",
                               stdout=subprocess.PIPE, text=True)
        self._open.callback(self.gate.wait)
        self._open.callback(self.gate.kill)
        if not self.gate.stdout.readline():
            raise Missing("gate.py does not start")

    def _start_nginx(self):
        f = self.folder
        nginx = shutil.which("nginx", path=PATH)
        built = subprocess.run([nginx, "-V"], stderr=subprocess.PIPE,
                               text=True, check=True).stderr
        temp = "".join(
            f"{name}_temp_path {f}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            if f"--without-http_{name}_module" not in built)
        (f / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; user root;
pid {f}/pid; error_log {f}/error.log;
events {{ worker_connections 4096; }}
http {{
{temp}
log_format wan '$server_addr $status $body_bytes_sent';
access_log {f}/access.log wan;
default_type application/octet-stream;
sendfile on; tcp_nopush on;
keepalive_requests 1000000; keepalive_timeout 300s;
ssl_protocols TLSv1.2 TLSv1.3;
ssl_certificate {f}/depot.pem; ssl_certificate_key {f}/depot.key;
{self._servers()}}}
""")
        # The shell ends nginx when its input ends, so also if we are killed;
        # then nobody says "end" before and the folder is its to remove.
        script = ('folder=$1; shift; "$@" </dev/null & read -r word; kill $!; '
                  'wait $!; [ "$word" ] || rm -rf "$folder"')
        self.nginx = subprocess.Popen(
            self.command("depots", ["sh", "-c", script, "sh", f, nginx,
                                    "-p", f, "-c", f / "nginx.conf"]),
            stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True)
        self._open.callback(self._end, self.nginx)
        end = time.monotonic() + 10
        while not (f / "pid").exists() or not (f / "pid").read_text():
            if self.nginx.poll() is not None or time.monotonic() > end:
                raise Missing("nginx does not start: "
                              + (f / "error.log").read_text())
            time.sleep(0.01)

    @staticmethod
    def _end(process):
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write("end\n")
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    # ---- depots ----

    def urls(self, scheme, name):
        """The URL of the file `name` at each depot.  IBP has no names: for
        "ibp" every depot starts to hold the file, in a process of its own."""
        if scheme != "ibp":
            return [f"{scheme}://{a}/{name}" for a in self.addresses]
        return [self._hold(a, name) for a in self.addresses]

    def _hold(self, address, name):
        """The capability to read the file from an IBP depot there."""
        depot = self.start([sys.executable, IBP_DEPOT, "--listen", address,
                            Path(self.root) / name], side="depots",
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           text=True)
        self._open.callback(depot.wait)
        self._open.callback(depot.kill)
        capability = depot.stdout.readline().strip()
        if not capability:
            raise Missing("ibp_depot.py does not start")
        return capability

    # ---- commands ----

    def environment(self):
        env = {"WAN_DEPOTS": " ".join(self.addresses)}
        for name in ("WAN_CACERT", "SSL_CERT_FILE", "CURL_CA_BUNDLE"):
            env[name] = str(self.cacert)
        for i, address in enumerate(self.addresses, 1):
            env[f"DEPOT_{i}"] = address
        return env

    def start(self, words, side="client", env=None, **options):
        """A process on that side; it ends with us."""
        return subprocess.Popen(
            self.command(side, words), preexec_fn=_die_with_parent,
            env=dict(os.environ if env is None else env, **self.environment()),
            start_new_session=True, **options)

    def run(self, words, timeout=None, env=None, **options):
        """Run it to its end on the client's side; what outlives `timeout` is
        killed, and has no rc."""
        began = time.monotonic()
        process = self.start(words, env=env, **options)

        def kill():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        # communicate()'s own timeout would look every 50 ms only.
        timer = threading.Timer(timeout or threading.TIMEOUT_MAX, kill)
        timer.daemon = True
        timer.start()
        try:
            out, err = process.communicate()
            seconds = time.monotonic() - began
        finally:
            kill()
            process.wait()
            timer.cancel()
        is_late = timeout is not None and seconds >= timeout
        return Run(None if is_late else process.returncode, seconds, out, err)

    # ---- what happened ----

    def _count_requests(self):
        log = (self.folder / "access.log").read_text()
        count = collections.Counter(re.findall(r"(?m)^(\S+) ", log))
        for depot, address in zip(self.report["depots"], self.addresses):
            depot["address"] = address
            depot["requests"] = count[address]
        self.report["requests"] = sum(count.values())
        self.report["bans"] = len(list(self.gate.stdout)) if self.gate else 0


def flood_arrivals(scenario, root, path, size, seed=1,
                   connections=CONNECTIONS):
    """As scenario.arrivals(), but what TCP brings: `size` bytes of a file of
    that size.  Depots that do not bound their connections are asked over
    two."""
    with Wan(scenario, root, seed) as wan:
        lanes = [d.connections(connections) if d.cap or d.window
                 else min(2, connections) for d in wan.scenario.depots]
        run = wan.run([sys.executable, HERE / "flood.py", size, "/" + path,
                       *lanes],
                      stdout=subprocess.PIPE, text=True)
    return [(float(seconds), int(got)) for seconds, got in
            (line.split() for line in run.out.splitlines())]


def flood(*args, **options):
    """Seconds that TCP takes for all of it."""
    return flood_arrivals(*args, **options)[-1][0]


# ---- the command line ----

def parse_size(text):
    return int(float(text[:-1]) * {"k": 1 << 10, "m": 1 << 20}[text[-1]]) \
        if text[-1:] in "km" else int(text)


def run_command(a):
    words = a.command[1:] if a.command[:1] == ["--"] else a.command
    if not words:
        raise SystemExit("wan.py: a command is needed behind --")
    with Wan(a.scenario, a.root, a.seed) as wan:
        run = wan.run(words)
    if a.json:
        Path(a.json).write_text(json.dumps(
            {"rc": run.rc, "seconds": run.seconds, "wire": wan.report},
            indent=1) + "\n")
    # A shell's way of saying that a signal ended it.
    return run.rc if run.rc >= 0 else 128 - run.rc


def print_limits(a):
    size = parse_size(a.size)
    with tempfile.TemporaryDirectory(prefix="xd-wan-") as root:
        with open(Path(root) / "file", "wb") as f:
            f.truncate(size)
        for name in a.scenario or names(slow=False):
            bound = fluid(name, size, a.connections)
            tcp = flood(name, root, "file", size, connections=a.connections)
            print(f"{name}: {max(bound, tcp):.2f} s "
                  f"(fluid {bound:.2f}, TCP {tcp:.2f})", flush=True)
    return 0


def exit_on_signals():
    """So that folders are removed and processes ended on the way out."""
    for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(sig, lambda number, _: sys.exit(128 + number))


def check_here(_):
    if wants := missing():
        raise Missing("; ".join(wants))
    print("a wide area can run here")
    return 0


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    sub = parser.add_subparsers(required=True)
    run = sub.add_parser("run", help="run a command")
    run.add_argument("-s", "--seed", type=int, default=1)
    run.add_argument("-r", "--root", help="the folder that depots serve")
    run.add_argument("-j", "--json", help="where the report goes")
    run.add_argument("scenario")
    run.add_argument("command", nargs=argparse.REMAINDER)
    run.set_defaults(do=run_command)
    limit = sub.add_parser("limit", help="when a file can be there")
    limit.add_argument("-n", "--size", default="50m")
    limit.add_argument("-c", "--connections", type=int, default=CONNECTIONS)
    limit.add_argument("scenario", nargs="*")
    limit.set_defaults(do=print_limits)
    show = sub.add_parser("list", help="the scenarios that are kept here")
    show.set_defaults(do=lambda a: print("\n".join(names())))
    check = sub.add_parser("check", help="whether an emulation can run here")
    check.set_defaults(do=check_here)
    return parser.parse_args()


def main():
    a = parse_arguments()
    exit_on_signals()
    try:
        return a.do(a)
    except Missing as e:
        print(f"wan.py: skipped: {e}", file=sys.stderr)
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
