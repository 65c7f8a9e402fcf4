# SPDX-License-Identifier: MIT
"""xdownload check --heal of files with parity: on how few hosts it does what it can, and
what it keeps apart."""
import contextlib
import sys
from pathlib import Path

import pytest

from coded import MIB, add, assert_fetched, heal, put, shown, six, source, to
from lab import Lab, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from store_depot import StoreDepot  # noqa: E402


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


def full(lab):
    return lab.xdownload("check", "--full", "film.bin.xnd", report=False)


@contextlib.contextmanager
def beside_parity(lab, data, n_new):
    """Two copies of the file, and parity of 2+2; and more stores, on hosts that have
    nothing."""
    with six() as depots, contextlib.ExitStack() as stack:
        assert put(lab, depots[:2]).rc == 0
        assert add(lab, depots[2:4], "--parity", "2+2").rc == 0
        assert len(shown(lab)["stripes"]) > 1
        yield depots[:4], [stack.enter_context(
            StoreDepot(address=f"127.0.0.{20 + i}")) for i in range(n_new)]


def copies(lab):
    """The hosts of each run of bytes, in order, of which none has two copies."""
    extents = shown(lab)["extents"]
    cuts = sorted({e["offset"] for e in extents}
                  | {e["offset"] + e["length"] for e in extents})
    found = []
    for begin, end in zip(cuts, cuts[1:]):
        hosts = [host_of(r["url"]) for e in extents
                 if e["offset"] <= begin and e["offset"] + e["length"] >= end
                 for r in e["replicas"]]
        assert len(set(hosts)) == len(hosts), (begin, hosts)
        found.append((begin, end, set(hosts)))
    return found


def assert_so_many_copies(lab, n):
    assert {len(hosts) for _, _, hosts in copies(lab)} == {n}


def host_of(url):
    return url.split("/")[2].split(":")[0]


def hosts_within(lab, begin, end):
    return set().union(*(hosts for b, e, hosts in copies(lab)
                         if b < end and e > begin))


def assert_shards_are_apart(lab):
    """Each byte has two copies, none of them beside parity of its stripe, whose two
    shards do not lie on one host alone.  A third host has some if it has the time."""
    assert_so_many_copies(lab, 2)
    for stripe in shown(lab)["stripes"]:
        begin, length = stripe["offset"], stripe["shard_length"]
        parity = {host_of(r["url"]) for s in stripe["shards"]
                  for r in s["replicas"]}
        shards = [hosts_within(lab, begin, begin + length),
                  hosts_within(lab, begin + length, begin + stripe["length"])]
        assert not parity & (shards[0] | shards[1])
        assert len(shards[0] | shards[1]) in (2, 3), shards


# ---- several shards that are lost, of which there were two copies ----

@pytest.mark.parametrize("words", [[], ["--extent", "256k"]])
def test_two_copies_of_lost_shards_need_a_host_more_than_one_copy(lab, words):
    data = source(lab, 3 * MIB + 1)
    with beside_parity(lab, data, 3) as (depots, new):
        for d in depots[:2]:
            d.objects.clear()
        run = heal(lab, new, *words)
        assert run.rc == 0, run.err
        assert_shards_are_apart(lab)
        assert full(lab).rc == 0
        named = lab.read("film.bin.xnd").decode()
        assert not any(d.url in named for d in depots[:2])
        assert sum(len(o) for d in new for o in d.objects.values()) == \
            2 * len(data)
        assert_fetched(lab, data)


def killed_at(lab, new, n, *words):
    """A heal that is killed once the stores have so many objects."""
    for d in new:
        d.rate = 1e6
    run = lab.start("check", "film.bin.xnd", "--heal", *to(new), *words,
                    report=False)
    wait_until(lambda: sum(d.received for d in new) > 0
               and sum(len(d.objects) for d in new) >= n, "objects")
    run.kill()
    run.popen.wait()
    for d in new:
        d.rate = 0


@pytest.mark.parametrize("n, words", [
    (1, []), (3, []), (5, []), (7, ["--extent", "256k"])])
def test_that_goes_on_with_the_same_hosts(lab, n, words):
    data = source(lab, 3 * MIB + 1)
    with beside_parity(lab, data, 3) as (depots, new):
        for d in depots[:2]:
            d.objects.clear()
        killed_at(lab, new, n, *words)
        run = heal(lab, new, *words)
        assert run.rc == 0, run.err
        assert_shards_are_apart(lab)
        assert full(lab).rc == 0
        assert sum(len(o) for d in new for o in d.objects.values()) == \
            2 * len(data)


# ---- parity and copies that are both lost ----

