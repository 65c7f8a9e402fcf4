# SPDX-License-Identifier: MIT
"""Real shells are asked what they complete, by typing at them."""
import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

COMMAND = Path(os.environ["XDOWNLOAD"])
SCRIPTS = Path(os.environ["XD_SOURCE"]) / "cli" / "complete"
PATIENCE_S = 120

# Ctrl-X d prints the line as it is; in bash Ctrl-X a puts all candidates into it.
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"""
source {SCRIPTS}/xdownload.bash
bind -x '"\\C-xd": printf "<<%s>>\\n" "$READLINE_LINE"'
bind '"\\C-xa": insert-completions'
bind 'set bell-style none'
"""),
    "zsh": (["zsh", "-f", "-i"], f"""
fpath=({SCRIPTS} $fpath)
autoload -U compinit; compinit -D -u
show() {{ print -r -- "<<$BUFFER>>" }}
zle -N show
bindkey '^Xd' show
unsetopt beep zle_bracketed_paste 2>/dev/null
""")}


class Shell:
    def __init__(self, name, folder):
        command, start = START[name]
        env = {"PATH": f"{COMMAND.parent}:{os.environ['PATH']}",
               "HOME": str(folder), "TERM": "dumb", "PS1": "$ ",
               "LC_ALL": "C", "COLUMNS": "4000"}
        script = folder / ".start"
        script.write_text(start + "\nstty cols 4000\necho rea''dy\n")
        self.master, slave = pty.openpty()
        self.shell = subprocess.Popen(command, stdin=slave, stdout=slave,
                                      stderr=slave, env=env, cwd=folder,
                                      start_new_session=True)
        os.close(slave)
        self.type(f". {script}\n")
        self.until(r"(?m)^ready")

    def type(self, keys):
        os.write(self.master, keys.encode())

    def until(self, pattern):
        said, end = "", time.monotonic() + PATIENCE_S
        while not re.search(pattern, said):
            assert time.monotonic() < end, said
            if select.select([self.master], [], [], 1)[0]:
                said += os.read(self.master, 65536).decode().replace("\r", "")
        return re.search(pattern, said)

    def line_after(self, typed, key):
        self.type(typed + key + "\x18d")
        shown = self.until(r"(?s)^(.*?)<<(.*?)>>")
        self.type("\x15")  # nothing of it stays
        self.shown = shown[1]  # until then, all the line again at last
        return shown[2]

    def close(self):
        self.shell.kill()
        self.shell.wait()
        os.close(self.master)


