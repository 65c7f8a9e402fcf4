# SPDX-License-Identifier: MIT
"""What was fetched once is not fetched again, whatever ended the run."""
import filecmp
import hashlib
import os
import random
import signal
import struct
import subprocess
import time
import zlib

import pytest

from lab import bytes_of, wait_until

MIB = 1 << 20
SIZE = 6 * MIB
SLOW = bool(os.environ.get("XD_SLOW"))


# ---- the journal, as its README describes it ----

HEADER, SESSION, WRITTEN, DROPPED, SYNCED, VALIDATOR = range(1, 7)


def record(kind, body):
    text = struct.pack("<HH", kind, len(body)) + body
    return text + struct.pack("<I", zlib.crc32(text))


def records(text):
    """(kind, body) of each record of a journal."""
    found = []
    while len(text) >= 8:
        kind, length = struct.unpack_from("<HH", text)
        whole, text = text[:length + 8], text[length + 8:]
        assert struct.unpack_from("<I", whole, length + 4)[0] == \
            zlib.crc32(whole[:-4])
        found.append((kind, whole[4:-4]))
    assert not text
    return found


def journal_of(lab, name="f.bin"):
    return lab.path(name + ".part.journal")


def restart_machine(lab, name="f.bin"):
    """The journal as if the machine had been started anew since."""
    path = journal_of(lab, name)
    path.write_bytes(b"".join(
        record(kind, b"0" * len(body) if kind == SESSION else body)
        for kind, body in records(path.read_bytes())))


def interrupt(lab, *args, at=2 * MIB, name="f.bin"):
    """Kill a run when at least so much of the file is there."""
    process = lab.start(*args)

    def is_there():
        try:
            return bytes_written(lab, name) >= at
        except FileNotFoundError:
            return False
    wait_until(is_there, "bytes are there")
    process.kill()
    process.wait()


def bytes_written(lab, name="f.bin"):
    total, text = 0, journal_of(lab, name).read_bytes()
    while len(text) >= 8:
        kind, length = struct.unpack_from("<HH", text)
        if kind == WRITTEN and len(text) >= 24:
            begin, end = struct.unpack_from("<QQ", text, 4)
            total += end - begin
        text = text[length + 8:]
    return total


def in_pieces(lab, name, depots, length):
    """A Metalink that has hashes of pieces."""
    path = lab.metalink(name, depots)
    data = (lab.www / name).read_bytes()
    hashes = "".join(
        f"<hash>{hashlib.sha256(data[i:i + length]).hexdigest()}</hash>"
        for i in range(0, len(data), length))
    text = lab.read(path).decode().replace(
        "<url", f'<pieces type="sha-256" length="{length}">{hashes}</pieces>'
        "<url", 1)
    lab.path(path).write_text(text)
    return path


def all_sent(depots):
    return sum(d.bytes_sent() for d in depots)


def needed(run):
    """Bytes that came and had not been there."""
    return run.report["bytes_received"] - run.report["bytes_redundant"]


def is_clean(lab, name="f.bin"):
    return not lab.path(name + ".part").exists() and \
        not journal_of(lab, name).exists()


# ---- tests ----

def kill_until_complete(lab, manifest, kills, seed, span, *options):
    """Run the command again and again, killing it at random moments."""
    dice = random.Random(seed)
    for killed in range(kills):
        process = lab.start("-q", *options, manifest)
        time.sleep(dice.uniform(0, span))
        process.kill()
        run = process.wait()
        if run.rc == 0:
            return killed
        assert run.rc == -9, run
    assert lab.xdownload("-q", *options, manifest, patience=600).rc == 0
    return kills


@pytest.mark.parametrize("make", [
    "metalink", pytest.param("exnode", marks=pytest.mark.slow)])
def test_killed_at_random_moments_it_completes(lab, make):
    size = 8 * MIB if SLOW else 4 * MIB
    kills = 60 if SLOW else 25
    data = lab.file("f.bin", size)
    depots = lab.depots(3, rate=400_000)
    manifest = (lab.metalink("f.bin", depots) if make == "metalink"
                else lab.exnode("f.bin", depots))
    killed = kill_until_complete(lab, manifest, kills, size, 0.3, "-b",
                                 "256k")
    assert lab.read("f.bin") == data
    assert is_clean(lab)
    # What a kill costs is what lies in the lanes' buffers and on the wire.
    in_flight = 3 * (256 * 1024 + 128 * 1024)
    assert all_sent(depots) <= 1.1 * size + killed * in_flight
    assert killed > 3


