# SPDX-License-Identifier: MIT
"""What a person types, mistypes, or brings from curl, wget and aria2; the help;
the config file."""
import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from lab import PATIENCE, XDOWNLOAD

SIZE = 300_001
COMMANDS = ["verify", "show", "put", "add", "make", "check", "depot", "drop", "renew",
            "play", "serve", "bench", "via", "trace"]
GROUPS = ["common", "output", "network", "verification", "algorithms"]


def out(lab, *words):
    run = lab.xdownload(*words, report=False)
    assert run.rc == 0 and run.err == "", run.err
    return run.out.decode()


def refused(lab, *words):
    run = lab.xdownload(*words, report=False)
    assert run.rc == 2, run.err
    command = words[0] if words[0] in COMMANDS else ""
    assert run.err.endswith(f"try 'xdownload {command}".rstrip()
                            + " --help'\n"), run.err
    return run.err


# ---- help ----

def options_in(text):
    return set(re.findall(r"(?m)^  (?:-., |    )--([a-z0-9-]+)", text))


def test_the_help_fits_on_two_screens_and_its_lines_on_80_columns(lab):
    assert len(out(lab, "--help").splitlines()) < 80
    for words in ["--help"], ["--help", "all"], ["bench", "--help"]:
        assert all(len(line) < 80 for line in out(lab, *words).splitlines())


def test_all_the_options_are_those_of_the_groups_and_of_the_commands(lab):
    everything = options_in(out(lab, "--help", "all"))
    assert len(everything) > 80
    assert everything == set().union(
        *(options_in(out(lab, "--help", group)) for group in GROUPS),
        *(options_in(out(lab, command, "--help")) for command in COMMANDS))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_its_own_help_with_examples_first(lab, command):
    text = out(lab, command, "--help")
    assert text.startswith(f"xdownload {command} - ")
    assert text.index("Examples:") < text.index("Usage:")
    examples = text.split("Examples:\n")[1].split("\n\n")[0]
    assert f"  xdownload {command} " in examples
    for words in (["help", command], ["--help", command], ["-h", command],
                  [command, "-h"]):
        assert out(lab, *words) == text


def test_the_help_of_a_command_has_its_options_and_no_others(lab):
    shown = options_in(out(lab, "show", "--help", "all"))
    assert {"json", "probe", "format", "proxy", "help"} <= shown
    assert not {"repair", "force", "player", "input-file"} & shown
    assert "proxy" in options_in(out(lab, "show", "--help", "network"))
    assert "limit-rate" not in options_in(out(lab, "show", "--help", "network"))


@pytest.mark.parametrize("setting, meant", [
    ("retyr=3", "did you mean 'retry'?"), ("nonsense=3", "libxdownload(3)")])
def test_an_option_to_set_that_there_is_not_names_the_nearest(
        lab, setting, meant):
    assert meant in refused(lab, "--set", setting, "http://127.0.0.1:9/f")


def test_help_before_another_option_is_the_overview(lab):
    assert out(lab, "--help", "-v") == out(lab, "--help")


@pytest.mark.parametrize("topic, meant", [
    ("netwrok", "did you mean '--help network'"),
    ("shwo", "did you mean '--help show'"),
    ("frobnicate", "use --help with common, output")])
def test_help_on_what_there_is_not_names_what_there_is(lab, topic, meant):
    assert meant in refused(lab, "--help", topic)


# ---- names that were mistyped ----

@pytest.mark.parametrize("words, meant", [
    (["--contiune"], "unknown option --contiune: did you mean --continue?"),
    (["--limt-rate=3"], "unknown option --limt-rate: did you mean "
     "--limit-rate?"),
    (["play", "--browsr"], "did you mean --browser?"),
    (["--frobnicate"], "unknown option --frobnicate\n"),
    (["--max"], "--max may mean more than one option: --"),
    (["-%"], "unknown option -%\n"),
    (["shwo", "f.xnd"], "there is no file and no command 'shwo': did you mean "
     "'xdownload show'?"),
    (["downlaod", "http://127.0.0.1:1/x"],
     "unknown command 'downlaod'; to download, give only the URL")])
def test_the_nearest_name_is_named(lab, words, meant):
    assert meant in refused(lab, *words)


