"""The command line: words, exit codes, and that --json keeps stdout to one document."""

import json
import subprocess

import pytest

from slotfuzz import cli, options, subject
from slotfuzz.errors import BrokenError, MachineError, UserError
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
        subject.target_names() + subject.protocol_names()) != []


@pytest.mark.parametrize("name", cli.command_names())
def test_every_command_has_help_with_an_example(capsys, name):
    code, out, _ = slotfuzz(capsys, name, "-h")
    assert code == 0 and f"example:\n  ./slotfuzz {name}" in out


@pytest.mark.parametrize("error, expected", [
    (UserError("u"), 2), (MachineError("m"), 2), (BrokenError("b"), 3), (KeyError("k"), 3),
    (OSError(28, "No space left on device", "/full"), 2), (KeyboardInterrupt(), 2),
])
def test_errors_become_exit_codes(capsys, monkeypatch, error, expected):
    from slotfuzz.commands import targets

    def fail(args, output):
        raise error

    monkeypatch.setattr(targets, "run", fail)
    assert slotfuzz(capsys, "targets")[0] == expected


def test_a_python_without_headers_or_torch_is_told(tmp_path):
    script = tmp_path / "python"
    answer = '{"version": "3.11.2", "include": "/nope", "path": []}'
    write_program(script, f"echo '{answer}'\n")
    with pytest.raises(UserError, match="no headers"):
        subject.probe_python(str(script))
    answer = answer.replace("/nope", str(tmp_path))
    (tmp_path / "Python.h").write_text("")
    write_program(script, f'case "$2" in *torch*) echo "No module named torch" >&2; exit 1;; '
                          f"*) echo '{answer}';; esac\n")
    with pytest.raises(UserError, match="cannot import torch: No module named torch"):
        subject.probe_python(str(script))
    write_program(script, f'case "$2" in *torch*) kill -SEGV $$;; *) echo \'{answer}\';; esac\n')
    with pytest.raises(UserError, match="cannot import torch: it dies of SIGSEGV$"):
        subject.probe_python(str(script))


def test_hostile_files_are_read(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xff\xfe\x00" + b"A" * (options.PROGRAM_BYTES_MAX + 9))
    text = options.read_program(path)
    assert len(text.encode(errors="replace")) < options.PROGRAM_BYTES_MAX + 10
    with pytest.raises(UserError, match="is a folder"):
        options.read_program(tmp_path)


def test_python_hands_its_words_on(tmp_path):
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


def test_a_reader_that_goes_away_is_no_error_to_talk_about():
    result = subprocess.run(f"{ROOT}/slotfuzz -h targets | true; {ROOT}/slotfuzz targets | true",
                            shell=True, capture_output=True, text=True, check=False)
    assert result.stderr == ""
