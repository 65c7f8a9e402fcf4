# SPDX-License-Identifier: MIT
"""A file of random bytes and the Metalink that says where it lies."""
import hashlib
import random
from pathlib import Path

MEBIBYTE = 1 << 20


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class File:
    """`size` bytes in FOLDER/file, the same for the same size."""

    def __init__(self, folder, size):
        self.size, self.folder = size, Path(folder)
        self.data = random.Random(size).randbytes(size)
        self.path = self.folder / "file"
        self.path.write_bytes(self.data)
        self.sha256 = sha256(self.data)

    def metalink(self, path, urls, piece=MEBIBYTE, whole=True):
        """Write it to `path`, with a hash of each `piece` bytes unless that
        is 0, and of the whole if so wanted."""
        text = ['<?xml version="1.0" encoding="UTF-8"?>\n'
                '<metalink xmlns="urn:ietf:params:xml:ns:metalink">\n'
                f'<file name="file"><size>{self.size}</size>\n']
        if whole:
            text.append(f'<hash type="sha-256">{self.sha256}</hash>\n')
        if piece:
            text.append(f'<pieces length="{piece}" type="sha-256">\n')
            text += [f"<hash>{sha256(self.data[at:at + piece])}</hash>\n"
                     for at in range(0, self.size, piece)]
            text.append("</pieces>\n")
        text += [f"<url>{url}</url>\n" for url in urls]
        text.append("</file>\n</metalink>\n")
        Path(path).write_text("".join(text))
        return Path(path)

    def is_in(self, path):
        """The right bytes stand there."""
        try:
            return Path(path).read_bytes() == self.data
        except OSError:
            return False
