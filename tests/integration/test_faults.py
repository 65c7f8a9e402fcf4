# SPDX-License-Identifier: MIT
"""The table: what becomes of a download when a depot misbehaves.

Every fault of tests/lab/fault_depot.py, and some that need no depot, is met
with hashes of pieces, with one hash of the whole, and with none; into a file
and into a pipe; under each algorithm.  The quick run takes one of these for
each fault, and XD_SLOW so many that each two of them meet.  Beside the depot at
fault stands an honest one.
"""
import hashlib
import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from lab import PATIENCE, Depot, bytes_of, requests_per_connection, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from fault_depot import FaultDepot  # noqa: E402
from flood_depot import FloodDepot  # noqa: E402

SIZE = 2_200_003
PIECE = 256 << 10
BLOCK = 128 << 10
SMALLEST = 16 << 10  # block in these tests
NAME_SERVER = "127.77.%d.%d" % divmod(os.getpid() % 65536, 256)
SLOW = bool(os.environ.get("XD_SLOW"))

ALGORITHMS = ["adaptive", "basic", "aggressive", "progress"]
HASHES = ["pieces", "whole", "none"]
TARGETS = ["file", "pipe"]

# Fault: what the report says of the depot, "" if it is not to blame.
TABLE = {
    "refuses": r"[Cc]onnect",
    "does_not_resolve": r"resolve",
    "name_server_is_silent": r"no bytes|resolve",
    "never_answers": r"no bytes|silent|[Nn]o byte",
    "header_only": r"no bytes|silent|[Nn]o byte",
    "endless_header": r"header is longer",
    "long_header_line": r"line of more than 100 KiB|[Tt]oo large",
    "long_status_line": r"line of more than 100 KiB|[Tt]oo large|[Ww]eird",
    "endless_interim_answers": r"header is longer|interim",
    "trickles": "",
    "closes_mid_body": r"closed|end of|remaining",
    "closes_before_the_header": r"[Ee]mpty reply|closed",
    "resets_every_tenth": r"reset|[Rr]ecv|closed",
    "one_connection": "503",
    "slow_to_connect": "",
    "fewer_bytes": r"closed early|bytes before|with bytes|lengths",
    "one_byte_fewer": r"with bytes .* in",
    "one_byte_fewer_in_chunks": r"one byte before",
    "more_bytes": "HTTP/0.9",
    "wrong_range": r"with bytes|lengths",
    "whole_file": "whole object",
    "html_page": r"bytes",
    "another_total": str(SIZE + 5),
    "unsatisfiable": "416|10 bytes",
    "encodes": "gzip|wrong bytes",
    "says_encoded": "",
    "sends_less": "",
    "omits_the_size": "",
    "omits_the_unit": "",
    "refuses_ranges": "403",
    "balances": "",
    "status_404": "404",
    "status_403": "403",
    "status_401": "401",
    "status_410": "410",
    "busy_429": "429",
    "busy_503": "503",
    "bursts_of_500": "500",
    "redirects_to_another_host": "",
    "redirects_in_a_loop": r"redirect",
    "redirects_to_a_file": r"redirects to a URL",
    "redirects_to_ftp": r"redirects to a URL",
    "redirects_to_http": r"redirects from https",
    "signed_urls_expire": "",
    "changes_half_way": "has changed|wrong bytes",
    "another_name": r"(?i)certificate|name",
    "expired": r"(?i)certificate",
    "self_signed": r"(?i)certificate",
}

# What policies with redundancy, or good luck, go round unharmed.
MAY_PASS = ["never_answers", "header_only", "more_bytes",
            "name_server_is_silent", "resets_every_tenth"]

# A request with its first bytes is as good as alive, and the paper's plain
# algorithm asks nobody else for its block: it has a test of its own.
NOT_UNDER_BASIC = ["trickles"]

# What it takes to meet the fault in so small a file; and how long the honest
# depot waits before each answer.
DELAY = {"changes_half_way": 0.1, "busy_429": 0.1, "busy_503": 0.16}
OPTIONS = {
    "one_connection": ["-t", "2"],
    "slow_to_connect": ["-t", "1"],
    "redirects_in_a_loop": ["--max-redirs", "5"],
}
BLOCKS = {"resets_every_tenth": SMALLEST, "bursts_of_500": 64 << 10}

