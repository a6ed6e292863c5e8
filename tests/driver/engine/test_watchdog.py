"""The driver derives signature, story and script from a watchdog report, and compares runs."""

import subprocess
import sys
import types
from dataclasses import replace

import pytest

from slotfuzz.evidence import signature
from slotfuzz.finding import contract, emit, explain
from slotfuzz.language import program
from slotfuzz.schema.answers import HungThread
from slotfuzz.triage import draft, smallest, verify
from tests.driver import fake_table, replies

REPORT = """\
slotfuzz: deadlock: line 3, `x0.drop_under_lock()`, does not come back in 5 s; every thread waits

  main thread (0x7f24ec8747c0) waits for a mutex:
    #0 0x7f24ebbc4128 in futex_wait nptl/../sysdeps/nptl/futex-internal.h:146:13
    #1 0x7f24ebbca481 in __pthread_mutex_lock nptl/pthread_mutex_lock.c:93:7
    #2 0x564a74cc607c in lock /usr/include/c++/12/bits/std_mutex.h:100:17
    #3 0x564a74cc607c in slotcore::(anonymous namespace)::Owner::drop() core/owner.cc:190:11
    #4 0x7f24ebf09c62 in _PyEval_EvalFrameDefault /build/../Python/ceval.c:4772:23

  thread 1 (0x7f24e93fe6c0) waits for the GIL:
    #0 0x7f24ec066106 in take_gil /build/../Python/ceval_gil.h:250:9
    #1 0x7f24ec0b44f5 in PyGILState_Ensure /build/../Python/pystate.c:1708:9
    #2 0x564a74ca4e0e in slotcore::python::Gil::Gil(slotcore::I const&) core/gil.cc:83:16

  thread 2 (0x7f24e93fe6d0) waits for a lock of Python:
    #0 0x7f24ec066106 in PyThread_acquire_lock_timed /build/../Python/thread.c:250:9

Thread 0x00007f24e93fe6c0 (most recent call first):
  <no Python frame>

Thread 0x00007f24ec8747c0 (most recent call first):
  File "x0.drop_under_lock()", line 1 in <module>
"""
# The threads of the report as the engine's reply has them.
THREADS = (
    HungThread("main thread", "mutex", "waits for a mutex", (
        "0x7f24ebbca481 in __pthread_mutex_lock nptl/pthread_mutex_lock.c:93:7",
        "0x564a74cc607c in slotcore::(anonymous namespace)::Owner::drop() core/owner.cc:190:11")),
    HungThread("thread 1", "gil", "waits for the GIL", (
        "0x7f24ec066106 in take_gil /build/../Python/ceval_gil.h:250:9",
        "0x564a74ca4e0e in slotcore::python::Gil::Gil(slotcore::I const&) core/gil.cc:83:16")))
PROGRAM = ["s0 = T.UntypedStorage(1)", "x0 = Owner(s0)", "x0.drop_under_lock()"]


def reply_of(kind, stderr, threads=THREADS):
    """The engine's reply for a program that hangs in its last line."""
    return replies.reply(kind=kind, line=2, stderr=stderr, threads=threads, lines=[
        replies.line(text, f"op {number}") for number, text in enumerate(PROGRAM)])


def swapped(report):
    """The report of a run in which the threads came in the other order."""
    head, first, second, *rest = report.split("\n\n")
    return "\n\n".join([head, second, first, *rest])


def test_a_deadlock_is_the_pair_of_waiting_functions_in_whatever_order():
    found = signature.of_reply(reply_of("deadlock", REPORT))
    assert found.verdict == "deadlock"
    assert found.functions == ("slotcore::Owner::drop", "slotcore::python::Gil::Gil")
    assert signature.of_reply(reply_of("deadlock", swapped(REPORT), THREADS[::-1])) == found
    # A fuzzing process sends no reply before it aborts.
    aborted = "==7== ERROR: libFuzzer: deadly signal\n    #0 0x1 in slotcore::end core/end.cc:1:1\n"
    for report in (REPORT, swapped(REPORT), f"{REPORT}\n{aborted}"):
        assert signature.of_stderr(report) == found


def test_another_report_before_that_of_the_watchdog_counts():
    race = "WARNING: ThreadSanitizer: data race (pid=1)\n"
    assert signature.of_reply(reply_of("deadlock", race + REPORT)).what == "data-race"


def test_frames_without_a_name_are_passed_over():
    report = REPORT.replace(
        "futex_wait nptl/../sysdeps/nptl/futex-internal.h:146:13", "<null> (/lib/some.so+0x86129)")
    assert signature.of_stderr(report) == signature.of_stderr(REPORT)


def test_a_hang_is_no_deadlock():
    report = REPORT.replace("deadlock", "hang").replace("waits for a mutex", "runs")
    assert signature.of_reply(reply_of("hang", report)).text == "hang (op 2)"


