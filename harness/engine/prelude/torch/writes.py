"""What lines may call about numbers that are read, written or copied by other means than views.

PyTorch has many of them: arguments for results, optimizers, formats with parts, copies of objects.
With each, a write counts, a reader sees the numbers, and copies share what their originals share.
"""

#: called_by [torch]: the name of a function, or of those that a lambda calls
def called_by(function):
    if function.__name__ != "<lambda>":
        return function.__name__
    return " and ".join(name for name in function.__code__.co_names if name != "T")

#: stepped [torch]: a step of an optimizer, for a parameter that has the bytes of a tensor
def stepped(optimizer, tensor, **keywords):
    parameter = T.nn.Parameter(tensor)
    parameter.grad = T.ones(2, 2)
    optimizer([parameter], lr=0.5, **keywords).step()

#: unscaled, with_gradient [torch]: a scaler's step; a parameter with a given gradient
def with_gradient(gradient):
    parameter = T.nn.Parameter(T.ones(2, 2))
    parameter.grad = gradient
    return parameter
def unscaled(tensor):
    scaler = T.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale(T.ones(1))
    scaler.unscale_(T.optim.SGD([with_gradient(tensor)], lr=0.5))

#: observed [torch]: a function that observes the range of numbers, with buffers for it
def observed(function, smallest, largest):
    is_on = T.ones(1, dtype=T.int64)
    function(T.ones(2, 2) * 5, is_on, is_on, smallest, largest, T.ones(1),
             T.zeros(1, dtype=T.int32), 0.5, 0, 255, -1)

#: check_write_noticed [torch]: a backward notices that what it needs was written (A2b)
#> check_write_noticed: checks
def check_write_noticed(write):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf = T.ones(2, 2).requires_grad_()
        needed = leaf * 1
        total = (needed * needed).sum()
        with T.no_grad():
            write(needed.detach())
        try:
            found, = T.autograd.grad(total, leaf)
        except RuntimeError:
            return
    assert found.tolist() == [[2.0, 2.0], [2.0, 2.0]], (
        f"A2b: {called_by(write)} wrote what a backward needs: it gives {found.tolist()}, and no"
        " error")

#: check_saved_operand [torch]: a backward notices that an operand was written meanwhile (A2b)
#> check_saved_operand: checks
def written_between(function, place):
    numbers = [[2.0, 3.0], [5.0, 7.0]], [[0.5, 0.25], [0.75, 0.5]]
    leaves = [T.tensor(one).requires_grad_() for one in numbers]
    operands = [leaf * 1 for leaf in leaves]
    total = function(*operands).sum()
    if place is not None:
        operands[place].detach().zero_()
    return [one.tolist() for one in T.autograd.grad(total, leaves)]
def check_saved_operand(function):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        expected = written_between(function, None)
        for place, which in enumerate(("first", "second")):
            try:
                found = written_between(function, place)
            except RuntimeError:
                continue
            assert found == expected, (
                f"A2b: the {which} operand of {called_by(function)} was written before its"
                f" backward, which gives {found}, and no error")

#: check_recorded [torch]: what a function has recorded, its backward computes (A7)
#> check_recorded: checks
def check_recorded(function):
    if in_hermetic():
        return
    with T.inference_mode(False), T.enable_grad():
        leaf = T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
        result = function(leaf * 1)
        error = raised_by(result.sum().backward)
    name = called_by(function) or "an operator"
    assert error is None, f"A7: {name} is recorded, and its backward raises an error"
    assert leaf.grad.shape == leaf.shape, f"A7: a gradient has the sizes {tuple(leaf.grad.shape)}"

#: sent, saved, pickled_together, saved_in_old_format, saved_to_fakes [torch]: copies by other means
def sent(tensor):
    rebuild, arguments = T.multiprocessing.reductions.reduce_tensor(tensor)
    return rebuild(*arguments)