# What only patience can tell from a depot that is busy.  The others are given
# more of it than a busy machine needs to run the honest one.
SILENT = ["never_answers", "header_only", "name_server_is_silent"]

# Left to the long run.
MORE_OF_THE_SAME = ["status_403", "status_401", "status_410", "busy_503",
                    "redirects_to_ftp", "redirects_to_http", "encodes",
                    "another_total"]

LIES = ["flips_bits", "another_file"]


def rows(i):
    """Of the i-th fault.  Into a file or a pipe: what it leaves out the next
    one takes."""
    if not SLOW:
        every = list(itertools.product(HASHES, TARGETS, ALGORITHMS))
        return [every[5 * i % len(every)]]
    return [(hashes, TARGETS[(i + j + k) % 2], algorithm)
            for j, hashes in enumerate(HASHES)
            for k, algorithm in enumerate(ALGORITHMS)]


def cells(faults):
    return [pytest.param(fault, *row, id="-".join((fault, *row)))
            for i, fault in enumerate(faults)
            if SLOW or fault not in MORE_OF_THE_SAME
            for row in rows(i)
            if fault not in NOT_UNDER_BASIC or row[2] != "basic"]


class Content:
    """Bytes of which pytest, that of 2020 at least, does not look for minutes
    for how they differ from others."""

    def __init__(self, data):
        self.data = data

    def __eq__(self, other):
        return self.data == other

    def __repr__(self):
        return f"<{len(self.data)} bytes>"


class World:
    """An honest depot, one at fault, and what was made for them."""

    def __init__(self, lab):
        self.lab = lab
        self.data = bytes_of(SIZE)
        self.opened = []
        self.options = []  # of each run
        self.block = BLOCK
        self.silence = "5s"
        self.honest = self.depot(delay=0.03)

    def depot(self, *args, **options):
        depot = FaultDepot(self.data, *args, **options)
        self.opened.append(depot)
        return depot

    def close(self):
        for depot in self.opened:
            depot.close()

    def at_fault(self, fault):
        """The depot; one that nobody can reach has no log."""
        if fault in SILENT:
            self.silence = "1s"
        if fault == "refuses":
            return self.lab.dead()
        if fault == "does_not_resolve":
            return Depot("x" * 64 + ".invalid")  # no name server is asked
        if fault == "name_server_is_silent":
            return self.unresolved()
        if fault in ("another_name", "expired", "self_signed"):
            return self.depot(certificate=self.certificate(fault))
        if fault == "redirects_to_http":
            made = self.lab.certificate()
            return self.depot(fault, other=self.honest,
                              certificate=(made.path, made.key))
        return self.depot(fault, other=self.honest)

    def unresolved(self):
        """A depot whose name is asked of a server that never answers: only the
        command sees that one."""
        self.name_server = socket.socket(type=socket.SOCK_DGRAM)
        self.opened.append(self.name_server)
        try:
            self.name_server.bind((NAME_SERVER, 53))
        except OSError as e:
            pytest.skip(f"only root can be a name server: {e}")
        if not self.lab.replace_file("/etc/resolv.conf",
                                     f"nameserver {NAME_SERVER}\n"
                                     "options timeout:5 attempts:1\n"):
            pytest.skip("there are no namespaces here")
        return Depot("depot.test")

    def certificate(self, fault):
        if fault == "expired":
            return expired_certificate(self.lab)
        name = "DNS:elsewhere" if fault == "another_name" else "IP:127.0.0.1"
        made = self.lab.certificate(name, trusted=fault != "self_signed")
        return made.path, made.key

    def manifest(self, depots, hashes):
        """A Metalink of them, in that order."""
        def sha256(data):
            return hashlib.sha256(data).hexdigest()
        text = ['<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
                f'<file name="f.bin"><size>{SIZE}</size>']
        if hashes == "whole":
            text.append(f'<hash type="sha-256">{sha256(self.data)}</hash>')
        if hashes == "pieces":
            text.append(f'<pieces type="sha-256" length="{PIECE}">')
            text += [f"<hash>{sha256(self.data[i:i + PIECE])}</hash>"
                     for i in range(0, SIZE, PIECE)]
            text.append("</pieces>")
        text += [f"<url>{d.url('f.bin')}</url>" for d in depots]
        return self.lab.write("f.meta4", "".join(text) + "</file></metalink>")

    def run(self, depots, hashes="none", target="file", algorithm="adaptive",
            *args):
        return self.start(depots, hashes, target, algorithm, *args).wait()

    def start(self, depots, hashes, target, algorithm, *args, **options):
        block = self.block
        if algorithm == "adaptive":  # it asks for up to eight at a time
            block = max(block // 8, 4 << 10)
        return self.lab.start(
            self.manifest(depots, hashes), "-a", algorithm, "-b", block,
            "--silence", self.silence, "-o", "-" if target == "pipe" else "f.bin",
            *args, *self.options, **options)

    def got(self, run, target):
        return Content(run.out if target == "pipe" else self.lab.read("f.bin"))


@pytest.fixture
def world(lab):
    made = World(lab)
    yield made
    made.close()


def expired_certificate(lab):
    """One that was good for a day, years ago, of a trusted authority."""
    folder = Path(tempfile.mkdtemp(dir=lab.folder))
    made = lab.certificate()
    (folder / "index").touch()
    (folder / "conf").write_text(
        f"[ca]\ndefault_ca = a\n[a]\ndatabase = {folder}/index\n"
        f"new_certs_dir = {folder}\ndefault_md = sha256\npolicy = p\n"
        "rand_serial = yes\n[p]\ncommonName = supplied\n")

    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, cwd=folder,
                       stderr=subprocess.DEVNULL)
    openssl("req", "-new", "-key", made.key, "-subj", "/CN=old",
            "-out", "request")
    openssl("ca", "-batch", "-notext", "-config", "conf", "-selfsign",
            "-keyfile", made.key, "-startdate", "20200101000000Z",
            "-enddate", "20200102000000Z", "-in", "request", "-out", "cert")
    lab.environment["SSL_CERT_FILE"] = str(folder / "cert")
    return folder / "cert", made.key


