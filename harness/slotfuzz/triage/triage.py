"""Turns a crash into a folder in repro/: signature, new or known, minimal program.

Each thread has one warm server per target for all of this. Fresh processes verify the final
script.
"""

import platform
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from slotfuzz.engine.kills import Kills
from slotfuzz.engine.server import Server, dump_recorder
from slotfuzz.errors import BrokenError
from slotfuzz.evidence import signature
from slotfuzz.finding import emit, explain, finding
from slotfuzz.language.program import Line, lines_of
from slotfuzz.paths import INSTALLED, ROOT
from slotfuzz.reduce import ring
from slotfuzz.schema.answers import Reply
from slotfuzz.schema.record import keys_of as keys_of_record, plain
from slotfuzz.subject import build
from slotfuzz.subject.subject import Subject
from slotfuzz.triage import dedup, program_shape, verify
from slotfuzz.triage.buckets import Groups
from slotfuzz.triage.dedup import Case, Keys
from slotfuzz.triage.smallest import Smallest, smallest, worst

SEQUENCE_SECONDS = 60
# The engine's words in a trace for a line that raises no exception.
RAISED_NOTHING = "the line raised nothing"


@dataclass(frozen=True)
class Found:
    """A crash in a hunt: program TEXT and REPORT, after so many PROGRAMS and SECONDS."""

    target: str
    text: str
    report: str
    programs: int
    seconds: float
    seed: int
    recorder: Path | None = None


def keys_of(
    server: Server, reply: Reply, words: signature.Signature, lines: list[Line],
) -> Keys:
    """The dedup keys of the finding in REPLY."""
    outside = None
    # A sanitizer reports the access itself, and an exception has its message.
    if server.subject.capabilities.has_many_bugs and not dedup.error(reply, words):
        outside = reaching_outside(server, lines)
    return dedup.keys(Case(reply, words, lines, server.table, outside))


def reaching_outside(server: Server, lines: list[Line]) -> dedup.Outside | None:
    """The first of LINES after which a variable's elements lie outside of memory."""
    beginnings = [server.table.program_text(lines[:count + 1]) for count in range(len(lines))]
    for line, answer in zip(lines, server.facts(beginnings, whole=True, question="outside")):
        # After the last line the engine asks once more, without names.
        if not answer.crashed:
            raised, _, names = answer.trace[-2].partition("\n")
            if names:
                return dedup.Outside(line, raised != RAISED_NOTHING)
    return None


def as_one(sequence: list[str], server: Server) -> str:
    """The programs of SEQUENCE as one: after each, it deletes all names and runs the collector."""
    parts = []
    for text in sequence:
        names = {name for line in server.parse(text) for name in server.table.variables(line)}
        parts += [text, *(f"del {name}\n" for name in sorted(names)), "gc.collect()\n"]
    return "".join(parts)


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


def script_of(server: Server, reply: Reply, words: signature.Signature, contract: str) -> str:
    """repro.py for a finding of the server's subject."""
    subject = server.subject
    title = ", ".join(filter(None, [title_of(reply, words), subject.edition]))
    return emit.script(replace(reply, contract=contract), server.table.snippets, subject.name,
                       subject.sanitizer, title)


