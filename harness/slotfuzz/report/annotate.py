"""Findings as workflow commands of GitHub Actions, which shows them at the changed lines."""

import os
import sys

from slotfuzz.finding import places


def is_wanted() -> bool:
    """Whether GitHub Actions runs this."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def say(found: list[places.Found]) -> None:
    """Prints one `::error` line on stderr for each finding, but only under GitHub Actions."""
    for one in found if is_wanted() else []:
        print(line(one), file=sys.stderr, flush=True)


def line(found: places.Found) -> str:
    """The workflow command for one finding."""
    fields = {"title": f"slotfuzz: {found.record.id if found.record else found.folder.name}"}
    if found.first:
        fields = {"file": places.from_workspace(found.first.file), "line": found.first.line,
                  **fields}
    words = ",".join(f"{name}={_property(str(value))}" for name, value in fields.items())
    return f"::error {words}::{_data(chr(10).join([found.title, *found.program]))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
