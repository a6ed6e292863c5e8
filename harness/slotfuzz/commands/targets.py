"""Prints the targets: the libFuzzer binaries, one file each in targets/."""

import itertools

from slotfuzz.console import table
from slotfuzz.subject import catalogue

EXAMPLE = "./slotfuzz targets --json"


def add_arguments(parser) -> None:
    """targets has no options of its own."""


def packages(args) -> tuple[str, ...]:
    """No packages: this command only reads files."""
    return ()


def run(args, output) -> int:
    """Names each target with the first sentence of its file."""
    found = []
    for name in sorted(catalogue.target_names() + catalogue.protocol_names()):
        found.append({"target": name, "must_fail": catalogue.must_fail(name),
                      "sentence": _first_sentence(catalogue.source_of(name).read_text())})
    rows = [[row["target"], "must fail" if row["must_fail"] else "", row["sentence"]]
            for row in found]
    output.text(table(rows, ["target", "", "description"]))
    output.document(found)
    return 0


def _first_sentence(source: str) -> str:
    """The first sentence of the comment that SOURCE begins with, on one line."""
    lines = itertools.takewhile(lambda line: line.startswith("//"), source.splitlines())
    comment = " ".join(line.removeprefix("//").strip() for line in lines)
    return comment.partition(". ")[0].rstrip(".") + "."
