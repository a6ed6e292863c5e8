"""capture, restore and minimize of a case, on a `torch` in plain Python; and what they refuse."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slotfuzz import cli
from tests.driver.conftest import ROOT

FAKE = Path(__file__).parent / "fake_torch"
SCRIPT = """\
import torch
import math

def twice(x):
    return x

count = 2
a = torch.full((5, 4), 3.0)
b = torch.zeros((7,), dtype=torch.int64)
w = torch.tensor([1.0, 2.0], requires_grad=True)
same = a
print(count)
twice(b)
same.{bug}
print("after")
"""
LINE = 12


@pytest.fixture(autouse=True)
def fake_torch(monkeypatch):
    """The interpreter of the tests, with the fake."""
    monkeypatch.setenv("PYTHONPATH", str(FAKE))
    return sys.executable


def run(capsys, *argv) -> tuple[int, dict, str]:
    """The exit code, the document and the messages of a command."""
    code = cli.main([*map(str, argv), "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def captured(capsys, folder: Path, bug: str = "crash()", line: int = LINE) -> Path:
    """A case of SCRIPT with BUG."""
    script = folder / "user.py"
    script.write_text(SCRIPT.format(bug=bug))
    code, _, err = run(capsys, "capture", script, "--line", line, "-o", folder / "case",
                       "--python", sys.executable)
    assert code == 0, err
    return folder / "case"


def test_a_capture_has_names_bytes_and_lines(tmp_path, capsys):
    case = captured(capsys, tmp_path)
    assert sorted(os.listdir(case)) == ["case.json", "inputs.capture", "script.py"]
    record = json.loads((case / "case.json").read_text())
    assert record["lines"] == ["print(count)", "twice(b)", "same.crash()", 'print("after")']
    assert record["values"] == {"count": "2"} and record["torch"] == "0.1-fake"
    assert (case / "script.py").read_text() == (tmp_path / "user.py").read_text()


def test_a_restored_script_fails_alike(tmp_path, capsys):
    case = captured(capsys, tmp_path)
    code, told, _ = run(capsys, "restore", case)
    assert code == 0 and "slotfuzz" not in told["script"] and told["missing"] == {}
    assert "count = 2" in told["script"] and "same = a" in told["script"]
    ended = subprocess.run([sys.executable, "-c", told["script"]], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("bug, failure, lines, names, size", [
    ("crash()", "signal SIGSEGV", ["same.crash()"], ["same"], [2]),
    ("refuse(b)", "exception RuntimeError: cannot mix # elements", ["same.refuse(b)"],
     ["b", "same"], [1]),
])
def test_a_case_becomes_small(tmp_path, capsys, bug, failure, lines, names, size):
    case, out = captured(capsys, tmp_path, bug), tmp_path / "small"
    code, told, err = run(capsys, "minimize", case, "-o", out)
    assert code == 1, err
    assert told["failure"] == failure and told["one_minimal"]
    assert told["fresh_failed"] == told["fresh_runs"]
    assert (told["bytes_before"], told["lines_before"], told["names_before"]) == (144, 4, 4)
    record = json.loads((out / "case.json").read_text())
    assert record["lines"] == lines and record["before"] == []
    assert sorted(os.listdir(out)) == ["NOTES.md", "case.json", "inputs.capture", "repro.py"]
    notes = (out / "NOTES.md").read_text()
    assert failure in notes and f"| bytes | 144 | {told['bytes']} |" in notes
    assert told["names"] == len(names) and all(name in notes for name in names)
    check = subprocess.run([sys.executable, out / "repro.py", "--check", "3"], capture_output=True,
                           text=True, check=False)
    assert check.returncode == 1 and "failed 3 of 3" in check.stdout
    assert run(capsys, "minimize", out, "-o", tmp_path / "again")[1]["bytes"] == told["bytes"]


def test_a_case_that_does_not_fail_is_an_error(tmp_path, capsys):
    case = captured(capsys, tmp_path, "size()")
    code, told, _ = run(capsys, "minimize", case, "-o", tmp_path / "small")
    assert code == 2 and "does not fail" in told["error"]
    assert sorted(os.listdir(tmp_path)) == ["case", "user.py"]


@pytest.mark.parametrize("odd, kind", [
    ("odd = [a]\nodd.append(odd)", "list"), ("odd = {}\nodd['self'] = odd", "dict"),
    ("odd = ()\nfor _ in range(100000): odd = (odd,)", "tuple"),
    ("odd = [1]\nfor _ in range(60): odd = [odd, odd]", "list"),
    ("odd = [1]\nfor _ in range(40): odd = [odd, odd]", "list"),
    ("odd = type('Odd', (), {'__class__': property(lambda self: 1 // 0)})()", "Odd"),
    ("odd = 1 << 100000", "int"), ("odd = complex('nan')", "complex"),
])
def test_what_no_expression_can_say_is_a_warning(tmp_path, capsys, odd, kind):
    script = tmp_path / "user.py"
    text = f"import torch\na = torch.zeros((2,))\nglobals()['a b'] = a\n{odd}\nprint(odd)\n"
    script.write_text(text)
    code, told, err = run(capsys, "capture", script, "--line", text.count("\n"), "-o",
                          tmp_path / "case", "--python", sys.executable)
    assert code == 0 and told["missing"] == {"odd": kind} and told["names"] == ["a"]
    assert f"later lines read `odd`, a {kind}" in err


def test_a_case_that_lacks_a_variable_has_no_failure_of_the_script(tmp_path, capsys):
    script = tmp_path / "user.py"
    script.write_text("import torch\na = torch.zeros((2,))\nit = iter((a,))\nnext(it).crash()\n")
    assert run(capsys, "capture", script, "--line", 4, "-o", tmp_path / "case", "--python",
               sys.executable)[0] == 0
    code, told, _ = run(capsys, "minimize", tmp_path / "case", "-o", tmp_path / "small")
    assert code == 2 and "NameError" in told["error"] and "its lines read `it`" in told["error"]


@pytest.mark.parametrize("text, line, words", [
    ("a = torch.zeros((2,))\nb = torch.Sub((2,), [0, 0], torch.float32)\nprint(a)\n", 4,
     "`b` is of the class Sub"),
    ("a = torch.zeros((2,))\na.grad = torch.Sub((2,), [0, 0], torch.float32)\nprint(a)\n", 4,
     "the gradient of `a` is of the class Sub"),
    ("a = torch.zeros((2,))\na.layout = 'torch.sparse_coo'\nprint(a)\n", 4, "layout"),
    ("a = torch.zeros((2,))\ndel a.writes\nprint(a)\n", 4,
     "`a` cannot be described: AttributeError"),
    ("a = torch.zeros((2,))\ntorch.is_inference_mode_enabled = None\ntry:\n    print(a)\n"
     "except Exception:\n    print('on')\n", 5, "cannot be described: TypeError: 'NoneType'"),
    ("a = torch.zeros((2,))\nraise KeyError(1)\nprint(a)\n", 4, "ended with exit code 1 before"),
    ("a = torch.zeros((2,))\na = 1 if a else 2\nprint(a)\n", 4, "no tensor is in scope"),
    ("if 0:\n    print(1)\n", 3, "ended before line 3 was reached"),
    ("torch.full((2,), 1.0).crash()\nprint(1)\n", 3, "died of SIGSEGV before line 3"),
    ("a = (\n", 2, "user.py, line 2"),
    ("a = 1\n\nb = 2\n", 3, "did you mean 2 (`a = 1`) or 4 (`b = 2`)?"),
])
def test_what_cannot_be_captured_leaves_nothing(tmp_path, capsys, text, line, words):
    script = tmp_path / "user.py"
    script.write_text("import torch\n" + text)
    code, told, _ = run(capsys, "capture", script, "--line", line, "-o", tmp_path / "case",
                        "--python", sys.executable)
    assert code == 2 and words in told["error"]
    assert os.listdir(tmp_path) == ["user.py"]


@pytest.mark.parametrize("argv, words", [
    (["capture", "{folder}/no.py", "--line", "3", "-o", "{folder}/x"], "no such file"),
    (["capture", "{folder}", "--line", "3", "-o", "{folder}/x"], "is a folder"),
    (["capture", "{folder}/no.py", "-o", "{folder}/x"], "--line"),
    (["restore", "{folder}/no"], "no such folder"), (["restore", "{folder}"], "is no case"),
    (["minimize", "{folder}", "-o", "{folder}/x"], "is no case"),
    (["minimize", "{folder}", "-o", "{folder}/x", "--subject", "core"], "is for programs"),
])
def test_bad_input_is_one_clear_line(tmp_path, capsys, argv, words):
    code, told, _ = run(capsys, *(word.format(folder=tmp_path) for word in argv))
    assert code == 2 and words in told["error"]
    assert os.listdir(tmp_path) == []


def test_a_user_s_folder_is_not_replaced(tmp_path, capsys):
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "thesis.tex").write_text("x")
    script = tmp_path / "user.py"
    script.write_text("import torch\na = torch.zeros((1,))\nprint(a)\n")
    code, told, _ = run(capsys, "capture", script, "--line", 3, "-o", tmp_path / "case")
    assert code == 2 and "not empty" in told["error"]
    assert os.listdir(tmp_path / "case") == ["thesis.tex"]


def test_a_capture_replaces_an_older_one(tmp_path, capsys):
    captured(capsys, tmp_path)
    assert json.loads((captured(capsys, tmp_path, line=13) / "case.json").read_text())["line"] == 13
    assert sorted(os.listdir(tmp_path)) == ["case", "user.py"]


def test_an_interpreter_without_torch_is_an_error(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    empty = tmp_path / "python"
    empty.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
    empty.chmod(0o755)
    script = tmp_path / "user.py"
    script.write_text("a = 1\n")
    for python, words in ((empty, "cannot import torch"), (tmp_path / "no", "no such program")):
        code, told, _ = run(capsys, "capture", script, "--line", 1, "-o", tmp_path / "case",
                            "--python", python)
        assert code == 2 and words in told["error"]


def test_a_disk_that_fills_leaves_nothing(tmp_path, capsys):
    script = tmp_path / "user.py"
    script.write_text("import torch\na = torch.zeros((1000000,))\nprint(a)\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        code, told, _ = run(capsys, "capture", script, "--line", 3, "-o", tmp_path / "case",
                            "--python", sys.executable)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert code == 2 and "cannot write the bytes of the tensors: File too large" in told["error"]
    assert os.listdir(tmp_path) == ["user.py"]


def test_an_interrupted_command_leaves_nothing(tmp_path):
    script = tmp_path / "user.py"
    script.write_text("import time\nopen('started', 'w').close()\ntime.sleep(60)\na = 1\n")
    command = subprocess.Popen(
        [sys.executable, "-m", "slotfuzz", "capture", script, "--line", "4", "-o",
         tmp_path / "case", "--python", sys.executable], cwd=tmp_path, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'harness'}:{FAKE}"}, text=True)
    while not (tmp_path / "started").exists():
        assert command.poll() is None
        time.sleep(0.01)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=60)
    assert command.returncode == 130 and "interrupted" in said
    assert sorted(os.listdir(tmp_path)) == ["started", "user.py"]


def test_an_interrupted_search_leaves_nothing(tmp_path, capsys):
    case = captured(capsys, tmp_path, "size(); import time; open('started', 'w'); time.sleep(60)")
    command = subprocess.Popen(
        [sys.executable, "-m", "slotfuzz", "minimize", case, "-o", tmp_path / "small"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'harness'}:{FAKE}"})
    while not (tmp_path / "started").exists():
        assert command.poll() is None
        time.sleep(0.01)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=50)
    assert command.returncode == 130 and "interrupted" in said
    assert sorted(os.listdir(tmp_path)) == ["case", "started", "user.py"]


@pytest.mark.parametrize("name, edit, words", [
    ("case.json", lambda data: b"{", "is no JSON"),
    ("case.json", lambda data: data.replace(b'"version": 1', b'"version": 2'), "newer"),
    ("case.json", lambda data: data.replace(b'"line": 12', b'"line": "x"'), "its line"),
    ("case.json", lambda data: data.replace(b'"print(count)"', b'"print("'), "/lines/0"),
    ("case.json", lambda data: data.replace(b'"count": "2"', b'"count": "2; x = 1 +"'),
     "/values/count"),
    ("case.json", lambda data: None, "lacks case.json"),
    ("inputs.capture", lambda data: None, "lacks inputs.capture"),
    ("inputs.capture", lambda data: data[:-1], "/ranges/"),
    ("inputs.capture", lambda data: data[:40], "truncated"),
    ("inputs.capture", lambda data: data.replace(b'"begin":0', b'"begin":9'), "/ranges/0/begin"),
    ("inputs.capture", lambda data: data.replace(b'"dtype":"float32"', b'"dtype":"quint8!"'),
     "/document/tensors/0/dtype"),
])
def test_a_changed_case_is_refused(tmp_path, capsys, name, edit, words):
    case = captured(capsys, tmp_path)
    path = case / name
    changed = edit(path.read_bytes())
    path.unlink()
    if changed is not None:
        path.write_bytes(changed)
    for command in (("restore", case), ("minimize", case, "-o", tmp_path / "small")):
        code, told, _ = run(capsys, *command)
        assert code == 2 and words in told["error"]
    assert not (tmp_path / "small").exists()
