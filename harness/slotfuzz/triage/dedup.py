"""Decides which findings are one bug, by a table of rules about the cause.

A hunt sees one bug in a hundred programs. The last line of a minimal program often only shows the
effect of earlier lines: twenty ops that read the data of a tensor without data are one bug. Two
programs that lose an attribute, one by the collector and one in hermetic mode, are two bugs. So a
finding has dedup keys (`schema/record.py`), and two findings with a key in common share a bucket.
The first rule of RULES that applies makes the keys:

    rule            the finding                               content of its keys
    by_words        `RuntimeError: x INTERNAL ASSERT FAILED`  the words, wherever x is asserted
    by_outside      a read after `s0.resize_(0)`              the line that led outside of memory
    by_mechanism    P2: an attribute is gone after            contract, tensor or storage, effects
                    `gc.collect()`
    by_lines        P5: a wrapper lives on after              contract, check, lines; and what the
                    `m0 = t0.__dlpack__()`                    last line calls, where a leak begins
    by_function     `t0 = T.ones(1)`, `T.f(t0)` crashes       the function
    by_dangling     `enter_hermetic()`, `del s0` .., a wrap   effects, and the kinds of objects, as
                    crashes                                   any later access crashes
    by_crash        a view of a detached tensor crashes       the lines before it; the function with
                                                              the effects, or else with the lines

`is_same` says when two unequal keys still have the same cause: one is from a longer program.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from slotfuzz.evidence import signature
from slotfuzz.evidence.signature import Signature
from slotfuzz.language.program import Line, Table
from slotfuzz.schema.answers import Reply
from slotfuzz.schema.record import CRASH, ERROR, JUDGE, OUTSIDE, DedupKey
from slotfuzz.triage import program_shape
from slotfuzz.triage.program_shape import PLAIN, in_one_order, mechanisms, named_in, shape

Keys = frozenset[DedupKey]


@dataclass(frozen=True)
class Outside:
    """The LINE that moves elements outside of memory, and whether it raised an exception."""

    line: Line
    raised: bool


@dataclass(frozen=True)
class Case:
    """A finding: its minimal program LINES, the engine's REPLY, its signature WORDS.

    OUTSIDE is the line that moved elements outside of memory, if one did.
    """

    reply: Reply
    words: Signature
    lines: list[Line]
    table: Table
    outside: Outside | None = None

    @property
    def last(self) -> Line:
        """The last line."""
        return self.lines[-1]

    @property
    def is_shown(self) -> bool:
        """Whether the finding occurs in the last line."""
        return self.reply.line == len(self.lines) - 1

    @cached_property
    def is_bare(self) -> bool:
        """Whether all lines before the last one only make objects from values."""
        return all(map(self.table.makes_from_values, self.lines[:-1]))

    @cached_property
    def cause(self) -> list[Line]:
        """The lines that may cause it: all but a last line that only shows it."""
        return self.lines[:-1] if self.is_shown and not self.is_bare else self.lines

    @cached_property
    def function(self) -> str:
        """The function that crashes."""
        return signature.crashing_function(self.words)

    @cached_property
    def named(self) -> list[str]:
        """The functions that the last line calls by name."""
        return program_shape.named(self.last, self.table)

    @property
    def calls(self) -> str:
        """The function that the last line calls."""
        return program_shape.called(self.last, self.table)


def error(reply: Reply, words: Signature) -> str:
    """The engine's words for an exception that no promise explains; empty for other findings."""
    return words.detail if reply.kind == "exception" and not reply.contract else ""


def by_words(case: Case) -> Keys | None:
    """An exception that no promise explains names the function that failed."""
    if not error(case.reply, case.words):
        return None
    return frozenset([DedupKey(ERROR, words=signature.without_place(case.words))])


def by_outside(case: Case) -> Keys | None:
    """An access outside of memory can crash in any function, or break any promise."""
    return keys_outside(case.outside, case.table) if case.outside else None


def keys_outside(outside: Outside, table: Table) -> Keys:
    """The keys of any failure in a program after OUTSIDE."""
    effects = table.line_effects(outside.line)
    lines = DedupKey(OUTSIDE, lines=program_shape.shape_anywhere(outside.line, table))
    if "shrinks" in effects:
        # Any line that shrinks the memory of tensors that own it.
        return frozenset([lines, DedupKey(OUTSIDE, effects=frozenset(["shrinks"]))])
    if outside.raised and "exceeds_memory" not in effects:
        # A tensor has sizes to which its storage has not grown; the failed line does not matter.
        # The same line may also get there without an error. Many functions refuse to allocate
        # too much memory, and a release may have fixed only one of them.
        raises = frozenset(["raises"])
        return frozenset([DedupKey(OUTSIDE, effects=raises), replace(lines, effects=raises)])
    return frozenset([lines])


