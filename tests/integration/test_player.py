# SPDX-License-Identifier: MIT
"""A player of the user's, which `xdownload play` starts and ends with.

Most play with programs made up here: one that is called mpv, and tells what
the tests want, and others of which nobody knows what they show.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lab import wait_until

SIZE = 1_000_000

# What all of them can do.
COMMON = f"""#!{sys.executable}
import fcntl, json, os, signal, socket, struct, sys, termios, time
import urllib.request
url = sys.argv[-1]
def save():
    with urllib.request.urlopen(url, timeout=60) as answer:
        open("played", "wb").write(answer.read())
def mark(name, text=""):
    open(name + ".new", "w").write(str(text))
    os.rename(name + ".new", name)
"""

# One that speaks as mpv does.
MPV = COMMON + """
option = [w for w in sys.argv if w.startswith("--input-ipc-client=fd://")][0]
ipc = socket.socket(fileno=int(option.rpartition("/")[2]))
lines = ipc.makefile("r")
ids = {}
while len(ids) < 10:
    command, number, name = json.loads(lines.readline())["command"]
    ids[name] = number
def say(**properties):
    # in one portion, and with what it says besides
    text = '{"request_id":0,"error":"success"}\\n{"event":"file-loaded"}\\n'
    for name, value in properties.items():
        event = {"event": "property-change", "id": ids[name.replace("_", "-")],
                 "name": name.replace("_", "-")}
        if value is not None:
            event["data"] = value
        text += json.dumps(event, separators=(",", ":")) + "\\n"
    ipc.sendall(text.encode())
    # What happens next is to be another moment to who hears it.
    while struct.unpack("i", fcntl.ioctl(ipc, termios.TIOCOUTQ, bytes(4)))[0]:
        time.sleep(0.001)
def begin():
    say(core_idle=True, pause=False, time_pos=None, seeking=True)
    say(duration=10.0, time_pos=0.0, seeking=False, core_idle=False)
"""


def program(lab, name, text):
    path = lab.path(name)
    path.write_text(text)
    path.chmod(0o755)
    return path


def start(lab, player, *args, depots=None, **options):
    if not (lab.www / "f.bin").exists():
        lab.data = lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", depots or lab.depots(2))
    return lab.start("play", "--player", player, manifest, *args, report=False,
                     **options)


def play(lab, player, *args, **options):
    return start(lab, player, *args, **options).wait()


def told(lab, text, *args):
    """What is told of a viewer whose mpv does this."""
    run = play(lab, program(lab, "mpv", MPV + text), "--json", *args)
    assert run.rc == 0, run.err
    return json.loads(run.out)


# ---- any player ----

def test_a_player_gets_the_file_and_the_words_behind_the_dashes(lab):
    run = play(lab, program(lab, "player", COMMON + """
save()
mark("words", " ".join(sys.argv[1:-1]))
"""), "--", "--loud", "-x", "--")
    assert run.rc == 0, run.err
    assert lab.read("played") == lab.data
    assert lab.read("words") == b"--loud -x --"
    assert b"f.bin: stalls are not known" in run.out
    assert b"waited for bytes for 0." in run.out


def test_what_a_player_prints_is_not_among_the_data(lab):
    run = play(lab, program(lab, "player", COMMON + "print('a word')"),
               "--json")
    assert run.rc == 0 and "a word" in run.err
    assert set(json.loads(run.out)) == {
        "file", "blocked_s", "algorithm", "block_size", "bytes_received",
        "bytes_redundant"}


def test_the_waits_of_a_player_are_told(lab):
    run = play(lab, program(lab, "player", COMMON + "save()"), "--json",
               depots=[lab.depot(rate=1_000_000)])
    assert json.loads(run.out)["blocked_s"] > 0.3


def test_the_status_is_that_of_the_player(lab):
    run = play(lab, program(lab, "player", COMMON + "sys.exit(7)"))
    assert run.rc == 7 and "player ended with status 7" in run.err
    run = play(lab, program(lab, "player", COMMON +
                            "os.kill(os.getpid(), signal.SIGKILL)"))
    assert run.rc == 137 and "was ended by signal 9" in run.err


def test_a_player_that_is_content_with_nothing_does_not_hide_a_failure(lab):
    run = play(lab, program(lab, "player", COMMON + """
try:
    save()
except OSError:
    pass
"""), "--", depots=[lab.depot(files={})])
    assert run.rc == 1 and "1/f.bin: no depot is left" in run.err


@pytest.mark.parametrize("name, why", [
    ("none-of-this-name", "there is no player none-of-this-name: install it"),
    ("./not-a-program", "./not-a-program cannot be started: Permission")])
def test_a_player_that_is_not_there_is_missed(lab, name, why):
    lab.write("not-a-program", "words")
    run = play(lab, name)
    assert run.rc == 5 and why in run.err and run.out == b""


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on(lab, sig):
    process = start(lab, program(lab, "player", COMMON + """
