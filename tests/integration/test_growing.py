# SPDX-License-Identifier: MIT
"""A file that grows while it is fetched, as a log does: the file is what there was at
the first answer."""
import functools
import os
import threading

import pytest

from lab import asked_range
from odd_answers import reply, serve

FIRST = 4_000_000
STEP = 10_000
LOG = os.urandom(3 * FIRST)
NAME = "app.log"


def field_of(head, name):
    for line in head.split("\r\n"):
        if line.lower().startswith(name.lower() + ":"):
            return line.split(":", 1)[1].strip()
    return None


class Growing:
    """A file that has STEP bytes more at each answer.  `tagged`: each length has an
    ETag, and a request with that of another length is sent all of the file."""

    def __init__(self, tagged=False, step=STEP, data=LOG, first=FIRST,
                 later=None, most=None, ranges=True):
        self.tagged, self.step, self.data = tagged, step, data
        self.ranges = ranges
        self.size, self.later = first, later
        self.most, self.n, self.lock = most, 0, threading.Lock()

    def __call__(self, head):
        with self.lock:
            self.n += 1
            data, tag = self.data[:self.size], f'"{self.size}"'
            self.size += self.step
            if self.later is not None:
                self.data = self.later
        fields = {"Content_Type": "text/plain"}
        condition = field_of(head, "If-Range")
        if self.tagged:
            fields["ETag"] = tag
        most = self.most if self.n == 1 else None
        return serve(head, data, most=most,
                     ranges=self.ranges and condition in (None, tag),
                     **fields)


SERVERS = {
    "conditions": functools.partial(Growing, tagged=True),
    "without validators": Growing,
    "broken off": functools.partial(Growing, tagged=True, most=700_000),
}


@pytest.mark.parametrize("which", SERVERS)
@pytest.mark.parametrize("output", [NAME, "-"], ids=["file", "pipe"])
def test_a_file_that_grows_is_what_it_was_at_first(lab, which, output):
    server = SERVERS[which]()
    depot = lab.odd(server)
    run = lab.xdownload("-o", output, depot.url(NAME))
    assert run.rc == 0, run.err
    assert (lab.read(NAME) if output == NAME else run.out) == LOG[:FIRST]
    assert "grew meanwhile" in run.err
    assert server.n < 30


def test_new_tags_of_a_server_without_conditions_are_of_a_file_that_grows(lab):
    """It sends any range, whatever If-Range says."""
    class Careless(Growing):
        def __call__(self, head):
            return super().__call__(head.replace("If-Range", "X"))

    run = lab.xdownload("-o", NAME, lab.odd(Careless(tagged=True)).url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == LOG[:FIRST]
    assert "grew meanwhile" in run.err


@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize("output", [NAME, "-"], ids=["file", "pipe"])
@pytest.mark.parametrize("most", [None, 700_000, 3000])
def test_a_file_that_grows_on_a_server_without_ranges(lab, most, output,
                                                      tagged):
    """Its first answer is all of it; after a break the bytes that are there are
    compared with those of a longer answer."""
    server = Growing(tagged=tagged, most=most, ranges=False)
    run = lab.xdownload("-o", output, lab.odd(server).url(NAME))
    assert run.rc == 0, run.err
    assert (lab.read(NAME) if output == NAME else run.out) == LOG[:FIRST]
    assert ("grew meanwhile" in run.err) == (most is not None)
    assert server.n <= (6 if most else 1)


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("tagged", [True, False])
def test_a_longer_file_of_other_bytes_is_another_file(lab, tagged, ranges):
    other = os.urandom(len(LOG))
    depot = lab.odd(Growing(tagged=tagged, later=other, ranges=ranges,
                            most=None if ranges else 700_000))
    run = lab.xdownload("-o", NAME, depot.url(NAME))
    assert "grew meanwhile" not in run.err
    assert run.rc != 0 or other.startswith(lab.read(NAME))


def test_a_file_that_becomes_shorter_is_another_file(lab):
    depot = lab.odd(Growing(step=-STEP))
    run = lab.xdownload("-o", NAME, depot.url(NAME))
    assert "grew meanwhile" not in run.err
    assert run.rc != 0 or len(lab.read(NAME)) < FIRST


def test_a_manifest_that_states_the_size_means_it(lab):
    depot = lab.odd(Growing(first=FIRST + STEP))
    lab.write("m.meta4", f"""<?xml version="1.0"?>
<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="{NAME}">
<size>{FIRST}</size><url>{depot.url(NAME)}</url></file></metalink>""")
    run = lab.xdownload("m.meta4")
    assert run.rc != 0
    assert "instead of" in run.err


def test_a_list_of_logs_that_grow_is_fetched(lab):
    logs = {f"{n}.log": Growing(tagged=True, data=LOG[n:]) for n in range(3)}
    depots = {name: lab.odd(log) for name, log in logs.items()}
    lab.write("list", "\n".join(
        f"{d.url(name)}\n  out={name}" for name, d in depots.items()))
    run = lab.xdownload("-i", "list")
    assert run.rc == 0, run.err
    for n in range(3):
        assert LOG[n:].startswith(lab.read(f"{n}.log"))
        assert len(lab.read(f"{n}.log")) >= FIRST
