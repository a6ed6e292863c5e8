"""Which snippets a script prints. tests/steps/language/test_prelude.py tests the snippets."""

import pytest

from slotfuzz.language import prelude
from slotfuzz.language.prelude import Snippet

SNIPPETS = [
    Snippet(("Base",), "", "class Base:\n    pass"),
    Snippet(("Child", "made"), "", "made = []\nclass Child(Base):\n    pass"),
    Snippet(("spoken",), "", 'spoken = "mode".mode  # mode'),
    Snippet(("said",), "", 'said = lambda: f"{Base} of"'),
    Snippet(("own",), "", "def own(Base, *mode):\n    made = mode\n    return Base, made"),
    Snippet(("noted",), "", "import sys\nnotes = []\ndef noted():\n    return notes\n"
            "def note(one):\n    notes.append(one)\nunused = sys\nsys.hook = note"),
    Snippet(("ended",), "", "ended = []\n@atexit.register\ndef end():\n    ended.clear()"),
    Snippet(("count",), "", "calls = 0\n# Counts.\ndef count():\n    global calls\n    calls = 1"),
    Snippet(("coded",), "", 'def coded():\n    run("Base", """\n        x.mode(spoken)""")'),
    Snippet(("mode",), "torch", "mode = 1"),
    Snippet(("mode",), "slotcore", "mode = 2"),
]
BASE, CHILD = (SNIPPETS[0].text, "class Child(Base):\n    pass")


@pytest.mark.parametrize("code, statements", [
    ("gc.collect()", []),
    ("s0 = Base(1)", [BASE]),
    ("spoken", [SNIPPETS[2].text]),
    ("s0 = Child(1)", [BASE, CHILD]),
    ("said()", [BASE, SNIPPETS[3].text]),
    ("made.pop()", ["made = []"]),
    ("own()", [SNIPPETS[4].text]),
    ("noted()", ["import sys", "notes = []", "def noted():\n    return notes",
                 "def note(one):\n    notes.append(one)", "sys.hook = note"]),
    ("notes", []),
    ("count()", ["calls = 0", SNIPPETS[7].text.partition("\n")[2]]),
    ("coded()", [SNIPPETS[2].text, SNIPPETS[8].text, "mode = 2"]),
    ("ended", ["ended = []", "@atexit.register\ndef end():\n    ended.clear()"]),
    ("s0.modes", []),
    ("s0.take('spoken')", []),
    ("lane(1, \"spoken('made')\")", [SNIPPETS[2].text]),
])
def test_needed_statements_include_what_they_use(code, statements):
    assert [one.text for one in prelude.needed(SNIPPETS, code, "slotcore")] == statements


@pytest.mark.parametrize("module, text", [("torch", "mode = 1"), ("slotcore", "mode = 2")])
def test_a_snippet_of_the_module_is_chosen(module, text):
    found = prelude.needed(SNIPPETS, "mode()", module)
    assert [statement.text for statement in found] == [text]
