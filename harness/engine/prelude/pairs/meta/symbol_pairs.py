"""Environments of symbols and traced graphs: what they decide is right for all that they accept."""

#: pairs_of_decided_alike [slotcore]: frozen, read and fresh environments decide alike
import itertools
def decisions_before():
    """What a program has decided of the symbols a and b, whose hints are 7 and 5, or asserted of
    u, a number from data."""
    return expressions_of("a, b, u", """
        None
        bool(a == b + 2)
        bool(a * b > 30)
        (bool(a > 6), bool(b <= 5))
        a // b
        int(b)
        T._check(u == a - 3)
        (T._check(u >= 2), T._check(u <= 9))
        T._check(u + b == a + 2)
        (bool(a // 2 * 2 == b + 1), bool(a == b + 2))
        (T._check(u < a), bool(a // 3 * b == 10))""")
def conditions_to_decide():
    return expressions_of("a, b, u", """
        a > b
        a // 2 == b - 2
        a % 3 > 0
        T.sym_max(a, b) == a
        T.sym_min(a, b) > 4
        b < 6
        a * b > 20
        a - b >= 2
        (a + b) // 3 >= 4
        a // b == 1
        a % b != 2
        a == 7
        a != b
        u > 1
        u // 2 == 2
        u == a - 3
        u * u > 3
        u % 2 == 0
        2 * a == 4
        u - b < 0
        a // 2 % 2 == 1
        a // 2 // 2 == 1
        T.sym_max(u, b) == b
        a // 3 * b > 9
        b // u == 1""")
def answer_of_condition(condition, numbers):
    """Whether CONDITION holds, or the class of its error: what only the data decides is one."""
    found = []
    return class_raised(lambda: found.append(bool(condition(*numbers)))) or found[0]
class DecidingEnv:
    """A new environment in which BEFORE was decided; `symbols` are its a, b and u."""
    def __init__(self, before):
        self.env = T.fx.experimental.symbolic_shapes.ShapeEnv()
        self.symbols = (self.env.create_symint(7, "x"), self.env.create_symint(5, "y"),
                        self.env.create_unbacked_symint())
        before(*self.symbols)
def check_frozen_env(before, conditions):
    """A frozen environment answers as a fresh one does, unless that needs a new guard."""
    frozen = DecidingEnv(before)
    frozen.env.freeze()
    text = T._meta.dumps_env(frozen.env)
    for condition in conditions:
        fresh, where = DecidingEnv(before), f"{condition.__name__} after {before.__name__}"
        text_before = T._meta.dumps_env(fresh.env)
        answer = answer_of_condition(condition, fresh.symbols)
        grows = T._meta.dumps_env(fresh.env) != text_before
        again = answer_of_condition(condition, fresh.symbols)
        assert again is answer, f"M11: {where} is first {answer} and then {again}"
        expected = RuntimeError if grows else answer
        found = answer_of_condition(condition, frozen.symbols)
        assert found is expected, (
            f"M11: {where} is {found} in a frozen environment, not {expected}")
    assert T._meta.dumps_env(frozen.env) == text, (
        f"M11: conditions change a frozen environment after {before.__name__}")
def check_read_env(before, conditions):
    """An environment that was read from text decides as the one that was written."""
    written = DecidingEnv(before).env
    read = T._meta.loads_env(T._meta.dumps_env(written))
    numbers, twins = [(env.create_symint(7, "p"), env.create_symint(5, "q"), 4)
                      for env in (written, read)]
    for condition in conditions:
        expected = answer_of_condition(condition, numbers)
        found = answer_of_condition(condition, twins)
        assert found is expected, (
            f"M11: {condition.__name__} of new symbols after {before.__name__} is {found} in an"
            f" environment from text, not {expected}")
    assert T._meta.dumps_env(read) == T._meta.dumps_env(written), (
        f"M11: decisions make another environment of one from text after {before.__name__}")
def check_sound_decisions(before, conditions, answers_to_numbers):
    """What was decided holds for all numbers that pass the guards and assertions."""
    deciding = DecidingEnv(before)
    answers = [answer_of_condition(condition, deciding.symbols) for condition in conditions]
    passing = 0
    for numbers, expected in answers_to_numbers.items():
        if not deciding.env.check(numbers[:2], numbers[2:]):
            continue
        passing += 1
        for condition, answer in zip(conditions, answers):
            assert answer in (expected[condition], RuntimeError), (
                f"M11: {condition.__name__} is decided as {answer} after {before.__name__}, but"
                f" (a, b, u) = {numbers}, which pass the guards, give {expected[condition]}")
    assert passing, f"M11: no numbers pass the guards after {before.__name__}"
