"""Interleavings: golden counts, executions/s of the engines, and which engine finds which mutant.

    ./slotfuzz bench interleavings [--mutant ID] [--seeds 20]

Writes docs/interleavings.md when it has measured all mutants. The model searches the same way with
each seed, so one run counts for all seeds. A run of another engine ends after a few seconds.
"""

from slotfuzz import console
from slotfuzz.finding import finding
from slotfuzz.interleave import binaries
from slotfuzz.measure.benchmark import Measured, markdown_table
from slotfuzz.paths import ROOT
from slotfuzz.subject import catalogue

GOLDEN = (
    ("claim", 2, 4), ("claim", 3, 12), ("claim", 4, 32), ("claim", 5, 80), ("claim", 6, 192),
    ("claim", 7, 448), ("disarm", 2, 3), ("disarm", 3, 11), ("disarm", 4, 49),
    ("disarm", 5, 261), ("counts", 2, 8), ("counts", 3, 1386), ("counts", 4, 5853918),
    ("ending", 2, 6), ("ending", 3, 150), ("ending", 4, 8790), ("accumulator", 2, 44),
    ("accumulator", 3, 25790), ("gradient", 2, 52), ("gradient", 3, 85968), ("saved", 2, 3),
    ("saved", 3, 10), ("saved", 4, 42), ("saved", 5, 216), ("ready_queue", 3, 24),
    ("ready_queue", 4, 224), ("ready_queue", 5, 2904), ("completion", 3, 39),
    ("completion", 4, 228), ("completion", 5, 1560), ("context", 2, 8), ("context", 3, 136),
    ("context", 4, 5010),
)
SEEDS = 20
MUTANT_SECONDS = 2.0
RATE_SECONDS = 5.0
MODEL_REPEATS = 500_000
DOCUMENT = ROOT / "docs" / "interleavings.md"
ENGINE_TITLES = {"model": "E1 model", "fibres": "E2 fibres", "threads": "E3 threads",
                 "yields": "E3 with yields"}


def measure(args) -> Measured:
    """Rows of three tables: golden, rate, mutant."""
    rows = [_golden(*golden) for golden in GOLDEN]
    rates = [_rate(engine) for engine in binaries.ENGINES]
    names = args.mutants or catalogue.protocol_mutant_names()
    seeds = args.seeds or SEEDS
    found = [_mutant(name, engine, seeds, min(args.seconds, MUTANT_SECONDS))
             for name in names for engine in binaries.ENGINES]
    measured = Measured(rows + rates + found, _sentences(rates, found), {
        "golden_right": all(row["expected"] == row["graphs"] for row in rows),
        "rates": {row["engine"]: row["per_second"] for row in rates},
        "caught_as_said": [row["name"] for row in found if row["named"] and not row["found"]]})
    if not args.mutants:
        finding.write_file(DOCUMENT, document(rows, rates, found, seeds))
    return measured


def plot(measured: Measured, axes) -> None:
    """Bars: executions per second of each engine, on a logarithmic scale."""
    rates = [row for row in measured.rows if row["table"] == "rate"]
    axes.bar([ENGINE_TITLES[row["engine"]] for row in rates],
             [row["per_second"] for row in rates])
    axes.set_yscale("log")
    axes.set_ylabel("executions/s of two claimers")


def _row(table: str, name: str, engine: str, **cells) -> dict:
    row = {"table": table, "name": name, "engine": engine, "threads": "", "graphs": "",
           "expected": "", "executions": "", "seconds": "", "per_second": "", "named": "",
           "found": "", "seeds": "", "bytes": ""}
    return {**row, **cells}


def _golden(protocol: str, threads: int, expected: int) -> dict:
    program = binaries.binary(protocol, "core", "model")
    result = binaries.ask(program, ["--engine=model", f"--threads={threads}"])
    console.say(f"{protocol} with {threads} threads: {result['graphs']} graphs,"
                f" {result['seconds']:.3f} s")
    return _row("golden", protocol, "model", threads=threads, graphs=result["graphs"],
                expected=expected, executions=result["executions"],
                seconds=round(result["seconds"], 5))


