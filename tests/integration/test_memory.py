"""Memory does not grow with the file, and little with its manifest."""
import pytest

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
