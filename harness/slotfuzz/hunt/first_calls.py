"""Before a hunt of a user's function: each op that calls it runs once, as a program of its own.

An op that raises here checks nothing in the whole hunt, so the user must know why.
"""

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError
from slotfuzz.evidence import signature
from slotfuzz.language import prelude
from slotfuzz.schema.answers import Reply
from slotfuzz.subject.subject import Subject
from slotfuzz.triage import draft

TESTED = "tested"
# What each program begins with: the operand of all of these ops.
LEAF = "t0 = T.ones(1).requires_grad_()"
SCRIPT_SECONDS = 120


def check(subject: Subject, target: str) -> tuple[list[str], list[str]]:
    """The ops that ran, and for each other op a line that says why it checks nothing.

    UserError if no op that calls the function can run, or one does not return.
    """
    ran, failed = [], []
    with Server(subject, target) as server:
        for name, op in _ops_about_it(server):
            line = op["template"].format(*["t1" if word[0] in "+=" else "t0"
                                           for word in op["operands"]])
            reply = server.run(f"{LEAF}\n{line}\n")
            if reply.kind in signature.HANGING:
                raise UserError(f"--function {subject.function}: {line} does not return")
            if reply.is_finding or not reply.lines[-1].raised:
                ran.append(name)
            else:
                words = _words(server, reply) or reply.lines[-1].raised
                failed.append(f"{line} raises {words}")
    if not ran:
        why = failed[0] if failed else f"target {target} has no op that calls it"
        raise UserError(f"--function {subject.function}: {why}")
    return ran, failed


def _ops_about_it(server: Server) -> list[tuple[str, dict]]:
    """The ops of the target whose line calls the function, by name; masked ones are left out."""
    table = server.table
    return [(name, op) for name, op in table.ops.items() if not op["masked"]
            and any(TESTED in statement.bound for statement in prelude.needed(
                table.snippets, op["template"], table.module))]


def _words(server: Server, reply: Reply) -> str:
    """The error of the last line of REPLY, as a script prints it."""
    shown = replace(reply, lines=tuple(replace(line, raised="") for line in reply.lines))
    script = draft.script_of(server, shown, signature.Signature("", ""), "")
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(script)
        for name, text in server.subject.function.files().items():
            (path.parent / name).write_text(text)
        try:
            end = subprocess.run(
                server.subject.script_command(path), capture_output=True, text=True,
                errors="replace", env=server.subject.script_environment(),
                timeout=SCRIPT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return ""
    return (end.stderr.strip().splitlines() or [""])[-1]
