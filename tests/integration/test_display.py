# SPDX-License-Identifier: MIT
"""What people see on their terminal, on terminals of every size."""
import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import termios
import time

import pytest

from lab import PATIENCE
from screen import FAMILIES, Screen

SIZE = 600_000
RATE = r"[\d.]+ [KM]?i?B/s"
AMOUNT = r"[\d.]+ [KM]?i?B"
SHORT = r"[\d.]+[KM]?"
LEFT = r"(-:--|\d+:\d\d)"
HISTORY = ["$ make", "all is made", "$ xdownload f.xnd"]


class Terminal:
    """A run of the command on a terminal of its own."""

    def __init__(self, lab, columns, rows, *args, history=(), family="cut"):
        self.screen = Screen(columns, rows, family)
        for line in history or HISTORY:
            self.screen.feed(f"{line}\r\n".encode())
        self.bytes = b""
        self._leader, follower = os.openpty()
        self._set_size()
        self.process = lab.start(*args, stderr=follower)
        os.close(follower)

    def _set_size(self):
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack(
            "HHHH", self.screen.height, self.screen.columns, 0, 0))

    def pump(self, seconds=0.05):
        """Show what there is; False when the other end is closed."""
        if not select.select([self._leader], [], [], seconds)[0]:
            return True
        try:
            part = os.read(self._leader, 65536)
        except OSError:  # how a terminal says that nobody is there
            return False
        self.bytes += part
        self.screen.feed(part)
        return True

    def wait_for(self, *patterns, which=bool):
        """Until the whole screen is as the patterns and `which` of their
        matches say; its last matches."""
        end = time.monotonic() + PATIENCE
        while not ((matches := match_all(patterns, self.screen.shown()))
                   and which(matches)):
            assert time.monotonic() < end and self.pump(), (
                "never shown; the screen is\n" + self.picture())
        return matches

    def picture(self):
        return "\n".join(f"|{row}|" for row in self.screen.shown())

    def resize(self, columns, rows):
        """While nothing is on its way, as it nearly always is."""
        self.process.send(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)
        while select.select([self._leader], [], [], 0)[0]:
            self.pump()
        self.screen.resize(columns, rows)
        self._set_size()
        self.process.send(signal.SIGWINCH)
        self.process.send(signal.SIGCONT)

    def finish(self):
        while self.pump():
            pass
        return self.process.wait()

    def close(self):
        os.close(self._leader)


@pytest.fixture
def terminal(lab):
    with contextlib.ExitStack() as opened:
        def start(*args, **options):
            made = Terminal(lab, *args, **options)
            opened.callback(made.close)
            return made
        yield start


def match_all(patterns, rows):
    """The matches of all rows, each with its pattern; None if one has none."""
    if len(patterns) != len(rows):
        return None
    matches = [re.fullmatch(p, r) for p, r in zip(patterns, rows)]
    return matches if all(matches) else None


def history():
    return [re.escape(line) for line in HISTORY]


def whole(name="f.bin", total="585.9 KiB", bar=r"\[#*-*\]  "):
    """The line for the whole, where there is room for all of it."""
    return (rf"{name}  +\d+ %  {bar}{AMOUNT} of {total}  {RATE}  "
            rf"{LEFT} left")


NARROW_WHOLE = rf" *\d+% {SHORT}/s {LEFT}"
TITLES = r"depot +state +conns +rate +bytes +redundant"


def wide(host):
    return (rf"{re.escape(host)}  (busy|idle|paused) +\d+ +{RATE} +{AMOUNT} +"
            rf"{AMOUNT}")


def narrow(host):
    """Such a name is cut in the middle, and other columns are left out."""
    return (rf"{re.escape(host[:3])}\d*[\d.]*~[\d.:]*{host[-2:]} +"
            rf"({SHORT}/s|idle|paused)")


def summary(name, outcome="complete"):
    return (rf"{name}: {outcome}, {AMOUNT} in [\d.]+ s, {RATE}, "
            r"[\d.]+ % redundant, .*verified.*")


def ended(host):
    return rf"{re.escape(host)} +{AMOUNT} +[\d.]+ % +{RATE} +\d+ +0"


def two(lab):
    """A slow and a quick depot, and the manifest of a file on both."""
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=r) for r in (60_000, 180_000)]
    return depots, lab.exnode("f.bin", depots)


