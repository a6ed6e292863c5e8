"""The fake engine's answers match the schema, and the check reports any other shape."""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.schema import answers, shape
from tests.driver.conftest import CRASH

CLEAN = "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"
BROKEN = CLEAN + "s0.tag = 7\n"
# Requests to the fake engine; tests/steps/test_conformance.py sends them to the real one.
REQUESTS = {
    "clean": {"run": CLEAN}, "raising": {"run": "s0 = t0.untyped_storage()\n" + CLEAN},
    "crash": {"run": CRASH}, "dropped lines": {"run": CLEAN + "rubbish\n"},
    "nothing": {"run": ""},
    "states": {"states": [CLEAN, CLEAN]}, "states with a crash": {"states": [CLEAN, CRASH]},
    "observations": {"observations": [CLEAN], "program_seconds": 10},
    "traces": {"traces": [CLEAN]},
    "parse": {"parse": CLEAN + "rubbish\n", "frame": []},
    "extend": {"extend": CLEAN, "count": 2, "seed": 1},
}


def wrong_in(request: dict, answer: dict) -> str:
    """An error in an engine's ANSWER to REQUEST; empty if the answer is valid."""
    return shape.wrong_as(answer, answers.OF_REQUEST[next(iter(request))])


@pytest.mark.parametrize("name", [*REQUESTS, "broken promise"])
def test_the_fake_engine_answers_by_the_schema(name, fake_subject):
    request = REQUESTS.get(name, {"run": BROKEN})
    with Server(fake_subject, "storage") as server:
        assert wrong_in(request, server._request(request, 9)) == ""


def test_an_answer_of_another_shape_is_seen(fake_subject):
    request = {"run": CRASH}
    with Server(fake_subject, "storage") as server:
        answer = server._request(request, 9)
    less = {name: value for name, value in answer.items() if name != "check"}
    first, *rest = answer["lines"]
    for changed, said in [
            (less, "it lacks check"), ({**answer, "sense": 1}, "it has sense, which Reply lacks"),
            ({**answer, "line": -1}, "its line is not a whole number from 0 on"),
            ({**answer, "lines": [{**first, "lane": "0"}, *rest]},
             "its lines number 0 is wrong: its lane is not a whole number from 0 on")]:
        assert wrong_in(request, changed) == said
