# SPDX-License-Identifier: MIT
"""Files as URLs on this machine, while they arrive."""
import contextlib
import http.client
import random
import re
import signal
import socket
import threading
import time
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from lab import PATIENCE, asked_range, wait_until
from served import Served

SIZE = 2_000_000
TOKEN = "a-token_of-our.own"


def named(lab, name, depots):
    """A Metalink that calls f.bin so."""
    text = Path(lab.metalink("f.bin", depots)).read_text()
    return lab.write("manifest.meta4", text.replace(
        'name="f.bin"', f'name={quoteattr(name)}'))


@pytest.fixture(name="film")
def one_file(lab):
    lab.data = lab.file("f.bin", SIZE)
    served = Served(lab, named(lab, "a film.mkv", lab.depots(2)))
    served.url()
    return served


# ---- an ordinary file ----

def test_the_whole_is_there_with_its_length_and_type(lab, film):
    answer, body = film.ask()
    assert answer.status == 200
    assert body == lab.data
    assert int(answer.headers["Content-Length"]) == SIZE
    assert answer.headers["Content-Type"] == "video/x-matroska"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert re.fullmatch(r'"sha-256-[0-9a-f]{64}"', answer.headers["ETag"])


@pytest.mark.parametrize("asked, first, last", [
    ("bytes=0-0", 0, 0), ("bytes=1000000-1999999", 1_000_000, SIZE - 1),
    ("bytes=1999999-", SIZE - 1, SIZE - 1), ("bytes=5-99999999", 5, SIZE - 1),
    ("bytes=-700", SIZE - 700, SIZE - 1), ("bytes=-9999999", 0, SIZE - 1),
    ("bytes=7-18446744073709551615", 7, SIZE - 1),
    ("bytes=7-99999999999999999999999", 7, SIZE - 1)])
def test_a_range_is_that_range(lab, film, asked, first, last):
    answer, body = film.ask(Range=asked)
    assert answer.status == 206
    assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert body == lab.data[first:last + 1]


@pytest.mark.parametrize("asked", [
    "bytes=5-4", "bytes=a-b", "bytes=-", "bytes=0-1,5-6", "lines=0-1",
    "bytes=0-1x", "bytes=", "bytes=+1-2"])
def test_what_is_no_single_range_gets_the_whole(lab, film, asked):
    answer, body = film.ask(Range=asked)
    assert answer.status == 200 and body == lab.data


@pytest.mark.parametrize("asked", ["bytes=2000000-", "bytes=-0",
                                   "bytes=99999999999999999999999-"])
def test_a_range_behind_the_end_is_refused(film, asked):
    answer, _ = film.ask(Range=asked)
    assert answer.status == 416
    assert answer.headers["Content-Range"] == f"bytes */{SIZE}"


def test_a_range_of_a_file_that_has_changed_is_the_whole(lab, film):
    etag = film.ask(method="HEAD")[0].headers["ETag"]
    for if_range, status in [(etag, 206), ('"another"', 200),
                             ("W/" + etag, 200),
                             ("Sat, 21 Nov 2026 06:00:00 GMT", 200)]:
        answer, body = film.ask(Range="bytes=10-19", If_Range=if_range)
        assert answer.status == status, if_range
        assert body == (lab.data[10:20] if status == 206 else lab.data)


def test_head_tells_the_same_and_brings_no_bytes(film):
    answer, body = film.ask(method="HEAD", Range="bytes=0-9")
    assert answer.status == 200 and body == b""
    assert int(answer.headers["Content-Length"]) == SIZE


def test_requests_follow_each_other_on_one_connection(lab, film):
    host, port, path = film.address()
    client = http.client.HTTPConnection(host, port, timeout=60)
    for first in (0, 1_500_000, 700_000):
        client.request("GET", path, headers={"Range":
                                             f"bytes={first}-{first + 99}"})
        assert client.getresponse().read() == lab.data[first:first + 100]
    client.close()


def test_a_header_line_of_a_depot_does_not_end_it(lab):
    """libcurl has one code for a line of more than 100 KiB and for lack of
    memory."""
    data = lab.file("f.bin", 1 << 20)
    hostile = lab.odd(lambda head: b"HTTP/1.1 206 Partial Content\r\nX: "
                      + b"x" * (300 << 10) + b"\r\n\r\n")
    served = Served(lab, lab.metalink("f.bin", [hostile, lab.depot()]))
    for _ in range(3):
        answer, body = served.ask()
        assert answer.status == 200 and body == data
    run, _ = served.end()
    assert run.rc == 130, run.err


