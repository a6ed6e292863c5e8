"""Signatures are equal for the same bug and different for different bugs."""

import re

import pytest

from slotfuzz.evidence import signature
from slotfuzz.finding import explain
from slotfuzz.triage import verify
from tests.driver.fake_slotcore import REPORT
from tests.driver.replies import reply

RACE = """\
==================
WARNING: ThreadSanitizer: data race (pid=123)
  Write of size 8 at 0x7b0400000800 by thread T1:
    #0 std::atomic<int>::store(int) /usr/include/c++/12/bits/atomic_base.h:464:2 (storage+0x1)
    #1 c10::(anonymous namespace)::claim<int>(c10::Slot<int>&) const core/c10/slot.cc:20:3 (st+0x2)
"""


def test_addresses_and_line_numbers_do_not_matter():
    first = REPORT.format(read=0x602000000010, begin=0x602000000000, end=0x602000000040)
    second = re.sub(r":137:9", ":140:2", first.replace("0x6020", "0x7fff").replace("4242", "7"))
    assert first != second
    assert signature.of_stderr(first) == signature.of_stderr(second)
    assert signature.of_stderr(first).text == "sanitizer heap-use-after-free in slotcore::wrap"


def test_plumbing_frames_templates_and_arguments_are_left_out():
    assert signature.of_stderr(RACE).text == "sanitizer data-race in c10::claim"


def test_a_frame_without_a_line_number_is_a_frame():
    stack = ("    #0 0x1 in c10::drop(c10::Slot*) core/c10/slot.cc\n"
             "    #1 0x2 in c10::end(c10::Slot*) core/c10/slot.cc:9:1\n")
    assert signature.functions(stack) == ("c10::drop", "c10::end")


def test_another_function_or_bug_is_another_signature():
    text = REPORT.format(read=1, begin=1, end=2)
    assert signature.of_stderr(text) != signature.of_stderr(text.replace("::wrap", "::unwrap"))
    assert signature.of_stderr(text) != signature.of_stderr(
        text.replace("heap-use-after-free", "heap-buffer-overflow"))


@pytest.mark.parametrize("text, verdict", [
    ("core/a.cc:3:4: runtime error: load of null pointer of type 'int'\n",
     "sanitizer undefined-behavior"),
    ("Fatal Python error: _Py_NegativeRefcount: object at 0x1234 has 17\n",
     "fatal _Py_NegativeRefcount: object at ADDRESS has N"),
    ("slotfuzz: crash: BUS on address 0x7f\n",
     "signal SIGBUS"),
    ("slotfuzz: P5 live impls: 2 impls live on\n==1==ERROR: AddressSanitizer: ABRT on unknown\n",
     "judge P5 live impls"),
    ("==3== ERROR: libFuzzer: timeout after 25 seconds\n", "timeout"),
])
def test_other_reports(text, verdict):
    assert signature.of_stderr(text).verdict == verdict


CRASH_WITHOUT_SANITIZER = """\
slotfuzz: crash: SEGV on address 0x60e3
    #0 0x7f4adf38d894 in PyType_IsSubtype (/lib/x86_64-linux-gnu/libpython3.13.so.1.0+0x18d894)
    #1 0x7f4ad7345f13 in THPStorage_Wrap(c10::Storage) (/lib/libtorch_python.so.2.6+0x745f13)
    #2 0x7f4ad70dcfa5 (/lib/x86_64-linux-gnu/libtorch_python.so.2.6+0x4dcfa5)
    #3 0x7f4ad70dcfa5 in c10::Storage::end() (/lib/x86_64-linux-gnu/libc10.so+0x3f)
    #4 0x7f4adf31aec6 in std::terminate() (/lib/x86_64-linux-gnu/libc10.so+0x4f)
"""


