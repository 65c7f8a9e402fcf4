# SPDX-License-Identifier: MIT
"""Small files come together, each for itself."""
import fcntl
import hashlib
import itertools
import math
import os
import random
import re
import signal
import time

import pytest

from lab import bytes_of, wait_until

SIZE = 20_000
FAST = 20_000_000
SLOW = bool(os.environ.get("XD_SLOW"))


def names(n):
    return [f"set/f{i:03}" for i in range(n)]


def files(lab, n, size=SIZE):
    """Their contents, by name."""
    (lab.www / "set").mkdir(exist_ok=True)
    return {name: lab.file(name, size, seed=i)
            for i, name in enumerate(names(n), 1)}


def manifest(lab, depots, contents, but=()):
    """Each file on each depot, with its hash; `but`: {(name, depot number)} of
    those that are elsewhere."""
    return lab.metalink_of([
        (name, [d for i, d in enumerate(depots) if (name, i) not in but], None)
        for name in contents])


def hash_of(kind, data):
    digest = hashlib.new(kind.replace("-", ""), data).hexdigest()
    return f'<hash type="{kind}">{digest}</hash>'


def pieces_of(kind, data, length=6000):
    return (f'<pieces type="{kind}" length="{length}">' + "".join(
        "<hash>" + hashlib.new(kind.replace("-", ""), data[i:i + length])
        .hexdigest() + "</hash>" for i in range(0, len(data), length))
        + "</pieces>")


def described(lab, depots, contents, proofs):
    """Each with a proof of its own: proofs(data, number) is XML."""
    return lab.write("m.meta4", (
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink">' + "".join(
            f'<file name="{name}"><size>{len(data)}</size>{proofs(data, i)}'
            + "".join(f"<url>{d.url(name)}</url>" for d in depots)
            + "</file>" for i, (name, data) in enumerate(contents.items()))
        + "</metalink>"))


def all_are_there(lab, contents):
    for name, data in contents.items():
        assert lab.read(name) == data, name
    assert {p.name for p in lab.path("set").iterdir()} == \
        {name.split("/")[1] for name in contents}
    return True