def row_of(run, depot):
    """What the report says of a depot."""
    return next(d for d in run.report["depots"] if d["host"] == depot.host)


def assert_bounded(depot):
    """It fired, and nobody was badgered or paid for it many times over."""
    wait_until(depot.fired, "the fault to be in the depot's log")
    # Ten, and both of its lanes begin at once, which counts as one.
    assert depot.longest_row_without_bytes() <= 12
    assert len(depot.log) <= 2 * SIZE // SMALLEST
    # Its new file may go out once for each of two requests at a time; samples
    # come beside that.
    assert depot.bytes_sent() <= 3.1 * SIZE


@pytest.mark.parametrize("fault,hashes,target,algorithm", cells(TABLE))
def test_the_right_file_comes_in_spite_of(world, fault, hashes, target,
                                          algorithm):
    bad = world.at_fault(fault)
    world.honest.delay = DELAY.get(fault, world.honest.delay)
    world.block = BLOCKS.get(fault, BLOCK)
    if isinstance(bad, FaultDepot) and fault not in [*MAY_PASS, *DELAY]:
        world.honest.after = bad  # however busy the machine is
    run = world.run([bad, world.honest], hashes, target, algorithm,
                    *OPTIONS.get(fault, []))
    assert run.rc == 0, run.err
    assert world.got(run, target) == world.data
    assert (run.report["verified"] == "sha-256") == (hashes != "none")
    assert row_of(run, world.honest)["error"] is None
    error = row_of(run, bad)["error"]
    if fault in MAY_PASS and not error:
        assert algorithm != "basic" or fault == "more_bytes"
    elif TABLE[fault]:
        assert error and re.search(TABLE[fault], error), (fault, error)
    else:
        assert error is None
    if isinstance(bad, FaultDepot):
        assert_bounded(bad)
    if fault == "name_server_is_silent":
        assert b"depot" in world.name_server.recv(512, socket.MSG_DONTWAIT)


@pytest.mark.parametrize("fault,hashes,target,algorithm", [
    pytest.param("trickles", *row, "basic", id="-".join(row))
    for row in list(itertools.product(HASHES, TARGETS))[:None if SLOW else 1]])
