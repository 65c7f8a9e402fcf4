# SPDX-License-Identifier: MIT
"""xdownload drop and renew: which copies go, what is removed, and what a manifest
of somebody else cannot bring them to do."""
import calendar
import contextlib
import html
import json
import os
import re
import signal
import stat
import sys
import threading
import time
from pathlib import Path

import pytest

from lab import PATIENCE, Lab, bytes_of, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
from ibp_depot import IbpDepot  # noqa: E402
from s3_depot import ACCESS_KEY, SECRET_KEY, S3Depot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402

MIB = 1 << 20
SIZE = 2 * MIB + 17


@pytest.fixture(name="lab")
def _lab():
    with Lab() as lab:
        yield lab


@contextlib.contextmanager
def placed(lab, n=2, *words):
    """A file with a copy on each of n stores, in f.xnd."""
    with contextlib.ExitStack() as stack:
        depots = [stack.enter_context(StoreDepot()) for _ in range(n)]
        lab.path("film.bin").write_bytes(bytes_of(SIZE))
        to = [word for d in depots for word in ("--to", d.url)]
        run = lab.xdownload("put", "film.bin", *to, "-o", "f.xnd", "--extent",
                            "1m", *words, report=False)
        assert run.rc == 0, run.err
        for d in depots:
            d.requests.clear()
        yield depots


def drop(lab, *words, **how):
    return lab.xdownload("drop", "f.xnd", *words, report=False, **how)


def host(depot):
    """As a URL has it."""
    return f"127.0.0.1:{depot.port}"


def deleted(depot):
    return [path for command, path in depot.requests if command == "DELETE"]


def texts(lab):
    return [lab.path(name).read_text() for name in ("f.xnd", "f.private.xnd")]


def assert_untouched(lab, before, *depots):
    assert texts(lab) == before
    for d in depots:
        assert not deleted(d) and len(d.objects) == 3


def assert_fetched(lab):
    run = lab.xdownload("--no-continue", "--force", "-o", "back", "f.xnd")
    assert run.rc == 0, run.err
    assert lab.read("back") == bytes_of(SIZE)


def edit(lab, change, name="f.private.xnd"):
    """Change a manifest as somebody could who wrote it."""
    path = lab.path(name)
    text = path.read_text()
    changed = change(text)
    assert changed != text
    path.write_text(changed)


def without_hashes(text):
    return re.sub(r'  <exnode:metadata name="(sha256|pieces|piece\.\d+)".*\n', "",
                  text)


# ---- drop ----

@pytest.mark.parametrize("by", [lambda d: d.url, host])
def test_the_copies_of_a_store_are_dropped_and_removed(lab, by):
    with placed(lab) as (a, b):
        run = drop(lab, "--from", by(a), "--json")
        assert run.rc == 0, run.err
        assert not a.objects
        assert len(b.objects) == 3 and not deleted(b)
        for text in texts(lab):
            assert host(a) not in text
            assert text.count(host(b)) >= 3
            assert "drop 1" not in text
        said = json.loads(run.out)
        assert said["bytes_proved"] == SIZE
        assert [r["state"] for r in said["replicas"]] == ["done"] * 3
        assert_fetched(lab)
        assert stat.S_IMODE(
            lab.path("f.private.xnd").stat().st_mode) == 0o600
        assert not lab.path("f.xnd.lock").exists()


def test_what_stays_is_read_once_before_anything_is_removed(lab):
    with placed(lab) as (a, b):
        order = []
        b.on_request = a.on_request = lambda h: order.append(
            (h.store.port, h.command, set(a.objects), texts(lab)))
        assert drop(lab, "--from", a.url).rc == 0
        reads = [i for i, (port, command, *_) in enumerate(order)
                 if command == "GET"]
        removals = [i for i, (_, command, *_) in enumerate(order)
                    if command == "DELETE"]
        assert max(reads) < min(removals)
        assert {order[i][0] for i in reads} == {b.port}
        # Nothing that is handed out names what is gone.
        for i in removals:
            public, private = order[i][3]
            assert host(a) not in public
            assert "<exnode:read>http://" + host(a) not in private


def test_objects_may_be_kept(lab):
    with placed(lab) as (a, b):
        run = drop(lab, "--from", a.url, "--keep-objects")
        assert run.rc == 0, run.err
        assert "stay" in run.err
        assert len(a.objects) == 3 and not a.requests and not b.requests
        assert all(host(a) not in text for text in texts(lab))