def through_file(objects, saving, loading):
    import io
    file = io.BytesIO()
    T.save(objects, file, **saving)
    file.seek(0)
    return T.load(file, **loading)
def saved(objects):
    return through_file(objects, {}, {})
def pickled_together(objects):
    return pickle.loads(pickle.dumps(objects))
def saved_in_old_format(objects):
    return through_file(objects, {"_use_new_zipfile_serialization": False},
                        {"weights_only": False})
def saved_to_fakes(objects):
    module = __import__("torch._subclasses", fromlist=["FakeTensorMode"])
    with module.FakeTensorMode():
        try:
            return saved(objects)
        except AssertionError as error:  # what it says of a class that a mode does not know
            raise TypeError("no fakes") from error

#: saved_as_copy [torch]: a tensor that is copied when its file is read
class CopiedWhenRead:
    def __init__(self, tensor):
        self.tensor = tensor
    def __reduce__(self):
        return copy.deepcopy, (self.tensor,)
def saved_as_copy(tensor):
    return saved_in_old_format([CopiedWhenRead(tensor)])[0]

#: check_same_numbers [torch]: who reads a view by other means sees the same numbers (P9)
#> check_same_numbers: checks
def check_same_numbers(passed, view):
    one = view(T.tensor([[1 + 2j, 3 - 1j]]))
    expected = one.reshape(-1).tolist()
    found = passed(one).reshape(-1).tolist()
    assert found == expected, (
        f"P9: a tensor has {expected}, and {called_by(passed)} gives {found}")

#: check_new_tensor [torch]: a view makes other tensors as each tensor does (P9)
#> check_new_tensor: checks
def check_new_tensor(view):
    one, found = view(T.tensor([[1 + 2j, 3 - 1j]])), None
    try:
        found = one.new_tensor([1, 0]).tolist()
    except RuntimeError:
        pass
    assert found == [1, 0], "P9: new_tensor() of a view fails"

#: shares_bytes, check_sharing_kept [torch]: two tensors share bytes if their originals do (P9)
#> check_sharing_kept: checks
def shares_bytes(one, other):
    return storage_of(one)._cdata == storage_of(other)._cdata
def check_sharing_kept(copied, view):
    one = T.tensor([[1 + 2j, 3 - 1j]])
    both = [one, view(one)]
    assert shares_bytes(*both) == shares_bytes(*copied(both)), (
        f"P9: copies by {called_by(copied)} do not share what their originals share")

#: TaggedParameter, check_copied [torch]: a copy keeps what that of a plain tensor keeps (P2)
#> check_copied: checks
class TaggedParameter(T.nn.Parameter):
    pass
def kept_by(copied, one):
    one.tag, one.grad = "tag", T.ones(2)
    other = copied(one)
    return {"class": type(other) is type(one), "attributes": getattr(other, "tag", "") == "tag",
            ".grad": other.grad is not None, "requires_grad": other.requires_grad}
def check_copied(copied, made):
    plain, kept = kept_by(copied, T.ones(2).requires_grad_()), kept_by(copied, made(T.ones(2)))
    is_kept = made(T.ones(2)).requires_grad
    lost = [name for name in plain if plain[name] and not kept[name] and
            (name != "requires_grad" or is_kept)]
    assert not lost, f"P2: a copy by {called_by(copied)} loses its {' and '.join(lost)}"

#: check_aliased [torch]: a call that writes to what it reads is right, or an error (P9)
#> check_aliased: checks
def check_aliased(call):
    rows = T.arange(1.0, 21.0).view(5, 4).cos()
    for start in range(2):
        used = rows.clone()
        source, target = used[:4], used[start:start + 4]
        wanted = call(target.clone(), source.clone())
        try:
            found = call(target, source)
        except RuntimeError:
            continue
        assert T.allclose(found, wanted, equal_nan=True), (
            f"P9: {called_by(call)} writes to what it reads, and gives other numbers")
