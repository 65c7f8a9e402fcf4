# SPDX-License-Identifier: MIT
"""Files that lie on IBP depots, alone and beside web servers; and what becomes
of a download when an IBP depot misbehaves."""
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab import bytes_of, wait_until
from test_faults import ALGORITHMS, BLOCK, SIZE
from test_faults import World as FaultWorld
from test_faults import assert_bounded, row_of, rows
from test_serve import Served

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import Hang, IbpDepot  # noqa: E402

# Fault: what the report says of the depot, "" if it is not to blame.
TABLE = {
    "refuses": r"[Cc]onnect",
    "never_answers": r"no bytes|silent|[Nn]o byte",
    "reply_only": r"no bytes|silent|[Nn]o byte",
    "endless_reply": r"not a reply of IBP",
    "trickles": "",
    "closes_mid_body": r"closed early",
    "closes_before_the_reply": r"closed early",
    "closes_after_each": "",
    "resets_every_tenth": r"reset|closed",
    "one_connection": r"out of sockets \(-66\)",
    "garbage": r"not a reply of IBP",
    "fewer_bytes": r"closed early",
    "more_bytes": "",
    "promises_more": r"answers with \d+ bytes instead of \d+",
    "sends_less": "",
    "sends_none": r"server timed out \(-46\)",
    "is_unknown": r"capability not found \(-4\)",
    "is_unknown_elsewhere": r"capability not found \(-4\)",
    "wrong_key": r"invalid read capability \(-9\)",
    "unknown_version": r"protocol version not supported \(-27\)",
    "no_such_error": r"unknown error \(-9999\)",
    "busy_once": r"the depot's queue is full \(-53\)",
    "bursts_of_internal_errors": r"internal error \(-24\)",
    "lost_its_end": r"bytes|silent",
    "lost_its_end_and_says_so": r"bytes",
    "is_empty": r"has 0 bytes|no bytes|silent",
}

# What policies with redundancy, or good luck, go round unharmed.
MAY_PASS = ["never_answers", "reply_only", "resets_every_tenth",
            "one_connection", "lost_its_end", "is_empty",
            "bursts_of_internal_errors"]
SILENT = ["never_answers", "reply_only", "lost_its_end", "is_empty"]
NOT_UNDER_BASIC = ["trickles"]
BLOCKS = {"resets_every_tenth": 16 << 10, "bursts_of_internal_errors": 64 << 10}
OPTIONS = {"one_connection": ["-t", "2"]}
LIES = ["flips_bits", "another_file"]


class World(FaultWorld):
    """Two IBP depots, of which one is honest."""

    def depot(self, *args, **options):
        depot = IbpDepot(self.data, *args, **options)
        self.opened.append(depot)
        return depot

    def at_fault(self, fault):
        if fault in SILENT:
            self.silence = "1s"
        if fault == "refuses":
            gone = self.depot()
            gone.close()
            return gone
        return self.depot(fault)

    def exnode(self, depots):
        return self.lab.exnode_of("f.bin", [(0, SIZE, d.url(), 0, SIZE)
                                            for d in depots])


@pytest.fixture(name="world")
def make_world(lab):
    made = World(lab)
    yield made
    made.close()


def cells(faults):
    return [pytest.param(fault, *row, id="-".join((fault, *row)))
            for i, fault in enumerate(faults) for row in rows(i)
            if fault not in NOT_UNDER_BASIC or row[2] != "basic"]


@pytest.mark.parametrize("fault,hashes,target,algorithm", cells(TABLE))
def test_the_right_file_comes_in_spite_of(world, fault, hashes, target,
                                          algorithm):
    bad = world.at_fault(fault)
    world.block = BLOCKS.get(fault, BLOCK)
    if fault not in [*MAY_PASS, "refuses"]:
        world.honest.after = bad  # however busy the machine is
    run = world.run([bad, world.honest], hashes, target, algorithm,
                    *OPTIONS.get(fault, []))
    assert run.rc == 0, run.err
    assert world.got(run, target) == world.data
    assert (run.report["verified"] == "sha-256") == (hashes != "none")
    assert row_of(run, world.honest)["error"] is None
    error = row_of(run, bad)["error"]
    if TABLE[fault] and (error or fault not in MAY_PASS):
        assert error and re.search(TABLE[fault], error), (fault, error)
    elif not TABLE[fault]:
        assert error is None
    assert "#" not in run.err and "/READ" not in run.err
    if fault not in ("refuses", *MAY_PASS):
        assert_bounded(bad)


