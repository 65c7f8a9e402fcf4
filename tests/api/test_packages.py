# SPDX-License-Identifier: MIT
"""What cpack makes: the same bytes wherever it is built, and Debian packages
that install, upgrade and leave nothing behind."""
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
CC = os.environ["XD_CC"]
CMAKE = os.environ["XD_CMAKE"]

VERSION = ".".join(re.findall(
    r"#define XD_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
    (SOURCE / "include" / "xdownload" / "version.h").read_text()))

pytestmark = pytest.mark.plain

# A mail address, and a bug of Debian's, are those of the person who packs.
NOT_OURS = "bogus-mail-host,bogus-mail-host-in-debian-changelog," \
    "initial-upload-closes-no-bugs"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def pack(source, release):
    """The packages of that release, built in a folder of that source."""
    build = source / "b"
    run(CMAKE, "-S", source, "-B", build, "--preset", "package",
        f"-DCMAKE_C_COMPILER={CC}", f"-DXD_PACKAGE_RELEASE={release}")
    run(CMAKE, "--build", build, "--parallel", "2")
    out = source / f"packages-{release}"
    run(Path(CMAKE).with_name("cpack"), "-B", out, cwd=build)
    return sorted(p for p in out.iterdir() if p.is_file())


def copy_of_source(to):
    for name in ("lib", "cli", "include", "examples", "tests",
                 "CMakeLists.txt", "CMakePresets.json", "LICENSE"):
        if (SOURCE / name).is_dir():
            shutil.copytree(SOURCE / name, to / name, symlinks=True)
        else:
            shutil.copy(SOURCE / name, to / name)
    return to


@pytest.fixture(scope="module", name="folder")
def folder_of_all(tmp_path_factory):
    return tmp_path_factory.mktemp("packages")


@pytest.fixture(scope="module", name="packages")
def packages_of_two_releases(folder):
    source = folder / "one"
    source.mkdir()
    copy_of_source(source)
    return {release: pack(source, release) for release in (1, 2)}


def debs(packages):
    return [p for p in packages if p.suffix == ".deb"]


@pytest.mark.slow
def test_these_are_the_packages(packages):
    names = [p.name.partition("_")[0] for p in debs(packages[1])]
    assert names == ["libxdownload-dev", "libxdownload0", "xdownload"]
    assert [p.name for p in packages[1] if p.suffix == ".gz"] == [
        f"xdownload-{VERSION}-Linux.tar.gz"]


@pytest.mark.slow
def test_another_folder_gives_the_same_bytes(packages, folder):
    source = folder / "another folder with a longer name"
    source.mkdir()
    copy_of_source(source)
    os.utime(source / "cli" / "xdownload.pod", (0, 0))
    sums = [{p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in made}
            for made in (packages[1], pack(source, 1))]
    assert sums[0] == sums[1]


@pytest.mark.slow
def test_lintian_finds_nothing(packages):
    said = run("lintian", "--allow-root", "--fail-on", "error,warning",
               "--suppress-tags", NOT_OURS, *debs(packages[1]))
    assert said == ""


# ---- Debian packages ----

class Root:
    """A folder that dpkg takes for the system: that of this machine by what is
    known to be installed, but without the files."""

    def __init__(self, folder):
        self.path = folder
        self.dpkg_folder = folder / "var" / "lib" / "dpkg"
        for name in ("info", "updates", "triggers"):
            (self.dpkg_folder / name).mkdir(parents=True)
        own = ("xdownload", "libxdownload")
        known = Path("/var/lib/dpkg/status").read_text().split("\n\n")
        (self.dpkg_folder / "status").write_text("\n\n".join(
            p for p in known if not p.startswith(
                tuple(f"Package: {name}" for name in own))))

    def dpkg(self, *words):
        return run("dpkg", f"--root={self.path}", "--force-not-root",
                   "--force-script-chrootless", "--log=/dev/null", *words)

    def files(self):
        return {str(p.relative_to(self.path)) for p in self.path.rglob("*")
                if self.dpkg_folder not in p.parents}

    def version_of(self, package):
        return self.dpkg("-s", package).partition("Version: ")[2].split()[0]


