"""What lines about kinds of fakes may call: the check, and more kinds that it asks.

They are kinds of modes, of traces, of tables and of symbols. The others are in meta_kinds.py.
"""

#: check_meta_kind [slotcore]: kinds of what a sentence says of several (M2, M3, M5, M6, M7, M8)
#> check_meta_kind: collects starts_thread in_hermetic checks
import itertools, threading
def on_new_thread(function):
    answers = []
    def run():
        try:
            answers.append(function())
        except refused as error:
            answers.append(type(error).__name__)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answers[0]
number_asks = {
    "item()": lambda fake: fake.item(), "int()": lambda fake: int(fake),
    "float()": lambda fake: float(fake), "bool()": lambda fake: bool(fake),
    "complex()": lambda fake: complex(fake), "tolist()": lambda fake: fake.tolist(),
}
def numbers_that_raise():
    env = ShapeEnv()
    made = FakeTensorMode(shape_env=env)
    fakes = [made.from_tensor(one, static_shapes=True) for one in (
        T.ones(2, dtype=T.int64), T.ones(0, dtype=T.int64), T.ones(1), T.ones(2))]
    before = T._meta.dumps_env(env)
    for fake in fakes:
        for name, asked in number_asks.items():
            error = raised_by(lambda: asked(fake))
            assert error is not None, f"M7: {name} gives a number of a fake"
            assert T._meta.dumps_env(env) == before, f"M14: {name} raises and leaves a symbol"
class GivesGradient(T.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, gradient):
        ctx.gradient = gradient
        return tensor.view(-1)
    @staticmethod
    def backward(ctx, gradient):
        return ctx.gradient, None
def give_from_hook(leaf, wrong):
    result = leaf + leaf
    result.register_hook(lambda gradient: wrong)
    result.sum().backward()
def give_from_post_hook(leaf, wrong):
    result = leaf + leaf
    result.grad_fn.register_hook(lambda inputs, outputs: (wrong, wrong))
    result.sum().backward()
world_gradients = {
    "a backward": lambda leaf, wrong: leaf.view(-1).backward(wrong),
    "a backward of the leaf": lambda leaf, wrong: leaf.backward(wrong),
    "a backward of a list": lambda leaf, wrong: T.autograd.backward([leaf + leaf], [wrong]),
    "grad()": lambda leaf, wrong: T.autograd.grad(leaf + leaf, leaf, wrong),
    "a Function": lambda leaf, wrong: GivesGradient.apply(leaf, wrong).sum().backward(),
    "a hook": give_from_hook, "a post-hook": give_from_post_hook,
}
def gradients_of_other_worlds():
    first, second = FakeTensorMode(), FakeTensorMode()
    worlds = {"real": lambda: T.ones(2), "meta": lambda: T.ones(2, device="meta"),
              "fake": lambda: first.from_tensor(T.ones(2)),
              "second fake": lambda: second.from_tensor(T.ones(2))}
    for one, other in itertools.permutations(worlds, 2):
        for name, give in world_gradients.items():
            leaf, wrong = worlds[one]().detach().requires_grad_(), worlds[other]()
            error = raised_by(lambda: give(leaf, wrong))
            assert error is not None and leaf.grad is None, (
                f"M7: {name} gives a {one} tensor the gradient of a {other} one")
