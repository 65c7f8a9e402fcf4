# SPDX-License-Identifier: MIT
"""IBP depots that are written to: what is put there is there, lives as long as
it should and can be removed; and what becomes of it when a depot misbehaves."""
import re
import sys
import time
from pathlib import Path

import pytest

from lab import bytes_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import SOFT, IbpDepot  # noqa: E402

SIZE = 1_000_003
HOUR, DAY = 3600, 86400
KINDS = pytest.mark.parametrize("accre", [False, True])


class Depot(IbpDepot):
    """One with a store in front of it."""

    target = property(lambda self: f"ibp://127.0.0.1:{self.port}")

    def allocated(self):
        """The allocations, without the one that it has of its own."""
        return [a for a in self._allocations.values() if a is not self.held]


def put(lab, *depots, words=(), size=SIZE):
    """A file in one extent, with a copy on each depot."""
    lab.path("film.bin").write_bytes(bytes_of(size))
    to = [word for d in depots for word in ("--to", d.target)]
    return lab.xdownload("put", "film.bin", *to, "-o", "f.xnd", "--silence",
                         "1s", "--retry", "1", *words, report=False)


def on_manifest(lab, command, *words):
    return lab.xdownload(command, "f.xnd", *words, report=False)


def assert_lives(depot, seconds):
    assert depot.allocated() and all(
        abs(a.expires - time.time() - seconds) < 120 for a in depot.allocated())


@KINDS
def test_what_is_put_can_be_read_renewed_and_removed(lab, accre):
    with Depot(accre=accre) as depot, Depot() as other:
        run = put(lab, depot, other, words=("--for", "1h"))
        assert run.rc == 0, run.err
        assert [a.data for a in depot.allocated()] == [bytes_of(SIZE)]
        assert_lives(depot, HOUR)
        assert on_manifest(lab, "check", "--full").rc == 0

        assert on_manifest(lab, "renew", "--for", "1d").rc == 0
        assert_lives(depot, DAY)
        assert [a.data for a in depot.allocated()] == [bytes_of(SIZE)]

        assert on_manifest(lab, "drop", "--from", depot.target).rc == 0
        assert not depot.allocated() and len(other.allocated()) == 1


def test_file_is_put_on_depots_and_fetched_from_them(lab):
    with Depot() as loci, Depot(accre=True) as accre:
        run = put(lab, loci, accre, words=("--extent", "256k"))
        assert run.rc == 0, run.err
        assert len(loci.allocated()) == len(accre.allocated()) == 4
        public, private = lab.path("f.xnd"), lab.path("f.private.xnd")
        assert "/MANAGE" not in public.read_text()
        assert "/WRITE" not in public.read_text()
        assert private.read_text().count("/MANAGE") == 8
        assert private.stat().st_mode & 0o777 == 0o600
        back = lab.xdownload("-o", "back", "f.xnd")
        assert back.rc == 0, back.err
        assert lab.read("back") == bytes_of(SIZE)


def test_file_goes_to_the_depot_that_has_room(lab):
    with Depot(room=300_000) as full, Depot() as other:
        run = put(lab, full, other, words=("--stripe", "--copies", "1",
                                           "--extent", "256k"))
        assert run.rc == 0, run.err
        assert len(full.allocated()) <= 1
        back = lab.xdownload("-o", "back", "f.xnd")
        assert back.rc == 0, back.err


def test_depot_that_calls_itself_otherwise_is_asked_where_it_is(lab):
    with Depot(name="elsewhere.example") as depot:
        run = put(lab, depot)
        assert run.rc == 0, run.err
        assert "elsewhere" not in lab.path("f.private.xnd").read_text()
        assert on_manifest(lab, "check", "--full").rc == 0


# What is said of each fault.
FAULTS = {
    "never_takes": r"no bytes for 1\.0 s",
    "loses": f"has 0 bytes of {SIZE} that it said it had written",
    "truncates": f"has {SIZE - 10} bytes of {SIZE}",
    "counts_wrong": f"does not say how many of {SIZE} bytes",
    "stalls": r"no bytes for 1\.0 s",
    "closes": "offset|broke",
    "disk_fails": r"could not write its file \(-16\)",
    "expires_meanwhile": r"capability not found \(-4\)",
}


@KINDS
@pytest.mark.parametrize("fault", FAULTS)
def test_depot_at_fault_is_named_and_what_it_has_is_removed(lab, fault, accre):
    with Depot(stores=fault, accre=accre) as depot:
        run = put(lab, depot, words=("-v",))
        assert run.rc == 1
        assert re.search(rf"{depot.target}(/\.\.\.)?: .*({FAULTS[fault]})",
                         run.err)
        assert "IBP-" not in run.err and b"IBP-" not in run.out
        assert not depot.allocated() or fault == "expires_meanwhile"


def test_depot_that_stops_short_is_sent_the_rest(lab):
    with Depot(stores="stops_short") as depot:
        run = put(lab, depot)
        assert run.rc == 0, run.err
        assert [a.data for a in depot.allocated()] == [bytes_of(SIZE)]


@KINDS
def test_full_depot_says_so(lab, accre):
    with Depot(room=SIZE - 1, accre=accre) as depot:
        run = put(lab, depot)
        assert run.rc == 1 and f"no space left for {SIZE} bytes" in run.err


def test_soft_room_will_do(lab):
    with Depot(has_hard=False) as depot:
        assert put(lab, depot).rc == 0
        assert [a.reliability for a in depot.allocated()] == [SOFT]


@KINDS
@pytest.mark.parametrize("cuts", [False, True])
def test_longest_lifetime_is_taken_or_said(lab, cuts, accre):
    """cuts: it says nothing of it."""
    said = "keeps objects for 3600 s at most" if not cuts else \
        r"keeps objects for (3600|359\d) s at most"
    with Depot(longest=HOUR, cuts=cuts, accre=accre) as depot:
        run = put(lab, depot, words=("--for", "1d"))
        assert run.rc == 1 and re.search(said, run.err), run.err
        assert not depot.allocated()
        assert put(lab, depot, words=("--force",)).rc == 0
        assert_lives(depot, HOUR)
        run = on_manifest(lab, "renew", "--for", "1d")
        assert run.rc == 2 and re.search(said, run.err), run.err
