"""Chooses and names the rows and bands of the picture of an ownership timeline."""

import itertools

from slotfuzz.finding.timeline import Row, Timeline
from slotfuzz.finding.timeline_legend import GRID, HERMETIC

# A reader cannot follow more rows; rows without a mark are left out first.
ROWS_MAX = 40
# A longer label is shortened; the <title> of its text has the whole label.
LABEL_CHARS_MAX = 34
CUT = "…"


def chosen(rows: tuple[Row, ...]) -> tuple[list[Row], int]:
    """At most ROWS_MAX rows, families with a mark first, and the number of rows left out."""
    marked = {row.family for row in rows if row.broken}
    ranked = sorted(range(len(rows)), key=lambda at: rows[at].family not in marked)[:ROWS_MAX]
    return [rows[at] for at in sorted(ranked)], len(rows) - len(ranked)


def all_names(row: Row, rows: list[Row]) -> str:
    """The variables of ROW: those of the object, or for an impl those of its wrappers in ROWS."""
    if row.role != "impl":
        return " ".join([row.role, *row.names])
    names = dict.fromkeys(name for one in rows for name in one.names
                          if one.family == row.family and one.role == "wrapper")
    return " ".join([row.role, *(["of", *names] if names else [])])


def names(rows: list[Row]) -> dict[int, str]:
    """A unique name for each of ROWS, by its id; rows with equal names are numbered."""
    short = {id(row): cut(all_names(row, rows), LABEL_CHARS_MAX) for row in rows}
    alike = {name: [key for key in short if short[key] == name] for name in short.values()}
    return {key: name if len(alike[name]) == 1 else f"{name} #{alike[name].index(key) + 1}"
            for key, name in short.items()}


def about(row: Row) -> str:
    """The address with the type or the size."""
    return f"{row.address:#x}" + (f" {row.about}" if row.about else "")


def runs(values) -> list[tuple[object, int, int]]:
    """(value, first index, length) of each run of equal values."""
    runs = []
    for value, group in itertools.groupby(values):
        runs.append((value, sum(length for *_, length in runs), len(list(group))))
    return runs


def plain(text: str) -> str:
    """The first line of TEXT without characters that XML forbids."""
    first = (text.splitlines() or [""])[0]
    return "".join(one if one.isprintable() else "?" for one in first)


def cut(text: str, chars_max: int) -> str:
    return text if len(text) <= chars_max else text[:chars_max - len(CUT)] + CUT


def strips(timeline: Timeline) -> list[tuple[str, list[str], str]]:
    """(name, word per column, colour) of the bands above the grid, without empty bands."""
    lanes = [f"lane {column.lane}" if column.lane else "main" for column in timeline.columns]
    modes = ["on" * column.hermetic for column in timeline.columns]
    found = []
    if any(column.lane for column in timeline.columns):
        found.append(("thread", lanes, GRID))
    if any(modes):
        found.append(("hermetic", modes, HERMETIC))
    return found
