# SPDX-License-Identifier: MIT
"""Options for the network, and who gets to see credentials."""
import base64
import contextlib
import hashlib
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from lab import Depot, asked_range, bytes_of, wait_until
from test_protocols import FtpDepot

SIZE = 300_001
BRIEFLY = ["--retry", 1, "--patience", "0s"]
DATA = bytes_of(SIZE)


def serve(head, data=DATA):
    """A good server's answer; it says that it closes the connection."""
    asked = asked_range(head)
    if asked is None:
        return (b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n" % len(data) + data)
    first, last = asked[0], min(asked[1] or len(data) - 1, len(data) - 1)
    return (b"HTTP/1.1 206 Partial\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n"
            b"Content-Range: bytes %d-%d/%d\r\n\r\n"
            % (last - first + 1, first, last, len(data))
            + data[first:last + 1])


def redirect(url):
    return (b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n"
            b"Connection: close\r\n\r\n"
            % url.encode())


def lines(head, name):
    return [line.split(":", 1)[1].strip() for line in head.split("\r\n")[1:]
            if line.lower().startswith(name.lower() + ":")]


# ---- how much, how long ----

@pytest.mark.parametrize("ways", [
    {}, {"ranges": False}], ids=["ranges", "no-ranges"])
def test_the_rate_is_that_of_all_depots_together(lab, ways):
    rate = 1_500_000
    data = lab.file("f.bin", 3 * rate)
    depots = lab.depots(3 if not ways else 1, **ways)
    run = lab.xdownload(lab.exnode("f.bin", depots), "-a", "basic", "-t",
                        2 if not ways else 1, "-b", "256k", "--limit-rate",
                        rate)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    if not ways:
        assert 2.7 <= run.report["seconds"] <= 5.5  # half of it takes 6
    else:  # bytes that are read past count too
        assert run.report["seconds"] >= 2.7


def test_no_more_than_the_rate_is_on_the_way(lab):
    """HTTP/2's streams would come on while they are paused."""
    lab.file("f.bin", 40_000_000)
    depot = lab.depot(certificate=lab.certificate(), rate=1 << 30)
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-a", "basic", "-t", 4,
                        "-b", "8m", "--limit-rate", 1_000_000, "-m", "2s")
    assert run.rc == 1
    assert run.report["bytes_received"] <= 2_200_000
    assert sum(depot.throttle.close()) <= 6_000_000


def test_a_rate_holds_in_order_too(lab):
    data = lab.file("f.bin", 1_000_000)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(2)), "-o", "-", "-b",
                        "64k", "--lookahead", "256k", "--limit-rate", "1m")
    assert run.rc == 0, run.err
    assert run.out == data
    assert run.report["seconds"] >= 0.8


def test_a_file_that_takes_too_long_is_given_up(lab):
    lab.file("f.bin", 10_000_000)
    depot = lab.depot(rate=500_000)
    run = lab.xdownload(lab.exnode("f.bin", [depot]), "-m", "1s")
    assert run.rc == 1
    assert run.err.endswith("stopped after 1 s (--max-time); run the same "
                            "command again to continue\n")
    assert 0.9 <= run.report["seconds"] <= 5
    assert lab.path("f.bin.part").exists()
    assert not lab.path("f.bin").exists()


def test_a_file_of_which_nobody_answers_is_given_up_too(lab):
    run = lab.xdownload(lab.exnode("f.bin", [lab.silent(), lab.dead()], SIZE),
                        "-m", "500ms", "--silence", "60s")
    assert run.rc == 1 and "max-time" in run.err


def test_who_waits_for_a_depot_leaves_the_processor_alone(lab):
    run = lab.xdownload(lab.exnode("f.bin", [lab.dead()], SIZE), "-m", "3s")
    assert run.rc == 1 and run.seconds >= 2.9
    assert run.processor < run.seconds / 2


@pytest.mark.parametrize("option", [[], ["-M"]], ids=["either", "manifest"])
def test_a_url_that_takes_too_long_to_answer_is_given_up(lab, option):
    depot = lab.silent()
    run = lab.xdownload(*option, depot.url("f.bin"), "-m", "500ms",
                        "--silence", "60s")
    assert run.rc == 1 and "max-time" in run.err
    assert depot.host in run.err


