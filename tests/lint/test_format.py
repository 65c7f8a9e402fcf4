# SPDX-License-Identifier: MIT
"""clang-format decides on the form of C."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
FOLDERS = ["lib", "cli", "include", "examples", "tests"]


def clang_format():
    """Returns the path of version 14, or of a later one."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and int(re.search(r"version (\d+)", subprocess.run(
                [path, "--version"], check=True, text=True,
                stdout=subprocess.PIPE).stdout)[1]) >= 14:
            return path
    return pytest.skip("clang-format 14 or later is not installed")


def is_formatted(*files):
    done = subprocess.run([clang_format(), "--dry-run", "-Werror",
                           "-style=file", *files], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout)
    return done.returncode == 0


def test_every_c_file_is_formatted():
    files = [p for f in FOLDERS for p in (SOURCE / f).rglob("*.[ch]")]
    assert len(files) > 100
    assert is_formatted(*files)


def test_a_file_that_is_not_formatted_is_found(tmp_path):
    shutil.copy(SOURCE / ".clang-format", tmp_path)
    planted = tmp_path / "x.c"
    planted.write_text("int  x ;\n")
    assert not is_formatted(planted)
