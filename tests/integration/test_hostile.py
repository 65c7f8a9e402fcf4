# SPDX-License-Identifier: MIT
"""Manifests written by enemies, in the order of what they may contain.

Nothing is opened, asked or written that a person did not mean; what can be
used is used, and everything else costs a sentence.  Depots that misbehave are
the table of test_faults.py, credentials are in test_options.py, journals in
test_resume.py and tests/unit/io/test_journal.c.
"""
import hashlib
import json
import os
import re
import signal
import stat
from xml.sax.saxutils import quoteattr

import pytest

from lab import bytes_of, wait_until

SIZE = 50_000
DATA = bytes_of(SIZE)
SHA256 = hashlib.sha256(DATA).hexdigest()

METALINK = 'xmlns="urn:ietf:params:xml:ns:metalink"'
METALINK3 = 'version="3.0" xmlns="http://www.metalinker.org/"'
EXNODE = 'xmlns:e="http://loci.cs.utk.edu/exnode"'
GOOD = "http://good.example/f.bin"  # which nobody asks
MOST_MEMORY = (100 << 20) * (20 if os.environ.get("XD_SANITIZED") else 1)


@pytest.fixture(name="url")
def a_good_copy(lab):
    lab.file("f.bin", SIZE)
    return lab.depot().url("f.bin")


def metalink(inner, name="f.bin", before="", root=METALINK):
    return (f"{before}<metalink {root}><file name={quoteattr(name)}>{inner}"
            "</file></metalink>")


def exnode(*mappings, more=""):
    return f"<exnode {EXNODE}>{more}{''.join(mappings)}</exnode>"


def metadata(name, value, kind="integer"):
    return f"<e:metadata name='{name}' type='{kind}'>{value}</e:metadata>"


def mapping(offset, length, url, more=""):
    return (f"<e:mapping>{metadata('exnode_offset', offset)}"
            f"{metadata('logical_length', length)}{more}"
            f"<e:read>{url}</e:read></e:mapping>")


def show(lab, text):
    """What is understood of a manifest, None if nothing; and the run."""
    path = lab.write("hostile", "")
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    run = lab.xdownload("show", "--json", "hostile", report=False)
    assert run.rc in (0, 3), run
    assert run.rss < MOST_MEMORY
    return (json.loads(run.out)["files"] if run.rc == 0 else None), run


def refuse(lab, text, words=""):
    files, run = show(lab, text)
    assert files is None and words in run.err, run
    assert run.err.count("\n") == 1


def urls_of(lab, text):
    files, _ = show(lab, text)
    return [r["url"] for f in files for e in f["extents"]
            for r in e["replicas"]]


def fetch(lab, text, *args):
    run = lab.xdownload(*args, lab.write("hostile", text))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == DATA
    return run


# ---- names ----

NAMES = ["", " ", ".", "..", "/x", "//x", "x/", "./x", "../x", "x/../y",
         "x/./y", "x/..", "..\\x", "x\\y", "C:x", "C:/x", "a\nb", "a\x85b",
         "a\u202eb", "a\u200bb", "-rf", "--force", "~", "~root", ".bashrc",
         "x ", "x.", "x > y", "$(id)", "x|y", "x.part", "x.part.journal",
         "../../../../tmp/x", "..%2fx", "/etc/passwd", "n" * 300,
         "d/" * 2500 + "deep", "\u00e9" * 200]


@pytest.mark.parametrize("name", NAMES, ids=[repr(n[:20]) for n in NAMES])
def test_a_name_is_a_path_in_the_folder(lab, name):
    """An empty file is made without a depot."""
    folder = lab.work / "in"
    folder.mkdir()
    lab.write("hostile", metalink("<size>0</size><url>http://a/</url>", name))
    there = {lab.folder: os.listdir(lab.folder),
             lab.work: os.listdir(lab.work)}
    run = lab.xdownload("-d", "in", "hostile", report=False)
    assert there == {place: os.listdir(place) for place in there}
    if run.rc == 2:
        assert "give -o" in run.err and os.listdir(folder) == []
        return
    assert run.rc == 0, run.err
    (made,) = (p for p in folder.rglob("*") if not p.is_dir())
    assert made.is_file() and not made.is_symlink()
    for part in made.relative_to(folder).parts:
        assert len(os.fsencode(part)) <= 255
        assert part[0] not in "-~. " and part[-1] not in ". "
        assert not part.endswith((".part", ".part.journal"))
        assert part.isprintable()