def note(sig, _):
    mark("signal", sig)
    sys.exit(0)
for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    signal.signal(sig, note)
mark("runs")
while True:
    time.sleep(1)
"""))
    wait_until(lab.path("runs").exists, "the player runs")
    process.send(sig)
    assert process.wait().rc == 130
    assert lab.read("signal") == b"%d" % sig


@pytest.mark.parametrize("signals", [1, 2])
def test_a_player_that_obeys_no_signal_is_not_left_behind(lab, signals):
    process = start(lab, program(lab, "player", COMMON + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
mark("runs", os.getpid())
while True:
    time.sleep(1)
"""))
    wait_until(lab.path("runs").exists, "the player runs")
    for _ in range(signals):
        process.send(signal.SIGTERM)
        time.sleep(0.2)
    assert process.wait().rc == 130  # and wait() looks for who is left
    assert not Path("/proc", lab.read("runs").decode()).exists()


def test_what_was_played_is_kept_to_its_end(lab):
    run = play(lab, program(lab, "player", COMMON + """
urllib.request.urlopen(url, timeout=60).read(1000)
"""), "--keep", "kept.bin")
    assert run.rc == 0, run.err
    assert lab.read("kept.bin") == lab.data


def test_what_the_player_did_not_read_is_kept_too(lab):
    run = play(lab, program(lab, "player", COMMON), "--keep", "kept.bin")
    assert run.rc == 0, run.err
    assert lab.read("kept.bin") == lab.data


@pytest.mark.parametrize("words, why", [
    (["--simulate", "--rate", "2MB/s", "--player", "vlc"],
     "use either --simulate or --player"),
    (["--simulate", "--rate", "2MB/s", "f.xnd", "--", "-x"],
     "starts no player"),
    (["--range", "0-5"], "--range needs --simulate"),
    (["--prebuffer", "0s"], "--prebuffer needs --simulate"),
    (["--fs"], "unknown option --fs; options of the player go after --"),
    (["--player", ""], "--player needs a value"), (["--", "f.xnd"], "given")])
def test_what_does_not_go_together_is_refused(lab, words, why):
    if "--" not in words:
        words = [*words, "f.xnd"]
    run = lab.xdownload("play", *words, report=False)
    assert run.rc == 2 and why in run.err


# ---- one that tells of itself ----

def test_a_start_is_no_stall_and_nor_is_a_pause_or_a_seek(lab):
    got = told(lab, """
time.sleep(0.3)
begin()
time.sleep(0.3)
say(time_pos=0.3, pause=True, core_idle=True)
time.sleep(0.3)
say(pause=False, core_idle=False)
time.sleep(0.3)
say(time_pos=5.0, seeking=True, core_idle=True)
say(paused_for_cache=True)
time.sleep(0.3)
say(seeking=False, paused_for_cache=False, core_idle=False)
time.sleep(0.3)
say(core_idle=True, time_pos=None)
""")
    assert got["startup_time_s"] > 0.2
    assert got["stall_count"] == 0 and got["stall_time_s"] == 0
    assert got["seek_count"] == 1 and got["restart_time_s"] > 0.2
    [[_, waited]] = got["restart_list"]
    assert waited == got["restart_max_s"] == got["restart_time_s"]
    assert got["restart_min_s"] == waited  # nobody fetches anything here
    assert got["played_s"] > 0.6
    assert got["watched_time_s"] == pytest.approx(
        got["startup_time_s"] + got["played_s"] + got["restart_time_s"],
        abs=0.001)


def test_a_wait_for_bytes_is_a_stall(lab):
    got = told(lab, """
begin()
time.sleep(0.2)
say(paused_for_cache=True, core_idle=True)
time.sleep(0.4)
say(paused_for_cache=False, core_idle=False)
time.sleep(0.2)
""")
    assert got["stall_count"] == 1 and got["stall_time_s"] > 0.3
    assert got["seek_count"] == 0
    [[shown, _]] = got["stall_list"]
    assert 0.1 < shown <= got["played_s"]


def test_the_rate_of_media_is_that_of_the_file(lab):
    """All of it is here, and lasts as long as mpv says."""
    got = told(lab, """
save()
begin()
time.sleep(1)
""")
    assert 5 < max(level for _, level in got["buffer_level"]) <= 10
    assert got["stall_min_s"] == 0 and got["rebuffer_ratio_min"] == 0


