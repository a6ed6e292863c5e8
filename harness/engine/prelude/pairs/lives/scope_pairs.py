"""Objects of `with` statements, whose enters and exits come in every order."""

#: pairs_of_scopes [slotcore]: an enter or an exit changes the thread's state or raises, not both
import itertools
class RestoringModel:
    """Each exit puts back what one enter found. A scope that IS_SET has been entered when made."""
    def __init__(self, part, wanted, is_set=False):
        self.part, self.wanted, self.is_set, self.found = part, wanted, is_set, []
    def begin(self, state):
        if self.is_set:
            self.found.append(state[self.part])
            state[self.part] = self.wanted
    def enter(self, state):
        if not self.is_set:
            self.found.append(state[self.part])
        self.is_set = False
        state[self.part] = self.wanted
        return True
    def exit(self, state):
        if not self.found:
            return False
        self.is_set = False
        state[self.part] = self.found.pop()
        return True
class OnceModel(RestoringModel):
    """It cannot be entered again before it has been left."""
    def enter(self, state):
        return not self.found and super().enter(state)
class InnermostModel:
    """A thread has a stack of these, and only the innermost one can be left."""
    def __init__(self, part):
        self.part = part
    def begin(self, state):
        pass
    def enter(self, state):
        state[self.part] = (*state[self.part], self)
        return True
    def exit(self, state):
        can_leave = state[self.part][-1:] == (self,)
        if can_leave:
            state[self.part] = state[self.part][:-1]
        return can_leave
class LastModel(InnermostModel):
    """Likewise, but an exit of any of them leaves the innermost one, as in PyTorch."""
    def exit(self, state):
        can_leave = bool(state[self.part])
        state[self.part] = state[self.part][:-1]
        return can_leave
def hooks_that_note(noted, name):
    return T.autograd.graph.saved_tensors_hooks(
        lambda saved: (noted.append(name), saved)[1], lambda packed: packed)
def kinds_of_scopes(noted):
    """By name: what makes a scope of that name in the program, and what makes its model."""
    return {
        "no_grad()": (lambda name: T.no_grad(), lambda: RestoringModel("records", False)),
        "enable_grad()": (lambda name: T.enable_grad(), lambda: RestoringModel("records", True)),
        "set_grad_enabled(False)": (lambda name: T.set_grad_enabled(False),
                                    lambda: RestoringModel("records", False, True)),
        "set_grad_enabled(True)": (lambda name: T.set_grad_enabled(True),
                                   lambda: RestoringModel("records", True, True)),
        "hermetic()": (lambda name: T.hermetic(), lambda: OnceModel("hermetic", True)),
        "FakeTensorMode()": (lambda name: FakeTensorMode(), lambda: InnermostModel("modes")),
        "saved_tensors_hooks()": (lambda name: hooks_that_note(noted, name),
                                  lambda: LastModel("hooks")),
    }
def change_recording(state):
    state["records"] = not state["records"]
    T.set_grad_enabled(state["records"])
def change_hermetic(state):
    state["hermetic"] = not state["hermetic"]
    (T.enter_hermetic if state["hermetic"] else T.exit_hermetic)()
def found_state(leaf, noted, names):
    """What shows of the state: a mode or hooks only by the innermost one."""
    mode = getattr(T.empty(0), "fake_mode", None)
    noted.clear()
    if mode is None and T.is_grad_enabled():
        leaf * leaf
    return (T.is_grad_enabled(), T._is_hermetic(), T._meta.mode_count(), names.get(id(mode)),
            noted[0] if noted else None)
def modelled_state(state, names):
    modes, hooks = state["modes"], state["hooks"]
    notes = hooks and not modes and state["records"]
    return (state["records"], state["hermetic"], len(modes),
            names[id(modes[-1])] if modes else None, names[id(hooks[-1])] if notes else None)
def leave_all():
    while T._meta.mode_count():
        T.empty(0).fake_mode.__exit__(None, None, None)
    hooks = T.autograd.graph.saved_tensors_hooks(abs, abs)
    while class_raised(hooks.__exit__, None, None, None) is None:
        pass
    if T._is_hermetic():
        T.exit_hermetic()
    T.set_grad_enabled(True)
