# SPDX-License-Identifier: MIT
"""Files that are played one after another, and what is begun before it is
asked for."""
import contextlib
import hashlib
import http.client
import json
import re
import time

import pytest
from lab import asked_range, bytes_of, wait_until
from test_dashboard import listening
from test_player import COMMON, MPV, program
from test_serve import Served

SIZE = 500_000
NAMES = ["a.mkv", "b.mkv", "c.mkv"]
SIMULATED = ["--simulate", "--json", "--rate", "500kB/s", "--prebuffer", "1s"]


class Far:
    """A depot that takes its time before each answer."""

    def __init__(self, lab, files, seconds=0.5):
        self.files, self.seconds = files, seconds
        self.depot = lab.odd(self.answer)

    def answer(self, head):
        name = head.split()[1][1:]
        time.sleep(self.seconds)
        if name not in self.files:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        data = self.files[name]
        first, last = asked_range(head) or (0, None)
        last = len(data) - 1 if last is None else min(last, len(data) - 1)
        return (f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes "
                f"{first}-{last}/{len(data)}\r\nContent-Length: "
                f"{last + 1 - first}\r\nConnection: close\r\n\r\n"
                .encode() + data[first:last + 1])

    def asked(self):
        """The names that it was asked for, each once, in order."""
        return list(dict.fromkeys(h.split()[1][1:]
                                  for h in list(self.depot.heads)))


def put(lab, names=NAMES, size=SIZE):
    """The files of these names, and their bytes."""
    return {name: lab.file(name, size, seed)
            for seed, name in enumerate(names, 1)}


def manifest_of(lab, depot, names=NAMES):
    return lab.metalink_of([(name, [depot], None) for name in names])


def play(lab, *args):
    run = lab.xdownload("play", *args, report=False)
    return run, json.loads(run.out)


# ---- a simulated player ----

@pytest.mark.parametrize("spool", [
    [], pytest.param(["--spool", "none"], marks=pytest.mark.slow)])
def test_files_follow_each_other_without_a_stall(lab, spool):
    far = Far(lab, put(lab))
    run, told = play(lab, *SIMULATED, *spool, manifest_of(lab, far.depot))
    assert run.rc == 0, run.err
    assert [t["file"] for t in told] == NAMES
    for t in told:
        assert t["played_s"] == pytest.approx(1, abs=0.3)
        assert t["stall_count"] == 0
    # Each takes half a second to begin, which has passed before its turn.
    assert all(t["startup_time_s"] < 0.4 for t in told[1:]), told


@pytest.mark.slow
def test_several_manifests_are_played_like_one(lab):
    put(lab)
    depot = lab.depot()
    run, told = play(lab, *SIMULATED, lab.exnode("b.mkv", [depot]),
                     manifest_of(lab, depot, ["c.mkv", "a.mkv"]))
    assert run.rc == 0, run.err
    assert [t["file"] for t in told] == ["b.mkv", "c.mkv", "a.mkv"]


def test_one_file_of_many_is_played_alone(lab):
    put(lab)
    run, told = play(lab, *SIMULATED, "--file", "b.mkv",
                     manifest_of(lab, lab.depot()))
    assert run.rc == 0 and told["file"] == "b.mkv"


def test_people_are_told_what_lay_between_files(lab):
    far = Far(lab, put(lab, size=50_000))
    run = lab.xdownload("play", "--simulate", "--rate", "500kB/s",
                        "--prebuffer", "0s", manifest_of(lab, far.depot),
                        report=False)
    assert run.rc == 0, run.err
    assert [line.split(b":")[0] for line in run.out.splitlines()
            if b": played " in line] == [n.encode() for n in NAMES]
    between = re.search(rb"between the files: ([\d.]+) s together, the longest "
                        rb"([\d.]+) s\n", run.out)
    assert float(between[1]) >= float(between[2]) > 0.2


