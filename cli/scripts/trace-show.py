# SPDX-License-Identifier: MIT
"""Shows a run of a trace for `xdownload trace`: as a picture, or with --summary in words.

    python3 -I trace-show.py [-q] [--summary] [--run N] TRACE

A trace may be of any length and from anybody.  It is read an event at a time, in an
amount of memory that does not depend on its length: time is cut into slots, and what
happened in a slot is added up.  It is read two or three times: to find the run, to learn
how long the run lasts and which its depots are, and for what happened in each slot.

    name, time, rate
    +------------------+
    |     frontier     |   bytes up to the first gap, in all, and the player
    +------------------+
    depot a  ===  ==        a lane for each connection, time to the right;
    depot b  = =====        outcomes differ in pattern, not only in colour
    ...
    what each pattern means
"""
import argparse
import html
import json
import math
import re
import sys
from array import array
from itertools import accumulate

FORMAT = 1
LANES_PER_DEPOT = 64  # lane l of depot d is thread 1 + 64 d + l

SLOTS = 1336  # two for each pixel of the picture
DEPOTS_MAX = LANES_MAX = 2000
DEPOT_NUMBER_MAX = 1000000

CHUNK, EVENT_MAX, TEXT_MAX = 1 << 16, 1 << 20, 255  # characters

# Phase and category of the events that are read; M has a name in place of the latter.
KINDS = {"M process_name", "M thread_name", "i run", "i log", "X request", "C bytes",
         "C depot", "C player"}

# What a lane does in a slot; a later one covers an earlier one.
WAITING, RECEIVING, CANCELED, DUPLICATE, FAILED = range(1, 6)
COVERS = [bytes(max(old, new) for old in range(256)) for new in range(6)]


def say(text):
    print("xdownload:", safe(text), file=sys.stderr)


def fail(text, status=3):
    say(text)
    sys.exit(status)


def safe(text):
    """Without what would command a terminal or deceive a reader."""
    return "".join(c if c.isprintable() else "?" for c in text)


def text(values, name):
    value = values.get(name)
    return value[:TEXT_MAX] if isinstance(value, str) else ""


def number(values, name, most=10 ** 18):
    """From 0 to `most`: hostile traces must not make arithmetic overflow."""
    value = values.get(name)
    if not isinstance(value, (int, float)) or not value > 0:
        return 0
    return min(value, most)


def seconds(values, name):
    return number(values, name, 10 ** 15) / 1e6


class Event:
    """One event, whose `kind` is its category, or the name of one that has none."""

    def __init__(self, raw):
        args = raw.get("args")
        self.args = args = args if isinstance(args, dict) else {}
        self.name = text(raw, "name")
        self.kind = text(raw, "ph") + " " + (text(raw, "cat") or self.name)
        self.run, self.thread = number(raw, "pid"), number(raw, "tid")
        self.at, self.lasts = seconds(raw, "ts"), seconds(raw, "dur")
        self.depot = number(args if "depot" in args else raw,
                            "depot" if "depot" in args else "id")
        self.received, self.duplicate = number(args, "received"), number(args, "duplicate")
        self.first_byte = (None if args.get("first_byte") is None
                           else seconds(args, "first_byte"))

    @property
    def end(self):
        return self.at + self.lasts

    @property
    def has_failed(self):
        return self.name not in ("ok", "canceled", "redundant")

    @property
    def state(self):
        if self.has_failed:
            return FAILED
        if self.duplicate > self.received // 2:
            return DUPLICATE
        return CANCELED if self.name == "canceled" else RECEIVING