def check_scope_events(kinds, chosen, events, end, leaf, noted):
    """CHOSEN are the kinds of the scopes; an event is a change, or a scope's number and method. An
    exit gets END."""
    state = {"records": True, "hermetic": False, "modes": (), "hooks": ()}
    pairs, names, past = [], {}, []
    for number, kind in enumerate(chosen):
        make, make_model = kinds[kind]
        pairs.append((make(number), make_model()))
        pairs[-1][1].begin(state)
        names.update({id(one): number for one in pairs[-1]})
    for event in events:
        if callable(event):
            past.append(event.__name__)
            event(state)
        else:
            number, method = event
            scope, model = pairs[number]
            past.append(f"{method} of {number}")
            given = () if method == "enter" else end
            raised = class_raised(getattr(scope, f"__{method}__"), *given)
            expected = None if getattr(model, method)(state) else RuntimeError
            assert raised is expected, f"H4: {past} of the scopes {chosen} raises {raised}"
    found, right = found_state(leaf, noted, names), modelled_state(state, names)
    assert found == right, f"H4: {past} of the scopes {chosen} makes the state {found}"
    scope = pairs.clear()
    if len(events) < 3:
        found = found_state(leaf, noted, {})
        assert found == (*right[:3], None, right[4]), (  # an object of a mode is only a handle
            f"H1: when the scopes {chosen} have died after {past}, the state is {found}")
def pairs_of_scopes():
    """Up to three events of each scope, also with an error, and of each pair that changes the same
    part."""
    noted, leaf, changes = [], T.ones(1).requires_grad_(), (change_recording, change_hermetic)
    kinds = kinds_of_scopes(noted)
    recording = [one for one in kinds if "grad" in one]
    pairs = [*itertools.combinations(recording, 2), *((one, one) for one in kinds),
             ("FakeTensorMode()", "saved_tensors_hooks()"), ("hermetic()", "FakeTensorMode()")]
    no_error, error = (None, None, None), (KeyError, KeyError(1), None)
    cases = [*itertools.product(((kind,) for kind in kinds), (no_error, error)),
             *((pair, no_error) for pair in pairs)]
    try:
        for chosen, end in cases:
            of_scopes = itertools.product(range(len(chosen)), ("enter", "exit"))
            all_events = (*of_scopes, *changes[:3 - len(chosen)])
            for length in (1, 2, 3):
                for events in itertools.product(all_events, repeat=length):
                    check_scope_events(kinds, chosen, events, end, leaf, noted)
                    leave_all()
    finally:
        leave_all()

#: pairs_of_hook_scopes [slotcore]: a hook is gone after the `with` of its handle, however it ends
import itertools
def hooks_with_handles():
    """Each kind of hook; NOTE is called in a backward of y, which is x * 2."""
    return expressions_of("x, y, note", """
        x.register_hook(note)
        y.register_hook(note)
        y.grad_fn.register_hook(note)
        y.grad_fn.register_prehook(note)
        y.grad_fn.next_functions[0][0].register_hook(note)
        y.grad_fn.next_functions[0][0].register_prehook(note)""")
def run_within(handle, act, error):
    """Calls ACT in a `with` of HANDLE, which ends with ERROR unless that is None."""
    try:
        with handle as entered:
            assert entered is handle, "A3: a handle does not give itself to its `with`"
            act()
            if error is not None:
                raise error
    except BaseException as raised:
        if raised is not error:
            raise
def check_hook_scope(register, other, error):
    """The hook is called within the `with` alone, and OTHER, which stays, each time."""
    x = T.ones(2).requires_grad_()
    y, calls, all_calls = x * 2, [], []
    run = lambda: y.backward(T.ones(2), True)
    kept = other(x, y, lambda *given: all_calls.append(1))
    handle = register(x, y, lambda *given: calls.append(1))
    run_within(handle, run, error)
    run()
    found = len(calls), len(all_calls)
    assert found == (1, 2), (
        f"A3: {register.__name__} in a `with` that ends with {error!r}, beside {other.__name__}:"
        f" in a backward within it and one after it they are called {found} times")
    handle.remove(), kept.remove(), run()
    assert (len(calls), len(all_calls)) == found, f"A3: {other.__name__} is called when removed"
def pairs_of_hook_scopes():
    errors = None, KeyError(1), StopIteration(), GeneratorExit(), KeyboardInterrupt()
    for case in itertools.product(hooks_with_handles(), hooks_with_handles(), errors):
        check_hook_scope(*case)
