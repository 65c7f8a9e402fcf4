"""What every integration test may ask for, and which tests run.

XDOWNLOAD       the command under test
XD_THROTTLE     the program tests/lab/throttle
XD_SLOW         also run what takes long
XD_SANITIZED    the build has sanitizers: no test of memory use
XD_REQUIRE_ALL  a skipped test is a failure
"""
import os

import pytest

from lab import Lab, find_nginx


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds")
    config.addinivalue_line("markers", "plain: not for a sanitized build")


def pytest_collection_modifyitems(config, items):
    def wanted(item):
        if item.get_closest_marker("slow") and not os.environ.get("XD_SLOW"):
            return False
        return not (item.get_closest_marker("plain")
                    and os.environ.get("XD_SANITIZED"))
    config.hook.pytest_deselected(items=[i for i in items if not wanted(i)])
    items[:] = [i for i in items if wanted(i)]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped and os.environ.get("XD_REQUIRE_ALL"):
        report.outcome = "failed"


@pytest.fixture
def lab():
    if not find_nginx():
        pytest.skip("nginx is not installed")
    with Lab() as made:
        yield made
