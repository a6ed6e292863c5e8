"""What triage makes of a crash: the finding that it belongs to, and programs to steer around."""

from dataclasses import dataclass
from pathlib import Path

from slotfuzz.schema.record import Finding


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A crash that belongs to the finding ID in FOLDER, with the SIGNATURE of its minimal program.

    TEXT is the minimal program, AVOID has the programs to steer around, and MERGED the ids of
    findings that this one showed to be the same bug. FINDING is the record, or None if the finding
    existed before and is no better now.
    """

    id: str
    signature: str
    folder: Path
    text: str
    avoid: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    finding: Finding | None = None

    def plain(self) -> dict:
        """The record and the other fields as JSON."""
        record = self.finding.plain() if self.finding else {}
        return {**record, "id": self.id, "signature": self.signature, "folder": str(self.folder),
                "text": self.text, "merged": list(self.merged), "avoid": list(self.avoid)}
