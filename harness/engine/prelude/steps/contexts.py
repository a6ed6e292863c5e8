"""What lines about contexts may call: a check that runs where Python code can be reached from.

The subject calls Python from deallocations, hooks, callbacks and conversions of numbers, on several
threads. There it must keep what it keeps elsewhere.
"""

#: Dying: a tensor whose __del__ runs a function
class Dying(T.Tensor):
    def __del__(self):
        for run in self.__dict__.pop("runs", ()):
            run()

#: contexts, dying, in_death, in_death_by_graph, in_hook, on_thread: run a function in a context
def dying(run):
    one = Dying(1)
    one.runs = [run]
    return one
def in_death(run):
    dying(run)
def in_death_by_owner(run):
    owner = T.ones(1)
    owner.grad = dying(run)
def in_death_by_view(run):
    view = dying(run).view(-1)
    del view
def in_death_by_graph(run):
    with T.enable_grad():
        result = dying(run).requires_grad_() * 1
    del result
def in_death_by_collector(run):
    one = dying(run)
    one.me = one
    del one
    gc.collect()
def in_callback(run):
    one = T.ones(1)
    reference = weakref.ref(one, lambda _: run())
    del one
    return reference
def in_hook(run):
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        leaf.register_hook(lambda _: run())
        (leaf * 1).sum().backward()
def in_node_hook(run):
    with T.enable_grad():
        result = T.ones(1).requires_grad_() * 1
        result.grad_fn.register_hook(lambda *_: run())
        result.sum().backward()
def in_pack(run):
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        with T.autograd.graph.saved_tensors_hooks(lambda one: (run(), one)[1],
                                                  lambda one: one):
            leaf * leaf
def in_unpack(run):
    with T.enable_grad():
        leaf = T.ones(1).requires_grad_()
        with T.autograd.graph.saved_tensors_hooks(lambda one: one,
                                                  lambda one: (run(), one)[1]):
            square = leaf * leaf
        square.sum().backward()
def in_function(run):
    class Runs(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            run()
            return x * 1
        @staticmethod
        def backward(ctx, gradient):
            run()
            return gradient
    with T.enable_grad():
        Runs.apply(T.ones(1).requires_grad_()).sum().backward()
def in_number(run):
    T.ones(2)[Acting(0, run)]
def on_thread(run):
    import threading
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
contexts = {
    "nothing": lambda run: run(), "death": in_death, "death_by_owner": in_death_by_owner,
    "death_by_view": in_death_by_view, "death_by_graph": in_death_by_graph,
    "death_by_collector": in_death_by_collector, "callback": in_callback, "hook": in_hook,
    "node_hook": in_node_hook, "pack": in_pack, "unpack": in_unpack, "function": in_function,
    "number": in_number, "thread": on_thread,
}

#: dead_within, acts_within: what runs in a context
def counts_within():
    tensor = T.ones(1)
    storage = tensor.untyped_storage()
    owned = storage._use_count()
    view = tensor.view(-1)
    shared = storage._use_count()
    del view
    again = storage._use_count()
    del tensor
    counts = [owned, shared, again, storage._use_count()]
    assert counts == [2, 3, 2, 1], f"P7: use counts are {counts}"
dead_within = []
def cycle_within():
    one = Dying(1)
    one.me = one
    dead_within[:] = [weakref.ref(one)]
def kept_within():
    owner, tensor = T.ones(1), T.ones(1)
    tensor.note, owner.grad = 7, tensor
    del tensor
    gc.collect()
    assert owner.grad.note == 7, "P2: an attribute is lost"
acts_within = {
    "counts": counts_within, "cycle": cycle_within, "kept": kept_within,
    "expression": lambda: check_steps("squared", "row", "plus_former", "doubled_in_place", "flat"),
    "chain": lambda: check_chain("retain", "hook_changing", "add_leaf_in_place", "run", "hook"),
    "windows": lambda: check_windows("borrow", "rest", "export", "fill_tensor", "drop"),
    "number": lambda: check_number("s[n:]", 3),
    "recipe": lambda: check_recipe("save_both", "dirty", "add_result", "ignore_missing"),
    "scopes": lambda: check_scopes("no_grad", "packs", "fake_mode"),
    "world": lambda: check_world("turned", "plus_one", "set", "grad_of_its_own", "relu_in_place"),
}

#: check_within [slotcore]: the subject keeps its promises where it calls Python (T6, A3e, P7, P5)
#> check_within: collects finalizes checks
def check_within(context, name):
    if in_hermetic():
        return
    errors, done = [], []
    def run():
        if done:
            return  # a hook that packs what the act has saved
        done.append(name)
        try:
            acts_within[name]()
        except Exception as error:
            errors.append(error)
    contexts[context](run)
    collect_all()
    assert done, f"P3: nothing runs in {context}"
    if errors:
        raise errors[0]
    assert not any(reference() for reference in dead_within), "P5: a cycle stays"
