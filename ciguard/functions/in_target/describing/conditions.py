"""Conditions of annotations, `@require("len(xs) <= n")`: as text, and evaluated on live arguments.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
from typing import Any, Callable

Json = Any

RESULT = "result"
"""Name of what was returned, in postconditions."""


def condition_json(
    condition: Any, line: int, names: set[str], visible: set[str], key: str
) -> tuple[Json, str]:
    """Return a condition as `{"text", "line", "names"}` and, where it is wrong, why.

    Args:
        condition: text, or a function of some of the arguments.
        line: where it is stated.
        names: of the arguments of the function that it is stated of.
        visible: what else it may name; see `visible_in`.
        key: `requires` or `ensures`.
    """
    if isinstance(condition, str):
        text, used, problem = _of_text(condition)
    else:
        text, used, problem = _of_function(condition, names)
    if problem:
        return None, f"{key[:-1]}: {problem}"
    unknown = sorted(used - names - visible)
    if unknown:
        listed = ", ".join(sorted(names)) or "none"
        return None, f"{key[:-1]} names {unknown[0]!r}; its arguments are {listed}"
    return {"text": text, "line": line, "names": sorted(used & names)}, ""


def _of_text(text: str) -> tuple[str, set[str], str]:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        return text, set(), f"{text!r} is no expression: {error.msg}"
    return ast.unparse(tree), _free_names(tree), ""


def _of_function(condition: Any, names: set[str]) -> tuple[str, set[str], str]:
    try:
        parameters = inspect.signature(condition).parameters.values()
    except (TypeError, ValueError) as error:
        return "", set(), f"its arguments cannot be told: {error}"
    used = {p.name for p in parameters if p.default is p.empty or p.name in names}
    return _source_of(condition) or _called(condition, sorted(used)), used, ""


def _called(condition: Any, used: list[str]) -> str:
    """Return the call of a function that has a name, else words."""
    name = str(getattr(condition, "__name__", ""))
    if not name.isidentifier():
        return f"a function of {', '.join(used)}"
    return f"{name}({', '.join(f'{one}={one}' for one in used)})"


def _source_of(condition: Any) -> str:
    """Return the body of a lambda that stands alone on its line; empty for anything else."""
    code = getattr(condition, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return ""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return ""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    if len(found) != 1 or _defaults(condition):
        return ""
    return ast.unparse(found[0].body)


def _defaults(condition: Any) -> bool:
    return bool(condition.__defaults__ or condition.__kwdefaults__)


def _free_names(tree: ast.AST) -> set[str]:
    """Return the names that an expression takes from outside."""
    loaded: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return loaded - bound


def visible_in(function: Any, key: str) -> set[str]:
    """Return the names that conditions of a function may use besides its arguments."""
    seen = set(vars(builtins)) | set(getattr(function, "__globals__", {})) | {"self", "cls"}
    code = getattr(function, "__code__", None)
    if code is not None:
        seen |= set(code.co_freevars)
    return seen | {RESULT} if key == "ensures" else seen


class CallableCondition:
    """A condition that can be asked of live arguments.

    Args:
        condition: text, or a function of some of the arguments.
        function: that it is stated of, whose globals the text may name.
        line: where it is stated.
        scope: more that the text may name: what stands in a sidecar.
    """

    def __init__(
        self, condition: Any, function: Any, line: int, scope: dict[str, Any] | None = None
    ) -> None:
        self.line = line
        self.text = condition if isinstance(condition, str) else ""
        self.shown = self.text or _of_function(condition, set())[0]
        """What a person reads: of a function its body, or its name."""
        self._scope = scope or {}
        self._ask = self._by_text(function) if self.text else self._by_function(condition)

    def holds(self, arguments: dict[str, Any]) -> bool:
        """Return whether it holds.

        Raises:
            Exception: whatever evaluating it raises.
        """
        return bool(self._ask(arguments))

    def _by_text(self, function: Any) -> Callable[[dict[str, Any]], Any]:
        code = compile(self.text.strip(), f"<condition of {function.__name__}>", "eval")
        scope = {**self._scope, **getattr(function, "__globals__", {})}
        closure = _closure(function)

        def ask(arguments: dict[str, Any]) -> Any:
            # Names inside comprehensions are looked up in the globals, so all are put there.
            return eval(code, {**scope, **closure, **arguments})  # noqa: S307 - the user's own code

        return ask

    def _by_function(self, condition: Any) -> Callable[[dict[str, Any]], Any]:
        wanted = list(inspect.signature(condition).parameters)

        def ask(arguments: dict[str, Any]) -> Any:
            return condition(**{name: arguments[name] for name in wanted if name in arguments})

        return ask


def _closure(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    found = {}
    for name, cell in zip(code.co_freevars if code else (), cells or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue  # not yet assigned
    return found
