"""Elements of tensors whose bytes lie in unusual places, and of aliases that were given others."""

#: spread_tensor [slotcore]: elements apart from each other, and from the start of the storage
def spread_tensor(dtype):
    return T.ones(40, dtype=dtype).as_strided((2, 3), (7, 2), 3)

#: tensors_in_odd_places [slotcore]: each makes 2 by 3 elements of type d that lie in another place
def over_unaligned_bytes(dtype):
    return T.frombuffer(bytearray(50), dtype=dtype, offset=1, count=6).view((2, 3))
def on_slice_of_storage(dtype):
    """Elements in the order of columns, on a slice of a storage that is not aligned."""
    return T.zeros(0, dtype=dtype).set_(T.UntypedStorage(99)[3:], 1, (2, 3), (1, 2))
def with_data_of_another(dtype):
    """The tensor was of another type and had the bit of a negated view."""
    tensor = T.zeros(1, dtype=T.float64)._neg_view()
    tensor.data = spread_tensor(dtype)
    return tensor
def swapped_from_another(dtype):
    one, other = TensorSub(5), spread_tensor(dtype)
    T.utils.swap_tensors(one, other)
    return one
def tensors_in_odd_places():
    return expressions_of("d", """
        T.ones(3, 2, dtype=d).t()
        T.ones(0, dtype=d).resize_((2, 3))
        T.ones(9, dtype=d)[3:].view((2, 3))
        T.ones(2, 4, 3, dtype=d).select(1, 2)
        T.ones(2, 2, 3, dtype=d)[1].as_subclass(TensorSub)
        T.nn.Parameter(spread_tensor(d), False)
        T.nn.Parameter(spread_tensor(d), False).detach()
        spread_tensor(d)
        over_unaligned_bytes(d)
        on_slice_of_storage(d)
        with_data_of_another(d)
        swapped_from_another(d)""")

#: numbers_and_views [slotcore]: numbers of three types, each with its views that have bits
def numbers_and_views():
    views = expressions_of("x", """
        x
        x._neg_view()
        x.conj()
        x._neg_view().conj()""")
    numbers = [[0, 1, 2], [3, 7, 5]]
    return [(T.tensor(numbers, dtype=T.uint8), views[:2]),
            (T.tensor(numbers, dtype=T.float32), views[:2]),
            (T.tensor(numbers, dtype=T.complex64) * (1 - 2j), views)]

#: pairs_of_odd_reads [slotcore]: a tensor in any place, with any bits, reads like its copy
import itertools
def reads_of_numbers():
    return expressions_of("t", """
        t.tolist()
        T.tensor(t)
        t.clone()
        t.sum()
        t + 1
        t == t
        t != 1
        t * t
        t + t[0]
        t.nonzero()
        t[1][2].item()
        bool(t[0][0])
        t[1][1].__complex__()
        t[1][0] * t[0]
        t.expand(2, 2, 3)
        t.t()
        t[::2]
        t.narrow(1, 1, 2)
        T.tensor([t[0][0], t[1][2]])
        t.resolve_conj()
        t.resolve_neg()
        t.detach()
        t.data
        class_raised(int, t[1][2])
        T.ones((2, 3), dtype=t.dtype).add_(t)
        T.ones((), dtype=t.dtype).fill_(t[1][2])
        T.zeros((2, 3), dtype=T.uint8).copy_(t)
        T.zeros((2, 3), dtype=T.float32).copy_(t)
        T.zeros((2, 3), dtype=T.complex64).copy_(t)""")
def printed_answer(read, tensor):
    """The answer as text, which differs also for 1 and 1.0."""
    answer = read(tensor)
    return repr(answer.tolist() if isinstance(answer, T.Tensor) else answer)
def pairs_of_odd_reads():
    makes, reads = tensors_in_odd_places(), reads_of_numbers()
    for numbers, views in numbers_and_views():
        expected = [printed_answer(read, numbers) for read in reads]
        for make, view in itertools.product(makes, views):
            tensor = view(make(numbers.dtype)).copy_(numbers)
            for read, answer in zip(reads, expected):
                found = printed_answer(read, tensor)
                assert found == answer, (
                    f"P9: {read.__name__} gives {found}, not {answer}, for t = {view.__name__}, "
                    f"x = {make.__name__}, d = {numbers.dtype}")

