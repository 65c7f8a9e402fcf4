# SPDX-License-Identifier: MIT
"""A small world on loopback: depots, manifests, and runs of xdownload.

    with Lab() as lab:
        data = lab.file("film.bin", 4 << 20)
        depots = lab.depots(4) + [lab.dead()]
        run = lab.xdownload(lab.exnode("film.bin", depots), "-o", "out")
        assert run.rc == 0 and lab.read("out") == data

Everything lives in one folder of its own and is gone at the end.  Depots are
real nginx processes of the current user; a depot with a rate has a token
bucket in front of it (tests/lab/throttle.c).  No port is fixed: sockets are
bound here and handed to nginx, so two runs at once cannot clash.
"""
import contextlib
import functools
import hashlib
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from xml.sax.saxutils import escape

# A shell starts what it puts into the background with Ctrl-C ignored, which
# would be inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)

XDOWNLOAD = os.environ.get("XDOWNLOAD", "xdownload")
UNDER = os.environ.get("XD_RUN_UNDER", "").split()
THROTTLE = os.environ.get("XD_THROTTLE", "throttle")
PATIENCE = 60  # seconds after which a run counts as hanging
LOOK = 0.01  # seconds between two looks at how much memory it has

# A program under test sees no HOME and no proxy.
ENVIRONMENT = {k: v for k, v in os.environ.items()
               if k in ("PATH", "TMPDIR") or k.endswith("SAN_OPTIONS")}
ENVIRONMENT["TERM"] = "xterm"
# What a sanitizer found is no exit status of the command's own.
ENVIRONMENT.setdefault("ASAN_OPTIONS", "exitcode=99")
ENVIRONMENT.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
ENVIRONMENT.setdefault("TSAN_OPTIONS", "exitcode=99")


def find_nginx():
    """The path of nginx, which Debian keeps out of a user's PATH, or None."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
    return shutil.which("nginx", path=path)


@functools.lru_cache(maxsize=None)
def nginx_says(option):
    """Its version, or how it was built."""
    return subprocess.run([find_nginx(), option], stderr=subprocess.PIPE,
                          text=True, check=True).stderr


def requests_per_connection(n):
    """So many HTTP/2 requests a connection takes, in nginx's words; those
    before 1.19.7 have others."""
    said = nginx_says("-v")
    version = re.search(r"nginx/(\d+)\.(\d+)\.(\d+)", said).groups()
    is_old = [*map(int, version)] < [1, 19, 7]
    return f"{'http2_max_requests' if is_old else 'keepalive_requests'} {n};"


class Certificate:
    """A certificate that is its own authority, made by openssl."""

    def __init__(self, folder, name):
        """name: what it is for, as openssl writes it: "IP:127.0.0.1"."""
        self.folder = Path(tempfile.mkdtemp(dir=folder, prefix="tls-"))
        self.path, self.key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec",
             "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=lab",
             "-addext", f"subjectAltName={name}", "-keyout", self.key,
             "-out", self.path], check=True, stderr=subprocess.DEVNULL)


def bytes_of(size, seed=1):
    """The same random bytes for the same seed."""
    return (_kept_bytes if size <= 16 << 20 else _new_bytes)(size, seed)


def _new_bytes(size, seed):
    return random.Random(seed).randbytes(size)


# Most tests of a file want the same ones, which take 6 ms for each mebibyte.
_kept_bytes = functools.lru_cache(maxsize=8)(_new_bytes)


def listening_socket(address="127.0.0.1"):
    s = socket.socket()
    s.bind((address, 0))
    s.listen(128)
    return s


def wait_until(condition, what, seconds=PATIENCE):
    """Wait for something that must come about; fail if it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.005)


def all_of_terminal(leader):
    """What is shown there until its other end is closed; then this one is, too."""
    shown = bytearray()
    try:
        while (select.select([leader], [], [], PATIENCE)[0]
               and (part := os.read(leader, 65536))):
            shown += part
    except OSError:  # how a terminal says that the other end is closed
        pass
    os.close(leader)
    return shown.decode()


