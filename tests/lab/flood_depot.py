# SPDX-License-Identifier: MIT
"""An HTTP/2 depot that answers each request with empty DATA frames, without
end: libcurl does not come back from reading them as long as there are more.

    with FloodDepot(certificate, key, size) as depot:
        fetch(depot.url("f.bin"))
"""
import contextlib
import socket
import ssl
import struct
import threading

DATA, HEADERS, SETTINGS = 0, 1, 4
END_HEADERS, ACK = 4, 1
FRAMES = 5000  # sent at a time


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(
        ">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header without HPACK's tables (RFC 7541, 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


class FloodDepot:
    def __init__(self, certificate, key, size):
        self.size = size
        self.n_floods = 0
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._context.set_alpn_protocols(["h2"])
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(32)
        self.host = "%s:%d" % self._socket.getsockname()
        threading.Thread(target=self._serve_all, daemon=True).start()

    def url(self, name):
        return f"https://{self.host}/{name}"

    def _serve_all(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,),
                             daemon=True).start()

    def _serve(self, client):
        with contextlib.suppress(OSError), \
                self._context.wrap_socket(client, server_side=True) as c:
            stream = self._request(c)
            c.sendall(frame(HEADERS, END_HEADERS, stream,
                            b"\x88" + literal(b"content-length",
                                              str(self.size).encode())))
            self.n_floods += 1
            while True:
                c.sendall(frame(DATA, 0, stream) * FRAMES)

    @staticmethod
    def _request(c):
        """The stream of the first request."""
        c.sendall(frame(SETTINGS, 0, 0))
        rest = b""
        while True:
            part = c.recv(65536)
            if not part:
                raise OSError
            rest += part
            at = 24  # behind the preface
            while len(rest) >= at + 9:
                length = int.from_bytes(rest[at:at + 3], "big")
                if rest[at + 3] == SETTINGS and not rest[at + 4] & ACK:
                    c.sendall(frame(SETTINGS, ACK, 0))
                if rest[at + 3] == HEADERS:
                    return int.from_bytes(rest[at + 5:at + 9], "big")
                at += 9 + length
            rest = rest[:24] + rest[at:] if at > 24 else rest

    def close(self):
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
