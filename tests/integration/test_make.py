# SPDX-License-Identifier: MIT
"""xdownload make: a manifest for copies that exist already."""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab import bytes_of, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from fault_depot import FaultDepot  # noqa: E402

MIB = 1 << 20
SIZE = 3 * MIB + 5
PIECE = 256 << 10


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def make(lab, *words, rc=0):
    run = lab.xdownload("make", "--silence", "500ms", *words, report=False)
    assert run.rc == rc, run
    return run


def shown(lab, path):
    run = lab.xdownload("show", "--json", path, report=False)
    assert run.rc == 0, run
    file, = json.loads(run.out)["files"]
    return file


def urls_in(file):
    return [r["url"] for e in file["extents"] for r in e["replicas"]]


def urls(depots, name="f.bin"):
    return [d.url(name) for d in depots]


def original(lab, data, name="f.bin"):
    lab.path(name).write_bytes(data)
    return name


def assert_of(file, data, given, piece=PIECE):
    assert file["size"] == len(data)
    assert file["hashes"] == {"sha-256": sha256(data)}
    assert file["pieces"] == {"algorithm": "sha-256", "length": piece,
                              "count": -(-len(data) // piece)}
    assert urls_in(file) == given


def pieces_in(lab, path):
    text = lab.path(path).read_text()
    if path.endswith(".xnd"):
        found = dict(re.findall(r'"piece\.(\d+)" type="string">(\w+)', text))
        return [found[str(i)] for i in range(len(found))]
    return re.findall(r"<hash>(\w+)</hash>", text)


# ---- both ways ----

@pytest.mark.parametrize("name", ["m.xnd", "m.meta4", "m.exnode", "m.METALINK"])
@pytest.mark.parametrize("how", ["file", "depots", "offline"])
def test_the_manifest_has_all_hashes_and_urls(lab, how, name):
    data = lab.file("f.bin", SIZE)
    given = urls(lab.depots(3))
    words = {"file": [original(lab, data)], "depots": [],
             "offline": ["--offline", original(lab, data)]}[how]
    run = make(lab, *words, *given, "-o", name)
    assert "3 copies of f.bin" in run.err and run.out == b""
    assert_of(shown(lab, name), data, given)
    root = lab.path(name).read_text().splitlines()[1]
    assert root.startswith("<exnode" if name in ("m.xnd", "m.exnode")
                           else "<metalink")
    if name in ("m.xnd", "m.meta4"):
        assert pieces_in(lab, name) == [sha256(data[i:i + PIECE])
                                        for i in range(0, SIZE, PIECE)]


@pytest.mark.parametrize("name", ["m.xnd", "m.meta4"])
def test_the_file_can_be_fetched_by_it(lab, name):
    data = lab.file("f.bin", SIZE)
    bad = bytearray(data)
    bad[MIB] ^= 1
    depots = [lab.depot(files={"f.bin": bytes(bad)}), *lab.depots(2)]
    make(lab, "--offline", original(lab, data, "g.bin"), *urls(depots), "-o",
         name)
    run = lab.xdownload(name, "-o", "out")
    assert run.rc == 0 and lab.read("out") == data
    assert run.report["verified"] == "sha-256"


def test_aria2_reads_and_verifies_it(lab):
    if not shutil.which("aria2c"):
        pytest.skip("aria2c is not installed")
    data = lab.file("f.bin", SIZE)
    make(lab, *urls(lab.depots(2)), "-o", "m.meta4")

    def aria2(folder):
        return subprocess.run(
            ["aria2c", "--no-conf", "-d", folder, "-M", lab.path("m.meta4")],
            check=False, stdout=subprocess.PIPE, text=True, cwd=lab.work)

    done = aria2(lab.path("a"))
    assert done.returncode == 0, done.stdout
    assert lab.path("a/f.bin").read_bytes() == data
    # It compares: with a wrong hash, of the whole or of a piece, it fails.
    text = lab.path("m.meta4").read_text()
    whole = re.sub(r"(?s)<pieces.*?</pieces>", "", text)
    for folder, wrong in [
            ("b", whole.replace(sha256(data), sha256(b"x"))),
            ("c", text.replace(sha256(data[PIECE:2 * PIECE]), sha256(b"x")))]:
        assert wrong not in (text, whole)
        lab.path("m.meta4").write_text(wrong)
        assert aria2(lab.path(folder)).returncode != 0


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1])
@pytest.mark.parametrize("how", ["file", "depots"])
def test_short_files(lab, size, how):
    data = lab.file("f.bin", size)
    given = urls(lab.depots(2))
    words = [original(lab, data)] if how == "file" else []
    make(lab, *words, *given, "-o", "m.meta4")
    file = shown(lab, "m.meta4")
    assert file["size"] == size
    assert file["hashes"] == {"sha-256": sha256(data)}
    assert (file["pieces"] is None) == (size <= PIECE)


