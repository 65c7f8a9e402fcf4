# SPDX-License-Identifier: MIT
"""The command as one of the clients of a depot that serves a crowd."""
import json
import os
import re
import subprocess

import pytest

from lab import PATIENCE, bytes_of, wait_until
from served import Served
from test_headers import with_header

MIB = 1 << 20
LARGE = 320 * MIB
HEAD_START = 160 * MIB  # more than the depot takes to be in memory
RATE = "50m"
# Of disk bytes; what sanitizers slow down goes less in step.
SLACK = 1.2 if os.environ.get("XD_SANITIZED") else 1.1


@pytest.fixture(name="depot")
def one_depot(lab):
    """One that serves a file for which two clients are a crowd."""
    folder = lab.path("images")
    folder.mkdir()
    with (folder / "d.iso").open("wb") as f:
        f.truncate(LARGE)
    depot = Served(lab, folder, command="depot")
    depot.url()
    return depot


def standing(depot):
    return json.loads(depot.ask("/?format=json")[1])


def two_clients(lab, depot, *outputs):
    """One begins when the other has a half; what the depot says at the end."""
    url = depot.urls[0] + "d.iso"

    def start(output):
        return lab.start(url, "--limit-rate", RATE, "-o", output,
                         stdout=subprocess.DEVNULL)
    first = start(outputs[0])
    wait_until(lambda: standing(depot)["sent_bytes"] >= HEAD_START,
               "the first one has a half")
    second = start(outputs[1])
    for run in first.wait(PATIENCE), second.wait(PATIENCE):
        assert run.rc == 0, run.err
    return standing(depot)


# ---- what is asked for first ----

def test_the_second_client_goes_where_the_first_one_is(lab, depot):
    """What it has missed of that, it asks for at the end."""
    was = two_clients(lab, depot, "a.iso", "b.iso")
    assert was["sent_bytes"] == pytest.approx(2 * LARGE, rel=0.01)
    assert LARGE <= was["disk_bytes"] < SLACK * (LARGE + HEAD_START)
    for name in "a.iso", "b.iso":
        assert lab.path(name).stat().st_size == LARGE


def test_a_pipe_keeps_its_order(lab, depot):
    was = two_clients(lab, depot, "a.iso", "-")
    assert was["disk_bytes"] > 1.2 * (LARGE + HEAD_START)


def asked(depot):
    """Where the requests begin."""
    found = (re.search(rb"\r\nRange: bytes=(\d+)-", h) for h in heads(depot))
    return [int(f[1]) for f in found if f]


def heads(depot):
    return [h if isinstance(h, bytes) else h.encode() for h in depot.heads]


def test_any_server_may_say_what_it_would_be_asked_for(lab):
    data = bytes_of(24 * MIB)
    place = 13 * MIB
    depot = lab.odd(with_header(f"Xd-Next: bytes={place}-{place + 999}",
                                data=data))
    run = lab.xdownload(depot.url("d.bin"), "--limit-rate", "12m")
    assert run.rc == 0, run.err
    assert lab.read("d.bin") == data
    starts = asked(depot)
    assert place - 16 in starts[:5]  # so many bytes are compared


@pytest.mark.parametrize("said", [
    "bytes=99999999-999999999", "bytes=0-18446744073709551614", "bytes=9-5",
    "bytes=3145727-3145727", "bytes=1-1,2-2", "", "x" * 9000])
def test_whatever_it_says_the_file_is_right(lab, said):
    data = bytes_of(5 * MIB)
    depot = lab.odd(with_header("Xd-Next: " + said, data=data))
    run = lab.xdownload(depot.url("d.bin"))
    assert run.rc == 0, run.err
    assert lab.read("d.bin") == data
    assert run.report["bytes_redundant"] < MIB


# ---- which download it is ----

def numbers(depot):
    return [re.findall(rb"(?i)\r\nXd-Client: (.*)\r\n", h) for h in heads(depot)]


def test_all_requests_of_a_download_have_one_number_and_of_another_another(lab):
    depot = lab.odd(with_header(data=bytes_of(5 * MIB)))
    assert lab.xdownload(depot.url("d.bin")).rc == 0
    first = numbers(depot)
    assert len(first) > 1
    assert re.fullmatch(rb"[0-9a-f]{16}", first[0][0])
    assert all(n == first[0] for n in first)
    assert lab.xdownload("--force", depot.url("d.bin")).rc == 0
    others = numbers(depot)[len(first):]
    assert others and first[0] not in others
    assert all(len(n) == 1 for n in others)


def test_without_a_number_none_is_sent(lab):
    depot = lab.odd(with_header(data=bytes_of(5 * MIB)))
    assert lab.xdownload("--no-client-id", depot.url("d.bin")).rc == 0
    assert depot.heads and not any(numbers(depot))