class Trace:
    """A file of events; after one reading it is known whether it is torn."""

    def __init__(self, path):
        self.path, self.is_torn = path, False

    def values(self):
        """(line, value) for each value of the array.  Sets `is_torn` if its end is
        missing, which is so after a run that was killed."""
        decode = json.JSONDecoder(parse_constant=float.fromhex).raw_decode
        between = re.compile(r"[\s,]*")
        with open(self.path, encoding="utf-8", errors="replace") as file:
            if not file.seekable():
                fail(f"{self.path}: a trace is read more than once, and needs to be a "
                     "file")
            buffer, at, line = file.read(CHUNK), 0, 1
            start = buffer.find("[") if buffer.lstrip().startswith("[") else len(buffer)
            at = start + 1
            line += buffer.count("\n", 0, at)
            while True:
                begin = between.match(buffer, at).end()
                line += buffer.count("\n", at, begin)
                if buffer.startswith("]", begin):
                    return
                try:
                    value, at = decode(buffer, begin)
                except (ValueError, RecursionError):
                    buffer, at = buffer[begin:], 0
                    more = file.read(CHUNK) if len(buffer) < EVENT_MAX else None
                    if more:
                        buffer += more
                        continue
                    if more is None or buffer.rstrip().endswith("]"):
                        yield line, None
                    self.is_torn = True
                    return
                yield line, value
                line += buffer.count("\n", begin, at)

    def events(self):
        """Each event of ours; events of other programs are passed over."""
        is_first = True
        for line, value in self.values():
            if is_first:
                self.check_format(value)
            elif not isinstance(value, dict):
                fail(f"{self.path}: line {line} is no event of a trace")
            is_first = False
            event = Event(value)
            if (event.kind in KINDS and event.run > 0 and
                    event.depot <= DEPOT_NUMBER_MAX):
                yield event
        if is_first:
            self.check_format(None)

    def check_format(self, value):
        """The first event says of which format the trace is."""
        first = Event(value if isinstance(value, dict) else {})
        if first.name != "xdownload_trace":
            fail(f"{self.path}: is no trace of xdownload: a trace is made with "
                 "--trace FILE")
        if first.args.get("format") != FORMAT:
            fail(f"{self.path}: is a trace of format {first.args.get('format')}, and this "
                 f"xdownload reads format {FORMAT}: use the version that has written it")


# ---- a run, in slots ----

class Depot:
    def __init__(self, event):
        self.number, self.host = event.depot, text(event.args, "host") or "?"
        self.requests = self.failures = self.canceled = self.connections = 0
        self.received = self.duplicate = self.first_bytes = 0
        self.name_lookup = self.connect = self.first_byte = 0.0
        self.begin = self.end = None  # of its first byte, and of its last
        self.has_given_up, self.error = False, ""  # its last request failed
        self.has_counters, self.counted, self.counted_at = False, 0, None
        # Bytes that came in each slot; and, until all are read, how many more came in
        # each slot than in the one before it.
        self.bytes, self.steps = (array("d", bytes(8 * SLOTS)) for _ in range(2))
        self.receives = bytearray(SLOTS)

    def count(self, e):
        self.requests += 1
        self.received += e.received
        self.duplicate += e.duplicate
        self.canceled += e.name == "canceled"
        self.connections += number(e.args, "connect") > 0
        self.connect += seconds(e.args, "connect")
        self.name_lookup += seconds(e.args, "name_lookup")
        if e.first_byte is not None:
            self.first_bytes += 1
            self.first_byte += e.first_byte
            came = e.at + e.first_byte
            self.begin = came if self.begin is None else min(self.begin, came)
        if e.received > 0:
            self.end = max(self.end or 0, e.end)
        self.has_given_up = e.has_failed
        self.failures += e.has_failed
        self.error = text(e.args, "error") or self.error


