# SPDX-License-Identifier: MIT
"""Draws the figures of `xdownload bench --plot DIR RESULTS...` with gnuplot.

    python3 -I bench-plot.py [-q] DIR RESULTS...

The rows of all files are put together and split into subjects: what was measured, with
the same other options.  A figure has a panel for each algorithm, and a panel has a line
for each block size and number of threads: the mean and the standard deviation for each
number of depots.  The text of results may be hostile: only what plain() returns reaches
gnuplot's script or a file name.
"""
import argparse
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
from itertools import groupby

FORMAT = "1"
SUBJECT = ["kind", "input", "input_sha256", "options"]
PANEL = SUBJECT + ["algorithm", "redundancy", "progress_number", "whole_blocks"]
# A row is of the same run as another if it has the same values here.
KEY = PANEL + ["block_bytes", "threads", "n_depots", "depots", "reader_bytes_per_s",
               "repetition", "seed", "prebuffer_s", "rate1_bytes_per_s",
               "rate2_bytes_per_s", "rate3_bytes_per_s"]
COLUMNS = KEY + ["bytes_per_s", "delay1_s", "delay2_s", "delay3_s", "outcome"]
TEXTS = {"kind", "input", "input_sha256", "options", "algorithm", "progress_number",
         "depots"}

# The paper counts so.
MBIT = MIB = 1048576
DELAY_SHIFT_S = 0.1

LINES_MAX, PANELS_MAX, DEPOTS_MAX = 24, 8, 64

# Pixels.
WIDTH, TITLE, PANEL_HEIGHT, PANEL_TITLE, PANEL_LABELS, LEGEND = 900, 40, 320, 40, 60, 110
LEGEND_ROWS = 6


def say(text):
    print("xdownload:", text, file=sys.stderr)


def fail(text):
    say(text)
    sys.exit(5)


def plain(text, most=79):
    """Letters, digits and a few signs that mean nothing to gnuplot or a file system."""
    return re.sub(r"[^A-Za-z0-9 .=+-]", "_", text)[:most]


def number(row, column):
    """NaN if there is none."""
    try:
        return float(row[column])
    except ValueError:
        return math.nan


# ---- results ----

