# SPDX-License-Identifier: MIT
"""In a locale that writes 1,5 numbers still have a point, in and out."""
import csv
import json
import os
import re
import subprocess

import pytest

NAME = "de_DE.UTF-8"


@pytest.fixture(name="german", scope="module")
def locale_folder(tmp_path_factory):
    """Made here: few machines have it, and none needs to."""
    folder = tmp_path_factory.mktemp("locales")
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8",
                           folder / NAME], stderr=subprocess.PIPE, text=True)
    assert (folder / NAME / "LC_NUMERIC").exists(), made.stderr
    # With LOCPATH glibc's newlocale() leaks that path, once, and libp11-kit calls
    # it before main().
    leaks = {"ASAN_OPTIONS": "exitcode=99:detect_leaks=0"}
    return {"LOCPATH": str(folder), "LC_ALL": NAME, **leaks}


@pytest.fixture(name="there")
def lab_in_germany(lab, german):
    lab.environment.update(german)
    return lab


def test_the_locale_has_commas(german):
    """Or else the other tests show nothing."""
    said = subprocess.run(["bash", "-c", "printf %.1f 1,5"], check=True,
                          stdout=subprocess.PIPE,
                          env={**os.environ, **german}).stdout
    assert said == b"1,5"


def has_no_comma_in_numbers(text):
    return not re.search(r"\d,\d+ ", text)


def test_json_of_a_download_has_points(there):
    there.file("f.bin", 3_000_000)
    run = there.xdownload(there.exnode("f.bin", [there.depot(rate=2_000_000)]),
                          "--progress", "json", "--limit-rate", "1.5m",
                          "--trace", "t.json")
    assert run.rc == 0, run.err
    assert 0 < run.report["seconds"] and run.report["seconds"] % 1 != 0
    progress = [json.loads(line) for line in run.err.splitlines()
                if line.startswith("{")]
    assert progress and isinstance(progress[-1]["seconds"], float)
    assert json.loads(there.read("t.json"))
    summary = there.xdownload("trace", "--summary", "t.json", report=False)
    assert summary.rc == 0 and re.search(rb"\d\.\d+ s", summary.out)
    assert has_no_comma_in_numbers(summary.out.decode())


def test_the_summary_for_people_has_points_too(there):
    there.file("f.bin", 300_000)
    run = there.xdownload(there.exnode("f.bin", [there.depot()]), report=False)
    assert run.rc == 0 and re.search(r"293\.0 KiB in \d+\.\d s", run.err)


def test_csv_and_json_of_measurements_have_points(there):
    sweep = ["bench", "--virtual", "equal", "--size", "1m", "--repeat", 1,
             "-a", "adaptive"]
    run = there.xdownload(*sweep, "-o", "r.csv", report=False)
    assert run.rc == 0, run.err
    rows = list(csv.DictReader(
        line for line in there.read("r.csv").decode().splitlines()
        if not line.startswith("#")))
    assert rows and all(None not in row for row in rows)
    assert all(float(row["seconds"]) > 0 for row in rows)
    run = there.xdownload("bench", "--summarize", "r.csv", report=False)
    assert run.rc == 0 and has_no_comma_in_numbers(run.out.decode())
    run = there.xdownload(*sweep, "--json", "-o", "r.json", report=False)
    assert run.rc == 0, run.err
    results = [json.loads(line) for line in
               there.read("r.json").decode().splitlines()]
    assert any(isinstance(r.get("seconds"), float) for r in results)
