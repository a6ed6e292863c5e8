"""What lines about kinds of fakes may call: a sentence of the contract that holds for several.

Each function here asks one kind: texts with expressions, factories, what keeps a mode, and writes.
The file meta_kinds_more.py has the rest, and the check that runs one of them.
"""

#: meta_kinds [slotcore]: what is asked of texts, factories, holders and writes (M6, M7, M8, M15)
#> meta_kinds: collects in_hermetic
import json
expression_edits = (  # of which text, which field, its value, and the field that is wrong
    ("rows", "/tensors/0/size/0", "s99", ""), ("rows", "/tensors/0/size/0", "u0", ""),
    ("rows", "/tensors/0/size/0", "1*s0", ""), ("rows", "/tensors/0/size/0", "3", ""),
    ("rows", "/tensors/0/size/0", "((s0) // (0))", ""),
    ("rows", "/tensors/0/size/0", "9223372036854775807*s0*s0", ""),
    ("rows", "/tensors/0/size/1", "s1 + s0 + 0", ""),
    ("rows", "/tensors/0/size/0", "s0 + -100", "/tensors/0/size"),
    ("rows", "/tensors/0/stride/1", "s0 + -9", "/tensors/0/size"),
    ("rows", "/tensors/0/storage_offset", "s0 + -100", ""),
    ("rows", "/storages/0/nbytes", "s0 + -100", ""), ("rows", "/tensors/0/grad", "s0", ""),
    ("rows", "/tensors/0/version", "s0", ""), ("rows", "/tensors/0/dtype", "s0", ""),
    ("rows", "/shape_env", "x", ""), ("rows", "/shape_env", 7, ""),
    ("rows", "/version", 1, "/shape_env"), ("rows", "/shape_env", None, "/storages/0/nbytes"),
    ("a square", "/tensors/0/size/1", "s1", ""),
    ("numbers", "/storages/0/nbytes", 48, "/shape_env"),
)
def symbolic_documents():
    made, describer = FakeTensorMode(shape_env=ShapeEnv()), MetaConverter().describer
    square = made.from_tensor(T.ones(3, 3), kind="dynamic")
    assert square.size(0) == square.size(1), "M11: a decision is not that of the example"
    rows = made.from_tensor(T.ones(3, 4)[1:], kind="dynamic")
    texts = {name: T._meta.dumps(describer.describe_tensor(one))
             for name, one in (("rows", rows), ("a square", square))}
    numbers = json.loads(texts["rows"])
    for fields in numbers["tensors"]:
        fields.update(size=[2, 4], stride=[4, 1], storage_offset=0)
    return {**texts, "numbers": json.dumps(numbers)}
def hostile_expressions():
    texts = symbolic_documents()
    for text, pointer, value, wrong in expression_edits:
        document = part = json.loads(texts[text])
        *path, last = [int(step) if step.isdecimal() else step for step in pointer[1:].split("/")]
        for step in path:
            part = part[step]
        part[last] = value
        if value is None:
            del part[last]
        found = None
        try:
            T._meta.loads(json.dumps(document))
        except ValueError as error:
            found = str(error).split('"')[1]
        assert found is not None, f"M6: a text of {text} is read whose {pointer} is {value}"
        assert found == (wrong or pointer), f"M6: an error names {found} where {pointer} is {value}"
made_by_factories = {
    "frombuffer()": lambda: T.frombuffer(bytearray(8), dtype=T.float32),
    "frombuffer() with an offset": lambda: T.frombuffer(bytearray(8), dtype=T.uint8, offset=4),
    "ones()": lambda: T.ones(2), "zeros()": lambda: T.zeros(2), "empty()": lambda: T.empty(2),
    "ones() on meta": lambda: T.ones(2, device="meta"), "tensor()": lambda: T.tensor([1.0]),
    "Tensor()": lambda: T.Tensor(2), "Tensor() of a list": lambda: T.Tensor([1.0]),
    "Parameter()": lambda: T.nn.Parameter(),
    "frombuffer() of a part of a number": lambda: T.frombuffer(bytearray(3), dtype=T.float32),
    "frombuffer() of bytes": lambda: T.frombuffer(b"1234", dtype=T.uint8),
    "frombuffer() beyond its end": lambda: T.frombuffer(bytearray(4), dtype=T.uint8, offset=9),
}
def made_or_refused(factory):
    try:
        return factory()
    except (BufferError, *refused) as error:
        return f"{type(error).__name__}: {error}"
def layout_and_bytes(one):
    if isinstance(one, str):
        return one
    storage = storage_of(one)
    return [type(one).__name__, tuple(one.shape), one.stride(), one.storage_offset(), one.dtype,
            str(one.device), one.requires_grad, storage.nbytes(), storage.resizable()]
def factories_in_mode():
    entered = FakeTensorMode()
    for name, factory in made_by_factories.items():
        expected = layout_and_bytes(made_or_refused(factory))
        with entered:
            fake = made_or_refused(factory)
        if isinstance(fake, T.Tensor):
            assert getattr(fake, "fake_mode", None) is entered, f"M15: in a mode {name} is real"
            assert storage_of(fake).data_ptr() == 0, f"M7: {name} makes a fake with bytes"
        found = layout_and_bytes(fake)
        assert found == expected, f"M15: in a mode {name} gives {found}, and not {expected}"
