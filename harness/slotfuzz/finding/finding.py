"""A finding's folder: repro.py, NOTES.md, timeline.svg, report.txt, finding.json; all or none."""

import os
import shutil
import tempfile
from pathlib import Path

from slotfuzz.console import say
from slotfuzz.errors import MachineError
from slotfuzz.paths import shown
from slotfuzz.schema.record import (
    FIELDS, KEYS, keys_of, plain, text_of, wrong_in_record,
)
from slotfuzz.schema.shape import parsed
from slotfuzz.subject.subject import Subject

# Enough to steer around; a bug with more variants is seen again in any of them.
VARIANTS_MAX = 50
NOTES = "NOTES.md"


def check_writable(folder: Path) -> Path:
    """Makes FOLDER if it is missing; MachineError at the start of a hunt if it is not writable."""
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

    It fills a temporary folder and renames it, so that no reader and no kill -9 leaves half of it.
    """
    missing = [name for name in FIELDS if name not in record]
    if missing:
        raise ValueError(f"finding.json lacks {missing}")
    place = out / record["id"]
    if NOTES in files:
        files = {**files, NOTES: with_explanation(files[NOTES], record)}
    try:
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=out))
        try:
            made.chmod(0o755)
            for name, text in files.items():
                _write_synced(made / name, text)
            _write_synced(made / "finding.json", text_of(record))
            _replace(made, place)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise MachineError(f"cannot write {shown(place)}: {error.strerror}") from error
    return place


def with_explanation(notes: str, record: dict) -> str:
    """NOTES, the text of NOTES.md, with a person's remarks from RECORD below its title."""
    title, _, rest = notes.partition("\n\n")
    words = " ".join(filter(None, [record.get("sentence") and f"**{record['sentence']}**",
                                   record.get("why")]))
    return "\n\n".join(filter(None, [title, words, rest]))


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


def known(folders: list[Path], subject: Subject) -> list[Path]:
    """The folders in FOLDERS whose findings are of SUBJECT in its release.

    It prints the name of each unreadable folder, because a hunt will report that finding as new.
    """
    found = []
    for folder in folders:
        for path in sorted(folder.glob("*/finding.json")):
            record = read(path.parent)
            if not record:
                say(f"{shown(path)} cannot be read, so its finding is not known")
            if subject.has_finding(record) and (path.parent / "repro.py").exists():
                found.append(path.parent)
    return found


def load(folder: Path) -> dict:
    """The record of the finding in FOLDER; OSError or ValueError says why it cannot be read."""
    try:
        record = parsed((folder / "finding.json").read_bytes())
    except ValueError as error:
        raise ValueError(f"finding.json is no JSON: {error}") from error
    if wrong := wrong_in_record(record):
        raise ValueError(f"finding.json: {wrong}")
    return record


def read(folder: Path) -> dict:
    """The record of the finding in FOLDER; empty if no readable record exists."""
    try:
        record = parsed((folder / "finding.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def add_variant(folder: Path, variant: str) -> None:
    """Adds one more minimal program for the bug in FOLDER; the first one is in its script."""
    record = read(folder)
    variants = [*record.get("ways", []), variant]
    if variant not in variants[:-1] and len(variants) <= VARIANTS_MAX:
        write_file(folder / "finding.json", text_of({**record, "ways": variants}))


def merge(folders: list[Path]) -> Path:
    """Merges the findings in FOLDERS, which are one bug, and returns the folder that remains.

    That folder has the highest failure rate, then the shortest program, then the earliest date.
    """
    records = {folder: read(folder) for folder in folders}
    kept, *others = sorted(folders, key=lambda folder: (
        -records[folder]["rate"], records[folder]["lines"], records[folder]["runs_to_find"]))
    record = records[kept]
    for other in others:
        record[KEYS] = plain(keys_of(record) | keys_of(records[other]))
        variants = dict.fromkeys([*record["ways"], *records[other]["ways"]])
        record["ways"] = list(variants)[:VARIANTS_MAX]
    write_file(kept / "finding.json", text_of(record))
    for other in others:
        shutil.rmtree(other)
    return kept


def is_better(record: dict, old: dict) -> bool:
    """Whether RECORD has a shorter program than OLD that fails as often.

    Any program that fails is better than one that does not.
    """
    if old.get("rate") == 0 < record["rate"]:
        return True
    return record["lines"] < old.get("lines", 0) and record["rate"] >= old.get("rate", 0.0)


def successor(record: dict, old: dict) -> dict:
    """RECORD for the folder of OLD, if OLD exists: with its id, its first date, and a person's
    additions.
    """
    kept = {name: old[name] for name in ("id", "runs_to_find", "seconds_to_find") if name in old}
    return {**old, **record, **kept,
            KEYS: plain(keys_of(record) | keys_of(old)),
            "ways": [*record["ways"], *old.get("ways", [])]}


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
