"""The fake engine's op table, with the description of its binary, and its parser."""

import re

EFFECTS = {"enter_hermetic": ["enters_hermetic", "dangles"],
           "exit_hermetic": ["leaves_hermetic"], "tag": ["sets_attribute"]}
OPS = [
    ("ones", ["+t", "n"], "{0} = T.ones({1})"),
    ("wrap", ["*s", "t"], "{0} = {1}.untyped_storage()"),
    ("del", ["-?"], "del {0}"),
    ("tag", ["s", "v"], "{0}.tag = {1}"),
    ("nbytes", ["s"], "{0}.nbytes()"),
    ("enter_hermetic", [], "enter_hermetic()"),
    ("exit_hermetic", [], "exit_hermetic()"),
]
KINDS = [
    {"key": "s", "name": "storage", "prefix": "s", "values": [], "count": 4,
     "has_names": False, "value_effects": {}, "value_tiers": {}},
    {"key": "t", "name": "tensor", "prefix": "t", "values": [], "count": 4,
     "has_names": False, "value_effects": {}, "value_tiers": {}},
    {"key": "n", "name": "size", "prefix": None, "values": ["1", "0", "4"], "count": 3,
     "has_names": False, "value_effects": {}, "value_tiers": {}},
    {"key": "v", "name": "byte", "prefix": None, "values": ["0", "7"], "count": 2,
     "has_names": False, "value_effects": {}, "value_tiers": {}},
]
PLANTED = [
    {"name": "loud", "oracle": "address", "expect": "heap-use-after-free"},
    {"name": "silent", "oracle": "nobody", "expect": "never said"},
]
PRELUDE = [
    {"names": ["enter_hermetic", "exit_hermetic"], "module": "slotcore", "sentence": "fake modes",
     "text": "enter_hermetic, exit_hermetic = T.enter_hermetic, T.exit_hermetic",
     "effects": {"enter_hermetic": ["enters_hermetic"], "exit_hermetic": ["leaves_hermetic"]}},
    {"names": ["Lane"], "module": "", "sentence": "a fake lane",
     "text": "import _thread\nclass Lane:\n    lock = _thread.allocate_lock()", "effects": {}},
    {"names": ["lanes", "lane"], "module": "", "sentence": "runs a line here",
     "text": "lanes = Lane\ndef lane(number, line):\n    exec(line, lanes and globals())",
     "effects": {}},
]
CHECKS = [
    {"contract": "P2", "check": "attributes", "text": "the attribute tag is lost", "planted": [],
     "implies": [], "unplanted": "it is fake"},
]
DESCRIPTION = {
    "target": "storage", "module": "slotcore", "python": "3.11", "kinds": KINDS, "lanes": 3,
    "line_max": 60, "layout": {},
    "lane_template": 'lane({0}, "{1}")',
    "prelude": PRELUDE, "planted": PLANTED, "checks": CHECKS,
    "ops": [{"name": name, "operands": operands, "template": template, "needs": "",
             "sentence": f"Fake {name}.", "masked": "", "special": False, "theme": "storage",
             "tier": "underscore" if "hermetic" in name else "public", "rare": False,
             "slow": False, "certain": False, "timed": False,
              "effects": EFFECTS.get(name, []),
             "attribute": "tag" if name == "tag" else "", "attribute_of_storage": False,
             "checks_kind": "",
             "plain": name in ("new_storage", "ones")} for name, operands, template in OPS],
}


def words(key):
    """All operand words of a kind."""
    if key == "?":
        return words("s") + words("t")
    kind = next(kind for kind in KINDS if kind["key"] == key)
    return kind["values"] or [f"{kind['prefix']}{i}" for i in range(kind["count"])]


def parse_line(text):
    """A line as {"text", "op", "operands"}, or None if it is no instance of a template."""
    text = re.sub(r"^with suppress\(\w+\): ", "", text.rstrip())
    text = re.sub(r"^with suppress\(\w+\), ", "with ", text)
    on_lane = re.fullmatch(r'lane\(([12]), "(.*)"\)', text)
    whole, text = text, on_lane[2] if on_lane else text
    for name, operands, template in OPS:
        pattern = re.escape(template).replace(r"\{0\}", "(.+?)").replace(r"\{1\}", "(.+?)")
        match = re.fullmatch(pattern, text)
        if match:
            found = list(match.groups())
            if all(word in words(mark.lstrip("=*+-")) for word, mark in zip(found, operands)):
                return {"text": whole, "bare": text, "op": name, "operands": found,
                        "lane": int(on_lane[1]) if on_lane else 0,
                        "binds": [word for word, mark in zip(found, operands)
                                  if mark[0] in "=*+"]}
    return None


def parse(text, frame=()):
    """Lines and the number of dropped ones; blank lines are not counted, comments not named."""
    parsed = [(number, line, parse_line(line)) for number, line in enumerate(text.splitlines(), 1)
              if line.strip()]
    kept = [line for _, _, line in parsed if line]
    named = [{"line": number, "text": line, "why": "no op"} for number, line, op in parsed
             if not op and not line.lstrip().startswith("#")
             and not any(first <= number <= last for first, last in frame)]
    return {"lines": kept, "dropped": len(parsed) - len(kept), "dropped_lines": named[:20],
            "dropped_count": len(named)}
