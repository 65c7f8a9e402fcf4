# SPDX-License-Identifier: MIT
"""The public headers stand alone, and the library exports what they say."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
INCLUDE = SOURCE / "include"
HEADERS = sorted(f"{p.parent.name}/{p.name}" for p in INCLUDE.glob("*/*.h"))
WARNINGS = ["-pedantic-errors", "-Wall", "-Wextra", "-Wundef", "-Werror"]


def compilers(*names):
    """Those of them that are there; the first is the build's own."""
    found = [n for n in names if n and shutil.which(n)]
    if not found:
        pytest.skip(f"no compiler: {names[-1]}")
    return found


def compile_text(tmp_path, compiler, suffix, options, text):
    path = tmp_path / f"text{suffix}"
    path.write_text(text)
    return subprocess.run(
        [compiler, *options, *WARNINGS, f"-I{INCLUDE}", "-c", path, "-o",
         tmp_path / "text.o"], stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_a_header_alone_compiles_as_c(tmp_path, header, standard):
    for compiler in compilers(os.environ.get("XD_CC"), "gcc", "clang"):
        done = compile_text(tmp_path, compiler, ".c", [f"-std={standard}"],
                            f"#include <{header}>\n"
                            f"#include <{header}>\nextern int x;\n")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_alone_compiles_as_cplusplus(tmp_path, header):
    for compiler in compilers("g++", "clang++"):
        done = compile_text(tmp_path, compiler, ".cc", ["-std=c++11"],
                            f"#include <{header}>\n"
                            f"#include <{header}>\nextern int x;\n")
        assert done.returncode == 0, done.stderr


def test_a_header_that_needs_another_would_be_found_out(tmp_path):
    compiler = compilers(os.environ.get("XD_CC"), "cc")[0]
    done = compile_text(tmp_path, compiler, ".c", ["-std=c11"],
                        "struct xd_progress { size_t struct_size; };\n")
    assert done.returncode != 0


def examples_of(text):
    """Returns the programs in the first comment of a header."""
    about = re.sub(r"(?m)^ \* ?", "", text.partition("*/")[2].partition("*/")[0])
    return [re.sub(r"(?m)^ {4}", "", found) for found in re.findall(
        r"(?m)^    #include.*\n(?:(?: {4}.*)?\n)+", about)]


# Those that only include others, or have nothing to call.
WITHOUT_EXAMPLE = {"xdownload/version.h", "xdownload/xdownload.h",
                   "xdpublish/xdpublish.h"}


@pytest.mark.parametrize("header", HEADERS)
def test_the_examples_of_a_header_compile(tmp_path, header):
    programs = examples_of((INCLUDE / header).read_text())
    assert bool(programs) == (header not in WITHOUT_EXAMPLE)
    for program in programs:
        for compiler in compilers(os.environ.get("XD_CC"), "gcc", "clang"):
            done = compile_text(tmp_path, compiler, ".c", ["-std=c99"],
                                program + "extern int x;\n")
            assert done.returncode == 0, done.stderr


def exported():
    out = subprocess.run(
        ["nm", "-D", "--defined-only", os.environ["XD_LIBRARY"]],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    return sorted(line.split()[-1].split("@")[0]
                  for line in out.splitlines())


@pytest.mark.plain
def test_what_is_exported_is_the_kept_list():
    kept = (SOURCE / "lib" / "xdownload.symbols").read_text().split()
    assert exported() == kept


@pytest.mark.plain
def test_what_is_exported_is_what_the_headers_declare():
    text = "".join((INCLUDE / h).read_text() for h in HEADERS)
    declared = re.findall(r"XD_API[^;]*?\b(xd_\w+)\(", text)
    assert exported() == sorted(declared)