def test_without_a_private_manifest_only_the_manifest_is_edited(lab):
    with placed(lab) as (a, b):
        lab.path("f.private.xnd").unlink()
        run = drop(lab, "--from", host(a))
        assert run.rc == 0, run.err
        assert "no private manifest" in run.err
        assert not a.requests and not b.requests
        assert host(a) not in lab.path("f.xnd").read_text()
        assert not lab.path("f.private.xnd").exists()
        assert_fetched(lab)


def test_a_metalink_stays_one(lab):
    lab.path("film.bin").write_bytes(bytes_of(SIZE))
    with StoreDepot() as a, StoreDepot() as b:
        assert lab.xdownload("put", "film.bin", "--to", a.url, "--to", b.url,
                             "-o", "f.meta4", report=False).rc == 0
        run = lab.xdownload("drop", "f.meta4", "--from", a.url, report=False)
        assert run.rc == 0, run.err
        text = lab.path("f.meta4").read_text()
        assert "urn:ietf:params:xml:ns:metalink" in text
        assert host(a) not in text and host(b) in text
        assert not a.objects and len(b.objects) == 1


@pytest.mark.parametrize("size", [(256 << 10) + 1, 700_000])
def test_add_to_a_metalink_puts_a_copy_of_the_whole_file(lab, size):
    """Also where the file ends within a piece."""
    lab.path("film.bin").write_bytes(bytes_of(size))
    with StoreDepot() as a, StoreDepot() as b:
        assert lab.xdownload("put", "film.bin", "--to", a.url, "-o", "f.meta4",
                             report=False).rc == 0
        run = lab.xdownload("add", "f.meta4", "--to", b.url, report=False)
        assert run.rc == 0, run.err
        assert [len(data) for data in b.objects.values()] == [size]
        assert host(b) in lab.path("f.meta4").read_text()


def test_the_last_copy_is_never_dropped(lab):
    with placed(lab, 2, "--stripe", "--copies", "1") as (a, b):
        before = texts(lab)
        for words in [], ["--keep-objects"]:
            run = drop(lab, "--from", a.url, *words)
            assert run.rc == 2
            assert re.search(r"only copy of bytes \d+-\d+", run.err), run.err
        assert texts(lab) == before
        assert not deleted(a) and not deleted(b)


def test_the_last_copy_is_named_by_its_bytes(lab):
    with placed(lab, 1) as (a,):
        run = drop(lab, "--from", host(a))
        assert run.rc == 2
        assert f"bytes 0-{SIZE - 1}" in run.err


def without_pieces(text):
    """With the hash of the whole alone, which is of no use before the end."""
    head, mappings = text.split("  <exnode:mapping>", 1)
    return (re.sub(r'  <exnode:metadata name="piece.*\n', "", head)
            + "  <exnode:mapping>"
            + re.sub(r'<exnode:metadata name="sha256"[^/]*/exnode:metadata>',
                     "", mappings))


@pytest.mark.parametrize("change", [None, without_pieces])
def test_a_copy_that_lies_proves_nothing(lab, change):
    with placed(lab) as (a, b):
        for name in ("f.xnd", "f.private.xnd") if change else ():
            edit(lab, change, name)
        before = texts(lab)
        path = sorted(b.objects)[-1]
        data = b.objects[path]
        b.objects[path] = data[:5] + bytes([data[5] ^ 1]) + data[6:]
        run = drop(lab, "--from", a.url)
        assert run.rc in (1, 4), run.err
        assert "nothing was dropped" in run.err
        assert_untouched(lab, before, a, b)


def test_a_copy_that_is_dead_proves_nothing(lab):
    with placed(lab) as (a, b):
        before = texts(lab)
        b.objects.popitem()
        run = drop(lab, "--from", a.url)
        assert run.rc == 1, run.err
        assert "nothing was dropped" in run.err
        assert texts(lab) == before
        assert not deleted(a) and len(a.objects) == 3


def test_without_a_hash_nothing_is_removed(lab):
    with placed(lab) as (a, b):
        for name in "f.xnd", "f.private.xnd":
            edit(lab, without_hashes, name)
        before = texts(lab)
        run = drop(lab, "--from", a.url)
        assert run.rc == 2
        assert "SHA-256" in run.err and "keep-objects" in run.err
        assert_untouched(lab, before, a, b)
        assert drop(lab, "--from", a.url, "--keep-objects").rc == 0


