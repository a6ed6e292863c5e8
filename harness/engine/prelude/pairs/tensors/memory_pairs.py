"""Calls on tensors of every kind, and the memory that they keep."""

#: pairs_of_kept_memory [slotcore]: no call keeps memory, whatever its tensor and its outcome (P5)
#> pairs_of_kept_memory: collects
import itertools
def tensors_of_each_kind():
    """Tensors of each dtype, with numbers of each form, and of each class and mode."""
    return expressions_of("", """
        T.tensor(True)
        T.tensor(7)
        T.tensor(1 << 40)
        T.tensor(2.5)
        T.tensor(float("nan"))
        T.tensor(2j)
        T.tensor(2 + 0j)
        T.tensor(2 + 0j).conj()
        T.tensor([1, 0j]).conj()
        T.tensor(250, dtype=T.uint8)
        T.tensor([[1.5, 0], [3, 4]])
        T.tensor([1, 0, 3])[1:]
        T.tensor(3.0)._neg_view()
        T.ones(2, 0)
        T.ones(1, 2).expand(2, 2)
        T.nn.Parameter(T.ones(2))
        T.ones(()).requires_grad_() * 2
        T.Tensor._make_subclass(TensorSub, T.ones(2, 2))
        T.ones(1, device="meta")
        FakeTensorMode(shape_env=ShapeEnv()).from_tensor(T.ones(2, 3), kind="dynamic")""")
def calls_of_each_kind():
    return expressions_of("t", """
        int(t)
        float(t)
        complex(t)
        bool(t)
        [1, 2, 3].index(t)
        "abc"[t]
        hash(t)
        repr(t)
        len(t)
        list(t)
        t.item()
        t.tolist()
        T.tensor(t)
        T.tensor([t, t])
        T.ones(t)
        t[t]
        t[0, 0]
        t[None, ..., :]
        t.__setitem__(..., t)
        t.fill_(t)
        t.fill_(2j)
        t.copy_(t)
        t.zero_()
        t.add(1.5)
        t.add(1j)
        t.mul(t)
        t.mul_(1 << 70)
        1 + t
        t == 1.5
        t == "x"
        t < 1
        t.sum()
        t.relu()
        t.nonzero()
        t.view(T.uint8)
        t.view(-1, 1)
        t.expand(3, 2, 2)
        t.narrow(0, t, 1)
        t.transpose(0, 1)
        t.as_strided((2,), (0,))
        t.select(0, t)
        t.resize_(2)
        t.set_(t)
        t.set_(T.ones(2))
        t.requires_grad_()
        t.backward()
        t.detach_()
        t.register_hook(print).remove()
        t.as_subclass(TensorSub)
        setattr(t, "grad", t)
        setattr(t, "grad", t.detach().clone())
        setattr(t, "data", T.ones(1))
        setattr(t, "note", [t])
        T._meta.dumps(T._meta.describe(MetaConverter().describer, t, copy_data=True))
        MetaConverter()(t)""")
def memory_kept_by(calls, rounds):
    """The growth of the memory in use over ROUNDS of CALLS, which are pairs of (make, call)."""
    before = memory_in_use()
    for _ in range(rounds):
        for make, call in calls:
            class_raised(call, make())
    gc.collect()
    return memory_in_use() - before
def calls_that_keep_memory(calls):
    """Those of which each of some rounds keeps some. What is made once, and other threads, differ
    from one round to the next."""
    while len(calls) > 1:
        half = len(calls) // 2
        parts = [part for part in (calls[:half], calls[half:])
                 if all(memory_kept_by(part, 2) >= memory_kept_by([], 2) + 2 for _ in range(4))]
        if not parts:
            return []
        calls = parts[0]
    return calls
def pairs_of_kept_memory():
    calls = [*itertools.product(tensors_of_each_kind(), calls_of_each_kind())]
    memory_kept_by(calls, 1)  # the first calls may make what is kept
    for make, call in calls_that_keep_memory(calls):
        assert False, f"P5: each {call.__name__} of t = {make.__name__} keeps memory"
