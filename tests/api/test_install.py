# SPDX-License-Identifier: MIT
"""What is installed can be moved, and others can build on it."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
BUILD = Path(os.environ["XD_BUILD"])
CC = os.environ["XD_CC"]
CMAKE = os.environ["XD_CMAKE"]
CONSUMER = Path(__file__).parent / "consumer.c"


def run(*command, **env):
    done = subprocess.run(list(map(str, command)), check=False, text=True,
                          env={**os.environ, **env}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module", name="first_prefix")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("install") / "first"
    run(CMAKE, "--install", BUILD, "--prefix", prefix, DESTDIR="")
    return prefix


@pytest.fixture(scope="module", name="prefix")
def moved(first_prefix):
    return first_prefix.rename(first_prefix.parent / "moved")


def libdir(prefix):
    [found] = prefix.rglob("xdownload.pc")
    return found.parent.parent


def soversion():
    return re.search(r"set\(XD_SOVERSION (\d+)\)",
                     (SOURCE / "lib" / "CMakeLists.txt").read_text())[1]


def version(prefix):
    return pkg_config(prefix, "--modversion")


# ---- what is there ----

def test_exactly_what_was_promised_is_put_down(prefix):
    pages = set()
    if shutil.which("pod2man"):
        pages = {*(f"man1/{p.stem}.1" for p in SOURCE.glob("cli/*.pod")),
                 "man3/libxdownload.3", "man5/xdownload-manifest.5"}
        headers = {h.stem for h in (SOURCE / "include").glob("*/*.h")}
        pages |= {f"man3/xd_{h}.3" for h in headers - {"xdownload",
                                                       "xdpublish"}}
    number = version(prefix)
    wanted = {
        "bin/xdownload", "share/doc/xdownload/LICENSE",
        "share/bash-completion/completions/xdownload",
        "share/zsh/site-functions/_xdownload",
        "share/fish/vendor_completions.d/xdownload.fish",
        *(f"include/{h.parent.name}/{h.name}"
          for h in (SOURCE / "include").glob("*/*.h")),
        *(f"{libdir(prefix).relative_to(prefix)}/{name}" for name in [
            "libxdownload.a", "libxdownload.so", f"libxdownload.so.{number}",
            f"libxdownload.so.{soversion()}", "pkgconfig/xdownload.pc",
            "cmake/xdownload/xdownloadConfig.cmake",
            "cmake/xdownload/xdownloadConfigVersion.cmake",
            "cmake/xdownload/xdownload-shared.cmake",
            "cmake/xdownload/xdownload-static.cmake"]),
        *(f"share/man/{page}" for page in pages),
        *(f"share/xdownload/scripts/{script.name}"
          for script in (SOURCE / "cli" / "scripts").iterdir()),
        *(f"share/xdownload/scenarios/{scenario.name}"
          for folder in ("examples/paper", "tests/wan")
          for scenario in (SOURCE / folder / "scenarios").iterdir())}
    there = {str(p.relative_to(prefix)) for p in prefix.rglob("*")
             if not p.is_dir()}
    # CMake adds one file per build type.
    there = {p for p in there if not re.search(
        r"/xdownload-(shared|static)-\w+\.cmake$", p)}
    assert there == wanted


def test_the_soname_carries_a_number_of_its_own(prefix):
    dynamic = run("readelf", "-d", libdir(prefix) / "libxdownload.so")
    assert f"soname: [libxdownload.so.{soversion()}]" in dynamic


def test_the_version_is_the_same_everywhere(prefix):
    header = (SOURCE / "include" / "xdownload" / "version.h").read_text()
    assert version(prefix) == ".".join(
        re.findall(r"#define XD_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def test_nothing_remembers_where_it_was(prefix, first_prefix):
    places = [str(SOURCE), str(BUILD), str(first_prefix)]
    for path in libdir(prefix).rglob("*.*"):
        if path.suffix in (".pc", ".cmake"):
            text = path.read_text()
            assert [p for p in places if p in text] == [], path
    for path in (prefix / "bin" / "xdownload", libdir(prefix) /
                 "libxdownload.so"):
        paths = re.findall(r"R(?:UN)?PATH.*", run("readelf", "-d", path))
        assert [p for p in places if p in "".join(paths)] == [], path


def test_the_command_finds_its_library_where_it_was_moved(prefix):
    said = run(prefix / "bin" / "xdownload", "--version")
    assert version(prefix) in said


# ---- building on it ----

def pkg_config(prefix, *options):
    tool = shutil.which("pkg-config") or pytest.skip("no pkg-config")
    return run(tool, *options, "xdownload", PKG_CONFIG_PATH=str(
        libdir(prefix) / "pkgconfig")).strip()


def linkable(flag):
    """Whether the linker knows this -l; others are left out."""
    name = flag[2:]
    return not flag.startswith("-l") or any(
        "/" in run(CC, f"-print-file-name=lib{name}.{end}")
        for end in ("so", "a"))


def needed(program):
    return re.findall(r"NEEDED.*\[(.*?)\]", run("readelf", "-d", program))


def check_run(program, prefix):
    said = run(program, LD_LIBRARY_PATH=str(libdir(prefix))).splitlines()
    assert said[0] == version(prefix)
    assert "block-size" in said


@pytest.mark.plain
def test_a_program_is_built_with_pkg_config(prefix, tmp_path):
    program = tmp_path / "consumer"
    run(CC, CONSUMER, "-o", program,
        *pkg_config(prefix, "--cflags", "--libs").split())
    check_run(program, prefix)
    libraries = needed(program)
    assert f"libxdownload.so.{soversion()}" in libraries
    assert not re.search("curl|xml", "".join(libraries))


@pytest.mark.plain
def test_a_program_is_built_statically_with_pkg_config(prefix, tmp_path):
    alone = tmp_path / "static"
    shutil.copytree(prefix, alone, symlinks=True)
    for shared in libdir(alone).glob("*.so*"):
        shared.unlink()
    flags = pkg_config(alone, "--static", "--cflags", "--libs").split()
    assert {"-lxdownload", "-lcurl", "-lxml2", "-pthread"} <= set(flags)
    # Of what libcurl and libxml2 are made of, their static archives alone need
    # all, and not everything is there; the shared ones bring it with them.
    program = tmp_path / "consumer"
    run(CC, CONSUMER, "-o", program,
        *(f for f in flags if linkable(f) or f == "-lxdownload"))
    check_run(program, alone)
    assert "libxdownload" not in "".join(needed(program))


def cmake_consumer(prefix, folder, package, target, *options):
    (folder / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.21)
project(consumer LANGUAGES C)
find_package(xdownload {package})
add_executable(consumer {CONSUMER})
target_link_libraries(consumer PRIVATE {target})
""")
    run(CMAKE, "-S", folder, "-B", folder / "b", f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_PREFIX_PATH={prefix}", *options)
    run(CMAKE, "--build", folder / "b")
    return folder / "b" / "consumer"


@pytest.mark.plain
def test_a_program_is_built_with_find_package(prefix, tmp_path):
    """For the shared library nothing else has to be installed."""
    program = cmake_consumer(prefix, tmp_path, f"{version(prefix)} REQUIRED",
                             "xdownload::xdownload",
                             "-DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON",
                             "-DCMAKE_DISABLE_FIND_PACKAGE_LibXml2=ON")
    check_run(program, prefix)
    assert f"libxdownload.so.{soversion()}" in needed(program)


@pytest.mark.plain
def test_a_program_is_built_statically_with_find_package(prefix, tmp_path):
    program = cmake_consumer(prefix, tmp_path, "REQUIRED COMPONENTS static",
                             "xdownload::static")
    check_run(program, prefix)
    assert "libxdownload" not in "".join(needed(program))


@pytest.mark.parametrize("package, why", [
    ("99 REQUIRED", "99"), ("REQUIRED COMPONENTS tls", "no component tls")])
def test_find_package_refuses_what_is_not_there(prefix, tmp_path, package,
                                                why):
    with pytest.raises(AssertionError, match=why):
        cmake_consumer(prefix, tmp_path, package, "xdownload::xdownload")


@pytest.mark.slow
@pytest.mark.plain
def test_without_shared_libraries_there_is_none(tmp_path):
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    run(CMAKE, "-S", SOURCE, "-B", build, f"-DCMAKE_C_COMPILER={CC}",
        "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF",
        f"-DCMAKE_INSTALL_PREFIX={prefix}")
    run(CMAKE, "--build", build, "--parallel", "2")
    run(CMAKE, "--install", build)
    assert not list(prefix.rglob("libxdownload.so*"))
    assert list(prefix.rglob("libxdownload.a"))
    assert "libxdownload" not in "".join(needed(prefix / "bin/xdownload"))
    run(prefix / "bin/xdownload", "--version")
    program = cmake_consumer(prefix, tmp_path, "REQUIRED",
                             "xdownload::xdownload")
    run(program)
    assert {"-lxdownload", "-lcurl"} <= set(
        pkg_config(prefix, "--cflags", "--libs").split())
