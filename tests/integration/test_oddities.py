# SPDX-License-Identifier: MIT
"""Servers and URLs that are odd, and that curl fetches from."""
import hashlib
import itertools
import os
import re
import signal
import time

import pytest

from lab import asked_range, bytes_of, wait_until

SIZE = 2_000_003


def answers(data, fields=None):
    """What a server with `data` says, with more header fields."""
    def answer(head):
        extra = "".join(f"{k}: {v}\r\n" for k, v in (fields or {}).items())
        asked = asked_range(head)
        if not asked:
            return (f"HTTP/1.1 200 OK\r\nConnection: close\r\n{extra}"
                    f"Content-Length: {len(data)}\r\n\r\n").encode() + data
        first, last = asked
        body = data[first:len(data) if last is None else last + 1]
        return (f"HTTP/1.1 206 Partial Content\r\nConnection: close\r\n"
                f"{extra}Content-Length: {len(body)}\r\nContent-Range: bytes "
                f"{first}-{first + len(body) - 1}/{len(data)}\r\n\r\n"
                ).encode() + body
    return answer


# ---- Content-Encoding ----

@pytest.mark.parametrize("encoding", ["none", "binary", "UTF-8", "aws-chunked"])
def test_what_is_no_encoding_is_none(lab, encoding):
    data = lab.file("f.bin", SIZE)
    depot = lab.odd(answers(data, {"Content-Encoding": encoding}))
    run = lab.xdownload(depot.url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
@pytest.mark.parametrize("n", [1, 2])
def test_a_compressed_file_may_be_said_to_be_encoded(lab, encoding, n):
    data = lab.file("f.tar.gz", SIZE)
    depots = [lab.odd(answers(data, {"Content-Encoding": encoding}))
              for _ in range(n)]
    run = lab.xdownload(*(d.url("f.tar.gz") for d in depots))
    assert run.rc == 0, run.err
    assert lab.read("f.tar.gz") == data


def test_a_file_of_no_known_size_must_not_be_encoded(lab):
    data = lab.file("f.tar", SIZE)
    depot = lab.odd(answers(data, {"Content-Encoding": "gzip"}))
    run = lab.xdownload(depot.url("f.tar"))
    assert run.rc == 1
    assert 'in the encoding "gzip"' in run.err
    assert not lab.path("f.tar").exists()


# ---- ranges ----

@pytest.mark.parametrize("how", ["typed", "metalink", "exnode"])
def test_a_hash_decides_what_an_encoding_means(lab, how):
    """Of a name that says nothing; or a size that the manifest has."""
    data = lab.file("f.bin", SIZE)
    depot = lab.odd(answers(data, {"Content-Encoding": "gzip"}))
    words = {"typed": [depot.url("f.bin"), "--checksum",
                       "sha-256=" + hashlib.sha256(data).hexdigest()],
             "metalink": [lab.metalink("f.bin", [depot])],
             "exnode": [lab.exnode("f.bin", [depot])]}[how]
    run = lab.xdownload("-o", "f.bin", *words)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("status", ["400 Bad Request", "403 Forbidden",
                                    "405 Method Not Allowed",
                                    "416 Range Not Satisfiable",
                                    "501 Not Implemented"])
def test_a_server_that_refuses_each_range_gives_the_whole(lab, status):
    data = lab.file("f.bin", SIZE)

    def answer(head):
        if asked_range(head):
            return (f"HTTP/1.1 {status}\r\nConnection: close\r\n"
                    "Content-Length: 0\r\n\r\n").encode()
        return answers(data)(head)
    depot = lab.odd(answer)
    run = lab.xdownload(depot.url("f.bin"), patience=20)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside nginx"])
@pytest.mark.parametrize("kind", ["typed", "listed"])
def test_a_part_that_is_said_to_be_200_is_no_whole(lab, kind, beside):
    """As of programs that set the header of a range, and forget the status."""
    data = lab.file("f.bin", SIZE)
    depot = lab.odd(lambda head: answers(data)(head).replace(
        b"206 Partial Content", b"200 OK"))
    depots = [depot, *([lab.depot()] if beside else [])]
    run = lab.xdownload("-o", "f.bin", *(
        [d.url("f.bin") for d in depots] if kind == "typed"
        else [lab.urls("f.bin", depots)]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


CONTENT_RANGES = {
    "without total": "bytes {first}-{last}/*",
    "without unit": "{first}-{last}/{size}",
    "of another unit": "octets {first}-{last}/{size}",
    "with an equals sign": "bytes={first}-{last}/{size}",
    "in capitals": "BYTES {first}-{last}/{size}",
    "that is none": "all",
    "missing": None,
}


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside nginx"])
@pytest.mark.parametrize("form", CONTENT_RANGES.values(), ids=CONTENT_RANGES)
def test_a_range_may_be_said_oddly(lab, form, beside):
    """Or not at all: then all is asked for without one, as by curl."""
    data = lab.file("f.bin", SIZE)

    def answer(head):
        asked = asked_range(head)
        if not asked:
            return answers(data)(head)
        first, last = asked
        last = min(SIZE - 1, SIZE - 1 if last is None else last)
        line = form and "Content-Range: " + form.format(
            first=first, last=last, size=SIZE) + "\r\n"
        return (f"HTTP/1.1 206 Partial Content\r\nConnection: close\r\n"
                f"{line or ''}Content-Length: {last + 1 - first}\r\n\r\n"
                ).encode() + data[first:last + 1]
    urls = [lab.odd(answer).url("f.bin")]
    if beside:
        urls.append(lab.depot().url("f.bin"))
    run = lab.xdownload(*urls, patience=30)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


WRONG_RANGES = {
    "from the start": lambda first, last: (0, last - first),
    "behind it": lambda first, last: (first + 1, last + 1),
    "longer": lambda first, last: (first, last + 1),
}


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside nginx"])
@pytest.mark.parametrize("wrong", WRONG_RANGES.values(), ids=WRONG_RANGES)
def test_what_answers_with_another_range_is_asked_for_the_whole(lab, wrong,
                                                                beside):
    """As curl, which asks for no range, gets it."""
    data = lab.file("f.bin", SIZE)

    def answer(head):
        asked = asked_range(head)
        if not asked:
            return answers(data)(head)
        first, last = asked
        first, last = wrong(first, SIZE - 2 if last is None else last)
        return (f"HTTP/1.1 206 Partial Content\r\nConnection: close\r\n"
                f"Content-Range: bytes {first}-{last}/{SIZE}\r\n"
                f"Content-Length: {last + 1 - first}\r\n\r\n"
                ).encode() + data[first:last + 1]
    depots = [lab.odd(answer)]
    if beside:
        depots.append(lab.depot())
    for words in ([d.url("f.bin") for d in depots],
                  [lab.exnode("f.bin", depots), "-o", "g.bin"]):
        run = lab.xdownload(*words, patience=30)
        assert run.rc == 0, run.err
    assert lab.read("f.bin") == lab.read("g.bin") == data


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside nginx"])
def test_range_with_a_length_of_one_byte_less_is_asked_for_as_a_whole(lab,
                                                                      beside):
    """gatling: the range is named right, and its last byte is missing."""
    data = lab.file("f.bin", SIZE)

    def answer(head):
        asked = asked_range(head)
        if not asked:
            return answers(data)(head)
        first, last = asked
        last = SIZE - 1 if last is None else min(last, SIZE - 1)
        return (f"HTTP/1.1 206 Partial Content\r\n"
                f"Content-Range: bytes {first}-{last}/{SIZE}\r\n"
                f"Content-Length: {last - first}\r\n\r\n"
                ).encode() + data[first:last]
    urls = [lab.odd(answer).url("f.bin")]
    if beside:
        urls.append(lab.depot().url("f.bin"))
    began = time.monotonic()
    run = lab.xdownload(*urls, patience=30)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert time.monotonic() - began < 15


def test_what_a_server_cannot_do_is_not_asked_of_it_for_a_minute(lab):
    lab.file("f.bin", SIZE)
    depot = lab.odd(lambda head: b"HTTP/1.1 501 Not Implemented\r\n"
                    b"Connection: close\r\nContent-Length: 0\r\n\r\n")
    run = lab.xdownload(lab.exnode("f.bin", [depot]), patience=10)
    assert run.rc == 1
    assert "answered 501" in run.err
    assert len(depot.heads) <= 4  # with a range and without, of two requests


# ---- a load balancer over two files ----

def balancer(lab, files, tags=True):
    """Answers in turn with the one file and the other."""
    turn = itertools.count()

    def answer(head):
        n = next(turn) % len(files)
        fields = {"ETag": f'"{n}"'} if tags else {}
        return answers(files[n], fields)(head)
    return lab.odd(answer)


@pytest.mark.parametrize("sizes", [(SIZE, SIZE), (SIZE, SIZE + 5)])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a dead"])
def test_of_two_files_under_one_url_one_comes_as_with_curl(lab, sizes, beside):
    files = [bytes_of(size, i) for i, size in enumerate(sizes)]
    depot = balancer(lab, files)
    run = lab.xdownload(depot.url("f.bin"), "-o", "f.bin",
                        *([lab.dead().url("f.bin")] if beside else []),
                        "--patience", "1s", patience=30)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") in files
    assert "the whole file is asked for in one request" in run.err
    assert not asked_range(depot.heads[-1])


def test_of_two_files_one_is_taken_from_another_depot_if_there_is_one(lab):
    data = lab.file("f.bin", SIZE)
    depot = balancer(lab, [data, bytes_of(SIZE, 7)])
    run = lab.xdownload(lab.exnode("f.bin", [depot, lab.depot()]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("late", range(6, 18, 2))
def test_a_server_with_another_file_that_answers_late_is_noticed(lab, late):
    """Behind two whose files are the same under two validators."""
    files = [bytes_of(SIZE, 1), bytes_of(SIZE, 2)]
    turn = itertools.count()

    def answer(head):
        n = next(turn)
        k = 2 if n >= late and n % 3 == 0 else n % 2
        return answers(files[k // 2], {"ETag": f'"{k}"'})(head)
    depot = lab.odd(answer)
    run = lab.xdownload(lab.exnode("f.bin", [depot], size=SIZE), "-o", "f.bin",
                        "-a", "basic", "-b", "64k", "-t", "1", patience=30)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") in files


def test_more_files_than_attempts_end_with_what_differs(lab):
    files = [bytes_of(SIZE, 1)] + [bytes_of(SIZE + i, i) for i in range(2, 40)]
    depot = balancer(lab, files)
    run = lab.xdownload(depot.url("f.bin"), "-o", "f.bin", patience=30)
    assert run.rc == 1
    assert str(SIZE) in run.err
    assert not lab.path("f.bin").exists()


# ---- cookies ----

def test_a_cookie_holds_for_the_redirects_of_one_request(lab):
    """As of a server that asks whether cookies are taken."""
    data = lab.file("f.bin", SIZE)

    def answer(head):
        path = head.split(" ")[1]
        cookie = re.search(r"(?mi)^cookie: (.*?)\r?$", head)
        if path == "/f.bin" and cookie:
            return b"HTTP/1.1 400 Left over\r\nConnection: close\r\n\r\n"
        if path == "/f.bin":
            return (b"HTTP/1.1 302 Found\r\nLocation: /taken/f.bin\r\n"
                    b"Set-Cookie: pass=yes; Path=/\r\nConnection: close\r\n"
                    b"Content-Length: 0\r\n\r\n")
        if not cookie or cookie[1] != "pass=yes":
            return b"HTTP/1.1 403 No\r\nConnection: close\r\n\r\n"
        return answers(data)(head)
    depot = lab.odd(answer)
    run = lab.xdownload(depot.url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


# ---- URLs ----

def test_blanks_of_a_url_that_was_typed_are_escaped(lab):
    data = lab.file("a b c.bin", SIZE)
    depot = lab.depot()
    run = lab.xdownload(depot.url("a b c.bin"))
    assert run.rc == 0, run.err
    assert lab.read("a b c.bin") == data


@pytest.mark.parametrize("typed", [" {}", "{} ", "\t{}\r\n"], ids=repr)
def test_blanks_around_a_url_that_was_typed_are_no_part_of_it(lab, typed):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload(typed.format(lab.depot().url("f.bin")))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_host_may_have_a_name_in_any_script(lab):
    """A proxy, which resolves it, is told the name in ASCII."""
    data = lab.file("f.bin", SIZE)
    proxy = lab.odd(answers(data))
    lab.environment["LC_ALL"] = "C.UTF-8"
    run = lab.xdownload("http://b\u00fccher.example/f.bin", "--proxy",
                        f"http://{proxy.host}")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert all("Host: xn--bcher-kva.example\r\n" in h for h in proxy.heads)


# ---- names ----

@pytest.mark.parametrize("given", [True, False])
def test_a_name_may_be_as_long_as_file_systems_allow(lab, given):
    """And what is there of it is gone on with."""
    name = "n" * 251 + ".bin"
    data = lab.file(name, 4 * SIZE)
    slow = lab.depot(rate=2_000_000)
    options = ["-o", name] if given else []
    process = lab.start(slow.url(name), *options)
    wait_until(lambda: slow.bytes_sent() > 0 or
               any(p.stat().st_size > SIZE for p in lab.work.glob("n*.part")),
               "a part of it")
    time.sleep(0.6)
    process.send(signal.SIGTERM)
    assert process.wait().rc == 130
    assert len(list(lab.work.glob("n*.part"))) == 1
    assert len(list(lab.work.glob("n*.part.journal"))) == 1
    fast = lab.depot()
    run = lab.xdownload(slow.url(name), fast.url(name), *options)
    assert run.rc == 0, run.err
    assert lab.read(name) == data
    assert run.report["bytes_received"] < len(data)
    assert os.listdir(lab.work) == [name]
