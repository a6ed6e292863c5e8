"""The rules for statements: delete one, drop a condition, return early, drop a cleanup or a count.

Each takes the finder and the cursor of a statement, makes sites, and goes on with its parts.
"""

import re

from slotfuzz.mutation import expressions
from slotfuzz.mutation.site import Edit
from slotfuzz.mutation.source import cindex, span

Kind = cindex.CursorKind if cindex else None
COUNTS = re.compile(r"(Py_X?(INC|DEC)REF|(weak_)?(inc|dec)ref\w*|fetch_(add|sub)|retain|unpin|"
                    r"pin)$")
CLEANUPS = re.compile(r"(Py_CLEAR|PyMem_Free|PyObject_GC_UnTrack|PyBuffer_Release|reset|clear|"
                      r"release\w*|free\w*|destroy\w*|unlock|close|erase|remove\w*|forget\w*)$")
# What is thrown: deleting it is another condition around it.
NO_EFFECT = re.compile(r"throw\b|\(void\) ?\w+$")
STEP = re.compile(r"(\+\+|--|[+-]=)")


def early_return(finder, function, body) -> None:
    """Returns as soon as the function begins, with the zero of its type."""
    start, end = span(body)
    inside = [one for one in body.get_children()]
    if not inside:
        return
    only = inside[0] if len(inside) == 1 else None
    result = function.result_type.spelling
    if result.endswith("&"):
        return
    is_void = function.kind in (Kind.CONSTRUCTOR, Kind.DESTRUCTOR) or result == "void"
    if only is not None and is_void and only.kind.is_expression():
        return  # as deleting it
    if only is not None and re.match(r"return (0|nullptr|false|\{\}|std::nullopt)$",
                                     finder.source.code(*span(only))):
        return
    rule = "drop-cleanup" if finder.function.is_destructor else "early-return"
    words = " if ({chosen}) return;" if is_void else " if ({chosen}) return {};"
    finder.add(rule, (start, end) if end - start < 60 else (start, start + 1),
               Edit(start + 1, start + 1, words))


def delete(finder, cursor) -> None:
    """Does not run an expression that is a statement."""
    start, end = span(cursor)
    semicolon = finder.source.token_at(end)
    if semicolon[2] != ";" or NO_EFFECT.match(finder.source.code(start, end)):
        return
    callee, code = finder.callee(cursor), finder.source.code(start, end)
    rule = "delete"
    if COUNTS.match(callee) or not callee and STEP.search(code):
        rule = "drop-count"
    elif CLEANUPS.match(callee) or finder.function.is_destructor or code.startswith("delete "):
        rule = "drop-cleanup"
    _skip(finder, rule, start, semicolon[1])


def _skip(finder, rule: str, start: int, end: int) -> None:
    finder.add(rule, (start, end), Edit(start, end, "{ if (!{chosen}) ", " }"))


def others(finder, cursor) -> None:
    """A statement without a rule of its own."""
    for child in cursor.get_children():
        if child.kind.is_statement():
            finder.statement(child)
        elif child.kind.is_expression():
            finder.expression(child)


def block(finder, cursor) -> None:
    """Statements one after the other."""
    for child in cursor.get_children():
        finder.statement(child)


def jump(finder, cursor) -> None:
    """`break` and `continue`."""
    start, end = span(cursor)
    semicolon = finder.source.token_at(end)
    if semicolon[2] == ";":
        _skip(finder, "delete", start, semicolon[1])


def if_(finder, cursor) -> None:
    """The condition always or never holds."""
    source, (start, end) = finder.source, span(cursor)
    after = source.tokens[source.index_at(start) + 1]
    is_static = after[2] == "constexpr"
    if is_static:
        finder.left_out["if constexpr"] += 1
        after = source.token_at(after[1])
    close = source.closing(after[0])
    inside = [one for one in cursor.get_children() if span(one)[1] <= close]
    branches = [one for one in cursor.get_children() if span(one)[0] > close]
    condition = inside[-1] if inside else None
    if not is_static and condition is not None:
        if condition.kind.is_expression() and source.token_at(span(condition)[1])[0] == close:
            expressions.condition(finder, condition)
        elif len(branches) == 1:  # it declares a variable
            _skip(finder, "never", start, _end(finder, branches[0]))
    if not is_static:
        _parts(finder, inside)
    for branch in branches:
        finder.statement(branch)


