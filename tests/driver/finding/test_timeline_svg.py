"""In the picture nothing overlaps, each object has its row, and the fatal cell has a mark."""

import itertools
import math
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from slotfuzz.finding import svg, timeline_rows, timeline_svg
from slotfuzz.schema import trace
from slotfuzz.finding.timeline import Column, Owner, Row, Slot, Timeline

SVG = "{http://www.w3.org/2000/svg}"


def big(columns_count=60, objects=12, line="s0 = t0.untyped_storage().resize_(16)"):
    """A timeline of OBJECTS objects in a long program, with every colour, lane and mode."""
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
        rows.append(Row(
            "wrapper" if is_wrapper else "impl", 0x507000076710 + number * 64, number // 2,
            "UntypedStorage" if is_wrapper else "storage, 4096 bytes",
            tuple(f"s{at}" for at in range(9)) if is_wrapper else (), owners,
            (("t0", "t1"),) * columns_count, slots if is_wrapper else (Slot.EMPTY,) * columns_count,
            frozenset([columns_count - 1] if number == 5 else [])))
    return Timeline(tuple(columns), tuple(rows), columns_count - 1)


def drawn(picture, title="the title of it", verdict="what it says (contract P5)", promise=""):
    """The root of the SVG of PICTURE."""
    return xml.fromstring(timeline_svg.draw(picture, title, verdict, promise))


def whole_of(text):
    """The full words of a text element: its <title> if the text is shortened."""
    whole = text.find(SVG + "title")
    return text.text if whole is None else whole.text


def small(names, about="UntypedStorage", hermetic=False):
    """A timeline of one impl with a wrapper for each of NAMES, in a program of one line."""
    rows = [Row(role, 0x5000 + 16 * number, 0, about, words, (Owner.PYTHON,), ((),),
                 (Slot.EMPTY,), frozenset())
            for number, (role, words) in enumerate(
                [("impl", ()), *(("wrapper", words) for words in names)])]
    return Timeline((Column("x", 0, hermetic),), tuple(rows), None)


def corners(text):
    """The four corners of the box of a text element, rotated with the element."""
    x, y, size = (float(text.get(name)) for name in ("x", "y", "font-size"))
    width = svg.text_width(text)
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
    """Whether a line parallel to an edge of one of two boxes separates them."""
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


@pytest.mark.parametrize("line", [
    "with hermetic(): s0 = t0.untyped_storage()", "a line that is much longer than " * 9, "x" * 400,
])
def test_a_program_line_is_whole_or_has_its_whole_text_beside_it(line):
    root = drawn(big(9, 2, line.strip()))
    texts = [text for text in root.iter(SVG + "text") if text.get("transform")]
    assert [whole_of(text) for text in texts[:-1]] == [line.strip()] * 8
    assert all(text.text == whole_of(text) or text.text.endswith("…") for text in texts)


def test_a_line_of_hermetic_mode_is_not_shortened():
    root = drawn(big(9, 2, "with hermetic(): s0 = t0.untyped_storage()"))
    assert sum(text.text == "with hermetic(): s0 = t0.untyped_storage()"
               for text in root.iter(SVG + "text")) == 8


@pytest.mark.parametrize("words", ["many words and " * 12, "many words and " * 300, "x" * 2000])
def test_long_sentences_are_wrapped_inside_and_nothing_is_lost(words):
    words = words.strip()
    root = drawn(big(4, 2), f"title {words}", f"verdict {words}", f"promise {words}")
    assert overlapping(root) == []
    _, _, width, height = map(float, root.get("viewBox").split())
    texts = list(root.iter(SVG + "text"))
    for text in texts:
        assert all(0 <= x <= width and 0 <= y <= height for x, y in corners(text)), text.text
    for sentence in (f"title {words}", f"At the end: verdict {words}", f"promise {words}"):
        first = next(at for at, text in enumerate(texts)
                     if text.text.startswith(sentence.partition("many")[0][:9]))
        lines = texts[first:first + timeline_svg.LINES_MAX]
        whole = " ".join(text.text for text in lines)
        assert whole.startswith(sentence) or lines[-1].find(SVG + "title").text == sentence


