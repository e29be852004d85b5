"""Lines of annotations beside lines of the plain Hypothesis tests that they become."""

from __future__ import annotations

import ast
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def print_sizes(program: Path, tests: Path, names: Sequence[str]) -> None:
    """Print how much longer the tests of functions are than their annotations.

    Args:
        program: file with the annotated functions.
        tests: file that `ciguard function export` wrote.
        names: of the functions.
    """
    text = tests.read_text(encoding="utf-8")
    written = {node.name: _lines(node) for node in _functions(text)}
    annotated = {node.name: _annotations(node) for node in _functions(program.read_text("utf-8"))}
    made = {n: written[f"test_{n}"] + written.get(f"arguments_of_{n}", 0) for n in names}
    ratios = [made[name] / annotated[name] for name in names]
    code = [line for line in text.splitlines() if line.strip()]
    print(
        f"\nannotations: {sum(annotated[name] for name in names)} lines; their tests: "
        f"{sum(made.values())}, the whole file: {len(code)}\n"
        f"lines of a test for each of its annotations: median {statistics.median(ratios):.1f}, "
        f"mean {statistics.mean(ratios):.1f}, from {min(ratios):.1f} to {max(ratios):.1f}; "
        f"of the whole file: {len(code) / sum(annotated.values()):.1f}"
    )


def _functions(text: str) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def _annotations(node: ast.FunctionDef) -> int:
    return sum((one.end_lineno or one.lineno) - one.lineno + 1 for one in node.decorator_list)


def _lines(node: ast.FunctionDef) -> int:
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return (node.end_lineno or node.lineno) - first + 1