@pytest.mark.parametrize("status", [403, 503])
def test_what_could_not_be_removed_is_removed_by_the_next_drop(lab, status):
    with placed(lab) as (a, _b):
        a.refused = {"DELETE": status}
        run = drop(lab, "--from", a.url, "--json", "--retry", "1",
                   "--patience", "0s")
        assert run.rc == 1
        assert str(status) in run.err and host(a) in run.err
        assert [r["state"] for r in json.loads(run.out)["replicas"]] == [
            "failed"] * 3
        public, private = texts(lab)
        assert host(a) not in public and private.count(host(a)) >= 3
        a.refused.clear()
        assert drop(lab, "--from", a.url).rc == 0
        assert not a.objects
        assert all(host(a) not in text for text in texts(lab))
        assert drop(lab, "--from", a.url).rc == 2


def test_what_cannot_be_removed_is_forgotten_if_that_is_wanted(lab):
    with placed(lab) as (a, _b):
        a.refused = {"DELETE": 403}
        assert drop(lab, "--from", a.url).rc == 1
        run = drop(lab, "--from", a.url, "--keep-objects")
        assert run.rc == 0, run.err
        assert len(a.objects) == 3
        assert all(host(a) not in text for text in texts(lab))


def test_a_store_that_is_busy_is_asked_again(lab):
    with placed(lab) as (a, _b):
        a.refused = {"DELETE": 503}
        threading.Timer(1, a.refused.clear).start()
        run = drop(lab, "--from", a.url, "--retry", "8")
        assert run.rc == 0, run.err
        assert not a.objects


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_drop_that_ends_early_is_completed_by_the_same(lab, end):
    with placed(lab) as (a, b):
        a.holds = {"DELETE"}
        run = lab.start("drop", "f.xnd", "--from", a.url, report=False)
        wait_until(lambda: deleted(a), "an object is removed")
        if end == signal.SIGKILL:
            run.kill()
        else:
            run.send(end)
            assert run.wait().rc == 130
        public, private = texts(lab)
        assert host(a) not in public
        assert "drop 1" in private and host(a) in private
        a.holds = set()
        wait_until(lambda: not a.held, "it is let go")
        other = drop(lab, "--from", "elsewhere.example")
        assert other.rc == 2
        run = drop(lab, "--from", a.url)
        assert run.rc == 0, run.err
        assert not a.objects and len(b.objects) == 3
        assert all(host(a) not in text for text in texts(lab))
        assert "drop 1" not in texts(lab)[1]


def test_a_drop_that_ends_before_it_writes_has_done_nothing(lab):
    with placed(lab) as (a, b):
        before = texts(lab)
        b.holds = {"GET"}
        run = lab.start("drop", "f.xnd", "--from", a.url, report=False)
        wait_until(lambda: b.held, "what stays is read")
        run.kill()
        b.holds = set()
        assert_untouched(lab, before, a, b)
        assert drop(lab, "--from", a.url).rc == 0


def test_two_at_once_exclude_each_other(lab):
    with placed(lab) as (a, b):
        b.holds = {"GET"}
        first = lab.start("drop", "f.xnd", "--from", a.url, report=False)
        wait_until(lambda: b.held, "what stays is read")
        second = drop(lab, "--from", a.url)
        assert second.rc == 5
        assert "in use" in second.err or "another" in second.err
        b.holds = set()
        assert first.wait(PATIENCE).rc == 0


def test_a_host_that_holds_nothing_is_said(lab):
    with placed(lab) as (a, b):
        before = texts(lab)
        for where in ("other.example", "127.0.0.1",
                      f"http://127.0.0.1:{a.port}/other/"):
            run = drop(lab, "--from", where)
            assert run.rc == 2, run.err
            assert "no replica" in run.err
        assert_untouched(lab, before, a, b)


