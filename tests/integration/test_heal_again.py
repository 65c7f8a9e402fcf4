# SPDX-License-Identifier: MIT
"""xdownload check --heal that was broken off: what a later one takes over of it, and what
it removes."""
import contextlib
import re

import pytest

from coded import (MIB, add, assert_fetched, assert_parity, put, shown, six,
                   source, to)
from lab import Lab, wait_until


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


SHORT = ["--extent", "256k"]


def heal(lab, depots, *words):
    return lab.xdownload("check", "film.bin.xnd", "--heal", *to(depots), *words,
                         report=False)


def lines_of(path):
    """None, where it is replaced meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text().splitlines()
    return []


def is_noted(lab, path):
    """Whether the object is known to be there: it is more than pending."""
    return any(f"{path}<" in line or line.startswith("there ") and path in line
               for p in lab.work.glob("*.private.xnd*") for line in lines_of(p))


def interrupted(lab, new, *words, gone=None):
    """A command is killed once it knows that `new` has some objects more; and once the
    manifest does not name the first object of `gone` any more.  Returns them."""
    before = set(new.objects)
    new.rate = 1e6

    def made():
        return [path for path in list(new.objects)
                if path not in before and is_noted(lab, path)]

    run = lab.start(*words, report=False)
    wait_until(lambda: len(made()) >= 3, "objects")
    if gone:
        wait_until(lambda: not re.search(
            gone.url + "[0-9a-f]*-0<",
            "\n".join(lines_of(lab.path("film.bin.private.xnd")))), "a drop")
    run.kill()
    run.popen.wait()
    new.rate = 0
    return made()


def assert_copies(lab, data, *depots):
    """Each byte has one on each of these, which have no other objects."""
    at = {}
    for e in shown(lab)["extents"]:
        want = data[e["offset"]:e["offset"] + e["length"]]
        for r in e["replicas"]:
            (d,) = [d for d in depots if r["url"].startswith(d.url)]
            path = "/" + r["url"].split("/", 3)[3]
            assert d.objects[path] == want
            at.setdefault(d.url, {})[path] = len(want)
    for d in depots:
        assert sum(at[d.url].values()) == len(data)
        assert set(at[d.url]) == set(d.objects)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_what_a_heal_has_made_and_is_lost_again_is_made_again(lab, is_wrong):
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, bad, new = depots[:3]
        assert put(lab, [good, bad], *SHORT).rc == 0
        bad.objects.clear()
        lost = interrupted(lab, new, "check", "film.bin.xnd", "--heal",
                           *to([new]))[0]
        size = len(new.objects.pop(lost))
        if is_wrong:
            new.objects[lost] = bytes(size)
        run = heal(lab, [new], "--full")
        assert run.rc == 0, run.err
        assert_copies(lab, data, good, new)
        assert lab.xdownload("check", "--full", "film.bin.xnd",
                             report=False).rc == 0
        assert_fetched(lab, data)


def test_what_was_made_by_two_names_counts(lab):
    """Half of the copies of an extent that a third heal goes on with are of the first
    one, and the second has had another name for its own."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, *bad, new, slow = depots[:5]
        words = ["check", "film.bin.xnd", "--heal", *to([new, slow])]
        assert put(lab, [good, *bad], *SHORT).rc == 0
        for d in bad:
            d.objects.clear()
        slow.rate = 1e4
        del new.objects[interrupted(lab, new, *words)[0]]
        interrupted(lab, new, *words)
        slow.rate = 0
        run = heal(lab, [new, slow])
        assert run.rc == 0, run.err
        assert_copies(lab, data, good, new, slow)


def test_what_was_made_for_what_has_left_stands_for_nothing_more(lab):
    """Both copies of an extent were made, and one of these is lost."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, *bad, one, two = depots[:5]
        words = ["check", "film.bin.xnd", "--heal", *to([one, two])]
        assert put(lab, [good, *bad], *SHORT).rc == 0
        for d in bad:
            d.objects.clear()
        two.rate = 1e6
        made = interrupted(lab, one, *words, gone=bad[0])
        two.rate = 0
        (first,) = [path for path in made if path.endswith("-0")]
        del one.objects[first]
        run = heal(lab, [one, two])
        assert run.rc == 0, run.err
        assert_copies(lab, data, good, one, two)


def test_parity_that_a_heal_has_made_and_is_lost_again_is_made_again(lab):
    data = source(lab, 5 * MIB + 3)
    with six() as depots:
        assert put(lab, depots[:1], *SHORT).rc == 0
        words = ["--parity", "2+2", "--extent", "64k"]
        assert add(lab, depots[1:3], *words).rc == 0
        depots[1].objects.clear()
        lost = interrupted(lab, depots[3], "check", "film.bin.xnd", "--heal",
                           *to(depots[3:4]))
        del depots[3].objects[lost[0]]
        run = heal(lab, depots[3:4])
        assert run.rc == 0, run.err
        assert_parity(lab, depots[2:4], data, 2, 2)