@pytest.mark.parametrize("fault,hashes,target,algorithm", cells(LIES))
def test_a_lie_is_found_where_something_can_tell(world, fault, hashes, target,
                                                 algorithm):
    bad = world.at_fault(fault)
    world.honest.after = bad
    run = world.run([bad, world.honest], hashes, target, algorithm)
    if hashes == "pieces" or (hashes == "whole" and target == "file"):
        assert run.rc == 0, run.err
        assert world.got(run, target) == world.data
        assert "wrong bytes" in row_of(run, bad)["error"]
    elif run.rc != 4:  # a rare bit may lie where nothing was compared
        assert fault == "flips_bits" and "not verified" in run.err


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_file_comes_from_ibp_depots_and_web_servers_together(lab, algorithm):
    data = lab.file("f.bin", SIZE)
    web = lab.depot(rate=1_500_000)
    with IbpDepot(data, delay=0.05) as ibp:
        run = lab.xdownload(
            lab.exnode_of("f.bin", [(0, SIZE, d.url("f.bin"), 0, SIZE)
                                    for d in (web, ibp)]),
            "-a", algorithm, "-b", "128k")
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data
        assert ibp.bytes_sent() > 0 and web.bytes_sent() > 0
        assert ibp.probes == 0  # the exNode says what is there


def test_requests_go_over_connections_that_are_kept(world):
    run = world.run([world.honest], "whole", "file", "basic", "-b", "64k",
                    "-t", "2")
    assert run.rc == 0, run.err
    assert len(world.honest.log) >= SIZE // (64 << 10)
    assert world.honest.accepted == 2


def test_no_request_waits_for_ever_or_asks_beyond_what_is_written(world):
    run = world.lab.xdownload(world.exnode([world.honest]), "-o", "f.bin")
    assert run.rc == 0, run.err
    for e in world.honest.log:
        assert int(e.words[6]) > 0
        assert e.first + e.length <= SIZE


def test_a_byte_array_that_is_not_full_is_read_as_far_as_it_is(world):
    """The allocation may be larger, which no request must wait for."""
    held = world.honest.held
    held.size = 10 * SIZE
    run = world.lab.xdownload(world.lab.exnode_of("f.bin", [
        (0, SIZE, world.honest.url(), 0, 10 * SIZE)]), "-o", "f.bin")
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data


@pytest.mark.parametrize("how", ["list", "metalink"])
def test_a_size_that_nobody_says_is_asked_of_the_depot(world, how):
    url = world.honest.url()
    text = url + "\n" if how == "list" else (
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f.bin">'
        f"<url>{url}</url></file></metalink>")
    run = world.lab.xdownload(world.lab.write("m", text), "-o", "f.bin")
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert world.honest.probes >= 1
    assert all(e.first + e.length <= SIZE for e in world.honest.log)


@pytest.mark.parametrize("address", ["::1", "[::1]"])
def test_a_depot_may_be_at_an_ipv6_address(lab, address):
    data = bytes_of(SIZE)
    try:
        depot = IbpDepot(data, address="::1")
    except OSError as e:
        pytest.skip(f"no IPv6 here: {e}")
    with depot:
        url = depot.url().replace("[::1]", address)
        run = lab.xdownload(lab.exnode_of("f.bin", [(0, SIZE, url, 0, SIZE)]))
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data


def test_a_player_reads_from_ibp_depots_and_seeks(world):
    served = Served(world.lab, world.exnode([world.honest]))
    for first, last in ((2_000_000, 2_099_999), (0, 9), (SIZE - 10, SIZE - 1)):
        answer, body = served.ask(Range=f"bytes={first}-{last}")
        assert answer.status == 206
        assert body == world.data[first:last + 1]


def test_a_rate_is_kept_to(world):
    began = time.monotonic()
    run = world.run([world.honest], "whole", "file", "adaptive",
                    "--limit-rate", "1m")
    assert run.rc == 0, run.err
    assert 1.5 <= time.monotonic() - began <= 6


@pytest.mark.parametrize("fault", ["never_answers", "reply_only"])
def test_a_silent_depot_does_not_hold_up_a_cancel(world, fault):
    bad = world.at_fault(fault)
    world.silence = "60s"
    process = world.start([bad], "none", "file", "adaptive")
    wait_until(lambda: bad.log, "a request")
    began = time.monotonic()
    process.send(signal.SIGTERM)
    assert process.wait().rc == 130
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("fault", [
    pytest.param("lost_its_end", marks=pytest.mark.slow), "is_empty"])
