"""The search on numbers instead of programs: what it keeps, what it asks, and when it ends."""

import pytest

from slotfuzz.reduce.search import BudgetSpent, Search


def searching(interesting, several=None, runs_max=100):
    """A search that starts at the number 40, and the list of numbers that it asks about."""
    asked = []

    def ask(number):
        asked.append(number)
        return interesting(number)
    return Search(40, ask, several, runs_max, key=lambda number: number), asked


def fewer(number):
    """Smaller numbers, the largest step first."""
    return (number - step for step in (8, 4, 2, 1) if number >= step)


def test_it_settles_if_no_smaller_value_is_interesting():
    search, asked = searching(lambda number: number % 2 == 0 and number > 3)
    search.settle(fewer)
    assert search.best == 4 and len(asked) == len(set(asked)) == search.runs == search.tried


def test_many_values_share_a_run_and_a_failing_one_is_asked_alone():
    batches = []

    def several(numbers):
        batches.append(numbers)
        count = next((i for i, number in enumerate(numbers, 1) if number % 4 == 0), None)
        return (count, True) if count else (len(numbers), False)

    search, asked = searching(lambda number: number % 8 == 0, several)
    search.settle(fewer)
    assert search.best == 0
    assert asked[:2] == [32, 24] and all(number % 4 == 0 for number in asked)
    assert batches[0] == [32, 36, 38, 39]


def test_a_value_that_fails_only_among_others_is_not_kept():
    search, asked = searching(lambda number: False, lambda numbers: (1, True))
    search.settle(fewer)
    assert search.best == 40 and sorted(asked) == [32, 36, 38, 39]


def test_no_run_begins_when_the_time_is_over():
    search = Search(40, lambda number: True, None, 100, lambda number: number, seconds_max=0)
    with pytest.raises(BudgetSpent):
        search.settle(fewer)
    assert search.best == 40 and search.runs == 0


def test_a_spent_budget_keeps_the_best():
    search, _ = searching(lambda number: True, runs_max=2)
    with pytest.raises(BudgetSpent):
        search.settle(fewer)
    assert search.best == 24 and search.runs == 2
