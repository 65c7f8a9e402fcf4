# SPDX-License-Identifier: MIT
"""`xdownload depot`: the files of a folder, for a crowd."""
import contextlib
import email.utils
import functools
import hashlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time

import pytest
from lab import PATIENCE, wait_until
from served import Served

MIB = 1 << 20
SIZE = 8 * MIB + 12345
ACTIVE = ["--active-length", "1m"]
TOKEN = "a-token_of-our.own"
ID = "0123456789abcdef"


def serve(lab, *args):
    depot = Served(lab, *args, lab.folder_served, command="depot")
    depot.url()
    return depot


@pytest.fixture(name="folder")
def one_folder(lab):
    """d.iso and sub/small.txt; settled: changed more than two seconds ago."""
    lab.folder_served = lab.path("images")
    (lab.folder_served / "sub").mkdir(parents=True)
    lab.data = lab.file("d.iso", SIZE)
    for name, data in ("d.iso", lab.data), ("sub/small.txt", b"small\n"):
        (lab.folder_served / name).write_bytes(data)
        os.utime(lab.folder_served / name, (1600000000, 1600000000))
    return lab.folder_served


@pytest.fixture(name="depot")
def one_depot(lab, folder):
    assert folder.exists()
    return serve(lab, *ACTIVE)


def hint(answer):
    """(begin, end) of Xd-Next, end excluded; None: there is none."""
    value = answer.headers["Xd-Next"]
    if value is None:
        return None
    begin, end = re.fullmatch(r"bytes=(\d+)-(\d+)", value).groups()
    return int(begin), int(end) + 1


def standing(depot):
    answer, body = depot.ask("/?format=json")
    assert answer.headers["Content-Type"] == "application/json"
    return json.loads(body)


def file_of(depot, name="d.iso"):
    [found] = [f for f in standing(depot)["files"] if f["name"] == name]
    return found


# ---- ordinary files ----

def test_the_whole_is_there_with_its_length_and_type(lab, depot):
    answer, body = depot.ask("/d.iso")
    assert answer.status == 200 and body == lab.data
    assert int(answer.headers["Content-Length"]) == SIZE
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert re.fullmatch(r'"[0-9a-f.-]+"', answer.headers["ETag"])
    assert email.utils.parsedate_to_datetime(
        answer.headers["Last-Modified"]).timestamp() == 1600000000
    answer, body = depot.ask("/sub/small.txt")
    assert answer.status == 200 and body == b"small\n"
    assert answer.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("asked, first, last", [
    ("bytes=0-0", 0, 0), ("bytes=1048575-1048576", MIB - 1, MIB),
    (f"bytes={SIZE - 1}-", SIZE - 1, SIZE - 1),
    ("bytes=5-99999999", 5, SIZE - 1), ("bytes=-700", SIZE - 700, SIZE - 1)])
def test_a_range_is_that_range(lab, depot, asked, first, last):
    answer, body = depot.ask("/d.iso", Range=asked)
    assert answer.status == 206
    assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert body == lab.data[first:last + 1]


@pytest.mark.parametrize("asked", ["bytes=5-4", "bytes=0-1,5-6", "lines=0-1"])
def test_what_is_no_single_range_gets_the_whole(lab, depot, asked):
    answer, body = depot.ask("/d.iso", Range=asked)
    assert answer.status == 200 and body == lab.data


@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", "bytes=-0"])
def test_a_range_behind_the_end_is_refused(depot, asked):
    answer, _ = depot.ask("/d.iso", Range=asked)
    assert answer.status == 416
    assert answer.headers["Content-Range"] == f"bytes */{SIZE}"


def test_head_has_the_same_and_no_bytes(depot):
    got, _ = depot.ask("/d.iso", Xd_Client=ID)
    answer, body = depot.ask("/d.iso", method="HEAD")
    assert answer.status == 200 and body == b""
    for name in "Content-Length", "ETag", "Last-Modified", "Accept-Ranges":
        assert answer.headers[name] == got.headers[name]


