"""What identifies a bug beyond its rule: longer programs, shapes, and what is kept in repro/."""

from dataclasses import replace

import pytest

from slotfuzz.finding import finding
from slotfuzz.paths import ROOT
from slotfuzz.schema.record import CRASH, JUDGE, OUTSIDE, DedupKey
from slotfuzz.triage import dedup, program_shape
from tests.driver.triage.cases import HERMETIC, TABLE, TAGGED, lines_of

LINES = {name: (tuple(words.split()),) for name, words in {
    "new": "new s0", "weak": "weak c0 s0", "make": "make s0", "odd": "odd_new s0"}.items()}


@pytest.mark.parametrize("key, known, same", [
    (["new", "weak"], ["new"], True), (["new", "weak"], ["weak"], True),
    (["new"], ["new", "weak"], False), (["weak", "new"], ["new", "weak"], False),
    (["new"], [], True), ([], ["new"], False),
    # The op that makes an object is irrelevant if it is a plain one.
    (["odd", "weak"], ["make", "weak"], True), (["weak", "make"], ["make"], False)])
@pytest.mark.parametrize("verdict", [DedupKey(JUDGE, "P1", "identity"),
                                     DedupKey(CRASH, functions=("wrap",))])
def test_a_longer_program_for_the_same_verdict_is_the_same_bug(verdict, key, known, same):
    longer, shorter = (replace(verdict, lines=sum((LINES[name] for name in names), ()))
                       for names in (key, known))
    assert dedup.is_same(longer, shorter) == same
    assert not dedup.is_same(replace(longer, functions=("other",)), shorter)


@pytest.mark.parametrize("verdict", [DedupKey(CRASH), DedupKey(OUTSIDE)])
def test_wherever_it_crashes_no_longer_program_matches(verdict):
    shorter = replace(verdict, lines=LINES["new"])
    assert not dedup.is_same(replace(verdict, lines=LINES["new"] + LINES["weak"]), shorter)
    assert dedup.is_same(shorter, shorter)


def test_a_crash_follows_from_a_broken_promise_by_its_mechanisms_and_inside_of_memory():
    hermetic, plain = lines_of(HERMETIC), lines_of(TAGGED)
    dangling, promise = (frozenset([DedupKey(kind)]) for kind in (CRASH, JUDGE))
    outside = frozenset([DedupKey(OUTSIDE, lines=LINES["new"])])
    assert dedup.follows(dangling, hermetic, promise, hermetic, TABLE)
    assert dedup.follows(dangling, hermetic, promise, plain, TABLE)
    assert not dedup.follows(dangling, plain, promise, hermetic, TABLE)
    assert not dedup.follows(outside, plain, promise, plain, TABLE)
    assert dedup.follows(outside, plain, promise | outside, plain, TABLE)


@pytest.mark.parametrize("first, second, same", [
    (["t0 = T.ones(1)", "del t0"], ["t0 = T.ones(4)", "del t0"], True),
    (["t0 = T.ones(1)", "del t0"], ["t3 = T.ones(1)", "del t3"], True),
    (["t0 = T.ones(1)", "t1 = T.ones(1)", "del t0"],
     ["t0 = T.ones(1)", "t1 = T.ones(1)", "del t1"], False),
    (["t0 = T.ones(1)", "del t0"], ["t0 = T.ones(1)", 'lane(1, "del t0")'], False),
    # Another value of a variable is another object.
    (["t0 = T.ones(1)", "del t0", "t0 = T.ones(1)"],
     ["t0 = T.ones(1)", "del t0", "t1 = T.ones(1)"], True),
])
def test_a_shape_forgets_values_and_names(first, second, same):
    shapes = [program_shape.shape(lines_of(texts), TABLE) for texts in (first, second)]
    assert (shapes[0] == shapes[1]) == same


@pytest.mark.parametrize("text, name", [
    ("t0.sum().backward()", "backward"), ("t0.tag = 0", ""), ("del s0", ""),
    ("t0 = T.empty(0, dtype=T.uint8).set_(s0)", "set_"),
    ("f0 = t1.register_hook(hook_of(t0)).remove", "register_hook"),
    ("t1.register_hook(hook_of(t0))", "register_hook"), ("s1 = copied(s0)", "copied"),
    ("t0.grad_fn._register_hook_dict(T.ones(1))", "_register_hook_dict"),
    ("with T.no_grad(): t0.add_(1)", "add_"), ("with hermetic(): t0 = t1.grad", ""),
    ("T.from_dlpack(T.empty(0))", "from_dlpack")])
def test_of_calls_within_calls_the_last_of_the_outermost_counts(text, name):
    assert program_shape.last_call(text) == name


def test_the_findings_in_torch_are_the_causes_that_they_were():
    """Folders of repro/ with a key in common have one cause; a line of causes.txt is one cause."""
    folders = sorted((ROOT / "repro").glob("**/torch-*/*/finding.json"))
    cause_of = {}
    for path in folders:
        name = f"{path.parent.parent.name}/{path.parent.name}"
        keys = finding.load(path.parent).keys
        assert keys, name
        met = {name}.union(*(names for names, known in cause_of.values() if known & keys))
        joined = keys.union(*(known for _, known in cause_of.values() if known & keys))
        cause_of |= {one: (met, joined) for one in met}
    causes = sorted({" ".join(sorted(names)) for names, _ in cause_of.values()})
    assert causes == (ROOT / "tests/golden/causes.txt").read_text().splitlines()


@pytest.mark.parametrize("one, other, same", [
    ("make t0; collect; weak c0 t0", "make t0; weak c0 t0; collect", False),
    ("make s0; list l0 s0; weak c0 s0", "make s0; weak c0 s0; list l0 s0", False),
    ("make s0; odd t0; list l0 s0", "make s0; list l0 s0; odd t0", True),
    ("odd t0; view t1 t0; odd t2; list l0 t2", "odd t0; odd t1; list l0 t1; view t2 t0", True),
    ("odd t0; view t1 t0; odd t2; list l0 t1", "odd t0; odd t1; list l0 t1; view t2 t0", False),
    ("odd t0 lane1; make s0", "make s0; odd t0 lane1", False)])
def test_lines_without_a_common_object_may_change_places(one, other, same):
    keys = [DedupKey(CRASH, lines=tuple(tuple(line.split()) for line in words.split("; ")))
            for words in (one, other)]
    assert dedup.is_same(*keys) == same
