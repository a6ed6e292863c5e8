"""The gate: which findings count, and what it reports."""

import json
from types import SimpleNamespace

import pytest

from slotfuzz.ci import gate, gate_compare
from slotfuzz.ci.checkout import Answer, Stopped
from slotfuzz.ci.gate_scope import Scope
from slotfuzz.errors import BrokenError, MachineError, UserError
from slotfuzz.finding import places
from slotfuzz.hunt import series
from slotfuzz.scripts import pr
from slotfuzz.subject import catalogue

SIGNATURE = "sanitizer heap-use-after-free in slotcore::wrap"
VERDICT = "sanitizer heap-use-after-free"


class Fake:
    """A fake checkout: each hunt finds one of RECORDS, and each replay returns ROW."""

    def __init__(self, records=(), row=None, script=(0, "failed 0 of 5")):
        self.records, self.row, self.script = list(records), row, script
        self.asked, self.stopped = [], 0

    def ask(self, *words, ok=(0, 1)):
        self.asked.append(tuple(map(str, words)))
        if words[0] == "replay":
            return Answer(0, [{"findings": 0, "times": 1} for word in words
                              if str(word).endswith("repro.py")])
        found = [self.records.pop(0)] if self.records and "--stop-at-first" in words else []
        return Answer(bool(found), {
            "programs": 7, "seconds": 1.0, "fuzz_seconds": 1.0, "trouble": "", "known": [],
            "unreproduced": [], "new": found})

    def run(self, *words):
        self.asked.append(tuple(map(str, words)))
        if words[0] == "python":
            return *self.script, ""
        return (1, json.dumps([self.row]), "") if self.row else (2, '{"error": "no op"}', "")

    def stop(self):
        self.stopped += 1

    def checkout(self):
        return self


