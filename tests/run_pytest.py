# SPDX-License-Identifier: MIT
"""Runs pytest for ctest: without caches in the tree, and skipped where it is
missing.

A test that hangs ends the run, and where each thread was is said.
"""
import faulthandler
import os
import sys

os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

# Where these are set pytest shows two unequal files line by line, which takes
# minutes for megabytes of noise.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)

try:
    import pytest
except ImportError:
    print("skipped: python3-pytest is not installed")
    sys.exit(1 if os.environ.get("XD_REQUIRE_ALL") else 77)

# Files that several rows import are compiled once, into the build: that is half
# a second for each row.
sys.dont_write_bytecode = "XD_BUILD" not in os.environ
sys.pycache_prefix = os.path.join(os.environ.get("XD_BUILD", ""), "pycache")

# Seconds for one test: every wait within one is shorter.
PATIENCE = 300


class Watchdog:
    def __init__(self):
        self._stderr = os.dup(2)  # pytest puts a file in its place

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        faulthandler.dump_traceback_later(PATIENCE, exit=True,
                                          file=self._stderr)
        yield
        faulthandler.cancel_dump_traceback_later()


sys.exit(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]],
                     plugins=[Watchdog()]))
