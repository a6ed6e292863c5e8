"""SIGKILL for random processes of hunts: whether anything is lost, and how the hunts end.

    ./slotfuzz bench kills [--runs 200] [--seed 1]

Hunts run again and again, in turn on a clean target of the core and on the target that must fail,
each with one corpus and one folder for findings. At random times a random process of the hunt gets
SIGKILL: the driver, an engine, a symbolizer or one of their children. Each of these is an error: a
hunt on the clean target that exits with 1 or has a finding; any hunt that exits with 3; a corpus
file that is gone or whose name is not the hash of its text; a finding that cannot be read or has no
script; and, after a last hunt without kills, no finding on the target that must fail.
"""

import hashlib
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from slotfuzz.errors import MachineError
from slotfuzz.finding import finding
from slotfuzz.hunt import corpus
from slotfuzz.measure.benchmark import Measured
from slotfuzz.paths import ROOT
from slotfuzz.subject import catalogue, subject

KILLS, SEED = 200, 1
HUNT_SECONDS = 10
# Between two kills; a killed process is replaced within a tenth of a second.
PAUSE_SECONDS_MAX = 1.0
# Killing the driver ends its hunt, and leaves few processes to kill.
DRIVER_SHARE = 0.05


@dataclass
class _Place:
    """The corpus, findings and errors of the hunts on TARGET."""

    target: str
    folder: Path
    codes: tuple[int, ...]
    ends: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def entries(self) -> dict[str, bytes]:
        """The files of the corpus."""
        return {path.name: path.read_bytes() for path in (self.folder / "corpus").glob("*")}

    def check(self, before: dict[str, bytes], is_killed: bool) -> None:
        """Compares the present state with the corpus BEFORE the hunt.

        After a driver that IS_KILLED an entry may be empty until the next hunt begins.
        """
        after = self.entries()
        self.wrong += [f"{self.target}: the corpus has lost {name}" for name in before
                       if before[name] and after.get(name) != before[name]]
        self.wrong += [f"{self.target}: {name} of the corpus is incomplete"
                       for name, text in after.items() if name not in before
                       and (text or not is_killed)
                       and corpus.ENTRY.fullmatch(name) and hashlib.sha1(text).hexdigest() != name]
        for path in sorted(self.findings()):
            if not finding.read(path) or not (path / "repro.py").exists():
                self.wrong.append(f"{self.target}: {path.name} is incomplete or not reproduced")

    def findings(self) -> list[Path]:
        """The folders of findings; the name of an unfinished folder begins with a dot."""
        return [path for path in (self.folder / "out").glob("[!.]*") if path.is_dir()]


def measure(args) -> Measured:
    """A row for each kind of process that was killed, and one for each way that hunts ended."""
    choose, killed, kills_max = random.Random(args.seed or SEED), Counter(), args.runs or KILLS
    failing = next(name for name in catalogue.target_names() if catalogue.must_fail(name))
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
        places = [_Place(catalogue.default_target(), Path(folder) / "clean", (0, 2)),
                  _Place(failing, Path(folder) / "failing", (0, 1, 2))]
        subject.resolve("core", None, [place.target for place in places])
        while sum(killed.values()) < kills_max:
            before = sum(killed.values())
            for place in places:
                _hunt(choose, place, killed, kills_max - sum(killed.values()))
            if sum(killed.values()) == before:
                raise MachineError(f"no process to kill: {'; '.join(places[0].ends)}")
        for place in places:
            _hunt(choose, place, killed, 0)
        clean, failing = places
        clean.wrong += [f"{path.name} is a finding on {clean.target}" for path in clean.findings()]
        if not failing.findings():
            failing.wrong.append(f"{failing.target} has no finding")
        rows = [_row("killed", name, times) for name, times in sorted(killed.items())]
        rows += [_row(f"hunt on {place.target} ended", end, times)
                 for place in places for end, times in sorted(place.ends.items())]
        kept = {place.target: (len(place.entries()), len(place.findings())) for place in places}
    wrong = [words for place in places for words in place.wrong]
    said = [f"{sum(killed.values())} kills in {sum(place.ends.total() for place in places)} hunts",
            *(f"{target}: {entries} files in the corpus, {findings} findings"
              for target, (entries, findings) in kept.items()),
            *(wrong or ["nothing was lost, and no error occurred"])]
    return Measured(rows, said, {"killed": dict(killed), "wrong": wrong}, failed=bool(wrong))


def _row(what: str, which: str, times: int) -> dict:
    return {"what": what, "which": which, "times": times}


def plot(measured: Measured, axes) -> None:
    """Bars: how often each kind of process was killed, and how the hunts ended."""
    axes.barh([f"{row['what']}: {row['which']}" for row in measured.rows],
              [row["times"] for row in measured.rows])
    axes.set_xlabel("times")


def _hunt(choose: random.Random, place: _Place, killed: Counter, kills_max: int) -> None:
    """One hunt, of which up to KILLS_MAX random processes are killed."""
    command = [str(ROOT / "slotfuzz"), "hunt", place.target, "--seconds", str(HUNT_SECONDS),
               "--out", str(place.folder / "out"), "--corpus", str(place.folder / "corpus"),
               "--seed", str(choose.randrange(1, 1 << 30))]
    before = place.entries()
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(command, stdout=words, stderr=words)
        while process.poll() is None:
            time.sleep(choose.uniform(0, PAUSE_SECONDS_MAX))
            if kills_max > 0 and (name := _kill_one(choose, process.pid)):
                killed[name] += 1
                kills_max -= 1
        words.seek(0)
        lines = words.read().decode(errors="replace").splitlines() or [""]
    code = process.returncode
    place.ends[f"{code}: {lines[-1]}" if code == 2 else str(code)] += 1
    if code not in (*place.codes, -signal.SIGKILL):
        place.wrong.append(f"a hunt on {place.target} ended with {code}: {lines[-1]}")
    place.check(before, code == -signal.SIGKILL)


def _kill_one(choose: random.Random, driver: int) -> str:
    """Kills a process of the hunt of DRIVER; returns its kind, or an empty string."""
    family = _family(driver)
    # Until a target has started, the driver is the only process to kill.
    if not any("--spawn" in name for _, name in family):
        return ""
    first, *others = family
    pid, name = first if choose.random() < DRIVER_SHARE else choose.choice(others)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return ""
    return name


def _family(root: int) -> list[tuple[int, str]]:
    """The process ROOT and all its descendants, with the kind of each."""
    parents, names = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (path / "stat").read_text().rpartition(")")[2].split()[:2]
            words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if state == "Z":
            continue
        parents[int(path.name)] = int(parent)
        kind = next((word for word in words if word in ("--spawn", "--serve", "--describe")), "")
        names[int(path.name)] = f"{Path(words[0]).name} {kind}".strip()
    found, last = [], [root] * (root in parents)
    while last:
        found += last
        last = [pid for pid, parent in parents.items() if parent in last]
    names[root] = "driver"
    return [(pid, f"child of {names[pid]}" if names.get(parents.get(pid)) == names.get(pid)
             else names[pid]) for pid in found if pid in names]
