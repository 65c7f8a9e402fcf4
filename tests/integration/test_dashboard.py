# SPDX-License-Identifier: MIT
"""The page of `xdownload serve`: what it is made of, what it is told, and what
a browser makes of it."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from browser import Browser, need_chromium
from lab import PATIENCE, wait_until
from served import Served
from test_serve import SIZE, TOKEN, named

SECONDS = 120


@pytest.fixture(name="served")
def serve_one_file(lab):
    lab.data, lab.shown = lab.file("f.bin", SIZE), lab.depots(2)
    served = Served(lab, named(lab, "a film.webm", lab.shown))
    served.url()
    return served


# ---- what it is made of ----

def test_the_page_loads_its_own_files_alone(served):
    answer, body = served.ask("/")
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy and "http" not in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    text = body.decode()
    for address in re.findall(r'(?:src|href)="([^"]*)"', text):
        assert re.fullmatch(r"[\w.]+|/1/a%20film\.webm|\?", address), address
    assert not re.search(r"style=|\son\w+=|<style|<script(?! src=\"page.js\")",
                         text)


@pytest.mark.parametrize("name, kind", [
    ("page.js", "text/javascript"), ("page.css", "text/css"),
    ("icon.svg", "image/svg+xml")])
def test_what_the_page_loads_is_as_in_the_sources(lab, name, kind):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--token", TOKEN, named(lab, "a", [lab.depot()]))
    served.url()
    answer, body = served.ask(f"/{TOKEN}/{name}")
    source = Path(os.environ["XD_SOURCE"], "cli", "serve", "page", name)
    assert answer.status == 200 and body == source.read_bytes()
    assert answer.headers["Content-Type"] == kind
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert served.ask(f"/{name}")[0].status == 404


@pytest.mark.parametrize("name, element", [
    ("a.webm", "video"), ("a.mp4", "video"), ("a.OGV", "video"),
    ("a.mp3", "audio"), ("a.flac", "audio"), ("a.opus", "audio"),
    ("a.mkv", None), ("a.iso", None), ("a", None)])
def test_a_file_that_browsers_play_has_a_player(lab, name, element):
    lab.file("f.bin", SIZE)
    served = Served(lab, named(lab, name, [lab.depot()]))
    served.url()
    body = served.ask("/")[1].decode()
    assert re.findall(r"<(video|audio) controls preload=\"none\"", body) == \
        ([element] if element else [])


# ---- what it is told ----

@contextlib.contextmanager
def listening(served, root="/"):
    """The events, each what its JSON says; by HTTP/1.0, which has no chunks."""
    with served.connect(f"GET {root}events HTTP/1.0\r\n\r\n") as client, \
            client.makefile("rb") as lines:
        yield events_of(lines)


def events_of(lines):
    status = lines.readline()
    assert b" 200 " in status, status
    for line in lines:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def test_an_event_tells_what_became_of_a_file(lab, served):
    with listening(served) as events:
        assert next(events) == {"files": []}  # nobody has read it
        assert served.ask()[1] == lab.data
        for event in events:
            [f] = event["files"]
            if f["state"] == "complete":
                break
    assert (f["file"], f["size"], f["done"]) == (1, SIZE, SIZE)
    assert len(f["parts"]) == 160
    assert all(part == [100, 100, 0] for part in f["parts"])
    assert f["verified"] == "sha-256" and f["error"] is None
    assert sum(d["bytes"] for d in f["depots"]) == SIZE
    assert [d["host"] for d in f["depots"]] == [d.host for d in lab.shown]
    assert f["player"] is None
    assert {outcome for *_, outcome in f["requests"]} >= {"ok"}
    for depot, lane, begin, end, _ in f["requests"]:
        assert depot in (0, 1) and lane >= 0 and 0 <= begin <= end


def test_a_file_that_cannot_be_had_says_why(lab):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--patience", "0s", "--retry", "1",
                    named(lab, "a", [lab.dead()]))
    with listening(served) as events:
        with contextlib.suppress(http.client.IncompleteRead):
            served.ask()
        for event in events:
            if event["files"] and event["files"][0]["state"] == "failed":
                break
    assert "no depot" in event["files"][0]["error"]


def test_so_many_pages_are_told_and_no_more(served):
    with contextlib.ExitStack() as pages:
        for _ in range(16):
            next(pages.enter_context(listening(served)))
        assert served.ask("/events")[0].status == 503
    # The places of those that have gone are free.
    def is_told():
        with listening(served) as events:
            try:
                return next(events) == {"files": []}
            except AssertionError:
                return False
    wait_until(is_told, "a place is free")


def is_connected(port, client):
    """Whether the side of that port has not closed the connection."""
    return any(row.split()[1].endswith(f":{port:04X}") and
               row.split()[2].endswith(f":{client:04X}") and
               row.split()[3] == "01"
               for row in Path("/proc/net/tcp").read_text().splitlines())


@pytest.mark.slow
def test_a_page_that_does_not_read_is_dropped(lab):
    """Its events are longer than what the system keeps for it."""
    n = 60
    lab.file("f.bin", 1000)
    depot = lab.depot()
    served = Served(lab, *(lab.exnode("f.bin", [depot]) for _ in range(n)))
    urls = [served.url() for _ in range(n)]
    for url in urls:
        assert len(served.ask("/" + url.split("/", 3)[3])[1]) == 1000
    with listening(served) as events:
        assert len(next(events)["files"]) == n
        host, port, _ = served.address()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, port))
            client.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            it = port, client.getsockname()[1]
            wait_until(lambda: is_connected(*it), "it is taken")
            wait_until(lambda: not is_connected(*it), "it is dropped")
        assert len(next(events)["files"]) == n  # others are told as before


def test_the_events_end_with_serve(served):
    with listening(served) as events:
        next(events)
        run, _ = served.end()
        assert run.rc == 130
        assert sum(1 for _ in events) < 10


# ---- what it says ----

def say(served, *, root="/", origin=None, **words):
    host, port, _ = served.address()
    words = {"file": 1, "id": "7", "state": "playing", "at": 1.5, "of": 20,
             "speed": 1} | words
    query = "&".join(f"{k}={v}" for k, v in words.items() if v is not None)
    return served.ask(f"{root}player?{query}", method="POST",
                      Origin=origin or f"http://{host}:{port}")[0].status


def player_of(served):
    with listening(served) as events:
        for event in events:
            if event["files"]:
                return event["files"][0]["player"]


def test_a_page_tells_where_its_player_is(served):
    served.ask()
    assert say(served, state="waiting", at=0) == 204
    assert say(served) == 204
    player = player_of(served)
    assert player["id"] == "7" and player["at"] == SIZE * 1.5 / 20
    assert player["startup"] >= 0 and player["stalls"] == 0
    assert say(served, state="waiting") == 204
    player = player_of(served)
    assert player["stalls"] == 1 and player["is_stalled"]
    assert say(served, state="seeking", at=9) == 204
    assert say(served, at=9) == 204
    player = player_of(served)
    assert player["seeks"] == 1 and not player["is_stalled"]
    assert player["at"] == SIZE * 9 / 20


def test_a_file_has_one_player_at_a_time(served):
    served.ask()
    began = time.monotonic()
    assert say(served, id="1") == 204
    # A page that has been silent for so long is taken for closed.
    assert say(served, id="2") == 409 or time.monotonic() - began > 4
    wait_until(lambda: say(served, id="1", state="ended") == 204, "it is heard")
    assert say(served, id="2") == 204
    assert player_of(served)["id"] == "2"


@pytest.mark.parametrize("words", [
    {"file": 0}, {"file": 2}, {"file": 1.5}, {"file": "x"}, {"file": None},
    {"state": "x"}, {"state": None}, {"id": None}, {"id": "%3Cb%3E"},
    {"at": -1}, {"at": "nan"}, {"at": "1e99"}, {"at": "1x"}, {"of": "inf"},
    {"speed": "-1"}, {"speed": 1000}])
def test_what_makes_no_sense_is_refused(served, words):
    assert say(served, **words) == 400


def test_another_site_says_nothing(lab, served):
    assert say(served, origin="http://evil.example") == 403
    assert say(served, origin="null") == 403
    assert served.ask("/player?file=1", method="POST")[0].status == 405
    other = Served(lab, "--allow-origin", "*", "manifest.meta4")
    other.url()
    assert say(other, origin="http://evil.example") == 405
    with listening(served) as events:
        assert next(events) == {"files": []}


def test_what_a_page_says_is_in_the_trace(lab):
    lab.data = lab.file("f.bin", SIZE)
    served = Served(lab, "--trace", "t.json",
                    named(lab, "a.webm", lab.depots(2)))
    served.url()
    served.ask()
    assert say(served) == 204
    player_of(served)
    served.end()
    trace = json.loads(lab.read("t.json"))
    assert {"position": SIZE * 1.5 / 20, "stalled": 0} in [
        e["args"] for e in trace if e["name"] == "player"]
    assert SIZE == sum(e["args"]["received"] - e["args"]["duplicate"]
                       for e in trace if e.get("cat") == "request")


# ---- play --browser ----

@pytest.fixture(name="opened")
def a_browser_that_notes_its_url(lab):
    """A program, and what it was given."""
    program = lab.path("browser")
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > opened.new\n'
                       "mv opened.new opened\n")
    program.chmod(0o755)

    def opened():
        wait_until(lab.path("opened").exists, "the browser is started")
        return lab.path("opened").read_text().splitlines()
    return opened


@pytest.mark.parametrize("named_so, words", [
    ("./browser", ["URL"]), ("no-such-browser:./browser", ["URL"]),
    ("./browser --new %s x", ["--new", "URL", "x"])])
def test_play_opens_the_page_in_a_browser(lab, opened, named_so, words):
    lab.environment["BROWSER"] = named_so
    lab.file("f.bin", SIZE)
    process = lab.start("play", "--browser", lab.exnode("f.bin", [lab.depot()]),
                        report=False)
    given = opened()
    url = given[words.index("URL")]
    assert given == [url if w == "URL" else w for w in words]
    served = Served.__new__(Served)
    served.urls = [url.replace("/#play", "/1/f.bin")]
    assert b'<section data-file="1"' in served.ask("/")[1]
    assert len(served.ask()[1]) == SIZE
    assert say(served, state="waiting", at=0) == 204
    assert say(served) == 204
    process.send(signal.SIGINT)
    run = process.wait()
    assert run.rc == 130
    assert f"xdownload: playing at {url} until Ctrl-C" in run.err
    assert b"stalls: 0, 0.00 s together" in run.out


def test_play_says_that_there_is_no_browser(lab):
    lab.file("f.bin", SIZE)
    lab.environment["PATH"] = str(lab.work)
    manifest = lab.exnode("f.bin", [lab.depot()])
    for named_so, name in ("", "xdg-open"), ("a:b", "a:b"):
        lab.environment["BROWSER"] = named_so
        run = lab.xdownload("play", "--browser", manifest, report=False)
        assert run.rc == 5
        assert f"there is no browser {name}: install xdg-utils, name one in " \
            "BROWSER, or use xdownload serve" in run.err


@pytest.mark.parametrize("also", [
    ["--player", "vlc"], ["--simulate", "--rate", "1MB/s"]])
def test_a_browser_is_the_player(lab, also):
    run = lab.xdownload("play", "--browser", *also, "m.meta4", report=False)
    assert run.rc == 2 and "use either --browser or --" in run.err


# ---- in a browser ----

@pytest.fixture(name="film", scope="module")
def make_film(tmp_path_factory):
    need_chromium()
    path = tmp_path_factory.mktemp("film") / "film.webm"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-loglevel", "error",
         "-f", "lavfi", "-i", f"testsrc2=size=320x180:rate=10:d={SECONDS}",
         "-f", "lavfi", "-i", f"sine=frequency=440:duration={SECONDS}",
         "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8",
         "-b:v", "500k", "-minrate", "500k", "-maxrate", "500k",
         "-g", "10",
         "-c:a", "libopus", path], check=True, timeout=5 * PATIENCE)
    return path.read_bytes()


@pytest.fixture(name="browser")
def open_browser(lab):
    need_chromium()
    browser = Browser(lab.folder / "browser")
    yield browser
    browser.close()


class Cinema:
    """A film from unequal depots, which can be made to fall silent."""

    def __init__(self, lab, film, name="film.webm", *args, also=()):
        (lab.www / "f.bin").write_bytes(film)
        self.rate = len(film) / SECONDS
        self.depots = lab.depots(1, rate=self.rate) + \
            lab.depots(1, rate=self.rate / 4)  # most of it comes while it plays
        self.served = Served(lab, *args,
                             named(lab, name, [*self.depots, *also]))
        self.url = self.served.url()
        self.page = self.url.partition("/1/")[0] + "/"

    def send(self, sig):
        for depot in self.depots:
            depot.throttle.process.send_signal(sig)


STALLS = re.compile(r"\b[1-9]\d* stalls?, ([\d.]+)\ss together "
                    r"\(least ([\d.]+)\ss\)")


def at_s(browser):
    return browser.run("document.querySelector('video').currentTime")


@pytest.mark.slow
def test_a_browser_plays_a_film_and_shows_a_stall(lab, film, browser):
    cinema = Cinema(lab, film)
    browser.open(cinema.page)
    wait_until(lambda: browser.text("#live") == "live", "events come")
    browser.run("document.querySelector('video').play()")
    wait_until(lambda: at_s(browser) > 0.5, "the film has begun")
    cinema.send(signal.SIGSTOP)
    try:
        wait_until(lambda: STALLS.search(browser.text(".stalls")),
                   "a stall is shown")
        wait_until(lambda: "waiting" in browser.text("#live"), "and said")
    finally:
        cinema.send(signal.SIGCONT)
    stopped = at_s(browser)
    wait_until(lambda: at_s(browser) > stopped + 0.5, "the film goes on")
    wait_until(lambda: browser.text("#live") == "live", "and it is said")
    browser.run("document.querySelector('video').currentTime = 100")
    wait_until(lambda: at_s(browser) > 100.2, "it plays elsewhere")
    wait_until(lambda: "1 seek," in browser.text(".stalls"), "which is told")
    stall, least = map(float, STALLS.search(browser.text(".stalls")).groups())
    assert stall > 0 and 0 <= least <= stall
    for what in "bar path.proved, .bar path.stored", "lanes path.ok":
        assert browser.run(
            f"[...document.querySelectorAll('.{what}')]"
            ".some((p) => p.getAttribute('d'))"), what
    assert browser.run("document.querySelectorAll('.lanes svg').length") >= 2
    assert browser.run("document.querySelectorAll('tbody tr').length") == 2
    assert browser.console == []
    assert all(u.startswith((cinema.page, "data:")) for u in browser.requests)


@pytest.mark.slow
def test_the_page_that_play_opens_plays(lab, film, opened, browser):
    lab.environment["BROWSER"] = "./browser"
    cinema = Cinema(lab, film)
    process = lab.start("play", "--browser", "manifest.meta4", report=False)
    browser.open(opened()[0])
    wait_until(lambda: at_s(browser) > 0.5, "the film has begun")
    wait_until(lambda: "started after" in browser.text(".stalls"), "it is told")
    process.send(signal.SIGINT)
    run = process.wait()
    assert run.rc == 130 and b"started after" in run.out
    wait_until(lambda: "does not answer" in browser.text("#live"), "it is over")


@pytest.mark.slow
def test_a_hostile_name_does_nothing_in_a_browser(lab, film, browser):
    name = "<img src=x onerror=alert(1)>\"'&.webm"
    cinema = Cinema(lab, film, name)
    browser.open(cinema.page)
    wait_until(lambda: browser.text("#live") == "live", "events come")
    assert browser.text("h2") == name
    assert browser.run("document.querySelector('video').ariaLabel") == name
    browser.run("document.querySelector('video').play()")
    wait_until(lambda: at_s(browser) > 0.2, "the film has begun")
    assert browser.run("document.images.length") == 0
    assert browser.console == []


@pytest.mark.slow
def test_the_page_is_plain_html_without_scripts(lab, film, browser):
    cinema = Cinema(lab, film)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(cinema.page)
    tree = str(browser.call("Accessibility.getFullAXTree"))
    for words in "load it again", "film.webm", "Depots", "here, 0 B/s":
        assert words in tree, words


class Nowhere:
    """A depot with a long name, which leads nowhere."""

    @staticmethod
    def url(name):
        return f"http://{'a-label-of-many-letters.' * 8}example/{name}"


FITS = """[...document.querySelectorAll('tr :nth-child(3)')].every(
    (e) => e.getBoundingClientRect().right <= innerWidth)"""
SMALLEST_LINK = """Math.min(...[...document.querySelectorAll('a')].map(
    (e) => e.getBoundingClientRect().height))"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 900, 2000])
def test_no_part_of_the_page_is_wider_than_the_window(lab, film, browser,
                                                      width):
    """XD_SCREENSHOTS, a folder, gets pictures for people to look at."""
    cinema = Cinema(lab, film, "a film with " + "a_long_name_" * 15 + ".webm",
                    also=[Nowhere])
    browser.open(cinema.page)
    browser.run("document.querySelector('video').play()")
    wait_until(lambda: at_s(browser) > 1, "the film has begun")
    for scheme in "light", "dark":
        browser.look(width, 1000, scheme)
        wait_until(lambda: browser.run("innerWidth") == width and browser.run(
            "document.documentElement.scrollWidth") <= width, "it is as wide")
        assert browser.run(FITS)  # state and rate, beside long names
        assert browser.run(SMALLEST_LINK) >= 24  # CSS pixels: WCAG 2.2, 2.5.8
        if folder := os.environ.get("XD_SCREENSHOTS"):
            browser.screenshot(Path(folder, f"{width}-{scheme}.png"))
    # From the top, Tab reaches the link, the player and the table.
    assert browser.run("""[...document.querySelectorAll(
        'h1, main, header, caption, th[scope], [role=status]')].length""") > 9
