"""What lines about recipes may call: a Function whose forward does some things, beside a model.

The model says what the results are, what backward is given, and what the ctx has at each time.
And acts on three results of one Function. That model has a list of hooks for each dictionary of
hooks, and one number for each gradient, since all elements of a gradient are equal.
"""

#: Recipe: what a forward has done, and what follows from it
class Recipe:
    def __init__(self):
        self.saved, self.is_dirty, self.materializes, self.refused = [], False, True, None
        self.note = None
    def forward(self, ctx, x, y, names):
        self.x, self.y, self.ctx = x, y, ctx
        self.results = [x * 2]
        for name in names:
            ingredients[name](self, ctx)
        return tuple(self.results) if len(self.results) > 1 else self.results[0]
    def save(self, ctx, *tensors):
        ctx.save_for_backward(*tensors)
        self.saved = list(tensors)
    def gives_argument(self):
        return any(one is self.x for one in self.results)
    def dirty(self, ctx):
        if self.gives_argument():
            return
        ctx.mark_dirty(self.x.mul_(2))
        self.results[0], self.is_dirty = self.x, True
    def give_argument(self, ctx):
        if not self.gives_argument():
            self.results.append(self.x)
    def add_result(self, ctx):
        self.results.append(T.ones(len(self.results) + 1))
    def refuse(self, ctx):
        # Each call replaces what former ones have marked.
        self.refused = self.results[-1]
        ctx.mark_non_differentiable(self.refused)
    def ignore_missing(self, ctx):
        ctx.set_materialize_grads(False)
        self.materializes = False
    def take_note(self, ctx):
        ctx.note = self.note = 7
ingredients = {
    "nothing": lambda r, ctx: None, "save_input": lambda r, ctx: r.save(ctx, r.x),
    "save_both": lambda r, ctx: r.save(ctx, r.x, r.y),
    "save_result": lambda r, ctx: r.save(ctx, r.results[0]),
    "save_none": lambda r, ctx: r.save(ctx, None, r.y), "save_nothing": lambda r, ctx: r.save(ctx),
    "save_for_forward": lambda r, ctx: ctx.save_for_forward(r.y, r.x), "dirty": Recipe.dirty,
    "add_result": Recipe.add_result, "give_argument": Recipe.give_argument,
    "refuse": Recipe.refuse,
    "ignore_missing": Recipe.ignore_missing, "take_note": Recipe.take_note,
}

#: check_recipe: results, arguments of backward and ctx of a Function are those of its recipe (A8)
#> check_recipe: checks
def lists_of(tensors):
    return [None if one is None else one.tolist() for one in tensors]
def follow(recipe, names):
    class Follows(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, number):
            return recipe.forward(ctx, x, y, names)
        @staticmethod
        def backward(ctx, *gradients):
            recipe.given, recipe.shown = gradients, ctx.saved_tensors
            return gradients[0], None, None
    leaf = T.tensor([2.0, 3.0]).requires_grad_()
    x = leaf * 1
    of_x = x.grad_fn
    results = Follows.apply(x, T.ones(2), 3)
    results = results if isinstance(results, tuple) else (results,)
    ctx = recipe.ctx
    assert ctx.needs_input_grad == (True, False, False), "A8: a ctx has other needs"
    if not recipe.is_dirty:
        assert x.grad_fn is of_x, "A8: a Function has changed the graph of an argument"
        assert all(one is not x for one in results), "A8: a result is the argument itself"
    assert getattr(ctx, "note", None) == recipe.note, "A1a: an attribute of a ctx is lost"
    requires = [one is not recipe.refused for one in recipe.results]
    assert not recipe.is_dirty or not requires[0] or results[0] is x, (
        "A8: a dirty tensor is another object")
    assert [one.requires_grad for one in results] == requires, (
        f"A8: results require {[one.requires_grad for one in results]}")
    assert [one.grad_fn is ctx for one in results] == requires, "A1c: a node is not its ctx"
    before = lists_of(recipe.saved)
    if not requires[0]:
        return
    (results[0] * 3).sum().backward()
    assert leaf.grad.tolist() == [3.0, 3.0], f"A7: a gradient is {leaf.grad.tolist()}"
    after = lists_of(recipe.shown)
    assert after == before, f"A2: a ctx shows {after}, and had saved {before}"
    missing = [[0.0] * one.numel() if recipe.materializes else None for one in results[1:]]
    found = lists_of(recipe.given)
    assert found == [[3.0, 3.0], *missing], f"A8: a backward is given {found}"
    try:
        left = ctx.saved_tensors
    except RuntimeError:
        return
    assert False, f"A2a: after a backward a ctx has {left}"
