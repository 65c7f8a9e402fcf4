# SPDX-License-Identifier: MIT
"""Manifests in and out: what they allow is obeyed, and what is written of them
is understood, by this program and by another."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

SIZE = 600_011
SAMPLES = Path(os.environ["XD_SOURCE"]) / "tests" / "data" / "manifest"
XDOWNLOAD = os.environ["XDOWNLOAD"]


def show_with_warnings(*args, cwd=None):
    return subprocess.run([XDOWNLOAD, "show", *map(str, args)], cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def show(*args, cwd=None):
    return show_with_warnings("-q", *args, cwd=cwd)


def convert(path, form, out):
    done = show("--format", form, "-o", out, path)
    assert done.returncode == 0, done.stderr
    return out


def shown(path):
    done = show("--json", path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["files"]


# ---- parity ----

HEX = "0123456789abcdef" * 4


def value(name, text):
    return f'<e:metadata name="{name}" type="string">{text}</e:metadata>'


def meta(name, *content):
    return f'<e:metadata name="{name}" type="meta">{"".join(content)}' \
        "</e:metadata>"


def replica(i, *content):
    return meta(f"replica.{i}", *content)


def stripe(i, k, n, shards, size=100, matrix="cauchy"):
    """Parity of `size` bytes, behind those of the stripes before it; of each
    shard what is to be in it."""
    return meta(
        f"stripe.{i}", value("code", "reed-solomon"),
        value("polynomial", "0x11d"), value("matrix", matrix), value("k", k),
        value("n", n), value("shard_length", -(-size // k)),
        value("exnode_offset", i * 100), value("logical_length", size),
        *(meta(f"shard.{s}", value("sha256", HEX), *content)
          for s, content in shards.items()))


def exnode_with(path, size, *stripes):
    path.write_text(
        '<exnode xmlns:e="http://loci.cs.utk.edu/exnode">'
        + value("filename", "f") + meta("parity", *stripes) + "<e:mapping>"
        + value("exnode_offset", 0) + value("logical_length", size)
        + "<e:read>http://a.example/f</e:read></e:mapping></exnode>")
    return path


READ, WRITE, MANAGE = (f"ibp://depot.example:6714/k/{i}/{name}" for i, name in
                       enumerate(["READ", "WRITE", "MANAGE"]))
SECRETS = replica(0, value("read", READ), value("write", WRITE),
                  value("manage", MANAGE), value("end", "2031-03-02 10:00:00"))


def at(host, offset=0):
    return replica(0, value("read", f"http://user:pw@{host}/p"),
                   *([value("alloc_offset", offset)] if offset else []))


@pytest.fixture(name="with_parity")
def make_with_parity(tmp_path):
    return exnode_with(tmp_path / "p.xnd", 300,
                       stripe(0, 4, 6, {4: [at("b.example")],
                                        5: [SECRETS]}),
                       stripe(1, 4, 6, {4: [at("b.example", 25)],
                                        5: [SECRETS]}),
                       stripe(2, 4, 6, {4: [at("c.example:8080")], 5: []}))


def test_show_says_how_many_losses_the_stripes_bear_and_where_parity_lies(
        with_parity):
    done = show(with_parity)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-3:] == [
        "  stripes    2: any 4 of 6 shards of 25 B, 2 may be lost",
        "             1: any 4 of 6 shards of 25 B, 1 may be lost",
        "  parity     on b.example, depot.example:6714, c.example:8080"]


def test_show_says_it_of_each_shard(with_parity):
    done = show_with_warnings("-v", with_parity)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    first = lines.index("  stripe 0, bytes 0-99: any 4 of 6 shards of 25 B, "
                        "2 may be lost")
    assert lines[first + 1:first + 10] == [
        "       0 bytes 0-24", "       1 bytes 25-49", "       2 bytes 50-74",
        "       3 bytes 75-99", "       4 parity", "         r--  b.example",
        "       5 parity",
        "         rwm  depot.example:6714  2031-03-02 10:00:00",
        "  stripe 1, bytes 100-199: any 4 of 6 shards of 25 B, 2 may be lost"]
    assert "         r--  b.example  from byte 25" in lines
    assert "       5 parity, nowhere" in lines
    assert "pw" not in done.stdout


def test_show_lists_no_shard_of_parity_that_is_not_named(tmp_path):
    path = exnode_with(tmp_path / "p.xnd", 100,
                       stripe(0, 2, 255, {7: [at("b.example")], 200: []}))
    [file] = shown(path)
    [of_json] = file["stripes"]
    assert [s["number"] for s in of_json["shards"]] == [0, 1, 7, 200]
    lines = show_with_warnings("-v", path).stdout.splitlines()
    first = lines.index("  stripe 0, bytes 0-99: any 2 of 255 shards of 50 B, "
                        "1 may be lost")
    assert lines[first + 1:first + 6] == [
        "       0 bytes 0-49", "       1 bytes 50-99", "       7 parity",
        "         r--  b.example", "     200 parity, nowhere"]


def test_show_says_in_json_what_is_known_of_stripes(with_parity):
    [file] = shown(with_parity)
    assert [(s["number"], s["offset"], s["length"], s["k"], s["n"],
             s["shard_length"], s["losses"]) for s in file["stripes"]] == [
        (0, 0, 100, 4, 6, 25, 2), (1, 100, 100, 4, 6, 25, 2),
        (2, 200, 100, 4, 6, 25, 1)]
    shards = file["stripes"][0]["shards"]
    assert [s["number"] for s in shards] == [0, 1, 2, 3, 4, 5]
    assert shards[1] == {"number": 1, "offset": 25, "length": 25,
                         "sha256": None, "replicas": []}
    assert (shards[5]["offset"], shards[5]["sha256"]) == (None, HEX)
    [place] = shards[5]["replicas"]
    assert (place["url"], place["rights"], place["expires"]) == (
        READ, "rwm", "2031-03-02 10:00:00")
    assert "pw" not in json.dumps(file)
    assert [f["stripes"] for f in shown(SAMPLES / "tiny.xnd")] == [[]]


@pytest.mark.parametrize("args", [[], ["-v"], ["--json"],
                                  ["--format", "exnode"]])
def test_secrets_of_parity_are_not_shown(with_parity, args):
    done = show_with_warnings(*args, with_parity)
    assert done.returncode == 0, done.stderr
    for secret in WRITE, MANAGE:
        assert secret not in done.stdout + done.stderr


def test_secrets_of_parity_are_written_for_their_owner(with_parity, tmp_path):
    written = convert(with_parity, "exnode", tmp_path / "again.xnd")
    assert written.stat().st_mode & 0o077 == 0
    assert written.read_text().count(WRITE) == 2
    assert shown(written) == shown(with_parity)


def test_a_metalink_without_parity_is_written_with_a_warning(with_parity):
    done = show_with_warnings("--format", "metalink", with_parity)
    assert done.returncode == 0 and "http://a.example/f" in done.stdout
    assert "warning: the parity of 3 stripes is left out, for which a " \
        "Metalink has no words" in done.stderr
    assert show("--format", "metalink", with_parity).stderr == ""


def test_a_stripe_that_is_not_used_is_named(tmp_path):
    path = exnode_with(tmp_path / "p.xnd", 200,
                       stripe(0, 2, 3, {2: [at("b.example")]}),
                       stripe(1, 2, 3, {2: [SECRETS]}, matrix="gf_gen_rs"))
    done = show_with_warnings(path)
    assert done.returncode == 0
    assert 'stripe 1: its matrix is "gf_gen_rs", which is not known; it is ' \
        "not used" in done.stderr
    assert "  stripes    1: any 2 of 3 shards of 50 B, 1 may be lost\n" \
        in done.stdout
    assert MANAGE not in done.stdout + done.stderr


def test_parity_may_lie_on_this_machine(tmp_path):
    path = exnode_with(tmp_path / "p.xnd", 100,
                       stripe(0, 2, 3, {2: [replica(0, value("read", "p"))]}))
    assert "  parity     on this machine\n" in show(path).stdout
    assert "         r--  this machine\n" in \
        show_with_warnings("-v", path).stdout


def test_what_is_said_of_thousands_of_stripes_is_short(tmp_path):
    path = exnode_with(
        tmp_path / "p.xnd", 500_000,
        *(stripe(i, 2 + i % 7, 20, {19: [at(f"h{i % 40}.example")]})
          for i in range(5000)))
    lines = show(path).stdout.splitlines()
    assert len(lines) < 15
    assert lines[-2] == "             2142 others"
    assert lines[-1].startswith("  parity     on h0.example, h1.example, ")
    assert lines[-1].endswith(", h15.example and others")


# ---- connections ----

def test_a_file_that_allows_one_connection_comes_from_one_depot(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(3)
    manifest = lab.metalink3("f.bin", depots, limit=1)
    run = lab.xdownload(manifest, "-t", "4", "-b", "16k")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert [len(d.requests()) > 0 for d in depots] == [True, False, False]
    assert depots[0].connections() == 1
    assert "the manifest allows no more connections at a time than 1" \
        in run.err


def test_a_depot_is_not_asked_over_more_connections_than_it_allows(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(2, rate=1_000_000)
    manifest = lab.metalink3("f.bin", depots, limits={depots[0]: 1})
    run = lab.xdownload(manifest, "-t", "3", "-b", "16k", "-a", "basic")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert depots[0].connections() == 1
    assert depots[1].connections() > 1


def test_a_limit_that_is_not_felt_is_not_mentioned(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.metalink3("f.bin", lab.depots(2), limit=2))
    assert run.rc == 0, run.err
    assert "connections" not in run.err


# ---- written and read again ----

@pytest.mark.parametrize("form", ["metalink", "exnode"])
@pytest.mark.parametrize("source", ["metalink", "metalink3", "exnode"])
def test_a_file_comes_home_by_what_was_written(lab, source, form):
    data = lab.file("f&g.bin", SIZE)
    manifest = getattr(lab, source)("f&g.bin", lab.depots(2))
    written = convert(manifest, form, lab.path("written"))
    assert shown(written) == shown(manifest)
    run = lab.xdownload(written)
    assert run.rc == 0, run.err
    assert lab.read("f&g.bin") == data


def test_standard_output_gets_what_a_file_would(tmp_path):
    sample = SAMPLES / "film.meta4"
    written = convert(sample, "exnode", tmp_path / "film.xnd").read_text()
    assert show("--format", "exnode", sample).stdout == written
    assert show("--format=exnode", "-o", "-", sample).stdout == written


def test_one_file_of_several_is_written(tmp_path):
    done = show("--format", "exnode", "--file", "two.iso",
                SAMPLES / "several.meta4")
    assert done.returncode == 0, done.stderr
    (tmp_path / "two.xnd").write_text(done.stdout)
    assert [f["name"] for f in shown(tmp_path / "two.xnd")] == ["two.iso"]


def test_a_file_that_is_there_is_not_replaced(tmp_path):
    there = tmp_path / "there"
    there.write_text("mine")
    os.symlink(tmp_path / "nowhere", tmp_path / "link")
    for name in ["there", "link"]:
        done = show("--format", "exnode", "-o", tmp_path / name,
                    SAMPLES / "film.meta4")
        assert done.returncode == 5
        assert f"{name}: File exists" in done.stderr
    assert there.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("sample, form, words", [
    ("several.meta4", "exnode", "has 4 files, but an exNode holds one"),
    ("odd.meta4", "exnode", "its size is not known"),
    ("stripes.xnd", "metalink", "only copies of the whole file"),
])
def test_what_a_format_cannot_say_is_an_error_and_leaves_no_file(
        tmp_path, sample, form, words):
    out = tmp_path / "out"
    done = show("--format", form, "-o", out, SAMPLES / sample)
    assert done.returncode == 2 and done.stdout == ""
    assert words in done.stderr and done.stderr.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("args, words", [
    (["--format", "metalink3"], "--format takes metalink or exnode, not"),
    (["--format", "exnode", "--json"], "use either --format or --json"),
    (["-o", "out"], "--output needs --format"),
    (["--file", "no.such"], "describes no file no.such, but film.mkv"),
])
def test_a_wrong_way_to_ask_is_said(tmp_path, args, words):
    done = show(*args, SAMPLES / "film.meta4", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


# ---- as aria2 sees it ----

@pytest.fixture
def aria2():
    if not shutil.which("aria2c"):
        pytest.skip("aria2c is not installed")

    def run(*args):
        return subprocess.run(["aria2c", "--no-conf", *map(str, args)],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    return run


def listed(done):
    """(name, size) of each file."""
    assert done.returncode == 0, done.stdout
    files = re.findall(r"(?m)^ *\d+\|(.*)\n +\|\S+ \(([\d,]+)\)", done.stdout)
    return [(name, int(size.replace(",", ""))) for name, size in files]


@pytest.mark.parametrize("sample", [
    "film.meta4", "film.metalink", "odd.meta4", "mirrors.metalink",
    "mirrors.urls", "grid.meta4"])
def test_aria2_lists_the_same_file_in_our_metalink(tmp_path, aria2, sample):
    written = convert(SAMPLES / sample, "metalink", tmp_path / "x.meta4")
    file, = shown(SAMPLES / sample)
    # An unknown size is 0 there.
    assert listed(aria2("-S", written)) == [(file["name"], file["size"] or 0)]


def test_aria2_lists_several_files_of_odd_names(tmp_path, aria2):
    # But "&": aria2 1.36 leaves that as "&#38;" in an attribute.
    names = ["a  b.iso", "<c> \"d\" 'e'.iso", "\u00fc \u6620\u753b.mkv"]
    files = "".join(f"<file name={quoteattr(name)}><size>{i + 1}</size>"
                    f"<url>http://a.example/{i}?x&amp;y</url></file>"
                    for i, name in enumerate(names))
    text = f'<metalink xmlns="urn:ietf:params:xml:ns:metalink">{files}</metalink>'
    (tmp_path / "m").write_text(text)
    written = convert(tmp_path / "m", "metalink", tmp_path / "x.meta4")
    assert listed(aria2("-S", written)) == [
        (name, i + 1) for i, name in enumerate(names)]


def test_aria2_fetches_and_verifies_by_our_metalink(lab, aria2):
    data = lab.file("f.bin", SIZE)
    manifest = lab.metalink3("f.bin", lab.depots(2), limit=2)
    written = convert(manifest, "metalink", lab.path("written.meta4"))
    done = aria2("-M", written, "-d", lab.work, "--check-integrity=true")
    assert done.returncode == 0, done.stdout
    assert "Verification finished successfully" in done.stdout
    assert lab.read("f.bin") == data
