# SPDX-License-Identifier: MIT
"""What becomes of bytes that left before it was known that they are wrong."""
import hashlib
import http.client
import os
import sys
from pathlib import Path

import pytest

from lab import bytes_of, wait_until
from test_serve import Served

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from fault_depot import FaultDepot  # noqa: E402

SIZE = 2_200_003


class Gate:
    """Depots behind it answer when somebody has got something."""

    def __init__(self):
        self.is_open = False

    def fired(self):
        return self.is_open


@pytest.fixture(name="liar")
def one_of_three():
    """A depot with another file, which answers before two honest ones do."""
    data = bytes_of(SIZE)
    with FaultDepot(data, "another_file") as liar, \
            FaultDepot(data) as one, FaultDepot(data) as two:
        one.after = two.after = liar.gate = Gate()
        liar.others = [one, two]
        yield liar


def manifest(lab, depots, more=""):
    text = "".join(f"<url>{d.url('f.bin')}</url>" for d in depots)
    return lab.write("f.meta4", (
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f.bin">'
        f"<size>{SIZE}</size>{more}{text}</file></metalink>"))


def body(served, gate):
    """(what comes of the file, whether that is all of it)."""
    client = served.connect(f"GET {served.address()[2]} HTTP/1.1\r\n"
                            "Host: localhost\r\n\r\n")
    with client:
        answer = http.client.HTTPResponse(client)
        answer.begin()
        first = answer.read(1)
        gate.is_open = True
        try:
            return first + answer.read(), True
        except http.client.IncompleteRead as e:
            return first + e.partial, False


@pytest.mark.parametrize("spool", ["/tmp", "none"])
def test_a_client_that_was_given_wrong_bytes_is_broken_off(lab, liar, spool):
    served = Served(lab, "--spool", spool, manifest(lab, [liar, *liar.others]))
    got, is_all = body(served, liar.gate)
    assert not is_all and got
    wait_until(lambda: "what was read from byte 0 on is not to be trusted"
               in served.process.err_now(), "a word of it")
    assert served.ask()[1] == liar.others[0].data


@pytest.mark.parametrize("spool", ["/tmp", "none"])
def test_a_player_that_was_given_wrong_bytes_is_told(lab, liar, spool):
    process = lab.start("play", "--simulate", "--rate", "4Mbit/s",
                        "--prebuffer", "100ms", "--spool", spool,
                        "--lookahead", "256k",
                        manifest(lab, [liar, *liar.others]), report=False)
    # More than the head, the tail and what is fetched ahead: it has read some.
    wait_until(lambda: liar.bytes_sent() > 1_800_000, "some of it is read")
    liar.gate.is_open = True
    run = process.wait()
    assert run.rc == 4
    assert "is not to be trusted" in run.err
    assert "are not those of" in run.err


def test_a_pipe_that_was_given_wrong_bytes_ends_as_corrupt(lab, liar):
    process = lab.start("-o", "-", manifest(lab, [liar, *liar.others]))
    wait_until(lambda: os.fstat(process.out_file.fileno()).st_size, "the first bytes of the output")
    liar.gate.is_open = True
    run = process.wait()
    assert run.rc == 4
    assert "what was written out from byte 0 on is not to be trusted" in run.err


class Changing(FaultDepot):
    """Has one file for its first request, and for all others its own, once
    the gate is open."""

    def __init__(self, data, first):
        super().__init__(data, "changes")
        self.first, self.gate = first, Gate()

    def changes(self, c, e):
        if e.number == 1:
            self.serve(c, e, {"ETag": '"first"'}, self.first)
            return
        while not self.gate.is_open and not c.until_it_leaves(0.01):
            pass
        self.serve(c, e)


@pytest.mark.parametrize("hashes,first_is_right", [
    ("none", True), ("whole", True), ("whole", False)])
def test_a_pipe_goes_on_without_a_depot_whose_file_changed(
        lab, hashes, first_is_right):
    """What it wrote out may be right: a hash tells, or nobody."""
    data, another = bytes_of(SIZE), bytes_of(SIZE, 2)
    proof = f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}</hash>'
    with Changing(data, data if first_is_right else another) as bad, \
            FaultDepot(data) as honest:
        honest.after = bad.gate
        process = lab.start("-o", "-", "-b", "64k", "--algorithm", "basic",
                            manifest(lab, [bad, honest],
                                     proof if hashes == "whole" else ""))
        wait_until(lambda: os.fstat(process.out_file.fileno()).st_size,
                   "the first bytes of the output")
        bad.gate.is_open = True
        run = process.wait()
    # Wrong first bytes may differ from the other depot's before the file changes.
    assert "has changed" in run.err or (
        not first_is_right and "differ within bytes" in run.err)
    assert run.rc == (0 if first_is_right else 4)
    assert (run.out == data) == first_is_right
    assert first_is_right or 0 < len(run.out) < SIZE
    assert ("not verified" in run.err) == (hashes == "none")


def test_the_last_bytes_wait_for_the_hash_of_the_file(lab):
    data = bytes_of(SIZE)
    proof = f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}</hash>'
    for fault, is_right in [("none", True), ("flips_bits", False)]:
        with FaultDepot(data, fault) as depot:
            served = Served(lab, manifest(lab, [depot], proof))
            got, is_all = body(served, Gate())
            assert is_all == is_right
            assert (got == data) == is_right