def test_an_upload_that_is_not_complete_is_left_alone(lab):
    lab.path("film.bin").write_bytes(bytes_of(SIZE))
    with StoreDepot() as a, StoreDepot("is_full_after_two") as b:
        assert lab.xdownload("put", "film.bin", "--to", a.url, "--to", b.url,
                             "-o", "f.xnd", "--extent", "1m",
                             report=False).rc == 1
        b.requests.clear()
        run = drop(lab, "--from", b.url)
        assert run.rc == 1
        assert "not complete" in run.err
        assert not deleted(b)


# ---- what a manifest of somebody else cannot do ----

@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o606, 0o610, 0o601])
@pytest.mark.parametrize("command", [
    ["drop", "f.xnd", "--from"], ["renew", "f.xnd", "--for", "1d", "--to"],
    ["put", "film.bin", "-o", "f.xnd", "--force", "--to"]])
def test_a_private_manifest_that_others_may_use_is_refused(lab, command, mode):
    with placed(lab) as (a, b):
        lab.path("f.private.xnd").chmod(mode)
        before = texts(lab)
        run = lab.xdownload(*command, a.url, report=False)
        assert run.rc == 5, run.err
        assert "chmod 600" in run.err
        assert_untouched(lab, before, a, b)
        assert not a.requests and not b.requests


@pytest.mark.parametrize("size", [SIZE, SIZE + 1])
@pytest.mark.parametrize("command", [["drop", "f.xnd", "--from"],
                                     ["renew", "f.xnd", "--for", "1d", "--to"],
                                     ["add", "f.xnd", "--to"],
                                     ["check", "f.xnd", "--heal", "--to"]],
                         ids=lambda words: words[0])
def test_private_manifest_of_another_file_is_refused(lab, command, size):
    with placed(lab) as (a, b), StoreDepot() as c:
        lab.path("other.bin").write_bytes(bytes(size))
        run = lab.xdownload("put", "other.bin", "--to", c.url, "-o", "g.xnd",
                            report=False)
        assert run.rc == 0, run.err
        lab.path("g.xnd").replace(lab.path("f.xnd"))
        before = texts(lab)
        c.requests.clear()
        run = lab.xdownload(*command, c.url, report=False)
        assert run.rc == 1, run.err
        assert "f.xnd and f.private.xnd are of different files" in run.err
        assert_untouched(lab, before, a, b)
        assert not a.requests and not b.requests and not c.requests


@pytest.mark.parametrize("n_dead", [1, None], ids=["one", "all"])
def test_heal_does_not_speak_for_dead_copies_of_the_public_manifest(lab,
                                                                    n_dead):
    with placed(lab) as (a, b):
        edit(lab, lambda text: re.sub(r"/[0-9a-f]+-0<", "/gone<", text,
                                      count=n_dead or 0), "f.xnd")
        before = texts(lab)
        run = lab.xdownload("check", "--heal", "--to", a.url, "f.xnd",
                            report=False)
        assert run.rc == 1, run.err
        assert "f.xnd names copies that cannot be used" in run.err
        assert_untouched(lab, before, a, b)


def test_heal_accepts_good_copies_that_only_the_public_manifest_has(lab):
    with placed(lab) as (a, b), StoreDepot() as c:
        run = lab.xdownload("put", "film.bin", "--to", c.url, "-o", "g.xnd",
                            "--extent", "1m", report=False)
        assert run.rc == 0, run.err
        lab.path("f.xnd").write_text(lab.path("g.xnd").read_text())
        run = lab.xdownload("check", "--heal", "--to", a.url, "f.xnd",
                            report=False)
        assert run.rc == 0, run.err


def test_a_private_manifest_by_a_link_is_refused(lab):
    with placed(lab) as (a, b):
        lab.path("f.private.xnd").rename(lab.path("elsewhere"))
        lab.path("f.private.xnd").symlink_to("elsewhere")
        run = drop(lab, "--from", a.url)
        assert run.rc == 5
        assert "symbolic link" in run.err
        lab.path("f.private.xnd").unlink()
        os.mkfifo(lab.path("f.private.xnd"), 0o600)
        run = drop(lab, "--from", a.url)
        assert run.rc == 5
        assert "not a regular file" in run.err
        assert not a.requests and not b.requests


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_private_manifest_of_another_user_is_refused(lab):
    with placed(lab) as (a, b):
        os.chown(lab.path("f.private.xnd"), 12345, -1)
        run = drop(lab, "--from", a.url)
        assert run.rc == 5
        assert "another user" in run.err
        assert not a.requests and not b.requests


