# SPDX-License-Identifier: MIT
"""IBP depots that are written to: what is put there is there, lives as long as
it should and can be removed; and what becomes of it when a depot misbehaves."""
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab import PATIENCE, Lab, bytes_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import SOFT, IbpDepot  # noqa: E402

SIZE = 1_000_003
MAY_PASS, _, ABSENT, FULL, REFUSED, BEYOND, _, BAD = map(str, range(8))


class Depot(IbpDepot):
    """One with a store in front of it."""

    target = property(lambda self: f"ibp://127.0.0.1:{self.port}")

    def task(self, *args):
        """What became of it, by its words."""
        done = subprocess.run([os.environ["XD_STORE_TASK"], self.target,
                               *map(str, args)], capture_output=True,
                              timeout=60)
        head, _, body = done.stdout.partition(b"bytes\n")
        words = dict(line.split(" ", 1)
                     for line in head.decode().splitlines())
        assert "#" not in words.get("error", "")
        return words | {"bytes": body}


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes_of(SIZE))
    return file


@pytest.fixture(params=["loci", "accre"])
def depot(request):
    with Depot(accre=request.param == "accre") as depot:
        yield depot


def held(depot, got):
    return depot._allocations.get(got["manage"].split("/")[3])


def test_what_is_put_can_be_looked_at_read_renewed_and_deleted(depot, file):
    got = depot.task("put", file, 3600)
    assert "error" not in got
    assert held(depot, got).data == file.read_bytes()
    assert abs(int(got["expires"]) - time.time() - 3600) < 5

    seen = depot.task("look", got["manage"])
    assert seen["size"] == str(SIZE) and "error" not in seen
    assert depot.task("read", got["read"], 100, 65000)["bytes"] == \
        file.read_bytes()[100:65000]

    kept = depot.task("renew", got["manage"], 86400)
    assert abs(int(kept["expires"]) - time.time() - 86400) < 5
    assert held(depot, got).data == file.read_bytes()

    assert "error" not in depot.task("delete", got["manage"])
    assert held(depot, got) is None
    assert "error" not in depot.task("delete", got["manage"])
    assert depot.task("look", got["manage"])["failure"] == ABSENT
    assert depot.task("read", got["read"], 0, 10)["failure"] == ABSENT


def test_empty_file_is_put(depot, tmp_path):
    (tmp_path / "empty").touch()
    got = depot.task("put", tmp_path / "empty", 0)
    assert "error" not in got and got["size"] == "0"
    assert held(depot, got).data == b""


def test_depot_that_calls_itself_otherwise_is_asked_where_it_is(file):
    with Depot(name="elsewhere.example") as depot:
        got = depot.task("put", file, 0)
        assert got["manage"].startswith(depot.target + "/")
        assert depot.task("look", got["manage"])["size"] == str(SIZE)


def test_another_depot_is_not_asked(depot, file):
    with Depot() as other:
        got = other.task("put", file, 0)
        asked = len(other.requests)
        assert "has no such object" in depot.task("delete",
                                                  got["manage"])["error"]
        assert len(other.requests) == asked and depot.requests == []


