"""Draws lives: one row for each object, one column for each program line, colour for the owner.

The picture is a card with a background of its own, so that it looks the same on a light and on a
dark page. It uses attributes only, no style sheet and no script: GitHub strips those.
"""

import itertools
import xml.etree.ElementTree as xml

from slotfuzz import trace
from slotfuzz.lives import Life, Lives, Owner, Slot

# Pixels. A character is taken to be this part of the size of its font wide, which no usual font
# exceeds on an average: nothing here can ask the reader's own.
CHAR_WIDTH, CHAR_WIDTH_MONO = 0.66, 0.62
TEXT, SMALL = 12, 10
MARGIN = 16
ROW_HEIGHT, GROUP_GAP = 34, 8
BAR_HEIGHT, SLOT_HEIGHT = 18, 3
COLUMN_WIDTH_MIN, COLUMN_WIDTH_MAX, COLUMNS_WIDTH = 26, 64, 640
STRIP_HEIGHT = 18
# Longer lines are cut; the log beside the picture has them whole.
LINE_CHARS_MAX = 40
LABEL_CHARS_MAX = 34
SENTENCE_CHARS_MAX = 100
# More rows than anyone reads; those without a mark go first.
ROWS_MAX = 40
SLANT = 0.7072  # sine of the 45 degrees by which program lines are turned
# The column in which the engine drops what the program has left.
RESET_LINE, RESET_NUMBER = "drop all, gc.collect()", "end"

PAGE, BORDER, INK, FAINT, GRID = "#ffffff", "#d0d7de", "#1f2328", "#59636e", "#eaeef2"
BROKEN, BROKEN_BAND = "#cf222e", "#ffebe9"
HERMETIC = "#e6dcf7"
# Blue, orange and green that the colour-blind tell apart (Okabe and Ito), with the ink upon them.
FILL = {Owner.PYTHON: ("#0072b2", PAGE), Owner.CPP: ("#e69f00", INK),
        Owner.BOTH: ("#00795a", PAGE), Owner.NOBODY: ("#f6f8fa", FAINT)}
MEANING = {Owner.PYTHON: "Python alone owns it", Owner.CPP: "C++ alone owns it",
           Owner.BOTH: "both own it", Owner.NOBODY: "freed: nobody owns it"}
# What stands in a bar, of which the first that fits is taken.
NAMES = {**{one: (one.value,) for one in Owner}, Owner.BOTH: ("Python and C++", Owner.BOTH.value)}
SLOT_MEANING = {Slot.HOLDS: "the impl's slot holds the wrapper's address",
                Slot.DANGLES: "the slot holds the address of a freed wrapper"}


def draw(lives: Lives, title: str, verdict: str) -> str:
    """The picture as the text of an SVG file; VERDICT is the line below the rows."""
    return _Picture(lives, title, verdict).text()


