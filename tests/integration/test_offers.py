# SPDX-License-Identifier: MIT
"""What the server of a plain URL names beside its bytes: mirrors, a digest, a
Metalink.  Metalink/HTTP (RFC 6249), Digest fields (RFC 9530 and RFC 3230)."""
import base64
import hashlib
import os

import pytest

from lab import OddDepot, asked_range

SIZE = 3_000_003
NAME = "film.bin"


def b64(data, algorithm="sha256"):
    return base64.b64encode(hashlib.new(algorithm, data).digest()).decode()


def repr_digest(data):
    return f"Repr-Digest: sha-256=:{b64(data)}:"


def old_digest(data):
    return f"Digest: MD5={b64(data, 'md5')},SHA-256={b64(data)}"


def duplicates(*depots, more=""):
    return [f"Link: <{d.url(NAME)}>; rel=duplicate{more}" for d in depots]


@pytest.fixture
def host(lab):
    """A server whose answers have further lines; .lines may be changed."""
    made = []

    def make(data, lines=(), redirect=None):
        def answer(head):
            extra = "".join(line + "\r\n" for line in depot.lines)
            path = head.split()[1]
            if path in depot.pages:
                kind, body = depot.pages[path]
                return (f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n"
                        f"Content-Length: {len(body)}\r\n"
                        "Connection: close\r\n\r\n").encode() + body
            if redirect:
                return (f"HTTP/1.1 302 Found\r\nLocation: {redirect}\r\n{extra}"
                        "Content-Length: 0\r\nConnection: close\r\n\r\n").encode()
            at = asked_range(head)
            first, last = at or (0, None)
            last = len(data) - 1 if last is None else min(last, len(data) - 1)
            status = "206 Partial Content" if at else "200 OK"
            if at:
                extra += f"Content-Range: bytes {first}-{last}/{len(data)}\r\n"
            body = data[first:last + 1]
            return (f"HTTP/1.1 {status}\r\n{extra}Content-Length: {len(body)}"
                    "\r\nConnection: close\r\n\r\n").encode() + body
        depot = OddDepot(answer)
        depot.lines = list(lines)
        depot.pages = {}
        made.append(depot)
        return depot
    yield make
    for depot in made:
        depot.close()


def bytes_of(run, depot):
    return sum(d["bytes"] for d in run.report["depots"]
               if d["host"] == depot.host)


def hosts(run):
    return {d["host"] for d in run.report["depots"]}