def test_a_size_that_only_depots_tell_is_waited_for(lab):
    data = lab.file("f.bin", SIZE)
    served = Served(lab, lab.urls("f.bin", lab.depots(2)))
    answer, body = served.ask()
    assert body == data
    again, _ = served.ask()
    assert answer.headers["ETag"] == again.headers["ETag"]
    assert answer.headers["Content-Type"] == "application/octet-stream"


def test_a_file_without_bytes_is_one(lab):
    lab.file("f.bin", 0)
    served = Served(lab, lab.urls("f.bin", lab.depots(1)))
    answer, body = served.ask()
    assert answer.status == 200 and body == b""
    assert served.ask(Range="bytes=0-")[0].status == 416


def test_what_nobody_can_bring_is_a_bad_gateway(lab):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--patience", "0s", "--retry", "1", "-q",
                    lab.urls("f.bin", [lab.dead()]))
    assert served.ask()[0].status == 502
    wait_until(lambda: " 1/f.bin: no depot" in served.process.err_now(),
               "it is told why")


# ---- many ----

def kept(page):
    """How many bytes the depots of a page brought that counted."""
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    return sum(float(n) * units[unit] for n, unit in
               re.findall(r"/s<td>([\d.]+) (\w+)<td>", page.decode()))


@pytest.mark.parametrize("spool", [[], ["--spool", "none"]])
@pytest.mark.parametrize("algorithm", [
    "adaptive", *(pytest.param(a, marks=pytest.mark.slow)
                  for a in ("basic", "aggressive", "progress"))])
