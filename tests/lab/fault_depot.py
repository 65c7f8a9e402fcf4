# SPDX-License-Identifier: MIT
"""Depots that misbehave, on loopback, by the Python of every Debian.

    with FaultDepot(data, "closes_mid_body") as depot:
        fetch(depot.url("f.bin"))
        assert depot.fired()

A depot serves one object under every path, over HTTP/1.1 with keep-alive and
ranges, and has one fault: a method of Faults below, whose first line says what
it does.  What it was asked, what it sent, and whether its fault was at work is
in `log`, one Entry per request.
"""
import collections
import contextlib
import email.utils
import http
import itertools
import random
import re
import select
import socket
import ssl
import struct
import threading
import time

MEGABYTE = 1 << 20
STEP = 16 << 10  # bytes sent at a time


def flipped(data, every=MEGABYTE):
    """One bit of each `every` bytes is another."""
    bad = bytearray(data)
    for i in range(1000, len(bad), every):
        bad[i] ^= 1
    return bytes(bad)


class Entry:
    """One request, or one connection that never became one."""

    def __init__(self, number, path="", headers=None):
        self.number = number  # 1 for the first
        self.time = time.monotonic()
        self.path = path
        self.headers = headers or {}
        self.sent = 0  # bytes of the body
        self.fired = False
        self.leads_somewhere = False  # it was sent to bytes elsewhere
        m = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("range", ""))
        self.first = int(m[1]) if m else None
        self.last = int(m[2]) if m and m[2] else None


class Hang(Exception):
    """Close the connection."""


class Connection:
    """What a client said, and what it is sent."""

    def __init__(self, client):
        self.client = client
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def head(self):
        """The next request: (path, headers by their small names), or None."""
        while b"\r\n\r\n" not in self._rest:
            part = self.client.recv(65536)
            if not part:
                return None
            self._rest += part
        head, self._rest = self._rest.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = (line.partition(":") for line in lines)
        return (first.split(" ")[1],
                {k.lower(): v.strip() for k, _, v in headers})

    def send(self, data, entry=None):
        for at in range(0, len(data), STEP):
            part = data[at:at + STEP]
            self.client.sendall(part)
            if entry:
                entry.sent += len(part)

    def send_head(self, status, fields):
        lines = [f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}"]
        lines += [f"{k}: {v}" for k, v in fields.items()]
        self.client.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def reset(self):
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack("ii", 1, 0))
        raise Hang

    def until_it_leaves(self, seconds=None):
        """Wait; True when the client has closed the connection."""
        ready, _, _ = select.select([self.client], [], [], seconds)
        return bool(ready) and not self.client.recv(65536)


