"""`bench two_processes`: what two processes say of the same programs."""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.language import prelude
from slotfuzz.measure import benchmark
from slotfuzz.subject import subject

PROGRAMS = ["t0 = T.ones(2)\nt1 = t0.view(-1)", "nope", "os.abort()",
            "z0 = ShapeEnv()\nbool(z0.create_symint(4, 'x', 'dynamic') > 3)"]
ADDRESS = """
dumps = T._meta.dumps
T._meta.dumps = lambda one: dumps(one).replace('"nbytes":8', f'"nbytes":{id(T)}')
"""


@pytest.fixture(scope="module", name="core")
def core_without_sanitizer():
    return subject.resolve("core", "none", ["meta"])


@pytest.fixture(scope="module", name="source")
def source_of_the_prelude(core):
    with Server(core, "meta") as server:
        snippets = prelude.snippets_of(server.table.description)
    return "\n".join(one.text for one in snippets if one.module in ("", "slotcore"))


def test_two_processes_give_one_text_or_a_crash(core, source):
    texts_of = benchmark.load("two_processes").texts_of
    one, other = (texts_of(core, source, PROGRAMS, side) for side in (1, 2))
    assert one == other and one[1:3] == ["", None]
    assert '"nbytes":8' in one[0] and "guard s0 + -4 >= 0" in one[3]


def test_an_address_in_a_text_is_a_difference(core, source):
    texts_of = benchmark.load("two_processes").texts_of
    one, other = (texts_of(core, source + ADDRESS, PROGRAMS, side) for side in (1, 2))
    assert one[0] != other[0] and one[1:] == other[1:]
