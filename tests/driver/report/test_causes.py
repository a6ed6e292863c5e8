"""Root causes: which findings of a campaign are one bug, and what runs contradict."""

import pytest

from slotfuzz import report
from slotfuzz.report import causes
from tests.driver.report.campaigns import keys


def test_one_bug_in_several_releases_is_one_row(campaign):
    fails = {"1.13.1": True, "2.6.0": True, "2.14.1": False}
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("ab"), fails_in=fails)
    root = campaign("new", "t0 = 2", dedup_keys=keys("bc"), fails_in={**fails, "1.13.1": False})
    campaign("other", "t0 = 3", dedup_keys=keys("d"))
    merged = causes.merged(report.collect(root).entries)
    assert [[entry.record.id for entry in one.entries] for one in merged] == [
        ["new", "old"], ["other"]]
    assert merged[0].fails_in == fails and merged[1].fails_in == {"2.6.0": True}


@pytest.mark.parametrize("one, other, are_one", [
    ({}, {}, True), ({"2.6.0": False}, {"1.13.1": False}, False), ({"2.6.0": False}, {}, True),
    ({"2.6.0": False}, {"1.13.1": True}, True)])
def test_runs_may_speak_against_one_root_cause(campaign, one, other, are_one):
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), fails_in=one)
    root = campaign("new", "t0 = 2", dedup_keys=keys("a"), fails_in=other)
    assert len(causes.merged(report.collect(root).entries)) == 2 - are_one


def test_what_a_hunt_has_reported_apart_stays_apart(campaign):
    campaign("one", "t0 = 1", dedup_keys=keys("a"))
    root = campaign("two", "t0 = 2", dedup_keys=keys("a"))
    assert len(causes.merged(report.collect(root).entries)) == 2


def test_findings_of_two_subjects_are_two(campaign):
    campaign("one", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), subject="core", versions={})
    root = campaign("two", "t0 = 2", dedup_keys=keys("a"), subject="mutant:x", versions={})
    assert [one.fails_in for one in causes.merged(report.collect(root).entries)] == [
        {"core": True}, {"mutant:x": True}]


def test_one_sentence_of_a_person_is_one_root_cause(campaign):
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), sentence="It leaks.",
             fails_in={"2.6.0": False})
    root = campaign("new", "t0 = 2", dedup_keys=keys("b"), sentence="It leaks.",
                    fails_in={"1.13.1": False})
    campaign("other", "t0 = 3", dedup_keys=keys("c"), sentence="It crashes.")
    assert len(causes.merged(report.collect(root).entries)) == 2


def test_two_sentences_of_a_person_are_two_root_causes(campaign):
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), sentence="It leaks.")
    root = campaign("new", "t0 = 2", dedup_keys=keys("a"), sentence="It crashes.")
    assert len(causes.merged(report.collect(root).entries)) == 2