def test_basic_waits_for_a_trickle_and_loses_nothing_else(
        world, fault, hashes, target, algorithm):
    bad = world.at_fault(fault)
    run = world.run([bad, world.honest], hashes, target, algorithm,
                    "--max-time", "2s")
    assert run.rc == 1
    assert "stopped after 2 s (--max-time)" in run.err
    assert bad.fired() and len(bad.log) <= 2
    assert 0 < bad.bytes_sent() <= 10
    assert row_of(run, bad)["error"] is row_of(run, world.honest)["error"]
    before = world.honest.bytes_sent()
    again = world.run([world.honest], hashes, target, algorithm)
    assert again.rc == 0, again.err
    assert world.got(again, target) == world.data
    if target == "file":
        assert before > SIZE // 2
        assert world.honest.bytes_sent() <= SIZE + PIECE


@pytest.mark.parametrize("fault,hashes,target,algorithm", cells(LIES))
def test_a_lie_is_found_where_something_can_tell(world, fault, hashes, target,
                                                 algorithm):
    bad = world.at_fault(fault)
    run = world.run([bad, world.honest], hashes, target, algorithm)
    wait_until(bad.fired, "the fault to be in the depot's log")
    assert len(bad.log) <= 3 * SIZE // SMALLEST
    assert bad.bytes_sent() <= 3 * SIZE
    if hashes == "none":
        assert_no_file_of_two(world, run, fault, target, bad)
        return
    if hashes == "whole" and target == "pipe":
        assert run.rc == 4
        assert len(run.out) < SIZE
        return
    assert run.rc == 0, run.err
    assert world.got(run, target) == world.data
    assert run.report["verified"] == "sha-256"
    assert "wrong bytes" in row_of(run, bad)["error"]
    assert row_of(run, world.honest)["error"] is None


def assert_no_file_of_two(world, run, fault, target, bad):
    """Two that differ where they were compared; a rare bit may lie elsewhere,
    and then nothing is claimed."""
    assert run.report["verified"] is None
    if fault == "flips_bits" and run.rc == 0:
        assert "not verified" in run.err
        return
    assert run.rc == 4
    assert bad.url("f.bin") in run.err
    assert world.honest.url("f.bin") in run.err
    assert "no hash or third depot shows which is right" in run.err
    for one, other in [(bad, world.honest), (world.honest, bad)]:
        assert re.search(re.escape(one.url("f.bin")) + r": its bytes .* not "
                         r"those of " + re.escape(other.url("f.bin")), run.err)
    if target == "file":
        assert not (world.lab.work / "f.bin").exists()


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_without_a_hash_two_depots_outvote_one_with_another_file(
        world, algorithm, place):
    bad = world.at_fault("another_file")
    other = world.depot(delay=0.03)
    depots = [world.honest, other]
    depots.insert(place, bad)
    run = world.run(depots, "none", "file", algorithm)
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert "are not those of" in row_of(run, bad)["error"]
    assert row_of(run, bad)["failures"] == 1
    assert row_of(run, other)["error"] is row_of(run, world.honest)["error"]
    assert run.report["bytes_compared"] > 0
    assert "not verified, " in run.err and " compared" in run.err


@pytest.mark.parametrize("place", range(3))
def test_with_a_whole_hash_a_liar_among_three_feeds_a_pipe_no_wrong_byte(
        world, place):
    """The liar answers late, so that other copies of its bytes are there when they
    come, however slow the machine is."""
    wrong = bytearray(world.data)
    for i in range(1000, SIZE, 64 << 10):
        wrong[i] ^= 0xff
    liar = FaultDepot(bytes(wrong), delay=0.4)
    world.opened.append(liar)
    depots = [world.honest, world.depot(delay=0.03)]
    depots.insert(place, liar)
    run = world.run(depots, "whole", "pipe", "basic")
    assert run.rc == 0, run.err
    assert world.got(run, "pipe") == world.data
    assert "are not those of" in row_of(run, liar)["error"], run.err


def test_what_was_outvoted_after_it_left_through_a_pipe_is_said(world):
    bad = world.at_fault("another_file")
    other = world.depot(delay=0.03)
    run = world.run([bad, world.honest, other], "none", "pipe")
    if run.rc == 0:  # found before any of it was written out
        assert run.out == world.data
        return
    assert run.rc == 4
    assert "what was written out from byte 0 on is not to be trusted" in run.err


def test_what_two_differed_in_is_no_beginning_for_the_next_run(world):
    bad = world.at_fault("another_file")
    assert world.run([bad, world.honest]).rc == 4
    run = world.run([world.honest])
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data


