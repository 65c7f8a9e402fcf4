# SPDX-License-Identifier: MIT
"""From a name to a connection: name servers and addresses that are silent, and
names that only a proxy knows.

The name servers are those of a mount namespace with a resolv.conf of its own,
and listen at addresses of their own on loopback.
"""
import contextlib
import os
import socket
import struct
import threading
import time

import pytest
from lab import (Depot, asked_range, bytes_of, listening_socket,
                 wait_until)

SIZE = 300_000
DATA = bytes_of(SIZE)
NET = "127.78.%d" % (os.getpid() % 256)


class NameServer:
    """Knows the names in `addresses`; a silent one answers nothing."""

    def __init__(self, address, addresses=None, silent=False):
        self.addresses, self.silent = addresses or {}, silent
        self.asked = []
        self.questions = set()  # one that is sent again is the same
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        try:
            self.socket.bind((address, 53))
        except OSError as e:
            pytest.skip(f"only root can be a name server: {e}")
        self.address = address
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                question, client = self.socket.recvfrom(512)
            except OSError:
                return
            if not question:
                return
            answer = self._answer(question, (client, question) in self.questions)
            self.questions.add((client, question))
            if not self.silent:
                self.socket.sendto(answer, client)

    def _answer(self, question, is_repeated):
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode())
            at += 1 + question[at]
        kind, = struct.unpack("!H", question[at + 1:at + 3])
        name = ".".join(labels)
        if not is_repeated:
            self.asked.append(name)
        known = self.addresses.get(name, []) if kind == 1 else []
        head = struct.pack("!2sHHHHH", question[:2], 0x8180, 1, len(known), 0, 0)
        return head + question[12:at + 5] + b"".join(
            struct.pack("!HHHIH4s", 0xc00c, 1, 1, 1, 4, socket.inet_aton(a))
            for a in known)

    def close(self):
        self.socket.sendto(b"", self.socket.getsockname())
        self.socket.close()


@pytest.fixture(name="names")
def name_servers(lab):
    """A function: name servers, in the order in which they are asked."""
    made = []

    def begin(*kinds, addresses=None):
        made.extend(NameServer(f"{NET}.{i + 1}", addresses, kind == "silent")
                    for i, kind in enumerate(kinds))
        text = "".join(f"nameserver {s.address}\n" for s in made)
        if not lab.replace_file("/etc/resolv.conf",
                                text + "options timeout:1 attempts:2\n"):
            pytest.skip("there are no namespaces here")
        return made
    yield begin
    for server in made:
        server.close()


def at(name, depot):
    """The depot under this name."""
    return Depot(f"{name}:{depot.host.split(':')[1]}", depot.origin,
                 depot.nginx)


# Shorter than the second after which the resolver asks the next name server.
IMPATIENT = ["--silence", "400ms"]


@pytest.mark.parametrize("kind", ["exnode", "urls"])
def test_a_silent_first_name_server_costs_its_time_and_no_failure(
        lab, names, kind):
    data = lab.file("f.bin", SIZE)
    silent, _ = names("silent", "answers",
                      addresses={"depot.test": ["127.0.0.1"]})
    manifest = getattr(lab, kind)("f.bin", [at("depot.test", lab.depot())])
    run = lab.xdownload(manifest, "-o", "f.bin", *IMPATIENT)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert silent.asked
    assert run.report["depots"][0]["failures"] == 0
    assert 1 <= run.seconds < 4


def test_what_compares_depots_asks_for_no_name_again(lab, names):
    """Of a file without a hash a sample is asked over another connection."""
    lab.file("f.bin", 2 << 20)
    server, = names("answers", addresses={"one.test": ["127.0.0.1"],
                                          "two.test": ["127.0.0.1"]})
    depots = [at(name, depot)
              for name, depot in zip(["one.test", "two.test"], lab.depots(2))]
    run = lab.xdownload(lab.exnode("f.bin", depots), "-o", "f.bin", "-t", "1")
    assert run.rc == 0, run.err
    assert "compared" in run.err
    # For IPv4 and for IPv6.
    assert sorted(server.asked) == ["one.test"] * 2 + ["two.test"] * 2


def test_names_that_never_resolve_are_given_up_and_said(lab, names):
    lab.file("f.bin", SIZE)
    names("silent")
    run = lab.xdownload(
        lab.exnode("f.bin", [Depot("depot.test:1"), lab.depot()]),
        "-o", "f.bin", *IMPATIENT)
    assert run.rc == 0, run.err


