# SPDX-License-Identifier: MIT
"""The answer to the first request for a typed URL, which tells what it leads to,
is the beginning of the file (lib/engine/begun.h)."""
import base64
import hashlib
import re
import time

import pytest

from lab import asked_range, wait_until

MEBIBYTE = 1 << 20
NAME = "film.bin"


def ranges(depot):
    return [r["range"] for r in depot.requests()]


def begins(depot):
    """How often the first byte of the file was asked for."""
    return sum(r in ("", "-") or r.startswith("bytes=0-") for r in ranges(depot))


@pytest.mark.parametrize("size", [100, 70_000, MEBIBYTE - 1, MEBIBYTE])
def test_a_short_file_is_one_request(lab, size):
    data = lab.file(NAME, size)
    depot = lab.depot()
    run = lab.xdownload(depot.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert ranges(depot) == ["bytes=0-1048575"]


@pytest.mark.parametrize("scheme", ["http", "https", "http2"])
def test_of_a_longer_file_it_is_the_beginning(lab, scheme):
    data = lab.file(NAME, 30_000_000)
    certificate = None if scheme == "http" else lab.certificate()
    depot = lab.depot(certificate=certificate, http2=scheme == "http2")
    run = lab.xdownload(depot.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert begins(depot) == 1
    assert depot.bytes_sent() <= 1.02 * len(data)
    # It has ended by itself: its connection is used again.
    first = depot.requests()[0]["connection"]
    assert sum(r["connection"] == first for r in depot.requests()) > 1


def test_what_its_head_says_holds_for_its_bytes(lab):
    """Digest and mirrors come with the first bytes, which count."""
    data = lab.file(NAME, 5_000_000)
    mirror = lab.depot()
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    config = (f"add_header Repr-Digest 'sha-256=:{digest}:';"
              f"add_header Link '<{mirror.url(NAME)}>; rel=duplicate';")
    typed = lab.depot(config=config)
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert "matches the server's digest" in run.err
    assert "bytes=0-1048575" in ranges(typed)
    assert begins(typed) == 1 and begins(mirror) == 0
    assert mirror.bytes_sent() > 0
    wrong = lab.depot(files={NAME: bytes(5_000_000)},
                      config=config.replace(mirror.url(NAME), f"/{NAME}"))
    run = lab.xdownload(wrong.url(NAME), "-o", "wrong")
    assert run.rc == 4 and not lab.path("wrong").exists(), run.err


def test_the_report_says_what_the_first_byte_took(lab):
    def answer(head):
        time.sleep(0.3)
        return (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 7\r\n"
                b"Content-Range: bytes 0-6/7\r\n\r\n1234567")
    depot = lab.odd(answer)
    run = lab.xdownload(depot.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == b"1234567", run.err
    assert len(depot.heads) == 1
    assert 0.3 <= run.report["depots"][0]["time_to_first_byte"] < 2


@pytest.mark.parametrize("words", [
    ("--algorithm", "basic", "--block-size", "300k"),
    ("--algorithm", "progress", "--block-size", "2m", "-t", "3"),
    ("-t", "1"), ("-t", "16"), ("--limit-rate", "4m"), ("--range", "0-99999"),
    ("--range", "0-1999999"), ("--checksum", None), ("-o", "-")], ids=str)
def test_whatever_is_asked_for_it_is_right(lab, words):
    data = lab.file(NAME, 3_000_000)
    depot = lab.depot()
    if words[0] == "--checksum":
        words = ("--checksum", hashlib.sha256(data).hexdigest())
    run = lab.xdownload(*words, depot.url(NAME))
    assert run.rc == 0, run.err
    if words[0] == "--range":
        data = data[:int(words[1][2:]) + 1]
    got = run.out if words[0] == "-o" else lab.read(NAME)
    assert got == data


def test_what_begins_elsewhere_does_without_it(lab):
    data = lab.file(NAME, 3_000_000)
    depot = lab.depot()
    run = lab.xdownload("--range", "2000000-", depot.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data[2_000_000:], run.err
    assert begins(depot) == 1
    assert run.report["depots"][0]["failures"] == 0


def test_a_part_that_is_there_is_not_fetched_again(lab):
    data = lab.file(NAME, 30_000_000)
    slow = lab.depot(rate=10_000_000)
    process = lab.start(slow.url(NAME))
    part = lab.path(NAME + ".part")
    wait_until(lambda: part.exists() and part.stat().st_blocks > 20_000,
               "a part of it is there")
    process.send(9)
    process.wait()
    before = slow.bytes_sent()
    run = lab.xdownload(slow.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert slow.bytes_sent() - before < 25_000_000


@pytest.mark.parametrize("status", [403, 416, 501])
def test_a_server_that_refuses_a_part_is_asked_for_the_whole(lab, status):
    data = b"0123456789" * 5000

    def answer(head):
        if re.search(r"(?mi)^range:", head):
            return (f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n"
                    "Connection: close\r\n\r\n").encode()
        return (f"HTTP/1.1 200 OK\r\nContent-Length: {len(data)}\r\n"
                "Connection: close\r\n\r\n").encode() + data
    run = lab.xdownload(lab.odd(answer).url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err


@pytest.mark.parametrize("output", [NAME, "-"], ids=["file", "pipe"])
@pytest.mark.parametrize("size", [70_000, MEBIBYTE, 3_000_000])
def test_a_file_of_a_server_without_ranges_is_one_request(lab, size, output):
    data = lab.file(NAME, size)
    depot = lab.depot(ranges=False)
    run = lab.xdownload(depot.url(NAME), "-o", output)
    assert run.rc == 0, run.err
    assert (lab.read(NAME) if output == NAME else run.out) == data
    assert ranges(depot) == ["bytes=0-1048575"]


def test_an_empty_file_is_one(lab):
    lab.file(NAME, 0)
    run = lab.xdownload(lab.depot().url(NAME))
    assert run.rc == 0 and lab.read(NAME) == b"", run.err


def test_a_manifest_that_is_longer_is_read_whole(lab):
    data = lab.file(NAME, 100_000)
    depot = lab.depot()
    manifest = lab.path(lab.metalink(NAME, [depot])).read_text()
    for size in MEBIBYTE, MEBIBYTE + 1, 3 * MEBIBYTE:
        text = manifest.replace("<file", "<!--" + "x" * (
            size - len(manifest) - 7) + "--><file", 1)
        assert len(text) == size
        holder = lab.depot(files={"m.meta4": text.encode()})
        run = lab.xdownload(holder.url("m.meta4"), "-o", f"out-{size}")
        assert run.rc == 0 and lab.read(f"out-{size}") == data, run.err


def test_a_server_that_hangs_up_meanwhile_is_asked_again(lab):
    data = lab.file(NAME, 400_000)
    heads = []

    def answer(head):
        heads.append(head)
        m = re.search(r"(?mi)^range: bytes=(\d+)-(\d+)", head)
        first, last = int(m[1]), min(int(m[2]), len(data) - 1)
        body = data[first:last + 1]
        if len(heads) == 1:
            body = body[:5000]
        return (f"HTTP/1.1 206 Partial Content\r\nContent-Length: "
                f"{last + 1 - first}\r\nContent-Range: bytes {first}-{last}/"
                f"{len(data)}\r\n\r\n").encode() + body
    run = lab.xdownload(lab.odd(answer).url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert len(heads) > 1


@pytest.mark.parametrize("next_one", ["closes", "resets"])
def test_a_server_that_takes_one_request_of_a_connection_does_not_fail(
        lab, next_one):
    data = lab.file(NAME, 5_000_000)

    def answer(head):
        first, last = asked_range(head)
        last = min(last, len(data) - 1)
        return (f"HTTP/1.1 206 Partial Content\r\nContent-Length: "
                f"{last + 1 - first}\r\nContent-Range: bytes {first}-{last}/"
                f"{len(data)}\r\n\r\n").encode() + data[first:last + 1]
    server = lab.odd(answer, next_one=next_one)
    run = lab.xdownload(server.url(NAME), "-t", "1", "--retry", "1")
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert [d["failures"] for d in run.report["depots"]] == [0], run.err


def test_a_redirect_is_followed_once(lab):
    data = lab.file(NAME, 2_000_000)
    depot = lab.depot()
    typed = lab.odd(lambda head: (
        f"HTTP/1.1 302 Found\r\nLocation: {depot.url(NAME)}\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n").encode())
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert begins(depot) == 1
