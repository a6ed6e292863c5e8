"""Interpreters with their own GIL, running at once on separate threads: T1 to T6 in practice.

Each test is a script in a fresh process: the main interpreter makes impls that no interpreter has
claimed (in hermetic mode), and all lanes do the same to each of them behind a barrier.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HAS_OWN_GIL = importlib.util.find_spec("_interpreters") is not None
pytestmark = pytest.mark.skipif(not HAS_OWN_GIL, reason="interpreters with their own GIL: 3.13 on")

LANE = (Path(__file__).parent / "own_gil_lane.py").read_text()
ROUNDS = 60
SECONDS_MAX = 300

MAIN = """
import _interpreters, mmap, os, sys, threading
sys.path[:] = path = {path!r}
import slotcore as T
lanes, rounds = {lanes}, {rounds}
# The number of impls before the interpreters start.
before = T._live_impls()
memory = os.memfd_create("board")
os.ftruncate(memory, 8 * (lanes + 1 + lanes * rounds))
words = memoryview(mmap.mmap(memory, 0)).cast("Q")
with T.hermetic():
    roots = [{make} for _ in range(rounds)]
handles = [root._weak_ref() for root in roots]
LANE = {lane!r}
BODY = {body!r}

def text(me):
    names = dict(me=me, lanes=lanes, board=memory, path=path, handles=handles)
    return "\\n".join([f"{{name}} = {{value!r}}" for name, value in names.items()] + [LANE, BODY])

def run(me):
    failure = _interpreters.exec(ids[me], text(me))
    if failure is not None:
        failures.append(failure.errdisplay)
    # Beyond every round, so that no lane waits for a lane that has ended.
    words[me] = 2 ** 62
    {end}

def read(me, index):
    return words[lanes + 1 + me * rounds + index]

failures = []
ids = [_interpreters.create("isolated") for _ in range(lanes)]
threads = [threading.Thread(target=run, args=(me,)) for me in range(lanes)]
for thread in threads:
    thread.start()
{meanwhile}
for thread in threads:
    thread.join()
assert not failures, "\\n".join(failures)
{check}
for handle in handles:
    type(roots[0])._free_weak_ref(handle) if roots else T.Tensor._free_weak_ref(handle)
roots.clear()
{last}
{ledger}
print("done")
"""
DESTROY = "_interpreters.destroy(ids[me])"
TENSOR = "T.ones(4)"
LEDGER = "assert T._live_impls() == before, T._live_impls() - before"
# Resurrection hides a wrapper that C++ shares from the collector, so a wrapper that refers to
# itself outlives its interpreter, with its impl.
LEDGER_OF_THE_BIT = f"if T._preservation == 'refcount-bit': {LEDGER}"
STORAGE = "T.UntypedStorage([7] * 8)"


def run_lanes(body, lanes=2, make=TENSOR, end=DESTROY, meanwhile="", check="", last="",
              rounds=ROUNDS, ledger=LEDGER):
    """Runs BODY in each of LANES interpreters; fails with the output of the process."""
    script = MAIN.format(path=sys.path, lane=LANE, body=body, lanes=lanes, make=make, end=end,
                         meanwhile=meanwhile, check=check, last=last, rounds=rounds,
                         ledger=ledger)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          timeout=SECONDS_MAX, check=False)
    said = done.stderr[-6000:]
    assert (done.returncode, done.stdout) == (0, "done\n"), f"{done.returncode}\n{said}"
    assert "ThreadSanitizer" not in done.stderr, said


@pytest.fixture(params=[2, 3])
def lanes(request):
    return request.param


def test_one_interpreter_wins_a_tensor_that_all_claim(lanes):  # T1, T2
    run_lanes("""
kept = []
for index, handle in enumerate(handles):
    meet()
    wrapper = wrap_tensor(handle)
    note(index, wrapper is not None)
    meet()
    # The winner stays the owner, and no other lane becomes one (T1).
    again = wrap_tensor(handle)
    assert again is wrapper
    kept.append(wrapper)
""", lanes, check="""
winners = [[me for me in range(lanes) if read(me, index)] for index in range(rounds)]
assert all(len(won) == 1 for won in winners), winners
""")


def test_losers_of_a_storage_share_its_bytes(lanes):  # T2
    run_lanes("""
kept = []
for index, handle in enumerate(handles):
    meet()
    storage = T.UntypedStorage._new_with_weak_ptr(handle)
    note(index, storage._cdata == handle)
    assert storage[7] == 7
    storage[me] = 100 + me
    kept.append(storage)
