"""The output of `interleave`: a row for each model that it runs, and a schedule as a table."""

from collections.abc import Callable, Iterable

from slotfuzz.console import table


def ask_each(
    questions: Iterable, ask: Callable[..., dict], output, head: list[str],
    cells: Callable[[dict], list],
) -> list[dict]:
    """Calls ASK with each of QUESTIONS until the user interrupts, and returns the rows.

    Prints CELLS of each row as a table with HEAD.
    """
    rows, interrupted = [], False
    for question in questions:
        try:
            rows.append(ask(question))
        except KeyboardInterrupt:
            interrupted = True
            break
    output.text(table([cells(row) for row in rows], head))
    if interrupted:
        output.text("interrupted: rows that are missing in the table were not finished")
    output.document(rows)
    return rows


def table_text(rows: list[dict]) -> str:
    """A schedule as a table: step, thread, line, location, operation, value, stale or not.

    Rows without a thread are the checks after all threads have ended.
    """
    cells = [[row["step"] or "", "" if row["thread"] is None else row["thread"], row["line"],
              row["location"], row["operation"], row["value"], "stale" if row["stale"] else "",
              row["note"]] for row in rows]
    return table(cells, ["step", "thread", "line", "location", "operation", "value", "", ""])
