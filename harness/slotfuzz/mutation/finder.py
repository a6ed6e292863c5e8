"""Walks through the function bodies of a file, and lets the rules make a site of what fits.

Left out by rule, and counted: what is evaluated when it is compiled, and macros' insides. Not
counted: declarations, types, and calls that only trace or check.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace

from slotfuzz.mutation import expressions, statements
from slotfuzz.mutation.site import Edit, Site
from slotfuzz.mutation.source import Source, cindex, span

Kind = cindex.CursorKind if cindex else None
# Calls that change nothing that a program could see.
IGNORED_CALLS = {"trace", "check", "check_failed", "SLOTCORE_CHECK", "static_assert", "fence_note"}
SCOPES = ("NAMESPACE", "CLASS_DECL", "STRUCT_DECL", "CLASS_TEMPLATE", "LINKAGE_SPEC",
          "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION", "UNEXPOSED_DECL")
FUNCTIONS = ("FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION",
             "FUNCTION_TEMPLATE")
COMPILE_TIME = {"constexpr", "consteval", "constinit"}


@dataclass(frozen=True)
class Function:
    """What the rules ask of the function around a cursor."""

    name: str = ""
    is_destructor: bool = False
    is_compile_time: bool = False


class Finder:
    """The sites of one SOURCE, in the order in which their edits nest: outer ones first."""

    def __init__(self, source: Source):
        self.source = source
        self.sites: list[Site] = []
        self.left_out: Counter = Counter()
        self.function = Function()
        self._taken: set[tuple] = set()
        self._named: Counter = Counter()
        for cursor in source.top:
            self._declaration(cursor)

    def add(self, rule: str, code: tuple[int, int], edit: Edit) -> None:
        """Makes a site, unless a cursor of the same range has made it already."""
        key = rule, code, edit.before
        if key in self._taken:
            return
        self._taken.add(key)
        if self.function.is_compile_time:
            self.left_out["in a constexpr function"] += 1
            return
        words = self.source.code(*code)
        if re.fullmatch(r"true|false|\d\w*", words):  # it names nothing
            words = self.source.line_code(code[0])
        site = Site(self.source.name, self.source.line(code[0]), self.function.name, rule, words,
                    edit)
        self._named[site.name] += 1
        self.sites.append(replace(site, again=self._named[site.name]))

    def _declaration(self, cursor) -> None:
        if cursor.kind.name in SCOPES:
            for child in cursor.get_children():
                if self.source.is_here(child):
                    self._declaration(child)
        elif cursor.kind.name in FUNCTIONS:
            self._function(cursor)

    def _function(self, cursor) -> None:
        children = list(cursor.get_children())
        body = next((one for one in children if one.kind == Kind.COMPOUND_STMT), None)
        if body is None:
            return
        start, end = span(body)
        head = self.source.code(span(cursor)[0], start)
        words = set(head.replace("(", " ").split())
        self.function = Function(_name(cursor), cursor.kind == Kind.DESTRUCTOR,
                                 bool(words & COMPILE_TIME))
        if "noreturn" not in head:
            statements.early_return(self, cursor, body)
        for child in children:
            if child.kind.is_expression():  # the initializers of a constructor
                self.expression(child)
        self.statement(body)
        self.function = Function()

    def statement(self, cursor) -> None:
        """A cursor where a statement stands."""
        macro = self.source.macros.get(span(cursor))
        if not self.source.is_here(cursor) or macro in IGNORED_CALLS:
            return
        if macro or cursor.kind.is_expression():
            if self.callee(cursor) not in IGNORED_CALLS:
                statements.delete(self, cursor)
                if not macro:
                    self.expression(cursor)
            return
        statements.RULES.get(cursor.kind.name, statements.others)(self, cursor)

    def expression(self, cursor) -> None:
        """An expression that is a part of another one or of a statement."""
        if not self.source.is_here(cursor) or self.callee(cursor) in IGNORED_CALLS:
            return
        macro = self.source.macros.get(span(cursor))
        if macro:
            expressions.macro(self, cursor, macro)
            return
        if cursor.kind.is_statement():  # the body of a lambda
            self.statement(cursor)
            return
        expressions.RULES.get(cursor.kind.name, expressions.others)(self, cursor)

    def parts(self, cursor) -> None:
        """The parts of an expression that no rule has."""
        for child in cursor.get_children():
            if child.kind.is_expression() or child.kind.is_statement():
                self.expression(child)

    def callee(self, cursor) -> str:
        """The name of what CURSOR calls, which may be wrapped; empty if it is no call."""
        start, end = span(cursor)
        while cursor.kind == Kind.UNEXPOSED_EXPR:
            inner = [one for one in cursor.get_children() if span(one) == (start, end)]
            if len(inner) != 1:
                return ""
            cursor = inner[0]
        if (start, end) in self.source.macros:
            return self.source.macros[start, end]
        if cursor.kind != Kind.CALL_EXPR:
            return ""
        if cursor.spelling:
            return cursor.spelling
        first = next(iter(cursor.get_children()), None)
        if first is None:
            return ""
        words = self.source.code(*span(first))
        return words.replace("->", ".").replace("::", ".").rpartition(".")[2]


def _name(cursor) -> str:
    """The name of a function, after the class that it belongs to."""
    owner = cursor.semantic_parent
    name = cursor.spelling.partition("<")[0] if "operator" not in cursor.spelling \
        else cursor.spelling
    if owner is not None and owner.kind.name in SCOPES and owner.kind != Kind.NAMESPACE:
        return f"{owner.spelling.partition('<')[0]}::{name}"
    return name