@pytest.mark.parametrize("columns", [80, 200])
def test_there_is_a_line_for_the_whole_and_one_for_each_depot(
        lab, terminal, columns):
    (slow, quick), manifest = two(lab)
    shown = terminal(columns, 24, manifest, "-b", "16k")
    matches = shown.wait_for(*history(), whole(), TITLES, wide(quick.host),
                             wide(slow.host))
    assert all(len(m[0]) < columns for m in matches)
    _, titles, *depots = [m[0] for m in matches[len(HISTORY):]]
    for row in depots:
        assert row.index("/s") + 2 == titles.index("rate") + 4
        assert len(row) == len(titles)
    run = shown.finish()
    assert run.rc == 0
    assert match_all(
        [*history(), summary("f.bin"),
         "depot +bytes +share +mean rate +requests +failures",
         ended(quick.host), ended(slow.host)],
        shown.screen.lines()), shown.picture()


def test_depot_that_had_not_answered_at_the_end_is_named(lab):
    data = lab.file("f.bin", SIZE)
    mute = lab.silent()
    run = lab.xdownload(lab.metalink("f.bin", [mute, lab.depot()]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    row = re.search(re.escape(mute.host) + r" .* (\d+) +0\n(.*)\n", run.err)
    assert row and int(row[1]) > 0, run.err
    assert row[2] == "  had not answered"


def test_twenty_columns_have_room_for_the_least(lab, terminal):
    (slow, quick), manifest = two(lab)
    shown = terminal(20, 24, manifest, "-b", "16k")
    matches = shown.wait_for(*history(), NARROW_WHOLE, narrow(quick.host),
                             narrow(slow.host))
    assert all(len(m[0]) < 20 for m in matches[3:])
    assert shown.finish().rc == 0
    lines = shown.screen.lines()
    assert lines[:3] == HISTORY
    assert re.fullmatch(summary("f.bin"), lines[3])
    assert len(lines) == 7 and all(len(line) < 20 for line in lines[4:])


def crowd(lab):
    """223 depots, of which the first 14 are as quick as their number."""
    lab.file("f.bin", SIZE)
    open_ones = [lab.depot(rate=1_000 + 1_500 * i) for i in range(14)]
    reserve = [lab.dead() for _ in range(209)]
    return open_ones, lab.exnode("f.bin", open_ones + reserve)


def number(text):
    n, unit = text.split()
    return float(n) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit]


def test_ten_rows_show_the_busiest_of_223_depots(lab, terminal):
    depots, manifest = crowd(lab)
    shown = terminal(80, 10, manifest, "-a", "progress", "-b", "4k",
                     "--max-depots", "14")
    some = rf"127\.0\.0\.1:\d+ +(?:busy|idle|paused) +\d+ +{RATE} +({AMOUNT}) .*"
    patterns = [whole()] + [some] * 8 + [r"\+6 more, \+209 in reserve"]

    def is_settled(matches):
        """At first the order is another: a block takes a while."""
        amounts = [number(m[1]) for m in matches[1:-1]]
        hosts = {m[0].split()[0] for m in matches[1:-1]}
        return (amounts == sorted(amounts, reverse=True)
                and amounts[0] > amounts[-1]
                and depots[13].host in hosts and depots[0].host not in hosts)
    shown.wait_for(*patterns, which=is_settled)
    assert shown.screen.lines()[:3] == HISTORY
    assert shown.finish().rc == 0
    lines = shown.screen.lines()
    assert lines[:3] == HISTORY
    assert re.fullmatch(summary("f.bin"), lines[3])
    assert lines[-1] == "+209 in reserve" and len(lines) == 3 + 2 + 14 + 1


def set_of(lab, n, rate, lacks=None):
    """A depot of `n` files, and their manifest."""
    names = [f"f{i:02}" for i in range(n)]
    contents = {name: lab.file(name, 10_000, seed=i)
                for i, name in enumerate(names, 1)}
    depot = lab.depot(rate=rate, files={name: data for name, data
                                        in contents.items() if name != lacks})
    return depot, lab.metalink_of([(name, [depot], None) for name in names])


def test_many_files_have_a_line_together(lab, terminal):
    depot, manifest = set_of(lab, 60, 100_000, lacks="f03")
    shown = terminal(80, 24, manifest)
    files = (r"(\d+) of 60 files ended, 1 failed; in flight: f(\d\d)"
             r"(, f\d\d)* \.\.\.")
    matches = shown.wait_for(
        *history(), "xdownload: f03: no depot is left.*", ".*404",
        whole("60 files", AMOUNT), files, TITLES, wide(depot.host),
        which=lambda m: int(m[len(HISTORY) + 3][1]) > 10)
    line = matches[len(HISTORY) + 3]
    assert 60 < len(line[0]) < 80
    assert int(line[2]) > 3
    assert shown.finish().rc == 1


@pytest.mark.slow
def test_of_many_files_forty_columns_have_room_for_their_number(lab, terminal):
    _, manifest = set_of(lab, 30, 60_000)
    shown = terminal(40, 24, manifest)
    shown.wait_for(*history(), NARROW_WHOLE, r"(\d+)/30", ".*busy.*",
                   which=lambda m: int(m[len(HISTORY) + 1][1]) > 5)
    assert shown.finish().rc == 0


@pytest.mark.slow
def test_twenty_columns_have_room_for_how_many_are_in_reserve(lab, terminal):
    _, manifest = crowd(lab)
    shown = terminal(20, 10, manifest, "-a", "progress", "-b", "4k",
                     "--max-depots", "14")
    some = rf"127\S+ +({SHORT}/s|idle|paused)"
    shown.wait_for(NARROW_WHOLE, *[some] * 8, r"\+6, \+209 reserve")
    assert shown.finish().rc == 0


@pytest.mark.parametrize("rows", [
    pytest.param(1, marks=pytest.mark.slow), 2,
    pytest.param(3, marks=pytest.mark.slow)])
def test_a_terminal_of_few_rows_has_what_fits(lab, terminal, rows):
    (slow, quick), manifest = two(lab)
    shown = terminal(80, rows, manifest, "-b", "16k")
    shown.wait_for(*[[whole()], [whole(), r"\+2 more"],
                     [whole(), wide(quick.host), wide(slow.host)]][rows - 1])
    assert shown.finish().rc == 0
    lines = shown.screen.lines()
    assert lines[:3] == HISTORY
    assert re.fullmatch(summary("f.bin"), lines[3]) and len(lines) == 7


@pytest.mark.parametrize("family", [
    pytest.param("cut", marks=pytest.mark.slow), "reflow"])
def test_nothing_of_the_picture_stays_where_the_list_is_longer(
        lab, terminal, family):
    """Also of what scrolled out of sight."""
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=20_000) for _ in range(10)]
    shown = terminal(80, 8, lab.exnode("f.bin", [*depots, lab.dead()]), "-b",
                     "4k", "--max-depots", "11", family=family)
    shown.wait_for(whole(), *[r"127\.0\.0\.1:\d+ .*"] * 6, r"\+\d+ more.*")
    assert shown.finish().rc == 0
    lines = shown.screen.lines()
    assert lines[:3] == HISTORY
    assert re.fullmatch(summary("f.bin"), lines[3])
    assert lines[4].startswith("depot ")
    assert not any(re.fullmatch(whole(), line) for line in lines)
    assert not any("more" in line for line in lines)