# ---- what is sent ----

def test_names_and_headers_are_sent_as_given(lab):
    depot = lab.odd(serve)
    run = lab.xdownload(lab.exnode_of("f.bin", [
        (0, SIZE, depot.url("f.bin"), 0, SIZE)]), "-A", "player/7",
        "--referer", "http://a.example/page",
        "-H", "X-One: 1", "--header", "X-Two: 2: 3", "-H", "X-None;",
        "-H", "Accept:")
    assert run.rc == 0, run.err
    head = depot.heads[0]
    assert lines(head, "User-Agent") == ["player/7"]
    assert lines(head, "Referer") == ["http://a.example/page"]
    assert lines(head, "X-One") == ["1"]
    assert lines(head, "X-Two") == ["2: 3"]
    assert lines(head, "X-None") == [""]
    assert lines(head, "Accept") == []
    assert lines(head, "Accept-Encoding") == ["identity"]


@pytest.mark.parametrize("args", [
    ("-H", "Range: bytes=0-1"), ("-H", "accept-encoding: gzip"),
    ("-H", "no colon"), ("-H", "A b: c"), ("-H", "X: a\r\nRange: b"),
    ("-A", "a\nb"), ("-u", "name"), ("--max-redirs", "-1"),
    ("--auth-host", "a b"), ("--auth-host", "http://"), ("-4", "-6"),
    ("-x", "gopher://p.example"), ("-x", "p.example/path"),
    ("--key", "k.pem"), ("--limit-rate", "1")])
def test_what_makes_no_sense_is_refused(lab, args):
    run = lab.xdownload(*args, "manifest.xml", report=False)
    assert run.rc == 2
    assert args[0].lstrip("-") in run.err or args[0][:2] != "--"


# ---- redirects ----

@pytest.mark.parametrize("most, rc", [(2, 1), (3, 0)])
def test_so_many_redirects_are_followed(lab, most, rc):
    depot = lab.odd(lambda head: serve(head) if "GET /3 " in head else
                    redirect("/%d" % (int(head.split()[1][1:]) + 1)))
    run = lab.xdownload(lab.exnode_of("f.bin", [
        (0, SIZE, depot.url("0"), 0, SIZE)]), "--max-redirs", most)
    assert run.rc == rc, run.err
    if rc:
        assert f"more than {most} redirects" in run.err


@pytest.mark.parametrize("n, rc", [(8, 0), (20, 0), (21, 1)])
def test_chain_of_20_redirects_is_followed_by_default(lab, n, rc):
    depot = lab.odd(lambda head: serve(head) if f"GET /{n} " in head else
                    redirect("/%d" % (int(head.split()[1][1:]) + 1)))
    run = lab.xdownload(depot.url("0"), "-o", "f.bin")
    assert run.rc == rc, run.err
    if rc == 0:
        assert lab.read("f.bin") == DATA


