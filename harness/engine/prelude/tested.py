"""What lines may call about a user's function: `tested`, which `hunt --function` defines.

It takes tensors and returns a tensor or a tuple. The checks need a deterministic function that is
defined for vectors of three numbers between 0.5 and 2.
"""

#: arguments_of_tested: the number of tensors that a call takes
import inspect
def arguments_of_tested():
    owner = getattr(tested, "__self__", None)
    is_class = isinstance(owner, type) and issubclass(owner, T.autograd.Function)
    called = owner.forward if is_class else tested
    free = [one for one in inspect.signature(called).parameters.values()
            if one.default is one.empty and one.kind <= one.POSITIONAL_OR_KEYWORD]
    base = getattr(T.autograd.Function, "setup_context", None)
    return len(free) - (is_class and getattr(owner, "setup_context", None) is base)

#: tested_leaves: leaves of three numbers for a call; one number may change
def tested_leaves(argument=0, index=0, change=0):
    leaves = []
    for number in range(arguments_of_tested()):
        values = [0.5 + (7 * i + 3 * number) % 5 / 4 for i in range(3)]
        if number == argument:
            values[index] += change
        leaves.append(T.tensor(values, dtype=T.float64).requires_grad_())
    return leaves

#: tested_total: a sum to which each element of each differentiable result contributes in its way
def tested_total(leaves):
    results = tested(*leaves)
    total = None
    for number, one in enumerate(results if isinstance(results, tuple) else (results,)):
        if isinstance(one, T.Tensor) and one.requires_grad:
            weights = [1 + (i + number) % 7 for i in range(one.numel())]
            part = (one * T.tensor(weights, dtype=one.dtype).view(tuple(one.size()))).sum()
            total = part if total is None else total + part
    if total is None:
        raise TypeError("no result requires a gradient")
    return total

#: tested_gradients: the numbers of the gradient of each argument
def numbers_in(gradient, leaf):
    return [0.0] * leaf.numel() if gradient is None else unnested(gradient.tolist())
def tested_gradients(leaves, total, **options):
    found = T.autograd.grad(total, leaves, allow_unused=True, **options)
    return [numbers_in(*pair) for pair in zip(found, leaves)]

#: check_tested_gradient: gradients agree with central differences (A7)
#> check_tested_gradient: checks
def check_tested_gradient():
    step = 1e-3
    with T.enable_grad():
        leaves = tested_leaves()
        for argument, numbers in enumerate(tested_gradients(leaves, tested_total(leaves))):
            for index, number in enumerate(numbers):
                low, high = [tested_total(tested_leaves(argument, index, change)).item()
                             for change in (-step, step)]
                expected = (high - low) / (2 * step)
                assert abs(number - expected) <= 1e-3 * max(1, abs(expected)), (
                    f"A7: element {index} of the gradient of argument {argument} is {number:.4g};"
                    f" central differences give {expected:.4g}")

#: check_tested_twice: a graph that is kept gives the same gradients again (A2a)
#> check_tested_twice: checks
def check_tested_twice():
    with T.enable_grad():
        leaves = tested_leaves()
        total = tested_total(leaves)
        first = tested_gradients(leaves, total, retain_graph=True)
        second = tested_gradients(leaves, total, retain_graph=True)
    assert first == second, f"A2a: the gradients are {first}, and the second time {second}"

#: check_tested_freed: a graph that nobody holds is freed, before and after a backward (A4a)
#> check_tested_freed: collects checks
def context_of(node):
    found = [node]
    for one in found:
        if hasattr(type(one), "saved_tensors"):
            return one
        found += [following for following, _ in one.next_functions if following is not None]
    raise TypeError("no custom Function recorded the call")
def check_tested_freed():
    for runs in (False, True):
        sentinel = new_sentinel()
        alive = weakref.ref(sentinel)
        with T.enable_grad():
            total = tested_total(tested_leaves())
            context_of(total.grad_fn).sentinel = sentinel
            if runs:
                total.backward()
        del sentinel, total
        gc.collect()
        gc.collect()  # resurrection hides what C++ owns in the first one
        when = "after its backward" if runs else "that never ran"
        assert alive() is None, f"A4a: the ctx of a graph {when} is never freed"

#: check_tested_references: calls and backwards keep no reference of what they get (A9)
#> check_tested_references: collects checks
def check_tested_references():
    def counts():
        gc.collect()
        return [sys.getrefcount(one) for one in (tested, *leaves)]
    with T.enable_grad():
        leaves = tested_leaves()
        before = counts()
        for _ in range(30):
            tested_gradients(leaves, tested_total(leaves))
        after = counts()
    # A cache may keep the first reference.
    assert all(new < old + 15 for old, new in zip(before, after)), (
        f"A9: 30 calls change counts of the function and its arguments: {before}, {after}")

#: tested_expected: arguments, one number of which differs, and their undisturbed gradients
def tested_expected(change):
    with T.enable_grad():
        leaves = tested_leaves(change=change)
        return leaves, tested_gradients(leaves, tested_total(leaves))

#: check_tested_nested: a backward that calls the function again, in the midst of another (A5d)
#> check_tested_nested: checks
def check_tested_nested():
    inner = []
    leaves, expected = tested_expected(0)
    others, expected_inside = tested_expected(0.25)
    def again(_):
        with T.enable_grad():
            inner.append(tested_gradients(others, tested_total(others)))
    with T.enable_grad():
        total = tested_total(leaves)
        total.register_hook(again)
        outer = tested_gradients(leaves, total)
    assert inner == [expected_inside], (
        f"A5d: a nested backward gives {inner}, not {expected_inside}")
    assert outer == expected, f"A5d: a backward around another gives {outer}, not {expected}"

#: check_tested_threads: two threads whose backwards run at once (A5b)
#> check_tested_threads: starts_thread checks
import threading
def check_tested_threads():
    errors, wrong, meeting = [], [], threading.Barrier(2)
    def meet(_):
        meeting.wait()
    def work(leaves, expected):
        try:
            for _ in range(10):
                with T.enable_grad():
                    total = tested_total(leaves)
                    total.register_hook(meet)
                    found = tested_gradients(leaves, total)
                if found != expected:
                    wrong.append((found, expected))
        except Exception as error:
            errors.append(error)
            meeting.abort()
    threads = [threading.Thread(target=work, args=tested_expected(change))
               for change in (0, 0.25)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors, f"A5b: while two threads use it, the function raises {errors[0]!r}"
    assert not wrong, "A5b: while two threads use it, gradients are {} and not {}".format(*wrong[0])
