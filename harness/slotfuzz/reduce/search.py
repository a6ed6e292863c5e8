"""The search for a smaller value that stays interesting: propose a value, keep it if it is.

The caller decides what a value is, such as a program or a schedule, and which are smaller.
"""

import itertools
import math
import time
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

# The number of values in one run if most of them are not interesting.
BATCH = 256

T = TypeVar("T")
# Runs values in order until one fails. Returns the number of values run, and whether the last one
# seems to fail as wanted; only a run of its own can confirm that.
Several = Callable[[list[T]], tuple[int, bool]]


class BudgetSpent(Exception):
    """The search needs more runs or time than allowed; its best value so far stays valid."""


class Search(Generic[T]):
    """BEST, the smallest interesting value so far, and the verdicts of all values tried.

    FIRST must be interesting. A run is a call of INTERESTING or of SEVERAL, which is optional;
    TRIED counts values. KEY turns a value into one that can be hashed. No run begins later than
    SECONDS_MAX after the start.
    """

    def __init__(self, first: T, interesting: Callable[[T], bool], several: Several | None,
                 runs_max: int, key: Callable[[T], Hashable], seconds_max: float = math.inf):
        self.best = first
        self.interesting, self.several, self.key = interesting, several, key
        self.runs_max = runs_max
        self.verdicts = {key(first): True}
        self.runs = self.tried = 0
        self._until = time.monotonic() + seconds_max

    def ask(self, value: T) -> bool:
        """Whether VALUE is interesting; runs each value once at most."""
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
        """Proposes VALUES as the new best, many in a run, since a run costs more than a value."""
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
        """Replaces the best by interesting values that SMALLER gives, while there are any."""
        while self.keep_first(smaller(self.best)):
            pass

    def _count_run(self) -> None:
        if self.runs >= self.runs_max or time.monotonic() >= self._until:
            raise BudgetSpent
        self.runs += 1
