# SPDX-License-Identifier: MIT
"""HTTPS, HTTP/2, FTP and local files, each against a real server."""
import contextlib
import os
import shutil
import socket
import ssl
import struct
import subprocess
import threading

import pytest

from lab import PATIENCE, Depot, asked_range, bytes_of, listening_socket
from served import Served

SIZE = 2_000_003


@pytest.fixture(autouse=True)
def _openssl():
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")


def depot_of(run, depot):
    return next(d for d in run.report["depots"] if d["host"] == depot.host)


def asked(request):
    """How many bytes a request of nginx's log was for."""
    first, last = request["range"].removeprefix("bytes=").split("-")
    return int(last) - int(first) + 1


def most_at_once(requests):
    """How many of them nginx was answering at one moment.

    Its times are whole milliseconds of a clock that it reads once in each turn:
    what ends in one has ended before what begins in it.  Not for a depot with
    limit_rate, which calls a request ended some time after its last byte.
    """
    def ms(seconds):
        return round(seconds * 1000)

    begins = [(ms(r["end"]) - ms(r["seconds"]), 1) for r in requests]
    ends = [(ms(r["end"]), -1) for r in requests]
    most = now = 0
    for _, step in sorted(begins + ends):
        now += step
        most = max(most, now)
    return most


# ---- TLS and HTTP/2 ----

