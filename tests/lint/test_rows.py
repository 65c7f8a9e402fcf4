# SPDX-License-Identifier: MIT
"""How tests/run.sh counts rows, and which of them it runs once more."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
TESTS = SOURCE / "tests"

BUILD = Path(os.environ["XD_BUILD"])

PASSES = "echo '3 passed in 0.10s'"
FAILS = "echo '1 failed, 2 passed in 0.10s'; exit 1"


def without_a_row(files):
    """Those that ctest runs nowhere."""
    # Not by ctest, which would write its log anew, while it is written.
    said = "".join(p.read_text() for p in BUILD.rglob("CTestTestfile.cmake"))
    return [f for f in files if f'"{f}"' not in said]


def test_each_file_of_tests_has_a_row():
    files = sorted(TESTS.rglob("test_*.py"))
    assert len(files) > 50
    assert without_a_row(files) == []
    assert without_a_row([TESTS / "lint/test_none.py"]) != []


def failing_once(says=""):
    return (f"if [ -e once ]; then {PASSES}; else touch once; echo '{says}'; "
            f"{FAILS}; fi")


def run_rows(folder, rows, chances=2):
    """What it printed, whether it failed, and what it counted: test functions
    that passed and failed, and rows that passed only alone.

    rows: {name: what the shell runs for it}
    """
    tests = []
    for name, command in rows.items():
        path = folder / f"{name}.sh"
        path.write_text(command)
        tests.append(f'add_test({name} "sh" "{path}")\n')
    (folder / "CTestTestfile.cmake").write_text("".join(tests))
    run = subprocess.run(
        ["sh", "-c", '. "$1"; chances=$3; run_rows x "$2"; status=$?; '
         'echo "$failures"; echo "status $status"; '
         'echo "$passed $failed"; echo $alone', "sh",
         TESTS / "lab" / "rows.sh", folder, str(chances)],
        text=True, check=True, stdout=subprocess.PIPE, cwd=folder)
    *said, status, counts, alone = run.stdout.split("\n")[:-1]
    return said, status != "status 0", counts, alone


def test_rows_that_pass_run_once(tmp_path):
    said, has_failed, counts, alone = run_rows(
        tmp_path, {"a": PASSES, "b": PASSES})
    assert (has_failed, counts, alone) == (False, "6 0", "")
    assert "== once more, alone" not in said


def test_a_row_that_fails_once_passes_alone_and_is_named(tmp_path):
    said, has_failed, counts, alone = run_rows(
        tmp_path, {"a.b": failing_once("it was late"), "c": PASSES})
    assert (has_failed, counts) == (False, "6 0")
    assert alone == "x:a.b"
    assert said.index("it was late") < said.index("== once more, alone")


def test_a_row_that_fails_again_has_failed(tmp_path):
    _, has_failed, counts, alone = run_rows(
        tmp_path, {"a": FAILS, "b": failing_once(), "c": PASSES})
    assert (has_failed, counts) == (True, "8 1")
    assert alone == "x:b"


def test_what_failed_in_the_end_is_told_with_its_last_words(tmp_path):
    said, *_ = run_rows(
        tmp_path, {"a": "echo it was wrong; " + FAILS, "b": failing_once(),
                   "c": PASSES})
    told = said[said.index("failed: x:a"):]
    assert "it was wrong" in told
    assert "failed: x:b" not in said and "failed: x:c" not in said


def test_without_a_second_chance_a_row_that_fails_has_failed(tmp_path):
    _, has_failed, counts, alone = run_rows(tmp_path, {"a": failing_once()}, 1)
    assert (has_failed, counts, alone) == (True, "2 1", "")


WRONG_BYTES = """
def test_x():
    assert b'abX' == b'abc'
"""
ONE_OF_TWO = """
def test_x():
    assert b'abX' in [b'abc', b'xyz']
"""


def what_pytest_says(folder, test):
    (folder / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (folder / "test_x.py").write_text(test)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", folder / "test_x.py"],
        text=True, check=False, stdout=subprocess.PIPE).stdout


@pytest.mark.parametrize("test", [WRONG_BYTES, ONE_OF_TWO])
def test_files_that_differ_are_called_wrong_bytes(tmp_path, test):
    assert "assert WRONG BYTES" in what_pytest_says(tmp_path, test)


@pytest.mark.parametrize("trace", [
    "E  AssertionError: assert WRONG BYTES: 3 where 3 are right",
    "SUMMARY: AddressSanitizer: heap-use-after-free",
    "WARNING: ThreadSanitizer: data race",
    "x.c:3:5: runtime error: signed integer overflow",
    "==123== Invalid read of size 4",
    "E  assert 99 == 0", "E  assert -11 == 0",
    "(after this point) Received signal 11 (Segmentation fault)"])
def test_a_defect_gets_no_second_chance(tmp_path, trace):
    said, has_failed, counts, alone = run_rows(
        tmp_path, {"a": failing_once(trace), "b": PASSES})
    assert (has_failed, counts, alone) == (True, "5 1", "")
    assert "== once more, alone" not in said


def test_beside_a_defect_others_get_their_second_chance(tmp_path):
    _, has_failed, counts, alone = run_rows(
        tmp_path, {"a": "echo WRONG BYTES; " + FAILS, "b": failing_once()})
    assert (has_failed, counts) == (True, "5 1")
    assert alone == "x:b"


def test_where_many_rows_fail_none_gets_a_second_chance(tmp_path):
    _, has_failed, counts, alone = run_rows(
        tmp_path, {f"r{i}": FAILS for i in range(6)})
    assert (has_failed, counts, alone) == (True, "12 6", "")


def test_a_row_that_ends_without_a_word_has_failed(tmp_path):
    _, has_failed, counts, _ = run_rows(tmp_path, {"a": "exit 3", "b": PASSES})
    assert (has_failed, counts) == (True, "3 0")
