"""Builds a small checkout with the real cmake and ninja: moved, read-only, shared, disk full."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from slotfuzz.subject import build
from tests.driver.conftest import ROOT

CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(small NONE)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/*.txt)
add_custom_command(OUTPUT made COMMAND cat ${sources} > made DEPENDS ${sources})
add_custom_target(all-made DEPENDS made)
add_custom_target(full COMMAND echo "cannot write: No space left on device" && false)
add_custom_target(slow COMMAND sh ${CMAKE_SOURCE_DIR}/slow.sh)
add_custom_target(wrong COMMAND echo "error: what is wrong" && false)
"""
PRESETS = """{"version": 6, "configurePresets": [{"name": "plain", "generator": "Ninja",
 "binaryDir": "${sourceDir}/build/plain"}]}"""
BUILD = """
from slotfuzz import progress
from slotfuzz.subject import build
{}
print(build.build('plain', ['{}']))
"""
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ERROR = "slotfuzz.errors.MachineError: "


@pytest.fixture
def checkout():
    """A checkout with the driver and one source, in a folder that every user may enter."""
    place = Path(tempfile.mkdtemp(prefix="slotfuzz-test-"))
    place.chmod(0o755)
    folder = place / "checkout"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "harness" / "slotfuzz", folder / "harness" / "slotfuzz", ignore=ignored)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "CMakePresets.json").write_text(PRESETS)
    (folder / "core").mkdir()
    (folder / "core" / "a.txt").write_text("old\n")
    yield folder
    shutil.rmtree(place)


def environment(checkout, **variables):
    """The environment of a command of CHECKOUT, without these tests' own build folder."""
    inherited = {name: value for name, value in os.environ.items() if name != "SLOTFUZZ_BUILD"}
    return {**inherited, "PYTHONPATH": str(checkout / "harness"),
            "PYTHONDONTWRITEBYTECODE": "1", **variables}


def built(checkout, target="made", before="pass", user=(), **variables):
    """Builds TARGET in CHECKOUT; returns the folder or the error, and stderr."""
    result = subprocess.run(
        [*user, "/usr/bin/python3", "-c", BUILD.format(before, target)], cwd=checkout,
        capture_output=True, text=True, check=False, env=environment(checkout, **variables))
    if result.returncode:
        return result.stderr.partition(ERROR)[2].rstrip(), result.stderr
    return Path(result.stdout.strip()), result.stderr


def made(checkout, **how):
    """Builds; returns the text of the file `made`."""
    return (built(checkout, **how)[0] / "made").read_text()


def test_a_copied_checkout_compiles_its_own_sources(checkout):
    assert made(checkout) == "old\n"
    copy = checkout.parent / "copy"
    shutil.copytree(checkout, copy)
    (copy / "core" / "a.txt").write_text("new\n")
    folder, said = built(copy)
    assert (folder / "made").read_text() == "new\n" and folder == copy / "build" / "plain"
    assert f"build/plain was made for {checkout}; configuring it afresh" in said
    assert len(said.splitlines()) == 1


def test_a_build_folder_that_was_moved_is_configured_afresh(checkout):
    made(checkout)
    checkout.rename(checkout.parent / "moved")
    assert "configuring it afresh" in built(checkout.parent / "moved")[1]
    assert "configuring it afresh" not in built(checkout.parent / "moved")[1]
    (checkout.parent / "moved").rename(checkout)


def log_of(checkout):
    """The text of build.log, and the time of its last write."""
    path = checkout / "build" / "plain" / "build.log"
    return path.stat().st_mtime_ns


def test_a_build_that_is_up_to_date_starts_no_tool(checkout):
    made(checkout)
    before = log_of(checkout)
    assert built(checkout, PATH="/nowhere")[0] == checkout / "build" / "plain"
    assert log_of(checkout) == before


def test_a_changed_op_table_starts_no_tool(checkout):
    """The driver passes the path of the table to each target."""
    made(checkout)
    before = log_of(checkout)
    (checkout / "ops").mkdir()
    (checkout / "ops" / "new.ops").write_text("[storage]\n")
    assert built(checkout, PATH="/nowhere")[0] == checkout / "build" / "plain"
    assert log_of(checkout) == before


@pytest.mark.parametrize("change, text", [
    (lambda core: (core / "a.txt").write_text("new\n"), "new\n"),
    (lambda core: (core / "b.txt").write_text("more\n"), "old\nmore\n"),
    (lambda core: (core.parent / "build" / "plain" / "made").unlink(), "old\n"),
    (lambda core: shutil.rmtree(core.parent / "build" / "plain"), "old\n"),
    (lambda core: (core.parent / "build" / "plain" / ".fresh").write_text("{"), "old\n"),
], ids=["edited", "added", "removed", "all removed", "damaged stamp"])
def test_a_changed_source_is_built_again(checkout, change, text):
    made(checkout)
    change(checkout / "core")
    assert made(checkout) == text


def read_only(checkout):
    """Makes a checkout that only root may write to."""
    subprocess.run(["chmod", "-R", "u=rwX,go=rX", checkout], check=True)


@pytest.fixture
def nobody():
    """The words that run a command as a user without rights; skips if this user is not root."""
    if os.geteuid() != 0:
        pytest.skip("only root can run a command as another user")
    return NOBODY