def test_a_crash_in_a_library_without_sanitizer_is_a_signal_in_its_function():
    died = reply(kind="exit", stderr=CRASH_WITHOUT_SANITIZER)
    assert signature.of_reply(died).text == "signal SIGSEGV in THPStorage_Wrap < c10::Storage::end"
    assert verify.fails_alike(-11, "", died) and not verify.fails_alike(1, "KeyError", died)


def test_a_frame_without_source_is_told_by_its_library_in_one_pair_of_brackets():
    died = reply(kind="exit", stderr=CRASH_WITHOUT_SANITIZER, lines=["s0 = t0.untyped_storage()"])
    told = explain.notes(died, "title", "", "torch")
    assert "ends in SIGSEGV in `THPStorage_Wrap` (libtorch_python.so.2.6+0x745f13)." in told


def test_a_place_stands_for_functions_without_names():
    frames = "".join(line + "\n" for line in CRASH_WITHOUT_SANITIZER.splitlines()
                     if "c10" not in line and "Wrap" not in line)
    words = signature.of_reply(reply(kind="exit", stderr=frames))
    assert words.text == "signal SIGSEGV in libtorch_python.so.2.6+0x4dcfa5"


def test_a_stack_overflow_is_told_by_what_recurs_wherever_it_ends():
    def report(first):
        names = ["leaf", *("fgh"[(first + number) % 3] for number in range(40))]
        frames = [f"    #{number} 0x7f in {name}() (/lib/a.so+0x1)\n"
                  for number, name in enumerate(names)]
        return "slotfuzz: crash: stack-overflow on address 0x7f\n" + "".join(frames)
    assert {signature.of_stderr(report(first)).text for first in range(3)} == {
        "signal SIGstack-overflow in f < g < h"}


def test_an_exception_that_nobody_catches_is_told_by_its_words():
    text = ("terminate called after throwing an instance of 'c10::Error'\n"
            "  what():  base INTERNAL ASSERT FAILED at \"Storage.cpp\":271, please report\n")
    words = signature.of_reply(reply(kind="signal", signal=6, stderr=text))
    assert words.text == ("signal SIGABRT (base INTERNAL ASSERT FAILED at \"Storage.cpp\":N,"
                          " please report)")
    assert verify.fails_alike(-6, text, reply(kind="signal", signal=6, stderr=text))


def test_no_report_is_none():
    assert signature.of_stderr("> t0 = T.ones(1)\nall is well\n") is None


@pytest.mark.parametrize("fields, text", [
    ({"kind": "assert", "contract": "P2", "check": "attributes"}, "judge P2 attributes"),
    ({"kind": "exception", "message": "SystemError: at 0x12"},
     "exception SystemError (SystemError: at ADDRESS)"),
    ({"kind": "exception", "message": "KeyError('x')"}, "exception KeyError (KeyError('x'))"),
    ({"kind": "exception", "contract": "P3", "check": "unraisable", "message": "E(1)",
      "asserts": ["assert not unraisable"]}, "judge P3 unraisable (E(N))"),
    ({"kind": "signal", "signal": 11}, "signal SIGSEGV"),
    ({"kind": "exit", "exit": 3}, "exit 3"),
    ({"kind": "timeout"}, "timeout"),
])
def test_verdicts_without_report(fields, text):
    assert signature.of_reply(reply(**fields)).text == text


def test_identifiers_are_folder_names_and_depend_on_the_subject():
    words = signature.Signature("sanitizer", "heap-use-after-free", ("c10::wrap",))
    assert re.fullmatch(r"heap-use-after-free-wrap-[0-9a-f]{6}", words.identifier("core"))
    assert words.identifier("core") != words.identifier("torch")


@pytest.mark.parametrize("frame, name", [
    ("c10::(anonymous namespace)::wrap<int>(c10::S*) const", "c10::wrap"),
    ("void f<std::pair<int, int>>(int (*)(char))", "f"),
    ("slotcore::Storage::operator=(slotcore::Storage const&)", "slotcore::Storage::operator="),
    ("main", "main"),
])
def test_function_names(frame, name):
    assert signature.function_name(frame) == name
