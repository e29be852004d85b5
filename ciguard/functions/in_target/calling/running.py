"""Calls functions with named arguments, and consumes lazy results up to a limit.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import random
import sys
from typing import Any, Callable, Iterator

from ciguard.libraries.in_target.arrays import arrays_by_library

MAX_ITEMS = 100
"""Maximum number of items that are taken from a lazy result."""


class DiscardedError(Exception):
    """Error for a call that is not made, because a precondition of a generator does not hold."""


def call_function(function: Callable[..., Any], arguments: dict[str, Any], *first: Any) -> Any:
    """Call a function, with each argument passed by position or by name as its signature requires.

    Args:
        function: the function to call.
        arguments: arguments by name; a sequence for `*args`, a dictionary for `**options`.
        first: leading positional arguments, such as the instance.
    """
    parameters = list(inspect.signature(function).parameters.values())[len(first) :]
    positional, keywords = _positional_and_keyword(parameters, arguments)
    return function(*first, *positional, **keywords)


def call_instance(instance: Any, method: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call an instance that passes its arguments on to one of its methods.

    Args:
        instance: the instance to call, such as a Keras layer.
        method: the function of the method in its class, such as `call`.
        arguments: arguments of the method by name; the first is passed by position.
    """
    first, *rest = list(inspect.signature(method).parameters.values())[1:]
    if first.name not in arguments or first.kind is first.VAR_POSITIONAL:
        return call_function(method, arguments, instance)
    positional, keywords = _positional_and_keyword(rest, arguments)
    return instance(arguments[first.name], *positional, **keywords)


def show_full_tracebacks() -> None:
    """Let libraries raise exceptions with full tracebacks, as some leave out their own frames."""
    for library in arrays_by_library().values():
        library.show_errors()


def _positional_and_keyword(
    parameters: list[inspect.Parameter], arguments: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Split arguments into those to pass by position and those to pass by name."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    passes_varargs = any(p.kind is p.VAR_POSITIONAL and arguments.get(p.name) for p in parameters)
    for parameter in parameters:
        if parameter.name not in arguments:
            passes_varargs = False  # without this argument, later ones cannot go by position
            continue
        value = arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(value)
        elif parameter.kind is parameter.POSITIONAL_ONLY or (
            passes_varargs and parameter.kind is not parameter.KEYWORD_ONLY
        ):
            positional.append(value)
        else:
            keywords[parameter.name] = value
    return positional, keywords


def seed(number: int = 0) -> None:
    """Seed the random generators of Python, numpy and the loaded libraries.

    A generator that cannot be seeded stays as it is: the program may have replaced a part of its
    library, which is no failure of the tested function.
    """
    random.seed(number)
    for seed_library in (_seed_numpy, *(item.seed for item in arrays_by_library().values())):
        with contextlib.suppress(Exception):
            seed_library(number)


def _seed_numpy(number: int) -> None:
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed(number % _NUMPY_SEEDS)


_NUMPY_SEEDS = 1 << 32


def consume(returned: Any) -> Any:
    """Return a result; of a lazy one a list of its first items, its value, or what it awaits."""
    if inspect.isawaitable(returned) and not _is_dask(returned):  # a collection of dask is both
        return asyncio.run(_await(returned))
    if inspect.isasyncgen(returned):
        return asyncio.run(_first_items(returned))
    if isinstance(returned, Iterator) and type(returned).__module__ in _LAZY_MODULES:
        return list(itertools.islice(returned, MAX_ITEMS))
    return _computed(returned)


_LAZY_MODULES = ("builtins", "itertools")
"""Modules whose iterators are consumed; other iterators may have effects, such as files."""


def _computed(returned: Any) -> Any:
    """Return a result with the values of its lazy collections of dask, which fail only then."""
    if isinstance(returned, (list, tuple)) and any(map(_is_dask, returned)):
        return [_computed(item) for item in returned]
    return returned.compute() if _is_dask(returned) else returned


def _is_dask(item: Any) -> bool:
    """Return whether an object follows dask's protocol of lazy collections."""
    return hasattr(type(item), "__dask_graph__") and hasattr(type(item), "compute")


async def _await(returned: Any) -> Any:
    return await returned


async def _first_items(returned: Any) -> list[Any]:
    items: list[Any] = []
    async for item in returned:
        items.append(item)
        if len(items) == MAX_ITEMS:
            break
    return items