class Run:
    """One run of a trace: the first that has requests, or the one with a number."""

    def __init__(self, trace, run):
        self.trace = trace
        self.number = run or next((e.run for e in trace.events()
                                   if e.kind == "X request"), 0)
        self.runs = self.requests = self.lost = self.size = 0
        self.received = self.duplicate = 0
        self.name = self.algorithm = self.outcome = self.error = ""
        self.begin = self.probed = None
        self.end, self.has_more = 0, False
        self.depots, self.lanes = {}, {}
        for event in trace.events():
            self.runs = max(self.runs, event.run)
            if event.run == self.number:
                self.count(event)
        if self.requests == 0:
            self.refuse()
        self.begin = self.begin or 0
        self.end = max(self.end, self.begin + 1e-6)
        self.lasts = self.end - self.begin
        self.slot_s = self.lasts / SLOTS
        self.depots = dict(sorted(self.depots.items()))
        self.lanes = dict(sorted(self.lanes.items()))
        # Bytes before the first gap, stored in all, and where the player is.
        self.frontier, self.stored, self.player = {}, {}, {}
        self.stalled = set()
        for event in trace.events():
            if event.run == self.number:
                self.spread_out(event)
        for d in self.depots.values():
            d.bytes = array("d", map(sum, zip(d.bytes, accumulate(d.steps))))

    def refuse(self):
        path, n = self.trace.path, self.runs
        if self.number > n:
            fail(f"{path}: has {n} run{'' if n == 1 else 's'}, and there is no run "
                 f"{self.number}", 1)
        fail(f"{path}: no request had ended when this trace was written", 1)

    # ---- the first reading ----

    def count(self, e):
        if not e.kind.startswith("M"):
            self.begin = e.at if self.begin is None else min(self.begin, e.at)
        self.end = max(self.end, e.end)
        if e.kind == "M process_name":
            self.name = text(e.args, "name")
        elif e.kind == "i run" and e.name == "begin":
            self.algorithm = text(e.args, "algorithm")[:31]
        elif e.kind == "i run" and e.name == "end":
            self.outcome = text(e.args, "outcome")[:31]
            self.error, self.lost = text(e.args, "error"), number(e.args, "lost")
            self.size = number(e.args, "size") or self.size
        elif e.kind == "C bytes" and not self.outcome:
            self.size = max(self.size, number(e.args, "in_order"))
        elif e.kind == "C depot" and e.depot in self.depots:
            self.depots[e.depot].has_counters = True
        elif e.kind == "X request":
            self.count_request(e)

    def count_request(self, e):
        self.requests += 1
        self.received += e.received
        self.duplicate += e.duplicate
        if text(e.args, "reason") not in ("probe", "sample"):
            asked = e.at - seconds(e.args, "queued")
            self.probed = asked if self.probed is None else min(self.probed, asked)
        if e.thread not in self.lanes and len(self.lanes) == LANES_MAX:
            self.has_more = True
        else:
            self.lanes.setdefault(e.thread, (bytearray(SLOTS), bytearray(SLOTS)))
        if e.depot not in self.depots and len(self.depots) == DEPOTS_MAX:
            self.has_more = True
            return
        if e.depot not in self.depots:
            self.depots[e.depot] = Depot(e)
        self.depots[e.depot].count(e)

    # ---- the second one ----

    def slot(self, at):
        return min(max(int((at - self.begin) / self.slot_s), 0), SLOTS - 1)

    def spread_out(self, e):
        slot = self.slot(e.at)
        depot = self.depots.get(e.depot)
        if e.kind == "C bytes":
            self.frontier[slot] = number(e.args, "in_order")
            self.stored[slot] = number(e.args, "stored")
        elif e.kind == "C player":
            self.player[slot] = number(e.args, "position")
            if number(e.args, "stalled"):
                self.stalled.add(slot)
        elif e.kind == "C depot" and depot:
            now = number(e.args, "bytes")
            since = depot.begin if depot.counted_at is None else depot.counted_at
            if now > depot.counted and since is not None:
                self.spread(depot, min(since, e.at), e.at, now - depot.counted)
            depot.counted, depot.counted_at = now, e.at
        elif e.kind == "X request":
            self.spread_request(e, depot)

    def spread_request(self, e, depot):
        came = e.end
        if e.first_byte is not None and e.first_byte <= e.lasts:
            came = e.at + e.first_byte
        if e.thread in self.lanes:
            states, begins = self.lanes[e.thread]
            begins[self.slot(e.at)] = 1
            self.paint(states, e.at, came, WAITING)
            if e.received > 0:
                self.paint(states, came, e.end, e.state)
            elif e.has_failed:
                self.paint(states, e.at, e.end, FAILED)
        if depot and e.received > 0:
            first, last = self.slot(came), self.slot(e.end)
            depot.receives[first:last + 1] = b"\1" * (last + 1 - first)
            if not depot.has_counters:
                self.spread(depot, came, e.end, e.received)

    def paint(self, states, begin, end, state):
        span = slice(self.slot(begin), self.slot(end) + 1)
        states[span] = states[span].translate(COVERS[state])

    def spread(self, depot, begin, end, count):
        """Bytes that came evenly from one moment to another."""
        first, last = self.slot(begin), self.slot(end)
        if first == last:
            depot.bytes[first] += count
            return
        rate = count / (end - begin)
        depot.bytes[first] += rate * (self.begin + (first + 1) * self.slot_s - begin)
        depot.bytes[last] += rate * (end - self.begin - last * self.slot_s)
        depot.steps[first + 1] += rate * self.slot_s
        depot.steps[last] -= rate * self.slot_s

    # ---- what it comes to ----

    def rate(self, depot):
        """Bytes per second of a depot while it delivered."""
        n = sum(depot.receives)
        return sum(depot.bytes) / (n * self.slot_s) if n else 0

    def least_s(self):
        """The least time in which depots that deliver as these did, each from its first
        byte on and without a pause, would have delivered the file."""
        rates = [(d, self.rate(d) * self.slot_s) for d in self.depots.values()]
        count = slot = 0
        while slot < SLOTS and count < self.size:
            at = self.begin + (slot + 1) * self.slot_s
            for depot, usual in rates:
                if depot.receives[slot]:
                    own = depot.bytes[slot]
                    count += own if own > usual / 4 else usual
                elif depot.begin is not None and at >= depot.begin and not (
                        depot.has_given_up and at > (depot.end or -1)):
                    count += usual
            slot += 1
        return slot * self.slot_s


