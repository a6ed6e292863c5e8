"""finding.json: the record of a finding, with the dedup keys that identify its bug."""

import dataclasses
import json
from dataclasses import dataclass

from slotfuzz.schema.shape import NUMBER, made, wrong_as, wrong_in

JUDGE, CRASH, OUTSIDE, ERROR = "judge", "crash", "outside", "error"


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


KEYS = "dedup_keys"
FIELDS = {
    "id": str, "signature": str, "kind": str, "subject": str, "target": str, "oracle": str,
    "contract": str, "lines": int, "runs_to_find": int, "seconds_to_find": NUMBER,
    "minimize_runs": int, "minimize_seconds": NUMBER, "one_minimal": bool, "rate": NUMBER,
    "rate_low": NUMBER, "versions": {str: str}, "seed": int,
}
# Optional fields of a finding: its bucket adds some, and a person others.
MORE_FIELDS = {
    "sanitizer": str, "verified_runs": int, "lines_before": int, "minimize_programs": int,
    "sequence": int, KEYS: [DedupKey], "ways": [str], "sentence": str, "why": str,
    "known_as": str, "reach": str, "fails_in": {str: bool},
}


def wrong_in_record(record) -> str:
    """An error in RECORD, which was read from a finding.json, in words; empty if it is valid."""
    return wrong_in(record, FIELDS, MORE_FIELDS)


def keys_of(record: dict) -> frozenset[DedupKey]:
    """The dedup keys of the finding of RECORD; invalid keys are left out."""
    return frozenset(made(DedupKey, key) for key in record.get(KEYS, [])
                     if not wrong_as(key, DedupKey))


def plain(keys: frozenset[DedupKey]) -> list[dict]:
    """KEYS as JSON, sorted."""
    return sorted((key.plain() for key in keys), key=json.dumps)


def text_of(record: dict) -> str:
    """RECORD as JSON that a person can read, with one dedup key per line."""
    fields = [f"  {json.dumps(name)}: {_text(name, value)}" for name, value in record.items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _text(name: str, value) -> str:
    if name == KEYS and value:
        return "[\n" + ",\n".join(f"    {json.dumps(key)}" for key in value) + "\n  ]"
    return json.dumps(value, indent=2).replace("\n", "\n  ")
