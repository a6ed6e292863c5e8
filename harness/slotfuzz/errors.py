"""The kinds of errors: bad input, a problem of the machine, and a bug of the harness.

Two more exceptions say that something outside killed a process, and that the user interrupted.
"""

NAMES_SHOWN_MAX = 20  # a line of more is not read


class UserError(Exception):
    """The user's input is bad: the text says what, where and what to do. Exit code 2."""


class MachineError(Exception):
    """A tool is missing, a disk is full, a build fails: one line. Exit code 2."""


class KilledError(Exception):
    """Something outside killed our process PROCESS; kills.py repeats its work."""

    def __init__(self, process: str):
        super().__init__(f"{process} was killed")
        self.process = process


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM; the exit code is 128 + NUMBER if nothing was found."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


class BrokenError(Exception):
    """The harness is wrong, such as an oracle that reports nothing. Exit code 3."""


def nearest(word: str, known: list[str]) -> str:
    """The end of a message on an unknown word: similar names, or the first NAMES_SHOWN_MAX."""
    import difflib

    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    shown = sorted(known)[:NAMES_SHOWN_MAX]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return "known: " + (", ".join(shown) or "none") + more