def test_a_file_may_be_named_nearly_like_a_command(lab):
    data = lab.file("f.bin", SIZE)
    os.rename(lab.exnode("f.bin", lab.depots(1)), lab.path("shwo"))
    assert lab.xdownload("shwo").rc == 0
    assert lab.read("f.bin") == data


# ---- options that need or exclude each other ----

@pytest.mark.parametrize("words, said", [
    (["-4", "-6", "m"], "use either --ipv4 or --ipv6\n"),
    (["-c", "--no-continue", "m"], "use either --continue or --no-continue\n"),
    (["--content-disposition", "-N", "m"],
     "use either --content-disposition or --timestamping: "),
    (["--signature", "x", "m"], "--signature needs --keyring or --public-key"),
    (["put", "f"], "put needs --to: the stores to put the file on\n"),
    (["put", "--code", "2+1", "--code", "3+1", "f"],
     "--code is given twice: 2+1 and 3+1"),
    (["via", "h:1"], "via needs --nginx or --check\n"),
    (["via", "--check", "--hops", "2", "m", "http://a/"],
     "--hops needs --nginx: "),
    (["bench", "--stalls", "--virtual", "x"],
     "--stalls needs --rate RATE or --paper\n"),
    (["depot", "--token", "short", "."],
     "--token takes 8 to 64 letters, digits")])
def test_options_that_do_not_go_together_are_named(lab, words, said):
    assert said in refused(lab, *words)


def test_a_switch_that_is_off_excludes_nothing(lab):
    assert "use either" not in lab.xdownload(
        "-c", "--set", "no-continue=no", "m", report=False).err


# ---- options of other programs ----

def test_what_means_one_thing_everywhere_is_taken(lab):
    data = lab.file("f.bin", SIZE)
    lab.path("in").mkdir()
    run = lab.xdownload("--silent", "--show-error", "--fail", "--globoff",
                        "--no-clobber", "--directory-prefix", "in",
                        "--output-document=out", "--tries", "3",
                        "--inet4-only", "--max-overall-download-limit=8MB/s",
                        "--max-concurrent-downloads=2",
                        lab.depot().url("f.bin"))
    assert run.rc == 0 and run.err == "", run.err
    assert lab.path("in/out").read_bytes() == data


@pytest.mark.parametrize("words, ours", [
    (["--dir", "nowhere"], "nowhere"), (["--private-key", "k.pem"], "needs --cert"),
    (["--max-connection-per-server", "99"], "invalid --threads-per-depot '99'"),
    (["--no-clobber=1"], "this option takes no value")])
def test_they_are_our_options_under_another_name(lab, words, ours):
    run = lab.xdownload(*words, "https://127.0.0.1:9/f", report=False)
    assert run.rc != 0 and ours in run.err


@pytest.mark.parametrize("words, advice", [
    (["-O"], "unknown option -O: use -o FILE"),
    (["-s"], "unknown option -s: use -q"), (["-L"], "redirects are followed"),
    (["-x", "16"], "-x is the proxy: use -t N"),
    (["-P", "folder"], "use -d DIR"), (["-P", "/tmp"], "use -d DIR"),
    (["--split=5"], "unknown option --split: use -t N"),
    (["--timeout", "5"], "use --silence TIME"),
    (["--http-user=me"], "use --user NAME:PASSWORD"),
    (["-nc"], "unknown option -nc: leave it out: no file is replaced"),
    (["-q", "-nv"], "unknown option -nv: use -q"),
    (["-I"], "use xdownload show URL"), (["-X", "GET"], "asked for with GET"),
    (["-r"], "no links of a page are followed"),
    (["-m"], "no links of a page are followed"),
    (["--recursive"], "no links of a page are followed"),
    (["-b", "a=b"], "use --header 'Cookie: NAME=VALUE'"),
    (["-t", "60"], "-t is the number of connections to each depot"),
    (["-i"], "-i takes the name of a list"),
    (["--speed-limit", "1"], "a slow depot gives its bytes to others")])
def test_where_programs_differ_a_sentence_names_our_option(lab, words, advice):
    said = refused(lab, *words, "http://127.0.0.1:9/f")
    assert advice in said
    assert len(said.splitlines()) == 2


@pytest.mark.parametrize("words", [
    ["-a", "progress", "-P", "3"], ["-a", "progress", "-P", "auto"],
    ["-x", "127.0.0.1:3128"]])
