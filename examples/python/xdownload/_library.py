# SPDX-License-Identifier: MIT
"""The library, and what every call of it needs: options, errors, structs.

cffi releases the interpreter's lock for each call, so that other threads run
while the library waits for the network.
"""
import os
import sys
import threading
from typing import (Any, Callable, Dict, Iterable, List, Mapping, Optional,
                    Union)

from ._native import ffi as ffi

LOOK_S = 0.2  # how long a call waits before Python looks for signals

Value = Union[str, int, float, bool, Iterable[str]]

lib: Any = ffi.dlopen(os.environ.get("XDOWNLOAD_LIBRARY") or (
    "libxdownload.0.dylib" if sys.platform == "darwin"
    else "libxdownload.so.0"))


def text(pointer: Any) -> Optional[str]:
    if pointer == ffi.NULL:
        return None
    return bytes(ffi.string(pointer)).decode(errors="replace")


class Error(Exception):
    """What the library says of a failure.

    code: "NET", "CORRUPT", "MANIFEST" and others of <xdownload/error.h>
    """

    def __init__(self, code: int, error: Any = None) -> None:
        self.code = text(lib.xd_code_name(code))
        self.message = text(error.msg) if error is not None else \
            text(lib.xd_code_text(code))
        self.depot = text(error.depot) or None if error is not None else None
        self.url = text(error.url) or None if error is not None else None
        self.http_status: int = error.http_status if error is not None else 0
        super().__init__(self.message)


def check(code: int, error: Any = None) -> int:
    if code < 0:
        raise Error(code, error)
    return code


def make(function: Any, kind: str, free: Any, *arguments: Any) -> Any:
    """The object that function(&object, ..., &error) makes, which goes with its
    last reference."""
    out = ffi.new(f"struct {kind} **")
    error = ffi.new("struct xd_error *")
    check(function(out, *arguments, error), error)
    return ffi.gc(out[0], free)


def struct(kind: str) -> Any:
    """A struct of that kind for the library to fill in."""
    made = ffi.new(f"struct {kind} *")
    made.struct_size = ffi.sizeof(f"struct {kind}")
    return made


def options(values: Mapping[str, Value]) -> Any:
    """block_size="1m", same_file=True, header=["A: b", "C: d"], max_depots=4:
    the names are those of the command, with "_" for "-"."""
    made = make(lib.xd_options_new, "xd_options", lib.xd_options_free)
    error = ffi.new("struct xd_error *")
    for name, value in values.items():
        for one in _strings(value):
            check(lib.xd_options_set(made, name.replace("_", "-").encode(),
                                     one.encode(), error), error)
    return made


def _strings(value: Value) -> List[str]:
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, (str, int, float)):
        return [str(value)]
    return [str(one) for one in value]


def manifest(source: Union[str, "os.PathLike[str]", Iterable[str]],
             chosen: Any) -> Any:
    """What a path, a URL, or URLs of copies of one file lead to."""
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    kept = [ffi.new("char[]", os.fsencode(one)) for one in sources]
    array = ffi.new("char *[]", kept)
    return interruptible(chosen, lambda: make(
        lib.xd_manifest_open, "xd_manifest", lib.xd_manifest_unref, array,
        len(kept), chosen))


def interruptible(chosen: Any, call: Callable[[], Any]) -> Any:
    """What the call returns, which uses these options.  It runs on a thread of its
    own, while this one looks for signals: what their handlers raise ends it."""
    cancel = make(lib.xd_cancel_new, "xd_cancel", lib.xd_cancel_free)
    results: List[Any] = []

    def run() -> None:
        try:
            results.append(call())
        except Error as error:
            results.append(error)

    lib.xd_options_set_cancel(chosen, cancel)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK_S)
    finally:
        lib.xd_cancel_trigger(cancel)
        thread.join()
        lib.xd_options_set_cancel(chosen, ffi.NULL)
        ffi.release(cancel)
    if isinstance(results[0], Error):
        raise results[0]
    return results[0]


def fields(made: Any, names: Iterable[str]) -> Dict[str, Any]:
    """These fields of a struct, as Python has them."""
    values = {}
    for name in names:
        value = getattr(made, name)
        if isinstance(value, ffi.CData):
            value = text(value)
        values[name] = value
    return values
