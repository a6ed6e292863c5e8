"""What a campaign found, ranked: one self-contained page of HTML, or docs/torch.md by release.

Both are made from the folders of findings alone. What a person knows of one stands in its
finding.json: `sentence`, `why` it is a bug, `known_as` (its number in a list of known bugs),
`fails_in` (release to whether it was seen failing there), and `reach`, where the script's own words
do not tell it.
"""

import html
import re
from dataclasses import dataclass
from pathlib import Path

from slotfuzz import finding
from slotfuzz.errors import UserError
from slotfuzz.group import JUDGE_KINDS

# What a script needs of the library, worst first.
REACHES = {
    "public": "through public API alone",
    "underscore": "through API whose name begins with an underscore, or a flag of its C++",
    "odd": "through odd values that should raise",
}
# Helpers of the prelude that set a flag of the C++ library stand for API that is not public.
PRIVATE = re.compile(r"\._(?!_)\w|\b(enter_|exit_)?hermetic\b")
STYLE = """\
body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2rem .6rem;text-align:left}
pre{background:#8882;padding:.6rem;overflow-x:auto}
"""


@dataclass(frozen=True)
class Entry:
    """One finding: its FOLDER, RECORD, the lines of its PROGRAM, and its NOTES."""

    folder: Path
    record: dict
    program: tuple[str, ...]
    notes: str

    @property
    def release(self) -> str:
        """The PyTorch that it is of, as its folder says; an empty string for slotcore."""
        said = finding.release_of(self.record)
        named = self.folder.parent.name.removeprefix("torch-")
        return named if said and named != self.folder.parent.name else said

    @property
    def reach(self) -> str:
        """The key of REACHES: what a person says, else what the program's words say."""
        said = self.record.get("reach")
        if said in REACHES:
            return said
        return "underscore" if PRIVATE.search("\n".join(self.program)) else "public"

    @property
    def rank(self) -> tuple:
        """What comes first is worse: by reach, crashes before wrong results, then the shortest."""
        wrong = self.record["oracle"] in (*JUDGE_KINDS, "contract")
        return (list(REACHES).index(self.reach), wrong, self.record["lines"], self.record["id"])

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence: a person's, else the title of the notes."""
        title = next(iter(self.notes.splitlines()), "").removeprefix("# ")
        return self.record.get("sentence") or title or self.record["signature"]

    @property
    def rate(self) -> str:
        """How often it fails in fresh processes."""
        record = self.record
        return f"{record['rate']:.0%} of {record.get('verified_runs', '?')} fresh processes"


def collect(root: Path) -> list[Entry]:
    """The findings in ROOT at any depth, worst first; UserError where there is none."""
    entries = []
    for path in sorted(root.rglob("finding.json")):
        record = finding.read(path.parent)
        if all(name in record for name in finding.FIELDS):
            script = _text(path.parent / "repro.py")
            entries.append(Entry(path.parent, record, tuple(_program(script)),
                                 _text(path.parent / "NOTES.md")))
    if not entries:
        raise UserError(f"{root} holds no finding")
    return sorted(entries, key=lambda entry: entry.rank)


def page(root: Path, entries: list[Entry]) -> str:
    """The page of HTML; it refers to nothing outside of itself."""
    rows = "".join(_row([f'<a href="#{_name(entry)}">{html.escape(entry.sentence)}</a>',
                         html.escape(entry.record["signature"]), html.escape(_subject(entry)),
                         html.escape(entry.record["contract"]), entry.rate]) for entry in entries)
    head = _row(["finding", "signature", "subject", "contract", "fails in"], "th")
    return ("<!doctype html>\n<html lang=en><meta charset=utf-8>\n"
            f"<title>{len(entries)} findings</title>\n<style>{STYLE}</style>\n"
            f"<h1>{len(entries)} findings in {html.escape(root.name)}</h1>\n"
            f"<table>\n{head}{rows}</table>\n" + "".join(map(_section, entries)) + "</html>\n")


