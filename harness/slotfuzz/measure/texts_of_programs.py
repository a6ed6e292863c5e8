"""Runs programs in a plain Python, and prints the text of what each one has at its end.

Alone in its process: the interpreter of the subject runs it as a script. It reads one JSON
document from stdin, with the MODULE, the PRELUDE as source, the PROGRAMS, and how many objects to
make and describe BEFORE them. It prints a list of texts; a program whose process crashed has none.
"""

import contextlib
import gc
import importlib
import json
import os
import sys


def text_of(scope: dict) -> str:
    """The texts of SCOPE's tensors, together, and of its environments; or the error's class."""
    meta = scope["T"]._meta
    tensors = [value for name, value in sorted(scope.items())
               if len(name) == 2 and name[0] == "t" and isinstance(value, scope["T"].Tensor)]
    envs = [value for name, value in sorted(scope.items())
            if len(name) == 2 and name[0] == "z" and isinstance(value, scope["ShapeEnv"])]
    try:
        return "\n".join([meta.dumps(scope["described"](*tensors)) if tensors else "",
                          *map(meta.dumps_env, envs)])
    except RuntimeError as error:
        return type(error).__name__


def run(program: str, scope: dict) -> str:
    """Runs PROGRAM in SCOPE, in which lines may raise; returns its text."""
    for line in program.splitlines():
        with contextlib.suppress(Exception):
            exec(line, scope)
    while scope["in_hermetic"]():
        scope["exit_hermetic"]()
    if scope["T"]._meta.mode_count():
        scope["T"]._meta.leave_modes()
    return text_of(scope)


def run_forked(program: str, scope: dict) -> str | None:
    """Like `run`, in a process of its own; None if that crashed."""
    ours, its = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        with open(its, "w") as out:
            out.write(run(program, scope))
        os._exit(0)
    os.close(its)
    with open(ours) as output:
        text = output.read()
    return None if os.waitpid(child, 0)[1] else text


def main() -> None:
    """Answers the request on stdin."""
    request = json.load(sys.stdin)
    module = importlib.import_module(request["module"])
    describer = module._subclasses.meta_utils.MetaTensorDescriber()
    others = [module.ones(number % 5) for number in range(request["before"])]
    kept = [describer.describe_tensor(other) for other in others[::2]]
    scope = {"T": module, "__name__": "program", "kept": kept}
    exec("import gc, os, sys, weakref", scope)
    exec(request["prelude"], scope)
    gc.freeze()  # the collections of programs need not visit what was there before
    json.dump([run_forked(program, scope) for program in request["programs"]], sys.stdout)


if __name__ == "__main__":
    main()
