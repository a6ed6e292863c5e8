"""issue.md: a finding on torch as a report to its maintainers.

A person adds to finding.json the script as a user would write it, what it should do, the cause in
PyTorch's sources, and the reports that exist. `ci/torch_releases.sh` adds how the script ends in
each release. All else is the finding's.
"""

import re

from slotfuzz.report import Entry, TIERS_IN_WORDS

NAME = "issue.md"
FRAME = re.compile(r"^ +#\d+ 0x\w+ +(?:in (?P<function>.+) )?"
                   r"\((?:\S*/)?(?P<library>[^/\s]+\+0x\w+)\)", re.MULTILINE)
# Where the frames of PyTorch end: in the interpreter, or in a program, which is no shared library.
ENDS = re.compile(r"^(?:libpython|python3)|^(?!.*\.so\b)")
FRAMES_MAX = 12
# Versions of a finding that say nothing of the user's script.
OURS = ("compiler", "slotfuzz")


def text(entry: Entry) -> str:
    """The report on ENTRY; empty if no person has written a script for it."""
    record = entry.record
    if not record.user_script:
        return ""
    ends = "\n".join(f"| {release} | {end.replace('|', '/')} |"
                     for release, end in record.user_ends.items())
    stack = "\n".join(stack_of((entry.folder / "report.txt").read_text(errors="replace")))
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items()
                         if name not in OURS)
    parts = [
        f"# {record.sentence}", f"```python\n{record.user_script.strip()}\n```",
        f"**Expected:** {record.expected}", "**Actual:**",
        f"| PyTorch | the script ends with |\n|---|---|\n{ends}",
        f"**Stack** ({versions}):\n\n```\n{stack}\n```" if stack else "",
        f"**Cause:** {record.cause}",
        f"**Severity:** {entry.severity}, {TIERS_IN_WORDS[entry.tier]}.",
        f"**Known reports:** {'; '.join(record.reports) or 'none found'}.",
        f"The program that slotfuzz found is in `repro.py` beside this file; it fails in"
        f" {entry.rate}."]
    return "\n\n".join(filter(None, parts)) + "\n"


def stack_of(report: str) -> list[str]:
    """The frames of the first stack in REPORT, innermost first, up to the interpreter's or ours."""
    frames = []
    for match in FRAME.finditer(report):
        if ENDS.match(match["library"]) or len(frames) == FRAMES_MAX:
            break
        name = f"{match['function']}  " if match["function"] else ""
        frames.append(f"{name}({match['library']})")
    return frames
