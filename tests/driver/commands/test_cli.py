"""The command line: messages, exit codes, and one document on stdout with --json."""

import argparse
import json
import os
import re
import resource
import signal
import subprocess

import pytest

from slotfuzz import cli, options
from slotfuzz.engine import channel
from slotfuzz.errors import BrokenError, Interrupted, KilledError, MachineError, UserError
from slotfuzz.finding import finding
from slotfuzz.subject import catalogue, interpreter
from tests.driver.conftest import ROOT, write_program


def slotfuzz(capsys, *argv):
    """Exit code, stdout, stderr of one command in this process."""
    try:
        code = cli.main(list(argv))
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("argv, words", [
    (["hnt"], "did you mean hunt?"),
    (["hunt", "--subject", "cor"], "no subject 'cor'"),
    (["hunt", "--subject", "mutant:nope"], "no mutant 'nope'"),
    (["hunt", "nope"], "no target 'nope'"),
    (["hunt", "--stop-at-frist"], "did you mean --stop-at-first?"),
    (["hunt", "--seconds", "0"], "--seconds"),
    (["hunt", "--seconds", "many"], "--seconds"),
    (["hunt", "--python", "/nope", "--subject", "torch"], "/nope: no such program"),
    (["hunt", "--python", "/usr/bin/python3"], "needs --subject torch"),
    (["replay", "nope.py"], "no such file: nope.py"),
    (["replay", "{tmp}"], "holds no file"),
    (["replay", "{tmp}", "--times", "0"], "--times"),
    (["minimize", "nope.py", "-o", "x.py"], "no such file: nope.py"),
    (["minimize", "x.py"], "-o"),
    (["mutants", "nope"], "no mutant 'nope'"),
    (["bench", "nope"], "no benchmark 'nope'"),
    (["python", "--subject", "nope"], "no subject 'nope'"),
])
def test_bad_input_is_one_clear_line_and_exit_2(capsys, tmp_path, argv, words):
    code, out, err = slotfuzz(capsys, *(word.format(tmp=tmp_path) for word in argv))
    assert (code, out) == (2, "") and words in err and "Traceback" not in err


def test_an_error_with_json_is_one_document(capsys):
    code, out, _ = slotfuzz(capsys, "mutants", "nope", "--json")
    assert code == 2 and json.loads(out)["exit_code"] == 2
    code, out, _ = slotfuzz(capsys, "hunt", "--jobs", "x", "--json")
    assert code == 2 and "--jobs" in json.loads(out)["error"]


def test_targets_with_json_is_one_document(capsys):
    code, out, _ = slotfuzz(capsys, "targets", "--json")
    assert code == 0
    assert [row["target"] for row in json.loads(out)] == sorted(
        catalogue.target_names() + catalogue.protocol_names()) != []


@pytest.mark.parametrize("name", cli.command_names())
def test_every_command_has_help_with_an_example(capsys, name):
    code, out, _ = slotfuzz(capsys, name, "-h")
    assert code == 0 and f"example:\n  ./slotfuzz {name}" in out


@pytest.mark.parametrize("name", cli.command_names())
def test_the_help_names_a_files_header_only_where_a_file_is_read(capsys, name):
    _, out, _ = slotfuzz(capsys, name, "-h")
    assert ("else core" in out) == (name in ("replay", "minimize", "explain", "python"))


def test_the_overview_names_both_exit_codes_of_an_interrupt(capsys):
    _, out, _ = slotfuzz(capsys, "-h")
    assert "130 or 143 interrupted" in out