def _row(cells: list[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}" for cell in cells) + "\n"


def _section(entry: Entry) -> str:
    parts = [f'<h2 id="{_name(entry)}">{html.escape(entry.sentence)}</h2>\n'
             f"<p>{REACHES[entry.reach].capitalize()}; fails in {entry.rate};"
             f" {_met(entry)}. {html.escape(entry.record.get('why', ''))}\n",
             f"<pre>{html.escape(chr(10).join(entry.program))}</pre>\n"]
    for title, text in (("notes", entry.notes), ("script", _text(entry.folder / "repro.py"))):
        parts.append(f"<details><summary>{title}</summary><pre>{html.escape(text)}</pre>"
                     "</details>\n")
    return "".join(parts)


def _name(entry: Entry) -> str:
    return html.escape(f"{entry.release}-{entry.record['id']}", quote=True)


def _subject(entry: Entry) -> str:
    return " ".join(filter(None, [entry.record["subject"], entry.release]))


def _met(entry: Entry) -> str:
    ways = len(entry.record.get("ways", []))
    return f"a group of {ways} programs" if ways > 1 else "one program"


def markdown(root: Path, entries: list[Entry]) -> str:
    """docs/torch.md without its last newline: the findings on torch, by release, worst first.

    What else a person has to say of a release is in torch-<release>/about.md, and in what it
    differs from the core in torch-<release>/differences.md.
    """
    entries = [entry for entry in entries if entry.release]
    if not entries:
        raise UserError(f"{root} holds no finding on torch")
    abouts = {path.parent.name.removeprefix("torch-"): path.read_text().strip()
              for path in root.glob("torch-*/about.md")}
    releases = sorted({entry.release for entry in entries} | set(abouts),
                      key=lambda release: [int(part) for part in re.findall(r"\d+", release)])
    parts = ["# What it finds in PyTorch\n\nMade by `./slotfuzz report repro --markdown >"
             " docs/torch.md` from the folders in repro/torch-*; worst first. A number of a known"
             " bug is that of its pull request or of the project's list of them."]
    for release in releases:
        chosen = [entry for entry in entries if entry.release == release]
        parts += [f"## PyTorch {release}", *filter(None, [abouts.get(release)])]
        for reach, words in REACHES.items():
            found = [entry for entry in chosen if entry.reach == reach]
            if found:
                parts.append(f"### {words[0].upper()}{words[1:]}")
                parts += [_told(root, entry) for entry in found]
        differences = _text(root / f"torch-{release}" / "differences.md").strip()
        parts += filter(None, [differences])
    return "\n\n".join(parts)


def _told(root: Path, entry: Entry) -> str:
    record = entry.record
    place = f"{root.name}/{entry.folder.relative_to(root)}"
    known = record.get("known_as")
    facts = [
        f"`{record['signature']}`", f"fails in {entry.rate}",
        f"contract {record['contract']}" if record["contract"] else "no contract number",
        f"known as {known}" if known else "not in the list of known bugs", _met(entry),
        _releases(record.get("fails_in", {}))]
    program = "\n".join(f"    {line}" for line in entry.program)
    why = f"\n\n{record['why']}" if record.get("why") else ""
    return (f"**{entry.sentence}** [{record['id']}](../{place}/repro.py)\n\n{program}\n\n"
            f"{'; '.join(filter(None, facts))}.{why}")


def _releases(fails_in: dict[str, bool]) -> str:
    failing = [release for release, fails in fails_in.items() if fails]
    clean = [release for release, fails in fails_in.items() if not fails]
    return ", ".join([f"fails on {' and '.join(failing)}"] * bool(failing)
                     + [f"not on {' and '.join(clean)}"] * bool(clean))


def _program(script: str) -> list[str]:
    """The lines of a script after its last blank one: the program, with what shows the bug."""
    return script.rstrip().rpartition("\n\n")[2].splitlines()


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
