# SPDX-License-Identifier: MIT
"""Runs pytest for ctest: without caches in the tree, and skipped where it is
missing.

A test that hangs ends the run, and where each thread was is said.
"""
import faulthandler
import gc
import os
import sys
from pathlib import Path

# A hundred rows begin with this: what is loaded is no garbage, and pytest needs
# none of the plugins that happen to be installed.
gc.set_threshold(20_000)
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

# Where these are set pytest shows two unequal files line by line, which takes
# minutes for megabytes of noise.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)


def is_slow(path):
    """Whether all of its tests are."""
    return "\npytestmark = pytest.mark.slow\n" in Path(path).read_text()


# Without pytest, which takes a third of a second to find out.
paths = [a for a in sys.argv[1:] if a.endswith(".py")]
if paths and not os.environ.get("XD_SLOW") and all(map(is_slow, paths)):
    print("nothing to do without XD_SLOW")
    sys.exit(0)

try:
    import pytest
except ImportError:
    print("skipped: python3-pytest is not installed")
    sys.exit(1 if os.environ.get("XD_REQUIRE_ALL") else 77)

# Files that several rows import are compiled once, into the build: that is half
# a second for each row.
sys.dont_write_bytecode = "XD_BUILD" not in os.environ
sys.pycache_prefix = os.path.join(os.environ.get("XD_BUILD", ""), "pycache")

# Seconds after which a test hangs: every wait within one is shorter, and no build
# takes as long, not even on a busy machine.
PATIENCE = 900


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