def test_clients_share_what_arrives(lab, algorithm, spool):
    data = lab.file("f.bin", 8 << 20)
    depots = lab.depots(2, rate=8_000_000)
    served = Served(lab, "-a", algorithm, *spool, lab.exnode("f.bin", depots))
    path = served.address()[2]
    # All have asked before one gets far: what it leaves behind is dropped.
    clients = [served.connect(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
                              "Connection: close\r\n\r\n") for _ in range(8)]
    bodies = [None] * 8

    def fetch(i):
        with clients[i].makefile("rb") as answer:
            bodies[i] = answer.read().partition(b"\r\n\r\n")[2]
        clients[i].close()
    threads = [threading.Thread(target=fetch, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(body == data for body in bodies)
    # In memory, what aggressive fetches twice may be there twice.
    most = 2.1 if algorithm == "aggressive" and spool else 1.1
    assert 0.95 * len(data) <= kept(served.ask("/")[1]) <= most * len(data)
    if algorithm == "basic":  # the others may fetch some of it twice
        assert sum(d.bytes_sent() for d in depots) <= 1.1 * len(data)


def read_from(served, first, n):
    """Read n bytes from there on, or what there is, and leave."""
    path = served.address()[2]
    with served.connect(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
                        "Connection: close\r\n"
                        f"Range: bytes={first}-\r\n\r\n") as client:
        room, got = bytearray(1 << 18), 0
        while got < n and (part := client.recv_into(room)):
            got += part
    return got


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("spool, total", [([], 3 << 30),
                                          (["--spool", "none"], 1 << 30)])
def test_memory_does_not_grow_while_gigabytes_are_read(lab, spool, total):
    size = 1 << 30
    with open(lab.www / "f.bin", "wb") as f:
        f.truncate(size)
    served = Served(lab, *spool, lab.exnode("f.bin", lab.depots(4)))
    moved = [read_from(served, 0, size // 2)]

    def jump_about(seed):
        places = random.Random(seed)
        while sum(moved) < total:
            moved.append(read_from(served, places.randrange(size),
                                   places.randrange(64 << 10, 64 << 20)))
    threads = [threading.Thread(target=jump_about, args=(i,))
               for i in range(8)]
    for t in threads:
        t.start()
    most = 0
    while any(t.is_alive() for t in threads):
        most = max(most, served.process.memory())
        time.sleep(0.01)
    assert sum(moved) >= total
    assert most <= (32 + 16) << 20


@pytest.mark.parametrize("spool,most", [("/tmp", 5), ("none", 30)])
def test_clients_at_two_places_share_a_depot_without_ranges(lab, spool, most):
    """It sends all from the start each time it is asked."""
    data = lab.file("f.bin", SIZE)
    depot, = lab.depots(1, ranges=False, rate=8_000_000)
    served = Served(lab, "--lookahead", "256k", "--spool", spool,
                    lab.exnode("f.bin", [depot]))
    served.url()
    got = {}

    def fetch(first):
        got[first] = served.ask(Range=f"bytes={first}-")[1]
    clients = [threading.Thread(target=fetch, args=(first,))
               for first in (0, SIZE // 2)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert all(got[first] == data[first:] for first in (0, SIZE // 2))
    assert len(depot.requests()) <= most


def test_a_lookahead_in_seconds_is_as_much_as_the_rate_says(lab):
    """What lies in sockets was read, so there is to be little room there."""
    lab.file("f.bin", 40 << 20)
    served = Served(lab, "--lookahead", "4s", "--rate", "2MiB/s",
                    lab.metalink("f.bin", [lab.depot()]))
    host, port, path = served.address()
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((host, port))
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    def here():
        m = re.search(rb"([0-9.]+) MiB of 40.0 MiB here", served.ask("/")[1])
        return float(m[1]) if m else 0
    wait_until(lambda: here() >= 6, "six MiB are there")

    def rests():
        before = here()
        time.sleep(0.3)
        return here() == before
    wait_until(rests, "nothing comes any more")
    assert here() < 20  # 32 MiB are the default
    client.close()


def test_a_download_takes_no_lookahead_in_seconds(lab):
    lab.file("f.bin", 1000)
    run = lab.xdownload("--lookahead", "4s", "-o", "-",
                        lab.metalink("f.bin", [lab.depot()]), report=False)
    assert run.rc == 2
    assert "lookahead: seconds are for a source" in run.err


def test_a_client_that_hangs_costs_the_others_nothing(lab, film):
    path = film.address()[2]
    clients = [film.connect(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
               for _ in range(20)]
    clients += [film.connect("GET / HT") for _ in range(20)]
    assert film.ask()[1] == lab.data
    for c in clients:
        c.close()


def test_bytes_that_nobody_confirms_in_time_do_not_end_an_answer(lab):
    """They wait for a second depot, but not for long; those behind them come
    slowly."""
    data = lab.file("f.bin", SIZE)
    depots = [*lab.depots(1, rate=500_000), lab.silent()]
    served = Served(lab, named(lab, "a film.mkv", depots))
    assert served.ask()[1] == data


def test_clients_that_leave_a_silent_depot_are_not_waited_for(lab):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--silence", "1h",
                    lab.exnode("f.bin", [lab.silent()]))
    path = served.address()[2]
    clients = [served.connect(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
               for _ in range(5)]
    for c in clients:  # the head comes at once
        assert c.recv(15) == b"HTTP/1.1 200 OK"
    wait_until(lambda: b"<td>busy" in served.ask("/")[1],
               "the threads that fetch begin")
    busy = served.process.threads()
    for c in clients:
        c.close()
    wait_until(lambda: served.process.threads() <= busy - 5,
               "the threads of clients that left end")


def test_a_client_that_goes_elsewhere_is_asked_for_there_next(lab):
    """Not for what it waited for, nor for what nobody waits for."""
    data = lab.file("f.bin", 8 << 20)
    there, over = 5 << 20, threading.Event()

    def answer(head):
        first, last = asked_range(head)
        if first == 0:
            over.wait(PATIENCE)
        last = len(data) - 1 if last is None else last
        return (f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes "
                f"{first}-{last}/{len(data)}\r\nContent-Length: "
                f"{last + 1 - first}\r\nConnection: close\r\n\r\n"
                .encode() + data[first:last + 1])
    depot = lab.odd(answer)
    served = Served(lab, "--silence", "1h", "-t", "1", "--lookahead", "1m",
                    "--block-size", "64k", lab.exnode("f.bin", [depot]))
    path = served.address()[2]
    client = served.connect(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert client.recv(15) == b"HTTP/1.1 200 OK"
    wait_until(lambda: depot.heads, "it is asked for the start")
    client.close()
    wait_until(lambda: b"<td>idle" in served.ask("/")[1],
               "nobody waits for the start any more")
    body = served.ask(Range=f"bytes={there}-{there + 999}")[1]
    assert body == data[there:there + 1000]
    # 16 bytes before it are compared.
    assert [asked_range(h)[0] for h in depot.heads[:2]] == [0, there - 16]
    over.set()


def test_clients_that_pipeline_and_leave_are_not_waited_for(lab):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--silence", "1h",
                    lab.exnode("f.bin", [lab.silent()]))
    path = served.address()[2]
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    clients = [served.connect(request) for _ in range(5)]
    for c in clients:
        head = b""
        while not head.endswith(b"\r\n\r\n"):  # else it leaves with a reset
            head += c.recv(4096)
        c.sendall(request.encode())
    wait_until(lambda: b"<td>busy" in served.ask("/")[1],
               "the threads that fetch begin")
    busy = served.process.threads()
    for c in clients:
        c.close()
    wait_until(lambda: served.process.threads() <= busy - 5,
               "the threads of clients that left end")


def test_files_of_all_manifests_are_served_each_at_its_url(lab):
    one, two = lab.file("a.mp4", 1000, 1), lab.file("b.mp3", 2000, 2)
    depot = lab.depot()
    served = Served(lab, lab.metalink_of([("a.mp4", [depot], None),
                                          ("b.mp3", [depot], None)]),
                    lab.exnode("a.mp4", [depot]))
    paths = [re.sub(r"http://[^/]+", "", served.url()) for _ in range(3)]
    assert paths == ["/1/a.mp4", "/2/b.mp3", "/3/a.mp4"]
    assert [served.ask(p)[1] for p in paths] == [one, two, one]


# ---- pages ----

def test_the_page_links_the_file_and_tells_how_far_it_is(film):
    film.ask()
    answer, body = film.ask("/")
    assert answer.headers["Content-Type"].startswith("text/html")
    text = body.decode()
    assert '<a href="/1/a%20film.mkv">a film.mkv</a>' in text
    assert "1.9 MiB of 1.9 MiB here" in text
    assert len(re.findall(r"<tr><td>127\.0\.0\.1:\d+<td>", text)) == 2


def test_the_playlist_has_the_urls(film):
    answer, body = film.ask("/playlist.m3u")
    assert answer.headers["Content-Type"] == "audio/x-mpegurl"
    assert body.decode().splitlines()[0] == "#EXTM3U"
    assert film.urls[0] in body.decode().splitlines()


def test_the_playlist_calls_the_server_what_its_client_does(film):
    _, body = film.ask("/playlist.m3u", Host="localhost:1234")
    assert "http://localhost:1234/1/a%20film.mkv" in body.decode().splitlines()


def test_a_name_is_no_html(lab):
    name = "<script>alert(1)&.html"
    lab.file("f.bin", 1000)
    served = Served(lab, named(lab, name, [lab.depot()]))
    body = served.ask("/")[1]
    assert b"<script>" not in body and body.count(b"<script") == 1  # ours
    answer, _ = served.ask(method="HEAD")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


# ---- who may ask, and for what ----

@pytest.mark.parametrize("path", [
    "/1/b.mkv", "/1", "/1/", "/2/a%20film.mkv", "/1/../1/x", "/etc/passwd",
    "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
    "/1/a%20film.mkv/..", "//", "/playlist.m3u8", "/playlist.m3u/"])
def test_paths_outside_of_the_list_are_not_found(film, path):
    assert film.ask(path)[0].status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "TRACE",
                                    "PROPFIND"])
def test_other_methods_are_not_allowed(film, method):
    answer, _ = film.ask(method=method)
    assert answer.status == 405
    assert "GET" in answer.headers["Allow"]


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1",
    "localhost.evil.example", "localhost.", "evillocalhost", ".localhost", "", "[::1", "[evil]", "127.0.0.1:x",
    "127.0.0.1@evil.example", "::1"])
def test_a_foreign_host_is_refused(film, host):
    for path in (None, "/", "/playlist.m3u"):
        assert film.ask(path, Host=host)[0].status == 403


def test_who_is_refused_keeps_no_connection(film):
    """A page that goes by many names would take all that there are."""
    for wrong in {"Host": "evil.example"}, {"Origin": "http://evil.example"}:
        assert film.ask(**wrong)[0].headers["Connection"] == "close"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1",
                                  "127.0.0.1:80", "[::1]:8080",
                                  "fast.localhost:80", "a.b.LocalHost"])
def test_a_host_of_the_loopback_is_answered(film, host):
    assert film.ask(Host=host)[0].status == 200


def test_a_client_without_a_host_is_one_of_http_1_0(film):
    for version, status in [("1.0", b"200"), ("1.1", b"400")]:
        with film.connect(f"GET / HTTP/{version}\r\n\r\n") as client:
            assert client.recv(100).split()[1] == status


@pytest.mark.parametrize("origin", ["http://evil.example", "null",
                                    "http://localhost:1", "https://127.0.0.1"])
def test_a_foreign_origin_is_refused(film, origin):
    answer, body = film.ask(Origin=origin)
    assert answer.status == 403 and len(body) < 100
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site", ""])
def test_a_page_of_another_site_is_refused_without_an_origin_too(film, site):
    """<video src> sends none."""
    for path in None, "/", "/playlist.m3u":
        answer, body = film.ask(path, Sec_Fetch_Site=site)
        assert answer.status == 403 and len(body) < 100
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_of_its_own_and_a_typed_address_are_answered(film, site):
    for path in None, "/", "/playlist.m3u", "/page.js":
        answer, _ = film.ask(path, Sec_Fetch_Site=site)
        assert answer.status == 200
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_its_own_page_may_ask(film):
    host, port, _ = film.address()
    assert film.ask(Origin=f"http://{host}:{port}")[0].status == 200


def test_an_origin_that_is_allowed_may_read(lab):
    lab.file("f.bin", SIZE)
    page = "https://player.example"
    served = Served(lab, "--allow-origin", page,
                    lab.exnode("f.bin", lab.depots(1)))
    answer, body = served.ask(Origin=page, Range="bytes=0-9")
    assert answer.status == 206 and len(body) == 10
    assert answer.headers["Access-Control-Allow-Origin"] == page
    assert served.ask(method="OPTIONS", Origin=page)[0].status == 204
    assert served.ask(Origin="https://evil.example")[0].status == 403
    assert served.ask(Origin=page, Host="evil.example")[0].status == 403
    assert served.ask(Origin=page, Sec_Fetch_Site="cross-site")[0].status == 200
    assert served.ask(Sec_Fetch_Site="cross-site")[0].status == 403


def test_all_origins_may_be_allowed(lab):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--allow-origin", "*",
                    lab.exnode("f.bin", lab.depots(1)))
    answer, body = served.ask(Origin="https://any.example", Range="bytes=0-9")
    assert answer.status == 206 and len(body) == 10
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    answer, _ = served.ask(Sec_Fetch_Site="cross-site")
    assert answer.status == 200
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_more_than_loopback_needs_a_token(lab):
    for where in ("0.0.0.0", "[::]:0", "10.1.2.3:80"):
        run = lab.xdownload("serve", "--listen", where, "f.xnd", report=False)
        assert run.rc == 2
        assert "--token" in run.err