@pytest.mark.parametrize("missing", [
    pytest.param(0, marks=pytest.mark.slow), 1,
    pytest.param(2, marks=pytest.mark.slow)])
def test_a_file_that_is_missing_ends_no_other(lab, missing):
    files = put(lab)
    del files[NAMES[missing]]
    far = Far(lab, files, 0.1)
    run, told = play(lab, *SIMULATED, manifest_of(lab, far.depot))
    assert run.rc == 1 and "no depot is left" in run.err, run.err
    assert [t["file"] for t in told] == NAMES
    assert [t["played_s"] > 0.5 for t in told] == [
        i != missing for i in range(3)]


def test_a_file_that_nothing_can_fetch_ends_no_other(lab):
    put(lab)
    text = (f'<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
            '<file name="x.mkv"><size>5</size><url>file:///no/such/file</url>'
            f'</file><file name="a.mkv"><size>{SIZE}</size>'
            f'<url>{lab.depot().url("a.mkv")}</url></file></metalink>')
    run, told = play(lab, *SIMULATED, lab.write("m.meta4", text))
    assert run.rc == 1 and "1/x.mkv: " in run.err, run.err
    assert [t["file"] for t in told] == ["a.mkv"]


def test_a_name_to_keep_is_for_one_file(lab):
    put(lab)
    run = lab.xdownload("play", *SIMULATED, "--keep", "x",
                        manifest_of(lab, lab.depot()), report=False)
    assert run.rc == 2 and "but there are 3" in run.err


# ---- a player of the user's ----

def test_a_player_gets_the_url_of_each_file(lab):
    files = put(lab)
    run = lab.xdownload("play", "--player", program(lab, "player", COMMON + """
for i, url in enumerate(sys.argv[2:]):
    with urllib.request.urlopen(url, timeout=60) as answer:
        mark(url.rpartition("/")[2])
        open(str(i), "wb").write(answer.read())
"""), manifest_of(lab, lab.depot()), "--", "--loud", report=False)
    assert run.rc == 0, run.err
    for i, name in enumerate(NAMES):
        assert lab.path(name).exists() and lab.read(str(i)) == files[name]
        assert f"{name}: stalls are not known".encode() in run.out


def test_a_player_of_very_many_files_gets_a_playlist(lab):
    names = [f"{i:03}.mkv" for i in range(101)]
    put(lab, names, 1000)
    run = lab.xdownload("play", "--player", program(lab, "player", COMMON + """
save()
mark("words", " ".join(sys.argv[1:]))
"""), manifest_of(lab, lab.depot(), names), report=False)
    assert run.rc == 0, run.err
    assert re.fullmatch(rb"http://[^/]+/playlist\.m3u", lab.read("words"))
    listed = [line for line in lab.read("played").decode().splitlines()
              if not line.startswith("#")]
    assert [url.rpartition("/")[2] for url in listed] == names


TURNS = """
def turn(i):
    say(path=sys.argv[-3 + i], core_idle=True, time_pos=None)
    urllib.request.urlopen(sys.argv[-3 + i], timeout=60).read()
    say(duration=10.0, time_pos=0.0, core_idle=False)
"""


def test_each_file_that_mpv_plays_has_its_account(lab):
    put(lab)
    mpv = program(lab, "mpv", MPV + TURNS + """
turn(0)
time.sleep(0.3)
say(time_pos=0.3, paused_for_cache=True, core_idle=True)
time.sleep(0.3)
say(paused_for_cache=False, core_idle=False)
time.sleep(0.2)
say(path=None, core_idle=True, time_pos=None)
turn(2)
time.sleep(0.5)
""")
    run, told = play(lab, "--player", mpv, "--json",
                     manifest_of(lab, lab.depot()))
    assert run.rc == 0, run.err
    assert [t["file"] for t in told] == ["a.mkv", "c.mkv"]
    assert [t["stall_count"] for t in told] == [1, 0]
    assert told[1]["played_s"] > 0.3
    assert all(t["bytes_received"] >= SIZE for t in told)


