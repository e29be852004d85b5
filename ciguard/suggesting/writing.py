"""Writes proposals as a diff of the program, or as a sidecar file with annotated stubs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ciguard.sources import Source, diff_of, names_bound_by, opening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.suggesting.functions import UnannotatedFunction
    from ciguard.suggesting.proposals import FunctionProposals, Proposal

_ANNOTATIONS_MODULE = "ciguard.annotations"
_CALL = re.compile(r"\b([a-z_]+)\(")
"""Name of a called function."""
_MAX_LINE_LENGTH = 100
"""Maximum length of an import statement on one line."""


def as_diff(source: str, display_path: str, suggestions: Sequence[FunctionProposals]) -> str:
    """Return a unified diff that inserts the annotations, for `patch -p1` and `git apply`.

    Args:
        source: source text of the program.
        display_path: path of the program in the diff.
        suggestions: the proposals.
    """
    return diff_of(
        display_path, source, _annotated_source(Source(display_path, source), suggestions)
    )


def explanation_lines(suggestions: Iterable[FunctionProposals]) -> Iterator[str]:
    """Yield comment lines: each proposal with its reasons, and the arguments without a proposal."""
    for suggestion in suggestions:
        subject = suggestion.subject
        if not suggestion.proposals and not suggestion.unknown_arguments:
            continue
        reason = f" is left out: {suggestion.left_out}" if suggestion.left_out else ""
        yield f"# {subject.name} (line {subject.node.lineno}){reason}"
        for proposal in suggestion.proposals:
            yield f"#   @{proposal.decorator}"
            yield from (f"#       {reason}" for reason in proposal.reasons)
        for item in suggestion.unknown_arguments:
            note = "keeps its default" if item.has_default else "no proposal"
            yield f"#   {item.parameter}: {note}"
            yield from (f"#       {reason}" for reason in item.reasons)


def as_sidecar(module_name: str, suggestions: Iterable[FunctionProposals]) -> str:
    """Return the text of a sidecar file: annotated stubs of the functions, without bodies.

    Args:
        module_name: name of the program's file.
        suggestions: the proposals.

    Returns:
        The text; empty if there are no proposals.
    """
    with_proposals = [suggestion for suggestion in suggestions if suggestion.written]
    if not with_proposals:
        return ""
    import_statement = _import_statement(_needed_names(with_proposals), "")
    parts = [f'"""Annotations of {module_name}."""\n\n{import_statement}\n']
    path: list[str] = []
    for suggestion in with_proposals:
        subject = suggestion.subject
        owners = subject.owner.split(".") if subject.owner else []
        heads = _class_heads(path, owners)
        indent = "    " * len(owners)
        lines = [f"{indent}@{_decorator_line(item)}\n" for item in suggestion.written]
        stub = f"{indent}def {subject.node.name}({_signature(subject)}): ...\n"
        gap = "\n" if owners and path[:1] == owners[:1] else "\n\n"
        parts.append(gap + "".join([*heads, *lines, stub]))
        path = owners
    return "".join(parts)


def _class_heads(path: list[str], owners: list[str]) -> list[str]:
    """Return the `class` lines to write before a stub.

    Args:
        path: names of the nested classes that contain the previous stub.
        owners: names of the nested classes that contain the stub.
    """
    depth = 0
    while depth < min(len(path), len(owners)) and path[depth] == owners[depth]:
        depth += 1
    return [f"{'    ' * level}class {owners[level]}:\n" for level in range(depth, len(owners))]


def _signature(subject: UnannotatedFunction) -> str:
    """Return a function's parameters without type hints; defaults but literals become `...`."""
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


# --- the diff -------------------------------------------------------------------------------------


def _annotated_source(source: Source, suggestions: Sequence[FunctionProposals]) -> str:
    """Return the program's text with the proposed decorators and the import that they need."""
    needed = _needed_names(suggestions)
    if not needed:
        return source.text
    prefix = "annotations." if _has_name_clash(source.tree, needed) else ""
    import_line, import_lines, replaced = _with_import(source.tree, needed, prefix)
    inserted = {import_line: import_lines}
    for suggestion in suggestions:
        subject = suggestion.subject
        head = source.lines[subject.first_line - 1]
        indent = head[: len(head) - len(head.lstrip())]
        lines = [f"{indent}@{_decorator_line(item, prefix)}" for item in suggestion.written]
        inserted.setdefault(subject.node.lineno, []).extend(lines)
    return source.with_lines(inserted, replaced)


def _with_import(tree: ast.Module, needed: set[str], prefix: str) -> tuple[int, list[str], range]:
    """Return where and how to import names.

    Args:
        tree: syntax tree of the program.
        needed: names to import from the annotations.
        prefix: prefix of the names in decorators, if the program binds one of the names itself.

    Returns:
        The number of the line that follows the import, the lines of the import, and the numbers of
        the lines that it replaces.
    """
    existing = next((node for node in tree.body if _is_annotations_import(node)), None)
    if isinstance(existing, ast.ImportFrom) and not prefix:
        names = needed | {item.name for item in existing.names}
        replaced = range(existing.lineno, (existing.end_lineno or existing.lineno) + 1)
        return existing.lineno, _import_statement(names, "").split("\n"), replaced
    line = max((node.end_lineno or 0 for node in tree.body[: opening(tree)]), default=0) + 1
    return (
        line,
        [] if existing is not None else _import_statement(needed, prefix).split("\n"),
        range(0),
    )


def _is_annotations_import(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == _ANNOTATIONS_MODULE


def _has_name_clash(tree: ast.Module, needed: set[str]) -> bool:
    """Return whether the program binds one of the needed names itself."""
    binding_nodes = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    nodes: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, binding_nodes)]
    nodes += [
        target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
    ]
    return any(
        name in needed
        for node in nodes
        if not _is_annotations_import(node)
        for name in names_bound_by(node)
    )


def _needed_names(suggestions: Iterable[FunctionProposals]) -> set[str]:
    """Return the names that the decorators of all proposals use."""
    names: set[str] = set()
    for suggestion in suggestions:
        for item in suggestion.written:
            names.add("arg" if item.parameter else item.decorator.partition("(")[0])
            names |= set(_CALL.findall(item.values)) if item.parameter else set()
    return names


def _decorator_line(proposal: Proposal, prefix: str = "") -> str:
    """Return the text of a decorator without `@`, with a remark if it is a guess."""
    remark = "  # guessed from the name" if proposal.is_guess else ""
    return _add_prefix(proposal.decorator, prefix) + remark


def _add_prefix(decorator: str, prefix: str) -> str:
    """Return a decorator with the prefix before each name of an annotation."""
    if not prefix or not decorator.startswith("arg("):
        return prefix + decorator
    return _CALL.sub(rf"{prefix}\1(", decorator)


def _import_statement(names: set[str], prefix: str) -> str:
    if prefix:
        return "from ciguard import annotations"
    line = f"from {_ANNOTATIONS_MODULE} import {', '.join(sorted(names))}"
    if len(line) <= _MAX_LINE_LENGTH:
        return line
    inner = "".join(f"    {name},\n" for name in sorted(names))
    return f"from {_ANNOTATIONS_MODULE} import (\n{inner})"
