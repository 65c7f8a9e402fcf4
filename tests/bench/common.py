# SPDX-License-Identifier: MIT
"""What the benchmarks share: the tools, the machine, tables, markers."""
import datetime
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("tests/wan", "tests/integration"):
    sys.path.insert(0, str(ROOT / folder))

from wan import SKIPPED, Missing, exit_on_signals  # from the path above


def newest(built):
    """Of the builds of this tree, the newest file of that name, or None."""
    found = sorted((ROOT / "build").glob(f"*/{built}"),
                   key=lambda p: p.stat().st_mtime)
    return str(found[-1]) if found else None


# Where tests/integration/lab.py looks for it.
os.environ.setdefault("XD_THROTTLE", newest("tests/lab/throttle") or "throttle")


class Job:
    """What a tool is to fetch, and where to."""

    def __init__(self, manifest, urls, best, out, cacert=None):
        """urls: all copies; best: the one of the single-source tools."""
        self.manifest, self.urls, self.best = manifest, urls, best
        self.out, self.cacert = Path(out), cacert

    @property
    def file(self):
        return self.out / "file"


def xdownload(job, *words):
    ca = ["--cacert", job.cacert] if job.cacert else []
    return [XDOWNLOAD, "-q", *ca, *XD_ARGS, *words, "-o", job.file,
            job.manifest]


def aria2(job, *words):
    return ["aria2c", "-q", "--no-conf", "--file-allocation=none", *words,
            "-d", job.out, job.manifest]


def aria2_tuned(job):
    return aria2(job, "-k1M", f"-s{min(16, 2 * len(job.urls))}", "-x2",
                 "--connect-timeout=5", "--timeout=5",
                 "--lowest-speed-limit=20K")


def wget2(job):
    """It names what a Metalink says itself, where it stands."""
    return ["sh", "-c", 'cd "$1" && exec wget2 -q --no-config --force-metalink'
            ' --input-file="$2"', "sh", job.out, job.manifest]


# "http", "https" with HTTP/2, or "ibp": what the manifest's URLs begin with.
SCHEME = {"xd-tls": "https", "xd-ibp": "ibp"}
# Runs again with the depot cache of the run before.
WARM = {"xd-warm"}

TOOLS = {
    "xd": xdownload,
    "xd-warm": xdownload,
    "xd-tls": xdownload,
    "xd-ibp": xdownload,
    "aria2": aria2_tuned,
    "aria2-x16": lambda j: aria2(j, "-k1M", "-s16", "-x16"),
    "aria2-default": aria2,
    "axel": lambda j: ["axel", "-q", "-n", str(len(j.urls)), "-o", j.file,
                       *j.urls],
    "wget2": wget2,
    "curl": lambda j: ["curl", "-sf", "-o", j.file, j.best],
}
PROGRAM = {"xd": None, "xd-warm": None, "xd-tls": None, "xd-ibp": None,
           "aria2": "aria2c", "aria2-x16": "aria2c", "aria2-default": "aria2c"}

XDOWNLOAD = os.environ.get("XDOWNLOAD")
XD_ARGS = []


def is_installed(tool):
    program = PROGRAM.get(tool, tool)
    return program is None or shutil.which(program) is not None


def choose_tools(text):
    """The tools of a list like "xd,curl" that are installed."""
    chosen = text.split(",")
    for tool in chosen:
        if tool not in TOOLS:
            raise SystemExit(f"there is no tool {tool}; there are: "
                             + " ".join(TOOLS))
        if not is_installed(tool):
            print(f"{tool} is not installed, and left out", file=sys.stderr)
    return [t for t in chosen if is_installed(t)]


def add_arguments(parser):
    parser.add_argument("--xdownload", default=XDOWNLOAD,
                        help="the command (default: $XDOWNLOAD or "
                             "build/release/xdownload)")
    parser.add_argument("--algorithm", help="xdownload's, if not its default")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench",
                        help="where results go (default: build/bench)")
    parser.add_argument("-n", "--runs", type=int, default=3)


def words(text):
    """Of an argument that is a list."""
    return text.split(",")


def run(main):
    """End the program as main() does, or for want of what an emulation takes."""
    try:
        sys.exit(main())
    except Missing as e:
        print(f"skipped: {e}", file=sys.stderr)
        sys.exit(SKIPPED)


def set_up(a):
    """Note what add_arguments() asked for."""
    global XDOWNLOAD
    exit_on_signals()
    XDOWNLOAD = str(Path(a.xdownload or ROOT / "build/release/xdownload")
                    .resolve())
    if not os.access(XDOWNLOAD, os.X_OK):
        raise SystemExit(f"{XDOWNLOAD} is not there: cmake --preset release "
                         "&& cmake --build build/release")
    if a.algorithm:
        XD_ARGS.extend(["--algorithm", a.algorithm])
    a.out.mkdir(parents=True, exist_ok=True)


def environment(folder):
    """A run sees no HOME and no proxy, and a depot cache in `folder`."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache")}


def in_random_order(things, seed):
    return random.Random(seed).sample(list(things), len(things))


def median(values):
    return statistics.median(values) if values else float("nan")


# ---- the machine ----

def _first_line(*words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout.splitlines()[0]
    except (OSError, IndexError):
        return None


def _processor():
    text = Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*: (.*)", text)
    return found[1] if found else platform.machine()


def _memory():
    kib = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    return f"{int(kib[1]) / (1 << 20):.0f} GiB"


def _version(line):
    """A name and a number are enough: "curl 7.88.1"."""
    found = re.search(r"(?i)(aria2|axel|curl|wget2|nginx|openssl|xdownload)"
                      r"\D*?(\d[\w.]*)", line or "")
    return f"{found[1].lower()} {found[2]}" if found else line


def conditions(tools=()):
    """Date, machine and versions, in a sentence or two."""
    lines = [_first_line(XDOWNLOAD, "--version")]
    programs = {PROGRAM.get(t, t) for t in tools} - {None}
    lines += [_first_line(p, "--version") for p in sorted(programs)]
    lines.append(_first_line(shutil.which("nginx", path=os.environ["PATH"]
                                          + ":/usr/sbin") or "nginx", "-v"))
    commit = _first_line("git", "-C", str(ROOT), "rev-parse", "--short",
                         "HEAD")
    return (f"{datetime.date.today()}, commit {commit}; {os.cpu_count()} x "
            f"{_processor()}, {_memory()}, Linux {platform.release()}; "
            + ", ".join(_version(x) for x in lines if x) + "."
            + (f" xdownload ran with {' '.join(XD_ARGS)}." if XD_ARGS else ""))


# ---- what is written ----

def table(head, rows):
    """Markdown."""
    lines = ["| " + " | ".join(head) + " |",
             "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


def publish(name, text, document="tests/bench/README.md"):
    """Put the text between the markers of this name."""
    path = ROOT / document
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    before, found, rest = path.read_text().partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise SystemExit(f"{document} has no markers for {name}")
    path.write_text(before + begin + text + "\n" + end + after)


def write(a, name, text):
    """Where set_up() was told to; with --readme also into tests/bench/README.md."""
    (a.out / f"{name}.md").write_text(text + "\n")
    if a.readme:
        publish(f"bench-{name}", text)
    print(f"written: {a.out}/{name}.md")
