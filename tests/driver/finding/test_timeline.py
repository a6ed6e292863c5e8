"""The ownership timeline: from the text of a trace to rows."""

import pytest
from slotfuzz.schema import trace
from slotfuzz.finding import explain, from_trace
from slotfuzz.finding.timeline import Column, Owner, Slot
from tests.driver.finding.traces import BIT, OBSERVED, REPORT, RESURRECTS, TENSOR, reply_of

# The letters of the expected rows.
LETTERS = {None: ".", Owner.PYTHON: "p", Owner.CPP: "c", Owner.BOTH: "b", Owner.NOBODY: "x"}
SLOTS = {Slot.EMPTY: ".", Slot.HOLDS: "=", Slot.DANGLES: "!"}


def rows_of(stderr, **words):
    """Each row as `address owners slots`, in letters."""
    return [f"{row.address:#x} {''.join(LETTERS[owner] for owner in row.owners)}"
            f" {''.join(SLOTS[slot] for slot in row.slots)}"
            for row in from_trace.timeline(reply_of(stderr, **words)).rows]


def test_python_and_cpp_share_by_refcount_bit():
    assert rows_of(BIT + "> del s0\n" + OBSERVED + """\
    observed  impl 0x10  wrapper 0x11  references 1  owners 2  held by t0  names  weak
> del t0
    core/w.cc:6  wrapper freed         wrapper 0x21
    core/r.cc:8  wrapper released      impl 0x10  wrapper 0x11
    core/w.cc:6  slot cleared          impl 0x10  wrapper 0x11
    core/w.cc:6  wrapper freed         wrapper 0x11
    core/s.cc:2  impl freed            impl 0x10
    core/t.cc:3  impl freed            impl 0x20
""") == ["0x10 cbcx ....", "0x11 .bcx .==.", "0x20 pppx ....", "0x21 pppx ===."]


def test_a_list_keeps_a_wrapper_for_python():
    assert rows_of(BIT + "> l0 = [s0]\n" + OBSERVED + """\
    observed  impl 0x10  wrapper 0x11  references 3  owners 2  held by t0  names s0  weak
> del s0
    observed  impl 0x10  wrapper 0x11  references 2  owners 2  held by t0  names  weak
""")[1] == "0x11 .bbb .==="


def test_resurrection_gives_the_wrapper_to_cpp_and_back():
    assert rows_of(RESURRECTS + """\
> del s0
    core/p.cc:1  wrapper preserved     impl 0x10  wrapper 0x11
    observed  impl 0x10  wrapper 0x11  references 1  owners 1  held by t0  names  weak
> s0 = t0.untyped_storage()
    core/w.cc:5  slot read             impl 0x10  wrapper 0x11
    core/p.cc:2  wrapper resurrected   impl 0x10  wrapper 0x11
    observed  impl 0x10  wrapper 0x11  references 1  owners 2  held by t0  names s0  weak
""")[:2] == ["0x10 cbcb ....", "0x11 .pcp .==="]


def test_a_handed_over_wrapper_is_pythons():
    assert rows_of(RESURRECTS + """\
> del s0
    core/p.cc:1  wrapper preserved     impl 0x10  wrapper 0x11
> del t0
    core/t.cc:3  impl freed            impl 0x20
    core/i.cc:1  handed over           impl 0x10  wrapper 0x11
""")[:2] == ["0x10 cbcp ....", "0x11 .pcp .==="]


def test_a_stale_slot_dangles_to_the_fatal_line():
    stderr = RESURRECTS + """\
> del s0
    core/w.cc:6  wrapper freed         wrapper 0x11  slot of 0x10 still holds it
    observed  impl 0x10  wrapper 0x11  references 0  owners 1  held by t0  names  weak
> s0 = t0.untyped_storage()
    core/w.cc:5  slot read             impl 0x10  wrapper 0x11
""" + REPORT.replace("[0x10,0x1f)", "[0x11,0x12)")
    words = {"outcome": "finding", "kind": "exit"}
    assert rows_of(stderr, **words)[:2] == ["0x10 cbcc ....", "0x11 .pxx .=!!"]
    found = from_trace.timeline(reply_of(stderr, **words))
    assert found.broken == 3
    assert [(row.address, row.broken) for row in found.rows if row.broken] == [(0x11, {3})]


