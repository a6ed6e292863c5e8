"""Drafts a finding: its record and files, after verification of its script.

A crash that no single program repeats gets a record as well, with a rate of 0.
"""

import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from slotfuzz.engine.kills import Kills
from slotfuzz.engine.server import Server
from slotfuzz.evidence import signature
from slotfuzz.evidence.report import Report
from slotfuzz.finding import contract, emit, explain, failure, places
from slotfuzz.language.program import Line
from slotfuzz.schema.answers import Reply
from slotfuzz.schema.record import Finding, in_order
from slotfuzz.subject.subject import Subject
from slotfuzz.triage import program_shape, verify
from slotfuzz.triage.crash import Crash
from slotfuzz.triage.dedup import Keys
from slotfuzz.triage.servers import Servers
from slotfuzz.triage.smallest import Smallest
from slotfuzz.triage.versions import versions

# A record and the texts of its files by name.
Draft = tuple[Finding, dict[str, str]]
UNKNOWN = signature.Signature("unknown", "crash")


class Drafts:
    """Drafts findings of SUBJECT; several threads may call it at once."""

    def __init__(self, subject: Subject, verify_runs: int, kills: Kills, servers: Servers):
        self.subject, self.verify_runs = subject, verify_runs
        self._kills, self._servers = kills, servers
        self._lock = threading.Lock()
        self._forkers: dict[frozenset[tuple[str, str]], verify.Forker] = {}

    def close(self) -> None:
        """Ends the processes that fork for runs of scripts."""
        for forker in self._forkers.values():
            forker.close()

    def of(self, server: Server, crash: Crash, best: Smallest, keys: Keys) -> Draft:
        """The record and the files of a new finding, after verification of its script."""
        reply, text = best.reply, server.table.program_text(best.minimized.lines)
        traced = reply
        if self.subject.capabilities.trace_variable:
            traced = self._servers.of(crash.target, trace=True).run(text)
        if not traced.is_finding:
            traced = reply
        broken = contract.contract_of(traced)
        verified = self._verify(script_of(server, reply, best.signature, broken), reply)
        script = script_of(server, reply, best.signature, broken, verified.manner)
        title = title_of(reply, best.signature)
        about = Report(traced.log.report).object_of(traced.log.events)
        # Two bugs may have the same signature.
        shapes = program_shape.shape(best.minimized.lines, server.table)
        record = Finding(
            **self._common(crash, best.signature, verified),
            id=best.signature.identifier(
                self._name(), f" after {program_shape.text_of(shapes)}"),
            oracle=oracle(reply, best.signature, self.subject), contract=broken,
            lines=len(best.minimized.lines),
            minimize_runs=best.minimized.runs, minimize_programs=best.minimized.tried,
            minimize_seconds=round(best.minimized.seconds, 3),
            lines_before=best.minimized.lines_before,
            one_minimal=best.minimized.one_minimal,
            title=explain.title_in_notes(title), tier=self._tier(server, best.minimized.lines),
            failing_line=None if traced.is_at_end else traced.line + 1,
            passed=places.passed(explain.events_of(traced, about)),
            dedup_keys=in_order(keys), variants=(text,))
        notes = explain.files(traced, title, broken, self.subject.name)
        report = traced.log.report or verified.report
        return record, {"repro.py": script, **self._imported(), **notes,
                        "report.txt": report or reply.message + "\n"}

    def of_unreproduced(self, crash: Crash, sequence: list[str]) -> Draft:
        """The record and the files of a crash that no single program repeats."""
        words = signature.of_stderr(crash.report) or UNKNOWN
        server = self._servers.of(crash.target)
        record = Finding(
            **self._common(crash, words, verify.Verified(0, 0, "")),
            id=f"unreproduced-{words.identifier(self._name())}", oracle="unreproduced",
            title=words.text, contract="", lines=len(crash.text.splitlines()), minimize_runs=0,
            minimize_seconds=0.0, one_minimal=False, sequence=len(sequence),
            tier=self._tier(server, server.parse(crash.text)))
        files = {"program.py": crash.text, "report.txt": crash.report}
        for number, text in enumerate(sequence):
            files[f"sequence-{number:03}.py"] = text
        how = (f"The last {len(sequence)} programs (sequence-*.py), run in this order in one"
               " process, repeat it." if sequence else
               "Neither the last program nor the last ones in one process repeat it.")
        files["NOTES.md"] = f"# {words.text}\n\nSeen once, in a hunt. {how} See report.txt.\n"
        return record, files

    def _common(
        self, crash: Crash, words: signature.Signature, verified: verify.Verified,
    ) -> dict:
        """The fields that a finding has with and without a program that repeats it."""
        return {
            "signature": words.text, "verdict": words.verdict, "kind": words.kind,
            "subject": self.subject.name, "sanitizer": self.subject.sanitizer,
            "target": crash.target, "runs_to_find": crash.programs,
            "seconds_to_find": round(crash.seconds, 3),
            "rate": verified.rate, "rate_low": round(verified.rate_low, 4),
            "verified_runs": verified.runs, "environment": dict(verified.manner.environment),
            "seed": crash.seed,
            "versions": versions(self.subject),
        }

    def _tier(self, server: Server, lines: list[Line]) -> str:
        return server.table.tier(lines, self.subject.capabilities.module)

    def _name(self) -> str:
        """The subject with its release, because ids are unique only within one release."""
        return self.subject.edition or self.subject.name

    def _verify(self, script: str, reply: Reply) -> verify.Verified:
        with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
            path = Path(folder) / "repro.py"
            path.write_text(script)
            for name, text in self._imported().items():
                (path.parent / name).write_text(text)
            return verify.by_itself(self.subject, lambda environment: verify.verify(
                self.subject.script_command(path), path.parent, environment, self.verify_runs,
                reply, forker=self._warm(environment), kills=self._kills))

    def _imported(self) -> dict[str, str]:
        """The texts of the files that a script imports, by name."""
        return self.subject.function.files() if self.subject.function else {}

    def _warm(self, environment: dict[str, str]) -> verify.Forker | None:
        """A process that forks for the runs of a script, if importing the module takes long."""
        capabilities = self.subject.capabilities
        if not capabilities.is_imported_slowly:
            return None
        with self._lock:
            key = frozenset(environment.items())
            if key not in self._forkers:
                self._forkers[key] = verify.Forker(
                    self.subject.script_command(), capabilities.module, environment)
            return self._forkers[key]


