"""Which findings are one bug: they crash in one function, or break after the same lines.

A finding has keys, and two findings with a key in common are of one group. The last line of a
minimal program only shows what the lines before it have done, so twenty ways to read the data of a
tensor that has none are one group, and two programs that lose an attribute in two ways are two.
"""

import re

from slotfuzz.program import BINDING_MARKS, Line, Table
from slotfuzz.signature import Signature

AFTER = " after "
JUDGE_KINDS = ("assert", "exception")
# Counts of all objects, whoever holds them: where they crash says nothing of why.
COUNTING = re.compile(r"^(c10::|slotcore::)*(weak_)?(intrusive_ptr|raw::|MaybeOwned)")


def keys(reply: dict, words: Signature, lines: list[Line], table: Table) -> frozenset[str]:
    """The keys of a finding: its minimal program LINES, the engine's REPLY, its signature WORDS."""
    if reply["kind"] == "exception" and not reply["contract"]:
        # The message of an exception names the assertion that failed.
        return frozenset([words.text])
    shows = reply["line"] == len(lines) - 1
    cause = lines[:-1] if shows and not _is_bare(lines[:-1], table) else lines
    if reply["kind"] in JUDGE_KINDS:
        return frozenset([f"{words.text}{AFTER}{shape(cause, table)}"])
    found = {f"crash{AFTER}{shape(cause, table)}"}
    where = next((name for name in words.functions if not COUNTING.match(name)), "")
    if where:
        found.add(f"crash in {where}")
    return frozenset(found)


def of_one_group(key: str, known: str) -> bool:
    """Whether a finding with KEY is of the group of KNOWN: the same, or the same by a longer way.

    A longer way has the same verdict and all ops of the known one, in their order. A minimal
    program has no line in vain, but it may take a detour around a variable's name. A crash is no
    such verdict: where one ends, another begins.
    """
    if key == known or not key.startswith("judge "):
        return key == known
    (verdict, _, longer), (known_verdict, _, shorter) = key.partition(AFTER), known.partition(AFTER)
    if verdict != known_verdict or not shorter:
        return False
    rest = iter(_ops(longer))
    return all(op in rest for op in _ops(shorter))


def _ops(text: str) -> list[str]:
    """The op names of a shape."""
    return [line.partition(" ")[0] for line in text.split("; ")]


def shape(lines: list[Line], table: Table) -> str:
    """The program as op names and variables numbered as they come; values do not matter."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    words = []
    for line in lines:
        for index, word in enumerate(line.operands):
            prefix = table.kind(line, index).prefix
            if prefix and word not in names:
                names[word] = f"{prefix}{counts.get(prefix, 0)}"
                counts[prefix] = counts.get(prefix, 0) + 1
        operands = [names.get(word, "_") for word in line.operands]
        words.append(" ".join([line.op, *operands] + [f"lane{line.lane}"] * bool(line.lane)))
    return "; ".join(words)


def _is_bare(lines: list[Line], table: Table) -> bool:
    """Whether LINES only make objects, from nothing but values: then the last line is the bug."""
    return all(_makes(line, table) and len(table.variables(line)) == 1 for line in lines)


def _makes(line: Line, table: Table) -> bool:
    roles = table.ops[line.op]["operands"]
    return bool(roles) and roles[0][:1] in BINDING_MARKS
