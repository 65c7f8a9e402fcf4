# SPDX-License-Identifier: MIT
"""A simulated player, and what it tells of its stalls."""
import json
import re

import pytest

SIZE = 2_000_000


def play(lab, manifest, *options):
    run = lab.xdownload("play", "--simulate", "--json", *options, manifest,
                        report=False)
    assert run.rc == 0, run.err
    return json.loads(run.out)


def test_what_comes_faster_than_it_is_shown_does_not_stall(lab):
    lab.file("f.bin", SIZE)
    told = play(lab, lab.exnode("f.bin", lab.depots(2)), "--rate", "2MB/s",
                "--prebuffer", "500ms")
    assert told["stall_count"] == 0 and told["stall_time_s"] == 0
    assert told["played_s"] == pytest.approx(1, abs=0.5)
    assert told["startup_time_s"] >= 0.4
    assert not (lab.folder / "f.bin.part").exists()


def test_what_comes_slower_than_it_is_shown_stalls_as_long_as_it_must(lab):
    lab.file("f.bin", SIZE)
    told = play(lab, lab.exnode("f.bin", [lab.depot(rate=1_000_000)]),
                "--rate", "4MB/s", "--prebuffer", "200ms", "-b", "64k")
    assert told["stall_count"] > 0
    assert told["stall_time_s"] > 0.8  # two seconds for half a second of play
    assert told["stall_time_s"] == pytest.approx(told["stall_min_s"], abs=0.3)
    assert told["stall_blocks_s"] >= told["stall_min_s"]
    assert sum(s for _, s in told["stall_list"]) == pytest.approx(
        told["stall_time_s"], abs=0.01)
    assert told["p1203_o23"] < 3


def test_people_are_told_in_words(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("play", "--simulate", "--rate", "40Mbit/s",
                        "--prebuffer", "100ms",
                        lab.exnode("f.bin", lab.depots(1)), report=False)
    assert run.rc == 0, run.err
    assert re.match(rb"f\.bin: played [\d.]+ s, started after ", run.out)
    assert b"stalls: " in run.out


def test_what_is_kept_is_the_file(lab):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload("play", "--simulate", "--rate", "40MB/s",
                        "--prebuffer", "0s", "--keep", "kept.bin",
                        lab.exnode("f.bin", lab.depots(2)), report=False)
    if run.rc != 0:  # they were played before it was known
        assert run.rc == 4 and "what was read from byte" in run.err, run.err
    assert lab.read("kept.bin") == data


def test_a_player_without_depots_fails(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("play", "--simulate", "--rate", "1MB/s",
                        "--prebuffer", "0s", "--patience", "0s", "--retry", "1",
                        lab.exnode("f.bin", [lab.dead()]), report=False)
    assert run.rc == 1
    assert "no depot is left" in run.err


@pytest.mark.parametrize("rate", ["15", "15Mbit", "2mb/s", "-3MB/s", "0B/s", "x"])
def test_a_rate_needs_its_unit(lab, rate):
    run = lab.xdownload("play", "--simulate", "--rate", rate, "f.xnd",
                        report=False)
    assert run.rc == 2
    assert f"invalid --rate '{rate}': use a number and a unit" in run.err


@pytest.mark.parametrize("words", [
    ["play", "--simulate", "f.xnd"],
    ["--rate", "2MB/s", "f.xnd"], ["--keep", "x", "f.xnd"],
    ["play", "--simulate", "--rate", "2MB/s", "--prebuffer", "5q", "f.xnd"]])
def test_what_does_not_go_together_is_refused(lab, words):
    assert lab.xdownload(*words, report=False).rc == 2


def test_bytes_of_a_liar_are_not_kept(lab):
    data = lab.file("f.bin", SIZE)
    liar = lab.depot(files={"f.bin": bytes(SIZE)})
    manifest = lab.metalink("f.bin", [liar, lab.depot()])
    run = lab.xdownload("play", "--simulate", "--rate", "40MB/s",
                        "--prebuffer", "0s", "--keep", "kept.bin", manifest,
                        report=False)
    if run.rc != 0:  # they were played before it was known
        assert run.rc == 4 and "what was read from byte" in run.err, run.err
    assert lab.read("kept.bin") == data