def test_a_sample_is_small_and_only_of_bytes_that_no_hash_proves(world):
    """The hash of the whole proves a file, but not what a pipe has written."""
    other = world.depot(delay=0.03)
    run = world.run([world.honest, other], "none", "file", "basic")
    sample = run.report["bytes_compared"]
    assert SIZE // 1000 <= sample <= SIZE // 1000 + 2 * 4096
    assert run.report["bytes_redundant"] == sample
    run = world.run([world.honest, other], "whole", "pipe", "basic")
    assert 0 < run.report["bytes_compared"] <= SIZE // 1000 + 2 * 4096
    for hashes, target in (("pieces", "pipe"), ("whole", "file")):
        run = world.run([world.honest, other], hashes, target, "basic")
        assert run.report["bytes_compared"] == 0
        assert run.report["bytes_redundant"] == 0


@pytest.mark.parametrize("hashes", HASHES)
def test_servers_that_share_a_name_and_a_file_are_one_depot(world, hashes):
    """With validators that differ: it is said once, and every byte counts."""
    bad = world.at_fault("balances")
    run = world.run([bad], hashes)
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert run.err.count("its validators differ") == 1
    assert ("hashes prove the bytes" in run.err) == (hashes != "none")
    assert row_of(run, bad)["failures"] == 0
    assert run.report["bytes_redundant"] <= 64 << 10


@pytest.mark.parametrize("hashes", ["whole", "none"])
def test_what_came_from_servers_that_share_a_name_is_gone_on_with(world,
                                                                  hashes):
    bad = world.at_fault("balances")
    bad.delay = 0.1
    process = world.start([bad], hashes, "file", "basic", "-t", "1")
    wait_until(lambda: len(bad.log) >= 14, "half of the file")
    process.send(signal.SIGTERM)
    assert process.wait().rc == 130
    before, bad.delay = bad.bytes_sent(), 0
    run = world.run([bad], hashes, "file", "basic")
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert "of it there already" in run.err
    if hashes == "whole":  # else samples, and whole files in place of ranges
        assert bad.bytes_sent() - before < SIZE - 6 * BLOCK


def test_servers_that_share_a_name_with_two_files_give_one(world):
    """By one request, if nobody else has it.  They are seen to be two before they are
    compared with the other depot."""
    bad = world.at_fault("balances_over_two_files")
    world.honest.delay = 0.2
    run = world.run([bad, world.honest])
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert "has changed" in row_of(run, bad)["error"]
    alone = world.run([bad], "none", "file", "adaptive", "--force")
    assert alone.rc == 0, alone.err
    assert world.got(alone, "file") in (world.data, bad.another)
    assert "has changed" in alone.err
    assert "the whole file is asked for in one request" in alone.err


@pytest.mark.parametrize("hashes", HASHES)
def test_a_depot_that_changes_its_file_is_believed_in_nothing(world, hashes):
    bad = world.at_fault("changes_half_way")
    world.honest.delay = 0.2
    run = world.run([bad, world.honest], hashes)
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    row = row_of(run, bad)
    assert row["state"] == "failed" and row["failures"] == 1
    asked = [e.headers.get("if-range") for e in bad.log]
    if hashes != "none":
        assert "wrong bytes" in row["error"] and set(asked) == {None}
        return
    assert "has changed" in row["error"]
    assert '"one"' in asked
    assert world.honest.bytes_sent() >= SIZE  # also what the other had brought


# ---- who is given up while others live ----

def test_a_depot_that_always_fails_is_given_up(world):
    bad = world.at_fault("closes_before_the_header")
    world.honest.delay = 0.09
    run = world.run([bad, world.honest], "none", "file", "basic",
                    "--retry", "2")
    assert run.rc == 0, run.err
    assert len(bad.log) == 2
    assert row_of(run, bad)["state"] == "failed"


# ---- when there is nobody else ----

def run_alone(world, bad):
    """With one connection: a second is not to ask before the first is answered."""
    return world.run([bad], "none", "file", "adaptive", "-t", "1")


@pytest.mark.parametrize("fault", ["busy_429", "busy_503"][:1 + SLOW])
def test_a_busy_depot_is_left_alone_for_as_long_as_it_asked(world, fault):
    bad = world.at_fault(fault)
    run = run_alone(world, bad)
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert bad.log[1].time - bad.log[0].time >= 1


ALONE = ["status_404", "status_410", "encodes", "another_total", "html_page",
         "redirects_to_a_file", "self_signed"]


