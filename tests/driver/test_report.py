"""The report of a campaign: ranked, self-contained, and true to the folders that it is made of."""

import json
import re

import pytest

from slotfuzz import finding, report
from slotfuzz.errors import UserError
from tests.driver.conftest import ROOT
from tests.driver.test_cli import slotfuzz

# What Debian's 1.13.1 says of itself.
SAYS = {"1.13.1": "1.13.0a0"}
SCRIPT = "# subject: torch\nimport torch as T\n\nif check:\n    pass\n\n{}\n"


@pytest.fixture
def campaign(tmp_path):
    """Writes a finding; the folder of all."""
    def write(identifier, program, release="2.6.0", **fields):
        record = {**{name: 0 for name in finding.FIELDS}, "id": identifier, "subject": "torch",
                  "signature": "signal SIGSEGV in <f>", "oracle": "signal", "contract": "",
                  "rate": 1.0, "verified_runs": 20,
                  "versions": {"torch": SAYS.get(release, release)},
                  **fields}
        out = tmp_path / "repro" / f"torch-{release}"
        out.mkdir(parents=True, exist_ok=True)
        finding.write(out, record, {"repro.py": SCRIPT.format(program),
                                    "NOTES.md": f"# title of {identifier}\n"})
        return tmp_path / "repro"
    return write


def test_public_api_comes_first_and_crashes_before_wrong_results(campaign):
    campaign("d-odd", "t0.resize_(-1)", reach="odd")
    campaign("c-private", "t0 = T.ones(1)\nt0._cdata")
    campaign("b-flag", "enter_hermetic()\ndel s0", reach="nonsense")
    campaign("a-wrong", "t0 = T.ones(1)", oracle="contract", lines=1)
    root = campaign("z-crash", "t0.__dict__\nt0 = T.ones(1)", lines=2)
    assert [entry.record["id"] for entry in report.collect(root)] == [
        "z-crash", "a-wrong", "b-flag", "c-private", "d-odd"]


def test_the_page_shows_each_finding_and_refers_to_nothing_else(campaign):
    root = campaign("x-1", "t0 = T.ones(1) # <b>", sentence="It <crashes>.", ways=["a", "b"])
    text = report.page(root, report.collect(root))
    assert "It &lt;crashes&gt;." in text and "# &lt;b&gt;" in text and "<b>" not in text
    assert "title of x-1" in text and "a group of 2 programs" in text
    assert not re.search(r"(src|href)=\"?(?!#)", text.replace('href="#', "")), "it refers to a file"


def test_markdown_is_by_release_with_what_a_person_knows(campaign):
    campaign("core-1", "s0", release="0", subject="core", versions={})
    campaign("x-1", "t0 = T.ones(1)\ndel t0", release="1.13.1", known_as="4", contract="P2",
             why="It is public.", fails_in={"1.13.1": True, "2.6.0": False})
    root = campaign("x-2", "t0._cdata", release="2.6.0")
    (root / "torch-0.9").mkdir()
    (root / "torch-0.9" / "about.md").write_text("Nothing was found.\n")
    text = report.markdown(root, report.collect(root))
    assert "## PyTorch 0.9\n\nNothing was found.\n\n## PyTorch 1.13.1" in text
    assert text.index("## PyTorch 1.13.1") < text.index("[x-1]") < text.index("## PyTorch 2.6.0")
    assert "known as 4" in text and "fails on 1.13.1, not on 2.6.0" in text
    assert "(../repro/torch-1.13.1/x-1/repro.py)\n\n    t0 = T.ones(1)\n    del t0\n" in text
    assert "not in the list of known bugs" in text.split("[x-2]")[1] and "core-1" not in text


def test_a_folder_without_findings_is_told(tmp_path, capsys):
    with pytest.raises(UserError, match="holds no finding"):
        report.collect(tmp_path)
    assert slotfuzz(capsys, "report", str(tmp_path / "nope"))[0] == 2


def test_the_command_writes_the_page_or_prints(campaign, capsys, tmp_path):
    root = campaign("x-1", "t0 = T.ones(1)")
    assert slotfuzz(capsys, "report", str(root))[0] == 0 and (root / "report.html").exists()
    code, out, _ = slotfuzz(capsys, "report", str(root), "--markdown")
    assert code == 0 and out.startswith("# What it finds in PyTorch")
    code, out, _ = slotfuzz(capsys, "report", str(root), "--json", "-o", str(tmp_path / "x.html"))
    assert code == 0 and [row["id"] for row in json.loads(out)] == ["x-1"]


def test_torch_document_is_up_to_date():
    root = ROOT / "repro"
    made = report.markdown(root, report.collect(root))
    assert made + "\n" == (ROOT / "docs" / "torch.md").read_text(), "run what its first lines say"


def test_what_is_kept_of_torch_is_confirmed():
    kept = [entry for entry in report.collect(ROOT / "repro") if entry.release]
    assert kept
    for entry in kept:
        assert entry.record["rate"] == 1.0 and entry.record["fails_in"], entry.folder
        assert entry.record["why"] and entry.record["sentence"], entry.folder
        # A crash or a failed internal assertion needs no sentence of the contract; a promise does.
        assert entry.record["contract"] or entry.record["oracle"] not in ("contract", "assert")
