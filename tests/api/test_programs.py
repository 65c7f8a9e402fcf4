# SPDX-License-Identifier: MIT
"""Programs of other people, which have the headers and the shared library."""
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = Path(os.environ["XD_SOURCE"])
LIBRARY = Path(os.environ["XD_LIBRARY"])
CC = os.environ["XD_CC"]
DATA = bytes(i * i % 251 for i in range(300_000))


class Depot(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        found = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first = int(found[1]) if found else 0
        last = min(int(found[2] or len(DATA) - 1) if found else len(DATA) - 1,
                   len(DATA) - 1)
        self.send_response(206 if found else 200)
        self.send_header("Content-Length", str(last + 1 - first))
        if found:
            self.send_header("Content-Range",
                             f"bytes {first}-{last}/{len(DATA)}")
        self.end_headers()
        try:
            for at in range(first, last + 1, 30_000):
                self.wfile.write(DATA[at:min(at + 30_000, last + 1)])
                time.sleep(0.02)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


@pytest.fixture(name="depot", scope="module")
def a_depot():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Depot)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/f.bin"
    server.shutdown()
    server.server_close()


@pytest.fixture(name="mute")
def a_depot_that_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/f.bin"


def build(tmp_path, source, *more, include=SOURCE / "include"):
    program = tmp_path / source.stem
    done = subprocess.run(
        [CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra",
         "-Werror", "-Wno-unused-result", f"-I{include}", source, "-o", program, *more, LIBRARY,
         f"-Wl,-rpath,{LIBRARY.parent}"],
        stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False,
                          timeout=120, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.plain
def test_a_program_with_an_event_loop_polls_and_never_waits(tmp_path, depot):
    program = build(tmp_path, HERE / "programs" / "event_loop.c")
    rc, total, turns = map(int, run(program, depot, tmp_path / "out").split())
    assert (rc, total) == (0, len(DATA))
    assert (tmp_path / "out").read_bytes() == DATA
    # A turn for each piece that is read; a loop that spins takes thousands.
    assert turns < 500


@pytest.mark.plain
@pytest.mark.parametrize("what", ["open", "fetch"])
def test_a_signal_handler_ends_what_waits(tmp_path, mute, what):
    program = build(tmp_path, HERE / "programs" / "signal_cancel.c")
    with subprocess.Popen([program, what, mute, tmp_path / "out"],
                          stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "CANCELED\n"
        assert process.wait(10) == 0
        assert time.monotonic() - began < 1


@pytest.mark.plain
@pytest.mark.parametrize("state", ["new", "started"])
def test_finalizers_run_in_every_order(tmp_path, depot, state):
    program = build(tmp_path, HERE / "programs" / "finalizers.c")
    assert run(program, depot, state) == "720\n"


@pytest.mark.plain
def test_a_glib_main_loop_runs_a_download(tmp_path, depot):
    if not shutil.which("pkg-config") or subprocess.call(
            ["pkg-config", "--exists", "glib-2.0"]) != 0:
        pytest.skip("GLib is not installed")
    flags = run("pkg-config", "--cflags", "--libs", "glib-2.0").split()
    program = build(tmp_path, SOURCE / "examples" / "glib.c", *flags)
    (tmp_path / "f.urls").write_text(depot + "\n")
    run(program, tmp_path / "f.urls", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == DATA


@pytest.mark.plain
def test_a_mirror_that_is_found_meanwhile_is_added(tmp_path, depot, mute):
    program = build(tmp_path, HERE / "programs" / "add_replica.c")
    file = tmp_path / "out.bin"
    assert run(program, mute, depot, file) == f"{len(DATA)}\n"
    assert file.read_bytes() == DATA


@pytest.mark.plain
def test_a_size_that_is_forgotten_is_filled_in(tmp_path, depot):
    program = build(tmp_path, HERE / "programs" / "forgotten_size.c")
    assert run(program, depot) == (
        "struct_size of a struct xd_replica is not set: begin its initializer "
        "with XD_SIZED(struct xd_replica)\n")


@pytest.mark.plain
def test_fetch_takes_a_url_and_a_manifest(tmp_path, depot):
    program = build(tmp_path, SOURCE / "examples" / "fetch.c")
    (tmp_path / "f.urls").write_text(depot + "\n")
    for source in (depot, tmp_path / "f.urls"):
        file = tmp_path / "out"
        run(program, source, file)
        assert file.read_bytes() == DATA
        file.unlink()


@pytest.mark.plain
@pytest.mark.parametrize("source, message", [
    ("http://127.0.0.1:1/f.iso", "http://127.0.0.1:1/f.iso: Failed to connect"),
    ("nothing.urls", "nothing.urls: cannot be opened: No such file"),
    ("", "a URL or the path of a manifest is needed"),
    ("gopher://127.0.0.1/f", "gopher://127.0.0.1/f: ")])
def test_fetch_says_what_it_cannot_open(tmp_path, source, message):
    program = build(tmp_path, SOURCE / "examples" / "fetch.c")
    done = subprocess.run([program, source, tmp_path / "out"], check=False,
                          text=True, capture_output=True)
    assert done.returncode == 1
    assert done.stderr.startswith("fetch: " + message), done.stderr


# ---- older headers ----

def growable():
    """Each struct that begins with struct_size, its fields, and its text."""
    for header in sorted((SOURCE / "include").glob("*/*.h")):
        for name, body in re.findall(r"^struct (xd_\w+) \{\n(.*?)^\};",
                                     header.read_text(), re.S | re.M):
            bare = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
            fields = [re.findall(r"(\w+)(?:\[\w+\])?$", part.strip())[0]
                      for line in bare.split(";") if line.strip()
                      for part in line.split(",")]
            if fields[0] == "struct_size":
                yield name, fields, body


def layout_program(tmp_path):
    lines = [f'    printf("{name} {field} %zu %zu\\n", '
             f"offsetof(struct {name}, {field}), "
             f"sizeof(((struct {name} *)0)->{field}));"
             for name, fields, _ in [*growable(), ("xd_error", [
                 "code", "os_errno", "http_status", "msg", "depot", "url"],
                 "")]
             for field in fields]
    lines.append('    printf("xd_error - %zu 0\\n", sizeof(struct xd_error));')
    path = tmp_path / "layout.c"
    path.write_text("#include <stddef.h>\n#include <stdio.h>\n"
                    "#include <xdownload/xdownload.h>\n"
                    "#include <xdpublish/xdpublish.h>\n"
                    "int main(void)\n{\n" + "\n".join(lines)
                    + "\n    return 0;\n}\n")
    return build(tmp_path, path)


@pytest.mark.plain
def test_no_field_that_a_program_knows_has_moved(tmp_path):
    """What is compiled stays right: fields are added at the end, and nothing
    else.  XD_KEEP_LAYOUT=1 keeps what is there now; if that changes a line that
    is kept, XD_SOVERSION has to be raised once 1.0 is out."""
    if os.uname().machine != "x86_64":
        pytest.skip("the list is that of x86-64")
    now = run(layout_program(tmp_path)).splitlines()
    if os.environ.get("XD_KEEP_LAYOUT"):
        (HERE / "layout.kept").write_text("".join(f"{n}\n" for n in now))
    kept = (HERE / "layout.kept").read_text().splitlines()
    assert len(kept) > 100
    assert [line for line in kept if line not in now] == []
    ends = {}
    for line in kept:
        name, _, offset, size = line.split()
        ends[name] = max(ends.get(name, 0), int(offset) + int(size))
    for line in now:
        name, _, offset, _ = line.split()
        assert line in kept or int(offset) >= ends.get(name, 0), line


OLD = """
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <xdownload/xdownload.h>

#define GUARD 64

/* A struct of an older header, and behind it what is not the library's. */
#define OLD(name) struct { struct name s; unsigned char guard[GUARD]; }
#define PREPARE(o) (memset(&(o), 0xa5, sizeof (o)), \\
                    (o).s.struct_size = sizeof (o).s)
#define CHECK(o) do { for (int i_ = 0; i_ < GUARD; i_++) \\
                          assert((o).guard[i_] == 0xa5); \\
                      assert((o).s.struct_size == sizeof (o).s); } while (0)
#define CALL(o, call) do { PREPARE(o); (void)(call); CHECK(o); } while (0)

int main(int argc, char **argv)
{
    const char *const urls[] = {argv[argc - 1]};
    OLD(xd_option_info) info;
    OLD(xd_file) file;
    OLD(xd_extent) extent;
    OLD(xd_replica) replica;
    OLD(xd_progress) progress;
    OLD(xd_depot_stats) depot;
    OLD(xd_playback) playback;
    struct { struct xd_buffered s[4]; unsigned char guard[GUARD]; } buffered;
    struct xd_manifest *m;
    struct xd_options *o;
    struct xd_source *s;
    struct xd_reader *r;
    struct xd_error err;
    static char bytes[400000];
    size_t done = 0;

    assert(xd_options_new(&o, &err) == 0);
    assert(xd_manifest_open(&m, urls, 1, o, &err) == 0);
    CALL(info, xd_option_info(0, &info.s));
    CALL(file, xd_manifest_file(m, 0, &file.s));
    assert(file.s.size == 300000);
    CALL(extent, xd_manifest_extent(m, 0, 0, &extent.s));
    CALL(replica, xd_manifest_replica(m, 0, 0, 0, &replica.s));
    assert(strcmp(replica.s.url, urls[0]) == 0);
    assert(xd_source_new(&s, m, 0, o, &err) == 0);
    memset(&replica, 0xa5, sizeof replica); /* what is behind it is not read */
    replica.s = (struct xd_replica){.struct_size = sizeof replica.s,
                                    .url = urls[0]};
    assert(xd_download_add_replica(xd_source_download(s), &replica.s, NULL,
                                   &err) == 0);
    CHECK(replica);
    assert(xd_reader_new(&r, s, &err) == 0);
    while (done < 300000) {
        const int64_t n = xd_reader_read(r, bytes, sizeof bytes, 20000);
        assert(n > 0);
        done += (size_t)n;
    }
    CALL(progress, xd_download_progress(xd_source_download(s), &progress.s));
    assert(progress.s.bytes_done == 300000);
    CALL(depot, xd_download_depot(xd_source_download(s), 0, &depot.s));
    CALL(playback, xd_reader_playback(r, &playback.s));
    memset(&buffered, 0xa5, sizeof buffered);
    buffered.s[0].struct_size = sizeof buffered.s[0];
    assert(xd_source_buffered(s, buffered.s, 4) == 1);
    assert(buffered.s[0].begin == 0);
    for (int i = 0; i < GUARD; i++)
        assert(buffered.guard[i] == 0xa5);
    puts("as before");
    xd_reader_free(r);
    xd_source_unref(s);
    xd_manifest_unref(m);
    xd_options_free(o);
    return 0;
}
"""


def headers(tmp_path, change):
    """The headers with each struct that can grow changed."""
    there = tmp_path / "include"
    shutil.copytree(SOURCE / "include", there)
    for header in there.glob("*/*.h"):
        header.write_text(re.sub(
            r"^struct (xd_\w+) \{\n(    size_t struct_size;.*?)^\};",
            lambda m: f"struct {m[1]} {{\n{change(m[2])}}};",
            header.read_text(), flags=re.S | re.M))
    return there


def without_the_last_field(body):
    bare = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    declarations = [d.strip() for d in bare.split(";") if d.strip()]
    # One struct of two fields has nothing to lose.
    if len(declarations) > 2:
        declarations.pop()
    return "".join(f"    {d};\n" for d in declarations)


def as_kept(body):
    """The struct as it was when layout.kept was written: fields that came
    later are not there."""
    kept = {}
    for line in (HERE / "layout.kept").read_text().splitlines():
        kept.setdefault(line.split()[0], []).append(line.split()[1])
    fields = next(fields for _, fields, text in growable() if text == body)
    name = next(name for name, _, text in growable() if text == body)
    bare = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    declarations = [d.strip() for d in bare.split(";") if d.strip()]
    while fields[-1] not in kept[name]:
        fields.pop()
        declaration = declarations.pop()
        assert "," not in declaration, declaration
    return "".join(f"    {d};\n" for d in declarations)


@pytest.mark.plain
@pytest.mark.parametrize("change", [
    lambda body: body, as_kept, without_the_last_field,
    lambda body: body + "    double of_a_later_release[3];\n"],
    ids=["these", "kept", "older", "newer"])
def test_a_program_runs_with_headers_of_another_release(tmp_path, depot,
                                                        change):
    source = tmp_path / "old.c"
    source.write_text(OLD)
    program = build(tmp_path, source, include=headers(tmp_path, change))
    assert run(program, depot) == "as before\n"
