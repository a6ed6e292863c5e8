"""A hunt without named targets skips targets whose special ops are all masked."""

from slotfuzz.commands import hunt


def described(*masked):
    """The description of a target with an ordinary op, then special ops that are MASKED or not."""
    ops = [{"name": "new", "special": False, "masked": False}]
    return {"ops": ops + [{"name": "op", "special": True, "masked": one} for one in masked]}


def test_a_target_whose_special_ops_are_all_masked_is_skipped(fake_subject, monkeypatch, capsys):
    targets = {"storage": described(), "threads": described(True, True),
               "subinterpreters": described(True, False)}
    monkeypatch.setattr(hunt.server, "describe", lambda subject, target: targets[target])
    assert hunt._with_special_ops(fake_subject, list(targets)) == ["storage", "subinterpreters"]
    assert capsys.readouterr().err.splitlines() == [
        "slotfuzz: threads is left out: core lacks all of its 2 ops"]
