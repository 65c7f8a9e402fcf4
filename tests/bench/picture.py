# SPDX-License-Identifier: MIT
"""Draws the results as SVG: a row per scenario, a mark per tool."""
import math
from xml.sax.saxutils import escape

ROW, LEFT, WIDTH, TOP, BOTTOM = 26, 120, 560, 64, 34
MOST = 16  # times the limit; what took longer stands at the edge
TICKS = (1, 1.5, 2, 3, 4, 6, 8, 12, 16)
# Colours that can be told apart by all eyes (Okabe and Ito), and shapes.
STYLES = [("#0072b2", "circle"), ("#56b4e9", "circle"), ("#009e73", "circle"),
          ("#d55e00", "square"), ("#cc79a7", "square"), ("#e69f00", "diamond"),
          ("#000000", "cross"), ("#999999", "cross")]


def _x(ratio):
    share = math.log(min(max(ratio, 0.95), MOST) / 0.95) / math.log(MOST / 0.95)
    return LEFT + share * WIDTH


def _mark(style, x, y):
    colour, shape = style
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y}" r="5.5" fill="{colour}"/>'
    if shape == "square":
        return (f'<rect x="{x - 4.5:.1f}" y="{y - 4.5}" width="9" height="9" '
                f'fill="{colour}"/>')
    if shape == "diamond":
        points = (f"{x:.1f},{y - 6} {x + 6:.1f},{y} {x:.1f},{y + 6} "
                  f"{x - 6:.1f},{y}")
        return f'<polygon points="{points}" fill="{colour}"/>'
    return (f'<path d="M{x - 4:.1f} {y - 4}l8 8m0-8l-8 8" stroke="{colour}" '
            'stroke-width="2.5"/>')


def _text(x, y, text, anchor="start", more=""):
    return (f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}"{more}>'
            f"{escape(text)}</text>")


def ratios(results, tools, title):
    """results: as bench.py's measure() returns them.  Tools that failed have
    no mark."""
    height = TOP + ROW * len(results) + BOTTOM
    bottom = height - BOTTOM
    styles = dict(zip(tools, STYLES * len(tools)))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 40}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(16, 22, title, more=' font-size="14" font-weight="bold"')]
    at = 22
    for tool in tools:
        parts += [_mark(styles[tool], at, 42), _text(at + 10, 46, tool)]
        at += 24 + 7.2 * len(tool)
    for tick in TICKS:
        parts += [f'<path d="M{_x(tick):.1f} {TOP}V{bottom}" stroke="#ddd"/>',
                  _text(_x(tick), bottom + 16, f"{tick:g}", "middle")]
    for i, r in enumerate(results):
        y = TOP + ROW * i + ROW // 2
        parts += [f'<path d="M{LEFT} {y}H{LEFT + WIDTH}" stroke="#eee"/>',
                  _text(LEFT - 8, y + 4, r["scenario"], "end")]
        # The first tool's mark is drawn last, above the others.
        for tool in reversed(tools):
            s = r["tools"][tool]
            if s["result"] == "right":
                parts.append(_mark(styles[tool], _x(s["ratio"]), y))
    return "\n".join(parts + ["</svg>", ""])
