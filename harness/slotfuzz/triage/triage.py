"""Turns a crash into a folder in repro/: signature, new or known, minimal program.

Each thread has one warm server per target for all of this. Fresh processes verify the final
script.
"""

import threading
from dataclasses import dataclass, replace
from pathlib import Path

from slotfuzz.engine.kills import Kills
from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.evidence import signature
from slotfuzz.finding import finding
from slotfuzz.language.program import Line, Table, lines_of
from slotfuzz.schema.record import Finding
from slotfuzz.subject.subject import Subject
from slotfuzz.triage import dedup
from slotfuzz.triage.buckets import Buckets
from slotfuzz.triage.cases import keys_of, reaching_outside
from slotfuzz.triage.crash import Crash
from slotfuzz.triage.dedup import Keys
from slotfuzz.triage.draft import UNKNOWN, Draft, Drafts
from slotfuzz.triage.judged import Judged
from slotfuzz.triage.sequence import as_one, repeating
from slotfuzz.triage.servers import Servers
from slotfuzz.triage.smallest import Smallest, escalation, smallest


@dataclass(frozen=True)
class Rerun:
    """A known finding in FOLDER that fails today: the KEYS of its record, and its PROGRAMS.

    FAILURES are those of its programs: dedup keys, the error of `dedup.error`, and lines.
    """

    folder: Path
    keys: Keys
    programs: tuple[str, ...]
    failures: tuple[tuple[Keys, str, list[Line]], ...]
    table: Table


