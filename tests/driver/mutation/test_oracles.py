"""The detection matrix: what a finding counts for, and what it says of an oracle that is off."""

import pytest

from slotfuzz.engine import server
from slotfuzz.evidence import signature
from slotfuzz.mutation import oracles
from slotfuzz.mutation.hunters import Ended
from slotfuzz.mutation.oracles import CONTRACT, CRASHES, ERRORS, OTHER, ROWS, SANITIZERS, WATCHDOG
from slotfuzz.subject import catalogue, registry, subject


class Scripted:
    """A hunter whose processes end as ENDS say, one after the other."""

    def __init__(self, *ends: Ended):
        self.ends, self.asked = list(ends), []

    def run(self, number: int, runs: int, seed: int) -> Ended:
        """The next end."""
        self.asked.append((number, runs, seed))
        return self.ends.pop(0)


@pytest.mark.parametrize("verdict, oracle", [
    ("sanitizer heap-use-after-free", SANITIZERS), ("sanitizer undefined-behavior", SANITIZERS),
    ("signal SIGSEGV", CRASHES), ("fatal deallocating None", CRASHES), ("check", CRASHES),
    ("hang", WATCHDOG), ("deadlock", WATCHDOG), ("judge P5 ledger", CONTRACT),
    ("judge P9 check_elements", ROWS), ("exit 77", OTHER)])
def test_a_verdict_is_of_one_oracle(verdict, oracle):
    assert oracles.oracle_of(Ended("finding", verdict, 3), {"ledger"}) == oracle


def test_an_error_that_a_row_does_not_allow_is_no_report_of_a_sanitizer():
    """The engine says which error it was and aborts, which AddressSanitizer reports, too."""
    report = signature.of_stderr("slotfuzz: check_freed: LookupError: planted\n"
                                 "==7==ERROR: AddressSanitizer: ABRT on unknown address 0x7\n"
                                 "    #0 0x7 in __pthread_kill (/lib/libc.so.6+0x7)\n")
    assert oracles.oracle_of(Ended("finding", report.verdict, 3), set()) == ERRORS


def test_the_names_of_the_judge_are_those_of_the_binary():
    """So no contract check counts as a check row, and no row as a contract check."""
    target = catalogue.default_target()
    chosen = subject.resolve(registry.DEFAULT, "none", [target], with_python=False)
    described = server.describe(chosen, target)
    rows = {op["needs"] for op in described["ops"] if "checks" in op["effects"]}
    contract = {one["check"] for one in described["checks"]} - {""}
    assert contract and rows and not contract & rows


def test_one_process_follows_the_other_until_the_programs_are_spent():
    crash, row = Ended("finding", "signal SIGSEGV", 10), Ended("finding", "judge P9 check_x", 20)
    hunter = Scripted(crash, row, crash, Ended("", "", 60))
    programs, findings = oracles.look(hunter, 7, 100, 1, {"ledger"})
    assert (programs, findings) == (100, {CRASHES: 2, ROWS: 1})
    assert hunter.asked == [(7, 100, 1), (7, 90, 2), (7, 70, 3), (7, 60, 4)]


def test_a_mutant_that_always_fails_ends():
    hunter = Scripted(*[Ended("start", "exit 1", 0)] * oracles.FINDINGS_MAX)
    assert oracles.look(hunter, 7, 100, 1, set()) == (0, {OTHER: oracles.FINDINGS_MAX})


def test_a_mutant_is_lost_without_the_only_oracle_that_found_it():
    rows = oracles.matrix([
        oracles.Seen("a", 9, 9, {ROWS: 3}), oracles.Seen("b", 9, 9, {ROWS: 1, CONTRACT: 2}),
        oracles.Seen("c", 9, 9)])
    by_oracle = {row["oracle"]: (row["found"], row["lost without it"]) for row in rows}
    assert by_oracle["all"] == (2, 2)
    assert (by_oracle[ROWS], by_oracle[CONTRACT], by_oracle[CRASHES]) == ((2, 1), (1, 0), (0, 0))
