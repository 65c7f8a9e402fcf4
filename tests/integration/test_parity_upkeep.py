# SPDX-License-Identifier: MIT
"""Files with parity: show --probe, check, drop and renew.

Parity is computed here by the words of xdownload-manifest(5), and by nothing of the
program's own.
"""
import hashlib
import json
import re
import sys
from functools import reduce
from pathlib import Path

from lab import bytes_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import IbpDepot  # noqa: E402

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
