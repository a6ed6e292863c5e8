"""Compares two subjects: the same programs, line by line, must show the same facts.

Both run in the same engine. A difference is known by its signature: the op of the line, the fact
that is the first to differ, and what each subject says of it. A difference with a reason is
counted; then its line is dropped and what is left of the program is compared again, so that one
line in which the subjects are meant to differ does not hide what comes after it.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.language.program import Line
from slotfuzz.reduce import minimize
from slotfuzz.schema.answers import Observed
from slotfuzz.subject import registry
from slotfuzz.subject.subject import Subject

TARGET = "tensor"  # the most of the vocabulary that needs no threads and no interpreters
# Programs per child of a server.
BATCH = 256
# glibc then fills what it allocates with zeros, so that uninitialised numbers are no difference.
ZEROS = {"MALLOC_PERTURB_": "255", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
VARIABLE = re.compile(r"\b([a-z])\d\b")
# What a signature says of a value that is a word: an exception's name, a class, True.
WORD = re.compile(r"[A-Za-z_]\w*")
MINIMIZE_RUNS_MAX = 600
# A line that is explained is dropped; no program has more lines.
ROUNDS_MAX = 61


@dataclass(frozen=True)
class Reason:
    """Why the subjects differ where a signature matches one of PATTERNS; PLACE is what says so.

    With AFTER, only if an op that matches one of those stands in the line or before it; that line
    is to blame then.
    """

    name: str
    why: str
    place: str
    patterns: tuple[str, ...]
    after: tuple[str, ...] = ()

    def blames(self, signature: str, ops: tuple[str, ...]) -> int | None:
        """The line to blame for a difference with SIGNATURE after lines of OPS; None if none is."""
        if not any(fnmatchcase(signature, pattern) for pattern in self.patterns):
            return None
        if not self.after:
            return len(ops) - 1
        return next((i for i in reversed(range(len(ops)))
                     if any(fnmatchcase(ops[i], pattern) for pattern in self.after)), None)


@dataclass(frozen=True)
class Difference:
    """The first fact that differs, after line LINE of a program; a side is None where it ended.

    OPS are those of the lines up to there.
    """

    line: int
    ops: tuple[str, ...]
    signature: str
    fact: str
    core: str | None
    torch: str | None


@dataclass
class Unexplained:
    """A difference without a reason: the smallest program found, and how often it was met."""

    difference: Difference
    text: str
    met: int = 1


@dataclass
class Result:
    """PROGRAMS that both ran, of these ALIKE without a word, REASONS met in how many of the others.

    CRASHED are those that ended torch's process.
    """

    programs: int = 0
    alike: int = 0
    crashed: int = 0
    lines: int = 0
    reasons: Counter = field(default_factory=Counter)
    unexplained: dict[str, Unexplained] = field(default_factory=dict)
    interrupted: bool = False


def read_reasons(path: Path) -> list[Reason]:
    """The table of reasons."""
    rows = tomllib.loads(path.read_text())["reason"]
    return [Reason(row["name"], row["why"], row["place"], tuple(row["match"]),
                   tuple(row.get("after", ()))) for row in rows]


def first_difference(
    core: list[str], torch: list[str], ops: list[str],
) -> Difference | None:
    """The first fact that differs in two traces of a program whose lines are of OPS."""
    for line, (ours, theirs) in enumerate(zip(core, torch, strict=True)):
        if ours == theirs:
            continue
        fact, one, other = _differing(_facts(ours), _facts(theirs))
        done = tuple([*ops, "end"][:line + 1])
        return Difference(line, done, f"{done[-1]}: {_kind(fact)}: {_word(one)} / {_word(other)}",
                          fact, one, other)
    return None


def _facts(text: str) -> dict[str, str]:
    facts = {}
    for line in text.splitlines():
        fact, _, value = line.partition(" = ") if " = " in line else line.rpartition(" ")
        facts[fact] = value
    return facts


def _differing(core: dict[str, str], torch: dict[str, str]) -> tuple[str, str, str]:
    for fact in [*core, *torch]:
        if core.get(fact) != torch.get(fact):
            return fact, core.get(fact, "nothing"), torch.get(fact, "nothing")
    raise BrokenError("texts differ that have the same facts")


def _kind(fact: str) -> str:
    """A fact without the names that differ from program to program: `t0.grad.size` is `t.size`."""
    place = VARIABLE.sub(r"\1", fact)
    return place if "." not in place else f"{place[0]}.{place.rpartition('.')[2]}"


def _word(value: str) -> str:
    return value if WORD.fullmatch(value) and not VARIABLE.search(value) else "*"


def servers(torch: Subject) -> tuple[Server, Server]:
    """Of the core and of TORCH, in one binary, so that nothing else differs."""
    core = replace(torch, name=registry.DEFAULT, versions={})
    return Server(core, TARGET, extra=ZEROS), Server(torch, TARGET, extra=ZEROS)


class Pair:
    """The servers of both subjects. Use as a context manager."""

    def __init__(self, core: Server, torch: Server, reasons: list[Reason]):
        self.core, self.torch, self.reasons = core, torch, reasons
        self.threads = ThreadPoolExecutor(2)
        table = self.torch.table
        self.ops = [name for name, op in self.core.table.ops.items()
                    if not op["masked"] and not table.ops[name]["masked"]]
        # A line without operands that differs by itself would do so in a fifth of all programs.
        self.left_out = {name: difference for name in self.ops if not table.ops[name]["operands"]
                         and (difference := self._difference(table.program_text([Line(name, ())])))
                         and (difference.torch is None or self.reason_for(difference))}
        self.ops = [name for name in self.ops if name not in self.left_out]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.threads.shutdown()
        self.core.close()
        self.torch.close()

    def reason_for(self, difference: Difference) -> tuple[Reason, int] | None:
        """The first that explains it, and the line to blame."""
        for reason in self.reasons:
            line = reason.blames(difference.signature, difference.ops)
            if line is not None:
                return reason, line
        return None

    def compare(
        self, runs: int, seed: int, say: Callable[[str], None],
        show: Callable[[str], None] = lambda text: None,
    ) -> Result:
        """Compares RUNS random programs that both can run, or fewer if it is interrupted.

        SAY hears of each new signature, SHOW how far it is.
        """
        result, batch = Result(), 0
        try:
            while result.programs < runs:
                count = min(BATCH, runs - result.programs)
                texts = self.core.generate(count, seed * 1_000_003 + batch, self.ops)
                batch += 1
                self._compare_batch(texts, result, say)
                show(f"{result.programs:,} of {runs:,} programs,"
                     f" {len(result.unexplained)} differences without a reason")
        except KeyboardInterrupt:
            result.interrupted = True
        return result

    def _compare_batch(self, texts: list[str], result: Result, say: Callable[[str], None]) -> None:
        left = {text: text for text in texts}  # the program as drawn, and what is left of it
        met: set[tuple[str, str]] = set()
        for _ in range(ROUNDS_MAX):
            if not left:
                result.reasons.update(name for _, name in met)
                return
            found = self.differences(list(left.values()))
            rest = {}
            for (drawn, text), difference in zip(left.items(), found, strict=True):
                if difference and difference.torch is None:
                    result.crashed += 1
                    continue
                explained = difference and self.reason_for(difference)
                if explained:
                    reason, line = explained
                    met.add((drawn, reason.name))
                    rest[drawn] = _without(text, line)
                    continue
                result.programs += 1
                result.lines += len(text.splitlines())
                result.alike += text == drawn and not difference
                if difference:
                    self._note(text, difference, result, say)
            left = rest
        raise BrokenError("a program differs in more lines than it has")

    def differences(self, texts: list[str]) -> list[Difference | None]:
        """The first difference of each program, or None.

        Many programs share a process. What one leaves behind may show in the next, so what has no
        reason counts only if it differs in a process of its own.
        """
        found: list[Difference | None] = [None] * len(texts)
        unlike = []
        for at, (ours, theirs) in enumerate(zip(*self._both(texts), strict=True)):
            if theirs.crashed:
                found[at] = _crash(ours, theirs, self._ops_of(texts[at]))
            elif ours.hash != theirs.hash:
                unlike.append(at)
        for at, difference in zip(unlike, self._first([texts[at] for at in unlike]), strict=True):
            known = difference is None or difference.torch is None or self.reason_for(difference)
            found[at] = difference if known else self._difference(texts[at])
        return found

    def _difference(self, text: str) -> Difference | None:
        return self._first([text])[0]

    def _first(self, texts: list[str]) -> list[Difference | None]:
        found = []
        for text, ours, theirs in zip(texts, *self._both(texts, True), strict=True):
            ops = self._ops_of(text)
            found.append(_crash(ours, theirs, ops)
                         or first_difference(ours.trace, theirs.trace, ops))
        return found

    def _ops_of(self, text: str) -> list[str]:
        return [line.op for line in self.core.parse(text)]

    def _both(self, texts: list[str], whole: bool = False) -> list[list[dict]]:
        """The replies of the core and of torch, which run side by side."""
        return list(self.threads.map(lambda server: server.facts(texts, whole),
                                     (self.core, self.torch)))

    def _note(
        self, text: str, difference: Difference, result: Result, say: Callable[[str], None],
    ) -> None:
        known = result.unexplained.get(difference.signature)
        if known:
            known.met += 1
            return
        small = minimize.minimize(
            self.core.parse(text),
            lambda lines: self._unexplained(lines) == difference.signature,
            self.core.table, MINIMIZE_RUNS_MAX, difference.line).lines
        shown = self.core.table.program_text(small)
        again = self._difference(shown)
        result.unexplained[difference.signature] = Unexplained(again or difference, shown)
        say(f"no reason: {difference.signature}")

    def _unexplained(self, lines: list[Line]) -> str:
        """The signature of the first difference without a reason, or an empty string."""
        if any(line.op not in self.ops for line in lines):
            return ""
        difference = self._difference(self.core.table.program_text(lines))
        return difference.signature if difference and not self.reason_for(difference) else ""


def _without(text: str, line: int) -> str:
    """The program without line LINE. Of what the end did, no line is to blame: nothing is left."""
    lines = text.splitlines(keepends=True)
    return "".join(lines[:line] + lines[line + 1:]) if line < len(lines) else ""


def _crash(core: Observed, torch: Observed, ops: list[str]) -> Difference | None:
    for reply, sides in ((torch, ("runs", None)), (core, (None, "runs"))):
        if reply.crashed:
            at = reply.line
            done = tuple([*ops, "end"][:at + 1])
            side = "torch" if sides[1] is None else "core"
            return Difference(at, done, f"{done[-1]}: ends the process of {side}", "the process",
                              *sides)
    return None
