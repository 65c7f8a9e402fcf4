# SPDX-License-Identifier: MIT
"""A wide area takes more than a build; where that is missing, nothing runs."""
import pytest

from wan import SKIPPED, missing


def pytest_sessionstart():
    if wants := missing():
        pytest.exit("skipped: " + "; ".join(wants), returncode=SKIPPED)
