"""Tests of lines that a comparison of two subjects passes over: only what they raise differs."""

from slotfuzz.measure.differences import Reason
from slotfuzz.measure.differential import Pair
from tests.driver.measure.test_differential import (
    Server,
    after,
    compared,
    differs_in,
    plain,
    reason,
)


def raises_in(op, error="TypeError"):
    return lambda lines: plain(lines) + (f"!{error}" if lines[-1] == op else "")


def test_a_line_that_only_raises_another_error_stays_and_the_rest_is_compared():
    texts, known = ["make\nwrite\nread\n"], reason("write: the line raised: nothing / TypeError")
    torch = Server(raises_in("write"))
    with Pair(Server(plain, texts), torch, reasons=lambda: [known]) as pair:
        result = pair.compare(1, 1, lambda word: None)
    assert torch.ran.count(*texts) == len(set(torch.ran) & set(texts)) == 1, "it ran once"
    assert (result.programs, result.lines, result.alike) == (1, 3, 0)
    assert result.reasons == {"known": 1} and not result.unexplained
    says = lambda lines: (differs_in("read", "t0.x = 1")(lines)  # noqa: E731
                          + raises_in("write")(lines).removeprefix(plain(lines)))
    result = compared(says, texts, [known, reason("read: *")])
    assert result.reasons == {"known": 1} and result.lines == 2, "the line read is dropped"
    result = compared(says, texts, [known])
    assert [*result.unexplained] == ["read: t.x: nothing / *"], "the line after it is compared"


def test_a_difference_that_comes_from_what_an_earlier_line_raised_has_its_reason():
    """Without the line that raises, the later one shows nothing."""
    known = reason("write: the line raised: nothing / TypeError")
    says = lambda lines: raises_in("write")(lines) + (  # noqa: E731
        "\nt0.x = 1" if lines[-1] == "read" and "write" in lines else "")
    result = compared(says, ["make\nwrite\nread\n"], [known])
    assert result.reasons == {"known": 1} and not result.unexplained
    assert (result.programs, result.lines) == (1, 2)


def test_a_line_that_blames_an_earlier_one_for_its_error_is_not_passed_over():
    blames = Reason("known", "it is so", "P4", ("write: *",), ("make",))
    result = compared(after("make", raises_in("write")), ["make\nwrite\n"], [blames])
    assert result.reasons == {"known": 1} and result.lines == 1
