"""Equal programs have equal texts: describes the tensors of random programs in two processes (M12).

    ./slotfuzz bench two_processes --runs 100000

Each program runs in two plain processes with other hash seeds and addresses. The second one runs
the programs in reverse order, after other objects were made and described there. The text of all
tensors of a program, and of its shape environments, must be equal byte for byte. Exit code 1 if one
is not, or if a program crashes.
"""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from slotfuzz.engine.server import Server
from slotfuzz.errors import BrokenError
from slotfuzz.language import prelude
from slotfuzz.measure import texts_of_programs
from slotfuzz.measure.benchmark import Measured
from slotfuzz.progress import ProgressLine
from slotfuzz.subject import registry, subject

RUNS, SEED = 100_000, 1
TARGET = "meta"
# Programs per pair of processes.
BATCH = 1000
OTHERS_BEFORE = 333


def measure(args) -> Measured:
    """One row: programs, how many have tensors or environments, crash, and have two texts."""
    core = subject.resolve(registry.DEFAULT, "none", [TARGET], args.python, tree=None)
    runs, seed = args.runs or RUNS, args.seed or SEED
    counted = {"programs": 0, "with_text": 0, "distinct_texts": 0, "crashed": 0, "differ": 0}
    distinct: set[int] = set()
    unlike: list[str] = []
    line = ProgressLine()
    with Server(core, TARGET) as server, ThreadPoolExecutor(2) as threads:
        ops = [name for name, op in server.table.ops.items() if not op["masked"]]
        snippets = prelude.snippets_of(server.table.description)
        modules = ("", core.capabilities.module)
        source = "\n".join(one.text for one in snippets if one.module in modules)
        try:
            for batch in _batches(runs):
                texts = server.generate(batch, seed * 1_000_003 + counted["programs"], ops)
                one, other = threads.map(lambda side: texts_of(core, source, texts, side), (1, 2))
                counted["programs"] += len(texts)
                counted["with_text"] += sum(bool(text and text.strip()) for text in one)
                counted["crashed"] += sum(None in ends for ends in zip(one, other, strict=True))
                distinct.update(map(hash, one))
                unlike += [text for text, *two in zip(texts, one, other, strict=True)
                           if two[0] != two[1]]
                line.show(f"{counted['programs']:,} of {runs:,} programs, {len(unlike)} differ")
        finally:
            line.close()
    counted |= {"distinct_texts": len(distinct), "differ": len(unlike)}
    said = [f"{counted['programs']:,} random programs (seed {seed}) in two processes:"
            f" {counted['with_text']:,} have tensors or shape environments at their end, with"
            f" {counted['distinct_texts']:,} distinct texts; {counted['crashed']:,} programs crash;"
            f" {counted['differ']:,} texts differ"]
    failed = counted["differ"] + counted["crashed"] > 0
    return Measured([counted], said + unlike[:3], counted, failed)


def plot(measured: Measured, axes) -> None:
    """Bars: the counts."""
    (row,) = measured.rows
    axes.bar([*row], [*row.values()])
    axes.set_ylabel("programs")


def _batches(runs: int) -> Iterator[int]:
    for done in range(0, runs, BATCH):
        yield min(BATCH, runs - done)


def texts_of(
    core: subject.Subject, source: str, programs: list[str], side: int,
) -> list[str | None]:
    """The texts of PROGRAMS, in their order, by process SIDE: 1 or 2."""
    in_order = list(programs) if side == 1 else list(programs)[::-1]
    request = {"module": core.capabilities.module, "prelude": source, "programs": in_order,
               "before": OTHERS_BEFORE * (side - 1)}
    environment = {**core.script_environment(), "PYTHONHASHSEED": str(side)}
    done = subprocess.run(core.script_command(str(Path(texts_of_programs.__file__))),
                          input=json.dumps(request), capture_output=True, text=True, check=False,
                          env=environment)
    if done.returncode != 0:
        raise BrokenError(f"a process of programs ended with {done.returncode}:"
                          f" {done.stderr[-500:]}")
    texts = json.loads(done.stdout)
    return texts if side == 1 else texts[::-1]
