# SPDX-License-Identifier: MIT
"""What the depots of a scenario allow: the servers in front of nginx.

    python3 gate.py SCENARIO SEED

A depot that bounds or refuses connections or requests is reached through this
relay, which runs on the depots' side and has their addresses:

    client --> address:80  --> gate -----------> nginx, address:8080
    client --> address:443 --> gate -----------> nginx, address:8443
    client --> address:443 --> nginx --> gate, address:8081 --> nginx:8080

The last one is for a depot that treats each request by itself: nginx speaks
HTTP/2, and each of its requests is a connection of its own behind it.  There a
connection is never mute, and all have the same cap.

A cap is a token bucket that holds `burst` bytes; nginx's limit_rate lets as
much pass as it allows in a second before it begins, and all small requests with
that.  A refusal by 503 or 429 is an answer, so that on port 443, where answers
are not looked into, it closes; for the same reason `life` is heeded on port 80
only.  Prints a line when it listens; the clock of the scenario's changes begins
with the first connection.  Prints a line for each ban.

The n-th connection of a depot draws what the n-th connection of the simulator
draws with this seed, and the n-th answer takes as long (lib/sim/net.c).
"""
import asyncio
import math
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
HEAD_END = b"\r\n\r\n"
WORD = (1 << 64) - 1


class Luck:
    """The generator of the simulator (splitmix64)."""

    def __init__(self, seed, name=""):
        self.state = seed & WORD
        for letter in name.encode():
            self.state = self.next() ^ letter

    def next(self):
        self.state = z = (self.state + 0x9e3779b97f4a7c15) & WORD
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & WORD
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb & WORD
        return z ^ (z >> 31)

    def uniform(self):
        """A number in [0, 1)."""
        return (self.next() >> 11) / 2**53


class Bucket:
    """Tokens, which are bytes or requests; `rate` and `size` are functions."""

    def __init__(self, rate, size):
        self.rate, self.size = rate, size
        self.fill()

    def fill(self):
        self.tokens, self.at = self.size(), time.monotonic()

    def pour(self):
        """Adds what has come since the last call."""
        now = time.monotonic()
        self.tokens = min(self.size(),
                          self.tokens + self.rate() * (now - self.at))
        self.at = now

    def take_one(self):
        """False: there is none."""
        self.pour()
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    async def take(self, wanted):
        """Waits; how many of the wanted bytes may be sent."""
        while rate := self.rate():
            self.pour()
            least = min(rate * LEAST_S, self.size(), wanted)
            if self.tokens >= least:
                taken = min(int(self.tokens), wanted)
                self.tokens -= taken
                return taken
            await asyncio.sleep((least - self.tokens) / rate)
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
    """That of one depot: what it allows all of its connections together."""

    def __init__(self, clock, line, seed):
        self.clock, self.line = clock, line
        self.clients = set()  # writers
        self.n_busy = 0  # connections that are sent an answer
        self.banned_until = 0
        self.requests = Bucket(lambda: line.asks, lambda: line.spare + 1)
        self.draw_luck = Luck(~seed, line.name)
        self.think_luck = Luck(self.draw_luck.next())

    # ---- connections ----

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

    def draw(self):
        """(whether a new connection is mute, its cap or None)"""
        is_mute = self.line.hangs > 0 and \
            self.draw_luck.uniform() < self.line.hangs
        if not self.line.draws:
            return is_mute, None
        left = self.draw_luck.uniform() * sum(n for _, n in self.line.draws)
        for cap, chances in self.line.draws:
            left -= chances
            if left < 0:
                break
        return is_mute, cap

    async def client(self, port, reader, writer):
        """One connection of the client, to a port of nginx."""
        self.clock.begin()
        writer.transport.set_write_buffer_limits(high=0)
        # As nginx does: without it the end of each answer waits for the
        # acknowledgement of what came before, a round trip.
        writer.get_extra_info("socket").setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self.line.refuses or time.monotonic() < self.banned_until:
                reset(writer)
            elif self.answers(port) or not self.is_excess(len(self.clients)):
                self.clients.add(writer)
                await Connection(self, port, reader, writer).relay()
            elif self.line.answer == "reset" or self.line.ban:
                reset(writer)
            else:
                self.draw()
                await reader.read(1)
        except (OSError, asyncio.IncompleteReadError):
            pass  # one side is gone
        finally:
            self.clients.discard(writer)
            writer.close()

    # ---- requests ----

    def refusal(self):
        """The status that answers a new request, or None if it is served."""
        if self.line.answer in REASONS and self.is_excess(self.n_busy):
            return self.line.answer
        if self.line.asks and not self.requests.take_one():
            return "429"
        return None

    def refusal_head(self, status):
        retry = f"Retry-After: {math.ceil(self.line.retry)}\r\n" \
            if self.line.retry else ""
        return (f"HTTP/1.1 {status} {REASONS[status]}\r\n{retry}"
                "Content-Length: 0\r\n\r\n").encode()

    async def think(self):
        least, most = self.line.think
        if most:
            await asyncio.sleep(
                least + self.think_luck.uniform() * (most - least))

    async def listen(self):
        ports = {80: PLAIN, 443: TLS}
        if self.line.sees_requests():
            ports = {80: PLAIN, EACH_REQUEST: EACH_REQUEST}
        for port, behind in ports.items():
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((self.line.address, port))

            async def client(reader, writer, behind=behind):
                await self.client(behind, reader, writer)
            await asyncio.start_server(client, sock=s, limit=CHUNK)


