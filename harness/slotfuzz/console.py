"""The driver's output: messages on stderr, results on stdout, a JSON document with --json."""

import json
import sys

from slotfuzz.paths import COMMAND


def say(text: str) -> None:
    """Prints a one-line message on stderr."""
    print(f"slotfuzz: {text}", file=sys.stderr, flush=True)


def as_called(text: str) -> str:
    """TEXT with `./slotfuzz` replaced by `slotfuzz` if the driver is installed."""
    return text.replace("./slotfuzz", COMMAND)


def table(rows: list[list], head: list[str]) -> str:
    """Rows as aligned columns under HEAD; numbers are right-aligned."""
    texts = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in texts) for i in range(len(head))]
    numeric = [all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(head))]
    lines = []
    for row in texts:
        cells = [cell.rjust(width) if right else cell.ljust(width)
                 for cell, width, right in zip(row, widths, numeric)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


class Output:
    """The result of a command: text, or exactly one JSON document."""

    def __init__(self, as_json: bool):
        self.as_json = as_json

    def text(self, text: str) -> None:
        """Prints text on stdout, but not with --json."""
        if not self.as_json:
            print(text, flush=True)

    def document(self, value) -> None:
        """Prints the result as JSON, but only with --json. Call it once."""
        if self.as_json:
            json.dump(value, sys.stdout, indent=2, default=str)
            print(flush=True)
