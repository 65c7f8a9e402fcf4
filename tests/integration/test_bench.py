# SPDX-License-Identifier: MIT
"""Sweeps: what they consist of, what they write, and how they go on."""
import csv
import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from lab import wait_until

SCENARIO = """# Three depots, the last of them slow.
client rate=50mbit queue=256k
depot near 198.18.1.1 rate=20mbit rtt=10ms queue=128k
depot mid  198.18.1.2 rate=10mbit rtt=40ms queue=128k
depot far  198.18.1.3 rate=1mbit  rtt=90ms queue=64k
at 100ms far rate=900kbit
"""

# A sweep of few and short runs.
SMALL = ["--size", "1m", "--repeat", "2", "-b", "256k"]


@pytest.fixture
def scenario(lab):
    return lab.write("net.scn", SCENARIO)


def bench(lab, *args, rc=0, **options):
    run = lab.xdownload("bench", *args, report=False, **options)
    assert run.rc == rc, run.err
    return run


def rows(lab, name="r.csv"):
    text = lab.read(name).decode()
    assert text.endswith("\n")
    return list(csv.DictReader(text.splitlines()))


def settings(row):
    return (row["algorithm"], row["redundancy"], row["progress_number"],
            row["block_bytes"], row["threads"], row["depots"],
            row["repetition"])


# ---- what a sweep consists of ----

def test_a_sweep_is_every_combination_that_its_algorithms_use(lab, scenario):
    bench(lab, "--virtual", scenario, "--size", "1m", "--repeat", "2",
          "-a", "basic,aggressive,progress", "-R", "2,3", "-P", "3,9",
          "-b", "128k,256k", "-t", "1,2", "--depots", "E2,3+1", "-o", "r.csv")
    found = rows(lab)
    expected = {(a, r, p, b, t, d, n)
                for a, rs, ps in [("basic", [""], [""]),
                                  ("aggressive", ["2", "3"], [""]),
                                  ("progress", ["2", "3"], ["3", "9"])]
                for r in rs for p in ps for b in ["131072", "262144"]
                for t in "12" for d in ["E2", "1+3"] for n in "12"}
    assert len(found) == len(expected) == 7 * 2 * 2 * 2 * 2
    assert {settings(row) for row in found} == expected


@pytest.mark.parametrize("which, expected", [
    ("chain", ["E1", "E2", "E3"]),
    ("E2-E3", ["E2", "E3"]),
    ("drop-one", ["E3", "2+3", "1+3", "E2"]),
    ("subsets", ["E1", "E2", "E3", "2", "3", "1+3", "2+3"]),
    ("all", ["E3"]),
    ("1+2,E2,2+1", ["E2"]),
])
def test_depots_are_chosen_by_words(lab, scenario, which, expected):
    bench(lab, "--virtual", scenario, *SMALL, "-a", "basic", "-t", "1",
          "--repeat", "1", "--depots", which, "-o", "r.csv")
    found = rows(lab)
    assert sorted(row["depots"] for row in found) == sorted(expected)
    for row in found:
        assert len(row["depot_names"].split()) == int(row["n_depots"])


def test_a_run_uses_no_other_depots(lab, scenario):
    bench(lab, "--virtual", scenario, *SMALL, "-a", "basic", "-t", "1",
          "--depots", "1+3", "-o", "r.csv")
    for row in rows(lab):
        assert row["depot_names"] == "near far"
        assert sum(map(int, row["depot_bytes"].split())) == 1 << 20


def test_the_seed_decides_the_order_and_the_results(lab, scenario):
    def sweep(seed, name):
        bench(lab, "--virtual", scenario, *SMALL, "--seed", seed, "-o", name)
        return {settings(r): r["seconds"] for r in rows(lab, name)}
    assert sweep("7", "a.csv") == sweep("7", "b.csv")


def test_runs_that_can_only_end_alike_are_as_those_done_alone(lab, scenario):
    """A run stands for others; their rows say what they say of themselves."""
    def sweep(name, *options):
        bench(lab, "--virtual", scenario, *SMALL, "--depots", "chain,3",
              "--rate", "1MB/s", *options, "-o", name)
        return {settings(row): {k: v for k, v in row.items()
                                if k != "time_utc"}
                for row in rows(lab, name)}

    together = sweep("all.csv", "-R", "2,3", "-P", "1,3")
    alone = sweep("basic.csv", "-a", "basic,adaptive")
    for r in "23":
        alone |= sweep(f"a{r}.csv", "-a", "aggressive", "-R", r)
        for p in "13":
            alone |= sweep(f"p{r}{p}.csv", "-a", "progress", "-R", r, "-P", p)
    assert together == alone
    assert len({row["seconds"] for row in together.values()}) > 20


