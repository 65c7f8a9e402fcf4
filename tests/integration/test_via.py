# SPDX-License-Identifier: MIT
"""Downloads through a mesh of caches: real nginx nodes, as `xdownload via --nginx`
configures them, and nodes that do the worst."""
import hashlib
import json
import os
import re
import signal
import urllib.request

import pytest

from lab import Throttle, asked_range, bytes_of, wait_until
from mesh import Mesh

MIB = 1 << 20
SIZE = 4 * MIB
CHUNK = 256 << 10
MESH_CHUNK = 64 << 10  # the least


def etag_of(url):
    with urllib.request.urlopen(url) as answer:
        return answer.headers["ETag"]


def metalink(lab, name, urls, piece=CHUNK, path="pieces.meta4"):
    """With the hashes of pieces alone."""
    data = (lab.www / name).read_bytes()
    pieces = "".join(
        f"<hash>{hashlib.sha256(data[i:i + piece]).hexdigest()}</hash>"
        for i in range(0, len(data), piece))
    return lab.write(path, (
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
        f'<file name="{name}"><size>{len(data)}</size>'
        f'<pieces type="sha-256" length="{piece}">{pieces}</pieces>'
        + "".join(f"<url>{u}</url>" for u in urls) +
        "</file></metalink>"))


@pytest.fixture
def world(lab):
    """An origin and a mesh of five before it."""
    lab.data = lab.file("f.bin", SIZE)
    lab.origin = lab.depot()
    lab.url = lab.origin.url("f.bin")
    with Mesh(lab, [lab.origin.url("")], n=5, chunk="256k") as mesh:
        lab.mesh = mesh
        yield lab


def get(lab, *args, **options):
    return lab.xdownload("--via", "mesh/NODES", *args, **options)


def sent(lab):
    """How often the origin has sent the file."""
    return lab.origin.bytes_sent() / SIZE


def replace_node(lab, name, address):
    """Clients find it elsewhere."""
    nodes = lab.work / "mesh" / "NODES"
    text, n = re.subn(rf"(?m)^node {name} .*$", f"node {name} http://{address}",
                      nodes.read_text())
    assert n == 1
    nodes.write_text(text)