# Fault: how a PUT fails, what is said of it and whether an allocation is known.
FAULTS = {
    "never_takes": (MAY_PASS, "no bytes for 2.0 s"),
    "loses": (BAD, f"has 0 bytes of {SIZE} that it said it had written"),
    "truncates": (BAD, f"has {SIZE - 10} bytes of {SIZE}"),
    "counts_wrong": (BAD, f"does not say how many of {SIZE} bytes"),
    "stalls": (MAY_PASS, "no bytes for 2.0 s"),
    "closes": (MAY_PASS, "offset"),
    "disk_fails": (MAY_PASS, "could not write its file (-16)"),
    "expires_meanwhile": (ABSENT, "capability not found (-4)"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("accre", [False, True])
def test_depot_at_fault_is_named_and_what_it_has_can_be_removed(fault, accre,
                                                                tmp_path):
    size = 30_000_000 if fault in ("stalls", "closes", "disk_fails") else SIZE
    (tmp_path / "file").write_bytes(bytes_of(size))
    with Depot(stores=fault, accre=accre) as depot:
        got = depot.task("put", tmp_path / "file", 0)
        failure, words = FAULTS[fault]
        assert got["failure"] == failure and words in got["error"]
        assert got["error"].startswith(depot.target)
        assert "error" not in depot.task("delete", got["manage"])
        assert held(depot, got) is None or fault == "expires_meanwhile"


def test_depot_that_stops_short_is_sent_the_rest(file):
    with Depot(stores="stops_short") as depot:
        got = depot.task("put", file, 0)
        assert "error" not in got
        assert held(depot, got).data == file.read_bytes()


def test_full_depot_says_so(file):
    for accre in False, True:
        with Depot(room=SIZE - 1, accre=accre) as depot:
            got = depot.task("put", file, 0)
            assert got["failure"] == FULL
            assert f"no space left for {SIZE} bytes" in got["error"]


def test_soft_room_will_do(file):
    with Depot(has_hard=False) as depot:
        got = depot.task("put", file, 0)
        assert held(depot, got).reliability == SOFT


def test_longest_lifetime_is_taken_or_said(file):
    for accre in False, True:
        with Depot(longest=3600, accre=accre) as depot:
            got = depot.task("put", file, 0)
            assert abs(int(got["expires"]) - time.time() - 3600) < 5
            for words in (("put", file), ("renew", got["manage"])):
                beyond = depot.task(*words, 3700)
                assert beyond["failure"] == BEYOND
                assert beyond["limit"] == "3600"
                assert "keeps objects for 3600 s at most" in beyond["error"]


def test_lifetime_that_is_cut_without_a_word_is_noticed(file):
    with Depot(longest=3600, cuts=True) as depot:
        got = depot.task("put", file, 0)
        assert "error" not in got
        for words in (("put", file), ("renew", got["manage"])):
            beyond = depot.task(*words, 86400)
            assert beyond["failure"] == BEYOND
            assert 3590 <= int(beyond["limit"]) <= 3600


# ---- the command ----

def test_file_is_put_on_depots_and_fetched_from_them():
    with Lab() as lab, Depot() as loci, Depot(accre=True) as accre:
        data = bytes_of(3 << 20)
        lab.path("film.bin").write_bytes(data)
        run = lab.start("put", "film.bin", "--to", loci.target, "--to",
                        accre.target, "--extent", "1m",
                        report=False).wait(PATIENCE)
        assert run.rc == 0, run.err
        for depot in loci, accre:
            assert len(depot._allocations) == 3 + 1  # and the empty one of ours
        public = lab.path("film.bin.xnd").read_text()
        assert "/MANAGE" not in public and "/WRITE" not in public
        private = lab.path("film.bin.private.xnd")
        assert private.read_text().count("/MANAGE") == 6
        assert private.stat().st_mode & 0o777 == 0o600
        back = lab.xdownload("-o", "back", "film.bin.xnd")
        assert back.rc == 0, back.err
        assert lab.read("back") == data


def test_file_goes_to_the_depot_that_has_room():
    with Lab() as lab, Depot(room=1 << 20) as full, Depot() as other:
        lab.path("film.bin").write_bytes(bytes_of(3 << 20))
        run = lab.start("put", "film.bin", "--stripe", "--copies", "1", "--to",
                        full.target, "--to", other.target, "--extent", "1m",
                        report=False).wait(PATIENCE)
        assert run.rc == 0, run.err
        back = lab.xdownload("-o", "back", "film.bin.xnd")
        assert back.rc == 0, back.err


def test_words_of_the_command_name_the_depot_and_no_secret():
    with Lab() as lab, Depot(stores="disk_fails") as depot:
        lab.path("film.bin").write_bytes(bytes_of(30 << 20))
        run = lab.start("put", "film.bin", "--to", depot.target, "-v",
                        "--max-time", "5s", report=False).wait(PATIENCE)
        assert run.rc != 0
        assert f"{depot.target}: the depot could not write its file (-16)" in \
            run.err
        assert "IBP-" not in run.err and b"IBP-" not in run.out
