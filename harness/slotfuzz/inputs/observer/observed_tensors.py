"""Tensors as rows of a description, by public attributes.

Nothing is written to them: what only a write can tell is asked in a forked process.
"""

import ctypes
import json
import os


class Refusal(Exception):
    """Why a tensor cannot be captured, with its name."""


def storage_of(tensor):
    """The storage of a tensor, without a type."""
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor.storage().untyped()  # before 2.0


class Walk:
    """The tensors found so far, each once, with a row for each field of a description."""

    def __init__(self, torch):
        self.torch = torch
        self.tensors, self.words, self.rows = [], [], []
        self.storages, self.storage_rows = [], []
        self.places = {}
        self.storage_places = {}

    def visit(self, tensor, words):
        """The place of TENSOR, which WORDS names; a new one if it was not seen yet."""
        # One tensor has one wrapper while that is alive, and self.tensors keeps it alive.
        place = self.places.setdefault(id(tensor), len(self.tensors))
        if place == len(self.tensors):
            self.tensors.append(tensor)
            self.words.append(words)
        return place

    def run(self):
        """Describes all tensors, and those that they lead to."""
        for place, tensor in enumerate(self.tensors):  # which grows
            self.rows.append(self.described(place, tensor, self.words[place]))

    def described(self, place, tensor, words):
        try:
            self.refuse(tensor, words)
            base, grad = tensor._base, tensor.grad
            # A view requires a gradient if its base does; whether it does itself shows nowhere.
            by_base = base is not None and base.requires_grad and tensor.is_leaf
            return {
                "id": place, "dtype": str(tensor.dtype).replace("torch.", "", 1),
                "size": list(tensor.size()), "stride": list(tensor.stride()),
                "storage_offset": tensor.storage_offset(),
                "storage": self.visit_storage(tensor),
                "base": None if base is None else self.visit(base, f"the base of {words}"),
                "creation_meta": "default",
                "requires_grad": tensor.requires_grad and not by_base, "is_leaf": tensor.is_leaf,
                "is_conj": tensor.is_conj(), "is_neg": tensor.is_neg(),
                "is_parameter": type(tensor) is self.torch.nn.Parameter,
                "grad": None if grad is None else self.visit(grad, f"the gradient of {words}"),
                "version_group": place, "version": tensor._version,
            }
        except (RuntimeError, NotImplementedError, AttributeError, TypeError) as error:
            text = (str(error).splitlines() or [""])[0]
            raise Refusal(f"{words} cannot be described: {type(error).__name__}: {text}") from error

    def refuse(self, tensor, words):
        """Raises for what a description cannot say."""
        torch = self.torch
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise Refusal(f"{words} is of the class {type(tensor).__name__}")
        if tensor.layout is not torch.strided:
            raise Refusal(f"{words} has the layout {tensor.layout}")
        if tensor.device.type != "cpu":
            raise Refusal(f"{words} is on the device {tensor.device}")
        for name in ("is_quantized", "is_nested", "is_inference"):
            found = getattr(tensor, name, False)
            if found() if callable(found) else found:
                raise Refusal(f"{words} is special: {name} holds")
        if any(name is not None for name in getattr(tensor, "names", ())):
            raise Refusal(f"{words} has named dimensions")

    def visit_storage(self, tensor):
        storage = storage_of(tensor)
        # Storages of no bytes may have one address; a window tells whether they are one storage.
        window = self.torch.empty(0, dtype=self.torch.uint8).set_(storage)
        known = self.storage_places.setdefault(storage.data_ptr(), [])
        for place in known:
            if window.is_set_to(self.storages[place][1]):
                return place
        place = len(self.storages)
        known.append(place)
        self.storages.append((storage, window))
        resizable = storage.resizable() if hasattr(storage, "resizable") else True
        self.storage_rows.append({"id": place, "nbytes": storage.nbytes(),
                                  "resizable": resizable, "device": "cpu", "data": None})
        return place

    def write_bytes(self, path):
        """Writes the bytes of all storages, one after the other."""
        with open(path, "wb") as file:
            for storage, _ in self.storages:
                size = storage.nbytes()
                if size:
                    file.write(memoryview((ctypes.c_char * size).from_address(
                        storage.data_ptr())))

    def ask_a_fork(self):
        """Which tensors count their writes together, and how views were made.

        Only a write shows it, so a copy of this process writes. It writes to no element, since
        memory may be shared between processes.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                with open(writing, "w") as out:
                    json.dump([self.version_groups(), self.creation_metas()], out)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writing)
        with open(reading) as file:
            text = file.read()
        if os.waitpid(child, 0)[1] != 0:
            raise Refusal("a copy of the process could not write to the tensors")
        for row, group, meta in zip(self.rows, *json.loads(text)):
            row["version_group"], row["creation_meta"] = group, meta

    def version_groups(self):
        groups = list(range(len(self.tensors)))
        for place, tensor in enumerate(self.tensors):
            if groups[place] != place:
                continue
            before = [one._version for one in self.tensors]
            tensor.detach().as_strided((0,), (1,), 0).zero_()
            for other in range(place, len(self.tensors)):
                if self.tensors[other]._version != before[other]:
                    groups[other] = place
        return groups

    def creation_metas(self):
        return [self.creation_meta(one) if row["base"] is not None else "default"
                for one, row in zip(self.tensors, self.rows)]

    def creation_meta(self, view):
        if not (view.is_floating_point() or view.is_complex()):
            return "default"  # nothing records its gradients
        factor = self.torch.ones((), dtype=view.dtype, requires_grad=True)
        try:
            with self.torch.enable_grad():
                view.as_strided((0,), (1,), 0).mul_(factor)
        except RuntimeError as error:
            for meta, words in (("multi_output_node", "multiple views"),
                                ("in_custom_function", "custom"),
                                ("no_grad_mode", "no_grad mode")):
                if words in str(error):
                    return meta
        return "default"