def test_a_file_without_bytes_is_one(lab, folder):
    (folder / "empty").touch()
    depot = serve(lab)
    answer, body = depot.ask("/empty")
    assert answer.status == 200 and body == b""
    assert answer.headers["Content-Length"] == "0"


def test_conditions_of_the_tag(lab, depot):
    tag = depot.ask("/d.iso", method="HEAD")[0].headers["ETag"]
    for value in tag, f'"x", {tag}', f"W/{tag}", f'"a b",W/{tag}', "*":
        answer, body = depot.ask("/d.iso", If_None_Match=value)
        assert answer.status == 304 and body == b"", value
        assert answer.headers["ETag"] == tag
    for value in '"x"', tag[:-2] + '"', tag[1:-1], '"', f'"{tag}':
        assert depot.ask("/d.iso", If_None_Match=value)[0].status == 200, value
    for value in tag, f'"x",{tag}', "*":
        answer, body = depot.ask("/d.iso", If_Match=value, Range="bytes=0-4")
        assert answer.status == 206 and body == lab.data[:5], value
    for value in '"x"', f"W/{tag}", "":
        assert depot.ask("/d.iso", If_Match=value)[0].status == 412, value


def test_conditions_of_the_date(lab, depot):
    date = depot.ask("/d.iso", method="HEAD")[0].headers["Last-Modified"]
    other = "Sun, 13 Sep 2020 12:26:41 GMT"
    assert depot.ask("/d.iso", If_Modified_Since=date)[0].status == 304
    assert depot.ask("/d.iso", If_Modified_Since=other)[0].status == 200
    assert depot.ask("/d.iso", If_Unmodified_Since=date)[0].status == 200
    assert depot.ask("/d.iso", If_Unmodified_Since=other)[0].status == 412
    # Where a tag is given too, it decides.
    assert depot.ask("/d.iso", If_Modified_Since=date,
                     If_None_Match='"x"')[0].status == 200
    for value, status in (date, 206), (other, 200):
        answer, body = depot.ask("/d.iso", Range="bytes=0-4", If_Range=value)
        assert answer.status == status
        assert body == lab.data[:5 if status == 206 else None]


def test_a_range_of_a_file_that_has_changed_is_the_whole(lab, depot, folder):
    tag = depot.ask("/d.iso", method="HEAD")[0].headers["ETag"]
    ask = {"Range": "bytes=0-4", "If_Range": tag}
    assert depot.ask("/d.iso", **ask)[1] == lab.data[:5]
    (folder / "d.iso").write_bytes(b"another")
    answer, body = depot.ask("/d.iso", **ask)
    assert answer.status == 200 and body == b"another"
    assert answer.headers["ETag"] != tag


def test_range_of_a_version_whose_time_was_set_back_is_the_whole(depot, folder):
    file = folder / "d.iso"
    was = file.stat()
    ask = {"Range": "bytes=0-4",
           "If_Range": depot.ask("/d.iso", method="HEAD")[0].headers["ETag"]}

    def overwrite():
        with file.open("r+b") as f:
            f.write(b"other")
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
        return file.stat().st_ctime_ns != was.st_ctime_ns

    wait_until(overwrite, "the clock of the disk moves on")
    assert file.stat().st_mtime_ns == was.st_mtime_ns
    answer, body = depot.ask("/d.iso", **ask)
    assert answer.status == 200 and body == file.read_bytes()


def test_the_type_is_that_of_the_name_that_is_asked_for(lab, folder):
    os.symlink("sub/small.txt", folder / "page.mp4")
    depot = serve(lab)
    for path, kind in (("/sub/small.txt", "text/plain"), ("/page.mp4", "video/mp4"),
                       ("/sub/small.txt", "text/plain")):
        answer, body = depot.ask(path)
        assert answer.headers["Content-Type"].startswith(kind)
        assert body == b"small\n"


def test_a_date_comes_when_no_change_can_be_hidden(depot, folder):
    """The file stays open, and keeps its tag."""
    (folder / "new").write_bytes(b"x")
    tag = depot.ask("/new")[0].headers["ETag"]
    wait_until(lambda: depot.ask("/new")[0].headers["Last-Modified"], "it has one")
    assert depot.ask("/new")[0].headers["ETag"] == tag


