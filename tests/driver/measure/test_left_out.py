"""Tests of which ops the comparison of two subjects draws."""

from slotfuzz.measure import differential
from slotfuzz.measure.differential import Pair
from tests.driver.measure.test_differential import OPS, Server, after, differs_in, plain, reason


def test_an_op_that_always_differs_with_a_reason_is_left_out():
    for says, reasons in ((differs_in("write"), [reason("write: *")]),
                          (lambda lines: None if lines == ["write"] else plain(lines), [])):
        with Pair(Server(plain), Server(says), reasons=lambda: reasons) as pair:
            assert pair.ops == ["make", "read"] and [*pair.vocabulary.left_out] == ["write"]
    with Pair(Server(plain), Server(differs_in("write")), reasons=lambda: []) as pair:
        assert pair.ops == OPS, "an op that differs without a reason stays"


def test_an_op_at_which_many_programs_of_the_first_round_differ_is_drawn_no_more(monkeypatch):
    monkeypatch.setattr(differential, "BATCH", 8)
    texts = ["make\nwrite\nread\n"] * 8 + ["make\nread\n"] * 2
    core, torch = Server(plain, texts), Server(after("make", differs_in("write")))
    with Pair(core, torch, reasons=lambda: [reason("write: *")]) as pair:
        result = pair.compare(10, 1, lambda word: None)
        assert [*pair.vocabulary.left_out] == ["write"] and core.wanted == ["make", "read"]
    assert result.reasons == {"known": 8} and (result.programs, result.alike) == (10, 2)


def crashes_after(*ops):
    """A subject in which reading crashes after a line of OPS."""
    return lambda lines: (None if lines[-1] == "read" and not {*ops}.isdisjoint(lines)
                          else plain(lines))


def left_out_after(says, *rounds):
    with Pair(Server(plain), Server(says), reasons=list) as pair:
        for texts in rounds:
            stops = [pair._stop(those) for those in pair.differences(texts)]
            pair.vocabulary.leave_out([
                (stop, stop.ops if stop else text.split())
                for text, stop in zip(texts, stops, strict=True)], pair.reason_for)
        return [*pair.vocabulary.left_out], pair.vocabulary.drawn


def test_an_op_that_leads_to_crashes_in_later_lines_is_drawn_no_more():
    texts = ["make\nwrite\nread\n", *["make\nread\n"] * 4, "make\nmake\n"] * 8
    assert left_out_after(crashes_after("write"), texts) == (["write"], ["make", "read"])
    half = ["make\nwrite\nread\n", *["make\nread\n"] * 4, "make\nmake\n"] * 4
    assert left_out_after(crashes_after("write"), half)[0] == [], "four programs may be chance"
    assert left_out_after(crashes_after("write"), half, half)[0] == ["write"], "rounds add up"


def test_an_op_is_not_left_out_for_the_crashes_of_another():
    """All programs that crash reach `make`, and half of those that do reach it crash."""
    texts = ["make\nwrite\nread\n", "make\nread\n"] * 8 + ["read\n"] * 40
    assert left_out_after(crashes_after("write"), texts) == (["write"], ["make", "read"])


def test_only_ops_of_both_are_generated():
    core, torch = Server(plain, ["make\n"], masked=["read"]), Server(plain, masked=["write"])
    with Pair(core, torch, reasons=lambda: []) as pair:
        pair.compare(1, 1, lambda word: None)
    assert core.wanted == ["make"]


def test_only_programs_of_torch_have_the_short_time():
    """A program of the core that takes long is a difference, so it has the server's own limit."""
    core, torch = Server(plain, ["make\n"]), Server(plain)
    with Pair(core, torch, reasons=list) as pair:
        pair.compare(1, 1, lambda word: None)
    assert torch.seconds == {differential.TORCH_SECONDS} and core.seconds == {10}


def test_checks_are_left_to_hunts():
    with Pair(Server(plain), Server(plain), reasons=list) as pair:
        assert "check_kept" in pair.core.table.ops and pair.ops == OPS
