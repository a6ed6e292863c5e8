"""Shows the code of the core that the corpora reach, and the code that they never reach.

Builds all targets with llvm's coverage, runs their seeds and default corpora, and writes to OUT:
html/index.html, summary.txt, and unreached.txt with each function of core/ that was not called and
each line that was not reached.
"""

import sys
import tempfile
from pathlib import Path

from slotfuzz import cli
from slotfuzz.console import table
from slotfuzz.finding import finding
from slotfuzz.measure import coverage
from slotfuzz.paths import shown

NAME = "ci/coverage.sh"
EXAMPLE = "ci/coverage.sh --out coverage"


def add_arguments(parser) -> None:
    """The options of the coverage report."""
    parser.add_argument("--out", type=Path, metavar="DIR",
                        help="folder for the report; build/coverage/report by default")


def run(args, output) -> int:
    """Writes the report; 0."""
    out = finding.check_writable((args.out or coverage.folder()).resolve())
    binaries = coverage.build_all()
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as profiles:
        ran = coverage.run_corpora(binaries, Path(profiles))
        page = coverage.pages(binaries.values(), Path(profiles), out)
    exported = coverage.export(binaries.values(), out)
    files = coverage.files(exported, coverage.demangle(exported))
    rows = [one.row() for one in files]
    missing = coverage.unreached(files)
    summary = _summary(rows)
    finding.write_file(out / "summary.txt", summary + "\n")
    finding.write_file(out / "unreached.txt", "".join(f"{line}\n" for line in missing))
    output.text(summary)
    output.text(f"{len(missing)} functions and ranges of lines are never reached:"
                f" {shown(out / 'unreached.txt')}")
    output.text(f"pages: {shown(page)}")
    output.document({"ran": ran, "files": rows, "unreached": missing, "pages": str(page)})
    return 0


def _summary(rows: list[dict]) -> str:
    """One line for each file, and one for all files together."""
    whole = {key: sum(row[key] for row in rows) for key in rows[0] if key != "file"}
    head = [*rows[0], "lines reached"]
    cells = [[*row.values(), f"{row['reached'] / max(1, row['lines']):.0%}"]
             for row in [*rows, {"file": "all", **whole}]]
    return table(cells, head)


if __name__ == "__main__":
    sys.exit(cli.script(NAME, sys.modules[__name__], sys.argv[1:]))
