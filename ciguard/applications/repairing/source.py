"""A file of an application as it is, and changes of single expressions in it as a unified diff."""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ciguard.applications.finding.conditions import Place, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_PYTHON_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
"""As Python counts them: other separators of lines are none for it."""
_MARK = "\ufeff"
_NEEDS_QUOTES = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPED = re.compile(r"\\([0-7]{3})")
_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)


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
        return ast.parse(self._body)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree."""
        return tuple(ast.walk(self.tree))

    @property
    def _body(self) -> str:
        return self.text.removeprefix(_MARK)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """Where its lines begin."""
        return tuple(found.start() for found in _PYTHON_LINE.finditer(self._body))

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
        mark = self.text[: len(self.text) - len(self._body)]
        return diff_of(self.file, self.text, mark + body) or None

    def _meaning(self, changes: Mapping[ast.expr, str]) -> str:
        """Return what the file is to mean; empty if a change is no expression."""
        try:
            new = {
                node: ast.parse(f"({text}\n)", mode="eval").body for node, text in changes.items()
            }
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
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return source


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


# --- diffs ----------------------------------------------------------------------------------------


def diff_of(file: str, before: str, after: str) -> str:
    """Return what changes a file's text, as a unified diff for `git apply`; empty for nothing."""
    lines = difflib.unified_diff(
        git_lines(before), git_lines(after), _shown(f"a/{file}"), _shown(f"b/{file}")
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def git_lines(text: str) -> Sequence[str]:
    """Return the lines of a text as git counts them, with their ends."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def path_of(shown: str) -> str:
    """Return a path that git writes so in a diff."""
    if not shown.startswith('"'):
        return shown.removesuffix("\t")
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), shown[1:-1])


def _shown(path: str) -> str:
    """Return a path as git writes it in a diff."""
    if _NEEDS_QUOTES.search(path):
        escaped = _NEEDS_QUOTES.sub(lambda found: f"\\{ord(found[0]):03o}", path)
        return f'"{escaped}"'
    return f"{path}\t" if " " in path else path
