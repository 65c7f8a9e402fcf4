# SPDX-License-Identifier: MIT
"""xdownload put: copies of a file on stores, and what the manifests say of
them; what becomes of it when a store misbehaves, or when it is killed."""
import contextlib
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest

import parity
from lab import PATIENCE, Lab, bytes_of, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from store_depot import StoreDepot  # noqa: E402

MIB = 1 << 20


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


@contextlib.contextmanager
def stores(*faults, rate=0):
    """A store for each fault, None for one without."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(StoreDepot(fault, rate))
               for fault in faults]


def to(depots):
    return [word for d in depots for word in ("--to", d.url)]


def source(lab, size, seed=1):
    """The file that is uploaded."""
    data = bytes_of(size, seed)
    lab.path("film.bin").write_bytes(data)
    return data


def start(lab, depots, *words):
    return lab.start("put", "film.bin", *to(depots), *words, report=False)


def put(lab, depots, *words):
    return start(lab, depots, *words).wait(PATIENCE)


def report(lab, path="report.json"):
    return json.loads(lab.path(path).read_text())


def assert_fetched(lab, data, manifest="film.bin.xnd"):
    run = lab.xdownload("--no-continue", "--force", "-o", "back", manifest)
    assert run.rc == 0, run.err
    assert lab.read("back") == data


def test_each_store_gets_a_whole_copy(lab):
    data = source(lab, 3 * MIB + 17)
    with stores(None, None) as depots:
        run = put(lab, depots, "--extent", "1m")
        assert run.rc == 0, run.err
        for d in depots:
            assert len(d.objects) == 4
            assert b"".join(v for _, v in sorted(
                d.objects.items(),
                key=lambda o: int(o[0].rsplit("-", 1)[1]))) == data
        assert_fetched(lab, data)


def test_names_have_128_random_bits(lab):
    source(lab, 1000)
    seen = set()
    with stores(None) as (d,):
        for i in range(3):
            assert put(lab, [d], "-o", f"{i}.xnd").rc == 0
        for path in d.objects:
            assert re.fullmatch(r"/dav/[0-9a-f]{32}-0", path), path
            seen.add(path)
    assert len(seen) == 3


def test_each_object_is_looked_for_first(lab):
    source(lab, 1000)
    with stores(None) as (d,):
        assert put(lab, [d]).rc == 0
        commands = [c for c, _ in d.requests]
        assert commands.index("HEAD") < commands.index("PUT")


def test_stripes_have_as_many_copies_as_are_wanted(lab):
    data = source(lab, 8 * MIB)
    with stores(None, None, None) as depots:
        run = put(lab, depots, "--stripe", "--copies", "2", "--extent", "1m")
        assert run.rc == 0, run.err
        offsets = [int(p.rsplit("-", 1)[1]) for d in depots for p in d.objects]
        assert sorted(offsets) == sorted([i * MIB for i in range(8)] * 2)
        assert_fetched(lab, data)
        shown = json.loads(lab.xdownload(
            "show", "--json", "film.bin.xnd", report=False).out)
        assert all(len(e["replicas"]) == 2
                   for e in shown["files"][0]["extents"])


def test_the_manifest_proves_each_piece_and_the_whole(lab):
    data = source(lab, 2 * MIB)
    with stores(None) as (d,):
        assert put(lab, [d]).rc == 0
    f = json.loads(lab.xdownload("show", "--json", "film.bin.xnd",
                                 report=False).out)["files"][0]
    assert f["size"] == 2 * MIB
    assert f["hashes"]["sha-256"] == sha256(data).hexdigest()
    assert f["pieces"]["count"] == 8


def test_a_metalink_has_one_object_for_each_copy(lab):
    data = source(lab, 2 * MIB)
    with stores(None, None) as depots:
        assert put(lab, depots, "-o", "film.meta4").rc == 0
        assert [len(d.objects) for d in depots] == [1, 1]
        assert "urn:ietf:params:xml:ns:metalink" in lab.read(
            "film.meta4").decode()
        assert lab.path("film.private.xnd").exists()
        assert_fetched(lab, data, "film.meta4")


def test_a_metalink_cannot_have_stripes(lab):
    source(lab, 2 * MIB)
    with stores(None) as (d,):
        run = put(lab, [d], "--extent", "1m", "-o", "film.meta4")
        assert run.rc != 0
        assert "Metalink" in run.err


def test_secrets_are_in_the_private_manifest_alone(lab):
    source(lab, 1000)
    with stores(None) as (d,):
        assert put(lab, [d], "-o", "f.xnd").rc == 0
    private = lab.path("f.private.xnd")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE(lab.path("f.xnd").stat().st_mode) & 0o044
    assert "<exnode:manage>http" in private.read_text()
    assert "<exnode:manage></exnode:manage>" in lab.read("f.xnd").decode()


def test_an_empty_file_has_a_manifest(lab):
    source(lab, 0)
    with stores(None) as (d,):
        run = put(lab, [d])
        assert run.rc == 0, run.err
        assert not d.objects
    assert_fetched(lab, b"")


def test_a_manifest_that_is_there_is_not_replaced(lab):
    source(lab, 1000)
    with stores(None) as (d,):
        assert put(lab, [d], "-o", "f.xnd").rc == 0
        before = lab.read("f.xnd")
        run = put(lab, [d], "-o", "f.xnd")
        assert run.rc == 5
        assert "--force" in run.err
        assert lab.read("f.xnd") == before
        assert put(lab, [d], "-o", "f.xnd", "--force").rc == 0
        assert lab.read("f.xnd") != before


def test_objects_of_a_manifest_that_is_replaced_are_still_named(lab):
    source(lab, MIB)
    with stores(None) as [d]:
        assert put(lab, [d], "-o", "f.xnd").rc == 0
        before = lab.read("f.private.xnd")
        for n in (1, 2):
            source(lab, MIB, seed=n + 1)
            run = put(lab, [d], "-q", "-o", "f.xnd", "--force")
            assert run.rc == 0, run.err
            assert f"f.replaced-{n}.private.xnd names these objects" in run.err
        names = [lab.read(f"f.{which}private.xnd").decode() for which in
                 ("", "replaced-1.", "replaced-2.")]
        assert len(d.objects) == 3
        assert all(any(o in name for name in names) for o in d.objects)
    assert lab.read("f.replaced-1.private.xnd") == before
    mode = lab.path("f.replaced-1.private.xnd").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_the_report_has_each_store(lab):
    source(lab, 3 * MIB)
    with stores(None, None) as depots:
        assert put(lab, depots, "--report", "report.json").rc == 0
        said = report(lab)
        assert said["outcome"] == "complete"
        assert said["bytes_done"] == said["bytes_total"] == 6 * MIB
        assert said["copies_missing"] == 0
        assert [s["url"] for s in said["stores"]] == [d.url for d in depots]
        assert [s["bytes"] for s in said["stores"]] == [3 * MIB] * 2
    manual = (Path(os.environ["XD_SOURCE"]) /
              "cli/xdownload-put.pod").read_text()
    for name in [*said, *said["stores"][0]]:
        assert f"B<{name}>" in manual, name


def test_heal_tells_programs_what_it_has_replaced(lab):
    source(lab, 3 * MIB)
    with stores(None, None, None) as (first, lost, new):
        assert put(lab, [first, lost], "--extent", "1m").rc == 0
        lost.objects.clear()
        run = heal(lab, [new], "--json")
        assert run.rc == 0, run.err
        said = json.loads(run.out)
        assert said["files"][0]["usable"] == 3
        assert said["heal"]["outcome"] == "complete"
        assert said["heal"]["bytes_sent"] == 3 * MIB
        assert [s["extents"] for s in said["heal"]["stores"]] == [3]
        said = json.loads(heal(lab, [new], "--json").out)
        assert said["files"][0]["usable"] == 6
        assert said["heal"] == {}  # nothing is to be replaced
        assert "heal" not in json.loads(lab.xdownload(
            "check", "film.bin.xnd", "--json", report=False).out)


# ---- stores that misbehave ----

@pytest.mark.parametrize("fault,words", [
    ("truncates", r"\b524288\b"),
    ("loses", "does not have it"),
    ("flips_a_bit", "other bytes than were sent"),
    ("is_full", "507"),
    ("refuses", "403"),
    ("takes_none", "405"),
    ("hangs_up", ""),
])
def test_a_bad_store_is_named_and_another_takes_its_place(lab, fault, words):
    data = source(lab, MIB)
    with stores(fault, None) as (bad, good):
        run = put(lab, [bad, good], "--copies", "1", "--retry", "2")
        assert run.rc == 0, run.err
        assert f"127.0.0.1:{bad.port}" in run.err
        assert re.search(words, run.err), run.err
        assert not bad.objects, "what is of no use stays"
        assert len(good.objects) == 1
        assert_fetched(lab, data)


def test_a_store_that_closes_its_side_is_asked_again_at_once(lab):
    """Nothing is read over and over while it is, nor counted as sent."""
    data = source(lab, 16 * MIB)
    with stores(None) as (d,):
        d.half_closes = 1
        run = put(lab, [d], "--report", "report.json", "-v")
        assert run.rc == 0, run.err
        assert "closed the connection after" in run.err
        assert list(d.objects.values()) == [data]
        (store,) = report(lab)["stores"]
        assert store["failures"] == 1
        assert store["bytes_sent"] < 2 * len(data)


def test_without_another_store_the_copies_are_missing(lab):
    data = source(lab, 4 * MIB)
    with stores("is_full_after_two", None) as depots:
        run = put(lab, depots, "--extent", "1m", "--report", "report.json")
        assert run.rc == 1
        assert "507" in run.err
        assert report(lab)["copies_missing"] == 2
        assert len(depots[0].objects) == 2
        # What is there is in the manifests, and the same command goes on.
        assert_fetched(lab, data)
        depots[0].fault = None
        before = depots[1].n_puts()
        run = put(lab, depots, "--extent", "1m")
        assert run.rc == 0, run.err
        assert depots[1].n_puts() == before
        assert len(depots[0].objects) == 4


def test_a_busy_store_is_asked_again(lab):
    source(lab, 1000)
    with stores("busy_once") as (d,):
        run = put(lab, [d], "--report", "report.json")
        assert run.rc == 0, run.err
        assert report(lab)["stores"][0]["failures"] == 1


def test_the_only_store_is_asked_again_while_it_is_busy(lab):
    """More often than --retry says, as a download asks its only depot."""
    data = source(lab, 1000)
    with stores("busy_thrice") as (d,):
        run = put(lab, [d], "--retry", "2", "--report", "report.json")
        assert run.rc == 0, run.err
        assert report(lab)["stores"][0]["failures"] == 3
        assert_fetched(lab, data)


def test_a_busy_store_is_given_up_where_another_can_take_its_place(lab):
    data = source(lab, 1000)
    with stores("busy_thrice", None) as (busy, other):
        run = put(lab, [busy, other], "--copies", "1", "--retry", "2")
        assert run.rc == 0, run.err
        assert busy.n_puts() == 2 and len(other.objects) == 1
        assert_fetched(lab, data)


@pytest.mark.parametrize("status", [503, 423])
@pytest.mark.parametrize("patience", ["0s", "2s"])
def test_a_store_that_stays_busy_is_given_up_after_patience(lab, patience,
                                                            status):
    source(lab, 1000)
    with stores(None) as (d,):
        d.refused["PUT"] = status
        run = put(lab, [d], "--retry", "2", "--patience", patience)
        assert run.rc == 1 and str(status) in run.err
        # After the first failure of a URL there is no pause, and then 0.5 s, which
        # doubles.
        assert 2 <= [c for c, _ in d.requests].count("PUT") <= 6


@pytest.mark.parametrize("fault,n_puts", [("takes_it_twice", 1),
                                          ("stores_and_hangs_up_once", 1),
                                          ("cuts_and_hangs_up_once", 2)])
def test_what_an_attempt_has_left_is_looked_at(lab, fault, n_puts):
    data = source(lab, MIB)
    with stores(fault) as (d,):
        run = put(lab, [d])
        assert run.rc == 0, run.err
        assert list(d.objects.values()) == [data]
        assert d.n_puts() <= 2 and d.n_puts() >= n_puts


@pytest.mark.parametrize("fault", [
    "works_on_it", "works_behind_a_gateway", "knows_no_conditions",
    "takes_conditions_for_bad_requests", "says_412_to_each_condition"])
def test_a_store_with_habits_of_its_own_gets_the_object_once(lab, fault):
    """It is silent for longer than --silence, or answers for a server behind it that
    has not done yet; or it does not know If-None-Match."""
    data = source(lab, MIB)
    with stores(fault) as (d,):
        run = put(lab, [d], "--silence", "500ms", "--report", "report.json")
        assert run.rc == 0, run.err
        assert report(lab)["stores"][0]["failures"] == 0, run.err
        assert list(d.objects.values()) == [data]
        assert [c for c, _ in d.requests].count("DELETE") == 0
        assert d.n_puts() == (1 if "works" in fault else 2)
        assert_fetched(lab, data)


@pytest.mark.parametrize("status,length", [(405, 0), (501, 0), (403, 0),
                                           (200, 0)])
def test_a_store_that_does_not_answer_head_is_asked_by_get(lab, status, length):
    data = source(lab, MIB)
    with stores(None) as (d,):
        d.refused["HEAD"] = status
        run = put(lab, [d])
        assert run.rc == 0, run.err
        assert list(d.objects.values()) == [data]
        assert_fetched(lab, data)


@pytest.mark.parametrize("n_puts,n_removed,change", [
    (1, 0, lambda data: data), (2, 1, lambda data: data[:1000]),
    (2, 1, lambda data: bytes(b ^ 1 for b in data))],
    ids=["right", "cut", "other-bytes"])
def test_what_comes_after_the_end_is_known(lab, n_puts, n_removed, change):
    """It is taken if it is right; or it is removed, and sent again."""
    data = source(lab, MIB)
    with stores("is_late") as (d,):
        run = put(lab, [d], "--silence", "1", "--retry", "1",
                  "--patience", "1s")
        assert run.rc == 1 and not d.objects, run
        d.fault = None
        d.requests.clear()
        d.put_late(change)
        run = put(lab, [d], "--silence", "1")
        assert run.rc == 0, run.err
        assert list(d.objects.values()) == [data]
        assert 1 + d.n_puts() == n_puts
        assert [c for c, _ in d.requests].count("DELETE") == n_removed
        assert_fetched(lab, data)


def test_what_comes_late_is_taken_by_the_next_attempt(lab):
    data = source(lab, MIB)
    with stores("is_late") as (d,):
        run = start(lab, [d], "--silence", "1", "--patience", "1s")
        wait_until(lambda: ("DELETE", d.requests[0][1]) in d.requests
                   if d.requests else False, "the first attempt ends")
        d.fault = None
        d.put_late()
        ended = run.wait(PATIENCE)
        assert ended.rc == 0, ended.err
        assert list(d.objects.values()) == [data]
        assert_fetched(lab, data)


# ---- going on ----

def test_a_file_that_changes_is_refused(lab):
    source(lab, 4 * MIB)
    with stores(None, rate=2e6) as (d,):
        run = start(lab, [d], "--extent", "1m")
        wait_until(lambda: d.objects, "an object")
        with open(lab.path("film.bin"), "r+b") as f:
            f.seek(3 * MIB)
            f.write(b"changed")
        ended = run.wait()
        assert ended.rc == 5, ended.err
        assert "changed" in ended.err


def test_an_upload_of_another_file_is_not_gone_on_with(lab):
    source(lab, 4 * MIB)
    with stores("is_full_after_two") as (d,):
        assert put(lab, [d], "--extent", "1m").rc == 1
        source(lab, 4 * MIB, seed=7)
        d.fault = None
        run = put(lab, [d], "--extent", "1m")
        assert run.rc != 0
        assert "--force" in run.err
        assert put(lab, [d], "--extent", "1m", "--force").rc == 0


def test_two_uploads_of_one_manifest_exclude_each_other(lab):
    source(lab, 2 * MIB)
    with stores(None, rate=1e6) as (d,):
        run = start(lab, [d])
        wait_until(lambda: d.requests, "a request")
        second = put(lab, [d])
        assert second.rc == 5
        assert "another" in second.err or "in use" in second.err
        assert run.wait().rc == 0


def test_an_interrupted_upload_goes_on(lab):
    data = source(lab, 4 * MIB)
    with stores(None, rate=2e6) as (d,):
        run = start(lab, [d], "--extent", "512k")
        wait_until(lambda: len(d.objects) >= 2, "two objects")
        run.send(signal.SIGINT)
        ended = run.wait()
        assert ended.rc == 130
        assert "goes on" in ended.err
        d.rate = 0
        assert put(lab, [d], "--extent", "512k").rc == 0
        assert d.received <= len(data) + 2 * 512 * 1024
        assert len(d.objects) == 8
        assert_fetched(lab, data)


@pytest.mark.parametrize("rest", [0, 4], ids=["nothing-else", "others"])
def test_what_arrives_after_a_kill_is_not_sent_again(lab, rest):
    """The first object is in the hands of the kernel, which a kill does not
    empty."""
    extent = 128 << 10
    data = source(lab, (2 + rest) * extent)
    words = ["--extent", str(extent), "--report", "report.json"]
    with stores(None, rate=1e6) as (d,):
        run = start(lab, [d], *words)
        wait_until(lambda: d.n_puts() == 2, "the second object begins")
        run.kill()
        run.popen.wait()
        run = put(lab, [d], *words)
        assert run.rc == 0, run.err
        first = [path for command, path in d.requests if command == "PUT"][0]
        assert d.requests.count(("PUT", first)) == 1
        assert d.received <= len(data) + extent
        assert_fetched(lab, data)


N_STORES, UNDER_WAY = 3, 2  # objects at a time for each store


def kill_and_go_on(lab, seed, n_kills):
    """Returns what was sent beyond the file, in extents."""
    extent, rng = 256 << 10, random.Random(seed)
    data = source(lab, 6 * MIB + 5)
    words = ["--stripe", "--copies", "2", "--extent", str(extent)]
    with stores(*[None] * N_STORES, rate=6e6) as depots:
        for _ in range(n_kills):
            run = start(lab, depots, *words)
            time.sleep(rng.uniform(0, 0.6))
            run.kill()
            run.popen.wait()
        for d in depots:
            d.rate = 0
        run = put(lab, depots, *words)
        if run.rc == 5:  # it was complete before it was killed
            assert "already" in run.err, run.err
        else:
            assert run.rc == 0, run.err
        assert_fetched(lab, data)
        named = lab.read("film.bin.xnd").decode()
        for d in depots:
            for path in d.objects:
                assert f"127.0.0.1:{d.port}{path}<" in named, "an orphan"
        return sum(d.received for d in depots) / extent - 2 * len(
            data) / extent


def test_an_upload_that_is_killed_goes_on(lab):
    assert kill_and_go_on(lab, 1, 1) <= N_STORES * UNDER_WAY


def test_no_object_is_begun_before_the_inventory_names_it(lab):
    """Some servers make an empty object when the head of a PUT comes."""
    unnamed, n_puts = [], 0
    names = ["film.bin.private.xnd.journal", "film.bin.private.xnd",
             "film.bin.private.xnd.journal"]  # which may have become the other

    def look(h):
        nonlocal n_puts
        if h.command != "PUT":
            return
        n_puts += 1
        text = "".join(lab.path(n).read_text() for n in names
                       if lab.path(n).exists())
        if f"127.0.0.1:{h.store.port}{h.path}" not in text:
            unnamed.append(h.path)
    source(lab, 3 * MIB)
    with stores(None, None) as depots:
        for d in depots:
            d.on_request = look
        assert put(lab, depots, "--extent", "64k").rc == 0
    assert not unnamed
    assert n_puts >= 2 * 48


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_whenever_it_is_killed(lab, seed):
    assert kill_and_go_on(lab, seed, 1) <= N_STORES * UNDER_WAY


# ---- mistakes that people make ----

@pytest.mark.parametrize("words,said", [
    (["film.bin"], "--to"),
    (["film.bin", "--to", "example.com"], "URL of a store"),
    (["film.bin", "--to", "ftp://127.0.0.1/x/"], "ftp"),
    (["film.bin", "--to", "http://127.0.0.1:1/a/", "--copies", "2"],
     "as many stores"),
    (["film.bin", "--to", "http://127.0.0.1:1/a/", "--copies", "0"],
     "from 1"),
    (["film.bin", "--to", "http://127.0.0.1:1/a/", "--extent", "5"],
     "extent"),
    (["film.bin", "film.bin", "--to", "http://127.0.0.1:1/a/"], "one file"),
    (["http://127.0.0.1/x", "--to", "http://127.0.0.1:1/a/"],
     "file of this machine"),
    (["film.bin", "--to", "http://127.0.0.1:1/a/", "--to",
      "http://127.0.0.1:1/a/"], "twice"),
    (["film.bin", "--to", "http://127.0.0.1:1/a/", "-o", "-"], "--output"),
    (["film.bin", "--to", "http://127.0.0.1:1/a/", "-o", "film.bin",
      "--force"], "the name of the file"),
    ([], "put needs a file"),
])
def test_mistakes_are_answered(lab, words, said):
    source(lab, 1000)
    run = lab.xdownload("put", *words, report=False)
    assert run.rc == 2, run.err
    assert said in run.err


def test_a_file_that_is_not_there_is_named(lab):
    run = lab.xdownload("put", "absent.bin", "--to", "http://127.0.0.1:1/a/",
                        report=False)
    assert run.rc == 5
    assert "absent.bin" in run.err
    assert not list(lab.path(".").glob("absent*"))


# ---- add: more copies, from the replicas that there are ----

def add(lab, depots, *words, name="film.bin.xnd"):
    return lab.xdownload("add", name, *to(depots), *words,
                         report=False)


def replicas(lab, name="film.bin.xnd"):
    """URLs by extent."""
    shown = json.loads(lab.xdownload("show", "--json", name, report=False).out)
    return {(e["offset"], e["length"]): {r["url"] for r in e["replicas"]}
            for e in shown["files"][0]["extents"]}


def test_a_copy_is_added_from_the_others(lab):
    data = source(lab, 3 * MIB)
    with stores(None, None) as (first, second):
        assert put(lab, [first], "--extent", "1m").rc == 0
        lab.path("film.bin").unlink()
        run = add(lab, [second], "--extent", "2m")
        assert run.rc == 0, run.err
        assert sum(map(len, second.objects.values())) == len(data)
        first.objects.clear()
        assert_fetched(lab, data)
    private = lab.path("film.bin.private.xnd").read_text()
    assert private.count("<exnode:manage>http") == 3 + 2
    assert 'name="upload"' not in private


@pytest.mark.parametrize("extent,offsets", [
    ("400k", [0, 256, 512, 768]), ("100k", [0, 256, 512, 768]),
    ("600k", [0, 512])], ids=["longer", "shorter", "two"])
@pytest.mark.parametrize("command", ["add", "heal"])
def test_no_piece_of_the_manifest_spans_two_new_extents(lab, command, extent,
                                                        offsets):
    """All bytes of a piece are to come from one host."""
    data = source(lab, MIB)  # in pieces of 256 KiB
    with stores(None, None, None) as (first, lost, new):
        assert put(lab, [first, lost]).rc == 0
        if command == "heal":
            lost.objects.clear()
        run = globals()[command](lab, [new], "--extent", extent)
        assert run.rc == 0, run.err
        ends = offsets[1:] + [1024]
        assert {(at, n) for (at, n), urls in replicas(lab).items()
                if any(str(new.port) in u for u in urls)} == {
            (at << 10, (end - at) << 10) for at, end in zip(offsets, ends)}
        first.objects.clear()
        lost.objects.clear()
        assert_fetched(lab, data)


def test_a_heal_of_extents_that_split_pieces_splits_no_other(lab):
    data = bytes_of(MIB)
    cut = 100_000
    parts = [parity.Stripe(0, 0, data[:cut], 1, 1, cut),
             parity.Stripe(1, cut, data[cut:], 1, 1, MIB - cut)]
    kept = lab.depot(files={f"e{s.number}": s.data for s in parts})
    gone = lab.depot(files={})
    text = parity.exnode(parts, lambda s, _: [
        d.url(f"e{s.number}") for d in (kept, gone)], piece_length=256 << 10)
    lab.write("film.bin.xnd", text[:text.index('<e:metadata name="parity"')]
              + text[text.index("<e:mapping>"):])
    with stores(None) as (new,):
        run = heal(lab, [new], "--extent", "512k")
        assert run.rc == 0, run.err
        assert {at for (at, _), urls in replicas(lab).items()
                if any(str(new.port) in u for u in urls)} == {
            0, cut, MIB // 2}


def test_a_copy_is_added_to_a_manifest_of_others(lab):
    """There is no private manifest, and the replicas are no objects of ours."""
    data = source(lab, 2 * MIB)
    with stores(None, None) as (first, second):
        assert put(lab, [first], "-o", "m.xnd").rc == 0
        lab.path("m.private.xnd").unlink()
        run = add(lab, [second], name="m.xnd")
        assert run.rc == 0, run.err
        first.objects.clear()
        assert_fetched(lab, data, "m.xnd")


def test_a_store_that_has_a_copy_gets_no_other(lab):
    source(lab, 2 * MIB)
    with stores(None) as (d,):
        assert put(lab, [d]).rc == 0
        run = add(lab, [d])
        assert run.rc == 1
        assert "of an extent is missing" in run.err
        assert "have the same bytes already" in run.err
        # Nothing has come of it, and nothing has to go on.
        assert 'name="upload"' not in lab.path(
            "film.bin.private.xnd").read_text()
        assert len(d.objects) == 1


@pytest.mark.parametrize("words", [["add"], ["check", "--full", "--heal"]],
                         ids=" ".join)
def test_the_file_is_not_taken_for_its_manifest(lab, words):
    """The private manifest has the name of either."""
    data = source(lab, 2 * MIB)
    with stores(None, None) as (first, second):
        assert put(lab, [first]).rc == 0
        first.objects.clear()
        run = lab.xdownload(*words, "film.bin", *to([second]), report=False)
        assert run.rc in (1, 3), run
        assert lab.read("film.bin") == data
        assert not second.objects


def test_what_is_added_is_proved_by_the_hashes(lab):
    """A replica that lies does not spread."""
    data = source(lab, 2 * MIB)
    with stores(None, None, None) as (good, bad, new):
        assert put(lab, [good, bad]).rc == 0
        for path in bad.objects:
            bad.objects[path] = bytes(len(data))
        run = add(lab, [new])
        assert run.rc == 0, run.err
        assert list(new.objects.values()) == [data]


def test_an_addition_that_is_killed_goes_on(lab):
    data = source(lab, 4 * MIB)
    with stores(None, None) as (first, second):
        assert put(lab, [first]).rc == 0
        second.rate = 2e6
        run = lab.start("add", "film.bin.xnd", *to([second]), "--extent", "512k",
                        report=False)
        wait_until(lambda: len(second.objects) >= 2, "two objects")
        run.kill()
        run.popen.wait()
        second.rate = 0
        run = add(lab, [second], "--extent", "1m")  # it has its extents
        assert run.rc == 0, run.err
        assert len(second.objects) == 8
        assert second.received <= len(data) + 2 * 512 * 1024
        first.objects.clear()
        assert_fetched(lab, data)


@pytest.mark.parametrize("words,said,rc", [
    (["film.bin.xnd"], "--to", 2),
    (["absent.xnd", "--to", "http://127.0.0.1:1/a/"], "no such manifest", 5),
    (["http://127.0.0.1:1/m.xnd", "--to", "http://127.0.0.1:1/a/"],
     "of this machine", 2),
])
def test_mistakes_with_add_are_answered(lab, words, said, rc):
    run = lab.xdownload("add", *words, report=False)
    assert run.rc == rc, run.err
    assert said in run.err


def test_a_put_that_is_not_complete_gets_no_copies(lab):
    source(lab, 4 * MIB)
    with stores("is_full_after_two", None) as (d, other):
        assert put(lab, [d], "--extent", "1m").rc == 1
        run = add(lab, [other])
        assert run.rc != 0
        assert "put again" in run.err


# ---- check --heal ----

def heal(lab, depots, *words, name="film.bin.xnd"):
    return lab.xdownload("check", name, "--heal", *to(depots), *words,
                         report=False)


def test_the_copies_of_a_dead_depot_are_replaced(lab):
    data = source(lab, 3 * MIB)
    with stores(None, None) as (first, new):
        with stores(None) as (dies,):
            assert put(lab, [first, dies], "--extent", "1m").rc == 0
            dead = f"127.0.0.1:{dies.port}"
        assert lab.xdownload("check", "film.bin.xnd", "--retry", "1",
                             report=False).rc == 1
        run = heal(lab, [new], "--retry", "1")
        assert run.rc == 0, run.err
        assert len(new.objects) == 3  # of the same lengths
        assert all(len(urls) == 2 and not any(dead in u for u in urls)
                   for urls in replicas(lab).values())
        assert lab.xdownload("check", "film.bin.xnd", report=False).rc == 0
        first.objects.clear()
        assert_fetched(lab, data)


def test_flipped_bytes_are_found_and_replaced(lab):
    data = source(lab, 3 * MIB)
    with stores(None, None, None) as (first, bad, new):
        assert put(lab, [first, bad], "--extent", "1m").rc == 0
        path = next(p for p in bad.objects if p.endswith(f"-{MIB}"))
        flipped = bytearray(bad.objects[path])
        flipped[700_000] ^= 1
        bad.objects[path] = bytes(flipped)
        run = heal(lab, [new], "--full")
        assert run.rc == 0, run.err
        assert "lying" in run.out.decode()
        assert list(new.objects.values()) == [data[MIB:2 * MIB]]
        urls = replicas(lab)[(MIB, MIB)]
        assert len(urls) == 2 and not any(str(bad.port) in u for u in urls)
        assert lab.xdownload("check", "--full", "film.bin.xnd",
                             report=False).rc == 0


def test_what_was_replaced_is_removed(lab):
    """But for what the private manifest does not say to be ours."""
    source(lab, 3 * MIB)
    with stores(None, None, None) as (first, bad, new):
        assert put(lab, [first, bad], "--extent", "1m").rc == 0
        for i in (0, 1):
            path = next(p for p in bad.objects if p.endswith(f"-{i * MIB}"))
            bad.objects[path] = bytes(MIB)
        # The first is one whose name no upload gives.
        old = next(p for p in bad.objects if p.endswith("-0"))
        bad.objects["/dav/other"] = bad.objects.pop(old)
        for name in ("film.bin.xnd", "film.bin.private.xnd"):
            at = lab.path(name)
            at.write_text(at.read_text().replace(
                f"{bad.port}{old}<", f"{bad.port}/dav/other<"))
        run = heal(lab, [new], "--full")
        assert run.rc == 0, run.err
        assert sorted(p.rsplit("-")[-1] for p in bad.objects) == [
            "/dav/other", str(2 * MIB)]
        assert 'name="upload"' not in lab.path(
            "film.bin.private.xnd").read_text()
        assert lab.xdownload("check", "film.bin.xnd", report=False).rc == 0


def test_without_a_private_manifest_nothing_is_removed(lab):
    source(lab, MIB)
    with stores(None, None, None) as (first, bad, new):
        assert put(lab, [first, bad]).rc == 0
        lab.path("film.bin.private.xnd").unlink()
        path = next(iter(bad.objects))
        bad.objects[path] = bytes(MIB)
        assert heal(lab, [new]).rc == 0
        assert list(bad.objects) == [path]
        assert not any(c == "DELETE" for c, _ in bad.requests)


@pytest.mark.parametrize("how", ["refused", "killed", "interrupted"])
def test_what_cannot_be_removed_is_said_or_noted(lab, how):
    source(lab, MIB)
    with stores(None, None, None) as (first, bad, new):
        assert put(lab, [first, bad]).rc == 0
        path = next(iter(bad.objects))
        bad.objects[path] = bytes(MIB)
        if how == "refused":
            bad.refused["DELETE"] = 403
            run = heal(lab, [new])
            assert run.rc == 0 and "could not be removed" in run.err
            assert "403" in run.err and path in bad.objects
            return
        bad.holds.add("DELETE")
        run = lab.start("check", "film.bin.xnd", "--heal", *to([new]),
                        report=False)
        wait_until(lambda: bad.held, "it is removed")
        began = time.monotonic()
        if how == "killed":
            run.kill()
            run.popen.wait()
        else:
            run.send(signal.SIGINT)
            assert run.wait().rc == 0  # all copies are there
            assert time.monotonic() - began < 3
        assert f"127.0.0.1:{bad.port}" not in lab.read("film.bin.xnd").decode()
        bad.holds.clear()
        # What is noted is removed by drop, after a proof.
        run = lab.xdownload("drop", "film.bin.xnd", "--from",
                            f"127.0.0.1:{bad.port}", report=False)
        assert run.rc == 0, run.err
        assert not bad.objects
        assert 'name="upload"' not in lab.path(
            "film.bin.private.xnd").read_text()


def test_no_store_gets_the_second_copy_of_the_same_bytes(lab):
    """A healed copy beside the good one would be lost with it."""
    source(lab, MIB)
    with stores(None, None) as (first, bad):
        assert put(lab, [first, bad]).rc == 0
        bad.objects.clear()
        run = heal(lab, [first])
        assert run.rc == 1
        assert len(first.objects) == 1
        assert len(replicas(lab)[(0, MIB)]) == 2


def test_what_no_depot_has_is_named_and_the_rest_is_replaced(lab):
    source(lab, 3 * MIB)
    with stores(None, None, None) as (first, second, new):
        assert put(lab, [first, second], "--extent", "1m").rc == 0
        for d in first, second:
            d.objects = {p: v for p, v in d.objects.items()
                         if not p.endswith("-0")}
        second.objects.clear()
        run = heal(lab, [new])
        assert run.rc == 1
        assert f"{MIB} bytes no depot has a good copy" in run.err
        assert sorted(p.rsplit("-")[1] for p in new.objects) == sorted(
            [str(MIB), str(2 * MIB)])


def test_a_heal_that_is_killed_goes_on(lab):
    data = source(lab, 4 * MIB)
    with stores(None, None, None) as (first, bad, new):
        assert put(lab, [first, bad], "--extent", "2m").rc == 0
        bad.objects = {p: v for p, v in bad.objects.items()
                       if p.endswith("-0")}
        new.rate = 1e6
        run = lab.start("check", "film.bin.xnd", "--heal", *to([new]),
                        "--extent", "512k", report=False)
        wait_until(lambda: new.objects, "an object")
        run.kill()
        run.popen.wait()
        new.rate = 0
        run = heal(lab, [new], "--extent", "512k")
        assert run.rc == 0, run.err
        assert b"".join(v for _, v in sorted(
            new.objects.items(), key=lambda o: int(o[0].rsplit("-", 1)[1]))
        ) == data[2 * MIB:]
        assert not any(str(bad.port) in u for e, urls in replicas(lab).items()
                       for u in urls if e[0] >= 2 * MIB)
        first.objects.clear()
        assert_fetched(lab, data)


def manifests(lab):
    return lab.read("film.bin.xnd"), lab.read("film.bin.private.xnd")


@pytest.mark.parametrize("status", [401, 403])
def test_what_may_not_be_read_is_not_replaced(lab, status):
    """What is there is not known; others are replaced nevertheless."""
    data = source(lab, 2 * MIB)
    with stores(None, None, None, None) as (first, denies, bad, new):
        assert put(lab, [first, denies, bad], "--extent", "1m").rc == 0
        before = manifests(lab)
        denies.refused = {"GET": status, "HEAD": status, "DELETE": status}
        run = heal(lab, [new])
        assert run.rc == 1, run
        assert "denied" in run.out.decode() and "dead" not in run.out.decode()
        assert "access is denied to 2 replicas" in run.err
        assert "complete" not in run.err
        assert manifests(lab) == before and not new.requests
        bad.objects.clear()
        run = heal(lab, [new])
        assert run.rc == 1 and "complete" in run.err, run
        assert len(new.objects) == 2
        assert all(sorted(int(u.split(":")[2].split("/")[0]) for u in urls)
                   == sorted(d.port for d in (first, denies, new))
                   for urls in replicas(lab).values())
        assert not any(c == "DELETE" for c, _ in denies.requests)
        denies.refused = {}
        assert heal(lab, [new]).rc == 0
        assert_fetched(lab, data)


def test_where_nothing_can_be_read_nothing_is_complete(lab):
    source(lab, MIB)
    with stores(None, None) as (first, new):
        assert put(lab, [first]).rc == 0
        before = manifests(lab)
        first.objects.clear()
        run = heal(lab, [new])
        assert run.rc == 1 and "no depot has a good copy" in run.err, run
        assert "complete" not in run.err + run.out.decode()
        assert manifests(lab) == before and not new.requests


def test_a_sound_file_is_not_healed(lab):
    source(lab, MIB)
    with stores(None, None) as (first, new):
        assert put(lab, [first]).rc == 0
        assert heal(lab, [new]).rc == 0
        assert not new.requests


@pytest.mark.parametrize("words,said", [
    (["m.xnd", "--heal"], "--to"),
    (["m.xnd", "--to", "http://127.0.0.1:1/a/"], "--heal"),
    (["http://127.0.0.1:1/m.xnd", "--heal", "--to", "http://127.0.0.1:1/a/"],
     "of this machine"),
])
def test_mistakes_with_heal_are_answered(lab, words, said):
    run = lab.xdownload("check", *words, report=False)
    assert run.rc == 2, run.err
    assert said in run.err


# ---- the rest of the world ----

@pytest.mark.skipif(not shutil.which("aria2c"), reason="aria2 is missing")
def test_aria2_fetches_what_was_put(lab):
    data = source(lab, 2 * MIB)
    with stores(None, None) as depots:
        assert put(lab, depots, "-o", "film.meta4").rc == 0
        done = subprocess.run(
            ["aria2c", "-q", "-d", "aria", "--check-integrity=true",
             "film.meta4"], cwd=lab.work, check=False, timeout=PATIENCE)
    assert done.returncode == 0
    assert lab.read("aria/film.bin") == data


def test_the_rate_is_that_of_all_stores_together(lab):
    size = MIB
    source(lab, size)
    with stores(None, None) as depots:
        run = put(lab, depots, "--limit-rate", "1m", "--report", "r.json")
        assert run.rc == 0, run.err
        took = report(lab, "r.json")["seconds"]
    assert 2 * size / took < 1.5 * MIB


def test_presigned_urls_are_for_s3(lab):
    source(lab, 1000)
    with stores(None) as (d,):
        run = put(lab, [d], "--presign", "1h")
        assert run.rc == 2
        assert "only S3" in run.err
        assert not d.requests
