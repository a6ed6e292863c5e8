"""A folder that is there whole or not at all: it is filled beside its place, and renamed."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from slotfuzz.errors import MachineError, UserError
from slotfuzz.finding import finding
from slotfuzz.inputs.case import RECORD
from slotfuzz.paths import shown


def check(place: Path) -> None:
    """UserError if PLACE holds something other than a case, which would be lost."""
    if place.exists() and not place.is_dir():
        raise UserError(f"{place} is not a folder")
    if place.is_dir() and any(place.iterdir()) and not (place / RECORD).exists():
        raise UserError(f"{place} is not empty and holds no case; choose another folder")


@contextlib.contextmanager
def filled(place: Path) -> Iterator[Path]:
    """A new folder to fill, which then takes PLACE; removed if anything fails."""
    check(place)
    place = place.absolute()
    parent = finding.check_writable(place.parent)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    try:
        made.chmod(0o755)
        yield made
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
        finding.replace_folder(made, place)
    except OSError as error:
        raise MachineError(f"cannot write {shown(place)}: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