@pytest.mark.parametrize("family, above", [
    pytest.param(family, above,
                 marks=[] if (family, above) == ("reflow", 40)
                 else [pytest.mark.slow])
    for family in FAMILIES for above in (1, 40)])
def test_it_stays_right_through_every_change_of_size(
        lab, terminal, family, above):
    """From the top of the screen and from its bottom."""
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=r) for r in (20_000, 30_000, 50_000)]
    manifest = lab.exnode("f.bin", depots)
    before = [f"line {i}" for i in range(above)]
    shown = terminal(80, 24, manifest, "-b", "8k", history=before,
                     family=family)
    broad = [whole(), TITLES] + [r"127.*/s .*"] * 3
    barless = [whole(bar="")] + broad[1:]
    small = [NARROW_WHOLE] + [r"127.*(/s|idle|paused).*"] * 3

    def shows(picture):
        """The picture at its place, the nearest of what was there above it,
        and nothing else."""
        rows = shown.screen.height - len(picture)
        least = 0 if family == "bottom" else 1
        end = time.monotonic() + PATIENCE
        while not any(match_all(
                [re.escape(line) for line in before[above - n:]] + picture,
                shown.screen.shown())
                for n in range(least, min(rows, above) + 1)):
            assert time.monotonic() < end and shown.pump(), shown.picture()

    shows(broad)
    for columns, rows, picture in [(20, 10, small), (80, 24, broad),
                                   (20, 24, small), (200, 8, broad),
                                   (70, 6, barless), (30, 5, small),
                                   (80, 24, broad)]:
        shown.resize(columns, rows)
        shows(picture)
    shown.resize(20, 10)
    assert shown.finish().rc == 0
    lines = shown.screen.lines()
    assert lines[:above] == before
    assert re.fullmatch(summary("f.bin"), lines[above])
    assert len(lines) == above + 2 + 3


