# SPDX-License-Identifier: MIT
"""Players that take a URL: each plays a film from `xdownload serve`.

Of a film whose index is at its end a player reads the head, then the end, and
jumps back to the head.
"""
import os
import shutil
import subprocess

import pytest
from lab import ENVIRONMENT, PATIENCE
from test_serve import Served

SECONDS = 6
FRAMES = 25 * SECONDS


def need(program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")


@pytest.fixture(name="film", scope="module")
def make_film(tmp_path_factory):
    need("ffmpeg")
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-loglevel", "error",
         "-f", "lavfi", "-i", f"testsrc2=size=640x360:rate=25:d={SECONDS}",
         "-f", "lavfi", "-i", f"sine=frequency=440:duration={SECONDS}",
         "-c:v", "libx264", "-preset", "ultrafast", "-b:v", "3M", "-g", "25",
         "-c:a", "aac", path], check=True, timeout=PATIENCE)
    data = path.read_bytes()
    assert data.index(b"moov") > data.index(b"mdat") > 0
    return data


class Cinema:
    """One film, at a URL, from two depots."""

    def __init__(self, lab, data):
        self.lab = lab
        (lab.www / "film.mp4").write_bytes(data)
        self.data, self.depots = data, lab.depots(2)
        self.served = Served(lab, "--lookahead", "512k",
                             lab.exnode("film.mp4", self.depots))
        self.url = self.served.url()

    def play(self, *command):
        """Let it play, as anybody but root; returns all that it says."""
        home = self.lab.folder / "home"
        home.mkdir(exist_ok=True)
        user = {}
        if os.geteuid() == 0:  # VLC refuses root
            user = {"user": 65534, "group": 65534, "extra_groups": []}
            self.lab.folder.chmod(0o755)
            os.chown(home, 65534, 65534)
        run = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=PATIENCE, cwd=home, env=ENVIRONMENT | {"HOME": str(home)},
            **user)
        assert run.returncode == 0, run.stdout
        return run.stdout

    def home(self, name):
        return (self.lab.folder / "home" / name).read_bytes()


@pytest.fixture(name="cinema")
def open_cinema(lab, film):
    return Cinema(lab, film)


def test_curl_gets_the_film_and_goes_on_with_it(cinema):
    need("curl")
    cinema.play("curl", "-sSf", "-r", "0-99999", "-o", "film", cinema.url)
    cinema.play("curl", "-sSf", "-C", "-", "-o", "film", cinema.url)
    assert cinema.home("film") == cinema.data


def test_ffprobe_finds_the_index_at_the_end(cinema):
    said = cinema.play("ffprobe", "-loglevel", "error", "-of", "csv=p=0",
                       "-show_entries", "format=duration", cinema.url)
    assert said.strip() == f"{SECONDS}.000000"


@pytest.mark.parametrize("start", [0, 4, 2])
def test_ffmpeg_plays_all_frames_from_where_it_is_sent(cinema, start):
    said = cinema.play("ffmpeg", "-nostdin", "-loglevel", "error", "-ss",
                       str(start), "-i", cinema.url, "-progress", "-",
                       "-f", "null", "-")
    assert f"frame={FRAMES - 25 * start}\n" in said
    assert said.rstrip().endswith("progress=end")


@pytest.mark.parametrize("start", [0, 4])
def test_mpv_plays_to_the_end(cinema, start):
    need("mpv")
    said = cinema.play("mpv", "--no-config", "--vo=null", "--ao=null",
                       "--ao-null-untimed=yes", "--untimed",
                       f"--start={start}", "--msg-level=ffmpeg=warn",
                       cinema.url)
    assert "Exiting... (End of file)" in said
    assert "ailed" not in said


def test_vlc_plays_to_the_end(cinema):
    need("cvlc")
    cinema.play("cvlc", "-I", "dummy", "--play-and-exit",
                "--sout=#std{access=file,mux=ts,dst=film.ts}", cinema.url)
    length = cinema.play("ffprobe", "-loglevel", "error", "-of", "csv=p=0",
                         "-show_entries", "format=duration", "film.ts")
    assert abs(float(length) - SECONDS) < 1


def test_gstreamer_plays_to_the_end(cinema):
    need("gst-launch-1.0")
    sink = "fakesink sync=false"
    said = cinema.play("gst-launch-1.0", "playbin", f"uri={cinema.url}",
                       f"video-sink={sink}", f"audio-sink={sink}")
    assert "Got EOS from element" in said


def test_gstreamer_gets_the_film(cinema):
    need("gst-launch-1.0")
    cinema.play("gst-launch-1.0", "souphttpsrc", f"location={cinema.url}",
                "!", "filesink", "location=film")
    assert cinema.home("film") == cinema.data
