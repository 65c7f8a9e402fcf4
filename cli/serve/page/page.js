/* SPDX-License-Identifier: MIT */
/*
 * The page of `serve`, made live: it shows what comes twice a second as a
 * server-sent event (cli/serve/board.c), and says what its players do.
 *
 * Names of files and depots are hostile: they are put in as text alone, by
 * textContent and setAttribute on what holds no address and no code.
 */
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LANES_S = 30;  // that lanes show
const LANES = 48;    // that are shown
const RETRY_MS = 3000;
const SAY_MS = 1000; // between two words of a player that moves

/* ---- words ---- */

const NO_BREAK = "\u00a0";

function size(bytes) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let i = 0;

    while (bytes >= 1024 && i < units.length - 1) {
        bytes /= 1024;
        i++;
    }
    return bytes.toFixed(i > 0 ? 1 : 0) + NO_BREAK + units[i];
}

function rate(bytes) {
    return size(bytes) + "/s";
}

function seconds(s) {
    return s.toFixed(s < 10 ? 2 : 1) + NO_BREAK + "s";
}

function count(n, one, many) {
    return n + " " + (n === 1 ? one : many || one + "s");
}

/* ---- elements ---- */

function add(parent, name, className, text) {
    const e = document.createElement(name);

    if (className)
        e.className = className;
    if (text !== undefined)
        e.textContent = text;
    parent.append(e);
    return e;
}

function addSvg(parent, name, attributes) {
    const e = document.createElementNS(SVG, name);

    for (const key of Object.keys(attributes))
        e.setAttribute(key, attributes[key]);
    parent.append(e);
    return e;
}

/* Screen readers and selections keep what has not changed. */
function setText(e, text) {
    if (e.textContent !== text)
        e.textContent = text;
}

function addLegend(figure, entries) {
    const list = add(figure, "ul", "legend");

    for (const [className, text] of entries)
        add(list, "li", className, text);
    return list;
}

/* ---- the bar of a file ---- */

const BAR = 100; // its height, in its own units

class Bar {
    constructor(parent) {
        const figure = add(parent, "figure");

        this.svg = addSvg(figure, "svg", {
            class: "bar", role: "img", preserveAspectRatio: "none"});
        this.asked = addSvg(this.svg, "path", {class: "asked"});
        this.stored = addSvg(this.svg, "path", {class: "stored"});
        this.proved = addSvg(this.svg, "path", {class: "proved"});
        this.readers = addSvg(this.svg, "path", {class: "reader"});
        addLegend(figure, [["proved", "verified"], ["stored", "here"],
                           ["asked", "in flight"], ["reader", "readers"]]);
    }

    show(f) {
        const columns = (percents) => percents.map((p, i) => p > 0 ?
            `M${i} ${BAR}v${-p * BAR / 100}h1v${p * BAR / 100}z` : "").join("");
        const n = f.parts.length;

        if (n === 0)
            return;
        const isProved = f.has_pieces || f.verified !== null;
        this.svg.setAttribute("viewBox", `0 0 ${n} ${BAR}`);
        this.stored.setAttribute("d", columns(f.parts.map((p) => p[0])));
        this.proved.setAttribute("d", columns(f.parts.map(
            (p) => isProved ? p[1] : 0)));
        /* What is asked for lies on top of what is here. */
        this.asked.setAttribute("d", columns(f.parts.map(
            (p) => p[2] > 0 ? Math.min(100, p[0] + p[2]) : 0)));
        this.readers.setAttribute("d", f.readers.map(
            (at) => `M${at / f.size * n} 0v${BAR}`).join(""));
        this.svg.setAttribute("aria-label",
            `${Math.floor(100 * f.done / f.size)} % here, ` +
            count(f.readers.length, "reader"));
    }
}

/* ---- a lane for each connection ---- */

const CLASSES = {running: "running", ok: "ok", redundant: "stopped",
                 canceled: "stopped"};

class Lanes {
    constructor(parent) {
        const figure = add(parent, "figure");

        this.caption = add(figure, "figcaption", "",
                           "Requests on each connection, the last " +
                           LANES_S + NO_BREAK + "s");
        this.grid = add(figure, "div", "lanes");
        this.more = add(figure, "p", "more");
        addLegend(figure, [["running", "in flight"], ["ok", "delivered"],
                           ["stopped", "stopped, or a duplicate"],
                           ["failed", "failed (low)"]]);
        this.lanes = new Map();
    }

