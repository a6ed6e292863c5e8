"""CPU seconds until a seeded bug is found, by ours and by other searches, from an empty corpus.

    ./slotfuzz bench peers [--mutant ID] [--seeds 20]

Each search is one process with its children, which ends when it has found the bug or used 10 s of
CPU time, its start included. The searches take turns, seed by seed. It needs Debian's afl++ and
python3-psutil, which the set-up does not install.
"""

import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from slotfuzz.ci import peers
from slotfuzz.measure.benchmark import Measured
from slotfuzz.progress import ProgressLine

MUTANTS = ("hermetic-del-storage", "weak-slot", "tensor-lock-unchecked", "frombuffer-keeps-nothing")
SEEDS, LIMIT_SECONDS, JOBS = 20, 10.0, 2


def measure(args) -> Measured:
    """One row for each mutant and search."""
    seeds = args.seeds or SEEDS
    rows, times, ratios = [], {}, []
    for bug in map(peers.bug_of, args.mutants or MUTANTS):
        mine = times[bug.name] = _times(bug, seeds)
        rows += [_row(bug.name, name, one, mine[peers.OURS.name]) for name, one in mine.items()]
        best = min(one.mean for name, one in mine.items()
                   if not name.startswith(peers.OURS.name))
        ratios.append(best / mine[peers.OURS.name].mean)
    said = [f"{seeds} searches each, {LIMIT_SECONDS:g} CPU seconds at most; the best peer of each"
            f" mutant needs {statistics.geometric_mean(ratios):.1f} times as long (restricted"
            " means, geometric mean over the mutants)"]
    return Measured(rows, said, {
        "ratios": ratios,
        "times": {bug: {name: one.all for name, one in mine.items()}
                  for bug, mine in times.items()}})


def plot(measured: Measured, axes) -> None:
    """Survival curves: the share of the searches of all mutants that have not found the bug yet."""
    times = measured.summary["times"].values()
    for name in next(iter(times)):
        mine = sorted(one for searches in times for one in searches[name])
        left = [1 - number / len(mine) for number in range(len(mine) + 1)]
        axes.step([0, *mine], left, where="post", label=name)
    axes.set_xlim(0, LIMIT_SECONDS)
    axes.set_xlabel("CPU seconds")
    axes.set_ylabel("searches that have not found it")
    axes.legend(fontsize=7)


def _times(bug: peers.Bug, seeds: int) -> dict[str, peers.Times]:
    """The times of each search, by its name."""
    searches = (peers.OURS, *peers.PEERS)
    turns = [(search, seed) for seed in range(1, seeds + 1) for search in searches]
    line, done = ProgressLine(), []

    def one(turn):
        with tempfile.TemporaryDirectory() as folder:
            seconds = peers.run(turn[0], bug, Path(folder), turn[1], LIMIT_SECONDS)
        done.append(turn)
        line.show(f"{bug.name}: {len(done)} of {len(turns)} searches")
        return seconds

    try:
        with ThreadPoolExecutor(JOBS) as pool:
            seconds = list(pool.map(one, turns))
    finally:
        line.close()
    return {search.name: peers.Times(
        tuple(took for (by, _), took in zip(turns, seconds) if by is search and took is not None),
        sum(took is None for (by, _), took in zip(turns, seconds) if by is search),
        LIMIT_SECONDS)
        for search in searches}


def _row(bug: str, name: str, times: peers.Times, ours: peers.Times) -> dict:
    low, high = times.interval()
    return {"mutant": bug, "search": name, "found": f"{len(times.found)} of {len(times.all)}",
            "mean_seconds": round(times.mean, 2), "from": round(low, 2), "to": round(high, 2),
            "a12": round(peers.a12(ours, times), 2)}
