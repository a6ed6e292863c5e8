"""The table at the beginning of docs/torch.md: a row for each root cause, and where it fails."""

from slotfuzz.report import Entry, issue
from slotfuzz.report.causes import Cause, merged

MARKS = {True: "yes", False: "no", None: "?"}
NO_REPORT = "no report known"


def overview(root, entries: list[Entry], releases: list[str]) -> str:
    """A Markdown table of the root causes of ENTRIES below ROOT: first those that are new."""
    causes = sorted(merged(entries), key=lambda cause: bool(known_as(cause)))
    new = sum(not known_as(cause) for cause in causes)
    counts = ", ".join(f"{sum(cause.fails_in.get(release, False) for cause in causes)} in {release}"
                       for release in releases)
    head = ["bug", *releases, "API", "severity", "known as"]
    rows = [head, ["---"] * len(head), *(_row(root, cause, releases) for cause in causes)]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (f"{len(causes)} root causes, of which {new} are in no report that we know; {counts}."
            f" \"{NO_REPORT}\" also stands where nobody has searched for one; an issue.md says what"
            f" a search found. \"?\": no run tried it there.\n\n{lines}")


def known_as(cause: Cause) -> str:
    """The reports that exist on CAUSE, in words; empty if a person knows of none."""
    reports = [word for entry in cause.entries for word in entry.record.reports]
    known = [f"known bug {entry.record.known_as}" for entry in cause.entries
             if entry.record.known_as and
             not any(word.startswith(f"#{entry.record.known_as} ") for word in reports)]
    return ", ".join(dict.fromkeys([*reports, *known]))


def _row(root, cause: Cause, releases: list[str]) -> list[str]:
    first = cause.first
    issues = [entry.folder / issue.NAME for entry in cause.entries if entry.record.user_script]
    place = (issues or [first.folder / "repro.py"])[0].relative_to(root)
    sentence = first.sentence.replace("|", "\\|")
    return [f"[{sentence}](../{root.name}/{place})",
            *(MARKS[cause.fails_in.get(release)] for release in releases),
            first.tier, first.severity, known_as(cause) or NO_REPORT]
