"""Functions that are traced: what they may read, and decide by."""

#: pairs_of_traced_reads [slotcore]: what a traced function reads holds for each tensor that passes
import itertools
def reads_of_tensors():
    """What a function may read of its input t, and decide by."""
    return expressions_of("t", """
        t._version
        t.detach()._version
        t.mul_(1)._version
        t.is_leaf
        t.requires_grad
        t.grad is None
        t.grad_fn is None
        t.mul(2).grad_fn is None
        t.output_nr
        t._base is None
        t._is_view()
        t._backward_hooks is None
        t.retains_grad
        t.shape
        t.dtype
        t.numel()
        t.stride()
        t.storage_offset()
        t.is_contiguous()
        t.is_conj()
        t.is_neg()
        t.is_meta
        t.nbytes
        t.untyped_storage().nbytes()
        t.untyped_storage().resizable()
        t.untyped_storage() == t.data.untyped_storage()
        t.is_set_to(t.data)
        t[0][0].item()
        t.tolist()
        bool(t.sum())""")
def tensors_that_may_pass():
    """A tensor, and others that differ from it in one thing."""
    return expressions_of("", """
        T.ones(3, 4)
        T.ones(3, 4).zero_()
        T.ones(4, 3).t()
        T.ones(12).view(3, 4)
        T.ones(6, 4)[:3]
        T.ones(6, 4)[3:]
        T.ones(1, 4).expand(3, 4)
        T.ones(3, 4)._neg_view()
        T.ones(6, 8).resize_(3, 4)
        T.ones(2, 4)
        T.ones(3, 4, dtype=T.float64)
        T.frombuffer(bytearray(48), dtype=T.float32).view(3, 4)
        T.ones(3, 4).requires_grad_()
        T.nn.Parameter(T.ones(3, 4))
        T.ones(3, 4).requires_grad_() * 2
        with_own_gradient(T.ones(3, 4))
        T.Tensor._make_subclass(TensorSub, T.ones(3, 4))""")
def check_traced_read(read, mode):
    """Returns how many of the others pass, and None if the read is an error of the trace."""
    example, *others = tensors_that_may_pass()
    graphs, expected = [], read(example())
    function = lambda t: t.mul(2 if read(t) == expected else 3)
    trace = T.fx.experimental.proxy_tensor.make_fx(function, tracing_mode=mode)
    if class_raised(lambda: graphs.append(trace(example()))):
        return None
    passed = [make for make in others if graphs[0].check(make())]
    for make in passed:
        found = read(make())
        assert found == expected, (
            f"M11: a function that asks whether {read.__name__} is {expected} is traced in mode"
            f" {mode} with {example.__name__}, and {make.__name__}, of which it is {found}, passes")
    return len(passed)
def pairs_of_traced_reads():
    counts = [*itertools.starmap(check_traced_read, itertools.product(
        reads_of_tensors(), ("fake", "symbolic")))]
    traced = [count for count in counts if count is not None]
    assert len(traced) >= 45 and sum(traced) >= 110, (
        f"M11: only {len(traced)} reads are traced, and tensors pass only {sum(traced)} times")
