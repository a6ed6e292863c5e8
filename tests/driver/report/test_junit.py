"""JUnit has a case for each target of a hunt, a failure for each finding, and correct counts."""

import shutil
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from slotfuzz.finding import finding, places
from slotfuzz.report import junit
from tests.driver.report.test_sarif import KEPT, campaign  # noqa: F401 (a fixture)


def parsed(found, hunts):
    """The document as a tree, and its test cases."""
    root = ElementTree.fromstring(junit.text(found, hunts).encode())
    return root, list(root.iter("testcase"))


def test_each_finding_is_a_failure_with_its_script():
    root, cases = parsed([places.read(folder) for folder in KEPT], [])
    assert len(cases) == len(KEPT) > 20 and root.get("failures") == root.get("tests")
    (case,) = [case for case in cases if case.get("name") == "bus-invoke-f5715c"]
    assert (case.get("file"), case.get("line")) == ("core/python/buffer.cc", "51")
    assert "x0.drop()" in case.find("failure").text
    assert "AddressSanitizer" in case.find("failure").text


def test_a_clean_hunt_has_a_passing_case_for_each_target(campaign):  # noqa: F811
    root, cases = parsed([], campaign())
    assert [case.get("name") for case in cases] == ["hunt storage", "hunt tensor"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "0", "0")
    assert "90 programs" in cases[0].find("system-out").text


@pytest.mark.parametrize("end, problem", [
    ({"programs": 0}, "ran no program"), ({"trouble": "the disk is full"}, "the disk is full"),
    ({"interrupted": True}, "interrupted"),
])
def test_a_hunt_that_did_not_do_its_work_is_an_error(campaign, end, problem):  # noqa: F811
    root, cases = parsed([], campaign(**end))
    assert root.get("errors") == "2"
    assert all(problem in case.find("error").get("message") for case in cases)


def test_a_hunt_that_was_killed_is_an_error(campaign, tmp_path):  # noqa: F811
    hunts = campaign()
    hunts[0].end = None
    root, cases = parsed([], hunts)
    assert root.get("errors") == "2" and "did not end" in cases[0].find("error").get("message")


def test_what_reproduces_on_the_base_is_skipped(tmp_path):
    shutil.copytree(KEPT[0], tmp_path / places.OLD_FOLDER / "one")
    root, _ = parsed([places.read(tmp_path / places.OLD_FOLDER / "one")], [])
    assert (root.get("failures"), root.get("skipped")) == ("0", "1")


def test_any_byte_of_a_report_is_well_formed(tmp_path):
    record = replace(finding.read(KEPT[0]), signature="signal \x01")
    (tmp_path / "finding.json").write_text(record.text())
    (tmp_path / "report.txt").write_bytes(bytes(range(256)) + b"]]></failure>\xff\xfe")
    _, (case,) = parsed([places.read(tmp_path)], [])
    assert case.find("failure").get("type") == "signal ?"
    assert "]]></failure>" in case.find("failure").text

