"""Seconds of fuzzing and programs until a seeded bug is found, from an empty corpus.

    ./slotfuzz bench time_to_bug [--mutant ID] [--seeds 10]

Each hunt has its own seed; its finding is minimized and verified as in any hunt. A hunt that does
not find the bug within --seconds counts as slower than all others.
"""

import math
import statistics

from slotfuzz import console
from slotfuzz.measure import mutants
from slotfuzz.measure.benchmark import Measured

MUTANTS = ("hermetic-del-storage",)
SEEDS = 10


def measure(args) -> Measured:
    """One row per mutant and seed."""
    rows, sentences, summary = [], [], {}
    for name in args.mutants or MUTANTS:
        mine = []
        for seed in range(1, (args.seeds or SEEDS) + 1):
            mine.append(_row(mutants.hunt_one(name, args.seconds, seed)))
            console.say(f"{name}, seed {seed}: {mine[-1]['seconds']} s")
        summary[name] = {
            "hunts": len(mine), "found": sum(row["found"] for row in mine),
            "lines_max": max(row["lines"] for row in mine)}
        for key in ("seconds", "programs"):
            needed = [row[key] if row["found"] else math.inf for row in mine]
            summary[name][f"{key}_median"] = _or_none(statistics.median(needed))
            summary[name][f"{key}_max"] = _or_none(max(needed))
        sentences.append(_sentence(name, summary[name]))
        rows += mine
    return Measured(rows, sentences, summary)


def plot(measured: Measured, axes) -> None:
    """Steps: how many hunts have found their bug within a number of seconds."""
    for name in dict.fromkeys(row["mutant"] for row in measured.rows):
        seconds = sorted(row["seconds"] for row in measured.rows
                         if row["mutant"] == name and row["found"])
        axes.step([0, *seconds], range(len(seconds) + 1), where="post", label=name)
    axes.set_xlabel("seconds of fuzzing")
    axes.set_ylabel("hunts that have found it")
    axes.legend(fontsize=7)


def _row(hunted: dict) -> dict:
    """The columns of the table for a hunt, in their order."""
    return {key: hunted.get(key, "") for key in (
        "mutant", "seed", "found", "seconds", "programs", "lines", "minimize_runs",
        "minimize_seconds", "one_minimal", "rate", "verdict")}


def _or_none(number: float) -> float | None:
    """JSON has no infinity."""
    return None if math.isinf(number) else number


def _sentence(name: str, row: dict) -> str:
    words = f"{name}: found in {row['found']} of {row['hunts']} hunts"
    if row["seconds_median"] is not None:
        words += (f", median {row['seconds_median']:.2f} s and"
                  f" {row['programs_median']:,.0f} programs")
    if row["seconds_max"] is not None:
        words += f", at most {row['seconds_max']:.2f} s"
    return f"{words}; at most {row['lines_max']} lines"
