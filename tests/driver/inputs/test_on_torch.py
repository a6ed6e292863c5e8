"""Round trips on real PyTorch: a script, its capture, the restored script, and its capture again.

They run on the system's PyTorch if it has one, and on those of the trees that
SLOTFUZZ_TEST_TREES names, separated by colons (ci/torch_rootfs.sh makes them).
"""

import functools
import os
from dataclasses import replace
from pathlib import Path

import pytest

from slotfuzz.errors import UserError
from slotfuzz.inputs import capture, case as cases, document, minimized, script
from slotfuzz.inputs.trial import Trial
from slotfuzz.subject import interpreter

TREES = [Path(one) for one in os.environ.get("SLOTFUZZ_TEST_TREES", "").split(":") if one]
# Lines that make tensors; a word of each description that they must lead to.
PROGRAMS = {
    "strides": ("a = torch.arange(24.).view(2, 3, 4).permute(2, 0, 1)", '"stride":[1,12,4]'),
    "offset": ("a = torch.arange(8.)[3:5]", '"storage_offset":3'),
    "aliases": ("a = torch.arange(8.)\nb = a[1:]\nc = a.data\nd = a.detach()", '"base":0'),
    "one_tensor": ("a = torch.ones(2)\nb = a", '"roots":[0]'),
    "overlap": ("a = torch.ones(1).expand(5)\nb = torch.arange(6.).as_strided((3, 2), (1, 1), 2)",
                '"stride":[0]'),
    "empty": ("a = torch.empty(0, 3)\nb = torch.empty(5)[2:2]\nc = torch.tensor(7)",
              '"size":[0,3]'),
    "freed": ("a = torch.ones(4)\nstorage(a).resize_(0)", '"nbytes":0'),
    "larger_storage": ("a = torch.arange(100.)[10:12].detach()", '"nbytes":400'),
    "beyond": ("a = torch.ones(8)\nstorage(a).resize_(12)", '"nbytes":12'),
    "requires_grad": ("a = torch.ones(2, requires_grad=True)\nb = a * 2\nc = a.view(2, 1)",
                      '"is_leaf":false'),
    "leaf_views": ("a = torch.ones(4)\nb = a[:2]\na.requires_grad_()\n"
                   "with torch.no_grad(): c = a[2:]\nd = torch.ones(3)[1:].requires_grad_()",
                   '"creation_meta":"no_grad_mode"'),
    "unbound": ("a = torch.ones(2, 2, requires_grad=True) * 1\nb, c = a.unbind()",
                '"creation_meta":"multi_output_node"'),
    "custom_view": ("class V(torch.autograd.Function):\n"
                    "    @staticmethod\n    def forward(ctx, x): return x.view(-1)\n"
                    "    @staticmethod\n    def backward(ctx, g): return g\n"
                    "a = torch.ones(2, 2, requires_grad=True)\nb = V.apply(a)",
                    '"creation_meta":"in_custom_function"'),
    "grad": ("a = torch.ones(2, requires_grad=True)\na.grad = torch.ones(2)", '"grad":1'),
    "grad_circle": ("a = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\n"
                    "a.grad = b\nb.grad = a", '"grad":0'),
    "grad_is_view": ("a = torch.ones(2, requires_grad=True)\na.grad = torch.arange(5.)[1:3]",
                     '"storage_offset":1'),
    "parameter": ("a = torch.nn.Parameter(torch.arange(3.))\nb = a.detach()\n"
                  "c = torch.nn.Parameter(torch.ones(2), requires_grad=False)",
                  '"is_parameter":true'),
    "conj": ("a = torch.ones(3, dtype=torch.complex64).conj()\nb = a.imag\nc = a.detach()",
             '"is_conj":true'),
    "conj_alone": ("a = torch.ones(3, dtype=torch.complex64).conj().detach()\nb = a.detach()",
                   '"is_conj":true'),
    "neg": ("a = torch.ones(3, dtype=torch.complex128).conj().imag", '"is_neg":true'),
    "bits_as_view": ("a = torch.arange(4.)\nb = a.view(torch.int32)\n"
                     "c = torch.view_as_complex(torch.ones(3, 2))", '"dtype":"int32"'),
    "versions": ("a = torch.ones(3)\na.add_(1); a.add_(1)\nb = a.detach()\nc = a.data\nc.add_(1)",
                 '"version":2'),
    "written_before_a_view": ("a = torch.ones(4); a.add_(1); a.requires_grad_()\n"
                              "with torch.no_grad(): b = a.view(-1)",
                              '"creation_meta":"no_grad_mode"'),
    "left_detached": ("a = torch.ones(4)\nb = a.detach()\nb.set_(storage(torch.ones(6)), 2, (3,),"
                      " (1,))", '"storage":1'),
    "names_of_the_script": ("_s0 = torch.ones(6)[1:4]; _s0.add_(1)\n_window = 7\n"
                            "bytes = torch.ones(3)[1:]", '"storage_offset":1'),
    "left_base": ("a = torch.ones(4)\nb = a[1:]\nb.set_(storage(torch.ones(6)), 2, (3,), (1,))",
                  '"storage":1'),
    "types": ("\n".join(f"v{at} = torch.arange(3).to(torch.{one})" for at, one in enumerate((
        "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64",
        "complex64", "complex128"))), '"dtype":"bfloat16"'),
    "fixed_size": ("a = torch.frombuffer(bytearray(8), dtype=torch.float32)", '"nbytes":8'),
    "holders": ("a = torch.arange(4.)\nb = [a, (torch.ones(2), 3), {'x': torch.zeros(1)}]\n"
                "s = storage(a)\nu = torch.UntypedStorage(8)\nv = torch.ones(3).storage()",
                '"dtype":"uint8"'),
    "no_grad": ("a = torch.ones(2)\ntorch.set_grad_enabled(False)", '"nbytes":8'),
    "not_a_number": ("a = torch.tensor([float('nan'), -0.0, float('inf')])", '"nbytes":12'),
}
HEAD = """\
import torch
def storage(t):
    return t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage().untyped()
"""
REFUSED = {
    "sparse": "torch.ones(2).to_sparse()", "meta": "torch.empty(2, device='meta')",
    "quantized": "torch.quantize_per_tensor(torch.ones(2), 1., 0, torch.quint8)",
    "subclass": "torch.ones(2).as_subclass(Sub)",
}
BUG = HEAD + """\
a = torch.arange(600.).view(20, 30)
b = a.t()[3:]
w = torch.ones(30, requires_grad=True)
c = w[:4]
n = 2
y = a * n
c.add_(1)
"""


