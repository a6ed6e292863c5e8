"""Runs and seconds that the minimizer needs for the crashes that hunts on the mutants find.

    ./slotfuzz bench minimizer [--mutant ID] [--seeds 3]

A run is a forked child of the warm server. It runs one program, or hundreds when the minimizer
looks for shorter programs and most are clean. The crashes come from hunts with an empty corpus,
because these are typical for a minimizer: long, with many lines that the crash does not need.
"""

import statistics

from slotfuzz import console
from slotfuzz.measure import mutants
from slotfuzz.measure.benchmark import Measured
from slotfuzz.subject import catalogue

SEEDS = 3
COLUMNS = ("mutant", "seed", "lines_before", "lines", "minimize_runs", "minimize_programs",
           "minimize_seconds", "one_minimal")


def measure(args) -> Measured:
    """One row per crash that was found."""
    rows, missed = [], []
    for name in args.mutants or catalogue.mutant_names():
        for seed in range(1, (args.seeds or SEEDS) + 1):
            hunted = mutants.hunt_one(name, args.seconds, seed)
            if hunted["found"]:
                rows.append({key: hunted[key] for key in COLUMNS})
            else:
                missed.append(f"{name} with seed {seed}")
            console.say(f"{name}, seed {seed}: {hunted['lines']} lines")
    if not rows:
        return Measured([dict.fromkeys(COLUMNS, "")], ["no hunt found anything"], {})
    summary = {
        "crashes": len(rows), "missed": missed,
        "runs_median": statistics.median(row["minimize_runs"] for row in rows),
        "runs_max": max(row["minimize_runs"] for row in rows),
        "seconds_median": statistics.median(row["minimize_seconds"] for row in rows),
        "seconds_max": max(row["minimize_seconds"] for row in rows),
        "runs_per_second": round(sum(row["minimize_runs"] for row in rows)
                                 / max(1e-9, sum(row["minimize_seconds"] for row in rows)))}
    sentences = [f"{len(rows)} crashes: median {summary['runs_median']:.0f} runs and"
                 f" {summary['seconds_median']:.2f} s, at most {summary['runs_max']} runs and"
                 f" {summary['seconds_max']:.2f} s; {summary['runs_per_second']} runs/s"]
    sentences += [f"not found: {words}" for words in missed]
    return Measured(rows, sentences, summary)


def plot(measured: Measured, axes) -> None:
    """Dots: runs over the lines of the crash, one colour per mutant."""
    for name in dict.fromkeys(row["mutant"] for row in measured.rows):
        mine = [row for row in measured.rows if row["mutant"] == name]
        axes.scatter([row["lines_before"] for row in mine],
                     [row["minimize_runs"] for row in mine], label=name, s=14)
    axes.set_xlabel("lines before")
    axes.set_ylabel("runs of the minimizer")
    axes.legend(fontsize=6)
