"""Nodes and ctxs: from the text of a trace to rows, and to the owner that was missing."""

import pytest

from slotfuzz.evidence.report import Report
from slotfuzz.finding import explain, from_trace, timeline_svg
from slotfuzz.finding.references import owners_left
from slotfuzz.finding.story import last
from slotfuzz.schema.events import FREES
from slotfuzz.schema.kept import Kept, Owner
from tests.driver.finding.test_timeline import rows_of
from tests.driver.finding.traces import FUNCTION, REPORT, reply_of

FREED = "    core/f.cc:9  ctx freed             ctx 0x50\n"
GONE = "> del t1\n    core/n.cc:3  impl freed            impl 0x40\n"
DROPPED = "> del t1\n    core/v.cc:2  references released   owner 0x50  link saved tensor\n"


def test_a_node_and_its_ctx_have_rows():
    assert rows_of(FUNCTION + DROPPED + FREED + "    core/n.cc:3  impl freed  impl 0x40\n") == [
        "0x10 ccc ...", "0x20 pbb ...", "0x21 ppp ===", "0x40 .cx ...", "0x50 .cx ...",
        "0x30 .cc ..."]
    rows = from_trace.timeline(reply_of(FUNCTION)).rows
    assert [(row.role, row.about) for row in rows if row.address >= 0x40] == [
        ("impl", "FnBackward"), ("ctx", "FnBackward")]
    assert ">ctx<" in timeline_svg.draw(from_trace.timeline(reply_of(FUNCTION)), "", "")


def test_a_ctx_that_outlives_its_node_is_pythons():
    assert "0x50 .cp ..." in rows_of(FUNCTION + GONE)


def left(stderr, about):
    events = reply_of(stderr).log.events
    return owners_left(events, about, last(events, FREES))


def test_what_is_freed_too_early_has_an_owner():
    assert left(FUNCTION + "> gc.collect()\n" + FREED, 0x50) == ["FnBackward 0x40 (ctx)"]
    leaf = "> gc.collect()\n    core/t.cc:3  impl freed            impl 0x20\n"
    assert left(FUNCTION + leaf, 0x20) == ["AccumulateGrad 0x30 (variable)",
                                           "FnBackward 0x50 (saved tensor)"]
    assert left(FUNCTION + DROPPED + leaf, 0x20) == ["AccumulateGrad 0x30 (variable)"]


def test_what_is_freed_after_its_owner_has_none():
    assert left(FUNCTION + GONE + FREED, 0x50) == []


def test_notes_name_the_owner_that_was_missing():
    report = REPORT.replace("0x14", "0x54").replace("[0x10,0x1f)", "[0x50,0x5f)")
    reply = reply_of(FUNCTION + "> gc.collect()\n" + FREED + "> t1.sum().backward()\n" + report,
                     outcome="finding", kind="exit", exit=1)
    assert Report(reply.log.report).object_of(reply.log.events) == 0x50
    assert ("At that time FnBackward 0x40 (ctx) still owns it, so that reference was not counted,"
            " or another owner released it twice.") in explain.notes(reply, "title", "", "core")


def test_notes_of_a_leak_name_the_cycle():
    kept = Kept("unlisted", False, "t1", ("MulBackward0['held']",), ())
    found = Kept("collectable", False, "t0", ("its wrapper",),
                 (Owner("t0", ".other"), Owner("t1", "._base")))
    reply = reply_of(FUNCTION + "> # every name is dropped, then gc.collect()\n",
                     outcome="finding", kind="assert", contract="P5", check="live impls",
                     message="3 impls live on", kept=[kept, found])
    words = explain.notes(reply, "title", "P5", "core")
    assert "The cycle is t0 -> .other -> t1 -> ._base -> t0: one wrapper alone owns each" in words
    assert ("Of what is left, t1 has an owner that the subject does not list; it lists"
            " MulBackward0['held'].") in words


def test_an_excused_cycle_is_named_in_the_log():
    kept = Kept("owns itself", True, "t0", (), (Owner("t0", ".grad"), Owner("t1", ".grad")))
    assert ("    kept  t0 -> .grad -> t1 -> .grad -> t0; A4a excuses it: t0 owns itself in C++"
            in explain.annotated(reply_of(FUNCTION, kept=[kept])))


def story_of(stderr, **words):
    return explain.notes(reply_of(stderr, outcome="finding", **words), "title", "", "core")


CHECK = {"kind": "assert", "contract": "A4b", "check": "check_context_kept", "message": "lost"}


