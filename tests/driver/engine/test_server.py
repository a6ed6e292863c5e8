"""The client of the fork server, and the round trip from a reply to a script and back."""

import ast
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from slotfuzz.engine import channel
from slotfuzz.engine.server import Channel, Server
from slotfuzz.errors import BrokenError
from slotfuzz.evidence import signature
from slotfuzz.finding import contract, emit, explain
from slotfuzz.language import prelude
from slotfuzz.language.program import lines_of
from slotfuzz.triage import verify
from tests.driver import replies
from tests.driver.conftest import write_program

CRASH = """\
t0 = T.ones(1)
s0 = t0.untyped_storage()
enter_hermetic()
del s0
exit_hermetic()
s0 = t0.untyped_storage()
"""


@pytest.fixture
def server(fake_subject):
    """A warm server on the fake engine."""
    with Server(fake_subject, "storage") as found:
        yield found


def script_of(server, reply):
    """repro.py for a reply."""
    snippets = prelude.snippets_of(server.table.description)
    return emit.script(reply, snippets, "core", "address", "a title")


def test_a_crash_is_a_finding_and_the_server_lives_on(server):
    assert server.run(CRASH).is_finding
    assert not server.run("t0 = T.ones(1)\n").is_finding


def test_hostile_lines_are_dropped_not_run(server, tmp_path):
    reply = server.run(f"import os; os.mkdir('{tmp_path}/x')\nt0 = T.ones(1)\n")
    assert reply.dropped == 1 and len(reply.lines) == 1
    assert not (tmp_path / "x").exists()


def test_a_server_that_dies_is_our_fault_and_says_why(fake_subject):
    write_program(fake_subject.target("storage"),
                  'case "$*" in *describe*) echo \'{"ops":[],"kinds":[]}\';; '
                  "*) echo boom >&2; exit 7;; esac\n")
    with pytest.raises(BrokenError, match="boom"):
        Server(fake_subject, "storage").run("")


def test_a_process_that_does_not_get_ready_is_given_up(monkeypatch):
    monkeypatch.setattr(channel, "START_SECONDS", 0.2)
    with pytest.raises(BrokenError, match="the sleeper gave no answer in 0 s, exit code -9"):
        channel.Channel("the sleeper", ["sleep", "99"], {"PATH": "/bin"})


def test_emitted_script_parses_back_to_the_program(server):
    reply = server.run(CRASH)
    back = server.parse(script_of(server, reply))
    assert back == lines_of(reply)
    assert server.run(script_of(server, reply)).kind == "sanitizer"


def test_lines_that_raise_are_suppressed_in_the_script(server):
    reply = server.run("exit_hermetic()\n" + CRASH)
    script = script_of(server, reply)
    assert "with suppress(RuntimeError): exit_hermetic()\n" in script
    assert "from contextlib import suppress" in script
    assert server.parse(script) == server.parse("exit_hermetic()\n" + CRASH)


@pytest.mark.parametrize("line", ["t0 = T.ones(1)", "with T.no_grad(): t0.mul_(2)"])
def test_a_suppressed_line_is_python(line):
    suppressed = emit.suppressed(line, "RuntimeError")
    body = ast.parse(suppressed).body[0]
    assert ast.unparse(body.items[0].context_expr) == "suppress(RuntimeError)"
    assert ast.unparse(body.body) in line


def test_lines_on_lanes_are_in_the_script_as_they_ran_with_what_they_need(server):
    reply = server.run('lane(2, "exit_hermetic()")\nlane(1, "t0 = T.ones(1)")\n' + CRASH)
    script = script_of(server, reply)
    assert 'with suppress(RuntimeError): lane(2, "exit_hermetic()")\n' in script
    assert "def lane(" in script and "class Lane:" in script and "import _thread" in script
    assert [line.lane for line in server.parse(script)][:3] == [2, 1, 0]
    assert "class Lane:" not in script_of(server, server.run(CRASH))


def test_assert_lines_follow_their_program_line(server):
    reply = server.run("t0 = T.ones(1)\ns0 = t0.untyped_storage()\ns0.tag = 7\ndel t0\n")
    assert emit.program_lines(reply)[2:4] == ["s0.tag = 7", "assert s0.tag == 8"]


