"""The driver's list of trace events equals the core's."""

import re

from slotfuzz.paths import ROOT
from slotfuzz.schema.events import HERMETIC_REMARK, SLOT_OF, Event
from slotfuzz.schema.trace import parse

SOURCES = [path for path in (ROOT / "core").rglob("*.cc")]
# `trace("one", ..` or `trace(condition ? "one" : "other")`.
CALL = re.compile(r'\btrace\((?:\w+ \? )?"([^"]+)"(?: : "([^"]+)")?')


def test_the_core_has_these_events_and_no_others():
    names = {name for path in SOURCES for match in CALL.finditer(path.read_text())
             for name in match.groups()}
    assert names - {None} == {event.value for event in Event}


def test_the_core_has_these_words_in_fields():
    text = "".join(path.read_text() for path in SOURCES)
    assert all(f'"{word}"' in text for word in (HERMETIC_REMARK, SLOT_OF))


def test_an_event_has_its_fields_by_name():
    (event,) = parse("    core/w.cc:93   wrapper freed         wrapper 0x2a  slot of 0x1f still"
                     " holds it\n").events
    assert event.what is Event.WRAPPER_FREED
    assert event.at == {"wrapper": 0x2a, SLOT_OF: 0x1f} and not event.is_hermetic
    (other,) = parse("    core/w.cc:9   of tomorrow         type Tensor  bytes 4\n").events
    assert (other.what, other.name, other.type, other.bytes) == (
        None, "of tomorrow", "Tensor", 4)