def test_help_needs_nothing_but_python():
    """Modules from packages are imported when a command runs, after it has installed them."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "harness")}
    for name in cli.command_names():
        result = subprocess.run(["/usr/bin/python3", "-S", "-m", "slotfuzz", name, "-h"],
                                capture_output=True, text=True, check=False, env=environment)
        assert (result.returncode, result.stderr) == (0, "") and "example:" in result.stdout


@pytest.mark.parametrize("error, expected", [
    (UserError("u"), 2), (MachineError("m"), 2), (BrokenError("b"), 3), (KeyError("k"), 3),
    (OSError(28, "No space left on device", "/full"), 2), (KeyboardInterrupt(), 130),
    (Interrupted(15), 143), (KilledError("a process"), 2), (MemoryError(), 2),
])
def test_errors_become_exit_codes(capsys, monkeypatch, error, expected):
    from slotfuzz.commands import targets

    def fail(args, output):
        raise error

    monkeypatch.setattr(targets, "run", fail)
    assert slotfuzz(capsys, "targets")[0] == expected


def test_a_python_without_headers_or_torch_is_an_error(tmp_path):
    script = tmp_path / "python"
    answer = '{"version": "3.11.2", "include": "/nope", "path": []}'
    write_program(script, f"echo '{answer}'\n")
    with pytest.raises(UserError, match="no headers"):
        interpreter.probe(str(script), "torch")
    answer = answer.replace("/nope", str(tmp_path))
    (tmp_path / "Python.h").write_text("")
    write_program(script, f'case "$2" in *torch*) echo "No module named torch" >&2; exit 1;; '
                          f"*) echo '{answer}';; esac\n")
    with pytest.raises(UserError, match="cannot import torch: No module named torch"):
        interpreter.probe(str(script), "torch")
    write_program(script, f'case "$2" in *torch*) kill -SEGV $$;; *) echo \'{answer}\';; esac\n')
    with pytest.raises(UserError, match="cannot import torch: it died of SIGSEGV$"):
        interpreter.probe(str(script), "torch")


def test_hostile_files_are_read(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xff\xfe\x00" + b"A" * (options.PROGRAM_BYTES_MAX + 9))
    text = options.read_program(path)
    assert len(text.encode(errors="replace")) < options.PROGRAM_BYTES_MAX + 10
    with pytest.raises(UserError, match="is a folder"):
        options.read_program(tmp_path)


def test_commands_that_read_tables_need_no_build_and_no_packages(tmp_path):
    """They do not even need a folder for builds."""
    environment = {"PATH": "/usr/bin:/bin", "SLOTFUZZ_BUILD": "/dev/null/nowhere"}
    for words in (["ops"], ["ops", "--markdown"], ["ops", "--json"], ["targets"], ["-h"]):
        result = subprocess.run([ROOT / "slotfuzz", *words], capture_output=True, text=True,
                                check=False, cwd=tmp_path, env=environment)
        assert (result.returncode, result.stderr) == (0, "") and result.stdout.strip()


def test_the_overview_and_the_readme_name_the_build_folder(capsys):
    _, out, _ = slotfuzz(capsys, "-h")
    assert "SLOTFUZZ_BUILD=DIR" in out and "SLOTFUZZ_BUILD=DIR" in (ROOT / "README.md").read_text()


def test_ops_names_the_option_that_shows_masks(capsys):
    code, out, _ = slotfuzz(capsys, "ops")
    assert code == 0 and re.search(r"^\d+ ops; --subject core shows", out.splitlines()[-1])


def test_the_ops_document_is_made_without_a_build(capsys):
    _, out, _ = slotfuzz(capsys, "ops", "--markdown")
    assert out == (ROOT / "docs" / "ops.md").read_text()


def test_python_passes_its_words_on(tmp_path):
    from slotfuzz.commands import python

    assert python.arrange(["--sanitizer", "thread", "x.py", "--check", "-h"]) == [
        "--sanitizer", "thread", "--", "x.py", "--check", "-h"]
    assert python.arrange(["-c", "1"]) == ["--", "-c", "1"]
    assert python.arrange(["--subject=core", "--", "-V"]) == ["--subject=core", "--", "-V"]


def test_help_neither_sets_up_nor_builds(tmp_path):
    result = subprocess.run(
        [ROOT / "slotfuzz", "hunt", "-h"], capture_output=True, text=True, check=False,
        cwd=tmp_path, env={"PATH": "/nowhere:/usr/bin:/bin", "SLOTFUZZ_BUILD": str(tmp_path / "b")})
    assert result.returncode == 0 and "example:" in result.stdout and result.stderr == ""
    assert not (tmp_path / "b").exists()


def test_a_closed_pipe_prints_no_error():
    result = subprocess.run(f"{ROOT}/slotfuzz -h targets | true; {ROOT}/slotfuzz targets | true",
                            shell=True, capture_output=True, text=True, check=False)
    assert result.stderr == ""


@pytest.mark.parametrize("closing, code", [
    (">&-", 0), (">&- 2>&-", 0), ("> /dev/full", 2)])
def test_an_unwritable_stdout_gives_no_traceback(closing, code):
    result = subprocess.run(f"{ROOT}/slotfuzz targets {closing}", shell=True, text=True,
                            capture_output=True, check=False)
    assert (result.returncode, "Traceback" in result.stderr) == (code, False)
    assert result.stderr.count("\n") <= 1


def test_characters_that_an_ascii_terminal_cannot_show_are_replaced():
    script = "from slotfuzz import cli; cli._open_streams(); print('caf\\xe9 \\u00b7')"
    result = subprocess.run(
        ["/usr/bin/python3", "-c", script], capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT / "harness"), "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0",
             "PYTHONUTF8": "0"})
    assert (result.returncode, result.stdout, result.stderr) == (0, "caf? ?\n", "")


@pytest.mark.parametrize("text", ["null", "[]", "{", '{"target": 7}', '{"target": ["storage"]}'])
def test_a_corrupt_record_beside_a_script_names_no_target(text, tmp_path):
    (tmp_path / "finding.json").write_text(text)
    script = tmp_path / "repro.py"
    script.write_text("t0 = T.ones(1)\n")
    args = argparse.Namespace(subject=None, sanitizer=None, target=None)
    assert options.meant(args, script, script.read_text()).target == catalogue.default_target()


def test_a_corrupt_record_among_the_suppressions_is_reported(tmp_path, fake_subject, capsys):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "finding.json").write_text("null")
    assert finding.known([tmp_path], fake_subject) == []
    assert "one/finding.json cannot be read" in capsys.readouterr().err


def test_a_pipe_is_not_a_program_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="not a regular file"):
        options.read_program(tmp_path / "pipe")


@pytest.mark.parametrize("limit, error", [
    (1 << 30, MachineError), (resource.RLIM_INFINITY, BrokenError)])
def test_a_process_that_dies_in_a_limited_address_space_is_a_machine_error(
        limit, error, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert isinstance(channel.broken("storage died"), error)


@pytest.mark.parametrize("answer", ["", "[1]", "{}", "-c import json"])
def test_a_program_that_is_not_a_python_is_an_error(answer, tmp_path):
    write_program(tmp_path / "python", f"echo '{answer}'\n")
    with pytest.raises(UserError, match="is not a Python interpreter that runs"):
        interpreter.probe(str(tmp_path / "python"), "torch")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_ends_a_command_gives_its_exit_code(number):
    script = ("import os; from slotfuzz import cli; from slotfuzz.commands import targets;"
              f" targets.run = lambda *_: os.kill(os.getpid(), {int(number)}) or 1 / 0;"
              " raise SystemExit(cli.main(['targets']))")
    result = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True,
                            check=False, env={"PYTHONPATH": str(ROOT / "harness")})
    assert (result.returncode, result.stderr) == (128 + number, "slotfuzz: interrupted\n")


def test_the_overview_separates_names_from_sentences():
    lines = cli.overview().splitlines()
    for name in cli.command_names():
        assert any(line.startswith(f"  {name}  ") for line in lines), name


def test_targets_print_whole_sentences(capsys):
    _, out, _ = slotfuzz(capsys, "targets", "--json")
    rows = json.loads(out)
    assert all(row["sentence"].endswith(".") and "\n" not in row["sentence"] for row in rows)