#: pairs_of_odd_writes [slotcore]: a write to a tensor in any place writes its bytes alone
import itertools
def writes_in_odd_places():
    return expressions_of("t", """
        t.add_(1)
        t.mul_(3)
        t.fill_(2)
        t.zero_()
        t.add_(t)
        t.mul_(t[0].clone())
        t.relu_()
        t.copy_(t.clone())
        t.copy_(T.tensor([5, 6.5, 7j]))
        t.__iadd__(True)
        t.copy_(4)
        t.fill_(T.tensor(9))
        t.fill_(1e300)
        t.mul_(1j)
        t.__setitem__(0, 6)
        t.__setitem__(slice(1, 2), t[:1])
        t.__setitem__(1, t[0][1])
        t.__setitem__(..., 1e300)
        t.__setitem__(0, T.ones(2))
        t.__setitem__(1, t[0].clone())""")
def outcome_of_write(write, tensor):
    """The class of its error if there is one, the numbers that it leaves, and what it adds to
    the version."""
    version = tensor._version
    error = class_raised(write, tensor)
    return error, tensor.tolist(), tensor._version - version
def written_copies(writes, numbers):
    """Each write, with its outcome for a copy of NUMBERS and a tensor of the numbers it leaves."""
    rows = []
    for write in writes:
        outcome = outcome_of_write(write, numbers.clone())
        rows.append((write, outcome, T.tensor(outcome[1])))
    return rows
def check_odd_writes(make, view, numbers, rows):
    """Of two equal tensors one is written, and the other gets the right numbers by copy_(), so
    that their storages have the same bytes, if the write leaves those outside of the tensor."""
    tensor, twin = view(make(numbers.dtype)), view(make(numbers.dtype))
    for write, expected, left in rows:
        where = (f"{write.__name__} for t = {view.__name__}, x = {make.__name__}, "
                 f"d = {numbers.dtype}")
        found = outcome_of_write(write, tensor.copy_(numbers))
        assert found == expected, (
            f"P9: the error, the numbers and the change of version are {found}, not {expected}, "
            f"after {where}")
        found, right = bytes(tensor.untyped_storage()), bytes(twin.copy_(left).untyped_storage())
        assert found == right, f"P9: the storage has the bytes {found}, not {right}, after {where}"
def pairs_of_odd_writes():
    makes, writes = tensors_in_odd_places(), writes_in_odd_places()
    for numbers, views in numbers_and_views():
        rows = written_copies(writes, numbers)
        for make, view in itertools.product(makes, views):
            check_odd_writes(make, view, numbers, rows)

#: pairs_of_left_aliases, bits_of, set_data [slotcore]: set_(), .data and resize_() change one alias
import itertools
def aliases_of_tensors():
    """Each makes an alias of t; all but the first have the version of t."""
    return expressions_of("t", """
        t.data
        t[...]
        t.detach()
        t.conj()
        t._neg_view()
        t.conj()._neg_view()
        t.t()
        t[1:]
        t.as_subclass(TensorSub)
        T.Tensor._make_subclass(TensorSlotted, t)
        t.t()[1:]""")
def sources_of_numbers():
    """What an alias is set to, and the same numbers without the bits."""
    sources = expressions_of("n", """
        n
        n.conj()
        n._neg_view()
        n.t()
        n[1:]
        n.detach()
        n.as_subclass(TensorSub)""")
    stored = expressions_of("n", """
        n
        n
        n
        n.t()
        n[1:]
        n
        n""")
    return list(zip(sources, stored))
def set_data(alias, source):
    alias.data = source
def changes_of_aliases():
    """Each changes alias a, given a source s, and what numbers a has without its bits: s are the
    numbers of the source, n those in its storage, and a those in the storage of a from its first
    one on."""
    changes = expressions_of("a, s", """
        set_data(a, s)
        a.set_(s)
        a.set_(s.untyped_storage(), 1, (2, 2), (2, 1))
        a.set_()
        a.resize_(2, 3)
        a.resize_(1)""")
    results = expressions_of("a, s, n", """
        s
        s
        [n[1:3], n[3:5]]
        []
        [a[:3], a[3:6]]
        a[:1]""")
    return list(zip(changes, results))