def test_a_slot_that_nobody_said_to_dangle_shows_it_when_it_is_read():
    stderr = RESURRECTS + """\
> gc.collect()
    core/w.cc:6  wrapper freed         wrapper 0x11
> del s0
"""
    assert rows_of(stderr)[1] == "0x11 .pxx .=.."
    assert rows_of(stderr + """\
> s0 = t0.untyped_storage()
    core/w.cc:5  slot read             impl 0x10  wrapper 0x11
""")[1] == "0x11 .pxxx .=!!!"


def test_what_was_observed_gives_way_to_the_events_of_a_line_that_hangs():
    stderr = BIT + """\
> x0.drop_under_lock()
    core/r.cc:8  wrapper released      impl 0x10  wrapper 0x11
"""
    words = {"outcome": "finding", "kind": "deadlock"}
    assert rows_of(stderr, **words)[:2] == ["0x10 cbp ...", "0x11 .bp .=="]
    assert from_trace.timeline(reply_of(stderr, **words)).rows[0].holders == (("t0",), ("t0",), ())


def test_an_address_may_be_that_of_two_objects():
    stderr = RESURRECTS + """\
> del s0
    core/w.cc:6  wrapper freed         wrapper 0x11
> s0 = t0.untyped_storage()
    core/w.cc:5  slot read             impl 0x10  wrapper 0x0
    core/w.cc:3  slot written          impl 0x10  wrapper 0x11
    core/w.cc:4  wrapper created       impl 0x10  wrapper 0x11  type UntypedStorage
    observed  impl 0x10  wrapper 0x11  references 1  owners 2  held by t0  names s0  weak
"""
    words = {"outcome": "finding", "kind": "assert", "asserts": ["assert hasattr(s0, 'tag')"]}
    assert rows_of(stderr, **words)[:3] == ["0x10 cbcb ....", "0x11 .pxx .=..", "0x11 ...p ...="]
    rows = from_trace.timeline(reply_of(stderr, **words)).rows
    assert [row.broken for row in rows] == [set(), set(), {3}, set(), set()]
    assert [row.family for row in rows] == [0, 0, 0, 1, 1]


def test_an_assert_may_name_a_hermetic_wrapper_and_another():
    stderr = RESURRECTS + """\
> with hermetic(): s1 = t0.untyped_storage()
    core/w.cc:4  wrapper created       impl 0x10  wrapper 0x12  (hermetic)
""" + OBSERVED + """\
    observed  impl 0x10  wrapper 0x11  references 1  owners 3  held by t0  names s0  weak
"""
    found = from_trace.timeline(reply_of(stderr, outcome="finding", kind="assert", contract="H1",
                                    asserts=["assert s1 is not s0"]))
    assert [row.address for row in found.rows if row.broken] == [0x11, 0x12]


@pytest.mark.parametrize("asserted, serial", [
    ("assert r0() is not None", None), ("assert 0 not in finalized", 0)])
def test_an_assert_may_mean_a_freed_wrapper_by_weakref_or_number(asserted, serial):
    stderr = BIT + """\
> with hermetic(): del s0
    core/w.cc:6  wrapper freed         wrapper 0x11
    observed  impl 0x10  wrapper 0x11  references 0  owners 1  held by t0  names  weak r0  serial 0
"""
    reply = reply_of(stderr, outcome="finding", kind="assert", asserts=[asserted], serial=serial)
    found = from_trace.timeline(reply)
    assert [(row.address, row.broken) for row in found.rows if row.broken] == [(0x11, {2})]


def test_what_lives_on_at_the_end_is_what_leaks():
    stderr = RESURRECTS + f"""\
> {trace.RESET}
    core/w.cc:6  wrapper freed         wrapper 0x21
    core/t.cc:3  impl freed            impl 0x20
"""
    found = from_trace.timeline(reply_of(stderr, outcome="finding", kind="assert", contract="P5"))
    assert [(row.address, row.broken) for row in found.rows if row.broken] == \
        [(0x10, {2}), (0x11, {2})]


