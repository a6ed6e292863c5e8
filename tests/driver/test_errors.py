"""What a message says of an unknown word."""

from slotfuzz.errors import NAMES_SHOWN_MAX, nearest


def test_similar_names_are_proposed():
    assert nearest("autogrd", ["autograd", "meta"]) == "did you mean autograd?"


def test_without_a_similar_name_some_are_shown():
    assert nearest("x", ["b", "a"]) == "known: a, b"
    assert nearest("x", []) == "known: none"
    many = [f"name{number:02}" for number in range(NAMES_SHOWN_MAX + 3)]
    said = nearest("x", many)
    assert said.endswith(f"{many[NAMES_SHOWN_MAX - 1]} and 3 more") and many[0] in said