@pytest.mark.parametrize("digest", [repr_digest, old_digest])
def test_one_url_becomes_many_mirrors_held_against_the_digest(lab, host,
                                                              digest):
    data = lab.file(NAME, SIZE)
    mirrors = lab.depots(2)
    typed = host(data, [digest(data)] + duplicates(*mirrors))
    # Slow enough for mirrors to begin, on a machine that is busy.
    run = lab.xdownload("--limit-rate", SIZE, typed.url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data
    assert hosts(run) == {typed.host, *(m.host for m in mirrors)}
    assert sum(bytes_of(run, m) for m in mirrors) > 0
    assert run.report["verified"] == "sha-256"
    assert "matches the server's digest, sha-256" in run.err
    assert run.report["verified_is_servers"] is True
    assert "want-repr-digest: sha-256" in typed.heads[0].lower()


def test_no_metalink_ignores_what_the_server_names(lab, host):
    data = lab.file(NAME, SIZE)
    mirror = lab.depot()
    typed = host(data, [repr_digest(b"another")] + duplicates(mirror))
    run = lab.xdownload("--no-metalink", typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {typed.host}
    assert run.report["verified"] is None
    assert "want-" not in "".join(typed.heads).lower()


def test_mirrors_without_a_digest_are_compared_and_join(lab, host):
    data = lab.file(NAME, SIZE)
    mirrors = lab.depots(3)
    other = host(bytes(SIZE))
    typed = host(data, duplicates(*mirrors, other))
    run = lab.xdownload("--limit-rate", SIZE, typed.url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data
    assert hosts(run) == {typed.host, *(m.host for m in mirrors)}
    assert sum(bytes_of(run, m) for m in mirrors) > 0
    assert run.report["verified"] is None
    assert f"{other.url(NAME)}: its bytes differ from those of the URL that " \
        "names it" in run.err


def test_caches_that_a_director_names_with_its_redirect_join(lab, host):
    data = lab.file(NAME, SIZE)
    caches = lab.depots(3)
    director = host(data, redirect=caches[0].url(NAME))
    director.lines = [
        "Link: " + ", ".join(f'<{c.url(NAME)}>; rel="duplicate"; pri={i + 1}; '
                             "depth=3" for i, c in enumerate(caches))]
    run = lab.xdownload("--limit-rate", SIZE, director.url("ns/film.bin"))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data
    assert {c.host for c in caches[1:]} <= hosts(run)
    assert sum(bytes_of(run, c) for c in caches[1:]) > 0
    run = lab.xdownload("--no-metalink", "--force", director.url(NAME))
    assert run.rc == 0, run.err
    assert hosts(run) == {director.host}


@pytest.mark.parametrize("digest", [
    None,
    lambda data: f"Digest: MD5={b64(data, 'md5')},SHA={b64(data, 'sha1')}",
    lambda data: f"Content-Digest: sha-256=:{b64(data)}:",
    lambda data: f"Digest: SHA-256={b64(data)[:-3]}",
    lambda data: f"Repr-Digest: sha-256=:{b64(data)}:, sha-256=:{b64(b'x')}:",
], ids=["none", "weak", "of-the-content", "cut", "two-values"])
def test_mirrors_without_a_strong_digest_count_if_samples_agree(lab, host,
                                                                digest):
    data = lab.file(NAME, SIZE)
    good, bad = lab.depot(), host(bytes(SIZE + 1))
    typed = host(data, duplicates(good, bad))
    if digest:
        typed.lines.append(digest(data))
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert typed.host in hosts(run) and bad.host not in hosts(run)
    assert run.report["verified"] is None


def test_a_digest_that_is_wrong_fails_the_download(lab, host):
    data = lab.file(NAME, SIZE)
    typed = host(data, [repr_digest(b"another")])
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 4, run.err
    assert not lab.path(NAME).exists()


@pytest.mark.parametrize("other", [
    lambda data: bytes(len(data)), lambda data: data + b"more",
    lambda data: data[:-5]], ids=["bytes", "longer", "shorter"])
def test_a_mirror_with_another_file_costs_only_its_bytes(lab, host, other):
    data = lab.file(NAME, SIZE)
    mirror, good = host(other(data)), lab.depot()
    typed = host(data, [repr_digest(data)] + duplicates(mirror, good))
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data
    assert mirror.host in run.err or bytes_of(run, mirror) == 0


def test_a_host_that_lists_itself_is_one_depot(lab, host):
    data = lab.file(NAME, SIZE)
    typed = host(data)
    typed.lines = [repr_digest(data), f"Link: </{NAME}>; rel=duplicate",
                   *duplicates(typed)]
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {typed.host} and len(run.report["depots"]) == 1


def test_what_mirrors_link_to_is_ignored(lab, host):
    data = lab.file(NAME, SIZE)
    far = lab.depot()
    mirror = host(data, [repr_digest(b"another")] + duplicates(far))
    typed = host(data, [repr_digest(data)] + duplicates(mirror))
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {typed.host, mirror.host}
    # Also where the typed host leads on to it.
    typed = host(data, redirect=mirror.url(NAME))
    run = lab.xdownload("--force", typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert run.report["verified"] is None
    assert far.host not in hosts(run)


def test_the_digest_of_a_redirect_is_not_that_of_the_file(lab, host):
    data = lab.file(NAME, SIZE)
    mirror = lab.depot()
    typed = host(data, [repr_digest(b"Moved."), *duplicates(mirror)],
                 redirect=mirror.url(NAME))
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert run.report["verified"] is None


def test_a_checksum_from_elsewhere_is_more_than_the_servers(lab, host):
    data = lab.file(NAME, SIZE)
    typed = host(data, [repr_digest(data), *duplicates(lab.depot())])
    run = lab.xdownload("--checksum",
                        "sha-256=" + hashlib.sha256(data).hexdigest(),
                        typed.url(NAME))
    assert run.rc == 0, run.err
    assert "verified with sha-256" in run.err
    assert "server's digest" not in run.err
    assert run.report["verified_is_servers"] is False


def metalink(data, depots, name=NAME, size=None):
    pieces = "".join(
        f"<hash>{hashlib.sha256(data[i:i + 262144]).hexdigest()}</hash>"
        for i in range(0, len(data), 262144))
    urls = "".join(f'<url priority="{i + 1}">{d.url(NAME)}</url>'
                   for i, d in enumerate(depots))
    return (f'<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
            f'<file name="{name}"><size>{size or len(data)}</size>'
            f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}</hash>'
            f'<pieces type="sha-256" length="262144">{pieces}</pieces>'
            f'{urls}</file></metalink>').encode()


META4 = "application/metalink4+xml"
DESCRIBED = f'Link: </m.meta4>; rel=describedby; type="{META4}"'


def test_a_redirector_describes_its_file_by_a_metalink(lab, host):
    """As MirrorBrain and MirrorCache answer."""
    data = lab.file(NAME, SIZE)
    mirrors = lab.depots(3)
    typed = host(data, [DESCRIBED, *duplicates(mirrors[1], more="; pri=2")],
                 redirect=mirrors[0].url(NAME))
    typed.pages["/m.meta4"] = (META4, metalink(data, mirrors))
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) >= {m.host for m in mirrors}
    assert "matches the server's digest, sha-256" in run.err


@pytest.mark.parametrize("page", [
    None, lambda d: (META4, b"<metalink"),
    lambda d: (META4, metalink(d[:-1], [])),
    lambda d: (META4, metalink(bytes(len(d)), []).replace(
        b"</file>", b"<url>http://127.0.0.1:9/x</url></file>"))],
    ids=["missing", "broken", "without-sources", "another-file"])
def test_a_metalink_that_is_of_no_use_hinders_nothing(lab, host, page):
    data = lab.file(NAME, SIZE)
    typed = host(data, [repr_digest(data), DESCRIBED])
    if page:
        typed.pages["/m.meta4"] = page(data)
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {typed.host}
    assert run.report["verified"] == "sha-256"


def test_a_metalink_from_elsewhere_needs_the_servers_digest(lab, host):
    data, bad = lab.file(NAME, SIZE), bytes(SIZE)
    mirror = lab.depot()
    far = host(b"")
    far.pages["/m.meta4"] = (META4, metalink(bad, [mirror]))
    typed = host(data, [DESCRIBED.replace("</m", "<" + far.url("m"))])
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {typed.host} and far.heads == []
    far.pages["/m.meta4"] = (META4, metalink(data, [mirror]))
    typed.lines.append(repr_digest(data))
    run = lab.xdownload("--force", typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {typed.host, mirror.host}


# ---- private addresses ----

def in_public(lab, depot):
    """Its URL at a public address, in the command's other world
    (other_world.c)."""
    lab.program = os.environ["XD_UNDEFENDED"]
    return depot.url(NAME).replace("127.0.0.1", "203.0.113.7")


def named_by_link(lab, typed, data, mirror):
    typed.lines += duplicates(mirror)


def named_by_metalink(lab, typed, data, mirror):
    typed.lines.append(DESCRIBED)
    typed.pages["/m.meta4"] = (META4, metalink(data, [mirror]))


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("named", [named_by_link, named_by_metalink])
def test_a_public_server_names_no_mirror_on_this_machine(lab, host, named,
                                                         allowed):
    data = lab.file(NAME, SIZE)
    mirror = lab.depot()
    typed = host(data, [repr_digest(data)])
    named(lab, typed, data, mirror)
    run = lab.xdownload(*["--allow-private-redirs"] * allowed,
                        in_public(lab, typed))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert (bytes_of(run, mirror) > 0) == allowed
    assert bool(mirror.requests()) == allowed


def test_a_public_server_names_no_metalink_on_this_machine(lab, host):
    data = lab.file(NAME, SIZE)
    near = host(b"")
    near.pages["/m"] = (META4, metalink(data, lab.depots(1)))
    typed = host(data, [repr_digest(data),
                        DESCRIBED.replace("</m", "<" + near.url("m"))])
    run = lab.xdownload(in_public(lab, typed))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert near.heads == []


def test_a_list_is_known_by_what_its_server_calls_it(lab, host):
    data = lab.file(NAME, SIZE)
    mirrors = lab.depots(2)
    typed = host(b"")
    typed.pages["/list"] = ("text/uri-list; charset=utf-8", "".join(
        m.url(NAME) + "\r\n" for m in mirrors).encode())
    run = lab.xdownload(typed.url("list"))
    assert hosts(run) == {m.host for m in mirrors}, run.err
    assert run.rc == 0 and lab.read(NAME) == data


# ---- a Metalink that a Metalink names ----

def naming(data, depots, *metaurls, digest=True):
    """A Metalink with these copies, and these metaurl elements."""
    proof = (f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}</hash>'
             if digest else "")
    urls = "".join(f"<url>{d.url(NAME)}</url>" for d in depots)
    return (f'<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
            f'<file name="{NAME}">{proof}{urls}{"".join(metaurls)}'
            f'</file></metalink>').encode()


def metaurl(url, kind=META4, more=""):
    return f'<metaurl mediatype="{kind}"{more}>{url}</metaurl>'


@pytest.fixture
def named(lab, host):
    """A server with a Metalink at /far that names mirrors."""
    def make(data, depots, **options):
        far = host(b"")
        far.pages["/far"] = (META4, metalink(data, depots, **options))
        return far
    return make


def written(lab, text, name="own.meta4"):
    lab.path(name).write_bytes(text)
    return name


def test_the_mirrors_of_a_metaurl_join(lab, named):
    data = lab.file(NAME, SIZE)
    own, mirror = lab.depots(2)
    far = named(data, [mirror, own])
    run = lab.xdownload(written(lab, naming(
        data, [own], metaurl(far.url("far"), " Application/Metalink4+XML "))))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {own.host, mirror.host}
    assert len(run.report["depots"]) == 2
    run = lab.xdownload("--force", "--no-metalink", "own.meta4")
    assert hosts(run) == {own.host} and len(far.heads) == 1


def test_a_metaurl_is_enough_of_a_source(lab, host, named):
    data = lab.file(NAME, SIZE)
    mirror = lab.depot()
    far = named(data, [mirror], name="other.bin")
    typed = host(b"")
    typed.pages["/own"] = (META4, naming(
        data, [], metaurl(far.url("far"), more=' name="other.bin"')))
    run = lab.xdownload(typed.url("own"))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {mirror.host}


def test_a_metaurl_that_is_the_only_source_may_fail(lab, host):
    data, far = lab.file(NAME, SIZE), host(b"")
    far.pages["/far"] = (META4, b"nothing")
    run = lab.xdownload(written(lab, naming(data, [],
                                            metaurl(far.url("far")))))
    assert run.rc == 1 and not lab.path(NAME).exists(), run.err
    assert "the Metalink of a metaurl is not used" in run.err
    assert "no replica" in run.err


def test_a_server_that_describes_its_file_names_more(lab, host, named):
    data = lab.file(NAME, SIZE)
    mirror, more = lab.depots(2)
    far = named(data, [more])
    typed = host(data, [DESCRIBED])
    typed.pages["/m.meta4"] = (META4, naming(data, [mirror],
                                             metaurl(far.url("far"))))
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {typed.host, mirror.host, more.host}


@pytest.mark.parametrize("page", [
    None, lambda d: b"<metalink", lambda d: metalink(d[:-1], []),
    lambda d: metalink(bytes(len(d)), []).replace(
        b"</file>", b"<url>http://127.0.0.1:9/x</url></file>"),
    lambda d: metalink(d, []).replace(
        b"</file>", b"<url>file:///etc/passwd</url></file>")],
    ids=["missing", "broken", "without-sources", "another-file", "no-web"])
def test_a_metaurl_that_is_of_no_use_hinders_nothing(lab, host, page):
    data = lab.file(NAME, SIZE)
    own, far = lab.depot(), host(b"")
    if page:
        far.pages["/far"] = (META4, page(data))
    run = lab.xdownload(written(lab, naming(data, [own],
                                            metaurl(far.url("far")))))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {own.host} and len(far.heads) == 1
    assert "the Metalink of a metaurl is not used" in run.err


def test_a_metaurl_needs_a_hash_and_leads_no_further(lab, host, named):
    data = lab.file(NAME, SIZE)
    own, mirror = lab.depots(2)
    last = named(data, [mirror])
    far = host(b"")
    far.pages["/far"] = (META4, naming(data, [own],
                                       metaurl(last.url("far"))))
    run = lab.xdownload(written(lab, naming(data, [own],
                                            metaurl(last.url("far")),
                                            digest=False)))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {own.host} and last.heads == []
    run = lab.xdownload("--force", written(lab, naming(
        data, [own], metaurl(far.url("far")))))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert hosts(run) == {own.host} and last.heads == []
    assert len(far.heads) == 1


def test_a_torrent_is_passed_over_which_v_says(lab, host):
    data = lab.file(NAME, SIZE)
    own, far = lab.depot(), host(b"")
    text = naming(data, [own], metaurl(far.url("far"), "torrent"),
                  metaurl(far.url("far"), "application/x-bittorrent"))
    run = lab.xdownload(written(lab, text))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert "torrent" not in run.err and far.heads == []
    run = lab.xdownload("--force", "-v", "own.meta4")
    assert "the manifest names 2 torrents of the file" in run.err


@pytest.mark.parametrize("allowed", [False, True])
def test_a_public_metaurl_names_no_mirror_on_this_machine(lab, named, allowed):
    data = lab.file(NAME, SIZE)
    own, mirror = lab.depots(2)
    far = named(data, [mirror])
    run = lab.xdownload(*["--allow-private-redirs"] * allowed,
                        written(lab, naming(data, [own], metaurl(
                            in_public(lab, far).replace(NAME, "far")))))
    assert run.rc == 0 and lab.read(NAME) == data, run.err
    assert len(far.heads) == 1
    assert bool(mirror.requests()) == allowed


# ---- which of them are used ----

def test_only_and_exclude_choose_among_mirrors(lab, host):
    data = lab.file(NAME, SIZE)
    a, b = lab.depots(2, address=lambda i: f"127.0.0.{i + 2}")
    typed = host(data, [repr_digest(data), *duplicates(a, b)])
    for options, expected in (
            (["--exclude", "127.0.0.3"], {typed.host, a.host}),
            (["--exclude", "127.0.0.*", "--only", "*"], None),
            (["--only", "127.0.0.2", "--only", "*.3"], {a.host, b.host}),
            (["--exclude", "*.2", "--only", "*.*.0.2", "--only", "127.0.0.3"],
             {b.host})):
        run = lab.xdownload("--force", *options, typed.url(NAME))
        if expected is None:
            assert run.rc == 1, run.err
            continue
        assert run.rc == 0 and lab.read(NAME) == data, run.err
        assert hosts(run) == expected


def test_https_only_asks_for_nothing_in_the_clear(lab):
    lab.file(NAME, SIZE)
    plain = lab.depot()
    run = lab.xdownload("--https-only", plain.url(NAME))
    assert run.rc == 1 and plain.requests() == [], run.err
    assert "it is no https: URL" in run.err
    run = lab.xdownload("--https-only", lab.exnode(NAME, [plain]))
    assert run.rc == 1 and plain.requests() == [], run.err
    assert "no replica that can be fetched" in run.err


def test_a_location_is_preferred(lab, host):
    data = lab.file(NAME, SIZE)
    near, far = lab.depots(2)
    typed = host(data, [repr_digest(data), *duplicates(far, more="; geo=jp"),
                        *duplicates(near, more="; geo=DE")])
    run = lab.xdownload(typed.url(NAME), "--location", "at,de")
    assert run.rc == 0, run.err
    assert run.report["depots"][0]["host"] == near.host
    run = lab.xdownload(typed.url(NAME), "--location", "germany")
    assert run.rc == 2 and "country codes" in run.err
    run = lab.xdownload("--location", typed.url(NAME))
    assert run.rc == 2 and "redirects are followed without it" in run.err