# Unicode 15: Bidi_Control, Default_Ignorable_Code_Point, and the separators
# of lines.
UNSEEN = [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xfeff,
          0xffa0, *range(0x180b, 0x1810), *range(0x200b, 0x2010),
          *range(0x2028, 0x202f), *range(0x2060, 0x2070),
          *range(0xfe00, 0xfe10), *range(0xfff0, 0xfff9),
          *range(0x1bca0, 0x1bca4), *range(0x1d173, 0x1d17b),
          *range(0xe0000, 0xe1000)]


def test_what_cannot_be_seen_is_neither_in_names_nor_printed(lab):
    """Nor is it printed of what a person typed."""
    files = "".join(f'<file name="a{chr(c)}{i}"><url>{GOOD}</url></file>'
                    for i, c in enumerate(UNSEEN))
    found, run = show(lab, f"<metalink {METALINK}>{files}</metalink>")
    assert [f["name"] for f in found] \
        == [f"a_{i}" for i in range(len(UNSEEN))]
    for at in range(0, len(UNSEEN), 100):
        word = "no" + "".join(map(chr, UNSEEN[at:at + 100]))
        run = lab.xdownload("show", word[:70], report=False)
        assert run.rc == 5
        assert not {*map(ord, run.err)} & {*UNSEEN}
        run = lab.xdownload("show", f"x-y://{word}", report=False)
        assert run.rc == 2
        assert not {*map(ord, run.err)} & {*UNSEEN}


def test_a_zero_byte_in_a_name_is_broken_xml(lab):
    text = metalink(f"<url>{GOOD}</url>").replace('"f.bin"', '"a&#0;b"')
    refuse(lab, text, "the XML is broken")


@pytest.mark.parametrize("second", ["x", "../x", "./x", "/x"])
def test_two_files_of_one_path_are_refused(lab, second):
    refuse(lab, f"""<metalink {METALINK}>
        <file name="x"><size>1</size><url>{GOOD}</url></file>
        <file name="{second}"><size>2</size><url>{GOOD}</url></file>
        </metalink>""", 'two files have the path "x"')


def test_two_files_of_one_name_in_two_folders_are_two(lab):
    files, _ = show(lab, f"""<metalink {METALINK}>
        <file name="pa/x"><size>1</size><url>{GOOD}</url></file>
        <file name="pb/x"><size>2</size><url>{GOOD}</url></file>
        <file name="X"><size>3</size><url>{GOOD}</url></file></metalink>""")
    assert [(f["name"], f["path"], f["size"]) for f in files] == [
        ("x", "pa/x", 1), ("x", "pb/x", 2), ("X", "X", 3)]


def test_no_link_is_followed_on_the_way_to_a_file(lab, url):
    """A folder of the manifest's path that is a link, to a folder of another
    place or to nowhere; not the one that --directory names.  What lies behind
    it, a file of that name, is not even looked at, nor taken over by -c."""
    elsewhere = lab.folder / "elsewhere"
    elsewhere.mkdir()
    (lab.work / "in").symlink_to(elsewhere)
    inside = elsewhere / "real"
    inside.mkdir()
    (elsewhere / "link").symlink_to(inside)
    (inside / "gone").symlink_to(lab.folder / "nowhere")
    run = lab.xdownload("-d", "in", lab.write("hostile", f"""
        <metalink {METALINK}>
        <file name="real/f"><url>{url}</url></file>
        <file name="link/f"><url>{url}</url></file>
        <file name="real/gone/f"><url>{url}</url></file>
        <file name="new/deep/f"><url>{url}</url></file></metalink>"""))
    assert run.rc == 5
    assert "in/link: is a symbolic link" in run.err
    assert "exists already" not in run.err
    assert "in/real/gone: is a symbolic link" in run.err
    assert sorted(p.relative_to(elsewhere).as_posix()
                  for p in elsewhere.rglob("*") if p.is_file()) == ["new/deep/f", "real/f"]
    assert not (lab.folder / "nowhere").exists()
    (inside / "f").write_bytes(DATA[:1000])
    run = lab.xdownload("-c", "-d", "in", lab.write("hostile", metalink(
        f"<size>{SIZE}</size><url>{url}</url>", "link/f")))
    assert run.rc == 5 and "in/link: is a symbolic link" in run.err
    assert sorted(os.listdir(inside)) == ["f", "gone"]


