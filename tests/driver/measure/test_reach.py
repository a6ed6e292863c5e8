"""How often a mutant's patched lines ran: the patch, llvm-cov's counts, and the words."""

import pytest

from slotfuzz.measure import reach
from slotfuzz.paths import ROOT
from slotfuzz.subject import catalogue

PATCH = """\
# origin: PyTorch #1
--- a/core/x.cc
+++ b/core/x.cc
@@ -10,4 +10,5 @@ int f() {
 int a;
-int b;
+int b = 1;
+int c = 2;
 int d;
@@ -30,3 +31,2 @@
 return a;
-check();
 return b;
--- a/core/y.h
+++ b/core/y.h
@@ -1 +1,2 @@
+int first;
 int second;
"""
LCOV = """\
SF:core/x.cc
DA:10,7
DA:11,5
DA:12,6
DA:13,9
end_of_record
SF:/checkout/core/y.h
DA:1,3
DA:2,4
end_of_record
"""


def test_patched_lines_are_those_added_and_what_follows_those_removed():
    assert reach.patched_lines(PATCH) == {"core/x.cc": {11, 12, 32}, "core/y.h": {1}}


@pytest.mark.parametrize("name", catalogue.mutant_names())
def test_each_patch_has_lines(name):
    patched = reach.patched_lines((ROOT / "mutants" / f"{name}.patch").read_text())
    assert patched and all(patched.values())


def test_counts_are_of_patched_lines_with_code():
    assert reach.counts_of(LCOV, reach.patched_lines(PATCH)) == [5, 6, 3]
    assert reach.counts_of(LCOV, {"core/z.cc": {11}}) == []


@pytest.mark.parametrize("counts, words", [
    ({}, "its patched lines never ran in 40 programs of its hunt"),
    ({"resize": 1200, "end": 1}, "its patched lines ran 1,201 times in 40 programs of its hunt:"
                                 " resize 1,200, end 1"),
    ({f"op{number}": 1 for number in range(8)},
     "its patched lines ran 8 times in 40 programs of its hunt:"
     " op0 1, op1 1, op2 1, op3 1, op4 1, op5 1 and 2 more ops"),
])
def test_words(counts, words):
    assert reach.Reach(40, counts).words() == words


def test_where_nothing_ran_nothing_is_said_of_the_patch():
    assert reach.Reach(0, {}).words() == "its hunt kept no program"
