"""The steps of ./slotfuzz test that are separate programs; the other tests run after them.

A step builds what it needs. Each is a test, so that pytest counts it and shows its output.
"""

import json
import os
import subprocess

import pytest

from slotfuzz.engine.server import Server, describe
from slotfuzz.errors import UserError
from slotfuzz.evidence import signature
from slotfuzz.finding import emit, finding
from slotfuzz.hunt import corpus, hunt, job
from slotfuzz.hunt.plan import Plan
from slotfuzz.language import op_table, prelude
from slotfuzz.paths import ROOT
from slotfuzz.subject import build, catalogue, interpreter, mutant, subject
from slotfuzz.triage import dedup, triage

STEP_SECONDS_MAX = 1800
HUNT_SECONDS = 20
# The mutants with the shortest programs, each found within seconds; `./slotfuzz mutants` runs all.
MUTANTS_TRIED = 4


# Full allocation stacks make a script twelve times slower; a replay of a failure has them.
SHORT_STACKS = {"ASAN_OPTIONS": "fast_unwind_on_malloc=1"}


def run(*command, ok=(0,), variables=None):
    """Runs a command at the checkout's root; returns its stdout. A failure shows its output."""
    environment = {**os.environ, **(variables or {})}
    environment.pop("PYTHONPATH", None)
    result = subprocess.run([str(word) for word in command], cwd=ROOT, text=True, check=False,
                            capture_output=True, timeout=STEP_SECONDS_MAX, env=environment)
    tail = "\n".join((result.stdout + result.stderr).splitlines()[-40:])
    assert result.returncode in ok, f"{command} ended with {result.returncode}:\n{tail}"
    return result.stdout


def slotfuzz(*words, ok=(0,)):
    """Runs a slotfuzz command with --json; returns its document."""
    return json.loads(run(ROOT / "slotfuzz", *words, "--json", ok=ok))


def googletest(preset, name, tests="*"):
    """Builds and runs a GoogleTest program; it must have run at least one test."""
    folder = build.build(preset, [name])
    text = run(folder / name, "--gtest_brief=1", f"--gtest_filter={tests}")
    assert "[  PASSED  ]" in text and "PASSED  ] 0 tests" not in text, text


@pytest.mark.parametrize("protocol", ["refcount_bit", "resurrect"])
@pytest.mark.parametrize("preset", ["address", "thread"])
def test_core_tests(preset, protocol):
    googletest(preset, f"core_tests_{protocol}")


@pytest.mark.parametrize("preset", ["address", "thread"])
def test_engine_tests(preset):
    googletest(preset, "engine_tests")


def test_what_the_plain_build_replaces():
    googletest("plain", "engine_tests", "libc.*:CrashTest.*")


@pytest.mark.parametrize("name, sanitizer", [
    ("core", "address"), ("core", "debugpy"), ("core:resurrect", "address"),
])
def test_core_in_python_under(name, sanitizer):
    text = run(ROOT / "slotfuzz", "python", "--subject", name, "--sanitizer", sanitizer, "-m",
               "pytest", "-q", "-p", "no:cacheprovider", "tests/core", variables=SHORT_STACKS)
    assert " passed" in text, text


@pytest.mark.parametrize("name", ["core", "core:resurrect"])
def test_threads_of_the_core_in_python_under_thread(name):
    text = run(ROOT / "slotfuzz", "python", "--subject", name, "--sanitizer", "thread", "-m",
               "pytest", "-q", "-p", "no:cacheprovider", "tests/core/python/test_threads.py",
               "tests/core/python/test_interpreters.py")
    assert " passed" in text, text


def test_ops_document_is_up_to_date():
    made = run(ROOT / "slotfuzz", "ops", "--markdown")
    assert made == (ROOT / "docs" / "ops.md").read_text(), "run what its first lines say"


def test_the_table_read_from_text_equals_the_binarys():
    target = catalogue.default_target()
    told = describe(subject.resolve("core", None, [target], with_python=False), target)
    for part, rows in op_table.read().items():
        assert rows and rows == [{key: row[key] for key in rows[0]} for row in told[part]]


def test_a_traced_run_shows_where_the_freed_object_was_allocated():
    """Although the process kept no stacks of allocations at its start."""
    name = "hermetic-del-storage"
    header = mutant.read_header(name)
    chosen = subject.resolve(f"mutant:{name}", None, [header.target], with_python=False)
    with Server(chosen, header.target, trace=True) as server:
        told = server.run("\n".join(header.program) + "\n").stderr
    stack = told.partition("previously allocated by")[2].partition("\n\n")[0]
    assert " in wrap" in stack and len(stack.splitlines()) > 10


