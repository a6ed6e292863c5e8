"""docs/torch.md: the findings on torch, by release, most severe first."""

import re
from pathlib import Path

from slotfuzz.errors import UserError
from slotfuzz.report import Entry, TIERS_IN_WORDS
from slotfuzz.report.overview import overview


def markdown(root: Path, entries: list[Entry]) -> str:
    """The document without its last newline.

    A person's remarks on a release are in torch-<release>/about.md, and the differences of the
    release from the core in torch-<release>/differences.md.
    """
    entries = [entry for entry in entries if entry.release]
    if not entries:
        raise UserError(f"{root} holds no finding on torch")
    abouts = {path.parent.name.removeprefix("torch-"): path.read_text().strip()
              for path in root.glob("torch-*/about.md")}
    releases = sorted({entry.release for entry in entries} | set(abouts), key=version_key)
    parts = ["# What it finds in PyTorch", overview(root, entries, releases),
             "Made by `./slotfuzz report repro --markdown > docs/torch.md` from the folders in"
             " repro/torch-*, and those in repro/by-hand, which no hunt has met; most severe first."
             " A number of a known bug is its pull request's, or its own in the project's list."]
    for release in releases:
        chosen = [entry for entry in entries if entry.release == release]
        parts += [f"## PyTorch {release}", *filter(None, [abouts.get(release)])]
        for tier, words in TIERS_IN_WORDS.items():
            found = [entry for entry in chosen if entry.tier == tier]
            if found:
                parts.append(f"### {words[0].upper()}{words[1:]}")
                parts += [_paragraph(root, entry) for entry in found]
        differences = root / f"torch-{release}" / "differences.md"
        if differences.exists():
            parts += filter(None, [differences.read_text(errors="replace").strip()])
    return "\n\n".join(parts)


def version_key(release: str) -> list[int]:
    """Sort key for releases, oldest first."""
    return [int(part) for part in re.findall(r"\d+", release)]


def _paragraph(root: Path, entry: Entry) -> str:
    record = entry.record
    place = f"{root.name}/{entry.folder.relative_to(root)}"
    known = record.known_as
    details = [
        f"`{record.signature}`", f"fails in {entry.rate}",
        f"contract {record.contract}" if record.contract else "no contract number",
        f"known as {known}" if known else "not in the list of known bugs", entry.met,
        _releases(record.fails_in)]
    program = "\n".join(f"    {line}" for line in entry.program)
    why = f"\n\n{record.why}" if record.why else ""
    return (f"**{entry.sentence}** [{record.id}](../{place}/repro.py)\n\n{program}\n\n"
            f"{'; '.join(filter(None, details))}.{why}")


def _releases(fails_in: dict[str, bool]) -> str:
    failing = [release for release, fails in fails_in.items() if fails]
    clean = [release for release, fails in fails_in.items() if not fails]
    return ", ".join([f"fails on {' and '.join(failing)}"] * bool(failing)
                     + [f"not on {' and '.join(clean)}"] * bool(clean))