def test_alone_a_depot_that_lost_bytes_ends_the_run(world, fault):
    """The original tools wait for ever for them."""
    bad = world.at_fault(fault)
    run = world.run([bad], "none", "file", "progress", "--retry", "2",
                    "--patience", "3s")
    assert run.rc == 1
    assert bad.probes >= 1
    assert not (world.lab.work / "f.bin").exists()


@pytest.mark.parametrize("fault", ["sends_less", "closes_after_each",
                                   "more_bytes", "busy_once",
                                   "one_connection"])
def test_alone_what_passes_by_itself_is_waited_for(world, fault):
    bad = world.at_fault(fault)
    run = world.run([bad], "none", "file", "progress")
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data


def test_a_connection_that_was_closed_while_kept_costs_no_failure(world):
    bad = world.at_fault("closes_after_each")
    run = world.run([bad], "none", "file", "basic", "-b", "128k", "-t", "1")
    assert run.rc == 0, run.err
    assert row_of(run, bad)["failures"] == 0


def test_the_environments_proxy_for_the_web_is_not_for_ibp(world):
    world.lab.environment["http_proxy"] = "http://127.0.0.1:1"
    run = world.lab.xdownload(world.exnode([world.honest]))
    assert run.rc == 0, run.err


def test_a_proxy_that_is_named_is_gone_through(world):
    class Proxy:
        """It answers CONNECT, and passes on what comes."""

        def __init__(self):
            self.socket = socket.create_server(("127.0.0.1", 0))
            self.heads = []

        def serve(self):
            while True:
                client, _ = self.socket.accept()
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(4096)
                self.heads.append(head.decode())
                to = socket.create_connection(
                    ("127.0.0.1", world.honest.port))
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                for a, b in ((client, to), (to, client)):
                    threading.Thread(target=pump, args=(a, b),
                                     daemon=True).start()

    def pump(a, b):
        while part := a.recv(65536):
            b.sendall(part)
        b.shutdown(socket.SHUT_WR)

    proxy = Proxy()
    threading.Thread(target=proxy.serve, daemon=True).start()
    run = world.lab.xdownload(
        world.exnode([world.honest]), "--proxy",
        "http://127.0.0.1:%d" % proxy.socket.getsockname()[1])
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data
    assert proxy.heads[0].startswith(f"CONNECT {world.honest.host} ")
    assert "IBP" not in "".join(proxy.heads)


def test_a_proxy_that_wants_tls_is_not_gone_through(world):
    run = world.lab.xdownload(world.exnode([world.honest]), "--proxy",
                              "https://127.0.0.1:1")
    assert run.rc == 1
    assert "IBP cannot go through a proxy that is reached by https" in run.err
    assert not world.honest.log


def test_the_tools_own_requests_work_on_the_depot():
    """That what the other tests run against is a depot at all."""
    with IbpDepot() as depot, \
            socket.create_connection(("127.0.0.1", depot.port)) as s, \
            s.makefile("rwb", buffering=0) as f:
        def ask(words, data=b""):
            f.write(words.encode() + b"\n" + data)
            return f.readline().decode()
        caps = ask("0 1 2 1 3600 1000000 20").split()
        assert caps[0] == "1" and caps[1].endswith("/READ")
        read, write, _ = (c.split("/") for c in caps[1:])
        assert ask(f"0 2 {write[3]} {write[4]} 5 20 ", b"hello") == "1 \n"
        assert f.readline() == b"1 5 \n"
        assert ask(f"0 8 {read[3]} {read[4]} 1 3 20 ") == "1 3 \n"
        assert f.read(3) == b"ell"
        assert ask(f"0 9 {read[3]} {read[4]} 40 0 0 0 0 20").startswith(
            "1 1 1 5 1000000 ")
        assert ask("0 8 k 1 0 5 20 ") == " -4 \n"
        assert ask(f"0 8 {read[3]} 0 0 5 20 ") == " -9 \n"
        assert ask(f"0 8 {read[3]} {read[4]} 2 9 1 ") == "1 3 \n"
        assert f.read(3) == b"llo"
        assert ask("0 4 1 ibp 20").split()[0] == "200"
        assert ask("nonsense") == "-27 \n"


# ---- what an exNode says beside where the bytes are ----

