# SPDX-License-Identifier: MIT
"""URLs that are typed, or listed without more, and claim to be copies."""
import hashlib
import re

import pytest

from lab import bytes_of

MIB = 1 << 20
SMALL, LARGE = 200_000, 3 * MIB


def hosts(run):
    return {d["host"] for d in run.report["depots"]}


def offered(lab, how, urls):
    """The arguments that offer these URLs in one of two ways."""
    return urls if how == "typed" else [
        lab.write("list.txt", "".join(u + "\n" for u in urls))]


HOW = pytest.mark.parametrize("how", ["typed", "listed"])


def with_one_other_byte(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def depots_of(lab, contents, name="f.bin"):
    return [lab.depot(files={name: content}) for content in contents]


def is_named(run, depot):
    url = depot.url("f.bin")
    return (re.search(f"warning: {url}: its bytes differ from those of most", run.err)
            or re.search(f"warning: {url} has \\d+ bytes, but most others have \\d+: "
                         "it is not used", run.err)
            or re.search(f"{url}: its bytes within .* are not those of", run.err)
            ) is not None


# ---- one name ----

# What the depots have, a letter for each file, and which of them is fetched.
MAJORITIES = ["aab", "baa", "aba", "aaab", "baaa", "aabc"]
MAJORITIES_OF_VOTES = [m for m in MAJORITIES if m.count("a") * 2 > len(m)]
TIES = ["ab", "aabb", "abc", "aabc"]


def content_of(letter, size, kind):
    """Files that differ in size, in one byte of a short file, or everywhere."""
    data = bytes_of(size, seed=1)
    if letter == "a":
        return data
    if kind == "size":
        return bytes_of(size + ord(letter), seed=2)
    if size == SMALL:
        return with_one_other_byte(data, ord(letter) * 1000)
    return bytes_of(size, seed=ord(letter))


KINDS = pytest.mark.parametrize("size, kind, how", [
    (SMALL, "size", "typed"), (SMALL, "byte", "listed"),
    (LARGE, "size", "listed"), (LARGE, "bytes", "typed")])


@KINDS
@pytest.mark.parametrize("has", MAJORITIES_OF_VOTES)
def test_the_majority_decides_and_the_others_are_named(lab, has, how, size,
                                                       kind):
    depots = depots_of(lab, [content_of(c, size, kind) for c in has])
    run = lab.xdownload(*offered(lab, how, [d.url("f.bin") for d in depots]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == content_of("a", size, kind)
    # A long file is begun once most have agreed; then others are compared as they
    # deliver, if they deliver anything.
    is_begun_early = (size, how) == (LARGE, "typed")
    for letter, depot in zip(has, depots):
        if letter == "a" or not is_begun_early:
            assert is_named(run, depot) == (letter != "a")
            assert (depot.host in hosts(run)) == (letter == "a")


@KINDS
@pytest.mark.parametrize("has", TIES)
def test_without_a_majority_nothing_is_written(lab, has, how, size, kind):
    depots = depots_of(lab, [content_of(c, size, kind) for c in has])
    run = lab.xdownload(*offered(lab, how, [d.url("f.bin") for d in depots]))
    assert run.rc == 4
    assert "these are not copies of one file" in run.err
    for letter in has[0] + next(c for c in has if c != has[0]):
        depot = depots[has.index(letter)]
        n = len(content_of(letter, size, kind))
        assert f"{depot.url('f.bin')} has {n} bytes" in run.err
    assert ("and their bytes differ" in run.err) == (kind != "size")
    assert [p.name for p in lab.work.iterdir()] == (
        ["list.txt"] if how == "listed" else [])


@pytest.mark.parametrize("has", ["ab", "ba"])
def test_a_checksum_decides_where_no_majority_does(lab, has):
    depots = depots_of(lab, [content_of(c, LARGE, "bytes") for c in has])
    data = content_of("a", LARGE, "bytes")
    run = lab.xdownload("--checksum",
                        "sha-256=" + hashlib.sha256(data).hexdigest(),
                        *[d.url("f.bin") for d in depots])
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_an_error_page_among_mirrors_is_named_with_its_size(lab):
    data = lab.file("f.bin", LARGE)
    page = lab.depot(files={"f.bin": b"<html>" + b"x" * 494})
    run = lab.xdownload(page.url("f.bin"),
                        *[d.url("f.bin") for d in lab.depots(4)])
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert re.search(f"{page.url('f.bin')}:? has 500 bytes(, but most others have"
                     f"| instead of) {LARGE}", run.err)


def test_paths_on_one_host_have_one_vote_but_are_two_replicas(lab):
    good, bad = bytes_of(LARGE, seed=1), bytes_of(LARGE, seed=2)
    two = lab.depot(files={"a/f.bin": bad, "b/f.bin": bad})
    one = lab.depot(files={"f.bin": good})
    urls = [two.url("a/f.bin"), two.url("b/f.bin"), one.url("f.bin")]
    run = lab.xdownload(*urls)
    assert run.rc == 4, run.err  # one host against one
    three = lab.depot(files={"f.bin": good})
    run = lab.xdownload(*urls, three.url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == good
    for url in urls[:2]:  # each was asked
        assert f"warning: {url}: its bytes differ" in run.err


def test_two_files_on_one_host_are_compared_too(lab):
    depot = lab.depot(files={"a/f.bin": bytes_of(LARGE, seed=1),
                             "b/f.bin": bytes_of(LARGE, seed=2)})
    run = lab.xdownload(depot.url("a/f.bin"), depot.url("b/f.bin"))
    assert run.rc == 4
    assert "and their bytes differ" in run.err


def test_urls_that_do_not_answer_are_tried_if_the_file_is_long(lab):
    data = lab.file("f.bin", LARGE)
    depots = [lab.dead(), lab.silent(), lab.depot(status=503), lab.depot()]
    run = lab.xdownload("-o", "out", *[d.url("f.bin") for d in depots])
    assert run.rc == 0, run.err
    assert lab.read("out") == data
    assert len(run.report["depots"]) == 4


def test_of_a_short_file_they_are_left_out(lab):
    data = lab.file("f.bin", SMALL)
    depots = [lab.dead(), lab.depot()]
    run = lab.xdownload(*[d.url("f.bin") for d in depots])
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert f"{depots[0].url('f.bin')}: could not be compared" in run.err
    dead = next(d for d in run.report["depots"] if d["host"] == depots[0].host)
    assert dead["state"] == "failed" and dead["failures"] == 1


@pytest.mark.parametrize("size", [0, 1000, SMALL, 300_000, LARGE])
@pytest.mark.parametrize("status", [404, 500, 503])
def test_typed_mirror_that_fails_is_named_with_its_failure(lab, size, status):
    """However short the run is."""
    data = lab.file("f.bin", size)
    bad = lab.depot(status=status)
    run = lab.xdownload(bad.url("f.bin"), lab.depot().url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert f"failed: {bad.url('f.bin')}: answered {status}\n" in run.err
    assert "had not answered" not in run.err
    row = next(d for d in run.report["depots"] if d["host"] == bad.host)
    assert row["failures"] > 0 and row["requests"] >= row["failures"]
    assert row["error"] == f"{bad.url('f.bin')}: answered {status}"


def test_depots_without_ranges_are_compared_by_their_size(lab):
    data = lab.file("f.bin", LARGE)
    other = lab.depot(files={"f.bin": bytes_of(LARGE + 1)}, ranges=False)
    run = lab.xdownload(*[d.url("f.bin") for d in
                          [other, lab.depot(), lab.depot(ranges=False)]])
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert re.search(f"{other.url('f.bin')}:? has {LARGE + 1} bytes", run.err)


def ranges(depot):
    return [r["range"] for r in depot.requests()]


def test_of_a_long_file_only_the_first_bytes_are_asked_for_before(lab):
    data = lab.file("f.bin", LARGE)
    depots = [lab.depot(), lab.depot()]
    run = lab.xdownload(*[d.url("f.bin") for d in depots])
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    for depot in depots:
        assert ranges(depot)[0] == "bytes=0-8191"
        assert ranges(depot).count("bytes=0-8191") == 1
        # What follows is the download and its samples of 4 KiB.
        assert not any(r.startswith("bytes=8192-") for r in ranges(depot))


def test_a_long_manifest_among_urls_is_read_to_its_end(lab):
    """Its first bytes do not tell what it names."""
    lab.file("f.bin", LARGE)
    depot = lab.depot()
    rest = "".join(f"<!-- {i} -->\n" for i in range(2000))
    text = ('<?xml version="1.0"?>\n' + rest + '<metalink xmlns="urn:ietf:params:'
            f'xml:ns:metalink"><file name="f.bin"><url>{depot.url("f.bin")}</url>'
            "</file></metalink>")
    named = lab.depot(files={"m.meta4": text.encode()})
    run = lab.xdownload(named.url("m.meta4"), depot.url("f.bin"))
    assert run.rc == 2
    assert f"{named.url('m.meta4')} is a manifest, but" in run.err


# ---- different names ----

@HOW
@pytest.mark.parametrize("same_host", [False, True])
@pytest.mark.parametrize("sizes", [(SMALL, LARGE), (LARGE, SMALL)])
def test_different_files_do_not_become_one(lab, sizes, same_host, how):
    names = ["small.bin", "d.iso"]
    files = {n: bytes_of(size) for n, size in zip(names, sizes)}
    depots = [lab.depot(files=files)] * 2 if same_host else [
        lab.depot(files=files), lab.depot(files=files)]
    urls = [d.url(n) for d, n in zip(depots, names)]
    run = lab.xdownload(*offered(lab, how, urls))
    assert run.rc == 2
    for url, size in zip(urls, sizes):
        assert f"{url} has {size} bytes" in run.err
    assert "-i fetches each" in run.err and "--same-file" in run.err
    assert not list(lab.work.glob("*.bin*")) and not lab.path("d.iso").exists()


def test_one_that_differs_from_many_is_enough(lab):
    good, bad = bytes_of(LARGE, seed=1), bytes_of(LARGE, seed=2)
    urls = [d.url("f.bin") for d in depots_of(lab, [good, good, good])]
    urls.append(depots_of(lab, [bad], "g.bin")[0].url("g.bin"))
    run = lab.xdownload(*urls)
    assert run.rc == 2
    assert "and their bytes differ" in run.err
    run = lab.xdownload("--same-file", *urls)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == good
    assert f"warning: {urls[3]}: its bytes differ" in run.err


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_files_with_different_names_may_be_copies(lab, size):
    data = bytes_of(size)
    one = lab.depot(files={"f.bin": data})
    other = lab.depot(files={"mirror-of-f": data})
    run = lab.xdownload(one.url("f.bin"), other.url("mirror-of-f"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "not verified" in run.err
    assert hosts(run) == {one.host, other.host}


def test_one_of_another_name_that_does_not_answer_is_left_out(lab):
    data = lab.file("f.bin", LARGE)
    dead = lab.dead()
    run = lab.xdownload(dead.url("g.bin"), lab.depot().url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("g.bin") == data
    assert f"{dead.url('g.bin')}: could not be compared, and is not used" \
        in run.err


def test_different_names_that_do_not_answer_are_not_tried(lab):
    dead = [lab.dead(), lab.dead()]
    run = lab.xdownload("--retry", "1", *offered(
        lab, "listed", [dead[0].url("f.bin"), dead[1].url("g.bin")]))
    assert run.rc == 1
    assert dead[0].host in run.err
    assert not lab.path("f.bin.part").exists()


# ---- what is not compared ----

def test_a_metalink_says_itself_what_is_a_copy(lab):
    data = lab.file("f.bin", SMALL)
    depots = lab.depots(2)
    run = lab.xdownload(lab.metalink("f.bin", depots))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "bytes=0-32767" not in [r["range"] for d in depots
                                   for r in d.requests()]


def test_nothing_is_asked_to_show_a_list(lab):
    depots = lab.depots(2)
    run = lab.xdownload("show", lab.urls("f.bin", depots), report=False)
    assert run.rc == 0, run.err
    assert not any(d.requests() for d in depots)
