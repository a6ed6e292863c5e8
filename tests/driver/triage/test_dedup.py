"""Dedup rules: pairs of findings, whether each pair is one bug, and the rule that decides."""

from dataclasses import replace

import pytest

from slotfuzz.evidence.signature import of_reply
from slotfuzz.paths import ROOT
from slotfuzz.schema.record import ERROR, JUDGE, DedupKey
from slotfuzz.triage import dedup, program_shape
from slotfuzz.triage.dedup import Outside
from tests.driver.triage.cases import (
    COLLECTED, HERMETIC, SHOWN, TAGGED, asserted, broken, case, crash, leak, lines_of, one_bug, out,
    said,
)

# By the rule that makes the keys of the first finding: two findings, and whether they are one bug.
EXAMPLES = [
    ("by_words", said("SystemError: bad 7"), said("SystemError: bad 12"), True),
    ("by_words", said("SystemError: bad"), said("SystemError: worse"), False),
    ("by_words", asserted("level"), asserted("level", "other_file"), True),
    ("by_words", asserted("level"), asserted("it != end()"), False),
    # `false` names no condition: then the place or the message distinguishes bugs.
    ("by_words", asserted("false"), asserted("false", "other_file"), False),
    ("by_words", asserted("false", "a", " No x."), asserted("false", "b", " No x."), True),
    ("by_words", asserted("false", "a", " No x."), asserted("false", "a", " No y."), False),

    ("by_outside", out("s0.tag = 0", functions=["f"]), out("s0.tag = 0", functions=["g"]), True),
    ("by_outside", out("s0.tag = 0"), out('lane(1, "s0.tag = 0")'), True),
    ("by_outside", out("s0.tag = 0"), out(SHOWN), False),
    ("by_outside", out("s0.tag = 0"), crash([*TAGGED, SHOWN]), False),
    ("by_outside", out("s0.tag = 0"),
     case(TAGGED, outside=Outside(lines_of(["s0.tag = 0"])[0], False)), True),
    ("by_outside", out("s1.resize_(4)"), out("empty_it"), True),
    ("by_outside", out("s0.tag = 0", raised=True), out(SHOWN, raised=True), True),
    ("by_outside", out("s0.tag = 0", raised=True), out("s0.tag = 0"), False),
    # Many functions refuse to allocate too much memory; a release may have fixed one of them.
    ("by_outside", out("t1.resize_(huge)", raised=True), out(SHOWN, raised=True), False),

    ("by_mechanism", broken(HERMETIC, "P2"), broken(HERMETIC[2:], "P2", "type"), True),
    ("by_mechanism", broken(HERMETIC, "P2"), broken(COLLECTED, "P2"), False),
    ("by_mechanism", broken(HERMETIC, "P2"), broken(HERMETIC, "P4"), False),
    ("by_mechanism", broken(HERMETIC, "P2"), broken(HERMETIC, "P2", kind="tensor"), False),
    ("by_mechanism", broken(COLLECTED, "P4"), broken([*COLLECTED, "note"], "P4"), True),
    ("by_mechanism", broken([*COLLECTED, "note"], "P4"), broken(COLLECTED, "P4"), False),
    ("by_mechanism", broken(HERMETIC, "P3", "early", implies=["finalizes"]),
     broken(["s1 = Finalized(1)", *HERMETIC], "P3", "early", implies=["finalizes"]), True),

    ("by_lines", broken([*TAGGED, SHOWN], "P2"),
     broken(["t1 = T.ones(4)", "s2 = t1.untyped_storage()", "s2.tag = 7", "del s2",
             "s1 = t1.untyped_storage()"], "P2", "identity"), True),
    ("by_lines", broken([*TAGGED, SHOWN], "P2"), broken([*TAGGED, SHOWN], "P2", "type"), False),
    ("by_lines", broken(HERMETIC, "P7", "use count"),
     broken(TAGGED, "P7", "use count"), False),
    ("by_lines", leak("t0 = T.ones(1)", SHOWN, "s0.tag = 0"),
     leak("enter_hermetic()", SHOWN, "s0.tag = 0"), True),
    ("by_lines", leak("t0 = T.ones(1)", SHOWN, "s0.tag = 0"), leak("t0 = T.ones(1)", SHOWN), False),

    ("by_function", crash(["t0 = T.ones(1)", "del t0"], "f", "g"),
     crash(["t0 = T.ones(1)", SHOWN], "f", "h"), True),
    ("by_function", crash(["t0 = T.ones(1)", "del t0"], "f"),
     crash(["t0 = T.ones(1)", SHOWN], "g"), False),
    ("by_function", crash(["T.f(7)"], "a.so+0x1"), crash([*TAGGED, "T.f(t0)"], "a.so+0x2"), True),
    ("by_function", crash(["T.f(7)"], "a.so+0x1"), crash([*TAGGED, "T.g(t0)"], "a.so+0x2"), False),

    ("by_dangling", crash(HERMETIC, "wrap"), crash([*HERMETIC[:5], "s0.nbytes()"], "grad"), True),
    ("by_dangling", crash(HERMETIC, "wrap"),
     crash(["t0 = T.ones(1)", "enter_hermetic()", "del t0", "exit_hermetic()", "t1 = T.ones(1)"],
           "wrap"), False),
    ("by_dangling", crash(HERMETIC, "wrap"), crash([*TAGGED, SHOWN], "wrap"), False),

    # A function that a line calls by name may crash on anything.
    ("by_crash", crash([*HERMETIC[:5], "T.f(t0)"], "f"),
     crash([*HERMETIC[:2], "s0.nbytes()", *HERMETIC[2:]], "f"), False),
    ("by_crash", crash([*TAGGED, SHOWN], "f"), crash([*TAGGED, "del t0"], "c10::g"), True),
    ("by_crash", crash([*TAGGED, SHOWN], "f"),
     crash(["t0 = T.empty(4)", *TAGGED[1:], SHOWN], "g"), True),
    ("by_crash", crash([*TAGGED, SHOWN], "f"),
     crash(["t0 = Sub(4)", *TAGGED[1:], SHOWN], "g"), False),
    ("by_crash", crash([*TAGGED, SHOWN], "wrap"),
     crash([*TAGGED[:2], "s0.nbytes()", *TAGGED[2:], SHOWN], "wrap"), True),
    ("by_crash", crash([*COLLECTED[:5], "s0.nbytes()"], "f"), crash([*COLLECTED[3:], SHOWN], "f"),
     True),
    # One line that crashes in one place is one bug, after any other lines ..
    ("by_crash", crash([*TAGGED, "t0 = T.ones(1)"], "f", "g"),
     crash(["t0 = T.ones(1)", SHOWN, "del s0", "t0 = T.ones(4)"], "f", "g"), True),
    ("by_crash", crash([*TAGGED, "t0 = T.ones(1)"], "f", "g"),
     crash(["t0 = T.ones(1)", SHOWN, "del s0", "t0 = T.ones(4)"], "f", "h"), False),
    # .. except in functions that access the state that any line has left.
    *(("by_crash", crash([*TAGGED, "t0 = T.ones(1)"], place),
       crash(["t0 = T.ones(1)", SHOWN, "del s0", "t0 = T.ones(4)"], place), False)
      for place in ("at::native::fill_", "c10::add", "libtorch_cpu.so.1.13+0x1")),
    # These functions count all objects.
    ("by_crash", crash(["t0 = T.ones(1)", "del t0"], "c10::intrusive_ptr::reset_"),
     crash(["t0 = T.ones(1)", SHOWN], "c10::intrusive_ptr::reset_"), False),
]


