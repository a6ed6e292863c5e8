"""A line of campaign.jsonl: what is read is what was written, in the order of the schema."""

import json

import pytest

from slotfuzz.schema.campaign import End, NewFinding, Start, line_of, read_line

START = Start(started="2024-01-02T03:04:05+00:00", subject="core", sanitizer="address",
              targets=("storage",), seed=7, jobs=1, versions={"python": "3.11"})
END = End(programs=3, seconds=1.5, fuzz_seconds=1, coverage=2, corpus=1, new=("x-1",), known=0,
          old=0, unreproduced=0, interrupted=False, trouble="", set_up=0.5,
          spent={"storage.0": {"fuzzing": 1.0}})


@pytest.mark.parametrize("record", [START, END, NewFinding(seconds=1.0, id="x-1")])
def test_a_record_is_read_as_it_was_written(record):
    line = line_of("h", record)
    assert line.startswith('{"record": "') and json.loads(line)["hunt"] == "h"
    assert read_line(line.encode()) == ("h", record)


def test_an_end_of_an_older_release_has_no_counts_of_kills():
    fields = json.loads(line_of("h", END))
    del fields["killed"], fields["skipped"]
    assert read_line(json.dumps(fields).encode()) == ("h", END)
