"""Why mutants survive: bench/mutation.toml, a row for each survivor that somebody has looked at."""

import tomllib
from dataclasses import dataclass

from slotfuzz.mutation.site import one_line
from slotfuzz.paths import ROOT

LIST = "bench/mutation.toml"
EQUIVALENT = "equivalent"
CLASSES = {
    EQUIVALENT: "no program of any kind can see it",
    "no op": "no op of the vocabulary leads there",
    "no oracle": "a program behaves otherwise, and nothing checks that",
    "search": "an oracle would see it, and no program of the run did what it takes",
    "memory order": "one thread at a time sees no weaker order; `interleave` may",
}
UNCLASSIFIED, UNREACHED, START = "unclassified", "unreached", "start"


@dataclass(frozen=True)
class Survivor:
    """A row: the MUTANT with its CODE as one line, its class KIND, and the REASON."""

    mutant: str
    code: str
    kind: str
    reason: str


def read() -> dict[str, Survivor]:
    """All rows, by the names of their mutants."""
    rows = tomllib.loads((ROOT / LIST).read_text()).get("survivor", [])
    return {row["mutant"]: Survivor(**row) for row in rows}


def is_there(row: Survivor) -> bool:
    """Whether the file of a row still has its code, as far as that shows without a compiler."""
    file = ROOT / row.mutant.partition(":")[0]
    text = file.read_text() if file.is_file() else ""
    return "".join(one_line(row.code).split()) in "".join(_without_comments(text).split())


def _without_comments(text: str) -> str:
    return "\n".join(line.partition("//")[0] for line in text.splitlines())


def count(outcomes, survivors: dict[str, Survivor]) -> dict:
    """How many mutants there are of each class, and the score in percent."""
    kinds = [kind_of(one, survivors) for one in outcomes]
    killed = sum(bool(one.how) for one in outcomes)
    found = {"mutants": len(kinds), "killed": killed, START: kinds.count(START),
             UNREACHED: kinds.count(UNREACHED)}
    found["survived"] = len(kinds) - killed - found[UNREACHED]
    found |= {kind: kinds.count(kind) for kind in (*CLASSES, UNCLASSIFIED)}
    real = len(kinds) - found[EQUIVALENT]
    return found | {"score": round(100 * killed / real, 1) if real else 100.0}


def kind_of(outcome, survivors: dict[str, Survivor]) -> str:
    """How it was killed, or why it was not."""
    if outcome.how:
        return outcome.how
    if outcome.mutant in survivors:
        return survivors[outcome.mutant].kind
    if ":weaker-order:" in outcome.mutant:
        return "memory order"
    return UNCLASSIFIED if outcome.reached else UNREACHED
