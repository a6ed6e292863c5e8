"""Writes SARIF and JUnit files, which CI systems read, for a folder of findings and its hunts."""

import json
from pathlib import Path

from slotfuzz import report
from slotfuzz.finding import finding, places
from slotfuzz.report import junit, sarif


def write(
    found: report.Found, sarif_file: Path | None, junit_file: Path | None,
    more: tuple[places.Found, ...] = (),
) -> None:
    """Writes the requested files about the findings FOUND in a folder, and about MORE.

    `report.collect` fails for a folder without findings and hunts, because an empty file would
    claim a clean result although no hunt ran.
    """
    if not sarif_file and not junit_file:
        return
    entries = [*found.entries, *found.unreproduced]
    written = [places.read(entry.folder) for entry in entries] + [*more]
    if sarif_file:
        _write(sarif_file, json.dumps(sarif.document(written, found.hunts), indent=2) + "\n")
    if junit_file:
        _write(junit_file, junit.text(written, found.hunts))


def _write(path: Path, text: str) -> None:
    finding.check_writable(path.absolute().parent)
    finding.write_file(path, text)
