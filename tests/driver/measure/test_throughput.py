"""The arithmetic of bench/throughput.py, with the output of a fake target."""

import pytest

from slotfuzz.measure import benchmark

TOLD = {
    "programs": 1, "lines": 4,
    "parts": {"lines": 8000.0, "reset": 1000.0, "judge": 600.0, "ledger": 400.0, "text": 500.0},
    "ops": [
        {"op": "own", "raised": True, "collects": False, "lines": 1, "nanoseconds": 5000.0},
        {"op": "collect", "raised": False, "collects": True, "lines": 1, "nanoseconds": 1200.0},
        {"op": "del", "raised": False, "collects": False, "lines": 2, "nanoseconds": 1800.0},
    ],
}


@pytest.fixture
def throughput():
    return benchmark.load("throughput")


def test_a_run_is_all_but_the_text(throughput):
    assert throughput.rate_of(TOLD, throughput.RUN) == pytest.approx(1e5)
    found = {row["part"]: row["ratio"] for row in throughput.parts(TOLD)}
    assert (found["all"], found["text"]) == (1.25, 0.062)


def test_each_line_is_in_one_group(throughput):
    assert [list(row.values()) for row in throughput.mix(TOLD)] == [
        ["raise", "25.0%", "62.5%", 5000], ["collect", "25.0%", "15.0%", 1200],
        ["others", "50.0%", "22.5%", 900]]


def test_without_raising_the_other_lines_take_their_place(throughput):
    assert throughput.without_raising(TOLD) == pytest.approx(1e9 / (4 * 1000 + 2000))


def test_the_document_names_the_slowest_op(throughput):
    text = throughput.document(throughput.section("torch", TOLD))
    assert "| `own`, raises | 62.5% | 5000 |" in text


def test_a_new_document_keeps_the_sections_of_other_benchmarks(throughput):
    title = benchmark.load("function_calls").TITLE
    former = throughput.document(throughput.section("core", TOLD))
    both = benchmark.with_section(former, title, "It takes 1 ns.")
    now = throughput.document(throughput.section("torch", TOLD))
    text = throughput.with_others(now, both)
    assert list(benchmark.sections(text)) == ["", "## torch", title]
    assert benchmark.sections(text)[title].strip() == "It takes 1 ns."
    assert benchmark.with_section(both, title, "It takes 2 ns.") == both.replace("1 ns", "2 ns")
    assert throughput.with_others(now, former) == now
