# SPDX-License-Identifier: MIT
"""Servers that answer some requests for a file in another way than the others."""
import threading

from lab import asked_range, bytes_of

SIZE = 4_000_000
DATA = bytes_of(SIZE)
PAGE = (b"<!DOCTYPE html><html><head><title>Sign in</title></head>"
        b"<body>Hotel Wifi</body></html>")


def reply(status, body=b"", **fields):
    """The bytes of an answer; a field's name has _ in place of -."""
    fields = {"Content_Length": len(body), **fields}
    head = f"HTTP/1.1 {status} Words\r\n" + "".join(
        f"{name.replace('_', '-')}: {value}\r\n"
        for name, value in fields.items() if value is not None)
    return head.encode() + b"Connection: close\r\n\r\n" + body


def serve(head, data=DATA, ranges=True, most=None, **fields):
    """Sends the range that is asked for, and breaks off after `most` bytes."""
    asked = asked_range(head) if ranges else None
    begin, last = asked or (0, None)
    end = len(data) if last is None else min(last + 1, len(data))
    if begin >= len(data):
        return reply(416, Content_Range=f"bytes */{len(data)}")
    body = data[begin:end]
    if asked:
        fields["Content_Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
    return reply(206 if asked else 200, body[:most],
                 **{"Content_Length": len(body), **fields})


class Counter:
    """Calls answers[0] for the first request, and so on; then `rest`."""

    def __init__(self, answers, rest):
        self.answers, self.rest = list(answers), rest
        self.lock, self.n, self.sent = threading.Lock(), 0, 0

    def __call__(self, head):
        with self.lock:
            self.n += 1
            answer = self.answers.pop(0) if self.answers else self.rest
        data = answer(head)
        with self.lock:
            self.sent += len(data)
        return data
