# SPDX-License-Identifier: MIT
"""Memory does not grow with the file, and little with its manifest."""
import hashlib

import pytest

from lab import bytes_of

MIB = 1 << 20


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("options", [
    [], ["-t", "4"], ["-b", "16m"], ["-a", "basic", "-b", "64k"],
])
def test_a_gibibyte_from_eight_depots_fits_in_32_mib(lab, options):
    size = 1024 * MIB
    with open(lab.www / "f.bin", "wb") as f:
        f.truncate(size)
        f.seek(size // 2)
        f.write(b"the middle")
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(8)), *options,
                        patience=300)
    assert run.rc == 0, run.err
    assert 0 < run.rss <= 32 * MIB
    with open(lab.path("f.bin"), "rb") as f:
        f.seek(size // 2)
        assert f.read(11) == b"the middle\0"
    assert lab.path("f.bin").stat().st_size == size


@pytest.mark.plain
def test_an_eighth_of_it_takes_as_much(lab):
    size = 128 * MIB
    with open(lab.www / "f.bin", "wb") as f:
        f.truncate(size)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(8)))
    assert run.rc == 0, run.err
    assert 0 < run.rss <= 32 * MIB


@pytest.mark.plain
@pytest.mark.parametrize("limit", [[], ["--limit-rate", "8m"]])
def test_a_connection_more_takes_a_mebibyte_at_most(lab, limit):
    size = 16 * MIB
    lab.file("f.bin", size)
    depot = lab.depot(config="limit_rate 4m;")
    peaks = []
    for n in (2, 16):
        run = lab.xdownload(lab.exnode("f.bin", [depot]), "-t", str(n),
                            "-o", f"out{n}", *limit)
        assert run.rc == 0, run.err
        if limit:
            assert run.seconds >= size / (8 * MIB) - 0.5
        else:
            assert run.report["depots"][0]["connections"] == n
        peaks.append(run.rss)
    assert peaks[1] - peaks[0] <= 14 * MIB


def test_max_depots_holds_with_many_connections(lab):
    lab.file("f.bin", 12 * MIB)
    depots = lab.depots(4, config="limit_rate 2m;")
    run = lab.xdownload(lab.exnode("f.bin", depots), "-t", "8",
                        "--max-depots", "2")
    assert run.rc == 0, run.err
    used = [d["connections"] for d in run.report["depots"] if d["bytes"]]
    assert len(used) == 2 and max(used) <= 8


@pytest.mark.plain
def test_of_a_large_manifest_only_what_it_says_is_held(lab):
    """Its text of some 50 MiB is read a block at a time."""
    n, size = 100_000, 1_600_000
    data = lab.file("f.bin", size)
    url = lab.depot().url("f.bin")
    manifest = lab.exnode_of("f.bin", [
        (at, size // n, url, at, size) for at in range(0, size, size // n)])
    assert lab.path(manifest).stat().st_size > 40 * MIB
    run = lab.xdownload(manifest, "-o", "f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert 0 < run.rss <= 56 * MIB


def many(lab, n, form):
    """The words that name `n` files of 1 to 10 KiB, of ten contents."""
    datas = [bytes_of(1024 * (i + 1), i) for i in range(10)]
    for i, data in enumerate(datas):
        (lab.www / str(i)).write_bytes(data)
    depot = lab.depot(config=r"rewrite ^/set/.*-(\d)$ /$1 break;")
    names = [f"shard-{i // 1000:03}/part-{i:06}-{i % 10}" for i in range(n)]
    urls = [depot.url("set/" + name) for name in names]
    if form == "list":
        return ["-i", lab.write("list", "\n".join(urls))]
    digests = [hashlib.sha256(data).hexdigest() for data in datas]
    return [lab.write("m.meta4", '<metalink xmlns="urn:ietf:params:xml:ns:'
                      'metalink">' + "".join(
                          f'<file name="{name}"><size>{len(datas[i % 10])}'
                          f'</size><hash type="sha-256">{digests[i % 10]}'
                          f"</hash><url>{url}</url></file>"
                          for i, (name, url) in enumerate(zip(names, urls)))
                      + "</metalink>")]


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("form", ["metalink", "list"])
def test_a_hundred_thousand_files_fit_in_64_mib(lab, form):
    n = 100_000
    words = many(lab, n, form)
    (lab.work / "out").mkdir()
    run = lab.xdownload(*words, "-d", "out", "-q", patience=600)
    assert run.rc == 0, run.err
    assert sum(p.is_file() for p in (lab.work / "out").rglob("*")) == n
    assert 0 < run.rss <= 64 * MIB
