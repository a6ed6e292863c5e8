"""The user's script by `ast`: where a line begins, what remains from it on, and what that reads.

Statements are opaque: only the names that they read and bind are known.
"""

import ast
import textwrap
from dataclasses import dataclass
from pathlib import Path

from slotfuzz.errors import UserError

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
WITHS = (ast.With, ast.AsyncWith)
IMPORTS = (ast.Import, ast.ImportFrom)
INDENT = "    "
SHOWN_MAX = 60


@dataclass(frozen=True)
class Statement:
    """TEXT is one statement, with the names that it reads and those that it binds or deletes."""

    text: str
    reads: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """All names that it mentions."""
        return self.reads | self.binds


@dataclass(frozen=True)
class Rest:
    """What runs from a line on: LINES; and what was there before: imports, functions, classes.

    In a FUNCTION, lines may return.
    """

    before: tuple[Statement, ...]
    lines: tuple[Statement, ...]
    function: str = ""


def parsed(source: str, name: str, mode: str = "exec") -> ast.AST:
    """The tree of SOURCE, a text for compile() in MODE; UserError if it is no Python."""
    try:
        return ast.parse(source, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(_no_python(error, name)) from error


def check_runs(source: str, function: str, name: str) -> None:
    """UserError if SOURCE is no text of whole statements in a body of FUNCTION, or in a script."""
    parsed(source, name)
    text = f"def {function}():\n{textwrap.indent(source, INDENT)}" if function else source
    try:
        compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(_no_python(error, name)) from error


def _no_python(error: Exception, name: str) -> str:
    place = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
    return f"{name}{place}: {getattr(error, 'msg', error) or type(error).__name__}"


def read(path: Path) -> str:
    """The text of the script PATH."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; a script is needed")
    try:
        return path.read_text()
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no text: {error}") from error


def rest_from(source: str, line: int, name: str) -> Rest:
    """What SOURCE, a script called NAME, runs from LINE on.

    UserError if no statement begins there; it names the nearest lines where one does.
    """
    tree = parsed(source, name)
    path = _path_to(tree, line)
    if not path:
        raise UserError(_nowhere(source, tree, line, name))
    return _Cut(source, tree, line).rest(path)


def statements(source: str) -> tuple[Statement, ...]:
    """The statements at the top of SOURCE, which is Python."""
    return tuple(_statement(node, _text(source, node)) for node in ast.parse(source).body)


def hides(text: str, name: str) -> bool:
    """Whether a definition TEXT gives NAME another meaning than `import NAME` or Python does."""
    todo = list(ast.parse(text).body)
    for node in todo:  # which grows
        if isinstance(node, IMPORTS):
            for one in node.names:
                bound = one.asname or one.name.partition(".")[0]
                is_module = isinstance(node, ast.Import) and (not one.asname or one.name == name)
                if bound == name and not is_module:
                    return True
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if node.name == name:
                return True
        else:
            todo += [one for block in _blocks(node) for one in block]
    return False


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    blocks = [getattr(node, field, None) for field in ("body", "orelse", "finalbody")]
    blocks += [one.body for one in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    return [block for block in blocks if isinstance(block, list)]


def first_line(node: ast.stmt) -> int:
    """The line where a statement begins, decorators included."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


def _path_to(node: ast.AST, line: int) -> list[tuple[ast.AST, list[ast.stmt], int]]:
    """From the outside: each node with its block, and the place in it that leads to LINE."""
    for block in _blocks(node):
        for place, one in enumerate(block):
            if first_line(one) == line:
                return [(node, block, place)]
            if first_line(one) < line <= one.end_lineno:
                inner = _path_to(one, line)
                return inner and [(node, block, place), *inner]
    return []


def _nowhere(source: str, tree: ast.Module, line: int, name: str) -> str:
    count = len(source.splitlines())
    begins = sorted({first_line(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)})
    if not begins:
        return f"{name} has no statement"
    near = sorted({max((one for one in begins if one < line), default=begins[0]),
                   min((one for one in begins if one > line), default=begins[-1])})
    words = " or ".join(f"{one} (`{_shortened(source, one)}`)" for one in near)
    if not 1 <= line <= count:
        return f"{name} has {count} lines and no line {line}; did you mean {words}?"
    return f"{name}, line {line}: no statement begins here; did you mean {words}?"


def _shortened(source: str, line: int) -> str:
    text = source.splitlines()[line - 1].strip()
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + ".."


class _Cut:
    """A script that is cut before a line."""

    def __init__(self, source: str, tree: ast.Module, line: int):
        self.source, self.tree, self.line = source, tree, line

    def rest(self, path) -> Rest:
        """The rest from the end of PATH on, in the innermost function or the module."""
        outer, block, place = path[-1]
        lines = [self._of(node) for node in block[place:]]
        for node, block, place in reversed(path[:-1]):
            if isinstance(outer, FUNCTIONS):
                return self._in_function(outer, lines)
            if isinstance(outer, ast.ClassDef):
                raise UserError(f"line {self.line} is in the body of class {outer.name}; choose a"
                                " line of a function or of the script")
            lines = self._within(outer, lines) + [self._of(one) for one in block[place + 1:]]
            outer = node
        return Rest(tuple(self._before()), tuple(lines))

    def _of(self, node: ast.stmt) -> Statement:
        return _statement(node, _text(self.source, node))

    def _within(self, node: ast.stmt, lines: list[Statement]) -> list[Statement]:
        """LINES, the end of a block of NODE, as statements after which NODE is over."""
        body = textwrap.indent("\n".join(one.text for one in lines), INDENT)
        if isinstance(node, WITHS):
            head = ", ".join(map(ast.unparse, node.items))
            word = "async with" if isinstance(node, ast.AsyncWith) else "with"
            return [_joined(f"{word} {head}:\n{body}", lines, node.items)]
        if isinstance(node, LOOPS) and _jumps(lines):
            return [_joined(f"for _ in (0,):\n{body}", lines, [])]
        if isinstance(node, ast.Try) and first_line(node.body[0]) <= self.line <= (
                node.body[-1].end_lineno):
            parts = [ast.unparse(one) for one in node.handlers]
            for word, block in (("else", node.orelse), ("finally", node.finalbody)):
                if block:
                    inner = "\n".join(map(ast.unparse, block))
                    parts.append(f"{word}:\n{textwrap.indent(inner, INDENT)}")
            others = [*node.handlers, *node.orelse, *node.finalbody]
            return [_joined("\n".join([f"try:\n{body}", *parts]), lines, others)]
        return lines

    def _in_function(self, function, lines: list[Statement]) -> Rest:
        kept, nodes = [], []
        for one in lines:
            tree = ast.parse(f"def f():\n{textwrap.indent(one.text, INDENT)}")
            (node, *_) = tree.body[0].body
            if isinstance(node, ast.Return):  # the end, whose value still is computed
                if node.value is not None:
                    kept.append(_statement(ast.Expr(node.value), ast.unparse(node.value)))
                break
            kept.append(one)
            nodes += _own_nodes(tree.body[0])
        returns = any(isinstance(one, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await))
                      for one in nodes)
        return Rest(tuple(self._before(function)), tuple(kept), function.name if returns else "")

    def _before(self, function=None) -> list[Statement]:
        """Imports, functions and classes that the rest may use, in the order of the script."""
        found = []
        for node in self.tree.body:
            if (function or node.end_lineno < self.line) and _is_definition(node):
                found.append(self._of(node))
        for node in ast.walk(function) if function else ():
            if isinstance(node, IMPORTS) and node.end_lineno < self.line:
                found.append(_statement(node, ast.unparse(node)))
        return found


