# SPDX-License-Identifier: MIT
"""Web pages that come in place of a file."""
import hashlib
import os

import pytest

SIZE = 300_001
PAGE = b"\n<!-- a -->\n<!DOCTYPE html>\n<html><body>Please log in</body></html>\n"
HTML = "types { } default_type 'text/html; charset=utf-8';"
SAID = "sent a web page (text/html) instead of the file"


def page(lab, name="f.iso", **options):
    """A depot that sends a page for any name."""
    return lab.depot(files={name: PAGE}, config=HTML, **options)


def metalink(lab, *urls, inner=""):
    return lab.write("m.meta4", '<metalink xmlns="urn:ietf:params:xml:ns:'
                     f'metalink"><file name="f.iso">{inner}' +
                     "".join(f"<url>{u}</url>" for u in urls) +
                     "</file></metalink>")


RANGES = pytest.mark.parametrize("ranges", [True, False],
                                 ids=["ranges", "no ranges"])


@RANGES
@pytest.mark.parametrize("name", ["fedora.meta4", "d.ISO", "x.tar.gz", "a.mkv",
                                  "m.safetensors", "t.csv", "t.json"])
def test_a_page_is_not_taken_for_the_file_that_a_url_names(lab, name, ranges):
    depot = page(lab, name, ranges=ranges)
    run = lab.xdownload(depot.url(name))
    assert run.rc == 1 and f"{depot.url(name)}: {SAID}" in run.err
    assert os.listdir(lab.work) == []
    run = lab.xdownload("--accept-html", depot.url(name))
    assert run.rc == 0 and lab.read(name) == PAGE


@RANGES
@pytest.mark.parametrize("how", ["typed", "metalink"])
def test_page_is_not_saved_under_the_name_of_a_model(lab, how, ranges):
    """The URL has no extension, but the file is to have one."""
    depot = page(lab, "get", ranges=ranges)
    args = ["-o", "m.gguf", depot.url("get")] if how == "typed" else [
        metalink(lab, depot.url("get"))]
    run = lab.xdownload(*args)
    assert run.rc == 1 and f"{depot.url('get')}: {SAID}" in run.err
    assert not set(os.listdir(lab.work)) & {"m.gguf", "f.iso"}
    run = lab.xdownload("--accept-html", *args)
    assert run.rc == 0, run.err


def test_what_is_a_page_or_no_page_is_fetched(lab):
    """A URL that names a page; the type without the looks, and the looks
    without the type."""
    for name, content, config in [("index.html", PAGE, HTML),
                                  ("notes", PAGE, HTML),
                                  ("f.iso", bytes(5000), HTML),
                                  ("g.iso", PAGE, "")]:
        depot = lab.depot(files={name: content}, config=config)
        run = lab.xdownload(depot.url(name))
        assert run.rc == 0, run.err
        assert lab.read(name) == content


@RANGES
@pytest.mark.parametrize("how", ["typed", "metalink", "line"])
def test_the_others_go_on_without_a_depot_that_sends_a_page(lab, how, ranges):
    data = lab.file("f.iso", SIZE)
    bad, good = page(lab, ranges=ranges), lab.depot()
    urls = [bad.url("f.iso"), good.url("f.iso")]
    run = lab.xdownload(*{
        "typed": lambda: urls,
        "metalink": lambda: [metalink(lab, *urls)],
        "line": lambda: ["-i", lab.write("l.txt", "\t".join(urls))]}[how]())
    assert run.rc == 0, run.err
    assert lab.read("f.iso") == data
    assert (SAID in run.err) or (how == "metalink" and not ranges)


@RANGES
def test_a_page_is_all_that_a_manifest_leads_to(lab, ranges):
    """It says no size, so that the page has any."""
    depot = page(lab, ranges=ranges)
    manifest = metalink(lab, depot.url("f.iso"))
    run = lab.xdownload(manifest)
    assert run.rc == 1 and f"{depot.url('f.iso')}: {SAID}" in run.err
    assert len(depot.requests()) <= 2  # not asked again
    assert os.listdir(lab.work) == ["m.meta4"]
    run = lab.xdownload("--accept-html", manifest)
    assert run.rc == 0 and lab.read("f.iso") == PAGE


@pytest.mark.parametrize("how", ["typed", "metalink", "line"])
def test_a_checksum_decides_and_not_the_looks(lab, how):
    depot = page(lab)
    for data, rc in (PAGE, 0), (b"another", 4):
        digest = hashlib.sha256(data).hexdigest()
        url = depot.url("f.iso")
        run = lab.xdownload("--no-continue", *{
            "typed": lambda: ["--checksum", f"sha-256={digest}", url],
            "metalink": lambda: [metalink(
                lab, url, inner=f'<hash type="sha-256">{digest}</hash>')],
            "line": lambda: ["-i", lab.write(
                "l.txt", f"{url}\n checksum=sha-256={digest}\n")]}[how]())
        assert run.rc == rc, run.err
        if rc == 0:
            assert lab.read("f.iso") == PAGE
            lab.path("f.iso").unlink()


def test_a_page_as_a_manifest_is_called_so(lab):
    lab.path("fedora.meta4").write_bytes(PAGE)
    run = lab.xdownload("fedora.meta4", report=False)
    assert run.rc == 3
    assert "fedora.meta4: this is an HTML page, not a manifest" in \
        run.err
    run = lab.xdownload("-M", page(lab, "m.meta4").url("m.meta4"))
    assert run.rc == 3 and "this is an HTML page, not a manifest" in run.err


def test_a_manifest_that_is_called_html_is_a_manifest(lab):
    data = lab.file("f.iso", SIZE)
    text = open(lab.metalink("f.iso", [lab.depot()]), "rb").read()
    depot = lab.depot(files={"m.meta4": text}, config=HTML)
    run = lab.xdownload(depot.url("m.meta4"))
    assert run.rc == 0, run.err
    assert lab.read("f.iso") == data
