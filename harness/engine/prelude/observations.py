"""What a program can see of its objects, as text: the prelude ends with it.

No line calls it. The engine does after each line when two subjects are compared, and so does a
script that shows a difference; `outside` is asked about the lines before a crash.
"""

#: Observations, observe: what variables and the prelude's lists lead to, one a line, no address
import string, types
class Observations:
    variables = {f"{letter}{digit}" for letter in string.ascii_lowercase for digit in string.digits}
    lists = set()  # a search of all names at each line would take half of the time
    objects_max, numbers_max, items_max = 40, 256, 8  # more is too slow, and shows no more
    of_tensor = ("dtype", "size()", "stride()", "storage_offset()", "requires_grad", "is_leaf",
                 "_is_view()", "is_conj()", "is_neg()", "_version", "is_contiguous()")
    of_storage = ("nbytes()", "resizable()")
    asked = {one: eval(f"lambda one: one.{one}") for one in (*of_tensor, *of_storage)}
    # All at once takes a third of the time.
    all_asked = {asked: eval(f"lambda one: (one.{', one.'.join(asked)})")
                 for asked in (of_tensor, of_storage)}
    slots = ("tag", "box", "me")
    plain = (int, float, complex, bytes, type(None))
    def __init__(self):
        self.lines, self.places, self.met, self.impls = [], {}, [], {}
    def report(self, place, name, value):
        self.lines.append(f"{place}.{name} = {value}")
    def ask(self, question):
        try:
            return question()
        except Exception as error:
            return type(error).__name__
    def name_of(self, one, place):
        """A plain value as it is, another object by the place where it was met first."""
        if isinstance(one, self.plain):
            return repr(one)
        if isinstance(one, tuple) and all(isinstance(each, self.plain) for each in one):
            return repr(tuple(one))
        if isinstance(one, str):
            return one.partition("(")[0]  # of an error, without its words
        if id(one) not in self.places and len(self.met) < self.objects_max:
            self.places[id(one)] = place
            self.met.append((place, one))  # it lives on, and so nothing else gets its address
        return self.places.get(id(one), "beyond")
    def lead(self, place, name, one):
        self.report(place, name, self.name_of(one, f"{place}.{name}"))
    def impl_of(self, one):
        """Which impl it is, as a number in the order in which they are met."""
        return self.impls.setdefault(one._cdata, len(self.impls))
    def unsigned(self, values):
        """Numbers without the signs of zeros."""
        if isinstance(values, list):
            return [*map(self.unsigned, values)]
        zero = {float: 0.0, complex: 0j}.get(type(values))
        return values if zero is None else values + zero
    def report_all(self, place, one, names):
        try:
            values = self.all_asked[names](one)
        except Exception:
            values = [self.ask(lambda: self.asked[name](one)) for name in names]
        for name, value in zip(names, values):
            if isinstance(value, tuple):
                value = tuple(value)  # torch's sizes are of a class of their own
            self.lines.append(f"{place}.{name} = {value}")
    def tensor(self, place, one):
        self.report(place, "impl", self.ask(lambda: self.impl_of(one)))
        self.report_all(place, one, self.of_tensor)
        if self.ask(one.numel) in range(self.numbers_max):
            # No promise is about the sign of a zero, and vector code negates others.
            self.report(place, "tolist", self.unsigned(self.ask(one.tolist)))
        storage = self.ask(one.untyped_storage)
        self.report(place, "storage", self.ask(lambda: self.impl_of(storage)))
        self.lead(place, "untyped_storage", storage)
        self.lead(place, "_base", self.ask(lambda: one._base))
        if self.ask(lambda: one.is_leaf) is True:  # torch warns of others
            self.lead(place, "grad", self.ask(lambda: one.grad))
        self.report(place, "output_nr", self.ask(lambda: one.output_nr))
        self.report(place, "retains_grad", self.ask(lambda: one.retains_grad))
        self.lead(place, "grad_fn", self.ask(lambda: one.grad_fn))
    def node(self, place, one):
        """A node of a graph or a ctx: its name, its edges, and what a ctx has."""
        self.report(place, "name()", self.ask(one.name).rpartition("::")[2])
        edges = self.ask(lambda: one.next_functions)
        if isinstance(edges, tuple):
            for number, (node, input_number) in enumerate(edges[:self.items_max]):
                self.report(place, f"input_nr[{number}]", input_number)
                self.lead(place, f"next_functions[{number}]", node)
        else:
            self.report(place, "next_functions", edges)
        if hasattr(type(one), "saved_tensors"):
            self.lead(place, "needs_input_grad", self.ask(lambda: one.needs_input_grad))
            saved = self.ask(lambda: one.saved_tensors)
            self.report(place, "saved", len(saved) if isinstance(saved, tuple) else saved)
            for number, tensor in enumerate(saved if isinstance(saved, tuple) else ()):
                self.lead(place, f"saved_tensors[{number}]", tensor)
            self.attributes(place, one)
        elif type(one).__name__ == "AccumulateGrad":
            self.lead(place, "variable", self.ask(lambda: one.variable))
    def storage(self, place, one):
        self.report(place, "impl", self.ask(lambda: self.impl_of(one)))
        self.report_all(place, one, self.of_storage)
        if self.ask(one.nbytes) in range(self.numbers_max):
            self.report(place, "tolist", self.ask(one.tolist))
    def attributes(self, place, one):
        for name, value in self.ask(lambda: list(vars(one).items())):
            self.lead(place, name, value)
        for name in self.slots:
            if isinstance(getattr(type(one), name, None), types.MemberDescriptorType):
                self.lead(place, name, self.ask(lambda: getattr(one, name)))
    def items(self, place, pairs):
        for name, value in list(pairs)[:self.items_max]:
            self.lead(place, f"[{name}]", value)
    def report_on(self, place, one):
        if isinstance(one, type):  # its metaclass is an implementation's matter
            return
        self.report(place, "type", type(one).__name__)
        if isinstance(one, weakref.ref):
            self.lead(place, "()", one())
        elif isinstance(one, (list, tuple, dict, weakref.WeakValueDictionary)):
            self.report(place, "len", len(one))
            if isinstance(one, tuple):
                self.items(place, enumerate(one))
            elif isinstance(one, list):
                # In which order finalizers run is not promised.
                is_note = all(isinstance(number, int) for number in one)
                self.items(place, enumerate(sorted(one) if is_note else one))
            else:
                self.items(place, one.items())
        elif isinstance(one, memoryview):
            self.report(place, "bytes", bytes(one[:self.numbers_max]))
        elif isinstance(one, types.GeneratorType):
            self.report(place, "over", one.gi_frame is None)
        elif hasattr(one, "expired"):
            self.report(place, "expired", self.ask(one.expired))
        elif hasattr(type(one), "next_functions"):
            self.node(place, one)
        elif type(one).__name__ in ("Keeper", "Resurrector", "Dropper"):
            self.attributes(place, one)
        elif issubclass(type(one), (T.Tensor, T.UntypedStorage)):
            is_tensor = issubclass(type(one), T.Tensor)
            (self.tensor if is_tensor else self.storage)(place, one)
            self.attributes(place, one)
    def text(self, names):
        if not self.lists:  # lines bind variables alone, so the prelude's lists stay
            self.lists.update(name for name, one in names.items() if type(one) is list)
        of_prelude = {name for name in self.lists - self.variables if names[name]}
        for name in sorted(of_prelude | self.variables & names.keys()):
            self.lines.append(f"{name} is {self.name_of(names[name], name)}")
        for place, one in self.met:
            self.report_on(place, one)
        return "\n".join(self.lines).replace(f"= {T.__name__}.", "= ")  # dtypes