# ---- quantities ----

def size(count, tail=""):
    unit = 0
    # What would be printed as 1024.0 belongs to the next unit.
    while count >= 1023.95 and unit < 6:
        count /= 1024
        unit += 1
    return f"{count:.{min(unit, 1)}f} {'B KiB MiB GiB TiB PiB EiB'.split()[unit]}{tail}"


def rate(bytes_per_s):
    return size(bytes_per_s, "/s")


def clock(s):
    if s < 60:
        return f"{s:.1f} s"
    s = int(s + 0.999)
    if s >= 360000:
        return f"{s // 86400} d" if s < 365 * 86400 else "-:--"
    return (f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}" if s >= 3600
            else f"{s // 60}:{s % 60:02}")


def percent(part, whole):
    return 100 * part / whole if whole > 0 else 0


def plural(n):
    return "" if n == 1 else "s"


# ---- in words ----

def summary(run):
    """Where the time of the run went, in sentences."""
    lasts = run.lasts
    whole = (f"{run.name}, {run.algorithm}: {size(run.size)} in {lasts:.3f} s, "
             f"{rate(run.size / lasts)}")
    if not run.outcome:
        whole += "; the trace has no end of the run"
    elif run.outcome != "complete":
        whole += f"; {run.outcome}"
    yield whole + (f": {run.error}" if run.error else "")
    least = run.least_s()
    if 0 < least < lasts * 0.995:
        yield ("Depots with the rates that these had could have delivered it in "
               f"{least:.3f} s: this took {lasts / least:.2f} times as long.")
    else:
        yield ("Depots with the rates that these had could not have delivered it in "
               "less.")
    yield from waits(run)
    if run.duplicate:
        yield (f"Duplicate bytes: {run.duplicate}, "
               f"{percent(run.duplicate, run.received):.1f} % of what was received.")
    yield "Depots, with their share and their rate while they delivered:"
    delivered = [d for d in run.depots.values() if d.end is not None]
    for d in delivered:
        yield shares(run, d)
    for d in run.depots.values():
        if d.end is None:
            yield (f"  {d.host} delivered nothing in {d.requests} request"
                   f"{plural(d.requests)}" + (f": {d.error}" if d.error else ""))
    yield from tail(run, delivered)
    if run.stalled:
        yield f"The player stood still for about {len(run.stalled) * run.slot_s:.1f} s."


