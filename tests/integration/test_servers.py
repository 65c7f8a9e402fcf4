# SPDX-License-Identifier: MIT
"""Real servers: where curl gets the file from one URL, xdownload does.

Each server of the table is used alone and beside nginx, with a hash and without
one.  The quick run takes the first of them, XD_SLOW all.
"""
import contextlib
import hashlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab import PATIENCE, Depot, Lab, find_nginx, wait_until

SIZE = 3_000_017
SLOW = bool(os.environ.get("XD_SLOW"))
SBIN = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/sbin"
IS_ROOT = os.geteuid() == 0


def find(command):
    path = shutil.which(command, path=SBIN)
    if not path:
        pytest.skip(f"{command} is not installed")
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def is_listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Servers:
    """Starts servers of /file.bin and /file.tar.gz when they are first wanted;
    each method makes one of them and returns its depot."""

    def __init__(self, lab):
        self.lab = lab
        self.data = lab.file("file.bin", SIZE)
        (lab.www / "file.tar.gz").write_bytes(self.data)
        for folder in (lab.folder, lab.www):  # some servers run as nobody
            folder.chmod(0o755)
        self._made = {}
        self._open = contextlib.ExitStack()

    def close(self):
        self._open.close()

    def get(self, name):
        if name not in self._made:
            self._made[name] = getattr(self, name)()
        return self._made[name]

    def folder(self, name):
        path = self.lab.folder / name
        path.mkdir(exist_ok=True)
        path.chmod(0o777)
        return path

    def start(self, command, port, cwd=None, scheme="http", **options):
        log = open(self.lab.folder / f"{Path(command[0]).name}-{port}.log",
                   "wb")
        process = subprocess.Popen(list(map(str, command)), cwd=cwd,
                                   stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT, **options)
        self._open.callback(self._end, process, log)
        wait_until(lambda: is_listening(port) or process.poll() is not None,
                   f"{command[0]} to listen")
        log.flush()
        assert process.poll() is None, Path(log.name).read_text()
        return Depot(f"127.0.0.1:{port}", scheme=scheme)

    @staticmethod
    def _end(process, log):
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()

    def write(self, name, text):
        path = self.lab.folder / name
        path.write_text(text)
        return path

    # ---- the servers ----

    def python(self):
        """Knows no ranges."""
        port = free_port()
        return self.start([sys.executable, "-m", "http.server", "--bind",
                           "127.0.0.1", port], port, cwd=self.lab.www)

    def nginx(self):
        return self.lab.depot()

    def another_nginx(self):
        return self.lab.depot()

    def nginx_tls(self):
        return self.lab.depot(certificate=self.certificate())

    def apache(self):
        apache, port = find("apache2"), free_port()
        modules = "/usr/lib/apache2/modules/mod_"
        loaded = "".join(f"LoadModule {m}_module {modules}{m}.so\n"
                         for m in ("mpm_event", "authz_core", "mime"))
        # The log and the encodings of Debian's own configuration.
        conf = self.write("apache.conf", f"""{loaded}
            ServerName 127.0.0.1
            ServerRoot {self.folder("apache")}
            DefaultRuntimeDir {self.folder("apache")}
            PidFile {self.folder("apache")}/pid
            ErrorLog {self.folder("apache")}/log
            Listen 127.0.0.1:{port}
            DocumentRoot {self.lab.www}
            TypesConfig /dev/null
            AddEncoding x-gzip .gz .tgz
            FileETag INode MTime Size
            {"User nobody" if IS_ROOT else ""}
            {"Group nogroup" if IS_ROOT else ""}
            """)
        return self.start([apache, "-f", conf, "-DFOREGROUND"], port)

    def lighttpd(self):
        lighttpd, port = find("lighttpd"), free_port()
        conf = self.write("lighttpd.conf", f"""
            server.bind = "127.0.0.1"
            server.port = {port}
            server.document-root = "{self.lab.www}"
            mimetype.assign = ( "" => "application/octet-stream" )
            """)
        return self.start([lighttpd, "-D", "-f", conf], port)

    def mini_httpd(self):
        """Knows no ranges, and says gzip of a file's name."""
        mini_httpd, port = find("mini_httpd"), free_port()
        user = ["-u", "nobody"] if IS_ROOT else []
        return self.start([mini_httpd, "-D", "-h", "127.0.0.1", "-p", port,
                           "-d", self.lab.www, *user], port)

    def _haproxy(self, mode, over=("nginx", "apache", "lighttpd"), more=""):
        haproxy, port = find("haproxy"), free_port()
        servers = [self.get(name) for name in over]
        lines = "\n".join(f"server s{i} {s.host}"
                          for i, s in enumerate(servers))
        conf = self.write(f"haproxy-{port}.conf", f"""
defaults
    mode {mode}
    timeout connect 5s
    timeout client 30s
    timeout server 30s
listen balanced
    bind 127.0.0.1:{port}
    balance roundrobin
    {more}
    {lines}
""")
        return self.start([haproxy, "-db", "-f", conf], port)

    def haproxy(self):
        """A server for each request."""
        return self._haproxy("http")

    def haproxy_tcp(self):
        """A server for each connection."""
        return self._haproxy("tcp")

    def haproxy_mixed(self):
        """Some of its servers know ranges."""
        return self._haproxy("http", over=("nginx", "python", "apache"))

    def haproxy_two(self):
        """/two.bin is one of two files, chosen at random for each request."""
        return self._haproxy(
            "http", over=("nginx", "apache"),
            more="http-request set-path /two-%[rand(2)].bin")

    def varnish(self):
        varnish, port = find("varnishd"), free_port()
        find("cc")  # it compiles its configuration
        return self.start([varnish, "-F", "-j", "none", "-a",
                           f"127.0.0.1:{port}", "-b", self.get("nginx").host,
                           "-n", self.folder("varnish"), "-s", "malloc,32m"],
                          port)

    def squid(self):
        squid, port = find("squid"), free_port()
        host, origin = self.get("nginx").host.split(":")
        folder = self.folder("squid")
        conf = self.write("squid.conf", f"""
            http_port 127.0.0.1:{port} accel defaultsite={host}:{origin}
            cache_peer {host} parent {origin} 0 no-query originserver
            http_access allow all
            cache_mem 32 MB
            pid_filename {folder}/pid
            cache_log {folder}/cache.log
            access_log none
            coredump_dir {folder}
            shutdown_lifetime 0 seconds
            pinger_enable off
            """)
        return self.start([squid, "-N", "-f", conf], port)

    def nghttpx(self):
        """HTTP/2 to us, HTTP/1.1 to nginx."""
        nghttpx, port = find("nghttpx"), free_port()
        made = self.certificate()
        return self.start([nghttpx, "--conf=/dev/null",
                           f"--frontend=127.0.0.1,{port}",
                           f"--backend={self.get('nginx').host.replace(':', ',')}",
                           "--workers=1", made.key, made.path], port,
                          scheme="https")

    def _vsftpd(self, more=""):
        vsftpd, port = find("vsftpd"), free_port()
        conf = self.write(f"vsftpd-{port}.conf", "\n".join(
            ["listen=YES", "listen_address=127.0.0.1", f"listen_port={port}",
             "background=NO", "anonymous_enable=YES", "local_enable=NO",
             f"anon_root={self.lab.www}", "no_anon_password=YES",
             f"secure_chroot_dir={self.folder('empty')}",
             "seccomp_sandbox=NO", "xferlog_enable=NO", more, ""]))
        self.folder("empty").chmod(0o555)
        if IS_ROOT:
            conf.chmod(0o600)
        else:
            pytest.skip("only root may run vsftpd for everybody")
        return self.start([vsftpd, conf], port, scheme="ftp")

    def vsftpd(self):
        return self._vsftpd()

    def vsftpd_tls(self):
        made = self.certificate()
        depot = self._vsftpd("\n".join(
            ["ssl_enable=YES", "implicit_ssl=YES", "allow_anon_ssl=YES",
             "force_anon_data_ssl=YES", "force_anon_logins_ssl=YES",
             "require_ssl_reuse=NO", f"rsa_cert_file={made.path}",
             f"rsa_private_key_file={made.key}", "ssl_ciphers=HIGH"]))
        depot.scheme = "ftps"
        return depot

    def certificate(self):
        if "certificate" not in self._made:
            find("openssl")
            self._made["certificate"] = self.lab.certificate()
        return self._made["certificate"]


