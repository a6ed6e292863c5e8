"""The report of a campaign is ranked and self-contained, and agrees with its folders."""

import json
import re
import shutil
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

import pytest

from slotfuzz import report
from slotfuzz.errors import UserError
from slotfuzz.finding import finding, timeline, timeline_svg
from slotfuzz.hunt import series
from slotfuzz.report import causes, hunts
from slotfuzz.report.markdown import markdown
from slotfuzz.report.page import page
from slotfuzz.schema.record import ERROR, DedupKey, plain
from tests.driver.conftest import ROOT
from tests.driver.commands.test_cli import slotfuzz

# The version string of Debian's 1.13.1.
SAYS = {"1.13.1": "1.13.0a0"}
SCRIPT = "# subject: torch\nimport torch as T\n\nif check:\n    pass\n\n{}\n"
RECORD = {
    "signature": "signal SIGSEGV in <f>", "kind": "SIGSEGV in <f>", "subject": "torch",
    "target": "tensor", "oracle": "signal", "contract": "", "lines": 0, "runs_to_find": 9,
    "seconds_to_find": 0.5, "minimize_runs": 3, "minimize_seconds": 0.1, "one_minimal": True,
    "rate": 1.0, "rate_low": 0.84, "verified_runs": 20, "seed": 1,
}
START = {"record": "start", "hunt": "a", "started": "2024-01-02T03:04:05+00:00", "subject": "core",
         "sanitizer": "address", "targets": ["storage"], "seed": 7, "jobs": 1, "versions": {}}
SAMPLE = {"record": "sample", "hunt": "a", "seconds": 2.0, "programs": 100, "rate": 50,
          "coverage": 30, "corpus": 4, "new": 0, "known": 1, "unreproduced": 0,
          "spent": {"fuzzing": 1.5, "judging": 0.25, "restarting": 0.25}}


def keys(words):
    """A dedup key for each of the letters WORDS."""
    return plain(frozenset(DedupKey(ERROR, words=word) for word in words))


@pytest.fixture
def campaign(tmp_path):
    """A function that writes a finding and returns the folder of all findings."""
    def write(identifier, program, release="2.6.0", files=None, **fields):
        record = {**RECORD, "id": identifier, "versions": {"torch": SAYS.get(release, release)},
                  **fields}
        out = tmp_path / "repro" / f"torch-{release}"
        out.mkdir(parents=True, exist_ok=True)
        finding.write(out, record, {"repro.py": SCRIPT.format(program),
                                    "NOTES.md": f"# title of {identifier}\n", **(files or {})})
        return tmp_path / "repro"
    return write