def test_names_are_looked_up_again_when_every_address_fails(lab, names):
    """The host has moved: nobody listens where it was."""
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    server, = names("answers", addresses={"depot.test": ["127.0.0.9"]})
    process = lab.start(lab.exnode("f.bin", [at("depot.test", depot)]),
                        "-o", "f.bin", "-t", "1")
    wait_until(lambda: server.asked, "a question")
    time.sleep(0.2)
    server.addresses["depot.test"] = ["127.0.0.1"]
    run = process.wait()
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert run.report["depots"][0]["failures"] > 0
    assert run.seconds < 10


@pytest.mark.slow
def test_a_name_is_looked_up_again_when_its_answer_has_expired(lab, names):
    """Until then all requests share the answer, over new connections too."""
    lab.file("f.bin", 2 << 20)
    depot = lab.depot(config="keepalive_timeout 0;")
    server, = names("answers", addresses={"depot.test": ["127.0.0.1"]})
    process = lab.start(
        lab.metalink("f.bin", [at("depot.test", depot)]), "-o", "f.bin",
        "-a", "basic", "-t", "1", "--block-size", "64k",
        "--limit-rate", f"{(2 << 20) // 75}")
    run = process.wait(120)
    assert run.rc == 0, run.err
    # For IPv4 and for IPv6.
    assert server.asked == ["depot.test"] * 4
    assert depot.connections() > 20


def drops_packets(address):
    """Nobody accepts there, and no connection more fits the queue."""
    full = socket.socket()
    full.bind(address)
    full.listen(0)
    clients = []
    for _ in range(4):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(address)
        clients.append(client)
    time.sleep(0.05)
    return [full, *clients]


def depot_beside(lab, dark):
    """(a depot at 127.0.0.2, what dark() makes of its port at 127.0.0.1)."""
    for _ in range(20):
        depot = lab.depot(address="127.0.0.2")
        with contextlib.suppress(OSError):  # another program has that port
            return depot, dark(("127.0.0.1", int(depot.host.split(":")[1])))
    raise AssertionError("no port is free at both addresses")


@pytest.mark.parametrize("kind", ["exnode", "urls"])
def test_an_address_that_drops_packets_is_passed_over(lab, names, kind):
    """The address that the resolver prefers is that which is nearest."""
    data = lab.file("f.bin", SIZE)
    depot, dark = depot_beside(lab, drops_packets)
    names("answers", addresses={"depot.test": ["127.0.0.2", "127.0.0.1"]})
    manifest = getattr(lab, kind)("f.bin", [at("depot.test", depot)])
    began = time.monotonic()
    run = lab.xdownload(manifest, "-o", "f.bin", "-t", "1", "--silence", "2s")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert run.report["depots"][0]["failures"] == 0
    assert 1 <= time.monotonic() - began < 4
    for s in dark:
        s.close()


def answers_nothing(address):
    """It takes connections, and what is asked."""
    dark = socket.socket()
    dark.bind(address)
    dark.listen(100)
    dark.setblocking(False)
    return dark


def accepted(dark):
    """The connections that were made to it."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            found.append(dark.accept()[0])
    return found


@pytest.mark.parametrize("kind", ["exnode", "urls"])
@pytest.mark.parametrize("n_silent", [1, 2])
def test_an_address_that_answers_nothing_is_passed_over(lab, names, kind,
                                                        n_silent):
    """A request that was made to it is made again, to the next address; and
    later ones are made to that at once."""
    data = lab.file("f.bin", SIZE)
    depot, dark = depot_beside(lab, answers_nothing)
    port = dark.getsockname()[1]
    darks = [dark] + [answers_nothing(("127.0.0.3", port))] * (n_silent - 1)
    addresses = ["127.0.0.2", "127.0.0.1", "127.0.0.3"]
    names("answers", addresses={"depot.test": addresses[:1 + n_silent]})
    manifest = getattr(lab, kind)("f.bin", [at("depot.test", depot)])
    run = lab.xdownload(manifest, "-o", "f.bin", "-t", "1", "--silence", "1s",
                        "--block-size", "64k", "-a", "basic")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    [row] = run.report["depots"]
    assert row["failures"] == 0
    assert row["bytes"] == SIZE
    assert all(len(accepted(dark)) <= 1 for dark in darks)
    for dark in darks:
        dark.close()


class OtherAddress:
    """What an address beside a depot's has, at a rate for each connection."""

    def __init__(self, address, data, rate=1 << 30, etag=None, status=206):
        self.listening = socket.socket()
        self.listening.bind(address)
        self.listening.listen(100)
        self.data, self.rate, self.etag, self.status = data, rate, etag, status
        self.ranges = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
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
            first, last = asked_range(head.decode())
            self.ranges.append((first, last))
            last = min(last, len(self.data) - 1)
            if self.status != 206:
                client.sendall(f"HTTP/1.1 {self.status} No\r\n"
                               "Content-Length: 0\r\n\r\n".encode())
                return
            tag = f'ETag: "{self.etag}"\r\n' if self.etag else ""
            client.sendall(f"HTTP/1.1 206 Part\r\n{tag}Content-Length: "
                           f"{last + 1 - first}\r\nContent-Range: bytes {first}-"
                           f"{last}/{len(self.data)}\r\nConnection: close\r\n\r\n"
                           .encode())
            for at in range(first, last + 1, 16384):
                part = self.data[at:min(at + 16384, last + 1)]
                client.sendall(part)
                time.sleep(len(part) / self.rate)

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


