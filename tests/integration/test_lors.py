# SPDX-License-Identifier: MIT
"""The exNodes that the original tools have written: they are fetched from
depots that hold what they describe, and written again without a loss."""
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab import bytes_of
from test_ibp import IbpDepot, elements, metadata

SAMPLES = Path(os.environ["XD_SOURCE"]) / "tests" / "data" / "lors"
WHOLE = ["tiny.xnd", "foo123.xnd", "foo_3copies_4frag_with_empty_parent.xnd",
         "ro.xnd"]
REPLICATED = ["foo123.xnd", "ro.xnd"]
URI = "{http://loci.cs.utk.edu/exnode}"
ELSEWHERE = "urn:example:notes"


def text_of(name):
    return (SAMPLES / name).read_text()


def mappings_of(text):
    for m in ElementTree.fromstring(text).iter(URI + "mapping"):
        number = {e.get("name"): int(e.text) for e in m
                  if e.get("type") == "integer"}
        yield number, {right: m.findtext(URI + right)
                       for right in ("read", "write", "manage")}


class World:
    """The depots of a sample, which hold what it says."""

    def __init__(self, text):
        self.text, self.depots = text, {}
        found = list(mappings_of(text))
        self.data = bytes_of(max(n["exnode_offset"] + n["logical_length"]
                                 for n, _ in found))
        for number, capabilities in found:
            self.hold(number, capabilities)

    def hold(self, number, capabilities):
        where, key, _, _ = self.split(capabilities["read"])
        keys = [self.split(c)[2] if c else "none"
                for c in capabilities.values()]
        if where not in self.depots:
            self.depots[where] = IbpDepot()
            self.text = self.text.replace(f"//{where}/",
                                          f"//{self.depots[where].host}/")
        stored = bytearray(number["alloc_length"])
        at, begin = number["alloc_offset"], number["exnode_offset"]
        n = number["logical_length"]
        stored[at:at + n] = self.data[begin:begin + n]
        self.depots[where].hold(bytes(stored), key=key, keys=keys)

    @staticmethod
    def split(capability):
        return capability.removeprefix("ibp://").split("/")

    def close(self):
        for depot in self.depots.values():
            depot.close()


@pytest.fixture(name="open_world")
def make_open_world():
    opened = []

    def make(name):
        opened.append(World(text_of(name)))
        return opened[-1]
    yield make
    for world in opened:
        world.close()