class Faults:
    """Each method answers one request, in its own wrong way."""

    def none(self, c, e):
        """Is honest."""
        self.serve(c, e)

    # ---- silence and broken connections ----

    def never_answers(self, c, e):
        """Accepts, reads the request, and never answers."""
        e.fired = True
        while not c.until_it_leaves():
            pass
        raise Hang

    def header_only(self, c, e):
        """Sends the header and then nothing."""
        e.fired = True
        c.send_head(206, self.fields(*self.asked(e)))
        while not c.until_it_leaves():
            pass
        raise Hang

    def endless_header(self, c, e):
        """Sends a header without an end."""
        self.without_end(c, e, b"HTTP/1.1 206 Partial Content\r\n",
                         b"X-More: " + b"x" * 1000 + b"\r\n")

    def long_header_line(self, c, e):
        """Sends a header with one line of 200 KiB."""
        e.fired = True
        c.send(b"HTTP/1.1 206 Partial Content\r\nX-More: "
               + b"x" * (200 << 10) + b"\r\n")
        raise Hang

    def long_status_line(self, c, e):
        """Sends a status line of 200 KiB."""
        e.fired = True
        c.send(b"HTTP/1.1 206 " + b"x" * (200 << 10) + b"\r\n")
        raise Hang

    def endless_interim_answers(self, c, e):
        """Sends one interim answer after the other."""
        self.without_end(c, e, b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 40)

    def without_end(self, c, e, head, part):
        e.fired = True
        c.send(head)
        while not c.until_it_leaves(0):
            c.send(part)
        raise Hang

    def trickles(self, c, e):
        """Sends one byte a second."""
        e.fired = True
        first, last = self.asked(e)
        c.send_head(206, self.fields(first, last))
        for at in range(first, last + 1):
            c.send(self.data[at:at + 1], e)
            if c.until_it_leaves(1):
                raise Hang

    def closes_mid_body(self, c, e):
        """Closes the connection after half of the body."""
        e.fired = True
        first, last = self.asked(e)
        c.send_head(206, self.fields(first, last))
        c.send(self.data[first:(first + last + 2) // 2], e)
        raise Hang

    def closes_before_the_header(self, c, e):
        """Closes the connection without a word."""
        e.fired = True
        raise Hang

    def resets_every_tenth(self, c, e):
        """Resets the connection at each tenth request."""
        if e.number % 10 == 0:
            e.fired = True
            c.reset()
        self.serve(c, e)

    def one_connection(self, c, e):
        """Serves one connection and answers 503 on all others."""
        if self.connections > 1:
            e.fired = True
            self.refuse(c, e, 503)
        time.sleep(0.02)
        self.serve(c, e)

    def slow_to_connect(self, c, e):
        """Lets connections wait before it accepts them."""
        e.fired = self.connected_late
        self.serve(c, e)

    def is_away(self, c, e):
        """Closes the first two connections without a word."""
        if e.number <= 2:
            self.closes_before_the_header(c, e)
        self.serve(c, e)

    # ---- answers that are not what was asked for ----

    def fewer_bytes(self, c, e):
        """Promises a range and sends ten bytes fewer."""
        e.fired = True
        first, last = self.asked(e)
        c.send_head(206, self.fields(first, last) |
                    {"Content-Length": last - first - 9})
        c.send(self.data[first:last - 9], e)

    def one_byte_fewer(self, c, e):
        """Counts a range one byte short, in its length and in its body."""
        e.fired = e.first is not None
        first, last = self.asked(e)
        if not e.fired:
            return self.serve(c, e)
        c.send_head(206, self.fields(first, last) |
                    {"Content-Length": last - first})
        return c.send(self.data[first:last], e)

    def one_byte_fewer_in_chunks(self, c, e):
        """The same, and does not say how long its answer is."""
        e.fired = e.first is not None
        first, last = self.asked(e)
        if not e.fired:
            return self.serve(c, e)
        fields = self.fields(first, last) | {"Transfer-Encoding": "chunked"}
        del fields["Content-Length"]
        c.send_head(206, fields)
        if last > first:
            c.send(b"%x\r\n" % (last - first))
            c.send(self.data[first:last], e)
            c.send(b"\r\n")
        return c.send(b"0\r\n\r\n")

    def more_bytes(self, c, e):
        """Sends ten bytes more than it promises."""
        e.fired = True
        self.serve(c, e)
        c.send(b"surplus!!\n")

    def wrong_range(self, c, e):
        """Sends the range one byte further."""
        e.fired = True
        first, last = self.asked(e)
        self.serve(c, e, {"Content-Range":
                          f"bytes {first + 1}-{last + 1}/{self.size}"},
                   self.data[1:] + b"?")

    def whole_file(self, c, e):
        """Knows no ranges."""
        e.fired = e.first is not None
        fields = self.fields(0, self.size - 1)
        del fields["Content-Range"], fields["Accept-Ranges"]
        c.send_head(200, fields)
        c.send(self.data, e)

    def html_page(self, c, e):
        """Answers 200 with an error page."""
        e.fired = True
        page = b"<!DOCTYPE html><title>Sorry</title>" + b"<p>Sorry.</p>" * 60
        c.send_head(200, {"Content-Type": "text/html",
                          "Content-Length": len(page)})
        c.send(page, e)

    def another_total(self, c, e):
        """Says that the object is larger."""
        e.fired = True
        first, last = self.asked(e)
        self.serve(c, e, {"Content-Range":
                          f"bytes {first}-{last}/{self.size + 5}"})

    def unsatisfiable(self, c, e):
        """Answers 416 and a smaller size."""
        e.fired = True
        self.refuse(c, e, 416, {"Content-Range": "bytes */10"})

    def encodes(self, c, e):
        """Sends ranges of something compressed, of a size that it does not
        say."""
        e.fired = True
        first, last = self.asked(e)
        self.serve(c, e, {"Content-Encoding": "gzip",
                          "Content-Range": f"bytes {first}-{last}/*"},
                   self.another)

    def says_encoded(self, c, e):
        """Says that the file is compressed, and sends it as it is."""
        e.fired = True
        self.serve(c, e, {"Content-Encoding": "x-gzip"})

    def sends_less(self, c, e):
        """Answers a range with its first 50 000 bytes at most."""
        first, last = self.asked(e)
        e.fired = last - first >= 50_000
        e.last = min(last, first + 49_999)
        self.serve(c, e)

    def omits_the_size(self, c, e):
        """Does not say in Content-Range how large the object is."""
        e.fired = True
        first, last = self.asked(e)
        self.serve(c, e, {"Content-Range": f"bytes {first}-{last}"})

    def omits_the_unit(self, c, e):
        """Does not say in Content-Range what it counts."""
        e.fired = True
        first, last = self.asked(e)
        self.serve(c, e, {"Content-Range": f"{first}-{last}/{self.size}"})

    def refuses_ranges(self, c, e):
        """Answers 403 to each range, and gives the whole file."""
        if e.first is not None:
            self.refuse(c, e, 403)
        self.serve(c, e)

    def refuses_conditions(self, c, e):
        """Answers 412 to If-Range, which other answers lead to."""
        if "if-range" in e.headers:
            self.refuse(c, e, 412)
        self.serve(c, e)

    # ---- refusals ----

    def status_404(self, c, e):
        """Answers 404."""
        self.refuse(c, e, 404)

    def status_403(self, c, e):
        """Answers 403."""
        self.refuse(c, e, 403)

    def status_401(self, c, e):
        """Answers 401."""
        self.refuse(c, e, 401, {"WWW-Authenticate": 'Basic realm="lab"'})

    def status_410(self, c, e):
        """Answers 410."""
        self.refuse(c, e, 410)

    def busy_429(self, c, e):
        """Answers 429 once, with Retry-After in seconds."""
        if e.number == 1:
            self.refuse(c, e, 429, {"Retry-After": "1"})
        self.serve(c, e)

    def busy_503(self, c, e):
        """Answers 503 once, with Retry-After as a date."""
        if e.number == 1:
            date = email.utils.formatdate(time.time() + 2.5, usegmt=True)
            self.refuse(c, e, 503, {"Retry-After": date})
        self.serve(c, e)

    def bursts_of_500(self, c, e):
        """Answers 500 to three of five requests, in a row."""
        if e.number % 5 in (1, 2, 3):
            self.refuse(c, e, 500)
        self.serve(c, e)

    # ---- redirects ----

    def redirects_to_another_host(self, c, e):
        """Sends the client to an honest depot."""
        e.leads_somewhere = True
        self.redirect(c, e, self.other.url("f.bin"))

    def redirects_in_a_loop(self, c, e):
        """Sends the client back to itself."""
        self.redirect(c, e, self.url("f.bin"), e.number > 5)

    def redirects_to_a_file(self, c, e):
        """Sends the client to a file of its own machine."""
        self.redirect(c, e, "file:///etc/passwd")

    def redirects_to_ftp(self, c, e):
        """Sends the client to an FTP server."""
        self.redirect(c, e, f"ftp://{self.host}/f.bin")

    def redirects_to_http(self, c, e):
        """Sends a client that came encrypted elsewhere in the clear."""
        self.redirect(c, e, self.other.url("f.bin"))

    def signed_urls_expire(self, c, e):
        """Sends the client to itself, by URLs that serve three times."""
        m = re.search(r"ticket=(\d+)", e.path)
        if not m:
            ticket = self.count["request"]
            e.fired = ticket > 0
            self.count["request"] += 1
            self.redirect(c, e, self.url(f"f.bin?ticket={ticket}"), e.fired)
        if self.count[m[1]] == 3:
            self.refuse(c, e, 403)
        self.count[m[1]] += 1
        self.serve(c, e)

    # ---- lies ----

    def flips_bits(self, c, e):
        """Has one wrong bit in each megabyte."""
        self.serve(c, e, data=flipped(self.data))
        first, last = self.asked(e)
        e.fired = any(first <= i <= last
                      for i in range(1000, self.size, MEGABYTE))

    def another_file(self, c, e):
        """Has another file of the same size."""
        e.fired = True
        self.serve(c, e, data=self.another)

    def changes_half_way(self, c, e):
        """Has another file after its third request, and says so."""
        if e.number <= 3:
            self.serve(c, e)
        else:
            e.fired = True
            self.serve(c, e, {"ETag": '"another"'}, self.another)


    def balances(self, c, e):
        """Is one of three servers with the same file, in turn, and each says
        another ETag of it."""
        e.fired = e.number > 1
        self.serve(c, e, {"ETag": f'"{e.number % 3}"'})

    def balances_over_two_files(self, c, e):
        """Is one of two servers, in turn, with two files of one size."""
        e.fired = e.number > 1
        if e.number % 2:
            self.serve(c, e)
        else:
            self.serve(c, e, {"ETag": '"another"'}, self.another)


class FaultDepot(Faults):
    """One depot with one fault; `delay` seconds go by before each answer."""

    def __init__(self, data, fault="none", other=None, delay=0.0,
                 certificate=None):
        """other: the depot that redirects lead to; certificate: (path of it,
        path of its key), to be spoken to by https."""
        self.data, self.size = data, len(data)
        self.other, self.delay = other, delay
        self.after = None  # a depot whose fault is to be met before ours ends
        self.another = random.Random(99).randbytes(self.size)
        self.log = []
        self.count = collections.Counter()
        self.connections = 0
        self.connected_late = False
        self._answer = getattr(self, fault)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._context = None
        if certificate:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(*certificate)
        self.scheme = "https" if certificate else "http"
        self._fillers = []
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.host = "%s:%d" % self._socket.getsockname()
        self._socket.listen(0 if fault == "slow_to_connect" else 128)
        if fault == "slow_to_connect":
            self._fill()
        threading.Thread(target=self._serve_all, daemon=True).start()

    def _fill(self):
        """Leave no room for a connection: the system drops who comes, who
        tries again a second later."""
        for _ in range(2):
            s = socket.socket()
            s.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                s.connect(self._socket.getsockname())
            self._fillers.append(s)

    def url(self, name):
        return f"{self.scheme}://{self.host}/{name}"

    # ---- what the log says ----

    def fired(self):
        return any(e.fired for e in self.log)

    def bytes_sent(self):
        return sum(e.sent for e in self.log)

    def longest_row_without_bytes(self):
        """A redirect that the client can follow is not in vain."""
        rows = itertools.groupby(
            self.log, lambda e: e.sent > 0 or e.leads_somewhere)
        return max((len(list(row)) for sent, row in rows if not sent),
                   default=0)

    # ---- right answers ----

    def asked(self, e):
        """First and last byte; of the whole object if no range was asked."""
        last = self.size - 1
        return (e.first or 0,
                last if e.last is None else min(e.last, last))

    def fields(self, first, last):
        return {"Content-Length": last - first + 1, "ETag": '"one"',
                "Accept-Ranges": "bytes",
                "Content-Range": f"bytes {first}-{last}/{self.size}"}

    def serve(self, c, e, fields=None, data=None):
        """Answer rightly, but for those fields, with ranges of `data`."""
        first, last = self.asked(e)
        fields = self.fields(first, last) | (fields or {})
        is_range = e.first is not None
        if e.headers.get("if-range", fields["ETag"]) != fields["ETag"]:
            first, last, is_range = 0, self.size - 1, False
            fields["Content-Length"] = self.size
        if not is_range:
            del fields["Content-Range"]
        c.send_head(206 if is_range else 200, fields)
        c.send((data or self.data)[first:last + 1], e)

    def refuse(self, c, e, status, fields=None):
        e.fired = True
        c.send_head(status, {"Content-Length": 0, "Connection": "close"}
                    | (fields or {}))
        raise Hang

    def redirect(self, c, e, url, fired=True):
        e.fired = fired
        c.send_head(302, {"Location": url, "Content-Length": 0,
                          "Connection": "close"})
        raise Hang

    # ---- threads ----

    def _serve_all(self):
        if self._fillers:
            time.sleep(0.5)
            self.connected_late = True
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve_one, args=(client,),
                             daemon=True).start()

    def _enter(self, path="", headers=None):
        with self._lock:
            e = Entry(next(self._numbers), path, headers)
            self.log.append(e)
        return e

    def _let_fire(self):
        end = time.monotonic() + 2
        while self.after and not self.after.fired() and time.monotonic() < end:
            time.sleep(0.005)

    def _encrypted(self, client):
        if not self._context:
            return client
        return self._context.wrap_socket(client, server_side=True)

    def _serve_one(self, client):
        e = None
        with self._lock:
            self.connections += 1
        with contextlib.suppress(OSError, Hang), \
                self._encrypted(client) as client:
            c = Connection(client)
            while head := c.head():
                e = self._enter(*head)
                self._let_fire()
                time.sleep(self.delay)
                self._answer(c, e)
        if self._context and not e:
            self._enter().fired = True  # it did not like our certificate
        with self._lock:
            self.connections -= 1

    def close(self):
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for s in self._fillers:
            s.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
