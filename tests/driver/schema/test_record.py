"""finding.json: a record is written as it was read."""

import json

import pytest

from slotfuzz.paths import ROOT
from slotfuzz.schema import record
from slotfuzz.schema.record import DedupKey
from tests.driver import records

KEPT = sorted((ROOT / "repro").glob("**/finding.json"))


def test_what_is_kept_is_written_as_it_was_read():
    assert len(KEPT) > 100
    for path in KEPT:
        assert record.read(path.read_bytes()).text() == path.read_text(), path


def test_a_field_that_says_nothing_is_left_out_and_zero_is_not():
    plain = records.finding(verified_runs=0, dedup_keys=(DedupKey("x"),)).plain()
    assert plain["verified_runs"] == 0 and plain["dedup_keys"] == [{"kind": "x"}]
    assert not {"variants", "sequence", "why", "fails_in"} & set(plain)


@pytest.mark.parametrize("more, words", [
    ({"reason": "x"}, "it has reason"), ({"verified_runs": None}, "verified_runs"),
    ({"rate": None}, "its rate")])
def test_an_invalid_record_is_an_error_that_names_the_field(more, words):
    with pytest.raises(ValueError, match=words):
        record.read(json.dumps({**records.finding().plain(), **more}).encode())