def test_doctor_says_what_to_set_if_tsan_cannot_work():
    """In a limited address space, as in some batch systems."""
    build.build("thread", [f"target-{catalogue.default_target()}"])
    said = run("bash", "-c", f"ulimit -v {1 << 23}; ./slotfuzz doctor --sanitizer thread 2>&1",
               ok=(2,))
    assert "ulimit -H -v unlimited" in said


def test_doctor():
    assert all(row["heard"] for row in slotfuzz("doctor")["planted"])


@pytest.mark.parametrize("sanitizer", ["address", "thread", "debugpy"])
@pytest.mark.parametrize("target", catalogue.fuzzable_targets())
def test_seeds_are_clean_in_every_order(target, sanitizer):
    document = slotfuzz("corpus", "check", ROOT / "corpus" / target, "--sanitizer", sanitizer)
    assert all(order["exit"] == 0 for order in document["orders"])


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
@pytest.mark.parametrize("target", catalogue.fuzzable_targets())
def test_seeds_run_as_scripts_of_their_own(target, sanitizer, tmp_path):
    """Each with the prelude that it needs, including lanes and interpreters, up to its exit."""
    chosen = subject.resolve("core", sanitizer, [target])
    seeds = sorted((ROOT / "corpus" / target).glob("*.py"))
    assert seeds
    with Server(chosen, target) as server:
        snippets = prelude.snippets_of(server.table.description)
        for seed in seeds:
            script = emit.script(server.run(seed.read_text()), snippets, "core", sanitizer,
                                 seed.stem)
            (tmp_path / seed.name).write_text(script)
    for seed in seeds:
        result = subprocess.run([chosen.script_python, tmp_path / seed.name], check=False,
                                capture_output=True, text=True, timeout=STEP_SECONDS_MAX,
                                env=chosen.script_environment())
        assert (result.returncode, result.stderr) == (0, ""), seed.name


@pytest.mark.parametrize("sanitizer", ["address", "thread", "debugpy"])
def test_bugs_of_the_past_stay_fixed(sanitizer):
    """Replayed on the target that found them, then each script on its own."""
    programs = sorted((ROOT / "repro").glob("*/repro.py"))
    assert programs
    results = slotfuzz("replay", *programs, "--subject", "core", "--sanitizer", sanitizer)
    assert len(results) == len(programs) and all(result["lines"] for result in results)
    for program in programs:
        run(ROOT / "slotfuzz", "python", "--sanitizer", sanitizer, program)


def test_programs_of_mutants_are_clean_on_the_fixed_core(tmp_path):
    headers = {name: mutant.read_header(name) for name in catalogue.mutant_names()}
    assert headers
    for target in sorted({header.target for header in headers.values()}):
        programs = {tmp_path / f"{name}.py": header.program
                    for name, header in headers.items() if header.target == target}
        for path, program in programs.items():
            path.write_text("\n".join(program) + "\n")
        results = slotfuzz("replay", *programs, "--subject", "core", "--sanitizer", "address",
                           "--target", target)
        assert [result["lines"] for result in results] == list(map(len, programs.values()))


@pytest.mark.parametrize("sanitizer", ["address", "thread", "debugpy"])
def test_a_hunt_on_the_core_is_clean(sanitizer, tmp_path):
    document = slotfuzz("hunt", "--seconds", HUNT_SECONDS, "--sanitizer", sanitizer, "--seed", 1,
                        "--out", tmp_path / "out")
    assert document["programs"] > 1000 and document["new"] == []


def test_a_hunt_on_the_other_protocol_is_clean(tmp_path):
    document = slotfuzz("hunt", "--subject", "core:resurrect", "--seconds", HUNT_SECONDS,
                        "--seed", 1, "--out", tmp_path / "out")
    assert document["programs"] > 1000 and document["new"] == []


def test_later_processes_of_a_hunt_load_what_earlier_ones_used(tmp_path, monkeypatch):
    loaded = []

    class Watched(corpus.Growing):
        def about_to_load(self):
            loads = super().about_to_load()
            loaded.append(len(loads[1]))
            return loads
    monkeypatch.setattr(corpus, "Growing", Watched)
    monkeypatch.setattr(job, "PROCESS_PROGRAMS_MAX", 2000)
    folder, seeds = tmp_path / "corpus", sorted((ROOT / "corpus" / "storage").glob("*.py"))
    folder.mkdir()
    for name in "first.py", "again.py":
        (folder / name).write_text(seeds[0].read_text())
    chosen = subject.resolve("core", "none", ["storage"])
    result = hunt.run(Plan(chosen, ["storage"], tmp_path / "out", 60, 12000, corpus=folder))
    assert result.programs >= 12000 and len(loaded) == 6
    assert 0 < loaded[-1] <= result.corpus  # without removal it was 581 of 364
    assert {"first.py", "again.py"} < {*os.listdir(folder)}


