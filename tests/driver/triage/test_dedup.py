"""Dedup rules: pairs of findings, whether each pair is one bug, and the rule that decides."""

from dataclasses import replace

import pytest

from slotfuzz.evidence.signature import Signature, of_reply
from slotfuzz.finding import finding
from slotfuzz.language.program import Line, Table
from slotfuzz.paths import ROOT
from slotfuzz.schema.record import CRASH, ERROR, JUDGE, OUTSIDE, DedupKey, keys_of
from slotfuzz.triage import dedup, program_shape
from slotfuzz.triage.dedup import Case, Outside
from tests.driver import replies
from tests.driver.fake_engine import DESCRIPTION, parse_line


def op(name, operands, template, *effects):
    """A row that the fake engine lacks."""
    return {**DESCRIPTION["ops"][0], "name": name, "operands": operands, "template": template,
            "plain": False, "effects": list(effects)}


NAMES = {**DESCRIPTION["kinds"][-1], "letter": "z", "has_names": True, "values": ["T.f", "T.g"]}
SUB = {"names": ["Sub"], "module": "", "sentence": "a subclass", "text": "class Sub: pass",
       "effects": {}}
TABLE = Table({**DESCRIPTION, "prelude": [*DESCRIPTION["prelude"], SUB], "kinds": [
    *DESCRIPTION["kinds"], {**DESCRIPTION["kinds"][-1], "letter": "h"}, NAMES], "ops": [
        *DESCRIPTION["ops"], op("resize", ["s", "n"], "{0}.resize_({1})", "shrinks", "grows"),
        op("empty_it", ["t"], "{0}.apply_(emptying({0}))", "shrinks"),
        op("function", ["z", "t"], "{0}({1})"), op("of_byte", ["z", "v"], "{0}({1})"),
        op("resize_huge", ["t", "h"], "{0}.resize_({1})", "exceeds_memory", "raises"),
        op("empty", ["+t", "n"], "{0} = T.empty({1})"),
        op("sub", ["+t", "n"], "{0} = Sub({1})"),
        op("collect", [], "gc.collect()", "collects"),
        op("finalized", ["+s", "n"], "{0} = Finalized({1})", "finalizes"),
        op("note", ["s"], "weakref.ref({0}, print)", "calls_back"),
        op("check_storage", [], "check_storage()", "checks", "checks_storage"),
        op("check_grad", [], "check_grad()", "checks")]})
OTHERS = {"gc.collect()": Line("collect", ()), "s1 = Finalized(1)": Line("finalized", ("s1", "1")),
          "t0 = T.empty(4)": Line("empty", ("t0", "4")), "t0 = Sub(4)": Line("sub", ("t0", "4")),
          "T.f(t0)": Line("function", ("T.f", "t0")), "T.g(t0)": Line("function", ("T.g", "t0")),
          "T.f(7)": Line("of_byte", ("T.f", "7")), "note": Line("note", ("s0",)),
          "check_storage()": Line("check_storage", ()), "check_grad()": Line("check_grad", ()),
          "s1.resize_(4)": Line("resize", ("s1", "4")), "empty_it": Line("empty_it", ("t0",)),
          "t1.resize_(huge)": Line("resize_huge", ("t1", "8"))}
SHOWN = "s0 = t0.untyped_storage()"
TAGGED = ["t0 = T.ones(1)", SHOWN, "s0.tag = 0", "del s0"]
HERMETIC = ["t0 = T.ones(1)", SHOWN, "enter_hermetic()", "del s0", "exit_hermetic()", SHOWN]
COLLECTED = [*TAGGED, "gc.collect()", SHOWN]


def lines_of(texts):
    """Program lines in the driver's form."""
    found = [parse_line(text) for text in texts if text not in OTHERS]
    parsed = iter([Line(line["op"], tuple(line["operands"]), line["lane"]) for line in found])
    return [OTHERS[text] if text in OTHERS else next(parsed) for text in texts]


def case(texts, kind="assert", functions=(), line=None, outside=None, **fields):
    """A finding that LINE of the program TEXTS shows; by default its last line."""
    lines = lines_of(texts)
    at = len(lines) - 1 if line is None else line
    is_judge = kind == "assert"
    fields = {"contract": "P2" * is_judge, "check": "attributes" * is_judge,
              "object": "storage" * is_judge, **fields}
    reply = replies.reply(kind=kind, line=at, signal=11, **fields, lines=[
        replies.line(text, one.op, one.operands, one.lane) for text, one in zip(texts, lines)])
    words = of_reply(reply)
    if functions:
        words = Signature(words.verdict, tuple(functions))
    return Case(reply, words, lines, TABLE, outside)


def crash(texts, *functions, **fields):
    """A crash with FUNCTIONS on its stack."""
    return case(texts, "signal", functions, **fields)


