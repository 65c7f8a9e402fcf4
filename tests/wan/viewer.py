# SPDX-License-Identifier: MIT
"""Looks at a film while it comes: for how long the picture stands still.

    python3 viewer.py BYTES_PER_S PREBUFFER_S AHEAD_S [URL]

Reads the film from standard input or from a URL, at most AHEAD_S seconds further
than what is shown, and prints the seconds for which the picture stood still.
"""
import sys
import time
import urllib.request

CHUNK = 1 << 16


def stalled(film, rate, prebuffer, ahead):
    began, got, late = time.monotonic(), 0, 0.0
    while data := film.read1(CHUNK):
        now = time.monotonic() - began - prebuffer
        late = max(late, now - got / rate)
        got += len(data)
        time.sleep(max(0.0, got / rate - ahead - (now - late)))
    return late


def main():
    rate, prebuffer, ahead, *url = sys.argv[1:]
    film = urllib.request.urlopen(url[0]) if url else sys.stdin.buffer
    late = stalled(film, float(rate), float(prebuffer), float(ahead))
    print(f"{late:.2f}")


if __name__ == "__main__":
    main()
