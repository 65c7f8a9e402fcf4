# SPDX-License-Identifier: MIT
"""Every algorithm brings a file home from every format of manifest."""
import pytest

SIZE = 3_000_017  # no multiple of any block

ALGORITHMS = ["basic", "aggressive", "progress"]
FORMATS = ["exnode", "metalink", "metalink3", "urls"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equal_depots_bring_the_file_together(lab, algorithm, form):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(4, rate=3_000_000)
    manifest = getattr(lab, form)("f.bin", depots)
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "128k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert run.report["algorithm"] == algorithm
    assert all(d.bytes_sent() > SIZE / 20 for d in depots)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_slow_and_a_dead_depot_do_no_harm(lab, algorithm, form):
    data = lab.file("f.bin", SIZE)
    # Who is dead has time to be found out, however busy the machine is.
    depots = [lab.dead(), lab.depot(rate=100_000),
              *lab.depots(2, rate=3_000_000)]
    manifest = getattr(lab, form)("f.bin", depots)
    run = lab.xdownload(manifest, "-a", algorithm, "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    dead = run.report["depots"][0]
    assert dead["bytes"] == 0 and dead["failures"] >= 1
    assert depots[0].host in dead["error"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_and_blocks_of_any_number_and_size(lab, algorithm):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(3))
    for threads, block in [(1, "1g"), (4, "100000"), (16, "16k")]:
        run = lab.xdownload(manifest, "-a", algorithm, "-t", threads, "-b",
                            block, "--force")
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data


def test_copies_are_given_as_urls(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(3)
    run = lab.xdownload(*[d.url("f.bin") for d in depots])
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_manifest_comes_from_standard_input(lab):
    data = lab.file("f.bin", SIZE)
    with open(lab.metalink("f.bin", lab.depots(2))) as manifest:
        run = lab.xdownload("-", stdin=manifest)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_every_file_of_a_metalink_comes(lab):
    sizes = {"one.bin": 500_000, "two.bin": 0, "three.bin": 70_001}
    data = {n: lab.file(n, s, seed=s + 1) for n, s in sizes.items()}
    depots = lab.depots(2)
    manifest = lab.metalink_of([(n, depots, None) for n in sizes])
    run = lab.xdownload(manifest, "-d", ".")
    assert run.rc == 0, run.err
    assert {n: lab.read(n) for n in sizes} == data
