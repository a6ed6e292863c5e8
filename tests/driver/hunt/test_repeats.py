"""Crashes that are not judged, because their stack was known each time."""

import pytest

from slotfuzz.hunt.repeats import KNOWN_MAX, Repeats, words_of

REPORT = ("slotfuzz: crash: SEGV on address 0x38\n"
          "    #0 0x7f in at::native::set_(at::Tensor&) (/lib/libtorch_cpu.so.2.6+0x2)\n")


def judged_of(words, count, is_new):
    """The numbers of the crashes that are judged, of COUNT crashes with the signature WORDS."""
    repeats, judged = Repeats(), []
    for number in range(1, count + 1):
        if repeats.is_due(words):
            judged.append(number)
            repeats.judged(words, is_new(number))
    return judged


def test_a_stack_that_is_always_known_is_judged_ever_more_rarely():
    assert judged_of("a", 100, lambda _: False) == [*range(1, KNOWN_MAX + 1), 4, 8, 16, 32, 64]


def test_a_new_finding_makes_its_stack_due_again():
    assert judged_of("a", 20, lambda number: number == 8) == [1, 2, 3, 4, 8, 9, 10, 11, 16]


@pytest.mark.parametrize("words, is_new", [("", False), ("a", True)])
def test_a_crash_without_a_stack_or_with_new_findings_is_always_judged(words, is_new):
    assert judged_of(words, 10, lambda _: is_new) == [*range(1, 11)]


def test_one_stack_hides_no_other():
    repeats = Repeats()
    for _ in range(KNOWN_MAX + 2):
        repeats.is_due("a")
        repeats.judged("a", False)
    assert not repeats.is_due("a") and repeats.is_due("b")


@pytest.mark.parametrize("report, words", [
    (REPORT, "signal SIGSEGV in at::native::set_"), ("", "")])
def test_the_words_of_a_crash_are_those_of_its_report(report, words):
    assert words_of(report) == words
