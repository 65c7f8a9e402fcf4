# SPDX-License-Identifier: MIT
"""xdownload check --heal that was broken off: what a later one takes over of it, and what
it removes."""
import contextlib
import re
import time
from hashlib import sha256

import pytest

from coded import (MIB, add, assert_fetched, assert_parity, heal, put, shown, six,
                   source, stores, to)
from lab import Lab, wait_until


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


SHORT = ["--extent", "256k"]


def text_of(lab, name):
    """What is in a file that may be replaced meanwhile; or nothing."""
    with contextlib.suppress(FileNotFoundError):
        return lab.path(name).read_text()
    return ""


PRIVATE = "film.bin.private.xnd"


def is_noted(lab, path):
    """Whether the object is known to be there: it is more than pending."""
    return f"{path}<" in text_of(lab, PRIVATE) or any(
        line.startswith("there ") and path in line and line.endswith("\n")
        for line in text_of(lab, PRIVATE + ".journal").splitlines(True))


def interrupted(lab, new, *words, gone=None, until=None):
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
            gone.url + "[0-9a-f]*-0<", text_of(lab, PRIVATE)), "a drop")
    if until:
        wait_until(until, "what it is to do first")
    run.kill()
    run.popen.wait()
    new.rate = 0
    return made()


def assert_copies(lab, data, *depots, late=0):
    """Each byte has one on each of these, which have no other objects, but some that
    came there after their command was killed."""
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
        assert 0 <= len(d.objects) - len(at[d.url]) <= late


def stores_of(extent):
    return {r["url"].rsplit("/", 1)[0] + "/" for r in extent["replicas"]}


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
        assert_copies(lab, data, good, new, slow, late=2)


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


# ---- copies of which none is right as a whole ----

def spoil(depot, at, length=1000):
    """Some bytes of its first object."""
    path = next(p for p in depot.objects if p.endswith(("-0", "a")))
    there = bytearray(depot.objects[path])
    there[at:at + length] = bytes(b ^ 1 for b in there[at:at + length])
    depot.objects[path] = bytes(there)


def name(lab, mappings):
    """In a manifest without hashes: (offset, length, URL) of each."""
    lab.path("film.bin.xnd").write_text(
        '<exnode xmlns:e="http://loci.cs.utk.edu/exnode">'
        '<e:metadata name="filename" type="string">film.bin</e:metadata>'
        + "".join(
            "<e:mapping>" + "".join(
                f'<e:metadata name="{word}" type="string">{value}</e:metadata>'
                for word, value in (("exnode_offset", at), ("logical_length", n)))
            + f"<e:read>{url}</e:read></e:mapping>"
            for at, n, url in mappings) + "</exnode>")


def test_what_nothing_would_prove_is_not_put_together(lab):
    """There are no hashes, and a majority at each place is no good copy; the rest is
    replaced."""
    data = source(lab, MIB)
    half = MIB // 2
    with six() as depots:
        *three, good, new = depots[:5]
        for d, at in zip(three, (1000, 200000, 400000)):
            d.objects["/dav/a"] = data[:half]
            spoil(d, at)
        good.objects["/dav/b"] = data[half:]
        name(lab, [(0, half, d.url + "a") for d in three]
             + [(half, half, d.url + "b") for d in (good, depots[5])])
        run = heal(lab, [new], "--full")
        assert run.rc == 1, run.err
        assert f"of {half} bytes no depot has a good copy" in run.err
        assert list(new.objects.values()) == [data[half:]]
        first, second = shown(lab)["extents"]
        assert stores_of(first) == {d.url for d in three}
        assert stores_of(second) == {good.url, new.url}


def test_where_each_copy_is_wrong_somewhere_the_rest_is_healed(lab):
    data = source(lab, 2 * MIB)
    with six() as depots:
        one, two, new = depots[:3]
        assert put(lab, [one, two], "--extent", "1m").rc == 0
        spoil(one, 1000)
        spoil(two, 900000)
        two.objects = {p: v for p, v in two.objects.items()
                       if p.endswith("-0")}
        run = heal(lab, [new], "--full")
        assert run.rc == 1, run.err
        assert "no copy of 1 extent is right as a whole" in run.err
        assert list(new.objects.values()) == [data[MIB:]]
        first, second = shown(lab)["extents"]
        assert stores_of(first) == {one.url, two.url}
        assert stores_of(second) == {one.url, new.url}


def test_that_another_extent_has_some_of_its_bytes_does_not_heal_it(lab):
    """Nor that of which the only copy is gone, and which has the others."""
    source(lab, 2 * MIB)
    with six() as depots:
        one, two, short, new = depots[:4]
        assert put(lab, [one, two]).rc == 0
        assert add(lab, [short], "--extent", "1m").rc == 0
        spoil(one, MIB + 1000)
        spoil(two, MIB + 900000)
        short.objects = {p: v for p, v in short.objects.items()
                         if p.endswith("-0")}
        run = heal(lab, [new], "--full")
        assert run.rc == 1, run.err
        assert "no copy of 2 extents is right as a whole, and they stay" in run.err
        assert not new.objects
        assert sorted(e["length"] for e in shown(lab)["extents"]) == [
            MIB, MIB, 2 * MIB]


