"""T6: C++ threads without the GIL release Python objects while the interpreter lives."""

import gc
import sys
import threading
import weakref

import pytest
import slotcore as T
import slotcore_c10 as c10


def owner_of(kind, wrapper):
    """A C++ owner that does not belong to a Python tensor."""
    handle = wrapper._weak_ref()
    owner = c10.Owner(handle)
    kind.base._free_weak_ref(handle)
    return owner


def noting_class(kind, log):
    class Noting(kind.base):
        def __del__(self):
            log.append((threading.get_ident(), self._use_count(), self.attribute))

    return Noting


@pytest.mark.parametrize("drop", ["drop_on_thread", "drop_under_lock"])
def test_the_last_drop_on_a_cpp_thread_takes_effect_under_the_gil(kind, drop):  # T6, P3
    log = []
    x = kind.make(noting_class(kind, log))
    x.attribute = "kept"
    owner = owner_of(kind, x)
    del x
    assert log == []
    getattr(owner, drop)()
    kind.make(kind.base)
    ((thread, use_count, attribute),) = log
    assert thread == threading.get_ident() and (use_count, attribute) == (1, "kept")


def test_the_last_drop_by_a_thread_that_gave_up_its_gil_takes_it_again(kind):  # T6
    log = []
    x = kind.make(noting_class(kind, log))
    x.attribute = "kept"
    owner = owner_of(kind, x)
    del x
    owner.drop()
    assert log == [(threading.get_ident(), 1, "kept")]


def test_a_drop_on_a_cpp_thread_leaves_a_wrapper_that_python_holds(kind):  # T6, P1
    x = kind.make(kind.base)
    handle = x._weak_ref()
    c10.Owner(handle).drop_on_thread()
    assert x._use_count() == 1 and kind.base._new_with_weak_ptr(handle) is x
    kind.base._free_weak_ref(handle)


def test_many_cpp_threads_drop_while_python_runs(kind):  # T6, P3, P5
    log = []
    noting = noting_class(kind, log)
    owners = [[] for _ in range(4)]
    for number in range(200):
        x = kind.make(noting)
        x.attribute = number
        owners[number % 4].append(owner_of(kind, x))
        del x

    def drop_all(mine):
        while mine:
            mine.pop().drop_on_thread()

    threads = [threading.Thread(target=drop_all, args=(mine,)) for mine in owners]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        kind.make(kind.base)
    for thread in threads:
        thread.join()
    kind.make(kind.base)  # the next wrap runs the work for which no pending call was left
    assert sorted(attribute for _, _, attribute in log) == list(range(200))


def test_a_thread_that_gave_up_its_gil_reads_no_state_of_another(kind):  # T6, R1
    # Two threads take the GIL, each time with a new thread state, while this one releases a chain
    # that is long enough for that, and asks at its end whether it holds the GIL. The chain is made
    # without wrappers, because the release would stop at one. ThreadSanitizer saw the read each
    # time.
    held = [kind.make(kind.base) for _ in range(2)]
    lockers = [owner_of(kind, x) for x in held]
    for locker in lockers:
        locker.start_locking()
    for turn in range(10):
        last = T.zeros(2)
        seen = weakref.ref(last)
        last.attribute = turn
        with T.hermetic():
            for _ in range(3000):
                x = T.zeros(2)
                x.grad = last
                last = x
            handle = x._weak_ref()
            chain = c10.Owner(handle)
            T.TensorBase._free_weak_ref(handle)
        del x, last
        assert seen().attribute == turn
        chain.drop()
        kind.make(kind.base)
        assert seen() is None
    for locker in lockers:
        locker.join()


@pytest.mark.parametrize("start", ["start_copying", "start_locking"])
def test_a_cpp_thread_takes_and_drops_while_python_wraps_and_collects(kind, start):  # T6, P1, P2
    x = kind.make(kind.base)
    keeper = kind.own(x)
    x.attribute = "kept"
    owner = owner_of(kind, x)
    getattr(owner, start)()
    for _ in range(30):
        del x
        gc.collect()
        x = kind.rewrap(keeper)
        assert x.attribute == "kept" and kind.rewrap(keeper) is x
    owner.join()
    owner.drop()
    kind.make(kind.base)
    keeper = None
    assert x._use_count() == 1


def test_an_impl_dies_once_under_a_thread_that_locks_it_again(kind):  # P3, P4, T6
    for _ in range(20):
        log = []
        x = kind.make(noting_class(kind, log))
        x.attribute = 1
        owner = owner_of(kind, x)
        owner.start_locking()
        del x
        owner.join()
        owner.drop()
        kind.make(kind.base)
        assert [attribute for _, _, attribute in log] == [1]


def test_the_collector_spares_what_a_thread_locks_between_its_passes(kind):  # P2, P4
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    try:
        for _ in range(20):
            x = kind.make(kind.base)
            owner = kind.own(x)
            x.me = x
            seen = weakref.ref(x)
            locking = owner_of(kind, x)
            locking.start_locking()
            del x
            for _ in range(20):
                gc.collect()
                assert seen() is not None
            locking.join()
            assert kind.rewrap(owner).me is seen()
            seen().me = None
            del owner, locking
    finally:
        sys.setswitchinterval(interval)
