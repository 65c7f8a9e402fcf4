# SPDX-License-Identifier: MIT
"""Nodes of a mesh: what `xdownload via --nginx` writes, run by real nginx, and asked
by plain HTTP: how often the origin is asked, what is kept, and what is refused."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter

import pytest

from lab import PATIENCE, asked_range, bytes_of, wait_until
from mesh import Mesh

SIZE = 1 << 20
CHUNK = 64 << 10
N = SIZE // CHUNK
CLIENTS = 8


def ranges_of(requests):
    return Counter(r["range"] for r in requests)


class World:
    """An origin with one file, and a mesh for it."""

    def __init__(self, lab, config="", rate=None, **options):
        self.lab = lab
        self.data = lab.file("f.bin", SIZE)
        self.origin = lab.depot(config=config, rate=rate)
        self.url = self.origin.url("f.bin")
        self.mesh = Mesh(lab, [self.origin.url("")], **options)
        self.seen = 0

    def __enter__(self):
        self.mesh.__enter__()
        self.etag = self.mesh.get("a", self.url, 0, 0).headers["ETag"]
        wait_until(self.asked, "the origin has logged that")
        return self

    def __exit__(self, *error):
        self.mesh.__exit__(*error)

    def asked(self):
        """What the origin was asked since this was last asked."""
        requests = self.origin.requests()
        new, self.seen = requests[self.seen:], len(requests)
        return new

    def client(self, k):
        """All chunks, each from one of its first two nodes, alternately; what
        fails there is asked of the next nodes.  Returns the file, and how many
        requests failed."""
        out, failed = b"", 0
        for i in range(N):
            ranks = rank(i)
            for at in range(k, k + 5):
                node = ranks[(at + i) % 2] if at < k + 2 else ranks[at - k]
                with contextlib.suppress(OSError):
                    got = self.mesh.chunk_of(node, self.url, i,
                                             match=self.etag, owner=ranks[0])
                    if got.status == 206:
                        out += got.body
                        break
                failed += 1
        return out, failed

    def clients(self, n=CLIENTS):
        with concurrent.futures.ThreadPoolExecutor(n) as pool:
            return list(pool.map(self.client, range(n)))


def rank(chunk):
    """An order of the nodes that any client may have."""
    return random.Random(chunk).sample("abcde", 5)


# ---- how often the origin is asked ----

@pytest.mark.parametrize("hops, times", [(2, 1), (1, 2)])
def test_the_origin_sends_each_chunk_once_or_once_to_each_node_that_holds_it(
        lab, hops, times):
    with World(lab, hops=hops) as world:
        got = world.clients()
        assert got == [(world.data, 0)] * CLIENTS
        asked = ranges_of(world.asked())
        assert len(asked) == N and set(asked.values()) == {times}
        assert world.clients() == got
        assert world.asked() == []


def test_an_owner_that_is_killed_is_replaced_by_the_origin(lab):
    with World(lab) as world:
        threading.Timer(0.3, world.mesh.nodes["b"].kill).start()
        got = world.clients()
        assert all(data == world.data for data, _ in got)
        asked = ranges_of(world.asked())
        # What b owns, once more at most for each node that asks in its place.
        assert sum(asked.values()) < 1.4 * N, asked


def test_a_dead_owner_costs_a_node_that_asks_little_time(lab):
    with World(lab) as world:
        world.mesh.nodes["b"].kill()
        began = time.monotonic()
        for i in range(N):
            got = world.mesh.chunk_of("a", world.url, i, match=world.etag,
                                      owner="b")
            assert got.body == world.data[i * CHUNK:(i + 1) * CHUNK]
        assert time.monotonic() - began < 5
        assert set(ranges_of(world.asked()).values()) == {1}
        assert all(world.mesh.keeps("a", world.url, i, match=world.etag)
                   for i in range(N))


def test_an_answer_that_breaks_off_is_cut_and_not_kept(lab):
    """Not made longer by what comes behind, and at once."""
    data = bytes_of(3 * CHUNK)
    whole = answers_as_it_likes(data, lambda first: '"x"')
    origin = lab.odd(lambda head: whole(head)[:CHUNK // 2])
    with Mesh(lab, [origin.url("")], n=2) as mesh:
        url = origin.url("f.bin")
        for owner in "a", "b":
            with pytest.raises(http.client.IncompleteRead) as cut:
                mesh.chunk_of("a", url, 1, match='"x"', owner=owner)
            assert data[CHUNK:].startswith(cut.value.partial)
            for node in "ab":
                assert not mesh.holds(node, url, 1, match='"x"')



def test_a_chunk_is_filled_though_its_client_leaves(lab):
    with World(lab, chunk="256k", rate=500_000) as world:
        with socket.create_connection(
                ("127.0.0.1", world.mesh.nodes["a"].port)) as s:
            s.sendall(f"GET /http/{world.origin.host}/f.bin HTTP/1.1\r\n"
                      f"Host: x\r\nXd-Match: {world.etag}\r\nXd-Owner: b\r\n"
                      "Range: bytes=300000-400000\r\n\r\n".encode())
            assert s.recv(1)
        wait_until(lambda: world.mesh.holds("a", world.url, 1,
                                            match=world.etag), "it is filled")
        assert world.mesh.keeps("b", world.url, 1, match=world.etag)
        assert len(world.asked()) == 1


@pytest.mark.parametrize("status, times", [(502, 1), (504, 1), (404, 0)])
def test_an_owner_that_cannot_reach_the_origin_is_replaced(lab, status, times):
    """Other answers are those of the origin."""
    owner = lab.odd(lambda _: f"HTTP/1.1 {status} x\r\nContent-Length: 0\r\n"
                              "\r\n".encode())
    with World(lab, n=2, edit={"a": ("server 127.0.0.1:NODE_b",
                                     f"server {owner.host}")}) as world:
        got = world.mesh.chunk_of("a", world.url, 1, match=world.etag,
                                  owner="b")
        assert got.status == (206 if times else status)
        assert len(world.asked()) == times
        has = world.mesh.keeps if times else world.mesh.holds
        assert has("a", world.url, 1, match=world.etag) == (times > 0)
        assert f"Xd-Match: {world.etag}" in owner.heads[0]
        assert "Xd-Hop: a" in owner.heads[0]


@pytest.mark.slow
@pytest.mark.parametrize("hops", [1, 2])
def test_a_chunk_that_takes_long_is_fetched_once(lab, hops):
    """Longer than nginx's own 5 s, by many clients."""
    with World(lab, chunk="256k", rate=40_000, hops=hops) as world:
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            got = list(pool.map(
                lambda node: world.mesh.chunk_of(node, world.url, 1,
                                                 match=world.etag, owner="b"),
                "bbaaab"))
        assert all(g.body == world.data[256 << 10:512 << 10] for g in got)
        asked = ranges_of(world.asked())
        assert asked[f"bytes={256 << 10}-{(512 << 10) - 1}"] == 3 - hops


