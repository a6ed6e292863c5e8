"""NOTES.md and timeline.svg as parts of a page, without scripts and references to other files.

The notes are Markdown, without HTML, links or pictures. The folded parts by explain.py become
folded parts of the page.
"""

import re
import xml.etree.ElementTree as xml

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markupsafe import Markup, escape

FOLDED = re.compile(r"^<details><summary>(.*?)</summary>\n\n(.*?)\n\n</details>$",
                    re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[[^]]*\]\([^)]*\)\n*", re.MULTILINE)
TITLE = re.compile(r"\A# .*\n*")
SVG = "http://www.w3.org/2000/svg"
# The elements that timeline_svg.py uses. A picture with other ones is rejected as unsafe.
ELEMENTS = {"svg", "title", "desc", "rect", "line", "text", "g"}
ATTRIBUTES = {"role", "width", "height", "viewBox", "x", "y", "x1", "x2", "y1", "y2", "rx", "fill",
              "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family",
              "font-weight", "text-anchor", "transform"}


def notes(text: str) -> Markup:
    """NOTES.md without its title and its picture, which the page shows in other places."""
    text = PICTURE.sub("", TITLE.sub("", text))
    parts, end = [], 0
    for fold in FOLDED.finditer(text):
        parts += [_rendered(text[end:fold.start()]),
                  Markup("<details class=fold><summary>{}</summary>{}</details>").format(
                      fold[1], _rendered(fold[2]))]
        end = fold.end()
    return Markup("").join([*parts, _rendered(text[end:])])


def timeline(text: str) -> Markup:
    """timeline.svg as a part of a page; ValueError if it is not a picture by timeline_svg.py."""
    try:
        root = xml.fromstring(text)
    except xml.ParseError as error:
        raise ValueError(f"timeline.svg is no XML: {error}") from error
    for element in root.iter():
        name = element.tag.removeprefix(f"{{{SVG}}}")
        wrong = [name] if name not in ELEMENTS else [
            f"{word}={value!r}" for word, value in element.attrib.items()
            if word not in ATTRIBUTES or "url" in value]
        if wrong or name == element.tag:
            raise ValueError(f"timeline.svg has {(wrong or [name])[0]}, which no timeline has")
    if root.tag != f"{{{SVG}}}svg":
        raise ValueError("timeline.svg is no picture")
    xml.register_namespace("", SVG)
    return Markup(xml.tostring(root, encoding="unicode"))


def _rendered(text: str) -> Markup:
    reader = MarkdownIt("commonmark", {"html": False}).disable(
        ["link", "image", "autolink", "heading", "lheading", "reference", "html_block"])
    reader.add_render_rule("fence", _code)
    reader.add_render_rule("code_block", _code)
    return Markup(reader.render(text))


def _code(renderer, tokens, index, options, env) -> str:
    # The keyboard can scroll it only if it can take the focus.
    return f'<pre tabindex="0">{escapeHtml(tokens[index].content)}</pre>\n'


def inline(text: str) -> Markup:
    """A person's sentence, with `code` in it."""
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part)
        for at, part in enumerate(text.split("`")))