def test_canary_fails(tmp_path):
    document = slotfuzz("hunt", "canary", "--seconds", 60, "--seed", 1, "--stop-at-first",
                        "--out", tmp_path / "out", "--corpus", tmp_path / "corpus", ok=(1,))
    assert document["new"]


@pytest.fixture
def torch_is_installed():
    """Skips if the system's Python has no PyTorch."""
    try:
        interpreter.probe(interpreter.SYSTEM_PYTHON, "torch")
    except UserError as error:
        pytest.skip(str(error))


def test_findings_in_the_installed_torch_are_found_again(torch_is_installed):
    """This fails if an oracle no longer reports one of them."""
    folders = finding.known((ROOT / "repro").glob("torch-*"), subject.resolve("torch", "none", []))
    if not folders:
        pytest.skip("no findings of the installed release are kept")
    for told in slotfuzz("replay", *(folder / "repro.py" for folder in folders), ok=(1,)):
        assert told["outcome"] == "finding", told["file"]


# Cycles through hooks, graphs and memory that C++ owns: PyTorch documents them, and P5 allows them.
@pytest.mark.parametrize("program", [
    "t0 = T.ones(1)\nt0.requires_grad_()\nt0.register_hook(hook_of(t0))\n",
    "t0 = T.ones(1)\nt0.requires_grad_()\nt0 = t0.view(-1)\nt1 = t0.view(-1)\n"
    "t0.register_hook(hook_of(t1))\n",
    "t1 = T.empty(1)\nt1.requires_grad_()\nt0 = t1.as_subclass(TensorSub)\n"
    "f0 = t0.register_hook(hook_of(t0)).remove\n",
    "t0 = T.ones(1)\nt1 = t0.view(-1)\nt1.requires_grad_()\nt2 = t1._neg_view()\nt1.grad = t2\n"
    "t1.sum().backward()\n",
    "t0 = T.ones(1)\nt1 = T.from_dlpack(t0)\nt0.data = t1\n",
    "t0 = T.ones(1)\nt1 = T.from_dlpack(t0)\nt2 = T.from_dlpack(t1)\nt0.data = t2\n",
])
def test_a_cycle_through_cpp_is_not_a_leak(program, tmp_path, torch_is_installed):
    (tmp_path / "program.py").write_text(program)
    slotfuzz("replay", tmp_path / "program.py", "--subject", "torch", "--target", "tensor")


@pytest.mark.parametrize("program", [
    "t0 = T.nn.parameter.UninitializedParameter()\ns0 = T.UntypedStorage(1)\n"
    "r0 = weakref.ref(s0, wrap_again(t0))\n",
    "t0 = T.nn.parameter.UninitializedParameter()\nt1 = T.ones(1)\n"
    "r0 = weakref.ref(t1, write_again(t0))\n",
    "t0 = T.masked.masked_tensor(T.ones(1), T.tensor([True]))\nt1 = T.ones(1)\n"
    "r0 = weakref.ref(t1, write_again(t0))\n",
    "t0 = T.ones(1)\nt1 = T.ones(1)\nt2 = T._to_functional_tensor(t1)\nt3 = t2.select(0, 0)\n"
    "r0 = weakref.ref(t0, write_again(t3))\ncheck_aliases(t3)\n"])
def test_an_error_of_torch_in_a_callback_is_not_a_finding(program, tmp_path, torch_is_installed):
    (tmp_path / "program.py").write_text(program)
    told = slotfuzz("replay", tmp_path / "program.py", "--subject", "torch", "--target", "tensor",
                    ok=(0, 2))
    if isinstance(told, dict):
        pytest.skip(told["error"])  # an older release lacks the op of a line
    assert [one["lines"] for one in told] == [len(program.splitlines())]


def test_a_lost_reference_beside_a_hook_is_a_leak(tmp_path, torch_is_installed):
    (tmp_path / "program.py").write_text(
        "t0 = T.ones(1)\nt0.requires_grad_()\nt0.register_hook(hook_of(t0))\nt0._fix_weakref()\n")
    slotfuzz("replay", tmp_path / "program.py", "--subject", "torch", "--target", "tensor", ok=(1,))


def test_objects_that_a_graph_keeps_are_counted_once(tmp_path, torch_is_installed):
    chosen = subject.resolve("torch", "none", ["tensor"])
    kept, clean = tmp_path / "kept.py", tmp_path / "clean.py"
    kept.write_text("t0 = T.ones(1)\nt1 = t0.view(-1)\nt1.requires_grad_()\nt0.copy_(t1)\n")
    clean.write_text("t0 = T.ones(1)\n")
    run(*chosen.command("tensor", kept, clean, kept, clean),
        variables=chosen.environment())


