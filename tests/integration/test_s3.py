# SPDX-License-Identifier: MIT
"""xdownload put with S3: a store of our own that verifies signatures and
misbehaves (tests/lab/s3_depot.py)."""
import re
import sys
import urllib.parse
from pathlib import Path

import pytest

from lab import PATIENCE, Lab, bytes_of, wait_until

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "lab"))
from s3_depot import ACCESS_KEY, SECRET_KEY, S3Depot  # noqa: E402
from store_depot import StoreDepot  # noqa: E402

MIB = 1 << 20
SMALL, LARGE = 300_007, 12 * MIB + 5
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


@pytest.fixture(name="lab")
def lab_with_keys():
    with Lab() as lab:
        for name in list(lab.environment):
            if name.startswith("AWS_"):
                del lab.environment[name]
        lab.environment["HOME"] = str(lab.folder)
        lab.environment.update(KEYS)
        yield lab


def put(lab, endpoint, *words, size=LARGE, target="s3://bkt/dir",
        name="film.bin"):
    data = bytes_of(size, 7)
    lab.path(name).write_bytes(data)
    run = lab.start("put", name, "--to", target, "--s3-endpoint", endpoint,
                    "--s3-part-size", "5m", "-o", "film.xnd", *words,
                    report=False).wait(PATIENCE)
    return run, data


def assert_put(lab, run, data, objects):
    """One object that is the file, under the prefix, and manifests that say
    where; the secrets are in neither."""
    assert run.rc == 0, run
    (name, stored), = objects.items()
    assert stored == data
    assert name.startswith("bkt/dir/")
    public = lab.read("film.xnd").decode()
    private = lab.read("film.private.xnd").decode()
    key = urllib.parse.quote(name[len("bkt/"):])
    assert f"s3://bkt/{key}" in private and "s3://" not in public
    assert key in public
    for said in (public, private, run.err, run.out.decode()):
        assert SECRET_KEY not in said and "X-Amz" not in said


# ---- the store of our own ----

