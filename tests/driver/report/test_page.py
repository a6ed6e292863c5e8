"""The page of a campaign is self-contained, and shows findings and hunts."""

import re
import xml.etree.ElementTree as xml

import pytest

from slotfuzz import report
from slotfuzz.finding import timeline, timeline_svg
from slotfuzz.report import hunts
from slotfuzz.report.page import page
from tests.driver.conftest import ROOT
from tests.driver.report.campaigns import Names, SAMPLE, START, write_series


def test_the_page_shows_each_finding_and_refers_to_nothing_else(campaign):
    notes = ("# title of x-1\n\n![p](timeline.svg)\n\n![q](http://a/b.png) [r](http://a)"
             " <i>x</i>\n\n"
             "```\n> s0 = 1\n<u>\n```\n\n<details><summary>Full log</summary>\n\n```\nfull & whole"
             "\n```\n\n</details>\n")
    root = campaign("x-1", "t0 = T.ones(1) # <b>", sentence="It <crashes> in `f`.",
                    why="<script>alert(1)</script>", variants=["a", "b"], files={"NOTES.md": notes})
    text, unreadable = page(report.collect(root))
    assert unreadable == [] and "It &lt;crashes&gt; in <code>f</code>." in text
    assert "# &lt;b&gt;" in text and "&lt;script&gt;alert" in text
    assert "a bucket of 2 variants" in text
    assert "full &amp; whole" in text and "<summary>Full log</summary>" in text
    assert not re.search(r"<(i|u|img)\b", text) and "timeline.svg" not in text
    names = Names(text)
    assert names.sources == ["data:,"] and all(link.startswith("#") for link in names.links)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp|WebSocket", text)


def test_each_internal_link_has_its_target_and_each_target_is_one(campaign):
    for name in ("x-1", "x 1", "x\"1"):
        campaign(name, "t0 = T.ones(1)")
    root = campaign("x-1", "t0 = T.ones(2)", release="1.13.1", subject="other")
    write_series(root, START, {"record": "found", "hunt": "a", "seconds": 1.0, "id": "x-1"}, SAMPLE)
    names = Names(page(report.collect(root))[0])
    assert len(names.ids) == len(set(names.ids))
    assert len(names.links) > 4 and {link[1:] for link in names.links} <= set(names.ids)


def test_rows_have_what_filters_choose_by(campaign):
    root = campaign("x-1", "t0._cdata", tier="underscore", contract="H2", oracle="address",
                    fails_in={"1.13.1": False})
    text = page(report.collect(root))[0]
    row = re.search(r"<li data-[^>]*>", text)[0]
    assert row == ('<li data-release="[&#34;2.6.0&#34;]" data-contract="H2" data-oracle="address"'
                   ' data-tier="underscore">')
    for name, choice in (("release", "2.6.0"), ("contract", "H2"), ("oracle", "address"),
                         ("tier", "underscore")):
        select = text.partition(f'<select name="{name}">')[2].partition("</select>")[0]
        assert f'<option value="{choice}">' in select
    assert '<option value="1.13.1">' not in text, "nothing fails there"
    assert "A slot never holds the address of a freed object." in text


def picture():
    """The timeline of a typical finding."""
    life = timeline.Row("wrapper", 0x10, 0, "UntypedStorage", ("s0",), (timeline.Owner.PYTHON,),
                         ((),), (timeline.Slot.HOLDS,), frozenset([0]))
    columns = (timeline.Column("s0 = 1", 0, False),)
    return timeline_svg.draw(timeline.Timeline(columns, (life,), 0), "title <t>", "verdict")


def test_the_timeline_is_in_the_page(campaign):
    text, unreadable = page(report.collect(campaign("x", "s0 = 1", files={
        "timeline.svg": picture()})))
    drawn = re.search(r"<svg [^>]*>\s*<title>title &lt;t&gt;.*?</svg>", text, re.DOTALL)[0]
    assert xml.fromstring(drawn) is not None and unreadable == []


