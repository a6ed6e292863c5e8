"""The mutation score: of the mutants that rules make of the core, how many does a hunt find?

    ./slotfuzz bench mutation [--sample 150] [--runs 1000] [--seed 1]

Each mutant is hunted for --runs programs on each of the targets that reach it most, from an empty
corpus. --seed chooses the sample; a larger one has the smaller one in it. The results are kept as
lines of JSON in the build folder, and an interrupted run continues where it ended. Debian's
python3-clang finds the sites. See docs/detection.md.
"""

from collections import Counter
from pathlib import Path

from slotfuzz.measure.benchmark import Measured
from slotfuzz.mutation import classes
from slotfuzz.mutation.results import SEED, Results
from slotfuzz.mutation.sweep import Outcome
from slotfuzz.paths import shown

SAMPLE, RUNS = 150, 1000


def measure(args) -> Measured:
    """A row for each rule and one for each folder of the core."""
    runs = RUNS if args.runs is None else args.runs
    results = Results(Outcome, "results" if runs else "results-of-calls")
    outcomes = results.of(
        args.sample or SAMPLE, args.seed or SEED, lambda one: one.how or one.runs >= runs,
        lambda sweep, number, site: sweep.hunt(number, site, runs) if runs
        else sweep.run_calls(number, site))
    survivors = classes.read()
    rows = _rows(outcomes, survivors)
    return Measured(rows, _sentences(outcomes, survivors, results), rows[0])


def _rows(outcomes: list[Outcome], survivors: dict) -> list[dict]:
    groups: dict[tuple[str, str], list[Outcome]] = {("all", ""): outcomes}
    for one in outcomes:
        file, _, rest = one.mutant.partition(":")
        rule = rest.rpartition(":")[0].rpartition(":")[2]
        for key in (("rule", rule), ("folder", str(Path(file).parent))):
            groups.setdefault(key, []).append(one)
    return [{"by": by, "of": of} | classes.count(groups[by, of], survivors)
            for by, of in sorted(groups, key=lambda key: ("all", "rule", "folder").index(key[0]))]


def _sentences(outcomes, survivors, results) -> list[str]:
    verdicts = Counter(one.verdict for one in outcomes if one.how)
    total = classes.count(outcomes, survivors)
    left_out = ", ".join(f"{count} {why}" for why, count in results.made.left_out.items())
    return [
        f"{len(results.made.sites):,} mutants; left out: {left_out}",
        f"score {total['score']} % of {len(outcomes):,}: {total['killed']:,} killed,"
        f" {total['start']} of them when a process starts; {total['unreached']} not reached,"
        f" {total['survived']} survived, {total['equivalent']} equivalent",
        "killed by: " + ", ".join(f"{verdict} {count}" for verdict, count in
                                  verdicts.most_common()),
        f"each outcome is a line of {shown(results.path)}"]


def plot(measured: Measured, axes) -> None:
    """A bar for each rule and folder."""
    axes.barh([f"{row['by']} {row['of']}" for row in measured.rows],
              [row["score"] for row in measured.rows])
    axes.set_xlabel("score in %")