# ---- versions ----

def test_a_file_that_changes_is_412_and_nothing_is_mixed(lab):
    with World(lab) as world:
        old, mesh = world.data, world.mesh
        assert mesh.chunk_of("a", world.url, 0, match=world.etag).body == \
            old[:CHUNK]
        new = lab.file("f.bin", SIZE, seed=2)
        os.utime(lab.www / "f.bin", (1, 1))
        for owner in "a", "b":
            assert mesh.chunk_of("a", world.url, 1, match=world.etag,
                                 owner=owner).status == 412
        assert mesh.chunk_of("a", world.url, 0, match=world.etag).body == \
            old[:CHUNK]
        etag = mesh.get("c", world.url, 0, 0).headers["ETag"]
        for i in range(2):
            got = mesh.chunk_of("a", world.url, i, match=etag)
            assert got.body == new[i * CHUNK:(i + 1) * CHUNK]
            assert got.headers["ETag"] == etag


def answers_as_it_likes(data, etag_of):
    """An origin that heeds no If-Match; etag_of(first) may change."""
    def answer(head):
        first, last = asked_range(head)
        last = min(last, len(data) - 1)
        part = data[first:last + 1]
        return (f"HTTP/1.1 206 Partial Content\r\nETag: {etag_of(first)}\r\n"
                f"Content-Range: bytes {first}-{last}/{len(data)}\r\n"
                f"Content-Length: {len(part)}\r\nConnection: close\r\n\r\n"
                ).encode() + part
    return answer


def test_an_answer_of_another_version_is_not_kept(lab):
    """Of an origin that ignores If-Match."""
    data = bytes_of(3 * CHUNK)
    origin = lab.odd(answers_as_it_likes(data, lambda first: '"new"'))
    with Mesh(lab, [origin.url("")], n=2) as mesh:
        url = origin.url("f.bin")
        for owner in "a", "b":
            got = mesh.chunk_of("a", url, 0, match='"old"', owner=owner)
            assert got.headers["ETag"] == '"new"'
            assert not mesh.holds("a", url, 0, match='"old"')
            assert not mesh.holds("b", url, 0, match='"old"')
        assert mesh.chunk_of("a", url, 0, match='"new"').status == 206
        assert mesh.keeps("a", url, 0, match='"new"')