def assertions_of_several():
    """Assertions of the inputs a and b and the numbers u, v and w, which only data give."""
    return expressions_of("a, b, u, v, w", """
        u < v
        v == w + 1
        u % 3 == w
        a > u
        b + w > v
        u * v > a * w
        T.sym_max(u, w) >= v
        u // b == w - 1
        w != a""")
def check_numbers_of_several(chosen, numbers):
    """check() says whether CHOSEN assertions hold for numbers of several symbols."""
    env = T.fx.experimental.symbolic_shapes.ShapeEnv()
    u, a = env.create_unbacked_symint(), env.create_symint(7, "x")
    v, b = env.create_unbacked_symint(), env.create_symint(5, "y")
    w = env.create_unbacked_symint()
    for assertion in chosen:
        T._check(assertion(a, b, u, v, w))
    answers = [all(assertion(*sizes, *data) for assertion in chosen) for sizes, data in numbers]
    assert {*answers} == {True, False}, f"M11: all numbers are alike to {len(chosen)} assertions"
    for (sizes, data), expected in zip(numbers, answers):
        found = env.check(sizes, data)
        assert found is expected, (
            f"M11: check({sizes}, {data}) is {found}, not {expected}, with the assertions"
            f" {' and '.join(assertion.__name__ for assertion in chosen)} of a, b, u, v, w")
def check_several_numbers():
    numbers = [*itertools.product(((7, 5), (4, 3)), itertools.permutations((1, 2, 3, 5), 3)),
               ((7, 5), (2, 2, 1)), ((6, 3), (4, 2, 1)), ((6, 3), (5, 5, 5)), ((7, 5), (1, 3, 1))]
    for chosen in itertools.combinations(assertions_of_several(), 2):
        check_numbers_of_several(chosen, numbers)
def pairs_of_decided_alike():
    conditions = conditions_to_decide()
    answers_to_numbers = {
        numbers: {condition: answer_of_condition(condition, numbers) for condition in conditions}
        for numbers in itertools.product(range(2, 10), (4, 5), (4, 6))}
    for before in decisions_before():
        check_frozen_env(before, conditions)
        check_read_env(before, conditions)
        for first in range(5):
            check_sound_decisions(before, conditions[first::5], answers_to_numbers)
    check_several_numbers()

#: pairs_of_graph_twins, text_of_tensors [slotcore]: a graph does what its function does
def numbers_with_zeros(sizes, strides, offset=0):
    base = T.tensor([place % 5 - 1.0 for place in range(24)])
    return base.as_strided(sizes, strides, offset)
def layouts_of_matrices():
    """Matrices of the sizes n that require no gradient: contiguous, transposed, behind an offset,
    with equal rows, with gaps, and negative."""
    return expressions_of("n", """
        T.ones(*n).copy_(numbers_with_zeros(n, (2, 1)))
        T.ones(*n[::-1]).copy_(numbers_with_zeros(n, (2, 1)).t()).t().detach()
        numbers_with_zeros(n, (n[1], 1), 1).detach()
        numbers_with_zeros(n, (0, 1)).detach()
        numbers_with_zeros(n, (4, 2), 3)
        numbers_with_zeros(n, (1, 3), 2)._neg_view().detach()""")
def functions_to_trace():
    """Functions, and how many of sizes_of_matrices(), from the first on, pass the guards of each
    that is traced with symbols: what it decides about a size meanwhile becomes a guard."""
    rows = expression_rows("t", """
        t.view(-1) -> 3
        t.view(-1).add_(1) -> 3
        t.t().clone() -> 3
        t.add(t) -> 3
        t[1:] -> 1
        (t[0].mul(2), t) -> 3
        t.narrow(0, 0, t.size(0) // 2) -> 3
        t.expand(2, *t.size()) -> 3
        t.detach().copy_(t) -> 1
        (t.t(), t.mul_(2)) -> 3
        t.select(-1, 0).fill_(3) -> 4
        t._neg_view() -> 3
        (t.data.mul_(3), t == 1) -> 3
        t.add(1) if t.size(0) > 2 else t[...] -> 2
        t.clone().relu_().sum() -> 3
        t.view(*t.size()[::-1]) -> 3
        t.as_strided((2,), (1,)) -> 1
        t[0].copy_(t[-1]) -> 1
        t.add(t.view_as(t)[:1]) -> 1
        t.t().add_(2) -> 3""")
    return [(function, count(None)) for function, count in rows]
def sizes_of_matrices():
    return (3, 2), (4, 2), (2, 3), (1, 2), (0, 2)