def manage(depot, to):
    """What changes a manifest: a mapping on the depot is managed by that."""
    return lambda text: re.sub(
        rf"(<exnode:read>\w+://{host(depot)}/[^<]*</exnode:read>\s*"
        r"<exnode:write>[^<]*</exnode:write>\s*<exnode:manage>)[^<]*",
        lambda m: m[1] + to, text, count=1)


NAME = "0123456789abcdef" * 2 + "-0"


@pytest.mark.parametrize("to", [
    "http://{other}/dav/" + NAME,        # another host
    "https://{a}/dav/" + NAME,           # another scheme
    "http://{a}/dav/precious.txt",       # a name that put does not give
    "http://{a}/dav/../" + NAME,         # outside of the store
    "http://{a}/dav/%2e%2e/" + NAME,
    "http://{a}/dav/",                   # the store
    "http://{a}/" + NAME,
    "http://user:word@{a}/dav/" + NAME,
    "http://{a}/dav/" + NAME + "?delete",
    "http://{a}@{other}/dav/" + NAME,
    "s3://bucket/" + NAME,
    "ibp://{other}/k/1/MANAGE",
    "file:///etc/passwd",
    "precious",
])
def test_only_objects_of_the_store_that_was_typed_are_removed(lab, to):
    with placed(lab) as (a, b), StoreDepot() as other:
        name = to.format(a=host(a), other=host(other))
        path = "/" + name.split("/", 3)[3] if name.count("/") > 2 else "/x"
        for d in a, other:
            d.objects[path] = b"of somebody else"
        edit(lab, manage(a, name))
        before = texts(lab)
        run = drop(lab, "--from", a.url, "--user", "me:SECRET")
        assert run.rc == 2, run.err
        assert texts(lab) == before
        assert not deleted(a) and not deleted(b)
        assert not other.requests


@pytest.mark.parametrize("to", [
    "http://{other}/dav/" + NAME, "ftp://{a}/dav/" + NAME,
    "http://user:word@{a}/dav/" + NAME, "http://{a}@{other}/dav/" + NAME,
    "s3://bucket/" + NAME, "ibp://{other}/k/1/MANAGE",
    "http://{a}/dav/../" + NAME, "http://{a}/dav/precious.txt",
])
def test_only_objects_at_the_host_that_was_typed_are_removed(lab, to):
    with placed(lab) as (a, b), StoreDepot() as other:
        name = to.format(a=host(a), other=host(other))
        edit(lab, manage(a, name))
        before = texts(lab)
        run = drop(lab, "--from", host(a))
        assert run.rc == 2, run.err
        assert_untouched(lab, before, a, b)
        assert not other.requests


def test_an_object_that_another_replica_is_of_stays(lab):
    """By another name of the host, which nothing but the manifest tells."""
    with placed(lab) as (a, b):
        shared = next(path for path in a.objects if path.endswith("-0"))
        alias = f"http://localhost:{a.port}{shared}"
        edit(lab, lambda text: re.sub(
            rf"(<exnode:read>)http://{host(b)}/dav/\w+-0(</exnode:read>\s*"
            r"<exnode:write></exnode:write>\s*<exnode:manage>)[^<]*",
            lambda m: f"{m[1]}{alias}{m[2]}http://{host(a)}{shared}", text))
        run = drop(lab, "--from", host(a), "--json")
        assert run.rc == 0, run.err
        assert list(a.objects) == [shared]
        states = [r["state"] for r in json.loads(run.out)["replicas"]]
        assert sorted(states) == ["done", "done", "kept"]
        assert_fetched(lab)


def test_a_redirect_is_not_followed(lab):
    with placed(lab) as (a, b), StoreDepot() as other:
        a.refused = {"DELETE": 307}
        a.location = other.url + NAME
        other.objects["/dav/" + NAME] = b"of somebody else"
        run = drop(lab, "--from", a.url, "--user", "me:SECRET")
        assert run.rc == 1
        assert "307" in run.err
        assert not other.requests and len(b.objects) == 3


def test_what_is_handed_out_makes_nothing_happen(lab):
    """Its capabilities are not used, nor its note."""
    with placed(lab) as (a, b):
        lab.path("f.private.xnd").rename(lab.path("f.xnd"))
        before = lab.path("f.xnd").read_text()
        run = drop(lab, "--from", a.url)
        assert run.rc == 0, run.err
        assert not a.requests and not b.requests
        lab.path("f.xnd").write_text(before)
        run = lab.xdownload("renew", "f.xnd", "--for", "1d", report=False)
        assert run.rc == 1
        assert "f.private.xnd" in run.err


