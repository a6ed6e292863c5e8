"""Finds the smallest program with the failure of a given one, and the crash that may follow it."""

from dataclasses import dataclass

from slotfuzz.engine.server import RUN_SECONDS, Server
from slotfuzz.evidence import signature
from slotfuzz.language.program import lines_of
from slotfuzz.reduce import minimize
from slotfuzz.schema.answers import Reply
from slotfuzz.triage import shared

# A crash that needs programs of a thousand lines must not keep others from a verdict.
MINIMIZE_SECONDS_MAX = 120
TIMEOUT_SECONDS = 3.0
TIMEOUT_RUNS_MAX = 80
# Limit for a line of a program that hangs; a deadlock needs no more time to show.
HANGING_LINE_SECONDS = 0.5
HANGING_RUNS_MAX = 400
# Programs that continue after a broken promise, to find a crash, for each variant of the program
# with one simpler op. About one in three asks for the right wrapper.
ESCALATION_RUNS = 20
ESCALATION_STARTS_MAX = 12


@dataclass(frozen=True)
class Smallest:
    """A minimal program, the engine's reply for it, and the cost of minimizing."""

    reply: Reply
    signature: signature.Signature
    minimized: minimize.Minimized


def smallest(server: Server, quick: Server, text: str) -> Smallest | None:
    """The smallest program with the signature of TEXT; None if TEXT is clean.

    QUICK is the same server without symbols; it runs programs that mostly do not fail.
    """
    reply = server.run(text)
    if not reply.is_finding:
        return None
    wanted = signature.of_reply(reply)
    limits = {"timeout": (TIMEOUT_SECONDS, None)}
    limits |= {kind: (RUN_SECONDS, HANGING_LINE_SECONDS) for kind in signature.HANGING}
    timeout, line_seconds = limits.get(reply.kind, (RUN_SECONDS, None))
    runs_max = {"timeout": TIMEOUT_RUNS_MAX,
                **dict.fromkeys(signature.HANGING, HANGING_RUNS_MAX)}
    replies = {}

    def interesting(lines):
        answer = server.run(server.table.program_text(lines), timeout, line_seconds)
        replies[tuple(lines)] = answer
        return answer.is_finding and signature.of_reply(answer) == wanted

    crashes = not reply.is_of_judge

    def several(programs):
        answers = quick.states([server.table.program_text(lines) for lines in programs])
        last = answers[-1]
        return len(answers), last.is_finding and last.crashed == crashes

    # A program that hangs costs more than all programs that do not hang.
    hangs = reply.kind in limits
    # Minimizing must not replace a bug by another one with the same signature.
    allowed = (shared.related_ops(lines_of(reply), server.table)
               if server.subject.capabilities.has_many_bugs else None)
    minimized = minimize.minimize(
        lines_of(reply), interesting, server.table,
        runs_max.get(reply.kind, minimize.RUNS_MAX), reply.line,
        None if hangs else several, allowed, MINIMIZE_SECONDS_MAX)
    return Smallest(replies.get(tuple(minimized.lines), reply), wanted, minimized)


def escalation(server: Server, quick: Server, best: Smallest, seed: int) -> Smallest:
    """BEST, or a crash that its last line causes when the program continues.

    The judge reports a broken promise; a user sees the crash that follows from it.
    """
    if not best.reply.is_of_judge or not best.reply.contract:
        return best
    table, lines = server.table, best.minimized.lines
    starts = [lines] + [[*lines[:i], line, *lines[i + 1:]]
                        for i in range(len(lines)) for line in table.simpler(lines[i])]
    for start in starts[:ESCALATION_STARTS_MAX]:
        if crashes(server, table.program_text(start)):
            continue  # it crashes by itself: another bug
        before, breaking = table.program_text(start[:-1]), table.program_text(start[-1:])
        for longer in server.extend(before + breaking, ESCALATION_RUNS, seed):
            after = longer.removeprefix(before + breaking)
            if crashes(server, longer) and not crashes(server, before + after):
                return smallest(server, quick, longer) or best
    return best


def crashes(server: Server, text: str) -> bool:
    """Whether TEXT ends in a failure that is not the judge's."""
    reply = server.run(text)
    return reply.is_finding and not reply.is_of_judge
