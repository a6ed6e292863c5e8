"""What remains of a script from a line on: script text before, lines after."""

import pytest

from slotfuzz.errors import UserError
from slotfuzz.inputs import script

PLAIN = """\
import torch
from math import pi

def area(r):
    return pi * r

n = 3
a = torch.ones(n)
b = area(a); c = b + 1
print(a,
      b)
"""
NESTED = """\
import torch
a = torch.ones(3)
with torch.no_grad():
    b = a.view(3)
    b.add_(1)
for x in range(3):
    if x == 1:
        continue
    try:
        a.add_(x)
        a.mul_(x)
    except RuntimeError:
        print("no")
print(a)
"""
FUNCTION = '''\
import torch

def step(a, n):
    import math
    b = a * n
    if n:
        b.add_(math.pi)
    text = """
    kept"""
    return b.sum()

def early(a):
    b = a + 1
    if b.sum() > 3:
        return b
    return a

step(torch.ones(3), 2)
early(torch.ones(3))
'''


def texts(source: str, line: int) -> list[str]:
    """The lines that remain."""
    return [one.text for one in script.rest_from(source, line, "x.py").lines]


@pytest.mark.parametrize("source, line, rest", [
    (PLAIN, 9, ["b = area(a)", "c = b + 1", "print(a,\n      b)"]),
    (PLAIN, 10, ["print(a,\n      b)"]),
    (NESTED, 5, ["with torch.no_grad():\n    b.add_(1)",
                 NESTED[NESTED.index("for"):NESTED.index("print(a)") - 1], "print(a)"]),
    (NESTED, 7, ["for _ in (0,):\n    if x == 1:\n        continue\n    try:\n        a.add_(x)\n"
                 "        a.mul_(x)\n    except RuntimeError:\n        print(\"no\")", "print(a)"]),
    (NESTED, 8, ["for _ in (0,):\n    continue\n    try:\n        a.add_(x)\n        a.mul_(x)\n"
                 "    except RuntimeError:\n        print(\"no\")", "print(a)"]),
    (NESTED, 11, ["try:\n    a.mul_(x)\nexcept RuntimeError:\n    print('no')", "print(a)"]),
    (NESTED, 13, ['print("no")', "print(a)"]),
    (FUNCTION, 6, ["if n:\n    b.add_(math.pi)", "text = '\\n    kept'", "b.sum()"]),
])
def test_the_rest_of_a_script(source, line, rest):
    assert texts(source, line) == rest


def test_what_was_there_before_is_kept():
    rest = script.rest_from(PLAIN, 9, "x.py")
    assert [one.text.splitlines()[0] for one in rest.before] == [
        "import torch", "from math import pi", "def area(r):"]
    rest = script.rest_from(FUNCTION, 5, "x.py")
    assert [one.text.splitlines()[0] for one in rest.before] == [
        "import torch", "def step(a, n):", "def early(a):", "import math"]


def test_a_return_within_the_rest_needs_a_function():
    assert script.rest_from(FUNCTION, 14, "x.py").function == "early"
    assert script.rest_from(FUNCTION, 5, "x.py").function == ""


def test_names_are_those_that_lines_read_and_bind():
    (one,) = script.statements("a[0], b = f(c); ".rstrip("; "))
    assert one.reads == {"a", "f", "c"} and one.binds == {"b"}
    (one,) = script.statements("a += 1")
    assert "a" in one.reads and "a" in one.binds
    (one,) = script.statements("import os.path as place, sys")
    assert one.binds == {"place", "sys"}


@pytest.mark.parametrize("source, line, words", [
    (PLAIN, 3, "did you mean 2 (`from math import pi`) or 4 (`def area(r):`)"),
    (PLAIN, 11, "did you mean 10"), (PLAIN, 99, "has 11 lines and no line 99"),
    (PLAIN, 0, "no line 0"), ("# nothing\n", 1, "has no statement"),
    ("a = (\n", 1, "x.py, line 1"),
    ("class A:\n    n = 1\n", 2, "in the body of class A"),
])
def test_a_line_without_a_statement_is_an_error(source, line, words):
    with pytest.raises(UserError) as caught:
        script.rest_from(source, line, "x.py")
    assert words in str(caught.value)
