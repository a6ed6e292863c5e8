"""Arguments: numbers that are too large, iterators, and `__index__` methods that swap tensors."""

#: pairs_of_huge_numbers [slotcore]: a number that an integer of C++ cannot hold is never another
import itertools
def tensor_of_places():
    return T.tensor([0, 1, 2, 3, 4, 5, 6, 7])
def calls_with_numbers():
    """Each gives n again if n is 3, because element 3 is 3, size 3 is 3, and so on."""
    return expressions_of("n, s, t, d, m", """
        s[n]
        T.UntypedStorage([n])[0]
        [s.fill_(n), s[0]][1]
        [s.__setitem__(0, n), s[0]][1]
        [s.__setitem__(slice(0, 2), n), s[1]][1]
        T.frombuffer(s, dtype=T.uint8, offset=n).tolist()[0]
        len(T.frombuffer(s, dtype=T.uint8, count=max(n, 0)))
        t[n].item()
        [t.__setitem__(n, 3), t[3].item()][1]
        t.select(0, n).item()
        t.narrow(0, n, 1).item()
        len(t.narrow(0, 1, n))
        t.as_strided((), (), n).item()
        t.as_strided((2,), (n,))[1].item()
        len(t.as_strided((n,), (1,)))
        len(t[:3].view(n))
        len(t[:3].expand(n))
        t[:3].expand(n, 3).shape[0]
        [t.set_(t.untyped_storage(), n, (0,)), t.storage_offset()][1]
        d.size(n)
        d.shape[n]
        d.select(n, 0).numel() + 3
        d.transpose(n, 0).shape[0]
        d.narrow(n, 0, 1).shape[2] + 1
        T.tensor([n]).item()
        [t.fill_(n), t[0].item()][1]
        (t + n)[0].item()""")
def calls_with_sizes():
    return expressions_of("n, s, t, d, m", """
        [s.resize_(n), len(s)][1]
        len(T.UntypedStorage(n))
        T.UntypedStorage(n, device="meta").nbytes()
        [m.resize_(n), m.nbytes()][1]
        len(T.empty(n, device="meta"))
        T.empty(0, n, device="meta").shape[1]
        len(T.empty(0, device="meta").resize_(n))
        [t.resize_(n), len(t)][1]
        [t.set_(t.untyped_storage(), 0, (n,)), len(t)][1]
        len(T.empty(n))
        len(T.ones((n,), dtype=T.uint8))""")
def outcome_of_number(call, number):
    """What CALL gives for NUMBER, or None if it raises."""
    storage = T.UntypedStorage([0, 1, 2, 3, 4, 5, 6, 7])
    others = T.ones(0, 1, 2, 3), T.UntypedStorage(2, device="meta")
    try:
        return call(number, storage, tensor_of_places(), *others)
    except (RuntimeError, ValueError, IndexError, OverflowError, TypeError, MemoryError):
        return None
def check_huge_numbers(call, powers):
    found = outcome_of_number(call, 3)
    assert found == 3, f"P8: {call.__name__} gives {found}, not 3, for n = 3"
    for number in (3 + sign * 2 ** power for power in powers for sign in (1, -1)):
        found = outcome_of_number(call, number)
        assert found in (None, number), f"P8: {call.__name__} gives {found} for n = {number}"
def pairs_of_huge_numbers():
    for call in calls_with_numbers():
        check_huge_numbers(call, (8, 16, 31, 32, 63, 64, 65))
    for call in calls_with_sizes():
        check_huge_numbers(call, (63, 64, 65))

#: pairs_of_iterators [slotcore]: an iterator is read once, like a list, or is refused
import itertools
class OwnSequence:
    """A sequence that is no list and no tuple."""
    def __init__(self, items):
        self.items = [*items]
    def __len__(self):
        return len(self.items)
    def __getitem__(self, place):
        return self.items[place]
def forms_of_sequences():
    return expressions_of("items", """
        tuple(items)
        iter(items)
        OwnSequence(items)""")
def gradients_of(tensors):
    return [tensor.grad is not None and tensor.grad.tolist() for tensor in tensors]