def test_what_mpv_plays_besides_is_nobodys(lab):
    put(lab)
    mpv = program(lab, "mpv", MPV + TURNS + """
turn(0)
say(path="http://127.0.0.1:1/x", duration=10.0, time_pos=0.0)
say(path="/a/file", duration=10.0, time_pos=5.0)
time.sleep(0.2)
turn(1)
time.sleep(0.2)
""")
    run, told = play(lab, "--player", mpv, "--json",
                     manifest_of(lab, lab.depot()))
    assert run.rc == 0, run.err
    assert [t["file"] for t in told] == ["a.mkv", "b.mkv"]
    assert all(t["seek_count"] == 0 for t in told)


# ---- what is served ----

def path_of(url):
    return "/" + url.split("/", 3)[3]


def test_the_next_file_is_begun_before_it_is_asked_for(lab):
    files = put(lab)
    far = Far(lab, files, 0)
    served = Served(lab, manifest_of(lab, far.depot))
    paths = [path_of(served.url()) for _ in NAMES]
    assert served.ask(paths[0])[1] == files["a.mkv"]
    wait_until(lambda: far.asked() == NAMES, "all are begun, in order")
    assert [served.ask(p)[1] for p in paths] == list(files.values())
    assert far.asked() == NAMES


def test_no_more_is_begun_than_the_lookahead_of_the_next(lab):
    """What is behind a file that is not here up to its end can wait."""
    files = {"a.mkv": bytes_of(SIZE, 1), "b.mkv": bytes_of(8 << 20, 2),
             "c.mkv": bytes_of(SIZE, 3)}
    for name, data in files.items():
        (lab.www / name).write_bytes(data)
    far = Far(lab, files, 0)
    served = Served(lab, "--lookahead", "1m", manifest_of(lab, far.depot))
    served.ask(path_of(served.url()))
    wait_until(lambda: far.asked() == NAMES[:2], "the next one is begun")
    time.sleep(0.5)
    assert far.asked() == NAMES[:2]


def test_an_index_at_the_end_begins_no_other_file(lab):
    files = put(lab, size=2 << 20)
    far = Far(lab, files, 0)
    served = Served(lab, "--lookahead", "256k", "--spool", "none",
                    manifest_of(lab, far.depot))
    path = path_of(served.url())
    served.ask(path, Range="bytes=0-99999")
    served.ask(path, Range="bytes=-100000")
    time.sleep(0.5)
    assert far.asked() == ["a.mkv"]
    assert served.ask(path)[1] == files["a.mkv"]
    wait_until(lambda: far.asked()[:2] == NAMES[:2], "the next one is begun")


def test_a_file_that_is_missing_is_passed_over(lab):
    files = put(lab)
    del files["b.mkv"]
    far = Far(lab, files, 0)
    served = Served(lab, manifest_of(lab, far.depot))
    paths = [path_of(served.url()) for _ in NAMES]
    served.ask(paths[0])
    wait_until(lambda: far.asked() == NAMES, "the last is begun")
    wait_until(lambda: " 2/b.mkv: no depot" in served.process.err_now(),
               "it is told why")
    with contextlib.suppress(Exception):
        served.ask(paths[1])
    assert served.ask(paths[2])[1] == files["c.mkv"]
    assert served.process.err_now().count("2/b.mkv") == 1


@pytest.mark.parametrize("spool", [[], ["--spool", "none"]])
def test_so_many_files_are_open_at_a_time(lab, spool):
    names = [f"{i:03}.bin" for i in range(80)]
    files = put(lab, names, 1000)
    served = Served(lab, *spool, manifest_of(lab, lab.depot(), names))
    paths = [path_of(served.url()) for _ in names]
    for _ in range(2):
        for name, path in zip(names, paths):
            answer, body = served.ask(path)
            assert answer.status == 200 and body == files[name]
    with listening(served) as events:
        # Some are about to be begun.
        assert 1 <= len(next(events)["files"]) <= (8 if spool else 64)
    page = served.ask("/")[1].decode()
    assert page.count("<section data-file=") == len(names)
    run, _ = served.end()
    assert run.rc == 130 and run.err.count("error") == 0


