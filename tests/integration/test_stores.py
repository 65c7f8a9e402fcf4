# SPDX-License-Identifier: MIT
"""Real servers as stores: what `xdownload put` places there is there, whole, and
comes back; and stores that refuse, truncate or lose objects."""
import base64
import contextlib
import hashlib
import http.server
import os
import subprocess
import threading
import time

import pytest

from lab import Depot, Lab, bytes_of, find_nginx
from test_servers import Servers, find, free_port

SIZE = 5_000_011
EXTENT = 2_000_000
PUT = "dav_methods PUT DELETE MKCOL; client_max_body_size 0;"
SMALL = "dav_methods PUT DELETE MKCOL; client_max_body_size 100k;"
USER = "ann:open sesame"


class Stores(Servers):
    """Each method makes a store: its Depot, and the folder that it writes to."""

    def _root(self, name):
        root = self.lab.folder / f"store-{name}"
        root.mkdir(exist_ok=True)
        root.chmod(0o777)
        return root

    def _nginx(self, name, config=PUT, **options):
        said = subprocess.run([find_nginx(), "-V"], stderr=subprocess.PIPE,
                              text=True, check=True).stderr
        if "http_dav_module" not in said:
            pytest.skip("this nginx has no module for WebDAV")
        root = self._root(name)
        return self.lab.depot(config=f"location /dav/ {{ alias {root}/; "
                                     f"{config} }}", **options), root

    def nginx(self):
        return self._nginx("nginx")

    def nginx_full_path(self):
        return self._nginx("nginx-full", PUT + "create_full_put_path on;")

    def nginx_http2(self):
        return self._nginx("nginx-h2", certificate=self.certificate())

    def nginx_small(self):
        return self._nginx("nginx-small", SMALL)

    def nginx_small_http2(self):
        return self._nginx("nginx-small-h2", SMALL,
                           certificate=self.certificate())

    def _apache(self, name, auth="", inside="", tls=False):
        """Debian's modules of WebDAV."""
        apache, port = find("apache2"), free_port()
        root, run = self._root(name), self.folder(f"run-{name}")
        modules = "/usr/lib/apache2/modules/mod_"
        names = ["mpm_event", "authz_core", "authz_user", "authn_core",
                 "authn_file", "auth_basic", "auth_digest", "dav", "dav_fs",
                 "alias", "setenvif"] + ["socache_shmcb", "ssl"] * tls
        loaded = "".join(f"LoadModule {m}_module {modules}{m}.so\n"
                         for m in names)
        secure = ""
        if tls:
            made = self.certificate()
            secure = (f"SSLEngine on\nSSLCertificateFile {made.path}\n"
                      f"SSLCertificateKeyFile {made.key}\n")
        root_of_it = "User nobody\nGroup nogroup" if os.geteuid() == 0 else ""
        conf = self.write(f"{name}.conf", f"""{loaded}
            ServerName 127.0.0.1
            ServerRoot {run}
            DefaultRuntimeDir {run}
            PidFile {run}/pid
            ErrorLog {run}/log
            LogLevel error
            Listen 127.0.0.1:{port}
            DocumentRoot {self.lab.www}
            DAVLockDB {run}/locks
            Alias /dav {root}
            {root_of_it}
            {secure}
            <Directory {root}>
                DAV On
                {auth}
                {inside}
            </Directory>
            """)
        depot = self.start([apache, "-f", conf, "-DFOREGROUND"], port,
                           scheme="https" if tls else "http")
        return depot, root

    def _basic(self):
        crypted = "ann:{SHA}" + base64.b64encode(
            hashlib.sha1(b"open sesame").digest()).decode()
        return (f'AuthType Basic\nAuthName "r"\n'
                f'AuthUserFile {self.write("basic", crypted)}\n')

    def _digest(self):
        known = hashlib.md5(b"ann:r:open sesame").hexdigest()
        return (f'AuthType Digest\nAuthName "r"\nAuthDigestProvider file\n'
                f'AuthUserFile {self.write("digest", f"ann:r:{known}")}\n')

    def apache(self):
        return self._apache("apache")

    def apache_basic(self):
        return self._apache("apache-basic", self._basic(),
                            "Require valid-user")

    def apache_basic_tls(self):
        return self._apache("apache-tls", self._basic(), "Require valid-user",
                            tls=True)

    def apache_digest(self):
        return self._apache("apache-digest", self._digest(),
                            "Require valid-user")

    def apache_digest_to_write(self):
        """The body has begun when it asks for a password, or would have."""
        return self._apache("apache-digest-put", self._digest(),
                            "<LimitExcept GET HEAD>\nRequire valid-user\n"
                            "</LimitExcept>")


