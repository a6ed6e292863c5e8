"""Steps that ask a command or a target binary one thing each.

A step builds what it needs. Each is a test, so that pytest counts it and shows its output.
"""

import json

from slotfuzz.engine.server import Server, describe
from slotfuzz.finding import finding
from slotfuzz.language import op_table
from slotfuzz.paths import ROOT
from slotfuzz.subject import build, catalogue, mutant, registry, subject
from tests.steps.run import run, slotfuzz


def test_ops_document_is_up_to_date():
    made = run(ROOT / "slotfuzz", "ops", "--markdown")
    assert made == (ROOT / "docs" / "ops.md").read_text(), "run what its first lines say"


def test_the_table_read_from_text_equals_the_binarys():
    target = catalogue.default_target()
    told = describe(subject.resolve("core", None, [target], with_python=False), target)
    for part, rows in op_table.read().items():
        assert rows and rows == [{key: row[key] for key in rows[0]} for row in told[part]]


def test_the_tier_of_each_finding_is_that_of_its_lines():
    chosen = subject.resolve("core", "none", [catalogue.default_target()], with_python=False)
    with Server(chosen, catalogue.default_target()) as server:
        for path in sorted((ROOT / "repro").glob("**/finding.json")):
            lines = server.parse((path.parent / "repro.py").read_text())
            record = finding.load(path.parent)
            module = registry.find(record.subject).module
            assert record.tier == server.table.tier(lines, module), path


def test_a_traced_run_shows_where_the_freed_object_was_allocated():
    """Although the process kept no stacks of allocations at its start."""
    name = "hermetic-del-storage"
    header = mutant.read_header(name)
    chosen = subject.resolve(f"mutant:{name}", None, [header.target], with_python=False)
    with Server(chosen, header.target, trace=True) as server:
        told = server.run("\n".join(header.program) + "\n").stderr
    stack = told.partition("previously allocated by")[2].partition("\n\n")[0]
    assert " in wrap" in stack and len(stack.splitlines()) > 10


def test_of_an_output_that_is_too_long_the_whole_lines_are_kept():
    """Part of a line would be an event that lacks an object."""
    chosen = subject.resolve("core", "none", ["autograd"], with_python=False)
    with Server(chosen, "autograd", trace=True) as server:
        reply = server.run("check_graph_pairs('scopes')\n")
    assert reply.stderr.endswith("\n") and len(reply.stderr) > (4 << 20) - 1000


def test_doctor_says_what_to_set_if_tsan_cannot_work():
    """In a limited address space, as in some batch systems."""
    build.build("thread", [f"target-{catalogue.default_target()}"])
    said = run("bash", "-c", f"ulimit -v {1 << 23}; ./slotfuzz doctor --sanitizer thread 2>&1",
               ok=(2,))
    assert "ulimit -H -v unlimited" in said


def test_doctor():
    assert all(row["heard"] for row in slotfuzz("doctor")["planted"])


def test_a_question_that_hangs_ends_only_its_program():
    chosen = subject.resolve("core", "none", ["tensor"])
    build.build(chosen.preset, ["target-tensor"])
    with Server(chosen, "tensor") as server:
        replies = server.observations(
            ["gc.collect()\n", "t0 = T.ones(1)\n", "gc.collect()\n"], program_seconds=1,
            question="lambda names: str('t0' in names and sum(1 for _ in iter(int, 1)))")
    assert [reply.crashed for reply in replies] == [False, True, False]


def test_a_trace_has_what_each_line_raised():
    chosen = subject.resolve("core", "none", ["tensor"])
    with Server(chosen, "tensor") as server:
        program = "t0 = T.ones(1)\ndel t0\ndel t0\n"
        server.observations([program, "t0 = T.ones(2)\n"])
        trace, unknown = server.traces([program, "del t0\n"])
    assert [after.raised for after in trace] == ["", "", "NameError", ""]
    assert unknown == ()


def test_each_line_of_a_measured_program_has_its_share():
    chosen = subject.resolve("core", "address", [catalogue.default_target()])
    told = json.loads(run(*chosen.command(catalogue.default_target(), "--measure")))
    assert sum(row["lines"] for row in told["ops"]) == told["programs"] * told["lines"]
    assert min(told["parts"][part] for part in ("lines", "reset", "ledger", "text")) > 0
