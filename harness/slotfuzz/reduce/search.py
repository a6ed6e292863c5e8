"""The search for a smaller value that stays interesting: propose, and keep what still is.

What a value is, a program or the plan of a schedule, and which ones are smaller, its user knows.
"""

import itertools
import math
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

# Values of one run when most of them are not interesting.
BATCH = 256

T = TypeVar("T")
# Runs values in order, up to the first that fails: how many were run, and whether the last of
# those failed as the wanted one does, for all that can be said without running it alone.
Several = Callable[[list[T]], tuple[int, bool]]


class BudgetSpent(Exception):
    """More runs than allowed; what has been kept so far stands."""


class Search(Generic[T]):
    """BEST, the smallest interesting value so far, and the verdicts of all that were tried.

    FIRST is interesting. A run is a call of INTERESTING or of SEVERAL, which may be missing; TRIED
    counts values. KEY makes a value that can be hashed.
    """

    def __init__(self, first: T, interesting: Callable[[T], bool], several: Several | None,
                 runs_max: int, key: Callable[[T], Hashable]):
        self.best = first
        self.interesting, self.several, self.key = interesting, several, key
        self.runs_max = runs_max
        self.verdicts = {key(first): True}
        self.runs = self.tried = 0

    def ask(self, value: T) -> bool:
        """Whether VALUE is interesting; never runs the same one twice."""
        key = self.key(value)
        if key not in self.verdicts:
            self._count_run()
            self.tried += 1
            self.verdicts[key] = self.interesting(value)
        return self.verdicts[key]

    def keep(self, value: T) -> bool:
        """Proposes VALUE as the new best."""
        if self.ask(value):
            self.best = value
            return True
        return False

    def keep_first(
        self, values: Iterator[T], runs_max: float = math.inf, seconds_max: float = math.inf,
    ) -> bool:
        """Proposes VALUES as the new best, many in a run: a run costs more than a value."""
        if not self.several:
            return any(map(self.keep, values))
        last, until, waiting = self.runs + runs_max, time.monotonic() + seconds_max, []
        while self.runs < last and time.monotonic() < until:
            waiting += itertools.islice(
                (value for value in values if self.key(value) not in self.verdicts),
                BATCH - len(waiting))
            if len(waiting) < 2:
                return any(map(self.keep, waiting))
            self._count_run()
            done, fails = self.several(waiting)
            self.tried += done
            self.verdicts |= dict.fromkeys(map(self.key, waiting[:done - fails]), False)
            if fails and self.keep(waiting[done - 1]):
                return True
            waiting = waiting[done:]
        return False

    def settle(self, smaller: Callable[[T], Iterator[T]]) -> None:
        """Takes one of what is SMALLER than the best, until none of that is interesting."""
        while self.keep_first(smaller(self.best)):
            pass

    def _count_run(self) -> None:
        if self.runs >= self.runs_max:
            raise BudgetSpent
        self.runs += 1
