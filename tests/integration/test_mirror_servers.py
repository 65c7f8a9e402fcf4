# SPDX-License-Identifier: MIT
"""nginx and Apache that send what mirrorbits, MirrorBrain and MirrorCache do."""
import os

import pytest

from test_offers import META4, b64, bytes_of, hosts, metalink, old_digest, \
    repr_digest
from test_servers import IS_ROOT, Servers, find, free_port

NAME = "film.bin"
SIZE = 3_000_003
SLOW = bool(os.environ.get("XD_SLOW"))


class Fields:
    """A real server whose answers for NAME have further fields."""

    def __init__(self, lab):
        self.lab = lab
        self.servers = Servers(lab)

    def close(self):
        self.servers.close()

    def nginx(self, fields, to=None):
        lines = "".join(f"add_header {k} '{v}';" for k, v in fields)
        more = f"return 302 {to};" if to else ""
        return self.lab.depot(
            config=f"location = /{NAME} {{ {lines} {more} }}"
                   f"types {{ {META4} meta4; }}")

    def apache(self, fields, to=None):
        port, path = free_port(), self.servers.folder("apache-fields")
        modules = "/usr/lib/apache2/modules/mod_"
        loaded = "".join(f"LoadModule {m}_module {modules}{m}.so\n" for m in (
            "mpm_event", "authz_core", "mime", "headers", "alias"))
        lines = "\n".join("Header always add %s \"%s\"" % (
            k, v.replace('"', '\\"')) for k, v in fields)
        more = f"Redirect 302 /{NAME} {to}" if to else ""
        conf = self.servers.write("fields.conf", f"""{loaded}
            ServerName 127.0.0.1
            ServerRoot {path}
            DefaultRuntimeDir {path}
            PidFile {path}/pid
            ErrorLog {path}/log
            Listen 127.0.0.1:{port}
            DocumentRoot {self.lab.www}
            TypesConfig /dev/null
            AddType {META4} .meta4
            {"User nobody" if IS_ROOT else ""}
            {"Group nogroup" if IS_ROOT else ""}
            {more}
            <Location /{NAME}>
            {lines}
            </Location>
            """)
        return self.servers.start([find("apache2"), "-f", conf, "-DFOREGROUND"],
                                  port)


@pytest.fixture
def fields(lab):
    made = Fields(lab)
    yield made
    made.close()


server = pytest.mark.parametrize("server",
                                 ["nginx", "apache"] if SLOW else ["nginx"])


def start(fields, server, lines, to=None):
    return getattr(fields, server)([line.split(": ", 1) for line in lines], to)


def complete(lab, typed, data):
    run = lab.xdownload("--force", typed.url(NAME))
    assert run.rc == 0, run.err
    assert lab.read(NAME) == data
    return run


def dozens(mirrors):
    """In one field: quoted and not, with blanks and without."""
    links = [f"<{m.url(NAME)}>; rel=duplicate; pri={i + 1}; geo=de"
             for i, m in enumerate(mirrors)]
    links += [f"<http://127.0.0.1:9/{i}/{NAME}>;rel=\"duplicate\" ;pri=\"{i}\""
              for i in range(10, 60)]
    return "Link: " + ", ".join(links)


@server
def test_many_links_in_one_line_and_relative_ones(lab, fields, server):
    data = lab.file(NAME, SIZE)
    (lab.www / "copy.bin").write_bytes(data)
    mirrors = lab.depots(2)
    typed = start(fields, server, [
        repr_digest(data), dozens(mirrors), "Link: <copy.bin>; rel=duplicate",
        f'Link: </{NAME}>; rel="duplicate"; pref'])
    run = complete(lab, typed, data)
    assert hosts(run) == {typed.host, "127.0.0.1:9", *(m.host for m in mirrors)}
    assert sum(bytes_of(run, m) for m in mirrors) > 0
    assert run.report["verified_is_servers"] is True


def mirrorbits(mirrors):
    return [f"Link: <{m.url(NAME)}>; rel=duplicate; pri={i + 1}; geo=de"
            for i, m in enumerate(mirrors)]


def mirrorbrain(mirrors):
    return [f'Link: </{NAME}.meta4>; rel=describedby; type="{META4}"',
            f"Link: <http://127.0.0.1:9/{NAME}.torrent>; rel=describedby; "
            'type="application/x-bittorrent"', *mirrorbits(mirrors)]


@server
def test_mirrorbits_gives_no_digest_and_its_mirrors_are_compared(
        lab, fields, server):
    data = lab.file(NAME, SIZE)
    mirrors = lab.depots(3)
    typed = start(fields, server, mirrorbits(mirrors[1:]),
                  to=mirrors[0].url(NAME))
    run = complete(lab, typed, data)
    assert hosts(run) == {typed.host, *(m.host for m in mirrors[1:])}
    assert run.report["verified"] is None


@server
def test_mirrorbrain_and_mirrorcache_describe_the_file(lab, fields, server):
    data = lab.file(NAME, SIZE)
    mirrors = lab.depots(3)
    (lab.www / f"{NAME}.meta4").write_bytes(metalink(data, mirrors[:2]))
    # Of its redirect, as RFC 9530 has it.
    typed = start(fields, server,
                  mirrorbrain(mirrors) + [old_digest(b"302 Found")],
                  to=mirrors[0].url(NAME))
    run = complete(lab, typed, data)
    assert hosts(run) == {typed.host, *(m.host for m in mirrors)}
    assert run.report["verified_is_servers"] is True


@server
def test_a_digest_that_is_wrong(lab, fields, server):
    lab.file(NAME, SIZE)
    typed = start(fields, server, [repr_digest(b"another")])
    run = lab.xdownload(typed.url(NAME))
    assert run.rc == 4, run.err
    assert not lab.path(NAME).exists()


@server
def test_a_mirror_that_has_another_file(lab, fields, server):
    data = lab.file(NAME, SIZE)
    bad = lab.depot(files={NAME: bytes(SIZE)})
    typed = start(fields, server, [
        f"Digest: SHA-256={b64(data)}", *mirrorbits([bad, lab.depot()])])
    complete(lab, typed, data)


@server
def test_a_host_that_lists_itself(lab, fields, server):
    data = lab.file(NAME, SIZE)
    typed = start(fields, server, [
        repr_digest(data), f"Link: <{NAME}>; rel=duplicate; pri=1"])
    run = complete(lab, typed, data)
    assert hosts(run) == {typed.host} and len(run.report["depots"]) == 1
