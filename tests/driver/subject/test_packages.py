"""Set-up of packages: installs what is missing, prints short lines, and runs apt once."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from slotfuzz.errors import MachineError
from slotfuzz.subject import packages
from tests.driver.conftest import ROOT, write_program

APT_WORDS = "Reading package lists... Unpacking relacy-dev"


@pytest.fixture
def machine(tmp_path):
    """Runs set_up.sh with fake tools; the arguments of apt-get go to the file `asked`."""
    fakes, asked = tmp_path / "fakes", tmp_path / "asked"
    (tmp_path / "list.txt").write_text("# needs\nnewer | older\nthere\n")
    write_program(fakes / "dpkg-query", '[ "$4" = there ] && echo installed\n')
    write_program(fakes / "apt-cache", '[ "$2" != newer ]\n')
    write_program(fakes / "sudo", "exit 1\n")

    def run(fails="never", user=()):
        write_program(fakes / "apt-get", f"echo '{APT_WORDS}'; echo \"$*\" >>{asked}\n"
                                         f'case "$*" in *{fails}*) exit 1;; esac\n')
        result = subprocess.run(
            [*user, "bash", ROOT / "ci" / "set_up.sh", tmp_path / "list.txt"], check=False,
            capture_output=True, text=True, env={"PATH": f"{fakes}:/usr/bin:/bin"})
        return result.returncode, result.stdout, result.stderr, asked
    return run


def test_the_missing_alternative_that_the_release_has_is_installed(machine):
    code, out, said, asked = machine()
    assert (code, out) == (0, "") and asked.read_text().splitlines()[-1].endswith(
        "install -y --no-install-recommends older")
    assert said.splitlines()[:2] == ["slotfuzz: updating the package lists",
                                     "slotfuzz: installing 1 packages: older"]


def test_the_output_of_apt_is_shown_only_if_it_fails(machine):
    assert APT_WORDS not in machine()[2]
    code, out, said, _ = machine(fails="install")
    assert (code, out) == (2, "apt-get could not install: older\n") and APT_WORDS in said


def test_set_up_continues_if_the_lists_cannot_be_updated(machine):
    code, _, said, _ = machine(fails="update")
    assert code == 0 and "could not be updated" in said


def test_a_user_who_may_not_install_learns_what_to_run(machine, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can run a command as another user")
    # pytest's folders, of which other users may see none.
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        folder.chmod(0o755)
    code, out, _, asked = machine(user=("setpriv", "--reuid=65534", "--clear-groups"))
    assert code == 2 and not asked.exists() and out == (
        "packages are missing; please run: sudo apt-get install -y --no-install-recommends older\n")


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The calls of a fake set_up.sh, which fails while a file `fails` exists."""
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    monkeypatch.setattr(packages, "ROOT", tmp_path)
    monkeypatch.setattr(packages, "DATABASE", str(tmp_path / "status"))
    (tmp_path / "status").write_text("")
    write_program(tmp_path / "ci" / "set_up.sh", f"echo $# >>{tmp_path}/calls; echo why; "
                                                 f"[ ! -e {tmp_path}/fails ]\n")
    (tmp_path / "ci" / "packages.txt").write_text("there\n")
    return lambda: (tmp_path / "calls").read_text().splitlines()


def test_set_up_runs_again_only_after_a_change(asked, tmp_path):
    for _ in range(2):
        packages.ensure()
    assert len(asked()) == 1
    (tmp_path / "ci" / "packages.txt").write_text("there\nmore\n")
    packages.ensure()
    assert len(asked()) == 2
    os.utime(tmp_path / "status", ns=(1, 1))
    packages.ensure()
    assert len(asked()) == 3


def test_a_set_up_that_failed_is_tried_again_and_says_why(asked, tmp_path):
    (tmp_path / "fails").write_text("")
    for _ in range(2):
        with pytest.raises(MachineError, match="^why$"):
            packages.ensure()
    assert len(asked()) == 2


def test_without_dpkg_the_stamp_that_the_message_names_is_enough(asked, tmp_path):
    (tmp_path / "fails").write_text("")
    (tmp_path / "status").unlink()
    with pytest.raises(MachineError) as caught:
        packages.ensure()
    command = str(caught.value).partition("then: ")[2]
    subprocess.run(["sh", "-c", command], check=True)
    packages.ensure()
    assert len(asked()) == 1


def test_a_command_without_packages_does_not_run_set_up(asked):
    packages.ensure(())
    with pytest.raises(FileNotFoundError):
        asked()
