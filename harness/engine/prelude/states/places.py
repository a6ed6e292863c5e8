"""What lines about states may call: a model of the places that tensors have in a graph.

A state is what is expected of one tensor: its base, its place in the graph, and how often its
elements were written. The model makes nodes, views and errors as the contract says (A7a, A2b).
"""

#: Writes, ModelNode: a count of writes that aliases share; a node, what it leads to and has saved
class Writes:
    def __init__(self):
        self.count = 0
class ModelNode:
    def __init__(self, *edges, saved=(), saves_other=False):
        self.edges = [edge for edge in edges if edge is not None]
        self.saved = [(writes, writes.count) for writes in saved]
        self.saves_other, self.is_freed = saves_other, False
    def is_unusable(self):
        return self.is_freed or any(writes.count != count for writes, count in self.saved)
    def free(self):
        self.is_freed = self.saves_other or bool(self.saved)

#: State: what is expected of a tensor, which is the end of a graph if it is a leaf
class State:
    edges = ()
    def __init__(self, tensor, source=None, base=None, is_recorded=True):
        self.tensor, self.base, self.is_recorded = tensor, base, is_recorded
        self.writes = Writes() if source is None else source.writes
        self.memory = object() if source is None else source.memory
        self.node, self.placed = None, self.writes.count  # the node is right since that write
        self.is_wanted = self.retains = self.has_grad = False
        self.is_given = False  # by a Function whose argument it was, or a view of such a one
        self.note_version()
    def note_version(self):
        self.version, self.noted = self.tensor._version, self.writes.count
    def requires(self):
        return self.is_wanted or self.node is not None or (
            self.base is not None and self.base.requires())
    def is_stale(self):
        return self.base is not None and self.placed != self.writes.count and (
            self.node is not None or self.base.requires())
    def place(self):
        if self.is_stale():
            self.put_at(ModelNode(self.base.edge()))
        return self.node
    def put_at(self, node):
        self.node, self.placed = node, self.writes.count
    def edge(self):
        """What takes the gradient: a node, or the leaf itself."""
        return self.place() or (self if self.is_wanted else None)
    def is_unusable(self):
        """Whether a write has made the leaf a result, when a gradient gets to it."""
        return self.place() is not None
    def free(self):
        pass

#: States: a constant, a leaf, its double, and more; the last one is x, and the one before it y
class States:
    def __init__(self):
        self.records, self.all = True, []
        self.keep(T.ones(2, 2))
        leaf = self.keep(T.ones(2, 2).requires_grad_())
        leaf.is_wanted = True
        self.compute(leaf.tensor * 2, leaf, saves_other=True)
    def pair(self):
        return self.all[-1], self.all[-2]
    def keep(self, tensor, **how):
        self.all.append(State(tensor, **how))
        return self.all[-1]
    def is_recording(self, inputs):
        return self.records and any(one.requires() for one in inputs)
    def view(self, tensor):
        x = self.all[-1]
        made = self.keep(tensor, source=x, base=x.base or x,
                         is_recorded=self.records and x.is_recorded)
        made.is_given = x.is_given
        if self.is_recording([x]):
            made.put_at(ModelNode(x.edge()))
    def compute(self, tensor, *inputs, **how):
        made = self.keep(tensor)
        if self.is_recording(inputs):
            made.put_at(ModelNode(*[one.edge() for one in inputs], **how))
        return made
    def is_refused(self, x, inputs):
        if not self.is_recording(inputs):
            return False
        if x.base is not None and (
                not x.is_recorded or x.requires() and x.base.place() is None):
            return True
        return x.requires() and x.place() is None
    def write(self, name, call, *sources, part=False, saves_result=False, **how):
        x = self.all[-1]
        if part:  # a view of one row, which is made and written
            x = State(x.tensor, x, x.base or x, self.records and x.is_recorded)
            if self.is_recording([self.all[-1]]):
                x.put_at(ModelNode(self.all[-1].edge()))
        inputs = [x, *sources]
        is_refused, is_recorded = self.is_refused(x, inputs), self.is_recording(inputs)
        error = raised_by(call)
        assert (error is not None) == is_refused, f"A7a: {name} raises {type(error).__name__}"
        if is_refused:
            return
        node = None
        if is_recorded:
            node = ModelNode(*[one.edge() for one in inputs], **how)
        x.writes.count += 1
        if not is_recorded:
            return
        if saves_result:
            node.saved.append((x.writes, x.writes.count))
        self.rebase(x, node)
    def rebase(self, x, node):
        """NODE has written x."""
        if x.base is None:
            x.put_at(node)
        else:  # the node of the base runs that of the view
            x.base.put_at(ModelNode(x.base.edge(), node, saves_other=True))
            x.put_at(ModelNode(x.base.node))