def test_metaurls_and_signatures_name_no_file(lab, url):
    fetch(lab, metalink(f"""<url>{url}</url>
        <metaurl mediatype="torrent" name="../evil">{url}</metaurl>
        <signature mediatype="application/pgp-signature" file="../evil">x
        </signature>"""), "--no-continue")
    assert sorted(p.name for p in lab.work.iterdir() if p.suffix != ".json") \
        == ["f.bin", "hostile"]


@pytest.mark.parametrize("tail", ["", ".part", ".part.journal"])
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
def test_a_link_in_the_folder_is_not_written_through(lab, tail, force):
    lab.file("big.bin", 3 << 20)
    victim = lab.folder / "victim"
    victim.write_text("mine")
    (lab.work / f"big.bin{tail}").symlink_to(victim)
    run = lab.xdownload(lab.depot().url("big.bin"), *force)
    assert victim.read_text() == "mine"
    assert run.rc in ([0] if force and not tail else [0, 5]), run
    if run.rc == 0:
        assert not lab.path("big.bin").is_symlink()


@pytest.mark.parametrize("dangles", [False, True])
def test_the_report_is_not_written_through_a_link(lab, url, dangles):
    victim = lab.folder / "victim"
    if not dangles:
        victim.write_text("mine")
    (lab.work / "r.json").symlink_to(victim)
    run = lab.xdownload("--report", "r.json", url, report=False)
    assert run.rc == 5 and "r.json" in run.err and "link" in run.err
    assert not victim.exists() if dangles else victim.read_text() == "mine"
    assert not lab.path("f.bin").exists()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1",
                                  "/proc/self/fd/1"])
def test_the_report_may_go_to_an_open_descriptor(lab, url, name):
    run = lab.xdownload("-q", "--report", name, url, report=False)
    assert run.rc == 0 and json.loads(run.out)["outcome"] == "complete"


# ---- other users of the folder ----

BIG = 3 << 20


def part_of_somebody(lab, name, uid, mode):
    """A partial file such as an earlier run leaves, for an attacker to use."""
    lab.file("big.bin", BIG)
    depot = lab.depot(rate=1 << 20)
    process = lab.start(lab.metalink("big.bin", [depot]))
    wait_until(lambda: lab.path("big.bin.part.journal").exists()
               and lab.path("big.bin.part").stat().st_size > BIG // 4,
               "a part is there")
    process.send(signal.SIGINT)
    assert process.wait().rc == 130
    os.chown(lab.path(name), uid, -1)
    lab.path(name).chmod(mode)
    return lab.metalink("big.bin", [lab.depot()])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", ["big.bin.part", "big.bin.part.journal"])
def test_what_belongs_to_another_user_is_not_gone_on_with(lab, name):
    manifest = part_of_somebody(lab, name, 12345, 0o644)
    for args in [], ["--no-continue"]:
        run = lab.xdownload(*args, manifest)
        assert run.rc == 5 and "belongs to user 12345" in run.err
        assert not lab.path("big.bin").exists()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_to_is_not_gone_on_with(lab, mode):
    """They could have it open, and write to it after its hash was right."""
    manifest = part_of_somebody(lab, "big.bin.part", -1, mode)
    run = lab.xdownload(manifest)
    assert run.rc == 5 and f"mode {mode:04o}" in run.err
    lab.path("big.bin.part").chmod(mode & 0o755)
    assert lab.xdownload(manifest).rc == 0


