"""Proposals as a change of the program, or as a sidecar file beside it."""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.suggesting.functions import Subject
    from ciguard.suggesting.proposals import Suggestion

_MODULE = "ciguard.annotations"
_CALLED = re.compile(r"\b([a-z_]+)\(")
_WIDTH = 100
"""Of a line of imports."""


def as_diff(source: str, shown: str, suggestions: Sequence[Suggestion]) -> str:
    """Return a unified diff that inserts the annotations, for `patch -p1` and `git apply`.

    Args:
        source: of the program.
        shown: its path, as the diff names it.
        suggestions: what is proposed.
    """
    before = source.splitlines(keepends=True)
    changed = _annotated(source, before, suggestions)
    lines = difflib.unified_diff(before, changed, f"a/{shown}", f"b/{shown}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def explained(suggestions: Iterable[Suggestion]) -> Iterator[str]:
    """Yield, as lines of comments, the reason of each proposal and what is left to a person."""
    for suggestion in suggestions:
        subject = suggestion.subject
        if not suggestion.proposals and not suggestion.unknown:
            continue
        yield f"# {subject.name} (line {subject.node.lineno})"
        for proposal in suggestion.proposals:
            yield f"#   @{proposal.decorator}"
            yield from (f"#       {reason}" for reason in proposal.reasons)
        for item in suggestion.unknown:
            note = "left at its default" if item.has_default else "not known, please annotate"
            yield f"#   {item.parameter}: {note}"
            yield from (f"#       {reason}" for reason in item.reasons)


def as_sidecar(module_name: str, suggestions: Iterable[Suggestion]) -> str:
    """Return a sidecar file: functions of the same names with annotations and no bodies.

    Args:
        module_name: of the program's file.
        suggestions: what is proposed.
    """
    kept = [suggestion for suggestion in suggestions if suggestion.proposals]
    if not kept:
        return ""
    parts = [f'"""Annotations of {module_name}."""\n\n{_import(_needed(kept), "")}\n']
    path: list[str] = []
    for suggestion in kept:
        subject = suggestion.subject
        owners = subject.owner.split(".") if subject.owner else []
        heads = _heads(path, owners)
        indent = "    " * len(owners)
        lines = [f"{indent}@{item.decorator}\n" for item in suggestion.proposals]
        stub = f"{indent}def {subject.node.name}({_signature(subject)}): ...\n"
        gap = "\n" if owners and path[:1] == owners[:1] else "\n\n"
        parts.append(gap + "".join([*heads, *lines, stub]))
        path = owners
    return "".join(parts)


def _heads(path: list[str], owners: list[str]) -> list[str]:
    """Return the heads of the classes that are entered, those left out that one is in already."""
    same = 0
    while same < min(len(path), len(owners)) and path[same] == owners[same]:
        same += 1
    return [f"{'    ' * at}class {owners[at]}:\n" for at in range(same, len(owners))]


def _signature(subject: Subject) -> str:
    """Return the parameters without type hints; defaults that are no literals become `...`."""
    arguments = subject.node.args

    def plain(item: ast.arg) -> ast.arg:
        return ast.arg(item.arg)

    def literal(value: ast.expr) -> ast.expr:
        try:
            ast.literal_eval(value)
        except (ValueError, TypeError):
            return ast.Constant(...)
        return value

    return ast.unparse(
        ast.arguments(
            posonlyargs=[plain(item) for item in arguments.posonlyargs],
            args=[plain(item) for item in arguments.args],
            vararg=plain(arguments.vararg) if arguments.vararg else None,
            kwonlyargs=[plain(item) for item in arguments.kwonlyargs],
            kw_defaults=[
                None if value is None else literal(value) for value in arguments.kw_defaults
            ],
            kwarg=plain(arguments.kwarg) if arguments.kwarg else None,
            defaults=[literal(value) for value in arguments.defaults],
        )
    )


# --- the change -----------------------------------------------------------------------------------


def _annotated(source: str, before: list[str], suggestions: Sequence[Suggestion]) -> list[str]:
    tree = ast.parse(source)
    needed = _needed(suggestions)
    if not needed:
        return before
    newline = "\r\n" if before and before[0].endswith("\r\n") else "\n"
    prefix = "annotations." if _clashes(tree, needed) else ""
    inserted: dict[int, list[str]] = {}
    for suggestion in suggestions:
        subject = suggestion.subject
        indent = before[subject.first_line - 1]
        indent = indent[: len(indent) - len(indent.lstrip())]
        lines = [
            f"{indent}@{_qualified(item.decorator, prefix)}{newline}"
            for item in suggestion.proposals
        ]
        inserted.setdefault(subject.node.lineno, []).extend(lines)
    return _with_import(tree, before, inserted, (needed, prefix, newline))


def _with_import(
    tree: ast.Module,
    before: list[str],
    inserted: dict[int, list[str]],
    wanted: tuple[set[str], str, str],
) -> list[str]:
    needed, prefix, newline = wanted
    old = next((node for node in tree.body if _is_ours(node)), None)
    gone: range = range(0)
    if old is not None and isinstance(old, ast.ImportFrom) and not prefix:
        needed = needed | {item.name for item in old.names}
        gone = range(old.lineno, (old.end_lineno or old.lineno) + 1)
    at = old.lineno if old is not None else _place(tree)
    text = _import(needed, prefix).replace("\n", newline)
    if old is None or gone:
        lines = [line + newline for line in text.split(newline)]
        inserted[at] = [*lines, *inserted.get(at, [])]
    after: list[str] = []
    for number, line in enumerate([*before, ""], start=1):
        after += inserted.get(number, [])
        if line and number not in gone:
            after.append(line)
    return after


def _place(tree: ast.Module) -> int:
    """Return the line before which the import goes: after the other imports at the top."""
    at = 1
    for number, node in enumerate(tree.body):
        is_docstring = (
            number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        if not is_docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            break
        at = (node.end_lineno or node.lineno) + 1
    return at


def _is_ours(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == _MODULE


def _clashes(tree: ast.Module, needed: set[str]) -> bool:
    """Return whether the program has other things of these names."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                is_other = isinstance(node, ast.Import) or node.module != _MODULE
                bound |= {item.asname or item.name for item in names if is_other}
            case ast.Assign(targets=targets) if node in tree.body:
                bound |= {target.id for target in targets if isinstance(target, ast.Name)}
            case _:
                pass
    return bool(bound & needed)


def _needed(suggestions: Iterable[Suggestion]) -> set[str]:
    found: set[str] = set()
    for suggestion in suggestions:
        for item in suggestion.proposals:
            found.add("arg" if item.parameter else "require")
            found |= set(_CALLED.findall(item.values)) if item.parameter else set()
    return found


def _qualified(decorator: str, prefix: str) -> str:
    if not prefix or decorator.startswith("require("):
        return prefix + decorator
    return _CALLED.sub(rf"{prefix}\1(", decorator)


def _import(names: set[str], prefix: str) -> str:
    if prefix:
        return "from ciguard import annotations"
    line = f"from {_MODULE} import {', '.join(sorted(names))}"
    if len(line) <= _WIDTH:
        return line
    inner = "".join(f"    {name},\n" for name in sorted(names))
    return f"from {_MODULE} import (\n{inner})"
