"""NOTES.md and its picture: the files that show an ownership timeline."""

import json
import xml.etree.ElementTree as xml

from slotfuzz import cli, options
from slotfuzz.finding import explain, from_trace, timeline_svg
from tests.driver.finding.traces import BIT, RESURRECTS, reply_of

SVG = "{http://www.w3.org/2000/svg}"


def test_without_a_trace_the_notes_say_that_there_is_no_picture():
    files = explain.files(reply_of("> t0 = T.ones(1)\n", outcome="finding", kind="signal",
                                   signal=11), "title", "", "torch")
    assert list(files) == ["NOTES.md"]
    assert "no picture" in files["NOTES.md"] and "timeline.svg" not in files["NOTES.md"]


def test_notes_refer_to_the_picture_beside_them():
    reply = reply_of(RESURRECTS, outcome="finding", kind="signal", signal=11)
    files = explain.files(reply, "title", "", "core")
    assert "](timeline.svg)" in files["NOTES.md"]
    assert xml.fromstring(files["timeline.svg"]).tag == SVG + "svg"
    assert "timeline.svg" not in explain.notes(reply, "title", "", "core")


def test_explain_to_a_file_draws_beside_it(fake_subject, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(options, "resolve", lambda *_: fake_subject)
    program = tmp_path / "program.py"
    program.write_text("t0 = T.ones(1)\ns0 = t0.untyped_storage()\nenter_hermetic()\ndel s0\n"
                       "exit_hermetic()\ns0 = t0.untyped_storage()\n")
    words = ["explain", str(program), "--target", "storage", "-o", str(tmp_path / "out.md")]
    assert cli.main([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["contract"] == "H2"
    assert "](timeline.svg)" in (tmp_path / "out.md").read_text()
    picture = xml.parse(tmp_path / "timeline.svg").getroot()
    assert len(list(picture.iter(SVG + "g"))) == 1  # the mark
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert cli.main(words[:4]) == 1
    assert "timeline.svg" not in capsys.readouterr().out
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}


def test_bars_have_titles_that_say_who_owns():
    drawn = timeline_svg.draw(from_trace.timeline(reply_of(BIT)), "the title of it", "")
    root = xml.fromstring(drawn)
    titles = [title.text for title in root.iter(SVG + "title")]
    assert titles[0] == "the title of it"
    assert "impl of s0 (0x10), line 1: C++ alone owns it, in C++ through t0" in titles
    assert "impl of s0 (0x10), line 2: both own it, in C++ through t0" in titles
    assert "wrapper t0 (0x21), line 1 to line 2: Python alone owns it" in titles
    assert "the impl's slot holds the wrapper's address" in titles
