# SPDX-License-Identifier: MIT
"""The oldest of each that is allowed: what is newer has something in its place,
which is built and run here."""
import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
CC = os.environ["XD_CC"]
CMAKE = os.environ["XD_CMAKE"]
FLOORS = {"CURL": "7.81", "LibXml2": "2.9.13", "OpenSSL": "3.0"}


def run(*command):
    done = subprocess.run(list(map(str, command)), check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.plain
def test_nothing_newer_is_needed(tmp_path):
    """Transports and threads: the rest has no newer names."""
    run(CMAKE, "-S", SOURCE, "-B", tmp_path, f"-DCMAKE_C_COMPILER={CC}",
        "-DCMAKE_BUILD_TYPE=Debug", "-DXD_WERROR=ON", "-DXD_FLOOR=ON")
    tests = ["test_thread", "test_transports"]
    run(CMAKE, "--build", tmp_path, "--parallel", "2", "--target", *tests)
    for name in tests:
        [program] = tmp_path.rglob(name)
        assert "Failures: 0, Errors: 0" in run(program)


@pytest.mark.plain
def test_a_newer_name_would_be_found(tmp_path):
    planted = tmp_path / "x.c"
    planted.write_text("#include <curl/curl.h>\nint x = CURLINFO_CONN_ID;\n")
    done = subprocess.run([CC, "-c", planted, "-o", tmp_path / "x.o",
                           "-include", SOURCE / "lib/io/http/curl_floor.h"],
                          check=False, text=True, stderr=subprocess.PIPE)
    assert done.returncode != 0 and "poisoned" in done.stderr


def test_the_floors_are_the_same_everywhere():
    for name, floor in FLOORS.items():
        for path in ("CMakeLists.txt", "lib/package/xdownloadConfig.cmake"):
            text = (SOURCE / path).read_text()
            assert re.search(rf"\({name} {re.escape(floor)}\b", text), path
            assert "IMPORTED_TARGET libisal>=2.30)" in text, path
    requires = (SOURCE / "lib/package/xdownload.pc.in").read_text()
    assert ("libcurl >= 7.81, libxml-2.0 >= 2.9.13, libcrypto >= 3.0, "
            "libisal >= 2.30\n" in requires)
    for path in ("CMakeLists.txt", "examples/CMakeLists.txt"):
        assert "cmake_minimum_required(VERSION 3.21)" in \
            (SOURCE / path).read_text()
