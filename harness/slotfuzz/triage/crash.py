"""A crash in a hunt, which triage judges."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Crash:
    """A program TEXT that crashed with REPORT, after so many PROGRAMS and SECONDS of a hunt."""

    target: str
    text: str
    report: str
    programs: int
    seconds: float
    seed: int
    recorder: Path | None = None
