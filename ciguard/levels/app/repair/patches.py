"""Changes of single sub-conditions as patches; what is not understood is let be.

All functions return a unified diff for `git apply` in the application's root, and None where they
cannot write one. Labels come from services and files: they are only ever written by `repr`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.providers.registered import PROVIDERS
from ciguard.levels.app.static_analysis.conditions import literals_of, parts, written
from ciguard.sources import imports_in, may_change

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ciguard.levels.app.repair.thresholds import DecisionLine
    from ciguard.levels.app.static_analysis.conditions import Branch
    from ciguard.sources import Place, Source

_Several: TypeAlias = ast.List | ast.Tuple | ast.Set
_PURE = frozenset({
    "capitalize", "casefold", "get", "join", "lower", "replace", "split", "splitlines", "strip",
    "title", "upper",
})  # fmt: skip
"""Methods that can be called twice."""


def add_labels(source: Source, place: Place, labels: Collection[str]) -> str | None:
    """Let a sub-condition compare with more labels.

    `x == "a"` becomes `x in ("a", "b")`, or goes on with `or x == "b"` where it is one of several;
    `x in ["a"]` becomes `x in ["a", "b"]`, also where the list is a constant of the module;
    `"a" in text` becomes `"a" in text or "b" in text`. Negated ones likewise.

    Args:
        source: the file.
        place: of the sub-condition.
        labels: to add; those that it has are passed over.
    """
    node = source.at(place)
    test = _Test.of(source, node)
    if test is None:
        return None
    added = [label for label in dict.fromkeys(labels) if label not in test.labels]
    changes = _added(source, test, added) if added else None
    return source.replaced(changes) if changes else None


def replace_label(source: Source, place: Place, old: str, new: str) -> str | None:
    """Let a sub-condition compare with another label than one that it has.

    Args:
        source: the file.
        place: of the sub-condition.
        old: the label; also in a constant of the module that nothing else uses.
        new: what to compare with instead.
    """
    test = _Test.of(source, source.at(place))
    if test is None or old == new:
        return None
    held = test.definition if isinstance(test.definition, _Several) else test.literal
    if isinstance(held, ast.Name):
        is_text = isinstance(test.definition, ast.Constant) and test.labels == (old,)
        return source.replaced({held: repr(new)}) if is_text else None
    if held is test.definition and not test.is_alone:
        return None
    elements = held.elts if isinstance(held, _Several) else [held]
    changes: dict[ast.expr, str] = {
        one: repr(new) for one in elements if isinstance(one, ast.Constant) and one.value == old
    }
    return source.replaced(changes) if changes else None


def replace_number(source: Source, place: Place, old: float, new: str) -> str | None:
    """Let a sub-condition compare with another number.

    Args:
        source: the file.
        place: of the sub-condition.
        old: the number; also in a constant of the module that nothing else uses.
        new: what to write instead.
    """
    node = source.at(place)
    if not isinstance(node, ast.Compare):
        return None
    sides = (_definition(source, one) for one in (node.left, *node.comparators))
    held = [one for one, is_alone in sides if is_alone and literals_of(one) == (old,)]
    return source.replaced({held[0]: new}) if len(held) == 1 else None


def compare_name(source: Source, place: Place) -> str | None:
    """Let a sub-condition compare a text with the name of a member of an enumeration.

    Args:
        source: the file. Some older clients answer with numbers, which have no names.
        place: of the sub-condition.
    """
    test = _Test.of(source, source.at(place))
    if test is None or test.is_within or _is_of_old_clients(source):
        return None
    return source.replaced({test.operand: f"{test.operand_text}.name"})


def _is_of_old_clients(source: Source) -> bool:
    """Return whether a file uses modules of clients whose enumerations are plain numbers."""
    imported = [one.meaning.split(".") for one in imports_in(source.tree)]
    read = {one.attr for one in source.nodes if isinstance(one, ast.Attribute)}
    for one in PROVIDERS.items().values():
        roots = {package.partition(".")[0] for package in one.description.packages}
        words = {word for first, *rest in imported if first in roots for word in rest}
        if not one.called.modules_with_numbers.isdisjoint(words | read):
            return True
    return False


def compare_constant(source: Source, branch: Branch, text: str) -> str | None:
    """Turn a text that stands for a comparison into one: `x == "dog" or "cat"`.

    Args:
        source: the file of the branch.
        branch: whose sub-condition it is.
        text: of the sub-condition, as in `Branch.constant`.
    """
    conditions = [
        one for one in source.nodes
        if isinstance(one, ast.expr)
        and (one.lineno, one.col_offset) == (branch.line, branch.column)
        and written(one) == branch.condition
    ]  # fmt: skip
    if len(conditions) != 1:
        return None
    several = list(parts(conditions[0]))
    constants = [
        one for one in several
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and written(one) == text
    ]  # fmt: skip
    tests = [test for one in several if (test := _Test.of(source, one)) is not None]
    patterns = {test.comparison("{}") for test in tests}
    if not constants or len(patterns) != 1 or not _can_repeat(tests[0].operand):
        return None
    comparison = tests[0].comparison
    return source.replaced({one: comparison(source.written(one)) for one in constants})


def replace_threshold(
    source: Source,
    place: Place,
    line: DecisionLine,
    *,
    names: tuple[str, str] = ("score", "magnitude"),
) -> str | None:
    """Let a sub-condition that compares a score with a number use another threshold.

    Args:
        source: the file.
        place: of the sub-condition.
        line: what to use.
        names: fields of score and magnitude in the service's answer. Where the line needs the
            magnitude, the sub-condition must read the score from such a field.
    """
    node = source.at(place)
    match node:
        case ast.Compare(
            left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]
        ):
            scores = [one for one in (left, right) if not _is_number(one)]
        case _:
            return None
    if len(scores) != 1:
        return None
    score, magnitude = source.written(scores[0]), ""
    if line.magnitude:
        magnitude = _beside(source, scores[0], names) or ""
        if not magnitude or not _can_repeat(scores[0]):
            return None
    return source.replaced({node: line.condition(score, magnitude)})


def _is_number(node: ast.expr) -> bool:
    literals = literals_of(node)
    return literals is not None and all(isinstance(one, int | float) for one in literals)


def _beside(source: Source, node: ast.expr, names: tuple[str, str]) -> str | None:
    """Return where the magnitude is, if the score is read from a field."""
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
class _Test:
    """A comparison with labels."""

    node: ast.Compare
    literal: ast.expr
    """The labels, as the comparison has them."""
    operand: ast.expr
    """What is compared with them."""
    operand_text: str
    definition: ast.expr
    """The labels themselves, if the comparison names a constant of the module."""
    labels: tuple[str, ...]
    is_alone: bool
    """Whether nothing else in the file uses the constant."""

    @property
    def operator(self) -> ast.cmpop:
        """As it is written."""
        return self.node.ops[0]

    @property
    def is_negated(self) -> bool:
        """Whether it holds where no label is met."""
        return isinstance(self.operator, ast.NotEq | ast.NotIn)

    @property
    def is_within(self) -> bool:
        """Whether a label is looked for in something."""
        return isinstance(self.operator, ast.In | ast.NotIn) and self.literal is self.node.left

    def comparison(self, label: str) -> str:
        """Return a comparison of the same kind with one label, which is written so."""
        if self.is_within:
            return f"{label} {'not in' if self.is_negated else 'in'} {self.operand_text}"
        return f"{self.operand_text} {'!=' if self.is_negated else '=='} {label}"

    @classmethod
    def of(cls, source: Source, node: ast.expr | None) -> _Test | None:
        """Return what an expression compares with labels; None if that is anything else."""
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
        found = {}
        for side, other in ((left, right), (right, left)):
            definition, is_alone = _definition(source, side)
            labels = literals_of(definition)
            form = _Several if is_membership and side is right else ast.Constant
            if labels is not None and isinstance(definition, form):
                texts = tuple(one for one in labels if isinstance(one, str))
                if texts == labels:
                    found[side] = cls(
                        node, side, other, source.written(other), definition, texts, is_alone
                    )
        return next(iter(found.values())) if len(found) == 1 else None


def _definition(source: Source, node: ast.expr) -> tuple[ast.expr, bool]:
    """Return what a constant of the module is, and whether nothing else uses it; else the node."""
    if not isinstance(node, ast.Name):
        return node, True
    names = [one for one in source.nodes if isinstance(one, ast.Name) and one.id == node.id]
    values = [
        one.value for one in source.tree.body
        if isinstance(one, ast.Assign | ast.AnnAssign) and one.value and _sets(one) == node.id
    ]  # fmt: skip
    stored = [one for one in names if not isinstance(one.ctx, ast.Load)]
    if len(values) != 1 or len(stored) != 1 or node.id in _bound_otherwise(source):
        return node, False
    return values[0], len(names) == len((node, *stored))


def _sets(statement: ast.Assign | ast.AnnAssign) -> str:
    """Return the variable that a statement sets, if it is one alone."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return ""


