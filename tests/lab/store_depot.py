# SPDX-License-Identifier: MIT
"""A web server on loopback that takes objects by PUT, and can misbehave.

    with StoreDepot(rate=2e6) as store:
        put("film.bin", "--to", store.url)
        assert store.objects

It takes GET with a range, HEAD, PUT, DELETE and MKCOL, and notes each request.
It has one fault: a method of Faults below, which answers a PUT.  All uploads
together get `rate` bytes a second.
"""
import itertools
import re
import select
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STEP = 16 << 10  # bytes taken at a time
SHUTDOWN = 0.01  # seconds in which it is noticed
HALF_CLOSED = 5  # seconds for which a connection stays so


class Faults:
    """What becomes of a PUT.  Each gets the request and its body, and answers;
    None: it hangs up."""

    @staticmethod
    def truncates(h, body):
        h.store.objects[h.path] = body[:len(body) // 2]
        return 201

    @staticmethod
    def loses(h, _body):
        """It says that it has it."""
        return 201

    @staticmethod
    def flips_a_bit(h, body):
        h.store.objects[h.path] = bytes(b ^ 1 for b in body)
        return 201

    @staticmethod
    def is_full(_h, _body):
        return 507

    @staticmethod
    def is_full_after_two(h, body):
        if len(h.store.objects) >= 2:
            return 507
        h.store.objects[h.path] = body
        return 201

    @staticmethod
    def refuses(_h, _body):
        return 403

    @staticmethod
    def takes_none(_h, _body):
        return 405

    @staticmethod
    def busy_once(h, body):
        if h.number == 1:
            return 503
        h.store.objects[h.path] = body
        return 201

    @staticmethod
    def busy_thrice(h, body):
        if h.number <= 3:
            return 503
        h.store.objects[h.path] = body
        return 201

    @staticmethod
    def stores_and_hangs_up_once(h, body):
        """Nobody sees that it has it."""
        h.store.objects[h.path] = body
        return None if h.number == 1 else 201

    @staticmethod
    def cuts_and_hangs_up_once(h, body):
        whole = h.number > 1
        h.store.objects[h.path] = body if whole else body[:len(body) // 3]
        return 201 if whole else None

    @staticmethod
    def takes_it_twice(h, body):
        """As where a client's library has sent it again, unseen."""
        h.store.objects[h.path] = body
        return 412

    @staticmethod
    def keeps_what_is_there(h, body):
        if h.path in h.store.objects:
            return 412
        h.store.objects[h.path] = body
        return 201

    @staticmethod
    def is_late(h, body):
        """It is put when put_late() says so; nobody gets an answer."""
        h.store.delayed[h.path] = body
        h.rfile.read(1)

    @staticmethod
    def works_on_it(h, body):
        """As one that looks for viruses before it answers."""
        time.sleep(2)
        h.store.objects[h.path] = body
        return 201

    @staticmethod
    def works_behind_a_gateway(h, body):
        """The gateway says that it is late; then it is there."""
        def put():
            h.store.objects[h.path] = body
        threading.Timer(2, put).start()
        return 504

    @staticmethod
    def knows_no_conditions(h, body):
        return Faults._without_condition(h, body, 501)

    @staticmethod
    def takes_conditions_for_bad_requests(h, body):
        return Faults._without_condition(h, body, 400)

    @staticmethod
    def says_412_to_each_condition(h, body):
        return Faults._without_condition(h, body, 412)

    @staticmethod
    def _without_condition(h, body, status):
        if "If-None-Match" in h.headers:
            return status
        h.store.objects[h.path] = body
        return 201

    @staticmethod
    def hangs_up(_h, _body):
        return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer is written in two parts

    @property
    def store(self):
        return self.server.store

    def log_message(self, *_args):
        pass

    def answer(self, status, body=b"", length=None, fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length",
                         str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def note(self):
        """False: it was answered already, as the store is told to."""
        store = self.store
        store.requests.append((self.command, self.path))
        store.credentials.append(self.headers.get("Authorization"))
        if store.on_request:
            store.on_request(self)
        store.hold(self.command)
        if store.wants_login and not self.headers.get("Authorization"):
            self.answer(401, fields=[("WWW-Authenticate",
                                      'Basic realm="store"')])
            return False
        status = store.refused.get(self.command)
        if status:
            self.answer(status, fields=[("Location", store.location)]
                        if store.location else [])
        return not status

    def take_body(self):
        left = int(self.headers.get("Content-Length", 0))
        parts = []
        while left > 0:
            part = self.rfile.read(min(STEP, left))
            if not part:
                break
            parts.append(part)
            left -= len(part)
            self.store.received += len(part)
            self.store.pace(len(part))
        return b"".join(parts)

    def close_half(self):
        """Say that nothing will be said, and take nothing more."""
        self.rfile.read(STEP)
        self.connection.shutdown(socket.SHUT_WR)
        select.select([], [], [self.connection], HALF_CLOSED)
        self.close_connection = True

    def do_PUT(self):
        self.note()
        if self.store.half_closes > 0:
            self.store.half_closes -= 1
            self.close_half()
            return
        body = self.take_body()
        if len(body) < int(self.headers.get("Content-Length", 0)):
            self.close_connection = True
            return
        self.number = next(self.store.puts)
        if not self.store.fault:
            self.store.objects[self.path] = body
            self.answer(201)
            return
        status = getattr(Faults, self.store.fault)(self, body)
        if status is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.answer(status)

    def do_HEAD(self):
        if not self.note():
            return
        data = self.store.objects.get(self.path)
        self.answer(404 if data is None else 200,
                    length=len(data) if data is not None else 0)

    def do_GET(self):
        if not self.note():
            return
        data = self.store.objects.get(self.path)
        if data is None:
            self.answer(404)
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked:
            self.answer(200, data)
            return
        first = int(asked[1])
        part = data[first:int(asked[2]) + 1 if asked[2] else None]
        self.answer(206, part, fields=[(
            "Content-Range",
            f"bytes {first}-{first + len(part) - 1}/{len(data)}")])

    def do_DELETE(self):
        if not self.note():
            return
        had = self.store.objects.pop(self.path, None)
        self.answer(404 if had is None else 204)

    def do_MKCOL(self):
        if not self.note():
            return
        self.answer(201)


class StoreDepot:
    """`objects` is what it holds, by path; `requests` all that was asked, with
    `credentials`.  Methods in `refused` are answered with that status, and point to
    `location`; those in `holds` wait until they are taken out.  So many PUTs as
    `half_closes` says are not answered: it closes its side, and takes no more."""

    def __init__(self, fault=None, rate=0, address="127.0.0.1"):
        assert fault is None or hasattr(Faults, fault), fault
        self.fault, self.rate = fault, rate
        self.objects, self.requests = {}, []
        self.delayed = {}
        self.received = 0  # bytes of all bodies
        self.credentials, self.refused, self.location = [], {}, None
        self.wants_login = False
        self.half_closes = 0
        self.holds, self.held, self.on_request = set(), 0, None
        self.puts = itertools.count(1)
        self.lock, self.due = threading.Lock(), 0.0
        self.server = ThreadingHTTPServer((address, 0), Handler)
        # What is in the kernel's hands is not what it has taken.
        self.server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                      STEP)
        self.server.daemon_threads = True
        self.server.store = self
        self.address, self.port = self.server.server_address
        self.url = f"http://{address}:{self.port}/dav/"

    def hold(self, command):
        """Wait as long as such requests are held."""
        if command not in self.holds:
            return
        self.held += 1
        while command in self.holds:
            time.sleep(0.01)
        self.held -= 1

    def pace(self, n):
        """Wait for the turn of n bytes."""
        if not self.rate:
            return
        with self.lock:
            now = time.monotonic()
            self.due = max(self.due, now) + n / self.rate
            wait = self.due - now
        time.sleep(wait)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(SHUTDOWN,),
                         daemon=True).start()
        return self

    def __exit__(self, *_error):
        self.server.shutdown()
        self.server.server_close()

    def put_late(self, change=lambda data: data):
        for path, body in self.delayed.items():
            self.objects[path] = change(body)
        self.delayed.clear()

    def n_puts(self):
        return sum(command == "PUT" for command, _ in self.requests)
