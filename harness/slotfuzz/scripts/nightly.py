"""The nightly run: hunts all targets under all sanitizers on both builds of the core.

Then it distils the corpora, measures the code that they reach, explores every interleaving of 4
threads with 2 operations each, looks for mutants, and writes a report. Exit codes: 0 clean and
complete, 1 a finding, 2 a part did not finish, 3 the harness is broken or missed a mutant.
"""

import datetime
import sys
from pathlib import Path

from slotfuzz import cli
from slotfuzz.ci import nightly
from slotfuzz.ci.checkout import Checkout
from slotfuzz.errors import UserError
from slotfuzz.finding import finding, places
from slotfuzz.paths import ROOT, build_root, shown
from slotfuzz.report import annotate

NAME = "ci/nightly.sh"
EXAMPLE = "ci/nightly.sh 14400"
BUDGET_SECONDS = 4 * 3600.0


def add_arguments(parser) -> None:
    """The options of the night."""
    parser.add_argument("budget", nargs="?", type=float, metavar="BUDGET_SECONDS",
                        default=BUDGET_SECONDS, help="4 hours by default, including builds")
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="folder for findings and the report; build/nightly by default")


def run(args, output) -> int:
    """Runs the night; the exit code is as above."""
    if args.budget <= 0:
        raise UserError("BUDGET_SECONDS must be more than 0")
    out = finding.check_writable((args.out or build_root() / "nightly").resolve())
    night = nightly.Night(Checkout(ROOT), out, args.budget, datetime.date.today())
    night.run()
    annotate.say([places.read(path.parent) for path in sorted(out.glob("*/finding.json"))])
    output.text(summary(night))
    output.document({"out": shown(out), "budget_seconds": args.budget,
                     "parts": [vars(part) for part in night.parts],
                     "interrupted": night.interrupted, "exit_code": night.exit_code})
    # After an interrupt the exit code is the signal's, not that of work that did not run.
    return night.exit_code if not night.interrupted or night.exit_code == 1 else 0


def summary(night: nightly.Night) -> str:
    """Each part with its messages, then the work that did not run."""
    lines = []
    for part in night.parts:
        lines.append(f"{part.name}: {part.seconds:.0f} s")
        lines += [f"  {words}" for words in part.said]
    lines += [f"NOT RUN: {part.name}: {', '.join(part.not_run)}" for part in night.parts
              if part.not_run]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cli.script(NAME, sys.modules[__name__], sys.argv[1:]))