# ---- what is removed ----

def test_what_was_replaced_before_a_heal_was_broken_off_is_removed(lab):
    """Its objects are there still, with other bytes."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, bad, new = depots[:3]
        assert put(lab, [good, bad], *SHORT).rc == 0
        bad.objects = {path: bytes(len(there))
                       for path, there in bad.objects.items()}
        interrupted(lab, new, "check", "film.bin.xnd", "--full", "--heal",
                    *to([new]), gone=bad)
        assert len(bad.objects) == 13
        run = heal(lab, [new], "--full")
        assert run.rc == 0, run.err
        assert not bad.objects
        assert_copies(lab, data, good, new)
        assert 'name="upload"' not in text_of(lab, PRIVATE)


def test_parity_that_was_replaced_before_a_heal_was_broken_off_is_removed(lab):
    data = source(lab, 5 * MIB + 3)
    with six() as depots:
        assert put(lab, depots[:1], *SHORT).rc == 0
        assert add(lab, depots[1:3], "--parity", "2+2", "--extent",
                   "64k").rc == 0
        bad, new = depots[1], depots[3]
        bad.objects = {path: bytes(len(there))
                       for path, there in bad.objects.items()}
        named = text_of(lab, PRIVATE)
        before = named.count(bad.url)
        interrupted(lab, new, "check", "film.bin.xnd", "--full", "--heal",
                    *to([new]),
                    until=lambda: text_of(lab, "film.bin.xnd").count(
                        bad.url) < before // 2)
        run = heal(lab, [new], "--full")
        assert run.rc == 0, run.err
        assert not bad.objects
        assert_parity(lab, depots[2:4], data, 2, 2)


def test_one_that_went_bad_after_another_was_replaced_is_replaced_too(lab):
    """What was made stands for the first of them."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, also, bad, one, two = depots[:5]
        assert put(lab, [good, also, bad], *SHORT).rc == 0
        bad.objects.clear()
        interrupted(lab, one, "check", "film.bin.xnd", "--heal", *to([one]),
                    gone=bad)
        also.objects.clear()
        run = heal(lab, [one, two])
        assert run.rc == 0, run.err
        for e in shown(lab)["extents"]:
            assert stores_of(e) == {good.url, one.url, two.url}
        assert_fetched(lab, data)


# ---- additions that were broken off, and heals ----

def test_what_an_addition_has_made_stands_for_nothing_that_is_bad(lab):
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        first, bad, added, new = depots[:4]
        assert put(lab, [first, bad], *SHORT).rc == 0
        made = interrupted(lab, added, "add", "film.bin.xnd", *to([added]),
                           *SHORT)
        bad.objects.clear()
        run = heal(lab, [new, added])
        assert run.rc == 0, run.err
        for e in shown(lab)["extents"]:
            urls = stores_of(e)
            assert bad.url not in urls and first.url in urls
            assert urls == {first.url, added.url, new.url} if any(
                path.endswith(f"-{e['offset']}") for path in made
            ) else len(urls) == 2
        assert lab.xdownload("check", "--full", "film.bin.xnd",
                             report=False).rc == 0
        first.objects.clear()
        assert_fetched(lab, data)


def test_parity_is_complete_before_anything_else_is_made(lab):
    source(lab, 3 * MIB + 3)
    with six() as depots:
        first, bad, parity, new = depots[:4]
        assert put(lab, [first, bad], *SHORT).rc == 0
        words = [*to([parity]), *SHORT, "--parity", "1+1"]
        interrupted(lab, parity, "add", "film.bin.xnd", *words)
        bad.objects.clear()
        for run in heal(lab, [new]), add(lab, [new]):
            assert run.rc == 1
            assert "give the same add --parity again first" in run.err
        assert not new.requests
        assert lab.xdownload("add", "film.bin.xnd", *words,
                             report=False).rc == 0
        assert heal(lab, [new]).rc == 0


def test_nothing_is_added_before_a_heal_has_come_to_its_end(lab):
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, bad, new, other = depots[:4]
        assert put(lab, [good, bad], *SHORT).rc == 0
        bad.objects.clear()
        interrupted(lab, new, "check", "film.bin.xnd", "--heal", *to([new]))
        for words in [], ["--parity", "1+1"]:
            run = add(lab, [other], *words)
            assert run.rc == 1
            assert "give the same check --heal again first" in run.err
        assert not other.requests
        assert heal(lab, [new]).rc == 0
        assert_copies(lab, data, good, new)
        assert add(lab, [other]).rc == 0
        assert_copies(lab, data, good, new, other)