def is_let_in(served):
    try:
        return served.ask(method="HEAD")[0].status == 200
    except ConnectionError:  # it was closed at once
        return False


def test_one_address_of_many_cannot_take_all_connections(lab):
    """Of clients that ask nothing, the first 32 are waited for."""
    lab.file("f.bin", SIZE)
    served = Served(lab, "--listen", "0.0.0.0", "--token", TOKEN,
                    lab.exnode("f.bin", lab.depots(1)))
    host, port, _ = served.address()
    assert host == "0.0.0.0"
    with contextlib.ExitStack() as opened:
        clients = [opened.enter_context(
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            for _ in range(33)]
        with contextlib.suppress(ConnectionError):
            assert clients[-1].recv(1) == b""
        clients[0].setblocking(False)
        with pytest.raises(BlockingIOError):
            clients[0].recv(1)
        clients[0].close()
        wait_until(lambda: is_let_in(served), "another is let in")


def test_without_the_token_nothing_is_found(lab):
    data = lab.file("f.bin", SIZE)
    served = Served(lab, "--token", TOKEN, "--listen", "0.0.0.0",
                    lab.exnode("f.bin", lab.depots(1)))
    assert served.url().endswith(f"/{TOKEN}/1/f.bin")
    assert served.ask()[1] == data
    assert f"/{TOKEN}/1/f.bin" in served.ask(f"/{TOKEN}/")[1].decode()
    for path in ("/", "/1/f.bin", "/playlist.m3u", f"/{TOKEN[:-1]}/",
                 f"/{TOKEN[:-1]}/1/f.bin", f"/{TOKEN}", f"/{TOKEN}x/"):
        assert served.ask(path)[0].status == 404, path
    assert served.ask(Host="evil.example")[0].status == 403
    assert served.ask(Host="10.1.2.3:80")[0].status == 200
    command = Path(f"/proc/{served.process.pid}/cmdline").read_bytes()
    assert TOKEN.encode() not in command


@pytest.mark.parametrize("options", [
    ["--listen", "example.com"], ["--listen", "127.0.0.1:65536"],
    ["--listen", "127.0.0.1:"], ["--listen", "[::1"], ["--listen", ":80"],
    ["--token", "short"], ["--token", "with/a/slash"], ["--range", "0-9"],
    ["--output", "x"]])
def test_what_cannot_be_served_is_refused(lab, options):
    run = lab.xdownload("serve", *options, "f.xnd", report=False)
    assert run.rc == 2


def test_an_address_that_is_taken_is_told(lab, film):
    port = film.address()[1]
    run = lab.xdownload("serve", "--listen", f"127.0.0.1:{port}",
                        lab.exnode("f.bin", [lab.dead()]), report=False)
    assert run.rc == 5
    assert f"127.0.0.1:{port}" in run.err


# ---- its end ----

@pytest.mark.parametrize("sig", [
    signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_it_ends_at_once_while_depots_hang(lab, sig):
    lab.file("f.bin", SIZE)
    silent = [lab.silent() for _ in range(3)]
    served = Served(lab, "--silence", "1h", lab.exnode("f.bin", silent),
                    lab.urls("f.bin", silent))
    first, second = [re.sub("http://[^/]+", "", served.url()) for _ in "12"]
    clients = [served.connect(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
               for path in (first, first, second, "/no/end of a head")]
    assert clients[0].recv(15) == b"HTTP/1.1 200 OK"
    run, seconds = served.end(sig)
    assert run.rc == 130
    assert seconds < 1
    for c in clients:
        c.close()


def test_it_ends_though_a_client_has_said_more_than_it_was_answered(lab):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--silence", "1h",
                    lab.exnode("f.bin", [lab.silent()]))
    path = served.address()[2]
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with served.connect(request) as client:
        assert client.recv(15) == b"HTTP/1.1 200 OK"
        client.sendall(request.encode())
        assert served.end()[0].rc == 130


def test_what_is_kept_is_a_file(lab):
    data = lab.file("f.bin", SIZE)
    served = Served(lab, "--keep", "kept.bin",
                    lab.metalink("f.bin", lab.depots(2)))
    served.ask(Range="bytes=0-9")
    wait_until(lab.path("kept.bin").exists, "the rest is fetched")
    assert served.ask()[1] == data
    served.end()
    assert lab.read("kept.bin") == data


def test_one_name_is_not_enough_for_two_files(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.dead()])
    run = lab.xdownload("serve", "--keep", "x", manifest, manifest,
                        report=False)
    assert run.rc == 2


def test_no_memory_of_it_is_left_on_the_disk(lab, film):
    film.ask()
    assert film.end()[0].rc == 130
    assert [p.name for p in lab.work.iterdir()
            if not p.name.startswith("manifest")] == []


# ---- clients that take their time ----

def trickle(served, request, ended):
    """A byte every two seconds, until the server has enough; `ended` gets for
    how long it had not."""
    began = time.monotonic()
    with contextlib.closing(served.connect(request)) as client, \
            contextlib.suppress(OSError):
        client.settimeout(2)
        while time.monotonic() < began + 60:
            with contextlib.suppress(TimeoutError):
                if not client.recv(1 << 16):
                    break
            client.sendall(b"x")
    ended.append(time.monotonic() - began)


@pytest.mark.slow
def test_a_request_has_thirty_seconds_in_all(film):
    """A byte now and then keeps no place, in the head, in the body, and behind
    an answer; an answer may take longer."""
    _, _, path = film.address()
    first = "GET / HTTP/1.1\r\nHost: localhost\r\n"
    ended = []
    clients = [threading.Thread(target=trickle, args=(film, request, ended))
               for request in ("", "G", first, first + "\r\nGET /",
                               first + "Content-Length: 100\r\n\r\n")]
    for client in clients:
        client.start()
    with contextlib.closing(film.connect(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")) as slow:
        received = len(slow.recv(1000))
        time.sleep(35)
        while received < SIZE:
            received += len(slow.recv(1 << 16))
    for client in clients:
        client.join()
    assert len(ended) == len(clients)
    assert all(25 < seconds < 40 for seconds in ended), ended
    assert film.end()[0].rc == 130