# ---- results ----

MEASURES = ["seconds", "bytes_per_s", "limit_s", "first_byte_s",
            "bytes_received", "bytes_duplicate", "requests", "failures"]


def test_a_row_holds_every_setting_measure_and_provenance(lab, scenario):
    bench(lab, "--virtual", scenario, *SMALL, "-a", "progress", "-t", "1",
          "--silence", "7s", "-o", "r.csv")
    for row in rows(lab):
        assert None not in row and None not in row.values()
        assert row["outcome"] == "complete" and row["error"] == ""
        assert all(float(row[name]) >= 0 for name in MEASURES)
        assert float(row["bytes_per_s"]) == pytest.approx(
            (1 << 20) / float(row["seconds"]), rel=1e-4)
        assert re.fullmatch(r"[0-9a-f]{64}", row["input_sha256"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
                            row["time_utc"])
        assert row["version"] and row["libcurl"] and row["kernel"]
        assert row["congestion_control"] == "cubic"
        assert row["options"] == "size=1048576 silence=7s"


def test_json_says_the_same_as_csv(lab, scenario):
    for options in (["-o", "r.csv"], ["--json", "-o", "r.json"]):
        bench(lab, "--virtual", scenario, *SMALL, *options)
    as_json = [json.loads(line) for line in
               lab.read("r.json").decode().splitlines()]
    assert len(as_json) == len(rows(lab))

    def comparable(row):
        return {k: str(v) for k, v in row.items()
                if v not in ("", None) and k not in (
                    "time_utc", "seconds", "first_byte_s", "bytes_per_s",
                    "limit_s")}
    assert sorted(map(str, map(comparable, as_json))) == \
        sorted(map(str, map(comparable, rows(lab))))
    assert list(as_json[0]) == list(rows(lab)[0])


def test_without_a_file_rows_are_printed(lab, scenario):
    run = bench(lab, "--virtual", scenario, *SMALL, "-a", "basic", "-t", "1")
    assert len(list(csv.DictReader(run.out.decode().splitlines()))) == 2


def test_columns_are_those_of_the_manual(lab, scenario):
    bench(lab, "--virtual", scenario, *SMALL, "-a", "basic", "-t", "1",
          "-o", "r.csv")
    page = Path(os.environ["XD_SOURCE"], "cli",
                "xdownload-bench.pod").read_text()
    part = page.partition("=head2 Results")[2].partition("=head2")[0]
    items = re.findall(r"(?m)^=item (.*)$", part)
    told = re.findall(r"B<(\w+)>", " ".join(items))
    assert sorted(told) == sorted(rows(lab)[0])


def delays(row):
    return [float(row[f"delay{i}_s"]) for i in (1, 2, 3)]


def test_delays_of_players_are_computed_for_each_rate(lab, scenario):
    bench(lab, "--virtual", scenario, "--size", "4m", "--repeat", "1",
          "--depots", "all", "-b", "256k", "--prebuffer", "100ms",
          "--rate", "10kB/s,1MB/s,100MB/s", "-o", "r.csv")
    for row in rows(lab):
        none, some, all_of_it = delays(row)
        assert none <= some < all_of_it
        assert all_of_it == pytest.approx(
            float(row["seconds"]) - 0.1 - 4.2e6 / 1e8, abs=0.1)


def test_whole_blocks_are_of_the_algorithms_that_copy_them(lab, scenario):
    bench(lab, "--virtual", scenario, *SMALL, "--whole-blocks", "-t", "1",
          "-o", "r.csv")
    assert {(r["algorithm"], r["whole_blocks"]) for r in rows(lab)} == {
        ("basic", "0"), ("adaptive", "0"), ("aggressive", "1"),
        ("progress", "1")}


# ---- going on ----

def test_a_second_call_does_what_is_missing(lab, scenario):
    command = ["--virtual", scenario, *SMALL, "-o", "r.csv"]
    bench(lab, *command, "-t", "1")
    before = lab.read("r.csv")
    run = bench(lab, *command, "-t", "1,2")
    assert lab.read("r.csv").startswith(before)
    assert f"{len(before.splitlines()) - 1} runs have been done" in run.err
    keys = [settings(row) for row in rows(lab)]
    assert len(keys) == len(set(keys)) == 2 * (len(before.splitlines()) - 1)
    whole = lab.read("r.csv")
    bench(lab, *command, "-t", "1,2")
    assert lab.read("r.csv") == whole


def test_another_setting_or_scenario_is_another_run(lab, scenario):
    command = [*SMALL, "-a", "basic", "-t", "1", "-o", "r.csv"]
    other = lab.write("other.scn", SCENARIO.replace("20mbit", "30mbit"))
    bench(lab, "--virtual", scenario, *command)
    bench(lab, "--virtual", scenario, *command, "--retry", "7")
    bench(lab, "--virtual", scenario, *command, "--size", "2m")
    bench(lab, "--virtual", other, *command)
    assert len(rows(lab)) == 8


@pytest.mark.parametrize("options, name", [([], "r.csv"),
                                           (["--json"], "r.json")])
def test_a_last_line_that_is_torn_is_done_again(lab, scenario, options, name):
    command = ["--virtual", scenario, *SMALL, *options, "-o", name]
    bench(lab, *command)
    whole = lab.read(name)
    for cut in (1, 20, len(whole.splitlines()[-1])):
        lab.path(name).write_bytes(whole[:-cut])
        run = bench(lab, *command)
        assert "is incomplete" in run.err
        now = lab.read(name)
        assert now.count(b"\n") == whole.count(b"\n")
        kept = whole[:-cut].rpartition(b"\n")[0]
        assert now.startswith(kept + b"\n")


@pytest.mark.parametrize("text", [
    b"a,b,c\n1,2,3\n", b"holiday pictures\n", b"{\"x\": 1}\n", b"\0\n",
    b"format,kind\n"])
def test_what_holds_no_results_is_left_as_it_is(lab, scenario, text):
    lab.path("r.csv").write_bytes(text)
    run = bench(lab, "--virtual", scenario, *SMALL, "-o", "r.csv", rc=5)
    assert "r.csv holds no results of this version" in run.err
    assert lab.read("r.csv") == text


def test_a_damaged_row_is_named_and_nothing_is_written(lab, scenario):
    command = ["--virtual", scenario, *SMALL, "-o", "r.csv"]
    bench(lab, *command)
    lines = lab.read("r.csv").split(b"\n")
    lines[2] = lines[2].replace(b"virtual", b"vir\"tual")
    lab.path("r.csv").write_bytes(b"\n".join(lines))
    run = bench(lab, *command, rc=5)
    assert "line 3 is no result" in run.err
    assert lab.read("r.csv") == b"\n".join(lines)


def test_csv_and_json_are_not_mixed(lab, scenario):
    command = ["--virtual", scenario, *SMALL, "-o", "r.csv"]
    bench(lab, *command)
    before = lab.read("r.csv")
    assert "holds results as CSV" in bench(lab, *command, "--json", rc=2).err
    assert lab.read("r.csv") == before


def test_results_that_another_bench_writes_are_refused(lab, scenario):
    command = ["--virtual", scenario, "--size", "1m", "-o", "r.csv"]
    bench(lab, *command, "--repeat", "2")
    first = lab.start("bench", *command, "--repeat", "3000", report=False)
    written = len(lab.read("r.csv"))
    wait_until(lambda: len(lab.read("r.csv")) > written, "a run is added")
    run = bench(lab, *command, "--repeat", "2", rc=5)
    assert "r.csv is being written by another xdownload bench" in run.err
    first.popen.terminate()
    first.wait()


def test_a_folder_that_is_not_there_is_status_5(lab, scenario):
    run = bench(lab, "--virtual", scenario, *SMALL, "-o", "no/r.csv", rc=5)
    assert "no/r.csv cannot be written: No such file" in run.err


def test_results_of_another_format_are_left_as_they_are(lab, scenario):
    command = ["--virtual", scenario, *SMALL, "-o", "r.csv"]
    bench(lab, *command)
    other = re.sub(rb"(?m)^1,", b"2,", lab.read("r.csv"))
    lab.path("r.csv").write_bytes(other)
    assert "r.csv" in bench(lab, *command, rc=5).err
    assert lab.read("r.csv") == other


UNWRITABLE = [("taken/r.csv", "Not a directory")]
if os.geteuid() != 0:  # root may write everywhere
    UNWRITABLE.append(("closed/r.csv", "Permission denied"))


@pytest.mark.parametrize("where, words", UNWRITABLE)
def test_a_folder_that_cannot_be_written_is_status_5(lab, scenario, where,
                                                     words):
    lab.write("taken", "")
    lab.path("closed").mkdir(mode=0o555)
    run = bench(lab, "--virtual", scenario, *SMALL, "-o", where, rc=5)
    assert f"{where} cannot be written: {words}" in run.err


# ---- sweeps that make no sense ----

@pytest.mark.parametrize("options, words", [
    (["-a", "basic", "-P", "3"], "--progress-number is used by none"),
    (["-a", "adaptive,basic", "-R", "2"], "--redundancy is used by none"),
    (["-a", ""], "invalid --algorithm '': use adaptive"),
    (["-a", "basic,,progress"], "invalid --algorithm '': use adaptive"),
    (["-a", "basic,basic"], "basic is given twice"),
    (["-b", "1m,5q"], "invalid --block-size '5q': use 4k to 1g, such as 2m"),
    (["--depots", "E4"], "'E4' is no choice of 3 depots"),
    (["--depots", "E3-E1"], "'E3-E1' is no choice"),
    (["--depots", "0+1"], "'0+1' is no choice"),
    (["--depots", ""], "--depots needs a value"),
    (["--repeat", "0"], "--repeat takes a number from 1"),
    (["--rate", "5"], "invalid --rate '5': use a number and a unit"),
    (["--rate", "1MB/s,2MB/s,3MB/s,4MB/s"], "at most 3 rates"),
    (["--stalls"], "--stalls needs --rate"),
    (["--prebuffer", "2s"], "--prebuffer needs --rate"),
    (["--size", "0"], "invalid --size '0': use a number"),
    (["--byte-budget", "many"], "invalid --byte-budget 'many'"),
    (["--time-budget", "soon"], "invalid --time-budget 'soon'"),
    (["manifest.xnd"], "--virtual needs no manifest"),
    (["--byte-budget", "1g"], "--byte-budget is for downloads"),
])
def test_a_sweep_that_makes_no_sense_is_refused(lab, scenario, options, words):
    run = bench(lab, "--virtual", scenario, *options, "-o", "r.csv", rc=2)
    assert words in run.err
    assert not lab.path("r.csv").exists()


@pytest.mark.parametrize("args, words, rc", [
    ([], "bench needs a manifest", 2),
    (["--virtual", "nosuchnet"], "no scenario is called nosuchnet", 5),
    (["--virtual", "./nosuchnet"], "cannot be read: No such file", 5),
    (["--virtual", ""], "--virtual needs a value", 2),
    (["--size", "1m", "x.xnd"], "--size is for --virtual", 2),
])
def test_what_is_to_be_measured_must_be_there(lab, args, words, rc):
    assert words in bench(lab, *args, rc=rc).err


def test_a_scenario_that_is_wrong_is_told_with_its_line(lab):
    path = lab.write("bad.scn", "client rate=1mbit\ndepot a\n")
    assert "line 2" in bench(lab, "--virtual", path, rc=2).err


def test_a_dry_run_says_the_cost_and_writes_nothing(lab, scenario):
    run = bench(lab, "--virtual", scenario, *SMALL, "-o", "r.csv",
                "--dry-run")
    assert re.search(r"\d+ runs in virtual time", run.err)
    assert not lab.path("r.csv").exists()


def test_a_scenario_is_found_from_where_the_command_is(lab):
    bench(lab, "--virtual", "paper-tennessee-run", *SMALL, "-a", "basic", "-t",
          "1", "-o", "r.csv")
    assert {row["input"] for row in rows(lab)} == {"paper-tennessee-run"}
    run = bench(lab, "--virtual", "nosuchnet", rc=5)
    folder = re.search(r"one of those in (\S+)$", run.err, re.M)[1]
    assert "paper-tennessee-run" in os.listdir(folder)


def test_a_time_budget_ends_a_sweep_in_virtual_time(lab, scenario):
    command = ["--virtual", scenario, *SMALL, "-o", "r.csv"]
    run = bench(lab, *command, "--time-budget", "0s")
    assert "the time budget is spent" in run.err
    assert "ended after 0 of" in run.err
    bench(lab, *command, "--time-budget", "1h")
    assert rows(lab)


# ---- live ----

LIVE = ["--repeat", "1", "--cool-down", "0s", "-b", "64k", "-t", "1"]
SIZE = 300_000


def test_a_live_sweep_discards_what_it_has_verified(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", lab.depots(3))
    run = bench(lab, manifest, *LIVE, "--depots", "E1,drop-one", "-o", "r.csv")
    assert re.search(r"20 runs, about \d+", run.err)
    found = rows(lab)
    assert len(found) == 4 * 5
    for row in found:
        assert row["outcome"] == "complete" and row["kind"] == "live"
        assert row["file_bytes"] == str(SIZE)
        assert sum(map(int, row["depot_bytes"].split())) == SIZE
        assert len(row["depot_names"].split()) == int(row["n_depots"])
        assert row["limit_s"] == ""
    assert {p.name for p in lab.work.iterdir()} == {
        "r.csv", manifest.rpartition("/")[2]}


def test_runs_begin_with_cold_connections(lab):
    lab.file("f.bin", SIZE)
    depots = lab.depots(1)
    bench(lab, lab.metalink("f.bin", depots), *LIVE, "-a", "basic",
          "--repeat", "3", "-o", "r.csv")
    connections = {entry["connection"] for entry in
                   depots[0].requests()}
    assert len(connections) == 3


def test_a_failed_run_is_recorded_as_failed(lab):
    lab.file("f.bin", SIZE)
    depots = [lab.depot(), lab.dead()]
    run = bench(lab, lab.metalink("f.bin", depots), *LIVE, "-a", "basic",
                "--retry", "1", "--patience", "0s", "--depots", "E1,2", "-o",
                "r.csv")
    by_depots = {row["depots"]: row for row in rows(lab)}
    assert by_depots["E1"]["outcome"] == "complete"
    failed = by_depots["2"]
    assert failed["outcome"] == "failed" and failed["error"]
    assert failed["seconds"] == failed["bytes_per_s"] == ""
    assert "1 of 2 runs failed" in run.err


def test_a_sweep_of_failures_is_status_1(lab):
    lab.file("f.bin", SIZE)
    bench(lab, lab.metalink("f.bin", [lab.dead()]), *LIVE, "-a", "basic",
          "--retry", "1", "--patience", "0s", "-o", "r.csv", rc=1)
    assert [row["outcome"] for row in rows(lab)] == ["failed"]


def test_more_than_a_gibibyte_needs_consent(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", lab.depots(1), size=600 << 20)
    command = [manifest, *LIVE, "-a", "basic", "--repeat", "2", "-o", "r.csv"]
    run = bench(lab, *command, rc=2)
    assert "about 1.2 GiB" in run.err and "--byte-budget" in run.err
    assert not lab.path("r.csv").exists()
    assert "about 1.2 GiB" in bench(lab, *command, "--dry-run").err
    run = bench(lab, *command, "--byte-budget", "1m")
    assert "would exceed the byte budget" in run.err
    assert "ended after 0 of 2 runs" in run.err


def test_a_byte_budget_ends_a_sweep_that_then_goes_on(lab):
    lab.file("f.bin", SIZE)
    command = [lab.metalink("f.bin", lab.depots(1)), *LIVE, "-a", "basic",
               "--repeat", "5", "-o", "r.csv"]
    for n in (2, 4, 5):
        bench(lab, *command, "--byte-budget", "700000")
        assert len(rows(lab)) == n
    keys = [settings(row) for row in rows(lab)]
    assert len(set(keys)) == 5


def test_a_size_that_the_manifest_lacks_is_asked_of_a_depot(lab):
    lab.file("f.bin", SIZE)
    path = lab.metalink("f.bin", lab.depots(2))
    text = re.sub("<size>.*</size>", "", lab.path(path).read_text())
    lab.path(path).write_text(text)
    run = bench(lab, path, *LIVE, "-a", "basic", "--repeat", "2", "-o",
                "r.csv")
    assert re.search(r"2 runs, about \d+", run.err)


def test_a_sweep_of_unknown_cost_needs_consent(lab):
    lab.file("f.bin", SIZE)
    path = lab.metalink("f.bin", [lab.dead()])
    text = re.sub("<size>.*</size>", "", lab.path(path).read_text())
    lab.path(path).write_text(text)
    command = [path, *LIVE, "-a", "basic", "--retry", "1", "--patience", "0s",
               "-o", "r.csv"]
    run = bench(lab, *command, rc=2)
    assert "no depot says how large the file is" in run.err
    assert not lab.path("r.csv").exists()
    bench(lab, *command, "--byte-budget", "1m", rc=1)
    assert len(rows(lab)) == 1


def test_runs_begin_after_the_cool_down(lab):
    lab.file("f.bin", SIZE)
    began = time.monotonic()
    bench(lab, lab.metalink("f.bin", lab.depots(1)), *LIVE, "-a", "basic",
          "--repeat", "3", "--cool-down", "400ms", "-o", "r.csv")
    assert time.monotonic() - began > 2 * 0.4


def test_a_run_begins_when_canceled_requests_are_off_the_wire(lab):
    """The slow depot is asked for the same block, and canceled while it has
    most of it to send."""
    lab.file("f.bin", SIZE)
    manifest = lab.metalink("f.bin", [lab.depot(rate=200_000),
                                      lab.depot(rate=20_000)])
    began = time.monotonic()
    bench(lab, manifest, "--repeat", "2", "-a", "aggressive", "-R", "2", "-b",
          "512k", "-t", "1", "--whole-blocks", "-o", "r.csv")
    took = time.monotonic() - began
    assert took - sum(float(row["seconds"]) for row in rows(lab)) > 1.2


def test_the_seed_decides_the_order_of_runs(lab):
    lab.file("f.bin", 1000)
    manifest = lab.metalink("f.bin", lab.depots(1))

    def order(seed, name):
        bench(lab, manifest, *LIVE, "-b", "16k,32k,64k", "--repeat", "2",
              "--seed", seed, "-o", name)
        return [settings(row) for row in rows(lab, name)]
    first = order("1", "a.csv")
    assert first == order("1", "b.csv")
    other = order("2", "c.csv")
    assert first != other and sorted(first) == sorted(other)


def test_a_time_budget_of_nothing_begins_no_run(lab):
    lab.file("f.bin", SIZE)
    run = bench(lab, lab.metalink("f.bin", lab.depots(1)), *LIVE,
                "--time-budget", "0s", "-o", "r.csv")
    assert "the time budget is spent" in run.err
    assert not lab.path("r.csv").exists()


@pytest.mark.parametrize("sig, rc", [(signal.SIGINT, 130),
                                     (signal.SIGKILL, -9)])
def test_what_was_ended_in_the_middle_goes_on(lab, sig, rc):
    lab.file("f.bin", SIZE)
    depot = lab.depot(rate=1_000_000)
    manifest = lab.metalink("f.bin", [depot])
    command = ["bench", manifest, *LIVE, "-a", "basic", "--repeat", "4",
               "-o", "r.csv"]
    process = lab.start(*command, report=False)
    wait_until(lambda: lab.path("r.csv").exists() and
               lab.read("r.csv").count(b"\n") > 1, "a run is done")
    process.send(sig)
    run = process.wait()
    assert run.rc == rc, run.err
    before = lab.read("r.csv")
    if sig == signal.SIGINT:
        assert re.search(r"interrupted after \d of 4 runs; the same", run.err)
    bench(lab, *command[1:])
    assert lab.read("r.csv").startswith(before)
    assert sorted(row["repetition"] for row in rows(lab)) == list("1234")
    assert all(row["outcome"] == "complete" for row in rows(lab))


def test_a_player_that_reads_has_a_row_of_its_own(lab):
    lab.file("f.bin", SIZE)
    bench(lab, lab.metalink("f.bin", lab.depots(2)), *LIVE, "-a", "adaptive",
          "--rate", "3MB/s", "--prebuffer", "100ms", "--stalls", "-o", "r.csv")
    bulk, played = sorted(rows(lab), key=lambda r: r["reader_bytes_per_s"])
    assert bulk["reader_bytes_per_s"] == "" and bulk["stalls"] == ""
    assert float(played["reader_bytes_per_s"]) == 3e6
    assert int(played["stalls"]) >= 0 and float(played["stall_s"]) >= 0


def test_a_manifest_of_several_files_needs_a_choice(lab):
    lab.file("a.bin", SIZE)
    lab.file("b.bin", SIZE)
    depots = lab.depots(1)
    manifest = lab.metalink_of([("a.bin", depots, None),
                                ("b.bin", depots, None)])
    assert "choose one with --file" in bench(lab, manifest, *LIVE, rc=2).err
    bench(lab, manifest, *LIVE, "-a", "basic", "--file", "b.bin", "-o",
          "r.csv")
    assert rows(lab)[0]["options"] == "file=b.bin"


def test_no_secret_reaches_the_results(lab):
    lab.file("f.bin", SIZE)
    bench(lab, lab.metalink("f.bin", lab.depots(1)), *LIVE, "-a", "basic",
          "--user", "me:sesame", "--oauth2-bearer", "opensesame", "-o",
          "r.csv")
    assert b"sesame" not in lab.read("r.csv")


# ---- what results show ----

@pytest.fixture
def results(lab, scenario):
    bench(lab, "--virtual", scenario, "--size", "1m", "--repeat", "2", "-b",
          "128k,256k", "--depots", "chain,drop-one", "--rate",
          "1MB/s,2Mbit/s", "-o", "r.csv")
    return "r.csv"


def test_a_summary_names_the_best_setting_and_each_depot(lab, results):
    out = bench(lab, "--summarize", results).out.decode()
    best = max((r for r in rows(lab)), key=lambda r: float(r["bytes_per_s"]))
    assert re.search(rf"(?m)^best: {best['algorithm']} ", out)
    for name in ("near", "mid", "far"):
        assert re.search(rf"(?m)^{name} +[\d.]+ %  [+-]\d+ %$", out), out
    lost = int(re.search(r"(?m)^near .*%  ([+-]\d+) %$", out)[1])
    assert lost > 20  # it has two thirds of the rate
    combinations = {tuple(settings(r)[:-1]) for r in rows(lab)}
    assert len(re.findall(r"(?m) b=\w+ t=\d \S+ +2  ", out)) == \
        len(combinations)


def test_a_summary_says_what_each_depot_is_worth_to_the_setting_named(
        lab, scenario):
    """Without the slow depot only basic is faster, and progress is best."""
    bench(lab, "--virtual", scenario, "--size", "4m", "--repeat", "3", "-a",
          "basic,progress", "-R", "2", "-P", "1", "-b", "1m", "-t", "1",
          "--depots", "drop-one", "-o", "r.csv")

    def median(algorithm, depots):
        return sorted(float(row["seconds"]) for row in rows(lab)
                      if row["algorithm"] == algorithm and
                      row["depots"] == depots)[1]

    def lost(algorithm, depots):
        return median(algorithm, depots) / median(algorithm, "E3") - 1

    out = bench(lab, "--summarize", "r.csv").out.decode()
    named = re.search(r"(?m)^depots in (\w+) .* E3:$", out)[1]
    assert median(named, "E3") == min(median("basic", "E3"),
                                      median("progress", "E3"))
    for name, without in [("near", "2+3"), ("mid", "1+3"), ("far", "E2")]:
        cost = int(re.search(rf"(?m)^{name} .*%  ([+-]\d+) %$", out)[1])
        assert cost == pytest.approx(100 * lost(named, without), abs=0.51)
    assert abs(lost("basic", "E2") - lost("progress", "E2")) > 0.2


def test_one_run_is_one_run(lab, scenario):
    run = bench(lab, "--virtual", scenario, "--size", "64k", "--repeat", "1",
                "-a", "basic", "-b", "16k", "-t", "1", "-o", "r.csv")
    assert re.search(r"(?m) 1 run in virtual time", run.err)
    run = bench(lab, "--virtual", scenario, "--size", "64k", "--repeat", "1",
                "-a", "basic", "-b", "16k", "-t", "1", "-o", "r.csv")
    assert "1 run has been done before" in run.err
    assert "virtual, 1 run of" in bench(lab, "--summarize",
                                        "r.csv").out.decode()
    assert " 1 figure in " in bench(lab, "--plot", "figures", "r.csv").err


def test_a_summary_counts_a_run_once(lab, results):
    once = bench(lab, "--summarize", results)
    twice = bench(lab, "--summarize", results, results)
    assert twice.out == once.out and "do not count" in twice.err


def test_failed_runs_are_told_and_not_averaged(lab):
    lab.file("f.bin", SIZE)
    bench(lab, lab.metalink("f.bin", [lab.depot(), lab.dead()]), *LIVE, "-a",
          "basic", "--retry", "1", "--patience", "0s", "--depots", "E1,2",
          "-o", "r.csv")
    out = bench(lab, "--summarize", "r.csv").out.decode()
    assert re.search(r"basic .* 2 +1  none complete", out)
    assert "best: basic b=64.0K t=1 E1" in out


@pytest.mark.parametrize("how", [["--summarize"], ["--plot", "figures"]])
@pytest.mark.parametrize("text, words", [
    (None, "cannot be read: No such file"), (b"", "holds no results"),
    (b"x\n", "holds no results of this version"),
    (b"format,kind\n1,virtual\n", "holds no results of this version"),
    (b'{"format":1,"kind":[]}\n', "holds no results of this version"),
    (b'{"format":' + b"[" * 100_000 + b"\n", "holds no results of this version")])
def test_results_that_are_none_are_status_5(lab, how, text, words):
    if text is not None:
        lab.path("r.csv").write_bytes(text)
    assert words in bench(lab, *how, "r.csv", rc=5).err
    assert not lab.path("figures").exists()


@pytest.fixture
def gnuplot():
    if not shutil.which("gnuplot"):
        pytest.skip("gnuplot is not installed")


def test_figures_are_drawn_as_svg_and_png(lab, results, gnuplot):
    bench(lab, "--plot", "figures", results)
    made = {p.name for p in lab.path("figures").iterdir()}
    assert made == {f"net.scn-{what}.{kind}" for kind in ("svg", "png")
                    for what in ("bandwidth", "delay-7.629mbit",
                                 "delay-1.907mbit")}
    for path in lab.path("figures").iterdir():
        head = path.read_bytes()[:8]
        assert head == b"\x89PNG\r\n\x1a\n" or head.startswith(b"<?xml")
    svg = lab.path("figures/net.scn-bandwidth.svg").read_text()
    for text in ("depots that hold the file", "bandwidth in Mbit/s", "basic",
                 "aggressive", "progress", "adaptive", "2 threads, 256 KiB"):
        assert text in svg


HOSTILE = ["x'; system \"touch owned\"; '", "`touch owned`", "@owned",
           "../../owned", "$(touch owned)", "a\\nb", "\"|touch owned",
           "-", "..", "\u202egnp"]


@pytest.mark.parametrize("column, name", [
    *(("input", name) for name in HOSTILE),
    *((column, name) for name in HOSTILE[:3] for column in (
        "algorithm", "options", "depots", "progress_number", "depot_names"))])
def test_no_text_of_a_file_is_a_command(lab, scenario, gnuplot, column, name):
    bench(lab, "--virtual", scenario, "--size", "64k", "--repeat", "1", "-b",
          "16k", "-t", "1", "--rate", "1MB/s", "-P", "1,2", "-o", "r.csv")
    hostile = rows(lab)
    for row in hostile:
        row[column] = name
    with open(lab.path("r.csv"), "w", newline="",
              encoding="utf-8") as f:
        out = csv.DictWriter(f, list(hostile[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(hostile)
    bench(lab, "--plot", "figures", "r.csv")
    bench(lab, "--summarize", "r.csv")
    assert {p.name for p in lab.work.iterdir()} == {"net.scn", "r.csv",
                                                    "figures"}
    assert not [p for p in lab.folder.rglob("*owned*")
                if p.parent != lab.path("figures")]


def test_without_gnuplot_or_python_it_is_named(lab, results):
    lab.path("programs").mkdir()
    lab.environment["PATH"] = str(lab.path("programs"))
    assert "python3 is needed" in bench(lab, "--plot", "figures", results,
                                        rc=5).err
    lab.path("programs/python3").symlink_to(sys.executable)
    assert "gnuplot is needed" in bench(lab, "--plot", "figures", results,
                                        rc=5).err


def test_figures_of_json_are_those_of_csv(lab, scenario, gnuplot):
    for name, form in (("r.csv", []), ("r.json", ["--json"])):
        bench(lab, "--virtual", scenario, *SMALL, "--depots", "chain", *form,
              "-o", name)
        bench(lab, "--plot", name + ".d", name)
    svg = lab.path("r.csv.d") / "net.scn-bandwidth.svg"
    assert svg.read_bytes() == lab.read(f"r.json.d/{svg.name}")


def test_figures_need_a_folder_that_can_be_written(lab, results, gnuplot):
    lab.write("taken", "")
    run = bench(lab, "--plot", "taken", results, rc=5)
    assert "taken" in run.err
    assert "no figure can be written to no/f" in bench(
        lab, "--plot", "no/f", results, rc=5).err