    lane(depot, number, host) {
        const key = `${depot} ${number}`;
        let lane = this.lanes.get(key);

        if (lane || this.lanes.size >= LANES)
            return lane;
        const label = document.createElement("span");
        const svg = document.createElementNS(SVG, "svg");
        lane = {depot, number, label, svg, paths: {}, spans: {}};
        label.textContent = label.title = `${host}, ${number + 1}`;
        svg.setAttribute("viewBox", `0 0 ${LANES_S} 1`);
        svg.setAttribute("preserveAspectRatio", "none");
        svg.setAttribute("aria-hidden", "true");
        for (const name of ["ok", "stopped", "failed", "running"])
            lane.paths[name] = addSvg(svg, "path", {class: name});
        this.lanes.set(key, lane);
        this.place(lane);
        return lane;
    }

    /* In the order of depots, and of their lanes. */
    place(lane) {
        let after = null;

        for (const l of this.lanes.values())
            if (l !== lane && (l.depot > lane.depot || (l.depot === lane.depot &&
                               l.number > lane.number)) &&
                (!after || l.depot < after.depot ||
                 (l.depot === after.depot && l.number < after.number)))
                after = l;
        this.grid.insertBefore(lane.label, after && after.label);
        this.grid.insertBefore(lane.svg, after && after.label);
    }

    show(f) {
        const end = Math.max(f.seconds, LANES_S), begin = end - LANES_S;
        const hosts = new Map(f.depots.map((d) => [d.depot, d.host]));
        const missing = new Set();

        for (const lane of this.lanes.values())
            lane.spans = {};
        for (const [depot, number, from, to, outcome] of f.requests) {
            const lane = this.lane(depot, number, hosts.get(depot) || "?");
            const name = CLASSES[outcome] || "failed";
            const x = Math.max(from, begin) - begin;
            const last = to === null ? f.seconds : to;
            const height = name === "failed" ? .5 : 1; // without colour, too

            if (!lane)
                missing.add(`${depot} ${number}`);
            else if (last >= begin) /* a short one is seen, too */
                lane.spans[name] = (lane.spans[name] || "") +
                    `M${x} ${1 - height}h${Math.max(last - begin - x - .02, .06)}` +
                    `v${height}H${x}z`;
        }
        for (const lane of this.lanes.values())
            for (const name of Object.keys(lane.paths))
                lane.paths[name].setAttribute("d", lane.spans[name] || "");
        setText(this.more, missing.size > 0 ?
            `and ${count(missing.size, "connection")} more` : "");
    }
}

/* ---- a file ---- */

class File {
    constructor(section) {
        this.section = section;
        this.number = Number(section.dataset.file);
        this.summary = section.querySelector(".summary");
        this.stalls = section.querySelector(".stalls");
        this.rows = section.querySelector("tbody");
        this.more = section.querySelector(".figures > .more");
        this.media = section.querySelector("video, audio");
        this.name = section.querySelector("h2").textContent;
        this.bar = this.lanes = this.error = null;
        this.isStalled = false;
        if (this.media)
            this.player = new Player(this);
    }

    show(f) {
        if (!this.bar) {
            const charts = this.section.querySelector(".charts");

            this.error = add(charts, "p", "error");
            this.bar = new Bar(charts);
            this.lanes = new Lanes(charts);
        }
        this.error.hidden = f.error === null;
        setText(this.error, f.error || "");
        this.bar.show(f);
        this.lanes.show(f);
        this.showSummary(f);
        this.showDepots(f);
        if (this.media)
            this.showPlayer(f);
    }

    showSummary(f) {
        const connections = f.depots.reduce((n, d) => n + d.connections, 0);

        setText(this.summary, size(f.done) +
            (f.size !== null ? ` of ${size(f.size)}` : "") +
            ` here, ${rate(f.rate)}, ${count(connections, "connection")}, ` +
            `${count(f.in_flight, "request")} in flight` +
            (f.duplicate > 0 ? `, ${size(f.duplicate)} of duplicates` : "") +
            (f.verified !== null ? `, verified by ${f.verified}` : ""));
    }

