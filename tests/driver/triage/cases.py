"""Findings on the fake engine's ops, from lines and words, for tests of triage."""

from slotfuzz.evidence.signature import Signature, of_reply
from slotfuzz.language.program import Line, Table
from slotfuzz.triage import dedup
from slotfuzz.triage.dedup import Case, Outside
from tests.driver import replies
from tests.driver.fake_table import DESCRIPTION, parse_line


def op(name, operands, template, *effects):
    """A row that the fake engine lacks."""
    return {**DESCRIPTION["ops"][0], "name": name, "operands": operands, "template": template,
            "plain": False, "effects": list(effects)}


NAMES = {**DESCRIPTION["kinds"][-1], "key": "z", "has_names": True, "values": ["T.f", "T.g"]}
SUB = {"names": ["Sub"], "module": "", "sentence": "a subclass", "text": "class Sub: pass",
       "effects": {}}
TABLE = Table({**DESCRIPTION, "prelude": [*DESCRIPTION["prelude"], SUB], "kinds": [
    *DESCRIPTION["kinds"], {**DESCRIPTION["kinds"][-1], "key": "h"}, NAMES], "ops": [
        *DESCRIPTION["ops"], op("resize", ["s", "n"], "{0}.resize_({1})", "shrinks", "grows"),
        op("empty_it", ["t"], "{0}.apply_(emptying({0}))", "shrinks"),
        op("function", ["z", "t"], "{0}({1})"), op("of_byte", ["z", "v"], "{0}({1})"),
        op("resize_huge", ["t", "h"], "{0}.resize_({1})", "exceeds_memory", "raises"),
        op("empty", ["+t", "n"], "{0} = T.empty({1})"),
        op("sub", ["+t", "n"], "{0} = Sub({1})"),
        op("collect", [], "gc.collect()", "collects"),
        op("finalized", ["+s", "n"], "{0} = Finalized({1})", "finalizes"),
        op("note", ["s"], "weakref.ref({0}, print)", "calls_back"),
        op("check_grad", [], "check_grad()", "checks")]})
OTHERS = {"gc.collect()": Line("collect", ()), "s1 = Finalized(1)": Line("finalized", ("s1", "1")),
          "t0 = T.empty(4)": Line("empty", ("t0", "4")), "t0 = Sub(4)": Line("sub", ("t0", "4")),
          "T.f(t0)": Line("function", ("T.f", "t0")), "T.g(t0)": Line("function", ("T.g", "t0")),
          "T.f(7)": Line("of_byte", ("T.f", "7")), "note": Line("note", ("s0",)),
          "check_grad()": Line("check_grad", ()),
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
        words = Signature(words.reporter, words.what, tuple(functions))
    return Case(reply, words, lines, TABLE, outside)


def crash(texts, *functions, **fields):
    """A crash with FUNCTIONS on its stack."""
    return case(texts, "signal", functions, **fields)


def leak(*texts):
    """A finding of a wrapper that still exists at the end of the program."""
    return case(texts, line=len(texts), contract="P5", check="live wrappers", object="")


def broken(texts, contract, check="identity", kind="storage", implies=()):
    """A broken promise; P2 and P4 say that something is kept."""
    return case(texts, contract=contract, check=check, object=kind, implies=frozenset(implies),
                keeps=contract in ("P2", "P4"))


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
