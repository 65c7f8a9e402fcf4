# SPDX-License-Identifier: MIT
"""Files with parity: show --probe, check, drop and renew.

Parity is computed here by the words of xdownload-manifest(5), and by nothing of the
program's own.
"""
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


def test_where_the_line_is_down_nothing_is_known_of_shards(lab):
    data = bytes_of(SIZE)
    path = exnode(lab, data, [stripe(data, {
        4: [replica(0, lab.silent().url(NAME))]})],
        [mapping(0, SIZE, lab.silent().url(NAME))])
    file = check(lab, path, rc=1)
    assert file["line_down"] and file["no_good_copy"]["bytes"] == 0
    assert file["losses_borne"] is None and file["stripes"] == []


def test_what_has_a_good_copy_is_healed_beside_what_has_none(lab):
    data = bytes_of(SIZE)
    with coded(lab, {0: "status_404", 1: "status_404", 5: "status_404"}) \
            as (path, depots), FaultDepot(data[:2975]) as copy, \
            StoreDepot() as store:
        text = lab.path(path).read_text()
        lab.path(path).write_text(text.replace(
            "</exnode>", mapping(0, 2975, copy.url(NAME)) + "</exnode>"))
        run = lab.xdownload("check", path, "--heal", "--to", store.url,
                            report=False)
        assert run.rc == 1, run
        assert "of 2975 bytes no depot has a good copy" in run.err
        assert "1 replica of parity cannot be used, and stays" in run.err
        text = lab.path(path).read_text()
        assert depots[0].host not in text and store.url in text
        assert depots[1].host in text and depots[5].host in text
        assert good(check(lab, path, rc=1)) == "101110"
