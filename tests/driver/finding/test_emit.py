"""Scripts state their failure, `--check` counts no other failure, and the end clears lists."""

import subprocess
import sys

import pytest

from slotfuzz.finding import emit, failure
from slotfuzz.triage import verify
from tests.driver import replies


@pytest.mark.parametrize("stderr, alike", [
    ("AssertionError: T2: they share it", True),
    ("AssertionError: P2: another promise", False),
    ("NameError: name 'held' is not defined", False),
    ("AssertionError", False),
])
def test_an_expectation_that_fails_is_known_again(stderr, alike):
    reply = replies.reply(kind="exception", contract="T2", check="other_share",
                          message="AssertionError: T2: they share it")
    assert verify.fails_alike(1, stderr, reply) == alike


JUDGED = {"contract": "P3", "check": "finalized early", "message": "P3: it lives", "asserts": []}
STATING = [
    # For each kind of finding: a run's required output and end; then the output of another failure.
    ({"kind": "assert", "asserts": ["assert 0 in finalized"]},
     (1, '  File "repro.py", line 9, in <module>\n    assert 0 in finalized\nAssertionError\n'),
     (1, '  File "repro.py", line 8, in <module>\n    assert what\nAssertionError: R2: a lane\n')),
    ({"kind": "assert", "asserts": ["assert 0 in finalized"]},
     (1, "    assert 0 in finalized\n           ^^^^^^^^^^^^^^\nAssertionError\n"),
     (1, "NameError: name 'held' is not defined")),
    ({"kind": "assert", "asserts": ["assert 0 in finalized"]},
     (1, "    assert 0 in finalized\nAssertionError\n"), (-6, "corrupted double-linked list")),
    ({"kind": "exception", "message": 'RuntimeError: !fn INTERNAL ASSERT FAILED at "./a.cpp":7, x'},
     (1, 'RuntimeError: !fn INTERNAL ASSERT FAILED at "/b/a.cpp":9, x'),
     (1, 'RuntimeError: fn INTERNAL ASSERT FAILED at "./a.cpp":7, x')),
    ({"kind": "signal", "signal": 11}, (-11, ""), (-6, "")),
    ({"kind": "signal", "signal": 11}, (139, ""), (1, "NameError: name 'held' is not defined")),
    ({"kind": "exit", "stderr": "==1==ERROR: AddressSanitizer: heap-use-after-free on"},
     (86, "==7==ERROR: AddressSanitizer: heap-use-after-free on 0x1"),
     (86, "==7==ERROR: AddressSanitizer: heap-buffer-overflow on 0x1")),
    ({"kind": "exit", "stderr": "a.cc:1:2: runtime error: shift of 7 is wrong"},
     (86, "a.cc:1:2: runtime error: shift of 9 is wrong"),
     (86, "a.cc:1:2: runtime error: addition is wrong")),
    ({"kind": "exit", "stderr": "WARNING: ThreadSanitizer: data race (pid=1)"},
     (66, "WARNING: ThreadSanitizer: data race (pid=2)"), (1, "AssertionError")),
    ({"kind": "exit", "stderr": "slotcore: a.cc:1: this must hold and does not: count == 1\n"},
     (86, "slotcore: a.cc:9: this must hold and does not: count == 1\n"),
     (86, "slotcore: core/c10/check.cc:1: this must hold and does not: owned\n")),
    ({"kind": "exit", "exit": 3, "stderr": ""}, (3, ""), (2, "")),
    ({"kind": "hang", "stderr": ""}, (1, "Timeout (0:00:03)!"), (1, "AssertionError")),
]


@pytest.mark.parametrize("finding_of, stated, other", STATING)
def test_only_what_a_script_states_counts(finding_of, stated, other):
    reply = replies.reply(**finding_of)
    assert verify.fails_alike(*stated, reply)
    assert not verify.fails_alike(*other, reply)
    assert not verify.fails_alike(0, stated[1], reply), "it went well"


