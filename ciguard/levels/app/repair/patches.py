"""Patches of single sub-conditions; code of an unknown form is not patched.

The public functions return a unified diff for `git apply` in the application's root, or None if
they cannot write one. Labels come from services and files, and are always quoted by `repr`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.providers.registered import PROVIDERS
from ciguard.levels.app.static_analysis.conditions import (
    literals_of,
    one_line_source,
    sub_conditions_of,
)
from ciguard.sources import imports_in, names_changed_by

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ciguard.levels.app.repair.thresholds import DecisionLine
    from ciguard.levels.app.static_analysis.conditions import Branch
    from ciguard.sources import Place, Source

_Collection: TypeAlias = ast.List | ast.Tuple | ast.Set
_PURE_METHODS = frozenset({
    "capitalize", "casefold", "get", "join", "lower", "replace", "split", "splitlines", "strip",
    "title", "upper",
})  # fmt: skip
"""Methods without side effects, whose call may be repeated."""


def add_labels(source: Source, place: Place, labels: Collection[str]) -> str | None:
    """Add labels to a comparison.

    `x == "a"` becomes `x in ("a", "b")`, or `x == "a" or x == "b"` within an `or`. `x in ["a"]`
    becomes `x in ["a", "b"]`; the list may be a constant of the module. `"a" in text` becomes
    `"a" in text or "b" in text`. Negated comparisons are changed accordingly.

    Args:
        source: the file.
        place: the position of the sub-condition.
        labels: the labels to add; those that the comparison already has are skipped.
    """
    node = source.at(place)
    test = _LabelComparison.from_node(source, node)
    if test is None:
        return None
    added = [label for label in dict.fromkeys(labels) if label not in test.labels]
    changes = _replacements(source, test, added) if added else None
    return source.replacement_diff(changes) if changes else None


def replace_label(source: Source, place: Place, old: str, new: str) -> str | None:
    """Replace a label in a comparison.

    Args:
        source: the file.
        place: the position of the sub-condition.
        old: the label to replace; it may be in a module constant that is used only once.
        new: the new label.
    """
    test = _LabelComparison.from_node(source, source.at(place))
    if test is None or old == new:
        return None
    literal = test.definition if isinstance(test.definition, _Collection) else test.literal
    if isinstance(literal, ast.Name):
        is_text = isinstance(test.definition, ast.Constant) and test.labels == (old,)
        return source.replacement_diff({literal: repr(new)}) if is_text else None
    if literal is test.definition and not test.is_used_once:
        return None
    elements = literal.elts if isinstance(literal, _Collection) else [literal]
    changes: dict[ast.expr, str] = {
        element: repr(new)
        for element in elements
        if isinstance(element, ast.Constant) and element.value == old
    }
    return source.replacement_diff(changes) if changes else None


def replace_number(source: Source, place: Place, old: float, new: str) -> str | None:
    """Replace a number in a comparison.

    Args:
        source: the file.
        place: the position of the sub-condition.
        old: the number to replace; it may be a module constant that is used only once.
        new: the source text of the new number.
    """
    node = source.at(place)
    if not isinstance(node, ast.Compare):
        return None
    sides = (_definition(source, side) for side in (node.left, *node.comparators))
    numbers = [side for side, is_used_once in sides if is_used_once and literals_of(side) == (old,)]
    return source.replacement_diff({numbers[0]: new}) if len(numbers) == 1 else None


def compare_member_name(source: Source, place: Place) -> str | None:
    """Append `.name` to the enumeration's member that is compared with a text.

    Args:
        source: the file. None is returned if it uses older clients, which return plain numbers.
        place: the position of the sub-condition.
    """
    test = _LabelComparison.from_node(source, source.at(place))
    if test is None or test.is_search or _uses_numeric_enumerations(source):
        return None
    return source.replacement_diff({test.operand: f"{test.operand_text}.name"})


def _uses_numeric_enumerations(source: Source) -> bool:
    """Return whether a file uses modules of clients whose enumerations are plain numbers."""
    imported = [name.qualified_name.split(".") for name in imports_in(source.tree)]
    read = {node.attr for node in source.nodes if isinstance(node, ast.Attribute)}
    for provider in PROVIDERS.items().values():
        roots = {package.partition(".")[0] for package in provider.description.packages}
        words = {word for first, *rest in imported if first in roots for word in rest}
        if not provider.conventions.modules_with_numbers.isdisjoint(words | read):
            return True
    return False


def compare_bare_text(source: Source, branch: Branch, text: str) -> str | None:
    """Turn a bare text, such as `"cat"` in `x == "dog" or "cat"`, into a comparison.

    Args:
        source: the file of the branch.
        branch: the branch with the text.
        text: the source text of the bare text, as in `Branch.constant`.
    """
    conditions = [
        node for node in source.nodes
        if isinstance(node, ast.expr)
        and (node.lineno, node.col_offset) == (branch.line, branch.column)
        and one_line_source(node) == branch.condition
    ]  # fmt: skip
    if len(conditions) != 1:
        return None
    sub_conditions = list(sub_conditions_of(conditions[0]))
    constants = [
        node for node in sub_conditions
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and one_line_source(node) == text
    ]  # fmt: skip
    tests = [
        test
        for node in sub_conditions
        if (test := _LabelComparison.from_node(source, node)) is not None
    ]
    patterns = {test.comparison("{}") for test in tests}
    if not constants or len(patterns) != 1 or not _is_repeatable(tests[0].operand):
        return None
    comparison = tests[0].comparison
    return source.replacement_diff({node: comparison(source.written(node)) for node in constants})


def replace_threshold(
    source: Source,
    place: Place,
    line: DecisionLine,
    *,
    names: tuple[str, str] = ("score", "magnitude"),
) -> str | None:
    """Replace the threshold in a comparison of a score with a number.

    Args:
        source: the file.
        place: the position of the sub-condition.
        line: the new threshold.
        names: the fields of score and magnitude in the service's answer. If the line needs the
            magnitude, the sub-condition must read the score from the former field.
    """
    node = source.at(place)
    match node:
        case ast.Compare(
            left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]
        ):
            scores = [operand for operand in (left, right) if not _is_number(operand)]
        case _:
            return None
    if len(scores) != 1:
        return None
    score, magnitude = source.written(scores[0]), ""
    if line.magnitude:
        magnitude = _magnitude_source(source, scores[0], names) or ""
        if not magnitude or not _is_repeatable(scores[0]):
            return None
    return source.replacement_diff({node: line.condition(score, magnitude)})


def _is_number(node: ast.expr) -> bool:
    literals = literals_of(node)
    return literals is not None and all(isinstance(literal, int | float) for literal in literals)


def _magnitude_source(source: Source, node: ast.expr, names: tuple[str, str]) -> str | None:
    """Return the source of the magnitude beside a score; None unless a field holds the score."""
    score, magnitude = (name.rpartition(".")[2] for name in names)
    match node:
        case ast.Attribute(value=value, attr=attr) if attr == score and magnitude.isidentifier():
            return f"{source.written(value)}.{magnitude}"
        case ast.Subscript(value=value, slice=ast.Constant(value=key)) if key == score:
            return f"{source.written(value)}[{magnitude!r}]"
        case _:
            return None


# --- comparisons with labels ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _LabelComparison:
    """A comparison with labels."""

    node: ast.Compare
    literal: ast.expr
    """Operand with the labels: a literal, or a name of a constant."""
    operand: ast.expr
    """The other operand."""
    operand_text: str
    """Source text of the other operand."""
    definition: ast.expr
    """Value of the constant if `literal` names one; else `literal` itself."""
    labels: tuple[str, ...]
    is_used_once: bool
    """True if the file uses the constant only in this comparison, or if there is no constant."""

    @property
    def operator(self) -> ast.cmpop:
        """Operator of the comparison."""
        return self.node.ops[0]

    @property
    def is_negated(self) -> bool:
        """True for `!=` and `not in`."""
        return isinstance(self.operator, ast.NotEq | ast.NotIn)

    @property
    def is_search(self) -> bool:
        """True if a label is searched for in the other operand."""
        return isinstance(self.operator, ast.In | ast.NotIn) and self.literal is self.node.left

    def comparison(self, label: str) -> str:
        """Return the source of a comparison of the same kind with a single label.

        Args:
            label: the source text of the label.
        """
        if self.is_search:
            return f"{label} {'not in' if self.is_negated else 'in'} {self.operand_text}"
        return f"{self.operand_text} {'!=' if self.is_negated else '=='} {label}"

    @classmethod
    def from_node(cls, source: Source, node: ast.expr | None) -> _LabelComparison | None:
        """Return an expression as a comparison with labels; None for any other expression."""
        match node:
            case ast.Compare(
                left=left,
                ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn()],
                comparators=[right],
            ):
                pass
            case _:
                return None
        is_membership = isinstance(node.ops[0], ast.In | ast.NotIn)
        comparisons = {}
        for side, other in ((left, right), (right, left)):
            definition, is_used_once = _definition(source, side)
            labels = literals_of(definition)
            form = _Collection if is_membership and side is right else ast.Constant
            if labels is not None and isinstance(definition, form):
                texts = tuple(label for label in labels if isinstance(label, str))
                if texts == labels:
                    comparisons[side] = cls(
                        node,
                        side,
                        other,
                        source.written(other),
                        definition,
                        texts,
                        is_used_once,
                    )
        return next(iter(comparisons.values())) if len(comparisons) == 1 else None


def _definition(source: Source, node: ast.expr) -> tuple[ast.expr, bool]:
    """Return the value of the constant that a node names, and whether it is used only once.

    For any other node, return the node itself, and False if it is a name.
    """
    if not isinstance(node, ast.Name):
        return node, True
    names = [name for name in source.nodes if isinstance(name, ast.Name) and name.id == node.id]
    values = [
        statement.value for statement in source.tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and statement.value and _assigned_name(statement) == node.id
    ]  # fmt: skip
    assignments = [name for name in names if not isinstance(name.ctx, ast.Load)]
    if len(values) != 1 or len(assignments) != 1 or node.id in _names_bound_otherwise(source):
        return node, False
    return values[0], len(names) == len((node, *assignments))


def _assigned_name(statement: ast.Assign | ast.AnnAssign) -> str:
    """Return the only variable that a statement assigns; empty for other targets."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return ""


