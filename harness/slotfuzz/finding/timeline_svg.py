"""Draws an ownership timeline: a row per object, a column per program line, a colour per owner.

The picture is a card with its own background, so that it looks the same on light and dark
pages. It uses attributes only, no style sheet and no script, because GitHub strips them.
"""

import textwrap
import xml.etree.ElementTree as xml

from slotfuzz.finding import svg
from slotfuzz.finding.timeline import HERMETIC_WRAPPER, Owner, Row, Slot, Timeline
from slotfuzz.finding.timeline_legend import (
    BORDER, BROKEN, BROKEN_BAND, FAINT, FILL, GRID, INK, MEANING, NAMES, PAGE,
    SLOT_MEANING, WORDS,
)
from slotfuzz.finding.timeline_rows import (
    CUT, LABEL_CHARS_MAX, about, all_names, chosen, cut, names, plain, runs, strips,
)
from slotfuzz.schema import trace

# Pixels.
TEXT, SMALL = svg.TEXT, 10
MARGIN = 16
ROW_HEIGHT, GROUP_GAP = 34, 8
BAR_HEIGHT, SLOT_HEIGHT = 18, 3
COLUMN_WIDTH_MIN, COLUMN_WIDTH_MAX, COLUMNS_WIDTH = 26, 64, 640
STRIP_HEIGHT = 18
WIDTH_MIN = 620
# Longer texts are shortened; the <title> of the text has the whole.
LINE_CHARS_MAX = 48
LINES_MAX = 4
SLANT = 0.7072  # sine of 45 degrees, the slant of program lines
# The column in which the engine releases the objects of the program.
RESET_LINE, RESET_NUMBER = "drop all, gc.collect()", "end"


def draw(timeline: Timeline, title: str, verdict: str, promise: str = "") -> str:
    """The picture as the text of an SVG file; VERDICT is the line below the rows.

    PROMISE is the contract sentence that is broken, with its number.
    """
    return _Picture(timeline, title, verdict, promise).text()


