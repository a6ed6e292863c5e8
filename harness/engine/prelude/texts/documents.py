"""What lines about edited texts of descriptions may call: a reader's rules, as lists of places.

The document has a view, its base, and the gradient of the base. The model names each field that no
writer could have written.
"""

#: DocumentRules [slotcore]: the JSON pointers of all that is wrong in a document
class DocumentRules:
    initial = {"storage_offset": 0, "requires_grad": False, "is_leaf": True, "is_conj": False,
               "is_neg": False, "is_parameter": False, "version": 0, "resizable": True,
               "device": "cpu", "creation_meta": "default", "base": None, "grad": None,
               "data": None}
    def __init__(self, document):
        self.storages, self.tensors = ([{**self.initial, **row} for row in document[table]]
                                       for table in ("storages", "tensors"))
        self.roots, self.wrong = document["roots"], set()
        for place, row in enumerate(self.storages):
            self.storage(row, f"/storages/{place}/")
            self.refuse(f"/storages/{place}/id", row["id"] != place)
        for place, row in enumerate(self.tensors):
            self.refuse(f"/tensors/{place}/id", row["id"] != place)
            self.tensor(row, place, f"/tensors/{place}/")
        for number, root in enumerate(self.roots):
            self.refuse(f"/roots/{number}", self.row(root) is None)
        self.reach()
    def refuse(self, pointer, is_wrong):
        if is_wrong:
            self.wrong.add(pointer)
    def row(self, place, table="tensors"):
        rows = getattr(self, table)
        return rows[place] if place is not None and 0 <= place < len(rows) else None
    def device(self, row):
        return (self.row(row["storage"], "storages") or self.initial)["device"]
    def storage(self, row, pointer):
        data = row["data"]
        self.refuse(pointer + "data", data is not None and (
            row["device"] == "meta" or len(data) != 2 * row["nbytes"]
            or not set(data) <= set("0123456789abcdef")))
    def reference(self, row, place, field, pointer):
        """The row of the base or gradient, if it is one."""
        other = self.row(row[field])
        self.refuse(pointer + field, row[field] is not None and (
            other is None or row[field] == place or self.device(other) != self.device(row)))
        return other
    def tensor(self, row, place, pointer):
        self.refuse(pointer + "storage", self.row(row["storage"], "storages") is None)
        self.reference(row, place, "grad", pointer)
        base = self.reference(row, place, "base", pointer)
        self.refuse(pointer + "base", base is not None and base["base"] is not None)
        numbers = [*row["size"], *row["stride"]]
        self.refuse(pointer + "size", len(row["size"]) != len(row["stride"]) or min(numbers) < 0)
        is_complex = row["dtype"].startswith("complex")
        has_gradients = is_complex or row["dtype"].startswith("float")
        self.refuse(pointer + "requires_grad", row["requires_grad"] and not has_gradients)
        requires = row["requires_grad"] or (
            base is not None and base["requires_grad"] and has_gradients)
        self.refuse(pointer + "is_leaf", not row["is_leaf"] and not requires)
        self.refuse(pointer + "creation_meta", row["creation_meta"] != "default" and base is None)
        self.refuse(pointer + "is_conj", row["is_conj"] and not is_complex)
        first = next(one for one in self.tensors if one["version_group"] == row["version_group"])
        self.refuse(pointer + "version", row["version"] != first["version"])
        self.refuse(pointer + "version_group",
                    base is not None and base["version_group"] != row["version_group"])
    def reach(self):
        left, met = [one for one in self.roots if self.row(one)], set()
        while left:
            place = left.pop()
            if place not in met:
                met.add(place)
                row = self.row(place)
                left += [row[field] for field in ("base", "grad") if self.row(row[field])]
        storages = {self.row(place)["storage"] for place in met}
        for table, reached in (("tensors", met), ("storages", storages)):
            for place in range(len(getattr(self, table))):
                self.refuse(f"/{table}/{place}", place not in reached)

#: check_edited_text [slotcore]: a text is read if it could have been written, or names a place (M6)
#> check_edited_text: checks
def edit_document(document, edit):
    import json
    *way, last, word = edit.split()
    part = document
    for step in way:
        part = part[int(step) if step.isdecimal() else step]
    last = int(last) if last.isdecimal() else last
    if word == "missing":
        part.pop(last, None)
    else:
        try:
            part[last] = json.loads(word)
        except ValueError:  # a word as it is
            part[last] = word
def place_among(places, place):
    return None if place is None else places.setdefault(place, len(places))
def rows_reached(document):
    """Its rows with all fields, in the order in which the roots lead to them."""
    rules = DocumentRules(document)
    tensors, storages, groups = {}, {}, {}
    roots, rows = [place_among(tensors, root) for root in rules.roots], []
    while len(rows) < len(tensors):
        row = dict(rules.tensors[[*tensors][len(rows)]], id=len(rows))
        row.update(base=place_among(tensors, row["base"]), grad=place_among(tensors, row["grad"]),
                   storage=place_among(storages, row["storage"]),
                   version_group=place_among(groups, row["version_group"]))
        rows.append(row)
    return roots, rows, [dict(rules.storages[place], id=0) for place in storages]
def check_edited_text(*edits):
    import json
    if in_hermetic():
        return
    base = T.ones(4).requires_grad_()
    base.grad = T.ones(4)
    document = json.loads(T._meta.dumps(described(base[1:3])))
    for edit in edits:
        if edit != "nothing":
            edit_document(document, edit)
    wrong = DocumentRules(document).wrong
    try:
        read = T._meta.loads(json.dumps(document))
    except ValueError as error:
        pointer = str(error).split('"')[1]
        assert pointer in wrong, f"M6: {error}, where {sorted(wrong)} cannot be written"
        return
    assert not wrong, f"M6: a text is read that nothing writes, for {sorted(wrong)}"
    again = rows_reached(json.loads(T._meta.dumps(read)))
    assert again == rows_reached(document), f"M12: a text that was read is written as {again}"
