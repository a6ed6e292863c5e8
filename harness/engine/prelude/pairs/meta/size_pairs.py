"""Ranges of sizes, sizes near the end of 64 bits, and graphs of inputs that share something."""

#: pairs_of_ranges [slotcore]: what two ranges imply of an expression holds for all their numbers
import itertools
def ranges_of_numbers():
    """The lowest and highest number of a range, where None is no bound, and some of its numbers."""
    return {(-3, -1): (-3, -2, -1), (-2, 2): (-2, -1, 0, 1, 2), (0, 0): (0,), (0, 3): (0, 1, 2, 3),
            (1, 4): (1, 2, 3, 4), (3, 3): (3,), (5, 9): (5, 6, 7, 8, 9),
            (2, None): (2, 3, 4, 9, 1 << 20), (None, -2): (-2, -3, -4, -7, -(1 << 20)),
            (0, None): (0, 1, 2, 6, 1 << 20)}
def number_in_range(env, low, high, is_input):
    """A number from data, or a size, of which all that is known is its range."""
    number = (env.create_symint(low, str(len(env.inputs)), "dynamic") if is_input
              else env.create_unbacked_symint())
    for bound, condition in ((low, lambda: number >= low), (high, lambda: number <= high)):
        if bound is not None:
            T._check(condition())
    return number
def expressions_of_ranges():
    return expressions_of("u, v", """
        u
        u + 3
        0 - u
        u * -2
        u + v
        u - v
        u * v
        u * u
        2 * u - 3 * v + 1
        u // 3
        u // -2
        u % 3
        u % -3
        u // v
        u % v
        (u - 1) // (v + 1)
        (u - v) % 4
        T.sym_max(u, v)
        T.sym_min(u, v)
        T.sym_max(u, 0) * 2 - v
        T.sym_min(u * v, 5)
        u // 2 * (v % 3)
        T.sym_max(u, 2) // T.sym_max(v, 1)""")
def value_or_none(function, *numbers):
    """None for a division by 0, and for what only the data decides."""
    try:
        return function(*numbers)
    except (ZeroDivisionError, RuntimeError):
        return None
def check_range(expression, symbols, points, where):
    """Each comparison with a number near the bounds is right for all points, or is not decided.
    Returns how many are decided."""
    values = {value_or_none(expression, *point) for point in points} - {None}
    made, decided = value_or_none(expression, *symbols), 0
    if made is None:
        return 0
    bounds = {bound + step for bound in (min(values), max(values)) for step in (-1, 0, 1)}
    for bound in sorted(bounds):
        for sign, right in (("<", {value < bound for value in values}),
                            (">=", {value >= bound for value in values}),
                            ("==", {value == bound for value in values})):
            condition = {"<": made < bound, ">=": made >= bound, "==": made == bound}[sign]
            answer = value_or_none(bool, condition)
            assert answer is None or right == {answer}, (
                f"M11: {expression.__name__} {sign} {bound} is decided as {answer}, and is {right}"
                f" for numbers {where}")
            decided += answer is not None
    return decided
def check_plain_range(number, low, high, where):
    """A range decides about its own ends."""
    for bound, condition, right in ((low, lambda: number >= low, True),
                                    (low, lambda: number + 1 <= low, False),
                                    (high, lambda: number <= high, True),
                                    (high, lambda: 0 - number < 0 - high, False)):
        if bound is not None:
            answer = value_or_none(bool, condition())
            assert answer is right, f"M11: a number {where} is {answer} at the bound {bound}"
def pairs_of_ranges():
    ranges, decided = ranges_of_numbers(), 0
    expressions = expressions_of_ranges()
    for i, (first, second) in enumerate(itertools.product(ranges, ranges)):
        env = T.fx.experimental.symbolic_shapes.ShapeEnv()
        kinds = i % 3 == 1 and (first[0] or -1) >= 0, i % 3 != 0 and (second[0] or -1) >= 0
        symbols = [number_in_range(env, *bounds, is_input)
                   for bounds, is_input in zip((first, second), kinds)]
        env.freeze()
        text, where = T._meta.dumps_env(env), f"u in {first} and v in {second}, inputs: {kinds}"
        points = [*itertools.product(ranges[first], ranges[second])]
        for expression in expressions[i % 5::5]:
            decided += check_range(expression, symbols, points, where)
        for symbol, bounds in zip(symbols, (first, second)):
            check_plain_range(symbol, *bounds, where)
        assert T._meta.dumps_env(env) == text, f"M11: decisions change a frozen environment {where}"
    assert decided > 1500, f"M11: ranges decide only {decided} conditions"

