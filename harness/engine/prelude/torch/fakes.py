"""Fakes on PyTorch: what lines about converters and fake modes may call.

These snippets run where lines about fakes are drawn. What a release promises is asked of tensors
that are known, never of its version.
"""

#: warmed_fakes [torch meta]: a first fake imports a thousand modules
warmed_fakes = FakeTensorMode().from_tensor(T.ones(1)).add(1) is not None

#: is_plain [torch meta]: whether a tensor is of a kind whose fake must be like it
def is_plain(tensor):
    return (type(tensor) in (T.Tensor, T.nn.Parameter) and tensor.layout == T.strided
            and not (tensor.is_nested or tensor.is_quantized or any(getattr(tensor, "names", ()))
                     or T._is_functional_tensor(tensor) or T._is_zerotensor(tensor)
                     or T._C._functorch.is_functorch_wrapped_tensor(tensor)))

#: converted_by [torch meta]: the fake that a converter gives, which some tensors have not
def converted_by(converter, tensor):
    try:
        fake = converter(tensor) if isinstance(tensor, T.Tensor) else None
    except AssertionError as error:  # torch asserts what it supports, and says nothing
        raise TypeError("no fake of such a tensor") from error
    if not isinstance(fake, T.Tensor):
        raise TypeError("no fake of such a tensor")
    return fake

#: fake_in [torch meta]: the fake of a tensor in a mode
def fake_in(mode, tensor, **keywords):
    return converted_by(lambda one: mode.from_tensor(one, **keywords), tensor)

#: fake_of [torch meta]: the fake of a tensor
def fake_of(converter, tensor):
    return converted_by(converter, tensor)

#: questions [torch meta]: a promise is what the fakes of these tensors have of them
def known_tensors():
    leaf, written = T.ones(2, 3).requires_grad_(), T.ones(2)
    written.add_(1)
    return {
        "size": T.ones(2, 3), "stride": T.ones(2, 3).t(), "offset": T.ones(2, 3)[1],
        "type": T.ones(1, dtype=T.int64), "bytes": T.ones(2, 3)[1], "view": leaf.view(-1),
        "resizable": T.frombuffer(bytearray(8), dtype=T.uint8), "requires_grad": leaf,
        "leaf": leaf.mul(2), "conjugate bit": T.ones(1, dtype=T.complex64).conj(),
        "negative bit": T.ones(1)._neg_view(), "version": written}
def is_promised(name, tensor):
    ask = all_questions[name]
    try:
        return ask(MetaConverter()(tensor)) == ask(tensor)
    except AttributeError:  # before 2.0 a storage does not say whether it can be resized
        return False
questions = {name: ask for name, ask in all_questions.items()
             if is_promised(name, known_tensors()[name]) and is_promised(name, T.ones(2))}

#: promised [torch meta]: what a check says of tensors that are known: an error, if it is no promise
def promised(check, *operands):
    return check(*operands)

#: described_with_data [torch meta]: a description with the bytes
def described_with_data(tensor):
    return T._subclasses.meta_utils.MetaTensorDescriber(copy_data=True).describe_tensor(tensor)

#: converted [torch meta]: a fake from a description, by tables that have no ids of others
def converted(converter, description):
    callback = lambda make, device=None: make()
    return type(converter)().meta_tensor(description, None, callback, None, None)

#: differing [torch meta]: the names of answers that differ; links are questions, if fakes have them
linked = T.ones(2)
linked.grad = T.ones(2)
has_gradients = MetaConverter()(linked).grad is not None
def differing(found, expected):
    for (asked, links), (wanted, other_links) in zip(found, expected):
        wrong = [name for name, one, other in zip(questions, asked, wanted) if one != other]
        wrong += ["base"] * (links[0] != other_links[0])
        wrong += ["gradient"] * (has_gradients and links[1] != other_links[1])
        if wrong:
            return wrong
    return []

#: check_exact [torch meta]: a new fake has the fields of its tensor, its base and gradients (M4)
#> check_exact: checks
def check_exact(converter, tensor):
    if not is_plain(tensor):
        return
    fake = converted_by(MetaConverter(), tensor)
    wrong = differing(fields_of(fake), fields_of(tensor))
    assert not wrong, f"M4: of the tensor, its fake has another {', '.join(wrong)}"
    classes = [isinstance(one, T.nn.Parameter) for one in (fake, tensor)]
    assert classes[0] == classes[1], "M4: the fake of a Parameter has another class"

#: check_shared [torch meta]: two fakes share what their tensors share (M2)
#> check_shared: checks
def check_shared(converter, one, other):
    if not (is_plain(one) and is_plain(other)):
        return
    fresh = MetaConverter()
    fakes = [converted_by(fresh, tensor) for tensor in (one, other)]
    assert sharing_of(*fakes) == sharing_of(one, other), (
        "M2: the fakes do not share what the tensors share")

#: check_same [torch meta]: one fake, as long as the tensor lives and the fake is held (M3)
#> check_same: collects checks
def check_same(converter, tensor):
    if in_hermetic():
        return
    gc.collect()  # finalizers, which may change the tensor, run now
    fake = converted_by(converter, tensor)
    gc.collect()
    assert converted_by(converter, tensor) is fake, "M3: a tensor has two fakes"

#: check_forgets [torch meta]: tables keep no fake and no tensor (M8)
#> check_forgets: checks
def sizes_of(converter):
    tables = [converter.__dict__, getattr(converter, "describer", converter).__dict__]
    return [len(one) for table in tables for name, one in table.items()
            if name.endswith("_memo") or name.startswith("lookup_")]
