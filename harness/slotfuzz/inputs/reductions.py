"""Smaller and plainer tensors: each pass is a pure rewrite of a capture, one change at a time.

A pass gives every capture that one change makes, the largest change first, and nothing once there
is nothing to change; so a search that repeats it comes to an end.
"""

import struct
from collections.abc import Callable, Iterator

from slotfuzz.inputs import check, elements
from slotfuzz.inputs.capture_file import Capture, made
from slotfuzz.inputs.check import ITEM_SIZES, bytes_end
from slotfuzz.inputs.strict_json import DescError

Pass = Callable[[Capture], Iterator[Capture]]
SIZES = (0, 1, 2)
# A storage is searched for bytes that matter in so many parts at most.
PARTS_MAX = 16
# One as an element: bytes that are often valid where zeros are not.
ONES = {"float32": struct.pack("<f", 1), "float64": struct.pack("<d", 1)}


class _Draft:
    """A capture as rows that may be changed, and then made canonical again."""

    def __init__(self, capture: Capture):
        self.storages = [dict(row) for row in capture.document.storages]
        self.tensors = [dict(row) for row in capture.document.tensors]
        self.data = list(capture.data)
        self.names = {name: capture.document.roots[root] for name, root in capture.names.items()}
        self.grad_mode = capture.grad_mode

    def capture(self) -> Iterator[Capture]:
        """The capture, if a describer could have written it."""
        if not self.names:
            return
        found = made(self.storages, self.tensors, self.data, self.names, self.grad_mode)
        try:
            check.check(found.document)
        except DescError:
            return
        yield found

    def users(self, storage: int) -> list[dict]:
        """The rows of the tensors on a storage."""
        return [row for row in self.tensors if row["storage"] == storage]

    def views(self, place: int) -> list[dict]:
        """The rows of the views of a tensor."""
        return [row for row in self.tensors if row["base"] == place]

    def new_group(self) -> int:
        """The number of a version group that no tensor is in."""
        return max(row["version_group"] for row in self.tensors) + 1


def drop_names(capture: Capture) -> Iterator[Capture]:
    """Without a variable, and what only it led to."""
    for name in reversed(capture.names):
        draft = _Draft(capture)
        del draft.names[name]
        yield from draft.capture()


def _of_tensors(change: Callable[[_Draft, int, dict], bool]) -> Pass:
    """The pass that makes CHANGE to one tensor; it returns whether it has changed something."""
    def changed(capture: Capture) -> Iterator[Capture]:
        for place in range(len(capture.document.tensors)):
            draft = _Draft(capture)
            if change(draft, place, draft.tensors[place]):
                yield from draft.capture()
    changed.__doc__ = change.__doc__
    changed.__name__ = change.__name__.lstrip("_")
    return changed


def _set(row: dict, **values) -> bool:
    before = dict(row)
    row.update(values)
    return row != before


def _drop_grad(_draft, _place, row) -> bool:
    """Without a gradient."""
    return _set(row, grad=None)


def _drop_base(draft, _place, row) -> bool:
    """A view becomes a tensor on the same storage."""
    return row["base"] is not None and _set(
        row, base=None, creation_meta="default", version_group=draft.new_group())


def _drop_requires_grad(draft, place, row) -> bool:
    """No gradient is required, of the views of the tensor neither."""
    if not row["requires_grad"]:
        return False
    for one in [row, *draft.views(place)]:
        one.update(requires_grad=False, is_leaf=True)
    row["creation_meta"] = "default"
    return True


def _drop_history(_draft, _place, row) -> bool:
    """What was computed becomes a leaf."""
    return row["base"] is None and _set(row, is_leaf=True)


def _drop_bits(_draft, _place, row) -> bool:
    """Read as it is: not conjugated, not negated."""
    return _set(row, is_conj=False, is_neg=False)


def _drop_class(_draft, _place, row) -> bool:
    """A Parameter becomes a Tensor."""
    return _set(row, is_parameter=False)


def _drop_creation_meta(_draft, _place, row) -> bool:
    """A view that was made while gradients were recorded, by an operation of one result."""
    return _set(row, creation_meta="default")


def _drop_version(draft, _place, row) -> bool:
    """No write was counted, of those that count together."""
    if not row["version"]:
        return False
    for one in draft.tensors:
        if one["version_group"] == row["version_group"]:
            one["version"] = 0
    return True


def _part_versions(draft, place, row) -> bool:
    """The tensor and its views count their writes alone."""
    mates = [one for one in draft.tensors if one["version_group"] == row["version_group"]]
    own = [row, *draft.views(place)]
    if row["base"] is not None or len(mates) == len(own):
        return False
    group = draft.new_group()
    for one in own:
        one["version_group"] = group
    return True


