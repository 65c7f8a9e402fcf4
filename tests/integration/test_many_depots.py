# SPDX-License-Identifier: MIT
"""Many depots, of which almost none is of use: dead ones cost little, and the
good one is found soon.
"""
import socket

import pytest
from lab import Depot, bytes_of
from test_names import NameServer, name_servers  # noqa: F401 (a fixture)

SIZE = 300_000
N = 2000


def refused_addresses(lab):
    """URLs of as many hosts on which nobody listens."""
    port = lab.dead().host.split(":")[1]
    return [f"http://127.77.{i // 256}.{i % 256}:{port}/f.bin"
            for i in range(N)]


def metalink(urls, size=f"<size>{SIZE}</size>"):
    return ('<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
            f'<file name="f.bin">{size}'
            + "".join(f"<url>{u}</url>" for u in urls) + "</file></metalink>")


def fetch(lab, urls, kind, *options):
    if kind == "typed":
        name = lab.write("many.txt", "\n".join(urls) + "\n")
    else:
        name = lab.write("many.meta4", metalink(urls))
    return lab.xdownload(name, "-o", "f.bin", *options)


@pytest.mark.parametrize("algorithm", ["adaptive", "progress"])
@pytest.mark.parametrize("kind", ["typed", "metalink"])
def test_a_good_depot_behind_two_thousand_that_refuse_is_found(
        lab, kind, algorithm):
    data = lab.file("f.bin", SIZE)
    urls = refused_addresses(lab) + [lab.depot().url("f.bin")]
    run = fetch(lab, urls, kind, "--algorithm", algorithm)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert run.seconds < 20  # a second where there is nothing else to do


@pytest.mark.parametrize("algorithm", ["adaptive", "progress"])
@pytest.mark.parametrize("kind", ["typed", "metalink"])
@pytest.mark.parametrize("n", [2, 60, N])
def test_a_good_depot_without_ranges_does_not_wait_for_those_that_refuse(
        lab, n, kind, algorithm):
    """Which are not given up while this runs."""
    data = lab.file("f.bin", SIZE)
    urls = (refused_addresses(lab)[:n]
            + [lab.depot(ranges=False).url("f.bin")])
    run = fetch(lab, urls, kind, "--algorithm", algorithm, "--retry", "100",
                "--max-time", "60s")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_refused_ping_is_told_like_a_refused_request(lab):
    lab.file("f.bin", SIZE)
    urls = refused_addresses(lab)[:200] + [lab.depot().url("f.bin")]
    run = fetch(lab, urls, "metalink")
    assert run.rc == 0, run.err
    pinged = [d for d in run.report["depots"]
              if d["failures"] > 0 and d["requests"] == 0]
    assert pinged
    assert all("Failed to connect" in d["error"] for d in pinged)


def test_a_proxy_is_asked_for_all_and_nobody_is_pinged(lab):
    lab.file("f.bin", SIZE)
    urls = refused_addresses(lab)[:100]
    run = fetch(lab, urls, "metalink", "--proxy",
                "http://" + lab.dead().host, "--max-time", "2s")
    assert run.rc == 1
    assert any(d["failures"] > 0 for d in run.report["depots"])
    assert all(d["failures"] <= d["requests"] for d in run.report["depots"])


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6 here")
def test_refusals_over_ipv6_count_too(lab):
    data = lab.file("f.bin", SIZE)
    port = int(lab.dead().host.split(":")[1])
    urls = [f"http://[::1]:{1 + (port + i) % 1000}/f.bin" for i in range(300)]
    run = fetch(lab, urls + [lab.depot().url("f.bin")], "metalink")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_all_addresses_of_a_name_are_tried_and_names_not_asked_for_twice(
        lab, names):  # noqa: F811
    data = lab.file("f.bin", SIZE)
    good = lab.depot()
    port = good.host.split(":")[1]
    known = {f"dead{i}.test": ["127.77.0.1", "127.77.0.2"] for i in range(60)}
    known["good.test"] = ["127.77.0.3", "127.0.0.1"]
    server, = names("answers", addresses=known)
    urls = [Depot(f"{name}:{port}").url("f.bin") for name in known]
    run = fetch(lab, urls, "metalink")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    # For IPv4 and for IPv6; and once more by a thread whose depot before has
    # failed, which trusts no address that it knows.
    assert server.asked.count("good.test") <= 4
