"""Which snippets a script prints, and what the prelude's asserts say."""

import ast
import re

import pytest

from slotfuzz.language import prelude
from slotfuzz.paths import ROOT

TEXT = '''\
"""Not a snippet."""

#: Base: a class
class Base:
    pass

#: Child, made: uses Base
made = []
class Child(Base):
    pass

#: spoken: says mode, and names none
spoken = "mode".mode  # mode

#: mode [torch]: by ctypes
mode = 1

#: mode [slotcore]: directly
mode = 2
'''
PARTS = [(ROOT / "harness/engine/prelude" / name).read_text()
         for name in ("storage.py", "tensor.py", "torch.py", "observations.py")]
# The binary has the further parts from their first markers on.
REAL = PARTS[0] + "".join(part[part.index("\n#: "):] for part in PARTS[1:])


def chosen(code, module="slotcore"):
    """Names of the snippets that CODE needs."""
    return [snippet.names for snippet in prelude.needed(prelude.parse(TEXT), code, module)]


@pytest.mark.parametrize("code, names", [
    ("gc.collect()", []),
    ("s0 = Base(1)", [("Base",)]),
    ("spoken", [("spoken",)]),
    ("s0 = Child(1)", [("Base",), ("Child", "made")]),
    ("made.pop()", [("Base",), ("Child", "made")]),
    ("s0.modes", []),
])
def test_closure(code, names):
    assert chosen(code) == names


@pytest.mark.parametrize("module, text", [("torch", "mode = 1"), ("slotcore", "mode = 2")])
def test_the_modules_own_snippet(module, text):
    found = prelude.needed(prelude.parse(TEXT), "mode()", module)
    assert [snippet.text for snippet in found] == [text]


def test_the_engines_prelude_loses_no_line():
    snippets = prelude.parse(REAL)
    kept = sum(len(snippet.text.splitlines()) for snippet in snippets)
    after = REAL[REAL.index("\n#: "):]
    code = [line for line in after.splitlines() if line and not line.startswith("#: ")]
    inner_blank = sum(snippet.text.splitlines().count("") for snippet in snippets)
    assert kept - inner_blank == len(code) > 0


def test_the_engines_snippets_are_python():
    for snippet in prelude.parse(REAL):
        compile(snippet.text, ",".join(snippet.names), "exec")


def test_each_assert_says_what_is_broken():
    """The judge takes other words for a refusal of other code's."""
    asserts = [node for part in PARTS for node in ast.walk(ast.parse(part))
               if isinstance(node, ast.Assert)]
    assert len(asserts) > 10
    words = [ast.unparse(node.msg).strip("f\"'") for node in asserts]
    assert [one for one in words if not re.match(r"[A-Z]\d: |memory: ", one)] == []