def modes_beside():
    leaf, tensor = T.ones(1).requires_grad_(), T.ones(1)
    storage = tensor.untyped_storage()
    def state():
        fresh = T.ones(2)
        return {"modes": T._meta.mode_count(), "makes fakes": hasattr(fresh, "fake_mode"),
                "sum": fresh.add(1).tolist(), "grad mode": T.is_grad_enabled(),
                "records": (leaf * 2).requires_grad,
                "hermetic": tensor.untyped_storage() is not storage}
    def enter_and_end():
        T.set_grad_enabled(False)
        with entered:  # a thread that ends in a mode drops it after the join
            return T._meta.mode_count()
    expected = {"modes": 0, "makes fakes": False, "sum": [2, 2], "grad mode": True,
                "records": True, "hermetic": False}
    entered = FakeTensorMode()
    for name, scope in (("a fake mode", entered), ("no_grad", T.no_grad()),
                        ("hermetic mode", T.hermetic()), ("another device", T.on_device(1))):
        with scope:
            found = on_new_thread(state)
        assert found == expected, f"M14: within {name} another thread has the state {found}"
    count = on_new_thread(enter_and_end)
    left = T._meta.mode_count(), T.is_grad_enabled()
    assert (count, left) == (1, (0, True)), f"M14: a thread leaves its modes to another: {left}"
def traces_beside():
    def compute():
        return T.ones(2).add(3).tolist()
    def add_beside(tensor):
        found.append(on_new_thread(compute))
        return tensor.add(1)
    for kind in ("fake", "symbolic", "dynamic"):
        found = []
        expected = traced(lambda tensor: tensor.add(1), T.ones(2), kind).code
        code = traced(add_beside, T.ones(2), kind).code
        assert found == [[4, 4]], f"M11: within a trace another thread computes {found[0]}"
        assert code == expected, f"M11: a trace has what another thread computes"
def entries_after_sweep():
    collect_all()  # the count is that of the process
    converter, before = MetaConverter(), T._live_table_entries()
    describe, tensor = converter.describer.describe_tensor, T.ones(1)
    def entries():
        converter.sweep()
        return T._live_table_entries() - before
    describe(tensor)
    described_one = entries()
    for _ in range(7):
        describe(T.ones(1))
    found = entries()
    assert found == described_one, f"M3: after a sweep a describer has {found} entries for a tensor"
    fakes = [converter(T.ones(1)) for _ in range(7)]
    del fakes
    found = entries()
    assert found == described_one, f"M3: after a sweep a converter has {found} entries for a tensor"
    fake = converter(tensor)
    del tensor
    converter.sweep()  # the fake lives
    del fake
    found = entries()
    assert found == 0, f"M3: after a sweep there are {found} entries for the dead"
def table_growths():
    made, converter = FakeTensorMode(shape_env=ShapeEnv()), MetaConverter()
    of_mode, text = made.fake_tensor_converter, T._meta.dumps(described(T.ones(1)))
    yield "converter", converter, lambda: converter(T.ones(1))
    yield "mode", of_mode, lambda: made.from_tensor(T.ones(1), static_shapes=True)
    yield "describer", converter, lambda: converter.describer.describe_tensor(T.ones(1))
    yield "text", converter, lambda: T._meta.convert(converter, T._meta.loads(text))
def tables_of_the_dead():
    collect_all()  # the count is that of the process
    for name, converter, grow in table_growths():
        converter.sweep()
        before = T._live_table_entries()
        for _ in range(70):
            grow()
            largest = max(T._meta.memo_sizes(converter))
            assert largest <= 22, f"M3: a table of a {name} has {largest} entries of the dead"
        growth = T._live_table_entries() - before
        assert growth <= 6 * 22, f"M3: the tables of a {name} have {growth} entries of the dead"
def symbols_again():
    leaf = T.ones(5, 7).requires_grad_()
    leaf.grad = T.ones(7, 5).t()
    for kind in ("duck", "dynamic"):
        for tensor in (T.ones(5, 7), T.ones(5, 7)[1:], leaf, T.ones(3, 4).t(),
                       leaf.detach()[2:].expand(2, 3, 7)):
            env, found = ShapeEnv(), []
            made = FakeTensorMode(shape_env=env)
            for _ in range(2):
                fake = made.from_tensor(tensor, kind=kind)
                numbers = [[*one.shape, *one.stride(), one.storage_offset(),
                            storage_of(one).nbytes()]
                           for one in (fake, fake._base, fake.grad) if one is not None]
                found.append((str(numbers), env.inputs, env.guards))
                del fake, numbers
            assert found[0] == found[1], (
                f"M5: a tensor that is converted again as {kind} has other symbols")
