# SPDX-License-Identifier: MIT
"""With few descriptors: fewer depots at a time, or a clear error; never a hang,
and never a depot that is blamed for it."""
import re
import signal

import pytest
from lab import wait_until
from test_serve import Served

SIZE = 2 << 20
MIRRORS = 100
LIMITS = [16, 24, 32, 64, 128]


def limit(lab, n):
    """Each run may have so many descriptors."""
    lab.before = ["prlimit", f"--nofile={n}:{n}", *lab.before]


@pytest.mark.parametrize("n", LIMITS)
@pytest.mark.parametrize("kind", ["exnode", "urls"])
def test_many_mirrors_and_few_descriptors_give_the_file(lab, n, kind):
    data = lab.file("f.bin", SIZE)
    # Slow enough for all that may be in use to be.
    manifest = getattr(lab, kind)(
        "f.bin", lab.depots(MIRRORS, config="limit_rate 2m;"))
    limit(lab, n)
    run = lab.xdownload(manifest, "-o", "f.bin", "-t", "2")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert [d for d in run.report["depots"] if d["error"]] == []


@pytest.mark.parametrize("n", [8, 10])
def test_too_few_descriptors_are_an_error_that_says_so(lab, n):
    lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(2))
    limit(lab, n)
    run = lab.xdownload(manifest, "-o", "f.bin", report=False)
    assert run.rc == 5
    assert re.search(r"ulimit -n|Too many open files", run.err)


def test_a_signal_ends_a_run_with_few_descriptors(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.urls("f.bin", lab.depots(MIRRORS, config="limit_rate 20k;"))
    limit(lab, 64)
    process = lab.start(manifest, "-o", "f.bin")
    wait_until(lambda: lab.path("f.bin.part").exists(), "it begins")
    process.send(signal.SIGTERM)
    assert process.wait(10).rc == 130


@pytest.mark.parametrize("n", LIMITS)
def test_serve_with_few_descriptors_serves_the_file(lab, n):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(MIRRORS))
    limit(lab, n)
    served = Served(lab, manifest)
    answer, body = served.ask()
    assert answer.status == 200 and body == data
    run, seconds = served.end(signal.SIGTERM)
    assert run.rc == 130 and seconds < 10
