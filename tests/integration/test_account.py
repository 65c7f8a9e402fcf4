# SPDX-License-Identifier: MIT
"""What the report says is what the depots' own logs say."""
import json
import re

import pytest

SIZE = 4_000_000
BUFFERS = 3 * 65_536  # what sockets hold of requests that were broken off


def test_bytes_and_requests_agree_with_the_logs_of_equal_depots(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(3, rate=4_000_000)
    run = lab.xdownload(lab.exnode("f.bin", depots), "-a", "basic",
                        "-b", "256k")
    assert run.rc == 0, run.err
    # For want of a hash a thousandth, and the first bytes of depots of which
    # that has none.
    sample = run.report["bytes_compared"]
    assert SIZE // 1000 <= sample <= SIZE // 1000 + 3 * 4096
    # A depot that is late is not waited for: another is asked for the sample, and
    # what both send is redundant.
    redundant = run.report["bytes_redundant"]
    assert sample <= redundant <= sample + 2 * (SIZE // 1000)
    assert run.report["bytes_received"] == SIZE + redundant
    for depot, said in zip(depots, run.report["depots"]):
        assert said["host"] == depot.host
        # Requests begin 16 bytes before their range, which are only compared.
        assert 0 <= depot.bytes_sent() - said["bytes"] - \
            said["bytes_redundant"] <= 16 * said["requests"]
        assert said["requests"] == len(depot.requests())
        assert said["failures"] == 0


@pytest.mark.parametrize("options", [
    ["-a", "aggressive", "-R", "3"],
    ["-a", "aggressive", "-R", "2", "--no-cancel"],
    ["-a", "aggressive", "-R", "2", "--whole-blocks"],
    ["-a", "progress", "-R", "2", "-P", "2"],
    ["-a", "progress", "-R", "2", "-P", "2", "--whole-blocks"],
    ["-a", "progress", "-R", "3", "-P", "0"],
])
def test_redundant_bytes_are_what_the_depots_sent_too_much(lab, options):
    data = lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=r) for r in (4_000_000, 1_500_000, 400_000)]
    run = lab.xdownload(lab.exnode("f.bin", depots), "-b", "256k", *options)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    sent = [sum(d.throttle.close()) for d in depots]
    heads = 400 * sum(d["requests"] for d in run.report["depots"])
    redundant = run.report["bytes_redundant"]
    assert redundant > 0
    assert run.report["bytes_received"] == SIZE + redundant
    assert sum(d["bytes"] for d in run.report["depots"]) == SIZE
    assert sum(d["bytes_redundant"]
               for d in run.report["depots"]) == redundant
    assert SIZE + redundant <= sum(sent)
    assert sum(sent) <= SIZE + redundant + BUFFERS + heads


def test_whole_blocks_asks_for_each_block_as_a_whole(lab):
    block = 256 << 10
    data = lab.file("f.bin", 8 * block)
    depots = [lab.depot(rate=r) for r in (2_000_000, 1_000_000, 500_000)]
    run = lab.xdownload(lab.exnode("f.bin", depots), "-b", str(block), "-a",
                        "aggressive", "-R", "2", "--whole-blocks")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    asked = [r["range"][len("bytes="):].split("-") for d in depots for r in d.requests()]
    # All but the first begin 16 bytes earlier, which are only compared.
    blocks = [int(z) + 1 - block for a, z in asked
              if int(z) - int(a) + 1 in (block, block + 16)]
    assert len(blocks) > 8  # some of them twice
    assert all(begin % block == 0 for begin in blocks)
    # Besides, only a sample is read, for want of a hash.
    assert len(asked) - len(blocks) <= 3


def test_a_block_is_never_twice_at_once_at_one_depot(lab):
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=r) for r in (3_000_000, 300_000)]
    run = lab.xdownload(lab.exnode("f.bin", depots), "-b", "256k", "-t", "3",
                        "-a", "aggressive", "-R", "4")
    assert run.rc == 0, run.err
    for depot in depots:
        starts = [r["range"].split("-")[0] for r in depot.requests()]
        assert len(starts) == len(set(starts))


def test_a_connection_is_used_for_many_requests(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-a", "basic",
                        "-b", "64k", "-t", "2")
    assert run.rc == 0, run.err
    assert len(depot.requests()) >= SIZE // 65536
    assert depot.connections() <= 3


CHANGE = re.compile(r"xdownload: 127\.0\.0\.1:\d+: up to (\d+) connections, "
                    r"(\d+) before: (.+)")