def title_of(reply: Reply, words: signature.Signature) -> str:
    """One line for a person: the failure and its place."""
    if reply.kind == "assert":
        return f"{normal_line(reply.message) or words.verdict} ({reply.contract})"
    what = words.kind
    if words.functions:
        what += " in " + words.functions[0].rpartition("::")[2]
    return what + (f": {words.detail}" if words.detail else "")


def normal_line(message: str) -> str:
    """The first line of a message, in a form that fits into a comment."""
    return message.splitlines()[0].strip() if message.strip() else ""


def script_of(
    server: Server, reply: Reply, words: signature.Signature, number: str,
    manner: failure.Manner = failure.AS_IN_THE_ENGINE,
) -> str:
    """repro.py for a finding of the server's subject; NUMBER is that of its contract sentence."""
    subject = server.subject
    title = ", ".join(filter(None, [title_of(reply, words), subject.edition]))
    return emit.script(replace(reply, contract=number), server.table.snippets, subject.name,
                       subject.sanitizer, title, str(subject.function or ""), manner)


def oracle(reply: Reply, words: signature.Signature, subject: Subject) -> str:
    """The oracle that failed: contract, sanitizer's name, signal, watchdog, timeout .."""
    if reply.kind == "assert":
        return "contract"
    if words.reporter == signature.SANITIZER:
        if words.what == signature.UNDEFINED:
            return "undefined"
        return subject.watch.reports_as
    if reply.kind in signature.HANGING:
        return "watchdog"
    if words.reporter == signature.SIGNAL:
        return signature.SIGNAL
    return reply.kind
