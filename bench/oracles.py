"""The detection matrix: how many mutants each oracle finds alone, and how many all others miss.

    ./slotfuzz bench oracles [--sample 60] [--runs 1000] [--seed 1]

The mutants are those of `bench mutation`. Each is hunted for --runs programs on each of two
targets, or until eight findings on each. See docs/detection.md.
"""

from slotfuzz.measure.benchmark import Measured
from slotfuzz.mutation import oracles
from slotfuzz.mutation.results import SEED, Results
from slotfuzz.paths import shown

SAMPLE, RUNS = 60, 1000


def measure(args) -> Measured:
    """A row for each oracle."""
    runs = args.runs or RUNS
    results = Results(oracles.Seen, "oracles")
    all_seen = results.of(args.sample or SAMPLE, args.seed or SEED, lambda one: one.runs >= runs,
                          lambda sweep, number, site: sweep.look(number, site, runs))
    rows = oracles.matrix(all_seen)
    sentences = [f"{oracle}: {words}" for oracle, words in oracles.ORACLES.items()]
    sentences += [
        f"{len(all_seen):,} mutants, {sum(one.programs for one in all_seen):,} programs,"
        f" {rows[0]['findings']:,} findings",
        "a mutant is lost without an oracle if no finding of it is another's, an upper bound",
        f"each mutant is a line of {shown(results.path)}"]
    return Measured(rows, sentences, rows[0])


def plot(measured: Measured, axes) -> None:
    """Two bars for each oracle."""
    rows = measured.rows[1:]
    names = [row["oracle"] for row in rows]
    axes.barh(names, [row["found"] for row in rows], label="found")
    axes.barh(names, [row["lost without it"] for row in rows], label="lost without it")
    axes.set_xlabel("mutants")
    axes.legend()