def two_addresses(lab, names, make, **options):
    """A depot whose name has two addresses: at 127.0.0.1, which is asked first,
    what make() gives, at 127.0.0.2 nginx with `options`."""
    for _ in range(20):
        depot = lab.depot(address="127.0.0.2", **options)
        with contextlib.suppress(OSError):
            first = make(("127.0.0.1", int(depot.host.split(":")[1])))
            break
    names("answers", addresses={"depot.test": ["127.0.0.1", "127.0.0.2"]})
    return at("depot.test", depot), first


@pytest.mark.parametrize("hashed", [True, False])
def test_a_faster_address_is_used_for_further_connections(lab, names, hashed):
    """They stay one depot."""
    data = lab.file("f.bin", 8_000_000)
    depot, slow = two_addresses(
        lab, names, lambda a: OtherAddress(a, data, rate=400_000))
    manifest = (lab.metalink if hashed else lab.urls)("f.bin", [depot])
    run = lab.xdownload(manifest, "-o", "f.bin")
    assert run.rc == 0 and lab.read("f.bin") == data, run.err
    [row] = run.report["depots"]
    assert row["failures"] == 0 and row["bytes"] == len(data)
    sent = sum(r["sent"] for r in depot.requests() if r["status"] == 206)
    assert sent > 0.75 * len(data), slow.ranges
    assert run.seconds < 4
    assert len(slow.ranges) <= 4
    slow.close()


def test_a_slower_address_is_tried_once(lab, names):
    data = lab.file("f.bin", 12_000_000)
    depot, fast = two_addresses(
        lab, names, lambda a: OtherAddress(a, data, rate=4_000_000),
        config="limit_rate 200k;")
    run = lab.xdownload(lab.metalink("f.bin", [depot]), "-o", "f.bin")
    assert run.rc == 0 and lab.read("f.bin") == data, run.err
    assert run.report["depots"][0]["failures"] == 0
    assert 1 <= depot.connections() <= 2
    assert depot.bytes_sent() < 0.06 * len(data)
    fast.close()


@pytest.mark.parametrize("how", ["lacks", "is-another"])
def test_an_address_that_has_no_copy_does_no_harm(lab, names, how):
    """The other one, when it is tried."""
    data = lab.file("f.bin", 6_000_000)
    config = "location / { return 404; }" if how == "lacks" else ""
    files = {"f.bin": bytes_of(6_000_000, 2)}
    depot, good = two_addresses(
        lab, names,
        lambda a: OtherAddress(a, data, rate=1_500_000, etag="good"),
        config=config, files=files)
    run = lab.xdownload(lab.urls("f.bin", [depot]), "-o", "f.bin")
    assert run.rc == 0 and lab.read("f.bin") == data, run.err
    [row] = run.report["depots"]
    assert row["failures"] == 0 and row["bytes"] == len(data)
    assert len(depot.requests()) == 1
    good.close()


@pytest.mark.parametrize("is_silent", [True, False])
def test_an_address_that_does_not_answer_does_no_harm(lab, names, is_silent):
    data = lab.file("f.bin", 6_000_000)
    names("answers",
          addresses={"depot.test": ["127.0.0.1", "127.0.0.2"]})
    for _ in range(20):
        good = OtherAddress(("127.0.0.1", 0), data, rate=1_500_000)
        port = good.listening.getsockname()[1]
        with contextlib.suppress(OSError):
            dark = answers_nothing(("127.0.0.2", port))
            break
    if not is_silent:
        dark.close()
    run = lab.xdownload(lab.urls("f.bin", [Depot(f"depot.test:{port}")]),
                        "-o", "f.bin", "--silence", "1s")
    assert run.rc == 0 and lab.read("f.bin") == data, run.err
    [row] = run.report["depots"]
    assert row["failures"] == 0 and row["bytes"] == len(data)
    if is_silent:
        assert len(accepted(dark)) == 1
        dark.close()
    good.close()


def test_one_address_costs_no_second_connection(lab, names):
    data = lab.file("f.bin", 6_000_000)
    names("answers", addresses={"depot.test": ["127.0.0.1"]})
    depot = at("depot.test", lab.depot())
    run = lab.xdownload(lab.metalink("f.bin", [depot]), "-o", "f.bin", "-t", "2")
    assert run.rc == 0 and lab.read("f.bin") == data, run.err
    assert run.report["depots"][0]["failures"] == 0
    assert depot.connections() <= 2


