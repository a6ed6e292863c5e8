"""Crashes of a hunt that need no verdict, because their stack was known each time.

A hunt steers around the minimal programs of a bug, and PyTorch has bugs with dozens of them: each
costs the judge seconds, in which the job does not fuzz.
"""

from collections import Counter

from slotfuzz.evidence import signature

# A stack that was known so often in a row is judged at its 1st, 2nd, 4th, 8th .. crash only.
KNOWN_MAX = 3


def words_of(report: str) -> str:
    """The signature of REPORT, of a process that crashed; empty if it has none."""
    words = signature.of_stderr(report)
    return words.text if words else ""


class Repeats:
    """Decides which crashes get a verdict, by the signature of their report."""

    def __init__(self):
        self._seen: Counter[str] = Counter()
        self._known: Counter[str] = Counter()

    def is_due(self, words: str) -> bool:
        """Whether a crash with the signature WORDS gets a verdict; counts it as seen.

        A crash without a signature always does.
        """
        self._seen[words] += 1
        seen = self._seen[words]
        return not words or self._known[words] < KNOWN_MAX or seen & (seen - 1) == 0

    def judged(self, words: str, is_new: bool) -> None:
        """A crash with the signature WORDS has its verdict."""
        self._known[words] = 0 if is_new else self._known[words] + 1