class _Picture:
    """Places everything, and then writes it."""

    def __init__(self, lives: Lives, title: str, verdict: str):
        self.lives = lives
        self.title, self.verdict = _plain(title), _plain(verdict)
        self.rows, self.left_out = _chosen(lives.rows)
        count = len(lives.columns)
        width = max(COLUMN_WIDTH_MIN, min(COLUMN_WIDTH_MAX, COLUMNS_WIDTH // max(count, 1)))
        self.column_width = width
        self.texts = [RESET_LINE if column.text == trace.RESET else
                      _cut(_plain(column.text), LINE_CHARS_MAX) for column in lives.columns]
        self.numbers = [RESET_NUMBER if column.text == trace.RESET else str(at + 1)
                        for at, column in enumerate(lives.columns)]
        slanted = [len(text) * TEXT * CHAR_WIDTH_MONO * SLANT for text in self.texts]
        self.left = max([MARGIN, *map(self._label_end, self.rows)]) + TEXT
        self.right = self.left + count * width
        self.head = MARGIN + TEXT * 2
        self.top = self.head + max(slanted, default=0) + TEXT * 3.2
        self.strips = _strips(lives)
        self.grid = self.top + STRIP_HEIGHT * len(self.strips) + 4
        self.tops = _tops(self.rows, self.grid)
        self.bottom = (self.tops[-1] if self.tops else self.grid) + ROW_HEIGHT
        ends = [self._middle(at) + length + TEXT for at, length in enumerate(slanted)]
        self.width = max([self.right, *ends]) + MARGIN
        self.svg = xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})

    def text(self) -> str:
        """The file."""
        xml.SubElement(self.svg, "title").text = self.title
        xml.SubElement(self.svg, "desc").text = self._told()
        page = xml.SubElement(self.svg, "rect")
        self._write(MARGIN, MARGIN + TEXT, self.title, weight="bold")
        self._columns()
        for top, row in zip(self.tops, self.rows):
            self._row(top, row)
        height = self._legend(self._caption())
        width = max(self.width, *(self._end(text) for text in self.svg.iter("text")))
        size = {"width": _number(width), "height": _number(height)}
        self.svg.attrib.update(size, viewBox=f"0 0 {size['width']} {size['height']}")
        page.attrib.update(size, x="0", y="0", rx="8", fill=PAGE, stroke=BORDER)
        xml.indent(self.svg)
        return xml.tostring(self.svg, encoding="unicode") + "\n"

    def _told(self) -> str:
        """The picture in words."""
        parts = ["The objects of a program and who owns them, line by line."]
        for row in self.rows:
            told = [f"from {self._place(at)} {MEANING[owner]}"
                    for owner, at, _ in _runs(row.owners) if owner]
            parts.append(f"{_name(row)}: {', '.join(told)}.")
        if self.lives.broken is not None:
            parts.append(f"At {self._place(self.lives.broken)}: {self.verdict}.")
        return " ".join(parts)

    def _columns(self) -> None:
        """Program lines, slanted, with their numbers; bands of lanes and of hermetic mode."""
        for at, text in enumerate(self.texts):
            left, is_broken = self.left + at * self.column_width, at == self.lives.broken
            if is_broken:
                self._rect(left, self.top - TEXT * 1.6, self.column_width,
                           self.bottom - self.top + TEXT * 1.6, BROKEN_BAND)
            self._line(left, self.grid - 4, left, self.bottom, GRID)
            colour, faint = (BROKEN, BROKEN) if is_broken else (INK, FAINT)
            middle, foot = self._middle(at), self.top - TEXT * 2
            self._write(middle, foot, text, colour, mono=True, weight="bold" * is_broken,
                        transform=f"rotate(-45 {_number(middle)} {_number(foot)})")
            self._write(middle, self.top - TEXT * 0.5, self.numbers[at], faint, SMALL,
                        anchor="middle", weight="bold" * is_broken)
        self._line(self.right, self.grid - 4, self.right, self.bottom, GRID)
        for number, (name, marks, fill) in enumerate(self.strips):
            self._strip(self.top + number * STRIP_HEIGHT, name, marks, fill)

    def _strip(self, top: float, name: str, marks: list[str], fill: str) -> None:
        self._write(self.left - 12, top + STRIP_HEIGHT - 6, name, FAINT, SMALL, anchor="end")
        for word, first, length in _runs(marks):
            if word:
                left, width = self.left + first * self.column_width, length * self.column_width
                self._rect(left + 1, top + 2, width - 2, STRIP_HEIGHT - 4, fill)
                self._inside(left, width, top + STRIP_HEIGHT - 6, [word, word[:1]], INK)

    def _row(self, top: float, row: Life) -> None:
        """A label, a bar for each run of columns with one owner, the slot below, and the mark."""
        first, second = self._label(row)
        self._write(_indent(row), top + 13, first, weight="bold")
        self._write(_indent(row), top + 26, second, FAINT, SMALL, mono=True)
        for (owner, holders), at, length in _runs(zip(row.owners, row.holders)):
            if owner is not None:
                self._bar(top, row, (owner, holders), at, length)
        for slot, at, length in _runs(row.slots):
            if slot is not Slot.EMPTY:
                self._slot(top, slot, at, length)
        for at in sorted(row.broken):
            self._mark(top, row, at)

    def _bar(self, top: float, row: Life, owned: tuple, at: int, length: int) -> None:
        """A bar in the colour of the owner; OWNED is (owner, variables that hold it in C++)."""
        owner, holders = owned
        left, width = self.left + at * self.column_width, length * self.column_width
        fill, ink = FILL[owner]
        bar = self._rect(left + 2, top + 3, width - 4, BAR_HEIGHT, fill, rx="3")
        if owner is Owner.NOBODY:
            bar.attrib.update({"stroke": FAINT, "stroke-dasharray": "3 3"})
        by_cpp = owner in (Owner.CPP, Owner.BOTH) and holders
        held = f", in C++ through {' '.join(holders)}" if by_cpp else ""
        lines = self._place(at)
        if length > 1:
            lines += f" to {self._place(at + length - 1)}"
        xml.SubElement(bar, "title").text = f"{_name(row)}, {lines}: {MEANING[owner]}{held}"
        # Not in the column of the mark, which would hide it.
        free = sum(1 for column in range(at, at + length) if column not in row.broken)
        words = [f"{name}: {' '.join(holders)}" for name in NAMES[owner]] if by_cpp else []
        self._inside(left, free * self.column_width, top + 16, [*words, *NAMES[owner]], ink)

    def _slot(self, top: float, slot: Slot, at: int, length: int) -> None:
        left, width = self.left + at * self.column_width, length * self.column_width
        middle = top + 3 + BAR_HEIGHT + 4
        self._slot_line(left + 2, left + width - 2, middle, slot)

    def _slot_line(self, left: float, right: float, y: float, slot: Slot) -> None:
        line = self._line(left, y, right, y, BROKEN if slot is Slot.DANGLES else INK, SLOT_HEIGHT)
        if slot is Slot.DANGLES:
            line.set("stroke-dasharray", "5 3")
        xml.SubElement(line, "title").text = SLOT_MEANING[slot]

    def _mark(self, top: float, row: Life, at: int) -> None:
        """A ring and a cross on the cell where it breaks."""
        left = self.left + at * self.column_width
        group = xml.SubElement(self.svg, "g")
        xml.SubElement(group, "title").text = f"{_name(row)}, {self._place(at)}: {self.verdict}"
        ring = self._rect(left + 1, top + 2, self.column_width - 2, BAR_HEIGHT + 2, "none",
                          parent=group, rx="4", stroke=BROKEN)
        ring.set("stroke-width", "3")
        x, y = self._middle(at), top + 3 + BAR_HEIGHT / 2
        for colour, thick in ((PAGE, 6), (BROKEN, 3)):
            for rise in (-5, 5):
                self._line(x - 5, y - rise, x + 5, y + rise, colour, thick, parent=group)

    def _caption(self) -> float:
        """The verdict and what is not drawn; gives the place below."""
        y = self.bottom + TEXT * 2
        if self.lives.broken is not None:
            self._write(MARGIN, y, f"At {self._place(self.lives.broken)}: {self.verdict}", BROKEN,
                        weight="bold")
            y += TEXT * 1.6
        if self.left_out:
            self._write(MARGIN, y, f"{self.left_out} more objects are not drawn.", FAINT)
            y += TEXT * 1.6
        return y

    def _legend(self, y: float) -> float:
        """What the colours and lines that occur mean; gives the height of the picture."""
        drawn = {owner for row in self.rows for owner in row.owners}
        slots = {slot for row in self.rows for slot in row.slots}
        entries = [(one, MEANING[one]) for one in Owner if one in drawn]
        entries += [(one, SLOT_MEANING[one]) for one in SLOT_MEANING if one in slots]
        if any(row.broken for row in self.rows):
            entries.append((None, "here it breaks"))
        x = MARGIN
        for what, words in entries:
            wide = 24 + len(words) * SMALL * CHAR_WIDTH + 14
            if x > MARGIN and x + wide > self.width:
                x, y = MARGIN, y + SMALL * 1.9
            self._swatch(x, y, what)
            self._write(x + 24, y, words, FAINT, SMALL)
            x += wide
        return y + MARGIN

    def _swatch(self, x: float, y: float, what: Owner | Slot | None) -> None:
        if isinstance(what, Slot):
            self._slot_line(x, x + 18, y - 4, what)
            return
        fill = FILL[what][0] if what else "none"
        box = self._rect(x, y - 9, 18, 11, fill, rx="2")
        if what is None:
            box.attrib.update({"stroke": BROKEN, "stroke-width": "2"})
        elif what is Owner.NOBODY:
            box.attrib.update({"stroke": FAINT, "stroke-dasharray": "3 3"})

    def _inside(self, left: float, width: float, y: float, words: list[str], ink: str) -> None:
        """The first of WORDS that fits between LEFT and LEFT + WIDTH, in the middle."""
        for word in words:
            if len(word) * SMALL * CHAR_WIDTH + 4 <= width:
                self._write(left + width / 2, y, word, ink, SMALL, anchor="middle")
                return

    def _label(self, row: Life) -> tuple[str, str]:
        """Two lines: what it is with the variables, and its address with its type or size."""
        own = [one for one in self.rows if one.family == row.family and one.role == "wrapper"]
        names = dict.fromkeys(name for one in own for name in one.names)
        words = [row.role, *row.names] if row.role == "wrapper" else \
            [row.role, *(["of", *names] if names else [])]
        second = f"{row.address:#x}" + (f" {row.about}" if row.about else "")
        return _cut(" ".join(words), LABEL_CHARS_MAX), _cut(second, LABEL_CHARS_MAX)

    def _label_end(self, row: Life) -> float:
        first, second = self._label(row)
        return _indent(row) + max(len(first) * TEXT * CHAR_WIDTH,
                                  len(second) * SMALL * CHAR_WIDTH_MONO)

    def _place(self, at: int) -> str:
        number = self.numbers[at]
        return "the end" if number == RESET_NUMBER else f"line {number}"

    def _middle(self, at: int) -> float:
        return self.left + (at + 0.5) * self.column_width

    def _end(self, text: xml.Element) -> float:
        """Where an upright text that begins at its x ends, with the margin."""
        if text.get("transform") or text.get("text-anchor"):
            return 0
        return float(text.get("x")) + MARGIN + text_width(text)

    def _write(self, x, y, words, fill=INK, size=TEXT, mono=False, weight="", anchor="", **more):
        text = xml.SubElement(self.svg, "text", {
            "x": _number(x), "y": _number(y), "fill": fill, "font-size": str(size),
            "font-family": "monospace" if mono else "sans-serif", **more})
        text.text = words
        if weight:
            text.set("font-weight", weight)
        if anchor:
            text.set("text-anchor", anchor)

    def _rect(self, x, y, width, height, fill, parent=None, **more) -> xml.Element:
        return xml.SubElement(self.svg if parent is None else parent, "rect", {
            "x": _number(x), "y": _number(y), "width": _number(width),
            "height": _number(height), "fill": fill, **more})

    def _line(self, x1, y1, x2, y2, stroke, thick=1, parent=None) -> xml.Element:
        return xml.SubElement(self.svg if parent is None else parent, "line", {
            "x1": _number(x1), "y1": _number(y1), "x2": _number(x2), "y2": _number(y2),
            "stroke": stroke, "stroke-width": str(thick)})


