# SPDX-License-Identifier: MIT
"""Whole downloads from depots of every kind."""
import hashlib
import time

import pytest

from lab import asked_range, bytes_of, wait_until

SIZE = 2_000_003
ALGORITHMS = ["basic", "aggressive", "progress"]


def depot_of(run, depot):
    return next(d for d in run.report["depots"] if d["host"] == depot.host)


# ---- depots that fail ----

@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_silent_depot_does_not_hold_the_file_up(lab, algorithm):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.silent(), *lab.depots(2)])
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k",
                        "--silence", "500ms")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_silent_depot_at_the_head_of_the_line(lab, algorithm):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.silent(), lab.depot()])
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k", "-o", "-",
                        "--lookahead", "256k", "--silence", "500ms")
    assert run.rc == 0, run.err
    assert run.out == data


@pytest.mark.parametrize("algorithm", ["aggressive", "progress"])
def test_redundancy_passes_a_silent_depot_before_its_time_is_up(lab,
                                                                algorithm):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.silent(), lab.depot()])
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k",
                        "--silence", "10m")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_depot_that_falls_silent_midway_is_left(lab, algorithm):
    data = lab.file("f.bin", SIZE)
    falling = lab.depot(rate=10_000_000, stop_after=300_000)
    manifest = lab.exnode("f.bin", [falling, lab.depot(rate=2_000_000)])
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "256k",
                        "--silence", "500ms")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_depot_that_answers_503_is_asked_a_few_times_only(lab):
    data = lab.file("f.bin", SIZE)
    busy = lab.depot(status=503)
    manifest = lab.exnode("f.bin", [busy, lab.depot(rate=1_000_000)])
    run = lab.xdownload(manifest, "-b", "64k", "--retry", "3")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert 1 <= len(busy.requests()) <= 3
    assert "503" in depot_of(run, busy)["error"]


