"""Looks for the bug of one mutant and compares the finding with the patch's header.

If programs reveal the mutant, a hunt from an empty corpus looks for it. A mutant of a protocol is
explored by the engines that its header names.
"""

import tempfile
from pathlib import Path

from slotfuzz import console
from slotfuzz.errors import Interrupted, MachineError
from slotfuzz.hunt import hunt
from slotfuzz.hunt.plan import Plan
from slotfuzz.interleave import binaries
from slotfuzz.measure import reach
from slotfuzz.schema import schedules
from slotfuzz.schema.record import Finding
from slotfuzz.subject import catalogue, mutant, subject

# The model finds a shortest schedule, and no mutant needs a longer one.
SCHEDULE_BYTES_MAX = 6


def row_of(name: str, seconds: float, seed: int) -> dict:
    """The row of look_for(); of a mutant that does not build, a row that says so."""
    try:
        row = look_for(name, seconds, seed)
    except MachineError as error:
        row = {"mutant": name, "found": False, "oracle": "", "programs": 0, "seconds": 0.0,
               "lines": None, "verdict": "", "contract": "", "program": [], "seed": seed,
               "problems": [_in_a_line(str(error))]}
    console.say(f"{name}: " + ("; ".join(row["problems"]) or "as expected"))
    return row


def _in_a_line(message: str) -> str:
    """The first error of a compiler in MESSAGE, or its first line."""
    lines = message.splitlines()
    return next((line for line in lines if " error: " in line), lines[0])


def look_for(name: str, seconds: float, seed: int) -> dict:
    """Looks for mutant NAME for up to SECONDS: the finding, its oracle, and problems."""
    if name in catalogue.protocol_mutant_names():
        return explore_one(name, seconds, seed)
    return hunt_one(name, seconds, seed)


def explore_one(name: str, seconds: float, seed: int) -> dict:
    """Explores the thread programs of a protocol's mutant with each engine of its header."""
    header = mutant.read_header(name)
    scenario = binaries.mutant_scenario(name)
    row = {"mutant": name, "found": False, "oracle": "", "programs": 0, "seconds": 0.0,
           "lines": None, "verdict": "", "contract": "",
           "program": list(header.program), "seed": seed, "problems": []}
    for engine in binaries.mutant_engines(name):
        binary = binaries.binary(header.target, f"mutant:{name}", engine)
        flags = [f"--engine={engine}", f"--seconds={seconds}", f"--seed={seed}"]
        found = binaries.ask(binary, flags + scenario.flags(), seconds)
        failure = found.get("failure")
        row["programs"] += found["executions"]
        row["seconds"] = round(row["seconds"] + found["seconds"], 3)
        if not failure:
            row["problems"].append(f"not found by {engine}")
            continue
        row["found"] = True
        row["oracle"] = f"{row['oracle']} {engine}".strip()
        if engine == "model":
            row.update(verdict=schedules.words_of(failure), contract=failure["contract"],
                       schedule_bytes=failure["bytes"])
        row["problems"] += _schedule_problems(header, engine, failure, binary)
    return row


def _schedule_problems(header: mutant.Header, engine: str, failure: dict, binary) -> list[str]:
    words = schedules.words_of(failure)
    found = []
    if engine == "model" and words != header.verdict:
        found.append(f"verdict is {words!r}, not {header.verdict!r}")
    if engine == "model" and failure["bytes"] > SCHEDULE_BYTES_MAX:
        found.append(f"{failure['bytes']} bytes of schedule")
    if engine in binaries.REPLAYABLE:
        again = binaries.replay_rate(binary, failure["schedule"], binaries.REPLAYS)
        if again.get("failures") != binaries.REPLAYS:
            found.append(f"{engine}: fails {again.get('failures')} of {binaries.REPLAYS} times")
    return found


def hunt_one(name: str, seconds: float, seed: int) -> dict:
    """Hunts mutant NAME for up to SECONDS: the finding, its oracle, and problems.

    The hunt goes on until a finding matches the header, since a bug may have several symptoms.
    Without a finding, the row says how often the patched lines ran, and for which ops.
    """
    header = mutant.read_header(name)
    chosen = subject.resolve(f"mutant:{name}", header.sanitizer, [header.target])
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as folder:
        (Path(folder) / "corpus").mkdir()
        plan = Plan(
            subject=chosen, targets=[header.target], out=Path(folder) / "out", seconds=seconds,
            seed=seed, corpus=Path(folder) / "corpus", suppressions=(),
            stop_when=lambda judged: not problems(header, judged.finding, seconds))
        result = hunt.run(plan)
        kept = [path.read_text(errors="replace") for path in sorted(plan.corpus.iterdir())]
    if result.interrupted:
        raise Interrupted(result.interrupted)
    if result.trouble:
        raise MachineError(f"the hunt for {name} was incomplete: {result.trouble}")
    found = sorted(result.new, key=lambda one: len(problems(header, one.finding, seconds)))
    record = found[0].finding if found else None
    row = {
        "mutant": name, "found": record is not None, "oracle": "", "programs": result.programs,
        "seconds": round(result.seconds, 2), "lines": 0, "verdict": "", "contract": "",
        "program": [], "seed": seed, "problems": problems(header, record, seconds),
    }
    if not record:
        reached = reach.of_mutant(name, header.target, kept)
        row["reach"] = reached.counts
        row["problems"].append(reached.words())
    else:
        row.update(oracle=record.oracle, programs=record.runs_to_find,
                   seconds=record.seconds_to_find, lines=record.lines,
                   verdict=record.verdict, contract=record.contract,
                   program=found[0].text.splitlines(), one_minimal=record.one_minimal,
                   rate=record.rate, lines_before=record.lines_before,
                   minimize_runs=record.minimize_runs,
                   minimize_programs=record.minimize_programs,
                   minimize_seconds=record.minimize_seconds)
    return row


def is_expected(header: mutant.Header, record: Finding) -> bool:
    """Whether the verdict is the header's, or begins with it if the header omits the check."""
    expected = header.verdict.split()
    return record.verdict.split()[:len(expected)] == expected


def problems(header: mutant.Header, record: Finding | None, seconds: float) -> list[str]:
    """The differences between a finding and the header; empty if they match.

    The contract number is compared only if the finding has one, which not every crash has.
    """
    if record is None:
        return [f"not found in {seconds:.0f} s"]
    found = []
    if not is_expected(header, record):
        found.append(f"verdict is {record.verdict!r}, not {header.verdict!r}")
    if header.contract and record.contract not in ("", header.contract):
        found.append(f"contract is {record.contract}, not {header.contract}")
    if record.lines > len(header.program):
        found.append(f"{record.lines} lines, the header has {len(header.program)}")
    if record.rate < 1:
        found.append(f"fails in {record.rate:.0%} of fresh processes")
    if not record.one_minimal:
        found.append("not 1-minimal")
    return found
