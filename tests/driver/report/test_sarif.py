"""SARIF is valid by the official schema, and has rules for sentences and oracles, and places."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from slotfuzz import cli
from slotfuzz.finding import contract, finding, places
from slotfuzz.hunt import series
from slotfuzz.report import annotate, sarif
from slotfuzz.subject.sanitizers import SANITIZERS
from tests.driver.conftest import ROOT

# An npm package with the schema as OASIS published it; the test runs no code of the package.
SCHEMA_PACKAGE, SCHEMA_FILE = "@microsoft/jest-sarif@1.0.0-beta.0", "sarif-2.1.0-rtm.5.json"
KEPT = sorted(path.parent for path in (ROOT / "repro").rglob("finding.json"))


@pytest.fixture(scope="session")
def schema(tmp_path_factory):
    """The official schema; the test is skipped where npm cannot fetch it."""
    if not shutil.which("npm"):
        pytest.skip("npm is missing: the schema of SARIF cannot be fetched")
    place = tmp_path_factory.mktemp("npm")
    result = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-save",
                             "--prefix", str(place), SCHEMA_PACKAGE],
                            capture_output=True, text=True, check=False)
    found = list(place.rglob(SCHEMA_FILE))
    if not found:
        pytest.skip(f"npm could not fetch the schema: {result.stderr.strip()[-200:]}")
    return json.loads(found[0].read_text())


@pytest.fixture
def campaign(tmp_path):
    """The campaign of a hunt in a folder, in the format that a hunt writes; END is its end."""
    def write(**end):
        start = {"record": "start", "hunt": "h1", "started": "2026-11-23T07:00:00+00:00",
                 "subject": "core", "sanitizer": "address", "targets": ["storage", "tensor"],
                 "seed": 3, "jobs": 1, "versions": {}}
        records = [start]
        if end is not None:
            records.append({
                "record": "end", "hunt": "h1", "set_up": 0.1, "seconds": 2.0, "programs": 90,
                "fuzz_seconds": 1.0, "coverage": 4, "corpus": 2, "new": [], "known": 0, "old": 0,
                "unreproduced": 0, "interrupted": False, "trouble": "", "spent": {}, **end})
        (tmp_path / series.NAME).write_text("".join(json.dumps(one) + "\n" for one in records))
        hunts, troubles = series.read(tmp_path)
        assert not troubles
        return hunts
    return write


def test_what_is_kept_in_repro_is_valid(schema, campaign):
    assert len(KEPT) > 20
    document = sarif.document([places.read(folder) for folder in KEPT], campaign())
    jsonschema.validate(document, schema)
    assert len(document["runs"][0]["results"]) == len(KEPT)


def test_a_log_without_a_version_is_not_valid(schema):
    document = sarif.document([], [])
    del document["version"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_a_clean_hunt_is_a_valid_log_without_results(schema, campaign):
    document = sarif.document([], campaign())
    jsonschema.validate(document, schema)
    (run,) = document["runs"]
    assert run["results"] == [] and run["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize("end, problem", [
    ({"programs": 0}, "ran no program"), ({"trouble": "the disk is full"}, "the disk is full"),
])
def test_a_hunt_that_did_not_do_its_work_is_no_success(schema, campaign, end, problem):
    document = sarif.document([], campaign(**end))
    jsonschema.validate(document, schema)
    (invocation,) = document["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    assert problem in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_each_sentence_of_the_contract_and_each_oracle_has_one_rule():
    rules = {rule["id"]: rule for rule in sarif.rules([])}
    numbers = sarif.SENTENCE.findall((ROOT / "docs" / "contract.md").read_text())
    oracles = {f"oracle-{oracle}" for one in SANITIZERS.values() for oracle in one.oracles}
    assert len(numbers) > 20 and set(rules) == {*numbers, *oracles}
    assert rules["P2"]["shortDescription"]["text"] == "contract P2 nothing lost"
    assert contract.contract_text("P2").endswith(rules["P2"]["fullDescription"]["text"][-40:])


@pytest.mark.parametrize("name, rule, core, line", [
    ("bus-invoke-f5715c", "oracle-address", ("core/python/buffer.cc", 51), "x0.drop()"),
    ("p2-attributes-e610f1", "P2", ("core/c10/storage_impl.cc", 39),
     "s0 = t0.untyped_storage()"),
])
def test_a_result_has_its_rule_its_places_and_its_script(name, rule, core, line):
    found = places.read(ROOT / "repro" / name)
    document = sarif.document([found], [])
    (run,) = document["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == rule
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == rule
    first, script = [one["physicalLocation"] for one in result["locations"]]
    assert (first["artifactLocation"]["uri"], first["region"]["startLine"]) == core
    assert script["artifactLocation"]["uri"] == f"repro/{name}/repro.py"
    lines = (ROOT / "repro" / name / "repro.py").read_text().splitlines()
    assert lines[script["region"]["startLine"] - 1] == line
    assert all(text in result["message"]["text"] for text in found.program)


def test_both_sides_of_a_race_are_places(tmp_path):
    (tmp_path / "report.txt").write_text(
        "WARNING: ThreadSanitizer: data race (pid=1)\n"
        "  Write of size 8 at 0x7b by main thread:\n"
        "    #0 c10::clear() core/c10/slot.cc:10:3 (storage+0x1)\n\n"
        "  Previous read of size 8 at 0x7b by thread T1:\n"
        "    #0 memcpy /usr/include/string.h:3:1 (storage+0x1)\n"
        "    #1 c10::look() core/c10/look.cc:20:3 (storage+0x2)\n\n")
    found = places.read(tmp_path)
    assert [(place.file, place.line) for place in found.core] == [
        ("core/c10/slot.cc", 10), ("core/c10/look.cc", 20)]


def test_what_does_not_count_is_suppressed_and_old_is_unchanged(tmp_path):
    for parent, state in ((tmp_path, "new"), (tmp_path / places.OLD_FOLDER, "unchanged"),
                          (tmp_path / places.UNCOMPARED_FOLDER, "new")):
        shutil.copytree(KEPT[0], parent / "one")
        (result,) = sarif.document([places.read(parent / "one")], [])["runs"][0]["results"]
        assert result["baselineState"] == state
        assert ("suppressions" in result) == (parent != tmp_path)


def test_what_nothing_repeats_is_a_warning(tmp_path):
    record = replace(finding.read(KEPT[0]), rate=0.0, contract="", oracle="unreproduced")
    (tmp_path / "finding.json").write_text(record.text())
    (tmp_path / "program.py").write_text("t0 = T.ones(1)\n")
    (result,) = sarif.document([places.read(tmp_path)], [])["runs"][0]["results"]
    assert result["level"] == "warning" and result["ruleId"] == "oracle-unreproduced"
    assert "No fresh process repeats it" in result["message"]["text"]


def test_an_annotation_names_the_line_and_escapes_what_it_says():
    found = places.read(ROOT / "repro" / "bus-invoke-f5715c")
    line = annotate.line(found)
    head, _, text = line.partition("::BUS")
    assert head == ("::error file=core/python/buffer.cc,line=51,"
                    "title=slotfuzz%3A bus-invoke-f5715c")
    assert "\n" not in line and "%0Ax0.drop()" in text


@pytest.mark.parametrize("value, said", [("true", 1), ("", 0)])
def test_annotations_are_for_github_alone(monkeypatch, capsys, value, said):
    monkeypatch.setenv("GITHUB_ACTIONS", value)
    annotate.say([places.read(KEPT[0])])
    assert capsys.readouterr().err.count("::error") == said


def test_paths_are_from_the_root_of_what_ci_has_checked_out(monkeypatch):
    monkeypatch.setenv("GITHUB_WORKSPACE", str(ROOT.parent))
    assert places.from_workspace("core/a.cc") == f"{ROOT.name}/core/a.cc"
    assert places.from_workspace(str(Path("/elsewhere/repro.py"))) == "/elsewhere/repro.py"


@pytest.mark.parametrize("option, words", [("--sarif", '"results"'), ("--junit", "<testsuites")])
def test_the_report_of_a_clean_campaign_is_written_and_of_nothing_is_not(
        campaign, capsys, tmp_path, option, words):
    file = tmp_path / "made" / "file"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert cli.main(["report", str(empty), option, str(file)]) == 2 and not file.exists()
    campaign()
    assert cli.main(["report", str(tmp_path), option, str(file)]) == 0
    assert words in file.read_text()
    capsys.readouterr()


def test_findings_that_cannot_be_read_keep_a_report_from_being_whole(tmp_path, capsys):
    shutil.copytree(KEPT[0], tmp_path / "good")
    shutil.copytree(KEPT[0], tmp_path / "bad")
    (tmp_path / "bad" / "finding.json").write_text("{")
    file = tmp_path / "file"
    assert cli.main(["report", str(tmp_path), "--sarif", str(file)]) == 2
    assert len(json.loads(file.read_text())["runs"][0]["results"]) == 1
    assert "bad" in capsys.readouterr().err