def read(path):
    """The rows of a file, as CSV or as JSON, in which each cell is a text."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            *lines, torn = file.read().split("\n")
    except OSError as e:
        fail(f"{path} cannot be read: {e.strerror}")
    if torn:
        say(f"warning: {path}: line {len(lines) + 1}, the last, is incomplete and does "
            "not count")
    try:
        if lines and lines[0].startswith("{"):
            rows = [{k: "" if v is None else v for k, v in json.loads(
                line, parse_int=str, parse_float=str).items()} for line in lines]
        else:
            rows = list(csv.DictReader(lines, strict=True))
            if lines and not set(COLUMNS) <= set(lines[0].split(",")):
                raise ValueError
        if not all(row.get("format") == FORMAT and set(COLUMNS) <= set(row) and
                   all(isinstance(v, str) for v in row.values()) for row in rows):
            raise ValueError
    except (ValueError, AttributeError, csv.Error, RecursionError):
        fail(f"{path} holds no results of this version of xdownload bench (format "
             f"{FORMAT}): use the version that wrote it, or another file")
    return rows


def key(row):
    """Sorts numbers as numbers."""
    return [(row[c],) if c in TEXTS else (not math.isnan(number(row, c)), number(row, c))
            for c in KEY]


def same(columns):
    return lambda row: [row[c] for c in columns]


def merge(paths):
    """All rows, each run once, in the order of their settings."""
    rows = sorted((row for path in paths for row in read(path)), key=key)
    if not rows:
        fail(f"{paths[0]} holds no results")
    once = [next(group) for _, group in groupby(rows, same(KEY))]
    if len(once) < len(rows):
        say(f"warning: {len(rows) - len(once)} rows are of runs that other rows are of, "
            "and do not count")
    return once


# ---- figures ----

class Figure:
    """Panels beside each other, [(title, rows)], and a legend for all of them."""

    def __init__(self, name, title, panels, column, y_title):
        self.name, self.title = f"{name}"[:79], title
        self.panels = [p for p in panels if p][:PANELS_MAX]
        self.column, self.y_title = column, y_title
        self.is_delay = column.startswith("delay")

    def has_values(self):
        return any(math.isfinite(number(row, self.column))
                   for _, rows in self.panels for row in rows)

    def lines(self):
        """(threads, bytes of a block) of each line."""
        return sorted({line_of(row) for _, rows in self.panels
                       for row in rows})[:LINES_MAX]

    def points(self, rows):
        """{line: [(depots, mean, mean less deviation, mean and deviation)]}, as drawn."""
        scale, shift = (1, DELAY_SHIFT_S) if self.is_delay else (8 / MBIT, 0)
        values, points = {}, {}
        for row in rows:
            n, value = number(row, "n_depots"), number(row, self.column)
            if row["outcome"] == "complete" and math.isfinite(value) and 1 <= n <= DEPOTS_MAX:
                values.setdefault((line_of(row), n), []).append(value)
        for (line, n), own in sorted(values.items()):
            y = statistics.fmean(own) * scale + shift
            spread = statistics.stdev(own) * scale if len(own) > 1 else 0
            points.setdefault(line, []).append((n, y, max(y - spread, shift), y + spread))
        return points

    def script(self):
        """gnuplot's, which draws it as SVG and as PNG."""
        lines = self.lines()
        height = TITLE + (len(self.panels) + 1) // 2 * PANEL_HEIGHT + LEGEND
        out, top = ["reset session", "set encoding utf8"], 0
        for i, (_, rows) in enumerate(self.panels):
            points_of = self.points(rows)
            for k, line in enumerate(lines):
                points = points_of.get(line, [])
                top = max([top] + [p[3] for p in points])
                # A block must not be empty.
                out += [f"$data{i}_{k} << END",
                        *("%.6g %.6g %.6g %.6g" % p for p in points),
                        "NaN NaN NaN NaN", "END"]
        styles, drawing = list(self.styles(lines)), self.drawing(lines, top, height)
        return "\n".join([
            *out, *styles,
            f"set terminal svg size {WIDTH},{height} font 'Helvetica,14' noenhanced "
            "background 'white'",
            f"set output '{self.name}.svg'", *drawing, "reset",
            "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) { set terminal pngcairo size "
            f"{WIDTH},{height} font 'Helvetica,11' noenhanced }} else {{ set terminal "
            f"png size {WIDTH},{height} noenhanced }}",
            *styles, f"set output '{self.name}.png'", *drawing, ""])

    @staticmethod
    def styles(lines):
        """Block sizes differ in their marks and shades; threads in their dashes: the
        first number of threads has dotted lines and open shapes, the second whole lines
        and filled ones."""
        shades = ["#c04000", "#0060a0", "#007a5a", "#a03c78", "#000000", "#b07800"]
        marks = [1, 2, 4, 8, 6, 12]  # + x and open shapes; a filled one is the next
        i = 0
        for n, (_, group) in enumerate(groupby(lines, lambda line: line[0]), 1):
            dash = {1: 3, 2: 1}.get(n, n)
            for block, _ in enumerate(group):
                i += 1
                mark = marks[block % 6] + (n == 2 and block >= 2)
                yield (f"set style line {i} lc rgb '{shades[block % 6]}' lw 1.6 dt "
                       f"{dash} pt {mark} ps 1.1")

    def drawing(self, lines, top, height):
        most = max([1] + [n for _, rows in self.panels for row in rows
                          for n in [number(row, "n_depots")] if n <= DEPOTS_MAX])
        out = ["set multiplot",
               f"set label 100 '{self.title}' at screen 0.5, screen "
               f"{1 - TITLE / 2 / height:.4f} center",
               f"set xrange [0.7:{most + 0.3:g}]; set xtics {4 if most > 12 else 1}",
               "set xlabel 'depots that hold the file' offset 0,0.4",
               f"set ylabel '{self.y_title}' offset 0.5,0",
               "set grid ytics lc rgb '#cccccc' lt 1 lw 0.5",
               "set border 3; set tics nomirror; set bars 0.6"]
        if self.is_delay:
            out.append("set logscale y; set yrange "
                       f"[0.08:{top * 1.3 if top > 1 else 1:.6g}]")
        else:
            out.append(f"set yrange [0:{top * 1.05:.6g}]")
        columns = 2 if len(self.panels) > 1 else 1
        for i, (title, _) in enumerate(self.panels):
            left = i % columns / columns
            above = 1 - (TITLE + i // columns * PANEL_HEIGHT) / height
            out += [f"set lmargin at screen {left + 0.085:.4f}; set rmargin at screen "
                    f"{left + 1 / columns - 0.02:.4f}",
                    f"set tmargin at screen {above - PANEL_TITLE / height:.4f}; set "
                    "bmargin at screen "
                    f"{above - (PANEL_HEIGHT - PANEL_LABELS) / height:.4f}",
                    f"set title '{title}'",
                    "plot " + ", ".join(
                        f"$data{i}_{k} using 1:2:3:4 with yerrorlines ls {k + 1} notitle"
                        for k in range(len(lines))),
                    "unset label 100"]
        rows = min(sum(line[0] == lines[0][0] for line in lines), LEGEND_ROWS)
        return out + [
            "unset border; unset tics; unset grid; unset title; unset xlabel; unset "
            "ylabel; unset logscale",
            "set lmargin at screen 0.02; set rmargin at screen 0.98",
            f"set bmargin at screen 0.01; set tmargin at screen {LEGEND / height:.4f}",
            f"set key center center maxrows {rows} samplen 3 width 1",
            "plot [0:1] [0:1] " + ", ".join(
                f"NaN with linespoints ls {k + 1} title '{name_of(*line)}'"
                for k, line in enumerate(lines)),
            "unset multiplot", "set output"]


def line_of(row):
    threads, block = number(row, "threads"), number(row, "block_bytes")
    return (threads if threads > 0 else 0, block if block > 0 else 0)


def name_of(threads, block):
    requests = f"{threads:g} thread{'' if threads == 1 else 's'}" if threads else "auto"
    return requests + (f", {block / 1024:.4g} KiB" if block < MIB
                       else f", {block / MIB:.4g} MiB")


def panels_of(rows):
    """[(title, rows)] for each algorithm, R, P and kind of blocks."""
    for _, group in groupby(rows, same(PANEL)):
        group = list(group)
        first = group[0]
        title = first["algorithm"][:20]
        for sign, column in (("R", "redundancy"), ("P", "progress_number")):
            title += f"  {sign} = {first[column][:20]}" if first[column] else ""
        yield plain(title), group


def figures_of(rows, name):
    """The paper's figures of one subject."""
    panels = list(panels_of(rows))

    def first(algorithm):
        return next((p for p in panels if p[1][0]["algorithm"] == algorithm), None)

    def varied(algorithm, other):
        """All panels of an algorithm that have its first value of the other column."""
        own = [p for p in panels if p[1][0]["algorithm"] == algorithm]
        return [p for p in own if p[1][0][other] == own[0][1][0][other]]

    def figure(what, title, chosen, column="bytes_per_s", y="bandwidth in Mbit/s"):
        return Figure(f"{name[:38]}-{what[:39]}", f"{name[:40]}: {title[:79]}", chosen,
                      column, y)

    # The paper's algorithms in its order, and ours.
    usual = [first(a) for a in ("basic", "aggressive", "progress", "adaptive")]
    yield figure("bandwidth", "download bandwidth", usual)
    for algorithm, what, title, other in (
            ("aggressive", "redundancy", "the effect of R", "progress_number"),
            ("progress", "progress-number", "the effect of P", "redundancy")):
        chosen = varied(algorithm, other)
        if len(chosen) > 1:
            yield figure(what, title, chosen)
    for i in "123":
        rates = {number(row, f"rate{i}_bytes_per_s") for row in rows}
        if len(rates) == 1 and not any(map(math.isnan, rates)):
            mbit = f"{rates.pop() * 8 / MBIT:.4g}"
            begin = f"{number(rows[0], 'prebuffer_s'):.4g}"
            yield figure(
                f"delay-{mbit}mbit",
                f"delay of a player at {mbit} Mbit/s, which begins after {begin} s",
                usual, f"delay{i}_s", "delay + 0.1 s, in seconds")


def draw(rows):
    """The figures of all subjects; a further subject has its number in its name."""
    found = []
    for i, (_, group) in enumerate(groupby(rows, same(SUBJECT)), 1):
        group = list(group)
        name = re.sub(r"^[.-]|^$", "_", plain(group[0]["input"].rpartition("/")[2], 40))
        name = name if i == 1 else f"{i}-{name}"
        bulk = [row for row in group if not row["reader_bytes_per_s"]]
        found += [f for f in figures_of(bulk, name) if f.panels and f.has_values()]
    return found


def main():
    parser = argparse.ArgumentParser(description="draw the results of xdownload bench")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("results", metavar="RESULTS", nargs="+")
    args = parser.parse_args()
    figures = draw(merge(args.results))
    try:
        if not os.path.isdir(args.folder):
            os.mkdir(args.folder)
        result = subprocess.run(["gnuplot", "-d", "-"], cwd=args.folder, check=False,
                                input="".join(f.script() for f in figures), text=True)
    except OSError as e:
        if e.filename == "gnuplot":
            fail("gnuplot is needed to draw figures, and is not installed")
        fail(f"no figure can be written to {args.folder}: {e.strerror}")
    if result.returncode:
        fail(f"gnuplot ended with status {result.returncode}")
    if not args.quiet:
        say(f"{len(figures)} figure{'' if len(figures) == 1 else 's'} in {args.folder}, "
            "each as SVG and PNG")


if __name__ == "__main__":
    main()