@pytest.fixture(scope="module")
def stores():
    with Lab() as lab:
        made = Stores(lab)
        (lab.work / "film.bin").write_bytes(bytes_of(SIZE))
        yield made
        made.close()


def put(stores, url, *args):
    return stores.lab.xdownload("put", "film.bin", "--force", "--to", url,
                                "--extent", str(EXTENT), "-o", "film.xnd",
                                *args, report=False)


NAMES = ["nginx", "nginx_full_path", "nginx_http2", "apache", "apache_basic",
         "apache_basic_tls", "apache_digest", "apache_digest_to_write"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_put_is_there_and_comes_back(stores, name):
    depot, root = stores.get(name)
    run = put(stores, depot.url("dav/new/"), "-u", USER)
    assert run.rc == 0, run.err
    data = (stores.lab.work / "film.bin").read_bytes()
    kept = [p.read_bytes() for p in (root / "new").iterdir()]
    assert sorted(map(len, kept)) == [1_000_011, EXTENT, EXTENT]
    assert {hashlib.sha256(k).digest() for k in kept} == {
        hashlib.sha256(data[i:i + EXTENT]).digest()
        for i in range(0, SIZE, EXTENT)}
    if name == "apache_digest":
        return  # a download answers Basic alone
    back = stores.lab.xdownload("film.xnd", "-o", f"back-{name}", "-u", USER,
                                "--auth-host", depot.host)
    assert back.rc == 0, back.err
    assert stores.lab.read(f"back-{name}") == data


@pytest.mark.parametrize("name", ["apache_basic", "apache_digest"])
def test_without_a_password_nothing_is_put(stores, name):
    depot, root = stores.get(name)
    run = put(stores, depot.url("dav/none/"))
    assert run.rc != 0
    assert "401" in run.err and "user" in run.err
    assert not (root / "none").exists()


@pytest.mark.parametrize("name", ["nginx_small", "nginx_small_http2"])
def test_a_refusal_is_seen_while_the_object_is_sent(stores, name):
    depot, root = stores.get(name)
    run = put(stores, depot.url("dav/none/"))
    assert run.rc != 0
    assert "413: it takes no objects of that size" in run.err
    assert [p for p in root.rglob("*") if p.is_file()] == []


class OddStore(http.server.BaseHTTPRequestHandler):
    """Keeps objects in memory, but for what its class says."""

    protocol_version = "HTTP/1.1"
    objects: dict = {}

    def log_message(self, *_):
        pass

    def say(self, code, body=b"", **fields):
        self.send_response(code)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in fields:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_HEAD(self):
        found = self.objects.get(self.path)
        if found is None:
            self.say(404)
        else:
            self.say(200, Content_Length=str(len(found)))

    def do_GET(self):
        found = self.objects.get(self.path)
        if found is None:
            self.say(404)
            return
        first, last = self.headers["Range"][len("bytes="):].split("-")
        first, last = int(first), min(int(last), len(found) - 1)
        self.say(206, found[first:last + 1],
                 Content_Range=f"bytes {first}-{last}/{len(found)}")

    def do_MKCOL(self):
        self.say(405)

    def do_DELETE(self):
        self.say(204 if self.objects.pop(self.path, None) else 404)

    def do_PUT(self):
        self.objects[self.path] = self.body()
        self.say(201)


def refuses(code, **fields):
    class Store(OddStore):
        def do_PUT(self):
            self.body()
            self.say(code, **fields)
    return Store


def refuses_at_once(code):
    """It reads none of the body, and closes."""
    class Store(OddStore):
        def handle_expect_100(self):
            self.say(code, Connection="close")
            self.close_connection = True
            return False
    return Store


class Truncates(OddStore):
    def do_PUT(self):
        self.objects[self.path] = self.body()[:-1]
        self.say(201)


class Loses(OddStore):
    def do_PUT(self):
        self.body()
        self.say(201)


class LiesAboutLength(OddStore):
    def do_HEAD(self):
        if self.path in self.objects:
            self.say(200, Content_Length="1" * 7)
        else:
            self.say(404)


class Spoils(OddStore):
    def do_PUT(self):
        self.objects[self.path] = bytes(len(self.body()))
        self.say(201)


@contextlib.contextmanager
def running(handler):
    handler.objects = {}
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,),
                         daemon=True).start()
        try:
            yield Depot("%s:%d" % server.server_address)
        finally:
            server.shutdown()


