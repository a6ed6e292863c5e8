"""The rate of a hunt's progress line."""

from slotfuzz.progress import LINE_SECONDS, Rate


def test_a_rate_is_that_of_the_last_seconds():
    times = iter([0.0, 1.0, 2.0, 2.0 + LINE_SECONDS, 2.0 + 2 * LINE_SECONDS])
    rate = Rate(lambda: next(times))
    assert [rate.of(100), rate.of(300)] == [100, 150]
    assert [rate.of(300), rate.of(400)] == [0, 100 / LINE_SECONDS]


def test_a_count_that_was_estimated_too_high_gives_no_rate():
    times = iter([0.0, 0.0, 1.0])
    rate = Rate(lambda: next(times))
    assert [rate.of(0), rate.of(-5)] == [0, 0]