def test_the_only_address_that_answers_nothing_is_not_asked_twice(lab, names):
    lab.file("f.bin", SIZE)
    names("answers", addresses={"depot.test": ["127.0.0.1"]})
    dark = answers_nothing(("127.0.0.1", 0))
    port = dark.getsockname()[1]
    run = lab.xdownload(
        lab.exnode("f.bin", [Depot(f"depot.test:{port}")], size=SIZE),
        "-o", "f.bin", "-t", "1", "--silence", "500ms", "--retry", "1",
        "--patience", "0")
    assert run.rc == 1, run.err
    assert "no bytes for 0.5 s" in run.err
    assert len(accepted(dark)) == 1
    dark.close()


def test_the_only_address_has_all_the_time_that_silence_may_last(lab, names):
    """It answers the third SYN, after three seconds."""
    lab.file("f.bin", SIZE)
    names("answers", addresses={"depot.test": ["127.0.0.1"]})
    full = listening_socket()
    port = full.getsockname()[1]
    full.close()
    dark = drops_packets(("127.0.0.1", port))

    def accept():
        time.sleep(2.5)
        while True:
            try:
                client, _ = dark[0].accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    def answer(client):
        head = client.recv(4096).decode()
        first, last = asked_range(head) or (0, SIZE - 1)
        last = SIZE - 1 if last is None else last
        body = DATA[first:last + 1]
        client.sendall(f"HTTP/1.1 206 P\r\nContent-Range: bytes "
                       f"{first}-{last}/{SIZE}\r\nConnection: close\r\n"
                       f"Content-Length: {len(body)}\r\n\r\n"
                       .encode() + body)
        client.close()
    threading.Thread(target=accept, daemon=True).start()
    run = lab.xdownload(
        lab.exnode("f.bin", [Depot(f"depot.test:{port}")], size=SIZE),
        "-o", "f.bin", "-t", "1", "--silence", "4s")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == DATA
    assert run.report["depots"][0]["failures"] == 0
    for s in dark:
        s.close()


# ---- names that a proxy resolves ----

class Proxy:
    """Speaks SOCKS4a, SOCKS5 or HTTP, and connects to `depot` whatever name it
    is told."""

    def __init__(self, depot):
        self.depot = depot
        self.names = []
        self.socket = listening_socket()
        self.host = "%s:%d" % self.socket.getsockname()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(client,),
                             daemon=True).start()

    def _one(self, client):
        host, port = self.depot.host.split(":")
        with client, socket.create_connection((host, int(port))) as server:
            greet = {4: self._socks4, 5: self._socks5}
            first = client.recv(1, socket.MSG_PEEK)
            if not first:
                return
            if first[0] in greet:
                greet[first[0]](client)
            else:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(4096)
                line, rest = head.split(b"\r\n", 1)
                self.names.append(line.split(b"/")[2].split(b":")[0].decode())
                server.sendall(b"GET /f.bin HTTP/1.1\r\n" + rest)
            threading.Thread(target=self._copy, args=(client, server),
                             daemon=True).start()
            self._copy(server, client)

    def _socks4(self, client):
        client.recv(8, socket.MSG_WAITALL)
        text = b""
        while text.count(b"\0") < 2:
            text += client.recv(1)
        self.names.append(text.split(b"\0")[1].decode())
        client.sendall(b"\0\x5a" + bytes(6))

    def _socks5(self, client):
        _, n = client.recv(2, socket.MSG_WAITALL)
        client.recv(n, socket.MSG_WAITALL)
        client.sendall(b"\5\0")
        kind = client.recv(4, socket.MSG_WAITALL)[3]
        assert kind == 3
        n, = client.recv(1)
        self.names.append(client.recv(n, socket.MSG_WAITALL).decode())
        client.recv(2, socket.MSG_WAITALL)
        client.sendall(b"\5\0\0\1" + bytes(6))

    @staticmethod
    def _copy(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@pytest.mark.parametrize("scheme", ["http", "socks4a", "socks5h"])
@pytest.mark.parametrize("way", ["option", "environment"])
def test_what_a_proxy_resolves_is_not_looked_up_here(lab, names, scheme, way):
    data = lab.file("f.bin", SIZE)
    server, = names("answers")
    proxy = Proxy(lab.depot())
    url = f"{scheme}://{proxy.host}"
    if way == "environment":
        lab.environment["http_proxy"] = url
    run = lab.xdownload(*(["-x", url] if way == "option" else []), "-t", "1",
                        lab.exnode("f.bin", [Depot("depot.test:80")],
                                   size=SIZE), "-o", "f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert set(proxy.names) == {"depot.test"}
    assert server.asked == []
    proxy.socket.close()
