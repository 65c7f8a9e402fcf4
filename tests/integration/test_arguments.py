# SPDX-License-Identifier: MIT
"""What the arguments may be, what they mean, and which status they end in."""
import json
import os
import signal
import stat
import time
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from lab import wait_until
from test_options import DATA, redirect, serve

SIZE = 400_001


def publish(lab, manifest, name):
    """Put a manifest of lab's on every ordinary depot, under `name`."""
    (lab.www / name).write_bytes(Path(manifest).read_bytes())


def work_files(lab):
    return sorted(p.name for p in lab.work.iterdir())


# ---- URLs ----

def test_a_single_url_is_a_plain_download(lab):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.depot().url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data


TYPED = {
    "long query": ("f.bin?" + "q" * 16_000, "/f.bin?" + "q" * 16_000),
    "backslash": (r"a\b\f.bin", r"/a\b\f.bin"),
    "backslash in the query": (r"f.bin?a\b", r"/f.bin?a\b"),
    "query alone": ("?a@b", "/?a@b"),
    "blank": ("a b.bin", "/a%20b.bin"),
}


# Blanks may separate the URLs of a text, and a URL without a name needs one in a list.
MEANS_SOMETHING_ELSE = [("text", "blank"), ("list", "query alone")]


@pytest.mark.parametrize("how, typed, asked", [
    pytest.param(how, *TYPED[name], id=f"{name}-{how}")
    for name in TYPED for how in ("typed", "twice", "list", "text")
    if (how, name) not in MEANS_SOMETHING_ELSE])
def test_url_is_asked_for_as_curl_does(lab, how, typed, asked):
    paths = []
    depot = lab.odd(lambda head: (paths.append(head.split(" ")[1]),
                                  serve(head))[1])
    url = f"http://{depot.host}{'' if typed[0] == '?' else '/'}{typed}"
    args = {"typed": lambda: [url], "twice": lambda: [url, url],
            "list": lambda: ["-i", lab.write("l.txt", f"{url}\n out=f.bin\n")],
            "text": lambda: [lab.write("urls.txt", url + "\n")]}[how]()
    run = lab.xdownload(*args, *([] if how == "list" else ["-o", "f.bin"]))
    assert run.rc == 0, run.err
    assert set(paths) == {asked}
    assert lab.read("f.bin") == DATA


@pytest.mark.parametrize("host", [
    "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]"])
