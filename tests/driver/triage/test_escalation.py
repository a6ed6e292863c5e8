"""Escalation: simpler ops, fetching objects, and following a broken promise to its crash."""

from types import SimpleNamespace

from slotfuzz.evidence.signature import Signature
from slotfuzz.language.program import Line, Table
from slotfuzz.reduce.minimize import Minimized, minimize
from slotfuzz.schema.answers import State
from slotfuzz.triage import smallest
from tests.driver import replies


def op(name, operands, template):
    """A row of the table, as --describe has it."""
    return {"name": name, "operands": operands, "template": template, "masked": False,
            "plain": name in ("new", "ones")}


TABLE = Table({
    "kinds": [{"key": "s", "prefix": "s", "values": [], "count": 4, "has_names": False,
               "value_effects": {}, "value_tiers": {}},
              {"key": "t", "prefix": "t", "values": [], "count": 4, "has_names": False,
               "value_effects": {}, "value_tiers": {}}],
    "ops": [op("new", ["+s"], "{0} = New()"), op("new_odd", ["+s"], "{0} = Odd()"),
            op("ones", ["+t"], "{0} = Ones()"), op("own", ["t", "s"], "{0}.set_({1})"),
            op("wrap", ["*s", "t"], "{0} = {1}.storage()"), op("drop", ["-s"], "del {0}"),
            op("look", ["s"], "{0}.look()"), op("late", ["s"], "{0}.late()")],
})


def test_a_line_gets_the_simplest_op_of_its_operands():
    lines = [Line("new_odd", ("s0",)), Line("drop", ("s0",))]
    result = minimize(lines, lambda found: any(line.op == "drop" for line in found)
                      and len(found) == 2, TABLE)
    assert [line.op for line in result.lines] == ["new", "drop"]


def test_fetching_replaces_making_where_that_saves_a_line():
    lines = [Line("ones", ("t0",)), Line("new", ("s0",)), Line("own", ("t0", "s0")),
             Line("drop", ("s0",))]

    def interesting(found):
        ops = [line.op for line in found]
        owned = "own" in ops and "new" in ops or "wrap" in ops
        return "ones" in ops and owned and ops[-1] == "drop"

    def several(programs):
        done = next((i for i, found in enumerate(programs) if interesting(found)), None)
        return (len(programs), False) if done is None else (done + 1, True)

    result = minimize(lines, interesting, TABLE, several=several)
    assert TABLE.program_text(result.lines) == "t0 = Ones()\ns0 = t0.storage()\ndel s0\n"


def test_making_stays_where_no_line_can_go():
    lines = [Line("ones", ("t0",)), Line("new", ("s0",))]
    result = minimize(lines, lambda found: [line.op for line in found] == ["ones", "new"], TABLE)
    assert result.lines == lines


class Subject:
    """A server whose subject crashes on `look` after `drop`, unless MENDED."""

    table = TABLE
    subject = SimpleNamespace(capabilities=SimpleNamespace(has_many_bugs=False))

    def __init__(self, crash_needs_drop):
        self.crash_needs_drop = crash_needs_drop

    def extend(self, text, count, seed):
        return [text + "s0.look()\n"] * count

    def run(self, text, timeout_seconds=1.0, line_seconds=1.0):
        crash = "look" in text and ("del" in text or not self.crash_needs_drop)
        promise = "del" in text
        kind = "exit" if crash else "assert" if promise else ""
        lines = [replies.line(line, name, ("s0",))
                 for line in text.splitlines()
                 for name in [{"s0": "look", "de": "drop"}.get(line[:2], "new")
                              if "=" not in line else "new"]]
        return replies.reply(kind=kind, exit=86, contract="P3", check="early", lines=lines)

    def states(self, texts):
        states = []
        for reply in map(self.run, texts):
            states.append(State(reply.outcome, reply.kind == "exit", True, None))
            if reply.kind:
                break
        return states


BROKEN = [Line("new", ("s0",)), Line("drop", ("s0",))]


def promise():
    """A minimal finding by the judge."""
    return smallest.Smallest(replies.reply(kind="assert", contract="P3"),
                             Signature("judge", "P3 early"),
                             Minimized(list(BROKEN), 2, 1, 0.0, True))


def test_a_broken_promise_that_becomes_a_crash_is_the_crash():
    subject = Subject(crash_needs_drop=True)
    worst = smallest.escalation(subject, subject, promise(), 1)
    assert worst.reply.kind == "exit"


def test_a_crash_that_does_not_need_the_broken_promise_is_another_bug():
    subject, first = Subject(crash_needs_drop=False), promise()
    assert smallest.escalation(subject, subject, first, 1) is first


def test_a_simpler_line_that_crashes_by_itself_is_another_bug():
    """`look` replaces `drop`, and crashes even if no line follows."""
    first = promise()
    first.minimized.lines[:] = [BROKEN[0], Line("late", ("s0",))]
    subject = Subject(crash_needs_drop=False)
    subject.extend = lambda text, count, seed: [text + "pass\n"] * count
    assert smallest.escalation(subject, subject, first, 1) is first


def test_a_crash_stays_what_it_is():
    crash = smallest.Smallest(replies.reply(kind="exit"), Signature("sanitizer", "x"),
                            Minimized(BROKEN, 2, 1, 0.0, True))
    assert smallest.escalation(SimpleNamespace(), SimpleNamespace(), crash, 1) is crash
