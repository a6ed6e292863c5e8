"""A hypothesis state machine for any subject, made from its op table, for use in pytest.

    TestStorage = slotfuzz.stateful.machine("mutant:hermetic-del-storage", "storage").TestCase

Each op has a rule, which adds a line to the program and takes variables that earlier lines have
bound. At the end of the example the fork server runs the program in a child, so a crash fails the
example like any other failure. A fork for each line would take fifty times as long, and show only
that a line raised. A failing program is saved as a .py file at once, then minimized and written as
a hunt does.
"""

import atexit
from pathlib import Path

from hypothesis import Phase, settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from slotfuzz.evidence import signature
from slotfuzz.finding import finding
from slotfuzz.hunt.enumerate import bound_after
from slotfuzz.hunt.hunt import VERIFY_RUNS
from slotfuzz.language.program import BINDING_MARKS, Line, MARKS, Table
from slotfuzz.paths import build_root, shown
from slotfuzz.schema.answers import Reply
from slotfuzz.subject import packages, rootfs, subject as subjects
from slotfuzz.subject.subject import Subject
from slotfuzz.triage.crash import Crash
from slotfuzz.triage.triage import Triage

# Enough that each run finds the bug of docs/hypothesis.md, which has the measurements.
EXAMPLES = 500
# Our minimizer shrinks programs better than hypothesis does.
PHASES = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]


class Broken(AssertionError):
    """A program failed. Each signature has its own subclass, so hypothesis separates them."""


def machine(
    subject: str | Subject, target: str, *, sanitizer: str | None = None,
    python: str | None = None, tree: Path | None = None, out: Path | None = None,
    verify_runs: int = VERIFY_RUNS,
) -> type[RuleBasedStateMachine]:
    """Builds SUBJECT and TARGET, named as on the command line, and returns the state machine.

    PYTHON and TREE are the values of --python and --rootfs. Findings go to OUT, by default
    build/hypothesis/. A script is verified VERIFY_RUNS times.
    """
    if isinstance(subject, str):
        packages.ensure()
        tree = rootfs.check(tree) if tree else None
        subject = subjects.resolve(subject, sanitizer, [target], python, tree=tree)
    place = finding.check_writable(out or build_root() / "hypothesis")
    judge = _Judge(subject, target, place, verify_runs)
    atexit.register(judge.close)
    table = judge.server.table
    rules = {f"op_{name}": _rule_of(table, name) for name, op in table.ops.items()
             if not op["masked"]}
    made = type("SubjectMachine", (_Machine,), {"judge": judge, **rules})
    made.TestCase.settings = settings(made.TestCase.settings, phases=PHASES,
                                     max_examples=EXAMPLES)
    return made


class _Machine(RuleBasedStateMachine):
    """The program so far, and the variables that have a value after it."""

    judge: "_Judge"

    def __init__(self):
        super().__init__()
        self.lines: list[Line] = []
        self.bound: frozenset[str] = frozenset()

    def add(self, line: Line) -> None:
        """Adds LINE to the program, unless the program has the maximal length."""
        table = self.judge.server.table
        if len(self.lines) < table.description["line_max"]:
            self.lines.append(line)
            self.bound = bound_after(table, line, self.bound)

    def teardown(self) -> None:
        """Runs the program; raises Broken if it fails."""
        self.judge.run(self.lines)


def _rule_of(table: Table, name: str):
    """The rule of op NAME, which draws operands. Its precondition: what it reads is bound."""
    roles = table.ops[name]["operands"]

    def step(self, **words):
        self.add(Line(name, tuple(words[f"operand{i}"] for i in range(len(roles)))))

    step.__doc__ = table.ops[name]["sentence"]
    step.__name__ = step.__qualname__ = f"op_{name}"
    operands = {f"operand{i}": _operand(table, role) for i, role in enumerate(roles)}
    return precondition(lambda self: all(_readable(table, role, self.bound) for role in roles))(
        rule(**operands)(step))


def _operand(table: Table, role: str):
    """A strategy for an operand, simplest first, since hypothesis shrinks to the first."""
    kind = table.kinds.get(role.lstrip(MARKS))
    if kind and not kind.prefix:
        return strategies.sampled_from(kind.values)
    if role[0] in BINDING_MARKS:
        return strategies.sampled_from([f"{kind.prefix}{i}" for i in range(kind.count)])
    return strategies.runner().flatmap(
        lambda self: strategies.sampled_from(_readable(table, role, self.bound)))


def _readable(table: Table, role: str, bound: frozenset[str]) -> list[str]:
    """The words for an operand now; not empty for literals and for operands that are bound."""
    kind = table.kinds.get(role.lstrip(MARKS))
    if kind is None:
        return sorted(bound)
    if not kind.prefix or role[0] in BINDING_MARKS:
        return [role]
    return sorted(word for word in bound if word.rstrip("0123456789") == kind.prefix)


class _Judge:
    """Saves, minimizes and writes failing programs, once per signature, and raises Broken."""

    def __init__(self, subject: Subject, target: str, out: Path, verify_runs: int):
        self.target, self.out = target, out
        self.triage = Triage(subject, out, verify_runs)
        self.server = self.triage.servers.of(target)
        self.failures: dict[str, tuple[type[Broken], str]] = {}

    def run(self, lines: list[Line]) -> None:
        """Runs the program LINES; raises its Broken if it fails."""
        text = self.server.table.program_text(lines)
        reply = self.server.run(text)
        if not reply.is_finding:
            return
        words = signature.of_reply(reply)
        if words.text not in self.failures:
            self.failures[words.text] = self._judged(text, reply, words)
        kind, message = self.failures[words.text]
        raise kind(message)

    def _judged(self, text: str, reply: Reply, words: signature.Signature):
        # The program is written first, so that it exists even if the rest fails.
        kept = self.out / f"{words.identifier(self.server.subject.name)}.py"
        finding.write_file(kept, text)
        _, judged = self.triage.judge(
            Crash(self.target, text, reply.stderr, self.server.runs, 0.0, 0))
        return type("Broken", (Broken,), {}), (
            f"{words.text}\nminimized: {shown(judged.folder)}\n{judged.text}"
            f"as it was found: {shown(kept)}\n{text}")

    def close(self) -> None:
        """Ends the servers."""
        self.triage.close()