def test_requests_at_one_https_depot_are_streams_of_one_connection(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot(certificate=lab.certificate(), rate=2_000_000)
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-a", "basic",
                        "-t", 4, "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    requests = depot.requests()
    assert {r["protocol"] for r in requests} == {"HTTP/2.0"}
    assert depot.connections() == 1
    assert len(requests) == 8
    assert most_at_once(requests) == 4


@pytest.mark.plain
def test_little_of_what_comes_over_http2_is_in_vain(lab):
    """What a server has written comes, though its stream was reset.  Where the
    processor is the limit, as in a sanitized build, it can be more."""
    data = lab.file("f.bin", 10 * SIZE)
    certificate = lab.certificate()
    depots = [lab.depot(certificate=certificate, rate=rate, delay=30,
                        writes_ahead=True)
              for rate in (4_000_000, 2_000_000, 1_000_000)]
    run = lab.xdownload(lab.metalink("f.bin", depots))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert {r["protocol"] for r in depots[0].requests()} == {"HTTP/2.0"}
    assert sum(sum(d.throttle.close()) for d in depots) < 1.05 * len(data)


@pytest.mark.slow
def test_without_http2_each_request_at_a_time_has_its_connection(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot(certificate=lab.certificate(), http2=False,
                      config="limit_rate 200k;")
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-a", "basic",
                        "-t", 2, "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert {r["protocol"] for r in depot.requests()} == {"HTTP/1.1"}
    assert depot.connections() == 2


def test_without_tls_http_1_1_is_spoken(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot(config="limit_rate 200k;")
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-a", "basic",
                        "-t", 2, "-b", "256k")
    assert run.rc == 0, run.err
    assert {r["protocol"] for r in depot.requests()} == {"HTTP/1.1"}
    assert depot.connections() == 2


@pytest.mark.parametrize("algorithm", [
    pytest.param("aggressive", marks=pytest.mark.slow), "progress"])
def test_requests_that_are_cut_short_leave_their_connection_whole(lab,
                                                                  algorithm):
    data = lab.file("f.bin", 4 * SIZE)
    slow = lab.depot(certificate=lab.certificate(), rate=300_000)
    fast = lab.depot(rate=3_000_000)
    run = lab.xdownload(lab.metalink("f.bin", [slow, fast]), "-a", algorithm,
                        "-t", 2, "-b", "256k", "-R", 2,
                        *(["-P", 1] if algorithm == "progress" else []))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    requests = slow.requests()
    assert {r["protocol"] for r in requests} == {"HTTP/2.0"}
    cut = [r for r in requests if r["sent"] < asked(r)]
    after = [r for r in requests if r["end"] > min(c["end"] for c in cut)]
    assert cut and after
    # Libcurl up to 7.88 takes a connection without requests for dead if half
    # of a TLS record has come: now and then one cut costs the connection.
    assert slow.connections() <= 1 + len(cut) // 2
    assert depot_of(run, slow)["failures"] == 0


def test_an_answer_that_is_refused_leaves_its_connection_whole(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot(certificate=lab.certificate(), ranges=False,
                      config="limit_rate 2m;")
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-b", "1m")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert any(r["sent"] < SIZE for r in depot.requests())
    assert depot.connections() == 1


def test_a_reader_that_is_slow_holds_up_no_stream_for_ever(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot(certificate=lab.certificate())
    process = lab.start(lab.exnode("f.bin", [depot]), "-o", "-", "-t", 4,
                        "-a", "basic", "--lookahead", "64k", "-b", "16k",
                        stdout=(pipe := os.pipe())[1])
    os.close(pipe[1])
    got = bytearray()
    with open(pipe[0], "rb", buffering=0) as out:
        while part := out.read(4096):
            got += part
    run = process.wait()
    assert run.rc == 0, run.err
    assert bytes(got) == data
    assert depot.connections() == 1


def test_answers_that_are_refused_together_leave_nothing_behind(lab):
    """Libcurl holds a part of each; what it loses is AddressSanitizer's."""
    data = lab.file("f.bin", SIZE)
    certificate = lab.certificate()
    whole = lab.depot(certificate=certificate, ranges=False)
    good = lab.depot(rate=4_000_000)
    run = lab.xdownload(lab.exnode("f.bin", [whole, good]),
                        "-a", "aggressive", "-b", "64k", "-t", 8)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("name, trusted, says", [
    ("IP:127.0.0.1", False, "certificate"),
    ("DNS:elsewhere.example", True, "127.0.0.1"),
], ids=["unknown", "of-another-name"])
def test_a_wrong_certificate_is_that_depots_failure(lab, name, trusted, says):
    data = lab.file("f.bin", SIZE)
    wrong = lab.depot(certificate=lab.certificate(name, trusted))
    good = lab.depot()
    run = lab.xdownload(lab.exnode("f.bin", [wrong, good]), "-a", "basic")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    error = depot_of(run, wrong)["error"]
    assert error.startswith(f"{wrong.url('f.bin')}: SSL")
    assert says in error
    assert depot_of(run, wrong)["bytes"] == 0
    assert wrong.requests() == []


def test_a_wrong_certificate_of_the_only_depot_is_said(lab):
    lab.file("f.bin", SIZE)
    wrong = lab.depot(certificate=lab.certificate(trusted=False))
    run = lab.xdownload(lab.exnode("f.bin", [wrong]))
    assert run.rc == 1
    assert f"{wrong.url('f.bin')}: SSL certificate problem" in run.err
    assert not lab.path("f.bin").exists()


def test_what_began_encrypted_is_not_redirected_into_the_clear(lab):
    lab.file("f.bin", SIZE)
    clear = lab.depot()
    certificate = lab.certificate()
    down = lab.depot(certificate=certificate,
                     config=f"location /f.bin {{ return 302 {clear.url('f.bin')}; }}")
    run = lab.xdownload(lab.exnode("f.bin", [down], SIZE))
    assert run.rc == 1
    assert clear.requests() == []


def test_a_redirect_to_https_is_followed(lab):
    data = lab.file("f.bin", SIZE)
    safe = lab.depot(certificate=lab.certificate())
    up = lab.depot(config=f"location /f.bin {{ return 302 {safe.url('f.bin')}; }}")
    run = lab.xdownload(lab.exnode("f.bin", [up], SIZE))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_the_http_and_https_urls_of_a_host_are_one_depot(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot(certificate=lab.certificate())
    clear = Depot(depot.host)  # where TLS is awaited
    run = lab.xdownload(lab.metalink("f.bin", [clear, depot]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert len(run.report["depots"]) == 1


class ResettingDepot(Depot):
    """Speaks TLS and resets each connection at some moment."""

    def __init__(self, certificate, moment, data):
        self.moment, self.data = moment, data
        self.resets = 0
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate.path, certificate.key)
        self._socket = listening_socket()
        super().__init__("127.0.0.1:%d" % self._socket.getsockname()[1],
                         scheme="https")
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                with contextlib.suppress(OSError):
                    self._one(client)
                self.resets += 1

    def _one(self, client):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          struct.pack("ii", 1, 0))
        if self.moment == "handshake":
            client.recv(100)
            client.close()
            return
        with self._context.wrap_socket(client, server_side=True) as tls:
            first, last = asked_range(tls.recv(4096).decode())
            body = self.data[first:last + 1]
            tls.sendall(b"HTTP/1.1 206 Partial Content\r\nContent-Length: %d"
                        b"\r\nContent-Range: bytes %d-%d/%d\r\n\r\n"
                        % (len(body), first, last, len(self.data)))
            half = len(body) // 2
            tls.sendall(body if self.moment == "answered" else body[:half])

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.mark.parametrize("moment", ["handshake", "body", "answered"])
def test_a_reset_under_tls_is_no_signal_to_the_host(lab, moment):
    """The host is a program that leaves SIGPIPE as it is: it would die."""
    data = lab.file("f.bin", SIZE)
    with contextlib.closing(ResettingDepot(lab.certificate(), moment,
                                           data)) as bad:
        manifest = lab.exnode("f.bin", [bad, lab.depot(rate=2_000_000)])
        run = subprocess.run([f"{os.environ['XD_BUILD']}/examples/fetch",
                              manifest, lab.path("out")],
                             env=lab.environment, stderr=subprocess.PIPE,
                             timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    assert lab.read("out") == data
    assert bad.resets > 0


# ---- FTP ----

class FtpDepot(Depot):
    """pyftpdlib with the files of `folder`; `said` has what clients said."""

    def __init__(self, folder, refuse=(), mute=(), rounds=1):
        """refuse: {command: reply} that it answers in place of its own
        mute: codes of the replies that it never gives
        rounds: begin at multiples of so many bytes, whatever REST said
        """
        handlers = pytest.importorskip("pyftpdlib.handlers")
        ioloop = pytest.importorskip("pyftpdlib.ioloop")
        servers = pytest.importorskip("pyftpdlib.servers")
        authorizers = pytest.importorskip("pyftpdlib.authorizers")
        said = self.said = []
        refuse = dict(refuse)

        class Handler(handlers.FTPHandler):
            def pre_process_command(self, line, cmd, arg):
                said.append(line)
                if cmd in refuse:
                    self.respond(refuse[cmd])
                    return
                if cmd == "REST":
                    arg = str(int(arg) // rounds * rounds)
                super().pre_process_command(line, cmd, arg)

            def respond(self, reply, *args, **kwargs):
                if reply[:3] not in mute:
                    super().respond(reply, *args, **kwargs)

        Handler.authorizer = authorizers.DummyAuthorizer()
        Handler.authorizer.add_anonymous(str(folder))
        self.server = servers.FTPServer(("127.0.0.1", 0), Handler,
                                        ioloop.IOLoop())
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        super().__init__("127.0.0.1:%d" % self.server.address[1],
                         scheme="ftp")

    def _serve(self):
        while not self.ended.is_set():
            self.server.ioloop.loop(timeout=0.05, blocking=False)

    def close(self):
        self.ended.set()
        self.thread.join()
        self.server.close_all()

    def commands(self, name):
        return [line for line in self.said if line.split()[0] == name]


@pytest.fixture
def ftp(lab):
    """Makes an FTP depot of the common files, or of others."""
    with contextlib.ExitStack() as made:
        def make(refuse=(), mute=(), folder=lab.www, rounds=1):
            return made.enter_context(contextlib.closing(
                FtpDepot(folder, refuse, mute, rounds)))
        yield make


def test_ranges_come_from_an_ftp_depot(lab, ftp):
    data = lab.file("f.bin", SIZE)
    depot = ftp()
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-a", "basic",
                        "-t", 2, "-b", "512k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    begins = {int(line.split()[1]) for line in depot.commands("REST")}
    assert begins - {SIZE - 2 | 1} == {524288, 1048576, 1572864}
    assert depot_of(run, depot)["failures"] == 0


def test_ftp_and_http_depots_share_a_file(lab, ftp):
    data = lab.file("f.bin", 4 * SIZE)
    both = [ftp(), lab.depot(rate=4_000_000)]
    run = lab.xdownload(lab.metalink("f.bin", both), "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert all(depot_of(run, d)["bytes"] for d in both)


def test_an_ftp_depot_says_the_size_that_no_manifest_has_said(lab, ftp):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.urls("f.bin", [ftp()]), "-o", "-")
    assert run.rc == 0, run.err
    assert run.out == data


def test_a_url_with_a_name_and_a_password_logs_in_with_them(lab, ftp):
    data = lab.file("f.bin", SIZE)
    depot = ftp()
    depot.server.handler.authorizer.add_user("me", "secret", str(lab.www))
    depot.url = lambda name: f"ftp://me:secret@{depot.host}/{name}"
    run = lab.xdownload(lab.exnode("f.bin", [depot]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "USER me" in depot.said
    assert "secret" not in run.err


def test_blanks_and_folders_of_an_ftp_url_reach_the_server(lab, ftp):
    (lab.www / "a b").mkdir()
    data = bytes_of(SIZE)
    (lab.www / "a b" / "f.bin").write_bytes(data)
    depot = ftp()
    run = lab.xdownload(lab.exnode_of("f.bin", [
        (0, SIZE, depot.url("a%20b/f.bin"), 0, SIZE)]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("refuse, says", [
    ({"SIZE": "550 no such file."}, "answered 550"),
    ({"SIZE": "213 2000002"}, "has 2000002 bytes instead of 2000003"),
    ({"RETR": "450 busy."}, "answered 450"),
    ({"USER": "421 too many."}, "answered 421"),
    ({"PASS": "530 not you."}, "answered 530"),
], ids=["gone", "other-size", "busy", "full", "no-login"])
def test_what_an_ftp_depot_refuses_comes_from_another(lab, ftp, refuse, says):
    data = lab.file("f.bin", SIZE)
    bad = ftp(refuse)
    run = lab.xdownload(lab.exnode("f.bin", [bad, lab.depot()]), "-a", "basic")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert depot_of(run, bad)["bytes"] == 0
    assert depot_of(run, bad)["error"] == f"{bad.url('f.bin')}: {says}"


def test_a_file_that_an_ftp_depot_does_not_have_is_gone(lab, ftp):
    lab.file("f.bin", SIZE)
    empty = lab.folder / "empty"
    empty.mkdir()
    bad = ftp(folder=empty)
    run = lab.xdownload("-t", "1", lab.exnode("f.bin", [bad]))
    assert run.rc == 1
    assert f"{bad.url('f.bin')}: answered 550" in run.err
    assert len(bad.commands("USER")) == 1  # it is not asked again


def test_an_ftp_depot_that_begins_at_the_first_byte_only_is_read_past(lab,
                                                                      ftp):
    data = lab.file("f.bin", SIZE)
    depot = ftp({"REST": "502 what?"})
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-b", "1m")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("refuse", [
    {"SIZE": "502 what?"}, {"SIZE": "502 what?", "REST": "502 what?"}],
    ids=["no-size", "nor-rest"])
@pytest.mark.parametrize("make", ["exnode", "urls"])
def test_an_ftp_depot_that_does_not_say_the_size_is_read_to_its_end(
        lab, ftp, refuse, make):
    data = lab.file("f.bin", SIZE)
    depot = ftp(refuse)
    run = lab.xdownload(getattr(lab, make)("f.bin", [depot]))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_an_ftp_copy_of_unsaid_size_that_breaks_off_is_not_complete(lab, ftp):
    data = lab.file("f.bin", SIZE)
    depot = ftp({"SIZE": "502 what?"}, mute=("226",))
    run = lab.xdownload(lab.urls("f.bin", [depot]), "--retry", 1,
                        "--silence", "1s", "--patience", "2s", patience=30)
    assert run.rc == 1
    assert not lab.path("f.bin").exists()
    assert data


def test_an_ftp_depot_that_says_no_farewell_holds_nobody_up(lab, ftp):
    """libcurl would wait for answers to its last words, for two minutes."""
    farewells = ("221", "225", "226", "426")
    data = lab.file("f.bin", SIZE)
    depot = ftp(mute=farewells)
    bad = ftp({"RETR": "550 no."}, mute=farewells)
    run = lab.xdownload(lab.exnode("f.bin", [depot, bad]), "-a", "basic",
                        "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_an_ftp_copy_that_breaks_off_without_a_word_holds_nobody_up(lab, ftp):
    data = lab.file("f.bin", SIZE)
    folder = lab.folder / "short"
    folder.mkdir()
    (folder / "f.bin").write_bytes(data[:SIZE // 2])
    bad = ftp({"SIZE": f"213 {SIZE}"}, mute=("221", "226", "426"),
              folder=folder)
    run = lab.xdownload(lab.exnode("f.bin", [bad, lab.depot()]), "-a", "basic",
                        "-b", "4m", "--silence", "10m", patience=30)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "was closed early, at offset 1000001" in depot_of(run, bad)["error"]


def test_an_empty_file_of_an_ftp_depot_holds_nobody_up(lab, ftp):
    lab.file("f.bin", 0)
    depot = ftp(mute=("221", "226", "426"))
    run = lab.xdownload(lab.urls("f.bin", [depot]), "--silence", "10m",
                        patience=30)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == b""


@pytest.mark.parametrize("size", ["-5", "5", "0", "2,000,003",
                                  "18446744073709551615"])
def test_ftp_size_that_cannot_be_is_unknown(lab, ftp, size):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.urls("f.bin", [ftp({"SIZE": f"213 {size}"})]),
                        "-o", "f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_ftp_file_that_is_longer_than_its_size_is_not_complete(lab, ftp):
    lab.file("f.bin", SIZE)
    depot = ftp({"SIZE": "213 1000000"})
    run = lab.xdownload(lab.urls("f.bin", [depot]), "-o", "f.bin")
    assert run.rc == 1
    assert f"{depot.url('f.bin')}: sent more than the 1000000 bytes" in run.err
    assert not lab.path("f.bin").exists()


@pytest.mark.parametrize("rest", [{}, {"REST": "350 ok."}, {"REST": "502 what?"}],
                         ids=["rest", "rest-ignored", "no-rest"])
@pytest.mark.parametrize("length", [100_000, 1 << 20, SIZE])
def test_ftp_file_that_is_shorter_than_its_size_fails_at_once(lab, ftp, length,
                                                              rest):
    lab.file("f.bin", length)
    depot = ftp({"SIZE": f"213 {2 * length}", **rest})
    run = lab.xdownload(lab.urls("f.bin", [depot]), "-o", "f.bin", patience=30)
    assert run.rc == 1
    assert f"states a size of {2 * length} bytes, but its file has none from " \
        in run.err.splitlines()[-1]
    assert not lab.path("f.bin").exists()


def test_ftp_copy_that_is_shorter_than_its_size_is_left_for_another(lab, ftp):
    data = lab.file("f.bin", SIZE)
    folder = lab.folder / "short"
    folder.mkdir()
    (folder / "f.bin").write_bytes(data[:SIZE // 2])
    bad = ftp({"SIZE": f"213 {SIZE}"}, folder=folder)
    run = lab.xdownload(lab.exnode("f.bin", [bad, lab.depot()]), "-a", "basic")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert f"states a size of {SIZE} bytes" in depot_of(run, bad)["error"]


@pytest.mark.parametrize("args", [(), ("-t", 1), ("-o", "-")], ids=str)
@pytest.mark.parametrize("make", ["urls", "exnode"])
def test_ftp_depot_that_ignores_rest_gives_the_right_file(lab, ftp, make, args):
    """It answers 350 to REST, and sends the file from byte 0 on."""
    data = lab.file("f.bin", SIZE)
    depot = ftp({"REST": "350 ok."})
    run = lab.xdownload(getattr(lab, make)("f.bin", [depot]), "-b", "256k",
                        "-a", "basic", *(args or ("-o", "f.bin")))
    assert run.rc == 0, run.err
    assert (run.out if "-" in args else lab.read("f.bin")) == data


# It answers 350 to REST, and begins elsewhere.
WRONG_BEGINS = [dict(refuse={"REST": "350 ok."}), dict(rounds=65536)]


@pytest.mark.parametrize("wrong", WRONG_BEGINS, ids=["at-0", "rounded"])
@pytest.mark.parametrize("make", ["url", "urls", "exnode"])
def test_range_of_ftp_depot_that_begins_elsewhere_has_the_right_bytes(
        lab, ftp, make, wrong):
    data = lab.file("f.bin", 2 * SIZE)
    depot = ftp(**wrong)
    what = depot.url("f.bin") if make == "url" else \
        getattr(lab, make)("f.bin", [depot])
    run = lab.xdownload(what, "--range", "3000001-3100000", "-o", "-")
    assert run.rc == 0, run.err
    assert run.out == data[3000001:3100001]


@pytest.mark.parametrize("wrong", WRONG_BEGINS, ids=["at-0", "rounded"])
@pytest.mark.parametrize("n", [1, 3, 5])
@pytest.mark.parametrize("policy", ["basic", "adaptive"])
def test_ftp_depot_that_begins_elsewhere_gives_the_right_file(lab, ftp, wrong,
                                                              n, policy):
    data = lab.file("f.bin", 3 * SIZE)
    run = lab.xdownload(ftp(**wrong).url("f.bin"), "-t", n, "-b", "300001",
                        "-a", policy, "-o", "f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("wrong", WRONG_BEGINS, ids=["at-0", "rounded"])
def test_served_ftp_file_that_begins_elsewhere_can_be_read_anywhere(lab, ftp,
                                                                    wrong):
    data = lab.file("f.bin", 2 * SIZE)
    served = Served(lab, ftp(**wrong).url("f.bin"))
    for first in 3000001, 7, 1999999:
        answer, body = served.ask(Range=f"bytes={first}-{first + 99999}")
        assert answer.status == 206
        assert body == data[first:first + 100000]
    served.end()


def test_range_of_ftp_file_without_size_has_the_right_bytes(lab, ftp):
    data = lab.file("f.bin", SIZE)
    depot = ftp({"SIZE": "502 what?", "REST": "350 ok."})
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "--range",
                        "1000001-1100000", "-o", "-")
    assert run.rc == 0, run.err
    assert run.out == data[1000001:1100001]


def test_ftp_depot_that_obeys_rest_is_tried_once(lab, ftp):
    data = lab.file("f.bin", SIZE)
    depot = ftp()
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-a", "basic", "-t", 1,
                        "-b", "256k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    rests = [int(line.split()[1]) for line in depot.commands("REST")]
    assert rests.count(SIZE - 2 | 1) == 1


def test_ftp_size_reply_without_text_is_no_size(lab, ftp):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload(ftp({"SIZE": "213"}).url("f.bin"), "-o", "f.bin",
                        patience=30)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("command", ["USER", "EPSV", "TYPE"])
def test_ftp_reply_without_text_is_a_clear_error(lab, ftp, command):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(ftp({command: "331"}).url("f.bin"), patience=30)
    assert run.rc == 1
    assert "answered 331 without the space" in run.err


# ---- local files ----

class Disk(Depot):
    """Files of this machine, by their URLs."""

    def __init__(self, folder):
        super().__init__("file:", scheme="file")
        self.folder = folder

    def url(self, name):
        return f"file://{self.folder}/{name}"


@pytest.mark.parametrize("make", ["exnode", "metalink", "urls"])
def test_a_manifest_here_may_name_files_here(lab, make):
    data = lab.file("f.bin", SIZE)
    manifest = getattr(lab, make)("f.bin", [Disk(lab.www)])
    run = lab.xdownload(manifest)
    assert run.rc == 1 and "allow-file" in run.err
    assert not lab.path("f.bin").exists()
    run = lab.xdownload("--allow-file", manifest)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


def test_a_local_copy_and_depots_share_a_file(lab):
    data = lab.file("f.bin", SIZE)
    half = SIZE // 2
    (lab.www / "half").write_bytes(data[:half])
    depot = lab.depot()
    run = lab.xdownload(lab.exnode_of("f.bin", [
        (0, half, Disk(lab.www).url("half"), 0, half),
        (half, SIZE - half, depot.url("f.bin"), half, SIZE)]),
        "--allow-file", "-o", "-")
    assert run.rc == 0, run.err
    assert run.out == data


def test_one_worker_serves_the_disk_and_then_a_depot(lab):
    data = lab.file("f.bin", SIZE)
    nowhere = Disk(lab.folder / "nowhere")
    run = lab.xdownload(lab.metalink("f.bin", [nowhere, lab.depot()]),
                        "--allow-file", "--max-depots", 1)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "No such file" in depot_of(run, nowhere)["error"]


@pytest.mark.parametrize("way", ["standard input", "a server"])
def test_a_manifest_from_elsewhere_names_no_files_here(lab, way):
    lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [Disk(lab.www)])
    if way == "a server":
        shutil.copy(manifest, lab.www / "m.xnd")
        run = lab.xdownload("--allow-file", lab.depot().url("m.xnd"))
    else:
        with open(manifest) as stdin:
            run = lab.xdownload("--allow-file", "-", stdin=stdin)
    assert run.rc == 3
    assert "file: URL" in run.err
    assert not lab.path("f.bin").exists()


def test_a_file_here_is_left_out_unless_it_is_allowed(lab):
    """Whoever wrote the manifest could choose any file that we can read."""
    lab.file("f.bin", SIZE)
    (lab.www / "secret").write_bytes(b"s" * SIZE)
    manifest = lab.write("m.urls", "\n".join(
        [Disk(lab.www).url("secret"), lab.depot().url("f.bin")]))
    run = lab.xdownload("-o", "out", manifest)
    assert run.rc == 0, run.err
    assert "allow-file" in run.err
    assert lab.read("out") == (lab.www / "f.bin").read_bytes()


def test_what_is_no_regular_file_is_not_waited_for(lab):
    data = lab.file("f.bin", SIZE)
    odd = lab.folder / "odd"
    odd.mkdir()
    os.mkfifo(odd / "f.bin")
    fifo = Disk(odd)
    run = lab.xdownload(lab.exnode("f.bin", [fifo, lab.depot()], SIZE),
                        "--allow-file", "-a", "basic")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "not a regular file" in depot_of(run, fifo)["error"]
