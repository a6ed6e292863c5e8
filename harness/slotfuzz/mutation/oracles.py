"""The detection matrix: which oracles find a mutant, each alone, and all but one.

A finding ends its process and names one oracle, so a mutant is hunted by one process after the
other, each with another seed. What an oracle finds alone is counted. A mutant is lost without an
oracle if all its findings are of that oracle. That is an upper bound, since another oracle could
have failed later in the same program.
"""

from collections import Counter
from dataclasses import dataclass, field

from slotfuzz.evidence import signature
from slotfuzz.mutation.hunters import Ended, Model, Programs, Texts

# Findings of one mutant on one target: a mutant that fails at once has no more to say.
FINDINGS_MAX = 8
SANITIZERS, CRASHES, WATCHDOG = "sanitizers", "crashes", "watchdog"
CONTRACT, ROWS, ERRORS = "contract checks", "check rows", "errors of lines"
MODELS, TEXTS = "models", "texts"
OTHER = "start, memory, time"
ORACLES = {
    SANITIZERS: "AddressSanitizer and UndefinedBehaviorSanitizer",
    CRASHES: "a signal, a fatal error of CPython, a CHECK of the core, std::terminate",
    WATCHDOG: "a line that does not return",
    CONTRACT: "the judge's checks after each line and at the end, with the ledger",
    ROWS: "an assertion in a check_* row of ops/",
    ERRORS: "an error that its row does not allow: the engine aborts, and nothing else reports",
    MODELS: "the model of C++ memory, over the golden scenarios of a protocol",
    TEXTS: "all that the target meta_text reports of a text",
    OTHER: "a process that does not start, or libFuzzer's limits of memory and time",
}
_BY_REPORTER = {
    signature.SANITIZER: SANITIZERS, signature.SIGNAL: CRASHES, signature.FATAL: CRASHES,
    signature.CHECK: CRASHES, signature.DEADLOCK: WATCHDOG, signature.HANG: WATCHDOG,
}


@dataclass
class Seen:
    """How many findings of a MUTANT each oracle had in so many PROGRAMS; RUNS were asked for."""

    mutant: str
    runs: int
    programs: int = 0
    findings: dict[str, int] = field(default_factory=dict)


def oracle_of(ended: Ended, contract_checks: set[str]) -> str:
    """The oracle that ended a process; CONTRACT_CHECKS are the names of the judge's own checks."""
    if ended.verdict == signature.ABORT.verdict:
        return ERRORS
    reporter, _, rest = ended.verdict.partition(" ")
    if reporter == signature.JUDGE:
        return CONTRACT if rest.partition(" ")[2] in contract_checks else ROWS
    return _BY_REPORTER.get(reporter, OTHER)


def look(hunter: Programs, number: int, runs: int, seed: int,
         contract_checks: set[str]) -> tuple[int, Counter]:
    """The programs that HUNTER ran under a mutant, and the findings of each oracle."""
    programs, findings = 0, Counter()
    while programs < runs and findings.total() < FINDINGS_MAX:
        ended = hunter.run(number, runs - programs, seed + findings.total())
        programs += ended.programs
        if not ended.how:
            break
        findings[oracle_of(ended, contract_checks)] += 1
    return programs, findings


def look_once(hunter: Model | Texts, number: int, runs: int, seed: int) -> Counter:
    """Whether HUNTER, whose findings do not depend on the order of programs, finds a mutant."""
    oracle = MODELS if isinstance(hunter, Model) else TEXTS
    return Counter([oracle] if hunter.run(number, runs, seed).how else [])


def matrix(all_seen: list[Seen]) -> list[dict]:
    """A row for all oracles, and one for each: mutants that it finds alone, and lost without it."""
    found = [set(one.findings) for one in all_seen if one.findings]
    rows = [{"oracle": "all", "found": len(found), "lost without it": len(found),
             "findings": sum(sum(one.findings.values()) for one in all_seen)}]
    return rows + [{"oracle": oracle, "found": sum(oracle in one for one in found),
                    "lost without it": found.count({oracle}),
                    "findings": sum(one.findings.get(oracle, 0) for one in all_seen)}
                   for oracle in ORACLES]
