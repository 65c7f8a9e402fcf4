# SPDX-License-Identifier: MIT
"""What one run remembers of depots for the next."""
import json
import stat
import time

import pytest

SIZE = 2 << 20
HEADER = "xdownload depots 1\n"  # which is read as well
THIRD = "xdownload depots 3\n"


@pytest.fixture
def cached(lab):
    """A lab with a folder for caches; `lab.cache` is where depots stand."""
    lab.environment["XDG_CACHE_HOME"] = str(lab.folder / "caches")
    lab.cache = lab.folder / "caches" / "xdownload" / "depots"
    return lab


def remembered(path):
    """{server: (rate, latency, failures)}"""
    text = path.read_text()
    assert text.startswith(THIRD)
    rows = [line.split(" ") for line in text[len(THIRD):].splitlines()]
    return {row[10]: tuple(map(int, row[1:4])) for row in rows}


def fetch(lab, manifest, *args):
    run = lab.xdownload(manifest, "--force", *args)
    assert run.rc == 0, run.err
    return run


def asked_for_the_first_byte(lab):
    """The depot that was asked before others; a second may be, if the machine is
    busy."""
    asked = [e for e in json.loads(lab.read("trace"))
             if e.get("cat") == "request" and e["args"]["begin"] == 0]
    return min(asked, key=lambda e: e["ts"])["args"]["host"]


def test_the_second_run_asks_the_fast_depot_first(cached):
    data = cached.file("f.bin", SIZE)
    slow, = cached.depots(1, rate=500_000)
    fast, = cached.depots(1, rate=5_000_000)
    manifest = cached.exnode("f.bin", [slow, fast])
    hosts, firsts = [], []
    for _ in range(2):
        run = fetch(cached, manifest, "--trace", "trace")
        assert cached.read("f.bin") == data
        hosts.append([d["host"] for d in run.report["depots"]])
        firsts.append(asked_for_the_first_byte(cached))
    assert hosts == [[slow.host, fast.host], [fast.host, slow.host]]
    assert firsts == [slow.host, fast.host]
    seen = remembered(cached.cache)
    assert seen[f"http://{fast.host}"][0] > 2 * seen[f"http://{slow.host}"][0]
    assert all(latency > 0 and failures == 0
               for _, latency, failures in seen.values())


def test_a_depot_that_failed_comes_last(cached):
    cached.file("f.bin", SIZE)
    dead, good = cached.dead(), cached.depot()
    manifest = cached.exnode("f.bin", [dead, good])
    fetch(cached, manifest)
    assert remembered(cached.cache)[f"http://{dead.host}"][2] > 0
    run = fetch(cached, manifest)
    assert [d["host"] for d in run.report["depots"]] == [good.host, dead.host]


def test_the_priorities_of_the_manifest_go_first(cached):
    cached.file("f.bin", SIZE)
    slow, = cached.depots(1, rate=500_000)
    fast, = cached.depots(1, rate=5_000_000)
    manifest = cached.metalink("f.bin", [slow, fast])
    for _ in range(2):
        run = fetch(cached, manifest)
        assert [d["host"] for d in run.report["depots"]] == [slow.host,
                                                             fast.host]


def test_runs_add_to_what_others_wrote(cached):
    cached.file("f.bin", SIZE)
    depots = cached.depots(2)
    for depot in depots:
        fetch(cached, cached.exnode("f.bin", [depot]))
    assert set(remembered(cached.cache)) == {f"http://{d.host}" for d in depots}


def test_only_the_owner_reads_it_and_no_secret_is_in_it(cached):
    cached.file("f.bin", SIZE)
    depot = cached.depot()
    fetch(cached, f"http://me:secret@{depot.host}/f.bin?token=hush", "-o",
          "f.bin")
    assert set(remembered(cached.cache)) == {f"http://{depot.host}"}
    assert stat.S_IMODE(cached.cache.stat().st_mode) == 0o600
    assert [p.name for p in cached.cache.parent.iterdir()] == ["depots"]


def test_a_rate_that_we_limited_is_not_the_depots(cached):
    cached.file("f.bin", SIZE)
    fetch(cached, cached.exnode("f.bin", [cached.depot()]), "--limit-rate",
          "4m")
    (rate, latency, _), = remembered(cached.cache).values()
    assert rate == 0 and latency > 0


def test_home_has_it_where_no_folder_for_caches_is_named(lab):
    lab.environment["HOME"] = str(lab.folder / "home")
    lab.file("f.bin", SIZE)
    fetch(lab, lab.exnode("f.bin", [lab.depot()]))
    assert remembered(lab.folder / "home" / ".cache" / "xdownload" / "depots")


def everything(lab):
    return {p for p in lab.folder.rglob("*") if p.is_file()
            and lab.www not in p.parents and "nginx" not in str(p)
            and not p.name.startswith("report-")}


