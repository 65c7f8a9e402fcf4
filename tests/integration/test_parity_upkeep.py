# SPDX-License-Identifier: MIT
"""Files with parity: show --probe, check, drop and renew.

Parity is computed here by the words of xdownload-manifest(5), and by nothing of the
program's own.
"""
import calendar
import contextlib
import hashlib
import json
import re
import sys
import time
from functools import reduce
from pathlib import Path

import pytest

from lab import bytes_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from fault_depot import FaultDepot  # noqa: E402
from ibp_depot import IbpDepot  # noqa: E402
from s3_depot import ACCESS_KEY, SECRET_KEY, S3Depot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402

K, N = 4, 6
SHARD = 3000
SIZE = K * SHARD - 100  # the last shard is short
NAME = "f.bin"


# ---- parity, as the manual has it ----

def times(a, b):
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11d if a & 0x80 else 0)
        b >>= 1
    return product


INVERSE = {a: next(b for b in range(1, 256) if times(a, b) == 1)
           for a in range(1, 256)}


def scaled(factor, shard):
    return shard.translate(bytes(times(factor, x) for x in range(256)))


def plus(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def parity(data, i, k=K, size=SHARD):
    """Shard `i`."""
    shards = [data[j * size:(j + 1) * size].ljust(size, b"\0")
              for j in range(k)]
    return reduce(plus, (scaled(INVERSE[i ^ j], s)
                         for j, s in enumerate(shards)))


def test_parity_is_that_of_the_manual():
    assert parity(b"ABC", 2, 2, 2) == b"d!"


# ---- exNodes ----

def value(name, text):
    return f'<e:metadata name="{name}" type="string">{text}</e:metadata>'


def meta(name, *content):
    return f'<e:metadata name="{name}" type="meta">{"".join(content)}' \
        "</e:metadata>"


def mapping(offset, length, read, manage=""):
    return "<e:mapping>" + value("exnode_offset", offset) \
        + value("logical_length", length) + f"<e:read>{read}</e:read>" \
        + f"<e:manage>{manage}</e:manage></e:mapping>"


def replica(i, read, manage="", end="", offset=0):
    return meta(f"replica.{i}", value("read", read),
                *([value("manage", manage)] if manage else []),
                *([value("end", end)] if end else []),
                *([value("alloc_offset", offset)] if offset else []))


def stripe(data, shards, number=0, offset=0, k=K, n=N, size=SHARD):
    """Of `data`, from `offset` on in the file; {shard: its replicas}."""
    return meta(
        f"stripe.{number}", value("code", "reed-solomon"),
        value("polynomial", "0x11d"), value("matrix", "cauchy"),
        value("k", k), value("n", n), value("shard_length", size),
        value("exnode_offset", offset), value("logical_length", len(data)),
        *(meta(f"shard.{i}", value("sha256", hashlib.sha256(
            parity(data, i, k, size)).hexdigest()), *found)
          for i, found in shards.items()))


def exnode(lab, data, stripes, mappings, name="f.xnd", **hashes):
    lab.path(name).write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<exnode xmlns:e="http://loci.cs.utk.edu/exnode">'
        + value("filename", NAME) + value("size", len(data))
        + value("sha256", hashlib.sha256(data).hexdigest())
        + meta("parity", *stripes) + "".join(mappings) + "</exnode>")
    return name


# ---- show --probe ----

def test_depots_are_asked_how_long_parity_lives(lab):
    data = bytes_of(SIZE)
    with IbpDepot(data, lifetime=200_000) as whole, \
            IbpDepot(parity(data, 4), lifetime=5000) as first, \
            IbpDepot(parity(data, 5), lifetime=300_000) as second:
        path = exnode(lab, data, [stripe(data, {
            4: [replica(0, first.url(), first.capability(right="MANAGE"))],
            5: [replica(0, second.url())]})], [mapping(0, SIZE, whole.url())])
        run = lab.xdownload("show", "--json", "--probe", path, report=False)
        assert run.rc == 0, run
        file, = json.loads(run.out)["files"]
        probes = {s["number"]: s["replicas"][0]["probe"]
                  for s in file["stripes"][0]["shards"] if s["replicas"]}
        assert probes[4]["capability"] == "manage"
        assert abs(probes[4]["expires_in"] - 5000) < 60
        assert probes[4]["written"] == SHARD and probes[4]["error"] is None
        assert probes[5]["capability"] == "read"
        assert abs(probes[5]["expires_in"] - 300_000) < 60
        run = lab.xdownload("show", "--probe", path, report=False)
        out = run.out.decode()
        assert re.search(r"   4 parity\n.* expires in 1 h 2\d min, 3000 of 3000",
                         out), out
        assert re.search(r"   5 parity\n.* expires in 3 d .*\(asked by its "
                         "read", out), out
        assert re.findall("warning: .*expires in", run.err) == [
            f"warning: shard 4 of stripe 0 on {first.host} expires in"]


