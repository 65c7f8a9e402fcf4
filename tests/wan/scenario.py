# SPDX-License-Identifier: MIT
"""Scenario files, and the earliest moment at which a file can be there.

The fluid bound: depot i sends from two round trips after the start (handshake
and request), its window doubling from ten segments every round trip until its
rate is reached; depots behind one link share that, and all share the client's.
A packet of 1500 bytes carries 1448 of the file.  Nothing is lost and no queue
is in the way, so no downloader with one connection to each depot is faster; a
depot that bounds its connections, by a cap or a window, is asked over several.
A lottery is counted with its best draw, thinking with its least time.  Bursts
and bounds on requests are not counted.
"""
import math
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE / "scenarios"
PAPER = HERE.parents[1] / "examples" / "paper" / "scenarios"
PACKET, SEGMENT = 1500, 1448
UNITS = {"gbit": 125e6, "mbit": 125e3, "kbit": 125.0, "ms": 1e-3, "s": 1.0,
         "%": 0.01, "k": 1024.0, "m": 1048576.0}
STEP = 0.001  # seconds
CONNECTIONS = 6  # to a depot that bounds them, as many as xdownload opens
WORDS = ("per", "answer", "via")  # keys whose values are no numbers
SWITCHES = {"down": ("is_down", True), "up": ("is_down", False),
            "refuses": ("refuses", True)}
# What a server does that is no quality of a line.
GATED = ("cap", "most", "draws", "life", "hangs", "think", "asks", "refuses")


def names(slow=True):
    """Those that are kept here; without the slow lines, of which 50 MiB would
    take hours."""
    return sorted(p.name for p in SCENARIOS.iterdir()
                  if slow or not p.name.startswith("slow-"))


def find(name):
    """The path of a scenario that is kept here, or of any other file."""
    kept = [folder / name for folder in (SCENARIOS, PAPER)]
    path = next((path for path in kept if path.is_file()), Path(name))
    if not path.is_file():
        raise SystemExit(f"there is no scenario {name}; here are: "
                         + " ".join(names()))
    return path.resolve()


def number(text):
    for unit, factor in UNITS.items():
        if text.endswith(unit):
            return float(text[:-len(unit)]) * factor
    return float(text)


class Line:
    """A depot's, a shared one, or the client's; units are bytes and seconds."""

    def __init__(self, name, words, address=None):
        self.name, self.address, self.via = name, address, None
        self.rate = self.rtt = self.loss = self.jitter = 0.0
        # What a depot allows its connections: bytes a second, at once, and in
        # flight; how many there may be, and seconds of a ban.
        self.cap = self.burst = self.window = self.most = self.ban = 0.0
        self.per, self.answer = "connection", "503"
        # (cap, chances) of a lottery; answers of a connection; the share of
        # connections that never get one.
        self.draws, self.life, self.hangs = [], 0.0, 0.0
        # Seconds before an answer, at least and at most; requests a second, and
        # more after a pause; when to ask again.
        self.think, self.asks, self.spare, self.retry = (0.0, 0.0), 0.0, 0.0, 0.0
        self.is_down = self.refuses = False
        self.seen = None  # since when it is reachable
        self.change(words)

    def change(self, words):
        for word in words:
            key, _, value = word.partition("=")
            if key in SWITCHES:
                setattr(self, *SWITCHES[key])
            elif key in WORDS:
                setattr(self, key, value)
            elif key == "draws":
                self.draws = [tuple(map(number, draw.split(":")))
                              for draw in value.split(",")]
            elif key == "think":
                least, _, most = value.partition("-")
                self.think = number(least), number(most or least)
            else:
                setattr(self, key, number(value))

    def has_gate(self):
        return bool(self.cap or self.most or self.draws or self.life
                    or self.hangs or self.sees_requests() or self.refuses)

    def sees_requests(self):
        """Whether it treats each request by itself, also those of HTTP/2."""
        return self.per == "request" or any(self.think) or self.asks > 0

    def best_cap(self):
        return max((cap for cap, _ in self.draws), default=self.cap)

    def connections(self, asked):
        """How many of these it serves, if they are what bounds it."""
        if not self.best_cap() and not self.window:
            return 1
        return min(asked, int(self.most) or asked)

    def bound(self, n, rtt):
        """What n connections carry, in bytes of packets a second."""
        n *= PACKET / SEGMENT
        return min(self.rate or math.inf, self.best_cap() * n or math.inf,
                   self.window * n / rtt or math.inf)


