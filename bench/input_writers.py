"""What comes back of a program's tensors: by slotfuzz, and by the two writers in PyTorch itself.

    ./slotfuzz bench input_writers --rootfs DIR

Each row asks one question of the tensors before they are written, and after they were read back.
The peers are InputWriter with InputReader (torch._dynamo.debug_utils) and the writer of the
minifier (torch._functorch.fx_minifier); PyTorch has both from 2.1 on.
"""

import json
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from slotfuzz import options
from slotfuzz.errors import MachineError
from slotfuzz.inputs import capture, case, script
from slotfuzz.measure.benchmark import Measured

# What is asked: lines that make tensors `a` and `b`, and an expression.
QUESTIONS = {
    "sizes and type": ("a = torch.ones(2, 3, dtype=torch.float64)",
                       "[list(a.size()), str(a.dtype)]"),
    "elements": ("a = torch.arange(6.)", "a.tolist()"),
    "strides": ("a = torch.arange(12.).view(3, 4).t()", "a.stride()"),
    "offset": ("a = torch.arange(9.)[4:].clone()[2:].detach()", "a.storage_offset()"),
    "size of the storage": ("a = torch.arange(9.)[:2].detach()", "a.untyped_storage().nbytes()"),
    "a storage that was freed": ("a = torch.ones(3)\na.untyped_storage().resize_(0)",
                                 "a.untyped_storage().nbytes()"),
    "two tensors on one storage": ("a = torch.arange(4.)\nb = a.detach()",
                                   "(b.zero_(), a.tolist())[1]"),
    "one tensor, two names": ("a = torch.ones(2)\nb = a", "a is b"),
    "base of a view": ("a = torch.ones(4)\nb = a[1:]", "b._base is a"),
    "a view made without gradients": (
        "a = torch.ones(4, requires_grad=True)\nwith torch.no_grad(): b = a[1:]",
        "[b.is_leaf, b._base is a]"),
    "requires_grad": ("a = torch.ones(2, requires_grad=True)", "[a.requires_grad, a.is_leaf]"),
    "computed": ("a = torch.ones(2, requires_grad=True) * 2", "[a.requires_grad, a.is_leaf]"),
    ".grad": ("a = torch.ones(2, requires_grad=True)\na.sum().backward()",
              "a.grad if a.grad is None else a.grad.tolist()"),
    "version": ("a = torch.ones(2)\na.add_(1)\na.add_(1)", "a._version"),
    "writes counted together": ("a = torch.ones(2)\nb = a.detach()",
                                "[before := b._version, a.add_(1), b._version - before][2]"),
    "conjugate bit": ("a = torch.ones(2, dtype=torch.complex64).conj()", "a.is_conj()"),
    "class Parameter": ("a = torch.nn.Parameter(torch.ones(2))", "type(a).__name__"),
    "grad mode": ("a = torch.ones(2)\ntorch.set_grad_enabled(False)", "torch.is_grad_enabled()"),
}
# The peers, for a script that has torch: from tensors by name to what is read back, in order.
PEERS = '''
import contextlib, io, tempfile, torch
from torch import fx
from torch._dynamo.debug_utils import InputReader, InputWriter
from torch._functorch import fx_minifier

def dynamo(tensors, names):
    with tempfile.TemporaryDirectory() as folder:
        writer = InputWriter(folder, stable_hash=True)  # the other one needs a compiler
        for name, tensor in tensors.items():
            writer.tensor(name, tensor)
        exec("\\n".join(writer.lines()), names)
        reader = InputReader(folder)
        names["load_args"](reader)
    return reader.args

def functorch(tensors, names):
    class Last:
        code, graph = "", fx.Graph()
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        fx_minifier.dump_state(Last, list(tensors.values()))
    space = {"torch": torch, "device": torch.device}
    exec(said.getvalue(), space)
    return space["inps"][1:]  # the first one is a constant
'''
# Prints answers by the name of the question.
ASKING = PEERS + '''
import json, sys

def made(lines):
    torch.set_grad_enabled(True)
    names = {"torch": torch}
    exec(lines, names)
    return names, {one: names[one] for one in ("a", "b") if one in names}

def asked(question, names):
    try:
        return eval(question, names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

answers = {}
for name, (lines, question) in json.load(sys.stdin).items():
    names, _ = made(lines)
    replies = [asked(question, names)]
    for writer in (dynamo, functorch):
        names, tensors = made(lines)
        try:
            read = writer(tensors, {"torch": torch})
        except Exception as error:
            replies.append(f"{type(error).__name__}: {error}")
            continue
        torch.set_grad_enabled(True)
        replies.append(asked(question, {"torch": torch, **dict(zip(tensors, read))}))
    answers[name] = replies
print(json.dumps(answers))
'''
WRITERS = ("slotfuzz", "InputWriter", "minifier")


def measure(args) -> Measured:
    """A row for each question: whether each writer's answer is that of the tensors themselves."""
    place = capture.place_of(args.python, options.tree(args))
    ended = subprocess.run([*place.command, "-W", "ignore", "-c", ASKING],
                           input=json.dumps(QUESTIONS), capture_output=True, text=True, check=False)
    if ended.returncode:
        raise MachineError(f"the peers do not run: {ended.stderr.strip().splitlines()[-1]}")
    rows = []
    for name, (wanted, dynamo, functorch) in json.loads(ended.stdout).items():
        answers = (_restored(*QUESTIONS[name], place), dynamo, functorch)
        rows.append({"kept": name, **{writer: "yes" if answer == wanted else "no"
                                      for writer, answer in zip(WRITERS, answers)}})
    counts = {writer: sum(row[writer] == "yes" for row in rows) for writer in WRITERS}
    sentence = ", ".join(f"{writer} {count}" for writer, count in counts.items())
    return Measured(rows, [f"kept, of {len(rows)}: {sentence}"], counts,
                    failed=counts["slotfuzz"] < len(rows))


def _restored(lines: str, question: str, place):
    """The answer in a restored script."""
    with tempfile.TemporaryDirectory(prefix="slotfuzz-") as scratch:
        path, folder = Path(scratch) / "made.py", Path(scratch) / "case"
        path.write_text(f"import torch\n{lines}\npass\n")
        folder.mkdir()
        found = capture.capture(path, len(lines.splitlines()) + 2, place, folder)
        asking = script.statements(f"import json\nprint(json.dumps({question}))")
        text = case.text(replace(found, lines=asking), "''", "")
        ended = subprocess.run([*place.command, "-W", "ignore", "-c", text], capture_output=True,
                               text=True, check=False)
    return json.loads(ended.stdout) if ended.returncode == 0 else ended.stderr[-200:]


def plot(measured: Measured, axes) -> None:
    """Bars: how many questions each writer keeps the answer of."""
    axes.bar(WRITERS, [measured.summary[writer] for writer in WRITERS])
    axes.set_ylabel("questions")
