"""A finding's folder: repro.py, NOTES.md, timeline.svg, report.txt, finding.json; all or none."""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from slotfuzz.console import say
from slotfuzz.errors import MachineError
from slotfuzz.paths import shown
from slotfuzz.schema import record as schema
from slotfuzz.schema.record import Finding, in_order
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


def write(out: Path, record: Finding, files: dict[str, str]) -> Path:
    """Writes OUT/<id>/ from RECORD and FILES; replaces an older one.

    It fills a temporary folder and renames it, so that no reader and no kill -9 leaves half of it.
    """
    place = out / record.id
    if NOTES in files:
        files = {**files, NOTES: with_explanation(files[NOTES], record)}
    try:
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=out))
        try:
            made.chmod(0o755)
            for name, text in files.items():
                _write_synced(made / name, text)
            _write_synced(made / "finding.json", record.text())
            replace_folder(made, place)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise MachineError(f"cannot write {shown(place)}: {error.strerror}") from error
    return place


def with_explanation(notes: str, record: Finding) -> str:
    """NOTES, the text of NOTES.md, with a person's remarks from RECORD below its title."""
    title, _, rest = notes.partition("\n\n")
    words = " ".join(filter(None, [record.sentence and f"**{record.sentence}**",
                                   record.why]))
    return "\n\n".join(filter(None, [title, words, rest]))


def _write_synced(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


def replace_folder(made: Path, place: Path) -> None:
    """Renames the folder MADE to PLACE, where an older one may be."""
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
            elif subject.has_finding(record) and (path.parent / "repro.py").exists():
                found.append(path.parent)
    return found


def load(folder: Path) -> Finding:
    """The record of the finding in FOLDER; OSError or ValueError says why it cannot be read."""
    return schema.read((folder / "finding.json").read_bytes())


def read(folder: Path) -> Finding | None:
    """The record of the finding in FOLDER; None if no readable record exists."""
    try:
        return load(folder)
    except (OSError, ValueError):
        return None


def add_variant(folder: Path, variant: str) -> None:
    """Adds one more minimal program for the bug in FOLDER; the first one is in its script."""
    record = read(folder)
    if record and variant not in record.variants and len(record.variants) < VARIANTS_MAX:
        write_file(folder / "finding.json",
                   replace(record, variants=(*record.variants, variant)).text())


def merge(folders: list[Path]) -> Path:
    """Merges the findings in FOLDERS, which are one bug, and returns the folder that remains.

    That folder has the highest failure rate, then the shortest program, then the earliest date.
    """
    records = {folder: load(folder) for folder in folders}
    kept, *others = sorted(folders, key=lambda folder: (
        -records[folder].rate, records[folder].lines, records[folder].runs_to_find))
    all_of = [records[kept], *(records[other] for other in others)]
    variants = dict.fromkeys(variant for one in all_of for variant in one.variants)
    merged = replace(records[kept], variants=tuple(variants)[:VARIANTS_MAX],
                     dedup_keys=in_order(frozenset().union(*(one.keys for one in all_of))))
    write_file(kept / "finding.json", merged.text())
    for other in others:
        shutil.rmtree(other)
    return kept


def is_better(record: Finding, old: Finding | None) -> bool:
    """Whether RECORD has a shorter program than OLD that fails as often.

    Any program that fails is better than one that does not.
    """
    if old is None:
        return False
    if old.rate == 0 < record.rate:
        return True
    return record.lines < old.lines and record.rate >= old.rate


def successor(record: Finding, old: Finding | None) -> Finding:
    """RECORD for the folder of OLD, if OLD exists: with its id, its first date, and a person's
    additions.
    """
    if old is None:
        return record
    kept = {name: getattr(old, name) for name in (
        "id", "runs_to_find", "seconds_to_find", "sentence", "why", "known_as", "reach",
        "fails_in", "user_script", "expected", "cause", "reports", "user_ends")}
    return replace(record, **kept, dedup_keys=in_order(record.keys | old.keys),
                   variants=(*record.variants, *old.variants))


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
