"""NOTES.md in a finding's folder includes a person's remarks from finding.json."""

import pytest

from slotfuzz.finding import finding
from tests.driver import records

NOTES = "# title\n\nSubject `torch`.\n\nmore\n"


@pytest.mark.parametrize("record, begin", [
    ({}, "# title\n\nSubject"),
    ({"sentence": "It crashes."}, "# title\n\n**It crashes.**\n\nSubject"),
    ({"sentence": "It crashes.", "why": "No memory."}, "# title\n\n**It crashes.** No memory.\n\n"),
])
def test_an_explanation_stands_below_the_title(record, begin):
    explained = finding.with_explanation(NOTES, records.finding(**record))
    assert explained.startswith(begin) and explained.endswith("Subject `torch`.\n\nmore\n")


def test_a_folder_that_is_written_anew_keeps_its_explanation(tmp_path):
    record = records.finding("one", sentence="It crashes.")
    folder = finding.write(tmp_path, record, {"NOTES.md": NOTES, "repro.py": ""})
    assert "**It crashes.**" in (folder / "NOTES.md").read_text()