@pytest.fixture
def found(tmp_path):
    """Writes a finding to the gate's folder; returns its record."""
    def write(name="one", **fields):
        folder = tmp_path / "out" / name
        folder.mkdir(parents=True)
        record = {"id": name, "folder": str(folder), "signature": SIGNATURE, "verdict": VERDICT,
                  "rate": 1.0, "lines": 3, "subject": "core", "sanitizer": "address",
                  "target": "storage", **fields}
        (folder / "finding.json").write_text(json.dumps(record))
        (folder / "repro.py").write_text("t0 = T.ones(1)\n")
        return record
    return write


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Runs the fuzzing part of a gate with two targets on one worker."""
    def run(here, base, seconds=8.0):
        monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
        plan = gate.Plan(Scope(["storage", "tensor"], [], ["core"], ["core/a.cc"]),
                         tmp_path / "out", seconds, 1, parts=("fuzz",), workers=1)
        return gate.Gate(plan, here, base).run()
    return run


def on_base(findings=5, lines=3, **words):
    """The row of a replay on the base."""
    return {"findings": findings, "signature": SIGNATURE, "verdict": VERDICT, "lines": lines,
            **words}


def test_a_finding_that_is_clean_on_the_base_counts_and_ends_the_gate(found, judged):
    here = Fake([found()])
    result = judged(here, Fake(row=on_base(findings=0)))
    assert [record["id"] for record in result.new] == ["one"] and not result.old
    assert result.exit_code == 1 and here.stopped
    assert len(result.left_out) == 1 and "tensor" in result.left_out[0]


def test_a_finding_that_the_base_has_is_old_and_the_gate_goes_on(found, judged, tmp_path):
    here = Fake([found()])
    result = judged(here, Fake(row=on_base()))
    assert [record["id"] for record in result.old] == ["one"] and not result.new
    assert result.exit_code == 0 and result.left_out == [] and not here.stopped
    assert (tmp_path / "out" / places.OLD_FOLDER / "one" / "repro.py").exists()
    assert not (tmp_path / "out" / "one").exists()
    # The hunt that found it went on for the rest of its time.
    assert [asked[1] for asked in here.asked] == ["storage", "storage", "tensor"]
    first, second, _ = (float(asked[asked.index("--seconds") + 1]) for asked in here.asked)
    assert (first, second) == (4.0, 2.0)


KEY = {"kind": "error", "words": "bad"}


@pytest.mark.parametrize("fields, count", [
    ({"dedup_keys": [KEY], "signature": "signal SIGSEGV"}, 0), ({"dedup_keys": []}, 0),
    ({"dedup_keys": [{**KEY, "words": "other"}], "signature": "signal SIGSEGV"}, 1)])
def test_a_bug_that_two_hunts_find_counts_once(found, tmp_path, fields, count):
    plan = gate.Plan(Scope(), tmp_path / "out", 8, 1)
    one = gate.Gate(plan, Fake(), Fake(row=on_base(findings=0)))
    one.comparison.take(found("one", dedup_keys=[KEY]))
    one.comparison.take(found("two", target="tensor", **fields))
    assert len(one.result.new) == 1 and len(one.result.uncompared) == count
    assert bool(one.result.new[0]["also"]) == (count == 0)
    assert (tmp_path / "out" / "two").exists() == (count == 1)


@pytest.mark.parametrize("targets, workers, each", [(1, 2, 60), (2, 2, 60), (5, 2, 20), (5, 1, 12)])
def test_the_seconds_are_split_over_all_hunts(tmp_path, targets, workers, each):
    plan = gate.Plan(Scope(["t"] * targets, [], ["core"]), tmp_path, 60, 1, workers=workers)
    assert all(name.endswith(f", {each} s") for name, _ in gate.Gate(plan, None, None)._hunts())


@pytest.mark.parametrize("words", [
    {"verdict": "judge P2 attributes"}, {"verdict": "judge P2 attributes", "signature": "other"}])
def test_a_finding_that_fails_differently_on_the_base_counts(found, judged, words):
    result = judged(Fake([found()]), Fake(row=on_base(**words)))
    assert result.exit_code == 1 and "fails differently" in result.new[0]["note"]


def test_a_finding_with_other_functions_on_the_base_is_old(found, judged):
    result = judged(Fake([found()]), Fake(row=on_base(signature=f"{VERDICT} in other")))
    assert len(result.old) == 1


@pytest.mark.parametrize("words, count", [(SIGNATURE, 1), (f"{VERDICT} in other", 0)])
def test_a_base_without_verdicts_is_compared_by_the_signature(found, judged, words, count):
    row = on_base(signature=words)
    del row["verdict"]
    assert len(judged(Fake([found()]), Fake(row=row)).old) == count


@pytest.mark.parametrize("row", [None, on_base(findings=0, lines=2)])
@pytest.mark.parametrize("code, counts", [(0, 1), (1, 0)])
def test_a_program_with_ops_that_the_base_lacks_runs_as_a_script(found, judged, row, code, counts):
    base = Fake(row=row, script=(code, "failed some of 5"))
    result = judged(Fake([found()]), base)
    assert len(result.new) == counts and base.asked[-1][0] == "python"


def test_a_script_that_does_not_run_on_the_base_is_a_machine_error(found, judged):
    with pytest.raises(MachineError, match="cannot try"):
        judged(Fake([found()]), Fake(script=(2, "")))


def test_a_finding_without_a_script_counts(found, judged, tmp_path):
    record = found(rate=0.0)
    (tmp_path / "out" / "one" / "repro.py").unlink()
    result = judged(Fake([record]), Fake())
    assert result.exit_code == 1 and "nothing repeats it" in result.new[0]["note"]


def test_a_rare_failure_gets_more_runs_on_the_base(found, judged):
    base = Fake(row=on_base(findings=1))
    judged(Fake([found(rate=0.3)]), base)
    asked = base.asked[-1]
    assert asked[asked.index("--times") + 1] == str(gate_compare.BASE_RUNS_RARE)


def test_a_hunt_that_ran_nothing_is_not_clean(judged):
    class Idle(Fake):
        def ask(self, *words, ok=(0, 1)):
            answer = super().ask(*words, ok=ok)
            return Answer(0, {**answer.document, "programs": 0})
    with pytest.raises(MachineError, match="ran no program"):
        judged(Idle(), Fake())


def test_a_corpus_that_cannot_be_written_is_trouble(judged):
    class Full(Fake):
        def ask(self, *words, ok=(0, 1)):
            answer = super().ask(*words, ok=ok)
            return Answer(2, {**answer.document, "trouble": "the disk is full"})
    result = judged(Full(), Fake())
    assert result.exit_code == 2 and result.trouble == "the disk is full"


def test_all_is_replayed_under_each_build_of_python(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    here = Fake()
    plan = gate.Plan(Scope(), tmp_path / "out", 60, 1, workers=2)
    result = gate.Gate(plan, here, Fake()).run()
    assert {row["sanitizer"] for row in result.scripts} == set(gate.REPLAYED_UNDER)
    assert {(row["target"], row["sanitizer"]) for row in result.corpora} == {
        (target, sanitizer) for target in catalogue.fuzzable_targets()
        for sanitizer in gate.REPLAYED_UNDER}
    assert all(row["files"] and row["programs"] for row in result.corpora)
    assert result.hunted == [] and "nothing was fuzzed" in pr.summary(plan, result, "main")


def test_an_interrupt_stops_what_runs_here_and_on_the_base(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))

    class Interrupted(Fake):
        def ask(self, *words, ok=(0, 1)):
            raise KeyboardInterrupt
    here, base = Interrupted(), Fake()
    with pytest.raises(KeyboardInterrupt):
        gate.Gate(gate.Plan(Scope(), tmp_path / "out", 60, 1), here, base).run()
    assert here.stopped and base.stopped


def test_a_replay_without_a_row_for_each_script_is_a_harness_error(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    here = SimpleNamespace(ask=lambda *_, **__: Answer(0, []), stop=lambda: None)
    with pytest.raises(BrokenError, match="only 0 of .* were replayed"):
        gate.Gate(gate.Plan(Scope(), tmp_path / "out", 60, 1), here, Fake()).run()


def test_a_protocol_that_fails_as_on_the_base_is_old(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))

    def checkout_with(message, **contract):
        failure = {"kind": "check", "message": message, "program": "x.cc", "replays": 10,
                   "replays_failed": 10, "schedule": "c1", **contract} if message else None
        row = {"protocol": "claim", "verdict": "failed" if message else "verified",
               "failure": failure}
        one = SimpleNamespace(ask=lambda *_, **__: Answer(bool(message), [row]),
                              stop=lambda: None)
        one.checkout = lambda: one
        return one
    plan = gate.Plan(Scope([], ["claim"], [], []), tmp_path / "out", 60, 1, parts=("explore",))
    here = checkout_with("lost", contract="T1")
    old = checkout_with("T1: lost")  # of a base that has no field for the number
    for base, counts in ((checkout_with(""), 1), (here, 0), (old, 0),
                         (checkout_with("two", contract="T2"), 1)):
        result = gate.Gate(plan, here, base).run()
        assert (len(result.new), len(result.old)) == (counts, 1 - counts)


def test_a_part_that_was_stopped_is_left_out(judged):
    class Late(Fake):
        def ask(self, *words, ok=(0, 1)):
            raise Stopped
    result = judged(Late(), Fake())
    assert len(result.left_out) == 2 and result.hunted == []


def test_a_folder_with_other_files_is_not_emptied(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UserError, match="thesis.tex"):
        gate.empty(tmp_path)
    assert (tmp_path / "thesis.tex").exists()
    (tmp_path / series.NAME).write_text("")
    (tmp_path / "one").mkdir()
    gate.empty(tmp_path)
    assert list(tmp_path.iterdir()) == []
