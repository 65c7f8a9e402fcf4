# SPDX-License-Identifier: MIT
"""Pieces that span bytes of several hosts: one host that lies is not enough to
lose them while other copies or parity will do."""
import http.client
import re

import pytest

import parity
from lab import bytes_of
from served import Served

LENGTH = 30_000
PIECE = 256 << 10  # it spans more than two stripes of four shards
SIZE = 600_003
TO = ["file", "pipe", "reader"]


@pytest.fixture(name="data", scope="module")
def make_data():
    return bytes_of(SIZE)


@pytest.fixture(name="stripes", scope="module")
def make_stripes(data):
    return parity.stripes_of(data, 4, 6, LENGTH)


def lie(content, at=None):
    at = len(content) // 2 if at is None else at
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]


def depots_of(lab, files, lying, at=None):
    """files: those of each depot, {name: bytes}; lying: depots, or objects of
    one, (depot, name)."""
    return [lab.depot(files={
        name: lie(d, at) if i in lying or (i, name) in lying else d
        for name, d in f.items()}) for i, f in enumerate(files)]


def coded(lab, stripes, lying, at=None, silent=None, **how):
    """A manifest of stripes, of which some depots lie in each object, and one
    may never answer."""
    depots = depots_of(lab, [parity.files_of(stripes, i)
                             for i in range(stripes[0].n)], lying, at)
    if silent is not None:
        depots[silent] = lab.silent()
    return depots, lab.write("coded.xnd", parity.exnode(
        stripes, lambda s, i: [depots[parity.place(s, i)].url(
            parity.name_of(s, i))], **{"piece_length": PIECE, **how}))


def copied(lab, data, lying, n=4, copies=2, length=LENGTH, is_hashed=True,
           piece_length=PIECE):
    """A manifest of extents on n depots: each has so many copies."""
    extents = [data[at:at + length] for at in range(0, len(data), length)]
    stripes = [parity.Stripe(i, i * length, e, 1, 1, length)
               for i, e in enumerate(extents)]

    def places(i):
        return [(i + k) % n for k in range(copies)]
    depots = depots_of(lab, [{f"e{i}": e for i, e in enumerate(extents)
                              if d in places(i)} for d in range(n)], lying)
    text = parity.exnode(stripes, lambda s, _: [
        depots[d].url(f"e{s.number}") for d in places(s.number)],
        is_hashed=is_hashed, piece_length=piece_length)
    begin, end = text.index('<e:metadata name="parity"'), \
        text.index("<e:mapping>")
    return depots, lab.write("copied.xnd", text[:begin] + text[end:])


def fetch(lab, manifest, to="file", *args):
    """What came; and the command's words."""
    if to == "reader":
        served = Served(lab, *args, "--lookahead", "2m", manifest)
        return served.ask()[1], None
    with open(lab.path("piped"), "wb") as piped:
        run = lab.start(*args, "--no-continue", "--force", manifest, "-o",
                        "out" if to == "file" else "-", stdout=piped).wait()
    assert run.rc == 0, run
    return lab.read("out" if to == "file" else "piped"), run.err


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("is_hashed", [True, False])
@pytest.mark.parametrize("lying", [(0,), (5,), (1, 4)])
def test_two_of_six_hosts_may_lie_in_each_shard(lab, data, stripes, lying,
                                                is_hashed, to):
    _, manifest = coded(lab, stripes, lying, is_hashed=is_hashed)
    assert fetch(lab, manifest, to)[0] == data


@pytest.mark.parametrize("is_hashed", [True, False])
@pytest.mark.parametrize("silent", [2, 5])
def test_one_host_may_lie_while_another_never_answers(lab, data, stripes,
                                                      silent, is_hashed):
    _, manifest = coded(lab, stripes, (0,), silent=silent,
                        is_hashed=is_hashed)
    assert fetch(lab, manifest)[0] == data


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("is_hashed", [True, False])
def test_one_host_may_lie_in_each_copy(lab, data, is_hashed, to):
    for lying in range(2):
        _, manifest = copied(lab, data, [lying], is_hashed=is_hashed)
        assert fetch(lab, manifest, to)[0] == data