@pytest.mark.parametrize("find, put, said", [
    ("<desc>", "<script>alert(1)</script><desc>", "script"),
    ("<desc>", "<image href='http://a/b.png'/><desc>", "image"),
    ('fill="#ffffff"', 'fill="url(http://a/#b)"', "url"),
    ('fill="#ffffff"', 'fill="#ffffff" onclick="alert(1)"', "onclick"),
    ('xmlns="http://www.w3.org/2000/svg"', "", "svg"), ("</svg>", "", "no XML"),
])
def test_a_picture_that_might_do_more_is_named_and_not_shown(campaign, find, put, said):
    root = campaign("x", "s0 = 1", files={"timeline.svg": picture().replace(find, put)})
    text, ((place, why),) = page(report.collect(root))
    assert place == "torch-2.6.0/x" and said in why and "verdict" not in text
    assert "<code>torch-2.6.0/x</code>: timeline.svg" in text and (put not in text or not put)


def test_what_was_not_reproduced_stands_apart(campaign):
    root = campaign("unreproduced-x", "t0 = 1", rate=0, rate_low=0.0, verified_runs=0)
    (root / "torch-2.6.0/unreproduced-x/repro.py").rename(
        root / "torch-2.6.0/unreproduced-x/program.py")
    found = report.collect(root)
    assert (found.entries, [one.record.id for one in found.unreproduced]) == (
        [], ["unreproduced-x"])
    text = page(found)[0]
    assert "signal SIGSEGV in &lt;f&gt;" in text.partition('id="unreproduced"')[2]
    assert "No finding." in text.partition('id="causes"')[2]


def test_hunts_are_drawn_with_where_their_time_went(campaign):
    root = campaign("x-1", "t0 = 1")
    write_series(root, START, SAMPLE, {**SAMPLE, "seconds": 4.0, "programs": 300, "rate": 0,
                                      "coverage": 1234},
                 {**START, "hunt": "b", "seed": 8})
    text, unreadable = page(report.collect(root))
    assert unreadable == [] and text.count("<svg") == 4
    assert "Coverage over 4.0 s: edges 30 to 1,234" in text
    assert "Programs/s over 4.0 s: programs/s 50 to 100" in text
    assert text.count("fuzzing 1.5 s (75%)") == 2, "of its hunt, and of all"
    assert "judging 0.2 s (12%)" in text
    assert text.count("did not end: it was killed, or still runs") == 2
    assert text.index("<dd>8</dd>") < text.index("<dd>7</dd>"), "the latest comes first"


def test_of_many_hunts_the_latest_have_charts_and_all_a_line(tmp_path):
    for number in range(hunts.CHARTS_MAX + 3):
        write_series(tmp_path, {**START, "hunt": f"h{number}", "seed": 1000 + number,
                                "started": f"2024-01-{number + 1:02}T03:04:05+00:00"},
                     {**SAMPLE, "hunt": f"h{number}"})
    text, _ = page(report.collect(tmp_path))
    assert text.count("<svg") == 4 * hunts.CHARTS_MAX
    assert "3 earlier hunts" in text and all(
        str(1000 + number) in text for number in range(hunts.CHARTS_MAX + 3))
    assert "fuzzing 22.5 s (75%)" in text


def test_how_a_hunt_ended_is_reported(campaign):
    root = campaign("x-1", "t0 = 1")
    end = {**SAMPLE, "record": "end", "set_up": 0.5, "fuzz_seconds": 1.5, "new": ["x-1"], "old": 3,
           "killed": {"a server": 2}, "interrupted": True, "trouble": "",
           "spent": {"storage.0": SAMPLE["spent"], "tensor.0": SAMPLE["spent"]}}
    del end["rate"]
    write_series(root, START, SAMPLE, end)
    text, unreadable = page(report.collect(root))
    assert unreadable == [] and "known findings were run for 0.5 s" in text
    assert ("was interrupted; killed from outside and started again: 2 × a server"
            in text and "1 new, 1 seen again, 3 old, 0 not reproduced" in text)
    assert "fuzzing 3.0 s (75%)" in text and "<td>tensor.0</td>" in text


def test_hunts_without_a_finding_make_a_page(tmp_path):
    write_series(tmp_path, START, SAMPLE)
    text, _ = page(report.collect(tmp_path))
    assert "No finding." in text and "<svg" in text


def test_what_is_kept_makes_a_page_with_nothing_left_out():
    found = report.collect(ROOT / "repro")
    text, unreadable = page(found)
    assert unreadable == [] and len(found.entries) > 100
    names = Names(text)
    assert {link[1:] for link in names.links} <= set(names.ids)
    assert all(entry.record.id in text for entry in found.entries)
