# SPDX-License-Identifier: MIT
"""An IBP depot on loopback, which holds byte arrays and can misbehave.

    with IbpDepot(data, "closes_mid_body") as depot:
        fetch(depot.url("f.bin"))
        assert depot.fired()

It speaks as much of the protocol as it takes to allocate, store, read, ask for
the state of an allocation and for that of the depot, keep one longer and remove
it: ALLOCATE, STORE, LOAD, MANAGE with PROBE, CHANGE and DECREMENT, STATUS.  It
has one fault: a method of Faults below, which answers a LOAD, or one of
StoreFaults, which answers a STORE.  Like the original depots it waits, until the
time-out of the request, for bytes that nobody has stored yet, and has a blank
before an error; with `accre` it does as those of ACCRE: no blank, no wait, PROBE
for the manage capability alone, an object that lives as long as it has writers
too, and a connection that ends after each error.

As a program it holds files, prints the read capability of each, and ends when
its standard input does:

    ibp_depot.py [--listen ADDRESS] [--port PORT] [FILE...]
"""
import argparse
import contextlib
import hashlib
import itertools
import random
import select
import socket
import struct
import sys
import threading
import time
from pathlib import Path

ALLOCATE, STORE, STATUS, LOAD, MANAGE = 1, 2, 4, 8, 9
PROBE, DECREMENT, CHANGE = 40, 42, 43
BYTE_ARRAY = 1
SOFT, HARD = 1, 2
READ, WRITE, MANAGES = 0, 1, 2  # which of an allocation's keys

NOT_FOUND, WRONG_READ, WRONG_WRITE, WRONG_MANAGE = -4, -9, -8, -10
NOT_WRITTEN, EXCEEDS, TYPE, PROTOCOL = -16, -19, -22, -27
LONG, PASSWORD, POLICY, SERVER_TIMEOUT = -28, -29, -45, -46

STEP = 64 << 10  # bytes sent at a time
FRAME_HEAD = 33


def framed(data, block):
    """The data as the function `checksum` stores it."""
    parts = (data[i:i + block] for i in range(0, len(data), block))
    return b"".join(hashlib.md5(p).hexdigest().encode() + b"\n" + p
                    for p in parts)


class Hang(Exception):
    """Close the connection."""


class Allocation:
    """A byte array, its keys, its references and for how long it lives."""

    def __init__(self, key, size, seconds, random_of):
        self.key, self.size = key, size
        self.expires = time.time() + seconds
        self.reliability = HARD
        self.references = [1, 1]  # readers, writers
        self.data = bytearray()
        # The keys of reading, writing and managing.
        self.keys = [str(random_of.randrange(1 << 30)) for _ in range(3)]


class Entry:
    """One LOAD, or one connection that never became one."""

    def __init__(self, number, words=()):
        self.number = number  # 1 for the first
        self.words = list(words)
        self.time = time.monotonic()
        self.sent = 0  # bytes of the body
        self.fired = False
        self.first, self.length = 0, 0
        if len(words) >= 7:
            self.first, self.length = int(words[4]), int(words[5])


class Connection:
    """What a client said, and what it is sent."""

    def __init__(self, client):
        self.client = client
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def _more(self):
        part = self.client.recv(65536)
        self._rest += part
        return bool(part)

    def words(self):
        """Those of the next request, or None."""
        while b"\n" not in self._rest:
            if not self._more():
                return None
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode("latin-1").split()

    def take(self, n):
        while len(self._rest) < n and self._more():
            pass
        data, self._rest = self._rest[:n], self._rest[n:]
        return data

    def reply(self, *words):
        self.client.sendall((" ".join(map(str, words)) + " \n").encode())

    def send(self, data, entry=None):
        view = memoryview(data)
        for at in range(0, len(view), STEP):
            part = view[at:at + STEP]
            self.client.sendall(part)
            if entry:
                entry.sent += len(part)

    def reset(self):
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack("ii", 1, 0))
        raise Hang

    def until_it_leaves(self, seconds=None):
        """Wait; True when the client has closed the connection."""
        ready, _, _ = select.select([self.client], [], [], seconds)
        return bool(ready) and not self.client.recv(65536)