@pytest.mark.parametrize("asserts, first", [
    ([], "t0 = T.ones(1)"),
    (["assert not unraisable"], "with suppress(TypeError): t0 = T.ones(1)"),
])
def test_an_exception_that_must_not_happen_is_shown(asserts, first):
    reply = replies.reply(kind="exception", asserts=asserts,
                          lines=[replies.line("t0 = T.ones(1)", raised="TypeError")])
    assert emit.program_lines(reply) == [first, *asserts]


def test_lines_at_the_end_are_indented_so_that_the_parser_drops_them():
    reply = replies.reply(kind="assert", line=1, asserts=["del t0", "assert False"],
                          lines=["t0 = T.ones(1)"])
    assert emit.program_lines(reply)[1].startswith("if True:")
    assert emit.program_lines(reply)[2:] == ["    del t0", "    assert False"]


def test_header_is_read_back():
    header = emit.header("bug", "H2", "mutant:x", "thread")
    assert emit.read_header(header + "\nimport os\n# subject: core\n") == {
        "contract": "H2", "subject": "mutant:x", "sanitizer": "thread"}


def test_the_script_fails_by_itself_in_every_fresh_process(server, fake_subject, tmp_path):
    reply = server.run(CRASH)
    path = tmp_path / "repro.py"
    path.write_text(script_of(server, reply))
    result = verify.verify(fake_subject.script_command(path), path.parent, {"PATH": "/bin"}, 3,
                           reply)
    assert (result.failed, result.runs) == (3, 3)


def test_runs_are_forked_from_an_interpreter_that_has_the_module(tmp_path):
    path = tmp_path / "repro.py"
    path.write_text("import os, sys\n"
                    "print('json' in sys.modules, os.getppid(), file=sys.stderr)\n"
                    "class Cell: pass\nimport pickle\npickle.dumps(Cell())\n"
                    "assert __name__ == '__main__' and sys.argv[1:] == []\n"
                    "os.kill(os.getpid(), 11)\n")
    reply = replies.reply(kind="signal", signal=11)
    command = ["/usr/bin/python3", str(path)]
    forker = verify.Forker(command[:1], "json", {"PATH": "/bin"})
    result = verify.verify(command, tmp_path, {"PATH": "/bin"}, 4, reply, forker=forker)
    assert (result.runs, result.failed, result.rate) == (4, 4, 1.0)
    written = [Path(f"{path}.{number}").read_text().split() for number in range(3)]
    assert [words[0] for words in written] == ["True"] * 3
    assert len({words[1] for words in written}) == 1
    path.write_text(path.read_text().replace("os.kill(os.getpid(), 11)", "sys.exit(0)"))
    result = verify.verify(command, tmp_path, {"PATH": "/bin"}, 4, reply, forker=forker)
    assert (result.runs, result.failed) == (4, 0)
    path.write_text("assert False, 'P2: lost'\n")
    reply = replace(reply, kind="assert")
    result = verify.verify(command, tmp_path, {"PATH": "/bin"}, 4, reply, forker=forker)
    assert (result.failed, result.report.splitlines()[-1]) == (4, "AssertionError: P2: lost")
    path.write_text("import atexit, os\natexit.register(os.kill, os.getpid(), 11)\n")
    reply = replace(reply, kind="signal")
    assert verify.verify(command, tmp_path, {"PATH": "/bin"}, 4, reply, forker=forker).failed == 4
    forker.close()


def test_forks_have_what_the_script_imports_late(tmp_path):
    path = tmp_path / "repro.py"
    path.write_text("import sys\nprint('colorsys' in sys.modules, file=sys.stderr)\n"
                    "import colorsys\n"
                    "try:\n    import not_there\nexcept ImportError:\n    pass\n"
                    "import os\nos.kill(os.getpid(), 11)\n")
    command = ["/usr/bin/python3", str(path)]
    forker = verify.Forker(command[:1], "json", {"PATH": "/bin"})
    reply = replies.reply(kind="signal", signal=11)
    result = verify.verify(command, tmp_path, {"PATH": "/bin"}, 3, reply, forker=forker)
    assert (result.failed, result.report.splitlines()[0]) == (3, "False")
    assert [Path(f"{path}.{number}").read_text() for number in range(2)] == ["True\n"] * 2
    forker.close()


