# SPDX-License-Identifier: MIT
"""What a server's header says of its file: how it is called, and when it was
modified."""
import os
import signal
import time

import pytest

from lab import bytes_of, wait_until
from test_options import serve

SIZE = 300_001
DATA = bytes_of(SIZE)
THEN = 1_500_000_000  # Fri, 14 Jul 2017 02:40:00 GMT
DATE = "Fri, 14 Jul 2017 02:40:00 GMT"
EARLIER = "Thu, 13 Jul 2017 02:40:00 GMT"
LATER = "Sat, 15 Jul 2017 02:40:00 GMT"
DAY = 86400


def with_header(*lines, data=DATA):
    """A depot's answer that has these lines too."""
    def answer(head):
        first, rest = serve(head, data).split(b"\r\n", 1)
        return b"\r\n".join([first, *(line.encode() for line in lines), rest])
    return answer


def named(disposition):
    return with_header("Content-Disposition: " + disposition)


def fetch(lab, disposition, *args, path="d/url.bin"):
    depot = lab.odd(named(disposition))
    return lab.xdownload(depot.url(path), "--content-disposition", *args)


def names(lab):
    return sorted(p.name for p in lab.work.iterdir() if p.is_file()
                  and p.suffix not in (".json", ".xml"))


def modified(lab, name):
    return lab.path(name).stat().st_mtime


# ---- its name ----

@pytest.mark.parametrize("disposition, name", [
    ('attachment; filename="its own.bin"', "its own.bin"),
    ("attachment;filename=plain.bin", "plain.bin"),
    ("inline; filename=\"a\\\"b.bin\"", 'a"b.bin'),
    ("attachment; filename=old.bin; filename*=UTF-8''n%C3%A9w.bin", "néw.bin"),
    ("attachment; filename*=ISO-8859-1'en'n%E9w.bin;", "néw.bin"),
    ("attachment; filename*=UTF-16''x; filename=old.bin", "old.bin")])
def test_the_file_is_called_as_its_server_says(lab, disposition, name):
    run = fetch(lab, disposition)
    assert run.rc == 0, run.err
    assert "warning" not in run.err
    assert lab.read(name) == DATA and names(lab) == [name]


@pytest.mark.parametrize("name", [
    "../up.bin", "/etc/up.bin", "a/b.bin", r"a\\b.bin", ".bashrc", "..", "-rf",
    "~root", "a\x1b[2Jb.bin", "a%2fb\x7f.bin", "x.part", "x.part.journal",
    "behind. ", "a" * 256, "\u202etxt.exe"])
def test_a_name_that_is_not_safe_is_not_taken(lab, name):
    run = fetch(lab, f'attachment; filename="{name}"')
    assert run.rc == 0, run.err
    assert names(lab) == ["url.bin"]
    # What is too long for any file system, the transport has dropped.
    assert "no safe name" in run.err or len(name) > 255


@pytest.mark.parametrize("disposition", [
    "attachment", "attachment; filename=", 'attachment; filename=""',
    "attachment; filename=a b.bin", 'attachment; filename="a.bin',
    "attachment; filename=a.bin; filename=b.bin", "filename=a.bin",
    "attachment; filename*=UTF-8''%ff.bin", "attachment; filename*=UTF-8''%4",
    "attachment; filename*=UTF-8''a%00b", "; filename=a.bin"])
def test_a_field_that_gives_no_name_leaves_that_of_the_url(lab, disposition):
    run = fetch(lab, disposition)
    assert run.rc == 0, run.err
    assert names(lab) == ["url.bin"]


def test_without_the_option_no_server_names_a_file(lab):
    run = lab.xdownload(lab.odd(named("attachment; filename=a.bin")).url("u"))
    assert run.rc == 0, run.err
    assert names(lab) == ["u"]


def test_a_url_without_a_name_gets_one(lab):
    run = fetch(lab, "attachment; filename=a.bin", path="d/")
    assert run.rc == 0, run.err
    assert names(lab) == ["a.bin"] and "warning" not in run.err


def test_output_names_the_file_before_its_server_does(lab):
    run = fetch(lab, "attachment; filename=a.bin", "-o", "o.bin")
    assert run.rc == 0, run.err
    assert names(lab) == ["o.bin"]


def test_lines_of_a_list_have_the_names_of_their_servers(lab):
    one, two = (lab.odd(named(f"attachment; filename={n}.bin"))
                for n in ("one", "two"))
    lab.path("list.xml").write_text(
        f"{one.url('u')}\n{two.url('v')}\n  out=mine.bin\n")
    run = lab.xdownload("-i", "list.xml", "--content-disposition")
    assert run.rc == 0, run.err
    assert names(lab) == ["mine.bin", "one.bin"]


def test_urls_of_a_list_that_end_alike_have_the_names_of_their_servers(lab):
    """As those of a program that serves downloads by their number do."""
    one, two, none = (lab.odd(named(d)) for d in (
        "attachment; filename=one.bin", "attachment; filename=two.bin",
        "inline"))
    lab.path("list.xml").write_text(
        f"{one.url('get')}?id=1\n{two.url('get')}?id=2\n{one.url('')}\n"
        "  dir=there\n")
    run = lab.xdownload("-i", "list.xml", "--content-disposition")
    assert run.rc == 0, run.err
    assert names(lab) == ["one.bin", "two.bin"]
    assert lab.read("there/one.bin") == DATA
    lab.path("list.xml").write_text(f"{none.url('')}\n")
    run = lab.xdownload("-i", "list.xml", "--content-disposition")
    assert run.rc == 2 and "does not name the file" in run.err
    assert "out=NAME" in run.err


