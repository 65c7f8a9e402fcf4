# SPDX-License-Identifier: MIT
"""Half of the benchmarks take a wide area; where that is missing, none runs."""
import pytest

import common  # it knows where wan.py is
from wan import SKIPPED, missing


def pytest_sessionstart():
    if wants := missing():
        pytest.exit("skipped: " + "; ".join(wants), returncode=SKIPPED)
