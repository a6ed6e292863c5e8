"""replay, explain and minimize: a program with lines that did not run is never clean."""

import json

import pytest

from slotfuzz import cli
from slotfuzz.subject import subject
from tests.driver.conftest import CRASH

TYPO = "t0 = T.ones(1)\ns0 = t0.untyped_storag()\n"


@pytest.fixture
def command(fake_subject, monkeypatch, capsys, tmp_path):
    """Runs a command on a program, on the fake subject: exit code, stdout, stderr."""
    monkeypatch.setattr(subject, "resolve", lambda *_, **__: fake_subject)
    path = tmp_path / "program.py"

    def run(name, text, *words):
        path.write_text(text)
        more = ["-o", str(tmp_path / "small.py")] if name == "minimize" else []
        code = cli.main([name, str(path), *more, *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err
    return run


@pytest.mark.parametrize("name", ["replay", "explain", "minimize"])
def test_a_line_that_matches_no_op_is_an_error_that_names_the_nearest(command, name):
    code, out, err = command(name, TYPO)
    assert (code, out) == (2, "")
    assert "line 2: `s0 = t0.untyped_storag()` matches no op; the nearest op is wrap" in err
    assert "--skip-unknown" in err


@pytest.mark.parametrize("name", ["replay", "explain", "minimize"])
@pytest.mark.parametrize("text", ["", "# Only words.\n", "Prose, as in a README.\nAnd more.\n"])
def test_a_file_without_a_program_line_is_an_error_even_with_skip_unknown(
        command, name, text):
    code, out, err = command(name, text, "--skip-unknown")
    assert (code, out) == (2, "") and "./slotfuzz ops" in err


def test_skipped_lines_are_counted(command):
    code, out, _ = command("replay", TYPO + "rubbish\n", "--skip-unknown")
    assert code == 0 and "2 lines match no op and were skipped" in out


def test_all_unknown_lines_are_counted(command):
    _, _, err = command("replay", TYPO + "rubbish\n" * 30)
    assert "30 more lines did not run" in err


def test_a_finding_has_the_line_and_kind_of_its_notes(command):
    code, out, _ = command("replay", CRASH, "--json")
    (document,) = json.loads(out)
    _, notes, _ = command("explain", CRASH)
    assert (code, document["kind"], document["line"]) == (1, "heap-use-after-free", 6)
    assert f"!!! {document['kind']}" in notes and f"Line {document['line']} " in notes
    assert document["lines"] == 6 and document["skipped"] == 0


def test_a_clean_program_has_no_line_and_no_kind(command):
    _, out, _ = command("replay", "t0 = T.ones(1)\n", "--json")
    (document,) = json.loads(out)
    assert (document["outcome"], document["kind"], document["line"]) == ("clean", "", None)