def check_forgets(converter):
    if in_hermetic():
        return
    before = sizes_of(converter)
    for drops_fake_first in (True, False):
        tensor = T.ones(2)
        fake = converted_by(converter, tensor)
        kept = weakref.ref(fake if drops_fake_first else tensor)
        if drops_fake_first:
            del fake
        else:
            del tensor
        assert kept() is None, "M8: a table keeps a fake or a tensor"
        tensor = fake = None
        assert sizes_of(converter) == before, "M8: an entry outlives what it is for"

#: check_circle [torch meta]: a circle of grads needs no recursion (M17)
#> check_circle: checks
def check_circle(converter):
    one, other = T.ones(1), T.ones(1)
    one.grad, other.grad = other, one
    try:
        fake = converted_by(converter, one)
        is_circle = fake.grad.grad is fake
        fake.grad = None
    except RecursionError:
        is_circle = False
    finally:
        one.grad = None  # C++ owns a circle, which only the user can break
    assert is_circle, "M17: the fakes of a circle are no circle"

#: check_no_data [torch meta]: a fake has no byte, and what needs one raises (M7)
#> check_no_data: checks
def check_no_data(tensor):
    if not is_plain(tensor):
        return
    for fake in (converted_by(MetaConverter(), tensor), fake_in(FakeTensorMode(), tensor)):
        assert storage_of(fake).device.type == "meta", "M7: a fake has bytes"
        if tensor.numel() == 0 or tensor.dim() == 0:  # a mode may know the one number
            continue
        for read in (lambda: fake.item(), lambda: fake.tolist(), lambda: bool(fake)):
            try:
                read()
            except (*refused, NotImplementedError):
                continue
            assert False, "M7: a fake has a number"

#: unknown_to_fakes, outcome_of, check_propagates [torch meta]: operations of fakes (M15)
#> check_propagates: checks
unknown_to_fakes = (NotImplementedError, RecursionError, *(
    getattr(T._subclasses.fake_tensor, name, NotImplementedError) for name in (
        "DataDependentOutputException", "DynamicOutputShapeException",
        "UnsupportedOperatorException", "UnsupportedFakeTensorException")))
def outcome_of(function, tensor):
    try:
        result = fields_of(function(tensor))
    except unknown_to_fakes:
        raise
    except refused:
        result = "error"
    return result, fields_of(tensor)
def check_propagates(function, tensor):
    if not is_plain(tensor):
        return
    fakes = [converted_by(MetaConverter(), tensor), fake_in(FakeTensorMode(), tensor)]
    before = fields_of(tensor)
    fakes = [fake for fake in fakes if not differing(fields_of(fake), before)]  # else M4 is broken
    expected = outcome_of(function, tensor)
    for fake in fakes:
        try:
            outcome = outcome_of(function, fake)
        except unknown_to_fakes:
            continue
        wrong = differing(outcome[1], expected[1])
        assert not wrong, f"M15: an operation leaves its fake another {', '.join(wrong)}"
        if "error" in (expected[0], outcome[0]):
            assert outcome[0] == expected[0], "M15: an error of an operation is not that of a fake"
            continue
        wrong = differing(outcome[0], expected[0])
        assert not wrong, f"M15: an operation gives a fake another {', '.join(wrong)}"

#: check_fake_result [torch meta]: a function gives a fake the layout that it gives a tensor (M15)
#> check_fake_result: checks
def layouts_of(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return [(tuple(one.size()), one.stride(), one.storage_offset(), one.dtype)
            for one in results if isinstance(one, T.Tensor)]
def check_fake_result(function, view):
    with T.no_grad():
        try:
            expected = layouts_of(function(view(example())))
            fake = FakeTensorMode().from_tensor(view(example()))
            with fake.fake_mode:
                found = layouts_of(function(fake))
        except unknown_to_fakes:
            return
    assert found == expected, (
        f"M15: {called_by(function)} gives a fake the layout {found}, a tensor {expected}")

#: check_fake_copied [torch meta]: a copy of a fake has the form of a tensor's copy (M15)
#> check_fake_copied: checks
def form_of(one):
    return {"size": tuple(one.size()), "stride": one.stride(), "offset": one.storage_offset(),
            "conjugation": one.is_conj(), "negation": one.is_neg()}
def check_fake_copied(copied, view):
    try:
        expected = form_of(copied(view(example())))
        fake = FakeTensorMode().from_tensor(view(example()))
        found = form_of(copied(fake))
    except unknown_to_fakes:
        return
    other = [name for name in expected if found[name] != expected[name]]
    assert not other, (
        f"M15: {called_by(copied)} gives a fake another {' and '.join(other)} than a tensor")

#: check_known_number [torch meta]: a mode forgets the number of a fake that is written (M15)
#> check_known_number: checks
def set_data_to(fake, number):
    fake.data = T.tensor(number)
def check_known_number():
    for write in (lambda fake, number: fake.fill_(number), set_data_to,
                  lambda fake, number: fake.set_(T.tensor(number)),
                  lambda fake, number: storage_of(fake).copy_(storage_of(T.tensor(number)))):
        for is_inference in (False, True):
            with FakeTensorMode(), T.inference_mode(is_inference):
                fake = T.tensor(3)
                try:
                    first = T.tensor(3).item()
                    write(fake, 9)
                    number = fake.item()
                except refused:
                    continue
            assert first == 3, f"M15: a fake of the number 3 has the number {first}"
            assert number == 9, f"M15: a fake that was set to 9 has the number {number}"

#: check_constant_known [torch meta]: a mode knows the number of a constant in each mode (M15)
#> check_constant_known: checks
def check_constant_known(mode):
    with FakeTensorMode():
        if raised_by(T.tensor(3).item) is None:
            with mode:
                error = raised_by(T.tensor(3).item)
            assert error is None, f"M15: within {type(mode).__name__}, a constant has no number"
