# SPDX-License-Identifier: MIT
"""What TCP itself allows: any bytes from every depot, never idle.

    python3 wan.py run SCENARIO -- python3 flood.py SIZE PATH CONNECTIONS...

Reads PATH, which has SIZE bytes, from every depot in WAN_DEPOTS at once, over
so many connections to each, until SIZE bytes have come in all.  Prints a line
for each 64 KiB: after how many seconds how many bytes had come.  A downloader
with as many connections would also have to fetch the right bytes.
"""
import os
import selectors
import socket
import sys
import time


TOLD = 1 << 16  # bytes


class Stream:
    """One connection; a new one when it fails."""

    def __init__(self, flood, host):
        self.flood, self.host = flood, host
        self.connect()

    def connect(self):
        self.head = b""  # of the answer, until it is complete
        self.is_in_body = False
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex((self.host, 80))
        self.flood.selector.register(self.socket, selectors.EVENT_WRITE, self)

    def again(self):
        self.flood.selector.unregister(self.socket)
        self.socket.close()
        self.flood.waiting.append((time.monotonic() + 0.2, self))

    def ready(self, event):
        try:
            if event & selectors.EVENT_WRITE:
                self.socket.sendall(self.flood.request)
                self.flood.selector.modify(self.socket, selectors.EVENT_READ,
                                           self)
            elif n := self.socket.recv_into(self.flood.buffer):
                self.count(n)
            else:
                self.again()
        except OSError:
            self.again()

    def count(self, n):
        if self.is_in_body:
            self.flood.got += n
            return
        self.head += self.flood.buffer[:n]
        _, end, body = self.head.partition(b"\r\n\r\n")
        if end:
            self.is_in_body = True
            self.flood.got += len(body)


class Flood:
    def __init__(self, hosts, size, path, connections):
        self.request = f"GET {path} HTTP/1.1\r\nHost: depot\r\n\r\n".encode()
        self.size, self.got, self.told = size, 0, 0
        self.began = time.monotonic()
        self.buffer = bytearray(1 << 18)
        self.selector = selectors.DefaultSelector()
        self.waiting = []  # (until when, a stream)
        for host, n in zip(hosts, connections):
            for _ in range(n):
                Stream(self, host)

    def tell(self, now):
        if self.got >= min(self.told + TOLD, self.size):
            print(f"{now - self.began:.3f} {self.got}")
            self.told = self.got

    def run(self):
        while self.got < self.size:
            for key, event in self.selector.select(0.1):
                key.data.ready(event)
            now = time.monotonic()
            self.tell(now)
            due = [s for at, s in self.waiting if at <= now]
            self.waiting = [w for w in self.waiting if w[0] > now]
            for stream in due:
                stream.connect()


def main():
    size, path = int(sys.argv[1]), sys.argv[2]
    connections = [int(n) for n in sys.argv[3:]]
    Flood(os.environ["WAN_DEPOTS"].split(), size, path, connections).run()


if __name__ == "__main__":
    main()