def by_mechanism(case: Case) -> Keys | None:
    """A mechanism breaks a promise that something is kept.

    The lists, closures and attributes that led it to the object do not matter.
    """
    reply, by = case.reply, mechanisms(case.lines, case.table)
    if not reply.is_of_judge or not (reply.implies or reply.keeps):
        return None
    if not (by := by - reply.implies):
        return None
    return frozenset([DedupKey(JUDGE, reply.contract, object=reply.object, effects=by)])


def by_lines(case: Case) -> Keys | None:
    """The lines break any other promise; the last line begins a leak."""
    if not case.reply.is_of_judge:
        return None
    broken = DedupKey(JUDGE, case.reply.contract, case.reply.check)
    found = [replace(broken, lines=shape(case.cause, case.table))]
    if case.reply.line == len(case.lines):
        found.append(replace(broken, calls=case.calls))
    return frozenset(found)


def by_function(case: Case) -> Keys | None:
    """If no earlier line did anything, the function itself is wrong, under either of its names."""
    names = [name for name in (case.function, *case.named) if name]
    if not case.is_bare or not names:
        return None
    return frozenset([DedupKey(CRASH, lines=shape(case.cause, case.table)),
                      *(DedupKey(CRASH, functions=(name,)) for name in names)])


def by_dangling(case: Case) -> Keys | None:
    """A slot or a wrapper dangles: the first function that reads it crashes.

    A function that a line calls by name may crash on anything.
    """
    by = mechanisms(case.cause, case.table)
    dangles = "dangles" in program_shape.effects(case.cause, case.table) and not case.named
    if not by or (case.function and not dangles):
        return None
    kinds = program_shape.kinds(case.lines, case.table)
    return frozenset([_after(case), DedupKey(CRASH, kinds=kinds, effects=by)])


def by_crash(case: Case) -> Keys | None:
    """A function that crashes on state from earlier lines is not to blame for all such states."""
    first, by = _after(case), mechanisms(case.cause, case.table)
    place = DedupKey(CRASH, functions=(case.function,))
    if by:
        return frozenset([first, replace(place, effects=by)])
    found = [replace(place, lines=shape(case.cause, case.table))] if case.function else []
    functions = case.words.functions
    if functions and case.is_shown and not signature.meets_what_others_left(case.function):
        found.append(DedupKey(CRASH, functions=functions, calls=case.calls))
        # Two functions that crash on a None are two bugs.
        first = DedupKey(CRASH, functions=(case.named[0],)) if case.named else first
    return frozenset([first, *found])


def _after(case: Case) -> DedupKey:
    plain = program_shape.with_plain_objects(case.cause, case.table)
    return DedupKey(CRASH, lines=shape(plain, case.table))


# In this order.
RULES: tuple[Callable[[Case], Keys | None], ...] = (
    by_words, by_outside, by_mechanism, by_lines, by_function, by_dangling, by_crash)


def keys(case: Case) -> Keys:
    """The keys of a finding, by the first rule that applies."""
    return next(found for rule in RULES if (found := rule(case)) is not None)


def is_same(key: DedupKey, known: DedupKey) -> bool:
    """Whether a finding with KEY has the cause of KNOWN: equal keys, or a longer program.

    Keys are equal if their lines can be brought in one order.
    The longer program breaks the same promise, or crashes in the same function, and has all ops of
    KNOWN in their order. A minimal program has no superfluous line, but it may use an extra
    variable, or make an object by another op than the plainest. A crash key of lines alone
    matches only an equal key, because the lines of another bug may extend its lines. The longer
    program may have more effects: a class may have a finalizer, a weak reference a callback.
    """
    if _in_one_order(key) == _in_one_order(known):
        return True
    if key.kind != JUDGE and not (key.kind == CRASH and (key.functions or key.effects)):
        return False
    if key.effects and known.effects:
        return known.effects <= key.effects and replace(key, effects=known.effects) == known
    if not key.lines or replace(key, lines=()) != replace(known, lines=()):
        return False
    rest = iter(_ops(key))
    return not known.lines or bool(_ops(known)) and all(op in rest for op in _ops(known))


def _in_one_order(key: DedupKey) -> DedupKey:
    return replace(key, lines=in_one_order(key.lines))


def _ops(key: DedupKey) -> list[tuple[str, ...]]:
    """The ops of its lines, without those that make an object in the plainest manner.

    A check that names what it checks is another one with another name.
    """
    return [(op, *(named_in(words) if op == key.check else ()))
            for op, *words in key.lines if op != PLAIN]


def follows(case_keys: Keys, lines: list[Line], broken_keys: Keys, broken: list[Line],
            table: Table) -> bool:
    """Whether a crash with CASE_KEYS, after LINES, follows from the promise that BROKEN breaks.

    The minimal program of the crash need not break the promise. The crash is another bug if it has
    fewer mechanisms, or if elements lie outside of memory and those of BROKEN did not.
    """
    outside = {key for key in case_keys if key.kind == OUTSIDE}
    return outside <= broken_keys and mechanisms(broken, table) <= mechanisms(lines, table)
