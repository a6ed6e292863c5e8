"""What lines about texts of descriptions may call, and a check with its own expectation."""

#: edited [slotcore]: a text whose field, in one row, has the value; None removes the field
def edited(text, field, value):
    import json
    document = json.loads(text)
    rows = document["storages" if field in ("nbytes", "resizable", "device", "data") else "tensors"]
    row = rows[len(text) % len(rows)] if rows else {}
    if value is None:
        row.pop(field, None)
    else:
        row[field] = value
    return json.dumps(document, separators=(",", ":"))

#: spliced [slotcore]: the storages and roots of one text, and the tensors of another
def spliced(first, second):
    import json
    document = json.loads(first)
    document["tensors"] = json.loads(second)["tensors"]
    return json.dumps(document, separators=(",", ":"))

#: text_of_two [slotcore]: the text of two tensors; None for fakes that no one text can have
def text_of_two(one, other):
    try:
        return T._meta.dumps(described(one, other))
    except (ValueError, RuntimeError):  # symbols of two environments, or of data
        if any(getattr(tensor, "fake_mode", None) for tensor in (one, other)):
            return None
        raise

#: check_parts [slotcore]: the text of a base, or of a gradient, is that of its tensor (M12)
#> check_parts: checks
def check_parts(tensor):
    if in_hermetic():
        return
    description = MetaConverter().describer.describe_tensor(tensor)
    description.as_json()  # what a description has given changes none of its parts
    parts = {"base": (description.base, tensor._base), "gradient": (description.grad, tensor.grad)}
    for name, (part, owned) in parts.items():
        if owned is None:
            continue
        text = part.as_json()
        assert T._meta.dumps(T._meta.loads(text)) == text, f"M12: the text of a {name} differs"
        own = MetaConverter().describer.describe_tensor(owned).as_json()
        assert text == own, f"M12: the text of a {name} is not that of its tensor"

#: check_symbolic_parts [slotcore]: the same for a fake whose sizes are symbols (M12)
#> check_symbolic_parts: checks
def check_symbolic_parts():
    if in_hermetic() or T._meta.mode_count():
        return
    env = T.fx.experimental.symbolic_shapes.ShapeEnv()
    check_parts(FakeTensorMode(shape_env=env).from_tensor(T.ones(6, 4)[2:5]))

#: check_text [slotcore]: the text stands for the tensors (M1, M12)
#> check_text: checks
def check_text(one, other):
    text = text_of_two(one, other)
    if text is None:
        return
    read = T._meta.loads(text)
    assert T._meta.dumps(read) == text, "M12: the text of a text differs"
    describer = MetaConverter().describer
    describer.describe_tensor(T.ones(1))
    assert T._meta.dumps(T._meta.describe(describer, one, other)) == text, (
        "M12: a text depends on ids")
    check_parts(one)
    if in_hermetic() or read.shape_env:
        return
    fakes = T._meta.convert(MetaConverter(), read)
    assert [fields_of(fake) for fake in fakes] == [fields_of(one), fields_of(other)], (
        "M1: a fake from text has another field")
    again = T._meta.dumps(described(*fakes))
    assert again.replace(',"device":"meta"', "") == text.replace(',"device":"meta"', ""), (
        "M12: fakes from a text have another text")

#: check_required [slotcore]: a text without one of its fields, or with one more, is refused (M6)
#> check_required: checks
def parts_of(document):
    return document, document["tensors"][0], document["storages"][0]
def changed_texts(document, part, required):
    """DOCUMENT, which has PART, without a field that is required, and with a new one."""
    import json
    for field in required:
        value = part.pop(field)
        yield field, json.dumps(document)
        part[field] = value
    part["another"] = 1
    yield "another", json.dumps(document)
    del part["another"]
def is_refused(text):
    try:
        T._meta.loads(text)
    except ValueError:
        return True
    return False
def check_required(one):
    import json
    text = text_of_two(one, one)
    if text is None:
        return
    plainest, document = json.loads(text_of_two(T.ones(1), T.ones(1))), json.loads(text)
    for required, part in zip(parts_of(plainest), parts_of(document)):
        for field, changed in changed_texts(document, part, required):
            assert is_refused(changed), f"M6: a text is read that is changed in {field}"