def odd_node(lab, change=lambda data: data, etag=None, status=206):
    """A node that has the file, and sends what `change` makes of it."""
    tag = etag or etag_of(lab.url)

    def answer(head):
        first, last = asked_range(head)
        body = change(lab.data[first:last + 1])
        return (f"HTTP/1.1 {status} X\r\nETag: {tag}\r\n"
                f"Content-Range: bytes {first}-{last}/{SIZE}\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                ).encode() + body
    return lab.odd(answer)


def node_of(run, name):
    return next(d for d in run.report["depots"]
                if d["host"].startswith(f"via {name} "))


def invert(data):
    return bytes(b ^ 0xFF for b in data)


# ---- it works ----

def test_cold_mesh_asks_the_origin_once_and_a_warm_one_not_again(world):
    run = get(world, world.url, "-o", "cold")
    assert run.rc == 0, run.err
    assert world.read("cold") == world.data
    assert 1 <= sent(world) < 1.05
    assert run.report["bytes_via"] == SIZE
    assert run.report["not_via"] is None
    nodes = [d for d in run.report["depots"] if d["is_node"]]
    assert len(nodes) == 5
    assert all(re.fullmatch(r"via [a-e] \(127\.0\.0\.1:\d+\)", d["host"])
               for d in nodes)
    # A busy machine makes the nodes look slow, and chunks are fetched twice.
    assert re.search(r"[4-9]\.\d MiB through the mesh, \d\S* KiB from", run.err)
    before = sent(world)
    run = get(world, world.url, "-o", "warm")
    assert run.rc == 0 and world.read("warm") == world.data
    assert sent(world) - before < 0.03


def test_nodes_are_asked_for_chunks_that_they_rank_for(world):
    """With one copy each chunk is asked of one node, which asks the origin."""
    assert get(world, "--via-copies", "1", world.url, "-o", "f").rc == 0
    asked = [line for node in world.mesh.nodes.values() for line in node.log()
             if "/f.bin" in line]
    assert len(asked) >= SIZE // CHUNK
    assert sum(r["status"] == 206 and r["sent"] >= CHUNK
               for r in world.origin.requests()) == SIZE // CHUNK


def test_eight_clients_at_once_cost_the_origin_one_file(world):
    runs = [world.start("--via", "mesh/NODES", world.url, "-o", f"out{i}")
            for i in range(8)]
    for i, process in enumerate(runs):
        run = process.wait()
        assert run.rc == 0, run.err
        assert world.read(f"out{i}") == world.data
    assert sent(world) < 1.1


def test_environment_and_config_name_the_mesh_and_the_command_line_overrides(
        world):
    world.environment["XDOWNLOAD_VIA"] = str(world.work / "mesh" / "NODES")
    run = world.xdownload(world.url, "-o", "a")
    assert run.rc == 0 and run.report["bytes_via"] == SIZE
    run = world.xdownload("--via", "", world.url, "-o", "b")
    assert run.rc == 0 and run.report["bytes_via"] == 0
    del world.environment["XDOWNLOAD_VIA"]
    config = world.work / "config" / "xdownload"
    config.mkdir(parents=True)
    (config / "config").write_text("via mesh/NODES\nvia-copies 1\n")
    world.environment["XDG_CONFIG_HOME"] = str(world.work / "config")
    run = world.xdownload(world.url, "-o", "c")
    assert run.rc == 0 and run.report["bytes_via"] == SIZE


def test_list_of_nodes_that_is_none_is_an_error(lab):
    lab.file("f.bin", MIB)
    url = lab.depot().url("f.bin")
    run = lab.xdownload("--via", "nowhere", url, "-o", "f")
    assert run.rc == 5 and "nowhere" in run.err
    run = lab.xdownload("--via", lab.write("bad", "nodes\n"), url, "-o", "f")
    assert run.rc == 3 and "line 1" in run.err, run.err


# ---- nodes that fail ----



@pytest.fixture
def slow(lab):
    """The same world with an origin of 2 MiB/s."""
    lab.data = lab.file("f.bin", SIZE)
    lab.origin = lab.depot(rate=2 * MIB)
    lab.url = lab.origin.url("f.bin")
    with Mesh(lab, [lab.origin.url("")], n=5, chunk="256k") as mesh:
        lab.mesh = mesh
        yield lab


def has_part(lab, name, least=MIB // 2):
    part = lab.path(name + ".part")
    return part.exists() and part.stat().st_blocks * 512 >= least


def test_node_killed_in_the_middle_costs_no_client_its_file(slow):
    runs = [slow.start("--via", "mesh/NODES", slow.url, "-o", f"out{i}")
            for i in range(3)]
    wait_until(lambda: has_part(slow, "out0"), "some of it is here")
    slow.mesh.nodes["a"].kill()
    for i, process in enumerate(runs):
        run = process.wait()
        assert run.rc == 0, run.err
        assert slow.read(f"out{i}") == slow.data
    assert sent(slow) < 1.4


@pytest.mark.slow  # 11 s
def test_node_that_falls_silent_is_done_without(slow):
    process = slow.start("--via", "mesh/NODES", "--silence", "1s", slow.url,
                         "-o", "out")
    wait_until(lambda: has_part(slow, "out"), "some of it is here")
    slow.mesh.nodes["b"].signal(signal.SIGSTOP)
    run = process.wait()
    slow.mesh.nodes["b"].signal(signal.SIGCONT)
    assert run.rc == 0, run.err
    assert slow.read("out") == slow.data
    assert sent(slow) < 1.4


def test_dead_mesh_leaves_the_download_to_the_origin(world):
    for node in world.mesh.nodes.values():
        node.kill()
    run = get(world, world.url, "-o", "out")
    assert run.rc == 0, run.err
    assert world.read("out") == world.data
    assert run.report["bytes_via"] == 0


def test_slow_node_does_not_hold_up_the_others(world):
    throttle = Throttle(str(world.mesh.nodes["c"].port), 100 << 10,
                        world.folder)
    try:
        replace_node(world, "c", f"127.0.0.1:{throttle.port}")
        run = get(world, world.url, "-o", "out")
    finally:
        throttle.close()
    assert run.rc == 0 and world.read("out") == world.data
    assert run.seconds < 10 and node_of(run, "c")["bytes"] < SIZE / 4


# ---- nodes that lie ----

def test_wrong_bytes_are_found_by_hashes_and_their_node_is_named(world):
    odd = odd_node(world, invert)
    replace_node(world, "a", odd.host)
    run = get(world, metalink(world, "f.bin", [world.url]), "-o", "out")
    assert run.rc == 0, run.err
    assert world.read("out") == world.data
    assert re.search(f"//{odd.host}/.*sent wrong bytes", run.err)
    assert all(d["state"] != "failed" for d in run.report["depots"]
               if d is not node_of(run, "a"))


def test_wrong_bytes_without_hashes_are_found_by_asking_the_origin(world):
    odd = odd_node(world, invert)
    replace_node(world, "a", odd.host)
    run = get(world, world.url, "-o", "out")
    assert run.rc == 0, run.err
    assert world.read("out") == world.data
    assert re.search(rf"via a \({odd.host}\): its bytes within .* are not those "
                     f"of {world.url}", run.err)
    assert all(d["state"] != "failed" for d in run.report["depots"]
               if d is not node_of(run, "a"))


def test_lying_nodes_do_not_outvote_their_origin(world):
    """Most of the mesh sends the same wrong bytes: nodes are no witnesses."""
    for name in "abcd":
        replace_node(world, name, odd_node(world, invert).host)
    run = get(world, world.url, "-o", "out")
    assert run.rc == 0, run.err
    assert world.read("out") == world.data
    assert node_of(run, "e")["state"] != "failed"


def test_node_with_another_version_is_named_and_not_used(world):
    replace_node(world, "a", odd_node(world, invert, etag='"another"').host)
    run = get(world, world.url, "-o", "out")
    assert run.rc == 0, run.err
    assert world.read("out") == world.data
    liar = node_of(run, "a")
    assert liar["bytes"] == 0 and liar["state"] == "failed"
    assert 'another version of the file: its validator is "another"' in (
        liar["error"])


@pytest.mark.parametrize("tag", [None, '"another"'], ids=["bytes", "version"])
@pytest.mark.parametrize("hashed", [True, False], ids=["hashes", "none"])
def test_owner_from_which_others_have_it_is_named_and_not_they(lab, tag, hashed):
    """What it takes for the origin has another file.  That it owns one of 64
    chunks is all but certain."""
    size = 64 * MESH_CHUNK
    lab.data = lab.file("f.bin", size)
    origin = lab.depot()
    lab.url = origin.url("f.bin")
    tag = tag or etag_of(lab.url)

    def answer(head):
        if f"If-Match: {tag}\r\n" not in head:
            return b"HTTP/1.1 412 X\r\nContent-Length: 0\r\n\r\n"
        first, last = asked_range(head)
        return (f"HTTP/1.1 206 X\r\nETag: {tag}\r\nContent-Range: bytes "
                f"{first}-{last}/{size}\r\nContent-Length: "
                f"{last - first + 1}\r\n\r\n").encode() + invert(
                    lab.data[first:last + 1])
    edit = {"a": (f"        server {origin.host};\n        keep",
                  f"        server {lab.odd(answer).host};\n        keep")}
    what = metalink(lab, "f.bin", [lab.url], MESH_CHUNK) if hashed else lab.url
    with Mesh(lab, [origin.url("")], chunk="64k", edit=edit):
        for _ in range(2):
            run = get(lab, what, "-o", "out", "--force")
            assert run.rc == 0, run.err
            assert lab.read("out") == lab.data, run.err
            assert "a" in {d["host"].split()[1] for d in run.report["depots"]
                           if d["is_node"] and d["error"]}, run.err
            assert not [d for d in run.report["depots"]
                        if d["state"] == "failed" and
                        not d["host"].startswith("via a ")], run.err
    assert origin.bytes_sent() <= 2 * size


def test_node_that_sends_all_of_it_or_redirects_is_not_used(world):
    def whole(_):
        return (f"HTTP/1.1 200 OK\r\nETag: {etag_of(world.url)}\r\n"
                f"Content-Length: {SIZE}\r\nConnection: close\r\n\r\n"
                ).encode() + world.data
    elsewhere = world.odd(whole)
    replace_node(world, "a", world.odd(whole).host)
    replace_node(world, "b", world.odd(
        lambda _: b"HTTP/1.1 302 Found\r\nLocation: http://"
        + elsewhere.host.encode() + b"/f.bin\r\nContent-Length: 0\r\n"
        b"Connection: close\r\n\r\n").host)
    run = get(world, world.url, "-o", "out")
    assert run.rc == 0 and world.read("out") == world.data
    assert node_of(run, "a")["bytes"] == node_of(run, "b")["bytes"] == 0
    b = node_of(run, "b")
    assert b["requests"] == 0 or "redirects" in b["error"]
    assert elsewhere.heads == []


# ---- the origin ----

def test_file_that_changes_in_the_middle_is_one_version_or_an_error(slow):
    new = bytes_of(SIZE, seed=2)
    process = slow.start("--via", "mesh/NODES", slow.url, "-o", "out")
    wait_until(lambda: has_part(slow, "out"), "some of it is here")
    (slow.www / "new").write_bytes(new)
    # Of two files of one second and one size nginx has the same ETag.
    os.utime(slow.www / "new", (1e9, 1e9))
    os.replace(slow.www / "new", slow.www / "f.bin")
    run = process.wait()
    if run.rc == 0:
        is_one = slow.read("out") in (slow.data, new)
        assert is_one, run.err
    else:
        assert "changed" in run.err, run.err
        assert not slow.path("out").exists()
    run = get(slow, "--no-continue", slow.url, "-o", "again")
    is_new = run.rc == 0 and slow.read("again") == new
    assert is_new, run.err


def test_warm_mesh_serves_what_hashes_prove_though_the_origin_is_down(world):
    """What was fetched among many files was not asked for by its version."""
    world.file("g.bin", 3 * CHUNK, seed=3)
    both = world.metalink_of([("f.bin", [world.origin], None),
                              ("g.bin", [world.origin], None)])
    world.path("first").mkdir()
    assert get(world, both, "-d", "first").rc == 0
    world.origin.nginx.close()
    run = get(world, metalink(world, "f.bin", [world.url]), "-o", "out")
    assert run.rc == 0, run.err
    assert world.read("out") == world.data
    assert run.report["bytes_via"] == SIZE


def test_chunks_of_a_proved_file_are_had_though_the_origin_is_down(world):
    """Its clients ask for them by no version, which they could not know then."""
    manifest = metalink(world, "f.bin", [world.url])
    assert get(world, manifest, "-o", "first").rc == 0
    run = world.xdownload("via", "--check", "mesh/NODES", world.url, "--json",
                          report=False)
    said = json.loads(run.out)
    assert said["chunks_held"] == said["chunks"], run
    world.origin.nginx.close()
    run = get(world, manifest, "-o", "out")
    assert run.rc == 0, run.err
    assert world.read("out") == world.data
    assert run.report["bytes_via"] == SIZE


def test_origin_without_a_strong_etag_is_not_cached_without_pieces(lab):
    lab.data = lab.file("f.bin", SIZE)
    lab.origin = lab.depot(config="etag off;")
    lab.url = lab.origin.url("f.bin")
    with Mesh(lab, [lab.origin.url("")], n=2, chunk="256k"):
        run = get(lab, lab.url, "-o", "a", "-v")
        assert run.rc == 0 and lab.read("a") == lab.data
        assert "no strong validator" in run.report["not_via"]
        assert run.err.count("does not go through the mesh: its origin gives "
                             "it no strong validator") == 1
        run = get(lab, metalink(lab, "f.bin", [lab.url]), "-o", "b")
        assert run.rc == 0 and lab.read("b") == lab.data
        assert run.report["bytes_via"] == SIZE


# ---- what nodes must not see ----

def recording_nodes(world):
    odd = {name: odd_node(world) for name in "abcde"}
    for name, node in odd.items():
        replace_node(world, name, node.host)
    return odd.values()


@pytest.mark.parametrize("args", [
    ("-u", "me:sesame"), ("-H", "Authorization: Basic sesame"),
    ("-H", "cookie: sesame"), ("--oauth2-bearer", "sesame")])
def test_credentials_keep_a_file_from_the_mesh(world, args):
    nodes = recording_nodes(world)
    run = get(world, *args, world.url, "-o", "out")
    assert run.rc == 0 and world.read("out") == world.data
    assert "credentials" in run.report["not_via"]
    assert all(node.heads == [] for node in nodes)


def test_login_and_signature_in_a_url_keep_a_file_from_the_mesh(world):
    nodes = recording_nodes(world)
    for i, url in enumerate((world.url.replace("//", "//me:sesame@"),
                             world.url + "?X-Amz-Signature=sesame")):
        run = get(world, url, "-o", f"out{i}")
        assert run.rc == 0 and world.read(f"out{i}") == world.data
        assert "does not serve any of its URLs" in run.report["not_via"]
    assert all(node.heads == [] for node in nodes)


def test_nodes_see_nothing_that_the_user_tells_servers(world):
    nodes = recording_nodes(world)
    run = get(world, "-H", "X-Own: sesame", "--referer", "http://sesame/",
              world.url, "-o", "out")
    assert run.rc == 0 and world.read("out") == world.data
    heads = [head for node in nodes for head in node.heads]
    assert heads and run.report["bytes_via"] == SIZE
    for head in heads:
        assert "sesame" not in head and "if-range" not in head.lower()
        assert f"\r\nXd-Match: {etag_of(world.url)}\r\n" in head
        assert re.search(r"\r\nXd-Owner: [a-e]\r\n", head)
        first, last = asked_range(head)
        assert first // CHUNK == last // CHUNK


# ---- https ----

def test_https_origin_goes_through_http_nodes_with_a_hash_alone(lab):
    lab.data = lab.file("f.bin", SIZE)
    certificate = lab.certificate("DNS:localhost")
    lab.origin = lab.depot(certificate=certificate)
    lab.url = lab.origin.url("f.bin").replace("127.0.0.1", "localhost")
    with Mesh(lab, [lab.url[:-len("f.bin")]], n=3, chunk="256k",
              more=("--cacert", certificate.path)):
        run = get(lab, lab.url, "-o", "a")
        assert run.rc == 0 and lab.read("a") == lab.data
        assert "https" in run.report["not_via"]
        digest = hashlib.sha256(lab.data).hexdigest()
        run = get(lab, "--checksum", digest, lab.url, "-o", "b")
        assert run.rc == 0, run.err
        assert lab.read("b") == lab.data
        assert run.report["bytes_via"] == SIZE


# ---- several files, several replicas ----

def test_files_of_a_set_go_through_the_mesh(world):
    names = [f"small{i}" for i in range(6)]
    files = {name: world.file(name, 10_000 + i, seed=10 + i)
             for i, name in enumerate(names)}
    files["f.bin"] = world.data
    both = world.metalink_of([(name, [world.origin], None) for name in files])
    for folder in ("one", "two"):
        world.path(folder).mkdir()
        run = get(world, both, "-d", folder)
        assert run.rc == 0, run.err
        for name, data in files.items():
            assert (world.work / folder / name).read_bytes() == data
    total = sum(map(len, files.values()))
    assert total <= world.origin.bytes_sent() < 1.05 * total


def test_first_replica_at_an_origin_is_the_one_that_nodes_ask(world):
    other = world.depot()
    text = metalink(world, "f.bin", [other.url("f.bin"), world.url])
    run = get(world, text, "-o", "out")
    assert run.rc == 0 and world.read("out") == world.data
    assert run.report["bytes_via"] == SIZE and other.bytes_sent() == 0


# ---- programs that know nothing of it ----

def test_serve_and_play_go_through_the_mesh(world):
    server = world.start("serve", "--via", "mesh/NODES", world.url,
                         report=False, stdout=-1)
    line = server.popen.stdout.readline().decode()
    url = re.search(r"http://\S+", line)[0]
    with urllib.request.urlopen(url) as answer:
        assert answer.read() == world.data
    server.send(signal.SIGINT)
    server.wait()
    assert sent(world) < 1.1
    before = sent(world)
    run = world.xdownload("play", "--simulate", "--via", "mesh/NODES",
                          "--rate", "8MB/s", "--prebuffer", "0s", world.url,
                          report=False)
    assert run.rc == 0, run.err
    assert sent(world) - before < 0.1
