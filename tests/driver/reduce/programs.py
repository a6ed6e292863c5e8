"""Programs of the fake engine's ops as text, for tests of the minimizer."""

from slotfuzz.language.program import Table, lines_of
from slotfuzz.schema import shape
from slotfuzz.schema.answers import Parsed
from tests.driver import fake_table

TABLE = Table(fake_table.DESCRIPTION)


def lines(text):
    """Program text as lines."""
    return lines_of(shape.made(Parsed, fake_table.parse(text)))