def test_without_a_duration_the_rate_is_that_of_picture_and_sound(lab):
    got = told(lab, """
save()
say(core_idle=False, time_pos=0.0, video_bitrate=600000.0,
    audio_bitrate=200000.0)
time.sleep(1)
""")
    assert 5 < max(level for _, level in got["buffer_level"]) <= 10
    assert got["played_s"] > 0.7


def test_a_jump_to_what_is_here_need_not_wait(lab):
    got = told(lab, """
save()
begin()
time.sleep(0.2)
say(time_pos=5.0, seeking=True, core_idle=True)
time.sleep(0.3)
say(seeking=False, core_idle=False)
time.sleep(0.2)
""")
    assert got["seek_count"] == 1 and got["restart_time_s"] > 0.2
    assert got["restart_min_s"] < 0.2


def test_a_player_that_says_odd_things_is_listened_to(lab):
    got = told(lab, r"""
ipc.sendall(b'{"event":"property-change","id":9999999999999,"data":1}\n'
            b'\n{"id":1,"data":\n\x00\xff{{"event":"property-change"}\n'
            b'{"event":"property-change","id":-1,"data":true}\n'
            b'{"event":"property-change","id":2,"data":1e999}\n'
            + b'x' * 100000 + b'\n')
begin()
time.sleep(0.2)
""")
    assert got["played_s"] > 0.1 and got["stall_count"] == 0


def test_a_player_that_was_left_by_us_ends(lab):
    """Killed, we can see to nothing any more: the closed socket does."""
    process = start(lab, program(lab, "mpv", MPV + """
mark("runs", os.getpid())
lines.read()
mark("ends")
"""))
    wait_until(lab.path("runs").exists, "the player runs")
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lab.path("ends").exists, "its socket is closed")
    process.popen.wait()


# ---- mpv itself ----

def put(lab, film):
    """On three depots of unequal speed, all together three times as fast as
    it plays; returns its manifest."""
    shutil.copy(film, lab.www / "film.mkv")
    return lab.exnode("film.mkv", [lab.depot(rate=rate)
                                   for rate in (300_000, 150_000, 50_000)])


HEADLESS = ["--no-config", "--vo=null", "--ao=null"]

with_mpv = pytest.mark.skipif(not shutil.which("mpv"),
                              reason="mpv is not installed")


@with_mpv
@pytest.mark.plain
def test_mpv_plays_it_and_tells_of_its_stalls(lab, film):
    run = lab.xdownload("play", "--json", put(lab, film), "--", *HEADLESS,
                        "--end=2", report=False)
    assert run.rc == 0, run.err
    got = json.loads(run.out)
    assert 1 < got["played_s"] < 4
    assert 0 < got["startup_time_s"] < 10
    assert got["stall_time_s"] < 1
    assert got["seek_count"] == 0


@with_mpv
@pytest.mark.plain
def test_mpv_stalls_when_the_depots_do(lab, film):
    shutil.copy(film, lab.www / "film.mkv")
    slow = lab.depot(rate=100_000)
    run = lab.xdownload("play", "--json", lab.exnode("film.mkv", [slow]), "--",
                        *HEADLESS, "--end=2", "--speed=2", report=False)
    assert run.rc == 0, run.err
    got = json.loads(run.out)
    assert got["stall_count"] >= 1 and got["stall_time_s"] > 0.5
    assert got["blocked_s"] > 0.5


@with_mpv
@pytest.mark.plain
def test_mpv_that_waits_for_silent_depots_ends_at_once(lab, film):
    shutil.copy(film, lab.www / "film.mkv")
    process = lab.start("play", lab.exnode("film.mkv", [lab.silent()]), "--",
                        *HEADLESS, report=False)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(children.read_text, "mpv begins")
    time.sleep(0.5)
    process.send(signal.SIGTERM)
    assert process.wait().rc == 130


@with_mpv
@pytest.mark.plain
def test_mpv_does_not_try_a_dead_source_again(lab, film):
    shutil.copy(film, lab.www / "film.mkv")
    run = lab.xdownload("play", "--retry", "1", "--patience", "0s",
                        lab.exnode("film.mkv", [lab.dead()]), "--",
                        *HEADLESS, report=False)
    assert run.rc == 2 and "no depot is left" in run.err
    assert run.err.count("Will reconnect") <= 1


@with_mpv
@pytest.mark.plain
def test_mpv_plays_what_comes_out_of_a_pipe(lab, film):
    process = lab.start("-q", "-o", "-", put(lab, film),
                        stdout=subprocess.PIPE)
    played = subprocess.run(
        ["mpv", *HEADLESS, "--untimed", "--no-audio", "-"],
        stdin=process.popen.stdout, stdout=subprocess.PIPE, text=True,
        timeout=60, check=False)
    process.popen.stdout.close()
    assert process.wait().rc == 0
    assert played.returncode == 0 and "End of file" in played.stdout
