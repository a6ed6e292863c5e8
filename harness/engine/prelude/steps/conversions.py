"""What lines about conversions may call: numbers that change what a call works on.

CPython asks an object for its number by `__index__`, which is Python and may do anything. A call
that looked at its object before holds sizes and addresses that are no longer true.
"""

#: Acting: a number that does something when it is asked
class Acting:
    def __init__(self, number, act):
        self.number, self.acts = number, [act]
    def __index__(self):
        for act in self.acts:
            self.acts = []
            act()
        return self.number

#: storage_calls, storage_acts: calls with a number, and what the number does to a storage
def tensor_over(storage, *places):
    return T.empty(0, dtype=T.uint8).set_(storage, *places)
storage_calls = {
    "s[n]": lambda s, n: s[n], "s[n] = 1": lambda s, n: s.__setitem__(n, 1),
    "s[0] = n": lambda s, n: s.__setitem__(0, n), "s[n:]": lambda s, n: s[n:],
    "s[:n]": lambda s, n: s[:n], "s[::n]": lambda s, n: s[::n],
    "s[n:] = 1": lambda s, n: s.__setitem__(slice(n, None), 1),
    "s[:n] = 1": lambda s, n: s.__setitem__(slice(None, n), 1),
    "s[:] = n": lambda s, n: s.__setitem__(slice(None), n), "s.fill_(n)": lambda s, n: s.fill_(n),
    "s.resize_(n)": lambda s, n: s.resize_(n),
    "storage, n": lambda s, n: tensor_over(s, n, (2,), (1,)),
    "storage, 0, n": lambda s, n: tensor_over(s, 0, (n,), (1,)),
    "storage, 0, 2, n": lambda s, n: tensor_over(s, 0, (2,), (n,)),
    "UntypedStorage(n)": lambda s, n: T.UntypedStorage(n).nbytes(),
    "UntypedStorage([1, n])": lambda s, n: T.UntypedStorage([1, n]),
}
storage_acts = {
    "fills": lambda s: s.fill_(9), "empties": lambda s: s.resize_(0),
    "shrinks": lambda s: s.resize_(1), "grows": lambda s: s.resize_(64).fill_(7),
    "collects": lambda s: gc.collect(0), "moves": lambda s: s.resize_(5),
}

#: tensor_calls, tensor_acts: the same for a tensor
tensor_calls = {
    "t[n]": lambda t, n: t[n], "t[n:]": lambda t, n: t[n:], "t[:n]": lambda t, n: t[:n],
    "t[n] = 5": lambda t, n: t.__setitem__(n, 5),
    "t[n:] = 5": lambda t, n: t.__setitem__(slice(n, None), 5),
    "narrow(n, 0, 1)": lambda t, n: t.narrow(n, 0, 1),
    "narrow(0, n, 1)": lambda t, n: t.narrow(0, n, 1),
    "narrow(0, 0, n)": lambda t, n: t.narrow(0, 0, n),
    "select(0, n)": lambda t, n: t.select(0, n), "select(n, 0)": lambda t, n: t.select(n, 0),
    "view(n, -1)": lambda t, n: t.view(n, -1),
    "expand(n, -1, -1)": lambda t, n: t.expand(n, -1, -1),
    "as_strided(n)": lambda t, n: t.as_strided((n, 2), (2, 1)),
    "as_strided(2, n)": lambda t, n: t.as_strided((2, 2), (n, 1)),
    "as_strided(2, 1, n)": lambda t, n: t.as_strided((2, 2), (1, 1), n),
    "transpose(n, 1)": lambda t, n: t.transpose(n, 1), "size(n)": lambda t, n: t.size(n),
    "resize_(n, 1)": lambda t, n: t.resize_(n, 1), "ones(n)": lambda t, n: T.ones(n),
    "tensor([1, n])": lambda t, n: T.tensor([1, n]),
}
tensor_acts = {
    "fills": lambda t: t.fill_(9), "empties": lambda t: t.resize_(0),
    "shrinks": lambda t: t.resize_(1, 2), "grows": lambda t: t.resize_(9, 9).fill_(7),
    "drops bytes": lambda t: storage_of(t).resize_(0), "sets": lambda t: t.set_(T.ones(1, 2)),
    "takes data": lambda t: setattr(t, "data", T.ones(2, 2)),
    "turns": lambda t: setattr(t, "data", t.t()), "collects": lambda t: gc.collect(0),
    "requires": lambda t: t.requires_grad_(), "leaves": lambda t: t.detach_(),
    "moves": lambda t: t.set_(storage_of(t), 1, (2, 3), (3, 1)),
}

