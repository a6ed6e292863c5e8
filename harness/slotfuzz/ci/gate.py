"""The gate before a merge: replays scripts and corpora, then fuzzes the targets of a change.

A finding counts only if it does not reproduce on the base revision (gate_compare.py). The first one
that counts ends the gate, which then lists the work that it left out.
"""

import math
import os
import queue
import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz import console
from slotfuzz.ci.checkout import Answer, Base, Checkout, INTERRUPTED, Stopped
from slotfuzz.ci.gate_compare import Comparison, Result
from slotfuzz.ci.gate_scope import Scope
from slotfuzz.errors import BrokenError, MachineError, UserError
from slotfuzz.finding import finding
from slotfuzz.hunt import series, workplace
from slotfuzz.paths import ROOT, build_root, shown
from slotfuzz.schema import schedules
from slotfuzz.subject import catalogue
from slotfuzz.subject.subjects.core import PROTOCOL_FOLDERS

REPLAYED_UNDER = ("address", "thread", "debugpy")
PARTS = ("replay", "explore", "fuzz")
# A shorter hunt would end before its first program.
HUNT_SECONDS_MIN = 2.0
SCHEDULES_FOLDER = "schedules"


@dataclass(frozen=True)
class Plan:
    """What the gate does: PARTS, with SECONDS of fuzzing split over the targets of SCOPE."""

    scope: Scope
    out: Path
    seconds: float
    seed: int
    sanitizer: str = "address"
    parts: tuple[str, ...] = PARTS
    workers: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))


def replayed_subjects(scope: Scope) -> list[str]:
    """The builds of the core that replay corpora: those that changed, else the first."""
    return scope.subjects or [next(iter(PROTOCOL_FOLDERS))]


def empty(out: Path) -> None:
    """Empties the folder OUT; UserError if it has files and is not a campaign's folder."""
    finding.check_writable(out)
    inside = sorted(out.iterdir())
    if inside and not (out / series.NAME).exists():
        raise UserError(f"--out {shown(out)} must be empty or a folder of findings;"
                        f" it holds {inside[0].name}")
    for path in inside:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