def test_torch_has_imported_what_lines_need(torch_is_installed):
    """Otherwise each child that runs such a line takes a second, and collections are slower."""
    program = ("t0 = T.ones(1)\nt1 = T.empty(1, device='meta')\nt1 = t1.add(t1)\n"
               "t1 = TensorDispatching(t0)\nt1 = t1.add(t1)\nt1 = escaped(T.func.grad)\n"
               "t1 = escaped(T.func.functionalize)\nt1 = deep_copied(t0)\n")
    with Server(subject.resolve("torch", "none", ["tensor"]), "tensor") as server:
        (reply,) = server.facts([program], whole=True, question=(
            "lambda names: str(len(__import__('sys').modules))"))
    counts = {said.partition("\n")[2] for said in reply.trace}
    assert len(counts) == 1 and int(*counts) > 100


def test_a_tensor_outside_of_its_memory_is_handled(torch_is_installed):
    lines = ["t0 = TensorOverriding(0)", "m0 = t0.numpy()", "t1 = T.ones(1)", "t0.resize_as_(t1)"]
    with Server(subject.resolve("torch", "none", ["tensor"]), "tensor") as server:
        reached = triage.reaching_outside(server, server.parse("\n".join(lines) + "\n"))
        text = server.table.text(reached.line)
    assert (text, reached.raised) == (lines[-1], True)


def test_a_suppressed_assertion_ends_no_program(tmp_path, torch_is_installed):
    """The engine and the driver normalise an error alike: without line numbers and addresses."""
    chosen = subject.resolve("torch", "none", ["tensor"])
    program, known = tmp_path / "program.py", tmp_path / "known"
    program.write_text("t0 = T.ones(1)\nt0._conj()\n")
    known.mkdir()
    command = chosen.command("tensor", f"--known={known}", program)
    run(*command, variables=chosen.environment(), ok=(77,))
    with Server(chosen, "tensor") as server:
        reply = server.run(program.read_text())
    words = dedup.error(reply, signature.of_reply(reply))
    assert "\":N, please report" in words, "a line number is left out"
    (known / "error.txt").write_text(words)
    run(*command, variables=chosen.environment())


def test_a_question_that_hangs_ends_only_its_program():
    chosen = subject.resolve("core", "none", ["tensor"])
    build.build(chosen.preset, ["target-tensor"])
    with Server(chosen, "tensor") as server:
        replies = server.facts(
            ["gc.collect()\n", "t0 = T.ones(1)\n", "gc.collect()\n"], program_seconds=1,
            question="lambda names: str('t0' in names and sum(1 for _ in iter(int, 1)))")
    assert [reply.crashed for reply in replies] == [False, True, False]


def test_driver_and_engine_have_the_same_words_for_a_line_that_raises_nothing():
    chosen = subject.resolve("core", "none", ["tensor"])
    with Server(chosen, "tensor") as server:
        (reply,) = server.facts(["t0 = T.ones(1)\ndel t0\ndel t0\n"], whole=True)
    said = [words.partition("\n")[0] == triage.RAISED_NOTHING for words in reply.trace]
    assert said == [True, True, False, False]


def test_a_hunt_on_torch_runs_programs(tmp_path, torch_is_installed):
    document = slotfuzz("hunt", catalogue.default_target(), "--subject", "torch", "--seconds", 10,
                        "--seed", 1,
                        "--out", tmp_path / "out", "--corpus", tmp_path / "corpus", ok=(0, 1))
    assert document["programs"] > 100


def quick_mutants():
    """Names of the default target's mutants with the shortest minimal programs."""
    names = [name for name in catalogue.mutant_names()
             if mutant.read_header(name).target == catalogue.default_target()]
    return sorted(names, key=lambda name: len(mutant.read_header(name).program))[:MUTANTS_TRIED]


@pytest.mark.parametrize("name", quick_mutants())
def test_mutant_is_found(name):
    (row,) = slotfuzz("mutants", name, ok=(0, 3))
    assert row["problems"] == []


def test_each_line_of_a_measured_program_has_its_share():
    chosen = subject.resolve("core", "address", [catalogue.default_target()])
    told = json.loads(run(*chosen.command(catalogue.default_target(), "--measure")))
    assert sum(row["lines"] for row in told["ops"]) == told["programs"] * told["lines"]
    assert min(told["parts"][part] for part in ("lines", "reset", "ledger", "text")) > 0
