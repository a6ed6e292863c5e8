"""The smallest program that fails as a given one does, and what becomes of it when it goes on."""

from dataclasses import dataclass

from slotfuzz.engine.server import RUN_SECONDS, Server
from slotfuzz.evidence import signature
from slotfuzz.language.program import lines_of
from slotfuzz.reduce import minimize
from slotfuzz.schema.answers import Reply
from slotfuzz.triage import shared

TIMEOUT_SECONDS = 3.0
TIMEOUT_RUNS_MAX = 80
# A line of a program that is known to hang; a deadlock takes no longer to be one.
HANGING_LINE_SECONDS = 0.5
HANGING_RUNS_MAX = 400
# Programs that go on after a broken promise, to see whether it becomes a crash; for each way of
# writing the program with one op simpler. About one in three asks for the right wrapper.
WORSE_RUNS = 20
WORSE_STARTS_MAX = 12


@dataclass(frozen=True)
class Smallest:
    """A minimal program, the engine's reply for it, and what it cost."""

    reply: Reply
    signature: signature.Signature
    minimized: minimize.Minimized


def smallest(server: Server, quick: Server, text: str) -> Smallest | None:
    """The smallest program with the signature of TEXT; None if TEXT is clean.

    QUICK is the same server without symbols, for programs of which most do not fail.
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

    # A program that hangs costs more than all that do not.
    hangs = reply.kind in limits
    # Two bugs of one signature must not be taken for each other.
    allowed = (shared.related_ops(lines_of(reply), server.table)
               if server.subject.capabilities.has_many_bugs else None)
    minimized = minimize.minimize(
        lines_of(reply), interesting, server.table,
        runs_max.get(reply.kind, minimize.RUNS_MAX), reply.line,
        None if hangs else several, allowed)
    return Smallest(replies.get(tuple(minimized.lines), reply), wanted, minimized)


def worst(server: Server, quick: Server, best: Smallest, seed: int) -> Smallest:
    """BEST, or what becomes of it when the program goes on: a crash that its last line causes.

    The judge speaks when a promise is broken; what a user meets is the crash that follows from it.
    """
    if not best.reply.is_of_judge or not best.reply.contract:
        return best
    table, lines = server.table, best.minimized.lines
    starts = [lines] + [[*lines[:i], line, *lines[i + 1:]]
                        for i in range(len(lines)) for line in table.simpler(lines[i])]
    for start in starts[:WORSE_STARTS_MAX]:
        if crashes(server, table.program_text(start)):
            continue  # by itself: another bug
        before, breaking = table.program_text(start[:-1]), table.program_text(start[-1:])
        for longer in server.extend(before + breaking, WORSE_RUNS, seed):
            after = longer.removeprefix(before + breaking)
            if crashes(server, longer) and not crashes(server, before + after):
                return smallest(server, quick, longer) or best
    return best


def crashes(server: Server, text: str) -> bool:
    """Whether TEXT ends in more than a word of the judge."""
    reply = server.run(text)
    return reply.is_finding and not reply.is_of_judge
