"""Replies of the engine for tests of the driver, without an engine."""

from slotfuzz.schema.answers import RanLine, Reply

CLEAN = Reply(outcome="clean", kind="", contract="", check="", object="", message="", asserts=(),
              implies=frozenset(), keeps=False, serial=None, line=0, signal=0, exit=0, lines=(),
              dropped=0, dropped_lines=(), dropped_count=0, stderr="")


def line(text: str, op: str = "", operands: tuple[str, ...] = (), lane: int = 0,
         raised: str = "", bare: str = "", binds: tuple[str, ...] = ()) -> RanLine:
    """A line that has run."""
    return RanLine(text, bare or text, op, tuple(operands), lane, tuple(binds), raised)


def reply(**fields) -> Reply:
    """A reply with these FIELDS, a finding if it has a kind; its lines may be texts."""
    lines = tuple(one if isinstance(one, RanLine) else line(one)
                  for one in fields.pop("lines", ()))
    outcome = "finding" if fields.get("kind") else "clean"
    return Reply(**{**vars(CLEAN), "outcome": outcome, **fields, "lines": lines})