def large_file(lab, name, size):
    """Quicker to make than random bytes; no two MiB of it are the same."""
    piece = bytearray(bytes_of(MIB))
    with open(lab.www / name, "wb") as f:
        for i in range(size // MIB):
            piece[:8] = struct.pack("<Q", i)
            f.write(piece)


@pytest.mark.slow
def test_hundreds_of_kills_cost_a_tenth_of_the_file_at_most(lab):
    """A kill costs what lies in the lanes' buffers and on the wire, so that a
    file which outlives hundreds of them is large."""
    size = 896 * MIB
    large_file(lab, "f.bin", size)
    depots = lab.depots(2, rate=25_000_000)
    killed = kill_until_complete(lab, lab.metalink("f.bin", depots), 200,
                                 1, 0.15, "-t", "1", "-b", "4m")
    assert killed == 200
    assert filecmp.cmp(lab.www / "f.bin", lab.path("f.bin"), shallow=False)
    assert is_clean(lab)
    assert all_sent(depots) <= 1.1 * size


def test_only_what_is_missing_is_fetched(lab):
    data = lab.file("f.bin", SIZE)
    slow = lab.depots(2, rate=2_000_000)
    interrupt(lab, lab.metalink("f.bin", slow), at=3 * MIB)
    there = bytes_written(lab)
    fast = lab.depots(2, rate=8_000_000)  # however busy the machine is
    run = lab.xdownload(lab.metalink("f.bin", fast))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data and is_clean(lab)
    # What fast depots sent behind the end of a request that was shortened, and
    # nobody read, does not count.
    assert needed(run) == SIZE - there
    assert run.report["bytes_redundant"] <= MIB // 2
    assert "there already" in run.err
    assert run.report["bytes_resumed"] == there


def test_other_urls_in_another_order_go_on(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(3, rate=1_500_000)
    interrupt(lab, lab.metalink("f.bin", depots))
    others = lab.depots(1) + depots[::-1][:2]
    there = bytes_written(lab)
    run = lab.xdownload(lab.metalink("f.bin", others))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert needed(run) == SIZE - there


def test_after_an_interruption_nothing_that_came_is_lost(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(2, rate=1_000_000)
    process = lab.start(lab.metalink("f.bin", depots))
    wait_until(lambda: journal_of(lab).exists() and bytes_written(lab) > MIB,
               "bytes are there")
    process.send(2)
    run = process.wait()
    assert run.rc == 130
    assert bytes_written(lab) == needed(run)


@pytest.mark.parametrize("end", ["interruption", "max-time", "failure"])
def test_what_came_by_the_end_is_synced(lab, end):
    lab.file("f.bin", SIZE)
    depot = lab.depot(rate=1_000_000, **(
        {"stop_after": 2 * MIB} if end == "failure" else {}))
    options = {"interruption": [], "max-time": ["--max-time", "2s"],
               "failure": ["--silence", "1s", "--retry", "1",
                           "--patience", "1s"]}[end]
    process = lab.start(*options, lab.metalink("f.bin", [depot]))
    wait_until(lambda: journal_of(lab).exists() and bytes_written(lab) > MIB,
               "bytes are there")
    if end == "interruption":
        process.send(2)
    run = process.wait()
    assert run.rc == (130 if end == "interruption" else 1), run.err
    there = bytes_written(lab)
    assert there == needed(run) > MIB
    restart_machine(lab)
    run = lab.xdownload(lab.metalink("f.bin", lab.depots(1)))
    assert run.rc == 0, run.err
    assert run.report["bytes_resumed"] == there


SLOW_DISK = """
#include <unistd.h>
int fdatasync(int fd)
{
    (void)fd;
    return access("disk-is-slow", F_OK) == 0 ? (int)sleep(600) : 0;
}
"""


@pytest.mark.slow
@pytest.mark.plain  # a sanitizer's library must be the first
def test_a_second_interruption_does_not_wait_for_a_slow_disk(lab):
    lab.file("f.bin", SIZE)
    source, library = lab.write("slow.c", SLOW_DISK), lab.path("slow.so")
    subprocess.run([os.environ.get("XD_CC", "cc"), "-shared", "-fPIC", "-o",
                    library, source], check=True)
    manifest = lab.metalink("f.bin", lab.depots(2, rate=1_000_000))
    lab.environment["LD_PRELOAD"] = str(library)
    process = lab.start(manifest)
    wait_until(lambda: journal_of(lab).exists() and bytes_written(lab) > 0,
               "bytes are there")
    slow = lab.write("disk-is-slow", "")
    process.send(2)
    wait_until(lambda: "second Ctrl-C" in process.err_now(), "it says why")
    process.send(2)
    assert process.wait().rc == -2
    os.remove(slow)
    assert lab.xdownload(manifest).rc == 0


def test_after_a_start_of_the_machine_only_synced_bytes_count(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    interrupt(lab, lab.exnode("f.bin", lab.depots(2, rate=1_000_000)),
              at=3 * MIB)
    restart_machine(lab)
    # Bytes that are on no disk: the machine came up with others.
    lab.path("f.bin.part").write_bytes(bytes(SIZE))
    run = lab.xdownload(lab.exnode("f.bin", depots))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert all_sent(depots) >= SIZE


def test_synced_bytes_count_after_a_start_of_the_machine(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(1, rate=700_000)
    manifest = lab.metalink("f.bin", depots)
    process = lab.start(manifest)
    wait_until(lambda: journal_of(lab).exists() and any(
        kind == SYNCED for kind, _ in whole_records(lab)), "it is synced")
    process.kill()
    process.wait()
    restart_machine(lab)
    fast = lab.depots(1)
    run = lab.xdownload(lab.metalink("f.bin", fast))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert all_sent(fast) < SIZE - 2 * MIB


def whole_records(lab):
    """Of a journal that is being written."""
    text = journal_of(lab).read_bytes()
    found = []
    while len(text) >= 8:
        kind, length = struct.unpack_from("<HH", text)
        if len(text) < length + 8:
            break
        found.append((kind, text[4:length + 4]))
        text = text[length + 8:]
    return found


def test_no_continue_begins_anew(lab):
    data = lab.file("f.bin", SIZE)
    interrupt(lab, lab.metalink("f.bin", lab.depots(1, rate=2_000_000)))
    depot = lab.depot()
    run = lab.xdownload("--no-continue", lab.metalink("f.bin", [depot]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert depot.bytes_sent() >= SIZE


def snapshot(lab, name="f.bin"):
    return (lab.path(name + ".part").read_bytes(),
            journal_of(lab, name).read_bytes())


@pytest.mark.parametrize("what", ["size", "hash", "range"])
def test_a_journal_of_another_file_is_left_alone(lab, what):
    lab.file("f.bin", SIZE)
    interrupt(lab, lab.metalink("f.bin", lab.depots(1, rate=2_000_000)))
    before = snapshot(lab)
    other = SIZE + 1 if what == "size" else SIZE
    lab.file("f.bin", other, seed=1 if what == "range" else 2)
    depot = lab.depot()
    extra = ["-r", "0-4000000"] if what == "range" else []
    run = lab.xdownload(*extra, lab.metalink("f.bin", [depot]))
    assert run.rc == 5
    assert "f.bin.part" in run.err and "f.bin.part.journal" in run.err
    assert "--no-continue" in run.err and what in run.err
    assert snapshot(lab) == before
    assert what == "hash" or depot.requests() == []


@pytest.mark.parametrize("where", ["same", "other"])
def test_interrupted_part_under_a_mistyped_checksum_is_gone_on_with(lab,
                                                                    where):
    data = lab.file("f.bin", SIZE)
    url = lab.depot(rate=2_000_000).url("f.bin")
    interrupt(lab, "--checksum", checksum(b"mistyped"), url)
    if where == "other":
        url = lab.depot().url("f.bin")
    run = lab.xdownload("--checksum", checksum(data), url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data and is_clean(lab)
    assert run.report["bytes_resumed"] > 0
    assert needed(run) < SIZE


@pytest.mark.parametrize("make", ["list", "metalink"])
def test_interrupted_part_of_a_set_under_a_mistyped_checksum_is_gone_on_with(
        lab, make):
    names = ["a.bin", "b.bin", "c.bin"]
    data = {name: lab.file(name, SIZE, seed=i) for i, name in enumerate(names)}

    def manifest(depot, of):
        if make == "metalink":
            files = "".join(
                f'<file name="{n}"><size>{SIZE}</size>'
                f'<hash type="sha-256">{checksum(of(n))[8:]}</hash>'
                f'<url>{depot.url(n)}</url></file>' for n in names)
            return [lab.write("f.meta4", '<metalink xmlns="urn:ietf:params:xml:'
                                         f'ns:metalink">{files}</metalink>')]
        return ["-i", lab.write("list", "".join(
            f"{depot.url(n)}\n checksum={checksum(of(n))}\n" for n in names))]

    interrupt(lab, *manifest(lab.depot(rate=2_000_000), lambda n: n.encode()),
              name="a.bin")
    run = lab.xdownload(*manifest(lab.depot(), lambda n: data[n]))
    assert run.rc == 0, run.err
    assert all(lab.read(n) == data[n] for n in names)
    assert not list(lab.folder.glob("*.part*"))
    assert sum(r["bytes_resumed"] or 0 for r in run.reports) >= MIB


def test_right_checksum_after_a_mistyped_one_proves_what_came_before(lab):
    data = lab.file("f.bin", SIZE)
    url = lab.depot(rate=2_000_000).url("f.bin")
    interrupt(lab, "--checksum", checksum(b"mistyped"), url)
    part = bytearray(lab.read("f.bin.part"))
    part[MIB // 3] ^= 1
    lab.path("f.bin.part").write_bytes(part)
    run = lab.xdownload("--checksum", checksum(data), url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_part_with_another_checksum_stays_where_no_depot_can_be_asked(lab):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.depot(rate=2_000_000)])
    interrupt(lab, "--checksum", checksum(b"mistyped"), manifest)
    before = snapshot(lab)
    dead = lab.exnode("f.bin", [lab.dead()], size=SIZE)
    run = lab.xdownload("--checksum", checksum(data), "--retry", "1", dead)
    assert run.rc == 5 and "hash differs" in run.err, run.err
    assert snapshot(lab) == before


def test_a_large_part_without_a_journal_is_left_alone(lab):
    lab.file("f.bin", SIZE)
    lab.path("f.bin.part").write_bytes(bytes(MIB))
    depot = lab.depot()
    run = lab.xdownload(lab.metalink("f.bin", [depot]))
    assert run.rc == 5 and "--no-continue" in run.err
    assert lab.read("f.bin.part") == bytes(MIB)
    assert not journal_of(lab).exists() and depot.requests() == []
    assert lab.xdownload("--no-continue",
                         lab.metalink("f.bin", [depot])).rc == 0


def test_a_small_part_without_a_journal_is_begun_anew(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin.part").write_bytes(bytes(6))
    run = lab.xdownload(lab.metalink("f.bin", [lab.depot()]))
    assert run.rc == 0 and lab.read("f.bin") == data
    assert "restarting: no journal says what is in it" in run.err


def test_what_is_no_journal_is_left_alone(lab):
    lab.file("f.bin", SIZE)
    journal_of(lab).write_text("a letter to my mother")
    run = lab.xdownload("--no-continue", lab.metalink("f.bin", lab.depots(1)))
    assert run.rc == 5 and "f.bin.part.journal" in run.err
    assert journal_of(lab).read_text() == "a letter to my mother"


def test_small_files_have_no_journal(lab):
    lab.file("f.bin", MIB - 1)
    process = lab.start(lab.metalink("f.bin", lab.depots(1, rate=300_000)))
    wait_until(lambda: lab.path("f.bin.part").exists() and
               lab.path("f.bin.part").stat().st_size > 0, "it is begun")
    assert not journal_of(lab).exists()
    process.kill()
    process.wait()
    assert lab.xdownload(lab.metalink("f.bin", lab.depots(1))).rc == 0


def test_the_second_of_two_runs_stops_and_spoils_nothing(lab):
    data = lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", lab.depots(2, rate=1_000_000))
    first = lab.start(manifest)
    wait_until(lambda: journal_of(lab).exists() and bytes_written(lab) > 0,
               "the first has begun")
    second = lab.xdownload(manifest)
    assert second.rc == 5
    assert "another download" in second.err
    third = lab.xdownload("--no-continue", "--force", manifest)
    assert third.rc == 5
    assert first.wait().rc == 0
    assert lab.read("f.bin") == data


def test_a_killed_run_holds_no_lock(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", lab.depots(2, rate=2_000_000))
    interrupt(lab, manifest)
    assert lab.xdownload(manifest).rc == 0


def test_bad_pieces_of_an_earlier_run_are_fetched_again(lab):
    data = lab.file("f.bin", SIZE)
    slow = lab.depots(1, rate=2_000_000)
    interrupt(lab, in_pieces(lab, "f.bin", slow, 256 * 1024), at=3 * MIB)
    with open(lab.path("f.bin.part"), "r+b") as part:
        part.seek(300 * 1024)
        part.write(bytes(1000))
    depots = lab.depots(2)
    there = bytes_written(lab)
    run = lab.xdownload("-a", "basic",
                        in_pieces(lab, "f.bin", depots, 256 * 1024))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert all_sent(depots) <= SIZE - there + 512 * 1024
    assert all(d["failures"] == 0 for d in run.report["depots"])


# ---- without a hash ----

def test_without_a_hash_an_unchanged_depot_is_enough(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2, rate=2_000_000)
    interrupt(lab, lab.exnode("f.bin", depots))
    there = bytes_written(lab)
    run = lab.xdownload(lab.exnode("f.bin", depots[::-1]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert needed(run) == SIZE - there


def test_without_a_hash_other_depots_may_go_on_if_their_samples_agree(lab):
    data = lab.file("f.bin", SIZE)
    interrupt(lab, lab.exnode("f.bin", lab.depots(1, rate=2_000_000)))
    there = bytes_written(lab)
    # Another mirror: another host, another date, another validator.
    other = lab.depots(2, files={"f.bin": data})
    run = lab.xdownload(lab.exnode("f.bin", other))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "continued, 8 samples compared" in run.err
    assert needed(run) == SIZE - there


@pytest.mark.slow
def test_without_a_hash_what_other_depots_hold_differs(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(1, rate=2_000_000)
    interrupt(lab, lab.exnode("f.bin", depots))
    before = snapshot(lab)
    other = bytes_of(SIZE, seed=9)
    second = lab.exnode("f.bin", [lab.depot(files={"f.bin": other})])
    run = lab.xdownload(second)
    assert run.rc == 4
    assert "f.bin.part: its bytes 0-65535 differ from those of" in run.err
    assert "give the URLs of the earlier run to continue it" in run.err
    assert "or --no-continue to start again" in run.err
    assert snapshot(lab) == before
    # Both ways on, as the sentence says.
    assert lab.xdownload(lab.exnode("f.bin", depots)).rc == 0
    assert lab.read("f.bin") == data
    lab.path("f.bin").unlink()
    interrupt(lab, lab.exnode("f.bin", depots))
    run = lab.xdownload("--no-continue", second)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == other


def test_one_of_three_other_depots_that_differs_is_overruled(lab):
    data = lab.file("f.bin", SIZE)
    interrupt(lab, lab.exnode("f.bin", lab.depots(1, rate=2_000_000)))
    other = [lab.depot(files={"f.bin": d}) for d in
             (bytes_of(SIZE, seed=9), data, data)]
    run = lab.xdownload(lab.exnode("f.bin", other))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_without_a_depot_to_compare_with_what_is_there_is_kept(lab):
    lab.file("f.bin", SIZE)
    interrupt(lab, lab.exnode("f.bin", lab.depots(1, rate=2_000_000)))
    before = snapshot(lab)
    run = lab.xdownload("--retry", "1", lab.exnode("f.bin", [lab.dead()]))
    assert run.rc == 1
    assert "f.bin.part: cannot be compared with what the depots have" in run.err
    assert snapshot(lab) == before


def test_a_depot_without_ranges_is_compared_byte_by_byte(lab):
    data = lab.file("f.bin", SIZE)
    # From one depot in order, so that what is there has no gap.
    interrupt(lab, "-a", "basic", "-t", "1",
              lab.exnode("f.bin", lab.depots(1, rate=2_000_000)))
    run = lab.xdownload("-v", lab.exnode(
        "f.bin", [lab.depot(files={"f.bin": data}, ranges=False)]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_the_same_url_with_a_new_file_is_a_new_version(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(1, rate=3_000_000)
    interrupt(lab, lab.exnode("f.bin", depots))
    other = lab.file("f.bin", SIZE, seed=9)
    os.utime(lab.www / "f.bin", (1, 1))
    run = lab.xdownload(lab.exnode("f.bin", depots))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == other
    assert "restarting" in run.err
    assert f"{depots[0].url('f.bin')}: leads to a new version" in run.err


def test_an_interrupted_comparison_ends_at_once(lab):
    lab.file("f.bin", SIZE)
    interrupt(lab, lab.exnode("f.bin", lab.depots(1, rate=2_000_000)))
    before = snapshot(lab)
    process = lab.start("--silence", "1m", lab.exnode("f.bin", [lab.silent()]))
    time.sleep(0.5)
    began = time.monotonic()
    process.send(signal.SIGINT)
    run = process.wait()
    assert run.rc == 130
    assert time.monotonic() - began < 2
    assert snapshot(lab) == before


# ---- a hash that did not match ----

def checksum(data):
    return "sha-256=" + hashlib.sha256(data).hexdigest()


SIZES = pytest.mark.parametrize("size", [300_000, SIZE])


@SIZES
def test_what_failed_its_checksum_is_not_blessed_without_it(lab, size):
    data = bytes_of(size)
    bad = bytes([data[0] ^ 1]) + data[1:]
    depot = lab.depot(files={"f.bin": bad})
    url = depot.url("f.bin")
    assert lab.xdownload("--checksum", checksum(data), url).rc == 4
    part = lab.read("f.bin.part")
    asked = len(depot.requests())
    for _ in range(2):
        run = lab.xdownload(url)
        assert run.rc == 4, run.err
        assert not lab.path("f.bin").exists()
        assert "an earlier run has found that it does not match its sha-256" \
            in run.err
        assert "--checksum" in run.err and "--no-continue" in run.err
        assert run.report["bytes_received"] == 0
        assert lab.read("f.bin.part") == part
    assert len(depot.requests()) == asked
    # From a depot that is right, with the checksum that is right:
    good = lab.depot(files={"f.bin": data})
    run = lab.xdownload("--checksum", checksum(data), good.url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "verified with sha-256" in run.err
    assert not journal_of(lab).exists()


def test_failed_checksum_of_an_incomplete_file_must_hold_for_the_rest(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    url = depot.url("f.bin")
    assert lab.xdownload("--checksum", checksum(b"mistyped"), url).rc == 4
    lab.path("f.bin.part").write_bytes(data[:SIZE // 2])
    run = lab.xdownload(url)
    assert run.rc == 4, run.err
    assert not lab.path("f.bin").exists()


def test_failed_checksum_of_an_unknown_size_ends_the_next_run_at_once(lab):
    data = bytes_of(300_000)
    server = lab.odd(lambda _: b"HTTP/1.1 200 OK\r\n"
                     b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                     b"%x\r\n%b\r\n0\r\n\r\n"
                     % (len(data), data)).url("f.bin")
    assert lab.xdownload("--checksum", checksum(b"mistyped"), server).rc == 4
    run = lab.xdownload(server)
    assert run.rc == 4, run.err
    assert run.report["bytes_received"] == 0
    run = lab.xdownload("--checksum", checksum(data), server)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert run.report["bytes_received"] == 0


@SIZES
@pytest.mark.parametrize("kind", ["url", "urls", "exnode", "unknown"])
def test_after_a_failed_checksum_another_one_needs_no_byte(lab, size, kind):
    data = lab.file("f.bin", size)
    asked = []

    def answer(request):
        asked.append(request)
        return (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%b" % data)
    depot = lab.odd(answer) if kind == "unknown" else lab.depot()
    what = depot.url("f.bin") if kind in ("url", "unknown") else \
        getattr(lab, kind)("f.bin", [depot])

    def n_asked():
        return len(asked) if kind == "unknown" else len(depot.requests())
    run = lab.xdownload("--checksum", checksum(b"mistyped"), what)
    assert run.rc == 4, run.err
    before, part = n_asked(), lab.read("f.bin.part")
    for wrong in b"again", b"and again":
        run = lab.xdownload("--checksum", checksum(wrong), what)
        assert run.rc == 4, run.err
        assert "does not match this sha-256 either" in run.err
        assert checksum(wrong)[8:] in run.err and checksum(data)[8:] in run.err
        assert run.report["bytes_received"] == 0
        assert lab.read("f.bin.part") == part and not lab.path("f.bin").exists()
    run = lab.xdownload("--checksum", checksum(data), what)
    assert run.rc == 0, run.err
    assert "verified with sha-256" in run.err
    assert run.report["bytes_received"] == 0
    assert run.report["verified"] == "sha-256"
    assert lab.read("f.bin") == data
    assert not list(lab.work.glob("f.bin.part*"))
    if kind in ("url", "unknown"):
        assert n_asked() == before


@pytest.mark.parametrize("sizes", [[SIZE, SIZE], [300_000, 5000],
                                   [2 << 20, 3 << 20], [5000, SIZE]])
def test_files_of_a_list_that_failed_their_checksums_come_no_second_time(
        lab, sizes):
    names = ["a.bin", "b.bin"]
    data = {name: lab.file(name, size, seed=i)
            for i, (name, size) in enumerate(zip(names, sizes))}
    depot = lab.depot()

    def fetch(line):
        text = "".join(depot.url(name) + "\n" + line(name) for name in names)
        return lab.xdownload("-i", lab.write("list", text))
    run = fetch(lambda name: f" checksum={checksum(name.encode())}\n")
    assert run.rc == 4, run.err
    run = fetch(lambda name: "")
    assert run.rc == 4, run.err
    assert run.err.count("--no-continue") == 2
    assert not any(lab.path(name).exists() for name in names)
    run = fetch(lambda name: f" checksum={checksum(data[name])}\n")
    assert run.rc == 0, run.err
    assert all(lab.read(name) == data[name] for name in names)
    assert sum(r["bytes_received"] or 0 for r in run.reports) == 0


@SIZES
def test_a_checksum_that_matches_overrules_one_that_did_not(lab, size):
    data = lab.file("f.bin", size)
    url = lab.depot().url("f.bin")
    assert lab.xdownload("--checksum", checksum(b"mistyped"), url).rc == 4
    assert lab.xdownload(url).rc == 4
    run = lab.xdownload("--checksum", checksum(data), url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert needed(run) == 0


@SIZES
def test_no_continue_forgets_a_checksum_that_did_not_match(lab, size):
    data = lab.file("f.bin", size)
    url = lab.depot().url("f.bin")
    assert lab.xdownload("--checksum", checksum(b"mistyped"), url).rc == 4
    run = lab.xdownload("--no-continue", url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_no_secret_stands_in_the_journal(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot(rate=2_000_000)
    url = f"http://me:word@{depot.host}/f.bin?token=hidden"
    interrupt(lab, "-o", "f.bin", url)
    journal = journal_of(lab).read_bytes()
    assert depot.host.encode() in journal
    assert b"word" not in journal and b"hidden" not in journal


# ---- local trouble ----

def test_a_full_disk_keeps_what_was_good(lab):
    data = lab.file("f.bin", SIZE)
    # So slow that the journal is open before the disk is full.
    manifest = lab.metalink("f.bin", lab.depots(2, rate=4_000_000))
    process = subprocess.run(
        ["sh", "-c", 'trap "" XFSZ; ulimit -f "$1"; shift; exec "$@"', "sh",
         str(3 * MIB // 512), os.environ["XDOWNLOAD"], "-q", manifest],
        cwd=lab.work, stderr=subprocess.PIPE, text=True, check=False)
    assert process.returncode == 5, process.stderr
    assert "f.bin.part" in process.stderr
    there = bytes_written(lab)
    assert there > 0
    run = lab.xdownload(manifest)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert needed(run) == SIZE - there


def test_too_little_space_is_said_before_the_first_byte(lab):
    depot = lab.depot()
    run = lab.xdownload(lab.exnode("f.bin", [depot], size=1 << 44))
    assert run.rc == 5
    assert "f.bin.part needs 16 TiB, but only " in run.err
    assert depot.requests() == []
    assert not list(lab.work.glob("f.bin*"))


def test_a_folder_in_the_way_is_local_trouble(lab):
    lab.file("f.bin", SIZE)
    lab.path("f.bin.part").mkdir()
    run = lab.xdownload(lab.metalink("f.bin", lab.depots(1)))
    assert run.rc == 5 and "f.bin.part" in run.err
    lab.path("f.bin.part").rmdir()
    journal_of(lab).mkdir()
    run = lab.xdownload(lab.metalink("f.bin", lab.depots(1)))
    assert run.rc == 5 and "f.bin.part.journal" in run.err


def test_a_folder_that_vanishes_is_local_trouble(lab):
    lab.file("f.bin", SIZE)
    lab.path("d").mkdir()
    process = lab.start("-d", "d", lab.metalink(
        "f.bin", lab.depots(2, rate=2_000_000)))
    wait_until(lambda: journal_of(lab, "d/f.bin").exists(), "it has begun")
    lab.path("d/f.bin.part").unlink()
    journal_of(lab, "d/f.bin").unlink()
    lab.path("d").rmdir()
    run = process.wait()
    assert run.rc == 5 and "f.bin" in run.err


def test_a_folder_that_a_link_replaces_leads_no_byte_astray(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("d").mkdir()
    lab.path("elsewhere").mkdir()
    depots = lab.depots(2, rate=2_000_000)
    process = lab.start("-d", "d", lab.metalink("f.bin", depots))
    wait_until(lambda: journal_of(lab, "d/f.bin").exists(), "it has begun")
    lab.path("d").rename(lab.path("moved"))
    lab.path("d").symlink_to("elsewhere")
    run = process.wait()
    assert run.rc == 5
    assert "f.bin: its folder was moved or replaced meanwhile" in run.err
    assert list(lab.path("elsewhere").iterdir()) == []
    before = all_sent(depots)
    run = lab.xdownload("-d", "moved", lab.metalink("f.bin", depots))
    assert run.rc == 0, run.err
    assert lab.read("moved/f.bin") == data
    assert all_sent(depots) <= before + SIZE // 10


# ---- a file that is there ----

def test_a_file_that_matches_is_already_complete(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    manifest = lab.metalink("f.bin", [depot])
    assert lab.xdownload(manifest).rc == 0
    n = len(depot.requests())
    run = lab.xdownload(manifest)
    assert run.rc == 0
    assert "already complete" in run.err and "sha-256" in run.err
    assert run.report["verified"] == "sha-256"
    assert run.report["outcome"] == "complete"
    assert len(depot.requests()) == n


@pytest.mark.parametrize("has_part", [False, True])
def test_a_journal_left_by_a_kill_after_the_rename_goes(lab, has_part):
    data = lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", [lab.depot()])
    lab.path("f.bin").write_bytes(data)
    journal_of(lab).write_bytes(b"left")
    if has_part:
        lab.path("f.bin.part").write_bytes(data[:MIB])
    run = lab.xdownload(manifest, report=False)
    assert run.rc == 0 and "already complete" in run.err, run.err
    assert journal_of(lab).exists() == has_part
    assert lab.path("f.bin.part").exists() == has_part


def test_a_file_that_differs_is_kept(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    manifest = lab.metalink("f.bin", [depot])
    lab.path("f.bin").write_bytes(bytes(SIZE))
    run = lab.xdownload(manifest)
    assert run.rc == 5
    assert "--force" in run.err and "verify --repair" in run.err
    assert "sha-256" in run.err
    assert lab.read("f.bin") == bytes(SIZE) and depot.requests() == []


# ---- a file that is there, and no hash ----

def test_a_file_that_agrees_with_the_depots_is_present(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    lab.path("f.bin").write_bytes(data)
    run = lab.xdownload(lab.exnode("f.bin", depots))
    assert run.rc == 0
    assert "present, not verified, 8 samples compared" in run.err
    assert all_sent(depots) == 8 * 64 * 1024


def unfinished(data, how):
    """What other programs leave of a file with all of its bytes to come."""
    at = len(data) // 3
    if how == "no tail":
        return data[:-1] + b"x"
    if how == "no head":
        return b"x" + data[1:]
    if how == "short, other":
        return data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]
    return data[:at] + bytes(len(data) - at)  # preallocated


@pytest.mark.parametrize("size, how", [
    (SIZE, "no tail"), (SIZE, "no head"), (SIZE, "preallocated"),
    (300_000, "short, other"), (300_000, "preallocated")])
def test_a_file_of_the_right_size_that_differs_is_kept(lab, size, how):
    data = lab.file("f.bin", size)
    depot = lab.depot()
    lab.path("f.bin").write_bytes(unfinished(data, how))
    run = lab.xdownload(lab.exnode("f.bin", [depot]))
    assert run.rc == 5, run.err
    assert "f.bin exists already, and differs" in run.err
    assert f"differ from those of {depot.url('f.bin')}" in run.err
    assert "--force" in run.err and "verify --repair" in run.err
    assert lab.read("f.bin") == unfinished(data, how)
    assert not lab.path("f.bin.part").exists()


def test_a_hole_where_no_sample_is_taken_is_found(lab):
    data = lab.file("f.bin", 64 * MIB)
    with open(lab.path("f.bin"), "wb") as f:
        f.write(data[:1_234_944])
        f.seek(64 * 1024, os.SEEK_CUR)  # nothing is written there
        f.write(data[f.tell():])
    run = lab.xdownload(lab.exnode("f.bin", [lab.depot()]))
    assert run.rc == 5, run.err
    assert "its bytes 12" in run.err


def test_where_no_depot_can_be_asked_a_file_is_not_taken_for_right(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(data)
    dead = lab.dead()
    run = lab.xdownload("--retry", "1", lab.exnode("f.bin", [dead]))
    assert run.rc == 1
    assert dead.host in run.err
    assert lab.read("f.bin") == data


def test_what_aria2_has_not_finished_is_named(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(data)
    lab.path("f.bin.aria2").write_bytes(b"control")
    manifest = lab.exnode("f.bin", lab.depots(1))
    for arguments in [(), ("-c",)]:
        run = lab.xdownload(*arguments, manifest)
        assert run.rc == 5
        assert "f.bin.aria2 says that aria2 has not finished it" in run.err
        assert "-c goes on" not in run.err
        assert lab.read("f.bin") == data


# ---- what other programs have left ----

def test_a_shorter_file_is_named_with_the_way_on(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(data[:2 * MIB])
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(1)))
    assert run.rc == 5
    assert f"has {2 * MIB} bytes instead of {SIZE}: -c continues it" \
        in run.err


@pytest.mark.parametrize("had", [1, 100_000, 2 * MIB, SIZE - 1])
@pytest.mark.parametrize("with_hash", [False, True])
def test_continue_goes_on_with_a_beginning(lab, had, with_hash):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(data[:had])
    manifest = lab.exnode("f.bin", lab.depots(2))
    check = ["--checksum", checksum(data)] if with_hash else []
    run = lab.xdownload("-c", *check, manifest)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "of it there already" in run.err
    assert run.err.count("continued") == (0 if with_hash else 1)
    assert needed(run) == SIZE - had


def test_continue_leaves_what_is_no_beginning(lab):
    lab.file("f.bin", SIZE)
    other = bytes_of(2 * MIB, seed=9)
    lab.path("f.bin").write_bytes(other)
    run = lab.xdownload("-c", lab.exnode("f.bin", lab.depots(1)))
    assert run.rc == 5
    assert "f.bin exists already, and differs: " in run.err
    assert lab.read("f.bin") == other
    assert not lab.path("f.bin.part").exists()


def test_continue_goes_on_with_what_curl_has_left(lab):
    data = lab.file("f.bin", SIZE)
    url = lab.depot(rate=2_000_000).url("f.bin")
    subprocess.run(["curl", "-s", "--max-time", "1", "-o",
                    lab.path("f.bin"), url], check=False)
    had = lab.path("f.bin").stat().st_size
    assert 0 < had < SIZE
    run = lab.xdownload("-c", url)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert needed(run) == SIZE - had


def test_continue_and_its_opposite_contradict_each_other(lab):
    run = lab.xdownload("-c", "--no-continue", "http://a.example/f")
    assert run.rc == 2
    assert "use either --continue or --no-continue" in run.err


# ---- verify ----

def repair(lab, *arguments):
    return lab.xdownload("verify", "--repair", *arguments, report=False)


def test_a_repair_without_hashes_keeps_what_the_depots_confirm(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(data[:3 * MIB])
    run = repair(lab, lab.exnode("f.bin", lab.depots(2)), "f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "3.0 MiB of it there already" in run.err, run.err


def described(lab, name, depots, how):
    """A manifest with hashes of pieces, of the whole, or none."""
    if how == "pieces":
        return in_pieces(lab, name, depots, 256 * 1024)
    return lab.metalink(name, depots) if how == "whole" \
        else lab.exnode(name, depots)


@pytest.mark.parametrize("how", ["pieces", "whole", "none"])
def test_repair_of_another_file_is_refused_without_force(lab, how):
    data = lab.file("f.bin", SIZE)
    other = bytes_of(SIZE, seed=9)
    manifest = described(lab, "f.bin", lab.depots(1), how)
    lab.path("mine").write_bytes(other)
    run = repair(lab, manifest, "mine")
    assert run.rc == 4, run.err
    assert "not the file that the manifest describes" in run.err
    assert "--force" in run.err
    assert lab.read("mine") == other and is_clean(lab, "mine")
    run = repair(lab, "--force", manifest, "mine")
    assert run.rc == 0, run.err
    assert lab.read("mine") == data and is_clean(lab, "mine")


def test_repair_that_nothing_can_prove_is_refused_without_force(lab):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(1))
    for here in (data[:-1] + b"x", data + b"x"):
        lab.path("mine").write_bytes(here)
        run = repair(lab, manifest, "mine")
        assert run.rc == 4, run.err
        assert "no checksum" in run.err and "--force" in run.err
        assert lab.read("mine") == here and is_clean(lab, "mine")
    run = repair(lab, "--force", manifest, "mine")
    assert run.rc == 0, run.err
    assert lab.read("mine") == data


@pytest.mark.parametrize("how", ["pieces", "whole"])
@pytest.mark.parametrize("size", [100, 300_000, SIZE])
def test_failed_repair_keeps_the_file(lab, how, size):
    if how == "pieces" and size == 100:
        size = 600_000
    data = lab.file("f.bin", size)
    spoilt = spoiled_at(data, size // 2)
    lab.path("mine").write_bytes(spoilt)
    run = repair(lab, "--patience", "1s",
                 described(lab, "f.bin", [lab.dead()], how), "mine")
    assert run.rc == 1, run.err
    assert lab.read("mine") == spoilt
    depot = lab.depot()
    run = repair(lab, described(lab, "f.bin", [depot], how), "mine")
    assert run.rc == 0, run.err
    assert lab.read("mine") == data and is_clean(lab, "mine")
    if how == "pieces":
        assert depot.bytes_sent() <= 256 * 1024


def spoiled_at(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def test_killed_repair_keeps_the_file_and_goes_on(lab):
    data = lab.file("f.bin", SIZE)
    spoilt = data[:SIZE // 2] + bytes(SIZE - SIZE // 2)
    lab.path("mine").write_bytes(spoilt)
    slow = in_pieces(lab, "f.bin", [lab.depot(rate=1_000_000)], 256 * 1024)
    process = lab.start("verify", "--repair", slow, "mine", report=False)
    part = lab.path("mine.part")
    wait_until(lambda: part.exists() and
               part.stat().st_blocks * 512 > 3 * SIZE // 4, "half is fetched")
    process.kill()
    assert lab.read("mine") == spoilt
    depot = lab.depot()
    run = repair(lab, in_pieces(lab, "f.bin", [depot], 256 * 1024), "mine")
    assert run.rc == 0, run.err
    assert lab.read("mine") == data and is_clean(lab, "mine")
    assert depot.bytes_sent() < SIZE // 3


def test_repair_in_a_read_only_folder_keeps_the_file(lab):
    data = lab.file("f.bin", SIZE)
    manifest = in_pieces(lab, "f.bin", lab.depots(1), 256 * 1024)
    lab.path("d").mkdir()
    lab.path("d/mine").write_bytes(spoiled_at(data, 5))
    lab.path("d").chmod(0o555)
    try:
        run = repair(lab, manifest, "d/mine")
    finally:
        lab.path("d").chmod(0o755)
    assert run.rc == (5 if os.geteuid() else 0), run.err
    assert lab.read("d/mine") == (spoiled_at(data, 5) if os.geteuid()
                                  else data)


def test_repair_of_a_link_is_refused(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("real").write_bytes(spoiled_at(data, 5))
    lab.path("mine").symlink_to("real")
    run = repair(lab, in_pieces(lab, "f.bin", lab.depots(1), 256 * 1024),
                 "mine")
    assert run.rc == 5 and "is a symbolic link" in run.err
    assert lab.path("mine").is_symlink()
    assert lab.read("real") == spoiled_at(data, 5)


def test_verify_names_the_bytes_that_are_wrong(lab):
    data = lab.file("f.bin", SIZE)
    manifest = in_pieces(lab, "f.bin", lab.depots(1), 256 * 1024)
    lab.path("mine").write_bytes(data)
    run = lab.xdownload("verify", manifest, "mine", report=False)
    assert run.rc == 0 and "verified with sha-256" in run.err
    spoilt = bytearray(data)
    spoilt[300_000] ^= 1
    spoilt[SIZE - 1] ^= 1
    lab.path("mine").write_bytes(spoilt)
    run = lab.xdownload("verify", manifest, "mine", report=False)
    assert run.rc == 4
    assert run.out.decode().split() == [
        f"{256 * 1024}-{512 * 1024 - 1}", f"{SIZE - 256 * 1024}-{SIZE - 1}"]
    assert lab.read("mine") == spoilt


def test_verify_without_hashes_compares_samples(lab):
    data = lab.file("f.bin", SIZE)
    url = lab.depot().url("f.bin")
    lab.path("mine").write_bytes(data)
    run = lab.xdownload("verify", url, "mine", report=False)
    assert run.rc == 0, run.err
    assert run.err == "mine: present, not verified, 8 samples compared\n"
    lab.path("mine").write_bytes(bytes(SIZE))
    run = lab.xdownload("verify", url, "mine", report=False)
    assert run.rc == 4 and "mine: " in run.err
    assert run.out.decode() == f"0-{SIZE - 1}\n"
    assert lab.read("mine") == bytes(SIZE)


def test_repair_fetches_just_what_is_wrong(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    manifest = in_pieces(lab, "f.bin", [depot], 256 * 1024)
    spoilt = bytearray(data[:-5])
    spoilt[300_000] ^= 1
    lab.path("mine").write_bytes(spoilt)
    run = lab.xdownload("verify", "--repair", manifest, "mine", report=False)
    assert run.rc == 0, run.err
    assert lab.read("mine") == data and is_clean(lab, "mine")
    assert depot.bytes_sent() == 2 * 256 * 1024


def test_a_repair_by_the_whole_hash_fetches_all(lab):
    data = lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", lab.depots(2))
    lab.path("mine").write_bytes(data[:SIZE // 2] + bytes(SIZE - SIZE // 2))
    run = lab.xdownload("verify", "--repair", manifest, "mine", report=False)
    assert run.rc == 0, run.err
    assert lab.read("mine") == data and is_clean(lab, "mine")


def test_verify_of_nothing_is_local_trouble(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", lab.depots(1))
    assert lab.xdownload("verify", manifest, "mine", report=False).rc == 5
    assert lab.xdownload("verify", manifest, report=False).rc == 2
    assert lab.xdownload("verify", manifest, "-", report=False).rc == 2
    lab.path("mine").write_bytes(b"")
    lab.path("mine.part").write_bytes(b"other")
    run = lab.xdownload("verify", "--repair", manifest, "mine", report=False)
    assert run.rc == 5 and lab.read("mine.part") == b"other"