def _rate(engine: str) -> dict:
    """Executions per second of two claimers, the same program for all engines."""
    program = binaries.binary("claim", "core", engine)
    budget = (f"--times={MODEL_REPEATS}" if engine == "model" else f"--seconds={RATE_SECONDS}")
    result = binaries.ask(program, [f"--engine={engine}", "--threads=2", budget])
    return _row("rate", "claim", engine, threads=2, executions=result["executions"],
                seconds=round(result["seconds"], 3),
                per_second=round(result["executions"] / result["seconds"]))


def _mutant(name: str, engine: str, seeds: int, seconds: float) -> dict:
    """The number of seeds with which ENGINE finds mutant NAME."""
    scenario = binaries.mutant_scenario(name)
    program = binaries.binary(scenario.protocol, f"mutant:{name}", engine)
    tried = 1 if engine == "model" else seeds
    failed, size, executions = 0, "", []
    for seed in range(1, tried + 1):
        result = binaries.ask(program, [*scenario.flags(), f"--engine={engine}",
                                          f"--seconds={seconds}", f"--seed={seed}"], seconds)
        if result["verdict"] != "failed":
            continue
        failed += 1
        executions.append(result["executions"])
        if "bytes" in result["failure"]:
            size = min(result["failure"]["bytes"], size) if size != "" else (
                result["failure"]["bytes"])
    console.say(f"{name}, {engine}: {failed} of {tried}")
    return _row("mutant", name, engine, named=engine in binaries.mutant_engines(name),
                found=failed * seeds // tried, seeds=seeds, bytes=size,
                executions=sorted(executions)[len(executions) // 2] if executions else "")


def _sentences(rates: list[dict], found: list[dict]) -> list[str]:
    per_second = {row["engine"]: row["per_second"] for row in rates}
    missed = [f"{row['name']} by {row['engine']}" for row in found
              if row["named"] and row["found"] < row["seeds"]]
    return [
        f"two claimers: E1 {per_second['model']:,}/s, E2 {per_second['fibres']:,}/s,"
        f" E3 {per_second['threads']:,}/s; E2 is {_ratio(per_second):.1f} times E3",
        "each mutant is caught by the engines that its header names, with every seed"
        if not missed else f"not caught with every seed: {', '.join(missed)}",
    ]


def _ratio(per_second: dict) -> float:
    return per_second["fibres"] / per_second["threads"]


def document(golden: list[dict], rates: list[dict], found: list[dict], seeds: int) -> str:
    """The text of docs/interleavings.md."""
    lines = [
        "# Interleavings: what is covered, how fast, and which engine finds what", "",
        "Made by `./slotfuzz bench interleavings`. Counts are exact; seconds and rates are of one",
        "machine in one run, so only their ratios are comparable.", "",
        "## Every execution of the correct protocols", "",
        "A graph is one distinct reads-from and modification order; none has a failure.", "",
        *markdown_table(["protocol", "threads", "graphs", "known", "executions", "seconds"],
                   [[row["name"], row["threads"], row["graphs"], row["expected"],
                     row["executions"], row["seconds"]] for row in golden]), "",
        "## Executions per second, two claimers", "",
        *markdown_table(["engine", "build", "executions/s"],
                   [[ENGINE_TITLES[row["engine"]], binaries.preset_of(row["engine"]),
                     f"{row['per_second']:,}"] for row in rates]), "",
        f"## Mutants: found with how many of {seeds} seeds", "",
        "Bold: the mutant's header says that this engine must find it. The last column is the",
        "smallest schedule that fails, in bytes.", "",
        *markdown_table(["mutant", *ENGINE_TITLES.values(), "bytes"], _by_mutant(found)), ""]
    return "\n".join(lines)


def _by_mutant(found: list[dict]) -> list[list]:
    table = {}
    for row in found:
        mark = "**" if row["named"] else ""
        cells = table.setdefault(row["name"], {"bytes": []})
        cells[row["engine"]] = f"{mark}{row['found']}{mark}"
        if row["bytes"] != "":
            cells["bytes"].append(row["bytes"])
    return [[name, *(cells[engine] for engine in ENGINE_TITLES), min(cells["bytes"], default="")]
            for name, cells in table.items()]