def _names_bound_otherwise(source: Source) -> set[str]:
    """Return names that are changed in place, or bound by statements other than assignments."""
    other_nodes = (node for node in source.nodes if not isinstance(node, ast.Name))
    return {name for node in other_nodes for name in names_changed_by(node)}


def _replacements(
    source: Source, test: _LabelComparison, added: Sequence[str]
) -> Mapping[ast.expr, str] | None:
    """Return the replacements that add labels to a comparison."""
    new_items = ", ".join(map(repr, added))
    if isinstance(test.definition, _Collection):
        if not test.is_used_once:
            return {test.literal: f"(*{source.written(test.literal)}, {new_items})"}
        text = _extended(source, test.definition, new_items)
        return {test.definition: text} if _is_collection_of(text, (*test.labels, *added)) else None
    if _is_repeatable(test.operand) and (test.is_search or _is_in_boolean_operation(source, test)):
        first = source.text_between(*source.span(test.node))
        comparisons = (test.comparison(repr(label)) for label in added)
        return {test.node: f" {'and' if test.is_negated else 'or'} ".join((first, *comparisons))}
    if test.is_search:
        return None
    word = "not in" if test.is_negated else "in"
    return {test.node: f"{test.operand_text} {word} ({source.written(test.literal)}, {new_items})"}


