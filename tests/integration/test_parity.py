# SPDX-License-Identifier: MIT
"""A file in stripes of four shards of data and two of parity, on six depots."""
import hashlib
import http.client
import itertools
import random
import re
import time

import pytest

import parity
from lab import bytes_of, wait_until
from served import Served

LENGTH = 128 << 10
SIZE = 6 * 4 * LENGTH + 2 * LENGTH + 1000  # the last stripe is short
NAME = "film.bin"
PAIRS = list(itertools.combinations(range(6), 2))
POLICIES = ["adaptive", "progress", "aggressive", "basic"]


@pytest.fixture(name="data", scope="module")
def make_data():
    return bytes_of(SIZE)


@pytest.fixture(name="stripes", scope="module")
def make_stripes(data):
    return parity.stripes_of(data, 4, 6, LENGTH)


def depots_of(lab, stripes, dead=(), lying=(), silent=()):
    """Six depots, of which some are as they should not be."""
    depots = []
    for i in range(6):
        files = parity.files_of(stripes, i)
        if i in dead:
            depots.append(lab.dead())
        elif i in silent:
            depots.append(lab.silent())
        elif i in lying:
            depots.append(lab.depot(files={
                name: bytes([d[0] ^ 1]) + d[1:] for name, d in files.items()}))
        else:
            depots.append(lab.depot(files=files))
    return depots


def write(lab, stripes, depots, **options):
    def urls_of(stripe, number):
        return [depots[parity.place(stripe, number)].url(
            parity.name_of(stripe, number))]
    return lab.write(f"{time.monotonic_ns()}.xnd", parity.exnode(stripes, urls_of, **options))


def parity_asked(stripes, depots):
    names = {"/" + parity.name_of(s, i) for s in stripes for i in (4, 5)}
    return [r for d in depots for r in d.requests() if r["uri"] in names]


