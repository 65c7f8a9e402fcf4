# SPDX-License-Identifier: MIT
"""The unit tests run again, and each is refused its n-th wish (refuse.c).

It may fail then, for it did not get what it wanted.  It may not crash, end early
or hang.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest

# The wishes 1, 2, 3, 13, 53, 213, ...: the first ones are those of what a test
# sets up, and a test has up to some thousands.  tests/torture/test_*.c refuse
# each wish.
FIRST = 3
GROWTH = 4

# They take seconds each time; test_engine.c refuses an inspection each wish.
TOO_SLOW = {"test_events", "test_hostile", "test_http", "test_inspect",
            "test_power", "test_reed_solomon", "test_visits"}

TESTS = [Path(t) for t in os.environ["XD_UNIT_TESTS"].split(",")]


def run(test, wish):
    """Whether anything was refused, and what Check calls an error."""
    with tempfile.TemporaryDirectory() as folder:  # who fails leaves files
        env = dict(os.environ, XD_REFUSE=str(wish), CK_DEFAULT_TIMEOUT="60",
                   CK_VERBOSITY="normal", TMPDIR=folder)
        done = subprocess.run([test], env=env, cwd=folder, capture_output=True,
                              check=False, text=True, errors="replace")
    assert re.search(r"Checks: \d+, Failures: \d+, Errors: ", done.stdout), (
        done.returncode, done.stderr)
    return "refused" in done.stderr, re.findall(r"^.*:E:.*$", done.stdout, re.M)


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("test", [t for t in TESTS if t.name not in TOO_SLOW],
                         ids=lambda t: t.name)
def test_what_is_refused_breaks_nothing(test):
    wish, was_refused = 1, True
    while was_refused:
        was_refused, errors = run(test, wish)
        assert errors == [], f"wish {wish}"
        wish = wish + 1 if wish < FIRST else wish * GROWTH + 1


@pytest.mark.slow
@pytest.mark.plain
def test_most_tests_have_wishes():
    refused = sum(run(t, 1)[0] for t in TESTS if t.name not in TOO_SLOW)
    assert refused > len(TESTS) / 2
