"""finding.json: the record of a finding, with the dedup keys that identify its bug."""

import dataclasses
import json
from dataclasses import dataclass

from slotfuzz.schema import shape

JUDGE, CRASH, OUTSIDE, ERROR = "judge", "crash", "outside", "error"
# The tiers of an API; the lowest first. An op or a value that declares none is public.
TIERS = ("public", "underscore", "odd")


@dataclass(frozen=True)
class DedupKey:
    """A cause that the findings of one bug share; `triage/dedup.py` derives a finding's keys.

    KIND is that of the verdict: "judge", "crash", "error" (the WORDS of an exception identify it),
    or "outside" (elements lie outside of memory). Every other field is empty if it does not
    distinguish the bug: CONTRACT, CHECK and OBJECT in the judge's words; FUNCTIONS of a stack,
    innermost first; EFFECTS that take part, in the words of effects.h; KINDS of objects, by the
    letters of their names; LINES that cause it, each an op with its operands; CALLS, the function
    that the last line calls.
    """

    kind: str
    contract: str = ""
    check: str = ""
    object: str = ""
    functions: tuple[str, ...] = ()
    effects: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    lines: tuple[tuple[str, ...], ...] = ()
    calls: str = ""
    words: str = ""

    def plain(self) -> dict:
        """The key as JSON, without empty fields."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: _plain(value) for name, value in fields.items() if value}


def _plain(value: str | tuple | frozenset):
    if isinstance(value, str):
        return value
    return [_plain(one) for one in (sorted(value) if isinstance(value, frozenset) else value)]


@dataclass(frozen=True)
class Passed:
    """A trace point of the core that led to a finding: EVENT at LINE of FILE.

    PROGRAM_LINE is the program line that passed it, from 1; 0 is before the first.
    """

    file: str
    line: int
    event: str
    program_line: int

    def plain(self) -> dict:
        """The trace point as JSON."""
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The record of a finding, with its fields in the order of the file.

    VERDICT is the signature without functions and detail, and KIND that without the reporter. TITLE
    is that of NOTES.md. FAILING_LINE counts the program's lines from 1, and is None if the program
    fails at its end; PASSED has what the core did before, about one object if the report names one.
    LINES counts those of its program. RATE is the share of VERIFIED_RUNS fresh processes that
    failed, and RATE_LOW its Wilson bound; ENVIRONMENT has the variables that the script needs to
    fail. SEQUENCE counts the programs that together repeat a crash that none repeats alone. TIER is
    the highest API tier of its ops and values. VARIANTS has the variants of its bucket, the program
    of the script first. A person and `ci/torch_releases.sh` add the fields from
    SENTENCE on: see report/__init__.py.
    """

    id: str
    signature: str
    verdict: str = ""
    title: str = ""
    kind: str
    subject: str
    sanitizer: str = ""
    target: str
    oracle: str
    contract: str
    lines: int
    runs_to_find: int
    seconds_to_find: float | int
    rate: float | int
    rate_low: float | int
    verified_runs: int | None = None
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    seed: int
    versions: dict[str, str]
    minimize_runs: int
    minimize_programs: int | None = None
    minimize_seconds: float | int
    lines_before: int | None = None
    one_minimal: bool
    sequence: int | None = None
    tier: str = TIERS[0]
    failing_line: int | None = None
    passed: tuple[Passed, ...] = ()
    dedup_keys: tuple[DedupKey, ...] = ()
    variants: tuple[str, ...] = ()
    sentence: str = ""
    why: str = ""
    known_as: str = ""
    reach: str = ""
    fails_in: dict[str, bool] = dataclasses.field(default_factory=dict)
    user_script: str = ""
    expected: str = ""
    cause: str = ""
    reports: tuple[str, ...] = ()
    user_ends: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def keys(self) -> frozenset[DedupKey]:
        """The dedup keys as a set."""
        return frozenset(self.dedup_keys)

    def plain(self) -> dict:
        """The record as JSON, without optional fields that say nothing."""
        optional = shape.fields_of(Finding)[1]
        fields = {name: value for name, value in vars(self).items()
                  if name not in optional or value not in (None, "", (), {})}
        return {**fields,
                **{name: [one.plain() for one in getattr(self, name)]
                   for name in (PASSED, KEYS) if name in fields},
                **{name: list(fields[name]) for name in (VARIANTS, REPORTS) if name in fields}}

    def text(self) -> str:
        """The record as JSON that a person can read, with one dedup key or trace point per line."""
        fields = [f"  {json.dumps(name)}: {_text(name, value)}"
                  for name, value in self.plain().items()]
        return "{\n" + ",\n".join(fields) + "\n}\n"


PASSED, KEYS, VARIANTS, REPORTS = "passed", "dedup_keys", "variants", "reports"


def read(text: bytes) -> Finding:
    """The record in TEXT, a finding.json; ValueError says in words why it is invalid."""
    try:
        record = shape.parsed(text)
    except ValueError as error:
        raise ValueError(f"finding.json is no JSON: {error}") from error
    if wrong := shape.wrong_as(record, Finding):
        raise ValueError(f"finding.json: {wrong}")
    return shape.made(Finding, record)


def in_order(keys: frozenset[DedupKey]) -> tuple[DedupKey, ...]:
    """KEYS in the order of the file."""
    return tuple(sorted(keys, key=lambda key: json.dumps(key.plain())))


def _text(name: str, value) -> str:
    if name in (PASSED, KEYS) and value:
        return "[\n" + ",\n".join(f"    {json.dumps(one)}" for one in value) + "\n  ]"
    return json.dumps(value, indent=2).replace("\n", "\n  ")
