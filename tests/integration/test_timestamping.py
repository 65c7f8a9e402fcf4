# SPDX-License-Identifier: MIT
"""A file that is there while its server has a newer version."""
import contextlib
import email.utils
import hashlib
import os
import random
import re

import pytest

from lab import bytes_of, wait_until
from test_protocols import FtpDepot

SIZE = 3 << 20
BEGUN = 2_500_000  # of these, samples do not show the change
OLD, NEW, NEWEST = 1_500_000_000, 1_600_000_000, 1_700_000_000


def put(lab, data, time, name="f.bin"):
    """Place a version of the file on the depots."""
    path = lab.www / name
    path.write_bytes(data)
    os.utime(path, (time, time))


def set_time(lab, time, name="f.bin"):
    os.utime(lab.path(name), (time, time))


def time_of(lab, name="f.bin"):
    return int(lab.path(name).stat().st_mtime)


def changed(data):
    """Another version that no sample shows to be one."""
    at = len(data) // 3 + 100_000
    return data[:at] + b"abcd" + data[at + 4:]


def fetched_old(lab, size=SIZE):
    """A complete file of which the depots have a new version by now."""
    data = lab.file("f.bin", size)
    put(lab, data, OLD)
    depot = lab.depot()
    run = lab.xdownload("--remote-time", depot.url("f.bin"))
    assert run.rc == 0 and time_of(lab) == OLD
    put(lab, changed(data), NEW)
    return data, changed(data), depot


def no_part(lab):
    return not list(lab.work.glob("*.part*"))


def test_outdated_file_is_kept_and_both_ways_on_are_offered(lab):
    old, new, depot = fetched_old(lab)
    run = lab.xdownload(depot.url("f.bin"))
    assert run.rc == 5, run.err
    assert "is outdated" in run.err
    assert "-N fetches" in run.err and "--force replaces" in run.err
    assert lab.read("f.bin") == old and no_part(lab)
    run = lab.xdownload("--force", depot.url("f.bin"))
    assert run.rc == 0 and lab.read("f.bin") == new


