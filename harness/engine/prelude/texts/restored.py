"""Whether a text with bytes is enough to make its tensors again by public calls."""

#: document_of, restored_from [slotcore]: tensors as their text has them, and new ones from it
import json
def document_of(*tensors):
    description = T._meta.describe(MetaConverter().describer, *tensors, copy_data=True)
    document = json.loads(T._meta.dumps(description))
    for row in document["tensors"]:  # what only writes, or the way a view was made, can restore
        for field in ("version", "version_group", "creation_meta"):
            row.pop(field, None)
    return document
def restored_from(document):
    storages = [T.UntypedStorage(list(bytes.fromhex(row.get("data", ""))))
                for row in document["storages"]]
    made = [T.empty(0, dtype=getattr(T, row["dtype"])) for row in document["tensors"]]
    for place, row in enumerate(document["tensors"]):
        if "base" not in row:
            made[place].set_(storages[row["storage"]], row.get("storage_offset", 0), row["size"],
                             row["stride"])
            if row.get("is_parameter"):
                made[place] = T.nn.Parameter(made[place], requires_grad=False)
    for place, row in enumerate(document["tensors"]):
        if "base" in row:
            made[place] = made[row["base"]].as_strided(row["size"], row["stride"],
                                                       row.get("storage_offset", 0))
    for one, row in zip(made, document["tensors"]):
        one.requires_grad_(row.get("requires_grad", False))
        if "grad" in row:
            one.grad = made[row["grad"]]
    return [made[place] for place in document["roots"]]

#: check_restored [slotcore]: tensors made from a text with bytes have the same text (M16)
#> check_restored: checks
def is_restorable(document):
    rows, storages = document["tensors"], document["storages"]
    def is_inside(row):
        last = row.get("storage_offset", 0) + sum(
            (size - 1) * step for size, step in zip(row["size"], row["stride"]))
        width = getattr(T, row["dtype"]).itemsize
        return 0 in row["size"] or (last + 1) * width <= storages[row["storage"]]["nbytes"]
    def is_plain(row):
        base = rows[row["base"]] if "base" in row else row
        return (row.get("is_leaf", True) and not row.keys() & {"is_conj", "is_neg"}
                and (base["storage"], base["dtype"]) == (row["storage"], row["dtype"])
                and not ("base" in row and "is_parameter" in row) and is_inside(row))
    def has_bytes(row):  # a fake's storage has none
        return "device" not in row and ("data" in row or not row["nbytes"])
    return all(map(is_plain, rows)) and all(
        row.get("resizable", True) and has_bytes(row) for row in storages)
def known_pairs():
    leaf, numbers = T.nn.Parameter(T.ones(2, 3)), T.tensor([[0.5, 1.5], [-2.0, 3.25]])
    leaf.grad = T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).t()
    return [(leaf, leaf.grad), (numbers.t(), numbers[1:]), (numbers.detach(), numbers),
            (T.tensor([1, -1]), T.tensor([True])), (T.empty(0, 3), T.tensor([2j]))]
def check_restored(one, other):
    if in_hermetic():
        return
    pairs = known_pairs()
    if all(storage_of(tensor).nbytes() <= 4096 for tensor in (one, other)):
        pairs.append((one, other))
    for pair in pairs:
        with T.no_grad():
            document = document_of(*pair)
            if not is_restorable(document):
                continue
            made = restored_from(document)
            found = document_of(*made)
        for kind in ("storages", "tensors", "roots"):
            assert found[kind] == document[kind], f"M16: tensors made from a text: other {kind}"
        numbers = [repr([tensor.tolist() for tensor in two]) for two in (pair, made)]
        assert numbers[0] == numbers[1], "M16: tensors made from a text have other numbers"
