"""What `interleave` prints: a row for each question that it asks, and a schedule as a table."""

from collections.abc import Callable, Iterable

from slotfuzz.console import table


def ask_each(
    questions: Iterable, ask: Callable[..., dict], output, head: list[str],
    cells: Callable[[dict], list],
) -> list[dict]:
    """The rows that ASK gives for QUESTIONS, until the user interrupts; printed, CELLS below HEAD.
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
        output.text("interrupted: what is not in the table was not finished")
    output.document(rows)
    return rows


def table_text(rows: list[dict]) -> str:
    """A schedule as a table: step, thread, line, location, operation, value, stale or not.

    Without a thread: what is looked at when all have ended.
    """
    cells = [[row["step"] or "", row["thread"] if row["thread"] >= 0 else "", row["line"],
              row["location"], row["operation"], row["value"], "stale" if row["stale"] else "",
              row["note"]] for row in rows]
    return table(cells, ["step", "thread", "line", "location", "operation", "value", "", ""])
