"""Fakes: when a tensor gets a former fake, or former symbols, and what operations give fakes."""

#: tensor_with_gradient [slotcore]: a tensor, with what becomes its gradient
def tensor_with_gradient(tensor, gradient):
    tensor.grad = gradient
    return tensor

#: pairs_of_symbols_again, expressions_in, numbers_of_fake [slotcore]: symbols come again
import itertools
def tensors_to_fake_again():
    """Tensors that share sizes with their bases and gradients, or have sizes and strides of 0 and
    1, which get no symbols."""
    return expressions_of("", """
        T.ones(4, 6)
        T.ones(4, 6).t()
        T.ones(4, 6)[1:]
        T.nn.Parameter(T.ones(4, 4))
        tensor_with_gradient(T.ones(4, 6), T.ones(4, 6)).view(24)[3:]
        T.ones(5)[2]
        T.ones(0, 6)
        T.ones(1, 6).expand(4, 6)
        T.ones(4, 6)[::2].detach()
        T.ones(24)[3:]
        tensor_with_gradient(T.ones(4, 6), T.ones(6, 4).t())
        tensor_with_gradient(T.ones(2, 2), T.ones(6, 2)[:2])""")
def kept_of_fakes():
    """What a program keeps of a fake f that dies."""
    return expressions_of("f", """
        None
        f._base
        f.grad
        f.untyped_storage()
        f.detach()
        f.view(-1)""")
def events_between_fakes():
    """What happens before the next fake: numbers are the sizes and strides of the former one."""
    return expressions_of("mode, converter, tensor, kind, numbers", """
        None
        converter.sweep()
        T._meta.describe(converter.describer, tensor)
        converter(tensor)
        bool(numbers[0] > 2)
        mode.from_tensor(T.ones(9, 6), kind=kind)
        mode.from_tensor(tensor.detach())
        T._meta.convert(converter, T._meta.describe(converter.describer, tensor))
        int(numbers[-1])
        mode.shape_env.freeze()""")
def numbers_of_fake(fake):
    """All sizes, strides, offsets and bytes of FAKE, its base and its gradient."""
    if fake is None:
        return []
    own = [*fake.shape, *fake.stride(), fake.storage_offset(), fake.untyped_storage().nbytes()]
    return [*own, *numbers_of_fake(fake._base), *numbers_of_fake(fake.grad)]
def expressions_in(numbers):
    return [str(number + 0) for number in numbers]
def numbers_and_kept(mode, tensor, kind, keep):
    """The numbers of the fake of TENSOR, and what KEEP keeps of it; the fake dies."""
    fake, kept = mode.from_tensor(tensor, kind=kind), []
    numbers = numbers_of_fake(fake)
    class_raised(lambda: kept.append(keep(fake)))  # a view may be refused
    return numbers, kept
def check_symbols_again(make, keep, kind, events):
    env = T.fx.experimental.symbolic_shapes.ShapeEnv()
    mode, tensor = T._subclasses.FakeTensorMode(shape_env=env), make()
    numbers, kept = numbers_and_kept(mode, tensor, kind, keep)
    for event in events:
        class_raised(event, mode, mode.fake_tensor_converter, tensor, kind, numbers)
        text = T._meta.dumps_env(env)
        again = expressions_in(numbers_of_fake(mode.from_tensor(tensor, kind=kind)))
        where = (f"of {make.__name__}, a {kind} one of which {keep.__name__} lives, after"
                 f" {event.__name__}")
        expected = expressions_in(numbers)
        assert again == expected, f"M5: {again}, not {expected}, are the numbers of a fake {where}"
        assert T._meta.dumps_env(env) == text, f"M5: the environment is changed by a fake {where}"
def pairs_of_symbols_again():
    events, cases = events_between_fakes(), []
    for (i, make), (j, keep) in itertools.product(
            enumerate(tensors_to_fake_again()), enumerate(kept_of_fakes())):
        cases.append((make, keep, ("duck", "dynamic")[(i + j) % 2]))
    for case in cases[2::5]:
        check_symbols_again(*case, events)

#: pairs_of_tables_follow, ids_of_description [slotcore]: equal descriptions keep fakes
import itertools
def leaf_of_ones():
    return T.ones(4).requires_grad_()
def tensors_with_fakes():
    """Tensors to change; plain is a view of a leaf that was made while nothing was recorded."""
    return expressions_of("plain", """
        T.ones(4)
        tensor_with_gradient(T.ones(4), T.ones(4))
        tensor_with_gradient(leaf_of_ones(), T.ones(4)).view(2, 2)
        tensor_with_gradient(T.ones(4), T.ones(8)[::2])
        tensor_with_gradient(leaf_of_ones(), tensor_with_gradient(T.ones(4), T.ones(4)))
        T.nn.Parameter(T.ones(4))
        T.ones(6)[2:].detach()
        leaf_of_ones() * 2
        plain[...]
        T.ones(4, dtype=T.complex64).conj()
        tensor_with_gradient(T.ones(0), T.ones(0))""")
def changes_of_tensors():
    """What may change the description of t, and what looks as if it did."""
    return expressions_of("t, converters", """
        None
        t.zero_()
        t.data.zero_()
        t.requires_grad_()
        t.requires_grad_(False)
        t.detach_()
        t.grad.zero_()
        t.grad.requires_grad_()
        tensor_with_gradient(t, None)
        tensor_with_gradient(t, converters.known_tensor())
        converters.direct.sweep()
        t.untyped_storage().resize_(64)
        t.untyped_storage().fill_(1)
        t.set_(t.detach())
        t._base.zero_()
        tensor_with_gradient(t._base, None)
        t.resize_(2)
        t.resize_(t.size())
        tensor_with_gradient(t, T.ones(4))
        t.add(1)
        T.utils.swap_tensors(t, T.ones(4))
        (t * t).sum().backward()
        setattr(t, "data", T.ones(4))
        T._subclasses.meta_utils.MetaConverter()(t)""")
