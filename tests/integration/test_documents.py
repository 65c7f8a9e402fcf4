# SPDX-License-Identifier: MIT
"""Each example in README, the manual and the help is run.

Hosts of examples are depots of the lab here, players and browsers are scripts
that read what they are given, and a benchmark begins no second run.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lab import XDOWNLOAD, wait_until
from mesh import Mesh

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import IbpDepot  # noqa: E402
from s3_depot import ACCESS_KEY, SECRET_KEY, S3Depot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402

SOURCE = Path(os.environ["XD_SOURCE"])
PAGES = [*sorted(SOURCE.glob("cli/*.pod")), *sorted(SOURCE.glob("lib/man/*.pod"))]
SIZE = 200_001

PLAYER = """#!/bin/sh
touch played
for word; do :; done
case $word in http*) ;; -) exec cat >/dev/null;; esac
for word; do case $word in http*) exec curl -s -o /dev/null "$word";; esac; done
"""


def blocks_of_page(text):
    """Verbatim paragraphs that are commands."""
    found = re.findall(r"(?m)(?:^ +\S.*\n)+", text)
    found = [re.sub(r"(?m)^    |^  ", "", b) for b in found]
    return [b for b in found  # not the text of a mesh
            if re.match(r"(xdownload (?!nodes \d)|for \w+ in )", b)]


def blocks_of_readme():
    text = (SOURCE / "README.md").read_text()
    return [b for b in re.findall(r"(?s)```sh\n(.*?)```", text)
            if b.startswith("xdownload ")]


def blocks_of_help(words):
    done = subprocess.run([XDOWNLOAD, *words, "--help"], check=True, text=True,
                          stdout=subprocess.PIPE)
    return [re.sub(r"(?m)^  ", "",
                   done.stdout.split("Examples:\n")[1].split("\n\n")[0])]


def lines_of(block):
    """Each command by itself, if it is not one of several lines."""
    if block.startswith("for "):
        return [block]
    return re.sub(r"\\\n\s*", "", block).splitlines()


def examples():
    pairs = [(p.stem, b) for p in PAGES for b in blocks_of_page(p.read_text())]
    pairs += [("README", b) for b in blocks_of_readme()]
    for words in [], *([c.stem.split("-")[1]] for c in SOURCE.glob(
            "cli/xdownload-*.pod")):
        pairs += [("help", b) for b in blocks_of_help(words)]
    return sorted({re.sub(r"\s+#.*", "", line).strip(): name
                   for name, b in pairs for line in lines_of(b)}.items())


EXAMPLES = examples() if "XDOWNLOAD" in os.environ else []


def test_there_are_examples_of_every_command():
    assert len(EXAMPLES) > 35
    for command in ("verify", "show", "make", "check", "put", "add", "drop",
                    "renew", "play", "serve", "depot", "bench", "via", "trace", "get"):
        assert any(f"xdownload {command} " in e for e, _ in EXAMPLES), command
    assert {name for _, name in EXAMPLES} >= {"README", "xdownload"}


def script(folder, name, text):
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


def programs(lab):
    folder = lab.path("bin")
    folder.mkdir()
    for name in "mpv", "vlc", "browser":
        script(folder, name, PLAYER)
    script(folder, "jq", "#!/bin/sh\nexec cat >/dev/null\n")
    (folder / "xdownload").symlink_to(XDOWNLOAD)
    lab.environment["PATH"] = f"{folder}:{lab.environment['PATH']}"
    lab.environment["BROWSER"] = "browser"


def world(lab):
    """The files that examples are about."""
    depots = lab.depots(2)
    data = lab.file("d.iso", SIZE)
    for name in "disk.iso", "fedora.iso", "film.mkv":
        shutil.copy(lab.www / "d.iso", lab.www / name)
    sums = subprocess.run(["sha256sum", "d.iso", "disk.iso"], cwd=lab.www,
                          check=True, stdout=subprocess.PIPE).stdout
    (lab.www / "SHA256SUMS").write_bytes(sums)
    for name, of in [("film.xnd", "film.mkv"), ("data.xnd", "disk.iso"),
                     ("show", "d.iso")]:
        os.rename(lab.exnode(of, depots), lab.path(name))
    for name in "fedora.meta4", "data.meta4", "album.meta4":
        os.rename(lab.metalink("fedora.iso", depots), lab.path(name))
    lab.write("list.txt", "".join(
        f"{depots[0].url(n)}\n" for n in ("d.iso", "film.mkv")))
    return data, depots


# Of these, hosts are stores, which take what the command sends them.
PUBLISHES = r"xdownload (put|add|drop|renew|check .*--heal|check film.mkv|film.mkv.xnd)\b"


class Stores:
    """a.example to e.example, each a host; s3://bucket and ibp://depot.example."""

    def __init__(self, lab, stack):
        self.lab = lab
        self.web = {h: stack.enter_context(StoreDepot(address=f"127.0.0.{i}"))
                    for i, h in enumerate("abcde", 2)}
        self.ibp = stack.enter_context(IbpDepot(longest=100 * 86400))
        s3 = stack.enter_context(S3Depot(bucket="bucket"))
        lab.environment |= {"AWS_ENDPOINT_URL_S3": s3.endpoint,
                            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
                            "AWS_SECRET_ACCESS_KEY": SECRET_KEY}

    def as_run_here(self, command):
        for host, depot in self.web.items():
            command = command.replace(f"https://{host}.example/dav/", depot.url)
            command = command.replace(f"{host}.example",
                                      f"{depot.address}:{depot.port}")
        return command.replace("depot.example:6714",
                               f"127.0.0.1:{self.ibp.port}")

    def needs(self, command, data):
        """Copies that an earlier command of the manual has placed."""
        self.lab.path("film.xnd").unlink()
        self.lab.path("film.mkv").write_bytes(data)
        name = "film.mkv.xnd" if "film.mkv.xnd" in command else "film.xnd"
        if command.startswith("xdownload put"):
            return
        status, error = run(self.lab, self.as_run_here(
            f"xdownload put film.mkv -o {name} --to https://b.example/dav/ --to "
            "https://a.example/dav/ --to s3://bucket/films --to "
            "ibp://depot.example:6714"))
        assert status == 0, error
        self.lab.path("film.mkv").unlink()
        if "--heal" in command:
            self.web["a"].objects.clear()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def as_run_here(command, depots):
    for host, depot in zip("ab", depots):
        command = command.replace(f"https://{host}.example",
                                  depot.url("").rstrip("/"))
    command = command.replace(":8080", f":{free_port()}")
    command = command.replace("/srv/images", ".")
    if re.match(r"xdownload bench .*-o|xdownload bench --virtual", command):
        command += " --repeat 1 --time-budget 1ms"
    return command


