"""Runs pytest for ctest: without caches, and skipped where it is missing."""
import os
import sys

sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

try:
    import pytest
except ImportError:
    print("skipped: python3-pytest is not installed")
    sys.exit(1 if os.environ.get("XD_REQUIRE_ALL") else 77)

sys.exit(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]]))
