"""The progress of a libFuzzer process, from its output."""

import time

import pytest

from slotfuzz.engine import fuzzer


@pytest.mark.parametrize("line, programs, coverage", [
    (b"#8\tNEW    cov: 41 ft: 9 corp: 1/9b lim: 4 exec/s: 100 rss: 30Mb", 8, 41),
    (b"#864\tINITED ft: 931 corp: 464/170Kb exec/s: 7 rss: 286Mb", 864, 0),
    (b"#8192\tpulse  corp: 1/1b lim: 4 exec/s: 7 rss: 30Mb", 8192, 0),
])
def test_progress_is_read_with_and_without_coverage(line, programs, coverage):
    numbers = [int(group or 0) for group in fuzzer.STATUS.match(line).groups()]
    assert numbers[0] == programs and numbers[1] == coverage and numbers[-1] in (7, 100)


def test_a_process_has_a_rate_in_its_first_second():
    """libFuzzer counts whole seconds, so its rate is 0 in the first one."""
    one = fuzzer.Fuzzer.__new__(fuzzer.Fuzzer)
    one.started, one.has_loaded, one._spared = time.monotonic() - 0.5, False, 0
    one._take_in(b"#800\tNEW    cov: 41 ft: 9 corp: 1/9b lim: 4 exec/s: 0 rss: 30Mb")
    assert 0 < one.progress.rate <= 1600


def test_programs_that_did_not_run_are_not_counted():
    one = fuzzer.Fuzzer.__new__(fuzzer.Fuzzer)
    one.started, one.has_loaded, one._spared = time.monotonic() - 0.5, False, 0
    counts = []
    for line in (b"#70\tINITED ft: 93 corp: 64/17Kb exec/s: 0 rss: 286Mb",
                 b"slotfuzz: 64 programs of the corpus did not run again",
                 b"#128\tpulse  corp: 1/1b lim: 4 exec/s: 7 rss: 30Mb",
                 b"stat::number_of_executed_units: 200"):
        one._take_in(line)
        counts.append(one.progress.programs)
    assert counts == [70, 6, 64, 136]
