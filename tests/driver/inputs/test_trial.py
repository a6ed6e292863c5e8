"""How a run of a restored script ended, and the words that --check looks for."""

import re

import pytest

from slotfuzz.finding.failure import ending
from slotfuzz.inputs.trial import Failure, failure_of

RAISED = """\
slotfuzz says something first
Traceback (most recent call last):
  File "x.py", line 1, in <module>
    f()
"""


@pytest.mark.parametrize("code, words, failure", [
    (0, "", None), (None, "", Failure("hang")), (-11, "", Failure("signal", "SIGSEGV")),
    (1, RAISED + "RuntimeError: shapes (10x4000 and 4001x2) at 0x7f00ab\nmore\n",
     Failure("exception", "RuntimeError", "shapes (#x# and #x#) at 0x#")),
    (1, RAISED + "a.b.Odd\n", Failure("exception", "a.b.Odd")),
    (1, RAISED + "ValueError: 0.5 is < 1\n", Failure("exception", "ValueError", "# is < #")),
    (3, "nothing", Failure("exit", "3")),
])
def test_how_a_run_failed(code, words, failure):
    assert failure_of(code, words) == failure
    if failure and code is not None:
        said = f"{words}\n{ending(code)}"
        assert re.search(failure.stated, said, re.MULTILINE)


@pytest.mark.parametrize("words", ["ValueError: x is < 1", "KeyError: 0.5 is < 1"])
def test_another_failure_is_not_stated(words):
    failure = failure_of(1, RAISED + "ValueError: 0.5 is < 1\n")
    assert not re.search(failure.stated, f"{RAISED}{words}\nexit code 1", re.MULTILINE)
    assert failure_of(1, RAISED + words) != failure