def apply_unrecorded(recipe, names, x, needs):
    class Follows(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, number):
            return recipe.forward(ctx, x, y, names)
    results = Follows.apply(x, T.ones(2), 3)
    asked = recipe.ctx.needs_input_grad
    assert asked == (needs, False, False), f"A8: where nothing is recorded, a ctx has needs {asked}"
    assert x.requires_grad == needs, "A8: a Function that is not recorded detaches its argument"
    results = results if isinstance(results, tuple) else (results,)
    assert recipe.is_dirty or all(one is not x for one in results), (
        "A8: where nothing is recorded, a result is the argument itself")
    requires = [one.requires_grad for one in results if one is not x]
    assert not any(requires), f"A5e: unrecorded results require {requires}"
def follow_unrecorded(recipe, names):
    x = T.tensor([2.0, 3.0]).requires_grad_() * 1
    with T.no_grad():
        apply_unrecorded(recipe, names, x, True)
def follow_constant(recipe, names):
    x = T.ones(2).view(-1)
    apply_unrecorded(recipe, names, x, False)
    if not recipe.is_dirty:
        error = raised_by(lambda: x.add_(T.ones(2).requires_grad_()))
        assert error is None, f"A8: what a Function has returned cannot be written: {error}"
def check_recipe(*names):
    if in_hermetic():
        return  # a ctx would show other wrappers
    for follows in (follow, follow_unrecorded, follow_constant):
        recipe = Recipe()
        try:
            with T.enable_grad():
                follows(recipe, names)
        finally:
            # Two results, or a result and what the ctx has shown, own the node together (A4a).
            recipe.__dict__.clear()