class ConvertersOfTensors:
    """A converter, and that of a mode."""
    def __init__(self):
        self.direct = T._subclasses.meta_utils.MetaConverter()
        self.mode, self.known = T._subclasses.FakeTensorMode(), None
    def fakes(self, tensor):
        return self.direct(tensor), self.mode.from_tensor(tensor)
    def known_tensor(self):
        """A tensor that has fakes already."""
        self.known = T.ones(4)
        self.fakes(self.known)
        return self.known
    def description(self, tensor):
        """The text of TENSOR, and the ids of it and of all that it leads to."""
        described = self.direct.describer.describe_tensor(tensor)
        return described.as_json(), ids_of_description(described)
def ids_of_description(described):
    return described and (described.id, described.storage_id, described.version_group,
                          ids_of_description(described.base), ids_of_description(described.grad))
def texts_of_fakes(fakes):
    return [T._subclasses.meta_utils.MetaTensorDescriber().describe_tensor(fake).as_json()
            for fake in fakes]
def check_tables_follow(make, plain, change, converters):
    tensor = make(plain)
    description, fakes = converters.description(tensor), converters.fakes(tensor)
    texts = texts_of_fakes(fakes)
    class_raised(change, tensor, converters)
    is_same, where = converters.description(tensor) == description, (
        f"after {change.__name__} of t = {make.__name__}")
    for name, former, fake in zip(("a converter", "a mode"), fakes, converters.fakes(tensor)):
        assert (fake is former) is is_same, (
            f"M9: the fake of {name} is {'the former' if fake is former else 'another'} one, and"
            f" the description is {'the former' if is_same else 'another'} one, {where}")
    assert texts_of_fakes(fakes) == texts, f"M9: a former fake is changed {where}"
def pairs_of_tables_follow():
    converters = ConvertersOfTensors()
    with T.no_grad():
        plain = leaf_of_ones().view(2, 2)
    for make, change in itertools.product(tensors_with_fakes(), changes_of_tensors()):
        check_tables_follow(make, plain, change, converters)

#: pairs_of_warm_cache [slotcore]: what another fake has left in the cache is what a tensor gets
import itertools
def view_of_leaf_without_history(leaf):
    with T.no_grad():
        return leaf.view(2, 3)
def tensors_with_equal_fakes():
    """Tensors of few sizes, which differ in what a cache of results may forget: g has all its
    elements, w is a view of it, a a leaf, i has integers, and c complex numbers."""
    g, c, i = T.ones(6), T.ones(2, 3, dtype=T.complex64), T.ones(6, dtype=T.int64)
    a, w, k = T.ones(6).requires_grad_(), g[1:], T.nn.Parameter(T.ones(6))
    return [(make.__name__, make(a, c, g, i, k, w)) for make in expressions_of(
        "a, c, g, i, k, w", """
        view_of_leaf_without_history(a)
        g
        g.view(2, 3)
        g.view(2, 3).t()
        g[:1].expand(4)
        w.detach()
        w
        i
        i[::2]
        c
        c.conj()
        c._neg_view()
        c.conj().detach()
        (a * 2)[1:]
        k
        g.view(3, 2).detach()
        g[:0]
        T.ones(6, device="meta")
        T.ones(6).set_(T.UntypedStorage(40), 1, (2, 3))""")]
def operations_of_one():
    return expressions_of("t", """
        t + 1
        t * True
        t * 2j
        t == 1
        t.sum()
        t.relu()
        t.detach()
        t.data
        t[...]
        t.view(-1)
        t.view(6)
        t[1:]
        t.t()
        t.expand(2, -1)
        t.view(T.uint8)
        t.as_strided((2,), (1,), 1)
        t._neg_view()
        T.view_as_real(t)
        t.resolve_conj()""")
def operations_of_two():
    return expressions_of("t, u", """
        t + u
        t * u
        t[...].add(u)
        u.view_as(t)
        t[:1] + u[0]""")
def result_or_none(operation, *given):
    """What OPERATION gives, or None for an error that says that it is not for such tensors."""
    try:
        return operation(*given)
    except (RuntimeError, IndexError):
        return None
def text_of_operation(given, result):
    """The text of the tensors GIVEN and RESULT together, which tells what they share."""
    if result is None:
        return None
    describer = T._subclasses.meta_utils.MetaTensorDescriber()
    return T._meta.describe(describer, *given, result).as_json()
def pairs_of_warm_cache():
    named, mode = tensors_with_equal_fakes(), T._subclasses.FakeTensorMode()
    tensors = [(name, tensor, mode.from_tensor(tensor)) for name, tensor in named]
    pairs = [(operation, one) for operation in operations_of_one()
             for one in itertools.product(tensors)]
    pairs += [(operation, two) for operation in operations_of_two()
              for two in itertools.product([tensors[place] for place in (2, 3, 5, 6, 10)],
                                           repeat=2)]
    for operation, operands in reversed(pairs):
        with mode:
            result_or_none(operation, *(fake for _, _, fake in operands))
    hits = mode.cache_info()[0]
    assert hits > 99, f"M15: the cache of a mode has served only {hits} of {len(pairs)} operations"
    for operation, operands in pairs:
        names, real, fakes = zip(*operands)
        with mode:
            result = result_or_none(operation, *fakes)
        expected = text_of_operation(real, result_or_none(operation, *real))
        found = text_of_operation(fakes, result)
        assert found == expected, (
            f"M15: {operation.__name__} of fakes of {' and '.join(names)} leads to the text"
            f" {found}, and of the tensors to {expected}")