@pytest.fixture(name="folder", scope="module")
def folder_with_files(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    for name in ("fedora.meta4", "films.xnd", "a b.iso"):
        (path / name).touch()
    return path


@pytest.fixture(name="shell", scope="module", params=["bash", "zsh"])
def interactive(request, folder):
    shell = Shell(request.param, folder)
    yield shell
    shell.close()


def offered(*words):
    said = subprocess.run([COMMAND, "__complete", *words], check=True,
                          text=True, stdout=subprocess.PIPE).stdout
    return {line.partition("\t")[0] for line in said.splitlines()}


@pytest.mark.parametrize("typed, completed", [
    ("--algo", "--algorithm "),
    ("--max-dep", "--max-depots "),
    ("--algorithm agg", "--algorithm aggressive "),
    ("-a agg", "-a aggressive "),
    ("--algorithm=agg", "--algorithm=aggressive "),
    ("-qa agg", "-qa aggressive "),
    ("--retry fed", "--retry fed"),
    ("ver", "verify "),
    ("show --js", "show --json "),
    ("show --format met", "show --format metalink "),
    ("show --format=ex", "show --format=exnode "),
    ("--progress j", "--progress json "),
    ("fed", "fedora.meta4 "),
    ("-o fil", "-o films.xnd "),
    ("show fed", "show fedora.meta4 "),
    ("-- fed", "-- fedora.meta4 "),
    ("--set max-dep", "--set max-depots="),
    ("--js", "--js"),  # is not of get
    ("--progress-number au", "--progress-number auto "),
    ("--spool no", "--spool none "),
    ("--set algorithm=agg", "--set algorithm=aggressive "),
    ("--set progress-number=", "--set progress-number=auto "),
    ("bench -a basic,agg", "bench -a basic,aggressive "),
    ("bench --algorithm=basic,agg", "bench --algorithm=basic,aggressive "),
    ("--help netw", "--help network "),
    ("-h be", "-h bench "),
    ("--output-document fil", "--output-document films.xnd "),
    ("--public-key fil", "--public-key films.xnd "),
    ("--tries fed", "--tries fed"),
])
def test_a_word_is_completed(shell, typed, completed):
    assert shell.line_after(f"xdownload {typed}", "\t") == \
        f"xdownload {completed}"
    # A message would stand between what was typed and what was completed.
    assert shell.shown.rstrip().endswith(f"xdownload {completed}".rstrip())


@pytest.mark.parametrize("options", ["", "set -u;", "set -e;", "shopt -s nullglob;",
                                     "shopt -s failglob;", "set -f;"])
@pytest.mark.parametrize("typed", [
    [""], ["--algo"], ["fed"], ["show", ""], ["--algorithm", "=", "agg"],
    ["--algorithm", "="], ["="], ["=", "x"], ["--set", "algorithm", "=", "ba"],
    ["--set", "algorithm", "="], ["-o", ""], ["--js"], ["*"], ["--nothing", ""]])
def test_bash_prints_nothing_while_it_completes(folder, typed, options):
    script = f"""{options} compopt() {{ :; }}
source {SCRIPTS}/xdownload.bash
COMP_WORDS=(xdownload "$@") COMP_CWORD=$#
_xdownload {COMMAND} "${{@: -1}}" xdownload"""
    run = subprocess.run(["bash", "--norc", "-c", script, "bash", *typed], text=True,
                         cwd=folder, capture_output=True, timeout=PATIENCE_S)
    assert run.stderr == run.stdout == ""


def test_fish_prints_nothing_but_candidates(folder):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    for typed in "", "--algo", "fed", "show ", "--algorithm=agg", "=":
        run = subprocess.run(
            ["fish", "--no-config", "-c", f"source {SCRIPTS}/xdownload.fish; "
             "complete -C $argv", f"xdownload {typed}"], text=True, cwd=folder,
            env=os.environ | {"PATH": f"{COMMAND.parent}:{os.environ['PATH']}",
                              "HOME": str(folder)},
            capture_output=True, timeout=PATIENCE_S)
        assert run.stderr == "", typed


def test_bash_offers_what_the_command_does(folder):
    shell = Shell("bash", folder)
    line = shell.line_after("xdownload --", "\x18a")
    shell.close()
    assert set(line.split()[1:]) == offered("--")


def test_each_option_is_offered():
    table = (SCRIPTS.parents[1] / "lib/engine/options.def").read_text()
    library = set(re.findall(r'(?m)^XD_OPTION\([\w.]+, "([a-z0-9-]+)"', table))
    assert len(library) > 40
    all_offered = set().union(*(offered(command, "--") for command in
                                offered("") - {"/"}))
    assert {f"--{name}" for name in library - {"records"}} < all_offered
    own = {"--output", "--repair", "--format", "--player", "--listen",
           "--virtual", "--summary", "--help"}
    assert own < all_offered


def test_an_option_is_offered_to_the_commands_that_take_it():
    assert "--repair" in offered("verify", "--")
    assert "--repair" not in offered("--") | offered("show", "--")


def test_bash_keeps_a_name_with_a_blank_together(folder):
    shell = Shell("bash", folder)
    line = shell.line_after("xdownload show a", "\t")
    shell.close()
    assert line == "xdownload show a\\ b.iso "


@pytest.mark.parametrize("typed, found", [
    ("--algo", ["--algorithm"]),
    ("-a pro", ["progress"]),
    ("--algorithm=pro", ["--algorithm=progress"]),
    ("ver", ["verify"]),
    ("show fed", ["fedora.meta4"]),
    ("show --format ", ["exnode", "metalink"]),
    ("show --format=ex", ["--format=exnode"]),
    ("--progress j", ["json"]),
    ("--set algorithm=agg", ["algorithm=aggressive"]),
    ("--help netw", ["network"]),
])
def test_fish_is_told_the_same(folder, typed, found):
    shell = shutil.which("fish")
    assert shell, "fish is not installed"
    said = subprocess.run(
        [shell, "--no-config", "-c", f"source {SCRIPTS}/xdownload.fish; "
         f"complete -C 'xdownload {typed}'"], text=True, check=True,
        stdout=subprocess.PIPE, cwd=folder, env={
            **os.environ, "HOME": str(folder),
            "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}).stdout
    assert [line.partition("\t")[0] for line in said.splitlines()] == found


def words_of_help(pattern):
    """Each option with a list of words that the help has: its words."""
    text = subprocess.run([COMMAND, "--help", "all"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    text = re.sub(r"\n {20,}", " ", text)
    return {name: re.split(", | or ", listed) for name, listed in re.findall(
        r"--([a-z-]+) [A-Z].*: (%s)(?: \(default.*)?$" % pattern, text, re.M)}


def test_each_option_with_a_set_of_words_offers_them():
    listed = words_of_help(r"[a-z]+(?:, [a-z]+)* or [a-z]+")
    assert {"progress", "format"} <= set(listed)
    listed["algorithm"] = ["adaptive", "basic", "aggressive", "progress"]
    for name, words in listed.items():
        command = ["show"] if name == "format" else []
        assert offered(*command, f"--{name}", "") == set(words)
        assert offered(*command, f"--{name}=") == {
            f"--{name}={word}" for word in words}


def test_the_table_is_the_only_list():
    text = "".join(p.read_text() for p in SCRIPTS.iterdir()
                   if p.suffix not in (".c", ".h"))
    assert [name for name in offered("--") if name in text] == []
