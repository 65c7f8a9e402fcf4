# SPDX-License-Identifier: MIT
"""xdownload check: what depots hold of a file, and what is at risk."""
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab import all_of_terminal, bytes_of, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from fault_depot import FaultDepot  # noqa: E402
from ibp_depot import IbpDepot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402

MIB = 1 << 20
SIZE = 3 * MIB + 5
PIECE = 256 << 10  # as make cuts it
CELL = MIB  # of what is compared


def check(lab, *words, rc):
    run = lab.xdownload("check", "--json", "--silence", "500ms", *words,
                        report=False)
    assert run.rc == rc, run
    file, = json.loads(run.out)["files"]
    return file


def verdicts(file):
    """{depot: verdict}"""
    return {d["depot"]: d["verdict"] for d in file["depots"]}


def replicas(file):
    return [r for e in file["extents"] for r in e["replicas"]]


def runs(of):
    return [(r["offset"], r["offset"] + r["length"]) for r in of]


def manifest(lab, depots, data, name="f.bin"):
    """With hashes of pieces."""
    lab.path("original").write_bytes(data)
    path = f"made-{time.monotonic_ns()}.xnd"
    run = lab.xdownload("make", "--offline", "original",
                        *(d.url(name) for d in depots), "-o", path,
                        report=False)
    assert run.rc == 0, run
    return path


def flipped(data, *places):
    bad = bytearray(data)
    for place in places:
        bad[place] ^= 1
    return bytes(bad)


# ---- verdicts ----