def calls_with_sequences():
    """x and y are leaves, g a gradient, s a storage, t a tensor of four elements, and `of` makes a
    sequence."""
    return expressions_of("of, x, y, g, s, t", """
        (x * y).backward(g, inputs=of([x]))
        (x * y).backward(g, inputs=of([y, x]))
        (x * y * 2).sum().backward(inputs=of([y]))
        T.autograd.backward(of([x * 2, x * y]), [g, g])
        T.autograd.backward([x * 2, x * y], of([g, g * 3]))
        T.autograd.backward(of([x * y]), of([g]), inputs=of([y]))
        [one.tolist() for one in T.autograd.grad(of([x * 2, x * y]), [x], [g, g])]
        [one.tolist() for one in T.autograd.grad([x * y], of([x, y]), [g])]
        [one.tolist() for one in T.autograd.grad([x * 2, x * y], [x], of([g, g * 3]))]
        T.UntypedStorage(of([1, 2])).tolist()
        T.tensor(of([1, 2])).tolist()
        T.Tensor(of([1.0, 2.0])).tolist()
        T.ones(of([2, 3])).shape
        t.view(of([2, 2])).tolist()
        t.expand(of([3, 4])).shape
        t.as_strided(of([3, 1]), of([1, 2])).tolist()
        t.resize_(of([3, 1])).shape
        t.set_(s, 0, of([2, 1]), of([1, 2])).stride()""")
def outcome_with_sequence(call, form):
    """What CALL gives, and the gradients then; or the error of CALL."""
    x, y = T.tensor([2.0, 3.0]).requires_grad_(), T.tensor([5.0, 7.0]).requires_grad_()
    others = T.tensor([1.0, 2.0]), T.UntypedStorage(16), T.tensor([1.0, 2.0, 3.0, 4.0])
    results = []
    error = class_raised(lambda: results.append(call(form, x, y, *others)))
    return error or (results, gradients_of([x, y]))
def pairs_of_iterators():
    for call, form in itertools.product(calls_with_sequences(), forms_of_sequences()):
        expected, found = outcome_with_sequence(call, list), outcome_with_sequence(call, form)
        assert type(expected) is tuple, f"P8: {call.__name__} raises {expected} for lists"
        assert found in (expected, TypeError), (
            f"P8: {call.__name__} gives {found}, not {expected}, if of(items) is {form.__name__}")

#: pairs_of_swapped_amid [slotcore]: `__index__` may swap the tensor whose method asks it
import itertools
class SwapsAtIndex:
    """A number that exchanges two tensors before it says its value."""
    def __init__(self, number, one, other):
        self.number, self.pair = number, (one, other)
    def __index__(self):
        if self.pair:
            pair, self.pair = self.pair, None
            T.utils.swap_tensors(*pair)
        return self.number
def calls_that_ask_numbers():
    return expressions_of("t, n", """
        t.resize_(n)
        t.resize_(1, n)
        t.view(n)
        t.view(-1, n)
        t.expand(n, 3)
        t.as_strided((n,), (1,))
        t.as_strided((2,), (n,))
        t.as_strided((1,), (1,), n)
        t.select(0, n)
        t.narrow(0, n, 1)
        t.narrow(0, 0, n)
        t.transpose(n, n)
        t.size(n)
        t[n]
        t[n:]
        t[:n]
        t.__setitem__(n, 7.0)
        t.__setitem__(slice(n, None), 7.0)""")
def said_of_pair(*tensors):
    return [(one.tolist(), one.shape, one.stride(), one.storage_offset(), one._version,
             one.requires_grad) for one in tensors]
def outcome_amid(call, number, swaps_first):
    """What CALL for NUMBER does if the tensors are swapped before it, or by its number."""
    one, other = T.tensor([1.0, 2.0, 3.0]), T.tensor([[4.0], [5.0], [6.0], [7.0]])
    if swaps_first:
        T.utils.swap_tensors(one, other)
    else:
        number = SwapsAtIndex(number, one, other)
    results = []
    error = class_raised(lambda: results.append(call(one, number)))
    result = results[0] if results else None
    said = said_of_pair(result) if isinstance(result, T.Tensor) else result
    return error, said, said_of_pair(one, other)
def pairs_of_swapped_amid():
    for call, number in itertools.product(calls_that_ask_numbers(), (0, 1, 3, 4, 7, -1)):
        found, expected = (outcome_amid(call, number, first) for first in (False, True))
        assert found == expected, (
            f"P8: {call.__name__} (its error, its result, t and the other tensor) gives {found} if"
            f" n = {number} swaps t with another tensor, not {expected}")
