"""An SVG canvas: text, boxes and lines, with attributes only.

It uses no style sheet and no script, because GitHub strips them.
"""

import xml.etree.ElementTree as xml

# Pixels. A character's assumed width is this fraction of the font size. The average of usual
# fonts is below it; a static picture cannot measure the reader's font.
CHAR_WIDTH, CHAR_WIDTH_MONO = 0.66, 0.62
TEXT = 12
INK = "#1f2328"


class Canvas:
    """A picture in progress; `svg` is its root element."""

    def __init__(self):
        self.svg = xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})

    def write(self, x, y, words, fill=INK, size=TEXT, mono=False, weight="", anchor="", whole="",
              **more) -> None:
        """Writes WORDS from X on, on the line Y; WHOLE is what they are short for, if they are."""
        text = xml.SubElement(self.svg, "text", {
            "x": number(x), "y": number(y), "fill": fill, "font-size": str(size),
            "font-family": "monospace" if mono else "sans-serif", **more})
        text.text = words
        if weight:
            text.set("font-weight", weight)
        if anchor:
            text.set("text-anchor", anchor)
        if whole not in ("", words):
            xml.SubElement(text, "title").text = whole

    def rect(self, x, y, width, height, fill, parent=None, **more) -> xml.Element:
        """Draws a box with its upper left corner at X, Y."""
        return xml.SubElement(self.svg if parent is None else parent, "rect", {
            "x": number(x), "y": number(y), "width": number(width),
            "height": number(height), "fill": fill, **more})

    def line(self, x1, y1, x2, y2, stroke, thick=1, parent=None) -> xml.Element:
        """Draws a line from X1, Y1 to X2, Y2."""
        return xml.SubElement(self.svg if parent is None else parent, "line", {
            "x1": number(x1), "y1": number(y1), "x2": number(x2), "y2": number(y2),
            "stroke": stroke, "stroke-width": str(thick)})


def text_width(text: xml.Element) -> float:
    """The most that the words of a text element can take, in pixels."""
    wide = CHAR_WIDTH_MONO if text.get("font-family") == "monospace" else CHAR_WIDTH
    return len(text.text) * float(text.get("font-size")) * wide


def number(value: float) -> str:
    """VALUE as an attribute: to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