def _is_collection_of(text: str, labels: Sequence[str]) -> bool:
    """Return whether a source text is a collection of exactly these labels."""
    try:
        return sorted(ast.literal_eval(text)) == sorted(labels)
    except (ValueError, SyntaxError, TypeError):
        return False


def _extended(source: Source, collection: _Collection, new_items: str) -> str:
    """Return the source of a collection with new items after its last element."""
    start, end = source.span(collection)
    if not collection.elts:
        opening = source.text_between(start, start + 1)
        comma = "," if isinstance(collection, ast.Tuple) else ""
        return f"{opening}{new_items}{comma}{source.text_between(start + 1, end)}"
    _, last = source.span(collection.elts[-1])
    return f"{source.text_between(start, last)}, {new_items}{source.text_between(last, end)}"


def _is_in_boolean_operation(source: Source, test: _LabelComparison) -> bool:
    kind = ast.And if test.is_negated else ast.Or
    return any(
        isinstance(node, ast.BoolOp) and isinstance(node.op, kind) and test.node in node.values
        for node in source.nodes
    )


def _is_repeatable(node: ast.expr) -> bool:
    """Return whether an expression can be evaluated twice without side effects."""
    return all(_is_pure(child) for child in ast.walk(node))


def _is_pure(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _PURE_METHODS
        case ast.Call(func=ast.Name(id=name)):
            return name in {"str", "len"}
        case ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
            return False
        case _:
            return True
