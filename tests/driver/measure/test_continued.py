"""A comparison that was interrupted goes on where it ended."""

from slotfuzz.measure import differential
from slotfuzz.measure.compared import KeptProgress, Progress
from slotfuzz.measure.differences import Reason
from slotfuzz.measure.differential import Pair
from tests.driver.measure.test_differential import Server, plain


def test_an_interrupted_comparison_returns_its_result_so_far_and_is_continued(
    monkeypatch, tmp_path,
):
    monkeypatch.setattr(differential, "BATCH", 1)
    kept, texts = KeptProgress(tmp_path / "kept", "mark"), ["make\n", "make\nread\n", "read\n"]
    shown, drawn = [], []

    def says(lines):
        if len(shown) == 2:
            raise KeyboardInterrupt
        return plain(lines)

    def compare(says, texts):
        with Pair(Server(plain, texts), Server(says), reasons=lambda: []) as pair:
            generate = pair.core.generate
            pair.core.generate = lambda count, seed, ops: drawn.append(seed) or generate(
                count, seed, ops)
            return pair.compare(3, 1, lambda word: None, shown.append, kept)
    result = compare(says, texts)
    assert result.interrupted and result.programs == 2
    assert shown[1] == "2 of 3 programs, 0 differences without a reason"
    assert KeptProgress(kept.file, "other").read() is None
    result = compare(plain, texts[2:])
    assert not result.interrupted and (result.programs, result.lines) == (3, 4)
    assert drawn == [1_000_003, 1_000_004, 1_000_005, 1_000_005]
    assert not kept.file.exists()
    kept.file.write_bytes(b"no pickle")
    assert kept.read() is None


def test_a_comparison_is_not_continued_when_a_reason_is_gone_or_narrower(tmp_path):
    wide = Reason("known", "it is so", "P4", ("write: *", "read: *"), ("make",))
    others = {
        "the same": (wide, True), "wider": (Reason("known", "", "", (*wide.patterns, "*")), True),
        "gone": (Reason("other", "", "", wide.patterns, wide.after), False),
        "fewer patterns": (Reason("known", "", "", ("write: *",), wide.after), False),
        "other lines": (Reason("known", "", "", wide.patterns, ("read",)), False),
    }
    progress = Progress(reasons=[wide])
    assert {name: progress.holds_with([one]) for name, (one, _) in others.items()} == {
        name: holds for name, (_, holds) in others.items()}
    after_any = Progress(reasons=[Reason("known", "", "", wide.patterns)])
    assert not after_any.holds_with([wide])
    kept = KeptProgress(tmp_path / "kept", "mark")
    kept.write(Progress(batches=7, reasons=[wide]))
    with Pair(Server(plain, ["make\n"]), Server(plain), reasons=lambda: []) as pair:
        seeds, generate = [], pair.core.generate
        pair.core.generate = lambda count, seed, ops: seeds.append(seed) or generate(
            count, seed, ops)
        pair.compare(1, 1, lambda word: None, kept=kept)
    assert seeds == [1_000_003], "it began anew"