def test_a_file_that_has_just_changed_has_no_date(depot, folder):
    (folder / "new").write_bytes(b"x")
    ahead = time.time() + 3600
    os.utime(folder / "new", (ahead, ahead))
    assert depot.ask("/new")[0].headers["Last-Modified"] is None


def test_a_file_that_changes_on_the_way_is_broken_off(depot, folder):
    """It is larger than what the sockets hold of it."""
    big = folder / "big"
    big.write_bytes(b"x" * (64 * MIB))
    with contextlib.closing(depot.connect(
            "GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")) as client:
        assert client.recv(100).startswith(b"HTTP/1.1 200")
        with big.open("r+b") as f:
            f.write(b"y")
        received = 0
        with contextlib.suppress(ConnectionError):
            while some := client.recv(1 << 20):
                received += len(some)
        assert received < 64 * MIB


def test_requests_follow_each_other_on_one_connection(lab, depot):
    ask = "GET /d.iso HTTP/1.1\r\nHost: localhost\r\nRange: bytes={0}-{0}\r\n\r\n"
    with contextlib.closing(depot.connect(ask.format(5) + ask.format(7))) as c:
        got = b""
        while got.count(b"\r\n\r\n") < 2 or len(got.split(b"\r\n\r\n")[2]) < 1:
            got += c.recv(1 << 16)
    assert got.split(b"\r\n\r\n")[1][:1] == lab.data[5:6]
    assert got.split(b"\r\n\r\n")[2] == lab.data[7:8]


def test_xdownload_and_curl_fetch_it(lab, depot):
    url = depot.urls[0] + "d.iso"
    assert lab.xdownload("-o", "ours", url).rc == 0
    assert lab.read("ours") == lab.data
    subprocess.run(["curl", "-sf", "-o", lab.path("theirs"), url], check=True)
    assert lab.read("theirs") == lab.data


# ---- names ----

def test_what_is_not_below_the_folder_is_not_found(lab, folder):
    (lab.path("secret")).write_bytes(b"secret")
    (folder / ".hidden").write_bytes(b"x")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_bytes(b"x")
    os.mkfifo(folder / "pipe")
    os.symlink("../secret", folder / "up")
    os.symlink(lab.path("secret"), folder / "absolute")
    os.symlink("../../secret", folder / "sub" / "up")
    os.symlink("..", folder / "sub" / "parent")
    os.symlink(".hidden", folder / "seen")
    os.symlink("circle", folder / "circle")
    os.symlink("nothing", folder / "broken")
    depot = serve(lab)
    for path in ("/../secret", "/sub/../../secret", "/%2e%2e/secret",
                 "/sub/..%2f..%2fsecret", "//etc/passwd", "/up", "/absolute",
                 "/sub/up", "/sub/parent/d.iso", "/.hidden", "/.git/config",
                 "/seen", "/circle", "/broken", "/pipe", "/sub", "/sub/",
                 "/sub//small.txt", "/d.iso/", "/d.iso/x", "/nothing",
                 "/" + "x" * 300, "/" + "x/" * 1500, "/./d.iso"):
        assert depot.ask(path)[0].status == 404, path


def test_a_link_to_what_is_below_its_folder_is_followed(lab, folder):
    os.symlink("d.iso", folder / "latest.iso")
    os.symlink("sub", folder / "current")
    os.symlink("current/small.txt", folder / "small")
    depot = serve(lab)
    assert depot.ask("/latest.iso")[1] == lab.data
    assert depot.ask("/current/small.txt")[1] == b"small\n"
    assert depot.ask("/small")[1] == b"small\n"


def test_other_methods_are_not_allowed(depot):
    for method in "POST", "PUT", "DELETE":
        assert depot.ask("/d.iso", method=method)[0].status == 405


@pytest.mark.parametrize("host", ["evil.example", "10.1.2.3", "localhost.evil"])
def test_a_foreign_host_is_refused(depot, host):
    assert depot.ask("/d.iso", Host=host)[0].status == 403


