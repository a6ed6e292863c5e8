"""The three kinds of error, never mixed: the input is bad, the machine is, or we are."""


class UserError(Exception):
    """The user's input is bad: the text says what, where and what to do. Exit code 2."""


class MachineError(Exception):
    """A tool is missing, a disk is full, a build fails: one line. Exit code 2."""


class BrokenError(Exception):
    """The harness itself is wrong: an oracle is silent, the engine breaks its protocol. Exit 3."""


def nearest(word: str, known: list[str]) -> str:
    """The end of a message for an unknown word: the names that look like it, or all names."""
    import difflib

    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + (", ".join(sorted(known)) or "none")