def symbolic_sharing():
    for kind in ("duck", "dynamic"):
        for order in ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0)):
            base = T.ones(4, 2)
            family = [base, base[1:], base.detach(), T.empty(0).set_(base), base[1:].t()]
            made = FakeTensorMode(shape_env=ShapeEnv())
            fakes = {place: made.from_tensor(family[place], kind=kind) for place in order}
            assert len({storage_of(one)._cdata for one in fakes.values()}) == 1, (
                f"M2: {kind} fakes do not share a storage, in the order {order}")
            assert fakes[1]._base is fakes[0] and fakes[4]._base is fakes[0], (
                f"M2: {kind} fakes have another base, in the order {order}")
            before = [fakes[place]._version for place in range(5)]
            fakes[2].zero_()
            counted = [fakes[place]._version - before[place] for place in range(5)]
            assert counted == [1, 1, 1, 0, 1], (
                f"M2: {kind} fakes share versions as {counted}, in the order {order}")
def traced_functions():
    def held():
        return 1
    other = T.ones(2)
    def raises(tensor):
        raise KeyError(held())
    def enters(tensor):
        FakeTensorMode().__enter__()
        return tensor.add(held())
    return weakref.ref(held), {
        "returns": lambda tensor: tensor.add(held()), "raises": raises, "enters a mode": enters,
        "cannot be traced": lambda tensor: held() and tensor.add(other)}
def traces_keep_nothing():
    collect_all()  # the counts are those of the process
    before = T._live_modes(), T._live_impls()
    for kind in ("fake", "symbolic", "dynamic"):
        alive, calls_traced = traced_functions()
        for name, function in calls_traced.items():
            try:
                graph = traced(function, T.ones(2), kind)
                assert name == "returns", f"M11: a graph has what it cannot repeat: it {name}"
                graph(T.ones(2)), graph.check(T.ones(2)), T._meta.retrace(graph).code
            except (KeyError, RuntimeError):
                pass
        calls_traced = function = graph = None
        collect_all()
        assert alive() is None, f"P5: a {kind} trace keeps its function"
        left = T._live_modes() - before[0], T._live_impls() - before[1]
        assert left == (0, 0), f"M8: a {kind} trace keeps {left[0]} modes and {left[1]} impls"
def writes_beside():
    for kind in ("fake", "symbolic", "dynamic"):
        for name, then in (("returned", lambda a: a), ("an operand", lambda a: T.ones(2).add(a)),
                           ("written", lambda a: a.zero_()), ("forgotten", lambda a: T.ones(2)),
                           ("viewed", lambda a: a.view(-1)), ("a factor", lambda a: T.ones(2) * a)):
            def function(tensor):
                on_new_thread(lambda: tensor.add_(1))
                return then(tensor)
            error = raised_by(lambda: traced(function, T.ones(2), kind))
            assert isinstance(error, NotImplementedError), (
                f"M11: a {kind} trace of a tensor that another thread has written, and that is"
                f" {name}, gives {error!r}")
more_meta_kinds = {
    "writes_beside": writes_beside,
    "numbers_that_raise": numbers_that_raise, "modes_beside": modes_beside,
    "gradients_of_other_worlds": gradients_of_other_worlds, "traces_beside": traces_beside,
    "entries_after_sweep": entries_after_sweep, "tables_of_the_dead": tables_of_the_dead,
    "symbols_again": symbols_again, "symbolic_sharing": symbolic_sharing,
    "traces_keep_nothing": traces_keep_nothing,
}
def check_meta_kind(name):
    if in_hermetic() or T._meta.mode_count():
        return
    with T.enable_grad():
        {**meta_kinds, **more_meta_kinds}[name]()