def test_the_length_of_pieces_can_be_chosen(lab):
    data = lab.file("f.bin", SIZE)
    given = urls(lab.depots(2))
    for words in [original(lab, data)], []:
        make(lab, *words, *given, "--piece-size", "64k", "--force", "-o",
             "m.xnd")
        assert_of(shown(lab, "m.xnd"), data, given, piece=64 << 10)
        assert pieces_in(lab, "m.xnd")[-1] == sha256(data[-5:])


def test_it_goes_to_standard_output(lab):
    data = lab.file("f.bin", SIZE)
    run = make(lab, *urls(lab.depots(2)), "-o", "-", "--format", "metalink")
    lab.path("m.meta4").write_bytes(run.out)
    assert sha256(data) in shown(lab, "m.meta4")["hashes"].values()
    assert run.err == ""


# ---- copies that are not good ----

def with_bad(lab, data, bad):
    """Two good depots and that one."""
    kinds = {
        "dead": lab.dead, "silent": lab.silent,
        "missing": lambda: lab.depot(status=404),
        "short": lambda: lab.depot(files={"f.bin": data[:-1]}),
        "long": lambda: lab.depot(files={"f.bin": data + b"x"}),
        "other": lambda: lab.depot(files={"f.bin": bytes_of(len(data), 9)}),
    }
    return [*lab.depots(2), kinds[bad]()]


@pytest.mark.parametrize("bad, verdict", [
    ("dead", "dead"), ("silent", "dead"), ("missing", "dead"),
    ("short", "stale"), ("long", "stale"), ("other", "lying")])
@pytest.mark.parametrize("how", ["file", "depots"])
def test_a_copy_that_is_not_good_is_left_out_and_named(lab, how, bad, verdict):
    data = lab.file("f.bin", SIZE)
    given = urls(with_bad(lab, data, bad))
    words = [original(lab, data)] if how == "file" else []
    run = make(lab, *words, *given, "-o", "m.xnd")
    assert_of(shown(lab, "m.xnd"), data, given[:2])
    warning, = [ln for ln in run.err.splitlines() if "warning" in ln]
    assert f"left out, as it is {verdict}: {given[2]}" in warning
    assert warning.count(given[2]) == 1


def test_of_three_the_one_that_differs_in_a_byte_is_left_out(lab):
    data = lab.file("f.bin", SIZE)
    other = bytearray(data)
    other[2 * MIB + 3] ^= 1
    depots = [lab.depot(files={"f.bin": bytes(other)}), *lab.depots(2)]
    run = make(lab, *urls(depots), "-o", "m.xnd")
    assert_of(shown(lab, "m.xnd"), data, urls(depots[1:]))
    assert f"lying: {depots[0].url('f.bin')}" in run.err


@pytest.mark.parametrize("other", ["byte", "size"])
def test_two_that_differ_are_status_4(lab, other):
    data = lab.file("f.bin", SIZE)
    bad = data[:-1] if other == "size" else data[:-1] + bytes([data[-1] ^ 1])
    depots = [lab.depot(), lab.depot(files={"f.bin": bad})]
    run = make(lab, *urls(depots), "-o", "m.xnd", rc=4)
    assert "differ" in run.err and "no majority" in run.err
    assert all(d.host in run.err for d in depots)
    assert not lab.path("m.xnd").exists()


def test_no_copy_is_that_of_the_file(lab):
    data = lab.file("f.bin", SIZE)
    name = original(lab, bytes_of(SIZE, 3))
    run = make(lab, name, *urls(lab.depots(2)), "-o", "m.xnd", rc=4)
    assert "wrong" in run.err and not lab.path("m.xnd").exists()
    assert data


def test_no_copy_can_be_read(lab):
    for depot in lab.dead(), lab.depot(status=404):
        run = make(lab, depot.url("f.bin"), "-o", "m.xnd", rc=1)
        assert run.err.count(depot.url("f.bin")) == 1
        assert not lab.path("m.xnd").exists()