def text_of_tensors(*tensors):
    describer = T._subclasses.meta_utils.MetaTensorDescriber()
    return T._meta.describe(describer, *tensors, copy_data=True).as_json()
def outcome_of_twin(function, tensor):
    """The error of FUNCTION, and the text of TENSOR after the call together with the results."""
    results = []
    raised = class_raised(lambda: results.append(function(tensor)))
    if results and type(results[0]) is tuple:
        results = results[0]
    return raised, text_of_tensors(tensor, *results)
def check_twins(twins, function, make, sizes, passes, where):
    """Each twin does as FUNCTION to a tensor that passes, and refuses another one untouched. TWINS
    has their names, what they do, and the errors that say that a tensor does not pass."""
    raised, text = (outcome_of_twin(function, make(sizes)) if passes
                    else (None, text_of_tensors(make(sizes))))
    for name, twin, refusal in twins:
        found = outcome_of_twin(twin, make(sizes))
        expected = raised if passes else refusal
        assert found[0] is expected, (
            f"M11: the {name} {where}, on n = {sizes}, raises {found[0]}, not {expected}")
        assert found[1] == text, (
            f"M11: the {name} {where}, on n = {sizes}, leaves and returns {found[1]}, not {text}")
def check_graph_twins(function, count, make, mode):
    graphs, names, first = [], {"T": T}, sizes_of_matrices()[0]
    trace = T.fx.experimental.proxy_tensor.make_fx(function, tracing_mode=mode)
    raised = class_raised(lambda: graphs.append(trace(make(first))))
    expected = class_raised(function, make(first))
    where = f"of {function.__name__} with t = {make.__name__} in mode {mode}"
    assert raised is expected, f"M11: the trace {where} raises {raised}, not {expected}"
    if raised:
        return
    exec(graphs[0].code, names)
    twins = (("graph", graphs[0], RuntimeError), ("text of the graph", names["graph"],
                                                  AssertionError))
    try:
        for number, sizes in enumerate(sizes_of_matrices()):
            passes = graphs[0].check(make(sizes))
            assert passes is (number < (1 if mode == "fake" else count)), (
                f"M11: check() of the graph {where} returns {passes} for n = {sizes}")
            check_twins(twins, function, make, sizes, passes, where)
    finally:
        names.clear()  # the function of the text refers to its names
def pairs_of_graph_twins():
    layouts = layouts_of_matrices()
    with T.no_grad():
        for i, (function, count) in enumerate(functions_to_trace()):
            for j, mode in enumerate(("symbolic", "dynamic", "fake")):
                if (i + j) % 2:
                    check_graph_twins(function, count, layouts[(i + 2 * j) % 6], mode)

#: pairs_of_odd_fields [slotcore]: a text with a value of another type is refused, at its place
import itertools, json
def places_of_document(part, pointer=""):
    """Each list or dict of a document, with a key of it and its JSON pointer."""
    for key, value in [*(part.items() if type(part) is dict else enumerate(part))]:
        yield part, key, f"{pointer}/{key}"
        if type(value) in (dict, list):
            yield from places_of_document(value, f"{pointer}/{key}")
def described_for_odd_fields():
    """Texts of a view and its leaf, which has a gradient, and of a fake with symbols."""
    leaf = T.ones(4).requires_grad_()
    leaf.grad = T.ones(4)
    rows = T._subclasses.FakeTensorMode(
        shape_env=T.fx.experimental.symbolic_shapes.ShapeEnv()).from_tensor(
            T.ones(3, 4)[1:], kind="dynamic")
    describer = T._subclasses.meta_utils.MetaTensorDescriber
    return {"a view and a leaf": T._meta.describe(describer(), leaf[1:3], leaf).as_json(),
            "a fake": T._meta.dumps(describer().describe_tensor(rows))}
def check_odd_field(name, document, part, key, pointer, odd):
    value, part[key] = part[key], odd
    text, part[key] = json.dumps(document), value
    where = f"a description of {name} whose {pointer} is {json.dumps(odd)}"
    try:
        T._meta.loads(text)
    except ValueError as error:
        found = str(error).split('"')[1]
        assert f"{found}/".startswith(f"{pointer}/"), f"M6: the error says {error} for {where}"
    else:
        raise AssertionError(f"M6: the reader takes {where}")
def pairs_of_odd_fields():
    odds = None, [], [1], ["a"], [[1]], {}, {"a": 1}, "", "a", 1.5, True
    for name, text in described_for_odd_fields().items():
        document = json.loads(text)
        for (part, key, pointer), odd in itertools.product(places_of_document(document), odds):
            if type(odd) is not type(part[key]):
                check_odd_field(name, document, part, key, pointer, odd)
