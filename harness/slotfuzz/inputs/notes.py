"""NOTES.md of a minimized case: how it fails, what it cost, and who aliases whom."""

from slotfuzz.inputs.case import Case
from slotfuzz.inputs.check import ITEM_SIZES, bytes_end, numel
from slotfuzz.inputs.minimize import MinimizedCase

COLUMNS = 32
# Of a tensor with more elements, the picture shows the whole stretch between its ends.
ELEMENTS_DRAWN_MAX = 4096


def notes(result: MinimizedCase, before: Case, words: str, rate: str) -> str:
    """The text of NOTES.md; WORDS say how the case fails, and RATE how often."""
    case = result.case
    record = case.record
    rows = [("lines", len(before.lines), len(case.lines)),
            ("variables", len(before.capture.names), len(case.capture.names)),
            ("tensors", *(len(one.capture.document.tensors) for one in (before, case))),
            ("storages", *(len(one.capture.document.storages) for one in (before, case))),
            ("bytes", before.bytes, case.bytes)]
    table = "\n".join(f"| {name} | {first} | {last} |" for name, first, last in rows)
    lines = "\n".join(f"    {line}" for one in case.lines for line in one.text.splitlines())
    minimal = ("No single line and no single change of a tensor can be left out."
               if result.one_minimal else "The search ended at its limit of runs.")
    return (f"# {words}\n\n{record.script} from line {record.line} on, torch {record.torch};"
            f" {rate}.\n\nWhat was kept is the failure of the restored case. No"
            f" case records how {record.script} itself ended.\n\n{lines}\n\n"
            f"| | before | after |\n|---|---|---|\n{table}\n\n"
            f"{result.runs} runs, {result.seconds:.1f} s. {minimal}\n\n"
            f"## Who aliases whom\n\n{picture(case)}\n")


def picture(case: Case) -> str:
    """Each storage with the tensors on it: the bytes that they reach, bases, gradients."""
    document = case.capture.document
    names: dict[int, list[str]] = {}
    for name, root in case.capture.names.items():
        names.setdefault(document.roots[root], []).append(name)
    labels = [" = ".join(names.get(place, [f"(tensor {place})"]))
              for place in range(len(document.tensors))]
    width = max(map(len, labels))
    out = []
    for storage in document.storages:
        users = [row for row in document.tensors if row["storage"] == storage["id"]]
        total = max([storage["nbytes"], *map(bytes_end, users)])
        fixed = "" if storage["resizable"] else ", cannot be resized"
        out.append(f"    storage {storage['id']}: {storage['nbytes']} bytes{fixed}")
        for row in users:
            out.append(f"      {labels[row['id']]:<{width}}  {bar(row, storage['nbytes'], total)}"
                       f"  {_words(row, labels, document)}")
    out += ["", "`#` are bytes that a tensor reaches, `!` those beyond the end of the storage, `.`"
            " others."]
    return "\n".join(out)


def bar(row: dict, nbytes: int, total: int) -> str:
    """TOTAL bytes of a storage in COLUMNS characters at most."""
    columns = min(COLUMNS, max(total, 1))
    item, cells = ITEM_SIZES[row["dtype"]], ["."] * columns
    begin = row["storage_offset"] * item
    if numel(row) > ELEMENTS_DRAWN_MAX:
        reached = [(begin, bytes_end(row))]
    else:
        reached = [(place * item, (place + 1) * item) for place in _elements(row)]
    for first, end in reached:
        for column in range(first * columns // total, -(-end * columns // total)):
            cells[column] = "!" if end > nbytes else "#"
    return f"|{''.join(cells)}|"


def _elements(row: dict) -> set[int]:
    places = {row["storage_offset"]} if numel(row) else set()
    for size, stride in zip(row["size"], row["stride"]):
        places = {place + index * stride for place in places for index in range(size)}
    return places


def _words(row: dict, labels: list[str], document) -> str:
    item = ITEM_SIZES[row["dtype"]]
    begin = row["storage_offset"] * item
    reach = f"bytes {begin} to {bytes_end(row)}" if numel(row) else "no bytes"
    words = [f"{row['dtype']} {tuple(row['size'])} stride {tuple(row['stride'])}, {reach}"]
    if row["base"] is not None:
        words.append(f"view of {labels[row['base']]}")
        if row["creation_meta"] != "default":
            words.append(f"made in the mode {row['creation_meta']}")
    mates = [one["id"] for one in document.tensors if one["id"] != row["id"]
             and one["version_group"] == row["version_group"] and row["base"] is None
             and one["base"] is None]
    if mates:
        words.append("counts writes with " + ", ".join(labels[one] for one in mates))
    for name, word in (("is_parameter", "Parameter"), ("requires_grad", "requires grad"),
                       ("is_conj", "conjugated"), ("is_neg", "negated")):
        words += [word] * bool(row[name])
    words += ["computed"] * (not row["is_leaf"])
    words += [f"version {row['version']}"] * bool(row["version"])
    if row["grad"] is not None:
        words.append(f"gradient {labels[row['grad']]}")
    return ", ".join(words)