def test_a_single_copy_is_warned_of(lab):
    data = lab.file("f.bin", SIZE)
    run = make(lab, *urls(lab.depots(1)), "-o", "m.xnd")
    assert "compared with nothing" in run.err
    assert shown(lab, "m.xnd")["hashes"] == {"sha-256": sha256(data)}


def test_a_depot_without_ranges_is_read_as_well(lab):
    data = lab.file("f.bin", SIZE)
    given = urls([lab.depot(), lab.depot(ranges=False)])
    make(lab, *given, "-o", "m.xnd")
    assert_of(shown(lab, "m.xnd"), data, given)


def test_each_copy_is_read_once(lab):
    lab.file("f.bin", SIZE)
    depots = [lab.depot(), lab.depot()]
    make(lab, *urls(depots), "-o", "m.xnd")
    for d in depots:
        assert SIZE <= d.bytes_sent() < SIZE + 1000


@pytest.mark.slow
def test_a_copy_that_breaks_off_goes_on_where_it_was(lab):
    data = lab.file("f.bin", SIZE)
    with FaultDepot(data, "closes_mid_body") as odd:
        given = [odd.url("f.bin"), lab.depot().url("f.bin")]
        make(lab, "--retry", "30", *given, "-o", "m.xnd")
        assert_of(shown(lab, "m.xnd"), data, given)
        assert odd.bytes_sent() < SIZE + 100_000


def test_the_limit_of_the_rate_holds(lab):
    lab.file("f.bin", 2 * MIB)
    run = make(lab, "--limit-rate", "2m", *urls(lab.depots(2)), "-o", "m.xnd")
    assert 1.4 < run.seconds < 8


# ---- the file, and what is written ----

