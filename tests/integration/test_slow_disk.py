# SPDX-License-Identifier: MIT
"""The disk with one arm is measured before anything relies on it."""
import os
import subprocess
import time

import pytest

SLOW_DISK = os.environ.get("XD_SLOW_DISK", "slow_disk")
PAGE = 4096
SIZE = 1 << 20
SKIPPED = 77

if os.geteuid() != 0:
    pytest.exit("skipped: a mount takes root", returncode=SKIPPED)
if not os.access("/dev/fuse", os.R_OK | os.W_OK):
    pytest.exit("skipped: there is no /dev/fuse", returncode=SKIPPED)


class Mounted:
    def __init__(self, folder, seek_ms, rate):
        self.folder = folder / "mounted"
        self.folder.mkdir()
        self.process = subprocess.Popen(
            [SLOW_DISK, "--seek", str(seek_ms), "--rate", str(rate),
             folder / "files", self.folder], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "mounted\n"

    def counts(self):
        text = (self.folder / ".disk").read_text()
        return {k: int(v) for k, v in map(str.split, text.splitlines())}

    def read(self, name, at):
        """A page, of which the system does not guess what comes next."""
        fd = os.open(self.folder / name, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        data = os.pread(fd, PAGE, at)
        os.close(fd)
        return data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait() == 0
        self.process.stdout.close()
        assert not os.path.ismount(self.folder)


@pytest.fixture(name="files")
def _files(tmp_path):
    (tmp_path / "files" / "folder").mkdir(parents=True)
    files = {name: os.urandom(SIZE + 1) for name in "ab"}
    for name, data in files.items():
        (tmp_path / "files" / name).write_bytes(data)
    return files


def test_what_was_read_once_is_in_memory_for_all_who_open_it(tmp_path, files):
    with Mounted(tmp_path, 1, 1e9) as disk:
        for _ in range(2):
            assert (disk.folder / "a").read_bytes() == files["a"]
            counts = disk.counts()
            assert (counts["bytes"], counts["seeks"]) == (SIZE + 1, 1)


def test_the_arm_moves_where_a_read_does_not_go_on(tmp_path, files):
    with Mounted(tmp_path, 0, 1e9) as disk:
        for n, (name, at, seeks) in enumerate(
                [("a", 0, 1), ("a", PAGE, 1), ("a", 3 * PAGE, 2),
                 ("a", 2 * PAGE, 3), ("b", 3 * PAGE, 4), ("b", 4 * PAGE, 4)],
                start=1):
            assert disk.read(name, at) == files[name][at:at + PAGE]
            assert disk.counts() == {"bytes": n * PAGE, "reads": n,
                                     "seeks": seeks}


@pytest.mark.parametrize("seek_ms, rate, seconds", [
    (50, 1e9, 0.2), (0, 4 * PAGE / 0.2, 0.2), (25, 4 * PAGE / 0.1, 0.2)])
def test_seeks_and_bytes_take_their_time(tmp_path, files, seek_ms, rate,
                                         seconds):
    with Mounted(tmp_path, seek_ms, rate) as disk:
        began = time.monotonic()
        for i in range(4):
            disk.read("a", 2 * i * PAGE)
        assert time.monotonic() - began >= seconds


def test_nothing_is_written_and_folders_are_left_out(tmp_path, files):
    with Mounted(tmp_path, 0, 1e9) as disk:
        for name in ("folder", "c"):
            assert not (disk.folder / name).exists()
        with pytest.raises(OSError):
            (disk.folder / "a").write_bytes(b"")
        assert (disk.folder / "a").stat().st_size == SIZE + 1


@pytest.mark.parametrize("words", [
    [], ["--seek", "1", "--rate", "1"], ["--seek", "1", "--rate", "0", "a", "b"],
    ["--seek", "x", "--rate", "1", "a", "b"],
    ["--sick", "1", "--rate", "1", "a", "b"]])
def test_words_that_make_no_sense_are_refused(words):
    done = subprocess.run([SLOW_DISK, *words], stderr=subprocess.PIPE,
                          check=False)
    assert done.returncode == 2 and b"usage: slow_disk" in done.stderr