class Names(HTMLParser):
    """All ids of a page, and the targets of its links."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.ids += [told["id"]] if "id" in told else []
        self.links += [told["href"]] if "href" in told and tag == "a" else []
        self.sources += [told[name] for name in ("src", "href", "srcset", "data", "action")
                         if name in told and tag != "a"]


def test_public_api_comes_first_and_crashes_before_wrong_results(campaign):
    campaign("d-odd", "t0.resize_(-1)", reach="odd")
    campaign("c-private", "t0 = T.ones(1)\nt0._cdata")
    campaign("b-flag", "enter_hermetic()\ndel s0", reach="nonsense")
    campaign("a-wrong", "t0 = T.ones(1)", oracle="contract", lines=1)
    root = campaign("z-crash", "t0.__dict__\nt0 = T.ones(1)", lines=2)
    assert [entry.record["id"] for entry in report.collect(root).entries] == [
        "z-crash", "a-wrong", "b-flag", "c-private", "d-odd"]


def test_the_page_shows_each_finding_and_refers_to_nothing_else(campaign):
    notes = ("# title of x-1\n\n![p](timeline.svg)\n\n![q](http://a/b.png) [r](http://a)"
             " <i>x</i>\n\n"
             "```\n> s0 = 1\n<u>\n```\n\n<details><summary>Full log</summary>\n\n```\nfull & whole"
             "\n```\n\n</details>\n")
    root = campaign("x-1", "t0 = T.ones(1) # <b>", sentence="It <crashes> in `f`.",
                    why="<script>alert(1)</script>", ways=["a", "b"], files={"NOTES.md": notes})
    text, unreadable = page(report.collect(root))
    assert unreadable == [] and "It &lt;crashes&gt; in <code>f</code>." in text
    assert "# &lt;b&gt;" in text and "&lt;script&gt;alert" in text
    assert "a group of 2 programs" in text
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


def write_series(root, *records):
    """Writes RECORDS to the series in ROOT."""
    with open(root / series.NAME, "a") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def test_one_bug_in_several_releases_is_one_row(campaign):
    fails = {"1.13.1": True, "2.6.0": True, "2.14.1": False}
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("ab"), fails_in=fails)
    root = campaign("new", "t0 = 2", dedup_keys=keys("bc"), fails_in={**fails, "1.13.1": False})
    campaign("other", "t0 = 3", dedup_keys=keys("d"))
    merged = causes.merged(report.collect(root).entries)
    assert [[entry.record["id"] for entry in one.entries] for one in merged] == [
        ["new", "old"], ["other"]]
    assert merged[0].fails_in == fails and merged[1].fails_in == {"2.6.0": True}


@pytest.mark.parametrize("one, other, are_one", [
    ({}, {}, True), ({"2.6.0": False}, {"1.13.1": False}, False), ({"2.6.0": False}, {}, True),
    ({"2.6.0": False}, {"1.13.1": True}, True)])
def test_runs_may_speak_against_one_root_cause(campaign, one, other, are_one):
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), fails_in=one)
    root = campaign("new", "t0 = 2", dedup_keys=keys("a"), fails_in=other)
    assert len(causes.merged(report.collect(root).entries)) == 2 - are_one


def test_what_a_hunt_has_told_apart_stays_apart(campaign):
    campaign("one", "t0 = 1", dedup_keys=keys("a"))
    root = campaign("two", "t0 = 2", dedup_keys=keys("a"))
    assert len(causes.merged(report.collect(root).entries)) == 2


def test_findings_of_two_subjects_are_two(campaign):
    campaign("one", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), subject="core", versions={})
    root = campaign("two", "t0 = 2", dedup_keys=keys("a"), subject="mutant:x", versions={})
    assert [one.fails_in for one in causes.merged(report.collect(root).entries)] == [
        {"core": True}, {"mutant:x": True}]


def test_one_sentence_of_a_person_is_one_root_cause(campaign):
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), sentence="It leaks.")
    root = campaign("new", "t0 = 2", dedup_keys=keys("b"), sentence="It leaks.")
    campaign("other", "t0 = 3", dedup_keys=keys("c"), sentence="It crashes.")
    assert len(causes.merged(report.collect(root).entries)) == 2


def test_rows_have_what_filters_choose_by(campaign):
    root = campaign("x-1", "t0._cdata", contract="H2", oracle="address", fails_in={"1.13.1": False})
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
    life = timeline.Life("wrapper", 0x10, 0, "UntypedStorage", ("s0",), (timeline.Owner.PYTHON,),
                         ((),), (timeline.Slot.HOLDS,), frozenset([0]))
    columns = (timeline.Column("s0 = 1", 0, False),)
    return timeline_svg.draw(timeline.Lives(columns, (life,), 0), "title <t>", "verdict")


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
    assert (found.entries, [one.record["id"] for one in found.unreproduced]) == (
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


def test_how_a_hunt_ended_is_told(campaign):
    root = campaign("x-1", "t0 = 1")
    end = {**SAMPLE, "record": "end", "set_up": 0.5, "fuzz_seconds": 1.5, "new": ["x-1"], "old": 3,
           "killed": {"a server": 2}, "interrupted": True, "trouble": "",
           "spent": {"storage.0": SAMPLE["spent"], "tensor.0": SAMPLE["spent"]}}
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


BROKEN = {
    "truncated": lambda text: text[:len(text) // 2], "null": lambda _: "null",
    "a list": lambda _: "[]", "empty": lambda _: "", "binary": lambda _: "\udcff\udcfe",
    "deep": lambda _: "[" * 100_000,
    "a field is missing": lambda text: text.replace('"rate_low"', '"rate_lower"'),
    **{f"{field} is {value}": lambda text, field=field, value=value: json.dumps(
        {**json.loads(text), field: json.loads(value)})
       for field in ("id", "rate", "lines", "versions", "dedup_keys", "ways", "fails_in",
                     "sentence", "one_minimal", "contract", "reach", "verified_runs")
       for value in ("null", "[[1]]", '{"a": []}')},
    "not a number": lambda text: text.replace('"rate": 1.0', '"rate": NaN'),
    "too much": lambda text: text.replace('"seconds_to_find": 0.5', '"seconds_to_find": 1e999'),
    "below nothing": lambda text: text.replace('"lines": 0', '"lines": -1'),
    "half a character": lambda text: text.replace('"kind": "', '"kind": "\\ud800'),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_finding_that_cannot_be_read_is_named_and_the_rest_is_shown(campaign, capsys, how):
    campaign("broken", "t0 = 1")
    root = campaign("whole", "t0 = 2", sentence="It crashes.")
    path = root / "torch-2.6.0" / "broken" / "finding.json"
    path.write_text(BROKEN[how](path.read_text()), errors="surrogateescape")
    code, _, said = slotfuzz(capsys, "report", str(root))
    assert code == 2
    assert said.startswith("slotfuzz: could not read torch-2.6.0/broken: finding.json")
    assert said.count("\n") == 1
    text = (root / "report.html").read_text()
    assert "<code>torch-2.6.0/broken</code>: finding.json" in text and "It crashes." in text
    code, out, said = slotfuzz(capsys, "report", str(root), "--markdown")
    assert code == 2 and "could not read torch-2.6.0/broken" in said and "It crashes." in out


def test_a_folder_whose_name_is_no_text_is_in_the_page(campaign, capsys):
    root = campaign("x", "t0 = 1", sentence="It crashes.")
    (root / "torch-2.6.0" / "x").rename(root / "torch-2.6.0" / "x\udcff")
    assert slotfuzz(capsys, "report", str(root))[0] == 0
    assert "torch-2.6.0/x?" in (root / "report.html").read_text()


def test_a_finding_without_its_script_is_named(campaign, capsys):
    root = campaign("broken", "t0 = 1")
    (root / "torch-2.6.0/broken/repro.py").unlink()
    code, _, said = slotfuzz(capsys, "report", str(root))
    assert code == 2 and "torch-2.6.0/broken: repro.py: No such file" in said
    assert "could not be read" in (root / "report.html").read_text()


def test_a_series_that_cannot_be_read_is_named(campaign, capsys):
    root = campaign("x", "t0 = 1")
    write_series(root, START, [], SAMPLE)
    code, _, said = slotfuzz(capsys, "report", str(root))
    assert code == 2 and "could not read campaign.jsonl: line 2: not a record of a hunt" in said


def test_what_a_killed_hunt_was_writing_is_no_finding(campaign):
    root = campaign("x", "t0 = 1")
    shutil.copytree(root / "torch-2.6.0" / "x", root / "torch-2.6.0" / ".new-abc")
    (root / "torch-2.6.0/.new-abc/finding.json").write_text("{")
    found = report.collect(root)
    assert len(found.entries) == 1 and found.unreadable == []


def test_markdown_is_by_release_with_what_a_person_knows(campaign):
    campaign("core-1", "s0", release="0", subject="core", versions={})
    campaign("x-1", "t0 = T.ones(1)\ndel t0", release="1.13.1", known_as="4", contract="P2",
             why="It is public.", fails_in={"1.13.1": True, "2.6.0": False})
    root = campaign("x-2", "t0._cdata", release="2.6.0")
    (root / "torch-0.9").mkdir()
    (root / "torch-0.9" / "about.md").write_text("Nothing was found.\n")
    text = markdown(root, report.collect(root).entries)
    assert "## PyTorch 0.9\n\nNothing was found.\n\n## PyTorch 1.13.1" in text
    assert text.index("## PyTorch 1.13.1") < text.index("[x-1]") < text.index("## PyTorch 2.6.0")
    assert "known as 4" in text and "fails on 1.13.1, not on 2.6.0" in text
    assert "(../repro/torch-1.13.1/x-1/repro.py)\n\n    t0 = T.ones(1)\n    del t0\n" in text
    assert "not in the list of known bugs" in text.split("[x-2]")[1] and "core-1" not in text


def test_a_folder_without_findings_is_told(tmp_path, capsys):
    with pytest.raises(UserError, match="holds no finding"):
        report.collect(tmp_path)
    assert slotfuzz(capsys, "report", str(tmp_path / "nope"))[0] == 2


def test_the_command_writes_the_page_or_prints(campaign, capsys, tmp_path):
    root = campaign("x-1", "t0 = T.ones(1)")
    assert slotfuzz(capsys, "report", str(root))[0] == 0 and (root / "report.html").exists()
    code, out, _ = slotfuzz(capsys, "report", str(root), "--markdown")
    assert code == 0 and out.startswith("# What it finds in PyTorch")
    code, out, _ = slotfuzz(capsys, "report", str(root), "--json", "-o", str(tmp_path / "x.html"))
    assert code == 0 and [row["id"] for row in json.loads(out)] == ["x-1"]


def test_torch_document_is_up_to_date():
    root = ROOT / "repro"
    made = markdown(root, report.collect(root).entries)
    assert made + "\n" == (ROOT / "docs" / "torch.md").read_text(), "run what its first lines say"


def test_what_is_kept_of_torch_is_confirmed():
    kept = [entry for entry in report.collect(ROOT / "repro").entries if entry.release]
    assert kept
    for entry in kept:
        assert entry.record["rate"] == 1.0 and entry.record["fails_in"], entry.folder
        assert entry.record["why"] and entry.record["sentence"], entry.folder
        notes = (entry.folder / "NOTES.md").read_text()
        assert entry.record["why"] in notes and entry.record["sentence"] in notes, entry.folder
        # Unlike a crash or a failed internal assertion, a promise needs its contract sentence.
        assert entry.record["contract"] or entry.record["oracle"] not in ("contract", "assert")


def test_what_is_kept_makes_a_page_with_nothing_left_out():
    found = report.collect(ROOT / "repro")
    text, unreadable = page(found)
    assert unreadable == [] and len(found.entries) > 100
    names = Names(text)
    assert {link[1:] for link in names.links} <= set(names.ids)
    assert all(entry.record["id"] in text for entry in found.entries)
