"""--rootfs: a bad tree is an error, and a command sees the tree's files in place of the system's.

Some tests use the system's own root as a tree: the files are the same, the mount namespace is not.
"""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from slotfuzz.errors import MachineError, UserError
from slotfuzz.subject import interpreter, rootfs
from tests.driver.commands.test_cli import slotfuzz

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter a tree")


def tree_in(folder: Path) -> Path:
    """A tree with empty folders."""
    for name in rootfs.COVERED:
        (folder / name / "bin").mkdir(parents=True)
    return folder


@pytest.mark.parametrize("command", [
    ["hunt", "--subject", "torch"], ["replay", "{tmp}/x.py", "--subject", "torch"],
    ["minimize", "{tmp}/x.py", "-o", "{tmp}/y.py", "--subject", "torch"],
    ["explain", "{tmp}/x.py", "--subject", "torch"], ["doctor"],
    ["ops", "--subject", "torch"],
])
@pytest.mark.parametrize("name, words", [("nope", "no such folder"), ("", "not a Debian tree")])
def test_a_folder_that_is_not_a_tree_is_a_usage_error(capsys, tmp_path, command, name, words):
    (tmp_path / "x.py").write_text("t0 = T.ones(1)\n")
    argv = [word.format(tmp=tmp_path) for word in command]
    code, out, err = slotfuzz(capsys, *argv, "--rootfs", str(tmp_path / name))
    assert (code, out) == (2, "") and words in err and len(err.splitlines()) == 1


def test_a_user_other_than_root_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MachineError, match="only root may enter"):
        rootfs.check(tree_in(tmp_path))


def test_a_build_folder_that_the_tree_would_hide_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SLOTFUZZ_BUILD", "/usr/local/slotfuzz-build")
    with pytest.raises(UserError, match="hides /usr/local/slotfuzz-build"):
        rootfs.check(tree_in(tmp_path))


def test_a_tree_without_python_is_an_error(tmp_path):
    with pytest.raises(UserError, match="has no /usr/bin/python3"):
        interpreter.probe(interpreter.SYSTEM_PYTHON, "torch", tree_in(tmp_path))


def test_a_tree_is_for_torch(capsys, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    code, _, err = slotfuzz(capsys, "hunt", "--subject", "core", "--rootfs", "/")
    assert code == 2 and "--rootfs chooses the interpreter that has torch" in err


@pytest.mark.parametrize(
    "version, is_error", [("3.10.9", True), ("3.11.0", False), ("3.14.0", False)])
def test_an_old_python_is_an_error(monkeypatch, tmp_path, version, is_error):
    (tmp_path / "Python.h").write_text("")
    answer = f'{{"version": "{version}", "include": "{tmp_path}", "path": []}}'
    monkeypatch.setattr(interpreter, "ask", lambda python, tree, script, problem: answer)
    if is_error:
        with pytest.raises(UserError, match="is Python 3.10.9; the engine needs 3.11 or newer"):
            interpreter.probe(interpreter.SYSTEM_PYTHON, "torch")
    else:
        assert interpreter.probe(interpreter.SYSTEM_PYTHON, "torch")["version"] == version


@as_root
def test_a_tree_hides_etc_and_usr_only(tmp_path):
    tree = tree_in(tmp_path / "tree")
    # The tree's /usr is the system's, since commands need it; only its /etc differs.
    (tree / "usr" / "bin").rmdir()
    (tree / "usr").rmdir()
    (tree / "usr").symlink_to("/usr")
    (tree / "etc" / "mark").write_text("the tree's")
    result = subprocess.run([*rootfs.entering(tree), "sh", "-c", f"cat /etc/mark; pwd; echo $$ >"
                             f" {tmp_path}/out"], cwd=tmp_path, capture_output=True, text=True,
                            check=True)
    assert result.stdout == f"the tree's{tmp_path}\n" and (tmp_path / "out").exists()
    assert not Path("/etc/mark").exists()
    written = subprocess.run([*rootfs.entering(tree), "sh", "-c", "echo x >/etc/mark"], check=False,
                             capture_output=True, text=True)
    assert "Read-only" in written.stderr and (tree / "etc" / "mark").read_text() == "the tree's"


@as_root
def test_entering_a_tree_keeps_the_process_id_and_signals():
    command = [*rootfs.entering(Path("/")), "sh", "-c", "echo $$; kill -SEGV $$"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        out, _ = process.communicate(timeout=30)
    assert int(out) == process.pid and process.returncode == -signal.SIGSEGV
