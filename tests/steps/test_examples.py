"""The examples of each -h, of README.md and of docs/ are typed in a scratch copy of the checkout.

The copy has the checkout's path, in a mount namespace of its own, and the checkout's build: nothing
is compiled anew, and what an example writes goes with the copy. SLOTFUZZ_EXAMPLES=all runs those
that take minutes as well, each as it stands; else hunts are cut short by a further option.
"""

import importlib
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from slotfuzz import cli
from slotfuzz.errors import UserError
from slotfuzz.paths import ROOT, build_root
from slotfuzz.subject import interpreter

ALL = os.environ.get("SLOTFUZZ_EXAMPLES") == "all"
EXAMPLE_SECONDS_MAX = 7200 if ALL else 600
# A line of commands, and a command in the midst of prose.
BLOCK = re.compile(r"^    (?:\$ )?((?:\./slotfuzz|ci/\w+\.sh) .*?)(?:   .*)?$", re.MULTILINE)
SPAN = re.compile(r"`((?:\./slotfuzz|ci/\w+\.sh) [^`]+)`")
# Words of a command's syntax, and files that only the reader has.
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\[|\.\.\.|…|<|crash-")
# What is short by itself, or is made so by options that come last.
SHORTENED = {"hunt": "--seconds 3", "interleave": "--seconds 3", "mutants": "--seconds 30"}
LONG = ("bench",)
# What another step types, and what runs this one: the tests, and the night.
ELSEWHERE = ("doctor", "test", "ci/")
HEADERS = Path("/usr/include/c10/core/TensorImpl.h")
# 1: a finding is what the example is there for.
EXIT_CODES = (0, 1)


def documents():
    """README.md and the documents, but for those that are made by a command."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if page.name not in ("ops.md", "torch.md")]


def examples():
    """Each command that a reader may paste, with where it stands."""
    found = {}
    for name in cli.command_names():
        module = importlib.import_module(f"slotfuzz.commands.{name}")
        for line in module.EXAMPLE.splitlines():
            found.setdefault(line.strip(), f"{name} -h")
    for page in documents():
        text = page.read_text()
        for pattern in (BLOCK, SPAN):
            for match in pattern.finditer(text):
                command = " ".join(match[1].split()).rstrip(";,")
                if not PLACEHOLDER.search(command):
                    found.setdefault(command, str(page.relative_to(ROOT)))
    return found


EXAMPLES = examples()


def name_of(command):
    """The command's own word, or ci/ for a script of that folder."""
    first, *rest = shlex.split(command)
    return "ci/" if first.startswith("ci/") else rest[0]


def words_of(command):
    """The words behind the command's own, without what the shell does with the output."""
    return shlex.split(command.partition(" > ")[0])[2:]


def is_long(command):
    """Whether it takes minutes."""
    return name_of(command) in LONG


def lacking(command):
    """What the machine has not, and the command needs; an empty string if it has all."""
    if "--subject c10" in command and not HEADERS.exists():
        return f"libtorch has no headers here: {HEADERS} is missing"
    if "--subject torch" not in command:
        return ""
    try:
        interpreter.probe(interpreter.SYSTEM_PYTHON, "torch")
    except UserError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """Runs a command line in the copy."""
    if os.geteuid() != 0:
        pytest.skip("a mount namespace takes root")
    folder = tmp_path_factory.mktemp("scratch") / "clone"
    subprocess.run(["git", "clone", "-q", "--no-checkout", "--no-hardlinks",
                    ROOT, folder], check=True)
    subprocess.run(["git", "-C", folder, "reset", "-q"], check=True)
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                            "--exclude-standard"], capture_output=True, text=True, check=True)
    for name in filter(None, names.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "build").mkdir()
    setting = f"""
        mount --bind {shlex.quote(str(build_root()))} {shlex.quote(str(folder / 'build'))}
        mount --rbind {shlex.quote(str(folder))} {shlex.quote(str(ROOT))}
        cd {shlex.quote(str(ROOT))}
    """

    def run(command):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("PYTHONPATH", "SLOTFUZZ_STEPS")}
        return subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "bash", "-ec", setting + command],
            capture_output=True, text=True, check=False, timeout=EXAMPLE_SECONDS_MAX,
            env=environment)
    return run


def test_there_are_examples_of_each_command():
    assert {name_of(command) for command in EXAMPLES} >= set(cli.command_names())


def test_each_example_is_a_command_that_exists():
    """Also those that only the night runs. An option that is unknown raises UserError."""
    for command in EXAMPLES:
        name, words = name_of(command), words_of(command)
        if name == "ci/":
            assert (ROOT / shlex.split(command)[0]).is_file(), command
        elif "-h" not in (name, *words):
            module = importlib.import_module(f"slotfuzz.commands.{name}")
            cli.parser_of(name, module).parse_args(
                module.arrange(words) if hasattr(module, "arrange") else words)


# In the order of the documents, since one may use what the one before it has found.
@pytest.mark.parametrize("command", [
    one for one in EXAMPLES if name_of(one) not in ELSEWHERE and (ALL or not is_long(one))])
def test_each_example_runs_as_it_is_pasted(command, scratch):
    if lacking(command):
        pytest.skip(lacking(command))
    shorter = "" if ALL else SHORTENED.get(name_of(command), "")
    line, arrow, file = command.partition(" > ")
    result = scratch(f"{line} {shorter} {arrow} {file}")
    said = result.stdout + result.stderr
    assert result.returncode in EXIT_CODES, f"{EXAMPLES[command]}: {command}\n{said[-2000:]}"
    assert "Traceback" not in said and (said.strip() or arrow), command
