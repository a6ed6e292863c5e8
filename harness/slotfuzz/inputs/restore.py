"""From a capture to lines of Python that make its tensors again, with plain PyTorch of any release.

The order: storages, tensors, versions, views, gradients, the sizes of storages. Tensors get their
memory by `.data`, which counts no write and makes no view. A write after a view was made would make
PyTorch compute the history of the view anew.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set

from slotfuzz.errors import UserError
from slotfuzz.inputs import elements, variables
from slotfuzz.inputs.capture_file import Capture
from slotfuzz.inputs.check import ITEM_SIZES, bytes_end, is_complex
from slotfuzz.inputs.defined import HELPERS

# A script counts so many writes in a few seconds.
WRITES_MAX = 1_000_000


class Unrestorable(UserError):
    """No public API of PyTorch makes these tensors."""


def lines(
    capture: Capture, bytes_file: str, more: Sequence[str] = (), taken: Set[str] = frozenset(),
    late: Sequence[str] = (),
) -> list[str]:
    """The lines that make the tensors of CAPTURE under their names, and MORE, which may use these.

    BYTES_FILE is an expression for the path of the capture's file, from which long bytes are read.
    TAKEN are names of the user that no line may bind. LATE runs when all else is made.
    """
    return _Writer(capture, bytes_file, taken).run(more, late)


class _Writer:
    """Collects lines; variables of tensors and storages that have no name are deleted again.

    A variable whose name the lines themselves mention gets its tensor at the end.
    """

    def __init__(self, capture: Capture, bytes_file: str, taken: Set[str]):
        self.capture, self.bytes_file = capture, bytes_file
        self.taken = {*taken, *capture.names}
        self.helpers = {name: variables.free(name, self.taken) for name in HELPERS}
        self.storages, self.tensors = capture.document.storages, capture.document.tensors
        names: dict[int, list[str]] = {}
        for name, root in capture.names.items():
            names.setdefault(capture.document.roots[root], []).append(name)
        self.names = names
        self.variables = [
            next((name for name in names.get(place, ()) if name not in variables.MENTIONED),
                 variables.free(f"_t{place}", self.taken)) for place in range(len(self.tensors))]
        self.memories = [variables.free(f"_s{place}", self.taken)
                         for place in range(len(self.storages))]
        self.out: list[str] = []
        self.first_of_group: dict[int, int] = {}
        self.users: dict[int, list[int]] = {}  # of each storage
        self.group_sizes: Counter[int] = Counter()
        for place, row in enumerate(self.tensors):
            self.users.setdefault(row["storage"], []).append(place)
            self.group_sizes[row["version_group"]] += 1
        self.plain = {place for place in range(len(self.tensors)) if self._factory(place)}

    def run(self, more: Sequence[str], late: Sequence[str]) -> list[str]:
        """All lines, in order."""
        for place in range(len(self.storages)):
            self._storage(place)
        # Of those that share a count of writes, the first one cannot be made from another.
        order = sorted((place for place, row in enumerate(self.tensors) if row["base"] is None),
                       key=lambda place: [self.tensors[place][name] for name in
                                          ("is_leaf", "is_conj", "is_neg")])
        for place in order:
            self._tensor(place)
        self._versions()
        views = [place for place, row in enumerate(self.tensors) if row["base"] is not None]
        early = [place for place in views if self._is_early(place)]
        for place in early:
            self._view(place)
        for place in order:
            self._require_grad(place)
        for place in views:
            if place not in early:
                self._view(place)
        for place in views:
            self._require_grad(place)
        self._gradients()
        self._sizes()
        self._end(more, late)
        used = [re.sub(rf"\b{name}\b", self.helpers[name], text) for name, text in HELPERS.items()
                if any(re.search(rf"\b{self.helpers[name]}[(.]", line) for line in self.out)]
        return [*"\n".join(used).splitlines(), *[""] * bool(used), *self.out]

    def _factory(self, place: int) -> str | None:
        """A call that makes the whole tensor, if it shares nothing and was not written."""
        row = self.tensors[place]
        if (row["base"] is not None or self.group_sizes[row["version_group"]] > 1
                or row["version"] or not row["is_leaf"]
                or row["is_conj"] or row["is_neg"] or len(self.users[row["storage"]]) > 1
                or not elements.is_plain(row, self.storages[row["storage"]])):
            return None
        return elements.factory(row, self.capture.data[row["storage"]])

    def _storage(self, place: int) -> None:
        row, data = self.storages[place], self.capture.data[place]
        if any(user in self.plain for user in self.users[place]):
            return
        needed = max([row["nbytes"], *(bytes_end(self.tensors[one])
                                       for one in self.users[place])])
        if not row["resizable"] and row["nbytes"]:
            if needed > row["nbytes"]:
                raise Unrestorable(f"storage {place} cannot be resized, and a tensor reaches beyond"
                                   " its end")
            self.out.append(f"{self.memories[place]} = {self._buffer(place)}")
            return
        self.out.append(f"{self.memories[place]} = torch.zeros({needed}, dtype=torch.uint8)")
        if not elements.is_zero(data):
            self.out.append(f"{self.memories[place]}[:{len(data)}] = {self._buffer(place)}")

    def _buffer(self, place: int) -> str:
        data = self.capture.data[place]
        text = elements.bytes_expression(data)
        if text is None:
            begin = sum(map(len, self.capture.data[:place]))
            end = sum(map(len, self.capture.data))
            text = f"{self.helpers['_bytes_at']}({self.bytes_file}, {begin - end}, {len(data)})"
        return f"torch.frombuffer(bytearray({text}), dtype=torch.uint8)"

    def _window(self, row: dict) -> str:
        return (f"{self.helpers['_window']}({self.memories[row['storage']]},"
                f" torch.{row['dtype']}, {tuple(row['size'])}, {tuple(row['stride'])},"
                f" {row['storage_offset']})")

    def _tensor(self, place: int) -> None:
        row, name = self.tensors[place], self.variables[place]
        first = self.first_of_group.setdefault(row["version_group"], place)
        if place in self.plain:
            made = self._factory(place)
            grad = ", requires_grad=True" if row["requires_grad"] else ""
            made = (f"torch.nn.Parameter({made}){grad or ', requires_grad=False'})"
                    if row["is_parameter"] else f"{made}{grad})")
            self.out.append(f"{name} = {made}")
            return
        empty = f"torch.empty(0, dtype=torch.{row['dtype']})"
        if first != place:
            empty = self._mate(first, place)
        if not row["is_leaf"]:
            empty = (f"{self.helpers['_Computed']}.apply(torch.empty(0, requires_grad=True),"
                     f" {tuple(row['size'])}, {tuple(row['stride'])}, torch.{row['dtype']})")
        if row["is_parameter"]:
            empty = f"torch.nn.Parameter({empty}, requires_grad=False)"
        self.out.append(f"{name} = {empty}")
        if first == place or row["storage"] != self.tensors[first]["storage"]:
            self.out.append(f"{name}.data = {self._toggled(self._window(row), row)}")

    def _mate(self, first: int, place: int) -> str:
        """A tensor that shares the count of writes with FIRST, and is no view."""
        row, other = self.tensors[place], self.tensors[first]
        if not row["is_leaf"]:
            raise Unrestorable(f"{self._words(place)} and {self._words(first)} count their writes"
                               " together, and were computed")
        if row["storage"] != other["storage"]:
            return f"{self.variables[first]}.detach()"
        window = self._seen(f"{self.variables[first]}.detach()", other, row)
        return f"{self._toggled(window, row, other)}.detach()"

    def _words(self, place: int) -> str:
        names = self.names.get(place)
        return f"`{names[0]}`" if names else f"tensor {place}"

    def _seen(self, source: str, of: dict, row: dict) -> str:
        """SOURCE, a tensor as the row OF says, seen with the type and layout of ROW."""
        there = f"as_strided({tuple(row['size'])}, {tuple(row['stride'])}, {row['storage_offset']})"
        if row["dtype"] == of["dtype"]:
            return f"{source}.{there}"
        reach = max(self.storages[of["storage"]]["nbytes"], bytes_end(row), bytes_end(of))
        count = reach // ITEM_SIZES[of["dtype"]]
        if is_complex(of["dtype"]) and not is_complex(row["dtype"]):
            return f"torch.view_as_real({source}.as_strided(({count},), (1,), 0)).{there}"
        if is_complex(row["dtype"]) and not is_complex(of["dtype"]):
            return (f"torch.view_as_complex({source}.as_strided(({count // 2}, 2), (2, 1), 0))"
                    f".{there}")
        return f"{source}.as_strided(({count},), (1,), 0).view(torch.{row['dtype']}).{there}"

    @staticmethod
    def _toggled(text: str, row: dict, of: dict | None = None) -> str:
        """TEXT with the bits of ROW; it has those of the row OF, or none."""
        for name, bit in (("is_conj", "{}.conj()"), ("is_neg", "torch._neg_view({})")):
            if row[name] != bool(of and of[name]):
                text = bit.format(text)
        return text

    def _is_early(self, place: int) -> bool:
        """Whether a view was made before its base required a gradient."""
        row = self.tensors[place]
        base = self.tensors[row["base"]]
        return (base["requires_grad"] and base["is_leaf"] and row["is_leaf"]
                and row["creation_meta"] == "default")

    def _view(self, place: int) -> None:
        row, name = self.tensors[place], self.variables[place]
        base = self.tensors[row["base"]]
        if not row["is_leaf"] and not base["requires_grad"]:
            raise Unrestorable(f"{self._words(place)} was computed, and its base was not")
        source = self.variables[row["base"]]
        if row["creation_meta"] == "in_custom_function":
            source = f"{self.helpers['_Viewed']}.apply({source})"
        elif row["creation_meta"] == "multi_output_node":
            source = f"{source}.unsqueeze(0).unbind()[0]"
        layout, left = row, row["storage"] != base["storage"]
        if left:
            layout = {**row, "size": [0], "stride": [1], "storage_offset": 0}
        made = self._toggled(self._seen(source, base, layout), row, base)
        is_recorded = row["creation_meta"] != "no_grad_mode"
        self.out.append(f"{name} = {made}" if is_recorded else
                        f"with torch.no_grad(): {name} = {made}")
        if left:
            self.out.append(f"{name}.data = {self._toggled(self._window(row), row)}")

    def _require_grad(self, place: int) -> None:
        row = self.tensors[place]
        if row["is_leaf"] and row["requires_grad"] and place not in self.plain:
            self.out.append(f"{self.variables[place]}.requires_grad_()")

    def _gradients(self) -> None:
        for place, row in enumerate(self.tensors):
            if row["grad"] is None:
                continue
            grad = self.tensors[row["grad"]]
            if (grad["size"], grad["dtype"]) != (row["size"], row["dtype"]):
                raise Unrestorable(f"{self._words(place)} has a gradient of another size or type")
            self.out.append(f"{self.variables[place]}.grad = {self.variables[row['grad']]}")

    def _sizes(self) -> None:
        for place, row in enumerate(self.storages):
            needed = max((bytes_end(self.tensors[one]) for one in self.users[place]), default=0)
            if needed > row["nbytes"]:
                self.out.append(f"{self.helpers['_storage']}({self.memories[place]})"
                                f".resize_({row['nbytes']})")

    def _versions(self) -> None:
        for first in self.first_of_group.values():
            version = self.tensors[first]["version"]
            if version > WRITES_MAX:
                raise Unrestorable(f"{self._words(first)} has the version {version}; a script"
                                   f" counts up to {WRITES_MAX} writes")
            if version:
                self.out.append(f"{self.helpers['_count_writes']}({self.variables[first]},"
                                f" {version})")

    def _end(self, more: Sequence[str], late: Sequence[str]) -> None:
        aliases, rest = [], [*late]
        for place, names in self.names.items():
            mine = self.variables[place]
            for name in names:
                if name != mine:
                    (rest if name in variables.MENTIONED else aliases).append(f"{name} = {mine}")
        self.out += [*aliases, *more]
        if not self.capture.grad_mode:
            self.out.append("torch.set_grad_enabled(False)")
        left = [self.memories[place] for place in range(len(self.storages))
                if not any(user in self.plain for user in self.users[place])]
        left += [name for name in self.variables if name not in self.capture.names]
        self.out += rest
        if left:
            self.out.append(f"del {', '.join(left)}")
