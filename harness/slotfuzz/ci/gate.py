"""The gate before a merge: replays what is kept, fuzzes what changed, compares with the base.

A finding counts only if it does not reproduce on the base revision. The first one that counts ends
the gate; what was left out because of it is said.
"""

import json
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
from slotfuzz.ci.gate_scope import Scope
from slotfuzz.errors import BrokenError, MachineError, UserError
from slotfuzz.finding import finding, places
from slotfuzz.hunt import series, workplace
from slotfuzz.measure.mutants import verdict_of
from slotfuzz.paths import ROOT, build_root, shown
from slotfuzz.schema.record import keys_of
from slotfuzz.subject import catalogue
from slotfuzz.subject.subjects.core import PROTOCOL_FOLDERS
from slotfuzz.triage import dedup

REPLAYED_UNDER = ("address", "thread", "debugpy")
# Runs on the base until a finding counts as not reproduced there: of one that always fails here,
# and of one that does not.
BASE_RUNS, BASE_RUNS_RARE = 5, 20
PARTS = ("replay", "explore", "fuzz")
# A hunt that is shorter than that does not get past its start.
HUNT_SECONDS_MIN = 2.0
SCHEDULES_FOLDER = "schedules"


@dataclass(frozen=True)
class Plan:
    """What the gate does: PARTS, of them SECONDS of fuzzing in all, split over what SCOPE names."""

    scope: Scope
    out: Path
    seconds: float
    seed: int
    sanitizer: str = "address"
    parts: tuple[str, ...] = PARTS
    workers: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))


@dataclass
class Result:
    """What the gate did, and its findings: NEW ones count, OLD ones reproduce on the base.

    UNCOMPARED ones were met while the gate was ending. LEFT_OUT names what was planned and did not
    run, since a finding came first.
    """

    scripts: list[dict] = field(default_factory=list)
    corpora: list[dict] = field(default_factory=list)
    hunted: list[dict] = field(default_factory=list)
    explored: list[dict] = field(default_factory=list)
    new: list[dict] = field(default_factory=list)
    old: list[dict] = field(default_factory=list)
    uncompared: list[dict] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    trouble: str = ""

    @property
    def exit_code(self) -> int:
        """1 if a finding counts, else 2 if the machine was in the way, else 0."""
        return 1 if self.new else 2 if self.trouble else 0


def replayed_subjects(scope: Scope) -> list[str]:
    """The builds of the core on which corpora are replayed: those that changed, else the first."""
    return scope.subjects or [next(iter(PROTOCOL_FOLDERS))]


def empty(out: Path) -> None:
    """Makes OUT an empty folder; UserError if it holds files and is no campaign's folder."""
    finding.check_writable(out)
    inside = sorted(out.iterdir())
    if inside and not (out / series.NAME).exists():
        raise UserError(f"--out {shown(out)} is emptied first, and holds {inside[0].name}, which"
                        " no hunt has written")
    for path in inside:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