def test_where_all_depots_live_no_parity_is_fetched(lab, data, stripes):
    depots = depots_of(lab, stripes)
    run = lab.xdownload(write(lab, stripes, depots), "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data
    assert parity_asked(stripes, depots) == []


@pytest.mark.parametrize("to", ["file", "pipe"])
@pytest.mark.parametrize("policy", [
    p if p == "adaptive" else pytest.param(p, marks=pytest.mark.slow)
    for p in POLICIES])
def test_any_two_of_six_depots_may_be_dead(lab, data, stripes, policy, to):
    live, dead = depots_of(lab, stripes), lab.dead()
    runs = []
    for pair in PAIRS:  # at once, as they wait most of the time
        depots = [dead if i in pair else d for i, d in enumerate(live)]
        out = "out-%d-%d" % pair
        with open(lab.path("piped" + out), "wb") as piped:
            runs.append((out, lab.start(
                "-a", policy, "-b", "64k", write(lab, stripes, depots), "-o",
                out if to == "file" else "-", stdout=piped)))
        time.sleep(0.05)
    for out, run in runs:
        run = run.wait()
        assert run.rc == 0, (out, run)
        assert lab.read(out if to == "file" else "piped" + out) == data, out


@pytest.mark.parametrize("pair", PAIRS[::4])
def test_two_depots_may_send_wrong_bytes_and_are_named(lab, data, stripes,
                                                       pair):
    depots = depots_of(lab, stripes, lying=pair)
    run = lab.xdownload(write(lab, stripes, depots), "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data
    for i in pair:
        assert f"{depots[i].host}" in run.err


@pytest.mark.parametrize("pair", [(0, 1), (2, 5)])
def test_two_depots_may_never_answer(lab, data, stripes, pair):
    depots = depots_of(lab, stripes, silent=pair)
    run = lab.xdownload(write(lab, stripes, depots), "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data
    assert run.seconds < 30  # it does not wait until they have timed out


@pytest.mark.parametrize("to", ["file", "pipe"])
def test_two_depots_may_die_while_they_are_fetched_from(lab, data, stripes,
                                                        to):
    depots = [lab.depot(files=parity.files_of(stripes, i), rate=300_000)
              for i in range(6)]
    path = write(lab, stripes, depots)
    with open(lab.path("piped"), "wb") as out:
        run = lab.start(path, "-o", "out" if to == "file" else "-",
                        stdout=out)
        wait_until(lambda: sum(d.bytes_sent() for d in depots[:2]) > 0,
                   "two depots deliver")
        for d in depots[:2]:
            d.throttle.close()
            d.nginx.close()
        run = run.wait()
    assert run.rc == 0, run
    assert lab.read("out" if to == "file" else "piped") == data


def test_what_is_killed_while_stripes_are_incomplete_goes_on(lab, data,
                                                             stripes):
    depots = [lab.depot(files=parity.files_of(stripes, i), rate=400_000)
              for i in range(4)] + [lab.dead(), lab.dead()]
    path = write(lab, stripes, depots)
    for seconds in (1.0, 2.0):
        run = lab.start(path, "-o", "out")
        time.sleep(seconds)
        run.kill()
    run = lab.xdownload(path, "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data


@pytest.mark.parametrize("k, n", [(1, 2), (1, 4), (2, 3), (5, 7)])
def test_any_k_of_n_suffice(lab, data, k, n):
    stripes = parity.stripes_of(data[:900_001], k, n, 100_000)
    depots = [lab.dead() if i < n - k else
              lab.depot(files=parity.files_of(stripes, i)) for i in range(n)]
    run = lab.xdownload(write(lab, stripes, depots), "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data[:900_001]


def on_one_host(lab, stripes, dead, but=()):
    """Of each stripe all parity lies on the depot behind those with data, but for
    the shards of those numbers, which it does not have."""
    depots = []
    for i in range(5):
        files = {parity.name_of(s, number): s.shards[number]
                 for s in stripes for number in ([i] if i < 4 else [4, 5])
                 if number not in but}
        depots.append(lab.dead() if i in dead else lab.depot(files=files))
    return depots, lab.write(
        f"{time.monotonic_ns()}.xnd", parity.exnode(
            stripes, lambda stripe, number: [depots[min(number, 4)].url(
                parity.name_of(stripe, number))]))


@pytest.mark.parametrize("to", ["out", "-"])
@pytest.mark.parametrize("policy", POLICIES)
def test_two_shards_of_parity_on_one_host_are_both_used(lab, data, stripes, policy,
                                                        to):
    _, manifest = on_one_host(lab, stripes, dead=(0, 1))
    with open(lab.path("piped"), "wb") as out:
        run = lab.xdownload(manifest, "-o", to, "--algorithm", policy,
                            stdout=out)
    assert run.rc == 0, run
    assert lab.read("out" if to == "out" else "piped") == data


@pytest.mark.parametrize("but", [4, 5])
def test_of_two_on_one_host_one_may_be_gone(lab, data, stripes, but):
    _, manifest = on_one_host(lab, stripes, dead=(2,), but=(but,))
    run = lab.xdownload(manifest, "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data


@pytest.mark.parametrize("to", ["out", "-"])
def test_with_three_of_six_dead_the_sentence_names_the_stripe(lab, stripes, to):
    depots = depots_of(lab, stripes, dead=(0, 1, 2))
    with open(lab.path("piped"), "wb") as out:
        run = lab.xdownload(write(lab, stripes, depots), "-o", to,
                            "--patience", "1", stdout=out)
    assert run.rc == 1, run
    assert re.search(r"byte \d+ \(stripe \d takes 4 shards to be decoded, and "
                     r"[123] (is|are) left\)", run.err), run.err


def test_without_any_hash_parity_is_no_sample_of_the_data(lab, data, stripes):
    depots = depots_of(lab, stripes)
    run = lab.xdownload(write(lab, stripes, depots, is_hashed=False), "-o",
                        "out")
    assert run.rc == 0, run
    assert lab.read("out") == data


def test_a_liar_is_found_by_a_hash_that_only_the_stripe_has(lab, data, stripes):
    """Once some of its stripe is to be decoded, that is."""
    depots = depots_of(lab, stripes, dead=(0,), lying=(3,))
    run = lab.xdownload(write(lab, stripes, depots, is_hashed=False,
                              hashes_data=True), "-o", "out", "--checksum",
                        "sha-256=" + hashlib.sha256(data).hexdigest())
    assert run.rc == 0, run
    assert lab.read("out") == data
    assert depots[3].host in run.err


def test_parity_that_does_not_match_its_hash_is_not_used(lab, data, stripes):
    depots = depots_of(lab, stripes, dead=(0,))
    run = lab.xdownload(write(lab, stripes, depots,
                              changes={(0, 4): "ab" * 32}), "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data


def mixed_up(stripes, *parities):
    """Of stripe 1 these shards of parity are of other data: its hashes are right,
    but what is decoded is not."""
    other = parity.stripes_of(bytes_of(SIZE, 7), 4, 6, LENGTH)
    mixed = [parity.Stripe(s.number, s.offset, s.data, 4, 6, LENGTH)
             for s in stripes]
    for i in parities:
        mixed[1].shards[i] = other[1].shards[i]
    return mixed


@pytest.mark.parametrize("wrong", [4, 5])
@pytest.mark.parametrize("together", [False, True])
def test_where_one_shard_of_parity_is_of_other_data_the_other_is_used(
        lab, data, stripes, wrong, together):
    mixed = mixed_up(stripes, wrong)
    if together:
        _, manifest = on_one_host(lab, mixed, dead=(1,))
    else:
        manifest = write(lab, mixed, depots_of(lab, mixed, dead=(1,)))
    run = lab.xdownload("-b", "32k", manifest, "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data


def test_parity_of_other_data_is_not_used(lab, data, stripes):
    mixed = mixed_up(stripes, 4, 5)
    depots = depots_of(lab, mixed, dead=(1,))  # which has shard 0 of stripe 1
    run = lab.xdownload(write(lab, mixed, depots), "-o", "out", "--patience",
                        "1")
    assert run.rc == 1, run
    assert "stripe 1: its parity does not match its data: shard 0" in run.err
    # All else is kept.
    depots = depots_of(lab, stripes)
    run = lab.xdownload(write(lab, stripes, depots), "-o", "out")
    assert run.rc == 0, run
    assert lab.read("out") == data
    assert sum(d.bytes_sent() for d in depots) < 2 * LENGTH


@pytest.mark.parametrize("dead", [(0, 1), (2, 4)])
def test_without_hashes_of_shards_the_file_decides(lab, data, stripes, dead):
    depots = depots_of(lab, stripes, dead=dead)
    run = lab.xdownload(write(lab, stripes, depots, is_hashed=False), "-o",
                        "out", "--checksum", "sha-256=" +
                        hashlib.sha256(data).hexdigest())
    assert run.rc == 0, run
    assert lab.read("out") == data


@pytest.mark.parametrize("spool", [[], ["--spool", "none"]])
def test_a_player_may_go_anywhere_though_two_depots_are_dead(lab, data,
                                                             stripes, spool):
    depots = depots_of(lab, stripes, dead=(1, 4))
    served = Served(lab, "--lookahead", "2m", *spool,
                    write(lab, stripes, depots))
    places = random.Random(5)
    for _ in range(30):
        first = places.randrange(SIZE - 1)
        last = min(SIZE, first + places.choice([1, 1000, 300_000])) - 1
        answer, body = served.ask(Range=f"bytes={first}-{last}")
        assert answer.status == 206
        assert body == data[first:last + 1]
    assert served.ask()[1] == data


@pytest.mark.parametrize("spool", [[], ["--spool", "none"]])
def test_a_stripe_that_is_lost_costs_the_one_behind_it_nothing(lab, data,
                                                               stripes, spool):
    lost = {"s0.1", "s0.2", "s0.3", "s1.0"}
    depots = [lab.depot(files={name: d for name, d in parity.files_of(
        stripes, i).items() if name not in lost}) for i in range(6)]
    served = Served(lab, *spool, write(lab, stripes, depots))
    end = 4 * LENGTH
    with pytest.raises(http.client.HTTPException):
        served.ask(Range=f"bytes={end - 1}-{end + LENGTH - 1}")
    answer, body = served.ask(Range=f"bytes={end}-{end + LENGTH - 1}")
    assert answer.status == 206
    assert body == data[end:end + LENGTH]