    showDepots(f) {
        while (this.rows.rows.length > f.depots.length)
            this.rows.deleteRow(-1);
        f.depots.forEach((d, i) => {
            const row = this.rows.rows[i] || this.rows.insertRow();
            const words = [d.host, d.state, rate(d.rate), size(d.bytes),
                           String(d.connections), String(d.failures)];

            row.title = d.error || "";
            words.forEach((word, k) =>
                setText(row.cells[k] || row.insertCell(), word));
        });
        setText(this.more, f.more_depots > 0 ?
            `and ${f.more_depots} more, in reserve` : "");
    }

    /* Each time with the least that the bytes, as they came, allowed.  That is
     * reckoned at a constant rate, and may come out higher than what was. */
    showPlayer(f) {
        const p = f.player, words = [];

        if (p === null)
            return;
        if (p.startup >= 0)
            words.push(`started after ${seconds(p.startup)} (least ` +
                       `${seconds(Math.max(0, p.startup_least))})`);
        words.push(count(p.stalls, "stall") + (p.stalls > 0 ?
            `, ${seconds(p.stall)} together (least ` +
            `${seconds(Math.min(p.stall, p.stall_least))})` : ""));
        if (p.seeks > 0)
            words.push(`${count(p.seeks, "seek")}, ${seconds(p.restart)} ` +
                       `(least ${seconds(Math.min(p.restart,
                                                  p.restart_least))})`);
        words.push(`${seconds(p.ahead)} ahead`);
        setText(this.stalls, words.join("; "));
        if (p.is_stalled && !this.isStalled)
            say(`${this.name}: waiting for bytes`);
        else if (!p.is_stalled && this.isStalled)
            say("live");
        this.isStalled = p.is_stalled;
    }
}

/* ---- a player ---- */

const PAGE = crypto.getRandomValues(new Uint32Array(2)).join("-");

/* A wait before the first picture is the start, one after a jump is no stall. */
class Player {
    constructor(file) {
        const media = file.media;

        this.file = file;
        this.media = media;
        this.state = null; // nobody has wanted it to play
        if (media.canPlayType(media.dataset.type) === "")
            add(media.parentNode, "p", "note",
                `This browser does not play ${media.dataset.type}.`);
        const set = (state) => () => this.set(state);
        const on = (name, f) => media.addEventListener(name, f);
        on("play", set("waiting"));
        on("waiting", () => this.set(media.seeking ? "seeking" : "waiting"));
        on("playing", set("playing"));
        on("seeking", () => this.state !== null && this.set("seeking"));
        on("seeked", () => media.paused && this.state !== null &&
            this.set("paused"));
        on("pause", () => this.set(media.ended ? "ended" : "paused"));
        on("ended", () => {
            this.set("ended");
            playNext(media);
        });
        on("error", () => setText(file.stalls,
            `The player has given up: ${media.error.message || "error"}`));
        window.addEventListener("pagehide", () => this.state !== null &&
            this.set("ended"));
        setInterval(() => this.state !== null && !media.paused && this.send(),
                    SAY_MS);
    }

    set(state) {
        /* The picture moves before all of it is there. */
        if (state === "waiting" && this.state === "seeking")
            return;
        this.state = state;
        this.send();
    }

    send() {
        const media = this.media;
        const words = new URLSearchParams({
            file: this.file.number, id: PAGE, state: this.state,
            at: media.currentTime,
            of: Number.isFinite(media.duration) ? media.duration : 0,
            speed: media.playbackRate});

        fetch("player?" + words, {method: "POST", keepalive: true})
            .catch(() => {}); // the stream of events tells that it has gone
    }
}

/* ---- the whole ---- */

const live = document.getElementById("live");
const files = new Map();

function say(words) {
    setText(live, words);
}

function listen() {
    const events = new EventSource("events");

    events.onopen = () => say("live");
    events.onmessage = (e) => {
        for (const f of JSON.parse(e.data).files)
            if (files.has(f.file))
                files.get(f.file).show(f);
    };
    events.onerror = () => {
        say("xdownload does not answer; trying again");
        if (events.readyState === EventSource.CLOSED)
            setTimeout(listen, RETRY_MS);
    };
}

for (const section of document.querySelectorAll("section[data-file]")) {
    const file = new File(section);

    files.set(file.number, file);
}
listen();

/* play --browser: the browser may want a click first. */
function playNext(after) {
    const media = [...document.querySelectorAll("video, audio")];

    if (location.hash === "#play")
        media[media.indexOf(after) + 1]?.play().catch(() => {});
}
playNext(null);
