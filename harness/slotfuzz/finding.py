"""A finding's folder: repro.py, NOTES.md, lives.svg, report.txt, finding.json. All or nothing."""

import json
import os
import shutil
import tempfile
from pathlib import Path

from slotfuzz import emit
from slotfuzz.errors import MachineError
from slotfuzz.paths import shown

FIELDS = (
    "id", "signature", "kind", "subject", "target", "oracle", "contract", "lines",
    "runs_to_find", "seconds_to_find", "minimize_runs", "minimize_seconds", "one_minimal",
    "rate", "rate_low", "versions", "seed",
)


def check_writable(folder: Path) -> Path:
    """FOLDER, made if need be, or MachineError: a hunt must not learn at its end that it is not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x" * 65536)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise MachineError(f"cannot write to {shown(folder)}: {error.strerror}") from error
    return folder


def write(out: Path, record: dict, files: dict[str, str]) -> Path:
    """Writes OUT/<id>/ from RECORD (all of FIELDS) and FILES; replaces an older one.

    The folder is made elsewhere and renamed, so a reader, or a kill -9, never sees half of it.
    """
    missing = [name for name in FIELDS if name not in record]
    if missing:
        raise ValueError(f"finding.json lacks {missing}")
    place = out / record["id"]
    try:
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=out))
        try:
            made.chmod(0o755)
            for name, text in files.items():
                _write_synced(made / name, text)
            _write_synced(made / "finding.json", json.dumps(record, indent=2) + "\n")
            _replace(made, place)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise MachineError(f"cannot write {shown(place)}: {error.strerror}") from error
    return place


def _write_synced(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


def _replace(made: Path, place: Path) -> None:
    try:
        os.rename(made, place)
    except OSError:
        if not place.is_dir():
            raise
        old = Path(tempfile.mkdtemp(prefix=".old-", dir=place.parent))
        os.rename(place, old / place.name)
        os.rename(made, place)
        shutil.rmtree(old, ignore_errors=True)


def known(folders: list[Path], subject: str) -> dict[str, Path]:
    """Signature to folder of every finding of SUBJECT in FOLDERS; what is no finding is skipped."""
    found = {}
    for folder in folders:
        for path in sorted(folder.glob("*/finding.json")):
            try:
                record = json.loads(path.read_text())
                if record["subject"] == subject:
                    found.setdefault(record["signature"], path.parent)
            except (OSError, ValueError, KeyError):
                continue
    return found


def programs(folders: list[Path], subject: str) -> list[Path]:
    """repro.py of every finding of SUBJECT in FOLDERS, by the header of the script."""
    found = []
    for folder in folders:
        for path in sorted(folder.glob("*/repro.py")):
            text = path.read_text(errors="replace")
            if emit.read_header(text).get("subject") == subject:
                found.append(path)
    return found


def write_file(path: Path, text: str) -> None:
    """Writes one file atomically: a temporary file beside it, then a rename."""
    try:
        handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        with open(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        raise MachineError(f"cannot write {shown(path)}: {error.strerror}") from error