def test_modes_are_those_of_a_new_file(lab):
    """None that an earlier .part had; and nobody opens it meanwhile."""
    manifest = part_of_somebody(lab, "big.bin.part", -1, 0o4755)
    old = os.umask(0)
    try:
        process = lab.start(lab.metalink("big.bin", [lab.depot(rate=1 << 20)]))
        part = lab.path("big.bin.part")
        wait_until(lambda: part.stat().st_mode & 0o7777 == 0o600, "it is ours")
        process.kill()
        process.wait()
        run = lab.xdownload(manifest)
    finally:
        os.umask(old)
    assert run.rc == 0, run.err
    assert stat.S_IMODE(lab.path("big.bin").stat().st_mode) == 0o666
    assert not [n for n in os.listdir(lab.work) if n.startswith(".")]


def test_a_copy_of_a_file_here_is_no_more_readable(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("--allow-file", lab.write(
        "m.urls", f"file://{lab.www}/f.bin"))
    assert run.rc == 0, run.err
    assert stat.S_IMODE(lab.path("f.bin").stat().st_mode) == 0o600


@pytest.mark.parametrize("cut", [
    0, pytest.param(1 << 20, marks=pytest.mark.slow)])
def test_a_part_that_was_cut_meanwhile_is_no_complete_file(lab, cut):
    lab.file("big.bin", BIG)
    process = lab.start(lab.metalink("big.bin", [lab.depot(rate=1 << 20)]))
    part = lab.path("big.bin.part")
    wait_until(lambda: part.exists() and part.stat().st_size > 3 * BIG // 4,
               "most is there")
    os.truncate(part, cut)
    run = process.wait()
    assert run.rc == 5 and "has cut it to" in run.err
    assert not lab.path("big.bin").exists()


@pytest.mark.parametrize("hashes", ["pieces", "sha256"])
@pytest.mark.parametrize("checks", [True, False], ids=["", "no-final-check"])
def test_what_was_scribbled_on_meanwhile_is_no_complete_file(lab, hashes,
                                                              checks):
    """Each byte was right when it came."""
    data = lab.file("big.bin", BIG)
    length = 1 << 18 if hashes == "pieces" else BIG
    digests = [hashlib.sha256(data[i:i + length]).hexdigest()
               for i in range(0, BIG, length)]
    proof = of_pieces(length, *digests) if hashes == "pieces" \
        else f'<hash type="sha-256">{digests[0]}</hash>'
    process = lab.start(
        lab.write("m.meta4", metalink(
            f"<size>{BIG}</size>{proof}<url>"
            f"{lab.depot(rate=1 << 20).url('big.bin')}</url>", "big.bin")),
        *([] if checks else ["--no-final-check"]))
    part = lab.path("big.bin.part")
    wait_until(lambda: part.exists() and part.stat().st_blocks > 4000,
               "most is there")
    with open(part, "r+b") as f:
        f.write(b"scribble")
    run = process.wait()
    if checks and hashes == "pieces":
        assert run.rc == 0 and "another program has changed it" in run.err
        assert run.report["bytes_discarded"]["changed"] == length
        assert lab.read("big.bin") == data
    elif checks:
        assert run.rc == 4 and not lab.path("big.bin").exists()
    else:
        assert run.rc == 0 and lab.read("big.bin") != data


# ---- URLs ----

SCHEMES = ["file:///etc/passwd", "data:,x", "javascript:alert(1)",
           "gopher://h/1", "dict://h/d:x", "scp://h/x", "sftp://h/x",
           "smb://h/s/x", "ldap://h/x", "telnet://h", "tftp://h/x",
           "imap://h", "rtsp://h/x", "ws://h/x", "jar:http://h/x!/y",
           "http+unix://%2fx", "root://h//x", "magnet:?xt=x"]


@pytest.mark.parametrize("other", SCHEMES, ids=lambda u: u.split(":")[0])
def test_another_scheme_is_never_asked(lab, other):
    """The file: URL of a manifest that came through a pipe."""
    lab.write("in", metalink(f"<url>{other}</url>"))
    with open(lab.path("in"), "rb") as f:
        run = lab.xdownload("show", "-", report=False, stdin=f)
    assert run.rc == 3 and "a source is not used" in run.err
    lab.write("in", metalink(f"<url>{other}</url><url>{GOOD}</url>"))
    with open(lab.path("in"), "rb") as f:
        run = lab.xdownload("show", "--json", "-", report=False, stdin=f)
    assert [r["url"] for r in
            json.loads(run.out)["files"][0]["extents"][0]["replicas"]] == [GOOD]


BAD_URLS = {
    "empty": "", "blanks": " \t ", "a_line_end": "\n",
    "line_ends_inside": "http://a/x\r\nHost: b",
    "escaped_line_ends": "http://a/x&#13;&#10;Host:&#32;b",
    "a_blank_inside": "http://a/x y", "a_backslash": "http://a\\@b/x",
    "two_ats": "http://a@b@c/x", "no_host": "http:///x",
    "port_0": "http://a:0/x", "port_70000": "http://a:70000/x",
    "a_short_address": "http://127.1/x", "a_hex_address": "http://0x7f000001/x",
    "no_zone": "http://[fe80::1%25]/x", "relative": "x/y",
    "too_long": "http://a/" + "x" * 65527,
}


@pytest.mark.parametrize("bad", BAD_URLS.values(), ids=BAD_URLS)
def test_what_is_no_url_costs_only_itself(lab, bad):
    with open(lab.write("in", metalink(
            f"<url>{bad}</url><url>{GOOD}</url>")), "rb") as f:
        run = lab.xdownload("show", "--json", "-", report=False, stdin=f)
    assert run.rc == 0, run.err
    assert run.out.count(b'"url"') == 1 and GOOD.encode() in run.out
    assert "a source is not used" in run.err and "\r" not in run.err


def test_blanks_around_a_url_are_no_part_of_it(lab):
    assert urls_of(lab, metalink(f"<url>\r\n\t {GOOD} \n</url>")) == [GOOD]


def test_an_ipv6_address_is_a_host(lab):
    assert urls_of(lab, metalink("<url>http://[2001:db8::1]:8080/x</url>")) \
        == ["http://[2001:db8::1]:8080/x"]


def test_ten_thousand_times_the_same_url_are_one_source(lab):
    assert urls_of(lab, metalink(f"<url>{GOOD}</url>" * 10_000)) == [GOOD]


def test_eight_urls_of_one_host_are_one_depot(lab, url):
    run = fetch(lab, metalink("".join(
        f"<url>{url}?{i}</url>" for i in range(8))), "-b", "4k")
    assert len(run.report["depots"]) == 1


def test_ten_thousand_hosts_hold_nobody_up(lab, url):
    run = fetch(lab, metalink(
        f'<size>{SIZE}</size><url priority="1">{url}</url>' + "".join(
            f"<url>http://h{i}.invalid/x</url>" for i in range(10_000))),
        "--max-depots", "1")
    assert run.rss < MOST_MEMORY


# ---- sizes ----

SIZES = {
    "empty": "", "letters": "abc", "negative": "-1", "a_plus": "+5",
    "hex": "0x10", "an_exponent": "1e9", "two_numbers": "12 13",
    "2_to_63": str(1 << 63), "2_to_64": str(1 << 64),
    "2_to_64_and_5": str((1 << 64) + 5),
    "two_that_differ": "5</size><size>6",
}


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_size_that_is_none_is_asked_of_the_depots(lab, url, size):
    run = fetch(lab, metalink(f"<size>{size}</size><url>{url}</url>"))
    assert "size" in run.err


def test_blanks_around_a_size_are_no_part_of_it(lab):
    files, _ = show(lab, metalink(f"<size> 12 \n</size><url>{GOOD}</url>"))
    assert files[0]["size"] == 12


@pytest.mark.parametrize("size", [1 << 45, (1 << 63) - 1])
def test_a_size_that_no_disk_has_room_for_takes_no_room(lab, size):
    run = lab.xdownload(lab.write("hostile", metalink(
        f"<size>{size}</size><url>{lab.dead().url('f.bin')}</url>")))
    assert run.rc == 5, run.err
    assert re.search(r"needs (32 TiB|7\.9 EiB), but only .* free", run.err)
    assert not any(p.stat().st_size for p in lab.work.glob("f.bin*"))


# ---- hashes ----

def of_pieces(length, *hashes, kind="sha-256"):
    return (f'<pieces length="{length}" type="{kind}">'
            + "".join(f"<hash>{h}</hash>" for h in hashes) + "</pieces>")


WHOLE = f"<size>{SIZE}</size>"
HASHES = {
    "empty": '<hash type="sha-256"></hash>',
    "too_short": f'<hash type="sha-256">{SHA256[:-1]}</hash>',
    "too_long": f'<hash type="sha-256">{SHA256}00</hash>',
    "odd_digits": f'<hash type="sha-256">{SHA256[:-1]}g</hash>',
    "blanks_inside": f'<hash type="sha-256">{SHA256[:31]} {SHA256[32:]}</hash>',
    "of_an_unknown_kind": f'<hash type="sha-0">{SHA256}</hash>',
    "of_no_kind": f"<hash>{SHA256}</hash>",
    "two_that_differ": f'<hash type="sha-256">{SHA256}</hash>'
                       f'<hash type="sha-256">{"0" * 64}</hash>',
    "pieces_too_few": of_pieces(SIZE // 2 - 1, SHA256, SHA256),
    "pieces_too_many": of_pieces(SIZE, SHA256, SHA256),
    "pieces_of_length_0": of_pieces(0, SHA256),
    "pieces_of_length_1": of_pieces(1, SHA256),
    "pieces_of_length_2_to_64": of_pieces(1 << 64, SHA256),
    "pieces_of_zsync": of_pieces(SIZE, SHA256, kind="zsync"),
    "pieces_of_an_unknown_kind": of_pieces(SIZE, SHA256, kind="sha-0"),
    "pieces_with_odd_digits": of_pieces(SIZE, "x" * 64),
}


@pytest.mark.parametrize("hashes", HASHES.values(), ids=HASHES)
def test_a_hash_that_is_none_verifies_nothing(lab, url, hashes):
    run = fetch(lab, metalink(f"{WHOLE}{hashes}<url>{url}</url>"))
    assert run.report["verified"] is None
    assert "not verified" in run.err


def test_pieces_without_a_size_verify_nothing(lab, url):
    run = fetch(lab, metalink(f"{of_pieces(SIZE, SHA256)}<url>{url}</url>"))
    assert run.report["verified"] is None


@pytest.mark.parametrize("length", [1 << 31, 1 << 40, (1 << 63) - 1])
def test_one_piece_may_be_longer_than_the_file(lab, url, length):
    run = fetch(lab, metalink(
        f"{WHOLE}{of_pieces(length, SHA256)}<url>{url}</url>"))
    assert run.report["verified"] == "sha-256"


def test_digits_of_a_hash_may_be_large(lab, url):
    run = fetch(lab, metalink(
        f'{WHOLE}<hash type="SHA-256">{SHA256.upper()}</hash>'
        f"<url>{url}</url>"))
    assert run.report["verified"] == "sha-256"


def test_what_does_not_match_its_hash_gets_no_name(lab, url):
    run = lab.xdownload(lab.write("hostile", metalink(
        f'<hash type="sha-256">{"0" * 64}</hash><url>{url}</url>')))
    assert run.rc == 4
    assert not lab.path("f.bin").exists()


# ---- XML ----

DTD = '<!DOCTYPE metalink [<!ENTITY a "aaaaaaaaaa">{}]>'
URL = "<url>http://a/x</url>"
BROKEN = {
    "billion_laughs": metalink("<url>&z;</url>", before=DTD.format("".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh",
                                                           "bcdefghz")))),
    "quadratic_blowup": metalink("&a;" * 5000, before=DTD.format("")),
    "an_external_entity": metalink("<url>&x;</url>", before=DTD.format(
        '<!ENTITY x SYSTEM "file:///etc/passwd">')),
    "an_external_dtd": metalink(
        URL, before='<!DOCTYPE metalink SYSTEM "http://127.0.0.1:1/x">'),
    "depth": metalink("<a>" * 100_000),
    "utf16": metalink(URL).encode("utf-16"),
    "utf16_without_mark": metalink(URL).encode("utf-16-le"),
    "cut_off": metalink(URL)[:-3],
    "a_namespace_of_nobody": metalink(URL, root='xmlns="http://a/"'),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_such_xml_is_refused(lab, text):
    refuse(lab, text)


def show_long(lab, head, part, n, tail):
    """What `show` makes of a text that is too long to be held here."""
    with open(lab.write("hostile", head), "a", encoding="ascii") as f:
        for _ in range(n):
            f.write(part)
        f.write(tail)
    return lab.xdownload("show", "hostile", report=False)


@pytest.mark.parametrize("mebibytes", [60, 100])
def test_an_attribute_without_end_takes_little_memory(lab, mebibytes):
    head, tail = metalink(URL, name="|").split("|")
    run = show_long(lab, head, "n" * 1024, mebibytes << 10, tail)
    assert run.rc == 3 and "the XML is broken" in run.err
    assert run.rss < MOST_MEMORY + (64 << 20)


FORGIVEN = {
    "no_namespace": f'<metalink><file name="f">{URL}</file></metalink>',
    "blanks_before_the_declaration":
        " \n" + metalink(URL, before='<?xml version="1.0"?>'),
    "a_byte_order_mark": "\ufeff" + metalink(URL),
    "prefixes": f'<m:metalink xmlns:m="{METALINK[7:-1]}"><m:file name="f">'
                "<m:url>http://a/x</m:url></m:file></m:metalink>",
    "unknown_elements": metalink(f"<new><url>http://b/x</url></new>{URL}"),
    "cdata": metalink("<url><![CDATA[http://a/x]]></url>"),
    "a_comment_inside": metalink("<url>http://a<!-- b -->/x</url>"),
    "a_file_in_a_file": metalink(
        f'<file name="g"><url>http://b/x</url></file>{URL}'),
    "older_versions": metalink(
        f'<a:alternates xmlns:a="http://b/"><url>http://b/x</url>'
        f"</a:alternates>{URL}"),
    "the_layout_of_4_in_3": f"<metalink {METALINK3}><files>"
                            f'<file name="f">{URL}</file></files></metalink>',
}


@pytest.mark.parametrize("text", FORGIVEN.values(), ids=FORGIVEN)
def test_such_xml_is_understood_and_no_more_than_it_says(lab, text):
    assert urls_of(lab, text) == ["http://a/x"]


def test_a_comment_inside_a_number_is_no_part_of_it(lab):
    files, _ = show(lab, metalink(f"<size>1<!-- 9 -->2</size>{URL}"))
    assert files[0]["size"] == 12


def test_hashes_of_older_versions_are_not_those_of_the_file(lab):
    files, _ = show(lab, metalink(
        f'{URL}<a:alternates xmlns:a="http://b/"><a:alternate>'
        f'<size>5</size><hash type="sha-256">{SHA256}</hash>'
        "</a:alternate></a:alternates>"))
    assert files[0]["size"] is None and files[0]["hashes"] == {}


# ---- exNodes ----

def test_a_mapping_without_metadata_is_refused(lab):
    refuse(lab, exnode("<e:mapping><e:read>http://a/x</e:read></e:mapping>"))
    refuse(lab, exnode(mapping("", "", "http://a/x")))


def test_the_type_of_metadata_does_not_matter(lab):
    for kind in "", "string", "meta", "x" * 5000:
        text = exnode(mapping(0, 5, "http://a/x"),
                      more=metadata("filename", "f", kind))
        assert urls_of(lab, text) == ["http://a/x"]


UNUSABLE = {
    "negative_offset": (-1, 5), "negative_length": (0, -5),
    "offset_and_length_beyond_2_to_63": ((1 << 63) - 1, 1),
    "offset_and_length_beyond_2_to_64": ((1 << 64) - 1, 2),
    "a_hole_at_the_start": (5, 5),
}


@pytest.mark.parametrize("offset,length", UNUSABLE.values(), ids=UNUSABLE)
def test_such_a_mapping_is_refused(lab, offset, length):
    refuse(lab, exnode(mapping(offset, length, "http://a/x")))


def test_a_hole_between_mappings_is_named(lab):
    refuse(lab, exnode(mapping(0, 5, "http://a/x"),
                       mapping(7, 5, "http://a/x")), "5-6")


def test_mappings_may_overlap(lab):
    files, _ = show(lab, exnode(mapping(0, 7, "http://a/x"),
                                mapping(5, 7, "http://b/x")))
    assert files[0]["size"] == 12


def test_a_mapping_beyond_the_size_that_is_said_counts(lab):
    files, run = show(lab, exnode(mapping(0, 9, "http://a/x"),
                                  more=metadata("size", 3)))
    assert files[0]["size"] == 9 and "3 bytes" in run.err


CAPABILITIES = {
    "line_ends": "ibp://a:6714/k&#13;&#10;x/1/READ",
    "blanks": "ibp://a:6714/k x/1/READ",
    "longer_than_2_kib": f"ibp://a:6714/{'k' * 2050}/1/READ",
    "to_write": "ibp://a:6714/k/1/WRITE",
}


@pytest.mark.parametrize("bad", CAPABILITIES.values(), ids=CAPABILITIES)
def test_a_capability_that_is_none_is_not_used(lab, bad):
    good = "ibp://b:6714/k/1/READ"
    assert urls_of(lab, exnode(mapping(0, 5, bad),
                               mapping(0, 5, good))) == [good]


def test_bytes_behind_an_unknown_function_are_not_used(lab):
    refuse(lab, exnode(mapping(0, 5, "http://a/x",
                               '<e:function name="rot13"/>')), "rot13")


@pytest.mark.slow
def test_as_many_mappings_as_a_manifest_can_hold_fit_into_memory(lab):
    part = ("<e:mapping><e:metadata name='exnode_offset'>0</e:metadata>"
            "<e:metadata name='logical_length'>5</e:metadata>"
            "<e:read>http://a/x</e:read></e:mapping>")
    run = show_long(lab, f"<exnode {EXNODE}>", part, 440_000, "</exnode>")
    assert run.rc == 0, run.err
    assert run.rss < 4 * MOST_MEMORY


@pytest.mark.slow
def test_a_million_mappings_are_longer_than_any_manifest(lab):
    run = show_long(lab, f"<exnode {EXNODE}>",
                    mapping(0, 5, "http://a/x"), 1_000_000, "</exnode>")
    assert run.rc == 3 and "longer than 64 MiB" in run.err


# ---- the wire ----

@pytest.mark.parametrize("option", [[], ["--no-metalink"]])
def test_link_header_without_a_digest_leads_at_most_to_a_mirror(lab, option):
    """A Metalink that it names is not read: no digest proves it."""
    lab.file("f.bin", SIZE)
    other = lab.depot()
    depot = lab.depot(config=f"""
        add_header Link '<{other.url("m.meta4")}>; rel=describedby';
        add_header Link '<{other.url("f.bin")}>; rel=duplicate';""")
    run = lab.xdownload(*option, depot.url("f.bin"))
    assert run.rc == 0, run.err
    asked = {request["uri"] for request in other.requests()}
    assert asked == (set() if option else {"/f.bin"})


# ---- what is left behind ----

def test_the_file_has_no_attributes_that_say_where_it_came_from(lab, url):
    fetch(lab, metalink(f"<url>{url}</url>"))
    for name in os.listxattr(lab.path("f.bin")):
        assert name == "user.xdownload.version"  # a hash of the URL, and its ETag
        note = os.getxattr(lab.path("f.bin"), name)
        assert b"127.0.0.1" not in note and b"f.bin" not in note
