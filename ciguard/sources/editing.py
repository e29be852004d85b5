"""A file as it is written, and changes of it that leave everything else as it stands."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ciguard.sources.diffs import diff_of, source_lines
from ciguard.sources.parsing import UnreadableSourceError, parse, parse_expression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

Place: TypeAlias = tuple[int, int, int, int]
"""Line and column where an expression begins and where it ends, as `ast` counts them."""

_MARK = "\ufeff"
_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)


def place_of(node: ast.expr) -> Place:
    """Return where an expression stands in its file."""
    return (
        node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0,
    )  # fmt: skip


@dataclass(frozen=True)
class Source:
    """One Python file."""

    file: str
    """Below the application's root, with slashes."""
    text: str
    """With its own ends of lines, and the mark that it may begin with."""

    @cached_property
    def tree(self) -> ast.Module:
        """What it says."""
        return parse(self._body)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree."""
        return tuple(ast.walk(self.tree))

    @property
    def _body(self) -> str:
        return self.text.removeprefix(_MARK)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """With their ends, as Python counts them."""
        return tuple(source_lines(self._body))

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """Where its lines begin."""
        return tuple(itertools.accumulate(map(len, self.lines), initial=0))

    @property
    def _mark(self) -> str:
        return self.text[: len(self.text) - len(self._body)]

    def at(self, place: Place) -> ast.expr | None:
        """Return the expression that stands in a place; None if there is none, or more than one."""
        found = [one for one in self.nodes if isinstance(one, ast.expr) and place_of(one) == place]
        return found[0] if len(found) == 1 else None

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Return between which characters an expression stands, the mark not counted."""
        line, column, end_line, end_column = place_of(node)
        return self._offset(line, column), self._offset(end_line, end_column)

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        before = self._body[start : start + column].encode("utf-8", "surrogatepass")[:column]
        return start + len(before.decode("utf-8", "surrogatepass"))

    def written(self, node: ast.expr) -> str:
        """Return an expression as it is written, in parentheses where it could need them."""
        start, end = self.span(node)
        text = self._body[start:end]
        is_atom = isinstance(node, _ATOMS) and "\n" not in text and "\r" not in text
        return text if is_atom else f"({text})"

    def text_between(self, start: int, end: int) -> str:
        """Return what stands between two characters, counted as in `span`."""
        return self._body[start:end]

    def replaced(self, changes: Mapping[ast.expr, str]) -> str | None:
        """Return a diff that puts other expressions into the place of some, and changes no more.

        Args:
            changes: expressions of the tree that do not contain each other → what to write instead.

        Returns:
            A unified diff for `git apply` in the application's root, whose lines end as those of
            the file do: to be written as it is, without translation. None if that cannot be written
            so that it means just that, or nothing would change.
        """
        body = self._body
        for node, text in sorted(changes.items(), key=lambda one: self.span(one[0]), reverse=True):
            start, end = self.span(node)
            expected = self._meaning({node: text})
            for written in (text, f"({text})"):  # in parentheses only where it needs them
                if expected and _meaning(_spliced(self._body, start, end, written)) == expected:
                    body = _spliced(body, start, end, written)
                    break
            else:
                return None
        if _meaning(body) != self._meaning(changes):
            return None
        return diff_of(self.file, self.text, self._mark + body) or None

    def spliced(self, node: ast.expr, text: str) -> str:
        """Return the file's text with another in the place of an expression, as it is given."""
        return self._mark + _spliced(self._body, *self.span(node), text)

    def with_lines(self, inserted: Mapping[int, Sequence[str]], gone: Collection[int] = ()) -> str:
        """Return the file's text with more lines, which end as those around do, and others gone.

        Args:
            inserted: by the number of the line that they are put before, from 1.
            gone: numbers of lines that are taken out.
        """
        written, end = [self._mark], "\n"
        for number, line in enumerate((*self.lines, ""), start=1):
            end = line[len(line.rstrip("\r\n")) :] or end
            written += [f"{new}{end}" for new in inserted.get(number, ())]
            written += () if number in gone else (line,)
        return "".join(written)

    def _meaning(self, changes: Mapping[ast.expr, str]) -> str:
        """Return what the file is to mean; empty if a change is no expression."""
        try:
            new = {node: parse_expression(f"({text}\n)") for node, text in changes.items()}
        except SyntaxError:
            return ""
        tree = ast.parse(self._body)
        same = zip(self.nodes, ast.walk(tree), strict=True)
        return _dump(tree, {copy: new[node] for node, copy in same if node in new})


def read_source(root: Path, file: str) -> Source | None:
    """Read a file; None if it is no UTF-8, for which no diff could be a text, or no Python.

    Args:
        root: folder of the application.
        file: below it, with slashes.

    Raises:
        OSError: if the file cannot be read.
    """
    content = (root / file).read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        if encoding not in {"utf-8", "utf-8-sig"}:
            return None
        source = Source(file, content.decode("utf-8"))
        _ = source.tree
    except (SyntaxError, UnicodeDecodeError, UnreadableSourceError):
        return None
    return source


def opening(tree: ast.Module, *, with_imports: bool = True) -> int:
    """Return how many statements a module begins with that others are put behind.

    Args:
        tree: of the module.
        with_imports: whether all imports are among them, or those from `__future__` alone.
    """
    at = 0
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
                at += 1
            case ast.Import() | ast.ImportFrom() if with_imports:
                at += 1
            case _:
                break
    return at


# --- what a text means ----------------------------------------------------------------------------


def _spliced(text: str, start: int, end: int, other: str) -> str:
    return text[:start] + other + text[end:]


def has_meaning(text: str) -> bool:
    """Return whether a text, with the mark that it may begin with, is Python."""
    return bool(_meaning(text.removeprefix(_MARK)))


def _meaning(text: str) -> str:
    """Return what two texts have in common that mean the same; empty if it is no Python."""
    try:
        return _dump(ast.parse(text), {})
    except SyntaxError:
        return ""


def _dump(tree: ast.Module, changes: Mapping[ast.AST, ast.AST]) -> str:
    return ast.dump(_Changed(changes).visit(tree))


class _Changed(ast.NodeTransformer):
    """Other nodes in the place of some; `a or (b or c)` becomes `a or b or c`."""

    def __init__(self, changes: Mapping[ast.AST, ast.AST]) -> None:
        self._changes = changes

    def visit(self, node: ast.AST) -> ast.AST:
        changed = self.generic_visit(self._changes.get(node, node))
        if isinstance(changed, ast.BoolOp):
            changed.values = list(_flat(changed))
        return changed


def _flat(node: ast.BoolOp) -> Iterator[ast.expr]:
    for value in node.values:
        if isinstance(value, ast.BoolOp) and type(value.op) is type(node.op):
            yield from value.values
        else:
            yield value
