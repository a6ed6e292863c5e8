"""The fake engine of the driver's tests answers as the real one does: the same fields and types.

Else the driver's tests would show that it copes with an engine that there is not.
"""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.subject import subject
from tests.driver.conftest import CRASH, fake_subject  # noqa: F401  # pylint: disable=unused-import

MUTANT, TARGET = "mutant:hermetic-del-storage", "storage"
CLEAN = "t0 = T.ones(1)\ns0 = t0.untyped_storage()\n"
# Fields that a reply has only where they say something.
OPTIONAL = {"reset"}
QUESTIONS = {
    "clean": lambda server: server.run(CLEAN),
    "raising": lambda server: server.run("s0 = t0.untyped_storage()\n" + CLEAN),
    "crash": lambda server: server.run(CRASH),
    "dropped lines": lambda server: server.run(CLEAN + "rubbish\n"),
    "states": lambda server: server.states([CLEAN, CLEAN]),
    "states with a crash": lambda server: server.states([CLEAN, CRASH]),
    "facts": lambda server: server.facts([CLEAN], whole=True),
    "parse": lambda server: server._request({"parse": CLEAN, "frame": []}, 0),
    "extend": lambda server: server.extend(CLEAN, 2, 1),
    "unknown lines": lambda server: server.unknown_lines(CLEAN + "rubbish\n"),
}


@pytest.fixture
def servers(fake_subject):  # noqa: F811
    """A real fork server of a mutant that crashes as the fake does, and a fake one."""
    real = subject.resolve(MUTANT, None, [TARGET], with_python=False)
    with Server(real, TARGET) as one, Server(fake_subject, TARGET) as other:
        yield one, other


def shape(value):
    """The fields and types of a document; of a list, those of all that is in it."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in sorted(value.items())
                if key not in OPTIONAL}
    if isinstance(value, (list, tuple)):
        return {str(shape(one)) for one in value}
    return type(value).__name__


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_fake_engine_answers_as_the_real_one(servers, question):
    real, fake = (QUESTIONS[question](server) for server in servers)
    assert shape(fake) == shape(real)


def test_the_fake_engine_describes_itself_as_the_real_one(servers):
    real, fake = (server.table.description for server in servers)
    assert set(fake) == set(real)
    for part in ("ops", "kinds", "planted"):
        assert {key for row in fake[part] for key in row} == {
            key for row in real[part] for key in row}, part
