"""Programs until a seeded bug is found, from an empty corpus, without judging what was found.

    ./slotfuzz bench programs_to_find [--mutant ID] [--seeds 20] [--runs 20000]

Each run is one process of the mutant's target, which ends at its first finding or after --runs
programs. To compare two searches, run it in a checkout of each.
"""

import re
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from slotfuzz import console
from slotfuzz.engine.fuzzer import EXECUTED, FEATURES, INPUT_BYTES_MAX, STATUS
from slotfuzz.errors import BrokenError
from slotfuzz.measure.benchmark import Measured
from slotfuzz.subject import mutant, subject

MUTANTS = (
    "hermetic-del-storage", "weak-slot", "swap-keeps-slots", "tensor-lock-unchecked",
    "view-version-of-its-own", "overlap-of-nothing", "frombuffer-keeps-nothing",
    "creation-meta-lost",
)
SEEDS, RUNS = 20, 20_000


def measure(args) -> Measured:
    """One row per mutant; geometric means count a run that found nothing as --runs programs."""
    seeds, runs = args.seeds or SEEDS, args.runs or RUNS
    rows = []
    for name in args.mutants or MUTANTS:
        target = mutant.read_header(name).target
        chosen = subject.resolve(f"mutant:{name}", None, [target], with_python=False)
        found = [_run(chosen, target, seed, runs) for seed in range(1, seeds + 1)]
        programs = sorted(count for count, _, _ in found)
        rows.append({
            "mutant": name, "runs": seeds, "found": sum(is_found for _, is_found, _ in found),
            "programs_mean": round(statistics.geometric_mean(programs)),
            "programs_median": programs[seeds // 2],
            "cpu_seconds": round(sum(seconds for _, _, seconds in found) / seeds, 2)})
        console.say(f"{name}: {rows[-1]['programs_mean']} programs")
    mean = statistics.geometric_mean([row["programs_mean"] for row in rows])
    return Measured(rows, [f"geometric mean over the mutants: {mean:,.0f} programs"],
                    {"programs_mean": mean})


def plot(measured: Measured, axes) -> None:
    """A bar per mutant."""
    axes.barh([row["mutant"] for row in measured.rows],
              [row["programs_mean"] for row in measured.rows])
    axes.set_xscale("log")
    axes.set_xlabel("programs to find, geometric mean")


def _run(chosen, target: str, seed: int, runs: int) -> tuple[int, bool, float]:
    """Programs, whether one failed, and CPU seconds with the start of the process."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            chosen.command(target, f"--recorder={folder}/recorder", f"-seed={seed}",
                           f"-runs={runs}", f"-artifact_prefix={folder}/", FEATURES,
                           f"-max_len={INPUT_BYTES_MAX}", "-detect_leaks=0",
                           "-print_final_stats=1", corpus),
            env=chosen.environment(), capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = any(Path(folder).glob("crash-*"))
    counts = [int(match[1]) for pattern in (STATUS, EXECUTED)
              for match in re.finditer(pattern.pattern, ended.stderr, re.MULTILINE)]
    if not counts or (ended.returncode != 0) != found:
        raise BrokenError(f"{target} ended with {ended.returncode}, and "
                          f"{'a' if found else 'no'} crash: {ended.stderr[-300:]!r}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return max(counts), found, seconds
