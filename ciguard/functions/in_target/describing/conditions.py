"""Preconditions and postconditions, such as `@require("len(xs) <= n")`, as text and as callables.

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
"""Name of the return value in postconditions."""


def condition_json(
    condition: Any, line: int, names: set[str], visible_names: set[str], key: str
) -> tuple[Json, str]:
    """Return the JSON form of a condition, and an error message.

    Args:
        condition: the condition, as text or as a function of some arguments.
        line: line of the annotation.
        names: names of the annotated function's arguments.
        visible_names: other names that the condition may use; see `visible_names_in`.
        key: `requires` or `ensures`.

    Returns:
        `{"text": …, "line": …, "names": […]}` and an empty message, or None and the message.
    """
    if isinstance(condition, str):
        text, used, problem = _parse_text(condition)
    else:
        text, used, problem = _parse_function(condition, names)
    if problem:
        return None, f"{key[:-1]}: {problem}"
    unknown = sorted(used - names - visible_names)
    if unknown:
        listed = ", ".join(sorted(names)) or "none"
        return (
            None,
            f"{key[:-1]} names {unknown[0]!r}, which is not an argument; arguments: {listed}",
        )
    return {"text": text, "line": line, "names": sorted(used & names)}, ""


def _parse_text(text: str) -> tuple[str, set[str], str]:
    """Return a condition's normalised text, the names that it uses, and an error message."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        return text, set(), f"{text!r} is not an expression: {error.msg}"
    return ast.unparse(tree), _free_names(tree), ""


def _parse_function(condition: Any, names: set[str]) -> tuple[str, set[str], str]:
    """Return a function's text as a condition, its parameters, and an error message."""
    try:
        parameters = inspect.signature(condition).parameters.values()
    except (TypeError, ValueError) as error:
        return "", set(), f"the function's signature cannot be read: {error}"
    used = {
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty or parameter.name in names
    }
    return _lambda_source(condition) or _call_text(condition, sorted(used)), used, ""


def _call_text(condition: Any, arguments: list[str]) -> str:
    """Return the text of a call of a named function; a description of any other callable."""
    name = str(getattr(condition, "__name__", ""))
    if not name.isidentifier():
        return f"a function of {', '.join(arguments)}"
    return f"{name}({', '.join(f'{argument}={argument}' for argument in arguments)})"


def _lambda_source(condition: Any) -> str:
    """Return the source text of a lambda's body.

    It is empty for other callables, for a lambda with defaults, and for several lambdas on a line.
    """
    code = getattr(condition, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return ""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return ""
    lambdas = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    if len(lambdas) != 1 or _has_defaults(condition):
        return ""
    return ast.unparse(lambdas[0].body)


def _has_defaults(condition: Any) -> bool:
    return bool(condition.__defaults__ or condition.__kwdefaults__)


def _free_names(tree: ast.AST) -> set[str]:
    """Return the names that an expression reads but does not bind."""
    loaded: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return loaded - bound


def visible_names_in(function: Any, key: str) -> set[str]:
    """Return the names that a function's conditions may use, apart from its arguments.

    Args:
        function: the annotated function.
        key: `requires` or `ensures`.
    """
    visible_names = (
        set(vars(builtins)) | set(getattr(function, "__globals__", {})) | {"self", "cls"}
    )
    code = getattr(function, "__code__", None)
    if code is not None:
        visible_names |= set(code.co_freevars)
    return visible_names | {RESULT} if key == "ensures" else visible_names


class CallableCondition:
    """A condition that can be evaluated for actual arguments.

    Args:
        condition: the condition, as text or as a function of some arguments.
        function: the annotated function, whose globals the text may use.
        line: line of the annotation.
        scope: further values that the text may use, by name, such as those of a sidecar.
    """

    def __init__(
        self, condition: Any, function: Any, line: int, scope: dict[str, Any] | None = None
    ) -> None:
        self.line = line
        self.text = condition if isinstance(condition, str) else ""
        self.display_text = self.text or _parse_function(condition, set())[0]
        """Source text for reports: the condition, a lambda's body, or a call of a function."""
        self._scope = scope or {}
        self._evaluate = (
            self._text_evaluator(function) if self.text else self._function_evaluator(condition)
        )

    def holds_for(self, arguments: dict[str, Any]) -> bool:
        """Return whether the condition holds for arguments.

        Raises:
            Exception: any exception that the evaluation raises.
        """
        return bool(self._evaluate(arguments))

    def _text_evaluator(self, function: Any) -> Callable[[dict[str, Any]], Any]:
        """Return a function that evaluates the condition's text for arguments."""
        code = compile(self.text.strip(), f"<condition of {function.__name__}>", "eval")
        scope = {**self._scope, **getattr(function, "__globals__", {})}
        closure = _closure_variables(function)

        def evaluate(arguments: dict[str, Any]) -> Any:
            # All names are globals here, because comprehensions would not see locals of `eval`.
            return eval(code, {**scope, **closure, **arguments})  # noqa: S307 - the user's text, in the process that runs the user's code

        return evaluate

    def _function_evaluator(self, condition: Any) -> Callable[[dict[str, Any]], Any]:
        """Return a function that calls the condition with the arguments that it takes."""
        parameters = list(inspect.signature(condition).parameters)

        def evaluate(arguments: dict[str, Any]) -> Any:
            return condition(**{name: arguments[name] for name in parameters if name in arguments})

        return evaluate


def _closure_variables(function: Any) -> dict[str, Any]:
    """Return the variables of outer functions that a function uses, by name."""
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    variables = {}
    for name, cell in zip(code.co_freevars if code else (), cells or ()):
        try:
            variables[name] = cell.cell_contents
        except ValueError:
            continue  # the variable is not assigned yet
    return variables