def test_a_file_without_a_validator_has_a_place_of_its_own(lab):
    with World(lab, config="etag off;") as world:
        got = world.mesh.chunk_of("a", world.url, 0)
        assert got.body == world.data[:CHUNK] and "ETag" not in got.headers
        assert world.mesh.keeps("a", world.url, 0)
        assert not world.mesh.holds("a", world.url, 0, match='"x"')
        # What the client knows to have an ETag must have it.
        assert world.mesh.chunk_of("a", world.url, 0, match='"x"').status == 412


# ---- what is kept ----

KEPT = {
    "plain": "",
    "by-encoding": "add_header Vary Accept-Encoding;",
    "by-origin": 'add_header Vary "Accept-Encoding, Origin";',
    "for-long": "add_header Cache-Control max-age=3600;",
}
DROPPED = {
    "not-stored": "add_header Cache-Control no-store;",
    "private": 'add_header Cache-Control "max-age=60, private";',
    "old-at-once": "add_header Cache-Control max-age=0;",
    "by-agent": "add_header Vary User-Agent;",
    "by-both": 'add_header Vary "Accept-Encoding, Cookie";',
    "by-all": "add_header Vary *;",
    "with-cookie": "add_header Set-Cookie id=1;",
}
PATHS = "".join(f"location /{name}/ {{ alias WWW/; {line} }}\n"
                for name, line in (KEPT | DROPPED).items())


def test_what_the_origin_lets_caches_keep_is_kept_and_else_it_is_said(lab):
    with World(lab, config=PATHS.replace("WWW", str(lab.www)), n=2) as world:
        for name in KEPT | DROPPED:
            url = world.origin.url(f"{name}/f.bin")
            for owner, said in ("a", "MISS"), ("b", "MISS"), ("a", "HIT"):
                got = world.mesh.chunk_of("a", url, 0 if owner == "a" else 1,
                                          match=world.etag, owner=owner)
                assert got.status == 206
                assert got.cache == (said if name in KEPT else "NOSTORE"), name
                assert "Vary" not in got.headers
                assert "Set-Cookie" not in got.headers
            for node, i in ("a", 0), ("a", 1), ("b", 1):
                has = world.mesh.keeps if name in KEPT else world.mesh.holds
                assert has(node, url, i, match=world.etag) == (
                    name in KEPT), name


def test_what_is_old_is_asked_for_again_and_comes_from_the_cache(lab):
    with World(lab, config="add_header Cache-Control max-age=1;",
               n=2) as world:
        def chunk(owner):
            return world.mesh.chunk_of("a", world.url, 1, match=world.etag,
                                       owner=owner)
        assert chunk("b").cache == "MISS"
        time.sleep(2.1)
        assert world.mesh.keeps("a", world.url, 1, match=world.etag)
        got = chunk("b")
        assert got.cache == "REVALIDATED"
        assert got.body == world.data[CHUNK:2 * CHUNK]
        assert [r["status"] for r in world.asked()] == [206, 304]
        time.sleep(2.1)
        lab.file("f.bin", SIZE, seed=2)
        os.utime(lab.www / "f.bin", (1, 1))
        assert chunk("b").status == 412 and chunk("a").status == 412


@pytest.mark.parametrize("field", ["Authorization", "Cookie",
                                   "Proxy-Authorization"])
def test_a_request_with_credentials_is_neither_kept_nor_answered_from_the_cache(
        lab, field):
    seen = []
    data = bytes_of(CHUNK)
    plain = answers_as_it_likes(data, lambda first: '"x"')
    origin = lab.odd(lambda head: seen.append(head) or plain(head))
    with Mesh(lab, [origin.url("")], n=2) as mesh:
        url = origin.url("f.bin")
        for owner in "a", "b":
            for _ in range(2):
                got = mesh.chunk_of("a", url, 0, match='"x"', owner=owner,
                                    headers={field: "Basic c2VjcmV0"})
                assert got.cache in ("BYPASS", "MISS")
            for node in "ab":
                assert not mesh.holds(node, url, 0, match='"x"')
        assert all("c2VjcmV0" not in head for head in seen) and len(seen) > 2


def test_errors_redirects_and_whole_files_are_passed_on_and_not_kept(lab):
    config = """location /moved { return 302 http://127.0.0.1:1/; }
        location /whole/ { alias WWW/; max_ranges 0; }
        location /busy { return 503; }
        location /gone { add_header Cache-Control max-age=99 always;
                         return 404; }"""
    with World(lab, config=config.replace("WWW", str(lab.www)),
               n=2) as world:
        for name, status in (("moved", 302), ("whole/f.bin", 200),
                             ("busy", 503), ("gone", 404), ("none", 404)):
            for owner in "a", "b":
                got = world.mesh.get("a", world.origin.url(name), 0, CHUNK - 1,
                                     owner=owner)
                assert got.status == status
                assert not world.mesh.holds("a", world.origin.url(name), 0)
        assert world.mesh.get("a", world.origin.url("moved"), 0,
                              9).headers["Location"] == "http://127.0.0.1:1/"


