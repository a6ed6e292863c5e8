"""Hostile texts of descriptions: a short run of the target meta_text, and one that must fail."""

from slotfuzz.paths import ROOT
from slotfuzz.subject import build
from tests.steps.run import run

SEEDS, RUNS = ROOT / "corpus/meta_text", 20_000
# A bug in the converter that a seed shows.
MUTANT, WORDS = "view-follows-base", "M4: the fakes differ"


def test_hostile_texts_are_refused_or_agree(tmp_path):
    folder = build.build("address", ["target-meta_text"])
    run(folder / "targets/meta_text", f"-runs={RUNS}", "-seed=1", tmp_path, SEEDS)
    assert any(tmp_path.iterdir()), "the run has found no text"


def test_a_converter_that_is_wrong_is_seen(tmp_path):
    folder = build.build("address", [f"meta_text-{MUTANT}"])
    script = f'"$0" -runs=0 -artifact_prefix="$1/" "$2" 2>&1 | grep -o "{WORDS}"'
    text = run("bash", "-c", script, folder / f"mutants/{MUTANT}/targets/meta_text", tmp_path,
               SEEDS)
    assert WORDS in text