def test_what_is_recorded_of_parity_is_warned_of(lab):
    data = bytes_of(SIZE)
    path = exnode(lab, data, [stripe(data, {
        4: [replica(0, "http://a.example/4", end="2001-01-01 00:00:00")],
        5: [replica(0, "http://b.example/5", end="2101-01-01 00:00:00")]})],
                  [mapping(0, SIZE, "http://c.example/f")])
    run = lab.xdownload("show", path, report=False)
    assert run.err.count("warning") == 1
    assert "shard 4 of stripe 0 on a.example expired at 2001-01-01 00:00:00, " \
        "as recorded: --probe asks whether it was extended" in run.err


# ---- check ----

@contextlib.contextmanager
def coded(lab, faults=None, data=None, **broken):
    """A file of K shards with N - K of parity, each on a depot of its own; `faults`:
    {shard: fault}; `broken`: {"sI": the bytes of shard I in place of the right ones}."""
    data = data or bytes_of(SIZE)
    size = -(-len(data) // K)
    with contextlib.ExitStack() as stack:
        depots = []
        for i in range(N):
            held = data[i * size:(i + 1) * size] if i < K \
                else parity(data, i, K, size)
            held = broken.get(f"s{i}", held)
            depots.append(stack.enter_context(
                FaultDepot(held, (faults or {}).get(i, "none"))))
        path = exnode(
            lab, data,
            [stripe(data, {i: [replica(0, depots[i].url(NAME))]
                           for i in range(K, N)}, size=size)],
            [mapping(i * size, len(data[i * size:(i + 1) * size]),
                     depots[i].url(NAME)) for i in range(K)])
        yield path, depots


def check(lab, *words, rc):
    run = lab.xdownload("check", "--json", "--silence", "500ms", *words,
                        report=False)
    assert run.rc == rc, run
    file, = json.loads(run.out)["files"]
    return file


def table(lab, *words, rc):
    run = lab.xdownload("check", "--silence", "500ms", *words, report=False)
    assert run.rc == rc, run
    return run.out.decode()


def good(file, i=0):
    return "".join("01"[s["good"]] for s in file["stripes"][i]["shards"])


@pytest.mark.parametrize("words", [[], ["--full"]])
def test_a_file_that_is_whole_bears_as_many_losses_as_it_has_parity(lab, words):
    with coded(lab) as (path, depots):
        file = check(lab, path, *words, rc=0)
        assert file["losses_borne"] == N - K and good(file) == "111111"
        assert file["replicas"] == file["usable"] == N
        assert file["one_good_copy"]["bytes"] == 0
        assert file["no_good_copy"]["bytes"] == 0
        assert file["restorable"] == {"bytes": 0, "runs": []}
        found, = file["stripes"]
        assert (found["number"], found["offset"], found["length"], found["k"],
                found["n"], found["good"], found["losses_borne"]) == (
                    0, 0, SIZE, K, N, N, N - K)
        for i, shard in enumerate(found["shards"]):
            assert shard["number"] == i and len(shard["replicas"]) == (i >= K)
        row, = found["shards"][4]["replicas"]
        assert row["verdict"] == "ok" and row["wrong"] == []
        assert row["depot"] == depots[4].host
        assert row["url"] == depots[4].url(NAME)
        assert row["bytes_read"] == len(parity(bytes_of(SIZE), 4, K, 2975))
        # a sample without a hash shows nothing, and all of a shard does
        assert row["bytes_right"] == (row["bytes_read"] if words else 0)
        by = {d["depot"]: d for d in file["depots"]}[depots[4].host]
        assert (by["replicas"], by["usable"], by["bytes_held"]) == (1, 1, 0)


@pytest.mark.parametrize("lost, borne", [
    ([4], 1), ([0], 1), ([0, 4], 0), ([0, 3], 0), ([4, 5], 0)])
def test_each_shard_that_is_lost_is_a_loss_borne(lab, lost, borne):
    with coded(lab, {i: "status_404" for i in lost}) as (path, _):
        file = check(lab, path, rc=1)
        assert file["losses_borne"] == borne
        assert good(file) == "".join("01"[i not in lost] for i in range(N))
        assert file["no_good_copy"]["bytes"] == 0
        gone = sum(i < K for i in lost) * 2975
        assert file["restorable"]["bytes"] == gone
        # the next one loses all bytes that are on one depot alone, or on none
        assert file["one_good_copy"]["bytes"] == (0 if borne else SIZE)


@pytest.mark.parametrize("lost, gone", [
    ([0, 1, 5], [(0, 5950)]), ([0, 4, 5], [(0, 2975)])])
def test_below_k_shards_what_is_lost_cannot_be_had(lab, lost, gone):
    with coded(lab, {i: "status_404" for i in lost}) as (path, _):
        file = check(lab, path, rc=1)
        assert file["losses_borne"] == -1
        assert [(r["offset"], r["offset"] + r["length"])
                for r in file["no_good_copy"]["runs"]] == gone
        assert file["restorable"]["bytes"] == 0
        out = table(lab, path, rc=1)
        assert "nor can parity restore them: 0-" in out
        assert "stripe 0 has only 3 good shards: it takes 4 to restore the " \
            "others" in out


def test_a_wrong_byte_of_parity_is_found_by_full_alone(lab):
    wrong = bytearray(parity(bytes_of(SIZE), 5, K, 2975))
    wrong[1234] ^= 1
    with coded(lab, s5=bytes(wrong)) as (path, depots):
        assert check(lab, path, rc=0)["losses_borne"] == 2
        file = check(lab, path, "--full", rc=1)
        assert file["losses_borne"] == 1 and good(file) == "111110"
        row, = file["stripes"][0]["shards"][5]["replicas"]
        assert row["verdict"] == "lying"
        assert row["reason"] == "2975 of 2975 bytes read are wrong, the first " \
            "at 0"
        assert row["wrong"] == [{"offset": 0, "length": 2975}]
        out = table(lab, path, "--full", "-v", rc=1)
        assert f"  shard 5 of stripe 0, {depots[5].host}: lying: 2975" in out
        assert f"  shard 4 of stripe 0, {depots[4].host}: ok: nothing" in out


def test_parity_that_is_too_short_is_no_good(lab):
    with coded(lab, s4=b"short") as (path, depots):
        file = check(lab, path, rc=1)
        assert good(file) == "111101" and file["losses_borne"] == 1
        row, = file["stripes"][0]["shards"][4]["replicas"]
        assert row["verdict"] in ("stale", "dead") and row["reason"]


def test_two_copies_of_a_shard_are_one_shard(lab):
    data = bytes_of(SIZE)
    with coded(lab) as (_, depots), \
            FaultDepot(parity(data, 4, K, 2975)) as other, \
            FaultDepot(b"", "status_404") as gone:
        path = exnode(lab, data, [stripe(data, {
            4: [replica(0, depots[4].url(NAME)), replica(1, other.url(NAME))],
            5: [replica(0, gone.url(NAME)), replica(1, depots[5].url(NAME))]},
            size=2975)], [mapping(i * 2975, len(data[i * 2975:][:2975]),
                                  depots[i].url(NAME)) for i in range(K)])
        file = check(lab, path, rc=1)
        assert good(file) == "111111" and file["losses_borne"] == 2
        assert [[r["verdict"] for r in s["replicas"]]
                for s in file["stripes"][0]["shards"][4:]] == [
                    ["ok", "ok"], ["dead", "ok"]]
        assert file["replicas"] == 8 and file["usable"] == 7


def test_copies_of_a_shard_are_compared(lab):
    data = bytes_of(SIZE)
    right, wrong = parity(data, 4), bytearray(parity(data, 4))
    wrong[7] ^= 1
    with FaultDepot(data) as whole, contextlib.ExitStack() as stack:
        shards = [stack.enter_context(FaultDepot(bytes(d)))
                  for d in (right, wrong, right)]
        path = exnode(lab, data, [stripe(data, {4: [
            replica(i, d.url(NAME)) for i, d in enumerate(shards)]})],
            [mapping(0, SIZE, whole.url(NAME))])
        file = check(lab, path, rc=1)
        assert [r["verdict"] for r in
                file["stripes"][0]["shards"][4]["replicas"]] == [
                    "ok", "lying", "ok"]
        assert good(file) == "111110"


def test_copies_of_data_count_with_their_shards(lab):
    data = bytes_of(SIZE)
    with coded(lab, {0: "status_404", 4: "status_404", 5: "status_404"}) \
            as (path, depots), FaultDepot(data) as whole:
        path = exnode(lab, data, [stripe(data, {
            i: [replica(0, depots[i].url(NAME))] for i in (4, 5)}, size=2975)],
            [mapping(i * 2975, len(data[i * 2975:][:2975]),
                     depots[i].url(NAME)) for i in range(K)]
            + [mapping(0, SIZE, whole.url(NAME))])
        file = check(lab, path, rc=1)
        assert good(file) == "111100" and file["losses_borne"] == 0
        assert file["no_good_copy"]["bytes"] == 0
        assert [(r["offset"], r["length"])
                for r in file["one_good_copy"]["runs"]] == [(0, 2975)]


def test_the_worst_of_several_stripes_counts(lab):
    data = bytes_of(2 * SIZE)
    halves = data[:SIZE], data[SIZE:]
    with FaultDepot(data) as whole, contextlib.ExitStack() as stack:
        depots = [[stack.enter_context(
            FaultDepot(parity(halves[s], i), "status_404" * (s == 1 and i == 5)
                       or "none")) for i in (4, 5)] for s in (0, 1)]
        path = exnode(lab, data, [stripe(halves[s], {
            4 + i: [replica(0, depots[s][i].url(NAME))] for i in (0, 1)},
            number=7 - s, offset=s * SIZE) for s in (1, 0)],
            [mapping(0, 2 * SIZE, whole.url(NAME))])
        file = check(lab, path, rc=1)
        assert [(s["number"], s["losses_borne"]) for s in file["stripes"]] == [
            (7, 2), (6, 1)]
        assert file["losses_borne"] == 1
        # all shards of data on one depot are lost together
        assert file["one_good_copy"]["bytes"] == 2 * SIZE
        out = table(lab, path, rc=1)
        assert "each stripe bears the loss of 1 more shard\n" in out
        assert "lost with one depot more: " in out


def test_what_parity_restores_is_said(lab):
    with coded(lab, {1: "status_404"}) as (path, _):
        out = table(lab, path, rc=1)
        assert "(2975 bytes), which parity restores: 2975-5949\n" in out
        assert "its stripe bears the loss of 1 more shard\n" in out
        assert "no byte is lost with any one depot\n" in out


def test_allocations_of_parity_expire(lab):
    data = bytes_of(SIZE)
    with FaultDepot(data) as whole, \
            IbpDepot(parity(data, 4), lifetime=5000) as lives, \
            IbpDepot(parity(data, 5)) as over:
        over.answer_probe = lambda c: c.reply(1, 1, 1, SHARD, SHARD, 0, 2, 1)
        path = exnode(lab, data, [stripe(data, {
            4: [replica(0, lives.url())], 5: [replica(0, over.url())]})],
            [mapping(0, SIZE, whole.url(NAME))])
        file = check(lab, path, rc=1)
        rows = [s["replicas"][0] for s in file["stripes"][0]["shards"][4:]]
        assert [r["verdict"] for r in rows] == ["ok", "expired"]
        assert abs(rows[0]["expires_at"] - time.time() - 5000) < 60
        assert rows[0]["url"] is None
        assert good(file) == "111110"


def test_parity_lies_within_an_object(lab):
    data = bytes_of(SIZE)
    with FaultDepot(data) as whole, \
            FaultDepot(b"x" * 100 + parity(data, 4) + b"y") as within, \
            FaultDepot(b"x" * 101 + parity(data, 4) + b"y") as beside:
        for depot, rc in (within, 0), (beside, 1):
            path = exnode(lab, data, [stripe(data, {
                4: [replica(0, depot.url(NAME), offset=100)]})],
                [mapping(0, SIZE, whole.url(NAME))])
            assert check(lab, path, "--full", rc=rc)["losses_borne"] == 1 - rc


@pytest.mark.parametrize("length, said", [
    (1 << 62, None), ((1 << 63) - 1, "its shards of parity are too long")])
def test_hostile_lengths_of_shards_are_no_harm(lab, length, said):
    data = bytes_of(SIZE)
    with FaultDepot(data) as whole, FaultDepot(b"x") as other:
        path = exnode(lab, data, [meta(
            "stripe.0", value("code", "reed-solomon"),
            value("polynomial", "0x11d"), value("matrix", "cauchy"),
            value("k", 1), value("n", 2), value("shard_length", length),
            value("exnode_offset", 0), value("logical_length", SIZE),
            meta("shard.1", value("sha256", "00" * 32),
                 replica(0, other.url(NAME))))],
            [mapping(0, SIZE, whole.url(NAME))])
        for words in [], ["--full"]:
            run = lab.xdownload("check", path, *words, report=False)
            assert run.rc == (2 if said else 1), run
            assert (said or "") in run.err


def test_where_the_line_is_down_nothing_is_known_of_shards(lab):
    data = bytes_of(SIZE)
    path = exnode(lab, data, [stripe(data, {
        4: [replica(0, lab.silent().url(NAME))]})],
        [mapping(0, SIZE, lab.silent().url(NAME))])
    file = check(lab, path, rc=1)
    assert file["line_down"] and file["no_good_copy"]["bytes"] == 0
    assert file["losses_borne"] is None and file["stripes"] == []


@pytest.mark.parametrize("more", [(), (4,)])
def test_what_has_a_good_copy_is_healed_beside_what_has_none(lab, more):
    """With one shard more that is lost too few are left."""
    data = bytes_of(SIZE)
    with coded(lab, {i: "status_404" for i in (0, 1, 5, *more)}) \
            as (path, depots), FaultDepot(data[:2975]) as copy, \
            contextlib.ExitStack() as stack:
        stores = [stack.enter_context(StoreDepot(address=f"127.0.0.{i}"))
                  for i in (7, 8, 9)]
        text = lab.path(path).read_text()
        lab.path(path).write_text(text.replace(
            "</exnode>", mapping(0, 2975, copy.url(NAME)) + "</exnode>"))
        run = lab.xdownload("check", path, "--heal",
                            *[word for s in stores for word in ("--to", s.url)],
                            report=False)
        text = lab.path(path).read_text()
        assert depots[0].host not in text
        if not more:
            assert run.rc == 0, run
            assert depots[1].host not in text and depots[5].host not in text
            assert good(check(lab, path, rc=0)) == "111111"
            return
        assert run.rc == 1, run
        assert "of 2975 bytes no depot has a good copy" in run.err
        assert "2 replicas of parity cannot be used, and stay" in run.err
        assert depots[1].host in text and depots[5].host in text
        assert good(check(lab, path, rc=1)) == "101100"


# ---- drop and renew ----

LENGTH = -(-SIZE // K)  # of shards there
DAY = 86400


def piece(data, i):
    return data[i * LENGTH:(i + 1) * LENGTH] if i < K \
        else parity(data, i, K, LENGTH)


def write_both(lab, data, where):
    """f.xnd, and the private manifest beside it: where[i] has the replicas of shard i,
    each a pair of what reads and what manages it."""
    for name, is_private in ("f.xnd", False), ("f.private.xnd", True):
        exnode(lab, data, [stripe(data, {
            i: [replica(n, read, manage if is_private else "")
                for n, (read, manage) in enumerate(where[i])]
            for i in range(K, N)}, size=LENGTH)],
            [mapping(i * LENGTH, len(piece(data, i)), read,
                     manage if is_private else "")
             for i in range(K) for read, manage in where[i]], name)
    lab.path("f.private.xnd").chmod(0o600)


@contextlib.contextmanager
def stored(lab, copies=1):
    """Shard i in `copies` objects of an upload, of stores[i] and those behind it."""
    data = bytes_of(SIZE)
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(StoreDepot()) for _ in range(N)]
        where = []
        for i in range(N):
            where.append([])
            for k in range(copies):
                store, name = stores[(i + k) % N], f"{i:032x}-{i * LENGTH}"
                store.objects[f"/dav/{name}"] = piece(data, i)
                where[i].append((store.url + name, store.url + name))
        write_both(lab, data, where)
        yield stores


def drop(lab, *words):
    return lab.xdownload("drop", "f.xnd", *words, report=False)


def texts(lab):
    return [lab.path(name).read_text() for name in ("f.xnd", "f.private.xnd")]


def host(store):
    return f"127.0.0.1:{store.port}"


def assert_fetched(lab):
    run = lab.xdownload("--no-continue", "--force", "-o", "back", "f.xnd")
    assert run.rc == 0, run.err
    assert lab.read("back") == bytes_of(SIZE)


@pytest.mark.parametrize("by", [lambda s: s.url, host], ids=["store", "host"])
def test_parity_is_dropped_and_its_objects_are_removed(lab, by):
    with stored(lab) as stores:
        run = drop(lab, "--from", by(stores[4]), "--json")
        assert run.rc == 0, run.err
        assert "what stays was read and proved" in run.err
        said = json.loads(run.out)
        assert said["bytes_proved"] == SIZE
        row, = said["replicas"]
        assert (row["state"], row["stripe"], row["shard"], row["begin"],
                row["end"]) == ("done", 0, 4, 0, SIZE)
        assert [len(s.objects) for s in stores] == [1, 1, 1, 1, 0, 1]
        assert all(host(stores[4]) not in text for text in texts(lab))
        file = check(lab, "f.xnd", "--full", rc=0)
        assert good(file) == "111101" and file["losses_borne"] == 1
        # the hash of what is not there any more proves what is put in its place
        assert hashlib.sha256(piece(bytes_of(SIZE), 4)).hexdigest() in \
            texts(lab)[0]
        assert_fetched(lab)
        # and without any parity the file is as any other
        assert drop(lab, "--from", by(stores[5])).rc == 0
        assert check(lab, "f.xnd", rc=0)["losses_borne"] == 0


def test_objects_of_parity_may_be_kept(lab):
    with stored(lab) as stores:
        run = drop(lab, "--from", stores[4].url, "--keep-objects")
        assert run.rc == 0, run.err
        assert len(stores[4].objects) == 1
        assert all(host(stores[4]) not in text for text in texts(lab))
        assert not stores[4].requests and stores[0].requests


@pytest.mark.parametrize("wrong", [0, 3, 5])
def test_k_good_shards_stay_though_objects_are_kept(lab, wrong):
    """Shards count that are right, not those that have a name."""
    with stored(lab) as stores:
        lost = [wrong] if wrong == 5 else [wrong, 5]
        for i in lost:
            for path in stores[i].objects:
                stores[i].objects[path] = bytes(LENGTH)
        before = texts(lab)
        run = drop(lab, "--from", stores[4].url, "--keep-objects")
        if wrong == 5:  # the data is there
            assert run.rc == 0, run.err
            return
        assert run.rc == 4, run.err
        assert "nothing was dropped, for the copies that stay are not proved" \
            in run.err
        assert texts(lab) == before and len(stores[4].objects) == 1


def test_names_alone_go_where_nothing_proves_what_stays(lab):
    with stored(lab) as stores:
        for name in "f.xnd", "f.private.xnd":
            text = lab.path(name).read_text()
            head, rest = text.split('<e:metadata name="sha256"', 1)
            lab.path(name).write_text(
                head + rest.split("</e:metadata>", 1)[1])
        run = drop(lab, "--from", stores[4].url, "--keep-objects")
        assert run.rc == 0, run.err
        assert not any(s.requests for s in stores)


def test_the_only_copy_of_data_stays_though_parity_restores_it(lab):
    with stored(lab) as stores:
        before = texts(lab)
        run = drop(lab, "--from", stores[0].url)
        assert run.rc == 2, run.err
        assert f"has the only copy of bytes 0-{LENGTH - 1} of f.bin" in run.err
        assert texts(lab) == before and len(stores[0].objects) == 1


def test_a_stripe_never_keeps_fewer_than_k_shards(lab):
    data = bytes_of(SIZE)
    with stored(lab) as stores:
        # one host has two shards of parity and one of data
        for i in (4, 5):
            stores[0].objects.update(stores[i].objects)
        where = [[(stores[i % K].url + f"{i:032x}-{i * LENGTH}",) * 2]
                 for i in range(K)]
        where += [[(stores[0].url + f"{i:032x}-{i * LENGTH}",) * 2]
                  for i in (4, 5)]
        write_both(lab, data, where)
        before = texts(lab)
        for words in [], ["--keep-objects"]:
            run = drop(lab, "--from", stores[0].url, *words)
            assert run.rc == 2, run.err
            assert "without it stripe 0 would have 3 shards, and it takes 4 " \
                "to restore it: nothing was dropped" in run.err
        assert texts(lab) == before and len(stores[0].objects) == 3
        assert not any(s.requests for s in stores)


def test_a_host_with_copies_of_data_and_parity_may_go(lab):
    with stored(lab, copies=2) as stores:
        # of shard 4 the second copy, and of shard 5 the first
        run = drop(lab, "--from", stores[5].url)
        assert run.rc == 0, run.err
        assert not stores[5].objects
        assert [len(s.objects) for s in stores[:5]] == [2] * 5
        file = check(lab, "f.xnd", rc=0)
        assert [len(s["replicas"]) for s in file["stripes"][0]["shards"][4:]] \
            == [1, 1]
        assert good(file) == "111111"
        assert_fetched(lab)


def test_parity_is_not_dropped_where_what_stays_is_wrong(lab):
    with stored(lab) as stores:
        for i in 0, 5:
            for path in stores[i].objects:
                stores[i].objects[path] = bytes(LENGTH)
        before = texts(lab)
        run = drop(lab, "--from", stores[4].url)
        assert run.rc == 4, run.err
        assert "nothing was dropped, for the copies that stay are not proved" \
            in run.err
        assert texts(lab) == before and len(stores[4].objects) == 1


def test_what_stays_may_be_restored_from_parity(lab):
    with stored(lab) as stores:
        stores[0].objects.clear()
        run = drop(lab, "--from", stores[4].url)
        assert run.rc == 0, run.err
        assert not stores[4].objects
        file = check(lab, "f.xnd", rc=1)
        assert good(file) == "011101" and file["losses_borne"] == 0
        before = texts(lab)
        run = drop(lab, "--from", stores[5].url)
        assert run.rc == 1, run.err
        assert "are not proved" in run.err
        assert texts(lab) == before and len(stores[5].objects) == 1


def test_an_object_of_parity_that_the_file_needs_stays(lab):
    """A shard of data of the same object is a replica, too."""
    data = bytes_of(SIZE)
    with stored(lab) as stores:
        both = stores[4].url + f"{4:032x}-{4 * LENGTH}"
        stores[4].objects[both[len(stores[4].url) - 5:]] = \
            piece(data, 4) + piece(data, 5)
        where = [[(stores[i].url + f"{i:032x}-{i * LENGTH}",) * 2]
                 for i in range(N)]
        where[4] = [(both, both)]
        where[5] = [(stores[5].url.replace("127.0.0.1", "localhost") + "other",
                     both)]
        write_both(lab, data, where)
        run = drop(lab, "--from", f"localhost:{stores[5].port}")
        assert run.rc == 0, run.err
        assert len(stores[4].objects) == 1 and host(stores[4]) in texts(lab)[0]


@contextlib.contextmanager
def allocated(lab, longest=40 * DAY):
    """Each shard in an allocation of a depot of its own, for an hour."""
    data = bytes_of(SIZE)
    with contextlib.ExitStack() as stack:
        depots = [stack.enter_context(IbpDepot(
            piece(data, i), lifetime=3600, longest=longest))
            for i in range(N)]
        write_both(lab, data, [
            [(d.capability(), d.capability(right="MANAGE"))] for d in depots])
        yield depots


def renew(lab, *words):
    return lab.xdownload("renew", "f.xnd", *words, report=False)


def ends(lab, name):
    dates = re.findall(r'name="end"[^>]*>([^<]*)<', lab.path(name).read_text())
    return [calendar.timegm(time.strptime(d, "%Y-%m-%d %H:%M:%S"))
            - time.time() for d in dates]


def test_allocations_of_parity_are_renewed(lab):
    with allocated(lab) as depots:
        run = renew(lab, "--for", "30d", "--json")
        assert run.rc == 0, run.err
        assert f"{N} replicas renewed" in run.err
        said = json.loads(run.out)["replicas"]
        assert [(r["stripe"], r["shard"]) for r in said] == \
            [(None, None)] * K + [(0, 4), (0, 5)]
        assert all(abs(r["expires_at"] - time.time() - 30 * DAY) < 120
                   for r in said)
        for d in depots:
            assert abs(d.held.expires - time.time() - 30 * DAY) < 120
        for name in "f.xnd", "f.private.xnd":
            assert len(ends(lab, name)) == N
            assert all(abs(s - 30 * DAY) < 120 for s in ends(lab, name))
        assert "MANAGE" not in lab.path("f.xnd").read_text()
        assert lab.path("f.private.xnd").read_text().count("MANAGE") == N
        assert "MANAGE" not in run.err and b"MANAGE" not in run.out
        assert_fetched(lab)
        assert check(lab, "f.xnd", "--full", rc=0)["losses_borne"] == 2


def test_parity_beyond_the_limit_of_its_depot_is_named(lab):
    with allocated(lab, longest=10 * DAY) as depots:
        run = renew(lab, "--for", "30d", "--json")
        assert run.rc == 2 and depots[5].host in run.err
        assert {r["state"] for r in json.loads(run.out)["replicas"]} == {
            "beyond"}


def test_allocations_of_parity_are_dropped(lab):
    with allocated(lab) as depots:
        run = drop(lab, "--from", f"ibp://{depots[5].host}")
        assert run.rc == 0, run.err
        assert depots[5].held not in depots[5]._allocations.values()
        assert all(depots[5].host not in text for text in texts(lab))
        assert check(lab, "f.xnd", rc=0)["losses_borne"] == 1


@pytest.fixture(name="s3")
def _s3(lab):
    """Shard 5 is in a bucket that only its owner may read."""
    data = bytes_of(SIZE)
    lab.environment.update({"AWS_ACCESS_KEY_ID": ACCESS_KEY,
                            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
                            "HOME": str(lab.folder)})
    with S3Depot() as s3, contextlib.ExitStack() as stack:
        others = [stack.enter_context(FaultDepot(piece(data, i)))
                  for i in range(N - 1)]
        name = f"dir/{5:032x}-{5 * LENGTH}"
        s3.at = ["--s3-endpoint", s3.endpoint]
        s3.objects[f"bkt/{name}"] = piece(data, 5)
        s3.read = f"{s3.endpoint}/bkt/{name}"
        s3.write = lambda read: write_both(lab, data, [
            [(d.url(NAME), "")] for d in others]
            + [[(read, f"s3://bkt/{name}")]])
        yield s3


def test_presigned_urls_of_parity_are_made_anew(lab, s3):
    s3.write(s3.read + "?X-Amz-Date=20260101T000000Z&amp;X-Amz-Signature=OLD")
    run = renew(lab, "--for", "1d", *s3.at)
    assert run.rc == 1
    assert "--to s3://" in run.err and "X-Amz" not in run.err
    run = renew(lab, "--for", "1d", "--to", "s3://bkt/dir", *s3.at)
    assert run.rc == 0, run.err
    for text in texts(lab):
        assert "Signature=OLD" not in text
        assert text.count("X-Amz-Expires=86400") == 1
    assert "s3://" not in texts(lab)[0] and "s3://bkt/dir" in texts(lab)[1]
    seconds, = ends(lab, "f.xnd")
    assert abs(seconds - DAY) < 120
    assert not s3.requests


def test_parity_in_a_bucket_of_ours_is_read_with_our_keys(lab, s3):
    s3.write(s3.read)
    s3.is_private = True
    assert check(lab, "f.xnd", "--full", *s3.at, rc=0)["losses_borne"] == 2
    assert s3.requests