class Connection:
    """A connection that the depot serves."""

    def __init__(self, gate, port, reader, writer):
        self.gate, self.port = gate, port
        self.reader, self.writer = reader, writer
        self.n_answers = 0
        line = gate.line
        self.is_mute, cap = (False, None) if port == EACH_REQUEST \
            else gate.draw()
        self.bucket = Bucket(lambda: cap or line.cap,
                             lambda: line.burst or BURST)

    async def relay(self):
        if self.is_mute:
            await self.ignore()
            return
        self.up_reader, self.up_writer = await asyncio.open_connection(
            self.gate.line.address,
            PLAIN if self.port == EACH_REQUEST else self.port)
        try:
            if self.port == TLS:
                await self.relay_bytes()
            else:
                while not self.is_spent():
                    await self.relay_request()
        finally:
            self.up_writer.close()

    async def ignore(self):
        while await self.reader.read(CHUNK):
            pass

    async def relay_bytes(self):
        up = asyncio.create_task(copy(self.reader, self.up_writer))
        try:
            await copy(self.up_reader, self.writer, bucket=self.bucket)
        finally:
            up.cancel()

    def is_spent(self):
        return 0 < self.gate.line.life <= self.n_answers

    async def relay_request(self):
        gate = self.gate
        request = await self.reader.readuntil(HEAD_END)
        if status := gate.refusal():
            self.writer.write(gate.refusal_head(status))
            return
        if gate.line.per == "request":
            self.bucket.fill()
        gate.n_busy += 1
        try:
            await gate.think()
            await self.relay_answer(request)
        finally:
            gate.n_busy -= 1

    async def relay_answer(self, request):
        self.up_writer.write(request)
        answer = await self.up_reader.readuntil(HEAD_END)
        self.n_answers += 1
        self.writer.write(closing(answer) if self.is_spent() else answer)
        await copy(self.up_reader, self.writer, body_bytes(request, answer),
                   self.bucket)


def body_bytes(request, answer):
    if request.startswith(b"HEAD "):
        return 0
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", answer)
    return int(length[1]) if length else 0


def closing(answer):
    """The head of the last answer of a connection."""
    kept = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", answer)
    return kept[:-len(HEAD_END)] + b"\r\nConnection: close" + HEAD_END


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
    scenario, seed = Scenario(sys.argv[1]), int(sys.argv[2])
    clock = Clock(scenario)
    for line in scenario.depots:
        if line.is_gated:
            await Gate(clock, line, seed).listen()
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
