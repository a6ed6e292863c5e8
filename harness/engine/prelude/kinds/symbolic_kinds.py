"""What lines about symbolic sizes may call: fields of fakes, and the graph of each operation."""

#: check_symbolic_fields [slotcore]: a fake with symbols has the fields of its tensor (M4)
#> check_symbolic_fields: checks
starts_of_symbolic = {**described_starts, "buffer": ()}
def check_symbolic_fields(start, last):
    if in_hermetic() or T._meta.mode_count():
        return
    tensors = [T.ones(2, 2)]
    if start == "buffer":
        tensors = [T.frombuffer(bytearray(16), dtype=T.float32).view(2, 2)]
    with T.enable_grad():
        for name in (*starts_of_symbolic[start], last):
            change_of(tensors, name)
    for one in tensors:
        fake = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(one, kind="dynamic")
        description = T._meta.loads(T._meta.dumps(described(fake)))
        made = FakeTensorMode(shape_env=env_of(description)).fake_tensor_converter
        for place, other in (("", fake), (" from text", *T._meta.convert(made, description))):
            assert fields_of(other) == fields_of(one), (
                f"M4: a fake{place} with symbols has other fields")
            assert type(other) is type(one), f"M4: a fake{place} with symbols has another class"
    for one in tensors:
        one.grad = None  # what owns itself by .grad is kept (A4a)

#: check_traced_node [slotcore]: the graph of each operation does what it did (M11)
#> check_traced_node: checks
functions_of_nodes = {
    "view": lambda a: a.view(-1), "view as type": lambda a: a.view(T.uint8),
    "view as real": lambda a: T.view_as_real(a.mul(2 - 1j)), "alias": lambda a: a[...],
    "narrow": lambda a: a.narrow(1, 1, 2), "slice": lambda a: a[1::2], "part": lambda a: a[1:2],
    "select": lambda a: a.select(1, 2), "row": lambda a: a[1], "t": lambda a: a.t(),
    "transpose": lambda a: a.transpose(1, 0),
    "strided": lambda a: a.as_strided((2, 1), (1, 3), 2),
    "expand": lambda a: a.expand(2, *a.size()), "conj": lambda a: a.mul(1j).conj(),
    "negative view": lambda a: a._neg_view(), "detach": lambda a: (a.detach().add_(1), a)[1],
    "data": lambda a: (a.data.add_(1), a)[1], "add": lambda a: a.add(a.mul(2)),
    "add to a number": lambda a: 3 + a, "mul": lambda a: a.mul(a.add(1)),
    "mul of a number": lambda a: 3 * a, "number with a fraction": lambda a: a.mul(-0.0).add(1.25),
    "complex number": lambda a: a.mul(1.5 - 2j), "equal": lambda a: a == a.mul(a),
    "unequal": lambda a: a != a.mul(a), "unequal to a number": lambda a: 3 != a,
    "add in place": lambda a: a.add_(a.t().clone().t()), "number added": lambda a: a.add_(1),
    "mul in place": lambda a: a.mul_(a[0].clone()), "number in place": lambda a: a.mul_(3),
    "fill": lambda a: a.fill_(2.5), "row filled": lambda a: (a[1].fill_(True), a)[1],
    "copy": lambda a: a.copy_(a.mul(3)[0]), "clone": lambda a: a.t().clone(),
    "sum": lambda a: a.sum(), "relu": lambda a: a.add(-3).relu(),
    "relu in place": lambda a: a.add_(-3).relu_(),
    "ones": lambda a: T.ones(2, 3).add(a.sum()), "zeros": lambda a: T.zeros(3, 2, dtype=T.int64),
    "rows": lambda a: a.add(-3).relu().nonzero(), "sum of rows": lambda a: a.nonzero().sum(),
}
def check_traced_node(name):
    if in_hermetic() or T._meta.mode_count():
        return
    def made(sizes):
        return numbered(sizes, T.float32)
    with T.enable_grad():
        for kind in ("fake", "symbolic", "dynamic"):
            tried = ((2, 3), (4, 3), (2, 4), (3, 3))[:1 if kind == "fake" else None]
            graph = traced(functions_of_nodes[name], made((2, 3)), kind)
            check_traced(graph, functions_of_nodes[name], made, (2, 3), tried)
