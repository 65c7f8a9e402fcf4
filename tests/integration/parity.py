# SPDX-License-Identifier: MIT
"""Files that are stored as stripes with parity, as xdownload-manifest(5) has
them, computed byte by byte from what it says there."""
import functools
import hashlib
from xml.sax.saxutils import escape


@functools.lru_cache(maxsize=None)
def table(factor):
    """The product of each byte with `factor`, for bytes.translate()."""
    def times(a, b):
        product = 0
        while b:
            product ^= a if b & 1 else 0
            a = a << 1 ^ (0x11d if a & 0x80 else 0)
            b >>= 1
        return product
    return bytes(times(factor, b) for b in range(256))


def inverse(number):
    return next(x for x in range(256) if table(number)[x] == 1)


def add(a, b):
    n = len(a)
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(
        n, "big")


def parity_of(shards, number):
    """Shard `number` of parity, of shards of data that are equally long."""
    total = bytes(len(shards[0]))
    for j, shard in enumerate(shards):
        total = add(total, shard.translate(table(inverse(number ^ j))))
    return total


class Stripe:
    """`data`, which lies at `offset` of a file, in shards of `length`."""

    def __init__(self, number, offset, data, k, n, length):
        self.number, self.offset, self.data = number, offset, data
        self.k, self.n, self.length = k, n, length
        padded = data.ljust(k * length, b"\0")
        whole = [padded[i * length:(i + 1) * length] for i in range(k)]
        self.shards = [data[i * length:(i + 1) * length] for i in range(k)]
        self.shards += [parity_of(whole, i) for i in range(k, n)]


def stripes_of(data, k, n, length):
    return [Stripe(i, at, data[at:at + k * length], k, n, length)
            for i, at in enumerate(range(0, len(data), k * length))]


def name_of(stripe, number):
    return f"s{stripe.number}.{number}"


def place(stripe, number):
    """On which of n depots a shard lies: each has as much of data as others."""
    return (number + stripe.number) % stripe.n


def files_of(stripes, depot):
    """{name: bytes} of the shards that the depot of that number holds."""
    return {name_of(s, i): s.shards[i] for s in stripes for i in range(s.n)
            if place(s, i) == depot and s.shards[i]}


def _value(name, text):
    return (f'<e:metadata name="{name}" type="string">{escape(str(text))}'
            "</e:metadata>")


def _meta(name, *content):
    return f'<e:metadata name="{name}" type="meta">{"".join(content)}' \
        "</e:metadata>"


def _digest(data):
    return hashlib.sha256(data).hexdigest()


def _mapping(stripe, number, url, is_hashed):
    shard = stripe.shards[number]
    return ("<e:mapping>"
            + _value("exnode_offset", stripe.offset + number * stripe.length)
            + _value("logical_length", len(shard))
            + (_value("sha256", _digest(shard)) if is_hashed else "")
            + f"<e:read>{escape(url)}</e:read></e:mapping>")


def pieces_of(data, length):
    """Metadata: the hash of each piece of `length` bytes."""
    return _value("pieces", f"sha-256 {length}") + "".join(
        _value(f"piece.{i}", _digest(data[at:at + length]))
        for i, at in enumerate(range(0, len(data), length)))


def exnode(stripes, urls_of, is_hashed=True, name="film.bin", changes=None,
           hashes_data=False, piece_length=0):
    """The text of one; urls_of(stripe, number): where the shard lies.  is_hashed:
    its mappings have hashes; hashes_data: its stripes have those of data.
    changes: {(stripe, name of a value): another value}.  piece_length: it has
    hashes of such pieces."""
    changes = changes or {}
    mappings, coded = [], []
    for s in stripes:
        mappings += [_mapping(s, i, url, is_hashed) for i in range(s.k)
                     if s.shards[i] for url in urls_of(s, i)]
        values = {"code": "reed-solomon", "polynomial": "0x11d",
                  "matrix": "cauchy", "k": s.k, "n": s.n,
                  "shard_length": s.length, "exnode_offset": s.offset,
                  "logical_length": len(s.data)}
        named = range(0 if hashes_data else s.k, s.n)
        parity = {i: _digest(s.shards[i]) for i in named if s.shards[i]}
        values = {k: changes.get((s.number, k), v) for k, v in values.items()}
        coded.append(_meta(
            f"stripe.{s.number}", *(_value(*v) for v in values.items()),
            *(_meta(f"shard.{i}",
                    _value("sha256", changes.get((s.number, i), digest)),
                    *(_meta(f"replica.{r}", _value("read", url))
                      for r, url in enumerate(urls_of(s, i)) if i >= s.k))
              for i, digest in parity.items())))
    pieces = pieces_of(b"".join(s.data for s in stripes),
                       piece_length) if piece_length else ""
    return ('<exnode xmlns:e="http://loci.cs.utk.edu/exnode">'
            + _value("filename", name) + pieces + _meta("parity", *coded)
            + "".join(mappings) + "</exnode>")
