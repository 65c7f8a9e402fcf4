# SPDX-License-Identifier: MIT
"""Web pages that stand in for a file for a while: captive portals, and limits of
download sites.  What the server had sent before stays, and it is asked again."""
import functools
import os
import threading

import pytest

from odd_answers import DATA, PAGE, SIZE, Counter, reply, serve

PART = 900_000
URL = "d.iso"


def portal(login):
    """What a portal answers to any request."""
    return {
        "page": lambda _: reply(200, PAGE, Content_Type="text/html"),
        "chunks": lambda _: reply(
            200, b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE),
            Content_Length=None, Transfer_Encoding="chunked",
            Content_Type="text/html; charset=utf-8"),
        "login": lambda _: reply(302, Location=login.url("login")),
        "gzip": lambda _: reply(200, b"\x1f\x8b" + PAGE, Content_Encoding="gzip",
                                Content_Type="text/html"),
        "json": lambda _: reply(200, b'{"error": "quota"}',
                                Content_Type="application/json"),
        "validator": lambda _: reply(200, PAGE, Content_Type="text/html",
                                     ETag='"page"'),
        "range": lambda h: serve(h, PAGE * 100_000, Content_Type="text/html"),
    }


FILES = {
    "plain": {},
    "typed": {"Content_Type": "application/octet-stream", "ETag": '"e"'},
    "dated": {"Content_Type": "application/x-iso9660-image",
              "Date": "Tue, 02 Jan 2024 00:00:00 GMT",
              "Last_Modified": "Mon, 01 Jan 2024 00:00:00 GMT"},
    "whole": {"ranges": False, "ETag": '"e"'},
}


@pytest.fixture
def login(lab):
    return lab.odd(lambda _: reply(200, PAGE, Content_Type="text/html"))


def visited(lab, page, n=2, n_good=1, **how):
    """A server that sends a part of the file, then `n` times a page."""
    good = functools.partial(serve, **how)
    part = functools.partial(good, most=PART)
    server = Counter(n_good * [part] + n * [page], good)
    return server, lab.odd(server)


@pytest.mark.parametrize("kind,file", [
    *((kind, "typed") for kind in portal(None)),
    *(("page", file) for file in FILES if file != "typed"),
    ("chunks", "whole"), ("gzip", "whole")])
def test_a_page_that_passes_costs_nothing(lab, login, kind, file):
    # The answer to inspection is taken over only if it is a range.
    n_good = 2 if file == "whole" else 1
    server, depot = visited(lab, portal(login)[kind], n_good=n_good,
                            **FILES[file])
    run = lab.xdownload("-o", URL, depot.url(URL))
    assert run.rc == 0, run.err
    assert lab.read(URL) == DATA
    assert run.report["depots"][0]["failures"] < 5
    if file != "whole" and kind != "range":
        assert server.sent < 1.3 * SIZE
    assert server.n < 30


@pytest.mark.parametrize("kind", ["page", "gzip", "validator"])
def test_a_page_in_place_of_a_request_that_began_with_the_first(lab, kind):
    """The request says nothing of the file, which the first answer describes."""
    began, is_known = threading.Event(), threading.Event()
    good = functools.partial(serve, **FILES["typed"])

    def first(head):
        assert began.wait(30)
        return good(head)

    def second(head):
        began.set()
        assert is_known.wait(30)
        return portal(None)[kind](head)

    def third(head):  # after the first
        is_known.set()
        return good(head)

    server = Counter([first, second], third)
    run = lab.xdownload("-t", "2", "-b", "256k", "-a", "basic",
                        lab.exnode(URL, [lab.odd(server)], size=SIZE))
    assert run.rc == 0, run.err
    assert lab.read(URL) == DATA
    assert server.n < 30


@pytest.mark.parametrize("kind", ["page", "chunks", "login"])
def test_so_does_one_in_front_of_a_pipe(lab, login, kind):
    server, depot = visited(lab, portal(login)[kind], **FILES["typed"])
    run = lab.xdownload("-q", "-o", "-", depot.url(URL))
    assert run.rc == 0, run.err
    assert run.out == DATA
    assert server.sent < 1.3 * SIZE


def test_a_page_like_the_file_in_type_lacks_its_validator(lab):
    """A document in HTML, and a portal in front of it."""
    how = {"Content_Type": "text/html", "ETag": '"e"'}
    server, depot = visited(lab, portal(None)["page"], **how)
    run = lab.xdownload("-o", URL, "--accept-html", depot.url(URL))
    assert run.rc == 0, run.err
    assert lab.read(URL) == DATA
    assert server.sent < 1.3 * SIZE


def test_a_page_in_front_of_one_of_two_mirrors_bans_none(lab):
    page = portal(None)["page"]
    server, depot = visited(lab, page, n=100, **FILES["typed"])
    other = lab.odd(functools.partial(serve, **FILES["typed"]))
    run = lab.xdownload(lab.urls(URL, [depot, other]))
    assert run.rc == 0, run.err
    assert lab.read(URL) == DATA
    assert server.n < 30


def test_a_page_that_stays_leaves_what_came_for_the_next_run(lab):
    server, depot = visited(lab, portal(None)["page"], n=1000, n_good=3,
                            **FILES["typed"])
    run = lab.xdownload("--patience", "2s", "-o", URL, depot.url(URL))
    assert run.rc == 1
    assert "with a page (text/html) in place of the file" in run.err
    assert os.path.exists(lab.path(URL + ".part"))
    run = lab.xdownload("--patience", "2s", "-o", URL, depot.url(URL))
    assert run.rc == 1
    server.answers, server.sent = [], 0
    run = lab.xdownload("-o", URL, depot.url(URL))
    assert run.rc == 0, run.err
    assert lab.read(URL) == DATA
    assert server.sent < SIZE


def test_a_page_of_another_version_of_a_page_is_another_version(lab):
    """Nothing tells that it passes: it has the type of the file, and a validator."""
    first = functools.partial(serve, Content_Type="text/html", ETag='"a"',
                              most=PART)
    server = Counter([first], lambda _: reply(
        200, PAGE, Content_Type="text/html", ETag='"b"'))
    run = lab.xdownload("-o", URL, "--accept-html", lab.odd(server).url(URL))
    assert run.rc == 1
    assert "has changed" in run.err