def test_a_depot_that_lacks_the_file_is_not_asked_again(lab):
    data = lab.file("f.bin", SIZE)
    lacking = lab.depot(files={})
    manifest = lab.metalink("f.bin", [lacking, lab.depot(rate=1_000_000)])
    run = lab.xdownload(manifest, "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert len(lacking.requests()) == 1
    assert "404" in depot_of(run, lacking)["error"]


@pytest.mark.slow
def test_when_every_depot_fails_the_first_missing_byte_is_named(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", [lab.dead(), lab.dead()]),
                        "--patience", "0s")
    assert run.rc == 1
    assert "byte 0" in run.err
    assert run.report["outcome"] == "failed" and run.report["error"]
    assert not lab.path("f.bin").exists()


# ---- depots without ranges ----

@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_depot_without_ranges_is_not_needed(lab, algorithm):
    data = lab.file("f.bin", SIZE)
    whole = lab.depot(ranges=False)
    manifest = lab.exnode("f.bin", [whole, *lab.depots(2, rate=2_000_000)])
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    # As many as there may be before the first answer is judged, of 31.
    assert len(whole.requests()) <= 6


@pytest.mark.parametrize("form", ["exnode", "metalink", "urls"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_depot_without_ranges_is_enough(lab, algorithm, form):
    data = lab.file("f.bin", SIZE)
    manifest = getattr(lab, form)("f.bin", [lab.depot(ranges=False)])
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_depot_without_ranges_finishes_what_others_began(lab):
    data = lab.file("f.bin", SIZE)
    dying = lab.depot(rate=10_000_000, stop_after=700_000)
    manifest = lab.exnode("f.bin", [dying, lab.depot(ranges=False)])
    run = lab.xdownload(manifest, "-b", "64k", "--silence", "300ms",
                        "--retry", "2")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


# ---- depots with another file ----

@pytest.mark.parametrize("other_size", [SIZE - 1, SIZE + 1, 10])
def test_a_depot_whose_file_has_another_size_is_dropped_by_name(lab,
                                                                other_size):
    data = lab.file("f.bin", SIZE)
    other = lab.depot(files={"f.bin": bytes_of(other_size, seed=2)})
    runs = []

    # Two honest depots may be done before the other has said a word.
    def honest(head):
        wait_until(lambda: runs and other.host in runs[0].err_now(),
                   "the other depot's answer is judged")
        first, last = asked_range(head)
        return partial(head, first, last, SIZE, data[first:last + 1])

    manifest = lab.metalink("f.bin", [other, lab.odd(honest), lab.odd(honest)])
    runs.append(lab.start(manifest, "-v", "-b", "64k", "--silence", "1m"))
    run = runs[0].wait()
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    found = depot_of(run, other)
    assert found["bytes"] == 0 and other.host in found["error"]
    assert str(SIZE) in found["error"] and str(other_size) in found["error"]


def test_without_a_size_the_one_that_most_depots_report_holds(lab):
    data = lab.file("f.bin", SIZE)
    other = lab.depot(files={"f.bin": bytes_of(SIZE * 2, seed=2)})
    manifest = lab.urls("f.bin", [other, *lab.depots(3)])
    run = lab.xdownload(manifest, "-b", "64k", "--checksum",
                        "sha-256=" + hashlib.sha256(data).hexdigest())
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert depot_of(run, other)["bytes"] == 0


# ---- sizes ----

def test_an_empty_file_is_made_without_a_request(lab):
    lab.file("f.bin", 0)
    depot = lab.depot()
    run = lab.xdownload(lab.metalink("f.bin", [depot]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == b""
    assert depot.requests() == []


def test_an_empty_file_of_unknown_size(lab):
    lab.file("f.bin", 0)
    run = lab.xdownload(lab.urls("f.bin", lab.depots(2)))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == b""


@pytest.mark.parametrize("size", [1, 4096, 65535, 65536, 65537])
def test_small_files(lab, size):
    data = lab.file("f.bin", size)
    for manifest in (lab.urls("f.bin", lab.depots(2)),
                     lab.exnode("f.bin", lab.depots(2))):
        run = lab.xdownload(manifest, "-b", "64k", "--force")
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data


def endless(data):
    """Answers without saying how much will come."""
    return lambda head: (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
                         + data)


def test_where_no_size_can_be_had_one_stream_runs_to_the_end(lab):
    data = bytes_of(SIZE)
    depot = lab.odd(endless(data))
    run = lab.xdownload(depot.url("f.bin"), "-o", "f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert run.report["size"] == SIZE


def test_where_no_depot_can_be_reached_no_size_is_waited_for(lab):
    dead = [lab.dead() for _ in range(2)]
    urls = lab.write("urls.txt", "".join(d.url("f.bin") + "\n" for d in dead))
    run = lab.xdownload("--patience", "1", urls)
    assert run.rc == 1, run
    assert "no depot is left that holds byte 0: 2 failed" in run.err
    assert not lab.path("f.bin").exists()


# ---- depots that answer what was not asked ----

def partial(head, first, last, total, body, extra=""):
    return (f"HTTP/1.1 206 Partial Content\r\nConnection: close\r\n{extra}"
            f"Content-Range: bytes {first}-{last}/{total}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


ODD = {
    "another_start": lambda head, a, b: partial(
        head, a + 1, b, SIZE, bytes(b - a)),
    "another_end": lambda head, a, b: partial(
        head, a, b + 1, SIZE, bytes(b - a + 2)),
    "another_total": lambda head, a, b: partial(
        head, a, b, SIZE + 5, bytes(b - a + 1)),
    "too_little": lambda head, a, b: partial(
        head, a, b, SIZE, bytes_of(SIZE)[a:b + 1])[:-10],
    "no_http": lambda head, a, b: b"220 ftp.example ready\r\n",
    "nothing": lambda head, a, b: b"",
    "a_redirect_to_a_file": lambda head, a, b: (
        b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n"
        b"Content-Length: 0\r\nConnection: close\r\n\r\n"),
}


@pytest.mark.parametrize("what", ODD)
def test_an_answer_that_is_not_what_was_asked_counts_for_nothing(lab, what):
    data = lab.file("f.bin", SIZE)

    def answer(head):
        a, b = asked_range(head) or (0, SIZE - 1)
        return ODD[what](head, a, SIZE - 1 if b is None else b)
    odd = lab.odd(answer)
    good = lab.depot(rate=2_000_000)
    run = lab.xdownload(lab.metalink("f.bin", [odd, good]), "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    if what != "too_little":  # what came of that is right
        assert depot_of(run, odd)["bytes"] == 0
    assert odd.host in depot_of(run, odd)["error"]


def test_a_redirect_is_followed(lab):
    data = lab.file("f.bin", SIZE)
    real = lab.depot()
    moved = lab.depot(
        config=f"location /old {{ return 302 {real.url('f.bin')}; }}")
    run = lab.xdownload(moved.url("old"), "-o", "f.bin", "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_redirect_is_followed_once_and_then_known(lab):
    data = lab.file("f.bin", SIZE)
    target = lab.depot()
    mirror = lab.depot(config=f"location = /f.bin {{ return 302 "
                              f"{target.url('f.bin')}; }}")
    run = lab.xdownload(lab.metalink("f.bin", [mirror]), "-a", "basic",
                        "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert len(mirror.requests()) == 1
    assert len(target.requests()) > 10


def test_where_a_redirect_led_may_be_good_for_a_while_only(lab):
    data = lab.file("f.bin", SIZE)
    passes = []

    def signed(head):
        """A new pass for each redirect; each is good for three requests."""
        path = head.split()[1]
        if "?" not in path:
            passes.append(0)
            return (f"HTTP/1.1 302 Found\r\nLocation: {path}?{len(passes) - 1}"
                    "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    ).encode()
        number = int(path.split("?")[1])
        passes[number] += 1
        if passes[number] > 3:
            return (b"HTTP/1.1 403 Expired\r\nContent-Length: 0\r\n"
                    b"Connection: close\r\n\r\n")
        a, b = asked_range(head)
        return partial(head, a, b, SIZE, data[a:b + 1])
    run = lab.xdownload(lab.metalink("f.bin", [lab.odd(signed)]),
                        "-a", "basic", "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


# ---- replicas of parts ----

def test_partial_replicas_that_only_together_cover_the_file(lab):
    data = lab.file("f.bin", SIZE)
    third = SIZE // 3
    parts = [(0, third), (third - 1000, third + 5000), (2 * third, SIZE)]
    mappings, depots = [], []
    for begin, end in reversed(parts):
        depot = lab.depot(files={"part": b"x" * 77 + data[begin:end]})
        depots.append(depot)
        mappings.append((begin, end - begin, depot.url("part"), 77,
                         77 + end - begin))
    middle = lab.depot(files={"part": data[third:2 * third]})
    mappings.append((third, third, middle.url("part"), 0, third))
    run = lab.xdownload(lab.exnode_of("f.bin", mappings), "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stripes_of_another_width_on_each_depot(lab, algorithm):
    data = lab.file("f.bin", SIZE)
    rows, mappings = [50_001, 128 << 10, 300_000], []
    for width in rows:
        columns = lab.depots(2)
        for i, begin in enumerate(range(0, SIZE, width)):
            length = min(width, SIZE - begin)
            mappings.append((begin, length, columns[i % 2].url("f.bin"),
                             begin, SIZE))
    manifest = lab.exnode_of("f.bin", mappings)
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_hole_is_named_and_nobody_is_asked(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    run = lab.xdownload(lab.exnode_of("f.bin", [
        (0, 1000, depot.url("f.bin"), 0, SIZE),
        (3000, SIZE - 3000, depot.url("f.bin"), 3000, SIZE)]))
    assert run.rc == 3
    assert "1000-2999" in run.err
    assert depot.requests() == []


# ---- very many ----

def test_of_223_depots_at_most_16_are_used_and_as_many_for_slow_ones(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(223, address=lambda i: f"127.0.1.{i + 1}")
    run = lab.xdownload(lab.metalink("f.bin", depots), "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    depots[0].requests()  # once it has the log, the others' lines are there
    used = {r["depot"] for r in depots[0].nginx.entries
            if r["uri"] != "/-/mark"}
    assert 2 <= len(used) <= 32
    assert len(run.report["depots"]) == 223


def test_those_in_reserve_take_over_when_others_drop_out(lab):
    data = lab.file("f.bin", SIZE)
    depots = [lab.dead() for _ in range(40)] + lab.depots(2)
    run = lab.xdownload(lab.metalink("f.bin", depots), "--max-depots", "4",
                        "--retry", "1")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_threads_are_no_more_than_open_depots_and_a_few(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(40, address=lambda i: f"127.0.1.{i + 1}",
                        config="limit_rate 100k; limit_rate_after 1;")
    process = lab.start(lab.metalink("f.bin", depots), "--max-depots", "8",
                        "-t", "2", "-b", "64k")
    most = 0
    while n := process.threads():
        most = max(most, n)
        time.sleep(0.002)
    run = process.wait()
    assert run.rc == 0, run.err
    # The caller, the keeper, the watchdog, the pinger, and one of
    # ThreadSanitizer's own.
    assert 3 <= most <= 8 + 5