def test_numbers_and_proxies_are_still_taken(lab, words):
    run = lab.xdownload("--dry-run", *words, "http://127.0.0.1:9/f",
                        report=False)
    assert run.rc == 0, run.err


# ---- quantities ----

def value(lab, name, *words):
    """What is in force, where --dry-run prints it; else ""."""
    run = lab.xdownload("--dry-run", *words, "http://127.0.0.1:9/f",
                        report=False)
    assert run.rc == 0, run.err
    lines = (line.split() for line in run.out.decode().splitlines())
    return next((line[1] for line in lines if line[0] == name), "")


@pytest.mark.parametrize("option, good, bad", [
    ("limit-rate", ["1MB/s", "1m", "8Mbit/s", "500k/s"], ["5q", "1Mb/s"]),
    ("block-size", ["1MB", "64k", "1MiB"], ["5q", "1MB/s"]),
    ("max-time", ["1d", "5sec", "2hours", "5"], ["5q", "1D"]),
    ("lookahead", ["2m", "20MB"], ["5q", "2h", "0.5s"])])
def test_units_are_forgiven_and_nonsense_is_not(lab, option, good, bad):
    for word in good:
        assert value(lab, option, f"--{option}", word) in (word, "")
    for word in bad:
        said = refused(lab, f"--{option}", word, "http://127.0.0.1:9/f")
        assert f"invalid --{option} '{word}': use " in said


@pytest.mark.parametrize("word", ["1s", "20sec", "5min", "1h", "2m", "64k"])
def test_a_lookahead_is_a_size_or_a_time(lab, word):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("play", "--simulate", "--rate", "40MB/s", "--prebuffer",
                        "0", "--lookahead", word,
                        lab.exnode("f.bin", lab.depots(1)), report=False)
    assert run.rc == 0, run.err


def test_1mb_is_a_million_bytes_and_1m_is_2_to_the_20(lab):
    lab.file("f.bin", SIZE)
    for word, size in [("1MB", 10**6), ("1m", 2**20), ("1MiB", 2**20)]:
        run = lab.xdownload("--force", "-b", word, lab.exnode(
            "f.bin", lab.depots(1)))
        assert run.report["block_size"] == size


# ---- a checksum without its type ----

@pytest.mark.parametrize("name", ["md5", "sha1", "sha224", "sha256", "sha512"])
def test_the_number_of_digits_tells_the_type(lab, name):
    data = lab.file("f.bin", SIZE)
    digits = hashlib.new(name, data).hexdigest()
    run = lab.xdownload("--checksum", digits, lab.depot().url("f.bin"))
    assert run.rc == 0, run.err
    assert run.report["verified"].replace("-", "") == name
    wrong = ("1" if digits[0] == "0" else "0") + digits[1:]
    run = lab.xdownload("--force", "--checksum", wrong.upper(),
                        lab.depot().url("f.bin"))
    assert run.rc == 4, run.err


def test_other_digits_are_the_name_of_a_file(lab):
    run = lab.xdownload("--checksum", "abcdef", "http://127.0.0.1:9/f",
                        report=False)
    assert run.rc == 5 and "abcdef" in run.err


# ---- the config file ----

def config(lab, text, where=".config"):
    folder = lab.path(f"home/{where}/xdownload")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config").write_text(text)
    lab.environment["HOME"] = str(lab.path("home"))
    return folder / "config"


def test_a_config_file_sets_what_the_command_line_does_not(lab):
    path = config(lab, "# mine\n\nretry = 7\n--silence 3s\n"
                  "  limit-rate=1MB/s  \nno-depot-cache\r\n")
    for name, word in [("retry", "7"), ("silence", "3s"),
                       ("limit-rate", "1MB/s")]:
        assert value(lab, name) == word
        assert value(lab, name, "--no-config") != word
    assert value(lab, "retry", "--retry", "9") == "9"
    assert value(lab, "silence", "--retry", "9") == "3s"
    said = lab.xdownload("-v", "--dry-run", "http://127.0.0.1:9/f",
                         report=False).err
    assert said == (f"xdownload: {path} sets retry=7 silence=3s "
                    "limit-rate=1MB/s no-depot-cache\n")


def test_the_folder_of_config_files_may_be_another(lab):
    config(lab, "retry 7\n")
    path = config(lab, "retry 8\n", where="other")
    lab.environment["XDG_CONFIG_HOME"] = str(path.parent.parent)
    assert value(lab, "retry") == "8"
    lab.environment["XDG_CONFIG_HOME"] = "relative"
    assert value(lab, "retry") == "7"


