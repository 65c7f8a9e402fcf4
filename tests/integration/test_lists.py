# SPDX-License-Identifier: MIT
"""Lists of different files, -i."""
import hashlib
import os
import signal
import threading
import time

import pytest

from lab import bytes_of, wait_until
from odd_answers import serve

SIZE = 300_001


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_each_line_is_a_file_and_its_urls_are_copies(lab):
    """With an option that nobody knows, Windows line ends and a manifest among
    them; the files of a manifest go where dir= says."""
    a, b, c = (lab.file(name, SIZE, seed) for seed, name in
               enumerate(["a.iso", "b.iso", "c.iso"], 1))
    first, second = lab.depots(2)
    (lab.www / "m.meta4").write_text(
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="p/x">'
        f"<url>{first.url('c.iso')}</url></file></metalink>")
    lab.path("in").mkdir()
    manifest = lab.write("l.txt", "\r\n".join([
        "# mine", first.url("a.iso"), "  split=5", "",
        f"{first.url('b.iso')}\t{second.url('b.iso')}", "\tout=disk.iso",
        "\tdir=images/old", f"\tchecksum=sha-256={sha256(b)}",
        first.url("m.meta4"), " dir=set", ""]))
    before = lab.path("l.txt").read_bytes()
    run = lab.xdownload("-d", "in", "-i", manifest)
    assert run.rc == 0, run.err
    assert lab.read("in/a.iso") == a
    assert lab.read("in/images/old/disk.iso") == b
    assert lab.read("in/set/p/x") == c
    assert "2 files: complete" in run.err
    assert 'warning: line 3: the option "split"' in run.err
    assert [(r["file"], r["verified"]) for r in run.reports] == [
        ("in/a.iso", None), ("in/images/old/disk.iso", "sha-256"),
        (None, None), ("in/set/p/x", None)]
    assert lab.path("l.txt").read_bytes() == before


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("size", [SIZE, 3_000_000])
def test_a_url_without_a_name_gets_that_of_the_list(lab, n, size):
    data = bytes_of(size)
    depot = lab.odd(lambda head: serve(head, data))
    lab.write("l.txt", "".join(
        f"{depot.url('')}?id={i}\n  out={i}.bin\n  dir=d\n" for i in range(n)))
    run = lab.xdownload("-i", "l.txt")
    assert run.rc == 0, run.err
    for i in range(n):
        assert lab.read(f"d/{i}.bin") == data


def test_small_files_of_a_slow_server_use_every_connection(lab):
    running, most, lock = 0, 0, threading.Lock()

    def answer(head):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1
        return serve(head, b"x" * 600)
    depot = lab.odd(answer)
    lines = "".join(depot.url(f"{i}.bin") + "\n" for i in range(60))
    run = lab.xdownload("-i", lab.write("l.txt", lines))
    assert run.rc == 0, run.err
    assert lab.read("59.bin") == b"x" * 600
    assert len(depot.heads) == 60
    assert most >= 5


def test_it_goes_on_after_a_failure_whose_status_stays(lab):
    good = lab.file("good", SIZE)
    depot = lab.depot()
    run = lab.xdownload("-i", lab.write("l.txt", "\n".join([
        depot.url("good"), " out=one", depot.url("good"), " out=wrong",
        " checksum=sha-1=" + "0" * 40, depot.url("none"),
        depot.url("good"), " out=two"])))
    assert run.rc == 4
    assert lab.read("one") == lab.read("two") == good
    assert not lab.path("wrong").exists() and not lab.path("none").exists()
    assert "l.txt: 2 of 4 lines failed" in run.err
    assert [r["outcome"] for r in run.reports if not r.get("files")] == [
        "complete", "failed", "failed", "complete"]


def test_a_mistake_is_told_before_anything_is_fetched(lab):
    lab.file("a", SIZE)
    depot = lab.depot()
    for last in ["b.iso", depot.url("d/a"), depot.url("b") + "\n out=../b"]:
        lines = f"{depot.url('a')}\n\n{last}\n"
        run = lab.xdownload("-i", lab.write("l.txt", lines))
        assert run.rc == 2
        assert f"l.txt: line {4 if '..' in last else 3}: " in run.err
    assert depot.requests() == []
    assert os.listdir(lab.work) == ["l.txt"]


