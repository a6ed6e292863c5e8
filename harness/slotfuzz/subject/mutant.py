"""The header of mutants/<id>.patch: the origin of the bug, and the finding that it must give."""

from dataclasses import dataclass

from slotfuzz.errors import BrokenError
from slotfuzz.paths import ROOT


@dataclass(frozen=True)
class Header:
    """Origin (pull request), contract number, expected verdict, and a program that reveals the bug.

    CONTRACT is the sentence that the bug breaks; it documents the bug, and no finding copies it.
    VERDICT may omit the check (`judge P2`) if several lines reveal the bug, each in another check.
    PROGRAM is the minimal program. For a target that checks a protocol, PROGRAM is one line
    `SHAPE: OPS;OPS` or `golden N`, ENGINES lists the engines that must catch the bug, and
    FREE_THREADING says that the bug exists only in a Python without a GIL.
    """

    origin: str
    contract: str
    verdict: str
    target: str
    sanitizer: str
    program: tuple[str, ...]
    engines: tuple[str, ...] = ()
    free_threading: bool = False


def read_header(mutant: str) -> Header:
    """The header of a mutant's patch; BrokenError if a field is missing."""
    path = ROOT / "mutants" / f"{mutant}.patch"
    return parse_header(path.read_text(), path.name)


def parse_header(text: str, name: str) -> Header:
    """Parses the comment lines before the diff. The error message shows NAME."""
    fields, key = {"sanitizer": "address", "contract": ""}, ""
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if line.startswith("#   ") and key:
            fields[key] += "\n" + line[4:].rstrip()
            continue
        key, _, value = (word.strip() for word in line[1:].partition(":"))
        fields[key] = value
    program = fields.get("program", "").splitlines()[1:]
    missing = [key for key in ("origin", "verdict", "target") if not fields.get(key)]
    if missing or not program:
        raise BrokenError(f"the header of {name} lacks {', '.join(missing) or 'a program'}")
    return Header(fields["origin"].replace("\n", " "), fields["contract"], fields["verdict"],
                  fields["target"], fields["sanitizer"], tuple(program),
                  tuple(fields.get("engine", "").split()),
                  fields.get("free-threading", "no") == "yes")