def test_notes_of_any_finding_name_what_was_freed_while_it_had_an_owner():
    early = FUNCTION + "> del t1\n    core/n.cc:3  impl freed            impl 0x30\n"
    assert ("Line 3 (`del t1`) frees AccumulateGrad 0x30, although FnBackward 0x40"
            " (next_functions) still owns it: that reference was not counted") in story_of(
                early, **CHECK, line=2)
    released = early.replace("> del t1\n", "> del t1\n    core/n.cc:2  references released"
                             "   owner 0x40\n")
    assert "although" not in story_of(released, **CHECK, line=2)


VISITED = "> gc.collect()\n    core/w.cc:2  visited               owner {}  owned 0x50  link {}\n"


def test_notes_name_what_is_reported_to_the_collector_and_does_not_exist():
    story = story_of(FUNCTION + VISITED.format("0x20", "ctx"), **CHECK, line=2)
    assert ("Line 3 (`gc.collect()`) collects, and Tensor 0x20 reports FnBackward 0x50 (ctx) to"
            " the collector without owning it; FnBackward 0x40 (ctx) owns it.") in story
    for true in (VISITED.format("0x40", "ctx"), VISITED.format("0x20", ".grad")):
        assert "without owning" not in story_of(FUNCTION + true, **CHECK, line=2)


def test_notes_of_a_leak_name_objects_that_own_each_other():
    cycle = (FUNCTION + "    core/v.cc:1  reference taken       owner 0x20  owned 0x40"
             "  link .grad_fn\n")
    words = {"kind": "assert", "contract": "P5", "check": "live impls", "message": "1 lives on"}
    assert ("FnBackward 0x40 owns FnBackward 0x50 (ctx), which owns Tensor 0x20 (saved tensor),"
            " which owns FnBackward 0x40 (grad_fn): they own each other") in story_of(
                cycle + "> # every name is dropped, then gc.collect()\n", **words, line=2)
    assert "own each other" not in story_of(
        FUNCTION + "> # every name is dropped, then gc.collect()\n", **words, line=2)


LOCKED = "> n0.name()\n    core/c.cc:5  handle locked         handle 0x50  impl {}\n"


def test_notes_of_a_crash_name_the_weak_reference_that_gave_null():
    crash = {"kind": "signal", "signal": 11, "line": 3}
    assert ("It locks the weak reference of FnBackward 0x50, which gives null: line 3 (`del t1`)"
            " released its node FnBackward 0x40.") in story_of(
                FUNCTION + GONE.replace("impl freed            impl", "references released   owner")
                + LOCKED.format("0x0"), **crash)
    assert "gives null: the object is gone, or never was." in story_of(
        FUNCTION + LOCKED.format("0x0").replace("0x50", "0x70"), **{**crash, "line": 2})
    assert "gives null" not in story_of(FUNCTION + LOCKED.format("0x40"), **{**crash, "line": 2})


def test_a_long_log_is_cut_in_notes_and_whole_in_replay():
    event = "    core/t.cc:2  impl created          impl {:#x}  type TensorImpl\n"
    many = reply_of("> many()\n" + "".join(event.format(0x100 + i) for i in range(900)),
                    outcome="finding", kind="signal", signal=11, line=0)
    notes = explain.notes(many, "title", "", "core")
    assert notes.count("impl created") == 2 * explain.EVENTS_OF_LINE_MAX
    assert "    ... 700 events, which `replay` prints\n" in notes
    assert explain.annotated(many).count("impl created") == 900


STACK = """\
Current thread 0x00007f890b41b840 (most recent call first):
{}  File "prelude.py", line 3332 in assert_calls
  File "prelude.py", line 4924 in check_function_calls
  File "check_function_calls()", line 1 in <module>

Thread 0x00007f890b41b841 (most recent call first):
  File "prelude.py", line 1 in serve
"""


@pytest.mark.parametrize("inner, words", [
    ('  File "c._sequence_nr()", line 1 in <module>\n', "ran `c._sequence_nr()`, in"),
    ("", "was in"),
])
def test_notes_of_a_crash_say_what_python_did_in_a_check(inner, words):
    crash = {"kind": "signal", "signal": 11, "line": 2}
    program = FUNCTION + "> check_function_calls()\n"
    assert (f"At that time Python {words} `assert_calls` in `check_function_calls`.") in story_of(
        program + STACK.format(inner), **crash)
    plain = 'Current thread 0x1 (most recent call first):\n  File "t1.f()", line 1 in <module>\n'
    assert "At that time Python" not in story_of(program + plain, **crash)
