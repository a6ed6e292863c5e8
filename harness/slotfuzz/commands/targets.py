"""Prints the targets: the libFuzzer binaries, one file each in targets/."""

from slotfuzz import subject
from slotfuzz.console import table
from slotfuzz.paths import ROOT

EXAMPLE = "./slotfuzz targets --json"


def add_arguments(parser) -> None:
    """targets has no options of its own."""


def packages(args) -> tuple[str, ...]:
    """None: it reads files."""
    return ()


def run(args, output) -> int:
    """Names each target with the first sentence of its file."""
    found = []
    for name in sorted(subject.target_names() + subject.protocol_names()):
        comment = (ROOT / "targets" / f"{name}.cc").read_text().splitlines()[0]
        found.append({"target": name, "must_fail": subject.must_fail(name),
                      "sentence": comment.lstrip("/ ")})
    rows = [[row["target"], "must fail" if row["must_fail"] else "", row["sentence"]]
            for row in found]
    output.text(table(rows, ["target", "", "what it is"]))
    output.document(found)
    return 0
