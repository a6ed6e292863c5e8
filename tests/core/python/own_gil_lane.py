"""One lane of test_own_gil.py: the code that runs in an interpreter with its own GIL.

The runner puts `me`, `lanes`, `board` (a file descriptor), `path`, `handles` and `roots` before
this text, and the lane's own lines after it.
"""

import mmap
import os
import sys

sys.path[:] = path

import slotcore as T



class Board:
    """Words in memory that all interpreters share. Only one lane writes each word."""

    def __init__(self, descriptor):
        self.words = memoryview(mmap.mmap(descriptor, 0)).cast("Q")

    def meet(self, lane, count):
        """Returns when every lane has called this as often as this one."""
        self.words[lane] += 1
        for other in range(count):
            while self.words[other] < self.words[lane]:
                os.sched_yield()


BOARD = Board(board)


def meet():
    BOARD.meet(me, lanes)


def note(index, value):
    """Sends a number to the test, in this lane's part of the board."""
    BOARD.words[lanes + 1 + me * len(handles) + index] = value


def wrap_tensor(handle):
    """A wrapper, or None for the lane that lost the tag."""
    try:
        return T.Tensor._new_with_weak_ptr(handle)
    except RuntimeError as error:
        assert "already belongs to the Python interpreter" in str(error), error
        return None
