"""Hunts one mutant from an empty corpus and compares what is found with the patch's header."""

import tempfile
from pathlib import Path

from slotfuzz import hunt, mutant, subject


def hunt_one(name: str, seconds: float, seed: int) -> dict:
    """Hunts mutant NAME for up to SECONDS: what was found, by whom, and problems."""
    header = mutant.read_header(name)
    chosen = subject.resolve(f"mutant:{name}", header.sanitizer, [header.target])
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
        (Path(folder) / "corpus").mkdir()
        plan = hunt.Plan(
            subject=chosen, targets=[header.target], out=Path(folder) / "out", seconds=seconds,
            seed=seed, corpus=Path(folder) / "corpus", known_folders=(),
            stop_when=lambda record: verdict_of(record) == header.verdict)
        result = hunt.run(plan)
    records = sorted(result.new, key=lambda record: verdict_of(record) != header.verdict)
    record = records[0] if records else None
    row = {
        "mutant": name, "found": record is not None, "oracle": "", "programs": result.programs,
        "seconds": round(result.seconds, 2), "lines": 0, "verdict": "", "contract": "",
        "program": [], "seed": seed, "problems": problems(header, record, seconds),
    }
    if record:
        row.update(oracle=record["oracle"], programs=record["runs_to_find"],
                   seconds=record["seconds_to_find"], lines=record["lines"],
                   verdict=verdict_of(record), contract=record["contract"],
                   program=record["text"].splitlines(), one_minimal=record["one_minimal"],
                   rate=record["rate"], lines_before=record["lines_before"],
                   minimize_runs=record["minimize_runs"],
                   minimize_seconds=record["minimize_seconds"])
    return row


def verdict_of(record: dict) -> str:
    """The verdict in the words of a header: the signature without functions and detail."""
    return record["signature"].partition(" in ")[0].partition(" (")[0]


def problems(header: mutant.Header, record: dict | None, seconds: float) -> list[str]:
    """In what a finding is not as the header says; empty if it is."""
    if record is None:
        return [f"not found in {seconds:.0f} s"]
    found = []
    if verdict_of(record) != header.verdict:
        found.append(f"verdict is {verdict_of(record)!r}, not {header.verdict!r}")
    if header.contract and record["contract"] != header.contract:
        found.append(f"contract is {record['contract'] or 'none'}, not {header.contract}")
    if record["lines"] > len(header.program):
        found.append(f"{record['lines']} lines, the header has {len(header.program)}")
    if record["rate"] < 1:
        found.append(f"fails in {record['rate']:.0%} of fresh processes")
    if not record["one_minimal"]:
        found.append("not 1-minimal")
    return found
