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


def show(*args, cwd=None):
    return subprocess.run([XDOWNLOAD, "show", "-q", *map(str, args)], cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)


def convert(path, form, out):
    done = show("--format", form, "-o", out, path)
    assert done.returncode == 0, done.stderr
    return out


def shown(path):
    done = show("--json", path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["files"]


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
    (["--format", "exnode", "--json"], "--format and --json exclude"),
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