@pytest.mark.parametrize("handler, words", [
    (refuses(403), "403"),
    (refuses(405), "does not take objects by PUT"),
    (refuses(413), "413"),
    (refuses(507), "no space left"),
    (refuses_at_once(507), "no space left"),
    (refuses(307, Location="http://other.example/x?key=secret"),
     "points to http://other.example/x"),
    (Truncates, "says that it has"),
    (Loses, "does not have it"),
    (LiesAboutLength, "says that it has"),
    (Spoils, "other bytes than were sent"),
], ids=["403", "405", "413", "507", "507-at-once", "redirect", "truncates",
        "loses", "lies", "spoils"])
def test_a_store_that_does_not_keep_an_object_is_named(stores, handler, words):
    with running(handler) as depot:
        run = put(stores, depot.url("x/"))
    assert run.rc != 0
    assert words in run.err, run.err
    assert depot.host in run.err
    assert "secret" not in run.err


def test_a_store_that_keeps_them_is_an_odd_one_too(stores):
    """What the rows above differ from."""
    with running(OddStore) as depot:
        run = put(stores, depot.url("x/"))
        assert run.rc == 0, run.err
        kept = list(OddStore.objects.values())
    assert sorted(map(len, kept)) == [1_000_011, EXTENT, EXTENT]


def lacks_conditions(code):
    """It refuses each If-None-Match, whether the object is there or not."""
    class Store(OddStore):
        def do_PUT(self):
            body = self.body()
            if self.headers["If-None-Match"]:
                self.say(code)
                return
            self.objects[self.path] = body
            self.say(201)
    return Store


def lacks_head(code):
    class Store(OddStore):
        def do_HEAD(self):
            self.say(code)
    return Store


class StatesNoLength(OddStore):
    def do_HEAD(self):
        self.say(200 if self.path in self.objects else 404,
                 Content_Length="0")


@pytest.mark.parametrize("handler", [
    lacks_conditions(412), lacks_conditions(400), lacks_conditions(501),
    lacks_head(405), lacks_head(501), lacks_head(403), StatesNoLength,
], ids=["if-none-match-412", "if-none-match-400", "if-none-match-501",
        "head-405", "head-501", "head-403", "head-length-0"])
def test_store_that_lacks_a_part_of_http_takes_objects(stores, handler):
    with running(handler) as depot:
        run = put(stores, depot.url("x/"))
        kept = list(handler.objects.values())
    assert run.rc == 0, run.err
    assert sorted(map(len, kept)) == [1_000_011, EXTENT, EXTENT]


class Works(OddStore):
    """It has an object only some seconds after its last byte, as where it is
    looked at for viruses."""

    sent = 0

    def keep(self, path, body):
        time.sleep(8)
        self.objects[path] = body

    def take(self):
        type(self).sent += 1
        return self.path, self.body()


class AnswersLate(Works):
    def do_PUT(self):
        self.keep(*self.take())
        self.say(201)


class GatewayGivesUp(Works):
    def do_PUT(self):
        threading.Thread(target=self.keep, args=self.take(),
                         daemon=True).start()
        self.say(504)


class HangsUp(Works):
    def do_PUT(self):
        self.keep(*self.take())
        self.close_connection = True


@pytest.mark.parametrize("handler", [AnswersLate, GatewayGivesUp, HangsUp])
def test_object_that_a_store_works_on_is_sent_once(stores, handler):
    with running(handler) as depot:
        run = put(stores, depot.url("x/"), "--extent", "8m")
        kept = list(handler.objects.values())
    assert run.rc == 0, run.err
    assert kept == [bytes_of(SIZE)]
    assert handler.sent == 1
