"""Which findings are one bug: they crash in one place, or break one promise by one mechanism.

A finding has keys, and two findings with a key in common are of one group. The last line of a
minimal program only shows what the lines before it have done, so twenty ways to read the data of a
tensor that has none are one group, and two programs that lose an attribute in two ways are two.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from slotfuzz.evidence.signature import Signature
from slotfuzz.language import prelude
from slotfuzz.language.program import Line, Table
from slotfuzz.schema.answers import Reply

AFTER, AT, BY = " after ", " at ", " by "
OUTSIDE = "outside of memory after "
# An exception after which a tensor has sizes that its storage has not grown to: one cause,
# whichever line asks in vain. Who asks for more memory than there is (kinds.h) is refused in many
# places.
REFUSED, HUGE_SIZE = "a line that raises", "h"
# So many ways show what they share.
WAYS_MIN = 3
# In a shape, what makes an object in the plainest way of its kind.
PLAIN = "make"
# Counts of all objects, whoever holds them: where they crash says nothing of why.
COUNTING = re.compile(r"^(c10::|slotcore::)*(weak_)?(intrusive_ptr|raw::|MaybeOwned)")
# Kernels meet memory that is none, and who fetches an object a slot that dangles, whoever left it.
MEETING = re.compile(r"^(at::(?!TensorBase)|c10::|libtorch_cpu)|[Ww]rap$")
# Promises that something is kept. What breaks one is a mechanism that runs beside the lines; which
# lists, closures and attributes led it to the object does not matter.
KEEPING = ("P1", "P2", "P4")
# The judge's check of P3 that says the same of an object; each program that breaks it has a
# finalizer, which tells nothing.
EARLY = "finalized early"
# The mechanisms, by words of the program or of what it calls.
MECHANISMS = {
    "the collector": re.compile(r"\bgc\.collect\("),
    "hermetic mode": re.compile(r"\b(enter_)?hermetic\("),
    "a finalizer": re.compile(r"\bdef __del__\("),
    "a callback": re.compile(r"\bweakref\.ref\([^()]*, "),
    "a swap": re.compile(r"\bswap_tensors\("),
    "a C++ weak reference": re.compile(r"\.lock\("),
    "another interpreter": re.compile(r"\bOther\("),
    "another thread": re.compile(r"^lane\(|_on_thread\(|\.start_\w+\(", re.MULTILINE),
}
# The place of an assertion: one condition may be asserted in many places. `false` is none, but
# there may be words that say more.
ASSERTED_AT = re.compile(
    r'(?<!: false INTERNAL ASSERT FAILED) at "[^"]*":N'
    r'|(?<=: false INTERNAL ASSERT FAILED) at "[^"]*":N(?=, please report a bug to PyTorch\. )')
# What leaves an object that is none: a slot that dangles, or a wrapper whose finalizer resurrects
# it without its impl.
DANGLING = re.compile(r"\b(enter_)?hermetic\(|\b(risen|given)\.pop\(")
# What takes the memory of a storage from under the tensors that own it, whichever line it is in.
SHRINKING = re.compile(r"(\bs\d+|storage\(\))\.resize_\(\d+\)")


class Outside(NamedTuple):
    """The LINE that leads elements outside of memory, and whether it raised an exception."""

    line: Line
    raised: bool


def keys(
    reply: Reply, words: Signature, lines: list[Line], table: Table, outside: Outside | None = None,
) -> frozenset[str]:
    """The keys of a finding: its minimal program LINES, the engine's REPLY, its signature WORDS.

    OUTSIDE is the line after which elements lie where no memory is, if there is one.
    """
    if error(reply, words):
        # The message of an exception names the assertion that failed.
        return frozenset([ASSERTED_AT.sub("", words.text)])
    if outside:
        return keys_outside(outside, table)
    by = _breaks(reply, mechanisms(lines, table))
    if by:
        return frozenset([f"judge {reply.contract} {_object(reply)}{BY}{', '.join(by)}"])
    shows = reply.line == len(lines) - 1
    is_bare = all(map(table.makes_from_values, lines[:-1]))
    cause = lines[:-1] if shows and not is_bare else lines
    after = AFTER + shape(cause, table)
    if reply.is_of_judge:
        # What is told at the end, a leak, has begun with the last line of a minimal program.
        at = AT + _called(lines[-1], table)
        return frozenset([words.verdict + after]
                         + [words.verdict + at] * (reply.line == len(lines)))
    where = next((name for name in words.functions if not COUNTING.match(name)), "")
    if is_bare and (where or _named(lines[-1], table)):
        # Nothing was done before: the function itself is wrong, by the name that it has in C++ or
        # in Python.
        return frozenset([f"crash{after}"] + [f"crash in {name}" for name in
                                              [where, *_named(lines[-1], table)] if name])
    # A function that meets what others have left is not to blame for all that may be left to it.
    by = mechanisms(cause, table)
    who = BY + ", ".join(by) if by else after
    dangles = DANGLING.search(table.program_text(cause)) and not _named(lines[-1], table)
    if by and (not where or dangles):
        # An object that is none, met by who looks at it first. A function that is called by its
        # name may crash at anything.
        where = "what looks at one of " + ", ".join(_kinds(lines, table))
    plainly = shape([_plainly_made(line, table) for line in cause], table)
    found = [f"crash{AFTER}{plainly}"] + [f"crash in {where}{who}"] * bool(where)
    if words.functions and shows and not by and not MEETING.search(where):
        place = " < ".join(words.functions)
        found.append(f"crash in {place}{AT}{_called(lines[-1], table)}")
        if names := _named(lines[-1], table):
            # Two functions that crash at one None are two bugs.
            found[0] = f"crash in {names[0]}"
    return frozenset(found)


def keys_outside(outside: Outside, table: Table) -> frozenset[str]:
    """The keys of whatever a program does after a line that leads elements outside of memory.

    Whoever reads or writes what is not there crashes, here or there, or breaks any promise.
    """
    line, raised = outside
    what = [_shape_anywhere(line, table)]
    if SHRINKING.search(_whole(table.text(line) + "\n", table)):
        what.append("a storage shrinks")
    elif raised and HUGE_SIZE not in table.ops[line.op]["operands"]:
        # The same line may lead there by another way without an error.
        what = [REFUSED, f"{REFUSED}: {what[0]}"]
    return frozenset(OUTSIDE + one for one in what)


def leading_outside(
    lines: list[Line], met: list[Line], keys: frozenset[str], table: Table,
) -> list[list[Line]]:
    """LINES up to the one that leads elements outside of memory, as their KEYS say; or none.

    And MET, the program before its ops and names became simpler ones, up to the same op.
    """
    for count in range(len(lines), 0, -1):
        leading = lines[count - 1]
        if any(keys_outside(Outside(leading, raised), table) == keys for raised in (False, True)):
            last = max((i for i, line in enumerate(met) if line.op == leading.op), default=-1)
            return [lines[:count], *([met[:last + 1]] if last >= 0 else [])]
    return []


def follows(
    keys: frozenset[str], lines: list[Line], broken_keys: frozenset[str], broken: list[Line],
    table: Table,
) -> bool:
    """Whether a crash with KEYS, after LINES, is what becomes of the promise that BROKEN breaks.

    Its minimal program need not break it. By fewer mechanisms, or where elements lie outside of
    memory and those of BROKEN did not, it is another bug.
    """
    outside = {key for key in keys if key.startswith(OUTSIDE)}
    return outside <= broken_keys and {*mechanisms(broken, table)} <= {*mechanisms(lines, table)}


def _breaks(reply: Reply, by: list[str]) -> list[str]:
    """Which of the mechanisms BY break the promise of REPLY: none if it is no such promise."""
    if not reply.is_of_judge:
        return []
    if reply.check.endswith(EARLY):
        return [name for name in by if name != "a finalizer"]
    return by if reply.contract in KEEPING else []


def _named(line: Line, table: Table) -> list[str]:
    """The functions of the module among the operands of LINE, whichever op calls them."""
    return [word for index, word in enumerate(line.operands)
            if table.kind(line, index).has_names and word.startswith("T.")]


def _called(line: Line, table: Table) -> str:
    """The function that LINE calls, wherever it calls it; the shape of a line without a call."""
    return called(table.text(replace(line, lane=0))) or _shape_anywhere(line, table)


def called(text: str) -> str:
    """The last function that is called in TEXT, but for those that give an argument of another.

    Nor is it what gives a context that TEXT runs in.
    """
    name, depth = "", 0
    for bracket in re.finditer(r"(\w*)\(|\)", re.sub(r"^with .*?\): ", "", text)):
        if bracket[0] == ")":
            depth -= 1
            continue
        if depth == 0 and bracket[1]:
            name = bracket[1]
        depth += 1
    return name


def _kinds(lines: list[Line], table: Table) -> list[str]:
    """The kinds of the objects that LINES make or ask for, by the letters of their names."""
    return sorted({word[0] for line in lines if table.gives_object(line)
                   for word in table.bound(line)})


def error(reply: Reply, words: Signature) -> str:
    """What tells a finding by its words alone, as the engine writes them; else an empty string."""
    return words.detail if reply.kind == "exception" and not reply.contract else ""


def _object(reply: Reply) -> str:
    """Whether a tensor or a storage is not kept: the judge's checks and the prelude's say so."""
    if reply.kind == "exception":
        return "storage" if "storage" in reply.check else "tensor"
    return "tensor" if reply.check.startswith("tensor ") else "storage"


def kin(lines: list[Line], table: Table) -> frozenset[str]:
    """The kin of the ops of LINES that bring no mechanism which LINES are without."""
    met = mechanisms(lines, table)
    return frozenset(name for name in table.kin(frozenset(line.op for line in lines))
                     if set(_mechanisms_of(table.ops[name]["template"] + "\n", table)) <= set(met))


def mechanisms(lines: list[Line], table: Table) -> list[str]:
    """The MECHANISMS that take part in a program."""
    return _mechanisms_of(table.program_text(lines), table)


def _mechanisms_of(text: str, table: Table) -> list[str]:
    whole = _whole(text, table)
    return [name for name, pattern in MECHANISMS.items() if pattern.search(whole)]


def _whole(text: str, table: Table) -> str:
    """Lines of a program and the snippets of the prelude that they need."""
    snippets = prelude.snippets_of(table.description)
    called = prelude.needed(snippets, text, table.description["module"])
    return "\n".join([text, *(snippet.text for snippet in called)])


def of_one_group(key: str, known: str) -> bool:
    """Whether a finding with KEY is of the group of KNOWN: the same, or the same by a longer way.

    A longer way has the same verdict, or crashes in the same function, and has all ops of the known
    one in their order. A minimal program has no line in vain, but it may take a detour around a
    variable's name, or make an object in another than the plainest way. Of crashes after some
    lines, wherever they are, none is longer: where one ends, another begins. Beside the mechanisms
    of the known one there may be more: a class may have a finalizer, a weak reference a callback.
    """
    if key == known or not key.startswith(("judge ", "crash in ")):
        return key == known
    if BY in key and BY in known:
        (verdict, _, more), (known_verdict, _, fewer) = key.partition(BY), known.partition(BY)
        return verdict == known_verdict and set(fewer.split(", ")) <= set(more.split(", "))
    (verdict, _, longer), (known_verdict, _, shorter) = key.partition(AFTER), known.partition(AFTER)
    if verdict != known_verdict or not longer:
        return False
    if not shorter:
        return True
    rest = iter(_ops(longer))
    return bool(_ops(shorter)) and all(op in rest for op in _ops(shorter))


def shared(
    ways: list[list[Line]], met: list[list[Line]], keys: frozenset[str], table: Table,
) -> list[list[Line]]:
    """What all of WAYS to one finding with KEYS have in common, by their ops: none, or some lines.

    A bug that shows in many lines after the one that causes it would stop a hunt for each of them.
    None while there are few ways, or where they share a mechanism alone: to steer around every
    collection would be to find nothing more. MET are the programs before their ops became simpler
    ones, of which some may share something else, as may those of the ways that are alike.
    """
    by_place = any(key.startswith("crash in ") and AT in key for key in keys)
    by_mechanism = any(BY in key for key in keys)
    found = []
    for programs in (ways, met, *_alike(ways, table), *_alike(met, table)):
        rest = [lines for lines in programs
                if not any(_has_all(lines, one) for one in found)]
        if (len(rest) >= WAYS_MIN and (common := _common(rest, table))
                and not ((by_place or programs not in (ways, met))
                         and _only_shows(common, rest, table))
                and not (by_mechanism and len(common) == 1)):
            found.append(common)
    return [[_of_any(one[0], table)] if len(one) == 1 else one for one in found]


def _alike(programs: list[list[Line]], table: Table) -> list[list[list[Line]]]:
    """Those of PROGRAMS that end in the same op and have the same names in them."""
    parts: dict[tuple, list[list[Line]]] = {}
    for lines in programs:
        names = frozenset(word for line in lines for index, word in enumerate(line.operands)
                          if table.kind(line, index).has_names)
        parts.setdefault((names, *(line.op for line in lines[-1:])), []).append(lines)
    return list(parts.values())


def _has_all(lines: list[Line], ops_of: list[Line]) -> bool:
    return {line.op for line in ops_of} <= {line.op for line in lines}


def _common(programs: list[list[Line]], table: Table) -> list[Line]:
    """The lines of the shortest of PROGRAMS whose ops are in all, without plain constructors."""
    ops = set.intersection(*({line.op for line in lines} for lines in programs))
    return [line for line in min(programs, key=len)
            if line.op in ops and not table.ops[line.op]["plain"]]


def _only_shows(common: list[Line], programs: list[list[Line]], table: Table) -> bool:
    """Whether COMMON is the line alone that ends each of PROGRAMS, and may do so in others, too.

    A line that names what it calls is wrong by itself.
    """
    return (len(common) == 1 and all(lines[-1].op == common[0].op for lines in programs)
            and not any(table.kind(common[0], index).has_names
                        for index in range(len(common[0].operands))))


def _of_any(line: Line, table: Table) -> Line:
    """LINE with another variable for each operand: steered around whether they are one or two."""
    kinds = [table.kind(line, index) for index in range(len(line.operands))]
    return replace(line, operands=tuple(
        f"{kind.prefix}{index % kind.count}" if kind.prefix else word
        for index, (kind, word) in enumerate(zip(kinds, line.operands))))


def _ops(text: str) -> list[str]:
    """The op names of a shape, without what makes an object in the plainest way."""
    names = [line.partition(" ")[0] for line in text.split("; ")]
    return [name for name in names if name != PLAIN]


def _plainly_made(line: Line, table: Table) -> Line:
    """LINE, or the plainest that makes such an object, if it makes one of torch's own by values.

    The minimizer has tried that one, but for a crash in another function.
    """
    if (not table.ops[line.op]["template"].startswith("{0} = T.")
            or any(table.kind(line, index).has_names for index in range(len(line.operands)))):
        return line
    return next((one for one in table.simpler(line) if table.ops[one.op]["plain"]), line)


def _shape_anywhere(line: Line, table: Table) -> str:
    """The shape of one LINE, whichever lane it runs on."""
    return shape([replace(line, lane=0)], table)


def shape(lines: list[Line], table: Table) -> str:
    """The program as op names and variables numbered as they come; values do not matter."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    words = []
    for line in lines:
        for index, word in enumerate(line.operands):
            kind = table.kind(line, index)
            if kind.prefix and word not in names:
                names[word] = f"{kind.prefix}{counts.get(kind.prefix, 0)}"
                counts[kind.prefix] = counts.get(kind.prefix, 0) + 1
            elif kind.has_names:
                names[word] = re.sub(r"\s", "", word)
        op = PLAIN if table.ops[line.op]["plain"] else line.op
        operands = [names.get(word, "_") for word in line.operands]
        words.append(" ".join([op, *operands] + [f"lane{line.lane}"] * bool(line.lane)))
    return "; ".join(words)