@pytest.mark.parametrize("name", WHOLE)
def test_a_genuine_exnode_is_fetched(lab, open_world, name):
    world = open_world(name)
    run = lab.xdownload(lab.write("s.xnd", world.text), "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == world.data
    for depot in world.depots.values():
        for e in depot.log:
            assert int(e.words[6]) > 0


@pytest.mark.parametrize("name", WHOLE)
def test_its_depots_are_asked_how_long_it_lives(lab, open_world, name):
    world = open_world(name)
    run = lab.xdownload("show", "--probe", lab.write("s.xnd", world.text),
                        report=False)
    assert run.rc == 0, run.err
    n = len(list(mappings_of(world.text)))
    assert len(re.findall(r"(?m)  expires in \d.* bytes written",
                          run.out.decode())) == n
    by_reading = run.out.decode().count("(asked by its read capability)")
    assert by_reading == (n if name == "ro.xnd" else 0)


@pytest.mark.parametrize("name", REPLICATED)
def test_one_depot_of_three_is_enough(lab, open_world, name):
    world = open_world(name)
    assert len(world.depots) >= 3
    for depot in list(world.depots.values())[1:]:
        depot.close()
    run = lab.xdownload(lab.write("s.xnd", world.text), "-o", "out")
    assert run.rc == 0, run.err
    assert lab.read("out") == world.data


@pytest.mark.parametrize("name,words", [
    ("foo_e2e.xnd", "xor_encrypt over checksum, which cannot be undone"),
    ("hole.xnd", "no replica holds bytes")])
def test_what_cannot_be_fetched_is_refused_and_why(lab, name, words):
    run = lab.xdownload(lab.write("s.xnd", text_of(name)))
    assert run.rc == 3 and words in run.err
    assert not list(lab.work.glob("foo*"))


# ---- written again ----

def write_again(lab, text):
    run = lab.xdownload("show", "--format", "exnode", "-o", "again.xnd",
                        lab.write("s.xnd", text), report=False)
    assert run.rc == 0, run.err
    again = lab.read("again.xnd").decode()
    lab.path("again.xnd").unlink()
    return again


def mapping(url, size, more=""):
    return ("<exnode:mapping>\n" + metadata("exnode_offset", "integer", 0)
            + metadata("logical_length", "integer", size)
            + metadata("alloc_offset", "integer", 0)
            + metadata("e2e_blocksize", "integer", 0)
            + more + f"<exnode:read>{url}</exnode:read>"
            "<exnode:write></exnode:write><exnode:manage></exnode:manage>"
            "</exnode:mapping>\n")


def exnode(*parts):
    return ('<?xml version="1.0"?>\n<exnode '
            'xmlns:exnode="http://loci.cs.utk.edu/exnode" '
            f'xmlns:note="{ELSEWHERE}">\n' + "".join(parts) + "</exnode>\n")


HEAD = (metadata("Version", "string", "3.0")
        + metadata("filename", "string", "f.bin"))
GOOD = mapping("http://a.example/f.bin", 1000)
NESTED = ('<exnode:metadata name="Tool" type="meta">'
          + metadata("Name", "string", "Java &lt;tool&gt;")
          + metadata("Version", "string", "0.7")
          + '<exnode:metadata name="Deep" type="meta">'
          + metadata("Deeper", "double", "1.5")
          + "</exnode:metadata></exnode:metadata>\n")

# What one may find in an exNode, and has to find again.
KEPT = {
    "nested_metadata": [HEAD, NESTED, GOOD],
    "nested_metadata_of_a_mapping": [
        HEAD, mapping("http://a.example/f", 9, NESTED)],
    "nested_arguments": [HEAD, GOOD, mapping(
        "ibp://d.example:6714/k/1/READ", 1000,
        '<exnode:function name="aes_encrypt">'
        + metadata("by", "string", "nobody")
        + '<exnode:argument name="KEYS" type="meta">'
        '<exnode:argument name="KEY" type="string">A[&amp;[q&#13;</exnode:'
        'argument></exnode:argument><exnode:function name="zlib_compress">'
        "</exnode:function></exnode:function>")],
    "a_mapping_that_cannot_be_undone": [HEAD, GOOD, mapping(
        "ibp://d.example:6714/k/1/READ", 1000,
        '<exnode:function name="rot13"></exnode:function>')],
    "a_mapping_without_bytes": [HEAD, GOOD, mapping(
        "ibp://d.example:6714/k/1/READ", 0)],
    "a_mapping_without_a_url": [HEAD, GOOD, mapping("", 1000)],
    "a_mapping_of_an_unknown_scheme": [HEAD, GOOD,
                                       mapping("gopher://a/f", 1000)],
    "a_mapping_with_two_urls": [HEAD, mapping(
        "http://a.example/f.bin", 1000,
        "<exnode:read>http://b.example/f.bin</exnode:read>")],
    "two_mappings_of_one_object": [
        HEAD, GOOD, mapping("http://a.example/f.bin", 1000,
                            metadata("note", "string", "twin"))],
    "another_version": [metadata("Version", "string", "2.0"),
                        metadata("filename", "string", "f.bin"), GOOD],
    "no_version_and_no_name": [GOOD],
    "a_name_that_is_not_safe": [metadata("filename", "string", "../../f"),
                                GOOD],
    "another_size": [HEAD, metadata("size", "integer", 5), GOOD],
    "empty_metadata": [HEAD, metadata("parent", "string", ""),
                       mapping("http://a.example/f.bin", 9,
                               metadata("note", "string", ""))],
    "a_long_key": [HEAD, metadata("k" * 100, "a type of its own" * 9, "v"),
                   GOOD],
    "attributes_of_ones_own": [
        HEAD, f'<exnode:metadata name="k" type="string" note:by="a&quot;&#10;"'
        ' xml:lang="de" more="&lt;">v</exnode:metadata>', GOOD],
    "elements_of_others": [
        HEAD, '<note:note><b xmlns="urn:b" c="d">text</b><plain/></note:note>',
        "<exnode:unknown><exnode:write></exnode:write></exnode:unknown>",
        mapping("http://a.example/f", 9, "<note:x>1</note:x>")],
    "the_length_of_the_allocation": [HEAD, mapping(
        "ibp://d.example:6714/k/1/READ", 1000,
        metadata("alloc_length", "integer", 5000)), GOOD],
    "ours": [HEAD, metadata("size", "integer", 1000),
             metadata("max_connections", "integer", 4),
             mapping("http://a.example/f.bin", 1000,
                     metadata("alloc_length", "integer", 1000)
                     + metadata("priority", "integer", 3)
                     + metadata("location", "string", "ch"))],
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_genuine_exnode_that_is_written_again_is_the_same(lab, name):
    text = text_of(name)
    again = write_again(lab, text)
    assert elements(again) == elements(text)
    assert elements(write_again(lab, again)) == elements(text)


@pytest.mark.parametrize("name", ["foo_e2e.xnd", "hole.xnd"])
def test_mappings_beside_others_are_written_again(lab, name):
    """Another replica makes them files that can be had."""
    text = text_of(name)
    end = max(n["exnode_offset"] + n["logical_length"]
              for n, _ in mappings_of(text))
    text = text.replace("</exnode>", mapping("http://a.example/f", end)
                        + "</exnode>")
    assert elements(write_again(lab, text)) == elements(text)


@pytest.mark.parametrize("parts", KEPT.values(), ids=KEPT)
def test_nothing_is_lost_that_an_exnode_had(lab, parts):
    text = exnode(*parts)
    again = write_again(lab, text)
    assert elements(again) == elements(text)
    assert write_again(lab, again) == again


def test_a_relative_url_is_written_as_what_it_stands_for(lab):
    text = exnode(HEAD, mapping("pub/f.bin", 9,
                                metadata("note", "string", "x")))
    assert f"<exnode:read>file://{lab.work}/pub/f.bin</exnode:read>" in \
        write_again(lab, text)


SECRET = "ibp://d.example:6714/k/2/"


@pytest.mark.parametrize("where", ["used", "lost", "elsewhere"])
def test_no_secret_is_printed_wherever_it_stands(lab, where):
    secrets = (f"<exnode:write>{SECRET}WRITE</exnode:write>"
               f"<exnode:manage><a>{SECRET}</a>MANAGE</exnode:manage>")
    part = {"used": mapping("http://a.example/g.bin", 1000, secrets),
            "lost": mapping("gopher://a/f", 1000, secrets),
            "elsewhere": f"<exnode:more>{secrets}</exnode:more>"}[where]
    path = lab.write("s.xnd", exnode(HEAD, GOOD, part))
    run = lab.xdownload("show", "--format", "exnode", path, report=False)
    assert run.rc == 0 and "left out" in run.err
    assert SECRET not in run.out.decode() + run.err
    bare = exnode(HEAD, GOOD, part.replace(secrets,
        "<exnode:write></exnode:write><exnode:manage></exnode:manage>"))
    assert elements(run.out.decode()) == elements(bare)
    again = write_again(lab, exnode(HEAD, GOOD, part))
    assert elements(again) == elements(exnode(HEAD, GOOD, part))


def test_a_mapping_that_is_absurdly_long_is_refused(lab):
    text = exnode(HEAD, mapping("http://a.example/f", 9, metadata(
        "note", "string", "x" * 10_000) * 30))
    run = lab.xdownload("show", lab.write("s.xnd", text), report=False)
    assert run.rc == 3 and "it is longer than any mapping" in run.err


def test_a_checksum_that_is_given_is_written_with_the_rest(lab):
    text = text_of("tiny.xnd")
    run = lab.xdownload("show", "--format", "exnode", "--checksum",
                        "sha-256=" + "ab" * 32,
                        lab.write("s.xnd", text), report=False)
    assert run.rc == 0, run.err
    assert metadata("sha256", "string", "ab" * 32) in run.out.decode()
