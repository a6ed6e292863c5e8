"""Which snippets a script prints. tests/steps/language/test_prelude.py tests the snippets."""

import pytest

from slotfuzz.language import prelude
from slotfuzz.language.prelude import Snippet

SNIPPETS = [
    Snippet(("Base",), "", "a class", "class Base:\n    pass"),
    Snippet(("Child", "made"), "", "uses Base", "made = []\nclass Child(Base):\n    pass"),
    Snippet(("spoken",), "", "mentions mode, but not as a name", 'spoken = "mode".mode  # mode'),
    Snippet(("said",), "", "uses Base in an f-string", 'said = lambda: f"{Base} of"'),
    Snippet(("mode",), "torch", "by ctypes", "mode = 1"),
    Snippet(("mode",), "slotcore", "directly", "mode = 2"),
]


@pytest.mark.parametrize("code, names", [
    ("gc.collect()", []),
    ("s0 = Base(1)", [("Base",)]),
    ("spoken", [("spoken",)]),
    ("s0 = Child(1)", [("Base",), ("Child", "made")]),
    ("said()", [("Base",), ("said",)]),
    ("made.pop()", [("Base",), ("Child", "made")]),
    ("s0.modes", []),
])
def test_needed_snippets_include_what_they_use(code, names):
    assert [one.names for one in prelude.needed(SNIPPETS, code, "slotcore")] == names


@pytest.mark.parametrize("module, text", [("torch", "mode = 1"), ("slotcore", "mode = 2")])
def test_a_snippet_of_the_module_is_chosen(module, text):
    found = prelude.needed(SNIPPETS, "mode()", module)
    assert [snippet.text for snippet in found] == [text]
