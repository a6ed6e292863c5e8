"""issue.md, and the table at the beginning of docs/torch.md."""

import dataclasses

from slotfuzz import report
from slotfuzz.report import causes, issue, overview
from tests.driver.conftest import ROOT
from tests.driver.report.campaigns import keys

STACK = """\
==1==ERROR: UndefinedBehaviorSanitizer: SEGV on unknown address 0x0
    #0 0x7f00 in at::native::resize_(at::Tensor const&) (/usr/lib/libtorch_cpu.so.2.14+0x26) (B)
    #1 0x7f01  (/usr/lib/libtorch_python.so.2.14+0x50)
    #2 0x7f02  (/usr/lib/libpython3.14.so.1.0+0x13)
    #3 0x7f03 in main (targets/objects+0x90)
"""
WORDS = {"user_script": "import torch\ntorch.ones(1).resize_(-1)\n", "expected": "An error.",
         "cause": "`resize_` looks nowhere.", "reports": ["#12 (open)"],
         "user_ends": {"1.13.1": "no error", "2.6.0": "killed by SIGSEGV"},
         "sentence": "It crashes."}


def test_an_issue_has_what_a_maintainer_asks_for(campaign):
    root = campaign("x", "t0 = 1", oracle="signal", **WORDS)
    (root / "torch-2.6.0" / "x" / "report.txt").write_text(STACK)
    (entry,) = report.collect(root).entries
    text = issue.text(entry)
    parts = ["# It crashes.", "```python\nimport torch\n", "An error.", "| 1.13.1 | no error |",
             "| 2.6.0 | killed by SIGSEGV |", "at::native::resize_", "`resize_` looks nowhere.",
             "crash, through public API alone", "#12 (open)"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert issue.text(dataclasses.replace(
        entry, record=dataclasses.replace(entry.record, user_script=""))) == ""


def test_a_stack_ends_where_the_interpreter_begins():
    assert issue.stack_of(STACK) == [
        "at::native::resize_(at::Tensor const&)  (libtorch_cpu.so.2.14+0x26)",
        "(libtorch_python.so.2.14+0x50)"]
    assert issue.stack_of(STACK.replace("/usr/lib/libpython3.14.so.1.0", "objects")) == [
        "at::native::resize_(at::Tensor const&)  (libtorch_cpu.so.2.14+0x26)",
        "(libtorch_python.so.2.14+0x50)"]
    assert issue.stack_of("AssertionError\n") == []


def test_the_table_has_a_row_for_each_cause_and_new_ones_come_first(campaign):
    campaign("old", "t0 = 1", release="1.13.1", dedup_keys=keys("a"), fails_in={"2.6.0": True},
             sentence="Known.", reports=["#12 (open)"])
    campaign("again", "t0 = 1", dedup_keys=keys("a"), fails_in={"2.6.0": True})
    root = campaign("new", "t0 = 2", dedup_keys=keys("b"), sentence="It | crashes.",
                    fails_in={"1.13.1": False, "2.6.0": True}, oracle="signal")
    table = overview.overview(root, report.collect(root).entries, ["1.13.1", "2.6.0", "2.14.1"])
    assert table.startswith("2 root causes, of which 1 are in no report that we know; 1 in 1.13.1,")
    first, second = table.splitlines()[-2:]
    assert first == ("| [It \\| crashes.](../repro/torch-2.6.0/new/repro.py) | no | yes | ?"
                     " | public | crash | no report known |")
    assert second.endswith("| #12 (open) |") and "| yes | yes | ? |" in second


def test_a_known_bug_that_a_report_names_is_named_once(campaign):
    campaign("x", "t0 = 1", reports=["#12 (open)"], known_as="12")
    root = campaign("y", "t0 = 2", reports=["#123 (open)"], known_as="12")
    known = [overview.known_as(cause) for cause in causes.merged(report.collect(root).entries)]
    assert known == ["#12 (open)", "#123 (open), known bug 12"]


def test_each_issue_is_up_to_date_and_was_run_in_each_release():
    entries = [entry for entry in report.collect(ROOT / "repro").entries
               if entry.record.user_script]
    assert len(entries) > 20
    for entry in entries:
        made = (entry.folder / issue.NAME).read_text()
        assert made == issue.text(entry), f"run ci/torch_releases.sh for {entry.folder}"
        assert entry.record.expected and entry.record.cause, entry.folder
        assert "import torch\n" in made and "suppress(" not in made, entry.folder
        ends = entry.record.user_ends
        assert set(ends) == set(entry.record.fails_in) and set(ends.values()) != {"no error"}
