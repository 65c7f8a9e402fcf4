# SPDX-License-Identifier: MIT
"""What the depots of a scenario allow: the servers in front of nginx.

    python3 gate.py SCENARIO

A depot with a cap, or with a bound on its connections, is reached through this
relay, which runs on the depots' side and has their addresses:

    client --> address:80  --> gate -----------> nginx, address:8080
    client --> address:443 --> gate -----------> nginx, address:8443
    client --> address:443 --> nginx --> gate, address:8081 --> nginx:8080

The last one is for a cap of each request: nginx speaks HTTP/2, and each of its
requests is a connection of its own behind it.

A cap is a token bucket that holds `burst` bytes; nginx's limit_rate lets as
much pass as it allows in a second before it begins, and all small requests with
that.  A refusal by 503 or 429 is an answer, so that on port 443, where answers
are not looked into, it closes.  Prints a line when it listens; the clock of the
scenario's changes begins with the first connection.  Prints a line for each ban.
"""
import asyncio
import re
import socket
import struct
import sys
import time

from scenario import Scenario, apply_changes

PLAIN, TLS, EACH_REQUEST = 8080, 8443, 8081  # behind the gate, or within it
BURST = 64 << 10  # what a bucket holds, if nothing is said of it
CHUNK = 64 << 10
LEAST_S = 1 / 128  # what comes in less time is not worth waking up for
REASONS = {"503": "Service Unavailable", "429": "Too Many Requests"}


class Bucket:
    def __init__(self, line):
        self.line = line
        self.fill()

    @property
    def size(self):
        return self.line.burst or BURST

    def fill(self):
        self.tokens, self.at = self.size, time.monotonic()

    async def take(self, wanted):
        """Waits; how many of the wanted bytes may be sent."""
        while self.line.cap:
            now = time.monotonic()
            self.tokens = min(self.size, self.tokens
                              + self.line.cap * (now - self.at))
            self.at = now
            least = min(self.line.cap * LEAST_S, self.size, wanted)
            if self.tokens >= least:
                taken = min(int(self.tokens), wanted)
                self.tokens -= taken
                return taken
            await asyncio.sleep((least - self.tokens) / self.line.cap)
        return wanted


async def copy(reader, writer, n=None, bucket=None):
    """So many bytes, or all up to the end."""
    while n is None or n > 0:
        data = await reader.read(CHUNK if n is None else min(CHUNK, n))
        if not data:
            return
        n = None if n is None else n - len(data)
        while data:
            taken = await bucket.take(len(data)) if bucket else len(data)
            writer.write(data[:taken])
            await writer.drain()
            data = data[taken:]


def reset(writer):
    """Ends the connection at once."""
    writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Gate:
    """That of one depot."""

    def __init__(self, clock, line):
        self.clock, self.line = clock, line
        self.clients = set()  # writers
        self.n_busy = 0  # connections that are sent an answer
        self.banned_until = 0

    def is_excess(self, n_others):
        """Whether one connection more is too many; a ban begins with it."""
        if not self.line.most or n_others < self.line.most:
            return False
        if self.line.ban:
            print("ban", flush=True)
            self.banned_until = time.monotonic() + self.line.ban
            for writer in self.clients:
                reset(writer)
        return True

    def answers(self, port):
        """Whether a refusal is an answer."""
        return self.line.answer in REASONS and port != TLS

    async def client(self, port, reader, writer):
        """One connection of the client, to a port of nginx."""
        self.clock.begin()
        writer.transport.set_write_buffer_limits(high=0)
        # As nginx does: without it the end of each answer waits for the
        # acknowledgement of what came before, a round trip.
        writer.get_extra_info("socket").setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if time.monotonic() < self.banned_until:
                reset(writer)
            elif self.answers(port) or not self.is_excess(len(self.clients)):
                self.clients.add(writer)
                await self.relay(port, reader, writer)
            elif self.line.answer == "reset" or self.line.ban:
                reset(writer)
            else:
                await reader.read(1)
        except (OSError, asyncio.IncompleteReadError):
            pass  # one side is gone
        finally:
            self.clients.discard(writer)
            writer.close()

    async def relay(self, port, reader, writer):
        up_reader, up_writer = await asyncio.open_connection(
            self.line.address, PLAIN if port == EACH_REQUEST else port)
        try:
            if port == TLS:
                await self.relay_bytes(reader, writer, up_reader, up_writer)
            else:
                await self.relay_requests(reader, writer, up_reader, up_writer)
        finally:
            up_writer.close()

    async def relay_bytes(self, reader, writer, up_reader, up_writer):
        up = asyncio.create_task(copy(reader, up_writer))
        try:
            await copy(up_reader, writer, bucket=Bucket(self.line))
        finally:
            up.cancel()

    async def relay_requests(self, reader, writer, up_reader, up_writer):
        bucket = Bucket(self.line)
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            if self.line.answer in REASONS and self.is_excess(self.n_busy):
                writer.write(f"HTTP/1.1 {self.line.answer} "
                             f"{REASONS[self.line.answer]}\r\n"
                             "Content-Length: 0\r\n\r\n".encode())
                continue
            if self.line.per == "request":
                bucket.fill()
            self.n_busy += 1
            try:
                up_writer.write(request)
                answer = await up_reader.readuntil(b"\r\n\r\n")
                writer.write(answer)
                await copy(up_reader, writer, body_bytes(request, answer),
                           bucket)
            finally:
                self.n_busy -= 1

    async def listen(self):
        ports = {80: PLAIN, 443: TLS}
        if self.line.per == "request":
            ports = {80: PLAIN, EACH_REQUEST: EACH_REQUEST}
        for port, behind in ports.items():
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((self.line.address, port))

            async def client(reader, writer, behind=behind):
                await self.client(behind, reader, writer)
            await asyncio.start_server(client, sock=s, limit=CHUNK)


def body_bytes(request, answer):
    if request.startswith(b"HEAD "):
        return 0
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", answer)
    return int(length[1]) if length else 0


class Clock:
    """Changes the lines of a scenario when it is time to."""

    def __init__(self, scenario):
        self.scenario, self.next, self.began = scenario, 0, None

    def begin(self):
        if self.began is None:
            self.began = time.monotonic()
            for at, _, _ in self.scenario.changes:
                asyncio.get_running_loop().call_later(at, self.change)

    def change(self):
        self.next = apply_changes(self.scenario, self.next,
                                  time.monotonic() - self.began + 1e-3)


async def main():
    scenario = Scenario(sys.argv[1])
    clock = Clock(scenario)
    for line in scenario.depots:
        if line.is_gated:
            await Gate(clock, line).listen()
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
