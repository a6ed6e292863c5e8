"""Hooks, kept gradients and reads between writes to a tensor and its views."""

#: pairs_of_hooks_amid_writes [slotcore]: each hook sees the gradient of the value of its time
import random
def scaled_gradient(gradient, seen, number):
    seen.append((number, gradient.tolist()))
    return gradient * 2
class WrittenModel:
    """The base b = x * 1 and its views v = b[1:] and w = b[:], with what a backward must give.
    A value of b or of a view lasts until the next write; a write without recording changes no
    node of b, but those of the views."""
    parts = {"b": (0, 1), "v": (1,), "w": (0, 1)}
    def __init__(self):
        self.x = T.tensor([2.0, 3.0]).requires_grad_()
        self.b = self.x * 1
        self.v, self.w = self.b[1:], self.b[:]
        self.values = [{"write": None, "reads": [], "hooks": []}]
        self.kept, self.loss, self.hooks, self.seen = set(), self.x.sum() * 0, 0, []
    def write(self, act, factors, source, recorded=True):
        """FACTORS are the derivatives of the elements; x[SOURCE] is copied to b[1]."""
        with T.set_grad_enabled(recorded):
            act(self)
        self.values.append({"write": (factors, source) if recorded else None, "reads": [],
                            "hooks": []})
    def read(self, name):
        weight = 10 * len(self.values) + len(self.values[-1]["reads"])
        self.loss = self.loss + (getattr(self, name) * weight).sum()
        self.values[-1]["reads"].append((name, weight))
    def hook(self, name):
        number, self.hooks = self.hooks, self.hooks + 1
        getattr(self, name).register_hook(
            lambda gradient, seen=self.seen: scaled_gradient(gradient, seen, number))
        self.values[-1]["hooks"].append((name, number))
    def keep(self, name):
        getattr(self, name).retain_grad()
        self.kept.add(name)
    def through_hooks(self, name, gradient, hooks, right, is_last):
        """GRADIENT behind the hooks of a value, which are noted in RIGHT with what they see."""
        for place, number in hooks:
            if place == name:
                right["hooks"].append((number, gradient))
                gradient = [2 * one for one in gradient]
        if is_last and name in self.kept:
            right[name] = gradient
        return gradient
    def expected(self):
        right, totals, x, of_base = {"hooks": []}, [0, 0], [0, 0], []
        last_of_base = max(n for n, one in enumerate(self.values) if one["write"] or n == 0)
        for number in range(len(self.values) - 1, -1, -1):
            value = self.values[number]
            for name, parts in self.parts.items():
                weights = [weight for one, weight in value["reads"] if one == name]
                gradient = [sum(weights)] * len(parts)
                if name != "b" and weights:
                    gradient = self.through_hooks(
                        name, gradient, value["hooks"], right, number == len(self.values) - 1)
                for part, one in zip(parts, gradient):
                    totals[part] += one
            of_base = value["hooks"] + of_base
            if number and not value["write"]:
                continue
            totals = self.through_hooks("b", totals, of_base, right, number == last_of_base)
            factors, source = value["write"] or ((1, 1), None)
            if source is not None:
                x[source] += totals[1]
            totals, of_base = [one * factor for one, factor in zip(totals, factors)], []
        right["x"] = [one + more for one, more in zip(totals, x)]
        right["hooks"].sort()
        return right
    def found(self):
        """After reads of all three; a kept gradient of none of them may be missing."""
        for name in self.parts:
            self.read(name)
        expected = self.expected()
        self.loss.backward()
        grads = {name: getattr(self, name).grad for name in ("x", "b", "v", "w")}
        found = {name: one.tolist() for name, one in grads.items() if one is not None}
        return {**found, "hooks": sorted(self.seen)}, expected
def steps_amid_writes():
    return expressions_of("m", """
        m.hook("b")
        m.hook("v")
        m.hook("w")
        m.keep("b")
        m.keep("v")
        m.read("b")
        m.read("v")
        (m.w.grad_fn, m.v.is_leaf)
        m.write(lambda m: m.b.mul_(3), (3, 3), None)
        m.write(lambda m: m.v.mul_(5), (1, 5), None)
        m.write(lambda m: m.w[:1].mul_(7), (7, 1), None)
        m.write(lambda m: m.v.fill_(4), (1, 0), None)
        m.write(lambda m: m.v.copy_(m.x[:1]), (1, 0), 0)
        m.write(lambda m: m.w.__setitem__(1, m.x[1]), (1, 0), 1)
        m.write(lambda m: fn("write_input", "x", "doubles", "mark_input").apply(m.b), (2, 2), None)
        m.write(lambda m: fn("write_input", "x", "doubles", "mark_input").apply(m.v), (1, 2), None)
        m.write(lambda m: m.b.mul_(9), (9, 9), None, False)
        m.write(lambda m: m.v.fill_(8), (1, 0), None, False)""")
def pairs_of_hooks_amid_writes():
    chosen, steps, asked = random.Random(5), steps_amid_writes(), 0
    kinds = steps[:8] + 3 * steps[:3], steps[8:]
    for _ in range(140):
        program = [chosen.choice(chosen.choice(kinds)) for _ in range(chosen.randrange(3, 8))]
        model = WrittenModel()
        for step in program:
            step(model)
        found, expected = model.found()
        assert found == expected, (
            f"A3g: the gradients of hooks, of x and of what keeps one are {found}, not {expected},"
            f" after {[step.__name__ for step in program]} with m.b = x * 1, m.v = m.b[1:] and"
            f" m.w = m.b[:]")
        asked += len(found["hooks"])
    assert asked > 120, f"A3g: only {asked} hooks have run"
