"""Runs the examples of each -h, of README.md and of docs/ in a scratch copy of the checkout.

A mount namespace gives the copy the checkout's path and build. So nothing is compiled again, and
the files that an example writes are removed with the copy. SLOTFUZZ_EXAMPLES=all runs each example
unchanged, even if it takes minutes; otherwise an added option shortens hunts.
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
# A line in a block of commands, and a command within prose.
BLOCK = re.compile(r"^    (?:\$ )?((?:\./slotfuzz|ci/\w+\.sh) .*?)(?:   .*)?$", re.MULTILINE)
SPAN = re.compile(r"`((?:\./slotfuzz|ci/\w+\.sh) [^`]+)`")
# Words of a command's syntax, and names of files that only a reader has.
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\[|\.\.\.|…|<|crash-")
# Commands that are short, or that these additional options shorten. A hunt that ends with its first
# finding keeps its time: the example after it reads that finding.
ENDS_WITH_A_FINDING = "--stop-at-first"
SHORTENED = {"hunt": "--seconds 3", "interleave": "--seconds 3", "mutants": "--seconds 30"}
LONG = ("bench",)
# Commands that another step runs, and commands that run this step.
ELSEWHERE = ("doctor", "test", "ci/")
HEADERS = Path("/usr/include/c10/core/TensorImpl.h")
# The exit code 1 is right if the example shows a finding.
EXIT_CODES = (0, 1)


def documents():
    """README.md and the documents, without those that a command generates."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if page.name not in ("ops.md", "torch.md")]


def examples():
    """Each command that a reader may paste, and its place."""
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
    """The name of the slotfuzz command, or ci/ for a script of that folder."""
    first, *rest = shlex.split(command)
    return "ci/" if first.startswith("ci/") else rest[0]


def words_of(command):
    """The words after the command's name, without redirections and pipes."""
    return shlex.split(command.partition(" > ")[0])[2:]


def is_long(command):
    """Whether the command takes minutes."""
    return name_of(command) in LONG


def lacking(command):
    """What the command needs and the machine lacks; an empty string if nothing.

    The folder case/ is what the example of capture has made of a script for PyTorch.
    """
    if "--subject c10" in command and not HEADERS.exists():
        return f"libtorch has no headers here: {HEADERS} is missing"
    if "--subject torch" not in command and " case/" not in command:
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
        pytest.skip("a mount namespace needs root")
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
    """This includes commands of the nightly run. An unknown option raises UserError."""
    for command in EXAMPLES:
        name, words = name_of(command), words_of(command)
        if name == "ci/":
            assert (ROOT / shlex.split(command)[0]).is_file(), command
        elif "-h" not in (name, *words):
            module = importlib.import_module(f"slotfuzz.commands.{name}")
            cli.parser_of(name, module).parse_args(
                module.arrange(words) if hasattr(module, "arrange") else words)


# In the order of the documents, since an example may use a finding of an earlier one.
@pytest.mark.parametrize("command", [
    one for one in EXAMPLES if name_of(one) not in ELSEWHERE and (ALL or not is_long(one))])
def test_each_example_runs_as_it_is_pasted(command, scratch):
    if lacking(command):
        pytest.skip(lacking(command))
    finds = ENDS_WITH_A_FINDING in command
    shorter = "" if ALL or finds else SHORTENED.get(name_of(command), "")
    line, arrow, file = command.partition(" > ")
    result = scratch(f"{line} {shorter} {arrow} {file}")
    said = result.stdout + result.stderr
    expected = (1,) if finds else EXIT_CODES
    assert result.returncode in expected, f"{EXAMPLES[command]}: {command}\n{said[-2000:]}"
    assert "Traceback" not in said and (said.strip() or arrow), command