def _bound_otherwise(source: Source) -> set[str]:
    """Return names that are bound by more than assignments, or may be changed in place."""
    others = (one for one in source.nodes if not isinstance(one, ast.Name))
    return {name for one in others for name in may_change(one)}


def _added(source: Source, test: _Test, added: Sequence[str]) -> Mapping[ast.expr, str] | None:
    """Return what to write so that labels are compared with as well."""
    listed = ", ".join(map(repr, added))
    if isinstance(test.definition, _Several):
        if not test.is_alone:
            return {test.literal: f"(*{source.written(test.literal)}, {listed})"}
        text = _longer(source, test.definition, listed)
        return {test.definition: text} if _holds(text, (*test.labels, *added)) else None
    if _can_repeat(test.operand) and (test.is_within or _is_one_of_several(source, test)):
        first = source.text_between(*source.span(test.node))
        more = (test.comparison(repr(label)) for label in added)
        return {test.node: f" {'and' if test.is_negated else 'or'} ".join((first, *more))}
    if test.is_within:
        return None
    word = "not in" if test.is_negated else "in"
    return {test.node: f"{test.operand_text} {word} ({source.written(test.literal)}, {listed})"}


def _holds(text: str, labels: Sequence[str]) -> bool:
    """Return whether a text is a list of these labels, whatever brackets are within it."""
    try:
        return sorted(ast.literal_eval(text)) == sorted(labels)
    except (ValueError, SyntaxError, TypeError):
        return False


def _longer(source: Source, several: _Several, listed: str) -> str:
    """Return a list with more in it, written after its last element."""
    start, end = source.span(several)
    if not several.elts:
        opening = source.text_between(start, start + 1)
        comma = "," if isinstance(several, ast.Tuple) else ""
        return f"{opening}{listed}{comma}{source.text_between(start + 1, end)}"
    _, last = source.span(several.elts[-1])
    return f"{source.text_between(start, last)}, {listed}{source.text_between(last, end)}"


def _is_one_of_several(source: Source, test: _Test) -> bool:
    kind = ast.And if test.is_negated else ast.Or
    return any(
        isinstance(one, ast.BoolOp) and isinstance(one.op, kind) and test.node in one.values
        for one in source.nodes
    )


def _can_repeat(node: ast.expr) -> bool:
    """Return whether an expression can be evaluated twice: all that it calls makes texts."""
    return all(_is_pure(one) for one in ast.walk(node))


def _is_pure(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _PURE
        case ast.Call(func=ast.Name(id=name)):
            return name in {"str", "len"}
        case ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
            return False
        case _:
            return True
