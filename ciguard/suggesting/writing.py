"""Proposals as a change of the program, or as a sidecar file beside it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ciguard.sources import Source, bound_by, diff_of, opening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.suggesting.functions import UnannotatedFunction
    from ciguard.suggesting.proposals import FunctionProposals

_MODULE = "ciguard.annotations"
_CALLED = re.compile(r"\b([a-z_]+)\(")
_WIDTH = 100
"""Of a line of imports."""


def as_diff(source: str, shown: str, suggestions: Sequence[FunctionProposals]) -> str:
    """Return a unified diff that inserts the annotations, for `patch -p1` and `git apply`.

    Args:
        source: of the program.
        shown: its path, as the diff names it.
        suggestions: what is proposed.
    """
    return diff_of(shown, source, _annotated(Source(shown, source), suggestions))


def explained(suggestions: Iterable[FunctionProposals]) -> Iterator[str]:
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


def as_sidecar(module_name: str, suggestions: Iterable[FunctionProposals]) -> str:
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


def _signature(subject: UnannotatedFunction) -> str:
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


def _annotated(source: Source, suggestions: Sequence[FunctionProposals]) -> str:
    needed = _needed(suggestions)
    if not needed:
        return source.text
    prefix = "annotations." if _clashes(source.tree, needed) else ""
    at, imported, gone = _with_import(source.tree, needed, prefix)
    inserted = {at: imported}
    for suggestion in suggestions:
        subject = suggestion.subject
        head = source.lines[subject.first_line - 1]
        indent = head[: len(head) - len(head.lstrip())]
        lines = [f"{indent}@{_qualified(item.decorator, prefix)}" for item in suggestion.proposals]
        inserted.setdefault(subject.node.lineno, []).extend(lines)
    return source.with_lines(inserted, gone)


def _with_import(tree: ast.Module, needed: set[str], prefix: str) -> tuple[int, list[str], range]:
    """Return before which line an import goes, its lines, and those that it stands for."""
    old = next((node for node in tree.body if _is_ours(node)), None)
    if isinstance(old, ast.ImportFrom) and not prefix:
        names = needed | {item.name for item in old.names}
        gone = range(old.lineno, (old.end_lineno or old.lineno) + 1)
        return old.lineno, _import(names, "").split("\n"), gone
    at = max((node.end_lineno or 0 for node in tree.body[: opening(tree)]), default=0) + 1
    return at, [] if old is not None else _import(needed, prefix).split("\n"), range(0)


def _is_ours(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == _MODULE


def _clashes(tree: ast.Module, needed: set[str]) -> bool:
    """Return whether the program has other things of these names."""
    named = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    nodes: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, named)]
    nodes += [one for node in tree.body if isinstance(node, ast.Assign) for one in node.targets]
    return any(name in needed for node in nodes if not _is_ours(node) for name in bound_by(node))


def _needed(suggestions: Iterable[FunctionProposals]) -> set[str]:
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