@functools.cache
def system_has_torch() -> bool:
    """Whether the system's Python has a PyTorch."""
    try:
        return interpreter.ask(interpreter.SYSTEM_PYTHON, None, capture.HAS_TORCH, "").strip() == (
            "True")
    except UserError:
        return False


@pytest.fixture(params=[None, *TREES], ids=str)
def place(request):
    """An interpreter with PyTorch; skips if the machine lacks it."""
    if request.param is None and not system_has_torch():
        pytest.skip("the system's Python has no PyTorch")
    return capture.place_of(interpreter.SYSTEM_PYTHON, request.param)


def captured(text: str, folder: Path, name: str, place) -> cases.Case:
    """The case of TEXT before its last line."""
    script, out = folder / f"{name}.py", folder / name
    script.write_text(text)
    out.mkdir()
    return capture.capture(script, len(text.splitlines()), place, out)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_capture_comes_back_exactly(name, place, tmp_path):
    lines, word = PROGRAMS[name]
    first = captured(f"{HEAD}{lines}\npass\n", tmp_path, "first", place)
    assert word in document.dumps(first.capture.document)
    first = replace(first, lines=script.statements(f"[{', '.join(first.record.holders)}]"))
    text = cases.text(first, repr(str(tmp_path / "first" / cases.INPUTS)), "")
    again = captured(text, tmp_path, "again", place)
    assert document.dumps(again.capture.document) == document.dumps(first.capture.document)
    assert again.capture == first.capture
    assert again.record.holders == first.record.holders


@pytest.mark.parametrize("name", REFUSED)
def test_a_tensor_that_refuses_is_named(name, place, tmp_path):
    text = f"{HEAD}class Sub(torch.Tensor): pass\nodd = {REFUSED[name]}\npass\n"
    with pytest.raises(UserError, match="`odd`"):
        captured(text, tmp_path, "first", place)


def test_a_storage_on_another_device_is_not_kept(place, tmp_path):
    text = f"{HEAD}a = torch.ones(2)\nm = storage(torch.empty(2, device='meta'))\nprint(m)\n"
    assert captured(text, tmp_path, "first", place).missing.keys() == {"m"}


def test_a_capture_writes_nothing_to_the_tensors(place, tmp_path):
    text = f"""{HEAD}
import atexit, os
a = torch.arange(4.)
b = a[1:]
shared = torch.ones(3).share_memory_()
seen = [shared._version, shared.tolist(), a._version]
real_exit = os._exit
def look(code):
    now = [shared._version, shared.tolist(), a._version]
    if code == 0 and os.getpid() == parent and now != seen: real_exit(9)
    real_exit(code)
parent, os._exit = os.getpid(), look
pass
"""
    assert captured(text, tmp_path, "first", place).capture.names.keys() == {"a", "b", "shared"}


def test_a_failing_script_becomes_small(place, tmp_path):
    script, out = tmp_path / "bug.py", tmp_path / "out"
    script.write_text(BUG)
    out.mkdir()
    case = capture.capture(script, 9, place, out)
    with Trial(place) as trial:
        result, failure = minimized.reduce(case, trial)
    assert failure.what == "RuntimeError" and "leaf Variable" in failure.detail
    assert [one.text for one in result.case.lines] == ["c.add_(1)"] and result.one_minimal
    assert list(result.case.capture.names) == ["c"] and result.case.bytes <= 4
