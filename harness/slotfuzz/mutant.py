"""The header of mutants/<id>.patch: where the bug is from, and what finding it must look like."""

from dataclasses import dataclass

from slotfuzz.errors import BrokenError
from slotfuzz.paths import ROOT


@dataclass(frozen=True)
class Header:
    """Origin (pull request), contract number, what a hunt must find, and the minimal program."""

    origin: str
    contract: str
    verdict: str
    target: str
    sanitizer: str
    program: tuple[str, ...]


def read_header(mutant: str) -> Header:
    """The header of a mutant's patch; BrokenError where a field is missing."""
    path = ROOT / "mutants" / f"{mutant}.patch"
    return parse_header(path.read_text(), path.name)


def parse_header(text: str, name: str) -> Header:
    """The comment lines before the diff. NAME is for the error."""
    fields, program, in_program = {"sanitizer": "address", "contract": ""}, [], False
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if in_program and line.startswith("#   "):
            program.append(line[4:].rstrip())
            continue
        key, colon, value = line[1:].partition(":")
        if colon:
            in_program = key.strip() == "program"
            fields[key.strip()] = value.strip()
    missing = [key for key in ("origin", "verdict", "target") if not fields.get(key)]
    if missing or not program:
        raise BrokenError(f"the header of {name} lacks {', '.join(missing) or 'a program'}")
    return Header(fields["origin"], fields["contract"], fields["verdict"], fields["target"],
                  fields["sanitizer"], tuple(program))
