"""The process to which `check_other_process` sends texts: it answers, may crash, and ends."""

import subprocess

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.language import prelude
from slotfuzz.subject import subject

# A script that runs for ever if the other process outlives it, since that has its stdout.
SCRIPT = """
import gc, os, sys, weakref
import slotcore as T
PARENT = os.getpid()
{prelude}
PROMISE = "M13: a text means something else in another process"
def message_of(check, *operands):
    try:
        check(*operands)
    except AssertionError as error:
        return str(error)
{lines}
"""
CRASHING = ("def answered(text):\n", "def answered(text):\n"
            "    if text == 'crash' and os.getpid() != PARENT:\n        os.abort()\n")


@pytest.fixture(scope="module", name="core")
def core_without_sanitizer():
    return subject.resolve("core", "none", ["meta"])


@pytest.fixture(scope="module", name="source")
def source_of_the_prelude(core):
    with Server(core, "meta") as server:
        snippets = prelude.snippets_of(server.table.description)
    return "\n".join(one.text for one in snippets if one.module in ("", "slotcore"))


def run(core, source, folder, lines):
    script = folder / "script.py"
    script.write_text(SCRIPT.format(prelude=source, lines=lines))
    subprocess.run(core.script_command(str(script)), check=True, capture_output=True, timeout=60,
                   env=core.script_environment())


def test_texts_and_errors_are_the_same_elsewhere(core, source, tmp_path):
    run(core, source, tmp_path, """
one = T.ones(2, 3).requires_grad_()
check_other_process(one, one.view(-1))
check_text_elsewhere("[")
assert "expected a list" in answer_to('{"format":"slotfuzz-meta","version":2,"roots":1}')

""")


def test_another_meaning_is_said(core, source, tmp_path):
    run(core, source, tmp_path, """
loads = T._meta.loads
T._meta.loads = lambda text: loads(text.replace('"nbytes":4', '"nbytes":8'))
assert message_of(check_other_process, T.ones(1), T.ones(1)) == PROMISE
assert message_of(check_other_process, T.ones(3), T.ones(3)) is None
""")


def test_a_crash_is_said_and_the_next_text_is_answered(core, source, tmp_path):
    assert CRASHING[0] in source
    run(core, source.replace(*CRASHING), tmp_path, """
for _ in range(3):
    assert message_of(check_text_elsewhere, "crash") == (
        "M13: another process crashes when it reads a text")
    check_other_process(T.ones(1), T.ones(1))
""")
