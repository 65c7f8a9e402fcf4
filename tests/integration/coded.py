# SPDX-License-Identifier: MIT
"""Files that are put with parity: stores for their shards, and whether all is there, by
another implementation of the code."""
import contextlib
import json
import sys
from hashlib import sha256
from pathlib import Path

from lab import PATIENCE, bytes_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from store_depot import StoreDepot  # noqa: E402

MIB = 1 << 20


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


def heal(lab, depots, *words):
    return lab.xdownload("check", "film.bin.xnd", "--heal", *to(depots), *words,
                         report=False)


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


def assert_apart(lab, data, k, manifest="film.bin.xnd"):
    """No host has bytes of two shards of a stripe, and all of its n have some.  Returns
    the hosts of each shard, stripe by stripe."""
    file = shown(lab, manifest)
    found = []
    for stripe in file["stripes"]:
        begin, length = stripe["offset"], stripe["shard_length"]
        hosts = {s["number"]: {r["url"].split("/")[2].split(":")[0]
                               for r in s["replicas"]}
                 for s in stripe["shards"] if s["number"] >= k}
        for e in file["extents"]:
            first = (e["offset"] - begin) // length
            last = (e["offset"] + e["length"] - 1 - begin) // length
            for i in range(max(0, first), min(k, last + 1)):
                hosts.setdefault(i, set()).update(
                    r["url"].split("/")[2].split(":")[0]
                    for r in e["replicas"])
        assert len(hosts) == stripe["n"] and all(hosts.values())
        assert len(set().union(*hosts.values())) == \
            sum(map(len, hosts.values())), hosts
        found.append(hosts)
    assert sum(s["length"] for s in file["stripes"]) == len(data)
    return found


def assert_fetched(lab, data, manifest="film.bin.xnd"):
    run = lab.xdownload("--no-continue", "--force", "-o", "back", manifest)
    assert run.rc == 0, run.err
    assert lab.read("back") == data


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
