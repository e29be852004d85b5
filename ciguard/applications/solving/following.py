"""Follows the statements of a function with one answer."""

# ruff: noqa: N815 - one method for each kind of statement, by the name that `ast` has for it

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from ciguard.applications.solving import operations
from ciguard.applications.solving.evaluating import Expressions
from ciguard.applications.solving.holders import iterated
from ciguard.applications.solving.objects import Bound, Instance, Scope
from ciguard.applications.solving.terms import UNKNOWN, Raised, Sym, either, is_scalar, now
from ciguard.applications.solving.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.applications.finding.application import Application
    from ciguard.applications.finding.findings import Found
    from ciguard.applications.solving.answers import Answers
    from ciguard.applications.solving.path import Path

_MAX_ROUNDS = 60
_COUNTED = (ast.Name, ast.Constant, ast.BinOp, ast.Attribute, ast.operator, ast.expr_context)
"""What the number is made of that a condition adds, if it does nothing else."""


class _ReturnedError(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _BrokenError(Exception):
    pass


class _ContinuedError(Exception):
    pass


def follow(application: Application, found: Found, answers: Answers, path: Path) -> str:
    """Follow a function to its end, or to where it raises; return what, and where, if unmeant.

    Raises:
        TooLongError: if it does too much.
    """
    world = World(application, found, answers, called)
    try:
        function = world.entry(found.name, path)
        if function is not None:
            called(function, [], {}, world, path)
    except Raised as raised:
        return "" if raised.is_meant else f"{raised.name} {path.line}"
    return ""


def called(
    function: Bound, given: Sequence[Any], named: Mapping[str, Any], world: World, path: Path
) -> Any:
    """Return what a function returns; of a generator, all that it yields.

    Raises:
        Raised: what it raises.
    """
    code = function.code
    scope = function.scope.inner()
    scope.outer = function.scope if function.scope.local or function.scope.outer else None
    arguments = code.args if isinstance(code, ast.Lambda | _FUNCTIONS) else code.arguments
    expressions = Expressions(world, scope, path)
    if arguments is not None:
        owner = [] if function.instance is None else [function.instance]
        _bind(arguments, [*owner, *given], named, expressions, scope)
    if isinstance(code, ast.Lambda):
        return expressions.of(code.body)
    scope.yielded = [] if _yields(code.body) else None
    world.depth += 1
    try:
        _Statements(world, scope, path, expressions).block(code.body)
    except _ReturnedError as returned:
        return returned.value if scope.yielded is None else scope.yielded
    finally:
        world.depth -= 1
    return scope.yielded


_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def _yields(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(one, ast.Yield) for statement in body for one in ast.walk(statement))


def _bind(
    arguments: ast.arguments,
    given: Sequence[Any],
    named: Mapping[str, Any],
    expressions: Expressions,
    scope: Scope,
) -> None:
    """Give parameters what they are given, what they are by default, or nothing that is known."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(
        zip([one.arg for one in positional][::-1], arguments.defaults[::-1], strict=False)
    )
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    defaults |= {one.arg: value for one, value in pairs if value is not None}
    bound = dict(zip([one.arg for one in positional], given, strict=False)) | dict(named)
    for one in (*positional, *arguments.kwonlyargs):
        if one.arg in bound:
            scope.set(one.arg, bound[one.arg])
        else:
            scope.set(
                one.arg, expressions.of(defaults[one.arg]) if one.arg in defaults else UNKNOWN
            )
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            scope.set(rest.arg, UNKNOWN)


class _Statements(ast.NodeVisitor):
    """The statements of one call of a function."""

    def __init__(self, world: World, scope: Scope, path: Path, expressions: Expressions) -> None:
        self._world = world
        self._scope = scope
        self._path = path
        self._expressions = expressions
        self._of, self._bind = expressions.of, expressions.bind

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Follow statements, one after the other."""
        for statement in body:
            self._path.step()
            self._path.line = statement.lineno
            self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._of(child)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Yield) and self._scope.yielded is not None:
            self._scope.yielded.append(self._of(node.value.value))
        else:
            self._of(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self._of(node.value)
        for target in node.targets:
            self._bind(target, value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self._of(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        read = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        self._bind(node.target, self._of(read))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._scope.set(node.name, Bound(self._scope, node))

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.set(node.name, UNKNOWN)

    def visit_Return(self, node: ast.Return) -> None:
        raise _ReturnedError(self._of(node.value))

    def visit_Break(self, _node: ast.Break) -> None:
        raise _BrokenError

    def visit_Continue(self, _node: ast.Continue) -> None:
        raise _ContinuedError

    def visit_Raise(self, node: ast.Raise) -> None:
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        self._of(node.exc)
        name = "" if error is None else ast.unparse(error).rpartition(".")[2]
        made = getattr(builtins, name, None)
        is_plain = isinstance(made, type) and issubclass(made, Exception)
        raise Raised(made() if is_plain and made is not None else None, name, is_meant=True)

    def visit_Assert(self, node: ast.Assert) -> None:
        if not self._expressions.is_true(node.test):
            raise Raised(AssertionError(), "AssertionError", is_meant=True)

    def visit_If(self, node: ast.If) -> None:
        if not self._is_counted(node):
            self.block(node.body if self._expressions.is_true(node.test) else node.orelse)
            return
        truth = self._expressions.truth(node.test)
        if isinstance(truth, Sym):
            for statement in node.body:
                self._add(statement, truth)
        elif self._path.decide(truth, node.test):
            self.block(node.body)

    def _is_counted(self, node: ast.If) -> bool:
        """Return whether a branch only adds to numbers: then it may be both taken and not."""
        return not node.orelse and all(
            isinstance(one, ast.AugAssign)
            and isinstance(one.target, ast.Name)
            and all(isinstance(part, _COUNTED) for part in ast.walk(one.value))
            and is_scalar(self._scope.variable(one.target.id))
            for one in node.body
        )

    def _add(self, statement: ast.stmt, truth: Sym) -> None:
        assert isinstance(statement, ast.AugAssign)  # noqa: S101 - see `_is_counted`
        assert isinstance(statement.target, ast.Name)  # noqa: S101
        before = self._scope.variable(statement.target.id)
        with self._path.under(truth):
            after = operations.binary(statement.op, before, self._of(statement.value))
        self._bind(statement.target, UNKNOWN if after is UNKNOWN else _if(truth, after, before))

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        for one in iterated(self._of(node.iter), self._path, node):
            self._bind(node.target, one)
            try:
                self.block(node.body)
            except _ContinuedError:
                continue
            except _BrokenError:
                return
        self.block(node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node: ast.While) -> None:
        for _ in range(_MAX_ROUNDS):
            if not self._expressions.is_true(node.test):
                self.block(node.orelse)
                return
            try:
                self.block(node.body)
            except _ContinuedError:
                continue
            except _BrokenError:
                return

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self._of(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value if isinstance(value, Instance) else UNKNOWN)
        self.block(node.body)

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try) -> None:
        try:
            self._tried(node)
        finally:
            self.block(node.finalbody)

    def _tried(self, node: ast.Try) -> None:
        try:
            self.block(node.body)
        except Raised as raised:
            handler = next((one for one in node.handlers if _takes(one, raised)), None)
            if handler is None:
                raise
            if handler.name:
                self._scope.set(handler.name, UNKNOWN)
            self.block(handler.body)
        else:
            self.block(node.orelse)

    def visit_Match(self, node: ast.Match) -> None:
        """Follow the first case whose literals the subject is."""
        subject = self._of(node.subject)
        for case in node.cases:
            truth = self._is_case(case.pattern, subject)
            if case.guard is not None or truth is UNKNOWN:
                return
            if self._path.decide(truth, case.pattern):
                self.block(case.body)
                return

    def _is_case(self, pattern: ast.pattern, subject: Any) -> Any:
        match pattern:
            case ast.MatchValue(value=value):
                return operations.equal(subject, self._of(value))
            case ast.MatchOr(patterns=patterns):
                several = [self._is_case(one, subject) for one in patterns]
                return UNKNOWN if UNKNOWN in several else either(several)
            case ast.MatchAs(pattern=None):
                return True
            case _:
                return UNKNOWN


def _if(truth: Sym, after: Any, before: Any) -> Any:
    chosen = operations.chosen(truth, after, before)
    return chosen if isinstance(chosen, Sym) else (now(after) if truth.now else now(before))


def _takes(handler: ast.ExceptHandler, raised: Raised) -> bool:
    """Return whether a handler is for what was raised."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    for kind in kinds:
        name = ast.unparse(kind).rpartition(".")[2]
        plain = getattr(builtins, name, None)
        if name in {raised.name, "Exception", "BaseException"}:
            return True
        if isinstance(plain, type) and isinstance(raised.error, plain):
            return True
    return False
