# SPDX-License-Identifier: MIT
"""What every integration test may ask for."""
import shutil
import subprocess

import pytest

from lab import Lab, find_nginx


@pytest.fixture
def lab():
    if not find_nginx():
        pytest.skip("nginx is not installed")
    with Lab() as made:
        yield made


FILM = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25", "-f", "lavfi", "-i",
        "sine", "-t", "8", "-c:v", "libtheora", "-g", "25", "-b:v", "1M",
        "-c:a", "libvorbis"]


@pytest.fixture(scope="session")
def film(tmp_path_factory):
    """Eight seconds of play, 1 MB."""
    if not shutil.which("ffmpeg"):
        pytest.skip("ffmpeg is not installed")
    path = tmp_path_factory.mktemp("film") / "film.mkv"
    subprocess.run(["ffmpeg", "-v", "error", *FILM, path], check=True)
    return path