def metadata(name, kind, value):
    return (f'<exnode:metadata name="{name}" type="{kind}">{value}'
            "</exnode:metadata>\n")


def lors_exnode(depot, size, block=0, more=""):
    """As lors_upload writes it; block: that of `checksum`."""
    a = depot.held
    functions = "" if not block else (
        '<exnode:function name="checksum"><exnode:argument name="blocksize" '
        f'type="integer">{block + 33}</exnode:argument></exnode:function>')
    return ('<?xml version="1.0"?>\n'
            '<exnode xmlns:exnode="http://loci.cs.utk.edu/exnode">\n'
            + metadata("Version", "string", "3.0")
            + metadata("created", "integer", 1795217775)
            + metadata("duration", "double", "86400.000000")
            + metadata("filename", "string", "f.bin")
            + metadata("lorsversion", "double", "2.000000")
            + metadata("mode", "string", "file")
            + metadata("parent", "string", "")
            + metadata("size", "integer", size)
            + "<exnode:mapping>\n"
            + metadata("alloc_length", "integer", len(depot.stored))
            + metadata("alloc_offset", "integer", 0)
            + metadata("e2e_blocksize", "integer", block)
            + metadata("end", "string", "2026-11-21 23:36:15")
            + metadata("exnode_offset", "integer", 0)
            + metadata("logical_length", "integer", size)
            + metadata("start", "string", "2026-11-20 23:36:15")
            + functions + more
            + f"<exnode:read>{depot.capability(a)}</exnode:read>\n"
            f"<exnode:write>{depot.capability(a, 'WRITE')}</exnode:write>\n"
            f"<exnode:manage>{depot.capability(a, 'MANAGE')}</exnode:manage>\n"
            "</exnode:mapping>\n</exnode>\n")


def elements(text):
    """All of it, in an order of its own."""
    def of(e):
        return (e.tag, tuple(sorted(e.items())), (e.text or "").strip(),
                tuple(sorted(map(of, e))))
    return of(ElementTree.fromstring(text))


@pytest.mark.parametrize("block", [0, 4096])
def test_an_exnode_that_is_written_again_has_all_that_it_had(lab, block):
    with IbpDepot(bytes_of(100_000), frame=block) as depot:
        text = lors_exnode(depot, 100_000, block)
        run = lab.xdownload("show", "--format", "exnode", "-o", "again.xnd",
                            lab.write("f.xnd", text), report=False)
    assert run.rc == 0, run.err
    assert elements(lab.read("again.xnd")) == elements(text)
    assert lab.path("again.xnd").stat().st_mode & 0o777 == 0o600


def test_write_and_manage_capabilities_are_not_printed(lab):
    with IbpDepot(bytes_of(1000)) as depot:
        path = lab.write("f.xnd", lors_exnode(depot, 1000))
        for options in (["--format", "exnode"], ["--json"], []):
            run = lab.xdownload("show", *options, path, report=False)
            assert run.rc == 0, run.err
            printed = run.out.decode() + run.err
            assert "/WRITE" not in printed and "/MANAGE" not in printed
            assert ("left out" in run.err) == ("exnode" in options)


def test_mappings_are_listed_as_lors_ls_did(lab):
    with IbpDepot(bytes_of(1000), frame=500) as depot:
        run = lab.xdownload("show", "-v", lab.write(
            "f.xnd", lors_exnode(depot, 1000, 500)), report=False)
        assert run.rc == 0, run.err
        assert re.search(rf"(?m)^ +0 rwm +0 +1000  {depot.host}"
                         r"  2026-11-21 23:36:15  checksum$",
                         run.out.decode())
        assert depot.held.key not in run.out.decode()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_checksums_of_frames_are_undone(lab, algorithm):
    data = bytes_of(SIZE)
    with IbpDepot(data, frame=131072) as depot:
        run = lab.xdownload(lab.write("f.xnd",
                                      lors_exnode(depot, SIZE, 131072)),
                            "-a", algorithm, "-b", "100000")
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data
        assert all(e.first % 131105 == 0 for e in depot.log)


def test_a_part_of_a_file_in_frames_can_be_fetched(lab):
    data = bytes_of(SIZE)
    with IbpDepot(data, frame=131072) as depot:
        run = lab.xdownload(lab.write("f.xnd",
                                      lors_exnode(depot, SIZE, 131072)),
                            "-r", "1000000-1000009", "-o", "part")
        assert run.rc == 0, run.err
        assert lab.read("part") == data[1000000:1000010]


