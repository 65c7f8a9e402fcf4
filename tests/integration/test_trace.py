# SPDX-License-Identifier: MIT
"""What --trace records, and what `xdownload trace` makes of it."""
import json
import os
import random
import re
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lab import wait_until
from test_serve import Served

SIZE = 4_000_000

SCENARIO = """client rate=50mbit queue=256k
depot near 198.18.1.1 rate=20mbit rtt=10ms queue=128k
depot mid  198.18.1.2 rate=10mbit rtt=40ms queue=128k
depot far  198.18.1.3 rate=2mbit  rtt=90ms queue=64k
"""


def events(lab, name="t.json"):
    return json.loads(lab.read(name))


def named(found, **wanted):
    return [e for e in found
            if all(e.get(k) == v for k, v in wanted.items())]


def requests(found):
    return named(found, ph="X", cat="request")


def counters(found, category):
    return [e["args"] for e in named(found, ph="C", cat=category)]


def check_form(found):
    """What each event of the format has, and ours in addition."""
    assert found[0]["name"] == "xdownload_trace"
    assert found[0]["args"]["format"] == 1
    for e in found:
        assert isinstance(e["ts"], int) and e["ts"] >= 0
        assert e["ph"] in "MXCiBE" and "pid" in e and "tid" in e
    for e in requests(found):
        assert e["dur"] >= 0
        a = e["args"]
        assert a["duplicate"] <= a["received"]
        assert a["first_byte"] is None or a["first_byte"] <= e["dur"]


# ---- what is recorded ----

def test_the_requests_are_those_of_the_report(lab):
    data = lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(3, rate=4_000_000)),
                        "-a", "basic", "-b", "256k", "--trace", "t.json")
    assert run.rc == 0, run.err
    assert lab.read("f.bin") == data
    found = events(lab)
    check_form(found)
    for i, depot in enumerate(run.report["depots"]):
        own = [e["args"] for e in requests(found) if e["args"]["depot"] == i]
        assert sum(a["received"] for a in own
                   if a["reason"] != "sample") >= depot["bytes"]
        assert all(a["host"] == depot["host"] for a in own)
    assert sum(e["args"]["received"] for e in requests(found)
               ) == run.report["bytes_received"]
    assert {"next", "sample"} <= {e["args"]["reason"]
                                  for e in requests(found)}
    last = counters(found, "bytes")[-1]
    assert last["in_order"] == last["stored"] == SIZE
    end, = named(found, name="end")
    assert end["args"] == {"outcome": "complete", "error": None,
                           "size": SIZE, "lost": 0}


def test_a_lane_runs_one_request_at_a_time(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(2, rate=3_000_000)),
                        "-t", "3", "-a", "basic", "-b", "128k", "--trace",
                        "t.json")
    assert run.rc == 0, run.err
    lanes = {}
    for e in requests(events(lab)):
        lanes.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
    assert len(lanes) >= 6
    for spans in lanes.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))


def test_a_new_connection_takes_its_time_and_an_open_one_takes_none(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload(lab.exnode("f.bin", [lab.depot(rate=4_000_000)]),
                        "-a", "basic", "-b", "512k", "-t", "1", "--trace",
                        "t.json")
    assert run.rc == 0, run.err
    own = [e["args"] for e in requests(events(lab))
           if e["args"]["reason"] == "next"]
    assert any(a["connect"] > 0 for a in own)
    assert any(a["connect"] == 0 == a["name_lookup"] for a in own)


def test_failures_have_their_sentence_and_a_verbose_run_says_the_same(lab):
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=4_000_000), lab.dead()]
    run = lab.xdownload(lab.exnode("f.bin", depots), "-v", "--trace", "t.json")
    assert run.rc == 0, run.err
    failed = [e for e in requests(events(lab)) if "error" in e["args"]]
    assert failed and all(e["name"] == "net" for e in failed)
    assert all(depots[1].host in e["args"]["error"] for e in failed)
    assert len(requests(events(lab))) == len(
        re.findall(r"(?m)^\S+ +\d+ +\d+ +[\d.]+  \w+$", run.err))