def test_a_stale_sight_is_not_taken_for_another_impls_wrapper():
    # The judge remembers wrapper 0x11 of impl 0x10, whose memory another object now uses.
    assert rows_of(RESURRECTS + """\
> del s0
    core/w.cc:6  wrapper freed         wrapper 0x11
    observed  impl 0x10  wrapper 0x11  references 0  owners 1  held by t0  names  weak
> s1 = T.UntypedStorage(1)
    core/s.cc:1  impl created          impl 0x30  bytes 1
    core/w.cc:3  slot written          impl 0x30  wrapper 0x11
    core/w.cc:4  wrapper created       impl 0x30  wrapper 0x11  type UntypedStorage
    observed  impl 0x10  wrapper 0x11  references 0  owners 1  held by t0  names s1  weak
""")[-2:] == ["0x30 ...p ....", "0x11 ...p ...="]


def test_what_is_dropped_only_when_the_judge_asks_has_lived_on():
    stderr = RESURRECTS + f"""\
> {trace.RESET}
    core/w.cc:6  wrapper freed         wrapper 0x21
    core/t.cc:3  impl freed            impl 0x20
    the end is judged
    core/w.cc:6  wrapper freed         wrapper 0x11
    core/s.cc:2  impl freed            impl 0x10
"""
    assert rows_of(stderr)[:2] == ["0x10 cbp ...", "0x11 .pp .=="]
    assert "0x10" in explain.annotated(reply_of(stderr)).splitlines()[-2]


def test_columns_have_lane_and_mode():
    found = from_trace.timeline(reply_of("""\
> lane(1, "enter_hermetic()")
    core/h.cc:1 hermetic entered
> h0 = t0.untyped_storage()
> lane(1, "h0 = t0.untyped_storage()")
    core/w.cc:4  wrapper created       impl 0x10  wrapper 0x12  (hermetic)
> lane(1, "exit_hermetic()")
    core/h.cc:1  hermetic left
"""))
    assert found.columns == (
        Column("enter_hermetic()", 1, True), Column("h0 = t0.untyped_storage()", 0, False),
        Column("h0 = t0.untyped_storage()", 1, True), Column("exit_hermetic()", 1, False))
    assert [(row.about, row.names) for row in found.rows] == [("", ()), ("hermetic", ("h0",))]


def test_rows_have_names_types_and_holders():
    rows = from_trace.timeline(reply_of(BIT)).rows
    assert [(row.about, row.names) for row in rows] == [
        ("StorageImpl, 4 bytes", ()), ("UntypedStorage", ("s0",)), ("TensorImpl", ()),
        ("Tensor", ("t0",))]
    assert rows[0].holders == (("t0",), ("t0",))


def test_events_of_the_line_that_ends_it_count():
    found = from_trace.timeline(reply_of(RESURRECTS + "> lost\n> not reached\n", line=2,
                                    outcome="finding", kind="signal"))
    assert len(found.columns) == 3 and found.broken == 2
    assert not any(row.broken for row in found.rows)


GRAPH = """\
> n0 = T.node(t0)
    core/n.cc:1  impl created          impl 0x30  type NodeImpl  saved 0x20  next 0x0
    core/w.cc:3  slot written          impl 0x30  wrapper 0x31
    core/w.cc:4  wrapper created       impl 0x30  wrapper 0x31  type Node
"""
NODE = "    observed  impl 0x30  wrapper 0x31  references 1  owners 2  held by n1  names n0  weak\n"


def test_a_third_kind_of_impl_has_a_type_and_what_it_owns():
    """By its event alone; here a node of a graph, which slotcore lacks."""
    rows = from_trace.timeline(reply_of(TENSOR + GRAPH + OBSERVED + NODE)).rows
    assert [(row.role, row.about, row.holders[-1]) for row in rows if row.address >= 0x30] == [
        ("impl", "NodeImpl", ("n1",)), ("wrapper", "Node", ())]
    assert "0x20 pb .." in rows_of(TENSOR + GRAPH), "the node owns the tensor"