@pytest.mark.parametrize("finding_of, stated, other", STATING)
def test_check_counts_what_the_script_states(finding_of, stated, other, tmp_path):
    """The block in the script and `verify` give the same result."""
    reply = replies.reply(**finding_of)
    ends = [end for end in (stated, other, (0, stated[1])) if end[0] < 128]
    path = tmp_path / "repro.py"
    path.write_text(
        "import os, subprocess, sys\n" + emit.check_block(failure.stated(reply)) +
        f"count = len(os.listdir({str(tmp_path)!r}))\n"
        f"open({str(tmp_path)!r} + f'/{{count}}', 'w').close()\n"
        f"code, words = {ends!r}[count - 1]\n"
        "sys.stderr.write(words)\n"
        "sys.stderr.flush()\n"
        "os.kill(os.getpid(), -code) if code < 0 else os._exit(code)\n")
    result = subprocess.run([sys.executable, path, "--check", str(len(ends))], text=True,
                            capture_output=True, check=False, timeout=60)
    failing = [code for code, words in ends if verify.fails_alike(code, words, reply)]
    assert result.returncode == (1 if failing else 2)
    assert result.stdout.startswith(f"failed {len(failing)} of {len(ends)}, exit codes {failing}\n")
    assert "1 ended otherwise: " in result.stdout
    # Python's text mode reads a carriage return as a new line.
    assert f"\n{len(ends)} of {len(ends)} runs, {len(failing)} failed\n" in result.stderr


SIGNALLED = {"kind": "signal", "signal": 7}
JUDGED_LINE = {"kind": "assert", "asserts": ["assert 0 in finalized"]}


@pytest.mark.parametrize("finding_of, codes, signals", [
    (SIGNALLED, (-11, -6, -11, -9), ("SIGABRT", "SIGSEGV")), (SIGNALLED, (0, 1), ()),
    (JUDGED_LINE, (1, -6), ("SIGABRT",)), ({"kind": "exception"}, (1, -6), ("SIGABRT",)),
    ({"kind": "exit", "stderr": "==1==ERROR: AddressSanitizer: SEGV on"}, (-6,), ())])
def test_a_script_states_the_signals_that_ended_its_runs(finding_of, codes, signals):
    reply = replies.reply(**finding_of)
    assert failure.deadly_signals(codes, reply) == signals
    manner = failure.Manner(signals)
    assert [verify.fails_alike(code, "", reply, manner) for code in codes if code != 1] == [
        bool(signals) and code in (-11, -6) for code in codes if code != 1]


ASAN = "==1==ERROR: AddressSanitizer"
FREED = {"kind": "exit", "stderr": f"{ASAN}: heap-use-after-free on"}
INVALID = "preserve.cc:29:17: runtime error: load of value 190, which is not a valid value"
REFUSED = {"kind": "exit", "stderr": INVALID}


@pytest.mark.parametrize("finding_of, outputs, reports", [
    (FREED, (f"{ASAN}: SEGV on", "", f"{ASAN}: SEGV on"), ("SEGV",)),
    (FREED, (f"{ASAN}: heap-use-after-free on", f"{ASAN}: SEGV on"),
     ("heap-use-after-free", "SEGV")),
    (FREED, (f"{ASAN}: heap-use-after-free on", ""), ()), (FREED, ("AssertionError",), ()),
    (FREED, (f"{ASAN}: stack-overflow on",), ()),
    (REFUSED, (f"{ASAN}: heap-use-after-free on", INVALID, f"{ASAN}: stack-overflow on"),
     ("heap-use-after-free",)),
    (REFUSED, (INVALID, f"{ASAN}: stack-overflow on"), ()),
    ({"kind": "exit", "stderr": "WARNING: ThreadSanitizer: data race (pid=1)"},
     (f"{ASAN}: SEGV on",), ())])
def test_a_script_states_the_reports_of_damaged_memory_in_its_runs(finding_of, outputs, reports):
    reply = replies.reply(**finding_of)
    assert failure.damage_reports(outputs, reply) == reports
    manner = failure.Manner(reports=reports)
    own = INVALID if finding_of is REFUSED else "heap-use-after-free"
    whats = (*reports, own) if finding_of is REFUSED else reports or (own,)
    assert [verify.fails_alike(86, text, reply, manner) for text in outputs] == [
        any(what in text for what in whats) for text in outputs]


def test_a_script_says_what_it_states_and_needs():
    needs = failure.Manner(("SIGSEGV",), (("MALLOC_PERTURB_", "165"),))
    text = emit.script(replies.reply(**SIGNALLED), [], "torch", "none", "a crash", manner=needs)
    assert emit.read_stated(text) == "^killed by SIGSEGV$"
    assert "# run: MALLOC_PERTURB_=165 python3 repro.py " in text
    assert 'MALLOC_PERTURB_="165")' in text
    plain = emit.script(replies.reply(**SIGNALLED), [], "torch", "none", "a crash")
    assert "environ" not in plain and emit.read_stated(plain) == "^killed by SIGBUS$"
    assert emit.read_stated("import torch\n") == ""


SNIPPET = '''
there = """
held = []
"""
def f():
    inner = []
resurrected = []
full = [1]
born, finalized = [], []
'''


def test_a_list_within_a_text_or_a_function_is_no_list_of_the_script():
    assert emit.lists_of(SNIPPET) == ["resurrected"]
