# SPDX-License-Identifier: MIT
"""Which of the pytest tests run.

CMake sets XDOWNLOAD, XD_THROTTLE, XD_LIBRARY, XD_BUILD, XD_SOURCE and XD_CC to
what is under test, XD_SANITIZED where the build has sanitizers, and XD_PART: 2/4
is every fourth test from the second.  A person may set

XD_SLOW         also run what takes long; "only": run nothing but that, and what
                a sanitized build leaves out
XD_REQUIRE_ALL  a skipped test is a failure
"""
import os

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds")
    config.addinivalue_line("markers", "plain: not for a sanitized build")


def pytest_collection_modifyitems(config, items):
    slow = os.environ.get("XD_SLOW")

    def wanted(item):
        is_slow = item.get_closest_marker("slow")
        is_plain = item.get_closest_marker("plain")
        if slow == "only" and not is_slow and not is_plain:
            return False
        if is_slow and not slow:
            return False
        return not (is_plain and os.environ.get("XD_SANITIZED"))
    config.unwanted = [i for i in items if not wanted(i)]
    config.hook.pytest_deselected(items=config.unwanted)
    part, parts = map(int, os.environ.get("XD_PART", "1/1").split("/"))
    items[:] = [i for i in items if wanted(i)][part - 1::parts]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped and os.environ.get("XD_REQUIRE_ALL"):
        report.outcome = "failed"


def pytest_assertrepr_compare(op, left, right):
    """Names the first difference of two files, not all of their bytes."""
    def are_bytes(*values):
        return all(isinstance(v, (bytes, bytearray)) for v in values)

    if op == "in" and isinstance(right, list) and are_bytes(left, *right):
        return [f"WRONG BYTES: {len(left)} that are in none of "
                f"{len(right)} files"]
    if op != "==" or not are_bytes(left, right):
        return None
    at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b),
              min(len(left), len(right)))
    return [f"WRONG BYTES: {len(left)} where {len(right)} are right, "
            f"the first difference at {at}",
            f"{left[at:at + 40]!r} != {right[at:at + 40]!r}"]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """A file of which nothing is wanted here is no failure."""
    nothing = exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
    if nothing and session.config.unwanted:
        session.exitstatus = pytest.ExitCode.OK