def questions_to_alias():
    """What belongs to the alias itself, and stays."""
    return expressions_of("a", """
        a._base
        a.grad
        a.tag
        type(a)
        a._cdata
        a.is_leaf
        a.requires_grad""")
def questions_to_others():
    """What belongs to the tensor that the alias is made of, to a view of it, and to the source."""
    return expressions_of("x", """
        x.tolist()
        x.stride()
        x._use_count()
        x._base
        x.untyped_storage()
        x.grad""")
def is_same_answer(one, other):
    if isinstance(one, (T.Tensor, T.UntypedStorage)):
        return one is other
    return type(one) is type(other) and one == other
def numbers_with_bits(numbers, bits):
    """What a tensor whose bits are BITS gives if NUMBERS are in its storage."""
    if isinstance(numbers, list):
        return [numbers_with_bits(number, bits) for number in numbers]
    is_conjugated, is_negated = bits
    number = numbers.conjugate() if is_conjugated else numbers
    return -number if is_negated else number
def bits_of(tensor):
    return tensor.is_conj(), tensor.is_neg()
def asked_of_all(alias, others, questions):
    """The name of a tensor, a question and what the tensor answers, for all of these."""
    to_alias, to_others = questions
    answers = [("a", question, question(alias)) for question in to_alias]
    for name, other in others.items():
        answers += [(name, question, question(other)) for question in to_others]
    return answers
def numbers_left(result, numbers, stored, tensor, alias):
    """The numbers that ALIAS of TENSOR should give; there are zeros after those of TENSOR."""
    of_tensor = (sum(tensor.tolist(), []) + [0] * 9)[alias.storage_offset():]
    raw = result(of_tensor, stored(numbers).tolist(), sum(numbers.tolist(), []))
    return numbers_with_bits(raw, bits_of(alias))
def check_left_alias(make, has_version, source, stored, change, result, numbers, questions):
    where = f"{change.__name__} of a = {make.__name__}, s = {source.__name__}"
    tensor = T.tensor([[1, 2j], [3, 4]])
    alias, given = make(tensor), source(numbers)
    alias.tag, alias.grad = 7, alias.data
    others = {"t": tensor, "t[1:]": tensor[1:], "s": given}
    before, versions = asked_of_all(alias, others, questions), [tensor._version, given._version]
    sets_data, alias_version = change.__name__ == "set_data(a, s)", alias._version
    bits = bits_of(given if sets_data else alias)
    change(alias, given)
    now = asked_of_all(alias, others, questions)
    for (name, question, answer), (_, _, former) in zip(now, before):
        assert is_same_answer(answer, former), (
            f"P9: {question.__name__} of {name} gives {answer}, and gave {former}, after {where}")
    assert bits_of(alias) == bits, f"P9: is_conj(), is_neg() of a are not {bits} after {where}"
    adds = int(not sets_data)  # no version counts an assignment to .data
    assert alias._version == alias_version + adds, (
        f"P9: a has version {alias._version}, and had {alias_version}, after {where}")
    versions[0] += adds * has_version
    found = [tensor._version, given._version]
    assert found == versions, f"P9: t, s have versions {found}, not {versions}, after {where}"
    assert others["t[1:]"]._version == versions[0], f"P9: t[1:] has another version after {where}"
    found, right = alias.tolist(), numbers_left(result, numbers, stored, tensor, alias)
    assert found == right, f"P9: a has the numbers {found}, not {right}, after {where}"
def pairs_of_left_aliases():
    numbers = T.tensor([[1j, 2, 3], [4, 5, 6j]])
    makes, questions = aliases_of_tensors(), (questions_to_alias(), questions_to_others())
    states = itertools.product(makes, sources_of_numbers(), changes_of_aliases())
    for make, (source, stored), (change, result) in states:
        has_version = make is not makes[0]
        check_left_alias(make, has_version, source, stored, change, result, numbers, questions)
