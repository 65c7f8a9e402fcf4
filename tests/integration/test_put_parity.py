# SPDX-License-Identifier: MIT
"""xdownload put --code and add --parity: which shards lie where, whether they are what
another implementation of the code makes of the file, and what becomes of them when a
store fails or the upload is killed."""
import json
import signal
import sys
import time
from pathlib import Path

import pytest

from coded import (MIB, add, assert_coded, assert_fetched, assert_parity,
                   parity_of, put, shown, six, source, start, stores, to)
from lab import PATIENCE, Lab, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import IbpDepot  # noqa: E402
from s3_depot import ACCESS_KEY, SECRET_KEY, S3Depot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


def test_the_other_way_makes_what_the_manual_says():
    assert parity_of(b"ABC", 2, 2, 2) == b"d!"


# ---- what is there ----

def test_shards_and_their_parity_lie_on_hosts_of_their_own(lab):
    data = source(lab, 9 * MIB + 5)
    with six() as depots:
        run = put(lab, depots, "--code", "4+2", "--report", "report.json")
        assert run.rc == 0, run.err
        shard = 786436  # 4 pieces, of which none spans two shards
        assert assert_coded(lab, depots, data, 4, 2) == [shard] * 3
        assert all(len(d.objects) == 3 for d in depots)
        assert_fetched(lab, data)
        report = json.loads(lab.path("report.json").read_text())
        parity = 2 * 3 * shard
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
        assert lengths == [100000] * 5


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


def test_a_bucket_with_a_host_of_its_own_is_on_that_of_its_endpoint(lab):
    """Of which the manifest alone tells: the bucket is none of those given."""
    source(lab, MIB)
    with S3Depot(bucket="bucket") as s3, \
            StoreDepot(address="127.0.0.2") as store:
        lab.environment |= {
            "AWS_ENDPOINT_URL_S3": s3.endpoint.replace("127.0.0.1",
                                                       "localhost"),
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        run = put(lab, [store])
        assert run.rc == 0, run.err
        for name in "film.bin.xnd", "film.bin.private.xnd":
            text = lab.path(name).read_text()
            lab.path(name).write_text(
                text.replace("http://127.0.0.2:", "http://other.LOCALHOST:"))
        run = add(lab, [], "--to", "s3://bucket/a", "--parity", "1+1")
        assert run.rc == 2, run.err
        assert "are on 0 such" in run.err


@pytest.mark.parametrize("order", [0, 1])
def test_a_store_with_a_longer_name_is_no_bucket_of_an_endpoint(lab, order):
    """Whichever is given first."""
    data = source(lab, MIB + 1)
    with S3Depot(bucket="bucket") as s3, StoreDepot() as store:
        lab.environment |= {
            "AWS_ENDPOINT_URL_S3": s3.endpoint.replace("127.0.0.1",
                                                       "localhost"),
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        words = [["--to", "s3://bucket/a"],
                 ["--to", store.url.replace("127.0.0.1", "files.localhost")]]
        run = put(lab, [], *words[order], *words[1 - order], "--code", "1+1")
        assert run.rc == 0, run.err
        assert sum(map(len, store.objects.values())) == len(data)


# ---- what was begun ----

def test_an_upload_that_is_killed_goes_on(lab):
    data, shard = source(lab, 5 * MIB + 17), 238314  # 11 equal stripes
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
        # Objects that were not read back yet when it was killed are looked at again.
        assert report["bytes_resumed"] >= shard
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
    ("", "got an empty one: --code K+M"),
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
        for depot in depots[:2]:
            depot.rate = 2e6  # so slow that each gets one of the two extents
        assert put(lab, depots[:2], "--stripe", "--extent", "1m",
                   "--force").rc == 0
        for depot in depots[:2]:
            depot.rate = 0
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
