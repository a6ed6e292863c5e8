"""The driver derives a signature and a story from a report of ThreadSanitizer."""

from slotfuzz.evidence import signature
from slotfuzz.finding import explain
from tests.driver import replies

RACE = """\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 4 at 0x7ffe01 by thread T1:
    #0 std::atomic<int>::store(int) /usr/include/c++/12/atomic:5 (storage+0x1) (BuildId: f)
    #1 slotcore::set(int*) core/c10/slot.cc:12:5 (storage+0x1e3a9d) (BuildId: fb94)

  Previous read of size 4 at 0x7ffe01 by main thread:
    #0 slotcore::get(int*) core/c10/slot.cc:88:27 (storage+0x1e3a9d) (BuildId: fb94)
    #1 slotcore::wrap(int*) core/python/storage/storage.cc:8 (storage+0x1e3a9d) (BuildId: fb94)

  Thread T1 (tid=9, running) created by main thread at:
    #0 pthread_create <null> (storage+0xd7ce1) (BuildId: fb94)
    #1 slotcore::start() core/c10/slot.cc:99 (storage+0x1) (BuildId: fb94)

SUMMARY: ThreadSanitizer: data race core/c10/slot.cc:12:5 in slotcore::set(int*)
==================
"""
INVERSION = """\
WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=7)
  Cycle in lock order graph: M0 (0x7f01) => M1 (0x7f02) => M0

  Mutex M1 acquired here while holding mutex M0 in main thread:
    #0 pthread_mutex_lock <null> (storage+0xd99ee) (BuildId: fb94)
    #1 slotcore::b() core/c10/slot.cc:12:5 (storage+0x1e3a9d) (BuildId: fb94)

  Mutex M0 acquired here while holding mutex M1 in thread T1:
    #0 pthread_mutex_lock <null> (storage+0xd99ee) (BuildId: fb94)
    #1 slotcore::a() core/c10/slot.cc:20:5 (storage+0x1e3a9d) (BuildId: fb94)
"""


def story_of(report):
    """The sentences of NOTES.md."""
    reply = replies.reply(kind="exit", exit=66, stderr=report, lines=['lane(1, "del s0")'])
    return explain.notes(reply, "title", "", "core").partition("<details>")[0]


def swapped(report):
    """The report of a run in which the other thread came last."""
    head, first, second, *rest = report.split("\n\n")
    return "\n\n".join([head, second, first, *rest])


def test_a_race_is_the_pair_of_its_sides_in_whatever_order():
    found = signature.of_stderr(RACE)
    assert found.verdict == "sanitizer data-race"
    assert found.functions == ("slotcore::get", "slotcore::set")
    head, first, rest = RACE.partition("  Write of size")
    sides = (first + rest).split("\n\n")
    other = head + "\n\n".join([sides[1], sides[0], *sides[2:]])
    assert signature.of_stderr(other).text == found.text


def test_an_inversion_is_the_pair_of_its_sides_in_whatever_order():
    found = signature.of_stderr(INVERSION)
    assert found.verdict == "sanitizer lock-order-inversion"
    assert found.functions == ("slotcore::a", "slotcore::b")
    assert signature.of_stderr(swapped(INVERSION)).text == found.text


def test_a_race_is_told_with_both_sides():
    story = story_of(RACE)
    assert 'Line 1 (`lane(1, "del s0")`) ends in data-race' in story
    assert "write by thread T1 in `set` (core/c10/slot.cc:12)" in story
    assert "previous read by main thread in `get` (core/c10/slot.cc:88)" in story
    assert "0x7ffe01" not in story and "no atomic access orders" in story


def test_an_inversion_is_told_with_both_sides():
    story = story_of(INVERSION)
    assert "mutex M1 acquired here while holding mutex M0 in main thread in `b`" in story
    assert "mutex M0 acquired here while holding mutex M1 in thread T1 in `a`" in story