@pytest.fixture(name="root")
def empty_root(tmp_path):
    return Root(tmp_path / "root")


def says_its_version(root):
    return run(root.path / "usr/bin/xdownload", "--version")


@pytest.mark.slow
def test_packages_install_upgrade_and_leave_nothing(packages, root):
    """Each dependency is there, or dpkg would not configure them."""
    before = root.files()
    root.dpkg("-i", *debs(packages[1]))
    installed = root.files()
    assert VERSION in says_its_version(root)
    assert root.version_of("libxdownload0") == f"{VERSION}-1"

    root.dpkg("-i", *debs(packages[2]))
    assert root.files() == installed
    assert root.version_of("libxdownload0") == f"{VERSION}-2"
    assert VERSION in says_its_version(root)

    root.dpkg("--purge", "xdownload", "libxdownload-dev", "libxdownload0")
    assert root.files() == before


@pytest.mark.slow
def test_the_command_runs_without_the_shared_library(packages, root):
    [command] = [p for p in packages[1] if p.name.startswith("xdownload_")]
    root.dpkg("-i", command)
    assert VERSION in run(root.path / "usr/bin/xdownload", "--version")


@pytest.mark.slow
def test_no_file_is_in_two_packages(packages):
    files = [line.split(maxsplit=5)[5] for deb in debs(packages[1])
             for line in run("dpkg-deb", "-c", deb).splitlines()
             if not line.startswith("d")]
    assert len(files) == len(set(files))


# ---- the archive ----

@pytest.mark.slow
def test_the_archive_runs_where_it_is_unpacked(packages, tmp_path):
    [archive] = [p for p in packages[1] if p.name.endswith(".tar.gz")]
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    [command] = tmp_path.glob("*/bin/xdownload")
    assert VERSION in run(command, "--version")
    program = tmp_path / "consumer"
    [pc] = tmp_path.rglob("xdownload.pc")
    flags = run("pkg-config", "--cflags", "--libs", "xdownload", env={
        **os.environ, "PKG_CONFIG_PATH": str(pc.parent)}).split()
    run(CC, Path(__file__).with_name("consumer.c"), "-o", program, *flags)
    run(program, env={**os.environ, "LD_LIBRARY_PATH": str(pc.parent.parent)})


# ---- whose flags count ----

def flags_of(tmp_path, *options):
    """How a file is compiled, and how the command is linked."""
    run(CMAKE, "-S", SOURCE, "-B", tmp_path, f"-DCMAKE_C_COMPILER={CC}", "-G",
        "Unix Makefiles", "-DBUILD_TESTING=OFF", "-DCMAKE_BUILD_TYPE=Release",
        *options)
    cli = tmp_path / "cli" / "CMakeFiles" / "xdownload_cli.dir"
    # The linker's options as gcc is given them; clang, as CMake knows it, takes
    # each by itself.
    linked = (cli / "link.txt").read_text().replace("-Xlinker -z -Xlinker ",
                                                    "-Wl,-z,")
    return ((cli / "flags.make").read_text(), linked)


def test_hardening_is_there_if_nobody_says_otherwise(tmp_path):
    compiled, linked = flags_of(tmp_path)
    assert "-D_FORTIFY_SOURCE=2" in compiled
    assert "-fstack-protector-strong" in compiled
    assert "-z,relro" in linked and "-z,now" in linked


@pytest.mark.slow
def test_hardening_yields_to_the_flags_of_who_packs(tmp_path):
    compiled, linked = flags_of(
        tmp_path, "-DCMAKE_C_FLAGS=-D_FORTIFY_SOURCE=3 -fno-stack-protector",
        "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,lazy",
        "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,-z,lazy")
    assert "-D_FORTIFY_SOURCE=3" in compiled
    assert "FORTIFY_SOURCE=2" not in compiled
    assert "-fstack-protector" not in compiled
    assert "-z,now" not in linked and "-z,relro" in linked
