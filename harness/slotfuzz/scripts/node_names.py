"""Writes ops/node_names.ops: each name that a release of PyTorch gives the nodes of a graph.

It asks the PyTorch of each tree for `dir()` of ctxs and of nodes of all kinds that the vocabulary
records. Rows of the op table draw from the union, so a new release adds lines without a new row.
"""

import json
import re
import sys
from pathlib import Path

from slotfuzz import cli
from slotfuzz.errors import BrokenError
from slotfuzz.finding import finding
from slotfuzz.paths import ROOT, shown
from slotfuzz.subject import interpreter, rootfs

NAME = "ci/node_names.sh"
EXAMPLE = "ci/node_names.sh build/rootfs-bookworm build/rootfs-trixie build/rootfs-sid"
TABLE = ROOT / "ops" / "node_names.ops"
KEY = "node_name"
LINE_LENGTH_MAX = 100
UNDERSCORE = re.compile(r"_(?!_)")
# What a release's own interpreter runs. The last statement prints the release and its names.
PROBE = '''
import json, torch as T

class Static(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g

class Setup(T.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
    @staticmethod
    def backward(ctx, g):
        return g

x = T.ones(2, 2, requires_grad=True)
written = x * 1
written[0] = 3
results = [Static.apply(x), x + x, x * x, x.relu(), x.sum(), x.view(-1), x[0], x.narrow(0, 0, 1),
           x.as_strided((2,), (1,)), x.t(), x.clone(), x.unbind()[0], x.expand(2, 2), x.detach(),
           x.mul(2), x.to(T.float64), written]
if hasattr(T.autograd.Function, "setup_context"):
    results.append(Setup.apply(x))
nodes = [result.grad_fn for result in results if result.grad_fn is not None]
nodes += [node for made in list(nodes) for node, _ in made.next_functions if node is not None]
nodes.append(Static._backward_cls())
print(json.dumps([T.__version__, sorted({name for node in nodes for name in dir(node)})]))
'''
HEAD = '''\
# The names of ctxs and of nodes of a graph, from which rows of functions.ops and torch.ops draw.
#
# Written by ci/node_names.sh, from dir() of ctxs and nodes of these releases:
'''


def add_arguments(parser) -> None:
    """The trees."""
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE",
                        help="a tree made by ci/torch_rootfs.sh that has torch")


def run(args, output) -> int:
    """Writes the file; 0."""
    gathered = dict(names_in(rootfs.check(tree)) for tree in args.trees)
    finding.write_file(TABLE, text_of(gathered))
    count = len(set().union(*gathered.values()))
    output.text(f"wrote {shown(TABLE)}: {count} names of {', '.join(gathered)}")
    output.document({"file": shown(TABLE), "releases": {one: sorted(names) for one, names
                                                        in gathered.items()}})
    return 0


def names_in(tree: Path) -> tuple[str, frozenset[str]]:
    """The release of the PyTorch in TREE, and its names."""
    answer = interpreter.ask(interpreter.SYSTEM_PYTHON, tree, PROBE, "cannot name its nodes")
    try:
        release, names = json.loads(answer)
    except ValueError as error:
        raise BrokenError(f"the probe of nodes answered {answer[:80]!r}") from error
    return f"torch {release}", frozenset(names)


def text_of(gathered: dict[str, frozenset[str]]) -> str:
    """The file for the names of each release: public ones, private ones, those of each object."""
    names = sorted(set().union(*gathered.values()),
                   key=lambda name: (name.startswith("__"), name.startswith("_"), name))
    values = [json.dumps([one, "underscore"] if UNDERSCORE.match(one) else one) for one in names]
    lines = [f'{KEY} = ["name of a node", [']
    for value in values:
        end = "]]" if value is values[-1] else ","
        grown = f"{lines[-1]} {value}{end}" if len(lines) > 1 else ""
        if grown and len(grown) <= LINE_LENGTH_MAX:
            lines[-1] = grown
        else:
            lines.append(f"  {value}{end}")
    return HEAD + "\n".join([*(f"#   {one}" for one in gathered), "", "[names]", *lines, ""])


if __name__ == "__main__":
    sys.exit(cli.script(NAME, sys.modules[__name__], sys.argv[1:]))
