"""Which programs are one bug: programs and verdicts as text, before; one group or two, after."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from slotfuzz.evidence import signature
from slotfuzz.language.program import Line, Table
from slotfuzz.triage import dedup
from slotfuzz.triage.dedup import BY
from tests.driver import replies
from tests.driver.fake_engine import DESCRIPTION, parse_line

TABLE = Table({**DESCRIPTION, "kinds": [*DESCRIPTION["kinds"], {
    **DESCRIPTION["kinds"][-1], "letter": "h"}, {
    **DESCRIPTION["kinds"][-1], "letter": "z", "has_names": True}], "ops": [*DESCRIPTION["ops"], {
    **DESCRIPTION["ops"][0], "name": "resize", "operands": ["s", "n"],
    "template": "{0}.resize_({1})", "plain": False}, {
    **DESCRIPTION["ops"][0], "name": "function", "operands": ["z", "t"],
    "template": "{0}({1})", "plain": False}, {
    **DESCRIPTION["ops"][0], "name": "resize_huge", "operands": ["t", "h"],
    "template": "{0}.resize_({1})", "plain": False}, {
    **DESCRIPTION["ops"][0], "name": "empty", "operands": ["+t", "n"],
    "template": "{0} = T.empty({1})", "plain": False}]})
TAGGED = ["t0 = T.ones(1)", "s0 = t0.untyped_storage()", "s0.tag = 0", "del s0"]
SNIPPET = "def emptying(tensor):\n    storage().resize_(0)\n"
SHOWN = "s0 = t0.untyped_storage()"


def lines_of(texts):
    """Program lines as the driver sees them."""
    found = [parse_line(text) for text in texts]
    return [Line(line["op"], tuple(line["operands"]), line["lane"]) for line in found]


def keys_of(texts, kind="assert", functions=(), line=None, outside=None, raised=False, **fields):
    """The keys of a finding that the last line shows, or LINE."""
    reply = replies.reply(**{
        "kind": kind, "contract": "P2" * (kind == "assert"), "check": "attributes", "signal": 11,
        "line": len(texts) - 1 if line is None else line, **fields})
    outside = outside and dedup.Outside(outside, raised)
    words = signature.of_reply(reply)
    if functions:
        words = signature.Signature(words.verdict, functions)
    return dedup.keys(reply, words, lines_of(texts), TABLE, outside)


@pytest.mark.parametrize("first, second, same", [
    (["t0 = T.ones(1)", "del t0"], ["t0 = T.ones(4)", "del t0"], True),
    (["t0 = T.ones(1)", "del t0"], ["t3 = T.ones(1)", "del t3"], True),
    (["t0 = T.ones(1)", "t1 = T.ones(1)", "del t0"],
     ["t0 = T.ones(1)", "t1 = T.ones(1)", "del t1"], False),
    (["t0 = T.ones(1)", "del t0"], ["t0 = T.ones(1)", 'lane(1, "del t0")'], False),
])
def test_a_shape_forgets_values_and_names(first, second, same):
    shapes = [dedup.shape(lines_of(texts), TABLE) for texts in (first, second)]
    assert (shapes[0] == shapes[1]) == same


def test_a_promise_that_breaks_after_the_same_lines_is_one_bug():
    renamed = [line.replace("s0", "s2").replace("t0", "t1") for line in [*TAGGED, SHOWN]]
    assert keys_of(renamed) == keys_of([*TAGGED, SHOWN])
    assert keys_of([*TAGGED, "s1 = t0.untyped_storage()"]) == keys_of([*TAGGED, SHOWN])
    assert keys_of([*TAGGED, SHOWN], check="type") != keys_of([*TAGGED, SHOWN])


def test_all_that_crashes_where_no_memory_is_is_one_bug_for_each_line_that_led_there():
    wraps, tags = lines_of(TAGGED[1:3])
    reads = [keys_of([*TAGGED[:2], last], "signal", (name,), outside=tags)
             for last, name in (("s0.nbytes()", "f"), ("del s0", "g"), (SHOWN, "h"))]
    assert set(reads) == {frozenset(["outside of memory after tag s0 _"])}
    assert not keys_of(TAGGED, "signal", ("f",), outside=wraps) & reads[0]
    (on_lane,) = lines_of(['lane(1, "s0.tag = 0")'])
    assert keys_of(TAGGED, "signal", ("f",), outside=on_lane) == reads[0]
    assert keys_of(TAGGED, outside=tags) == reads[0] != keys_of(TAGGED)


def test_storages_that_shrink_under_a_tensor_are_one_bug_whichever_line_shrinks_them(monkeypatch):
    shrinks = {"outside of memory after a storage shrinks"}
    resize = Line("resize", ("s1", "4"))
    assert keys_of(TAGGED, outside=resize) == shrinks | {"outside of memory after resize s0 _"}
    # What a line calls counts as well.
    monkeypatch.setattr(dedup.prelude, "needed", lambda *_: [SimpleNamespace(text=SNIPPET)])
    assert shrinks < keys_of(TAGGED, outside=lines_of(TAGGED[2:])[0])


def test_lines_that_raise_and_lead_where_no_memory_is_are_one_bug():
    wraps, tags = lines_of(TAGGED[1:3])
    refused = [keys_of(TAGGED, "signal", outside=line, raised=True) for line in (wraps, tags)]
    assert set.intersection(*map(set, refused)) == {"outside of memory after a line that raises"}
    # What is steered around is learnt for each line.
    assert refused[0] != refused[1]
    assert not refused[0] & keys_of(TAGGED, "signal", outside=wraps)
    # More memory than there is: one place of many may be mended.
    huge = keys_of(TAGGED, "signal", outside=Line("resize_huge", ("t1", "8")), raised=True)
    assert huge == {"outside of memory after resize_huge t0 _"}


@pytest.mark.parametrize("raised", [False, True])
def test_what_leads_where_no_memory_is_is_found_in_a_program_by_its_keys(raised):
    lines = lines_of([*TAGGED, SHOWN])
    keys = keys_of([*TAGGED, SHOWN], "signal", outside=lines[2], raised=raised)
    assert dedup.leading_outside(lines, [], keys, TABLE) == [lines[:3]]
    assert dedup.leading_outside(lines, [], frozenset(), TABLE) == []
    assert dedup.leading_outside(lines[:2], lines, keys, TABLE) == []
    met = lines_of(["t1 = T.ones(4)", "s1 = t1.untyped_storage()", "s1.tag = 7", "del t1"])
    assert dedup.leading_outside(lines, met, keys, TABLE) == [lines[:3], met[:3]]


def test_leaks_that_begin_with_one_line_are_one_bug():
    ends = ["s0 = t0.untyped_storage()", "s0.tag = 0"]
    leak = {"contract": "P5", "check": "live wrappers"}
    first, second, other = (
        keys_of([*texts, *ends], line=len(texts) + 2, **leak) for texts in (
            ["t0 = T.ones(1)"], ["t0 = T.ones(1)", "enter_hermetic()"], []))
    assert first & second & other == {"judge P5 live wrappers at tag s0 _"}
    # What is told at a line may have begun with any before it.
    assert not keys_of(["t0 = T.ones(1)", *ends], line=2, **leak) & first


@pytest.mark.parametrize("line, called", [
    ("t0 = T.ones(1)", "ones"), ("s0 = t0.untyped_storage()", "untyped_storage"),
    ("del s0", "del s0"), ("s0.tag = 0", "tag s0 _"),
    ('lane(1, "s0.nbytes()")', "nbytes"), ("enter_hermetic()", "enter_hermetic")])
def test_what_a_line_calls_tells_it_from_others(line, called):
    assert dedup._called(*lines_of([line]), TABLE) == called


@pytest.mark.parametrize("text, name", [
    ("t0.sum().backward()", "backward"), ("t0.tag = 0", ""),
    ("t0 = T.empty(0, dtype=T.uint8).set_(s0)", "set_"),
    ("f0 = t1.register_hook(hook_of(t0)).remove", "register_hook"),
    ("t1.register_hook(hook_of(t0))", "register_hook"), ("s1 = copied(s0)", "copied"),
    ("t0.grad_fn._register_hook_dict(T.ones(1))", "_register_hook_dict"),
    ("with T.no_grad(): t0.add_(1)", "add_"), ("with hermetic(): t0 = t1.grad", ""),
    ("T.from_dlpack(T.empty(0))", "from_dlpack")])
def test_of_calls_within_calls_the_last_of_the_outermost_counts(text, name):
    assert dedup.called(text) == name


def test_one_condition_that_is_asserted_in_two_places_is_one_bug():
    words = ('RuntimeError: {} INTERNAL ASSERT FAILED at "./{}.cpp":7, please report a bug to'
             " PyTorch.")
    level, other_place, other, never, other_never, why, other_why, other_place_why = (
        keys_of(TAGGED, "exception", message=words.format(*case) + more) for *case, more in (
            ("level.has_value()", "a", ""), ("level.has_value()", "b", ""),
            ("it != end()", "a", ""),
            ("false", "a", ""), ("false", "b", ""),
            ("false", "a", " No x."), ("false", "a", " No y."), ("false", "b", " No y.")))
    assert level == other_place != other
    assert never != other_never and why != other_why == other_place_why


def test_a_crash_after_the_same_lines_is_one_bug_however_its_objects_are_made():
    plainly, otherwise = lines_of(TAGGED), lines_of(TAGGED)
    otherwise[0] = Line("empty", ("t0", "4"))
    first, second = (
        dedup.keys(replies.reply(kind="signal", line=3),
                   signature.Signature("signal SIGSEGV", (where,)), lines, TABLE)
        for where, lines in (("f", plainly), ("g", otherwise)))
    assert first & second == {"crash after make t0 _; wrap s0 t0; tag s0 _"}
    assert dedup.keys(replies.reply(kind="signal", line=0), signature.Signature(
        "signal SIGSEGV", ("g",)), otherwise[:1], TABLE) == {"crash after empty t0 _", "crash in g"}


def test_an_object_that_is_none_is_told_by_the_mechanism_and_the_kinds_of_objects():
    hermetic = [*TAGGED[:2], "enter_hermetic()", "del s0", "exit_hermetic()", SHOWN]
    longer = [*hermetic[:4], "s0 = t0.untyped_storage()", "del s0", *hermetic[4:]]
    assert keys_of(hermetic, "signal") & keys_of(longer, "signal")
    tensors = ["t0 = T.ones(1)", "enter_hermetic()", "del t0", "exit_hermetic()", "t1 = T.ones(1)"]
    assert not keys_of(hermetic, "signal") & keys_of(tensors, "signal")
    # Whoever it is that meets it.
    assert keys_of(hermetic, "signal", ("wrap",)) == keys_of(hermetic, "signal", ("set_grad",))
    named = [*lines_of(hermetic[:5]), Line("function", ("T.f", "t0"))]
    assert "crash in f by hermetic mode" in dedup.keys(
        replies.reply(kind="signal", line=5),
        signature.Signature("signal SIGSEGV", ("f",)), named, TABLE)


def test_two_causes_of_one_broken_promise_are_two_bugs():
    hermetic = [*TAGGED[:3], "enter_hermetic()", "del s0", "exit_hermetic()", SHOWN]
    twice = [*TAGGED, SHOWN, "s0.nbytes()", SHOWN]
    (first,), (second,) = keys_of(hermetic), keys_of(twice)
    assert not dedup.of_one_group(first, second) and not dedup.of_one_group(second, first)


def test_ways_to_lose_something_by_one_mechanism_are_one_bug():
    hermetic = [*TAGGED[:3], "enter_hermetic()", "del s0", "exit_hermetic()", SHOWN]
    plainer = [line for line in hermetic if "tag" not in line]
    assert keys_of(hermetic) == keys_of(plainer, check="type")
    assert keys_of(hermetic) != keys_of(hermetic, check="tensor attributes")
    # What the prelude sees is what the judge sees.
    seen = {"message": "AssertionError: P2: an attribute is lost", "kind": "exception",
            "contract": "P2"}
    assert keys_of(hermetic, check="check_storage_kept", **seen) == keys_of(hermetic)
    assert keys_of(hermetic, check="check_grad_kept", **seen) != keys_of(hermetic)
    # A count is not lost by a mechanism: its lines say where.
    assert keys_of(hermetic, contract="P7") != keys_of(plainer, contract="P7")


def test_finalizers_that_run_early_by_one_mechanism_are_one_bug():
    early = {"contract": "P3", "check": "tensor finalized early"}
    hermetic = [*TAGGED[:3], "enter_hermetic()", "del s0", "exit_hermetic()", SHOWN]
    plainer = [line for line in hermetic if "tag" not in line]
    assert keys_of(hermetic, **early) == {"judge P3 tensor by hermetic mode"}
    assert keys_of(hermetic, **early) == keys_of(plainer, **early)
    # Other checks of P3 are counts.
    assert BY not in "".join(keys_of(hermetic, contract="P3", check="finalized twice"))


def test_that_there_is_a_finalizer_is_no_mechanism_of_one_that_runs_early(monkeypatch):
    monkeypatch.setattr(dedup, "mechanisms", lambda lines, table: ["a finalizer"])
    assert BY not in "".join(keys_of(TAGGED, contract="P3", check="finalized early"))


@pytest.mark.parametrize("key, known, same", [
    ("judge P4 tensor by the collector, a callback", "judge P4 tensor by the collector", True),
    ("crash in f by hermetic mode, a finalizer", "crash in f by a finalizer, hermetic mode", True),
    ("judge P4 tensor by the collector", "judge P4 tensor by the collector, a callback", False),
    ("judge P4 tensor by a callback", "judge P4 tensor by the collector", False),
    ("judge P4 storage by the collector, a swap", "judge P4 tensor by the collector", False),
    ("crash in f by hermetic mode", "crash in f after make t0 _", False),
])
def test_what_a_mechanism_breaks_may_have_further_ones_beside_it(key, known, same):
    assert dedup.of_one_group(key, known) == same


def test_two_promises_that_break_after_the_same_lines_are_two_bugs():
    assert not keys_of([*TAGGED, SHOWN]) & keys_of([*TAGGED, SHOWN], check="type")


@pytest.mark.parametrize("key, known, same", [
    ("judge P1 identity after new s0; weak c0 s0", "judge P1 identity after new s0; weak c0 s0", 1),
    ("judge P1 identity after new s0; alias s1 s0; weak c0 s0",
     "judge P1 identity after new s0; weak c0 s0", 1),
    ("judge P1 identity after new s0; weak c0 s0",
     "judge P1 identity after new s0; alias s1 s0; weak c0 s0", 0),
    ("judge P1 identity after weak c0 s0; new s0", "judge P1 identity after new s0; weak c0 s0", 0),
    ("judge P2 type after new s0; weak c0 s0", "judge P1 identity after new s0; weak c0 s0", 0),
    ("crash in wrap", "crash in wrap", 1), ("crash in wrap", "crash in wrapper", 0),
    ("crash in wrap after new s0; alias s1 s0; weak c0 s0",
     "crash in wrap after new s0; weak c0 s0", 1),
    ("crash in wrap after new s0; weak c0 s0", "crash in wrap after new s0; lock s0 c0", 0),
    ("crash in wrap after new s0; weak c0 s0", "crash in wrap", 1),
    ("crash in wrap", "crash in wrap after new s0; weak c0 s0", 0),
    ("crash in wrap after odd_new s0; weak c0 s0",
     "crash in wrap after make s0; weak c0 s0", 1),
    ("crash in wrap after weak c0 s0; make s1", "crash in wrap after make s0", 0),
    ("crash after new s0", "crash in new", 0),
    ("crash after new s0; own t0 s0; del t0", "crash after new s0; del s0", 0),
])
def test_a_longer_way_to_the_same_verdict_is_the_same_bug(key, known, same):
    assert dedup.of_one_group(key, known) == bool(same)


def test_ways_to_crash_after_the_same_lines_are_one_bug():
    ways = [keys_of([*TAGGED, last], "signal", (name,))
            for last, name in ((SHOWN, "THPStorage_Wrap"), ("del t0", "c10::StorageImpl::end"))]
    assert ways[0] & ways[1]


def test_crashes_in_one_function_are_one_bug_and_in_two_are_two():
    bare, other = ["t0 = T.ones(1)", "del t0"], ["t0 = T.ones(1)", SHOWN]
    assert keys_of(bare, "signal", ("f", "g")) & keys_of(other, "signal", ("f", "h"))
    assert not keys_of(bare, "signal", ("f",)) & keys_of(other, "signal", ("g",))


def test_a_function_that_crashes_by_itself_is_one_bug_whichever_op_calls_it():
    functions = {"letter": "z", "name": "function", "prefix": None, "values": ["T.g", "T.h"],
                 "count": 2, "has_names": True}
    ops = [{**DESCRIPTION["ops"][0], "name": name, "operands": ["z", letter], "plain": False,
            "template": "{0}({1})"} for name, letter in (("of_number", "n"), ("of_byte", "v"))]
    table = Table({**DESCRIPTION, "kinds": [*DESCRIPTION["kinds"], functions],
                   "ops": [*DESCRIPTION["ops"], *ops]})

    def keys(op, function, place, *before):
        words = signature.Signature("signal SIGSEGV", (place,))
        lines = [*lines_of(before), Line(op, (function, "0"), 0)]
        return dedup.keys(replies.reply(kind="signal", line=len(lines) - 1), words, lines, table)
    before = "t0 = T.ones(1)", SHOWN, "del s0"
    for more in (), before:
        assert keys("of_number", "T.g", "a.so+0x1") & keys("of_byte", "T.g", "a.so+0x2", *more)
        assert not keys("of_number", "T.g", "a.so+0x1") & keys("of_byte", "T.h", "a.so+0x2", *more)
    assert not keys("of_number", "T.g", "g", *before) & keys("of_number", "T.h", "h", *before)


def test_what_others_have_left_is_told_apart_in_one_function():
    """A function that wraps meets every slot that dangles, whoever let it dangle."""
    one = keys_of([*TAGGED, SHOWN], "signal", ("THPStorage_Wrap",))
    hermetic = [*TAGGED[:3], "enter_hermetic()", "del s0", "exit_hermetic()", SHOWN]
    other = keys_of(hermetic[:2] + hermetic[3:], "signal", ("THPStorage_Wrap",))
    assert not any(dedup.of_one_group(key, known) for key in one for known in other)
    thrice = keys_of([*hermetic[:5], "s0 = t0.untyped_storage()", *hermetic[4:]], "signal",
                     ("THPStorage_Wrap",))
    assert thrice & other
    longer = keys_of([*TAGGED[:2], "s0.nbytes()", *TAGGED[2:], SHOWN], "signal",
                     ("THPStorage_Wrap",))
    assert any(dedup.of_one_group(key, known) for key in longer for known in one)


def test_one_line_that_crashes_in_one_place_is_one_bug_whatever_was_before_it():
    before = [["s0 = t0.untyped_storage()", "s0.tag = 0"],
              ["s0 = t0.untyped_storage()", "del s0", SHOWN]]

    def keys(cause, last, *functions):
        return keys_of(["t0 = T.ones(1)", *cause, last], "signal", functions)
    one, other = (keys(cause, "s0.nbytes()", "f", "g") for cause in before)
    assert one & other
    assert not one & keys(before[1], "s0.nbytes()", "f", "h")
    assert not one & keys(before[1], "del s0", "f", "g")
    for place in "at::native::fill_", "c10::add", "libtorch_cpu.so.1.13+0x1", "THPVariable_Wrap":
        one, other = (keys(cause, "s0.nbytes()", place) for cause in before)
        assert not one & other, place


def test_a_crash_follows_from_a_broken_promise_by_its_mechanisms_and_inside_of_memory():
    hermetic = lines_of([*TAGGED[:2], "enter_hermetic()", "del s0", "exit_hermetic()", SHOWN])
    plain, dangling, broken = lines_of(TAGGED), frozenset(["crash in f"]), frozenset(["judge P2"])
    outside = frozenset([f"{dedup.OUTSIDE}tag s0 _"])
    assert dedup.follows(dangling, hermetic, broken, hermetic, TABLE)
    assert dedup.follows(dangling, hermetic, broken, plain, TABLE)
    assert not dedup.follows(dangling, plain, broken, hermetic, TABLE)
    assert not dedup.follows(outside, plain, broken, plain, TABLE)
    assert dedup.follows(outside, plain, broken | outside, plain, TABLE)


def test_where_counts_are_kept_says_nothing():
    counting = ("c10::intrusive_ptr::reset_", "c10::raw::intrusive_ptr::decref")
    bare, other = ["t0 = T.ones(1)", "del t0"], ["t0 = T.ones(1)", SHOWN]
    assert not keys_of(bare, "signal", counting) & keys_of(other, "signal", counting)


def test_what_only_the_end_shows_is_caused_by_all_lines():
    assert not keys_of(TAGGED, line=4) & keys_of(TAGGED[:3] + ["del t0"], line=4)


def test_an_exception_is_known_by_its_message():
    first, second = (keys_of(texts, "exception", message="SystemError: assert f.cc:12")
                     for texts in (TAGGED, ["t0 = T.ones(1)", "del t0"]))
    assert first == second != keys_of(TAGGED, "exception", message="SystemError: assert g.cc")


def test_an_error_is_told_by_its_words_and_a_broken_promise_is_not():
    reply = replies.reply(kind="exception",
                          message="RuntimeError: 7 failed at 0x7f01, please report")
    assert dedup.error(reply, signature.of_reply(reply)) == \
        "RuntimeError: N failed at ADDRESS, please report"
    reply = replace(reply, contract="P2")
    assert dedup.error(reply, signature.of_reply(reply)) == ""
