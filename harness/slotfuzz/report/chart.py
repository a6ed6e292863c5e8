"""Draws the growth of a number over a hunt: an SVG whose colours come from its page's style.

The time axis is logarithmic, because a hunt takes ever longer for each new finding. The axis of a
number that may span decades is logarithmic, too: a value of n is drawn at the logarithm of n + 1.
"""

import math
import xml.etree.ElementTree as xml
from dataclasses import dataclass

from slotfuzz.finding.svg import number

WIDTH, HEIGHT = 360, 190
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 14, 26
# The first sample of a hunt is never earlier.
SECONDS_MIN = 0.05
TIMES = [(0.1, "0.1 s"), (0.3, "0.3 s"), (1, "1 s"), (3, "3 s"), (10, "10 s"), (30, "30 s"),
         (60, "1 min"), (180, "3 min"), (600, "10 min"), (1800, "30 min"), (3600, "1 h"),
         (3 * 3600, "3 h"), (10 * 3600, "10 h"), (30 * 3600, "30 h"), (100 * 3600, "100 h")]


@dataclass(frozen=True)
class Line:
    """One line of a chart: its NAME, the CSS class of its colour, and (seconds, value) POINTS."""

    name: str
    style: str
    points: list[tuple[float, float]]


def chart(title: str, lines: list[Line], is_log: bool) -> str:
    """The chart as SVG. TITLE describes the drawing in words for blind readers."""
    return _Chart(title, lines, is_log).text()


class _Chart:
    def __init__(self, title: str, lines: list[Line], is_log: bool):
        self.lines, self.is_log = lines, is_log
        times = [max(SECONDS_MIN, seconds) for line in lines for seconds, _ in line.points]
        self.first, self.last = min(times), max(max(times), min(times) * 1.01)
        self.highest = max([1, *(value for line in lines for _, value in line.points)])
        self.svg = xml.Element("svg", {
            "viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "chart"})
        xml.SubElement(self.svg, "title").text = title

    def text(self) -> str:
        """The picture as a part of an HTML page."""
        for value in _ticks(self.highest, self.is_log):
            y = self._y(value)
            self._add("line", "grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y)
            self._add("text", "tick end", x=LEFT - 6, y=y + 4).text = _short(value)
        for seconds, words in self._times():
            x = self._x(seconds)
            self._add("line", "grid", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM)
            self._add("text", "tick middle", x=x, y=HEIGHT - BOTTOM + 15).text = words
        for line in self.lines:
            places = [f"{number(self._x(seconds))},{number(self._y(value))}"
                      for seconds, value in line.points]
            self._add("polyline", f"line {line.style}", points=" ".join(_thinned(places)))
            x, y = places[-1].split(",")
            self._add("circle", f"dot {line.style}", cx=float(x), cy=float(y), r=3)
        return xml.tostring(self.svg, encoding="unicode")

    def _add(self, tag: str, style: str, **place) -> xml.Element:
        words = {name: value if isinstance(value, str) else number(value)
                 for name, value in place.items()}
        return xml.SubElement(self.svg, tag, {"class": style, **words})

    def _times(self) -> list[tuple[float, str]]:
        """The marks inside the time axis that are far enough from each other."""
        shown = []
        for seconds, words in TIMES:
            if self.first <= seconds <= self.last:
                x = self._x(seconds)
                is_apart = not shown or x - self._x(shown[-1][0]) > 44
                if is_apart and x < WIDTH - RIGHT - 8:
                    shown.append((seconds, words))
        return shown or [(self.first, f"{self.first:.1f} s")]

    def _x(self, seconds: float) -> float:
        share = math.log(max(seconds, self.first) / self.first) / math.log(self.last / self.first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        share = math.log1p(value) / math.log1p(self.highest) if self.is_log else \
            value / self.highest
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _thinned(places: list[str]) -> list[str]:
    """PLACES without points that equal both neighbours."""
    return [place for at, place in enumerate(places)
            if not (0 < at < len(places) - 1 and places[at - 1] == place == places[at + 1])]


def _ticks(highest: float, is_log: bool) -> list[float]:
    """The values that the axis marks, including 0."""
    if is_log:
        step = max(1, math.ceil(math.log10(highest) / 4)) if highest > 1 else 1
        return [0, *(10 ** power for power in range(0, 19, step) if 10 ** power <= highest)]
    rough = highest / 4
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    step = max(step, 1)
    return [step * times for times in range(int(highest / step) + 1)]


def _short(value: float) -> str:
    """VALUE as a label of the axis, such as 25k."""
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"
