"""Draws programs without feedback until one fails, and prints `found`: two peers of bench/peers.py.

    python3 -m slotfuzz.scripts.drawn lines|hypothesis MUTANT SEED

`lines` draws whole programs as the fuzzer draws fresh ones; `hypothesis` is the state machine of
slotfuzz.stateful, with 50 steps. Both run programs in the fork server, under the sanitizer.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

from slotfuzz import stateful
from slotfuzz.engine.server import Server
from slotfuzz.subject import mutant, subject

# Programs that one child runs.
AT_ONCE = 200
EXAMPLES = 1_000_000


def lines(name: str, seed: int) -> None:
    """Runs programs of the ops that the mutant NAME has until one fails."""
    target = mutant.read_header(name).target
    chosen = subject.resolve(f"mutant:{name}", None, [target], with_python=False)
    with Server(chosen, target, symbols=False) as server:
        ops = [op for op, row in server.table.ops.items() if not row["masked"]]
        draw = random.Random(seed)
        while not server.states(list(server.generate(
                AT_ONCE, draw.randrange(1 << 31), ops)))[-1].is_finding:
            pass


def hypothesis(name: str, seed: int) -> None:
    """Runs examples of the state machine until one fails, and ends the process."""
    target = mutant.read_header(name).target
    chosen = subject.resolve(f"mutant:{name}", None, [target], with_python=False)
    with tempfile.TemporaryDirectory() as folder:
        made = stateful.machine(chosen, target, out=Path(folder))
        server = made.judge.server

        def run(program):
            if server.run(server.table.program_text(program)).is_finding:
                found()

        made.judge.run = run
        case = made.TestCase
        case.settings = stateful.settings(case.settings, max_examples=EXAMPLES, database=None)
        random.seed(seed)
        case("runTest").debug()


def found() -> None:
    """Says so and ends the process, with its servers."""
    print("found", flush=True)
    os._exit(0)


if __name__ == "__main__":
    {"lines": lines, "hypothesis": hypothesis}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
    found()