def test_an_import_that_ends_the_interpreter_is_forgotten(tmp_path):
    (tmp_path / "in_a_script.py").write_text(
        "import sys\nassert sys.argv[0].endswith('repro.py')\n")
    path = tmp_path / "repro.py"
    path.write_text("import in_a_script\nraise ValueError\n")
    forker = verify.Forker(["/usr/bin/python3"], "json", {"PYTHONPATH": str(tmp_path)})
    forker.learn(path)
    assert [code for code, _ in forker.runs(path, 2)] == [1, 1]
    assert "ValueError" in Path(f"{path}.1").read_text()
    forker.close()


def test_check_counts_fresh_processes(server, fake_subject, tmp_path):
    path = tmp_path / "repro.py"
    path.write_text(script_of(server, server.run(CRASH)))
    script = path.read_text().replace("sys.executable", repr(fake_subject.script_python))
    path.write_text(script)
    result = subprocess.run([fake_subject.script_python, path, "--check", "2"],
                            capture_output=True, text=True, check=False)
    assert result.stdout.startswith("failed 2 of 2") and result.returncode == 1


def test_without_the_module_the_script_says_what_to_run(server, tmp_path):

    path = tmp_path / "repro.py"
    path.write_text(script_of(server, server.run(CRASH)))
    result = subprocess.run(["/usr/bin/python3", "-I", path], capture_output=True, text=True,
                            check=False)
    assert result.returncode == 2 and "./slotfuzz python" in result.stderr


def test_one_process_tells_the_table_and_runs_programs(fake_subject, monkeypatch):
    started = []

    class Counted(Channel):
        def __init__(self, *words):
            started.append(words)
            super().__init__(*words)
    monkeypatch.setattr("slotfuzz.engine.server.Channel", Counted)
    monkeypatch.setattr("slotfuzz.engine.server.describe", None)
    with Server(fake_subject, "storage") as server:
        assert server.table.ops and not server.run("t0 = T.ones(1)\n").is_finding
    assert len(started) == 1


def test_notes_follow_the_object(fake_subject):
    with Server(fake_subject, "storage", trace=True) as server:
        reply = server.run(CRASH)
    assert contract.contract_of(reply) == "H2"
    notes = explain.notes(reply, "title", "H2", "core")
    lines = notes.splitlines()
    assert "!!! heap-use-after-free in wrap (contract H2)" in lines
    assert lines.index("> del s0") + 1 == next(
        i for i, line in enumerate(lines) if "wrapper freed" in line)
    assert "Line 2 (`s0 = t0.untyped_storage()`) makes the wrapper 0x7f" in notes
    assert "allocated in `new_wrapper` (core/python/storage.cc:84)" in notes
    assert "Line 4 (`del s0`) frees it in `storage_dealloc`" in notes
    assert "although the slot of 0x55fd8da3c340 still holds its address" in notes
    assert any("slot read" in line and line.endswith("freed by line 4") for line in lines)
    assert "Line 6 (`s0 = t0.untyped_storage()`) reads that slot in `wrap`" in notes
    assert "It is used in `wrap` (core/python/storage.cc:137): heap-use-after-free" in notes
    assert "A slot never holds the address of a freed object" in notes
    assert notes.count("<details>") == 2


def test_signature_is_the_same_with_and_without_trace(fake_subject):
    texts = set()
    for trace in (False, True):
        with Server(fake_subject, "storage", trace=trace) as server:
            texts.add(signature.of_reply(server.run(CRASH)).text)
    assert texts == {"sanitizer heap-use-after-free in slotcore::wrap"}




def test_the_end_clears_what_a_finalizer_would_keep_if_it_ran():
    """Else the script for a bug that keeps a finalizer from running fails on the fixed core too."""
    reply = replies.reply(kind="assert", line=1, lines=["s0 = Resurrecting(1)"],
                          asserts=["del s0", "gc.collect()", "assert False"])
    snippets = [prelude.Snippet(("resurrected", "Resurrecting"), "",
                                "resurrected = []\nResurrecting = resurrected.append"),
                prelude.Snippet(("leaked_self", "LeaksSelf"), "",
                                "leaked_self = []\nLeaksSelf = leaked_self.append")]
    end = emit.script(reply, snippets, "core", "address", "title").splitlines()[-5:]
    assert end == ["    del s0", "    gc.collect()", "    resurrected.clear()", "    gc.collect()",
                   "    assert False"]
