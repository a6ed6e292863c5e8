"""The table of reasons for differences, as it is."""

import tomllib
from fnmatch import fnmatchcase

from slotfuzz.measure.differences import read_reasons
from slotfuzz.paths import ROOT


def test_the_table_of_reasons_can_be_read():
    reasons = read_reasons(ROOT / "bench" / "differential.toml")
    assert reasons and all(one.why and one.place and one.patterns for one in reasons)
    assert len({one.name for one in reasons}) == len(reasons)
    for one in reasons:
        assert all(":" in pattern for pattern in one.patterns), f"no list of effects: {one}"


def test_the_reasons_speak_of_ops_that_there_are():
    tables = (tomllib.loads(path.read_text()) for path in (ROOT / "ops").glob("*.ops"))
    ops = {"end"}.union(*(rows for table in tables for rows in table.values()))
    for reason in read_reasons(ROOT / "bench" / "differential.toml"):
        for pattern in (*reason.after, *(one.partition(":")[0] for one in reason.patterns)):
            of_op = pattern.partition(" ")[0]
            assert any(fnmatchcase(op, of_op) for op in ops), f"{reason.name}: no op is {pattern}"