class Triage:
    """Judges crashes of one subject and writes folders for the new ones to OUT.

    Several threads may judge at once: each has its own servers, which get the flags WORDS, and all
    share the known findings.
    """

    def __init__(self, subject: Subject, out: Path, verify_runs: int, kills: Kills | None = None,
                 words: tuple[str, ...] = ()):
        self.subject, self.out = subject, out
        self.kills = kills or Kills()
        self.buckets = Buckets()
        # Words of known errors: see dedup.error.
        self.errors: set[str] = set()
        self.servers = Servers(subject, self.kills, words)
        self.drafts = Drafts(subject, verify_runs, self.kills, self.servers)
        # Guards the known findings: two threads may have seen the same finding.
        self._lock = threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, exception, *_):
        if not exception:
            self.close()
        self.servers.kill()

    def close(self) -> None:
        """Ends the servers."""
        self.servers.close()
        self.drafts.close()

    def control(self, target: str) -> None:
        """Runs the empty program: if that is a finding, no other result is reliable."""
        reply = self.servers.of(target).run("")
        if reply.is_finding:
            words = signature.of_reply(reply).text
            raise BrokenError(f"the empty program fails on {self.subject.name}, {target}: {words}")

    def rerun(self, target: str, folder: Path) -> Rerun | None:
        """Runs the programs of the finding in FOLDER; None if its script no longer fails.

        Then a fixed bug may come back as new.
        """
        server, record = self.servers.of(target), finding.read(folder)
        script, *variants = [(folder / "repro.py").read_text(errors="replace"),
                             *(record.variants[1:] if record else ())]
        replies = [server.run(script)]
        if not replies[0].is_finding:
            return None
        replies += map(server.run, variants)
        failures = []
        for reply in replies:
            if reply.is_finding:
                words, lines = signature.of_reply(reply), lines_of(reply)
                keys = keys_of(server, reply, words, lines)
                failures.append((keys, dedup.error(reply, words), lines))
        return Rerun(folder, record.keys if record else frozenset(), (script, *variants),
                     tuple(failures), server.table)

    def learn(self, rerun: Rerun | None) -> list[str]:
        """Adds a finding to the known ones; returns programs to steer around, or none."""
        if rerun is None:
            return []
        shared = []
        self.buckets.folders |= dict.fromkeys(rerun.keys, rerun.folder)
        for keys, error, lines in rerun.failures:
            self.buckets.folders |= dict.fromkeys(keys, rerun.folder)
            self.errors |= {error} - {""}
            shared += self.buckets.add_variant(rerun.folder, lines, lines, keys, rerun.table)
        return [*rerun.programs, *dict.fromkeys(shared)]

    def judge(self, crash: Crash) -> tuple[str, Judged]:
        """("new" | "known" | "shorter" | "unreproduced", the finding).

        It writes new findings. A shorter program replaces that of a finding in OUT. It also writes
        crashes that no fresh process repeats, by a script or with the programs before.
        """
        server, quick = self.servers.of(crash.target), self.servers.of(crash.target, symbols=False)
        # A program's leftovers may crash the next one, and a hunt runs many similar programs.
        best = smallest(server, quick, crash.text) or \
            smallest(server, quick, as_one([crash.text] * 2, server))
        sequence = []
        if best is None and crash.recorder:
            sequence = repeating(crash, quick)
            best = smallest(server, quick, as_one(sequence, server)) if sequence else None
        if best is None:
            return self._sort_sequence(server, crash, sequence)
        first, draft = best, None
        keys = keys_of(server, first.reply, first.signature, first.minimized.lines)
        if self._is_in_doubt(self._known_as(keys)):
            worse = escalation(server, quick, first, crash.seed)
            more = keys_of(server, worse.reply, worse.signature, worse.minimized.lines)
            if not self.subject.capabilities.has_many_bugs or dedup.follows(
                    more, worse.minimized.lines, keys, first.minimized.lines, server.table):
                best, keys = worse, keys | more
        folder = self._known_as(keys)
        old = self._in_out(folder)
        if self._is_in_doubt(folder) or old and len(best.minimized.lines) < old.lines:
            draft = self.drafts.of(server, crash, best, keys)
        with self._lock:
            return self._sort(server, first, best, keys, draft)

    def _sort(
        self, server: Server, first: Smallest, best: Smallest, keys: Keys,
        draft: Draft | None,
    ) -> tuple[str, Judged]:
        """The verdict for KEYS; without DRAFT the finding is known, and its program is no shorter.

        FIRST is the smallest program with the same failure, BEST the program to show.
        """
        met = server.table.program_text(list(first.minimized.as_met))
        text = self._text(server, best)
        texts = sorted({self._text(server, first), text, met} - {""})
        merged = tuple(self.buckets.merge(keys))
        folder = self.buckets.folder(keys)
        old = self._in_out(folder)
        if draft and (not folder or finding.is_better(draft[0], old)):
            verdict, (record, files) = "new" if self._is_in_doubt(folder) else "shorter", draft
            record = finding.successor(record, old)
            folder = finding.write(self.out, record, files)
            judged = Judged(id=record.id, signature=record.signature, folder=folder, text=text,
                            merged=merged, finding=record)
        else:
            verdict = "known"
            judged = Judged(id=folder.name, signature=best.signature.text, folder=folder,
                            text=text, merged=merged)
            if old:
                finding.add_variant(folder, met or text)
        if self._is_in_doubt(folder):
            self.buckets.add(folder, keys, is_new=False)
            return "unreproduced", replace(judged, avoid=tuple(texts), finding=self._in_out(folder))
        self.buckets.add(folder, keys, is_new=verdict == "new")
        self.errors |= {dedup.error(first.reply, first.signature)} - {""}
        texts += self.buckets.add_variant(
            folder, first.minimized.lines, list(first.minimized.as_met), keys, server.table)
        return verdict, replace(judged, avoid=tuple(texts))

    def _sort_sequence(
        self, server: Server, crash: Crash, sequence: list[str],
    ) -> tuple[str, Judged]:
        """The verdict on a crash that only a SEQUENCE of programs in one process may repeat.

        A write outside of memory may crash any later allocation.
        """
        for text in sequence if self.subject.capabilities.has_many_bugs else ():
            outside = reaching_outside(server, server.parse(text))
            keys = dedup.keys_outside(outside, server.table) if outside else frozenset()
            if folder := self._known_as(keys):
                words = signature.of_stderr(crash.report) or UNKNOWN
                return "known", Judged(id=folder.name, signature=words.text, folder=folder,
                                       text=crash.text, avoid=(text, crash.text))
        with self._lock:
            return "unreproduced", self._write_unreproduced(crash, sequence)

    def _write_unreproduced(self, crash: Crash, sequence: list[str]) -> Judged:
        """Writes a crash that no single program repeats: the known data, and a rate of 0."""
        record, files = self.drafts.of_unreproduced(crash, sequence)
        folder = finding.write(self.out, record, files)
        return Judged(id=record.id, signature=record.signature, folder=folder, text=crash.text,
                      avoid=(crash.text,), finding=record)

    def _known_as(self, keys: Keys) -> Path | None:
        with self._lock:
            return self.buckets.folder(keys)

    def _is_in_doubt(self, folder: Path | None) -> bool:
        """Whether FOLDER is `None`, or no program of its bucket has failed in a fresh process.

        Another program may fail. A known bug of a subject with at most one bug is never in doubt,
        because its target checks more than a script can.
        """
        if not folder or not self.subject.capabilities.has_many_bugs:
            return not folder
        old = self._in_out(folder)
        return bool(old) and old.rate == 0

    def _in_out(self, folder: Path | None) -> Finding | None:
        """The record of a finding in OUT; None if FOLDER is None or in another folder."""
        return finding.read(folder) if folder and folder.parent == self.out else None

    def _text(self, server: Server, best: Smallest) -> str:
        return server.table.program_text(best.minimized.lines)
