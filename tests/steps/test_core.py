"""The core under each sanitizer: its own tests, and programs that must be clean on it."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.finding import emit, references
from slotfuzz.hunt import corpus
from slotfuzz.language import prelude
from slotfuzz.paths import ROOT
from slotfuzz.schema.events import Event
from slotfuzz.subject import catalogue, mutant, subject
from tests.steps.run import SHARDS, STEP_SECONDS_MAX, googletest, run, slotfuzz

# Full allocation stacks make a script twelve times slower; a replay of a failure has them.
SHORT_STACKS = {"ASAN_OPTIONS": "fast_unwind_on_malloc=1"}
# Tests of the core that run without a sanitizer alone: one reads compiled code, one measures
# memory, and some free a chain so long that a sanitizer takes minutes; shorter chains would also
# overflow a stack.
PLAIN = ("test_protocol_code", "test_text_memory", "a_million")


# Tests of long chains on one thread, where ThreadSanitizer has nothing to see. It took nine
# tenths of its time for them.
LONG_CHAINS = "*_without_recursion:*_needs_no_stack"
# The engine's tests of texts and of the generator, on one thread too, and of each op: the seeds,
# which have each op, run under thread by themselves. They took half of its time.
PROGRAMS = ("RunTest.every_op_*:RunTest.the_seed_corpus_*:ProgramTest.*:RaisesTest.*:TableTest.*:"
            "DeckTest.*:MutateTest.*")


@pytest.mark.parametrize("protocol", ["refcount_bit", "resurrect"])
@pytest.mark.parametrize("preset, tests", [("address", "*"), ("thread", f"-{LONG_CHAINS}")])
def test_core_tests(preset, tests, protocol):
    googletest(preset, f"core_tests_{protocol}", tests)


@pytest.mark.parametrize("preset, tests", [("address", "*"), ("thread", f"-{PROGRAMS}")])
def test_engine_tests(preset, tests):
    googletest(preset, "engine_tests", tests)


def test_what_the_plain_build_replaces():
    googletest("plain", "engine_tests", "libc.*:CrashTest.*")


@pytest.mark.parametrize("name, sanitizer", [
    ("core", "address"), ("core", "debugpy"), ("core:resurrect", "address"),
])
def test_core_in_python_under(name, sanitizer):
    text = run(ROOT / "slotfuzz", "python", "--subject", name, "--sanitizer", sanitizer, "-m",
               "pytest", "-q", "-p", "no:cacheprovider", "-n", SHARDS, "tests/core", "-k",
               " and ".join(f"not {name}" for name in PLAIN), variables=SHORT_STACKS)
    assert " passed" in text, text


@pytest.mark.parametrize("name", ["core", "core:resurrect"])
def test_threads_of_the_core_in_python_under_thread(name):
    text = run(ROOT / "slotfuzz", "python", "--subject", name, "--sanitizer", "thread", "-m",
               "pytest", "-q", "-p", "no:cacheprovider", "tests/core/python/test_threads.py",
               "tests/core/python/test_threads_at_exit.py",
               "tests/core/python/test_interpreters.py")
    assert " passed" in text, text


@pytest.mark.parametrize("target", catalogue.fuzzable_targets())
def test_seeds_are_clean_in_every_order(target):
    document = slotfuzz("corpus", "check", ROOT / "corpus" / target, "--sanitizer", "address")
    assert all(order["exit"] == 0 for order in document["orders"])


@pytest.mark.parametrize("sanitizer", ["thread", "debugpy"])
@pytest.mark.parametrize("target", catalogue.fuzzable_targets())
def test_seeds_are_clean(target, sanitizer):
    """In one order: what a program leaves for the next one does not depend on the build."""
    chosen = subject.resolve("core", sanitizer, [target], with_python=False)
    order, = corpus.replay_shuffled(chosen, target, ROOT / "corpus" / target, seeds=(1,))
    assert order["exit"] == 0, order["words"]


def has_threads(server, program):
    """Whether lines of a program may run beside each other."""
    ops = server.table.ops
    return any(line.lane or ops[line.op]["timed"] or "starts_thread" in ops[line.op]["effects"]
               for line in server.parse(program))


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
@pytest.mark.parametrize("target", catalogue.fuzzable_targets())
def test_seeds_run_as_scripts_of_their_own(target, sanitizer, tmp_path):
    """Each with the prelude that it needs, including lanes and interpreters, up to its exit.

    Under thread, those that have more than one thread: lanes, devices, and rows that start one.
    """
    chosen = subject.resolve("core", sanitizer, [target])
    seeds = sorted((ROOT / "corpus" / target).glob("*.py"))
    with Server(chosen, target) as server:
        if sanitizer == "thread":
            seeds = [seed for seed in seeds if has_threads(server, seed.read_text())]
        assert seeds
        snippets = prelude.snippets_of(server.table.description)
        for seed in seeds:
            script = emit.script(server.run(seed.read_text()), snippets, "core", sanitizer,
                                 seed.stem)
            (tmp_path / seed.name).write_text(script)

    def ended(seed):
        result = subprocess.run([chosen.script_python, tmp_path / seed.name], check=False,
                                capture_output=True, text=True, timeout=STEP_SECONDS_MAX,
                                env=chosen.script_environment())
        return seed.name, result.returncode, result.stderr
    with ThreadPoolExecutor(SHARDS) as pool:
        assert list(pool.map(ended, seeds)) == [(seed.name, 0, "") for seed in seeds]


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
    """Each program once: many mutants have the same one."""
    headers = {name: mutant.read_header(name) for name in catalogue.mutant_names()}
    assert headers
    for target in sorted({header.target for header in headers.values()}):
        names = {header.program: name
                 for name, header in headers.items() if header.target == target}
        programs = {tmp_path / f"{name}.py": program for program, name in names.items()}
        for path, program in programs.items():
            path.write_text("\n".join(program) + "\n")
        results = slotfuzz("replay", *programs, "--subject", "core", "--sanitizer", "address",
                           "--target", target)
        assert [result["lines"] for result in results] == list(map(len, programs.values()))


def test_the_trace_of_a_clean_program_has_each_release():
    """Or NOTES.md would say of an object that it was freed while it had an owner."""
    chosen = subject.resolve("core", "address", ["autograd"], with_python=False)
    wrong, taken = [], 0
    with Server(chosen, "autograd", trace=True) as server:
        for seed in sorted((ROOT / "corpus" / "autograd").glob("*.py")):
            reply = server.run(seed.read_text())
            assert reply.outcome == "clean"
            taken += sum(event.what is Event.REFERENCE_TAKEN for event in reply.log.events)
            for look in (references.freed_too_early, references.reported_without_owning):
                wrong += [(seed.name, text) for text in look(reply.log.events, str)]
    assert wrong == [] and taken > 1000