@pytest.mark.parametrize("stamped", [True, False])
def test_a_user_without_write_permission_uses_an_up_to_date_build(checkout, nobody, stamped):
    made(checkout)
    if not stamped:
        (checkout / "build" / "plain" / ".fresh").unlink()
    read_only(checkout)
    cache = checkout.parent / "cache"
    folder, _ = built(checkout, user=nobody, XDG_CACHE_HOME=str(cache))
    assert folder == checkout / "build" / "plain"
    assert not cache.exists()


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("change, text", [
    (lambda core: (core / "a.txt").write_text("new\n"), "new\n"),
    (lambda core: (core / "b.txt").write_text("more\n"), "old\nmore\n"),
    (lambda core: (core.parent / "CMakeLists.txt").write_text(CMAKE + "# more\n"), "old\n"),
], ids=["edited", "added", "reconfigured"])
def test_an_old_read_only_build_is_built_again_in_the_cache(
        checkout, nobody, stamped, change, text):
    made(checkout)
    if not stamped:
        (checkout / "build" / "plain" / ".fresh").unlink()
    change(checkout / "core")
    read_only(checkout)
    cache = checkout.parent / "cache"
    cache.mkdir()
    shutil.chown(cache, 65534)
    for _ in range(2):
        folder, _ = built(checkout, user=nobody, XDG_CACHE_HOME=str(cache))
        assert (folder / "made").read_text() == text
        assert folder.parent.parent == cache / "slotfuzz"
        assert re.fullmatch(r"checkout-[0-9a-f]{8}", folder.parent.name)


def test_findings_go_to_the_checkout_or_else_here(checkout, nobody):
    where = ["/usr/bin/python3", "-c", "from slotfuzz import paths; print(paths.findings_root())"]
    read_only(checkout)
    for user, folder in ([], checkout), (nobody, checkout.parent):
        told = subprocess.run([*user, *where], cwd=checkout.parent, text=True, check=True,
                              capture_output=True, env=environment(checkout)).stdout
        assert told == f"{folder / 'repro'}\n"


def test_slotfuzz_build_names_the_build_folder(checkout):
    folder, _ = built(checkout, SLOTFUZZ_BUILD="elsewhere")
    assert folder == checkout / "elsewhere" / "plain" and (folder / "made").exists()


def test_a_full_disk_is_reported_in_one_line(checkout):
    error, said = built(checkout, "full")
    assert error == (f"no space is left for the build in {checkout}/build/plain;"
                     " SLOTFUZZ_BUILD=DIR builds elsewhere") and "Traceback" in said


def test_a_disk_too_small_for_a_build_is_reported_in_one_line(checkout):
    """On a real disk of 48 KiB cmake fails with a message of its own."""
    small = checkout.parent / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=48k small {small}"
    enter = ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a file system cannot be mounted here")
    error, _ = built(checkout, user=enter, SLOTFUZZ_BUILD=str(small))
    assert len(error.splitlines()) == 1 and "SLOTFUZZ_BUILD=DIR builds elsewhere" in error


def test_a_failed_build_shows_the_error(checkout):
    error, _ = built(checkout, "wrong")
    assert error.startswith("the build failed; build/plain/build.log says:")
    assert "error: what is wrong" in error


def test_a_build_shows_its_steps(checkout):
    before = "build.NOTICED_SECONDS = 0; progress.LINE_SECONDS = -1"
    _, said = built(checkout, before=before)
    what = "slotfuzz: building made in build/plain"
    assert f"{what}\n" in said and re.search(rf"{what}: \[1/1\] \d+ s\n", said)


def test_an_interrupted_build_ends_the_processes_that_it_started(checkout):
    words = ["/usr/bin/python3", "-c", BUILD.format("pass", "slow")]
    (checkout / "slow.sh").write_text("echo $$ >part && mv part slow && sleep 60 && touch woke\n")
    noted = checkout / "build" / "plain" / "slow"
    with subprocess.Popen(words, cwd=checkout, stderr=subprocess.DEVNULL,
                          env=environment(checkout)) as building:
        while not noted.exists() and building.poll() is None:
            time.sleep(0.05)
        building.send_signal(signal.SIGINT)
    sleeper = Path("/proc", noted.read_text().strip(), "stat")
    # A process whose parent does not wait for it stays as a zombie when it ends.
    while sleeper.exists() and " Z " not in sleeper.read_text():
        time.sleep(0.05)
    assert not noted.with_name("woke").exists()


def test_a_waiting_command_says_what_it_waits_for(checkout):
    made(checkout)
    (checkout / "core" / "a.txt").write_text("new\n")
    lock = checkout / "build" / "plain" / ".lock"
    words = ["/usr/bin/python3", "-c", BUILD.format("build.NOTICED_SECONDS = 0", "made")]
    with open(lock, "w+") as handle:
        handle.write("building other in build/plain")
        handle.flush()
        fcntl.flock(handle, fcntl.LOCK_EX)
        with subprocess.Popen(words, cwd=checkout, text=True, stderr=subprocess.PIPE,
                              stdout=subprocess.PIPE,
                              env=environment(checkout)) as waiting:
            said = waiting.stderr.readline()
            fcntl.flock(handle, fcntl.LOCK_UN)
            assert Path(waiting.communicate()[0].strip(), "made").read_text() == "new\n"
    assert said == ("slotfuzz: waiting for another command, which is building other in"
                    " build/plain\n")


def test_a_build_has_the_binaries_of_the_last_mutants(tmp_path):
    file = tmp_path / build.MUTANTS
    for number in range(build.MUTANTS_MAX):
        build.add_mutant(tmp_path, f"m{number}", ["tensor"])
    build.add_mutant(tmp_path, "m0", ["storage", "tensor"])
    before = file.stat().st_mtime_ns
    build.add_mutant(tmp_path, "m0", ["storage"])
    assert file.stat().st_mtime_ns == before, "cmake would run again"
    build.add_mutant(tmp_path, "last", ["slotpython"])
    lines = file.read_text().splitlines()
    assert len(lines) == build.MUTANTS_MAX and "m1 tensor" not in lines
    assert lines[0] == "m2 tensor" and lines[-2:] == ["m0 storage tensor", "last slotpython"]
