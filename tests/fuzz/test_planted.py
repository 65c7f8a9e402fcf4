# SPDX-License-Identifier: MIT
"""The fuzzer finds what is there to be found."""
import os
from pathlib import Path
import shutil
import subprocess

import pytest

SOURCE = Path(os.environ["XD_SOURCE"])
CMAKE = os.environ["XD_CMAKE"]


def build(target, folder):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    for command in ([CMAKE, "-S", SOURCE, "--preset", "fuzz", "-B", folder],
                    [CMAKE, "--build", folder, "--parallel", "2",
                     "--target", target]):
        done = subprocess.run(command, cwd=SOURCE, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
    return folder / "tests" / "fuzz" / target


@pytest.mark.slow
@pytest.mark.plain
def test_a_planted_overflow_is_found_from_the_kept_corpus(tmp_path):
    program = build("fuzz_planted", tmp_path / "build")
    corpus = program.parent / "corpus" / "http_answer"
    found, new = tmp_path / "found", tmp_path / "new"
    found.mkdir()
    new.mkdir()

    def run(runs):
        return subprocess.run(
            [program, f"-runs={runs}", "-seed=1",
             f"-artifact_prefix={found}/", new, corpus],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    assert run(0).returncode == 0  # the corpus alone does not show it
    done = run(200000)
    assert done.returncode != 0
    assert b"stack-buffer-overflow" in done.stdout
    assert len(list(found.iterdir())) == 1