def test_many_files_are_one_download(lab):
    contents = files(lab, 40)
    run = lab.xdownload(manifest(lab, lab.depots(3), contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert "40 files: complete" in run.err
    *each, one = run.reports
    assert [r["file"] for r in each] == list(contents)
    assert {(r["outcome"], r["size"], r["verified"], r["error"])
            for r in each} == {("complete", SIZE, "sha-256", None)}
    assert (one["file"], one["files"], one["size"]) == (None, 40, 40 * SIZE)
    assert sum(d["bytes"] for d in one["depots"]) == 40 * SIZE


def test_a_file_that_nobody_has_costs_no_other_anything(lab):
    contents = files(lab, 20)
    depots = lab.depots(2)
    made = manifest(lab, depots, contents)
    (lab.www / "set/f007").unlink()
    run = lab.xdownload(made)
    assert run.rc == 1
    contents.pop("set/f007")
    assert all_are_there(lab, contents)
    assert "set/f007: no depot is left" in run.err and "404" in run.err
    assert "1 of 20 files failed" in run.err
    failed = [r for r in run.reports if r["outcome"] == "failed"]
    assert [r["file"] for r in failed] == ["set/f007", None]
    assert "404" in failed[0]["error"]


def test_what_one_depot_lacks_another_gives(lab):
    """One of them has not a tenth of the files: that is no failure of it."""
    contents = files(lab, 40)
    whole, lacks = lab.depot(), lab.depot(
        files={n: d for n, d in contents.items() if not n.endswith("0")})
    run = lab.xdownload(manifest(lab, [lacks, whole], contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)


def test_a_wrong_copy_is_replaced_and_its_depot_named(lab):
    """Its other files are still taken."""
    contents = files(lab, 20)
    wrong = lab.depot(files={**contents, "set/f003": bytes_of(SIZE, 99)})
    run = lab.xdownload("-v", manifest(lab, [wrong, lab.depot()], contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    sent = "set/f003: sent wrong bytes within 0-19999"
    if sent in run.err:
        assert "that object is not used again" in run.err


def test_a_wrong_copy_that_is_the_only_one_fails_alone(lab):
    contents = files(lab, 20)
    depot = lab.depot(files={**contents, "set/f003": bytes_of(SIZE, 99)})
    run = lab.xdownload(manifest(lab, [depot], contents))
    assert run.rc == 4, run.err
    contents.pop("set/f003")
    wrong = lab.path("set/f003.part")  # it stays, in case the hash is wrong
    assert wrong.read_bytes() == bytes_of(SIZE, 99)
    wrong.unlink()
    lab.path("set/f003.part.journal").unlink()
    assert all_are_there(lab, contents)
    assert "set/f003: sent wrong bytes within 0-19999" in run.err


KINDS = ["md5", "sha-1", "sha-256", "sha-512"]


def any_proof(data, i):
    """A hash, or those of pieces, of each kind in turn."""
    kind = KINDS[i % len(KINDS)]
    return (pieces_of if i // len(KINDS) % 2 else hash_of)(kind, data)


def test_each_is_proved_by_the_hash_that_it_has(lab):
    contents = files(lab, 24)
    run = lab.xdownload(described(lab, lab.depots(2), contents, any_proof))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    *each, one = run.reports
    assert one["files"] == 24
    assert [r["verified"] for r in each] == 6 * KINDS


def test_any_hash_finds_a_wrong_copy(lab):
    contents = files(lab, 16)
    wrong = lab.depot(files={n: bytes_of(SIZE, 500 + i)
                             for i, n in enumerate(contents)})
    run = lab.xdownload(described(lab, [wrong, lab.depot()], contents,
                                  any_proof))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)


def test_files_without_a_hash_come_with_the_others(lab):
    contents = files(lab, 24)
    run = lab.xdownload(described(
        lab, lab.depots(1), contents,
        lambda data, i: hash_of("sha-256", data) if i % 3 else ""))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert [r["verified"] for r in run.reports[:-1]] == \
        8 * [None, "sha-256", "sha-256"]
    assert run.reports[-1]["verified"] is None


@pytest.mark.parametrize("proof", ["sha-256", None])
def test_a_page_is_taken_for_a_file_only_if_its_hash_says_so(lab, proof):
    page = b"<!DOCTYPE html><html>" + bytes_of(SIZE)
    contents = files(lab, 2) | {"set/f.iso": page}
    (lab.www / "set/f.iso").write_bytes(page)
    depot = lab.depot(config="location = /set/f.iso "
                      "{ types {} default_type text/html; }")
    run = lab.xdownload(described(
        lab, [depot], contents,
        lambda data, i: hash_of(proof, data) if proof else ""))
    assert run.rc == (0 if proof else 1), run.err
    if not proof:
        contents.pop("set/f.iso")
        assert "--accept-html" in run.err
    assert all_are_there(lab, contents)


def test_copies_without_a_hash_are_compared_one_file_at_a_time(lab):
    contents = files(lab, 8)
    run = lab.xdownload(described(lab, lab.depots(2), contents,
                                  lambda data, i: ""))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert [r["file"] for r in run.reports] == list(contents)


def test_of_the_first_failure_the_reason_is_that_of_its_file(lab):
    """That a depot lacks another one is not."""
    contents = files(lab, 20)
    wrong = lab.depot(files={n: d for n, d in contents.items()
                             if n not in ("set/f005", "set/f015")}
                      | {"set/f010": bytes_of(SIZE, 99)})
    run = lab.xdownload(manifest(lab, [wrong], contents))
    assert run.rc == 1, run.err
    failed = {r["file"]: r["error"] for r in run.reports
              if r["outcome"] == "failed"}
    assert "404" in failed["set/f005"] and "404" in failed["set/f015"]
    assert "sent wrong bytes" in failed["set/f010"]
    assert all(name in failed[name] for name in failed if name)


def test_a_depot_that_lies_always_is_banned(lab):
    contents = files(lab, 40)
    liar = lab.depot(files={n: bytes_of(SIZE, 500 + i)
                            for i, n in enumerate(contents)})
    run = lab.xdownload(manifest(lab, [liar, lab.depot()], contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    few = run.err.count("it is not asked for that file again") <= 3
    assert few or "it is not used again" in run.err


def test_mixed_sizes_from_mirrors_that_differ(lab):
    """One lacks a tenth of the files, one has wrong bytes in another: of those
    it is named, and all others are free of suspicion."""
    chance = random.Random(7)
    n, middle, rate = ((1000, 200_000, 20_000_000) if SLOW
                       else (300, 20_000, 4_000_000))
    (lab.www / "set").mkdir()
    contents = {f"set/f{i}": lab.file(
        f"set/f{i}", max(1, round(chance.lognormvariate(math.log(middle), 1.2))),
        seed=i) for i in range(n)}
    lacks = lab.depot(rate=rate, files={
        name: data for i, (name, data) in enumerate(contents.items()) if i % 10})
    wrong = lab.depot(rate=rate, files={
        name: data if i % 10 != 1 else bytes_of(len(data), n + i)
        for i, (name, data) in enumerate(contents.items())})
    run = lab.xdownload(manifest(
        lab, [lacks, wrong, *lab.depots(2, rate=rate)], contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    named = re.findall(r"http://([^/]*)/\S*: sent wrong bytes", run.err)
    assert set(named) == {wrong.host}, run.err
    assert {r["outcome"] for r in run.reports} == {"complete"}


def test_what_is_there_already_is_left_alone(lab):
    contents = files(lab, 12)
    made = manifest(lab, lab.depots(2), contents)
    (lab.work / "set").mkdir()
    lab.path("set/f002").write_bytes(contents["set/f002"])
    lab.path("set/f005").write_bytes(b"mine")
    run = lab.xdownload(made)
    assert run.rc == 5, run.err
    assert lab.read("set/f005") == b"mine"
    contents["set/f005"] = b"mine"
    assert all_are_there(lab, contents)


def test_a_file_of_that_name_in_another_folder_is_no_obstacle(lab):
    contents = files(lab, 4)
    lab.write("f002", "mine")
    run = lab.xdownload(manifest(lab, lab.depots(1), contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert lab.read("f002") == b"mine"


def test_a_file_that_cannot_be_made_costs_no_other_anything(lab):
    (lab.www / "other").mkdir()
    contents = {**files(lab, 8), "other/f": lab.file("other/f", SIZE, seed=9)}
    made = manifest(lab, lab.depots(2), dict(reversed(contents.items())))
    lab.write("other", "where a folder should be")
    del contents["other/f"]
    run = lab.xdownload(made)
    assert run.rc == 5
    assert "other/f: " in run.err and "Not a directory" in run.err
    assert all_are_there(lab, contents)
    assert lab.read("other") == b"where a folder should be"


def test_what_an_earlier_run_left_does_not_shine_through(lab):
    contents = files(lab, 8)
    (lab.work / "set").mkdir()
    for name in contents:
        lab.path(name + ".part").write_bytes(bytes_of(3 * SIZE, 7))
    run = lab.xdownload(manifest(lab, lab.depots(2), contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)


def right_so_far(lab, contents):
    named = 0
    for name, data in contents.items():
        if lab.path(name).exists():
            assert lab.read(name) == data, name
            named += 1
    return named


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGINT])
def test_what_has_its_name_is_right_and_the_rest_goes_on(lab, sig):
    contents = files(lab, 60)
    made = manifest(lab, lab.depots(2, rate=400_000), contents)
    process = lab.start(made)
    wait_until(lambda: right_so_far(lab, contents) >= 10, "ten are there")
    process.send(sig)
    run = process.wait()
    assert run.rc == (-9 if sig == signal.SIGKILL else 130)
    n = right_so_far(lab, contents)
    assert 10 <= n < 60
    if sig == signal.SIGINT:
        assert not list(lab.path("set").glob("*.part*"))
    run = lab.xdownload(made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert f"{n} files: already complete, verified with sha-256\n" in run.err


def killed_at(lab, command, seconds):
    """Runs the command, and kills it then, unless it has ended."""
    process = lab.start(*command)
    time.sleep(seconds)
    process.kill()
    return process.wait()


@pytest.mark.parametrize("seed", range(12 if SLOW else 1))
def test_killed_at_any_moment_it_goes_on(lab, seed):
    """What has its name is right; it is not fetched again, for nobody has it any
    more."""
    chance = random.Random(seed)
    (lab.www / "set").mkdir()
    sizes = [chance.choice([500, 30_000, 200_000, 1_500_000, 3_000_000])
             for _ in range(30)] + [6_000_000, 5_000_000, 9_000_000]
    chance.shuffle(sizes)
    contents = {name: lab.file(name, size, seed=i) for i, (name, size)
                in enumerate(zip(names(len(sizes)), sizes), 1)}
    made = manifest(lab, lab.depots(2, rate=8_000_000), contents)
    rc, longest = -signal.SIGKILL, 0.3
    while rc == -signal.SIGKILL:
        run = killed_at(lab, [made], chance.uniform(0.05, longest))
        rc, longest = run.rc, longest * 1.3
        right_so_far(lab, contents)
        for name in contents:
            if lab.path(name).exists():
                (lab.www / name).unlink(missing_ok=True)
    assert rc == 0, run.err
    assert all_are_there(lab, contents)


@pytest.mark.parametrize("part,size,is_ours", [
    (3 << 20, 4 << 20, True), (4 << 20, 4 << 20, True),
    (3 << 20, (4 << 20) + 1, False), ((3 << 20) + 1, 3 << 20, False)])
def test_the_last_one_of_a_set_that_was_killed(lab, part, size, is_ours):
    """It comes alone, and what there is of it has no journal."""
    (lab.www / "set").mkdir()
    (lab.work / "set").mkdir()
    contents = {"set/f": lab.file("set/f", size)}
    lab.path("set/f.part").write_bytes(bytes(part))
    run = lab.xdownload(manifest(lab, lab.depots(2), contents))
    assert run.rc == (0 if is_ours else 5), run.err
    assert lab.path("set/f").exists() is is_ours
    if is_ours:
        assert all_are_there(lab, contents)


@pytest.mark.parametrize("n", [1, 2])
def test_two_are_a_set_and_one_is_none(lab, n):
    contents = files(lab, n)
    run = lab.xdownload(manifest(lab, lab.depots(2), contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert [r["file"] for r in run.reports] == [*contents, None][:2 * n - 1]


def test_files_of_several_manifests_come_together(lab):
    contents = files(lab, 12)
    depots = lab.depots(2)
    made = [manifest(lab, depots, {n: contents[n]}) for n in contents]
    run = lab.xdownload(*made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    *each, one = run.reports
    assert [r["file"] for r in each] == list(contents)
    assert one["files"] == 12


def test_a_manifest_that_is_none_costs_those_beside_it_nothing(lab):
    contents = files(lab, 4)
    first, *others = [manifest(lab, lab.depots(1), {n: contents[n]})
                      for n in contents]
    run = lab.xdownload(first, *others[:1], lab.write("no.meta4", "<none/>"),
                        *others[1:])
    assert run.rc == 3, run.err
    assert all_are_there(lab, contents)
    assert [r["outcome"] for r in run.reports] == \
        3 * ["complete"] + ["failed"] + 3 * ["complete"]


def test_the_same_name_in_two_manifests_is_not_written_by_both(lab):
    contents = files(lab, 3)
    made = manifest(lab, lab.depots(2), contents)
    run = lab.xdownload(made, made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert "3 files: already complete, verified with sha-256\n" in run.err


def test_what_is_complete_does_not_part_the_others(lab):
    contents = files(lab, 20)
    made = manifest(lab, lab.depots(2), contents)
    (lab.work / "set").mkdir()
    for name in list(contents)[::3]:
        lab.path(name).write_bytes(contents[name])
    run = lab.xdownload(made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert run.reports[-1]["files"] == 13


@pytest.mark.slow
def test_what_comes_alone_does_not_part_the_others(lab):
    """Very long files, and one that is there and another's."""
    contents = files(lab, 20)
    long = {f"set/l{i}": lab.file(f"set/l{i}", (64 << 20) + 1, seed=i)
            for i in (1, 2)}
    small = list(contents)
    order = [small[0], "set/l1", *small[1:10], "set/l2", *small[10:]]
    (lab.work / "set").mkdir()
    lab.path(small[5]).write_bytes(b"mine")
    run = lab.xdownload(manifest(lab, lab.depots(2), order))
    assert run.rc == 5, run.err
    contents[small[5]] = b"mine"
    assert all_are_there(lab, contents | long)
    sets = [r["files"] for r in run.reports if r["file"] is None]
    assert sets == [19]


def test_files_of_a_list_come_together_to_where_it_says(lab):
    contents = files(lab, 10)
    depot = lab.depot()
    lines = [depot.url(name) + f"\n  out={i}.bin\n  dir=got\n"
             for i, name in enumerate(contents)]
    lab.write("l.txt", "".join(lines) + depot.url("set/none"))
    run = lab.xdownload("-i", lab.path("l.txt"))
    assert run.rc == 1
    for i, data in enumerate(contents.values()):
        assert lab.read(f"got/{i}.bin") == data
    assert run.reports[-1]["files"] == 11
    assert run.reports[-1]["size"] == 10 * SIZE


def listed(lab, urls):
    return "-i", lab.write("l.txt", "\n".join(urls) + "\n")


def came(lab, contents):
    for name, data in contents.items():
        assert lab.read(name.split("/")[1]) == data, name
    return not list(lab.work.glob("*.part*"))


@pytest.mark.parametrize("ranges", [True, False])
def test_a_file_of_unknown_size_costs_one_request(lab, ranges):
    contents = files(lab, 30)
    depot = lab.depot(ranges=ranges)
    run = lab.xdownload(*listed(lab, map(depot.url, contents)))
    assert run.rc == 0, run.err
    assert came(lab, contents)
    each = [r for r in run.reports if "files" not in r]
    one, = [r for r in run.reports if "files" in r]
    assert [(r["outcome"], r["size"]) for r in each] == \
        30 * [("complete", SIZE)]
    # On a busy machine the last file may be received, dropped and fetched alone.
    assert one["files"] in (29, 30) and one["size"] == one["files"] * SIZE
    assert len(depot.requests()) < 36  # the last ones may be asked for twice
    assert one["bytes_resumed"] == 0


def test_short_files_of_unknown_size_come_over_all_connections(lab):
    """Those that have come tell how long the others are."""
    contents = files(lab, 200, 2000)
    depot = lab.depot(rate=FAST, delay=30)
    run = lab.xdownload(*listed(lab, map(depot.url, contents)))
    assert run.rc == 0, run.err
    assert came(lab, contents)
    together = next(r for r in run.reports if r.get("files"))
    assert together["depots"][0]["connections"] == 6


def test_lengths_around_that_of_a_place(lab):
    """Longer files come together next; an empty one and what may be a manifest
    come alone."""
    (lab.www / "set").mkdir()
    place = 1 << 20
    sizes = [place - 1, place, place + 1, 3 * place, 0, 1, 100]
    contents = {f"set/f{i}": lab.file(f"set/f{i}", n, seed=i + 1)
                for i, n in enumerate(sizes)}
    texts = {"set/page": b"<ul><li>no manifest</ul>",
             "set/open": b"<!-- may be a manifest"}
    for name, text in texts.items():
        (lab.www / name).write_bytes(text)
    contents |= texts
    run = lab.xdownload(*listed(lab, map(lab.depot().url, contents)))
    assert run.rc == 0, run.err
    assert came(lab, contents)
    sets = [r for r in run.reports if r["file"] is None]
    assert [r["files"] for r in sets] == [5, 2]
    by_name = {r["file"]: r["size"] for r in run.reports if r["file"]}
    assert len(by_name) == len(contents)
    assert by_name == {n.split("/")[1]: len(d) for n, d in contents.items()}


def test_a_list_that_comes_again_is_compared_at_once(lab):
    """What is the same stays, and is counted; what is not, too, and that is
    said."""
    contents = files(lab, 30)
    depot = lab.depot()
    urls = listed(lab, map(depot.url, contents))
    assert lab.xdownload(*urls).rc == 0
    lab.path("f002").write_bytes(b"mine")
    lab.path("f004").write_bytes(bytes_of(SIZE, 99))
    lab.path("f006").unlink()
    before, n = os.stat(lab.path("f001")), len(depot.requests())
    run = lab.xdownload(*urls)
    assert run.rc == 5, run.err
    assert "27 of 30 files were there already, and are the same" in run.err
    assert "f002 exists already, and has 4 bytes instead of 20000" in run.err
    assert "f004 exists already, and differs from byte 0 on" in run.err
    assert "2 of 30 lines failed" in run.err
    assert came(lab, contents | {"set/f002": b"mine",
                                 "set/f004": bytes_of(SIZE, 99)})
    assert os.stat(lab.path("f001")).st_ino == before.st_ino
    assert len(depot.requests()) - n < 36
    run = lab.xdownload("--force", *urls)
    assert run.rc == 0, run.err
    assert came(lab, contents)


def chunks(data):
    return b"".join(b"%x\r\n%s\r\n" % (len(data[i:i + 7000]),
                                       data[i:i + 7000])
                    for i in range(0, len(data), 7000)) + b"0\r\n\r\n"


def test_a_server_that_does_not_say_lengths(lab):
    contents = files(lab, 12) | {"set/long": bytes_of((1 << 20) + 5)}

    def answer(head):
        return (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                b"Connection: close\r\n\r\n"
                + chunks(contents[head.split()[1].lstrip("/")]))
    depot = lab.odd(answer)
    run = lab.xdownload("-v", *listed(lab, map(depot.url, contents)))
    assert run.rc == 0, run.err
    assert came(lab, contents), run.err


def test_what_is_missing_in_a_list_fails_alone(lab):
    contents = files(lab, 10)
    depot = lab.depot()
    (lab.www / "set/f004").unlink()
    run = lab.xdownload(*listed(lab, map(depot.url, contents)))
    assert run.rc == 1, run.err
    contents.pop("set/f004")
    assert came(lab, contents)
    assert "404" in run.err and "1 of 10 lines failed" in run.err
    assert "files failed" not in run.err


def test_files_that_turn_out_to_be_long_come_together(lab):
    """Each depot takes a second for one: one after the other they would take
    six."""
    contents = files(lab, 6, size=2 << 20)
    depots = lab.depots(6, rate=2 << 20)
    run = lab.xdownload(*listed(lab, [d.url(name) for d, name
                                      in zip(depots, contents)]))
    assert run.rc == 0, run.err
    assert came(lab, contents)
    assert run.seconds < 4
    assert [r["files"] for r in run.reports if r.get("files")] == [6]


def test_what_is_long_and_may_be_a_manifest_comes_alone(lab):
    contents = files(lab, 4, size=2 << 20)
    first, *_ = contents
    contents[first] = b"<!-- of what? " + bytes(2 << 20)
    (lab.www / first).write_bytes(contents[first])
    run = lab.xdownload(*listed(lab, map(lab.depot().url, contents)))
    assert run.rc == 0, run.err
    assert came(lab, contents)
    assert [r["files"] for r in run.reports if r.get("files")] == [3]


def test_very_long_files_of_unknown_size_come_alone(lab):
    """So that a later run goes on with what is there of them."""
    contents = files(lab, 2, size=(16 << 20) + 1)
    run = lab.xdownload(*listed(lab, map(lab.depot().url, contents)))
    assert run.rc == 0, run.err
    assert came(lab, contents)
    assert not [r for r in run.reports if r.get("files")]


def test_of_files_that_leave_the_set_nothing_is_said_with_it(lab):
    """Those of unknown size that are longer than a place: they come next."""
    contents = files(lab, 3, size=(1 << 20) + 5)
    depot = lab.depot()
    urls = listed(lab, map(depot.url, contents))
    (lab.www / "set/f001").unlink()
    contents.pop("set/f001")
    run = lab.xdownload(*urls)
    assert run.rc == 1, run.err
    assert came(lab, contents)
    assert re.findall(r"(\d) files?: ", run.err) == ["2"]
    assert "1 of 3 lines failed" in run.err


LONG = 5 << 20


def mixed(lab, n_short=8, n_long=3):
    """Some of them so long that each has a journal, every third one from the
    first on."""
    contents = files(lab, n_short)
    short, order = iter(list(contents)), []
    for i in range(n_long):
        name = f"set/l{i}"
        contents[name] = lab.file(name, LONG, seed=100 + i)
        order += [name, *itertools.islice(short, 2)]
    return {name: contents[name] for name in [*order, *short]}


def parts(lab, suffix=""):
    return {p.name[0] for p in lab.path("set").glob("*.part" + suffix)}


def wait_for_part(lab, name, least):
    part = lab.path(name + ".part")
    wait_until(lambda: part.exists() and part.stat().st_size > least,
               "a part of it is there")


def test_longer_files_come_in_their_place(lab):
    contents = mixed(lab)
    run = lab.xdownload(manifest(lab, lab.depots(2), contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    *each, one = run.reports
    assert [r["file"] for r in each] == list(contents)
    assert one["files"] == len(contents)


def test_long_files_without_a_hash_come_alone(lab):
    contents = mixed(lab)
    run = lab.xdownload(described(lab, lab.depots(1), contents,
                                  lambda data, i: ""))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert [r["files"] for r in run.reports if r["file"] is None] == [8]


@pytest.mark.parametrize("sig, proof", [
    (signal.SIGKILL, hash_of), (signal.SIGINT, pieces_of),
    pytest.param(signal.SIGKILL, pieces_of, marks=pytest.mark.slow),
    pytest.param(signal.SIGINT, hash_of, marks=pytest.mark.slow)])
def test_long_files_go_on_where_a_run_was_ended(lab, sig, proof):
    contents = mixed(lab)
    made = described(lab, lab.depots(2, rate=2_000_000), contents,
                     lambda data, i: proof("sha-256", data,
                                           *[1 << 20] * (proof is pieces_of)))
    process = lab.start(made)
    wait_for_part(lab, "set/l1", 1 << 20)
    time.sleep(0.5)
    process.send(sig)
    assert process.wait().rc == (-9 if sig == signal.SIGKILL else 130)
    right_so_far(lab, contents)
    assert parts(lab, ".journal") <= {"l"}
    if sig == signal.SIGINT:
        assert parts(lab) == parts(lab, ".journal") == {"l"}
    run = lab.xdownload(made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    one = run.reports[-1]
    assert one["bytes_resumed"] > 0
    missing = sum(r["size"] for r in run.reports[:-1]
                  if r["outcome"] == "complete")
    assert sum(d["bytes"] for d in one["depots"]) < missing


@pytest.mark.slow
def test_a_long_file_goes_on_with_what_was_fetched_of_it_alone(lab):
    contents = mixed(lab)
    depots = lab.depots(2, rate=2_000_000)
    made = manifest(lab, depots, contents)
    process = lab.start(made, "--file", "l1")
    wait_for_part(lab, "set/l1", 1 << 20)
    time.sleep(0.5)
    process.kill()
    process.wait()
    run = lab.xdownload(made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert run.reports[-1]["bytes_resumed"] > 0
    assert run.reports[-1]["files"] == len(contents)


def test_what_was_changed_in_a_part_is_fetched_again(lab):
    contents = mixed(lab, n_long=1)
    made = described(lab, lab.depots(2, rate=2_000_000), contents,
                     lambda data, i: pieces_of("sha-256", data, 1 << 20))
    process = lab.start(made)
    wait_for_part(lab, "set/l0", 2 << 20)
    process.kill()
    process.wait()
    part = lab.path("set/l0.part")
    with part.open("r+b") as f:
        f.write(bytes(100))
    run = lab.xdownload(made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)


def test_nothing_is_taken_over_with_no_continue(lab):
    contents = mixed(lab, n_long=1)
    made = manifest(lab, lab.depots(2, rate=2_000_000), contents)
    process = lab.start(made)
    wait_for_part(lab, "set/l0", 2 << 20)
    process.kill()
    process.wait()
    run = lab.xdownload("--no-continue", made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert run.reports[-1]["bytes_resumed"] == 0


@pytest.mark.parametrize("what", ["unknown", "other", "in use"])
def test_a_part_that_is_not_of_the_file_costs_no_other_anything(lab, what):
    contents = mixed(lab)
    made = manifest(lab, lab.depots(2), contents)
    (lab.work / "set").mkdir()
    part = lab.path("set/l1.part")
    if what != "other":
        part.write_bytes(bytes(3 << 20))
    else:
        other = lab.depot(rate=500_000,
                          files={"set/l1": bytes_of(LONG + 1, 7)})
        process = lab.start(lab.metalink_of([("set/l1", [other], LONG + 1)]),
                            "--no-continue")
        wait_for_part(lab, "set/l1", 1 << 20)
        process.kill()
        process.wait()
    with part.open("r+b") as f:
        if what == "in use":
            fcntl.flock(f, fcntl.LOCK_EX)
        before = part.read_bytes()
        run = lab.xdownload(made)
        assert run.rc == 5, run.err
        assert part.read_bytes() == before
    assert {"unknown": "no journal says of what", "other": "its size differs",
            "in use": "another download writes to it"}[what] in run.err
    assert "set/l1: " not in run.err
    contents.pop("set/l1")
    right = {n: lab.read(n) for n in contents}
    assert right == contents
    assert [r["file"] for r in run.reports if r["outcome"] == "failed"] == \
        ["set/l1", None]


@pytest.mark.parametrize("proof", [hash_of, pieces_of])
def test_wrong_bytes_of_a_long_file_stop_no_other(lab, proof):
    contents = mixed(lab)
    bad = bytearray(contents["set/l1"])
    bad[2 << 20] ^= 1
    wrong = lab.depot(files={**contents, "set/l1": bytes(bad)})

    def proofs(data, i):
        return proof("sha-256", data, *[1 << 20] * (proof is pieces_of))
    run = lab.xdownload(described(lab, [wrong], contents, proofs))
    assert run.rc == 4, run.err
    good = lab.read("set/l0") + lab.read("set/l2")
    assert good == contents["set/l0"] + contents["set/l2"]
    assert not lab.path("set/l1").exists()
    assert "set/l1: sent wrong bytes within" in run.err
    run = lab.xdownload(described(lab, [wrong, lab.depot()], contents, proofs))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)


def test_a_full_disk_keeps_what_long_files_have(lab):
    contents = mixed(lab)
    made = manifest(lab, lab.depots(2), contents)
    lab.before = ["prlimit", f"--fsize={3 << 20}", *lab.before]
    assert lab.xdownload(made).rc == 5
    lab.before = lab.before[2:]
    right_so_far(lab, contents)
    run = lab.xdownload(made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert run.reports[-1]["bytes_resumed"] > 0


@pytest.mark.parametrize("n", [
    pytest.param(1, marks=pytest.mark.slow), 3])
def test_no_more_files_are_begun_at_a_time_than_was_asked_for(lab, n):
    contents = files(lab, 12, 100_000)
    process = lab.start("-j", n, manifest(lab, lab.depots(2, rate=300_000),
                                          contents))
    most = 0
    while not lab.path("set/f011").exists():
        most = max(most, incomplete(lab, 100_000))
        time.sleep(0.005)
    run = process.wait()
    assert run.rc == 0, run.err
    assert 0 < most <= n
    assert all_are_there(lab, contents)


def incomplete(lab, size):
    """How many files have some of their bytes, and not all."""
    n = 0
    for part in lab.path("set").glob("*.part"):
        try:
            n += part.stat().st_size < size
        except FileNotFoundError: # it has its name
            pass
    return n


@pytest.mark.parametrize("algorithm", ["basic", "aggressive", "progress"])
def test_the_papers_policies_fetch_them_too(lab, algorithm):
    contents = files(lab, 20)
    run = lab.xdownload("-a", algorithm, "-t", "2",
                        manifest(lab, lab.depots(3), contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)


def test_few_descriptors_are_enough_for_many_files(lab):
    contents = files(lab, 300, 2000)
    made = manifest(lab, lab.depots(2), contents)
    lab.before = ["prlimit", "--nofile=96:96", *lab.before]
    run = lab.xdownload(made)
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)


def test_the_descriptors_do_not_grow_with_the_files(lab):
    contents = files(lab, 400, 2000)
    process = lab.start(manifest(lab, lab.depots(2, rate=500_000), contents))
    most = 0
    while not lab.path("set/f399").exists():
        most = max(most, len(os.listdir(f"/proc/{process.pid}/fd")))
        time.sleep(0.01)
    assert process.wait().rc == 0
    assert 0 < most <= 256
    assert all_are_there(lab, contents)


def test_over_http2_many_short_files_share_a_connection(lab):
    contents = files(lab, 200, 2000)
    depot = lab.depot(certificate=lab.certificate(), rate=FAST, delay=30)
    run = lab.xdownload("-v", manifest(lab, [depot], contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    assert depot.connections() == 1
    assert "up to 50 requests at a time" in run.err


def test_fewer_streams_are_no_reason_for_more_connections(lab):
    contents = files(lab, 200, 2000)
    depot = lab.depot(certificate=lab.certificate(), rate=FAST, delay=30,
                      config="http2_max_concurrent_streams 2;")
    run = lab.xdownload(manifest(lab, [depot], contents))
    assert run.rc == 0, run.err
    assert all_are_there(lab, contents)
    # Six at a time; one that ends meanwhile is made anew.
    assert depot.connections() < 10