def test_host_of_a_url_may_be_any_address_that_curl_reads(lab, host):
    depot = lab.odd(serve)
    port = depot.host.split(":")[1]
    run = lab.xdownload("-u", "me:pw", f"http://{host}:0{port}/f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == DATA
    assert all("Authorization: Basic" in head for head in depot.heads)


@pytest.mark.parametrize("location", [
    r"/d\e/f.bin", r"\d\f.bin", "/f.bin?" + "q" * 16_000])
def test_redirect_leads_where_curl_goes(lab, location):
    depot = lab.odd(lambda head: serve(head) if "GET /r " not in head
                    else redirect(location))
    run = lab.xdownload(depot.url("r"), "-o", "f.bin")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == DATA


@pytest.mark.parametrize("url, why", [
    ("http://1.2.3.4.5/f", "is not valid"), ("http://h:70000/f", "a port as"),
    ("http://::1/f", "IPv6 address in brackets"),
    ("http://h/\x01f", "contains a control character"),
    ("http://h/" + "x" * 70_000, "is longer than 65535 bytes"),
    ("http://me:p@w@h/f", "@ in a name or password as %40")])
def test_invalid_url_is_refused_with_reason(lab, url, why):
    run = lab.xdownload(url, "-o", "f.bin")
    assert run.rc == 1
    assert ": the URL " in run.err and why in run.err
    assert "manifest" not in run.err


def test_several_urls_are_copies_of_one_file(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(3)
    run = lab.xdownload("-b", "32k", *[d.url("f.bin") for d in depots])
    assert run.rc == 0, run.err
    assert work_files(lab) == ["f.bin"] and lab.read("f.bin") == data
    assert len(run.report["depots"]) == 3


@pytest.mark.parametrize("form", ["exnode", "metalink"])
def test_a_manifest_behind_a_url_is_obeyed(lab, form):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    publish(lab, getattr(lab, form)("f.bin", lab.depots(2)), "what-it-is")
    before = work_files(lab)
    run = lab.xdownload(depot.url("what-it-is"))
    assert run.rc == 0, run.err
    assert work_files(lab) == sorted(before + ["f.bin"])
    assert lab.read("f.bin") == data


def test_several_manifest_urls_are_each_obeyed(lab):
    depot = lab.depot()
    data = [lab.file(f"{i}.bin", 1000, seed=i) for i in range(3)]
    for i in range(3):
        publish(lab, lab.exnode(f"{i}.bin", [depot]), f"{i}.xnd")
    run = lab.xdownload(*[depot.url(f"{i}.xnd") for i in range(3)])
    assert run.rc == 0, run.err
    assert [lab.read(f"{i}.bin") for i in range(3)] == data


def test_a_list_of_urls_behind_a_url_is_a_manifest_only_if_that_is_said(lab):
    data = lab.file("f.bin", SIZE)
    depot = lab.depot()
    manifest = lab.urls("f.bin", lab.depots(2))
    publish(lab, manifest, "list.txt")
    run = lab.xdownload(depot.url("list.txt"))
    assert run.rc == 0, run.err
    assert lab.read("list.txt") == Path(manifest).read_bytes()
    for option in "-M", "--manifests":
        run = lab.xdownload("--force", option, depot.url("list.txt"))
        assert run.rc == 0, run.err
        assert lab.read("f.bin") == data


def test_what_is_said_to_be_a_manifest_and_is_none_is_3(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("-M", lab.depot().url("f.bin"))
    assert run.rc == 3 and "f.bin" in run.err


def test_a_broken_manifest_behind_a_url_is_3(lab):
    (lab.www / "m.meta4").write_text(
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file')
    run = lab.xdownload(lab.depot().url("m.meta4"))
    assert run.rc == 3 and "m.meta4" in run.err
    assert work_files(lab) == []


def test_files_and_urls_do_not_mix(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    manifest = lab.exnode("f.bin", [depot])
    for args in ([manifest, depot.url("f.bin")],
                 [depot.url("f.bin"), manifest]):
        run = lab.xdownload(*args, report=False)
        assert run.rc == 2
        assert (f"{depot.url('f.bin')} is a URL and {manifest} is not"
                in run.err)
    assert depot.requests() == []


def test_manifests_and_copies_do_not_mix(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    publish(lab, lab.exnode("f.bin", [depot]), "m.xnd")
    before = work_files(lab)
    run = lab.xdownload(depot.url("f.bin"), depot.url("m.xnd"))
    assert run.rc == 2
    assert f"{depot.url('m.xnd')} is a manifest" in run.err
    assert f"{depot.url('f.bin')} is a copy of a file" in run.err
    assert work_files(lab) == before
    assert run.report["outcome"] == "failed"


def test_a_password_that_was_typed_is_not_said(lab):
    lab.file("a.bin", 1000)
    lab.file("b.bin", 2000)
    depot = lab.depot()
    run = lab.xdownload(*[depot.url(name).replace("//", "//me:secret@")
                          for name in ("a.bin", "b.bin")])
    assert run.rc == 2
    assert depot.url("a.bin") in run.err and depot.url("b.bin") in run.err
    assert "secret" not in run.err



def test_where_no_url_answers_all_reasons_are_said(lab):
    dead, refused = lab.dead(), lab.depot(status=403)
    run = lab.xdownload(dead.url("f"), refused.url("f"))
    assert run.rc == 1
    assert dead.host in run.err and refused.host in run.err
    assert "403" in run.err
    assert run.report["outcome"] == "failed"
    assert dead.host in run.report["error"]


def test_a_manifest_that_cannot_be_had_does_not_hinder_another(lab):
    data = lab.file("f.bin", SIZE)
    dead, depot = lab.dead(), lab.depot()
    publish(lab, lab.exnode("f.bin", [depot]), "m.xnd")
    run = lab.xdownload(dead.url("m.xnd"), depot.url("m.xnd"))
    assert run.rc == 1 and dead.host in run.err
    assert lab.read("f.bin") == data


def test_a_slow_manifest_is_obeyed_beside_a_quick_one(lab):
    data = lab.file("f.bin", 1000), lab.file("g.bin", 1000, seed=2)
    depot = lab.depot()
    publish(lab, lab.exnode("f.bin", [depot]), "f.xnd")
    slow_text = Path(lab.exnode("g.bin", [depot])).read_bytes()

    def answer(head):
        time.sleep(1.2)
        return (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
                % len(slow_text) + slow_text)
    run = lab.xdownload(lab.odd(answer).url("g.xnd"), depot.url("f.xnd"))
    assert run.rc == 0, run.err
    assert (lab.read("f.bin"), lab.read("g.bin")) == data


# ---- names ----

def test_the_name_is_the_first_urls_as_typed_decoded_without_query(lab):
    data = lab.file("a film.bin", 1000)
    run = lab.xdownload(lab.depot().url("a%20film.bin?token=1%2F2"))
    assert run.rc == 0, run.err
    assert work_files(lab) == ["a film.bin"]
    assert lab.read("a film.bin") == data


def test_no_depot_names_the_file(lab):
    lab.file("other.bin", 1000)
    depot = lab.depot(config="""
        add_header Content-Disposition 'attachment; filename="evil.sh"';
        location = /f.bin { return 302 /other.bin; }""")
    run = lab.xdownload(depot.url("f.bin"))
    assert run.rc == 0, run.err
    assert work_files(lab) == ["f.bin"]


def test_a_url_that_tells_no_name_needs_one(lab):
    data = lab.file("index.html", 1000)
    depot = lab.depot()
    run = lab.xdownload(depot.url(""))
    assert run.rc == 2 and "give -o" in run.err
    run = lab.xdownload("-o", "out", depot.url(""))
    assert run.rc == 0, run.err
    assert lab.read("out") == data


def metalink_of(lab, depot, names):
    """One file for each name; None: it has none."""
    return lab.write("m.metalink", '<metalink version="3.0"><files>' + "".join(
        f"<file{f' name={quoteattr(name)}' if name else ''}><resources><url>"
        f"{depot.url(f'{i}.bin')}</url></resources></file>"
        for i, name in enumerate(names, 1)) + "</files></metalink>")


def test_a_file_without_a_name_is_chosen_by_its_number(lab):
    data = [lab.file(f"{i}.bin", 1000 + i) for i in range(1, 4)]
    manifest = metalink_of(lab, lab.depot(), ["a", None, "1"])
    run = lab.xdownload("--file", "2", manifest)
    assert run.rc == 2 and "give -o" in run.err
    run = lab.xdownload("--file", "2", "-o", "out", manifest)
    assert run.rc == 0, run.err
    assert lab.read("out") == data[1]
    run = lab.xdownload("--file", "3", "-o", "third", manifest)
    assert run.rc == 0, run.err
    assert lab.read("third") == data[2]


def test_a_file_whose_name_is_a_number_comes_before_the_file_of_it(lab):
    data = [lab.file(f"{i}.bin", 1000 + i) for i in range(1, 4)]
    run = lab.xdownload("--file", "1",
                        metalink_of(lab, lab.depot(), ["a", None, "1"]))
    assert run.rc == 0, run.err
    assert lab.read("1") == data[2]


@pytest.mark.parametrize("word", ["0", "4", "-1", "+2", "2x", "", " 2",
                                  "4294967298", "18446744073709551618",
                                  "(a file without name)"])
def test_what_is_neither_name_nor_number_of_a_file_chooses_none(lab, word):
    run = lab.xdownload(f"--file={word}", "-o", "out",
                        metalink_of(lab, lab.dead(), ["a", None, "b"]))
    assert run.rc == 2
    assert word == "" or "a, 2 (without a name), b" in run.err


def test_a_manifest_may_be_named_like_a_subcommand(lab):
    data = lab.file("f.bin", SIZE)
    Path(lab.exnode("f.bin", lab.depots(1))).rename(lab.path("show"))
    run = lab.xdownload("show", report=False)
    assert run.rc == 2
    process = lab.start("get", "show", report=False)
    assert process.wait().rc == 0
    assert lab.read("f.bin") == data


# ---- one of several files ----

def test_who_asks_for_help_in_a_word_gets_it_unless_it_is_a_file(lab):
    assert lab.xdownload("help", report=False).out.startswith(
        b"xdownload - ")
    lab.write("help", "neither XML nor a URL")
    assert lab.xdownload("help", report=False).rc == 3


@pytest.mark.parametrize("words", [["-q", "serve", "f.xnd"],
                                   ["f.xnd", "serve"]])
def test_a_subcommand_behind_other_words_is_2_and_told_its_place(lab, words):
    run = lab.xdownload(*words, report=False)
    assert run.rc == 2
    assert "serve has to be the first word" in run.err


def test_file_picks_one_of_several(lab):
    depots = lab.depots(2)
    names = [f"{i}.bin" for i in range(4)]
    data = {n: lab.file(n, 1000, seed=i) for i, n in enumerate(names)}
    manifest = lab.metalink_of([(n, depots, None) for n in names])
    run = lab.xdownload("--file", "2.bin", "-o", "out", manifest)
    assert run.rc == 0, run.err
    assert lab.read("out") == data["2.bin"]
    assert not any(lab.path(n).exists() for n in names)


def test_a_file_that_is_not_among_them_is_2_and_some_that_are_are_told(lab):
    depot = lab.depot()
    names = [f"file-{i}.bin" for i in range(13)]
    for n in names:
        lab.file(n, 10)
    manifest = lab.metalink_of([(n, [depot], None) for n in names])
    run = lab.xdownload("--file", "none.bin", manifest)
    assert run.rc == 2 and "none.bin" in run.err
    assert all(n in run.err for n in names[:10])
    assert not any(n in run.err for n in names[10:])
    assert "3 more" in run.err
    assert depot.requests() == []


def test_one_output_for_several_files_or_manifests_is_2(lab):
    lab.file("a.bin", 10), lab.file("b.bin", 10)
    depot = lab.depot()
    both = lab.metalink_of([(n, [depot], None) for n in ("a.bin", "b.bin")])
    publish(lab, both, "both.meta4")
    for args in [[both], [both, both], [depot.url("both.meta4")],
                 [depot.url("both.meta4"), depot.url("both.meta4")]]:
        run = lab.xdownload("-o", "out", *args)
        assert run.rc == 2 and "--output" in run.err
        assert not lab.path("out").exists()


# ---- what is left out ----

def test_an_excluded_host_is_asked_for_nothing(lab):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(3)
    run = lab.xdownload("-b", "32k", "--exclude", depots[0].host, "--exclude",
                        depots[2].host, lab.exnode("f.bin", depots))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    assert [bool(d.requests()) for d in depots] == [False, True, False]
    assert [d["host"] for d in run.report["depots"]] == [depots[1].host]


def test_a_host_without_a_port_is_excluded_with_all_its_ports(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    run = lab.xdownload("--exclude", "127.0.0.1", lab.exnode("f.bin", depots))
    assert run.rc == 1
    assert (f"no replica that can be fetched holds bytes 0-{SIZE - 1}"
            in run.err)
    assert [d.requests() for d in depots] == [[], []]
    assert lab.xdownload("--exclude", "127.0.0.1",
                         lab.urls("f.bin", depots)).rc == 1


def test_an_excluded_host_is_not_even_asked_what_it_has(lab):
    data = lab.file("f.bin", SIZE)
    a, b = lab.depots(2)
    run = lab.xdownload("--exclude", a.host, a.url("f.bin"), b.url("f.bin"))
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    run = lab.xdownload("--exclude", a.host, a.url("g.bin"), report=False)
    assert run.rc == 1
    assert run.err == f"xdownload: {a.url('g.bin')}: its host is excluded\n"
    assert a.requests() == []


def test_bytes_that_only_an_excluded_depot_holds_are_named(lab):
    lab.file("f.bin", 1000)
    a, b = lab.depots(2)
    manifest = lab.exnode_of("f.bin", [
        (0, 600, a.url("f.bin"), 0, 1000), (600, 400, b.url("f.bin"), 600, 1000)])
    run = lab.xdownload("--exclude", b.host, manifest)
    assert run.rc == 1
    assert "no replica that can be fetched holds bytes 600-999" in run.err


@pytest.mark.parametrize("host", ["", "http://a.example", "a.example:0", "a b"])
def test_what_is_no_host_cannot_be_excluded(lab, host):
    run = lab.xdownload("--exclude", host, "m", report=False)
    assert run.rc == 2 and "exclude" in run.err


# ---- any option ----

def test_set_sets_any_option(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(b"before")
    manifest = lab.exnode("f.bin", lab.depots(2))
    run = lab.xdownload("--set", "block-size=64k", "--set", "force=yes",
                        manifest)
    assert run.rc == 0, run.err
    assert run.report["block_size"] == 65536
    assert lab.read("f.bin") == data
    run = lab.xdownload("--dry-run", "--set", "retry=7", manifest)
    assert "7" in next(line for line in run.out.decode().splitlines()
                       if line.split()[0] == "retry")


@pytest.mark.parametrize("setting, says", [
    ("retry", "NAME=VALUE"), ("=3", "NAME=VALUE"), ("", "NAME=VALUE"),
    ("no-such=3", "no-such"), ("retry=", "retry"), ("force=maybe", "maybe"),
    ("x" * 5000 + "=1", "there is no option"),
])
def test_a_setting_that_is_none_is_2(lab, setting, says):
    run = lab.xdownload("--set", setting, "m", report=False)
    assert run.rc == 2 and says in run.err


# ---- before anything is fetched ----

def test_a_dry_run_takes_urls_for_copies_and_asks_nobody(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(2)
    run = lab.xdownload("--dry-run", *[d.url("f.bin") for d in depots])
    assert run.rc == 0, run.err
    assert all(d.host in run.out.decode() for d in depots)
    assert [d.requests() for d in depots] == [[], []]


def test_a_dry_run_of_manifest_urls_reads_them_alone(lab):
    lab.file("f.bin", SIZE)
    depot, depots = lab.depot(), lab.depots(2)
    publish(lab, lab.exnode("f.bin", depots), "m.xnd")
    run = lab.xdownload("--dry-run", "-M", depot.url("m.xnd"))
    assert run.rc == 0, run.err
    assert "f.bin" in run.out.decode()
    assert [d.requests() for d in depots] == [[], []]


def test_show_takes_urls_like_get(lab):
    lab.file("f.bin", SIZE)
    depot, depots = lab.depot(), lab.depots(2)
    publish(lab, lab.exnode("f.bin", depots), "m.xnd")
    publish(lab, lab.urls("f.bin", depots), "m.txt")
    urls = [d.url("f.bin") for d in depots]
    for args, size, places in [
            ([depot.url("m.xnd")], SIZE, urls),
            (["-M", depot.url("m.txt")], None, urls),
            ([depot.url("f.bin")], SIZE, [depot.url("f.bin")])]:
        run = lab.xdownload("show", "--json", *args, report=False)
        assert run.rc == 0, run.err
        [file] = json.loads(run.out)["files"]
        assert (file["name"], file["size"]) == ("f.bin", size)
        assert [r["url"] for r in file["extents"][0]["replicas"]] == places
    run = lab.xdownload("show", lab.dead().url("m.xnd"), report=False)
    assert run.rc == 1 and run.err
    assert [d.requests() for d in depots] == [[], []]


# ---- signals ----

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("sig", ENDING)
def test_a_signal_ends_it_with_130_and_a_sentence(lab, sig):
    lab.file("f.bin", SIZE)
    process = lab.start(lab.exnode("f.bin", [lab.depot(rate=20_000)]))
    part = lab.path("f.bin.part")
    wait_until(lambda: part.exists() and part.stat().st_size > 0, "it begins")
    process.send(sig)
    run = process.wait()
    assert run.rc == 130
    assert "interrupted at" in run.err and "f.bin.part stays" in run.err
    assert run.report["outcome"] == "interrupted"


@pytest.mark.parametrize("sig", ENDING)
def test_a_signal_has_its_usual_effect_before_anything_has_begun(lab, sig):
    asked = []

    def answer(head):
        asked.append(head)
        time.sleep(5)
        return b""
    process = lab.start(lab.odd(answer).url("f.bin"), "--silence", "10m")
    wait_until(lambda: asked, "the URL is asked")
    process.send(sig)
    run = process.wait()
    assert run.rc == -sig
    assert run.err == "" and work_files(lab) == []


def test_a_hangup_that_was_ignored_stays_ignored(lab):
    data = lab.file("f.bin", SIZE)
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = lab.start(lab.exnode("f.bin", [lab.depot(rate=1_000_000)]))
    finally:
        signal.signal(signal.SIGHUP, old)
    wait_until(lambda: lab.path("f.bin.part").exists(), "it begins")
    process.send(signal.SIGHUP)
    assert process.wait().rc == 0
    assert lab.read("f.bin") == data


# ---- what is written to as it stands ----

def fifo(lab, name):
    os.mkfifo(lab.path(name))
    return lab.path(name)


def test_a_device_is_written_to_as_it_stands(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(2))
    before = work_files(lab)
    run = lab.xdownload("-o", "/dev/null", manifest)
    assert run.rc == 0, run.err
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert work_files(lab) == before
    assert not os.path.exists("/dev/null.part")
    assert run.report["file"] == "/dev/null"
    assert run.report["outcome"] == "complete"


def test_a_fifo_is_written_in_order(lab):
    data = lab.file("f.bin", SIZE)
    path = fifo(lab, "pipe")
    process = lab.start("-o", "pipe", "-b", "32k",
                        lab.exnode("f.bin", lab.depots(3)))
    assert path.read_bytes() == data
    run = process.wait()
    assert run.rc == 0, run.err
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert not lab.path("pipe.part").exists()


def test_a_reader_that_leaves_a_fifo_ends_it_with_141(lab):
    lab.file("f.bin", SIZE)
    path = fifo(lab, "pipe")
    process = lab.start("-o", "pipe", "-b", "32k",
                        lab.exnode("f.bin", lab.depots(1)))
    with path.open("rb", buffering=0) as reader:
        reader.read(1000)
    assert process.wait().rc == 141


def test_a_signal_ends_what_waits_for_the_reader_of_a_fifo(lab):
    lab.file("f.bin", SIZE)
    path = fifo(lab, "pipe")
    process = lab.start("-o", "pipe", "-b", "32k", "--lookahead", "128k",
                        lab.exnode("f.bin", lab.depots(1)))
    with path.open("rb", buffering=0) as reader:
        reader.read(1000)
        process.send(signal.SIGINT)
        run = process.wait()
    assert run.rc == 130
    assert "interrupted" in run.err and "stays" not in run.err


def test_a_fifo_without_a_reader_waits_until_a_signal(lab):
    lab.file("f.bin", SIZE)
    fifo(lab, "pipe")
    process = lab.start("-o", "pipe", lab.exnode("f.bin", lab.depots(1)))

    time.sleep(0.2)  # it waits; if it is not there yet, the end is the same
    process.send(signal.SIGTERM)
    assert process.wait().rc == -signal.SIGTERM


def test_a_manifests_word_is_not_enough_for_a_fifo(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    path = fifo(lab, "f.bin")
    for force in [], ["--force"]:
        run = lab.xdownload(lab.exnode("f.bin", [depot]), *force)
        assert run.rc == 5 and "f.bin is no regular file" in run.err
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert depot.requests() == []


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_folder_is_no_place_for_a_file(lab, force):
    lab.file("f.bin", SIZE)
    lab.path("folder").mkdir()
    lab.path("link").symlink_to("folder")
    for place in "folder", "link":
        run = lab.xdownload("-o", place, *force,
                            lab.exnode("f.bin", lab.depots(1)))
        assert run.rc == 5 and f"{place} is a folder" in run.err
        assert list(lab.path("folder").iterdir()) == []


# ---- progress for programs ----

def json_lines(text):
    return [json.loads(line) for line in text.splitlines()
            if line.startswith("{")]


def test_progress_in_json_has_an_object_a_second_and_one_at_the_end(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("-q", "--progress", "json", "-b", "16k",
                        lab.exnode("f.bin", [lab.depot(rate=120_000)]))
    assert run.rc == 0
    lines = json_lines(run.err)
    assert len(lines) == len(run.err.splitlines())
    *during, end = lines
    assert [int(p["seconds"]) for p in during] == list(
        range(1, len(during) + 1))
    assert abs(len(during) - int(run.report["seconds"])) <= 1
    assert all(p["outcome"] is None and p["size"] == SIZE for p in during)
    done = [p["bytes_done"] for p in lines]
    assert done == sorted(done) and done[-1] == SIZE
    assert during[0]["depots_open"] == 1
    assert 1 <= during[0]["requests_running"] <= 2
    assert during[0]["rate"] > 0
    for name in ("file", "size", "seconds", "bytes_received",
                 "bytes_redundant", "outcome", "error"):
        assert end[name] == run.report[name]


def test_progress_in_json_tells_the_end_of_what_never_began(lab):
    lab.file("f.bin", SIZE)
    lab.path("f.bin").write_bytes(b"mine")
    run = lab.xdownload("--progress", "json",
                        lab.exnode("f.bin", lab.depots(1)))
    assert run.rc == 5
    [end] = json_lines(run.err)
    assert end["outcome"] == "failed" and "--force" in end["error"]


def test_progress_in_json_leaves_standard_output_to_the_data(lab):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload("--progress", "json", "-o", "-",
                        lab.exnode("f.bin", lab.depots(1)))
    assert run.rc == 0 and run.out == data
    assert [p["file"] for p in json_lines(run.err)] == ["-"]