class Faults:
    """Each method answers one LOAD, in its own wrong way."""

    def none(self, c, e, a):
        """Is honest."""
        self.serve(c, e, a)

    # ---- silence and broken connections ----

    def never_answers(self, c, e, _):
        """Accepts, reads the request, and never answers."""
        e.fired = True
        while not c.until_it_leaves():
            pass
        raise Hang

    def reply_only(self, c, e, _):
        """Sends the reply and then nothing."""
        e.fired = True
        c.reply(1, e.length)
        while not c.until_it_leaves():
            pass
        raise Hang

    def endless_reply(self, c, e, _):
        """Sends a reply without an end."""
        e.fired = True
        while not c.until_it_leaves(0):
            c.send(b"1 " * 2000)
        raise Hang

    def trickles(self, c, e, a):
        """Sends one byte a second."""
        e.fired = True
        c.reply(1, e.length)
        for at in range(e.first, e.first + e.length):
            c.send(a.data[at:at + 1], e)
            if c.until_it_leaves(1):
                raise Hang

    def closes_mid_body(self, c, e, a):
        """Closes the connection after half of the body."""
        e.fired = True
        c.reply(1, e.length)
        c.send(a.data[e.first:e.first + (e.length + 1) // 2], e)
        raise Hang

    def closes_before_the_reply(self, c, e, _):
        """Closes the connection without a word."""
        e.fired = True
        raise Hang

    def closes_after_each(self, c, e, a):
        """Closes the connection after each answer, as if it were kept."""
        e.fired = e.number > 1
        self.serve(c, e, a)
        raise Hang

    def resets_every_tenth(self, c, e, a):
        """Resets the connection at each tenth request."""
        if e.number % 10 == 0:
            e.fired = True
            c.reset()
        self.serve(c, e, a)

    def one_connection(self, c, e, a):
        """Serves one connection and has no sockets for others."""
        if self.connections > 1:
            e.fired = True
            c.reply(-66)
            raise Hang
        time.sleep(0.02)
        self.serve(c, e, a)

    # ---- answers that are not what was asked for ----

    def garbage(self, c, e, _):
        """Speaks another protocol."""
        e.fired = True
        c.send(b"220 mail.example ESMTP\r\n")
        raise Hang

    def fewer_bytes(self, c, e, a):
        """Promises all and sends ten bytes fewer."""
        e.fired = True
        c.reply(1, e.length)
        c.send(a.data[e.first:e.first + e.length - 10], e)
        raise Hang

    def more_bytes(self, c, e, a):
        """Sends ten bytes more than it promises."""
        e.fired = True
        self.serve(c, e, a)
        c.send(b"surplus!!\n")

    def promises_more(self, c, e, a):
        """Answers with more bytes than it was asked for."""
        e.fired = True
        c.reply(1, e.length + 10)
        c.send(a.data[e.first:e.first + e.length] + b"surplus!!\n", e)

    def sends_less(self, c, e, a):
        """Answers with the first 50 000 bytes at most."""
        e.fired = e.length >= 50_000
        e.length = min(e.length, 50_000)
        self.serve(c, e, a)

    def sends_none(self, c, e, _):
        """Answers with no bytes at all."""
        e.fired = True
        c.reply(1, 0)

    # ---- refusals ----

    def is_unknown(self, c, e, _):
        """Knows no such capability; says so with a leading space."""
        self.refuse(c, e, NOT_FOUND)

    def is_unknown_elsewhere(self, c, e, _):
        """The same without the space."""
        self.refuse(c, e, NOT_FOUND, b"")

    def wrong_key(self, c, e, _):
        """Says that it is not the key for reading."""
        self.refuse(c, e, WRONG_READ)

    def unknown_version(self, c, e, _):
        """Speaks no such version, and hangs up."""
        self.refuse(c, e, PROTOCOL, b"")
        raise Hang

    def no_such_error(self, c, e, _):
        """Answers with an error that nobody knows."""
        self.refuse(c, e, -9999)

    def busy_once(self, c, e, a):
        """Its queue is full at first."""
        if e.number == 1:
            self.refuse(c, e, -53)
            return
        self.serve(c, e, a)

    def bursts_of_internal_errors(self, c, e, a):
        """Fails three times of ten."""
        if e.number % 10 in (3, 4, 5):
            self.refuse(c, e, -24)
            return
        self.serve(c, e, a)

    # ---- what is stored is not what it should be ----

    def lost_its_end(self, c, e, a):
        """Holds half of the bytes, and waits for the others."""
        del a.data[self.size // 2:]
        e.fired = e.first + e.length > len(a.data)
        self.serve(c, e, a)

    def lost_its_end_and_says_so(self, c, e, a):
        """Holds half of the bytes, and does not wait for the others."""
        del a.data[self.size // 2:]
        if e.first + e.length > len(a.data):
            self.refuse(c, e, EXCEEDS, b"")
            return
        self.serve(c, e, a)

    def is_empty(self, c, e, a):
        """Holds nothing."""
        a.data.clear()
        e.fired = True
        self.serve(c, e, a)

    def flips_bits(self, c, e, a):
        """One bit of each megabyte is another."""
        e.fired = True
        bad = bytearray(a.data)
        for i in range(1000, len(bad), 1 << 20):
            bad[i] ^= 1
        self.send_range(c, e, bad)

    def another_file(self, c, e, _):
        """Sends another file of the same size."""
        e.fired = True
        self.send_range(c, e, self.another)


class StoreFaults:
    """Each method answers one STORE of `n` bytes, in its own wrong way."""

    def stores(self, c, a, n):
        """Is honest."""
        c.reply(1)
        a.data += c.take(n)
        c.reply(1, n)

    def never_takes(self, c, _, __):
        """Does not say that it takes the bytes."""
        while not c.until_it_leaves():
            pass
        raise Hang

    def stops_short(self, c, a, n):
        """Writes half of the bytes, at least one, and says so."""
        c.reply(1)
        a.data += c.take(n)[:(n + 1) // 2]
        c.reply(1, (n + 1) // 2)

    def loses(self, c, _, n):
        """Says that it has written what it has not."""
        c.reply(1)
        c.take(n)
        c.reply(1, n)

    def truncates(self, c, a, n):
        """Likewise of the last ten bytes."""
        c.reply(1)
        a.data += c.take(n)[:-10]
        c.reply(1, n)

    def counts_wrong(self, c, a, n):
        """Says that it has written more than it was sent."""
        c.reply(1)
        a.data += c.take(n)
        c.reply(1, n + 1)

    def stalls(self, c, a, n):
        """Takes half of the bytes and then no more."""
        c.reply(1)
        a.data += c.take(n // 2)
        self.until_closed.wait()
        raise Hang

    def closes(self, c, a, n):
        """Closes the connection after half of the bytes."""
        c.reply(1)
        a.data += c.take(n // 2)
        raise Hang

    def closes_first_time(self, c, a, n):
        """Likewise of the first STORE alone."""
        self._answer_store = self.stores
        self.closes(c, a, n)

    def disk_fails(self, c, a, n):
        """Cannot write any more after half of the bytes, and says so."""
        c.reply(1)
        a.data += c.take(n // 2)
        self.error(c, NOT_WRITTEN)
        self.until_closed.wait(1)
        raise Hang

    def flips_a_bit(self, c, a, n):
        """One bit of what it stores is another."""
        c.reply(1)
        a.data += c.take(n)
        a.data[len(a.data) // 2] ^= 1
        c.reply(1, n)

    def expires_meanwhile(self, c, a, n):
        """The allocation has ended when its bytes are there."""
        self.stores(c, a, n)
        a.expires = 0


class IbpDepot(Faults, StoreFaults):
    """One depot with one fault; `delay` seconds go by before each answer."""

    scheme = "ibp"

    def __init__(self, data=b"", fault="none", delay=0.0, address="127.0.0.1",
                 port=0, frame=0, lifetime=86400, name=None, stores="stores",
                 room=200 << 20, has_hard=True, longest=864000, cuts=False,
                 accre=False):
        """frame: the data is stored as `checksum` stores it, in such blocks;
        name: that of the depot in its capabilities; stores: a method of
        StoreFaults; room: bytes for allocations; longest: their seconds at most,
        to which, if it cuts, it shortens others without a word."""
        self.size, self.delay = len(data), delay
        self.room, self.has_hard, self.accre = room, has_hard, accre
        self.longest, self.cuts = longest, cuts
        self.until_closed = threading.Event()
        self._answer_store = getattr(self, stores)
        self.answer_probe = None  # what answers PROBE in its own, wrong way
        self.after = None  # a depot whose fault is to be met before ours ends
        self.another = random.Random(99).randbytes(self.size)
        self.log, self.probes, self.requests = [], 0, []
        self.connections = self.accepted = 0
        self._answer = getattr(self, fault)
        self._numbers = itertools.count(1)
        self._random = random.Random(port or id(self))
        self._lock = threading.Lock()
        self._allocations = {}
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.socket(family)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((address, port))
        self._socket.listen(128)
        self.port = self._socket.getsockname()[1]
        shown = f"[{address}]" if ":" in address else address
        self.host = f"{name or shown}:{self.port}"
        self.stored = framed(data, frame) if frame else data
        self.held = self.hold(self.stored, lifetime)
        threading.Thread(target=self._serve_all, daemon=True).start()

    # ---- what it holds ----

    def hold(self, data, lifetime=86400, key=None, keys=None):
        """Another byte array."""
        with self._lock:
            a = Allocation(key or "0#IBP-" + self._random.randbytes(12).hex(),
                           len(data), lifetime, self._random)
            a.data += data
            a.keys = keys or a.keys
            self._allocations[a.key] = a
        return a

    def capability(self, allocation=None, right="READ"):
        a = allocation or self.held
        i = ["READ", "WRITE", "MANAGE"].index(right)
        return f"ibp://{self.host}/{a.key}/{a.keys[i]}/{right}"

    def url(self, _name=None):
        return self.capability()

    # ---- what the log says ----

    def fired(self):
        return any(e.fired for e in self.log)

    def bytes_sent(self):
        return sum(e.sent for e in self.log)

    def longest_row_without_bytes(self):
        rows = itertools.groupby(self.log, lambda e: e.sent > 0)
        return max((len(list(row)) for sent, row in rows if not sent),
                   default=0)

    # ---- right answers ----

    def send_range(self, c, e, data):
        c.reply(1, e.length)
        c.send(memoryview(data)[e.first:e.first + e.length], e)

    def serve(self, c, e, a):
        """Rightly; what is not there is waited for, and comes short."""
        there = min(max(len(a.data) - e.first, 0), e.length)
        if there < e.length and self.accre:
            self.refuse(c, e, EXCEEDS, b"", fired=e.fired)
            return
        if there < e.length:
            timeout = float(e.words[6])
            if c.until_it_leaves(min(timeout, 3600) * 0.9 if timeout else None):
                raise Hang
        if there == 0 and e.length > 0:
            self.refuse(c, e, SERVER_TIMEOUT, fired=e.fired)
            return
        e.length = there
        self.send_range(c, e, a.data)

    def refuse(self, c, e, code, before=b" ", fired=True):
        e.fired = fired
        c.client.sendall(before)
        c.reply(code)

    # ---- requests ----

    def _find(self, key):
        a = self._allocations.get(key)
        return a if a and a.expires > time.time() else None

    def _load(self, c, words):
        with self._lock:
            e = Entry(next(self._numbers), words)
            self.log.append(e)
        self._let_fire()
        time.sleep(self.delay)
        a = self._find(words[2])
        if not a:
            self.refuse(c, e, NOT_FOUND, fired=False)
        elif words[3] != a.keys[0]:
            self.refuse(c, e, WRONG_READ, fired=False)
        else:
            self._answer(c, e, a)

    def error(self, c, code):
        if not self.accre:
            c.client.sendall(b" ")
        c.reply(code)
        if self.accre:
            raise Hang

    def _free(self):
        with self._lock:
            return self.room - sum(a.size for a in self._allocations.values()
                                   if a.expires > time.time())

    def _allocate(self, c, words):
        reliability, kind, seconds, size = map(int, words[2:6])
        if kind != BYTE_ARRAY:
            self.error(c, TYPE)
        elif seconds > self.longest and not self.cuts:
            self.error(c, LONG)
        elif size > self._free() or (reliability == HARD and not self.has_hard):
            self.error(c, EXCEEDS)
        else:
            a = self.hold(b"", min(seconds, self.longest))
            a.size, a.reliability = size, reliability
            c.reply(1, *(self.capability(a, right)
                         for right in ("READ", "WRITE", "MANAGE")))

    def _store(self, c, words):
        a, n = self._find(words[2]), int(words[4])
        if not a:
            self.error(c, NOT_FOUND)
        elif words[3] != a.keys[WRITE]:
            self.error(c, WRONG_WRITE)
        elif len(a.data) + n > a.size:
            self.error(c, EXCEEDS)
        else:
            self._answer_store(c, a, n)

    def _manage(self, c, words):
        a, command = self._find(words[2]), int(words[4])
        self.probes += command == PROBE
        keys = a.keys if a else []
        if command != PROBE or self.accre:
            keys = keys[MANAGES:]
        if not a:
            self.error(c, NOT_FOUND)
        elif words[3] not in keys:
            self.error(c, WRONG_MANAGE)
        elif command == PROBE and self.answer_probe:
            self.answer_probe(c)
        elif command == PROBE:
            c.reply(1, *a.references, len(a.data), a.size,
                    int(a.expires - time.time()), a.reliability, BYTE_ARRAY)
        elif command == CHANGE:
            self._change(c, a, *map(int, words[6:9]))
        elif command == DECREMENT:
            self._decrement(c, a, int(words[5]) - 1)
        else:
            self.error(c, PROTOCOL)

    def _change(self, c, a, size, seconds, reliability):
        if seconds > self.longest and not self.cuts:
            self.error(c, POLICY if self.accre else LONG)
            return
        a.size, a.reliability = size, reliability
        a.expires = time.time() + min(seconds, self.longest)
        c.reply(1)

    def _decrement(self, c, a, of):
        a.references[of] = max(a.references[of] - 1, 0)
        if a.references[0] == 0 and (not self.accre or a.references[1] == 0):
            with self._lock:
                del self._allocations[a.key]
        c.reply(1)

    def _status(self, c, words):
        if words[3] != "ibp":
            self.error(c, PASSWORD)
            return
        used = self.room - self._free()
        c.reply(self.room >> 20, used >> 20, self.room >> 20, used >> 20,
                self.longest)

    _commands = {ALLOCATE: _allocate, STORE: _store, STATUS: _status,
                 LOAD: _load, MANAGE: _manage}

    # ---- threads ----

    def _serve_all(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._serve_one, args=(client,),
                             daemon=True).start()

    def _let_fire(self):
        end = time.monotonic() + 2
        while self.after and not self.after.fired() and time.monotonic() < end:
            time.sleep(0.005)

    def _serve_one(self, client):
        with self._lock:
            self.connections += 1
        with contextlib.suppress(OSError, Hang), client:
            c = Connection(client)
            while words := c.words():
                self.requests.append(words)
                try:
                    self._commands[int(words[1])](self, c, words)
                except (KeyError, ValueError, IndexError):
                    c.reply(PROTOCOL)
                    break
        with self._lock:
            self.connections -= 1

    def close(self):
        self.until_closed.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=6714)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    with IbpDepot(address=args.listen, port=args.port) as depot:
        for name in args.files:
            held = depot.hold(Path(name).read_bytes())
            print(depot.capability(held), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
