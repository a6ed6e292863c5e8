"""Distils each default corpus in build/corpus/ to the fewest files with all features."""

import sys

from slotfuzz import cli
from slotfuzz.ci import nightly
from slotfuzz.ci.checkout import Checkout
from slotfuzz.console import table
from slotfuzz.paths import ROOT, build_root, shown

NAME = "ci/prune.sh"
EXAMPLE = "ci/prune.sh"


def add_arguments(parser) -> None:
    """prune has no options of its own."""


def run(args, output) -> int:
    """Prunes; 0."""
    rows = nightly.prune(Checkout(ROOT))
    if rows:
        output.text(table([list(row.values()) for row in rows], list(rows[0])))
    else:
        output.text(f"no hunt has kept a corpus in {shown(build_root() / 'corpus')}")
    output.document(rows)
    return 0


if __name__ == "__main__":
    sys.exit(cli.script(NAME, sys.modules[__name__], sys.argv[1:]))