def waits(run):
    depots = run.depots.values()
    if run.probed is not None and run.probed > run.begin:
        yield f"Until the size of the file was known: {run.probed - run.begin:.3f} s."
    begins = [d.begin for d in depots if d.begin is not None]
    if begins:
        yield f"The first byte came after {min(begins) - run.begin:.3f} s."
    connections, n = sum(d.connections for d in depots), sum(d.first_bytes for d in depots)
    first = sum(d.first_byte for d in depots)
    yield (f"Requests waited for names for {sum(d.name_lookup for d in depots):.3f} s in "
           f"all, for {connections} connection{plural(connections)} for "
           f"{sum(d.connect for d in depots):.3f} s" +
           (f", and for a first byte for {first:.3f} s, {1e3 * first / n:.0f} ms each."
            if n else ", and no first byte came."))


def shares(run, d):
    """The line of a depot that delivered."""
    useful, busy = run.received - run.duplicate, sum(d.receives) * run.slot_s
    host = d.host if len(d.host) <= 28 else d.host[:14] + "~" + d.host[-13:]
    line = (f"  {host:28} {percent(d.received - d.duplicate, useful):5.1f} %  "
            f"{rate(run.rate(d)):>12}  busy {percent(busy, run.lasts):3.0f} %  "
            f"{d.requests:5} request{plural(d.requests) or ' '}")
    if d.failures:
        line += f", {d.failures} failed"
    if d.canceled:
        line += f", {d.canceled} stopped"
    if d.duplicate:
        line += f", {percent(d.duplicate, d.received):.1f} % duplicate"
    return line


def tail(run, delivered):
    """From when the first of the depots that delivered had ended."""
    idle = [d for d in delivered if d.end < run.end - 0.01 * run.lasts]
    if not idle:
        yield f"All {len(delivered)} depots that delivered did so to the end."
        return
    last = run.end - min(d.end for d in delivered)
    yield (f"The tail: for the last {last:.3f} s, {percent(last, run.lasts):.0f} % of the "
           f"time, fewer than the {len(delivered)} depots that delivered did so.")
    for d in idle:
        why = "there was nothing left to request of it"
        if d.has_given_up:
            why = d.error or "its last request failed"
        yield f"  {d.host} ended {run.end - d.end:.3f} s before: {why}"


# ---- as a picture ----

# Pixels.  Lanes begin at LEFT, and depots are named before that.
WIDTH, LEFT, RIGHT, TOP, FRONTIER, GAP, AXIS, LEGEND = 830, 150, 12, 34, 110, 22, 30, 44
INNER = WIDTH - LEFT - RIGHT
SLOT = INNER / SLOTS
NAME_COLUMNS = 22  # of a depot

# Each state has a colour, and a pattern that differs from the others without it;
# waiting is a thin line.
LOOKS = {WAITING: ("w", "waits for the first byte"), RECEIVING: ("r", "receives"),
         CANCELED: ("c", "receives, then is stopped"),
         DUPLICATE: ("d", "duplicate bytes"), FAILED: ("f", "fails")}