class _Picture(svg.Canvas):
    """Computes all positions, and then writes the picture."""

    def __init__(self, timeline: Timeline, title: str, verdict: str, promise: str):
        self.timeline, self.promise = timeline, promise
        self.title, self.verdict = plain(title), plain(verdict)
        self.rows, self.left_out = chosen(timeline.rows)
        self.names = names(self.rows)
        count = len(timeline.columns)
        width = max(COLUMN_WIDTH_MIN, min(COLUMN_WIDTH_MAX, COLUMNS_WIDTH // max(count, 1)))
        self.column_width = width
        self.texts = [RESET_LINE if column.text == trace.RESET else plain(column.text)
                      for column in timeline.columns]
        self.numbers = [RESET_NUMBER if column.text == trace.RESET else str(at + 1)
                        for at, column in enumerate(timeline.columns)]
        slanted = [len(cut(text, LINE_CHARS_MAX)) * TEXT * svg.CHAR_WIDTH_MONO * SLANT
                   for text in self.texts]
        self.left = max([MARGIN, *map(self._label_end, self.rows)]) + TEXT
        self.right = self.left + count * width
        ends = [self._middle(at) + length + TEXT for at, length in enumerate(slanted)]
        self.width = max([self.right, WIDTH_MIN, *ends]) + MARGIN
        self.head = MARGIN + TEXT * 2 + TEXT * 1.4 * (len(self._wrapped(self.title, TEXT)) - 1)
        self.top = self.head + max(slanted, default=0) + TEXT * 3.2
        self.strips = strips(timeline)
        self.grid = self.top + STRIP_HEIGHT * len(self.strips) + 4
        self.tops = _tops(self.rows, self.grid)
        self.bottom = (self.tops[-1] if self.tops else self.grid) + ROW_HEIGHT
        super().__init__()

    def text(self) -> str:
        """The SVG file."""
        xml.SubElement(self.svg, "title").text = self.title
        xml.SubElement(self.svg, "desc").text = self._described()
        page = xml.SubElement(self.svg, "rect")
        self._paragraph(MARGIN + TEXT, self.title, weight="bold")
        self._columns()
        for top, row in zip(self.tops, self.rows):
            self._row(top, row)
        height = self._words(self._legend(self._caption()))
        width = max(self.width, *(self._end(text) for text in self.svg.iter("text")))
        size = {"width": svg.number(width), "height": svg.number(height)}
        self.svg.attrib.update(size, viewBox=f"0 0 {size['width']} {size['height']}")
        page.attrib.update(size, x="0", y="0", rx="8", fill=PAGE, stroke=BORDER)
        xml.indent(self.svg)
        return xml.tostring(self.svg, encoding="unicode") + "\n"

    def _described(self) -> str:
        """A description of the picture in words."""
        parts = ["The objects of a program and who owns them, line by line."]
        for row in self.rows:
            owners = [f"from {self._place(at)} {MEANING[owner]}"
                    for owner, at, _ in runs(row.owners) if owner]
            parts.append(f"{self._name(row)}: {', '.join(owners)}.")
        if self.timeline.broken is not None:
            parts.append(f"At {self._place(self.timeline.broken)}: {self.verdict}.")
        return " ".join(parts)

    def _columns(self) -> None:
        """Draws slanted program lines with numbers, and the bands of lanes and hermetic mode."""
        for at, text in enumerate(self.texts):
            left, is_broken = self.left + at * self.column_width, at == self.timeline.broken
            if is_broken:
                self.rect(left, self.top - TEXT * 1.6, self.column_width,
                           self.bottom - self.top + TEXT * 1.6, BROKEN_BAND)
            self.line(left, self.grid - 4, left, self.bottom, GRID)
            colour, faint = (BROKEN, BROKEN) if is_broken else (INK, FAINT)
            middle, foot = self._middle(at), self.top - TEXT * 2
            self.write(middle, foot, cut(text, LINE_CHARS_MAX), colour, mono=True,
                       weight="bold" * is_broken, whole=text,
                       transform=f"rotate(-45 {svg.number(middle)} {svg.number(foot)})")
            self.write(middle, self.top - TEXT * 0.5, self.numbers[at], faint, SMALL,
                       anchor="middle", weight="bold" * is_broken)
        self.line(self.right, self.grid - 4, self.right, self.bottom, GRID)
        for number, (name, marks, fill) in enumerate(self.strips):
            self._strip(self.top + number * STRIP_HEIGHT, name, marks, fill)

    def _strip(self, top: float, name: str, marks: list[str], fill: str) -> None:
        self.write(self.left - 12, top + STRIP_HEIGHT - 6, name, FAINT, SMALL, anchor="end")
        for word, first, length in runs(marks):
            if word:
                left, width = self.left + first * self.column_width, length * self.column_width
                band = self.rect(left + 1, top + 2, width - 2, STRIP_HEIGHT - 4, fill)
                xml.SubElement(band, "title").text = f"{name}: {word}"
                self._inside(left, width, top + STRIP_HEIGHT - 6, [word, word[-1:]], INK)

    def _row(self, top: float, row: Row) -> None:
        """Draws a label, a bar for each run of columns with one owner, the slot, and the mark."""
        first, second = self.names[id(row)], about(row)
        self.write(_indent(row), top + 13, first, weight="bold", whole=all_names(row, self.rows))
        self.write(_indent(row), top + 26, cut(second, LABEL_CHARS_MAX), FAINT, SMALL, mono=True,
                   whole=second)
        for (owner, holders), at, length in runs(zip(row.owners, row.holders)):
            if owner is not None:
                self._bar(top, row, (owner, holders), at, length)
        for slot, at, length in runs(row.slots):
            if slot is not Slot.EMPTY:
                self._slot(top, slot, at, length)
        for at in sorted(row.broken):
            self._mark(top, row, at)

    def _bar(self, top: float, row: Row, owned: tuple, at: int, length: int) -> None:
        """Draws a bar in the owner's colour; OWNED is (owner, variables that hold it in C++)."""
        owner, holders = owned
        left, width = self.left + at * self.column_width, length * self.column_width
        fill, ink = FILL[owner]
        bar = self.rect(left + 2, top + 3, width - 4, BAR_HEIGHT, fill, rx="3")
        if owner is Owner.NOBODY:
            bar.attrib.update({"stroke": FAINT, "stroke-dasharray": "3 3"})
        by_cpp = owner in (Owner.CPP, Owner.BOTH) and holders
        held = f", in C++ through {' '.join(holders)}" if by_cpp else ""
        lines = self._place(at)
        if length > 1:
            lines += f" to {self._place(at + length - 1)}"
        xml.SubElement(bar, "title").text = \
            f"{self._name(row)}, {lines}: {MEANING[owner]}{held}"
        # The mark would hide text in its column.
        free = sum(1 for column in range(at, at + length) if column not in row.broken)
        words = [f"{name}: {' '.join(holders)}" for name in NAMES[owner]] if by_cpp else []
        self._inside(left, free * self.column_width, top + 16, [*words, *NAMES[owner]], ink)

    def _slot(self, top: float, slot: Slot, at: int, length: int) -> None:
        left, width = self.left + at * self.column_width, length * self.column_width
        middle = top + 3 + BAR_HEIGHT + 4
        self._slot_line(left + 2, left + width - 2, middle, slot)

    def _slot_line(self, left: float, right: float, y: float, slot: Slot) -> None:
        line = self.line(left, y, right, y, BROKEN if slot is Slot.DANGLES else INK, SLOT_HEIGHT)
        if slot is Slot.DANGLES:
            line.set("stroke-dasharray", "5 3")
        xml.SubElement(line, "title").text = SLOT_MEANING[slot]

    def _mark(self, top: float, row: Row, at: int) -> None:
        """Draws a ring and a cross on the cell of the failure."""
        left = self.left + at * self.column_width
        group = xml.SubElement(self.svg, "g")
        xml.SubElement(group, "title").text = \
            f"{self._name(row)}, {self._place(at)}: {self.verdict}"
        ring = self.rect(left + 1, top + 2, self.column_width - 2, BAR_HEIGHT + 2, "none",
                         parent=group, rx="4", stroke=BROKEN)
        ring.set("stroke-width", "3")
        x, y = self._middle(at), top + 3 + BAR_HEIGHT / 2
        for colour, thick in ((PAGE, 6), (BROKEN, 3)):
            for rise in (-5, 5):
                self.line(x - 5, y - rise, x + 5, y + rise, colour, thick, parent=group)

    def _caption(self) -> float:
        """Writes the verdict and the number of omitted rows; returns the y below."""
        y = self.bottom + TEXT * 2
        if self.timeline.broken is not None:
            place = self._place(self.timeline.broken)
            y = self._paragraph(y, f"At {place}: {self.verdict}", BROKEN, weight="bold")
        if self.left_out:
            self.write(MARGIN, y, f"{self.left_out} more objects are not drawn.", FAINT)
            y += TEXT * 1.6
        return y

    def _legend(self, y: float) -> float:
        """Explains the colours and lines that occur; returns the y below."""
        drawn = {owner for row in self.rows for owner in row.owners}
        slots = {slot for row in self.rows for slot in row.slots}
        entries = [(one, MEANING[one]) for one in Owner if one in drawn]
        entries += [(one, SLOT_MEANING[one]) for one in SLOT_MEANING if one in slots]
        if any(row.broken for row in self.rows):
            entries.append((None, "here it breaks"))
        x = MARGIN
        for what, words in entries:
            wide = 24 + len(words) * SMALL * svg.CHAR_WIDTH + 14
            if x > MARGIN and x + wide > self.width:
                x, y = MARGIN, y + SMALL * 1.9
            self._swatch(x, y, what)
            self.write(x + 24, y, words, FAINT, SMALL)
            x += wide
        return y + SMALL * 2.2

    def _words(self, y: float) -> float:
        """Explains the words that occur, and the promise; returns the height of the picture."""
        is_hermetic = (any(column.hermetic for column in self.timeline.columns)
                       or any(row.about == HERMETIC_WRAPPER for row in self.rows))
        for word, meaning in WORDS.items():
            if word != HERMETIC_WRAPPER or is_hermetic:
                y = self._paragraph(y, f"{word}: {meaning}", FAINT, SMALL)
        if self.promise:
            y = self._paragraph(y, plain(self.promise), FAINT, SMALL)
        return y - SMALL * 1.4 + MARGIN

    def _wrapped(self, words: str, size: int) -> list[str]:
        """WORDS in lines of the picture's width; at most LINES_MAX, the last one shortened."""
        chars_max = int((self.width - 2 * MARGIN) / (size * svg.CHAR_WIDTH))
        return textwrap.wrap(words, chars_max, max_lines=LINES_MAX, placeholder=CUT) or [""]

    def _paragraph(self, y: float, words: str, fill=INK, size=TEXT, weight="") -> float:
        """Writes WORDS in as many lines as they need; returns the y below."""
        lines = self._wrapped(words, size)
        for line in lines:
            is_cut = line is lines[-1] and line.endswith(CUT)
            self.write(MARGIN, y, line, fill, size, weight=weight, whole=words if is_cut else "")
            y += size * 1.4
        return y

    def _swatch(self, x: float, y: float, what: Owner | Slot | None) -> None:
        if isinstance(what, Slot):
            self._slot_line(x, x + 18, y - 4, what)
            return
        fill = FILL[what][0] if what else "none"
        box = self.rect(x, y - 9, 18, 11, fill, rx="2")
        if what is None:
            box.attrib.update({"stroke": BROKEN, "stroke-width": "2"})
        elif what is Owner.NOBODY:
            box.attrib.update({"stroke": FAINT, "stroke-dasharray": "3 3"})

    def _inside(self, left: float, width: float, y: float, words: list[str], ink: str) -> None:
        """Writes the first of WORDS that fits between LEFT and LEFT + WIDTH, centred."""
        for word in words:
            if len(word) * SMALL * svg.CHAR_WIDTH + 4 <= width:
                self.write(left + width / 2, y, word, ink, SMALL, anchor="middle")
                return

    def _name(self, row: Row) -> str:
        return f"{self.names[id(row)]} ({row.address:#x})"

    def _label_end(self, row: Row) -> float:
        return _indent(row) + max(
            len(self.names[id(row)]) * TEXT * svg.CHAR_WIDTH,
            len(cut(about(row), LABEL_CHARS_MAX)) * SMALL * svg.CHAR_WIDTH_MONO)

    def _place(self, at: int) -> str:
        number = self.numbers[at]
        return "the end" if number == RESET_NUMBER else f"line {number}"

    def _middle(self, at: int) -> float:
        return self.left + (at + 0.5) * self.column_width

    def _end(self, text: xml.Element) -> float:
        """The right end of an upright text that begins at its x, with the margin."""
        if text.get("transform") or text.get("text-anchor"):
            return 0
        return float(text.get("x")) + MARGIN + svg.text_width(text)


def _indent(row: Row) -> float:
    return MARGIN + (0 if row.role == "impl" else TEXT)


def _tops(rows: list[Row], y: float) -> list[float]:
    tops = []
    for row in rows:
        if row.role == "impl" and tops:
            y += GROUP_GAP
        tops.append(y)
        y += ROW_HEIGHT
    return tops
