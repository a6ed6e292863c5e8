"""What lines about traced graphs may call, and checks with their own expectation.

A graph is run on tensors, and so is the Python that it prints; both must do what its function does.
"""

#: traced [slotcore]: the graph of a function, traced with a tensor
def traced(function, tensor, kind):
    check_can_note()
    return T.fx.experimental.proxy_tensor.make_fx(function, tracing_mode=kind)(tensor)

#: outcome_on, printed, check_traced, numbered, check_graph [slotcore]: what a graph does (M11, M5)
#> check_graph: checks
def numbered(sizes, dtype):
    count = 1
    for size in sizes:
        count *= size
    return T.tensor([i % 7 + 1 for i in range(count)], dtype=dtype).view(sizes)
def rows_of(tensors):
    return [[tuple(one.size()), one.stride(), one.storage_offset(), one.dtype, one._is_view(),
             one._version, looked_at(one)[-1]] for one in tensors]
def outcome_on(function, tensor):
    found, shares = [tensor], None
    try:
        with T.no_grad():
            found.append(function(tensor))
        shares = storage_of(found[1])._cdata == storage_of(tensor)._cdata, found[1] is tensor
    except (RuntimeError, IndexError, AssertionError, ZeroDivisionError, NameError):
        pass  # NameError: of a text that reads what no line of it binds
    return rows_of(found), shares  # shares: None for an error
def printed(graph):
    names = {"T": T}
    exec(graph.code, names)
    return names["graph"]
def check_traced(graph, function, made, example, tried):
    as_text = printed(graph)
    for sizes in tried:
        if not graph.check(made(sizes)):
            assert sizes != example, "M11: the example does not pass"
            for one in (graph, as_text):
                rows, shares = outcome_on(one, made(sizes))
                assert shares is None, "M11: a graph takes what fails"
                assert rows == rows_of([made(sizes)]), (
                    "P8: a graph changes a tensor that it refuses")
            continue
        expected = outcome_on(function, made(sizes))
        assert outcome_on(graph, made(sizes)) == expected, (
            "M11: a graph does not do what its function does")
        assert outcome_on(as_text, made(sizes)) == expected, (
            "M11: the text of a graph does not do what its function does")
    try:
        again = T._meta.retrace(graph)
    except RuntimeError:
        assert False, "M5: a graph cannot be traced again"
    assert again.code == graph.code, "M5: a graph has another text when it is traced again"
    assert T._meta.dumps_env(again.shape_env) == T._meta.dumps_env(graph.shape_env), (
        "M5: a graph has other symbols when it is traced again")
def check_graph(function, tensor):
    if in_hermetic() or tensor.dim() > 3 or tensor.numel() > 256:
        return
    import itertools
    example = tuple(tensor.size())
    def made(sizes):
        return numbered(sizes, tensor.dtype)
    box = itertools.product(range(4), repeat=len(example))
    for kind in ("symbolic", "dynamic", "fake"):
        try:
            graphs = [traced(function, made(example), kind) for _ in range(2)]
        except NotImplementedError:  # no graph can have what the function does
            return
        except (RuntimeError, IndexError):
            assert outcome_on(function, made(example))[1] is None, (
                "M11: a function raises only where it is traced")
            return
        assert graphs[0].code == graphs[1].code, "M5: a function has another text each time"
        tried = [example] if kind == "fake" else [example, *box]
        check_traced(graphs[0], function, made, example, tried)

#: changed_by: a function of a tensor that makes some changes, one after the other
def changed_by(*names):
    def function(tensor):
        tensors = [tensor]
        for name in names:
            made = changes[name](tensors[-1], tensors[-2 % len(tensors)])
            if isinstance(made, T.Tensor):
                tensors.append(made)
        return tensors[-1]
    return function

#: check_graph_of_data [slotcore]: a graph with a number from data asserts what was said of it (M5)
#> check_graph_of_data: checks
def narrowed_by_data(one):
    number = one.narrow(0, 0, 1).sum().item()
    T._check(number == 1)
    return one.narrow(0, 0, number).mul(2)
def narrowed_by_rows(one):
    first = one.narrow(0, 0, 1)
    number = first.nonzero().size(0)
    T._check(number == 1)
    return one.narrow(0, 0, number).add(first.nonzero().sum())
def check_graph_of_data(first):
    one = T.ones(first, dtype=T.int64)
    for function, call, other in ((narrowed_by_data, ".item()", one.mul(3)),
                                  (narrowed_by_rows, ".nonzero()", one.mul(0))):
        check_graph(function, one)
        if in_hermetic() or first == 0:
            return
        graph = traced(function, one, "dynamic")
        assert "assert " in graph.code.split(call)[1], "M5: an assertion is not in the text"
        for again in (graph, printed(graph)):
            assert outcome_on(again, other) == outcome_on(function, other), (
                "M11: a graph takes a number for which its function raises")

#: check_made_twice [slotcore]: a graph has two tensors where its function makes two (M11)
#> check_made_twice: checks
makers_of_a_trace = {
    "ones": lambda one: T.ones(one.size(0)), "zeros": lambda one: T.zeros(2),
    "clone": T.Tensor.clone, "sum": T.Tensor.sum, "relu": T.Tensor.relu,
    "times": lambda one: one * one, "plus": lambda one: one.add(1),
    "view": lambda one: one.view(-1), "detach": T.Tensor.detach,
}
def check_made_twice(name):
    make = makers_of_a_trace[name]
    def function(one):
        first, second = make(one), make(one)
        first.fill_(7)
        return second
    check_graph(function, T.ones(2))
