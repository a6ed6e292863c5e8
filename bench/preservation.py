"""Nanoseconds of a wrapper's steps under the two preservation protocols, and their ratio.

    ./slotfuzz bench preservation

bench/preservation.cc says what each step is. The two binaries run in turns and the best of a step's
runs counts, so that a slow moment of the machine changes no ratio.
"""

import json
import subprocess

from slotfuzz import build
from slotfuzz.benchmark import Measured
from slotfuzz.errors import BrokenError

TURNS = 5
SECONDS_EACH = 0.2
BINARIES = {"refcount_bit": "bench/preservation", "resurrection": "resurrect/bench/preservation"}


def measure(args) -> Measured:
    """One row per step."""
    folder = build.build("plain", ["bench-preservation", "bench-preservation-resurrect"])
    best = {}
    for _ in range(TURNS):
        for protocol, binary in BINARIES.items():
            for step, nanoseconds in _run(folder / binary):
                key = step, protocol
                best[key] = min(nanoseconds, best.get(key, nanoseconds))
    rows = []
    for step in dict.fromkeys(step for step, _ in best):
        ours, theirs = best[step, "refcount_bit"], best[step, "resurrection"]
        rows.append({"step": step, "refcount_bit_ns": round(ours, 1),
                     "resurrection_ns": round(theirs, 1), "ratio": round(ours / theirs, 2)})
    sentences = [f"{row['step']}: refcount-bit takes {row['ratio']:.2f} of resurrection's time"
                 for row in rows]
    return Measured(rows, sentences, {row["step"]: row["ratio"] for row in rows})


def plot(measured: Measured, axes) -> None:
    """Bars: the ratio of each step."""
    rows = measured.rows[::-1]
    axes.barh([row["step"] for row in rows], [row["ratio"] for row in rows])
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xlabel("time under refcount-bit / time under resurrection")


def _run(binary) -> list[tuple[str, float]]:
    command = [binary, "--benchmark_format=json", f"--benchmark_min_time={SECONDS_EACH}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        tail = (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BrokenError(f"{binary} ended with {result.returncode}: {tail}")
    return [(row["name"], row["cpu_time"]) for row in json.loads(result.stdout)["benchmarks"]]