#: pairs_of_huge_sizes [slotcore]: an expression beyond 64 bits is an error, and no other number
import itertools
def operations_on_sizes():
    return expressions_of("a, n", """
        a + n
        a - n
        n - a
        a * n
        a * n + n
        a * a
        a * a - n
        a // n
        n // a
        a % n
        n % a
        a * 3 // n
        T.sym_max(a, n)
        T.sym_min(a, n)
        a * n // 2
        (a + n) // 2 * 2
        (a - n) % 5""")
def comparisons_of_sizes():
    return expressions_of("e, n", """
        e < n
        e <= n
        e > n
        e >= n
        e == n
        e != n""")
def hint_or_error(function, *given):
    """What FUNCTION gives for the example, or the class of its error."""
    try:
        found = function(*given)
        if type(found) is T.SymBool:
            return bool(found)
        return getattr(found, "hint", found)
    except (RuntimeError, OverflowError, ZeroDivisionError) as error:
        return ZeroDivisionError if type(error) is ZeroDivisionError else RuntimeError
def check_huge_size(function, hint, number, is_negated):
    """The hint of an expression is the number, or an error; a comparison never has a wrong answer.
    The size is HINT, or 0 - HINT."""
    size = T.fx.experimental.symbolic_shapes.ShapeEnv().create_symint(hint, "x", "dynamic")
    size, hint = (0 - size, -hint) if is_negated else (size, hint)
    where = f"{function.__name__} for a = {hint} and n = {number}"
    expected, found = hint_or_error(function, hint, number), hint_or_error(function, size, number)
    is_small = expected is ZeroDivisionError or -1 << 63 <= expected < 1 << 63
    if found is not RuntimeError:
        assert found == expected, f"M11: {where} is {found}, not {expected}"
    if not is_small:
        assert found is RuntimeError, f"M11: {where}, beyond 64 bits, is {found}"
    return function, size, number, expected if found == expected else None
def check_huge_comparison(function, size, number, value, compare, bound):
    answer = hint_or_error(lambda: compare(function(size, number), bound))
    assert answer in (compare(value, bound), RuntimeError), (
        f"M11: {compare.__name__} is {answer} for e = {function.__name__}, which is {value},"
        f" and n = {bound}")
    return answer is not RuntimeError
def pairs_of_huge_sizes():
    hints = 0, 1, 3, (1 << 31) - 1, 1 << 32, 1 << 62, (1 << 63) - 1
    numbers = -1 << 63, -1 << 62, -3, -1, 0, 1, 2, 1 << 31, 1 << 62, (1 << 63) - 1
    compared = right = 0
    cases = [*itertools.product(operations_on_sizes(), hints, numbers, (False, True))]
    asked = itertools.cycle(itertools.product(comparisons_of_sizes(), numbers))
    for case in cases:
        function, size, number, value = check_huge_size(*case)
        right += value is not None
        if type(value) is int:
            compared += check_huge_comparison(function, size, number, value, *next(asked))
    assert right > 1400 and compared > 600, f"M11: {right} values and {compared} comparisons"

#: pairs_of_related_inputs [slotcore]: a graph takes inputs that share what its example shared
import itertools
def relations_of_inputs():
    """Pairs of what shares nothing, or a storage, a version, a base or a gradient with x; y is
    another tensor."""
    return expressions_of("x, y", """
        (x, y)
        (x, x)
        (x, x.detach())
        (x, x[...])
        (x[...], x)
        (x[...], x[...])
        (x, T.empty(0).set_(x))
        (x, T.empty(0).set_(x).view(x.size()))
        (tensor_with_gradient(x, y), y)
        (y, tensor_with_gradient(x, y))
        (tensor_with_gradient(x, y), y.detach())
        (x._neg_view().detach(), y)
        (T.nn.Parameter(x, requires_grad=False), y)
        (x, y.detach().requires_grad_())
        (x, T.ones(*y.size(), dtype=T.float64))""")
