"""Finds the programs that a crash needs if the last program alone does not repeat it.

The flight recorder holds the last programs of the process that died; a predicate runs sequences.
"""

from collections.abc import Callable

Fails = Callable[[list[str]], bool]


def shortest_sequence(programs: list[str], fails: Fails) -> list[str]:
    """The shortest sequence found that fails when run in order in one fresh process.

    The search doubles a suffix until it fails, then removes programs that are not needed. The
    result is empty if all PROGRAMS together do not fail.
    """
    length = 1
    while not fails(programs[-length:]):
        if length >= len(programs):
            return []
        length = min(2 * length, len(programs))
    kept = programs[-length:]
    size = len(kept) // 2
    while size:
        begin = 0
        while begin < len(kept):
            rest = kept[:begin] + kept[begin + size:]
            if rest and fails(rest):
                kept = rest
            else:
                begin += size
        size //= 2
    return kept
