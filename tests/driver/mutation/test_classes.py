"""bench/mutation.toml: its rows name sites, and the score counts what they say."""

import re

from slotfuzz.mutation import classes
from slotfuzz.mutation.site import code_mark
from slotfuzz.mutation.sweep import Outcome

NAME = re.compile(r"core/[\w/.]+\.(?:cc|h):[^:\s].*:[a-z-]+:[0-9a-f]{6}(\.\d+)?")


def test_every_row_names_code_that_is_there():
    rows = classes.read()
    assert rows
    assert {name for name, row in rows.items() if not classes.is_there(row)} == set()


def test_every_row_has_a_name_of_its_code_and_a_class_with_a_reason():
    for name, row in classes.read().items():
        assert NAME.fullmatch(name), name
        assert name.split(":")[-1].partition(".")[0] == code_mark(row.code), name
        assert row.kind in classes.CLASSES and len(row.reason) > 10, name


def test_a_row_of_code_that_is_gone_is_seen():
    row = classes.Survivor("core/c10/check.h::delete:000000", "no_such_code()", "no op", "")
    assert not classes.is_there(row)


def test_the_score_leaves_out_equivalent_mutants_only():
    row = classes.Survivor("a.cc:f:delete:000000", "f()", classes.EQUIVALENT, "")
    outcomes = [Outcome(row.mutant, 10, reached={"tensor": 1}), Outcome("b", 10, how="finding"),
                Outcome("c", 10, reached={"tensor": 1}), Outcome("d", 10),
                Outcome("x:weaker-order:1", 10, reached={"tensor": 1})]
    counted = classes.count(outcomes, {row.mutant: row})
    assert counted["score"] == 25.0
    assert (counted["equivalent"], counted["unreached"], counted["memory order"],
            counted["unclassified"]) == (1, 1, 1, 1)


def test_an_equivalent_mutant_that_was_killed_counts_as_killed():
    row = classes.Survivor("a", "f()", classes.EQUIVALENT, "")
    assert classes.kind_of(Outcome("a", 10, how="finding"), {"a": row}) == "finding"
