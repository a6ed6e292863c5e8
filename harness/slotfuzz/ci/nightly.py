"""The nightly run: long hunts, pruned corpora, coverage, interleavings and mutants, in a budget.

A part that fails does not stop the others. The summary names work that did not run or did not
finish, and the exit code is then not 0.
"""

import datetime
import json
import random
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz import console
from slotfuzz.ci.checkout import Checkout, INTERRUPTED
from slotfuzz.errors import BrokenError, MachineError, UserError
from slotfuzz.hunt import workplace
from slotfuzz.subject import catalogue
from slotfuzz.subject.subjects.core import PROTOCOL_FOLDERS

SANITIZERS = ("address", "thread", "debugpy")
# Shares of the budget. Pruning and coverage take some minutes, depending on the corpora.
SHARES = {"hunts": 0.4, "interleavings": 0.25, "mutants": 0.3, "gate": 0.05}
INTERLEAVINGS = "ci/interleavings_nightly.sh"
PROGRAM_SECONDS_MAX = 600
# Most mutants are found within seconds; a longer hunt would take time from the others.
MUTANT_SECONDS_MAX = 120.0
# The bug that the gate must find in a commit, within so many seconds of fuzzing.
GATE_MUTANT, GATE_SECONDS = "hermetic-del-storage", 60


@dataclass
class Part:
    """The result of a part: an exit CODE, messages, and the names of work that was NOT_RUN."""

    name: str
    code: int = 0
    said: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def took(self, code: int, words: str) -> None:
        """Adds a result with a message; `worse` combines the exit codes."""
        self.code = worse(self.code, code)
        self.said.append(words)


def worse(one: int, other: int) -> int:
    """The exit code for two results: 1 for a finding in either, else the higher code."""
    return 1 if 1 in (one, other) else max(one, other)