def test_what_nginx_obeys_in_answers_is_not_for_origins(lab):
    def answer(_):
        return (b"HTTP/1.1 206 x\r\nX-Accel-Redirect: /xd-status\r\n"
                b"X-Accel-Expires: 1000\r\nCache-Control: no-store\r\n"
                b"Xd-Node: z\r\nXd-Cache: HIT\r\nETag: \"x\"\r\n"
                b"Content-Range: bytes 0-4/5\r\nContent-Length: 5\r\n\r\nhello")
    origin = lab.odd(answer)
    with Mesh(lab, [origin.url("")], n=1) as mesh:
        got = mesh.get("a", origin.url("f"), 0, 4)
        assert got.body == b"hello"
        assert got.headers.get_all("Xd-Node") == ["a"]
        assert got.headers.get_all("Xd-Cache") == ["NOSTORE"]


# ---- abuse ----

def test_only_the_origins_of_the_list_are_asked(lab):
    secret = lab.depot(files={"f.bin": b"secret"})
    with World(lab, n=2) as world:
        o, s = world.origin.host, secret.host
        for target in (f"/http/{s}/f.bin", f"/https/{o}/f.bin",
                       "/http/169.254.169.254/latest/meta-data/",
                       "/http/127.0.0.1/f.bin", "/http/localhost/f.bin",
                       f"/http/{o}.evil.example/f.bin",
                       f"/http/{o}@{s}/f.bin", f"/http/x@{o}/f.bin",
                       f"/http/{o}", f"/http/{o}:80/f.bin",
                       f"/HTTP/{o}/f.bin", f"/http:/{s}/f.bin",
                       f"/ftp/{o}/f.bin", f"/file/etc/passwd",
                       f"/x/http/{o}/f.bin", "/", "/f.bin", "/http/",
                       f"/http/{o}%2f..%2f{s}/f.bin",
                       f"/http/127%2e0.0.1:{o[10:]}/f.bin"):
            got = world.mesh.raw("a", target)
            assert got.status in (400, 403, 404), target
        assert secret.requests() == [] and world.asked() == []


ODD_TARGETS = [
    "/../f.bin", "/x/../f.bin", "/./f.bin", "//f.bin", "/x//f.bin",
    "/%2e%2e/f.bin", "/.%2E/f.bin", "/x%2ff.bin", "/x%2Ff.bin", "/x%5cf.bin",
    "/x\\f.bin", "/f.bin%00", "/f.bin%0d%0aHost:%20evil", "/f.bin%7f", "/f%",
    "/f%2", "/f%zz", "/f.bin?x=%0a", "/f.bin?x=%00", "/f.bin#x", "/f.bin|x",
    "/f\"bin", "/f<bin", "/{f}", "/f^", "/f`", "/..", "/x/..", "/x/.",
    "/x/..?y", "/f.bin?x=%zz", "/f.bin?%",
]