def test_files_that_were_read_last_stay_open(lab):
    names = [f"{i:03}.bin" for i in range(80)]
    files = put(lab, names, 1000)
    depot = lab.depot()
    served = Served(lab, manifest_of(lab, depot, names))
    paths = [path_of(served.url()) for _ in names]
    for path in reversed(paths):
        assert served.ask(path)[0].status == 200
    before = len(depot.requests())
    for i in range(30):
        assert served.ask(paths[i])[1] == files[names[i]]
    assert len(depot.requests()) == before


def test_in_memory_the_last_file_stays_open(lab):
    files = put(lab, ["a.mkv"])
    depot = lab.depot()
    served = Served(lab, "--spool", "none", manifest_of(lab, depot, ["a.mkv"]))
    assert served.ask()[1] == files["a.mkv"]
    before = len(depot.requests())
    assert served.ask()[1] == files["a.mkv"]
    assert len(depot.requests()) == before


def test_what_is_ahead_of_a_client_ends_when_it_has_come(lab):
    put(lab)
    served = Served(lab, manifest_of(lab, lab.depot()))
    paths = [path_of(served.url()) for _ in NAMES]

    def readers():
        with listening(served) as events:
            return {f["file"]: len(f["readers"]) for f in next(events)["files"]}
    served.ask(paths[0])
    wait_until(lambda: readers() == {1: 0, 2: 1, 3: 1}, "two are ahead")
    served.ask(paths[1])
    wait_until(lambda: readers() == {1: 0, 2: 0, 3: 1}, "one is ahead")
    served.ask(paths[2])
    wait_until(lambda: readers() == {1: 0, 2: 0, 3: 0}, "none is ahead")


@pytest.mark.parametrize("is_first", [True, False])
def test_for_a_file_that_a_client_reads_nothing_else_reads_ahead(lab, is_first):
    """Whether the client began before the file's turn, or found it begun."""
    put(lab, size=16 << 20)
    served = Served(lab, manifest_of(lab, lab.depot()))
    paths = [path_of(served.url()) for _ in NAMES]

    def readers():
        with listening(served) as events:
            return {f["file"]: len(f["readers"])
                    for f in next(events)["files"]}.get(2, 0)
    if not is_first:
        served.ask(paths[0])
        wait_until(lambda: readers() == 1, "the second is begun")
    with served.connect(f"GET {paths[1]} HTTP/1.1\r\nHost: localhost\r\n"
                        "\r\n") as client:
        assert client.recv(100_000)
        if is_first:
            served.ask(paths[0])
        time.sleep(0.7)
        assert readers() == 1


def test_a_file_too_many_has_to_wait(lab):
    names = [f"{i:03}.bin" for i in range(65)]
    put(lab, names, 1000)
    served = Served(lab, "--silence", "1h",
                    manifest_of(lab, lab.silent(), names))
    paths = [path_of(served.url()) for _ in names]
    clients = []
    for path in paths[:64]:
        client = served.connect(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
                                "\r\n")
        assert client.recv(15) == b"HTTP/1.1 200 OK"
        clients.append(client)
    assert served.ask(paths[64], method="HEAD")[0].status == 503
    clients.pop().close()
    wait_until(lambda: served.ask(paths[64], method="HEAD")[0].status == 200,
               "there is room")
    for client in clients:
        client.close()


def list_of(lab, depots, files):
    """The second with its hash, from two depots."""
    a, b, c = NAMES
    digest = hashlib.sha256(files[b]).hexdigest()
    return lab.write("list", f"{depots[0].url(a)}\n  out=first.mkv\n"
                     f"{depots[0].url(b)}\t{depots[1].url(b)}\n"
                     f"  checksum=sha-256={digest}\n{depots[1].url(c)}\n")