#: buffer_calls, buffer_acts: the same for the memory of a Python object
def from_buffer(buffer, **places):
    return T.frombuffer(buffer, dtype=T.uint8, **places)
buffer_calls = {
    "count=n": lambda b, n: from_buffer(b, count=n),
    "offset=n": lambda b, n: from_buffer(b, offset=n),
    "count=1, offset=n": lambda b, n: from_buffer(b, count=1, offset=n),
    "count=n, offset=1": lambda b, n: from_buffer(b, count=n, offset=1),
}
buffer_acts = {
    "fills": lambda b: b.__setitem__(0, 9), "empties": lambda b: b.clear(),
    "shrinks": lambda b: b.pop(), "grows": lambda b: b.extend(bytes(64)),
}

#: list_calls, list_acts: the same for a list that has the number
list_calls = {
    "UntypedStorage(l)": lambda items: T.UntypedStorage(items),
    "tensor(l)": lambda items: T.tensor(items), "ones(l)": lambda items: T.ones(items),
    "tensor([l])": lambda items: T.tensor([items, items]),
    "view(l)": lambda items: T.ones(16).view(items),
    "resize_(l)": lambda items: T.ones(16).resize_(items),
    "expand(l)": lambda items: T.ones(1).expand(items),
    "as_strided(l)": lambda items: T.ones(64).as_strided(items, [1] * 4),
    "as_strided(1, l)": lambda items: T.ones(64).as_strided([1] * 4, items),
    "empty(l)": lambda items: T.empty(items),
}
list_acts = {
    "fills": lambda items: items.__setitem__(3, 1), "empties": list.clear, "shrinks": list.pop,
    "grows": lambda items: items.extend([1] * 64),
}

#: looked_at, looked_after: what can be asked of the result of a call, and of its object
def looked_at(one):
    if isinstance(one, T.Tensor):
        try:
            numbers = one.tolist()
        except RuntimeError:
            numbers = "no numbers"
        return (one.size(), one.stride(), one.storage_offset(), one.requires_grad,
                storage_of(one).nbytes(), numbers)
    return list(one) if isinstance(one, (T.UntypedStorage, bytearray)) else one
def looked_after(call, one, number):
    try:
        result = looked_at(call(one, number))
    except (BufferError, *refused) as error:
        result = type(error).__name__
    return result, looked_at(one)

#: check_list: a call takes a list as it is before or after one of its items acts (P8)
#> check_list: checks
def check_list(call, name, number):
    def items(acts=()):
        one = Acting(2, lambda: list_acts[name](given))
        one.acts = one.acts if acts else []
        given = [1, 2, 1, 2]
        given[abs(number) % 4] = one
        return given
    def outcome(given):
        try:
            return looked_at(list_calls[call](given))
        except refused as error:
            return type(error).__name__
    given = items(acts=True)
    found, plain = outcome(given), outcome(items())
    allowed = (plain, outcome(given), *[error.__name__ for error in refused])
    assert found in allowed, f"P8: a list whose item {name} gives {found}, else {plain}"

#: check_number [slotcore]: a call looks at its object after it has asked its number (P8)
#> check_number: checks collects
families_of_calls = (
    (lambda: T.UntypedStorage([1, 2, 3, 4, 5]), storage_calls, storage_acts),
    (lambda: T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]), tensor_calls,
     tensor_acts),
    (lambda: bytearray(b"12345"), buffer_calls, buffer_acts))
def check_number(call, number):
    if call in list_calls:
        for name in list_acts:
            check_list(call, name, number)
        return
    made, calls, acts = next(family for family in families_of_calls if call in family[1])
    for name, act in acts.items():
        one, other = made(), made()
        acting = Acting(number, lambda: act(one))
        found = looked_after(calls[call], one, acting)
        if acting.acts:
            return  # the call refuses objects that are no numbers
        act(other)
        expected = looked_after(calls[call], other, number)
        assert found == expected, f"P8: a call whose number {name} gives {found}, else {expected}"