class Scenario:
    def __init__(self, path):
        self.path = find(path)
        self.name = self.path.name
        self.client = Line("client", ["rate=0"])
        self.depots, self.links, self.changes = [], [], []
        for text in self.path.read_text().splitlines():
            word, *rest = text.split("#")[0].split() or [""]
            if word == "client":
                self.client.change(rest)
            elif word == "depot":
                self.depots.append(Line(rest[0], rest[2:], rest[1]))
            elif word == "link":
                self.links.append(Line(rest[0], rest[1:]))
            elif word == "at":
                self.changes.append((number(rest[0]), rest[1], rest[2:]))
        self.changes.sort(key=lambda c: c[0])
        for depot in self.depots:
            depot.is_gated = depot.has_gate() or any(
                name == depot.name and word.partition("=")[0] in GATED
                for _, name, words in self.changes for word in words)
        if not self.depots:
            raise SystemExit(f"{path} names no depot")

    @property
    def addresses(self):
        return [d.address for d in self.depots]

    def best(self):
        """The depot of which a single transfer at the start takes least."""
        up = [d for d in self.depots if not d.is_down]
        return max(up, key=lambda d: (d.rate or 1e12, -d.rtt))

    def nearest(self):
        return min((d for d in self.depots if not d.is_down),
                   key=lambda d: d.rtt)


def apply_changes(scenario, at, now):
    """Those from number `at` on that are due; the number of the next."""
    lines = [scenario.client, *scenario.links, *scenario.depots]
    while at < len(scenario.changes) and scenario.changes[at][0] <= now:
        _, name, words = scenario.changes[at]
        next(x for x in lines if x.name == name).change(words)
        at += 1
    return at


def _flow(depot, now, asked):
    """Bytes per second that the depot sends, asked over so many connections."""
    if depot.is_down or depot.refuses:
        return 0.0
    if depot.seen is None:
        depot.seen = now
    age = now - depot.seen - 2 * depot.rtt - depot.think[0]
    if age < 0:
        return 0.0
    rtt = max(depot.rtt, 1e-4)
    n = depot.connections(asked)
    start = 10 * PACKET / rtt * 2 ** min(age / rtt, 40) * n
    return min(depot.bound(n, rtt), start)


def arrivals(path, size, until=600.0, connections=CONNECTIONS):
    """(seconds, bytes that can be there by then), until `size` are.  Depots
    that bound their connections are asked over so many."""
    s = Scenario(path)
    got, change = 0.0, 0
    for step in range(int(until / STEP)):
        now = step * STEP
        change = apply_changes(s, change, now)
        flows = [(d.via, _flow(d, now, connections)) for d in s.depots]
        total = sum(f for via, f in flows if via is None)
        for link in s.links:
            shared = sum(f for via, f in flows if via == link.name)
            total += min(shared, link.rate or 1e12)
        got += min(total, s.client.rate or 1e12) * STEP * SEGMENT / PACKET
        yield now, got
        if got >= size:
            return


def fluid(path, size, connections=CONNECTIONS):
    """Seconds after which `size` bytes can be there at the earliest."""
    *_, (now, got) = arrivals(path, size, connections=connections)
    return now if got >= size else float("inf")


def _shown(came, size, piece):
    """(seconds, bytes that can be shown until then): a piece is whole."""
    shown = 0
    for now, got in came:
        yield now, shown
        if got >= size:
            return
        shown = got - got % piece


def least_stall(came, size, rate, prebuffer, piece=1):
    """Seconds for which a player of `rate` bytes per second, which begins after
    `prebuffer` seconds, has to stand still if the bytes come so."""
    return max(0.0, *(now - prebuffer - shown / rate
                      for now, shown in _shown(came, size, piece)))


def sustainable(came, size, prebuffer, piece=1):
    """The fastest rate that need not stand still, and is not faster than bytes
    come."""
    moments = list(_shown(came, size, piece))
    return min([size / moments[-1][0], *(
        shown / (now - prebuffer) for now, shown in moments
        if now > prebuffer)])


def of_first_depots(path, n):
    """The text of a scenario that has only the first n of its depots."""
    kept, gone = [], set()
    for text in find(path).read_text().splitlines():
        words = text.split()
        if words[:1] == ["depot"]:
            n -= 1
            if n < 0:
                gone.add(words[1])
                continue
        if words[:1] != ["at"] or words[2] not in gone:
            kept.append(text)
    return "\n".join(kept) + "\n"
