"""The three kinds of error, never mixed: the input is bad, the machine is, or we are.

Beside them: what was killed by something outside, and what the user ended.
"""


class UserError(Exception):
    """The user's input is bad: the text says what, where and what to do. Exit code 2."""


class MachineError(Exception):
    """A tool is missing, a disk is full, a build fails: one line. Exit code 2."""


class KilledError(Exception):
    """Something outside killed PROCESS, one of ours; kills.py does its work again."""

    def __init__(self, process: str):
        super().__init__(f"{process} was killed")
        self.process = process


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM, whose NUMBER the exit code tells: 130 or 143 if nothing was found."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


class BrokenError(Exception):
    """The harness itself is wrong: an oracle is silent, the engine breaks its protocol. Exit 3."""


def nearest(word: str, known: list[str]) -> str:
    """The end of a message for an unknown word: the names that look like it, or all names."""
    import difflib

    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + (", ".join(sorted(known)) or "none")
