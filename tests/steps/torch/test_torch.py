"""An installed PyTorch: what the engine does with it, and which findings it must repeat."""

import pytest

from slotfuzz.engine.server import Server
from slotfuzz.evidence import signature
from slotfuzz.finding import finding
from slotfuzz.paths import ROOT
from slotfuzz.subject import catalogue, subject
from slotfuzz.triage import cases, dedup
from tests.steps.run import run, slotfuzz


def test_findings_in_the_installed_torch_are_found_again(torch_is_installed):
    """This fails if an oracle no longer reports one of them."""
    chosen = subject.resolve("torch", "none", [])
    folders = finding.known((ROOT / "repro").glob("**/torch-*"), chosen)
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
    # Each of these storages is freed only after the one that was made of it.
    "s0 = Finalized(0)\ns0.other = s0\ns1 = s0[:1]\ns1.me = s1\ns1 = s1[:1]\ns2 = s1[:1]\n"
    "s2.me = s2\ns1.me = s1\n",
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


def test_a_callback_in_a_fake_mode_may_be_refused(tmp_path, torch_is_installed):
    (tmp_path / "program.py").write_text(
        "t0 = T.ones(1)\nt1 = T.ones(1)\nk0 = FakeTensorMode()\n"
        "r0 = weakref.ref(t0, write_again(t1))\nwith k0: t0 = fake_in(k0, t1)\n")
    slotfuzz("replay", tmp_path / "program.py", "--subject", "torch", "--target", "meta")


@pytest.mark.parametrize("lane", ["{}", 'lane(1, "{}")'])
def test_what_a_failed_backward_keeps_is_not_a_leak(lane, tmp_path, torch_is_installed):
    (tmp_path / "program.py").write_text("".join(lane.format(line) + "\n" for line in (
        "t0 = T.ones(1).requires_grad_()", "t1 = t0.view(-1)",
        "t2 = fn('nothing', 'y', 'saved').apply(t0)", "t1 = t2.add(t1)", "t1.sum().backward()")))
    slotfuzz("replay", tmp_path / "program.py", "--subject", "torch", "--target", "autograd")


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


def test_a_child_of_the_engine_runs_backwards(torch_is_installed):
    """PyTorch refuses them in a child if the engine's process has run one before it forked."""
    program = "t0 = T.ones(1).requires_grad_()\nt0.sum().backward()\nt0 = t0.grad\n"
    with Server(subject.resolve("torch", "none", ["autograd"]), "autograd") as server:
        reply = server.run(program)
    assert reply.outcome == "clean" and [line.raised for line in reply.lines] == [""] * 3


def test_torch_has_imported_what_lines_need(torch_is_installed):
    """Otherwise each child that runs such a line takes a second, and collections are slower."""
    program = ("t0 = T.ones(1)\nt1 = T.empty(1, device='meta')\nt1 = t1.add(t1)\n"
               "t1 = TensorDispatching(t0)\nt1 = t1.add(t1)\nt1 = escaped(T.func.grad)\n"
               "t1 = escaped(T.func.functionalize)\nt1 = deep_copied(t0)\n")
    with Server(subject.resolve("torch", "none", ["tensor"]), "tensor") as server:
        server.observations([program], question=(
            "lambda names: str(len(__import__('sys').modules))"))
        (trace,) = server.traces([program])
    counts = {after.seen for after in trace}
    assert len(counts) == 1 and int(*counts) > 100


def test_a_tensor_outside_of_its_memory_is_handled(torch_is_installed):
    lines = ["t0 = TensorOverriding(0)", "m0 = t0.numpy()", "t1 = T.ones(1)", "t0.resize_as_(t1)"]
    with Server(subject.resolve("torch", "none", ["tensor"]), "tensor") as server:
        reached = cases.reaching_outside(server, server.parse("\n".join(lines) + "\n"))
        text = server.table.text(reached.line)
    assert (text, reached.raised) == (lines[-1], True)


def test_a_suppressed_assertion_ends_no_program(tmp_path, torch_is_installed):
    """The engine and the driver normalise an error alike: without line numbers and addresses."""
    chosen = subject.resolve("torch", "none", ["tensor"])
    program, known = tmp_path / "program.py", tmp_path / "known"
    program.write_text("t0 = T.ones(1)\nt0._conj()\n")
    known.mkdir()
    command = chosen.command("tensor", f"--suppressions={known}", program)
    run(*command, variables=chosen.environment(), ok=(77,))
    with Server(chosen, "tensor") as server:
        reply = server.run(program.read_text())
    words = dedup.error(reply, signature.of_reply(reply))
    assert "\":N, please report" in words, "a line number is left out"
    (known / "error.txt").write_text(words)
    run(*command, variables=chosen.environment())


def test_a_hunt_on_torch_runs_programs(tmp_path, torch_is_installed):
    document = slotfuzz("hunt", catalogue.default_target(), "--subject", "torch", "--seconds", 10,
                        "--seed", 1,
                        "--out", tmp_path / "out", "--corpus", tmp_path / "corpus", ok=(0, 1))
    assert document["programs"] > 100
