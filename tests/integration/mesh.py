# SPDX-License-Identifier: MIT
"""Meshes of real nginx nodes, which `xdownload via --nginx` has configured.

    with Mesh(lab, ["http://127.0.0.1:1234/"], n=5) as mesh:
        answer = mesh.get("a", "http://127.0.0.1:1234/f.bin", first=0, last=9)
"""
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse

from lab import ENVIRONMENT, PATIENCE, find_nginx, listening_socket, wait_until


class Answer:
    """What a node, or an origin, has answered."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()
        self.cache = response.headers.get("Xd-Cache")
        self.node = response.headers.get("Xd-Node")

    def __repr__(self):
        return f"<{self.status} {self.cache} {len(self.body)} bytes>"


class Node:
    """One nginx, in the folder that the command made for it."""

    def __init__(self, mesh, name, sock):
        self.folder = mesh.folder / name
        self.name, self.port = name, sock.getsockname()[1]
        self.process = None
        self.start(sock)

    def start(self, sock=None):
        """With the socket that is bound already, or its own again."""
        if sock is None:
            sock = socket.create_server(("127.0.0.1", self.port), backlog=128)
        # nginx does not see to that for a socket that it is given, and a
        # worker that was too late would wait in accept().
        sock.setblocking(False)
        # Root's worker would become another user, who cannot read our files.
        more = "daemon off;" + (" user root;" if os.geteuid() == 0 else "")
        self.process = subprocess.Popen(
            ["sh", "-c", '"$@" </dev/null & read -r _; kill -KILL 0', "sh",
             find_nginx(), "-p", str(self.folder), "-c", "nginx.conf", "-g",
             more], stdin=subprocess.PIPE, start_new_session=True,
            stderr=(self.folder / "stderr").open("a"),
            env=dict(ENVIRONMENT, NGINX=f"{sock.fileno()};"),
            pass_fds=[sock.fileno()])
        sock.close()

    def kill(self):
        """At once, with all of its workers."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(PATIENCE)

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def log(self):
        return (self.folder / "access.log").read_text().splitlines()


class Mesh:
    def __init__(self, lab, origins, n=5, chunk="64k", hops=2, more=(),
                 folder="mesh", edit=None):
        self.lab = lab
        self.folder = lab.work / folder
        self.chunk = int(chunk[:-1]) << 10
        names = "abcdefghij"[:n]
        sockets = [listening_socket() for _ in names]
        words = [f"{name}=127.0.0.1:{s.getsockname()[1]}"
                 for name, s in zip(names, sockets)]
        for origin in origins:
            words += ["--origin", origin]
        run = lab.xdownload("via", "--nginx", *words, "--chunk", chunk,
                            "--hops", str(hops), "-o", folder, *more,
                            report=False)
        assert run.rc == 0, run.err
        ports = {f"NODE_{name}": str(s.getsockname()[1])
                 for name, s in zip(names, sockets)}
        for name, (old, new) in (edit or {}).items():
            for word, port in ports.items():
                old = old.replace(word, port)
            path = self.folder / name / "nginx.conf"
            text = path.read_text()
            assert old in text
            path.write_text(text.replace(old, new))
        self.nodes = {name: Node(self, name, s)
                      for name, s in zip(names, sockets)}

    def __enter__(self):
        for name in self.nodes:
            wait_until(lambda name=name: self.is_up(name), f"{name} answers")
        return self

    def __exit__(self, *_):
        for node in self.nodes.values():
            node.signal(signal.SIGCONT)
            node.kill()

    def is_up(self, name):
        with contextlib.suppress(OSError):
            return self.raw(name, "/xd-status").status == 200
        return False

    def status(self, name):
        return json.loads(self.raw(name, "/xd-status").body)

    def raw(self, name, target, headers=None, method="GET", body=None):
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.nodes[name].port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.putrequest(method, target, skip_host=True,
                                  skip_accept_encoding=True)
            for field, value in ({"Host": "x"} | (headers or {})).items():
                connection.putheader(field, value)
            connection.endheaders(body)
            return Answer(connection.getresponse())

    def get(self, name, url, first=None, last=None, headers=None, **fields):
        """fields: match, owner, hop."""
        sent = {f"Xd-{k.title()}": v for k, v in fields.items()} | (
            headers or {})
        if first is not None:
            sent["Range"] = f"bytes={first}-{'' if last is None else last}"
        u = urllib.parse.urlsplit(url)
        query = "?" + u.query if u.query else ""
        return self.raw(name, f"/{u.scheme}/{u.netloc}{u.path}{query}", sent)

    def chunk_of(self, name, url, i, **fields):
        return self.get(name, url, i * self.chunk, (i + 1) * self.chunk - 1,
                        **fields)

    def keeps(self, *args, **fields):
        """Whether it comes to hold a chunk, of which a client has the end already."""
        with contextlib.suppress(AssertionError):
            wait_until(lambda: self.holds(*args, **fields), "it is kept", 1)
            return True
        return False

    def holds(self, name, url, i, **fields):
        """Whether it has a chunk, which nothing is asked for."""
        answer = self.chunk_of(name, url, i,
                               headers={"Cache-Control": "only-if-cached"},
                               **fields)
        assert answer.status in (206, 504), answer
        return answer.status == 206