class Night:
    """Runs the parts with the slotfuzz HERE; findings go to OUT. DATE chooses the mutants."""

    def __init__(self, here: Checkout, out: Path, budget_seconds: float, date: datetime.date,
                 now: Callable[[], float] = time.monotonic):
        self.here, self.out, self.budget, self.date = here, out, budget_seconds, date
        self.parts: list[Part] = []
        self.interrupted = False
        self._now = now
        self._deadline = 0.0

    @property
    def exit_code(self) -> int:
        """1 if anything was found, else 2 or 3 if a part failed or did not finish."""
        code = 0
        for part in self.parts:
            code = worse(code, part.code or (2 if part.not_run else 0))
        return code

    def run(self) -> None:
        """Runs all parts in order."""
        steps = {"hunts": self._hunts, "prune": self._prune, "coverage": self._coverage,
                 "interleavings": self._interleavings, "mutants": self._mutants,
                 "gate": self._gate, "sweeps": self._sweeps, "report": self._report}
        for name, step in steps.items():
            part = Part(name)
            self.parts.append(part)
            if self.interrupted and name != "report":
                part.not_run.append("interrupted")
                continue
            console.say(name)
            start = self._now()
            self._deadline = start + self.budget * SHARES.get(name, 1.0)
            try:
                step(part)
            except (UserError, MachineError, BrokenError) as error:
                part.took(3 if isinstance(error, BrokenError) else 2, str(error))
            except KeyboardInterrupt:
                self.interrupted = True
                part.not_run.append("interrupted")
            part.seconds = round(self._now() - start, 1)

    def _left(self) -> float:
        return self._deadline - self._now()

    def _hunts(self, part: Part) -> None:
        """Hunts on each build with all targets. Time that one does not use goes to the others."""
        waiting = [(name, sanitizer) for sanitizer in SANITIZERS for name in PROTOCOL_FOLDERS]
        while waiting:
            name, sanitizer = waiting[0]
            seconds = self._left() / len(waiting)
            if seconds < 1:
                break
            waiting.pop(0)
            self._guarded(part, lambda: self._hunt(part, name, sanitizer, seconds))
        part.not_run += [f"hunt {name} under {sanitizer}" for name, sanitizer in waiting]

    def _hunt(self, part: Part, name: str, sanitizer: str, seconds: float) -> None:
        answer = self.here.ask("hunt", "--subject", name, "--sanitizer", sanitizer, "--seconds",
                               f"{seconds:.0f}", "--out", self.out, ok=(0, 1, 2, INTERRUPTED))
        document = answer.document
        if "programs" not in document:
            raise MachineError(document.get("error", "no answer"))
        found = ", ".join(f"{len(document[word])} {word}" for word in
                          ("new", "known", "unreproduced") if document[word]) or "clean"
        part.took(answer.code if document["programs"] else 2,
                  f"{name} under {sanitizer}: {document['programs']:,} programs in"
                  f" {document['seconds']:.0f} s, seed {document['seed']}: {found}")

    def _prune(self, part: Part) -> None:
        for row in prune(self.here):
            part.took(0, f"{row['subject']} {row['target']}: {row['before']} files"
                         f" -> {row['after']}")

    def _coverage(self, part: Part) -> None:
        self._script(part, "ci/coverage.sh")

    def _script(self, part: Part, name: str) -> None:
        process = self._start(name)
        out, err, _ = _until(process, threading.TIMEOUT_MAX)
        text = (err.strip() or out) if process.returncode else out
        part.took(process.returncode, (text.strip().splitlines() or ["no output"])[-1])

    def _start(self, name: str, *words) -> subprocess.Popen:
        """Starts a script of the checkout in a session of its own, together with its children."""
        return subprocess.Popen([str(self.here.root / name), *words], cwd=self.here.root,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def _sweeps(self, part: Part) -> None:
        """Runs ci/*_nightly.sh: tests that take too long for each commit.

        The interleavings are a part of their own, with a share of the budget.
        """
        for script in sorted((self.here.root / "ci").glob("*_nightly.sh")):
            if script.name != Path(INTERLEAVINGS).name:
                self._script(part, f"ci/{script.name}")

    def _interleavings(self, part: Part) -> None:
        """Explores the script's sets of operations until the time of the part is over."""
        script = self.here.root / INTERLEAVINGS
        planned = sum(line.startswith("every ") for line in script.read_text().splitlines())
        seconds = max(1, min(PROGRAM_SECONDS_MAX, int(self._left())))
        process = self._start(INTERLEAVINGS, str(seconds))
        out, err, in_time = _until(process, self._left())
        rows = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
        for row in rows:
            part.took({"failed": 1, "cut": 2}.get(row["verdict"], 0),
                      f"{row['protocol']} {row.get('shape', '')}: {row['every_program']} programs,"
                      f" {row['verdict']}")
        if len(rows) < planned:
            part.not_run.append(f"{planned - len(rows)} of {planned} sets of operations")
        if process.returncode and in_time and not any(row["verdict"] == "failed" for row in rows):
            raise MachineError(f"{INTERLEAVINGS} ended with {process.returncode}:"
                               f" {(err.strip().splitlines() or ['no message'])[-1]}")

    def _mutants(self, part: Part) -> None:
        """Looks for as many mutants as fit, in an order that the date chooses."""
        names = catalogue.mutant_names() + catalogue.protocol_mutant_names()
        random.Random(self.date.toordinal()).shuffle(names)
        for name in names:
            if self._left() < 1:
                break
            seconds = min(MUTANT_SECONDS_MAX, self._left())
            self._guarded(part, lambda: self._mutant(part, name, seconds))
        tried = len(part.said)
        if tried == 0:
            part.not_run.append(f"{len(names)} mutants")
        part.said.append(f"{tried} of {len(names)} mutants tried; each night takes others first")

    def _mutant(self, part: Part, name: str, seconds: float) -> None:
        answer = self.here.ask("mutants", name, "--seconds", f"{seconds:.0f}", ok=(0, 3))
        (row,) = answer.document
        part.took(3 if row["problems"] else 0,
                  f"{name}: {'; '.join(row['problems']) or 'as expected'}")

    def _gate(self, part: Part) -> None:
        """Checks that `ci/pr.sh` fails on a commit with a bug and passes on one without."""
        if self._left() < GATE_SECONDS:
            part.not_run.append(f"`bench gate`, which takes {GATE_SECONDS} s of fuzzing")
            return
        answer = self.here.ask("bench", "gate", "--mutant", GATE_MUTANT, "--seconds",
                               GATE_SECONDS, "--seed", 1)
        counted = answer.document["gate"]["summary"]
        missed = counted["caught"] < counted["mutants"]
        part.took(3 if missed or answer.code else 0,
                  f"{counted['caught']} of {counted['mutants']} seeded bugs caught"
                  + ", and a finding on a harmless commit" * answer.code)

    def _report(self, part: Part) -> None:
        self.here.ask("report", self.out, "--sarif", self.out / "findings.sarif", "--junit",
                      self.out / "findings.xml", ok=(0,))
        part.took(0, f"{self.out}/report.html, findings.sarif, findings.xml")

    def _guarded(self, part: Part, step: Callable[[], None]) -> None:
        """Runs one STEP of many in a part; its failure does not stop the others."""
        try:
            step()
        except (UserError, MachineError) as error:
            part.took(2, str(error))
        except BrokenError as error:
            part.took(3, str(error))


def prune(here: Checkout) -> list[dict]:
    """Distils each default corpus: subject, target, and numbers of files before and after."""
    rows = []
    for name in PROTOCOL_FOLDERS:
        for target in catalogue.fuzzable_targets():
            folder = workplace.corpus_of(name, target)
            if folder.is_dir() and any(folder.iterdir()):
                document = here.ask("corpus", "merge", folder, "--subject", name, "--target",
                                    target, ok=(0,)).document
                rows.append({"subject": name, "target": target, "before": document["before"],
                             "after": document["after"]})
    return rows


def _until(process: subprocess.Popen, seconds: float) -> tuple[str, str, bool]:
    """The output of PROCESS until it ends or SECONDS are over, and whether it ended by itself.

    When SECONDS are over, or after an interrupt, PROCESS is killed together with its children.
    """
    late = threading.Event()

    def stop():
        late.set()
        subprocess.run(["kill", "--", f"-{process.pid}"], check=False)

    timer = threading.Timer(max(0.0, seconds), stop)
    timer.start()
    try:
        out, err = process.communicate()
    except BaseException:
        stop()
        raise
    finally:
        timer.cancel()
    return out, err, not late.is_set()

