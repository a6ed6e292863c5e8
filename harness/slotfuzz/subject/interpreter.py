"""A subject that is a module installed in an interpreter: asks the interpreter, builds for it.

The target embeds that interpreter. An interpreter other than the system's has its own build folder.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from slotfuzz.errors import MachineError, UserError
from slotfuzz.evidence import signature
from slotfuzz.subject import build, registry, rootfs
from slotfuzz.subject.capabilities import Wish
from slotfuzz.subject.sanitizers import SANITIZERS
from slotfuzz.subject.subject import Subject

SYSTEM_PYTHON = "/usr/bin/python3"
PROBE_SECONDS = 120
# The oldest CPython that the engine can embed.
PYTHON_MIN = (3, 11)
NO_PYTHON = "is not a Python interpreter that runs"
# Characters kept of another program's error message, which may quote its whole input.
WORDS_MAX = 120


def make(wish: Wish) -> Subject:
    """Builds the targets for the interpreter that WISH names; UserError if it lacks the module."""
    python, tree, sanitizer = wish.python or SYSTEM_PYTHON, wish.tree, wish.sanitizer or "none"
    module = registry.find(wish.name).module
    about = probe(python, module, tree)
    preset, other = SANITIZERS[sanitizer].preset, None
    if tree or about["version"] != probe_system_version():
        if sanitizer != "none":
            raise UserError("a sanitizer works with the system's Python only;"
                            " leave out --sanitizer")
        preset, other = f"plain-{about['version']}{_mark(tree)}", python
    folder = build.build(preset, [f"target-{target}" for target in wish.targets], other, tree)
    versions = {module: about["module"], "python": about["version"]}
    return Subject(wish.name, sanitizer, preset, folder, python, tuple(about["path"]), versions,
                   tree)


def _mark(tree: Path | None) -> str:
    """A suffix for the build folder: engines of two trees may need different libraries."""
    return f"-{hashlib.sha256(str(tree).encode()).hexdigest()[:6]}" if tree else ""


def probe_system_version() -> str:
    """Version of the interpreter that the presets embed, such as 3.11.2."""
    import platform

    # An installed driver may run with another interpreter.
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON):
        return platform.python_version()
    script = "import platform; print(platform.python_version())"
    return ask(SYSTEM_PYTHON, None, script, "is not a Python interpreter that runs").strip()


def probe(python: str, module: str, tree: Path | None = None) -> dict:
    """Asks the interpreter PYTHON for its version, headers and path, and the version of MODULE.

    UserError if one of these is missing.
    """
    path = Path(python)
    if tree:
        if rootfs.which(tree, path.name) != python:
            raise UserError(f"--rootfs {tree} has no {python}; ci/torch_rootfs.sh installs it")
    elif not path.is_file() or not os.access(path, os.X_OK):
        raise UserError(f"--python {python}: no such program")
    script = (
        "import json,os,platform,sys,sysconfig\n"
        "print(json.dumps({'version': platform.python_version(),"
        " 'include': sysconfig.get_config_var('INCLUDEPY') or '',"
        " 'path': [os.path.abspath(p) for p in sys.path if p]}))\n"
    )
    about = _read_answer(ask(python, tree, script, NO_PYTHON), _named(python, tree))
    if tuple(map(int, re.findall(r"\d+", about["version"])[:2])) < PYTHON_MIN:
        raise UserError(f"{_named(python, tree)} is Python {about['version']}; the engine needs"
                        f" {'.'.join(map(str, PYTHON_MIN))} or newer")
    headers = Path(about["include"]) / "Python.h"
    if not (tree / str(headers).lstrip("/") if tree else headers).exists():
        raise UserError(f"{_named(python, tree)} has no headers: {headers} is missing;"
                        " install its -dev package")
    script = f"import {module}\nprint({module}.__version__)\n"
    about["module"] = ask(python, tree, script, f"cannot import {module}").strip()
    return about


def _read_answer(answer: str, name: str) -> dict:
    """The JSON object in ANSWER; UserError if NAME is not a Python, such as /bin/true."""
    try:
        about = json.loads(answer)
    except ValueError:
        about = None
    if not isinstance(about, dict) or not {"version", "include", "path"} <= about.keys():
        raise UserError(f"{name} {NO_PYTHON}: it answers {answer[:WORDS_MAX].strip()!r}")
    return about


def _named(python: str, tree: Path | None) -> str:
    return f"{python} in {tree}" if tree else python


def _why(result: subprocess.CompletedProcess) -> str:
    """Why an interpreter failed: its last line on stderr, its signal or its exit code."""
    if result.returncode < 0:
        return f"it died of {signature.signal_name(-result.returncode)}"
    lines = result.stderr.strip().splitlines()
    return lines[-1][:WORDS_MAX] if lines else f"exit code {result.returncode}"


def ask(
    python: str, tree: Path | None, script: str, problem: str,
    environment: dict[str, str] | None = None,
) -> str:
    """What PYTHON, in TREE if one is given, prints for SCRIPT; UserError says that it PROBLEM.

    By default it imports from its own folders only.
    """
    command, name = [*rootfs.entering(tree), python, "-c", script], _named(python, tree)
    if environment is None:
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        result = subprocess.run(command, capture_output=True, text=True,
                                timeout=PROBE_SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{name} {problem}: no answer in {PROBE_SECONDS} s") from error
    except OSError as error:
        raise MachineError(f"{name} does not start: {error.strerror}") from error
    if result.returncode != 0:
        raise UserError(f"{name} {problem}: {_why(result)}")
    return result.stdout
