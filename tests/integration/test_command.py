# SPDX-License-Identifier: MIT
"""The command as a person or a script meets it."""
import json
import os
import re
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from lab import ENVIRONMENT, XDOWNLOAD, all_of_terminal, wait_until

SIZE = 1_500_001


# ---- where the bytes go ----

def test_the_file_gets_the_name_in_the_manifest(lab):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(2)))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert not lab.path("f.bin.part").exists()


def test_output_and_directory_say_where(lab):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(2))
    lab.path("folder").mkdir()
    assert lab.xdownload("-d", "folder", manifest).rc == 0
    assert lab.xdownload("-o", "other", manifest).rc == 0
    assert lab.read("folder/f.bin") == lab.read("other") == data
    assert not lab.path("f.bin").exists()


def test_an_existing_file_is_kept_without_force(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    manifest = lab.exnode("f.bin", [depot])
    lab.path("f.bin").write_bytes(b"mine")
    run = lab.xdownload(manifest)
    assert run.rc == 5
    assert "f.bin" in run.err and "--force" in run.err
    assert lab.read("f.bin") == b"mine"
    assert depot.requests() == []
    assert lab.xdownload("--force", manifest).rc == 0
    assert lab.read("f.bin") == data


def test_a_folder_that_is_not_there_is_local_trouble(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("-o", "none/f.bin", lab.exnode("f.bin", lab.depots(1)))
    assert run.rc == 5
    assert "none/f.bin" in run.err


def test_a_full_disk_is_local_trouble(lab):
    lab.file("f.bin", SIZE)
    with open("/dev/full", "wb") as full:
        run = lab.xdownload("-o", "-", lab.exnode("f.bin", lab.depots(1)),
                            stdout=full)
    assert run.rc == 5


def closing(lab, fd, *args):
    """A run that begins with that descriptor closed."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {fd}>&-', "sh", XDOWNLOAD, *args],
        cwd=lab.work, env=ENVIRONMENT, timeout=60, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_a_closed_standard_output_is_local_trouble(lab):
    lab.file("f.bin", SIZE)
    run = closing(lab, 1, "-o", "-", lab.exnode("f.bin", lab.depots(1)))
    assert run.returncode == 5 and run.stderr
    assert closing(lab, 1, "--help").returncode == 5


@pytest.mark.parametrize("fd", [0, 1, 2])
def test_words_do_not_end_in_the_file_when_a_descriptor_is_closed(lab, fd):
    data = lab.file("f.bin", SIZE)
    run = closing(lab, fd, "-v", lab.exnode("f.bin", lab.depots(2)))
    assert run.returncode == 0, run.stderr
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("text, first, last", [
    ("0-0", 0, 0), ("1000-300000", 1000, 300_000),
    ("1400000-", 1_400_000, SIZE - 1), ("-500", SIZE - 500, SIZE - 1),
])
def test_a_range_is_all_that_is_fetched(lab, text, first, last):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    run = lab.xdownload("-r", text, "-o", "part", "-b", "64k", "-a", "basic",
                        lab.exnode("f.bin", depots))
    assert run.rc == 0, run.err
    assert lab.read("part") == data[first:last + 1]
    more = sum(d.bytes_sent() for d in depots) - (last + 1 - first)
    # A request may begin 16 bytes earlier, to compare them.
    assert 0 <= more <= 16 * sum(len(d.requests()) for d in depots)


def test_a_range_of_a_file_of_unknown_size(lab):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload("-r", "70000-99999", "-o", "part",
                        lab.urls("f.bin", lab.depots(2)))
    assert run.rc == 0, run.err
    assert lab.read("part") == data[70_000:100_000]


def test_a_range_past_the_end_fetches_nothing(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    run = lab.xdownload("-r", f"{SIZE}-{SIZE + 5}", "-o", "part",
                        lab.exnode("f.bin", [depot]))
    assert run.rc != 0 and str(SIZE) in run.err
    assert depot.requests() == []


# ---- in order, to a pipe ----

def piped(lab, *args):
    """A running download and the reading end of its output."""
    reading, writing = os.pipe()
    process = lab.start("-o", "-", *args, stdout=writing)
    os.close(writing)
    return process, open(reading, "rb", buffering=0)


def test_a_slow_reader_gets_every_byte_in_order(lab):
    data = lab.file("f.bin", SIZE)
    process, out = piped(lab, "--lookahead", "256k", "-b", "64k",
                         lab.exnode("f.bin", lab.depots(3)))
    got = bytearray()
    with out:
        while part := out.read(50_000):
            got += part
            time.sleep(0.005)
    assert process.wait().rc == 0
    assert got == data


def test_a_reader_that_goes_away_ends_it_quietly_with_141(lab):
    lab.file("f.bin", SIZE)
    process, out = piped(lab, "-b", "64k",
                         lab.exnode("f.bin", lab.depots(2)))
    with out:
        out.read(1000)
    run = process.wait()
    assert run.rc == 141
    assert run.err == ""


def test_a_reader_that_goes_away_is_noticed_while_nothing_comes(lab):
    lab.file("f.bin", SIZE)
    process, out = piped(lab, lab.exnode("f.bin", [lab.silent()]))
    wait_until(lambda: process.threads() > 2, "the workers")
    out.close()
    run = process.wait()
    assert run.rc == 141
    assert run.err == ""


def largest_nameless(pid):
    """The size of the largest file without a name that the process has open."""
    def size(fd):
        try:
            at = fd.stat()
        except OSError:  # closed meanwhile
            return 0
        is_nameless = stat.S_ISREG(at.st_mode) and at.st_nlink == 0
        return at.st_size if is_nameless else 0

    try:
        return max(map(size, Path(f"/proc/{pid}/fd").iterdir()), default=0)
    except OSError:  # it has ended
        return 0


def test_the_spool_of_a_pipe_is_no_longer_than_the_lookahead(lab):
    data = lab.file("f.bin", 8 * SIZE)
    process, out = piped(lab, "--spool", lab.work, "--lookahead", "1m",
                         "-b", "64k", lab.exnode("f.bin", lab.depots(3)))
    got, longest = bytearray(), 0
    with out:
        while part := out.read(1 << 18):
            got += part
            longest = max(longest, largest_nameless(process.pid))
    assert process.wait().rc == 0
    assert got == data
    assert 0 < longest <= 3 << 19  # what is on its way comes to a block or two
    assert not list(lab.work.glob("*.part*"))


def test_only_data_is_on_standard_output(lab):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload("-v", "-o", "-", lab.exnode("f.bin", lab.depots(2)))
    assert run.rc == 0, run.err
    assert run.out == data
    run = lab.xdownload("-v", lab.exnode("f.bin", lab.depots(2)))
    assert run.rc == 0 and run.out == b""


# ---- words ----

def test_quiet_says_nothing_but_errors(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("-q", lab.exnode("f.bin", lab.depots(2)))
    assert (run.rc, run.out, run.err) == (0, b"", "")
    run = lab.xdownload("-q", lab.exnode("f.bin", lab.depots(2)))
    assert (run.rc, run.out, run.err) == (0, b"", "")
    lab.path("f.bin").write_bytes(b"mine")
    run = lab.xdownload("-q", lab.exnode("f.bin", lab.depots(2)))
    assert run.rc == 5 and run.err.count("\n") == 1


def test_quiet_says_of_each_depot_why_it_was_given_up(lab):
    lab.file("f.bin", SIZE)
    lacking = lab.depots(2, files={})
    dead = lab.dead()
    run = lab.xdownload("-q", "--patience", "0s", "--retry", "1", "-t", "1",
                        lab.exnode("f.bin", [*lacking, dead]))
    assert run.rc == 1
    lines = run.err.splitlines()
    # Who failed last may stand in the sentence that the run ended with.
    assert len(lines) in (3, 4)
    for depot in [*lacking, dead]:
        assert f"{depot.url('f.bin')}: " in run.err
    assert run.err.count(": answered 404") == 2


@pytest.mark.parametrize("verbose", [False, True])
def test_of_many_that_brought_nothing_a_few_are_named(lab, verbose):
    lab.file("f.bin", SIZE)
    dead = [lab.dead() for _ in range(12)]
    manifest = lab.exnode("f.bin", [*lab.depots(1, rate=4_000_000), *dead])
    run = lab.xdownload("--retry", "1", *(["-v"] if verbose else []), manifest)
    assert run.rc == 0, run.err
    assert run.err.count("\nfailed: ") == (12 if verbose else 5)
    assert ("\n+7 that failed (-v has them)\n" in run.err) != verbose
    table = run.err.split("\ndepot ")[1]
    assert not any(re.search(rf"(?m)^{d.host} ", table) for d in dead)


@pytest.mark.parametrize("n", [1, 5, 6])
def test_where_all_depots_are_dead_each_has_a_line_and_there_is_no_table(lab,
                                                                         n):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("--retry", "1", "--patience", "0s", lab.exnode(
        "f.bin", [lab.dead() for _ in range(n)]))
    assert run.rc == 1 and "\ndepot " not in run.err
    assert run.err.count("\nfailed: ") == min(n, 5)
    assert ("+1 that failed (-v has them)" in run.err) == (n == 6)


def test_verbose_has_a_line_for_each_request(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    run = lab.xdownload("-v", "-a", "basic", "-b", "256k",
                        lab.exnode("f.bin", depots))
    assert run.rc == 0, run.err
    for depot in depots:
        lines = re.findall(rf"(?m)^{depot.host}\s+(\d+)\s+(\d+)\s", run.err)
        asked = [re.match(r"bytes=(\d+)-(\d+)", r["range"]).groups()
                 for r in depot.requests()]
        said = sorted((int(a), int(a) + int(n) - 1) for a, n in lines)
        asked = sorted((int(a), int(b)) for a, b in asked)
        assert [b for _, b in said] == [b for _, b in asked]
        # It may begin 16 bytes earlier, to compare them.
        assert all(a - b in (0, 16) for (a, _), (b, _) in zip(said, asked))


def test_the_display_on_a_terminal_is_redrawn_in_place(lab):
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=r) for r in (900_000, 300_000)]
    leader, follower = os.openpty()
    process = lab.start(lab.exnode("f.bin", depots), "-b", "64k",
                        stderr=follower)
    os.close(follower)
    text = all_of_terminal(leader)
    run = process.wait()
    assert run.rc == 0
    assert 2 <= text.count("f.bin ") <= 10 * run.seconds + 2
    assert "\x1b[" in text and "%" in text and "/s" in text
    assert all(d.host in text for d in depots)


def test_where_there_is_no_terminal_lines_are_plain(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(2)))
    assert run.rc == 0 and run.err
    assert "\x1b" not in run.err and "\r" not in run.err


def test_a_plain_line_of_progress_comes_every_five_seconds_at_most(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", [lab.depot(rate=1_000_000)]))
    assert run.rc == 0, run.err
    assert len(re.findall("(?m)^f.bin: .* left", run.err)) <= run.seconds / 5


def test_a_depots_words_cannot_steer_the_terminal(lab):
    lab.file("f.bin", SIZE)
    rude = lab.odd(lambda head: b"HTTP/1.1 403 \x1b]0;owned\x07\r\n\r\n")
    run = lab.xdownload("-v", lab.metalink("f.bin", [rude, lab.depot()]))
    assert run.rc == 0, run.err
    assert "\x1b" not in run.err and "\x07" not in run.err


# ---- before anything is fetched ----

def test_a_dry_run_contacts_nobody(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    for form in ("exnode", "metalink", "urls"):
        run = lab.xdownload("--dry-run", getattr(lab, form)("f.bin", depots))
        assert run.rc == 0, run.err
    assert [d.requests() for d in depots] == [[], []]
    assert not lab.path("f.bin").exists()
    assert not lab.path("f.bin.part").exists()


def test_show_prints_what_was_understood(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    manifest = lab.metalink("f.bin", depots)
    run = lab.xdownload("show", manifest, report=False)
    assert run.rc == 0 and "f.bin" in run.out.decode()
    run = lab.xdownload("show", "--json", manifest, report=False)
    assert run.rc == 0, run.err
    [file] = json.loads(run.out)["files"]
    assert (file["name"], file["size"]) == ("f.bin", SIZE)
    [extent] = file["extents"]
    assert (extent["offset"], extent["length"]) == (0, SIZE)
    assert [r["url"] for r in extent["replicas"]] == [
        d.url("f.bin") for d in depots]
    assert [d.requests() for d in depots] == [[], []]


@pytest.mark.parametrize("args", [
    [], ["--no-such-option", "m"], ["-b"], ["-b", "1x", "m"],
    ["-a", "best", "m"], ["-r", "9-3", "m"], ["-t", "17", "m"],
    ["-R", "0", "m"], ["--progress", "loud", "m"],
    ["-a", "basic", "-P", "3", "m"], ["-a", "basic", "-R", "2", "m"],
    ["-a", "aggressive", "-P", "3", "m"],
])
def test_wrong_usage_is_2(lab, args):
    run = lab.xdownload(*args, report=False)
    assert run.rc == 2
    assert run.err and run.out == b""


@pytest.mark.parametrize("args, takers", [
    (["--json", "m"], "show, play, drop, renew, check, via and bench"),
    (["--repair", "m"], "verify"),
    (["show", "--limit-rate", "1m", "m"],
     "get, verify, play, serve, make, put, add, check and bench"),
    (["verify", "--report", "r", "m", "f"], "get, put and add"),
])
def test_an_option_of_another_subcommand_names_those_that_take_it(lab, args,
                                                                  takers):
    run = lab.xdownload(*args, report=False)
    assert run.rc == 2
    assert f"works only with {takers}\n" in run.err


@pytest.mark.parametrize("url", ["sftp://a.example/f", "file:///f",
                                 "htp://a.example/f"])
def test_a_url_that_is_not_fetched_is_no_name_of_a_file(lab, url):
    run = lab.xdownload(url, report=False)
    assert run.rc == 2
    assert f"{url}: only URLs with http, https, ftp and ftps" in run.err


def test_an_option_the_algorithm_does_not_use_names_those_that_do(lab):
    run = lab.xdownload("-a", "basic", "-P", "3", "m", report=False)
    assert "progress" in run.err


@pytest.mark.parametrize("args", [["--version"], ["-V"], ["--help"], ["-h"]])
def test_help_and_version_go_to_standard_output(lab, args):
    run = lab.xdownload(*args, report=False)
    assert run.rc == 0 and run.out and run.err == ""


@pytest.mark.parametrize("text", [
    "", "\0\0", "<exnode", "<metalink xmlns='urn:ietf:params:xml:ns:metalink'/>",
    "no list of addresses\n", "gopher://a.example/x\n",
])
def test_a_manifest_that_cannot_be_understood_is_3(lab, text):
    run = lab.xdownload(lab.write("m", text))
    assert run.rc == 3
    assert len(run.err.splitlines()) >= 1 and "m" in run.err


@pytest.mark.parametrize("name", ["none.xnd", "a.example/f.iso"])
def test_a_manifest_that_is_not_there_is_5(lab, name):
    run = lab.xdownload(name)
    assert run.rc == 5 and name in run.err and "a URL" in run.err


# ---- several files ----

def test_it_goes_on_after_a_failure_and_ends_with_its_status(lab):
    one = lab.file("one.bin", 1000, seed=1)
    lab.file("two.bin", 1000, seed=2)
    three = lab.file("three.bin", 1000, seed=3)
    depots = lab.depots(1)
    broken = lab.write("broken.xnd", "<exnode")
    run = lab.xdownload(lab.exnode("one.bin", depots),
                        lab.exnode("two.bin", [lab.depot(files={})]), broken,
                        lab.exnode("three.bin", depots))
    assert run.rc == 1
    assert lab.read("one.bin") == one and lab.read("three.bin") == three
    assert not lab.path("two.bin").exists()
    outcomes = [r["outcome"] for r in run.reports]
    assert outcomes[:2] == ["complete", "failed"]
    assert outcomes[-1] == "complete"


# ---- the end, before the end ----

@pytest.mark.parametrize("kind", ["slow", "silent"])
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_is_130_and_leaves_what_came(lab, sig, kind):
    """Where nothing came nothing is left, no journal either."""
    lab.file("f.bin", SIZE)
    depots = {"slow": lambda: [lab.depot(rate=100_000), lab.depot(rate=50_000)],
              "silent": lambda: [lab.silent(), lab.silent()]}[kind]()
    process = lab.start(lab.exnode("f.bin", depots), "--silence", "10m")
    part = lab.path("f.bin.part")
    wait_until(lambda: part.exists() and
               (kind == "silent" or part.stat().st_size > 0), "it begins")
    time.sleep(0.3)
    began = time.monotonic()
    process.send(sig)
    run = process.wait()
    assert run.rc == 130
    assert "interrupted" in run.err
    # A second is promised; this only tells a stop from a time-out.
    assert time.monotonic() - began < 10
    assert not lab.path("f.bin").exists()
    assert part.exists() == (kind == "slow")
    assert lab.path("f.bin.part.journal").exists() == (kind == "slow")
    assert ("f.bin.part stays" in run.err) == (kind == "slow")
    assert run.report["outcome"] == "interrupted"


@pytest.mark.parametrize("size", [5000, 3 << 20])
@pytest.mark.parametrize("status", [404, 403, 503])
def test_what_nobody_has_leaves_nothing_behind(lab, status, size):
    """Neither an empty file nor a journal, nor a folder that was made."""
    manifest = lab.metalink_of([("d/e/f.bin", lab.depots(2, status=status),
                                 size)])
    there = os.listdir(lab.work)
    run = lab.xdownload("--retry", "1", "--patience", "0s", manifest)
    assert run.rc == 1, run.err
    assert os.listdir(lab.work) == there


def test_a_refused_start_leaves_nothing_behind(lab):
    """No disk has room for it; and of another file a journal tells."""
    there = lab.metalink_of([("d/f.bin", [lab.dead()], 1 << 60)])
    before = os.listdir(lab.work)
    run = lab.xdownload(there)
    assert run.rc == 5 and re.search(
        r"d/f.bin.part needs 1 EiB, but only .* free on its disk: free some "
        r"space or use --directory", run.err)
    assert os.listdir(lab.work) == before


def test_files_of_one_name_in_two_folders_are_two(lab):
    """The folders are made, within --directory, and the files are told apart:
    on the display, by --file, and in what is written."""
    for folder, seed in ("pa", 1), ("pb", 2):
        (lab.www / folder).mkdir()
        lab.file(f"{folder}/x.txt", SIZE, seed)
    depots = lab.depots(2)
    manifest = lab.metalink_of([("pa/x.txt", depots, None),
                                ("pb/x.txt", depots, None)])
    lab.path("in").mkdir()
    run = lab.xdownload("-d", "in", manifest)
    assert run.rc == 0, run.err
    for name in "pa/x.txt", "pb/x.txt":
        assert lab.read(f"in/{name}") == (lab.www / name).read_bytes()
    assert "2 files: complete" in run.err
    assert [r["file"] for r in run.reports] == [
        "in/pa/x.txt", "in/pb/x.txt", None]

    run = lab.xdownload("--file", "pb/x.txt", manifest)
    assert run.rc == 0 and not lab.path("pa").exists()
    run = lab.xdownload("--file", "x.txt", manifest)
    assert run.rc == 2
    assert "more than one file x.txt, but pa/x.txt, pb/x.txt" in run.err
    lab.write("again.meta4", lab.xdownload(
        "show", "--format", "metalink", manifest, report=False).out.decode())
    lab.path("again").mkdir()
    assert lab.xdownload("-d", "again", "again.meta4").rc == 0
    assert lab.read("again/pa/x.txt") == lab.read("in/pa/x.txt")


def test_a_file_that_is_left_out_is_status_1(lab):
    data = lab.file("f.bin", SIZE)
    url = lab.depot().url("f.bin")
    run = lab.xdownload(lab.write("m.meta4", f"""
        <metalink xmlns="urn:ietf:params:xml:ns:metalink">
        <file name="torrent"><size>5</size></file>
        <file name="f.bin"><url>{url}</url></file></metalink>"""))
    assert run.rc == 1 and lab.read("f.bin") == data
    assert "1 of its 2 files is left out" in run.err
    assert [r["outcome"] for r in run.reports] == ["complete", "failed"]


def test_interrupting_one_file_ends_the_whole_run(lab):
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=50_000)]
    process = lab.start(lab.exnode("f.bin", depots),
                        lab.metalink("f.bin", depots))
    wait_until(lambda: lab.path("f.bin.part").exists(), "it begins")
    process.send(signal.SIGINT)
    assert process.wait().rc == 130


def test_it_does_not_wait_for_the_last_straggler(lab):
    data = lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=20_000), lab.depot(rate=5_000_000)]
    run = lab.xdownload(lab.exnode("f.bin", depots), "-b", "128k",
                        "-a", "aggressive", "--silence", "10m")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert sum(depots[0].throttle.close()) < SIZE / 4


# ---- hostile names ----

def test_a_manifests_name_for_the_file_stays_in_the_folder(lab):
    data = lab.file("f.bin", 1000)
    depot = lab.depot()
    manifest = lab.write("m.meta4", (
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
        '<file name="../../escaped.bin"><size>1000</size>'
        f'<url>{depot.url("f.bin")}</url></file></metalink>'))
    run = lab.xdownload(manifest)
    assert run.rc == 0, run.err
    assert not (lab.folder / "escaped.bin").exists()
    assert lab.read("escaped.bin") == data


def test_a_new_file_may_be_read_as_the_umask_says(lab):
    lab.file("f.bin", 1000)
    old = os.umask(0o027)
    try:
        run = lab.xdownload(lab.exnode("f.bin", lab.depots(1)))
    finally:
        os.umask(old)
    assert run.rc == 0, run.err
    assert stat.S_IMODE(lab.path("f.bin").stat().st_mode) == 0o640


def test_two_runs_at_once_do_not_mix_their_bytes(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2, rate=2_000_000)
    runs = [lab.start(lab.exnode("f.bin", depots), "-b", "64k",
                      "-o", f"out-{i}") for i in range(3)]
    assert [r.wait().rc for r in runs] == [0, 0, 0]
    assert all(lab.read(f"out-{i}") == data for i in range(3))