def test_manifests_of_different_files_are_refused(lab):
    with placed(lab) as (a, b):
        edit(lab, lambda text: re.sub(r'(name="sha256" type="string">)....',
                                      r"\g<1>0000", text), "f.xnd")
        before = texts(lab)
        run = drop(lab, "--from", a.url)
        assert run.rc == 1
        assert "different files" in run.err
        assert_untouched(lab, before, a, b)


def seen_credentials(depot):
    return [h for h in depot.credentials if h]


def test_credentials_go_where_they_were_typed_alone(lab):
    with placed(lab) as (a, b):
        a.wants_login = b.wants_login = True
        assert drop(lab, "--from", a.url, "--user", "me:SECRET").rc == 1
        assert not seen_credentials(a) and not seen_credentials(b)
        b.wants_login = False
        assert drop(lab, "--from", a.url, "--user", "me:SECRET").rc == 0
        assert len(seen_credentials(a)) == 3
        assert not seen_credentials(b)
    with placed(lab, 2, "--force") as (a, b):
        a.wants_login = True
        run = drop(lab, "--from", host(a), "--user", "me:SECRET")
        assert run.rc == 1
        assert "auth-host" in run.err
        assert not seen_credentials(a) and not seen_credentials(b)


def test_thousands_of_objects_are_removed(lab):
    lab.path("film.bin").write_bytes(bytes_of(2 * MIB))
    with StoreDepot() as a, StoreDepot() as b:
        assert lab.xdownload("put", "film.bin", "--to", a.url, "--to", b.url,
                             "-o", "f.xnd", "--extent", "4k",
                             report=False).rc == 0
        assert len(a.objects) == 512
        run = drop(lab, "--from", a.url)
        assert run.rc == 0, run.err
        assert not a.objects and len(b.objects) == 512


# ---- renew ----

def test_what_does_not_expire_is_said(lab):
    with placed(lab) as (a, b):
        before = texts(lab)
        run = lab.xdownload("renew", "f.xnd", "--for", "30d", "--json",
                            report=False)
        assert run.rc == 0, run.err
        assert "6 replicas need no renewal: their stores never delete" in run.err
        assert {r["state"] for r in json.loads(run.out)["replicas"]} == {
            "endless"}
        assert texts(lab) == before
        assert not a.requests and not b.requests


def renew(lab, *words):
    return lab.xdownload("renew", "f.xnd", *words, report=False)


@contextlib.contextmanager
def allocated(lab, *longest, lifetime="1h"):
    """A file with a copy on an IBP depot for each longest lifetime, in s."""
    with contextlib.ExitStack() as stack:
        depots = [stack.enter_context(IbpDepot(longest=n)) for n in longest]
        lab.path("film.bin").write_bytes(bytes_of(SIZE))
        to = [word for d in depots for word in ("--to", f"ibp://{d.host}")]
        run = lab.xdownload("put", "film.bin", *to, "-o", "f.xnd", "--extent",
                            "1m", "--for", lifetime, report=False)
        assert run.rc == 0, run.err
        for d in depots:
            d.requests.clear()
        yield depots


def lives(depot):
    """The seconds that each allocation of an upload has left."""
    return [a.expires - time.time() for a in depot._allocations.values()
            if a is not depot.held]


def ends(lab, name="f.xnd"):
    """When each replica ends, as a manifest has it: seconds from now on."""
    dates = re.findall(r'name="end" type="string">([^<]*)<',
                       lab.path(name).read_text())
    return [calendar.timegm(time.strptime(d, "%Y-%m-%d %H:%M:%S"))
            - time.time() for d in dates]


def assert_near(seconds, wanted):
    assert seconds and all(abs(s - wanted) < 120 for s in seconds), seconds


DAY = 86400


