# SPDX-License-Identifier: MIT
"""examples/python: the library from Python."""
import hashlib
import importlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
PACKAGE = SOURCE / "examples" / "python"
SIZE = 3_000_001

# A sanitizer wants to be loaded before Python.
pytestmark = pytest.mark.plain


@pytest.fixture(scope="module", name="folder")
def folder_of_the_package(tmp_path_factory):
    """As pip puts it down, made from the headers of this tree."""
    folder = tmp_path_factory.mktemp("python")
    (folder / "xdownload.pc").write_text(
        f"Name: xdownload\nDescription: -\nVersion: 0\n"
        f"Cflags: -I{SOURCE}/include\n")
    subprocess.run([sys.executable, PACKAGE / "native_builder.py", folder],
                   check=True, env={**os.environ, "CC": os.environ["XD_CC"],
                                    "PKG_CONFIG_PATH": str(folder)})
    for path in (PACKAGE / "xdownload").iterdir():
        if path.is_file():
            shutil.copy(path, folder / "xdownload")
    return folder


@pytest.fixture(scope="module", name="xd")
def module_under_test(folder):
    os.environ["XDOWNLOAD_LIBRARY"] = os.environ["XD_LIBRARY"]
    sys.path.insert(0, str(folder))
    yield importlib.import_module("xdownload")
    sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def no_depot_is_remembered(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


# ---- fetch ----

def test_a_file_is_fetched_with_progress(xd, lab):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.depot(rate=2_000_000) for _ in "ab"])
    seen = []
    done = xd.fetch(str(manifest), lab.path("out"), progress=seen.append,
                    block_size="64k", max_depots=2)
    assert lab.read("out") == data
    assert len(seen) > 2 and seen[-1] == done
    assert [p.bytes_done for p in seen] == sorted(p.bytes_done for p in seen)
    assert done.bytes_done == done.bytes_total == SIZE
    assert seen[0].bytes_done < SIZE


def test_urls_are_copies_of_one_file(xd, lab):
    data = lab.file("f.bin", SIZE)
    urls = [depot.url("f.bin") for depot in lab.depots(2)]
    xd.fetch(urls, lab.path("out"))
    assert lab.read("out") == data
    xd.fetch(urls[0], lab.path("one"), header=["A: b", "C: d"])
    assert lab.read("one") == data


def test_what_progress_raises_ends_the_download(xd, lab):
    lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.depot(rate=500_000)])

    def enough(progress):
        raise ValueError(progress.bytes_total)
    with pytest.raises(ValueError, match=str(SIZE)):
        xd.fetch(str(manifest), lab.path("out"), progress=enough)
    assert not lab.path("out").exists()


def test_an_error_says_what_the_library_does(xd, lab):
    lab.file("f.bin", SIZE)
    with pytest.raises(xd.Error, match="no-such-option") as caught:
        xd.fetch("m", "out", no_such_option="1")
    assert caught.value.code == "INVAL"
    with pytest.raises(xd.Error) as caught:
        xd.fetch(lab.depot().url("no-such-file"), lab.path("out"))
    assert caught.value.http_status == 404
    assert "no-such-file" in caught.value.url
    with pytest.raises(xd.Error, match="m.xnd") as caught:
        xd.fetch(lab.path("m.xnd"), lab.path("out"))
    assert caught.value.code == "IO"


def test_other_threads_run_while_the_library_waits(xd, lab):
    """A depot that holds everything up for as long as this thread has not run."""
    lab.file("f.bin", SIZE)
    has_run = threading.Event()
    depot = lab.odd(lambda *_: has_run.wait() and b"")
    thread = threading.Timer(0.5, has_run.set)
    thread.start()
    with pytest.raises(xd.Error):
        xd.fetch([depot.url("f.bin")], lab.path("out"), max_time="60s",
                 retry=1, patience="0s")
    assert has_run.is_set()


@pytest.mark.parametrize("call", [
    "fetch(url, 'out')", "open(url).read(1)",
    "fetch(manifest, 'out')", "open(manifest).read(1)"])
def test_a_signal_ends_a_call_that_waits(folder, lab, call):
    silent = lab.silent()
    program = subprocess.Popen(
        [sys.executable, "-c",
         f"import xdownload; url = {silent.url('f.bin')!r}\n"
         f"manifest = {str(lab.exnode('f.bin', [silent], SIZE))!r}\n"
         f"print('begins', flush=True)\nxdownload.{call}"],
        cwd=lab.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(folder),
             "XDOWNLOAD_LIBRARY": os.environ["XD_LIBRARY"]})
    assert program.stdout.readline() == "begins\n"
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=60)
    assert "KeyboardInterrupt" in err