def needs(lab, command, data, depots):
    """What an earlier command of the same manual has made."""
    if "-o data.xnd" in command:
        lab.path("data.xnd").unlink()
    if "xdownload make film.mkv" in command:
        lab.path("film.xnd").unlink()
        lab.path("film.mkv").write_bytes(data)
    if re.match(r"xdownload verify", command):
        for name in "d.iso", "fedora.iso":
            lab.path(name).write_bytes(data)
    if re.match(r"xdownload trace|xdownload bench --virtual ./net", command):
        assert lab.xdownload("--trace", "t.json", "-o", "x", "fedora.meta4",
                             report=False).rc == 0
    if "./net.scn" in command:
        assert lab.xdownload("trace", "--scenario", "net.scn", "t.json",
                             report=False).rc == 0
    if re.match(r"xdownload bench --(summarize|plot)", command):
        assert lab.xdownload(
            "bench", "-o", "r.csv", "-a", "basic", "-b", "64k", "-t", "1",
            "--depots", "chain", "--repeat", "1", "--cool-down", "0", "--rate",
            "2MB/s", "data.xnd", report=False).rc == 0


def runs_until_a_signal(command):
    return re.search(r"xdownload (serve|depot|play --browser) ", command)


def interrupt(lab, process, command):
    """Once it is at work."""
    if re.match(r"xdownload (serve|depot)", command):
        assert process.stdout.readline().startswith(b"http://")
    else:
        wait_until(lambda: lab.path("played").exists(), "the browser starts")
    process.send_signal(signal.SIGINT)