def run_as_another(home):
    """The command with this home folder, as a user whom modes bind."""
    try:
        return subprocess.run(
            [XDOWNLOAD, "show", "http://127.0.0.1:9/f"], cwd="/", text=True,
            env={"HOME": str(home)}, capture_output=True, timeout=PATIENCE,
            **{"user": 65534, "group": 65534} if os.geteuid() == 0 else {})
    except PermissionError:
        pytest.skip("another user cannot run the command")


@pytest.mark.parametrize("closed, status, said", [
    ("", 1, "127.0.0.1"), (".config", 1, "127.0.0.1"),
    (".config/xdownload", 1, "127.0.0.1"),
    (".config/xdownload/config", 5, "config cannot be read: Permission denied")])
def test_a_config_file_is_read_unless_its_folder_cannot_be_searched(
        closed, status, said):
    """A service may have the home folder of another user."""
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        path = Path(home, ".config/xdownload/config")
        path.parent.mkdir(parents=True)
        path.write_text("retyr 3\n")
        assert run_as_another(home).returncode == 2
        mode = Path(home, closed).stat().st_mode
        Path(home, closed).chmod(0)
        run = run_as_another(home)
        Path(home, closed).chmod(mode)
    assert run.returncode == status, run
    assert said in run.stderr and "Success" not in run.stderr


@pytest.mark.parametrize("line, why", [
    ("output f", "not allowed in a config file"),
    ("directory /tmp", "not allowed"), ("force", "not allowed"),
    ("user me:secret", "not allowed"), ("netrc", "not allowed"),
    ("header X: y", "not allowed"), ("insecure", "not allowed"),
    ("accept-html", "not allowed"), ("no-final-check", "not allowed"),
    ("allow-private-redirs", "not allowed"), ("report r.json", "not allowed"),
    ("set insecure=yes", "not allowed"),
    ("proxy http://me:secret@proxy.example", "not allowed"),
    ("retyr 3", "there is no such option: did you mean retry?"), ("q", "there is no such option"),
    ("retry", "needs a value"), ("retry =", "needs a value"),
    ("quiet yes", "takes no value"), ("retry many", "invalid --retry 'many'")])
def test_what_a_config_file_may_not_set_ends_the_run(lab, line, why):
    path = config(lab, f"silence 3s\n{line}\n")
    run = lab.xdownload("http://127.0.0.1:9/f", report=False)
    assert run.rc == 2 and why in run.err
    assert f"line 2 of {path}" in run.err or f"{path}, line 2: " in run.err
    assert "secret" not in run.err


def test_the_command_line_overrides_also_in_other_words(lab):
    config(lab, "ipv4\nquiet\nno-depot-cache\nprogress none\n")
    run = lab.xdownload("-6", "-v", "--depot-cache", "c", "--progress", "plain",
                        "--dry-run", "http://127.0.0.1:9/f", report=False)
    assert run.rc == 0 and run.err == "", run.err
    assert run.out.decode().startswith("f\n")


def test_measurements_read_no_config_file(lab):
    config(lab, "nonsense\n")
    data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(1))
    for words in (["play", "--simulate", "--rate", "40MB/s", "--prebuffer",
                   "0s", manifest],
                  ["bench", "-a", "basic", "-b", "64k", "-t", "1", "--repeat",
                   "1", "-o", "r.csv", manifest]):
        run = lab.xdownload(*words, report=False)
        assert run.rc == 0, run.err
    assert lab.xdownload(manifest).rc == 2
    assert lab.xdownload("--no-config", manifest).rc == 0
    assert lab.read("f.bin") == data


def test_a_config_file_that_cannot_be_read_is_said(lab):
    path = config(lab, "")
    run = lab.xdownload("--dry-run", "http://127.0.0.1:9/f", report=False)
    assert run.rc == 0 and run.err == ""
    path.unlink()
    path.mkdir()
    run = lab.xdownload("--dry-run", "http://127.0.0.1:9/f", report=False)
    assert run.rc == 5 and f"{path} cannot be read: " in run.err


# ---- mistakes: what happened, to which thing, and what to do ----

def failed(lab, rc, *words):
    run = lab.xdownload(*words, "--retry", 1, "--patience", "0s", report=False)
    assert run.rc == rc, run.err
    return run.err