@pytest.mark.parametrize("fault", ALONE)
def test_alone_a_hard_refusal_ends_the_run_at_once(world, fault):
    bad = world.at_fault(fault)
    run = run_alone(world, bad)
    assert run.rc == 1
    assert bad.host in run.err
    wait_until(lambda: bad.log, "the depot to note who came")
    # After a status it is asked once more, without a range.
    assert len(bad.log) == 1 + fault.startswith("status_")
    assert not (world.lab.work / "f.bin").exists()


def test_alone_a_depot_that_changes_its_file_gives_the_new_one(world):
    """All of it, and nothing of the old one."""
    bad = world.at_fault("changes_half_way")
    run = world.run([bad])
    assert run.rc == 0, run.err
    assert "its file has changed during the download" in run.err
    assert world.got(run, "file") == bad.another


def test_alone_a_dead_depot_is_asked_until_patience_is_at_its_end(world):
    bad = world.at_fault("closes_before_the_header")
    run = world.run([bad], "none", "file", "progress", "--patience", "2500ms",
                    "--retry", "2")
    assert run.rc == 1
    assert bad.host in run.err
    times = [e.time for e in bad.log]
    assert 3 <= len(times) <= 8
    assert times[-1] - times[0] >= 2.4
    assert not (world.lab.work / "f.bin").exists()


def test_alone_a_dead_depot_that_comes_back_gives_the_file(world):
    bad = world.depot("is_away", delay=0)
    run = world.run([bad], "whole", "file", "progress", "--retry", "1")
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert bad.fired()


PASSING = ["one_connection", "whole_file", "one_byte_fewer",
           "one_byte_fewer_in_chunks", "signed_urls_expire", "more_bytes",
           "redirects_to_another_host", "sends_less", "omits_the_size",
           "omits_the_unit", "refuses_ranges", "refuses_conditions",
           "balances"]
if SLOW:
    PASSING += ["bursts_of_500", "resets_every_tenth", "closes_mid_body",
                "slow_to_connect"]


@pytest.mark.parametrize("fault", PASSING)
def test_alone_what_passes_by_itself_is_waited_for(world, fault):
    bad = world.at_fault(fault)
    # A pause follows each half of a block.
    world.block = SIZE if fault == "closes_mid_body" else 2 * BLOCK
    run = world.run([bad], "none", "file", "progress")
    if fault == "more_bytes" and run.rc == 1:
        # Where the surplus is taken for an answer.
        assert "HTTP/0.9" in run.err or "status line" in run.err
        return
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data


# ---- what is nobody's fault ----

def test_a_pipe_that_is_read_late_ends_while_a_sample_trickles(world):
    """The download waits for the sample before the pipe does."""
    depots = [world.at_fault("trickles"), world.honest]
    end, pipe = os.pipe()
    process = world.start(depots, "none", "pipe", "aggressive", stdout=pipe)
    os.close(pipe)
    wait_until(lambda: world.honest.bytes_sent() >= SIZE - BLOCK,
               "most of the file")
    time.sleep(1)
    hang = threading.Timer(PATIENCE, process.kill)
    hang.start()
    with open(end, "rb") as out:
        got = out.read()
    hang.cancel()
    assert process.wait().rc == 0
    assert got == world.data


@pytest.mark.parametrize("fault,hashes,target,algorithm", cells(["stopped"]))
def test_a_process_that_was_stopped_does_not_take_it_for_silence(
        world, fault, hashes, target, algorithm):
    # Who is alone is asked for all of a stream at once, by adaptive.
    at_once = algorithm == "adaptive" and target == "pipe"
    world.honest.delay = 0.5 if at_once else 0.05
    world.silence = "700ms"
    process = world.start([world.honest], hashes, target, algorithm)
    wait_until(lambda: len(world.honest.log) >= (1 if at_once else 3),
               "the requests")
    process.send(signal.SIGSTOP)
    time.sleep(1)
    process.send(signal.SIGCONT)
    run = process.wait()
    assert run.rc == 0, run.err
    assert world.got(run, target) == world.data
    assert row_of(run, world.honest)["failures"] == 0


