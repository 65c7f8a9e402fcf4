# SPDX-License-Identifier: MIT
"""xdownload put with two S3 servers that people run; before a release only,
because they are large (tests/lab/s3_servers.sh puts them into build/servers)."""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest

from lab import bytes_of, wait_until
from test_s3 import (ACCESS_KEY, KEYS, LARGE, SECRET_KEY, SMALL, SOURCE,
                     assert_put, lab_with_keys, put)

__all__ = ["lab_with_keys"]  # the fixture of these tests


def find(command):
    path = shutil.which(command, path=os.pathsep.join(
        [str(SOURCE / "build" / "servers" / "bin"), os.environ["PATH"]]))
    if not path:
        pytest.skip(f"{command} is not installed: "
                    "sh tests/lab/s3_servers.sh build/servers")
    return path


def is_listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


FETCH = """
import sys, pathlib, boto3
s3 = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1")
for found in s3.list_objects_v2(Bucket="bkt")["Contents"]:
    path = pathlib.Path(sys.argv[2], "bkt", found["Key"])
    path.parent.mkdir(parents=True, exist_ok=True)
    s3.download_file("bkt", found["Key"], str(path))
"""


@contextlib.contextmanager
def server(lab, name):
    """Its endpoint, and a function that gives its objects."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    folder = lab.folder / "objects"
    folder.mkdir()
    endpoint = f"http://127.0.0.1:{port}"
    command, environment = [find("moto_server"), "-p", str(port)], {}
    if name == "versitygw":
        (folder / "bkt").mkdir()
        command = [find(name), "--port", f"127.0.0.1:{port}", "posix",
                   str(folder)]
        environment = {"ROOT_ACCESS_KEY": ACCESS_KEY,
                       "ROOT_SECRET_KEY": SECRET_KEY}

    def objects():
        if name == "moto":  # Amazon's library fetches them
            subprocess.run([Path(command[0]).resolve().parent / "python3", "-c",
                            FETCH, endpoint, str(folder)], check=True,
                           env={**os.environ, **KEYS})
        return {str(p.relative_to(folder)): p.read_bytes()
                for p in folder.rglob("*")
                if p.is_file() and not any(
                    part.startswith(".") for part in
                    p.relative_to(folder).parts)}

    with open(lab.folder / "server.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log,
                                   env={**os.environ, **environment})
        try:
            wait_until(lambda: is_listening(port) or process.poll() is not None,
                       f"{name} to listen", 60)
            if name == "moto":
                urllib.request.urlopen(urllib.request.Request(
                    f"{endpoint}/bkt", method="PUT")).close()
            yield endpoint, objects
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("name", ["versitygw", "moto"])
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_servers_that_people_run_take_a_file(lab, name, size):
    with server(lab, name) as (endpoint, objects):
        run, data = put(lab, endpoint, size=size,
                        name="a b+c%d~e\u00fc (1).bin")
        assert_put(lab, run, data, objects())


@pytest.mark.parametrize("id_is_known", [True, False])
def test_a_server_that_people_run_forgets_parts_of_a_killed_upload(
        lab, id_is_known):
    with server(lab, "versitygw") as (endpoint, objects):
        def parts():
            return [p for p in (lab.folder / "objects").rglob("*")
                    if p.is_file() and "multipart" in str(p)]

        def started():
            return parts() and re.search(r"pending \d+ \d+ s3://\S+ \S+ - [^-\s]",
                                         lab.read("film.private.xnd").decode())
        data = bytes_of(LARGE, 7)
        lab.path("film.bin").write_bytes(data)
        words = ["put", "film.bin", "--to", "s3://bkt/dir", "--s3-endpoint",
                 endpoint, "--s3-part-size", "5m", "-o", "film.xnd"]
        run = lab.start(*words, "--limit-rate", "3m", report=False)
        wait_until(started, "a part is there")
        run.kill()
        run.popen.wait()
        assert parts()
        if not id_is_known:  # its answer was lost
            path = lab.path("film.private.xnd")
            path.write_text(re.sub(r"(pending \d+ \d+ \S+ \S+ -) \S+", r"\1 -",
                                   path.read_text()))
        run = lab.xdownload(*words, report=False)
        assert_put(lab, run, data, objects())
        assert not parts()


@pytest.mark.parametrize("key, words", [
    ("AWS_SECRET_ACCESS_KEY", "check s3-secret-key"),
    ("AWS_ACCESS_KEY_ID", "does not know the access key")])
def test_a_server_that_people_run_refuses_wrong_keys(lab, key, words):
    lab.environment[key] = "wrong"
    with server(lab, "versitygw") as (endpoint, objects):
        run, _ = put(lab, endpoint, "--retry", "1", size=SMALL)
        assert run.rc != 0 and words in run.err, run
        assert objects() == {}