def test_a_list_is_played_line_by_line(lab):
    files = put(lab)
    run, reports = play(lab, *SIMULATED[:2], "--rate", "50MB/s", "-i",
                        list_of(lab, lab.depots(2), files))
    assert run.rc == 0, run.err
    assert [r["file"] for r in reports] == ["first.mkv", *NAMES[1:]]
    assert all(r["played_s"] > 0 for r in reports)


def test_a_list_is_served_line_by_line(lab):
    files = put(lab)
    served = Served(lab, "-i", list_of(lab, lab.depots(2), files))
    for i, (name, data) in enumerate(files.items()):
        shown = "first.mkv" if i == 0 else name
        answer, body = served.ask(f"/{i + 1}/{shown}")
        assert answer.status == 200
        assert body == data


@pytest.mark.slow
def test_wrong_bytes_of_a_line_are_noticed_by_its_hash(lab):
    files = put(lab)
    files[NAMES[1]] = b"another file"
    run = lab.xdownload("play", *SIMULATED[:2], "--rate", "50MB/s", "-i",
                        list_of(lab, lab.depots(2), files), report=False)
    assert run.rc == 4, run.err


def test_a_list_that_cannot_be_used_is_not_played(lab):
    run = lab.xdownload("play", *SIMULATED, "-i", lab.write("list", "no\n"),
                        report=False)
    assert run.rc == 2 and "line 1" in run.err


def test_a_simulated_player_says_why_a_file_ended(lab):
    put(lab)
    depot = lab.depot(files={})
    one = lab.metalink_of([(NAMES[0], [depot], None)])
    run = lab.xdownload("play", *SIMULATED, "--patience", "0s", one,
                        report=False)
    assert run.rc == 1
    assert run.err.count("no depot is left") == 1
    two = lab.metalink_of([(NAMES[0], [lab.depot()], None),
                           (NAMES[1], [depot], None)])
    run = lab.xdownload("play", *SIMULATED[:2], "--rate", "50MB/s",
                        "--patience", "0s", two, report=False)
    assert run.rc == 1
    assert "2/b.mkv: no depot is left" in run.err
    assert run.err.count("no depot is left") == 1


def half_of(lab, name):
    """Of the file's second half no depot is there."""
    half = SIZE // 2
    return lab.exnode_of(name, [
        (0, half, lab.depot().url(name), 0, half),
        (half, half, lab.dead().url(name), 0, half)])


def test_a_gap_that_a_simulated_player_comes_to_is_said_once(lab):
    put(lab)
    run = lab.xdownload("play", *SIMULATED[:2], "--rate", "50MB/s",
                        "--patience", "0s", "--retry", "1",
                        half_of(lab, NAMES[0]), report=False)
    assert run.rc == 1
    assert "1/a.mkv: no depot is left" in run.err
    assert run.err.count("no depot is left") == 1


def test_a_gap_that_a_client_comes_to_is_said_once(lab):
    put(lab)
    served = Served(lab, "--patience", "0s", "--retry", "1",
                    half_of(lab, NAMES[0]))
    for _ in range(2):
        with pytest.raises(http.client.IncompleteRead):
            served.ask()
    run, _ = served.end()
    assert run.err.count("1/a.mkv: no depot is left") == 1
    assert run.err.count("no depot is left") == 1


@pytest.mark.slow
def test_what_is_kept_and_wrong_is_said_once(lab):
    files = put(lab)
    depot = lab.depot(files={**files, NAMES[0]: bytes(SIZE)})
    run = lab.xdownload("play", *SIMULATED[:2], "--rate", "50MB/s", "--keep",
                        "k", manifest_of(lab, depot, NAMES[:1]), report=False)
    assert run.rc == 4
    assert run.err.count("mismatch") == 1
