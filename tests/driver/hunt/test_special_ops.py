"""A hunt without named targets leaves out those that have nothing of their own to do."""

from slotfuzz.commands import hunt


def described(*masked):
    """What a target says of itself whose special ops are MASKED or not, behind an ordinary op."""
    ops = [{"name": "new", "special": False, "masked": False}]
    return {"ops": ops + [{"name": "op", "special": True, "masked": one} for one in masked]}


def test_a_target_without_any_of_its_special_ops_is_left_out(fake_subject, monkeypatch, capsys):
    targets = {"storage": described(), "threads": described(True, True),
               "subinterpreters": described(True, False)}
    monkeypatch.setattr(hunt.server, "describe", lambda subject, target: targets[target])
    assert hunt._with_special_ops(fake_subject, list(targets)) == ["storage", "subinterpreters"]
    assert capsys.readouterr().err.splitlines() == [
        "slotfuzz: threads is left out: core has none of its 2 ops"]