# ---- open ----

@pytest.mark.parametrize("close", [lambda f: f.close(), lambda f: f.raw.close()],
                         ids=["buffered", "raw"])
def test_a_close_ends_a_read_of_another_thread(xd, lab, close):
    """The depot never delivers, so that nothing else ends it."""
    f = xd.open(str(lab.exnode("f.bin", [lab.silent()], SIZE)))
    raised = []

    def read():
        try:
            f.read(1)
        except ValueError as error:
            raised.append(str(error))
    reading = threading.Thread(target=read, daemon=True)
    closing = threading.Thread(target=close, args=(f,), daemon=True)
    reading.start()
    time.sleep(0.3)
    closing.start()
    for thread in (closing, reading):
        thread.join(60)
        assert not thread.is_alive()
    assert raised == ["I/O operation on closed file"]
    assert f.closed


def test_a_file_is_read_and_sought_while_it_arrives(xd, lab):
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(2))
    with xd.open(str(manifest)) as f:
        assert isinstance(f, io.BufferedReader)
        assert f.read(10) == data[:10] and f.tell() == 10
        assert f.seek(-5, os.SEEK_END) == SIZE - 5
        assert f.read() == data[-5:] and f.read(1) == b""
        f.seek(1_000_000)
        f.seek(7, os.SEEK_CUR)
        assert f.read(100_000) == data[1_000_007:1_100_007]
        f.seek(0)
        digest = hashlib.sha256(iter_bytes(f)).digest()
        assert digest == hashlib.sha256(data).digest()
        with pytest.raises(ValueError):
            f.seek(-1)
        with pytest.raises(xd.Error):
            f.seek(SIZE + 1)
    with pytest.raises(ValueError):
        f.read(1)


def iter_bytes(f):
    return b"".join(iter(lambda: f.read(65_536), b""))


def test_the_standard_library_reads_from_it(xd, lab):
    """An archive, of which only the end and one member are asked for."""
    with zipfile.ZipFile(lab.www / "a.zip", "w") as made:
        made.writestr("big", os.urandom(2_000_000))
        made.writestr("small", b"hello")
    depot = lab.depot()
    with xd.open([depot.url("a.zip")], spool="none", lookahead="64k") as f:
        assert zipfile.ZipFile(f).read("small") == b"hello"


def test_a_reader_that_is_dropped_leaves_no_thread(xd, lab):
    lab.file("f.bin", SIZE)
    manifest = str(lab.exnode("f.bin", [lab.depot(rate=500_000)]))

    def threads():
        return len(os.listdir("/proc/self/task"))
    before = threads()
    f = xd.open(manifest)
    assert f.read(1)
    assert threads() > before
    del f
    end = time.monotonic() + 60
    while threads() > before:
        assert time.monotonic() < end
        time.sleep(0.1)


# ---- the package ----

def test_it_is_typed(folder):
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict",
                           "--cache-dir", folder / "cache", "-p", "xdownload"],
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=folder)
    assert done.returncode == 0, done.stdout


def test_all_functions_are_those_of_the_headers(xd):
    library = importlib.import_module("xdownload._library")
    text = "".join(h.read_text() for h in
                   (SOURCE / "include" / "xdownload").glob("*.h"))
    symbols = re.findall(r"XD_API[^;]*?\b(xd_\w+)\(", text)
    assert len(symbols) > 50
    assert [s for s in symbols if not hasattr(library.lib, s)] == []


def test_its_version_is_that_of_the_library(xd):
    text = (PACKAGE / "pyproject.toml").read_text()
    assert re.search(r'(?m)^version = "(.*)"', text)[1] == xd.version()


@pytest.mark.slow
def test_pip_installs_it(folder, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "source")
    subprocess.run(
        [sys.executable, "-m", "pip", "-q", "install", "--no-build-isolation",
         "--no-deps", "--no-index", "--target", tmp_path / "site",
         tmp_path / "source"], check=True, env={
             **os.environ, "CC": os.environ["XD_CC"],
             "PKG_CONFIG_PATH": str(folder)})
    said = subprocess.run(
        [sys.executable, "-c", "import xdownload; print(xdownload.version())"],
        check=True, text=True, stdout=subprocess.PIPE, cwd=tmp_path, env={
            **os.environ, "PYTHONPATH": str(tmp_path / "site"),
            "XDOWNLOAD_LIBRARY": os.environ["XD_LIBRARY"]}).stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", said)
