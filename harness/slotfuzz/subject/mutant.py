"""The header of mutants/<id>.patch: where the bug is from, and what finding it must look like."""

from dataclasses import dataclass

from slotfuzz.errors import BrokenError
from slotfuzz.paths import ROOT


@dataclass(frozen=True)
class Header:
    """Origin (pull request), contract number, what must be found, and what shows it.

    CONTRACT is what the bug breaks; no finding gets its number from here.
    VERDICT may leave out the check, as `judge P2` does, where several lines show the bug and each
    has a check of its own. PROGRAM is the minimal program, or for a protocol's target one line
    `SHAPE: OPS;OPS` or `golden N`; ENGINES are then those that must catch it, and FREE_THREADING
    says that it takes a Python without a GIL.
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
    """The header of a mutant's patch; BrokenError where a field is missing."""
    path = ROOT / "mutants" / f"{mutant}.patch"
    return parse_header(path.read_text(), path.name)


def parse_header(text: str, name: str) -> Header:
    """The comment lines before the diff. NAME is for the error."""
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
