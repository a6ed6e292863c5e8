"""Fakes in each order: what is kept, dropped, changed or refused meanwhile leaves what is right."""

#: pairs_of_families, text_with_numbers [slotcore]: fakes share what their tensors share
import itertools
def leaf_with_turned_gradient():
    leaf = T.ones(3, 4).requires_grad_()
    leaf.grad = T.ones(4, 3).t()
    return leaf
def members_of_family():
    """What shares a storage, a version, a base or a gradient with the leaf x."""
    return expressions_of("x", """
        x
        x[1:]
        x.view(-1)
        x.detach()
        x.data
        T.empty(0).set_(x.detach())
        x.grad
        x.grad._base[1:]
        x.detach()[2:].t()""")
def changes_in_family():
    """What may happen to a member t, and what undoes it, or is the next change."""
    return expression_rows("t", """
        None -> None
        t.detach().zero_() -> t.detach().zero_()
        t.data.zero_() -> t.data.zero_()
        t.untyped_storage().resize_(999) -> t.untyped_storage().resize_(48)
        t.requires_grad_() -> t.requires_grad_(False)
        t.requires_grad_(False) -> t.requires_grad_()
        tensor_with_gradient(t, T.ones(*t.size())) -> tensor_with_gradient(t, None)
        t.set_(t.untyped_storage(), 1, (2,)) -> t.set_(t.untyped_storage(), 0, (3, 4))
        T.utils.swap_tensors(t, T.ones(2)) -> t.resize_(5)
        setattr(t, "data", T.ones(3, 4)) -> t.detach().zero_()""")
class ConvertedFamily:
    """Members, and a converter, which is that of a mode but for the kind `direct`."""
    def __init__(self, makes, kind):
        leaf, self.kind = leaf_with_turned_gradient(), kind
        self.tensors = [make(leaf) for make in makes]
        env = T.fx.experimental.symbolic_shapes.ShapeEnv() if kind[0] == "d" else None
        self.mode = T._subclasses.FakeTensorMode(shape_env=kind != "direct" and env or None)
        self.converter = (T._subclasses.meta_utils.MetaConverter() if kind == "direct"
                          else self.mode.fake_tensor_converter)
    def fake(self, place):
        if self.kind == "direct":
            return self.converter(self.tensors[place])
        named = {"kind": self.kind} if self.kind != "mode" else {}
        return self.mode.from_tensor(self.tensors[place], **named)
    def description(self, place):
        described = self.converter.describer.describe_tensor(self.tensors[place])
        return described.as_json(), ids_of_description(described)
def text_with_numbers(*tensors):
    """The text of TENSORS, or of fakes of them, without devices and symbols."""
    meta = T._subclasses.meta_utils
    description = T._meta.describe(meta.MetaTensorDescriber(), *tensors)
    plain = T._meta.convert(meta.MetaConverter(), description)
    return T._meta.describe(meta.MetaTensorDescriber(), *plain).as_json()
def check_family(family, changed, rows, lives, where):
    """Two changes of one member, after each of which each member is asked for its fake again."""
    count = len(family.tensors)
    fakes = {place: family.fake(place) for place in range(count)}
    former = {place: fakes.pop(place) for place in [*fakes] if not lives(place)} and dict(fakes)
    texts = {place: text_with_numbers(fake) for place, fake in former.items()}
    for turn, row in enumerate(rows):
        before = [family.description(place) for place in range(count)]
        class_raised(row, family.tensors[changed])
        for place in range(turn * 2, count + turn * 2):
            place %= count
            is_same, fake = family.description(place) == before[place], family.fake(place)
            if place in fakes:
                assert (fake is fakes[place]) is is_same, (
                    f"M9: the description of member {place} is"
                    f" {'the former' if is_same else 'another'} one, and not its fake, after"
                    f" {row.__name__} {where}")
            fakes[place] = fake
    for place, text in texts.items():
        assert text_with_numbers(former[place]) == text, f"M9: fake {place} is changed {where}"
    found, expected = [text_with_numbers(*(table[place] for place in range(count)))
                       for table in (fakes, family.tensors)]
    assert found == expected, f"M2: the fakes {where} have the text {found}, not {expected}"
