"""Runs in the user's interpreter: a script up to a line, then describes what is in scope there.

Usage: python observer SCRIPT LINE FOLDER. It uses the standard library and PyTorch's public
attributes only, and writes FOLDER/answer.json and FOLDER/bytes.
"""

import ast
import json
import keyword
import os
import sys
import types
import unicodedata
import warnings

from observed_holders import Holders, is_of, is_plain, is_small
from observed_tensors import Refusal, Walk

STOP = "__slotfuzz_stop__"


def main(script, line, folder):
    """Runs SCRIPT as `python SCRIPT` does, and never comes back from LINE."""
    with open(script, "rb") as file:
        source = file.read()
    tree = ast.parse(source, script)
    stop_before(tree, line)
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    sys.argv[:], sys.path[0] = [script], os.path.dirname(os.path.abspath(script))

    def stop():
        frame = sys._getframe(1)
        try:
            answer = scope(dict(frame.f_globals), dict(frame.f_locals), folder)
        except Refusal as refusal:
            answer = {"refused": str(refusal)}
        except OSError as error:
            answer = {"unwritable": error.strerror}
        except BaseException as error:  # which the script could catch, and run on
            answer = {"refused": "what is in scope cannot be described: %s: %s" % (
                type(error).__name__, (str(error).splitlines() or [""])[0])}
        finish(answer, folder)

    __builtins__.__dict__[STOP] = stop
    exec(compile(tree, script, "exec"), module.__dict__)


def finish(answer, folder):
    """Writes the answer and ends this process: nothing of the script runs any more."""
    code = 0
    try:
        with open(os.path.join(folder, "answer.json"), "w") as file:
            json.dump(answer, file)
    except OSError:
        code = 3
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def stop_before(tree, line):
    """Puts a call before the statement that begins in LINE."""
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            for place, one in enumerate(body if isinstance(body, list) else []):
                first = min([one.lineno, *(d.lineno for d in getattr(one, "decorator_list", []))])
                if first == line:
                    call = ast.Expr(ast.Call(ast.Name(STOP, ast.Load()), [], []))
                    body.insert(place, ast.fix_missing_locations(ast.copy_location(call, one)))
                    return


def is_variable(name):
    """Whether NAME is that of a variable; a script may put other names into globals(), too."""
    return (type(name) is str and name.isidentifier() and not keyword.iskeyword(name)
            and unicodedata.normalize("NFKC", name) == name
            and not (name.startswith("__") and name.endswith("__")))


def scope(outer, inner, folder):
    """What is in scope: tensors as a document, plain values as text, of the rest the types."""
    import torch

    both = {**outer, **inner}
    names = {name: both[name] for name in sorted(filter(is_variable, both))}
    if torch.is_inference_mode_enabled():
        raise Refusal("the line runs in inference mode, whose tensors count no writes")
    tensors = {name: value for name, value in names.items() if is_of(value, torch.Tensor)}
    small = {name: value for name, value in names.items() if is_small(value)}
    walk, holders = Walk(torch), Holders(torch, tensors, set(names))
    plain = {name: repr(value) for name, value in small.items() if is_plain(value, torch)}
    grad_mode = torch.is_grad_enabled()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = {name: holders.expression(value, name) for name, value in small.items()
                if name not in tensors and name not in plain}
        held = {name: text for name, text in held.items() if text is not None}
        named = {**tensors, **holders.parts}
        roots = {name: walk.visit(named[name], "`%s`" % name) for name in sorted(named)}
        walk.run()
        walk.ask_a_fork()
        walk.write_bytes(os.path.join(folder, "bytes"))
    order = list(dict.fromkeys(roots.values()))
    return {
        "names": {name: order.index(place) for name, place in roots.items()},
        "grad_mode": grad_mode, "torch": torch.__version__,
        "storages": walk.storage_rows, "tensors": walk.rows, "roots": order,
        "values": plain, "holders": held, "parts": sorted(holders.parts),
        "others": {name: type(value).__name__ for name, value in names.items()
                   if name not in tensors and name not in plain and name not in held},
    }


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
