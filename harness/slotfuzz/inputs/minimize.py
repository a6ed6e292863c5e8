"""Makes a case small while it fails alike: first its lines, then its tensors. A predicate decides.

Lines go through the passes of the minimizer for programs; a pass over tensors proposes rewrites of
the capture (reductions.py) to the same search. Both repeat until neither changes anything.
"""

import time
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace

from slotfuzz.inputs import reductions
from slotfuzz.inputs.case import Case
from slotfuzz.inputs.script import Statement
from slotfuzz.reduce import minimize as lines_minimizer
from slotfuzz.reduce.search import BudgetSpent, Search

RUNS_MAX = 4000


class OpaqueNames:
    """What `ast` says of statements."""

    def variables(self, line: Statement) -> Iterable[str]:
        """The names that LINE mentions, in order."""
        return sorted(line.names)

    def bound(self, line: Statement) -> Set[str]:
        """The names that LINE binds."""
        return line.binds


@dataclass(frozen=True)
class MinimizedCase:
    """The smallest case found, and the cost. ONE_MINIMAL: no line and no change can go further."""

    case: Case
    runs: int
    seconds: float
    one_minimal: bool


def minimize(case: Case, fails: Callable[[Case], bool], runs_max: int = RUNS_MAX) -> MinimizedCase:
    """The smallest case found for which FAILS holds; it must hold for CASE."""
    start = time.monotonic()
    search = Search(case, fails, None, runs_max, key=_key)
    one_minimal = False
    try:
        before = None
        while before != _key(search.best):
            before = _key(search.best)
            _drop_lines(search, "lines")
            _drop_lines(search, "before")
            for one in reductions.PASSES:
                search.settle(lambda best, one=one: (replace(best, capture=capture)
                                                     for capture in one(best.capture)))
        one_minimal = True
    except BudgetSpent:
        pass
    return MinimizedCase(search.best, search.runs, time.monotonic() - start, one_minimal)


def _drop_lines(search: Search[Case], part: str) -> None:
    """Drops statements of one PART of the case, by the passes of the minimizer for programs."""
    case = search.best

    def with_lines(lines: list[Statement]) -> Case:
        return replace(case, **{part: tuple(lines)})

    lines = Search(list(getattr(case, part)), lambda tried: search.keep(with_lines(tried)), None,
                   search.runs_max, key=tuple)
    lines_minimizer.drop_lines(lines, OpaqueNames())


def _key(case: Case):
    capture = case.capture
    document = capture.document
    rows = tuple(tuple((name, repr(value)) for name, value in row.items())
                 for row in (*document.storages, *document.tensors))
    return (tuple(one.text for one in case.before), tuple(one.text for one in case.lines), rows,
            document.roots, capture.data, tuple(capture.names.items()), capture.grad_mode)