def _is_definition(node: ast.stmt) -> bool:
    if isinstance(node, (ast.If, ast.Try)):
        return all(isinstance(one, ast.Pass) or _is_definition(one)
                   for block in _blocks(node) for one in block)
    return isinstance(node, (*IMPORTS, *FUNCTIONS, ast.ClassDef))


def _own_nodes(function) -> list[ast.AST]:
    """The nodes of FUNCTION that are in no function within it."""
    found, todo = [], list(function.body)
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)
    return found


def _jumps(lines: list[Statement]) -> bool:
    """Whether LINES may break or continue a loop around them; a loop within them may be meant."""
    text = textwrap.indent("\n".join(one.text for one in lines), INDENT)
    return any(isinstance(node, (ast.Break, ast.Continue))
               for node in ast.walk(ast.parse(f"for _ in ():\n{text}")))


def _joined(text: str, lines: list[Statement], nodes: list[ast.AST]) -> Statement:
    parts = [*lines, *(_statement(node, "") for node in nodes)]
    return Statement(text, frozenset().union(*(one.reads for one in parts)),
                     frozenset().union(*(one.binds for one in parts)))


def _statement(node: ast.AST, text: str) -> Statement:
    reads, binds = set(), set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            if not isinstance(one.ctx, ast.Store):
                reads.add(one.id)  # what is deleted must be there, too
            if not isinstance(one.ctx, ast.Load):
                binds.add(one.id)
        elif isinstance(one, ast.alias):
            binds.add((one.asname or one.name).partition(".")[0])
        elif isinstance(one, (*FUNCTIONS, ast.ClassDef)):
            binds.add(one.name)
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            reads.add(one.target.id)
    return Statement(text, frozenset(reads), frozenset(binds))


def _text(source: str, node: ast.stmt) -> str:
    """The text of NODE as it stands in SOURCE, without indentation."""
    if node.col_offset and any(isinstance(one, ast.JoinedStr) or isinstance(one, ast.Constant)
                               and isinstance(one.value, (str, bytes))
                               and one.lineno != one.end_lineno for one in ast.walk(node)):
        return ast.unparse(node)  # spaces within a text stay
    text = ast.get_source_segment(source, node, padded=True) or ast.unparse(node)
    decorators = source.splitlines()[first_line(node) - 1:node.lineno - 1]
    return textwrap.dedent("\n".join([*decorators, text]))