class Gate:
    """Runs PLAN with the slotfuzz HERE, and compares findings with BASE."""

    def __init__(self, plan: Plan, here: Checkout, base: Base):
        self.plan, self.here, self.base = plan, here, base
        self.result = Result()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self.comparison = Comparison(plan.out, base, self.result, self._stopped,
                                     lambda: self.here.stop())

    def run(self) -> Result:
        """Runs the parts in order until a finding counts."""
        finding.check_writable(self.plan.out)
        work = build_root() / "gate"
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="work-", dir=work) as folder:
            self._corpora = Path(folder)
            for part in self.plan.parts:
                start, compared = time.monotonic(), self.comparison.seconds
                self._run_all({"replay": self._replays, "explore": self._explorations,
                               "fuzz": self._hunts}[part]())
                compared = self.comparison.seconds - compared
                self.result.seconds[part] = round(time.monotonic() - start - compared, 1)
            self.result.seconds["compare"] = round(self.comparison.seconds, 1)
        self.comparison.put_aside()
        return self.result

    def _run_all(self, tasks: list) -> None:
        """Runs TASKS, which are pairs of a name and a function, on all workers."""
        waiting = queue.SimpleQueue()
        for task in tasks:
            waiting.put(task)

        def work():
            while not waiting.empty():
                try:
                    name, function = waiting.get_nowait()
                except queue.Empty:
                    return
                if self._stopped.is_set():
                    with self._lock:
                        self.result.left_out.append(name)
                    continue
                console.say(name)
                try:
                    function()
                except Stopped:
                    with self._lock:
                        self.result.left_out.append(name)

        with ThreadPoolExecutor(self.plan.workers) as pool:
            working = [pool.submit(work) for _ in range(min(self.plan.workers, len(tasks)))]
            try:
                for one in working:
                    one.result()
            except BaseException:
                # Otherwise the other hunts would go on until their time is over.
                self._stopped.set()
                self.here.stop()
                self.base.stop()
                raise

    # --- replaying ---

    def _replays(self) -> list:
        subjects = replayed_subjects(self.plan.scope)
        tasks = [(f"replaying repro/ under {sanitizer}",
                  lambda sanitizer=sanitizer: self._replay_scripts(sanitizer))
                 for sanitizer in REPLAYED_UNDER]
        return tasks + [
            (f"replaying the corpus of {target} on {subject} under {sanitizer}",
             lambda one=(subject, target, sanitizer): self._replay_corpus(*one))
            for sanitizer in REPLAYED_UNDER for subject in subjects
            for target in catalogue.fuzzable_targets()]

    def _replay_scripts(self, sanitizer: str) -> None:
        scripts = sorted((ROOT / "repro").glob("*/repro.py"))
        if not scripts:
            return
        answer = self.here.ask("replay", *scripts, "--subject", "core", "--sanitizer", sanitizer)
        if len(answer.document) != len(scripts):
            raise BrokenError(f"only {len(answer.document)} of {len(scripts)} scripts"
                              " were replayed")
        with self._lock:
            self.result.scripts.append({"sanitizer": sanitizer, "scripts": len(scripts)})
        for script, row in zip(scripts, answer.document):
            if row["findings"]:
                self.comparison.take({**row, "id": script.parent.name, "folder": str(script.parent),
                            "rate": row["findings"] / row["times"]})

    def _replay_corpus(self, subject: str, target: str, sanitizer: str) -> None:
        """Starts a hunt that ends when it has loaded the corpus; it judges programs that fail."""
        corpus, count = self._corpus(subject, target)
        if not count:
            return
        document = self._hunt(subject, target, sanitizer, corpus, "--runs", 1)
        with self._lock:
            self.result.corpora.append({
                "subject": subject, "target": target, "sanitizer": sanitizer, "files": count,
                "programs": document["programs"]})

    def _corpus(self, subject: str, target: str) -> tuple[Path, int]:
        """A copy of the seeds and of the corpus of earlier hunts, and its number of files.

        The gate does not change that corpus, so that the same seed gives the same gate again.
        """
        made = Path(tempfile.mkdtemp(prefix=f"{target}-", dir=self._corpora))
        for folder in (ROOT / "corpus" / target, workplace.corpus_of(subject, target)):
            for path in sorted(folder.iterdir()) if folder.is_dir() else []:
                if path.is_file():
                    shutil.copyfile(path, made / path.name)
        return made, sum(1 for _ in made.iterdir())

    # --- exploring and fuzzing ---

    def _explorations(self) -> list:
        return [(f"exploring {name}", lambda name=name: self._explore(name))
                for name in self.plan.scope.protocols]

    def _explore(self, name: str) -> None:
        words = ("interleave", name, "--seconds", self.plan.seconds)
        out = self.plan.out / SCHEDULES_FOLDER
        (row,) = self.here.ask(*words, "--out", out).document
        with self._lock:
            self.result.explored.append({key: row.get(key) for key in (
                "protocol", "executions", "graphs", "seconds", "verdict")})
        if row["verdict"] != "failed":
            return
        failure = row["failure"]
        signature = schedules.words_of(failure)
        schedule = f"./slotfuzz interleave {name} --schedule {failure.get('schedule', '')}"
        record = {"id": f"{name}-schedule", "folder": failure["program"], "signature": signature,
                  "subject": "core", "target": name, "sanitizer": "none", "oracle": "model",
                  "rate": failure["replays_failed"] / failure["replays"], "text": schedule}
        (there,) = self.base.checkout().ask(*words).document
        before = schedules.words_of(there["failure"]) if there["verdict"] == "failed" else ""
        self.comparison.sort(record, signature == before,
                             before and f"on the base it fails differently: {before}")

    def _hunts(self) -> list:
        pairs = [(subject, target) for target in self.plan.scope.targets
                 for subject in self.plan.scope.subjects]
        rounds = math.ceil(len(pairs) / self.plan.workers)
        each = max(self.plan.seconds / max(1, rounds), HUNT_SECONDS_MIN)
        return [(f"fuzzing {target} on {subject} under {self.plan.sanitizer}, {each:.0f} s",
                 lambda one=(subject, target): self._fuzz(*one, each)) for subject, target in pairs]

    def _fuzz(self, subject: str, target: str, seconds: float) -> None:
        """Hunts until a finding counts or SECONDS are over; suppresses old findings."""
        corpus, _ = self._corpus(subject, target)
        row = {"subject": subject, "target": target, "sanitizer": self.plan.sanitizer,
               "programs": 0, "seconds": 0.0}
        left = seconds
        while left == seconds or left >= HUNT_SECONDS_MIN and not self._stopped.is_set():
            document = self._hunt(subject, target, self.plan.sanitizer, corpus, "--stop-at-first",
                                  "--seconds", f"{left:.1f}")
            row["programs"] += document["programs"]
            row["seconds"] = round(row["seconds"] + document["fuzz_seconds"], 1)
            left -= max(document["seconds"], HUNT_SECONDS_MIN)
            if not document["new"]:
                break
        with self._lock:
            self.result.hunted.append(row)

    def _hunt(self, subject: str, target: str, sanitizer: str, corpus: Path, *words) -> dict:
        """Runs a hunt and compares its findings with the base; returns its JSON document."""
        answer: Answer = self.here.ask(
            "hunt", target, "--subject", subject, "--sanitizer", sanitizer, "--corpus", corpus,
            "--out", self.plan.out, "--seed", self.plan.seed, *words, ok=(0, 1, 2, INTERRUPTED))
        document = answer.document
        if "programs" not in document or not document["programs"] and answer.code in (0, 2):
            raise MachineError(f"hunt {target} on {subject}: "
                               f"{document.get('error') or 'it ran no program'}")
        with self._lock:
            self.result.trouble = self.result.trouble or document["trouble"]
        for record in [*document["new"], *document["known"], *document["unreproduced"]]:
            kept = finding.read(Path(record["folder"]))
            self.comparison.take({**(kept.plain() if kept else {}), **record})
        return document