@pytest.mark.parametrize("size", [1, SMALL, 5 * MIB, 5 * MIB + 1, LARGE])
def test_a_file_is_put_in_one_piece_or_in_parts(lab, size):
    with S3Depot() as depot:
        run, data = put(lab, depot.endpoint, size=size)
        assert_put(lab, run, data, depot.objects)
        sent = [r for r in depot.requests if r.startswith("PUT")]
        assert len(sent) == max(1, -(-size // (5 * MIB)))
        assert ("partNumber" in sent[0]) == (size > 5 * MIB)
        assert not depot.uploads


@pytest.mark.parametrize("name", [
    "a b+c%d~e.bin", "\u00fcmlaut \u6f22.bin", "x(1)!*'@:&=,;$#[]?.bin"])
def test_odd_names_are_signed(lab, name):
    with S3Depot() as depot:
        run, data = put(lab, depot.endpoint, name=name, size=SMALL,
                        target="s3://bkt/dir/%20a+b%25/")
        assert_put(lab, run, data, depot.objects)
        assert next(iter(depot.objects)).startswith("bkt/dir/ a+b%/")


def test_the_bucket_is_in_the_name_of_the_host(lab):
    with S3Depot() as depot:
        run, data = put(lab, f"http://localhost:{depot.port}",
                        "--s3-host-style", size=SMALL)
        assert_put(lab, run, data, depot.objects)
        assert depot.requests[0].startswith("HEAD /dir/")


@pytest.mark.parametrize("faults", [
    {"slow": 3}, {"fails_completion": 1}, {"off": 7200}, {"off": -90000}],
    ids=str)
def test_what_passes_is_no_failure(lab, faults):
    with S3Depot(**faults) as depot:
        run, data = put(lab, depot.endpoint)
        assert_put(lab, run, data, depot.objects)


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("faults", [{"busy_s": 15}, {"incomplete": 3}], ids=str)
def test_store_that_refuses_for_a_while_is_waited_for(lab, faults, size):
    with S3Depot(**faults) as depot:
        run, data = put(lab, depot.endpoint, size=size)
        assert_put(lab, run, data, depot.objects)
        assert depot.count("PUT") <= 15


def test_urls_are_presigned_for_a_while(lab):
    with S3Depot() as depot:
        run, data = put(lab, depot.endpoint, "--presign", "1h", size=SMALL)
        assert run.rc == 0, run.err
        public = lab.read("film.xnd").decode()
        assert "X-Amz-Expires=3600" in public and "X-Amz-Signature=" in public
        assert 'name="end"' in public
        assert SECRET_KEY not in public and "X-Amz" not in run.err
        fetched = lab.xdownload("-o", "back", "film.xnd", report=False)
        assert fetched.rc == 0, fetched.err
        assert lab.read("back") == data


@pytest.mark.parametrize("token,time,most", [(None, "8d", 604800),
                                             ("t", "13h", 43200)])
def test_no_url_is_presigned_for_longer_than_it_is_good(lab, token, time, most):
    if token:
        lab.environment["AWS_SESSION_TOKEN"] = token
    with S3Depot(token=token) as depot:
        run, _ = put(lab, depot.endpoint, "--presign", time, size=SMALL)
        assert run.rc == 2, run.err
        assert f"{most} s at most" in run.err
        assert not depot.requests


@pytest.mark.parametrize("off,words", [(7200, "slow"), (-90000, "fast")])
def test_a_clock_that_is_wrong_is_named_once(lab, off, words):
    with S3Depot(off=off) as depot:
        run, _ = put(lab, depot.endpoint)
    said = re.findall(r"clock of this machine is (\d+) s (\w+)", run.err)
    assert len(said) == 1 and said[0][1] == words, run.err
    assert abs(int(said[0][0]) - abs(off)) < 60


@pytest.mark.parametrize("what", ["options", "environment", "profile"])
def test_keys_come_from_where_the_user_has_them(lab, what):
    words = []
    for name in KEYS:
        del lab.environment[name]
    if what == "options":
        words = ["--s3-access-key", ACCESS_KEY, "--s3-secret-key", SECRET_KEY,
                 "--s3-session-token", "t/+=", "--s3-region", "eu-west-3"]
    elif what == "environment":
        lab.environment.update(KEYS, AWS_SESSION_TOKEN="t/+=",
                               AWS_REGION="eu-west-3")
    else:
        (lab.folder / ".aws").mkdir()
        (lab.folder / ".aws" / "credentials").write_text(
            f"[work]\naws_access_key_id = {ACCESS_KEY}\n"
            f"aws_secret_access_key = {SECRET_KEY}\n"
            "aws_session_token = t/+=\n")
        (lab.folder / ".aws" / "config").write_text(
            "[profile work]\nregion = eu-west-3\n")
        lab.environment["AWS_PROFILE"] = "work"
    with S3Depot(region="eu-west-3", token="t/+=") as depot:
        run, data = put(lab, depot.endpoint, *words, size=SMALL)
        assert_put(lab, run, data, depot.objects)


@pytest.mark.parametrize("faults, changes, words", [
    ({}, {"AWS_SECRET_ACCESS_KEY": "wrong"}, "check s3-secret-key"),
    ({}, {"AWS_ACCESS_KEY_ID": "wrong"}, "does not know the access key"),
    ({}, {"AWS_ACCESS_KEY_ID": ""}, "it takes two"),
    ({}, {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
     "no credentials"),
    ({"token": "new"}, {"AWS_SESSION_TOKEN": "old"}, "have expired"),
    ({"region": "eu-west-3"}, {}, "use s3-region eu-west-3"),
    ({"loses": True}, {}, "does not have it"),
], ids=lambda v: v if isinstance(v, str) else "")
def test_a_failure_says_what_to_do(lab, faults, changes, words):
    lab.environment.update(changes)
    with S3Depot(**faults) as depot:
        run, _ = put(lab, depot.endpoint, "--retry", "1", size=SMALL)
        assert run.rc != 0 and words in run.err, run
        assert not depot.objects and not depot.uploads
        for secret in filter(None, [SECRET_KEY, *changes.values()]):
            assert secret == "wrong" or secret not in run.err


def test_a_bucket_that_is_not_there_is_named(lab):
    with S3Depot() as depot:
        run, _ = put(lab, depot.endpoint, "--retry", "1", size=SMALL,
                     target="s3://other/dir")
        assert run.rc != 0 and "there is no such bucket" in run.err, run


def test_keys_are_not_seen_in_the_list_of_processes(lab):
    with S3Depot(slow=4) as depot:
        lab.path("film.bin").write_bytes(bytes_of(LARGE, 7))
        run = lab.start("put", "film.bin", "--to", "s3://bkt/dir",
                        "--s3-endpoint", depot.endpoint, "--s3-part-size",
                        "5m", "--s3-secret-key", SECRET_KEY,
                        "--s3-access-key=" + ACCESS_KEY, "-o", "film.xnd",
                        report=False)
        wait_until(lambda: depot.requests, "a request")
        seen = Path(f"/proc/{run.pid}/cmdline").read_bytes().decode()
        assert run.wait(PATIENCE).rc == 0
    assert SECRET_KEY not in seen and ACCESS_KEY not in seen
    assert depot.endpoint in seen


# ---- a bucket that is private ----

def put_two(lab, endpoint, extra, *words):
    """Copies in the bucket and on `extra`, a depot of another kind."""
    data = bytes_of(SMALL, 7)
    lab.path("film.bin").write_bytes(data)
    run = lab.xdownload("put", "film.bin", "--to", "s3://bkt/dir", "--to",
                        extra.url, "--s3-endpoint", endpoint, "-o", "film.xnd",
                        *words, report=False)
    assert run.rc == 0, run.err
    return data


def keep(lab, command, endpoint, *words):
    if endpoint:
        words = ("--s3-endpoint", endpoint, *words)
    run = lab.xdownload(command, "film.xnd", *words, report=False)
    for said in (run.err, run.out.decode(), lab.read("film.xnd").decode(),
                 lab.read("film.private.xnd").decode()):
        assert SECRET_KEY not in said and "X-Amz" not in said
    return run


def test_put_says_that_nobody_can_read_what_is_private(lab):
    with S3Depot(is_private=True) as depot, S3Depot() as other:
        run, _ = put(lab, depot.endpoint)
        assert run.rc == 0, run.err
        assert "to hand out" not in run.err
        assert "nobody can read the copies" in run.err
        assert "--presign" in run.err and depot.endpoint[7:] in run.err
        assert "--presign" in lab.xdownload(
            "put", "film.bin", "--to", "s3://bkt/dir", "--s3-endpoint",
            depot.endpoint, "-o", "again.xnd", report=False).err
        for words in (["--s3-endpoint", other.endpoint],
                      ["--s3-endpoint", depot.endpoint, "--presign", "1h"]):
            run = lab.xdownload("put", "film.bin", "--to", "s3://bkt/dir",
                                *words, "--force", "-o", "film.xnd",
                                report=False)
            assert run.rc == 0, run.err
            assert "to hand out" in run.err and "nobody" not in run.err


def test_put_names_the_stores_that_nobody_can_read(lab):
    with S3Depot(is_private=True) as depot, StoreDepot() as web:
        lab.path("film.bin").write_bytes(bytes_of(SMALL, 7))
        run = lab.xdownload("put", "film.bin", "--to", "s3://bkt/dir", "--to",
                            web.url, "--s3-endpoint", depot.endpoint, "-o",
                            "film.xnd", report=False)
        assert run.rc == 0, run.err
        assert "to hand out" in run.err
        said = re.search("nobody can read the copies on (.*) without", run.err)
        assert said[1] == depot.endpoint[7:]


@pytest.mark.parametrize("words", [
    ["--s3-endpoint", "http://a.example", "--to", "s3://one/x",
     "--s3-endpoint", "http://b.example", "--to", "s3://two/x"],
    ["--to", "s3://one/x", "--to", "s3://two/x", "--s3-region", "a",
     "--s3-region", "b"],
    ["--to", "s3://one/x", "--to", "s3://two/x", "--s3-secret-key", "a",
     "--s3-secret-key", "b"],
    ["--user", "a:b", "--to", "http://one.example/", "-u", "c:d", "--to",
     "http://two.example/"]], ids=" ".join)
def test_stores_of_a_run_share_their_keys_and_endpoint(lab, words):
    """The second would be used for both, silently."""
    lab.path("film.bin").write_bytes(b"x")
    run = lab.xdownload("put", "film.bin", "-o", "film.xnd", *words,
                        report=False)
    assert run.rc == 2, run.err
    assert "is given twice" in run.err and "xdownload add" in run.err
    assert not lab.path("film.xnd").exists()


def test_the_same_endpoint_may_be_given_twice(lab):
    with S3Depot() as depot:
        run, _ = put(lab, depot.endpoint, "--s3-endpoint", depot.endpoint)
        assert run.rc == 0, run.err


def test_what_is_private_is_checked_by_its_owner(lab):
    with S3Depot(is_private=True) as depot:
        run, _ = put(lab, depot.endpoint)
        assert run.rc == 0, run.err
        run = keep(lab, "check", depot.endpoint, "--full")
        assert run.rc == 0, run
        run = keep(lab, "check", depot.endpoint, "--json")
        assert run.rc == 0, run
        lab.environment["AWS_ENDPOINT_URL"] = depot.endpoint
        assert keep(lab, "check", None).rc == 0


@pytest.mark.parametrize("change", ["no_private", "no_endpoint", "no_keys",
                                    "another_host"])
def test_nothing_is_signed_because_a_manifest_says_so(lab, change):
    with S3Depot(is_private=True) as depot, S3Depot() as other:
        run, _ = put(lab, depot.endpoint)
        assert run.rc == 0, run.err
        endpoint = depot.endpoint
        if change == "no_private":
            lab.path("film.private.xnd").rename(lab.path("x"))
        elif change == "no_endpoint":
            endpoint = None
        elif change == "no_keys":
            for name in KEYS:
                del lab.environment[name]
        else:  # of which the manifest says that it has the object
            for name in ("film.xnd", "film.private.xnd"):
                path = lab.path(name)
                path.write_text(path.read_text().replace(
                    f":{depot.port}/", f":{other.port}/"))
        depot.requests.clear()
        words = ["--s3-endpoint", endpoint] if endpoint else []
        run = lab.xdownload("check", "film.xnd", *words, report=False)
        assert run.rc == 1, run
        asked = depot.requests + other.requests
        assert asked and not any("X-Amz" in r for r in asked)


@pytest.mark.parametrize("change,words", [
    ("secret", "to the keys that signed the request: check s3-access-key"),
    ("access", "to the keys that signed the request: check s3-access-key"),
    ("token", "to the keys that signed the request"),
    ("clock", "the clock of this machine"),
    ("no_endpoint", "neither a signature of S3 nor a login")])
def test_what_keys_may_not_read_is_not_dead_and_stays(lab, change, words):
    with (S3Depot(is_private=True) as depot, StoreDepot() as web,
          StoreDepot() as third):
        put_two(lab, depot.endpoint, web)
        names = ("film.xnd", "film.private.xnd")
        before = [lab.read(name) for name in names]
        endpoint = None if change == "no_endpoint" else depot.endpoint
        if change == "secret":
            lab.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
        elif change == "access":
            lab.environment["AWS_ACCESS_KEY_ID"] = "wrong"
        elif change == "token":
            lab.environment["AWS_SESSION_TOKEN"] = "expired"
        elif change == "clock":
            depot.off = -3600
        run = keep(lab, "check", endpoint, "--heal", "--to", third.url)
        assert run.rc == 1, run
        said = run.out.decode()
        assert "denied: " in said and words in said and "dead" not in said, said
        assert [lab.read(name) for name in names] == before
        assert depot.objects and not third.objects


def test_a_private_copy_is_the_origin_of_others(lab):
    with (S3Depot(is_private=True) as depot, StoreDepot() as web,
          StoreDepot() as third):
        data = put_two(lab, depot.endpoint, web)
        web.objects.clear()
        run = keep(lab, "check", depot.endpoint, "--heal", "--to", third.url)
        assert run.rc == 0, run
        assert list(third.objects.values()) == [data]
        run = keep(lab, "add", depot.endpoint, "--to", web.url)
        assert run.rc == 0, run
        assert list(web.objects.values()) == [data]


def test_a_private_copy_proves_what_stays(lab):
    with S3Depot(is_private=True) as depot, StoreDepot() as web:
        put_two(lab, depot.endpoint, web)
        run = keep(lab, "drop", depot.endpoint, "--from", web.url)
        assert run.rc == 0, run
        assert not web.objects and depot.objects


def test_what_a_bucket_keeps_of_a_dropped_object_is_said(lab):
    with S3Depot(keeps_versions=True) as depot, StoreDepot() as web:
        put_two(lab, depot.endpoint, web)
        run = keep(lab, "drop", depot.endpoint, "--from", "s3://bkt/dir")
        assert run.rc == 0, run
        assert "its bucket keeps versions" in run.err
        assert "1 of them removed" in run.err
        assert web.objects and not depot.objects


# ---- what a store does late ----

HASTY = ["--silence", "1", "--retry", "1", "--patience", "1s"]


def put_again(lab, endpoint, *words):
    """The file as it is."""
    return lab.start("put", "film.bin", "--to", "s3://bkt/dir",
                     "--s3-endpoint", endpoint, "--s3-part-size", "5m",
                     "-o", "film.xnd", *words, report=False).wait(PATIENCE)


@pytest.mark.parametrize("size,words", [(SMALL, []), (SMALL, ["--force"]),
                                        pytest.param(LARGE, [],
                                                     marks=pytest.mark.slow)])
def test_what_is_put_after_the_end_is_taken_by_the_next_run(lab, size, words):
    """Not even the abort of its upload has come in time, if it has parts."""
    with S3Depot(late=9) as depot:
        run, data = put(lab, depot.endpoint, *HASTY, size=size)
        assert run.rc == 1 and not depot.objects, run
        depot.late = 0
        n = depot.count("PUT")
        depot.put_late()
        run = put_again(lab, depot.endpoint, *HASTY, *words)
        assert_put(lab, run, data, depot.objects)
        assert depot.count("PUT") == n
        assert "pending" not in lab.read("film.private.xnd").decode()


def test_what_is_put_late_is_taken_by_the_next_attempt(lab):
    with S3Depot(late=1) as depot:
        data = bytes_of(SMALL, 7)
        lab.path("film.bin").write_bytes(data)
        run = lab.start("put", "film.bin", "--to", "s3://bkt/dir",
                        "--s3-endpoint", depot.endpoint, "--silence", "1",
                        "--patience", "1s", "-o", "film.xnd", report=False)
        wait_until(lambda: depot.count("HEAD") >= 2, "it was looked for again")
        depot.put_late()
        assert_put(lab, run.wait(PATIENCE), data, depot.objects)
        assert depot.count("PUT") <= 2 and depot.count("DELETE") == 0


@pytest.mark.parametrize("change", [
    lambda data: data[:1000], lambda data: bytes(b ^ 1 for b in data)],
    ids=["cut", "other-bytes"])
def test_what_is_put_late_and_is_wrong_is_sent_again(lab, change):
    with S3Depot(late=9) as depot:
        run, data = put(lab, depot.endpoint, *HASTY, size=SMALL)
        assert run.rc == 1, run
        depot.late = 0
        depot.put_late(change)
        run = put_again(lab, depot.endpoint, "--silence", "1")
        assert_put(lab, run, data, depot.objects)
        assert depot.count("DELETE") == 1


def test_each_run_knows_what_those_before_it_have_sent(lab):
    """The second finds nothing, and comes to nothing before it has sent it."""
    with S3Depot(late=9) as depot:
        run, data = put(lab, depot.endpoint, *HASTY, size=SMALL)
        assert run.rc == 1, run
        run = put_again(lab, depot.endpoint, *HASTY)
        assert run.rc == 1, run
        depot.late = 0
        depot.put_late()
        run = put_again(lab, depot.endpoint, *HASTY)
        assert_put(lab, run, data, depot.objects)


def pending(lab):
    return re.findall(r"pending .*", lab.read("film.private.xnd").decode())


@pytest.mark.parametrize("refuses", [None, (403, "AccessDenied"),
                                     (501, "NotImplemented")])
def test_an_upload_whose_id_never_came_is_aborted(lab, refuses):
    """By the next run, after a kill; another one of the bucket stays."""
    with S3Depot(loses_create=9) as depot:
        depot.refuses_lists = refuses
        depot.uploads["other"] = {}
        depot.keys["other"] = "bkt/dir/other"
        lab.path("film.bin").write_bytes(data := bytes_of(LARGE, 7))
        run = lab.start("put", "film.bin", "--to", "s3://bkt/dir",
                        "--s3-endpoint", depot.endpoint, "--s3-part-size", "5m",
                        "-o", "film.xnd", report=False)
        wait_until(lambda: len(depot.uploads) == 2 and pending(lab)
                   if lab.path("film.private.xnd").exists() else False,
                   "an upload is begun")
        run.kill()
        run.popen.wait()
        assert pending(lab)[0].endswith(" - -")
        depot.loses_create = 0
        run = put_again(lab, depot.endpoint)
        assert_put(lab, run, data, depot.objects)
        assert "other" in depot.uploads
        assert len(depot.uploads) == (2 if refuses else 1)


def test_an_upload_whose_id_is_lost_is_aborted_at_once(lab):
    with S3Depot(loses_create=1) as depot:
        run, data = put(lab, depot.endpoint, "--silence", "1")
        assert_put(lab, run, data, depot.objects)
        assert len(depot.keys) == 2 and not depot.uploads


def test_two_names_of_one_store_are_not_two_stores(lab):
    """What is there by the first is not sent by the second, and stays."""
    def hold(request):
        if request.headers["Host"].startswith("localhost"):
            wait_until(lambda: web.objects, "the first name has it")

    with StoreDepot() as web:
        web.on_request = hold
        lab.path("film.bin").write_bytes(data := bytes_of(SMALL, 7))
        other = web.url.replace("127.0.0.1", "localhost")
        run = lab.start("put", "film.bin", "--to", web.url, "--to", other,
                        "-o", "film.xnd", report=False).wait(PATIENCE)
        assert run.rc == 1 and "same store given twice" in run.err, run
        assert list(web.objects.values()) == [data]
        assert web.n_puts() == 1