def leak(*texts):
    """A finding of a wrapper that still exists at the end of the program."""
    return case(texts, line=len(texts), contract="P5", check="live wrappers", object="")


def broken(texts, contract, check="identity", kind="storage"):
    """A broken promise."""
    return case(texts, contract=contract, check=check, object=kind)


def said(message):
    """An exception that no promise explains."""
    return case(TAGGED, "exception", message=message)


def asserted(condition, file="a", more=""):
    """An internal assertion of PyTorch."""
    return said(f'RuntimeError: {condition} INTERNAL ASSERT FAILED at "./{file}.cpp":7, please'
                f" report a bug to PyTorch.{more}")


def out(text, raised=False, functions=()):
    """A crash after the line TEXT has moved elements outside of memory."""
    (line,) = lines_of([text])
    return crash([*TAGGED, SHOWN], *functions, outside=Outside(line, raised))


def one_bug(first, second):
    """Whether a hunt that knows the FIRST finding takes the SECOND one for it."""
    known = dedup.keys(first)
    return any(dedup.is_same(key, one) for key in dedup.keys(second) for one in known)


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
    ("by_mechanism", broken(HERMETIC, "P3", "finalized early"),
     broken(["s1 = Finalized(1)", *HERMETIC], "P3", "finalized early"), True),

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


def test_the_rules_are_told_in_the_first_lines_of_their_module():
    told = [line.split()[0] for line in dedup.__doc__.splitlines() if line.startswith("    by_")]
    assert told == [rule.__name__ for rule in dedup.RULES]


@pytest.mark.parametrize("name", ["buckets", "dedup", "program_shape", "shared", "smallest"])
def test_no_sentence_of_ours_is_read_back(name):
    text = (ROOT / f"harness/slotfuzz/triage/{name}.py").read_text()
    assert "import re\n" not in text and ".startswith(" not in text.replace('word.startswith(', "")


def test_mechanisms_are_effects_of_the_engine():
    text = (ROOT / "harness/engine/language/effects.h").read_text()
    words = program_shape.MECHANISMS | {*program_shape.SAME} | {
        "shrinks", "raises", "exceeds_memory", "dangles", "checks_storage"}
    assert all(f'"{word}"' in text for word in words)


def test_what_the_prelude_checks_is_what_the_judge_checks():
    fields = {"kind": "exception", "contract": "P2", "message": "AssertionError: P2: it is lost"}
    seen = [case([*COLLECTED, f"{check}()"], check=check, object="", **fields)
            for check in ("check_storage", "check_grad")]
    assert one_bug(broken(COLLECTED, "P2"), seen[0])
    assert not one_bug(broken(COLLECTED, "P2"), seen[1])
    assert one_bug(broken(COLLECTED, "P2", kind="tensor"), seen[1])


def test_a_line_on_a_lane_is_another_thread():
    there = [*TAGGED[:3], 'lane(1, "del s0")', SHOWN]
    assert one_bug(broken(there, "P2"), broken([*there, "s0.nbytes()"], "P2"))
    assert not one_bug(broken([*TAGGED, SHOWN], "P2"), broken(there, "P2"))


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
def test_a_longer_way_to_the_same_verdict_is_the_same_bug(verdict, key, known, same):
    longer, shorter = (replace(verdict, lines=sum((LINES[name] for name in names), ()))
                       for names in (key, known))
    assert dedup.is_same(longer, shorter) == same
    assert not dedup.is_same(replace(longer, functions=("other",)), shorter)


@pytest.mark.parametrize("verdict", [DedupKey(CRASH), DedupKey(OUTSIDE)])
def test_wherever_it_crashes_no_way_is_longer(verdict):
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
    folders = sorted((ROOT / "repro").glob("torch-*/*/finding.json"))
    cause_of = {}
    for path in folders:
        name = f"{path.parent.parent.name}/{path.parent.name}"
        keys = keys_of(finding.load(path.parent))
        assert keys, name
        met = {name}.union(*(names for names, known in cause_of.values() if known & keys))
        joined = keys.union(*(known for _, known in cause_of.values() if known & keys))
        cause_of |= {one: (met, joined) for one in met}
    causes = sorted({" ".join(sorted(names)) for names, _ in cause_of.values()})
    assert causes == (ROOT / "tests/golden/causes.txt").read_text().splitlines()


def test_a_known_error_is_told_by_its_words_and_a_broken_promise_is_not():
    words = said("RuntimeError: 7 failed at 0x7f01, please report")
    assert dedup.error(words.reply, words.words) == \
        "RuntimeError: N failed at ADDRESS, please report"
    promise = replace(words.reply, contract="P2")
    assert dedup.error(promise, of_reply(promise)) == ""
    assert dedup.keys(words) == {DedupKey(ERROR, words=words.words.text)}