@pytest.mark.parametrize("fault,hashes,target,algorithm", cells(["goaway"]))
def test_an_http2_server_that_says_goaway_is_asked_again(
        world, fault, hashes, target, algorithm):
    world.lab.file("f.bin", SIZE)
    depot = world.lab.depot(certificate=world.lab.certificate(),
                            config=requests_per_connection(3))
    run = world.run([depot], hashes, target, algorithm, "-t", "4")
    assert run.rc == 0, run.err
    assert world.got(run, target) == world.data
    requests = depot.requests()
    assert {r["protocol"] for r in requests} == {"HTTP/2.0"}
    # Who is alone is asked for most of a stream at once, by adaptive.
    least = 1 if algorithm == "adaptive" and target == "pipe" else 4
    assert len({r["connection"] for r in requests}) >= least


@pytest.mark.parametrize("fault,hashes,target,algorithm", cells(["reset"]))
def test_an_http2_stream_that_is_reset_costs_only_its_own_bytes(
        world, fault, hashes, target, algorithm):
    bad = world.at_fault("closes_mid_body")
    front = world.lab.depot(
        certificate=world.lab.certificate(),
        config=f"location /f.bin {{ proxy_pass http://{bad.host};"
               " proxy_buffering off; proxy_http_version 1.1; }")
    world.honest.after = bad
    run = world.run([front, world.honest], hashes, target, algorithm)
    assert run.rc == 0, run.err
    assert world.got(run, target) == world.data
    assert bad.fired()
    assert row_of(run, front)["failures"] > 0
    assert row_of(run, world.honest)["error"] is None


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("algorithm", ["adaptive", "progress"])
def test_one_hash_finds_the_honest_depot_among_equal_liars(world, place,
                                                            algorithm):
    """Leaving out one of them helps nothing; taking the file from one depot
    alone does, and the second liar need not be tried."""
    depots = [world.depot("another_file", delay=0.03) for _ in range(2)]
    depots.insert(place, world.honest)
    run = world.run(depots, "whole", "file", algorithm)
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert sum(d.bytes_sent() for d in depots) <= 4.2 * SIZE


def test_without_an_honest_depot_the_end_comes_after_three_files(world):
    depots = [world.depot("another_file", delay=0.03) for _ in range(4)]
    run = world.run(depots, "whole", "file", "adaptive")
    assert run.rc == 4
    assert sum(d.bytes_sent() for d in depots) <= 4.2 * SIZE


# ---- what libcurl does not come back from ----

@pytest.fixture(name="flood")
def a_depot_that_floods(world):
    made = world.lab.certificate()
    with FloodDepot(made.path, made.key, SIZE) as depot:
        yield depot


def test_a_flood_does_not_hold_up_a_complete_file(world, flood):
    """It is of empty frames, which libcurl reads for as long as they come."""
    process = world.start([flood, world.honest], "whole", "file", "adaptive")
    wait_until(lambda: world.lab.path("f.bin").exists(), "the file is there")
    run = process.wait()
    assert run.rc == 0, run.err
    assert flood.n_floods and world.got(run, "file") == world.data


@pytest.mark.parametrize("how", [
    signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
    pytest.param("--max-time", marks=pytest.mark.slow)])
def test_a_flood_does_not_hold_up_the_end(world, flood, how):
    options = [] if isinstance(how, int) else [how, "2s"]
    process = world.start([flood], "none", "file", "adaptive", *options)
    wait_until(lambda: flood.n_floods, "it floods")
    time.sleep(0.3)
    began = time.monotonic()
    if isinstance(how, int):
        process.send(how)
    run = process.wait()
    assert run.rc == (130 if isinstance(how, int) else 1), run.err
    # Libcurl may come back by itself within three seconds, which a signal does
    # not wait for.  Later or never is what wait() finds.
    if isinstance(how, int):
        assert time.monotonic() - began < 2.5


def test_a_flood_is_named_and_the_depot_given_up(world, flood):
    run = world.start([flood], "none", "file", "adaptive", "--retry",
                      "1", "--patience", "0s").wait()
    assert run.rc == 1
    # A libcurl before 7.88 returns from it, and the depot is merely silent.
    assert re.search("kept libcurl busy|no bytes for",
                     row_of(run, flood)["error"])


@pytest.mark.slow
def test_a_flood_is_no_manifest(world, flood):
    """URLs that were typed are asked what they lead to."""
    run = world.lab.start(flood.url("f.bin"), world.honest.url("f.bin"),
                          "--same-file").wait()
    assert run.rc == 0, run.err
    assert flood.n_floods and world.got(run, "file") == world.data