def test_offline_asks_nothing(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    run = make(lab, "--offline", original(lab, data), depot.url("f.bin"),
               lab.dead().url("f.bin"), "-o", "m.xnd")
    assert "no depot was asked" in run.err
    assert depot.requests() == []
    assert len(urls_in(shown(lab, "m.xnd"))) == 2


def test_a_file_that_changes_while_it_is_read_is_refused(lab):
    path = lab.path("big")
    with open(path, "wb") as f:
        f.truncate(768 << 20)
    lab.before = ["nice", "-n", "19", *lab.before]
    process = lab.start("make", "--offline", "big", "http://a.example/big",
                        "-o", "m.xnd", report=False)
    wait_until(lambda: process.bytes_read() > 32 << 20, "it reads")
    with open(path, "ab") as f:
        f.write(b"x")
    run = process.wait()
    assert run.rc == 5 and "changed while it was read" in run.err, run
    assert not lab.path("m.xnd").exists()


def test_what_is_there_is_replaced_by_force_alone(lab):
    lab.file("f.bin", SIZE)
    given = urls(lab.depots(2))
    lab.write("m.xnd", "mine")
    before = sorted(os.listdir(lab.work))
    run = make(lab, *given, "-o", "m.xnd", rc=5)
    assert "m.xnd exists already: --force replaces it" in run.err
    assert lab.read("m.xnd") == b"mine"
    make(lab, *given, "--force", "-o", "m.xnd")
    assert urls_in(shown(lab, "m.xnd")) == given
    assert sorted(os.listdir(lab.work)) == before
    assert lab.path("m.xnd").stat().st_mode & 0o777 == 0o644


def test_what_cannot_be_written_is_noticed_before_all_else(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    lab.path("dir.xnd").mkdir()
    for path in "none/m.xnd", "dir.xnd", "/proc/nothing/m.xnd":
        make(lab, depot.url("f.bin"), "--force", "-o", path, rc=5)
    assert depot.requests() == []


def test_a_link_is_not_followed(lab):
    lab.file("f.bin", SIZE)
    lab.write("precious", "mine")
    os.symlink("precious", lab.path("m.xnd"))
    make(lab, *urls(lab.depots(2)), "-o", "m.xnd", rc=5)
    make(lab, *urls(lab.depots(2)), "--force", "-o", "m.xnd")
    assert lab.read("precious") == b"mine"
    assert not lab.path("m.xnd").is_symlink()


@pytest.mark.parametrize("how", ["file", "depots"])
def test_an_interruption_leaves_nothing(lab, how):
    data = lab.file("f.bin", SIZE)
    words = [original(lab, data)] if how == "file" else []
    before = sorted(os.listdir(lab.work))
    process = lab.start("make", *words, lab.depot(rate=20_000).url("f.bin"),
                        "-o", "m.xnd", report=False)
    wait_until(lambda: process.threads() >= 3, "it reads")
    time.sleep(0.3)
    process.send(signal.SIGINT)
    run = process.wait()
    assert run.rc == 130 and "interrupted" in run.err
    assert sorted(os.listdir(lab.work)) == before


@pytest.mark.parametrize("total", ["18446744073709551614",
                                   "9223372036854775807", "1", "0"])
def test_hostile_sizes_make_no_manifest(lab, total):
    def answer(_):
        return (f"HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n"
                f"Content-Range: bytes 0-1/{total}\r\n\r\nab").encode()

    run = lab.xdownload("make", "--max-time", "20s", lab.odd(answer).url("f"),
                        "-o", "m.xnd", report=False)
    assert run.rc in (1, 2, 4), run
    assert run.rss < 200 << 20
    assert not lab.path("m.xnd").exists()


# ---- mistakes ----

URL = "http://127.0.0.1:1/f"


@pytest.mark.parametrize("words, said", [
    ([], "make needs the URLs of the copies"),
    (["-o", "m.xnd"], "make needs the URLs of the copies"),
    (["mine", "-o", "m.xnd"], "make needs the URLs of the copies"),
    ([URL], "make needs --output: "),
    ([URL, "-o", "m.txt"], "m.txt: give a name that ends in .xnd or .meta4"),
    ([URL, "-o", "-"], "--format exnode or metalink"),
    ([URL, "-o", "m.xnd", "--format", "zip"], "--format takes metalink or"),
    (["mine", "mine", URL, "-o", "m.xnd"],
     "make takes one file, before the URLs"),
    ([URL, "mine", "-o", "m.xnd"], "make takes one file, before the URLs"),
    (["mine", URL, "-o", "mine", "--format", "exnode"],
     "mine is the file itself"),
    (["-", URL, "-o", "m.xnd"], "cannot be standard input"),
    (["--offline", URL, "-o", "m.xnd"], "--offline needs the file"),
    (["--piece-size", "1k", URL, "-o", "m.xnd"], "use 16k to 1g"),
    (["--piece-size", "2g", URL, "-o", "m.xnd"], "use 16k to 1g"),
    (["--piece-size", "many", URL, "-o", "m.xnd"], "invalid --piece-size 'many'"),
    (["--piecesize", "1m", URL, "-o", "m.xnd"], "did you mean --piece-size?"),
    (["--full", URL, "-o", "m.xnd"], "works only with check"),
    (["s3://bucket/key", URL, "-o", "m.xnd"], "only URLs with http"),
    (["mine", "s3://bucket/key", "-o", "m.xnd"], "only URLs with http"),
])
def test_a_mistake_is_named(lab, words, said):
    lab.write("mine", "mine")
    run = make(lab, *words, rc=2)
    assert said in run.err and "try 'xdownload make --help'" in run.err, run
    assert sorted(os.listdir(lab.work)) == ["mine"]


@pytest.mark.parametrize("url, said", [
    ("http://me:secret@127.0.0.1:1/f", "user name or password"),
    ("http://127.0.0.1:1/f?X-Amz-Signature=secret", "the URL is signed")])
def test_secrets_do_not_go_into_a_manifest(lab, url, said):
    lab.write("mine", "mine")
    run = make(lab, "--offline", "mine", url, "-o", "m.xnd", rc=2)
    assert said in run.err and "secret," not in run.err.replace(
        "a secret and", ""), run
    assert ":secret" not in run.err and "=secret" not in run.err


def test_a_file_that_is_not_there_is_named(lab):
    run = make(lab, "none", URL, "-o", "m.xnd", rc=5)
    assert "none" in run.err


def test_a_file_that_is_replaced_leaves_its_mode(lab):
    """It may be one that nobody else is to read."""
    depot = lab.depot()
    lab.file("f.bin", SIZE)
    commands = {"m.xnd": ["make", depot.url("f.bin"), "-o", "m.xnd"],
                "f.bin": [depot.url("f.bin")]}
    for name, words in commands.items():
        lab.path(name).touch()
        lab.path(name).chmod(0o600)
        run = lab.xdownload(*words, "--force", report=False)
        assert run.rc == 0, run.err
        assert lab.path(name).stat().st_size > 0
        assert lab.path(name).stat().st_mode & 0o777 == 0o600, name