def test_a_hang_is_told_by_its_line_wherever_the_watchdog_strikes():
    report = REPORT.replace("deadlock", "hang").replace("waits for a mutex", "runs")
    elsewhere = report.replace("Owner::drop", "Owner::check")
    assert report != elsewhere
    assert signature.of_reply(reply_of("hang", report)) == signature.of_reply(
        reply_of("hang", elsewhere))
    assert signature.of_stderr(report) == signature.of_stderr(elsewhere)
    at_end = replace(reply_of("hang", report), line=len(PROGRAM))
    assert signature.of_reply(at_end).text == "hang (the end)"


class Looping:
    """A server whose programs hang in a collection after two lines, in one of many functions."""

    def __init__(self):
        self.table = program.Table(fake_table.DESCRIPTION)
        self.subject = types.SimpleNamespace(
            capabilities=types.SimpleNamespace(has_many_bugs=False))
        self.runs = 0

    def run(self, text, *_):
        self.runs += 1
        lines = text.splitlines()
        reply = replies.reply(line=len(lines), lines=[
            replies.line(**line) for line in fake_table.parse(text)["lines"]])
        if all(line in lines for line in LOOP):
            at = max(i for i, line in enumerate(lines) if ".nbytes()" in line)
            report = REPORT.replace("deadlock", "hang").replace("waits for a mutex", "runs")
            reply = replace(reply, outcome="finding", kind="hang", line=at,
                            stderr=report.replace("Owner::drop", f"Owner::step_{self.runs}"))
        return reply


LOOP = ["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.nbytes()"]


def test_of_twelve_lines_the_three_that_hang_are_left():
    others = ["t1 = T.ones(4)", "s1 = t1.untyped_storage()", "s1.tag = 7"] * 3
    server = Looping()
    best = smallest.smallest(server, server, "\n".join([*others, *LOOP]))
    assert best.minimized.lines_before == 12
    assert server.table.program_text(best.minimized.lines).splitlines() == LOOP
    assert best.minimized.one_minimal



def test_a_deadlock_is_told_with_both_sides_and_not_with_idle_threads():
    reply = reply_of("deadlock", "".join(f"> {line}\n" for line in PROGRAM) + REPORT)
    notes = explain.notes(reply, "deadlock", contract.contract_of(reply), "core")
    assert "Line 3 (`x0.drop_under_lock()`) does not come back" in notes
    assert "main thread waits for a mutex in `drop` (core/owner.cc:190)" in notes
    assert "thread 1 waits for the GIL in `Gil` (core/gil.cc:83)" in notes
    assert "thread 2" not in notes.partition("<details>")[0]
    assert "> **R1**" in notes and "File \"x0.drop_under_lock()\"" in notes
    assert reply.log.lines == PROGRAM


def test_the_contract_number_of_a_deadlock_is_read_off_the_stacks():
    """A thread that waits for the GIL to release a reference breaks T6; any other breaks R1."""
    assert contract.contract_of(reply_of("deadlock", REPORT)) == "R1"
    waits, drops = THREADS[0], HungThread("thread 1", "gil", "waits for the GIL", (
        *THREADS[1].frames, "0x564a74ca4e0e in slotcore::raw::decref(slotcore::I*) core/r.cc:3:1"))
    assert contract.contract_of(reply_of("deadlock", REPORT, (waits, drops))) == "T6"
    for others in ((waits, replace(drops, waits_for="futex")), (drops,), ()):
        assert contract.contract_of(reply_of("deadlock", REPORT, others)) == ""


@pytest.mark.parametrize("report, number", [
    ("WARNING: ThreadSanitizer: data race (pid=1)\n", "R1"),
    ("WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=1)\n", "R1"),
    ("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n", ""),
    ("slotcore: a.cc:1: this must hold and does not: false\n", ""),
])
def test_a_crash_has_the_contract_number_that_its_report_tells(report, number):
    assert contract.contract_of(reply_of("exit", report)) == number


@pytest.mark.parametrize("kind", signature.HANGING)
def test_who_heard_it_is_the_watchdog(kind, fake_subject):
    reply = reply_of(kind, REPORT)
    assert draft.oracle(reply, signature.of_reply(reply), fake_subject) == "watchdog"


def test_a_script_that_hangs_says_where_and_ends(tmp_path):
    reply = reply_of("deadlock", REPORT)
    script = emit.script(reply, [], "core", "address", "deadlock").replace(
        "(3, exit", "(0.2, exit").replace("import slotcore", "import types").partition("s0 = ")[0]
    path = tmp_path / "repro.py"
    path.write_text(script + "import threading\n"
                    "lock = threading.Lock()\nlock.acquire()\nlock.acquire()\n")
    ended = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False,
                           timeout=60)
    assert "line" in ended.stderr and "repro.py" in ended.stderr
    assert verify.fails_alike(ended.returncode, ended.stderr, reply)
    for code, words in ((0, ""), (1, "AssertionError"), (None, "")):
        assert not verify.fails_alike(code, words, reply)


def test_a_script_that_does_not_hang_has_no_watch():
    reply = replace(reply_of("signal", ""), signal=11)
    assert "faulthandler" not in emit.script(reply, [], "core", "address", "crash")
