# SPDX-License-Identifier: MIT
"""A terminal, as far as the command needs one.

It knows the few movements that xdownload's display is made of; anything else
that it is sent is a failure of the test.  What it shows is compared, so that
the bytes may change as long as people see the same.

When its size changes it does as one of three families do:

    cut     rows are cut at the new width; where there is no room, those below
            the cursor are dropped before any scrolls away (xterm)
    reflow  lines that are too long go on in the next row, and come together
            again; rows are dropped likewise; what a program clears from the
            first column of the first row on scrolls away (VTE, tmux)
    bottom  the same, but the last rows stay, as far as the cursor allows
"""
import codecs
import re

FAMILIES = "cut", "reflow", "bottom"

ESCAPE = re.compile(r"\x1b\[(\d*)([A-Za-z])")


class Row:
    def __init__(self, text="", goes_on=False):
        self.text = text
        self.goes_on = goes_on  # its line does not end here


class Screen:
    def __init__(self, columns, rows, family="cut"):
        self.columns, self.height, self.family = columns, rows, family
        self.rows = [Row() for _ in range(rows)]
        self.gone = []   # rows that scrolled away at the top
        self.row = self.column = 0
        self.drawings = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._rest = ""

    # ---- what is seen ----

    def shown(self):
        """The rows down to the last that is not blank."""
        return self._texts(self.rows)

    def lines(self):
        """All that can be seen by scrolling back too, as lines."""
        return self._texts(self._joined(self.gone + self.rows)[0])

    @staticmethod
    def _texts(rows):
        texts = [row.text.rstrip() for row in rows]
        while texts and not texts[-1]:
            texts.pop()
        return texts

    # ---- what it is sent ----

    def feed(self, data):
        text = self._rest + self._decoder.decode(data)
        self._rest = ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
                continue
            escape = ESCAPE.match(text, at)
            if not escape:
                assert re.fullmatch(r"\x1b(\[\d*)?", text[at:]), repr(text[at:])
                self._rest = text[at:]
                return
            self._obey(escape[2], escape[1])
            at = escape.end()

    def _put(self, c):
        if c == "\r":
            self.column = 0
        elif c == "\n":
            self._line_feed()
        else:
            assert c.isprintable(), f"a terminal is sent {c!r}"
            if self.column == self.columns:
                self.rows[self.row].goes_on = True
                self.column = 0
                self._line_feed()
            row = self.rows[self.row]
            text = row.text.ljust(self.column)
            row.text = text[:self.column] + c + text[self.column + 1:]
            self.column += 1

    def _line_feed(self):
        if self.row + 1 < self.height:
            self.row += 1
            return
        self.gone.append(self.rows.pop(0))
        self.rows.append(Row())

    def _obey(self, what, number):
        row = self.rows[self.row]
        if what == "A":  # up, at most to the top
            self.row = max(0, self.row - int(number or 1))
        elif what == "K" and number in ("", "0"):  # clear to the end of the row
            row.text, row.goes_on = row.text[:self.column], False
        elif what == "J" and number in ("", "0"):  # and all rows below
            if self.family == "reflow" and (self.row, self.column) == (0, 0):
                self.gone += self.rows[:len(self.shown())]
                row = self.rows[0] = Row()
            row.text, row.goes_on = row.text[:self.column], False
            self.rows[self.row + 1:] = [
                Row() for _ in range(self.height - self.row - 1)]
            self.drawings += 1
        else:
            raise AssertionError(f"a terminal is sent ESC [ {number} {what}")

    # ---- its size ----

    def resize(self, columns, rows):
        if self.family == "cut":
            for row in self.rows:
                row.text = row.text[:columns]
        else:
            self._reflow(columns)
        self.columns, self.height = columns, rows
        too_many = max(0, len(self.rows) - rows)
        below = len(self.rows) - 1 - self.row
        dropped = min(below, too_many)
        if self.family == "bottom":
            dropped = max(0, too_many - self.row)
        self._scroll(too_many - dropped)
        del self.rows[len(self.rows) - dropped:]
        while len(self.rows) < rows:
            if self.family != "cut" and self.gone:
                self._scroll(-1)
            else:
                self.rows.append(Row())

    def _scroll(self, n):
        if n < 0:
            self.rows = self.gone[n:] + self.rows
            del self.gone[n:]
        else:
            self.gone += self.rows[:n]
            del self.rows[:n]
        self.row -= n

    def _joined(self, rows):
        """Rows as lines, and the line that has the cursor's row, if `rows`
        are those that are shown."""
        lines, at = [], 0
        for i, row in enumerate(rows):
            if i == self.row:
                at = len(lines)
            if i > 0 and rows[i - 1].goes_on:
                at = len(lines) - 1 if i == self.row else at
                lines[-1].text += row.text
            else:
                lines.append(Row(row.text))
        return lines, at

    def _reflow(self, columns):
        assert self.column == 0, "the cursor rests at the start of a line"
        lines, at = self._joined(self.rows)
        rows = []
        for i, line in enumerate(lines):
            if i == at:
                self.row = len(rows)
            text = line.text.rstrip()
            parts = [text[j:j + columns]
                     for j in range(0, len(text), columns)] or [""]
            rows += [Row(part, goes_on=True) for part in parts]
            rows[-1].goes_on = False
        self.rows = rows
