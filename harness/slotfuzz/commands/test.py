"""Runs all tests: unit tests under each sanitizer, oracles, replays, a short hunt, mutants.

One line per step with its time. The last line is pytest's own.
"""

import os
import subprocess

from slotfuzz.errors import UserError
from slotfuzz.paths import INSTALLED, ROOT
from slotfuzz.subject import build
from slotfuzz.subject.packages import TEST_LISTS
from slotfuzz.subject.interpreter import SYSTEM_PYTHON

EXAMPLE = "./slotfuzz test --only style"
# Many steps wait for one process, so that two files of tests at once use the machine better.
# A file's tests run in their order, in one process.
AT_ONCE = ("-n", "2", "--dist", "loadfile")


def add_arguments(parser) -> None:
    """The options of test."""
    parser.add_argument("--only", metavar="WORDS", help="run matching tests, as pytest -k")


def packages(args) -> tuple[str, ...]:
    """The packages that tests need."""
    return () if INSTALLED else TEST_LISTS


def run(args, output) -> int:
    """Runs pytest, where each step is a test; 1 if one fails."""
    if INSTALLED:
        raise UserError("the tests are in a checkout; an installed slotfuzz has none")
    # pytest imports this module when it collects tests/core, before any step runs.
    folder = build.build("plain", ["slotcore_module"])
    command = [SYSTEM_PYTHON, "-m", "pytest", "-q", "--no-header", "--tb=short", "-rs",
               "-p", "no:cacheprovider", *AT_ONCE, "tests/steps", "tests"]
    if args.only:
        command += ["-k", args.only]
    environment = {**os.environ, "SLOTFUZZ_STEPS": "1",
                   "PYTHONPATH": f"{folder / 'python'}:{ROOT / 'harness'}"}
    result = subprocess.run(command, cwd=ROOT, env=environment, check=False,
                            stdout=subprocess.PIPE if args.json else None, text=True)
    if args.json:
        lines = result.stdout.strip().splitlines()
        output.document({"exit": result.returncode, "closing_line": (lines or [""])[-1]})
    return {0: 0, 1: 1}.get(result.returncode, 3)
