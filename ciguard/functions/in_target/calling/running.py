"""How functions are called, and how far what they return is followed.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import random
import sys
from typing import Any, Callable

from ciguard.libraries.in_target.arrays import every_library

MAX_ITEMS = 100
"""How many items are taken from a lazy result."""


class DiscardedError(Exception):
    """A precondition does not hold."""


def called(function: Callable[..., Any], arguments: dict[str, Any], *first: Any) -> Any:
    """Call a function with named arguments, each in the way that its signature allows.

    Args:
        function: to call.
        arguments: by name; that of `*args` is a sequence, that of `**options` a dictionary.
        first: what comes before them, such as the instance.
    """
    parameters = list(inspect.signature(function).parameters.values())[len(first) :]
    positional, keywords = _spread(parameters, arguments)
    return function(*first, *positional, **keywords)


def called_through(instance: Any, method: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call an object with the arguments of one of its methods, which it calls in turn.

    Args:
        instance: to call.
        method: as its class has it.
        arguments: by name; the first parameter is passed by place.
    """
    first, *rest = list(inspect.signature(method).parameters.values())[1:]
    if first.name not in arguments or first.kind is first.VAR_POSITIONAL:
        return called(method, arguments, instance)
    positional, keywords = _spread(rest, arguments)
    return instance(arguments[first.name], *positional, **keywords)


def unfiltered() -> None:
    """Have libraries raise what is raised inside as it is."""
    for library in every_library().values():
        library.show_errors()


def _spread(
    parameters: list[inspect.Parameter], arguments: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return what is passed by place and what by name."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    takes_rest = any(p.kind is p.VAR_POSITIONAL and arguments.get(p.name) for p in parameters)
    for parameter in parameters:
        if parameter.name not in arguments:
            takes_rest = False  # what follows is given by name, or a default would be taken over
            continue
        value = arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(value)
        elif parameter.kind is parameter.POSITIONAL_ONLY or (
            takes_rest and parameter.kind is not parameter.KEYWORD_ONLY
        ):
            positional.append(value)
        else:
            keywords[parameter.name] = value
    return positional, keywords


def seed(number: int = 0) -> None:
    """Make what is random the same in every call with the same arguments."""
    random.seed(number)
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        numpy.random.seed(number % _NUMPY_SEEDS)
    for library in every_library().values():
        library.seed(number)


_NUMPY_SEEDS = 1 << 32


def consumed(returned: Any) -> Any:
    """Return a result: of a lazy one the first items, of a coroutine its value."""
    if inspect.isawaitable(returned):
        return asyncio.run(_awaited(returned))
    if inspect.isasyncgen(returned):
        return asyncio.run(_taken(returned))
    if inspect.isgenerator(returned) or isinstance(returned, (map, filter, zip)):
        return list(itertools.islice(returned, MAX_ITEMS))
    return returned


async def _awaited(returned: Any) -> Any:
    return await returned


async def _taken(returned: Any) -> list[Any]:
    found: list[Any] = []
    async for item in returned:
        found.append(item)
        if len(found) == MAX_ITEMS:
            break
    return found