mode_holders = {
    "fake": lambda made, tensor: made.from_tensor(tensor),
    "view": lambda made, tensor: made.from_tensor(tensor).view(-1),
    "detached fake": lambda made, tensor: made.from_tensor(tensor).detach(),
    "result": lambda made, tensor: made.from_tensor(tensor).add(1),
    "converter": lambda made, tensor: made.fake_tensor_converter,
    "describer": lambda made, tensor: made.fake_tensor_converter.describer,
}
def holders_of_modes():
    collect_all()  # the count is that of the process
    before, tensor = T._live_modes(), T.ones(2)
    FakeTensorMode().__enter__()
    fake = T.ones(1)
    is_entered = hasattr(fake, "fake_mode") and T._live_modes() == before + 1
    T._meta.leave_modes()
    assert is_entered, "M8: a mode is gone while a thread is in it"
    assert T._live_modes() == before + 1 and fake.fake_mode is fake.view(-1).fake_mode, (
        "M8: a mode that a thread has left is gone before its fake")
    del fake
    assert T._live_modes() == before, "M8: a mode outlives the stay of a thread and its fakes"
    for name, keep in mode_holders.items():
        held = keep(FakeTensorMode(), tensor)
        assert T._live_modes() == before + 1, f"M8: a {name} does not keep its mode"
        del held
        assert T._live_modes() == before, f"M8: a mode outlives its last {name}"
    try:
        with FakeTensorMode():
            raise KeyError("leaves the mode")
    except KeyError:
        pass
    assert T._live_modes() == before, "M8: a mode that an error has left is alive"
    assert T._meta.mode_count() == 0, "M14: an error leaves a mode entered"
refused_writes = {
    "add_() of a size": lambda one: one.add_(T.ones(7, 7)),
    "mul_() of a size": lambda one: one.mul_(T.ones(7, 7)),
    "copy_() of a size": lambda one: one.copy_(T.ones(7, 7)),
    "copy_() of meta": lambda one: one.copy_(T.ones(2, 3, device="meta")),
    "fill_() of a size": lambda one: one.fill_(T.ones(7, 7)),
    "fill_()": lambda one: one.fill_(1e300), "add_()": lambda one: one.add_(1j),
    "mul_()": lambda one: one.mul_("x"), "resize_()": lambda one: one.resize_(-1),
    "set_()": lambda one: one.set_(T.ones(1, dtype=T.int64)),
    "a row": lambda one: one.__setitem__(0, T.ones(7, 7)),
    "an item": lambda one: one.__setitem__(9, 1), "a number": lambda one: one.__setitem__(0, 1e300),
}
counted_writes = {
    "add_()": lambda one: one.add_(1), "mul_()": lambda one: one.mul_(2),
    "relu_()": lambda one: one.relu_(), "zero_()": lambda one: one.zero_(),
    "fill_()": lambda one: one.fill_(2), "copy_()": lambda one: one.copy_(T.ones(3)),
    "an item": lambda one: one.__setitem__(0, 1), "+=": lambda one: one.__iadd__(1),
    "a row": lambda one: one.__setitem__(0, T.ones(3)), "*=": lambda one: one.__imul__(2),
}
def versions_of_writes():
    tensor = T.ones(2, 3)
    for name, write in refused_writes.items():
        before = tensor._version, tensor.tolist()
        returns = True
        try:
            write(tensor)
        except refused:
            returns = False
        assert not returns, f"P8: {name} returns, and cannot do what it is asked for"
        assert (tensor._version, tensor.tolist()) == before, (
            f"P8: {name} raises an error, and has written or counts a write")
    aliases = [tensor.view(-1), tensor[0], tensor.t(), tensor.detach(), tensor[...]]
    for name, write in counted_writes.items():
        before = tensor._version
        write(tensor)
        assert tensor._version > before, f"A2b: {name} writes, and no version counts it"
        assert {one._version for one in aliases} == {tensor._version}, (
            f"A2b: {name} writes, and the version of an alias does not count it")
def parameters_in_hermetic():
    parameter = T.nn.Parameter(T.ones(2))
    with hermetic():
        described_there = MetaConverter().describer.describe_tensor(parameter)
    assert not described_there.is_parameter, "H1: in hermetic mode a tensor is a Parameter"
    assert MetaConverter().describer.describe_tensor(parameter).is_parameter, (
        "M4: a description does not say that a tensor is a Parameter")
def storages_of_fakes_resized():
    for size in (0, 4, 64):
        fake = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(T.ones(4, 3), kind="dynamic")
        storage = storage_of(fake)
        assert isinstance(storage.nbytes(), T.SymInt), "M5: a dynamic storage has a plain size"
        storage.resize_(size)
        assert bool(storage.nbytes() == size), f"P8: a storage of {size} bytes has its former size"
def assertions_of_replaced():
    for low in (2, 6):
        env = ShapeEnv()
        example, found = env.create_symint(3, "a", "dynamic"), env.create_unbacked_symint()
        T._check(found >= low)
        T._check(found == example)
        held = bool(found >= low), bool(found > low - 1), bool(found > low - 3)
        assert held == (True,) * 3 and env.guards == [], (
            f"M11: what was asserted of a replaced symbol is {held}, with guards {env.guards}")
meta_kinds = {
    "storage_resized": storages_of_fakes_resized, "replaced_symbol": assertions_of_replaced,
    "hermetic_parameter": parameters_in_hermetic,
    "hostile_expressions": hostile_expressions, "factories_in_mode": factories_in_mode,
    "holders_of_modes": holders_of_modes, "versions_of_writes": versions_of_writes,
}
