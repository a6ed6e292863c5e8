"""The real engine and the fake one of the driver's tests answer by one schema.

Otherwise the driver's tests would test it with an engine that does not exist.
"""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.subject import subject
from tests.driver.conftest import fake_subject  # noqa: F401  # pylint: disable=unused-import
from tests.driver.schema.test_answers import REQUESTS, wrong_in

MUTANT, TARGET = "mutant:hermetic-del-storage", "storage"


@pytest.fixture(scope="module")
def real():
    """A fork server of a mutant that crashes as the fake engine does."""
    with Server(subject.resolve(MUTANT, None, [TARGET], with_python=False), TARGET) as server:
        yield server


@pytest.fixture
def servers(real, fake_subject):  # noqa: F811
    """The real server and a fake one, which has its own build folder."""
    with Server(fake_subject, TARGET) as fake:
        yield real, fake


@pytest.mark.parametrize("name", REQUESTS)
def test_both_engines_answer_by_the_schema(servers, name):
    request = REQUESTS[name]
    told = [server._request(request, 20) for server in servers]
    assert [wrong_in(request, answer) for answer in told] == ["", ""]
    if "run" in request:
        real, fake = told
        assert real["outcome"] == fake["outcome"]


def test_the_real_engine_answers_by_the_schema_when_a_program_takes_too_long(real):
    request = {"run": "", "timeout": 0}
    answer = real._request(request, 20)
    assert (answer["kind"], wrong_in(request, answer)) == ("timeout", "")


def test_the_fake_engine_describes_itself_as_the_real_one(servers):
    real, fake = (server.table.description for server in servers)
    assert set(fake) == set(real)
    for part in ("ops", "kinds", "checks", "planted"):
        assert {key for row in fake[part] for key in row} == {
            key for row in real[part] for key in row}, part
