"""The parser of the real engine on scripts, corpora, and other texts."""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.finding import emit
from slotfuzz.language import prelude
from slotfuzz.paths import ROOT
from slotfuzz.schema.answers import DroppedLine
from slotfuzz.subject import catalogue, subject

SCRIPTS = sorted((ROOT / "repro").glob("**/repro.py"))
SEEDS = sorted((ROOT / "corpus").glob("*/*.py"))

# A subject that has a snippet of each module.
SUBJECTS = {"": "core", "slotcore": "core", "torch": "torch"}


@pytest.fixture(scope="module")
def server():
    """The server of one target, since all targets have the same table."""
    chosen = subject.resolve("core", "address", [catalogue.DEFAULT_TARGET])
    with Server(chosen, catalogue.DEFAULT_TARGET) as running:
        yield running


def unknown(server, text):
    """The texts of the unknown lines."""
    named, count = server.unknown_lines(text)
    assert len(named) == min(count, 20)
    return [line.text for line in named]


def test_nothing_in_a_script_is_unknown(server):
    assert SCRIPTS
    named = {script: unknown(server, script.read_text()) for script in SCRIPTS}
    assert not any(named.values()), {path: lines for path, lines in named.items() if lines}


def test_nothing_in_a_seed_is_unknown(server):
    assert SEEDS
    named = {seed: unknown(server, seed.read_text()) for seed in SEEDS}
    assert not any(named.values()), {path: lines for path, lines in named.items() if lines}


def test_each_snippet_alone_is_the_frame_of_a_script(server):
    snippets = prelude.snippets_of(server.table.description)
    reply = server.run("t0 = T.ones(1)\n")
    for snippet in snippets:
        script = emit.script(reply, [snippet], SUBJECTS[snippet.module], "address", "")
        body = script.removesuffix("t0 = T.ones(1)\n")
        assert unknown(server, f"{body}{snippet.text}\n\nt0 = T.ones(1)\n") == [], snippet.names


@pytest.mark.parametrize("script", SCRIPTS[::12], ids=lambda path: path.parent.name)
def test_a_mistake_in_a_script_is_named(server, script):
    text = script.read_text()
    *_, body = text.rstrip("\n").rpartition("\n\n")
    first = body.splitlines()[0]
    wrong = text.removesuffix(body + "\n") + body.replace(first, first + "x", 1) + "\n"
    named, count = server.unknown_lines(wrong)
    assert count == 1
    assert named[0] == DroppedLine(len(text.removesuffix(body + "\n").splitlines()) + 1,
                                   first + "x", "no op")


def test_prose_is_unknown(server):
    named, count = server.unknown_lines((ROOT / "README.md").read_text())
    assert count > 50 and len(named) == 20 and named[0] == DroppedLine(
        3, named[0].text, "no op")


def test_each_line_that_does_not_run_has_a_reason(server):
    too_long = "gc.collect()\n" * (server.table.description["line_max"] + 2)
    assert [line.why for line in server.unknown_lines(too_long)[0]] == ["too many"] * 2
    reply = server.run("t0 = T.ones(1)\n\n# a comment\n  # another\no0 = Other()\nt0 = T.one(1)\n")
    assert [(line.line, line.why) for line in reply.dropped_lines] == [
        (5, "masked"), (6, "no op")]
    assert (reply.dropped_count, len(reply.lines)) == (2, 1)
