"""The first difference between two traces of one program, and the table of reasons for differences.

Nothing runs here. The signature of a difference has the op of the line, the kind of the first
observation that differs, and what each subject shows; two differences with one signature are one.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from slotfuzz.errors import BrokenError
from slotfuzz.schema.answers import Observation, Observed

# The name of the first observation after a line.
RAISED = "the line raised"
VARIABLE = re.compile(r"\b([a-z])\d\b")
# A value that a signature keeps, since it is a word: an exception's name, a class, True.
WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Reason:
    """Explains differences whose signature matches one of PATTERNS; PLACE documents the reason.

    If AFTER is given, the line or one before it must also have an op that matches one of AFTER, and
    the last such line is to blame.
    """

    name: str
    why: str
    place: str
    patterns: tuple[str, ...]
    after: tuple[str, ...] = ()

    def covers(self, other: "Reason") -> bool:
        """Whether this explains all that OTHER, a version of the same reason, explains."""
        return set(self.patterns) >= set(other.patterns) and (
            not self.after or bool(other.after) and set(self.after) >= set(other.after))

    def blames(self, signature: str, ops: tuple[str, ...]) -> int | None:
        """The line to blame for SIGNATURE after lines of OPS; None if this is not the reason."""
        if not any(fnmatchcase(one, pattern) for pattern in self.patterns
                   for one in (signature, _of_any_name(signature))):
            return None
        if not self.after:
            return len(ops) - 1
        return next((i for i in reversed(range(len(ops)))
                     if any(fnmatchcase(one, pattern) for pattern in self.after
                            for one in (ops[i], _of_any_name(ops[i])))), None)


@dataclass(frozen=True)
class Difference:
    """The first observation that differs, after line LINE of a program.

    CORE and TORCH are its values, or None for the side whose process ended. OPS are the ops of the
    lines up to LINE. IS_RAISED_ALONE says that what the line raised is all that differs after it.
    """

    line: int
    ops: tuple[str, ...]
    signature: str
    observation: str
    core: str | None
    torch: str | None
    is_raised_alone: bool = False


def _of_any_name(words: str) -> str:
    """A signature or an op without the name that its line asks for."""
    op, colon, rest = words.partition(":")
    return op.partition(" ")[0] + colon + rest


def read_reasons(path: Path) -> list[Reason]:
    """Reads the table of reasons. The name of a list of [effects] or [causes] is its patterns."""
    table = tomllib.loads(path.read_text())

    def patterns(names: list[str], lists: dict[str, list[str]]) -> tuple[str, ...]:
        return tuple(pattern for name in names for pattern in lists.get(name, [name]))
    return [Reason(row["name"], row["why"], row["place"], patterns(row["match"], table["effects"]),
                   patterns(row.get("after", []), table["causes"])) for row in table["reason"]]


def differences_of(
    core: Sequence[Observation], torch: Sequence[Observation], ops: list[str],
) -> Iterator[Difference]:
    """The first observation that differs after each line, in two traces of a program with OPS."""
    for line, (ours, theirs) in enumerate(zip(core, torch, strict=True)):
        if ours == theirs:
            continue
        observation, one, other = _differing(_observations(ours), _observations(theirs))
        done = tuple([*ops, "end"][:line + 1])
        signature = f"{done[-1]}: {_kind(observation)}: {_word(one)} / {_word(other)}"
        yield Difference(line, done, signature, observation, one, other,
                         observation == RAISED and ours.seen == theirs.seen)


def _observations(after: Observation) -> dict[str, str]:
    """The value of each observation by name; `the line raised` comes first."""
    found = {RAISED: after.raised or "nothing"}
    for line in after.seen.splitlines():
        name, _, value = line.partition(" = ") if " = " in line else line.rpartition(" ")
        found[name] = value
    return found


def _differing(core: dict[str, str], torch: dict[str, str]) -> tuple[str, str, str]:
    places: dict[str, int] = {}
    for names in (core, torch):
        for place, name in enumerate(names):
            places[name] = min(place, places.get(name, place))
    for name in sorted(places, key=places.__getitem__):
        if core.get(name) != torch.get(name):
            return name, core.get(name, "nothing"), torch.get(name, "nothing")
    raise BrokenError("two traces differ, but their observations do not")


def _kind(observation: str) -> str:
    """An observation without the names of variables: `t0.grad.size` becomes `t.size`."""
    place = VARIABLE.sub(r"\1", observation)
    return place if "." not in place else f"{place[0]}.{place.rpartition('.')[2]}"


def _word(value: str) -> str:
    return value if WORD.fullmatch(value) and not VARIABLE.search(value) else "*"


def crash(core: Observed, torch: Observed, ops: list[str]) -> Difference | None:
    for reply, sides in ((torch, ("runs", None)), (core, (None, "runs"))):
        if reply.crashed:
            at = reply.line
            done = tuple([*ops, "end"][:at + 1])
            side = "torch" if sides[1] is None else "core"
            return Difference(at, done, f"{done[-1]}: ends the process of {side}", "the process",
                              *sides)
    return None