class Throttle:
    """One token bucket over all connections to `port`."""

    def __init__(self, port, rate, folder, **options):
        self.log = Path(tempfile.mkstemp(dir=folder, suffix=".throttle")[1])
        command = [THROTTLE, "--to", f"127.0.0.1:{port}", "--rate", str(rate),
                   "--log", str(self.log)]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), str(value)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def close(self):
        """End it; returns how many bytes each connection was given."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(PATIENCE)
        return [int(n) for n in re.findall(r": (\d+) bytes",
                                           self.log.read_text())]


class Nginx:
    """One nginx process; each of its servers is one depot."""

    def __init__(self, folder, servers):
        """servers: (listening socket, what its "listen" line says more,
        lines of configuration) of each."""
        self.folder = Path(tempfile.mkdtemp(dir=folder, prefix="nginx-"))
        self.log = self.folder / "access.log"
        config = self.folder / "nginx.conf"
        config.write_text(self._config(servers))
        fds = [s.fileno() for s, _, _ in servers]
        env = dict(ENVIRONMENT, NGINX="".join(f"{fd};" for fd in fds))
        # The shell ends nginx, and itself, when its input ends, so also if we
        # are killed.  A nginx that has just begun may sleep over a SIGTERM.
        self.process = subprocess.Popen(
            ["sh", "-c", '"$@" </dev/null & read -r _; kill -KILL 0', "sh",
             find_nginx(), "-p", str(self.folder), "-c", str(config)],
            stdin=subprocess.PIPE, stderr=open(self.folder / "stderr", "w"),
            env=env, pass_fds=fds, start_new_session=True)
        for s, _, _ in servers:
            s.close()

    def _config(self, servers):
        blocks = "\n".join(
            "server { listen %s:%d %s; %s\n"
            "location = /-/mark { return 204; } }"
            % (*s.getsockname(), how, lines) for s, how, lines in servers)
        built = nginx_says("-V")
        temp = "\n".join(
            f"{name}_temp_path {self.folder}/{name};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
            if f"--without-http_{name}_module" not in built)
        # Root's worker would become another user, who cannot read our files.
        user = "user root;" if os.geteuid() == 0 else ""
        return f"""
daemon off; worker_processes 1; {user}
pid {self.folder}/pid; error_log {self.folder}/error.log;
events {{ worker_connections 1000; }}
http {{
{temp}
log_format depot escape=json '{{"depot":"$server_addr:$server_port",'
  '"connection":$connection,"uri":"$uri","status":$status,'
  '"sent":$body_bytes_sent,"range":"$http_range",'
  '"protocol":"$server_protocol","end":$msec,"seconds":$request_time}}';
access_log {self.log} depot;
{blocks}
}}
"""

    def requests(self, host, scheme="http"):
        """What was asked at `host`, as the log has it, once it is complete."""
        mark = f"/-/mark?{time.monotonic_ns()}"
        with contextlib.closing(urllib.request.urlopen(
                f"{scheme}://{host}{mark}", timeout=PATIENCE,
                context=ssl._create_unverified_context())):
            pass
        marks = {"n": 0}

        def is_written():
            # What is behind the last newline is being written.
            lines = self.log.read_text().split("\n")
            self.entries = [json.loads(line) for line in lines[:-1]]
            marks["n"] = sum(e["uri"] == "/-/mark" for e in self.entries)
            return marks["n"] > self.marked
        wait_until(is_written, "nginx writes its log")
        self.marked = marks["n"]
        return [e for e in self.entries
                if e["depot"] == host and e["uri"] != "/-/mark"]

    marked = 0

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(PATIENCE)


class Depot:
    """What a manifest calls a depot: a host that may hold copies."""

    def __init__(self, host, origin=None, nginx=None, throttle=None,
                 scheme="http"):
        self.scheme = scheme
        self.host = host        # where clients connect to
        self.origin = origin    # where nginx listens
        self.nginx = nginx
        self.throttle = throttle

    def url(self, name):
        return f"{self.scheme}://{self.host}/{name}"

    def requests(self):
        if self.throttle:
            time.sleep(0.1)  # it passes on that the client has gone
        return self.nginx.requests(self.origin, self.scheme)

    def bytes_sent(self):
        return sum(r["sent"] for r in self.requests()
                   if r["status"] in (200, 206))

    def connections(self):
        return len({r["connection"] for r in self.requests()})


class OddDepot(Depot):
    """A depot that answers as no good server would.

    answer(request) gets the text of the request's head and returns the bytes
    to send; the connection is closed after each, or when the next one comes:
    read ("closes"), or not ("resets").
    """

    def __init__(self, answer, address="127.0.0.1", next_one=None):
        self._socket = listening_socket(address)
        self._answer = answer
        self._next_one = next_one
        self.heads = []
        super().__init__("%s:%d" % self._socket.getsockname())
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(client,),
                             daemon=True).start()

    def _one(self, client):
        with client, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                part = client.recv(4096)
                if not part:
                    return
                head += part
            self.heads.append(head.decode())
            client.sendall(self._answer(head.decode()))
            if self._next_one == "closes":
                client.recv(4096)
            elif self._next_one == "resets":  # by what was not read
                select.select([client], [], [])

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def asked_range(head):
    """(first, last) of a request's head; last is None in "first-"."""
    m = re.search(r"(?mi)^range: bytes=(\d+)-(\d*)", head)
    return (int(m[1]), int(m[2]) if m[2] else None) if m else None


