"""A failing schedule of a protocol, as harness/interleave/command/outcome.cc writes it.

`words_of` takes the JSON, because a gate compares it with that of another checkout.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A row of the table of a schedule. THREAD is None for what comes after all threads."""

    step: int
    thread: int | None
    line: str
    location: str
    operation: str
    value: str
    stale: bool
    note: str


@dataclass(frozen=True)
class Failure:
    """A failure with its TABLE. CONTRACT is the number that the failed check names, or empty.

    SCHEDULE is what `--schedule` takes, and SCHEDULE_BYTES has the choices in it; the engines that
    cannot replay have neither. The command adds REPORT, a sanitizer's, how often it REPLAYS the
    schedule and how many of them failed, and the path of the PROGRAM that it writes.
    """

    kind: str
    contract: str
    message: str
    table: tuple[Step, ...]
    schedule: str = ""
    schedule_bytes: str = ""
    bytes: int = 0
    report: str = ""
    replays: int = 0
    replays_failed: int = 0
    program: str = ""


def words_of(failure: dict) -> str:
    """FAILURE in words: its kind, the number of the contract's sentence if it has one, its message.

    A document that was written before there was a field for the number has it in the message.
    """
    parts = [failure["kind"], failure.get("contract", ""), failure["message"]]
    return ": ".join(filter(None, parts))
