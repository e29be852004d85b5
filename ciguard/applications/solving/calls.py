"""What calls return: of services, of the application's own functions, and of Python's."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from ciguard.applications.solving import operations, texts
from ciguard.applications.solving.holders import guarded_items, is_key, looked_up, offer_sizes
from ciguard.applications.solving.objects import Bound, Instance, Kind
from ciguard.applications.solving.terms import (
    UNKNOWN,
    Listed,
    Raised,
    Record,
    Sym,
    both,
    either,
    is_scalar,
    negated,
    now,
    truth_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.applications.solving.objects import Scope
    from ciguard.applications.solving.path import Path
    from ciguard.applications.solving.world import World

_MAX_DEPTH = 20
_MAX_ITEMS = 1_000
_SEARCHES = frozenset({"search", "match", "fullmatch"})
_FACTORIES: dict[str, Callable[[], Any]] = {"int": int, "float": float, "list": list, "str": str}


def _of_record(held: Record, name: str, given: Sequence[Any]) -> Any:
    """Return what a method of a message returns; of one that is to come, itself."""
    match name, list(given):
        case "get", []:
            return held
        case "get", [str(field), *_]:
            return held.get(field)
        case _:
            return UNKNOWN


class Calls:
    """The calls of one function."""

    def __init__(
        self,
        world: World,
        scope: Scope,
        path: Path,
        *,
        of: Callable[[ast.expr], Any],
        group: Callable[..., Any],
    ) -> None:
        self._world = world
        self._scope = scope
        self._path = path
        self._of = of
        self._group = group

    def of(self, node: ast.Call) -> Any:
        """Return what a call returns; UNKNOWN if that is not understood.

        Raises:
            Raised: what it raises.
        """
        operation = self._world.operation(node, self._scope.module)
        if operation is not None:
            return self._world.answer(operation)
        if isinstance(node.func, ast.Attribute):
            held = self._of(node.func.value)
            if held is not UNKNOWN and not isinstance(held, Kind):
                return self._method(held, node.func.attr, node)
        function = self._of(node.func)
        given, named = self._given(node)
        match function:
            case Bound():
                return self.called(function, given, named)
            case Kind():
                return self._world.made(function, given, named, self._path)
            case _:
                return self._plain(node, given, named)

    def called(
        self, function: Any, given: Sequence[Any], named: Mapping[str, Any] | None = None
    ) -> Any:
        """Return what a function of the application returns, as far as they are followed."""
        if not isinstance(function, Bound) or self._world.depth > _MAX_DEPTH:
            return UNKNOWN
        return self._world.follow(function, given, named or {}, self._path)

    def _given(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        given: list[Any] = []
        for one in node.args:
            value = self._of(one.value if isinstance(one, ast.Starred) else one)
            if not isinstance(one, ast.Starred):
                given.append(value)
            elif isinstance(value, list | tuple):
                given += value
        return given, {one.arg: self._of(one.value) for one in node.keywords if one.arg}

    # --- methods ----------------------------------------------------------------------------------

    def _method(  # noqa: PLR0911 - one for each kind
        self, held: Any, name: str, node: ast.Call
    ) -> Any:
        if isinstance(held, Instance):
            function = self._world.attribute(held, name)
            return self.called(function, *self._given(node))
        given, named = self._given(node)
        if isinstance(held, Record):
            return _of_record(held, name, given)
        if isinstance(now(held), str):
            return UNKNOWN if UNKNOWN in given else texts.method(self._path, held, name, given)
        if isinstance(held, texts.Matched) and name in {"group", "groups"}:
            if name == "groups" or len(given) > 1:
                self._group(held, 0, node)
                return tuple(held.groups[1:])
            return self._group(held, given[0] if given else 0, node)
        if isinstance(held, re.Pattern):
            return self._pattern(held, name, given)
        if isinstance(held, dict):
            return self._of_dictionary(held, name, given)
        if isinstance(held, list):
            return self._of_list(held, name, given, named)
        return UNKNOWN

    def _pattern(self, pattern: re.Pattern[str], name: str, given: Sequence[Any]) -> Any:
        if len(given) != 1 or not isinstance(now(given[0]), str):
            return UNKNOWN
        if name in _SEARCHES:
            return texts.searched(self._path, pattern, given[0], name)
        if name == "findall":
            return texts.found_all(self._path, pattern, given[0])
        return UNKNOWN

    def _of_dictionary(  # noqa: PLR0911 - one for each method
        self, held: dict[Any, Any], name: str, given: Sequence[Any]
    ) -> Any:
        match name, list(given):
            case "get", [at, *rest] if at is not UNKNOWN:
                otherwise = rest[0] if rest else None
                if not rest and now(at) not in held:
                    return None
                return looked_up(held, at, otherwise)
            case "setdefault", [at, value] if is_key(now(at)):
                return held.setdefault(now(at), value)
            case "keys", []:
                return list(held)
            case "values", []:
                return list(held.values())
            case "items", []:
                return list(held.items())
            case _:
                return UNKNOWN

    def _of_list(
        self, held: list[Any], name: str, given: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        if isinstance(held, Listed) and name in _CHANGING:
            held.size, held.guarded = None, ()  # from now on it is what it is
        match name, list(given):
            case "append" | "add", [value] if len(held) < _MAX_ITEMS:
                held.append(value)
            case "extend" | "update", [list() | tuple() as more] if len(held) < _MAX_ITEMS:
                held.extend(more)
            case "pop", [] | [int()]:
                return operations.computed(lambda: held.pop(*given))
            case "reverse", []:
                held.reverse()
            case "sort", []:
                held[:] = self._ordered(held, named)
            case "count", [value]:
                return operations.total([
                    operations.chosen(is_it, 1, 0)
                    for is_it in (operations.equal(value, one) for one in held)
                    if is_it is not UNKNOWN
                ])  # fmt: skip
            case _:
                return UNKNOWN
        return None

    # --- functions --------------------------------------------------------------------------------

    def _plain(self, node: ast.Call, given: list[Any], named: Mapping[str, Any]) -> Any:
        name = self._scope.module.names.qualified(node.func)
        module, _, last = name.rpartition(".")
        if module == "re":
            return self._regular(last, given)
        if last in {"Likelihood", "Type"} and len(given) == 1:
            return given[0]
        made = getattr(self, f"_py_{last}", None)
        if made is None or module not in _MODULES.get(last, {"builtins", ""}):
            return UNKNOWN
        return made(given, named, node)

    def _regular(self, name: str, given: Sequence[Any]) -> Any:
        if not given or not isinstance(given[0], str) or len(given) > 2:  # noqa: PLR2004 - no flags
            return UNKNOWN
        pattern = operations.computed(lambda: re.compile(given[0]))
        return pattern if name == "compile" else self._pattern(pattern, name, given[1:])

    def _py_len(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        return operations.length(given[0]) if given else UNKNOWN

    def _py_abs(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        return operations.absolute(given[0]) if given else UNKNOWN

    def _py_round(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        return operations.rounded(*given[:2]) if given else UNKNOWN

    def _py_floor(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        return operations.floored(given[0]) if given else UNKNOWN

    def _py_ceil(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        return operations.floored(given[0], up=True) if given else UNKNOWN

    def _py_str(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        return operations.as_text(given[0]) if given else ""

    def _py_bool(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        return truth_of(given[0]) if given else False

    def _py_print(self, _given: Any, _named: Any, _node: ast.AST) -> None:
        return None

    def _py_int(self, given: Sequence[Any], _named: Any, node: ast.AST) -> Any:
        return self._number(given, node, is_whole=True)

    def _py_float(self, given: Sequence[Any], _named: Any, node: ast.AST) -> Any:
        return self._number(given, node, is_whole=False)

    _py_Decimal = _py_float  # noqa: N815 - by its name in Python

    def _number(self, given: Sequence[Any], node: ast.AST, *, is_whole: bool) -> Any:
        if len(given) != 1 or not is_scalar(given[0]):
            return UNKNOWN
        value = given[0]
        if not isinstance(now(value), str):
            if is_whole:
                return operations.whole(value)
            return operations.binary(ast.Mult(), value, 1.0)
        if not isinstance(value, Sym):
            return operations.computed(lambda: int(value) if is_whole else float(value))
        return texts.read_number(self._path, value, node, is_whole=is_whole)

    def _py_sum(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        values = operations.elements(given[0]) if given else None
        return UNKNOWN if values is None else operations.total(values, *given[1:2])

    def _py_mean(self, given: Sequence[Any], _named: Any, node: ast.AST) -> Any:
        values = operations.elements(given[0]) if given else None
        if values is None:
            return UNKNOWN
        size = operations.length(given[0])
        if not self._path.decide(operations.compared(ast.Gt(), size, 0), node):
            raise Raised(ValueError("mean"), "StatisticsError")
        return operations.binary(ast.Div(), operations.total(values), size)

    _py_fmean = _py_mean

    def _py_any(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        truths = self._truths(given)
        return UNKNOWN if truths is None else either([both(pair) for pair in truths])

    def _py_all(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        truths = self._truths(given)
        if truths is None:
            return UNKNOWN
        return negated(either([both([guard, negated(truth)]) for guard, truth in truths]))

    def _truths(self, given: Sequence[Any]) -> list[list[Any]] | None:
        items = guarded_items(given[0]) if given else None
        if items is None:
            return None
        pairs = [[guard, truth_of(one)] for guard, one in items]
        return [pair for pair in pairs if UNKNOWN not in pair]

    def _py_max(self, given: Sequence[Any], named: Mapping[str, Any], node: ast.AST) -> Any:
        return self._extreme(given, named, node, least=False)

    def _py_min(self, given: Sequence[Any], named: Mapping[str, Any], node: ast.AST) -> Any:
        return self._extreme(given, named, node, least=True)

    def _extreme(
        self, given: Sequence[Any], named: Mapping[str, Any], node: ast.AST, *, least: bool
    ) -> Any:
        values = list(given) if len(given) > 1 else given[0]
        if not isinstance(values, list | tuple | dict):
            return UNKNOWN
        if "key" not in named and isinstance(values, Listed) and values.guarded:
            values = [one for guard, one in values.guarded if self._path.decide(guard, node)]
        offer_sizes(values, self._path, node)
        if not values:
            if "default" in named:
                return named["default"]
            raise Raised(ValueError("empty"), "ValueError")
        if "key" not in named:
            return operations.largest(list(values), least=least)
        ordered = self._ordered(list(values), {"key": named["key"], "reverse": not least}, node)
        return ordered[0]

    def _py_sorted(self, given: Sequence[Any], named: Mapping[str, Any], node: ast.AST) -> Any:
        items = given[0] if given else UNKNOWN
        if not isinstance(items, list | tuple | dict):
            return UNKNOWN
        size = items.size if isinstance(items, Listed) else None
        return Listed(self._ordered(list(items), named, node), size)

    def _ordered(
        self, items: list[Any], named: Mapping[str, Any], node: ast.AST | None = None
    ) -> list[Any]:
        """Return items in order, and note that they may be in another one."""
        key = named.get("key")
        keys = [one if key is None else self._keyed(key, one) for one in items]
        if not all(is_scalar(one) for one in keys):
            return items
        is_reversed = bool(now(named.get("reverse", False)))
        pairs = operations.computed(
            lambda: sorted(
                zip(keys, items, strict=True), key=lambda pair: now(pair[0]), reverse=is_reversed
            )
        )
        order = ast.GtE() if is_reversed else ast.LtE()
        for (one, _), (other, _) in itertools.pairwise(pairs):
            if node is not None:
                self._path.decide(operations.compared(order, one, other), node)
        return [item for _, item in pairs]

    def _keyed(self, key: Any, item: Any) -> Any:
        return self.called(key, [item]) if isinstance(key, Bound) else UNKNOWN

    def _py_list(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        if not given:
            return []
        items = given[0]
        if isinstance(items, Listed):
            return Listed(items, items.size, items.guarded)
        return list(items) if isinstance(items, list | tuple | dict | str) else UNKNOWN

    _py_tuple = _py_list

    def _py_set(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        items = given[0] if given else []
        if not isinstance(items, list | tuple | dict | str):
            return UNKNOWN
        kept: dict[Any, Any] = {}
        for one in items:
            if is_key(now(one)):
                kept.setdefault(now(one), one)
        return list(kept.values())

    _py_frozenset = _py_set

    def _py_dict(self, given: Sequence[Any], named: Mapping[str, Any], _node: ast.AST) -> Any:
        return UNKNOWN if given else dict(named)

    def _py_defaultdict(self, _given: Any, _named: Any, node: ast.Call) -> Any:
        kind = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else ""
        return defaultdict(_FACTORIES[kind]) if kind in _FACTORIES else UNKNOWN

    def _py_Counter(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:  # noqa: N802
        items = given[0] if given else []
        if not isinstance(items, list | tuple) or not all(is_key(now(one)) for one in items):
            return UNKNOWN
        counted: Counter[Any] = Counter()
        for one in items:
            counted[now(one)] = self._of_list(list(items), "count", [now(one)], {})
        return counted

    def _py_enumerate(self, given: Sequence[Any], named: Mapping[str, Any], _node: Any) -> Any:
        start = given[1] if len(given) > 1 else named.get("start", 0)
        if not given or not isinstance(given[0], list | tuple) or not isinstance(start, int):
            return UNKNOWN
        return _like(given[0], [(start + at, one) for at, one in enumerate(given[0])])

    def _py_reversed(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        if not given or not isinstance(given[0], list | tuple):
            return UNKNOWN
        return _like(given[0], list(given[0])[::-1])

    def _py_zip(self, given: Sequence[Any], _named: Any, _node: ast.AST) -> Any:
        if not all(isinstance(one, list | tuple) for one in given):
            return UNKNOWN
        return list(zip(*given, strict=False))

    def _py_range(self, given: Sequence[Any], _named: Any, node: ast.AST) -> Any:
        if not given or not all(isinstance(now(one), int) for one in given):
            return UNKNOWN
        items = operations.computed(lambda: range(*map(now, given)))
        if len(given) == 1 and isinstance(given[0], Sym) and len(items) <= _MAX_ITEMS:
            offer_sizes(Listed(items, given[0]), self._path, node)
        return list(items) if len(items) <= _MAX_ITEMS else UNKNOWN

    def _py_next(self, given: Sequence[Any], _named: Any, node: ast.AST) -> Any:
        items = guarded_items(given[0]) if given else None
        if items is None:
            return UNKNOWN
        for guard, one in items:
            if self._path.decide(guard, node):
                return one
        if len(given) > 1:
            return given[1]
        raise Raised(StopIteration(), "StopIteration")


def _like(source: Any, items: list[Any]) -> Listed:
    return Listed(items, source.size if isinstance(source, Listed) else None)


_CHANGING = frozenset({"append", "extend", "pop", "reverse", "sort", "insert", "remove", "clear"})
_MODULES = {
    "mean": {"statistics", "numpy"}, "fmean": {"statistics"}, "floor": {"math"},
    "ceil": {"math"}, "Decimal": {"decimal"}, "Counter": {"collections"},
    "defaultdict": {"collections"},
}  # fmt: skip
"""Where those come from that are no builtins."""
