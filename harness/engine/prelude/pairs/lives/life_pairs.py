"""What a program drops: nothing keeps it alive, and its finalizer sees what replaced it."""

#: pairs_of_what_dies [slotcore]: a tensor, or a fake, that was asked and is dropped dies at once
import itertools
class ToolsOfMeta:
    """What describes, converts and fakes tensors, and may keep none of them."""
    def __init__(self):
        meta = T._subclasses.meta_utils
        self.describer, self.converter = meta.MetaTensorDescriber(), meta.MetaConverter()
        self.mode = T._subclasses.FakeTensorMode()
        self.symbolic_mode = T._subclasses.FakeTensorMode(
            shape_env=T.fx.experimental.symbolic_shapes.ShapeEnv())
    def description(self, tensor):
        return T._meta.describe(self.describer, tensor, copy_data=True)
    def fake_from_text(self, tensor):
        text = self.description(tensor).as_json()
        return T._meta.convert(self.converter, T._meta.loads(text))[0]
    def symbolic_fake(self, tensor):
        return self.symbolic_mode.from_tensor(tensor, kind="dynamic")
    def results_in_mode(self, fake):
        """What operations give, which the cache of a mode may keep."""
        if getattr(fake, "fake_mode", None) is self.mode:
            with self.mode:
                return results_of_operations(fake)
        return results_of_operations(fake)
def results_of_operations(tensor):
    tensor.view(-1), tensor[...], tensor.mul(tensor)
    return tensor.add(1).detach(), tensor.detach(), tensor.data
def graph_of_tensor(tensor, mode="dynamic"):
    trace = T.fx.experimental.proxy_tensor.make_fx
    return trace(lambda x: (x.add(1), x), tracing_mode=mode)(tensor)
def checked_and_retraced(tensor):
    return (graph_of_tensor(tensor, "fake").check(tensor),
            T._meta.retrace(graph_of_tensor(tensor, "symbolic")))
def leaf_that_has_gradient():
    leaf = T.ones(2).requires_grad_()
    leaf.grad = T.ones(2)
    return leaf
def tensor_of_tagged_class():
    tensor = TensorSub(2, 3)
    tensor.tag = 7
    return tensor
def tensors_that_die():
    return expressions_of("", """
        T.ones(2, 3)
        T.nn.Parameter(T.ones(2))
        leaf_that_has_gradient()
        T.ones(2, 3).view(-1)
        tensor_of_tagged_class()
        T.ones(0)
        T.ones(2).requires_grad_() * 2""")
def makes_of_fakes():
    return expressions_of("x, tools", """
        tools.converter(x)
        tools.mode.from_tensor(x)
        tools.symbolic_fake(x)
        tools.fake_from_text(x)""")
def uses_of_tensors():
    return expressions_of("x, tools", """
        tools.description(x)
        tools.description(x).base
        tools.fake_from_text(x)
        tools.converter(x)
        T._subclasses.meta_utils.MetaConverter()(x)
        tools.mode.from_tensor(x)
        tools.symbolic_fake(x)
        T._meta.convert(tools.converter, tools.description(x))
        tools.symbolic_mode.from_tensor(x, static_shapes=True)
        graph_of_tensor(x)
        graph_of_tensor(x)(x)[0]
        checked_and_retraced(x)""")
def uses_of_fakes():
    return expressions_of("x, tools", """
        T._subclasses.meta_utils.MetaTensorDescriber().describe_tensor(x).shape_env
        tools.description(x)
        x.size()
        x.stride()
        x.untyped_storage().nbytes()
        x.untyped_storage()
        tools.results_in_mode(x)
        getattr(x, "fake_mode", None)
        x.numel()""")
def used_and_dropped(make, uses, tools, kept):
    """A weak reference to what MAKE makes; KEPT gets the results of USES."""
    one = make()
    kept.append([use(one, tools) for use in uses])
    return weakref.ref(one)
def check_dies(make, uses, tools, kept, name):
    """What MAKE makes dies after all uses; else the message has those that each keep it alive."""
    if used_and_dropped(make, uses, tools, kept)() is not None:
        each = [use.__name__ for use in uses
                 if used_and_dropped(make, [use], tools, kept)() is not None]
        raise AssertionError(
            f"M8: x = {name} lives on after {' and '.join(each) or 'all uses together'}")
def pairs_of_what_dies():
    # The results of all uses live until the end, and so do the tables.
    tools, kept, makes = ToolsOfMeta(), [], tensors_that_die()
    uses = uses_of_tensors()
    for make in makes:
        check_dies(make, uses, tools, kept, make.__name__)
    uses = uses_of_fakes()
    for make, fake in itertools.product(makes, makes_of_fakes()):
        check_dies(lambda: fake(make(), tools), uses, tools, kept,
                   fake.__name__.replace("(x)", f"({make.__name__})"))
    kept.clear()
    entered = T._meta.mode_count()
    assert entered == 0, f"M8: this thread is still in {entered} modes"

#: pairs_of_replaced_values [slotcore]: the finalizer of a former value sees its successor
class FormerValue:
    """Calls `look` when it ends."""
    def __del__(self):
        self.look()
def objects_with_attributes():
    return expressions_of("", """
        fn().apply(T.ones(2).requires_grad_()).grad_fn
        (T.ones(2).requires_grad_() * 2).grad_fn
        T.ones(2).requires_grad_()
        T.nn.Parameter(T.ones(2))
        TensorSub(2)
        T.UntypedStorage(2)
        Sub(2)
        FakeTensorMode()
        MetaConverter()
        T.autograd.graph.saved_tensors_hooks(abs, abs)""")
def values_seen(one, name, replace):
    """What NAME of ONE has while REPLACE takes the place of a value; None if it can have none."""
    seen, former = [], FormerValue()
    former.look = lambda: None
    if class_raised(setattr, one, name, former) is not None:
        return None
    former.look = lambda: seen.append(getattr(one, name, None))
    del former
    return None if class_raised(replace) is not None else seen
def pairs_of_replaced_values():
    asked = set()
    for make in objects_with_attributes():
        for name in (*dir(make()), "attribute"):
            one, other = make(), object()
            replacements = {"an object": lambda: setattr(one, name, other),
                            "None": lambda: setattr(one, name, None),
                            "deletion": lambda: delattr(one, name)}
            for kind, replace in replacements.items():
                seen = values_seen(one, name, replace)
                if seen is None:
                    continue
                asked.add(name)
                where = f"the value of {name} of {make.__name__} that {kind} replaces"
                assert len(seen) == 1, f"A1b: {where} ends {len(seen)} times"
                right = [other] if kind == "an object" else [getattr(one, name, None)]
                assert seen == right, f"A1b: the finalizer of {where} sees {seen}, not {right}"
    assert {"needs_input_grad", "attribute"} <= asked, f"A1b: only {asked} can have a value"
