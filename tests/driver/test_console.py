"""Output is one JSON document or text."""

from slotfuzz.console import Output


def test_output_is_one_document_or_text(capsys):
    for as_json in (True, False):
        output = Output(as_json)
        output.text("words")
        output.document({"a": 1})
    out = capsys.readouterr().out
    assert out == '{\n  "a": 1\n}\nwords\n'