HEAD = """<style>text{font:11px sans-serif;fill:#1a1a1a}\
.t{font-size:13px;font-weight:bold}.e{text-anchor:end}\
.m{text-anchor:middle}.n{fill:#555}\
.g{stroke:#ddd;fill:none}.a{stroke:#888;fill:none}\
.w{fill:#777}.r{fill:#3b78b5}.c{fill:url(#c)}.d{fill:url(#d)}\
.f{fill:url(#f)}.b{stroke:#fff;stroke-width:.8;fill:none}\
.o{stroke:#1a1a1a;stroke-width:1.6;fill:none}\
.s{stroke:#3b78b5;stroke-width:1.2;stroke-dasharray:5 3;fill:none}\
.p{stroke:#b5443b;stroke-width:1.6;stroke-dasharray:1.5 2.5;fill:none}\
</style>
<defs>
<pattern id="c" width="4" height="4" patternUnits="userSpaceOnUse">\
<rect width="4" height="4" fill="#cfe0f0"/><path d="M2 0V4" stroke="#3b78b5"/></pattern>
<pattern id="d" width="5" height="5" patternUnits="userSpaceOnUse">\
<rect width="5" height="5" fill="#f6c667"/>\
<path d="M-1 1L1 -1M0 5L5 0M4 6L6 4" stroke="#5a3c00"/></pattern>
<pattern id="f" width="5" height="5" patternUnits="userSpaceOnUse">\
<rect width="5" height="5" fill="#1a1a1a"/>\
<path d="M0 0L5 5M5 0L0 5" stroke="#ff8a80" stroke-width=".9"/></pattern>
</defs>
<rect width="100%" height="100%" fill="#fff"/>"""


def label(text, most=TEXT_MAX):
    """Text from a trace, which may be hostile."""
    text = safe(text)
    return html.escape(text[:most], quote=True) + ("\u2026" if len(text) > most else "")


def x_of(slot):
    return LEFT + slot * SLOT


def picture(run):
    """The lines of the SVG."""
    top = TOP + FRONTIER + GAP
    lanes, bottom = draw_lanes(run, top)
    axis = bottom + 4
    height = axis + AXIS + LEGEND
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}"'
           f' viewBox="0 0 {WIDTH} {height:.0f}" role="img">')
    yield f"<title>{label(run.name)}</title>"
    yield HEAD
    yield from title(run)
    yield from frontier(run)
    yield from lanes
    yield from time_axis(run, axis)
    yield from legend(run, axis + AXIS)
    yield "</svg>"


def title(run):
    yield f'<text class="t" x="12" y="20">{label(run.name, 50)}</text>'
    what = f"{size(run.size)} in {clock(run.lasts)}, {rate(run.size / run.lasts)}"
    if not run.name.startswith(run.algorithm):
        what = f"{label(run.algorithm, 20)}, {what}"
    if run.outcome != "complete":
        what += ", " + label(run.outcome or "without an end", 20)
    yield f'<text class="e" x="{WIDTH - RIGHT}" y="20">{what}</text>'


def frontier(run):
    scale = FRONTIER / run.size if run.size else 0
    yield f'<path class="a" d="M{LEFT} {TOP}V{TOP + FRONTIER}H{WIDTH - RIGHT}"/>'
    yield f'<path class="g" d="M{LEFT} {TOP}H{WIDTH - RIGHT}"/>'
    yield (f'<text class="e n" x="{LEFT - 6}" y="{TOP + 8}">{size(run.size)}</text>\n'
           f'<text class="e n" x="{LEFT - 6}" y="{TOP + FRONTIER}">0</text>')
    for look, values in ("s", run.stored), ("o", run.frontier), ("p", run.player):
        points = "L".join(f"{x_of(i):.1f} {max(TOP + FRONTIER - values[i] * scale, TOP):.1f}"
                          for i in sorted(values))
        if points or look != "p":
            yield f'<path class="{look}" d="{points and "M" + points}"/>'


def draw_lanes(run, y):
    """The lines of SVG, and where they end."""
    out, next_name, last = [], y, None
    n = len(run.lanes)
    height = 14 if n <= 12 else 10 if n <= 48 else 6 if n <= 100 else 4
    for thread, (states, begins) in run.lanes.items():
        depot = run.depots.get(max(thread - 1, 0) // LANES_PER_DEPOT,
                               next(iter(run.depots.values())))
        if depot is not last:
            y = max(y, next_name)
            next_name, last = y + 13, depot
            out.append(f'<text class="e" x="{LEFT - 6}" y="{y + 9:.1f}"><title>'
                       f"{label(depot.host)}</title>{label(depot.host, NAME_COLUMNS)}"
                       "</text>")
        out.append(f'<path class="g" d="M{LEFT} {y + height + 1:.1f}H{WIDTH - RIGHT}"/>')
        out += draw_lane(states, begins, y, height)
        y += height + 2
    y = max(y, next_name)
    if run.has_more:
        out.append(f'<text class="n" x="{LEFT}" y="{y + 10:.1f}">and more, for which '
                   "there is no room</text>")
        y += 14
    return out, y