def pairs_of_families():
    makes, changes = members_of_family(), changes_in_family()
    lives = lambda place: place % 3 == 0, lambda place: place % 4 == 1, lambda place: place > 4
    cases = [*itertools.product(enumerate(changes), range(len(makes)))]
    for (i, row), j in cases[::2]:
        kind = ("direct", "mode", "direct", "mode", "dynamic", "direct", "mode", "duck")[
            (5 * i + j // 2) % 8]
        where = (f"of a {kind} converter, where t = {makes[j].__name__}, {row[0].__name__}, and"
                 f" then {row[1].__name__}")
        check_family(ConvertedFamily(makes, kind), j, row, lives[(i + j) % 3], where)

#: pairs_of_failed_steps [slotcore]: a call that fails leaves a mode in which all goes on as before
import itertools
class WorldToFail:
    """A mode with symbols, whose environment has each name that a next gradient would get."""
    def __init__(self):
        self.env = T.fx.experimental.symbolic_shapes.ShapeEnv()
        self.mode = T._subclasses.FakeTensorMode(shape_env=self.env)
        self.tensor, self.kept = T.ones(4, 6), []
        self.fake = self.mode.from_tensor(self.tensor, kind="dynamic")
        self.integers = self.mode.from_tensor(T.ones(1, dtype=T.int64), static_shapes=True)
        self.empty = self.mode.from_tensor(T.ones(5), static_shapes=True)
        self.empty.untyped_storage().resize_(0)
        for number in range(26, 46):
            self.env.create_symint(0, f"t{number}.grad.untyped_storage().nbytes()", "static")
        self.rows = self.mode.from_tensor(T.ones(2), static_shapes=True).nonzero()
        self.number, self.size = self.env.create_unbacked_symint(), self.fake.size(0)
    def inside(self, function):
        with self.mode:
            self.kept.append(function())
    def next_fake(self, tensor, **named):
        self.kept.append(self.mode.from_tensor(tensor, **named))
    def state(self):
        """All that may tell that something was refused."""
        converter = self.mode.fake_tensor_converter
        converter.sweep()
        return {"environment": T._meta.dumps_env(self.env).splitlines(),
                "cache": self.mode.cache_info()[2],
                "tables": T._meta.memo_sizes(converter), "modes": T._meta.mode_count(),
                "fake": text_with_numbers(self.fake, self.integers),
                "kept": [expressions_in(numbers_of_fake(one)) if isinstance(one, T.Tensor)
                         else str(one) for one in self.kept]}
def raise_inside(world):
    with world.mode:
        world.nothing
def trace_that_fails(world):
    T.fx.experimental.proxy_tensor.make_fx(
        lambda tensor: (tensor.add(1), tensor[99]), tracing_mode="dynamic")(world.tensor)
def steps_of_world():
    """What may go before, and after, a step that fails in the world w."""
    return expressions_of("w", """
        None
        w.next_fake(T.ones(5, 3), kind="dynamic")
        w.next_fake(T.ones(4, 4))
        w.next_fake(w.tensor[1:], kind="dynamic")
        w.inside(lambda: w.fake + 1)
        w.kept.append(w.fake.nonzero().size(0))
        w.kept.append(w.integers.item())
        (T._check(w.number >= 2), w.kept.append(w.number > 1))
        w.kept.append(bool(w.size > 2))
        w.kept.append(w.env.create_symint(4, "next"))
        w.kept.append(w.env.create_unbacked_symint())
        w.env.freeze()""")
def steps_that_fail():
    """Steps that decide nothing before they fail."""
    return expressions_of("w", """
        w.mode.from_tensor(tensor_with_gradient(T.ones(7), T.ones(7)), kind="dynamic")
        w.mode.from_tensor(tensor_with_gradient(T.ones(2, 7), T.ones(7, 2).t()))
        w.mode.from_tensor(T.ones(3), kind="other")
        w.env.create_symint(-1, "negative")
        w.env.create_symint(3, "t0.size(0)")
        w.env.create_symint(3, "two lines" + chr(10))
        w.inside(lambda: w.fake + w.tensor)
        w.fake.narrow(0, 0, WorldToFail().size)
        w.fake + WorldToFail().fake
        bool(w.number > 33)
        T._check(w.number != w.number)
        w.size // w.number * (w.number - 7 > 2)
        w.size * (1 << 62) * (1 << 62)
        w.empty.item()
        w.empty.tolist()
        w.empty.nonzero()
        w.fake.view(w.number, -1)
        [*range(9)][w.number]
        T._meta.describe(w.mode.fake_tensor_converter.describer, T.ones(2), 3)
        T._meta.describe(w.mode.fake_tensor_converter.describer, T.ones(2), w.rows)
        T._meta.convert(w.mode.fake_tensor_converter, T._meta.loads("{}"))
        w.mode.__exit__(None, None, None)
        w.fake.copy_(w.tensor)
        w.fake.backward()
        w.fake.add_(1j)
        raise_inside(w)
        trace_that_fails(w)""")
def state_after_steps(*steps):
    """The state of a new world after STEPS, and the errors of those."""
    world = WorldToFail()
    raised = [class_raised(step, world) for step in steps]
    return world.state(), raised
def check_failed_steps(first, fails, last):
    expected, errors = state_after_steps(first, last)
    state, raised = state_after_steps(first, *fails, last)
    names = [step.__name__ for step in fails]
    where = f"{first.__name__}, failing steps and {last.__name__}"
    returned = [name for name, error in zip(names, raised[1:]) if error is None]
    assert not returned, f"P8: with {where}, {returned} return"
    if (state, raised[::len(raised) - 1]) == (expected, errors):
        return
    alone = {step.__name__: state_after_steps(first, step, last)[0] for step in fails}
    names = [name for name, found in alone.items() if found != expected] or names
    changed = {name: (found, expected[name]) for name, found in state.items()
               if found != expected[name]}
    raise AssertionError(
        f"M14: {where} raise {raised[0]} and {raised[-1]}, not {errors}, and lead to other than"
        f" without what fails: {changed}; the failing steps are {names}")
def pairs_of_failed_steps():
    steps, fails = steps_of_world(), steps_that_fail()
    for i, j in itertools.product(range(len(steps)), range(1, len(steps))):
        if (i + j) % 3 == 0:
            check_failed_steps(steps[i], fails[i:] + fails[:i], steps[j])

#: pairs_of_cold_cache [slotcore]: a mode with symbols gives what it gives after cache_clear()
import itertools
class CachingWorld:
    """Fakes f and g, and a number u from data; a cold world forgets its results at each step."""
    def __init__(self, kind, is_cold):
        self.env = T.fx.experimental.symbolic_shapes.ShapeEnv()
        self.mode, self.is_cold = T._subclasses.FakeTensorMode(shape_env=self.env), is_cold
        self.tensors = T.ones(4, 6), T.ones(6, 4).t(), T.ones(4, 6)
        self.f, self.g = [self.mode.from_tensor(one, kind=kind) for one in self.tensors[:2]]
        self.u, self.kind, self.kept = self.env.create_unbacked_symint(), kind, []
        T._check(self.u >= 2)
    def run(self, function):
        if self.is_cold:
            self.mode.cache_clear()
        with self.mode:
            return class_raised(lambda: self.kept.append(function(self.f, self.g, self.u, self)))
def operations_to_cache():
    return expressions_of("f, g, u, w", """
        f + g
        f.view(-1)
        f.view(f.size(1), -1)
        f.narrow(0, 0, f.size(0) // 2)
        f.narrow(0, 0, g.size(0) - 1)
        f.expand(2, *f.size())
        f.expand(u, *f.size()).size(0) * 2
        g.clone()
        f[1:]
        f[-1]
        f.select(1, f.size(0) - 1)
        f.sum()
        f == g
        f.as_strided((2,), (1,))
        T.ones(f.size(0), 2)
        f.add_(g)
        f[:1].copy_(g[1:2])
        f.t().view(T.uint8)
        f.detach()
        f.data""")
def events_of_caches():
    """What may happen between two runs of an operation."""
    return expressions_of("f, g, u, w", """
        None
        bool(f.size(0) == 4)
        bool(f.size(0) == g.size(0))
        bool(f.size(1) > 5)
        T._check(u == f.size(0))
        T._check(u == 3)
        w.env.freeze()
        f.untyped_storage().resize_(999)
        f.untyped_storage().resize_(0)
        f.add_(1)
        f.requires_grad_()
        f.set_(g)
        f.resize_(4, 6)
        T.utils.swap_tensors(f, g)
        setattr(w, "f", w.mode.from_tensor(w.tensors[2], kind=w.kind))
        setattr(w, "f", w.mode.from_tensor(w.tensors[0], static_shapes=True))
        setattr(w, "f", f.detach())
        setattr(w, "f", f._neg_view())
        setattr(w, "f", f + 1)
        setattr(w, "g", f)""")
def outcome_with_cache(kind, is_cold, operations, event):
    world = CachingWorld(kind, is_cold)
    raised = [world.run(function) for function in (*operations, event, *operations)]
    fakes = [one for one in world.kept if isinstance(one, T.Tensor)]
    numbers = [str(one) for one in world.kept if type(one) in (int, bool, T.SymInt)]
    text = text_of_tensors(world.f, world.g, *fakes)
    return [raised, numbers, text, T._meta.dumps_env(world.env)], world.mode.cache_info()[0]
def pairs_of_cold_cache():
    operations, hits = operations_to_cache(), 0
    for i, event in enumerate(events_of_caches()):
        first, kind = i * 7 % len(operations), ("dynamic", "duck")[i % 2]
        order = (operations[first:] + operations[:first])[:15]
        expected, none = outcome_with_cache(kind, True, order, event)
        found, served = outcome_with_cache(kind, False, order, event)
        hits += served
        assert not none, f"M15: a cache that is cleared has served {none} operations"
        for name, one, right in zip(("errors", "numbers", "text", "environment"), found, expected):
            assert one == right, (
                f"M15: operations from {order[0].__name__} on, {event.__name__}, and the same"
                f" operations, of {kind} fakes, have the {name} {one}, and without a cache {right}")
    assert hits > 99, f"M15: the caches have served only {hits} operations"
