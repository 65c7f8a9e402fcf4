# SPDX-License-Identifier: MIT
"""Datagrams through an emulation, to measure the wire itself.

    probe.py serve ADDRESS...           on the depots' side
    probe.py ask COUNT BYTES ADDRESS... on the client's: each is asked at once
                                        for COUNT packets of BYTES (IP)

ask waits until none has come for half a second and prints in JSON, for each,
[[number, seconds after it was asked], ...].
"""
import json
import select
import socket
import struct
import sys
import time

PORT, HEADERS = 9, 28
BUFFER = 8 << 20


def bound(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, 32, BUFFER)  # SO_SNDBUFFORCE
    s.setsockopt(socket.SOL_SOCKET, 33, BUFFER)  # SO_RCVBUFFORCE
    if address:
        s.bind((address, PORT))
    return s


def serve(addresses):
    sockets = [bound(a) for a in addresses]
    print("ready", flush=True)
    while True:
        for s in select.select(sockets, [], [])[0]:
            request, client = s.recvfrom(100)
            count, size = struct.unpack("!II", request)
            for i in range(count):
                s.sendto(struct.pack("!I", i).ljust(size - HEADERS, b"."),
                         client)


def ask(count, size, addresses):
    sockets = [bound(None) for _ in addresses]
    began = time.monotonic()
    for s, address in zip(sockets, addresses):
        s.sendto(struct.pack("!II", count, size), (address, PORT))
    got = {s: [] for s in sockets}
    while ready := select.select(sockets, [], [], 0.5)[0]:
        for s in ready:
            number = struct.unpack("!I", s.recv(2000)[:4])[0]
            got[s].append([number, time.monotonic() - began])
    return list(got.values())


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2:])
    print(json.dumps(ask(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])))