def test_a_frame_that_is_corrupt_is_named_and_not_used(lab):
    data = bytes_of(SIZE)
    with IbpDepot(data, "flips_bits", frame=131072) as depot:
        run = lab.xdownload(lab.write("f.xnd",
                                      lors_exnode(depot, SIZE, 131072)))
        assert run.rc == 4
        assert re.search(r"the frame at offset \d+ is corrupt", run.err)


def test_what_cannot_be_undone_is_refused_by_name(lab):
    more = ('<exnode:function name="xor_encrypt"><exnode:argument name="KEY" '
            'type="string">A[&amp;[q</exnode:argument></exnode:function>')
    with IbpDepot(bytes_of(1000)) as depot:
        run = lab.xdownload(lab.write("f.xnd",
                                      lors_exnode(depot, 1000, more=more)))
    assert run.rc == 3
    assert "xor_encrypt" in run.err


# ---- show --probe ----

def show(lab, depot, *options, text=None):
    path = lab.write("f.xnd", text or lors_exnode(depot, 1000))
    return lab.xdownload("show", *options, path, report=False)


def without_manage(text):
    return re.sub("<exnode:manage>.*</exnode:manage>",
                  "<exnode:manage></exnode:manage>", text)


def recorded(text, seconds):
    """The exNode, which says that it expires in so many seconds."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() + seconds))
    return text.replace("2026-11-21 23:36:15", at)


def replica_of(run):
    file, = json.loads(run.out)["files"]
    return file["extents"][0]["replicas"][0]


def hang(c):
    while not c.until_it_leaves():
        pass
    raise Hang


# What answers PROBE, and what is said of it.
PROBE_FAULTS = {
    "silent": (hang, r"no bytes for 0\.5 s"),
    "closes": (lambda c: c.reset(), r"reset|closed"),
    "refuses": (lambda c: c.reply(-10), r"invalid manage capability \(-10\)"),
    "expired": (lambda c: c.reply(-4), r"capability not found \(-4\)"),
    "busy": (lambda c: c.reply(-53), r"the depot's queue is full \(-53\)"),
    "unknown_error": (lambda c: c.reply(-9999), r"unknown error \(-9999\)"),
    "negative": (lambda c: c.reply(1, 1, 1, 1000, 1000, -5, 2, 1),
                 "is not a reply|not a reply of IBP"),
    "too_large": (lambda c: c.reply(1, 1, 1, 1 << 70, 1000, 60, 2, 1),
                  "not a reply of IBP"),
    "too_few": (lambda c: c.reply(1, 1, 1), "not a reply of IBP"),
    "too_many": (lambda c: c.reply(*[1] * 40), "not a reply of IBP"),
    "words": (lambda c: c.send(b"220 mail.example ESMTP\r\n"),
              "not a reply of IBP"),
    "endless": (lambda c: c.send(b"1 " * 2000), "not a reply of IBP"),
}


@pytest.mark.parametrize("capability", ["manage", "read"])
def test_a_depot_is_asked_how_long_a_mapping_lives(lab, capability):
    with IbpDepot(bytes_of(1000), lifetime=200_000) as depot:
        depot.held.size = 5000
        text = lors_exnode(depot, 1000)
        if capability == "read":
            text = without_manage(text)
        run = show(lab, depot, "--probe", text=text)
        assert run.rc == 0 and run.err == ""
        assert re.search(
            rf"(?m)^ +0 .* 1000  {depot.host}  2026-11-21 23:36:15"
            r"  expires in 2 d 7 h, 1000 of 5000 bytes written"
            + (r" \(asked by its read capability\)$" if capability == "read"
               else "$"), run.out.decode())
        shown = replica_of(show(lab, depot, "--probe", "--json", text=text))
        assert shown["rights"] == ("rwm" if capability == "manage" else "rw")
        assert shown["expires"] == "2026-11-21 23:36:15"
        assert shown["functions"] is None
        probe = shown["probe"]
        assert 190_000 < probe.pop("expires_in") <= 200_000
        assert probe == {"capability": capability, "written": 1000,
                         "allocated": 5000, "error": None}
        key = depot.held.keys[2 if capability == "manage" else 0]
        assert [w[3] for w in depot.requests] == [key, key]
        assert all(int(w[-1]) > 0 for w in depot.requests)


@pytest.mark.parametrize("fault", PROBE_FAULTS)
def test_a_depot_that_does_not_say_how_long_is_told_of(lab, fault):
    with IbpDepot(bytes_of(1000)) as depot:
        depot.answer_probe, words = PROBE_FAULTS[fault]
        options = ["--probe", "--silence", "500ms"]
        run = show(lab, depot, *options)
        assert run.rc == 0, run.err
        line, = (ln for ln in run.out.decode().splitlines()
                 if depot.host in ln)
        assert re.search(words, line), line
        probe = replica_of(show(lab, depot, *options, "--json"))["probe"]
        assert re.search(words, probe["error"])
        assert probe["expires_in"] is probe["written"] is None
        assert depot.held.key not in run.out.decode() + run.err


def test_a_depot_that_is_gone_is_told_of_beside_one_that_is_not(lab):
    with IbpDepot(bytes_of(1000)) as depot, IbpDepot(bytes_of(1000)) as gone:
        gone.close()
        path = lab.exnode_of("f.bin", [(0, 1000, d.url(), 0, 1000)
                                       for d in (gone, depot)])
        run = lab.xdownload("show", "--probe", path, report=False)
        assert run.rc == 0, run.err
        lines = run.out.decode().splitlines()[-2:]
        assert "onnect" in lines[0] and "expires in" in lines[1]


def test_web_servers_are_not_asked_how_long(lab):
    lab.file("f.bin", 1000)
    web = lab.depot()
    path = lab.exnode_of("f.bin", [(0, 1000, web.url("f.bin"), 0, 1000)])
    run = lab.xdownload("show", "--probe", path, report=False)
    assert run.rc == 0 and run.err == ""
    assert replica_of(lab.xdownload("show", "--probe", "--json", path,
                                    report=False))["probe"] is None


@pytest.mark.parametrize("seconds,words", [
    (7559, "mapping 0 on {} expires in 2 h 5 min"),
    (86390, "mapping 0 on {} expires in 23 h 59 min"),
    (200_000, None)])
def test_what_the_depot_will_drop_within_a_day_is_warned_of(lab, seconds,
                                                            words):
    with IbpDepot(bytes_of(1000), lifetime=seconds) as depot:
        # What was recorded says nothing beside the depot's answer.
        run = show(lab, depot, "--probe",
                   text=recorded(lors_exnode(depot, 1000), -90_000))
        assert run.rc == 0
        assert (words.format(depot.host) in run.err) if words \
            else run.err == ""
        assert show(lab, depot, "--probe", "-q").err == ""


@pytest.mark.parametrize("option", ["-v", "--json", "--probe"])
@pytest.mark.parametrize("seconds,words", [
    (-5, "mapping 0 on {} expired at 2"),
    (7559, "mapping 0 on {} expires in 2 h 5 min, as recorded"),
    (200_000, None)])
def test_what_is_recorded_to_expire_is_warned_of(lab, option, seconds, words):
    with IbpDepot(bytes_of(1000)) as depot:
        depot.answer_probe = lambda c: c.reply(-4)
        run = show(lab, depot, option,
                   text=recorded(lors_exnode(depot, 1000), seconds))
        assert run.rc == 0
        assert (words.format(depot.host) in run.err) if words \
            else run.err == ""
        assert ("--probe" in run.err) == (words is not None
                                          and option != "--probe")


def test_of_many_that_expire_some_are_named(lab):
    with IbpDepot() as depot:
        held = [depot.hold(b"x" * 10, lifetime=119) for _ in range(30)]
        path = lab.exnode_of("f.bin", [
            (i * 10, 10, depot.capability(a), 0, 10)
            for i, a in enumerate(held)])
        run = lab.xdownload("show", "--probe", path, report=False)
        assert run.rc == 0
        assert run.err.count("expires in 1 min") == 10
        assert "and 20 more like these" in run.err


def test_a_silent_depot_does_not_hold_up_the_end_of_show(lab):
    with IbpDepot(bytes_of(1000)) as depot:
        depot.answer_probe = hang
        run = show(lab, depot, "--probe", "--max-time", "500ms",
                   "--silence", "60s")
        assert run.rc == 0
        assert "has not answered in the time allowed" in run.out.decode()


def test_probe_and_format_exclude_each_other(lab):
    with IbpDepot(bytes_of(1000)) as depot:
        run = show(lab, depot, "--probe", "--format", "exnode")
        assert run.rc == 2 and "--probe" in run.err