def functions_of_inputs():
    return expressions_of("t, u", """
        t.add(u)
        t.add_(1).add(u)
        (t.mul_(2), u)
        (u.data.add_(1), t)
        t.copy_(u)
        (t.view(-1), u[0])
        (t.fill_(3), u.clone())
        (u[0].mul_(5), t == u)
        (t.detach().add_(u), u)
        (t, t.sum(), u.t())
        (u.relu_(), t.narrow(0, 0, u.size(0) - 1))
        (t.add_(u.clone()), u.add(t))""")
def related_inputs(relation, rows=3):
    x, y = [T.tensor([float(place) - 2 for place in range(start, start + rows * 2)]).view(
        rows, 2).detach() for start in (0, 3)]
    return relation(x, y)
def outcome_of_inputs(function, tensors):
    """The error of FUNCTION, and the text of TENSORS and what it returns."""
    results = []
    raised = class_raised(lambda: results.append(function(*tensors)))
    if results and type(results[0]) is tuple:
        results = results[0]
    return raised, text_of_tensors(*tensors, *results)
def check_inputs_again(graph, function, relation, rows, where):
    """The graph, the one that is traced again, and the text do what the function does to inputs
    that pass, which those of the example do."""
    if not graph.check(*related_inputs(relation, rows)):
        assert rows != 3, f"M11: the graph {where} refuses its example"
        return
    raised, expected = outcome_of_inputs(function, related_inputs(relation, rows))
    names = {"T": T}
    exec(graph.code, names)
    again = T._meta.retrace(graph)
    assert again.code == graph.code, f"M5: the graph {where} has another text when traced again"
    for name, twin in (("graph", graph), ("graph traced again", again), ("text", names["graph"])):
        found = outcome_of_inputs(twin, related_inputs(relation, rows))
        assert found == (raised, expected), (
            f"M11: the {name} {where} raises {found[0]}, and leaves and returns {found[1]}, not"
            f" {expected}")
    names.clear()  # the function of the text refers to its names
def check_related_inputs(relations, relation, function, mode):
    graphs, where = [], f"of {function.__name__} ({mode}) with (t, u) = {relation.__name__}"
    trace = T.fx.experimental.proxy_tensor.make_fx(function, tracing_mode=mode)
    raised = class_raised(lambda: graphs.append(trace(*related_inputs(relation))))
    right = class_raised(lambda: function(*related_inputs(relation)))
    assert raised is right, f"M11: the trace {where} raises {raised}, and its function {right}"
    if raised:
        return 0
    for rows in (3,) if mode == "fake" else (3, 5):
        check_inputs_again(graphs[0], function, relation, rows, where)
    first = relations.index(relation)
    for other in relations[(first + 1) % 5::5]:  # not this one
        inputs, twins = related_inputs(other), related_inputs(other)
        passes = graphs[0].check(*inputs)
        assert not passes, f"M11: check() of the graph {where} takes {other.__name__}"
        found = outcome_of_inputs(graphs[0], inputs)
        assert found == (RuntimeError, text_of_tensors(*twins)), (
            f"M11: the graph {where} raises {found[0]} for {other.__name__}, and leaves {found[1]}")
    return 1
def pairs_of_related_inputs():
    relations, traced_ones = relations_of_inputs(), 0
    with T.no_grad():
        for i, relation in enumerate(relations):
            for j, function in enumerate(functions_of_inputs()):
                if (i + j) % 4 == 0:
                    mode = ("symbolic", "dynamic", "fake")[(i + j // 4) % 3]
                    traced_ones += check_related_inputs(relations, relation, function, mode)
    assert traced_ones > 30, f"M11: only {traced_ones} functions were traced"
