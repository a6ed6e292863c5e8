"""The files that CI systems read, SARIF and JUnit, from a folder of findings and its hunts."""

import json
from pathlib import Path

from slotfuzz import report
from slotfuzz.finding import finding, places
from slotfuzz.report import junit, sarif


def write(
    found: report.Found, sarif_file: Path | None, junit_file: Path | None,
    more: tuple[places.Found, ...] = (),
) -> None:
    """Writes what is asked for about what is FOUND in a folder, and about MORE.

    `report.collect` fails where neither a finding nor a hunt is: an empty file would say that all
    is well, though nobody has looked.
    """
    if not sarif_file and not junit_file:
        return
    told = [places.read(entry.folder) for entry in [*found.entries, *found.unreproduced]] + [*more]
    if sarif_file:
        _write(sarif_file, json.dumps(sarif.document(told, found.hunts), indent=2) + "\n")
    if junit_file:
        _write(junit_file, junit.text(told, found.hunts))


def _write(path: Path, text: str) -> None:
    finding.check_writable(path.absolute().parent)
    finding.write_file(path, text)