WITHOUT_RANGES = ["python", "mini_httpd", "haproxy_mixed"]

# Of each: the server, and the file whose name may have it say an encoding.
TABLE = [("python", "file.bin"), ("nginx", "file.bin"),
         ("nginx_tls", "file.bin"), ("apache", "file.bin"),
         ("apache", "file.tar.gz"), ("lighttpd", "file.bin"),
         ("mini_httpd", "file.bin"), ("mini_httpd", "file.tar.gz"),
         ("haproxy", "file.bin"), ("haproxy_tcp", "file.bin"),
         ("haproxy_mixed", "file.bin"),
         ("varnish", "file.bin"), ("squid", "file.bin"),
         ("nghttpx", "file.bin"), ("vsftpd", "file.bin"),
         ("vsftpd_tls", "file.bin")]


@pytest.fixture(scope="module")
def servers():
    if not find_nginx():
        pytest.skip("nginx is not installed")
    with Lab() as lab, contextlib.closing(Servers(lab)) as made:
        yield made


def curl(servers, url):
    """What curl gets, or None."""
    found = subprocess.run(
        [find("curl"), "-sS", "--fail", "--cacert",
         servers.lab.environment.get("SSL_CERT_FILE", "/dev/null"), url],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    return found.stdout if found.returncode == 0 else None


@pytest.mark.parametrize("hashes", ["hash", "none"])
@pytest.mark.parametrize("beside", ["alone", "with nginx"])
@pytest.mark.parametrize("name,file", TABLE if SLOW else TABLE[:1])
def test_where_curl_gets_the_file_it_comes(servers, name, file, beside,
                                           hashes):
    depot = servers.get(name)
    assert curl(servers, depot.url(file)) == servers.data, "not even by curl"
    urls = [depot.url(file)]
    if beside == "with nginx":
        urls.append(servers.get("another_nginx").url(file))
    if hashes == "hash":
        digest = hashlib.sha256(servers.data).hexdigest()
        urls += ["--checksum", f"sha-256={digest}"]
    run = servers.lab.xdownload("--force", "-o", "out", *urls)
    assert run.rc == 0, run.err
    assert servers.lab.read("out") == servers.data
    assert (run.report["verified"] == "sha-256") == (hashes == "hash")
    error = next(d["error"] for d in run.report["depots"]
                 if d["host"] == depot.host)
    assert error is None or (name in WITHOUT_RANGES and "whole" in error)
    if name == "haproxy" and beside == "alone":
        assert run.err.count("its validators differ") == 1


WRITTEN = 1_700_000_000


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(3_000_000, 3_000_000),
                                   (3_000_000, 3_000_001)])
@pytest.mark.parametrize("time", range(3))
def test_of_two_files_behind_haproxy_one_comes(servers, sizes, time):
    files = [servers.lab.file(f"two-{i}.bin", size, seed=i)
             for i, size in enumerate(sizes)]
    # nginx's validators are made of the size and the second.
    for i in range(2):
        os.utime(servers.lab.www / f"two-{i}.bin", (WRITTEN + i, WRITTEN + i))
    url = servers.get("haproxy_two").url("two.bin")
    assert curl(servers, url) in files
    run = servers.lab.xdownload("--force", "--no-continue", "-o", "out", url)
    if sizes[0] == sizes[1] or run.rc == 0:
        assert run.rc == 0, run.err
        assert servers.lab.read("out") in files
    else:  # four times the other one: curl looks at no size
        assert run.rc == 1 and "instead of" in run.err