class Run:
    """What one run of the command left behind."""

    def __init__(self, rc, out, err, seconds, usage, peak, reports):
        self.rc, self.out, self.err = rc, out, err
        self.seconds, self.reports = seconds, reports
        self.rss = peak
        self.processor = usage.ru_utime + usage.ru_stime  # seconds

    @property
    def report(self):
        """The JSON report of the only, or the first, file."""
        return self.reports[0]

    def __repr__(self):
        return f"<Run rc={self.rc} err={self.err!r}>"


class Process:
    """A run in progress."""

    def __init__(self, command, cwd, report_path, stdin, stdout, stderr,
                 environment):
        self.report_path = report_path
        self.err_file = tempfile.TemporaryFile(dir=cwd)
        self.out_file = tempfile.TemporaryFile(dir=cwd)
        self.began = time.monotonic()
        self.popen = subprocess.Popen(
            command, cwd=cwd, stdin=stdin, stdout=stdout or self.out_file,
            stderr=stderr or self.err_file, env=environment,
            start_new_session=True)
        self.peak = 0
        self.status = None

    @property
    def pid(self):
        return self.popen.pid

    def err_now(self):
        return os.pread(self.err_file.fileno(), 1 << 20, 0).decode()

    def threads(self):
        """How many threads it has; 0 when it has ended."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        if "State:\tZ" in status:
            return 0
        return int(re.search(r"Threads:\s+(\d+)", status)[1])

    def bytes_read(self):
        """From files and sockets, so far."""
        counts = Path(f"/proc/{self.pid}/io").read_text()
        return int(re.search(r"rchar: (\d+)", counts)[1])

    def memory(self):
        """Bytes that it holds of its own, without what is in files."""
        return self._bytes_of(b"RssAnon")

    def most_memory(self):
        """Bytes that it has held at most so far, with what is in files."""
        return self._bytes_of(b"VmHWM")

    def _bytes_of(self, what):
        """What the kernel says of its memory; None when it has ended.  It is
        asked a hundred times a second, by a file that stays open."""
        if self.status is None:
            self.status = open(f"/proc/{self.pid}/status", "rb")
        said = re.search(rb"%b:\s+(\d+) kB" % what,
                         os.pread(self.status.fileno(), 1 << 14, 0))
        return int(said[1]) << 10 if said else None

    def send(self, sig):
        self.popen.send_signal(sig)

    def wait(self, patience=PATIENCE):
        """Its Run; a hang is a failure."""
        is_hanging = not self._ends_within(patience)
        if is_hanging:
            self.kill()
        _, status, usage = os.wait4(self.pid, 0)
        seconds = time.monotonic() - self.began
        if self.status is not None:
            self.status.close()
        self.popen.returncode = os.waitstatus_to_exitcode(status)
        err = os.pread(self.err_file.fileno(), 1 << 24, 0).decode()
        out = os.pread(self.out_file.fileno(), 1 << 30, 0)
        assert not is_hanging, f"no end after {patience} s; so far: {err}"
        self.assert_nothing_left()
        reports = []
        if self.report_path and self.report_path.exists():
            reports = [json.loads(line) for line in
                       self.report_path.read_text().splitlines()]
        return Run(self.popen.returncode, out, err, seconds, usage, self.peak,
                   reports)

    def _ends_within(self, seconds):
        fd = os.pidfd_open(self.pid)
        by = time.monotonic() + seconds
        try:
            while not select.select([fd], [], [], LOOK)[0]:
                self._look_at_memory()
                if time.monotonic() > by:
                    return False
            return True
        finally:
            os.close(fd)

    def _look_at_memory(self):
        """What wait4() says is no less than this interpreter had, which began
        it."""
        self.peak = self.most_memory() or self.peak

    def kill(self):
        """Its locks are released then."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def assert_nothing_left(self):
        """A process that looks for leaks, as LeakSanitizer begins one when the
        command ends, ends only just after a command that was killed then."""
        try:
            wait_until(self._has_no_group, "its processes end")
        except AssertionError:
            self.kill()
            raise AssertionError("a process outlived the command") from None

    def _has_no_group(self):
        try:
            os.killpg(self.pid, 0)
            return False
        except ProcessLookupError:
            return True