class Triage:
    """Judges crashes of one subject and writes folders for the new ones to OUT.

    Several threads may judge at once: each has its own servers, and all share the known findings.
    """

    def __init__(self, subject: Subject, out: Path, verify_runs: int, kills: Kills | None = None):
        self.subject, self.out, self.verify_runs = subject, out, verify_runs
        self.kills = kills or Kills()
        self.groups = Groups()
        # Words of known errors: see dedup.error.
        self.errors: set[str] = set()
        self._servers: dict[tuple[int, str, bool, bool], Server] = {}
        # Guards the known findings: two threads may have seen the same finding.
        self._lock = threading.Lock()
        self._forker: verify.Forker | None = None

    def __enter__(self):
        return self

    def __exit__(self, exception, *_):
        if not exception:
            self.close()
        # A thread may be waiting for a server; close() would block until its answer.
        for server in list(self._servers.values()):
            server.kill()

    def close(self) -> None:
        """Ends the servers."""
        for server in list(self._servers.values()):
            server.close()
        if self._forker:
            self._forker.close()

    def server(self, target: str, trace: bool = False, symbols: bool = True) -> Server:
        """The warm server of TARGET; with TRACE, one whose core prints its trace points."""
        # Without a sanitizer's report, one server serves both purposes.
        symbols |= not self.subject.watch.names_functions
        key = (threading.get_ident(), target, trace, symbols)
        if key not in self._servers:
            self._servers[key] = Server(self.subject, target, trace, symbols,
                                        kills=self.kills)
        return self._servers[key]

    def control(self, target: str) -> None:
        """Runs the empty program: if that is a finding, no other result is reliable."""
        reply = self.server(target).run("")
        if reply.is_finding:
            words = signature.of_reply(reply).text
            raise BrokenError(f"the empty program fails on {self.subject.name}, {target}: {words}")

    def recall(self, target: str, folder: Path) -> list[str]:
        """Adds the finding in FOLDER to the known ones; returns programs to steer around.

        No programs if it no longer fails: a fixed bug may come back as new.
        """
        server, record = self.server(target), finding.read(folder)
        script, *ways = [(folder / "repro.py").read_text(errors="replace"),
                         *record.get("ways", [])[1:]]
        replies = [server.run(script)]
        if not replies[0].is_finding:
            return []
        self.groups.folders |= dict.fromkeys(keys_of_record(record), folder)
        replies += map(server.run, ways)
        shared = []
        for reply in replies:
            if reply.is_finding:
                words, lines = signature.of_reply(reply), lines_of(reply)
                keys = keys_of(server, reply, words, lines)
                self.groups.folders |= dict.fromkeys(keys, folder)
                self.errors |= {dedup.error(reply, words)} - {""}
                shared += self.groups.add_way(folder, lines, lines, keys, server.table)
        return [script, *ways, *dict.fromkeys(shared)]

    def judge(self, found: Found) -> tuple[str, dict]:
        """("new" | "known" | "shorter" | "unreproduced", the finding's record).

        It writes new findings. A shorter program replaces that of a finding in OUT. It also writes
        crashes that no fresh process repeats, by a script or with the programs before.
        """
        server, quick = self.server(found.target), self.server(found.target, symbols=False)
        # A program's leftovers may crash the next one, and a hunt runs many similar programs.
        best = smallest(server, quick, found.text) or \
            smallest(server, quick, as_one([found.text] * 2, server))
        sequence = []
        if best is None and found.recorder:
            sequence = self._sequence(found, quick)
            best = smallest(server, quick, as_one(sequence, server)) if sequence else None
        if best is None:
            return self._sort_sequence(server, found, sequence)
        first, draft = best, None
        keys = keys_of(server, first.reply, first.signature, first.minimized.lines)
        if self._is_in_doubt(self._known_as(keys)):
            worse = worst(server, quick, first, found.seed)
            more = keys_of(server, worse.reply, worse.signature, worse.minimized.lines)
            if not self.subject.capabilities.has_many_bugs or dedup.follows(
                    more, worse.minimized.lines, keys, first.minimized.lines, server.table):
                best, keys = worse, keys | more
        folder = self._known_as(keys)
        if self._is_in_doubt(folder) or (
                len(best.minimized.lines) < self._in_out(folder).get("lines", 0)):
            draft = self._draft(server, found, best, keys)
        with self._lock:
            return self._sort(server, first, best, keys, draft)

    def _sort(
        self, server: Server, first: Smallest, best: Smallest, keys: Keys,
        draft: tuple[dict, dict] | None,
    ) -> tuple[str, dict]:
        """The verdict for KEYS; without DRAFT the finding is known, and its program is no shorter.

        FIRST is the smallest program with the same failure, BEST the program to show.
        """
        met = server.table.program_text(list(first.minimized.as_met))
        text = self._text(server, best)
        texts = sorted({self._text(server, first), text, met} - {""})
        merged = self.groups.merge(keys)
        folder = self.groups.folder(keys)
        old = self._in_out(folder) if folder else {}
        if draft and (not folder or finding.is_better(draft[0], old)):
            verdict, (record, files) = "new" if self._is_in_doubt(folder) else "shorter", draft
            record = finding.successor(record, old)
            folder = finding.write(self.out, record, files)
        else:
            verdict, record = "known", {"id": folder.name, "signature": best.signature.text}
            if old:
                finding.add_way(folder, met or text)
        record = {**record, "folder": str(folder), "text": text, "merged": merged}
        if self._is_in_doubt(folder):
            self.groups.add(folder, keys, is_new=False)
            return "unreproduced", {**finding.read(folder), **record, "avoid": texts}
        self.groups.add(folder, keys, is_new=verdict == "new")
        self.errors |= {dedup.error(first.reply, first.signature)} - {""}
        texts += self.groups.add_way(folder, first.minimized.lines, list(first.minimized.as_met),
                                     keys, server.table)
        return verdict, {**record, "avoid": texts}

    def _sort_sequence(
        self, server: Server, found: Found, sequence: list[str],
    ) -> tuple[str, dict]:
        """The verdict on a crash that only a SEQUENCE of programs in one process may repeat.

        A write outside of memory may crash any later allocation.
        """
        for text in sequence if self.subject.capabilities.has_many_bugs else ():
            outside = reaching_outside(server, server.parse(text))
            keys = dedup.keys_outside(outside, server.table) if outside else frozenset()
            if folder := self._known_as(keys):
                words = signature.of_stderr(found.report) or signature.Signature("unknown crash")
                return "known", {"id": folder.name, "signature": words.text, "folder": str(folder),
                                 "text": found.text, "avoid": [text, found.text]}
        with self._lock:
            return "unreproduced", self._write_unreproduced(found, sequence)

    def _known_as(self, keys: Keys) -> Path | None:
        with self._lock:
            return self.groups.folder(keys)

    def _is_in_doubt(self, folder: Path | None) -> bool:
        """Whether FOLDER is `None`, or no program of its bucket has failed in a fresh process.

        Another program may fail. A known bug of a subject with at most one bug is never in doubt,
        because its target checks more than a script can.
        """
        return not folder or (self.subject.capabilities.has_many_bugs
                              and self._in_out(folder).get("rate") == 0)

    def _in_out(self, folder: Path) -> dict:
        """The record of a finding in OUT; empty if FOLDER is in another folder."""
        return finding.read(folder) if folder.parent == self.out else {}

    def _text(self, server: Server, best: Smallest) -> str:
        return server.table.program_text(best.minimized.lines)

    def _draft(
        self, server: Server, found: Found, best: Smallest, keys: Keys,
    ) -> tuple[dict, dict]:
        """The record and the files of a new finding, after verification of its script."""
        reply, text = best.reply, self._text(server, best)
        traced = reply
        if self.subject.capabilities.trace_variable:
            traced = self.server(found.target, trace=True).run(text)
        if not traced.is_finding:
            traced = reply
        contract = explain.contract_of(traced)
        script = script_of(server, reply, best.signature, contract)
        verified = self._verify(script, reply)
        record = self._record(found, best.signature, oracle(reply, best.signature, self.subject),
                              len(best.minimized.lines), verified)
        record.update(
            contract=contract,
            minimize_runs=best.minimized.runs, minimize_programs=best.minimized.tried,
            minimize_seconds=round(best.minimized.seconds, 3),
            lines_before=best.minimized.lines_before,
            one_minimal=best.minimized.one_minimal, dedup_keys=plain(keys), ways=[text])
        # Two bugs may have the same signature.
        shapes = program_shape.shape(best.minimized.lines, server.table)
        record["id"] = best.signature.identifier(
            self._name(), f" after {program_shape.text_of(shapes)}")
        notes = explain.files(traced, title_of(reply, best.signature), contract,
                              self.subject.name)
        report = traced.log.report or verified.report
        return record, {"repro.py": script, **notes,
                        "report.txt": report or reply.message + "\n"}

    def _write_unreproduced(self, found: Found, sequence: list[str]) -> dict:
        """Writes a crash that no single program repeats: the known data, and a rate of 0."""
        words = signature.of_stderr(found.report) or signature.Signature("unknown crash")
        record = self._record(found, words, "unreproduced", len(found.text.splitlines()),
                              verify.Verified(0, 0, ""))
        record.update(id=f"unreproduced-{record['id']}", minimize_runs=0, minimize_seconds=0.0,
                      one_minimal=False, sequence=len(sequence))
        files = {"program.py": found.text, "report.txt": found.report}
        for number, text in enumerate(sequence):
            files[f"sequence-{number:03}.py"] = text
        how = (f"The last {len(sequence)} programs (sequence-*.py), run in this order in one"
               " process, repeat it." if sequence else
               "Neither the last program nor the last ones in one process repeat it.")
        files["NOTES.md"] = f"# {words.text}\n\nSeen once, in a hunt. {how} See report.txt.\n"
        folder = finding.write(self.out, record, files)
        return {**record, "folder": str(folder), "text": found.text, "avoid": [found.text]}

    def _record(self, found, words, spoke, lines, verified) -> dict:
        return {
            "id": words.identifier(self._name()), "signature": words.text,
            "kind": words.kind,
            "subject": self.subject.name, "sanitizer": self.subject.sanitizer,
            "target": found.target, "oracle": spoke, "contract": "", "lines": lines,
            "runs_to_find": found.programs, "seconds_to_find": round(found.seconds, 3),
            "rate": verified.rate, "rate_low": round(verified.rate_low, 4),
            "verified_runs": verified.runs, "seed": found.seed, "versions": self.versions(),
        }

    def _name(self) -> str:
        """The subject with its release, because ids are unique only within one release."""
        return self.subject.edition or self.subject.name

    def _verify(self, script: str, reply: Reply) -> verify.Verified:
        with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
            path = Path(folder) / "repro.py"
            path.write_text(script)
            return verify.verify(self.subject.script_command(path), path.parent,
                                 self.subject.script_environment(), self.verify_runs, reply,
                                 forker=self._warm(), kills=self.kills)

    def _warm(self) -> verify.Forker | None:
        """A process that forks for the runs of a script, if importing the module takes long."""
        with self._lock:
            capabilities = self.subject.capabilities
            if capabilities.is_imported_slowly and not self._forker:
                self._forker = verify.Forker(self.subject.script_command(), capabilities.module,
                                             self.subject.script_environment())
            return self._forker

    def _sequence(self, found: Found, server: Server) -> list[str]:
        """The last programs of the dead process, if they repeat its crash in one process."""
        _, programs = dump_recorder(self.subject, found.target, found.recorder)
        if not programs:
            return []
        deadline = time.monotonic() + SEQUENCE_SECONDS
        return ring.shortest_sequence(programs, lambda texts: time.monotonic() < deadline
                                      and server.states(texts)[-1].is_finding)

    def versions(self) -> dict:
        """The versions that affect a finding: interpreter, compiler, slotfuzz, subject."""
        return {"python": platform.python_version(), "compiler": Path(build.compiler()).name,
                "slotfuzz": own_version(), **self.subject.versions}


def own_version() -> str:
    """The commit of the checkout, or an installed package's version, which names the commit."""
    if INSTALLED:
        from importlib import metadata

        return metadata.version("slotfuzz")
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True, check=False).stdout.strip()
    return commit or "unknown"


def oracle(reply: Reply, words: signature.Signature, subject: Subject) -> str:
    """The oracle that failed: contract, sanitizer's name, signal, watchdog, timeout .."""
    if reply.kind == "assert":
        return "contract"
    if words.verdict.startswith("sanitizer"):
        if "undefined" in words.verdict:
            return "undefined"
        return subject.watch.reports_as
    if reply.kind in signature.HANGING:
        return "watchdog"
    if words.verdict.startswith("signal "):
        return "signal"
    return reply.kind
