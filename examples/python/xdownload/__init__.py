# SPDX-License-Identifier: MIT
"""Fetch a file from all the servers that have it at once.

    xdownload.fetch("fedora.meta4", "fedora.iso", progress=print)

    with xdownload.open(["https://a.example/film.mkv",
                         "https://b.example/film.mkv"]) as film:
        film.seek(-1000, 2)
        tail = film.read()

`source` is the path of a manifest, a URL, or URLs of copies of one file.  Options
are those of the command: block_size="1m", limit_rate="2m", same_file=True.
What fails raises Error; a signal ends each call that waits, as KeyboardInterrupt
for example.
"""
import io
import os
import threading
from dataclasses import dataclass, fields as names_of
from typing import Any, Callable, Iterable, Optional, Union

from ._library import (LOOK_S, Error, Value, check, ffi, fields, lib, make, manifest,
                       options, struct, text)

__all__ = ["Error", "Progress", "fetch", "open", "version"]

Source = Union[str, "os.PathLike[str]", Iterable[str]]

SIZE_UNKNOWN = 2**64 - 1
LOOK_MS = int(1000 * LOOK_S)


def version() -> str:
    """That of the library."""
    return text(lib.xd_version()) or ""


# ---- fetch ----

@dataclass(frozen=True)
class Progress:
    """How far a download is: see struct xd_progress."""
    bytes_done: int
    bytes_total: Optional[int]  # None until it is known
    bytes_received: int
    bytes_redundant: int
    bytes_resumed: int
    seconds: float
    bytes_per_s: float
    depots_open: int
    depots_failed: int
    verified: Optional[str]  # the hash that proved the file


def _progress(download: Any) -> Progress:
    made = struct("xd_progress")
    lib.xd_download_progress(download, made)
    values = fields(made, [f.name for f in names_of(Progress)])
    if values["bytes_total"] == SIZE_UNKNOWN:
        values["bytes_total"] = None
    return Progress(**values)


def fetch(source: Source, path: "Union[str, os.PathLike[str]]", *,
          file: int = 0,
          progress: Optional[Callable[[Progress], object]] = None,
          **chosen: Value) -> Progress:
    """Fetch file number `file` of `source` to `path`.

    `progress` is called several times per second, on the caller's thread, and
    once at the end; what it raises ends the download, which a later one
    continues.
    """
    values = options(chosen)
    error = ffi.new("struct xd_error *")
    download = make(lib.xd_download_new, "xd_download", lib.xd_download_unref,
                    manifest(source, values), file, ffi.NULL,
                    os.fsencode(path), values)
    try:
        check(lib.xd_download_start(download, error), error)
        code = lib.XD_E_AGAIN
        while code == lib.XD_E_AGAIN:
            code = lib.xd_download_wait(download, LOOK_MS, error)
            if progress is not None and code == lib.XD_E_AGAIN:
                progress(_progress(download))
        check(code, error)
        done = _progress(download)
        if progress is not None:
            progress(done)
        return done
    finally:
        ffi.release(download)


# ---- open ----

class _Reader(io.RawIOBase):
    """A file that is read while it arrives."""

    def __init__(self, source: Source, file: int, chosen: Any) -> None:
        # Held during each call, so that close() frees nothing that is in use.
        # A signal handler may close the file that its own thread reads.
        self._lock = threading.RLock()
        self._is_closing = False
        self._at = 0
        self._source = make(lib.xd_source_new, "xd_source",
                            lib.xd_source_unref, manifest(source, chosen),
                            file, chosen)
        self._reader = make(lib.xd_reader_new, "xd_reader", lib.xd_reader_free,
                            self._source)

    def _wait_for(self, call: Callable[[], int]) -> int:
        """The result of the call, which is made again until it has one."""
        while True:
            with self._lock:
                self._check_open()
                got = call()
                if got >= 0:
                    return got
                self._check_open()
                if got != lib.XD_E_AGAIN:
                    error = ffi.new("struct xd_error *")
                    lib.xd_reader_error(self._reader, error)
                    raise Error(got, error)

    def _check_open(self) -> None:
        if self.closed or self._is_closing:
            raise ValueError("I/O operation on closed file")

    def interrupt(self) -> None:
        """End a read that another thread waits for, before the file is closed."""
        self._is_closing = True
        if not self.closed:
            lib.xd_reader_interrupt(self._reader, True)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with ffi.from_buffer(buffer, require_writable=True) as room:
            count = self._wait_for(lambda: int(lib.xd_reader_read(
                self._reader, room, len(room), LOOK_MS)))
        self._at += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self.tell()
        elif whence == os.SEEK_END:
            offset += self.size()
        elif whence != os.SEEK_SET:
            raise ValueError(f"invalid whence: {whence}")
        if offset < 0:
            raise ValueError(f"negative seek position {offset}")
        self._at = self._wait_for(
            lambda: int(lib.xd_reader_seek(self._reader, offset)))
        return self._at

    def tell(self) -> int:
        with self._lock:
            self._check_open()
            return self._at

    def size(self) -> int:
        return self._wait_for(
            lambda: int(lib.xd_reader_size(self._reader, LOOK_MS)))

    def close(self) -> None:
        self.interrupt()
        with self._lock:
            if not self.closed:
                super().close()
                ffi.release(self._reader)
                ffi.release(self._source)


class _BufferedReader(io.BufferedReader):
    """Its close() ends a read of another thread, which holds the lock that
    io.BufferedReader.close() waits for."""

    raw: _Reader

    def close(self) -> None:
        self.raw.interrupt()
        super().close()


def open(source: Source, *, file: int = 0, buffering: int = 1 << 18,
         **chosen: Value) -> io.BufferedReader:
    """Open file number `file` of `source` for reading while it arrives.

    What is returned reads and seeks as a file of this machine does; a read waits
    until the bytes are here, and proved where the manifest has hashes of pieces.
    `spool="none"` keeps what arrived in memory, `keep="NAME"` in a file.
    """
    return _BufferedReader(_Reader(source, file, options(chosen)), buffering)
