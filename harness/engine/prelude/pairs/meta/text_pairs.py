"""Descriptions: a text in any form is the same one, and what happens later changes no answer."""

#: pairs_of_text_forms, fakes_of_text, symbolic_twins, with_own_gradient [slotcore]: forms of a text
import itertools, json
def with_own_gradient(tensor):
    """A leaf like TENSOR whose gradient is a view of something."""
    leaf = tensor.detach().requires_grad_()
    leaf.grad = T.ones(*tensor.size()[::-1]).t()
    return leaf
def symbolic_twins(*tensors):
    """Fakes whose sizes are symbols of one environment."""
    env = T.fx.experimental.symbolic_shapes.ShapeEnv()
    mode = T._subclasses.FakeTensorMode(shape_env=env)
    return [mode.from_tensor(one, kind="dynamic") for one in tensors]
class GivesViews(T.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, count):
        return (tensor[...], tensor * 2)[:count]
    @staticmethod
    def backward(ctx, *gradients):
        return gradients[0], None
def views_made_each_way(tensor):
    """A view has a mark of how it was made, which says who may write to it."""
    with T.no_grad():
        unrecorded = tensor[1:]
    return unrecorded, *GivesViews.apply(tensor, 1), *GivesViews.apply(tensor, 2), tensor[1:]
def families_for_text():
    """Tensors that one text describes; x is a leaf of 3 rows with a gradient."""
    return expressions_of("x", """
        (x,)
        (x[1:], x.detach(), T.ones(2), x, x[1:].t())
        (x.grad.t(), x, x.grad, T.ones(0, 3))
        (T.ones(2, dtype=T.complex64).conj()._neg_view(), T.nn.Parameter(T.ones(2)), x * 2)
        (T.frombuffer(bytearray(9), dtype=T.uint8)[2:], T.ones(3, device="meta"), x.view(-1)[3:])
        (T.empty(0).set_(x.detach()), x.data, x.expand(2, 3, 4))
        views_made_each_way(x)
        symbolic_twins(x[1:], T.ones(5, 7).t())
        symbolic_twins(T.ones(6), x, x.grad.t(), x.detach()[1:])""")
def with_moved_rows(document, turn):
    """DOCUMENT with its rows, and the names of its groups of versions, in another order."""
    def moved(place, table):
        return (place * (-1 if turn % 2 else 1) + turn) % len(document[table])
    found = {**document, "tensors": [0] * len(document["tensors"]),
             "storages": [0] * len(document["storages"]),
             "roots": [moved(root, "tensors") for root in document["roots"]]}
    for table in ("tensors", "storages"):
        for place, row in enumerate(document[table]):
            row = {**row, "id": moved(place, table)}
            row.update({field: moved(row[field], "tensors") for field in ("base", "grad")
                        if field in row})
            if table == "tensors":
                row.update(storage=moved(row["storage"], "storages"),
                           version_group=(1 << 63) - 1 - row["version_group"] * 3)
            found[table][row["id"]] = row
    return found
def turned_fields(fields, turn):
    """The fields in another order."""
    names = [*fields][::-1 if turn % 2 else 1]
    turn %= len(names)
    return {name: fields[name] for name in names[turn:] + names[:turn]}
def forms_of_text(text):
    """By name: TEXT with other orders of fields and rows, spaces, and escaped letters."""
    document = json.loads(text)
    for turn in range(7):
        turned = {**document, **{table: [turned_fields(row, turn) for row in document[table]]
                                 for table in ("tensors", "storages")}}
        yield f"fields in the order {turn}", json.dumps(turned_fields(turned, turn))
        yield f"rows in the order {turn}", json.dumps(with_moved_rows(document, turn))
    yield "lines", json.dumps(with_moved_rows(document, 5), indent="\t").replace("\n", "\r\n")
    escaped = text.replace('"size"', r'"\u0073ize"').replace("float", r"\u0066loat")
    yield "escapes", " " + escaped.replace("s0", r"\u00730").replace("roots", r"r\u006Fots") + "\n"
def fakes_of_text(description):
    """What a converter makes of a text; a mode has the symbols of the text."""
    env = description.shape_env
    mode = T._subclasses.FakeTensorMode(shape_env=env)
    return T._meta.convert(mode.fake_tensor_converter, description)
def check_text_forms(name, text):
    parts, read = T._meta.loads(text), 0
    expected = [text_of_tensors(*fakes_of_text(parts))] + [
        part and part.as_json() for part in (parts.base, parts.grad)]
    for form, other in forms_of_text(text):
        found = T._meta.loads(other)
        assert found.as_json() == text, (
            f"M12: the text of {name} with {form} is written as {found.as_json()}, not {text}")
        parts = [text_of_tensors(*fakes_of_text(found))] + [
            part and part.as_json() for part in (found.base, found.grad)]
        assert parts == expected, (
            f"M1: the text of {name} with {form} gives fakes, a base and a gradient with the"
            f" texts {parts}, not {expected}")
        read += 1
    return read
def pairs_of_text_forms():
    read = 0
    for number, make in enumerate(families_for_text()):
        tensors = make(with_own_gradient(T.ones(3, 4)))
        description = T._meta.describe(T._subclasses.meta_utils.MetaTensorDescriber(), *tensors,
                                       copy_data=number % 2 == 1)
        read += check_text_forms(make.__name__, description.as_json())
    assert read > 99, f"M12: only {read} texts were read"

