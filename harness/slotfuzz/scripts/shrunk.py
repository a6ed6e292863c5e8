"""Lets Hypothesis find the bug of a mutant and shrink the program: a peer of bench/minimizers.py.

    python3 -m slotfuzz.scripts.shrunk MUTANT SEED SECONDS

Prints a document of JSON: the lines of the first program that failed and of the shortest one with
its signature, and the runs and seconds between them. It stops after SECONDS without a failure, or
after SECONDS of shrinking.
"""

import json
import random
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import Phase

from slotfuzz import stateful
from slotfuzz.evidence import signature
from slotfuzz.subject import mutant, subject

EXAMPLES = 1_000_000


class Spent(BaseException):
    """The time is over. No Exception, which Hypothesis would take for a failure."""


class Shrinking:
    """The lengths of the programs that fail as the first one does, and the runs since then."""

    def __init__(self, server, seconds_max: float):
        self.begin, self.runs, self.lengths = time.monotonic(), 0, []
        self._server, self._seconds_max, self._wanted = server, seconds_max, None

    def run(self, lines) -> None:
        """Runs an example; raises Broken if it fails, and Spent when the time is over."""
        if time.monotonic() - self.begin > self._seconds_max:
            raise Spent
        self.runs += bool(self.lengths)
        reply = self._server.run(self._server.table.program_text(lines))
        if not reply.is_finding:
            return
        found = signature.of_reply(reply)
        if not self.lengths:
            self._wanted, self.begin = found, time.monotonic()
        if found == self._wanted:
            self.lengths.append(len(lines))
            raise stateful.Broken


def main(name: str, seed: int, seconds_max: float) -> None:
    """Runs the state machine with SEED until it has shrunk a failure or spent its time."""
    target = mutant.read_header(name).target
    chosen = subject.resolve(f"mutant:{name}", None, [target], with_python=False)
    with tempfile.TemporaryDirectory() as folder:
        made = stateful.machine(chosen, target, out=Path(folder))
        shrinking = Shrinking(made.judge.server, seconds_max)
        made.judge.run = shrinking.run
        case = made.TestCase
        case.settings = stateful.settings(case.settings, max_examples=EXAMPLES, database=None,
                                          phases=(Phase.generate, Phase.shrink))
        random.seed(seed)
        case("runTest").run()
        seconds = time.monotonic() - shrinking.begin
        made.judge.close()
    print(json.dumps({
        "lines_before": shrinking.lengths[0], "lines": min(shrinking.lengths),
        "runs": shrinking.runs, "seconds": round(seconds, 2)} if shrinking.lengths else None))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
