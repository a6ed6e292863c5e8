"""campaign.jsonl: the records of hunts, as values. A line has one record, with its kind and hunt.

These classes are the schema of the file: `shape.py` reads their fields.
"""

import json
from dataclasses import dataclass, field

from slotfuzz.schema.shape import made, parsed, wrong_as, wrong_in


@dataclass(frozen=True, kw_only=True)
class Start:
    """The command that started a hunt. STARTED is a time in UTC, in the format of ISO 8601."""

    started: str
    subject: str
    sanitizer: str
    targets: tuple[str, ...]
    seed: int
    jobs: int
    versions: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The state of a hunt after SECONDS. RATE is programs per second; NEW, KNOWN and UNREPRODUCED
    count findings; SPENT has the seconds of all jobs in each phase.
    """

    seconds: float | int
    programs: int
    rate: int
    coverage: int
    corpus: int
    new: int
    known: int
    unreproduced: int
    spent: dict[str, float | int]


@dataclass(frozen=True, kw_only=True)
class NewFinding:
    """A finding that triage has called new after SECONDS."""

    seconds: float | int
    id: str


@dataclass(frozen=True, kw_only=True)
class End:
    """The totals of a hunt, with the ids of its NEW findings.

    SPENT has the seconds of each job in each phase, SET_UP those before the first program. KILLED
    counts processes that something outside killed.
    """

    programs: int
    seconds: float | int
    fuzz_seconds: float | int
    coverage: int
    corpus: int
    new: tuple[str, ...]
    known: int
    old: int
    unreproduced: int
    skipped: int = 0
    killed: dict[str, int] = field(default_factory=dict)
    interrupted: bool
    trouble: str
    spent: dict[str, dict[str, float | int]]
    set_up: float | int


Record = Start | Sample | NewFinding | End
OF_KIND: dict[str, type] = {"start": Start, "sample": Sample, "found": NewFinding, "end": End}
KIND_OF = {schema: kind for kind, schema in OF_KIND.items()}
# The beginning of each line that starts a hunt.
START_WORDS = '{"record": "start"'


def line_of(hunt: str, record: Record) -> str:
    """The line for RECORD of HUNT."""
    return json.dumps({"record": KIND_OF[type(record)], "hunt": hunt, **vars(record)}) + "\n"


def read_line(line: bytes) -> tuple[str, Record] | None:
    """The hunt and the record of LINE, or None if LINE has another shape."""
    try:
        fields = parsed(line)
    except ValueError:
        return None
    if wrong_in(fields, {"record": str, "hunt": str}):
        return None
    schema, hunt = OF_KIND.get(fields.pop("record")), fields.pop("hunt")
    return None if schema is None or wrong_as(fields, schema) else (hunt, made(schema, fields))