def run(lab, command):
    lasts = runs_until_a_signal(command)
    process = subprocess.Popen(
        ["sh", "-c", f"exec {command}" if lasts else command], cwd=lab.work,
        env=lab.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    if lasts:
        interrupt(lab, process, command)
    error = process.communicate()[1].decode()
    return process.returncode, error


@pytest.mark.parametrize("command, where", EXAMPLES,
                         ids=[c[:70] for c, _ in EXAMPLES])
def test_an_example_works(lab, command, where):
    programs(lab)
    data, depots = world(lab)
    with contextlib.ExitStack() as stack:
        if re.match(PUBLISHES, command):
            stores = Stores(lab, stack)
            stores.needs(command, data)
            command = stores.as_run_here(command)
        else:
            if "via --check" in command or "--via " in command:
                stack.enter_context(Mesh(lab, [depots[0].url("")], n=2))
            needs(lab, command, data, depots)
            command = as_run_here(command, depots)
        status, error = run(lab, command)
    expected = 130 if runs_until_a_signal(command) else 0
    if "--plot" in command and not shutil.which("gnuplot"):
        expected = 5
    assert status == expected, f"{where}: {error}"
    assert "try 'xdownload" not in error


# ---- files ----

def block_of(page, begins):
    """The one verbatim paragraph that begins so."""
    text = (SOURCE / page).read_text()
    [found] = [b for b in re.findall(r"(?m)(?:^    .*\n)+", text)
               if b.startswith("    " + begins)]
    return re.sub(r"(?m)^    ", "", found)


def completed(text):
    """Hashes, and pieces, of which the manual has only the first."""
    lines = []
    for line in text.splitlines():
        digits = 40 if "piece=" in line else 64
        if line.strip() == "...":
            lines += [lines[-1].replace('piece="0"', f'piece="{i}"')
                      for i in (1, 2, 3)]
        else:
            lines.append(re.sub(r"([0-9a-f]{8})[.]{3}",
                                lambda m: m[1].ljust(digits, "0"), line))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("begins, size, replicas", [
    ('<?xml version="1.0"?>\n    <exnode', 1000000, 1),
    ('<?xml version="1.0" encoding="UTF-8"?>\n    <metalink xmlns', 1000000, 2),
    ('<?xml version="1.0" encoding="UTF-8"?>\n    <metalink version', 1000000,
     2),
    ("# copies of one file", None, 3)], ids=["exnode", "4", "3", "urls"])
def test_a_manifest_of_the_manual_is_understood(lab, begins, size, replicas):
    lab.write("m", completed(block_of("lib/man/xdownload-manifest.pod",
                                      begins)))
    run = lab.xdownload("show", "--json", "m", report=False)
    assert run.rc == 0 and run.err == "", run.err
    [file] = json.loads(run.out)["files"]
    assert file["name"] == "film.mkv" and file["size"] == size
    assert len(file["extents"][0]["replicas"]) == replicas
    if "metalink" in begins:
        assert file["hashes"] and file["pieces"]["count"] == 4


def test_the_list_of_the_manual_is_read(lab):
    text = block_of("cli/xdownload.pod", "# a comment")
    lab.write("l", text.replace("<TAB>", "\t").replace("HEX", "0" * 64))
    run = lab.xdownload("--dry-run", "-i", "l", report=False)
    assert run.rc == 0 and run.err == "", run.err
    assert re.findall(r"(?m)^\S+$", run.out.decode()) == [
        "images/disk.iso", "film.mkv"]


def test_the_config_file_of_the_manual_is_obeyed(lab):
    folder = lab.path("home/.config/xdownload")
    folder.mkdir(parents=True)
    (folder / "config").write_text(block_of("cli/xdownload.pod", "# at home"))
    lab.environment["HOME"] = str(lab.path("home"))
    run = lab.xdownload("-v", "--dry-run", "http://127.0.0.1:9/f",
                        report=False)
    assert run.rc == 0, run.err
    assert run.err.endswith(
        " sets limit-rate=2MB/s exclude=slow.example no-depot-cache\n")
