# SPDX-License-Identifier: MIT
"""Each defence is missed when it is off: a row of test_faults.py fails then.

The command is one that can do without (lib/base/defence.h); the real one does not
know how.
"""
import os
import re
import signal
from pathlib import Path

import pytest

import test_faults as rows
from lab import wait_until
from test_faults import world  # noqa: F401  (a fixture)

UNDEFENDED = os.environ["XD_UNDEFENDED"]
SOURCE = Path(os.environ["XD_SOURCE"])


def in_spite_of(*row):
    return rows.test_the_right_file_comes_in_spite_of, row


def lie(*row):
    return rows.test_a_lie_is_found_where_something_can_tell, row


def alone(*row):
    return rows.test_alone_a_hard_refusal_ends_the_run_at_once, row


def plain(fault):
    return in_spite_of(fault, "none", "file", "basic")


def through_a_public_server(world):  # noqa: F811
    """The manifest names a server at a public address, which redirects to one
    of this machine."""
    bad = world.at_fault("redirects_to_another_host")
    bad.host = "203.0.113.7:" + bad.host.split(":")[1]
    return bad, world.run([bad], "none", "file", "basic")


def no_public_server_redirects_to_this_machine(world):  # noqa: F811
    bad, run = through_a_public_server(world)
    assert bad.fired() and run.rc == 1
    assert bad.host in run.err
    assert "redirects to an address of this machine or a private" in run.err
    assert "allow-private-redirs" in run.err
    assert world.honest.log == []


def a_step_of_the_clock_is_no_silence(world, step):  # noqa: F811
    """The clock jumps while a depot prepares its first answer."""
    when = world.lab.folder / "when"
    world.lab.environment |= {"XD_CLOCK_STEP": step, "XD_CLOCK_WHEN": str(when)}
    world.honest.delay = 1.5  # longer than anybody sleeps
    world.options = []
    process = world.start([world.honest], "none", "file", "basic",
                          "-b", "1m", "--patience", "100s")
    wait_until(lambda: world.honest.log, "a request")
    when.touch()
    run = process.wait()
    assert run.rc == 0, run.err
    assert not when.exists()
    assert world.got(run, "file") == world.data
    assert rows.row_of(run, world.honest)["error"] is None


def always_overtaken(world):  # noqa: F811
    """Without the pauses, that else come to the same."""
    without = world.lab.environment.get("XD_WITHOUT", "")
    world.lab.environment["XD_WITHOUT"] = "pauses," + without
    bad = world.at_fault("never_answers")
    world.silence = "1m"
    run = world.run([bad, world.honest], "pieces", "file", "aggressive",
                    "-b", "64k")
    assert run.rc == 0, run.err
    assert bad.fired()
    assert len(bad.log) <= 10


def a_flood_does_not_hold_up_the_end(world):  # noqa: F811
    made = world.lab.certificate()
    with rows.FloodDepot(made.path, made.key, rows.SIZE) as flood:
        rows.test_a_flood_does_not_hold_up_the_end(world, flood,
                                                   signal.SIGTERM)


# Defence: rows that show it.
ROWS = {
    "another-attempt": [
        (rows.test_alone_a_dead_depot_that_comes_back_gives_the_file, ())],
    "blame": [lie("another_file", "pieces", "file", "progress")],
    "certificates": [plain("self_signed"), plain("another_name"),
                     plain("expired")],
    "comparison": [lie("another_file", "none", "file", "progress")],
    "content-encoding": [plain("encodes")],
    "content-range": [plain("wrong_range")],
    "expiry": [
        (rows.test_alone_what_passes_by_itself_is_waited_for,
         ("signed_urls_expire",))],
    "header-size": [plain("endless_header")],
    "in-vain": [
        (always_overtaken, ())],
    "max-redirs": [plain("redirects_in_a_loop")],
    "no-ranges": [plain("whole_file")],
    "pauses": [
        (rows.test_alone_a_dead_depot_is_asked_until_patience_is_at_its_end,
         ())],
    "pieces": [lie("flips_bits", "pieces", "file", "progress")],
    "reach": [(no_public_server_redirects_to_this_machine, ())],
    "redirects": [plain("redirects_to_http"), plain("redirects_to_a_file")],
    "refusals": [alone("status_404")],
    "retry": [
        (rows.test_a_depot_that_always_fails_is_given_up, ())],
    "retry-after": [
        (rows.test_a_busy_depot_is_left_alone_for_as_long_as_it_asked,
         ("busy_429",))],
    "silence": [plain("never_answers")],
    "size": [plain("another_total"), plain("html_page")],
    "unwatched": [
        (a_step_of_the_clock_is_no_silence, ("monotonic:60",))],
    "validators": [in_spite_of("changes_half_way", "none", "file",
                               "progress")],
    "watchdog": [
        (a_flood_does_not_hold_up_the_end, ())],
    "whole": [lie("another_file", "whole", "file", "progress")],
}

CASES = [pytest.param(defence, *row, id="-".join(
             [defence, *(str(name) for name in row[1])]))
         for defence, shown in ROWS.items() for row in shown]


@pytest.mark.slow
@pytest.mark.parametrize("defence,test,row", CASES)
def test_a_row_holds_with_its_defence(world, defence, test, row):  # noqa: F811
    world.lab.program = UNDEFENDED
    test(world, *row)


@pytest.mark.slow
@pytest.mark.parametrize("defence,test,row", CASES)
def test_a_row_fails_without_its_defence(world, defence, test,  # noqa: F811
                                         row):
    world.lab.program = UNDEFENDED
    world.lab.environment["XD_WITHOUT"] = defence
    world.options = ["--max-time", "3s"]
    try:
        test(world, *row)
    except AssertionError:
        return
    # A libcurl before 7.88 returns from a flood by itself, and a later one where
    # the flood is slower than it reads: then this shows nothing.
    if defence != "watchdog":
        pytest.fail(f"it holds without {defence}")


def test_redirects_into_this_machine_are_an_option(world):  # noqa: F811
    world.lab.program = UNDEFENDED
    world.options = ["--allow-private-redirs"]
    _, run = through_a_public_server(world)
    assert run.rc == 0, run.err
    assert world.got(run, "file") == world.data


@pytest.mark.parametrize("step", ["realtime:-86400", "realtime:86400"])
def test_a_step_of_the_wall_clock_changes_nothing(world, step):  # noqa: F811
    world.lab.program = UNDEFENDED
    a_step_of_the_clock_is_no_silence(world, step)


def test_no_defence_is_without_a_row():
    named = {name for path in (SOURCE / "lib").rglob("*.c")
             for name in re.findall(r'XD_DEFENDS\("([^"]+)"\)',
                                    path.read_text())}
    assert named == set(ROWS)


def test_the_real_command_cannot_do_without(world):  # noqa: F811
    assert b"XD_WITHOUT" in Path(UNDEFENDED).read_bytes()
    assert b"XD_WITHOUT" not in Path(os.environ["XD_LIBRARY"]).read_bytes()
    world.lab.environment["XD_WITHOUT"] = "content-encoding"
    [(test, row)] = ROWS["content-encoding"]
    test(world, *row)