def _part_storage(draft, _place, row) -> bool:
    """The tensor gets a copy of its storage."""
    if row["base"] is not None or len(draft.users(row["storage"])) == 1:
        return False
    draft.storages.append(dict(draft.storages[row["storage"]]))
    draft.data.append(draft.data[row["storage"]])
    return _set(row, storage=len(draft.storages) - 1, version_group=draft.new_group())


def _first_element(_draft, _place, row) -> bool:
    """The tensor begins where its storage does."""
    return _set(row, storage_offset=0)


def _contiguous(_draft, _place, row) -> bool:
    """Strides as a new tensor has them."""
    return _set(row, stride=elements.contiguous(row["size"]))


def _mates_in_size(draft: _Draft, place: int) -> list[dict]:
    """The tensor at PLACE with those that must have its size: its gradient, and so on."""
    found = {place}
    while True:
        more = {place for place, row in enumerate(draft.tensors) if row["grad"] in found}
        more |= {draft.tensors[one]["grad"] for one in found} - {None}
        if more <= found:
            return [draft.tensors[one] for one in sorted(found)]
        found |= more


def shrink(capture: Capture) -> Iterator[Capture]:
    """One size becomes 0, 1 or 2."""
    for place, row in enumerate(capture.document.tensors):
        for dimension, now in enumerate(row["size"]):
            for size in SIZES:
                if size < now:
                    draft = _Draft(capture)
                    for one in _mates_in_size(draft, place):
                        one["size"] = [*one["size"][:dimension], size, *one["size"][dimension + 1:]]
                    yield from draft.capture()


def drop_dimensions(capture: Capture) -> Iterator[Capture]:
    """One dimension less, with as many elements."""
    for place, row in enumerate(capture.document.tensors):
        for dimension in range(len(row["size"])):
            draft = _Draft(capture)
            rest = row["size"][:dimension] + row["size"][dimension + 1:]
            if check.numel({"size": rest}) != check.numel(row):
                continue
            for one in _mates_in_size(draft, place):
                for name in ("size", "stride"):
                    one[name] = one[name][:dimension] + one[name][dimension + 1:]
            yield from draft.capture()


def fit_storages(capture: Capture) -> Iterator[Capture]:
    """A storage has the bytes that its tensors reach, neither more nor less."""
    for place, row in enumerate(capture.document.storages):
        draft = _Draft(capture)
        needed = max(map(bytes_end, draft.users(place)))
        if needed != row["nbytes"]:
            draft.storages[place]["nbytes"] = needed
            kept = draft.data[place][:needed]
            draft.data[place] = kept + bytes(needed - len(kept))
            yield from draft.capture()


def make_resizable(capture: Capture) -> Iterator[Capture]:
    """A storage owns its bytes."""
    for place, row in enumerate(capture.document.storages):
        if not row["resizable"]:
            draft = _Draft(capture)
            draft.storages[place]["resizable"] = True
            yield from draft.capture()


def constant_bytes(capture: Capture) -> Iterator[Capture]:
    """All bytes of a storage are zero; else all elements are one; else a part of it is zero."""
    for place, data in enumerate(capture.data):
        if elements.is_zero(data):
            continue
        dtype = _Draft(capture).users(place)[0]["dtype"]
        item = ONES.get(dtype, b"\1" + bytes(ITEM_SIZES[dtype] - 1))
        ones = (item * (len(data) // len(item) + 1))[:len(data)]
        if data == ones:
            yield from _with_data(capture, place, bytes(len(data)))
            continue
        yield from _with_data(capture, place, bytes(len(data)))
        yield from _with_data(capture, place, ones)
        parts = 2
        while parts <= min(PARTS_MAX, len(data)):
            step = -(-len(data) // parts)
            for begin in range(0, len(data), step):
                if not elements.is_zero(data[begin:begin + step]):
                    less = data[:begin] + bytes(len(data[begin:begin + step]))
                    yield from _with_data(capture, place, less + data[begin + step:])
            parts *= 2


def _with_data(capture: Capture, place: int, data: bytes) -> Iterator[Capture]:
    draft = _Draft(capture)
    draft.data[place] = data
    yield from draft.capture()


def record_gradients(capture: Capture) -> Iterator[Capture]:
    """The lines run in the usual grad mode."""
    if not capture.grad_mode:
        draft = _Draft(capture)
        draft.grad_mode = True
        yield from draft.capture()


PASSES: tuple[Pass, ...] = (
    drop_names, *map(_of_tensors, (
        _drop_grad, _drop_base, _drop_requires_grad, _drop_history, _drop_bits, _drop_class,
        _drop_creation_meta, _part_versions, _part_storage, _drop_version)),
    shrink, drop_dimensions, *map(_of_tensors, (_first_element, _contiguous)),
    fit_storages, make_resizable, constant_bytes, record_gradients,
)


def smaller(capture: Capture) -> Iterator[Capture]:
    """Every capture that one change of any pass makes."""
    for one in PASSES:
        yield from one(capture)
