"""What --trace records, and what `xdownload trace` makes of it."""
import json
import re
import signal

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