def test_of_two_files_with_one_name_the_first_stays(lab):
    one = lab.odd(named("attachment; filename=a.bin"))
    two = lab.odd(with_header("Content-Disposition: inline; filename=a.bin",
                              data=DATA[::-1]))
    lab.path("list.xml").write_text(f"{one.url('x')}\n{two.url('y')}\n")
    run = lab.xdownload("-i", "list.xml", "--content-disposition")
    assert run.rc == 5 and "exists already" in run.err
    assert names(lab) == ["a.bin"] and lab.read("a.bin") == DATA


def test_a_name_that_a_server_chose_replaces_no_file(lab):
    lab.path("a.bin").write_bytes(b"mine")
    run = fetch(lab, "attachment; filename=a.bin")
    assert run.rc == 5 and "exists already" in run.err
    for option in ("--force", "--continue"):
        run = fetch(lab, "attachment; filename=a.bin", option)
        assert run.rc == 2 and option in run.err and "--output" in run.err
    assert lab.read("a.bin") == b"mine"


def test_the_last_server_of_a_redirect_names_the_file(lab):
    end = lab.odd(named("attachment; filename=end.bin"))
    depot = lab.odd(lambda head: (
        "HTTP/1.1 302 Found\r\nContent-Disposition: inline; filename=way.bin"
        f"\r\nLocation: {end.url('x')}\r\nContent-Length: 0\r\n\r\n").encode())
    run = lab.xdownload(depot.url("u"), "--content-disposition")
    assert run.rc == 0, run.err
    assert names(lab) == ["end.bin"]


# ---- its time ----

def test_the_file_has_the_time_that_its_server_states(lab):
    data = lab.file("f.bin", SIZE)
    os.utime(lab.www / "f.bin", (THEN, THEN))
    depot = lab.depot()
    run = lab.xdownload(depot.url("f.bin"), "--remote-time")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data and modified(lab, "f.bin") == THEN
    assert "remote-time" not in run.err
    run = lab.xdownload(depot.url("f.bin"), "-o", "now.bin")
    assert run.rc == 0 and modified(lab, "now.bin") > THEN


def test_the_oldest_time_of_those_that_delivered_counts(lab):
    depots = [lab.odd(with_header("Last-Modified: " + d))
              for d in (LATER, EARLIER, DATE)]
    run = lab.xdownload(lab.exnode_of("f.bin", [
        (i * 1000, 1000, d.url("f.bin"), i * 1000, SIZE)
        for i, d in enumerate(depots)]), "--remote-time")
    assert run.rc == 0, run.err
    assert modified(lab, "f.bin") == THEN - DAY


@pytest.mark.parametrize("wait_s", [0, 0.5])
def test_a_depot_of_whose_bytes_none_is_in_the_file_does_not_count(lab, wait_s):
    """It lies, and is found out; also where it alone had delivered the file."""
    lab.file("f.bin", SIZE)
    serve_good = with_header("Last-Modified: " + DATE)

    def answer_late(head):
        time.sleep(wait_s)
        return serve_good(head)
    good = lab.odd(answer_late)
    liar = lab.odd(with_header("Last-Modified: " + EARLIER,
                               data=bytes_of(SIZE, seed=2)))
    run = lab.xdownload(lab.metalink("f.bin", [liar, good]),
                        "--remote-time")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == DATA and modified(lab, "f.bin") == THEN


@pytest.mark.parametrize("line", [
    "X-None: 1", "Last-Modified: yesterday", "Last-Modified: 0",
    "Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_server_that_states_no_time_is_named_as_such(lab, line):
    run = lab.xdownload(lab.odd(with_header(line)).url("f.bin"),
                        "--remote-time")
    assert run.rc == 0, run.err
    assert modified(lab, "f.bin") > THEN + 9 * 365 * DAY
    assert "no depot has said when the file was modified" in run.err


def test_a_file_that_was_gone_on_with_has_its_time(lab):
    size = 4_000_000
    lab.file("f.bin", size)
    os.utime(lab.www / "f.bin", (THEN, THEN))
    slow = lab.depot(rate=1_000_000)
    run = lab.start(slow.url("f.bin"), "--remote-time")
    wait_until(lambda: lab.path("f.bin.part").exists()
               and lab.path("f.bin.part").stat().st_size > size / 4, "a part")
    run.send(signal.SIGINT)
    assert run.wait().rc != 0
    run = lab.xdownload(lab.depot().url("f.bin"), "--remote-time")
    assert run.rc == 0, run.err
    assert modified(lab, "f.bin") == THEN


def test_a_pipe_has_no_time(lab):
    run = lab.xdownload(lab.odd(with_header("Last-Modified: " + DATE)).url("f"),
                        "-o", "-", "--remote-time")
    assert run.rc == 0, run.err
    assert run.out == DATA and "a pipe has no time" in run.err


def test_each_file_of_many_has_its_time(lab):
    for i in range(5):
        lab.file(f"f{i}.bin", 10_000 + i, seed=i)
        os.utime(lab.www / f"f{i}.bin", (THEN + i, THEN + i))
    depot = lab.depot()
    lab.path("list.xml").write_text(
        "".join(depot.url(f"f{i}.bin") + "\n" for i in range(5)))
    run = lab.xdownload("-i", "list.xml", "--remote-time")
    assert run.rc == 0, run.err
    assert [modified(lab, f"f{i}.bin") - THEN for i in range(5)] == [
        0, 1, 2, 3, 4]