def test_newer_version_replaces_the_file_and_sets_its_time(lab):
    _, new, depot = fetched_old(lab)
    run = lab.xdownload("-N", depot.url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == new and time_of(lab) == NEW and no_part(lab)
    before = depot.bytes_sent()
    run = lab.xdownload("--timestamping", depot.url("f.bin"))
    assert run.rc == 0, run.err
    assert run.report["bytes_received"] == 0
    assert depot.bytes_sent() - before < SIZE
    assert time_of(lab) == NEW


def test_new_file_gets_the_time_of_the_server(lab):
    data = lab.file("f.bin", SIZE)
    put(lab, data, OLD)
    run = lab.xdownload("-N", lab.depot().url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data and time_of(lab) == OLD


def test_old_version_stays_until_the_new_one_is_complete(lab):
    old, new, _ = fetched_old(lab)
    slow = lab.depot(rate=500_000)
    process = lab.start("-N", slow.url("f.bin"))
    part = lab.path("f.bin.part")
    wait_until(lambda: part.exists() and part.stat().st_blocks > 1000,
               "a part of it is fetched")
    assert lab.read("f.bin") == old
    process.kill()
    process.wait()
    assert lab.read("f.bin") == old
    run = lab.xdownload("-N", slow.url("f.bin"))
    assert run.rc == 0, run.err
    assert run.report["bytes_resumed"] > 0
    assert lab.read("f.bin") == new and time_of(lab) == NEW and no_part(lab)


@pytest.mark.parametrize("time", [NEW, NEWEST])
def test_file_that_is_not_older_is_not_fetched(lab, time):
    data = lab.file("f.bin", SIZE)
    put(lab, data, NEW)
    lab.path("f.bin").write_bytes(data)
    set_time(lab, time)
    run = lab.xdownload("-N", lab.depot().url("f.bin"))
    assert run.rc == 0, run.err
    assert "present, not verified" in run.err
    assert run.report["bytes_received"] == 0
    assert time_of(lab) == time


@pytest.mark.parametrize("size", [SIZE, SIZE - 5, SIZE + 5])
def test_file_that_is_newer_and_differs_is_kept(lab, size):
    data = lab.file("f.bin", SIZE)
    put(lab, data, OLD)
    own = bytes_of(size, seed=9)
    lab.path("f.bin").write_bytes(own)
    set_time(lab, NEW)
    run = lab.xdownload("-N", lab.depot().url("f.bin"))
    assert run.rc == 5, run.err
    assert "--force replaces it" in run.err
    assert "-N if it is older" not in run.err
    assert lab.read("f.bin") == own and no_part(lab)


@pytest.mark.parametrize("size", [10, 100_000, SIZE])
def test_version_of_another_size_replaces_an_older_file(lab, size):
    data = lab.file("f.bin", SIZE)
    put(lab, data, NEW)
    lab.path("f.bin").write_bytes(bytes_of(size, seed=9))
    set_time(lab, OLD)
    url = lab.depot().url("f.bin")
    run = lab.xdownload(url)
    assert run.rc == 5 and "-N" in run.err and "--force" in run.err
    run = lab.xdownload("-N", url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data and time_of(lab) == NEW


def test_small_file_is_compared_as_a_whole(lab):
    data = lab.file("f.bin", 100_000)
    put(lab, data, NEW)
    lab.path("f.bin").write_bytes(data)
    set_time(lab, OLD)
    url = lab.depot().url("f.bin")
    run = lab.xdownload(url)
    assert run.rc == 0 and "present" in run.err, run.err
    put(lab, changed(data), NEWEST)
    run = lab.xdownload(url)
    assert run.rc == 5 and "-N" in run.err, run.err
    run = lab.xdownload("-N", url)
    assert run.rc == 0 and lab.read("f.bin") == changed(data)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("more", [0, 7])
def test_small_file_fetched_without_N_is_replaced_by_a_newer_one(lab, n, more):
    """Its own time is that of its download, which is later than any."""
    old = {name: bytes_of(100_000, seed=i) for i, name in enumerate("abc"[:n])}
    for name, data in old.items():
        put(lab, data, OLD, name)
    depot = lab.depot()
    listed = ["-i", lab.write("list", "".join(depot.url(f) + "\n"
                                              for f in old))]
    assert lab.xdownload(*listed).rc == 0
    run = lab.xdownload("-N", *listed)
    assert run.rc == 0 and run.report["bytes_received"] == 0, run.err
    for name, data in old.items():
        put(lab, changed(data) + bytes(more), NEW, name)
    run = lab.xdownload(*listed)
    assert run.rc == 5 and "-N" in run.err, run.err
    run = lab.xdownload("-N", *listed)
    assert run.rc == 0, run.err
    for name, data in old.items():
        assert lab.read(name) == changed(data) + bytes(more)
        assert time_of(lab, name) == NEW


def odd(lab, data, modified, has_length=True):
    """A server that knows no ranges, and may not state the time or the size."""
    time = b"Last-Modified: %b\r\n" % email.utils.formatdate(
        modified, usegmt=True).encode() if modified else b""
    length = b"Content-Length: %d\r\n" % len(data) if has_length else b""
    return lab.odd(lambda _: b"HTTP/1.1 200 OK\r\n%b%bConnection: close\r\n\r\n"
                   b"%b" % (time, length, data)).url("f.bin")


@pytest.mark.parametrize("has_length", [True, False])
def test_without_a_time_the_file_is_fetched(lab, has_length):
    old = bytes_of(SIZE)
    lab.path("f.bin").write_bytes(old)
    run = lab.xdownload("-N", odd(lab, changed(old), None, has_length))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == changed(old)


def test_version_of_unknown_size_is_fetched_if_it_is_newer(lab):
    old = bytes_of(SIZE)
    lab.path("f.bin").write_bytes(old)
    set_time(lab, OLD)
    run = lab.xdownload("-N", odd(lab, changed(old), NEW, False))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == changed(old) and time_of(lab) == NEW


def test_where_no_server_can_be_asked_the_file_is_kept(lab):
    old, _, _ = fetched_old(lab)
    manifest = lab.exnode("f.bin", [lab.dead()], size=SIZE)
    run = lab.xdownload("-N", "--retry", "1", manifest)
    assert run.rc == 1, run.err
    assert lab.read("f.bin") == old and no_part(lab)


def checksum(data):
    return "sha-256=" + hashlib.sha256(data).hexdigest()


def test_checksum_says_more_than_the_time(lab):
    old, new, depot = fetched_old(lab)
    url = depot.url("f.bin")
    before = time_of(lab)
    run = lab.xdownload("-N", "--checksum", checksum(old), url)
    assert run.rc == 0 and "already complete" in run.err, run.err
    run = lab.xdownload("--checksum", checksum(new), url)
    assert run.rc == 5 and "-N" in run.err, run.err
    assert lab.read("f.bin") == old and time_of(lab) == before
    run = lab.xdownload("-N", "--checksum", checksum(new), url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == new and time_of(lab) == NEW


def test_version_that_fails_its_checksum_replaces_nothing(lab):
    old, _, depot = fetched_old(lab)
    run = lab.xdownload("-N", "--checksum", checksum(b"other"),
                        depot.url("f.bin"))
    assert run.rc == 4, run.err
    assert lab.read("f.bin") == old


def test_manifest_of_several_files_replaces_those_that_are_older(lab):
    old = {name: bytes_of(2 << 20, seed=i) for i, name in enumerate("abc")}
    new = {name: changed(data) for name, data in old.items()}
    for name in old:
        put(lab, new[name], NEW, name)
        lab.path(name).write_bytes(old[name])
        set_time(lab, OLD, name)
    lab.path("a").unlink()
    set_time(lab, NEWEST, "c")
    depot = lab.depot()
    text = "".join(depot.url(name) + "\n" for name in old)
    run = lab.xdownload("-N", "-i", lab.write("list", text))
    assert run.rc == 0, run.err
    assert lab.read("a") == new["a"] and lab.read("b") == new["b"]
    assert lab.read("c") == old["c"]
    assert time_of(lab, "a") == time_of(lab, "b") == NEW


def test_small_files_of_a_list_are_replaced_if_they_are_older(lab):
    old = {name: bytes_of(5000, seed=i) for i, name in enumerate("abcd")}
    for name, data in old.items():
        put(lab, data[:-1] + b"x", NEW, name)
        lab.path(name).write_bytes(data)
        set_time(lab, OLD, name)
    depot = lab.depot()
    listed = lab.write("list", "".join(depot.url(n) + "\n" for n in old))
    run = lab.xdownload("-i", listed)
    assert run.rc == 5 and run.err.count("-N") == 4, run.err
    assert all(lab.read(name) == data for name, data in old.items())
    run = lab.xdownload("-N", "-i", listed)
    assert run.rc == 0, run.err
    assert all(lab.read(n) == data[:-1] + b"x" for n, data in old.items())
    assert all(time_of(lab, name) == NEW for name in old)


def test_continue_does_not_go_on_with_an_older_version(lab):
    old, new, depot = fetched_old(lab)
    lab.path("f.bin").write_bytes(old[:BEGUN])
    set_time(lab, OLD)
    run = lab.xdownload("-c", depot.url("f.bin"))
    assert run.rc == 5 and "is outdated" in run.err, run.err
    assert lab.read("f.bin") == old[:BEGUN] and no_part(lab)
    run = lab.xdownload("-c", "-N", depot.url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == new


# ---- another version of the same time, or an older one ----

def tagged(lab):
    """A server whose file, ETag and time a test changes: `data`, `tag`, `time`."""
    def answer(request):
        begin, end, status = 0, len(depot.data), b"200 OK"
        asked = re.search(r"(?i)range: bytes=(\d+)-(\d*)", request)
        more = b""
        if asked:
            begin = int(asked[1])
            end = min(int(asked[2]) + 1, end) if asked[2] else end
            status = b"206 Partial Content"
            more = b"Content-Range: bytes %d-%d/%d\r\n" % (
                begin, end - 1, len(depot.data))
        tag = depot.tag() if callable(depot.tag) else depot.tag
        if tag:
            more += b"ETag: %b\r\n" % tag
        body = depot.data[begin:end]
        return (b"HTTP/1.1 %b\r\n%bLast-Modified: %b\r\nDate: %b\r\n"
                b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (
                    status, more,
                    email.utils.formatdate(depot.time, usegmt=True).encode(),
                    email.utils.formatdate(usegmt=True).encode(),
                    len(body), body))

    depot = lab.odd(answer)
    depot.data, depot.tag, depot.time = bytes_of(SIZE), b'"a"', OLD
    return depot


@pytest.mark.parametrize("tag, other_tag, time, options", [
    (b'"a"', b'"b"', OLD, []),
    (b'"a"', b'"b"', OLD - 1000, []),
    (b'"a"', b'"b"', OLD - 1000, ["--remote-time"]),
    (None, None, OLD - 1000, []),
    (None, None, OLD - 1000, ["--remote-time"]),
], ids=["tag", "tag-older", "tag-remote-time", "older", "older-remote-time"])
def test_other_version_with_no_later_time_is_outdated(lab, tag, other_tag,
                                                      time, options):
    depot = tagged(lab)
    depot.tag = tag
    url = depot.url("f.bin")
    old, new = depot.data, changed(depot.data)
    assert lab.xdownload(*options, url).rc == 0
    depot.data, depot.tag, depot.time = new, other_tag, time
    run = lab.xdownload(*options, url)
    assert run.rc == 5, run.err
    assert "is outdated" in run.err and "-N" in run.err
    assert lab.read("f.bin") == old and no_part(lab)
    run = lab.xdownload("-N", url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == new and time_of(lab) == time
    run = lab.xdownload("-N", url)
    assert run.rc == 0 and run.report["bytes_received"] == 0, run.err


def test_same_version_is_present_and_is_compared_all_the_same(lab):
    depot = tagged(lab)
    url = depot.url("f.bin")
    assert lab.xdownload(url).rc == 0
    run = lab.xdownload(url)
    assert run.rc == 0 and "samples compared" in run.err, run.err
    data = depot.data
    depot.data = bytes_of(SIZE, seed=9)
    run = lab.xdownload(url)
    assert run.rc == 5 and "differs" in run.err, run.err
    assert lab.read("f.bin") == data


def test_note_does_not_outlive_a_change_of_the_file(lab):
    depot = tagged(lab)
    url = depot.url("f.bin")
    assert lab.xdownload(url).rc == 0
    depot.data, depot.tag = changed(depot.data), b'"b"'
    lab.path("f.bin").write_bytes(depot.data)
    run = lab.xdownload(url)
    assert run.rc == 0 and "present" in run.err, run.err


def test_note_does_not_say_where_the_file_comes_from(lab):
    depot = tagged(lab)
    assert lab.xdownload(depot.url("f.bin")).rc == 0
    note = os.getxattr(lab.path("f.bin"), "user.xdownload.version")
    assert b'"a"' in note
    assert b"f.bin" not in note and b"127.0.0.1" not in note


def test_server_whose_tags_vary_is_not_newer(lab):
    depot = tagged(lab)
    url = depot.url("f.bin")
    assert lab.xdownload(url).rc == 0
    depot.tag = lambda: b'"%d"' % random.getrandbits(60)
    run = lab.xdownload(url)
    assert run.rc == 0 and "present" in run.err, run.err


def test_one_mirror_with_another_version_makes_the_file_outdated(lab):
    data = bytes_of(SIZE)
    both = [tagged(lab), tagged(lab)]
    for depot in both:
        depot.data = data
    urls = [depot.url("f.bin") for depot in both]
    assert lab.xdownload("-b", "256k", *urls).rc == 0
    both[0].tag = both[1].tag = b'"b"'
    run = lab.xdownload(*urls)
    assert run.rc == 5 and "is outdated" in run.err, run.err
    for i in 0, 1:
        both[i].tag, both[1 - i].tag = b'"a"', b'"b"'
        run = lab.xdownload(*urls)
        assert run.rc == 5 and "is outdated" in run.err, run.err
    both[0].tag = both[1].tag = b'"a"'
    run = lab.xdownload(*urls)
    assert run.rc == 0 and "present" in run.err, run.err


@pytest.mark.parametrize("newer", [0, 1])
def test_one_mirror_with_a_newer_version_makes_the_file_outdated(lab, newer):
    data = lab.file("f.bin", SIZE)
    put(lab, data, OLD)
    lab.path("f.bin").write_bytes(data)
    set_time(lab, OLD)
    both = [lab.depot(), tagged(lab)]
    both[1].data, both[1].time = changed(data), NEW
    urls = [both[newer].url("f.bin"), both[1 - newer].url("f.bin")]
    run = lab.xdownload(*urls)
    assert run.rc == 5 and "is outdated" in run.err, run.err
    assert lab.read("f.bin") == data


def test_mirror_that_copied_the_file_later_is_not_newer(lab):
    data = bytes_of(SIZE)
    both = [tagged(lab), tagged(lab)]
    both[0].data = both[1].data = data
    both[1].time = NEW
    urls = [depot.url("f.bin") for depot in both]
    assert lab.xdownload("-N", "-b", "256k", *urls).rc == 0
    assert time_of(lab) == OLD
    run = lab.xdownload("-N", *urls)
    assert run.rc == 0 and run.report["bytes_received"] == 0, run.err


def test_files_of_a_manifest_are_outdated_too(lab):
    data = bytes_of(2 << 20)
    depot = tagged(lab)
    depot.data = data
    names = ["a", "b", "c"]
    files = "".join(
        f'<file name="{n}"><size>{len(data)}</size>'
        f'<url>{depot.url(n)}</url></file>' for n in names)
    manifest = lab.write("m.meta4", '<metalink xmlns="urn:ietf:params:xml:ns:'
                         f'metalink">{files}</metalink>')
    assert lab.xdownload(manifest).rc == 0
    assert lab.xdownload(manifest).rc == 0
    depot.data, depot.tag = changed(data), b'"b"'
    run = lab.xdownload(manifest)
    assert run.rc == 5 and run.err.count("is outdated") == 3, run.err
    assert all(lab.read(name) == data for name in names)
    run = lab.xdownload("-N", manifest)
    assert run.rc == 0, run.err
    assert all(lab.read(name) == depot.data for name in names)


# ---- FTP ----

@pytest.fixture
def ftp(lab):
    """Makes an FTP depot of the common files."""
    with contextlib.ExitStack() as made:
        yield lambda *refuse: made.enter_context(
            contextlib.closing(FtpDepot(lab.www, *refuse)))


def test_ftp_file_is_fetched_only_if_it_is_newer(lab, ftp):
    data = lab.file("f.bin", SIZE)
    put(lab, data, OLD)
    url = ftp().url("f.bin")
    run = lab.xdownload("-N", url)
    assert run.rc == 0 and time_of(lab) == OLD, run.err
    run = lab.xdownload("-N", url)
    assert run.rc == 0 and run.report["bytes_received"] == 0, run.err
    put(lab, changed(data), NEW)
    run = lab.xdownload(url)
    assert run.rc == 5 and "is outdated" in run.err, run.err
    assert lab.read("f.bin") == data
    run = lab.xdownload("-N", url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == changed(data) and time_of(lab) == NEW


@pytest.mark.parametrize("reply", ["500 what?", "502 no.", "550 no.",
                                   "213 yesterday", "213 20261399999999"])
def test_ftp_server_without_times_is_fetched_from_again(lab, ftp, reply):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(data)
    run = lab.xdownload("-N", ftp({"MDTM": reply}).url("f.bin"))
    assert run.rc == 0, run.err
    assert run.report["bytes_received"] == SIZE
    assert lab.read("f.bin") == data


def test_server_must_not_choose_which_file_is_replaced(lab):
    run = lab.xdownload("-N", "--content-disposition",
                        lab.depot().url("f.bin"), report=False)
    assert run.rc == 2 and "--timestamping" in run.err
