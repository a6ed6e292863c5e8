"""The files that CI systems read, SARIF and JUnit, from a folder of findings and its hunts."""

import json
from pathlib import Path

from slotfuzz import finding, junit, places, sarif, series
from slotfuzz.errors import UserError


def write(
    root: Path, sarif_file: Path | None, junit_file: Path | None,
    more: tuple[places.Found, ...] = (),
) -> None:
    """Writes what is asked for about what is in ROOT, at any depth, and about MORE.

    UserError where neither a finding nor a hunt is in ROOT: an empty file would say that all is
    well, though nobody has looked.
    """
    if not sarif_file and not junit_file:
        return
    found = [places.read(path.parent) for path in _below(root, "finding.json")]
    found += more
    hunts = [hunt for path in _below(root, series.NAME) for hunt in series.read(path.parent)[0]]
    if not found and not hunts:
        raise UserError(f"{root} holds neither a finding nor the series of a hunt")
    if sarif_file:
        _write(sarif_file, json.dumps(sarif.document(found, hunts), indent=2) + "\n")
    if junit_file:
        _write(junit_file, junit.text(found, hunts))


def _below(root: Path, name: str) -> list[Path]:
    """Files called NAME; a folder with a dot is what a killed hunt was writing."""
    return [path for path in sorted(root.rglob(name))
            if not any(part.startswith(".") for part in path.relative_to(root).parts)]


def _write(path: Path, text: str) -> None:
    finding.check_writable(path.absolute().parent)
    finding.write_file(path, text)