def test_a_foreign_origin_is_refused(depot):
    assert depot.ask("/d.iso", Origin="http://evil.example")[0].status == 403


@pytest.mark.parametrize("site, status", [
    ("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)])
def test_a_page_of_another_site_is_refused_without_an_origin_too(depot, site,
                                                                 status):
    answer, _ = depot.ask("/d.iso", Sec_Fetch_Site=site)
    assert answer.status == status
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_without_the_token_nothing_is_found(lab, folder):
    assert folder.exists()
    depot = serve(lab, "--token", TOKEN, "--listen", "0.0.0.0")
    assert depot.urls[0].endswith(f"/{TOKEN}/")
    assert depot.ask(f"/{TOKEN}/d.iso")[1] == lab.data
    assert depot.ask(f"/{TOKEN}/")[0].status == 200
    for path in ("/", "/d.iso", f"/{TOKEN[:-1]}/d.iso", f"/{TOKEN}",
                 f"/{TOKEN}x/d.iso"):
        assert depot.ask(path)[0].status == 404, path


@pytest.mark.parametrize("args, words", [
    (["--listen", "0.0.0.0", "images"], "--token"), ([], "needs a folder"),
    (["images", "images"], "one folder"), (["nothing"], "nothing"),
    (["images/d.iso"], "d.iso"), (["--active-length", "1023k", "images"], "1m"),
    (["--active-length", "1025m", "images"], "1g"),
    (["--active-length", "x", "images"], "active-length")])
def test_what_cannot_be_served_is_refused(lab, folder, args, words):
    assert folder.exists()
    run = lab.xdownload("depot", *args, report=False)
    assert run.rc in (2, 5) and words in run.err


# ---- what is best asked for next ----

def test_a_hint_is_inside_the_file_and_leads_through_all_of_it(lab, depot):
    """Followed to the end it gives each byte once."""
    got, place = {}, (0, 1)
    while place is not None:
        begin, end = place
        answer, body = depot.ask("/d.iso", Xd_Client=ID,
                                 Range=f"bytes={begin}-{end - 1}")
        assert answer.status == 206 and len(body) == end - begin
        got[begin] = body
        place = hint(answer)
        if place is not None:
            assert 0 <= place[0] < place[1] <= SIZE
            assert place[1] - place[0] <= MIB // 4 + (1 << 16)
    assert b"".join(body for _, body in sorted(got.items())) == lab.data
    assert len(got) > SIZE // MIB * 4


def test_clients_share_what_one_of_them_has_had_read(depot):
    """The second one is led to where the first one is, and behind it."""
    depot.ask("/d.iso", Range=f"bytes=0-{5 * MIB - 1}", Xd_Client=ID)
    for method in "GET", "HEAD":
        answer, _ = depot.ask("/d.iso", method=method, Range="bytes=0-99",
                              Xd_Client=f"{len(method):016x}")
        begin, end = hint(answer)
        assert begin == 5 * MIB - MIB // 2 and begin < end <= 5 * MIB
    assert file_of(depot)["region"]["end"] == 5 * MIB
    assert file_of(depot)["region"]["begin"] == 4 * MIB


class Follower:
    """A client that fetches a file in the order of the hints."""

    def __init__(self, depot, number):
        self.ask = functools.partial(depot.ask, "/large",
                                     Xd_Client=f"{number:016x}")
        self.place = (0, 1 << 18)
        self.received = 0

    def step(self):
        begin, end = self.place
        end = min(end, begin + (1 << 18))
        answer, body = self.ask(Range=f"bytes={begin}-{end - 1}")
        assert len(body) == end - begin
        self.received += len(body)
        self.place = hint(answer)


def test_clients_that_come_later_cost_the_disk_little(depot, folder):
    """Each as fast as the others; what the first has had when the last comes has
    to be read once more for those that came meanwhile.  More than the depot takes
    to be in memory at a time."""
    size = 200 * MIB
    with (folder / "large").open("wb") as f:
        f.truncate(size)
    clients = [Follower(depot, i) for i in range(4)]
    turn = 0
    while any(c.place for c in clients):
        for i, client in enumerate(clients):
            if client.place and turn >= 100 * i:
                client.step()
        turn += 1
    assert [c.received for c in clients] == 4 * [size]
    later = 300 * (1 << 18)
    assert size <= file_of(depot, "large")["disk_bytes"] < 1.1 * (size + later)


def test_a_client_is_one_over_all_its_connections(depot):
    first, _ = depot.ask("/d.iso", Range="bytes=0-65535", Xd_Client=ID)
    second, _ = depot.ask("/d.iso", Range="bytes=65536-131071", Xd_Client=ID)
    assert hint(first)[0] == 65536 and hint(second)[0] == 131072
    assert file_of(depot)["clients"] == 1
    depot.ask("/d.iso", Range="bytes=0-0", Xd_Client=ID.upper())
    assert file_of(depot)["clients"] == 1
    for bad in "x", ID + "0", ID[:-1], ID[:-1] + "g", "":
        depot.ask("/d.iso", Range="bytes=0-0", Xd_Client=bad)
    assert file_of(depot)["clients"] == 6


def test_without_an_id_each_connection_is_a_client(depot):
    ask = "GET /d.iso HTTP/1.1\r\nHost: localhost\r\nRange: bytes={}-{}\r\n\r\n"
    with contextlib.closing(depot.connect(
            ask.format(0, 65535) + ask.format(65536, 65536))) as client:
        got = b""
        while got.count(b"HTTP/1.1 206") < 2:
            got += client.recv(1 << 16)
    assert re.search(rb"Xd-Next: bytes=65537-", got)
    assert file_of(depot)["clients"] == 1


def test_what_fits_into_the_region_has_no_hint(lab, folder):
    depot = serve(lab)
    assert folder.exists()
    assert depot.ask("/d.iso")[0].headers["Xd-Next"] is None
    assert "region" not in file_of(depot)


def test_an_answer_without_bytes_has_a_hint_too(depot):
    answer, _ = depot.ask("/d.iso", Range=f"bytes={SIZE}-", Xd_Client=ID)
    assert answer.status == 416 and hint(answer)[0] == 0
    answer, _ = depot.ask("/d.iso", method="HEAD", Xd_Client=ID)
    assert hint(answer)[0] == 0


def test_a_thousand_ids_leave_the_others_their_hints(depot):
    depot.ask("/d.iso", Range=f"bytes=0-{MIB - 1}", Xd_Client=ID)
    for i in range(1000):
        depot.ask("/d.iso", method="HEAD", Xd_Client=f"{i:016x}")
    answer, _ = depot.ask("/d.iso", Range="bytes=0-0", Xd_Client=ID)
    assert hint(answer)[0] == MIB
    assert file_of(depot)["clients"] >= 1000


def test_more_ids_than_are_known_leave_the_others_their_hints(depot, folder):
    """Each is used for two files, and for nothing but to ask."""
    os.link(folder / "d.iso", folder / "same.iso")
    (folder / "other.iso").write_bytes(b"x" * (2 * MIB))
    depot.ask("/d.iso", Range=f"bytes=0-{MIB - 1}", Xd_Client=ID)
    ask = ("HEAD /{} HTTP/1.1\r\nHost: localhost\r\nXd-Client: {:016x}\r\n\r\n")
    with contextlib.closing(depot.connect("")) as client:
        for i in range(4400):
            client.sendall(ask.format(["d.iso", "other.iso"][i % 2], i).encode())
            got = b""
            while not got.endswith(b"\r\n\r\n"):
                got += client.recv(1 << 16)
            assert b"\r\nXd-Next: " in got
    answer, _ = depot.ask("/d.iso", Range="bytes=0-0", Xd_Client=ID)
    assert hint(answer)[0] == MIB
    answer, _ = depot.ask("/same.iso", Range="bytes=0-0", Xd_Client="e" * 16)
    assert hint(answer) is not None
    assert standing(depot)["clients"] == 4096


def test_the_front_is_read_ahead_and_other_places_are_not(depot):
    # What only looks at the file has nothing read for it.
    depot.ask("/d.iso", Range="bytes=0-65535", Xd_Client=ID)
    assert file_of(depot)["disk_bytes"] == 65536
    # For what goes on so is the rest of the chunk, and then as much as it has got.
    for first, last, read in ((65536, 262143, MIB), (262144, MIB, 3 * MIB),
                              (MIB + 1, 2 * MIB, 5 * MIB)):
        depot.ask("/d.iso", Range=f"bytes={first}-{last}", Xd_Client=ID)
        wait_until(lambda: file_of(depot)["disk_bytes"] == 65536 + read,
                   "it is read")
    # That chunk is there: what lies behind it is too.
    depot.ask("/d.iso", Range=f"bytes={2 * MIB + 1}-{3 * MIB}", Xd_Client=ID)
    # A second client, far ahead.
    depot.ask("/d.iso", Range=f"bytes={7 * MIB}-{7 * MIB + 9}", Xd_Client="f" * 16)
    assert file_of(depot)["disk_bytes"] == 65536 + 5 * MIB + 4096


def test_of_a_few_bytes_their_pages_are_read(lab, folder):
    """Requests that follow each other have the rest of the chunk read, once they have
    got a quarter of it."""
    assert folder.exists()
    depot = serve(lab)
    place = 5 * MIB
    for first, last, read in ((0, 0, 4096), (9000, 9000, 4096),
                              (20000, 20480, 8192), (65536, 131071, 65536),
                              (131072, 196607, 65536), (196608, 262143, 65536),
                              (262144, 327678, 65536), (327679, 393215, MIB),
                              (500000, 900000, 0)):
        before = standing(depot)["disk_bytes"]
        _, body = depot.ask("/d.iso", Range=f"bytes={place + first}-{place + last}")
        assert body == lab.data[place + first:place + last + 1]
        assert standing(depot)["disk_bytes"] - before == read, first


def test_what_memory_has_dropped_is_read_again_by_the_reader(lab, folder):
    depot = serve(lab)
    assert depot.ask("/d.iso")[1] == lab.data
    assert file_of(depot)["disk_bytes"] == SIZE
    with (folder / "d.iso").open("rb") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            os.preadv(f.fileno(), [bytearray(1)], 3 * MIB, os.RWF_NOWAIT)
            pytest.skip("it stays in memory here")
        except BlockingIOError:
            pass
        except OSError:
            pytest.skip("that cannot be seen here")
    assert depot.ask("/d.iso")[1] == lab.data
    assert file_of(depot)["disk_bytes"] == 2 * SIZE


# ---- how it stands ----

def test_the_page_and_its_json_count_what_was_read_and_sent(lab, depot):
    depot.ask("/d.iso")
    depot.ask("/d.iso", Range="bytes=0-999")
    state = standing(depot)
    [file] = state["files"]
    assert file["name"] == "d.iso" and file["size"] == SIZE
    for counts in state, file:
        assert counts["sent_bytes"] == SIZE + 1000
        assert counts["disk_bytes"] == SIZE
        assert counts["disk_bytes_per_sent"] == pytest.approx(
            SIZE / (SIZE + 1000))
    assert state["connections"] >= 1
    page = depot.ask("/")[1].decode()
    assert "d.iso" in page and "script" not in page
    assert lab.xdownload("-q", "-o", "x", depot.urls[0] + "d.iso").rc == 0


def test_a_name_is_no_html(lab, folder):
    (folder / "<b>&.txt").write_bytes(b"x")
    depot = serve(lab)
    assert depot.ask("/%3Cb%3E&.txt")[1] == b"x"
    page = depot.ask("/")[1].decode()
    assert "<b>" not in page and "&#60;b&#62;&#38;.txt" in page


def test_more_files_than_are_kept_open_are_served(lab, folder):
    for i in range(270):
        (folder / f"f{i}").write_bytes(b"x" * (i + 1))
    depot = serve(lab)
    for i in range(270):
        assert len(depot.ask(f"/f{i}")[1]) == i + 1
    state = standing(depot)
    assert len(state["files"]) == 256
    assert state["sent_bytes"] == sum(range(271))


def test_without_a_descriptor_a_file_is_there_later(depot):
    """The connection takes one, and the folder; the file finds none."""
    pid = depot.process.pid
    was = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    used = set(map(int, os.listdir(f"/proc/{pid}/fd")))
    free = [fd for fd in range(len(used) + 3) if fd not in used]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free[2], was[1]))
    assert depot.ask("/d.iso")[0].status == 503
    resource.prlimit(pid, resource.RLIMIT_NOFILE, was)
    assert depot.ask("/d.iso")[0].status == 200


def test_one_client_does_not_hold_all_places(lab, folder):
    for i in range(40):
        with (folder / f"f{i}").open("wb") as f:
            f.truncate(32 * MIB)
    depot = serve(lab)
    with contextlib.ExitStack() as stack:
        status = []
        for i in range(40):
            [client] = slow_clients(depot, 1, f"/f{i}", stack, f"Xd-Client: {ID}\r\n")
            status.append(int(client.recv(12)[9:]))
        assert status == 32 * [200] + 8 * [503]
        assert depot.ask("/f39", Range="bytes=0-4", Xd_Client="f" * 16)[0].status == 206
        assert depot.ask("/f0", Range="bytes=0-4", Xd_Client=ID)[0].status == 206


# ---- clients that take their time ----

def slow_clients(depot, n, path, stack, header=""):
    """Connections on which the file is asked for, and hardly read."""
    clients = []
    for _ in range(n):
        client = stack.enter_context(socket.socket())
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(PATIENCE)
        client.connect(depot.address()[:2])
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n"
                       .encode())
        clients.append(client)
    return clients


