# SPDX-License-Identifier: MIT
"""The players in examples/, built against what was installed: each plays a film
from start to end, seeks, and ends at once though every depot hangs."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from lab import wait_until

pytestmark = pytest.mark.plain  # for what is not ours is not sanitized

EXAMPLES = Path(os.environ["XD_SOURCE"]) / "examples"
CC = os.environ["XD_CC"]
CMAKE = os.environ["XD_CMAKE"]

FILM_S = 8
RATES = (1_800_000, 600_000, 200_000)  # the film is 1 MB

# The packages that a program is made with, and how it plays without a screen.
PACKAGES = {
    "read": [],
    "mpv": ["mpv"],
    "ffmpeg": ["libavformat", "libavcodec", "libavutil"],
    "gstreamer": ["gstreamer-app-1.0"]}
HEADLESS = ["vo=null", "ao=null", "config=no"]
SINKS = "playbin uri=appsrc:// video-sink=fakesink audio-sink=fakesink"


def output_of(*command, **environment):
    done = subprocess.run(list(map(str, command)), check=False, text=True,
                          env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(name="prefix", scope="session")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed")
    output_of(CMAKE, "--install", os.environ["XD_BUILD"], "--prefix", prefix,
              DESTDIR="")
    return prefix


def flags_of(prefix, packages):
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    for package in packages:
        if subprocess.call(["pkg-config", "--exists", package]) != 0:
            pytest.skip(f"{package} is not installed")
    [found] = prefix.rglob("xdownload.pc")
    return output_of("pkg-config", "--cflags", "--libs", "xdownload", *packages,
                     PKG_CONFIG_PATH=str(found.parent)).split()


@pytest.fixture(name="built", scope="session")
def programs(prefix, tmp_path_factory):
    """A function: the path of a program, built when it is first asked for."""
    folder = tmp_path_factory.mktemp("built")
    [library] = prefix.rglob("libxdownload.so")

    def build(name):
        if not (folder / name).exists():
            output_of(CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall",
                      "-Wextra", "-Werror", EXAMPLES / f"{name}.c",
                      "-o", folder / name, *flags_of(prefix, PACKAGES[name]),
                      f"-Wl,-rpath,{library.parent}")
        return folder / name
    return build


def unequal(lab, film):
    shutil.copy(film, lab.www / film.name)
    return lab.exnode(film.name, [lab.depot(rate=rate) for rate in RATES])


def hanging(lab, film):
    """Depots that send the beginning and then nothing more."""
    shutil.copy(film, lab.www / film.name)
    return lab.exnode(film.name, [
        lab.depot(rate=1_000_000, stop_after=100_000), lab.silent()])


def start(lab, program, *args):
    return subprocess.Popen([program, *map(str, args)], cwd=lab.work, text=True,
                            env=lab.environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def finish(process):
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, err


def run(lab, program, *args):
    rc, out, err = finish(start(lab, program, *args))
    assert rc == 0, err
    return out


def handles(process, number):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> number - 1 & 1


def interrupt(process):
    """Once it waits for bytes that do not come."""
    wait_until(lambda: process.poll() is not None
               or handles(process, signal.SIGINT), "it handles SIGINT")
    time.sleep(0.7)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    return finish(process)


@pytest.mark.slow
def test_all_are_built_with_find_package(prefix, tmp_path):
    for packages in PACKAGES.values():
        flags_of(prefix, packages)
    output_of(CMAKE, "-S", EXAMPLES, "-B", tmp_path,
              f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_PREFIX_PATH={prefix}")
    output_of(CMAKE, "--build", tmp_path)
    assert all((tmp_path / source.stem).exists()
               for source in EXAMPLES.glob("*.c"))


# ---- the loop ----

@pytest.mark.parametrize("first", [0, 700_000])
def test_the_loop_writes_all_from_a_byte_on(lab, built, film, first):
    out = lab.path("out")
    with open(out, "wb") as to:
        subprocess.run([built("read"), unequal(lab, film), str(first)],
                       cwd=lab.work, stdout=to, check=True, timeout=60)
    assert out.read_bytes() == film.read_bytes()[first:]


def test_the_loop_says_why_it_failed(lab, built, film):
    manifest = unequal(lab, film)
    rc, _, err = finish(start(lab, built("read"), manifest, 10 ** 9))
    assert rc == 1 and "behind the end" in err


def test_the_loop_ends_though_every_depot_hangs(lab, built, film):
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen([built("read"), hanging(lab, film)],
                                   cwd=lab.work, stdout=null)
    assert interrupt(process)[0] == 1


# ---- FFmpeg ----

def packets(out):
    return int(re.search(r"2 streams, (\d+) packets", out)[1])


def last_s(out):
    return float(re.search(r"last at ([\d.]+) s", out)[1])


def test_ffmpeg_gets_all_packets(lab, built, film):
    told = output_of("ffprobe", "-v", "error", "-count_packets",
                     "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
                     film)
    out = run(lab, built("ffmpeg"), unequal(lab, film))
    assert packets(out) == sum(map(int, told.split()))
    assert last_s(out) == pytest.approx(FILM_S, abs=0.5)


def test_ffmpeg_seeks(lab, built, film):
    manifest = unequal(lab, film)
    everything = packets(run(lab, built("ffmpeg"), manifest))
    out = run(lab, built("ffmpeg"), manifest, 6)
    assert 0 < packets(out) < everything / 2
    assert last_s(out) == pytest.approx(FILM_S, abs=0.5)


def test_ffmpeg_ends_though_every_depot_hangs(lab, built, film):
    rc, _, err = interrupt(start(lab, built("ffmpeg"), hanging(lab, film)))
    assert rc == 1 and err == ""


# ---- GStreamer ----

@pytest.fixture(name="gstreamer")
def program_with_plugins(built):
    program = built("gstreamer")
    folder = output_of("pkg-config", "--variable=pluginsdir", "gstreamer-1.0")
    for plugin in "playback", "theora", "matroska":
        if not Path(folder.strip(), f"libgst{plugin}.so").exists():
            pytest.skip(f"GStreamer's {plugin} is not installed")
    return program


def played_to(out):
    return float(re.search(r"played to ([-\d.]+) s", out)[1])


@pytest.mark.parametrize("seconds", [0, 5])
def test_gstreamer_plays_to_the_end(lab, gstreamer, film, seconds):
    out = run(lab, gstreamer, unequal(lab, film), seconds, SINKS)
    assert played_to(out) == pytest.approx(FILM_S, abs=0.5)


@pytest.mark.parametrize("seconds", [0, 5])
def test_gstreamer_ends_though_every_depot_hangs(lab, gstreamer, film, seconds):
    rc, out, err = interrupt(start(lab, gstreamer, hanging(lab, film),
                                   seconds, SINKS))
    assert rc == 1 and err == ""
    assert played_to(out) < FILM_S


def test_gstreamer_says_why_it_failed(lab, gstreamer, film):
    manifest = lab.exnode(film.name, [lab.depot(files={})], size=1000)
    rc, _, err = finish(start(lab, gstreamer, manifest, 0, SINKS))
    assert rc == 1 and "no depot is left" in err


# ---- mpv ----

def seen(out):
    """Seconds of play, stalls, and seeks."""
    m = re.search(r"played ([\d.]+) s, .*, (\d+) stalls .*, (\d+) seeks", out)
    return float(m[1]), int(m[2]), int(m[3])


def ask(lab, path, *command):
    """Ask the mpv within the program."""
    with socket.socket(socket.AF_UNIX) as ipc:
        wait_until(lambda: ipc.connect_ex(str(lab.path(path))) == 0,
                   "it can be asked")
        ipc.sendall(json.dumps({"command": command}).encode() + b"\n")
        for line in ipc.makefile("r"):
            answer = json.loads(line)
            if "error" in answer:
                return answer.get("data")
    return None


def test_mpv_plays_to_the_end(lab, built, film):
    out = run(lab, built("mpv"), unequal(lab, film), *HEADLESS, "speed=8")
    played, _, seeks = seen(out)
    assert 0.5 < played < FILM_S and seeks == 0


def test_mpv_seeks(lab, built, film):
    process = start(lab, built("mpv"), unequal(lab, film), *HEADLESS,
                    "input-ipc-server=ipc")
    wait_until(lambda: ask(lab, "ipc", "get_property", "time-pos"), "it plays")
    ask(lab, "ipc", "seek", 7, "absolute")
    rc, out, err = finish(process)
    assert rc == 0, err
    played, _, seeks = seen(out)
    assert seeks == 1 and 0 < played < FILM_S


def test_mpv_tells_of_a_stall(lab, built, film):
    shutil.copy(film, lab.www / "film.mkv")
    slow = lab.exnode("film.mkv", [lab.depot(rate=200_000)])
    out = run(lab, built("mpv"), slow, *HEADLESS, "speed=4", "end=3")
    assert seen(out)[1] >= 1


def test_mpv_ends_though_every_depot_hangs(lab, built, film):
    rc, out, _ = interrupt(start(lab, built("mpv"), hanging(lab, film),
                                 *HEADLESS))
    assert rc == 0 and seen(out)[0] < FILM_S


def test_mpv_says_why_it_failed(lab, built, film):
    lab.write("words", "no film")
    manifest = lab.exnode_of("words", [(0, 9, lab.depot(files={}).url("words"),
                                        0, 9)])
    rc, _, err = finish(start(lab, built("mpv"), manifest, *HEADLESS))
    assert rc == 1 and err.startswith("mpv: ")