def test_a_heal_comes_to_its_end_where_nothing_is_bad_any_more(lab):
    """The store that was away is there again."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, bad, new, other = depots[:4]
        assert put(lab, [good, bad], *SHORT).rc == 0
        away, bad.objects = bad.objects, {}
        interrupted(lab, new, "check", "film.bin.xnd", "--heal", *to([new]))
        bad.objects = away
        run = heal(lab, [new])
        assert run.rc == 0, run.err
        assert 'name="upload"' not in text_of(lab, PRIVATE)
        assert lab.xdownload("check", "--full", "film.bin.xnd",
                             report=False).rc == 0
        assert add(lab, [other]).rc == 0
        assert_fetched(lab, data)


def test_a_run_that_makes_nothing_keeps_what_an_earlier_one_has_noted(lab):
    """What is at its store stands for bad copies still."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, one_bad, other_bad, one, two = depots[:5]
        assert put(lab, [good, one_bad, other_bad], *SHORT).rc == 0
        one_bad.objects.clear()
        other_bad.objects.clear()
        assert heal(lab, [one]).rc == 1
        two.refused["PUT"] = 507
        assert heal(lab, [two]).rc == 1
        two.refused.clear()
        run = heal(lab, [one, two])
        assert run.rc == 0, run.err
        assert_copies(lab, data, good, one, two)


def test_nor_does_it_forget_what_is_to_be_removed(lab):
    source(lab, 3 * MIB + 3)
    with stores(None, None, "is_full_after_two", None) as (good, bad, full,
                                                           new):
        assert put(lab, [good, bad], *SHORT).rc == 0
        bad.objects = {p: bytes(len(t)) for p, t in bad.objects.items()}
        for _ in range(2):
            run = heal(lab, [full], "--full")
            assert run.rc == 1
            assert "have the same bytes" not in run.err
        run = heal(lab, [new], "--full")
        assert run.rc == 0, run.err
        assert not bad.objects


@pytest.mark.parametrize("words", [["check", "film.bin.xnd", "--heal"],
                                   ["add", "film.bin.xnd", *SHORT]])
def test_what_an_earlier_version_has_noted_is_gone_on_with(lab, words):
    """Its notes have no word for the command, and no end of what is pending."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, bad, new = depots[:3]
        assert put(lab, [good, bad], *SHORT).rc == 0
        bad.objects.clear()
        interrupted(lab, new, *words[:1], *words[1:], *to([new]))
        path = lab.path(PRIVATE)
        text = path.read_text()
        older = re.sub(r"(pending \d+) \d+", r"\1", re.sub(
            "command (add|heal)\n", "", text))
        assert older != text
        path.write_text(older)
        path.chmod(0o600)
        journal = lab.path(PRIVATE + ".journal")
        if journal.exists():
            journal.write_text(re.sub(
                r"(?m)^(pending \d+) \d+", r"\1", journal.read_text().replace(
                    sha256(text.encode()).hexdigest(),
                    sha256(older.encode()).hexdigest())))
        new.received = 0
        made = sum(map(len, new.objects.values()))
        run = lab.xdownload(*words, *to([new]), report=False)
        assert run.rc == 0, run.err
        assert new.received <= len(data) - made + 2 * (256 << 10)
        assert_fetched(lab, data)


@contextlib.contextmanager
def of_no_use(lab):
    """A heal was killed while it sent an object, which has come; and the store for which
    it healed is there again."""
    data = source(lab, 3 * MIB + 3)
    with six() as depots:
        good, bad, new = depots[:3]
        assert put(lab, [good, bad], *SHORT).rc == 0
        away, bad.objects = bad.objects, {}
        new.fault = "is_late"
        run = lab.start("check", "film.bin.xnd", "--heal", *to([new]),
                        report=False)
        wait_until(lambda: new.delayed, "an object")
        run.kill()
        run.popen.wait()
        new.fault, bad.objects = None, away
        new.put_late()
        assert new.objects
        new.holds.add("HEAD")  # the copies are there long before the store answers
        yield data, [good, bad], new
        assert 'name="upload"' not in text_of(lab, PRIVATE)


def test_what_was_under_way_is_removed_where_nothing_is_bad_any_more(lab):
    with of_no_use(lab) as (data, depots, new):
        run = lab.start("check", "film.bin.xnd", "--heal", *to([new]),
                        report=False)
        wait_until(lambda: new.held, "a look")
        time.sleep(0.3)
        new.holds.clear()
        run = run.wait()
        assert run.rc == 0, run.err
        assert not new.objects
        assert_copies(lab, data, *depots)


@pytest.mark.parametrize("words", [
    ["--max-time", "1"], pytest.param([], marks=pytest.mark.slow)])
def test_where_the_store_does_not_answer_what_is_complete_ends(lab, words):
    with of_no_use(lab) as (_, _, new):
        run = heal(lab, [new], *words)
        assert run.rc == 0, run.err
        assert new.held and run.seconds < 15
        new.holds.clear()