""", lanes, make=STORAGE, check="""
winners = [[me for me in range(lanes) if read(me, index)] for index in range(rounds)]
assert all(len(won) == 1 for won in winners), winners
expected = [100 + me for me in range(lanes)] + [7] * (8 - lanes)
assert all(root.tolist() == expected for root in roots)
""")


def test_bytes_may_be_read_while_others_take_their_share(lanes):  # T2, R1
    run_lanes("""
for handle in handles:
    meet()
    for _ in range(20):
        storage = T.UntypedStorage._new_with_weak_ptr(handle)
        assert storage[3] == 7 and storage.nbytes() == 8
""", lanes, make=STORAGE)


@pytest.mark.parametrize("order", ["winner first", "loser first", "at once"])
@pytest.mark.parametrize("make", [TENSOR, STORAGE], ids=["tensor", "storage"])
def test_impls_may_be_dropped_in_any_order(make, order):  # T2, T6, P5
    kind = "Tensor" if make == TENSOR else "UntypedStorage"
    run_lanes(f"""
for index, handle in enumerate(handles):
    meet()
    if {kind!r} == "Tensor":
        wrapper = wrap_tensor(handle)
        won = wrapper is not None
    else:
        wrapper = T.UntypedStorage._new_with_weak_ptr(handle)
        won = wrapper._cdata == handle
    note(index, won)
    meet()
    if {order!r} != "at once" and won == ({order!r} == "loser first"):
        meet()
        del wrapper
    else:
        del wrapper
        meet()
""", make=make)


def test_the_last_owner_may_release_in_another_interpreter():  # T6, P3
    # Python has dropped the wrappers, whose impls keep them; the main interpreter drops the impls
    # while the lane runs, and finalizers must run under the lane's GIL.
    run_lanes("""
import threading
deaths = []

class Noting:
    def __init__(self, index):
        self.index = index
    def __del__(self):
        deaths.append((self.index, T._live_wrappers() >= 0))

for index, handle in enumerate(handles):
    wrapper = wrap_tensor(handle)
    wrapper.attribute = Noting(index)
    del wrapper
assert not deaths
meet()
count = 0
while BOARD.words[1] == 0:
    count += len([T.ones(1) for _ in range(10)])
assert sorted(deaths) == [(index, True) for index in range(len(handles))], deaths
assert T._live_wrappers() == 0
""", lanes=1, meanwhile="""
while words[0] < 1:
    os.sched_yield()
roots.clear()
words[1] = 1
""")


def test_an_interpreter_may_end_while_another_uses_what_it_claimed(lanes):  # T5
    run_lanes("""
kept = []
for index, handle in enumerate(handles):
    if me == 0 or index % 2:
        wrapper = wrap_tensor(handle)
        if wrapper is not None:
            wrapper.attribute = wrapper
            kept.append(wrapper)
meet()
if me != 0:
    # The first interpreter is ending, or has ended.
    for _ in range(5):
        for handle in handles:
            wrap_tensor(handle)
""", lanes, rounds=30, ledger=LEDGER_OF_THE_BIT)


def test_owners_may_release_while_the_interpreter_ends():  # T5, T6
    # Wrappers that their impls own, in an interpreter that ends, and whose last owners are in the
    # main interpreter and drop at the same time. What comes while it ends is leaked.
    run_lanes("""
for handle in handles:
    wrapper = wrap_tensor(handle)
    wrapper.attribute = [me]
    del wrapper
meet()
""", lanes=1, rounds=300, ledger="", meanwhile="""
while words[0] < 1:
    os.sched_yield()
while roots:
    roots.pop()
""")


def test_a_claim_by_the_main_interpreter_and_by_others_has_one_winner(lanes):  # T2
    run_lanes("""
for index, handle in enumerate(handles):
    BOARD.meet(me, lanes + 1)
    note(index, wrap_tensor(handle) is not None)
""", lanes, meanwhile="""
mine = []
kept = []
for index, handle in enumerate(handles):
    words[lanes] += 1
    while any(words[lane] < words[lanes] for lane in range(lanes)):
        os.sched_yield()
    try:
        kept.append(T.Tensor._new_with_weak_ptr(handle))
        mine.append(1)
    except RuntimeError:
        mine.append(0)
del kept
""", check="""
counts = [mine[index] + sum(read(me, index) for me in range(lanes)) for index in range(rounds)]
assert counts == [1] * rounds, counts
""")