def test_parity_and_a_copy_of_its_data_go_to_two_hosts(lab):
    data = source(lab, 3 * MIB + 1)
    with beside_parity(lab, data, 2) as (depots, new):
        depots[1].objects.clear()
        depots[3].objects.clear()
        run = heal(lab, new[:1])
        assert run.rc == 1, run.err
        assert "no store is left" in run.err
        assert_parity_is_apart(lab)
        run = heal(lab, new)
        assert run.rc == 0, run.err
        assert_parity_is_apart(lab)
        assert_so_many_copies(lab, 2)
        assert full(lab).rc == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_parity_and_a_copy_go_on_with_the_same_hosts(lab, n):
    data = source(lab, 3 * MIB + 1)
    with beside_parity(lab, data, 2) as (depots, new):
        depots[1].objects.clear()
        depots[3].objects.clear()
        killed_at(lab, new, n)
        run = heal(lab, new)
        assert run.rc == 0, run.err
        assert_parity_is_apart(lab)
        assert_so_many_copies(lab, 2)
        assert full(lab).rc == 0
        assert sum(len(o) for d in new for o in d.objects.values()) == \
            len(data) + sum(s["shard_length"] for s in shown(lab)["stripes"])


def assert_parity_is_apart(lab):
    file = shown(lab)
    for stripe in file["stripes"]:
        parity = [host_of(r["url"]) for s in stripe["shards"]
                  for r in s["replicas"]]
        end = stripe["offset"] + stripe["length"]
        data = [host_of(r["url"]) for e in file["extents"]
                if e["offset"] < end
                and e["offset"] + e["length"] > stripe["offset"]
                for r in e["replicas"]]
        assert not set(parity) & set(data), (parity, data)


# ---- copies of the same bytes, which are cut in two ways ----

@contextlib.contextmanager
def cut_in_two_ways(lab):
    """Two copies that are lost, one that is not, and three stores that have none."""
    data = source(lab, 3 * MIB + 1)
    with six() as depots:
        assert put(lab, depots[:1]).rc == 0
        assert add(lab, depots[1:2], "--extent", "1500k").rc == 0
        assert add(lab, depots[2:3], "--extent", "1m").rc == 0
        for d in depots[:2]:
            d.objects.clear()
        yield data, depots[3:]


def test_two_copies_that_are_cut_in_two_ways_go_to_two_stores(lab):
    with cut_in_two_ways(lab) as (_, new):
        run = heal(lab, new[:1])
        assert run.rc == 1, run.err
        assert "those that were given have the same bytes" in run.err
        copies(lab)
        run = heal(lab, new[:2])
        assert run.rc == 0, run.err
        assert full(lab).rc == 0
        assert_so_many_copies(lab, 3)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_these_go_on_with_the_same_stores(lab, n):
    with cut_in_two_ways(lab) as (data, new):
        killed_at(lab, new[:2], n)
        run = heal(lab, new[:2])
        assert run.rc == 0, run.err
        assert full(lab).rc == 0
        assert_so_many_copies(lab, 3)
        assert sum(len(o) for d in new for o in d.objects.values()) == \
            2 * len(data)


@pytest.mark.parametrize("late", [0, 1])
def test_what_came_unseen_is_told_from_what_begins_with_the_same_byte(lab, late):
    """Both stores are sent some, of which what one was sent has come."""
    with cut_in_two_ways(lab) as (_, new):
        for d in new[:2]:
            d.fault = "is_late"
        run = lab.start("check", "film.bin.xnd", "--heal", *to(new[:2]),
                        report=False)
        wait_until(lambda: all(d.delayed for d in new[:2]), "both are sent")
        run.kill()
        run.popen.wait()
        for d in new[:2]:
            d.fault = None
        new[late].put_late()
        come, n_before = list(new[late].objects), len(new[late].requests)
        run = heal(lab, new[:2])
        assert run.rc == 0, run.err
        assert not any(("PUT", path) in new[late].requests[n_before:]
                       for path in come)
        assert_so_many_copies(lab, 3)
        assert full(lab).rc == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_what_comes_late_is_not_in_the_way_of_what_has_its_name(lab, n):
    """A store was sent a copy of the whole, and is to get the first part of another,
    which begins with the same byte: it has asked n times then."""
    data = source(lab, 3 * MIB + 1)
    with six() as depots:
        whole, cut, good, new = depots[:4]
        assert put(lab, [whole]).rc == 0
        assert add(lab, [cut], "--extent", "1500k").rc == 0
        assert add(lab, [good], "--extent", "1m").rc == 0
        away, whole.objects, new.fault = whole.objects, {}, "is_late"
        run = lab.start("check", "film.bin.xnd", "--heal", *to([new]), report=False)
        wait_until(lambda: new.delayed, "it is sent")
        run.kill()
        run.popen.wait()
        new.fault, whole.objects = "keeps_what_is_there", away
        cut.objects.clear()
        before = len(new.requests)
        new.on_request = lambda request: (
            len(new.requests) >= before + n and new.put_late())
        run = heal(lab, [new])
        assert run.rc == 0, run.err
        assert full(lab).rc == 0
        assert_so_many_copies(lab, 3)
        assert sum(map(len, new.objects.values())) == len(data)
