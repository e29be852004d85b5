"""Source files, and edits that leave all other text unchanged."""

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
"""Start line, start column, end line and end column of an expression, counted as in `ast`."""

_BYTE_ORDER_MARK = "\ufeff"
_ATOMIC_EXPRESSIONS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)


def place_of(node: ast.expr) -> Place:
    """Return the location of an expression in its file."""
    return (
        node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0,
    )  # fmt: skip


@dataclass(frozen=True)
class Source:
    """One Python file."""

    file: str
    """Path relative to the application's root, with forward slashes."""
    text: str
    """Content with the file's line ends, and with its byte order mark if it has one."""

    @cached_property
    def tree(self) -> ast.Module:
        """Syntax tree of the file.

        Raises:
            UnreadableSourceError: if it is invalid for this interpreter, or nested too deeply.
        """
        return parse(self._body)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the syntax tree."""
        return tuple(ast.walk(self.tree))

    @property
    def _body(self) -> str:
        return self.text.removeprefix(_BYTE_ORDER_MARK)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Lines with their line ends, as Python counts them."""
        return tuple(source_lines(self._body))

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """Offset of each line's start, in characters after the byte order mark."""
        return tuple(itertools.accumulate(map(len, self.lines), initial=0))

    @property
    def _prefix(self) -> str:
        return self.text[: len(self.text) - len(self._body)]

    def at(self, place: Place) -> ast.expr | None:
        """Return the expression at a place; None if it has no expression, or more than one."""
        expressions = (node for node in self.nodes if isinstance(node, ast.expr))
        matches = [node for node in expressions if place_of(node) == place]
        return matches[0] if len(matches) == 1 else None

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Return an expression's start and end offset in characters after the byte order mark."""
        line, column, end_line, end_column = place_of(node)
        return self._offset(line, column), self._offset(end_line, end_column)

    def _offset(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        before = self._body[start : start + column].encode("utf-8", "surrogatepass")[:column]
        return start + len(before.decode("utf-8", "surrogatepass"))

    def written(self, node: ast.expr) -> str:
        """Return an expression's source text, in parentheses if it may need them elsewhere."""
        start, end = self.span(node)
        text = self._body[start:end]
        is_atom = isinstance(node, _ATOMIC_EXPRESSIONS) and "\n" not in text and "\r" not in text
        return text if is_atom else f"({text})"

    def text_between(self, start: int, end: int) -> str:
        """Return the text between two offsets, counted as by `span`."""
        return self._body[start:end]

    def replacement_diff(self, changes: Mapping[ast.expr, str]) -> str | None:
        """Return a diff that replaces expressions and changes nothing else.

        Args:
            changes: new source text by expression; no expression may contain another one.

        Returns:
            A unified diff for `git apply` in the application's root, with the file's line ends.
            None if nothing would change, or if the new file would not parse to the new tree.
        """
        body = self._body
        for node, text in sorted(
            changes.items(), key=lambda item: self.span(item[0]), reverse=True
        ):
            start, end = self.span(node)
            expected = self._dumped_tree({node: text})
            for new_text in (text, f"({text})"):  # parentheses only if they are needed
                spliced = _splice(self._body, start, end, new_text)
                if expected and _dumped_tree(spliced) == expected:
                    body = _splice(body, start, end, new_text)
                    break
            else:
                return None
        if _dumped_tree(body) != self._dumped_tree(changes):
            return None
        return diff_of(self.file, self.text, self._prefix + body) or None

    def text_with_replacement(self, node: ast.expr, text: str) -> str:
        """Return the file's text with an expression's text replaced by `text`."""
        return self._prefix + _splice(self._body, *self.span(node), text)

    def with_lines(
        self, inserted: Mapping[int, Sequence[str]], removed: Collection[int] = ()
    ) -> str:
        """Return the file's text with lines inserted and removed.

        New lines end like the line that follows them.

        Args:
            inserted: new lines without line ends, by the number of the line that follows them,
                from 1.
            removed: numbers of the lines to remove, from 1.
        """
        parts, end = [self._prefix], "\n"
        for number, line in enumerate((*self.lines, ""), start=1):
            end = line[len(line.rstrip("\r\n")) :] or end
            parts += [f"{new}{end}" for new in inserted.get(number, ())]
            parts += () if number in removed else (line,)
        return "".join(parts)

    def _dumped_tree(self, changes: Mapping[ast.expr, str]) -> str:
        """Return the dumped syntax tree of the changed file; empty if a change cannot be parsed."""
        try:
            new = {node: parse_expression(f"({text}\n)") for node, text in changes.items()}
        except SyntaxError:
            return ""
        tree = ast.parse(self._body)
        pairs = zip(self.nodes, ast.walk(tree), strict=True)
        return _dump(tree, {copy: new[node] for node, copy in pairs if node in new})


def read_source(root: Path, file: str) -> Source | None:
    """Read a Python file; return None if it is not in UTF-8, which diffs need, or not valid.

    Args:
        root: folder of the application.
        file: path relative to `root`, with forward slashes.

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
    """Return the number of statements at a module's start that new statements must follow.

    Args:
        tree: syntax tree of the module.
        with_imports: whether to count all imports, not only those from `__future__`.
    """
    count = 0
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom(module="__future__"):
                count += 1
            case ast.Import() | ast.ImportFrom() if with_imports:
                count += 1
            case _:
                break
    return count


# --- comparison of sources ------------------------------------------------------------------------


def _splice(text: str, start: int, end: int, replacement: str) -> str:
    return text[:start] + replacement + text[end:]


def is_valid_python(text: str) -> bool:
    """Return whether a text, possibly with a byte order mark, is valid Python."""
    return bool(_dumped_tree(text.removeprefix(_BYTE_ORDER_MARK)))


def _dumped_tree(text: str) -> str:
    """Return the dumped syntax tree, equal for equivalent sources; empty for invalid sources."""
    try:
        return _dump(ast.parse(text), {})
    except SyntaxError:
        return ""


def _dump(tree: ast.Module, changes: Mapping[ast.AST, ast.AST]) -> str:
    return ast.dump(_Replacer(changes).visit(tree))


class _Replacer(ast.NodeTransformer):
    """Visitor that replaces nodes, and flattens `a or (b or c)` to `a or b or c`."""

    def __init__(self, changes: Mapping[ast.AST, ast.AST]) -> None:
        self._changes = changes

    def visit(self, node: ast.AST) -> ast.AST:
        changed = self.generic_visit(self._changes.get(node, node))
        if isinstance(changed, ast.BoolOp):
            changed.values = list(_flattened_values(changed))
        return changed


def _flattened_values(node: ast.BoolOp) -> Iterator[ast.expr]:
    for value in node.values:
        if isinstance(value, ast.BoolOp) and type(value.op) is type(node.op):
            yield from value.values
        else:
            yield value