def test_an_interruption_leaves_the_screen_in_order(lab, terminal):
    (slow, quick), manifest = two(lab)
    shown = terminal(80, 24, manifest, "-b", "16k")
    shown.wait_for(*history(), whole(), TITLES, wide(quick.host),
                   wide(slow.host))
    shown.process.send(signal.SIGINT)
    assert shown.finish().rc == 130
    either = "|".join(ended(d.host) for d in (slow, quick))  # so soon
    assert match_all(
        [*history(), "depot .*", either, either,
         r"xdownload: interrupted at \d+ %, .*; f\.bin\.part stays: "
         "run the same command again to continue"],
        shown.screen.lines()), shown.picture()


def test_who_cannot_wait_finds_no_picture_either(lab, terminal):
    """The second Ctrl-C mostly comes before the first is seen to."""
    (slow, quick), manifest = two(lab)
    shown = terminal(80, 24, manifest, "-b", "16k")
    shown.wait_for(*history(), whole(), TITLES, wide(quick.host),
                   wide(slow.host))
    shown.process.send(signal.SIGINT)
    time.sleep(0.01)
    shown.process.send(signal.SIGINT)
    shown.finish()
    rows = shown.screen.shown()
    assert rows[:3] == HISTORY
    assert not any(re.fullmatch(TITLES, row) for row in rows), shown.picture()


def test_while_nothing_comes_it_says_why(lab, terminal):
    lab.file("f.bin", SIZE)
    dead = lab.dead()
    shown = terminal(80, 24, lab.exnode("f.bin", [dead]))
    shown.wait_for(*history(), whole(), TITLES, wide(dead.host),
                   rf"http://{dead.host}/.*~.*[Cc]onnect.*")
    shown.process.send(signal.SIGINT)
    assert shown.finish().rc == 130


def test_lines_of_verbose_stand_above_the_picture(lab, terminal):
    (slow, quick), manifest = two(lab)
    shown = terminal(120, 12, manifest, "-b", "100k", "-v")
    assert shown.finish().rc == 0
    lines = shown.screen.lines()
    requests = [line for line in lines
                if re.fullmatch(r"127\.0\.0\.1:\d+ +\d+ +\d+ +[\d.]+  \w+", line)]
    assert len(requests) >= 3
    assert lines[:3] == HISTORY and lines[3:3 + len(requests)] == requests
    assert re.fullmatch(summary("f.bin"), lines[3 + len(requests)])
    assert len(lines) == 3 + len(requests) + 4


def test_no_color_is_asked_for_in_vain_for_there_is_none(
        lab, terminal):
    lab.environment["NO_COLOR"] = "1"
    (slow, quick), manifest = two(lab)
    shown = terminal(80, 24, manifest, "-b", "16k")
    shown.wait_for(*history(), whole(), TITLES, wide(quick.host),
                   wide(slow.host))
    assert shown.finish().rc == 0
    assert shown.screen.drawings > 5
    assert not re.search(rb"\x1b\[[\d;]*m", shown.bytes)


@pytest.mark.parametrize("term, progress", [
    ("dumb", "auto"), pytest.param("", "bar", marks=pytest.mark.slow)])
def test_a_dumb_terminal_gets_no_escapes(
        lab, terminal, term, progress):
    lab.environment["TERM"] = term
    lab.file("f.bin", SIZE)
    depot = lab.depot(rate=90_000)
    shown = terminal(200, 24, lab.exnode("f.bin", [depot]), "-b", "16k",
                     "--progress", progress)
    assert shown.finish().rc == 0
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", shown.bytes)
    lines = shown.screen.lines()
    assert lines[:3] == HISTORY
    assert re.fullmatch(rf"f\.bin: \d+ %, {AMOUNT} of 585\.9 KiB, {RATE}, "
                        rf"{LEFT} left, 1 of 1 depots in use", lines[3])
    assert re.fullmatch(summary("f.bin"), lines[-3])


def test_the_file_and_the_picture_do_not_share_a_terminal(lab, terminal):
    """The file is given to /dev/tty's like: the very terminal."""
    lab.file("f.bin", 0)
    (lab.www / "f.bin").write_bytes(b"text\n" * 100)
    leader, follower = os.openpty()
    try:
        shown = terminal(80, 24, lab.exnode("f.bin", [lab.depot()]), "-o",
                         os.ttyname(follower))
        assert shown.finish().rc == 0
        assert shown.bytes == b""
        assert os.read(leader, 65536).startswith(b"text\r\ntext\r\n")
    finally:
        os.close(leader)
        os.close(follower)