def ask(port, text):
    """The status lines of whatever comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
        s.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
        s.shutdown(socket.SHUT_WR)
        got = b""
        while part := s.recv(65536):
            got += part
    return [line.split(" ")[1] for line in got.decode("latin-1").split("\r\n")
            if line.startswith("HTTP/1.")]


def test_targets_that_two_servers_could_read_differently_are_refused(lab):
    with World(lab, n=1) as world:
        port = world.mesh.nodes["a"].port
        for odd in ODD_TARGETS:
            got = ask(port, f"GET /http/{world.origin.host}{odd} HTTP/1.1\r\n"
                            "Host: x\r\nConnection: close\r\n\r\n")
            assert got == ["400"], odd
        assert world.asked() == []


def test_plain_targets_reach_the_origin_as_they_came(lab):
    seen = []
    plain = answers_as_it_likes(bytes_of(CHUNK), lambda first: '"x"')
    origin = lab.odd(lambda head: seen.append(head.split(" ")[1]) or
                     plain(head))
    targets = ["/", "/a/", "/.a/...", "/a%20b/%C3%BC%e2%82%ac", "/a+b~c_d-e",
               "/a!$&'()*+,;=:@b", "/a%25b", "/a?x=1&y=/z?q:@!$'()*+,;~",
               "/a?", "/A/a?..//", "/a:80/b", "/http/x", "/?a%20b"]
    with Mesh(lab, [origin.url("")], n=2) as mesh:
        for owner in "a", "b":
            for target in targets:
                got = mesh.raw("a", f"/http/{origin.host}{target}",
                               {"Range": "bytes=0-9", "Xd-Owner": owner})
                assert got.status == 206, target
        assert seen == targets


def test_other_requests_than_plain_ones_are_refused(lab):
    with World(lab, n=1) as world:
        port, path = world.mesh.nodes["a"].port, f"/http/{world.origin.host}/f.bin"
        heads = {
            f"POST {path} HTTP/1.1": "405", f"PUT {path} HTTP/1.1": "405",
            f"DELETE {path} HTTP/1.1": "405", f"TRACE {path} HTTP/1.1": "405",
            f"CONNECT {world.origin.host} HTTP/1.1": "400",
            f"PURGE {path} HTTP/1.1": "405", f"get {path} HTTP/1.1": "400",
            f"GET http://{world.origin.host}/f.bin HTTP/1.1": "400",
            f"GET http://x{path} HTTP/1.1": "400",
            f"GET {path} x HTTP/1.1": "400", f"GET  {path} HTTP/1.1": "400",
        }
        for head, status in heads.items():
            assert ask(port, head + "\r\nHost: x\r\nConnection: close\r\n\r\n"
                       )[:1] == [status], head
        fields = {
            "Content-Length: 5\r\n\r\nhello": "400",
            "Transfer-Encoding: chunked\r\n\r\n0\r\n": "400",
            "Content-Length: 0\r\nTransfer-Encoding: chunked": "400",
            "Content-Length: 1\r\nContent-Length: 2": "400",
            "If-Range: \"x\"": "400",
            "Xd-Match: x": "400", "Xd-Match: W/\"x\"": "400",
            "Xd-Match: \"x y\"": "400", "Xd-Match: \"x\", \"y\"": "400",
            "Xd-Match: *": "400", "Host: y": "400",
        }
        for field, status in fields.items():
            got = ask(port, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: "
                            "close\r\nRange: bytes=0-9\r\n"
                            f"{field}\r\n\r\n")
            assert got[:1] == [status], field
            assert len(got) == 1 or set(got) == {"400"}, field
        assert world.asked() == []
        head = world.mesh.raw("a", path, {"Range": "bytes=0-9"}, "HEAD")
        assert head.status == 206 and head.body == b""
        assert head.headers["Content-Length"] == "10"


@pytest.mark.parametrize("chunk", [64 << 10, 100 << 10, 1 << 20])
def test_a_range_lies_within_one_chunk(lab, chunk):
    with World(lab, n=1, chunk=f"{chunk >> 10}k") as world:
        def status(text):
            return world.mesh.get("a", world.url, match=world.etag,
                                  headers={"Range": text} if text else {}
                                  ).status
        last = SIZE - 1
        for first in {0, chunk, last // chunk * chunk}:
            end = first + chunk
            for a, b in ((0, 0), (0, 1), (0, 8), (0, 9), (0, 99), (1, 1000),
                         (9, 10001), (chunk - 1, chunk - 1), (0, chunk - 1),
                         (chunk // 2, chunk - 2)):
                if first + a <= last:
                    assert status(f"bytes={first + a}-{first + b}") == 206
            for b in (0, 1, 10, chunk // 10, chunk - 1, chunk, 10 * chunk,
                      100 * chunk, 9 * 10 ** 14):
                assert status(f"bytes={first}-{end + b}") == 416
                assert status(f"bytes={end - 1}-{end + b}") == 416
        for text in ("", "bytes=0-", "bytes=-5", "bytes=0-1,5-6", "lines=0-5",
                     "bytes=5-3, 4-", "bytes=5-3", "bytes=00-5", "bytes=0-05",
                     "bytes = 0-5", "bytes=0-9999999999999999", "bytes=0-1 ,",
                     "bytes=99999999-99999999", "bytes=+0-5", "bytes=0x0-5"):
            assert status(text) == 416, text
        assert len(ranges_of(world.asked())) <= -(-SIZE // chunk) + 2


def test_headers_change_neither_what_is_asked_nor_where_it_is_kept(lab):
    seen = []
    plain = answers_as_it_likes(bytes_of(CHUNK), lambda first: '"x"')
    origin = lab.odd(lambda head: seen.append(head) or plain(head))
    poison = {"Host": "evil.example", "X-Forwarded-Host": "evil.example",
              "X-Original-URL": "/evil", "X-Rewrite-URL": "/evil",
              "X-HTTP-Method-Override": "DELETE", "Forwarded": "host=evil",
              "Accept": "evil/evil", "Accept-Encoding": "gzip, evil",
              "Accept-Language": "evil", "User-Agent": "evil",
              "Referer": "http://evil/", "Origin": "http://evil",
              "X-Forwarded-For": "evil", "If-None-Match": '"evil"',
              "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT",
              "Cache-Control": "no-cache", "Pragma": "no-cache",
              "Upgrade": "evil", "Connection": "Xd-Match, upgrade",
              "X-Accel-Redirect": "/evil", "Expect": "100-continue"}
    with Mesh(lab, [origin.url("")], n=2) as mesh:
        url = origin.url("f.bin")
        for owner in "b", "a":
            got = mesh.chunk_of("a", url, 0, match='"x"', owner=owner,
                                headers=poison)
            assert got.status == 206, got
        assert len(seen) == 1 and "evil" not in seen[0]
        names = {line.split(":")[0] for line in seen[0].splitlines()[1:] if line}
        assert names == {"Host", "User-Agent", "Accept-Encoding", "Range",
                         "If-Match"}
        assert f"Host: {origin.host}" in seen[0]
        assert "Accept-Encoding: identity" in seen[0]
        assert mesh.chunk_of("b", url, 0, match='"x"').cache == "HIT"


def test_a_node_that_another_node_asks_asks_no_other(lab):
    with World(lab, n=3) as world:
        mesh = world.mesh
        for i, hop in enumerate(["a", "b", "c", "z", "no such"]):
            got = mesh.chunk_of("b", world.url, i, match=world.etag, owner="c",
                                hop=hop)
            assert got.status == 206 and got.node == "b"
            assert not mesh.holds("c", world.url, i, match=world.etag)
        # Nor is one asked that is no node, or the node itself.
        for i, owner in enumerate(["z", "b", "127.0.0.1:1", "", "node_0"]):
            got = mesh.chunk_of("b", world.url, 8 + i, match=world.etag,
                                owner=owner)
            assert got.status == 206
        assert not any("GET /http" in line and "504" not in line
                       for line in mesh.nodes["c"].log())


def test_what_a_node_does_not_hold_is_504_and_asks_nobody(lab):
    with World(lab, n=2) as world:
        for i in range(3):
            assert not world.mesh.holds("a", world.url, i, match=world.etag,
                                        owner="b")
        assert world.asked() == []
        assert not any("GET /http" in line for line in
                       world.mesh.nodes["b"].log())
        assert (world.mesh.nodes["a"].folder / "error.log").read_text() == ""


# ---- TLS ----

def test_the_certificate_of_an_origin_is_verified(lab):
    good = lab.certificate("DNS:localhost", trusted=False)
    data = lab.file("f.bin", CHUNK)
    origin = lab.depot(certificate=good, http2=False)
    port = origin.host.split(":")[1]
    url = f"https://localhost:{port}/f.bin"
    other = lab.certificate("DNS:localhost", trusted=False)
    for i, (authority, status) in enumerate(((other, 502), (good, 206))):
        with Mesh(lab, [f"https://localhost:{port}/"], n=1, folder=f"mesh{i}",
                  more=["--cacert", str(authority.path)]) as mesh:
            got = mesh.chunk_of("a", url, 0)
            assert got.status == status
            assert (got.body == data) == (status == 206)


def test_a_certificate_of_another_name_is_refused(lab):
    other = lab.certificate("DNS:other.example", trusted=False)
    lab.file("f.bin", CHUNK)
    origin = lab.depot(certificate=other, http2=False)
    port = origin.host.split(":")[1]
    with Mesh(lab, [f"https://localhost:{port}/"], n=1,
              more=["--cacert", str(other.path)]) as mesh:
        assert mesh.chunk_of("a", f"https://localhost:{port}/f.bin",
                             0).status == 502


# ---- what the command writes ----

def via(lab, *words):
    return lab.xdownload("via", "--nginx", *words, report=False)


def test_the_list_says_what_the_nodes_say(lab):
    with World(lab, n=3, chunk="128k", hops=1) as world:
        text = (world.mesh.folder / "NODES").read_text()
        assert text == (
            "xdownload nodes 1\nchunk 128k\nhops 1\n"
            f"origin {world.origin.url('')}\n" + "".join(
                f"node {name} http://127.0.0.1:{node.port}\n"
                for name, node in world.mesh.nodes.items()))
        for name in "abc":
            assert world.mesh.status(name) == {
                "id": name, "chunk": 128 << 10, "hops": 1,
                "origins": [world.origin.url("")]}


@pytest.mark.parametrize("words, sentence", [
    (["10.0.0.1:8080"], "needs --origin"),
    (["10.0.0.1:8080", "--origin", "http://o/"], "needs --output"),
    (["--origin", "http://o/", "-o", "m"], "via needs --nginx and nodes"),
    (["10.0.0.1", "--origin", "http://o/", "-o", "m"], "invalid node"),
    (["a b=h:1", "--origin", "http://o/", "-o", "m"], "invalid node"),
    (["h:1", "h:1", "--origin", "http://o/", "-o", "m"], "already"),
    (["a/b=h:1", "--origin", "http://o/", "-o", "m"], "invalid node id"),
    (["h:1", "--origin", "ftp://o/", "-o", "m"], "is no origin"),
    (["h:1", "--origin", "http://o/?x", "-o", "m"], "is no origin"),
    (["h:1", "--origin", "o", "-o", "m"], "--origin takes a URL"),
    (["h:1", "--origin", "http://o/", "--chunk", "1k", "-o", "m"],
     "invalid chunk size '1024'"),
    (["h:1", "--origin", "http://o/", "--chunk", "2g", "-o", "m"],
     "invalid chunk size"),
    (["h:1", "--origin", "http://o/", "--chunk", "x", "-o", "m"],
     "invalid --chunk 'x'"),
    (["h:1", "--origin", "http://o/", "--hops", "3", "-o", "m"],
     "--hops takes 1 or 2"),
    (["h:1", "--origin", "http://o/", "--cache-size", "1m", "-o", "m"],
     "too small"),
    (["h:1", "--origin", "http://o/", "--fill-time", "0", "-o", "m"],
     "invalid --fill-time"),
    (["h:1", "--origin", "http://h:1/", "-o", "m"], "is node h-1"),
    (["a=https://h:1", "--origin", "http://o/", "-o", "m"],
     "no http address"),
    (["--check", "x:1", "--origin", "http://o/", "-o", "m"], "use either --nginx or --check"),
])
def test_what_cannot_be_meant_is_wrong_usage(lab, words, sentence):
    run = via(lab, *words)
    assert run.rc == 2 and sentence in run.err, run.err
    assert not (lab.work / "m" / "NODES").exists()


def test_what_is_there_is_replaced_by_force_alone(lab):
    words = ["a=10.0.0.1:8080", "--origin", "http://o.example/", "-o", "m"]
    assert via(lab, *words).rc == 0
    old = (lab.work / "m" / "a" / "nginx.conf").read_text()
    run = via(lab, *words, "--hops", "1", "--chunk", "1m")
    assert run.rc != 0 and "NODES" in run.err
    assert (lab.work / "m" / "a" / "nginx.conf").read_text() == old
    assert via(lab, *words, "--chunk", "1m", "--force").rc == 0
    assert (lab.work / "m" / "a" / "nginx.conf").read_text() != old


def test_addresses_names_and_ids_are_as_they_are_given(lab):
    run = via(lab, "a=10.0.0.1:8080,a.example:80", "b.example:8080",
              "c=[2001:db8::1]:8080", "--origin", "https://O.Example:443/x",
              "--origin", "https://o.example/y/", "--origin",
              "http://[::1]:81/", "-o", "m", "--quiet")
    assert run.rc == 0 and run.err == ""
    assert (lab.work / "m" / "NODES").read_text() == (
        "xdownload nodes 1\nchunk 256k\nhops 2\n"
        "origin https://o.example/x/\norigin https://o.example/y/\n"
        "origin http://[::1]:81/\n"
        "node a http://10.0.0.1:8080 http://a.example\n"
        "node b.example-8080 http://b.example:8080\n"
        "node c http://[2001:db8::1]:8080\n")
    text = (lab.work / "m" / "b.example-8080" / "nginx.conf").read_text()
    assert "listen 0.0.0.0:8080;" in text
    assert "server 127.0.0.1:8080 backup;" in text
    assert text.count("upstream origin_") == 2
    assert '"~^/https/o[.]example/y/" https://origin_0;' in text
    assert "0:a http://node_0;" in text and "0:b.example" not in text


# ---- via --check ----

TESTS = ["reachable", "agrees", "ranges", "keeps", "versions", "origins",
         "urls", "credentials"]


def check(world, *words, url=None):
    return world.lab.xdownload("via", "--check", "mesh/NODES",
                               url or world.url, *words, report=False)


def failed(run):
    """The tests that failed, of each node of a JSON report that has one."""
    return {n["id"]: names for n in json.loads(run.out)["nodes"]
            if (names := [t for t in TESTS
                          if n["tests"][t]["passed"] is False])}


def test_a_mesh_that_is_well_is_said_to_be(lab):
    with World(lab, n=3) as world:
        for i in 3, 9:
            world.mesh.chunk_of("b", world.url, i, match=world.etag, owner="c")
        world.mesh.chunk_of("a", world.url, 9, match=world.etag)
        run = check(world, "--json")
        assert run.rc == 0 and run.err == ""
        said = json.loads(run.out)
        assert failed(run) == {} and said["sound"] == 3
        assert (said["size"], said["chunks"], said["chunks_asked"],
                said["chunks_held"]) == (SIZE, N, N, 3)
        assert said["etag"] == world.etag
        assert [n["chunks_held"] for n in said["nodes"]] == [2, 2, 2]
        assert [n["id"] for n in said["nodes"]] == list("abc")
        # Node a was asked without a version before, which tells nothing.
        assert [n["tests"]["credentials"]["passed"]
                for n in said["nodes"]] == [None, True, True]
        run = check(world)
        assert run.rc == 0
        lines = run.out.decode().splitlines()
        assert lines[0].split() == ["node", *TESTS, "chunks"]
        assert lines[2].split() == ["b", *["ok"] * 8, "3/16"]
        assert lines[-1] == ("3 of 3 nodes sound; of 1.0 MiB in 16 chunks the "
                             "mesh had 3")
        assert check(world, "--quiet").out == b""
        # Of the file it has fetched the first chunk, and that for the mesh.
        assert set(ranges_of(world.asked())) == {
            "bytes=0-0", *(f"bytes={i * CHUNK}-{(i + 1) * CHUNK - 1}"
                           for i in (0, 3, 9))}


def test_a_node_that_does_not_answer_is_named(lab):
    with World(lab, n=3) as world:
        world.mesh.nodes["b"].kill()
        run = check(world, "--json")
        assert run.rc == 1 and failed(run) == {"b": ["reachable"]}
        node = json.loads(run.out)["nodes"][1]
        assert node["chunks_held"] is None
        assert all(node["tests"][t]["passed"] is None for t in TESTS[1:])
        run = check(world)
        assert run.rc == 1 and "b: reachable: " in run.out.decode()
        assert "2 of 3 nodes sound" in run.out.decode()


@pytest.mark.parametrize("old, new, tests", [
    ('"id": "b"', '"id": "c"', ["agrees"]),
    ('"chunk": 65536', '"chunk": 131072', ["agrees"]),
    ("if ($xd_is_within = 0) { return 416; }", "return 416;",
     ["ranges", "keeps", "versions"]),
    ("proxy_no_cache $xd_drops;", "proxy_no_cache 1;", ["keeps"]),
    ('"$request_uri $http_xd_match $slice_range',
     '"$request_uri $slice_range', ["versions"]),
    ('if ($xd_origin = "") { return 403; }',
     'if ($xd_origin = "") { return 502; }', ["origins"]),
    ("if ($xd_refused) { return 400; }", "", ["urls"]),
    ("proxy_no_cache $xd_drops;", "", ["credentials"]),
])
def test_what_is_wrong_with_a_node_is_found(lab, old, new, tests):
    with World(lab, n=2, hops=1, edit={"b": (old, new)}) as world:
        run = check(world, "--json")
        assert run.rc == 1 and failed(run) == {"b": tests}, run.out
        for test in tests:
            assert f"b: {test}: " in check(world).out.decode() or \
                test == "credentials"  # which can be tested once


def test_what_cannot_be_checked_is_said(lab):
    config = "location /moved { return 302 http://127.0.0.1:1/; }" \
             "location /whole { return 200 x; }"
    with World(lab, config=config, n=1) as world:
        o = world.origin.url
        for url, rc, words in (
                ("http://127.0.0.1:1/f.bin", 2, "at none of its origins"),
                (o("a?token=x"), 2, "no file for this mesh"),
                (o("none"), 1, "HTTP 404"), (o("whole"), 1, "HTTP 200"),
                (o("moved"), 1, "leads elsewhere")):
            run = check(world, url=url)
            assert run.rc == rc and words in run.err, run.err
        (lab.work / "bad").write_text("xdownload nodes 1\nhops 7\n")
        for path, rc, words in (("bad", 3, "bad: line 2: invalid number"),
                                ("none", 5, "none: No such file")):
            run = lab.xdownload("via", "--check", path, world.url,
                                report=False)
            assert run.rc == rc and words in run.err, run.err
        for words in (["--check", "mesh/NODES"], ["--check", world.url, "x"],
                      ["--check", "mesh/NODES", world.url, "--hops", "1"],
                      ["--check", "mesh/NODES", world.url, "-o", "x"], ["x:1"]):
            assert lab.xdownload("via", *words, report=False).rc == 2