@pytest.mark.parametrize("rule, first, second, same", EXAMPLES)
def test_two_findings_are_one_bug_or_two(rule, first, second, same):
    assert one_bug(first, second) == same
    assert next(one for one in dedup.RULES if one(first) is not None).__name__ == rule


def test_each_rule_has_an_example_of_one_bug_and_of_two():
    kinds = {(rule, same) for rule, _, _, same in EXAMPLES}
    assert kinds == {(rule.__name__, same) for rule in dedup.RULES for same in (True, False)}


def test_the_rules_are_reported_in_the_first_lines_of_their_module():
    rules = [line.split()[0] for line in dedup.__doc__.splitlines() if line.startswith("    by_")]
    assert rules == [rule.__name__ for rule in dedup.RULES]


@pytest.mark.parametrize("name", ["buckets", "dedup", "program_shape", "shared", "smallest"])
def test_no_sentence_of_ours_is_read_back(name):
    text = (ROOT / f"harness/slotfuzz/triage/{name}.py").read_text()
    assert "import re\n" not in text and ".startswith(" not in text.replace('word.startswith(', "")


def test_mechanisms_are_effects_of_the_engine():
    text = (ROOT / "harness/engine/language/effects.h").read_text()
    words = program_shape.MECHANISMS | {*program_shape.SAME} | {
        "shrinks", "raises", "exceeds_memory", "dangles"}
    assert all(f'"{word}"' in text for word in words)


def test_what_the_prelude_checks_is_what_the_judge_checks():
    seen = case([*COLLECTED, "check_grad()"], kind="exception", contract="P2", object="tensor",
                message="AssertionError: P2: it is lost", check="check_grad", keeps=True)
    assert one_bug(broken(COLLECTED, "P2", kind="tensor"), seen)
    assert not one_bug(broken(COLLECTED, "P2"), seen)


def test_a_line_on_a_lane_is_another_thread():
    there = [*TAGGED[:3], 'lane(1, "del s0")', SHOWN]
    assert one_bug(broken(there, "P2"), broken([*there, "s0.nbytes()"], "P2"))
    assert not one_bug(broken([*TAGGED, SHOWN], "P2"), broken(there, "P2"))


def test_a_known_error_is_reported_by_its_words_and_a_broken_promise_is_not():
    words = said("RuntimeError: 7 failed at 0x7f01, please report")
    assert dedup.error(words.reply, words.words) == \
        "RuntimeError: N failed at ADDRESS, please report"
    promise = replace(words.reply, contract="P2")
    assert dedup.error(promise, of_reply(promise)) == ""
    assert dedup.keys(words) == {DedupKey(ERROR, words=words.words.text)}


def test_a_check_of_another_name_is_another_finding():
    key = DedupKey(JUDGE, contract="A7", check="check_f", lines=(("check_f", "T.f", "t0"),))
    other = replace(key, lines=(("check_f", "T.g", "t0"),))
    assert not dedup.is_same(other, key)
    # Of another op than the check, the name does not matter.
    made = (("function", "T.f", "t0"),)
    assert dedup.is_same(replace(key, lines=(("function", "T.g", "t0"), *key.lines)),
                         replace(key, lines=(*made, *key.lines)))
    assert dedup.is_same(replace(key, lines=(*made, ("check_f", "T.f", "t1"))), key)