def test_decisions_are_in_it_though_nobody_asked_for_them(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("-q", lab.exnode("f.bin", lab.depots(2)), "--trace",
                        "t.json")
    assert run.rc == 0 and run.err == ""
    said = named(events(lab), cat="log")
    assert any(e["name"].endswith(": opened") for e in said)
    assert {e["args"]["level"] for e in said} <= {
        "error", "warning", "info", "debug", "status"}


def test_nothing_secret_is_in_it(lab):
    lab.file("f.bin", SIZE)
    depot = lab.depot()
    url = depot.url("f.bin").replace("//", "//someone:hunter2@")
    run = lab.xdownload(url + "?signature=geheim", "-u", "other:letmein",
                        "-o", "g.bin", "--trace", "t.json")
    assert run.rc == 0, run.err
    text = lab.read("t.json")
    assert requests(json.loads(text))
    for secret in (b"hunter2", b"geheim", b"letmein"):
        assert secret not in text


def test_of_a_run_that_is_killed_the_trace_opens(lab):
    lab.file("f.bin", SIZE)
    process = lab.start(
        lab.exnode("f.bin", lab.depots(2, rate=400_000)), "-b", "32k", "-a",
        "basic", "--trace", "t.json", report=False)
    wait_until(lambda: lab.path("t.json").exists() and
               lab.read("t.json").count(b'"cat":"request"') > 5, "requests")
    process.kill()
    text = lab.read("t.json").decode()
    whole = text[:text.rindex("\n{")].rstrip().rstrip(",")
    check_form(json.loads(whole + "]"))


def test_an_interruption_is_an_end(lab):
    lab.file("f.bin", SIZE)
    process = lab.start(
        lab.exnode("f.bin", lab.depots(2, rate=400_000)), "--trace", "t.json",
        report=False)
    wait_until(lambda: lab.path("t.json").exists() and
               b'"cat":"bytes"' in lab.read("t.json"), "bytes")
    process.send(signal.SIGINT)
    assert process.wait().rc == 130
    end, = named(events(lab), name="end")
    assert end["args"]["outcome"] == "interrupted"


@pytest.mark.parametrize("path, status", [
    ("no/such/t.json", 5), ("t.link", 5)])
def test_a_trace_that_cannot_be_written_is_no_download(lab, path, status):
    lab.file("f.bin", SIZE)
    lab.path("t.link").symlink_to(lab.path("elsewhere"))
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(1)), "--trace", path,
                        report=False)
    assert run.rc == status
    assert "the trace cannot be written" in run.err
    assert not lab.path("f.bin").exists()


def test_each_file_of_several_is_a_run(lab):
    for name in ("a.bin", "b.bin"):
        lab.file(name, 100_000)
    depots = lab.depots(2)
    run = lab.xdownload(lab.exnode("a.bin", depots),
                        lab.exnode("b.bin", depots), "--trace", "t.json")
    assert run.rc == 0, run.err
    found = events(lab)
    assert [(e["pid"], e["args"]["name"]) for e in
            named(found, name="process_name")] == [(1, "a.bin"), (2, "b.bin")]
    first, second = named(found, name="begin")
    assert first["ts"] <= second["ts"]