class Lab:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="xd-lab-"))
        self.www = self.folder / "www"
        self.www.mkdir()
        self.work = self.folder / "work"  # where xdownload runs
        self.work.mkdir()
        self._open = contextlib.ExitStack()
        self._n = 0
        self.environment = dict(ENVIRONMENT)  # of xdownload
        self.program = XDOWNLOAD
        self.before = list(UNDER)  # what the program is run by

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._open.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- depots ----

    def certificate(self, name="IP:127.0.0.1", trusted=True):
        """A certificate, which xdownload takes for an authority's."""
        made = Certificate(self.folder, name)
        if trusted:
            self.environment["SSL_CERT_FILE"] = str(made.path)
        return made

    def file(self, name, size, seed=1):
        """Put a file of random bytes on every ordinary depot."""
        data = bytes_of(size, seed)
        (self.www / name).write_bytes(data)
        return data

    def depots(self, n, ranges=True, files=None, status=None, rate=None,
               address="127.0.0.1", config="", certificate=None, http2=True,
               writes_ahead=False, **throttle):
        """n depots of one kind, in one nginx.

        ranges: False: it answers every range with the whole file
        files:  {name: bytes} that it holds in place of the common ones
        status: it answers everything with this status
        rate:   bytes per second of each, over all its connections
        address: or a function of the depot's number
        certificate: it speaks TLS, and HTTP/2 unless that is False
        writes_ahead: as much as the kernel takes, and not 32 KiB
        """
        assert rate or not throttle, "no throttle without a rate"
        root = self.www
        if files is not None:
            root = Path(tempfile.mkdtemp(dir=self.folder, prefix="www-"))
            for name, data in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(data)
        lines = f"root {root}; {config}"
        if not ranges:
            lines += " max_ranges 0;"
        if status:
            lines += f" location / {{ return {status}; }}"
        how, scheme = "", "http"
        if certificate:
            how, scheme = ("ssl http2" if http2 else "ssl"), "https"
            lines += (f" ssl_certificate {certificate.path};"
                      f" ssl_certificate_key {certificate.key};")
        place = address if callable(address) else lambda i: address
        sockets = [listening_socket(place(i)) for i in range(n)]
        for s in sockets if not writes_ahead else []:
            # Not nginx's sndbuf, which who connects before it runs escapes.
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
        origins = ["%s:%d" % s.getsockname() for s in sockets]
        nginx = Nginx(self.folder, [(s, how, lines) for s in sockets])
        self._open.callback(nginx.close)
        if rate is None:
            return [Depot(o, o, nginx, scheme=scheme) for o in origins]
        throttles = [Throttle(o.split(":")[1], rate, self.folder, **throttle)
                     for o in origins]
        for t in throttles:
            self._open.callback(t.close)
        return [Depot(f"127.0.0.1:{t.port}", o, nginx, t, scheme)
                for o, t in zip(origins, throttles)]

    def depot(self, **options):
        return self.depots(1, **options)[0]

    def dead(self):
        """A port on which nobody listens, and nobody will."""
        s = self._open.enter_context(socket.socket())
        s.bind(("127.0.0.1", 0))
        return Depot("%s:%d" % s.getsockname())

    def silent(self):
        """A depot that accepts and never answers."""
        s = self._open.enter_context(listening_socket())
        return Depot("%s:%d" % s.getsockname())

    def odd(self, answer, **options):
        depot = OddDepot(answer, **options)
        self._open.callback(depot.close)
        return depot

    # ---- manifests ----

    def write(self, name, text):
        path = self.work / name
        path.write_text(text)
        return str(path)

    def _new_name(self, suffix):
        self._n += 1
        return f"manifest-{self._n}{suffix}"

    def exnode(self, name, depots, size=None):
        """Every depot holds the whole file."""
        size = (self.www / name).stat().st_size if size is None else size
        return self.exnode_of(name, [(0, size, d.url(name), 0, size)
                                     for d in depots])

    def exnode_of(self, name, mappings):
        """mappings: (offset in the file, length, URL, offset there, size
        there)."""
        text = ['<?xml version="1.0"?>\n'
                '<exnode xmlns:exnode="http://loci.cs.utk.edu/exnode">\n',
                self._metadata("Version", "string", "3.0"),
                self._metadata("filename", "string", name)]
        for offset, length, url, there, size in mappings:
            text += ["<exnode:mapping>\n",
                     self._metadata("alloc_length", "integer", size),
                     self._metadata("alloc_offset", "integer", there),
                     self._metadata("e2e_blocksize", "integer", 0),
                     self._metadata("exnode_offset", "integer", offset),
                     self._metadata("logical_length", "integer", length),
                     f"<exnode:read>{escape(url)}</exnode:read>\n",
                     "<exnode:write></exnode:write>\n",
                     "<exnode:manage></exnode:manage>\n</exnode:mapping>\n"]
        text.append("</exnode>\n")
        return self.write(self._new_name(".xnd"), "".join(text))

    @staticmethod
    def _metadata(name, kind, value):
        return (f'<exnode:metadata name="{name}" type="{kind}">'
                f"{escape(str(value))}</exnode:metadata>\n")

    def metalink(self, name, depots, size=None):
        return self.metalink_of([(name, depots, size)])

    def metalink_of(self, files):
        """files: (name, depots, size or None: that of the file)."""
        text = ['<?xml version="1.0" encoding="UTF-8"?>\n'
                '<metalink xmlns="urn:ietf:params:xml:ns:metalink">\n']
        for name, depots, size in files:
            path = self.www / name
            if size is None:
                size = path.stat().st_size
            text.append(f'<file name="{escape(name)}"><size>{size}</size>\n')
            if path.exists():
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                text.append(f'<hash type="sha-256">{digest}</hash>\n')
            text += [f'<url priority="{i + 1}">{escape(d.url(name))}</url>\n'
                     for i, d in enumerate(depots)]
            text.append("</file>\n")
        text.append("</metalink>\n")
        return self.write(self._new_name(".meta4"), "".join(text))

    def metalink3(self, name, depots, limit=None, limits=None):
        """limit: maxconnections of the file; limits: {depot: its own}."""
        data = (self.www / name).read_bytes()

        def connections(n):
            return f' maxconnections="{n}"' if n else ""
        text = ['<metalink version="3.0" xmlns="http://www.metalinker.org/">\n'
                f'<files><file name="{escape(name)}">'
                f"<size>{len(data)}</size>\n"
                '<verification><hash type="sha256">'
                f"{hashlib.sha256(data).hexdigest()}</hash></verification>\n"
                f"<resources{connections(limit)}>\n"]
        text += [f'<url type="http" preference="{100 - i}"'
                 f"{connections((limits or {}).get(d))}>"
                 f"{escape(d.url(name))}</url>\n"
                 for i, d in enumerate(depots)]
        text.append("</resources></file></files></metalink>\n")
        return self.write(self._new_name(".metalink"), "".join(text))

    def urls(self, name, depots):
        """A plain list; it says no size."""
        return self.write(self._new_name(".txt"),
                          "".join(d.url(name) + "\n" for d in depots))

    # ---- the command ----

    def replace_file(self, path, text):
        """The command sees this text in place of the system's file `path`;
        False where namespaces are not to be had."""
        self._n += 1
        copy = self.folder / f"file-{self._n}"
        copy.write_text(text)
        mount = ["unshare", "-m", "sh", "-c",
                 f'mount --bind "$0" {path} && exec "$@"', str(copy)]
        self.before = [*mount, *self.before]
        return subprocess.run([*mount, "true"], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0

    def start(self, *args, report=True, stdin=subprocess.DEVNULL,
              stdout=None, stderr=None):
        command = [*self.before, self.program]
        path = None
        if report:
            self._n += 1
            path = self.folder / f"report-{self._n}.json"
            command += ["--report", str(path)]
        command += map(str, args)
        process = Process(command, self.work, path, stdin, stdout, stderr,
                          self.environment)
        self._open.callback(process.kill)
        return process

    def xdownload(self, *args, patience=PATIENCE, **options):
        return self.start(*args, **options).wait(patience)

    def path(self, name):
        return self.work / name

    def read(self, name):
        return self.path(name).read_bytes()