def draw_lane(states, begins, y, height):
    for state, (look, _) in LOOKS.items():
        h = height / 5 if state == WAITING else height
        spans = [f"M{x_of(m.start()):.1f} {y + (height - h) / 2:.1f}"
                 f"h{(m.end() - m.start()) * SLOT:.1f}v{h:.1f}"
                 f"h-{(m.end() - m.start()) * SLOT:.1f}z"
                 for m in re.finditer(bytes([state]) + b"+", states)]
        if spans:
            yield f'<path class="{look}" d="{"".join(spans)}"/>'
    # So many beginnings would make all white.
    if sum(begins) <= SLOTS // 6:
        yield '<path class="b" d="' + "".join(
            f"M{x_of(i):.1f} {y:.1f}v{height:.1f}"
            for i in range(1, SLOTS) if begins[i]) + '"/>'


def time_axis(run, y):
    """At most eight steps, each 1, 2, 2.5 or 5 times a power of ten."""
    step = 10 ** math.floor(math.log10(run.lasts / 8))
    step *= next(m for m in (1, 2, 2.5, 5, 10) if run.lasts / (step * m) <= 8)
    yield f'<path class="a" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
    for i in range(int(run.lasts / step) + 1):
        x = LEFT + i * step / run.lasts * INNER
        yield (f'<path class="a" d="M{x:.1f} {y:.1f}v4"/><text class="m n" '
               f'x="{min(x, WIDTH - 24):.1f}" y="{y + 16:.1f}">{i * step:.4g} s</text>')


def legend(run, y):
    x = LEFT
    for state, (look, name) in LOOKS.items():
        down, height = (4, 2) if state == WAITING else (0, 10)
        yield (f'<rect class="{look}" x="{x:.0f}" y="{y + down:.1f}" width="20" '
               f'height="{height}"/><text x="{x + 25:.0f}" y="{y + 9:.1f}">{name}</text>')
        x += 40 + 5.8 * len(name)
    x, y = LEFT, y + 18
    for look, name in (("o", "before the first gap"), ("s", "stored in all"),
                       ("p", "the player"))[:3 if run.player else 2]:
        yield (f'<path class="{look}" d="M{x:.0f} {y + 5:.1f}h20"/>'
               f'<text x="{x + 25:.0f}" y="{y + 9:.1f}">{name}</text>')
        x += 40 + 5.8 * len(name)


# ---- the whole ----

def warn(run, is_chosen):
    """What the trace lacks, which a reader sees in what is made of it."""
    path = run.trace.path
    if run.trace.is_torn:
        say(f"{path}: ends in the middle: what is missing had not been written when its "
            "run ended")
    if run.lost:
        say(f"{path}: {run.lost} requests were lost: more than 4096 ended in a tenth of a "
            "second")
    if run.runs > 1 and not is_chosen:
        say(f"{path}: has {run.runs} runs, and this is run {run.number}: --run N chooses")


def main():
    parser = argparse.ArgumentParser(description="show a trace of xdownload")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--run", type=int, default=0)
    parser.add_argument("trace")
    args = parser.parse_args()
    try:
        run = Run(Trace(args.trace), args.run)
    except OSError as e:
        fail(f"{args.trace}: {e.strerror}", 5)
    if not args.quiet:
        warn(run, args.run)
    lines = map(safe, summary(run)) if args.summary else picture(run)
    try:
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as e:
        fail(f"the output could not be written: {e.strerror}", 5)


if __name__ == "__main__":
    main()