class Gate:
    """Runs PLAN with the slotfuzz HERE, and compares with that of BASE."""

    def __init__(self, plan: Plan, here: Checkout, base: Base):
        self.plan, self.here, self.base = plan, here, base
        self.result = Result()
        self._lock = threading.Lock()
        self._compare_lock = threading.Lock()
        self._stopped = threading.Event()
        self._compared: set[Path] = set()
        self._compare_seconds = 0.0

    def run(self) -> Result:
        """All parts, in this order, until a finding counts."""
        finding.check_writable(self.plan.out)
        work = build_root() / "gate"
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="work-", dir=work) as folder:
            self._corpora = Path(folder)
            for part in self.plan.parts:
                start, compared = time.monotonic(), self._compare_seconds
                self._run_all({"replay": self._replays, "explore": self._explorations,
                               "fuzz": self._hunts}[part]())
                compared = self._compare_seconds - compared
                self.result.seconds[part] = round(time.monotonic() - start - compared, 1)
            self.result.seconds["compare"] = round(self._compare_seconds, 1)
        self._put_aside(self.result.old, places.OLD_FOLDER)
        self._put_aside(self.result.uncompared, places.UNCOMPARED_FOLDER)
        return self.result

    def _run_all(self, tasks: list) -> None:
        """Runs TASKS, pairs of a name and a function, on all workers."""
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
                # The others would hunt on until their time is over.
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
            raise BrokenError(f"of {len(scripts)} scripts {len(answer.document)} were replayed")
        with self._lock:
            self.result.scripts.append({"sanitizer": sanitizer, "scripts": len(scripts)})
        for script, row in zip(scripts, answer.document):
            if row["findings"]:
                self._take({**row, "id": script.parent.name, "folder": str(script.parent),
                            "rate": row["findings"] / row["times"]})

    def _replay_corpus(self, subject: str, target: str, sanitizer: str) -> None:
        """A hunt that ends once the corpus is loaded: what fails in it is judged as usual."""
        corpus, count = self._corpus(subject, target)
        if not count:
            return
        document = self._hunt(subject, target, sanitizer, corpus, "--runs", 1)
        with self._lock:
            self.result.corpora.append({
                "subject": subject, "target": target, "sanitizer": sanitizer, "files": count,
                "programs": document["programs"]})

    def _corpus(self, subject: str, target: str) -> tuple[Path, int]:
        """A copy of the seeds and of what hunts have kept, and how many files it has.

        The kept one stays as it is: a gate with the same seed begins with the same corpus.
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
        told = f"{failure['kind']}: {failure['message']}"
        schedule = f"./slotfuzz interleave {name} --schedule {failure.get('schedule', '')}"
        record = {"id": f"{name}-schedule", "folder": failure["program"], "signature": told,
                  "subject": "core", "target": name, "sanitizer": "none", "oracle": "model",
                  "rate": failure["replays_failed"] / failure["replays"], "text": schedule}
        (there,) = self.base.checkout().ask(*words).document
        before = there.get("failure") or {}
        is_old = there["verdict"] == "failed" and told == \
            f"{before.get('kind')}: {before.get('message')}"
        self._sort(record, is_old, "" if there["verdict"] != "failed" else
                   f"on the base it fails otherwise: {before.get('message')}")

    def _hunts(self) -> list:
        pairs = [(subject, target) for target in self.plan.scope.targets
                 for subject in self.plan.scope.subjects]
        rounds = math.ceil(len(pairs) / self.plan.workers)
        each = max(self.plan.seconds / max(1, rounds), HUNT_SECONDS_MIN)
        return [(f"fuzzing {target} on {subject} under {self.plan.sanitizer}, {each:.0f} s",
                 lambda one=(subject, target): self._fuzz(*one, each)) for subject, target in pairs]

    def _fuzz(self, subject: str, target: str, seconds: float) -> None:
        """Hunts until a finding counts or SECONDS are over; old ones are steered around."""
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
        """The document of a hunt, its findings compared with the base."""
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
            self._take({**finding.read(Path(record["folder"])), **record})
        return document

    # --- comparing ---

    def _take(self, record: dict) -> None:
        """Compares a finding with the base, each once."""
        with self._compare_lock:
            place = Path(record["folder"])
            if place in self._compared:
                return
            self._compared.add(place)
            if self._is_met_again(record):
                return
            if self._stopped.is_set():
                self.result.uncompared.append(record)
                return
            start = time.monotonic()
            is_old, note = self._is_old(record)
            self._compare_seconds += time.monotonic() - start
            self._sort(record, is_old, note)

    def _is_met_again(self, record: dict) -> bool:
        """Whether RECORD is one bug with a finding that counts; that one then says so.

        Hunts that run at the same time, on other targets and builds, meet it under names of theirs.
        """
        keys = keys_of(record)
        first = next((one for one in self.result.new if one["signature"] == record["signature"] or
                      any(dedup.is_same(key, known) for key in keys
                          for known in keys_of(one))), None)
        if not first:
            return False
        first["also"].append(f"{record['target']} on {record['subject']}: {record['signature']}")
        folder = Path(record["folder"])
        if folder.parent.resolve() == self.plan.out.resolve():
            shutil.rmtree(folder)
        return True

    def _sort(self, record: dict, is_old: bool, note: str) -> None:
        record = {**record, "note": note, "also": []}
        with self._lock:
            (self.result.old if is_old else self.result.new).append(record)
        console.say(f"{'old' if is_old else 'NEW'}: {record['signature']}: "
                    f"{shown(Path(record['folder']))}{'; ' * bool(note)}{note}")
        if not is_old:
            self._stopped.set()
            self.here.stop()

    def _is_old(self, record: dict) -> tuple[bool, str]:
        """Whether a finding reproduces on the base, and what there is to say of that."""
        script = Path(record["folder"]) / "repro.py"
        if not script.exists():
            return False, "nothing repeats it alone, so it cannot be tried on the base"
        base = self.base.checkout()
        meant = ("--subject", record["subject"], "--sanitizer", record["sanitizer"])
        runs = BASE_RUNS if record["rate"] == 1 else BASE_RUNS_RARE
        code, out, _ = base.run("replay", script, *meant, "--target", record["target"], "--times",
                                runs, "--json")
        rows = _rows(out) if code in (0, 1) else []
        # Of a line that the base does not know it would run the others.
        if not rows or rows[0]["lines"] != record["lines"]:
            return self._fails_as_a_script(base, script, record, runs)
        (row,) = rows
        if not row["findings"]:
            return False, f"0 of {runs} runs fail on the base"
        if verdict_of(row) == verdict_of(record):
            return True, f"{row['findings']} of {runs} runs fail on the base"
        return False, f"on the base it fails otherwise: {row['signature']}"

    def _fails_as_a_script(self, base: Checkout, script: Path, record: dict, runs: int):
        """For a program whose ops or target the base does not know: its script has all it needs."""
        code, out, err = base.run("python", "--subject", record["subject"], "--sanitizer",
                                  record["sanitizer"], script, "--check", runs)
        if code not in (0, 1):
            tail = (err.strip().splitlines() or ["no message"])[-1]
            raise MachineError(f"cannot try {shown(script)} on the base: {tail}")
        told = (out.strip().splitlines() or ["it said nothing"])[0]
        return code == 1, f"as a script on the base: {told}"

    def _put_aside(self, records: list[dict], name: str) -> None:
        """Moves the folders of RECORDS that this gate has written to OUT/NAME/."""
        for record in records:
            folder = Path(record["folder"])
            if folder.parent.resolve() == self.plan.out.resolve() and folder.is_dir():
                place = self.plan.out / name / folder.name
                shutil.rmtree(place, ignore_errors=True)
                place.parent.mkdir(exist_ok=True)
                shutil.move(folder, place)
                record["folder"] = str(place)


def _rows(out: str) -> list[dict]:
    """The document of `replay --json`; empty where it gave none."""
    try:
        return json.loads(out)
    except ValueError:
        return []