def test_depots_that_are_as_the_manifest_says_are_ok(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(3)
    for words in [], ["--full"]:
        file = check(lab, manifest(lab, depots, data), *words, rc=0)
        assert set(verdicts(file).values()) == {"ok"}
        assert file["algorithm"] == "sha-256" and file["usable"] == 3
        assert file["one_good_copy"]["bytes"] == 0
        assert file["no_good_copy"]["bytes"] == 0
        for r in replicas(file):
            assert r["bytes_right"] == r["bytes_read"] > 0
            assert r["bytes_read"] == (SIZE if words else 8 * PIECE - PIECE + 5)
            assert r["ranges"] and r["object_size"] == SIZE


# A fault, the verdict on its depot by samples, and the reason.
TABLE = {
    "none": ("ok", None),
    "never_answers": ("dead", r"no bytes"),
    "header_only": ("dead", r"no bytes"),
    "endless_header": ("dead", r"header is longer"),
    "trickles": ("dead", r"no bytes"),
    "closes_mid_body": ("ok", None),
    "closes_before_the_header": ("dead", r"[Ee]mpty reply|closed"),
    "resets_every_tenth": ("ok", None),
    "is_away": ("dead", r"."),
    "fewer_bytes": ("dead", r"."),
    "wrong_range": ("lying", r"wrong"),
    "whole_file": ("unranged", r"no ranges"),
    "html_page": ("stale", r"bytes instead of"),
    "another_total": ("stale", r"bytes instead of"),
    "unsatisfiable": ("stale", r"bytes instead of"),
    "encodes": ("dead", r"."),
    "sends_less": ("ok", None),
    "status_404": ("dead", "404"),
    "status_403": ("denied", "403: access is denied"),
    "status_410": ("dead", "410"),
    "busy_503": ("ok", None),
    "redirects_in_a_loop": ("dead", r"redirect"),
    "redirects_to_a_file": ("dead", r"."),
    "flips_bits": ("lying", r"bytes read are wrong, the first at"),
    "another_file": ("lying", r"bytes read are wrong, the first at 0"),
}


# Those that are waited for: pauses between attempts, and ten seconds.  Below are
# a depot that trickles, and one that breaks off once.
LONG = ("closes_mid_body", "fewer_bytes", "trickles")


@pytest.mark.parametrize("fault", [
    pytest.param(f, marks=pytest.mark.slow if f in LONG else ())
    for f in TABLE])
def test_a_fault_has_its_verdict(lab, fault):
    data = lab.file("f.bin", SIZE)
    good = lab.depot()
    verdict, reason = TABLE[fault]
    with FaultDepot(data, fault) as bad:
        path = manifest(lab, [good, bad], data)
        words = ["--max-time", "30s"]
        file = check(lab, path, *words,
                     rc=0 if verdict in ("ok", "unranged") else 1)
        assert verdicts(file) == {good.host: "ok", bad.host: verdict}, file
        said = file["depots"][1]["reason"]
        assert (said is None) == (reason is None)
        assert reason is None or re.search(reason, said), said
        usable = verdict in ("ok", "unranged")
        assert file["one_good_copy"]["bytes"] == (0 if usable else SIZE)


@pytest.mark.slow
def test_a_depot_that_trickles_is_given_up(lab):
    data = lab.file("f.bin", SIZE)
    with FaultDepot(data, "trickles") as depot:
        file = check(lab, manifest(lab, [lab.depot(), depot], data),
                     "--silence", "3s", rc=1)
        assert verdicts(file)[depot.host] == "dead"
        assert "in the last 10 s" in file["depots"][1]["reason"]


def test_a_dead_depot_takes_no_longer_for_many_extents(lab):
    data = lab.file("f.bin", SIZE)
    depots = [lab.depot(), lab.silent()]
    path = lab.exnode_of("f.bin", [(at, 1000, d.url("f.bin"), at, SIZE)
                                   for d in depots
                                   for at in range(0, 40_000, 1000)])
    began = time.monotonic()
    file = check(lab, path, rc=1)
    assert time.monotonic() - began < 5
    assert list(verdicts(file).values()) == ["ok", "dead"]
    assert file["depots"][1]["replicas"] == 40
    assert file["one_good_copy"]["bytes"] == 40_000


# ---- the line ----

def test_a_line_that_is_down_blames_no_depot(lab):
    data = lab.file("f.bin", SIZE)
    path = manifest(lab, [lab.silent(), lab.silent()], data)
    file = check(lab, path, rc=1)
    assert file["line_down"] and set(verdicts(file).values()) == {"unreached"}
    assert file["no_good_copy"]["bytes"] == 0
    run = lab.xdownload("check", "--silence", "500ms", path, report=False)
    assert run.rc == 1 and run.out == b""
    assert len(run.err.splitlines()) == 1
    assert "no depot can be reached" in run.err
    with StoreDepot() as store:
        run = lab.xdownload("check", "--silence", "500ms", path, "--heal",
                            "--to", store.url, report=False)
        assert run.rc == 1 and not store.requests


@pytest.mark.parametrize("depots", [["silent"], ["silent", "dead"]], ids=str)
def test_a_depot_that_is_alone_is_dead_and_so_are_those_beside_a_no(lab,
                                                                    depots):
    data = lab.file("f.bin", SIZE)
    path = manifest(lab, [getattr(lab, d)() for d in depots], data)
    file = check(lab, path, rc=1)
    assert not file["line_down"] and set(verdicts(file).values()) == {"dead"}
    assert file["no_good_copy"]["bytes"] == SIZE


def test_without_a_route_one_depot_is_not_dead(lab):
    data = lab.file("f.bin", SIZE)
    path = manifest(lab, [lab.depot()], data)
    alone = ["unshare", "-r", "-n"]
    if subprocess.run([*alone, "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        alone = ["unshare", "-n"]  # a container in which root may do that
    lab.before = [*alone, *lab.before]
    assert check(lab, path, rc=1)["line_down"]


def test_probes_have_a_part_of_the_time_allowed(lab):
    with IbpDepot(bytes_of(1000), fault="never_answers") as depot:
        path = ibp_exnode(lab, depot, 1000)
        run = lab.xdownload("check", "--max-time", "1200ms", "--silence", "20s",
                            path, report=False)
    assert run.rc == 1 and "max-time" in run.err, run
    assert run.seconds < 2.2, run


def test_a_slow_depot_is_usable(lab):
    data = lab.file("f.bin", MIB)
    depots = lab.depots(2) + [lab.depot(rate=MIB // 2, writes_ahead=True)]
    path = manifest(lab, depots, data)
    file = check(lab, "--full", path, rc=0)
    assert list(verdicts(file).values()) == ["ok", "ok", "slow"]
    assert "KiB/s" in file["depots"][2]["reason"]
    # Our own limit says nothing of them.
    file = check(lab, "--full", "--limit-rate", "2m", path, rc=0)
    assert set(verdicts(file).values()) == {"ok"}


@pytest.mark.slow
def test_a_depot_that_is_slow_to_answer_is_slow(lab):
    data = lab.file("f.bin", 100_000)
    with FaultDepot(data, delay=2.2) as slow:
        path = manifest(lab, [lab.depot(), slow], data)
        file = check(lab, path, "--silence", "5s", rc=0)
        assert verdicts(file)[slow.host] == "slow"
        assert re.search(r"answers after 2\.\d s", file["depots"][1]["reason"])


def test_one_wrong_byte_is_found_by_full_and_its_piece_named(lab):
    data = lab.file("f.bin", SIZE)
    # Of samples, the pieces 0, 1, 3, 5, 6, 8, 10 and 12 are read.
    place = 2 * PIECE + 17
    bad = lab.depot(files={"f.bin": flipped(data, place)})
    path = manifest(lab, [lab.depot(), bad], data)
    assert verdicts(check(lab, path, rc=0))[bad.host] == "ok"
    file = check(lab, "--full", path, rc=1)
    assert verdicts(file)[bad.host] == "lying"
    good, wrong = replicas(file)
    assert good["wrong"] == []
    assert runs(wrong["wrong"]) == [(2 * PIECE, 3 * PIECE)]
    assert wrong["bytes_wrong"] == PIECE
    # Its other bytes are as good as any.
    assert runs(file["one_good_copy"]["runs"]) == [(2 * PIECE, 3 * PIECE)]
    assert file["no_good_copy"]["bytes"] == 0


def test_two_wrong_copies_may_be_one_good_file(lab):
    data = lab.file("f.bin", SIZE)
    bad = [lab.depot(files={"f.bin": flipped(data, at)})
           for at in (0, 2 * PIECE)]
    path = manifest(lab, bad, data)
    file = check(lab, "--full", path, rc=1)
    assert file["no_good_copy"]["bytes"] == 0
    assert runs(file["one_good_copy"]["runs"]) == [(0, PIECE),
                                                   (2 * PIECE, 3 * PIECE)]
    # By samples no byte of them is known to be good.
    file = check(lab, path, rc=1)
    assert file["usable"] == 1


def test_an_older_copy_with_other_bytes_is_stale_and_not_lying(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2) + [lab.depot(files={"f.bin": bytes_of(SIZE, 7)})]
    path = manifest(lab, depots, data)
    assert verdicts(check(lab, path, rc=1))[depots[2].host] == "lying"
    old = next(lab.folder.glob("www-*/f.bin"))
    os.utime(old, (1_000_000_000, 1_000_000_000))
    file = check(lab, path, rc=1)
    assert verdicts(file)[depots[2].host] == "stale"
    assert "older" in file["depots"][2]["reason"]
    assert replicas(file)[2]["modified"] == 1_000_000_000


def test_a_copy_of_another_size_is_stale(lab):
    data = lab.file("f.bin", SIZE)
    for other in data[:-1], data + b"x", b"":
        bad = lab.depot(files={"f.bin": other})
        file = check(lab, manifest(lab, [lab.depot(), bad], data), rc=1)
        assert verdicts(file)[bad.host] == "stale", file
        assert f"it has {len(other)} bytes instead of {SIZE}" in \
            file["depots"][1]["reason"]


def test_a_file_that_changes_while_it_is_read_is_stale(lab):
    data = lab.file("f.bin", SIZE)
    seen = []

    def answer(head):
        seen.append(head)
        at = re.search(r"(?i)range: bytes=(\d+)-(\d+)", head)
        first, last = int(at[1]), int(at[2])
        tag = '"one"' if len(seen) < 3 else '"two"'
        if len(seen) >= 3 and "If-Range" in head:
            return (f"HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n"
                    f"ETag: {tag}\r\n\r\n").encode() + data
        return ("HTTP/1.1 206 Partial Content\r\n"
                f"Content-Length: {last + 1 - first}\r\nETag: {tag}\r\n"
                f"Content-Range: bytes {first}-{last}/{SIZE}\r\n\r\n"
                ).encode() + data[first:last + 1][:300_000]

    odd = lab.odd(answer)
    file = check(lab, "--full", manifest(lab, [lab.depot(), odd], data), rc=1)
    assert verdicts(file)[odd.host] == "stale", file
    assert "changed" in file["depots"][1]["reason"]


@pytest.mark.parametrize("words", [[], ["--full"]])
def test_a_depot_without_ranges_is_usable(lab, words):
    data = lab.file("f.bin", SIZE)
    depots = [lab.depot(), lab.depot(ranges=False)]
    file = check(lab, *words, manifest(lab, depots, data), rc=0)
    assert list(verdicts(file).values()) == ["ok", "unranged"]
    right = replicas(file)[1]
    assert not right["ranges"]
    assert right["bytes_right"] == right["bytes_read"] > 0
    assert file["one_good_copy"]["bytes"] == 0


def test_what_the_options_leave_out_is_skipped(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2) + [lab.dead()]
    path = manifest(lab, depots, data)
    file = check(lab, "--exclude", depots[2].host, path, rc=0)
    assert list(verdicts(file).values()) == ["ok", "ok", "skipped"]
    assert file["skipped"] == 1
    file = check(lab, "--only", depots[0].host, path, rc=0)
    assert list(verdicts(file).values()) == ["ok", "skipped", "skipped"]
    assert file["one_good_copy"]["bytes"] == SIZE
    assert check(lab, "--https-only", path, rc=1)["usable"] == 0


# ---- IBP ----

def ibp_exnode(lab, depot, size, seconds=None):
    path = lab.exnode_of("f.bin", [(0, size, depot.url(), 0, size)])
    if seconds is not None:
        at = time.strftime("%Y-%m-%d %H:%M:%S",
                           time.gmtime(time.time() + seconds))
        text = Path(path).read_text().replace(
            "<exnode:read>",
            f'<exnode:metadata name="end" type="string">{at}'
            "</exnode:metadata><exnode:read>")
        Path(path).write_text(text)
    return path


def test_an_allocation_says_when_it_expires(lab):
    with IbpDepot(bytes_of(100_000), lifetime=5000) as depot:
        file = check(lab, ibp_exnode(lab, depot, 100_000), rc=0)
        replica, = replicas(file)
        assert replica["verdict"] == "ok" and replica["url"] is None
        assert abs(replica["expires_at"] - time.time() - 5000) < 60
        run = lab.xdownload("check", ibp_exnode(lab, depot, 100_000),
                            report=False)
        assert re.search(r"1 h 2\d min", run.out.decode())
        assert depot.held.keys[0] not in run.out.decode() + run.err


@pytest.mark.parametrize("how", ["its depot says so", "it is gone"])
def test_an_allocation_that_has_expired_is_expired(lab, how):
    is_kept = how == "its depot says so"
    with IbpDepot(bytes_of(1000), lifetime=86400 * is_kept) as depot:
        if is_kept:
            depot.answer_probe = lambda c: c.reply(1, 1, 1, 1000, 1000, 0, 2, 1)
            path = ibp_exnode(lab, depot, 1000)
        else:
            path = ibp_exnode(lab, depot, 1000, seconds=-100)
        file = check(lab, path, rc=1)
        assert list(verdicts(file).values()) == ["expired"]
        assert file["no_good_copy"]["bytes"] == 1000


def test_an_allocation_that_holds_too_little_is_stale(lab):
    with IbpDepot(bytes_of(1000)) as depot:
        del depot.held.data[500:]
        file = check(lab, ibp_exnode(lab, depot, 1000), rc=1)
        assert list(verdicts(file).values()) == ["stale"]


def test_an_allocation_that_is_gone_is_dead(lab):
    with IbpDepot(bytes_of(1000), "is_unknown") as depot:
        depot.answer_probe = lambda c: c.reply(-4)
        file = check(lab, ibp_exnode(lab, depot, 1000), rc=1)
        assert list(verdicts(file).values()) == ["dead"]
        assert "(-4)" in file["depots"][0]["reason"]


# ---- without hashes ----

def copies(lab, letters, size=SIZE):
    """Depots of which those with one letter have the same file; all of these
    are of the same age."""
    contents = {}
    for letter in letters:
        data = bytes_of(size)
        contents.setdefault(letter, data if letter == "a" else
                            flipped(data, 100 + ord(letter)))
    depots = [lab.depot(files={"f.bin": contents[c]}) for c in letters]
    for path in lab.folder.glob("www-*/f.bin"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return depots


# What the depots have, and the verdicts on them.
VOTES = {
    "aa": "oo", "aab": "ool", "baa": "loo", "ab": "dd", "abc": "ddd",
    "aabb": "dddd", "aaabb": "oooll", "a": "o",
}
WORDS = {"o": "ok", "l": "lying", "d": "disputed"}


@pytest.mark.parametrize("how", ["exnode", "typed"])
@pytest.mark.parametrize("letters", VOTES)
def test_without_hashes_the_majority_is_right(lab, letters, how):
    depots = copies(lab, letters)
    given = ([lab.exnode("f.bin", depots, SIZE)] if how == "exnode" else
             [d.url("f.bin") for d in depots])
    expected = VOTES[letters]
    for words in [], ["--full"]:
        file = check(lab, *words, *given, rc=0 if set(expected) == {"o"} else 1)
        assert list(verdicts(file).values()) == [WORDS[c] for c in expected]
        assert file["algorithm"] is None
    if "d" in expected:
        assert runs(file["no_good_copy"]["runs"]) == [(0, CELL)]
    if "l" in expected:
        wrong, = {tuple(runs(r["wrong"])) for r in replicas(file)
                  if r["verdict"] == "lying"}
        assert wrong == ((0, CELL),)


@pytest.mark.parametrize("sizes, expected", [
    ((0, 0, 1), ["ok", "ok", "stale"]), ((0, 1), ["disputed"] * 2),
    ((1, 0, 0), ["stale", "ok", "ok"])])
def test_of_urls_that_have_different_sizes_most_are_right(lab, sizes, expected):
    depots = [lab.depot(files={"f.bin": bytes_of(SIZE)[:SIZE - n]})
              for n in sizes]
    file = check(lab, *(d.url("f.bin") for d in depots), rc=1)
    assert list(verdicts(file).values()) == expected
    assert file["size"] == (None if "disputed" in expected else SIZE)


def test_a_checksum_decides_in_place_of_a_majority(lab):
    depots = copies(lab, "abb")
    digest = hashlib.sha256(bytes_of(SIZE)).hexdigest()
    file = check(lab, "--full", "--checksum", digest,
                 *(d.url("f.bin") for d in depots), rc=1)
    assert list(verdicts(file).values()) == ["ok", "lying", "lying"]
    assert file["algorithm"] == "sha-256"


def test_a_hash_of_an_extent_decides(lab):
    depots = copies(lab, "ab")
    path = lab.exnode("f.bin", depots, SIZE)
    digest = hashlib.sha256(bytes_of(SIZE)).hexdigest()
    text = Path(path).read_text().replace(
        "<exnode:read>", '<exnode:metadata name="sha256" type="string">'
        f"{digest}</exnode:metadata><exnode:read>")
    Path(path).write_text(text)
    file = check(lab, "--full", path, rc=1)
    assert list(verdicts(file).values()) == ["ok", "lying"]
    assert runs(replicas(file)[1]["wrong"]) == [(0, CELL)]


# ---- what is at risk ----

def test_bytes_that_few_depots_hold_are_at_risk(lab):
    lab.file("f.bin", 4 * MIB)
    a, b, c = lab.depots(3)
    dead = lab.dead()

    def part(depot, begin, end):
        return (begin * MIB, (end - begin) * MIB, depot.url("f.bin"),
                begin * MIB, 4 * MIB)

    path = lab.exnode_of("f.bin", [
        part(a, 0, 2), part(b, 1, 3), part(c, 1, 2), part(dead, 2, 4)])
    for words in [], ["--full"]:
        file = check(lab, *words, path, rc=1)
        assert list(verdicts(file).values()) == ["ok", "ok", "ok", "dead"]
        assert runs(file["one_good_copy"]["runs"]) == [(0, MIB),
                                                       (2 * MIB, 3 * MIB)]
        assert runs(file["no_good_copy"]["runs"]) == [(3 * MIB, 4 * MIB)]
    run = lab.xdownload("check", path, report=False)
    assert re.search(r"no depot has a good copy of 1\.0 MiB .*3145728-4194303",
                     run.out.decode())
    assert re.search(r"one depot alone has a good copy of 2\.0 MiB "
                     r".*0-1048575, 2097152-3145727", run.out.decode())


def test_overlapping_extents_are_compared_where_they_overlap(lab):
    data = lab.file("f.bin", 2 * MIB)
    bad = lab.depot(files={"f.bin": flipped(data, MIB + 5)})
    a, b = lab.depots(2)
    size = 2 * MIB
    path = lab.exnode_of("f.bin", [
        (0, size, a.url("f.bin"), 0, size),
        (MIB // 2, MIB, b.url("f.bin"), MIB // 2, size),
        (MIB, MIB, bad.url("f.bin"), MIB, size)])
    file = check(lab, "--full", path, rc=1)
    assert verdicts(file)[bad.host] == "lying"
    wrong, = [r for r in replicas(file) if r["verdict"] == "lying"]
    assert runs(wrong["wrong"]) == [(MIB, MIB + MIB // 2)]


# ---- running ----

def test_the_table_names_each_depot_and_what_is_wrong(lab):
    data = lab.file("f.bin", SIZE)
    depots = [lab.depot(), lab.dead()]
    path = manifest(lab, depots, data)
    run = lab.xdownload("check", path, report=False)
    lines = run.out.decode().splitlines()
    assert run.rc == 1 and run.err == ""
    assert lines[0].split() == ["depot", "verdict", "usable", "answer", "rate",
                                "wrong", "expires", "in"]
    assert lines[1].startswith(depots[0].host) and " ok " in lines[1]
    assert re.search(r" dead +0/1 ", lines[2])
    assert lines[3].startswith(f"{depots[1].host}: dead: ")
    assert lines[4] == ("1 of 2 replicas on 2 depots usable; samples compared "
                        "with sha-256")
    quiet = lab.xdownload("check", "-q", path, report=False)
    assert quiet.rc == 1 and quiet.out == b"" and quiet.err == ""
    verbose = lab.xdownload("check", "-v", path, report=False).out.decode()
    assert f"bytes 0-{SIZE - 1}, {depots[0].host}: ok: nothing is wrong" in \
        verbose


def test_a_terminal_shows_how_far_it_is(lab):
    data = lab.file("f.bin", SIZE)
    path = manifest(lab, [lab.depot(rate=MIB)], data)
    leader, follower = os.openpty()
    process = lab.start("check", "--full", path, report=False, stderr=follower)
    os.close(follower)
    said = all_of_terminal(leader)
    run = process.wait()
    assert run.rc == 0 and b"1 of 1 replica on 1 depot usable" in run.out
    assert re.search(r"checking: [1-9]\d % of 3073 KiB", said)
    assert "\n" not in said and said.endswith("\r\033[K")  # gone at the end


@pytest.mark.parametrize("words", [[], ["--full"]])
def test_an_interruption_ends_it(lab, words):
    data = lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=20_000)]
    process = lab.start("check", *words, manifest(lab, depots, data),
                        report=False)
    wait_until(lambda: process.threads() >= 3, "it reads")
    time.sleep(0.3)
    began = time.monotonic()
    process.send(signal.SIGINT)
    run = process.wait()
    assert run.rc == 130 and "interrupted" in run.err
    assert time.monotonic() - began < 3


def test_the_time_allowed_ends_it(lab):
    data = lab.file("f.bin", SIZE)
    path = manifest(lab, [lab.depot(rate=20_000)], data)
    run = lab.xdownload("check", "--full", "--max-time", "700ms", path,
                        report=False)
    assert run.rc == 1 and "max-time" in run.err and run.out == b""
    assert run.seconds < 5


@pytest.mark.slow
def test_a_read_that_breaks_off_goes_on_where_it_was(lab):
    data = lab.file("f.bin", SIZE)
    with FaultDepot(data, "closes_mid_body") as depot:
        file = check(lab, "--full", "--retry", "30",
                     manifest(lab, [depot], data), rc=0)
        assert replicas(file)[0]["bytes_right"] == SIZE
        assert depot.bytes_sent() < SIZE + 100_000


def test_the_limit_of_the_rate_holds(lab):
    data = lab.file("f.bin", 2 * MIB)
    path = manifest(lab, lab.depots(2), data)
    run = lab.xdownload("check", "--full", "--limit-rate", "2m", path,
                        report=False)
    assert run.rc == 0 and 1.4 < run.seconds < 8


def test_nothing_is_written(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    path = manifest(lab, [depot], data)
    before = sorted(p.name for p in lab.work.rglob("*"))
    assert lab.xdownload("check", "--full", path, report=False).rc == 0
    assert sorted(p.name for p in lab.work.rglob("*")) == before
    assert {r["status"] for r in depot.requests()} == {206}


@pytest.mark.parametrize("total", ["18446744073709551615", "9223372036854775808",
                                   "1", "0", "-5", "x"])
def test_hostile_sizes_are_no_sizes(lab, total):
    data = lab.file("f.bin", SIZE)

    def answer(head):
        return (f"HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n"
                f"Content-Range: bytes 0-1/{total}\r\n\r\nab").encode()

    odd = lab.odd(answer)
    good = lab.depot()
    for given in ([manifest(lab, [good, odd], data)],
                  [good.url("f.bin"), odd.url("f.bin")]):
        file = check(lab, "--full", "--max-time", "20s", *given, rc=1)
        assert verdicts(file)[good.host] in ("ok", "disputed")
        assert verdicts(file)[odd.host] in ("dead", "stale", "disputed"), file


def test_files_of_a_manifest_are_checked_one_by_one(lab):
    lab.file("a.bin", 300_000, seed=1)
    lab.file("b.bin", 300_000, seed=2)
    depot, dead = lab.depot(), lab.dead()
    path = lab.metalink_of([("a.bin", [depot], None), ("b.bin", [dead], None)])
    run = lab.xdownload("check", "--json", path, report=False)
    assert run.rc == 1
    files = json.loads(run.out)["files"]
    assert [(f["path"], f["usable"]) for f in files] == [("a.bin", 1),
                                                        ("b.bin", 0)]
    assert lab.xdownload("check", "--file", "a.bin", path, report=False).rc == 0


# ---- mistakes ----

@pytest.mark.parametrize("words, said", [
    (["check"], "no manifest and no URL is given"),
    (["check", "m", "m"], "check takes one manifest, not 2"),
    (["check", "--repair", "m"], "works only with verify"),
    (["check", "-o", "x", "m"], "--output works only with"),
    (["check", "--ful", "--jsn", "m"], "did you mean --json?"),
    (["show", "--full", "m"], "works only with check"),
    (["chekc", "m"], "did you mean 'xdownload check'?"),
    (["-q", "check", "m"], "check has to be the first word"),
])
def test_a_mistake_is_named(lab, words, said):
    run = lab.xdownload(*words, report=False)
    assert run.rc == 2 and said in run.err, run


def test_what_is_not_there_cannot_be_checked(lab):
    assert lab.xdownload("check", "none.xnd", report=False).rc == 5
    lab.write("bad.xnd", "<exnode")
    assert lab.xdownload("check", "bad.xnd", report=False).rc == 3
    assert lab.xdownload("check", lab.dead().url("f"), report=False).rc == 1
