"""The picture of lives: nothing overlaps, each object has its row, the fatal cell is marked."""

import itertools
import math
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from slotfuzz import lives_svg, trace
from slotfuzz.lives import Column, Life, Lives, Owner, Slot

SVG = "{http://www.w3.org/2000/svg}"


def big(columns_count=60, objects=12, line="s0 = t0.untyped_storage().resize_(16)"):
    """Lives of OBJECTS objects in a long program, with every colour, lane and mode."""
    columns = [Column(line, at // 7 % 3, at % 9 > 6) for at in range(columns_count - 1)]
    columns.append(Column(trace.RESET, 0, False))
    phases = [None, Owner.CPP, Owner.BOTH, Owner.PYTHON, Owner.NOBODY]
    rows = []
    for number in range(objects):
        owners = tuple(phases[min(4, (at + 3 * number) * 5 // columns_count)]
                       for at in range(columns_count))
        slots = tuple(Slot.DANGLES if owner is Owner.NOBODY else Slot.HOLDS if owner else Slot.EMPTY
                      for owner in owners)
        is_wrapper = number % 2 == 1
        rows.append(Life(
            "wrapper" if is_wrapper else "impl", 0x507000076710 + number * 64, number // 2,
            "UntypedStorage" if is_wrapper else "storage, 4096 bytes",
            tuple(f"s{at}" for at in range(9)) if is_wrapper else (), owners,
            (("t0", "t1"),) * columns_count, slots if is_wrapper else (Slot.EMPTY,) * columns_count,
            frozenset([columns_count - 1] if number == 5 else [])))
    return Lives(tuple(columns), tuple(rows), columns_count - 1)


def drawn(picture):
    """The root of the SVG of PICTURE."""
    return xml.fromstring(lives_svg.draw(picture, "the title of it", "what it says (contract P5)"))


def corners(text):
    """The four corners of the box of a text element, turned as the element is."""
    x, y, size = (float(text.get(name)) for name in ("x", "y", "font-size"))
    width = lives_svg.text_width(text)
    left = x - (width / 2 if text.get("text-anchor") == "middle" else
                width if text.get("text-anchor") == "end" else 0)
    box = [(left, y + 0.22 * size), (left + width, y + 0.22 * size),
           (left + width, y - 0.78 * size), (left, y - 0.78 * size)]
    if not text.get("transform"):
        return box
    turn, x, y = (float(word) for word in text.get("transform")[len("rotate("):-1].split())
    sine, cosine = math.sin(math.radians(turn)), math.cos(math.radians(turn))
    return [(x + (a - x) * cosine - (b - y) * sine, y + (a - x) * sine + (b - y) * cosine)
            for a, b in box]


def are_apart(one, other):
    """Whether a line that is parallel to an edge of one of two boxes separates them."""
    for box in (one, other):
        for (x1, y1), (x2, y2) in zip(box[:2], box[1:3]):
            sides = [[(y2 - y1) * x - (x2 - x1) * y for x, y in points] for points in (one, other)]
            if max(sides[0]) <= min(sides[1]) or max(sides[1]) <= min(sides[0]):
                return True
    return False


def overlapping(root):
    """Pairs of texts of the picture that overlap."""
    boxes = [(text.text, corners(text)) for text in root.iter(SVG + "text")]
    return [(one[0], other[0]) for one, other in itertools.combinations(boxes, 2)
            if not are_apart(one[1], other[1])]


@pytest.mark.parametrize("columns, objects, line", [
    (60, 12, "s0 = t0.untyped_storage().resize_(16)"), (60, 12, "gc.collect()"),
    (60, 12, "a line that is much longer than " * 4), (1, 1, "x"), (5, 60, "s0 = Finalized(1)"),
])
def test_texts_do_not_overlap_and_are_inside(columns, objects, line):
    root = drawn(big(columns, objects, line))
    assert len(list(root.iter(SVG + "text"))) >= columns + objects
    assert overlapping(root) == []
    _, _, width, height = map(float, root.get("viewBox").split())
    for text in root.iter(SVG + "text"):
        assert all(0 <= x <= width and 0 <= y <= height for x, y in corners(text)), text.text


def test_the_check_for_overlaps_sees_one():
    root = drawn(big())
    numbers = [text for text in root.iter(SVG + "text") if text.text in ("30", "31")]
    numbers[1].set("x", numbers[0].get("x"))
    assert overlapping(root) == [("30", "31")]


def test_each_object_has_a_row_and_each_line_a_column():
    root = drawn(big())
    texts = [text.text for text in root.iter(SVG + "text")]
    for number in range(12):
        address = f"{0x507000076710 + number * 64:#x}"
        assert sum(text.startswith(address) for text in texts) == 1
    assert [text for text in texts if text.isdigit()] == [str(at + 1) for at in range(59)]
    assert texts.count("end") == 1


def test_the_fatal_cell_is_marked():
    picture = big()
    root = drawn(picture)
    mark, = root.iter(SVG + "g")
    ring, = mark.iter(SVG + "rect")
    label = next(text for text in root.iter(SVG + "text")
                 if text.text.startswith(f"{picture.rows[5].address:#x}"))
    end = next(text for text in root.iter(SVG + "text") if text.text == "end")
    assert float(ring.get("y")) < float(label.get("y")) < float(ring.get("y")) + 30
    assert 0 < float(end.get("x")) - float(ring.get("x")) < float(ring.get("width"))
    assert mark.find(SVG + "title").text == \
        f"wrapper {picture.rows[5].address:#x}, the end: what it says (contract P5)"


def test_a_picture_needs_nothing_that_github_strips():
    root = drawn(big())
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "rect", "line", "text", "g"}
    assert not any(name in ("style", "class") or name.startswith("on") or "href" in name
                   for element in root.iter() for name in element.attrib)
    page = next(root.iter(SVG + "rect"))
    assert (page.get("width"), page.get("fill")) == (root.get("width"), lives_svg.PAGE)


def test_any_words_make_well_formed_xml():
    picture = lives_svg.draw(big(3, 2), "<&>\x00\x1b[31m\ud800", "two\nlines")
    root = xml.fromstring(picture.encode())
    assert root.find(SVG + "title").text == "<&>??[31m?"
    assert not any("two lines" in text.text for text in root.iter(SVG + "text"))


def test_of_too_many_objects_those_with_a_mark_stay():
    picture = big(5, 60)
    marked = Life(**{**vars(picture.rows[59]), "broken": frozenset([4])})
    root = drawn(Lives(picture.columns, (*picture.rows[:59], marked), 4))
    texts = [text.text for text in root.iter(SVG + "text")]
    assert any(text.startswith(f"{marked.address:#x}") for text in texts)
    assert f"{60 - lives_svg.ROWS_MAX} more objects are not drawn." in texts


def test_the_pictures_in_the_repository_are_well_formed():
    folders = [path.parent for path in Path(__file__).parents[2].glob("repro/*/NOTES.md")]
    drawn_folders = [folder for folder in folders if "](lives.svg)" in
                     (folder / "NOTES.md").read_text()]
    assert len(drawn_folders) > 0
    for folder in drawn_folders:
        assert xml.parse(folder / "lives.svg").getroot().tag == SVG + "svg"