@pytest.mark.parametrize("environment, options", [
    ({}, []),
    ({"XDG_CACHE_HOME": "relative"}, []),
    ({"XDG_CACHE_HOME": "", "HOME": ""}, []),
    ({"HOME": "{}"}, ["--no-depot-cache"]),
    ({"XDG_CACHE_HOME": "{}"}, ["--no-depot-cache"]),
    ({"XDG_CACHE_HOME": "{}"}, ["--depot-cache", ""]),
    ({"XDG_CACHE_HOME": "{}"}, ["--set", "depot-cache="])])
def test_what_is_turned_off_writes_nothing(lab, environment, options):
    lab.environment.update({k: v.format(lab.folder / "caches")
                            for k, v in environment.items()})
    lab.file("f.bin", SIZE)
    manifest = lab.exnode("f.bin", [lab.depot()])
    before = everything(lab)
    fetch(lab, manifest, *options)
    assert everything(lab) - before == {lab.path("f.bin")}


@pytest.mark.parametrize("text", [
    "my diary\n", HEADER + "99 99999999999999999999 -1 x http://\x1b/\n" * 99],
    ids=["another's", "nonsense"])
def test_what_it_says_wrongly_hurts_nobody(lab, text):
    data = lab.file("f.bin", SIZE)
    cache = lab.work / "cache"
    cache.write_text(text)
    run = fetch(lab, lab.exnode("f.bin", [lab.depot()]), "--depot-cache",
                cache)
    assert lab.read("f.bin") == data
    assert "cache" not in run.err
    if text.startswith(HEADER):
        assert len(remembered(cache)) == 1
    else:
        assert cache.read_text() == text


@pytest.mark.parametrize("path", [".", "/dev/null", "/dev/null/depots",
                                  "/proc/xdownload/depots"])
def test_where_nothing_can_be_written_the_run_is_as_good(lab, path):
    lab.file("f.bin", SIZE)
    run = fetch(lab, lab.exnode("f.bin", [lab.depot()]), "--depot-cache", path)
    assert "null" not in run.err and "proc" not in run.err


DAY = 24 * 3600
OPENED = "so many increased the rate in an earlier run"


def learned(host, age=0, useful=4, latency=10_000_000):
    """A row of a depot of which an earlier run has learned so many useful
    connections, when its latency was so many microseconds."""
    now = int(time.time())
    return (THIRD + f"{now} 0 {latency} 0 {now - age} {useful} 1500000 0 "
            f"{latency} 0 http://{host}\n")


# The depot answers after 200 ms or more.
@pytest.mark.parametrize("row, opens", [
    ({}, True), ({"age": 6 * DAY}, True), ({"age": 8 * DAY}, False),
    ({"latency": 1000}, False)],
    ids=["new", "six days old", "eight days old", "nearer then"])
def test_useful_connections_that_are_known_are_opened_at_once(lab, row, opens):
    data = lab.file("f.bin", 12 << 20)
    depot = lab.depot(rate=6_000_000, delay=200)
    cache = lab.write("cache", learned(depot.host, **row))
    run = fetch(lab, lab.exnode("f.bin", [depot]), "--depot-cache", cache,
                "-vv")
    assert lab.read("f.bin") == data
    assert (OPENED in run.err) == opens
    if opens:
        assert run.report["depots"][0]["connections"] >= 4


@pytest.mark.slow
def test_the_second_run_opens_what_the_first_has_found(cached):
    """A server that gives each connection 800 kB/s; each has a mebibyte to bring
    when they are opened."""
    data = cached.file("f.bin", 16 << 20)
    depot = cached.depot(config="limit_rate 800k;")
    manifest = cached.exnode("f.bin", [depot])
    for _ in range(4):  # on a loaded machine rates may be uneven
        run = fetch(cached, manifest, "-vv")
        row = cached.cache.read_text().splitlines()[1].split(" ")
        if int(row[5]) > 2:
            break
    run = fetch(cached, manifest, "-vv")
    assert cached.read("f.bin") == data
    assert f"up to {row[5]} connections, 2 before: {OPENED}" in run.err
    assert run.report["depots"][0]["connections"] >= int(row[5])


def test_what_it_promises_falsely_is_overruled(lab):
    """The depot that is said to be fast says nothing any more, and the one
    that is said to crawl brings all."""
    data = lab.file("f.bin", SIZE)
    silent, good = lab.silent(), lab.depot()
    now = int(time.time())
    cache = lab.write("cache", HEADER
                      + f"{now} 1000000000 1000000 0 http://{silent.host}\n"
                      + f"{now} 1 1000 0 http://{good.host}\n")
    run = fetch(lab, lab.exnode("f.bin", [silent, good]), "--depot-cache",
                cache, "--silence", "1h")
    assert lab.read("f.bin") == data
    assert run.report["depots"][1]["bytes"] == SIZE