@pytest.mark.parametrize("names", [
    [(), ()], [("s0",), ("s0",)], [("s0",), (), ("s0",), ()],
    [tuple(f"s{at}" for at in range(20)), tuple(f"s{at}" for at in range(21))]])
def test_no_two_rows_have_one_name(names):
    root = drawn(small(names))
    texts = list(root.iter(SVG + "text"))
    rows = [text.text for text, below in itertools.pairwise(texts) if below.text.startswith("0x")]
    assert len(rows) == len(names) + 1 == len(set(rows))
    bars = [bar.find(SVG + "title").text for bar in root.iter(SVG + "rect")
            if bar.find(SVG + "title") is not None]
    assert all(bar.startswith(f"{row} (0x") for row, bar in zip(rows, bars, strict=True))


def test_a_name_that_is_shortened_has_all_variables_beside_it():
    names = tuple(f"s{at}" for at in range(20))
    texts = [whole_of(text) for text in drawn(small([names])).iter(SVG + "text")]
    assert "wrapper " + " ".join(names) in texts


@pytest.mark.parametrize("hermetic, about, is_explained", [
    (True, "", True), (False, "hermetic", True), (False, "", False)])
def test_the_foot_says_what_the_words_mean(hermetic, about, is_explained):
    promise = "contract H2: A slot never holds the address of a freed object."
    texts = [text.text for text in drawn(small([()], about, hermetic), promise=promise
                                         ).iter(SVG + "text")]
    for word in ("impl: ", "wrapper: ", "slot: ", "contract H2: "):
        assert sum(text.startswith(word) for text in texts) == 1, word
    assert any(text.startswith("hermetic: ") for text in texts) == is_explained
    assert promise in texts


def test_bands_of_threads_say_which():
    bands = {band.find(SVG + "title").text for band in drawn(big()).iter(SVG + "rect")
             if band.get("fill") == timeline_svg.GRID}
    assert bands == {"thread: main", "thread: lane 1", "thread: lane 2"}


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
        ("wrapper s0 s1 s2 s3 s4 s5 s6 s7 s8 #3"
         f" ({picture.rows[5].address:#x}), the end: what it says (contract P5)")


def test_a_picture_needs_nothing_that_github_strips():
    root = drawn(big())
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "rect", "line", "text", "g"}
    assert not any(name in ("style", "class") or name.startswith("on") or "href" in name
                   for element in root.iter() for name in element.attrib)
    page = next(root.iter(SVG + "rect"))
    assert (page.get("width"), page.get("fill")) == (root.get("width"), timeline_svg.PAGE)


def test_any_words_make_well_formed_xml():
    picture = timeline_svg.draw(big(3, 2), "<&>\x00\x1b[31m\ud800", "two\nlines")
    root = xml.fromstring(picture.encode())
    assert root.find(SVG + "title").text == "<&>??[31m?"
    assert not any("two lines" in text.text for text in root.iter(SVG + "text"))


def test_of_too_many_objects_those_with_a_mark_stay():
    picture = big(5, 60)
    marked = Row(**{**vars(picture.rows[59]), "broken": frozenset([4])})
    root = drawn(Timeline(picture.columns, (*picture.rows[:59], marked), 4))
    texts = [text.text for text in root.iter(SVG + "text")]
    assert any(text.startswith(f"{marked.address:#x}") for text in texts)
    assert f"{60 - timeline_rows.ROWS_MAX} more objects are not drawn." in texts


def test_the_pictures_in_the_repository_are_well_formed():
    folders = [path.parent for path in Path(__file__).parents[3].glob("repro/*/NOTES.md")]
    drawn_folders = [folder for folder in folders if "](timeline.svg)" in
                     (folder / "NOTES.md").read_text()]
    assert len(drawn_folders) > 0
    for folder in drawn_folders:
        assert xml.parse(folder / "timeline.svg").getroot().tag == SVG + "svg"