def observe(names):
    return Observations().text(names)

#: has_no_memory, reaches_outside, outside: the variables whose elements lie where no memory is
def has_no_memory(storage):
    try:
        return storage.nbytes() > 0 and storage.data_ptr() == 0
    except RuntimeError:  # so torch answers from 2.1 on
        return True
def reaches_outside(one):
    fetch = getattr(T.Tensor, "untyped_storage", None) or T.Tensor._storage
    is_tensor = isinstance(one, T.Tensor)
    try:
        storage = fetch(one) if is_tensor else one
        # Of a subclass that overrides, torch 1.13 gives a typed one.
        storage = getattr(storage, "_storage", storage)
        if not isinstance(storage, T.UntypedStorage):
            return False
        if str(getattr(storage, "device", "")) == "meta":
            return False
        if has_no_memory(storage) or not is_tensor or 0 in one.size():
            return has_no_memory(storage)
        first, sizes = one.storage_offset(), one.size()
        last = first + sum((size - 1) * step for size, step in zip(sizes, one.stride()))
        is_inside = 0 <= first <= last < storage.nbytes() // one.element_size()
        return not is_inside or min(sizes, default=1) < 0
    except (RuntimeError, TypeError, AttributeError):  # it has no memory of this kind
        return False
def outside(names):
    return "\n".join(name for name in sorted(Observations.variables & names.keys())
                     if reaches_outside(names[name]))