def text_width(text: xml.Element) -> float:
    """The most that the words of a text element can take, in pixels."""
    wide = CHAR_WIDTH_MONO if text.get("font-family") == "monospace" else CHAR_WIDTH
    return len(text.text) * float(text.get("font-size")) * wide


def _chosen(rows: tuple[Life, ...]) -> tuple[list[Life], int]:
    """At most ROWS_MAX rows, first those of impls with a mark in the family, and how many lack."""
    marked = {row.family for row in rows if row.broken}
    ranked = sorted(range(len(rows)), key=lambda at: rows[at].family not in marked)[:ROWS_MAX]
    return [rows[at] for at in sorted(ranked)], len(rows) - len(ranked)


def _indent(row: Life) -> float:
    return MARGIN + (TEXT if row.role == "wrapper" else 0)


def _tops(rows: list[Life], y: float) -> list[float]:
    tops = []
    for row in rows:
        if row.role == "impl" and tops:
            y += GROUP_GAP
        tops.append(y)
        y += ROW_HEIGHT
    return tops


def _strips(lives: Lives) -> list[tuple[str, list[str], str]]:
    """(name, word for each column, colour) of the bands above the grid; none that is not needed."""
    lanes = [f"lane {column.lane}" if column.lane else "main" for column in lives.columns]
    modes = ["on" * column.hermetic for column in lives.columns]
    strips = []
    if any(column.lane for column in lives.columns):
        strips.append(("thread", lanes, GRID))
    if any(modes):
        strips.append(("hermetic", modes, HERMETIC))
    return strips


def _name(row: Life) -> str:
    return f"{row.role} {row.address:#x}"


def _runs(values) -> list[tuple[object, int, int]]:
    """(value, first index, length) of each run of equal values."""
    runs = []
    for value, group in itertools.groupby(values):
        runs.append((value, sum(length for *_, length in runs), len(list(group))))
    return runs


def _plain(text: str) -> str:
    """The first line of TEXT without what XML cannot hold, and no longer than fits in a line."""
    first = (text.splitlines() or [""])[0]
    return _cut("".join(one if one.isprintable() else "?" for one in first), SENTENCE_CHARS_MAX)


def _cut(text: str, chars_max: int) -> str:
    return text if len(text) <= chars_max else text[:chars_max - 2] + ".."


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
