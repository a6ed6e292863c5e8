"""The rules for expressions: negate, drop a term, off by one, swap arguments, drop a count, and
weaker memory orders.

Each takes the finder and the cursor of an expression, makes sites, and goes on with its parts.
"""

import re

from slotfuzz.mutation.site import Edit
from slotfuzz.mutation.source import cindex, span

Kind = cindex.CursorKind if cindex else None
INTEGERS = ("CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG", "CHAR_S", "SCHAR", "SHORT",
            "INT", "LONG", "LONGLONG")
ORDER = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst)$")
# The name with which a reference is taken over instead of a new one.
TAKES_OVER = {"retain": "reclaim", "borrow": "steal"}
NEW_REFERENCE = {"Py_NewRef", "Py_XNewRef"}
OFF_BY_ONE = {"<": 1, ">=": 1, "<=": 0, ">": 0}


def is_bool(cursor) -> bool:
    """Whether an expression is of type bool."""
    return cursor.type.get_canonical().kind == cindex.TypeKind.BOOL


def _is_integer(cursor) -> bool:
    return cursor.type.get_canonical().kind.name in INTEGERS


def _has_number(finder, cursor) -> bool:
    """Whether an operand is a number, whose own site makes the same mutants."""
    return re.fullmatch(r"\d\w*", finder.source.code(*span(cursor))) is not None


def _wrap(finder, rule: str, cursor, before: str, after: str) -> None:
    start, end = span(cursor)
    finder.add(rule, (start, end), Edit(start, end, before, after))


def others(finder, cursor) -> None:
    """An expression without a rule of its own."""
    finder.parts(cursor)


def negate(finder, cursor) -> None:
    """The other bool."""
    _wrap(finder, "negate", cursor, "(static_cast<bool>(", ") != {chosen})")


def condition(finder, cursor) -> None:
    """The condition of an `if` always or never holds. Who sees neither sees no negation."""
    _wrap(finder, "always", cursor, "({chosen} || (", "))")
    _wrap(finder, "never", cursor, "(!{chosen} && (", "))")


def binary(finder, cursor) -> None:
    """Operators of two operands."""
    children = list(cursor.get_children())
    if len(children) == 2:
        left, right = children
        sign = finder.source.token_at(span(left)[1])[2]
        if sign in ("&&", "||"):
            before = "({chosen} || (" if sign == "&&" else "(!{chosen} && ("
            for operand in children:
                _wrap(finder, "drop-term", operand, before, "))")
        elif sign in OFF_BY_ONE and all(map(_is_integer, children)) \
                and not any(_has_number(finder, one) for one in children):
            # a < b + 1 is a <= b, and so on.
            _wrap(finder, "off-by-one", children[OFF_BY_ONE[sign]], "((", ") + {chosen})")
        elif sign in ("+", "-") and _is_integer(cursor) \
                and not any(_has_number(finder, one) for one in children):
            _wrap(finder, "off-by-one", cursor, "((", ") + {chosen})")
    finder.parts(cursor)


def conditional(finder, cursor) -> None:
    """`a ? b : c`."""
    negate(finder, next(iter(cursor.get_children())))
    finder.parts(cursor)


def boolean(finder, cursor) -> None:
    """`true` and `false`."""
    negate(finder, cursor)


def number(finder, cursor) -> None:
    """A number is one larger."""
    if _has_number(finder, cursor):
        _wrap(finder, "off-by-one", cursor, "(", " + {chosen})")


def reference(finder, cursor) -> None:
    """A name, which may have template arguments; a memory order is weaker."""
    if ORDER.match(cursor.spelling):
        _wrap(finder, "weaker-order", cursor, "({chosen} ? std::memory_order_relaxed : ", ")")


def member(finder, cursor) -> None:
    """A member of an object, which may be an expression."""
    for child in cursor.get_children():
        if child.kind.is_expression() and child.kind != Kind.INTEGER_LITERAL:
            finder.expression(child)


def subscript(finder, cursor) -> None:
    """The index of an array is one larger."""
    index = list(cursor.get_children())[-1]
    if _is_integer(index) and not _has_number(finder, index):
        _wrap(finder, "off-by-one", index, "((", ") + {chosen})")
    finder.parts(cursor)


def call(finder, cursor) -> None:
    """Arguments swap, and a count or a reference is dropped."""
    name, (start, end) = finder.callee(cursor), span(cursor)
    arguments = [one for one in cursor.get_arguments() if one is not None and
                 start <= span(one)[0] < span(one)[1] <= end]
    code = finder.source.code(start, end)
    if name == "operator[]" and len(arguments) == 2:
        subscript(finder, cursor)
        return
    if name in TAKES_OVER:
        other = re.sub(rf"\b{name}(?=\s*\()", TAKES_OVER[name], code, count=1)
        _wrap(finder, "drop-count", cursor, f"({{chosen}} ? {other} : ", ")")
    elif name in NEW_REFERENCE and len(arguments) == 1:
        _new_reference(finder, cursor, finder.source.code(*span(arguments[0])))
    elif re.match(r"fetch_(add|sub)$", name) and arguments:
        _wrap(finder, "drop-count", arguments[0], "({chosen} ? 0 : (", "))")
    elif not name.startswith("operator"):
        for first, second in zip(arguments, arguments[1:]):
            _swap(finder, cursor, first, second)
    finder.parts(cursor)


def _new_reference(finder, cursor, argument: str) -> None:
    _wrap(finder, "drop-count", cursor, f"({{chosen}} ? ({argument}) : ", ")")


def _swap(finder, cursor, first, second) -> None:
    """Swaps two arguments of one type."""
    source, (start, end) = finder.source, span(cursor)
    kinds = [one.type.get_canonical().spelling.removeprefix("const ") for one in (first, second)]
    (a, b), (c, d) = span(first), span(second)
    if kinds[0] != kinds[1] or re.search("dependent|memory_order", kinds[0]) \
            or source.code(a, b) == source.code(c, d):
        return
    if source.token_at(b)[2] != "," or source.token_at(source.token_at(b)[1])[0] != c:
        return
    one, other = source.code(a, b), source.code(c, d)
    called = cursor.referenced
    if called is not None and called.kind == Kind.CONSTRUCTOR:
        # The name of a variable may stand before the arguments of its constructor.
        if re.fullmatch(r"[a-z_]\w*", one) and len(kinds[0]) < 40:
            finder.add("swap", (a, d), Edit(
                a, d, f"({{chosen}} ? {other} : {one}), ({{chosen}} ? {one} : ", ")", (c, d)))
        return
    swapped = (f"{source.code(start, a)}{other}, {one}{source.code(d, end)}")
    finder.add("swap", (start, end), Edit(start, end, f"({{chosen}} ? {swapped} : ", ")"))


def macro(finder, cursor, name: str) -> None:
    """An expanded macro, of which only the whole can be wrapped."""
    start, end = span(cursor)
    if name in NEW_REFERENCE:
        opening = finder.source.tokens[finder.source.index_at(start) + 1]
        _new_reference(finder, cursor,
                       finder.source.code(opening[1], finder.source.closing(opening[0])))


def nothing(finder, cursor) -> None:
    """What the compiler evaluates."""


RULES = {
    "BINARY_OPERATOR": binary, "CONDITIONAL_OPERATOR": conditional, "CALL_EXPR": call,
    "CXX_BOOL_LITERAL_EXPR": boolean, "INTEGER_LITERAL": number, "DECL_REF_EXPR": reference,
    "MEMBER_REF_EXPR": member, "ARRAY_SUBSCRIPT_EXPR": subscript, "CXX_UNARY_EXPR": nothing,
}
