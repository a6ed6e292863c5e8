"""The frame of a script by emit.py: the lines around its program, which match no op.

The parser drops these lines as it drops all lines that match no op. Messages about dropped lines
leave the frame out, so that they name only mistakes of the user.
"""

import re

from slotfuzz.language import prelude
from slotfuzz.subject import registry
from slotfuzz.subject.capabilities import Capabilities, PLAIN

BASE_MODULES = "gc|os|subprocess|sys|weakref"
IMPORT = re.compile(rf"import (?:{BASE_MODULES})(?:, (?:{BASE_MODULES}))*"
                    r"|from contextlib import suppress")
# The snippets of another release may differ; no program line begins with these words.
DEFINITION = re.compile(r"(?:def|class|import|from) ")
ASSERTION = "assert "
CHECK_BEGIN = 'if sys.argv[1:2] == ["--check"]:'
WATCHED = """\
# It hangs. If it does, this says in which line each thread is, and ends it.
import faulthandler
faulthandler.dump_traceback_later(3, exit=True)
"""
END = "if True:  # the end: every name is dropped, and the collector runs"


def import_of(subject: Capabilities) -> str:
    """The lines that import the module of SUBJECT as `T`, or that say how to run the script."""
    plain = f"import {subject.module} as T\n"
    if subject.runs_scripts == PLAIN:
        return plain
    return (
        f"try:\n    {plain}"
        "except ImportError:\n"
        f"    print('{subject.module} is not importable here; run: {subject.runs_scripts}',"
        " __file__, file=sys.stderr)\n"
        "    sys.exit(2)\n"
    )


def ranges(text: str, snippets: list[prelude.Snippet]) -> list[tuple[int, int]]:
    """First and last number, from 1, of each stretch of lines of TEXT that belong to the frame.

    SNIPPETS are those of the engine's prelude. If emit.py did not write TEXT, its frame consists
    of its imports only. A line in the frame that matches an op still runs.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    subjects = [one for one in registry.every() if one.make]
    imports = {f"import {one.module} as T" for one in subjects}
    found = {i for i, line in enumerate(lines) if IMPORT.fullmatch(line) or line in imports}
    check = next((i for i, line in enumerate(lines) if line.startswith(CHECK_BEGIN)), None)
    if check is not None:
        for one in subjects:
            found |= _import_hints(lines[:check], import_of(one).splitlines())
        begin, body = _paragraph(lines, check)
        found |= {*range(begin, body)}
        for is_part in (_is_watch, lambda part: _is_helpers(part, snippets)):
            begin, end = _paragraph(lines, body)
            if is_part(lines[begin:end]):
                found |= {*range(begin, end)}
                body = end
        found |= _shown(lines, body)
    return _stretches(sorted(found))


def _import_hints(lines: list[str], hint: list[str]) -> set[int]:
    """The indices of all lines where HINT occurs: lines that import a subject, or say how to."""
    return {at for i in range(len(lines)) if lines[i:i + len(hint)] == hint
            for at in range(i, i + len(hint))}


def _is_watch(part: list[str]) -> bool:
    return part == WATCHED.splitlines()


def _paragraph(lines: list[str], begin: int) -> tuple[int, int]:
    """Begin and end of the first paragraph at or after index BEGIN: lines that are not blank."""
    begin = next((i for i in range(begin, len(lines)) if lines[i].strip()), len(lines))
    end = next((i for i in range(begin, len(lines)) if not lines[i].strip()), len(lines))
    return begin, end


def _is_helpers(part: list[str], snippets: list[prelude.Snippet]) -> bool:
    """Whether PART is the paragraph of snippets, of this release's prelude or of another one."""
    if any(DEFINITION.match(line) for line in part):
        return True
    left = "\n".join(part)
    for snippet in snippets:
        for statement in snippet.statements:
            left = left.removeprefix(statement.text).removeprefix("\n")
    return bool(part) and not left


def _shown(lines: list[str], body: int) -> set[int]:
    """The judge's assert lines from line BODY on, and the end block with its indented lines."""
    found, is_end = set(), False
    for i in range(body, len(lines)):
        is_end = lines[i] == END or (is_end and lines[i].startswith(" "))
        if is_end or lines[i].startswith(ASSERTION):
            found.add(i)
    return found


def _stretches(numbers: list[int]) -> list[tuple[int, int]]:
    """Groups sorted indices into stretches, with line numbers from 1."""
    stretches: list[tuple[int, int]] = []
    for number in (index + 1 for index in numbers):
        if stretches and stretches[-1][1] == number - 1:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return stretches