def refuse(lab, manifest):
    """The command's words: it does not wait for anything."""
    run = lab.xdownload("--no-continue", manifest, "-o", "out")
    assert run.rc == 4, run
    return run.err


def test_more_hosts_than_parity_can_replace_are_named(lab, stripes):
    lying = (0, 2, 3)
    depots, manifest = coded(lab, stripes, lying)
    err = refuse(lab, manifest)
    assert "takes 4 shards to be decoded" in err
    for i in lying:
        assert f"{depots[i].host}" in err
    assert "wrong bytes" in err or "sha-256" in err


def test_without_hashes_of_shards_the_hosts_of_the_piece_are_named(lab, data):
    depots, manifest = coded(lab, parity.stripes_of(data[:120_000], 4, 6,
                                                    LENGTH),
                             (0, 2, 4), is_hashed=False)
    err = refuse(lab, manifest)
    found = re.search(r"no depot has bytes 0-119999 that match their sha-256: "
                      r"they came from ([^;]*); 15 combinations of copies "
                      r"and parity are wrong, and there are no others", err)
    assert found, err
    assert set(found[1].split(", ")) == {d.host for d in depots[:4]}


@pytest.mark.parametrize("policy", ["basic", "adaptive"])
@pytest.mark.parametrize("to", TO)
def test_copies_on_three_hosts_may_be_wrong_in_every_other_piece(lab, to,
                                                                 policy):
    """Of each extent one copy is wrong in the even pieces, the other in the odd
    ones.  Every object is given up for a wrong piece, though others are right.
    """
    extent, piece, n = 2 * PIECE, PIECE, 8
    data = bytes_of(n * extent)
    extents = [data[at:at + extent] for at in range(0, len(data), extent)]
    files = [{}, {}, {}]
    for i, e in enumerate(extents):
        for k in range(2):
            files[(i + k) % 3][f"e{i}"] = lie(e, k * piece + piece // 2)
    depots = [lab.depot(files=f) for f in files]
    text = parity.exnode(
        [parity.Stripe(i, i * extent, e, 1, 1, extent)
         for i, e in enumerate(extents)],
        lambda s, _: [depots[(s.number + k) % 3].url(f"e{s.number}")
                      for k in range(2)], is_hashed=False, piece_length=piece)
    begin, end = text.index('<e:metadata name="parity"'), \
        text.index("<e:mapping>")
    manifest = lab.write("three.xnd", text[:begin] + text[end:])
    for _ in range(5):
        assert fetch(lab, manifest, to, "-a", policy)[0] == data


def test_after_a_thousand_combinations_it_says_so(lab, data):
    _, manifest = copied(lab, data, range(6), n=6, copies=3, length=9_000,
                         is_hashed=False)
    assert "the first 1000 combinations of copies and parity are wrong, and " \
        "no more are tried" in refuse(lab, manifest)


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("is_hashed", [True, False])
def test_copies_may_be_wrong_on_each_host(lab, data, is_hashed, to):
    """Each of three has one wrong object, and others that nobody else has."""
    lying = [(0, "e0"), (1, "e5"), (2, "e14")]
    _, manifest = copied(lab, data, lying, is_hashed=is_hashed)
    assert fetch(lab, manifest, to)[0] == data


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("piece_length", [0, LENGTH, PIECE])
def test_shards_may_be_wrong_on_each_host(lab, data, stripes, piece_length, to):
    """One of each stripe, each time of another host."""
    lying = [(i, f"s{i}.0") for i in range(4)] + [(3, "s4.5")]
    assert all(parity.place(stripes[int(n[1])], int(n[3])) == d
               for d, n in lying)
    _, manifest = coded(lab, stripes, lying, piece_length=piece_length)
    assert fetch(lab, manifest, to)[0] == data


@pytest.mark.parametrize("to", TO)
@pytest.mark.parametrize("length", [SIZE, 150_001])
def test_each_host_may_be_wrong_in_another_piece(lab, data, length, to):
    """Copies of all: what one has wrong the other has right."""
    wrong = [lie(data, 5 * LENGTH), lie(lie(data, 13 * LENGTH), 9 * LENGTH)]
    starts = range(0, SIZE, length)
    depots = [lab.depot(files={f"e{at}": w[at:at + length] for at in starts})
              for w in wrong]
    stripes = [parity.Stripe(i, at, data[at:at + length], 1, 1, length)
               for i, at in enumerate(starts)]
    text = parity.exnode(stripes, lambda s, _: [
        d.url(f"e{s.offset}") for d in depots], is_hashed=False,
        piece_length=LENGTH)
    begin, end = text.index('<e:metadata name="parity"'), \
        text.index("<e:mapping>")
    manifest = lab.write("two.xnd", text[:begin] + text[end:])
    assert fetch(lab, manifest, to)[0] == data


@pytest.mark.parametrize("is_hashed", [True, False])
@pytest.mark.parametrize("lying", [(0, 1, 2, 12), (3, 4, 10, 13)])
def test_parity_that_lies_in_the_place_of_a_part_is_found(lab, data, is_hashed,
                                                          lying):
    """What follows the first piece of a shard of data is right, and stays: so no
    whole shard of parity comes in its place."""
    stripes = parity.stripes_of(data[:300_000], 10, 14, LENGTH)
    _, manifest = coded(lab, stripes, lying, at=9, is_hashed=is_hashed,
                        piece_length=LENGTH // 2)
    for _ in range(3):  # by chance other parity comes first
        assert fetch(lab, manifest)[0] == data[:300_000]


# ---- a piece that nothing mends ----

def serve(lab, manifest, ranges):
    """What a player gets of each range; None: an error."""
    served = Served(lab, "--lookahead", "512k", manifest)
    for begin, end in ranges:
        try:
            yield served.ask(Range=f"bytes={begin}-{end - 1}")[1]
        except http.client.HTTPException:
            yield None
    served.end()


@pytest.mark.parametrize("copies", [1, 2])
def test_reader_gets_all_pieces_but_the_one_that_nothing_mends(lab, copies):
    data = bytes_of(4_000_003)
    wrong = [(depot, "e1") for depot in range(4)]
    _, manifest = copied(lab, data, wrong, copies=copies, length=100_000,
                         is_hashed=False)
    ranges = [(1000, 2000), (2_000_000, 2_300_000), (PIECE, PIECE + 1000),
              (1000, 2000), (3_000_000, len(data)), (PIECE, len(data))]
    for (begin, end), got in zip(ranges, serve(lab, manifest, ranges)):
        assert got == (None if begin < PIECE else data[begin:end]), begin


# ---- a piece that is too long for memory ----

LONG = 24 << 20
LONG_EXTENT = 3 << 20


@pytest.fixture(name="long", scope="module")
def make_long():
    return bytes_of(LONG)


@pytest.mark.parametrize("to", ["file", "pipe"])
@pytest.mark.parametrize("lying", [0, 3])
def test_copies_of_a_long_piece_are_combined(lab, long, lying, to):
    _, manifest = copied(lab, long, [lying], length=LONG_EXTENT,
                         piece_length=LONG, is_hashed=False)
    got, err = fetch(lab, manifest, to)
    assert got == long
    assert not list(lab.path(".").glob("*.scratch"))


def test_parity_of_a_long_piece_is_combined(lab, long):
    stripes = parity.stripes_of(long, 4, 6, LONG_EXTENT)
    _, manifest = coded(lab, stripes, (0, 4), is_hashed=False,
                        piece_length=LONG)
    assert fetch(lab, manifest)[0] == long


def test_copies_of_a_long_piece_are_not_all_in_memory(lab, long):
    _, manifest = copied(lab, long, [0], copies=4, length=LONG_EXTENT,
                         piece_length=LONG, is_hashed=False)
    run = lab.xdownload("--no-continue", manifest, "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == long
    assert run.rss < 3 * LONG


def test_a_piece_of_too_many_parts_is_said_not_to_be_combined(lab):
    data = bytes_of(600_000)
    _, manifest = copied(lab, data, range(4), length=500, piece_length=1 << 20,
                         is_hashed=False)
    assert "they have too many parts to try all combinations" in refuse(lab, manifest)
