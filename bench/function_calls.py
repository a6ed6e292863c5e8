"""A custom Function of the core beside PyTorch's: nanoseconds of a call and of its backward.

    ./slotfuzz bench function_calls --rootfs build/rootfs-bookworm

Writes a section of docs/throughput.md. Google Benchmark times the core without a sanitizer, and
Python itself times PyTorch, both as CPU time of the functions in bench/programs/function_calls.py.
They run in turn, and the best turn of each counts, so that a slow moment of the machine changes no
ratio.
"""

import ast
import json
import subprocess

from slotfuzz import options
from slotfuzz.errors import BrokenError
from slotfuzz.finding import finding
from slotfuzz.measure import benchmark
from slotfuzz.measure.benchmark import Measured, markdown_table
from slotfuzz.paths import ROOT
from slotfuzz.subject import build, interpreter, registry

# What the core is compared with.
SUBJECT = "torch"
TURNS = 5
SECONDS_EACH = 0.3
# What may cost at most this share of PyTorch's time.
MEANT, RATIO_MAX = "forward_and_backward", 0.5
PROGRAM = ROOT / "bench" / "programs" / "function_calls.py"
DOCUMENT = ROOT / "docs" / "throughput.md"
TITLE = "## A custom Function beside PyTorch's"
# Calls of one timing, so that the clock's own cost does not count.
CALLS = 1000
TIMING = '''
import json, time, torch as T
program = {program!r}
exec(compile(open(program).read(), program, "exec"))
def timed(function):
    best, end = float("inf"), time.process_time() + {seconds}
    while time.process_time() < end:
        start = time.process_time()
        for _ in range({calls}):
            function()
        best = min(best, time.process_time() - start)
    return best / {calls} * 1e9
print(json.dumps({{name: timed(globals()[name]) for name in {names!r}}}))
'''


def measure(args) -> Measured:
    """One row per function of the program."""
    python, tree = args.python or interpreter.SYSTEM_PYTHON, options.tree(args)
    torch = registry.find(SUBJECT).module
    about = interpreter.probe(python, torch, tree)
    names = names_of(PROGRAM.read_text())
    binary = build.build("plain", ["bench-function_calls"]) / "bench" / "function_calls"
    best: dict[tuple[str, str], float] = {}
    for _ in range(TURNS):
        turn = {"core": _core(binary, names), "torch": _torch(python, tree, names)}
        for subject, times in turn.items():
            for name, nanoseconds in times.items():
                best[subject, name] = min(nanoseconds, best.get((subject, name), nanoseconds))
    rows = [{"what": name, "core": round(best["core", name]), "torch": round(best["torch", name]),
             "ratio": round(best["core", name] / best["torch", name], 3)} for name in names]
    release = f"{torch} {about['module']}"
    finding.write_file(DOCUMENT, benchmark.with_section(DOCUMENT.read_text(), TITLE,
                                                        section(rows, release)))
    said = [f"{row['what']}: {row['ratio']} of the time of {release}" for row in rows]
    return Measured(rows, said, {row["what"]: row["ratio"] for row in rows},
                    failed=any(row["what"] == MEANT and row["ratio"] > RATIO_MAX for row in rows))


def plot(measured: Measured, axes) -> None:
    """Bars: the ratio of each function."""
    rows = measured.rows[::-1]
    axes.barh([row["what"] for row in rows], [row["ratio"] for row in rows])
    axes.axvline(RATIO_MAX, color="black", linewidth=0.8)
    axes.set_xlabel("time on slotcore / time on PyTorch")


def names_of(program: str) -> list[str]:
    """The functions of PROGRAM that are timed."""
    return [node.name for node in ast.parse(program).body if isinstance(node, ast.FunctionDef)]


def section(rows: list[dict], release: str) -> str:
    """The section of docs/throughput.md."""
    return "\n".join([
        "Made by `./slotfuzz bench function_calls --rootfs DIR`, with a tree of",
        "ci/torch_rootfs.sh. CPU time of `bench/programs/function_calls.py`, on the core without a",
        f"sanitizer by Google Benchmark and on {release} by its own Python. The",
        f"command fails if the ratio of `{MEANT}` is over {RATIO_MAX}.", "",
        *markdown_table(["what", "core, ns", f"{release}, ns", "ratio"],
                        [list(row.values()) for row in rows]), ""])


def _core(binary, names: list[str]) -> dict[str, float]:
    command = [binary, "--benchmark_format=json", f"--benchmark_min_time={SECONDS_EACH}", PROGRAM,
               *names]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        tail = (result.stderr.strip().splitlines() or ["no output"])[-1]
        raise BrokenError(f"{binary} ended with {result.returncode}: {tail}")
    return {row["name"]: row["cpu_time"] for row in json.loads(result.stdout)["benchmarks"]}


def _torch(python: str, tree, names: list[str]) -> dict[str, float]:
    script = TIMING.format(program=str(PROGRAM), seconds=SECONDS_EACH, calls=CALLS, names=names)
    return json.loads(interpreter.ask(python, tree, script, "cannot time the program"))
