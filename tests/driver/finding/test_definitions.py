"""A script contains what its program can reach of the prelude, and no more."""

import pytest

from slotfuzz.finding import definitions
from slotfuzz.language.prelude import Snippet

CLASSES = '''\
class Model:
    def __init__(self):
        self.start()
    def start(self):
        pass
    # Turns it.
    def turned(self):
        return self.row()
    def row(self):
        return 1
    @property
    def unused(self):
        return self.row()
class Wide(Model):
    size = 2
    def turned(self):
        return self.size
class Other(T.Function):
    def forward(ctx):
        pass
def check(step):
    return getattr(Wide(), step)(), Other
'''
TABLES = '''\
def one(row):
    return 1
def other(row):
    return rows["one"]
def third(row):
    return "other"
rows = {  # a comment
    "one": one, "other": other,
    "two words": third,
}
listed = {"one": one, "third": third}
names = list(listed)
def check(name):
    return rows.get(name)
def check_all():
    return names
'''
ADDED = '''\
added = {"one": 1}
added["other"] = 2
def check(name):
    return added[name]
'''
ODD = '''\
rows = {"2": 1, "a-b": 2, "c": 3, "d-e": 4}
def check(name):
    return rows[name], rows["d-e"]
'''


@pytest.mark.parametrize("text, code, kept, gone", [
    (CLASSES, "check('turned')", ["def start", "def row", "# Turns", "size = 2", "def forward"],
     ["unused", "@property"]),
    (CLASSES, "check('start')", ["def start", "size = 2"],
     ["turned", "unused", "@property", "def row", "# Turns"]),
    (TABLES, "check('one')", ['    "one": one, }', "def one"],
     ["other", "third", "two words", "listed"]),
    (TABLES, "check('other')", ['"one": one, "other": other,\n    }', "def one", "def other"],
     ["third"]),
    (TABLES, "lane(1, \"check('two words')\")", ['"two words": third', "def third", "other"], []),
    (TABLES, "rows", ["one", "other", "two words", "def third"], ["listed"]),
    (TABLES, "check_all()", ['listed = {"one": one, "third": third}'], ["two words"]),
    (ODD, "check('2')", ['"2": 1', '"d-e": 4'], ["a-b", '"c"']),
    (ODD, "check('a-b')", ['"a-b": 2', '"d-e": 4'], ['"2"', '"c"']),
    (ADDED, "check('other')", ['"one": 1', 'added["other"] = 2'], []),
])
def test_members_that_nothing_names_are_left_out(text, code, kept, gone):
    snippet = Snippet(("check", "check_all", "rows"), "", text)
    found = definitions.reached([snippet], code, "slotcore")
    compile(found, "definitions", "exec")
    assert [one for one in kept if one not in found] == [], found
    assert [one for one in gone if one in found] == [], found


def test_a_class_keeps_a_part():
    snippet = Snippet(("Held",), "", "class Held:\n    def unused(self):\n        pass")
    assert definitions.reached([snippet], "Held()", "") == snippet.text