def test_a_redirect_with_a_long_body_is_followed(lab):
    good = lab.odd(serve)
    depot = lab.odd(lambda head: redirect(good.url("f.bin")).replace(
        b"Length: 0", b"Length: 99999999") + bytes(100_000))
    run = lab.xdownload(lab.exnode_of("f.bin", [
        (0, SIZE, depot.url("f.bin"), 0, SIZE)]), "-b", "64k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == DATA


# ---- credentials ----

@pytest.mark.parametrize("scheme", ["metalink", "url"])
def test_a_netrc_file_that_is_not_there_is_local_trouble(lab, scheme):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    what = (lab.metalink("f.bin", [depot]) if scheme == "metalink"
            else depot.url("f.bin"))
    run = lab.xdownload("--netrc-file", "nowhere", what)
    assert run.rc == 5
    assert "nowhere (netrc-file): No such file" in run.err
    assert depot.requests() == []


BASIC = "Basic " + base64.b64encode(b"me:s3cr3t").decode()

def digest(head):
    """What a server that wants Digest (RFC 7616) answers."""
    def md5(*parts):
        return hashlib.md5(":".join(parts).encode()).hexdigest()
    said = dict(re.findall(r'(\w+)="?([^",]*)"?',
                           "".join(lines(head, "Authorization"))))
    method, path, _ = head.split(" ", 2)
    if said.get("response") == md5(
            md5("me", "r", "s3cr3t"), "n", said.get("nc", ""),
            said.get("cnonce", ""), "auth", md5(method, path)):
        return serve(head)
    return (b'HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm="r", '
            b'nonce="n", qop="auth"\r\nContent-Length: 0\r\n\r\n')


@pytest.mark.parametrize("login", ["user", "netrc", "url"])
def test_server_that_wants_digest_is_logged_in_to(lab, login):
    depot = lab.odd(digest)
    Known(lab, *KINDS["netrc"])
    url = depot.url("f.bin")
    args = {"user": [*KINDS["user"][0], url], "netrc": ["-n", url],
            "url": [url.replace("//", "//me:s3cr3t@")]}[login]
    run_all(lab, *args)
    run = lab.xdownload("-o", "-", *args, report=False)
    assert run.rc == 0 and run.out == DATA
    refused = lab.xdownload("-u", "me:another", "-o", "g.bin", url, *BRIEFLY)
    assert refused.rc == 1 and "answered 401" in refused.err
    assert "the server rejected this user name or password" in refused.err


def test_copies_at_a_server_that_wants_digest_are_checked(lab):
    depot = lab.odd(digest)
    run = lab.xdownload("check", "-u", "me:s3cr3t", "--auth-host", depot.host,
                        manifest_of(lab, depot), report=False)
    assert run.rc == 0, run.err


# What is typed, and which line a server that may see it gets.
KINDS = {
    "user": (["-u", "me:s3cr3t"], "Authorization", BASIC),
    "netrc": (["-n"], "Authorization", BASIC),
    "netrc-file": (["--netrc-file", "net-rc"], "Authorization", BASIC),
    "bearer": (["--oauth2-bearer", "s3cr3t"], "Authorization",
               "Bearer s3cr3t"),
    "authorization": (["-H", "authorization: s3cr3t"], "Authorization",
                      "s3cr3t"),
    "cookie": (["-H", "Cookie: a=s3cr3t"], "Cookie", "a=s3cr3t"),
    "proxy-authorization": (["-H", "PROXY-Authorization: s3cr3t"],
                            "Proxy-Authorization", "s3cr3t"),
}


class Known:
    """One kind of credentials."""

    def __init__(self, lab, args, line, value):
        self.args, self.line, self.value = args, line, value
        lab.environment["HOME"] = str(lab.folder)
        text = "machine 127.0.0.1 login me password s3cr3t\n"
        (lab.folder / ".netrc").write_text(text)
        (lab.work / "net-rc").write_text(text)

    def seen_by(self, depot):
        """In how many of its requests it was; all or none."""
        assert depot.heads
        seen = [lines(head, self.line) == [self.value] for head in depot.heads]
        assert all(seen) or not any("s3cr3t" in h or BASIC in h
                                    for h in depot.heads)
        return all(seen)


@pytest.fixture(params=KINDS)
def known(lab, request):
    return Known(lab, *KINDS[request.param])


def run_all(lab, *args):
    run = lab.xdownload("-b", "128k", *args)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == DATA
    return run


def manifest_of(lab, *depots):
    return lab.exnode_of("f.bin", [(0, SIZE, d.url("f.bin"), 0, SIZE)
                                   for d in depots])


def test_credentials_go_to_who_was_typed(lab, known):
    depots = [lab.odd(serve), lab.odd(serve)]
    run_all(lab, *known.args, *[d.url("f.bin") for d in depots])
    assert all(known.seen_by(d) for d in depots)


def test_credentials_do_not_go_to_who_only_stands_in_a_manifest(lab, known):
    depot = lab.odd(serve)
    run_all(lab, *known.args, manifest_of(lab, depot))
    assert not known.seen_by(depot)


@pytest.mark.parametrize("how, goes", [
    ("{host}", True), ("127.0.0.1", True), ("http://{host}/x?y", True),
    ("127.0.0.1:1", False), ("https://127.0.0.1", False),
    ("a.example", False)])
def test_credentials_go_to_who_is_named(lab, known, how, goes):
    depot = lab.odd(serve)
    run_all(lab, *known.args, "--auth-host", "b.example", "--auth-host",
            how.format(host=depot.host), manifest_of(lab, depot))
    assert known.seen_by(depot) == goes


def test_a_manifests_own_host_sees_them_and_its_depots_do_not(lab, known):
    other = lab.odd(serve)
    text = b""

    def answer(head):
        return serve(head, text if "GET /m " in head else DATA)
    own = lab.odd(answer)
    half = SIZE // 2
    text = Path(lab.exnode_of("f.bin", [
        (0, half, own.url("f.bin"), 0, SIZE),
        (half, SIZE - half, other.url("f.bin"), half, SIZE)])).read_bytes()
    run_all(lab, *known.args, own.url("m"))
    assert known.seen_by(own)
    assert not known.seen_by(other)


def test_who_is_redirected_to_does_not_see_them(lab, known):
    other = lab.odd(serve)
    first = lab.odd(lambda head: redirect(other.url("f.bin")))
    run_all(lab, *known.args, first.url("f.bin"))
    assert known.seen_by(first)
    assert not known.seen_by(other)


def test_who_was_typed_sees_them_also_after_a_redirect_to_itself(lab, known):
    depot = lab.odd(lambda head: serve(head) if "GET /2 " in head
                    else redirect("/2"))
    run_all(lab, *known.args, "-o", "f.bin", depot.url("1"))
    assert known.seen_by(depot)


def test_who_redirects_back_and_forth_sees_them_and_no_other(lab, known):
    first = lab.odd(lambda head: serve(head) if "GET /2 " in head
                    else redirect(other.url("f.bin")))
    other = lab.odd(lambda head: redirect(first.url("2")))
    run_all(lab, *known.args, first.url("f.bin"))
    assert known.seen_by(first)
    assert not known.seen_by(other)


def test_a_redirect_to_another_who_was_typed_does_not_take_them(lab, known):
    """It could choose what they are used for."""
    other = lab.odd(serve)
    first = lab.odd(lambda head: redirect(other.url("f.bin")))
    run_all(lab, *known.args, "--auth-host", other.host, first.url("f.bin"))
    assert not known.seen_by(other)


def test_show_logs_in_too(lab, known):
    text = Path(lab.exnode("f.bin", [lab.dead()], SIZE)).read_bytes()
    depot = lab.odd(lambda head: serve(head, text))
    run = lab.xdownload("show", *known.args, depot.url("m"), report=False)
    assert run.rc == 0, run.err
    assert known.seen_by(depot)


def test_credentials_are_in_nothing_that_is_said_or_written(lab, known):
    refuses = lab.odd(lambda head: b"HTTP/1.1 401 No\r\n"
                      b"Content-Length: 0\r\n\r\n")
    breaks = lab.odd(lambda head: serve(head)[:70])
    run = lab.xdownload(*known.args, "-v", "--auth-host", "127.0.0.1",
                        "--retry", 2, "--patience", "0s", manifest_of(lab, refuses, breaks))
    assert run.rc == 1
    assert known.seen_by(refuses) and known.seen_by(breaks)
    dry = lab.xdownload(*known.args, "--dry-run", manifest_of(lab, refuses),
                        report=False)
    assert dry.rc == 0, dry.err
    said = [run.err, run.out.decode(), dry.err, dry.out.decode(),
            str(run.reports)]
    said += [p.read_bytes().decode(errors="replace")
             for p in lab.work.iterdir() if p.name != "net-rc"]
    assert not any("s3cr3t" in text or BASIC in text for text in said)


def command_of(process):
    """What a list of processes shows."""
    return Path(f"/proc/{process.pid}/cmdline").read_bytes()


def test_a_list_of_processes_does_not_show_them(lab, known):
    depot = lab.odd(lambda head: time.sleep(20) or b"")
    process = lab.start(*known.args, "--set", "header=Cookie: s3cr3t",
                        manifest_of(lab, depot))
    wait_until(lambda: depot.heads, "it asks")
    command = command_of(process)
    process.kill()
    assert b"manifest" in command
    assert b"s3cr3t" not in command


@pytest.mark.parametrize("where", [
    ["{}"], ["--checksum", "{}"], ["--referer", "{}"], ["--referer={}"],
    ["--ref", "{}"], ["--set", "referer={}"], ["--auth-host", "{}"],
    ["--public-key", "key.pub", "--signature", "{}"]], ids=" ".join)
def test_a_list_of_processes_shows_no_secret_of_a_url(lab, where):
    """A query may be a signature that lets everybody in."""
    depot = lab.odd(lambda head: time.sleep(20) or b"")
    url = f"http://me:s3cr3t@{depot.host}/f.bin?X-Signature=s3cr3t"
    lab.write("key.pub", "untrusted comment: minisign public key\n")
    words = [word.format(url) for word in where]
    process = lab.start(*words, *[depot.url("f.bin")] * (where != ["{}"]))
    wait_until(lambda: depot.heads, "it asks")
    command = command_of(process)
    process.kill()
    if where == ["{}"]:
        assert lines(depot.heads[0], "Authorization") == [BASIC]
    assert f"@{depot.host}/f.bin?".encode() in command
    assert b"s3cr3t" not in command and b"me:" not in command
    assert b"Signature" not in command


def test_a_list_of_processes_shows_no_login_of_a_proxy(lab):
    proxy = lab.odd(lambda head: time.sleep(20) or b"")
    process = lab.start("--proxy", f"http://me:s3cr3t@{proxy.host}",
                        "http://a.example/f.bin")
    wait_until(lambda: proxy.heads, "it asks")
    command = command_of(process)
    process.kill()
    assert b"s3cr3t" not in command and b"me:" not in command


@pytest.mark.parametrize("option", ["--s3-endpoint", "--auth-host"])
def test_a_list_of_processes_shows_no_secret_of_a_store(lab, option):
    depot = lab.odd(lambda head: time.sleep(20) or b"")
    lab.write("f.bin", "x" * SIZE)
    process = lab.start("put", "f.bin", "-o", "f.xnd", "--to", depot.url(""),
                        option, f"http://me:s3cr3t@{depot.host}/?s3cr3t",
                        report=False)
    wait_until(lambda: depot.heads, "it asks")
    command = command_of(process)
    process.kill()
    assert f"@{depot.host}/?".encode() in command
    assert b"s3cr3t" not in command and b"me:" not in command


@pytest.mark.parametrize("args", [[], ["show"], ["--checksum"],
                                  ["--report", "-"], ["--dry-run"]],
                         ids=lambda a: " ".join(a) or "get")
def test_a_url_without_a_scheme_does_not_show_its_password(lab, args):
    word = "me:s3cr3t@a.example/f.bin"
    after = [lab.write("m.urls", "http://b.example/f")] if "--checksum" in args else []
    run = lab.xdownload(*args, word, *after, report=False)
    assert run.rc != 0
    assert "s3cr3t" not in run.err and "a.example/f.bin" in run.err
    if args != ["--checksum"]:
        assert "if this is a URL, write https://" in run.err


def test_a_url_with_a_secret_can_be_read_from_standard_input(lab):
    data = lab.file("f.bin", 200_000)
    depots = lab.depots(2)
    lab.write("in", "".join(d.url("f.bin") + "?X-Signature=s3cr3t\n"
                            for d in depots))
    with open(lab.path("in"), "rb") as f:
        run = lab.xdownload("-", stdin=f)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert "s3cr3t" not in run.err + str(run.report)


def test_show_prints_no_password_unless_it_writes_a_manifest(lab):
    url = "http://me:s3cr3t@a.example/x:y@z"
    manifest = lab.write("m.urls", f"{url}\nftp://you@b.example/f\n")
    for args in [], ["--json"]:
        run = lab.xdownload("show", *args, manifest, report=False)
        out = run.out.decode()
        assert "http://me@a.example/x:y@z" in out
        assert "ftp://you@b.example/f" in out and "s3cr3t" not in out
    run = lab.xdownload("show", "--format", "metalink", manifest, report=False)
    assert url in run.out.decode()


def test_a_login_in_a_url_goes_to_its_server_alone(lab):
    own, other = lab.odd(serve), lab.odd(serve)
    half = SIZE // 2
    manifest = lab.exnode_of("f.bin", [
        (0, half, f"http://me:s3cr3t@{own.host}/f.bin", 0, SIZE),
        (half, SIZE - half, other.url("f.bin"), half, SIZE)])
    run = run_all(lab, "-v", "-u", "you:else", manifest)
    assert {tuple(lines(h, "Authorization")) for h in own.heads} == {(BASIC,)}
    assert not any(lines(h, "Authorization") for h in other.heads)
    assert "s3cr3t" not in run.err + str(run.reports)


def test_a_login_in_a_url_survives_a_redirect_only_to_the_same_server(lab):
    other = lab.odd(serve)
    first = lab.odd(lambda head: redirect(other.url("f.bin"))
                    if "GET /2 " in head else redirect("2"))
    run_all(lab, f"http://me:s3cr3t@{first.host}/f.bin")
    assert {tuple(lines(h, "Authorization")) for h in first.heads} == {(BASIC,)}
    assert not any(lines(h, "Authorization") for h in other.heads)


def test_a_login_that_a_redirect_brings_is_not_used(lab):
    other = lab.odd(serve)
    first = lab.odd(lambda head: redirect(f"http://a:b@{other.host}/f.bin"))
    run_all(lab, first.url("f.bin"))
    assert not any(lines(h, "Authorization") for h in other.heads)


def test_the_login_of_a_manifests_url_goes_to_its_server_alone(lab):
    other = lab.odd(serve)
    text = f"""<metalink xmlns="urn:ietf:params:xml:ns:metalink">
        <file name="f.bin"><size>{SIZE}</size><url>f.bin</url>
        <url>//{other.host}/f.bin</url></file></metalink>""".encode()
    own = lab.odd(lambda head: serve(head, text if "GET /m?" in head
                                     else DATA))
    run = run_all(lab, "-v", f"http://me:s3cr3t@{own.host}/m?key=s3cr3t",
                  "-a", "basic")
    assert {tuple(lines(h, "Authorization")) for h in own.heads} == {(BASIC,)}
    assert not any("s3cr3t" in h or lines(h, "Authorization")
                   for h in other.heads)
    assert "s3cr3t" not in run.err + str(run.reports)


@pytest.mark.parametrize("answer", [
    b"", b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", b"what?\r\n\r\n",
    b"HTTP/1.1 302 F\r\nLocation: ftp://a:s3cr3t@b/?s3cr3t\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<metalink"],
    ids=["nothing", "404", "rubbish", "redirect", "manifest"])
def test_what_is_said_of_a_url_is_without_login_and_query(lab, answer):
    depot = lab.odd(lambda head: answer)
    url = f"http://me:s3cr3t@{depot.host}/f.bin?key=s3cr3t#s3cr3t"
    run = lab.xdownload(url, *BRIEFLY)
    assert run.rc != 0 and depot.host in run.err
    assert "s3cr3t" not in run.err + str(run.reports)
    run = lab.xdownload(url, "file.xml", report=False)
    assert run.rc == 2 and depot.host in run.err
    assert "s3cr3t" not in run.err


def test_http_and_https_of_one_host_are_two_servers(lab):
    """What was typed with TLS is not told in the clear."""
    safe = lab.depot(certificate=lab.certificate(), config="""
        location / { if ($http_authorization = "") { return 401; }
                     return 307 http://$http_host/; }""")
    run = lab.xdownload("-u", "me:s3cr3t", safe.url("f.bin"))
    assert run.rc == 1 and "from https to http" in run.err
    clear = lab.odd(serve)
    run_all(lab, "-u", "me:s3cr3t", "--auth-host", "https://127.0.0.1",
            manifest_of(lab, clear))
    assert not any(lines(h, "Authorization") for h in clear.heads)


@pytest.mark.parametrize("goes", [True, False])
def test_an_ftp_server_sees_them_only_if_it_may(lab, goes):
    data = lab.file("f.bin", SIZE)
    with contextlib.closing(FtpDepot(lab.www)) as depot:
        depot.server.handler.authorizer.add_user("me", "s3cr3t", str(lab.www))
        run = lab.xdownload("-u", "me:s3cr3t", lab.exnode("f.bin", [depot]),
                            *(["--auth-host", depot.host] if goes else []))
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data
        assert ("USER me" in depot.said) == goes
        assert any("s3cr3t" in line for line in depot.said) == goes


# ---- the way ----

def proxied(head):
    """What a proxy does that has all files itself."""
    return serve(head) if head.startswith("GET http://") else b""


@pytest.mark.parametrize("how", ["option", "environment"])
def test_a_proxy_is_asked(lab, how):
    proxy = lab.odd(proxied)
    if how == "environment":
        lab.environment["http_proxy"] = f"http://{proxy.host}"
    run_all(lab, *(["-x", proxy.host] if how == "option" else []),
            manifest_of(lab, lab.dead()))
    assert proxy.heads


@pytest.mark.parametrize("args", [
    ("-x", ""), ("--noproxy", "127.0.0.1"), ("--noproxy", "*")])
def test_a_proxy_is_passed_by(lab, args):
    proxy, depot = lab.odd(proxied), lab.odd(serve)
    lab.environment["http_proxy"] = f"http://{proxy.host}"
    run_all(lab, *args, manifest_of(lab, depot))
    assert depot.heads and not proxy.heads


def test_a_proxys_password_goes_to_it_and_is_not_said(lab):
    proxy = lab.odd(proxied)
    run = run_all(lab, "-v", "-x", f"http://me:s3cr3t@{proxy.host}",
                  manifest_of(lab, lab.dead()))
    assert {tuple(lines(h, "Proxy-Authorization")) for h in proxy.heads} \
        == {(BASIC,)}
    assert "s3cr3t" not in run.err + str(run.reports)
    for bad in "gopher://me:s3cr3t@p", "http://me:s3cr3t@p/?":
        run = lab.xdownload("-x", bad, "manifest.xml", report=False)
        assert run.rc == 2 and "proxy" in run.err
        assert "s3cr3t" not in run.err
    for bad in "odd://me:s3cr3t@p", "http://me:s3cr3t@[p":
        lab.environment["http_proxy"] = bad
        run = lab.xdownload(manifest_of(lab, lab.dead()), "--force",
                            *BRIEFLY)
        assert run.rc == 1
        assert "s3cr3t" not in run.err + str(run.reports)


def test_ftp_goes_through_a_proxy_as_ftp(lab):
    """What a proxy would make of it is HTTP, which its depot does not speak."""
    proxy = lab.odd(lambda head: b"HTTP/1.1 403 No\r\n\r\n")
    run = lab.xdownload("-x", proxy.host, *BRIEFLY, lab.exnode_of(
        "f.bin", [(0, SIZE, "ftp://127.0.0.1:9/f.bin", 0, SIZE)]))
    assert run.rc == 1 and "403" in run.err
    assert proxy.heads[0].startswith("CONNECT 127.0.0.1:9 ")


def test_one_address_of_this_machine_is_come_from(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot(config="allow 127.0.0.2; deny all;")
    manifest = lab.exnode("f.bin", [depot])
    assert lab.xdownload(manifest).rc == 1
    run = lab.xdownload("--interface", "127.0.0.2", manifest)
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


@pytest.mark.parametrize("option, rc", [("-4", 0), ("-6", 1)])
def test_addresses_of_one_kind_are_used(lab, option, rc):
    depot = lab.odd(serve)
    name = Depot(depot.host.replace("127.0.0.1", "localhost"))
    run = lab.xdownload(option, *BRIEFLY, manifest_of(lab, name))
    assert run.rc == rc, run.err
    assert bool(depot.heads) == (rc == 0)


# ---- TLS ----

@pytest.fixture(name="openssl")
def _openssl():
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")


def hashed(certificate):
    """A folder of authorities, as OpenSSL looks for them."""
    folder = certificate.folder / "ca"
    folder.mkdir()
    name = subprocess.run(["openssl", "x509", "-noout", "-hash", "-in",
                           certificate.path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()
    (folder / f"{name}.0").write_bytes(certificate.path.read_bytes())
    return folder


@pytest.mark.usefixtures("openssl")
@pytest.mark.parametrize("option", ["--cacert", "--capath", "-k", None])
def test_a_certificate_is_believed_if_that_is_said(lab, option):
    data = lab.file("f.bin", SIZE)
    certificate = lab.certificate(trusted=False)
    depot = lab.depot(certificate=certificate)
    args = {"--cacert": [option, certificate.path], "-k": ["-k"], None: [],
            "--capath": [option, None]}[option]
    if option == "--capath":
        args[1] = hashed(certificate)
    run = lab.xdownload(*args, lab.exnode("f.bin", [depot]))
    assert run.rc == (0 if option else 1), run.err
    if option:
        assert lab.read("f.bin") == data


@pytest.mark.usefixtures("openssl")
@pytest.mark.parametrize("option", ["--cacert", "--capath"])
def test_who_is_not_among_those_is_not_believed(lab, option):
    lab.file("f.bin", SIZE)
    depot = lab.depot(certificate=lab.certificate())  # in SSL_CERT_FILE
    other = lab.certificate(trusted=False)
    run = lab.xdownload(option, other.path if option == "--cacert"
                        else hashed(other), lab.exnode("f.bin", [depot]))
    assert run.rc == 1 and "certificate" in run.err


@pytest.mark.usefixtures("openssl")
@pytest.mark.parametrize("goes", [True, False])
@pytest.mark.parametrize("where", ["one-file", "two-files", "password"])
def test_our_certificate_is_shown_to_who_may_see_it(lab, goes, where):
    lab.file("f.bin", SIZE)
    mine = lab.certificate("DNS:me.example", trusted=False)
    depot = lab.depot(certificate=lab.certificate(), config="""
        ssl_verify_client optional_no_ca;
        if ($ssl_client_s_dn = "") { return 403; }""")
    both = lab.work / "bo:th.pem"
    key = mine.key.read_bytes()
    if where == "password":
        key = subprocess.run(
            ["openssl", "pkcs8", "-topk8", "-in", mine.key, "-passout",
             "pass:s3cr3t"], check=True, stdout=subprocess.PIPE).stdout
    both.write_bytes(mine.path.read_bytes() + key)
    args = {"one-file": ["-E", "bo\\:th.pem"],
            "two-files": ["--cert", mine.path, "--key", mine.key],
            "password": ["-E", "bo\\:th.pem:s3cr3t"]}[where]
    run = lab.xdownload(*args, *(["--auth-host", depot.host] if goes else []),
                        lab.exnode("f.bin", [depot]))
    assert run.rc == (0 if goes else 1), run.err
    assert goes or "answered 403" in run.err


@pytest.mark.usefixtures("openssl")
def test_a_password_of_a_key_is_neither_asked_for_nor_said(lab):
    mine = lab.certificate("DNS:me.example", trusted=False)
    both = lab.work / "both.pem"
    both.write_bytes(mine.path.read_bytes() + subprocess.run(
        ["openssl", "pkcs8", "-topk8", "-in", mine.key, "-passout",
         "pass:right"], check=True, stdout=subprocess.PIPE).stdout)
    depot = lab.depot(certificate=lab.certificate())
    for cert in "both.pem", "both.pem:s3cr3t":
        run = lab.xdownload("--cert", cert, depot.url("f.bin"), *BRIEFLY)
        assert run.rc == 1 and "PEM" not in run.out.decode()
        assert "s3cr3t" not in run.err + str(run.reports)
