# SPDX-License-Identifier: MIT
"""The programs in examples/ do what they say."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lab import XDOWNLOAD, wait_until
from test_playlist import NAMES, Far, manifest_of, put

SOURCE = Path(os.environ["XD_SOURCE"])
EXAMPLES = Path(os.environ["XD_BUILD"]) / "examples"
SIZE = 1_000_003


def run(lab, program, *args):
    return subprocess.run([EXAMPLES / program, *args], cwd=lab.work, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False)


@pytest.mark.parametrize("program", ["fetch", "progress"])
def test_a_program_brings_the_file_home(lab, program):
    data = lab.file("f.bin", SIZE)
    depots = lab.depots(3)
    done = run(lab, program, lab.exnode("f.bin", depots), "out")
    assert done.returncode == 0, done.stderr
    assert lab.read("out") == data
    if program == "progress":
        assert all(d.host in done.stdout for d in depots)


@pytest.mark.parametrize("program", ["fetch", "progress"])
def test_a_program_says_why_it_failed(lab, program):
    lab.file("f.bin", SIZE)
    lacking = lab.depot(files={})
    done = run(lab, program, lab.exnode("f.bin", [lacking]), "out")
    assert done.returncode == 1
    assert lacking.host in done.stderr
    done = run(lab, program, "none.xnd", "out")
    assert done.returncode == 1
    assert "none.xnd" in done.stderr


def metalink_of(lab, name, depot, files):
    return lab.write(name, '<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
                     + "".join(
                         f'<file name="{f}"><size>{len(data)}</size>'
                         '<hash type="sha-256">'
                         f"{hashlib.sha256(data).hexdigest()}</hash>"
                         f"<url>{depot.url(f)}</url></file>"
                         for f, data in files.items()) + "</metalink>")


def test_files_are_fed_to_a_download_that_runs(lab):
    """Each is there before the next is named; then some hundreds at once."""
    files = {f"f{i}": lab.file(f"f{i}", 1000 * i + 1, i) for i in range(300)}
    depots = lab.depots(2)
    (lab.work / "out").mkdir()

    def manifest(first, last):
        return metalink_of(lab, f"{first}.meta4", depots[first % 2],
                           {f"f{i}": files[f"f{i}"]
                            for i in range(first, last)})

    with subprocess.Popen([EXAMPLES / "feed", "out"], cwd=lab.work, text=True,
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as feed:
        for i in range(3):
            feed.stdin.write(manifest(i, i + 1) + "\n")
            feed.stdin.flush()
            wait_until(lambda i=i: lab.path(f"out/f{i}").exists(), f"f{i}")
        time.sleep(0.2)
        assert feed.poll() is None
        feed.stdin.write(manifest(3, 300) + "\n")
        feed.stdin.close()
        assert feed.stdout.read().splitlines() == [
            f"{name}: complete" for name in files]
        assert feed.wait() == 0
    for name, data in files.items():
        assert lab.read("out/" + name) == data


def test_what_feeds_a_download_is_told_what_failed(lab):
    lab.file("good", SIZE)
    depot = lab.depot()
    (lab.work / "out").mkdir()
    good = metalink_of(lab, "1.meta4", depot, {"good": lab.file("good", SIZE)})
    bad = metalink_of(lab, "2.meta4", depot, {"bad": b"not there"})
    done = subprocess.run([EXAMPLES / "feed", "out"], cwd=lab.work, text=True,
                          input=f"{good}\n{bad}\n", capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 1
    assert "good: complete\nbad: no depot" in done.stdout
    assert "no depot" in done.stderr


def test_a_playlist_begins_each_file_before_its_turn(lab):
    files = put(lab)
    far = Far(lab, files, 0.2)
    with open(lab.path("out"), "wb") as out:
        done = subprocess.run([EXAMPLES / "playlist",
                               manifest_of(lab, far.depot)], cwd=lab.work,
                              stdout=out, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert lab.read("out") == b"".join(files.values())
    assert far.asked() == NAMES


def sweep_of(done):
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r["algorithm"], r["threads"]) for r in runs] == [
        (a, t) for a in ("basic", "aggressive", "progress", "adaptive")
        for t in (1, 2)]
    assert all(r["seconds"] > 0 for r in runs)
    return runs


def test_a_sweep_is_a_loop_over_calls_of_the_library(lab):
    lab.file("f.bin", SIZE)
    done = run(lab, "sweep", lab.exnode("f.bin", lab.depots(2)))
    assert done.returncode == 0, done.stderr
    assert all(r["bytes_received"] >= SIZE for r in sweep_of(done))
    assert not lab.path("sweep.tmp").exists()
    assert run(lab, "sweep", "none.xnd").returncode == 1


def test_the_benchmark_of_replicas_prints_what_is_best(lab):
    lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", lab.depots(2))
    command = Path(os.environ["XDOWNLOAD"]).parent
    done = subprocess.run(
        ["sh", SOURCE / "examples" / "replica-benchmark.sh", manifest, "figures",
         "--repeat", "1", "--cool-down", "0s"],
        cwd=lab.work, text=True, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
        env=dict(os.environ, PATH=f"{command}:{os.environ['PATH']}"))
    assert done.returncode == 0, done.stdout
    assert "best" in done.stdout
    assert (Path(lab.work) / "figures" / "results.csv").exists()


def test_one_command_draws_all_figures_of_the_paper(lab):
    if not shutil.which("gnuplot"):
        pytest.skip("gnuplot is not installed")
    command = Path(os.environ["XDOWNLOAD"]).parent
    done = subprocess.run(
        ["sh", SOURCE / "examples" / "paper" / "figures.sh", "figures", "1",
         "-b", "2m", "-t", "2", "--depots", "E5,E6", "--size", "8m"],
        cwd=lab.work, text=True, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
        env=dict(os.environ, PATH=f"{command}:{os.environ['PATH']}"))
    assert done.returncode == 0, done.stdout
    drawn = {p.stem for p in (Path(lab.work) / "figures").glob("*.png")}
    assert drawn == {
        *(f"paper-{client}-{what}" for client in ("tennessee", "santa-barbara")
          for what in ("bandwidth", "delay-1.3mbit", "delay-15mbit",
                       "delay-50mbit")),
        "paper-santa-barbara-redundancy", "paper-tennessee-progress-number"}


def left_behind():
    """What a run of the quickstart must not leave."""
    processes = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            processes.append(path.read_bytes().replace(b"\0", b" ").decode())
    here = str(SOURCE / "build" / "quickstart.")
    throttle = str(SOURCE / "build" / "release" / "tests" / "lab" / "throttle")
    return [line for line in processes
            if here in line or throttle in line] + [
            p for p in (SOURCE / "build").glob("quickstart*")]


def quickstart(folder):
    return subprocess.Popen(
        ["sh", os.path.relpath(SOURCE / "examples" / "quickstart.sh", folder)],
        cwd=folder, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)


@pytest.mark.slow
@pytest.mark.plain
def test_the_quickstart_runs_from_any_folder_and_cleans_up(lab):
    started = quickstart(lab.work)
    out, _ = started.communicate(timeout=300)
    assert started.returncode == 0, out
    assert "Every byte is right" in out and "dead.localhost" in out
    assert left_behind() == []


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_the_quickstart_cleans_up_when_it_is_interrupted(lab, sig):
    started = quickstart(lab.work)
    build = SOURCE / "build"
    wait_until(lambda: list(build.glob("quickstart.*/film.bin.part")),
               "the download begins", 300)
    time.sleep(1)
    os.killpg(started.pid, sig)
    out, _ = started.communicate(timeout=60)
    assert started.returncode == 128 + sig, out
    assert left_behind() == []


@pytest.mark.slow
def test_a_mesh_spares_the_origin_all_copies_but_one(lab):
    port = 20000 + os.getpid() % 9000
    done = subprocess.run(
        ["sh", SOURCE / "examples" / "via" / "mesh.sh", "6", "16"], text=True,
        cwd=lab.work, stdout=subprocess.PIPE, timeout=120, check=False,
        env=dict(lab.environment, XDOWNLOAD=XDOWNLOAD, PORT=str(port)))
    assert done.returncode == 0, done.stdout
    files = re.findall(r"([0-9.]+) files$", done.stdout, re.M)
    plain, cold, warm = map(float, files)
    assert plain >= 6 and cold < 1.2 and warm < 0.2, done.stdout
    assert "5 of 5 nodes sound" in done.stdout
