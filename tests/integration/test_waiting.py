# SPDX-License-Identifier: MIT
"""After a second the command says what it waits for."""
import socket

import pytest

from test_display import Terminal


@pytest.fixture(name="unreachable")
def a_port_that_completes_no_connect():
    """Its queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        others = [socket.socket() for _ in range(3)]
        for other in others:
            other.setblocking(False)
            other.connect_ex(listener.getsockname())
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        for other in others:
            other.close()


def offered(lab, how, url):
    """Asked what it is, or fetched at once."""
    return url if how == "typed" else lab.write("l.urls", url + "\n")


HOW = pytest.mark.parametrize("how", ["typed", "listed"])
BRIEF = ["--silence", "2500ms", "--retry", "1", "--patience", "0s"]


@HOW
def test_verbose_lines_name_a_depot_that_does_not_answer(lab, how):
    depot = lab.silent()
    run = lab.xdownload("-v", "-o", "out", *BRIEF,
                        offered(lab, how, depot.url("f")))
    assert run.rc == 1
    assert f"waiting for {depot.host}, 1 s\n" in run.err
    assert f"waiting for {depot.host}, 2 s\n" in run.err


@HOW
def test_verbose_lines_name_a_depot_that_does_not_connect(lab, how,
                                                          unreachable):
    run = lab.xdownload("-v", "-o", "out", *BRIEF,
                        offered(lab, how, f"http://{unreachable}/f"))
    assert run.rc == 1
    assert f"connecting to {unreachable}...\n" in run.err
    assert f"waiting for {unreachable}" not in run.err


@HOW
def test_a_terminal_shows_what_is_waited_for(lab, how):
    depot = lab.silent()
    terminal = Terminal(lab, 80, 24, "-o", "out", *BRIEF,
                        offered(lab, how, depot.url("f")))
    terminal.finish()
    terminal.close()
    text = terminal.bytes.decode()
    assert f"waiting for {depot.host}, 1 s" in text
    assert f"waiting for {depot.host}, 2 s" in text
    assert not [line for line in terminal.screen.lines()
                if f"waiting for {depot.host}" in line]  # it is gone at the end


def test_nothing_is_said_of_a_second_that_is_not_over(lab):
    data = lab.file("f.bin", 100_000)
    run = lab.xdownload("-v", "-o", "out", lab.depot().url("f.bin"))
    assert run.rc == 0 and lab.read("out") == data
    assert "waiting for" not in run.err and "connecting" not in run.err


@HOW
def test_quiet_says_nothing(lab, how):
    depot = lab.silent()
    run = lab.xdownload("-q", "-o", "out", *BRIEF,
                        offered(lab, how, depot.url("f")))
    assert run.rc == 1 and "waiting for" not in run.err
