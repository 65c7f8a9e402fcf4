# SPDX-License-Identifier: MIT
"""Redirectors that lead to one mirror after the other, some of which lack the file."""
import functools
import itertools
import threading

import pytest

from odd_answers import DATA, Counter, reply, serve

PART = 900_000
NAME = "d.iso"


class Redirector:
    """Leads to the next of the mirrors each time."""

    def __init__(self, lab, *mirrors):
        self.turns, self.lock = itertools.cycle(mirrors), threading.Lock()
        self.n = 0
        self.depot = lab.odd(self)

    def __call__(self, head):
        with self.lock:
            self.n += 1
            return reply(302, Location=next(self.turns).url(NAME))


def good(lab):
    return lab.odd(functools.partial(serve, ETag='"e"'))


def lacking(lab, status=404):
    return lab.odd(lambda _: reply(status))


def passing(lab, status=404):
    """Sends a part of the file, and has it no more."""
    part = functools.partial(serve, ETag='"e"', most=PART)
    return lab.odd(Counter([part], lambda _: reply(status)))


LISTS = {
    "the next one": lambda lab: [passing(lab), lacking(lab), good(lab)],
    "the next ones": lambda lab: [passing(lab), lacking(lab), lacking(lab, 410),
                                  lacking(lab, 403), good(lab)],
    "the first one": lambda lab: [lacking(lab), good(lab)],
    "the first ones": lambda lab: [lacking(lab), lacking(lab), good(lab)],
    "one with another version": lambda lab: [
        passing(lab), lab.odd(lambda h: serve(h, DATA[:-5])), good(lab)],
    "one that has gone": lambda lab: [passing(lab, 410), lab.dead(), good(lab)],
}


@pytest.mark.parametrize("which", LISTS)
def test_a_redirector_is_asked_again_when_a_mirror_lacks_the_file(lab, which):
    redirector = Redirector(lab, *LISTS[which](lab))
    run = lab.xdownload("-o", NAME, redirector.depot.url("get"))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == DATA
    assert redirector.n < 20


def test_so_is_one_that_a_manifest_names(lab):
    (lab.www / NAME).write_bytes(DATA)
    redirector = Redirector(lab, passing(lab), lacking(lab), good(lab))
    run = lab.xdownload(lab.metalink(NAME, [redirector.depot]))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == DATA


def test_a_redirector_to_a_mirror_that_lacks_the_file_is_left_soon(lab):
    mirror = lacking(lab)
    redirector = Redirector(lab, mirror)
    run = lab.xdownload("-o", NAME, redirector.depot.url("get"))
    assert run.rc == 1
    assert "answered 404" in run.err
    assert redirector.n <= 4 and len(mirror.heads) <= 4


def test_a_redirector_whose_mirrors_all_lack_the_file_now_is_left(lab):
    redirector = Redirector(lab, passing(lab), lacking(lab), lacking(lab))
    run = lab.xdownload("--patience", "5s", "-o", NAME,
                        redirector.depot.url("get"))
    assert run.rc == 1
    assert "answered 404" in run.err
    assert redirector.n < 60


def test_a_404_without_a_redirect_ends_the_url(lab):
    depot = passing(lab)
    run = lab.xdownload("-o", NAME, depot.url(NAME))
    assert run.rc == 1
    assert len(depot.heads) < 10
