# SPDX-License-Identifier: MIT
"""Makes xdownload/_native.py out of the public headers of libxdownload.

    python3 native_builder.py FOLDER    # FOLDER/xdownload/_native.py

The headers are the only list of what there is.  cffi is used in its ABI mode: the
C compiler expands their macros, and nothing is compiled, so that neither headers
of Python are needed here nor a compiler where the module runs.  Structs say their
size to the library, which may be newer than they are.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cffi import FFI

SYSTEM_HEADERS = ("stdbool.h", "stddef.h", "stdint.h")  # cffi knows what is there


def include_flags() -> "list[str]":
    said = subprocess.run(["pkg-config", "--cflags", "xdownload"], check=True,
                          text=True, stdout=subprocess.PIPE).stdout
    return said.split()


def declarations() -> str:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            (Path(empty) / name).touch()
        text = subprocess.run(
            [*compiler, "-E", "-P", "-nostdinc", f"-I{empty}",
             *include_flags(), "-D__attribute__(x)=", "-DXD_SIZES_BY_HAND",
             "-"],
            input="#include <xdownload/xdownload.h>\n", check=True, text=True,
            stdout=subprocess.PIPE).stdout
    return re.sub(r"\b_Bool\b", "bool", text)


builder = FFI()
builder.set_source("xdownload._native", None)
builder.cdef(declarations())

if __name__ == "__main__":
    os.makedirs(os.path.join(sys.argv[1], "xdownload"), exist_ok=True)
    builder.emit_python_code(
        os.path.join(sys.argv[1], "xdownload", "_native.py"))