@pytest.mark.parametrize("status, advice", [
    (401, "--user NAME:PASSWORD"), (403, "--referer"), (404, "check the URL"),
    (410, "check the URL"), (429, "try again later"), (503, "is busy"),
    (500, "has failed: try again later")])
def test_what_a_server_refuses_has_its_advice(lab, status, advice):
    depot = lab.odd(lambda head: b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n"
                    % status)
    err = failed(lab, 1, depot.url("f.bin"))
    assert f"{depot.url('f.bin')}: answered {status}" in err and advice in err


def test_of_many_copies_none_has_advice_of_its_own(lab):
    depots = [lab.odd(lambda head: b"HTTP/1.1 404 No\r\n\r\n")
              for i in range(2)]
    err = failed(lab, 1, *(d.url("f.bin") for d in depots))
    assert err.count("answered 404") == 2 and "check the URL" not in err


@pytest.mark.parametrize("word, rc, advice", [
    ("example.org/f.iso", 5, "if this is a URL, write https:// before it"),
    ("f.meta4", 5, "no such file; a URL begins with https://"),
    ("~/f.meta4", 5, "does not replace ~ by your home folder"),
    ("magnet:?xt=urn:btih:0", 5, "BitTorrent is not supported"),
    ("x.torrent", 3, "BitTorrent is not supported"),
    ("folder", 5, "this is a folder"),
    ("page.html", 3, "an HTML page, not a manifest: fetch that which it"),
    ("words.txt", 3, "a manifest is a Metalink, an exNode or a list of URLs"),
    ("binary", 3, "this is not UTF-8 text, as every manifest is"),
    ("http://", 1, "http://: the URL has no host"),
    ("http://:80/x", 1, "the URL has no host"),
    ("http://::1/x", 1, "write an IPv6 address in brackets"),
    ("http://127.0.0.1:99999/x", 1, "a port as a number from 1 to 65535"),
    ("http://127.0.0.1:1/x", 1, "no server listens there: check the host"),
    ("http://no.such.invalid/x", 1, "check the name, and whether this"),
    ("https://PLAIN/x", 1, "does not speak TLS there: use http://"),
    ("htp://a.example/x", 2, "only URLs with http, https, ftp and ftps")])
def test_an_input_that_is_none_is_told_what_it_may_have_been(
        lab, word, rc, advice):
    lab.path("folder").mkdir()
    lab.path("x.torrent").write_bytes(b"d8:announce3:abc\0e")
    lab.path("binary").write_bytes(b"\x7fELF\0\0")
    lab.write("page.html", "<html><body>Not found</body></html>")
    lab.write("words.txt", "no URL here\n")
    word = word.replace("PLAIN", lab.depot().host)
    assert advice in failed(lab, rc, word)


@pytest.mark.parametrize("words, rc, advice", [
    (["-o", "none/f.bin"], 5, "there is no folder none: make it first"),
    (["-d", "none"], 5, "there is no folder none: make it first"),
    (["-d", "file"], 5, "file is not a folder"),
    (["-o", "folder"], 5, "--directory puts files into it"),
    (["--checksum", "abc"], 5, "this is no checksum (HEX or TYPE=HEX"),
    (["--checksum", "crc32=00000000"], 5, "with TYPE md5, sha-1"),
    (["-R", "http://a.example/"], 2, "use --remote-time"),
    (["-J"], 2, "use --content-disposition")])
def test_where_the_file_cannot_go_or_be_checked_is_said(
        lab, words, rc, advice):
    lab.path("folder").mkdir()
    lab.write("file", "")
    lab.file("f.bin", SIZE)
    assert advice in failed(lab, rc, *words, lab.depot().url("f.bin"))


def test_a_url_that_names_no_file_may_be_named_otherwise(lab):
    depot = lab.odd(lambda head: b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                    b"Content-Disposition: attachment; filename=a.bin\r\n\r\na")
    err = failed(lab, 2, depot.url(""))
    assert "give -o FILE" in err and "--content-disposition" in err
    assert lab.xdownload(depot.url(""), "--remote-header-name").rc == 0
    assert lab.read("a.bin") == b"a"


def test_other_machines_are_let_in_with_a_secret_alone(lab):
    assert "other machines can reach 0.0.0.0: give --token WORD" in refused(
        lab, "serve", "m.xnd", "--listen", "0.0.0.0")