def test_allocations_are_renewed(lab):
    with allocated(lab, 40 * DAY, 40 * DAY) as depots:
        assert_near(ends(lab), 3600)
        run = renew(lab, "--for", "30d")
        assert run.rc == 0, run.err
        assert "6 replicas renewed, until 20" in run.err
        for d in depots:
            assert_near(lives(d), 30 * DAY)
        for name in "f.xnd", "f.private.xnd":
            assert_near(ends(lab, name), 30 * DAY)
        # As it is: it would live shorter.
        assert renew(lab, "--for", "1h").rc == 0
        for d in depots:
            assert_near(lives(d), 30 * DAY)
        assert "MANAGE" not in lab.path("f.xnd").read_text()
        assert_fetched(lab)


def test_beyond_the_limit_of_a_store_it_is_named(lab):
    with allocated(lab, 40 * DAY, 10 * DAY) as (far, near):
        run = renew(lab, "--for", "30d", "--json")
        assert run.rc == 2, run.err
        assert str(10 * DAY) in run.err
        assert near.host in run.err and far.host not in run.err
        assert_near(lives(far), 30 * DAY)
        assert_near(lives(near), 3600)
        said = json.loads(run.out)["replicas"]
        assert {r["limit_s"] for r in said if r["state"] == "beyond"} == {
            10 * DAY}
        assert sorted(round(s / DAY) for s in ends(lab)) == [0] * 3 + [30] * 3
        assert "MANAGE" not in run.err and b"MANAGE" not in run.out


def test_a_dead_depot_does_not_keep_others_from_it(lab):
    with allocated(lab, 40 * DAY, 40 * DAY) as (alive, dead):
        dead.close()
        run = renew(lab, "--for", "30d", "--retry", "2")
        assert run.rc == 1, run.err
        assert dead.host in run.err
        assert_near(lives(alive), 30 * DAY)


def test_capabilities_of_other_depots_are_shown_to_nobody(lab):
    """What is handed out says that an allocation is elsewhere."""
    with allocated(lab, 40 * DAY, 40 * DAY) as (a, _b), IbpDepot() as other:
        edit(lab, lambda text: text.replace(a.host, other.host), "f.xnd")
        assert renew(lab, "--for", "30d").rc == 0
        assert not other.requests and other.accepted == 0
        assert_near(lives(a), 30 * DAY)


@pytest.mark.parametrize("by", ["ibp://{}", "{}"])
def test_allocations_are_dropped(lab, by):
    with allocated(lab, 40 * DAY, 40 * DAY) as (a, b):
        run = drop(lab, "--from", by.format(a.host))
        assert run.rc == 0, run.err
        assert not lives(a) and len(lives(b)) == 3
        assert all(a.host not in text for text in texts(lab))
        assert_fetched(lab)


def test_a_capability_at_another_depot_is_not_used(lab):
    with allocated(lab, 40 * DAY, 40 * DAY) as (a, b), IbpDepot() as other:
        capability = other.capability(right="MANAGE")
        edit(lab, manage(a, capability))
        before = texts(lab)
        run = drop(lab, "--from", f"ibp://{a.host}")
        assert run.rc == 2, run.err
        assert capability.split("/")[3] not in run.err
        assert texts(lab) == before
        assert other.accepted == 0 and len(lives(a)) == len(lives(b)) == 3


# ---- S3 ----

@pytest.fixture(name="s3")
def _s3(lab):
    lab.environment.update({"AWS_ACCESS_KEY_ID": ACCESS_KEY,
                            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
                            "HOME": str(lab.folder)})
    lab.path("film.bin").write_bytes(bytes_of(SIZE))
    with S3Depot() as s3, StoreDepot() as web:
        s3.at = ["--s3-endpoint", s3.endpoint]
        run = lab.xdownload("put", "film.bin", "--to", "s3://bkt/dir", "--to",
                            web.url, *s3.at, "-o", "f.xnd", report=False)
        assert run.rc == 0, run.err
        s3.requests.clear()
        yield s3


def test_objects_of_a_bucket_are_removed_where_it_was_typed(lab, s3):
    before = texts(lab)
    for where in (s3.endpoint.split("/")[2], "s3://bkt/other", "s3://other"):
        run = drop(lab, "--from", where, *s3.at)
        assert run.rc == 2, run.err
        assert len(s3.objects) == 1 and texts(lab) == before
    assert not s3.requests
    run = drop(lab, "--from", "s3://bkt/dir", *s3.at)
    assert run.rc == 0, run.err
    assert not s3.objects
    assert_fetched(lab)


