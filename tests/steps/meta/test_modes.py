"""A program may stay in a fake mode: the engine leaves it, and no check is judged there."""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.subject import subject

MADE = "t0 = T.ones(1)\nk0 = FakeTensorMode()\nv0 = MetaConverter()\n"
# It fails in a mode, because it makes tensors that are to be real.
CHECK = "check_propagates(lambda a: a.view(-1), t0)\n"


@pytest.fixture(scope="module", name="server")
def server_of_meta():
    """The target `meta` on the core without a sanitizer."""
    with Server(subject.resolve("core", "none", ["meta"]), "meta") as server:
        yield server


@pytest.mark.parametrize("program", [
    "k0.__enter__()\nt1 = T.ones(1)\nt2 = t1.view(-1)\n", "k0.__enter__()\nk0.__enter__()\n",
    'lane(1, "k0.__enter__()")\n', "k0.__enter__()\n" + CHECK,
    "k0.__enter__()\nleave_modes()\n" + CHECK, "leave_modes()\n" + CHECK,
    "s0 = LeaksSelf(1)\nk0.__enter__()\ndel s0\n",
])
def test_a_program_in_a_mode_is_clean_and_leaves_it(server, program):
    for text in (MADE + program, MADE + CHECK, "t0 = T.ones(1)\nt1 = t0.view(-1)\n"):
        reply = server.run(text)
        assert not reply.is_finding and reply.dropped_count == 0, reply


def test_a_real_tensor_is_refused_until_the_mode_is_left(server):
    reply = server.run(MADE + "k0.__enter__()\nt1 = t0.view(-1)\nleave_modes()\nt2 = t0.view(-1)\n")
    assert [line.raised != "" for line in reply.lines] == [False] * 4 + [True, False, False]