def test_a_player_tells_where_it_is(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("play", "--simulate", "--rate", "4MB/s", "--prebuffer",
                        "200ms", "--trace", "t.json",
                        lab.exnode("f.bin", [lab.depot(rate=2_000_000)]),
                        report=False)
    assert run.rc == 0, run.err
    told = counters(events(lab), "player")
    positions = [c["position"] for c in told]
    assert positions == sorted(positions) and positions[-1] == SIZE
    assert {c["stalled"] for c in told} == {0, 1}


def test_the_readers_of_a_served_file_are_lanes(lab):
    lab.file("f.bin", SIZE)
    served = Served(lab, "--trace", "t.json",
                    lab.exnode("f.bin", lab.depots(2)))
    answer, body = served.ask(Range="bytes=1000-500999")
    assert answer.status == 206 and len(body) == 500_000
    served.ask()
    served.process.send(signal.SIGINT)
    served.process.wait()
    found = events(lab)
    begun = named(found, name="read", ph="B")
    ended = named(found, name="read", ph="E")
    assert [e["args"]["at"] for e in begun] == [1000, 0]
    assert sorted(e["args"]["at"] for e in ended) == [501_000, SIZE]
    assert {e["tid"] for e in begun} == {e["tid"] for e in ended}
    assert requests(found)


def test_what_a_depot_delivers_counts_before_it_is_written(lab):
    """That is twice a second; what is recorded, ten times."""
    lab.file("f.bin", 1_000_000)
    run = lab.xdownload(lab.exnode("f.bin", lab.depots(1, rate=400_000)),
                        "--trace", "t.json")
    assert run.rc == 0, run.err
    found = [c["bytes"] for c in counters(events(lab), "depot")]
    assert len(found) >= 12 and found == sorted(found)
    assert found[-1] == sum(e["args"]["received"]
                            for e in requests(events(lab)))


# ---- bench, and virtual time ----

def virtual(lab, algorithm, trace="t.json", *options):
    scenario = lab.write("net.scn", SCENARIO)
    run = lab.xdownload("bench", "--virtual", scenario, "--size", "8m",
                        "--repeat", "1", "-t", "1", "-b", "1m", "-a",
                        algorithm, "--trace", trace, *options, "-o",
                        trace + ".csv", report=False)
    assert run.rc == 0, run.err
    return trace


@pytest.mark.parametrize("algorithm",
                         ["adaptive", "basic", "aggressive", "progress"])
def test_a_run_in_virtual_time_is_the_same_each_time(lab, algorithm):
    virtual(lab, algorithm, "one.json")
    virtual(lab, algorithm, "two.json")
    assert lab.read("one.json") == lab.read("two.json")
    found = events(lab, "one.json")
    check_form(found)
    begin, = named(found, name="begin")
    assert begin["args"] == {"algorithm": algorithm, "virtual": True}
    received = sum(e["args"]["received"] - e["args"]["duplicate"]
                   for e in requests(found))
    assert received >= 8 << 20
    assert counters(found, "bytes")[-1]["in_order"] == 8 << 20


def test_a_connection_in_virtual_time_takes_its_round_trip(lab):
    virtual(lab, "basic")
    waits = {}
    for e in requests(events(lab)):
        waits.setdefault(e["args"]["host"], []).append(e["args"]["connect"])
    for first, *others in waits.values():
        assert first > 0 and not any(others)


def test_a_player_in_virtual_time_tells_where_it_is(lab):
    """Never beyond what is there in order, and at its rate when nothing stops
    it."""
    rate = 400_000
    virtual(lab, "basic", "t.json", "--stalls", "--prebuffer", "2s", "--rate",
            f"{rate}B/s")
    found = [e for e in events(lab) if e["name"] in ("player", "bytes")]
    in_order, moved = 0, []
    for e in found:
        if e["name"] == "bytes":
            in_order = e["args"]["in_order"]
            continue
        assert e["args"]["position"] <= in_order
        if not e["args"]["stalled"] and e["ts"] > 2_000_000:
            moved.append((e["ts"], e["args"]["position"]))
    assert moved
    assert all(p <= rate * (ts / 1e6 - 2) + 1 for ts, p in moved)


def test_reasons_are_those_of_the_algorithm(lab):
    reasons = {}
    for algorithm in ("adaptive", "basic", "aggressive"):
        virtual(lab, algorithm, f"{algorithm}.json")
        reasons[algorithm] = {e["args"]["reason"] for e in
                              requests(events(lab, f"{algorithm}.json"))}
    assert reasons["basic"] == {"next"}
    assert "hedge" in reasons["aggressive"]
    assert "split" in reasons["adaptive"]


def test_a_sweep_is_the_same_with_a_trace_and_without(lab):
    virtual(lab, "basic,adaptive", "t.json")
    lab.xdownload("bench", "--virtual", lab.path("net.scn"), "--size", "8m",
                  "--repeat", "1", "-t", "1", "-b", "1m", "-a",
                  "basic,adaptive", "-o", "plain.csv", report=False)

    def rows(name):
        return sorted(re.sub(r"\d{4}-\d\d-\d\dT[^,]*", "", line)
                      for line in lab.read(name).decode().splitlines())
    assert rows("t.json.csv") == rows("plain.csv")
    assert len(named(events(lab), name="begin")) == 2


def test_a_live_sweep_has_a_run_for_each_row(lab):
    lab.file("f.bin", SIZE)
    run = lab.xdownload("bench", "--repeat", "1", "-a", "basic,adaptive", "-t",
                        "1", "-b", "512k", "--cool-down", "1ms", "--trace",
                        "t.json", "-o", "r.csv",
                        lab.exnode("f.bin", lab.depots(2)), report=False)
    assert run.rc == 0, run.err
    found = events(lab)
    check_form(found)
    assert {e["args"]["algorithm"] for e in named(found, name="begin")} == {
        "basic", "adaptive"}
    assert all(e["args"]["outcome"] == "complete"
               for e in named(found, name="end"))


# ---- what is made of a trace ----

def trace(lab, *args, rc=0):
    run = lab.xdownload("trace", *args, report=False)
    assert run.rc == rc, run.err
    return run


def drawn(lab, name="t.json", *options):
    """The root of the picture, which is XML, and has nothing that acts."""
    out = trace(lab, *options, name).out
    assert b"<script" not in out and b"href" not in out
    root = ElementTree.fromstring(out)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("width") == "830"
    return root


def texts(root):
    """What is written; a depot's whole name is a title."""
    return [e.text or e[0].text
            for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_picture_names_the_run_its_depots_and_its_patterns(lab):
    root = drawn(lab, virtual(lab, "adaptive"))
    said = texts(root)
    assert "adaptive b=1m t=1 E3" in said
    assert {"near", "mid", "far"} <= set(said)
    assert {"receives", "duplicate bytes", "fails"} <= set(said)


def test_the_picture_is_the_same_each_time_and_goes_where_it_is_told(lab):
    virtual(lab, "progress")
    out = trace(lab, "t.json").out
    run = trace(lab, "-o", "t.svg", "t.json")
    assert run.out == b"" and lab.read("t.svg") == out
    trace(lab, "-o", "no/such.svg", "t.json", rc=5)


def form(svg):
    """What is in a picture, but for numbers and how many requests there are."""
    root = ElementTree.fromstring(svg)
    return {(e.tag, e.get("class"), re.sub(r"[\d.]+", "N", e.text or ""))
            for e in root.iter()}


@pytest.mark.parametrize("algorithm", ["basic", "adaptive"])
def test_the_pictures_of_the_benchmarks_are_those_of_their_commands(lab, algorithm):
    """As they are drawn today; in numbers a run may be another one since.
    XD_KEEP_PICTURES=1 puts today's in their place."""
    source = Path(os.environ["XD_SOURCE"])
    bench = source / "tests" / "bench"
    text = (bench / "README.md").read_text()
    command, = re.findall(r"^xdownload (bench --virtual .* --trace t\.json)$",
                          text, re.M)
    words = [str(source / w) if "/" in w else w for w in command.replace(
        "-a basic", f"-a {algorithm}").split()]
    run = lab.xdownload(*words, "-o", "r.csv", report=False)
    assert run.rc == 0, run.err
    now = trace(lab, "t.json").out
    kept = bench / f"trace-{algorithm}.svg"
    assert f"({kept.name})" in text
    if os.environ.get("XD_KEEP_PICTURES"):
        kept.write_bytes(now)
    assert form(now) == form(kept.read_bytes())


@pytest.mark.parametrize("depots", [1, 40])
def test_lanes_stand_below_each_other(lab, depots):
    lab.write("many.scn", "client rate=900mbit\n" + "".join(
        f"depot d{i} 198.18.1.{i} rate={i}mbit rtt=20ms\n"
        for i in range(1, depots + 1)))
    lab.xdownload("bench", "--virtual", "./many.scn", "--size", "4m",
                  "--repeat", "1", "-a", "basic", "-t", "1", "-b", "64k",
                  "--max-depots", "40", "--trace", "t.json", report=False)
    root = drawn(lab)
    names = [e for e in root.iter("{http://www.w3.org/2000/svg}text")
             if re.fullmatch(r"d\d+", e.text or "") or
             (len(e) and re.fullmatch(r"d\d+", e[0].text or ""))]
    places = [float(e.get("y")) for e in names]
    assert len(places) == depots
    assert all(b - a >= 12 for a, b in zip(places, places[1:]))
    assert places[-1] < float(root.get("height")) - 60


def test_the_summary_says_where_the_time_went(lab):
    basic = trace(lab, "--summary", virtual(lab, "basic")).out.decode()
    adaptive = trace(lab, "--summary",
                     virtual(lab, "adaptive", "a.json")).out.decode()
    assert basic.startswith("basic b=1m t=1 E3, basic: 8.0 MiB in ")
    assert "The tail: for the last " in basic
    assert "near ended " in basic and "nothing left to request" in basic

    def times(text):
        return float(re.search(r"this took ([\d.]+) times as long",
                               text)[1]) if "this took" in text else 1
    assert times(basic) > 1.5 > 1.2 > times(adaptive)
    for name in ("near", "mid", "far"):
        assert re.search(rf"(?m)^  {name} +\d+\.\d % +[\d.]+ [KM]iB/s +busy",
                         adaptive)


def test_the_summary_of_a_live_run_tells_of_failures(lab):
    lab.file("f.bin", SIZE)
    depots = [lab.depot(rate=4_000_000), lab.dead()]
    run = lab.xdownload(lab.exnode("f.bin", depots), "--trace", "t.json",
                        report=False)
    assert run.rc == 0, run.err
    text = trace(lab, "--summary", "t.json").out.decode()
    assert text.startswith("f.bin, adaptive: 3.8 MiB in ")
    assert re.search(r"for \d+ connections? for 0\.\d+ s", text)
    assert re.search(rf"{re.escape(depots[1].host)} delivered nothing in \d+ "
                     r"requests?: .*[Cc]onnect", text)


@pytest.mark.parametrize("algorithm, change", [
    *((a, c) for a in ("adaptive", "basic", "aggressive", "progress")
      for c in ("", "at 800ms near rate=4mbit\n")),
    ("adaptive", "at 1s far down\n"),
])
def test_a_scenario_of_a_trace_takes_as_long(lab, algorithm, change):
    def seconds(scenario, out):
        run = lab.xdownload("bench", "--virtual", scenario, "--size", "16m",
                            "--repeat", "1", "-t", "1", "-b", "512k", "-a",
                            algorithm, "--trace", "t.json", "-o", out,
                            report=False)
        assert run.rc == 0, run.err
        end, = named(events(lab), name="end")
        return end["ts"] / 1e6
    first = seconds(lab.write("a.scn", SCENARIO + change), "a.csv")
    trace(lab, "--scenario", "b.scn", "t.json")
    assert seconds("./b.scn", "b.csv") == pytest.approx(first, rel=0.1)


def rates_of_client(lab, change):
    """Of 16 MiB, as a scenario of the trace has it: [(seconds, Mbit/s)]."""
    scenario = lab.write("a.scn", SCENARIO.replace("50mbit", "25mbit") + change)
    run = lab.xdownload("bench", "--virtual", scenario, "--size", "16m",
                        "--repeat", "1", "-t", "1", "-b", "256k", "-a",
                        "adaptive", "--trace", "t.json", "-o", "a.csv",
                        report=False)
    assert run.rc == 0, run.err
    text = trace(lab, "--scenario", "-", "t.json").out.decode()
    return [(float(at or 0) / 1e3, float(rate)) for at, rate in re.findall(
        r"(?m)^(?:at (\d+)ms )?client rate=([\d.]+)mbit", text)]


def test_a_change_of_all_depots_is_the_client_s(lab):
    # A smaller fall empties the queues of some depots only, and looks like theirs.
    rates = rates_of_client(lab, "at 2s client rate=4mbit\n")
    assert [s for s, _ in rates] == [0, pytest.approx(2, abs=0.7)]
    assert [r for _, r in rates] == pytest.approx([25, 4], rel=0.2)


def test_a_change_of_one_depot_is_its_own(lab):
    (_, rate), = rates_of_client(lab, "at 3s near rate=500kbit\n")
    assert rate == pytest.approx(25, rel=0.15)


def test_the_line_of_a_far_depot_holds_what_slow_start_sends(lab):
    scenario = lab.write("far.scn", "client rate=200mbit queue=4m\n"
                         "depot far 198.18.1.1 rate=80mbit rtt=200ms queue=4m")
    lab.xdownload("bench", "--virtual", scenario, "--size", "48m", "--repeat",
                  "1", "-t", "1", "-b", "4m", "-a", "adaptive", "--trace",
                  "t.json", "-o", "a.csv", report=False)
    text = trace(lab, "--scenario", "-", "t.json").out.decode()
    rate, rtt, queue = map(float, re.search(
        r"depot d1 \S+ rate=([\d.]+)mbit rtt=([\d.]+)ms queue=(\d+)k",
        text).groups())
    assert queue * 1024 >= 1.9 * rate * 1e6 / 8 * rtt / 1e3


def test_a_run_is_chosen(lab):
    virtual(lab, "basic,adaptive")
    first, second = trace(lab, "t.json"), trace(lab, "--run", "2", "t.json")
    assert "has 2 runs, and this is run 1: --run N chooses" in first.err
    assert second.err == "" and first.out != second.out
    assert "has 2 runs, and there is no run 3" in trace(
        lab, "--run", "3", "t.json", rc=1).err


def test_names_of_files_and_depots_do_no_harm(lab):
    virtual(lab, "basic")
    hostile = '<script>alert(1)</script>&\\"\\u202e\\u001b]0;x'
    text = lab.read("t.json").decode().replace("near", hostile).replace(
        "basic b=", hostile)
    lab.write("t.json", text)
    root = drawn(lab)
    assert any("<script>" in t for t in texts(root) if t)
    for options in (["--summary"], ["--scenario", "-"]):
        out = trace(lab, *options, "t.json").out
        assert b"\x1b" not in out and "\u202e".encode() not in out


# ---- traces that are none ----

GOOD = ('[\n{"name":"xdownload_trace","cat":"","ph":"M","ts":0,"pid":0,'
        '"tid":0,"args":{"format":1,"xdownload":"0.1.0"}}')


@pytest.mark.parametrize("text, rc, message", [
    ("", 3, "is no trace of xdownload"),
    ("<html>", 3, "is no trace of xdownload"),
    ('{"traceEvents":[]}', 3, "is no trace of xdownload"),
    ('[{"name":"other"}]', 3, "is no trace of xdownload"),
    ("\0" * 1000, 3, "is no trace of xdownload"),
    ("[" * 100_000, 3, "is no trace of xdownload"),
    (GOOD.replace('format":1', 'format":2') + "]", 3,
     "is a trace of format 2, and this xdownload reads format 1"),
    (GOOD + "]", 1, "no request had ended"),
    (GOOD, 1, "no request had ended"),
    (GOOD + ',\n{"name":"\\q"}]', 3, "line 3 is no event of a trace"),
    (GOOD + ",\n7]", 3, "line 3 is no event of a trace"),
    (GOOD + ',\n{"a":' + "[" * 100_000 + "]" * 100_000 + "}]", 3,
     "line 3 is no event of a trace"),
])
def test_what_is_no_trace_is_refused_in_a_sentence(lab, text, rc, message):
    lab.write("bad.json", text)
    for option in ([], ["--summary"], ["--scenario", "-"]):
        run = trace(lab, *option, "bad.json", rc=rc)
        assert f"bad.json: {message}" in run.err
        assert run.out == b"" and run.err.count("\n") == 1


def test_a_trace_that_is_torn_is_shown_as_far_as_it_goes(lab):
    whole = lab.read(virtual(lab, "basic")).decode()
    for cut in range(len(whole) // 2, len(whole) // 2 + 300, 37):
        lab.write("torn.json", whole[:cut])
        run = trace(lab, "--summary", "torn.json")
        assert "torn.json: ends in the middle" in run.err
        assert run.out.startswith(b"basic b=1m t=1 E3, basic: ")
        drawn(lab, "torn.json", "-q")


def test_a_damaged_trace_is_shown_or_refused_in_a_sentence(lab):
    whole = lab.read(virtual(lab, "aggressive")).decode()
    numbers = [m.span() for m in re.finditer(r"\d+", whole)]
    chance = random.Random(1)
    for i in range(20):
        text = whole
        for begin, end in sorted(chance.sample(numbers, 9), reverse=True):
            text = text[:begin] + chance.choice([
                "0", "-1", "1e300", "-1e999", "1e-300", "NaN", "null", "true",
                '"x"', "{}", "[[]]", "18446744073709551616", "2000000",
                "9" * 400]) + text[end:]
        if i % 3 == 0:
            text = text.replace(chance.choice(["[", "]", "{", ":", '"']), "",
                                1)
        lab.write("damaged.json", text)
        for options in ([], ["--summary"], ["--scenario", "-"]):
            run = lab.xdownload("trace", *options, "damaged.json",
                                report=False)
            assert run.rc in (0, 1, 3), (i, run.err)
            assert "Traceback" not in run.err
            assert "nan" not in run.out.decode().lower(), i
        if run.rc == 0 and run.out:
            drawn(lab, "damaged.json")


@pytest.mark.plain
def test_a_long_trace_takes_no_more_memory(lab):
    whole = lab.read(virtual(lab, "basic")).decode().splitlines()
    one = [line for line in whole if '"ph":"X"' in line]
    with open(lab.path("long.json"), "w") as f:
        f.write("\n".join(whole[:-2]) + "\n")
        for _ in range(14_000):
            f.write("\n".join(one) + "\n")
        f.write("{}]\n")
    assert lab.path("long.json").stat().st_size > 26_000_000
    short, long = trace(lab, "t.json"), trace(lab, "long.json")
    assert long.rss < 20 << 20
    assert len(long.out) < 2 * len(short.out)


@pytest.mark.parametrize("args, message", [
    ([], "trace takes one file"),
    (["a", "b"], "trace takes one file"),
    (["--summary", "--scenario", "x", "a"],
     "use either --summary or --scenario"),
    (["--scenario", "x", "-o", "y", "a"], "both name the file that is written"),
    (["--run", "0", "a"], "--run takes a number from 1 on"),
    (["--trace", "x", "a"], "--trace works only with"),
])
def test_what_makes_no_sense_is_a_usage_error(lab, args, message):
    assert message in trace(lab, *args, rc=2).err


def test_without_python_a_scenario_is_written_and_python_is_named(lab):
    virtual(lab, "basic")
    lab.environment["PATH"] = str(lab.folder)
    trace(lab, "--scenario", "b.scn", "t.json")
    for option in ([], ["--summary"]):
        assert "python3 is needed" in trace(lab, *option, "t.json", rc=5).err


def test_a_trace_that_is_not_there_or_cannot_be_read_twice(lab):
    assert "nowhere.json: No such file" in trace(lab, "nowhere.json", rc=5).err
    virtual(lab, "basic")
    for options in ([], ["--scenario", "b.scn"]):
        run = lab.xdownload("trace", *options, "/dev/stdin", report=False,
                            stdin=subprocess.PIPE)
        assert run.rc == 3 and "needs to be a file" in run.err