@pytest.mark.plain
def test_a_thousand_slow_clients_take_little_memory(lab, folder):
    """And no thread each; others are served meanwhile."""
    with (folder / "large").open("wb") as f:
        f.truncate(1 << 31)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2500:
        pytest.skip("too few descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2500, hard))
    try:
        depot = serve(lab, "--quiet")
        with contextlib.ExitStack() as stack:
            clients = slow_clients(depot, 1000, "/large", stack)
            for client in clients:
                assert client.recv(12) == b"HTTP/1.1 200"
            for _ in range(20):
                for client in clients:
                    assert client.recv(4096)
            assert depot.ask("/d.iso")[1] == lab.data
            assert standing(depot)["connections"] >= 1000
            assert depot.process.threads() < 20
            assert depot.process.most_memory() < 100 * MIB
        wait_until(lambda: standing(depot)["connections"] < 10, "they have gone")
        assert depot.end()[0].rc == 130
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_client_that_hangs_holds_nobody_up(lab, depot, folder):
    with (folder / "large").open("wb") as f:
        f.truncate(1 << 31)
    with contextlib.ExitStack() as stack:
        slow_clients(depot, 10, "/large", stack)
        slow_clients(depot, 10, "/d.iso", stack)
        for _ in range(5):
            assert depot.ask("/d.iso")[1] == lab.data


def test_many_clients_at_once_get_the_right_bytes(lab, depot):
    """Each from elsewhere on, so that chunks are waited for."""
    wrong = []

    def fetch(i):
        begin = i * SIZE // 20
        _, body = depot.ask("/d.iso", Range=f"bytes={begin}-")
        if hashlib.sha256(body).digest() != hashlib.sha256(
                lab.data[begin:]).digest():
            wrong.append(i)

    clients = [threading.Thread(target=fetch, args=(i,)) for i in range(20)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert wrong == []


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_while_clients_wait(depot, folder, sig):
    with (folder / "large").open("wb") as f:
        f.truncate(1 << 31)
    with contextlib.ExitStack() as stack:
        clients = slow_clients(depot, 50, "/large", stack)
        assert clients[0].recv(12) == b"HTTP/1.1 200"
        run, _ = depot.end(sig)
        assert run.rc == 130
        assert "error" not in run.err
