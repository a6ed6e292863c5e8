"""Programs of 20 lines per second, and their ratio to the bare lines in the same run.

    ./slotfuzz bench throughput

The core under AddressSanitizer and UBSan, and torch without a sanitizer if it can be imported.
bench/throughput.cc says what the four benchmarks do. Their repetitions are interleaved at random,
and the median counts, so that a slow moment of the machine changes no ratio.
"""

import json
import subprocess

from slotfuzz import build, console, subject
from slotfuzz.benchmark import Measured
from slotfuzz.errors import BrokenError, UserError

BARE, FULL = "bare_lines", "with_reset_and_judge"
REPETITIONS = 5
SECONDS_EACH = 0.5
SUBJECTS = (("core", "address", "slotcore"), ("torch", "none", "torch"))


def measure(args) -> Measured:
    """One row per subject and benchmark."""
    rows, sentences, summary = [], [], {}
    for name, sanitizer, module in SUBJECTS:
        if name == "torch":
            try:
                subject.probe_python(subject.SYSTEM_PYTHON)
            except UserError as error:
                console.say(f"without torch: {error}")
                continue
        rates = _rates(subject.SANITIZER_PRESETS[sanitizer], module)
        for benchmark, rate in rates.items():
            rows.append({"subject": name, "sanitizer": sanitizer, "benchmark": benchmark,
                         "programs_per_second": round(rate),
                         "ratio_to_bare_lines": round(rate / rates[BARE], 3)})
        ratio = rates[FULL] / rates[BARE]
        summary[name] = {"programs_per_second": round(rates[FULL]), "ratio": round(ratio, 3)}
        sentences.append(f"{name}, {sanitizer}: {rates[FULL]:,.0f} programs/s with reset and judge,"
                         f" {ratio:.2f} of the bare lines")
    return Measured(rows, sentences, summary)


def plot(measured: Measured, axes) -> None:
    """Bars: programs per second of what runs programs."""
    rows = [row for row in measured.rows[::-1] if "parse" not in row["benchmark"]]
    axes.barh([f"{row['subject']} {row['benchmark']}" for row in rows],
              [row["programs_per_second"] for row in rows])
    axes.set_xlabel("programs of 20 lines per second, one core")


def _rates(preset: str, module: str) -> dict[str, float]:
    """Benchmark to programs per second, the median of the repetitions."""
    folder = build.build(preset, ["bench-throughput"])
    command = [
        folder / "bench" / "throughput", f"--module={module}", "--benchmark_format=json",
        f"--benchmark_repetitions={REPETITIONS}", f"--benchmark_min_time={SECONDS_EACH}",
        "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(result.stdout)["benchmarks"]
    except ValueError as error:
        tail = (result.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BrokenError(f"bench/throughput ended with {result.returncode}: {tail}") from error
    rates = {row["run_name"]: row["items_per_second"] for row in found
             if row.get("aggregate_name") == "median"}
    return dict(sorted(rates.items(), key=lambda row: (row[0] != BARE, -row[1])))