def test_an_interruption_is_said_once_and_is_no_failure_of_a_line(lab):
    data = lab.file("a", 6_000_000)
    lab.file("b", 6_000_000)
    depot = lab.depot(rate=300_000)
    lab.write("l.txt", f"{depot.url('a')}\n checksum={sha256(data)}\n"
              f"{depot.url('b')}\n")
    process = lab.start("-i", "l.txt")
    wait_until(lambda: lab.path("a.part").exists()
               and lab.path("a.part").stat().st_size, "bytes of the first")
    process.send(signal.SIGINT)
    run = process.wait()
    assert run.rc == 130, run.err
    assert run.err.count("interrupted") == 1 and "failed" not in run.err


def test_a_list_comes_through_standard_input(lab):
    data = lab.file("a", SIZE)
    lab.write("l.txt", lab.depot().url("a"))
    with open(lab.path("l.txt"), "rb") as stdin:
        run = lab.xdownload("-i", "-", stdin=stdin)
    assert run.rc == 0, run.err
    assert lab.read("a") == data


@pytest.mark.parametrize("words, said", [
    (["-i", "l.txt", "http://a/x"], "http://a/x is given beside it"),
    (["-i", "l.txt", "m.meta4"], "m.meta4 is given beside it"),
    (["-i", "l.txt", "-i", "l.txt"], "--input-file is given twice"),
    (["-i", "l.txt", "-o", "x"], "out=NAME in an indented line"),
    (["-i", "l.txt", "-o", "-"], "out=NAME in an indented line"),
    (["-i", "l.txt", "--file", "x"], "use either --input-file or --file"),
    (["-i", "l.txt", "--checksum", "md5=" + "0" * 32],
     "is of one file, and l.txt lists 2"),
    (["-i", "-", "--checksum", "-"], "read once, and is given 2 times"),
    (["-", "--checksum", "-"], "read once, and is given 2 times"),
    (["-", "-"], "read once, and is given 2 times"),
    (["show", "-i", "l.txt"], "--input-file works only with"),
    (["-i"], "--input-file needs a value: --input-file FILE"),
])
def test_what_does_not_go_with_a_list_is_usage(lab, words, said):
    lab.write("l.txt", "http://a/x\nhttp://a/y\n")
    run = lab.xdownload(*words, report=False)
    assert run.rc == 2 and said in run.err, run
    assert os.listdir(lab.work) == ["l.txt"]


def test_a_list_that_cannot_be_read_is_5(lab):
    run = lab.xdownload("-i", "none.txt", report=False)
    assert run.rc == 5 and "none.txt: cannot be opened" in run.err


def test_a_file_of_checksums_is_for_all_lines_and_read_once(lab):
    """A file that it does not name has no checksum, and is not fetched."""
    for seed, name in enumerate("abc", 1):
        lab.file(name, SIZE, seed)
    depot = lab.depot()
    (lab.www / "SHA256SUMS").write_text("".join(
        f"{sha256(bytes_of(SIZE, seed))}  {name}\n"
        for seed, name in enumerate("ab", 1)))
    run = lab.xdownload("--checksum", depot.url("SHA256SUMS"), "-i",
                        lab.write("l.txt", "\n".join(map(depot.url, "abc"))))
    assert run.rc == 3
    assert [r["verified"] for r in run.reports] == \
        3 * ["sha-256"] + [None]
    assert "no MD5, SHA-1 or SHA-2 checksum of c stands there" in run.err
    assert not lab.path("c").exists()
    assert sum(r["uri"] == "/SHA256SUMS" for r in depot.requests()) == 1


def test_a_name_for_a_manifest_of_several_files_is_usage(lab):
    lab.file("x", SIZE)
    depot = lab.depot()
    (lab.www / "m.meta4").write_bytes(open(lab.metalink_of(
        [("x", [depot], None), ("y", [depot], SIZE)]), "rb").read())
    run = lab.xdownload("-i", lab.write("l.txt",
                                        depot.url("m.meta4") + "\n out=z\n"))
    assert run.rc == 2
    assert "describes 2 files, and out=z names one" in run.err


def test_a_dry_run_of_a_list_contacts_nobody(lab):
    depot = lab.depot()
    run = lab.xdownload("--dry-run", "-i", lab.write(
        "l.txt", f"{depot.url('a')}\n dir=d\n{depot.url('b')}\n"))
    assert run.rc == 0 and depot.requests() == []
    assert b"d/a\n" in run.out and b"b\n" in run.out
    assert not lab.path("d").exists()


def test_no_link_is_followed_on_the_way_to_a_listed_file(lab):
    lab.file("a", SIZE)
    (lab.work / "link").symlink_to(lab.folder)
    run = lab.xdownload("-i", lab.write("l.txt", lab.depot().url("a") +
                                        "\n dir=link\n"))
    assert run.rc == 5 and "link: is a symbolic link" in run.err
    assert not (lab.folder / "a").exists()
