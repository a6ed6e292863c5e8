"""Lines, runs and seconds of our minimizer and of others, on crashes that searches find.

    ./slotfuzz bench minimizers [--mutant ID] [--seeds 3]

Each crash is the first one of a search from an empty corpus: long, with many lines that the crash
does not need. It needs Debian's packages delta and cvise, which the set-up does not install.
"""

import statistics

from slotfuzz import console
from slotfuzz.ci import minimizers
from slotfuzz.measure.benchmark import Measured

MUTANTS = ("hermetic-del-storage", "weak-slot", "swap-keeps-slots", "frombuffer-keeps-nothing",
           "storage-dict-cleared", "dead-ctx-unchecked")
SEEDS = 3


def measure(args) -> Measured:
    """One row for each crash and minimizer."""
    minimizers.check_tools()
    rows = []
    for name in args.mutants or MUTANTS:
        for seed in range(1, (args.seeds or SEEDS) + 1):
            with minimizers.Crash(name, seed) as crash:
                for run in minimizers.MINIMIZERS:
                    result = run(crash)
                    rows.append({"mutant": name, "seed": seed, **vars(result)})
                    console.say(f"{name}, seed {seed}, {result.by}: {result.lines_before} lines"
                                f" to {result.lines}")
    summary = {by: _summary(rows, by) for by in dict.fromkeys(row["by"] for row in rows)}
    return Measured(rows, [_sentence(by, one) for by, one in summary.items()], summary)


def plot(measured: Measured, axes) -> None:
    """Dots: lines after over lines before, one colour per minimizer."""
    for by in measured.summary:
        mine = [row for row in measured.rows if row["by"] == by]
        axes.scatter([row["lines_before"] for row in mine], [row["lines"] for row in mine],
                     label=by, s=14)
    axes.set_xlabel("lines before")
    axes.set_ylabel("lines after")
    axes.legend(fontsize=7)


def _summary(rows: list[dict], by: str) -> dict:
    mine = [row for row in rows if row["by"] == by]
    runs = [row["runs"] for row in mine if row["runs"] is not None]
    return {"crashes": len(mine), "same": sum(row["same"] for row in mine),
            "lines_median": statistics.median(row["lines"] for row in mine),
            "lines_sum": sum(row["lines"] for row in mine),
            "runs_median": statistics.median(runs) if runs else None,
            "seconds_median": statistics.median(row["seconds"] for row in mine)}


def _sentence(by: str, one: dict) -> str:
    runs = "" if one["runs_median"] is None else f", {one['runs_median']:.0f} runs"
    return (f"{by}: of {one['crashes']} crashes {one['same']} keep their signature; median"
            f" {one['lines_median']:g} lines{runs}, {one['seconds_median']:.1f} s; all together"
            f" {one['lines_sum']} lines")