def test_why_connections_are_added_is_said_and_how_many_there_were(lab):
    """Where the machine is busy, rates differ, and more need not be tried."""
    lab.file("f.bin", 14 << 20)
    depot = lab.depot(config="limit_rate 1m;")
    for _ in range(4):
        run = lab.xdownload("-v", "--progress", "json", "--force",
                            lab.exnode("f.bin", [depot]))
        assert run.rc == 0, run.err
        changes = CHANGE.findall(run.err)
        if ("6", "3") in [c[:2] for c in changes]:
            break
    assert changes[0] == ("3", "2",
                          "all deliver the same rate, trying one more")
    assert ("6", "3") in [c[:2] for c in changes]
    assert run.report["depots"][0]["connections"] == 6
    lines = [json.loads(line) for line in run.err.splitlines()
             if line.startswith("{")]
    assert max(line["connections"] for line in lines) >= 4
    assert lines[-1]["connections"] == 0


def test_requests_of_http_2_share_one_connection_in_the_report(lab):
    """Also where both were sent before the first of them was answered."""
    lab.file("f.bin", 4 << 20)
    depot = lab.depot(certificate=lab.certificate(), rate=4_000_000, delay=100)
    run = lab.xdownload("-t", "2", "-a", "basic", "-b", "256k",
                        lab.exnode("f.bin", [depot]))
    assert run.rc == 0, run.err
    assert run.report["depots"][0]["connections"] == 1
    requests = depot.requests()
    assert {r["protocol"] for r in requests} == {"HTTP/2.0"}
    # Libcurl up to 7.88 takes a connection without requests for dead if half
    # of a TLS record has come, and opens another one.
    assert depot.connections() <= len(requests) // 4


@pytest.mark.slow
def test_a_connection_of_http_2_that_is_capped_is_not_the_only_one(lab):
    """More requests on it are tried first.  Where the machine is busy, rates
    differ, and nothing need be tried."""
    data = lab.file("f.bin", 14 << 20)
    depot = lab.depot(certificate=lab.certificate(), rate=50_000_000,
                      cap=1_000_000)
    for _ in range(4):
        run = lab.xdownload("-v", "--force", lab.exnode("f.bin", [depot]))
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data
        if run.report["depots"][0]["connections"] >= 4:
            break
    assert run.report["depots"][0]["connections"] >= 4
    assert run.report["depots"][0]["failures"] == 0
    assert re.search(r"up to 2 connections, \d requests at a time before: more "
                     "on one connection do not increase the rate", run.err)
    assert {r["protocol"] for r in depot.requests()} == {"HTTP/2.0"}


def test_where_each_request_is_capped_one_connection_of_http_2_is_enough(lab):
    """Where the machine is busy, more requests may not seem to help."""
    lab.file("f.bin", 14 << 20)
    depot = lab.depot(certificate=lab.certificate(), config="limit_rate 1m;")
    for _ in range(4):
        run = lab.xdownload("--force", lab.exnode("f.bin", [depot]))
        assert run.rc == 0, run.err
        if run.report["depots"][0]["connections"] <= 2:
            break
    assert run.report["depots"][0]["connections"] <= 2


def test_as_many_connections_of_http_2_are_made_as_the_user_wants(lab):
    lab.file("f.bin", 14 << 20)
    depot = lab.depot(certificate=lab.certificate(), rate=50_000_000,
                      cap=1_000_000)
    run = lab.xdownload("-t", "8", lab.exnode("f.bin", [depot]))
    assert run.rc == 0, run.err
    assert run.report["depots"][0]["connections"] == 8
    assert depot.connections() >= 8


def test_the_report_has_every_field(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(2)))
    assert run.rc == 0, run.err
    assert {"file", "size", "seconds", "bytes_received", "bytes_redundant",
            "outcome", "error", "verified", "algorithm", "redundancy",
            "progress_number", "block_size", "library", "libcurl",
            "depots"} <= run.report.keys()
    for depot in run.report["depots"]:
        assert {"url", "bytes", "bytes_redundant", "requests", "failures",
                "connections", "mean_rate",
                "time_to_first_byte"} <= depot.keys()
    assert run.report["file"].endswith("f.bin")
    assert run.report["size"] == SIZE
    assert run.report["outcome"] == "complete"
    assert run.report["error"] is None


def test_a_report_to_standard_error_is_json_alone_when_quiet(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("-q", "--report", "-",
                        lab.exnode("f.bin", lab.depots(2)), report=False)
    assert run.rc == 0, run.err
    assert json.loads(run.err)["size"] == SIZE
    assert run.out == b""


def test_no_report_shows_a_password(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    url = depot.url("f.bin").replace("//", "//user:secret@") + "?key=hidden"
    run = lab.xdownload("-v", url, "-o", "f.bin")
    assert run.rc == 0, run.err
    for text in (run.err, json.dumps(run.report)):
        assert "secret" not in text and "hidden" not in text

