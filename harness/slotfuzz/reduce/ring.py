"""A crash that its last program alone does not repeat: which of the programs before it are needed.

Pure over a predicate; the flight recorder holds the last programs of the process that died.
"""

from collections.abc import Callable

Fails = Callable[[list[str]], bool]


def shortest_sequence(programs: list[str], fails: Fails) -> list[str]:
    """The shortest sequence found that fails when run in order in one fresh process.

    First the shortest suffix, by doubling, then without each program that is not needed. Empty
    when even all PROGRAMS together do not fail.
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
