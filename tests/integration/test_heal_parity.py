# SPDX-License-Identifier: MIT
"""xdownload check --heal of files with parity: which shards are computed and placed
again, and on which hosts."""
import contextlib
import sys
from pathlib import Path

import pytest

from coded import (MIB, add, assert_apart, assert_coded, assert_fetched, assert_parity,
                   heal, object_of, put, shown, six, source, to)
from lab import Lab, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import IbpDepot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


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
        assert "other shards of their stripes" in run.err
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
        assert "have other shards of their stripes already" in run.err
        run = heal(lab, depots[2:5])
        assert run.rc == 0, run.err
        assert [len(d.objects) for d in depots[:5]] == [0, 1, 2, 2, 1]
        assert_fetched(lab, data)


# ---- pieces of shards ----

SHORT = ["--extent", "64k"]  # a quarter of a shard


def full(lab):
    return lab.xdownload("check", "--full", "film.bin.xnd", report=False)


def of_data(lab, depots):
    """The depots, that with the first bytes of the file first."""
    url = shown(lab)["extents"][0]["replicas"][0]["url"]
    return sorted(depots, key=lambda d: not url.startswith(d.url))


@pytest.mark.parametrize("lost", [(0, 1), (1, 4), (4, 5)])
def test_pieces_of_a_shard_lie_together_and_shards_apart(lab, lost):
    data = source(lab, 3 * MIB + 11)
    with coded(lab, data) as (depots, new):
        for i in lost:
            depots[i].objects.clear()
        run = heal(lab, new, *SHORT)
        assert run.rc == 0, run.err
        found = assert_apart(lab, data, 4)
        assert all(len(hosts) == 1 for shards in found
                   for hosts in shards.values())
        assert full(lab).rc == 0
        # what is in pieces now is healed, too, as a whole or not
        for d in new:
            d.objects.clear()
        with StoreDepot(address="127.0.0.9") as one, \
                StoreDepot(address="127.0.0.10") as two:
            run = heal(lab, [one, two])
            assert run.rc == 0, run.err
            assert_apart(lab, data, 4)
            assert full(lab).rc == 0
            depots[2].objects.clear()
            depots[3].objects.clear()
            assert_fetched(lab, data)


def test_a_host_gets_what_it_lacks_of_its_own_shard_and_of_no_other(lab):
    data = source(lab, MIB)
    with coded(lab, data) as (depots, new):
        depots = of_data(lab, depots)
        depots[0].objects.clear()
        assert heal(lab, new[:1], *SHORT).rc == 0
        lost = sorted(new[0].objects)[1:3]
        for path in lost:
            del new[0].objects[path]
        run = heal(lab, depots[1:])
        assert run.rc == 1
        assert "other shards of their stripes" in run.err
        run = heal(lab, depots[1:] + new[:1])
        assert run.rc == 0, run.err
        assert len(new[0].objects) == 4
        assert_apart(lab, data, 4)
        assert full(lab).rc == 0


def test_a_piece_finds_another_host_where_its_own_takes_no_more(lab):
    data = source(lab, MIB)
    with coded(lab, data) as (depots, new):
        of_data(lab, depots)[0].objects.clear()
        new[0].fault = "is_full_after_two"
        run = heal(lab, new, *SHORT)
        assert run.rc == 0, run.err
        assert len(new[0].objects) + len(new[1].objects) == 4
        assert_apart(lab, data, 4)
        assert full(lab).rc == 0


def test_lost_shards_of_one_mapping_go_to_hosts_of_their_own(lab):
    data = source(lab, 3 * MIB + 1)
    with six() as depots:
        assert put(lab, depots[:1]).rc == 0
        assert add(lab, depots[1:3], "--parity", "2+2").rc == 0
        depots[0].objects.clear()
        run = heal(lab, depots[3:4])
        assert run.rc == 1
        assert "no store is left" in run.err
        run = heal(lab, depots[3:5])
        assert run.rc == 0, run.err
        assert depots[0].url not in lab.read("film.bin.xnd").decode()
        assert_apart(lab, data, 2)
        assert full(lab).rc == 0
        for lost in (depots[1], depots[3]):
            lost.objects.clear()
        assert_fetched(lab, data)


def test_a_copy_more_of_several_shards_may_lie_on_one_host(lab):
    data = source(lab, 3 * MIB + 1)
    with six() as depots:
        assert put(lab, depots[:2]).rc == 0
        assert add(lab, depots[2:4], "--parity", "2+2").rc == 0
        depots[1].objects.clear()
        run = heal(lab, depots[4:5])
        assert run.rc == 0, run.err
        assert list(map(len, depots[4].objects.values())) == [len(data)]


# ---- heals that were broken off ----

def interrupted(lab, new, *words):
    """A command is killed once `new` has some of the objects."""
    run = lab.start(*words, report=False)
    wait_until(lambda: new.objects, "an object")
    run.kill()
    run.popen.wait()
    new.rate = 0


def assert_two_copies(lab, data, *hosts):
    """Each byte has one on each of these hosts."""
    at = {}
    for e in shown(lab)["extents"]:
        for r in e["replicas"]:
            host = r["url"].split("/")[2]
            at[host] = at.get(host, 0) + e["length"]
    assert at == {host: len(data) for host in hosts}


def host(store):
    return store.url.split("/")[2]


def test_a_good_copy_stands_for_none_that_is_bad_when_a_heal_goes_on(lab):
    """Its store is one of those that are given."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, bad, new = depots[:3]
        assert put(lab, [good, bad], "--extent", "256k").rc == 0
        bad.objects.clear()
        new.rate = 1e6
        interrupted(lab, new, "check", "film.bin.xnd", "--heal",
                    *to([good, new]))
        before = new.received
        run = heal(lab, [good, new])
        assert run.rc == 0, run.err
        assert_two_copies(lab, data, host(good), host(new))
        assert sum(map(len, new.objects.values())) == len(data)
        assert new.received < before + len(data)
        assert full(lab).rc == 0


def test_a_copy_that_is_there_is_none_of_those_that_an_addition_goes_on_with(lab):
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        first, new = depots[:2]
        words = ["add", "film.bin.xnd", *to([first, new]), "--copies", "1",
                 "--extent", "256k"]
        assert put(lab, [first], "--extent", "256k").rc == 0
        new.rate = 1e6
        interrupted(lab, new, *words)
        run = lab.xdownload(*words, report=False)
        assert run.rc == 0, run.err
        assert_two_copies(lab, data, host(first), host(new))


def test_copies_in_allocations_are_gone_on_with(lab):
    """What a depot calls them does not tell who has made them; and the one that is
    there already lies on a depot that is given, too."""
    data = source(lab, 24 * MIB)
    with StoreDepot() as bad, IbpDepot() as good, IbpDepot() as new:
        assert put(lab, [], "--to", f"ibp://{good.host}", "--to", bad.url,
                   "--extent", "256k").rc == 0
        bad.objects.clear()
        words = ["--to", f"ibp://{new.host}", "--to", f"ibp://{good.host}"]
        made = len(good._allocations)
        run = lab.start("check", "film.bin.xnd", "--heal", *words,
                        report=False)
        wait_until(lambda: len(new._allocations) > 3, "allocations")
        run.kill()
        run.popen.wait()
        run = heal(lab, [], *words)
        assert run.rc == 0, run.err
        assert_two_copies(lab, data, good.host, new.host)
        assert len(good._allocations) == made
        assert len(new._allocations) <= made + 2
        assert full(lab).rc == 0