#: ResultsOfSizes, Results: three results of 1, 2 and 3 elements, which are 1, 2 and 3 times a leaf
class ResultsOfSizes(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return tuple(x.expand(times) * times for times in (1, 2, 3))
    @staticmethod
    def backward(ctx, *gradients):
        return sum((one * times).sum() for times, one in enumerate(gradients, 1)).view(1)
def hook_that_notes(log, number, factor, size):
    def hook(gradient):
        log.append((number, None if gradient is None else gradient.tolist()))
        if factor is None:
            return T.ones(size) * 3
        if gradient is not None and factor != 1:
            return gradient * factor
    return hook
class Results:
    def __init__(self):
        self.leaf = T.tensor([2.0]).requires_grad_()
        self.results = ResultsOfSizes.apply(self.leaf)
        self.log, self.factors, self.places = [], [], []  # the last two are of each hook
        self.handles, self.hooks = [[], [], []], [None, None, None]  # of each result
        self.run = []  # a result and its hooks, in the order in which the node got them
        self.used, self.started, self.retained = {0, 1, 2}, [], set()
    def nothing(self):
        pass
    def register(self, place, factor):
        number = len(self.factors)
        self.factors.append(factor)
        self.places.append(place)
        hook = hook_that_notes(self.log, number, factor, place + 1)
        self.handles[place].append((self.results[place].register_hook(hook), number))
        if self.hooks[place] is None:
            self.hooks[place] = []
            self.run.append((place, self.hooks[place]))
        self.hooks[place].append(number)
    def hook(self, place):
        self.register(place, 1)
    def double(self, place):
        self.register(place, 2)
    def replace(self, place):
        self.register(place, None)
    def remove(self, place):
        if self.handles[place]:
            handle, number = self.handles[place].pop()
            handle.remove()
            for _, hooks in self.run:
                if number in hooks:
                    hooks.remove(number)
    def share(self, place, other):
        if not is_slotcore:  # torch promises nothing of the private attribute
            return
        self.results[other]._backward_hooks = self.results[place]._backward_hooks
        hooks = self.hooks[other] = self.hooks[place]
        is_run = any(one == other and each is hooks for one, each in self.run)
        if hooks is not None and not is_run:
            self.run.append((other, hooks))
    def retain(self, place):
        self.results[place].retain_grad()
        self.retained.add(place)
    def start(self, place):
        self.started.append(place)
    def skip(self, place):
        self.used.discard(place)
    def gradient(self, place):
        number = 10.0 ** place * (place in self.used) + 7 * self.started.count(place)
        return number or None
    def backward(self):
        """Runs a backward from the sum of what is used, and from each result that is started."""
        sums = [(self.results[place] * 10.0 ** place).sum() for place in sorted(self.used)]
        starts = [self.results[place] for place in self.started]
        T.autograd.backward([*sums, *starts], [*(None for _ in sums), *(
            T.ones(one.numel()) * 7 for one in starts)])
    def compare(self, error):
        gradients, heard = [self.gradient(place) for place in range(3)], []
        is_wrong = False  # a hook may not replace a missing gradient, nor change a size
        for place, hooks in self.run:
            for number in hooks:
                given, factor = gradients[place], self.factors[number]
                heard.append((number, None if given is None else [given] * (place + 1)))
                is_other_size = self.places[number] != place
                is_wrong = is_wrong or factor is None and (given is None or is_other_size)
                gradients[place] = 3.0 if factor is None else given and given * factor
        assert (error is not None) == is_wrong, (
            f"A3b: a backward from results raises {'nothing' if is_wrong else 'an error'}")
        if error is not None:
            return
        assert self.log == heard, f"A3b: hooks are given {self.log}, and not {heard}"
        for place in self.retained:
            found, given = self.results[place].grad, gradients[place]
            assert (found is None) == (given is None), f"A3g: retained is {found}, and not {given}"
            assert found is None or found.tolist() == [given] * (place + 1), (
                f"A3g: a retained gradient is {found.tolist()}, and not {given}")
        total = sum((place + 1) ** 2 * (given or 0) for place, given in enumerate(gradients))
        found = self.leaf.grad.tolist()
        assert found == [total], f"A7: a gradient through results is {found}, and not {total}"

#: check_results: hooks and gradients of several results of a node, beside a model (A3, A7, A8)
#> check_results: checks
def check_results(*steps):
    if in_hermetic():
        return
    with T.enable_grad():
        one = Results()
        for step in steps:
            verb, *places = step.split()
            getattr(one, verb)(*map(int, places))
        if one.used or one.started:
            one.compare(raised_by(one.backward))

#: check_returned: what a backward gives for each argument is a gradient, or an error (A8, A2a)
#> check_returned: checks
given_back = {
    "nothing": None, "gradient": T.ones(2), "wide": T.ones(3), "number": 7, "list": [T.ones(2)],
}
counts_given_back = {"less": (), "more": ("nothing", "nothing")}
class Returns(T.autograd.Function):
    @staticmethod
    def forward(ctx, gradients, x, number, constant, y):
        ctx.save_for_backward(x)
        ctx.gradients = gradients
        return x + y
    @staticmethod
    def backward(ctx, gradient):
        ctx.saved_tensors
        return (None, *ctx.gradients)
def is_gradient(kind, argument):
    """Whether a backward may give what is of KIND for an ARGUMENT."""
    if kind == "nothing":
        return True
    if argument == "constant":  # nobody looks at the sizes
        return kind in ("gradient", "wide")
    return kind == "gradient" and argument in ("x", "y")
def check_returned(*kinds):
    if in_hermetic():
        return
    kinds = [one for kind in kinds for one in counts_given_back.get(kind, (kind,))]
    with T.enable_grad():
        x, y = T.ones(2).requires_grad_(), T.ones(2).requires_grad_()
        result = Returns.apply([given_back[kind] for kind in kinds], x, 3, T.ones(2), y)
        try:
            result.sum().backward()
        except (RuntimeError, TypeError) as raised:
            error = raised
        else:
            error = None
        arguments = "x", "number", "constant", "y"
        is_right = len(kinds) >= 4 and {*kinds[4:]} <= {"nothing"} and all(
            map(is_gradient, kinds, arguments))
        raises = "nothing" if error is None else "an error"
        assert (error is None) == is_right, f"A8: a backward gives {kinds} and raises {raises}"
        if not is_right:
            return
        for kind, leaf in zip(kinds, (x, None, None, y)):
            if leaf is not None:
                assert (leaf.grad is None) == (kind == "nothing"), f"A8: {kind} is {leaf.grad}"
        again = raised_by(result.sum().backward)
        assert again is not None, f"A2a: a node that gave {kinds} has not freed what it saved"
