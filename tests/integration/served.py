# SPDX-License-Identifier: MIT
"""A server that the command is."""
import contextlib
import http.client
import re
import signal
import socket
import time

from lab import PATIENCE


class Served:
    """`xdownload serve` or its like, and one client of it."""

    def __init__(self, lab, *args, command="serve"):
        read, write = socket.socketpair()
        with write:
            self.process = lab.start(command, *args, report=False,
                                     stdout=write.fileno())
        read.settimeout(PATIENCE)
        self.lines = read.makefile("r")
        self.urls = []

    def url(self):
        """The next URL it prints."""
        line = self.lines.readline()
        assert line.endswith("\n"), self.process.err_now()
        self.urls.append(line[:-1])
        return line[:-1]

    def address(self):
        """The host, the port and the path of the first URL."""
        if not self.urls:
            self.url()
        host, port, path = re.fullmatch(r"http://([^/]+):(\d+)(/.*)",
                                        self.urls[0]).groups()
        return host.strip("[]"), int(port), path

    def ask(self, path=None, method="GET", **headers):
        """(the answer, its body); of headers - is written _."""
        host, port, first = self.address()
        with contextlib.closing(
                http.client.HTTPConnection(host, port, timeout=60)) as client:
            client.request(method, path or first, headers={
                k.replace("_", "-"): v for k, v in headers.items()})
            answer = client.getresponse()
            return answer, answer.read()

    def connect(self, request):
        """A raw connection on which this was sent."""
        host, port, _ = self.address()
        client = socket.create_connection((host, port), timeout=60)
        client.sendall(request.encode())
        return client

    def end(self, sig=signal.SIGINT):
        began = time.monotonic()
        self.process.send(sig)
        run = self.process.wait()
        return run, time.monotonic() - began