def loop(finder, cursor) -> None:
    """`for` and `while`: the loop never runs."""
    source, (start, _) = finder.source, span(cursor)
    opening = source.tokens[source.index_at(start) + 1]
    close = source.closing(opening[0])
    inside = [one for one in cursor.get_children() if span(one)[1] <= close]
    body = [one for one in cursor.get_children() if span(one)[0] > close]
    if body:
        _skip(finder, "never", start, _end(finder, body[-1]))
    _parts(finder, inside)
    for one in body:
        finder.statement(one)


def _end(finder, branch) -> int:
    """Where a statement ends, with its semicolon."""
    end = span(branch)[1]
    token = finder.source.token_at(end)
    is_open = not finder.source.text[:end].rstrip().endswith(("}", ";"))
    return token[1] if is_open and token[2] == ";" else end


def _parts(finder, cursors) -> None:
    for one in cursors:
        if one.kind.is_statement():
            finder.statement(one)
        elif one.kind.is_expression():
            finder.expression(one)
        elif one.kind == Kind.VAR_DECL:
            variable(finder, one)


def range_for(finder, cursor) -> None:
    """A `for` over a range never runs."""
    start, _ = span(cursor)
    body = list(cursor.get_children())[-1]
    _skip(finder, "never", start, _end(finder, body))
    finder.statement(body)


def case(finder, cursor) -> None:
    """`case` and `default`: what stands behind the colon."""
    children = list(cursor.get_children())
    if children:
        finder.statement(children[-1])


def return_(finder, cursor) -> None:
    """A bool that is returned is another one."""
    for value in cursor.get_children():
        if value.kind.is_expression():
            if expressions.is_bool(value):
                expressions.negate(finder, value)
                if value.kind == Kind.CXX_BOOL_LITERAL_EXPR:
                    continue
            finder.expression(value)


def declaration(finder, cursor) -> None:
    """A guard that nothing names is dropped; the parts of other initial values have rules."""
    variables = [one for one in cursor.get_children() if one.kind == Kind.VAR_DECL]
    words = set(finder.source.code(*span(cursor)).partition("=")[0].split())
    if words & {"constexpr", "constinit"}:
        finder.left_out["a constexpr variable"] += 1
        return
    if len(variables) == 1 and "static" not in words:
        _guard(finder, cursor, variables[0])
    for one in variables:
        variable(finder, one)


def variable(finder, cursor) -> None:
    """The initial value of a variable."""
    is_array = "ARRAY" in cursor.type.kind.name
    for child in cursor.get_children():
        if child.kind.is_expression() and not (
                is_array and child.kind == Kind.INTEGER_LITERAL):
            if expressions.is_bool(child) and child.kind != Kind.CXX_BOOL_LITERAL_EXPR \
                    and cursor.type.get_canonical().kind == cindex.TypeKind.BOOL:
                expressions.negate(finder, child)
            finder.expression(child)


def _guard(finder, statement, cursor) -> None:
    """A variable of a class that nothing names is there for what its destructor does."""
    source, (start, end) = finder.source, span(statement)
    record = cursor.type.get_canonical()
    if record.kind != cindex.TypeKind.RECORD or source.token_at(start)[2] in ("auto", "const"):
        return
    index = source.index_at(cursor.location.offset)
    if source.tokens[index][2] != cursor.spelling or "=" in source.code(start, end):
        return
    if any(word == cursor.spelling for at, _, word in source.tokens[index + 1:]
           if at < _scope_end(source, end)):
        return
    made, after = source.code(start, source.tokens[index][0]), source.tokens[index + 1]
    if after[2] in ("(", "{"):
        inside = after[1], source.closing(after[0])
    elif after[2] == ";":
        inside = after[0], after[0]
    else:
        return
    finder.add("drop-cleanup", (start, end), Edit(
        start, end,
        f"std::optional<decltype({made}({source.code(*inside)}))> {cursor.spelling};"
        f" if (!{{chosen}}) {cursor.spelling}.emplace(", ");", inside))


def _scope_end(source, offset: int) -> int:
    """The end of the block that OFFSET is in."""
    depth = 0
    for index in range(source.index_at(offset), len(source.tokens)):
        start, _, word = source.tokens[index]
        depth += (word == "{") - (word == "}")
        if depth < 0:
            return start
    return len(source.text)


RULES = {
    "COMPOUND_STMT": block, "IF_STMT": if_, "FOR_STMT": loop, "WHILE_STMT": loop,
    "CXX_FOR_RANGE_STMT": range_for, "CASE_STMT": case, "DEFAULT_STMT": case,
    "RETURN_STMT": return_, "DECL_STMT": declaration, "BREAK_STMT": jump, "CONTINUE_STMT": jump,
    "NULL_STMT": lambda finder, cursor: None, "STATIC_ASSERT": lambda finder, cursor: None,
}
