# SPDX-License-Identifier: MIT
"""xdownload put --code and add --parity: which shards lie where, whether they are what
another implementation of the code makes of the file, and what becomes of them when a
store fails or the upload is killed."""
import contextlib
import json
import signal
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest

from lab import PATIENCE, Lab, bytes_of, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import IbpDepot  # noqa: E402
from s3_depot import ACCESS_KEY, SECRET_KEY, S3Depot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402

MIB = 1 << 20


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


@contextlib.contextmanager
def stores(*faults, rate=0):
    """A store for each fault, each on a host of its own."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(
            StoreDepot(fault, rate, address=f"127.0.0.{i + 1}"))
            for i, fault in enumerate(faults)]


def six(**how):
    return stores(*[None] * 6, **how)


def to(depots):
    return [word for d in depots for word in ("--to", d.url)]


def source(lab, size, seed=1):
    data = bytes_of(size, seed)
    lab.path("film.bin").write_bytes(data)
    return data


def start(lab, depots, *words):
    return lab.start("put", "film.bin", *to(depots), *words, report=False)


def put(lab, depots, *words):
    return start(lab, depots, *words).wait(PATIENCE)


# ---- the code, by another way ----

def _double(a):
    a <<= 1
    return a ^ 0x11d if a > 255 else a


def _product(a, b):
    out = 0
    while b:
        if b & 1:
            out ^= a
        a, b = _double(a), b >> 1
    return out


def _inverse(a):
    return next(b for b in range(1, 256) if _product(a, b) == 1)


def parity_of(stripe, k, number, length):
    """What shard `number` of these bytes is, which are padded with zeros."""
    total = 0
    for j in range(k):
        factor = _inverse(number ^ j)
        table = bytes(_product(factor, b) for b in range(256))
        shard = stripe[j * length:(j + 1) * length].ljust(length, b"\0")
        total ^= int.from_bytes(shard.translate(table), "little")
    return total.to_bytes(length, "little")


def test_the_other_way_makes_what_the_manual_says():
    assert parity_of(b"ABC", 2, 2, 2) == b"d!"


# ---- what is there ----

def shown(lab, manifest="film.bin.xnd"):
    run = lab.xdownload("show", "--json", manifest, report=False)
    assert run.rc == 0, run.err
    return json.loads(run.out)["files"][0]


def object_of(depots, url):
    """Of one of these stores, and the host of that."""
    for d in depots:
        if url.startswith(d.url):
            host, path = url[len("http://"):].split("/", 1)
            return host.rsplit(":", 1)[0], d.objects["/" + path]
    return None


def assert_coded(lab, depots, data, k, m, manifest="film.bin.xnd"):
    """Every shard is there, right, and on a host of its own.  Returns the lengths of
    the shards of each stripe."""
    file, lengths = shown(lab, manifest), []
    extents = {e["offset"]: e for e in file["extents"]}
    for stripe in file["stripes"]:
        assert (stripe["k"], stripe["n"]) == (k, k + m)
        begin, length = stripe["offset"], stripe["shard_length"]
        plain = data[begin:begin + stripe["length"]]
        hosts = []
        for shard in stripe["shards"]:
            number = shard["number"]
            if number < k:
                want = plain[number * length:(number + 1) * length]
                if not want:
                    continue
                e = extents[begin + number * length]
                assert e["length"] == len(want)
                urls = [r["url"] for r in e["replicas"]]
            else:
                want = parity_of(plain, k, number, length)
                urls = [r["url"] for r in shard["replicas"]]
            there = [o for o in (object_of(depots, u) for u in urls) if o]
            assert [bytes_ for _, bytes_ in there] == [want], number
            assert shard["sha256"] == sha256(want).hexdigest()
            hosts.append(there[0][0])
        assert len(set(hosts)) == len(hosts) >= m + 1
        lengths.append(length)
    assert sum(s["length"] for s in file["stripes"]) == len(data)
    return lengths


def assert_fetched(lab, data, manifest="film.bin.xnd"):
    run = lab.xdownload("--no-continue", "--force", "-o", "back", manifest)
    assert run.rc == 0, run.err
    assert lab.read("back") == data


def test_shards_and_their_parity_lie_on_hosts_of_their_own(lab):
    data = source(lab, 9 * MIB + 5)
    with six() as depots:
        run = put(lab, depots, "--code", "4+2", "--report", "report.json")
        assert run.rc == 0, run.err
        assert assert_coded(lab, depots, data, 4, 2) == [MIB, MIB, 262146]
        assert all(len(d.objects) == 3 for d in depots)
        assert_fetched(lab, data)
        report = json.loads(lab.path("report.json").read_text())
        parity = 2 * (2 * MIB + 262146)
        assert report["code"] == "4+2"
        assert report["parity_bytes"] == parity
        assert report["bytes_total"] == report["bytes_done"] == \
            len(data) + parity


def test_shards_have_the_length_that_is_wanted(lab):
    data = source(lab, 1000000)
    with six() as depots:
        run = put(lab, depots[:4], "--code", "2+2", "--extent", "100k")
        assert run.rc == 0, run.err
        lengths = assert_coded(lab, depots, data, 2, 2)
        assert lengths == [102400] * 4 + [90400]


@pytest.mark.parametrize("size", [1, 3, 4001])
def test_a_small_file_is_one_stripe(lab, size):
    """With fewer bytes than shards some of these are empty."""
    data = source(lab, size)
    with six() as depots:
        run = put(lab, depots, "--code", "4+2", "-v")
        assert run.rc == 0, run.err
        for number in 4, 5:
            assert f"  bytes 0-{size - 1}, parity {number}  in " in run.err
        assert assert_coded(lab, depots, data, 4, 2) == [-(-size // 4)]
        assert_fetched(lab, data)


def test_an_empty_file_has_no_parity(lab):
    data = source(lab, 0)
    with six() as depots:
        run = put(lab, depots, "--code", "4+2")
        assert run.rc == 0, run.err
        assert not any(d.objects for d in depots)
        assert_fetched(lab, data)


def test_one_shard_and_its_parity_are_copies(lab):
    """1/(1 xor 0) = 1."""
    data = source(lab, 2 * MIB + 1)
    with stores(None, None) as depots:
        run = put(lab, depots, "--code", "1+1")
        assert run.rc == 0, run.err
        assert_coded(lab, depots, data, 1, 1)
        assert [sum(map(len, d.objects.values())) for d in depots] == \
            [len(data)] * 2


def test_many_shards(lab):
    data = source(lab, 300000)
    with stores(*[None] * 40) as depots:
        run = put(lab, depots, "--code", "30+10", "--extent", "4k")
        assert run.rc == 0, run.err
        assert_coded(lab, depots, data, 30, 10)


def test_another_host_takes_the_place_of_one_that_fails(lab):
    data = source(lab, 6 * MIB)
    with stores(None, "is_full_after_two", None, None) as depots:
        run = put(lab, depots, "--code", "2+1", "--extent", "256k")
        assert run.rc == 0, run.err
        assert_coded(lab, depots, data, 2, 1)
        assert len(depots[1].objects) == 2


def test_parity_that_no_host_is_left_for_is_missing(lab):
    data = source(lab, 4 * MIB)
    with stores(None, None, "is_full_after_two") as depots:
        run = put(lab, depots, "--code", "2+1", "--extent", "512k")
        assert run.rc == 1, run.err
        assert "no store is left" in run.err
        # Another one is given in its place.
        with StoreDepot(address="127.0.0.9") as other:
            run = put(lab, depots[:2] + [other], "--code", "2+1", "--extent",
                      "512k")
            assert run.rc == 0, run.err
            assert_coded(lab, depots[:2] + [other], data, 2, 1)


def test_ibp_depots_get_shards(lab):
    data = source(lab, 3 * MIB)
    with stores(None, None) as depots, IbpDepot() as ibp:
        words = ["--to", f"ibp://127.0.0.1:{ibp.port}"]
        run = put(lab, depots[1:], *words, "--code", "1+1")
        assert run.rc == 0, run.err
        file = shown(lab)
        hosts = [s["replicas"][0]["url"].split("/")[2].split(":")[0]
                 for stripe in file["stripes"] for s in stripe["shards"]
                 if s["number"] > 0]
        assert len(hosts) == 3
        private = lab.read("film.bin.private.xnd").decode()
        assert "MANAGE" in private
        assert "MANAGE" not in lab.read("film.bin.xnd").decode()
        assert_fetched(lab, data)


def test_buckets_of_one_endpoint_are_on_one_host(lab):
    data = source(lab, MIB + 1)
    with S3Depot(bucket="bucket") as s3, \
            StoreDepot(address="127.0.0.2") as store:
        lab.environment |= {"AWS_ENDPOINT_URL_S3": s3.endpoint,
                            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
                            "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        run = put(lab, [], "--to", "s3://bucket/a", "--to", "s3://other/b",
                  "--code", "1+1")
        assert run.rc == 2, run.err
        assert "are on 1" in run.err
        run = put(lab, [store], "--to", "s3://bucket/a", "--code", "1+1")
        assert run.rc == 0, run.err
        assert sum(map(len, store.objects.values())) == len(data)
        store.objects.clear()
        assert_fetched(lab, data)  # with our keys


# ---- what was begun ----

def test_an_upload_that_is_killed_goes_on(lab):
    data, shard = source(lab, 5 * MIB + 17), 256 << 10
    words = ["--code", "2+1", "--extent", "256k", "--report", "report.json"]
    with stores(None, None, None, rate=2e6) as depots:
        run = start(lab, depots, *words)
        wait_until(lambda: all(len(d.objects) >= 3 for d in depots),
                   "three shards on each")
        run.kill()
        run.popen.wait()
        for d in depots:
            d.rate = 0
        run = put(lab, depots, *words)
        assert run.rc == 0, run.err
        assert_coded(lab, depots, data, 2, 1)
        whole = len(data) + len(data) // 2 + 1
        assert sum(d.received for d in depots) <= whole + 3 * shard
        report = json.loads(lab.path("report.json").read_text())
        assert report["bytes_resumed"] >= 6 * shard
        named = lab.read("film.bin.xnd").decode()
        for d in depots:
            for path in d.objects:
                assert f"{d.url[:-len('/dav/')]}{path}<" in named, "an orphan"


@pytest.mark.slow
@pytest.mark.parametrize("after", range(20))
def test_whenever_it_is_killed(lab, after):
    data = source(lab, 3 * MIB + 17)
    words = ["--code", "2+1", "--extent", "256k"]
    with stores(None, None, None, None, rate=4e6) as depots:
        run = start(lab, depots, *words)
        time.sleep(after * 0.025)
        run.kill()
        run.popen.wait()
        for d in depots:
            d.rate = 0
        run = put(lab, depots, *words)
        assert run.rc == 0 or "already" in run.err, run.err
        assert_coded(lab, depots, data, 2, 1)


def test_a_file_that_has_changed_does_not_go_on(lab):
    source(lab, 4 * MIB)
    with stores(None, None, None, rate=2e6) as depots:
        run = start(lab, depots, "--code", "2+1", "--extent", "256k")
        wait_until(lambda: depots[0].objects, "an object")
        run.send(signal.SIGINT)
        run.wait(PATIENCE)
        source(lab, 4 * MIB, seed=2)
        run = put(lab, depots, "--code", "2+1", "--extent", "256k")
        assert run.rc == 1
        assert "was changed" in run.err


@pytest.mark.parametrize("first,second,said", [
    (["--code", "2+1"], ["--code", "1+2"], "with the code 2+1"),
    (["--code", "2+1"], ["--code", "2+2"], "with the code 2+1"),
    (["--code", "2+1"], [], "with the code 2+1"),
    ([], ["--code", "2+1"], "without parity"),
])
def test_an_upload_goes_on_with_its_own_code(lab, first, second, said):
    data = source(lab, 4 * MIB)
    with stores(*[None] * 4, rate=1e6) as depots:
        run = start(lab, depots, *first, "--extent", "256k")
        wait_until(lambda: depots[0].objects, "an object")
        run.send(signal.SIGINT)
        run.wait(PATIENCE)
        for d in depots:
            d.rate = 0
        run = put(lab, depots, *second, "--extent", "256k")
        assert run.rc == 1
        assert said in run.err
        run = put(lab, depots, *second, "--extent", "256k", "--force")
        assert run.rc == 0, run.err
        assert_fetched(lab, data)


# ---- mistakes that people make ----

@pytest.mark.parametrize("code,said", [
    ("4", "such as 4+2"),
    ("4+", "such as 4+2"),
    ("4-2", "such as 4+2"),
    ("0+2", "at least one shard of data"),
    ("4+0", "at least one shard of data"),
    ("200+56", "at most 255"),
    ("", "such as 4+2"),
])
def test_a_code_that_is_none_is_refused(lab, code, said):
    source(lab, 1000)
    run = lab.xdownload("put", "film.bin", "--to", "http://127.0.0.1:1/a/",
                        "--code", code, report=False)
    assert run.rc == 2, run.err
    assert said in run.err
    assert not lab.path("film.bin.private.xnd").exists()


@pytest.mark.parametrize("words,said", [
    (["--code", "2+2", "--copies", "2"], "in place of copies"),
    (["--code", "2+2", "-o", "film.meta4"], "no words for parity"),
    (["--code", "2+2", "--format", "metalink"], "no words for parity"),
    (["--code", "3+2"], "the 5 shards of a stripe on as many hosts, and the "
                        "stores that are given are on 4"),
    (["--code", "2+2", "--extent", "9m"], "at most 8388608"),
])
def test_what_does_not_go_with_a_code_is_refused(lab, words, said):
    source(lab, 1000)
    with stores(None, None, None, None) as depots:
        run = put(lab, depots, *words)
        assert run.rc == 2, run.err
        assert said in run.err
        assert not any(d.objects for d in depots)


def test_stores_of_one_host_are_one(lab):
    data = source(lab, MIB)
    with stores(None, None) as depots, StoreDepot() as same:
        run = put(lab, depots + [same], "--code", "2+1")
        assert run.rc == 2, run.err
        assert "are on 2" in run.err
        run = put(lab, depots + [same], "--code", "1+1", "--extent", "64k")
        assert run.rc == 0, run.err
        assert_coded(lab, depots + [same], data, 1, 1)


# ---- add: parity for what is there ----

def add(lab, depots, *words):
    return lab.xdownload("add", "film.bin.xnd", *to(depots), *words,
                         report=False)


def assert_parity(lab, depots, data, k, m):
    """All parity is right, on hosts of their own, and is all that these have."""
    n_objects = 0
    for stripe in shown(lab)["stripes"]:
        begin, length = stripe["offset"], stripe["shard_length"]
        plain = data[begin:begin + stripe["length"]]
        hosts = []
        for shard in stripe["shards"][k:]:
            want = parity_of(plain, k, shard["number"], length)
            assert shard["sha256"] == sha256(want).hexdigest()
            (replica,) = shard["replicas"]
            host, there = object_of(depots, replica["url"])
            assert there == want
            hosts.append(host)
        assert len(set(hosts)) == m
        n_objects += m
    assert sum(len(d.objects) for d in depots) == n_objects


def test_parity_is_added_to_copies(lab):
    data = source(lab, 5 * MIB + 3)
    with six() as depots:
        assert put(lab, depots[:1], "--extent", "3m").rc == 0
        run = add(lab, depots[1:4], "--parity", "4+2", "--extent", "512k")
        assert run.rc == 0, run.err
        assert_parity(lab, depots[1:4], data, 4, 2)
        assert len(depots[0].objects) == 2
        private = lab.read("film.bin.private.xnd").decode()
        assert "upload" not in private
        assert_fetched(lab, data)
        for code, said in ("4+2", "has parity already"), ("4+1", "code 4+2"):
            run = add(lab, depots[1:4], "--parity", code)
            assert run.rc == 1
            assert said in run.err


def test_parity_lies_on_no_host_that_alone_has_bytes_of_its_stripe(lab):
    source(lab, 2 * MIB)
    with six() as depots:
        assert put(lab, depots[:2]).rc == 0
        # Each byte is on both hosts: either may be lost.
        run = add(lab, depots[:2], "--parity", "2+2")
        assert run.rc == 0, run.err
    with six() as depots:
        assert put(lab, depots[:2], "--stripe", "--extent", "1m",
                   "--force").rc == 0
        before = [set(d.objects) for d in depots]
        run = add(lab, depots[:3], "--parity", "2+2")
        assert run.rc == 2
        assert "2 shards of parity need as many hosts" in run.err
        assert "are on 1 such" in run.err
        assert before == [set(d.objects) for d in depots]
        run = add(lab, depots[:4], "--parity", "2+2")
        assert run.rc == 0, run.err
        assert before[:2] == [set(d.objects) for d in depots[:2]]
        assert [len(d.objects) for d in depots[2:4]] == [1, 1]


def test_an_addition_that_is_killed_goes_on(lab):
    data = source(lab, 6 * MIB + 5)
    words = ["--parity", "2+1", "--extent", "256k"]
    with stores(None, None) as (first, second):
        assert put(lab, [first]).rc == 0
        second.rate = 2e6
        run = lab.start("add", "film.bin.xnd", *to([second]), *words,
                        report=False)
        wait_until(lambda: len(second.objects) >= 3, "three objects")
        run.kill()
        run.popen.wait()
        second.rate = 0
        run = add(lab, [second], "--parity", "1+1")
        assert run.rc == 1
        assert "with the code 2+1" in run.err
        run = add(lab, [second], *words)
        assert run.rc == 0, run.err
        assert_parity(lab, [second], data, 2, 1)
        assert second.received <= 3 * MIB + 5 + 2 * (256 << 10)
        assert_fetched(lab, data)


def test_parity_that_was_dropped_is_added_again(lab):
    data = source(lab, 2 * MIB + 1)
    with six() as depots:
        assert put(lab, depots[:1]).rc == 0
        assert add(lab, depots[1:3], "--parity", "2+2").rc == 0
        kept = dict(depots[1].objects)
        run = lab.xdownload("drop", "film.bin.xnd", "--from", depots[2].url,
                            report=False)
        assert run.rc == 0, run.err
        assert not depots[2].objects
        run = add(lab, depots[:2], "--parity", "2+2")
        assert run.rc == 2, run.err
        assert "are on 0 such" in run.err
        run = add(lab, depots[1:4:2], "--parity", "2+2")
        assert run.rc == 0, run.err
        assert depots[1].objects == kept
        assert_parity(lab, [depots[1], depots[3]], data, 2, 2)


def test_an_addition_that_has_placed_nothing_leaves_no_stripes(lab):
    source(lab, MIB)
    with stores(None, "refuses") as (first, second):
        assert put(lab, [first]).rc == 0
        run = add(lab, [second], "--parity", "2+1")
        assert run.rc == 1, run.err
        assert not shown(lab).get("stripes")
        assert "parity" not in lab.read("film.bin.private.xnd").decode()


def test_copies_of_a_coded_file_can_be_added(lab):
    data = source(lab, 2 * MIB + 9)
    with six() as depots:
        assert put(lab, depots[:3], "--code", "2+1").rc == 0
        run = add(lab, depots[3:4])
        assert run.rc == 0, run.err
        file = shown(lab)
        assert sum(len(s["shards"][2]["replicas"])
                   for s in file["stripes"]) == len(file["stripes"]) > 0
        for d in depots[:3]:
            d.objects.clear()
        assert_fetched(lab, data)


# ---- check --heal: lost shards ----

def heal(lab, depots, *words):
    return lab.xdownload("check", "film.bin.xnd", "--heal", *to(depots), *words,
                         report=False)


@contextlib.contextmanager
def coded(lab, data, *words):
    """A file of 4+2 on six hosts; and two more, of which nothing is known."""
    with six() as depots, StoreDepot(address="127.0.0.7") as one, \
            StoreDepot(address="127.0.0.8") as two:
        run = put(lab, depots, "--code", "4+2", "--extent", "256k", *words)
        assert run.rc == 0, run.err
        yield depots, [one, two]


@pytest.mark.parametrize("lost", [(0, 1), (2, 5), (3, 4)])
def test_lost_shards_are_computed_and_placed_on_other_hosts(lab, lost):
    data = source(lab, 3 * MIB + 11)
    with coded(lab, data) as (depots, new):
        for i in lost:
            depots[i].objects.clear()
        run = heal(lab, new)
        assert run.rc == 0, run.err
        left = [d for i, d in enumerate(depots) if i not in lost]
        assert_coded(lab, left + new, data, 4, 2)
        named = lab.read("film.bin.xnd").decode()
        assert not any(depots[i].url in named for i in lost)
        run = lab.xdownload("check", "--full", "film.bin.xnd", report=False)
        assert run.rc == 0, run.out
        assert_fetched(lab, data)


def test_wrong_shards_are_replaced_and_removed(lab):
    """Of parity and of data, where they are: the hosts may have them again."""
    data = source(lab, 2 * MIB)
    with coded(lab, data) as (depots, new):
        before = dict(depots[3].objects)
        depots[3].objects.update({path: bytes(len(there))
                                  for path, there in before.items()})
        run = heal(lab, new[:1], "--full")
        assert run.rc == 0, run.err
        assert not depots[3].objects
        assert_coded(lab, depots[:3] + depots[4:] + new[:1], data, 4, 2)


def test_only_what_is_lost_is_sent(lab):
    data = source(lab, 2 * MIB)
    with coded(lab, data) as (depots, new):
        lost = [p for p in depots[1].objects][0]
        size = len(depots[1].objects.pop(lost))
        run = heal(lab, new)
        assert run.rc == 0, run.err
        assert sum(d.received for d in new) == size
        assert_coded(lab, depots + new, data, 4, 2)


def test_a_host_with_a_shard_of_the_stripe_gets_no_other(lab):
    data = source(lab, MIB)
    with coded(lab, data) as (depots, new):
        depots[2].objects.clear()
        run = heal(lab, depots[:2])
        assert run.rc == 1, run.err
        assert "other shards of their stripes, already" in run.err
        run = heal(lab, depots[:2] + new[:1])
        assert run.rc == 0, run.err
        assert_coded(lab, depots[:2] + depots[3:] + new[:1], data, 4, 2)


def test_more_than_parity_restores_stays_lost(lab):
    source(lab, MIB)
    with coded(lab, b"") as (depots, new):
        for d in depots[:3]:
            d.objects.clear()
        before = lab.read("film.bin.xnd")
        run = heal(lab, new)
        assert run.rc == 1, run.err
        assert "no depot has a good copy" in run.err
        assert lab.read("film.bin.xnd") == before
        assert not any(d.objects for d in new)


def test_a_heal_that_is_killed_goes_on(lab):
    data = source(lab, 5 * MIB + 3)
    with coded(lab, data) as (depots, new):
        depots[1].objects.clear()
        depots[4].objects.clear()
        for d in new:
            d.rate = 1e6
        run = lab.start("check", "film.bin.xnd", "--heal", *to(new),
                        report=False)
        wait_until(lambda: sum(len(d.objects) for d in new) >= 3,
                   "three shards")
        run.kill()
        run.popen.wait()
        for d in new:
            d.rate = 0
        run = heal(lab, new)
        assert run.rc == 0, run.err
        assert_coded(lab, depots[:1] + depots[2:4] + depots[5:] + new, data, 4,
                     2)
        for d in new:
            assert d.received <= sum(map(len, d.objects.values())) + \
                2 * (256 << 10)
        assert_fetched(lab, data)


def test_parity_that_does_not_come_out_as_its_hash_is_not_placed(lab):
    data = source(lab, MIB)
    with coded(lab, data) as (depots, new):
        stripe = shown(lab)["stripes"][0]
        hash_ = stripe["shards"][5]["sha256"]
        for name in "film.bin.xnd", "film.bin.private.xnd":
            text = lab.path(name).read_text()
            lab.path(name).write_text(text.replace(hash_, hash_[::-1]))
        host, _ = object_of(depots, stripe["shards"][5]["replicas"][0]["url"])
        (depot,) = [d for d in depots if f"//{host}:" in d.url]
        depot.objects.clear()
        run = heal(lab, new)
        assert run.rc == 4, run.err
        assert "of stripe 0 shard 5 is computed to be other bytes" in run.err


def test_parity_beside_copies_is_healed(lab):
    data = source(lab, 2 * MIB + 1)
    with six() as depots:
        assert put(lab, depots[:1], "--extent", "1500k").rc == 0
        assert add(lab, depots[1:3], "--parity", "2+2").rc == 0
        depots[2].objects.clear()
        run = heal(lab, depots[:2])  # one has the bytes, one the other parity
        assert run.rc == 1
        assert "no store is left" in run.err
        run = heal(lab, depots[3:4])
        assert run.rc == 0, run.err
        assert_parity(lab, [depots[1], depots[3]], data, 2, 2)


def test_a_copy_of_several_shards_goes_to_no_host_with_their_parity(lab):
    data = source(lab, 2 * MIB + 1)
    with six() as depots:
        assert put(lab, depots[:2]).rc == 0
        assert add(lab, depots[2:4], "--parity", "2+2").rc == 0
        depots[0].objects.clear()
        run = heal(lab, depots[2:4])
        assert run.rc == 1
        assert "no store is left" in run.err
        run = heal(lab, depots[2:5])
        assert run.rc == 0, run.err
        assert [len(d.objects) for d in depots[:5]] == [0, 1, 2, 2, 1]
        assert_fetched(lab, data)


def test_so_many_objects_that_their_manifest_could_not_be_read_are_refused(lab):
    path = lab.path("long.bin")
    with open(path, "wb") as f:
        f.truncate(300 << 20)  # without a byte on the disk
    run = lab.xdownload("put", "--code", "4+2", "--extent", "4k", path,
                        *(w for i in range(6)
                          for w in ("--to", f"http://127.0.0.{i + 2}:9/")),
                        report=False)
    assert run.rc == 2, run
    assert "the manifest of 115200 objects would be longer than 64 MiB" \
        in run.err