#: pairs_of_asked_descriptions, described_for_questions [slotcore]: what follows a description
def described_for_questions():
    """Tensors, and fakes, to describe; the second is a fake with symbols or None."""
    return expressions_of("x", """
        x
        x[1:]
        x.grad.t()[1:]
        T.nn.Parameter(T.ones(3, 4))
        (x * 2).t()
        T.ones(2, dtype=T.complex64).conj()
        symbolic_twins(x)[0]
        symbolic_twins(x[1:])[0]""")
def acts_after_describing():
    """What may happen to a description d of a tensor t, and to t."""
    return expressions_of("d, t", """
        d.base and d.base.as_json()
        d.grad and d.grad.as_json()
        d.base and d.base.grad and d.base.grad.shape_env and d.base.grad.shape_env.freeze()
        d.as_json()
        T._meta.convert(T._subclasses.meta_utils.MetaConverter(), d)
        [one.fill_(3) for one in T._meta.convert(T._subclasses.meta_utils.MetaConverter(), d)]
        [one.resize_(9) for one in fakes_of_text(T._meta.loads(d.as_json()))]
        d.shape_env and d.shape_env.freeze()
        d.shape_env and [int(size) for size in fakes_of_text(d)[0].size()]
        d.shape_env and d.shape_env.create_unbacked_symint()
        d.base and d.base.shape_env and d.base.shape_env.create_symint(9, "late")
        [int(size) for size in t.size()]
        t.size(0).shape_env.freeze()
        t.detach().fill_(7)
        t.untyped_storage().fill_(255)
        t.untyped_storage().resize_(999)
        t.set_(T.ones(5))
        setattr(t, "grad", None)
        setattr(t._base, "grad", None)
        t.requires_grad_(False)
        setattr(t, "data", T.ones(1))
        T.utils.swap_tensors(t, T.ones(7))
        (t * t.detach()).sum().backward()""")
def answers_of_description(description):
    """All that a description says, by the names of its attributes."""
    answers = {name: getattr(description, name) for name in dir(description) if name[0] != "_"}
    answers["as_json"] = description.as_json()
    for name, answer in answers.items():
        if type(answer) is T._subclasses.meta_utils.MetaTensorDesc:
            answers[name] = answer.as_json()
    env = answers.pop("shape_env")
    return answers, env and T._meta.dumps_env(env)
def check_asked_description(make, act, is_read):
    tensor = make(with_own_gradient(T.ones(3, 4)))
    describer = T._subclasses.meta_utils.MetaTensorDescriber
    description, twin = [describer(copy_data=True).describe_tensor(tensor) for _ in range(2)]
    if is_read:
        description, twin = [T._meta.loads(one.as_json()) for one in (description, twin)]
    expected, env = answers_of_description(twin)
    raised = class_raised(act, description, tensor)
    found, env_after = answers_of_description(description)
    changed = {name: answer for name, answer in found.items() if answer != expected[name]}
    where = (f"of t = {make.__name__}{', read from text,' if is_read else ''} after"
             f" {act.__name__}, which raises {raised}")
    assert not changed, f"M1: the description {where}, has other answers: {changed}"
    if "d.shape_env" not in act.__name__ and "fakes_of_text(d)" not in act.__name__:
        assert env_after == env, f"M5: the description {where}, has the environment {env_after}"
    return raised is None
def pairs_of_asked_descriptions():
    done = 0
    for (i, make), (j, act) in itertools.product(enumerate(described_for_questions()),
                                                 enumerate(acts_after_describing())):
        done += check_asked_description(make, act, (i + j) % 2 == 1)
    assert done > 90, f"M1: only {done} acts follow a description"

#: pairs_of_converted_again [slotcore]: a converter gives equal descriptions the same fakes
import itertools
def acts_between_conversions():
    """What may happen to a description d, its converter c and its fakes between two conversions."""
    return expressions_of("d, c, fakes", """
        None
        c(T.ones(3, 4))
        d.as_json()
        d.base and T._meta.convert(c, d.base)
        d.grad and T._meta.convert(c, d.grad)
        T._meta.convert(T._subclasses.meta_utils.MetaConverter(), d)
        [one.detach().fill_(3) for one in fakes]
        [setattr(one, "grad", None) for one in fakes]
        fakes.clear() or gc.collect()""")
def check_converted_again(make, act, has_bytes, is_read):
    meta, tensor = T._subclasses.meta_utils, make(with_own_gradient(T.ones(3, 4)))
    describer, converter = meta.MetaTensorDescriber(), meta.MetaConverter()
    one, other = [T._meta.describe(describer, tensor, copy_data=has_bytes) for _ in range(2)]
    if is_read:
        one = other = T._meta.loads(one.as_json())
    fakes = T._meta.convert(converter, one)
    former, kept = list(fakes), [fake.grad for fake in fakes]  # a fake that ends is made anew
    raised = class_raised(act, one, converter, fakes)
    later = T._meta.convert(converter, other)
    assert [*map(id, later)] == [*map(id, former)], (
        f"M9: the description of {make.__name__}, {'with' if has_bytes else 'without'} bytes"
        f"{' and read from text' if is_read else ''}, gets new fakes from its converter after"
        f" {act.__name__}")
    return raised is None
def pairs_of_converted_again():
    cases = [*itertools.product(described_for_questions(), acts_between_conversions(),
                                (False, True), (False, True))]
    done = sum(itertools.starmap(check_converted_again, cases))
    assert done >= 250, f"M9: only {done} acts of {len(cases)} run between conversions"
