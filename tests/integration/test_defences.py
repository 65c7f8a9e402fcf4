"""Each defence is missed when it is off: a row of test_faults.py fails then.

The command is one that can do without (lib/os/defence.h); the real one does not
know how.
"""
import os
import re
from pathlib import Path

import pytest

import test_faults as rows
from test_faults import world  # noqa: F401  (a fixture)

UNDEFENDED = os.environ["XD_UNDEFENDED"]
SOURCE = Path(os.environ["XD_SOURCE"])


def in_spite_of(*row):
    return rows.test_the_right_file_comes_in_spite_of, row


def lie(*row):
    return rows.test_a_lie_is_found_where_something_can_tell, row


# Defence: a row that shows it.
ROWS = {
    "content-range": in_spite_of("wrong_range", "none", "file", "basic"),
    "content-encoding": in_spite_of("encodes", "none", "file", "basic"),
    "size": in_spite_of("another_total", "none", "file", "basic"),
    "pieces": lie("flips_bits", "pieces", "file", "progress"),
    "whole": lie("another_file", "whole", "file", "progress"),
    "blame": lie("another_file", "pieces", "file", "progress"),
    "validators": in_spite_of("changes_half_way", "none", "file", "progress"),
    "comparison": lie("another_file", "none", "file", "progress"),
    "redirects": in_spite_of("redirects_to_http", "none", "file", "basic"),
    "silence": in_spite_of("never_answers", "none", "file", "basic"),
    "certificates": in_spite_of("self_signed", "none", "file", "basic"),
    "retry-after": (
        rows.test_a_busy_depot_is_left_alone_for_as_long_as_it_asked,
        ("busy_429",)),
}


def run_row(world, defence):  # noqa: F811
    world.lab.program = UNDEFENDED
    test, row = ROWS[defence]
    test(world, *row)


@pytest.mark.parametrize("defence", ROWS)
def test_a_row_holds_with_its_defence(world, defence):  # noqa: F811
    run_row(world, defence)


@pytest.mark.parametrize("defence", ROWS)
def test_a_row_fails_without_its_defence(world, defence):  # noqa: F811
    world.lab.environment["XD_WITHOUT"] = defence
    world.options = ["--max-time", "3s"]
    with pytest.raises(AssertionError):
        run_row(world, defence)


def test_no_defence_is_without_a_row():
    named = {name for path in (SOURCE / "lib").rglob("*.c")
             for name in re.findall(r'XD_DEFENDS\("([^"]+)"\)',
                                    path.read_text())}
    assert named == set(ROWS)


def test_the_real_command_cannot_do_without(world):  # noqa: F811
    assert b"XD_WITHOUT" in Path(UNDEFENDED).read_bytes()
    assert b"XD_WITHOUT" not in Path(os.environ["XD_LIBRARY"]).read_bytes()
    world.lab.environment["XD_WITHOUT"] = "content-encoding"
    test, row = ROWS["content-encoding"]
    test(world, *row)
