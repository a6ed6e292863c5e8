"""The ops that the programs of a comparison are drawn from.

An op is left out if too many programs stop at it: it would hide the lines that come after.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from slotfuzz.measure.differences import Difference, Reason

# The programs of the first rounds say which ops are left out.
ROUNDS_LOOKED_AT = 6
# An op is left out if so many of these programs differ at it, and this share of those that reach
# it.
DIFFERENT_MIN, DIFFERENT_SHARE = 4, 0.25
# Or if so many of those that reach it end torch's process there or at any later line: each costs as
# much time as ten programs.
ENDED_MIN, ENDED_SHARE = 8, 0.2


class Vocabulary:
    """OPS are those that both subjects have. LEFT_OUT has an example of why for each op."""

    def __init__(self, ops: Sequence[str], left_out: dict[str, Difference]):
        self.ops = [name for name in ops if name not in left_out]
        self.left_out = left_out
        # Where each program of the first rounds stopped, and the ops of the lines up to there.
        self.looked_at: list[tuple[Difference | None, Sequence[str]]] = []

    @property
    def drawn(self) -> list[str]:
        """The ops that are not left out."""
        return [op for op in self.ops if op not in self.left_out]

    def leave_out(
        self, stops: Sequence[tuple[Difference | None, Sequence[str]]],
        reason_for: Callable[[Difference], tuple[Reason, int] | None],
    ) -> None:
        """Leaves out the ops at which too many programs stop, of STOPS and those before.

        Of each program STOPS has the difference at which it stopped, if any, and the ops up to it.
        """
        self.looked_at += stops
        reached: Counter = Counter()
        at_line: dict[str, list[Difference]] = {}
        for stop, ops in self.looked_at:
            reached.update({*ops, *_without_names(ops)})
            if stop and stop.torch is not None and (reason := reason_for(stop)):
                at_line.setdefault(ops[reason[1]], []).append(stop)
        self.left_out |= {op: those[0] for op, those in at_line.items() if op in self.ops
                          and len(those) >= max(DIFFERENT_MIN, DIFFERENT_SHARE * reached[op])}
        while worst := self._ends_most():
            self.left_out |= worst

    def _ends_most(self) -> dict[str, Difference]:
        """The op after which most programs end torch's process, if it is to be left out.

        A program that reaches an op which is left out already says nothing of its other ops.
        """
        reached: Counter = Counter()
        ended: dict[str, list[Difference]] = {}
        for stop, ops in self.looked_at:
            names = {*_without_names(ops)}
            if names.isdisjoint(self.left_out):
                reached.update(names)
                for name in names if stop and stop.torch is None else ():
                    ended.setdefault(name, []).append(stop)
        often = {name: those for name, those in ended.items() if len(those) >= ENDED_MIN}
        worst = max(often, key=lambda name: len(often[name]) / reached[name], default="")
        is_left_out = worst and len(often[worst]) >= ENDED_SHARE * reached[worst]
        return {worst: often[worst][0]} if is_left_out else {}


def _without_names(ops: Sequence[str]) -> list[str]:
    """The ops of lines, whichever name or value each line asks for."""
    return [op.partition(" ")[0] for op in ops]
