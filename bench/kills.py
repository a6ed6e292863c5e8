"""SIGKILL for random processes of hunts on the core: what is lost, and how the hunts end.

    ./slotfuzz bench kills [--runs 200] [--seed 1]

A hunt runs again and again with one corpus. At random times a random process of it gets SIGKILL:
the driver, an engine, a fork server or one of their children. No hunt may end with 1 (a finding
where there is none) or 3, and no folder of a finding may appear.
"""

import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from slotfuzz import subject
from slotfuzz.benchmark import Measured
from slotfuzz.paths import ROOT

KILLS, SEED = 200, 1
TARGETS = ("storage", "tensor")
HUNT_SECONDS = 10
# Between two kills; a process is back within a tenth of a second.
PAUSE_SECONDS_MAX = 1.0
# The driver's death ends its hunt, and leaves few processes to kill.
DRIVER_SHARE = 0.05


def measure(args) -> Measured:
    """A row for each kind of process that was killed, and one for the ends of the hunts."""
    for target in TARGETS:
        subject.resolve("core", "none", [target])
    choose, killed, ends = random.Random(args.seed or SEED), Counter(), Counter()
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
        out = Path(folder) / "out"
        while sum(killed.values()) < (args.runs or KILLS):
            left = (args.runs or KILLS) - sum(killed.values())
            code, words = _hunt(choose, out, killed, left)
            ends[f"{code}: {words}" if code == 2 else str(code)] += 1
        found = [path.name for path in out.iterdir() if path.is_dir()]
    rows = [{"what": f"killed: {name}", "times": times} for name, times in sorted(killed.items())]
    rows += [{"what": f"hunt ended with {code}", "times": times}
             for code, times in sorted(ends.items())]
    said = [f"{sum(killed.values())} kills in {sum(ends.values())} hunts; folders of findings:"
            f" {len(found)}"]
    allowed = {"0", "2", str(-signal.SIGKILL)}
    wrong = bool(found) or any(end.partition(":")[0] not in allowed for end in ends)
    return Measured(rows, said, {"killed": dict(killed), "ends": dict(ends), "findings": found},
                    failed=wrong)


def plot(measured: Measured, axes) -> None:
    """Bars: how often which process was killed, and how the hunts ended."""
    axes.barh([row["what"] for row in measured.rows], [row["times"] for row in measured.rows])
    axes.set_xlabel("times")


def _hunt(choose: random.Random, out: Path, killed: Counter, kills_max: int) -> tuple[int, str]:
    """One hunt, of which random processes are killed: its exit code, or minus a signal, and its
    last words.
    """
    command = [str(ROOT / "slotfuzz"), "hunt", *TARGETS, "--sanitizer", "none", "--seconds",
               str(HUNT_SECONDS), "--out", str(out), "--seed", str(choose.randrange(1, 1 << 30))]
    words = tempfile.TemporaryFile()
    process = subprocess.Popen(command, stdout=words, stderr=words)
    while process.poll() is None:
        time.sleep(choose.uniform(0, PAUSE_SECONDS_MAX))
        family = _family(process.pid)
        # Until a target has started there is only the driver to kill.
        if any("--spawn" in name for _, name in family) and kills_max > 0:
            driver, *others = family
            pid, name = driver if choose.random() < DRIVER_SHARE else choose.choice(others)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed[name] += 1
            kills_max -= 1
    words.seek(0)
    lines = words.read().decode(errors="replace").splitlines() or [""]
    return process.returncode, lines[-1]


def _family(root: int) -> list[tuple[int, str]]:
    """The process ROOT and all below it, with what each one is."""
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
