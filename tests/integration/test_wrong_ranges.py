# SPDX-License-Identifier: MIT
"""Servers that name the range that was asked for, and send other bytes."""
import functools
import itertools
import os
import time

import pytest

from lab import asked_range
from odd_answers import DATA, SIZE, reply, serve

NAME = "d.iso"
NOISE = os.urandom(SIZE)


def shifted(by):
    """The file, with each byte `by` places too early."""
    return DATA[by:] + DATA[:by]


def from_the_beginning(head):
    """Sends the beginning of the file in place of any range."""
    first, last = asked_range(head)
    last = SIZE - 1 if last is None else last
    return reply(206, DATA[:last + 1 - first],
                 Content_Range=f"bytes {first}-{last}/{SIZE}")


WRONG = {
    "the beginning": from_the_beginning,
    "one byte later": functools.partial(serve, data=shifted(1)),
    "one byte earlier": functools.partial(serve, data=shifted(-1)),
    "other bytes": functools.partial(serve, data=NOISE),
}


def server(wrong, every=1, wait=0.0, least=1):
    """Answers each `every`th range from byte `least` on wrongly."""
    turns = itertools.count(1)

    def answer(head):
        time.sleep(wait)
        asked = asked_range(head)
        if asked and asked[0] >= least and next(turns) % every == 0:
            return wrong(head)
        return serve(head)
    return answer


@pytest.mark.parametrize("wait", [0, 0.2], ids=["quick", "slow"])
@pytest.mark.parametrize("which", WRONG)
def test_other_bytes_are_found_by_their_neighbours(lab, which, wait):
    depot = lab.odd(server(WRONG[which], wait=wait))
    run = lab.xdownload("-o", NAME, depot.url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == DATA
    assert "the whole file is asked for in one request" in run.err


@pytest.mark.parametrize("every", [2, 3])
def test_so_are_those_of_some_answers(lab, every):
    depot = lab.odd(server(WRONG["other bytes"], every=every))
    run = lab.xdownload("-o", NAME, "--block-size", "256k", depot.url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == DATA


def test_so_are_those_of_one_of_three_mirrors(lab):
    """Of two nothing would tell which is right."""
    depots = [lab.odd(server(WRONG["the beginning"])), lab.odd(serve),
              lab.odd(serve)]
    run = lab.xdownload(lab.urls(NAME, depots))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == DATA


def test_a_server_without_an_answer_that_agrees_fails(lab):
    """Its answer to a request for the whole has none of the bytes of its ranges, and
    it does not answer it to the end."""
    def answer(head):
        if asked_range(head):
            return server(WRONG["other bytes"])(head)
        return reply(503)
    run = lab.xdownload("--patience", "2s", "-o", NAME, lab.odd(answer).url(NAME))
    assert run.rc == 1
    assert not lab.path(NAME).exists()


def test_bytes_that_are_compared_are_no_duplicates(lab):
    depot = lab.odd(serve)
    run = lab.xdownload("-o", NAME, depot.url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == DATA
    [said] = run.report["depots"]
    assert said["bytes"] == SIZE and said["bytes_redundant"] == 0