def presigned(text):
    return re.sub(r"(<exnode:read>[^<]*/bkt/[^<]*)<",
                  r"\1?X-Amz-Date=20260101T000000Z&amp;X-Amz-Signature=OLD<",
                  text)


def test_presigned_urls_are_made_anew_where_the_bucket_was_typed(lab, s3):
    edit(lab, presigned)
    run = renew(lab, "--for", "1d", *s3.at)
    assert run.rc == 1
    assert "--to s3://" in run.err and "X-Amz" not in run.err
    run = renew(lab, "--for", "1d", "--to", "s3://bkt/other", *s3.at)
    assert run.rc == 1
    run = renew(lab, "--for", "8d", "--to", "s3://bkt/dir", *s3.at)
    assert run.rc == 2
    assert str(7 * DAY) in run.err
    assert "Signature=OLD" in texts(lab)[1]
    run = renew(lab, "--for", "1d", "--to", "s3://bkt/dir", *s3.at, "--json")
    assert run.rc == 0, run.err
    for text in texts(lab):
        assert "Signature=OLD" not in text
        assert "X-Amz-Expires=86400" in text
    assert "Signature" not in run.err and b"Signature" not in run.out
    assert "s3://" not in texts(lab)[0] and "s3://bkt/dir" in texts(lab)[1]
    assert not s3.requests
    assert_near(ends(lab), DAY)
    assert_fetched(lab)


def test_renew_keeps_a_presigned_url_that_lasts_longer(lab, s3):
    edit(lab, presigned)
    assert renew(lab, "--for", "2d", "--to", "s3://bkt/dir", *s3.at).rc == 0
    before = [html.unescape(text) for text in texts(lab)]
    assert all("X-Amz-Expires=172800" in text for text in before)
    for to in ["--to", "s3://bkt/dir"], []:
        run = renew(lab, "--for", "1h", *to, *s3.at, "--json")
        assert run.rc == 0, run.err
        assert [html.unescape(text) for text in texts(lab)] == before
        assert "done" in {r["state"] for r in
                          json.loads(run.out)["replicas"]}


def test_a_manifest_that_nobody_else_may_read_stays_so(lab):
    with placed(lab) as (a, b), StoreDepot() as c:
        for words in (["drop", "f.xnd", "--from", a.url],
                      ["add", "f.xnd", "--to", c.url]):
            lab.path("f.xnd").chmod(0o600)
            before = lab.read("f.xnd")
            run = lab.xdownload(*words, report=False)
            assert run.rc == 0, run.err
            assert lab.read("f.xnd") != before
            assert stat.S_IMODE(lab.path("f.xnd").stat().st_mode) == 0o600


# ---- mistakes that people make ----

@pytest.mark.parametrize("words,rc,said", [
    (["drop", "f.xnd"], 2, "--from"),
    (["drop", "--from", "a.example"], 2, "manifest"),
    (["drop", "f.xnd", "f.xnd", "--from", "a.example"], 2, "one manifest"),
    (["drop", "f.xnd", "--from", "a.example", "--from", "b.example"], 2,
     "twice"),
    (["drop", "f.xnd", "--from", "a.example/x"], 2, "HOST"),
    (["drop", "f.xnd", "--from", "me@a.example"], 2, "HOST"),
    (["drop", "f.xnd", "--from", ""], 2, "--from"),
    (["drop", "f.xnd", "--from", "ftp://a.example/"], 2, "ftp"),
    (["drop", "f.private.xnd", "--from", "a.example"], 2, "handed out"),
    (["drop", "absent.xnd", "--from", "a.example"], 5, "absent.xnd"),
    (["drop", "http://a.example/f.xnd", "--from", "a.example"], 2,
     "of this machine"),
    (["renew", "f.xnd"], 2, "--for"),
    (["renew", "f.xnd", "--for", "never"], 2, "never"),
    (["renew", "f.xnd", "--for", "100000d"], 2, "invalid"),
    (["renew", "f.xnd", "--for", "1d", "--from", "x"], 2, "drop"),
])
def test_mistakes_are_answered(lab, words, rc, said):
    with placed(lab) as (a, b):
        run = lab.xdownload(*words, report=False)
        assert run.rc == rc, run.err
        assert said in run.err
        assert not a.requests and not b.requests
    assert not list(lab.path(".").glob("*.lock"))
